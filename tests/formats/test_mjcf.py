"""MJCF files by MuJoCo's compiler: the same numbers as MuJoCo, what has no counterpart, and files that are refused."""

import math
import os
import pickle
from importlib.metadata import files
from pathlib import Path

import mujoco
import numpy as np
import pytest

import pliant
from bench.mjcf_peer import MujocoPeer, differences
from pliant.errors import PliantError, RobotError
from pliant.formats import CompilerProcess, MjcfRobot, load_mjcf, read_mjcf
from pliant.formats.mjcf_files import MjcfFiles
from pliant.formats.mjcf_motors import ActivatedLaw
from pliant.robot import MotorLaw
from pliant.storage.source_codec import StoredMesh, robot_from_plain, robot_to_plain

GYMNASIUM = sorted(
    Path(str(file.locate())) for file in files("gymnasium") or [] if file.suffix == ".xml" and "mujoco" in file.parts
)
# both compute in doubles, along chains of ten bodies or so
ROUNDING = 1e-10

LEG = """
<mujoco model="leg">
  <compiler angle="radian"/>
  <option gravity="0.1 0.2 -9" timestep="0.003"/>
  <default><joint damping="0.1"/><default class="knee"><joint armature="0.02" range="-2 0.5"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <site name="origin" pos="0.5 0 0"/>
    <body name="trunk" pos="0 0 1" quat="0.8 0.6 0 0">
      <freejoint name="base"/>
      <geom type="box" size="0.2 0.1 0.05" rgba="1 0 0 1"/>
      <camera name="eye" pos="0.2 0 0"/>
      <site name="imu" pos="0.1 0.02 0.03" euler="0.1 0.2 0.3"/>
      <body name="thigh" pos="0 0.1 0" euler="0 0.3 0">
        <joint name="roll" axis="1 0 0" pos="0 0 0.02" ref="0.3" stiffness="3" springref="0.1"/>
        <joint name="pitch" axis="0 1 0.2" pos="0 0.01 0" frictionloss="0.2"/>
        <joint name="slide" type="slide" axis="0 0 1" ref="0.05" range="-0.1 0.1" pos="0 0.2 0"/>
        <geom type="capsule" size="0.03 0.1" pos="0 0 -0.15"/>
        <body name="shin" pos="0 0 -0.3">
          <joint name="knee" class="knee" axis="0 1 0"/>
          <geom name="shin" type="cylinder" size="0.02 0.1" pos="0 0 -0.15" friction="0.7 0.01 0.001" condim="4"/>
          <site name="foot" pos="0 0 -0.3"/>
          <body name="toe" pos="0 0 -0.3">
            <joint name="toe_ball" type="ball" pos="0 0 0.03" stiffness="2"/>
            <geom type="ellipsoid" size="0.03 0.02 0.01" group="3"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="both"><joint joint="pitch" coef="2"/><joint joint="knee" coef="-1"/></fixed></tendon>
  <actuator>
    <motor name="roll" joint="roll" gear="20" ctrlrange="-1 1"/>
    <position name="knee" joint="knee" kp="30" kv="2" gear="1.5" forcerange="-10 10"/>
    <velocity name="slide" joint="slide" kv="5" ctrlrange="-0.5 0.5"/>
    <motor name="both" tendon="both" gear="3" ctrlrange="-2 2"/>
    <damper name="brake" joint="pitch" kv="4" ctrlrange="0 1"/>
    <general name="odd" joint="knee" gainprm="2 0.1 0.2" gaintype="affine" biastype="affine" biasprm="1 2 3"
             forcerange="-1 5"/>
    <general name="slow" joint="roll" dyntype="filter" dynprm="0.1" gainprm="7" actrange="-0.5 1"/>
    <general name="sum" joint="knee" dyntype="integrator" gainprm="2" biastype="affine" biasprm="0 -1 0"/>
  </actuator>
  <sensor>
    <gyro name="gyro" site="imu"/><accelerometer name="acc" site="imu"/>
    <jointpos joint="knee"/><jointvel joint="knee"/><framepos objtype="site" objname="foot"/>
    <rangefinder name="down" site="foot" cutoff="3"/><magnetometer name="north" site="imu"/>
  </sensor>
  <keyframe>
    <key name="home" qpos="0 0 0.7 1 0 0 0 0.3 0.1 0.05 -0.8 1 0 0 0" ctrl="1 0.2 0.3 0 0 0 0 0"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture(scope="module")
def compiler():
    with CompilerProcess() as process:
        yield process


@pytest.fixture
def read(tmp_path: Path, compiler: CompilerProcess):
    def made(text: str, **options) -> MjcfRobot:
        path = tmp_path / "robot.xml"
        path.write_text(text)
        return read_mjcf(path, compiler=compiler, **options)

    return made


def body(inside: str, name: str = "b", more: str = "") -> str:
    """A model of one body with a shape, and whatever else."""
    return (
        f'<mujoco><worldbody><body name="{name}">{inside}<geom name="g" type="box" size="0.1 0.2 0.3"/></body>'
        f"</worldbody>{more}</mujoco>"
    )


# ---- the same numbers as MuJoCo


@pytest.mark.parametrize("path", GYMNASIUM, ids=lambda path: path.stem)
def test_gymnasiums_robots_are_those_of_mujoco(path: Path, compiler: CompilerProcess) -> None:
    made = read_mjcf(path, compiler=compiler)
    found = differences(MujocoPeer(path, made), made, states=2)
    assert max(found.values()) < ROUNDING, found


def test_every_joint_and_actuator_has_the_numbers_of_mujoco(read, tmp_path: Path) -> None:
    made = read(LEG)
    found = differences(MujocoPeer(tmp_path / "robot.xml", made), made, states=5)
    assert {*found} == {"mass", "mass matrix", "bias", "passive", "poses", "torques"}
    assert max(found.values()) < ROUNDING, found


def test_gymnasium_is_there() -> None:
    assert len(GYMNASIUM) >= 14


def test_what_a_model_says(read, tmp_path: Path) -> None:
    made = read(LEG)
    robot = made.robot
    assert (robot.name, robot.is_free, robot.nq, robot.nv) == ("leg", True, 15, 13)
    assert [float(g) for g in robot.gravity] == [0.1, 0.2, -9]
    knee = robot.joints["knee"]
    assert (knee.limits.lower, knee.limits.upper, knee.armature, knee.damping) == ((-2,), (0.5,), (0.02,), (0.1,))
    assert (robot.joints["roll"].stiffness, robot.joints["roll"].rest) == ((3,), 0.1)
    assert robot.joints["pitch"].friction == (0.2,)
    assert {"imu", "foot", "eye", "origin"} <= {*robot.frames}
    assert robot.file == (tmp_path / "robot.xml").absolute()
    motors = robot.motors
    assert (motors["roll"].control, motors["roll"].effort_limit) == ("torque", 20)
    assert (motors["knee"].control, motors["knee"].kp, motors["knee"].kd) == ("position", 30 * 1.5**2, 2 * 1.5**2)
    assert motors["knee"].effort_limit == 15
    assert (motors["slide"].control, motors["slide"].kd) == ("velocity", 5)
    assert motors["both"].coupling == (("pitch", 6), ("knee", -3))
    assert isinstance(motors["slow"].law, MotorLaw)
    assert {s.name: s.kind for s in robot.sensors.values()} == {
        "down": "range", "imu_imu": "imu", "sensor4": "pose", "encoder": "encoder",
    }  # fmt: skip
    assert made.timestep == 0.003
    assert made.friction["shin"] == (0.7, 0.01, 0)
    # MuJoCo's controls become torques, angles and rates at the joints
    np.testing.assert_allclose(made.u([2, 0.3, 2, 1, 1, 1, 1, 1])[:3], [20, 0.2, 0.5], rtol=1e-15)


def test_shapes(read) -> None:
    robot = read(LEG).robot
    (trunk,) = robot.bodies["trunk"].visuals
    assert (trunk.kind, trunk.size, trunk.color) == ("box", (0.4, 0.2, 0.1), (1, 0, 0, 1))
    assert robot.bodies["shin"].collisions[0].size == (0.02, 0.2)
    # shapes in a group that is not drawn are there to touch
    assert robot.bodies["toe"].visuals == ()
    (toe,) = robot.bodies["toe"].collisions
    points = toe.mesh.points()  # type: ignore[union-attr]
    np.testing.assert_allclose(np.sum((points / [0.03, 0.02, 0.01]) ** 2, axis=1), 1, rtol=1e-12)
    assert "toe" in {shape.body for shape in robot.with_collision_contacts().contacts.values()}


def test_keyframes_are_stances(read) -> None:
    made = read(LEG)
    expected = [0, 0, 0.7, 0, 0, 0, 1, 0.3, 0.1, 0.05, -0.8, 0, 0, 0, 1]
    np.testing.assert_array_equal(made.keyframes["home"], expected)
    np.testing.assert_array_equal(made.robot.stance(), expected)
    np.testing.assert_array_equal(made.robot.stance("home"), expected)
    assert made.keyframe_controls["home"][:3].tolist() == [20, 0.2 / 1.5, 0.3]
    with pytest.raises(RobotError) as error:
        made.robot.stance("hom")
    assert "home" in str(error.value)


def test_states_go_both_ways(read) -> None:
    made, rng = read(LEG), np.random.default_rng(0)
    q, v = made.robot.random(rng, 3), rng.normal(size=(3, made.robot.nv))
    np.testing.assert_allclose(made.q(made.qpos(q)), q, atol=1e-15)
    np.testing.assert_allclose(made.v(made.qpos(q), made.qvel(q, v)), v, atol=1e-14)


FLYING = """
<mujoco><option gravity="0 0 -2" integrator="RK4"/><worldbody><body name="trunk"><freejoint name="base"/>
  <geom type="box" size="0.2 0.1 0.05"/>
  <body name="arm" pos="0.2 0 0"><joint name="shoulder" type="ball" damping="0.02"/>
    <geom type="box" size="0.1 0.05 0.08" pos="0.1 0 0"/>
    <body name="hand" pos="0.2 0 0"><joint name="wrist" axis="0 1 0.3" pos="0 0 0.01" stiffness="2" ref="0.2"/>
      <joint name="thumb" type="slide" axis="1 0 0" stiffness="50" damping="0.5"/>
      <geom type="box" size="0.1 0.08 0.05" pos="0.1 0 0"/></body></body>
