"""Blocks and loops against plain Python; a robot's result never depends on its neighbours."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native_code import Native, in_python, kernel_of, program_of, same_bits
from pliant.compiler import Block, Kernel, Loop, Program
from pliant.compiler.program import TracedBlock
from pliant.errors import KernelError, TraceError
from pliant.scalar import Graph, select, sin


def newton(x, y):
    """A step towards the square root of x, and whether it stood still."""
    better = [(y[0] + x[0] / y[0]) * 0.5]
    return better, [abs(better[0] - y[0]) < 1e-12]


ADD_ONE = Block(lambda x: [x[0] + 1], ("x",), ("x",))
COUNTED = Block(lambda n: [n[0] + 1], ("rounds",), ("rounds",))
SOLVED = Loop((Block(newton, ("x", "y"), ("y", "done")), COUNTED), count=60, until="done")
ROOT = program_of("x", "y rounds", Block(ADD_ONE.function, ("x",), ("y",)), SOLVED, done=1)


def test_straight_blocks_run_in_order() -> None:
    blocks = (
        Block(lambda x: [x[0] * x[1]], ("x",), ("y",)),
        Block(lambda y, x: [y[0], y[0] + x[0], 5], ("y", "x"), ("z",)),
        Block(lambda y, z: ([y[0] - 1], [z[2], z[1], z[0]]), ("y", "z"), ("y", "z")),
    )
    z, y = kernel_of(program_of("x", "z y", *blocks, x=2, z=3))(np.array([[2.0, 3.0], [-1.0, 4.0]]))
    assert z.tolist() == [[5, 8, 6], [5, -5, -4]]
    assert y.tolist() == [[5], [-5]]


def test_a_block_may_write_what_it_reads() -> None:
    program = program_of("x y", "x y", Block(lambda x, y: (y, x), ("x", "y"), ("x", "y")))
    swapped = kernel_of(program)([1.0], [2.0])
    assert [float(a[0]) for a in swapped] == [2, 1]


def test_variables_change_places() -> None:
    """What is handed on is read before its place is taken: in a ring, in a row, by two at once, and where it stays."""

    def moved(a, b, c, d, e):
        return b, c, a, [a[0] + d[0]], d

    names = ("a", "b", "c", "d", "e")
    program = program_of("a b c d e", "a b c d e", Block(moved, names, names))
    found = kernel_of(program)([1.0], [2.0], [3.0], [4.0], [5.0])
    assert [float(x[0]) for x in found] == [2, 3, 1, 5, 4]


@pytest.mark.parametrize("piece_size", [1, 2, 5, 2000])
def test_a_long_block_may_write_what_it_reads(piece_size: int) -> None:
    """A piece must not overwrite what a later one still reads."""

    def turn(x):
        a = [sin(x[(k + 1) % 4]) + x[k] * x[(k + 2) % 4] for k in range(4)]
        return [[*a, x[0], x[4]]]

    program = program_of("x", "x", Block(turn, ("x",), ("x",)), Block(turn, ("x",), ("x",)), x=6)
    x = np.random.default_rng(0).normal(size=(7, 6))
    expected = [in_python(program, row)[0] for row in x]
    # two steps of a few operations of size one
    np.testing.assert_allclose(Native(program, 4, piece_size=piece_size)(x)[0], expected, rtol=1e-13, atol=1e-14)


def test_counted_loop() -> None:
    program = program_of("x", "x", Loop((Block(lambda x: [x[0] * 2 + 1], ("x",), ("x",)),), 5))
    assert kernel_of(program)(np.array([[0.0], [1.0]])).tolist() == [[31], [63]]


STEPS = program_of("x", "x", Loop((ADD_ONE,), "steps"))


@pytest.mark.parametrize("count", [0, 1, 2, 17])
def test_count_given_at_the_call(count: int) -> None:
    kernel = kernel_of(STEPS)
    assert kernel([0.5], steps=count)[0] == 0.5 + count
    assert kernel(np.zeros((3, 1)), steps=np.int64(count), out=np.empty((3, 1))).tolist() == [[count]] * 3


@pytest.mark.parametrize("wrong, message", [
    ({}, "lacks the count 'steps'; give it by name: steps=100"),
    ({"steps": -1}, "the count 'steps' is -1; it takes an integer from 0 on"),
    ({"steps": 1.5}, "the count 'steps' is 1.5; it takes an integer"),
    ({"step": 1}, "no argument named 'step'"),
])  # fmt: skip
def test_wrong_counts(wrong: dict, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        kernel_of(STEPS)([0.0], **wrong)


def test_early_exit_stops_each_robot_by_itself() -> None:
    x = np.concatenate([[0.25, 1.0, 2.0, 1e6, 1e-6, 3.0], np.random.default_rng(1).uniform(0, 1e3, 40)])
    y, rounds = kernel_of(ROOT)(x[:, None])
    expected = [in_python(ROOT, v) for v in x[:, None]]
    assert rounds.tolist() == [r for _, r in expected]
    assert len(set(rounds[:, 0])) > 5, "the robots stop at different times"
    # fusing of one product may change the last digits on the way, not where it converges to
    np.testing.assert_allclose(y, [v for v, _ in expected], rtol=1e-15)


def test_a_frozen_robot_does_not_depend_on_its_neighbours() -> None:
    kernel = kernel_of(ROOT)
    x = np.random.default_rng(2).uniform(0, 1e3, (3 * kernel.lanes + 1, 1))
    x[::7] = 1e-9
    together = kernel(x)
    for k in range(len(x)):
        alone = kernel(x[k])
        assert all(same_bits(a[k], b) for a, b in zip(together, alone, strict=True))


def test_nan_ends_nothing_for_others() -> None:
    """A robot that has lost its numbers runs to the end, alone."""
    x = np.array([[2.0], [math.nan], [3.0]])
    y, rounds = kernel_of(ROOT)(x)
    assert [float(y[0, 0]), float(y[2, 0])] == pytest.approx([math.sqrt(2), math.sqrt(3)], rel=1e-15)
    assert math.isnan(y[1, 0])
    assert rounds[1, 0] == 60


def nested() -> Program:
    """Counts down x in an inner loop until zero, then subtracts 1 from n in an outer one until zero."""

    def count_down(left, total):
        return [left[0] - 1], [total[0] + 1], [left[0] <= 1]

    body = (
        Block(lambda x: x, ("x",), ("left",)),
        Loop((Block(count_down, ("left", "total"), ("left", "total", "inner")),), count=10, until="inner"),
        Block(lambda n, t: ([n[0] - 1], [t[0] + 100], [n[0] <= 1]), ("n", "total"), ("n", "total", "outer")),
    )
    return program_of("x n", "total left inner outer", Loop(body, count=8, until="outer"))


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_nested_loops_with_freezes(width: int, precision: str) -> None:
    """All combinations side by side, in an order that mixes them, at every width."""
    cases = np.array(list(itertools.product([0.0, 1.0, 3.0, 10.0, 25.0], [0.0, 1.0, 2.0, 7.0, 9.0])))
    cases = np.random.default_rng(3).permutation(cases)
    found = np.stack(Native(nested(), width, precision)(cases[:, :1], cases[:, 1:]), axis=1)
    assert found.tolist() == [in_python(nested(), case[:1], case[1:]) for case in cases]


def test_an_inner_loop_in_a_loop_without_an_exit() -> None:
    """The flag of the inner loop starts at zero each time."""
    inner = Loop((Block(lambda x, t: ([t[0] + x[0]], [t[0] > 10]), ("x", "t"), ("t", "done")),), 100, "done")
    program = program_of("x", "t", Loop((inner, Block(lambda t: [t[0] * 0.25], ("t",), ("t",))), 3), done=1)
    x = np.array([[1.0], [2.5], [0.0], [40.0], [-1.0]])
    assert kernel_of(program)(x).tolist() == [in_python(program, v)[0] for v in x]


def rollout(count: int | str, until: str | None = None) -> Program:
    """x moves by its row of u in each round, and its path is an output; done beyond 5."""
    block = Block(lambda x, u: ([x[0] + u[0], x[1] * u[1]], [x[0] + u[0] > 5]), ("x", "u"), ("x", "done"))
    copy = Block(lambda x: x, ("x",), ("path",))
    loop = Loop((block, copy), count, until, reads=("u",), writes=("path",))
    return program_of("x u", "path x", loop, x=2, u=2, path=2, done=1)


@pytest.mark.parametrize("steps", [0, 1, 2, 9])
@pytest.mark.parametrize("until", [None, "done"])
@pytest.mark.parametrize("named", [True, False])
def test_rows_per_round(steps: int, until: str | None, named: bool) -> None:
    program = rollout("steps" if named else steps, until)
    kernel = kernel_of(program)
    rng = np.random.default_rng(steps)
    x, u = rng.normal(size=(11, 2)), rng.uniform(0, 2, (11, steps, 2))
    path, last = kernel(x, u)
    assert path.shape == (11, steps, 2)
    for k in range(11):
        assert [path[k].tolist(), last[k].tolist()] == in_python(program, x[k], u[k])
        alone = kernel(x[k], u[k])
        assert same_bits(alone[0], path[k])


def test_rows_per_round_are_shared_and_given_by_out() -> None:
    kernel = kernel_of(rollout("steps"))
    rng = np.random.default_rng(5)
    x, u = rng.normal(size=(6, 2)), rng.normal(size=(4, 2))
    path, _ = kernel(x, u)  # one u for all robots
    np.testing.assert_array_equal(path, kernel(x, np.broadcast_to(u, (6, 4, 2)))[0])
    out = np.empty((6, 4, 2)), np.empty((6, 2))
    assert kernel(x, u, out=out) is out
    np.testing.assert_array_equal(out[0], path)
    np.testing.assert_array_equal(kernel(x, u, steps=4)[0], path)
    np.testing.assert_array_equal(kernel(x, u, threads=2)[0], path)


@pytest.mark.parametrize("count, u, options, message", [
    ("steps", np.zeros((3, 2)), {"steps": 4}, r"u has 3 rounds, expected 4"),
    ("steps", np.zeros(2), {}, r"u has shape \(2,\); it takes \(steps, 2\) or \(batch, steps, 2\)"),
    ("steps", np.zeros((3, 2)), {"out": (np.zeros((4, 2)), np.zeros(2))},
     r"out for path has shape \(4, 2\); this call makes \(3, 2\)"),
    (5, np.zeros((3, 2)), {}, "u has 3 rounds, expected 5"),
])  # fmt: skip
def test_wrong_rows_per_round(count: int | str, u: np.ndarray, options: dict, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        kernel_of(rollout(count))(np.zeros(2), u, **options)


def test_zero_rounds_leave_variables_as_they_were() -> None:
    loop = Loop((Block(lambda x: ([x[0] + 1], [x[0]]), ("x",), ("x", "y")),), 0)
    x, y = kernel_of(program_of("x", "x y", loop))(np.full((9, 1), 3.0))
    assert x.tolist() == [[3]] * 9
    assert y.tolist() == [[0]] * 9, "a variable starts at zero"


@pytest.mark.parametrize("body, expected", [
    ((), [0, 0]),
    ((Block(lambda y: [y[0] + 1, 2], ("y",), ("y",)),), [1, 2]),
    ((Loop((Block(lambda y: [y[0] + 1, y[1] + 2], ("y",), ("y",)),), 3),), [3, 6]),
])  # fmt: skip
def test_variables_start_at_zero_for_every_robot(body: tuple, expected: list) -> None:
    kernel = kernel_of(program_of("x", "y", *body, y=2))
    for _ in range(3):  # whatever the stack held before
        assert kernel(np.zeros((21, 1))).tolist() == [expected] * 21


def test_what_is_written_first_is_not_set_to_zero() -> None:
    assert program_of("x", "y", Block(lambda x: x, ("x",), ("y",))).unset == []
    assert sorted(ROOT.unset) == ["done", "rounds"]


def test_one_block_object_in_several_places() -> None:
    """Inside of a loop it is frozen, after it it is not."""
    flag = Block(lambda x: [x[0] > 3], ("x",), ("done",))
    program = program_of("x", "x", Loop((ADD_ONE, flag), 10, "done"), ADD_ONE, done=1)
    assert kernel_of(program)(np.array([[0.0], [1.0], [2.0], [3.0]])).tolist() == [[5], [5], [5], [5]]


def test_a_robot_is_done_at_the_end_of_the_round() -> None:
    """Blocks after the one that sets the flag still run, and may take it back."""
    body = (
        Block(lambda x: ([x[0] + 1], [1]), ("x",), ("x", "done")),
        Block(lambda x: [x[0]], ("x",), ("log",)),
        Block(lambda x: [x[0] >= 3], ("x",), ("done",)),
    )
    program = program_of("x", "x log done", Loop(body, 10, "done"))
    found = np.hstack(kernel_of(program)(np.array([[0.0], [1.5], [7.0]])))
    assert found.tolist() == [[3, 3, 1], [3.5, 3.5, 1], [8, 8, 1]]


def test_two_loops_may_share_their_flag() -> None:
    """One after the other, and one inside of the other: the inner one leaves it to the outer one."""
    step = Block(lambda x: ([x[0] + 1], [x[0] >= 2]), ("x",), ("x", "done"))
    again = Block(lambda x: ([x[0] - 2.5], [x[0] < 2]), ("x",), ("x", "done"))
    inner = Loop((step,), 6, "done")
    program = program_of("x", "x done", inner, Loop((inner, again), 4, "done"))
    x = np.array([[0.0], [-9.0], [5.0], [1.0], [-3.5]])
    assert np.stack(kernel_of(program)(x), axis=1).tolist() == [in_python(program, v) for v in x]


def test_constant_results() -> None:
    """Numbers that are the same for every robot, next to loops and in variables that others write, too."""
    inner = Loop((Block(lambda x: ([x[0] + 1], [1]), ("x",), ("x", "inner")),), 3, "inner")
    flag = Block(lambda x, fixed: ([x[0] + fixed[2]], [x[0] > 9]), ("x", "fixed"), ("x", "outer"))
    program = program_of(
        "x",
        "fixed mixed twice before x",
        Block(lambda fixed: [fixed[3]], ("fixed",), ("before",)),
        Block(lambda: [list(range(60))], (), ("fixed",)),
        Block(lambda x: ([7, x[0]], [1, 2]), ("x",), ("mixed", "twice")),
        Loop((inner, flag), 5, "outer"),
        Block(lambda t, f: [t[0] + 1, f[59]], ("twice", "fixed"), ("twice",)),
        **{"fixed": 60, "mixed": 2, "twice": 2, "inner": 1, "outer": 1},
    )
    start = np.linspace(-20, 20, 37)[:, None]
    fixed, mixed, twice, before, x = kernel_of(program)(start)
    assert (fixed == np.arange(60)).all()
    assert (before == 0).all(), "read before it is written"
    assert (mixed[:, 0] == 7).all()
    assert same_bits(mixed[:, 1:], start)
    assert (twice == [2, 59]).all()
    assert x.tolist() == [in_python(program, v)[-1] for v in start]


def test_blocks_traced_before_are_frozen_too() -> None:
    def traced() -> Block:
        graph = Graph()
        x = graph.input("x[0]")
        outputs = [("x", 0, x + 1), ("done", 0, graph.lift(select(x > 3, 1, 0)))]
        return Block(lambda x: x, ("x",), ("x", "done"), TracedBlock([("x", 0, x)], outputs))

    program = program_of("x", "x", Loop((traced(),), 10, "done"), done=1)
    assert kernel_of(program)(np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])).tolist() == [[5], [5], [5], [5], [10]]


def test_conditions_become_numbers() -> None:
    program = program_of("x", "y", Block(lambda x: [x[0] < 0, ~(x[0] < 0)], ("x",), ("y",)), y=2)
    assert kernel_of(program)(np.array([[-1.0], [1.0]])).tolist() == [[1, 0], [0, 1]]


@settings(max_examples=20)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=20), st.integers(0, 9), st.sampled_from([1, 2, 4, 8]))
def test_freezes_at_random(targets: list[int], count: int, width: int) -> None:
    """Each robot counts to its own target, none beyond the loop's count."""
    body = (
        Block(lambda n, t: ([n[0] + 1], [n[0] + 1 >= t[0]]), ("n", "target"), ("n", "done")),
        Block(lambda n: [n[0] * n[0]], ("n",), ("square",)),
    )
    program = program_of("target", "n square", Loop(body, count, "done"), done=1)
    n, square = Native(program, width)(np.array(targets, dtype=float)[:, None])
    expected = [min(max(t, 1), count) for t in targets]
    assert n[:, 0].tolist() == expected
    assert square[:, 0].tolist() == [e * e for e in expected]


