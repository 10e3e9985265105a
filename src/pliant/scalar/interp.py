"""Evaluates a graph in Python: the meaning of a kernel, and a way to put other scalars into a graph."""

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.errors import TraceError
from pliant.scalar.expr import Expr
from pliant.scalar.functions import Scalar, evaluate, is_constant, lookup

__all__ = ["interpret", "nodes_of"]


def interpret(outputs: Sequence[Expr], values: Mapping[str, Scalar]) -> list[Scalar]:
    """The outputs for given inputs.

    Args:
        outputs: nodes of one graph.
        values: a scalar for each input, by name: floats, NumPy arrays, SymPy expressions, or scalars of
            another trace, which puts this graph into that one.
    """
    found: dict[int, Scalar] = {}
    is_numeric = all(is_constant(v) or (isinstance(v, np.ndarray) and v.dtype != object) for v in values.values())
    for node in nodes_of(outputs):
        if node.op == "const":
            found[node.index] = node.value if is_numeric else _as_integer(node.value)
        elif node.op == "input":
            if node.value not in values:
                raise TraceError(f"the graph's input {node.value!r} has no value; given: {sorted(values)}")
            found[node.index] = values[node.value]
        elif node.op == "lookup":
            found[node.index] = lookup(node.value, found[node.args[0].index])
        else:
            found[node.index] = evaluate(node.op, *(found[a.index] for a in node.args))
    return [found[node.index] for node in outputs]


def _as_integer(value: float) -> float | int:
    """An integer if it is one: formulas have 2 x, not 2.0 x."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def nodes_of(outputs: Sequence[Expr]) -> list[Expr]:
    """The nodes that the outputs need, each after those it uses."""
    seen: dict[int, Expr] = {}
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.index not in seen:
            seen[node.index] = node
            stack.extend(node.args)
    return [seen[k] for k in sorted(seen)]
