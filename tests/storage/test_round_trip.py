"""A log that is saved and loaded is the same one, with the robot that it is of."""

import pickle
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import h5py
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings

import pliant
import random_robots
import real_robots
from pliant.errors import PliantError
from pliant.recording.source import Source
from pliant.spatial import Vector
from pliant.storage import source_codec
from pliant.storage.forms import LEFT_OUT, checked, form_of, made, robot_form
from pliant.storage.source_codec import StoredMesh, robot_from_plain, robot_to_plain
from simulated_robots import LEG, LEG_Q, leg_started, started
from view_logs import event_hopper


@pytest.fixture(scope="module")
def batch() -> pliant.Log:
    sim = leg_started(ground=pliant.waves(0.02, 1, friction=0.5), batch=3, varying=["bodies.*.mass"])
    return sim.run(0.05, settings={"seed": 4})


@pytest.fixture(scope="module")
def one() -> pliant.Log:
    return leg_started(precision="float32").run(0.03, every=0.007)


@pytest.fixture(scope="module")
def event_driven() -> pliant.Log:
    return event_hopper().run(0.2)


def same_source(a: Source | None, b: Source | None) -> None:
    assert a is not None and b is not None
    assert a.robot.digest == b.robot.digest
    assert a.contacts == b.contacts and a.created == b.created
    assert dict(a.settings) == dict(b.settings) and dict(a.versions) == dict(b.versions)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", ["batch", "one"])
