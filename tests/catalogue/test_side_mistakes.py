"""Every mistake in a side file is an error with the file, the line, the table, the key and the cure."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.catalogue import read_side_file
from pliant.catalogue.side_file import SideFile
from pliant.errors import RobotError
from pliant.files.toml import key_lines
from pliant.robot import Robot
from side_files import EXAMPLE, QUADRUPED, Write, refused

MISTAKES = [
    # tables and keys
    ("[motor.elbow]", 1, ["no key or table named 'motor' in a side file", "'motors'"]),
    ("gravty = [0, 0, -9]", 1, ["no key or table named 'gravty'", "'gravity'"]),
    ("[cameras.eye]", 1, ["no key or table named 'cameras'"]),
    ("[sensors.imu]", 1, ["[sensors.imu]: kind is not given for 'imu'", 'kind = "imu"']),
    ("[motors.elbow]\n# gear\ngaer = 9", 3, ["[motors.elbow]: no key named 'gaer'", "did you mean 'gear'"]),
    ("[motors]\nelbow = 3", 2, ["[motors.elbow]: elbow is not a table", "[motors.NAME]"]),
    ("motors = 3", 1, ["[motors]: motors is not a table of tables"]),
    ("[[motors]]\ngear = 9", 1, ["[motors]: motors is not a table of tables"]),
    ("[[motors.elbow]]\ngear = 9", 1, ["[motors.elbow]: elbow is not a table"]),
    ("[motors.elbow]\nlaw = 'u'", 2, ["law is a function", "no code", "Python: robot.with_motor('elbow', law=...)"]),
    ("[joints.elbow]\nlaw = 'u'", 2, ["robot.with_joint('elbow', law=...)"]),
    ("[flexibilities.elbow]\nstiffness = 1\nlaw = 'u'", 3, ["robot.with_flexibility('elbow', law=...)"]),
    # types
    ("[motors.elbow]\ngear = 'nine'", 2, ["[motors.elbow]: gear is 'nine'; give a finite number, as in gear = 9"]),
    ("[motors.elbow]\ngear = true", 2, ["gear is true"]),
    ("[motors.elbow]\ngear = nan", 2, ["gear is nan"]),
    ("[motors.elbow]\nkp = inf", 2, ["kp is inf; give a finite number"]),
    ("[motors.elbow]\neffort_limit = nan", 2, ["effort_limit is nan", "inf for none"]),
    ("[motors.elbow]\ngyroscopic = 1", 2, ["gyroscopic is 1; give true or false"]),
    ("[motors.elbow]\ncontrol = 3", 2, ["control is 3", 'control = "position"']),
    ("[motors.elbow]\nrotor_axis = [0, 1]", 2, ["rotor_axis is [0, 1]; give three finite numbers"]),
    ("[motors.elbow]\ngear = 1979-05-27", 2, ["gear is 1979-05-27, a date"]),
    ("[motors.elbow.gear]\nratio = 3", 1, ["gear is a table"]),
    ("[joints.elbow]\nlimits = 3", 2, ["limits is 3; give the lower and the upper limit"]),
    ("[joints.elbow]\nlimits = [1, 2, 3]", 2, ["limits is [1, 2, 3]"]),
    ("[joints.elbow]\ndamping = ['a']", 2, ["damping is ['a']; give a finite number, or a list of them"]),
    ("[contacts.hand]\npoints = [0, 0, 0]", 2, ["points is [0, 0, 0]; give a list of points"]),
    ("[frames.a]\nbody = 3", 2, ["body is 3; give a name in quotes"]),
    ("gravity = -9.81", 1, ["gravity is -9.81; give three finite numbers, as in gravity = [0, 0, -9.81]"]),
    ("base = 5", 1, ['base is 5; give a name in quotes, as in base = "free"']),
    ("[flexibilities.elbow]\nstiffness = 1\nkind = 5", 3, ['as in kind = "revolute"']),
    ("base = 'floating'", 1, ["base is 'floating'; it takes 'fixed' or 'free'"]),
    ("robot = 3", 1, ["robot is 3"]),
    # names
    ("\n[motors.elbo]\ngear = 9", 2, ["[motors.elbo]: no joint or motor named 'elbo'", "did you mean 'elbow'"]),
    ("[motors.m]\njoint = 'elbo'", 2, ["no joint named 'elbo'", "did you mean 'elbow'"]),
    ("[motors.shoulder]\njoint = 'elbow'", 1, ["two motors are named 'shoulder'"]),
    ("[motors.'*']\njoint = 'elbow'", 2, ["joint is for one thing, and '*' a pattern"]),
    ("[joints.'*_kne']\nfriction = 1", 1, ['[joints."*_kne"]: the pattern', "matches none", "'shoulder', 'elbow'"]),
    ("[joints.elbo]\nfriction = 1", 1, ["no joint named 'elbo'"]),
    ("[sensors.'a*']\nkind = 'imu'", 1, ["a new sensor cannot be named 'a*', a pattern"]),
    ("[frames.'a*']\nbody = 'hand'", 1, ["a new frame cannot be named 'a*', a pattern"]),
    ("[frames.a]\nposition = [0, 0, 1]", 1, ["body is not given for 'a'; add body = "]),
    ("[frames.a]\nbody = 'hnad'", 2, ["no frame named 'hnad'", "'hand'"]),
    ("[frames.hand]\nbody = 'forearm'", 1, ["two frames are named 'hand'"]),
    ("[flexibilities.elbo]\nstiffness = 1", 1, ["no joint or frame named 'elbo'"]),
    ("[flexibilities.'*_q']\nstiffness = 1", 1, ["matches none of the joints with a motor, fixed joints and frames"]),
    ("[flexibilities.elbow]\ndamping = 1", 1, ["stiffness is not given for 'elbow'; add stiffness = 1e4"]),
    ("[flexibilities.'*']\nstiffness = 1\nname = 'x'", 3, ["name is for one thing, and '*' a pattern"]),
    ("[backlash.elbow]\nrestitution = 1", 1, ["width is not given for 'elbow'"]),
    ("[backlash.'*_q']\nwidth = 1", 1, ["matches none of the joints of robot 'two_link_arm' with a motor"]),
    ("[contacts.hnad]", 1, ["no frame named 'hnad'"]),
    ("[contacts.'*_q']", 1, ["matches none of the frames"]),
    # values that no robot can have: the methods' own words, at the key that they are about, or the table without it
    ("[motors.elbow]\ngear = 2\nrotor_inertia = -1", 3, ["[motors.elbow]: rotor_inertia of motor 'elbow' is -1"]),
    ("[motors.elbow]\ngear = 2\ncontrol = 'position'", 1, [
        "position control but kp = 0", "in this file: [motors.elbow] kp = 80, kd = 2",
    ]),
    ("[motors.elbow]\ncontrol = 'speed'", 2, ["control of motor 'elbow' is 'speed'"]),
    ("[motors.elbow]\nrotor_axis = [0, 2, 0]", 2, ["has length 2; give a unit vector"]),
    ("[motors.wrist]\ngear = 1", 1, ["cannot drive the fixed joint 'wrist'"]),
    ("[joints.elbow]\nfriction = 0.1\nlimits = [1, -1]", 3, ["the lower limit 1 is above the upper one -1"]),
    ("[joints.elbow]\nrest = 1\nrestitution = 2", 3, ["restitution of joint 'elbow' is 2"]),
    ("[joints.elbow]\ndamping = [1, 2]", 2, ["damping of joint 'elbow' has 2 entries"]),
    ("[joints.'*']\ndamping = 1\n[joints.elbow]\nfriction = -1", 4, ["[joints.elbow]: friction of joint"]),
    ("[flexibilities.elbow]\nstiffness = [1, 2]", 2, ["has 2 entries"]),
    ("[flexibilities.elbow]\nstiffness = 1e4", 1, [
        "M is singular", "robot.with_motor('elbow', rotor_inertia=...)",
        "; in this file: [motors.elbow] rotor_inertia = 1e-4 or [flexibilities.elbow] inertia = 1e-4",
    ]),
    ("[backlash.'e*']\nwidth = 0.1", 1, ['or [backlash."e*"] inertia = 1e-4']),
    ("[flexibilities.wrist]\nstiffness = 1", 1, ["in this file: [flexibilities.wrist] axis = [0, "]),
    ("[flexibilities.wrist]\nstiffness = [1, 1, 1]", 1, ["moves no mass: body 'hand'", "give it mass and inertia"]),
    ("[frames.mid]\nbody = 'forearm'\nposition = [9, 0, 0]\n[flexibilities.mid]\nstiffness = [1, 1, 1]", 4,
     ["leaves nothing", "in this file: [flexibilities.mid] share = 0.5"]),
    ("[motors.elbow]\ngear = 0", 2, ["gear of motor 'elbow' is 0", "in this file: [motors.elbow] gear = 9"]),
    ("[joints.wrist]\ndamping = 1", 2, [
        "damping of joint 'wrist' would do nothing", "[flexibilities.wrist] stiffness = [10000, 10000, 10000]",
    ]),
    ("[frames.elbow]\nbody = 'hand'", 1, ["a frame cannot be named 'elbow'", "take another name"]),
    ("[backlash.wrist]\nwidth = 0.1", 1, ["joint 'wrist' is fixed, which no motor drives", "'shoulder', 'elbow'"]),
    ("[contacts.hand]\nlength = 0.1\nradius = 0", 3, ["a capsule needs both"]),
    ("[contacts.hand]\nradius = -0.1", 2, ["radius of contact 'hand' is -0.1"]),
    # no TOML
    ("[motors.elbow]\ngear 9\n", 2, ["not TOML", "Expected '='"]),
    ("[motors.*_knee]\ngear = 9\n", 1, ["not TOML", 'a pattern is in quotes, as in [motors."*_knee"]']),
    ("[motors.elbow]\ngyroscopic = True\n", 2, ["not TOML", "true and false in small letters"]),
    ("[motors.elbow]\ngear = 1\n\n[motors.elbow]\nkp = 2\n", 4, ["not TOML", "no table comes twice"]),
    ("a = 1\na = 2\n", 2, ["not TOML"]),
    ("[joints.elbow]\ndamping = .1\n", 2, ["not TOML", "write 0.1 for .1"]),
    ("[joints.elbow]\nlimits = [-.5, 0.5]\n", 2, ["not TOML", "write -0.5 for -.5"]),
    ("[joints.elbow]\ndamping = 1.\n", 2, ["not TOML", "write 1.0 for 1."]),
    ("[joints.elbow]\ndamping = 1.5 x\n", 2, ["not TOML", "strings are in quotes"]),
    ("[frames.a]\nposition = [0, 0,\n", 2, ["not TOML"]),
    ("robot = 'leg.urdf\n", 1, ["not TOML"]),
    (b"# caf\xe9\n", 1, ["not UTF-8", "save it as UTF-8"]),
    (b"a = 1\n\xff\xfe", 2, ["not UTF-8"]),
    ("gravity = [0, 0, 9" + "9" * 5000 + "]", None, ["not TOML"]),
    ("x = " + "[" * 100_000, None, ["too deep"]),
    ("#" * 1_000_001, None, ["larger than 1 MB"]),
    (f"gravity = [0, 0, -1{'0' * 400}]", 1, ["gravity is [0, 0, a very large number]"]),
    ("[motors.elbow]\ngear." + "a." * 300 + "a = 1", 2, ["gear is a table"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "words"), MISTAKES, ids=[str(text[:99]) for text, *_ in MISTAKES])
def test_mistakes_have_their_place_and_cure(
    text: str | bytes, line: int | None, words: list[str], toml: Write, arm: Robot
) -> None:
    before = arm.digest
    refused(toml(text), arm, *words, line=line)
    # from a file that is right but for this, nothing is left on the robot
    assert arm.digest == before


def test_errors_have_fields(toml: Write, arm: Robot) -> None:
    path = toml("[motors.elbow]\ngear = 2\nrotor_inertia = -1")
    with pytest.raises(RobotError) as caught:
        read_side_file(arm, path)
    error = caught.value
    assert (error.subject, error.field, error.place) == ("motor 'elbow'", "rotor_inertia", (str(path), 3))
    with pytest.raises(RobotError) as caught:
        read_side_file(arm, toml("[motors.elbow]\ngaer = 2"))
    assert (caught.value.place, caught.value.cure) == ((str(path), 2), "did you mean 'gear'?")


def test_numbers_as_large_as_can_be(toml: Write, arm: Robot) -> None:
    robot = read_side_file(arm, toml(f"[motors.elbow]\neffort_limit = 1{'0' * 300}"))
    assert robot.motors["elbow"].effort_limit == 1e300 and isinstance(robot.motors["elbow"].effort_limit, float)


def test_windows_files_are_read(toml: Write, arm: Robot) -> None:
    text = "\ufeff# Windows\r\n[motors.elbow]\r\ngear = 9\r\nrotor_inertia = {}\r\n"
    assert read_side_file(arm, toml(text.format("1e-4"))).motors["elbow"].gear == 9
    refused(toml(text.format("-1")), arm, "rotor_inertia", line=4)


def test_whole_file_is_checked_before_anything_is_loaded(toml: Write) -> None:
    """The mistake in the last table is found though the robot of the first line is not there."""
    refused(toml('robot = "absent.urdf"\n[contacts.foot]\nradios = 1\n'), None, "'radius'", line=3)


# ---- lines


def test_lines_of_keys_in_every_form() -> None:
    text = '''# comment
robot = "a" # gravity = 3

gravity = [
  0, # [motors.x]
  0,
  -9.81,
]
[motors."*_knee"]
gear = 9
note = """
gear = 8
[joints.y]
"""
[motors]
hip.kp = 3
hip.kd = 4
knee = { kp = 1, kd = 2 }
[ joints . 'a.b' ]
damping = 1
[[list]]
x = 1
'''
    lines = key_lines(text)
    assert lines == {
        ("robot",): 2, ("gravity",): 4, ("motors",): 9, ("motors", "*_knee"): 9, ("motors", "*_knee", "gear"): 10,
        ("motors", "*_knee", "note"): 11, ("motors", "hip"): 16, ("motors", "hip", "kp"): 16,
        ("motors", "hip", "kd"): 17, ("motors", "knee"): 18, ("motors", "knee", "kp"): 18,
        ("motors", "knee", "kd"): 18, ("joints",): 19, ("joints", "a.b"): 19, ("joints", "a.b", "damping"): 20,
        ("list",): 21, ("list", "x"): 22,
    }  # fmt: skip
    assert key_lines(text.replace("\n", "\r\n")) == lines


def test_lines_after_a_value_that_is_too_long_are_left_out() -> None:
    lines = key_lines("a = 1\nb = [\n" + "1,\n" * 1000 + "]\nc = 2\n")
    assert lines == {("a",): 1}


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(at=st.integers(0, 1700), drop=st.integers(0, 4), put=st.text(alphabet="[]\"'=.*,#-19a_ e\n", max_size=4))
def test_damaged_files_are_read_or_refused_with_their_name(at: int, drop: int, put: str, tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    path = tmp_path / "robot.toml"
    path.write_text(text[:at] + put + text[at + drop :], encoding="utf-8")
    try:
        SideFile(path).put_on(QUADRUPED)
    except RobotError as error:
        assert str(error).startswith(f"{path}:")