</body></worldbody></mujoco>
"""


def test_one_second_without_contact_is_that_of_mujocos_rk4(read, tmp_path: Path) -> None:
    made = read(FLYING)
    robot, rng = made.robot, np.random.default_rng(3)
    q = robot.random(rng)
    v = 0.5 * rng.normal(size=robot.nv)
    sim = pliant.Simulation(robot, dt=1e-2, integrator="dormand-prince", rtol=1e-12, atol=1e-12)
    sim.reset(q=q, v=v)
    sim.run(1.0)
    exact = made.qpos(np.asarray(sim.q).reshape(-1))
    errors = []
    for dt in (1e-2, 5e-3):
        m = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT.value
        m.opt.timestep = dt
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = made.qpos(q), made.qvel(q, v)
        mujoco.mj_step(m, d, round(1 / dt))
        sign = np.ones(m.nq)
        for at in (3, 7):  # a quaternion and its negative are one orientation
            sign[at : at + 4] = np.sign(d.qpos[at : at + 4] @ exact[at : at + 4])
        errors.append(np.abs(sign * d.qpos - exact).max())
    # of fourth order: half the step, a sixteenth of the error
    assert errors[1] < 1e-6
    assert 8 < errors[0] / errors[1] < 32


# ---- activation


def test_activation_moves_as_in_mujoco(read, tmp_path: Path) -> None:
    for kind, tau in (("filter", 0.05), ("filterexact", 0.05), ("integrator", 1.0)):
        actuator = f'<general name="m" joint="j" dyntype="{kind}" dynprm="{tau}" gainprm="3" actrange="-0.4 0.6"/>'
        text = body('<joint name="j" axis="0 0 1"/>', more=f"<actuator>{actuator}</actuator>")
        law = read(text).robot.motors["m"].law
        m = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
        d = mujoco.MjData(m)
        memory, rng = law.memory, np.random.default_rng(1)
        for _ in range(50):
            u = rng.normal() * 2
            d.ctrl[0] = u
            t, q, v = d.time, float(d.qpos[0]), float(d.qvel[0])
            mujoco.mj_step(m, d)
            torque, memory = law.function(u, q, v, t, memory)
            assert torque == pytest.approx(d.actuator_force[0], abs=1e-12)


def test_laws_pickle_and_are_stored(read) -> None:
    robot = read(LEG).robot
    again = pickle.loads(pickle.dumps(robot))
    assert again.motors["odd"].law == robot.motors["odd"].law
    plain, meshes = robot_to_plain(robot)
    stored = robot_from_plain(plain, lambda k: StoredMesh(meshes[k]))
    law = stored.motors["slow"].law
    assert isinstance(law, MotorLaw)
    assert len(law.memory) == len(robot.motors["slow"].law.memory)  # type: ignore[union-attr]


def test_an_activated_motor_runs(read) -> None:
    actuator = '<general name="m" joint="j" dyntype="filter" dynprm="0.1" gainprm="0.5"/>'
    text = '<mujoco><option gravity="0 0 0"/>' + body(
        '<joint name="j" axis="0 0 1"/>', more=f"<actuator>{actuator}</actuator>"
    ).removeprefix("<mujoco>")
    robot = read(text).robot
    assert isinstance(robot.motors["m"].law.function, ActivatedLaw)  # type: ignore[union-attr]
    sim = pliant.Simulation(robot, dt=1e-3)
    sim.run(0.5, u=[1.0])
    # I w' = k (1 - e^(-t / tau)), integrated; the step is of first order
    inertia = robot.bodies["b"].inertia.J.zz
    expected = 0.5 / inertia * (0.5 - 0.1 * (1 - math.exp(-5)))
    assert float(np.asarray(sim.v).reshape(-1)[0]) == pytest.approx(expected, rel=0.02)


# ---- constraints


TWO = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="a"><joint name="ja" axis="0 0 1" ref="0.1"/><geom type="box" size="0.1 0.2 0.3"/><site name="sa" pos="0 1 0"/></body>
  <body name="c" pos="1 0 0"><joint name="jc" axis="0 0 1"/><geom type="box" size="0.1 0.2 0.3"/>
    <site name="sc" pos="0 1 0"/>
    <body name="d" pos="0 0 1"><joint name="jd" type="slide" axis="0 0 1"/><geom size="0.1"/></body></body>
</worldbody>%s</mujoco>
"""  # noqa: E501


