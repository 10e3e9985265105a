"""Solutions with a matrix that may be singular, without a branch: G of contacts that depend on one another.

G = C D C^T with D diagonal, by symmetric elimination with complete pivoting: each step takes out the row of which the
largest share is left, and ends the rank where that is next to nothing [Higham 2002, 10.3]. The pivot is one row
or another from robot to robot, so it is picked by weights of zero and one, and the columns of C are in the order of the
steps. The solution of G f = b of least norm, or where there is none the nearest one, is then, with K = C^T C
[Ben-Israel and Greville 2003, 1.6],

    f = G^+ b = C K^-1 D^-1 K^-1 C^T b.

Where the rank is full, the plain solution by L D L^T is taken, which is as exact as can be.
"""

from collections.abc import Sequence
from functools import cached_property

from pliant.checks import check_share
from pliant.scalar import Scalar, Scalars, maximum, select

Matrix = list[list[Scalar]]

Tolerance = float | None
TOLERANCE = 1e-10
"""A row depends on others if all but this share of its square is along them, which is an angle of 1e-5 rad."""

# of numbers that are not one, no comparison holds; squares of rows are far below this
_NUMBER = 1e30

# the same, at least, where numbers are too coarse to tell one and one more such share apart: in float32
_COARSE = 1e-4

_UNEQUAL = 1e-6


class PlainFactor:
    """G = C D C^T of a matrix without a zero pivot, C lower triangular with ones; from the lower triangle of G.

    With bounds, a row of which no more than its bound is left by the rows before it is dropped: the solution has a zero
    there.
    """

    def __init__(self, G: Sequence[Scalars], *, guarded: bool = False, bounds: Scalars | None = None):
        """The factor; ``guarded`` against division by zero, for results that are then not used."""
        n = len(G)
        self.C: Matrix = [[0] * n for _ in range(n)]
        self.D_inverse: list[Scalar] = [0] * n
        CD = [list(row[: r + 1]) for r, row in enumerate(G)]
        for k in range(n):
            for r in range(k, n):
                for j in range(k):
                    CD[r][k] = CD[r][k] - CD[r][j] * self.C[k][j]
                if r == k:
                    left = CD[k][k]
                    if bounds is not None:
                        # not so for NaN, which must show
                        drops = left <= bounds[k]
                        self.D_inverse[k] = select(drops, 0, 1 / select(drops, 1, left))
                        continue
                    self.D_inverse[k] = 1 / (select(left <= 0, 1, left) if guarded else left)
                else:
                    self.C[r][k] = CD[r][k] * self.D_inverse[k]

    def solve(self, b: Scalars) -> list[Scalar]:
        """G^-1 b."""
        n, y = len(b), list(b)
        for k in range(n):
            for j in range(k):
                y[k] = y[k] - self.C[k][j] * y[j]
        y = [d * x for d, x in zip(self.D_inverse, y, strict=True)]
        for k in reversed(range(n)):
            for r in range(k + 1, n):
                y[k] = y[k] - self.C[r][k] * y[r]
        return y


