"""The public functions: on floats, the interpreter, kernels and SymPy; what they refuse; how they keep robots apart.

Floats are the reference: the other tests of this folder check them.
"""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import pliant.dynamics as dynamics
from pliant.compiler.tracing import flattened
from pliant.catalogue.library import load
from pliant.dynamics import (
    RobotFunction, compile, forward_dynamics, frame_acceleration, frame_jacobian, frame_jacobian_rate, frame_pose,
    frame_velocity, inverse_dynamics, mass_matrix, robot_function,
)  # fmt: skip
from pliant.errors import KernelError, PliantError, RobotError
from pliant.robot import Robot, RobotBuilder
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


def arguments(function: RobotFunction) -> list[str]:
    return [name for name in function.signature.parameters if name in ARRAYS]


def values(function: RobotFunction, state: State) -> list[np.ndarray]:
    return [{**state._asdict(), "force": state.tau}[name] for name in arguments(function)]


def batch(function: RobotFunction, robot: Robot, count: int) -> list[np.ndarray]:
    return [np.stack(x) for x in zip(*(values(function, state_of(robot, k)) for k in range(count)), strict=True)]


def options(function: RobotFunction, robot: Robot) -> dict[str, Any]:
    return {"frame": robot.frames[-1].name} if "frame" in function.signature.parameters else {}


def parts(result: Any) -> tuple:
    return result if isinstance(result, tuple) else (result,)


def numbers(result: Any) -> np.ndarray:
    """All the numbers of a result, side by side; a tuple part after part."""
    return np.concatenate([np.array(flattened(p)[0], dtype=float) for p in parts(result)])


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * abs(expected).max())


def reference(function: RobotFunction, robot: Robot, state: State) -> np.ndarray:
    lists = [x.tolist() for x in values(function, state)]
    return numbers(function.algorithm(robot, *lists, **options(function, robot)))


@each_function
def test_interpreter(function: RobotFunction, robot: Robot) -> None:
    graph, state = Graph(), state_of(robot, 1)
    given, traced = {}, []
    for name, array in zip(arguments(function), values(function, state), strict=True):
        nodes = [graph.input(f"{name}[{k}]") for k in range(len(array))]
        given.update({node.value: x for node, x in zip(nodes, array.tolist(), strict=True)})
        traced.append(nodes)
    result = function(robot, *traced, **options(function, robot))
    scalars = [s for p in parts(result) for s in flattened(p)[0]]
    found = interpret([s if isinstance(s, Expr) else graph.constant(s) for s in scalars], given)
    # the same operations, in another order where the graph reuses one
    close(np.array(found, dtype=float), reference(function, robot, state), 1e-13)


@each_function
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-13), ("float32", 2e-5)])
def test_kernels(function: RobotFunction, robot: Robot, precision: str, tolerance: float) -> None:
    # tolerances: ten times the worst found, which is where M is inverted
    kernel = compile(function, robot, precision=precision, **options(function, robot))
    rows = [x.astype(precision) for x in batch(function, robot, 3)]
    results = kernel(*rows)
    for k in range(3):
        alone = kernel(*(x[k] for x in rows))
        # one robot alone is the same robot in a batch, bit for bit
        np.testing.assert_array_equal(numbers(tuple(p[k] for p in parts(results))), numbers(alone))
        assert all(p.dtype == precision for p in parts(results))
        close(numbers(alone), reference(function, robot, state_of(robot, k)), tolerance)


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
    names = arguments(function)
    symbols = [sympy.symbols([f"{name}{k}" for k in range(robot.nv)], real=True) for name in names]
    result = function(robot, *symbols, **options(function, robot))
    formulas = [sympy.sympify(s) for p in parts(result) for s in flattened(p)[0]]
    flat = [s for group in symbols for s in group]
    found = sympy.lambdify(flat, formulas, "math", cse=True)(*np.concatenate(values(function, state)).tolist())
    close(np.array(found, dtype=float), reference(function, robot, state), 1e-11)
    # formulas, not numbers in disguise
    assert any(f.free_symbols for f in formulas)


# ---- what they refuse, and how they keep robots apart


ARM = robot_of(["revolute", "prismatic", "spherical"], [-1, 0, 1], np.random.default_rng(0))
ROD = RobotBuilder("rod").body("rod", mass=sympy.Symbol("m"), com=(1, 0, 0)).joint("hinge", "revolute", "world", "rod")
NONE = np.zeros(5)


@each_function
def test_nan_stays_with_its_robot(function: RobotFunction) -> None:
    arm = ARM.with_motor("joint0", rotor_inertia=1).with_flexibility("joint0", stiffness=30)
    given = batch(function, arm, 9)
    clean = [p.copy() for p in parts(function(arm, *given, **options(function, arm)))]
    given[0][4] = np.nan
    others = np.arange(9) != 4
    found = parts(function(arm, *given, **options(function, arm)))
    for before, after in zip(clean, found, strict=True):
        np.testing.assert_array_equal(after[others], before[others])
    # velocities of motors and of one-axis springs do not depend on q
    by_q = [p for name, p in zip(getattr(found, "_fields", range(len(found))), found, strict=True)
            if name not in ("motor_velocity", "link_velocity", "deflection_rate")]  # fmt: skip
    assert all(np.isnan(after[4]).any() for after in by_q)


