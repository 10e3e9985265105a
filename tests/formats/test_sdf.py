"""What the SDF reader reads: poses and axes of every version, types of joints, loops, gearboxes, nested and
included models.

Expected poses are worked out by hand from the format's rules (sdformat.org/spec).
"""

import logging
from collections.abc import Iterator
import math
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.dynamics import frame_pose, mass_matrix
from pliant.errors import RobotError
from pliant.formats import load_sdf
from pliant.formats.sdf_tree import Edge, largest_tree
from pliant.robot import Robot


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Findings are read from reports here, not from the log."""
    findings = logging.getLogger("pliant.findings")
    level = findings.level
    findings.setLevel(logging.CRITICAL)
    yield
    findings.setLevel(level)


INERTIAL = "<inertial><mass>2</mass><inertia><ixx>.1</ixx><iyy>.2</iyy><izz>.25</izz></inertia></inertial>"
WORLD = "<joint name='hold' type='fixed'><parent>world</parent><child>a</child></joint>"
# poses are sums and products of a few numbers of about 1
TIGHT = 1e-14


def link(name: str, pose: str = "", inside: str = INERTIAL, **attributes: str) -> str:
    return f"<link name='{name}'>{placed(pose, **attributes)}{inside}</link>\n"


def placed(pose: str, **attributes: str) -> str:
    given = "".join(f" {key}='{value}'" for key, value in attributes.items())
    return f"<pose{given}>{pose}</pose>" if pose or attributes else ""


def joint(name: str, parent: str, child: str, type_: str = "revolute", inside: str = "", axis: str = "0 0 1") -> str:
    about = "" if type_ in ("fixed", "ball") else f"<axis><xyz>{axis}</xyz></axis>"
    return (
        f"<joint name='{name}' type='{type_}'><parent>{parent}</parent><child>{child}</child>{about}{inside}</joint>\n"
    )


@pytest.fixture
def load(tmp_path: Path):
    def loaded(*elements: str, version: str = "1.9", name: str = "robot.sdf", **options: object) -> Robot:
        return load_sdf(write(tmp_path, *elements, version=version, name=name), **options)  # type: ignore[arg-type]

    return loaded


def write(folder: Path, *elements: str, version: str = "1.9", name: str = "robot.sdf", model: str = "m") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<sdf version='{version}'><model name='{model}'>\n{''.join(elements)}</model></sdf>")
    return path


def pose(robot: Robot, frame: str, q: object = None) -> np.ndarray:
    return np.array(frame_pose.algorithm(robot, list(robot.neutral() if q is None else q), frame), float).reshape(4, 4)


def position(robot: Robot, frame: str, q: object = None) -> np.ndarray:
    return pose(robot, frame, q)[:3, 3]


# ---- links, joints, poses


def test_bodies_are_links_where_the_file_has_them(load) -> None:
    robot = load(
        link("a", "0 0 1 0 0 0"), link("b", "1 0 0 0 0 1.5707963267948966", relative_to="a"),
        link("c", "0 2 0 0 0 0", relative_to="j"), joint("j", "a", "b", inside=placed("0 0 .5 0 0 0")),
        joint("k", "b", "c", "prismatic"), WORLD,
    )  # fmt: skip
    assert (robot.nq, robot.is_free, robot.mass) == (2, False, 6)
    np.testing.assert_allclose(position(robot, "b"), [1, 0, 1], atol=TIGHT)
    # of j, half a metre above b, whose y is the model's -x
    np.testing.assert_allclose(position(robot, "c"), [-1, 0, 1.5], atol=TIGHT)
    # half a turn of b takes c to the other side
    np.testing.assert_allclose(position(robot, "c", [math.pi, 0.25]), [3, 0, 1.75], atol=TIGHT)


def test_the_joint_s_own_frame(load) -> None:
    """Off the link: a body without mass turns, and the link, which is fixed to it, swings about the joint's axis."""
    robot = load(link("a"), link("b", "1 0 0 0 0 0"), joint("j", "a", "b", inside=placed("-1 0 0 0 0 0")), WORLD)
    assert [j.kind.name for j in robot.joints.values()] == ["fixed", "revolute", "fixed"]
    np.testing.assert_allclose(position(robot, "b", [math.pi / 2]), [0, 1, 0], atol=TIGHT)
    # 2 kg at 1 m, and its own 0.25 about z
    np.testing.assert_allclose(mass_matrix.algorithm(robot, [0.3]), [[2.25]], rtol=1e-14)
    # along its axis it is the link's own, as is the place of a slide
    for type_, where in (("revolute", "0 0 -1 0 0 0"), ("prismatic", "3 2 -1 0 0 0")):
        same = load(link("a"), link("b"), joint("j", "a", "b", type_, placed(where)), WORLD)
        assert len(same.bodies) == 2


