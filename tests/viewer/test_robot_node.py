"""Arrows, cones and centres of mass: the numbers behind what is drawn."""

import numpy as np
import pinocchio as pin
import pytest

import pliant
from pliant.recording.source import Source
from pliant.render.robot_drawing import body_poses
from pliant.render.shapes import directed, quaternions
from pliant.viewer.browser_scene import center_of_mass, friction_of, ground_normals


def test_quaternions_are_those_of_pinocchio() -> None:
    rng = np.random.default_rng(0)
    turns = [pin.exp3(w) for w in rng.normal(size=(20, 3)) * 3]
    # each of the four ways: no turn, and half a turn about each axis
    turns += [np.eye(3), np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])]
    for R, found in zip(turns, quaternions(np.array(turns)), strict=True):
        x, y, z, w = pin.Quaternion(R).coeffs()
        assert abs(np.dot(found, (x, y, z, w))) == pytest.approx(1, abs=1e-12)


def test_center_of_mass_from_poses() -> None:
    robot = pliant.load("biped")
    q = robot.random(1, batch=5)
    found = center_of_mass(robot, body_poses(robot, q))
    np.testing.assert_allclose(found, pliant.center_of_mass(robot, q), atol=1e-12)


def test_directions_are_where_z_goes() -> None:
    rng = np.random.default_rng(1)
    d = np.concatenate([rng.normal(size=(8, 3)), np.eye(3), -np.eye(3), np.zeros((1, 3))])
    R = directed(d)
    np.testing.assert_allclose(np.linalg.det(R), 1, atol=1e-12)
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.tile(np.eye(3), (len(d), 1, 1)), atol=1e-12)
    np.testing.assert_allclose(R[:-1, :, 2] * np.linalg.norm(d[:-1], axis=-1, keepdims=True), d[:-1], atol=1e-12)
    np.testing.assert_array_equal(R[-1, :, 2], (0, 0, 1))  # no force has no direction: upright


def test_normals_are_those_of_the_ground() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(10, 3))
    ground = pliant.waves(0.1, 2.0)
    expected = [list(ground.surface(x, y)[1]) for x, y, _ in points]
    np.testing.assert_allclose(ground_normals(ground, points), expected, atol=1e-14)
    for flat in (pliant.flat(0.2), None):
        np.testing.assert_array_equal(ground_normals(flat, points), np.tile([0, 0, 1], (10, 1)))


def test_friction_is_the_nearest_that_is_known() -> None:
    robot = pliant.load("hopper")
    body = next(iter(robot.bodies))
    robot = robot.with_contact(body, name="own", friction=0.3)
    model = {"contact": {"kind": "RigidContact", "friction": 0.7}}
    assert friction_of(Source(robot, pliant.flat(friction=0.5), settings=model)).tolist() == [0.5, 0.3]
    assert friction_of(Source(robot, pliant.flat(), settings=model)).tolist() == [0.7, 0.3]
    assert friction_of(Source(robot, pliant.flat())).tolist() == [0, 0.3]
