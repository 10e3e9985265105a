"""Shapes as triangles: closed, turned outward, and of the volume that their corners say."""

import math

import numpy as np
import pytest

from pliant.render.shapes import (
    Mesh, along, arrow, box, capsule, clustered, cone, creased, cylinder, joined, moved, normals, sphere, turned,
)  # fmt: skip

N = 24  # corners around
CIRCLE = N / 2 * math.sin(2 * math.pi / N)  # area of the polygon in the unit circle

SHAPES = {
    "box": (box((1, 2, 3)), 6.0),
    "cylinder": (cylinder(0.5, 2), CIRCLE * 0.25 * 2),
    "cone": (cone(0.5, 3), CIRCLE * 0.25 * 3 / 3),
    "sphere": (sphere(0.5), None),
    "capsule": (capsule(0.3, 1.0), None),
    "taper": (capsule(0.3, 1.0, 0.1), None),
    "arrow": (arrow(1.0, 0.05), None),
}


def volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_closed_and_turn_outward(name: str) -> None:
    mesh, expected = SHAPES[name]
    _, place = np.unique(mesh.vertices.round(12), axis=0, return_inverse=True)
    faces = place.reshape(-1)[mesh.faces]
    edges = [(int(a), int(b)) for face in faces for a, b in zip(face, np.roll(face, -1), strict=True)]
    # every edge once in each direction: no hole, and all faces turn the same way
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    assert volume(mesh) > 0
    if expected is not None:
        assert volume(mesh) == pytest.approx(expected, rel=1e-12)


def test_round_shapes_approach_their_volume() -> None:
    # a polyhedron inside: too small, by a part that falls with the square of the corners
    for shape, exact in ((sphere, 4 / 3 * math.pi), (lambda r, n: capsule(r, 1.0, segments=n), 7 / 3 * math.pi)):
        coarse, fine = (1 - volume(shape(1.0, n)) / exact for n in (24, 48))
        assert 0 < fine < coarse < 0.05
        assert coarse / fine == pytest.approx(4, rel=0.1)


def test_taper_touches_both_balls() -> None:
    mesh = capsule(0.3, 1.0, 0.1)
    low, high = mesh.vertices[:, 2].min(), mesh.vertices[:, 2].max()
    assert (low, high) == pytest.approx((-0.5 - 0.3, 0.5 + 0.1))
    to_balls = [np.linalg.norm(mesh.vertices - [0, 0, z], axis=-1) - r for z, r in ((-0.5, 0.3), (0.5, 0.1))]
    # every corner lies on one of the two balls
    np.testing.assert_allclose(np.minimum(*map(np.abs, to_balls)), 0, atol=1e-12)


def test_sharp_edges_are_split_and_smooth_ones_shared() -> None:
    cube = creased(box((1, 1, 1)))
    assert len(cube.vertices) == 24
    # normals of a cube are those of its sides
    assert set(map(tuple, np.abs(normals(cube)).round(12))) == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    ball = sphere(1.0)
    shared = creased(ball)
    assert len(shared.vertices) == len(np.unique(ball.vertices.round(12), axis=0))
    # normals of a ball point away from its middle; to the second order of 15 degrees between corners
    assert np.einsum("ij,ij->i", normals(shared), shared.vertices).min() > math.cos(math.radians(15) / 2)


def test_clusters_are_few_and_near() -> None:
    fine = sphere(1.0, segments=160)
    coarse = clustered(fine, 2000)
    assert 500 < len(coarse.faces) <= 2000 < len(fine.faces)
    # a cell is at most a tenth of the radius at this count
    np.testing.assert_allclose(np.linalg.norm(coarse.vertices, axis=-1), 1, atol=0.02)
    assert volume(coarse) == pytest.approx(volume(fine), rel=0.05)
    assert len(clustered(fine, 10**6).faces) == len(fine.faces)


def test_moved_mirrored_and_joined() -> None:
    mesh = box((1, 2, 3))
    X = np.diag([-2.0, 1, 1, 1])
    X[:3, 3] = 5
    # a mirror turns faces inside out, and they are turned back
    assert volume(moved(mesh, X)) == pytest.approx(12)
    assert volume(joined([mesh, moved(mesh, X)])) == pytest.approx(18)
    assert joined([]).faces.shape == (0, 3)


@pytest.mark.parametrize("end", [(0, 0, 2), (0, 0, -2), (1, 2, 3), (1e-9, 1, 0)])
def test_along_points_to_the_end(end: tuple[float, ...]) -> None:
    X = along((0, 0, 0), end)
    np.testing.assert_allclose(X[:3, :3] @ X[:3, :3].T, np.eye(3), atol=1e-12)
    assert np.linalg.det(X[:3, :3]) == pytest.approx(1)
    np.testing.assert_allclose(X[:3, 3] + X[:3, 2] * np.linalg.norm(end) / 2, end, atol=1e-12)


def test_turned_drops_what_has_no_area() -> None:
    mesh = turned([(0, 1), (1, 0), (1, 0), (0, -1)], 8)
    assert len(mesh.faces) == 16
