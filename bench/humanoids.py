"""Robots on two feet that stand: four spheres at the corners of each sole."""

from collections.abc import Mapping

import numpy as np

import pliant
from bench.contact_scene import ContactScene, corners_of_soles, placed
from bench.robots import free_robot

__all__ = ["biped", "g1", "talos"]

Gains = Mapping[str, tuple[float, float]]
"""kp and kd [N m/rad, N m s/rad] of the joints whose names contain the key; the first that does counts."""

# the ankles alone must hold m g h: 800 N m/rad of Talos, 210 of G1
_TALOS: Gains = {
    "leg": (3000.0, 100.0),
    "torso": (3000.0, 100.0),
    "arm": (200.0, 10.0),
    "head": (100.0, 5.0),
    "gripper": (10.0, 0.5),
}
_G1: Gains = {
    "hip": (500.0, 20.0),
    "knee": (500.0, 20.0),
    "ankle": (400.0, 10.0),
    "waist": (400.0, 15.0),
    "shoulder": (60.0, 3.0),
    "elbow": (60.0, 3.0),
    "wrist": (20.0, 1.0),
}
_BIPED: Gains = {"": (500.0, 30.0)}


def _gains(robot: pliant.Robot, table: Gains) -> tuple[np.ndarray, np.ndarray]:
    """Gains kp and kd of all motors."""
    found = [next(table[part] for part in table if part in motor.joint) for motor in robot.motors.values()]
    kp, kd = np.array(found).T
    return kp, kd


def talos() -> ContactScene:
    """Talos with the dry friction of its file in 20 joints, soles of 0.20 m by 0.12 m, "half_sitting".

    Every rotor is what its semantic file gives to most: 1e-5 kg m^2 behind a gear of 100.
    """
    robot = free_robot("talos", armature=1e-5 * 100**2)
    corners = ((0.1, 0.06, 0.01), (0.1, -0.06, 0.01), (-0.1, -0.06, 0.01), (-0.1, 0.06, 0.01))
    robot, points = corners_of_soles(robot, ("left_sole_link", "right_sole_link"), corners, 0.01)
    joints = {"torso_2_joint": 0.006761}
    for side, sign in (("left", 1), ("right", -1)):
        leg = {3: -0.411354, 4: 0.859395, 5: -0.448041}
        arm = {1: 0.25847 * sign, 2: 0.173046 * sign, 3: -0.0002 * sign, 4: -0.525366, 7: 0.1}
        joints |= {f"leg_{side}_{k}_joint": angle for k, angle in leg.items()}
        joints |= {f"arm_{side}_{k}_joint": angle for k, angle in arm.items()}
    q = placed(robot, points, joints)
    return ContactScene("talos", robot, points, q, *_gains(robot, _TALOS), friction=0.7, settled=5.0)


def g1(dry: float = 0.0) -> ContactScene:
    """G1 on the four spheres that its file has at each sole, knees bent; rotors as in MuJoCo Menagerie, 0.01 kg m^2.

    Args:
        dry: friction of every joint [N m]; Menagerie's is 0.3.
    """
    robot = free_robot("g1", armature=0.01)
    for motor in robot.motors.values():
        robot = robot.with_joint(motor.joint, friction=dry)
    corners = ((-0.05, 0.025, -0.03), (-0.05, -0.025, -0.03), (0.12, 0.03, -0.03), (0.12, -0.03, -0.03))
    robot, points = corners_of_soles(robot, ("left_ankle_roll_link", "right_ankle_roll_link"), corners, 0.005)
    joints = {}
    for side, sign in (("left", 1), ("right", -1)):
        joints |= {f"{side}_hip_pitch_joint": -0.2, f"{side}_knee_joint": 0.42, f"{side}_ankle_pitch_joint": -0.23}
        joints |= {f"{side}_shoulder_roll_joint": 0.2 * sign, f"{side}_elbow_joint": 0.6}
    q = placed(robot, points, joints)
    name = "g1_dry" if dry else "g1"
    return ContactScene(name, robot, points, q, *_gains(robot, _G1), friction=0.7, settled=5.0)


def biped() -> ContactScene:
    """The shipped biped, soles of 0.22 m by 0.10 m."""
    robot = pliant.load("biped", base="free").lumped()
    for motor in robot.motors.values():  # without rotors, MuJoCo's contact forces chatter by 30 % of the weight
        robot = robot.with_joint(motor.joint, armature=0.1)
    corners = ((0.14, 0.05, -0.06), (0.14, -0.05, -0.06), (-0.08, -0.05, -0.06), (-0.08, 0.05, -0.06))
    robot, points = corners_of_soles(robot, ("left_foot", "right_foot"), corners, 0.01)
    joints = {}
    for side in ("left", "right"):
        joints |= {f"{side}_hip_pitch": -0.3, f"{side}_knee": 0.6, f"{side}_ankle_pitch": -0.3}
    q = placed(robot, points, joints)
    return ContactScene("biped", robot, points, q, *_gains(robot, _BIPED), friction=0.7, settled=5.0)
