"""Every URDF of example-robot-data that Pinocchio loads: the same joints in the same order, the same numbers."""

from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from pliant.errors import RobotError
from pliant.formats import load_urdf
from pliant.robot import Robot
from pliant.spatial import Transform

# by folder and file name, e.g. "panda_description/panda.urdf"
PATHS = {
    f"{file.parts[-3]}/{file.name}": Path(str(file.locate()))
    for file in sorted(files("example-robot-data") or [])
    if file.suffix == ".urdf"
}
STUBS = ["ur_description/ur3.urdf"]  # an empty <robot>, which Pinocchio refuses, too
ROBOTS = [name for name in PATHS if name not in STUBS]


def pinocchio_model(name: str, base: str) -> pin.Model:
    path = str(PATHS[name])
    return pin.buildModelFromUrdf(path) if base == "fixed" else pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())


def matrix(X: Transform) -> np.ndarray:
    return np.array(X.homogeneous(), dtype=float)


def test_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(
            f"\n{len(ROBOTS)} of {len(PATHS)} URDFs of example-robot-data, fixed and free; left out: {', '.join(STUBS)}"
        )
    assert len(ROBOTS) == len(PATHS) - len(STUBS) >= 60


@pytest.mark.parametrize("name", STUBS)
def test_stub(name: str) -> None:
    with pytest.raises(RobotError, match="no links"):
        load_urdf(PATHS[name])


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", ROBOTS)
def test_joints_are_pinocchios(name: str, base) -> None:
    robot, model = load_urdf(PATHS[name], base=base), pinocchio_model(name, base)
    moving = [joint for joint in robot.joints.values() if joint.kind.nv]
    continuous = [joint for joint in moving if joint.kind.name == "continuous"]
    assert [joint.name for joint in moving] == list(model.names)[1:]
    assert robot.nv == model.nv
    # one angle here, cosine and sine there
    assert robot.nq == model.nq - len(continuous)
    for joint, theirs in zip(moving, list(model.joints)[1:], strict=True):
        assert robot.v_slice(joint.name) == slice(theirs.idx_v, theirs.idx_v + theirs.nv)
    assert robot.nu == sum(j.kind.nv == 1 and j.limits.effort[0] > 0 for j in moving)


@pytest.mark.parametrize("name", ROBOTS)
def test_numbers_are_pinocchios(name: str) -> None:
    """Placements, inertias, limits, damping and friction, with fixed joints merged as Pinocchio does."""
    robot, model = load_urdf(PATHS[name], base="free").lumped(), pinocchio_model(name, "free")
    assert list(robot.joints) == list(model.names)[1:]
    for i, joint in enumerate(robot.joints.values(), start=1):
        # chains of fixed joints multiply placements: a few roundings, of lengths of about 1 m
        np.testing.assert_allclose(matrix(joint.placement), model.jointPlacements[i].homogeneous, atol=1e-14)
        ours, theirs = robot.bodies[joint.child].inertia, model.inertias[i]
        assert ours.mass == pytest.approx(theirs.mass, rel=1e-14, abs=0)
        scale = 1e-13 * max(1, theirs.mass)
        np.testing.assert_allclose(list(ours.h), theirs.mass * theirs.lever, atol=scale)
        J = np.array(list(ours.J.full()), dtype=float).reshape(3, 3)
        np.testing.assert_allclose(J, theirs.matrix()[3:, 3:], atol=scale)
        if joint.kind.nv == 1:
            check_scalars(robot, joint.name, model, i)


def check_scalars(robot: Robot, name: str, model: pin.Model, i: int) -> None:
    joint, theirs = robot.joints[name], model.joints[i]
    assert joint.damping[0] == model.damping[theirs.idx_v]
    assert joint.friction[0] == model.upperDryFrictionLimit[theirs.idx_v]
    # a continuous joint without <limit> has none here; Pinocchio's is its largest float or infinity
    assert min(joint.limits.effort[0], 1e300) == min(model.upperEffortLimit[theirs.idx_v], 1e300)
    assert min(joint.limits.velocity[0], 1e300) == min(model.upperVelocityLimit[theirs.idx_v], 1e300)
    if joint.kind.name != "continuous":
        assert joint.limits.lower[0] == model.lowerPositionLimit[theirs.idx_q]
        assert joint.limits.upper[0] == model.upperPositionLimit[theirs.idx_q]


@pytest.mark.parametrize("name", ["panda_description/panda.urdf", "talos_data/talos_full_v2.urdf"])
def test_meshes_are_found(name: str) -> None:
    robot = load_urdf(PATHS[name])
    meshes = [g for body in robot.bodies.values() for g in body.visuals if g.kind == "mesh"]
    assert meshes
    assert all(g.file and Path(g.file).is_file() for g in meshes)


def test_mimic_joints_of_real_hands() -> None:
    """Coupled, the two fingers of the Panda's hand have one coordinate."""
    robot = load_urdf(PATHS["panda_description/panda.urdf"], mimic=True)
    assert (robot.nq, robot.nu) == (8, 8)
    assert robot.q_slice("panda_finger_joint2") == robot.q_slice("panda_finger_joint1")


IMPOSSIBLE = [
    "anymal_b_simple_description/anymal.urdf", "b1_description/b1.urdf", "go1_description/go1.urdf",
    "tiago_description/tiago.urdf", "allegro_hand_description/allegro_left_hand.urdf",
]  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_inertias_are_reported_and_mended(name: str) -> None:
    path = PATHS[name]
    report = [f for f in load_urdf(path).report if f.subject.startswith("body")]
    assert report
    assert all(f.kind == "odd" and f.line for f in report)
    with pytest.raises(RobotError):
        load_urdf(path, strict=True)
    repaired = load_urdf(path, repair=True)
    assert [f.subject for f in repaired.report if f.kind == "repaired"] == [f.subject for f in report]
