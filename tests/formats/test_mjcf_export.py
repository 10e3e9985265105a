"""Robots as MJCF: MuJoCo loads them and agrees, and what MJCF cannot hold is listed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import pliant
from bench.mjcf_peer import MujocoPeer, differences
from closed_robots import parallelogram
from pliant.constrained import contact_jacobian
from pliant.dynamics import bias_forces, mass_matrix
from pliant.errors import RobotError
from pliant.formats import CompilerProcess, MjcfRobot, read_mjcf
from pliant.robot import Geometry, Joint, Mimic, Named, Robot, RobotBuilder
from pliant.spatial import Transform, Vector, rotation_from_rpy

# MuJoCo asks for moments of inertia: what has none gets 1e-13 kg m^2; and it turns tensors to principal axes
LITTLE = 1e-11
SHIPPED = [name for name, known in pliant.robots().items() if known.origin == "pliant"]


@pytest.fixture(scope="module")
def compiler():
    with CompilerProcess() as process:
        yield process


@pytest.fixture
def back(tmp_path: Path, compiler: CompilerProcess):
    def made(robot: Robot, **options) -> MjcfRobot:
        path = robot.to_mjcf().save(tmp_path / "robot.xml")
        return read_mjcf(path, compiler=compiler, **options)

    return made


def agree(robot: Robot, other: Robot, seed: int = 0) -> None:
    """Raise unless two robots have the same coordinates, masses, and equations of motion."""
    assert other.coordinate_names == robot.coordinate_names
    assert float(other.mass) == pytest.approx(float(robot.mass), rel=LITTLE)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q, v = list(robot.random(rng)), list(rng.normal(size=robot.nv))
        M = np.array(mass_matrix(robot, q), dtype=float)
        np.testing.assert_allclose(np.array(mass_matrix(other, q), dtype=float), M, atol=LITTLE * np.abs(M).max())
        b = np.array(bias_forces(robot, q, v), dtype=float)
        size = max(1.0, np.abs(b).max())
        np.testing.assert_allclose(np.array(bias_forces(other, q, v), dtype=float), b, atol=LITTLE * size)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_robots_are_the_same_in_mujoco_and_back(name: str, back, tmp_path: Path) -> None:
    robot = pliant.load(name)
    made = back(robot)
    agree(robot, made.robot)
    found = differences(MujocoPeer(tmp_path / "robot.xml", made), made, states=1)
    assert max(found.values()) < 1e-10, found
    assert [*made.robot.motors] == [*robot.motors]
    for motor in robot.motors.values():
        again = made.robot.motors[motor.name]
        assert (again.control, again.effort_limit) == (motor.control, motor.effort_limit)
    for frame in robot.frames:
        if frame in made.robot.frames:
            q = list(robot.random(1))
            pose = np.array(pliant.frame_pose(robot, q, frame), dtype=float)
            np.testing.assert_allclose(np.array(pliant.frame_pose(made.robot, q, frame), dtype=float), pose, atol=1e-13)


def machine() -> Robot:
    """A robot with a bit of everything."""
    builder = RobotBuilder("machine & <co>")
    shapes = [
        Geometry("box", (0.1, 0.2, 0.3), Transform(rotation_from_rpy(0.1, 0.2, 0.3), Vector(0, 0, 0.1))),
        Geometry("sphere", (0.1,)), Geometry("cylinder", (0.1, 0.3)), Geometry("capsule", (0.1, 0.3)),
        Geometry("mesh", file="nowhere.dae"),
    ]  # fmt: skip
    inertia = (0.02, 0.001, 0.002, 0.03, 0.003, 0.04)
    builder.body("base", 3, (0.01, 0.02, 0.03), inertia, visuals=shapes)
    builder.joint("floating", "free", "world", "base")
    for k, (kind, axis) in enumerate((("revolute", (1, 2, 3)), ("prismatic", (0, 1, 0)), ("continuous", (0, 0, 1)))):
        parent = "base" if k == 0 else f"link{k - 1}"
        builder.body(f"link{k}", 1 + k, (0.1, 0, 0.05), inertia, collisions=shapes[:1])
        builder.joint(
            f"joint{k}", kind, parent, f"link{k}", (0.1, 0.2, 0.3), (0.3, 0.2, 0.1), axis=axis, damping=0.1 * k,
            friction=0.2 * k, armature=0.01, stiffness=5 if k == 1 else 0, rest=0.02 if k == 1 else 0,
            limits=(-1, 2) if k == 0 else None,
        )  # fmt: skip
    builder.body("ball", 0.5, (0, 0, 0.1), inertia)
    builder.joint("shoulder", "spherical", "base", "ball", (0, 0.3, 0), damping=0.1)
    builder.frame("tip", "link2", (0.1, 0.2, 0.3), (1, 2, 3))
    builder.motor("joint0", control="position", kp=30, kd=2, effort_limit=8)
    builder.motor("joint1", control="velocity", kd=3, viscous_friction=0.2)
    builder.motor("joint2", gear=5, rotor_inertia=0.001, effort_limit=4)
    builder.gravity(0.5, 0, -9)
    robot = builder.build()
    robot = robot.with_sensor("imu", "tip").with_sensor("encoder", ["joint0"]).with_spring("tip", "base", stiffness=40)
    return robot.with_closure("point", "tip", "world", name="loop")


def test_a_robot_with_everything(back, tmp_path: Path) -> None:
    robot = machine()
    exported = robot.to_mjcf()
    made = back(robot)
    agree(robot, made.robot)
    again = made.robot
    assert again.name == robot.name
    assert again.joints["joint0"].limits.upper == (2,)
    for what in ("damping", "friction", "stiffness"):
        ours = [getattr(robot.joints[j], what) for j in ("joint0", "joint2", "shoulder")]
        assert [getattr(again.joints[j], what) for j in ("joint0", "joint2", "shoulder")] == ours
    # a motor's own friction and rotor are those of its joint in MuJoCo
    assert again.joints["joint1"].damping[0] == pytest.approx(0.3, rel=1e-15)
    assert again.joints["joint2"].armature[0] == pytest.approx(0.01 + 25 * 0.001, rel=1e-15)
    assert again.springs["tip-base"].stiffness == 40
    assert again.closures["loop"].kind == "point"
    assert [g.kind for g in again.bodies["base"].visuals] == ["box", "sphere", "cylinder", "capsule"]
    assert again.bodies["link0"].collisions[0].size == pytest.approx((0.1, 0.2, 0.3), rel=1e-15)
    assert {s.kind for s in again.sensors.values()} == {"imu", "encoder"}
    dropped = [f.subject for f in exported.findings if f.kind == "dropped"]
    assert "shapes of body 'base'" in dropped
    peer = differences(MujocoPeer(tmp_path / "robot.xml", made), made)
    assert max(peer.values()) < 1e-10, peer


def test_coupled_motors_act_by_tendons(back) -> None:
    robot = pliant.load("two_link_arm")
    robot = robot.with_transmission([*robot.motors], ["shoulder", "elbow"], [[1, 0.5], [0, 2]])
    robot = robot.with_motors(rotor_inertia=1e-3, gear=3)
    made = back(robot)
    # the tendon has the inertia of the rotor, which is in MuJoCo's mass matrix
    assert {m.coupling for m in made.robot.motors.values()} == {m.coupling for m in robot.motors.values()}
    m = mujoco.MjModel.from_xml_string(robot.to_mjcf().text)
    d, M = mujoco.MjData(m), np.zeros((m.nv, m.nv))
    d.qpos[:] = [0.3, -0.4]
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, M)
    np.testing.assert_allclose(np.array(mass_matrix(robot, [0.3, -0.4]), dtype=float), M, atol=1e-11)


def constraints(m: Any, d: Any, q: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """How far MuJoCo's constraints are open at a configuration, and their rows."""
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    d.qpos[:] = q
    mujoco.mj_forward(m, d)
    return d.efc_pos.copy(), d.efc_J.reshape(d.nefc, m.nv).copy()


