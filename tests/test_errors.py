"""Errors carry fields, and one module composes their sentences; the vocabulary of checks."""

import math
import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import sympy

import pliant
from pliant import checks
from pliant.errors import (
    Call, ContactError, Fault, Place, PliantError, RobotError, SimulationError, bad_value, needs, unknown_name,
)  # fmt: skip

# ---- a test of each kind of sentence


def test_a_value_that_a_field_cannot_have() -> None:
    error = RobotError(bad_value("kp", -1, "0 or more", "motor 'knee'"))
    assert str(error) == "kp of motor 'knee' is -1; it takes 0 or more"
    assert (error.subject, error.field, error.cure, error.place) == ("motor 'knee'", "kp", "it takes 0 or more", None)


@pytest.mark.parametrize(("name", "valid", "cure"), [
    ("kne", ["knee", "hip"], "did you mean 'knee'?"),
    ("x", ["knee", "hip"], "valid: 'knee', 'hip'"),
    ("x", [], "there are none"),
    ("x", [f"joint{k:02d}" for k in range(32)], ", and 2 more"),
])  # fmt: skip
def test_an_unknown_name(name: str, valid: list[str], cure: str) -> None:
    error = PliantError(unknown_name("frame", name, valid, "robot 'leg'"))
    assert str(error).startswith(f"no frame named {name!r} in robot 'leg'; ")
    assert error.cure.endswith(cure) and (error.subject, error.field) == (f"frame {name!r}", "frame")


def test_place_comes_first_and_stays() -> None:
    error = RobotError("joint 'a' has no parent", subject="joint 'a'", cure="name one").at("leg.urdf", 7)
    assert str(error) == "leg.urdf:7: joint 'a' has no parent; name one"
    assert error.place == Place("leg.urdf", 7) and type(error) is RobotError
    assert error.at("other.urdf", 1).place == error.place
    assert str(RobotError("it is empty").at("leg.urdf")) == "leg.urdf: it is empty"


def test_within_and_with_cure() -> None:
    error = PliantError(bad_value("dt", 0, "a time above zero"))
    assert str(error.within("--dt")) == "--dt: dt is 0; it takes a time above zero"
    changed = error.with_cure("try 1e-3")
    assert str(changed) == "dt is 0; try 1e-3" and changed.field == "dt"
    # a cure that is a call
    call = Call("with_motor", "knee", {"rotor_inertia": "...", "gear": 9})
    error = RobotError(Fault("it has no inertia", "joint 'knee'", "rotor_inertia", "give it some: {call}", call))
    assert str(error).endswith("give it some: robot.with_motor('knee', rotor_inertia=..., gear=9)")
    assert error.fault.call == call


def test_a_library_that_is_missing() -> None:
    with pytest.raises(PliantError) as found:
        needs("no_such_library", "logs", "log.save()")
    assert str(found.value) == "log.save() needs no_such_library: pip install 'pliant[logs]'"
    assert (found.value.subject, found.value.field) == ("log.save()", "no_such_library")


def test_errors_pickle_with_their_fields() -> None:
    kinds = [PliantError, *PliantError.__subclasses__(), pliant.events.InconsistentContactError]
    for kind in kinds:
        error = PliantError.__new__(kind)
        PliantError.__init__(error, bad_value("a", 1, "2", "b"), place=Place("f", 3))
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind and again.fault == error.fault and again.place == error.place
        assert str(again) == str(error)


# ---- checks: one test of each word

SYMBOL = sympy.Symbol("x", real=True)


def refused(kind: type[PliantError], function: Callable, *arguments: object, **options: object) -> tuple[str, str, str]:
    """Subject, field and cure of the error that a call meets."""
    with pytest.raises(kind) as error:
        function(*arguments, **options)
    return error.value.subject, error.value.field, error.value.cure


def test_whole_and_real_numbers() -> None:
    assert all(map(checks.is_whole, (0, -3, np.int8(4)))) and not any(map(checks.is_whole, (1.0, True, "1", None)))
    assert all(map(checks.is_real, (0, 1.5, np.float32(2)))) and not any(
        map(checks.is_real, (math.nan, math.inf, True, "1", 1j))
    )
    assert checks.is_scalar(SYMBOL) and not checks.is_scalar("1") and not checks.is_scalar(sympy.I)
    assert checks.as_scalar(np.array(2.0)) == 2 and checks.as_scalar(Fraction(1, 2)) == 0.5


