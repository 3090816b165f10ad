"""`normint integrate` with a depth map in units, a confidence, and control points."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from near_shapes import SHAPE, K, sphere
from relief_files import MASK, assert_refused, contents, run, write

from normint.files.tables import read_points

TRUTH, NORMALS, SEEN = sphere()


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A sphere before a near camera, its distance in whole tenths of a unit, and a place of its own."""
    monkeypatch.chdir(tmp_path)
    np.save("n.npy", np.where(SEEN[..., np.newaxis], NORMALS, 0.0))
    Path("K.txt").write_text("\n".join(" ".join(map(str, row)) for row in K))
    noise = np.random.default_rng(0).standard_normal(SHAPE)
    np.save("noise.npy", noise)
    write(Path("prior.png"), np.where(SEEN, np.rint(10 * (TRUTH + noise)), 0).astype(np.uint16))


def integrate(*arguments, code=0):
    line = ("n.npy", "--axes", "uvz", "--camera", "K.txt", "--force", *arguments)
    assert run(*line) == code
    report = json.loads(Path("normint-out/report.json").read_text())
    return np.load("normint-out/depth.npy"), report


def rms(depth, truth=TRUTH):
    return float(np.sqrt(np.mean((depth - truth)[SEEN] ** 2)))


class TestPrior:
    @pytest.mark.parametrize("scale", [0.1, 0.0001])
    def test_gives_the_unit(self, scale):
        depth, report = integrate("--prior", "prior.png", "--prior-scale", scale)
        assert rms(depth * 0.1 / scale) < 0.15
        assert report["settings"]["prior_weight_chosen"] and report["settings"]["prior_weight"] > 0
        assert report["depth"]["unit"] == "that of the prior" and report["warnings"] == []

    def test_a_given_weight(self):
        depth, report = integrate("--prior", "prior.png", "--prior-scale", "0.1", "--prior-weight", "1e6")
        assert 0.9 < rms(depth) < 1.1  # the prior and its noise
        assert report["settings"]["prior_weight"] == 1e6 and "prior_weight_chosen" not in report["settings"]

    def test_a_confidence(self):
        confidence = np.zeros(SHAPE, np.uint8)
        confidence[:, :48] = 255
        write(Path("c.png"), confidence)
        wrong = np.rint(10 * TRUTH).astype(np.uint16)
        wrong[:, 48:] = 60000
        write(Path("half.png"), wrong)
        given = ("--prior", "half.png", "--prior-scale", "0.1")
        depth, _ = integrate(*given, "--prior-confidence", "c.png")
        assert rms(depth) < 0.5
        np.save("c.npy", confidence / 255)
        same, _ = integrate(*given, "--prior-confidence", "c.npy")
        np.testing.assert_array_equal(same, depth)
        assert rms(integrate(*given)[0]) > 100

    def test_a_coarse_one(self):
        from normint.priors.depth_sensor import block_means

        values = np.nan_to_num(block_means(TRUTH, 8, SEEN, least=0.1))
        write(Path("coarse.png"), np.rint(100 * values).astype(np.uint16))
        depth, report = integrate("--prior", "coarse.png", "--prior-scale", "0.01")
        assert rms(depth) < 0.5 and report["settings"]["prior_block"] == 8

    def test_a_depth_far_from_it_is_told(self):
        np.save("p.npy", TRUTH * np.where(np.arange(96) < 48, 1.0, 1.1) + np.load("noise.npy"))
        _, report = integrate("--prior", "p.npy", "--method", "calibrated")
        assert "times as far from the prior" in report["warnings"][0]
        assert "--prior-weight" in report["warnings"][0]

    def test_along_the_rays(self):
        from normint.normals.camera import projection

        length = np.linalg.norm(projection(K).rays(SHAPE), axis=-1)
        np.save("p.npy", TRUTH * length)
        depth, _ = integrate("--prior", "p.npy", "--depth", "ray")
        assert rms(depth, TRUTH * length) < 0.05


class TestPoints:
    def test_give_the_unit(self):
        Path("p.csv").write_text(f"row,column,depth\n40,50,{TRUTH[40, 50]}\n")
        depth, report = integrate("--points", "p.csv")
        assert rms(depth) < 0.05 and report["settings"]["points"] == "p.csv"

    def test_outside_the_mask_are_told(self):
        Path("p.csv").write_text("40,50,300\n0,0,300\n")
        assert integrate("--points", "p.csv")[1]["warnings"] == [
            "1 of 2 points are outside the mask: left out"
        ]

    def test_pieces_without_any_are_told(self):
        mask = SEEN.copy()
        mask[:, 47] = False
        np.save("m.npy", mask)
        Path("p.csv").write_text("40,50,300\n")
        depth, report = integrate("--points", "p.csv", "--mask", "m.npy")
        assert report["warnings"] == ["1 piece has no prior and no point: given the mean distance 300"]
        assert 250 < np.nanmedian(depth[:, :47]) < 350

    def test_the_order_of_u_and_v_is_told(self):
        Path("p.csv").write_text("u,v,z\n40,50,300\n")
        assert "u was read as the row" in integrate("--points", "p.csv")[1]["warnings"][0]

    def test_their_weight(self):
        Path("p.csv").write_text("40,50,300\n40,40,600\n")
        near, far = (integrate("--points", "p.csv", "--points-weight", w)[0] for w in ("100", "0.001"))
        assert abs(near[40, 50] - 300) < abs(far[40, 50] - 300)


