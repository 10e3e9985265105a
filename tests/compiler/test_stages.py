"""Stages of a program, and loops around them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native_code import Native, kernel_of, same_bits
from pliant.compiler import Loop, Program
from pliant.compiler.tracing import Stages
from pliant.errors import TraceError
from pliant.scalar import Expr, select, sin


def run(program: Program, *inputs: np.ndarray, width: int = 4) -> np.ndarray:
    """All outputs side by side."""
    return np.hstack(Native(program, width)(*inputs))


def by_a_record(first, second, y: int = 1) -> Program:
    """From x to a record by the first function, from record and x to y by the second."""
    stages = Stages(x=2, y=y)
    stages.add(first, ("x",), ("record",))
    stages.add(second, ("record", "x"), ("y",))
    return stages.program(("x",), ("y",))


X = np.random.default_rng(0).normal(size=(11, 2))

# ---- records


def test_a_record_travels_with_its_nesting() -> None:
    seen = {}

    def first(x):
        return {
            "sum": x[0] + x[1],
            "parts": [x[0], {"both": (x[0], x[1]), "none": None}],
            7: np.array([x[1], 2 * x[0]]),
        }

    def second(record, x):
        seen.update(record)
        return [record["sum"] + record["parts"][1]["both"][1] * record[7][1]]

    found = run(by_a_record(first, second), X)
    np.testing.assert_allclose(found[:, 0], X[:, 0] + X[:, 1] + 2 * X[:, 1] * X[:, 0], rtol=1e-14)
    assert list(seen) == ["sum", "parts", 7]
    assert seen["parts"][1]["none"] is None
    assert all(isinstance(e, Expr) for e in (seen["sum"], seen["parts"][0], *seen[7]))


def test_constants_fold_across_stages() -> None:
    """What came out constant is a number for those that read it: zero and one are integers, as in formulas."""
    seen = []

    def first(x):
        return {"zero": x[0] - x[0], "one": 1.0, "half": 0.5, "true": select(1 > 0, 1, 0), "x": x[0]}

    def second(record, x):
        seen.append(record)
        return [record["zero"] * sin(x[1]) + record["one"] * x[0] + record["half"]]

    program = by_a_record(first, second)
    numbers = [(x, type(x)) for x in list(seen[0].values())[:4]]
    assert numbers == [(0, int), (1, int), (0.5, float), (1, int)]
    assert program.variables["record"] == 1, "constants take no place"
    assert "sin" not in kernel_of(program).operations()
    np.testing.assert_allclose(run(program, X)[:, 0], X[:, 0] + 0.5, rtol=1e-15)


def test_equal_scalars_share_their_place() -> None:
    program = by_a_record(
        lambda x: [x[0] * x[1], x[1] * x[0], {"again": x[0] * x[1], "other": x[0]}],
        lambda r, x: [r[0] + 1, r[1] + 2, r[2]["again"] + r[2]["other"]],
        y=3,
    )
    assert program.variables["record"] == 2
    product = X[:, 0] * X[:, 1]
    np.testing.assert_allclose(run(program, X), np.stack([product + 1, product + 2, product + X[:, 0]], 1), rtol=1e-14)


def test_conditions_in_records_are_numbers() -> None:
    program = by_a_record(lambda x: {"positive": x[0] > 0}, lambda r, x: [2 * r["positive"]])
    assert run(program, X)[:, 0].tolist() == (2.0 * (X[:, 0] > 0)).tolist()


def test_an_empty_record() -> None:
    program = by_a_record(lambda x: {"nothing": [], "number": 3}, lambda r, x: [r["number"] * x[0]])
    assert program.variables["record"] == 0
    np.testing.assert_allclose(run(program, X)[:, 0], 3 * X[:, 0])
    # and a variable of no size
    stages = Stages(x=2, none=0, y=1)
    stages.add(lambda x, none: ([], [x[0] + len(none)]), ("x", "none"), ("none", "y"))
    np.testing.assert_array_equal(run(stages.program(("x",), ("y",)), X)[:, 0], X[:, 0])


def test_variables_are_written_again_and_again() -> None:
    stages = Stages(x=2)
    stages.variable("sum", 1)
    for k in range(3):
        stages.add(lambda x, s, k=k: [s[0] + k * x[0]], ("x", "sum"), ("sum",))
    stages.add(lambda x: (x[1], x[0]), ("x",), ("x",))
    found = run(stages.program(("x",), ("sum", "x")), X)
    np.testing.assert_allclose(found, np.stack([3 * X[:, 0], X[:, 1], X[:, 0]], 1), rtol=1e-14)
    assert "sum" in stages
    assert "total" not in stages


def test_variables_that_are_scratch() -> None:
    stages = Stages(x=2)
    stages.variable("between", 1, is_scratch=True)
    stages.add(lambda x: [x[0] * x[1]], ("x",), ("between",))
    stages.add(lambda x, between: [between[0] + 1, x[1]], ("x", "between"), ("x",))
    program = stages.program(("x",), ("x",))
    assert program.scratch == ("between",)
    np.testing.assert_allclose(run(program, X), np.stack([X[:, 0] * X[:, 1] + 1, X[:, 1]], 1), rtol=1e-14)


# ---- what does not fit


@pytest.mark.parametrize("make, message", [
    (lambda s: s.add(lambda a: [0], ("nothing",), ("y",)),
     "a stage reads 'nothing', which is neither a variable nor written by an earlier"),
    (lambda s: s.add(lambda x: [x[0], x[1]], ("x",), ("y",)), "a stage writes 2 scalars to 'y', which has 1"),
    (lambda s: s.add(lambda x: [], ("x",), ("y",)), "a stage writes 0 scalars to 'y', which has 1"),
    (lambda s: [s.add(lambda x: {}, ("x",), ("r",)) for _ in range(2)], "two stages write the record 'r'; declare it"),
    (lambda s: s.variable("x", 3), "there is a variable 'x' already"),
    (lambda s: s.program(("z",), ("y",)), "inputs uses the variable 'z'"),
    (lambda s: s.program(("x",), ("y",), scratch=("y",)), "'y' is an array of the program, so it cannot be scratch"),
])  # fmt: skip
def test_wrong_stages(make, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        make(Stages(x=2, y=1))


def test_a_record_is_read_after_it_is_written() -> None:
    stages = Stages(x=2, y=1)
    with pytest.raises(TraceError, match="a stage reads 'later'"):
        stages.add(lambda later: [later], ("later",), ("y",))
    stages.add(lambda x: {"a": x[0]}, ("x",), ("later",))
    stages.add(lambda later: [later["a"]], ("later",), ("y",))
    np.testing.assert_array_equal(run(stages.program(("x",), ("y",)), X)[:, 0], X[:, 0])


# ---- loops around stages against plain Python: robots that do not enter, or leave early, keep what they have


def test_loops_around_stages() -> None:
    stages = Stages(x=2, n=1, done=1)
    stages.add(lambda x: {"step": x[1] * x[1]}, ("x",), ("record",))
    with stages.loop(10, until="done"):
        stages.add(lambda r, n: [n[0] + r["step"]], ("record", "n"), ("n",))
        with stages.loop(2):
            stages.add(lambda n: [n[0] * 1.5], ("n",), ("n",))
        stages.add(lambda n: [n[0] > 4], ("n",), ("done",))

    def in_python(step: float) -> float:
        n = 0.0
        for _ in range(10):
            n = (n + step) * 1.5 * 1.5
            if n > 4:
                break
        return n

    found = run(stages.program(("x",), ("n",)), X)
    np.testing.assert_allclose(found[:, 0], [in_python(x * x) for x in X[:, 1]], rtol=1e-14)


def test_a_loop_without_stages_is_none() -> None:
    stages = Stages(x=2)
    with stages.loop(5):
        pass
    assert stages.program(("x",), ("x",)).body == ()
    stages.extend([Loop((), 3)])
    assert len(stages.program(("x",), ("x",)).body) == 1


def entered(count: int) -> Program:
    """Robots with x[0] > 0 double y and make a record; the others keep y, and must not look at the record."""
    stages = Stages(x=2, y=1, open=1, out=2)
    stages.add(lambda x: ([x[1]], [x[0] > 0]), ("x",), ("y", "open"))
    with stages.loop(count, when="open"):
        stages.add(lambda y: [2 * y[0]], ("y",), ("y",))
    with stages.loop(1, when="open"):
        stages.add(lambda x, y: {"list": [sin(x[k]) + y[0] for k in range(2)]}, ("x", "y"), ("r",))
    stages.add(lambda o, y, r: [y[0], select(o[0] > 0, r["list"][-1], -1)], ("open", "y", "r"), ("out",))
    return stages.program(("x",), ("out",))


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_robots_that_do_not_enter_keep_their_values(width: int, count: int) -> None:
    """All patterns of four neighbours, next to each other."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=4))).reshape(-1)
    x = np.stack([signs, np.linspace(-3, 3, len(signs))], axis=1)
    found = run(entered(count), x, width=width)
    y = x[:, 1] * np.where(signs > 0, 2.0**count, 1)
    assert found[:, 0].tolist() == y.tolist()
    np.testing.assert_allclose(found[:, 1], np.where(signs > 0, np.sin(x[:, 1]) + y, -1), rtol=1e-14, atol=1e-15)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 21), st.sampled_from([1, 2, 4, 8]))