@pytest.mark.parametrize(("version", "inside", "expected"), [
    ("1.4", "", (0, 1, 0)), ("1.6", "", (-1, 0, 0)), ("1.9", "", (-1, 0, 0)),
    ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", (0, 1, 0)),
])  # fmt: skip
def test_axes_of_old_versions(load, version: str, inside: str, expected: tuple[int, ...]) -> None:
    """Y of the model before 1.5 and on demand in 1.5 and 1.6; of the joint, which is turned, in the others."""
    about = f"<axis><xyz>0 1 0</xyz>{inside}</axis>"
    about = f"<joint name='j' type='revolute'><parent>a</parent><child>b</child>{about}</joint>"
    robot = load(link("a"), link("b", "0 0 0 0 0 1.5707963267948966"), about, WORLD, version=version)
    turn = pose(robot, "b")[:3, :3]
    np.testing.assert_allclose(turn @ np.array(robot.joints["j"].kind.axis, float), expected, atol=TIGHT)


def test_axes_expressed_in_another_frame(load) -> None:
    about = "<axis><xyz expressed_in='a'>0 1 0</xyz></axis>"
    elements = [link("a"), link("b", "0 0 0 0 0 1.5707963267948966"), WORLD]
    inside = f"<joint name='j' type='revolute'><parent>a</parent><child>b</child>{about}</joint>"
    robot = load(*elements, inside)
    np.testing.assert_allclose(robot.joints["j"].kind.axis, (1, 0, 0), atol=TIGHT)


@pytest.mark.parametrize(("attributes", "text"), [
    ({}, "1 2 3 0 0 1.5707963267948966"), ({"degrees": "true"}, "1 2 3 0 0 90"),
    ({"rotation_format": "quat_xyzw"}, "1 2 3 0 0 1 1"),
])  # fmt: skip
def test_forms_of_poses(load, attributes: dict[str, str], text: str) -> None:
    robot = load(link("a"), f"<frame name='f' attached_to='a'>{placed(text, **attributes)}</frame>", WORLD)
    expected = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    np.testing.assert_allclose(pose(robot, "f"), expected, atol=TIGHT)


def test_numbers_of_a_joint(load) -> None:
    inside = """<axis><xyz>0 2 0</xyz>
      <limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>
      <dynamics><damping>.5</damping><friction>.25</friction></dynamics></axis>"""
    about = f"<joint name='j' type='revolute'><parent>a</parent><child>b</child>{inside}</joint>"
    found = load(link("a"), link("b"), about, WORLD)
    j = found.joints["j"]
    assert j.kind.axis == (0, 1, 0)
    assert (j.limits.lower, j.limits.upper, j.limits.effort, j.limits.velocity) == ((-1,), (2,), (30,), (4,))
    assert (j.damping, j.friction) == ((0.5,), (0.25,))
    assert (found.motors["j"].effort_limit, found.motors["j"].velocity_limit) == (30, 4)
    assert len(found.report) == 0
    # negative: none; 1e16: none
    open_ = load(link("a"), link("b"), about.replace("30", "-1").replace("<upper>2", "<upper>1e16"), WORLD)
    assert (open_.joints["j"].limits.effort, open_.joints["j"].limits.upper) == ((math.inf,), (math.inf,))


@pytest.mark.parametrize(("type_", "kinds"), [
    ("revolute", ["revolute"]), ("continuous", ["continuous"]), ("prismatic", ["prismatic"]), ("fixed", ["fixed"]),
    ("ball", ["spherical"]), ("universal", ["revolute", "revolute"]), ("revolute2", ["revolute", "revolute"]),
    ("screw", ["helical"]),
])  # fmt: skip
def test_types_of_joints(load, type_: str, kinds: list[str]) -> None:
    more = "<axis2><xyz>0 1 0</xyz></axis2>" if type_ in ("universal", "revolute2") else ""
    more += "<screw_thread_pitch>6.283185307179586</screw_thread_pitch>" if type_ == "screw" else ""
    robot = load(link("a"), link("b"), joint("j", "a", "b", type_, more), WORLD)
    assert [j.kind.name for j in robot.joints.values()][1:] == kinds
    if type_ == "screw":
        assert robot.joints["j"].kind.pitch == pytest.approx(1, rel=1e-15)
    if type_ == "universal":
        # first about the parent's z, then about the child's y
        np.testing.assert_allclose(pose(robot, "b", [math.pi / 2, math.pi / 2])[:3, 0], [0, 0, -1], atol=TIGHT)


