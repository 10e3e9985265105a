"""A program: straight-line blocks and counted loops with early exit, over named variables.

A variable is a few scalars per robot, kept in the workspace; unless it is an input, it starts at zero.
A block is a generic Python function from variables to variables. A loop repeats its body a number of
times, or until a variable is not zero. Nothing else branches. The whole program becomes one native
function that takes a range of robots, as many at a time as the processor has lanes.

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

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import TraceError
from pliant.scalar import Expr, Graph, Table, equal, negation, select
from pliant.scalar.evaluation import nodes_of
from pliant.scalar.ops import CONDITIONS


@dataclass(frozen=True)
class Block:
    """Straight-line code: ``writes = function(*reads)``.

    The function gets an array of scalars per variable read, and returns an array or a list of scalars
    per variable written (or that itself if there is one). It may write what it reads. It is traced
    once, when it is needed, unless that has been done already (``traced``).
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
        count: how often at most: a number, or the name of a count given at the call, as the number of
            rows of an array or by keyword.
        until: a variable of size 1; a robot is done when it is not zero at the end of a round. It is set
            before the loop: to zero, or to one for a robot that ``when`` keeps out.
        when: a variable of size 1; a robot for which it is zero as the loop begins does not enter, and has
            none of its variables but ``until`` changed. If no robot enters, nothing is run.
        reads: inputs that have a row per round: round k of the loop finds row k in the variable.
        writes: outputs that have a row per round, stored from the variable at the end of the round. A call may leave
            them out.
        slices: variables that are a part of another one per round: round k finds the k-th part of ``slices[name]`` in
            the variable ``name``, and what it leaves there goes back. So a body for a few numbers works on many. They
            are nothing outside of the loop. In place of another variable there may be a table of constants.

    A loop with rows runs all its rounds, so that each row is written: a robot that is done early
    repeats its last one.
    """

    body: Sequence["Block | Loop"]
    count: int | str
    until: str | None = None
    reads: Sequence[str] = ()
    writes: Sequence[str] = ()
    when: str | None = None
    slices: Mapping[str, str | Table] = field(default_factory=dict)

    @property
    def kept_slices(self) -> dict[str, str]:
        """The slices of variables that its body writes to."""
        return {part: whole for part, whole in self.sliced.items() if part in _written(self.body)}

    @property
    def sliced(self) -> dict[str, str]:
        """The slices of variables."""
        return {part: whole for part, whole in self.slices.items() if isinstance(whole, str)}

    @property
    def can_be_left(self) -> bool:
        """Whether some robots may be done with it, or never enter, while others go on."""
        return self.until is not None or self.when is not None


@dataclass(frozen=True)
class TracedBlock:
    """A block as a graph: the nodes of what it reads, and of what it writes."""

    inputs: list[tuple[str, int, Expr]]
    outputs: list[tuple[str, int, Expr]]


@dataclass(frozen=True)
class Program:
    """Variables with their sizes, which of them come from and go to arrays, and what to do.

    Attributes:
        scratch: variables that are always written before they are read. They need not start at zero,
            nor be kept for a robot that is frozen: those that have left a loop find anything in what
            it writes to them.
        spans: arrays that are variables side by side, in the order of ``variables``; any other is the variable of its
            name. A variable comes from one array at most, but may go to several.
    """

    variables: Mapping[str, int]
    inputs: Sequence[str]
    outputs: Sequence[str]
    body: Sequence[Block | Loop]
    scratch: Sequence[str] = ()
    spans: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self):
        self._check("the program's scratch", self.scratch)
        self._check_spans()
        sources, targets = ([n for a in arrays for n in self.parts(a)] for arrays in (self.inputs, self.outputs))
        kept = [n for n in self.scratch if n in sources or n in targets]
        if kept:
            raise TraceError(f"{kept[0]!r} is an array of the program, so it cannot be scratch")
        self._check("the program's inputs", sources)
        self._check("the program's outputs", dict.fromkeys(targets))
        self._check_names("the program's outputs", self.outputs)
        with_rows: set[str] = set()
        for statement, loops in self.walk():
            if isinstance(statement, Block):
                self._check("a block", statement.reads)
                self._check("a block", statement.writes)
                self._check_parts(statement, loops)
                continue
            self._check_loop(statement)
            rows = {*statement.reads, *statement.writes}
            if rows and loops:
                raise TraceError("only an outermost loop can read or write a row per round")
            if rows & with_rows or rows & set(self.inputs) & set(self.outputs):
                raise TraceError(f"{sorted(rows)} have a row per round of one loop, so they cannot be anything else")
            with_rows |= rows

    def parts(self, array: str) -> tuple[str, ...]:
        """The variables that an array is made of."""
        return tuple(self.spans.get(array, (array,)))

    def size(self, array: str) -> int:
        """Scalars of an array for one robot; of one with rows, in a row."""
        return sum(self.variables[n] for n in self.parts(array))

    def _check(self, owner: str, names: Collection[str]) -> None:
        for name in names:
            if name not in self.variables:
                raise TraceError(f"{owner} uses the variable {name!r}; the program has {sorted(self.variables)}")
        self._check_names(owner, names)

    def _check_names(self, owner: str, names: Collection[str]) -> None:
        if len(set(names)) < len(names):
            raise TraceError(f"{owner} names a variable twice: {list(names)}")

    def _check_spans(self) -> None:
        order = list(self.variables)
        for array, names in self.spans.items():
            self._check(f"the array {array!r}", names)
            if array in self.variables or array not in (*self.inputs, *self.outputs):
                raise TraceError(f"{array!r} is not the name of an array of the program that is free for a span")
            if not names or list(names) != order[order.index(names[0]) :][: len(names)]:
                raise TraceError(f"{array!r} needs variables that are side by side; {list(names)} are not")

    def _check_loop(self, loop: Loop) -> None:
        self._check("a loop", [n for array in loop.reads for n in self.parts(array)])
        self._check("a loop", dict.fromkeys(n for array in loop.writes for n in self.parts(array)))
        for name, role in ((loop.until, "ends"), (loop.when, "opens")):
            if name is not None:
                self._check("a loop", [name])
                if self.variables[name] != 1:
                    raise TraceError(f"the variable {name!r} that {role} a loop must have size 1")
        if loop.when and (loop.reads or loop.writes):
            raise TraceError("a loop with a row per round is entered by every robot; it takes no `when`")
        self._check_slices(loop)
        if isinstance(loop.count, str) and loop.count in self.variables:
            raise TraceError(f"a loop's count needs a name of its own; {loop.count!r} is a variable")
        if not isinstance(loop.count, str) and (not isinstance(loop.count, int) or loop.count < 0):
            raise TraceError(f"a loop cannot run {loop.count} times")
        for names, arrays, kind in ((loop.reads, self.inputs, "input"), (loop.writes, self.outputs, "output")):
            wrong = [n for n in names if n not in arrays]
            if wrong:
                raise TraceError(f"a loop has a row of {wrong[0]!r} per round, which is not an {kind} of the program")

    def _check_slices(self, loop: Loop) -> None:
        self._check("a loop", loop.slices)
        self._check("a loop", list(loop.sliced.values()))
        for part, whole in loop.slices.items():
            size = self.variables[whole] if isinstance(whole, str) else len(whole)
            if not isinstance(loop.count, int) or size != loop.count * self.variables[part]:
                sizes = f"{whole!r} has {size}, {part!r} {self.variables[part]} scalars"
                raise TraceError(f"a loop of {loop.count} rounds with slices: {sizes}")
            written = _written(loop.body)
            if part in (*self.scratch, *loop.sliced.values()) or (whole if isinstance(whole, str) else part) in written:
                problem = f"{part!r} is a slice of {whole!r} in a loop, so it is neither scratch nor sliced itself"
                raise TraceError(f"{problem}, and the body does not write to {whole!r}")

    def _check_parts(self, block: Block, loops: tuple[Loop, ...]) -> None:
        """Raise if a block reads a slice outside of its loop, where it depends on the robots beside."""
        slices = {part for s, _ in self.walk() if isinstance(s, Loop) for part in s.slices}
        lost = slices.intersection(block.reads).difference(*(loop.slices for loop in loops))
        arrays = {n for array in (*self.inputs, *self.outputs) for n in self.parts(array)}
        for name in sorted(lost | (slices & arrays)):
            raise TraceError(f"{name!r} is a slice of a variable in a loop, and nothing outside of it")

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
    def depth(self) -> int:
        """How many loops are inside each other at most."""
        return max((len(loops) + isinstance(s, Loop) for s, loops in self.walk()), default=0)

    @cached_property
    def unset(self) -> list[str]:
        """The variables that something may read before anything has written them; these are set to zero."""
        found: dict[str, None] = {}

        def need(names: Iterable[str], known: set[str]) -> None:
            found.update(dict.fromkeys(n for n in names if n not in known and n not in self.scratch))
            known.update(names)

        def visit(body: Sequence[Block | Loop], known: set[str], can_be_frozen: bool) -> None:
            for statement in body:
                if isinstance(statement, Block):
                    # a robot that is frozen keeps what it has of what a block writes
                    need([*statement.reads, *(statement.writes if can_be_frozen else ())], known)
                    known.update(statement.writes)
                    continue
                need([n for n in (statement.until, statement.when) if n is not None], known)
                need(statement.sliced.values(), known)
                inside = known | set(statement.slices) | {n for array in statement.reads for n in self.parts(array)}
                visit(statement.body, inside, can_be_frozen or statement.can_be_left)
                need([n for array in statement.writes for n in self.parts(array)], inside)
                # a loop without rounds writes nothing
                is_run = isinstance(statement.count, int) and statement.count > 0 and statement.when is None
                known |= inside if is_run else set(found)

        known = {n for array in self.inputs if array not in self.rounds for n in self.parts(array)}
        visit(self.body, known, can_be_frozen=False)
        need([n for array in self.outputs if array not in self.rounds for n in self.parts(array)], known)
        return list(found)

    @cached_property
    def written_once(self) -> set[str]:
        """The variables that nothing but one block outside of loops ever writes to."""
        writers = [n for s, _ in self.walk() for n in (s.writes if isinstance(s, Block) else [s.until])]
        inside = {n for s, loops in self.walk() if loops or isinstance(s, Loop) for n in self._touched(s)}
        others = {*(n for array in self.inputs for n in self.parts(array)), *self.unset, *inside}
        return {n for n in writers if n is not None and writers.count(n) == 1 and n not in others}

    def _touched(self, statement: Block | Loop) -> list[str]:
        """The variables that a statement itself reads and writes."""
        names = [*statement.reads, *statement.writes]
        if isinstance(statement, Block):
            return names
        return [*(n for array in names for n in self.parts(array)), *statement.slices, *statement.kept_slices.values()]

    @cached_property
    def traced(self) -> list[TracedBlock]:
        """The blocks as graphs, in the order of `walk`, without the scratch that nothing reads."""
        scratch = set(self.scratch)
        blocks = [
            _frozen(s.traced or self._trace(s), loops, scratch) for s, loops in self.walk() if isinstance(s, Block)
        ]
        loops = [s for s, _ in self.walk() if isinstance(s, Loop)]
        read = {n for loop in loops for n in (loop.until, loop.when, *loop.slices, *loop.sliced.values())}
        return _without_unread(blocks, scratch - read)

    def _trace(self, block: Block) -> TracedBlock:
        graph = Graph()
        nodes: dict[tuple[str, int], Expr] = {}

        def variable(name: str) -> np.ndarray:
            keys = [(name, k) for k in range(self.variables[name])]
            for key in keys:
                if key not in nodes:
                    nodes[key] = graph.input(f"{key[0]}[{key[1]}]")
            return np.array([nodes[key] for key in keys], dtype=object)

        written = block.function(*(variable(n) for n in block.reads))
        is_nested = isinstance(written, list | tuple) and len(written) > 0 and isinstance(written[0], _SEQUENCES)
        if len(block.writes) == 1 and not is_nested:
            written = (written,)
        if len(written) != len(block.writes):
            raise TraceError(f"a block writes {list(block.writes)} but its function returned {len(written)} values")
        outputs = []
        for name, values in zip(block.writes, written, strict=True):
            values = list(values) if isinstance(values, _SEQUENCES) else [values]
            if len(values) != self.variables[name]:
                raise TraceError(f"a block writes {len(values)} scalars to {name!r}, which has {self.variables[name]}")
            outputs.extend((name, k, as_number(graph, value)) for k, value in enumerate(values))
        return TracedBlock([(n, k, e) for (n, k), e in nodes.items()], outputs)


def _written(body: Sequence[Block | Loop]) -> set[str]:
    """The variables that blocks of a body write to."""
    return {n for s in body for n in (s.writes if isinstance(s, Block) else _written_in(s))}


def _written_in(loop: Loop) -> set[str]:
    return _written(loop.body) | set(loop.kept_slices.values())


def left(depth: int) -> str:
    """Of the workspace: not zero for robots that have left the loop with so many around it, or one of these."""
    return f"left loop {depth}"


def innermost(loops: Sequence[Loop]) -> str | None:
    """The flag of robots that have left one of these loops, outermost first; None if none can be left."""
    return next((left(depth) for depth in reversed(range(len(loops))) if loops[depth].can_be_left), None)


def _frozen(block: TracedBlock, loops: tuple[Loop, ...], scratch: set[str]) -> TracedBlock:
    """The block inside of loops: robots that have left one of them keep what they have, but for scratch."""
    flag = innermost(loops)
    if flag is None or all(name in scratch for name, _, _ in block.outputs):
        return block
    graph = block.outputs[0][2].graph
    present = {node.value: node for node in graph.nodes if node.op == "input"}
    nodes = {(name, k): node for name, k, node in block.inputs}

    def variable(name: str, k: int) -> Expr:
        if (name, k) not in nodes:
            label = f"{name}[{k}]"
            nodes[name, k] = present[label] if label in present else graph.input(label)
        return nodes[name, k]

    over = negation(equal(variable(flag, 0), 0))
    outputs = [
        (name, k, node if name in scratch else graph.lift(select(over, variable(name, k), node)))
        for name, k, node in block.outputs
    ]
    return TracedBlock([(name, k, node) for (name, k), node in nodes.items()], outputs)


def _without_unread(blocks: list[TracedBlock], scratch: set[str]) -> list[TracedBlock]:
    """The blocks without results that go to these variables and that no block needs."""
    reads: list[set[tuple[str, int]]] = [set() for _ in blocks]
    changed = list(range(len(blocks)))
    while changed:
        for i in changed:
            needed = {node.index for node in nodes_of([node for _, _, node in blocks[i].outputs])}
            reads[i] = {(name, k) for name, k, node in blocks[i].inputs if node.index in needed}
        read, changed = set().union(*reads), []
        for i, block in enumerate(blocks):
            kept = [x for x in block.outputs if x[0] not in scratch or x[:2] in read]
            if len(kept) < len(block.outputs):
                blocks[i] = TracedBlock(block.inputs, kept)
                changed.append(i)
    return blocks


def as_number(graph: Graph, value: Any) -> Expr:
    """The node of a value; a condition becomes 1 or 0."""
    node = graph.lift(value)
    return graph.lift(select(node, 1, 0)) if node.op in CONDITIONS else node


_SEQUENCES = (list, tuple, np.ndarray)
