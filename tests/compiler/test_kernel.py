"""Kernels on NumPy arrays: any batch, any place in it, any number of threads give the same bits."""

import copy
import gc
import math
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from native_code import same_bits
from pliant.compiler import Kernel, calls, kernel_from_function, lanes_for
from pliant.compiler.tracing import program_from_function
from pliant.errors import KernelError, TraceError
from pliant.scalar import atan2, cos, exp, select, sin, sqrt


def motion(q, v, gain):
    """Something with sums, products, functions and a select; shapes (3,), (3,), ()."""
    energy = sum(a * a for a in v) * 0.5 + gain
    force = [sin(a) * gain - b * cos(c) for a, b, c in zip(q, v, [*q[1:], *q[:1]], strict=True)]
    return [[f, atan2(f, energy), select(f < 0, exp(-energy), sqrt(energy + 1))] for f in force]


SHAPES = {"q": (3,), "v": (3,), "gain": ()}


@pytest.fixture(scope="module")
def kernel(precision: str) -> Kernel:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLIANT_CACHE_DIR", "off")
        return kernel_from_function(motion, SHAPES, precision=precision)


def states(batch: int, precision: str, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(batch, *shape)).astype(precision) for shape in SHAPES.values()]


def one_by_one(kernel: Kernel, arrays: list[np.ndarray]) -> np.ndarray:
    return np.array([kernel(*(a[k] for a in arrays)) for k in range(len(arrays[0]))]).reshape(-1, 3, 3)


def test_against_the_python_function(kernel: Kernel, precision: str) -> None:
    arrays = states(50, precision)
    expected = [motion(*(a.astype(float).tolist() for a in robot)) for robot in zip(*arrays, strict=True)]
    # a dozen operations on numbers below ten
    np.testing.assert_allclose(kernel(*arrays), expected, rtol=0, atol=100 * np.finfo(precision).eps)


def test_every_batch_size(kernel: Kernel, precision: str) -> None:
    w = kernel.lanes
    everyone = states(1000, precision)
    expected = one_by_one(kernel, everyone)
    for batch in sorted({0, 1, 2, w - 1, w, w + 1, 2 * w - 1, 3 * w, 5 * w + 1, 1000}):
        found = kernel(*(a[:batch] for a in everyone))
        assert found.shape == (batch, 3, 3)
        assert found.dtype == precision
        assert same_bits(found, expected[:batch])


def test_every_place_in_the_batch(kernel: Kernel, precision: str) -> None:
    arrays = states(37, precision)
    expected = kernel(*arrays)
    rng = np.random.default_rng(1)
    for _ in range(10):
        order = rng.permutation(37)
        assert same_bits(kernel(*(a[order] for a in arrays)), expected[order])
    for shift in range(2 * kernel.lanes):
        assert same_bits(kernel(*(np.roll(a, shift, axis=0) for a in arrays)), np.roll(expected, shift, axis=0))


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_number_of_threads(kernel: Kernel, precision: str, threads: int) -> None:
    arrays = states(1001, precision)
    expected = kernel(*arrays)
    assert same_bits(kernel(*arrays, threads=threads), expected)
    held = kernel_from_function(motion, SHAPES, precision=precision, threads=threads)
    assert same_bits(held(*arrays), expected)
    out = np.empty_like(expected)
    assert held(*arrays, out=out) is out
    assert same_bits(out, expected)
    for few in (0, 1, 5):
        assert same_bits(held(*(a[:few] for a in arrays)), expected[:few])


def test_arguments_without_a_batch_go_to_every_robot(kernel: Kernel, precision: str) -> None:
    q, v, gain = states(23, precision)
    alone = kernel(q[0], v[0], gain[0])
    assert alone.shape == (3, 3)
    assert same_bits(alone, kernel(q[:1], v[:1], gain[:1])[0]), "one robot is a batch of one"
    expected = kernel(q, np.tile(v[4], (23, 1)), np.full(23, gain[4]))
    assert same_bits(kernel(q, v[4], gain[4]), expected)
    assert same_bits(kernel(q, v[4], float(gain[4])), expected)
    out = np.empty_like(expected)
    kernel(q, v[4], gain[4:5].reshape(()), out=out)
    assert same_bits(out, expected)
    assert same_bits(kernel(q[4], v, gain), kernel(np.tile(q[4], (23, 1)), v, gain))


