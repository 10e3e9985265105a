"""Robots that grow: a chain of joints that swings, a plate on more and more points, a body on more and more legs."""

import math

import numpy as np

import pliant
from bench.closed_scenes import ClosedScene
from bench.contact_scene import ContactScene, Point, placed
from bench.first_step import chain

__all__ = ["hanging_chain", "many_legs", "plate"]


def hanging_chain(joints: int) -> ClosedScene:
    """A chain without contacts, motors or loops, let go where each joint is off by some 0.1 rad."""
    robot = chain(joints)
    q = np.random.default_rng(0).normal(scale=0.1, size=robot.nq)
    return ClosedScene(robot.name, robot, q)


def plate(points: int) -> ContactScene:
    """One body on a ring of points, a disc of 0.5 m and 10 kg, which rests."""
    moment = 10 * 0.5**2 / 4
    builder = pliant.RobotBuilder(f"plate{points}").body("disc", 10, (0, 0, 0), (moment, 0, 0, moment, 0, 2 * moment))
    for k in range(points):
        angle = 2 * math.pi * k / points
        builder.frame(f"point{k}", "disc", (0.5 * math.cos(angle), 0.5 * math.sin(angle), -0.1))
    return _resting(builder.build(base="free"), [f"point{k}" for k in range(points)], {})


def many_legs(legs: int) -> ContactScene:
    """A body on a ring of legs with a hip, a knee and a foot each: as many points, each on a body of its own."""
    mass, moment = 2.0 * legs, 2.0 * legs * 0.5**2 / 4
    builder = pliant.RobotBuilder(f"legs{legs}").body("disc", mass, (0, 0, 0), (moment, 0, 0, moment, 0, 2 * moment))
    joints = {}
    for k in range(legs):
        angle = 2 * math.pi * k / legs
        for part, mass in (("thigh", 0.5), ("shank", 0.3)):
            across = mass * 0.3**2 / 12
            builder.body(f"{part}{k}", mass, (0, 0, -0.15), (across, 0, 0, across, 0, across / 10))
        axis = (-math.sin(angle), math.cos(angle), 0)
        place = (0.5 * math.cos(angle), 0.5 * math.sin(angle), 0)
        builder.joint(f"hip{k}", "revolute", "disc", f"thigh{k}", place, axis=axis, armature=0.02)
        builder.joint(f"knee{k}", "revolute", f"thigh{k}", f"shank{k}", (0, 0, -0.3), axis=axis, armature=0.02)
        builder.motor(f"hip{k}").motor(f"knee{k}").frame(f"foot{k}", f"shank{k}", (0, 0, -0.3))
        joints |= {f"hip{k}": -0.6, f"knee{k}": 1.2}
    return _resting(builder.build(base="free"), [f"foot{k}" for k in range(legs)], joints)


def _resting(robot: pliant.Robot, frames: list[str], joints: dict[str, float]) -> ContactScene:
    points = tuple(Point(frame, 0.02) for frame in frames)
    q = placed(robot, points, joints)
    kp, kd = np.full(robot.nu, 100.0), np.full(robot.nu, 4.0)
    return ContactScene(robot.name, robot, points, q, kp, kd, friction=0.7)
