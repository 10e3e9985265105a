"""What a graph gives: its values in Python, which are the meaning of a kernel, and its derivatives.

Derivatives follow from the table of operations, and are nodes of the same graph.
"""

from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np

from pliant.errors import TraceError
from pliant.scalar.functions import Scalar, draws, evaluate, is_constant, lookup
from pliant.scalar.graph import Expr
from pliant.scalar.ops import DRAWS, TABLE


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
            index, *beside = node.args
            found[node.index] = lookup(node.value, found[index.index], *(int(a.value) for a in beside))
        elif node.op in DRAWS:
            words = [found[a.index] for a in node.args]
            found[node.index] = draws(words[:4], words[4:])[DRAWS.index(node.op)]
        else:
            found[node.index] = evaluate(node.op, *(found[a.index] for a in node.args))
    return [found[node.index] for node in outputs]


def _as_integer(value: float) -> float | int:
    """An integer if it is one: formulas have 2 x, not 2.0 x."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def nodes_of(outputs: Sequence[Expr]) -> list[Expr]:
    """The nodes that the outputs need, each after those it uses."""
    if not outputs:
        return []
    # nodes of a graph are in order, so one walk from the last to the first sees each before those it uses
    nodes, k = outputs[0].graph.nodes, max(node.index for node in outputs)
    is_needed = bytearray(k + 1)
    for node in outputs:
        is_needed[node.index] = 1
    while k >= 0:
        for a in nodes[k].args:
            is_needed[a.index] = 1
        k = is_needed.rfind(1, 0, k)
    return list(compress(nodes, is_needed))


# ---- derivatives


def tangents(outputs: Sequence[Expr], seeds: Mapping[Expr, Scalar]) -> list[Scalar]:
    """How the outputs change when the inputs change at the rates ``seeds`` (forward derivative).

    Inputs without a seed stay as they are. A rate that is zero by structure is the integer 0.
    """
    rates: dict[int, Scalar] = {node.index: rate for node, rate in seeds.items()}
    for node in nodes_of(outputs):
        if not node.args or node.index in rates:
            continue
        moving = [k for k, a in enumerate(node.args) if not _is_zero(rates.get(a.index, 0))]
        if moving and node.op == "select":
            # the rate of the side that is taken: the other one may be infinite
            condition, then, otherwise = node.args
            sides = [rates.get(a.index, 0) for a in (then, otherwise)]
            rates[node.index] = node.graph.apply("select", condition, *sides)
        elif moving:
            partials = _partials(node)
            rate = 0
            for k in moving:
                rate = rate + partials[k] * rates[node.args[k].index]
            rates[node.index] = rate
    return [rates.get(node.index, 0) for node in outputs]


def adjoints(outputs: Sequence[Expr], weights: Sequence[Scalar], inputs: Sequence[Expr]) -> list[Scalar]:
    """Derivatives of sum_k weights[k] outputs[k] by each of the inputs (reverse derivative)."""
    gathered: dict[int, Scalar] = {}
    for node, weight in zip(outputs, weights, strict=True):
        gathered[node.index] = gathered.get(node.index, 0) + weight
    nodes = nodes_of(outputs)
    risky = _risky(nodes)
    for node in reversed(nodes):
        weight = gathered.get(node.index, 0)
        if not node.args or _is_zero(weight):
            continue
        for a, partial in zip(node.args, _partials(node), strict=True):
            if a.op != "const" and not _is_zero(partial):
                share = partial * weight
                if node.index in risky and isinstance(weight, Expr):
                    # a side that is not taken weighs nothing, also where its derivative is infinite
                    share = node.graph.apply("select", weight == 0, 0, share)
                gathered[a.index] = gathered.get(a.index, 0) + share
    return [gathered.get(node.index, 0) for node in inputs]


def jacobian(outputs: Sequence[Expr], inputs: Sequence[Expr]) -> list[list[Scalar]]:
    """The matrix of derivatives, a row an output: by columns or by rows, whichever are fewer."""
    if len(inputs) <= len(outputs):
        columns = [tangents(outputs, {x: 1}) for x in inputs]
        return [[column[r] for column in columns] for r in range(len(outputs))]
    return [adjoints([y], [1], inputs) for y in outputs]


# operations whose derivative may be infinite or NaN
_SINGULAR = frozenset(("div", "sqrt", "log", "tan", "asin", "acos", "atan2", "exp"))


def _risky(nodes: Sequence[Expr]) -> set[int]:
    """Where a partial derivative may not be finite on a side of a choice that is not taken."""
    if not any(node.op in ("select", "min", "max") for node in nodes):
        return set()
    found: set[int] = set()
    for node in nodes:
        if node.op in _SINGULAR or any(a.index in found for a in node.args):
            found.add(node.index)
    return found


def _partials(node: Expr) -> tuple:
    if node.op == "lookup" or node.op in DRAWS:
        return (0,) * len(node.args)
    row = TABLE[node.op]
    if row.partials is not None:
        return row.partials(*node.args, node)
    if row.sympy is None:
        raise TraceError(f"{node.op} belongs to lowered code, which has no derivative")
    return (0,) * row.arity


def _is_zero(x: Scalar) -> bool:
    if isinstance(x, Expr):
        return x.op == "const" and x.value == 0
    return isinstance(x, int | float) and x == 0
