"""The callable: NumPy arrays in and out of a compiled program."""

import ctypes
import functools
import hashlib
import marshal
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pliant.compiler import calls, native
from pliant.compiler.assembly import Assembly
from pliant.compiler.budget import check_size
from pliant.compiler.calls import Arrays, Doorway, Layout
from pliant.compiler.elementary import precision_of
from pliant.compiler.llvm import Vectors
from pliant.compiler.program import Loop, Program
from pliant.compiler.tracing import no_collection, program_from_function
from pliant.errors import KernelError
from pliant.scalar.evaluation import nodes_of

_SEVERAL = (tuple, list)  # made once: the call is short

# vectors that are narrower than this are no faster [bytes]
_NARROWEST = 16


class Kernel:
    """A program compiled for one robot's worth of scalars, called on arrays of any number of robots.

        kernel(q, v, tau)              # (nq,), (nv,), (nv,) or (batch, nq), ...
        kernel(q, v, tau, out=vd)      # writes into vd, no copies
        kernel(q=q, v=v, tau=tau, threads=2)
        kernel(q, v, steps=100)        # a loop count that the program leaves open
        kernel(q, v, us, out=(end, None))   # an output with a row per round may be left out

    An argument without a batch dimension goes to every robot. Results do not depend, bit for bit,
    on the batch a robot is in, its place there, or the number of threads. While it runs, other
    Python threads run too.

    Attributes:
        name: what it computes.
        inputs, outputs: the shape of each array for one robot, by name.
        precision: "float64" or "float32".
        lanes: how many robots are computed side by side.
        threads: how many threads share a batch, unless the call says otherwise.
        enter: the short way in, ``enter(*inputs, *outputs)``: False if it takes the long one, with nothing touched.
            None if there is none.
        once: the same for a program whose arrays have rows, of which it takes a single one each; outputs with rows are
            left out.
    """

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, tuple[int, ...]],
        outputs: Mapping[str, tuple[int, ...]],
        *,
        name: str = "kernel",
        precision: str = "float64",
        threads: int = 1,
        lanes: int | None = None,
        package: Callable[..., Any] | None = None,
    ):
        """Compile a program.

        Args:
            inputs, outputs: shapes of its arrays for one robot.
            lanes: robots side by side, a power of two; None (default) for as many as the processor has lanes,
                `lanes_for` for those that suit few robots. Results are the same bits.
            package: makes one result of several outputs; None for a tuple of them.
        """
        _check_threads(name, threads)
        self.name = name
        self.precision = precision
        self.threads = threads
        self.program = program
        self.inputs = dict(inputs)
        self.outputs = dict(outputs)
        _check_shapes(name, "input", program, program.inputs, self.inputs)
        _check_shapes(name, "output", program, program.outputs, self.outputs)
        most = _most_lanes(precision)
        _check_lanes(name, lanes, most)
        self.lanes = most if lanes is None else lanes
        self._vectors = Vectors(self.lanes, precision_of(precision))
        self._dtype = np.dtype(precision)
        layouts = _layouts(program, self.inputs), _layouts(program, self.outputs)
        self._arrays = Arrays(name, *layouts, self._dtype, program.counts)
        self._package = package
        self._single = package is None and len(self.outputs) == 1
        self._door: Doorway | None = None
        with no_collection():
            self._code = native.loaded(self._key(), self._modules)
        address = self._code.address("run")
        self._run = native.RUN(address)
        door = self._doorway(address) if threads == 1 else None
        self.enter, self.once = (None, door) if program.rounds or program.counts else (door, None)

    def _modules(self) -> Iterator[str]:
        """The modules to compile, unless that would take too much."""
        graphs = {id(node.graph): node.graph for block in self.program.traced for _, _, node in block.outputs}
        check_size(self.name, sum(len(graph.nodes) for graph in graphs.values()))
        return self.assembly.modules()

    def _doorway(self, run: int) -> Callable[..., bool] | None:
        """The short way in; for a program with counts, into one round."""
        program = self.program
        given = [name for name in self.outputs if name not in program.rounds]
        is_simple = all(isinstance(loop.count, str) for loop in program.rounds.values())
        # outputs that are left out come last
        is_simple = is_simple and list(self.outputs)[: len(given)] == given
        if not is_simple or len(self.inputs) + len(self.outputs) > calls.MOST_ARRAYS or not calls.is_open():
            return None
        shapes = list(self.inputs.values()), [self.outputs[name] for name in given]
        left_out, is_straight = len(self.outputs) - len(given), program.depth == 0
        self._door = Doorway(run, self.lanes, self._dtype, *shapes, is_straight, left_out, len(program.counts))
        return self._door.enter

    @functools.cached_property
    def assembly(self) -> Assembly:
        """The lowered program; made when it is compiled or shown."""
        return Assembly(self.program, self._vectors, native.machine())

    def __call__(self, *args: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        if self.enter is not None and not named and threads is None:
            if out is None:
                made = self._new_outputs(args)
                if made and self.enter(*args, *made):
                    return self._packed(made)
            elif self._single:
                if self.enter(*args, out):
                    return out
            elif isinstance(out, _SEVERAL) and self.enter(*args, *out):
                return out
        return self._call(args, named, out, self.threads if threads is None else threads)

    def _new_outputs(self, args: tuple) -> list[np.ndarray]:
        """Arrays for the results of plain array arguments, whose fit is yet to be seen; empty for any others."""
        lead: tuple[int, ...] = ()
        for a, shape in zip(args, self.inputs.values(), strict=False):
            if type(a) is not np.ndarray:
                return []
            if a.ndim > len(shape):
                lead = a.shape[:1]
        return [np.empty(lead + shape, self._dtype) for shape in self.outputs.values()]

    def _packed(self, outputs: Sequence[np.ndarray | None]) -> Any:
        if self._package is not None:
            return self._package(*outputs)
        return outputs[0] if self._single else tuple(outputs)

    def _call(self, args: tuple, named: dict[str, Any], out: Any, threads: int) -> Any:
        """The long way: converts arguments, makes outputs, explains what does not fit."""
        _check_threads(self.name, threads)
        given = {name: named.pop(name) for name in self.program.counts if name in named}
        inputs = self._arrays.inputs(args, named)
        batch, counts = self._arrays.sizes(inputs, given)
        outputs = self._arrays.outputs((out,) if self._single and out is not None else out, batch, counts)
        if out is not None:
            self._arrays.check_overlap(inputs, outputs, batch)
        arrays = [*inputs, *outputs]
        data = (ctypes.c_void_p * len(arrays))(*[None if a is None else a.ctypes.data for a in arrays])
        layouts = [*self._arrays.input_layouts, *self._arrays.output_layouts]
        strides = (ctypes.c_int64 * len(arrays))(*[s.stride(a, counts) for a, s in zip(arrays, layouts, strict=True)])
        rounds = (ctypes.c_int64 * max(1, len(counts)))(*[counts[c] for c in self.program.counts])
        robots = 1 if batch is None else batch
        groups = -(-robots // self._vectors.width)

        def part(begin: int, end: int) -> None:
            self._run(data, strides, rounds, robots, begin, end)

        if threads == 1 or groups < 2 * threads:
            part(0, groups)
        else:
            bounds = [groups * k // threads for k in range(threads + 1)]
            list(_pool(threads, os.getpid()).map(part, bounds[:-1], bounds[1:]))
        return self._packed(outputs) if out is None else out

    def operations(self) -> dict[str, int]:
        """How many instructions of each kind one group of robots takes, loops counted once."""
        return dict(sum((block.count() for block in self.assembly.blocks), Counter()).most_common())

    def show(self, stage: str = "summary", *, lines: int | None = 60) -> None:
        """Print a stage of the compilation: "summary", "graph", "llvm", "assembly" or "all".

        Args:
            lines: how many lines of a stage at most; None for all of them.
        """
        if stage not in (*_STAGES, "all"):
            problem, cure = f"no stage named {stage!r}", f"there are {', '.join(_STAGES)} and all"
            raise KernelError(problem, subject=self.name, field="stage", cure=cure)
        print("\n\n".join(_cut(make(self), lines) for name, make in _STAGES.items() if stage in (name, "all")))

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}{list(s)}" for n, s in self.inputs.items())
        made = ", ".join(f"{n}{list(s)}" for n, s in self.outputs.items())
        return f"Kernel {self.name}({shown}) -> {made}, {self.precision}, {self._vectors.width} lanes"

    def __reduce__(self):
        problem = f"{self.name}: a kernel is machine code of this process and cannot be pickled or copied"
        raise KernelError(problem, subject=self.name, cure="make it again where you need it: the cache makes that fast")

    def _key(self) -> str:
        """All that the machine code depends on."""
        digest = hashlib.sha256()
        digest.update(repr((self._vectors, native.machine(), native.versions(), native.source_digest())).encode())
        digest.update(content(self.program))
        return digest.hexdigest()


def lanes_for(robots: int, precision: str = "float64") -> int:
    """Lanes that suit so many robots: the narrowest vectors that hold them, or the processor's widest for more.

    Lanes that nobody uses make the workspace larger than the first cache. Decision 0023 has measurements.
    """
    most = _most_lanes(precision)
    lanes = min(most, _NARROWEST * 8 // precision_of(precision).bits)
    while lanes < min(robots, most):
        lanes *= 2
    return lanes


def _most_lanes(precision: str) -> int:
    return max(1, native.machine().vector_bytes * 8 // precision_of(precision).bits)


def content(program: Program) -> bytes:
    """The program as bytes: equal bytes, equal machine code."""
    control = []
    for statement, loops in program.walk():
        counted = ()
        if isinstance(statement, Loop):
            slices = [
                (part, of if isinstance(of, str) else ("table", of.digest)) for part, of in statement.slices.items()
            ]
            counted = (statement.count, statement.until, statement.when, slices)
        control.append((len(loops), counted, tuple(statement.reads), tuple(statement.writes)))
    graphs = []
    for block in program.traced:
        rows = block.outputs[0][2].graph.keys() if block.outputs else []
        ends = [[(name, k, node.index) for name, k, node in part] for part in (block.inputs, block.outputs)]
        graphs.append((rows, ends))
    head = (list(program.variables.items()), list(program.inputs), list(program.outputs), sorted(program.scratch))
    spans = [(array, list(names)) for array, names in program.spans.items()]
    # version 2 of the format writes values only, not which of them are the same object
    return marshal.dumps((head, spans, control, graphs), 2)


def _check_threads(kernel: str, threads: Any) -> None:
    if not isinstance(threads, int) or threads < 1:
        problem, cure = f"{kernel}: threads is {threads!r}", "it takes 1 or more"
        raise KernelError(problem, subject=kernel, field="threads", cure=cure)


def _check_lanes(kernel: str, lanes: Any, most: int) -> None:
    is_power = isinstance(lanes, int) and not isinstance(lanes, bool) and 0 < lanes <= most and not lanes & (lanes - 1)
    if lanes is not None and not is_power:
        problem, cure = f"{kernel}: lanes is {lanes!r}", f"it takes a power of two up to {most}, or None"
        raise KernelError(problem, subject=kernel, field="lanes", cure=cure)


def _check_shapes(
    kernel: str, kind: str, program: Program, names: Sequence[str], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    if list(shapes) != list(names):
        problem = f"{kernel}: the program's {kind}s are {list(names)}, the shapes are of {list(shapes)}"
        raise KernelError(problem, subject=kernel, field=f"{kind}s")
    for name, shape in shapes.items():
        size = program.size(name)
        if math.prod(shape) != size:
            problem = f"{kernel}: the {kind} {name!r} has {size} scalars, which is not the shape {shape}"
            raise KernelError(problem, subject=kernel, field=name)


def _layouts(program: Program, shapes: Mapping[str, tuple[int, ...]]) -> list[Layout]:
    return [
        Layout(name, shape, program.rounds[name].count if name in program.rounds else None)
        for name, shape in shapes.items()
    ]


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads for batches; a process that was forked off has none of its parent's."""
    return ThreadPoolExecutor(threads, thread_name_prefix=f"pliant-{process}")


def kernel_from_function(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    *,
    name: str | None = None,
    precision: str = "float64",
    threads: int = 1,
) -> Kernel:
    """Trace ``function`` on arrays of traced scalars of the given shapes and compile it.

    The function may return a scalar, a (nested) list of scalars, or a tuple of these, which becomes a
    tuple of arrays; of a NamedTuple, one of its kind.
    """
    program, outputs, package = program_from_function(function, inputs)
    label = name or getattr(function, "__name__", "kernel")
    return Kernel(program, inputs, outputs, name=label, precision=precision, threads=threads, package=package)


# ---- the stages of a compilation as text

# the numbers of a table, past the first few
_TABLE_DATA = re.compile(r'( c"[^"]{48})[^"]{48,}"')


def _cut(text: str, lines: int | None) -> str:
    rows = text.splitlines()
    if lines is None or len(rows) <= lines:
        return text
    return "\n".join([*rows[:lines], f"... {len(rows) - lines} more lines (show(..., lines=None) prints them)"])


def _summary(kernel: Kernel) -> str:
    made = kernel.assembly
    operations = kernel.operations()
    nodes = sum(len(b.outputs[0][2].graph.nodes) for b in kernel.program.traced if b.outputs)
    counted = ", ".join(f"{n} {op}" for op, n in operations.items())
    return "\n".join(
        [
            repr(kernel),
            f"  traced      {nodes} nodes, folded and interned",
            f"  lowered     {sum(operations.values())} instructions: {counted}",
            f"  cut         {made.pieces} functions, {made.slots} workspace slots of {kernel.lanes} lanes",
            f"  processor   {native.machine().cpu}",
        ]
    )


def _graph(kernel: Kernel) -> str:
    rows = ["graph:"]
    for k, block in enumerate(kernel.program.traced):
        rows.append(f"  block {k}")
        needed = nodes_of([node for _, _, node in block.outputs])
        rows.extend(f"    {node!r}" for node in needed if node.args)
        for name, i, node in block.outputs:
            rows.append(f"    {name}[{i}] <- {f'%{node.index}' if node.args else repr(node)}")
    return "\n".join(rows)


_STAGES: dict[str, Callable[[Kernel], str]] = {
    "summary": _summary,
    "graph": _graph,
    "llvm": lambda kernel: "LLVM:\n" + _TABLE_DATA.sub(r'\1..."', kernel.assembly.text),
    "assembly": lambda kernel: "assembly:\n" + native.disassembly(kernel.assembly.modules()),
}
