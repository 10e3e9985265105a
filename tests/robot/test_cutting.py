"""A body's inertia in two parts: closed forms of rods, plates and boxes, and what holds for any body."""

import itertools
import math

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from pliant.errors import RobotError
from pliant.robot.cutting import share_inertia, split_inertia
from pliant.robot.part_checks import impossible_inertia
from pliant.scalar import Graph
from pliant.spatial import Inertia, Symmetric3, Transform, Vector, rotation_from_quaternion, rotation_from_rpy

X, Y, Z = (Vector.unit(k) for k in range(3))
ORIGIN = Vector.zero()
# some hundred operations of double precision, each 1e-16 of the whole
ROUNDING = 1e-13


def box(mass: float, edges: tuple[float, float, float], com: tuple[float, float, float] = (0, 0, 0)) -> Inertia:
    x, y, z = (mass * e**2 / 12 for e in edges)
    return Inertia.from_com(mass, Vector(*com), Symmetric3.diagonal(y + z, x + z, x + y))


def numbers(inertia: Inertia) -> np.ndarray:
    return np.array([inertia.mass, *inertia.h, *inertia.J], dtype=float)


def assert_same(found: Inertia, expected: Inertia, tolerance: float = ROUNDING, whole: Inertia | None = None) -> None:
    """Mass, first and second moments agree, each relative to its own scale."""
    scale = whole or expected
    trace = sum(scale.J.entry(k, k) for k in range(3))
    error = abs(numbers(found) - numbers(expected))
    assert error[0] <= tolerance * scale.mass
    assert error[1:4].max() <= tolerance * math.sqrt(scale.mass * trace)
    assert error[4:].max() <= tolerance * trace


def assert_sound(whole: Inertia, near: Inertia, beyond: Inertia) -> None:
    assert_same(near + beyond, whole, 1e-12)
    for part in (near, beyond):
        assert part.mass > 0
        assert impossible_inertia(part.about_com()) is None


def cut_by_hull(mass: float, edges: np.ndarray, pose: Transform, point: Vector, normal: Vector, side: int) -> Inertia:
    """What a box has beyond the plane (side 1) or before it (-1): tetrahedra of the hull, four points in each.

    The four points at (5 + 3 sqrt 5)/20 from a corner, else (5 - sqrt 5)/20, are exact to second order
    [Keast 1986].
    """
    corners = np.array([[*pose.transform_point(Vector(*(s * e / 2 for s, e in zip(signs, edges, strict=True))))]
                        for signs in itertools.product((-1, 1), repeat=3)])  # fmt: skip
    heights = side * (corners - [*point]) @ [*normal]
    vertices = [*corners[heights > 0]]
    for i, j in itertools.combinations(range(8), 2):
        if bin(i ^ j).count("1") == 1 and heights[i] * heights[j] < 0:
            vertices.append((heights[i] * corners[j] - heights[j] * corners[i]) / (heights[i] - heights[j]))
    points = np.array(vertices)
    near, far = (5 - math.sqrt(5)) / 20, (5 + 3 * math.sqrt(5)) / 20
    density = mass / math.prod(edges)
    total = Inertia.zero()
    for simplex in Delaunay(points).simplices:
        tetrahedron = points[simplex]
        volume = abs(np.linalg.det(tetrahedron[1:] - tetrahedron[0])) / 6
        for r in (np.full((4, 4), near) + (far - near) * np.eye(4)) @ tetrahedron:
            total += Inertia.from_com(density * volume / 4, Vector(*r), Symmetric3.zero())
    return total


# ---- closed forms


@pytest.mark.parametrize("com", [(0, 0, 0), (0.3, -0.2, 0.7)])
def test_a_rod_cut_in_the_middle(com) -> None:
    """Each half has the moment (m/2) (l/2)^2 / 12 about its centre, at l/4 from that of the rod."""
    m, l = 3.0, 0.8
    rod = box(m, (0, 0, l), com)
    near, beyond = split_inertia(rod, Vector(*com), Z)
    for part, side in ((near, -1), (beyond, 1)):
        i = m / 2 * (l / 2) ** 2 / 12
        centre = Vector(com[0], com[1], com[2] + side * l / 4)
        assert_same(part, Inertia.from_com(m / 2, centre, Symmetric3.diagonal(i, i, 0)))
    assert_sound(rod, near, beyond)


