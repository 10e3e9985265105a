"""Functions that can be stored: a generic function as the operations that it applies to its arguments.

A law of a spring, a motor or the ground is Python code, which no file should hold, since opening it would run it. But
such a function computes a graph of operations of `pliant.scalar.ops`, and that is plain data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import PliantError, TraceError
from pliant.scalar import Expr, Graph, Scalar, Table
from pliant.scalar.evaluation import interpret, nodes_of
from pliant.scalar.ops import TABLE

# what readers accept: a ground of stairs has some dozen nodes, a law measured at a thousand points some thousand
MAX_NODES = 100_000

SPRING_LAW = ("x",)
MOTOR_LAW = ("u", "q", "v", "t")
"""Arguments of laws: of springs and of errors of sensors, and of motors."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A function of a few scalars as operations; it is called like the function that it was made of.

        Formula.of(lambda x: 3 * x * x, ("x",))(2)

    Attributes:
        inputs: names of the arguments.
        nodes: (operation, indices of nodes before it) of each node; ("const", number), ("input", place of the
            argument) and ("lookup", place of the table, index), with nodes for offset and last index after it if it
            has these.
        output: index of the node that is the result.
        tables: of numbers that it looks up.
        name: of the function, for messages.
    """

    inputs: tuple[str, ...]
    nodes: tuple[tuple[Any, ...], ...]
    output: int
    tables: tuple[Table, ...] = ()
    name: str = "formula"

    @classmethod
    def of(cls, function: Callable[..., Scalar], inputs: Sequence[str]) -> "Formula":
        """The formula that a function, generic over the scalar, computes of arguments of these names."""
        graph = Graph()
        name = getattr(function, "__name__", None) or getattr(function, "name", "formula")
        return cls._traced(graph, function(*(graph.input(name) for name in inputs)), inputs, str(name))

    @classmethod
    def _traced(cls, graph: Graph, result: Scalar, inputs: Sequence[str], name: str) -> "Formula":
        result = graph.lift(result)
        # the inputs come first, whether or not they are used
        needed = nodes_of([*graph.nodes[: len(inputs)], result])
        places = {node.index: k for k, node in enumerate(needed)}
        tables: list[Table] = []
        nodes: list[tuple[Any, ...]] = []
        for node in needed:
            if node.op == "const":
                nodes.append(("const", node.value))
            elif node.op == "input":
                nodes.append(("input", list(inputs).index(node.value)))
            else:
                if node.op == "lookup" and node.value not in tables:
                    tables.append(node.value)
                own = (tables.index(node.value),) if node.op == "lookup" else ()
                nodes.append((node.op, *own, *(places[a.index] for a in node.args)))
        return cls(tuple(inputs), tuple(nodes), places[result.index], tuple(tables), name)

    def __call__(self, *arguments: Scalar) -> Scalar:
        """The function's result, in the scalars of the arguments."""
        if len(arguments) != len(self.inputs):
            raise TypeError(f"{self.name} takes {len(self.inputs)} arguments, {', '.join(self.inputs)}")
        traced = next((a.graph for a in arguments if isinstance(a, Expr)), None)
        if traced is not None:
            # node for node, so that the graph is that of the function itself
            return self._put(traced, arguments)
        return interpret([self._graph], dict(zip(self.inputs, arguments, strict=True)))[0]

    @cached_property
    def _graph(self) -> Expr:
        graph = Graph()
        return self._put(graph, [graph.input(name) for name in self.inputs])

    def _put(self, graph: Graph, arguments: Sequence[Scalar]) -> Expr:
        found: list[Expr] = []
        for op, *rest in self.nodes:
            if op == "const":
                found.append(graph.constant(rest[0]))
            elif op == "input":
                found.append(graph.lift(arguments[rest[0]]))
            elif op == "lookup":
                found.append(graph.lookup(self.tables[rest[0]], *(found[k] for k in rest[1:])))
            else:
                found.append(graph.apply(op, *(found[k] for k in rest)))
        return found[self.output]

    # ---- plain data

    def to_plain(self) -> dict[str, Any]:
        """All of it but the tables, in the types of JSON."""
        # hexadecimal is exact, and has numbers that JSON does not have
        nodes = [[op, float(rest[0]).hex()] if op == "const" else [op, *rest] for op, *rest in self.nodes]
        return {"inputs": list(self.inputs), "nodes": nodes, "output": self.output, "name": self.name}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], tables: Sequence[np.ndarray] = ()) -> "Formula":
        """The formula of plain data from an untrusted file: all operations are checked before they are applied."""
        try:
            inputs, nodes = tuple(map(str, plain["inputs"])), plain["nodes"]
            if not 0 < len(nodes) <= MAX_NODES or len(set(inputs)) < len(inputs):
                raise ValueError(f"it has {len(nodes)} operations, and {MAX_NODES} are the most")
            found = tuple(_node(k, list(node), len(inputs), len(tables)) for k, node in enumerate(nodes))
            if type(output := plain["output"]) is not int or not 0 <= output < len(found):
                raise ValueError(f"its result is {output!r}")
            made = cls(inputs, found, output, tuple(Table(t) for t in tables), str(plain.get("name", "formula")))
            _ = made._graph
        except (KeyError, TypeError, ValueError, IndexError, TraceError) as error:
            raise PliantError(f"a stored formula is damaged: {error}", subject="formula") from None
        return made

    def __repr__(self) -> str:
        return f"<formula {self.name}({', '.join(self.inputs)}) of {len(self.nodes)} operations>"

    def __getstate__(self) -> dict[str, Any]:
        # what is cached is made again
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, eq=False)
class LawFormulas:
    """The law of a motor that remembers as formulas: of its torque, and of each number of its memory."""

    formulas: tuple[Formula, ...]

    @classmethod
    def of(cls, function: Callable[..., Any], inputs: Sequence[str], memory: int) -> "LawFormulas":
        """The formulas of ``function(*inputs, memory) -> (result, memory)``, with so many numbers of memory."""
        n = len(inputs)
        names = (*inputs, *(f"memory{k}" for k in range(memory)))

        def part(k: int) -> Callable[..., Scalar]:
            def chosen(*given: Scalar) -> Scalar:
                result, after = function(*given[:n], list(given[n:]))
                return result if k == 0 else after[k - 1]

            chosen.__name__ = getattr(function, "__name__", "law")
            return chosen

        return cls(tuple(Formula.of(part(k), names) for k in range(memory + 1)))

    def __call__(self, u: Scalar, q: Scalar, v: Scalar, t: Scalar, memory: Sequence[Scalar]) -> Any:
        """Torque and memory."""
        torque, *after = (formula(u, q, v, t, *memory) for formula in self.formulas)
        return torque, after


