"""Terms by way of the expression graph: those of SymPy, for every method, in numbers and in symbols."""

import numpy as np
import pytest
import sympy

import pliant
import symbolic_robots as small
from pliant.symbolic.coordinates import coordinates_of
from pliant.symbolic.methods import METHODS, traced_terms
from random_robots import state_of

ROBOTS = {
    "cart-pole": small.cart_pole(),
    "two-link arm": small.two_link_arm(),
    "arm on a column": small.shoulder_and_elbow(),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_terms_are_those_of_sympy(robot: pliant.Robot, method: str) -> None:
    own = coordinates_of(robot)
    found, expected = traced_terms(method, robot, own.q, own.v), METHODS[method](robot, own.q, own.v)
    flat = [[*(e for row in terms.M for e in row), *terms.b, *terms.g] for terms in (found, expected)]
    symbols = sorted(set().union(*(sympy.sympify(e).free_symbols for e in flat[0])), key=str)
    rng = np.random.default_rng(6)
    both = sympy.lambdify(symbols, flat, cse=True)
    for _ in range(3):
        one, two = both(*rng.uniform(0.5, 1.5, len(symbols)))
        # some hundred operations on numbers up to a hundred
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name, method", [("biped", "newton-euler"), ("acrobot", "projected"), ("arm7", "lagrange")])
def test_robots_without_simplification(name: str, method: str) -> None:
    robot = pliant.load(name)
    eq, state = pliant.equations(robot, method, simplify=False), state_of(robot, 3)
    namespace: dict = {}
    exec(eq.python("dynamics"), namespace)
    M, b, g, _ = namespace["dynamics"](state.q, state.v, [0] * robot.nu)
    h = pliant.bias_forces(robot, state.q, state.v)
    # thousands of operations
    np.testing.assert_allclose(M, pliant.mass_matrix(robot, state.q), rtol=0, atol=1e-11)
    np.testing.assert_allclose(np.add(b, g), h, rtol=0, atol=1e-11 * max(1, abs(h).max()))


def test_symbols_of_a_robot_stay_symbols() -> None:
    eq = pliant.equations(pliant.load("two_link_arm"), parameters="all", simplify=False)
    assert {s.name for s in eq.parameters} >= {"m_forearm", "l_elbow", "g", "I_forearm_yy"}
    tidy = pliant.equations(pliant.load("two_link_arm"), parameters="all")
    numbers = {s: 0.3 + 0.1 * k for k, s in enumerate([*tidy.q, *tidy.v, *tidy.parameters])}
    for a, b in zip([*eq.M, *eq.b, *eq.g], [*tidy.M, *tidy.b, *tidy.g], strict=True):
        assert float((a - b).subs(numbers)) == pytest.approx(0, abs=1e-13)


def test_lagrange_still_needs_minimal_coordinates() -> None:
    with pytest.raises(pliant.PliantError, match="rotations='euler'"):
        pliant.equations(small.ball(), "lagrange", simplify=False)
