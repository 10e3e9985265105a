"""Forces on the right side of the equations of motion: motors, springs, dampers, friction."""

from collections.abc import Sequence
from typing import Any

from pliant.dynamics import frame_jacobian, frame_pose, frame_velocity
from pliant.errors import PliantError
from pliant.robot import FrameSpring, Joint, Motor, Robot
from pliant.robot.springs import deflection, has_play, has_spring, pulls, spring_force
from pliant.scalar import is_constant

__all__ = ["applied_forces"]

Scalar = Any


def applied_forces(
    robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar], u: Sequence[Scalar], t: Scalar
) -> list[Scalar]:
    """Q(q, v, u, t): what motors, springs, dampers and friction do at the dofs, nv [N m or N].

    At a joint, with x its position: u - k (x - rest) - d x' - friction sign(x'), with u replaced by what the motor's
    control makes of it, see `Motor`. Limits of motors and joints are left out. A spring between two frames a and b,
    s apart, adds -(k (s - s0) + d s') ds/dq. Springs with play, and those that give way in all directions, are
    functions of `named_functions`.
    """
    Q: list[Scalar] = [0] * robot.nv
    links = {link.name: link for link in robot.mechanism.joint_links}
    for motor, control in zip(robot.motors.values(), u, strict=True):
        link = links[motor.joint]
        d = link.dofs[0]
        Q[d] = Q[d] + link.ratio * _motor(motor, control, link.position(q)[0], link.rate(v)[0], t)
    for link in links.values():
        forces = _joint(robot.joints[link.name], link.position(q), link.rate(v))
        for d, force in zip(link.dofs, forces, strict=True):
            Q[d] = Q[d] + link.ratio * force
    for spring in robot.springs.values():
        Q = [a + b for a, b in zip(Q, _between_frames(robot, spring, q, v), strict=True)]
    return Q


def _motor(motor: Motor, u: Scalar, x: Scalar, rate: Scalar, t: Scalar) -> Scalar:
    import sympy

    if motor.law is not None:
        try:
            torque = motor.law(u, x, rate, t)
        except TypeError as error:
            raise PliantError(
                f"law of motor {motor.name!r} cannot be written as a formula: {error}; use functions of pliant, "
                "as pliant.math.sin, in place of those of math or numpy"
            ) from None
    elif motor.control == "position":
        torque = motor.kp * (u - x) - motor.kd * rate
    elif motor.control == "velocity":
        torque = motor.kd * (u - rate)
    else:
        torque = u
    return torque - motor.viscous_friction * rate - motor.dry_friction * sympy.sign(rate)


def _joint(joint: Joint, x: Sequence[Scalar], rate: Sequence[Scalar]) -> list[Scalar]:
    import sympy

    dry = [-f * sympy.sign(r) for f, r in zip(joint.friction, rate, strict=True)]
    if has_play(joint):
        return [dry[0] - _with_play(joint, x[0], rate[0])]
    springs = _springs(joint, x) if has_spring(joint) else [0] * joint.kind.nv
    return [p - d * r + f for p, d, r, f in zip(springs, joint.damping, rate, dry, strict=True)]


def _springs(joint: Joint, x: Sequence[Scalar]) -> Sequence[Scalar]:
    from pliant.symbolic.named_functions import spring_pulls

    if joint.kind.nv == 1 or any(law is not None for law in joint.law):
        return spring_force(joint, x).f
    return [-pull for pull in spring_pulls(joint, x)]


def _with_play(joint: Joint, x: Scalar, rate: Scalar) -> Scalar:
    """What `spring_with_play` gives, as functions with names."""
    from pliant.symbolic.named_functions import play, push

    s = play(deflection(joint, [x])[0], joint.backlash)
    (pull,), _ = pulls(joint, [s])
    d = joint.damping[0]
    if joint.law[0] is None and is_constant(d) and d == 0:
        # a spring alone has the sign of its deflection
        return pull
    return push(s, pull + d * rate)


def _between_frames(robot: Robot, spring: FrameSpring, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    import sympy

    p_a, p_b = (frame_pose.algorithm(robot, q, frame) for frame in (spring.a, spring.b))
    apart = [p_b[k][3] - p_a[k][3] for k in range(3)]
    s = sympy.sqrt(sum(x * x for x in apart))
    J_a, J_b = (frame_jacobian.algorithm(robot, q, frame) for frame in (spring.a, spring.b))
    v_a, v_b = (frame_velocity.algorithm(robot, q, v, frame, reference="local_world_aligned")
                for frame in (spring.a, spring.b))  # fmt: skip
    rate = sum(apart[k] * (v_b[k] - v_a[k]) for k in range(3)) / s
    pull = spring.stiffness * (s - spring.length) + spring.damping * rate
    return [-pull * sum(apart[k] * (J_b[k][d] - J_a[k][d]) for k in range(3)) / s for d in range(robot.nv)]
