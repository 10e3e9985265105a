"""Loop closures: what each holds of two frames, how far it is open, and how that accelerates by itself.

| kind | held | rows |
|---|---|---|
| "point" | the origins together | 3, along x, y, z |
| "hinge" | the origins, and an axis that both frames have | 5: x, y, z, and turning about two directions across it |
| "weld" | the origins and all axes | 6, moving along and turning about x, y, z |
| "distance" | the origins at a length | 1, along the line between them |

Rows are velocities of frame a as seen from frame b. Directions are the world's; those across the axis of a hinge are
fixed in frame b. A link that carries both frames moves neither against the other, so its dofs are not in the rows.

A basis is made of rows along the axes of frame b (`in_axes`, `in_world`): across a planar loop, one of them is rounding
then, while each axis of the world has a part of it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pliant.contact.constraint_rows import (
    Columns, Record, eliminated, point_columns, relative, support_of, tangents_of, turn_columns,
)  # fmt: skip
from pliant.contact.loops import Basis, closed_basis
from pliant.dynamics.kinematics import LinkMotion
from pliant.robot import Closure, Mechanism, Robot
from pliant.scalar import Scalar, Scalars, minimum, sqrt
from pliant.spatial import Rotation, Transform, Vector

SIZES = {"point": 3, "hinge": 5, "weld": 6, "distance": 1}
"""How many directions each kind holds."""

# keeps the line between frames that meet finite [m]
_APART = 1e-12


@dataclass(frozen=True)
class ClosureRows:
    """A closure between two links.

    Attributes:
        a, b: links, -1 for the world; X_a, X_b: the frames in them.
        support: the dofs that matter.
        common: the links that carry both.
    """

    closure: Closure
    a: int
    b: int
    X_a: Transform
    X_b: Transform
    support: tuple[int, ...]
    common: frozenset[int]

    @property
    def size(self) -> int:
        """How many directions it holds."""
        return SIZES[self.closure.kind]

    @property
    def triples(self) -> int:
        """How many times it holds three directions, x, y and z: those of its first rows."""
        return {"point": 1, "hinge": 1, "weld": 2, "distance": 0}[self.closure.kind]


class ClosureRow(NamedTuple):
    """One direction that is held: the row of J is direction . columns; ``gap`` says how far it is open [m or rad]."""

    columns: Columns
    direction: Vector
    gap: Scalar

    @property
    def entries(self) -> dict[int, Scalar]:
        """The row of J, by dof."""
        return {d: self.direction.dot(column) for d, column in self.columns.items()}


def closure_group(robot: Robot, closure: Closure) -> ClosureRows:
    """A closure as the solver sees it."""
    mechanism = robot.mechanism
    (a, X_a), (b, X_b) = mechanism.frame(closure.a), mechanism.frame(closure.b)
    above = [{i, *mechanism.ancestors(i)} if i >= 0 else set() for i in (a, b)]
    return ClosureRows(closure, a, b, X_a, X_b, support_of(mechanism, [a, b]), frozenset(above[0] & above[1]))


def across_axis(axis: Scalars) -> tuple[Vector, Vector]:
    """Two directions across the axis of a hinge, in the frame that it is given in."""
    return tangents_of(Vector(*axis))


def closure_rows(
    mechanism: Mechanism, group: ClosureRows, poses: Sequence[Transform], origin: Vector
) -> list[ClosureRow]:
    """The rows of a closure at a configuration; poses are in the world's axes about ``origin``."""
    X_A, X_B = _frames(group, poses, origin)
    kind = group.closure.kind
    points = _points(mechanism, group, poses, X_A, X_B, group.common)
    gaps = _gaps(group, X_A, X_B)
    if kind == "distance":
        return [ClosureRow(points, _line(X_A, X_B)[0], gaps[0])]
    rows = [ClosureRow(points, Vector.unit(k), gaps[k]) for k in range(3)]
    if kind != "point":
        turns = relative(*(turn_columns(mechanism, poses, i, group.common) for i in (group.a, group.b)))
        rows += [ClosureRow(turns, axis, x) for axis, x in zip(_turning_axes(group, X_B), gaps[3:], strict=True)]
    return rows


