"""Motion of a robot that is held: constrained acceleration, and projection of q and v onto the constraints.

With the rows J of `Holds` and M = L^T D L,

    vd = M^-1 (f - h + J^T p),    G p = -(J M^-1 (f - h) + Jdot v),    G = J M^-1 J^T

so that J vd + Jdot v = 0: a gap that is closed stays closed, but for the errors of the steps. These are taken back
after each step, in the metric of M [Hairer, Lubich and Wanner 2006, IV.4: standard projection],

    q <- q (+) -M^-1 J^T G^-1 g(q)   (a few iterations)        v <- v - M^-1 J^T G^-1 J v

which keeps the order of the method, since the error of a step bounds both. Rows may depend on one another, as in
mechanisms that move though they have too many constraints: vd is unique all the same. Forces along rows are not; these
have the least norm (`pliant.constrained.row_space.HeldRows`).
"""

import math
from dataclasses import dataclass

from pliant.actuation.body_forces import stretches
from pliant.constrained.row_space import HeldRows, Row
from pliant.contact.constraint_rows import point_columns, relative
from pliant.dynamics.joint_space_inertia import mass_factor
from pliant.dynamics.kinematics import link_poses, root_origin
from pliant.scalar import Scalar, Scalars, maximum, minimum, select, sqrt
from pliant.scalar.functions import largest
from pliant.simulation.model import StepModel
from pliant.spatial import Vector

CLOSED = {"float64": 1e-12, "float32": 2e-6}
"""Gaps [m or rad] up to this are closed."""

OPEN = {"float64": 1e-9, "float32": 1e-4}
"""A robot whose gaps [m or rad] or velocities along rows are larger as a step begins is put right before it."""

# iterations of a projection after a step, with one factor: each takes the gap to the product of it and the first one
_ITERATIONS = 3
# an iteration from afar moves no joint by more [rad or m]
_LARGEST = 0.3


def held_space(m: StepModel, q: Scalars) -> HeldRows:
    """The rows of a model at a configuration, eliminated against M."""
    factor = mass_factor(m.robot, q)
    return HeldRows(m.robot, factor, m.holds.jacobian(q), m.precision, is_redundant=m.holds.is_redundant)


def held_acceleration(m: StepModel, q: Scalars, v: Scalars, force: Scalars) -> list[Scalar]:
    """vd of M vd = force + J^T p with J vd + Jdot v = 0, where force is f - h."""
    space = held_space(m, q)
    free, wanted = _wanted(m, space, q, v, force)
    return space.factor.velocity(space.pushed(free, space.response.solve(wanted)))


def held_forces(m: StepModel, q: Scalars, v: Scalars, force: Scalars) -> list[Scalar]:
    """p of `held_acceleration`, along the rows [N or N m]."""
    space = held_space(m, q)
    return space.response.solve(_wanted(m, space, q, v, force)[1])


def _wanted(m: StepModel, space: HeldRows, q: Scalars, v: Scalars, force: Scalars) -> tuple[list, list]:
    free = space.factor.half_solve(force)
    return free, [-(a + b) for a, b in zip(space.along(free), m.holds.biases(q, v), strict=True)]


# ---- projection


