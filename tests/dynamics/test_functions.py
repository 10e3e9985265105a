"""What the public functions refuse, and how they keep robots apart."""

import gc
import weakref

import numpy as np
import pytest
import sympy

import pliant.dynamics as dynamics
from pliant.catalogue.library import load
from pliant.dynamics import (
    RobotFunction, compile, forward_dynamics, frame_jacobian, frame_jacobian_rate, frame_pose, inverse_dynamics,
    mass_matrix, robot_function,
)  # fmt: skip
from pliant.errors import KernelError, PliantError, RobotError
from pliant.robot import Robot, RobotBuilder
from random_robots import robot_of, state_of

FUNCTIONS = [f for name in dynamics.__all__ if isinstance(f := getattr(dynamics, name), RobotFunction)]
each_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


@pytest.fixture(scope="module")
def robot() -> Robot:
    return robot_of(["revolute", "prismatic", "spherical"], [-1, 0, 1], np.random.default_rng(0))


def arguments(function: RobotFunction, robot: Robot, batch: int | None = None) -> list:
    sizes = {"q": robot.nq, "v": robot.nv, "vd": robot.nv, "tau": robot.nv, "force": robot.nv}
    lead = () if batch is None else (batch,)
    arrays = [np.ones((*lead, sizes[name])) for name in function.signature.parameters if name in sizes]
    return [*arrays, list(robot.frames)[-1]] if "frame" in function.signature.parameters else arrays


def parts(result) -> tuple:
    return result if isinstance(result, tuple) else (result,)


@each_function
def test_nan_stays_with_its_robot(function: RobotFunction, robot: Robot) -> None:
    robot = robot.with_motor("joint0", rotor_inertia=1).with_flexibility("joint0", stiffness=30)
    q = robot.random(0, batch=9)
    args = [q, *arguments(function, robot, 9)[1:]]
    clean = [p.copy() for p in parts(function(robot, *args))]
    q[4] = np.nan
    others = np.arange(9) != 4
    found = parts(function(robot, *args))
    for before, after in zip(clean, found, strict=True):
        np.testing.assert_array_equal(after[others], before[others])
    # velocities of motors and of one-axis springs do not depend on q
    by_q = [p for name, p in zip(getattr(found, "_fields", range(len(found))), found, strict=True)
            if name not in ("motor_velocity", "link_velocity", "deflection_rate")]  # fmt: skip
    assert all(np.isnan(after[4]).any() for after in by_q)


@each_function
def test_robots_that_cannot_move(function: RobotFunction) -> None:
    robot = RobotBuilder("rock").body("rock", mass=1).frame("top", "rock", (0, 0, 1)).build(strict=False)
    for batch in (None, 3):
        try:
            result = function(robot, *arguments(function, robot, batch))
        except RobotError as error:
            assert "nothing of it moves" in str(error)  # no centre of mass
            continue
        assert all(p.shape[:1] == (3,) for p in parts(result)) or batch is None
        assert not any(np.isnan(p).any() for p in parts(result))


def test_not_a_robot() -> None:
    with pytest.raises(PliantError, match=r"mass_matrix takes a Robot first, not str; see pliant\.load"):
        mass_matrix("anymal", [0.0])


@pytest.mark.parametrize("shape", [(5,), (7,), (3, 7), (2, 3, 6), (), (6, 1)])
def test_wrong_shapes(robot: Robot, shape: tuple[int, ...]) -> None:
    v = np.zeros(robot.nv)
    with pytest.raises(KernelError, match=r"inverse_dynamics: q has shape \(.*\); it takes \(6,\) or \(batch, 6\)"):
        inverse_dynamics(robot, np.zeros(shape), v, v)


def test_batches_that_differ(robot: Robot) -> None:
    with pytest.raises(KernelError, match="q has 3 robots but tau has 4"):
        forward_dynamics(robot, robot.random(0, batch=3), np.zeros(robot.nv), np.zeros((4, robot.nv)))


def test_symbolic_arguments_of_wrong_length(robot: Robot) -> None:
    with pytest.raises(KernelError, match="mass_matrix: q has 2 entries; random needs 6"):
        mass_matrix(robot, sympy.symbols("a b"))


@pytest.mark.parametrize("wrong", ["__import__('os').abort()", None, 1j, b"1", {}])
def test_entries_that_are_not_scalars(robot: Robot, wrong) -> None:
    """An array of objects may hold anything; SymPy would evaluate strings."""
    x = sympy.Symbol("x")
    for q in (np.array([*[0.1] * 5, wrong], dtype=object), [x, *[0.1] * 4, wrong]):
        with pytest.raises(KernelError) as error:
            mass_matrix(robot, q)
        assert (error.value.subject, error.value.field) == ("mass_matrix", "q")
        for function in (lambda q: robot.integrate(q, np.ones(robot.nv)), lambda q: robot.difference(q, q)):
            with pytest.raises(RobotError) as error:
                function(q)
            assert error.value.field in ("q", "q0")


def test_missing_and_unknown_arguments(robot: Robot) -> None:
    with pytest.raises(PliantError, match=r"forward_dynamics.*missing a required argument: 'tau'"):
        forward_dynamics(robot, np.zeros(6), np.zeros(5))
    with pytest.raises(PliantError, match="frame_pose has no argument 'frames'; it has frame, q"):
        compile(frame_pose, robot, frame="base", frames="base")
    with pytest.raises(PliantError, match="frame_pose has an argument 'frame'"):
        compile(frame_pose, robot)


def test_unknown_frames_list_near_names(robot: Robot) -> None:
    for function, args in ((frame_pose, []), (frame_jacobian, []), (frame_jacobian_rate, [np.zeros(robot.nv)])):
        with pytest.raises(RobotError, match=r"no frame named 'body_2' in robot 'random'; did you mean .*'body2'"):
            function(robot, robot.neutral(), *args, "body_2")
        with pytest.raises(RobotError, match=r"no frame named 'gripper' .*valid: .*'base', 'body0'"):
            compile(function, robot, frame="gripper")


def test_a_function_of_ones_own(robot: Robot) -> None:
    @robot_function
    def damped(robot, q, v, *, gain):
        return [-gain * rate for rate in v]

    state = state_of(robot, 3)
    np.testing.assert_allclose(damped(robot, state.q, state.v, gain=2), -2 * state.v)
    kernel = compile(lambda robot, q, target: [q[k] - target[k] for k in range(6)], robot, shapes={"target": 6})
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
