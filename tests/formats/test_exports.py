"""Robots as URDF and as Pinocchio models, and back again: what is kept to rounding, and what is reported as lost."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import pliant
from pliant.dynamics import bias_forces, mass_matrix
from pliant.formats import PinocchioLayout
from pliant.robot import Helical, Mimic, Robot, RobotBuilder, Spherical
from urdf_text import write_urdf

NAMES = ["quadruped", "biped", "arm7", "anymal", "panda", "kinova", "icub", "talos_reduced", "ur5_robot", "tiago_pro"]
# of matrices that differ by the roundings of turns, relative to their largest entry
ROUNDING = 1e-12
BALL = (0.1, 0, 0, 0.1, 0, 0.1)


def compare(a: Robot, b: Robot, seed: int = 0) -> None:
    """Mass matrix and bias forces of two robots with the same joints are the same."""
    rng = np.random.default_rng(seed)
    q, v = a.random(rng), rng.normal(size=a.nv)
    other = b.q_from(a, q).tolist(), b.v_from(a, v).tolist()
    rows = a.v_from(b, np.eye(b.nv)) if a.nv == b.nv else np.eye(a.nv)
    M = np.array(mass_matrix.algorithm(a, q.tolist()))
    again = rows.T @ np.array(mass_matrix.algorithm(b, other[0])) @ rows
    np.testing.assert_allclose(again, M, rtol=0, atol=ROUNDING * abs(M).max())
    bias = np.array(bias_forces.algorithm(a, q.tolist(), v.tolist()))
    found = a.v_from(b, bias_forces.algorithm(b, *other))
    np.testing.assert_allclose(found, bias, rtol=0, atol=ROUNDING * max(abs(bias).max(), 1))


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_by_urdf(name: str, tmp_path: Path) -> None:
    known = pliant.robots()[name]
    robot = pliant.load(name, mimic=True)
    made = robot.to_urdf()
    base = "free" if robot.is_free else "fixed"
    folder = known.path.parent  # type: ignore[union-attr]
    again = pliant.load(made.save(tmp_path / "robot.urdf"), base=base, mimic=True, packages=folder)
    compare(robot, again)
    assert set(robot.frames) <= set(again.frames)
    assert (again.nq, again.nv, list(again.motors)) == (robot.nq, robot.nv, list(robot.motors))
    for joint in robot.joints.values():
        other = again.joints[joint.name]
        assert (other.kind, other.limits, other.damping, other.friction) == (
            joint.kind, joint.limits, joint.damping, joint.friction,
        )  # fmt: skip
    for body in robot.bodies.values():
        found = again.bodies[body.name]
        assert [g.kind for g in found.collisions] == [g.kind for g in body.collisions]
        assert [g.size for g in found.visuals] == [g.size for g in body.visuals]
        # its numbers are those of the first file, by way of the centre of mass: roundings of the larger terms
        np.testing.assert_allclose(found.inertia.mass, body.inertia.mass, rtol=1e-15)
    assert [f.kind for f in made.findings] == ["repaired"] * len(made.findings)


@pytest.mark.parametrize("name", NAMES)
def test_pinocchio_reads_what_is_written(name: str, tmp_path: Path) -> None:
    robot = pliant.load(name)
    path = robot.to_urdf().save(tmp_path / "robot.urdf")
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if robot.is_free else None
    model = pin.buildModelFromUrdf(str(path)) if model is None else model
    masses = sum(inertia.mass for inertia in model.inertias)
    moving = sum(robot.bodies[b].inertia.mass for b, (i, _) in robot.mechanism.poses.items() if i >= 0)
    # the first inertia is that of what is fixed to the world, where Pinocchio counts it
    assert masses - model.inertias[0].mass == pytest.approx(moving, rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_by_pinocchio(name: str) -> None:
    robot = pliant.load(name, mimic=name not in ("kinova", "panda", "tiago_pro"))
    made = robot.to_pinocchio()
    assert (made.model.nq, made.model.nv) == (robot.nq, robot.nv)
    q = robot.random(1)
    np.testing.assert_array_equal(made.layout.q_to_model(q), q)
    # the arrays as they are: a continuous joint comes back as a revolute one without limits
    again, v = pliant.from_pinocchio(made.model), np.random.default_rng(2).normal(size=robot.nv)
    for function, arrays in ((mass_matrix, (q,)), (bias_forces, (q, v))):
        ours, theirs = (np.array(function.algorithm(r, *(x.tolist() for x in arrays))) for r in (robot, again))
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=ROUNDING * max(abs(ours).max(), 1))
    assert not made.findings


def test_a_pinocchio_model_moves_and_couples_as_the_robot() -> None:
    robot = pliant.load("panda", mimic=True).with_motor("panda_joint1", gear=50, rotor_inertia=1e-4)
    made = robot.to_pinocchio()
    rng, data = np.random.default_rng(0), made.model.createData()
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    # of the mimicking finger the mass matrix has no row of its own, and the rotor is armature
    M = pin.crba(made.model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(np.array(mass_matrix.algorithm(robot, q.tolist())), M, rtol=0, atol=1e-13)
    bias = pin.rnea(made.model, data, q, v, np.zeros(robot.nv))
    np.testing.assert_allclose(bias_forces.algorithm(robot, q.tolist(), v.tolist()), bias, rtol=0, atol=1e-12)


def screws_and_balls() -> Robot:
    builder = RobotBuilder("odd")
    for name in "abc":
        builder.body(name, 1, (0, 0.1, 0), BALL)
    builder.joint("screw", Helical((0, 0, 1), 0.1), "world", "a").joint("ball", Spherical(), "a", "b", (0, 0, 1))
    builder.joint("tail", "revolute", "b", "c", axis=(1, 0, 0), mimic=Mimic("screw", 2, 0.1))
    return builder.build()


def test_joints_that_urdf_does_not_have(tmp_path: Path) -> None:
    """A screw is a turn and a slide that follows it, a ball three turns: the mechanism is the same at its zero."""
    robot = screws_and_balls()
    made = robot.to_urdf()
    again = pliant.load(made.save(tmp_path / "odd.urdf"), mimic=True)
    assert (again.nv, {f.subject for f in made.findings}) == (4, {"joint 'screw'", "joint 'ball'"})
    assert again.mass == 3
    q = np.zeros(4)
    q[0] = 0.7
    ours = mass_matrix.algorithm(robot, [0.7, *robot.joints["ball"].kind.neutral()])
    np.testing.assert_allclose(mass_matrix.algorithm(again, q.tolist()), ours, atol=1e-14)


def test_what_is_lost_is_reported() -> None:
    robot = pliant.load("acrobot").with_gravity(0, 0, -1.6).with_joint("shoulder", stiffness=3, armature=0.1)
    robot = robot.with_motor("elbow", gear=50, rotor_inertia=1e-4, viscous_friction=0.1).with_contact("lower")
    robot = robot.with_frame("tip", "lower").with_spring("tip", "world", stiffness=3).with_sensor("encoder")
    text = str(robot.to_urdf().findings)
    for word in ("its spring", "armature", "rotor's inertia", "viscous_friction", "gravity", "contact", "sensors"):
        assert word in text
    assert all(f.kind in ("dropped", "repaired") for f in robot.to_urdf().findings)
    # a model has armature, rotors and gravity
    model = robot.to_pinocchio()
    assert not any(word in str(model.findings) for word in ("armature", "rotor", "gravity"))
    np.testing.assert_allclose(model.model.armature, [0.1, 0.25], rtol=1e-15)


def test_joints_without_a_motor_stay_without(tmp_path: Path) -> None:
    again = pliant.load(pliant.load("acrobot").to_urdf().save(tmp_path / "a.urdf"))
    assert list(again.motors) == ["elbow"]


def test_layout_of_a_model_from_the_same_urdf(tmp_path: Path) -> None:
    """A continuous joint has a cosine and a sine in Pinocchio's own reading."""
    joint = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><axis xyz="0 0 1"/></joint>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{n}">{inertial}</link>' for n in "abc")
    path = write_urdf(tmp_path, links, joint.format("one", "a", "b"), joint.format("two", "b", "c"))
    model = pin.buildModelFromUrdf(str(path))
    layout = PinocchioLayout(pliant.load(path), model)
    assert (model.nq, list(layout.q_to_model([0, np.pi]).round(12))) == (4, [1, 0, -1, 0])
