"""The scalar matrix: every function on floats, the interpreter, kernels of both precisions, and SymPy.

Floats are the reference: the other tests of this folder check them.
"""

from typing import Any

import numpy as np
import pytest
import sympy

import pliant.dynamics as dynamics
from pliant.compiler.tracing import flattened
from pliant.dynamics import RobotFunction, compile
from pliant.robot import Robot
from pliant.scalar import Expr, Graph
from pliant.scalar.evaluation import interpret
from random_robots import ALL, State, robot_of, state_of

FUNCTIONS = [f for name in dynamics.__all__ if isinstance(f := getattr(dynamics, name), RobotFunction)]
ARRAYS = ("q", "v", "vd", "tau", "force")
each_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


@pytest.fixture(scope="module")
def robot() -> Robot:
    """A floating robot with a joint of every kind, a mimic joint, branches and oblique axes."""
    kinds, parents = [*ALL, "revolute", "revolute"], [-1, 0, 1, 1, 3, 3, 2, 6, 7, -1]
    made = robot_of(kinds, parents, np.random.default_rng(11), mimic=True, floating=True)
    assert made.mechanism.has_mimic
    assert {j.kind.name for j in made.joints.values()} == set(ALL)
    driven = next(j.name for j in made.joints.values() if j.kind.name == "revolute" and j.mimic is None)
    return made.with_motor(driven, rotor_inertia=10).with_flexibility(driven, stiffness=(30, 40, 50), damping=1)


def arguments(function: RobotFunction, state: State) -> list[str]:
    return [name for name in function.signature.parameters if name in ARRAYS]


def values(function: RobotFunction, state: State) -> list[np.ndarray]:
    given = {**state._asdict(), "force": state.tau}
    return [given[name] for name in arguments(function, state)]


def options(function: RobotFunction, robot: Robot) -> dict[str, Any]:
    return {"frame": list(robot.frames)[-1]} if "frame" in function.signature.parameters else {}


def numbers(result: Any) -> np.ndarray:
    """All the numbers of a result, side by side; a tuple part after part."""
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.array(flattened(p)[0], dtype=float) for p in parts])


def reference(function: RobotFunction, robot: Robot, state: State) -> np.ndarray:
    lists = [x.tolist() for x in values(function, state)]
    return numbers(function.algorithm(robot, *lists, **options(function, robot)))


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * abs(expected).max())


@each_function
def test_interpreter(function: RobotFunction, robot: Robot) -> None:
    graph, state = Graph(), state_of(robot, 1)
    given, traced = {}, []
    for name, array in zip(arguments(function, state), values(function, state), strict=True):
        nodes = [graph.input(f"{name}[{k}]") for k in range(len(array))]
        given.update({node.value: x for node, x in zip(nodes, array.tolist(), strict=True)})
        traced.append(nodes)
    result = function(robot, *traced, **options(function, robot))
    parts = result if isinstance(result, tuple) else (result,)
    scalars = [s for p in parts for s in flattened(p)[0]]
    found = interpret([s if isinstance(s, Expr) else graph.constant(s) for s in scalars], given)
    # the same operations, in another order where the graph reuses one
    close(np.array(found, dtype=float), reference(function, robot, state), 1e-13)


@each_function
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-13), ("float32", 2e-5)])
def test_kernels(function: RobotFunction, robot: Robot, precision: str, tolerance: float) -> None:
    # tolerances: ten times the worst found, which is where M is inverted
    kernel = compile(function, robot, precision=precision, **options(function, robot))
    states = [state_of(robot, seed) for seed in range(3)]
    batch = [np.stack(rows).astype(precision) for rows in zip(*(values(function, s) for s in states), strict=True)]
    results = kernel(*batch)
    for k, state in enumerate(states):
        alone = kernel(*(rows[k] for rows in batch))
        parts = results if isinstance(results, tuple) else (results,)
        # one robot alone is the same robot in a batch, bit for bit
        np.testing.assert_array_equal(numbers(tuple(p[k] for p in parts)), numbers(alone))
        assert all(p.dtype == precision for p in parts)
        close(numbers(alone), reference(function, robot, state), tolerance)


@each_function
def test_public_call_compiles(function: RobotFunction, robot: Robot) -> None:
    state = state_of(robot, 5)
    found = function(robot, *values(function, state), **options(function, robot))
    close(numbers(found), reference(function, robot, state), 1e-13)


@each_function
def test_sympy(function: RobotFunction) -> None:
    robot = robot_of(["revolute", "prismatic", "revolute"], [-1, 0, 0], np.random.default_rng(2), mimic=False)
    robot = robot.with_motor("joint1", rotor_inertia=1)
    state = state_of(robot, 7)
    names = arguments(function, state)
    symbols = [sympy.symbols([f"{name}{k}" for k in range(robot.nv)], real=True) for name in names]
    result = function(robot, *symbols, **options(function, robot))
    parts = result if isinstance(result, tuple) else (result,)
    formulas = [sympy.sympify(s) for p in parts for s in flattened(p)[0]]
    flat = [s for group in symbols for s in group]
    found = sympy.lambdify(flat, formulas, "math", cse=True)(*np.concatenate(values(function, state)).tolist())
    close(np.array(found, dtype=float), reference(function, robot, state), 1e-11)
    # formulas, not numbers in disguise
    assert any(f.free_symbols for f in formulas)
