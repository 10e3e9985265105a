"""Words of the command line that mean several numbers."""

import math

import pytest

from pliant.cli.settings import Push, numbers, pushes, row, springs
from pliant.errors import PliantError


def test_numbers() -> None:
    assert numbers("--x", "1, -2.5,1e3") == numbers("--x", [1, -2.5, 1000]) == (1.0, -2.5, 1000.0)
    assert numbers("--x", 3) == (3.0,)


def test_rows() -> None:
    assert row("--x", ["0,1", "2"]) == row("--x", "0,1,2") == row("--x", [0, 1, 2]) == (0.0, 1.0, 2.0)
    assert row("--x", ["knee=0.5,hip=1"]) == row("--x", ["knee=0.5", "hip=1"]) == row("--x", {"knee": 0.5, "hip": 1})


def test_springs() -> None:
    assert springs("--x", ["knee=1e4,10", "hip=2e3"]) == springs("--x", {"knee": [1e4, 10], "hip": 2000})


def test_pushes() -> None:
    assert pushes("--x", "base=1,2,3@0.5:1") == (Push("base", (1, 2, 3), 0.5, 1),)
    assert pushes("--x", ["a=1,0,0", "b=0,1,0@2"]) == (
        Push("a", (1, 0, 0), 0, math.inf),
        Push("b", (0, 1, 0), 2, math.inf),
    )


@pytest.mark.parametrize("read, given, words", [
    (numbers, "1,,2", "'1,,2', where '' is not a number"),
    (numbers, "nan", "is not a number"),
    (numbers, ["a"], "it takes numbers"),
    (numbers, True, "it takes numbers"),
    (row, "knee=", "some by name, as knee=0.5"),
    (row, ["knee=0.5", "1"], "--x is '1'; it takes all numbers"),
    (row, {"knee": "x"}, "a number for each name"),
    (row, 5, "--x is 5; it takes all numbers"),
    (row, ["knee=1", "knee=2"], "--x has 'knee' twice"),
    (springs, "knee", "as knee=1e4,10"),
    (springs, "knee=1,2,3,4", "one to three numbers"),
    (pushes, "base=1,2", "three numbers for a force"),
    (pushes, "base=1,2,3@2:1", "an end after the start"),
    (pushes, "base=1,2,3@x", "'base=1,2,3@x', where 'x' is not a number"),
])  # fmt: skip
def test_errors(read, given, words: str) -> None:
    with pytest.raises(PliantError) as error:
        read("--x", given)
    assert words in str(error.value)
    assert error.value.field.startswith("--x")
