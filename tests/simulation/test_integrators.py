"""Runge-Kutta methods and the implicit midpoint rule."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

import pliant
from moving_robots import (
    CASES, DOUBLE_PENDULUM, OFF_CENTRE, PLANAR, SPHERICAL_PENDULUM, TOP, TURNING, distance, exact, free, kernel, slopes,
    state,
)  # fmt: skip
from pliant.compiler import Kernel
from pliant.dynamics import kinetic_energy
from pliant.errors import PliantError
from pliant.integrators.midpoint import midpoint_body, midpoint_residual, midpoint_step
from pliant.integrators.runge_kutta import DORMAND_PRINCE, HEUN, RK4, Tableau, explicit_body, explicit_step
from pliant.robot import Robot
from pliant.scalar import Graph
from pliant.scalar.evaluation import interpret
from random_robots import ALL, robot_of

# ---- Runge-Kutta methods: conditions of order, and the order that is seen on every kind of joint


TABLEAUS = [HEUN, RK4, DORMAND_PRINCE]
# half a second in so many steps shows the order, above rounding
STEPS = {HEUN.name: (80, 160, 320), RK4.name: (80, 160, 320), DORMAND_PRINCE.name: (10, 20, 40)}
each_tableau = pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda t: t.name)
each_case = pytest.mark.parametrize("case", CASES)
FREE = TURNING.with_gravity(0, 0, 0)


def conditions(tableau: Tableau) -> list[tuple[int, np.ndarray, Fraction]]:
    """Order, elementary weight at each stage and density of every rooted tree with up to five vertices."""
    n = len(tableau.b)
    A = np.zeros((n, n))
    for i, row in enumerate(tableau.a):
        A[i, : len(row)] = row
    c, one = np.array(tableau.c, dtype=float), np.ones(n)
    Ac = A @ c
    trees = [
        (1, one, 1), (2, c, 2), (3, c**2, 3), (3, Ac, 6),
        (4, c**3, 4), (4, c * Ac, 8), (4, A @ c**2, 12), (4, A @ Ac, 24),
        (5, c**4, 5), (5, c**2 * Ac, 10), (5, c * (A @ c**2), 15), (5, c * (A @ Ac), 30), (5, Ac**2, 20),
        (5, A @ c**3, 20), (5, A @ (c * Ac), 40), (5, A @ (A @ c**2), 60), (5, A @ (A @ Ac), 120),
    ]  # fmt: skip
    return [(order, weight, Fraction(1, density)) for order, weight, density in trees]


@each_tableau
def test_conditions_of_order(tableau: Tableau) -> None:
    """Hairer, Norsett, Wanner 1993, II.2: all up to the order hold, not all of the next one."""
    for i, row in enumerate(tableau.a):
        assert len(row) == i
        assert sum(row) == pytest.approx(tableau.c[i], abs=1e-15 * 30)  # entries of size up to 12
    wrong = {order: 0.0 for order in range(1, 7)}
    for order, weight, expected in conditions(tableau):
        wrong[order] = max(wrong[order], abs(np.dot(tableau.b, weight) - float(expected)))
    assert max(wrong[k] for k in range(1, tableau.order + 1)) < 1e-15
    assert tableau.order == 5 or wrong[tableau.order + 1] > 1e-3


def test_embedded_method_has_order_four() -> None:
    assert DORMAND_PRINCE.b_embedded is not None
    wrong = {4: 0.0, 5: 0.0}
    for order, weight, expected in conditions(DORMAND_PRINCE):
        error = abs(np.dot(DORMAND_PRINCE.b_embedded, weight) - float(expected))
        wrong[max(4, order)] = max(wrong[max(4, order)], error)
    assert wrong[4] < 1e-15
    assert wrong[5] > 1e-4


@pytest.mark.parametrize("theta", [0, 0.1, 0.37, 0.5, 0.9, 1])
def test_dense_output_has_order_four(theta: float) -> None:
    """The conditions at theta have theta to the power of the order on their right side."""
    b = DORMAND_PRINCE.weights(theta)
    for order, weight, expected in conditions(DORMAND_PRINCE):
        if order <= 4:
            # coefficients of size up to 10, powers of theta below 1
            assert np.dot(b, weight) == pytest.approx(float(expected) * theta**order, abs=2e-14)


def test_dense_output_meets_the_ends() -> None:
    h = 1e-6
    np.testing.assert_allclose(DORMAND_PRINCE.weights(1), DORMAND_PRINCE.b, atol=1e-14)
    assert DORMAND_PRINCE.weights(0) == [0] * 7
    # its rate is the first stage at the start, the last one at the end; differences of second order in h
    start = (4 * np.array(DORMAND_PRINCE.weights(h)) - np.array(DORMAND_PRINCE.weights(2 * h))) / (2 * h)
    end = np.array(DORMAND_PRINCE.weights(1 + h)) - np.array(DORMAND_PRINCE.weights(1 - h))
    np.testing.assert_allclose(start, [1, 0, 0, 0, 0, 0, 0], atol=1e-8)
    np.testing.assert_allclose(end / (2 * h), [0, 0, 0, 0, 0, 0, 1], atol=1e-8)


def test_last_stage_is_the_result() -> None:
    assert DORMAND_PRINCE.b == (*DORMAND_PRINCE.a[-1], 0)
    assert RK4.b != (*RK4.a[-1], 0)
    with pytest.raises(PliantError, match="'RK4' has no dense output"):
        RK4.weights(0.5)


# ---- on the manifold


@pytest.fixture(scope="module")
def references() -> dict[str, tuple]:
    return {name: exact(robot, vd, *state(robot, 1, speed)) for name, (robot, vd, speed) in CASES.items()}


@each_case
@each_tableau
def test_order_on_the_manifold(case: str, tableau: Tableau, references: dict) -> None:
    robot, acceleration, speed = CASES[case]
    run = kernel(robot, explicit_body(robot, tableau, acceleration))
    errors = []
    for steps in STEPS[tableau.name]:
        t, q, v = run(0.0, *state(robot, 1, speed), 0.5 / steps, steps=steps)
        assert t == pytest.approx(0.5)
        errors.append(distance(robot, (q, v), references[case]))
    assert errors[-1] > 2e-12, "rounding would hide the order"
    # the next term of the error changes the slope by a few percent at these steps
    assert min(slopes(errors)) > tableau.order - 0.3, errors
    # of order five the next term still has its part, and makes it better
    assert tableau.order == 5 or slopes(errors)[-1] < tableau.order + 0.3, errors


def test_a_torque_free_top_keeps_energy_and_momentum() -> None:
    q, v = state(TOP, 3, 3)
    run = kernel(TOP, explicit_body(TOP, RK4, free(TOP)))
    _, q1, v1 = run(0.0, q, v, 1e-3, steps=2000)
    # local errors of order 5, 2 s of a few rad/s
    assert kinetic_energy(TOP, q1, v1) == pytest.approx(kinetic_energy(TOP, q, v), rel=1e-9)
    momentum = [pliant.centroidal_momentum(TOP, *s) for s in ((q, v), (q1, v1))]
    np.testing.assert_allclose(momentum[1], momentum[0], atol=1e-9)
    assert np.linalg.norm(q1[3:]) == pytest.approx(1, abs=1e-14)


def test_a_steady_turn_is_exact() -> None:
    """About a principal axis nothing but the turn changes, however long the step."""
    q, v, _ = explicit_step(FREE, RK4, free(FREE), 0, [0.2], [3.0], 5)
    assert q == pytest.approx([15.2], abs=1e-14)
    assert v == [3]


# ---- scalars


@each_tableau
@pytest.mark.parametrize("robot", [SPHERICAL_PENDULUM, TOP], ids=lambda r: r.name)
def test_floats_interpreter_and_kernels_agree(tableau: Tableau, robot: Robot) -> None:
    q, v = state(robot, 4)
    expected = np.concatenate(explicit_step(robot, tableau, free(robot), 0.0, q.tolist(), v.tolist(), 0.02)[:2])
    graph = Graph()
    names = [f"x{k}" for k in range(robot.nq + robot.nv)]
    nodes = [graph.input(n) for n in names]
    traced = explicit_step(robot, tableau, free(robot), 0, nodes[: robot.nq], nodes[robot.nq :], 0.02)
    values = dict(zip(names, [*q, *v], strict=True))
    found = interpret([graph.lift(x) for x in (*traced[0], *traced[1])], values)
    # a few thousand operations of size ten at most
    np.testing.assert_allclose(found, expected, atol=1e-13)
    for precision, tolerance in (("float64", 1e-13), ("float32", 2e-5)):
        run = kernel(robot, explicit_body(robot, tableau, free(robot)), precision=precision)
        _, q1, v1 = run(0.0, q, v, 0.02, steps=1)
        np.testing.assert_allclose(np.concatenate([q1, v1]), expected, atol=tolerance)


def test_a_step_in_formulas() -> None:
    """Heun's method on a turning body without gravity, by hand."""
    q, v, h = sympy.symbols("q v h", real=True)
    q1, v1, stages = explicit_step(FREE, HEUN, lambda t, q, v: [-v[0]], 0, [q], [v], h)
    assert sympy.expand(v1[0] - (v - h * v + h**2 * v / 2)) == 0
    assert sympy.expand(q1[0] - (q + h * v - h**2 * v / 2)) == 0
    assert len(stages) == 2


