"""Adaptive steps: errors follow the tolerance, robots do not disturb each other, trouble ends the loop."""

import math

import numpy as np
import pytest

import pliant
from moving_robots import CASES, DOUBLE_PENDULUM, TOP, TURNING, distance, free, kernel, state
from pliant.compiler import Block, Kernel, Loop, Program
from pliant.errors import PliantError
from pliant.integrators.adaptive import NO_STEP_SMALL_ENOUGH, TOO_MANY_STEPS, StepControl, adaptive_body, trial_step
from pliant.integrators.runge_kutta import DORMAND_PRINCE, explicit_body
from pliant.robot import Robot, RobotBuilder
from pliant.scalar import select

WRITES = ("h", "accepted", "rejected", "trouble")


def solver(robot: Robot, acceleration, control: StepControl | None = None, reads=(), sizes=None, **options) -> Kernel:
    """A kernel of t, q, v, t_end and what is read, giving t, q, v, h, accepted, rejected, trouble."""
    pieces = adaptive_body(robot, acceleration, control, reads=reads)
    return kernel(robot, pieces, reads=("t_end", *reads), writes=WRITES, sizes=sizes, repeat=None, **options)


@pytest.mark.parametrize("case", CASES)
def test_the_error_follows_the_tolerance(case: str) -> None:
    robot, acceleration, speed = CASES[case]
    q, v = state(robot, 1, speed)
    fine = kernel(robot, explicit_body(robot, DORMAND_PRINCE, acceleration))
    _, *reference = fine(0.0, q, v, 0.5 / 4000, steps=4000)
    errors, steps = [], []
    for rtol in (1e-5, 1e-7, 1e-9):
        t, q1, v1, _, accepted, rejected, trouble = solver(robot, acceleration, StepControl(rtol, rtol / 100))(
            0.0, q, v, 0.5
        )
        assert t == 0.5
        assert trouble == 0
        assert rejected <= 0.3 * accepted + 3, "the step is predicted well"
        errors.append(distance(robot, (q1, v1), reference))
        steps.append(accepted)
    # tolerance is of a step relative to its own change; errors of hundreds of steps add up, and grow in the arm
    assert all(e < 1000 * rtol for e, rtol in zip(errors, (1e-5, 1e-7, 1e-9), strict=True)), errors
    assert errors[2] < 1e-2 * errors[0]
    # fifth order: 100 times more accurate costs 100^(1/5) = 2.5 times the steps, up to 100^(1/4) = 3.2
    assert steps[2] < 3.5 * steps[1] < 3.5**2 * steps[0] + 50


def test_work_is_where_the_motion_is() -> None:
    """A pulse of torque in a long time of rest is found and resolved."""

    def acceleration(t, q, v):
        x = (t - 5) / 0.05
        return [select(x * x < 1, 100 * (1 - x * x), 0)]

    t, q, v, _, accepted, _, trouble = solver(TURNING, acceleration, StepControl(1e-8, 1e-10, largest=0.05))(
        0.0, [0.0], [0.0], 10.0
    )
    assert (t, trouble) == (10, 0)
    # the integral of 100 (1 - x^2) over 0.1 s, about t = 5; the kinks cost accuracy
    assert v[0] == pytest.approx(100 * 0.1 * 2 / 3, rel=1e-6)
    assert q[0] == pytest.approx(5 * v[0], rel=1e-6)
    assert accepted < 600


def test_each_robot_has_its_own_steps_bit_for_bit() -> None:
    run = solver(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM))
    rng = np.random.default_rng(2)
    n = 3 * run.lanes + 1
    q, v = DOUBLE_PENDULUM.random(rng, n), rng.normal(size=(n, 2)) * np.linspace(0, 8, n)[:, None]
    q[5, 0] = math.nan
    t_end = rng.uniform(0.1, 1, n)
    together = run(0.0, q, v, t_end)
    assert len(set(together[4])) > 5, "they take different numbers of steps"
    for k in range(n):
        alone = run(0.0, q[k], v[k], t_end[k])
        assert all(np.array_equal(a[k], b, equal_nan=True) for a, b in zip(together, alone, strict=True)), k
    sound = np.arange(n) != 5
    np.testing.assert_array_equal(together[0][sound], t_end[sound])
    assert together[6][5] == NO_STEP_SMALL_ENOUGH
    assert not together[6][sound].any()