def test_constraints_between_bodies_are_closures(read) -> None:
    parts = '<connect name="point" body1="a" body2="d" anchor="0.2 0 0"/><weld name="whole" body1="c" body2="a"/>'
    parts += '<weld name="sites" site1="sa" site2="sc"/><connect name="off" body1="a" body2="c" anchor="0 0 0" '
    made = read(TWO % f'<equality>{parts}active="false"/></equality>', tree="all")
    robot = made.robot
    assert {c.name: c.kind for c in robot.closures.values()} == {"point": "point", "whole": "weld", "sites": "weld"}
    q = made.q(made.model.qpos0)
    poses = {}
    for closure in robot.closures.values():
        for end in (closure.a, closure.b):
            poses[closure.name, end] = np.array(pliant.frame_pose(robot, list(q), end), dtype=float)
        a, b = (poses[closure.name, end] for end in (closure.a, closure.b))
        if closure.name == "point":
            np.testing.assert_allclose(a[:3, 3], b[:3, 3], atol=1e-15)
        elif closure.name == "whole":
            np.testing.assert_allclose(a, b, atol=1e-15)
    assert any(f.subject == "equality 'off'" for f in robot.report)


def test_joints_that_follow_another(read) -> None:
    polynomial = '<equality><joint name="gear" joint1="ja" joint2="jd" polycoef="0.2 3 0 0 0"/></equality>'
    made = read(TWO % polynomial, tree="all")
    mimic = made.robot.joints["ja"].mimic
    assert mimic is not None
    # q1 - 0.1 = 0.2 + 3 q2
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("jd", 3, pytest.approx(0.3, abs=1e-15))
    assert made.robot.nq == 2
    assert read(TWO % polynomial, tree="all", mimic=False).robot.nq == 3
    cubic = '<equality><joint name="curve" joint1="ja" joint2="jd" polycoef="0 1 2 0 0"/></equality>'
    robot = read(TWO % cubic, tree="all").robot
    assert robot.nq == 3
    assert any(f.subject == "equality 'curve'" and f.kind == "dropped" for f in robot.report)