def test_the_acceleration_reads_variables_of_the_program() -> None:
    def acceleration(t, q, v, u, gain):
        return [u[0] - gain[0] * v[0] + u[1] * t]

    pieces = explicit_body(TURNING, DORMAND_PRINCE, acceleration, reads=("u", "gain"))
    run = kernel(TURNING, pieces, reads=("dt", "u", "gain"), sizes={"u": 2, "gain": 1})
    gains = np.array([0.5, 1.0, 2.0])
    t, _, v = run(0.0, [0.0], [0.0], 0.01, [1.0, 0.0], gains, steps=100)
    # v = (1 - exp(-gain t)) / gain; error of order 5
    np.testing.assert_allclose(v[:, 0], (1 - np.exp(-gains)) / gains, atol=1e-11)
    np.testing.assert_allclose(t, 1, atol=1e-14)


# ---- implicit midpoint: order two, energy and momentum, reversal of time, stiff springs


def passive(robot: Robot):
    return lambda t, q, v: [0] * robot.nv


def solver(robot: Robot, force=None, linear=None, **options) -> Kernel:
    """A kernel of t, q, v, dt giving t, q, v, iterations, unsolved."""
    pieces = midpoint_body(robot, force or passive(robot), linear, **options)
    return kernel(robot, pieces, writes=("iterations", "unsolved"))


