"""Words of the command line that mean several numbers."""

import math

import numpy as np
import pytest

from pliant.cli.words import Push, as_contact, as_ground, as_numbers, as_pushes, as_row, as_springs
from pliant.errors import PliantError


def test_numbers() -> None:
    assert as_numbers("1, -2.5,1e3") == as_numbers([1, -2.5, 1000]) == (1.0, -2.5, 1000.0)
    assert as_numbers(3) == (3.0,)


def test_rows() -> None:
    assert as_row(["0,1", "2"]) == as_row("0,1,2") == as_row([0, 1, 2]) == (0.0, 1.0, 2.0)
    assert as_row(["knee=0.5,hip=1"]) == as_row(["knee=0.5", "hip=1"]) == as_row({"knee": 0.5, "hip": 1})


def test_springs() -> None:
    assert as_springs(["knee=1e4,10", "hip=2e3"]) == as_springs({"knee": [1e4, 10], "hip": 2000})


def test_pushes() -> None:
    assert as_pushes("base=1,2,3@0.5:1") == (Push("base", (1, 2, 3), 0.5, 1),)
    assert as_pushes(["a=1,0,0", "b=0,1,0@2"]) == (
        Push("a", (1, 0, 0), 0, math.inf),
        Push("b", (0, 1, 0), 2, math.inf),
    )


def test_grounds_have_the_heights_they_say() -> None:
    assert as_ground("none") is None
    x = np.array([0.35, 1.0])
    for word, height in (
        ("flat", [0, 0]),
        ("flat=0.2", [0.2, 0.2]),
        ("slope=45", x),
        ("slope=45,90", [0, 0]),
        ("stairs=0.1,0.3", [0.2, 0.4]),
        ("stairs=0.1,0.3,2", [0.2, 0.2]),
        ("waves=0.1,4", 0.1 * np.sin(np.pi / 2 * x) * 0),
    ):
        # rounding of a tangent
        np.testing.assert_allclose(as_ground(word).height(x, 0 * x), height, rtol=0, atol=1e-12)


def test_contacts() -> None:
    rigid = as_contact("rigid", 0.3, 0.5)
    assert (rigid.friction, rigid.restitution) == (0.3, 0.5)
    law = as_contact("compliant=1e4,50", 0.3, None).law
    assert (law.stiffness, law.damping, law.friction) == (1e4, 50, 0.3)
    assert as_contact("compliant", None, None).law.friction == 0.7
    law = as_contact("hunt-crossley=1e5,0.2", None, None).law
    assert (law.stiffness, law.dissipation, law.exponent) == (1e5, 0.2, 1.5)


@pytest.mark.parametrize("read, given, message", [
    (as_numbers, "1,,2", "'' in '1,,2' is no number"),
    (as_numbers, "nan", "is no number"),
    (as_numbers, "a", "'a' in 'a' is no number"),
    (as_numbers, ["a"], "it takes numbers"),
    (as_numbers, True, "it takes numbers"),
    (as_row, "knee=", "not of the form knee=0.5"),
    (as_row, ["knee=0.5", "1"], "'1' is not of the form"),
    (as_row, {"knee": "x"}, "a number for each name"),
    (as_row, 5, "it takes text"),
    (as_row, ["knee=1", "knee=2"], "'knee' is given twice"),
    (as_ground, "flat=nan", "--ground flat=nan: 'nan' in 'nan' is no number"),
    (as_springs, "knee", "not of the form knee=1e4,10"),
    (as_springs, "knee=1,2,3,4", "has 4 numbers"),
    (as_pushes, "base=1,2", "a force takes three"),
    (as_pushes, "base=1,2,3@2:1", "ends before it begins"),
    (as_pushes, "base=1,2,3@x", "'x' in 'base=1,2,3@x' is no number"),
    (as_ground, "flatt", "did you mean 'flat'"),
    (as_ground, "slope", "slope takes 1 to 2 numbers, not 0"),
    (as_ground, "stairs=0.1,0.3,1.5", "it takes a whole number"),
    (as_ground, "slope=95", "no slope but a wall"),
    (lambda word: as_contact(word, None, None), "rigd", "did you mean 'rigid'"),
    (lambda word: as_contact(word, None, 0.5), "compliant", "--restitution is for --contact rigid"),
    (lambda word: as_contact(word, None, None), "hunt-crossley", "takes 2 to 3 numbers"),
])  # fmt: skip
def test_errors(read, given, message: str) -> None:
    with pytest.raises(PliantError, match=message.replace("(", r"\(")):
        read(given)
