"""Newton's method for Coulomb's law at all contacts of a group at once.

Corners of a foot that is flat on the ground, tips over an edge or slides feel one another so strongly that visits one
by one converge slowly. With V the six velocities of their link, a contact at r moves with u = B V, and impulses p
change V by K sum B^T p, with K the 6 x 6 matrix of the group (`pliant.contact.solver`).

Coulomb's law is the root of the natural map of `pliant.contact.coulomb`: with z = g p - u and g the largest entry of
the diagonal of G, a contact opens where z_n <= 0, sticks where |z_t| <= mu z_n, and slides elsewhere. On each of these
pieces the map is smooth [Alart and Curnier 1991], and Newton's step is linear in du and dp,

    opens    p + dp = 0
    sticks   u + du = 0
    slides   u_n + du_n = 0,    (1 - s P) g dp_t + s P du_t - mu d (g dp_n - du_n) = mu z_n d - g p_t

with d = z_t / |z_t|, P = 1 - d d^T and s = mu z_n / |z_t|. To each left side, a little of g dp is added: contacts that
are redundant then keep their shares of the impulses. Solved for dp that is dp = a - H du at each contact, and for the
wrench w of all of them,

    (1 + (sum B^T H B) K) w = sum B^T a

which has six unknowns, however many contacts there are. As much of the step is taken as brings the group nearest to the
law. Where nothing does, a whole step, half of one and visits to the contacts one by one take turns, which leads out of
most places where the method would stay.
"""

from collections.abc import Sequence
from typing import Any

from pliant.scalar import Scalar, Scalars, maximum, minimum, select, sqrt
from pliant.spatial import Vector

Record = dict[str, Any]

# how much of g dp is added
_SHARE = {"float64": 1e-8, "float32": 1e-4}

# a step that leaves less than this share of the residual, squared, is one that helps
_HELPS = 0.99

# parts of a step that are tried
_LENGTHS = (1, 1 / 2, 1 / 4, 1 / 8)

_TINY = 1e-30


def newton_step(
    contacts: Sequence[Record], K: Sequence[Scalars], V: Scalars, impulses: Sequence[Vector], precision: str
) -> tuple[list[Vector], Scalar, Scalar]:
    """Changes of the impulses, along the axes of the contacts; the residual before [m/s]; the part of them that helps.

    Args:
        contacts: rows of the contacts of a group, with their targets.
        K: lower triangle.
        V: velocities of the group.
    """
    share = _SHARE[precision]
    g = [maximum(maximum(c["G"][0], c["G"][3]), c["G"][5]) for c in contacts]
    bases = [_basis(c) for c in contacts]
    speeds = [_off_target(c, _along(B, V)) for c, B in zip(contacts, bases, strict=True)]
    now = [_residual(u, p, gain, c["mu"]) for u, p, gain, c in zip(speeds, impulses, g, contacts, strict=True)]
    pieces = [_piece(u, p, gain, c["mu"], share) for u, p, gain, c in zip(speeds, impulses, g, contacts, strict=True)]

    # times ``share``, as H is one over it at contacts that stick
    H: list[list[Scalar]] = [[0] * 6 for _ in range(6)]
    b: list[Scalar] = [0] * 6
    for (a, h), B in zip(pieces, bases, strict=True):
        HB = [[_dot3(h[r], [B[k][c] for k in range(3)]) for c in range(6)] for r in range(3)]
        for r in range(6):
            for k in range(3):
                b[r] = b[r] + B[k][r] * a[k]
            for c in range(6):
                for k in range(3):
                    H[r][c] = H[r][c] + B[k][r] * HB[k][c]
    full = [[K[max(r, c)][min(r, c)] for c in range(6)] for r in range(6)]
    matrix = [
        [sum((H[r][k] * full[k][c] for k in range(6)), 0) + (share if r == c else 0) for c in range(6)]
        for r in range(6)
    ]
    w = solved(matrix, b)
    dV = [sum((full[r][c] * w[c] for c in range(6)), 0) for r in range(6)]
    moves = [_along(B, dV) for B in bases]
    inverse = 1 / share
    changes = [
        Vector(*((a[r] - _dot3(h[r], list(du))) * inverse for r in range(3)))
        for (a, h), du in zip(pieces, moves, strict=True)
    ]

    # how near the law it comes
    before, worst = _size(now), _largest(now)
    best, length = before * _HELPS, 0
    for t in _LENGTHS:
        after = _size([
            _residual(u + du * t, p + dp * t, gain, c["mu"])
            for u, du, p, dp, gain, c in zip(speeds, moves, impulses, changes, g, contacts, strict=True)
        ])  # fmt: skip
        is_best = after < best
        best, length = select(is_best, after, best), select(is_best, t, length)
    return changes, worst, length


