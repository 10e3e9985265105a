"""Pictures: cameras, shapes as triangles, the rasterizer, colors, shadows, smooth edges, ground of any shape."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import pliant
from pliant.render.camera import Camera, as_camera
from pliant.render.shading import SUN, behind_kernel, behind_light, linear, screen
from pliant.render.shapes import (
    Mesh, along, arrow, box, capsule, clustered, cone, creased, cylinder, downhill_azimuth, joined, moved, normals,
    sphere, turned,
)  # fmt: skip
from pliant.render.software_renderer import Floor, Surface, rasterised, rendered
from pliant.render.studio import Studio

# ---- cameras


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


def test_named_cameras_stand_where_they_say() -> None:
    for name, axis, sign in (("front", 0, 1), ("back", 0, -1), ("left", 1, 1), ("right", 1, -1), ("top", 2, 1)):
        place = as_camera(name).eye(np.zeros(3), 1.0, 100, 100).place
        assert np.argmax(abs(place)) == axis and np.sign(place[axis]) == sign


def test_bad_cameras_say_what_is_wrong() -> None:
    for wrong, message in (
        ("lef", "no camera named 'lef'; did you mean 'left'"),
        ({"azimut": 3}, "no field named 'azimut' in Camera; did you mean 'azimuth'"),
        ({"elevation": 90}, r"elevation of the camera is 90; it takes -89\.9 to 89\.9 degrees"),
        (3, "it takes a Camera"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            as_camera(wrong)
    for field, value in (("target", (1, 2)), ("distance", 0), ("zoom", 0), ("zoom", None), ("azimuth", math.nan)):
        with pytest.raises(pliant.PliantError) as error:
            Camera(**{field: value})
        assert (error.value.subject, error.value.field) == ("the camera", field)
    assert as_camera({"azimuth": 10}).azimuth == 10


# ---- where one looks at ground from


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


# ---- shapes: closed, turned outward, and of the volume that their corners say

N = 24  # corners around
CIRCLE = N / 2 * math.sin(2 * math.pi / N)  # area of the polygon in the unit circle

SHAPES = {
    "box": (box((1, 2, 3)), 6.0),
    "cylinder": (cylinder(0.5, 2), CIRCLE * 0.25 * 2),
    "cone": (cone(0.5, 3), CIRCLE * 0.25 * 3 / 3),
    "sphere": (sphere(0.5), None),
    "capsule": (capsule(0.3, 1.0), None),
    "taper": (capsule(0.3, 1.0, 0.1), None),
    "arrow": (arrow(1.0, 0.05), None),
}


def volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_closed_and_turn_outward(name: str) -> None:
    mesh, expected = SHAPES[name]
    _, place = np.unique(mesh.vertices.round(12), axis=0, return_inverse=True)
    faces = place.reshape(-1)[mesh.faces]
    edges = [(int(a), int(b)) for face in faces for a, b in zip(face, np.roll(face, -1), strict=True)]
    # every edge once in each direction: no hole, and all faces turn the same way
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    assert volume(mesh) > 0
    if expected is not None:
        assert volume(mesh) == pytest.approx(expected, rel=1e-12)


def test_round_shapes_approach_their_volume() -> None:
    # a polyhedron inside: too small, by a part that falls with the square of the corners
    for shape, exact in ((sphere, 4 / 3 * math.pi), (lambda r, n: capsule(r, 1.0, segments=n), 7 / 3 * math.pi)):
        coarse, fine = (1 - volume(shape(1.0, n)) / exact for n in (24, 48))
        assert 0 < fine < coarse < 0.05
        assert coarse / fine == pytest.approx(4, rel=0.1)


def test_taper_touches_both_balls() -> None:
    mesh = capsule(0.3, 1.0, 0.1)
    low, high = mesh.vertices[:, 2].min(), mesh.vertices[:, 2].max()
    assert (low, high) == pytest.approx((-0.5 - 0.3, 0.5 + 0.1))
    to_balls = [np.linalg.norm(mesh.vertices - [0, 0, z], axis=-1) - r for z, r in ((-0.5, 0.3), (0.5, 0.1))]
    # every corner lies on one of the two balls
    np.testing.assert_allclose(np.minimum(*map(np.abs, to_balls)), 0, atol=1e-12)


def test_sharp_edges_are_split_and_smooth_ones_shared() -> None:
    cube = creased(box((1, 1, 1)))
    assert len(cube.vertices) == 24
    # normals of a cube are those of its sides
    assert set(map(tuple, np.abs(normals(cube)).round(12))) == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    ball = sphere(1.0)
    shared = creased(ball)
    assert len(shared.vertices) == len(np.unique(ball.vertices.round(12), axis=0))
    # normals of a ball point away from its middle; to the second order of 15 degrees between corners
    assert np.einsum("ij,ij->i", normals(shared), shared.vertices).min() > math.cos(math.radians(15) / 2)


def test_clusters_are_few_and_near() -> None:
    fine = sphere(1.0, segments=160)
    coarse = clustered(fine, 2000)
    assert 500 < len(coarse.faces) <= 2000 < len(fine.faces)
    # a cell is at most a tenth of the radius at this count
    np.testing.assert_allclose(np.linalg.norm(coarse.vertices, axis=-1), 1, atol=0.02)
    assert volume(coarse) == pytest.approx(volume(fine), rel=0.05)
    assert len(clustered(fine, 10**6).faces) == len(fine.faces)


def test_moved_mirrored_and_joined() -> None:
    mesh = box((1, 2, 3))
    X = np.diag([-2.0, 1, 1, 1])
    X[:3, 3] = 5
    # a mirror turns faces inside out, and they are turned back
    assert volume(moved(mesh, X)) == pytest.approx(12)
    assert volume(joined([mesh, moved(mesh, X)])) == pytest.approx(18)
    assert joined([]).faces.shape == (0, 3)
    # what has no area is dropped
    assert len(turned([(0, 1), (1, 0), (1, 0), (0, -1)], 8).faces) == 16


@pytest.mark.parametrize("end", [(0, 0, 2), (0, 0, -2), (1, 2, 3), (1e-9, 1, 0)])
def test_along_points_to_the_end(end: tuple[float, ...]) -> None:
    X = along((0, 0, 0), end)
    np.testing.assert_allclose(X[:3, :3] @ X[:3, :3].T, np.eye(3), atol=1e-12)
    assert np.linalg.det(X[:3, :3]) == pytest.approx(1)
    np.testing.assert_allclose(X[:3, 3] + X[:3, 2] * np.linalg.norm(end) / 2, end, atol=1e-12)


# ---- the rasterizer, against weights worked out for each pixel, and the silhouette of a ball


def by_hand(triangles: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    found, nearness = np.full((height, width), -1), np.full((height, width), -np.inf)
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    for k, corners in enumerate(triangles):
        xs, ys, ns = corners.T
        shares = np.linalg.solve([xs, ys, np.ones(3)], [x.ravel(), y.ravel(), np.ones(x.size)])
        n = (shares.T @ ns).reshape(x.shape)
        takes = (shares >= 0).all(axis=0).reshape(x.shape) & (n > nearness)
        found[takes], nearness[takes] = k, n[takes]
    return found, nearness


@pytest.mark.parametrize("seed", range(3))
def test_each_pixel_has_what_is_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    triangles = rng.uniform(-15, 60, (40, 3, 3))
    found, nearness = rasterised(triangles, 41, 37)
    expected, n = by_hand(triangles, 41, 37)
    # at an edge, rounding may decide either way
    same = found == expected
    assert same.mean() > 0.998
    hit = same & (expected >= 0)
    # weights are sums along a row, of some 40 roundings of numbers up to 100
    np.testing.assert_allclose(nearness[hit], n[hit], atol=1e-11)
    assert (nearness[found < 0] == -np.inf).all()


def test_either_side_is_drawn_and_nothing_outside() -> None:
    triangle = np.array([[[2.0, 2.0, 1.0], [8.0, 2.0, 1.0], [2.0, 8.0, 1.0]]])
    front, _ = rasterised(triangle, 10, 10)
    back, _ = rasterised(triangle[:, ::-1], 10, 10)
    np.testing.assert_array_equal(front, back)
    assert front[2, 2] == 0 and front[7, 7] == -1 and front[1, 2] == -1
    assert (front >= 0).sum() == 21  # centers with x + y <= 10 - 1/2 - 1/2 and x, y >= 2: 6 + 5 + ... + 1
    # what has no area or no place is left out
    line = [[1, 1, 1], [5, 5, 1], [9, 9, 1]]
    lost = [[1, 1, np.nan], [5, 1, 1], [1, 5, 1]]
    far = [[1e12, 1, 1], [5, 1, 1], [1, 5, 1]]
    whole = [[0, 0, 1], [20, 0, 1], [0, 20, 1]]
    found, _ = rasterised(np.array([line, lost, far, whole], dtype=float), 8, 8)
    assert (found == 3).all()
    assert (rasterised(np.zeros((0, 3, 3)), 4, 3)[0] == -1).all()


def test_a_ball_looks_like_a_circle() -> None:
    ball = sphere(0.5, segments=96)
    eye = Camera(distance=4.0, elevation=20).eye(np.zeros(3), 1.0, 300, 200)
    found, _ = rasterised(eye.seen(ball.vertices[ball.faces]), 300, 200)
    # the cone of a ball of radius r at distance d meets the picture in a circle of radius f r / sqrt(d^2 - r^2)
    radius = eye.focal * 0.5 / np.sqrt(4.0**2 - 0.5**2)
    # the polygon lacks 0.1 % of the circle, and the count of pixels some 0.3 %
    assert (found >= 0).sum() == pytest.approx(np.pi * radius**2, rel=0.01)
    rows, columns = np.nonzero(found >= 0)
    assert columns.mean() + 0.5 == pytest.approx(150, abs=0.2) and rows.mean() + 0.5 == pytest.approx(100, abs=0.2)


# ---- pictures


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


def test_pictures_of_several_threads_and_sizes_do_not_mix() -> None:
    """Depth buffers are used again, by the thread that has them."""
    small = Camera(azimuth=70, elevation=30, distance=4).eye(np.zeros(3), 1.0, 61, 47)
    scenes = [(block((0, 0, 0.5 + 0.1 * k), 0.5, (0.9, 0.1 * k, 0.1)), (EYE, small)[k % 2], FLOOR) for k in range(8)]
    alone = [rendered(*scene) for scene in scenes]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda scene: rendered(*scene), scenes[::-1]))[::-1]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    # the result of a call without memory of its own is the caller's
    first, _ = rasterised(np.array([[[0.0, 0, 1], [20, 0, 1], [0, 20, 1]]]), 8, 8)
    rasterised(np.zeros((0, 3, 3)), 8, 8)
    assert (first == 0).all()


def test_the_compiled_light_is_that_of_the_formula() -> None:
    """Kernels of light and the same functions on floats; in float32, which has 7 digits."""
    rng = np.random.default_rng(0)
    numbers, about = EYE.numbers(), np.array([1.0, 30.0, 0.0, 1.0])
    points = rng.uniform(0, [120, 90], (20, 2)).astype(np.float32)
    lit = rng.uniform(0, 1, (20, 1)).astype(np.float32)
    found = behind_kernel()(numbers.astype(np.float32), about.astype(np.float32), points, lit)
    known = numbers.tolist(), about.tolist()
    expected = [behind_light(*known, p.tolist(), s.tolist()) for p, s in zip(points, lit, strict=True)]
    # places on the floor have errors of 1e-6 m, tiles an edge of 0.02 m
    np.testing.assert_allclose(found, expected, atol=2e-3)


# a box in which a robot is
LOW, HIGH = np.array([[-0.3, -0.3, 0.0]]), np.array([[0.3, 0.3, 0.6]])


def test_a_level_ground_of_triangles_looks_like_the_floor() -> None:
    body = block((0, 0, 0.3), 0.6, (0.2, 0.4, 0.8))
    camera = Camera(elevation=50)
    plane = Studio.around(camera, LOW, HIGH, pliant.flat(), 0.0)
    # almost flat, so that it is drawn as triangles
    wavy = Studio.around(camera, LOW, HIGH, pliant.waves(1e-6, 1.0), 0.0)
    center = np.array([0, 0, 0.3])
    first, second = (s.picture([body], center, 96, 72).astype(int) for s in (plane, wavy))
    assert plane.ground is None and wavy.ground is not None
    # tiles of the plane are filtered along both axes of the picture, those of triangles alike in all directions
    assert abs(first - second).mean() < 6


def test_the_camera_stays_above_the_ground() -> None:
    hill = pliant.Ground(lambda x, y: 0.8 * pliant.math.maximum(x - 0.5, 0), "hill")
    stage = Studio.around(Camera(azimuth=0, elevation=10), LOW, HIGH, hill, 0.0)
    place = stage.eye(np.array([0, 0, 0.3]), 96, 72).place
    assert place[2] > hill.height(place[0], place[1])


def test_colors_of_a_screen() -> None:
    light = np.linspace(0, 1, 11)
    np.testing.assert_allclose(screen(light) / 255, light ** (1 / 2.2), atol=6e-3)  # of 256 steps and 4096
    assert screen(linear(np.array([0.5])))[0] == pytest.approx(127.5, abs=1)