def test_a_tendon_between_two_sites_is_a_spring(read, tmp_path: Path) -> None:
    spring = '<spatial name="rope" stiffness="40" damping="2" springlength="0.5"><site site="sa"/><site site="sc"/>'
    robot = read(TWO % f"<tendon>{spring}</spatial></tendon>", tree="all").robot
    rope = robot.springs["rope"]
    assert (rope.a, rope.b, rope.stiffness, rope.damping, rope.length) == ("sa", "sc", 40, 2, 0.5)


# ---- which tree, which base


def test_the_largest_tree_is_the_robot_and_others_are_named(read) -> None:
    largest = read(TWO % "").robot
    assert [*largest.joints] == ["jc", "jd"]
    (other,) = [f for f in largest.report if f.subject == "body 'a'"]
    assert (other.kind, other.line) == ("dropped", 3)
    assert [*read(TWO % "", tree="a").robot.joints] == ["ja"]
    assert [*read(TWO % "", tree="all").robot.joints] == ["ja", "jc", "jd"]
    with pytest.raises(RobotError):
        read(TWO % "", tree="b")


def test_bases(read) -> None:
    free, fixed = body("<freejoint name='f'/>"), body("")
    assert read(free).robot.is_free
    assert not read(free, base="fixed").robot.is_free
    assert not read(fixed).robot.is_free
    assert read(fixed, base="free").robot.is_free
    with pytest.raises(RobotError) as error:
        read(body("<joint name='j'/>"), base="free")
    assert error.value.field == "base"


