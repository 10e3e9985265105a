"""Springs and dampers at joints and flexibilities: force, energy and power; and flexible joints as sensors see them.

With x the deflection from rest, the elastic energy is U(x) and its slope g(x) = dU/dx, dof by dof

    g = k s + h s^3 + law(s),        s = x less the backlash: x - min(max(x, -b/2), b/2)

For one dof x = q - rest. For a spherical joint x is the rotation vector log R, for a free one the place p in
the joint's axes and log R. Their rates are not v but x' = B(x) v, so the force at the dofs is

    f = -B(x)^T g(x)        (for turns -Jlog^T K log R)

It does no work in a closed cycle, however large the deflection and however unequal the stiffnesses. B is smooth
at zero and finite up to a full turn; at half a turn log R, and the force with it, changes sides. The power of the
spring is f . v = -dU/dt; a damper adds -d v, with the power -d v^2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pliant.checks import is_zero
from pliant.dynamics.functions import robot_function
from pliant.errors import SimulationError
from pliant.robot import Robot
from pliant.robot.describe import entry_name
from pliant.robot.exponential import pose_rate, turn_logarithm
from pliant.robot.joints import Free, JointKind, Spherical
from pliant.robot.model import Joint
from pliant.robot.part_checks import law_and_slope
from pliant.scalar import Scalar, Scalars, abs, maximum, minimum, select
from pliant.signatures import explained
from pliant.spatial import Vector, rotation_from_quaternion

# of the quadrature that makes an energy of a law: exact for polynomials up to degree 31
_NODES = 16


def less_backlash(x: Scalar, width: Scalar) -> Scalar:
    """s, a deflection less the backlash of a width in its middle."""
    half = width / 2
    return x - minimum(maximum(x, -half), half)


def outward(s: Scalar, p: Scalar) -> Scalar:
    """p where it has the sign of s, else 0: what only pushes outward does not pull inward."""
    return select(s > 0, maximum(p, 0), select(s < 0, minimum(p, 0), 0))


@dataclass(frozen=True)
class SpringFunctions:
    """The functions that the force of a spring is made of; formulas put functions with names in their place.

    Attributes:
        less_backlash, outward: as above.
        coupled: (joint, q) -> B^T g of a joint with several dofs and no law of its own; None to write it out.
    """

    less_backlash: Callable[[Scalar, Scalar], Scalar] = less_backlash
    outward: Callable[[Scalar, Scalar], Scalar] = outward
    coupled: Callable[[Joint, Scalars], Scalars] | None = None


PLAIN = SpringFunctions()


@dataclass(frozen=True)
class SpringForce:
    """A spring's force at the dofs of its joint, and how it changes with their motion.

    Attributes:
        f: -B^T g, nv.
        axes: for each axis its g' and its row b of B; g' is not negative: what a law softens is left out.
    """

    f: list[Scalar]
    axes: list[tuple[Scalar, list[Scalar]]]

    @property
    def stiffness(self) -> list[list[Scalar]]:
        """-df of a small motion, B^T g' B = sum of g' b^T b, nv x nv."""
        n = range(len(self.f))
        return [[sum((slope * b[r] * b[c] for slope, b in self.axes), 0) for c in n] for r in n]


def deflection(joint: Joint, q: Scalars) -> list[Scalar]:
    """x, an entry a dof, of a joint at its own coordinates q [rad, m]."""
    if joint.kind.nv == 1:
        return [q[0] - joint.rest]
    if isinstance(joint.kind, Spherical):
        return list(turn_logarithm(tuple(q)))  # type: ignore[arg-type]
    return [*q[:3], *turn_logarithm(tuple(q[3:]))]  # type: ignore[arg-type]


def deflection_rate(kind: JointKind, q: Scalars, x: Scalars, v: Scalars) -> list[Scalar]:
    """x' = B(x) v."""
    if kind.nv == 1:
        return list(v)
    if isinstance(kind, Free):
        moved = rotation_from_quaternion(*q[3:]).rotate(Vector(*v[:3]))
        return [*moved, *_turn_rate(Vector(*x[3:]), Vector(*v[3:]))]
    return [*_turn_rate(Vector(*x), Vector(*v))]


def _turn_rate(w: Vector, u: Vector) -> Vector:
    return pose_rate(Vector.zero(), w, Vector.zero(), u)[1]


# ---- force


