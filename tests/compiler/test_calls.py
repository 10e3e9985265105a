"""Calls of kernels: rows to lanes and back, tables, threads, arrays that overlap, and processors."""

import ctypes
import math
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from native_code import WIDTHS, Native, kernel_of, program_of, same_bits, straight
from pliant.compiler import Block, Kernel, Loop, Program, calls, kernel_from_function, native
from pliant.compiler.assembly import transfer_function
from pliant.compiler.elementary import precision_of
from pliant.compiler.kernel import content
from pliant.compiler.llvm import Vectors
from pliant.errors import KernelError
from pliant.scalar import Expr, Graph, Table, lookup, sin

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
    loaded = native.Loaded([native.object_code("\n".join(texts))], names)
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


# ---- tables in kernels: every width and precision, cut into pieces, and in the name of the cache entry


RNG = np.random.default_rng(5)
ENTRIES = RNG.normal(size=37)
INDICES = [
    *np.arange(-3, 41), 0.5, 35.99, 36.5, -0.0, -0.5, 1e10, -1e10, 3e38, -3e38, math.inf, -math.inf, math.nan,
]  # fmt: skip


def graph_of(tables: list[Table]) -> tuple[list[Expr], list[Expr]]:
    graph = Graph()
    x = graph.input("x[0]")
    return [x], [lookup(t, x) for t in tables]


@pytest.mark.parametrize("width", WIDTHS)
def test_kernel_finds_what_the_table_says(width: int, precision: str) -> None:
    table = Table(ENTRIES)
    x = np.array(INDICES, dtype=precision)[:, None]
    made = Native(straight(*graph_of([table])), width, precision)(x)[0]
    # the nearest float32 of an entry is the entry of a float32 kernel
    assert same_bits(made, table.column(x).astype(precision))


@pytest.mark.parametrize("width", WIDTHS)
def test_entries_that_float32_has_take_half_the_memory(width: int, precision: str) -> None:
    kept = Table(ENTRIES.astype(np.float32))
    assert kept.is_single and not Table(ENTRIES).is_single and not Table([1e300]).is_single
    x = np.array(INDICES, dtype=precision)[:, None]
    native = Native(straight(*graph_of([kept])), width, precision)
    assert f"constant [{4 * len(kept)} x i8]" in native.assembly.text
    assert same_bits(native(x)[0], kept.column(x).astype(precision))


def test_one_entry_and_special_entries(precision: str) -> None:
    x = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, np.nan], dtype=precision)[:, None]
    special = [np.nan, np.inf, -np.inf, -0.0, 1e300]
    with np.errstate(over="ignore"):
        expected = [Table(special).column(x).astype(precision), Table([7.0]).column(x).astype(precision)]
    made = Native(straight(*graph_of([Table(special), Table([7.0])])), 4, precision)(x)[0]
    assert same_bits(made, np.hstack(expected))


@pytest.mark.parametrize("piece_size", [1, 2, 5, 100])
def test_pieces_share_tables(piece_size: int) -> None:
    """A table used by many pieces is in one module; elementary functions do not lose it."""
    graph = Graph()
    x = graph.input("x[0]")
    first, second = Table(ENTRIES), Table(ENTRIES[::-1])
    outputs = [lookup(t, x + k) * sin(x) for k in range(6) for t in (first, second)]
    native = Native(straight([x], outputs), 4, piece_size=piece_size)
    assert native.assembly.text.count(" = constant [") == 2
    values = RNG.integers(0, 30, size=(9, 1)).astype(float)
    expected = np.hstack([t.column(values + k) * np.sin(values) for k in range(6) for t in (first, second)])
    # sine differs from NumPy's by a few units in the last place
    np.testing.assert_allclose(native(values)[0], expected, rtol=4e-15, atol=0)