def test_a_nan_stays_with_its_robot(kernel: Kernel, precision: str) -> None:
    arrays = states(29, precision)
    expected = kernel(*arrays)
    for bad, where in ((np.nan, 0), (np.inf, 13), (-np.inf, 28), (1e30, 7)):
        spoiled = [a.copy() for a in arrays]
        spoiled[0][where, 1] = bad
        found = kernel(*spoiled)
        others = np.arange(29) != where
        assert same_bits(found[others], expected[others])
        assert not same_bits(found[where], expected[where])


def test_keyword_arguments(kernel: Kernel, precision: str) -> None:
    q, v, gain = states(5, precision)
    expected = kernel(q, v, gain)
    assert same_bits(kernel(q, gain=gain, v=v), expected)
    out = np.empty_like(expected)
    assert kernel(gain=gain, v=v, q=q, out=out) is out
    assert same_bits(out, expected)


def test_numbers_lists_and_other_types_are_converted(kernel: Kernel, precision: str) -> None:
    expected = kernel(np.array([1, 2, 3], precision), np.array([0, 1, 0], precision), np.array(2, precision))
    for q in ([1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3]), np.array([1, 2, 3], np.float16), range(1, 4)):
        assert same_bits(kernel(q, np.array([False, True, False]), 2), expected)
    other = "float32" if precision == "float64" else "float64"
    assert same_bits(kernel(np.array([1, 2, 3], other), [0, 1, 0], 2.0), expected)
    assert same_bits(kernel(np.array([1, 2, 3], ">f8"), [0, 1, 0], np.int64(2)), expected)


def test_inputs_of_any_layout(kernel: Kernel, precision: str) -> None:
    q, v, gain = states(12, precision)
    expected = kernel(q, v, gain)
    wide = np.zeros((12, 9), precision)
    wide[:, 2:5] = q
    packed = np.zeros(12, dtype=[("flag", "i1"), ("q", precision, 3)])  # at odd addresses
    packed["q"] = q
    variants = [np.asfortranarray(q), wide[:, 2:5], q[::-1].copy()[::-1], np.repeat(q, 2, axis=1)[:, ::2], packed["q"]]
    for variant in variants:
        assert not (variant.flags.c_contiguous and variant.flags.aligned)
        assert same_bits(kernel(variant, v, gain), expected)
        assert same_bits(kernel(variant, v, gain, out=np.empty_like(expected)), expected)


def test_out_without_copies(kernel: Kernel, precision: str) -> None:
    arrays = states(21, precision)
    expected = kernel(*arrays)
    wide, long = np.full((21, 5, 3), 7, precision), np.empty((42, 3, 3), precision)
    for out in (np.empty_like(expected), wide[:, 1:4], long[::2], np.empty_like(expected)[::-1]):
        assert kernel(*arrays, out=out) is out
        assert same_bits(out, expected)
    assert (wide[:, [0, 4]] == 7).all(), "the gaps between rows are not touched"
    single = np.empty((3, 3), precision)
    assert kernel(*(a[3] for a in arrays), out=single) is single
    assert same_bits(single, expected[3])
    nothing = np.empty((0, 3, 3), precision)
    assert kernel(*(a[:0] for a in arrays), out=nothing) is nothing


def test_in_place(precision: str) -> None:
    kernel = kernel_from_function(lambda x, y: ([x[1] + y[0], x[2], x[0]], [y[1], y[0] * x[0]]), {"x": (3,), "y": (2,)},
                                  precision=precision)  # fmt: skip
    x, y = (np.random.default_rng(2).normal(size=(19, n)).astype(precision) for n in (3, 2))
    expected = kernel(x, y)
    for threads in (None, 2):
        a, b = x.copy(), y.copy()
        kernel(a, b, out=(a, b), threads=threads)
        assert same_bits(a, expected[0])
        assert same_bits(b, expected[1])


class Pair(NamedTuple):
    """Two results with names."""

    total: list
    product: object


