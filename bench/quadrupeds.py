"""Quadrupeds of example-robot-data that stand: a sphere at each foot, the pose of their semantic files."""

import numpy as np

import pliant
from bench.contact_scene import ContactScene, Point, placed
from bench.robots import free_robot

__all__ = ["anymal", "go2", "hyq", "solo12"]


def _standing(
    name: str, robot: pliant.Robot, feet: dict[str, float], joints: dict[str, float], kp: float, kd: float
) -> ContactScene:
    """A scene with equal gains in all joints.

    Args:
        feet: frames at the centres of the feet, and their radii [m].
        joints: angles of the pose [rad].
    """
    points = tuple(Point(frame, radius) for frame, radius in feet.items())
    q = placed(robot, points, joints)
    return ContactScene(name, robot, points, q, np.full(robot.nu, kp), np.full(robot.nu, kd), friction=0.7)


def anymal() -> ContactScene:
    """ANYmal B: the sphere that its file gives each foot."""
    robot = free_robot("anymal")
    feet, joints = {}, {}
    for leg in ("LF", "LH", "RF", "RH"):
        robot = robot.with_frame(f"{leg}_sphere", f"{leg}_FOOT", (0, 0, 0.02325))
        feet[f"{leg}_sphere"] = 0.031
        side, front = (-1 if leg[0] == "L" else 1), (1 if leg[1] == "F" else -1)
        joints |= {f"{leg}_HAA": 0.1 * side, f"{leg}_HFE": 0.7 * front, f"{leg}_KFE": -1.0 * front}
    return _standing("anymal", robot, feet, joints, kp=80, kd=2)


def go2() -> ContactScene:
    """Go2: its feet's hulls are balls of some 22 mm; rotors as in MuJoCo Menagerie, 0.01 kg m^2."""
    robot = free_robot("go2", armature=0.01)
    joints = {}
    for leg in ("FL", "FR", "RL", "RR"):
        side = 1 if leg[1] == "L" else -1
        joints |= {f"{leg}_hip_joint": 0.068 * side, f"{leg}_thigh_joint": 0.785, f"{leg}_calf_joint": -1.44}
    feet = {f"{leg}_foot": 0.022 for leg in ("FL", "FR", "RL", "RR")}
    return _standing("go2", robot, feet, joints, kp=60, kd=2)


def solo12() -> ContactScene:
    """Solo with 12 joints, 2.5 kg: its feet are discs of 16 mm, here balls; rotors of 5e-6 kg m^2 behind gears of 9."""
    robot = free_robot("solo12", armature=5e-6 * 9**2)
    joints = {}
    for leg in ("FL", "FR", "HL", "HR"):
        side, front = (1 if leg[1] == "L" else -1), (1 if leg[0] == "F" else -1)
        joints |= {f"{leg}_HAA": 0.1 * side, f"{leg}_HFE": 0.8 * front, f"{leg}_KFE": -1.6 * front}
    feet = {f"{leg}_FOOT": 0.016 for leg in ("FL", "FR", "HL", "HR")}
    return _standing("solo12", robot, feet, joints, kp=8, kd=0.2)


def hyq() -> ContactScene:
    """HyQ, 87 kg: the sphere that its file gives each foot."""
    robot = free_robot("hyq")
    joints = {}
    for leg in ("lf", "lh", "rf", "rh"):
        front = 1 if leg[1] == "f" else -1
        joints |= {f"{leg}_haa_joint": -0.2, f"{leg}_hfe_joint": 0.75 * front, f"{leg}_kfe_joint": -1.5 * front}
    feet = {f"{leg}_foot": 0.02175 for leg in ("lf", "lh", "rf", "rh")}
    return _standing("hyq", robot, feet, joints, kp=600, kd=15)
