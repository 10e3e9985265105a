"""Loops that robots enter or not, and variables that need not be kept."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native_code import WIDTHS, Native, kernel_of, program_of, same_bits
from pliant.compiler import Block, Loop, Program
from pliant.scalar import cos, select, sin

STEP = Block(lambda x: [x[0] + 1], ("x",), ("x",))


def counting(count: int | str) -> Program:
    """Adds 1 to x in each round, for robots whose flag is not zero."""
    return program_of("x open", "x", Loop((STEP,), count, when="open"))


# every pattern of flags for eight neighbours, one after the other
PATTERNS = np.array(list(itertools.product([0.0, 1.0], repeat=8))).reshape(-1, 1)


@pytest.mark.parametrize("width", WIDTHS)
def test_only_those_whose_flag_is_set_enter(width: int, precision: str) -> None:
    x = np.arange(len(PATTERNS), dtype=float)[:, None]
    found = Native(counting(3), width, precision)(x, PATTERNS)[0]
    assert found.tolist() == (x + 3 * PATTERNS).tolist()


@pytest.mark.parametrize("flag", [-1.0, 0.5, 1e-300, np.inf, np.nan])
def test_any_flag_but_zero_opens(flag: float) -> None:
    kernel = kernel_of(counting(1))
    assert kernel([4.0], [flag]).tolist() == [5]
    assert kernel([4.0], [-0.0]).tolist() == [4]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_count_given_at_the_call(count: int) -> None:
    kernel = kernel_of(counting("rounds"))
    found = kernel(np.zeros((5, 1)), np.array([[0.0], [1], [1], [0], [1]]), rounds=count)
    assert found[:, 0].tolist() == [0, count, count, 0, count]


def test_the_flag_counts_at_the_door_only() -> None:
    """What the body writes to it is for the next time."""
    body = Block(lambda x, n: ([x[0] - 1], [n[0] + 1]), ("x", "n"), ("x", "n"))
    loop = Loop((body,), 4, when="x")
    x, n = kernel_of(program_of("x", "x n", loop, loop))(np.array([[0.0], [2.0], [4.0], [8.0]]))
    # 2 goes to -2 and on to -6; 4 stops at 0, since the second loop is closed to it
    assert x[:, 0].tolist() == [0, -6, 0, 0]
    assert n[:, 0].tolist() == [0, 8, 4, 8]


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_with_an_exit_too(width: int) -> None:
    """Those that enter leave by themselves; the others are done before they begin."""
    body = Block(lambda x, t: ([x[0] + 1], [x[0] + 1 >= t[0]]), ("x", "target"), ("x", "done"))
    program = program_of("x open target", "x done", Loop((body,), 6, until="done", when="open"))
    rng = np.random.default_rng(0)
    is_open, target = rng.integers(0, 2, 100).astype(float), rng.integers(0, 10, 100).astype(float)
    x, done = Native(program, width)(np.zeros((100, 1)), is_open[:, None], target[:, None])
    rounds = np.clip(target, 1, 6) * is_open
    assert x[:, 0].tolist() == rounds.tolist()
    assert (done[:, 0] != 0).tolist() == ((is_open == 0) | (target <= 6)).tolist()


@pytest.mark.parametrize("width", [1, 4])
def test_doors_inside_of_loops(width: int) -> None:
    """In each round of the outer loop those enter whose flag is set then; who has left it never does."""
    flag = Block(lambda x, k: ([x[0] > k[0]], [k[0] + 1]), ("x", "k"), ("open", "k"))
    inner = Loop((Block(lambda n: [n[0] + 1], ("n",), ("n",)),), 2, when="open")
    stop = Block(lambda k, last: [k[0] >= last[0]], ("k", "last"), ("done",))
    program = program_of("x last", "n", Loop((flag, inner, stop), 5, until="done"), k=1, open=1, done=1)
    cases = np.array(list(itertools.product(range(-1, 7), range(7))), dtype=float)
    cases = np.random.default_rng(1).permutation(cases)
    found = Native(program, width)(cases[:, :1], cases[:, 1:])[0][:, 0]
    rounds = np.clip(cases[:, 1], 1, 5)
    assert found.tolist() == (2 * np.clip(np.minimum(cases[:, 0], rounds), 0, None)).tolist()


def test_what_is_never_entered_may_hold_anything() -> None:
    """A division by zero, endless numbers: nobody is there to see."""
    body = Block(lambda x: [1 / x[0]], ("x",), ("y",))
    program = program_of("x open", "y", Loop((body,), 1, when="open"))
    found = kernel_of(program)(np.array([[0.0], [2.0], [0.0], [np.nan]]), np.array([[0.0], [1], [0], [0]]))
    assert found[:, 0].tolist() == [0, 0.5, 0, 0]


# ---- scratch


def through_scratch(scratch: tuple[str, ...]) -> Program:
    """y = sin(x) + x through a variable that is written and read in a loop with a door."""
    first = Block(lambda x: [sin(x[0]), x[0] * 2], ("x",), ("s",))
    second = Block(lambda s, y: [y[0] + s[0] + s[1] * 0.5], ("s", "y"), ("y",))
    return program_of("x open", "y", Loop((first, second), 2, when="open"), scratch=scratch, s=2)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_scratch_changes_no_result(width: int) -> None:
    x = np.random.default_rng(2).normal(size=(len(PATTERNS[:64]), 1))
    kept = Native(through_scratch(()), width)(x, PATTERNS[:64])[0]
    found = Native(through_scratch(("s",)), width)(x, PATTERNS[:64])[0]
    assert same_bits(found, kept)
    np.testing.assert_allclose(found, 2 * (np.sin(x) + x) * PATTERNS[:64], rtol=1e-14, atol=1e-15)


def test_scratch_is_neither_set_to_zero_nor_kept() -> None:
    assert "s" in through_scratch(()).unset
    assert "s" not in through_scratch(("s",)).unset
    plain, free = (kernel_of(through_scratch(scratch)) for scratch in ((), ("s",)))
    assert sum(free.operations().values()) < sum(plain.operations().values())


def test_scratch_that_nothing_reads_is_not_computed() -> None:
    """Neither a sine that no block reads, nor the cosine that only this one would need."""

    def with_sine(is_read: bool) -> Program:
        first = Block(lambda x: [cos(x[0])], ("x",), ("r",))
        second = Block(lambda x, r: [x[0] * 2, sin(r[0])], ("x", "r"), ("s",))
        last = Block(lambda s: [s[0] + (s[1] if is_read else 1)], ("s",), ("y",))
        return program_of("x", "y", first, second, last, scratch=("r", "s"), r=1, s=2)

    read, unread = kernel_of(with_sine(True)), kernel_of(with_sine(False))
    assert unread.operations() == {"mul": 1, "add": 1}
    x = np.random.default_rng(5).normal(size=(9, 1))
    np.testing.assert_allclose(unread(x), 2 * x + 1, rtol=1e-14)
    np.testing.assert_allclose(read(x), 2 * x + np.sin(np.cos(x)), rtol=1e-14)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 4, 8]))
def test_a_robot_does_not_depend_on_its_neighbours(seed: int, width: int) -> None:
    """Through doors, exits and scratch: alone as in any company."""

    def make(x, k):
        return [x[0] * 0.5 + k[0], sin(x[1]) * x[0]]

    def use(s, x, k):
        new = select(s[1] > 0, x[0] + s[0], x[0] - s[1])
        return [new, x[1] + s[1]], [k[0] + 1], [new > 3], [s[0] > 0.3]

    body = (
        Block(lambda x: [x[0] > 0], ("x",), ("open",)),
        Loop(
            (Block(make, ("x", "k"), ("s",)), Block(use, ("s", "x", "k"), ("x", "k", "done", "again")),
             Loop((Block(lambda x: [x[0] - 0.25, x[1]], ("x",), ("x",)),), 2, when="again")),
            4, until="done", when="open",
        ),
    )  # fmt: skip
    sizes = {"x": 2, "s": 2, "open": 1, "done": 1, "again": 1}
    native = Native(program_of("x", "x k", *body, scratch=("s",), **sizes), width)
    x = np.random.default_rng(seed).normal(size=(2 * width + 1, 2)) * 2
    together = native(x)
    for k in range(len(x)):
        alone = native(x[k : k + 1])
        assert all(same_bits(a[k : k + 1], b) for a, b in zip(together, alone, strict=True))
