"""Adaptive steps, dense output and roots."""

import math
import pickle

import numpy as np
import pytest

from moving_robots import (
    CASES, DOUBLE_PENDULUM, SPHERICAL_PENDULUM, TOP, TURNING, distance, exact, free, kernel, slopes, state,
)  # fmt: skip
from pliant.compiler import Block, Kernel, Loop, Program
from pliant.dynamics import kinetic_energy
from pliant.errors import PliantError
from pliant.integrators import DenseSolution, DenseSolver
from pliant.integrators.adaptive import (
    NO_STEP_SMALL_ENOUGH, TOO_MANY_STEPS, NoStepError, StepControl, Stepper, adaptive_body, trial_step,
)  # fmt: skip
from pliant.integrators.dense import Chart, first_root
from pliant.robot import Robot, RobotBuilder
from pliant.scalar import select
from simulated_robots import BALL, PENDULUM

WRITES = ("h", "accepted", "rejected", "trouble")


def solver(robot: Robot, acceleration, control: StepControl | None = None, reads=(), sizes=None, **options) -> Kernel:
    """A kernel of t, q, v, t_end and what is read, giving t, q, v, h, accepted, rejected, trouble."""
    pieces = adaptive_body(robot, acceleration, control, reads=reads)
    return kernel(robot, pieces, reads=("t_end", *reads), writes=WRITES, sizes=sizes, repeat=None, **options)


@pytest.mark.parametrize("case", CASES)
def test_the_error_follows_the_tolerance(case: str) -> None:
    robot, acceleration, speed = CASES[case]
    q, v = state(robot, 1, speed)
    reference = exact(robot, acceleration, q, v)
    errors, steps = [], []
    for rtol in (1e-5, 1e-7, 1e-9):
        run = solver(robot, acceleration, StepControl(rtol, rtol / 100))
        t, q1, v1, _, accepted, rejected, trouble = run(0.0, q, v, 0.5)
        assert (t, trouble) == (0.5, 0)
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

    run = solver(TURNING, acceleration, StepControl(1e-8, 1e-10, largest=0.05))
    t, q, v, _, accepted, _, trouble = run(0.0, [0.0], [0.0], 10.0)
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
    assert kinetic_energy(TOP, q1, v1) == pytest.approx(kinetic_energy(TOP, q, v), rel=1e-8)
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
    run = solver(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM), StepControl(1e-9, 1e-12, most_steps=7))
    t, q, _, _, accepted, rejected, trouble = run(0.0, [1.0, 0.0], [0.0, 0.0], 5.0)
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
    coarse = StepControl(1e-4, 1e-5, smallest=1e-6)
    fine = solver(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM))(0.0, q, v, 1.0)
    run = solver(DOUBLE_PENDULUM, free(DOUBLE_PENDULUM), coarse, precision="float32")
    t, q1, _, _, _, _, trouble = run(0.0, q, v, 1.0)
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


# ---- dense output: its order, its continuity, and what it says when it ends early


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
    (lambda _: DenseSolver(TURNING, lambda t, q, v, h: [0], parameters={"h": 1}), "cannot be called 'h'"),
])  # fmt: skip
def test_wrong_times_and_names(call, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        call(DenseSolver(TURNING, lambda t, q, v: [-q[0]]))


def test_solutions_are_pickled() -> None:
    found = solution(TOP, free(TOP), *state(TOP, 4), 0.5, StepControl())
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again(0.3)[0], found(0.3)[0])
    assert repr(again) == repr(found)


# ---- step by step in Python, as event-driven simulation takes them, and roots on the way


CHART = Chart(PENDULUM)


def swing(t, q, v):
    return -4 * q


def test_steps_meet_their_tolerance_and_so_does_dense_output() -> None:
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        stepper = Stepper(CHART, StepControl(rtol, rtol / 100, largest=1.0))
        t, q, v, worst = 0.0, np.array([1.0]), np.array([0.0]), 0.0
        while t < 3:
            segment = stepper.step(swing, t, q, v, 3.0)
            for s in np.linspace(segment.t, segment.t + segment.h, 7):
                worst = max(worst, abs(segment(s)[0][0] - math.cos(2 * s)))
            t = segment.t + segment.h
            q, v = segment(t)
        assert t == 3
        errors.append(worst)
        assert worst < 100 * rtol
    assert errors[0] > errors[1] > errors[2]


def test_the_chart_turns_as_the_velocity_says() -> None:
    rng = np.random.default_rng(0)
    chart = Chart(BALL)
    q, w, v = BALL.random(1), 0.5 * rng.standard_normal(6), rng.standard_normal(6)
    moved, rate = chart.integrate(q, w), np.array(chart.chart_rate(w, v))
    h = 1e-6
    ahead, behind = chart.integrate(q, w + h * rate), chart.integrate(q, w - h * rate)
    assert BALL.difference(behind, ahead) / (2 * h) == pytest.approx(v, abs=1e-8)
    assert moved == pytest.approx(BALL.integrate(q, w), abs=1e-14)


def test_no_step_is_short_enough_for_a_pole() -> None:
    stepper = Stepper(CHART, StepControl(1e-8, 1e-10, largest=0.02))
    t, q, v = 0.0, np.zeros(1), np.zeros(1)
    with pytest.raises(NoStepError):
        while t < 1:
            segment = stepper.step(lambda t, q, v: np.array([1 / (0.5 - t) ** 3 if t != 0.5 else math.nan]), t, q, v, 1)
            t = segment.t + segment.h
            q, v = segment(t)
    assert t == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("function, root", [
    (lambda t: 0.3 - t, 0.3),
    (lambda t: math.cos(5 * t), math.pi / 10),
    (lambda t: (0.61 - t) ** 3, 0.61),
    (lambda t: 1e-9 * (0.7 - t), 0.7),
    (lambda t: math.exp(-40 * t) - math.exp(-12), 0.3),
    (lambda t: 1.0 if t < 0.123 else -1.0, 0.123),
])  # fmt: skip
def test_roots(function, root: float) -> None:
    found = first_root(lambda t: np.array([1.0, function(t)]), 0, 1, np.zeros(2, bool), np.full(2, 1e-12))
    assert found is not None
    # the search ends within 1e-12 after the root; triple roots are as flat as 1e-12 in the time's cube
    assert found == (pytest.approx(root, abs=1e-5 if function(root + 1e-6) > -1e-17 else 2e-12), 1)
    assert function(found[0]) <= 0


def test_what_begins_at_zero_counts_once_it_was_above() -> None:
    least, armed = np.full(1, 1e-10), np.zeros(1, bool)
    # a bounce: up, and down again within the interval
    found = first_root(lambda t: np.array([t * (0.1 - t)]), 0, 1, armed, least)
    assert found == (pytest.approx(0.1, abs=1e-12), 0)
    # up and away
    assert first_root(lambda t: np.array([t * t]), 0, 1, armed, least) is None
    assert armed.all()
    # it was above, and has jumped
    assert first_root(lambda t: np.array([t - 0.5]), 0, 1, armed, least) == (0, 0)