def test_numbers_of_the_table_are_in_the_key(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel_at(table) -> Kernel:
        return kernel_from_function(lambda x: lookup(table, x), {"x": ()})

    one, other, again = (content(kernel_at(t).program) for t in (ENTRIES, ENTRIES + 1e-9, ENTRIES))
    assert one != other
    assert one == again
    # so that cached kernels of two tables are two
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    for _ in range(2):  # the second time from the disk
        for scale in (1.0, 2.0):
            kernel = kernel_at(Table(scale * ENTRIES))
            assert kernel(np.array([3.0, 30.0])).tolist() == (scale * ENTRIES[[3, 30]]).tolist()
    assert len(list(tmp_path.glob("*.o"))) == 2


def test_big_tables_are_shown_short(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = kernel_from_function(lambda x: lookup(Table(np.arange(5000.0)), x), {"x": ()})
    kernel.show("graph")
    kernel.show("llvm", lines=None)
    shown = capsys.readouterr().out
    assert "lookup(table of 5000, x[0])" in shown
    assert max(len(line) for line in shown.splitlines()) < 300


def test_blocks_and_loops_use_the_same_table() -> None:
    """A walk along a table, in a loop that starts where another look-up says."""
    following = Table([3.0, 0.0, 1.0, 5.0, 2.0, 4.0])  # 0 3 5 4 2 1 and round again

    def step(k):
        return [lookup(following, k[0])]

    body = (Block(step, ("start",), ("k",)), Loop((Block(step, ("k",), ("k",)),), count=4))
    kernel = kernel_of(program_of("start", "k", *body))
    # five steps of a cycle of six: one step back
    assert kernel(np.array([[0.0], [3.0], [5.0], [2.0], [1.0]]))[:, 0].tolist() == [1, 0, 3, 4, 2]


# ---- other Python threads run while a kernel runs, and several may call one kernel


@pytest.fixture(scope="module")
def slow() -> Kernel:
    """Some hundred milliseconds of sines."""
    block = Block(lambda x: [sin(x[0]) + 1], ("x",), ("x",))
    program = Program({"x": 1}, ("x",), ("x",), (Loop((block,), 3_000_000),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLIANT_CACHE_DIR", "off")
        return Kernel(program, {"x": ()}, {"x": ()})


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("way", ["short", "long", "threads"])
def test_other_threads_run_during_a_call(slow: Kernel, way: str, groups: int) -> None:
    x = np.zeros(groups * slow.lanes)
    out = np.empty_like(x)
    options = {"short": {"out": out}, "long": {}, "threads": {"threads": 2}}[way]
    moments: list[float] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.001):
            moments.append(time.perf_counter())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        begin = time.perf_counter()
        slow(x, **options)
        end = time.perf_counter()
    finally:
        stop.set()
        watcher.join()
    fifth = (end - begin) / 5
    inside = [m for m in moments if begin + fifth < m < end - fifth]
    assert end - begin > 0.02, "the call is too short to tell"
    # a thread that is kept waiting would wake up after the call, never in the middle of it
    assert len(inside) >= 3


def test_several_threads_call_one_kernel_and_make_kernels() -> None:
    kernel = kernel_from_function(lambda x, y: [sin(x) * y, x - y], {"x": (), "y": ()})
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(2, 500)) for _ in range(8)]
    expected = [kernel(x, y) for x, y in inputs]

    def work(k: int) -> bool:
        x, y = inputs[k]
        out = np.empty((500, 2))
        good = True
        for repeat in range(30):
            kernel(x, y, out=out)
            good &= same_bits(out, expected[k]) and same_bits(kernel(x, y, threads=1 + repeat % 3), expected[k])
        return good

    def made(k: int) -> float:
        return float(kernel_from_function(lambda x: x * k + sin(x * 0), {"x": ()})(2.0))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
        assert list(pool.map(made, range(12))) == [2.0 * k for k in range(12)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_in_a_forked_process() -> None:
    """A child that was forked off has none of its parent's threads, and must not wait for them."""
    code = """if True:
        import os, signal, sys
        import numpy as np
        from pliant.compiler import kernel_from_function
        kernel = kernel_from_function(lambda x: x * 2, {"x": ()}, threads=2)
        x = np.arange(300_000.0)
        for _ in range(5):
            assert (kernel(x) == 2 * x).all()  # long enough that both threads start, and wait for more
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if (kernel(x) == 2 * x).all() else 3)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert subprocess.run([sys.executable, "-c", code], timeout=30, check=False).returncode == 0


# ---- memory that arrays share, and processors


class TestOverlap:
    """Rows of an output may be those of an input, but must not lie across them."""

    kernel = staticmethod(lambda: kernel_from_function(lambda x: [x[0] + 1], {"x": (1,)}))

    def test_the_same_rows(self) -> None:
        rows, kernel = np.zeros((11, 4)), self.kernel()
        for source, target in ((0, 0), (0, 2), (2, 1)):
            kernel(rows[:, source : source + 1], out=rows[:, target : target + 1])
        np.testing.assert_array_equal(rows, np.tile([1.0, 3.0, 2.0, 0.0], (11, 1)))
        # backward they are refused only if they are the same
        rows, other = np.zeros((9, 1)), np.zeros((9, 1))
        with pytest.raises(KernelError, match="overlaps"):
            kernel(rows[::-1], out=rows)
        kernel(rows[::-1], out=other)
        assert other.sum() == 9

    @pytest.mark.parametrize("is_open", [True, False])
    @pytest.mark.parametrize("source, target", [(slice(0, 10), slice(1, 11)), (slice(1, 11), slice(0, 10))])
    def test_shifted_rows_are_refused(self, monkeypatch, is_open: bool, source: slice, target: slice) -> None:
        monkeypatch.setattr(calls, "is_open", lambda: is_open)
        rows = np.zeros((11, 1))
        with pytest.raises(KernelError, match="out for result overlaps x in memory"):
            self.kernel()(rows[source], out=rows[target])
        assert not rows.any()


def test_every_processor_agrees_bit_for_bit_where_it_has_the_same_instructions() -> None:
    """With fused multiply-add or not the last bits differ; the number of lanes never shows."""
    code = """if True:
        import numpy as np
        from pliant.compiler import kernel_from_function
        from pliant.scalar import sin, sqrt
        k = kernel_from_function(lambda x, y: sin(x) * y + sqrt(x * x + y), {"x": (), "y": ()})
        print(k.lanes, k(np.linspace(0, 3, 41), np.linspace(1, 2, 41)).tobytes().hex())
    """
    found: dict[str, tuple[str, np.ndarray]] = {}
    for level in ("x86-64", "x86-64-v3", "x86-64-v4"):
        environment = {**os.environ, "PLIANT_PROCESSOR": level, "PLIANT_CACHE_DIR": "off"}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
        if ran.returncode:  # this machine lacks it, or is not of the family
            assert "KernelError: PLIANT_PROCESSOR of the environment is" in ran.stderr
            continue
        lanes, bits = ran.stdout.split()
        found[level] = lanes, np.frombuffer(bytes.fromhex(bits))
    if native.machine().triple.startswith("x86_64"):
        assert "x86-64" in found
    assert {level: lanes for level, (lanes, _) in found.items()}.items() <= {
        "x86-64": "2", "x86-64-v3": "4", "x86-64-v4": "8",
    }.items()  # fmt: skip
    fused = [values for level, (_, values) in found.items() if level != "x86-64"]
    assert all(same_bits(values, fused[0]) for values in fused)
    for values in fused:
        assert np.allclose(values, found["x86-64"][1], rtol=4e-16 * 4)  # sums of positive terms, four roundings each


def test_a_processor_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_PROCESSOR", "6502")
    with pytest.raises(KernelError) as error:
        native.machine.__wrapped__()
    assert (error.value.subject, error.value.field) == ("the environment", "PLIANT_PROCESSOR")
    assert "native" in error.value.cure
