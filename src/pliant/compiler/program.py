"""A program: straight-line blocks and counted loops with early exit, over named variables.

A variable is a few scalars per robot, kept in the workspace. A block is a generic Python function
from variables to variables. A loop repeats its body a number of times, or until a variable is not
zero. Nothing else branches. The whole program becomes one native function that takes a range of
robots, as many at a time as the processor has lanes.

A robot whose loop is over is frozen: while its neighbours go on, what the body would write to its
variables is thrown away. So no robot's result depends on the company it is computed in.

    Program(
        variables={"x": 1, "y": 1, "done": 1},
        inputs=("x",),
        outputs=("y",),
        body=(
            Block(lambda x: x, reads=("x",), writes=("y",)),
            Loop(body=(Block(newton, ("x", "y"), ("y", "done")),), count=20, until="done"),
        ),
    )
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pliant.errors import TraceError
from pliant.scalar import Expr, Graph, either, equal, negation, select
from pliant.scalar.ops import CONDITIONS

__all__ = ["Block", "Loop", "Program", "TracedBlock", "as_number"]


@dataclass(frozen=True)
class Block:
    """Straight-line code: ``writes = function(*reads)``.

    The function gets a list of scalars per variable read, and returns a list of scalars per
    variable written (or the list itself if there is one). It is traced once, when it is needed,
    unless that has been done already (``traced``).
    """

    function: Callable[..., Any]
    reads: Sequence[str]
    writes: Sequence[str]
    traced: "TracedBlock | None" = None


@dataclass(frozen=True)
class Loop:
    """Repeats ``body``.

    Attributes:
        body: blocks and loops.
        count: how often at most: a number, or the name of a count given at the call.
        until: a variable of size 1; a robot is done when the body leaves it other than zero. It is
            set to zero before the loop.
        reads: inputs that have a row per round: round k of the loop finds row k in the variable.
        writes: outputs that have a row per round, stored from the variable at the end of the round.
    """

    body: Sequence["Block | Loop"]
    count: int | str
    until: str | None = None
    reads: Sequence[str] = ()
    writes: Sequence[str] = ()


@dataclass(frozen=True)
class TracedBlock:
    """A block as a graph: the nodes of what it reads, and of what it writes."""

    inputs: list[tuple[str, int, Expr]]
    outputs: list[tuple[str, int, Expr]]


@dataclass(frozen=True)
class Program:
    """Variables with their sizes, which of them come from and go to arrays, and what to do."""

    variables: Mapping[str, int]
    inputs: Sequence[str]
    outputs: Sequence[str]
    body: Sequence[Block | Loop]

    def __post_init__(self):
        for name in (*self.inputs, *self.outputs):
            self._check(name, "the program")
        for statement, loops in self.walk():
            if isinstance(statement, Loop):
                for name in (*statement.reads, *statement.writes, *([statement.until] if statement.until else [])):
                    self._check(name, "a loop")
                if statement.until and self.variables[statement.until] != 1:
                    raise TraceError(f"the variable {statement.until!r} that ends a loop must have size 1")
                if isinstance(statement.count, int) and statement.count < 0:
                    raise TraceError(f"a loop cannot run {statement.count} times")
                if loops and (statement.reads or statement.writes):
                    raise TraceError("only an outermost loop can read or write a row per round")
            else:
                for name in (*statement.reads, *statement.writes):
                    self._check(name, "a block")

    def _check(self, name: str, owner: str) -> None:
        if name not in self.variables:
            raise TraceError(f"{owner} uses the variable {name!r}; the program has {sorted(self.variables)}")

    def walk(self) -> Iterator[tuple[Block | Loop, tuple[Loop, ...]]]:
        """Every statement with the loops around it, outermost first."""

        def visit(body, loops):
            for statement in body:
                yield statement, loops
                if isinstance(statement, Loop):
                    yield from visit(statement.body, (*loops, statement))

        yield from visit(self.body, ())

    @cached_property
    def rounds(self) -> dict[str, Loop]:
        """The arrays that have a row per round, and the loop that counts them."""
        return {n: s for s, _ in self.walk() if isinstance(s, Loop) for n in (*s.reads, *s.writes)}

    @cached_property
    def counts(self) -> list[str]:
        """Names of the loop counts that are given at the call."""
        names = [s.count for s, _ in self.walk() if isinstance(s, Loop) and isinstance(s.count, str)]
        return list(dict.fromkeys(names))

    @cached_property
    def traced(self) -> list[TracedBlock]:
        """The blocks as graphs, in the order of `walk`."""
        return [s.traced or self._trace(s, loops) for s, loops in self.walk() if isinstance(s, Block)]

    def _trace(self, block: Block, loops: tuple[Loop, ...]) -> TracedBlock:
        graph = Graph()
        nodes: dict[tuple[str, int], Expr] = {}

        def variable(name: str) -> list[Expr]:
            keys = [(name, k) for k in range(self.variables[name])]
            for key in keys:
                if key not in nodes:
                    nodes[key] = graph.input(f"{key[0]}[{key[1]}]")
            return [nodes[key] for key in keys]

        written = block.function(*(variable(n) for n in block.reads))
        if len(block.writes) == 1 and not _is_nested(written):
            written = (written,)
        if len(written) != len(block.writes):
            raise TraceError(f"a block writes {list(block.writes)} but its function returned {len(written)} values")
        # robots that left a loop keep what they have
        flags = [variable(loop.until)[0] for loop in loops if loop.until]
        frozen = None
        for flag in flags:
            over = negation(equal(flag, 0))
            frozen = over if frozen is None else either(frozen, over)
        outputs = []
        for name, values in zip(block.writes, written, strict=True):
            values = list(values) if isinstance(values, list | tuple) else [values]
            if len(values) != self.variables[name]:
                raise TraceError(
                    f"a block writes {len(values)} scalars to {name!r}, which has {self.variables[name]}"
                )
            for k, value in enumerate(values):
                node = as_number(graph, value)
                if frozen is not None:
                    node = graph.lift(select(frozen, variable(name)[k], node))
                outputs.append((name, k, node))
        return TracedBlock([(n, k, e) for (n, k), e in nodes.items()], outputs)


def as_number(graph: Graph, value: Any) -> Expr:
    """The node of a value; a condition becomes 1 or 0."""
    node = graph.lift(value)
    return graph.lift(select(node, 1, 0)) if node.op in CONDITIONS else node


def _is_nested(values: Any) -> bool:
    return isinstance(values, list | tuple) and len(values) > 0 and isinstance(values[0], list | tuple)