def test_energy_of_a_top() -> None:
    q, v = state(TOP, 3, 4)
    _, q1, v1, *_ = solver(TOP, free(TOP), StepControl(1e-10, 1e-12))(0.0, q, v, 5.0)
    # a hundred steps of 1e-10 each
    assert pliant.dynamics.kinetic_energy(TOP, q1, v1) == pytest.approx(
        pliant.dynamics.kinetic_energy(TOP, q, v), rel=1e-8
    )
    assert np.linalg.norm(q1[3:]) == pytest.approx(1, abs=1e-14)


def test_steps_longer_than_a_turn() -> None:
    """A symmetric top that spins about its axis needs a few steps only, and each of many turns is right."""
    builder = RobotBuilder("top").gravity(0, 0, 0)
    robot = builder.body("body", 2, (0, 0, 0), (0.3, 0, 0, 0.3, 0, 0.15)).build(base="free")
    v = np.array([0, 0, 0, 0, 0, 50.0])
    _, q, v1, _, accepted, _, _ = solver(robot, free(robot))(0.0, robot.neutral(), v, 2.0)
    assert accepted < 10
    np.testing.assert_array_equal(v1, v)
    # a hundred radians, rounded
    assert np.abs(np.dot(q[3:], [0, 0, math.sin(50), math.cos(50)])) == pytest.approx(1, abs=1e-13)
    np.testing.assert_allclose(q[:3], 0, atol=1e-14)


# ---- ends


def test_a_singularity_is_trouble_and_no_endless_loop() -> None:
    """v' = v^2 from 1 is 1 / (1 - t), which leaves for infinity at t = 1."""
    t, _, v, _, _, _, trouble = solver(TURNING, lambda t, q, v: [v[0] * v[0]])(0.0, [0.0], [1.0], 2.0)
    assert trouble == NO_STEP_SMALL_ENOUGH
    assert t == pytest.approx(1, abs=1e-5)
    assert v[0] > 1e5
    assert np.isfinite(v[0])


def test_too_many_steps_is_trouble() -> None:
    control = StepControl(1e-9, 1e-12, most_steps=7)
    t, q, _, _, accepted, rejected, trouble = solver(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM), control)(
        0.0, [1.0, 0.0], [0.0, 0.0], 5.0
    )
    assert trouble == TOO_MANY_STEPS
    assert accepted + rejected == 7
    assert 0 < t < 5
    assert np.isfinite(q).all()


def test_trouble_stays() -> None:
    """A robot in trouble takes no part in later periods, and says so."""
    variables, body = adaptive_body(TURNING, lambda t, q, v: [v[0] * v[0]], StepControl())
    sizes = {"t": 1, "q": 1, "v": 1, **variables, "period": 1}
    tick = Block(lambda t_end: [t_end[0] + 0.5], ("t_end",), ("t_end",))
    program = Program(sizes, ("q", "v"), ("t", "v", *WRITES), (Loop((tick, *body), "periods"),))
    run = Kernel(program, {"q": (1,), "v": (1,)}, {n: () for n in program.outputs})
    once = run([0.0], [1.0], periods=3)
    assert once[-1] == NO_STEP_SMALL_ENOUGH
    assert run([0.0], [1.0], periods=9) == once
    fine = run([0.0], [-1.0], periods=9)
    assert fine[0] == 4.5
    assert fine[1] == pytest.approx(-1 / 5.5, rel=1e-5)


@pytest.mark.parametrize("t_end", [0.0, -1.0])
def test_nothing_to_do(t_end: float) -> None:
    """A robot that is at the end, or beyond, keeps its state."""
    q, v = state(TOP, 4)
    _, q1, v1, _, _, _, trouble = solver(TOP, free(TOP))(0.0, q, v, t_end)
    np.testing.assert_allclose(q1, q, atol=1e-15)
    np.testing.assert_array_equal(v1, v)
    assert trouble == 0


