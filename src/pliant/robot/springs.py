"""Springs at joints: forces that come from an energy, for one degree of freedom or several.

With x the deflection from rest, the elastic energy is U(x) and its slope g(x) = dU/dx, dof by dof

    g = k s + h s^3 + law(s),        s = x less the play: x - min(max(x, -b/2), b/2)

For one dof x = q - rest. For a spherical joint x is the rotation vector log R, for a free one the place p in
the joint's axes and log R. Their rates are not v but x' = B(x) v, so the force at the dofs is

    f = -B(x)^T g(x)        (for turns -Jlog^T K log R)

It does no work in a closed cycle, however large the deflection and however unequal the stiffnesses. B is smooth
at zero and finite up to a full turn; at half a turn log R, and the force with it, changes sides.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.robot.exponential import pose_rate, turn_logarithm
from pliant.robot.joints import Free, JointKind, Spherical
from pliant.robot.model import Joint, Law
from pliant.scalar import Expr, Graph, abs, is_constant, maximum, minimum, select
from pliant.scalar.grad import tangents
from pliant.scalar.interp import interpret, nodes_of
from pliant.spatial import Vector, rotation_from_quaternion

__all__ = [
    "SpringForce", "check_law", "deflection", "deflection_rate", "has_play", "has_spring", "is_nonlinear", "law_text",
    "pulls", "spring_energy", "spring_force", "spring_with_play", "stretched",
]  # fmt: skip

Scalar = Any

# of the quadrature that makes an energy of a law: exact for polynomials up to degree 31
_NODES = 16


@dataclass(frozen=True)
class SpringForce:
    """A spring's force at the dofs of its joint, and how it changes with their motion.

    Attributes:
        f: -B^T g, nv.
        axes: for each axis its g' and its row b of B; g' is not negative: what a law softens is left out.
    """

    f: list[Scalar]
    axes: list[tuple[Scalar, list[Scalar]]]

    @property
    def stiffness(self) -> list[list[Scalar]]:
        """-df of a small motion, B^T g' B = sum of g' b^T b, nv x nv."""
        n = range(len(self.f))
        return [[sum((slope * b[r] * b[c] for slope, b in self.axes), 0) for c in n] for r in n]


def has_spring(joint: Joint) -> bool:
    """Whether some dof of the joint has a spring."""
    numbers = (*joint.stiffness, *joint.hardening)
    return any(law is not None for law in joint.law) or not all(is_constant(x) and x == 0 for x in numbers)


def is_nonlinear(joint: Joint) -> bool:
    """Whether the pull of its spring is not proportional to the deflection."""
    return (
        has_play(joint)
        or any(law is not None for law in joint.law)
        or not all(is_constant(h) and h == 0 for h in joint.hardening)
    )


def deflection(joint: Joint, q: Sequence[Scalar]) -> list[Scalar]:
    """x, an entry a dof, of a joint at its own coordinates q [rad, m]."""
    if joint.kind.nv == 1:
        return [q[0] - joint.rest]
    if isinstance(joint.kind, Spherical):
        return list(turn_logarithm(tuple(q)))  # type: ignore[arg-type]
    return [*q[:3], *turn_logarithm(tuple(q[3:]))]  # type: ignore[arg-type]


def deflection_rate(kind: JointKind, q: Sequence[Scalar], x: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """x' = B(x) v."""
    if kind.nv == 1:
        return list(v)
    if isinstance(kind, Free):
        moved = rotation_from_quaternion(*q[3:]).rotate(Vector(*v[:3]))
        return [*moved, *_turn_rate(Vector(*x[3:]), Vector(*v[3:]))]
    return [*_turn_rate(Vector(*x), Vector(*v))]


def spring_force(joint: Joint, q: Sequence[Scalar]) -> SpringForce:
    """The force of the joint's spring at its own coordinates q, and its stiffness."""
    x = deflection(joint, q)
    g, slopes = pulls(joint, stretched(joint, x))
    if joint.kind.nv == 1:
        slope = select(abs(x[0]) > joint.backlash / 2, slopes[0], 0) if has_play(joint) else slopes[0]
        return SpringForce([-g[0]], [(slope, [1])])
    columns = [deflection_rate(joint.kind, q, x, unit) for unit in _units(joint.kind.nv)]
    f = [-_dot(column, g) for column in columns]
    rows = [[column[a] for column in columns] for a in range(joint.kind.nv)]
    return SpringForce(f, list(zip(slopes, rows, strict=True)))