def projected(m: StepModel, q: Scalars, v: Scalars, anchors: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """q and v on the constraints, from the end of a step, where they are off by no more than its error."""
    start, q = held_space(m, q), list(q)
    for _ in range(_ITERATIONS):
        shift = start.velocity(start.response.solve([-g for g in m.holds.gaps(q, anchors)]))
        q = list(m.robot.integrate(q, shift))
    return q, held_space(m, q).without(v)


def closer(m: StepModel, q: Scalars, v: Scalars, anchors: Scalars) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """One iteration from anywhere: q, v, and whether the gaps were closed already."""
    space, gaps = held_space(m, q), m.holds.gaps(q, anchors)
    shift = space.velocity(space.response.solve([-g for g in gaps]))
    share = minimum(1, _LARGEST / maximum(largest(shift), 1e-9))
    moved = list(m.robot.integrate(q, [share * x for x in shift]))
    return moved, space.without(v), select(largest(gaps) <= CLOSED[m.precision], 1, 0)


def is_off(m: StepModel, q: Scalars, v: Scalars, anchors: Scalars) -> Scalar:
    """Whether a robot is not on its constraints: as after a reset to where it cannot be."""
    slips = [sum((x * v[d] for d, x in row.items()), 0) for row in m.holds.jacobian(q)]
    slides = largest(slips) > OPEN[m.precision] * maximum(1, largest(v))
    return select(slides, 1, is_open(m, q, anchors))


def is_open(m: StepModel, q: Scalars, anchors: Scalars) -> Scalar:
    """Whether a gap is open."""
    return select(largest(m.holds.gaps(q, anchors)) > OPEN[m.precision], 1, 0)


def spring_rows(m: StepModel, q: Scalars, dt: Scalar) -> list[Row]:
    """Rows j of the springs between frames with j . v = s', times the root of `Stretch.implicit_slope`.

    The sum of j^T j is what they add to the matrix of the implicit midpoint rule, but for the turning of the springs.
    """
    mechanism = m.robot.mechanism
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    found = []
    for stretch in stretches(m.robot, poses, origin):
        columns = relative(*(point_columns(mechanism, poses, end.link, end.place) for end in (stretch.b, stretch.a)))
        size = sqrt(stretch.implicit_slope(dt))
        found.append({d: size * stretch.along.dot(column) for d, column in columns.items()})
    return found


# ---- what is reported


@dataclass(frozen=True)
class HeldReport:
    """What the constraints of a robot do at a state.

    Attributes:
        closings: forces of the loops; locks: of locked joints; touches: of contacts, in the world's axes.
        gap: the largest [m or rad].
        excess: by how much a contact would have to pull, or friction is beyond the cone, the largest [N].
        worst: number of that contact.
    """

    closings: list[Scalar]
    locks: list[Scalar]
    touches: list[Vector]
    gap: Scalar
    excess: Scalar
    worst: Scalar


def held_report(m: StepModel, q: Scalars, v: Scalars, force: Scalars, anchors: Scalars) -> HeldReport:
    """The forces of what holds a robot, and how well it does."""
    holds, p = m.holds, held_forces(m, q, v, force)
    loops = sum(c.size for c in holds.loops)
    rest = p[loops + len(holds.locks) :]
    axes = holds.axes(q)
    touches = [
        sum((axis * f for axis, f in zip(own[:3], rest[3 * k : 3 * k + 3], strict=True)), Vector.zero())
        for k, own in enumerate(axes)
    ]
    gap = largest(holds.gaps(q, anchors))
    excess, worst = _beyond_the_cone(m, touches, [own[3] for own in axes])
    return HeldReport(p[:loops], p[loops : loops + len(holds.locks)], touches, gap, excess, worst)


def _beyond_the_cone(m: StepModel, forces: list[Vector], normals: list[Vector]) -> tuple[Scalar, Scalar]:
    """By how much a contact is beyond its friction cone, the largest [N], and its number."""
    excess: Scalar = 0
    worst: Scalar = 0
    coefficients = [mu for group in m.groups for mu in group.friction]
    for k, (held, f, n) in enumerate(zip(m.holds.touches, forces, normals, strict=True)):
        push = f.dot(n)
        across = f - n * push
        friction = sqrt(across.dot(across))
        mu = coefficients[held.touch] if m.is_rigid else getattr(m.contact.law, "friction", math.inf)
        own = maximum(-push, friction - mu * maximum(push, 0))
        # rounding of a force at the edge of the cone is none
        own = own - 1e-6 * (friction + maximum(push, -push)) - 1e-9
        worst = select(own > excess, k, worst)
        excess = maximum(excess, own)
    return excess, worst