@each_function
def test_robots_that_cannot_move(function: RobotFunction) -> None:
    robot = RobotBuilder("rock").body("rock", mass=1).frame("top", "rock", (0, 0, 1)).build(strict=False)
    for given, lead in ((values(function, state_of(robot, 0)), ()), (batch(function, robot, 3), (3,))):
        try:
            result = function(robot, *given, **options(function, robot))
        except RobotError as error:
            assert "nothing of it moves" in str(error)  # no centre of mass
            continue
        assert all(p.shape[: len(lead)] == lead and not np.isnan(p).any() for p in parts(result))


NEAR = r"no frame named 'body_2' in robot 'random'; did you mean .*'body2'"
FAR = r"no frame named 'gripper' .*valid: .*'base', 'body0'"


@pytest.mark.parametrize(("call", "kind", "message"), [
    (lambda: mass_matrix("anymal", [0.0]), PliantError, r"mass_matrix takes a Robot first, not str; see pliant\.load"),
    *((lambda shape=shape: inverse_dynamics(ARM, np.zeros(shape), NONE, NONE), KernelError,
       r"inverse_dynamics: q has shape \(.*\); it takes \(6,\) or \(batch, 6\)")
      for shape in [(5,), (7,), (3, 7), (2, 3, 6), (), (6, 1)]),
    (lambda: forward_dynamics(ARM, ARM.random(0, batch=3), NONE, np.zeros((4, 5))), KernelError,
     "q has 3 robots but tau has 4"),
    (lambda: forward_dynamics(ARM, None, NONE, NONE), PliantError,
     r"forward_dynamics: q is None; give an array of shape \(6,\)"),
    (lambda: mass_matrix(ARM, sympy.symbols("a b")), KernelError, "mass_matrix: q has 2 entries; random needs 6"),
    (lambda: forward_dynamics(ARM, np.zeros(6), NONE), PliantError,
     r"forward_dynamics.*missing a required argument: 'tau'"),
    (lambda: compile(frame_pose, ARM, frame="base", frames="base"), PliantError,
     "frame_pose has no argument 'frames'; it has frame, q"),
    (lambda: compile(frame_pose, ARM), PliantError, "frame_pose has an argument 'frame'"),
    (lambda: frame_pose(ARM, ARM.neutral(), {"tip"}), PliantError, "plain values"),
    (lambda: frame_pose(ARM, ARM.neutral(), "body_2"), RobotError, NEAR),
    (lambda: frame_jacobian(ARM, ARM.neutral(), "body_2"), RobotError, NEAR),
    (lambda: frame_jacobian_rate(ARM, ARM.neutral(), NONE, "body_2"), RobotError, NEAR),
    *((lambda function=function: compile(function, ARM, frame="gripper"), RobotError, FAR)
      for function in (frame_pose, frame_jacobian, frame_jacobian_rate)),
    (lambda: frame_velocity(ARM, ARM.neutral(), NONE, "base", reference="body"), PliantError,
     r"reference is 'body'.*'local_world_aligned'"),
    (lambda: frame_jacobian(ARM, ARM.neutral(), "base", reference="global"), PliantError,
     "reference is 'global'; it takes 'world', 'local' or 'local_world_aligned'"),
    (lambda: frame_acceleration(ARM, ARM.neutral(), NONE, NONE, "base", kind="proper"), PliantError,
     "kind is 'proper'; it takes 'classical' or 'spatial'"),
    *((lambda wrt=wrt: dynamics.jacobian(forward_dynamics, ARM, wrt), PliantError,
       "the name of one argument, or several different ones") for wrt in ((), ("q", "q"))),
    *((lambda threads=threads: compile(forward_dynamics, ARM, threads=threads), KernelError, "threads is")
      for threads in (0, 1.5, "x")),
    (lambda: mass_matrix(ROD.build(), [0.1]), PliantError,
     r"the symbol .*m.* cannot be compiled; call the function with symbols"),
])  # fmt: skip
def test_calls_that_make_no_sense(call: Callable[[], object], kind: type[PliantError], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("wrong", ["__import__('os').abort()", None, 1j, b"1", {}])
def test_entries_that_are_not_scalars(wrong) -> None:
    """An array of objects may hold anything; SymPy would evaluate strings."""
    x = sympy.Symbol("x")
    for q in (np.array([*[0.1] * 5, wrong], dtype=object), [x, *[0.1] * 4, wrong]):
        with pytest.raises(KernelError) as error:
            mass_matrix(ARM, q)
        assert (error.value.subject, error.value.field) == ("mass_matrix", "q")
        for function in (lambda q: ARM.integrate(q, np.ones(ARM.nv)), lambda q: ARM.difference(q, q)):
            with pytest.raises(RobotError) as error:
                function(q)
            assert error.value.field in ("q", "q0")


def test_a_function_of_ones_own() -> None:
    @robot_function
    def damped(robot, q, v, *, gain):
        return [-gain * rate for rate in v]

    state = state_of(ARM, 3)
    np.testing.assert_allclose(damped(ARM, state.q, state.v, gain=2), -2 * state.v)
    kernel = compile(lambda robot, q, target: [q[k] - target[k] for k in range(6)], ARM, shapes={"target": 6})
    np.testing.assert_allclose(kernel(state.q, np.ones(6)), state.q - 1)


def test_robots_and_their_kernels_are_let_go() -> None:
    robot = load("pendulum")
    forward_dynamics(robot, [0.1], [0.0], [0.0])
    gone = weakref.ref(robot)
    del robot
    gc.collect()
    assert gone() is None