def spring_pull(joint: Joint, k: int, s: Scalar) -> tuple[Scalar, Scalar]:
    """g(s) of dof k, THE law of a spring, and its derivative where that is not negative."""
    stiffness, h, law = joint.stiffness[k], joint.hardening[k], joint.law[k]
    g, slope = stiffness * s + h * s * s * s, stiffness + 3 * h * s * s
    if law is not None:
        more, rise = law_and_slope(law, s)
        g, slope = g + more, maximum(slope + rise, 0)
    return g, slope


def spring_force(joint: Joint, q: Scalars, functions: SpringFunctions = PLAIN) -> SpringForce:
    """The force of the joint's spring at its own coordinates q, and its stiffness."""
    nv = joint.kind.nv
    if nv > 1 and functions.coupled is not None and all(law is None for law in joint.law):
        return SpringForce([-g for g in functions.coupled(joint, q)], [])
    x = deflection(joint, q)
    pulls = [spring_pull(joint, k, s) for k, s in enumerate(_stretched(joint, x, functions))]
    g, slopes = [g for g, _ in pulls], [slope for _, slope in pulls]
    if nv == 1:
        slope = select(abs(x[0]) > joint.backlash / 2, slopes[0], 0) if joint.has_backlash else slopes[0]
        return SpringForce([-g[0]], [(slope, [1])])
    columns = [deflection_rate(joint.kind, q, x, [int(r == c) for c in range(nv)]) for r in range(nv)]
    f = [-sum((a * b for a, b in zip(column, g, strict=True)), 0) for column in columns]
    rows = [[column[a] for column in columns] for a in range(nv)]
    return SpringForce(f, list(zip(slopes, rows, strict=True)))


def _stretched(joint: Joint, x: Scalars, functions: SpringFunctions = PLAIN) -> list[Scalar]:
    """s, the deflections less the backlash."""
    return [functions.less_backlash(e, joint.backlash) for e in x] if joint.has_backlash else list(x)


def spring_with_backlash(
    joint: Joint, q: Scalar, v: Scalar, functions: SpringFunctions = PLAIN
) -> tuple[Scalar, Scalar]:
    """Force and stiffness of a spring and damper that touch beyond the backlash only, and never pull inward.

    f = -max(0, g + d v) on the upper side, -min(0, g + d v) on the lower one.
    """
    spring = spring_force(joint, [q], functions)
    slope, d = spring.axes[0][0], joint.damping[0]
    if joint.law[0] is None and is_zero(d):
        return spring.f[0], slope  # a spring alone has the sign of its deflection
    s = _stretched(joint, deflection(joint, [q]), functions)[0]
    return -functions.outward(s, d * v - spring.f[0]), slope


class BacklashSides(NamedTuple):
    """A spring with backlash as lines in the joint's motion, one on either side; see `backlash_sides`.

    Attributes:
        above, below: g on the upper and on the lower side, at q.
        stiffness, damping: what motion adds to both.
        to_lower, to_upper: from q to the ends of the backlash.
    """

    above: Scalar
    below: Scalar
    stiffness: Scalar
    damping: Scalar
    to_lower: Scalar
    to_upper: Scalar


def backlash_sides(joint: Joint, q: Scalar) -> BacklashSides:
    """The lines of a spring and damper on both sides of the backlash.

    On the upper side the spring is stretched by s = x - b/2; where it is not, the line through zero goes on.
    """
    x, half = deflection(joint, [q])[0], joint.backlash / 2
    pulls = []
    stiffness: Scalar = 0
    for s, pressed in ((x - half, maximum(x - half, 0)), (x + half, minimum(x + half, 0))):
        pull, slope = spring_pull(joint, 0, pressed)
        pulls.append(pull + slope * (s - pressed))
        stiffness = maximum(stiffness, slope)
    return BacklashSides(pulls[0], pulls[1], stiffness, joint.damping[0], -half - x, half - x)


def passive_force(joint: Joint, q: Scalars, v: Scalars) -> list[Scalar]:
    """The force of spring and damper at the joint's own coordinates and velocities, nv [N m or N]."""
    if joint.has_backlash:
        return [spring_with_backlash(joint, q[0], v[0])[0]]
    pull = spring_force(joint, q).f if joint.has_spring else [0] * joint.kind.nv
    return [f - d * rate for f, d, rate in zip(pull, joint.damping, v, strict=True)]