def test_a_hinge_that_closes_a_loop_is_two_points(back) -> None:
    """What MuJoCo then holds is what the hinge holds: the same directions, and nothing is open where it is closed."""
    robot = parallelogram("hinge")
    exported = robot.to_mjcf()
    assert [f.kind for f in exported.findings] == ["repaired"]
    m = mujoco.MjModel.from_xml_string(exported.text)
    open_, J = constraints(m, mujoco.MjData(m), [0.6, -0.6, 0.6])
    assert len(open_) == 6
    np.testing.assert_allclose(open_, 0, atol=1e-15)
    # of three coordinates, two directions are held: all turn alike
    assert np.linalg.matrix_rank(J, 1e-10) == 2
    np.testing.assert_allclose(J @ [1, -1, 1], 0, atol=1e-15)
    again = back(robot, tree="all").robot
    assert {c.kind for c in again.closures.values()} == {"point"}
    slope = contact_jacobian(again, [0.6, -0.6, 0.6], contacts=tuple(again.closures))
    np.testing.assert_allclose(np.array(slope, float) @ [1, -1, 1], 0, atol=1e-14)


def follows(robot: Robot, name: str, leader: str, offset: float) -> list[Joint]:
    """The joints of a robot, one of which follows another."""
    mimic = Mimic(leader, 1, offset)
    return [replace(joint, mimic=mimic) if joint.name == name else joint for joint in robot.joints.values()]


