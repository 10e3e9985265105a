"""Tables that cannot be: every error names the row and the cure."""

import math
from typing import Any

import numpy as np
import pytest
import sympy

import pliant
from pliant.errors import PliantError, RobotError
from pliant.spatial import MatrixRotation, Transform, Vector

GOOD = (0, 0.5, 0, 0)
l, m = sympy.symbols("l m")

CASES: dict[str, tuple[Any, str]] = {
    "three numbers": ([GOOD, (0, 1, 2)], r"row 2 has 3 numbers; give alpha, a, theta, d \(modified convention\)"),
    "five numbers": ([(0, 1, 2, 3, 4)], "row 1 has 5 numbers"),
    "no row": ([GOOD, 3], "row 2 is 3; give alpha, a, theta, d as a tuple, or a DHRow"),
    "text for a row": ([GOOD, "0 0 0 0"], "row 2 is '0 0 0 0'; give"),
    "numbers not in rows": ([0, 0, 1, 0], "row 1 is 0; give"),
    "text": ("0 0 0 0", "takes a sequence of rows, not str"),
    "a row alone": ({"alpha": 0}, r"takes a sequence of rows, not dict; for one row, give \[row\]"),
    "nothing": ([], "the table has no rows; give one for each joint"),
    "a number": (3.0, "takes a sequence of rows, not float"),
    "unknown attribute": ([GOOD, {"aplha": 1}], "no attribute named 'aplha' in row 2; did you mean 'alpha'"),
    "twice": ([(0, 0, 0, 0, {"theta": 1})], "row 1 has theta twice"),
    "unknown joint": ([GOOD, (*GOOD, {"joint": "prismatik"})], "no kind of joint named 'prismatik' in row 2; .*pris"),
    "spherical joint": ([(*GOOD, {"joint": "spherical"})], "no kind of joint named 'spherical' in row 1"),
    "nan": ([GOOD, GOOD, (0, math.nan, 0, 0)], "a of row 3 is nan; it takes a finite number"),
    "infinite": ([(0, 0, 0, math.inf)], "d of row 1 is inf"),
    "nan of sympy": ([(sympy.nan, 0, 0, 0)], "alpha of row 1 is nan; it takes a finite number"),
    "infinity of sympy": ([(0, sympy.oo, 0, 0)], "a of row 1 is oo"),
    "pole of sympy": ([(0, 0, sympy.zoo, 0)], "theta of row 1 is zoo"),
    "nan in com": ([(*GOOD, {"com": (0, math.nan, 0)})], "com of row 1 is nan"),
    "nan in inertia": ([(*GOOD, {"mass": 1, "inertia": (1, 1, math.nan)})], "inertia of row 1 is nan"),
    "angle as text": ([("pi/2", 0, 0, 0)], "alpha of row 1 is 'pi/2'; it takes a number or a symbol, as math.pi"),
    "none": ([(None, 0, 0, 0)], "alpha of row 1 is None; it takes a number or a symbol"),
    "short com": ([(*GOOD, {"com": (0, 1)})], r"com of row 1 is \(0, 1\); it takes 3 numbers"),
    "scalar inertia": ([(*GOOD, {"inertia": 1})], "inertia of row 1 is 1; it takes 3 or 6 numbers"),
    "four of inertia": ([(*GOOD, {"inertia": (1, 2, 3, 4)})], "it takes 3 or 6 numbers"),
    "ragged inertia": ([(*GOOD, {"inertia": [[1, 0], [0, 1], [0, 0]]})], "a row of inertia of row 1"),
    "crooked inertia": ([(*GOOD, {"inertia": [[1, 0, 0], [1, 1, 0], [0, 0, 1]]})], "inertia is not symmetric, 0 aga"),
    "impossible inertia": ([(*GOOD, {"mass": 1, "inertia": (1, 1, 9)})], "body 'link1': .* triangle inequality"),
    "negative mass": ([GOOD, (*GOOD, {"mass": -1})], "row 2: mass of body 'link2' is -1; it takes 0 or more"),
    "crossed limits": ([(*GOOD, {"limits": (1, -1)})], "joint 'joint1': the lower limit 1 is above"),
    "negative damping": ([GOOD, (*GOOD, {"damping": -1})], "row 2: damping of joint 'joint2' is -1"),
    "motor's words": ([(*GOOD, {"motor": {"gere": 3}})], "row 1: no attribute named 'gere' in motor 'joint1'"),
    "limits of a fixed row": ([(*GOOD, {"joint": "fixed", "limits": (0, 1)})], "row 1 is fixed, .* no limits"),
    "motor of a fixed row": ([(*GOOD, {"joint": "fixed", "motor": True})], "row 1 is fixed, .* no motor"),
    "offset of a fixed row": ([(*GOOD, {"joint": "fixed", "offset": 1})], "row 1 is fixed, .* no offset"),
    "two names": ([(*GOOD, {"name": "hip"}), GOOD, (*GOOD, {"name": "hip"})], "rows 1 and 3 have the name 'hip'"),
    "two bodies": ([(*GOOD, {"body": "arm"}), (*GOOD, {"body": "arm"})], "rows 1 and 2 have the body 'arm'"),
    "body world": ([(*GOOD, {"body": "world"})], "row 1: body 'world' is always there"),
    "coordinate in theta": (
        [GOOD, (0, 0, sympy.pi / 2 + sympy.Symbol("th2"), 0, {"name": "th2"})],
        r"theta of row 2 is th2 \+ pi/2, but th2 is the coordinate of row 2; give the constant part only",
    ),
    "coordinate in another row": (
        [(*GOOD, {"name": "l"}), (0, l, 0, 0)], "a of row 2 is l, but l is the coordinate of row 1",
    ),
    "coordinate in a mass": ([(*GOOD, {"name": "m", "mass": 2 * m})], r"mass of row 1 is 2\*m, but m is the coord"),
    "limits that are none": ([{"limits": 5}], r"row 1: limits of joint 'joint1' is 5; it takes a pair"),
    "three limits": ([{"limits": (1, 2, 3)}], r"row 1: limits of joint 'joint1' is \(1, 2, 3\); it takes a pair"),
    "motor that is none": ([GOOD, {"motor": 5}], "motor of row 2 is 5; it takes True, or a dict as in {'gear': 9}"),
    "motor without words": ([{"motor": {5: 1}}], "motor of row 1 is {5: 1}; it takes True"),
    "gear of zero": ([{"motor": {"gear": 0}}], "gear of motor 'joint1' is 0"),
    "complex damping": ([{"damping": 1j}], "row 1: damping of joint 'joint1' is 1j; it takes a number"),
    "name that is none": ([GOOD, {"name": 5}], "name of row 2 is 5; it takes a name, a non-empty string"),
    "names": ([{"name": ["a"]}], r"name of row 1 is \['a'\]; it takes a name"),
    "body that is none": ([{"body": 5}], "body of row 1 is 5; it takes a name"),
    "one symbol for two things": (
        [(0, l, 0, 0), (0, 0, 0, 0, {"mass": l})],
        r"symbol l is a length in row 1 \(a\) and a mass in row 2 \(mass\); use two symbols",
    ),
    "an angle and a length": ([(l, l, 0, 0)], r"symbol l is an angle in row 1 \(alpha\) and a length"),
    "two symbols of one name": (
        [(0, l, 0, 0), (0, sympy.Symbol("l", positive=True), 0, 0)],
        "rows 1 and 2 have two symbols named l, with different assumptions; make it once",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_told(case: str) -> None:
    rows, message = CASES[case]
    with pytest.raises(RobotError, match=message):
        pliant.from_dh(rows)


def test_unknown_convention() -> None:
    with pytest.raises(RobotError, match=r"no convention named 'Modified' in from_dh; did you mean 'modified'"):
        pliant.from_dh([GOOD], "Modified")


def test_order_of_the_standard_convention_is_told() -> None:
    with pytest.raises(RobotError, match=r"give theta, d, a, alpha \(standard convention\)"):
        pliant.from_dh([(0, 1)], "standard")


@pytest.mark.parametrize("which", ["base", "tool"])
@pytest.mark.parametrize(
    ("pose", "message"),
    [
        (3, "is 3; it takes a Transform or"),
        ((0, 0, 1), "it takes a Transform or"),
        (((0, 0), (0, 0, 0)), "has 2 entries; it takes three"),
        (((0, 0, math.nan), (0, 0, 0)), "is nan"),
        (Transform(MatrixRotation.identity(), Vector(0, math.inf, 0)), "is inf"),
        (np.eye(4), "it takes a Transform or"),
    ],
)
def test_bad_poses(which: str, pose: Any, message: str) -> None:
    with pytest.raises(RobotError, match=message) as caught:
        pliant.from_dh([GOOD], **{which: pose})
    assert f"{which} of from_dh" in str(caught.value)


def test_bad_gravity() -> None:
    with pytest.raises(RobotError, match="gravity of from_dh is 5; it takes three numbers"):
        pliant.from_dh([GOOD], gravity=5)  # type: ignore[arg-type]
    with pytest.raises(RobotError, match="gravity of from_dh has 2 entries"):
        pliant.from_dh([GOOD], gravity=(0, 0))
    with pytest.raises(RobotError, match="gravity of from_dh is nan; it takes a finite number"):
        pliant.from_dh([GOOD], gravity=(0, 0, math.nan))


@pytest.mark.parametrize("name", [5, ["arm"], ""])
def test_names_of_robots_that_are_none(name: Any) -> None:
    with pytest.raises(RobotError, match=r"name of from_dh is .*; it takes a name"):
        pliant.from_dh([GOOD], name=name)


def test_powers_of_a_symbol_are_no_second_meaning() -> None:
    """A length in an inertia is right; only a bare symbol can be told to be one thing."""
    robot = pliant.from_dh([(0, l, 0, 0, {"mass": m, "com": (l / 2, 0, 0), "inertia": (0, m * l**2, m * l**2)})])
    assert robot.mass == m


def test_errors_are_of_pliant() -> None:
    with pytest.raises(PliantError):
        pliant.from_dh([()])


def test_impossible_inertias_can_be_kept_or_mended() -> None:
    rows = [(*GOOD, {"mass": 1, "inertia": (1, 1, 9)})]
    kept = pliant.from_dh(rows, strict=False)
    assert kept.bodies[0].inertia.J.zz == 9
    assert [f.kind for f in kept.report] == ["odd"]
    assert [f.kind for f in pliant.from_dh(rows, repair=True).report] == ["repaired"]
