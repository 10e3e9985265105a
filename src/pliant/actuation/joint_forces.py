"""Forces at the dofs of a robot: motors, springs and dampers of joints, and how they change with the motion.

All but dry friction, limits and locks, which the solver sees to. A joint that mimics another hands its force on to
the leader's dof, times its ratio.

Without limits, a motor's torque at its joint is a line in the joint's motion within a step,

    tau = torque - stiffness dq - damping v

with torque that at the configuration q where the step begins. `torque_line` is THE law of each kind of control;
the step takes the line implicitly, everything else its value (`motor_torque`, `Drive.torque_at`). The power is
tau v, and viscous friction (`viscous_torque`) takes -d v^2 of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pliant.actuation.joint_springs import (
    PLAIN, SpringFunctions, damper_force, spring_energy, spring_force, spring_with_backlash,
)  # fmt: skip
from pliant.errors import PliantError, TraceError
from pliant.robot import Motor, Robot
from pliant.scalar import Scalar, Scalars, is_constant, maximum, minimum, select

_INFINITE = float("inf")


@dataclass(frozen=True)
class Line:
    """A torque at a joint, torque - stiffness dq - damping v, with dq counted from where it was taken."""

    torque: Scalar
    stiffness: Scalar = 0
    damping: Scalar = 0

    def at(self, rate: Scalar) -> Scalar:
        """The torque at a velocity of the joint, where it is [N m or N]."""
        return self.torque - self.damping * rate

    def gain(self, dt: Scalar) -> Scalar:
        """What the torque at the end of a step of dt loses for a unit of the joint's velocity there."""
        return self.damping + dt * self.stiffness


@dataclass(frozen=True)
class Drive:
    """A motor at a state.

    Attributes:
        dof: of its joint, the leader's if that mimics.
        ratio: of the joint's motion to its dof's, 1 unless it mimics.
        line: its torque without limits.
        lower, upper: the limits of the torque.
        is_limited: whether the torque may go beyond them within the step, see `is_saturable`.
    """

    motor: Motor
    dof: int
    ratio: Scalar
    line: Line
    lower: Scalar
    upper: Scalar
    is_limited: bool

    def torque_at(self, rate: Scalar) -> Scalar:
        """The torque at a velocity of the joint, within the limits [N m or N]."""
        torque = self.line.at(rate)
        return _within(torque, self.lower, self.upper) if self.is_limited else torque

    def saturation(self, torque: Scalar) -> Scalar:
        """1 or -1 where a torque is beyond the upper or lower limit, else 0."""
        if not self.is_limited:
            return 0
        return select(torque > self.upper, 1, select(torque < self.lower, -1, 0))


def is_saturable(motor: Motor) -> bool:
    """Whether its limit depends on the motion within the step: torques that are commanded are cut off at once."""
    has_gains = motor.law is None and motor.control != "torque"
    return has_gains and not (is_constant(motor.effort_limit) and motor.effort_limit == _INFINITE)


def torque_line(motor: Motor, u: Scalar, x: Scalar, rate: Scalar, t: Scalar) -> Line:
    """The torque that a motor gives for a control, without limits and friction.

    Args:
        u: the control.
        x, rate: position and velocity of its joint.
        t: time, for a law of its own [s].
    """
    if motor.law is not None:
        return Line(_law(motor, u, x, rate, t))
    if motor.control == "position":
        return Line(motor.kp * (u - x), motor.kp, motor.kd)
    if motor.control == "velocity":
        return Line(motor.kd * u, 0, motor.kd)
    return Line(u)


def motor_torque(motor: Motor, u: Scalar, x: Scalar, rate: Scalar, t: Scalar) -> Scalar:
    """The same at the joint's position and velocity [N m or N]."""
    return torque_line(motor, u, x, rate, t).at(rate)


def viscous_torque(motor: Motor, rate: Scalar) -> Scalar:
    """Viscous friction at a velocity of the joint [N m or N]."""
    return -motor.viscous_friction * rate


def torque_bounds(motor: Motor, rate: Scalar) -> tuple[Scalar, Scalar]:
    """The least and the most that the motor can give at a speed.

    Where it drives, from the effort limit at rest down to nothing at the no-load speed; where it brakes,
    the effort limit.
    """
    limit = motor.effort_limit
    if is_constant(motor.no_load_speed) and motor.no_load_speed == _INFINITE:
        return -limit, limit
    share = rate / motor.no_load_speed
    upper = limit * minimum(1, maximum(0, 1 - share))
    lower = -limit * minimum(1, maximum(0, 1 + share))
    return lower, upper