@pytest.mark.parametrize("function, check", [
    (lambda x: x[0], lambda r: isinstance(r, np.ndarray) and r.shape == (4,)),
    (lambda x: x, lambda r: r.shape == (4, 2)),
    (lambda x: [x, x, [x[0], 1]], lambda r: r.shape == (4, 3, 2)),
    (lambda x: np.array([x, x], dtype=object), lambda r: r.shape == (4, 2, 2)),
    (lambda x: (x, x[0]), lambda r: type(r) is tuple and r[0].shape == (4, 2) and r[1].shape == (4,)),
    (lambda x: (x[0],), lambda r: type(r) is tuple and len(r) == 1),
    (lambda x: Pair(x, x[0] * x[1]), lambda r: type(r) is Pair and r.total.shape == (4, 2) and r.product.shape == (4,)),
    (lambda x: 3, lambda r: (r == 3).all() and r.shape == (4,)),
    (lambda x: x[0] < 0, lambda r: set(r.tolist()) <= {0.0, 1.0}),
    (lambda x: [], lambda r: r.shape == (4, 0)),
    (lambda x: (), lambda r: r == ()),
])  # fmt: skip
def test_kinds_of_results(function: Callable, check: Callable) -> None:
    kernel = kernel_from_function(function, {"x": (2,)})
    x = np.random.default_rng(3).normal(size=(4, 2))
    result = kernel(x)
    assert check(result)
    parts = result if isinstance(result, tuple) else (result,)
    outs = tuple(np.empty_like(p) for p in parts)
    kernel(x, out=outs if isinstance(result, tuple) else outs[0])
    assert all(same_bits(a, b) for a, b in zip(outs, parts, strict=True))


def test_names_of_results() -> None:
    kernel = kernel_from_function(lambda x: Pair(x, x[0] * x[1]), {"x": (2,)})
    out = Pair(np.empty((4, 2)), np.empty(4))
    x = np.ones((4, 2))
    assert kernel(x, out=out) is out
    assert kernel(x, out=list(out))[0].tolist() == x.tolist()
    # they keep out of the way of inputs
    kernel = kernel_from_function(lambda a, b: (a + b, a - b), {"result0": (), "result0_": ()})
    assert list(kernel.outputs) == ["result0__", "result1"]
    assert [float(r) for r in kernel(3, 1)] == [4, 2]
    kernel = kernel_from_function(lambda total, x: Pair([total, x], total * x), {"total": (), "x": ()})
    assert list(kernel.outputs) == ["total_", "product"]
    assert kernel(2, 3).product == 6


def test_no_inputs_empty_ones_many_and_nested_ones() -> None:
    assert kernel_from_function(lambda: [1.5, 2], {})().tolist() == [1.5, 2]
    kernel = kernel_from_function(lambda x, y: y + len(x), {"x": (0,), "y": ()})
    assert kernel(np.zeros((3, 0)), np.arange(3.0)).tolist() == [0, 1, 2]
    assert kernel([], 4) == 4
    # more than the short way in takes
    kernel = kernel_from_function(lambda *x: sum(x), {f"x{k}": () for k in range(80)})
    assert kernel(*range(80), out=np.empty(())) == sum(range(80))
    kernel = kernel_from_function(lambda m: [[m[j][i] for j in range(2)] for i in range(3)], {"m": (2, 3)})
    m = np.random.default_rng(4).normal(size=(5, 2, 3))
    assert same_bits(kernel(m), m.transpose(0, 2, 1).copy())


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def unaligned(array: np.ndarray) -> np.ndarray:
    return np.zeros(len(array), dtype=[("flag", "i1"), ("o", array.dtype, array.shape[1:])])["o"]


WRONG = [
    ("q", lambda q: q[:, :2], r"q has shape \(4, 2\); it takes \(3,\) or \(batch, 3\)"),
    ("q", lambda q: q[None], r"q has shape \(1, 4, 3\); it takes \(3,\) or \(batch, 3\)"),
    ("q", lambda q: 1.0, r"q has shape \(\); it takes \(3,\) or \(batch, 3\)"),
    ("gain", lambda g: g[:, None], r"gain has shape \(4, 1\); it takes a number or \(batch,\)"),
    ("v", lambda v: v[:3], r"q has 4 robots but v has 3; give each array the same batch"),
    ("q", lambda q: q * 1j, r"q has type complex\d+, which is not a real number; give it as float"),
    ("v", lambda v: ["a"] * 3, r"v has type <U1, which is not a real number"),
    ("q", lambda q: q.astype(object), r"q has type object, which is not a real number"),
    ("q", lambda q: None, r"q has type object"),
    ("q", lambda q: [[1, 2, 3], [4]], r"q is not an array; it takes \(3,\) or \(batch, 3\)"),
    ("out", lambda o: o[:3], r"out for result has shape \(3, 3, 3\); this call makes \(4, 3, 3\)"),
    ("out", lambda o: o.astype(int), r"out for result has type int64; it must be float"),
    ("out", lambda o: o.tolist(), r"out for result is a list; it must be a NumPy array"),
    ("out", read_only, r"out for result is read-only; it must be writable"),
    ("out", lambda o: o.transpose(0, 2, 1), r"out for result must hold each robot's numbers"),
    ("out", unaligned, r"out for result must lie at addresses"),
    ("threads", lambda _: 0, r"motion: threads is 0; it takes 1 or more"),
]


