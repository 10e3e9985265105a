"""`bench.fuzz`: a short run of each target, and the harness itself finds what it should."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from bench import fuzz, fuzz_targets, fuzz_workers, mutations
from bench.fuzz_workers import OUTCOMES, Outcome, WrongError, attempt
from bench.nonsense_calls import NonsenseCalls, functions
from pliant.errors import PliantError

FAST = {
    "urdf": 12, "sdf": 25, "mjcf": 25, "side": 8, "mesh": 60, "dh": 15, "log": 25, "settings": 60, "terrain": 8,
    "policy": 12, "checkpoint": 12, "sweep": 20, "api": 60,
}  # fmt: skip
"""Inputs of each target, in this process: together some seconds."""


def test_every_target_is_tried_here() -> None:
    assert set(FAST) == set(fuzz_targets.TARGETS)


@pytest.mark.parametrize("name", FAST)
def test_nothing_but_taken_or_refused(name: str) -> None:
    target = fuzz_targets.TARGETS[name]()
    found = [attempt(target, 7, number) for number in range(FAST[name])]
    assert [o for o in found if o.outcome not in ("clean", "refused")] == []
    assert {"clean", "refused"} >= {o.outcome for o in found}


@pytest.mark.parametrize("name", FAST)
def test_an_input_is_known_by_its_number(name: str) -> None:
    first, second = (fuzz_targets.TARGETS[name]() for _ in range(2))
    assert [first.made(3, k) for k in range(4)] == [second.made(3, k) for k in range(4)]
    assert len({str(first.made(3, k)) for k in range(12)}) > 6


def test_calls_cover_the_public_functions() -> None:
    labels = set(functions())
    assert {"pliant.load", "pliant.Simulation", "Simulation.run", "Robot.with_motor", "terrain.grid"} <= labels
    assert len(labels) > 250
    # the number and the names of arguments are the one thing of which Python tells
    calls = NonsenseCalls()
    assert attempt(_Given(calls, ("pliant.flat", (("nothing_of_this_name", "zero"),))), 0, 0).outcome == "clean"


FOUND = (
    ("formats.load_sdf", {"path": "right", "packages": "raiser"}),
    ("pliant.ExternalForce", {"body": "right", "force": "True"}),
    ("terrain.stepping_stones", {"stone": "right", "gap": "right", "platform": "symbol"}),
    ("Log.replay", {"play": "array"}),
    ("render.ground_mesh", {"ground": "zero", "span": "right"}),
    ("formats.PinocchioLayout", {"robot": "array of complex", "model": "class"}),
    ("pliant.sweep", {"trial": "None", "space": "set", "out": "class", "method": "2**63", "redo": "class"}),
    ("control.hold", {"robot": "right", "q": "right", "gains": "set"}),
    ("learn.History", {"rows": "array of 3 axes"}),
    ("terrain.flat", {"spacing": "a fraction"}),
    ("terrain.waves", {"amplitude": "right", "length": "right", "spacing": "a fraction"}),
    ("render.body_poses", {"robot": "right", "q": "dict of numbers"}),
    ("render.points_of_contacts", {"robot": "right", "q": "empty text"}),
    ("render.points_of_contacts", {"robot": "right", "q": "right", "poses": "number of NumPy"}),
    ("Terrain.patch_at", {"x": "array", "y": "list"}),
    ("terrain.rough", {"rms": "right", "spacing": "a fraction"}),
    ("analysis.bode", {"robot": "right", "q": "empty text"}),
    ("Simulation.forces_of", {"data": "True"}),
    ("Simulation.forces_of", {"data": "list"}),
    ("Log.plot_energy", {"start": "right", "size": "empty array"}),
    ("analysis.bode", {"robot": "right", "u": "function"}),
    ("analysis.bode", {"robot": "right", "frequencies": "text"}),
    ("formats.PinocchioLayout", {"robot": "right", "model": "dict of numbers"}),
    ("render.points_of_contacts", {"robot": "right", "q": "right", "poses": "empty array"}),
    (
        "contact.sliding_friction",
        {
            "normal": "function",
            "slip": "array of 3 axes",
            "friction": "dict of numbers",
            "slip_speed": "dict of dicts",
        },
    ),
)
"""Calls that raised something raw, until `bench.fuzz` found them."""


@pytest.mark.parametrize(("label", "given"), FOUND, ids=[f"{k}-{label}" for k, (label, _) in enumerate(FOUND)])
def test_calls_that_were_found(label: str, given: dict[str, str]) -> None:
    found = attempt(_Given(NonsenseCalls(), (label, tuple(given.items()))), 0, 0)
    assert found.outcome in ("clean", "refused"), found


class _Given:
    """A target of one input."""

    def __init__(self, target, given) -> None:
        self.target, self.given = target, given

    def made(self, seed: int, number: int):
        from bench.nonsense_calls import Call

        return Call(*self.given)

    def run(self, given, folder: Path) -> None:
        self.target.run(given, folder)

    def shown(self, given) -> str:
        return self.target.shown(given)


# ---- the harness sees each outcome


class Faulty:
    """A target whose inputs end in each of the ways, by their number."""

    def made(self, seed: int, number: int) -> int:
        return number

    def run(self, given: int, folder: Path) -> None:
        if given == 1:
            raise PliantError("refused")
        if given == 2:
            raise KeyError("raw")
        if given == 3:
            time.sleep(60)
        if given == 4:
            import os

            os._exit(3)
        if given == 5:
            raise WrongError("cannot be")

    def shown(self, given: int) -> bytes:
        return b"%d" % given


def test_each_outcome_is_told_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fuzz_targets.TARGETS, "faulty", Faulty)
    found = fuzz.fuzzed("faulty", 0, range(7), seconds=0.5)
    assert dict(found.counts) == {"clean": 2, "refused": 1, "other": 1, "hang": 1, "crash": 1, "wrong": 1}
    assert set(found.counts) == set(OUTCOMES) and not found.is_clean
    assert {key[0] for key in found.mistakes} == set(fuzz.MISTAKES)
    hung, crashed = (next(o for key, o in found.mistakes.items() if key[0] == what) for what in ("hang", "crash"))
    assert (hung.number, crashed.number) == (3, 4) and "code 3" in crashed.problem
    assert [o.outcome for o in fuzz_workers.tried(Faulty(), 0, range(6, 9))] == ["clean"] * 3


def test_no_input_is_begun_after_the_time_and_a_killed_one_is_no_mistake() -> None:
    begin = time.monotonic()
    found = list(fuzz_workers.tried(Faulty(), 0, range(2, 9), until=begin + 1.5))
    assert [(o.number, o.outcome) for o in found] == [(2, "other")]
    assert list(fuzz_workers.tried(Faulty(), 0, range(9), until=begin)) == []


class Bytes:
    """A target that fails on one byte."""

    def run(self, given: tuple[str, bytes], folder: Path) -> None:
        if b"\xff" in given[1]:
            raise KeyError("raw")


def test_an_input_is_made_smaller() -> None:
    data = bytes(range(250)) + b"\xff" + bytes(range(250))
    place = fuzz_workers.outcome_of(Bytes(), ("x", data), Path())
    assert fuzz.smaller(Bytes(), data, "x", place) == b"\xff"  # type: ignore[arg-type]


def test_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [Outcome(0, "clean"), Outcome(1, "other", "KeyError: x", "xml.py:3", "trace", 0.5)]
    monkeypatch.setattr(fuzz, "tried", lambda *_, **__: iter(outcomes))
    assert fuzz.main(["--target", "mesh", "--count", "2", "--keep", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "mesh 1: other: KeyError: x xml.py:3" in out
    assert out.splitlines()[-1].split()[:7] == ["mesh", "1", "0", "1", "0", "0", "0"]
    assert any(path.name.startswith("mesh-0-1") for path in tmp_path.iterdir())
    monkeypatch.setattr(fuzz, "tried", lambda *_, **__: iter(outcomes[:1]))
    assert fuzz.main(["--target", "mesh", "--count", "1", "--keep", str(tmp_path)]) == 0


def test_mutations_give_other_content() -> None:
    archive = fuzz_targets.TARGETS["policy"]()._samples[0][1]  # type: ignore[attr-defined]
    content = {
        mutations.mutated_bytes: b"0123456789" * 9,
        mutations.mutated_lines: b"a = 1\nb = 2.5\n[c]\nd = 'x'\n",
        mutations.mutated_xml: b"<robot name='a'><link name='b'/><link name='c'/></robot>",
        mutations.mutated_archive: archive,
    }
    for mutated, data in content.items():
        found = [mutated(np.random.default_rng(k), data) for k in range(20)]
        assert sum(x != data for x in found) > 10
        assert found == [mutated(np.random.default_rng(k), data) for k in range(20)]


def test_an_outcome_is_plain_data() -> None:
    outcome = attempt(Faulty(), 0, 2)
    assert Outcome(**json.loads(json.dumps(outcome.__dict__))) == outcome and outcome.outcome == "other"
