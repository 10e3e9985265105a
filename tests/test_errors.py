"""Errors carry fields, and one module composes their sentences: a test of each kind of sentence."""

import pickle

import pytest

import pliant
from pliant.errors import Call, Fault, Place, PliantError, RobotError, bad_value, needs, unknown_name


def test_a_value_that_a_field_cannot_have() -> None:
    error = RobotError(bad_value("kp", -1, "0 or more", "motor 'knee'"))
    assert str(error) == "kp of motor 'knee' is -1; it takes 0 or more"
    assert (error.subject, error.field, error.cure, error.place) == ("motor 'knee'", "kp", "it takes 0 or more", None)


@pytest.mark.parametrize(
    ("name", "valid", "cure"),
    [
        ("kne", ["knee", "hip"], "did you mean 'knee'?"),
        ("x", ["knee", "hip"], "valid: 'knee', 'hip'"),
        ("x", [], "there are none"),
        ("x", [f"joint{k:02d}" for k in range(32)], ", and 2 more"),
    ],
)
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


def test_a_cure_that_is_a_call() -> None:
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