def test_check_and_one_of() -> None:
    checks.check("dt", 1, "a time", True)
    found = refused(SimulationError, checks.check, "dt", 0, "a time above zero", False, subject="the simulation")
    assert found == ("the simulation", "dt", "it takes a time above zero")
    checks.check_one_of("base", "free", ("free", "fixed"))
    cure = "it takes 'free' or 'fixed'"
    assert refused(PliantError, checks.check_one_of, "base", "loose", ("free", "fixed"))[2] == cure


@pytest.mark.parametrize("name", ["", None, 3])
def test_names(name: object) -> None:
    checks.check_name("name", "knee")
    found = refused(RobotError, checks.check_name, "name", name, subject="joint 3")
    assert found == ("joint 3", "name", "it takes a name, a non-empty string")


@pytest.mark.parametrize("value", [math.nan, math.inf, "1", None, [1], sympy.oo, sympy.nan])
def test_finite(value: object) -> None:
    checks.check_finite("mass", 1, 2.5, np.float32(3), SYMBOL)
    assert refused(RobotError, checks.check_finite, "mass", 1, value, subject="body 'a'")[:2] == ("body 'a'", "mass")


def test_bounds() -> None:
    checks.check_at_least("k", 0, 0)
    checks.check_at_least("k", SYMBOL, 0)
    for value, strict, takes in ((-1, False, "0 or more"), (0, True, "a number above 0")):
        found = refused(ContactError, checks.check_at_least, "k", value, 0, strict=strict, subject="law")
        assert found == ("law", "k", f"it takes {takes}")
    for word in (checks.check_friction, checks.check_restitution):
        word("ground", None)
        word("ground", 0.5)
        refused(ContactError, word, "ground", -0.1)
    with pytest.raises(ContactError, match="would add energy"):
        checks.check_restitution("ground", 1.1)
    refused(ContactError, checks.check_share, "tolerance", 1, "a share, below 1")


def test_functions() -> None:
    assert checks.check_callable("controller", lambda t, q, v: 0, "t", "q", "v") == "<lambda>"
    for wrong in (3, lambda t: 0):
        assert refused(SimulationError, checks.check_callable, "controller", wrong, "t", "q", "v")[1] == "controller"


def test_entries() -> None:
    assert checks.entries("p", np.array([1, 2])) == (1, 2)
    for wrong in ({1, 2}, "12", 3, {1: 2}):
        refused(RobotError, checks.entries, "p", wrong)
    assert checks.per_entry("kp", 2, 3, subject="motor") == (2, 2, 2)
    assert checks.per_entry("kp", [1, 2], 2, subject="motor") == (1, 2)
    for wrong in ([1, 2, 3], math.nan, "a", [1, -1]):
        found = refused(RobotError, checks.per_entry, "kp", wrong, 2, subject="motor", least=0)
        assert found[:2] == ("motor", "kp")
    assert checks.one_for_each("law", None, 2) == [None, None]
    refused(RobotError, checks.one_for_each, "law", [1, 2, 3], 2)


def test_rows() -> None:
    assert checks.finite_rows("q", [1, 2], (3, 2), "ab").shape == (3, 2)
    found = refused(SimulationError, checks.finite_rows, "q", [1, 2, 3], (3, 2), "ab")
    assert found == ("q", "shape", "it takes (2,) or (3, 2)")
    with pytest.raises(SimulationError) as error:
        checks.finite_rows("q", [[1, 2], [3, math.nan], [5, 6]], (3, 2), "ab")
    assert str(error.value) == "q is not finite at 'b' of robot 1; it takes finite numbers"
    assert checks.row_numbers(1, (2,)) is None, "one number does not stand for a row"
    assert checks.row_numbers(["1", "2"], (2,)) is None
    assert checks.row_numbers([Fraction(1, 2), 1], (2,)).tolist() == [0.5, 1]
    # text in an array is never evaluated
    bomb = np.array(["__import__('os').abort()"], dtype=object)
    assert checks.row_numbers(bomb, (1,)) is None
    refused(SimulationError, checks.numbers, "q", bomb)


@pytest.mark.parametrize(("robots", "found"), [
    (3, [3]), (-1, [4]), ([0, 2], [0, 2]), (range(3), [0, 1, 2]), (slice(1, 3), [1, 2]), ([], []),
    (np.arange(5) > 2, [3, 4]),
])  # fmt: skip
def test_robots_of_a_batch(robots: object, found: list[int]) -> None:
    assert checks.chosen_robots(robots, 5).tolist() == found


@pytest.mark.parametrize("robots", [5, [-6], "all", [0.5], [True, False], [[1, 2], [3]]])
def test_robots_that_are_not_there(robots: object) -> None:
    assert refused(SimulationError, checks.chosen_robots, robots, 5)[1] == "robots"
