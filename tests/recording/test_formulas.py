"""Functions that are kept as formulas compute the same, on every scalar."""

import pickle

import numpy as np
import pytest
import sympy

import pliant
from pliant.recording.formulas import Formula
from pliant.recording.source import ground_of, ground_parts
from pliant.robot.part_checks import law_text


def law(x):
    unused = x * 2  # a node that the result does not need comes first in the trace
    del unused
    return pliant.math.select(x > 0.1, 3 * x * x, pliant.math.sin(x) / (2 + x)) + 2 * pliant.math.minimum(x, 1)


def again(formula: Formula) -> Formula:
    return Formula.from_plain(formula.to_plain(), [table.numbers for table in formula.tables])


def test_same_on_every_scalar() -> None:
    made = again(Formula.of(law, ("x",)))
    x = np.linspace(-1, 2, 31)
    assert made(x).tobytes() == Formula.of(law, ("x",))(x).tobytes()
    # folding divides by a constant as it multiplies by the inverse, so the last bit may differ from plain Python
    assert np.allclose(made(x), [law(float(a)) for a in x], rtol=1e-15, atol=0)
    symbol = sympy.Symbol("x", real=True)
    assert float(made(symbol).subs(symbol, 0.5)) == pytest.approx(law(0.5), rel=1e-15)
    assert law_text(made) == law_text(law), "traced, it is the very graph of the function"
    assert pickle.loads(pickle.dumps(made))(0.3) == made(0.3)


def test_results_that_are_arguments_or_numbers() -> None:
    assert again(Formula.of(lambda u, q, v, t: u, "uqvt"))(1.5, 2, 3, 4) == 1.5
    assert again(Formula.of(lambda x, y: 0.25, ("x", "y")))(1, 2) == 0.25
    assert again(Formula.of(lambda x: x + float("inf"), ("x",)))(1.0) == float("inf")
    with pytest.raises(TypeError, match="takes 1 arguments, x"):
        Formula.of(law, ("x",))(1, 2)


GROUNDS = [
    pliant.flat(0.3), pliant.slope(0.2, direction=0.4), pliant.stairs(0.1, 0.3, steps=4), pliant.waves(0.1, 2),
    pliant.height_map(np.random.default_rng(0).random((5, 6)), spacing=0.5), pliant.Ground(lambda x, y: x),
]  # fmt: skip


@pytest.mark.parametrize("ground", GROUNDS, ids=lambda g: g.name)
def test_grounds(ground: pliant.Ground) -> None:
    parts = ground_parts(ground)
    found = ground_of(parts | {"formula": again(parts["formula"])})
    x, y = np.random.default_rng(1).uniform(-3, 3, (2, 200))
    assert np.asarray(found.height(x, y)).tobytes() == np.asarray(ground.height(x, y)).tobytes()
    assert found.is_flat == ground.is_flat and found.name == ground.name


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": [["input", 0], ["exec", 0]]}, {"nodes": [["input", 0], ["add", 0, 1]]}, {"nodes": [["input", 5]]},
        {"nodes": [["input", 0], ["add", 0]]}, {"nodes": [["lookup", 0, 0]]}, {"nodes": []}, {"output": 99},
        {"nodes": [["const", "rm -rf"]]}, {"nodes": 7}, {"inputs": ["x", "x"]}, {"output": -1},
    ],
)  # fmt: skip
def test_data_that_is_no_formula(change: dict) -> None:
    with pytest.raises(pliant.PliantError, match="a stored formula is damaged"):
        Formula.from_plain(Formula.of(law, ("x",)).to_plain() | change)
