"""Side files: what they say, and how they are found and loaded."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import pliant
from pliant.catalogue import read_side_file
from pliant.catalogue.side_file import SideFile
from pliant.catalogue.side_tables import TABLES
from pliant.errors import RobotError
from pliant.robot import Robot
from side_files import EXAMPLE, QUADRUPED, ROOT, SHIPPED, Write, assert_same, refused


def table(name: str, /, **values: object) -> str:
    """A table of a side file with these keys, which have the names of the arguments of a method."""
    return f"[{name}]\n" + "".join(f"{k} = {json.dumps(x).replace('Infinity', 'inf')}\n" for k, x in values.items())


# ---- what each table does

MOTOR = dict(
    gear=9, rotor_inertia=5e-5, effort_limit=40, velocity_limit=float("inf"), control="position", kp=80, kd=2.5,
    viscous_friction=0.1, dry_friction=0.2, no_load_speed=30, gyroscopic=True, rotor_axis=(0, 0, 1),
)  # fmt: skip
JOINT = dict(
    damping=0.3, friction=[0.1], armature=0.02, stiffness=50, hardening=20, backlash=0.01, rest=0.2, restitution=0.5,
    locked=True,
)  # fmt: skip
FLEXIBILITY = dict(
    stiffness=1e4, damping=10, inertia=1e-3, hardening=5, backlash=0.01, kind="revolute", axis=(0, 1, 0), name="belt"
)


@pytest.mark.parametrize(("robot", "place", "method", "values"), [
    ("two_link_arm", "motors.elbow", "with_motor", MOTOR),
    ("double_pendulum", "motors.elbow", "with_motor", dict(gear=50)),  # which has none
    ("two_link_arm", "joints.elbow", "with_joint", JOINT),
    ("two_link_arm", "flexibilities.elbow", "with_flexibility", FLEXIBILITY),
    ("quadruped", "flexibilities.lf_ankle", "with_flexibility", dict(stiffness=(10, 20, 30))),
    ("two_link_arm", "backlash.elbow", "with_backlash", dict(width=0.01, restitution=0.3, inertia=1e-4, name="play")),
    ("quadruped", "contacts.lf_foot", "with_contact", dict(radius=0.02, friction=0.6, restitution=0.1)),
    ("quadruped", "contacts.lf_foot", "with_contact", dict(box=(0.1, 0.2, 0.3))),
    ("quadruped", "contacts.lf_foot", "with_contact", dict(radius=0.02, length=0.1)),
    ("quadruped", "contacts.lf_foot", "with_contact", dict(points=[(0, 0, 0), (0.1, 0, 0)], name="sole")),
    ("quadruped", "contacts.lf_foot", "with_contact", {}),
])  # fmt: skip
def test_keys_are_the_arguments_of_a_method(robot: str, place: str, method: str, values: dict, toml: Write) -> None:
    before = pliant.load(robot)
    made = read_side_file(before, toml(table(place, **values)))
    assert_same(made, getattr(before, method)(place.split(".")[1], **values))


ROTORS = table('motors."*"', rotor_inertia=1e-4)


# robot, side file, and the same in Python
def test_an_empty_file_and_gravity(toml: Write, arm: Robot) -> None:
    assert_same(read_side_file(arm, toml("# nothing\n")), arm)
    assert_same(read_side_file(arm, toml("gravity = [\n  0, 0.5, -1.62]")), arm.with_gravity(0, 0.5, -1.62))


def test_limits_of_a_joint_leave_those_of_speed_and_effort(toml: Write, arm: Robot) -> None:
    made = arm.with_joint("elbow", limits=replace(arm.joints["elbow"].limits, lower=-1, upper=float("inf")))
    assert_same(read_side_file(arm, toml("[joints.elbow]\nlimits = [-1, inf]")), made)


def test_frames_in_order_one_on_the_other(toml: Write, arm: Robot) -> None:
    text = table("frames.middle", body="forearm", position=(0, 0, 0.2))
    text += table("frames.tilted", body="middle", rpy=(0.1, 0.2, 0.3))
    made = arm.with_frame("middle", "forearm", (0, 0, 0.2)).with_frame("tilted", "middle", rpy=(0.1, 0.2, 0.3))
    assert_same(read_side_file(arm, toml(text)), made)


def test_flexibility_within_a_link(toml: Write, arm: Robot) -> None:
    values = dict(stiffness=(1e3, 2e3, 3e3), damping=(1, 2, 3), share=0.4, normal=(0, 0, 1), beyond=["wrist"])
    text = table("frames.cut", body="forearm", position=(0, 0, 0.1)) + table("flexibilities.cut", **values)
    made = arm.with_frame("cut", "forearm", (0, 0, 0.1)).with_flexibility("cut", **values)
    assert_same(read_side_file(arm, toml(text)), made)


def test_backlash_in_a_spring(toml: Write, arm: Robot) -> None:
    """Flexibilities come first, so the play is in the spring, wherever the tables are."""
    both = "[backlash.elbow]\nwidth = 0.01\n[flexibilities.elbow]\nstiffness = 1e4\n" + ROTORS
    made = arm.with_motors(rotor_inertia=1e-4).with_flexibility("elbow", stiffness=1e4, backlash=0.01)
    assert_same(read_side_file(arm, toml(both)), made)


def test_name_with_a_bracket_is_a_name_first(toml: Write) -> None:
    builder = pliant.RobotBuilder("b").body("rod", mass=1, inertia=(1, 0, 0, 1, 0, 1))
    robot = builder.joint("hinge[0]", "revolute", "world", "rod").motor("hinge[0]", rotor_inertia=1).build()
    text = table('motors."hinge[0]"', gear=2) + table('joints."hinge[0]"', damping=1)
    made = robot.with_motor("hinge[0]", gear=2).with_joint("hinge[0]", damping=1)
    made = made.with_flexibility("hinge[0]", stiffness=9)
    assert_same(read_side_file(robot, toml(text + table('flexibilities."hinge[0]"', stiffness=9))), made)


def test_second_motor_by_its_own_name(toml: Write, arm: Robot) -> None:
    two = read_side_file(arm, toml('[motors.boost]\njoint = "elbow"\ngear = 3\n'))
    assert_same(two, arm.with_motor("elbow", name="boost", gear=3))
    # the name of a motor means it, the name of a joint the motor of its name
    again = read_side_file(two, toml("[motors.boost]\ngear = 4\n[motors.elbow]\ngear = 5\n"))
    assert [again.motors[name].gear for name in ("boost", "elbow", "shoulder")] == [4, 5, 1]


def test_joint_means_its_motor_of_another_name_if_it_has_one(toml: Write) -> None:
    path, one = toml("[motors.elbow]\ngear = 7\n"), pliant.load("double_pendulum").with_motor("elbow", name="a")
    assert {name: motor.gear for name, motor in read_side_file(one, path).motors.items()} == {"a": 7}
    refused(path, one.with_motor("elbow", name="b"), "[motors.elbow]", "'a', 'b'", "[motors.a]", line=1)


# ---- order, and patterns


def test_order_of_the_tables_does_not_matter(toml: Write, arm: Robot) -> None:
    parts = [
        "gravity = [0, 0, -1]",
        "[contacts.tip]\nradius = 0.01",
        "[backlash.shoulder]\nwidth = 0.01",
        "[flexibilities.tip]\nstiffness = [1e3, 1e3, 1e3]",
        "[flexibilities.elbow]\nstiffness = 1e4",
        '[motors."*"]\nrotor_inertia = 1e-4',
        '[joints."*"]\nfriction = 0.1',
        '[frames.tip]\nbody = "forearm"\nposition = [0, 0, 0.3]',
    ]
    # gravity has no table, so it stays on top
    backward = read_side_file(arm, toml("\n".join(parts)))
    forward = read_side_file(arm, toml("\n".join([parts[0], *parts[:2:-1], *parts[2:0:-1]])))
    made = arm.with_gravity(0, 0, -1).with_frame("tip", "forearm", (0, 0, 0.3))
    made = made.with_joint("shoulder", friction=0.1).with_joint("elbow", friction=0.1)
    made = made.with_motors(rotor_inertia=1e-4)
    made = made.with_flexibility("tip", stiffness=(1e3, 1e3, 1e3)).with_flexibility("elbow", stiffness=1e4)
    made = made.with_backlash("shoulder", 0.01).with_contact("tip", radius=0.01)
    assert_same(backward, made)
    # within a table, the order of the file stays
    assert forward.tree() == made.tree() and forward.motors == made.motors


def test_later_tables_win_key_by_key(toml: Write) -> None:
    path = toml("""
        [motors."*"]
        control = "position"   # alone it would lack a gain, which comes later
        rotor_inertia = 1e-4
        [motors."*_hip_*"]
        kp = 100
        [motors."[lr]?_knee"]
        kp = 200
        [motors.lf_knee]
        kp = 300
        [flexibilities."*_knee"]
        stiffness = 1e3
        damping = 1
        [flexibilities.rh_knee]
        stiffness = 2e3
        [joints."*_knee"]
        friction = 0.1
        [joints."*"]
        friction = 0.2
    """)
    robot = read_side_file(QUADRUPED, path)
    gains = {m.name: m.kp for m in robot.motors.values()}
    assert gains["lf_knee"] == 300 and gains["rh_knee"] == 200 and gains["rf_hip_pitch"] == 100
    assert {m.control for m in robot.motors.values()} == {"position"}
    springs = {name: (robot.joints[name].stiffness, robot.joints[name].damping) for name in robot.flexibilities}
    assert len(springs) == 4
    assert springs["lf_knee_flexibility"] == ((1e3,), (1,)) and springs["rh_knee_flexibility"] == ((2e3,), (1,))
    assert robot.joints["lf_knee"].friction == (0.2,)


def test_patterns_for_joints_leave_the_base_alone(toml: Write) -> None:
    robot = read_side_file(QUADRUPED, toml('[joints."*"]\ndamping = 0.5\nlimits = [-1, 1]\n'))
    assert robot.joints["root_joint"].damping == (0,) * 6
    assert {j.damping for j in robot.joints.values() if j.kind.nv == 1} == {(0.5,)}
    # by its name, it can be changed
    named = read_side_file(robot, toml("[joints.root_joint]\ndamping = [0, 0, 0, 1, 1, 1]\n"))
    assert named.joints["root_joint"].damping == (0, 0, 0, 1, 1, 1)


def test_patterns_for_motors_add_none(toml: Write) -> None:
    acrobot = pliant.load("acrobot")  # its shoulder has no motor
    assert list(read_side_file(acrobot, toml('[motors."*"]\ngear = 2\n')).motors) == ["elbow"]
    words = ("'sh*'", "matches none", "'elbow'", "to add one, give the name of its joint")
    refused(toml('[motors."sh*"]\ngear = 2\n'), acrobot, '[motors."sh*"]', *words, line=1)
    # but one that the file has added before is there
    text = '[motors.shoulder]\nkp = 1\n[motors."*"]\ngear = 3\n'
    assert [m.gear for m in read_side_file(acrobot, toml(text)).motors.values()] == [3, 3]


def test_pattern_for_flexibilities_means_one_kind_of_thing(toml: Write, arm: Robot) -> None:
    framed = arm.with_frame("elbow_cover", "forearm", (0, 0, 0.1)).with_motors(rotor_inertia=1e-4)
    robot = read_side_file(framed, toml('[flexibilities."*"]\nstiffness = 1e4\n'))
    assert list(robot.flexibilities) == ["shoulder_flexibility", "elbow_flexibility"]
    robot = read_side_file(framed, toml('[flexibilities."*_cover"]\nstiffness = [1e3, 1e3, 1e3]\n'))
    assert list(robot.flexibilities) == ["elbow_cover_flexibility"]


def test_pattern_for_contacts_skips_bodies_within_springs(toml: Write) -> None:
    text = ROTORS + '[flexibilities."lf_knee"]\nstiffness = 1e3\n[contacts."lf_*"]\n'
    robot = read_side_file(QUADRUPED, toml(text))
    assert list(robot.contacts) == ["lf_hip", "lf_thigh", "lf_shank", "lf_foot"]


# ---- the example and the page


def test_example_is_what_python_would_write() -> None:
    robot = pliant.load(EXAMPLE)
    legs = [f"{leg}_" for leg in ("lf", "lh", "rf", "rh")]
    made = QUADRUPED.with_frame("lf_shank_middle", "lf_shank", (0, 0, -0.1))
    for leg in legs:
        limits = replace(made.joints[f"{leg}knee"].limits, lower=-2.6, upper=2.6)
        made = made.with_joint(f"{leg}knee", friction=0.1, limits=limits)
    made = made.with_motors(gear=9, rotor_inertia=5e-5, control="position", kp=120, kd=3)
    made = made.with_motors([f"{leg}knee" for leg in legs], kp=160, gyroscopic=True)
    for leg in legs:
        made = made.with_flexibility(f"{leg}knee", stiffness=300, damping=0.5)
    made = made.with_flexibility("lf_shank_middle", stiffness=(2e3, 2e3, 2e3), damping=0.5)
    for leg in legs:
        made = made.with_backlash(f"{leg}hip_roll", 0.002)
    assert_same(robot, made.with_contacts(*(f"{leg}foot" for leg in legs), radius=0.02, friction=0.8))


def test_page_has_every_key_and_its_files_are_right(toml: Write) -> None:
    page = (ROOT / "docs" / "side_file.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `\[(\w+)\.\w+\]`[^\n]*\n(.*?)(?=^## |\Z)", page, re.M | re.S))
    assert list(sections) == [table.name for table in TABLES], "in the order in which they are put on"
    for table in TABLES:
        rows = re.findall(r"^\| `(\w+)` \|", sections[table.name], re.M)
        assert sorted(rows) == sorted(table.keys)
    blocks = re.findall(r"^```toml\n(.*?)^```", page, re.M | re.S)
    assert blocks
    for block in blocks:
        SideFile(toml(block))


# ---- loading


def test_load_with_the_robot_in_the_file(toml: Write, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "leg.urdf").write_bytes((SHIPPED / "quadruped.urdf").read_bytes())
    path = toml('robot = "models/leg.urdf"\nbase = "free"\n[motors."*"]\ngear = 9\n')
    assert_same(pliant.load(path), QUADRUPED.with_motors(gear=9))
    assert_same(pliant.load(str(path)), pliant.load(path))


def test_load_with_a_shipped_robot(toml: Write) -> None:
    assert pliant.load(toml('robot = "quadruped"')).is_free
    assert not pliant.load(toml('robot = "quadruped"\nbase = "fixed"')).is_free
    made = pliant.load(toml('robot = "hopper_flight"\ngravity = [0, 0, -1]'), m2=2.0)
    assert_same(made, pliant.load("hopper_flight", m2=2.0).with_gravity(0, 0, -1))


def test_load_with_a_side_file(toml: Write) -> None:
    path = toml('robot = "acrobot"\nbase = "free"\n[motors."*"]\ngear = 9\n')
    urdf = SHIPPED / "quadruped.urdf"
    # arguments win over what the file says of robot and base
    assert_same(pliant.load(urdf, side=path), QUADRUPED.with_motors(gear=9))
    assert_same(pliant.load(urdf, side=path, base="fixed"), pliant.load(urdf, base="fixed").with_motors(gear=9))
    assert_same(pliant.load("quadruped", side=str(path)), QUADRUPED.with_motors(gear=9))
    # and one side file goes on top of another
    more = toml('[motors."*_knee"]\ngear = 5\n', "more.toml")
    first = toml('robot = "quadruped"\n[motors."*"]\ngear = 9\n', "first.toml")
    assert {m.name[3:]: m.gear for m in pliant.load(first, side=more).motors.values()} == {
        "hip_roll": 9, "hip_pitch": 9, "knee": 5,
    }  # fmt: skip


@pytest.mark.parametrize(("call", "message"), [
    (lambda: pliant.load("acrobot", sides="x.toml"), r"no option named 'sides' in pliant\.load; did you mean 'side'"),
    (lambda: pliant.load("acrobot", side=5), "side of pliant.load is 5; it takes the path of a .toml file"),
    (lambda: pliant.load(5), "source of pliant.load is 5"),
    (lambda: read_side_file(QUADRUPED, None), "it takes the path of a .toml file"),
    (lambda: read_side_file("arm", EXAMPLE), "it takes a Robot, see pliant.load"),
])  # fmt: skip
def test_bad_calls(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        call()


def test_base_must_agree_with_a_robot_that_is_there(toml: Write, arm: Robot) -> None:
    path = toml('\nbase = "free"\n')
    refused(path, arm, "base is 'free'", "is 'fixed'", "load it with base='free'", line=2)
    assert_same(read_side_file(QUADRUPED, path), QUADRUPED)


def test_base_that_the_robot_refuses(toml: Write) -> None:
    refused(toml('robot = "hopper_flight"\nbase = "free"'), None, "takes no base", line=2)
    # an error that is not the base's stays as it is
    with pytest.raises(RobotError, match=r"^no option named 'gear' in pliant\.load"):
        pliant.load(toml('robot = "quadruped"\nbase = "free"'), gear=1)


def test_robot_paths_stay_in_the_folder(toml: Write, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    urdf = (SHIPPED / "acrobot.urdf").read_bytes()
    (tmp_path / "outside.urdf").write_bytes(urdf)
    (inner / "leg.urdf").write_bytes(urdf)
    (inner / "link.urdf").symlink_to(tmp_path / "outside.urdf")
    outside = ["../outside.urdf", str(tmp_path / "outside.urdf"), "link.urdf", "C:\\robots\\leg.urdf", "a/../../x.urdf",
               "\\\\server\\leg.urdf", "https://example.org/leg.urdf", "file:///leg.urdf"]  # fmt: skip
    for reference in outside:
        path = toml(f"# first\nrobot = '{reference}'\n", "inner/robot.toml")
        refused(path, None, "not in the folder of this file", "pliant.load(path, side='robot.toml')", line=2)
    assert pliant.load(toml("robot = './leg.urdf'", "inner/robot.toml")).name == "acrobot"


def test_robots_that_are_not_there(toml: Write, tmp_path: Path) -> None:
    (tmp_path / "leg.urdf").write_text("<robot/>")
    refused(toml('robot = "lge.urdf"'), None, "no file named 'lge.urdf'", "did you mean 'leg.urdf'?", line=1)
    refused(toml('robot = "quadrupd"'), None, "no robot named 'quadrupd'", "did you mean 'quadruped'", line=1)
    refused(toml('robot = "other.toml"'), None, "a robot file, which ends in .urdf or ", line=1)
    refused(toml('robot = "a\\u0000.urdf"'), None, "cannot be a path", line=1)
    refused(toml('robot = ""'), None, "robot is ''", 'robot = "leg.urdf"', line=1)
    refused(toml("gravity = [0, 0, 0]"), None, "does not name its robot", "side='robot.toml'")


def test_xacro_still_needs_trust(toml: Write, tmp_path: Path) -> None:
    (tmp_path / "leg.xacro").write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(RobotError, match="xacro=True"):
        pliant.load(toml('robot = "leg.xacro"'))


def test_side_file_that_is_not_there(tmp_path: Path, toml: Write, arm: Robot) -> None:
    toml("", "leg.toml")
    with pytest.raises(RobotError, match=r"leg2\.toml: no such file; in that folder: leg\.toml"):
        read_side_file(arm, tmp_path / "leg2.toml")
    with pytest.raises(RobotError, match=r"leg2\.toml: no such file"):
        pliant.load("acrobot", side=tmp_path / "leg2.toml")
    with pytest.raises(RobotError, match="is a folder"):
        read_side_file(arm, tmp_path)


def test_a_side_file_goes_with_an_mjcf_file(tmp_path: Path) -> None:
    (tmp_path / "leg.xml").write_text(
        '<mujoco><worldbody><body name="shin"><joint name="knee"/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "leg.toml").write_text('robot = "leg.xml"\n[joints.knee]\ndamping = 0.3\n')
    assert pliant.load(tmp_path / "leg.toml").joints["knee"].damping == (0.3,)