TABLES = {
    "commas": "3,4,500\n5,6.5,600\n",
    "spaces": "  3 4   500\n5\t6.5  600",
    "names": "row,column,depth\n3,4,500\n5,6.5,600\n",
    "x and y": "x;y;z\n4;3;500\n6,5;5;600\n",
    "an order of its own": '"Depth","Row","Col"\n500,3,4\n600,5,6.5',
    "a comment": "# from the total station\n3,4,500 # nose\n\n5,6.5,600",
    "weights": "row,column,depth,weight\n3,4,500,1\n5,6.5,600,1\n",
}
WRONG = {
    "3,4\n": "p.csv, line 1 has 2 columns; expected row, column, depth",
    "3,4,5\n3,4,5,6\n": "p.csv, line 2 has 4 columns; expected row, column, depth",
    "row,column,depth\n3,4,five\n": "p.csv, line 2, column 3: 'five' is not a number",
    "# x\n3,,5\n": "p.csv, line 2, column 2: '' is not a number",
    "3,4,nan": "p.csv, line 1, column 3: 'nan' is not finite",
    "3,400,5": "p.csv, line 1, column 2: column 400 is outside the image; expected a number from 0 to 23",
    "depth,y,x\n5,-1,3": "p.csv, line 2, column 2: row -1 is outside the image; expected a number",
    "3,4,5,-1": "p.csv, line 1, column 4: weight -1; expected a number ≥ 0",
    "row,column,height\n1,1,1": "p.csv, line 1, column 3: 'height' is not known; expected row (rows, y, u)",
    "row,y,z\n1,1,1": "p.csv, line 1, column 2: 'y' is a second row",
    "row,depth\n1,1": "p.csv, line 1 has no column column",
    "": "p.csv has no points",
    "row,column,depth\n": "p.csv has no points",
    "\0\xff": "p.csv",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_tables_of_points(text):
    Path("p.csv").write_text(text)
    points, _ = read_points("p.csv", MASK.shape)
    np.testing.assert_array_equal(points, [[3, 4, 500, 1], [5, 6.5, 600, 1]])


@pytest.mark.parametrize("text, words", WRONG.items())
def test_what_is_wrong_in_a_table_is_named(text, words):
    Path("p.csv").write_bytes(text.encode("latin-1" if "\xff" in text else "utf-8"))
    with pytest.raises(ValueError) as refused:
        read_points("p.csv", MASK.shape)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "line, words",
    [
        ("--prior-scale 2", "--prior-scale is given without --prior; expected both, or neither"),
        ("--prior-confidence c.png", "--prior-confidence is given without --prior"),
        ("--points-weight 3", "--points-weight is given without --points"),
        ("--prior prior.png --prior-scale 0", "--prior-scale is 0.0; expected a finite number, not 0"),
        ("--prior prior.png --prior-scale nan", "--prior-scale is nan"),
        ("--points p.csv --points-weight 0", "--points-weight is 0.0; expected a finite number > 0"),
    ],
)
def test_wrong_usage(tmp_path, capsys, line, words):
    before = contents(tmp_path)
    assert_refused(capsys, run("n.npy", *line.split()), words, expected=2)
    assert contents(tmp_path) == before


def test_refusals(capsys):
    line = ("n.npy", "--axes", "uvz", "--camera", "K.txt")
    np.save("p.npy", np.ones((7, 7)))
    assert_refused(
        capsys, run(*line, "--prior", "p.npy"), "p.npy has shape (7, 7); expected (80, 96) numbers"
    )
    assert_refused(
        capsys, run(*line, "--prior", "prior.png", "--prior-scale", "-1"), "prior is zero or negative"
    )
    np.save("c.npy", np.full(SHAPE, 7.0))
    given = ("--prior", "prior.png", "--prior-confidence")
    assert_refused(capsys, run(*line, *given, "c.npy"), "c.npy has numbers from 7 to 7", "from 0 to 1")
    np.save("c.npy", np.zeros(SHAPE))
    assert_refused(capsys, run(*line, *given, "c.npy"), "c.npy is 0 everywhere")
    assert_refused(capsys, run(*line, "--points", "none.csv"), "none.csv is missing")
    assert not os.path.exists("normint-out")