@pytest.mark.parametrize("share", [1e-5, 0.1, 0.5, 0.9, 1 - 1e-5])
@pytest.mark.parametrize("tilt", [0, 1, -1.5])
def test_a_rod_cut_anywhere_and_aslant(share, tilt) -> None:
    """The rod has no width: only where the plane meets it counts."""
    m, l = 3.0, 0.8
    whole = box(m, (0, 0, l), (0, 0, l / 2))
    near, beyond = split_inertia(whole, Vector(0, 0, l * (1 - share)), Vector(tilt, 0, 1))
    # what is computed as a difference is exact relative to the whole
    assert_same(beyond, box(m * share, (0, 0, l * share), (0, 0, l * (1 - share / 2))), whole=whole)
    assert_same(near, box(m * (1 - share), (0, 0, l * (1 - share)), (0, 0, l * (1 - share) / 2)), whole=whole)
    assert_sound(whole, near, beyond)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("share", [0.001, 0.25, 0.5, 0.7])
def test_a_box_cut_across_an_edge(axis, share) -> None:
    m, edges, com = 2.0, [0.3, 0.5, 0.9], [0.1, -0.4, 0.2]
    body = box(m, tuple(edges), tuple(com))
    at = com[axis] + edges[axis] * (0.5 - share)
    near, beyond = split_inertia(body, Vector.unit(axis) * at, Vector.unit(axis) * 7.0)
    for part, s, side in ((beyond, share, 1), (near, 1 - share, -1)):
        size, centre = list(edges), list(com)
        size[axis] *= s
        centre[axis] += side * edges[axis] * (1 - s) / 2
        assert_same(part, box(m * s, tuple(size), tuple(centre)), whole=body)
    assert_sound(body, near, beyond)


def test_a_box_cut_along_a_diagonal() -> None:
    """Two wedges: centroid a third of the edges from the right angle, second moments a^2/18, product -ab/36."""
    m, (a, b, c) = 2.0, (0.3, 0.5, 0.9)
    near, beyond = split_inertia(box(m, (a, b, c)), ORIGIN, Vector(1 / a, 1 / b, 0))
    for part, side in ((near, -1), (beyond, 1)):
        xx, yy, zz, xy = (m / 2 * k for k in (a**2 / 18, b**2 / 18, c**2 / 12, -a * b / 36))
        tensor = Symmetric3(yy + zz, -xy, 0, xx + zz, 0, xx + yy)
        assert_same(part, Inertia.from_com(m / 2, Vector(side * a / 6, side * b / 6, 0), tensor))


@pytest.mark.parametrize("t", [0.005, 0.3, 1])
def test_a_corner_cut_off(t) -> None:
    """A corner tetrahedron of legs t a, t b, t c: t^3/6 of the box, moments 3/80 a^2 and products -ab/80."""
    m, edges = 2.0, np.array([0.3, 0.5, 0.9])
    corner = edges / 2
    _, beyond = split_inertia(box(m, tuple(edges)), Vector(*(corner - [t * edges[0], 0, 0])), Vector(*(1 / edges)))
    mass = m * t**3 / 6
    S = mass * t**2 * (np.diag(edges**2) * 3 / 80 - (np.outer(edges, edges) - np.diag(edges**2)) / 80)
    J = np.trace(S) * np.eye(3) - S
    tensor = Symmetric3(*(J[r, c] for r in range(3) for c in range(r, 3)))
    # heights of corners are known to 1e-16 of the box, which is 1e-16 / t of the tetrahedron
    expected = Inertia.from_com(mass, Vector(*(corner - t * edges / 4)), tensor)
    assert_same(beyond, expected, ROUNDING / t)
    assert list(beyond.about_com()) == pytest.approx(list(tensor), rel=1e-15 / t**3 + 1e-12)


def test_a_plate_cut_across_and_aslant() -> None:
    m, (a, b) = 2.0, (0.4, 0.6)
    plate = box(m, (a, b, 0))
    near, beyond = split_inertia(plate, Vector(0.1, 0, 0), X)
    assert_same(near, box(m * 0.75, (0.3, b, 0), (-0.05, 0, 0)))
    assert_same(beyond, box(m * 0.25, (0.1, b, 0), (0.15, 0, 0)))
    # the plate has no thickness: the tilt of the plane does not count
    for part, other in zip((near, beyond), split_inertia(plate, Vector(0.1, 0, 0), Vector(1, 0, 5)), strict=True):
        assert_same(part, other)