def damper_force(joint: Joint, q: Scalars, v: Scalars) -> list[Scalar]:
    """The part of it that is not the spring's, and takes energy: -d v, or what is left of it with backlash."""
    if joint.has_backlash:
        return [passive_force(joint, q, v)[0] - spring_force(joint, q).f[0]]
    return [-d * rate for d, rate in zip(joint.damping, v, strict=True)]


# ---- energy


def spring_energy(joint: Joint, q: Scalars) -> Scalar:
    """U(x) of the joint's spring at its own coordinates q [J]."""
    total: Scalar = 0
    s = _stretched(joint, deflection(joint, q))
    for k, h, law, x in zip(joint.stiffness, joint.hardening, joint.law, s, strict=True):
        square = x * x
        total = total + (k + h * square / 2) * square / 2
        if law is not None:
            # the integral of the law from 0 to x
            places, weights = np.polynomial.legendre.leggauss(_NODES)
            for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
                total = total + x * (weight / 2) * law_and_slope(law, x * ((1 + place) / 2))[0]
    return total


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


@explained
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
def flexibility_state(robot: Robot, q: Scalars, v: Scalars) -> FlexibilityState:
    """Motor-side and link-side positions and velocities, deflections and spring forces.

    A motor's joint has the coordinate of the motor's side; the link is further by the deflection. Of a spring with
    several axes, the part along the joint's own motion counts: a . log R for a turn about a.

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
    """
    x, rate, force = [], [], []
    for flexibility in robot.flexibilities.values():
        own = _deflected(robot, robot.joints[flexibility.name], q, v)
        x, rate, force = x + own[0], rate + own[1], force + own[2]
    along = further_of(robot, q, v)
    links = {link.name: link for link in robot.mechanism.joint_links}
    driven_by = [m.joint for m in robot.motors.values()]
    motor_q = [links[name].position(q)[0] for name in driven_by]
    motor_v = [links[name].rate(v)[0] for name in driven_by]
    further = [along.get(name, (0, 0)) for name in driven_by]
    link_q = [p + more for p, (more, _) in zip(motor_q, further, strict=True)]
    link_v = [p + more for p, (_, more) in zip(motor_v, further, strict=True)]
    return FlexibilityState(motor_q, motor_v, link_q, link_v, x, rate, force)


def further_of(robot: Robot, q: Scalars, v: Scalars) -> dict[str, tuple[Scalar, Scalar]]:
    """By motor's joint with springs, how much further the link is than the motor's side, and its rate."""
    found: dict[str, tuple[Scalar, Scalar]] = {}
    for spring, joint in _driven(robot):
        x, rate, _ = _deflected(robot, spring, q, v)
        before = found.get(joint.name, (0, 0))
        found[joint.name] = before[0] + _along(spring, joint, x), before[1] + _along(spring, joint, rate)
    return found


def spring_torques(robot: Robot, q: Scalars, v: Scalars) -> dict[str, Scalar]:
    """By motor's joint with springs, what the spring next to the link does to it, along the joint's motion [N m or N].

    Springs in a row carry the same torque but for the inertia between them.
    """
    return {joint.name: _along(spring, joint, _deflected(robot, spring, q, v)[2]) for spring, joint in _driven(robot)}


def _driven(robot: Robot) -> list[tuple[Joint, Joint]]:
    """The springs at motors' joints, with these."""
    found = [f for f in robot.flexibilities.values() if f.joint is not None]
    return [(robot.joints[f.name], robot.joints[str(f.joint)]) for f in found]


def _deflected(robot: Robot, joint: Joint, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Deflection of a spring joint, its rate, and the force of spring and damper on the link."""
    own_q, own_v = list(q[robot.q_slice(joint.name)]), list(v[robot.v_slice(joint.name)])
    x = list(deflection(joint, own_q))
    return x, list(deflection_rate(joint.kind, own_q, x, own_v)), list(passive_force(joint, own_q, own_v))


def _along(spring: Joint, joint: Joint, x: Scalars) -> Scalar:
    """The part of a deflection along the motion of the motor's joint."""
    S = joint.kind.columns[0]
    if spring.kind.nv == 1:
        own = spring.kind.columns[0]
        return (S.linear.dot(own.linear) + S.angular.dot(own.angular)) * x[0]
    if spring.kind.nv == 3:
        return S.angular.dot(Vector(*x))
    return S.linear.dot(Vector(*x[:3])) + S.angular.dot(Vector(*x[3:]))
