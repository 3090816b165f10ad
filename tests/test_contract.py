"""What other people's scripts rely on: names, arguments, flags, make targets and columns may not be lost."""

import csv
import importlib
import inspect
import re
from pathlib import Path

import pytest

import normint
from normint import cli

ROOT = Path(__file__).resolve().parent.parent
METHODS = {
    "quadratic": [],
    "dct": ["border"],
    "sylvester": [],
    "total_variation": ["step"],
    "phi1": ["beta"],
    "phi2": ["gamma"],
    "anisotropic_diffusion": ["mu", "nu"],
    "mumford_shah": ["mu", "epsilon"],
    "calibrated": ["away"],
    "bilateral": ["k"],
}
ITERATIVE = ["total_variation", "phi1", "phi2", "anisotropic_diffusion", "mumford_shah", "bilateral"]
DEFAULTS = {
    ("total_variation", "step"): 1.0,
    ("phi1", "beta"): 0.5,
    ("phi2", "gamma"): 1.0,
    ("anisotropic_diffusion", "mu"): 1.0,
    ("anisotropic_diffusion", "nu"): 1.0,
    ("mumford_shah", "mu"): 45.0,
    ("mumford_shah", "epsilon"): 0.01,
    ("calibrated", "away"): False,
}
NAMES = {
    "normint": "Integration integrate integrate_normals integrate_tiles normals_to_gradient "
    "gradient_to_normals depth_to_normals flatten photometric_stereo set_threads surfaces metrics domain "
    "datasets course priors",
    "normint.surfaces": "Surface peaks vase canadian_tent figurine bust",
    "normint.metrics": "rmse mean_angular_error",
    "normint.domain": "Domain",
    "normint.datasets": "beethoven cat depth_and_normals diligent find measured_objects peppers "
    "read_beethoven read_diligent read_normal_map rendered_objects DepthAndNormals ImageSet Picture",
    "normint.course": "EXERCISES Mistake Task check_alternation check_depth_system check_energy "
    "check_energy_and_gradient check_finite_differences check_fixed_point check_forward_differences "
    "check_functional check_indicated_system check_indicator check_numbering check_phi1 check_phi2 "
    "check_shrinkage check_solution check_system check_update check_weighted_system check_weights factorised "
    "least_squares pairs readings ready solve",
    "normint.normals.camera": "Orthographic Perspective camera_of_part camera_of_view projection",
    "normint.normals.rays": "Rays",
    "normint.priors": "Choice Held choose_weight depth_sensor distrust_outliers hold merge "
    "misfit_and_influence prior_noise",
}
ARGUMENTS = {
    "integrate": "p q mask method prior prior_weight options",
    "integrate_normals": "normals mask camera axes method prior prior_weight distance least_cosine steepest "
    "check_axes depth background pose options",
    "integrate_tiles": "p q mask prior prior_weight tile overlap tolerance max_iterations workers out",
    "normals_to_gradient": "normals mask",
    "gradient_to_normals": "p q",
    "depth_to_normals": "z mask",
    "flatten": "depth shape length weights together periodic",
    "photometric_stereo": "images lights mask",
    "metrics.rmse": "depth truth mask",
    "metrics.mean_angular_error": "a b mask",
    "domain.Domain": "mask",
}
FLAGS = {
    "integrate": "--mask --camera --axes --background --pose --world-to-camera --variable --method --option "
    "--tiles --prior --prior-weight --prior-scale --prior-confidence --points --points-weight --fov "
    "--fov-axis --rays --rays-axes --depth --out --png --tiff --mesh --mesh-cut --triangles --texture "
    "--mm-per-pixel --dpi --base --solid --height-map --height-near --tile --flatten --flatten-points "
    "--preview --force --json --quiet",
    "study": "--method --set --seeds --metric --workers --scheduler --dry-run --out --plot --folder",
    "workbook": "--only --quick --seed --set --data --out --force --timeout --jobs --update",
    "methods": "",
    "warm-up": "",
    "results": "--update-readme",
    "report": "--out",
}
TARGETS = (
    "help setup workbook test coverage test-browser bounds torture lint lab site report bench lock newest "
    "clean"
)
COLUMNS = "figure case metric paper ours spread data verdict note".split()


def public(path):
    """Return what a dotted name below `normint` stands for, taken as a user would."""
    found = normint
    for name in path.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize(("module", "names"), NAMES.items())
def test_public_names_are_there_and_seen_by_dir(module, names):
    module = importlib.import_module(module)
    for name in names.split():
        assert getattr(module, name) is not None
        assert name in dir(module)


@pytest.mark.parametrize(("function", "names"), ARGUMENTS.items())
def test_arguments_keep_their_names_and_places(function, names):
    parameters = list(inspect.signature(public(function)).parameters)
    assert parameters[: len(names.split())] == names.split()


@pytest.mark.parametrize(("method", "options"), METHODS.items())
def test_methods_keep_their_options(method, options):
    from normint.integration import function_of

    parameters = inspect.signature(function_of(method)).parameters
    assert list(parameters)[:3] == ["p", "q", "mask"]
    shared = ["initial", "tolerance", "max_iterations", "callback", "scheme"] if method in ITERATIVE else []
    for name in ("prior", "prior_weight", *options, *shared):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        if (method, name) in DEFAULTS:
            assert parameters[name].default == DEFAULTS[method, name]


def test_an_integration_has_its_fields():
    names = normint.Integration.__dataclass_fields__
    wanted = {"depth", "energies", "iterations", "converged", "seconds", "weights", "notes", "camera"}
    assert wanted <= set(names)
    for name in ("plot", "to_mesh", "save", "_repr_png_"):
        assert callable(getattr(normint.Integration, name))


def test_a_domain_has_the_matrices_of_the_paper():
    domain = normint.domain.Domain([[True, True], [True, False]])
    for name in ("Du_plus", "Du_minus", "Dv_plus", "Dv_minus"):
        assert getattr(domain, name).shape == (3, 3)
    assert domain.laplacian().shape == (3, 3)
    assert domain.components is not None


@pytest.mark.parametrize(("command", "flags"), FLAGS.items())
def test_commands_keep_their_flags(command, flags, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    assert stopped.value.code == 0
    shown = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert set(flags.split()) <= shown


def test_the_makefile_keeps_its_targets():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(TARGETS.split()) <= set(targets)


def test_results_keep_their_columns():
    with open(ROOT / "figures" / "results.csv", newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == COLUMNS