def test_thin_bodies_are_the_limit_of_thick_ones() -> None:
    plane = Vector(0.05, 0.02, 0.01), Vector(1, 0.3, 0.2)
    for thin, thick in (((0.5, 0, 0), (0.5, 1e-5, 1e-5)), ((0.5, 0.3, 0), (0.5, 0.3, 1e-5))):
        for part, other in zip(split_inertia(box(1, thin), *plane), split_inertia(box(1, thick), *plane), strict=True):
            assert_same(part, other, 1e-9)  # second moments of the thickness: (1e-5)^2, with some factor


# ---- oblique planes against an outside geometry


@pytest.mark.parametrize("seed", range(20))
def test_oblique_planes_through_turned_boxes(seed) -> None:
    """Against a Delaunay triangulation by Qhull of the vertices of either part."""
    random = np.random.default_rng(seed)
    m, edges = random.uniform(0.5, 3), random.uniform(0.05, 1, 3)
    pose = Transform(rotation_from_quaternion(*_unit(random, 4)), Vector(*random.uniform(-1, 1, 3)))
    body = box(m, tuple(edges)).transformed(pose)
    inside = pose.transform_point(Vector(*(random.uniform(-0.4, 0.4, 3) * edges)))
    normal = Vector(*_unit(random, 3))
    near, beyond = split_inertia(body, inside, normal)
    assert_sound(body, near, beyond)
    for part, side in ((near, -1), (beyond, 1)):
        expected = cut_by_hull(m, edges, pose, inside, normal, side)
        # principal axes are as exact as their moments are apart: 1e-16 over differences of a hundredth, and less
        assert_same(part, expected, 1e-11, whole=body)


def test_an_oblique_plane_by_sampling() -> None:
    random = np.random.default_rng(7)
    m, edges, point, normal = 2.0, np.array([0.3, 0.5, 0.9]), Vector(0.05, 0.1, -0.1), Vector(1, -2, 0.5)
    x, y, z = r = (random.uniform(-0.5, 0.5, (400_000, 3)) * edges).T
    is_beyond = (r.T - [*point]) @ [*normal] > 0
    moments = np.array([x**0, x, y, z, y**2 + z**2, -x * y, -x * z, x**2 + z**2, -y * z, x**2 + y**2]) * is_beyond * m
    found = split_inertia(box(m, tuple(edges)), point, normal)[1]
    # a mean of n samples is off by their deviation over sqrt(n); five times that
    error = abs(moments.mean(axis=1) - numbers(found))
    assert (error <= 5 * moments.std(axis=1) / math.sqrt(x.size)).all()


# ---- what holds for any body

NUMBER = st.floats(-1, 1).map(lambda x: round(x, 6))
LENGTH = st.one_of(st.just(0.0), st.floats(0.01, 1))


@given(
    edges=st.tuples(LENGTH, LENGTH, LENGTH).filter(any),
    rpy=st.tuples(NUMBER, NUMBER, NUMBER),
    com=st.tuples(NUMBER, NUMBER, NUMBER),
    normal=st.tuples(NUMBER, NUMBER, NUMBER).filter(lambda n: math.hypot(*n) > 0.1),
    inside=st.tuples(*[st.floats(-0.45, 0.45)] * 3),
    mass=st.floats(1e-3, 1e3),
)
def test_parts_of_any_body_add_up_and_are_possible(edges, rpy, com, normal, inside, mass) -> None:
    pose = Transform(rotation_from_rpy(*rpy), Vector(*com))
    body = box(mass, edges).transformed(pose)
    point, n = pose.transform_point(Vector(*(u * e for u, e in zip(inside, edges, strict=True)))), Vector(*normal)
    near, beyond = split_inertia(body, point, n)
    assert_sound(body, near, beyond)
    # each part lies on its side of the plane
    assert n.dot(near.com() - point) <= 1e-9
    assert n.dot(beyond.com() - point) >= -1e-9
    # turned round, the plane gives the same parts
    for part, other in zip((beyond, near), split_inertia(body, point, -n), strict=True):
        assert_same(part, other, 1e-12, whole=body)


