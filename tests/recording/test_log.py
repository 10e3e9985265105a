"""The log: channels, columns, parts, events, modes and other forms."""

import dataclasses
import pickle
import sys
import types

import numpy as np
import pytest

from pliant.errors import PliantError
from pliant.recording import Event, Log
from view_logs import event_hopper


def log_of(batch: int | None = None, steps: int = 30) -> Log:
    rng = np.random.default_rng(0)
    lead = (steps,) if batch is None else (batch, steps)
    return Log(
        np.arange(steps) * 0.1,
        {"q": rng.normal(size=(*lead, 3)), "v": rng.normal(size=(*lead, 2)), "energy": rng.normal(size=lead)},
        {"q": ("hip", "knee", "ankle")},
        batch,
        {"robot": "hopper", "dt": 0.1},
    )


ONE, MANY = log_of(), log_of(4)


def test_channels_and_columns_by_item_and_attribute() -> None:
    assert ONE["q"] is ONE.q
    assert ONE.q.shape == (30, 3)
    assert MANY.q.shape == (4, 30, 3)
    assert ONE["t"] is ONE.t
    assert ONE.t.shape == (30,)
    assert MANY.energy.shape == (4, 30)
    assert list(ONE) == ["q", "v", "energy"]
    assert "q" in ONE
    assert "x" not in ONE
    assert len(ONE) == len(MANY) == 30
    assert hasattr(ONE, "energy")
    assert not hasattr(ONE, "power")
    assert "energy" in dir(ONE)
    assert ONE.metadata["dt"] == 0.1
    np.testing.assert_array_equal(ONE["q", "knee"], ONE.q[:, 1])
    np.testing.assert_array_equal(MANY.column("q", "ankle"), MANY.q[:, :, 2])
    with pytest.raises(AttributeError, match="did you mean 'energy'"):
        _ = ONE.energie


