"""Rows to lanes and back, for every width, precision, size and number of rows."""

import ctypes

import numpy as np
import pytest

from native_code import WIDTHS
from pliant.compiler import native
from pliant.compiler.assembly import transfer_function
from pliant.compiler.elementary import precision_of
from pliant.compiler.llvm import Vectors

SIZES = range(21)
TRANSFER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@pytest.fixture(scope="module", params=[(w, p) for w in WIDTHS for p in ("float64", "float32")], ids=str)
def transfers(request: pytest.FixtureRequest):
    """Functions of a width and precision, for all sizes in one module."""
    width, precision = request.param
    v = Vectors(width, precision_of(precision))
    texts = [f'target triple = "{native.machine().triple}"']
    names = []
    for size in SIZES:
        for kind in ("pack", "unpack"):
            names.append(f"{kind}{size}")
            texts.append(transfer_function(names[-1], kind == "pack", size, v).replace("define internal", "define"))
    loaded = native.Loaded(native.object_code("\n".join(texts)), names)
    return v, np.dtype(precision), {n: TRANSFER(loaded.address(n)) for n in names}, loaded


def lanes_array(size: int, v: Vectors, dtype: np.dtype) -> np.ndarray:
    """Slots of lanes, at an address that is a multiple of a vector's size."""
    raw = np.zeros((size + 1) * v.bytes + v.bytes, dtype=np.uint8)
    shift = -raw.ctypes.data % v.bytes
    return raw[shift : shift + (size + 1) * v.bytes].view(dtype).reshape(size + 1, v.width)


def test_pack_and_unpack(transfers) -> None:
    v, dtype, functions, _ = transfers
    rng = np.random.default_rng(0)
    for size in SIZES:
        # rows of a wider array: there are gaps between them, which nobody may touch
        for rows in {1, 2, v.width - 1, v.width, v.width + 1, 2 * v.width + 1} - {0}:
            source = rng.normal(size=(rows, size + 3)).astype(dtype)
            result = np.full((rows, size + 3), 7, dtype=dtype)
            for first in range(0, rows, v.width):
                lanes = lanes_array(size, v, dtype)
                lanes[size] = -1  # a guard after the last slot
                functions[f"pack{size}"](source.ctypes.data, source.strides[0], first, rows - 1, lanes.ctypes.data)
                robots = np.minimum(np.arange(first, first + v.width), rows - 1)
                np.testing.assert_array_equal(lanes[:size], source[robots, :size].T)
                assert (lanes[size] == -1).all()
                functions[f"unpack{size}"](result.ctypes.data, result.strides[0], first, rows - 1, lanes.ctypes.data)
            np.testing.assert_array_equal(result[:, :size], source[:, :size])
            assert (result[:, size:] == 7).all()


def test_one_row_for_all(transfers) -> None:
    """A stride of zero gives every lane the same row."""
    v, dtype, functions, _ = transfers
    for size in SIZES:
        source = np.arange(size, dtype=dtype)
        lanes = lanes_array(size, v, dtype)
        functions[f"pack{size}"](source.ctypes.data, 0, 0, 100, lanes.ctypes.data)
        np.testing.assert_array_equal(lanes[:size], np.repeat(source[:, None], v.width, axis=1))