@pytest.mark.parametrize("edges", [(0.3, 0.5, 0.9), (0.3, 0.3, 0.9), (0.4, 0.4, 0.4), (0, 0, 0.9), (0, 0.5, 0.5)])
@pytest.mark.parametrize("seed", range(5))
def test_parts_turn_with_the_body(edges, seed) -> None:
    """Also where principal moments are equal, and rounding chooses the axes."""
    random = np.random.default_rng(seed)
    pose = Transform(rotation_from_quaternion(*_unit(random, 4)), Vector(*random.uniform(-1, 1, 3)))
    point, normal = Vector(0.01, 0.02, 0.05), Vector(*_unit(random, 3))
    body = box(2, edges)
    parts = split_inertia(body, point, normal)
    turned = split_inertia(body.transformed(pose), pose.transform_point(point), pose.R.rotate(normal))
    for part, other in zip(parts, turned, strict=True):
        assert_same(part.transformed(pose), other, 1e-11, whole=body.transformed(pose))


def test_a_cylinder_is_cut_squarely_by_a_plane_along_it() -> None:
    """Its box has a square section, of edge sqrt(3) r, turned to the plane: the halves are at sqrt(3)/4 r."""
    m, r, l = 2.0, 0.1, 0.7
    across = m * (3 * r**2 + l**2) / 12
    cylinder = Inertia.from_com(m, ORIGIN, Symmetric3.diagonal(across, across, m * r**2 / 2))
    for angle in (0, 0.3, math.pi / 4):
        _, beyond = split_inertia(cylinder, ORIGIN, Vector(math.cos(angle), math.sin(angle), 0))
        assert math.hypot(*beyond.com()) == pytest.approx(math.sqrt(3) / 4 * r, rel=1e-12)
        assert math.atan2(beyond.com().y, beyond.com().x) == pytest.approx(angle, abs=1e-12)


def test_zeros_stay_structural() -> None:
    """Integers vanish from kernels; 1e-18 would not."""
    for part in split_inertia(box(2, (0.3, 0.5, 0.9), (0, 0, 0.4)), Vector(0, 0, 0.3), Z):
        assert [type(e) for e in (part.h.x, part.h.y, part.J.xy, part.J.xz, part.J.yz)] == [int] * 5
    for part in share_inertia(box(2, (0.3, 0.5, 0.9)), 0.3):
        assert [type(e) for e in (*part.h, part.J.xy, part.J.xz, part.J.yz)] == [int] * 6


def test_a_plate_misprinted_by_rounding_is_cut_all_the_same() -> None:
    """Six digits of x + y miss the triangle inequality; the parts do not."""
    a, b = 0.0123456, 0.234567
    plate = Inertia.from_com(1.5, Vector(0, 0, 0.2), Symmetric3.diagonal(a, b, (a + b) * (1 + 8e-7)))
    near, beyond = split_inertia(plate, Vector(0.2, 0, 0), X)
    assert_same(near + beyond, plate, 1e-6)
    assert (near + beyond).mass == plate.mass
    assert all(impossible_inertia(part.about_com()) is None for part in (near, beyond))


# ---- bodies without extent


def test_a_point_mass_goes_to_its_side() -> None:
    point = Inertia.from_com(2.0, Vector(0.1, 0.7, -0.3), Symmetric3.zero())
    near, beyond = split_inertia(point, Vector(0.2, 0, 0), X)
    assert (near, beyond.mass) == (point, 0)
    near, beyond = split_inertia(point, Vector(0.2, 0, 0), -X)
    assert (near.mass, beyond) == (0, point)


@pytest.mark.parametrize("edges", [(0, 0, 0), (0, 0.4, 0), (0, 0.4, 0.3)])
def test_a_body_in_the_plane_is_halved(edges) -> None:
    body = box(2.0, edges, (0.1, 0.7, -0.3))
    for part in split_inertia(body, Vector(0.1, 0, 0), X):
        assert_same(part, box(1.0, edges, (0.1, 0.7, -0.3)))


