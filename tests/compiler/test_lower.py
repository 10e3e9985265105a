"""From graph to instructions to machine code: fuzzed against the interpreter and an exact executor."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native_code import WIDTHS, Native, inputs_of, same_bits, straight
from pliant.compiler import native
from pliant.compiler.elementary import precision_of
from pliant.compiler.lower import cut, lower
from pliant.scalar import Expr, atan2, cos, exp, floor, log, select, sin, sqrt
from pliant.scalar.evaluation import interpret, jacobian, nodes_of
from pliant.scalar.ops import TABLE
from random_graphs import ARITHMETIC, CONDITIONAL, ELEMENTARY, RandomGraph, execute, graphs

EPS = {"float64": 2.0**-53, "float32": 2.0**-24}
numbers = st.one_of(
    st.floats(-10, 10), st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e10, math.inf, -math.inf, math.nan])
)
rows = st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=5)
everything = ARITHMETIC + CONDITIONAL + ELEMENTARY


def float64_results(outputs: list[Expr], x: np.ndarray) -> np.ndarray:
    return np.array([[float(v) for v in interpret(outputs, {f"x[{k}]": float(v) for k, v in enumerate(r)})] for r in x])


@settings(max_examples=60)
@given(graphs(), rows)
def test_without_fusing_a_kernel_is_the_interpreter_bit_for_bit(random: RandomGraph, values: list) -> None:
    x = np.array(values)
    made = Native(straight(random.inputs, random.outputs), 4, fuse=False)(x)[0]
    assert same_bits(made, float64_results(random.outputs, x))


@settings(max_examples=30)
@given(graphs(ops=everything), rows, st.sampled_from(["float64", "float32"]), st.booleans())
def test_machine_code_does_what_instructions_say(random: RandomGraph, values: list, precision: str, fuse: bool) -> None:
    """Bit for bit, elementary functions, fused operations and both precisions included."""
    code = lower(random.inputs, random.outputs, precision_of(precision), fuse)
    dtype = np.dtype(precision).type
    with np.errstate(all="ignore"):
        x = np.array(values).astype(precision)
        expected = np.array([execute(code, row, dtype) for row in x], dtype=precision)
    made = Native(straight(random.inputs, random.outputs), 4, precision, fuse)(x)[0]
    assert same_bits(made, expected)


@settings(max_examples=12)
@given(graphs(ops=everything, most=40), rows, st.sampled_from(["float64", "float32"]))
def test_every_width_gives_the_same_bits(random: RandomGraph, values: list, precision: str) -> None:
    with np.errstate(over="ignore"):
        x = np.array(values * 5)[:20].astype(precision)
    program = straight(random.inputs, random.outputs)
    first, *others = [Native(program, width, precision)(x)[0] for width in WIDTHS]
    assert all(same_bits(first, other) for other in others)


def rounding_bounds(outputs: list[Expr], at: dict[str, float], eps: float) -> list[float]:
    """How far rounding can lead astray: each node's own, 4 units for functions, times the slopes after it."""
    nodes = [n for n in nodes_of(outputs) if n.args]
    slopes = jacobian(outputs, nodes)
    graph = outputs[0].graph
    values = [abs(float(v)) for v in interpret(nodes, at)]
    bounds = []
    for row in slopes:
        sizes = [abs(float(interpret([graph.lift(s)], at)[0])) for s in row]
        bounds.append(sum(s * v * 8 * eps for s, v in zip(sizes, values, strict=True)))
    return bounds


@settings(max_examples=40)
@given(st.data(), st.sampled_from(["float64", "float32"]), st.booleans())
def test_rounding_stays_within_its_bound(data: st.DataObject, precision: str, fuse: bool) -> None:
    """First-order error analysis of smooth graphs: fusing, functions and float32 change no more than roundings."""
    ops = ("add", "sub", "mul", "div", "neg", "sin", "cos", "atan2", "exp")
    random = data.draw(graphs(ops=ops, most=10, constants=(2, -0.5, 3, 0.125)))
    x = np.array([[data.draw(st.integers(4, 40)) / 16 for _ in random.inputs] for _ in range(3)])
    outputs = [n for n in random.outputs if n.args]
    if not outputs:
        return
    expected = float64_results(outputs, x)
    found = Native(straight(random.inputs, outputs), 4, precision, fuse)(x)[0].astype(np.float64)
    for row, want, got in zip(x, expected, found, strict=True):
        at = {f"x[{k}]": float(v) for k, v in enumerate(row)}
        intermediate = [abs(float(v)) for v in interpret(nodes_of(outputs), at)]
        # where first-order analysis holds: nothing huge, no division by something almost zero
        if not all(math.isfinite(v) and (v == 0 or 1e-3 < v < 1e3) for v in intermediate):
            continue
        for w, g, bound in zip(want, got, rounding_bounds(outputs, at, EPS[precision]), strict=True):
            assert abs(w - g) <= bound * 1.01 + 1e-300


