"""A path to a solution of all laws of a step at once: of contacts, limits, dry friction and motors with limits.

Where a limit of a joint and a contact with friction push each other away in turn, neither can be solved for what the
other one is. So here all laws have unknowns: v of all dofs and an impulse p of each law, with

    A v = b + sum p along the dofs of joints + J^T p of contacts

A law with velocity u is f(z) = g p, z = g p - u, as in `pliant.contact.newton`, where f cuts z back to what the law can
give; g is some inverse inertia. Corners of f are rounded by a radius s [m/s]. With a large s, Newton's method finds a
solution from no impulse. As s shrinks it moves along a path, towards a solution of the laws themselves. With friction a
path may turn back for a while, so that s grows again. Therefore it is followed by its
length, not by s [pseudo-arclength continuation; Keller 1977]: from a point on it along its tangent, and back to it
across the tangent. That is one linear system an iteration, with two right sides: the rest of the laws, and their
derivative by log s. Linear systems have the zeros of the mass matrix: laws of joints add to its diagonal, contacts with
the ground among the dofs between their link and the world.

Redundant contacts keep the shares of impulses that they have by a little of g dp that is added to each law, as there.
Lengths are measured by velocities, which do not depend on these shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pliant.contact.newton import off_law
from pliant.scalar import Scalar, Scalars, abs, both, either, equal, exp, maximum, minimum, negation, select, sqrt
from pliant.spatial import Vector

# how much of g dp is added to each law
_SHARE = {"float64": 1e-6, "float32": 1e-3}

# a point is on the path if what is left of the laws is less than so many radii
_ON = 0.05

# corrections of a point, and of the first one
_CORRECTIONS, _FIRST = 6, 10

# velocities count by this many radii, next to log s
_LEVER = 10

# log s changes by no more in a step along the tangent, and in a correction
LONGEST, _JUMP = 1.6, 1.5

_TINY = 1e-30


class Rounded(NamedTuple):
    """A rounded corner: max(0, x), its slope, and its derivative by log s."""

    value: Scalar
    slope: Scalar
    rate: Scalar


def rounded(x: Scalar, s: Scalar) -> Rounded:
    """(x + sqrt(x^2 + 4 s^2)) / 2, without loss of digits where x is negative."""
    root = sqrt(x * x + 4 * s * s + _TINY)
    other = 2 * s * s / root
    size = (abs(x) + root) / 2
    value = select(x > 0, size, s * s / size)
    return Rounded(value, value / root, other)


# ---- laws of joints


@dataclass(frozen=True)
class JointLaw:
    """A law along a dof.

    Attributes:
        g: an inverse inertia [1/kg or 1/(kg m^2)].
        kind: "limit", with low and high of u as its numbers; "friction", with its largest impulse; "motor", with the
            impulse at u = 0, what u takes off it, and its lower and upper bound.
    """

    dof: int
    g: Scalar
    kind: str
    numbers: Scalars

    def cut(self, z: Scalar, s: Scalar) -> Rounded:
        """f(z) with rounded corners."""
        g = self.g
        if self.kind == "limit":
            low, high = self.numbers
            a, b = rounded(z + low, s), rounded(-(z + high), s)
            return Rounded(a.value - b.value, a.slope + b.slope, a.rate - b.rate)
        if self.kind == "friction":
            y, lower, upper, slope = z, -g * self.numbers[0], g * self.numbers[0], 1
        else:
            y, slope, lower, upper = self._line(z)
        a, b = rounded(y - lower, s), rounded(y - upper, s)
        return Rounded(lower + a.value - b.value, (a.slope - b.slope) * slope, a.rate - b.rate)

    def piece(self, z: Scalar) -> Scalar:
        """The piece that z is on, as in `pliant.contact.joint_laws`."""
        if self.kind == "limit":
            low, high = self.numbers
            return select(z + low > 0, 1, select(z + high < 0, -1, 0))
        if self.kind == "friction":
            bound = self.g * self.numbers[0]
            return select(z > bound, -1, select(z < -bound, 1, 0))
        y, _, lower, upper = self._line(z)
        return select(y > upper, 1, select(y < lower, -1, 0))

    def _line(self, z: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """g p of a motor without limits, its slope, and g times the limits."""
        g, (push, gain, lower, upper) = self.g, self.numbers
        share = g / (g * gain + 1)
        return (z * gain + push) * share, gain * share, g * lower, g * upper


# ---- contacts


@dataclass(frozen=True)
class GroundLaw:
    """Coulomb's law at one contact of a group.

    Attributes:
        B: its velocity along its axes, normal last, of those of the group.
        wanted: the velocity that it is measured from.
    """

    B: Sequence[Scalars]
    wanted: Vector
    mu: Scalar
    g: Scalar


@dataclass(frozen=True)
class GroundGroup:
    """The contacts of a group.

    Attributes:
        near: whether it takes part.
        J: rows of velocities that its contacts share, entries by dof.
    """

    near: Scalar
    J: Sequence[Mapping[int, Scalar]]
    contacts: Sequence[GroundLaw]

    def velocities(self, v: Scalars) -> list[Vector]:
        """Of the contacts, along their axes."""
        V = [sum((x * v[d] for d, x in row.items()), 0) for row in self.J]
        return [Vector(*(_dot(row, V) for row in c.B)) for c in self.contacts]


class Share(NamedTuple):
    """A contact at a point: what is left of its law, and dp = a - H du.

    Attributes:
        left: f(z) - g p; a: E^-1 of it; a_rate: E^-1 of its derivative by log s.
        H: three rows.
    """

    left: Vector
    a: Vector
    a_rate: Vector
    H: list[list[Scalar]]


def _contact_share(u: Vector, p: Vector, law: GroundLaw, s: Scalar, share: float) -> Share:
    """E dp + F du = f(z) - g p with E = g (1 + share - F), F the derivative of f; as in `pliant.contact.newton`."""
    g, mu, z = law.g, law.mu, p * law.g - u
    n = rounded(z.z, s)
    bound, size = mu * n.value, sqrt(z.x * z.x + z.y * z.y + _TINY)
    over = rounded(size - bound, s)
    inverse = 1 / (bound + over.value)
    cut = bound * inverse
    d = Vector(z.x / size, z.y / size, 0)
    along = cut * (1 - size * inverse * over.slope)
    by_n = size * inverse * (1 - cut * (1 - over.slope)) * mu
    # f_t grows with the bound, and shrinks with what rounds the corner
    rate_along = by_n * n.rate - size * inverse * cut * over.rate
    left = Vector(z.x * cut, z.y * cut, n.value) - p * g
    scale = 1 / g
    across_inverse, along_inverse, n_inverse = (scale / (1 + share - part) for part in (cut, along, n.slope))
    with_n = by_n * n.slope

    def solved(along: Scalar, across: Scalar, normal: Scalar) -> Vector:
        x_n = normal * n_inverse
        x_along = along_inverse * (along + with_n * g * x_n)
        x_across = across_inverse * across
        return Vector(x_along * d.x - x_across * d.y, x_along * d.y + x_across * d.x, x_n)

    a = solved(left.x * d.x + left.y * d.y, left.y * d.x - left.x * d.y, left.z)
    a_rate = solved(rate_along, 0, n.rate)
    h_n = n_inverse * n.slope
    h_along, h_across = along_inverse * along, across_inverse * cut
    h_cross = along_inverse * with_n * (1 + g * h_n)
    mixed = (h_along - h_across) * d.x * d.y
    H = [
        [h_along * d.x * d.x + h_across * d.y * d.y, mixed, h_cross * d.x],
        [mixed, h_along * d.y * d.y + h_across * d.x * d.x, h_cross * d.y],
        [0, 0, h_n],
    ]
    return Share(left, a, a_rate, H)


# ---- the path


@dataclass(frozen=True)
class Laws:
    """All laws of a step.

    Attributes:
        A: rows of the lower triangle; b: A v without any of the laws.
        support: of each dof, the dofs between it and the root, itself among them.
    """

    A: Mapping[int, Mapping[int, Scalar]]
    b: Scalars
    support: Sequence[Sequence[int]]
    joints: Sequence[JointLaw]
    groups: Sequence[GroundGroup]

    @property
    def size(self) -> int:
        """How many unknowns there are: velocities, impulses of joints, impulses of contacts."""
        return len(self.b) + len(self.joints) + 3 * sum(len(group.contacts) for group in self.groups)

    def parts(self, x: Scalars) -> tuple[list[Scalar], list[Scalar], list[list[Vector]]]:
        """v, impulses of joints, and of the contacts of each group."""
        n, k = len(self.b), len(self.b) + len(self.joints)
        pushes = []
        for group in self.groups:
            pushes.append([Vector(*x[k + 3 * i : k + 3 * i + 3]) for i in range(len(group.contacts))])
            k += 3 * len(group.contacts)
        return list(x[:n]), list(x[n : n + len(self.joints)]), pushes


@dataclass(frozen=True)
class Walk:
    """Where on the path a robot is.

    Attributes:
        x: unknowns of the point that is looked at; s: its radius [m/s].
        base: of the last point on the path; base_s: its radius.
        tangent: there, of x, per length; tangent_s: that of log s.
        length: of the step from there; left: what was left of the laws before; count: corrections so far.
        begun: whether the path has been reached; longest: change of log s in a step.
    """

    x: Scalars
    s: Scalar
    base: Scalars
    base_s: Scalar
    tangent: Scalars
    tangent_s: Scalar
    length: Scalar
    left: Scalar
    count: Scalar
    begun: Scalar
    longest: Scalar

    @staticmethod
    def start(v: Scalars, size: int, s: Scalar, longest: Scalar = LONGEST) -> "Walk":
        """Without any impulse."""
        none: list[Scalar] = [0] * size
        return Walk([*v, *none[len(v) :]], s, none, s, none, 0, 1, 0, 0, 0, longest)


def walked(laws: Laws, walk: Walk, precision: str) -> tuple[Walk, Scalar, Scalar]:
    """The next point to look at; whether this one is on the path, and so the ``base`` of the next; how far off it is.

    The last one is the largest residual of all laws without rounding [m/s].
    """
    (v, p, pushes), s, share = laws.parts(walk.x), walk.s, _SHARE[precision]
    gains: dict[int, Scalar] = {}
    b = _left_of_momentum(laws, v)
    sides = [b, [0] * len(b)]
    size2, worst = 0, 0

    # laws of joints
    joints = []
    for law, own in zip(laws.joints, p, strict=True):
        f = law.cut(law.g * own - v[law.dof], s)
        left, inverse = f.value - law.g * own, 1 / (law.g * (1 + share - f.slope))
        a, a_rate, h = left * inverse, f.rate * inverse, f.slope * inverse
        joints.append((a, a_rate, h))
        gains[law.dof] = gains.get(law.dof, 0) + h
        sides[0][law.dof] = sides[0][law.dof] + own + a
        sides[1][law.dof] = sides[1][law.dof] + a_rate
        size2 = size2 + left * left
        worst = maximum(worst, abs(law.cut(law.g * own - v[law.dof], 0).value - law.g * own))

    # contacts
    M = _full(laws, gains)
    contacts: list[list[Share]] = []
    for group, own in zip(laws.groups, pushes, strict=True):
        speeds = group.velocities(v)
        given = zip(speeds, own, group.contacts, strict=True)
        shares = [_contact_share(u - c.wanted, q, c, s, share) for u, q, c in given]
        contacts.append(shares)
        _add_group(group, own, shares, M, sides)
        size2 = size2 + select(group.near, sum((x.left.dot(x.left) for x in shares), 0), 0)
        for u, q, c in zip(speeds, own, group.contacts, strict=True):
            worst = maximum(worst, select(group.near, off_law(u - c.wanted, q, c.g, c.mu), 0))
    left = sqrt(size2) / s

    # Newton's step, and the way along the path for a change of log s by one
    steps = _solved(laws.support, M, sides)
    x0, x1 = (_unknowns(laws, dv, joints, contacts, k) for k, dv in enumerate(steps))
    return *_next(laws, walk, left, x0, x1), worst


def _next(laws: Laws, walk: Walk, left: Scalar, x0: list[Scalar], x1: list[Scalar]) -> tuple[Walk, Scalar]:
    """The point to look at after this one; see `walked`."""
    first = equal(walk.begun, 0)
    is_on = either(left < _ON, both(first, walk.count >= _FIRST))

    # on the path: along its tangent, the way that the last one went; at first, to smaller radii
    along, across = _measured(laws, x1, x1), _measured(laws, x1, walk.tangent)
    scale = 1 / (_LEVER * _LEVER * walk.s * walk.s)
    unit = 1 / sqrt(along * scale + 1)
    sign = select(both(negation(first), across * scale + walk.tangent_s > 0), unit, -unit)
    grown = walk.length * select(walk.count <= 1, 2, select(walk.count <= 3, 1.4, 1))
    longest = walk.longest / maximum(unit, 1 / 16)
    ahead = minimum(select(first, walk.length, grown), longest)

    # beside it: back across the tangent, or from the base with a shorter step
    scale = 1 / (_LEVER * _LEVER * walk.base_s * walk.base_s)
    steep = _measured(laws, walk.tangent, x1) * scale + walk.tangent_s
    jump = select(first, 0, -_measured(laws, walk.tangent, x0) * scale / select(first, 1, steep))
    nears = both(both(left < walk.left, walk.count < _CORRECTIONS), abs(jump) < _JUMP)
    nears = either(first, nears)
    shorter = walk.length / 3

    def chosen(on: Scalar, corrected: Scalar, again: Scalar) -> Scalar:
        return select(is_on, on, select(nears, corrected, again))

    tangent = [select(is_on, sign * a, b) for a, b in zip(x1, walk.tangent, strict=True)]
    tangent_s = select(is_on, sign, walk.tangent_s)
    base = [select(is_on, a, b) for a, b in zip(walk.x, walk.base, strict=True)]
    base_s = select(is_on, walk.s, walk.base_s)
    length = chosen(ahead, walk.length, shorter)
    x = [
        select(both(nears, negation(is_on)), x + a + jump * b, at + length * t)
        for x, a, b, at, t in zip(walk.x, x0, x1, base, tangent, strict=True)
    ]
    s = chosen(base_s * exp(length * tangent_s), walk.s * exp(jump), base_s * exp(length * tangent_s))
    count = chosen(0, walk.count + 1, 0)
    before = chosen(1 / _TINY, select(first, 1 / _TINY, left), 1 / _TINY)
    begun = either(is_on, walk.begun)
    return Walk(x, s, base, base_s, tangent, tangent_s, length, before, count, begun, walk.longest), is_on


def _measured(laws: Laws, x: Scalars, y: Scalars) -> Scalar:
    """The product of two changes, by velocities: of dofs with laws, and of contacts."""
    dofs = sorted({law.dof for law in laws.joints})
    found = sum((x[d] * y[d] for d in dofs), 0)
    for group in laws.groups:
        pairs = zip(group.velocities(x), group.velocities(y), strict=True)
        found = found + select(group.near, sum((a.dot(b) for a, b in pairs), 0), 0)
    return found


def _left_of_momentum(laws: Laws, v: Scalars) -> list[Scalar]:
    """b - A v."""
    left = list(laws.b)
    for d, row in laws.A.items():
        for e, entry in row.items():
            left[d] = left[d] - entry * v[e]
            if e != d:
                left[e] = left[e] - entry * v[d]
    return left


def _full(laws: Laws, gains: Mapping[int, Scalar]) -> dict[int, dict[int, Scalar]]:
    """Both triangles of A, with what laws add to the diagonal."""
    M: dict[int, dict[int, Scalar]] = {d: {} for d in laws.A}
    for d, row in laws.A.items():
        for e, entry in row.items():
            M[d][e] = M[e][d] = entry
        M[d][d] = M[d][d] + gains.get(d, 0)
    return M


def _add_group(
    group: GroundGroup, pushes: Sequence[Vector], shares: Sequence[Share], M: dict[int, dict[int, Scalar]],
    sides: Sequence[list[Scalar]],
) -> None:  # fmt: skip
    """J^T H J to the matrix, and impulses to the right sides."""
    r = len(group.J)
    H: list[list[Scalar]] = [[0] * r for _ in range(r)]
    loads: list[list[Scalar]] = [[0] * r, [0] * r]
    for law, push, own in zip(group.contacts, pushes, shares, strict=True):
        HB = [[_dot(row, [b[c] for b in law.B]) for c in range(r)] for row in own.H]
        parts = (list(push + own.a), list(own.a_rate))
        for i in range(r):
            for k in range(3):
                H[i] = [h + law.B[k][i] * x for h, x in zip(H[i], HB[k], strict=True)]
                for load, part in zip(loads, parts, strict=True):
                    load[i] = load[i] + law.B[k][i] * part[k]
    H = [[select(group.near, h, 0) for h in row] for row in H]
    loads = [[select(group.near, x, 0) for x in load] for load in loads]
    dofs = sorted({d for row in group.J for d in row})
    for d in dofs:
        JH = [sum((group.J[i][d] * H[i][c] for i in range(r) if d in group.J[i]), 0) for c in range(r)]
        for e in dofs:
            M[d][e] = M[d][e] + sum((JH[c] * group.J[c][e] for c in range(r) if e in group.J[c]), 0)
        for side, load in zip(sides, loads, strict=True):
            side[d] = side[d] + sum((group.J[i][d] * load[i] for i in range(r) if d in group.J[i]), 0)


def _solved(
    support: Sequence[Sequence[int]], M: dict[int, dict[int, Scalar]], sides: Sequence[Scalars]
) -> list[list[Scalar]]:
    """Solutions of M x = side, by elimination from the leaves to the root, which leaves zeros as they are."""
    M, rest = {d: dict(row) for d, row in M.items()}, [list(side) for side in sides]
    inverses: dict[int, Scalar] = {}
    for d in reversed(range(len(rest[0]))):
        inverses[d] = 1 / M[d][d]
        above = [e for e in support[d] if e != d]
        for e in above:
            share = M[e][d] * inverses[d]
            for k in above:
                M[e][k] = M[e][k] - share * M[d][k]
            for side in rest:
                side[e] = side[e] - share * side[d]
    for side in rest:
        for d in range(len(side)):
            side[d] = (side[d] - sum((M[d][e] * side[e] for e in support[d] if e != d), 0)) * inverses[d]
    return rest


def _unknowns(
    laws: Laws, dv: list[Scalar], joints: Sequence[tuple[Scalar, Scalar, Scalar]], contacts: Sequence[Sequence[Share]],
    k: int,
) -> list[Scalar]:  # fmt: skip
    """All unknowns of a solution: dp = a - H du, with the a of right side k."""
    x = list(dv)
    for law, (*a, h) in zip(laws.joints, joints, strict=True):
        x.append(a[k] - h * dv[law.dof])
    for group, shares in zip(laws.groups, contacts, strict=True):
        for own, du in zip(shares, group.velocities(dv), strict=True):
            a = (own.a, own.a_rate)[k]
            x += [select(group.near, a[r] - _dot(own.H[r], list(du)), 0) for r in range(3)]
    return x


def pieces(laws: Laws, x: Scalars) -> list[Scalar]:
    """Of the laws of joints."""
    v, p, _ = laws.parts(x)
    return [law.piece(law.g * own - v[law.dof]) for law, own in zip(laws.joints, p, strict=True)]


def impulses(laws: Laws, x: Scalars) -> list[list[Scalar]]:
    """Of the contacts of each group, within their cones."""
    found = []
    for group, own in zip(laws.groups, laws.parts(x)[2], strict=True):
        found.append([])
        for p, law in zip(own, group.contacts, strict=True):
            n = maximum(p.z, 0)
            bound, size2 = law.mu * n, p.x * p.x + p.y * p.y
            cut = select(size2 > bound * bound, bound / sqrt(maximum(size2, _TINY)), 1)
            found[-1] += [p.x * cut, p.y * cut, n]
    return found


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)
