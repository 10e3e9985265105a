"""Logs with events, modes and dense output: every way to copy, cut or join one leaves it whole."""

import dataclasses
import pickle

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError
from pliant.recording import Event, Log

TIMES = np.linspace(0, 0.4, 57)


def hops() -> tuple[pliant.EventSimulation, Log]:
    """A hopper that falls, touches down and lifts off, as one log of two runs."""
    sim = pliant.EventSimulation(pliant.load("hopper"), ground=pliant.flat())
    q = sim.robot.neutral()
    q[2] += 0.02
    sim.reset(q=q, lift=True)
    return sim, sim.run(0.2)


@pytest.fixture(scope="module")
def parts() -> list[Log]:
    sim, first = hops()
    return [first, sim.run(0.2)]


@pytest.fixture(scope="module")
def log(parts: list[Log]) -> Log:
    return Log.joined(parts)


def is_whole(copy: Log, log: Log) -> bool:
    same_motion = all((a == b).all() for a, b in zip(copy.at(TIMES), log.at(TIMES), strict=True))
    return same_motion and copy.modes == log.modes and copy.dense.t[-1] == log.dense.t[-1] and copy.source is not None


def test_there_is_one_class(log: Log) -> None:
    assert type(log) is Log and log.events and log.modes and log.dense


def test_replaced_then_cut(log: Log) -> None:
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


def test_pickles(log: Log) -> None:
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
    sim, _ = hops()
    whole = Log.joined([sim.reset(q=parts[0].q[0], lift=True) or sim.run(0.4)])
    assert log.t[-1] == pytest.approx(0.4) and (np.diff(log.t) >= 0).all()
    assert [e.kind for e in log.events] == [e.kind for e in whole.events]
    assert len(log.dense) == sum(len(part.dense) for part in parts)
    np.testing.assert_allclose(log.at(TIMES)[0], whole.at(TIMES)[0], atol=1e-6)


def test_modes_are_renumbered(parts: list[Log], log: Log) -> None:
    second = parts[1]
    swapped = dataclasses.replace(
        second, modes=second.modes[::-1], channels={**second.channels, "mode": len(second.modes) - 1 - second["mode"]}
    )
    again = Log.joined([parts[0], swapped])
    assert again == log


def test_what_was_cut_is_joined_again(log: Log) -> None:
    pieces = [log[:7], log[7:20], log[20:20], log[20:]]
    again = Log.joined(pieces)
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
    with pytest.raises(PliantError, match="did you mean 'touch-down'"):
        log.events_of("touchdown")
    assert log.in_mode("flight").sum() == (log["mode"] == log.modes.index("flight")).sum() > 0
    with pytest.raises(PliantError, match="no mode named 'fligth'"):
        log.in_mode("fligth")
    with pytest.raises(PliantError, match=r"from t = 0 s to 0\.4 s"):
        log.at(0.5)


def test_a_log_without_events_says_so() -> None:
    plain = Log(np.arange(3.0), {"q": np.zeros((3, 1))})
    assert plain.events == plain.modes == () and plain.dense is None
    for ask in (lambda: plain.at(0.5), lambda: plain.events_of("slip"), lambda: plain.in_mode("flight")):
        with pytest.raises(PliantError, match="EventSimulation"):
            ask()


def test_the_modes_have_names() -> None:
    with pytest.raises(PliantError, match="mode") as wrong:
        Log(np.arange(2.0), {"mode": np.array([0, 1])}, modes=("flight",))
    assert wrong.value.field == "modes"


def test_an_event_in_words() -> None:
    event = Event(0.5, "touch-down", ("foot",), energy_lost=1.25, before="flight", after="foot sticks")
    assert str(event) == "0.500000000 s: touch-down of foot, 1.25 J lost; flight -> foot sticks"