def test_springs_are_flexible_joints(load) -> None:
    spring = "<dynamics><spring_stiffness>1500</spring_stiffness><spring_reference>.1</spring_reference></dynamics>"
    about = f"<axis><xyz>0 1 0</xyz>{spring}</axis>"
    inside = f"<joint name='leaf' type='revolute'><parent>a</parent><child>b</child>{about}</joint>"
    robot = load(link("a"), link("b"), inside, link("c"), joint("k", "b", "c"), WORLD)
    assert (robot.joints["leaf"].stiffness, robot.joints["leaf"].rest) == ((1500,), 0.1)
    assert list(robot.flexibilities) == ["leaf"]
    assert list(robot.motors) == ["k"]


# ---- the base


def test_base(load) -> None:
    parts = link("a", "0 0 1 0 0 0"), link("b"), joint("j", "a", "b")
    assert load(*parts).is_free
    fixed = load(*parts, base="fixed")
    np.testing.assert_allclose(position(fixed, "a"), [0, 0, 1], atol=0)
    assert not load(*parts, "<static>true</static>").is_free
    with pytest.raises(RobotError, match="joint 'hold' attaches it to the world") as caught:
        load(*parts, WORLD, base="free")
    assert caught.value.field == "base"


def test_motors_that_are_named(load) -> None:
    parts = [link(n) for n in "abcd"] + [joint("left", "a", "b"), joint("right", "a", "c"), joint("up", "a", "d")]
    assert list(load(*parts, motors=["*t"]).motors) == ["left", "right"]
    assert list(load(*parts, motors="up").motors) == ["up"]
    with pytest.raises(RobotError, match="no joint with one degree of freedom named 'lift'"):
        load(*parts, motors="lift")


# ---- loops


def test_a_link_with_two_parents_closes_a_loop(load) -> None:
    """A four-bar: three joints make the tree, the last one a hinge at the place that the file gives it."""
    robot = load(
        link("a"), link("b"), link("c", "1 0 0 0 0 0"), link("d", "0 0 1 0 0 0"), WORLD,
        joint("ab", "a", "b", axis="0 1 0"), joint("ac", "a", "c", axis="0 1 0"),
        joint("bd", "b", "d", axis="0 1 0"), joint("cd", "c", "d", axis="0 1 0", inside=placed("1 0 0 0 0 0")),
    )  # fmt: skip
    assert (robot.nv, list(robot.closures)) == (3, ["cd"])
    closure = robot.closures["cd"]
    assert (closure.kind, closure.axis) == ("hinge", (0, 1, 0))
    for end in (closure.a, closure.b):
        np.testing.assert_allclose(position(robot, end), [1, 0, 1], atol=TIGHT)


@pytest.mark.parametrize(("type_", "kind"), [("ball", "point"), ("fixed", "weld"), ("revolute", "hinge")])
def test_closures_by_type(load, type_: str, kind: str) -> None:
    parts = link("a"), link("b"), link("c"), WORLD, joint("ab", "a", "b"), joint("ac", "a", "c")
    robot = load(*parts, joint("bc", "b", "c", type_))
    assert [c.kind for c in robot.closures.values()] == [kind]


def test_slides_and_springs_stay_in_the_tree(load) -> None:
    """Since no closure can stand for them; the hinge before them in the file closes the loop."""
    parts = link("a"), link("b"), link("c"), WORLD, joint("ab", "a", "b"), joint("ac", "a", "c")
    robot = load(*parts, joint("bc", "b", "c", "prismatic"))
    assert list(robot.closures) == ["ac"]
    assert robot.joints["bc"].kind.name == "prismatic"
    lost = load(*parts[:4], joint("ab", "a", "b", "prismatic"), joint("ac", "a", "c", "prismatic"),
                joint("bc", "b", "c", "prismatic"))  # fmt: skip
    assert (len(lost.closures), [f.kind for f in lost.report]) == (0, ["dropped"])
    assert "the loop stays open" in lost.report[0].message