def test_stages_at_random(seed: int, batch: int, width: int) -> None:
    """Random nests of loops with `when` and `until`, against the same in Python, one robot at a time."""
    rng = np.random.default_rng(seed)
    script = _script(rng, depth=0)
    stages = Stages(x=4, flag=1)
    _add(stages, script, itertools.count())
    x = rng.integers(-4, 5, (batch, 4)).astype(float)
    found = Native(stages.program(("x",), ("x",)), width)(x)[0]
    expected = np.array([_interpreted(script, row.tolist()) for row in x])
    assert same_bits(found + 0.0, expected + 0.0)  # whole numbers: exact; minus zero is zero


# ---- a small language: ("step", a, b, c), ("when", a, count, body), ("until", a, bound, count, body)


def _script(rng: np.random.Generator, depth: int) -> list:
    made = []
    for _ in range(rng.integers(1, 4)):
        kind = rng.choice(["step", "when", "until"]) if depth < 3 else "step"
        a, b, c = rng.integers(0, 4, 3).tolist()
        if kind == "step":
            made.append(("step", a, b, c))
        elif kind == "when":
            made.append(("when", a, int(rng.integers(0, 3)), _script(rng, depth + 1)))
        else:
            made.append(("until", a, int(rng.integers(-3, 4)), int(rng.integers(0, 4)), _script(rng, depth + 1)))
    return made


