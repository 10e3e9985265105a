"""Measurements on both sides of a flexible joint: motor side, link side, and the spring between."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pliant.actuation.joint_springs import deflection, deflection_rate, passive_force
from pliant.dynamics.functions import robot_function
from pliant.errors import SimulationError
from pliant.robot import Joint, Robot
from pliant.robot.describe import entry_name
from pliant.spatial import Vector

__all__ = ["FlexibilityState", "check_flexible", "flexibility_names", "flexibility_state"]

Scalar = Any


class FlexibilityState(NamedTuple):
    """Both sides of the motors' joints, and their springs.

    Attributes:
        motor_position, motor_velocity: of each motor's joint before its flexibility, nu [rad, m; per s].
        link_position, link_velocity: of the link that it drives, along the joint's own motion, nu.
        deflection, deflection_rate: of every dof of a flexibility; see `flexibility_names`.
        spring_force: of spring and damper on the link, at those dofs [N m or N].
    """

    motor_position: Any
    motor_velocity: Any
    link_position: Any
    link_velocity: Any
    deflection: Any
    deflection_rate: Any
    spring_force: Any


def flexibility_names(robot: Robot) -> tuple[str, ...]:
    """A name for each entry of a deflection: the spring joint's name, with a suffix if it has several axes."""
    joints = [robot.joints[f.name] for f in robot.flexibilities.values()]
    return tuple(entry_name(j.name, label) for j in joints for label in j.kind.v_labels)


def check_flexible(robot: Robot) -> None:
    """Raise if the robot has no flexible joint."""
    if not robot.flexibilities:
        subject = f"robot {robot.name!r}"
        cure = "see robot.with_flexibility and robot.with_backlash"
        raise SimulationError(f"{subject} has no flexibility", subject=subject, field="flexibility", cure=cure)


@robot_function
def flexibility_state(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> FlexibilityState:
    """Motor-side and link-side positions and velocities, deflections and spring forces.

    A motor's joint has the coordinate of the motor's side; the link is further by the deflection. Of a spring with
    several axes, the part along the joint's own motion counts: a . log R for a turn about a.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
    """
    x, rate, force = [], [], []
    along: dict[str, tuple[Scalar, Scalar]] = {}
    for flexibility in robot.flexibilities.values():
        joint = robot.joints[flexibility.name]
        own_q, own_v = list(q[robot.q_slice(joint.name)]), list(v[robot.v_slice(joint.name)])
        own_x = deflection(joint, own_q)
        own_rate = deflection_rate(joint.kind, own_q, own_x, own_v)
        x += own_x
        rate += own_rate
        force += passive_force(joint, own_q, own_v)
        if flexibility.joint is not None:
            driven = robot.joints[flexibility.joint]
            before = along.get(driven.name, (0, 0))
            parts = [_along(joint, driven, values) for values in (own_x, own_rate)]
            along[driven.name] = before[0] + parts[0], before[1] + parts[1]
    links = {link.name: link for link in robot.mechanism.joint_links}
    driven_by = [m.joint for m in robot.motors.values()]
    motor_q = [links[name].position(q)[0] for name in driven_by]
    motor_v = [links[name].rate(v)[0] for name in driven_by]
    further = [along.get(name, (0, 0)) for name in driven_by]
    link_q = [p + more for p, (more, _) in zip(motor_q, further, strict=True)]
    link_v = [p + more for p, (_, more) in zip(motor_v, further, strict=True)]
    return FlexibilityState(motor_q, motor_v, link_q, link_v, x, rate, force)


def _along(spring: Joint, joint: Joint, x: Sequence[Scalar]) -> Scalar:
    """The part of a deflection along the motion of the motor's joint."""
    S = joint.kind.columns[0]
    if spring.kind.nv == 1:
        own = spring.kind.columns[0]
        return (S.linear.dot(own.linear) + S.angular.dot(own.angular)) * x[0]
    if spring.kind.nv == 3:
        return S.angular.dot(Vector(*x))
    return S.linear.dot(Vector(*x[:3])) + S.angular.dot(Vector(*x[3:]))
