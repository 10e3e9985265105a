"""Python functions on traced scalars become programs: one function at once, or stage by stage.

Between stages, values travel in variables and in records. A variable has a size and may be written
by any stage. A record is made by one stage and read by later ones: any nesting of dicts, lists and
tuples of scalars, in which a number that came out constant is that constant for the stages that
read it, so that folding goes on across the border.

    stages = Stages(q=7, v=6)
    stages.add(dynamics, reads=("q", "v"), writes=("motion",))          # a record: not declared
    with stages.loop(10, until="converged"):
        stages.add(iteration, reads=("motion", "v"), writes=("v", "converged"))
    program = stages.program(inputs=("q", "v"), outputs=("v",))
"""

import gc
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pliant.compiler.program import Block, Loop, Program, TracedBlock, as_number
from pliant.errors import TraceError
from pliant.scalar import Expr, Graph


def shaped(scalars: list, shape: tuple[int, ...]) -> Any:
    """A scalar, or an array of scalars, on which arithmetic is that of NumPy."""
    if not shape:
        return scalars[0]
    array = np.empty(len(scalars), dtype=object)
    array[:] = scalars
    return array.reshape(shape)


def flattened(value: Any) -> tuple[list, tuple[int, ...]]:
    """The scalars of nested lists (or an array of objects), and their shape."""
    if isinstance(value, np.ndarray):
        return list(value.ravel()), value.shape
    if not isinstance(value, list | tuple):
        return [value], ()
    parts = [flattened(v) for v in value]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        raise TraceError(f"a list with parts of different shapes {sorted(shapes)} is not an array")
    inner = parts[0][1] if parts else ()
    return [s for scalars, _ in parts for s in scalars], (len(parts), *inner)


def program_from_function(
    function: Callable[..., Any], inputs: Mapping[str, tuple[int, ...]]
) -> tuple[Program, dict[str, tuple[int, ...]], Callable[..., Any] | None]:
    """A program of one block, the shapes of its outputs by name, and how to pack several of them."""
    graph = Graph()
    sizes = {name: math.prod(shape) for name, shape in inputs.items()}
    nodes = {name: [graph.input(f"{name}[{k}]") for k in range(size)] for name, size in sizes.items()}
    with no_collection():
        value = function(*(shaped(nodes[name], shape) for name, shape in inputs.items()))
    names, parts, package = _parts(value, set(sizes))
    flat = {name: flattened(part) for name, part in zip(names, parts, strict=True)}
    traced = TracedBlock(
        [(name, k, node) for name, scalars in nodes.items() for k, node in enumerate(scalars)],
        [(name, k, as_number(graph, s)) for name, (scalars, _) in flat.items() for k, s in enumerate(scalars)],
    )
    variables = {**sizes, **{name: len(scalars) for name, (scalars, _) in flat.items()}}
    # the function itself is let go: it may hold a robot that holds this kernel
    block = Block(_is_traced, tuple(sizes), tuple(names), traced)
    program = Program(variables, tuple(sizes), tuple(names), (block,))
    return program, {name: shape for name, (_, shape) in flat.items()}, package


