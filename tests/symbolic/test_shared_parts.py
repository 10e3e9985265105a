"""Names for parts that occur several times."""

import re

import sympy

import pliant
from pliant.symbolic.tidying import folded, is_longer, named_parts, symbols_of

a, b, q1, q2 = sympy.symbols("a b q1 q2", real=True)
x = sympy.symbols("x0:9", real=True)


def test_names_that_are_no_shorter_are_folded() -> None:
    s = sympy.sin(q2)
    shared = [(x[0], s), (x[1], x[0] ** 2), (x[2], -3 * x[1]), (x[3], a * b), (x[4], x[3]), (x[5], 2 * x[4])]
    kept, formulas = folded(shared, [x[1] + x[2], x[4] + x[5] * x[0]], {q1, q2})
    assert kept == [(x[0], a * b)]
    assert formulas == [-2 * s**2, x[0] + 2 * x[0] * s]


def test_conditions_can_be_shared() -> None:
    condition = sympy.Lt(a + b, 1)
    kept, _ = folded([(x[0], condition)], [sympy.Piecewise((a, x[0]), (b, True))], {q1})
    assert kept == [(x[0], condition)]


def test_no_line_of_a_long_text_is_an_alias() -> None:
    for name in ("arm7", "hopper_flight"):
        text = str(pliant.equations(pliant.load(name)))
        shared = re.findall(r"^x\d+ = (.*)$", text, re.M)
        assert shared
        # a number, then one symbol, wave or name, and a power
        assert not [e for e in shared if re.fullmatch(r"-?([\d./e-]+ )?[a-z]\w*'*(\^\d+)?", e)]


def test_letters_that_are_taken() -> None:
    formulas = [sympy.sin(a + b) + 1, (a + b) ** 3]
    shared, _ = named_parts(formulas, {"x1", "a"})
    assert [str(name) for name, _ in shared] == ["y0"]


def test_symbols_and_length() -> None:
    e = sympy.sin(a + q1) ** 2
    assert symbols_of([e, b * e]) == {a, b, q1}
    assert is_longer([e], 3)
    assert not is_longer([e], 100)
