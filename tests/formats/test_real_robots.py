"""URDFs of example-robot-data: stubs, meshes, coupled joints, impossible inertias.

Joints and numbers of every file are compared with Pinocchio's in ``tests/dynamics/test_pinocchio.py``.
"""

from pathlib import Path

import pytest

from pliant.errors import RobotError
from pliant.formats import load_urdf
from real_robots import LEFT_OUT, PATHS, real_robot


@pytest.mark.parametrize("name", LEFT_OUT)
def test_stub(name: str) -> None:
    with pytest.raises(RobotError, match="no links"):
        load_urdf(PATHS[name])


@pytest.mark.parametrize("name", ["panda_description/panda.urdf", "talos_data/talos_full_v2.urdf"])
def test_meshes_are_found(name: str) -> None:
    robot = real_robot(name)
    meshes = [g for body in robot.bodies.values() for g in body.visuals if g.kind == "mesh"]
    assert meshes
    assert all(g.file and Path(g.file).is_file() for g in meshes)


def test_mimic_joints_of_real_hands() -> None:
    """Coupled, the two fingers of the Panda's hand have one coordinate."""
    robot = real_robot("panda_description/panda.urdf", mimic=True)
    assert (robot.nq, robot.nu) == (8, 8)
    assert robot.q_slice("panda_finger_joint2") == robot.q_slice("panda_finger_joint1")


IMPOSSIBLE = [
    "anymal_b_simple_description/anymal.urdf", "b1_description/b1.urdf", "go1_description/go1.urdf",
    "tiago_description/tiago.urdf", "allegro_hand_description/allegro_left_hand.urdf",
]  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_inertias_are_reported_and_mended(name: str) -> None:
    path = PATHS[name]
    report = [f for f in real_robot(name).report if f.subject.startswith("body")]
    assert report
    assert all(f.kind == "odd" and f.line for f in report)
    with pytest.raises(RobotError):
        load_urdf(path, strict=True)
    repaired = load_urdf(path, repair=True)
    assert [f.subject for f in repaired.report if f.kind == "repaired"] == [f.subject for f in report]