def drift(robot: Robot, run: Kernel, q: np.ndarray, v: np.ndarray, dt: float, seconds: float, looks: int) -> float:
    """The largest change of energy seen on the way, relative to the energy at the start."""
    first, worst, t = sum(pliant.energy(robot, q, v)), 0.0, 0.0
    for _ in range(looks):
        t, q, v, _, unsolved = run(t, q, v, dt, steps=round(seconds / dt / looks))
        assert unsolved == 0
        worst = max(worst, abs(float(sum(pliant.energy(robot, q, v)) - first)))
    return worst / abs(float(first))


@pytest.mark.parametrize("robot", [TOP, OFF_CENTRE, SPHERICAL_PENDULUM, PLANAR, DOUBLE_PENDULUM], ids=lambda r: r.name)
def test_order_two(robot: Robot) -> None:
    q, v = state(robot, 1)
    run, reference, errors = solver(robot), exact(robot, free(robot), q, v), []
    for steps in (80, 160, 320):
        t, q1, v1, _, unsolved = run(0.0, q, v, 0.5 / steps, steps=steps)
        assert unsolved == 0
        assert t == pytest.approx(0.5)
        errors.append(distance(robot, (q1, v1), reference))
    # the next term of the error is of order four: the slope is close
    assert slopes(errors) == pytest.approx([2, 2], abs=0.1), errors


def test_forces_in_time() -> None:
    """Taken in the middle of the step: v' = cos t has the error dt^2/24."""
    run = solver(FREE, lambda t, q, v: [pliant.math.cos(t)])
    _, _, v, _, _ = run(0.0, [0.0], [0.0], 0.01, steps=100)
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
    M = pliant.mass_matrix(FREE, [0.0])[0, 0]

    def energy(q, v):
        return 0.5 * M * v[0] ** 2 + 0.5 * K_STIFF * q[0] ** 2

    run = solver(FREE, spring, spring_linear)
    q, v = np.array([0.01]), np.array([0.0])
    _, q1, v1, iterations, unsolved = run(0.0, q, v, 1e-2, steps=1000)
    assert unsolved == 0
    assert iterations <= 4000
    # 1000 steps with corrections of eps k dt x / M
    assert energy(q1, v1) == pytest.approx(energy(q, v), rel=1e-9)


def test_stiff_dampers_bring_it_to_rest() -> None:
    run = solver(FREE, lambda t, q, v: [-1e5 * v[0]], lambda q, v: ([1e5], [0]))
    _, _, v, iterations, unsolved = run(0.0, [0.0], [1.0], 1e-4, steps=100)
    assert unsolved == 0
    assert iterations <= 400
    # v1 = (1 - x) / (1 + x) v with x = dt d / (2 M)
    x = 1e-4 * 1e5 / 2 / pliant.mass_matrix(FREE, [0.0])[0, 0]
    assert v[0] == pytest.approx(((1 - x) / (1 + x)) ** 100, rel=1e-9)


# ---- any FREE, scalars, batches, errors


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
    pieces = midpoint_body(
        FREE, lambda t, q, v, k: [-k[0] * q[0]], lambda q, v, k: ([0], [k[0]]), reads=("k",), iterations=9
    )
    run = kernel(FREE, pieces, reads=("dt", "k"), writes=("iterations", "unsolved"), sizes={"k": 1})
    stiffness = np.array([1.0, 100.0, 1e8])
    _, q, _, _, unsolved = run(0.0, [0.1], [0.0], 1e-3, stiffness, steps=500)
    assert not unsolved.any()
    M = pliant.mass_matrix(FREE, [0.0])[0, 0]
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
