"""Grounds: heights against closed forms, normals against differences, the same on every scalar."""

import math

import numpy as np
import pytest
import sympy

from pliant.compiler import kernel_from_function
from pliant.contact import Ground, as_ground, flat, height_map, slope, stairs, waves
from pliant.errors import ContactError, TraceError
from pliant.scalar import Expr, Graph, cos, exp, floor, select, sin, sqrt
from pliant.scalar.evaluation import interpret, nodes_of

RNG = np.random.default_rng(11)
MAP = RNG.normal(size=(5, 7))


def pit(x, y):
    """A plane left of x = 0.3; right of it a bowl, whose root is not finite on the other side."""
    return select(x > 0.3, -0.2 * sqrt(x - 0.3) + 0.05 * y * y, 0.5 * x + 0.1 * y)


def mixed(x, y):
    return 0.1 * sin(3 * x) * exp(-y * y) + 0.02 * floor(x) * cos(y)


GROUNDS = {
    "flat": flat(0.25),
    "slope": slope(0.3, direction=0.8),
    "stairs": stairs(0.17, 0.29, steps=3, start=-0.4, direction=0.5),
    "endless stairs": stairs(-0.1, 0.3, riser=0.1),
    "hills": waves(0.1, 1.7),
    "ridges": waves(0.1, 1.7, direction=2.0),
    "height_map": height_map(MAP, spacing=(0.4, 0.3), origin=(-0.8, -1.0)),
    "pit": Ground(pit),
    "mixed": Ground(mixed),
}
grounds = pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS.keys())


def points(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, size=(n, 2))


def surface(ground: Ground, x, y) -> list:
    height, normal = ground.surface(x, y)
    return [height, *normal]


@grounds
def test_normal_is_the_derivative_of_the_height(ground: Ground) -> None:
    step = 1e-6
    for x, y in points(60, 1):
        height, n = ground.surface(x, y)
        assert height == ground.height(x, y)
        assert n.dot(n) == pytest.approx(1, abs=2e-15)  # a few roundings
        differences = []
        for dx, dy in ((step, 0), (0, step)):
            sides = [ground.height(x + s * dx, y + s * dy) for s in (1, 0, -1)]
            forward, backward = sides[0] - sides[1], sides[1] - sides[2]
            if abs(forward - backward) > 1e-3 * step:  # an edge lies between
                break
            differences.append((sides[0] - sides[2]) / (2 * step))
        else:
            # central differences: rounding 1e-16/1e-6, curvature below 1e-10 away from the root's end
            assert -n.x / n.z == pytest.approx(differences[0], rel=1e-5, abs=1e-8)
            assert -n.y / n.z == pytest.approx(differences[1], rel=1e-5, abs=1e-8)


@grounds
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_every_scalar_finds_the_same_surface(ground: Ground, precision: str) -> None:
    at = points(37, 2).astype(precision).astype(float)
    reference = np.array([[float(v) for v in surface(ground, x, y)] for x, y in at])
    kernel = kernel_from_function(lambda p: surface(ground, p[0], p[1]), {"p": (2,)}, precision=precision)
    # kernels fuse multiply-adds and have their own sine; where steep, errors of x are scaled by the slope
    steepness = np.abs(1 / reference[:, 3:])
    tolerance = {"float64": 1e-13, "float32": 2e-5}[precision] * (1 + steepness**2)
    assert np.all(np.abs(kernel(at.astype(precision)) - reference) <= tolerance)