@pytest.mark.parametrize("ask, message", [
    (lambda log: log["energi"], "no channel named 'energi' in the log; did you mean 'energy'"),
    (lambda log: log["xyz123"], "valid: 't', 'q', 'v', 'energy'"),
    (lambda log: log["q", "kne"], "no column named 'kne' in channel 'q' of the log; did you mean 'knee'"),
    (lambda log: log["v", "knee"], r"channel 'v' of the log has no names for its columns; index log\['v'\]"),
    (lambda log: log[1.5], r"index of the log is 1\.5; it takes .*a column, log\['q', 'knee'\]"),
    (lambda log: log[3], r"index of the log is 3; .*a slice of steps, log\[10:20\]"),
    (lambda log: log[1.5:], "it takes a channel"),
    (lambda log: log[[99]], "the log has 30 steps; index 99 is out of bounds"),
    (lambda log: log[np.zeros(7, bool)], "the log has 30 steps; boolean index"),
    (lambda log: log.robot(4), "no robot 4 in the log; the batch has 4 robots, 0 to 3"),
    (lambda log: log.robot("a"), "the batch has 4 robots"),
    (lambda log: log.robot(0).robot(0), "this log is of one robot"),
])  # fmt: skip
def test_wrong_questions(ask, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        ask(MANY)


# ---- parts


@pytest.mark.parametrize("log", [ONE, MANY], ids=["one", "many"])
def test_slices(log: Log) -> None:
    part = log[10:20]
    assert len(part) == 10
    np.testing.assert_array_equal(part.t, log.t[10:20])
    np.testing.assert_array_equal(part["q", "hip"], log["q", "hip"][..., 10:20])
    assert part.metadata == log.metadata
    assert np.shares_memory(part.q, log.q)
    np.testing.assert_array_equal(log[::-1].energy, log.energy[..., ::-1])
    np.testing.assert_array_equal(log[log.t > 1.05].t, log.t[11:])
    np.testing.assert_array_equal(log[[0, 5]].t, log.t[[0, 5]])
    assert len(log[30:]) == 0
    # between times: 0.1 k are rounded, so 0.3 is 0.30000000000000004, and counts as 0.3
    assert log.t[3] != 0.3
    np.testing.assert_array_equal(log.between(0.3, 0.6).t, log.t[3:7])
    assert len(log.between(0.31, 0.39)) == 0
    assert len(log.between(-1, 99)) == 30
    assert len(log[:1].between(0, 0)) == 1


def test_one_robot_of_many() -> None:
    one = MANY.robot(2)
    assert one.batch is None
    np.testing.assert_array_equal(one.q, MANY.q[2])
    np.testing.assert_array_equal(MANY.robot(-1)["q", "knee"], MANY.q[3, :, 1])
    assert one[5:7].q.shape == (2, 3)


# ---- frozen


def test_nothing_can_be_changed() -> None:
    source = np.zeros((5, 2))
    log = Log(np.arange(5.0), {"x": source})
    for array in (log.x, log[1:3].t):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        log.t = np.zeros(5)
    for mapping in (log.channels, log.metadata):
        with pytest.raises(TypeError):
            mapping["y"] = source
    source[0] = 7  # the array itself is its owner's
    assert log.x[0, 0] == 7


def test_equality() -> None:
    assert log_of() == ONE
    assert log_of().identical(ONE)
    assert ONE != MANY
    assert ONE[1:] != ONE[:-1]
    assert ONE != "log"
    assert Log(ONE.t, dict(ONE.channels), {}) != ONE, "the names of the columns count"
    x = np.array([0.0, np.nan])
    assert Log(x[:1], {"x": x[1:]}) == Log(x[:1], {"x": x[1:].copy()}), "NaN equals NaN"
    assert Log(x[:1], {"x": x[:1]}) != Log(x[:1], {"x": -x[:1]}), "-0 is not 0, bit for bit"
    with pytest.raises(TypeError, match="unhashable"):
        hash(ONE)


@pytest.mark.parametrize("log", [ONE, MANY, MANY[3:9]], ids=["one", "many", "part"])
def test_pickles(log: Log) -> None:
    again = pickle.loads(pickle.dumps(log))
    assert again == log
    assert dict(again.metadata) == dict(log.metadata)
    with pytest.raises(ValueError, match="read-only"):
        again.q[0] = 1


def test_repr() -> None:
    assert repr(MANY).splitlines() == [
        "Log of 4 robots: 30 steps, t = 0 to 2.9 s",
        "  q       (4, 30, 3)  hip, knee, ankle",
        "  v       (4, 30, 2)",
        "  energy  (4, 30)",
    ]
    assert repr(ONE[:0]).startswith("Log: 0 steps\n")


@pytest.mark.parametrize("arguments, message", [
    ((np.zeros((2, 2)), {}), r"t has shape \(2, 2\)"),
    ((np.zeros(3), {"x": np.zeros(4)}), r"channel 'x' has shape \(4,\); it takes \(steps, ...\) from \(3,\) on"),
    ((np.zeros(3), {"x": np.zeros((2, 3))}, {}, 4), r"takes \(batch, steps, ...\) from \(4, 3\) on"),
    ((np.zeros(3), {"t": np.zeros(3)}), "cannot be named 't'"),
    ((np.zeros(3), {"x": np.zeros((3, 2))}, {"x": ("a",)}), r"entries of shape \(2,\), but its columns are \['a'\]"),
    ((np.zeros(3), {"x": np.zeros((3, 2))}, {"x": ("a", "a")}), "as many different names"),
    ((np.zeros(3), {"x": np.zeros(3)}, {"y": ()}), "no channel named 'y'"),
])  # fmt: skip
def test_wrong_logs(arguments: tuple, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        Log(*arguments)
    with pytest.raises(PliantError, match="mode") as wrong:
        Log(np.arange(2.0), {"mode": np.array([0, 1])}, modes=("flight",))
    assert wrong.value.field == "modes"


# ---- other forms


def test_flat_dictionary() -> None:
    flat = ONE.to_dict()
    assert list(flat) == ["t", "q.hip", "q.knee", "q.ankle", "v.0", "v.1", "energy"]
    np.testing.assert_array_equal(flat["q.knee"], ONE["q", "knee"])
    np.testing.assert_array_equal(flat["v.1"], ONE.v[:, 1])
    assert MANY.to_dict()["q.knee"].shape == (4, 30)
    pose = Log(np.zeros(2), {"pose": np.arange(8.0).reshape(2, 2, 2)}).to_dict()
    assert list(pose) == ["t", "pose.0.0", "pose.0.1", "pose.1.0", "pose.1.1"]
    assert pose["pose.1.0"].tolist() == [2, 6]


def test_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """What pandas is handed, seen by a stand-in for it; without it, an error says what to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PliantError, match="pip install pandas"):
        ONE.to_frame()
    stand_in = types.ModuleType("pandas")
    stand_in.DataFrame = lambda data, index: (data, index)
    stand_in.Index = lambda values, name: (name, values)
    stand_in.MultiIndex = types.SimpleNamespace(from_product=lambda parts, names: (names, [list(p) for p in parts]))
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    data, (name, t) = ONE.to_frame()
    assert (name, t is ONE.t, list(data)) == ("t", True, list(ONE.to_dict())[1:])
    data, (names, parts) = MANY.to_frame()
    assert names == ["robot", "t"]
    assert parts == [[0, 1, 2, 3], ONE.t.tolist()]
    # rows of robot 0 first, as from_product counts
    np.testing.assert_array_equal(data["q.knee"][30:60], MANY.q[1, :, 1])


# ---- events, modes and dense output: every way to copy, cut or join a log leaves it whole

TIMES = np.linspace(0, 0.4, 57)


@pytest.fixture(scope="module")
def parts() -> list[Log]:
    """A hopper that falls, touches down and lifts off, as one log of two runs."""
    sim = event_hopper()
    return [sim.run(0.2), sim.run(0.2)]


@pytest.fixture(scope="module")
def log(parts: list[Log]) -> Log:
    return Log.joined(parts)


def is_whole(copy: Log, log: Log) -> bool:
    same_motion = all((a == b).all() for a, b in zip(copy.at(TIMES), log.at(TIMES), strict=True))
    return same_motion and copy.modes == log.modes and copy.dense.t[-1] == log.dense.t[-1] and copy.source is not None


def test_replaced_then_cut(log: Log) -> None:
    assert type(log) is Log and log.events and log.modes and log.dense
    cut = dataclasses.replace(log, is_complete=False)[0:2]
    assert len(cut) == 2 and not cut.is_complete and is_whole(cut, log)
    assert dataclasses.replace(cut, is_complete=True) == log[0:2]


def test_cut_has_the_events_among_its_entries(log: Log) -> None:
    first = log.events[0]
    before = log[log.t < first.t]
    assert not before.events and is_whole(before, log)
    assert log[log.t >= first.t].events == log.events
    middle = log.between(first.t, first.t)
    assert middle.events == tuple(e for e in log.events if e.t == first.t) and is_whole(middle, log)


def test_pickles_with_events(log: Log) -> None:
    again = pickle.loads(pickle.dumps(log))
    assert again == log and again.events == log.events and is_whole(again, log)
    cut = pickle.loads(pickle.dumps(log[1:3]))
    assert cut == log[1:3] and is_whole(cut, log)


def test_equality_counts_events_and_modes(log: Log) -> None:
    assert dataclasses.replace(log, modes=tuple(f"{m}!" for m in log.modes)) != log
    assert dataclasses.replace(log, events=log.events[1:]) != log
    event = log.events[0]
    assert event == pickle.loads(pickle.dumps(event)) and hash(event) == hash(pickle.loads(pickle.dumps(event)))
    assert event != dataclasses.replace(event, impulse={}) and event != "touch-down"


# ---- parts that follow one another


def test_joined_parts_are_one_run(parts: list[Log], log: Log) -> None:
    whole = Log.joined([event_hopper().run(0.4)])
    assert log.t[-1] == pytest.approx(0.4) and (np.diff(log.t) >= 0).all()
    assert [e.kind for e in log.events] == [e.kind for e in whole.events]
    assert len(log.dense) == sum(len(part.dense) for part in parts)
    np.testing.assert_allclose(log.at(TIMES)[0], whole.at(TIMES)[0], atol=1e-6)


def test_modes_are_renumbered(parts: list[Log], log: Log) -> None:
    first, second = parts
    channels = {**second.channels, "mode": len(second.modes) - 1 - second["mode"]}
    swapped = dataclasses.replace(second, modes=second.modes[::-1], channels=channels)
    assert Log.joined([first, swapped]) == log


def test_what_was_cut_is_joined_again(log: Log) -> None:
    again = Log.joined([log[:7], log[7:20], log[20:20], log[20:]])
    assert again == log and len(again.dense) == len(log.dense) and is_whole(again, log)
    k = int(np.flatnonzero(np.diff(log.t) == 0)[0]) + 1
    assert Log.joined([log[: k + 1], log[k:]]).events == log.events, "an event at the seam counts once"


def test_batches_are_joined_along_time() -> None:
    q = np.arange(24.0).reshape(2, 6, 2)
    log = Log(np.arange(6.0), {"q": q}, batch=2)
    assert Log.joined([log[:3], log[2:]]) == log, "the entry that both have counts once"
    cut_off = dataclasses.replace(log[2:], is_complete=False)
    assert not Log.joined([log[:3], cut_off]).is_complete


def test_what_cannot_be_joined() -> None:
    log = Log(np.arange(3.0), {"q": np.zeros((3, 1))})
    with pytest.raises(PliantError, match="no parts"):
        Log.joined([])
    with pytest.raises(PliantError, match="channels") as wrong:
        Log.joined([log, Log(np.arange(2.0, 5), {"v": np.zeros((3, 1))})])
    assert wrong.value.field == "channels"
    with pytest.raises(PliantError, match="batch"):
        Log.joined([log, Log(np.arange(2.0, 5), {"q": np.zeros((2, 3, 1))}, batch=2)])


# ---- questions


def test_questions_about_events(log: Log) -> None:
    assert log.events_of("touch-down") == [e for e in log.events if e.kind == "touch-down"]
    assert log.events_of("slip") == []
    assert log.in_mode("flight").sum() == (log["mode"] == log.modes.index("flight")).sum() > 0
    for ask, wrong, message in (
        (log.events_of, "touchdown", "did you mean 'touch-down'"), (log.in_mode, "fligth", "no mode named 'fligth'"),
        (log.at, 0.5, r"from t = 0 s to 0\.4 s"),
    ):  # fmt: skip
        with pytest.raises(PliantError, match=message):
            ask(wrong)


def test_a_log_without_events_says_so() -> None:
    assert ONE.events == ONE.modes == () and ONE.dense is None
    for ask in (lambda: ONE.at(0.5), lambda: ONE.events_of("slip"), lambda: ONE.in_mode("flight")):
        with pytest.raises(PliantError, match="EventSimulation"):
            ask()


def test_an_event_in_words() -> None:
    event = Event(0.5, "touch-down", ("foot",), energy_lost=1.25, before="flight", after="foot sticks")
    assert str(event) == "0.500000000 s: touch-down of foot, 1.25 J lost; flight -> foot sticks"
