"""Forces at the dofs of a robot: motors, springs and dampers of joints, and how they change with the motion.

All but dry friction, limits and locks, which the solver sees to. A joint that mimics another hands its force on to
the leader's dof, times its ratio.

Without limits, a motor's torque at its joint is a line in the joint's motion within a step,

    tau = torque - stiffness dq - damping v

with torque that at the configuration q where the step begins. `torque_line` is THE law of each kind of control;
the step takes the line implicitly, everything else its value (`motor_torque`, `Drive.torque_at`). The power is
tau v, and viscous friction (`viscous_torque`) takes -d v^2 of it. The supply of a motor with a winding bounds its
torque by two more lines (`pliant.actuation.windings`).

What a motor remembers (`pliant.actuation.motor_memory`) is part of its law: ``states`` has it by name, for each motor.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pliant.actuation.joint_springs import (
    PLAIN, SpringFunctions, damper_force, spring_energy, spring_force, spring_with_backlash,
)  # fmt: skip
from pliant.actuation.motor_friction import friction_level, has_bristles
from pliant.actuation.shafts import Shaft, shaft_of, shafts_of
from pliant.actuation.windings import (
    current_after, has_voltage_limit, is_infinite, torque_limit, torque_per_current,
)  # fmt: skip
from pliant.checks import is_zero, users_function
from pliant.errors import PliantError
from pliant.robot import Motor, MotorLaw, Robot
from pliant.scalar import Scalar, Scalars, cos, maximum, minimum, select

_INFINITE = float("inf")

States = Sequence[Mapping[str, Scalars]]
"""What each motor remembers, by name."""


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

    def scaled(self, factor: Scalar, offset: Scalar) -> "Line":
        """The line times a factor, and an offset above it."""
        return Line(factor * self.torque + offset, factor * self.stiffness, factor * self.damping)


@dataclass(frozen=True)
class Drive:
    """A motor at a state.

    Attributes:
        shaft: how it follows the dofs.
        line: its torque without limits.
        lower, upper: the limits of the torque.
        is_limited: whether the torque may go beyond them within the step, see `is_saturable`.
        supply: the torques at the least and at the largest voltage, if these bound it.
    """

    motor: Motor
    shaft: Shaft
    line: Line
    lower: Scalar
    upper: Scalar
    is_limited: bool
    supply: tuple[Line, Line] | None = None

    def torque_at(self, rate: Scalar) -> Scalar:
        """The torque at a velocity of the joint, within the limits [N m or N]."""
        torque = self.line.at(rate)
        torque = _within(torque, self.lower, self.upper) if self.is_limited else torque
        return torque if self.supply is None else _within(torque, *(line.at(rate) for line in self.supply))

    def saturation(self, torque: Scalar, rate: Scalar) -> Scalar:
        """1 or -1 where a torque is beyond the upper or lower limit, else 0; 2 and -2 if it is that of the supply."""
        if not self.is_limited:
            return 0
        own = select(torque > self.upper, 1, select(torque < self.lower, -1, 0))
        if self.supply is None:
            return own
        within = _within(torque, self.lower, self.upper)
        least, most = (line.at(rate) for line in self.supply)
        return select(within > most, 2, select(within < least, -2, own))


def is_saturable(motor: Motor) -> bool:
    """Whether its limit depends on the motion within the step: torques that are commanded are cut off at once."""
    has_gains = motor.law is None and motor.control != "torque"
    return has_voltage_limit(motor) or (has_gains and not is_infinite(torque_limit(motor)))


def torque_line(
    motor: Motor, u: Scalar, x: Scalar, rate: Scalar, t: Scalar, state: Mapping[str, Scalars] = MappingProxyType({}),
    dt: Scalar | None = None,
) -> Line:  # fmt: skip
    """The torque that a motor gives for a control, without limits and friction.

    Args:
        u: the control; of a motor whose law remembers, its torque.
        x, rate: position and velocity of its joint.
        t: time, for a law of its own [s].
        state: what it remembers.
        dt: of a step, to whose end the line leads; None for the moment itself, with a current that has settled.
    """
    if isinstance(motor.law, MotorLaw):
        return Line(u)
    if motor.law is not None:
        return Line(_law(motor, u, x, rate, t))
    if motor.control == "position":
        return Line(motor.kp * (u - x), motor.kp, motor.kd)
    if motor.control == "velocity":
        return Line(motor.kd * u, 0, motor.kd)
    if motor.control == "voltage":
        supply = motor.supply_voltage
        return _voltage_line(motor, u if is_infinite(supply) else _within(u, -supply, supply), state, dt)
    return Line(u)


def _voltage_line(motor: Motor, voltage: Scalar, state: Mapping[str, Scalars], dt: Scalar | None) -> Line:
    """The torque that a voltage gives."""
    current, rate = current_after(motor, voltage, _first(state, "current", 0), _first(state, "temperature", None), dt)
    k = torque_per_current(motor)
    return Line(k * current, 0, k * rate)


def _first(state: Mapping[str, Scalars], name: str, otherwise: Scalar) -> Scalar:
    return state[name][0] if name in state else otherwise


def ripple_at(motor: Motor, x: Scalar) -> tuple[Scalar, Scalar]:
    """At a position of the joint, the factor by which the torque ripples, and the torque of cogging [1, N m or N]."""
    if is_zero(motor.ripple, motor.cogging):
        return 1, 0
    wave = cos(motor.ripple_periods * motor.gear * x)
    return 1 + motor.ripple * wave, motor.cogging * wave


def motor_torque(motor: Motor, u: Scalar, x: Scalar, rate: Scalar, t: Scalar) -> Scalar:
    """The same at the joint's position and velocity [N m or N]."""
    return torque_line(motor, u, x, rate, t).at(rate)