def _within(torque: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    return minimum(maximum(torque, lower), upper)


def drives(
    robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar, *, has_limits: bool = True
) -> list[Drive]:  # fmt: skip
    """All motors of a robot at a state, for the controls u.

    Args:
        has_limits: whether the limits hold; formulas leave them out.
    """
    links = {link.name: link for link in robot.mechanism.joint_links}
    found = []
    for motor, control in zip(robot.motors.values(), u, strict=True):
        link = links[motor.joint]
        x, rate = link.position(q)[0], link.rate(v)[0]
        lower, upper = torque_bounds(motor, rate) if has_limits else (-_INFINITE, _INFINITE)
        line = torque_line(motor, control, x, rate, t)
        if has_limits and (motor.law is not None or motor.control == "torque"):
            line = Line(_within(line.torque, lower, upper))
        is_limited = has_limits and is_saturable(motor)
        found.append(Drive(motor, link.dofs[0], link.ratio, line, lower, upper, is_limited))
    return found


def motor_torques(robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar) -> list[Scalar]:
    """The torques of the motors at a moment of smooth motion, nu [N m or N]."""
    return [drive.torque_at(drive.ratio * v[drive.dof]) for drive in drives(robot, q, v, u, t)]


def _law(motor: Motor, u: Scalar, q: Scalar, v: Scalar, t: Scalar) -> Scalar:
    """What a law of the user gives, one scalar; raises with the motor's name if it does not."""
    assert motor.law is not None
    subject = f"law of motor {motor.name!r}"
    try:
        torque = motor.law(u, q, v, t)
    except TraceError as error:
        cure = "write pliant.math.select(condition, a, b) in place of a branch"
        raise TraceError(f"{subject}: {error}", subject=subject, cure=cure) from None
    except TypeError as error:
        cure = "use functions of pliant.math, such as pliant.math.sin, in place of those of math or numpy"
        raise PliantError(f"{subject} cannot be written as a formula: {error}", subject=subject, cure=cure) from error
    if torque is None or isinstance(torque, list | tuple) or hasattr(torque, "__len__"):
        shown = "nothing" if torque is None else repr(torque)
        raise PliantError(f"{subject} returned {shown}", subject=subject, cure="it returns one torque")
    return torque


@dataclass(frozen=True)
class SpringBlock:
    """The stiffness of a joint's spring.

    Attributes:
        dofs: of the joint.
        axes: for each axis its stiffness g' as felt there, and its row b: K = sum of g' b^T b.
    """

    dofs: tuple[int, ...]
    axes: list[tuple[Scalar, list[Scalar]]]

    def entries(self, axis: tuple[Scalar, list[Scalar]]) -> Iterator[tuple[int, int, Scalar]]:
        """(d, e, K_de) of an axis with e <= d."""
        slope, b = axis
        for i, d in enumerate(self.dofs):
            for j in range(i + 1):
                yield d, self.dofs[j], slope * b[i] * b[j]


@dataclass(frozen=True)
class JointForces:
    """Forces at the dofs, one entry each: f at q, less what velocities take, f - damping v.

    Attributes:
        f: at q, without damping.
        stiffness, damping: diagonals, of the gains of motors and of all dampers.
        springs: what the springs add to the stiffness.
        drives: the motors.
    """

    f: list[Scalar]
    stiffness: list[Scalar]
    damping: list[Scalar]
    springs: list[SpringBlock]
    drives: list[Drive]

    def at(self, v: Scalars) -> list[Scalar]:
        """The forces at the velocity v, with every motor within its limits, nv [N m or N]."""
        f = [a - d * x for a, d, x in zip(self.f, self.damping, v, strict=True)]
        for drive in self.drives:
            if drive.is_limited:
                rate = drive.ratio * v[drive.dof]
                f[drive.dof] = f[drive.dof] + drive.ratio * (drive.torque_at(rate) - drive.line.at(rate))
        return f

    def linear(self) -> tuple[list[Scalar], list[Scalar], dict[tuple[int, int], Scalar]]:
        """The diagonals of D and K, and the entries of K below the diagonal."""
        K, cross = list(self.stiffness), {}
        for spring in self.springs:
            for axis in spring.axes:
                for d, e, k in spring.entries(axis):
                    if d == e:
                        K[d] = K[d] + k
                    else:
                        cross[d, e] = cross.get((d, e), 0) + k
        return self.damping, K, cross


def joint_forces(
    robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar, *, has_rows: bool = False, has_limits: bool = True,
    functions: SpringFunctions = PLAIN,
) -> JointForces:  # fmt: skip
    """Springs, damping and motors at the dofs.

    Args:
        has_rows: whether the solver sees to springs with backlash, and to the torques of motors.
        has_limits: whether the limits of motors hold.
        functions: of which the forces of springs are made.
    """
    f: list[Scalar] = [0] * robot.nv
    stiffness: list[Scalar] = [0] * robot.nv
    damping: list[Scalar] = [0] * robot.nv
    springs: list[SpringBlock] = []
    for link in robot.mechanism.joint_links:
        joint = robot.joints[link.name]
        if joint.has_backlash:
            if not has_rows or link.is_mimic:  # the solver has no constraint of a follower
                d = link.dofs[0]
                force, slope = spring_with_backlash(joint, link.position(q)[0], link.rate(v)[0], functions)
                f[d] = f[d] + link.ratio * force
                springs.append(SpringBlock((d,), [(link.ratio * link.ratio * slope, [1])]))
            continue
        for d, value in zip(link.dofs, link.damping, strict=True):
            damping[d] = damping[d] + value
        if joint.has_spring:
            spring = spring_force(joint, link.position(q), functions)
            for d, force in zip(link.dofs, spring.f, strict=True):
                f[d] = f[d] + link.ratio * force
            felt = [(link.ratio * link.ratio * slope, b) for slope, b in spring.axes]
            springs.append(SpringBlock(link.dofs, felt))
    given = drives(robot, q, v, u, t, has_limits=has_limits)
    for drive in given:
        d, square = drive.dof, drive.ratio * drive.ratio
        if has_rows:
            damping[d] = damping[d] + square * drive.motor.viscous_friction
            continue
        f[d] = f[d] + drive.ratio * drive.line.torque
        stiffness[d] = stiffness[d] + square * drive.line.stiffness
        damping[d] = damping[d] + square * (drive.line.damping + drive.motor.viscous_friction)
    return JointForces(f, stiffness, damping, springs, given)


def dry_friction(robot: Robot, joint: str, k: int) -> Scalar:
    """The bound of Coulomb's friction at dof k of a joint, with that of its motors [N m or N]."""
    motors = sum((m.dry_friction for m in robot.motors.values() if m.joint == joint), 0)
    return robot.joints[joint].friction[k] + motors


# ---- energy and power


def joint_spring_energy(robot: Robot, q: Scalars) -> Scalar:
    """Stored in the springs of all joints [J]."""
    sprung = [(robot.joints[link.name], link) for link in robot.mechanism.joint_links]
    return sum((spring_energy(joint, link.position(q)) for joint, link in sprung if joint.has_spring), 0)


def damping_powers(robot: Robot, q: Scalars, v: Scalars, mean: Scalars, *, has_rows: bool) -> tuple[Scalar, Scalar]:
    """Power of dampers of joints and viscous friction of motors, and of dampers of springs [W]; not positive.

    Args:
        v: velocity at which the dampers act.
        mean: velocity along which they do work.
        has_rows: whether the solver saw to springs with backlash, and knows their forces.
    """
    joints: Scalar = 0
    springs: Scalar = 0
    links = {link.name: link for link in robot.mechanism.joint_links}
    for motor in robot.motors.values():
        link = links[motor.joint]
        joints = joints + viscous_torque(motor, link.rate(v)[0]) * link.rate(mean)[0]
    for link in links.values():
        joint = robot.joints[link.name]
        if joint.has_backlash and has_rows and not link.is_mimic:
            continue
        force = damper_force(joint, link.position(q), link.rate(v))
        power = sum((f * rate for f, rate in zip(force, link.rate(mean), strict=True)), 0)
        if joint.has_spring:
            springs = springs + power
        else:
            joints = joints + power
    return joints, springs
