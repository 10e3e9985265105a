"""A stiff integrator with a step size for each robot: Rodas5P, a Rosenbrock method of order 5(4), on the manifold.

The equations are those of the chart at the start of the step, w' = chart_rate(w, v), v' = acceleration, for y = (w, v)
from y0 = (0, v0). With F their right side and A = dF/dy its exact derivative there, each stage is a linear system with
the same matrix [Hairer and Wanner 1996, *Solving Ordinary Differential Equations II*, IV.7, (7.25)],

    (1/(gamma h) - A) U_i = F(t + alpha_i h, y0 + sum_j a_ij U_j) + sum_j c_ij / h U_j + gamma_i h dF/dt

and y1 = y0 + sum_j a_8j U_j + U_8, where U_8 is the error of the result of order 4 that it is compared with. The method
is L-stable: what is too fast to be followed dies out, and the length of a step is a question of accuracy alone. Its
coefficients keep the order high for stiff forces, too [Steinebach 2023].

With s = 1/(gamma h), the inertia M, and the derivatives of what the motion lacks of its equation,
R = M vd + h - f: M dvd/dw = -R_w, M dvd/dv = -R_v, the part U_v of a stage solves a system of the size of v,

    (s M + R_v + R_w T) U_v = M r_v - R_w T r_w,       U_w = T (r_w + U_v),       T = (s - N)^-1

with N = d chart_rate/dw at w = 0, zero but for joints that turn about several axes. Its matrix is near to
s M + D + K / s, with the damping D and the stiffness K of the forces.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pliant.integrators.adaptive import StepControl, Trial
from pliant.integrators.runge_kutta import Acceleration, Manifold, WithMemory
from pliant.robot import Robot
from pliant.scalar import Graph, Scalar, Scalars
from pliant.scalar.evaluation import interpret, tangents

Matrix = list[list[Scalar]]


class Linear(NamedTuple):
    """The equation of motion M vd = ... near a state, for n velocities of N (the rest is a memory).

    Attributes:
        M: N x N.
        by_w: R_w, N x n; by_v: R_v, N x N.
        by_t: M dvd/dt, N.
    """

    M: Matrix
    by_w: Matrix
    by_v: Matrix
    by_t: list[Scalar]


@dataclass(frozen=True)
class RosenbrockTableau:
    """The coefficients of a Rosenbrock method that is stiffly accurate: its last stages add to the result.

    Attributes:
        gamma: of the matrix of all stages.
        a: row i has the coefficients of stage i, those of the last stages without the ones behind them.
        c: likewise, all of them.
        alpha: when the stages are; d: their parts of dF/dt.
        order: of the method; error_order: the power of h that its error is taken to be like. The estimate has the fifth
            where nothing is stiff, and the third for velocities of stiff parts, which often decide.
    """

    gamma: float
    a: tuple[tuple[float, ...], ...]
    c: tuple[tuple[float, ...], ...]
    alpha: tuple[float, ...]
    d: tuple[float, ...]
    order: int
    error_order: int


# Steinebach 2023, "Construction of Rosenbrock-Wanner method Rodas5P"
_LAST = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946)
RODAS5P = RosenbrockTableau(
    gamma=0.21193756319429014,
    a=(
        (),
        (3,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        _LAST,
        (*_LAST, 1),
        (*_LAST, 1, 1),
    ),
    c=(
        (),
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
        (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
         -28.087943162872662),
        (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
         -54.66780262877968, -9.48861652309627),
    ),
    alpha=(0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1),
    d=(0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0),
    order=5,
    error_order=4,
)  # fmt: skip


def rosenbrock_step(
    robot: Robot | WithMemory, acceleration: Acceleration, linear: Callable[..., Linear], control: StepControl,
    t: Scalar, q: Scalars, v: Scalars, vd: Scalars, h: Scalar,
) -> Trial:  # fmt: skip
    """A trial step from a state whose acceleration is known, with its error; any scalar.

    Args:
        acceleration: generic function ``acceleration(t, q, v)``, N.
        linear: generic function ``linear(t, q, v, vd)``, see `Linear`.
        control: tolerances, with the ``error_order`` of `RODAS5P`.
        t, q, v, vd: time [s], configuration, nq, velocity and acceleration, N, at the start.
        h: length of the step [s].
    """
    tableau = RODAS5P
    n = robot.robot.nv if isinstance(robot, WithMemory) else robot.nv
    size, s = len(v), 1 / (tableau.gamma * h)
    near = linear(t, q, v, vd)
    turn = chart_turn(robot.robot if isinstance(robot, WithMemory) else robot, v[:n])
    slow = DenseFactor([[(s if r == c else 0) - turn[r][c] for c in range(n)] for r in range(n)])
    # R_w T, a row a velocity or a number of the memory
    stiff = [slow.solve_transposed(row) for row in near.by_w]
    system = [
        [s * m + x + (k[c] if c < n else 0) for c, (m, x) in enumerate(zip(M_row, by_v, strict=True))]
        for M_row, by_v, k in zip(near.M, near.by_v, stiff, strict=True)
    ]
    factor = DenseFactor(system)

    def solved(r_w: Scalars, r_v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        right = [_dot(M_row, r_v) - _dot(k, r_w) for M_row, k in zip(near.M, stiff, strict=True)]
        U_v = factor.solve(right)
        return slow.solve([x + y for x, y in zip(r_w, U_v[:n], strict=True)]), U_v

    drift = DenseFactor(near.M).solve(near.by_t) if any(not _is_zero(x) for x in near.by_t) else [0] * size
    stages: list[tuple[list[Scalar], list[Scalar]]] = []
    w: list[Scalar] = [0] * n
    v_s = list(v)
    for alpha, a, c, d in zip(tableau.alpha, tableau.a, tableau.c, tableau.d, strict=True):
        w, v_s = _sum([0] * n, a, [U[0] for U in stages]), _sum(v, a, [U[1] for U in stages])
        rate, vd_s = list(v[:n]), list(vd)
        if stages:
            q_s = list(robot.integrate(q, [*w, *[0] * (size - n)]))
            rate = list(robot.chart_rate([*w, *[0] * (size - n)], v_s))[:n]
            vd_s = list(acceleration(t + alpha * h, q_s, v_s))
        r_w = _sum(rate, [x / h for x in c], [U[0] for U in stages])
        r_v = _sum(vd_s, [x / h for x in c], [U[1] for U in stages])
        stages.append(solved(r_w, [x + d * h * y for x, y in zip(r_v, drift, strict=True)]))
    wrong_w, wrong_v = stages[-1]
    w, v1 = _sum(w, [1], [wrong_w]), _sum(v_s, [1], [wrong_v])
    padding: list[Scalar] = [0] * (size - n)
    error = control.error([*w, *padding], list(v), v1, ([*wrong_w, *padding], wrong_v))
    return Trial(h, [], list(robot.integrate(q, [*w, *padding])), v1, error)


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def _sum(start: Scalars, weights: Scalars, vectors: Sequence[Scalars]) -> list[Scalar]:
    out = list(start)
    for weight, vector in zip(weights, vectors, strict=True):
        out = [x + weight * y for x, y in zip(out, vector, strict=True)]
    return out


def _is_zero(x: Any) -> bool:
    return isinstance(x, int | float) and x == 0


def chart_turn(robot: Manifold, v: Scalars) -> Matrix:
    """N = d chart_rate(w, v) / dw at w = 0, which is linear in v: half of a cross product for rotations."""
    graph, n = Graph(), len(v)
    w, rates = ([graph.input(f"{name}{k}") for k in range(n)] for name in "wv")
    found = [graph.lift(x) for x in robot.chart_rate(w, rates)]
    values = {f"w{k}": 0 for k in range(n)} | {f"v{k}": x for k, x in enumerate(v)}
    columns = [interpret([graph.lift(x) for x in tangents(found, {w[c]: 1})], values) for c in range(n)]
    return [[columns[c][r] for c in range(n)] for r in range(n)]


class DenseFactor:
    """A = L U without pivoting: for matrices that are near to symmetric and positive, as those of motion are."""

    def __init__(self, A: Sequence[Scalars]):
        n = len(A)
        rows = [list(row) for row in A]
        self.inverse: list[Scalar] = []
        for k in range(n):
            self.inverse.append(1 / rows[k][k])
            for r in range(k + 1, n):
                if _is_zero(rows[r][k]):
                    continue
                share = rows[r][k] * self.inverse[k]
                rows[r][k] = share
                for c in range(k + 1, n):
                    rows[r][c] = rows[r][c] - share * rows[k][c]
        self.rows = rows

    def solve(self, b: Scalars) -> list[Scalar]:
        """A^-1 b."""
        x, n = list(b), len(b)
        for r in range(n):
            for c in range(r):
                x[r] = x[r] - self.rows[r][c] * x[c]
        for r in reversed(range(n)):
            for c in range(r + 1, n):
                x[r] = x[r] - self.rows[r][c] * x[c]
            x[r] = x[r] * self.inverse[r]
        return x

    def solve_transposed(self, b: Scalars) -> list[Scalar]:
        """A^-T b."""
        x, n = list(b), len(b)
        for r in range(n):
            for c in range(r):
                x[r] = x[r] - self.rows[c][r] * x[c]
            x[r] = x[r] * self.inverse[r]
        for r in reversed(range(n)):
            for c in range(r + 1, n):
                x[r] = x[r] - self.rows[c][r] * x[c]
        return x
