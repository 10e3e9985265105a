"""The terms of the equations by way of an expression graph, which is much quicker than SymPy for long ones.

The same algorithms run on traced scalars, which fold and share as they are made; each node then is one operation
on SymPy's symbols. Numbers of the algorithms become floats on the way, 1/2 is 0.5.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pliant.dynamics import kinetic_energy, potential_energy
from pliant.robot import Named, Robot
from pliant.scalar import Expr, Graph
from pliant.scalar.grad import adjoints, tangents
from pliant.scalar.interp import interpret
from pliant.symbolic.methods import METHODS, Terms, check_minimal_coordinates

__all__ = ["traced_terms"]

Scalar = Any


def traced_terms(method: str, robot: Robot, q: Sequence[Any], v: Sequence[Any]) -> Terms:
    """M, b and g as formulas in the symbols q and v and those of the robot, by one of `METHODS`."""
    graph = Graph()
    inputs: dict[Any, Expr] = {}

    def traced(e: Any) -> Expr:
        if e not in inputs:
            inputs[e] = graph.input(f"s{len(inputs)}")
        return inputs[e]

    x, rates = [traced(s) for s in q], [traced(s) for s in v]
    own = _robot(robot, traced)
    terms = _lagrange(graph, own, x, rates) if method == "lagrange" else METHODS[method](own, x, rates)
    flat = [*(e for row in terms.M for e in row), *terms.b, *terms.g]
    made = iter(interpret([graph.lift(e) for e in flat], {node.value: e for e, node in inputs.items()}))
    n = robot.nv
    return Terms([[next(made) for _ in range(n)] for _ in range(n)], [next(made) for _ in range(n)], list(made))


def _lagrange(graph: Graph, robot: Robot, q: Sequence[Expr], v: Sequence[Expr]) -> Terms:
    """As in `methods`, with derivatives of the graph."""
    check_minimal_coordinates(robot)
    T, U = (graph.lift(e) for e in (kinetic_energy.algorithm(robot, q, v), potential_energy.algorithm(robot, q)))
    momenta = [graph.lift(p) for p in adjoints([T], [1], v)]
    # d/dt dT/dv at vd = 0, along q' = v
    drift = tangents(momenta, dict(zip(q, v, strict=True)))
    columns = [tangents(momenta, {rate: 1}) for rate in v]
    slopes = adjoints([T], [1], q)
    return Terms(
        [[column[i] for column in columns] for i in range(robot.nv)],
        [a - b for a, b in zip(drift, slopes, strict=True)],
        adjoints([U], [1], q),
    )


def _robot(robot: Robot, traced: Callable[[Any], Expr]) -> Robot:
    """A copy whose symbols are traced scalars."""

    def named(old: Named[Any]) -> Named[Any]:
        return Named(old.kind, [_changed(item, traced) for item in old.values()], old.owner)

    return replace(
        robot, bodies=named(robot.bodies), joints=named(robot.joints), motors=named(robot.motors),
        frames=named(robot.frames), gravity=_changed(robot.gravity, traced),
    )  # fmt: skip


def _changed(part: Any, traced: Callable[[Any], Expr]) -> Any:
    """A part with traced scalars for what has symbols; itself, if nothing has."""
    if hasattr(part, "free_symbols"):
        return traced(part) if part.free_symbols else float(part)
    if isinstance(part, tuple):
        new = [_changed(x, traced) for x in part]
        return part if _is_same(new, part) else tuple(new)
    if is_dataclass(part):
        old = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
        new = {name: _changed(x, traced) for name, x in old.items()}
        return part if _is_same(new.values(), old.values()) else replace(part, **new)  # type: ignore[type-var]
    slots = [slot for slot in getattr(type(part), "__slots__", ()) if hasattr(part, slot)]
    values = [getattr(part, slot) for slot in slots]
    new = [_changed(x, traced) for x in values]
    if _is_same(new, values):
        return part
    made = object.__new__(type(part))
    for slot, x in zip(slots, new, strict=True):
        object.__setattr__(made, slot, x)
    return made


def _is_same(new: Any, old: Any) -> bool:
    return all(a is b for a, b in zip(new, old, strict=True))