def _changed(x, a: int, b: int, c: int) -> list:
    """Bounded whole numbers."""
    new = list(x)
    new[a] = select(x[b] > x[c], x[a] - 3, x[b] + 1)
    new[a] = select(new[a] < -9, 4, new[a])
    return new


def _add(stages: Stages, script: list, names) -> None:
    for kind, a, *rest in script:
        if kind == "step":
            b, c = rest
            record = f"record {next(names)}"
            stages.add(lambda x, a=a, b=b, c=c: {"new": _changed(x, a, b, c)}, ("x",), (record,))
            stages.add(lambda r: r["new"], (record,), ("x",))
            continue
        flag = stages.variable(f"flag {next(names)}", 1)
        if kind == "when":
            count, body = rest
            stages.add(lambda x, a=a: [x[a] > 0], ("x",), (flag,))
            with stages.loop(count, when=flag):
                _add(stages, body, names)
        else:
            bound, count, body = rest
            with stages.loop(count, until=flag):
                _add(stages, body, names)
                stages.add(lambda x, a=a, bound=bound: [x[a] > bound], ("x",), (flag,))


def _interpreted(script: list, x: list) -> list:
    for kind, a, *rest in script:
        if kind == "step":
            x = _changed(x, a, *rest)
        elif kind == "when":
            count, body = rest
            if x[a] > 0:
                for _ in range(count):
                    x = _interpreted(body, x)
        else:
            bound, count, body = rest
            for _ in range(count):
                x = _interpreted(body, x)
                if x[a] > bound:
                    break
    return x
