"""Robots and grounds that pickle: each function as the formula that it computes."""

import pickle
from dataclasses import replace
from typing import Any

from pliant.contact.ground import Ground
from pliant.recording.formulas import Formula
from pliant.robot import Robot
from pliant.robot.model import Joint
from pliant.scalar import is_constant

__all__ = ["MOTOR_LAW", "SPRING_LAW", "ground_of", "ground_parts", "kept_robot"]

SPRING_LAW = ("x",)
MOTOR_LAW = ("u", "q", "v", "t")


def kept_robot(robot: Robot) -> Robot:
    """The robot with formulas in place of functions that do not pickle."""
    joints, motors = robot.joints, robot.motors
    for joint in joints.values():
        if any(law is not None and not _pickles(law) for law in joint.law):
            joints = joints.replaced(_with_formulas(joint))
    for motor in motors.values():
        if motor.law is not None and not _pickles(motor.law):
            motors = motors.replaced(replace(motor, law=Formula.of(motor.law, MOTOR_LAW)))
    return robot if joints is robot.joints and motors is robot.motors else replace(robot, joints=joints, motors=motors)


def _with_formulas(joint: Joint) -> Joint:
    return replace(joint, law=tuple(law and Formula.of(law, SPRING_LAW) for law in joint.law))


def _pickles(function: Any) -> bool:
    try:
        pickle.dumps(function)
    except Exception:  # whatever a user's object does
        return False
    return True


def ground_parts(ground: Ground) -> dict[str, Any]:
    """A ground without Python code: its formula and its numbers.

    Numbers that differ from robot to robot are left out; a ground whose shape does so has no formula.
    """
    numbers = [_number(p) for p in ground.parameters]
    friction, restitution = (_number(x) for x in (ground.friction, ground.restitution))
    formula = None
    if None not in numbers:
        formula = Formula.of(lambda x, y: ground.function(x, y, *ground.parameters), ("x", "y"))
    return {
        "formula": formula, "name": ground.name, "friction": friction, "restitution": restitution, "numbers": numbers
    }  # fmt: skip


def _number(x: Any) -> float | None:
    return float(x) if is_constant(x) else None


def ground_of(parts: dict[str, Any]) -> Ground:
    """The ground of its parts."""
    return Ground(parts["formula"], parts["name"], parts["friction"], parts["restitution"])