def test_a_massless_body_has_massless_parts() -> None:
    for zero in (0, 0.0):
        parts = split_inertia(Inertia(zero, ORIGIN, Symmetric3.zero()), ORIGIN, Z)
        assert [numbers(part).tolist() for part in parts] == [[0] * 10] * 2


# ---- shares


def test_shares_keep_the_centre_and_divide_the_rest() -> None:
    body = box(2.0, (0.3, 0.5, 0.9), (0.1, -0.4, 0.2))
    near, beyond = share_inertia(body, 0.3)
    assert numbers(near) == pytest.approx(0.7 * numbers(body), rel=1e-15)
    assert numbers(beyond) == pytest.approx(0.3 * numbers(body), rel=1e-15)
    assert [*beyond.com()] == pytest.approx([*body.com()], rel=1e-14)
    assert_sound(body, near, beyond)


def test_shares_of_symbols() -> None:
    m, s = sympy.symbols("m s")
    near, beyond = share_inertia(Inertia.from_com(m, Vector(0, 0, 1), Symmetric3.diagonal(m, m, 0)), s)
    assert sympy.expand(near.mass) == m - m * s
    assert beyond.mass == m * s
    assert (beyond.h.x, beyond.J.zz) == (0, 0)
    assert sympy.expand(near.J.xx + beyond.J.xx) == 2 * m


# ---- errors


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, math.nan, "half", None])
def test_shares_that_cannot_be(share) -> None:
    with pytest.raises(RobotError, match="share of body 'arm'"):
        share_inertia(box(1, (1, 1, 1)), share, "body 'arm'")


def test_a_plane_beside_a_rod() -> None:
    with pytest.raises(RobotError, match="leaves nothing of the body before"):
        split_inertia(box(1, (0, 0, 1)), Vector(-0.1, 0, 0), X)


@pytest.mark.parametrize("at, side", [(0.5, "beyond"), (0.6, "beyond"), (-0.5, "before"), (-3, "before")])
@pytest.mark.parametrize("edges", [(1, 1, 1), (0.2, 0.4, 1), (0, 0, 1)])
def test_a_plane_that_misses(at, side, edges) -> None:
    with pytest.raises(RobotError, match=f"leaves nothing of body 'arm' {side} the plane.*0.5 m.*share="):
        split_inertia(box(1, edges, (1, 2, 3)), Vector(0, 0, 3 + at), Z, "body 'arm'")


def test_symbols_are_offered_a_share() -> None:
    m = sympy.Symbol("m")
    body = Inertia.from_com(m, Vector(0, 0, 1), Symmetric3.diagonal(m, m, 0))
    traced = Graph().input("height")
    for case in ((body, ORIGIN, Z), (box(1, (1, 1, 1)), Vector(0, 0, m), Z), (box(1, (1, 1, 1)), Z * traced, Z)):
        with pytest.raises(RobotError, match=r"body 'arm'.*share="):
            split_inertia(*case, "body 'arm'")


@pytest.mark.parametrize("body, point, normal, message", [
    (box(1, (1, 1, 1)), ORIGIN, ORIGIN, "normal .* is .0, 0, 0."),
    (box(1, (1, 1, 1)), Vector(0, math.nan, 0), Z, "nan"),
    (box(1, (1, 1, 1)), ORIGIN, Vector(0, 0, math.inf), "inf"),
    (box(math.inf, (1, 1, 1)), ORIGIN, Z, "inertia of body 'arm'"),
    (box(-1, (1, 1, 1)), ORIGIN, Z, "mass -1 kg"),
    (Inertia(0, ORIGIN, Symmetric3.diagonal(1, 1, 1)), ORIGIN, Z, "mass 0 kg"),
    (Inertia(1, ORIGIN, Symmetric3.diagonal(1, 1, 3)), ORIGIN, Z, "triangle inequality"),
])  # fmt: skip
def test_bodies_and_planes_that_cannot_be(body, point, normal, message) -> None:
    with pytest.raises(RobotError, match=message) as error:
        split_inertia(body, point, normal, "body 'arm'")
    assert "body 'arm'" in str(error.value)


def _unit(random: np.random.Generator, n: int) -> list[float]:
    direction = random.normal(size=n)
    return (direction / np.linalg.norm(direction)).tolist()
