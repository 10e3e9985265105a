"""Patches in one map: each with its own ground and a level start, robots that stand in all of them, bad input."""

import math
from dataclasses import replace

import numpy as np
import pytest

import pliant
from pliant import terrain
from pliant.errors import ContactError, PliantError
from pliant.terrain import HeightField, Kind, Terrain
from simple_bodies import block

KINDS = {
    "stairs": Kind("steps", rise=(0.02, 0.12), run=0.3),
    "pit": Kind("steps", rise=(-0.02, -0.12), run=0.3),
    "pyramid": Kind("pyramid", angle=(0, 0.4)),
    "slope": Kind("slope", angle=(0, 0.35)),
    "rough": Kind("rough", rms=(0, 0.06), longest=2),
    "perlin": Kind("perlin", rms=(0, 0.06), length=1, octaves=3),
    "tiles": Kind("tiles", side=0.4, height=(0, 0.15)),
    "stones": Kind("stepping_stones", stone=(0.6, 0.35), gap=(0.1, 0.2), depth=0.5),
    "gaps": Kind("gaps", width=(0.1, 0.4), ledge=0.5, depth=0.6),
    "obstacles": Kind("obstacles", count=(10, 40), height=(0.05, 0.2)),
    "waves": Kind("waves", amplitude=(0, 0.1), length=2),
    "mixed": Kind("slope", angle=(0, 0.2)) + Kind("tiles", side=0.4, height=0.05),
    "flat": Kind("flat"),
}


@pytest.fixture(scope="module")
def every() -> Terrain:
    return terrain.grid(KINDS, levels=3, size=6, seed=2, friction=0.8)


def test_platforms_are_level_and_origins_are_on_them(every: Terrain) -> None:
    assert every.origins.shape == (3, len(KINDS), 3)
    for x, y, z in every.origins.reshape(-1, 3):
        a, b = (o + np.linspace(-0.5, 0.5, 23) for o in (x, y))
        # interpolation between equal heights
        np.testing.assert_allclose(every.ground.height(*np.meshgrid(a, b)), z, rtol=0, atol=1e-15)
    steps = np.diff(every.origins[:, 0, 0]), np.diff(every.origins[0, :, 1])
    np.testing.assert_allclose(np.concatenate(steps), every.size, rtol=0, atol=1e-12)
    np.testing.assert_allclose(every.origins.mean(axis=(0, 1))[:2], 0, rtol=0, atol=1e-12)
    assert every.difficulties == (0, 0.5, 1)


def cells(every: Terrain, level: int, column: int) -> np.ndarray:
    """The heights of a patch, its own points."""
    n, rim = round(every.size / every.field.spacing), round(1 / every.field.spacing)
    return every.field.heights[rim + level * n :, rim + column * n :][:n, :n]


def test_a_patch_is_that_of_its_kind_alone(every: Terrain) -> None:
    fewer = terrain.grid({name: KINDS[name] for name in ("tiles", "rough")}, levels=3, size=6, seed=2)
    for name in fewer.columns:
        for level in range(3):
            own, other = (t.columns_of(name)[0] for t in (every, fewer))
            assert (cells(every, level, own) == cells(fewer, level, other)).all()
    changed = terrain.grid(KINDS | {"rough": Kind("gaps", width=1, depth=5)}, levels=3, size=6, seed=2)
    for column, name in enumerate(every.columns):
        for level in range(3):
            assert (cells(every, level, column) == cells(changed, level, column)).all() == (name != "rough")
    border = every.field.heights.copy()
    border[20:-20, 20:-20] = 0
    assert not border.any()


def test_patches_get_harder_and_differ_by_seed(every: Terrain) -> None:
    for column, name in enumerate(every.columns):
        sizes = [cells(every, level, column).std() for level in range(3)]
        if name in ("stones", "gaps", "mixed", "flat"):
            continue
        assert sizes[0] < sizes[1] < sizes[2], name
    other = terrain.grid(KINDS, levels=3, size=6, seed=3)
    for name in ("tiles", "rough", "perlin", "stones", "obstacles"):
        column = every.columns_of(name)[0]
        assert (cells(every, 2, column) != cells(other, 2, column)).any()
    two = terrain.grid({"a": Kind("tiles", side=0.4, height=0.1, columns=2)}, levels=1, size=4)
    assert two.columns == ("a", "a") and (cells(two, 0, 0) != cells(two, 0, 1)).any() and two.difficulties == (1,)


