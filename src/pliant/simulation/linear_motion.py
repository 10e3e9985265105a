"""The equation of smooth motion near a state, with exact derivatives: what the stiff integrator solves with.

R = M vd + h - f is what a motion lacks. Its derivatives by q are along the tangent space, d R(q (+) w) / dw at w = 0.
Those of M vd + h are `inverse_dynamics_derivatives`, those of the forces f come by differentiation of their formulas. A
robot that is held has M vd = f - h + J^T p with p of q and v: there the acceleration itself is differentiated.
"""

from collections.abc import Callable, Sequence

from pliant.dynamics.derivatives import inverse_dynamics_derivatives, tangent_directions
from pliant.dynamics.joint_space_inertia import mass_matrix
from pliant.integrators.rosenbrock import Linear
from pliant.robot import Robot
from pliant.scalar import Expr, Scalar, Scalars
from pliant.scalar.evaluation import tangents

Matrix = list[list[Scalar]]


class Derivatives:
    """Derivatives of formulas by w, v (with a memory) and t at a state whose numbers are inputs of a trace."""

    def __init__(self, robot: Robot, t: Expr, q: Sequence[Expr], v: Sequence[Expr]):
        self._w = [dict(zip(q, row, strict=True)) for row in tangent_directions(robot, list(q))]
        self._v = [{x: 1} for x in v]
        self._t = [{t: 1}]

    def of(self, values: Scalars) -> tuple[Matrix, Matrix, list[Scalar]]:
        """By w, a row a value; by v; and by t."""
        graph = next((x.graph for x in values if isinstance(x, Expr)), None)
        if graph is None:
            return [[0] * len(self._w) for _ in values], [[0] * len(self._v) for _ in values], [0] * len(values)
        nodes = [graph.lift(x) for x in values]
        by_w, by_v, by_t = (
            [tangents(nodes, {e: x for e, x in seed.items() if isinstance(e, Expr)}) for seed in seeds]
            for seeds in (self._w, self._v, self._t)
        )
        return _transposed(by_w), _transposed(by_v), list(by_t[0])


def _transposed(columns: Sequence[Scalars]) -> Matrix:
    return [list(row) for row in zip(*columns, strict=True)]


def linear_motion(
    robot: Robot, forces: Callable[[], Scalars], rates: Callable[[], Scalars], t: Expr, q: Sequence[Expr],
    v: Sequence[Expr], vd: Scalars,
) -> Linear:  # fmt: skip
    """`Linear` of a robot that nothing holds.

    Args:
        forces: the formulas of f at (t, q, v), nv.
        rates: those of the memory, which is the rest of v.
        t, q, v: inputs of a trace; vd: acceleration and rates there.
    """
    n, size = robot.nv, len(v)
    own = inverse_dynamics_derivatives.algorithm(robot, list(q), list(v[:n]), list(vd[:n]))
    by_w, by_v, by_t = Derivatives(robot, t, q, v).of([*forces(), *rates()])
    for matrix, inertial in ((by_w, own[0]), (by_v, own[1])):
        for r, row in enumerate(matrix):
            for c in range(len(row)):
                row[c] = (inertial[r][c] if r < n and c < n else 0) - row[c]
    M = [[own[2][r][c] if r < n and c < n else int(r == c) for c in range(size)] for r in range(size)]
    return Linear(M, by_w, by_v, by_t)


def linear_held_motion(
    robot: Robot, acceleration: Callable[[], Scalars], t: Expr, q: Sequence[Expr], v: Sequence[Expr]
) -> Linear:
    """`Linear` from the formulas of the acceleration (and the rates of a memory) at (t, q, v)."""
    n, size = robot.nv, len(v)
    by_w, by_v, by_t = Derivatives(robot, t, q, v).of(acceleration())
    own = mass_matrix.algorithm(robot, list(q))
    M = [[own[r][c] if r < n and c < n else int(r == c) for c in range(size)] for r in range(size)]

    def weighed(matrix: Matrix) -> Matrix:
        return [[sum((m * x for m, x in zip(row, column, strict=True)), 0) for column in zip(*matrix, strict=True)]
                for row in M]  # fmt: skip

    R_w, R_v = ([[-x for x in row] for row in weighed(matrix)] for matrix in (by_w, by_v))
    return Linear(M, R_w, R_v, [row[0] for row in weighed([[x] for x in by_t])])
