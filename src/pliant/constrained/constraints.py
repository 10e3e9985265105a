"""Constraints: contacts at frames and loop closures, given by name, the rows of their Jacobian J, and Jdot v.

Contacts are a tuple or list with an entry for each: the name of a frame, body or joint, whose origin then stays where
it is; or a pair of such a name and the directions in which it is held, of ``x y z`` (moving) and ``rx ry rz``
(turning), as in ``("lf_foot", ("hand", "xz ry"))`` or ``["lf_foot", ("hand", ["x", "z", "ry"])]``; or the name of one
of the robot's closures.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.checks import check, check_one_of
from pliant.contact.closures import across_axis
from pliant.contact.constraint_rows import Columns, point_columns, relative, support_of, turn_columns
from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import LinkMotion, link_motions, link_poses
from pliant.errors import ContactError, unknown_name
from pliant.robot import Closure, Mechanism, Robot
from pliant.scalar import Scalar, Scalars, sqrt
from pliant.signatures import explained
from pliant.spatial import Transform, Vector

Contacts = str | Sequence[str | tuple[str, str | Sequence[str]]]

AXES = ("world", "local")
"""Whose axes directions are along: the world's, or those of the frame that is held."""

_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
_HELD = {"point": (0, 1, 2), "hinge": (0, 1, 2, 3, 4), "weld": (0, 1, 2, 3, 4, 5), "distance": (0,)}
_ACROSS = {3: "across1", 4: "across2"}


@dataclass(frozen=True, eq=False)
class Constraint:
    """A frame that is held in the world, or two that are held together.

    Attributes:
        name: of the frame or the closure.
        kind: "frame", or that of the closure.
        directions: held, 0 to 2 for moving along and 3 to 5 for turning about x, y, z; one for a distance; of a hinge 3
            and 4 are those across its axis.
        a, X_a: link and pose in it of the frame that forces push; b, X_b: of the one they push off, -1 the world.
        length: of a distance [m].
        across: of a hinge, two directions across its axis, in frame b.
    """

    name: str
    kind: str
    directions: tuple[int, ...]
    a: int
    X_a: Transform
    b: int = -1
    X_b: Transform | None = None
    length: Any = 0
    across: tuple[Vector, ...] = ()

    @property
    def size(self) -> int:
        """How many rows it has."""
        return len(self.directions)

    @property
    def is_closure(self) -> bool:
        """Whether it holds two frames together."""
        return self.X_b is not None


def constraints_of(robot: Robot, contacts: Contacts) -> tuple[Constraint, ...]:
    """The constraints that contacts stand for; raises on contacts that cannot be held."""
    entries = (contacts,) if isinstance(contacts, str) else contacts
    takes = "a tuple of frames, as in contacts=('lf_foot', 'rf_foot')"
    check("contacts", contacts, takes, isinstance(entries, tuple | list), error=ContactError)
    if not entries:
        raise no_contacts(robot, "forward_dynamics")
    found: list[Constraint] = []
    for name, directions in map(_entry, entries):
        made = _constraint(robot, name, directions)
        for other in found:
            both = set(other.directions) & set(made.directions)
            if other.name == made.name and (made.is_closure or both):
                what = f"along {_DIRECTIONS[min(both)]!r} " if not made.is_closure else ""
                raise _fault(name, f"is held {what}twice", "name each contact once")
        found.append(made)
    return tuple(found)


def no_contacts(robot: Robot, instead: str) -> ContactError:
    """The error for an empty tuple; ``instead`` is the function for a robot without contacts."""
    owner = f"robot {robot.name!r}"
    problem = f"no contacts are given for {owner}"
    return ContactError(problem, subject=owner, field="contacts", cure=f"without any, see {instead}")


def _fault(contact: str, problem: str, cure: str = "") -> ContactError:
    subject = f"contact {contact!r}"
    return ContactError(f"{subject} {problem}", subject=subject, cure=cure)


def row_count(robot: Robot, contacts: Contacts) -> int:
    """How many rows the Jacobian of the contacts has, and entries their force."""
    return sum(c.size for c in constraints_of(robot, contacts))


@explained
def row_names(robot: Robot, contacts: Contacts) -> tuple[str, ...]:
    """Names of the rows of the Jacobian and of the entries of the force: "lf_foot.x" and so on."""
    return tuple(_row_name(c, k) for c in constraints_of(robot, contacts) for k in c.directions)


def _row_name(c: Constraint, k: int) -> str:
    if c.kind == "distance":
        return c.name
    return f"{c.name}.{_ACROSS.get(k, _DIRECTIONS[k]) if c.kind == 'hinge' else _DIRECTIONS[k]}"


