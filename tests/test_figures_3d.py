"""Surfaces in 3D: small, right way up, cut where the surface is, and with a picture beside them."""

import base64
import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from normint.files.meshes import mesh
from normint.workbook.figures.interactive_3d import PLOTLY, WithPicture, surface_3d


def test_a_depth_map_is_thinned_and_keeps_its_size():
    u, v = np.indices((500, 300))
    drawn = surface_3d(0.5 * v + 0.0 * u, "plane", finest=100).data[0]
    assert len(drawn.x) == 100 * 60
    assert (drawn.x.min(), drawn.x.max()) == (0, 295) and (drawn.y.min(), drawn.y.max()) == (-495, 0)
    np.testing.assert_allclose(drawn.z, 0.5 * drawn.x)


def test_a_near_camera_is_thinned_with_the_image():
    camera = [[400.0, 0, 150.0], [0, 300.0, 100.0], [0, 0, 1]]
    depth = np.full((200, 300), 900.0)
    every = mesh(depth, camera=camera).vertices.reshape(200, 300, 3)[::2, ::2].reshape(-1, 3)
    drawn = surface_3d(depth, camera=camera, finest=150).data[0]
    np.testing.assert_allclose(np.stack([drawn.x, drawn.y, drawn.z], 1), every, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("camera", [None, [[400.0, 0, 150.0], [0, 300.0, 100.0], [0, 0, 1]]])
def test_what_is_around_the_object_takes_no_points(camera):
    depth = np.full((200, 300), np.nan)
    depth[50:90, 200:260] = 900 + np.random.default_rng(0).random((40, 60))
    drawn = surface_3d(depth, camera=camera, finest=60).data[0]
    every = mesh(depth, camera=camera).vertices
    np.testing.assert_allclose(np.stack([drawn.x, drawn.y, drawn.z], 1), every, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("column", [30, 31, 32])
def test_a_cut_between_the_points_that_are_drawn_is_a_cut(column):
    down, right = np.ones((60, 60)), np.ones((60, 60))
    down[-1], right[:, -1] = 0, 0
    right[:, column] = 1e-3
    whole, cut = (surface_3d(np.zeros((60, 60)), weights=w, finest=20).data[0] for w in (None, (down, right)))
    assert len(whole.i) == 2 * 19 * 19 and len(cut.i) == 2 * 19 * 18


def test_a_mesh_is_drawn_as_it_is():
    made = mesh(np.random.default_rng(0).random((5, 7)))
    drawn = surface_3d(made, "rough").data[0]
    np.testing.assert_array_equal(np.stack([drawn.i, drawn.j, drawn.k], 1), made.faces)


def test_a_notebook_gets_the_picture_and_then_the_surface(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    WithPicture(surface_3d(np.zeros((400, 400)), "flat"), Figure())._ipython_display_()
    picture, surface = shown
    assert base64.b64decode(picture["image/png"]).startswith(b"\x89PNG")
    assert surface[PLOTLY]["layout"]["title"]["text"] == "flat"
    assert len(json.dumps(shown)) < 1e6
    with pytest.raises(ValueError, match="picture is a str; expected a matplotlib Figure"):
        WithPicture(None, "photo.png")


def test_what_is_no_surface_is_refused():
    with pytest.raises(ValueError, match="surface has 1 dimensions"):
        surface_3d(np.zeros(3))
