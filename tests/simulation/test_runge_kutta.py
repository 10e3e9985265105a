"""Runge-Kutta methods: conditions of order, and the order that is seen on every kind of joint."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

import pliant
from moving_robots import CASES, SPHERICAL_PENDULUM, TOP, TURNING, distance, free, kernel, slopes, state
from pliant.errors import PliantError
from pliant.integrators.runge_kutta import DORMAND_PRINCE, HEUN, RK4, Tableau, explicit_body, explicit_step
from pliant.robot import Robot
from pliant.scalar import Graph
from pliant.scalar.evaluation import interpret

TABLEAUS = [HEUN, RK4, DORMAND_PRINCE]
# half a second in so many steps shows the order, above rounding
STEPS = {HEUN.name: (80, 160, 320), RK4.name: (80, 160, 320), DORMAND_PRINCE.name: (10, 20, 40)}
each_tableau = pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda t: t.name)
each_case = pytest.mark.parametrize("case", CASES)


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
    assert DORMAND_PRINCE.ends_with_result
    assert not RK4.ends_with_result
    with pytest.raises(PliantError, match="'RK4' has no dense output"):
        RK4.weights(0.5)


# ---- on the manifold


@pytest.fixture(scope="module")
def references() -> dict[str, tuple]:
    """States after half a second in steps of 1/8000 s by the method of order five: rounding is all that is left."""
    found = {}
    for name, (robot, acceleration, speed) in CASES.items():
        run = kernel(robot, explicit_body(robot, DORMAND_PRINCE, acceleration))
        found[name] = run(0.0, *state(robot, 1, speed), 0.5 / 4000, steps=4000)[1:]
    return found


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
    assert pliant.dynamics.kinetic_energy(TOP, q1, v1) == pytest.approx(
        pliant.dynamics.kinetic_energy(TOP, q, v), rel=1e-9
    )
    momentum = [pliant.centroidal_momentum(TOP, *s) for s in ((q, v), (q1, v1))]
    np.testing.assert_allclose(momentum[1], momentum[0], atol=1e-9)
    assert np.linalg.norm(q1[3:]) == pytest.approx(1, abs=1e-14)


def test_a_steady_turn_is_exact() -> None:
    """About a principal axis nothing but the turn changes, however long the step."""
    robot = TURNING.with_gravity(0, 0, 0)
    q, v, _ = explicit_step(robot, RK4, free(robot), 0, [0.2], [3.0], 5)
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
    robot = TURNING.with_gravity(0, 0, 0)
    q, v, h = sympy.symbols("q v h", real=True)
    q1, v1, stages = explicit_step(robot, HEUN, lambda t, q, v: [-v[0]], 0, [q], [v], h)
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
