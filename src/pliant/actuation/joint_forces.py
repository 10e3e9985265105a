"""Forces at the dofs of a robot: motors, springs and dampers of joints, and how they change with the motion.

All but dry friction, limits and locks, which the solver sees to. A joint that mimics another hands its force on to
the leader's dof, times its ratio.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.actuation.joint_springs import (
    PLAIN,
    SpringFunctions,
    damper_force,
    spring_energy,
    spring_force,
    spring_with_backlash,
)  # fmt: skip
from pliant.actuation.motors import Drive, drives, viscous_torque
from pliant.robot import Robot

__all__ = ["JointForces", "SpringBlock", "damping_powers", "dry_friction", "joint_forces", "joint_spring_energy"]

Scalar = Any


@dataclass(frozen=True)
class SpringBlock:
    """The stiffness of a joint's spring.

    Attributes:
        dofs: of the joint.
        axes: for each axis its stiffness g' as felt there, and its row b: K = sum of g' b^T b.
        rotor: dof of the motor's joint that follows, if the spring is a flexibility.
    """

    dofs: tuple[int, ...]
    axes: list[tuple[Scalar, list[Scalar]]]
    rotor: int | None

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

    def at(self, v: Sequence[Scalar]) -> list[Scalar]:
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
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    u: Sequence[Scalar],
    t: Scalar,
    saturated: Sequence[Scalar] | None = None,
    *,
    has_rows: bool = False,
    has_limits: bool = True,
    functions: SpringFunctions = PLAIN,
) -> JointForces:
    """Springs, damping and motors at the dofs.

    Args:
        saturated: motors that are at their limits, see `pliant.actuation.motors.drives`.
        has_rows: whether the solver sees to springs with backlash.
        has_limits: whether the limits of motors hold.
        functions: of which the forces of springs are made.
    """
    f: list[Scalar] = [0] * robot.nv
    stiffness: list[Scalar] = [0] * robot.nv
    damping: list[Scalar] = [0] * robot.nv
    springs: list[SpringBlock] = []
    rotors = {f.name: robot.v_slice(f.joint).start for f in robot.flexibilities.values() if f.joint is not None}
    for link in robot.mechanism.joint_links:
        joint = robot.joints[link.name]
        if joint.has_backlash:
            if not has_rows or link.is_mimic:  # the solver has no constraint of a follower
                d = link.dofs[0]
                force, slope = spring_with_backlash(joint, link.position(q)[0], link.rate(v)[0], functions)
                f[d] = f[d] + link.ratio * force
                springs.append(SpringBlock((d,), [(link.ratio * link.ratio * slope, [1])], None))
            continue
        for d, value in zip(link.dofs, link.damping, strict=True):
            damping[d] = damping[d] + value
        if joint.has_spring:
            spring = spring_force(joint, link.position(q), functions)
            for d, force in zip(link.dofs, spring.f, strict=True):
                f[d] = f[d] + link.ratio * force
            felt = [(link.ratio * link.ratio * slope, b) for slope, b in spring.axes]
            springs.append(SpringBlock(link.dofs, felt, rotors.get(joint.name)))
    given = drives(robot, q, v, u, t, saturated, has_limits=has_limits)
    for drive in given:
        d, square = drive.dof, drive.ratio * drive.ratio
        f[d] = f[d] + drive.ratio * drive.line.torque
        stiffness[d] = stiffness[d] + square * drive.line.stiffness
        damping[d] = damping[d] + square * (drive.line.damping + drive.motor.viscous_friction)
    return JointForces(f, stiffness, damping, springs, given)


def dry_friction(robot: Robot, joint: str, k: int) -> Scalar:
    """The bound of Coulomb's friction at dof k of a joint, with that of its motors [N m or N]."""
    motors = sum((m.dry_friction for m in robot.motors.values() if m.joint == joint), 0)
    return robot.joints[joint].friction[k] + motors


# ---- energy and power


def joint_spring_energy(robot: Robot, q: Sequence[Scalar]) -> Scalar:
    """Stored in the springs of all joints [J]."""
    total: Scalar = 0
    for link in robot.mechanism.joint_links:
        joint = robot.joints[link.name]
        if joint.has_spring:
            total = total + spring_energy(joint, link.position(q))
    return total


def damping_powers(
    robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar], mean: Sequence[Scalar], *, has_rows: bool
) -> tuple[Scalar, Scalar]:
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
