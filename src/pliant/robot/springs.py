"""What springs a joint has, and the laws that users give them; `pliant.actuation.joint_springs` has their forces."""

from collections.abc import Hashable
from functools import cache
from typing import Any

import numpy as np

from pliant.errors import PliantError, RobotError
from pliant.robot.model import Joint, Law
from pliant.scalar import Expr, Graph, is_constant
from pliant.scalar.evaluation import interpret, nodes_of, tangents

__all__ = ["check_law", "has_backlash", "has_spring", "is_nonlinear", "law_and_slope", "law_text"]

Scalar = Any


def has_spring(joint: Joint) -> bool:
    """Whether some dof of the joint has a spring."""
    numbers = (*joint.stiffness, *joint.hardening)
    return any(law is not None for law in joint.law) or not all(is_constant(x) and x == 0 for x in numbers)


def has_backlash(joint: Joint) -> bool:
    """Whether its spring has a dead zone."""
    return not (is_constant(joint.backlash) and joint.backlash == 0)


def is_nonlinear(joint: Joint) -> bool:
    """Whether the force of its spring is not proportional to the deflection."""
    return (
        has_backlash(joint)
        or any(law is not None for law in joint.law)
        or not all(is_constant(h) and h == 0 for h in joint.hardening)
    )


# ---- laws of the user


def law_and_slope(law: Law, x: Scalar) -> tuple[Scalar, Scalar]:
    """A law at a deflection x, and its derivative there, in the scalars of x."""
    value, slope = _of(law)
    nodes = [e for e in (value, slope) if isinstance(e, Expr)]
    found = iter(interpret(nodes, {"x": x}))
    value, slope = (next(found) if isinstance(e, Expr) else e for e in (value, slope))
    return value, slope


def check_law(subject: str, law: Law) -> None:
    """Raise unless a law can be traced and is finite, and so is its slope, where the spring is at rest."""
    try:
        _of(law)
        at_rest: tuple[Any, ...] = law_and_slope(law, 0.0)
        for what, x in zip(("it", "its slope"), at_rest, strict=True):
            if not (is_constant(x) and np.isfinite(x)):
                problem = f"law of a spring: {what} is {x} at rest, for a deflection of 0"
                raise RobotError(problem, subject=subject, field="law", cure="make it finite there")
    except PliantError as error:
        raise error.within(subject) from None


def law_text(law: Law) -> str:
    """What a law computes, as text: equal for laws that compute alike, whatever they are called."""
    value, _ = _of(law)
    if not isinstance(value, Expr):
        return repr(value)
    nodes = nodes_of([value])
    places = {node.index: k for k, node in enumerate(nodes)}
    own = [getattr(node.value, "digest", node.value) for node in nodes]
    return repr([(n.op, x, *(places[a.index] for a in n.args)) for n, x in zip(nodes, own, strict=True)])


def _of(law: Law) -> tuple[Scalar, Scalar]:
    return _kept(law) if isinstance(law, Hashable) else _traced(law)


@cache
def _kept(law: Law) -> tuple[Scalar, Scalar]:
    return _traced(law)


def _traced(law: Law) -> tuple[Scalar, Scalar]:
    x = Graph().input("x")
    takes = "it takes one deflection and returns one force"
    try:
        value = law(x)
    except PliantError as error:
        raise error.within("law of a spring") from None
    except Exception as error:  # whatever a user's function does
        cure = "make its force finite for every deflection" if isinstance(error, ArithmeticError) else takes
        raise RobotError(f"law of a spring: {type(error).__name__}: {error}", field="law", cure=cure) from error
    if isinstance(value, Expr):
        return value, tangents([value], {x: 1})[0]
    if not is_constant(value):
        raise RobotError(f"law of a spring returned {value!r}", field="law", cure=takes)
    return value, 0