@contextmanager
def no_collection() -> Iterator[None]:
    """A trace makes many objects and drops few: looking for garbage meanwhile costs a quarter of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _is_traced(*_: Any) -> Any:
    raise TraceError("this block has been traced already")


def _parts(value: Any, taken: set[str]) -> tuple[list[str], tuple, Callable[..., Any] | None]:
    """Names of what a function returned, the parts, and how to put them together again."""
    if not isinstance(value, tuple):
        return _free(["result"], taken), (value,), None
    fields = getattr(type(value), "_fields", None)
    if fields is None:
        return _free([f"result{k}" for k in range(len(value))], taken), value, lambda *arrays: arrays
    return _free(fields, taken), value, type(value)


def _free(names: Sequence[str], taken: set[str]) -> list[str]:
    """The names, with a line below those that an input has already."""
    free: list[str] = []
    for name in names:
        while name in taken or name in free:
            name += "_"
        free.append(name)
    return free


# ---- stage by stage


class Stages:
    """A program under construction, with the sizes of its variables; see the module."""

    def __init__(self, **variables: int):
        self.variables: dict[str, int] = dict(variables)
        self._records: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._scratch: list[str] = []
        self._body: list[Block | Loop] = []

    def variable(self, name: str, size: int, *, is_scratch: bool = False) -> str:
        """Declare a variable; scratch is that of `Program`."""
        if name in self.variables:
            raise TraceError(f"there is a variable {name!r} already")
        self.variables[name] = size
        if is_scratch:
            self._scratch.append(name)
        return name

    def __contains__(self, name: str) -> bool:
        return name in self.variables or name in self._records

    def add(self, function: Callable[..., Any], reads: Sequence[str], writes: Sequence[str] | None = None) -> None:
        """Add a stage: ``writes = function(*reads)``, traced now.

        The function gets an array of scalars per variable and the structure of a record. What it writes
        to a name that is not a variable becomes a record of that name. Without ``writes`` it returns a dict:
        the names that it writes, with their values.
        """
        graph = Graph()
        nodes: dict[tuple[str, int], Expr] = {}

        def node(name: str, k: int) -> Expr:
            if (name, k) not in nodes:
                nodes[name, k] = graph.input(f"{name}[{k}]")
            return nodes[name, k]

        with no_collection():
            written = function(*(self._value(name, node) for name in reads))
        if writes is None:
            writes, written = tuple(written), tuple(written.values())
        elif len(writes) == 1:
            written = (written,)
        outputs: list[tuple[str, int, Expr]] = []
        for name, value in zip(writes, written, strict=True):
            if name in self.variables:
                outputs += self._to_variable(name, value, graph)
            else:
                outputs += self._to_record(name, value, graph)
        traced = TracedBlock([(n, k, e) for (n, k), e in nodes.items()], outputs)
        read = list(dict.fromkeys(name for name, _ in nodes))
        self._body.append(Block(function, tuple(read), tuple(writes), traced))

    def extend(self, statements: Sequence[Block | Loop]) -> None:
        """Add blocks and loops on variables as they are."""
        self._body.extend(statements)

    @contextmanager
    def loop(self, count: int | str, **options: Any) -> Iterator[None]:
        """A loop around the stages added inside; the options are those of `Loop`."""
        outer, self._body = self._body, []
        yield
        body, self._body = self._body, outer
        if body:
            self._body.append(Loop(tuple(body), count, **options))

    def program(
        self,
        inputs: Sequence[str],
        outputs: Sequence[str],
        scratch: Sequence[str] = (),
        spans: Mapping[str, Sequence[str]] | None = None,
    ) -> Program:
        """The program; records are scratch, and so are variables named here or declared so. Spans as in `Program`."""
        variables = {**self.variables, **self._sizes}
        scratch = (*self._sizes, *self._scratch, *scratch)
        return Program(variables, tuple(inputs), tuple(outputs), tuple(self._body), scratch, spans or {})

    # ---- values between stages

    def _value(self, name: str, node: Callable[[str, int], Expr]) -> Any:
        if name in self.variables:
            return np.array([node(name, k) for k in range(self.variables[name])] + [None], dtype=object)[:-1]
        if name not in self._records:
            raise TraceError(f"a stage reads {name!r}, which is neither a variable nor written by an earlier stage")
        return _mapped(self._records[name], lambda leaf: node(name, int(leaf)) if isinstance(leaf, _Slot) else leaf)

    def _to_variable(self, name: str, value: Any, graph: Graph) -> list[tuple[str, int, Expr]]:
        scalars = flattened(value)[0]
        if len(scalars) != self.variables[name]:
            raise TraceError(f"a stage writes {len(scalars)} scalars to {name!r}, which has {self.variables[name]}")
        return [(name, k, as_number(graph, s)) for k, s in enumerate(scalars)]

    def _to_record(self, name: str, value: Any, graph: Graph) -> list[tuple[str, int, Expr]]:
        if name in self._records:
            raise TraceError(f"two stages write the record {name!r}; declare it as a variable")
        slots: dict[int, _Slot] = {}
        outputs: list[tuple[str, int, Expr]] = []

        def slot(leaf: Any) -> Any:
            made = as_number(graph, leaf)
            if made.op == "const":
                number = made.value
                return int(number) if number in (0, 1) else number
            if made.index not in slots:
                slots[made.index] = _Slot(len(slots))
                outputs.append((name, len(slots) - 1, made))
            return slots[made.index]

        self._records[name] = _mapped(value, slot)
        self._sizes[name] = len(slots)
        return outputs


class _Slot(int):
    """The place of a scalar in its record."""


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """The same nesting with the function applied to each scalar; None is none."""
    if isinstance(value, dict):
        return {key: _mapped(v, function) for key, v in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_mapped(v, function) for v in value]
    return value if value is None else function(value)
