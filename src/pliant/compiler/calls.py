"""The arrays of a call: the short way into machine code, and the long way that converts or explains.

Asking NumPy for addresses and strides from Python costs more than a robot's dynamics. So the short way in is itself
compiled: a function that reads the arrays' headers, compares types and shapes with what the kernel expects, and runs
it, in well under a microsecond. It handles the plain case and answers False for anything else, with nothing touched;
the caller then takes the long way, `Arrays`.

    PyObject *enter(PyObject *self, PyObject **arrays, i64 count)

is a Python function in its own right, ``enter(*inputs, *outputs)``, in doorway.ll. Its ``self`` is the address of a
table, the ``spec``: the address of `run`, the width, the addresses of the array type and of the dtype, the item size,
the number of inputs and of outputs, the number of groups up to which the interpreter's lock is kept, the number of
arrays of `run` (those beyond the outputs are left out), the address of its counts, then for each array its number of
dimensions and its dimensions. The layout of an array's header is part of NumPy's public binary interface; if an
interpreter differs (`is_open` checks), everything goes the long way.
"""

import ctypes
import functools
import hashlib
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.compiler import native
from pliant.errors import KernelError, unknown_name

MOST_ARRAYS = 64
_MOST_HELD = 4  # groups of straight code: a few microseconds, for which letting others run does not pay

_API = ("PyLong_AsVoidPtr", "PyBool_FromLong", "PyEval_SaveThread", "PyEval_RestoreThread")
_METH_FASTCALL = 0x80


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Doorway:
    """The compiled way into one kernel: ``doorway.enter(*inputs, *outputs)`` is True if it ran."""

    def __init__(
        self,
        run: int,
        width: int,
        dtype: np.dtype,
        inputs: Sequence[tuple[int, ...]],
        outputs: Sequence[tuple[int, ...]],
        is_straight: bool = True,
        left_out: int = 0,
        counts: int = 0,
    ):
        """The way to the function at address ``run``.

        Args:
            is_straight: whether it has no loops, which may take long even for one group.
            left_out: further outputs, which it does not get.
            counts: of its loops that take one, each of which runs once.
        """
        most_held, arrays = _MOST_HELD if is_straight else 0, len(inputs) + len(outputs) + left_out
        self._counts = (ctypes.c_int64 * counts)(*[1] * counts)
        spec = [run, width, id(np.ndarray), id(dtype), dtype.itemsize, len(inputs), len(outputs), most_held]
        spec += [arrays, ctypes.addressof(self._counts)]
        for shape in (*inputs, *outputs):
            spec += [len(shape), *shape]
        self._spec = (ctypes.c_int64 * len(spec))(*spec)
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        self.enter = new(ctypes.addressof(_method()), ctypes.addressof(self._spec), None)


