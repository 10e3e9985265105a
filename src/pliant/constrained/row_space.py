"""Rows of constraints as the robot feels them: with M = L^T D L a row of J becomes Y = L^-T J^T.

In the coordinates w = L v, velocities along rows are Y . w, and forces f along them change w by D^-1 Y f. So
G = J M^-1 J^T = Y D^-1 Y^T, and neither M^-1 nor M^-1 J^T is formed unless needed.
"""

from collections.abc import Sequence

from pliant.constrained.semidefinite import PlainFactor, SemidefiniteFactor
from pliant.dynamics.joint_space_inertia import Factor
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, maximum

Row = dict[int, Scalar]

NOTHING = 1e-13
"""Squares of rows count as no less than this, next to rows with entries of one.

With the usual tolerance a row whose entries are below 1e-10 m is then one along which the robot cannot move, though
rounding has left something of it.
"""


class RowSpace:
    """Rows of a Jacobian, eliminated against the mass matrix.

    Attributes:
        factor: of M, or of another matrix with the sparsity of M.
        J: rows by dof; Y: eliminated; DY: D^-1 Y.
        G: lower triangle of J M^-1 J^T.
        ones: what the diagonal of G would be, about, for rows with entries of one.
    """

    def __init__(self, robot: Robot, factor: Factor, J: Sequence[Row]):
        self.robot, self.factor, self.J = robot, factor, list(J)
        self.Y: list[Row] = []
        self.DY: list[Row] = []
        self.ones: list[Scalar] = []
        for row in self.J:
            support = sorted({e for d in row for e in robot.mechanism.support[d]}, reverse=True)
            Y: Row = {d: row.get(d, 0) for d in support}
            for d in support:  # from the leaves to the root
                for e in factor.above[d]:
                    Y[e] = Y[e] - factor.L[d][e] * Y[d]
            self.Y.append(Y)
            self.DY.append({d: factor.D_inverse[d] * y for d, y in Y.items()})
            self.ones.append(sum((factor.D_inverse[d] for d in support), 0))
        self.G = [[product(y, self.DY[c]) for c in range(r + 1)] for r, y in enumerate(self.Y)]

    @property
    def most(self) -> int:
        """A bound of the rank: how many dofs the rows have."""
        return len(set().union(*self.Y))

    def along(self, w: Scalars) -> list[Scalar]:
        """J v of w = L v."""
        return [sum((y * w[d] for d, y in Y.items()), 0) for Y in self.Y]

    def pushed(self, w: Scalars, f: Scalars) -> list[Scalar]:
        """L v after impulses f along the rows, from w = L v before."""
        out = list(w)
        for DY, push in zip(self.DY, f, strict=True):
            for d, entry in DY.items():
                out[d] = out[d] + entry * push
        return out

    def joint_forces(self, f: Scalars) -> list[Scalar]:
        """J^T f."""
        return combined(self.J, f, self.robot.nv)

    def inverse_rows(self) -> list[list[Scalar]]:
        """J M^-1, m x nv."""
        return [self.factor.velocity([DY.get(d, 0) for d in range(self.robot.nv)]) for DY in self.DY]


# a row depends on others if no more than this share of its square is left by them; none counts as smaller than the
# second next to a row with entries of one
_DEPENDS = {"float64": (1e-8, NOTHING), "float32": (1e-4, 1e-8)}


class HeldRows(RowSpace):
    """Rows along which a robot is held, with the solution of G p = b.

    Where rows are known to depend on one another, p has the least norm (`SemidefiniteFactor`), and which of them count
    is chosen from state to state. Else a row that happens to depend on those before it is dropped.

    Attributes:
        response: factor of G.
    """

    def __init__(
        self, robot: Robot, factor: Factor, J: Sequence[Row], precision: str, *, is_redundant: bool,
        compliance: Scalars | None = None,
    ):  # fmt: skip
        """The rows; a ``compliance`` of a row is added to the diagonal of G: along it there is a spring, not a hold."""
        super().__init__(robot, factor, J)
        for r, c in enumerate(compliance or ()):
            self.G[r][r] = self.G[r][r] + c
        share, nothing = _DEPENDS[precision]
        least = [nothing * x for x in self.ones]
        self.response: PlainFactor | SemidefiniteFactor
        if is_redundant:
            most = None if compliance else self.most
            self.response = SemidefiniteFactor(self.G, share, least=least, most=most)
        else:
            bounds = [share * maximum(self.G[r][r], x) for r, x in enumerate(least)]
            self.response = PlainFactor(self.G, bounds=bounds)

    def velocity(self, impulses: Scalars) -> list[Scalar]:
        """M^-1 J^T p."""
        return self.factor.velocity(self.pushed([0] * self.robot.nv, impulses))

    def without(self, v: Scalars) -> list[Scalar]:
        """v with nothing along the rows: v - M^-1 J^T G^-1 J v."""
        wrong = self.response.solve([sum((x * v[d] for d, x in row.items()), 0) for row in self.J])
        return [a - b for a, b in zip(v, self.velocity(wrong), strict=True)]

    def inverse(self) -> list[list[Scalar]]:
        """G^-1, or what is in its place."""
        n = range(len(self.J))
        columns = [self.response.solve([1 if r == c else 0 for r in n]) for c in n]
        return [[columns[c][r] for c in n] for r in n]


def product(a: Row, b: Row) -> Scalar:
    """a . b of sparse rows."""
    return sum((entry * b[d] for d, entry in a.items() if d in b), 0)


def combined(rows: Sequence[Row], weights: Scalars, nv: int) -> list[Scalar]:
    """The sum of sparse rows with weights, nv."""
    out: list[Scalar] = [0] * nv
    for row, weight in zip(rows, weights, strict=True):
        for d, entry in row.items():
            out[d] = out[d] + entry * weight
    return out
