"""What robots look like: shapes of files, trees where there are none, and where bodies are."""

import gc
import weakref
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import pliant
from pliant.meshes import MeshFile, read_mesh
from pliant.render.robot_drawing import (
    DEFAULT_COLOR, body_poses, drawing, homogeneous, inertia_box, points_of_contacts, reach,
)  # fmt: skip
from pliant.render.shapes import ground_mesh
from pliant.render.studio import _ground_mesh
from pliant.robot import RobotBuilder
from real_robots import PATHS
from urdf_text import INERTIAL

STL = "solid t\n" + "".join(
    "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in t) + "endloop\nendfacet\n"
    for t in [((0, 0, 0), (0, 1, 0), (1, 0, 0)), ((0, 0, 0), (1, 0, 0), (0, 0, 1)),
              ((0, 0, 0), (0, 0, 1), (0, 1, 0)), ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
) + "endsolid t\n"  # fmt: skip


def robot_with(folder: Path, shapes: str) -> pliant.Robot:
    folder.joinpath("r.urdf").write_text(f'<robot name="r"><link name="a">{INERTIAL}{shapes}</link></robot>')
    return pliant.load(folder / "r.urdf", base="free")


def visual(shape: str, color: str = "") -> str:
    paint = f'<material name="m"><color rgba="{color}"/></material>' if color else ""
    return f'<visual><origin xyz="1 2 3"/><geometry>{shape}</geometry>{paint}</visual>'


def test_bodies_are_where_frames_are() -> None:
    robot = pliant.load("biped")
    q = robot.random(3, batch=6)
    poses = body_poses(robot, q.reshape(2, 3, -1))
    assert poses.shape == (2, 3, len(robot.bodies), 4, 4)
    for k, name in enumerate(robot.bodies):
        expected = np.asarray(pliant.frame_pose(robot, q, name)).reshape(2, 3, 4, 4)
        # the same chain of products, in another order
        np.testing.assert_allclose(poses[:, :, k], expected, atol=1e-12)
    np.testing.assert_array_equal(body_poses(robot, q[0]), poses[0, 0])
    with pytest.raises(pliant.PliantError, match=r"q has shape \(3,\); its last axis takes the nq = 2"):
        body_poses(pliant.load("two_link_arm"), np.zeros(3))


def test_contact_points_are_on_their_bodies() -> None:
    robot = pliant.load("hopper")
    q = robot.random(5, batch=4)
    points = points_of_contacts(robot, q)
    assert points.shape == (4, 2, 3)
    for k, point in enumerate(robot.contact_points):
        X = np.asarray(pliant.frame_pose(robot, q, point.body))
        expected = X[:, :3, :3] @ np.array([float(c) for c in point.center]) + X[:, :3, 3]
        np.testing.assert_allclose(points[:, k], expected, atol=1e-12)


def test_shapes_are_placed_coloured_and_scaled(tmp_path: Path) -> None:
    (tmp_path / "t.stl").write_text(STL)
    shapes = visual('<box size="1 2 4"/>', "1 0 0 0.5") + visual('<mesh filename="t.stl" scale="2 2 -2"/>')
    found = drawing(robot_with(tmp_path, shapes))
    red, grey = found.parts
    assert (red.color, grey.color) == ((1, 0, 0, 0.5), DEFAULT_COLOR)
    np.testing.assert_allclose([red.vertices.min(axis=0), red.vertices.max(axis=0)], [(0.5, 1, 1), (1.5, 3, 5)])
    np.testing.assert_allclose([grey.vertices.min(axis=0), grey.vertices.max(axis=0)], [(1, 2, 1), (3, 4, 3)])
    # mirrored, its faces still turn outward: away from its middle
    middle = grey.vertices.mean(axis=0)
    assert (np.einsum("ij,ij->i", grey.normals, grey.vertices - middle) > 0).all()
    assert found.notes == ()
    low, high = found.bounds(np.array([10, 0, 0, 0, 0, 0, 1.0]))
    np.testing.assert_allclose([low, high], [(10.5, 1, 1), (13, 4, 5)])


def test_lost_meshes_are_noted_and_drawn_from_the_tree(tmp_path: Path) -> None:
    (tmp_path / "bad.stl").write_bytes(b"solid")
    shapes = visual('<mesh filename="lost.stl"/>') + visual('<mesh filename="bad.stl"/>')
    found = drawing(robot_with(tmp_path, shapes))
    assert len(found.notes) == 2
    assert "lost.stl; drawn from the tree instead" in found.notes[0]
    assert [part.name for part in found.parts] == ["a/link 0", "a/mass"]
    # what was missing is looked for again
    robot = robot_with(tmp_path, visual('<mesh filename="t.stl"/>'))
    assert "t.stl" in drawing(robot).notes[0]
    (tmp_path / "t.stl").write_text(STL)
    assert drawing(robot).notes == ()


def test_collisions_stand_in_for_visuals(tmp_path: Path) -> None:
    ball = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
    (part,) = drawing(robot_with(tmp_path, ball)).parts
    assert np.linalg.norm(part.vertices, axis=-1) == pytest.approx(0.5)
    both = ball + visual('<box size="1 1 1"/>')
    assert len(drawing(robot_with(tmp_path, both)).parts[0].vertices) == 24
    assert len(drawing(robot_with(tmp_path, both), collisions=True).parts[0].vertices) > 24


def test_a_robot_without_shapes_is_drawn_from_its_tree() -> None:
    robot = pliant.catalogue.hopper_flight()
    found = drawing(robot)
    assert {part.name.split("/")[1].split()[0] for part in found.parts} == {"link", "joint", "mass"}
    assert 0.2 * reach(robot) < found.size < 5 * reach(robot)
    assert len({part.name for part in found.parts}) == len(found.parts)


def test_the_box_of_an_inertia_has_that_inertia() -> None:
    builder = RobotBuilder("brick")
    moments = (2 / 12 * (4 + 9), 0, 0, 2 / 12 * (1 + 9), 0, 2 / 12 * (1 + 4))
    builder.body("brick", mass=2.0, com=(0.1, 0.2, 0.3), inertia=moments)
    X, sides = inertia_box(builder.build(base="free").bodies["brick"])
    np.testing.assert_allclose(np.sort(sides), (1, 2, 3), rtol=1e-9)
    np.testing.assert_allclose(X[:3, 3], (0.1, 0.2, 0.3))
    assert np.linalg.det(X[:3, :3]) == pytest.approx(1)


def test_detail_is_kept() -> None:
    robot = pliant.load(PATHS["bolt_description/bolt.urdf"])
    fine, coarse = drawing(robot), drawing(robot, detail=4000)
    assert sum(len(p.faces) for p in coarse.parts) <= 4000 < sum(len(p.faces) for p in fine.parts)
    # clusters of this size move the outline by less than a hundredth of the robot
    for a, b in zip(fine.bounds(), coarse.bounds(), strict=True):
        np.testing.assert_allclose(a, b, atol=0.02 * fine.size)


def test_a_drawing_is_made_once_and_goes_with_its_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.stl").write_text(STL)
    shapes = visual('<mesh filename="t.stl"/>') + visual('<mesh filename="t.stl" scale="2 2 2"/>', "1 0 0 1")
    robot = robot_with(tmp_path, shapes)
    opened = Mock(wraps=MeshFile.surfaces)
    monkeypatch.setattr(MeshFile, "surfaces", lambda mesh, packages=(): opened(mesh))
    first = drawing(robot)
    assert opened.call_count == 1, "a file that is used twice is read once"
    assert drawing(robot).parts is first.parts
    assert opened.call_count == 1
    assert drawing(robot, detail=100).parts is not first.parts
    assert drawing(robot, packages=tmp_path).parts is not first.parts
    with pytest.raises(ValueError, match="read-only"):
        first.parts[0].vertices[0] = 0
    there = weakref.ref(robot)
    del robot, first
    gc.collect()
    assert there() is None


def test_a_real_robot_has_the_corners_of_its_files() -> None:
    robot = pliant.load(PATHS["bolt_description/bolt.urdf"])
    parts = {part.body: part for part in drawing(robot).parts}
    for name, body in robot.bodies.items():
        for g in body.visuals:
            X = homogeneous(g.placement)
            points = (read_mesh(g.file) * np.array(g.scale)) @ X[:3, :3].T + X[:3, 3]
            expected = [points.min(axis=0), points.max(axis=0)]
            found = [parts[name].vertices.min(axis=0), parts[name].vertices.max(axis=0)]
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_ground_is_sampled() -> None:
    flat = ground_mesh(pliant.flat(0.3), (-1, -2, 3, 4))
    assert len(flat.faces) == 2
    assert (flat.vertices[:, 2] == 0.3).all()
    ground = pliant.waves(0.1, 2.0)
    wavy = ground_mesh(ground, (-1, -2, 3, 4), cells=40)
    x, y, z = wavy.vertices.T
    np.testing.assert_allclose(z, ground.height(x, y), atol=1e-15)
    a, b, c = (wavy.vertices[wavy.faces[:, k]] for k in range(3))
    up = np.cross(b - a, c - a)[:, 2] / 2
    assert (up > 0).all()
    assert up.sum() == pytest.approx(4 * 6)


def test_height_maps_are_drawn_at_their_own_points() -> None:
    field = pliant.terrain.tiles(0.4, 0.2, size=4, spacing=0.1)
    ground = field.ground()
    mesh = ground_mesh(ground, (-1.03, -5, 1, 0.52))
    x, y, z = mesh.vertices.T
    for values, low, high in ((x, -1.03, 1), (y, -5, 0.52)):
        lines = np.unique(values)
        assert (lines[0], lines[-1]) == (low, high)
        # beyond the map, which begins at -2, the ground is level across its edge
        inside = lines[(lines > max(low, -2.05)) & (lines < high)]
        np.testing.assert_allclose(np.diff(inside), 0.1, rtol=0, atol=1e-12)
        np.testing.assert_allclose(inside / 0.1, np.rint(inside / 0.1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(z, ground.height(x, y), atol=1e-15)
    # of a large map, some
    large = pliant.terrain.flat(size=(100, 100), spacing=0.1).ground()
    assert len(ground_mesh(large, (-50, -50, 50, 50), cells=20).vertices) <= 42**2
    far = ground_mesh(ground, (10, 10, 11, 12))
    assert len(far.faces) == 2, "off the map"


def test_the_ground_around_a_robot_has_the_edges_of_the_map() -> None:
    field = pliant.terrain.steps(0.1, 0.3, size=6, spacing=0.05)
    mesh = _ground_mesh(field.ground(), np.array([-0.5, -0.5]), np.array([0.5, 0.5]), 20.0)
    near = abs(mesh.vertices[:, :2]).max(axis=1) < 2.9
    steps = mesh.vertices[near, 2] / 0.1
    # no point between two treads
    np.testing.assert_allclose(steps, np.rint(steps), rtol=0, atol=1e-4)