@pytest.mark.parametrize("end", ["end", "world"])
def test_a_length_is_a_tendon_that_is_held(back, end: str) -> None:
    """MuJoCo counts from the length that the tendon has in the file's pose, where followers are at 0."""
    robot = replace(parallelogram(copies=0), joints=Named("joint", follows(parallelogram(), "right", "left", 0.2)))
    robot = robot.with_closure("distance", end, "tip", length=0.3, name="rod")
    m = mujoco.MjModel.from_xml_string(robot.to_mjcf().text)
    again = back(robot, tree="all").robot.closures["rod"]
    assert (again.kind, again.length) == ("distance", pytest.approx(0.3, rel=1e-14))
    for q in ([0.3, 0.2], [-1.0, 0.7]):
        apart = np.array(pliant.frame_pose(robot, q, "tip"), float)[:3, 3]
        apart = apart - (np.array(pliant.frame_pose(robot, q, "end"), float)[:3, 3] if end == "end" else 0)
        open_, _ = constraints(m, mujoco.MjData(m), [q[0], q[1], q[0] + 0.2])
        assert abs(open_ - (np.linalg.norm(apart) - 0.3)).min() < 1e-14


def test_what_mjcf_has_in_another_form(back) -> None:
    builder = RobotBuilder("odd")
    for k in range(3):
        builder.body(f"b{k}", 1, (0.1, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1))
    builder.joint("plane", "planar", "world", "b0")
    builder.joint("lead", "revolute", "b0", "b1")
    builder.joint("follow", "revolute", "b1", "b2", mimic=Mimic("lead", 2, 0.1))
    robot = builder.build()
    exported = robot.to_mjcf()
    assert {f.subject for f in exported.findings if f.kind == "repaired"} >= {"joint 'plane'", "joint 'follow'"}
    again = back(robot).robot
    assert [*again.joints] == ["plane_x", "plane_y", "plane_turn", "lead", "follow"]
    mimic = again.joints["follow"].mimic
    assert mimic is not None
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("lead", 2, 0.1)


def test_keyframes_go_both_ways(back, tmp_path: Path, compiler: CompilerProcess) -> None:
    text = '<mujoco><worldbody><body name="b"><freejoint name="f"/><geom size="0.1"/><body name="c"><joint name="j"/>'
    text += '<geom size="0.1" pos="1 0 0"/></body></body></worldbody>'
    text += '<keyframe><key name="home" qpos="1 2 3 0.6 0.8 0 0 0.5"/></keyframe></mujoco>'
    path = tmp_path / "first.xml"
    path.write_text(text)
    first = read_mjcf(path, compiler=compiler)
    again = back(first.robot)
    np.testing.assert_allclose(again.keyframes["home"], first.keyframes["home"], atol=1e-15)


def test_symbols_have_no_value() -> None:
    pytest.importorskip("sympy")
    with pytest.raises(RobotError):
        pliant.load("pendulum").symbolic("masses").robot.to_mjcf()


def test_save_writes_the_text(tmp_path: Path) -> None:
    exported = pliant.load("pendulum").to_mjcf()
    assert exported.save(tmp_path / "p.xml").read_text() == exported.text == str(exported)
