"""Newton's method for Coulomb's law at all contacts of a group at once.

Corners of a foot that is flat on the ground, tips over an edge or slides feel one another so strongly that visits one
by one converge slowly. With V the six velocities of their link, a contact at r moves with u = B V, and impulses p
change V by K sum B^T p, with K the 6 x 6 matrix of the group (`pliant.contact.solver`).

Coulomb's law is f(z) = g p with z = g p - u, where f cuts z back to the cone: f_n = max(0, z_n), and f_t is z_t, or as
long as mu f_n if it is longer [Alart and Curnier 1991]; g is the largest entry of the diagonal of G. With F the
derivative of f, Newton's step is

    g (1 - F) dp + F du = f(z) - g p

at each contact. A little of g dp is added to the left side: contacts that are redundant then keep their shares of the
impulses. Solved for dp that is dp = a - H du, and for the wrench w of all contacts

    (1 + (sum B^T H B) K) w = sum B^T a

which has six unknowns, however many contacts there are. Groups that touch at the same time are solved together in the
same way, with the unknowns of all of them, where visits to group after group take long. The whole step is taken if it
halves the distance from the law, else as much of it as brings the contacts nearest to the law.

Where nothing does, corners of the law are rounded by a radius s [m/s]: max(0, x) becomes (x + sqrt(x^2 + 4 s^2)) / 2,
and so does the larger one of |z_t| and mu f_n. Steps from there lead to the root of the rounded law, and with s made
smaller from step to step on to that of the law itself [a path as of interior-point methods; Chen and Mangasarian 1995].
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pliant.scalar import Scalar, Scalars, abs, both, either, equal, maximum, negation, select, sqrt
from pliant.spatial import Vector

Record = dict[str, Any]

# how much of g dp is added
_SHARE = {"float64": 1e-8, "float32": 1e-4}

# a step that leaves less than this share of the residual, squared, is one that helps
_HELPS = 0.99

# no other part is looked at if the whole step leaves less than this share of it
_HELPS_MUCH = 0.25

# parts of a step that are tried
_LENGTHS = (1, 1 / 2, 1 / 4, 1 / 8)

# the radius after a whole step, after part of one, and after none that helped
_SMALLER, _LITTLE_SMALLER, _LARGER = 0.2, 0.7, 2

_TINY = 1e-30


class Newton(NamedTuple):
    """A step of a group.

    Attributes:
        impulses: after it, along the axes of the contacts, each within its cone.
        residual: before it, of the law itself [m/s].
        rounding: the radius for the next step [m/s]; 0 for the law itself.
    """

    impulses: list[Vector]
    residual: Scalar
    rounding: Scalar


class Heading(NamedTuple):
    """Where Newton's step leads, of contacts along their axes.

    Attributes:
        speeds: off what the contacts ask for, before it [m/s]; moves: changes of them by the whole step.
        changes: of the impulses by the whole step.
        before, whole: how far all contacts are from the rounded law, squared, before it and after the whole of it.
        residual: before it, of the law itself [m/s].
    """

    speeds: list[Vector]
    moves: list[Vector]
    changes: list[Vector]
    before: Scalar
    whole: Scalar
    residual: Scalar

    @classmethod
    def of(cls, record: Record) -> "Heading":
        """From its `record`."""
        return cls(**{k: [Vector(*x) for x in part] if isinstance(part, list) else part for k, part in record.items()})

    def record(self) -> Record:
        """Its numbers by name."""
        return {k: [list(x) for x in part] if isinstance(part, list) else part for k, part in self._asdict().items()}

    def may_be_long(self, tolerance: Scalar) -> Scalar:
        """Whether a part of the step may be better than the whole of it: that is worth to be looked at."""
        return both(self.residual > tolerance, negation(self.whole < self.before * _HELPS_MUCH))


def newton_step(
    contacts: Sequence[Record], bases: Sequence[Sequence[Scalars]], K: Sequence[Scalars], V: Scalars,
    impulses: Sequence[Vector], rounding: Scalar, tolerance: Scalar, precision: str,
) -> Newton:  # fmt: skip
    """A step towards Coulomb's law at all contacts of a group, or of several; arguments are those of `heading`.

    Args:
        tolerance: a residual that is none [m/s].
    """
    ahead = heading(contacts, bases, K, V, impulses, rounding, precision)
    part = shorter(contacts, ahead, impulses, rounding)
    length = select(ahead.may_be_long(tolerance), part, whole_or_none(ahead))
    return taken(contacts, ahead, impulses, rounding, tolerance, length)


def heading(
    contacts: Sequence[Record], bases: Sequence[Sequence[Scalars]], K: Sequence[Scalars], V: Scalars,
    impulses: Sequence[Vector], rounding: Scalar, precision: str,
) -> Heading:  # fmt: skip
    """Newton's step, the whole of it.

    Args:
        contacts: rows of the contacts, with their targets.
        bases: B of each contact, three rows along its axes.
        K: lower triangle; V: velocities.
        rounding: the radius of the corners [m/s].
    """
    share = _SHARE[precision]
    n = len(V)
    speeds = [_off_target(c, _along(B, V)) for c, B in zip(contacts, bases, strict=True)]
    given = _given(contacts, speeds, impulses)
    laws = [_Cut.of(p * gain - u, mu, rounding) for u, p, gain, mu in given]
    now = [_rest(law.f, p, gain) for law, (_, p, gain, _) in zip(laws, given, strict=True)]
    pieces = [_piece(p * gain - u, p, gain, mu, law, share) for law, (u, p, gain, mu) in zip(laws, given, strict=True)]

    # both sides times ``share``: H is one over it at contacts that stick
    H: list[list[Scalar]] = [[0] * n for _ in range(n)]
    b: list[Scalar] = [0] * n
    for (a, h), B in zip(pieces, bases, strict=True):
        hB = [[_dot(h[r], [B[k][c] for k in range(3)]) for c in range(n)] for r in range(3)]
        for r in range(n):
            for k in range(3):
                b[r] = b[r] + B[k][r] * a[k]
                H[r] = [x + B[k][r] * y for x, y in zip(H[r], hB[k], strict=True)]
    full = [[K[max(r, c)][min(r, c)] for c in range(n)] for r in range(n)]
    matrix = [[_dot(H[r], full[c]) + (share if r == c else 0) for c in range(n)] for r in range(n)]
    w = solved(matrix, b)
    dV = [_dot(row, w) for row in full]
    moves = [_along(B, dV) for B in bases]
    changes = [
        Vector(*((a[r] - _dot(h[r], list(du))) * (1 / share) for r in range(3)))
        for (a, h), du in zip(pieces, moves, strict=True)
    ]
    residual = _largest([
        _rest(_exact(p * gain - u, mu, law.size, law.size_inverse), p, gain)
        for law, (u, p, gain, mu) in zip(laws, given, strict=True)
    ])  # fmt: skip
    return Heading(speeds, moves, changes, _size(now), _off_law(given, moves, changes, rounding, 1), residual)


def whole_or_none(ahead: Heading) -> Scalar:
    """The part of a step that is taken if no other one is looked at."""
    return select(ahead.whole < ahead.before * _HELPS, 1, 0)


def shorter(contacts: Sequence[Record], ahead: Heading, impulses: Sequence[Vector], rounding: Scalar) -> Scalar:
    """The part of a step that comes nearest to the law; 0 if none helps."""
    given = _given(contacts, ahead.speeds, impulses)
    best, length = ahead.before * _HELPS, 0
    for t in _LENGTHS:
        after = ahead.whole if t == 1 else _off_law(given, ahead.moves, ahead.changes, rounding, t)
        is_best = after < best
        best, length = select(is_best, after, best), select(is_best, t, length)
    return length


def taken(
    contacts: Sequence[Record], ahead: Heading, impulses: Sequence[Vector], rounding: Scalar, tolerance: Scalar,
    length: Scalar,
) -> Newton:  # fmt: skip
    """The step, or that part of it."""
    smaller = select(equal(length, 1), _SMALLER, select(length > 0, _LITTLE_SMALLER, _LARGER)) * rounding
    begun = select(equal(length, 0), ahead.residual, 0)
    later = select(equal(rounding, 0), begun, select(smaller > tolerance, smaller, 0))
    given = zip(_given(contacts, ahead.speeds, impulses), ahead.moves, ahead.changes, strict=True)
    is_exact = either(equal(rounding, 0), ahead.residual <= tolerance)
    after = [_in_cone(u, du, p, dp, gain, mu, length, is_exact) for (u, p, gain, mu), du, dp in given]
    return Newton(after, ahead.residual, select(ahead.residual > tolerance, later, 0))


_Given = list[tuple[Vector, Vector, Scalar, Scalar]]


def _given(contacts: Sequence[Record], speeds: Sequence[Vector], impulses: Sequence[Vector]) -> _Given:
    """Of each contact: speed, impulse, g and friction."""
    g = [maximum(maximum(c["G"][0], c["G"][3]), c["G"][5]) for c in contacts]
    return list(zip(speeds, impulses, g, (c["mu"] for c in contacts), strict=True))


def _off_law(given: _Given, moves: Sequence[Vector], changes: Sequence[Vector], rounding: Scalar, t: float) -> Scalar:
    """How far contacts are from the rounded law after part of a step, squared."""
    return _size([
        _rest(_law((p + dp * t) * gain - u - du * t, mu, rounding), p + dp * t, gain)
        for (u, p, gain, mu), du, dp in zip(given, moves, changes, strict=True)
    ])  # fmt: skip


def _in_cone(
    u: Vector, du: Vector, p: Vector, dp: Vector, g: Scalar, mu: Scalar, length: Scalar, is_exact: Scalar
) -> Vector:  # fmt: skip
    """The impulse of a contact after part of a step, cut back to its cone; that of one that opens is none at all.

    Args:
        is_exact: whether it opens by the law itself: on the way there, what a rounded one leaves is kept.
    """
    # a step that is not finite is none
    dp, du = (Vector(*(select(length > 0, x * length, 0) for x in part)) for part in (dp, du))
    new, speed = p + dp, u.z + du.z
    is_open = either(new.z <= 0, both(is_exact, g * new.z <= speed))
    bound, size2 = mu * new.z, new.x * new.x + new.y * new.y
    cut = select(size2 > bound * bound, bound / sqrt(maximum(size2, _TINY)), 1)
    return Vector(*(select(is_open, 0, x) for x in (new.x * cut, new.y * cut, new.z)))


def basis_of(contact: Record) -> list[list[Scalar]]:
    """B of a contact of several: its velocity along its axes, of the six of the group."""
    r = Vector(*contact["r"])
    return [[*axis, *r.cross(axis)] for axis in (Vector(*x) for x in contact["axes"])]


def _along(B: Sequence[Scalars], V: Scalars) -> Vector:
    return Vector(*(_dot(row, V) for row in B))


def _off_target(contact: Record, u: Vector) -> Vector:
    slip_x, slip_y = contact["slip"]
    return Vector(u.x - slip_x, u.y - slip_y, u.z - contact["target"])


def _exact(z: Vector, mu: Scalar, size: Scalar, size_inverse: Scalar) -> Vector:
    """f(z) without rounding, with |z_t| and its inverse."""
    n = maximum(z.z, 0)
    bound = mu * n
    cut = select(size > bound, bound * size_inverse, 1)
    return Vector(z.x * cut, z.y * cut, n)


def off_law(u: Vector, p: Vector, g: Scalar, mu: Scalar) -> Scalar:
    """How far a contact is from Coulomb's law [m/s]."""
    z = p * g - u
    size = sqrt(z.x * z.x + z.y * z.y + _TINY)
    rest = _rest(_exact(z, mu, size, 1 / size), p, g)
    return sqrt(rest.dot(rest))