class SemidefiniteFactor:
    """G = C D C^T of a symmetric matrix without negative eigenvalues, from its lower triangle.

    Attributes:
        rank: how many rows do not depend on the others; 0 where the matrix is not a number.
        picked: for each step, one for its pivot row and zero for the others.
        columns: those of C, one for each step.
        D_inverse: zero for the steps that come after the rank.
    """

    def __init__(
        self,
        G: Sequence[Scalars],
        tolerance: Tolerance = TOLERANCE,
        *,
        least: Scalars | None = None,
        most: int | None = None,
    ):
        """The factor.

        Args:
            G: of which the lower triangle is used.
            tolerance: see `TOLERANCE`; None if no row depends on others, which is then not checked.
            least: the rest of a row is compared with its entry on the diagonal of G, but with no less than this; a
                row that is zero but for rounding would else be as good as any.
            most: a rank that it cannot exceed.
        """
        check_share("tolerance", tolerance, "a share, below 1", subject="contacts")
        self.size = len(G)
        self._tolerance = tolerance
        self._can_be_full = most is None or most >= self.size
        self._plain = PlainFactor(G, guarded=tolerance is not None) if self._can_be_full else None
        self.picked: Matrix = []
        self.columns: Matrix = []
        self.D_inverse: list[Scalar] = []
        if self._plain is not None and tolerance is None:
            n = range(self.size)
            self.rank: Scalar = self.size
            self.D_inverse = self._plain.D_inverse
            self.picked = [[1 if r == k else 0 for r in n] for k in n]
            self.columns = [[1 if r == k else self._plain.C[r][k] for r in n] for k in n]
            return
        least = least or [0] * self.size
        # rows are weighed a little less one after the other, so that no two are the largest at once
        share = [(1 - _UNEQUAL * r) * _inverse(maximum(G[r][r], least[r])) for r in range(self.size)]
        left = [list(row[: r + 1]) for r, row in enumerate(G)]
        self._count: Scalar = 0
        self._share_left: Scalar = TOLERANCE if tolerance is None else tolerance
        for _ in range(self.size if most is None else min(most, self.size)):
            self._step(left, share)
        is_number = sum((G[r][r] for r in range(self.size)), 0) <= _NUMBER
        self.rank = select(is_number, self._count, 0)

    def _step(self, left: Matrix, share: list[Scalar]) -> None:
        """Take out the row of which most is left."""
        n = range(self.size)
        shares = [left[r][r] * share[r] for r in n]
        best = _largest(shares)
        if not self.columns:
            # how exact numbers are is known only where they are added: best is one here
            seen = 1 + self._share_left * best
            self._share_left = select(seen > 1, self._share_left, _COARSE)
        picked = [select(x >= best, 1, 0) for x in shares]
        column = [_dot(picked, [left[max(r, s)][min(r, s)] for s in n]) for r in n]
        pivot = _dot(picked, column)
        # not so for NaN, which must show
        depends = best <= self._share_left
        D_inverse = select(depends, 0, 1 / select(depends, 1, pivot))
        C = [c * D_inverse for c in column]
        for r in n:
            for s in range(r + 1):
                left[r][s] = left[r][s] - C[r] * column[s]
        self._count = self._count + select(depends, 0, 1)
        self.picked.append(picked)
        self.columns.append(C)
        self.D_inverse.append(D_inverse)

    def solve(self, b: Scalars) -> list[Scalar]:
        """G^+ b: the solution f of G f = b; of several, that of least norm; of none, the nearest."""
        if self._plain is None:
            return self._least(b)
        plain = self._plain.solve(b)
        if self._tolerance is None:
            return plain
        is_full = self._count > self.size - 0.5
        return [select(is_full, x, y) for x, y in zip(plain, self._least(b), strict=True)]

    def _least(self, b: Scalars) -> list[Scalar]:
        x = self._normal.solve([_dot(column, b) for column in self.columns])
        x = self._normal.solve([d * y for d, y in zip(self.D_inverse, x, strict=True)])
        return [_dot([column[r] for column in self.columns], x) for r in range(self.size)]

    @cached_property
    def _normal(self) -> PlainFactor:
        """The factor of K = C^T C, with ones for the columns that are not there."""
        K = [[_dot(i, j) for j in self.columns[: k + 1]] for k, i in enumerate(self.columns)]
        for k, D_inverse in enumerate(self.D_inverse):
            K[k][k] = K[k][k] + select(D_inverse <= 0, 1, 0)
        return PlainFactor(K)

    def inverse(self) -> Matrix:
        """G^+ itself, symmetric."""
        n = range(self.size)
        columns = [self.solve([1 if r == c else 0 for r in n]) for c in n]
        return [[columns[min(r, c)][max(r, c)] for c in n] for r in n]

    def independent(self, *rows: Sequence[Scalars]) -> list[Matrix]:
        """The pivot rows of matrices J, each without its part along those before, orthogonal in the product of G.

        Of matrices A and B, A^T G^+ B is the sum of D_inverse times the products of the rows that come out, if both are
        made of J in whose product G is: A = J X and B = J Z.
        """
        done: list[Matrix] = [[] for _ in rows]
        for k, picked in enumerate(self.picked):
            shares = [_dot(picked, column) for column in self.columns[:k]]
            for matrix, out in zip(rows, done, strict=True):
                row = [_dot(picked, column) for column in zip(*matrix, strict=True)]
                for share, before in zip(shares, out, strict=True):
                    row = [x - share * y for x, y in zip(row, before, strict=True)]
                out.append(row)
        return done


def _largest(values: Scalars) -> Scalar:
    """By halves: a chain of comparisons would have to wait for each of them."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return maximum(_largest(values[:half]), _largest(values[half:]))


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def _inverse(x: Scalar) -> Scalar:
    """1 / x, or 0 for a row that is empty."""
    is_empty = x <= 0
    return select(is_empty, 0, 1 / select(is_empty, 1, x))