def test_a_closure_names_what_it_does_not_have(load) -> None:
    parts = link("a"), link("b"), link("c"), WORLD, joint("ab", "a", "b"), joint("ac", "a", "c")
    inside = "<axis><dynamics><damping>1</damping></dynamics></axis>"
    robot = load(*parts, joint("bc", "b", "c", "ball", inside))
    assert [(f.kind, f.subject) for f in robot.report] == [("dropped", "joint 'bc'")]
    assert "no damping" in robot.report[0].message


def test_joints_the_other_way_round(load) -> None:
    """A link that is a parent only hangs on its child: the coordinate keeps its meaning."""
    robot = load(link("a"), link("b"), link("c", "0 0 1 0 0 0"), WORLD, joint("ab", "a", "b"), joint("cb", "c", "b"))
    assert robot.joints["cb"].parent == "b"
    q = [0.0, 0.5]
    R = pose(robot, "c", q)[:3, :3].T @ pose(robot, "b", q)[:3, :3]
    np.testing.assert_allclose(math.atan2(R[1, 0], R[0, 0]), 0.5, atol=TIGHT)


def test_the_largest_part_is_the_robot(load) -> None:
    robot = load(link("x"), link("a"), link("b"), joint("ab", "a", "b"))
    assert list(robot.bodies) == ["a", "b"]
    assert "'x'" in str(robot.report)


def test_tree_prefers_the_file_s_direction() -> None:
    edges = [Edge("1", "a", "b", 2), Edge("2", "c", "b", 2), Edge("3", "a", "c", 2), Edge("4", "b", "d", 0)]
    tree = largest_tree(list("abcd"), edges, "world", "a")
    assert [(c.edge.name, c.is_turned) for c in tree.carried] == [("1", False), ("4", False), ("3", False)]
    assert [edge.name for edge in tree.closing] == ["2"]


# ---- couplings


def gearbox(ratio: str) -> str:
    axes = "<axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    about = f"<gearbox_ratio>{ratio}</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>{axes}"
    return f"<joint name='gears' type='gearbox'><parent>rotor</parent><child>b</child>{about}</joint>"


def test_gearbox(load) -> None:
    """theta_2 = -ratio theta_1: the rotor turns 25 times as fast, the other way, and is felt 625-fold."""
    parts = [link("a"), link("b"), link("rotor"), WORLD, link("c"), joint("passive", "b", "c", axis="1 0 0")]
    parts += [joint("in", "a", "rotor", axis="0 1 0"), joint("out", "a", "b", axis="0 1 0")]
    robot = load(*parts, gearbox("0.04"))
    mimic = robot.joints["in"].mimic
    assert mimic is not None
    assert (mimic.joint, mimic.multiplier) == ("out", -25)
    assert list(robot.motors) == ["out"]
    # b and c about y: 0.2 each; the rotor's 0.2 as well
    k = robot.v_slice("out").start
    np.testing.assert_allclose(mass_matrix.algorithm(robot, [0, 0])[k][k], 0.4 + 625 * 0.2, rtol=1e-13)
    fast = load(*parts, gearbox("4")).joints["out"].mimic
    assert fast is not None
    assert (fast.joint, fast.multiplier) == ("in", -4)
    assert "nothing is coupled" in str(load(*parts, gearbox("0")).report)


def test_mimic(load) -> None:
    wish = "<mimic joint='ab'><multiplier>2</multiplier><offset>.5</offset><reference>.1</reference></mimic>"
    inside = f"<axis><xyz>0 0 1</xyz>{wish}</axis>"
    follower = f"<joint name='ac' type='revolute'><parent>a</parent><child>c</child>{inside}</joint>"
    robot = load(link("a"), link("b"), link("c"), WORLD, joint("ab", "a", "b"), follower, version="1.11")
    mimic = robot.joints["ac"].mimic
    assert mimic is not None
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("ab", 2, 0.5 - 2 * 0.1)


def test_fingers_that_follow_leave_the_arm_its_motors(load) -> None:
    """A <mimic> says nothing on what drives the other joints; a gearbox does."""
    follower = "<axis><xyz>0 0 1</xyz><mimic joint='finger'><multiplier>-1</multiplier></mimic></axis>"
    robot = load(
        link("a"), link("b"), link("c"), link("d"), WORLD, joint("arm", "a", "b"), joint("finger", "b", "c"),
        f"<joint name='other' type='revolute'><parent>b</parent><child>d</child>{follower}</joint>", version="1.11",
    )  # fmt: skip
    assert list(robot.motors) == ["arm", "finger"]
    assert [f.kind for f in robot.report] == []