def test_places_know_their_patches(every: Terrain) -> None:
    x, y, _ = np.moveaxis(every.origins, -1, 0)
    rng = np.random.default_rng(0)
    level, column = every.patch_at(x + rng.uniform(-2.99, 2.99, x.shape), y + rng.uniform(-2.99, 2.99, x.shape))
    assert (level == np.arange(3)[:, None]).all() and (column == np.arange(len(KINDS))).all()
    for place in ((100, 0), (0, -100), (np.nan, 0)):
        assert [int(k) for k in every.patch_at(*place)] == [-1, -1]


def test_robots_stand_in_every_patch_at_once(every: Terrain) -> None:
    robot = pliant.load("quadruped")
    level, column = (k.ravel() for k in np.meshgrid(range(3), range(len(KINDS)), indexing="ij"))
    q = every.placed(robot, robot.stance(), level, column)
    on_flat = robot.on_ground(robot.stance())
    origins = every.origins.reshape(-1, 3)
    # sums of places and of heights, rounded
    np.testing.assert_allclose(q[:, :3] - origins, np.tile(on_flat[:3], (len(q), 1)), rtol=0, atol=1e-12)
    assert (q[:, 3:] == on_flat[3:]).all()
    q[:, 2] += 0.02
    robot, u = pliant.control.hold(robot, on_flat)
    sim = pliant.Simulation(robot, ground=every.ground, batch=len(q))
    sim.reset(q=q)
    sim.run(1.5, u=u)
    assert not sim.troubles
    # at rest, as on flat ground: all patches alike, but for the rounding of places
    assert abs(sim.v).max() < 1e-3
    np.testing.assert_allclose(sim.q[:, 2] - origins[:, 2], sim.q[0, 2] - origins[0, 2], rtol=0, atol=1e-6)


def test_blocks_come_to_rest_off_the_platforms() -> None:
    chosen = {name: kind for name, kind in KINDS.items() if name not in ("pit", "flat", "mixed")}
    hard = terrain.grid(chosen, levels=1, size=6, seed=2, friction=0.8)
    robot = block(size=(0.3, 0.2, 0.1))
    start = robot.neutral()
    start[:2] = 1.4, 0.3
    q = hard.placed(robot, start, 0, np.arange(len(chosen)))
    q[:, 2] += 0.02
    sim = pliant.Simulation(robot, ground=hard.ground, batch=len(q))
    sim.reset(q=q)
    sim.run(3)
    # rigid contact without regularisation: what sticks does not creep
    assert abs(sim.v).max() < 1e-6
    assert {t.kind for t in sim.troubles} <= {"unconverged"}


def test_one_robot_and_many(every: Terrain) -> None:
    robot = pliant.load("quadruped")
    q = robot.stance()
    one = every.placed(robot, q, 2, "rough")
    assert one.shape == (robot.nq,)
    many = every.placed(robot, np.tile(q, (4, 1)), [0, 1, 2, 2], every.columns_of("rough")[0])
    assert many.shape == (4, robot.nq)
    # compiled for many, on floats for one
    np.testing.assert_allclose(many[2], one, rtol=0, atol=1e-12)


def test_own_generators() -> None:
    def ridge(height: float, *, size: float, spacing: float) -> HeightField:
        field = terrain.flat(size=size, spacing=spacing)
        x, _ = field.points()
        return field.with_heights(np.where(x > 1, height, 0.0))

    made = terrain.grid({"ridge": Kind(ridge, height=(0.1, 0.3))}, levels=2, size=4, border=0)
    assert [cells.max() for cells in np.split(made.field.heights, 2)] == pytest.approx([0.1, 0.3], abs=1e-6)
    with pytest.raises(ContactError, match="40 x 40"):
        terrain.grid({"a": Kind(lambda *, size, spacing: terrain.flat())}, levels=1, size=2)


