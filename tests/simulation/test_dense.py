"""Dense output: its order, its continuity, and what it says when it ends early."""

import math
import pickle

import numpy as np
import pytest

from moving_robots import CASES, DOUBLE_PENDULUM, SPHERICAL_PENDULUM, TOP, TURNING, distance, free, slopes, state
from pliant.errors import PliantError
from pliant.integrators.adaptive import StepControl
from pliant.integrators import DenseSolution, DenseSolver


def solution(robot, acceleration, q, v, t_end, control) -> DenseSolution:
    found = DenseSolver(robot, acceleration, control)(q, v, t_end)
    assert isinstance(found, DenseSolution)
    return found


def fixed(length: float) -> StepControl:
    """Steps of one length: the tolerance never minds."""
    return StepControl(1e3, 1e3, largest=length)


FINE = StepControl(1e-13, 1e-14)


@pytest.mark.parametrize("case", ["top", "body on a spring", "spherical pendulum", "planar body", "double pendulum"])
def test_order_between_steps(case: str) -> None:
    robot, acceleration, speed = CASES[case]
    q, v = state(robot, 1, speed)
    times = np.linspace(0, 0.5, 301)
    reference = solution(robot, acceleration, q, v, 0.5, FINE)(times)
    errors = []
    for steps in (10, 20, 40):
        found = solution(robot, acceleration, q, v, 0.5, fixed(0.5 / steps * (1 + 1e-12)))
        assert len(found) == steps
        errors.append(distance(robot, found(times), reference))
    # promised is order 4; seen is 5 where the steps are short enough for the leading term
    assert min(slopes(errors)) > 4, errors


@pytest.mark.parametrize("robot", [TOP, SPHERICAL_PENDULUM, DOUBLE_PENDULUM], ids=lambda r: r.name)
def test_continuous_with_its_rate(robot) -> None:
    found = solution(robot, free(robot), *state(robot, 2, 2), 1.0, StepControl(1e-6, 1e-8))
    inner = np.arange(len(found) - 1)
    one, zero = np.ones(len(inner)), np.zeros(len(inner))
    assert len(inner) > 3
    # position: to rounding, also the quaternion's
    assert distance(robot, found.within(inner, one), found.within(inner + 1, zero)) < 1e-13
    # velocity of the interpolated configuration is the interpolated velocity, on both sides of a step's end
    h = 1e-4
    for step, theta in ((inner, one - 2 * h), (inner + 1, zero + 2 * h)):
        length = (found.t[step + 1] - found.t[step])[:, None]
        (before, _), (_, v), (after, _) = (found.within(step, theta + d) for d in (-h, 0, h))
        rate = robot.difference(before, after) / (2 * h * length)
        np.testing.assert_allclose(rate, v, atol=2e-4 * abs(v).max())  # 2h away from the end it is interpolated


def test_called_at_the_steps_it_gives_the_steps() -> None:
    found = solution(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM), *state(DOUBLE_PENDULUM, 3), 2.0, StepControl())
    q, v = found(found.t)
    np.testing.assert_allclose(q, found.q, atol=1e-14)
    np.testing.assert_allclose(v, found.v, atol=1e-13)
    assert found.t[0] == 0
    assert found.t[-1] == 2
    assert (np.diff(found.t) > 0).all()
    one = found(0.7)
    assert one[0].shape == (2,)
    np.testing.assert_array_equal(one[0], found([0.7])[0][0])


def test_closed_form() -> None:
    """An oscillator x'' = -25 x, in more steps than one chunk of the kernel."""
    found = solution(TURNING, lambda t, q, v: [-25 * q[0]], [1.0], [0.0], 20.0, StepControl(1e-9, 1e-11))
    assert len(found) > 600
    t = np.linspace(0, 20, 999)
    q, v = found(t)
    # a thousand steps of 1e-9 of the path
    np.testing.assert_allclose(q[:, 0], np.cos(5 * t), atol=1e-6)
    np.testing.assert_allclose(v[:, 0], -5 * np.sin(5 * t), atol=5e-6)


def test_batches_and_parameters() -> None:
    solver = DenseSolver(TURNING, lambda t, q, v, k: [-k[0] * q[0]], StepControl(1e-9, 1e-11), parameters={"k": 1})
    stiffness = np.array([[1.0], [100.0], [10000.0]])
    many = solver([1.0], [0.0], 3.0, t=1.0, k=stiffness)
    assert isinstance(many, list)
    assert len(many[0]) < len(many[1]) < len(many[2])
    for k, found in zip(stiffness[:, 0], many, strict=True):
        alone = solver([1.0], [0.0], 3.0, t=1.0, k=[k])
        np.testing.assert_array_equal(found.t, alone.t)
        np.testing.assert_array_equal(found.q, alone.q)
        assert found.t[0] == 1
        assert found.t[-1] == 3
        # the phase error of a step is of the tolerance, and up to a thousand of them add up
        assert found(2.5)[0][0] == pytest.approx(math.cos(math.sqrt(k) * 1.5), abs=2e-6)


def test_an_early_end_is_told() -> None:
    found = solution(TURNING, lambda t, q, v: [v[0] * v[0]], [0.0], [1.0], 2.0, StepControl())
    assert "no step is small enough" in found.reason
    assert "ended early: no step is small enough" in repr(found)
    assert found.t[-1] == pytest.approx(1, abs=1e-5)
    assert found(0.5)[1][0] == pytest.approx(2, rel=1e-5)
    with pytest.raises(PliantError, match=r"where it ended: no step is small enough.*asked for 1.5 s"):
        found(1.5)
    short = solution(TURNING, lambda t, q, v: [-100 * q[0]], [1.0], [0.0], 9.0, StepControl(1e-9, most_steps=64))
    assert short.reason == "too many steps"
    assert len(short) + short.rejected == 64


@pytest.mark.parametrize("call, message", [
    (lambda s: s([0.0], [1.0], 0.0), "t_end is 0.0; it takes a time after t = 0.0"),
    (lambda s: s([0.0], [1.0], 1.0, t=2.0), "goes forward in time"),
    (lambda s: s([0.0], [math.nan], 1.0), "cannot take a step from t = 0.0 s: no step is small enough"),
    (lambda s: s([0.0], [1.0], 1.0)(1.1), "from t = 0 s to 1 s; asked for 1.1 s"),
    (lambda s: s([0.0], [1.0], 1.0)([0.5, -0.1]), "asked for -0.1 s"),
    (lambda s: s([0.0], [1.0], 1.0)(math.nan), "asked for nan s"),
])  # fmt: skip
def test_wrong_times(call, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        call(DenseSolver(TURNING, lambda t, q, v: [-q[0]]))


def test_a_parameter_needs_a_name_of_its_own() -> None:
    with pytest.raises(PliantError, match="cannot be called 'h'"):
        DenseSolver(TURNING, lambda t, q, v, h: [0], parameters={"h": 1})


def test_solutions_are_pickled() -> None:
    found = solution(TOP, free(TOP), *state(TOP, 4), 0.5, StepControl())
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again(0.3)[0], found(0.3)[0])
    assert repr(again) == repr(found)
