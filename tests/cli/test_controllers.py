"""Controllers by what the user types."""

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.cli.sources import chosen_controller, default_controller, in_file
from pliant.errors import PliantError

PENDULUM = pliant.load("pendulum")


def chosen(name: str, robot: pliant.Robot = PENDULUM, **options):
    given = {"q": robot.neutral(), "gains": None, "command": None, **options}
    return chosen_controller(name, robot, **given)


def test_what_is_usual() -> None:
    assert default_controller(pliant.load("hopper")) == "raibert"
    assert default_controller(pliant.load("quadruped")) == "hold"
    assert default_controller(PENDULUM) == "none"


def test_hold_makes_springs_of_motors() -> None:
    control = chosen("hold", q=np.array([0.4]))
    motor = control.robot.motors["hinge"]
    assert (motor.control, control.u) == ("position", [0.4])
    assert control.name == f"hold (kp {motor.kp:.3g}, kd {motor.kd:.3g})"
    own = chosen("hold", gains=(5.0, 1.0)).robot.motors["hinge"]
    assert (own.kp, own.kd) == (5, 1)
    stiff = PENDULUM.with_motor("hinge", control="position", kp=7, kd=3)
    assert chosen("hold", stiff).name == "hold (own gains)", "a robot that has gains keeps them"


def test_raibert() -> None:
    control = chosen("raibert", pliant.load("hopper"), command=(1.0, 0.0, 0.1))
    assert (control.compiled.commands, control.u) == (3, [1.0, 0.0, 0.1])


OWN = """
import pliant

def policy(t, q, v):
    return [-q[0]]

def stiff(robot):
    return lambda t, q, v: [0.0] * robot.nu

def made(robot):
    return pliant.Controller(lambda t, q, v, command: [command[0]], commands=1)

ready = pliant.Controller(lambda t, q, v: [0 * q[0]])
number = 5

def broken(t, q, v):
    return [1 / 0]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path / "mine.py"


def test_a_function_of_the_users_own(mine: Path) -> None:
    assert chosen(f"{mine}:policy").called(0.0, [2.0], [0.0]) == [-2.0]
    assert chosen(f"{mine}:stiff").called(0.0, [2.0], [0.0]) == [0.0]
    assert chosen(f"{mine}:made", command=(3.0,)).u == [3.0]
    assert chosen(f"{mine}:ready").compiled is not None


def test_it_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "gains_of_mine.py").write_text("KP = 3")
    (tmp_path / "mine.py").write_text("from gains_of_mine import KP\ndef policy(t, q, v):\n    return [KP]\n")
    assert in_file(f"{tmp_path / 'mine.py'}:policy")(0, 0, 0) == [3]


@pytest.mark.parametrize("name, message", [
    ("hodl", "no controller named 'hodl'; did you mean 'hold'"),
    ("mine.py", "it takes FILE.py:FUNCTION"),
    ("none.py:policy", "there is no file none.py"),
    ("mine.py:polcy", "did you mean 'policy'"),
    ("mine.py:number", "is 5; it takes a function"),
    ("raibert", "pendulum"),
])  # fmt: skip
def test_errors(mine: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    monkeypatch.chdir(mine.parent)
    with pytest.raises(PliantError) as error:
        chosen(name)
    assert message in str(error.value)


def test_errors_in_the_users_code_name_the_line(mine: Path) -> None:
    with pytest.raises(PliantError, match=r"mine.py:17: ZeroDivisionError: division by zero"):
        chosen(f"{mine}:broken").called(0.0, [0.0], [0.0])
    mine.write_text("x = (\n")
    with pytest.raises(PliantError, match=r"mine.py:1: SyntaxError"):
        chosen(f"{mine}:broken")
    mine.write_text("import nothing_of_that_name")
    with pytest.raises(PliantError, match=r"mine.py:1: ModuleNotFoundError"):
        chosen(f"{mine}:broken")


def test_options_that_do_not_fit(mine: Path) -> None:
    for name, options, message in (
        ("none", {"gains": (1.0, 1.0)}, "--gains belong to --controller hold"),
        ("hold", {"gains": (1.0,)}, "it takes two numbers"),
        ("hold", {"command": (1.0,)}, "--command is for --controller raibert"),
        (f"{mine}:policy", {"command": (1.0,)}, "--command is for a pliant.Controller"),
        (f"{mine}:made", {"command": (1.0, 2.0)}, "it takes 1 numbers"),
    ):
        with pytest.raises(PliantError) as error:
            chosen(name, **options)
        assert message in str(error.value)
    with pytest.raises(PliantError, match="vx, vy and the height"):
        chosen("raibert", pliant.load("hopper"), command=(1.0,))
