"""Loops that work on a part of a variable per round, and lookups beside one index."""

import numpy as np
import pytest

from native_code import Native, in_python, inputs_of, program_of, same_bits, straight
from pliant.compiler import Block, Loop, Program
from pliant.compiler.kernel import content
from pliant.errors import TraceError
from pliant.scalar import Graph, Table, lookup

RNG = np.random.default_rng(5)
STEPS = Table([1.0, 2.0, 4.0, 8.0])
MOVED = Block(lambda x, part, step: [part[0] * x[0] + step[0], part[1] - step[0]], ("x", "part", "step"), ("part",))
ROUNDS = Loop((MOVED,), 4, slices={"part": "all", "step": STEPS})
FILLED = Block(lambda x: [x[0] + k for k in range(8)], ("x",), ("all",))


@pytest.mark.parametrize("width", [1, 2, 4])
def test_each_round_has_its_part(width: int, precision: str) -> None:
    program = program_of("x", "all", FILLED, ROUNDS, part=2, step=1, all=8)
    x = RNG.integers(-5, 6, (9, 1)).astype(precision)
    (found,) = Native(program, width, precision)(x)
    # whole numbers: no rounding
    assert found.tolist() == [in_python(program, row)[0] for row in x]


def test_robots_that_left_keep_their_parts() -> None:
    """Some do not enter a loop, some leave it early: the others do not move their numbers."""
    ends = Block(lambda x, part: [part[0] > 3 * x[0]], ("x", "part"), ("done",))
    rounds = Loop((MOVED, ends), 4, until="done", slices={"part": "all", "step": STEPS})
    body = Loop((rounds,), 1, when="enters")
    entered = Block(lambda x: [x[0] > 0], ("x",), ("enters",))
    program = program_of("x", "all", FILLED, entered, body, part=2, step=1, all=8, done=1, enters=1)
    x = np.array([[-2.0], [1.0], [3.0], [0.0], [2.0]])
    together = Native(program, 4)(x)[0]
    assert same_bits(together, np.concatenate([Native(program, 4)(row[None])[0] for row in x]))
    assert together[0].tolist() == [-2 + k for k in range(8)]


def test_slices_of_slices() -> None:
    """A loop over rows around one over columns."""
    square = Block(lambda one: [one[0] * one[0]], ("one",), ("one",))
    columns = Loop((square,), 3, slices={"one": "row"})
    program = program_of("all", "all", Loop((columns,), 2, slices={"row": "all"}), one=1, row=3, all=6)
    given = RNG.integers(-9, 9, (5, 6)).astype(float)
    assert Native(program, 4)(given)[0].tolist() == (given**2).tolist()


def test_what_is_only_read_may_be_scratch_and_stays() -> None:
    ones = Block(lambda x: [1, 2, 3, 4], ("x",), ("all",))
    summed = Block(lambda y, part: [y[0] + part[0] * 10 + part[1]], ("y", "part"), ("y",))
    loop = Loop((summed,), 2, slices={"part": "all"})
    program = program_of("x", "y", ones, loop, scratch=("all",), part=2, all=4)
    assert Native(program, 4)(np.zeros((5, 1)))[0].tolist() == [[46.0]] * 5


def test_slices_are_part_of_the_key() -> None:
    def made(slices) -> bytes:
        return content(program_of("x", "all", FILLED, Loop((MOVED,), 4, slices=slices), part=2, step=1, all=8, other=4))

    keys = [made({"part": "all", "step": of}) for of in ("other", STEPS, Table([1.0, 2.0, 4.0, 9.0]))]
    assert len(set(keys)) == 3


def refused(count: int | str = 4, slices=None, scratch: tuple[str, ...] = (), body: tuple = (MOVED,)) -> Program:
    loop = Loop(body, count, slices=slices or {"part": "all", "step": STEPS})
    return program_of("x", "all", FILLED, loop, scratch=scratch, part=2, step=1, all=8)