@dataclass(frozen=True, eq=False)
class FormulaRow:
    """Several formulas of the same arguments: a function that returns a list."""

    formulas: tuple[Formula, ...]

    @classmethod
    def of(cls, function: Callable[..., Sequence[Scalar]], inputs: Sequence[str]) -> "FormulaRow":
        """The formulas of what a function returns, of arguments of these names."""
        graph = Graph()
        results = function(*(graph.input(name) for name in inputs))
        name = getattr(function, "__name__", "formula")
        return cls(tuple(Formula._traced(graph, result, inputs, name) for result in results))

    def __call__(self, *arguments: Scalar) -> list[Scalar]:
        """All results."""
        return [formula(*arguments) for formula in self.formulas]


def _node(k: int, node: list[Any], inputs: int, tables: int) -> tuple[Any, ...]:
    """A node; raises unless it is a known operation on earlier nodes."""
    op, *rest = node
    if op == "const":
        return op, float.fromhex(rest[0])
    if not all(type(i) is int for i in rest):
        raise ValueError(f"node {k} is {node}")
    if op == "input":
        limits = (inputs,)
    elif op == "lookup":
        limits = (tables, *(k,) * (3 if len(rest) > 2 else 1))
    elif op in TABLE:
        limits = (k,) * TABLE[op].arity
    else:
        raise ValueError(f"there is no operation {op!r}")
    if len(rest) != len(limits) or not all(0 <= i < most for i, most in zip(rest, limits, strict=True)):
        raise ValueError(f"node {k} is {node}")
    return (op, *rest)
