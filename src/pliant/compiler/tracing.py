"""A Python function on traced scalars becomes a program of one block."""

import gc
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pliant.compiler.program import Block, Program, TracedBlock, as_number
from pliant.errors import TraceError
from pliant.scalar import Graph

__all__ = ["flattened", "no_collection", "program_from_function", "shaped"]


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