READ = Block(lambda x, part: [x[0]] * 8, ("x", "part"), ("all",))


@pytest.mark.parametrize("make, message", [
    (lambda: refused(count=3), "'all' has 8, 'part' 2 scalars"),
    (lambda: refused(count="rounds"), "a loop of rounds rounds with slices"),
    (lambda: refused(slices={"part": "none", "step": STEPS}), "uses the variable 'none'"),
    (lambda: refused(slices={"part": "all", "step": Table([1.0])}), "table of 1 has 1"),
    (lambda: refused(scratch=("part",)), "'part' is a slice of 'all' in a loop, so it is neither scratch"),
    (lambda: refused(body=(MOVED, FILLED)), "the body does not write to 'all'"),
    (lambda: refused(body=(MOVED, Block(lambda x: [0], ("x",), ("step",)))), "the body does not write"),
    (lambda: program_of("x", "all", FILLED, ROUNDS, READ, part=2, step=1, all=8), "nothing outside of it"),
    (lambda: program_of("x", "all part", FILLED, ROUNDS, part=2, step=1, all=8), "nothing outside of it"),
])  # fmt: skip
def test_slices_that_cannot_be(make, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        make()


# ---- lookups beside an index

ENTRIES = Table(np.arange(40.0) ** 2 / 7)
SINGLE = Table(np.arange(40.0) ** 2)  # numbers that float32 has, too
INDICES = [*np.arange(-3, 41), 0.5, 27.99, -0.5, 1e10, -3e38, np.inf, -np.inf, np.nan]
OFFSETS = [(0, 1, 11, 12), (0, 1, 2), (3,), (2, 1), (0, 5, 6, 7, 8)]


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("offsets", OFFSETS, ids=str)
@pytest.mark.parametrize("table", [ENTRIES, SINGLE], ids=["double", "single"])
def test_entries_beside_an_index(width: int, offsets: tuple[int, ...], table: Table, precision: str) -> None:
    inputs = inputs_of(1)
    last = 27
    outputs = [lookup(table, inputs[0], offset, last) for offset in offsets]
    x = np.array(INDICES, dtype=precision)[:, None]
    made = Native(straight(inputs, outputs), width, precision)(x)[0]
    with np.errstate(invalid="ignore"):
        base = np.clip(np.where(np.isnan(x), 0, x), 0, last).astype(int)[:, 0]
    expected = np.stack([table.numbers[base + o] for o in offsets], axis=1).astype(precision)
    assert same_bits(made, np.where(np.isnan(x), np.nan, expected).astype(precision))
    alone = [table.at(float(INDICES[3]), o, last) for o in offsets]
    assert alone == [lookup(table, INDICES[3], o, last) for o in offsets]


@pytest.mark.parametrize("piece_size", [3, 7, 100])
def test_cuts_between_neighbours_change_nothing(piece_size: int) -> None:
    inputs = inputs_of(1)
    outputs = [lookup(ENTRIES, inputs[0] + k, o, 20) * (k + 1) for k in range(12) for o in (0, 1, 11, 12)]
    x = RNG.uniform(-2, 25, (9, 1))
    whole = Native(straight(inputs, outputs), 4)(x)[0]
    assert same_bits(whole, Native(straight(inputs, outputs), 4, piece_size=piece_size)(x)[0])


@pytest.mark.parametrize("offset, last", [(13, 27), (-1, 27), (0, -1), (0, 40), (0.5, 3), (40, None)])
def test_lookups_stay_in_the_table(offset: int, last: int) -> None:
    x = Graph().input("x")
    for index in (x, 3.0) if isinstance(offset, int) else (x,):
        with pytest.raises(TraceError):
            lookup(ENTRIES, index, offset, last)


def test_a_default_for_the_last_index() -> None:
    assert lookup(ENTRIES, 100.0, 3) == ENTRIES.numbers[-1]
    assert lookup(ENTRIES, np.array([0.0, 100.0]), 3).tolist() == ENTRIES.numbers[[3, 39]].tolist()
