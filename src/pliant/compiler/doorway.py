"""From Python objects straight into machine code, in well under a microsecond.

Asking NumPy for addresses and strides from Python costs more than a robot's dynamics. So the way in
is itself compiled: a function that reads the arrays' headers, compares types and shapes with what
the kernel expects, and runs it. It handles the plain case and answers False for anything else, with
nothing touched; the caller then takes the long way, which converts or explains.

    PyObject *enter(PyObject *self, PyObject **arrays, i64 count)

is a Python function in its own right, ``enter(*inputs, *outputs)``, in doorway.ll. Its ``self`` is the address of a
table, the ``spec``: the address of `run`, the width, the addresses of the array type and of the dtype,
the item size, the number of inputs and of outputs, the number of groups up to which the interpreter's
lock is kept, then for each array its number of dimensions and its dimensions. The layout of an array's
header is part of NumPy's public binary interface; if an interpreter differs
(`_headers_are_as_expected` checks), everything goes the long way.
"""

import ctypes
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.compiler import cache, native

__all__ = ["MOST_ARRAYS", "Doorway", "is_open", "spec_of"]

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

    def __init__(self, spec: Any):
        self._spec = spec
        method = _method()
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        self.enter = new(ctypes.addressof(method), ctypes.addressof(spec), None)


@functools.cache
def _method() -> _Method:
    for name in _API:
        native.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)
    text = Path(__file__).with_name("doorway.ll").read_text(encoding="ascii").replace("TRIPLE", native.machine().triple)
    content = (text, native.machine(), native.versions(), cache.source_digest())
    key = hashlib.sha256(repr(content).encode()).hexdigest()
    loaded = native.loaded(key, lambda: text, ("enter",))
    _keep.append(loaded)
    return _Method(b"enter", loaded.address("enter"), _METH_FASTCALL, b"Run a kernel on arrays that fit it.")


_keep: list[native.Loaded] = []


@functools.cache
def is_open() -> bool:
    """Whether this interpreter lays out arrays as the compiled code expects."""
    return _headers_are_as_expected()


def _headers_are_as_expected() -> bool:
    """Whether an array's header is where the compiled code looks for it."""
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


def spec_of(
    run: int,
    width: int,
    dtype: np.dtype,
    inputs: Sequence[tuple[int, ...]],
    outputs: Sequence[tuple[int, ...]],
    is_straight: bool = True,
) -> Any:
    """The table that `enter` compares arrays with; a program that is not straight may take long in one group."""
    most_held = _MOST_HELD if is_straight else 0
    numbers = [run, width, id(np.ndarray), id(dtype), dtype.itemsize, len(inputs), len(outputs), most_held]
    for shape in (*inputs, *outputs):
        numbers += [len(shape), *shape]
    return (ctypes.c_int64 * len(numbers))(*numbers)