def test_a_name_that_two_things_have(read) -> None:
    robot = read(body('<joint name="b"/><site name="b"/>', more='<sensor><gyro name="b" site="b"/></sensor>')).robot
    assert {"b", "b_site"} <= {*robot.frames}
    assert "b" in robot.sensors
    assert robot.frames["b_site"].body == "b"


def test_a_fault_has_its_line(read) -> None:
    with pytest.raises(RobotError) as error:
        read(body('\n<joint name="j" damping="-1"/>'))
    assert error.value.place is not None
    assert (error.value.subject, error.value.place.line) == ("joint 'j'", 2)


@pytest.mark.parametrize(("more", "subject"), [
    ('<option density="1.2" viscosity="1e-5"/>', "<option density>"),
    ('<option><flag actuation="disable"/></option>', "<flag>"),
    ('<actuator><adhesion name="x" body="b" ctrlrange="0 1"/></actuator>', "actuator 'x'"),
    ('<actuator><muscle name="x" joint="j" lengthrange="0 1"/></actuator>', "actuator 'x'"),
    ('<actuator><position name="x" joint="j" kp="2" ctrlrange="-1 1"/></actuator>', "actuators"),
    ('<tendon><fixed name="x" stiffness="2"><joint joint="j" coef="1"/></fixed></tendon>', "tendon 'x'"),
    ('<sensor><subtreecom name="x" body="b"/></sensor>', "sensor 'x'"),
    ('<worldbody><body name="x" mocap="true"><geom size="0.1"/></body></worldbody>', "body 'x'"),
    ('<worldbody><geom type="plane" size="1 1 1"/></worldbody>', "<worldbody>"),
])  # fmt: skip
def test_what_is_not_here_is_named(read, more: str, subject: str) -> None:
    robot = read(body('<joint name="j" axis="0 0 1"/>', more=more)).robot
    found = [f for f in robot.report if f.subject == subject]
    assert len(found) == 1
    assert found[0].message