def chain(x: list[Expr], length: int) -> list[Expr]:
    """A long graph of some 10 operations a step, whose values live for long and stay of size one."""
    values = list(x)
    for k in range(length):
        a, b, c = values[k % 7 - 7], values[-1], values[-(k % 5) - 1]
        values.append((a * b + c * 0.5 - values[k % 3] * a) / (2 + b * b))
        if k % 50 == 0:
            values.append(sin(values[-1]) + select(a < b, a, c))
    return [*values[-6:], values[len(values) // 2], values[4]]


def test_long_code_cut_into_pieces_gives_the_same_bits(precision: str) -> None:
    x = inputs_of(8)
    outputs = chain(x, 400)
    program = straight(x, outputs)
    values = np.random.default_rng(0).normal(size=(5, 8)).astype(precision)
    whole = Native(program, 4, precision, piece_size=100_000)
    expected = whole(values)[0]
    assert whole.assembly.pieces == 1
    assert np.isfinite(expected).all()
    code = lower(x, outputs, precision_of(precision), native.machine().has_fma)
    by_hand = [execute(code, row, np.dtype(precision).type) for row in values]
    assert same_bits(expected, np.array(by_hand))
    for size in (1, 7, 100, 1000):
        cut_up = Native(program, 4, precision, piece_size=size)
        assert cut_up.assembly.pieces > 1
        assert same_bits(cut_up(values)[0], expected)


def test_twenty_thousand_operations() -> None:
    x = inputs_of(8)
    outputs = chain(x, 3000)
    values = np.random.default_rng(1).normal(size=(2, 8))
    made = Native(straight(x, outputs), 4, fuse=False)
    assert sum(sum(b.count().values()) for b in made.assembly.blocks) > 20_000
    assert made.assembly.pieces >= 10
    assert made.assembly.slots < 200, "slots are used again"
    # functions differ from Python's by 4 ulp each; the steps damp what comes before them
    np.testing.assert_allclose(made(values)[0], float64_results(outputs, values), rtol=1e-12, atol=1e-13)


@settings(max_examples=25)
@given(graphs(ops=everything, most=60), st.integers(1, 9), rows)
def test_pieces_of_any_size(random: RandomGraph, size: int, values: list) -> None:
    x = np.array(values)
    program = straight(random.inputs, random.outputs)
    assert same_bits(Native(program, 2, piece_size=size)(x)[0], Native(program, 2)(x)[0])


@settings(max_examples=60)
@given(graphs(most=60), st.integers(1, 9))
def test_pieces_load_what_was_stored(random: RandomGraph, size: int) -> None:
    """Played through on paper: each load finds the value it wants, and inputs are still there."""
    code = lower(random.inputs, random.outputs, precision_of("float64"))
    inputs, outputs = len(random.inputs), len(random.outputs)
    # results go where the inputs are, as in a block that updates its variables
    targets = [k if k < inputs else inputs + k for k in range(outputs)]
    pieces, top = cut(code, targets, inputs + outputs, size)
    memory: dict[int, object] = {k: ("input", k) for k in range(inputs)}

    def content(n: int) -> object:
        i = code.instructions[n]
        return (i.op, i.value) if i.op in ("input", "const") else n

    assert [p.first for p in pieces[1:]] == [p.last for p in pieces[:-1]]
    for piece in pieces:
        assert sum(code.instructions[n].op not in ("const", "input") for n in range(piece.first, piece.last)) <= size
        for n, slot in piece.loads.items():
            assert memory[slot] == content(n)
        for n in range(piece.first, piece.last):
            for a in code.instructions[n].args:
                is_here = piece.first <= a < piece.last and code.instructions[a].op != "input"
                assert is_here or a in piece.loads or code.instructions[a].op == "const"
        for n, slot in piece.stores:
            memory[slot] = content(n)
            assert slot < top
    assert [memory[t] for t in targets] == [content(n) for n in code.results]


def operations(x: list[Expr], outputs: list[Expr]) -> dict[str, int]:
    return lower(x, outputs, precision_of("float64")).count()


def test_fusing_saves_operations_and_keeps_results_to_rounding() -> None:
    x = inputs_of(6)
    outputs = [x[0] * x[1] + x[2] * x[3], x[4] - x[0] * x[1], x[2] * x[3] - x[5], x[0] * x[0] + x[0] * x[0] * 3]
    program = straight(x, outputs)
    values = np.random.default_rng(2).normal(size=(50, 6))
    fused, plain = Native(program, 4), Native(program, 4, fuse=False)
    counts = fused.assembly.blocks[0].count()
    if counts.get("fma"):  # a machine that has it
        assert sum(counts.values()) < sum(plain.assembly.blocks[0].count().values())
        assert {"fma", "fms", "fnma"} <= set(counts)
    # two roundings of numbers up to 10
    np.testing.assert_allclose(fused(values)[0], plain(values)[0], rtol=0, atol=40 * EPS["float64"])


def test_what_is_computed_once_or_never() -> None:
    x = inputs_of(3)
    product = x[0] * x[1]
    assert operations(x, [product, product + x[2]]) == {"mul": 1, "add": 1}
    assert operations(x, [product + x[2], product - x[2]]) == {"fma": 1, "fms": 1}
    # what nothing needs is dropped
    _unused = exp(x[0]) * log(x[1]) + sqrt(x[0])
    assert operations(x, [x[0] + x[1]]) == {"add": 1}


def test_results_that_are_inputs_constants_or_the_same() -> None:
    x = inputs_of(2)
    both = x[0] + x[1]
    seven, infinite, no_number = (both.graph.constant(v) for v in (7, math.inf, math.nan))
    outputs = [x[1], seven, both, both, x[1], infinite, no_number]
    for size in (1, 100):
        made = Native(straight(x, outputs), 4, piece_size=size)(np.array([[1.0, 2.0]]))[0]
        np.testing.assert_array_equal(made, [[2, 7, 3, 3, 2, math.inf, math.nan]])


def test_constants_of_float32() -> None:
    x = inputs_of(1)
    constants = [0.1, 1 / 3, 1e300, -1e300, 1e-300, 3.4028235e38, 1e-40, math.inf]
    made = Native(straight(x, [x[0] + c for c in constants]), 8, "float32")(np.zeros((1, 1)))[0]
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(made[0], np.array(constants).astype(np.float32))


def test_every_operation_of_the_table_is_in_the_fuzz() -> None:
    assert {op for op, row in TABLE.items() if row.sympy is not None} == set(everything)


def test_derivative_graphs_compile_too() -> None:
    x = inputs_of(3)
    y = [sin(x[0] * x[1]) * exp(-x[2]), atan2(x[0], x[1]) + log(2 + cos(x[2])), sqrt(1 + x[0] * x[0])]
    flat = [x[0].graph.lift(d) for row in jacobian(y, x) for d in row]
    values = np.random.default_rng(3).uniform(0.1, 1, size=(5, 3))
    made = Native(straight(x, flat), 4)(values)[0]
    # a dozen operations of size one, functions to 4 ulp
    np.testing.assert_allclose(made, float64_results(flat, values), rtol=1e-14, atol=1e-15)


@pytest.mark.skipif("x86_64" not in native.machine().triple, reason="makes code for the first x86-64")
def test_without_fused_operations_bits_are_the_same(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions ask for fma by name; without the instruction it is a call of the C library's."""
    x = inputs_of(2)
    program = straight(x, [sin(x[0]), cos(x[0]), log(abs(x[1])), exp(x[0]), atan2(x[0], x[1]), floor(x[0])])
    values = np.random.default_rng(4).normal(size=(50, 2)) * 3
    here = Native(program, 4, precision, fuse=False)(values)[0]
    target = native._llvm().Target.from_triple(native.machine().triple)
    old = target.create_target_machine(cpu="x86-64", features="", opt=2, reloc="pic", codemodel="small")
    monkeypatch.setattr(native, "_target_machine", lambda _: old)
    assert same_bits(Native(program, 2, precision, fuse=False)(values)[0], here)
