"""What of a robot plain tree formats, such as URDF, cannot hold: findings item by item, with the consequence."""

from collections.abc import Iterable
from dataclasses import fields

from pliant.checks import is_zero
from pliant.errors import RobotError
from pliant.robot import Finding, Motor, Robot
from pliant.scalar import is_constant

_KEPT = ("name", "joint", "effort_limit", "velocity_limit", "gear", "rotor_inertia")
# per joint: the attribute, and what a copy without it does
_JOINT_PARTS = (
    ("stiffness", "its spring: it moves freely there"), ("hardening", "the hardening of its spring"),
    ("law", "the law of its spring"), ("backlash", "its backlash"), ("restitution", "its restitution at the limits"),
)  # fmt: skip


def losses(robot: Robot, *, armature: bool, gravity: bool) -> list[Finding]:
    """Findings about what a format does not hold.

    Args:
        armature, gravity: whether it holds those.
    """
    found: list[Finding] = []

    def lost(subject: str, message: str) -> None:
        found.append(Finding("dropped", subject, message))

    for joint in robot.joints.values():
        subject = f"joint {joint.name!r}"
        for part, message in _JOINT_PARTS:
            if _is_there(getattr(joint, part)):
                lost(subject, message)
        if joint.is_locked:
            lost(subject, "its lock: it moves there")
        if not armature and not is_zero(*joint.armature):
            lost(subject, "its armature: the mass matrix there lacks it")
    for motor in robot.motors.values():
        _motor_losses(motor, armature, lost)
    if not gravity and [float(g) for g in robot.gravity] != [0, 0, -9.81]:
        lost(f"robot {robot.name!r}", f"its gravity {tuple(float(g) for g in robot.gravity)}")
    parts = {
        "closures": "loops are open there", "springs": "springs between frames", "contacts": "its contact shapes",
        "sensors": "its sensors",
    }  # fmt: skip
    for part, message in parts.items():
        names = list(getattr(robot, part))
        if names:
            lost(part, f"{message}: {_shown(names)}")
    return found


def _motor_losses(motor: Motor, armature: bool, lost) -> None:  # type: ignore[no-untyped-def]
    subject = f"motor {motor.name!r}"
    if not armature and not is_zero(motor.armature):
        lost(subject, "its rotor's inertia: the mass matrix there lacks it")
    if motor.coupling is not None:
        lost(subject, f"its transmission to {_shown([joint for joint, _ in motor.coupling])}")
    if motor.gyroscopic:
        lost(subject, "the gyroscopic moments of its rotor")
    others = [f for f in fields(motor) if f.name not in (*_KEPT, "coupling", "gyroscopic", "rotor_axis")]
    changed = [f.name for f in others if getattr(motor, f.name) != f.default]
    if changed:
        lost(subject, f"its {', '.join(changed)}")


def _is_there(value: object) -> bool:
    if isinstance(value, tuple):
        return any(x is not None and not (is_constant(x) and x == 0) for x in value)
    return not (is_constant(value) and value == 0)  # type: ignore[arg-type]


def _shown(names: Iterable[str], most: int = 6) -> str:
    names = list(names)
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def plain(x: object, subject: str) -> float:
    """A number of a robot as a float; raises for symbols."""
    if not is_constant(x):  # type: ignore[arg-type]
        cure = "give numbers for the symbols first"
        raise RobotError(f"{subject} has the symbol {x}, which files cannot hold", subject=subject, cure=cure)
    return float(x)  # type: ignore[arg-type]
