"""Lines of docs/conventions.md on the order of joints."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import pliant
from pliant.robot import Mimic
from stated_conventions import ROD, TIGHT, one_joint, pose

SHIPPED = Path(pliant.__file__).parent / "catalogue" / "urdf"

# ---- joints: order


def test_22_joints_are_in_depth_first_order() -> None:
    builder = pliant.RobotBuilder("tree")
    for name in "abcd":
        builder.body(name, **ROD)
    builder.joint("wa", "revolute", "world", "a").joint("ac", "revolute", "a", "c")
    builder.joint("wb", "revolute", "world", "b").joint("cd", "revolute", "c", "d")
    robot = builder.build()
    assert list(robot.joints) == ["wa", "ac", "cd", "wb"]
    assert list(robot.bodies) == [j.child for j in robot.joints.values()] == ["a", "c", "d", "b"]


def test_23_siblings_in_a_urdf_are_ordered_by_joint_name(star: Path) -> None:
    assert list(pliant.load(star).joints) == ["root_joint", "B", "a", "b"]
    assert list(pin.buildModelFromUrdf(str(star)).names) == ["universe", "B", "a", "b"]


def test_24_siblings_in_the_builder_keep_the_order_of_addition() -> None:
    builder = pliant.RobotBuilder("star").body("one", **ROD).body("two", **ROD)
    robot = builder.joint("b", "revolute", "world", "two").joint("a", "revolute", "world", "one").build()
    assert list(robot.joints) == ["b", "a"]


def test_25_entries_of_q_and_v_follow_the_joints() -> None:
    robot = pliant.load("quadruped")
    iq = iv = 0
    for joint in robot.joints.values():
        nq, nv = joint.kind.nq, joint.kind.nv
        if nv:
            assert (robot.q_slice(joint.name), robot.v_slice(joint.name)) == (slice(iq, iq + nq), slice(iv, iv + nv))
            assert all(n.split(".")[0] == joint.name for n in robot.coordinate_names[iq : iq + nq])
        iq, iv = iq + nq, iv + nv
    assert (iq, iv) == (robot.nq, robot.nv) == (len(robot.coordinate_names), len(robot.velocity_names))


def test_26_the_root_hangs_on_root_joint() -> None:
    floating, bolted = pliant.load("quadruped"), pliant.load("quadruped", base="fixed")
    assert floating.joints["root_joint"].kind.name == "free" and floating.is_free and floating.nv == 18
    assert bolted.joints["root_joint"].kind.name == "fixed" and not bolted.is_free and bolted.nv == 12
    assert "root_joint" not in one_joint("revolute").joints


def test_27_a_configuration_of_pinocchio_is_one_of_pliant() -> None:
    robot = pliant.load("biped")
    model = pin.buildModelFromUrdf(str(SHIPPED / "biped.urdf"), pin.JointModelFreeFlyer())
    data = model.createData()
    rng = np.random.default_rng(1)
    q, v, vd = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)), *rng.normal(size=(2, model.nv))
    tau = pin.rnea(model, data, q, v, vd)
    np.testing.assert_allclose(pliant.inverse_dynamics(robot, q, v, vd), tau, rtol=0, atol=1e-12 * abs(tau).max())
    moved = pin.integrate(model, q, 0.1 * v)
    np.testing.assert_allclose(robot.integrate(q, v, 0.1), moved, atol=TIGHT)


def test_28_mimicking_joints_are_independent_unless_coupled(star: Path) -> None:
    apart, coupled = pliant.load(star), pliant.load(star, mimic=True)
    assert (apart.nq, coupled.nq) == (3, 2)
    assert pin.buildModelFromUrdf(str(star)).nq == 3
    assert coupled.joints["B"].mimic == Mimic("a", -2, 0.5)
    assert coupled.q_slice("B") == coupled.q_slice("a") == slice(0, 1)
    places = [pose(coupled, [0.3, 0.0], body)[0, 3] for body in ("three", "two")]
    assert places == pytest.approx([-2 * 0.3 + 0.5, 0.3])
