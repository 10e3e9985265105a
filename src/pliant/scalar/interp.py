"""Evaluates a graph in Python: the meaning of a kernel, and a way to put other scalars into a graph."""

from collections.abc import Mapping, Sequence
from typing import Any

from pliant.errors import TraceError
from pliant.scalar.expr import Expr
from pliant.scalar.functions import evaluate

__all__ = ["interpret", "nodes_of"]

Scalar = Any


def interpret(outputs: Sequence[Expr], values: Mapping[str, Scalar]) -> list[Scalar]:
    """The outputs for given inputs.

    Args:
        outputs: nodes of one graph.
        values: a scalar for each input, by name: floats, NumPy arrays, SymPy expressions, or scalars of
            another trace, which puts this graph into that one.
    """
    found: dict[int, Scalar] = {}
    for node in nodes_of(outputs):
        if node.op == "const":
            # SymPy keeps 2 x exact, not 2.0 x
            is_whole = node.value.is_integer() and abs(node.value) < 2**53
            found[node.index] = int(node.value) if is_whole else node.value
        elif node.op == "input":
            if node.value not in values:
                raise TraceError(f"the graph's input {node.value!r} has no value; given: {sorted(values)}")
            found[node.index] = values[node.value]
        else:
            found[node.index] = evaluate(node.op, *(found[a.index] for a in node.args))
    return [found[node.index] for node in outputs]


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
