"""Tiles give the untiled surface: on any mask, with noise, with a prior, in memory, in files and on Dask."""

import json
import warnings

import numpy as np
import pytest

import normint
from benchmarks import cases
from normint import cli, shortage
from normint.solver.system import System
from normint.tiles import integrate_tiles as module
from normint.tiles.cells import Cells, number_parts, restricted
from normint.tiles.windows import divide

N = 192
TILES = {"tile": 48, "overlap": 8}


def islands(n=N):
    """Return hundreds of pieces, most in one tile, some across several, some of one pixel."""
    mask = np.random.default_rng(7).random((n, n)) < 0.62
    mask[n // 2, :] = False
    mask[5, 5], mask[4:7, 4], mask[4:7, 6], mask[4, 5], mask[6, 5] = True, False, False, False, False
    return mask


def combs(n=N):
    """Return two combs whose teeth lie between each other: what is joined is so in another tile only."""
    mask = np.zeros((n, n), bool)
    mask[2:-2, 2:-2:4] = True
    mask[2, :] = False
    mask[:, 4::4] = False
    mask[3:-8, 4::8] = True
    mask[8:-3, 8::8] = True
    mask[3, 4:-3], mask[-4, 8:-3] = True, True
    return mask


NAMES = "rectangle", "disk", "moth-eaten", "spiral", "blobs", "slits"
MASKS = {name: cases.mask(N, name) for name in NAMES}
MASKS |= {"islands": islands(), "combs": combs()} | cases.thin_masks(N)


def close(depth, expected, mask, tolerance):
    """Tell whether two depths differ by less than so many parts of the largest, and are NaN where outside."""
    np.testing.assert_array_equal(np.isnan(depth), ~mask)
    return np.abs(depth - expected)[mask].max() <= tolerance * np.abs(expected[mask]).max()


@pytest.mark.parametrize("name", MASKS)
def test_tiles_give_the_untiled_depth(name):
    (p, q), mask = cases.gradient(N), MASKS[name]
    whole = normint.integrate(p, q, mask, solver="direct")
    tiled = normint.integrate_tiles(p, q, mask, **TILES, tolerance=1e-9)
    assert tiled.converged
    assert close(tiled.depth, whole.depth, mask, 1e-6)
    assert tiled.energies[-1] == pytest.approx(whole.energies[-1], rel=1e-9)


@pytest.mark.parametrize("name", MASKS)
def test_the_default_tolerance_needs_few_rounds(name):
    (p, q), mask = cases.gradient(N), MASKS[name]
    tiled = normint.integrate_tiles(p, q, mask, **TILES)
    assert tiled.converged
    assert tiled.iterations < 20


@pytest.mark.parametrize("tile", [16, 48, 100, N, 1000])
def test_rounds_do_not_grow_with_the_number_of_tiles(tile):
    (p, q), mask = np.random.default_rng(0).standard_normal((2, N, N)), MASKS["disk"]
    tiled = normint.integrate_tiles(p, q, mask, tile=tile, overlap=7, tolerance=1e-7)
    assert tiled.converged
    assert tiled.iterations <= 8
    assert close(tiled.depth, normint.integrate(p, q, mask, solver="direct").depth, mask, 1e-5)


@pytest.mark.parametrize("name", ["blobs", "spiral"])
def test_no_round_raises_the_energy(name):
    p, q = np.random.default_rng(0).standard_normal((2, N, N))
    energies = normint.integrate_tiles(p, q, MASKS[name], **TILES, tolerance=1e-8).energies
    assert len(energies) > 2
    assert (np.diff(energies) <= 1e-12 * energies[-1]).all()


def test_the_residual_is_below_the_tolerance():
    (p, q), mask = cases.gradient(N), MASKS["blobs"]
    depth = normint.integrate_tiles(p, q, mask, **TILES, tolerance=1e-5).depth
    found = System(mask).solve(p, q, slopes=True, initial=depth, tolerance=1.1e-5)
    assert found.iterations == 0


def test_each_piece_has_zero_mean():
    (p, q), mask = cases.gradient(N), MASKS["slits"]
    depth = normint.integrate_tiles(p, q, mask, **TILES).depth
    components = normint.domain.Domain(mask).components
    for piece in np.unique(components[mask]):
        assert abs(depth[mask & (components == piece)].mean()) < 1e-9


@pytest.mark.parametrize("weight", [1e-3, 10.0, "points"])
def test_a_prior_holds_as_it_does_untiled(weight):
    (p, q), mask, rng = cases.gradient(N), MASKS["slits"], np.random.default_rng(1)
    prior = 500 + 20 * rng.standard_normal((N, N))
    if weight == "points":
        weight, prior = 100.0, np.where(rng.random((N, N)) < 1e-3, prior, np.nan)
    held = {"prior": prior, "prior_weight": weight}
    whole = normint.integrate(p, q, mask, **held, solver="direct")
    tiled = normint.integrate_tiles(p, q, mask, **held, **TILES, tolerance=1e-9)
    assert tiled.converged
    assert close(tiled.depth, whole.depth, mask, 1e-6)
    assert tiled.energies[-1] == pytest.approx(whole.energies[-1], rel=1e-9)


def test_a_mapped_file_of_float32_becomes_a_mapped_file(tmp_path):
    (p, q), mask = cases.gradient(N), MASKS["disk"]
    p[~mask] = np.nan
    for name, image in {"p": p.astype(np.float32), "q": q.astype(np.float32), "mask": mask}.items():
        np.save(tmp_path / f"{name}.npy", image)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("p", "q", "mask")]
    tiled = normint.integrate_tiles(*mapped, **TILES, out=tmp_path / "depth.npy", tolerance=1e-9)
    assert isinstance(tiled.depth, np.memmap)
    np.testing.assert_array_equal(np.load(tmp_path / "depth.npy"), tiled.depth)
    whole = normint.integrate(*mapped, solver="direct")
    assert close(tiled.depth, whole.depth, mask, 1e-6)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["depth.npy", "mask.npy", "p.npy", "q.npy"]


