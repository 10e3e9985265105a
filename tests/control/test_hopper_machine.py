"""What the controller reads from a robot, and what it sees of a state."""

import numpy as np
import pytest

import pliant
from pliant.control import HopperMachine
from pliant.robot import Robot

HOPPER = pliant.load("hopper")
HIP = ("hip_roll", "hip_pitch")
MACHINE = HopperMachine.of(HOPPER, HIP, "leg")


def states(count: int) -> tuple[np.ndarray, np.ndarray]:
    q = HOPPER.random(1, batch=count)
    q[:, 7:9] *= 0.9
    q[:, 9:] = np.random.default_rng(2).uniform(-0.1, 0.1, (count, 2))
    return q, np.random.default_rng(3).standard_normal((count, 10))


def test_numbers_of_the_machine() -> None:
    assert MACHINE.q_places == (7, 8, 9, 10)
    assert MACHINE.v_places == (6, 7, 8, 9)
    assert MACHINE.u_places == (0, 1, 2)
    assert (MACHINE.mass, MACHINE.unsprung) == (HOPPER.mass, 0.25)
    assert (MACHINE.stiffness, MACHINE.damping) == (7000, 35)
    assert (MACHINE.length, MACHINE.gravity) == pytest.approx((0.6, 9.81))


def test_what_is_seen_is_what_dynamics_says() -> None:
    for q, v in zip(*states(20), strict=True):
        seen = MACHINE.measured(q.tolist(), v.tolist())
        body = pliant.frame_velocity(HOPPER, q, v, "body", reference="local_world_aligned")
        np.testing.assert_allclose(list(seen.velocity), body[:3], atol=1e-12)
        hip, foot = (pliant.frame_pose(HOPPER, q, name)[:3, 3] for name in ("body", "foot"))
        assert MACHINE.height(seen) == pytest.approx(hip[2] - foot[2], abs=1e-12)
        R = pliant.frame_pose(HOPPER, q, "body")[:3, :3]
        np.testing.assert_allclose(list(MACHINE.foot(seen)), R.T @ (foot - hip), atol=1e-12)
        np.testing.assert_allclose(seen.tilt, [R[2, 1], -R[2, 0]], atol=1e-12)
        state = pliant.actuation.flexibility_state(HOPPER, q, v)
        assert seen.push == pytest.approx(float(state.spring_force[0]), abs=1e-9)


def test_tilt_is_roll_and_pitch_whatever_the_heading() -> None:
    for yaw in (0.0, 1.0, -2.5):
        turn = np.array([0, 0, np.sin(yaw / 2), np.cos(yaw / 2)])
        for axis, expected in ((0, (0.1, 0)), (1, (0, 0.1))):
            w = np.zeros(10)
            w[3 + axis] = 0.1
            q = HOPPER.neutral()
            q[3:7] = turn
            seen = MACHINE.measured(HOPPER.integrate(q, w).tolist(), [0.0] * 10)
            np.testing.assert_allclose(seen.tilt, np.sin(expected), atol=1e-12)


def test_the_hip_puts_the_foot_where_it_is_told() -> None:
    q, v = states(20)
    q[:, 3:7] = [0.05, -0.08, 0.3, 0.95] / np.linalg.norm([0.05, -0.08, 0.3, 0.95])
    for k, (x, y) in enumerate(np.random.default_rng(4).uniform(-0.2, 0.2, (20, 2))):
        seen = MACHINE.measured(q[k].tolist(), v[k].tolist())
        q[k, 7:9] = MACHINE.hip_towards(seen, x, y)
        reached = pliant.frame_pose(HOPPER, q[k], "foot")[:3, 3] - q[k, :3]
        np.testing.assert_allclose(reached[:2], [x, y], atol=1e-12)
        assert reached[2] < 0


def changed(**values: object) -> Robot:
    return HOPPER.with_motor("hip_roll", **values)


@pytest.mark.parametrize(
    ("robot", "hip", "leg", "message"),
    [
        (pliant.load("pendulum"), HIP, "leg", "robot 'pendulum' has a fixed base"),
        (
            HOPPER,
            ("hip_rol", "hip_pitch"),
            "leg",
            "no joint named 'hip_rol' in robot 'hopper'",
        ),
        (HOPPER, ("hip_pitch", "hip_roll"), "leg", r"joint 'hip_pitch' .* it must be Revolute\(axis=\(1, 0, 0\)\)"),
        (HOPPER, HIP, "hip_roll", r"it must be Prismatic\(axis=\(0, 0, -1\)\)"),
        (
            changed(control="position", kp=80),
            HIP,
            "leg",
            "has no motor under torque control",
        ),
    ],
)
def test_another_robot_is_an_error(robot: Robot, hip: tuple[str, str], leg: str, message: str) -> None:
    with pytest.raises(pliant.RobotError, match=message):
        pliant.control.raibert(robot, hip=hip, leg=leg)


def without_spring(foot: tuple[float, float, float]) -> Robot:
    builder = pliant.RobotBuilder("stiff").body("body", 15, inertia=(1, 0, 0, 1, 0, 1))
    builder.body("cross").body("tube", 1, inertia=(1, 0, 0, 1, 0, 1)).body("foot", 1)
    builder.joint("hip_roll", "revolute", "body", "cross", axis=(1, 0, 0))
    builder.joint("hip_pitch", "revolute", "cross", "tube", axis=(0, 1, 0))
    builder.joint("leg", "prismatic", "tube", "foot", foot, axis=(0, 0, -1))
    for name in (*HIP, "leg"):
        builder.motor(name, rotor_inertia=1)
    return builder.build(base="free")


def test_a_leg_without_a_spring_is_an_error() -> None:
    with pytest.raises(pliant.RobotError) as error:
        pliant.control.raibert(without_spring((0, 0, -1)))
    assert (error.value.subject, error.value.field) == ("joint 'leg'", "flexibility")
    assert str(error.value.fault.call) == "robot.with_flexibility('leg', stiffness=...)"
    aside = without_spring((0.1, 0, -1)).with_flexibility("leg", stiffness=1)
    with pytest.raises(pliant.RobotError, match="it must be straight below"):
        pliant.control.raibert(aside)
