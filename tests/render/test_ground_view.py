"""From where one looks at ground."""

import math

import numpy as np
import pytest

import pliant
from pliant.render.camera import Camera
from pliant.render.shapes import downhill_azimuth
from pliant.render.studio import Studio


def seen_from(ground: pliant.Ground | None, azimuth: float = 40) -> float:
    found = math.degrees(downhill_azimuth(ground, (-1, -1), (1, 1), math.radians(azimuth)))
    return found % 360


def test_one_stands_downhill_where_ground_rises() -> None:
    assert seen_from(None) == seen_from(pliant.flat()) == pytest.approx(40)
    # waves rise and fall: their mean slope over whole lengths is small
    assert seen_from(pliant.waves(0.02, 0.5)) == pytest.approx(40)
    # up along x is seen from -x, by 40 degrees to the side that is nearer
    assert seen_from(pliant.stairs(0.15, 0.3)) == pytest.approx(140, abs=1)
    assert seen_from(pliant.slope(0.3)) == pytest.approx(140, abs=1e-6)
    assert seen_from(pliant.slope(-0.3)) == pytest.approx(40, abs=1e-6)
    assert seen_from(pliant.slope(0.3, direction=math.pi / 2)) == pytest.approx(310, abs=1e-6)
    assert seen_from(pliant.slope(0.3), -49) == pytest.approx(229, abs=1e-6)


def test_a_camera_that_is_told_stays() -> None:
    box = np.array([[-0.2, -0.2, 0.0]]), np.array([[0.2, 0.2, 0.4]])
    for camera, expected in ((Camera(), 140.0), (Camera(azimuth=40), 40.0)):
        stage = Studio.around(camera, *box, pliant.slope(0.3), 0.0)
        assert stage.camera.azimuth == pytest.approx(expected, abs=1e-6)
    place = Studio.around(Camera(), *box, pliant.slope(0.3), 0.0).eye(np.zeros(3), 96, 64).place
    assert place[0] < 0
