"""Functions that formulas of springs call by name, where writing them out would bury the rest.

They are SymPy's functions: numbers put in give a number, and `doit`, or `written_out` for many formulas, puts
their definitions in their place. This module imports SymPy, and is imported where formulas are made.
"""

from collections.abc import Callable, Sequence
from typing import Any

import sympy
from sympy.core.symbol import Str

from pliant.robot import Free, Joint, JointKind, Spherical
from pliant.robot.exponential import turn_logarithm
from pliant.robot.springs import deflection_rate
from pliant.scalar import maximum, minimum, select

__all__ = ["play", "push", "spring_pulls", "turn_pull", "written_out"]

Scalar = Any


class _Named(sympy.Function):
    """A function with a definition: a formula of its arguments."""

    is_commutative = True
    definition: Callable[..., Scalar]

    @classmethod
    def eval(cls, *args: Any) -> Any:
        if all(isinstance(x, Str) or x.is_Number for x in args):
            return sympy.sympify(cls.definition(*args))
        return None

    def doit(self, **hints: Any) -> Any:
        return sympy.sympify(self.definition(*(a.doit(**hints) for a in self.args)))

    def _eval_evalf(self, prec: int) -> Any:
        return self.doit().evalf() if not self.free_symbols else None


class play(_Named):  # noqa: N801 - as it is written in formulas
    """play(x, w) = x - min(max(x, -w/2), w/2): a deflection less the play of width w in its middle."""

    @classmethod
    def definition(cls, x: Scalar, w: Scalar) -> Scalar:  # type: ignore[override]
        return x - minimum(maximum(x, -w / 2), w / 2)


class push(_Named):  # noqa: N801
    """push(s, p): p where it has the sign of s, else 0. What only pushes outward does not pull inward."""

    @classmethod
    def definition(cls, s: Scalar, p: Scalar) -> Scalar:  # type: ignore[override]
        return select(s > 0, maximum(p, 0), select(s < 0, minimum(p, 0), 0))


class turn_pull(_Named):  # noqa: N801
    """Entry ``axis`` of B(x)^T (k x + h x^3), which is minus the force of a spring that deflects in all directions.

    x is the deflection of a spherical or free joint and x' = B(x) v; see `pliant.robot.springs`.
    """

    @classmethod
    def definition(cls, joint: Str, axis: Any, *numbers: Scalar) -> Scalar:  # type: ignore[override]
        kind, q, k, h = _parts(numbers)
        turn = list(turn_logarithm(tuple(q[-4:])))  # type: ignore[arg-type]
        x = turn if kind.nv == 3 else [*q[:3], *turn]
        column = deflection_rate(kind, q, x, [int(i == int(axis)) for i in range(kind.nv)])
        pulls = [(a + b * e * e) * e for a, b, e in zip(k, h, x, strict=True)]
        return sum((c * g for c, g in zip(column, pulls, strict=True)), sympy.Integer(0))

    @property
    def joint(self) -> str:
        return self.args[0].name  # type: ignore[union-attr]

    @property
    def axis(self) -> int:
        """Which entry of the joint's force it is, from 0 on."""
        return int(self.args[1])  # type: ignore[arg-type]

    @property
    def q(self) -> Sequence[Any]:
        return _parts(self.args[2:])[1]

    @property
    def stiffness(self) -> Sequence[Any]:
        return _parts(self.args[2:])[2]

    @property
    def hardening(self) -> Sequence[Any]:
        return _parts(self.args[2:])[3]


def _parts(numbers: Sequence[Scalar]) -> tuple[JointKind, Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]]:
    kind = Spherical() if len(numbers) == 4 + 2 * 3 else Free()
    q, k = numbers[: kind.nq], numbers[kind.nq : kind.nq + kind.nv]
    return kind, q, k, numbers[kind.nq + kind.nv :]


def spring_pulls(joint: Joint, q: Sequence[Any]) -> list[Any]:
    """`turn_pull` of every dof of a spherical or free joint whose spring has no law of its own."""
    numbers = [sympy.sympify(x) for x in (*q, *joint.stiffness, *joint.hardening)]
    return [turn_pull(Str(joint.name), sympy.Integer(axis), *numbers) for axis in range(joint.kind.nv)]


def written_out(formulas: Sequence[Any]) -> list[Any]:
    """The formulas with definitions in place of the functions."""
    found = []
    for e in formulas:
        while calls := e.atoms(_Named):
            e = e.xreplace({call: call.doit() for call in calls})
        found.append(e)
    return found