class _Cut(NamedTuple):
    """f(z) with rounded corners, and what its derivative is made of.

    Attributes:
        f: the law; size: |z_t|; n_slope: df_n / dz_n.
        bound: mu f_n; inverse: 1 / (bound + what the corner leaves of size - bound); slope: its derivative by that.
        size_inverse: 1 / size.
    """

    f: Vector
    size: Scalar
    n_slope: Scalar
    bound: Scalar
    inverse: Scalar
    slope: Scalar
    size_inverse: Scalar

    @classmethod
    def of(cls, z: Vector, mu: Scalar, rounding: Scalar) -> "_Cut":
        """At z. Two divisions are enough for four inverses."""
        n, n_root, bound, size, over, root = _corners(z, mu, rounding)
        both_roots, both_sizes = 1 / (n_root * root), 1 / (size * over)
        inverse, size_inverse = size * both_sizes, over * both_sizes
        cut = bound * inverse
        return cls(
            f=Vector(z.x * cut, z.y * cut, n), size=size, bound=bound, inverse=inverse, size_inverse=size_inverse,
            n_slope=(1 + z.z * root * both_roots) / 2, slope=(1 + (size - bound) * n_root * both_roots) / 2,
        )  # fmt: skip


def _corners(z: Vector, mu: Scalar, rounding: Scalar) -> tuple[Scalar, ...]:
    """f_n and its root, the bound, |z_t|, the larger one of both with a rounded corner, and its root."""
    extra = 4 * rounding * rounding + _TINY
    n_root = sqrt(z.z * z.z + extra)
    n = (z.z + n_root) / 2
    bound, size = mu * n, sqrt(z.x * z.x + z.y * z.y + _TINY)
    x = size - bound
    root = sqrt(x * x + extra)
    return n, n_root, bound, size, bound + (x + root) / 2, root


