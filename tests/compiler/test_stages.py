"""Stages of a program: variables, records, and constants that fold from one to the next."""

import numpy as np
import pytest

from native_code import Native
from pliant.compiler import Kernel
from pliant.compiler.program import Program
from pliant.compiler.tracing import Stages
from pliant.errors import TraceError
from pliant.scalar import Expr, select, sin


def run(program: Program, *inputs: np.ndarray, width: int = 4) -> np.ndarray:
    """All outputs side by side."""
    return np.hstack(Native(program, width)(*inputs))


def kernel(program: Program) -> Kernel:
    shapes = {n: (s,) for n, s in program.variables.items()}
    return Kernel(program, {n: shapes[n] for n in program.inputs}, {n: shapes[n] for n in program.outputs})


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

    def second(record):
        seen.update(record)
        return [record["sum"] + record["parts"][1]["both"][1] * record[7][1]]

    stages = Stages(x=2, y=1)
    stages.add(first, ("x",), ("record",))
    stages.add(second, ("record",), ("y",))
    found = run(stages.program(("x",), ("y",)), X)
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

    stages = Stages(x=2, y=1)
    stages.add(first, ("x",), ("record",))
    stages.add(second, ("record", "x"), ("y",))
    record = seen[0]
    assert [(record[k], type(record[k])) for k in ("zero", "one", "half", "true")] == [
        (0, int), (1, int), (0.5, float), (1, int),
    ]  # fmt: skip
    program = stages.program(("x",), ("y",))
    assert program.variables["record"] == 1, "constants take no place"
    assert "sin" not in kernel(program).operations()
    np.testing.assert_allclose(run(program, X)[:, 0], X[:, 0] + 0.5, rtol=1e-15)


def test_equal_scalars_share_their_place() -> None:
    stages = Stages(x=2, y=3)
    stages.add(lambda x: [x[0] * x[1], x[1] * x[0], {"again": x[0] * x[1], "other": x[0]}], ("x",), ("record",))
    stages.add(lambda r: [r[0] + 1, r[1] + 2, r[2]["again"] + r[2]["other"]], ("record",), ("y",))
    program = stages.program(("x",), ("y",))
    assert program.variables["record"] == 2
    product = X[:, 0] * X[:, 1]
    np.testing.assert_allclose(run(program, X), np.stack([product + 1, product + 2, product + X[:, 0]], 1), rtol=1e-14)


def test_conditions_in_records_are_numbers() -> None:
    stages = Stages(x=2, y=1)
    stages.add(lambda x: {"positive": x[0] > 0}, ("x",), ("record",))
    stages.add(lambda r: [2 * r["positive"]], ("record",), ("y",))
    assert run(stages.program(("x",), ("y",)), X)[:, 0].tolist() == (2.0 * (X[:, 0] > 0)).tolist()


def test_an_empty_record() -> None:
    stages = Stages(x=2, y=1)
    stages.add(lambda x: {"nothing": [], "number": 3}, ("x",), ("record",))
    stages.add(lambda r, x: [r["number"] * x[0]], ("record", "x"), ("y",))
    program = stages.program(("x",), ("y",))
    assert program.variables["record"] == 0
    np.testing.assert_allclose(run(program, X)[:, 0], 3 * X[:, 0])


def test_variables_of_no_size() -> None:
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