@pytest.mark.parametrize("field, change, message", WRONG)
def test_errors_name_the_array_and_what_was_expected(
    kernel: Kernel, precision: str, field: str, change: Callable, message: str
) -> None:
    given: dict = dict(zip(SHAPES, states(4, precision), strict=True))
    given[field] = change(np.zeros((4, 3, 3), precision) if field == "out" else given.get(field))
    with pytest.raises(KernelError, match=message) as caught:
        kernel(given.pop("q"), given.pop("v"), given.pop("gain"), **given)
    assert "motion" in str(caught.value)
    assert (caught.value.subject, caught.value.field) == ("motion", field)


@pytest.mark.parametrize("call, subject, field, message", [
    (lambda k, q, v, g: k(q, v, g, g), "motion", "", r"motion\(q, v, gain\) takes 3 arrays, got 4"),
    (lambda k, q, v, g: k(q), "motion", "v", r"motion\(q, v, gain\) lacks v, gain"),
    (lambda k, q, v, g: k(), "motion", "q", r"motion\(q, v, gain\) lacks q, v, gain"),
    (lambda k, q, v, g: k(q, v), "motion", "gain", r"motion\(q, v, gain\) lacks gain"),
    (lambda k, q, v, g: k(q, v, g, q=q), "motion", "q", r"motion\(q, v, gain\) got 'q' twice"),
    (lambda k, q, v, g: k(q, v, gian=g), "argument 'gian'", "argument",
     r"no argument named 'gian' in motion\(q, v, gain\); did you mean 'gain'"),
    (lambda k, q, v, g: k(q[0], v[0], g[0], out=np.zeros((4, 3, 3), q.dtype)), "motion", "out",
     r"motion.*shape \(4, 3, 3\); this call makes \(3, 3\)"),
])  # fmt: skip
def test_errors_of_whole_calls(
    kernel: Kernel, precision: str, call: Callable, subject: str, field: str, message: str
) -> None:
    with pytest.raises(KernelError, match=message) as caught:
        call(kernel, *states(4, precision))
    assert (caught.value.subject, caught.value.field) == (subject, field)


@pytest.mark.parametrize("out, message", [
    (np.empty(2), r"out needs a tuple of 2 arrays \(result0, result1\), got a ndarray"),
    (5, r"out needs a tuple of 2 arrays \(result0, result1\), got a int"),
    ((np.empty(2),), r"out needs a tuple of 2 arrays \(result0, result1\), got 1"),
    ((np.empty(2), None), r"out for result1 is a NoneType; it must be a NumPy array"),
    ((np.empty(2), np.empty(3)), r"out for result1 has shape \(3,\); this call makes \(\)"),
])  # fmt: skip
def test_errors_of_out_for_several_results(out, message: str) -> None:
    kernel = kernel_from_function(lambda x: (x, x[0]), {"x": (2,)})
    with pytest.raises(KernelError, match=message):
        kernel([1.0, 2.0], out=out)


