"""Programs compiled at any width and precision, past the kernel: for tests that every width agrees."""

import ctypes
import dataclasses
from collections.abc import Sequence

import numpy as np

from pliant.compiler import Kernel, Loop, native
from pliant.compiler.assembly import Assembly
from pliant.compiler.elementary import precision_of
from pliant.compiler.llvm import Vectors
from pliant.compiler.lower import PIECE_SIZE
from pliant.compiler.program import Block, Program, TracedBlock
from pliant.scalar import Expr, Graph

WIDTHS = (1, 2, 4, 8, 16)


class Native:
    """A program as machine code of a given width; arrays are (batch, size), or (batch, rounds, size).

    Args:
        objects: its object files, if another machine has made them.
    """

    def __init__(
        self, program: Program, width: int, precision: str = "float64", fuse: bool = True,
        piece_size: int = PIECE_SIZE, objects: Sequence[bytes] | None = None,
    ):  # fmt: skip
        machine = native.machine()
        machine = dataclasses.replace(machine, has_fma=machine.has_fma and fuse)
        self.program = program
        self.width = width
        self.dtype = np.dtype(precision)
        self.assembly = Assembly(program, Vectors(width, precision_of(precision)), machine, piece_size)
        self._code = native.Loaded(objects or native.object_codes(self.assembly.modules()))
        self._run = native.RUN(self._code.address("run"))

    def __call__(self, *inputs: np.ndarray, rounds: Sequence[int] = ()) -> list[np.ndarray]:
        arrays = [np.ascontiguousarray(a, self.dtype) for a in inputs]
        batch = len(arrays[0])
        for name in self.program.outputs:
            loop = self.program.rounds.get(name)
            count = () if loop is None else (loop.count if isinstance(loop.count, int) else rounds[0],)
            arrays.append(np.full((batch, *count, self.program.size(name)), np.nan, self.dtype))
        data = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
        strides = (ctypes.c_int64 * len(arrays))(*[a.strides[0] for a in arrays])
        counts = (ctypes.c_int64 * max(1, len(rounds)))(*rounds)
        self._run(data, strides, counts, batch, 0, -(-batch // self.width))
        return arrays[len(inputs) :]


def kernel_of(program: Program) -> Kernel:
    """A kernel with an array dimension for every variable."""
    shapes = {n: (program.size(n),) for n in (*program.inputs, *program.outputs)}
    return Kernel(program, {n: shapes[n] for n in program.inputs}, {n: shapes[n] for n in program.outputs})


def program_of(inputs: str, outputs: str, *body: Block | Loop, scratch: tuple[str, ...] = (), **sizes: int) -> Program:
    """A program from names to names; its variables have the size 1, unless it is given."""
    reads, writes = tuple(inputs.split()), tuple(outputs.split())
    return Program(dict.fromkeys([*reads, *writes], 1) | sizes, reads, writes, body, scratch)


def in_python(program: Program, *inputs: np.ndarray) -> list[list]:
    """What a program means: its outputs for one robot, on plain numbers; rows per round are a list of lists."""
    given = dict(zip(program.inputs, (x.tolist() for x in inputs), strict=True))
    values = {name: given.get(name, [0.0] * size) for name, size in program.variables.items()}
    rows: dict[str, list] = {name: [] for name in program.outputs if name in program.rounds}

    def run(part: Block | Loop) -> None:
        if isinstance(part, Block):
            found = part.function(*(values[n] for n in part.reads))
            single = len(part.writes) == 1 and not isinstance(found[0], list)
            for name, new in zip(part.writes, [found] if single else found, strict=True):
                values[name] = [float(x) for x in new]
            return
        if part.until:
            values[part.until] = [0.0]
        for k in range(part.count if isinstance(part.count, int) else len(given[part.reads[0]])):
            values.update({name: given[name][k] for name in part.reads})
            if not (part.until and values[part.until][0]):
                sizes = {name: program.variables[name] for name in part.slices}
                spans = {name: slice(k * size, (k + 1) * size) for name, size in sizes.items()}
                for name, whole in part.slices.items():
                    values[name] = (values[whole] if isinstance(whole, str) else whole.numbers.tolist())[spans[name]]
                for inner in part.body:
                    run(inner)
                for name, whole in part.sliced.items():
                    before, after = values[whole][: spans[name].start], values[whole][spans[name].stop :]
                    values[whole] = [*before, *values[name], *after]
            for name in part.writes:
                rows[name].append(values[name])

    for part in program.body:
        run(part)
    return [rows.get(name, values[name]) for name in program.outputs]


def inputs_of(count: int) -> list[Expr]:
    """Inputs x[0], x[1], ... of a new graph."""
    graph = Graph()
    return [graph.input(f"x[{k}]") for k in range(count)]


def straight(inputs: list[Expr], outputs: list[Expr]) -> Program:
    """A program of one block, from a graph whose inputs are called x[0], x[1], ..."""
    traced = TracedBlock([("x", k, n) for k, n in enumerate(inputs)], [("y", k, n) for k, n in enumerate(outputs)])
    sizes = {"x": len(inputs), "y": len(outputs)}
    return Program(sizes, ("x",), ("y",), (Block(lambda x: x, ("x",), ("y",), traced),))


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to the last bit; NaNs are all alike."""
    return a.shape == b.shape and bool(
        np.all((a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b)))
    )