def xy(*body: Block | Loop, **options) -> Program:
    """From x to y."""
    return program_of("x", "y", *body, **options)


def block(reads=("x",), writes=("y",)) -> Block:
    return Block(lambda *a: [[0]] * len(writes), reads, writes)


@pytest.mark.parametrize("make, message", [
    (lambda: Program({"x": 1}, ("x",), ("y",), ()), r"outputs uses the variable 'y'; the program has \['x'\]"),
    (lambda: Program({"y": 1}, ("x",), ("y",), ()), "inputs uses the variable 'x'"),
    (lambda: Program({"x": 1, "y": 1}, ("x", "x"), ("y",), ()), "inputs names a variable twice"),
    (lambda: xy(block(reads=("z",))), "a block uses the variable 'z'"),
    (lambda: xy(block(writes=("y", "y"))), "a block names a variable twice"),
    (lambda: xy(Loop((), 3, "z")), "a loop uses the variable 'z'"),
    (lambda: xy(Loop((), 3, "y"), y=2), "'y' that ends a loop must have size 1"),
    (lambda: xy(Loop((), -1)), "a loop cannot run -1 times"),
    (lambda: xy(Loop((), 1.5)), "a loop cannot run 1.5 times"),
    (lambda: xy(Loop((), "x")), "count needs a name of its own; 'x'"),
    (lambda: xy(Loop((Loop((), 2, reads=("x",)),), 2)), "only an outermost loop"),
    (lambda: xy(Loop((), 2, reads=("y",))), "'y' per round, which is not an input"),
    (lambda: xy(Loop((), 2, writes=("x",))), "'x' per round, which is not an output"),
    (lambda: xy(*[Loop((), 2, reads=("x",))] * 2), "a row per round of one loop"),
    (lambda: program_of("x", "x", Loop((), 2, reads=("x",))), "a row per round of one loop"),
    (lambda: xy(Loop((), 1, when="z")), "a loop uses the variable 'z'"),
    (lambda: xy(Loop((), 1, when="wide"), wide=2), "the variable 'wide' that opens a loop must have size 1"),
    (lambda: xy(Loop((), 1, when="wide", reads=("x",)), wide=2), "must have size 1"),
    (lambda: xy(Loop((), 1, when="y", reads=("x",))), "entered by every robot; it takes no `when`"),
    (lambda: xy(Loop((), 1, when="x", writes=("y",))), "entered by every robot; it takes no `when`"),
    (lambda: xy(scratch=("z",)), "scratch uses the variable 'z'"),
    (lambda: xy(scratch=("wide", "wide"), wide=2), "scratch names a variable twice"),
    (lambda: xy(scratch=("x",)), "'x' is an array of the program, so it cannot be scratch"),
    (lambda: xy(scratch=("y",)), "'y' is an array of the program, so it cannot be scratch"),
])  # fmt: skip
def test_bad_programs_are_refused(make, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        make()


@pytest.mark.parametrize("function, message", [
    (lambda x: ([1], [2]), r"a block writes \['y'\] but its function returned 2 values"),
    (lambda x: [1, 2], "a block writes 2 scalars to 'y', which has 1"),
    (lambda x: ["a"], "cannot use 'a' of type str"),
    (lambda x: [1 if x[0] > 0 else 2], "use pliant.math.select"),
])  # fmt: skip
def test_bad_blocks_are_refused(function, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        kernel_of(xy(Block(function, ("x",), ("y",))))


@pytest.mark.parametrize("inputs, outputs, message", [
    ({"x": (3,)}, {"y": (1,)}, r"the input 'x' has 2 scalars, which is not the shape \(3,\)"),
    ({"x": (2,)}, {"y": (1, 2)}, r"the output 'y' has 1 scalars, which is not the shape \(1, 2\)"),
    ({"z": (2,)}, {"y": (1,)}, r"the program's inputs are \['x'\], the shapes are of \['z'\]"),
    ({"x": (2,)}, {}, r"the program's outputs are \['y'\], the shapes are of \[\]"),
])  # fmt: skip
def test_shapes_that_do_not_fit_the_program(inputs: dict, outputs: dict, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        Kernel(xy(Block(lambda x: [x[0]], ("x",), ("y",)), x=2), inputs, outputs)


def test_a_program_too_large_for_the_stack_is_refused() -> None:
    size = 2**19 + 1  # of float64: more than 4 MB with a single lane, too
    with pytest.raises(KernelError, match=r"needs a workspace of .* MB; it must fit on the stack"):
        kernel_of(program_of("x", "x", x=size))
