"""Tables in kernels: every width and precision, cut into pieces, and in the name of the cache entry."""

import math

import numpy as np
import pytest

from native_code import WIDTHS, Native, same_bits, straight
from pliant.compiler import Block, Kernel, Loop, Program, kernel_from_function
from pliant.compiler.kernel import content
from pliant.scalar import Expr, Graph, Table, lookup, sin

RNG = np.random.default_rng(5)
ENTRIES = RNG.normal(size=37)
INDICES = [
    *np.arange(-3, 41), 0.5, 35.99, 36.5, -0.0, -0.5, 1e10, -1e10, 3e38, -3e38, math.inf, -math.inf, math.nan,
]  # fmt: skip


def graph_of(tables: list[Table]) -> tuple[list[Expr], list[Expr]]:
    graph = Graph()
    x = graph.input("x[0]")
    return [x], [lookup(t, x) for t in tables]


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("width", WIDTHS)
def test_kernel_finds_what_the_table_says(width: int, precision: str) -> None:
    table = Table(ENTRIES)
    x = np.array(INDICES, dtype=precision)[:, None]
    made = Native(straight(*graph_of([table])), width, precision)(x)[0]
    # the nearest float32 of an entry is the entry of a float32 kernel
    assert same_bits(made, table.column(x).astype(precision))


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_one_entry_and_special_entries(precision: str) -> None:
    x = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, np.nan], dtype=precision)[:, None]
    special = [np.nan, np.inf, -np.inf, -0.0, 1e300]
    with np.errstate(over="ignore"):
        expected = [Table(special).column(x).astype(precision), Table([7.0]).column(x).astype(precision)]
    made = Native(straight(*graph_of([Table(special), Table([7.0])])), 4, precision)(x)[0]
    assert same_bits(made, np.hstack(expected))


@pytest.mark.parametrize("piece_size", [1, 2, 5, 100])
def test_pieces_share_tables(piece_size: int) -> None:
    """A table used by many pieces is in the module once; elementary functions do not lose it."""
    graph = Graph()
    x = graph.input("x[0]")
    first, second = Table(ENTRIES), Table(ENTRIES[::-1])
    outputs = [lookup(t, x + k) * sin(x) for k in range(6) for t in (first, second)]
    native = Native(straight([x], outputs), 4, piece_size=piece_size)
    assert native.assembly.text.count("private unnamed_addr constant") == 2
    values = RNG.integers(0, 30, size=(9, 1)).astype(float)
    expected = np.hstack([t.column(values + k) * np.sin(values) for k in range(6) for t in (first, second)])
    # sine differs from NumPy's by a few units in the last place
    np.testing.assert_allclose(native(values)[0], expected, rtol=4e-15, atol=0)


def test_numbers_of_the_table_are_in_the_key() -> None:
    kernels = [kernel_from_function(lambda x, t=t: lookup(t, x), {"x": ()}) for t in (ENTRIES, ENTRIES + 1e-9, ENTRIES)]
    one, other, again = (content(k.program) for k in kernels)
    assert one != other
    assert one == again


def test_cached_kernels_of_two_tables_are_two(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    for _ in range(2):  # the second time from the disk
        for scale in (1.0, 2.0):
            table = Table(scale * ENTRIES)
            kernel = kernel_from_function(lambda x, t=table: lookup(t, x), {"x": ()})
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
    program = Program({"start": 1, "k": 1}, ("start",), ("k",), body)
    kernel = Kernel(program, {"start": (1,)}, {"k": (1,)})
    # five steps of a cycle of six: one step back
    assert kernel(np.array([[0.0], [3.0], [5.0], [2.0], [1.0]]))[:, 0].tolist() == [1, 0, 3, 4, 2]
