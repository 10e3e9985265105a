"""Rows of the Jacobian of contacts, J, and what is left of their acceleration at vd = 0, Jdot v."""

from collections.abc import Iterable, Sequence
from typing import Any

from pliant.constrained.constraints import Constraint, Contacts, check_axes, constraints_of
from pliant.contact.rows import Columns, point_columns, relative, support_of, turn_columns
from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import link_poses
from pliant.dynamics.motion import LinkMotion, link_motions
from pliant.robot import Mechanism, Robot
from pliant.scalar import sqrt
from pliant.spatial import Transform, Vector

__all__ = ["Held", "bias_rows", "contact_bias", "contact_jacobian", "held_constraints", "jacobian_rows"]

Scalar = Any


class Held:
    """A constraint at a configuration.

    Attributes:
        constraint: what is held.
        support: the dofs that matter to it, the last one first.
        p: where it acts; in world axes, as are all vectors here.
        axes: along which it acts; axes_turn: whether they turn with the frame.
    """

    def __init__(self, mechanism: Mechanism, constraint: Constraint, poses: Sequence[Transform], axes: str):
        c = self.constraint = constraint
        self.mechanism, self.poses = mechanism, poses
        self.support = support_of(mechanism, [c.a, c.b])
        self.p = self._in_world(c.a, c.X_a.p)
        self.axes = [Vector.unit(k) for k in range(3)]
        self.axes_turn = axes == "local" and not c.is_closure
        self._points = point_columns(mechanism, poses, c.a, self.p)
        if c.X_b is not None:
            p_b = self._in_world(c.b, c.X_b.p)
            self._points = relative(self._points, point_columns(mechanism, poses, c.b, p_b))
            if c.kind == "distance":
                apart = self.p - p_b
                self._length = sqrt(apart.dot(apart))
                self.axes = [apart * (1 / self._length)]
        if self.axes_turn:
            R = poses[c.a].R
            self.axes = [R.rotate(c.X_a.R.rotate(axis)) for axis in self.axes]

    def _in_world(self, i: int, p: Vector) -> Vector:
        return self.poses[i].transform_point(p) if i >= 0 else p

    def rows(self) -> list[tuple[Columns, Vector]]:
        """Each row of J as columns, a vector for each dof that counts, and the direction to take of them."""
        c = self.constraint
        turns: Columns = {}
        if any(k > 2 for k in c.directions):
            turns = turn_columns(self.mechanism, self.poses, c.a)
            turns = relative(turns, turn_columns(self.mechanism, self.poses, c.b)) if c.is_closure else turns
        return [(self._points if k < 3 else turns, self.axes[k % 3]) for k in c.directions]

    def biases(self, motions: Sequence[LinkMotion], v: Sequence[Scalar], a_world: Vector) -> list[Scalar]:
        """Jdot v of each row, from motions with vd = 0 in a world that accelerates with ``a_world``."""
        c = self.constraint
        a, wd = self._acceleration(motions, c.a, c.X_a, a_world)
        if c.X_b is not None:
            a_b, wd_b = self._acceleration(motions, c.b, c.X_b, a_world)
            a, wd = a - a_b, wd - wd_b
        if c.kind == "distance":
            # the line between the frames turns: what they move across it adds up to the rate of their distance
            u = self._velocity(v)
            along = self.axes[0].dot(u)
            return [self.axes[0].dot(a) + (u.dot(u) - along * along) / self._length]
        if self.axes_turn:
            # axes that turn with the frame: d/dt (R^T u) = R^T (a - w x u)
            w = self.poses[c.a].R.rotate(motions[c.a].w)
            a = a - w.cross(self._velocity(v))
        return [self.axes[k % 3].dot(a if k < 3 else wd) for k in c.directions]

    def _velocity(self, v: Sequence[Scalar]) -> Vector:
        return sum((column * v[d] for d, column in self._points.items()), Vector.zero())

    def _acceleration(
        self, motions: Sequence[LinkMotion], i: int, X: Transform, a_world: Vector
    ) -> tuple[Vector, Vector]:
        """Of a frame on link i: of its origin, and angular; in world axes, as seen from a world at rest."""
        if i < 0:
            return Vector.zero(), Vector.zero()
        motion, R = motions[i], self.poses[i].R
        return R.rotate(motion.a + motion.U @ X.p) - a_world, R.rotate(motion.wd)


def held_constraints(robot: Robot, q: Sequence[Scalar], contacts: Contacts, axes: str = "world") -> list[Held]:
    """The constraints of contacts at a configuration."""
    check_axes(axes)
    constraints = constraints_of(robot, contacts)
    # places count from the root, unless one of them is in the world
    from_root = not any(c.is_closure and min(c.a, c.b) < 0 for c in constraints)
    poses = link_poses(robot.mechanism, q, about_root=from_root)
    return [Held(robot.mechanism, c, poses, axes) for c in constraints]


def jacobian_rows(held: Iterable[Held]) -> list[dict[int, Scalar]]:
    """Rows of J by dof, without the columns that are zero."""
    return [{d: axis.dot(column) for d, column in columns.items()} for h in held for columns, axis in h.rows()]


def bias_rows(robot: Robot, held: Iterable[Held], q: Sequence[Scalar], v: Sequence[Scalar], a_world: Vector) -> list:
    """Jdot v of all rows, by motions in a world that accelerates with ``a_world``.

    The result is the same for any ``a_world``; with the one of Newton-Euler, the motions are those of
    Newton-Euler, too, and a kernel computes them once.
    """
    motions = link_motions(robot.mechanism, q, v, [0] * robot.nv, a_world)
    return [entry for h in held for entry in h.biases(motions, v, a_world)]


@robot_function
def contact_jacobian(
    robot: Robot, q: Sequence[Scalar], *, contacts: Contacts, axes: str = "world"
) -> list[list[Scalar]]:
    """The Jacobian J of the contacts, m x nv: J v are the velocities that the contacts hold at zero.

    Rows are in the order of the contacts and of their directions: entries of `frame_jacobian` at the frame's
    origin; for closures, the velocity of frame a as seen from frame b, in world axes. J^T f are the joint forces
    that the forces f at the contacts make.

    Args:
        q: configuration, nq [rad or m].
        contacts: names of frames, of closures, or pairs of a frame and its directions; see
            `pliant.constrained.constraints`.
        axes: directions are along those of the "world", or "local" for those of each frame.
    """
    rows = jacobian_rows(held_constraints(robot, q, contacts, axes))
    return [[row.get(d, 0) for d in range(robot.nv)] for row in rows]


@robot_function
def contact_bias(
    robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar], *, contacts: Contacts, axes: str = "world"
) -> list[Scalar]:
    """What is left of the acceleration of the contacts at vd = 0: Jdot v, m, so that d/dt (J v) = J vd + Jdot v.

    From the motion of the links, without Jdot itself. The acceleration of a frame is the classical one in world
    axes; in its own axes, which turn, it is less by w x u. Of a distance with direction n and relative velocity u,
    the bias is n . a + (u . u - (n . u)^2) / length.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
        contacts, axes: as for `contact_jacobian`.
    """
    return bias_rows(robot, held_constraints(robot, q, contacts, axes), q, v, Vector.zero())