@pytest.mark.parametrize("function, message", [
    (lambda x: None, "cannot use None"),
    (lambda x: "text", "cannot use 'text'"),
    (lambda x: [x, [x, x]], "a list with parts of different shapes"),
    (lambda x: math.sin(x), "has no number while tracing"),
    (lambda x: x if x > 0 else 0, "use pliant.math.select"),
])  # fmt: skip
def test_functions_that_cannot_be_traced(function: Callable, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        kernel_from_function(function, {"x": ()})


def test_a_kernel_cannot_be_pickled_or_copied_and_is_freed(kernel: Kernel) -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(KernelError, match="cannot be pickled or copied; make it again where you need it"):
            attempt(kernel)
    # it is freed when nobody holds it
    held = kernel_from_function(lambda x: x * 3, {"x": ()})
    memory = weakref.ref(held._code)
    assert held(2.0) == 6
    del held
    gc.collect()
    assert memory() is None


def test_calls_hold_on_to_nothing_and_results_are_the_callers_own(kernel: Kernel, precision: str) -> None:
    first = kernel(*states(3, precision))
    kept = first.copy()
    kernel(*states(3, precision, seed=5))
    assert same_bits(first, kept)
    arrays = [*states(4, precision), np.empty((4, 3, 3), precision)]
    before = [sys.getrefcount(a) for a in arrays]
    for _ in range(100):
        kernel(*arrays[:3], out=arrays[3])
        kernel(*arrays[:3])
    assert [sys.getrefcount(a) for a in arrays] == before


def test_attributes_and_repr(kernel: Kernel, precision: str) -> None:
    assert kernel.name == "motion"
    assert kernel.inputs == SHAPES
    assert kernel.outputs == {"result": (3, 3)}
    assert kernel.precision == precision
    assert kernel.threads == 1
    assert kernel.lanes >= 2
    assert repr(kernel) == f"Kernel motion(q[3], v[3], gain[]) -> result[3, 3], {precision}, {kernel.lanes} lanes"
    assert kernel_from_function(motion, SHAPES, name="other").name == "other"
    counts = kernel.operations()
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    assert sum(counts.values()) == sum(sum(b.count().values()) for b in kernel.assembly.blocks)


@pytest.mark.parametrize("stage, contents", {
    "summary": ["Kernel motion(", "nodes, folded and interned", "instructions: ", "workspace slots", "processor"],
    "graph": ["graph:", "block 0", "sin(q[0])", "result[8] <- %"],
    "llvm": ["LLVM:", "target triple", "define void @run(", "@piece0("],
    "assembly": ["assembly:", "run:"],
}.items())  # fmt: skip
def test_show(kernel: Kernel, capsys: pytest.CaptureFixture, stage: str, contents: list[str]) -> None:
    kernel.show(stage, lines=None)
    shown = capsys.readouterr().out
    assert all(c in shown for c in contents)
    kernel.show("all", lines=None)
    assert shown.strip() in capsys.readouterr().out
    kernel.show(stage, lines=3)
    short = capsys.readouterr().out.splitlines()
    assert short[:3] == shown.splitlines()[:3]
    assert "more lines (show(..., lines=None) prints them)" in short[3]


def test_show_defaults_to_the_summary(kernel: Kernel, capsys: pytest.CaptureFixture) -> None:
    kernel.show()
    assert capsys.readouterr().out.startswith("Kernel motion(")
    with pytest.raises(KernelError, match="no stage named 'ast'; there are summary, graph, llvm, assembly and all"):
        kernel.show("ast")


# ---- few robots: narrow vectors


@pytest.mark.parametrize("batch", [1, 3, 8, 33])
def test_any_number_of_lanes_gives_the_same_bits(kernel: Kernel, precision: str, batch: int) -> None:
    program, shapes, _ = program_from_function(motion, SHAPES)
    arrays = states(batch, precision)
    for lanes in (2**k for k in range(kernel.lanes.bit_length())):
        narrow = Kernel(program, SHAPES, shapes, precision=precision, lanes=lanes)
        assert narrow.lanes == lanes
        assert f"{lanes} lanes" in repr(narrow)
        assert same_bits(narrow(*arrays), kernel(*arrays))
        assert same_bits(narrow(*arrays, threads=3), kernel(*arrays))


def test_lanes_for_few_robots(kernel: Kernel, precision: str) -> None:
    """As many as there are robots, in vectors of 16 bytes at least and of the processor's width at most."""
    least, most = min(kernel.lanes, 16 // np.dtype(precision).itemsize), kernel.lanes
    for robots in range(1, 3 * most):
        lanes = lanes_for(robots, precision)
        assert least <= lanes <= most
        assert lanes >= min(robots, most)
        assert lanes == least or lanes // 2 < robots
    with pytest.raises(KernelError, match="unknown precision 'half'"):
        lanes_for(3, "half")


@pytest.mark.parametrize("lanes", [0, -2, 3, 6, 1.0, "2", True, 1024])
def test_lanes_that_no_processor_has(lanes: object) -> None:
    program, shapes, _ = program_from_function(motion, SHAPES)
    with pytest.raises(KernelError, match="it takes a power of two up to") as caught:
        Kernel(program, SHAPES, shapes, name="motion", lanes=lanes)  # type: ignore[arg-type]
    assert (caught.value.subject, caught.value.field) == ("motion", "lanes")


class TestDoorway:
    """The short way in: the same results, and everything else is left to the long way."""

    def test_is_open_here(self) -> None:
        assert calls.is_open()

    def test_gives_the_same_as_the_long_way(self, kernel: Kernel, precision: str) -> None:
        for batch in (1, 3, 17, 200):
            arrays = states(batch, precision)
            short, long = (np.empty((batch, 3, 3), precision) for _ in range(2))
            assert kernel.enter is not None
            assert kernel.enter(*arrays, short) is True
            kernel._call(tuple(arrays), {}, long, 1)
            assert same_bits(short, long)

    @pytest.mark.parametrize("change", [
        lambda q, v, g, o: (q, v, g), lambda q, v, g, o: (q, v, g, o, o), lambda q, v, g, o: (),
        lambda q, v, g, o: (q.tolist(), v, g, o), lambda q, v, g, o: (None, v, g, o), lambda q, v, g, o: (1.0, v, g, o),
        lambda q, v, g, o: (q.astype("int64"), v, g, o), lambda q, v, g, o: (q.astype(q.dtype.newbyteorder()), v, g, o),
        lambda q, v, g, o: (q.astype("float16"), v, g, o), lambda q, v, g, o: (q.view(np.matrix), v, g, o),
        lambda q, v, g, o: (q[:, :2], v, g, o),
        lambda q, v, g, o: (q[:3], v, g, o), lambda q, v, g, o: (q[None], v, g, o),
        lambda q, v, g, o: (q[0, 0], v, g, o), lambda q, v, g, o: (np.asfortranarray(q), v, g, o),
        lambda q, v, g, o: (np.repeat(q, 2, 1)[:, ::2], v, g, o), lambda q, v, g, o: (unaligned(q), v, g, o),
        lambda q, v, g, o: (q, v, g, o[:3]),
        lambda q, v, g, o: (q, v, g, o[0]), lambda q, v, g, o: (q, v, g, read_only(o)),
        lambda q, v, g, o: (q[0], v[0], g[:1].reshape(()), o), lambda q, v, g, o: (q, v, g, o.transpose(0, 2, 1)),
        lambda q, v, g, o: (q, v, g, o.ravel()), lambda q, v, g, o: (q, v, g, unaligned(o)),
    ])  # fmt: skip
    @pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
    def test_refuses_what_does_not_fit_and_touches_nothing(
        self, kernel: Kernel, precision: str, change: Callable
    ) -> None:
        out = np.full((4, 3, 3), 7, precision)
        assert kernel.enter is not None
        assert kernel.enter(*change(*states(4, precision), out)) is False
        assert (out == 7).all()

    def test_takes_what_fits_as_it_is(self, kernel: Kernel, precision: str) -> None:
        q, v, g = states(6, precision)
        assert kernel.enter is not None
        for rows in (np.repeat(q, 2, 0)[::2], q[::-1].copy()[::-1], np.hstack([q, q])[:, 3:], q[0]):
            assert kernel.enter(rows, v, g, np.empty((6, 3, 3), precision)) is True

    @pytest.mark.parametrize("size", [0, 1])
    def test_strides_of_what_has_no_neighbour_may_be_anything(self, size: int, precision: str) -> None:
        kernel = kernel_from_function(lambda a, b: [a[0] + sum(b)], {"a": (2,), "b": (size,)}, precision=precision)
        assert kernel.enter is not None
        for b in (
            np.ones(size, precision),
            np.ones((4, 3), precision)[1, :size],
            np.ones((3, 4), precision).T[0, :size],
        ):
            out = np.zeros((5, 1), precision)
            assert kernel.enter(np.ones((5, 2), precision), b, out) is True
            assert out.ravel().tolist() == [1 + size] * 5

    def test_everything_works_when_it_is_closed(self, precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
        opened = kernel_from_function(motion, SHAPES, precision=precision)
        monkeypatch.setattr(calls, "is_open", lambda: False)
        closed = kernel_from_function(motion, SHAPES, precision=precision)
        assert closed.enter is None
        arrays = states(30, precision)
        outs = [np.empty((30, 3, 3), precision) for _ in range(2)]
        assert closed(*arrays, out=outs[0]) is outs[0]
        opened(*arrays, out=outs[1])
        assert same_bits(*outs)
        assert same_bits(closed(*arrays), outs[0])
        with pytest.raises(KernelError, match="out for result has shape"):
            closed(*arrays, out=np.empty((2, 3, 3), precision))

    def test_stays_closed_where_arrays_look_otherwise(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert calls.is_open.__wrapped__()
        monkeypatch.setattr(calls.ctypes, "sizeof", lambda kind: 4)
        assert not calls.is_open.__wrapped__()
