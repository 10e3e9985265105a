"""Cameras."""

import math

import numpy as np
import pytest

import pliant
from pliant.render.camera import Camera, as_camera


def test_it_looks_at_its_target_and_z_is_up() -> None:
    eye = Camera(azimuth=30, elevation=25).eye(np.array([1.0, 2.0, 3.0]), 0.5, 320, 200)
    x, y, nearness = eye.seen(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose([x, y], [160, 100], atol=1e-9)
    assert 1 / nearness == pytest.approx(np.linalg.norm(eye.place - [1, 2, 3]), rel=1e-12)
    assert eye.seen(np.array([1.0, 2.0, 3.1]))[1] < 100
    assert np.isnan(eye.seen(eye.place - eye.forward)).all()


@pytest.mark.parametrize("size", [(320, 200), (200, 320)])
def test_a_ball_of_the_radius_is_in_the_picture(size: tuple[int, int]) -> None:
    eye = Camera().eye(np.zeros(3), 0.7, *size)
    rng = np.random.default_rng(1)
    points = rng.standard_normal((500, 3))
    points *= 0.7 / np.linalg.norm(points, axis=1, keepdims=True)
    x, y, _ = eye.seen(points).T
    assert x.min() >= 0 and x.max() <= size[0] and y.min() >= 0 and y.max() <= size[1]
    assert min(np.ptp(x) / size[0], 1) > 0.9 or np.ptp(y) / size[1] > 0.9  # and fills it


@pytest.mark.parametrize(
    ("name", "axis", "sign"), [("front", 0, 1), ("back", 0, -1), ("left", 1, 1), ("right", 1, -1), ("top", 2, 1)]
)
def test_named_cameras_stand_where_they_say(name: str, axis: int, sign: int) -> None:
    place = as_camera(name).eye(np.zeros(3), 1.0, 100, 100).place
    assert np.argmax(abs(place)) == axis and np.sign(place[axis]) == sign


def test_bad_cameras_say_what_is_wrong() -> None:
    with pytest.raises(pliant.PliantError, match="no camera named 'lef'; did you mean 'left'"):
        as_camera("lef")
    with pytest.raises(pliant.PliantError, match="no field named 'azimut' in Camera; did you mean 'azimuth'"):
        as_camera({"azimut": 3})
    with pytest.raises(pliant.PliantError, match=r"elevation of the camera is 90; it takes -89\.9 to 89\.9 degrees"):
        Camera(elevation=90)
    for field, value in (("target", (1, 2)), ("distance", 0), ("zoom", 0), ("zoom", None), ("azimuth", math.nan)):
        with pytest.raises(pliant.PliantError) as error:
            Camera(**{field: value})
        assert (error.value.subject, error.value.field) == ("the camera", field)
    with pytest.raises(pliant.PliantError, match="it takes a Camera"):
        as_camera(3)
    assert as_camera({"azimuth": 10}).azimuth == 10