def test_gravity_and_springs_that_are_switched_off(read) -> None:
    flags = '<option><flag gravity="disable" spring="disable" damper="disable" limit="disable"/></option>'
    robot = read(body('<joint name="j" stiffness="2" damping="3" range="0 10"/>', more=flags)).robot
    joint = robot.joints["j"]
    assert [float(g) for g in robot.gravity] == [0, 0, 0]
    assert (joint.stiffness, joint.damping, joint.kind.name) == ((0,), (0,), "continuous")


# ---- through the door


def test_load_goes_by_the_root_element(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(body('<joint name="j"/>'))
    robot = pliant.load(path, tree="b")
    assert isinstance(robot, pliant.Robot)
    assert [*robot.joints] == ["j"]
    assert load_mjcf(path, name="other").name == "other"


# ---- what is refused


OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def with_mesh(file: str, compiler: str = "") -> str:
    geom = '<geom type="mesh" mesh="m"/>'
    return (
        f'<mujoco>{compiler}<asset><mesh name="m" file="{file}"/></asset><worldbody>'
        f'<body name="b"><joint/>{geom}</body></worldbody></mujoco>'
    )


def test_a_mesh_keeps_the_frame_of_its_file(read, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "m.obj").write_text(OBJ)
    robot = read(with_mesh("m.obj", '<compiler meshdir="parts"/>')).robot
    (shape,) = robot.bodies["b"].visuals
    assert shape.file == str((tmp_path / "parts" / "m.obj").resolve())
    # MuJoCo turns a mesh to its axes of inertia, in single precision; here it stays where the file has it
    H = np.array(shape.placement.homogeneous(), dtype=float)
    points = shape.mesh.points() * shape.scale  # type: ignore[union-attr]
    placed = points @ H[:3, :3].T + H[:3, 3]
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, m.geom_quat[0])
    theirs = m.mesh_vert @ R.reshape(3, 3).T + m.geom_pos[0]
    np.testing.assert_allclose(placed, theirs, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["../secret.obj", "{folder}/secret.obj", "file:///etc/passwd", "http://example.org/m.obj"]
)
def test_files_elsewhere_are_not_read(read, tmp_path: Path, name: str) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}_outside"
    outside.mkdir()
    (outside / "secret.obj").write_text(OBJ)
    reference = name.replace("../", f"../{outside.name}/").replace("{folder}", str(outside))
    with pytest.raises(RobotError):
        read(with_mesh(reference))
    if "secret" in name:
        assert read(with_mesh(reference), packages=outside).robot.nv == 1


def test_a_link_that_leads_outside_is_not_followed(read, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}_linked.obj"
    outside.write_text(OBJ)
    (tmp_path / "m.obj").symlink_to(outside)
    with pytest.raises(RobotError):
        read(with_mesh("m.obj"))


