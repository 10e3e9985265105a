"""Rays against ground and robots: brute force along the ray, other people's geometry, and kernels."""

import itertools

import numpy as np
import pytest

import pliant
from pliant.compiler import Kernel
from pliant.compiler.kernel import kernel_from_function
from pliant.compiler.tracing import Stages
from pliant.contact import Ground, flat, height_map, slope, stairs, waves
from pliant.dynamics.kinematics import link_poses
from pliant.errors import RobotError, TraceError
from pliant.math import select
from pliant.robot.model import Geometry
from pliant.scalar import Graph, Table
from pliant.sensors.ground_rays import Ray, SearchedRay, slope_bound
from pliant.sensors.map_rays import pyramid_of
from pliant.sensors.rays import Varying, ground_distance, ground_ray, heights, range_stages, scan_stages
from pliant.sensors.shape_rays import ray_shapes, robot_distance, shape_distance
from pliant.spatial import Transform, Vector

RNG = np.random.default_rng(17)
ROUGH = RNG.uniform(0, 0.4, (43, 30))
HILLS = np.add.outer(np.sin(np.arange(90) / 6), np.cos(np.arange(70) / 5)) * 0.3
REACH = 5.0

GROUNDS = {
    "flat": flat(0.1),
    "slope": slope(0.3, direction=0.7),
    "stairs": stairs(0.17, 0.3, steps=5, start=0.5, direction=0.4),
    "stairs without end": stairs(0.17, 0.3, direction=-2, riser=0.1),
    "stairs down": stairs(-0.17, 0.3, steps=5, start=-0.2),
    "stairs down without end": stairs(-0.12, 0.3, direction=1.0),
    "one step": stairs(0.3, 1.0, steps=1),
    "map": height_map(ROUGH, spacing=(0.1, 0.13), origin=(-2, -2)),
    "smooth map": height_map(HILLS, spacing=0.05, origin=(-2, -1.5)),
    "map of one cell": height_map(ROUGH[:2, :2], spacing=1.0),
    "map of few cells": height_map(ROUGH[:4, :6], spacing=0.3),
    "waves": waves(0.2, 1.3),
    "ridges": waves(0.2, 1.0, direction=0.5),
    "bowl": Ground(lambda x, y: 0.1 * x * x - 0.05 * y),
    "wall": Ground(lambda x, y: select(x > 0.5, 0.6, 0.1 * y)),
}
grounds = pytest.mark.parametrize("name", GROUNDS)


def brute(ground: Ground, p: np.ndarray, d: np.ndarray, reach: float, samples: int = 20_001) -> tuple[float, float]:
    """The first change of sign among many points along a ray, then bisection."""

    def over(t: np.ndarray) -> np.ndarray:
        return p[2] + t * d[2] - ground.height(p[0] + t * d[0], p[1] + t * d[1])

    t = np.linspace(0, reach, samples)
    f = over(t)
    changes = np.flatnonzero((f < 0) != (f[0] < 0))
    if not len(changes):
        return reach, 0
    low, high = t[changes[0] - 1], t[changes[0]]
    for _ in range(60):
        middle = (low + high) / 2
        is_before = (over(np.array([middle]))[0] < 0) == (f[0] < 0)
        low, high = (middle, high) if is_before else (low, middle)
    return float(high), 1