# ---- nested and included models

ARM = link("base", "0 0 0 0 0 0") + link("tip", "0 0 1 0 0 0") + joint("wrist", "base", "tip", axis="0 1 0")


def test_nested_models(load) -> None:
    inner = f"<model name='arm'>{placed('1 0 0 0 0 1.5707963267948966')}{ARM}</model>"
    robot = load(link("a"), inner, joint("mount", "a", "arm::base", "fixed"), WORLD)
    assert list(robot.bodies) == ["a", "arm::base", "arm::tip"]
    np.testing.assert_allclose(position(robot, "arm::tip"), [1, 0, 1], atol=TIGHT)
    # about its own y, which is the model's -x
    np.testing.assert_allclose(position(robot, "arm::tip"), position(robot, "arm::tip", [0.7]), atol=TIGHT)
    np.testing.assert_allclose(pose(robot, "arm::tip", [math.pi / 2])[:3, 2], [0, 1, 0], atol=TIGHT)


def test_placement_frames(load) -> None:
    inner = f"<model name='arm' placement_frame='tip'>{placed('1 0 0 0 0 0')}{ARM}</model>"
    robot = load(link("a"), inner, joint("mount", "a", "arm::base", "fixed"), WORLD)
    np.testing.assert_allclose(position(robot, "arm::tip"), [1, 0, 0], atol=TIGHT)
    np.testing.assert_allclose(position(robot, "arm::base"), [1, 0, -1], atol=TIGHT)


@pytest.mark.parametrize("uri", ["model://arm", "arm", "arm/arm.sdf", "package://arm/arm.sdf"])
def test_includes(load, tmp_path: Path, uri: str) -> None:
    write(tmp_path / "arm", ARM, name="arm.sdf", model="arm")
    (tmp_path / "arm" / "model.config").write_text(
        "<model><name>Arm</name><sdf version='1.5'>old.sdf</sdf><sdf version='1.9'>arm.sdf</sdf></model>"
    )
    include = f"<include><uri>{uri}</uri><name>left</name>{placed('0 1 0 0 0 0')}</include>"
    robot = load(link("a"), include, joint("mount", "a", "left::base", "fixed"), WORLD)
    assert list(robot.bodies) == ["a", "left::base", "left::tip"]
    np.testing.assert_allclose(position(robot, "left::tip"), [0, 1, 1], atol=TIGHT)


def test_merged_includes(load, tmp_path: Path) -> None:
    write(tmp_path, ARM, name="arm.sdf", model="arm")
    include = f"<include merge='true'><uri>arm.sdf</uri>{placed('0 1 0 0 0 0')}</include>"
    robot = load(link("a"), include, joint("mount", "a", "base", "fixed"), WORLD)
    np.testing.assert_allclose(position(robot, "tip"), [0, 1, 1], atol=TIGHT)


@pytest.mark.parametrize("uri", ["../secret.sdf", "/etc/passwd.sdf", "http://example.org/a.sdf", "model://nowhere"])
def test_includes_that_may_not_be_read(load, tmp_path: Path, uri: str) -> None:
    write(tmp_path, link("secret"), name="secret.sdf")
    parts = link("a"), link("b"), joint("ab", "a", "b")
    robot = load(*parts, f"<include><uri>{uri}</uri></include>", name="ws/robot.sdf")
    assert list(robot.bodies) == ["a", "b"]
    assert [f.kind for f in robot.report] == ["dropped"]
    with pytest.raises(RobotError, match="include"):
        load(*parts, f"<include><uri>{uri}</uri></include>", name="ws/robot.sdf", strict=True)


def test_a_file_that_includes_itself(load) -> None:
    with pytest.raises(RobotError, match="nested deeper"):
        load(link("a"), "<include><uri>robot.sdf</uri><name>again</name></include>")


def test_models_of_a_world(tmp_path: Path) -> None:
    path = tmp_path / "scene.world"
    models = f"<model name='floor'>{link('x')}</model><model name='robot'>{ARM}</model>"
    path.write_text(f"<sdf version='1.6'><world name='w'>{models}</world></sdf>")
    robot = pliant.load(path)
    assert (robot.name, robot.nv) == ("robot", 7)
    assert "'floor'" in str(robot.report)
    assert list(load_sdf(path, model="floor").bodies) == ["x"]
    with pytest.raises(RobotError, match="did you mean 'floor'"):
        load_sdf(path, model="flor")
    (tmp_path / "scene.xml").write_text(path.read_text())
    assert pliant.load(tmp_path / "scene.xml").name == "robot"