def test_nothing_is_left_of_a_depth_that_fails(tmp_path):
    p, q = cases.gradient(N)
    p[100, 3] = np.nan
    with pytest.raises(ValueError, match="p is NaN or infinite at 1 pixel.*rows 96 to 144"):
        normint.integrate_tiles(p, q, **TILES, out=tmp_path / "depth.npy")
    assert not list(tmp_path.iterdir())


def test_dask_arrays_in_threads_have_the_same_digits():
    da = pytest.importorskip("dask.array")
    (p, q), mask = cases.gradient(N), MASKS["disk"]
    before = normint.solver.threads.chosen()
    alone = normint.integrate_tiles(p, q, mask, **TILES)
    lazy = [da.from_array(image, chunks=(50, 70)) for image in (p, q, mask)]
    tiled = normint.integrate_tiles(*lazy, **TILES, workers=2)
    assert isinstance(tiled.depth, da.Array)
    np.testing.assert_array_equal(tiled.depth.compute(), alone.depth)
    assert normint.solver.threads.chosen() == before


@pytest.mark.slow
def test_a_cluster_has_the_same_digits(tmp_path):
    distributed = pytest.importorskip("distributed")
    (p, q), mask = cases.gradient(N), MASKS["spiral"]
    alone = normint.integrate_tiles(p, q, mask, **TILES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ports that are taken
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        )
        with cluster, distributed.Client(cluster):
            tiled = normint.integrate_tiles(p, q, mask, **TILES, workers=2, out=tmp_path / "depth.npy")
    np.testing.assert_array_equal(tiled.depth, alone.depth)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"overlap": 24}, "overlap is 24; expected less than half of the tile, 24"),
        ({"tile": 0}, "tile is 0; expected a whole number"),
        ({"mask": np.zeros((N, N), bool)}, "mask is empty"),
        ({"mask": np.full((N, N), 2)}, "mask has values other than 0 and 1"),
        ({"mask": np.ones((N, 3), bool)}, "mask has shape"),
        ({"q": np.zeros((3, N))}, "q has shape"),
        ({"p": np.zeros(N)}, "p has shape"),
        ({"p": np.ma.masked_array(np.zeros((N, N)))}, "p is a masked array"),
        ({"p": np.full((N, N), 1e12)}, "p is beyond 1e.09"),
        ({"prior_weight": 2.0}, "prior is missing"),
        ({"prior": np.zeros((N, N))}, "prior has no weight"),
        ({"prior": np.zeros((N, N)), "prior_weight": -1.0}, "prior_weight is negative"),
        ({"prior": np.zeros((N, N)), "prior_weight": np.ones(3)}, "prior_weight has shape"),
        ({"out": "depth.tiff"}, "out is depth.tiff"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_wrong_arguments_are_named(changes, message):
    arguments = {"p": np.zeros((N, N)), "q": np.zeros((N, N)), **TILES, **changes}
    with pytest.raises(ValueError, match=message):
        normint.integrate_tiles(**arguments)


def test_too_few_rounds_are_told():
    (p, q), mask = cases.gradient(N), MASKS["blobs"]
    with pytest.warns(RuntimeWarning, match="did not converge in 1 rounds"):
        assert not normint.integrate_tiles(p, q, mask, **TILES, max_iterations=1).converged


def test_tiles_of_one_colour_are_apart_and_all_are_the_image():
    seen = np.zeros((100, 130), int)
    for colour in divide(seen.shape, 30):
        grown = np.zeros_like(seen)
        for window in colour:
            seen[window.slices] += 1
            grown[window.grown(14, seen.shape).slices] += 1
        assert grown.max() == 1
    assert (seen == 1).all()


def test_the_coarse_system_is_the_energy_of_its_surfaces():
    """A surface s that solves A s = r has the energy s·A s = s·r, here from its own differences."""
    mask, side = cases.mask(24, "spiral") | (np.random.default_rng(2).random((24, 24)) < 0.3), 6
    weight = np.where(mask, np.random.default_rng(3).random(mask.shape), 0.0)
    parts, count = number_parts(mask, side)
    cells = Cells(side, count)
    cells.add(parts, *mask.shape, weight)
    cells.factorise()
    image = np.random.default_rng(4).standard_normal(mask.shape)
    heights = cells.heights(restricted(side, parts, image))
    surface = cells.surface(parts, heights)
    down = (surface[1:] - surface[:-1]) * (mask[1:] & mask[:-1])
    right = (surface[:, 1:] - surface[:, :-1]) * (mask[:, 1:] & mask[:, :-1])
    energy = np.sum(down**2) + np.sum(right**2) + np.sum(weight * surface**2)
    assert energy == pytest.approx(np.sum(image * surface), rel=1e-6)


def test_many_cells_grow():
    assert module._side((100, 100), 8) == 8
    assert module._side((10**5, 10**5), 64) == 256


def test_the_command_integrates_in_tiles(tmp_path, capsys):
    vase = normint.surfaces.vase(200)
    np.save(tmp_path / "vase.npy", normint.gradient_to_normals(vase.p, vase.q).astype(np.float32))
    command = [
        "integrate",
        str(tmp_path / "vase.npy"),
        "--axes",
        "uvz",
        "--quiet",
        "--option",
        "tolerance=1e-8",
    ]
    for name, tiles in (("whole", []), ("tiled", ["--tiles", "64"])):
        assert cli.main([*command, *tiles, "--out", str(tmp_path / name)]) == 0
    whole, tiled = (np.load(tmp_path / name / "depth.npy") for name in ("whole", "tiled"))
    assert close(tiled, whole, np.isfinite(whole), 1e-5)
    report = json.loads((tmp_path / "tiled" / "report.json").read_text(encoding="utf-8"))
    assert report["settings"]["tiles"] == 64
    for more in (["--method", "phi1"], ["--option", "solver=cg"], ["--tiles", "8"]):
        assert cli.main([*command, "--tiles", "64", *more, "--out", str(tmp_path / "no")]) == 2
        assert "--tiles" in capsys.readouterr().err


def test_too_little_memory_is_told_before_any_work(monkeypatch):
    monkeypatch.setattr(shortage, "available", lambda: 1e9)
    large = np.broadcast_to(np.zeros(1, np.float32), (10**5, 10**5))
    with pytest.raises(MemoryError, match="100000 × 100000 pixels, in tiles of 2048 × 2048, needs 122.1 GB"):
        normint.integrate_tiles(large, large)
    with pytest.raises(MemoryError, match="fewer workers="):
        normint.integrate_tiles(large, large, tile=1024, workers=4, out="depth.npy")
