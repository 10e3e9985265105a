"""The public functions: on floats, the interpreter, kernels and SymPy; what they refuse; how they keep robots apart.

Floats are the reference: the other tests of this folder check them.
"""

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import sympy

import pliant.dynamics as dynamics
from pliant.compiler.tracing import flattened
from pliant.catalogue.library import load
from pliant.dynamics import (
    RobotFunction, compile, forward_dynamics, frame_jacobian, frame_jacobian_rate, frame_pose, inverse_dynamics,
    mass_matrix, robot_function,
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


@pytest.fixture(scope="module")
def arm() -> Robot:
    return robot_of(["revolute", "prismatic", "spherical"], [-1, 0, 1], np.random.default_rng(0))


@each_function
def test_nan_stays_with_its_robot(function: RobotFunction, arm: Robot) -> None:
    arm = arm.with_motor("joint0", rotor_inertia=1).with_flexibility("joint0", stiffness=30)
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


def test_not_a_robot() -> None:
    with pytest.raises(PliantError, match=r"mass_matrix takes a Robot first, not str; see pliant\.load"):
        mass_matrix("anymal", [0.0])


@pytest.mark.parametrize("shape", [(5,), (7,), (3, 7), (2, 3, 6), (), (6, 1)])
def test_wrong_shapes(arm: Robot, shape: tuple[int, ...]) -> None:
    v = np.zeros(arm.nv)
    with pytest.raises(KernelError, match=r"inverse_dynamics: q has shape \(.*\); it takes \(6,\) or \(batch, 6\)"):
        inverse_dynamics(arm, np.zeros(shape), v, v)


def test_batches_that_differ(arm: Robot) -> None:
    with pytest.raises(KernelError, match="q has 3 robots but tau has 4"):
        forward_dynamics(arm, arm.random(0, batch=3), np.zeros(arm.nv), np.zeros((4, arm.nv)))


def test_symbolic_arguments_of_wrong_length(arm: Robot) -> None:
    with pytest.raises(KernelError, match="mass_matrix: q has 2 entries; random needs 6"):
        mass_matrix(arm, sympy.symbols("a b"))


@pytest.mark.parametrize("wrong", ["__import__('os').abort()", None, 1j, b"1", {}])
def test_entries_that_are_not_scalars(arm: Robot, wrong) -> None:
    """An array of objects may hold anything; SymPy would evaluate strings."""
    x = sympy.Symbol("x")
    for q in (np.array([*[0.1] * 5, wrong], dtype=object), [x, *[0.1] * 4, wrong]):
        with pytest.raises(KernelError) as error:
            mass_matrix(arm, q)
        assert (error.value.subject, error.value.field) == ("mass_matrix", "q")
        for function in (lambda q: arm.integrate(q, np.ones(arm.nv)), lambda q: arm.difference(q, q)):
            with pytest.raises(RobotError) as error:
                function(q)
            assert error.value.field in ("q", "q0")


def test_missing_and_unknown_arguments(arm: Robot) -> None:
    with pytest.raises(PliantError, match=r"forward_dynamics.*missing a required argument: 'tau'"):
        forward_dynamics(arm, np.zeros(6), np.zeros(5))
    with pytest.raises(PliantError, match="frame_pose has no argument 'frames'; it has frame, q"):
        compile(frame_pose, arm, frame="base", frames="base")
    with pytest.raises(PliantError, match="frame_pose has an argument 'frame'"):
        compile(frame_pose, arm)


def test_unknown_frames_list_near_names(arm: Robot) -> None:
    for function, args in ((frame_pose, []), (frame_jacobian, []), (frame_jacobian_rate, [np.zeros(arm.nv)])):
        with pytest.raises(RobotError, match=r"no frame named 'body_2' in robot 'random'; did you mean .*'body2'"):
            function(arm, arm.neutral(), *args, "body_2")
        with pytest.raises(RobotError, match=r"no frame named 'gripper' .*valid: .*'base', 'body0'"):
            compile(function, arm, frame="gripper")


def test_a_function_of_ones_own(arm: Robot) -> None:
    @robot_function
    def damped(robot, q, v, *, gain):
        return [-gain * rate for rate in v]

    state = state_of(arm, 3)
    np.testing.assert_allclose(damped(arm, state.q, state.v, gain=2), -2 * state.v)
    kernel = compile(lambda robot, q, target: [q[k] - target[k] for k in range(6)], arm, shapes={"target": 6})
    np.testing.assert_allclose(kernel(state.q, np.ones(6)), state.q - 1)


def test_robots_and_their_kernels_are_let_go() -> None:
    robot = load("pendulum")
    forward_dynamics(robot, [0.1], [0.0], [0.0])
    gone = weakref.ref(robot)
    del robot
    gc.collect()
    assert gone() is None


def test_options_that_cannot_be_options() -> None:
    robot = load("two_link_arm")
    with pytest.raises(PliantError, match="plain values"):
        frame_pose(robot, robot.neutral(), {"tip"})


def test_arguments_that_make_no_sense() -> None:
    robot = load("two_link_arm")
    with pytest.raises(PliantError, match=r"forward_dynamics: q is None; give an array of shape \(2,\)"):
        forward_dynamics(robot, None, [0, 0], [0, 0])
    for wrt in ((), ("q", "q")):
        with pytest.raises(PliantError, match="the name of one argument, or several different ones"):
            dynamics.jacobian(forward_dynamics, robot, wrt)
    for threads in (0, 1.5, "x"):
        with pytest.raises(KernelError, match="threads is"):
            compile(forward_dynamics, robot, threads=threads)  # type: ignore[arg-type]


def test_a_robot_with_symbols_cannot_be_compiled() -> None:
    builder = RobotBuilder("rod").body("rod", mass=sympy.Symbol("m"), com=(0, 0, -1))
    robot = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    with pytest.raises(PliantError, match=r"the symbol .*m.* cannot be compiled; call the function with symbols"):
        mass_matrix(robot, [0.1])
