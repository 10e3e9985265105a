"""The implicit midpoint rule for robots that are held, and for springs between frames.

Between two kicks along the rows J of what holds the robot, the step is that of `pliant.integrators.midpoint`:

    v' = v + M(q)^-1 J(q)^T a,      (q, v') -> (q1, v1') by the midpoint rule,      v1 = v1' + M(q1)^-1 J(q1)^T b

with a such that the gaps g(q1) are closed, and b such that J(q1) v1 = 0, as RATTLE does for the method of Verlet
[Hairer, Lubich and Wanner 2006, VII.1.4]. A step backward undoes it, so it has order 2 and energy does not drift. With
vm = (v' + v1') / 2 and the residual r of the midpoint rule, a Newton iteration solves, with everything taken at q,

    (A + S^T S) dvm - J^T da = -r/2,        dt J dvm = -g(q1)

where A has the zeros of M, and rows S are those of springs between frames, which couple joints that M does not. A row
without a gap, as of a ball that rolls, has dt J(qm) vm in place of one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pliant.compiler import Block, Loop
from pliant.constrained.row_space import HeldRows, Row, RowSpace
from pliant.dynamics.joint_space_inertia import Factor, mass_factor
from pliant.integrators.midpoint import TOLERANCES, JointForces, Linear, midpoint_factor, midpoint_residual
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, both, either, maximum, select
from pliant.scalar.functions import largest

Rows = Callable[..., Sequence[Row]]


@dataclass(frozen=True)
class Held:
    """What holds a robot, as generic functions.

    Attributes:
        jacobian: rows J(q, *values).
        gaps: g(q, *values) of the rows.
        springs: rows S(q, dt, *values), see the module.
        has_gap: of each row of J; is_redundant: whether these depend on one another; spring_rows: how many S has.
    """

    jacobian: Rows
    gaps: Callable[..., Scalars]
    springs: Rows
    has_gap: Sequence[bool]
    is_redundant: bool
    spring_rows: int

    @property
    def rows(self) -> int:
        """How many J has."""
        return len(self.has_gap)

    def misses(self, robot: Robot, q: Scalars, vm: Scalars, dt: Scalar, *values: Any) -> list[Scalar]:
        """What a step with the velocity vm misses of each row, over dt."""
        gaps = self.gaps(list(robot.integrate(q, vm, dt)), *values)
        rows = [] if all(self.has_gap) else self.jacobian(list(robot.integrate(q, vm, dt / 2)), *values)
        return [
            gap / dt if has else sum((x * vm[d] for d, x in rows[r].items()), 0)
            for r, (gap, has) in enumerate(zip(gaps, self.has_gap, strict=True))
        ]


class _Solver(NamedTuple):
    """What an iteration solves with.

    Attributes:
        factor: of A; rows: J and S, dense; back: A^-1 J^T and A^-1 S^T; inverse: of their matrix G.
        kicks: M^-1 J^T.
    """

    factor: Factor
    rows: list[list[Scalar]]
    back: list[list[Scalar]]
    inverse: list[list[Scalar]]
    kicks: list[list[Scalar]]

    def change(self, r: Scalars, misses: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """dvm and da, from r/2 and g / dt."""
        x = self.factor.solve(r)
        wanted = [sum((a * b for a, b in zip(row, x, strict=True)), 0) for row in self.rows]
        for k, g in enumerate(misses):
            wanted[k] = wanted[k] - g
        p = [sum((a * b for a, b in zip(row, wanted, strict=True)), 0) for row in self.inverse]
        out = [-y for y in x]
        for push, back in zip(p, self.back, strict=True):
            out = [y + push * z for y, z in zip(out, back, strict=True)]
        return out, p[: len(misses)]

    def kicked(self, v: Scalars, a: Scalars) -> list[Scalar]:
        """v' = v + M^-1 J^T a."""
        out = list(v)
        for push, kick in zip(a, self.kicks, strict=True):
            out = [y + push * z for y, z in zip(out, kick, strict=True)]
        return out

    def packed(self, places: Sequence[tuple[int, int]]) -> list[Scalar]:
        """All numbers in a row."""
        return [
            *self.factor.D_inverse, *(self.factor.L[d][e] for d, e in places), *(x for row in self.rows for x in row),
            *(x for row in self.back for x in row), *(x for row in self.inverse for x in row),
            *(x for row in self.kicks for x in row),
        ]  # fmt: skip


def _unpacked(robot: Robot, places: Sequence[tuple[int, int]], held: int, springs: int, numbers: Scalars) -> _Solver:
    flat, n, m = iter(numbers), robot.nv, held + springs

    def matrix(rows: int, columns: int) -> list[list[Scalar]]:
        return [[next(flat) for _ in range(columns)] for _ in range(rows)]

    D_inverse = [next(flat) for _ in range(n)]
    L: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for d, e in places:
        L[d][e] = next(flat)
    rows, back, inverse = matrix(m, n), matrix(m, n), matrix(m, m)
    factor = Factor(L, D_inverse, [support[1:] for support in robot.mechanism.support])
    return _Solver(factor, rows, back, inverse, matrix(held, n))