def test_includes_stay_in_the_folder_and_end(read, tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(
        '<mujoco><worldbody><body name="p"><joint/><geom size="1"/></body></worldbody></mujoco>'
    )
    assert [*read('<mujoco><include file="part.xml"/></mujoco>').robot.bodies] == ["p"]
    (tmp_path / "loop.xml").write_text('<mujoco><include file="loop.xml"/></mujoco>')
    for text in ("loop.xml", "../part.xml", "/etc/hostname", "none.xml"):
        with pytest.raises(RobotError):
            read(f'<mujoco><include file="{text}"/></mujoco>')


ENTITY = '<!DOCTYPE m [<!ENTITY a "aaaa">]><mujoco model="&a;"/>'


@pytest.mark.parametrize(
    "text",
    [
        "", "<mujoco>", "<robot/>", "<mujoco/>", ENTITY, "<mujoco><worldbody/></mujoco>",
        body('<joint axis="0 0 0"/>'), body('<joint type="screw"/>'),
        body('<joint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>'),
        '<mujoco><extension><plugin plugin="no.such"/></extension></mujoco>',
    ],
)  # fmt: skip
def test_faulty_files_are_errors_of_ours(read, text: str) -> None:
    with pytest.raises(PliantError):
        read(text)


def test_an_error_of_the_compiler_has_file_and_line(read, tmp_path: Path) -> None:
    with pytest.raises(RobotError) as error:
        read("<mujoco>\n<worldbody>\n<body>\n<joint/>\n</body></worldbody></mujoco>")
    assert error.value.place is not None
    assert (error.value.place.file, error.value.place.line) == (str(tmp_path / "robot.xml"), 3)


def test_a_file_that_takes_too_long_or_too_much(tmp_path: Path) -> None:
    path = tmp_path / "many.xml"
    inner = '<replicate count="30000" offset="0 0 1"><body><joint/><geom size="0.1"/></body></replicate>'
    path.write_text(f"<mujoco><worldbody>{inner}</worldbody></mujoco>")
    good = tmp_path / "good.xml"
    good.write_text(body("<joint/>"))
    with CompilerProcess(seconds=1) as process:
        with pytest.raises(RobotError):
            load_mjcf(path, compiler=process)
        # and the next one is read
        assert load_mjcf(good, compiler=process).nv == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of open files are for systems that fork")
def test_the_compiler_itself_can_open_no_file(compiler: CompilerProcess, tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_text(OBJ)
    text = with_mesh(str(tmp_path / "m.obj")).encode()
    # a reference that the scan did not see: the file is there, and cannot be read
    assert mujoco.MjModel.from_xml_string(text.decode()).nmesh == 1
    with pytest.raises(RobotError):
        compiler.compile(MjcfFiles("/robot.xml", {"/robot.xml": text}))
    found = compiler.compile(MjcfFiles("/robot.xml", {"/robot.xml": text, str(tmp_path / "m.obj"): OBJ.encode()}))
    assert found.sizes["nmesh"] == 1


def test_mutated_files_load_or_are_refused(read, compiler: CompilerProcess) -> None:
    rng = np.random.default_rng(7)
    words = [b"<", b">", b'"', b"/", b"0", b"-1", b"1e400", b"nan", b"<body>", b"mesh", b"ball", b" ", b"\xff", b"free"]
    loaded = 0
    path = GYMNASIUM[0].parent / "half_cheetah.xml"
    folder = read(body("<joint/>")).robot.file.parent
    for _ in range(150):
        data = bytearray(path.read_bytes())
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(len(data)))
            data[at : at + int(rng.integers(0, 4))] = words[int(rng.integers(len(words)))]
        changed = folder / "changed.xml"
        changed.write_bytes(data)
        try:
            loaded += load_mjcf(changed, compiler=compiler).nv > 0
        except PliantError:
            continue
    assert loaded > 10