def test_logs_keep_terrain(every: Terrain, tmp_path) -> None:
    robot = block()
    sim = pliant.Simulation(robot, ground=every.ground)
    sim.reset(q=every.placed(robot, robot.neutral(), 1, "tiles"))
    log = pliant.load_log(sim.run(0.02).save(tmp_path / "run.h5"))
    assert log.source is not None and log.source.ground is not None
    kept = log.source.ground
    assert kept.friction == 0.8 and kept.name == "terrain"
    x, y = np.random.default_rng(0).uniform(-10, 10, size=(2, 500))
    assert (kept.height(x, y) == every.ground.height(x, y)).all()
    again = pliant.Simulation(robot, ground=kept)
    again.reset(q=log.q[0], v=log.v[0])
    assert (again.run(0.02).q == log.q).all(), "the same bits"


def test_large_maps_are_kept_whole(tmp_path) -> None:
    # more points than the heights that a file keeps of grounds without a formula
    large = replace(terrain.flat(size=(100, 110), spacing=0.05).ground(), friction=0.3)
    robot = block()
    sim = pliant.Simulation(robot, ground=None)
    source = replace(sim.run(0.01).source, ground=large)
    log = replace(sim.run(0.01), source=source)
    kept = pliant.load_log(log.save(tmp_path / "run.h5")).source
    assert kept is not None and kept.ground is not None and kept.ground.faces is not None
    assert kept.ground.faces.shape == (2001, 2201)


@pytest.mark.parametrize("make, field", [
    (lambda: Kind("step"), "generator"),
    (lambda: Kind("steps", rise=0.1), "numbers"),
    (lambda: Kind("steps", rise=0.1, run=0.3, size=3), "number"),
    (lambda: Kind("steps", rise=(0.1, 0.2, 0.3), run=0.3), "rise"),
    (lambda: Kind("flat", columns=0), "columns"),
    (lambda: terrain.grid({}), "kinds"),
    (lambda: terrain.grid([Kind("flat")]), "kinds"),
    (lambda: terrain.grid({"a": Kind("flat")}, levels=0), "levels"),
    (lambda: terrain.grid({"a": Kind("flat")}, platform=9), "platform"),
    (lambda: terrain.grid({"a": Kind("flat")}, size=0.01), "size"),
    (lambda: terrain.grid({"a": Kind("flat")}, border=-1), "border"),
    (lambda: terrain.grid({"a": Kind("flat")}, seed=-1), "seed"),
    (lambda: terrain.grid({"a": Kind("flat", columns=10)}, size=100), "size"),
    (lambda: terrain.grid({"a": Kind("slope", angle=(0, 2))}, levels=2), "angle"),
])  # fmt: skip
def test_what_cannot_be_says_which_field(make, field: str, refused) -> None:
    refused(make, field)


def test_bad_placements(every: Terrain) -> None:
    robot = pliant.load("quadruped")
    for level, column, field in ((3, 0, "level"), (-1, 0, "level"), (0.5, 0, "level"), (0, 99, "column")):
        with pytest.raises(ContactError) as caught:
            every.placed(robot, robot.stance(), level, column)
        assert caught.value.field == field
    with pytest.raises(ContactError, match="no kind named 'stair' in the terrain"):
        every.placed(robot, robot.stance(), 0, "stair")
    with pytest.raises(ContactError, match="do not fit"):
        every.placed(robot, robot.stance(), [0, 1], [0, 1, 2])
    with pytest.raises(ContactError) as caught:
        every.placed(robot, [1, 2, 3], 0, 0)
    assert caught.value.field == "q"
    with pytest.raises(PliantError, match="no free base"):
        arm = pliant.load("arm7")
        every.placed(arm, arm.neutral(), 0, 0)


def test_the_difficulty_is_a_straight_line() -> None:
    kind = Kind("pyramid", angle=(0, 0.4))
    for difficulty in (0, 0.25, 1):
        patch = kind.patch(difficulty, size=4, spacing=0.1)
        assert patch.steepest == pytest.approx(math.tan(0.4 * difficulty), abs=2e-5)
