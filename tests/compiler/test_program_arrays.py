"""Arrays of programs: several variables side by side, rows that a call leaves out, and single rounds."""

import numpy as np
import pytest

from native_code import Native, kernel_of, same_bits
from pliant.compiler import Block, Kernel, Loop, Program, calls
from pliant.errors import KernelError, TraceError

SIZES = {"x": 2, "n": 1, "nothing": 0, "u": 2}
STATE = ("x", "n", "nothing")
ROWS = {"rows": STATE, "rows of x": ("x",), "rows of n": ("n",)}


def stepping(**changes: object) -> Program:
    """Adds u to x in each step and counts them; its state is one array, and has rows as a whole and by part."""
    block = Block(lambda x, n, u: ([x[0] + u[0], x[1] * u[1]], [n[0] + 1]), ("x", "n", "u"), ("x", "n"))
    options: dict = {
        "variables": SIZES,
        "inputs": ("state", "u"),
        "outputs": ("next", *ROWS),
        "body": (Loop((block,), "steps", reads=("u",), writes=tuple(ROWS)),),
        "spans": {"state": STATE, "next": STATE, **ROWS},
    }
    return Program(**(options | changes))


def expected(state: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Rows of the whole state, (batch, steps, 3)."""
    rows, now = [], state
    for k in range(u.shape[1]):
        now = np.stack([now[:, 0] + u[:, k, 0], now[:, 1] * u[:, k, 1], now[:, 2] + 1], axis=1)
        rows.append(now)
    return np.stack(rows, axis=1)


RNG = np.random.default_rng(0)
X, U = RNG.normal(size=(11, 3)), RNG.normal(size=(11, 4, 2))
KERNEL = kernel_of(stepping())


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_variables_side_by_side_are_one_array(width: int, precision: str) -> None:
    x, u = X.astype(precision), U.astype(precision)
    end, rows, of_x, of_n = Native(stepping(), width, precision)(x, u, rounds=(4,))
    assert same_bits(rows, expected(x, u))
    assert same_bits(end, rows[:, -1])
    assert same_bits(of_x, rows[..., :2])
    assert same_bits(of_n, rows[..., 2:])


def test_nothing_is_copied_between_them() -> None:
    """The instructions are those of the block."""
    assert KERNEL.operations() == {"add": 2, "mul": 1}
    assert stepping().unset == []


@pytest.mark.parametrize("kept", [(), ("rows",), ("rows of n",), ("rows of x", "rows")])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_may_be_left_out(kept: tuple[str, ...], threads: int) -> None:
    rows = expected(X, U)
    whole = {"rows": rows, "rows of x": rows[..., :2], "rows of n": rows[..., 2:]}
    end = np.empty((11, 3))
    out = (end, *(np.empty((11, 4, KERNEL.outputs[name][0])) if name in kept else None for name in ROWS))
    assert KERNEL(X, U, out=out, threads=threads) is out
    assert same_bits(end, rows[:, -1])
    for name, array in zip(ROWS, out[1:], strict=True):
        assert array is None or same_bits(array, whole[name])


def test_what_has_no_rows_cannot_be_left_out() -> None:
    with pytest.raises(KernelError, match="out for next is a NoneType") as caught:
        KERNEL(X, U, out=(None, None, None, None))
    assert caught.value.field == "out"
    with pytest.raises(KernelError, match="out for rows has shape"):
        KERNEL(X, U, out=(np.empty((11, 3)), np.empty((11, 3, 3)), None, None))


def test_a_state_in_place() -> None:
    x = X.copy()
    KERNEL(x, U, out=(x, None, None, None))
    assert same_bits(x, expected(X, U)[:, -1])


class TestOnce:
    """The short way into a single round."""

    @pytest.mark.parametrize("batch", [1, 2, 5, 11])
    def test_is_one_round(self, batch: int) -> None:
        assert KERNEL.enter is None
        assert KERNEL.once is not None
        x, u = X[:batch].copy(), np.ascontiguousarray(U[:batch, 0])
        assert KERNEL.once(x, u, x) is True
        assert same_bits(x, expected(X[:batch], U[:batch, :1])[:, 0])

    def test_of_one_robot(self) -> None:
        assert KERNEL.once is not None
        x = X[3].copy()
        assert KERNEL.once(x, U[3, 0], x) is True
        assert same_bits(x, expected(X[3:4], U[3:4, :1])[0, 0])

    def test_one_row_for_all(self) -> None:
        assert KERNEL.once is not None
        end = np.empty_like(X)
        assert KERNEL.once(X, U[0, 0], end) is True
        assert same_bits(end, expected(X, np.repeat(U[:1, :1], 11, axis=0))[:, 0])

    @pytest.mark.parametrize("given", [
        (X, U, X.copy()), (X, U[:, 0].tolist(), X.copy()), (X, U[:, 0], X.copy(), X.copy()), (X, U[:, 0]), (),
    ])  # fmt: skip
    def test_refuses_what_does_not_fit(self, given: tuple) -> None:
        assert KERNEL.once is not None
        assert KERNEL.once(*given) is False

    def test_only_where_it_can_be(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not with threads, with rows before the other outputs, with a fixed count of rows, or if it is closed."""
        plain = stepping()
        shapes = {name: (plain.size(name),) for name in (*plain.inputs, *plain.outputs)}

        def once_of(program: Program, threads: int = 1) -> object:
            arrays = ({name: shapes[name] for name in names} for names in (program.inputs, program.outputs))
            return Kernel(program, *arrays, threads=threads).once

        (loop,) = plain.body
        fixed = Loop(loop.body, 4, reads=("u",), writes=tuple(ROWS))  # type: ignore[union-attr]
        assert once_of(plain) is not None
        assert once_of(plain, threads=2) is None
        assert once_of(stepping(outputs=(*ROWS, "next"))) is None
        assert once_of(stepping(body=(fixed,))) is None
        monkeypatch.setattr(calls, "is_open", lambda: False)
        assert once_of(plain) is None


@pytest.mark.parametrize("changes, message", [
    ({"spans": {"state": STATE, "next": ("x", "nothing"), **ROWS}}, "'next' needs variables that are side by side"),
    ({"spans": {"state": STATE, "next": (), **ROWS}}, "'next' needs variables that are side by side"),
    ({"spans": {"state": STATE, "next": ("n", "x"), **ROWS}}, "'next' needs variables that are side by side"),
    ({"spans": {"state": STATE, "next": ("x", "y"), **ROWS}}, "the array 'next' uses the variable 'y'"),
    ({"spans": {"state": STATE, "next": STATE, **ROWS, "u": ("x",)}}, "'u' is not the name of an array"),
    ({"spans": {"state": STATE, "next": STATE, **ROWS, "other": ("x",)}}, "'other' is not the name of an array"),
    ({"inputs": ("state", "u", "x")}, "the program's inputs names a variable twice"),
    ({"outputs": ("next", "next", *ROWS)}, "the program's outputs names a variable twice"),
    ({"outputs": ("after", *ROWS), "spans": {"state": STATE, **ROWS}}, "outputs uses the variable 'after'"),
    ({"scratch": ("x",)}, "'x' is an array of the program, so it cannot be scratch"),
])  # fmt: skip
def test_arrays_that_cannot_be(changes: dict, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        stepping(**changes)


def test_spans_are_part_of_the_key() -> None:
    """Two programs that differ in what goes where are not one entry of the cache."""
    copied = {"a": 1, "b": 1}
    block = Block(lambda a: ([a[0] + 1], [a[0] - 1]), ("a",), ("a", "b"))
    found = [kernel_of(Program(copied, ("a",), ("out",), (block,), spans={"out": (name,)})) for name in "ab"]
    assert [kernel([3.0]).tolist() for kernel in found] == [[4], [2]]


# ---- what starts at zero


def test_what_a_round_writes_first_is_not_set_to_zero() -> None:
    """In a loop that all robots run, as in straight code; after one that may have no rounds, it is."""
    block = Block(lambda x: ([x[0] + 1], [x[0] * 2]), ("x",), ("x", "y"))
    use = Block(lambda x, y: [x[0] + y[0]], ("x", "y"), ("x",))

    def unset(*body: Block | Loop, outputs: tuple[str, ...] = ("x",)) -> list[str]:
        return Program({"x": 1, "y": 1, "done": 1}, ("x",), outputs, body).unset

    assert unset(Loop((block, use), "rounds")) == []
    assert unset(Loop((block, use), 3)) == []
    assert unset(Loop((use, block), 3)) == ["y"], "read in the first round"
    assert unset(Loop((block,), 3), use) == []
    assert unset(Loop((block,), 0), use) == ["y"]
    assert unset(Loop((block,), "rounds"), use) == ["y"]
    assert unset(Loop((block,), "rounds"), outputs=("x", "y")) == ["y"]
    assert unset(Loop((block, use), 3, until="done")) == ["done", "y"], "robots that are done keep theirs"
    assert unset(Loop((Loop((block, use), 3, when="done"),), 2)) == ["done", "y"]