def _basis(contact: Record) -> list[list[Scalar]]:
    """B: rows of the velocity of a contact along its axes, of the six of the group."""
    r = Vector(*contact["r"])
    rows = []
    for axis in contact["axes"]:
        a = Vector(*axis)
        rows.append([*a, *r.cross(a)])
    return rows


def _along(B: Sequence[Scalars], V: Scalars) -> Vector:
    return Vector(*(sum((x * y for x, y in zip(row, V, strict=True)), 0) for row in B))


def _off_target(contact: Record, u: Vector) -> Vector:
    slip_x, slip_y = contact["slip"]
    return Vector(u.x - slip_x, u.y - slip_y, u.z - contact["target"])


def _residual(u: Vector, p: Vector, g: Scalar, mu: Scalar) -> Vector:
    """The natural map of a contact, as a velocity: zero where it obeys Coulomb's law."""
    z_n = maximum(g * p.z - u.z, 0)
    tx, ty = g * p.x - u.x, g * p.y - u.y
    bound, size2 = mu * z_n, tx * tx + ty * ty
    cut = select(size2 > bound * bound, bound / sqrt(maximum(size2, _TINY)), 1)
    return Vector(tx * cut - g * p.x, ty * cut - g * p.y, z_n - g * p.z)


def _piece(u: Vector, p: Vector, g: Scalar, mu: Scalar, share: float) -> tuple[Vector, list[list[Scalar]]]:
    """a and H of dp = a - H du, both times ``share``."""
    z = p * g - u
    size = sqrt(maximum(z.x * z.x + z.y * z.y, _TINY))
    bound = mu * z.z
    is_open, sticks = z.z <= 0, size <= bound
    inverse = 1 / g
    inverse_size = 1 / size
    dx, dy = z.x * inverse_size, z.y * inverse_size
    s = minimum(maximum(bound * inverse_size, 0), 1)
    # sliding: across d, along d, and along the normal
    across = s * share / (1 - s + share) * inverse
    fx, fy = bound * dx - g * p.x, bound * dy - g * p.y
    push = -u.z * inverse  # times share already
    along, cross = (fx * dx + fy * dy) * share, (fy * dx - fx * dy) * share
    along = (along + mu * g * push) * (inverse / (1 + share))
    cross = cross * inverse / (1 - s + share)
    a_slide = (along * dx - cross * dy, along * dy + cross * dx, push)
    H_slide = [
        [across * (1 - dx * dx), -across * dx * dy, mu * inverse * dx],
        [-across * dx * dy, across * (1 - dy * dy), mu * inverse * dy],
        [0, 0, inverse],
    ]
    a_stick = [-x * inverse for x in u]
    a_open = [-x * share for x in p]
    a = Vector(
        *(
            select(is_open, o, select(sticks, t, x))
            for o, t, x in zip(a_open, a_stick, a_slide, strict=True)
        )
    )  # fmt: skip
    H = [
        [select(is_open, 0, select(sticks, inverse if r == c else 0, H_slide[r][c])) for c in range(3)]
        for r in range(3)
    ]
    return a, H


def solved(matrix: Sequence[Scalars], b: Scalars) -> list[Scalar]:
    """The solution of a linear system by modified Gram-Schmidt, b among the columns: no pivots, and stable."""
    n = len(b)
    columns = [[matrix[r][c] for r in range(n)] for c in range(n)] + [list(b)]
    R: list[list[Scalar]] = [[0] * (n + 1) for _ in range(n)]
    inverses: list[Scalar] = []
    for j in range(n):
        length2 = sum((x * x for x in columns[j]), 0)
        inverse = 1 / sqrt(maximum(length2, _TINY))
        q = [x * inverse for x in columns[j]]
        inverses.append(inverse)
        for k in range(j + 1, n + 1):
            R[j][k] = sum((x * y for x, y in zip(q, columns[k], strict=True)), 0)
            columns[k] = [x - y * R[j][k] for x, y in zip(columns[k], q, strict=True)]
    x: list[Scalar] = [0] * n
    for j in reversed(range(n)):
        x[j] = R[j][n]
        for k in range(j + 1, n):
            x[j] = x[j] - R[j][k] * x[k]
        x[j] = x[j] * inverses[j]
    return x


def _dot3(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def _size(residuals: Sequence[Vector]) -> Scalar:
    return sum((r.dot(r) for r in residuals), 0)


def _largest(residuals: Sequence[Vector]) -> Scalar:
    found: Scalar = 0
    for r in residuals:
        found = maximum(found, r.dot(r))
    return sqrt(found)