def _law(z: Vector, mu: Scalar, rounding: Scalar) -> Vector:
    """f(z) with rounded corners."""
    n, _, bound, _, over, _ = _corners(z, mu, rounding)
    cut = bound / over
    return Vector(z.x * cut, z.y * cut, n)


def _piece(z: Vector, p: Vector, g: Scalar, mu: Scalar, law: _Cut, share: float) -> tuple[Vector, list[list[Scalar]]]:
    """a and H of dp = a - H du, both times ``share``."""
    size, inverse, slope, dn = law.size, law.inverse, law.slope, law.n_slope
    cut = law.bound * inverse
    # f_t = cut z_t: along z_t, across it, and with z_n
    d = Vector(z.x * law.size_inverse, z.y * law.size_inverse, 0)
    along = cut * (1 - size * inverse * slope)
    with_n = size * inverse * (1 - cut * (1 - slope)) * mu * dn
    rest = _rest(law.f, p, g)
    # E = g (1 + share - F) is triangular: across, along, and along the normal
    stiff_across, stiff_along, stiff_n = (1 + share - part for part in (cut, along, dn))
    scale = share / (g * stiff_across * stiff_along * stiff_n)
    across_inverse = scale * stiff_along * stiff_n
    along_inverse, n_inverse = scale * stiff_across * stiff_n, scale * stiff_across * stiff_along
    a_n = rest.z * n_inverse
    a_along = along_inverse * (rest.x * d.x + rest.y * d.y + with_n * g * a_n / share)
    a_across = across_inverse * (rest.y * d.x - rest.x * d.y)
    h_n = n_inverse * dn
    h_along, h_across = along_inverse * along, across_inverse * cut
    h_cross = along_inverse * (with_n + with_n * g * h_n / share)
    mixed = (h_along - h_across) * d.x * d.y
    a = Vector(a_along * d.x - a_across * d.y, a_along * d.y + a_across * d.x, a_n)
    H = [
        [h_along * d.x * d.x + h_across * d.y * d.y, mixed, h_cross * d.x],
        [mixed, h_along * d.y * d.y + h_across * d.x * d.x, h_cross * d.y],
        [0, 0, h_n],
    ]
    return a, H