@grounds
def test_arrays_give_a_surface_for_each_point(ground: Ground) -> None:
    at = points(20, 3)
    with np.errstate(invalid="ignore"):  # of the side that is not taken
        columns = np.array(surface(ground, at[:, 0], at[:, 1]))
    expected = np.array([surface(ground, x, y) for x, y in at])
    assert columns.shape == (4, 20)
    # NumPy's elementary functions differ from those of math in the last place
    np.testing.assert_allclose(columns.T, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", ["flat", "slope", "hills", "ridges", "pit"])
def test_symbols_give_the_formula_that_sympy_differentiates(name: str) -> None:
    ground = GROUNDS[name]
    x, y = sympy.symbols("x y", real=True)
    height, n = ground.surface(x, y)
    for at in points(5, 4):
        point = dict(zip((x, y), at.tolist(), strict=True))
        slopes = [sympy.diff(height, v).subs(point).evalf() for v in (x, y)]
        norm = math.sqrt(1 + sum(float(s) ** 2 for s in slopes))
        expected = [float(-slopes[0]) / norm, float(-slopes[1]) / norm, 1 / norm]
        found = [float(sympy.sympify(c).subs(point).evalf()) for c in n]
        assert found == pytest.approx(expected, abs=1e-13)
        assert float(sympy.sympify(height).subs(point)) == pytest.approx(ground.height(*at), abs=1e-13)


def test_flat_is_exact_by_structure() -> None:
    g = Graph()
    for x, y in ((0.3, 0.4), (g.input("x"), g.input("y")), sympy.symbols("x y")):
        height, n = flat(0.5).surface(x, y)
        assert height == 0.5
        assert [(c, type(c)) for c in n] == [(0, int), (0, int), (1, int)]
    assert len(g.nodes) == 2


def test_flat_by_structure_not_by_name() -> None:
    assert flat().is_flat
    assert Ground(lambda x, y: 0.3 + 0 * x).is_flat
    assert not slope(0.1).is_flat
    assert not Ground(lambda x, y: y * y).is_flat
    terraces = Ground(lambda x, y: floor(x))
    assert not terraces.is_flat
    assert list(terraces.surface(1.5, 0.0)[1]) == [0, 0, 1]


@pytest.mark.parametrize("direction", np.linspace(0, 2 * math.pi, 7).tolist())
def test_slope_rises_in_its_direction(direction: float) -> None:
    ground = slope(0.4, direction=direction)
    c, s = math.cos(direction), math.sin(direction)
    assert ground.height(2 * c, 2 * s) == pytest.approx(2 * math.tan(0.4), rel=1e-15)
    assert ground.height(-3 * s, 3 * c) == pytest.approx(0, abs=1e-15)
    normal = [-c * math.sin(0.4), -s * math.sin(0.4), math.cos(0.4)]
    for x in (0.2, Graph().input("x")):
        # constant, also where x is not known; tangent, square, sum, root and quotient of numbers up to 1 round five
        # times by 1.1e-16 at most, and the libraries' functions by as much again
        assert list(ground.surface(x, 0.3)[1]) == pytest.approx(normal, abs=1e-15)


def test_stairs_have_level_treads_and_end() -> None:
    ground = stairs(0.2, 0.3, steps=3, start=1.0)
    # before, the middle of each tread, after
    expected = {-5.0: 0, 0.99: 0, 1.15: 0.2, 1.45: 0.4, 1.75: 0.6, 1.95: 0.6, 9.0: 0.6}
    for x, height in expected.items():
        found, n = ground.surface(x, 0.7)
        assert found == pytest.approx(height, abs=1e-15)
        assert list(n) == [0, 0, 1]
    # the riser is a hundredth of the run wide: half-way up in its middle, at the slope 0.2 / 0.003
    found, n = ground.surface(1.0015, 0.0)
    assert found == pytest.approx(0.1, abs=1e-12)
    assert -n.x / n.z == pytest.approx(0.2 / 0.003, rel=1e-12)
    # continuous: no step of the height is larger than the slope allows
    x = np.linspace(0.5, 2.5, 20001)
    assert np.max(np.abs(np.diff(ground.height(x, 0 * x)))) <= 0.2 / 0.003 * 1e-4 * (1 + 1e-9)


def test_stairs_without_end() -> None:
    ground = stairs(0.1, 0.5)
    assert ground.height(1000.25, 0.0) == pytest.approx(2001 * 0.1, rel=1e-14)
    assert ground.height(-1000.25, 0.0) == 0


def test_waves() -> None:
    assert waves(0.1, 2.0).height(0.5, 1.5) == pytest.approx(-0.1, rel=1e-15)
    assert waves(0.1, 2.0).height(0.5, 0.0) == 0
    along = waves(0.1, 2.0, direction=math.pi / 2)
    assert along.height(123.0, 0.5) == pytest.approx(0.1, rel=1e-14)


def test_height_map_is_bilinear() -> None:
    from scipy.interpolate import RegularGridInterpolator

    xs, ys = -0.8 + 0.4 * np.arange(5), -1.0 + 0.3 * np.arange(7)
    oracle = RegularGridInterpolator((xs, ys), MAP)
    ground = GROUNDS["height_map"]
    at = np.random.default_rng(6).uniform((xs[0], ys[0]), (xs[-1], ys[-1]), size=(200, 2))
    np.testing.assert_allclose(ground.height(at[:, 0], at[:, 1]), oracle(at), rtol=0, atol=1e-13)
    grid = np.array([[ground.height(x, y) for y in ys] for x in xs])
    np.testing.assert_allclose(grid, MAP, rtol=0, atol=1e-13)  # also on the last row and column


def test_height_map_is_constant_beyond_its_edges() -> None:
    ground = height_map(MAP, size=(4, 6))
    for (x, y), corner in {(-9, -9): (0, 0), (99, -1): (4, 0), (-1, 1e6): (0, 6), (99, 99): (4, 6)}.items():
        height, n = ground.surface(float(x), float(y))
        assert height == pytest.approx(MAP[corner], rel=1e-15)
        assert list(n) == [0, 0, 1]
    # beyond one edge only: level across it, and as steep along it as the edge is
    height, n = ground.surface(-5.0, 2.5)
    assert height == pytest.approx((MAP[0, 2] + MAP[0, 3]) / 2, rel=1e-14)
    assert n.x == 0
    assert -n.y / n.z == pytest.approx(MAP[0, 3] - MAP[0, 2], rel=1e-14)


def test_height_map_on_its_last_edges_has_the_slope_of_the_last_cell() -> None:
    ground = height_map(MAP, size=(4, 6))
    _, n = ground.surface(4.0, 2.5)
    rows = (MAP[:, 2] + MAP[:, 3]) / 2
    assert [-n.x / n.z, -n.y / n.z] == pytest.approx([rows[4] - rows[3], MAP[4, 3] - MAP[4, 2]], rel=1e-13)
    _, n = ground.surface(1.5, 6.0)
    columns = (MAP[1] + MAP[2]) / 2
    assert [-n.x / n.z, -n.y / n.z] == pytest.approx([MAP[2, 6] - MAP[1, 6], columns[6] - columns[5]], rel=1e-13)


def test_height_map_at_nan_is_nan_and_reads_no_foreign_memory() -> None:
    ground = GROUNDS["height_map"]
    kernel = kernel_from_function(lambda p: surface(ground, p[0], p[1]), {"p": (2,)})
    found = kernel(np.array([[np.nan, 0.0], [0.0, np.nan], [np.inf, -np.inf], [1e300, -1e300], [0.1, 0.1]]))
    assert np.all(np.isnan(found[:2, 0]))
    assert found[2, 0] == found[3, 0] == MAP[-1, 0]
    np.testing.assert_allclose(found[4], surface(ground, 0.1, 0.1), rtol=0, atol=1e-14)


def test_big_map_is_traced_without_its_numbers() -> None:
    ground = height_map(RNG.normal(size=(512, 512)), size=(10, 10))
    g = Graph()
    ground.surface(g.input("x"), g.input("y"))
    assert len(g.nodes) < 80
    assert sum(node.op == "lookup" for node in g.nodes) == 4


def test_side_that_is_not_taken_has_no_say_in_the_normal() -> None:
    """The root of `pit` has no derivative, and no value, left of 0.3."""
    for x in (-1.0, 0.1, 0.3):
        height, n = GROUNDS["pit"].surface(x, 0.5)
        assert height == pytest.approx(0.5 * x + 0.05, rel=1e-15)
        assert [-n.x / n.z, -n.y / n.z] == pytest.approx([0.5, 0.1], rel=1e-14)
    _, n = GROUNDS["pit"].surface(0.55, 2.0)
    assert [-n.x / n.z, -n.y / n.z] == pytest.approx([-0.2, 0.2], rel=1e-14)


@grounds
def test_asking_again_adds_nothing_to_a_trace(ground: Ground) -> None:
    g = Graph()
    x, y = g.input("x"), g.input("y")
    height, n = ground.surface(x, y)
    before = len(g.nodes)
    assert ground.height(x, y) is height or ground.height(x, y) == height
    again = ground.surface(x, y)[1]
    assert all(a is b or a == b for a, b in zip(n, again, strict=True))
    assert len(g.nodes) == before


def test_slope_is_partial_where_the_coordinates_depend_on_each_other() -> None:
    """On the path y = 2 x, or x = y, the normal is still that of the ground."""
    g = Graph()
    x = g.input("x")
    for y, at in ((2 * x, (0.3, 0.6)), (x, (0.3, 0.3)), (0.4, (0.3, 0.4))):
        found = surface(GROUNDS["mixed"], x, y)
        values = interpret([g.lift(v) for v in found], {"x": 0.3})
        assert values == pytest.approx(surface(GROUNDS["mixed"], *at), abs=1e-15)


def test_traced_parameters_differ_between_robots() -> None:
    def f(angle, p):
        return surface(slope(angle, direction=0.2), p[0], p[1])

    kernel = kernel_from_function(f, {"angle": (), "p": (2,)})
    angles, at = np.array([0.1, -0.4, 0.7]), points(3, 8)
    expected = [surface(slope(a, direction=0.2), x, y) for a, (x, y) in zip(angles, at, strict=True)]
    np.testing.assert_allclose(kernel(angles, at), expected, rtol=0, atol=1e-14)


def test_parameters_of_a_function_of_ones_own() -> None:
    a, x, y = sympy.symbols("a x y")
    ground = Ground(lambda x, y, a: a * x * y, parameters=(a,))
    height, n = ground.surface(x, y)
    assert height == a * x * y
    assert sympy.simplify(n.x / n.z + a * y) == 0


def test_as_ground() -> None:
    ground = slope(0.1)
    assert as_ground(ground) is ground
    assert as_ground(None).surface(1, 2)[0] == 0
    assert as_ground(0.5).height(1, 2) == 0.5
    assert as_ground(np.float32(0.5)).height(1, 2) == 0.5
    assert as_ground(pit).name == "pit"
    assert as_ground(pit).height(0.1, 0.0) == pytest.approx(0.05)
    assert as_ground(sympy.Symbol("h")).height(1, 2) == sympy.Symbol("h")
    h = Graph().input("h")
    assert as_ground(h).height(1, 2) is h


@pytest.mark.parametrize("value", ["flat", [1, 2], True, {}])
def test_what_is_no_ground(value: object) -> None:
    with pytest.raises(ContactError) as error:
        as_ground(value)
    assert error.value.field == "ground"


def test_friction_and_restitution_are_kept() -> None:
    ground = slope(0.1, friction=0.4, restitution=0.9)
    assert (ground.friction, ground.restitution) == (0.4, 0.9)
    assert (flat().friction, flat().restitution) == (None, None)
    mu = Graph().input("mu")
    assert waves(0.1, 1.0, friction=mu).friction is mu


def branching(x, y):
    return 0.1 if x > 0 else 0.0


@pytest.mark.parametrize("function, message", [
    (branching, r"function branching.*pliant\.math\.select\(condition"),
    (lambda x, y: math.sin(x), r"ground 'hill', function <lambda>.*pliant\.math\.sin.*instead of those of math"),
    (lambda x, y: np.sinc(x), r"ground 'hill', function <lambda>.*pliant\.math.*not of math and numpy"),
    (lambda x, y: np.heaviside(x, 0), r"numpy\.heaviside.*use Pliant's functions: pliant\.math\.sin"),
])  # fmt: skip
def test_what_cannot_be_traced_names_the_function(function, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        Ground(function, name="hill")


@pytest.mark.parametrize("result", [None, [0.1], (0.1, 0.2), "0.1", np.zeros(2), True, {}])
def test_a_height_is_one_scalar(result: object) -> None:
    with pytest.raises(ContactError, match=r"ground 'hill', function <lambda>.*return one scalar"):
        Ground(lambda x, y: result, name="hill")


def test_errors_of_the_function_itself_say_where() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        Ground(lambda x, y: x + 1 / 0, name="hill")
    assert "ground 'hill'" in caught.value.__notes__[0]


@pytest.mark.parametrize("function, message", [
    (lambda x, y: x > 0, r"pliant\.math\.select\(condition, a, b\)"),
    (lambda x: x, r"it takes \(x\); it is called with x, y"),
    (3, "takes a function of x and y"),
])  # fmt: skip
def test_function_of_something_else(function, message: str) -> None:
    with pytest.raises(ContactError, match=message):
        Ground(function)


BAD = [
    (lambda: flat(math.nan), "flat", "height", "a finite number"),
    (lambda: flat(math.inf), "flat", "height", "a finite number"),
    (lambda: flat("0"), "flat", "height", "a number"),
    (lambda: flat(friction=-0.1), "flat", "friction", "0 or more"),
    (lambda: flat(friction=math.nan), "flat", "friction", "a finite number"),
    (lambda: flat(restitution=1.1), "flat", "restitution", "0 to 1"),
    (lambda: flat(restitution=-0.1), "flat", "restitution", "0 or more"),
    (lambda: slope(math.nan), "slope", "angle", "a finite number"),
    (lambda: slope(math.pi / 2), "slope", "angle", "less than pi/2"),
    (lambda: slope(0.1, direction=math.inf), "slope", "direction", "a finite number"),
    (lambda: stairs(math.inf, 1), "stairs", "rise", "a finite number"),
    (lambda: stairs(0.1, 0), "stairs", "run", "a number above 0"),
    (lambda: stairs(0.1, 0.3, riser=0.3), "stairs", "riser", "less than the run"),
    (lambda: stairs(0.1, 0.3, riser=0), "stairs", "riser", "a number above 0"),
    (lambda: stairs(0.1, 0.3, steps=0), "stairs", "steps", "1 or more"),
    (lambda: stairs(0.1, 0.3, steps=2.5), "stairs", "steps", "1 or more"),  # type: ignore[arg-type]
    (lambda: waves(0.1, -1.0), "waves", "length", "a number above 0"),
    (lambda: waves(math.nan, 1.0), "waves", "amplitude", "a finite number"),
    (lambda: Ground(lambda x, y: math.nan), "ground 'ground', function <lambda>", "height", "a finite number"),
    (lambda: Ground(lambda x, y, a: a, parameters=(math.inf,)), "ground", "parameters[0]", "a finite number"),
    (lambda: height_map(MAP), "height_map", "spacing", "give either spacing"),
    (lambda: height_map(MAP, spacing=1, size=(1, 1)), "height_map", "spacing", "give either spacing"),
    (lambda: height_map(MAP, spacing=0), "height_map", "spacing", "a number above 0"),
    (lambda: height_map(MAP, size=(1, -1)), "height_map", "size", "a number above 0"),
    (lambda: height_map(MAP, size=(1, 2, 3)), "height_map", "size", "two numbers"),  # type: ignore[arg-type]
    (lambda: height_map(MAP, spacing=1, origin=(math.nan, 0)), "height_map", "origin", "a finite number"),
    (lambda: height_map(MAP[:1], spacing=1), "height_map", "heights", "at least 2 x 2"),
    (lambda: height_map(MAP[0], spacing=1), "height_map", "heights", "at least 2 x 2"),
    (lambda: height_map([["a", "b"], ["c", "d"]], spacing=1), "height_map", "heights", "array of numbers"),
    (lambda: height_map([[0, 1], [math.nan, 2]], spacing=1), "height_map", "heights[1, 0]", "finite"),
]


@pytest.mark.parametrize(("make", "subject", "field", "cure"), BAD)
def test_bad_numbers(make, subject: str, field: str, cure: str) -> None:
    with pytest.raises(ContactError) as error:
        make()
    assert (error.value.subject, error.value.field) == (subject, field)
    assert cure in error.value.cure


def test_symbols_on_a_height_map_say_why_not() -> None:
    with pytest.raises(TraceError, match="a table has no formula"):
        GROUNDS["height_map"].height(sympy.Symbol("x"), 0)


def test_nodes_of_a_ground_are_few() -> None:
    """What the normal needs is shared with the height: hills take two sines and two cosines."""
    g = Graph()
    height, n = GROUNDS["hills"].surface(g.input("x"), g.input("y"))
    outputs = [node for node in (height, *n) if isinstance(node, Expr)]
    found = [node.op for node in nodes_of(outputs)]
    assert [found.count(op) for op in ("sin", "cos", "sqrt", "div")] == [2, 2, 1, 1]
