"""Implicit midpoint: order two, energy and momentum, reversal of time, stiff springs."""

import math

import numpy as np
import pytest

import pliant
from moving_robots import (
    DOUBLE_PENDULUM, OFF_CENTRE, PLANAR, SPHERICAL_PENDULUM, TOP, TURNING, distance, free, kernel, slopes, state,
)  # fmt: skip
from pliant.compiler import Kernel
from pliant.errors import PliantError
from pliant.integrators.midpoint import midpoint_body, midpoint_residual, midpoint_step
from pliant.integrators.runge_kutta import DORMAND_PRINCE, explicit_body, explicit_step
from pliant.robot import Robot
from random_robots import ALL, robot_of


def passive(robot: Robot):
    return lambda t, q, v: [0] * robot.nv


def solver(robot: Robot, force=None, linear=None, **options) -> Kernel:
    """A kernel of t, q, v, dt giving t, q, v, iterations, unsolved."""
    pieces = midpoint_body(robot, force or passive(robot), linear, **options)
    return kernel(robot, pieces, writes=("iterations", "unsolved"))


def total_energy(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return sum(pliant.energy(robot, q, v))


def drift(robot: Robot, run: Kernel, q: np.ndarray, v: np.ndarray, dt: float, seconds: float, looks: int) -> float:
    """The largest change of energy seen on the way, relative to the energy at the start."""
    first, worst, t = total_energy(robot, q, v), 0.0, 0.0
    for _ in range(looks):
        t, q, v, _, unsolved = run(t, q, v, dt, steps=round(seconds / dt / looks))
        assert unsolved == 0
        worst = max(worst, abs(float(total_energy(robot, q, v) - first)))
    return worst / abs(float(first))


@pytest.mark.parametrize("robot", [TOP, OFF_CENTRE, SPHERICAL_PENDULUM, PLANAR, DOUBLE_PENDULUM], ids=lambda r: r.name)
def test_order_two(robot: Robot) -> None:
    q, v = state(robot, 1)
    fine = kernel(robot, explicit_body(robot, DORMAND_PRINCE, free(robot)))
    _, *reference = fine(0.0, q, v, 0.5 / 4000, steps=4000)
    run, errors = solver(robot), []
    for steps in (80, 160, 320):
        t, q1, v1, _, unsolved = run(0.0, q, v, 0.5 / steps, steps=steps)
        assert unsolved == 0
        assert t == pytest.approx(0.5)
        errors.append(distance(robot, (q1, v1), reference))
    # the next term of the error is of order four: the slope is close
    assert slopes(errors) == pytest.approx([2, 2], abs=0.1), errors


def test_forces_in_time() -> None:
    """Taken in the middle of the step: v' = cos t has the error dt^2/24."""
    _, _, v, _, _ = solver(TURNING.with_gravity(0, 0, 0), lambda t, q, v: [pliant.math.cos(t)])(
        0.0, [0.0], [0.0], 0.01, steps=100
    )
    M = pliant.mass_matrix(TURNING, [0.0])[0, 0]
    assert v[0] * M == pytest.approx(math.sin(1), rel=1e-5)
    assert v[0] * M != pytest.approx(math.sin(1), rel=1e-7)


# ---- what it keeps


def test_a_free_top_keeps_its_energy_to_rounding() -> None:
    """Energy and the square of the momentum are quadratic in v: kept at any step, here one of 0.05 rad or more."""
    q, v = state(TOP, 2, 3)
    v[:3] = 0
    run = solver(TOP)
    # ten thousand steps, each solved to 1e-13
    assert drift(TOP, run, q, v, 1e-3, 10, 20) < 1e-11
    assert drift(TOP, run, q, v, 2e-2, 10, 20) < 1e-11
    _, _, v1, _, _ = run(0.0, q, v, 2e-2, steps=500)
    L0, L1 = (pliant.centroidal_momentum(TOP, q, x)[3:] for x in (v, v1))
    assert np.linalg.norm(L1) == pytest.approx(np.linalg.norm(L0), rel=1e-11)
    assert np.linalg.norm(L1 - L0) > 0.1, "it is not the same motion of the body"


def test_energy_of_a_passive_double_pendulum() -> None:
    """It sways with dt^2: below 1e-8 over 10 s at 0.1 ms for a swing of 0.8 rad, at 25 us for a wild one."""
    run = solver(DOUBLE_PENDULUM)
    q, v = np.array([1.0, 0.5]), np.array([1.0, -0.5])
    assert drift(DOUBLE_PENDULUM, run, q, v, 2.5e-5, 10, 50) < 1e-8
    q, v = np.array([0.8, 0.3]), np.zeros(2)
    assert drift(DOUBLE_PENDULUM, run, q, v, 1e-4, 10, 200) < 1e-8
    short, long = (drift(DOUBLE_PENDULUM, run, q, v, 1e-3, seconds, 20 * seconds) for seconds in (10, 100))
    assert long < 1.1 * short, "no growth in ten times the time"


@pytest.mark.parametrize("robot", [TOP, OFF_CENTRE, SPHERICAL_PENDULUM, PLANAR, DOUBLE_PENDULUM], ids=lambda r: r.name)
def test_backward_steps_undo_forward_ones(robot: Robot) -> None:
    q, v = state(robot, 3)
    run = solver(robot)
    _, q1, v1, _, _ = run(0.0, q, v, 5e-3, steps=200)
    t, q2, v2, _, _ = run(1.0, q1, v1, -5e-3, steps=200)
    assert distance(robot, (q, v), (q1, v1)) > 0.1
    # 400 steps of 1e-13, which the motion may spread
    assert distance(robot, (q, v), (q2, v2)) < 1e-9
    assert t == pytest.approx(0, abs=1e-13)


# ---- stiff springs


K_STIFF = 1e6


def spring(t, q, v):
    return [-K_STIFF * x for x in q]


def spring_linear(q, v):
    return [0] * len(q), [K_STIFF] * len(q)


@pytest.mark.parametrize("dt", [1e-2, 1e-3, 1e-4])
def test_stiff_springs_converge_in_few_iterations(dt: float) -> None:
    run = solver(DOUBLE_PENDULUM, spring, spring_linear)
    _, q, v, iterations, unsolved = run(0.0, [0.01, 0.005], [0.3, -0.2], dt, steps=200)
    assert unsolved == 0
    assert iterations / 200 < 8
    assert np.isfinite([*q, *v]).all()
    # two springs of 1e6 N m have 62 J; the swing stays within what they hold
    assert abs(q).max() < 0.03


def test_without_the_linear_part_stiff_springs_do_not_converge_and_it_says_so() -> None:
    *_, unsolved = solver(DOUBLE_PENDULUM, spring)(0.0, [0.01, 0.005], [0.0, 0.0], 1e-2, steps=3)
    assert unsolved == 3


def test_a_stiff_oscillator_keeps_its_amplitude() -> None:
    """A linear oscillator of 2000 rad/s at a step far longer than its period: stable, and energy is quadratic."""
    robot = TURNING.with_gravity(0, 0, 0)
    M = pliant.mass_matrix(robot, [0.0])[0, 0]

    def energy(q, v):
        return 0.5 * M * v[0] ** 2 + 0.5 * K_STIFF * q[0] ** 2

    run = solver(robot, spring, spring_linear)
    q, v = np.array([0.01]), np.array([0.0])
    _, q1, v1, iterations, unsolved = run(0.0, q, v, 1e-2, steps=1000)
    assert unsolved == 0
    assert iterations <= 4000
    # 1000 steps with corrections of eps k dt x / M
    assert energy(q1, v1) == pytest.approx(energy(q, v), rel=1e-9)


def test_stiff_dampers_bring_it_to_rest() -> None:
    robot = TURNING.with_gravity(0, 0, 0)
    run = solver(robot, lambda t, q, v: [-1e5 * v[0]], lambda q, v: ([1e5], [0]))
    _, _, v, iterations, unsolved = run(0.0, [0.0], [1.0], 1e-4, steps=100)
    assert unsolved == 0
    assert iterations <= 400
    # v1 = (1 - x) / (1 + x) v with x = dt d / (2 M)
    x = 1e-4 * 1e5 / 2 / pliant.mass_matrix(robot, [0.0])[0, 0]
    assert v[0] == pytest.approx(((1 - x) / (1 + x)) ** 100, rel=1e-9)


# ---- any robot, scalars, batches, errors


@pytest.mark.parametrize("seed", range(4))
def test_robots_with_every_kind_of_joint(seed: int) -> None:
    """Mimicking joints too: the step is that of order five, up to dt^3."""
    rng = np.random.default_rng(seed)
    robot = robot_of(ALL, [-1, 0, 1, 1, 2, 4, -1, 3], rng, mimic=True, floating=seed % 2 == 1)
    q, v = state(robot, seed)
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        found = midpoint_step(robot, passive(robot), 0.0, q.tolist(), v.tolist(), dt)
        exact = explicit_step(robot, DORMAND_PRINCE, free(robot), 0.0, q.tolist(), v.tolist(), dt)
        errors.append(distance(robot, tuple(map(np.array, found)), tuple(map(np.array, exact[:2]))))
    assert slopes(errors) == pytest.approx([3, 3], abs=0.25), errors
    _, q1, v1, _, unsolved = solver(robot)(0.0, q, v, 1e-3, steps=1)
    assert unsolved == 0
    assert distance(robot, (q1, v1), tuple(map(np.array, found))) < 1e-11  # converged to 1e-13


@pytest.mark.parametrize("robot", [TOP, SPHERICAL_PENDULUM, DOUBLE_PENDULUM], ids=lambda r: r.name)
def test_floats_and_kernel_agree(robot: Robot) -> None:
    q, v = state(robot, 4)

    def force(t, q, v):
        return [pliant.math.sin(t) - x for x in v]

    def linear(q, v):
        return [1] * robot.nv, [0] * robot.nv

    q1, v1 = midpoint_step(robot, force, 0.3, q.tolist(), v.tolist(), 0.01, linear=linear)
    residual = midpoint_residual(robot, force, 0.3, q.tolist(), v.tolist(), 0.01, v1)
    assert max(abs(r) for r in residual) < 1e-14  # rounding of forces of some 20 N, times dt
    _, q2, v2, _, unsolved = solver(robot, force, linear)(0.3, q, v, 0.01, steps=1)
    assert unsolved == 0
    np.testing.assert_allclose(q2, q1, atol=1e-14)
    np.testing.assert_allclose(v2, v1, atol=1e-12)  # converged to 1e-13


def test_variables_of_the_program_reach_force_and_linear() -> None:
    robot = TURNING.with_gravity(0, 0, 0)
    pieces = midpoint_body(
        robot, lambda t, q, v, k: [-k[0] * q[0]], lambda q, v, k: ([0], [k[0]]), reads=("k",), iterations=9
    )
    run = kernel(robot, pieces, reads=("dt", "k"), writes=("iterations", "unsolved"), sizes={"k": 1})
    stiffness = np.array([1.0, 100.0, 1e8])
    _, q, _, _, unsolved = run(0.0, [0.1], [0.0], 1e-3, stiffness, steps=500)
    assert not unsolved.any()
    M = pliant.mass_matrix(robot, [0.0])[0, 0]
    # its frequency is that of the oscillator up to (w dt)^2 / 12
    w = np.sqrt(stiffness[:2] / M)
    np.testing.assert_allclose(q[:2, 0], 0.1 * np.cos(w * 0.5), atol=1e-5)
    alone = [run(0.0, [0.1], [0.0], 1e-3, k, steps=500)[1] for k in stiffness]
    np.testing.assert_array_equal(q, alone)


def test_nan_is_unsolved_and_stays_in_its_lane() -> None:
    q, v = np.array([[0.3, 0.1], [math.nan, 0.0], [0.2, 0.2]]), np.zeros((3, 2))
    run = solver(DOUBLE_PENDULUM)
    _, q1, _, _, unsolved = run(0.0, q, v, 1e-3, steps=5)
    assert unsolved.tolist() == [0, 5, 0]
    np.testing.assert_array_equal(q1[0], run(0.0, q[0], v[0], 1e-3, steps=5)[1])


def test_wrong_diagonals() -> None:
    with pytest.raises(PliantError, match="D and K with 1 and 2 entries; robot 'double_pendulum' has nv = 2"):
        solver(DOUBLE_PENDULUM, None, lambda q, v: ([1], [1, 2]))
