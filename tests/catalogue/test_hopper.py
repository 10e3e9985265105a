"""The shipped robot that hops: what its tables say, its spring in series, and the robot in flight behind it."""

from math import pi, sqrt

import numpy as np
import pytest

import pliant
from pliant.robot import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return pliant.load("hopper")


def test_it_is_as_its_tables_say(robot: Robot) -> None:
    assert "hopper" in pliant.robots()
    assert (robot.name, robot.nq, robot.nv, robot.nu) == ("hopper", 11, 10, 3)
    assert list(robot.report) == []
    assert list(robot.motors) == ["hip_roll", "hip_pitch", "leg"]
    assert robot.coordinate_names[7:] == ("hip_roll", "hip_pitch", "leg_flexibility", "leg")
    assert [robot.bodies[name].inertia.mass for name in ("body", "cross", "tube", "foot")] == [15, 0.6, 1.2, 0.25]
    assert robot.mass == pytest.approx(17.05)
    assert [m.effort_limit for m in robot.motors.values()] == [90, 90, 1800]
    assert [m.armature for m in robot.motors.values()] == pytest.approx([0.04, 0.04, 1.8])
    assert robot.contacts["foot"].radius == 0.03
    spring = robot.joints["leg_flexibility"]
    assert (spring.stiffness, spring.damping) == ((7000,), (35,))


def test_the_foot_is_at_the_end_of_the_leg(robot: Robot) -> None:
    q = robot.neutral()
    np.testing.assert_allclose(pliant.frame_pose(robot, q, "foot")[:3, 3], [0, 0, -0.6], atol=1e-15)
    q[9:] = -0.05, 0.02  # compressed, and longer by the motor
    np.testing.assert_allclose(pliant.frame_pose(robot, q, "foot")[:3, 3], [0, 0, -0.57], atol=1e-15)


def test_spring_and_motor_are_in_series(robot: Robot) -> None:
    """M = [[I, I], [I, I + J]] of the two, with I the foot's mass and J what is felt of the rotor."""
    M = pliant.mass_matrix(robot, robot.neutral())[8:, 8:]
    np.testing.assert_allclose(M, [[0.25, 0.25], [0.25, 2.05]], atol=1e-14)


def test_a_stance_takes_what_it_should(robot: Robot) -> None:
    """Some 0.15 to 0.2 s, by the closed form of a mass on a spring, for hops of 0.1 to 0.3 m."""
    w = sqrt(7000 / robot.mass)
    for height in (0.1, 0.2, 0.3):
        time = (pi + 2 * np.arctan(9.81 / (w * sqrt(2 * 9.81 * height)))) / w
        assert 0.15 < time < 0.2


def test_in_flight_it_is_the_robot_from_the_table() -> None:
    """With a foot that is a point and a leg that weighs nothing else: M, with the free motion of the hip taken out.

    Coordinates of body and leg differ, so that entries are compared for a leg that hangs straight down.
    """
    robot = pliant.load("hopper")
    builder = pliant.RobotBuilder("light")
    builder.body("body", 15, inertia=(0.6, 0, 0, 0.7, 0, 0.8)).body("cross").body("tube").body("foot", 0.25)
    for name in ("hip_roll", "hip_pitch", "leg"):
        j = robot.joints[name]
        parent = "tube" if name == "leg" else j.parent
        position = (0, 0, -0.6) if name == "leg" else (0, 0, 0)
        builder.joint(name, j.kind, parent, j.child, position)
    light = builder.build(base="free")
    table = pliant.catalogue.hopper_flight(Ixx=0.6, Iyy=0.7, Izz=0.8, m2=15 * 0.25 / 15.25, l2=0.6)
    rng = np.random.default_rng(1)
    for _ in range(5):
        d = rng.uniform(-0.1, 0.1)
        q = light.neutral()
        q[9] = d
        M = pliant.mass_matrix(light, q)
        left = M[3:, 3:] - M[3:, :3] @ np.linalg.solve(M[:3, :3], M[:3, 3:])
        other = pliant.mass_matrix(table, np.array([0, 0, 0, 0, 0, d]))
        # straight down, the two swings are alike and independent, and so is the extension
        swings = sorted(left[3:5, 3:5].diagonal()), sorted(other[3:5, 3:5].diagonal())
        np.testing.assert_allclose(*swings, atol=1e-14)
        np.testing.assert_allclose(left[5, 5], other[5, 5], atol=1e-14)
        # and the volume that all motions span does not depend on the coordinates, where both turn at unit rates
        assert np.linalg.det(left) == pytest.approx(np.linalg.det(other), rel=1e-12)


def test_numbers_may_be_given() -> None:
    robot = pliant.load("hopper", mass=30, stiffness=1e4, damping=10)
    assert robot.bodies["body"].inertia.J.entry(0, 0) == pytest.approx(1.2)
    assert robot.joints["leg_flexibility"].stiffness == (1e4,)
    with pytest.raises(pliant.RobotError, match="mass of robot 'hopper' is 0"):
        pliant.catalogue.hopper(mass=0)
    with pytest.raises(pliant.RobotError, match=r"no option named 'mas' in pliant.load; did you mean 'mass'"):
        pliant.load("hopper", mas=1)
