"""Pictures: colors, shadows, smooth edges, ground of any shape."""

from dataclasses import replace

import numpy as np
import pytest

import pliant
from pliant.render.camera import Camera
from pliant.render.studio import Studio
from pliant.render.software_renderer import Floor, Surface, rendered
from pliant.render.shading import SUN, behind_light, linear, screen
from pliant.render.shapes import box, creased, normals


def block(center: tuple[float, float, float], size: float, color: tuple[float, float, float]) -> Surface:
    mesh = creased(box((size, size, size)))
    m = len(mesh.faces)
    no = np.zeros(m, dtype=bool)
    corners = (mesh.vertices + np.array(center))[mesh.faces]
    return Surface(corners, normals(mesh)[mesh.faces], np.tile(linear(color), (m, 1)), no, no)


EYE = Camera(azimuth=0, elevation=50, distance=6).eye(np.zeros(3), 1.0, 120, 90)
FLOOR = Floor(0.0, 1.0, 30.0)


def test_a_red_block_is_red_and_its_surroundings_are_not() -> None:
    pixels = rendered(block((0, 0, 0.3), 0.6, (0.9, 0.1, 0.1)), EYE, FLOOR)
    assert pixels.shape == (90, 120, 3) and pixels.dtype == np.uint8
    red = pixels[42, 60].astype(int)
    assert red[0] > 2 * red[1] and red[0] > 2 * red[2]
    assert np.ptp(pixels[80, 5].astype(int)) < 20  # grey


def test_the_shadow_is_where_the_sun_throws_it() -> None:
    shown = rendered(block((0, 0, 2.0), 0.4, (0.5, 0.5, 0.5)), EYE, FLOOR).astype(float)
    bare = rendered(block((0, 0, -9.0), 0.4, (0.5, 0.5, 0.5)), EYE, FLOOR).astype(float)
    under = np.array([0, 0, 2.0]) - np.array(list(SUN)) * 2.0 / SUN.z
    column, row, _ = EYE.seen(under)
    darker = bare[int(row), int(column)] - shown[int(row), int(column)]
    # half of the light, as screens see it: 0.5^(1/2.2) = 0.73
    assert (darker > 0.2 * bare[int(row), int(column)]).all()
    away = EYE.seen(under + np.array([0.9, 0.9, 0]))[:2].astype(int)
    assert (shown[away[1], away[0]] == bare[away[1], away[0]]).all()


def test_edges_are_smooth() -> None:
    dark = block((0, 0, 0.5), 1.0, (0.05, 0.05, 0.05))
    # marks throw no shadow, whose edges are soft
    marked = replace(dark, is_mark=~dark.is_mark)
    pixels = rendered(marked, EYE, FLOOR)[..., 1].astype(int)
    between = (pixels > 110) & (pixels < 200)
    # a pixel or two at each side of each row that the block is in
    rows = (pixels < 110).any(axis=1).sum()
    assert 0.2 * rows < between.sum() < 5 * rows


def test_what_is_below_the_floor_is_hidden() -> None:
    hidden = rendered(block((0, 0, -1.0), 0.5, (0.9, 0.1, 0.1)), EYE, FLOOR)
    assert np.ptp(hidden.astype(int), axis=2).max() < 30
    assert np.ptp(rendered(block((0, 0, 1.0), 0.5, (0.9, 0.1, 0.1)), EYE, FLOOR).astype(int), axis=2).max() > 60


def test_the_compiled_light_is_that_of_the_formula() -> None:
    """Kernels of light and the same functions on floats; in float32, which has 7 digits."""
    from pliant.render.shading import behind_kernel

    rng = np.random.default_rng(0)
    numbers, about = EYE.numbers(), np.array([1.0, 30.0, 0.0, 1.0])
    points = rng.uniform(0, [120, 90], (20, 2)).astype(np.float32)
    lit = rng.uniform(0, 1, (20, 1)).astype(np.float32)
    found = behind_kernel()(numbers.astype(np.float32), about.astype(np.float32), points, lit)
    expected = [
        behind_light(numbers.tolist(), about.tolist(), p.tolist(), s.tolist()) for p, s in zip(points, lit, strict=True)
    ]
    # places on the floor have errors of 1e-6 m, tiles an edge of 0.02 m
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_a_level_ground_of_triangles_looks_like_the_floor() -> None:
    low, high = np.array([[-0.3, -0.3, 0.0]]), np.array([[0.3, 0.3, 0.6]])
    body = block((0, 0, 0.3), 0.6, (0.2, 0.4, 0.8))
    camera = Camera(elevation=50)
    plane = Studio.around(camera, low, high, pliant.flat(), 0.0)
    # almost flat, so that it is drawn as triangles
    wavy = Studio.around(camera, low, high, pliant.waves(1e-6, 1.0), 0.0)
    center = np.array([0, 0, 0.3])
    first, second = (s.picture([body], center, 96, 72).astype(int) for s in (plane, wavy))
    assert plane.ground is None and wavy.ground is not None
    # tiles of the plane are filtered along both axes of the picture, those of triangles alike in all directions
    assert abs(first - second).mean() < 6


def test_the_camera_stays_above_the_ground() -> None:
    low, high = np.array([[-0.3, -0.3, 0.0]]), np.array([[0.3, 0.3, 0.6]])
    hill = pliant.Ground(lambda x, y: 0.8 * pliant.math.maximum(x - 0.5, 0), "hill")
    stage = Studio.around(Camera(azimuth=0, elevation=10), low, high, hill, 0.0)
    place = stage.eye(np.array([0, 0, 0.3]), 96, 72).place
    assert place[2] > hill.height(place[0], place[1])


def test_colors_of_a_screen() -> None:
    light = np.linspace(0, 1, 11)
    np.testing.assert_allclose(screen(light) / 255, light ** (1 / 2.2), atol=6e-3)  # of 256 steps and 4096
    assert screen(linear(np.array([0.5])))[0] == pytest.approx(127.5, abs=1)