@functools.cache
def _method() -> _Method:
    for name in _API:
        native.symbols[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
    text = Path(__file__).with_name("doorway.ll").read_text(encoding="ascii").replace("TRIPLE", native.machine().triple)
    content = (text, native.machine(), native.versions(), native.source_digest())
    key = hashlib.sha256(repr(content).encode()).hexdigest()
    loaded = native.loaded(key, lambda: [text], ("enter",))
    _keep.append(loaded)
    return _Method(b"enter", loaded.address("enter"), _METH_FASTCALL, b"Run a kernel on arrays that fit it.")


_keep: list[native.Loaded] = []


@functools.cache
def is_open() -> bool:
    """Whether this interpreter has the header of an array where the compiled code looks for it."""
    if object.__basicsize__ != 16 or ctypes.sizeof(ctypes.c_void_p) != 8 or np.ndarray.__basicsize__ < 68:
        return False
    base = np.zeros((5, 7))
    array = base[1:4, 2:]
    array.flags.writeable = False
    words = (ctypes.c_int64 * 7).from_address(id(array) + 8)
    if words[0] != id(np.ndarray) or words[1] != array.ctypes.data or words[2] & 0xFFFFFFFF != 2:
        return False
    dimensions = (ctypes.c_int64 * 2).from_address(words[3])
    strides = (ctypes.c_int64 * 2).from_address(words[4])
    flags = [ctypes.c_int32.from_address(id(a) + 64).value & 0x500 for a in (array, base)]
    same_dtype = words[6] == id(array.dtype) == id(np.dtype("float64"))
    return (*dimensions,) == (3, 5) and (*strides,) == array.strides and same_dtype and flags == [0x100, 0x500]


# ---- the long way


@dataclass(frozen=True)
class Layout:
    """An array of a kernel for one robot: its name, its shape, and the loop count of its rows."""

    name: str
    shape: tuple[int, ...]
    rounds: int | str | None = None

    def full(self, counts: dict[str, int]) -> tuple[int, ...]:
        """The shape with the number of rounds put in."""
        if self.rounds is None:
            return self.shape
        return (counts[self.rounds] if isinstance(self.rounds, str) else self.rounds, *self.shape)

    def stride(self, array: np.ndarray | None, counts: dict[str, int]) -> int:
        """Bytes from one robot to the next in an array of it; 0 if all have the same, or there is none."""
        return 0 if array is None or array.ndim == len(self.full(counts)) else array.strides[0]

    def __str__(self) -> str:
        dims = ([] if self.rounds is None else [str(self.rounds)]) + [str(n) for n in self.shape]
        one = "(" + ", ".join(dims) + ("," if len(dims) == 1 else "") + ")"
        return f"{one} or ({', '.join(['batch', *dims])})" if dims else "a number or (batch,)"


@dataclass(frozen=True)
class Arrays:
    """The inputs and outputs of a kernel, and the names of its counts."""

    kernel: str
    input_layouts: list[Layout]
    output_layouts: list[Layout]
    dtype: np.dtype
    counts: Sequence[str] = ()

    def inputs(self, args: tuple, named: dict[str, Any]) -> list[np.ndarray]:
        """The inputs in order, as packed arrays of the kernel's type."""
        names = [layout.name for layout in self.input_layouts]
        signature = f"{self.kernel}({', '.join(names)})"
        if len(args) > len(names):
            raise KernelError(f"{signature} takes {len(names)} arrays, got {len(args)}", subject=self.kernel)
        values = dict(zip(names, args, strict=False))
        for name, value in named.items():
            if name not in names:
                raise KernelError(unknown_name("argument", name, names, signature))
            if name in values:
                problem = f"{signature} got {name!r} twice, by place and by name"
                raise KernelError(problem, subject=self.kernel, field=name)
            values[name] = value
        missing = [n for n in names if n not in values]
        if missing:
            raise KernelError(f"{signature} lacks {', '.join(missing)}", subject=self.kernel, field=missing[0])
        return [self._converted(layout, values[layout.name]) for layout in self.input_layouts]

    def _converted(self, layout: Layout, value: Any) -> np.ndarray:
        try:
            array = np.asarray(value)
        except ValueError:  # lists of different lengths
            raise self._error(layout.name, f"{layout.name} is not an array", f"it takes {layout}") from None
        if array.dtype.kind not in "fiub":
            problem = f"{layout.name} has type {array.dtype}, which is not a real number"
            raise self._error(layout.name, problem, f"give it as {self.dtype}")
        inner = len(layout.shape) + (layout.rounds is not None)
        tail = array.shape[array.ndim - len(layout.shape) :]
        if array.ndim not in (inner, inner + 1) or tail != layout.shape:
            raise self._error(layout.name, f"{layout.name} has shape {array.shape}", f"it takes {layout}")
        array = array.astype(self.dtype, copy=False)
        packed = array if array.ndim == inner else array[:1].reshape(array.shape[1:]) if len(array) else array
        if not (packed.flags.c_contiguous and packed.flags.aligned):
            array = np.array(array, order="C")
        return array

    def sizes(self, inputs: list[np.ndarray], given: Mapping[str, Any]) -> tuple[int | None, dict[str, int]]:
        """The batch that the inputs agree on (None if none has one), and the loop counts, some of which are given."""
        counts = {name: self._number_of_rounds(name, value) for name, value in given.items()}
        batch, source = None, ""
        for layout, array in zip(self.input_layouts, inputs, strict=True):
            inner = len(layout.shape) + (layout.rounds is not None)
            if array.ndim > inner:
                if batch is not None and batch != len(array):
                    problem = f"{source} has {batch} robots but {layout.name} has {len(array)}"
                    raise self._error(layout.name, problem, "give each array the same batch, or none")
                batch, source = len(array), layout.name
            if layout.rounds is not None:
                found, rounds = array.shape[array.ndim - inner], layout.rounds
                expected = rounds if isinstance(rounds, int) else counts.setdefault(rounds, found)
                if found != expected:
                    raise self._error(layout.name, f"{layout.name} has {found} rounds, expected {expected}")
        missing = [name for name in self.counts if name not in counts]
        if missing:
            problem, cure = f"{self.kernel} lacks the count {missing[0]!r}", f"give it by name: {missing[0]}=100"
            raise KernelError(problem, subject=self.kernel, field=missing[0], cure=cure)
        return batch, counts

    def _number_of_rounds(self, name: str, value: Any) -> int:
        try:
            count = operator.index(value)
        except TypeError:
            count = -1
        if count < 0:
            raise self._error(name, f"the count {name!r} is {value!r}", "it takes an integer from 0 on")
        return count

    def outputs(self, given: Any, batch: int | None, counts: dict[str, int]) -> list[np.ndarray | None]:
        """New arrays, or those given as ``out`` if they fit exactly; None for one with rows that is left out."""
        lead = () if batch is None else (batch,)
        shapes = [(*lead, *layout.full(counts)) for layout in self.output_layouts]
        if given is None:
            return [np.empty(shape, self.dtype) for shape in shapes]
        if not isinstance(given, tuple | list) or len(given) != len(shapes):
            names = ", ".join(layout.name for layout in self.output_layouts)
            found = len(given) if isinstance(given, tuple | list) else f"a {type(given).__name__}"
            raise self._error("out", f"out needs a tuple of {len(shapes)} arrays ({names}), got {found}")
        for layout, array, shape in zip(self.output_layouts, given, shapes, strict=True):
            if array is None and layout.rounds is not None:
                continue
            self._check_output(layout, array, shape, len(shape) - len(lead))
        return list(given)

    def _check_output(self, layout: Layout, array: Any, shape: tuple[int, ...], inner: int) -> None:
        what = f"out for {layout.name}"
        if not isinstance(array, np.ndarray):
            raise self._error("out", f"{what} is a {type(array).__name__}", "it must be a NumPy array to be written to")
        if array.dtype != self.dtype:
            raise self._error("out", f"{what} has type {array.dtype}", f"it must be {self.dtype}: nothing is copied")
        if array.shape != shape:
            raise self._error("out", f"{what} has shape {array.shape}", f"this call makes {shape}")
        if not array.flags.writeable:
            raise self._error("out", f"{what} is read-only", "it must be writable")
        if not array.flags.aligned:
            raise self._error("out", f"{what} must lie at addresses that are multiples of its item size (aligned)")
        row = array.reshape(array.shape) if array.ndim == inner else array[:1]
        if array.size and not row.flags.c_contiguous:
            raise self._error("out", f"{what} must hold each robot's numbers side by side (C order)")

    def check_overlap(self, inputs: list[np.ndarray], outputs: list[np.ndarray | None], batch: int | None) -> None:
        """Refuse outputs that lie across the rows of an input: rows would be read after they were written."""
        if batch is None or batch < 2:
            return
        for layout, out in zip(self.output_layouts, outputs, strict=True):
            for source, array in zip(self.input_layouts, inputs, strict=True):
                if out is not None and np.may_share_memory(array, out) and not _same_rows(array, out):
                    problem = f"out for {layout.name} overlaps {source.name} in memory, row against row"
                    raise self._error("out", problem, "give it an array of its own, or the very rows of the input")

    def _error(self, field: str, problem: str, cure: str = "") -> KernelError:
        return KernelError(f"{self.kernel}: {problem}", subject=self.kernel, field=field, cure=cure)


def _same_rows(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether row k of one can only touch row k of the other."""
    if a.ndim == 0 or b.ndim == 0 or a.strides[0] != b.strides[0] or len(a) != len(b):
        return False
    ends = [(x.ctypes.data, x.ctypes.data + x[0].nbytes) for x in (a, b)]
    return max(end for _, end in ends) - min(start for start, _ in ends) <= abs(a.strides[0])