def viscous_torque(motor: Motor, rate: Scalar) -> Scalar:
    """Viscous friction at a velocity of the joint [N m or N]."""
    return -motor.viscous_friction * rate


def torque_bounds(motor: Motor, rate: Scalar, temperature: Scalar | None = None) -> tuple[Scalar, Scalar]:
    """The least and the most that the motor can give at a speed.

    Where it drives, from the limit at rest (`torque_limit`) down to nothing at the no-load speed; where it brakes,
    that limit.
    """
    limit = torque_limit(motor, temperature)
    if is_infinite(motor.no_load_speed):
        return -limit, limit
    share = rate / motor.no_load_speed
    upper = limit * minimum(1, maximum(0, 1 - share))
    lower = -limit * minimum(1, maximum(0, 1 + share))
    return lower, upper


def _within(torque: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    return minimum(maximum(torque, lower), upper)


def drives(
    robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar, *, has_limits: bool = True, states: States = (),
    dt: Scalar | None = None,
) -> list[Drive]:  # fmt: skip
    """All motors of a robot at a state, for the controls u.

    Args:
        has_limits: whether the limits hold; formulas leave them out.
        states: what the motors remember; without, currents have settled and nothing is warm.
        dt: as in `torque_line`.
    """
    found = []
    known = states or [MappingProxyType({})] * robot.nu
    for motor, shaft, control, state in zip(robot.motors.values(), shafts_of(robot), u, known, strict=True):
        x, rate = shaft.position(q), shaft.rate(v)
        heat = _first(state, "temperature", None)
        lower, upper = torque_bounds(motor, rate, heat) if has_limits else (-_INFINITE, _INFINITE)
        line = torque_line(motor, control, x, rate, t, state, dt)
        if has_limits and (motor.law is not None or motor.control == "torque"):
            line = Line(_within(line.torque, lower, upper))
        is_limited = has_limits and is_saturable(motor)
        drive = Drive(motor, shaft, line, lower, upper, is_limited)
        if has_limits and has_voltage_limit(motor):
            ends = (-motor.supply_voltage, motor.supply_voltage)
            least, most = (_voltage_line(motor, voltage, state, dt) for voltage in ends)
            drive = replace(drive, supply=(least, most))
        found.append(_rippled(drive, x))
    return found


def _rippled(drive: Drive, x: Scalar) -> Drive:
    """A motor with the ripple of its torque."""
    motor = drive.motor
    if is_zero(motor.ripple, motor.cogging):
        return drive
    factor, offset = ripple_at(motor, x)
    supply = drive.supply and tuple(line.scaled(factor, offset) for line in drive.supply)
    lower, upper = factor * drive.lower + offset, factor * drive.upper + offset
    return replace(drive, line=drive.line.scaled(factor, offset), lower=lower, upper=upper, supply=supply)


def bristles(robot: Robot, v: Scalars, states: States) -> list[Drive]:
    """Dry friction of motors that bends before it slides, as springs and dampers whose torques have limits."""
    found = []
    for motor, state in zip(robot.motors.values(), states, strict=True) if states else ():
        if has_bristles(motor):
            shaft = shaft_of(robot, motor)
            level = friction_level(motor, shaft.rate(v))
            s0 = motor.bristle_stiffness
            line = Line(-s0 * state["bristle"][0], s0, motor.bristle_damping)
            found.append(Drive(motor, shaft, line, -level, level, True))
    return found


def motor_torques(
    robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar, states: States = ()
) -> list[Scalar]:  # fmt: skip
    """The torques of the motors at a moment of smooth motion, nu [N m or N]."""
    return [drive.torque_at(drive.shaft.rate(v)) for drive in drives(robot, q, v, u, t, states=states)]


def _law(motor: Motor, u: Scalar, q: Scalar, v: Scalar, t: Scalar) -> Scalar:
    """What a law of the user gives, one scalar; raises with the motor's name if it does not."""
    assert motor.law is not None and not isinstance(motor.law, MotorLaw)
    subject = f"law of motor {motor.name!r}"
    with users_function(subject, "law", "write pliant.math.select(condition, a, b) in place of a branch"):
        torque = motor.law(u, q, v, t)
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
        stiffness, damping: diagonals, of the gains of motors and of all dampers; without motors that drive several
            joints, whose forces `at` adds.
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
            shaft, rate = drive.shaft, drive.shaft.rate(v)
            torque: Scalar = 0
            if shaft.is_coupled:
                torque = drive.torque_at(rate) + viscous_torque(drive.motor, rate)
            elif drive.is_limited:
                torque = drive.torque_at(rate) - drive.line.at(rate)
            for d, ratio in shaft.columns.items() if not is_zero(torque) else ():
                f[d] = f[d] + ratio * torque
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
    functions: SpringFunctions = PLAIN, states: States = (),
) -> JointForces:  # fmt: skip
    """Springs, damping and motors at the dofs.

    Args:
        has_rows: whether the solver sees to springs with backlash, and to the torques of motors.
        has_limits: whether the limits of motors hold.
        functions: of which the forces of springs are made.
        states: what the motors remember.
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
    given = drives(robot, q, v, u, t, has_limits=has_limits, states=states)
    for drive in (drive for drive in given if not drive.shaft.is_coupled):
        ((d, ratio),) = drive.shaft.columns.items()
        square = ratio * ratio
        if has_rows:
            damping[d] = damping[d] + square * drive.motor.viscous_friction
            continue
        f[d] = f[d] + ratio * drive.line.torque
        stiffness[d] = stiffness[d] + square * drive.line.stiffness
        damping[d] = damping[d] + square * (drive.line.damping + drive.motor.viscous_friction)
    return JointForces(f, stiffness, damping, springs, given)


def dry_friction(robot: Robot, joint: str, k: int, rate: Scalar) -> Scalar:
    """The bound of dry friction at dof k of a joint, with that of its motors, at a velocity [N m or N].

    Friction of motors that bends before it slides is none of it, see `bristles`.
    """
    rigid = (m for m in robot.motors.values() if m.joint == joint and not has_bristles(m))
    return robot.joints[joint].friction[k] + sum((friction_level(m, rate) for m in rigid), 0)


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
    for motor, shaft in zip(robot.motors.values(), shafts_of(robot), strict=True):
        joints = joints + viscous_torque(motor, shaft.rate(v)) * shaft.rate(mean)
    for link in robot.mechanism.joint_links:
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