def held_midpoint_body(
    robot: Robot, force: JointForces, held: Held, linear: Linear, *, reads: Sequence[str], precision: str,
    robot_at: Callable[..., Robot], is_linear: bool, iterations: int = 50,
) -> tuple[dict[str, int], list[Block | Loop]]:  # fmt: skip
    """A step as pieces of a program; arguments and variables are those of `midpoint_body`, and what holds the robot."""
    enough, rounding = TOLERANCES[precision]
    n, m = robot.nv, held.rows + held.spring_rows
    places = [(d, e) for d in range(n) for e in robot.mechanism.support[d][1:]]

    def solver(q: Scalars, v: Scalars, dt: Scalar, start: Scalars, *values: Any) -> _Solver:
        """At q and v; kicks are those at the start of the step."""
        own = robot_at(*values)
        factor = midpoint_factor(own, q, v, dt, lambda q, v: linear(q, v, *values))
        hard, soft = held.jacobian(q, *values), held.springs(q, dt, *values)
        compliance = [0] * held.rows + [1] * held.spring_rows
        rows = [*hard, *soft]
        space = HeldRows(own, factor, rows, precision, is_redundant=held.is_redundant, compliance=compliance)
        dense = [[row.get(d, 0) for d in range(n)] for row in rows]
        kicks = RowSpace(own, mass_factor(own, start), held.jacobian(start, *values)).inverse_rows() if hard else []
        return _Solver(factor, dense, space.inverse_rows(), space.inverse(), kicks)

    def begin(q, v, dt, *values):
        made = solver(list(q), list(v), dt[0], list(q), *values)
        return made.packed(places), list(v), [0] * held.rows, [float("inf")]

    def iterate(t, q, v, dt, vm, a, packed, before, count, *values):
        own = robot_at(*values)
        if is_linear:
            made = _unpacked(robot, places, held.rows, held.spring_rows, packed)
        else:
            made = solver(list(robot.integrate(q, vm, dt[0] / 2)), list(vm), dt[0], list(q), *values)
        kicked = made.kicked(v, a)
        v1 = [2 * x - y for x, y in zip(vm, kicked, strict=True)]
        residual = midpoint_residual(own, lambda *s: force(*s, *values), t[0], list(q), kicked, dt[0], v1)
        misses = held.misses(own, q, vm, dt[0], *values)
        change, push = made.change([r / 2 for r in residual], misses)
        if not is_linear:
            share = select(largest(change) < before[0], 1, 1 / 2)
            change, push = [share * x for x in change], [share * x for x in push]
        better = [x + y for x, y in zip(vm, change, strict=True)]
        size, scale = largest(change), maximum(largest(better), largest(v))
        is_rounding = both(size >= before[0], size <= rounding * scale)
        done = either(size <= enough * scale, is_rounding)
        return better, [x + y for x, y in zip(a, push, strict=True)], [size], [count[0] + 1], [done]

    def finish(t, q, v, dt, vm, a, packed, solved, unsolved, *values):
        own = robot_at(*values)
        made = _unpacked(robot, places, held.rows, held.spring_rows, packed)
        q1 = list(robot.integrate(q, vm, dt[0]))
        v1 = [2 * x - y for x, y in zip(vm, made.kicked(v, a), strict=True)]
        if held.rows:
            rows = held.jacobian(q1, *values)
            v1 = HeldRows(own, mass_factor(own, q1), rows, precision, is_redundant=held.is_redundant).without(v1)
        return [t[0] + dt[0]], q1, v1, [unsolved[0] + 1 - solved[0]]

    own = ("midpoint_v", "midpoint_kick", "midpoint_factor")
    counts = ("midpoint_change", "iterations")
    step = Block(
        iterate, ("t", "q", "v", "dt", *own, *counts, *reads), (*own[:2], *counts, "midpoint_solved")
    )  # fmt: skip
    body = [
        Block(begin, ("q", "v", "dt", *reads), ("midpoint_factor", *own[:2], "midpoint_change")),
        Loop((step,), iterations, "midpoint_solved"),
        Block(
            finish, ("t", "q", "v", "dt", *own, "midpoint_solved", "unsolved", *reads), ("t", "q", "v", "unsolved")
        ),
    ]  # fmt: skip
    sizes = dict.fromkeys(("midpoint_change", "midpoint_solved", "iterations", "unsolved"), 1)
    size = n + len(places) + (2 * m + held.rows) * n + m * m
    return {"midpoint_v": n, "midpoint_kick": held.rows, "midpoint_factor": size, **sizes}, body