def closure_gaps(group: ClosureRows, poses: Sequence[Transform], origin: Vector) -> list[Scalar]:
    """How far a closure is open along each of its rows [m or rad]."""
    return _gaps(group, *_frames(group, poses, origin))


def closure_bends(
    mechanism: Mechanism, group: ClosureRows, poses: Sequence[Transform], origin: Vector, v: Scalars,
    motions: Sequence[LinkMotion], a_world: Vector,
) -> list[Scalar]:  # fmt: skip
    """How the rows' velocities accelerate if all joints keep theirs, Jdot v [m/s^2 or rad/s^2].

    Args:
        motions: of the links with the vd of joints that keep their velocity, in a world that accelerates with
            ``a_world``.
    """
    X_A, X_B = _frames(group, poses, origin)
    (a_A, wd_A, w_A), (a_B, wd_B, w_B) = (
        _motion(poses, motions, i, X, a_world) for i, X in ((group.a, group.X_a), (group.b, group.X_b))
    )
    a = a_A - a_B
    kind = group.closure.kind
    if kind == "distance":
        # the line between the frames turns, with links that carry both, too
        n, length = _line(X_A, X_B)
        points = _points(mechanism, group, poses, X_A, X_B, frozenset())
        u = sum((column * v[d] for d, column in points.items()), Vector.zero())
        along = n.dot(u)
        return [n.dot(a) + (u.dot(u) - along * along) / length]
    bends: list[Scalar] = list(a)
    if kind == "weld":
        bends += list(wd_A - wd_B)
    if kind == "hinge":
        # directions fixed in b turn with it
        wd, w = wd_A - wd_B, w_A - w_B
        bends += [axis.dot(wd) + w_B.cross(axis).dot(w) for axis in _turning_axes(group, X_B)]
    return bends


def in_axes(group: ClosureRows, poses: Any, values: Iterable[Scalar]) -> list[Scalar]:
    """Values of a closure's rows along x, y and z, as those along the axes of frame b."""
    return _turned(group, values, _axes(group, poses).rotate_back)


def in_world(group: ClosureRows, poses: Any, values: Iterable[Scalar]) -> list[Scalar]:
    """The other way round."""
    return _turned(group, values, _axes(group, poses).rotate)


def _axes(group: ClosureRows, poses: Any) -> Rotation:
    return ((poses[group.b] if group.b >= 0 else Transform.identity()) @ group.X_b).R


