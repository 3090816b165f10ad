"""What must hold for every method on any mask, in any process, and after anything that went wrong."""

import multiprocessing
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from torture import masks, methods

import normint
from normint.integration import METHODS

each_method = pytest.mark.parametrize("method", METHODS)


@each_method
def test_of_random_masks_slopes_parameters_and_arrays(method):
    for seed in range(12):  # many more in tests/torture
        methods.check(methods.draw(seed, method))


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_the_solver_is_right_on_random_systems(first, tmp_path):
    for seed in range(first, first + 40):
        masks.trial(seed, tmp_path)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@each_method
def test_slopes_from_tiny_to_huge(method, scale):
    surface = normint.surfaces.vase(48).with_noise(0.01, np.random.default_rng(0))
    largest = max(np.abs(surface.p).max(), np.abs(surface.q).max())
    p, q = (scale * slope / largest for slope in (surface.p, surface.q))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = normint.integrate(p, q, method=method)
    height = scale * np.ptp(surface.depth) / largest
    assert np.isfinite(result.energies).all()
    assert 0.3 * height < np.ptp(result.depth) < 3 * height


@pytest.mark.parametrize("wrong", [{"p": 1.001e9}, {"q": -1e300}])
@each_method
def test_slopes_beyond_are_refused(method, wrong):
    slopes = {name: np.full((6, 5), wrong.get(name, 1.0)) for name in "pq"}
    (name,) = wrong
    with pytest.raises(ValueError, match=rf"^{name} is beyond 1e\+09 at 30 pixels inside the mask, first at"):
        normint.integrate(**slopes, method=method)


@pytest.mark.parametrize("gamma", [1e-4, 1e-3, 1e6])
def test_phi2_stays_where_the_surface_is(gamma):
    # With weights over 26 decades it used to run away to 1e44, where no residual cost anything any more.
    surface = normint.surfaces.vase(96).with_noise(0.01, np.random.default_rng(0))
    problem = {"method": "phi2", "options": {"gamma": gamma}, "mask": np.ones((96, 96), bool), "held": {}}
    problem |= {"p": surface.p, "q": surface.q}
    result = methods.integrate(problem, surface.p, surface.q, None)
    assert np.abs(result.depth).max() < 2 * np.abs(surface.depth - surface.depth.mean()).max()
    expected, size = methods.plain_energy(problem, result.depth)
    assert abs(result.energies[-1] - expected) <= 1e-9 * size
    assert (np.diff(result.energies) <= 0).all()


def integrated(method, seed):
    """Integrate a domain of one large piece and some small ones; the same in every process."""
    p, q = np.random.default_rng(seed).standard_normal((2, 36, 40))
    mask = np.ones((36, 40), bool)
    if method not in methods.RECTANGULAR:
        mask[30], mask[:, 36] = False, False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return normint.integrate(p, q, mask, method=method).depth


@each_method
def test_threads_do_not_disturb_each_other(method):
    seeds = range(4)
    expected = [integrated(method, seed) for seed in seeds]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(integrated, [method] * 8, [*seeds, *seeds]))
    np.testing.assert_array_equal(found, expected * 2)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_computes_the_same():
    expected = [integrated(method, 0) for method in METHODS]
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(integrated, METHODS, [0] * len(METHODS)))
    np.testing.assert_array_equal(found, expected)


INTERRUPTED = """
import signal, sys, warnings
import numpy as np, normint
signal.signal(signal.SIGINT, signal.default_int_handler)  # a script in the background may ignore it
warnings.simplefilter("ignore")
p, q = np.random.default_rng(0).standard_normal((2, 120, 140))
expected = normint.integrate(p, q, method={method!r}).depth
print("ready", flush=True)
count = 0
try:
    while True:
        normint.integrate(p, q, method={method!r})
        count += 1
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    again = normint.integrate(p, q, method={method!r}).depth
    print("same" if np.array_equal(again, expected, equal_nan=True) else "another", flush=True)
"""


@pytest.mark.parametrize("method", ["quadratic", "mumford_shah", "calibrated"])
def test_the_call_after_ctrl_c_is_right(method):
    script = [sys.executable, "-c", INTERRUPTED.format(method=method)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)  # somewhere in the middle
        for _ in range(20):  # Python loses one that strikes while an object is being deleted
            process.send_signal(signal.SIGINT)
            try:
                said, _ = process.communicate(timeout=3)
                break
            except subprocess.TimeoutExpired:
                pass
        else:
            process.kill()
            pytest.fail("it did not stop")
    assert said == "same\n"
    assert process.returncode == 0