def random_rays(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """From above and below, steep, grazing, level, along an axis and vertical ones."""
    p = rng.uniform(-2.5, 2.5, (n, 3))
    p[:, 2] = rng.uniform(-0.6, 1.2, n)
    d = rng.normal(size=(n, 3))
    d[::3, 2] *= 0.1
    d[1::7, 0] = 0
    d[2::7, 1] = 0
    d[3::7, 2] = 0
    d[5::29] = [0, 0, -1]
    return p, d / np.linalg.norm(d, axis=1, keepdims=True)


def vectors(rows: np.ndarray) -> Vector:
    return Vector(*np.moveaxis(rows, -1, 0))


def is_doubtful(ground: Ground, p: np.ndarray, d: np.ndarray, reach: float) -> bool:
    """Whether a ray touches the ground within what brute force can see: moved by a little, it finds something else."""
    found = [brute(ground, p + np.array([0, 0, shift]), d, reach) for shift in (-1e-4, 1e-4)]
    return found[0][1] != found[1][1] or abs(found[0][0] - found[1][0]) > 0.02


@grounds
def test_first_place_by_brute_force(name: str) -> None:
    ground, rng = GROUNDS[name], np.random.default_rng(3)
    p, d = random_rays(300, rng)
    found, hit = ground_distance(ground, vectors(p), vectors(d), REACH)
    expected = np.array([brute(ground, a, b, REACH) for a, b in zip(p, d, strict=True)])
    assert 50 < expected[:, 1].sum() < 290
    # rounding of f, some 1e-15 m, over its rate along the ray, which is seldom less than a thousandth
    wrong = np.flatnonzero((np.abs(found - expected[:, 0]) > 1e-9) | (hit != expected[:, 1]))
    clear = [k for k in wrong if not is_doubtful(ground, p[k], d[k], REACH)]
    assert not clear
    assert len(wrong) <= 6
    assert np.all(found[hit == 0] == REACH)


@grounds
def test_rays_that_start_below_come_out(name: str) -> None:
    ground = GROUNDS[name]
    x, y = RNG.uniform(-1.5, 1.5, (2, 40))
    depth = RNG.uniform(0.01, 0.5, 40)
    p = Vector(x, y, ground.height(x, y) - depth)
    up = Vector(np.zeros(40), np.zeros(40), np.ones(40))
    found, hit = ground_distance(ground, p, up, REACH)
    assert hit.all()
    np.testing.assert_allclose(found, depth, rtol=0, atol=1e-9)


@grounds
def test_vertical_rays_have_the_height_itself(name: str) -> None:
    """Also in straight-line code, where the direction is known to be vertical."""
    ground = GROUNDS[name]
    graph = Graph()
    p = Vector(*(graph.input(c) for c in "xyz"))
    distance, hit = ground_distance(ground, p, Vector(0, 0, -1), 10)
    assert {distance.graph, hit.graph} == {graph}
    x, y = RNG.uniform(-2, 2, (2, 20))
    found, hits = ground_distance(ground, Vector(x, y, 2.0 + 0 * x), Vector(0, 0, -1), 10)
    assert hits.all()
    np.testing.assert_allclose(found, 2 - ground.height(x, y), rtol=0, atol=1e-15)


@grounds
@pytest.mark.parametrize("p", [(np.nan, 0, 1), (0, 0, np.nan), (np.inf, 0, 1), (0, 0, 1e30), (1e12, -1e12, 1)])
def test_misses_have_their_reach(name: str, p: tuple) -> None:
    d = np.array([0.6, 0.1, 0.3]) / np.linalg.norm([0.6, 0.1, 0.3])
    for way in (d, -d, np.array([0, 0, 1.0])):
        found, hit = ground_distance(GROUNDS[name], Vector(*map(float, p)), Vector(*map(float, way)), 2.0)
        assert (found, hit) == (2.0, 0) or (hit == 1 and 0 <= found <= 2)
        assert np.isfinite(found)


@grounds
def test_reach_ends_a_ray(name: str) -> None:
    ground, rng = GROUNDS[name], np.random.default_rng(5)
    p, d = (vectors(a) for a in random_rays(60, rng))
    distance, hit = ground_distance(ground, p, d, REACH)
    shorter = np.where(hit == 1, distance * (1 - 1e-6), 1.0)
    assert not ground_distance(ground, p, d, shorter)[1].any()
    longer = np.where(hit == 1, distance * (1 + 1e-6) + 1e-9, 1.0)
    again, still = ground_distance(ground, p, d, longer)
    assert np.all(still == hit)
    # a search steps otherwise if the ray is shorter
    np.testing.assert_allclose(again[hit == 1], distance[hit == 1], rtol=0, atol=1e-8)


def test_long_stairs_are_one_division() -> None:
    """A ray that comes nearer by 4 mm from edge to edge, over more than a hundred steps."""
    ground = stairs(0.17, 0.3, steps=400)
    for way, start in ((1, (-0.5, 0.6)), (-1, (119.0, 68.2))):
        d = np.array([way * 0.3, 0, way * 0.17 - 0.004])
        d /= np.linalg.norm(d)
        p = np.array([start[0], 0.2, start[1]])
        expected = brute(ground, p, d, 130.0, samples=400_001)
        assert expected[1] == 1
        assert ground_distance(ground, Vector(*p), Vector(*d), 130.0) == pytest.approx(expected, rel=1e-9)


def test_stairs_that_differ_between_robots() -> None:
    """Up and down, with numbers that a kernel has not known."""
    shapes = [(0.17, 0.3), (-0.1, 0.25), (0.05, 0.4)]
    d = np.array([0.8, 0.1, -0.2]) / np.linalg.norm([0.8, 0.1, -0.2])

    def distance(x):
        own = stairs(x[0], x[1], steps=4, riser=0.01)
        return list(ground_distance(own, Vector(-0.3, 0, 0.4), Vector(*d), 6))

    kernel = kernel_from_function(distance, {"x": (2,)})
    expected = [brute(stairs(*s, steps=4, riser=0.01), np.array([-0.3, 0, 0.4]), d, 6.0) for s in shapes]
    np.testing.assert_allclose(kernel(np.array(shapes)), expected, rtol=0, atol=1e-12)


class TestMap:
    def test_no_cell_is_left_out(self) -> None:
        """Needles as narrow as can be: two cells wide, among hundreds."""
        grid = np.zeros((201, 301))
        spots = RNG.integers(2, 199, (40, 2))
        grid[spots[:, 0], spots[:, 1]] = 1.0
        ground = height_map(grid, spacing=0.1)
        # level rays through the needles, from all around, between the others
        for i, j in spots:
            angle = RNG.uniform(0, 2 * np.pi)
            d = np.array([np.cos(angle), np.sin(angle), 0])
            p = np.array([i * 0.1, j * 0.1, 0.5]) - 30 * d
            found, hit = ground_distance(ground, Vector(*p), Vector(*d), 40.0)
            assert (found, hit) == pytest.approx(brute(ground, p, d, 40.0, samples=400_001), abs=1e-9)
            assert hit == 1
            assert found < 30

    def test_rays_are_over_within_their_rounds(self) -> None:
        """Rays along a furrow, which meet nothing and stay near: no block is clear of them."""
        ground = height_map(np.tile(np.arange(400) % 2, (300, 1)) * 1.0, spacing=0.1)
        ray = ground_ray(ground, 100.0)
        p, d = Vector(0.05, 10.05, 0.51), Vector(1.0, 0.0, 0.0)
        assert ground_distance(ground, p, d, 100.0) == (100.0, 0)
        assert ray.rounds < 4 * 700

    def test_pyramid_holds_every_block(self) -> None:
        heights_ = RNG.normal(size=(75, 38))
        pyramid = pyramid_of(Table(heights_.ravel()), heights_.shape)
        assert pyramid is not None
        assert [level.side for level in pyramid.levels] == [4, 16, 64]
        for side, (rows, columns), start in pyramid.levels:
            for i, j in itertools.product(range(rows), range(columns)):
                block = heights_[i * side : (i + 1) * side + 1, j * side : (j + 1) * side + 1]
                entry = start + i * columns + j
                assert pyramid.table.numbers[entry] == block.max()
                assert pyramid.table.numbers[pyramid.size + entry] == -block.min()

    def test_saddles_have_two_places(self) -> None:
        """In a cell that is twisted a ray may pass below the patch and come out again: the first place counts."""
        ground = height_map([[0.0, 1.0], [1.0, 0.0]], spacing=1.0)
        d = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
        found, hit = ground_distance(ground, Vector(0, 0, 0.4), Vector(*d), 2.0)
        # h = f + g - 2 f g on the diagonal: 2 f (1 - f) = 0.4
        f = (1 - np.sqrt(1 - 0.8)) / 2
        assert (found, hit) == pytest.approx((f * np.sqrt(2), 1), abs=1e-15)


class TestSearch:
    def test_what_is_longer_than_the_resolution_is_found(self) -> None:
        """Ridges of which the ray crosses just so much, wherever they are."""
        for width, place in itertools.product((0.021, 0.05), RNG.uniform(0.1, 4.5, 20)):
            ridge = Ground(lambda x, y, a=place, w=width: select(abs(x - a) < w / 2, 1, 0))
            found, hit = ground_distance(ridge, Vector(0, 0, 0.5), Vector(1, 0, 0), REACH, resolution=0.02)
            assert hit == 1
            assert found == pytest.approx(place - width / 2, abs=1e-9)

    def test_slopes_are_bounded_by_their_formula(self) -> None:
        assert slope_bound(waves(0.2, 1.3)) == pytest.approx(np.sqrt(2) * 0.2 * 2 * np.pi / 1.3)
        assert slope_bound(waves(0.2, 1.0, direction=0)) == pytest.approx(0.2 * 2 * np.pi)
        assert slope_bound(GROUNDS["bowl"]) == np.inf
        assert slope_bound(GROUNDS["wall"]) == np.inf

    def test_a_bound_saves_rounds_and_nothing_else(self) -> None:
        ground, rounds = GROUNDS["waves"], {}
        for bound in (slope_bound(ground), np.inf):
            way = SearchedRay(ground, 10.0, 0.02)
            way.steepest = bound
            ray = Ray(Vector(0.1, 0.2, 3.0), Vector(0.6, 0.0, -0.8), 10.0)
            state, count = way.begin(ray), 0
            while state[0]:
                state, count = way.advance(ray, state), count + 1
            rounds[bound] = count, way.end(ray, state)[0]
        (few, a), (many, b) = rounds.values()
        assert a == pytest.approx(b, abs=1e-9)
        assert few < many / 5

    def test_straight_line_code_is_refused(self) -> None:
        graph = Graph()
        p, d = (Vector(*(graph.input(f"{name}{k}") for k in range(3))) for name in "pd")
        with pytest.raises(TraceError, match="range_stages"):
            ground_distance(GROUNDS["waves"], p, d, 5)


# ---- shapes

SHAPES = {
    "box": ("box", (0.4, 0.6, 0.2)),
    "sphere": ("sphere", (0.3,)),
    "cylinder": ("cylinder", (0.2, 0.7)),
    "capsule": ("capsule", (0.15, 0.5)),
}


def inside(kind: str, size: tuple, x: np.ndarray) -> np.ndarray:
    """Whether points are in a shape, by its definition."""
    if kind == "box":
        return np.all(np.abs(x) <= np.array(size) / 2, axis=-1)
    if kind == "sphere":
        return np.linalg.norm(x, axis=-1) <= size[0]
    radius, length = size
    if kind == "cylinder":
        return (np.hypot(x[..., 0], x[..., 1]) <= radius) & (np.abs(x[..., 2]) <= length / 2)
    axis = np.clip(x[..., 2], -length / 2, length / 2)
    return np.linalg.norm(x - axis[..., None] * np.array([0, 0, 1.0]), axis=-1) <= radius


def brute_shape(kind: str, size: tuple, p: np.ndarray, d: np.ndarray, reach: float) -> tuple[float, float]:
    t = np.linspace(0, reach, 20_001)
    is_in = inside(kind, size, p + t[:, None] * d)
    changes = np.flatnonzero(is_in != is_in[0])
    if not len(changes):
        return reach, 0
    low, high = t[changes[0] - 1], t[changes[0]]
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(kind, size, p + middle * d) == is_in[0] else (low, middle)
    return float(high), 1


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_by_brute_force(shape: str) -> None:
    kind, size = SHAPES[shape]
    rng = np.random.default_rng(8)
    p = rng.uniform(-0.8, 0.8, (300, 3))
    p[::5] *= 0.2  # many of these start inside
    d = -p + rng.normal(0, 0.3, (300, 3))
    d[1::10, :2] = 0
    d[2::10, 0] = 0
    d[3::10, 2] = 0
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    found, hit = shape_distance(kind, size, vectors(p), vectors(d), 2.0)
    expected = np.array([brute_shape(kind, size, a, b, 2.0) for a, b in zip(p, d, strict=True)])
    # what is thinner than a sample along the ray, 1e-4 m, brute force does not see
    wrong = (np.abs(found - expected[:, 0]) > 1e-9) | (hit != expected[:, 1])
    assert wrong.sum() <= 2
    assert 100 < expected[:, 1].sum() < 300


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_against_mujoco(shape: str) -> None:
    """MuJoCo's rays, also from within; its cylinders and capsules have half the length."""
    mujoco = pytest.importorskip("mujoco")
    kind, size = SHAPES[shape]
    own = {
        "box": [x / 2 for x in size],
        "sphere": [*size, 0, 0],
    }.get(kind, [size[0], size[-1] / 2, 0])
    geom = getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}")
    rng = np.random.default_rng(9)
    d = rng.normal(size=(300, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    p = rng.uniform(-0.5, 0.5, (300, 3)) - rng.choice([0, 2], (300, 1)) * d
    found, hit = shape_distance(kind, size, vectors(p), vectors(d), 5.0)
    pose = np.zeros(3), np.eye(3).ravel()
    rays = zip(p, d, strict=True)
    expected = np.array([mujoco.mju_rayGeom(*pose, np.array(own, float), a, b, geom) for a, b in rays])
    assert np.array_equal(hit == 1, expected >= 0)
    assert 50 < hit.sum() < 250
    np.testing.assert_allclose(found[hit == 1], expected[hit == 1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_rays_beside_a_shape_miss(shape: str) -> None:
    kind, size = SHAPES[shape]
    for p, d in (((2, 0, 0), (0, 0, 1)), ((0, 0, 3), (0, 1, 0)), ((2, 0, 0), (1, 0, 0)), ((np.nan, 0, 0), (1, 0, 0))):
        assert shape_distance(kind, size, Vector(*p), Vector(*d), 4.0) == (4.0, 0)


class TestRobot:
    robot = pliant.load("quadruped")

    def test_nearest_shape_of_all_bodies(self) -> None:
        """Rays from around the robot, against each shape by brute force in the world."""
        robot, rng = self.robot, np.random.default_rng(4)
        q = robot.neutral()
        poses = link_poses(robot.mechanism, q)
        shapes = ray_shapes(robot)
        assert sum(map(len, shapes.values())) > 4
        placed = [(s, (poses[i] @ s.placement).inverse()) for i, own in shapes.items() for s in own]
        center = np.array(list(poses[0].p))
        hits = 0
        for _ in range(40):
            p = center + rng.normal(size=3)
            d = center + rng.normal(0, 0.2, 3) - p
            d /= np.linalg.norm(d)
            each = [_brute_placed(s, X, p, d) for s, X in placed]
            found = robot_distance(robot, poses, Vector(*p), Vector(*d), 4.0)
            assert found == pytest.approx((min(e[0] for e in each), max(e[1] for e in each)), abs=1e-9)
            hits += found[1]
        assert hits > 5

    def test_own_body_and_what_is_fixed_to_it_is_left_out(self) -> None:
        robot = self.robot
        body = robot.mechanism.links[0].body
        assert 0 in ray_shapes(robot)
        assert 0 not in ray_shapes(robot, without=[body])
        fixed = [name for name, (i, _) in robot.mechanism.poses.items() if i == 0]
        assert all(0 not in ray_shapes(robot, without=[name]) for name in fixed)
        with pytest.raises(RobotError, match="'tail'"):
            ray_shapes(robot, without=["tail"])

    def test_rays_pass_through_meshes(self) -> None:
        assert all(s.kind != "mesh" for own in ray_shapes(self.robot).values() for s in own)
        assert isinstance(next(iter(ray_shapes(self.robot).values()))[0], Geometry)


def _brute_placed(shape: Geometry, X: Transform, p: np.ndarray, d: np.ndarray) -> tuple[float, float]:
    start, way = (np.array(list(v)) for v in (X.transform_point(Vector(*p)), X.R.rotate(Vector(*d))))
    return brute_shape(shape.kind, tuple(map(float, shape.size)), start, way, 4.0)


# ---- programs

RAYS = np.concatenate([[[0, 0, -1.0]], random_rays(8, np.random.default_rng(2))[1]])


def places(n: int, rng: np.random.Generator) -> np.ndarray:
    """Origins and rotations, row by row."""
    turns, _ = np.linalg.qr(rng.normal(size=(n, 3, 3)))
    origins = rng.uniform(-1.5, 1.5, (n, 3))
    origins[:, 2] = rng.uniform(0.3, 1.0, n)
    return np.concatenate([origins, turns.reshape(n, 9)], axis=1)


def range_kernel(ground: Ground, precision: str, **options) -> Kernel:
    stages = Stages(place=12, found=2 * len(RAYS))
    range_stages(stages, "lidar", RAYS.tolist(), ground, place="place", found="found", reach=REACH, **options)
    program = stages.program(inputs=("place",), outputs=("found",))
    return Kernel(program, {"place": (12,)}, {"found": (len(RAYS), 2)}, precision=precision)


@grounds
def test_kernels_find_what_numbers_find(name: str, precision: str) -> None:
    ground = GROUNDS[name]
    given = places(37, np.random.default_rng(6)).astype(precision)
    kernel = range_kernel(ground, precision)
    found = kernel(given)
    p, R = given[:, :3].astype(float), given[:, 3:].reshape(-1, 3, 3).astype(float)
    d = np.einsum("bij,rj->bri", R, RAYS)
    start = Vector(*(np.repeat(p[:, k : k + 1], len(RAYS), axis=1) for k in range(3)))
    distance, hit = ground_distance(ground, start, vectors(d), REACH)
    # float32 has 1e-7 of places of some meters, over a rate that is seldom below a hundredth
    is_off = np.abs(found[..., 0] - distance) > (1e-9 if precision == "float64" else 1e-4)
    is_off |= found[..., 1] != hit
    assert is_off.sum() <= (0 if precision == "float64" else 3)
    assert 50 < hit.sum() < hit.size
    # whoever is beside
    assert np.array_equal(found[5:6], kernel(given[5:6]))
    assert np.array_equal(found[::-1], kernel(given[::-1]))


def test_robots_that_are_not_due_keep_what_they_have() -> None:
    """A range finder inside of a loop that some robots do not enter; a scan beside it."""
    ground = GROUNDS["map"]
    stages = Stages(place=12, due=1, found=2 * len(RAYS), heights=6)
    with stages.loop(1, when="due"):
        range_stages(stages, "lidar", RAYS.tolist(), ground, place="place", found="found", reach=REACH)
        stages.add(lambda place: [place[0], place[1], 1, 0], ("place",), ("level",))
        points = [(a, b) for a in (0, 0.5, 1.5) for b in (0.2, 0.1)]
        scan_stages(stages, "scan", points, ground, place="level", found="heights")
    program = stages.program(inputs=("place", "due", "found"), outputs=("heights", "found"))
    shapes = {"place": (12,), "due": (), "found": (len(RAYS), 2), "heights": (6,)}
    kernel = Kernel(
        program,
        {n: shapes[n] for n in ("place", "due", "found")},
        {n: shapes[n] for n in ("heights", "found")},
    )
    given, before = places(19, RNG), RNG.normal(size=(19, len(RAYS), 2))
    due = (np.arange(19) % 3 == 0) * 1.0
    at, found = kernel(given, due, before)
    all_at, everyone = kernel(given, np.ones(19), before)
    assert np.array_equal(found, np.where(due[:, None, None] == 1, everyone, before))
    assert np.array_equal(at, np.where(due[:, None] == 1, all_at, 0))
    x, y = (given[:, k : k + 1] + np.array(points)[:, k] for k in (0, 1))
    np.testing.assert_allclose(all_at, ground.height(x, y), rtol=0, atol=1e-12)


def test_robot_and_ground_whichever_is_nearer(precision: str) -> None:
    robot, ground = TestRobot.robot, flat(-0.8)
    stages = Stages(q=robot.nq, place=12, found=2 * len(RAYS))

    def poses(q):
        return [[*X.p, *X.R.matrix()] for X in link_poses(robot.mechanism, q)]

    stages.add(poses, ("q",), ("poses",))
    range_stages(
        stages, "lidar", RAYS.tolist(), ground, place="place", found="found", reach=REACH, robot=robot, poses="poses"
    )
    program = stages.program(inputs=("q", "place"), outputs=("found",))
    shapes = {"q": (robot.nq,), "place": (12,)}
    kernel = Kernel(program, shapes, {"found": (len(RAYS), 2)}, precision=precision)
    q = robot.neutral()
    given = places(50, np.random.default_rng(11))
    given[:, :3] = np.random.default_rng(12).uniform(-0.4, 0.4, (50, 3))
    found = kernel(np.tile(q, (50, 1)).astype(precision), given.astype(precision))
    X = link_poses(robot.mechanism, q)
    near = 0
    for row, place in zip(found, given, strict=True):
        for ray, (distance, hit) in zip(RAYS, row, strict=True):
            p, d = Vector(*place[:3]), Vector(*(place[3:].reshape(3, 3) @ ray))
            on_ground, on_robot = ground_distance(ground, p, d, REACH), robot_distance(robot, X, p, d, REACH)
            near += on_robot[0] < on_ground[0]
            expected = min(on_ground[0], on_robot[0]), max(on_ground[1], on_robot[1])
            if precision == "float64":
                assert (distance, hit) == pytest.approx(expected, abs=1e-9)
    assert near > 20


GRID = [(0.1 * i, 0.1 * j - 0.4) for i in range(7) for j in range(9)]
LOOSE = [(float(x), float(y)) for x, y in RNG.uniform(-1, 1, (30, 2))]


class TestScan:
    @pytest.mark.parametrize("points", [GRID, LOOSE, GRID[:1], LOOSE[:7]], ids=["grid", "loose", "one", "seven"])
    @pytest.mark.parametrize("name", ["map", "stairs", "waves"])
    def test_heights_at_points(self, points: list, name: str, precision: str) -> None:
        ground, n = GROUNDS[name], len(points)
        stages = Stages(place=4, found=n)
        scan_stages(stages, "scan", points, ground, place="place", found="found")
        program = stages.program(inputs=("place",), outputs=("found",))
        kernel = Kernel(program, {"place": (4,)}, {"found": (n,)}, precision=precision)
        angle = RNG.uniform(0, 7, 21)
        place = np.stack([*RNG.uniform(-1, 1, (2, 21)), np.cos(angle), np.sin(angle)], axis=1).astype(precision)
        x0, y0, c, s = (place[:, k : k + 1].astype(float) for k in range(4))
        a, b = np.array(points).T
        expected = ground.height(x0 + c * a - s * b, y0 + s * a + c * b)
        # beside a riser, which is steep, rounding of x matters
        atol = 1e-12 if precision == "float64" else 1e-5 if name != "stairs" else 2e-4
        np.testing.assert_allclose(kernel(place), expected, rtol=0, atol=atol)

    def test_points_of_each_robot(self) -> None:
        ground = GROUNDS["map"]
        stages = Stages(place=4, points=12, found=6)
        scan_stages(stages, "scan", "points", ground, place="place", found="found")
        program = stages.program(inputs=("place", "points"), outputs=("found",))
        kernel = Kernel(program, {"place": (4,), "points": (6, 2)}, {"found": (6,)})
        points = RNG.uniform(-1, 1, (9, 6, 2))
        found = kernel(np.array([0.1, 0.2, 1, 0]), points)
        np.testing.assert_allclose(found, ground.height(0.1 + points[..., 0], 0.2 + points[..., 1]), rtol=0, atol=1e-12)

    def test_ground_of_each_robot(self) -> None:
        def ground_of(numbers) -> Ground:
            return slope(numbers[0], direction=numbers[1])

        stages = Stages(place=4, pose=12, p=2, found=9, distances=2 * len(RAYS))
        varying = Varying("p", ground_of)
        scan_stages(stages, "scan", GRID[:9], slope(0), place="place", found="found", varying=varying)
        options = {"place": "pose", "found": "distances", "reach": REACH, "varying": varying}
        range_stages(stages, "lidar", RAYS.tolist(), slope(0), **options)
        program = stages.program(inputs=("place", "pose", "p"), outputs=("found", "distances"))
        outputs = {"found": (9,), "distances": (len(RAYS), 2)}
        kernel = Kernel(program, {"place": (4,), "pose": (12,), "p": (2,)}, outputs)
        numbers, given = RNG.uniform(-0.5, 0.5, (5, 2)), places(5, RNG)
        found, distances = kernel(np.array([0.1, 0.2, 1, 0]), given, numbers)
        for k, own in enumerate(numbers):
            at = ground_of(own.tolist())
            expected = [at.height(0.1 + a, 0.2 + b) for a, b in GRID[:9]]
            np.testing.assert_allclose(found[k], expected, rtol=0, atol=1e-14)
            ways = [Vector(*(given[k, 3:].reshape(3, 3) @ ray)) for ray in RAYS]
            each = [ground_distance(at, Vector(*given[k, :3]), d, REACH) for d in ways]
            np.testing.assert_allclose(distances[k], each, rtol=0, atol=1e-9)

    def test_code_does_not_grow_with_the_rows(self) -> None:
        sizes = []
        for rows in (3, 40):
            points = [(0.1 * i, 0.1 * j) for i in range(rows) for j in range(25)]
            stages = Stages(place=4, found=len(points))
            scan_stages(stages, "scan", points, GROUNDS["map"], place="place", found="found")
            program = stages.program(inputs=("place",), outputs=("found",))
            kernel = Kernel(program, {"place": (4,)}, {"found": (len(points),)})
            sizes.append(sum(kernel.operations().values()))
        assert sizes[0] == sizes[1]

    def test_without_stages(self) -> None:
        ground = GROUNDS["map"]
        assert heights(ground, [0.1, 0.3], [0.2, 0.5]) == [ground.height(0.1, 0.2), ground.height(0.3, 0.5)]
