"""Logs for other programs: tables, arrays, and recordings for Foxglove, read by another reader of MCAP."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

import pliant
from simulated_robots import LEG, LEG_Q, started


def run(batch: int | None) -> pliant.Log:
    sim = pliant.Simulation(LEG, ground=pliant.flat(), batch=batch)
    return started(sim, q=LEG_Q, v=[0.3, 0, 0, 0.1, 0.2, 0.3, 0, 0]).run(0.06, every=0.003)


@pytest.fixture(scope="module")
def one() -> pliant.Log:
    return run(None)


@pytest.fixture(scope="module")
def batch() -> pliant.Log:
    return run(2)


def rows(log: pliant.Log) -> dict[str, np.ndarray]:
    """Columns of the table that is wanted."""
    flat = log.to_dict()
    if log.batch is None:
        return flat
    t = flat.pop("t")
    lead = {"robot": np.repeat(np.arange(log.batch), len(t)), "t": np.tile(t, log.batch)}
    return lead | {name: array.reshape(-1) for name, array in flat.items()}


@pytest.mark.parametrize("name", ["one", "batch"])
def test_tables(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    log: pliant.Log = request.getfixturevalue(name)
    wanted = rows(log)
    with log.to_csv(tmp_path / "run.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    assert head == list(wanted) and "forces.toe.z" in head
    table = pyarrow.parquet.read_table(log.to_parquet(tmp_path / "run.parquet"))
    assert table.column_names == head and json.loads(table.schema.metadata[b"pliant"])["robot"] == LEG.name
    for k, (column, array) in enumerate(wanted.items()):
        assert np.array([float(line[k]) for line in lines]).tobytes() == array.astype(float).tobytes()
        found = table[column].to_numpy()
        assert found.tobytes() == array.astype(found.dtype).tobytes()


def test_single_precision_and_odd_numbers(tmp_path: Path) -> None:
    x = np.array([0.1, np.nan, -np.inf, -0.0], dtype=np.float32)
    log = pliant.Log(np.arange(4.0), {"x": x, "n": np.arange(4)})
    with log.to_csv(tmp_path / "x.csv").open() as file:
        assert file.read() == "t,x,n\n0.0,0.1,0\n1.0,nan,1\n2.0,-inf,2\n3.0,-0.0,3\n"
    table = pyarrow.parquet.read_table(log.to_parquet(tmp_path / "x.parquet"))
    assert table["x"].to_numpy().tobytes() == x.tobytes() and table["x"].type == "float"


def test_arrays(batch: pliant.Log, tmp_path: Path) -> None:
    with np.load(batch.to_npz(tmp_path / "run.npz")) as found:
        assert set(found) == {"t", "about.json", *batch.channels}
        assert all(found[name].tobytes() == batch[name].tobytes() for name in ("t", *batch.channels))
        about = json.loads(found["about.json"])
    assert about["columns"]["q"] == list(batch.columns["q"]) and about["settings"]["dt"] == 1e-3


# ---- Foxglove


def messages(path: Path) -> dict[str, list]:
    found: dict[str, list] = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for schema, channel, message in reader.iter_messages():
            if channel.message_encoding == "json":
                decoded = json.loads(message.data)
            else:
                decoded = DecoderFactory().decoder_for(channel.message_encoding, schema)(message.data)
            found.setdefault(channel.topic, []).append((schema.name, message.log_time, decoded))
    return found


def test_recording(one: pliant.Log, tmp_path: Path) -> None:
    found = messages(one.to_mcap(tmp_path / "run.mcap"))
    assert set(found) == {"/tf", "/joint_states", "/contacts", "/forces", "/channels", "/robot"}
    assert all(len(found[topic]) == len(one) for topic in set(found) - {"/robot"}) and len(found["/robot"]) == 1
    for k in (0, 7, len(one) - 1):
        assert all(found[topic][k][1] == round(one.t[k] * 1e9) for topic in set(found) - {"/robot"})
        # transforms: those of the kinematics, which are not computed by the same kernel
        name, _, tf = found["/tf"][k]
        assert name == "foxglove.FrameTransforms" and [x.child_frame_id for x in tf.transforms] == list(LEG.bodies)
        for x in tf.transforms:
            X = pliant.frame_pose(LEG, one["q"][k], x.child_frame_id)
            assert np.allclose([x.translation.x, x.translation.y, x.translation.z], X[:3, 3], atol=1e-14)
            assert np.allclose(rotation(x.rotation), X[:3, :3], atol=1e-14)
        # joints and forces: the same numbers
        name, _, states = found["/joint_states"][k]
        assert name == "foxglove.JointStates" and [j.name for j in states.joints] == list(LEG.joints)[1:]
        assert [j.position for j in states.joints] == one["q"][k, 7:].tolist()
        assert [j.velocity for j in states.joints] == one["v"][k, 6:].tolist()
        assert list(found["/forces"][k][2]["toe"].values()) == one["forces"][k].tolist()
        assert list(found["/channels"][k][2]["q"].values()) == one["q"][k].tolist()
        assert found["/channels"][k][2]["energy.kinetic"] == one["energy.kinetic"][k]
        # an arrow along the force, from its start
        name, _, scene = found["/contacts"][k]
        arrows = scene.entities[0].arrows
        size = np.linalg.norm(one["forces"][k])
        assert name == "foxglove.SceneUpdate" and len(arrows) == (size > 0)
        for arrow in arrows:
            along = rotation(arrow.pose.orientation)[:, 0]
            assert np.allclose(along * size, one["forces"][k], rtol=0, atol=1e-12 * size)
            assert arrow.shaft_length + arrow.head_length == pytest.approx(size / 200)
    assert any(len(m[2].entities[0].arrows) for m in found["/contacts"]), "it touches the ground"
    assert {e.frame_id for e in found["/robot"][0][2].entities} <= set(LEG.bodies)


def rotation(q) -> np.ndarray:
    """R = 1 + 2 w [u] + 2 [u]^2 of the quaternion (u, w)."""
    u = np.array([[0, -q.z, q.y], [q.z, 0, -q.x], [-q.y, q.x, 0]])
    return np.eye(3) + 2 * q.w * u + 2 * u @ u


def test_recording_of_many(one: pliant.Log, batch: pliant.Log, tmp_path: Path) -> None:
    found = messages(batch.to_mcap(tmp_path / "run.mcap", look=False))
    assert {topic.split("/")[1] for topic in found} == {"robot_0", "robot_1"}
    last = found["/robot_1/joint_states"][-1][2]
    assert [j.position for j in last.joints] == batch["q"][1, -1, 7:].tolist()
    assert found["/robot_1/tf"][0][2].transforms[0].child_frame_id.startswith("robot_1/")
    # times before zero are refused
    early = pliant.Log(one.t - 1, dict(one.channels), dict(one.columns), None, {}, one.source)
    with pytest.raises(pliant.PliantError, match="times before zero"):
        early.to_mcap(tmp_path / "run.mcap")