def spring_with_play(joint: Joint, q: Scalar, v: Scalar) -> tuple[Scalar, Scalar]:
    """Force and stiffness of a spring and damper that touch beyond the play only, and never pull inward.

    f = -max(0, g + d v) on the upper side, -min(0, g + d v) on the lower one.
    """
    spring = spring_force(joint, [q])
    x = q - joint.rest
    half = joint.backlash / 2
    push = joint.damping[0] * v - spring.f[0]
    f = select(x > half, -maximum(push, 0), select(x < -half, -minimum(push, 0), 0))
    return f, spring.stiffness[0][0]


def spring_energy(joint: Joint, q: Sequence[Scalar]) -> Scalar:
    """U(x) of the joint's spring at its own coordinates q [J]."""
    total: Scalar = 0
    s = stretched(joint, deflection(joint, q))
    for k, h, law, x in zip(joint.stiffness, joint.hardening, joint.law, s, strict=True):
        square = x * x
        total = total + (k + h * square / 2) * square / 2
        if law is not None:
            # the integral of the law from 0 to x
            places, weights = np.polynomial.legendre.leggauss(_NODES)
            for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
                total = total + x * (weight / 2) * _law(law, x * ((1 + place) / 2))[0]
    return total


def stretched(joint: Joint, x: Sequence[Scalar]) -> list[Scalar]:
    """s, the deflections less the play."""
    if not has_play(joint):
        return list(x)
    half = joint.backlash / 2
    return [e - minimum(maximum(e, -half), half) for e in x]


def has_play(joint: Joint) -> bool:
    """Whether its spring has a dead zone."""
    return not (is_constant(joint.backlash) and joint.backlash == 0)


def pulls(joint: Joint, s: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """g(s) of every dof and its derivative, where that is not negative."""
    found: list[Scalar] = []
    slopes: list[Scalar] = []
    for k, h, law, x in zip(joint.stiffness, joint.hardening, joint.law, s, strict=True):
        g, slope = k * x + h * x * x * x, k + 3 * h * x * x
        if law is not None:
            more, rise = _law(law, x)
            g, slope = g + more, maximum(slope + rise, 0)
        found.append(g)
        slopes.append(slope)
    return found, slopes


def _turn_rate(w: Vector, u: Vector) -> Vector:
    return pose_rate(Vector.zero(), w, Vector.zero(), u)[1]


def _units(n: int) -> list[list[int]]:
    return [[int(r == c) for c in range(n)] for r in range(n)]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def check_law(subject: str, law: Law) -> None:
    """Raise if a law cannot be traced, or gives no force, or none that is finite where the spring is at rest."""
    try:
        _of(law)
        at_rest: tuple[Any, ...] = _law(law, 0.0)
        for what, x in zip(("it", "its slope"), at_rest, strict=True):
            if not (is_constant(x) and np.isfinite(x)):
                raise PliantError(
                    f"law of a spring: {what} is {x} at rest, for a deflection of 0; make it finite there"
                )
    except PliantError as error:
        raise type(error)(f"{subject}: {error}") from None


def law_text(law: Law) -> str:
    """What a law computes, as text: equal for laws that compute alike, whatever they are called."""
    value, _ = _of(law)
    if not isinstance(value, Expr):
        return repr(value)
    nodes = nodes_of([value])
    places = {node.index: k for k, node in enumerate(nodes)}
    own = [getattr(node.value, "digest", node.value) for node in nodes]
    return repr([(n.op, x, *(places[a.index] for a in n.args)) for n, x in zip(nodes, own, strict=True)])


def _law(law: Law, x: Scalar) -> tuple[Scalar, Scalar]:
    """A law at x, and its derivative."""
    value, slope = _of(law)
    nodes = [e for e in (value, slope) if isinstance(e, Expr)]
    found = iter(interpret(nodes, {"x": x}))
    value, slope = (next(found) if isinstance(e, Expr) else e for e in (value, slope))
    return value, slope


def _of(law: Law) -> tuple[Scalar, Scalar]:
    return _kept(law) if isinstance(law, Hashable) else _traced(law)


@cache
def _kept(law: Law) -> tuple[Scalar, Scalar]:
    return _traced(law)


def _traced(law: Law) -> tuple[Scalar, Scalar]:
    x = Graph().input("x")
    try:
        value = law(x)
    except PliantError as error:
        raise type(error)(f"law of a spring: {error}") from None
    except Exception as error:  # whatever a user's function does
        cure = "it takes one deflection and returns one force"
        if isinstance(error, ArithmeticError):
            cure = "make its force finite for every deflection"
        raise PliantError(f"law of a spring: {type(error).__name__}: {error}; {cure}") from error
    if isinstance(value, Expr):
        return value, tangents([value], {x: 1})[0]
    if not is_constant(value):
        raise PliantError(f"law of a spring returned {value!r}; it takes one deflection and returns one force")
    return value, 0
