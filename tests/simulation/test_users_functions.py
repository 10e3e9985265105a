"""Errors in functions of users: they name the function, and the user's own line."""

import inspect
import math
from collections.abc import Callable
from typing import Any

import pytest

import pliant
from pliant.errors import Place
from pliant.robot import MotorLaw


def line_of(function: Callable[..., Any], text: str) -> Place:
    """Where some text stands in a function of this file."""
    lines, first = inspect.getsourcelines(function)
    (at,) = [k for k, line in enumerate(lines) if text in line]
    return Place(__file__, first + at)


def forgetful(t: float, q: Any, v: Any) -> None:
    """A controller without return."""
    _ = [1.0]


def branching(t: Any, q: Any, v: Any) -> list[float]:
    """One that decides by a number."""
    x = q[0]
    if x > 0:  # decides
        return [1.0]
    return [0.0]


def outside(t: Any, q: Any, v: Any) -> list[Any]:
    """One that takes an entry that is not there."""
    return [q[7]]


def exponential(u: Any, q: Any, v: Any, t: Any) -> float:
    """A motor law of the wrong library."""
    return math.exp(u)


def mixed(u: Any, q: Any, v: Any, t: Any, memory: Any) -> Any:
    """A motor law with a memory that adds a number to a list."""
    return memory + 1.0, memory


def test_a_controller_that_returns_nothing_is_refused() -> None:
    robot = pliant.load("pendulum")
    runs = (
        lambda: pliant.Simulation(robot, progress=False).run(0.1, controller=forgetful),
        lambda: pliant.EventSimulation(robot).run(0.1, controller=forgetful, period=0.01),
        lambda: pliant.EventSimulation(robot).run(0.1, controller=forgetful),
    )
    for run in runs:
        with pytest.raises(pliant.SimulationError, match="'forgetful' returned nothing") as caught:
            run()
        assert caught.value.subject == "controller 'forgetful'"
        assert caught.value.place == line_of(forgetful, "def forgetful")
    with pytest.raises(pliant.SimulationError, match="returned nothing for its controls"):
        pliant.Simulation(robot, controller=forgetful, progress=False).step()


def test_a_robot_without_motors_may_be_watched_by_a_controller() -> None:
    seen: list[float] = []
    sim = pliant.Simulation(pliant.load("double_pendulum"), dt=0.01, progress=False)
    sim.run(0.05, controller=lambda t, q, v: seen.append(t))
    assert len(seen) == 5


@pytest.mark.parametrize(("controller", "text", "kind"), [
    (branching, "# decides", pliant.TraceError), (outside, "q[7]", pliant.SimulationError),
])  # fmt: skip
def test_errors_of_compiled_controllers_have_the_users_line(
    controller: Callable[..., Any], text: str, kind: type[pliant.PliantError]
) -> None:
    with pytest.raises(kind, match=controller.__name__) as caught:
        pliant.Simulation(pliant.load("pendulum"), controller=controller, progress=False).step()
    assert caught.value.place == line_of(controller, text)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(("law", "text"), [
    (exponential, "math.exp"), (MotorLaw(mixed, memory=(0,)), "memory + 1.0"),
])  # fmt: skip
def test_errors_of_motor_laws_have_the_users_line(law: Any, text: str) -> None:
    robot = pliant.load("pendulum").with_motor("hinge", law=law)
    with pytest.raises(pliant.TraceError, match="law of motor 'hinge'") as caught:
        pliant.Simulation(robot, progress=False).step()
    assert caught.value.place == line_of(getattr(law, "function", law), text)


def test_a_motor_law_with_other_arguments_is_refused_at_once() -> None:
    with pytest.raises(pliant.RobotError, match=r"law of motor 'hinge' '<lambda>' is called with \(u, q, v, t\)"):
        pliant.load("pendulum").with_motor("hinge", law=lambda u, q, v: u)