def test_rest_takes_one_step() -> None:
    t, q, v, h, accepted, rejected, _ = solver(TURNING, lambda t, q, v: [0])(0.0, [0.5], [0.0], 3.0)
    assert (t, q[0], v[0], accepted, rejected) == (3, 0.5, 0, 1, 0)
    assert h >= 3


# ---- in a loop over periods


def periods(count: int) -> Kernel:
    """A damped joint under a control that is held for each period of 0.1 s."""
    variables, body = adaptive_body(TURNING, lambda t, q, v, u: [u[0] - v[0]], StepControl(1e-8, 1e-10), reads=("u",))
    sizes = {"t": 1, "q": 1, "v": 1, "u": 1, **variables, "row_v": 1, "row_h": 1}
    tick = Block(lambda t_end: [t_end[0] + 0.1], ("t_end",), ("t_end",))
    record = Block(lambda v, h: (v, h), ("v", "h"), ("row_v", "row_h"))
    loop = Loop((tick, *body, record), count, reads=("u",), writes=("row_v", "row_h"))
    outputs = ("row_v", "row_h", "t", "accepted", "rejected", "trouble")
    program = Program(sizes, ("q", "v", "u"), outputs, (loop,))
    shapes = {n: () if n not in ("q", "v") else (1,) for n in sizes}
    return Kernel(program, {n: shapes[n] for n in program.inputs}, {n: shapes[n] for n in outputs})


def test_control_periods_keep_their_step() -> None:
    u = np.array([0.0, 5, 5, -3, 0, 1, 1, 1])
    v, h, t, accepted, rejected, trouble = periods(8)([0.0], [0.0], u)
    expected, x = [], 0.0
    for force in u:
        x = force + (x - force) * math.exp(-0.1)
        expected.append(x)
    np.testing.assert_allclose(v, expected, atol=1e-7)
    assert t == pytest.approx(0.8, abs=1e-15 * 8)
    assert trouble == 0
    assert h[-1] > 0.02, "a step cut short by the end of a period is not what the next one starts with"
    assert accepted + rejected < 60


# ---- scalars and settings


def test_a_trial_step_on_floats_is_that_of_the_kernel() -> None:
    q, v = state(DOUBLE_PENDULUM, 5)
    control = StepControl(largest=0.005, most_steps=1)
    vd = free(DOUBLE_PENDULUM)(0, q, v)
    trial = trial_step(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM), control, 0.0, q.tolist(), v.tolist(), vd, 0.005)
    assert 0 < trial.error < 1
    t, q1, v1, *_ = solver(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM), control)(0.0, q, v, 1.0)
    assert t == 0.005
    np.testing.assert_allclose(np.concatenate([q1, v1]), [*trial.q, *trial.v], atol=1e-13)


def test_single_precision() -> None:
    q, v = state(DOUBLE_PENDULUM, 6)
    control = StepControl(1e-4, 1e-5, smallest=1e-6)
    fine = solver(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM))(0.0, q, v, 1.0)
    t, q1, _, _, _, _, trouble = solver(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM), control, precision="float32")(
        0.0, q, v, 1.0
    )
    assert (t, trouble) == (1, 0)
    np.testing.assert_allclose(q1, fine[1], atol=1e-2)  # 1e-4 a step, grown in a chaotic second


@pytest.mark.parametrize("name, value", [
    ("rtol", -1), ("atol", 0), ("smallest", math.nan), ("most_steps", 0), ("most_steps", 1.5),
])  # fmt: skip
def test_wrong_settings(name: str, value: float) -> None:
    with pytest.raises(PliantError) as error:
        StepControl(**{name: value})
    assert (error.value.subject, error.value.field) == ("adaptive steps", name)
    takes = "an integer from 1 on" if name == "most_steps" else "a number above 0"
    assert str(error.value) == f"{name} of adaptive steps is {value!r}; it takes {takes}"