def test_same_bits(name: str, packed: bool, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    log: pliant.Log = request.getfixturevalue(name)
    path = log.save(tmp_path / "run.h5", packed=packed)
    found = pliant.load_log(path)
    # `==` compares types and bits of all arrays, and the names of columns
    assert found == log and found.is_complete and dict(found.metadata) == dict(log.metadata)
    same_source(found.source, log.source)
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"], "nothing is left beside it"


def test_ground_and_settings_come_back(batch: pliant.Log, tmp_path: Path) -> None:
    path = batch.save(tmp_path / "run.h5")
    found = pliant.load_log(path).source
    assert found is not None and batch.source is not None and found.settings["seed"] == 4
    x, y = np.random.default_rng(0).uniform(-5, 5, (2, 100))
    assert (found.ground.height(x, y) == batch.source.ground.height(x, y)).all()
    assert found.ground.name == "waves" and found.ground.friction == 0.5
    sim = started(pliant.Simulation(found.robot, ground=found.ground, batch=3, varying=["bodies.*.mass"]), q=LEG_Q)
    assert sim.run(0.05, channels=["q"])["q"].tobytes() == batch["q"].tobytes(), "it can be run again, bit for bit"
    # other programs find their way
    with h5py.File(path) as file:
        assert file["channels/q"][()].tobytes() == batch["q"].tobytes() and (file["t"][()] == batch.t).all()
        heights = file["source/heights"]
        x, y = (heights.attrs["origin"][k] + 3 * heights.attrs["spacing"][k] for k in range(2))
        assert heights[3, 3] == pytest.approx(batch.source.ground.height(x, y), abs=1e-15)


def test_parts(batch: pliant.Log, tmp_path: Path) -> None:
    path = batch.save(tmp_path / "run.h5")
    found = pliant.load_log(path, channels=["v", "q"], start=0.01, end=0.02, robots=1)
    assert list(found.channels) == ["q", "v"] and found.batch is None
    part = batch.between(0.01, 0.02).robot(1)
    assert (found.t == part.t).all() and (found["q"] == part["q"]).all() and (found["v"] == part["v"]).all()
    several = pliant.load_log(path, robots=[2, 0], stride=4)
    assert several.batch == 2 and (several["q"] == batch["q"][[2, 0], ::4]).all()
    assert pliant.load_log(path, "q", robots=slice(0, 2)).batch == 2
    with pytest.raises(pliant.PliantError, match="no entries with start=7"):
        pliant.load_log(path, start=7)


def test_events_modes_and_motion_in_between(event_driven: pliant.Log, tmp_path: Path) -> None:
    found = pliant.load_log(event_driven.save(tmp_path / "run.h5"))
    times = np.linspace(0, 0.2, 31)
    for log in (found, pickle.loads(pickle.dumps(event_driven))):
        assert log.is_event_driven and log == event_driven and log.modes == event_driven.modes
        assert len(log.events) == len(event_driven.events) > 0 and log.dense.t[-1] == event_driven.dense.t[-1]
        for a, b in zip(log.events, event_driven.events, strict=True):
            assert (a.t, a.kind, a.names, a.energy_lost) == (b.t, b.kind, b.names, b.energy_lost)
            assert (a.before, a.after) == (b.before, b.after) and list(a.impulse) == list(b.impulse)
            assert all(np.array_equal(a.impulse[name], b.impulse[name]) for name in a.impulse)
        for a, b in zip(log.at(times), event_driven.at(times), strict=True):
            assert a.tobytes() == b.tobytes()
    same_source(found.source, event_driven.source)
    part = pliant.load_log(tmp_path / "run.h5", start=0.1)
    assert part.is_event_driven and part == event_driven.between(0.1, 1)
    assert event_driven[2:4].is_event_driven and event_driven[2:4].source is event_driven.source


def test_log_made_by_hand(tmp_path: Path) -> None:
    channels = {
        "odd/name.%": np.arange(4, dtype=np.int16), ".": np.array([True, False, True, True]),
        "big": np.arange(4, dtype=">f4"), "nan": np.array([np.nan, -0.0, np.inf, 1]), "none": np.zeros((4, 0)),
        "pose": np.arange(16.0).reshape(4, 2, 2), "complex": np.array([1j, 2, 3, 4]),
    }  # fmt: skip
    about = {"note": "ä", "limit": np.inf, "n": 3, "list": [1, 2.5, None], "empty": {}}
    log = pliant.Log(np.arange(4.0), channels, {}, None, about)
    found = pliant.load_log(log.save(tmp_path / "hand.h5"))
    assert found == log and found.source is None and dict(found.metadata) == about
    with pytest.raises(pliant.PliantError, match=r"to_mcap\(\) needs the robot .*Source\(robot\)"):
        found.to_mcap(tmp_path / "x.mcap")
    empty = pliant.Log(np.zeros(0), {"x": np.zeros((0, 3))})
    assert pliant.load_log(empty.save(tmp_path / "empty.h5")) == empty


def test_source_is_kept(batch: pliant.Log) -> None:
    for part in (batch[2:4], batch.robot(1), batch.between(0, 0.01), batch[::2]):
        assert part.source is batch.source
    again = pickle.loads(pickle.dumps(batch))
    assert again == batch and again.is_complete
    same_source(again.source, batch.source)
    assert again.source.ground.height(0.3, 0.4) == batch.source.ground.height(0.3, 0.4)


@pytest.mark.parametrize("ground", [pliant.height_map(np.eye(4), spacing=(0.5, 0.25)), pliant.stairs(-0.1, 0.3)])
def test_faces_of_the_ground_come_back(ground: pliant.Ground, batch: pliant.Log, tmp_path: Path) -> None:
    log = pliant.Log(batch.t, {}, {}, 3, {}, Source(LEG, ground))
    found = pliant.load_log(log.save(tmp_path / "faces.h5")).source.ground
    for p in np.random.default_rng(2).uniform(-1, 1, (20, 3)).tolist():
        assert repr(found.touches(Vector(*p), 0.05)) == repr(ground.touches(Vector(*p), 0.05))


@pytest.mark.parametrize("ground", [pliant.height_map([[0, 1], [2, 4]], spacing=(0.5, 0.25)), pliant.flat(0.3)])
def test_a_ground_without_a_formula_is_known_by_its_heights(
    ground: pliant.Ground, batch: pliant.Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = replace(ground, name="field", friction=0.6)
    log = pliant.Log(batch.t, {}, {}, 3, {}, Source(LEG, ground))
    monkeypatch.setattr(source_codec, "MAX_NODES", 0)
    found = pliant.load_log(log.save(tmp_path / "ground.h5")).source.ground
    assert (found.name, found.friction, found.restitution, found.is_flat) == ("field", 0.6, None, ground.is_flat)
    x, y = np.random.default_rng(2).uniform(-3, 3, (2, 100))
    assert np.allclose(found.height(x, y), ground.height(x, y), rtol=0, atol=0.1)
    # the grid reaches two metres from the origin, with 128 cells
    nodes = np.linspace(-2, 2, 129)[[0, 60, 70, 128]]
    assert np.allclose(found.height(nodes, nodes[::-1]), ground.height(nodes, nodes[::-1]), rtol=0, atol=1e-13)


# ---- robots


def again(robot: pliant.Robot) -> pliant.Robot:
    plain, meshes = robot_to_plain(robot)
    found = robot_from_plain(plain, lambda k: StoredMesh(meshes[k]))
    assert found.digest == robot.digest and found.coordinate_names == robot.coordinate_names
    assert robot_to_plain(found)[0] == plain, "all else comes back, too"
    return found


@pytest.mark.parametrize("name", [name for name, robot in pliant.robots().items() if robot.origin == "pliant"])
def test_shipped_robots(name: str) -> None:
    robot = pliant.load(name)
    assert repr(again(robot)) == repr(robot)


@given(random_robots.robots(random_robots.ALL))
@settings(max_examples=20, deadline=None)
def test_random_robots(robot: pliant.Robot) -> None:
    again(robot)


def test_functions_are_kept_as_formulas() -> None:
    robot = pliant.load("arm7")
    first, second = (m.joint for m in list(robot.motors.values())[:2])
    robot = robot.with_motor(first, rotor_inertia=1e-4, gear=10).with_flexibility(
        first, stiffness=1e4, damping=10, law=lambda x: pliant.math.select(x > 0.1, 3 * x * x, 0)
    )
    found = again(robot)
    laws = [j.law for j in found.joints.values() if any(j.law)]
    assert [law[0](0.2) for law in laws] == [3 * 0.2 * 0.2]
    driven = robot.with_motor(second, law=lambda u, q, v, t: u - 0.5 * v + pliant.math.sin(t))
    plain, meshes = robot_to_plain(driven)
    law = robot_from_plain(plain, lambda k: StoredMesh(meshes[k])).motors[driven.motors[1].name].law
    assert law(1, 2, 3, 0.5) == 1 - 0.5 * 3 + np.sin(0.5)


def test_function_that_cannot_be_kept() -> None:
    robot = pliant.load("pendulum")
    joint = robot.motors[0].joint

    def measured(u, q, v, t):
        return float(u)

    plain, _ = robot_to_plain(robot.with_motor(joint, law=measured))
    found = robot_from_plain(plain, lambda k: StoredMesh(()))
    assert any("measured" in f.message and f.kind == "dropped" for f in found.report)
    with pytest.raises(pliant.PliantError, match=r"its law 'measured' is a Python function, which no log can hold"):
        pliant.Simulation(found).run(0.01)


def test_meshes_travel_with_the_log(tmp_path: Path) -> None:
    name = next(name for name in real_robots.ROBOTS if "solo" in name)
    robot = pliant.load(real_robots.PATHS[name], base="free")
    log = pliant.Log(np.zeros(1), {"q": robot.neutral()[None]}, {}, None, {}, Source(robot))
    found = pliant.load_log(log.save(tmp_path / "run.h5")).source.robot
    assert found.digest == robot.digest and not any("not in the log" in f.message for f in found.report)
    pairs = [(a, b) for x, y in zip(robot.bodies.values(), found.bodies.values(), strict=True)
             for a, b in zip(x.visuals, y.visuals, strict=True) if a.kind == "mesh"]  # fmt: skip
    assert pairs
    for a, b in pairs[:3]:
        for s, t in zip(a.mesh.surfaces(), b.mesh.surfaces(), strict=True):
            # the same triangles, corner by corner
            assert (s.points[s.faces] == t.points[t.faces]).all() and s.color == t.color


# ---- forms follow from the dataclasses: each field is stored, and errors name the place


@dataclass(frozen=True)
class Sensor:
    """As one that is added to the robot some day."""

    name: str
    kind: Literal["gyroscope", "encoder"]
    noise: Any
    axis: Vector
    gains: tuple[Any, ...] = ()
    body: str | None = None


PLAIN = {"name": "imu", "kind": "gyroscope", "noise": 0, "axis": [0, 0.5, 1], "gains": [1, 2.5], "body": None}


def test_a_new_dataclass_has_a_form() -> None:
    found = made(checked(PLAIN, form_of(Sensor), "the sensor"))
    assert isinstance(found, Sensor) and isinstance(found.axis, Vector) and list(found.axis) == [0, 0.5, 1]
    assert (found.name, found.noise, found.gains) == ("imu", 0, (1, 2.5)) and type(found.noise) is int


@pytest.mark.parametrize(("change", "place"), [
    ({"name": 7}, r"`str`, got `int` - at `\$\.name`"),
    ({"kind": "camera"}, r"'camera' - at `\$\.kind`"),
    ({"noise": True}, r"got `bool` - at `\$\.noise`"),
    ({"noise": [1]}, r"got `array` - at `\$\.noise`"),
    ({"axis": [0, 1]}, r"\$\.axis"),
    ({"axis": [0, 1, 2, 3]}, r"\$\.axis"),
    ({"gains": [1, "2"]}, r"`str` - at `\$\.gains\[1\]`"),
    ({"code": "import os"}, "unknown field `code`"),
])  # fmt: skip
def test_what_does_not_fit_is_named(change: dict[str, Any], place: str) -> None:
    with pytest.raises(PliantError, match=f"the sensor in the log is damaged: .*{place}") as error:
        checked(PLAIN | change, form_of(Sensor), "the sensor")
    assert error.value.subject == "the sensor"


def test_all_of_a_robot_is_stored() -> None:
    stored = {f.name for f in msgspec.structs.fields(robot_form())}
    assert stored == {f.name for f in fields(pliant.Robot)} - LEFT_OUT | {"digest"}