def _entry(entry: Any) -> tuple[str, str | None]:
    if isinstance(entry, str):
        return entry, None
    if isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str):
        name, directions = entry
        parts = [directions] if isinstance(directions, str) else directions
        if isinstance(parts, tuple | list) and all(isinstance(part, str) for part in parts):
            return name, " ".join(parts)
    problem = f"contact {entry!r} is neither the name of a frame nor a pair"
    raise ContactError(problem, subject=f"contact {entry!r}", cure="give a pair as ('hand', 'xyz rx')")


def _constraint(robot: Robot, name: str, directions: str | None) -> Constraint:
    is_frame = name in robot.frames or name in robot.joints or name == "world"
    if name in robot.closures:
        if is_frame:
            raise _fault(name, "is the name of a frame and of a closure", "rename one of them")
        if directions is not None:
            raise _fault(name, "is a closure, whose kind says what it holds", f"leave out {directions!r}")
        return _closure(robot, robot.closures[name])
    if not is_frame:
        valid = dict.fromkeys([*robot.frames, *robot.joints, *robot.closures])
        raise ContactError(unknown_name("contact frame or closure", name, valid, f"robot {robot.name!r}"))
    link, X_BF = robot.mechanism.frame(name)
    if link < 0:
        raise _fault(name, f"of robot {robot.name!r} does not move: there is nothing to hold")
    held = (0, 1, 2) if directions is None else tuple(_parsed(name, directions))
    return Constraint(name, "frame", held, link, X_BF)


def _closure(robot: Robot, closure: Closure) -> Constraint:
    (a, X_a), (b, X_b) = robot.mechanism.frame(closure.a), robot.mechanism.frame(closure.b)
    if a == b:
        subject = f"closure {closure.name!r}"
        problem = f"{subject} of robot {robot.name!r} holds frames that cannot move apart"
        raise ContactError(problem, subject=subject, cure="leave it out")
    across = across_axis(closure.axis) if closure.kind == "hinge" else ()
    return Constraint(closure.name, closure.kind, _HELD[closure.kind], a, X_a, b, X_b, closure.length, across)


def _parsed(name: str, directions: str) -> Iterator[int]:
    """Numbers of directions: words of letters x, y, z, and rx, ry, rz."""
    words: Sequence[str] = directions.split()
    names = [part for word in words for part in ([word] if word in _DIRECTIONS else word)]
    if not names:
        raise _fault(name, "has no directions", "give some of 'xyz' and 'rx ry rz', as in 'xyz rx'")
    for k, part in enumerate(names):
        if part not in _DIRECTIONS:
            valid = "valid: 'x', 'y', 'z' (also as 'xyz'), and 'rx', 'ry', 'rz'"
            raise _fault(name, f"has no direction {part!r}, given in {directions!r}", valid)
        if part in names[:k]:
            raise _fault(name, f"has direction {part!r} twice in {directions!r}")
        yield _DIRECTIONS.index(part)


# ---- rows of J