def _rest(f: Vector, p: Vector, g: Scalar) -> Vector:
    """How far impulses are from the law, as a velocity."""
    return f - p * g


def solved(matrix: Sequence[Scalars], b: Scalars) -> list[Scalar]:
    """The solution of a linear system by elimination without pivots: a step that rounding spoils helps nothing."""
    n = len(b)
    rows = [[*row, x] for row, x in zip(matrix, b, strict=True)]
    inverses: list[Scalar] = []
    for k in range(n):
        pivot = rows[k][k]
        inverse = 1 / select(abs(pivot) > _TINY, pivot, _TINY)
        inverses.append(inverse)
        for r in range(k + 1, n):
            factor = rows[r][k] * inverse
            rows[r] = [x - y * factor if c > k else x for c, (x, y) in enumerate(zip(rows[r], rows[k], strict=True))]
    x: list[Scalar] = [0] * n
    for j in reversed(range(n)):
        x[j] = rows[j][n]
        for k in range(j + 1, n):
            x[j] = x[j] - rows[j][k] * x[k]
        x[j] = x[j] * inverses[j]
    return x


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def _size(residuals: Sequence[Vector]) -> Scalar:
    return sum((r.dot(r) for r in residuals), 0)


def _largest(residuals: Sequence[Vector]) -> Scalar:
    found: Scalar = 0
    for r in residuals:
        found = maximum(found, r.dot(r))
    return sqrt(found)