# ---- shapes and inertias


def test_shapes(load) -> None:
    def shape(tag: str, inside: str, pose: str = "0 0 .5 0 0 0") -> str:
        return f"<{tag} name='s'><pose>{pose}</pose><geometry>{inside}</geometry></{tag}>"

    inside = INERTIAL + shape("collision", "<box><size>1 2 3</size></box>")
    inside += shape("collision", "<cylinder><radius>.1</radius><length>.5</length></cylinder>")
    inside += shape("visual", "<sphere><radius>.2</radius></sphere>").replace(
        "</geometry>", "</geometry><material><ambient>0 0 0 1</ambient><diffuse>.5 .25 1 1</diffuse></material>"
    )
    inside += shape("collision", "<plane><normal>0 0 1</normal></plane>")
    body = load(link("a", inside=inside), base="fixed").bodies["a"]
    assert [(g.kind, g.size) for g in body.collisions] == [("box", (1, 2, 3)), ("cylinder", (0.1, 0.5))]
    assert list(body.collisions[0].placement.p) == [0, 0, 0.5]
    assert body.visuals[0].color == (0.5, 0.25, 1, 1)


def test_inertias(load) -> None:
    """Turned with the pose of <inertial>; 1 kg by default; of the collision shapes if auto."""
    turned = INERTIAL.replace("<mass>", "<pose>0 0 1 0 0 1.5707963267948966</pose><mass>")
    body = load(link("a", inside=turned), base="fixed").bodies["a"]
    np.testing.assert_allclose(list(body.inertia.about_com()), [0.2, 0, 0, 0.1, 0, 0.25], atol=TIGHT)
    assert list(body.inertia.h) == [0, 0, 2]
    missing = load(link("a", inside=""), base="fixed")
    assert (missing.mass, [f.kind for f in missing.report]) == (1, ["guessed"])
    box = "<collision name='c'><geometry><box><size>.1 .2 .3</size></box></geometry></collision>"
    auto = load(link("a", inside=f"<inertial auto='true'><density>500</density></inertial>{box}"), base="fixed")
    assert auto.mass == pytest.approx(3, rel=1e-14)
    # m (y^2 + z^2) / 12
    assert auto.bodies["a"].inertia.J.xx == pytest.approx(3 * 0.13 / 12, rel=1e-14)


# ---- mistakes


@pytest.mark.parametrize(("elements", "words"), [
    ((link("a"), link("a")), ("'a' is taken",)),
    ((link("a"), link("b"), joint("j", "a", "bb")), ("'bb'", "did you mean 'b'")),
    ((link("a"), link("b"), joint("j", "a", "b", "hinge")), ("type of joint", "'hinge'")),
    ((link("a", "0 0 0 0 0 0", relative_to="b"), link("b", "0 0 0 0 0 0", relative_to="a"), joint("j", "a", "b")),
     ("relative to itself",)),
    ((link("a", "0 0 zero 0 0 0"),), ("6 finite numbers",)),
    ((link("a"), joint("j", "a", "a")), ("to itself",)),
    (("",), ("no links",)),
])  # fmt: skip
def test_mistakes_name_the_thing(load, elements: tuple[str, ...], words: tuple[str, ...]) -> None:
    with pytest.raises(RobotError) as caught:
        load(*elements)
    assert caught.value.place is not None or "no links" in words
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_axes_expressed_in_nothing(load) -> None:
    about = "<axis><xyz expressed_in='nowhere'>0 1 0</xyz></axis>"
    with pytest.raises(RobotError, match="no link, joint or frame named 'nowhere'"):
        load(link("a"), link("b"), joint("j", "a", "b", "ball"), joint("k", "a", "b").replace(
            "<axis><xyz>0 0 1</xyz></axis>", about))  # fmt: skip


def test_other_files(tmp_path: Path) -> None:
    (tmp_path / "robot.sdf").write_text("<robot name='r'/>")
    with pytest.raises(RobotError, match="this is URDF"):
        load_sdf(tmp_path / "robot.sdf")
    (tmp_path / "robot.xml").write_text("<collada/>")
    with pytest.raises(RobotError, match="<collada>"):
        pliant.load(tmp_path / "robot.xml")
