"""Joints with quaternions as chains of single joints: the same motion in other coordinates."""

import numpy as np
import pytest

import pliant
import symbolic_robots as small
from pliant.robot import Robot, RobotBuilder
from pliant.spatial import rotation_from_rpy
from pliant.spatial.vectors import quaternion_from_matrix
from pliant.symbolic.robots import with_single_joints


def brick() -> Robot:
    builder = RobotBuilder("brick").body("brick", mass=2, com=(0.1, 0, 0.2), inertia=(0.2, 0.01, 0, 0.3, 0, 0.25))
    builder.body("arm", mass=1, com=(0, 0, 0.3), inertia=(0.05, 0, 0, 0.05, 0, 0.01))
    return builder.joint("hinge", "revolute", "brick", "arm", (0.2, 0, 0), axis=(1, 0, 0)).build(base="free")


def disc() -> Robot:
    builder = RobotBuilder("disc").body("disc", mass=2, com=(0.1, 0.3, 0.2), inertia=(0.2, 0.01, 0, 0.3, 0, 0.25))
    return builder.joint("plane", "planar", "world", "disc", axis=(0, 1, 0)).build()


def quaternion_of(roll: float, pitch: float, yaw: float) -> list[float]:
    return list(quaternion_from_matrix(rotation_from_rpy(roll, pitch, yaw).matrix()))


def own_coordinates(robot: Robot, x: np.ndarray) -> np.ndarray:
    """q of the robot from the coordinates of the chain."""
    if robot.name == "brick":
        return np.array([*x[:3], *quaternion_of(*x[3:6][::-1]), *x[6:]])
    if robot.name == "ball":
        return np.array(quaternion_of(*x[::-1]))
    return np.array([x[0], x[1], np.cos(x[2]), np.sin(x[2])])


@pytest.mark.parametrize("robot", [brick(), small.ball(), disc()], ids=lambda r: r.name)
def test_the_same_motion(robot: Robot) -> None:
    chain = with_single_joints(robot, "euler")
    assert chain.nq == chain.nv == robot.nv
    rng = np.random.default_rng(5)
    x, rate = rng.uniform(-1, 1, chain.nv), rng.uniform(-1, 1, chain.nv)
    q = own_coordinates(robot, x)
    body = list(robot.bodies)[-1]
    np.testing.assert_allclose(pliant.frame_pose(chain, x, body), pliant.frame_pose(robot, q, body), rtol=0, atol=1e-14)
    # v = E xdot, column by column from the same small motion of both
    h = 1e-6
    E = np.stack([robot.difference(own_coordinates(robot, x - h * e), own_coordinates(robot, x + h * e)) / (2 * h)
                  for e in np.eye(chain.nv)], axis=1)  # fmt: skip
    # central differences: h^2 of truncation, 1e-16 / h of rounding
    close = {"rtol": 0, "atol": 1e-8}
    np.testing.assert_allclose(pliant.mass_matrix(chain, x), E.T @ pliant.mass_matrix(robot, q) @ E, **close)
    np.testing.assert_allclose(pliant.gravity_forces(chain, x), E.T @ pliant.gravity_forces(robot, q), **close)
    energies = pliant.dynamics.kinetic_energy(chain, x, rate), pliant.dynamics.kinetic_energy(robot, q, E @ rate)
    assert energies[0] == pytest.approx(energies[1], abs=1e-8)


@pytest.mark.parametrize("method", ["newton-euler", "projected", "lagrange"])
def test_equations_in_roll_pitch_and_yaw(method: str) -> None:
    robot = brick()
    eq = pliant.equations(robot, method, rotations="euler")
    assert list(eq.coordinates.meaning.values())[:7] == [
        "root_joint_x", "root_joint_y", "root_joint_z", "root_joint_yaw", "root_joint_pitch", "root_joint_roll",
        "hinge",
    ]  # fmt: skip
    rng = np.random.default_rng(6)
    x, v = rng.uniform(-1, 1, 7), rng.uniform(-1, 1, 7)
    numbers = dict(zip([*eq.q, *eq.v], [*x, *v], strict=True))
    found = np.array((eq.b + eq.g).subs(numbers).evalf().tolist(), dtype=float)[:, 0]
    # formulas of some hundred terms
    np.testing.assert_allclose(found, pliant.bias_forces(eq.robot, x, v), rtol=0, atol=1e-11)


def test_frames_motors_and_springs_stay() -> None:
    robot = brick().with_frame("tip", "arm", (0, 0, 1)).with_motor("hinge")
    chain = with_single_joints(robot, "euler")
    assert list(chain.motors) == ["hinge"]
    assert chain.frame("tip").body == "arm"


def test_what_cannot_be_done_is_told() -> None:
    oblique = RobotBuilder("disc").body("d", mass=1).joint("plane", "planar", "world", "d", axis=(1, 1, 0)).build()
    with pytest.raises(pliant.PliantError, match="planar joint 'plane' of 'disc' has an oblique normal"):
        with_single_joints(oblique, "euler")
    damped = small.ball().with_joint("socket", damping=0.1)
    with pytest.raises(pliant.PliantError, match="joint 'socket' of 'ball' has damping"):
        with_single_joints(damped, "euler")
