"""Closed mechanisms: an orthonormal basis of all that loops hold, whose rank is found, and what it does to the rest.

In the coordinates w = L v with A = L^T D L (`pliant.contact.constraint_rows`), closures hold Y_k . w = t_k, and their
impulses change w by D^-1 Y_k p_k. Closures that share dofs are an island, and each island is solved at once. Modified
Gram-Schmidt in the product a . D^-1 b takes its rows one after another,

    y = Y_k - sum_j Q_j R_jk,   R_jk = Q_j . D^-1 y,   r_k^2 = y . D^-1 y,   Q_k = y / r_k

and a row that is a combination of those before, but for rounding, has r_k next to nothing: it is left out. So loops may
hold a direction twice, or be overconstrained, and a robot may pass positions in which a row fades. It is left out up to
r_k = tau |Y_k|, tau as far from rounding as from geometry. In an open loop, rows that depend on others when it is
closed do so only as well as it is closed, so that tau grows with the opening.

With the basis, velocities are closed by w -= D^-1 Q_k (Q_k . w - b_k) for each k in turn, and an impulse along another
row Y, of a contact or a joint, moves the closed mechanism by D^-1 Y - D^-1 Q_k (Q_k . D^-1 Y): it opens no loop.

All of this is generic over rows and metric: with D^-1 = 1, the Y are rows of a plain matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.scalar import Scalar, Scalars, both, either, maximum, negation, select, sqrt

# a row depends on others if what is left of it is this share, or less, of its size
_DEPENDENT = {"float64": 1e-6, "float32": 1e-3}

# rows next to nothing, as those across a planar loop, as a share of what they are made of: their direction is rounding
_ROUNDING = {"float64": 1e-7, "float32": 1e-3}
# lengths and angles in files have some six digits, so that rows that are less than this share hold nothing
_INEXACT = {"float64": 1e-5, "float32": 1e-3}

# rows of which less is left, squared, are next to a combination of others
_WEAK = 1e-4

# pivots of R R^T are not smaller than rounding
_EXACT = {"float64": 1e-15, "float32": 1e-7}

# a closed mechanism does not move along a row if Y . D^-1 Y is this share of that of the open one: rounding
_IMMOBILE = {"float64": 1e-13, "float32": 1e-5}


@dataclass(frozen=True)
class Basis:
    """Directions that loops hold, orthonormal in the product a . D^-1 b, one for each row; zero for rows left out.

    Attributes:
        Q: the Q_k; DQ: D^-1 Q_k.
        held: 1 for rows that count, 0 for those left out.
        R: upper triangle, Y_k = sum_j Q_j R_jk; entry (k, k) is zero for a row left out.
        inverse: one over the diagonal of R, or zero.
        is_weak: whether a row is left out, or next to a combination of others: `targets` and `impulses` then take the
            factor of R R^T.
    """

    Q: list[list[Scalar]]
    DQ: list[list[Scalar]]
    held: list[Scalar]
    R: list[list[Scalar]]
    inverse: list[Scalar]
    is_weak: Scalar

    @property
    def rank(self) -> Scalar:
        """How many directions are held."""
        return sum(self.held, 0)

    def targets(self, wanted: Scalars, C: Sequence[Scalars] | None = None) -> list[Scalar]:
        """b_k, the velocities Q_k . w for which Y_k . w are the wanted ones.

        R^T b = t by substitution, or, from the `factor` C, b = (R R^T)^-1 R t: of all rows, the nearest to them.
        """
        n = len(wanted)
        if C is not None:
            return _solved(C, [_dot(self.R[j][j:], wanted[j:]) for j in range(n)])
        found: list[Scalar] = []
        for k, t in enumerate(wanted):
            for j in range(k):
                t = t - self.R[j][k] * found[j]
            found.append(t * self.inverse[k])
        return found

    def rates(self, amounts: Scalars) -> list[Scalar]:
        """Y_k . w after impulses along the Q_k alone: R^T a, what `targets` can reach of what is wanted."""
        return [_dot([self.R[j][k] for j in range(k + 1)], amounts[: k + 1]) for k in range(len(amounts))]

    def speeds(self, w: Scalars, D: Scalars) -> list[Scalar]:
        """Q_k . w."""
        Dw = [d * x for d, x in zip(D, w, strict=True)]
        return [_dot(DQ, Dw) for DQ in self.DQ]

    def moved(self, w: Scalars, amounts: Scalars) -> list[Scalar]:
        """W after impulses along the Q_k: w + D^-1 Q_k a_k."""
        w = list(w)
        for DQ, a in zip(self.DQ, amounts, strict=True):
            w = [x + y * a for x, y in zip(w, DQ, strict=True)]
        return w

    def closed(self, w: Scalars, D: Scalars, targets: Scalars | None = None) -> list[Scalar]:
        """W of the closed mechanism: nearest to w in kinetic energy among those with Q_k . w = b_k, by default 0."""
        w = list(w)
        for k, DQ in enumerate(self.DQ):
            excess = sum((d * x * y for d, x, y in zip(D, w, DQ, strict=True)), 0)
            if targets is not None:
                excess = excess - targets[k]
            w = [x - y * excess for x, y in zip(w, DQ, strict=True)]
        return w

    def response(self, Y: Scalars, DY: Scalars, precision: str = "float64") -> list[Scalar]:
        """How w answers to an impulse along a row, closed: D^-1 Y less its part along the Q_k.

        Where the mechanism does not answer at all, it is zero, without rounding.
        """
        out = list(DY)
        for DQ in self.DQ:
            share = _dot(DQ, Y)
            out = [x - y * share for x, y in zip(out, DQ, strict=True)]
        # Y . D^-1 Y of before and after
        moves = _dot(Y, out) > _dot(Y, DY) * _IMMOBILE[precision]
        return [select(moves, x, 0) for x in out]

    def impulses(self, speeds: Scalars, C: Sequence[Scalars] | None = None) -> list[Scalar]:
        """Impulses p along the rows that change w by these speeds along the Q_k; of several, those of least norm.

        R p = a by substitution, or, from the `factor` C, p = R^T (R R^T)^-1 a.
        """
        n, amounts = len(speeds), list(speeds)
        if C is not None:
            x = _solved(C, amounts)
            return [_dot([self.R[j][k] for j in range(k + 1)], x[: k + 1]) for k in range(n)]
        for k in reversed(range(n)):
            for j in range(k + 1, n):
                amounts[k] = amounts[k] - self.R[k][j] * amounts[j]
            amounts[k] = amounts[k] * self.inverse[k]
        return amounts

    def factor(self, precision: str = "float64") -> list[list[Scalar]]:
        """C of R R^T = C C^T by Cholesky, with one over its diagonal in its place; ones for the rows left out."""
        n, R = len(self.held), self.R
        K = [[_dot(R[r][r:], R[c][r:]) for c in range(r + 1)] for r in range(n)]
        for k in range(n):
            # a direction left out has no part in any row
            K[k][k] = select(self.held[k] > 0, K[k][k], 1)
        size = [K[k][k] for k in range(n)]
        C: list[list[Scalar]] = [[0] * n for _ in range(n)]
        for c in range(n):
            for r in range(c, n):
                for k in range(c):
                    K[r][c] = K[r][c] - C[r][k] * C[c][k]
                if r == c:
                    C[c][c] = 1 / sqrt(maximum(K[c][c], size[c] * _EXACT[precision]))
                else:
                    C[r][c] = K[r][c] * C[c][c]
        return C


def closed_basis(
    rows: Sequence[Scalars], D_inverse: Scalars, sizes: Scalars, doubts: Scalars, precision: str = "float64",
    blocks: Sequence[int] | None = None,
) -> Basis:  # fmt: skip
    """The basis of what rows hold.

    Args:
        rows: Y_k, of the same dofs; entries that are the integer 0 cost nothing.
        D_inverse: the metric, an entry for each dof.
        sizes: square of the length that a row could have, as of its columns in all directions: a row that is
            nothing next to it is rounding.
        doubts: square of how much rows may be off for other reasons, as a share of their length: those of open loops.
        precision: of the scalars.
        blocks: a number for each row, the same for those of one closure. Parts along rows of other blocks are those of
            the row as it was (classical Gram-Schmidt), which saves half where blocks share few dofs.
    """
    tau, rounding, inexact, n = _DEPENDENT[precision], _ROUNDING[precision], _INEXACT[precision], len(rows)
    block = list(blocks) if blocks is not None else [0] * n
    R: list[list[Scalar]] = [[0] * n for _ in rows]
    Q: list[list[Scalar]] = []
    DQ: list[list[Scalar]] = []
    held: list[Scalar] = []
    inverses: list[Scalar] = []
    is_weak: Scalar = False
    for k, row in enumerate(rows):
        y: list[Scalar] = list(row)
        length = _square(y, D_inverse)
        for j in (j for j in range(k) if block[j] != block[k]):
            R[j][k] = _dot(DQ[j], row)
            y = [a - b * R[j][k] for a, b in zip(y, Q[j], strict=True)]
        for j in (j for j in range(k) if block[j] == block[k]):
            R[j][k] = _dot(DQ[j], y)
            y = [a - b * R[j][k] for a, b in zip(y, Q[j], strict=True)]
        left = _square(y, D_inverse)
        # squares; a row of zeros, and one that is not a number, has no direction
        nothing = sizes[k] * (inexact * inexact)
        least = maximum(length * (tau * tau + doubts[k]), sizes[k] * (rounding * rounding))
        is_held = both(left > least, length > nothing)
        r = sqrt(select(is_held, left, 1))
        inverse = select(is_held, 1 / r, 0)
        Q.append([a * inverse for a in y])
        DQ.append([d * a for d, a in zip(D_inverse, Q[-1], strict=True)])
        held.append(select(is_held, 1, 0))
        R[k][k] = select(is_held, r, 0)
        inverses.append(inverse)
        # nothing is lost with a row that is nothing
        weak = both(length > nothing, either(negation(is_held), left < maximum(length, sizes[k]) * _WEAK))
        is_weak = weak if is_weak is False else either(is_weak, weak)
    return Basis(Q, DQ, held, R, inverses, is_weak)


def _square(y: Scalars, D_inverse: Scalars) -> Scalar:
    return sum((d * a * a for d, a in zip(D_inverse, y, strict=True)), 0)


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def _solved(C: Sequence[Scalars], b: Scalars) -> list[Scalar]:
    """(C C^T)^-1 b, with one over the diagonal of C in its place."""
    x, n = list(b), len(b)
    for k in range(n):
        for j in range(k):
            x[k] = x[k] - C[k][j] * x[j]
        x[k] = x[k] * C[k][k]
    for k in reversed(range(n)):
        for r in range(k + 1, n):
            x[k] = x[k] - C[r][k] * x[r]
        x[k] = x[k] * C[k][k]
    return x