def _turned(group: ClosureRows, values: Iterable[Scalar], turn: Callable[[Vector], Vector]) -> list[Scalar]:
    found = list(values)
    for k in range(0, 3 * min(group.triples, len(found) // 3), 3):
        found[k : k + 3] = turn(Vector(*found[k : k + 3]))
    return found


def _points(
    mechanism: Mechanism, group: ClosureRows, poses: Sequence[Transform], X_A: Transform, X_B: Transform,
    without: frozenset[int],
) -> Columns:  # fmt: skip
    a = point_columns(mechanism, poses, group.a, X_A.p, without)
    return relative(a, point_columns(mechanism, poses, group.b, X_B.p, without))


def _frames(group: ClosureRows, poses: Sequence[Transform], origin: Vector) -> tuple[Transform, Transform]:
    world = Transform(Transform.identity().R, -origin)
    a, b = ((poses[i] if i >= 0 else world) @ X for i, X in ((group.a, group.X_a), (group.b, group.X_b)))
    return a, b


def _line(X_A: Transform, X_B: Transform) -> tuple[Vector, Scalar]:
    """The direction from b to a, and how far they are apart."""
    apart = X_A.p - X_B.p
    length = sqrt(apart.dot(apart) + _APART * _APART)
    return apart * (1 / length), length


def _gaps(group: ClosureRows, X_A: Transform, X_B: Transform) -> list[Scalar]:
    closure = group.closure
    if closure.kind == "distance":
        return [_line(X_A, X_B)[1] - closure.length]
    gaps: list[Scalar] = list(X_A.p - X_B.p)
    if closure.kind == "weld":
        # half the sum of the axes' cross products: the turn between the frames, to second order
        R_A, R_B = X_A.R.matrix(), X_B.R.matrix()
        gaps += list(sum((R_B.column(k).cross(R_A.column(k)) * 0.5 for k in range(3)), Vector.zero()))
    if closure.kind == "hinge":
        axis = Vector(*closure.axis)
        turned = X_B.R.rotate(axis).cross(X_A.R.rotate(axis))
        gaps += [t.dot(turned) for t in _turning_axes(group, X_B)]
    return gaps


def _turning_axes(group: ClosureRows, X_B: Transform) -> list[Vector]:
    """Axes about which frames must not turn against each other."""
    if group.closure.kind == "weld":
        return [Vector.unit(k) for k in range(3)]
    return [X_B.R.rotate(t) for t in across_axis(group.closure.axis)]


def _motion(
    poses: Sequence[Transform], motions: Sequence[LinkMotion], i: int, X: Transform, a_world: Vector
) -> tuple[Vector, Vector, Vector]:
    """Of a frame on link i, in world axes: acceleration as seen from a world at rest, angular one, angular velocity."""
    if i < 0:
        return Vector.zero(), Vector.zero(), Vector.zero()
    motion, R = motions[i], poses[i].R
    return R.rotate(motion.a + motion.U @ X.p) - a_world, R.rotate(motion.wd), R.rotate(motion.w)


# ---- islands


@dataclass(frozen=True)
class Island:
    """Closures that share dofs, and the locks of joints among these: what one basis holds.

    Attributes:
        closures: their numbers, in order.
        locks: dofs of locked joints; their rows come first.
        support: the dofs that matter, the last one first.
    """

    closures: tuple[int, ...]
    locks: tuple[int, ...]
    support: tuple[int, ...]


def islands_of(groups: Sequence[ClosureRows], locks: Sequence[int] = ()) -> list[Island]:
    """The islands of closures."""
    found: list[tuple[list[int], set[int]]] = []
    for k, group in enumerate(groups):
        members, dofs = [k], set(group.support)
        for other in [island for island in found if island[1] & dofs]:
            found.remove(other)
            members, dofs = other[0] + members, other[1] | dofs
        found.append((sorted(members), dofs))
    return [
        Island(tuple(members), tuple(d for d in locks if d in dofs), tuple(sorted(dofs, reverse=True)))
        for members, dofs in sorted(found, key=lambda island: island[0])
    ]


# rows of an open loop may be off by so many times the turn that closes it, but are not doubted more than so much
_DOUBT = 2
_MOST_DOUBT = 1e-2

_TINY = 1e-30


def island_basis(
    mechanism: Mechanism, island: Island, groups: Sequence[ClosureRows], poses: Sequence[Transform], origin: Vector,
    factor: Record, precision: str,
) -> Basis:  # fmt: skip
    """The basis of all that an island holds: locks, then the rows of its closures, along the axes of their frames b."""
    D_inverse = [factor["D_inverse"][d] for d in island.support]
    x = Vector.unit(0)
    rows = [eliminated(factor, island.support, {d: x}, x) for d in island.locks]
    sizes: list[Scalar] = [factor["D_inverse"][d] for d in island.locks]
    blocks = list(range(-len(rows), 0))
    doubt: Scalar = 0
    for k in island.closures:
        found = closure_rows(mechanism, groups[k], poses, origin)
        turned = [Vector(*in_axes(groups[k], poses, Vector.unit(j))) for j in range(3)]
        axes = [Vector(*parts) for parts in zip(*turned, strict=True)]
        for j, row in enumerate(found):
            row = row._replace(direction=axes[j % 3]) if j < groups[k].triples * 3 else row
            rows.append(eliminated(factor, island.support, row.columns, row.direction))
            squares = {d: column.dot(column) for d, column in row.columns.items()}
            blocks.append(k)
            sizes.append(sum((factor["D_inverse"][d] * square for d, square in squares.items()), 0))
            lever = sum(squares.values(), 0)
            doubt = doubt + _DOUBT * _DOUBT * row.gap * row.gap / (lever + _TINY)
    doubt = minimum(doubt, _MOST_DOUBT * _MOST_DOUBT)
    return closed_basis(rows, D_inverse, sizes, [doubt] * len(rows), precision, blocks)