class Held:
    """A constraint at a configuration.

    Attributes:
        constraint: that is held.
        support: the dofs that matter to it, the last one first.
        p: where it acts; in world axes, as are all vectors here.
        axes: along which it acts; axes_turn: whether they turn with the frame; turn_axes: about which it holds.
    """

    def __init__(self, mechanism: Mechanism, constraint: Constraint, poses: Sequence[Transform], axes: str):
        c = self.constraint = constraint
        self.mechanism, self.poses = mechanism, poses
        self.support = support_of(mechanism, [c.a, c.b])
        self.p = self._in_world(c.a, c.X_a.p)
        self.axes = [Vector.unit(k) for k in range(3)]
        self.axes_turn = axes == "local" and not c.is_closure
        self.turn_axes: list[Vector] = []
        self._points = point_columns(mechanism, poses, c.a, self.p)
        if c.X_b is not None:
            p_b = self._in_world(c.b, c.X_b.p)
            self._points = relative(self._points, point_columns(mechanism, poses, c.b, p_b))
            if c.kind == "distance":
                apart = self.p - p_b
                self._length = sqrt(apart.dot(apart))
                self.axes = [apart * (1 / self._length)]
            if c.across:
                self.turn_axes = [self._turned(c.b, c.X_b.R.rotate(axis)) for axis in c.across]
        if self.axes_turn:
            R = poses[c.a].R
            self.axes = [R.rotate(c.X_a.R.rotate(axis)) for axis in self.axes]
        self.turn_axes = self.turn_axes or self.axes

    def _in_world(self, i: int, p: Vector) -> Vector:
        return self.poses[i].transform_point(p) if i >= 0 else p

    def _turned(self, i: int, direction: Vector) -> Vector:
        return self.poses[i].R.rotate(direction) if i >= 0 else direction

    def rows(self) -> list[tuple[Columns, Vector]]:
        """Each row of J as columns, a vector for each dof that counts, and the direction to take of them."""
        c = self.constraint
        turns: Columns = {}
        if any(k > 2 for k in c.directions):
            turns = turn_columns(self.mechanism, self.poses, c.a)
            turns = relative(turns, turn_columns(self.mechanism, self.poses, c.b)) if c.is_closure else turns
        return [(self._points, self.axes[k]) if k < 3 else (turns, self.turn_axes[k - 3]) for k in c.directions]

    def biases(self, motions: Sequence[LinkMotion], v: Scalars, a_world: Vector) -> list[Scalar]:
        """Jdot v of each row, from motions with vd = 0 in a world that accelerates with ``a_world``."""
        c = self.constraint
        a, wd = self._acceleration(motions, c.a, c.X_a, a_world)
        if c.X_b is not None:
            a_b, wd_b = self._acceleration(motions, c.b, c.X_b, a_world)
            a, wd = a - a_b, wd - wd_b
        if c.kind == "distance":
            # the line between the frames turns: their motion across it adds to the second rate of their distance
            u = self._velocity(v)
            along = self.axes[0].dot(u)
            return [self.axes[0].dot(a) + (u.dot(u) - along * along) / self._length]
        if self.axes_turn:
            # axes that turn with the frame: d/dt (R^T u) = R^T (a - w x u)
            w = self.poses[c.a].R.rotate(motions[c.a].w)
            a = a - w.cross(self._velocity(v))
        found = [self.axes[k].dot(a) if k < 3 else self.turn_axes[k - 3].dot(wd) for k in c.directions]
        if c.across:
            # directions that are fixed in b turn with it
            w_a, w_b = (self._turned(i, motions[i].w) if i >= 0 else Vector.zero() for i in (c.a, c.b))
            found[3:] = [x + w_b.cross(e).dot(w_a - w_b) for x, e in zip(found[3:], self.turn_axes, strict=True)]
        return found

    def _velocity(self, v: Scalars) -> Vector:
        return sum((column * v[d] for d, column in self._points.items()), Vector.zero())

    def _acceleration(
        self, motions: Sequence[LinkMotion], i: int, X: Transform, a_world: Vector
    ) -> tuple[Vector, Vector]:
        """Of a frame on link i: of its origin, and angular; in world axes, as seen from a world at rest."""
        if i < 0:
            return Vector.zero(), Vector.zero()
        motion, R = motions[i], self.poses[i].R
        return R.rotate(motion.a + motion.U @ X.p) - a_world, R.rotate(motion.wd)


def held_constraints(robot: Robot, q: Scalars, contacts: Contacts, axes: str = "world") -> list[Held]:
    """The constraints of contacts at a configuration."""
    check_one_of("axes", axes, AXES, error=ContactError)
    constraints = constraints_of(robot, contacts)
    # places count from the root, unless one of them is in the world
    from_root = not any(c.is_closure and min(c.a, c.b) < 0 for c in constraints)
    poses = link_poses(robot.mechanism, q, about_root=from_root)
    return [Held(robot.mechanism, c, poses, axes) for c in constraints]


def jacobian_rows(held: Iterable[Held]) -> list[dict[int, Scalar]]:
    """Rows of J by dof, without the columns that are zero."""
    return [{d: axis.dot(column) for d, column in columns.items()} for h in held for columns, axis in h.rows()]


def bias_rows(robot: Robot, held: Iterable[Held], q: Scalars, v: Scalars, a_world: Vector) -> list:
    """Jdot v of all rows, by motions in a world that accelerates with ``a_world``.

    The result is the same for any ``a_world``; with the one of Newton-Euler, the motions are those of
    Newton-Euler, too, and a kernel computes them once.
    """
    motions = link_motions(robot.mechanism, q, v, [0] * robot.nv, a_world)
    return [entry for h in held for entry in h.biases(motions, v, a_world)]


@robot_function
def contact_jacobian(robot: Robot, q: Scalars, *, contacts: Contacts, axes: str = "world") -> list[list[Scalar]]:
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
def contact_bias(robot: Robot, q: Scalars, v: Scalars, *, contacts: Contacts, axes: str = "world") -> list[Scalar]:
    """The acceleration of the contacts at vd = 0: Jdot v, m, so that d/dt (J v) = J vd + Jdot v.

    From the motion of the links, without Jdot itself. The acceleration of a frame is the classical one in world
    axes; in its own axes, which turn, it is less by w x u. Of a distance with direction n and relative velocity u,
    the bias is n . a + (u . u - (n . u)^2) / length.

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
        contacts, axes: as for `contact_jacobian`.
    """
    return bias_rows(robot, held_constraints(robot, q, contacts, axes), q, v, Vector.zero())
