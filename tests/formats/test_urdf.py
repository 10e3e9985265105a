"""What the URDF reader reads, with mesh files, Xacro and real robots; what it refuses; and odd files, which load.

Errors name file, line, thing and cure.
"""

import logging
import math
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from pliant.errors import Place, PliantError, RobotError
from pliant.formats import load_urdf
from pliant.robot import Limits
from real_robots import LEFT_OUT, PATHS, real_robot
from side_files import SHIPPED
from urdf_text import INERTIAL, LIMIT, PENDULUM, joint, link, refused

# ---- what is read


def test_a_joint_with_everything(load) -> None:
    inside = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><dynamics damping="0.5" friction="0.25"/>' + LIMIT
    robot = load(link("base"), link("rod"), joint("hinge", "base", "rod", inside=inside))
    hinge = robot.joints["hinge"]
    assert (hinge.kind.name, hinge.parent, hinge.child) == ("revolute", "base", "rod")
    assert (hinge.damping, hinge.friction) == ((0.5,), (0.25,))
    assert hinge.limits == Limits((-1,), (2,), (4,), (3,))
    X_PJ = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([1.0, 2, 3]))
    # a turn of three angles: a few roundings
    np.testing.assert_allclose(np.array(hinge.placement.homogeneous(), float), X_PJ.homogeneous, atol=1e-15)
    assert (robot.motors["hinge"].effort_limit, robot.motors["hinge"].velocity_limit) == (3, 4)
    assert len(robot.report) == 0


def test_inertia_agrees_with_pinocchio(write) -> None:
    path = write(*PENDULUM)
    ours = load_urdf(path).bodies["rod"].inertia
    theirs = pin.buildModelFromUrdf(str(path)).inertias[1]
    assert ours.mass == theirs.mass
    np.testing.assert_allclose(list(ours.h), theirs.mass * theirs.lever, rtol=1e-15)
    about_origin = theirs.matrix()[3:, 3:]
    np.testing.assert_allclose(np.array(list(ours.J.full())).reshape(3, 3), about_origin, rtol=1e-13)


@pytest.mark.parametrize(("type_", "kind", "nq", "nv"), [
    ("revolute", "revolute", 1, 1), ("continuous", "continuous", 1, 1), ("prismatic", "prismatic", 1, 1),
    ("fixed", "fixed", 0, 0), ("floating", "free", 7, 6), ("planar", "planar", 4, 3),
])  # fmt: skip
def test_types_of_joints(load, type_: str, kind: str, nq: int, nv: int) -> None:
    robot = load(link("base"), link("rod"), joint("j", "base", "rod", type_))
    assert robot.joints["j"].kind.name == kind
    assert (robot.nq, robot.nv) == (nq, nv)


def test_base_free_or_fixed(load) -> None:
    assert (load(*PENDULUM).nq, load(*PENDULUM, base="free").nq) == (1, 8)
    assert load(*PENDULUM, base="free").joints["root_joint"].kind.name == "free"


def test_siblings_come_by_name_as_in_pinocchio(write) -> None:
    names = ["b", "a10", "a2", "B", "é"]
    path = write(
        link("base"), *(link(f"l{k}") + joint(name, "base", f"l{k}") for k, name in enumerate(names)), link("end"),
        joint("after", "l0", "end"),
    )  # fmt: skip
    moving = [j.name for j in load_urdf(path).joints.values() if j.kind.nv]
    assert moving == list(pin.buildModelFromUrdf(str(path)).names)[1:]
    assert list(load_urdf(path).motors) == moving


def test_what_may_be_left_out(load) -> None:
    """A link without <inertial> weighs nothing, effort 0 is no motor, and a continuous joint needs no limits."""
    robot = load(link("base"), link("frame", ""), joint("f", "base", "frame", "fixed"))
    assert (robot.bodies["frame"].inertia.mass, len(robot.report)) == (0, 0)
    assert load(*PENDULUM[:2], joint("j", "base", "rod", inside=LIMIT.replace('effort="3"', 'effort="0"'))).nu == 0
    robot = load(*PENDULUM[:2], joint("j", "base", "rod", "continuous", ""))
    assert (robot.motors["j"].effort_limit, len(robot.report)) == (math.inf, 0)


def test_root_named_world(load) -> None:
    elements = (link("world", ""), link("arm"), joint("j", "world", "arm"))
    assert list(load(*elements).bodies) == ["arm"]
    free = load(*elements, base="free")
    assert list(free.bodies) == ["world_link", "arm"]
    assert "world_link" in str(free.report)


def test_joint_named_root_joint(load) -> None:
    robot = load(link("base"), link("rod"), joint("root_joint", "base", "rod"))
    assert {j.name: j.kind.name for j in robot.joints.values()} == {"world_joint": "fixed", "root_joint": "revolute"}


def test_name_comes_from_file_or_argument(load, write) -> None:
    assert load(*PENDULUM).name == "r"
    assert load(*PENDULUM, name="other").name == "other"
    nameless = load_urdf(write(*PENDULUM, head="<robot>\n"))
    assert nameless.name == "robot"
    assert [f.kind for f in nameless.report] == ["guessed"]


# ---- mimic joints


MIMIC = (
    link("base"), link("a"), link("b"), link("c"),
    joint("lead", "base", "a"),
    joint("follow", "base", "b", inside=LIMIT + '<mimic joint="lead" multiplier="2" offset="0.5"/>'),
    joint("last", "base", "c", inside=LIMIT + '<mimic joint="follow" multiplier="-1"/>'),
)  # fmt: skip


def test_mimic_joints_are_independent_by_default(load) -> None:
    robot = load(*MIMIC)
    assert robot.nq == 3
    assert all(j.mimic is None for j in robot.joints.values())
    assert "mimic=True" in str(robot.report)
    assert "(2 times)" in str(robot.report)


def test_mimic_joints_coupled(load) -> None:
    robot = load(*MIMIC, mimic=True)
    assert (robot.nq, robot.nu) == (1, 1)
    # last = -follow = -(2 lead + 0.5)
    positions = {link.name: link.position([1.0])[0] for link in robot.mechanism.links}
    assert positions == {"lead": 1.0, "follow": 2.5, "last": -2.5}


@pytest.mark.parametrize(("leader", "word"), [("led", "'lead'"), ("follow", "itself")])
def test_mimic_of_nothing_or_itself(load, write, leader: str, word: str) -> None:
    inside = f'{LIMIT}<mimic joint="{leader}"/>'
    elements = (link("base"), link("a"), link("b"), MIMIC[4], joint("follow", "base", "b", inside=inside))
    robot = load(*elements, mimic=True)
    assert robot.nq == 2
    assert [f.kind for f in robot.report] == ["odd"]
    assert word in robot.report[0].message
    refused(write(*elements), "follow", word, "strict=False", mimic=True, strict=True)


# ---- shapes


def test_shapes_and_colours(load) -> None:
    visual = """<visual name="shell"><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry>
      <material name="red"/></visual>
      <visual><geometry><sphere radius="0.5"/></geometry><material name=""><color rgba="0 0 1 1"/></material></visual>
      <collision><geometry><cylinder radius="0.1" length="0.7"/></geometry></collision>"""
    robot = load('<material name="red"><color rgba="1 0 0 1"/></material>\n', link("a", INERTIAL + visual))
    box, ball = robot.bodies["a"].visuals
    assert (box.kind, box.size, box.name, box.color) == ("box", (1, 2, 3), "shell", (1, 0, 0, 1))
    assert list(box.placement.p) == [1, 0, 0]
    assert (ball.kind, ball.size, ball.color) == ("sphere", (0.5,), (0, 0, 1, 1))
    (tube,) = robot.bodies["a"].collisions
    assert (tube.kind, tube.size) == ("cylinder", (0.1, 0.7))
    assert len(robot.report) == 0


# ---- mesh files: found where they may be, and never outside


def mesh(file: str) -> str:
    return link("a", f'{INERTIAL}<visual><geometry><mesh filename="{file}" scale="2 2 2"/></geometry></visual>')


@pytest.mark.parametrize(
    "file", ["m/a.stl", "../meshes/a.stl", "package://pack/meshes/a.stl", "package:///pack/m/../meshes/a.stl"]
)
def test_meshes_in_folder_and_package(write, tmp_path: Path, file: str) -> None:
    for place in ("pack/meshes/a.stl", "pack/urdf/m/a.stl", "pack/m/a.stl", "pack/package.xml"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("solid")
    robot = load_urdf(write(mesh(file), name="pack/urdf/robot.urdf"))
    (shape,) = robot.bodies["a"].visuals
    assert shape.file is not None
    assert Path(shape.file).read_text() == "solid"
    assert shape.scale == (2, 2, 2)
    assert len(robot.report) == 0


def test_meshes_in_given_folders(write, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "pack").mkdir(parents=True)
    (tmp_path / "elsewhere" / "pack" / "a.stl").write_text("solid")
    path = write(mesh("package://pack/a.stl"), name="here/robot.urdf")
    assert load_urdf(path, packages=[tmp_path / "elsewhere"]).bodies["a"].visuals[0].file
    # not given: the shape stays, without a file, and the report says what to give
    robot = load_urdf(path)
    assert robot.bodies["a"].visuals[0].file is None
    assert "packages=" in str(robot.report)
    refused(path, "nowhere", "packages", packages=[tmp_path / "nowhere"])


@pytest.mark.parametrize("file", [
    "package://../../secret.stl", "package://pack/../../secret.stl", "package:///../secret.stl", "../../secret.stl",
    "package://pack/link.stl", "http://example.org/a.stl", "package://",
])  # fmt: skip
def test_paths_that_escape_are_dropped(write, tmp_path: Path, file: str) -> None:
    (tmp_path / "secret.stl").write_text("secret")
    (tmp_path / "ws" / "pack").mkdir(parents=True)
    (tmp_path / "ws" / "pack" / "link.stl").symlink_to(tmp_path / "secret.stl")
    path = write(mesh(file), name="ws/urdf/robot.urdf")
    robot = load_urdf(path, packages=[tmp_path / "ws"])
    assert robot.bodies["a"].visuals == ()
    assert [f.kind for f in robot.report] == ["dropped"]
    refused(path, "robot.urdf:5", file, packages=[tmp_path / "ws"], strict=True)


@pytest.mark.parametrize("scheme", ["file://", ""])
def test_absolute_path_outside_is_dropped(write, tmp_path: Path, scheme: str) -> None:
    (tmp_path / "secret.stl").write_text("secret")
    path = write(mesh(f"{scheme}{tmp_path}/secret.stl"), name="ws/robot.urdf")
    assert load_urdf(path).bodies["a"].visuals == ()
    assert load_urdf(path, packages=[tmp_path]).bodies["a"].visuals[0].file == str((tmp_path / "secret.stl").resolve())


def test_a_folder_that_only_has_the_name_is_no_package(write, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("secret")
    assert load_urdf(write(mesh("package://etc/passwd"), name="ws/r.urdf")).bodies["a"].visuals[0].file is None


# ---- Xacro: expanded by the extra, for those who trust the file

XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'


def test_xacro_needs_trust(write) -> None:
    refused(write(*PENDULUM, name="a.xacro", head=XACRO), "Python expressions", "xacro=True")


def test_xacro_expands_with_its_includes(write) -> None:
    write('<xacro:property name="m" value="${1 + 1.5}"/>', name="parts/mass.xacro", head=XACRO)
    rod = link("rod", INERTIAL.replace('"2"', '"${m}"'))
    elements = ('<xacro:include filename="parts/mass.xacro"/>', link("base"), rod, PENDULUM[2])
    robot = load_urdf(write(*elements, name="a.urdf.xacro", head=XACRO), xacro=True)
    assert (robot.name, robot.bodies["rod"].inertia.mass) == ("r", 2.5)


def test_xacro_that_fails(write) -> None:
    refused(write(link("${nothing}"), name="a.xacro", head=XACRO), "a.xacro", "xacro could not expand", xacro=True)
    refused(write("<link", name="b.xacro", head=XACRO), "b.xacro:", "not well-formed", xacro=True)


def test_xacro_extra_missing(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(PliantError, match=r"a\.xacro: .* needs xacrodoc: pip install 'pliant\[xacro\]'"):
        load_urdf(write(*PENDULUM, name="a.xacro", head=XACRO), xacro=True)


# ---- robots of example-robot-data


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


# ---- what is refused


def test_missing_files_and_folders_and_an_unknown_base(write, tmp_path: Path) -> None:
    write(*PENDULUM, name="pendulum.urdf")
    refused(tmp_path / "pendulm.urdf", "no such file", "pendulum.urdf")
    refused(tmp_path / "nowhere" / "a.urdf", "no such file", "folder")
    refused(tmp_path, "folder", "pendulum.urdf")
    refused(tmp_path / "pendulum.urdf", "'floating'", "'free'", base="floating")


@pytest.mark.parametrize("text", ["", "not xml", "<robot>", "<robot></link>", '<robot name="a">\n<link></robot>', "\0"])
def test_not_xml(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    refused(path, "bad.urdf:", "not well-formed XML", "column")
    path.write_bytes(b'<robot name="\xff\xfe"/>')
    refused(path, "bad.urdf:1", "XML")


@pytest.mark.parametrize("doctype", [
    '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">',
    '<!ENTITY c SYSTEM "file:///etc/passwd">',
    '<!ENTITY % p SYSTEM "http://example.org/a.dtd"> %p;',
    "<!ELEMENT robot ANY>",
])  # fmt: skip
def test_declarations_are_refused(tmp_path: Path, doctype: str) -> None:
    path = tmp_path / "laughs.urdf"
    path.write_text(f'<?xml version="1.0"?>\n<!DOCTYPE robot [{doctype}]>\n<robot name="&c;"><link name="a"/></robot>')
    refused(path, "laughs.urdf:2", "refused", "remove it")


def test_external_dtd_is_refused_and_a_bare_doctype_is_harmless(write) -> None:
    refused(write(head='<!DOCTYPE robot SYSTEM "a.dtd"><robot name="r">'), "DOCTYPE")
    assert load_urdf(write(link("a"), head='<!DOCTYPE robot><robot name="r">')).name == "r"


def test_too_deep_and_too_big(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep.urdf"
    path.write_text('<robot name="r">' + "<a>" * 200 + "</a>" * 200 + "</robot>")
    refused(path, "nested deeper")
    monkeypatch.setattr("pliant.files.xml.MAX_BYTES", 100)
    refused(path, "larger than")


def test_other_formats_and_stubs_without_links(write, tmp_path: Path) -> None:
    path = tmp_path / "a.urdf"
    path.write_text('<mujoco model="a"/>')
    refused(path, "<mujoco>", "MJCF")
    refused(write(), "no links")


def test_unexpanded_xacro(write) -> None:
    path = write(*PENDULUM, '<xacro:macro name="m"/>', head='<robot name="r" xmlns:xacro="x">\n')
    refused(path, "xacro:macro", "expand")
    refused(write(link("a", INERTIAL.replace('"2"', '"${m}"'))), "'${m}'", "xacro")


def with_mass(value: str) -> list[str]:
    return [link("a"), link("b", INERTIAL.replace('value="2"', f'value="{value}"')), joint("j", "a", "b")]


ABC = (link("a", ""), link("b", ""), link("c", ""))


@pytest.mark.parametrize(("elements", "words"), [
    *((with_mass(value), ["urdf:7", "mass"]) for value in ("two", "", "1,5", "nan", "inf", "1_0", "1 2")),
    (with_mass("-2"), ["urdf:6", "'b'", "-2.0; it takes 0 or more"]),
    *(([link("a", INERTIAL.replace("0.1 0.2 0.3", value))], ["urdf:3", repr(value), "3 finite numbers"])
      for value in ("1 2", "1 2 3 4", "1 2 z")),
    (['<link name="a"><inertial><mass value="1"/></inertial></link>'], ["<inertial> has no <inertia>"]),
    (["<link/>"], ["<link> has no name"]),
    ([link("a"), '<joint type="fixed"/>'], ["<joint> has no name"]),
    ([link("a"), '<joint name="j"/>'], ["<joint> has no type"]),
    ([link("a"), '<joint name="j" type="fixed"><child link="a"/></joint>'], ["<joint> has no <parent>"]),
    ([*PENDULUM[:2], joint("j", "bas", "rod")], ["urdf:10", "'bas'", "'base'", "'j'"]),
    ([*PENDULUM[:2], joint("j", "base", "rod", "revolut")], ["urdf:10", "'j'", "'revolute'"]),
    ([link("a"), link("a")], ["urdf:6", "'a'", "unique"]),
    ([link("a"), *ABC[1:], joint("j", "a", "b"), joint("j", "a", "c")], ["urdf:9", "'j'", "unique"]),
    ([*ABC, joint("j", "a", "b")], ["2 roots", "'a'", "'c'", "join"]),
    ([*ABC, joint("i", "a", "b"), joint("j", "a", "c"), joint("k", "b", "c")], ["'c'", "'j'", "'k'", "remove one"]),
])  # fmt: skip
def test_elements_that_are_wrong(write, elements: list[str], words: list[str]) -> None:
    refused(write(*elements), *words)


def test_cycle(write) -> None:
    elements = (link("root", ""), link("a", ""), link("b", ""), joint("j", "a", "b"), joint("k", "b", "a"))
    message = refused(write(*elements), "cycle", "remove one")
    assert "a -> b -> a" in message or "b -> a -> b" in message
    assert "robot.urdf:3:" in message or "robot.urdf:4:" in message


def test_mutilated_files_meet_no_other_error(tmp_path: Path) -> None:
    """Whatever is cut out of a file, doubled or overwritten: it loads, or the error is ours."""
    rng = np.random.default_rng(0)
    source = (SHIPPED / "two_link_arm.urdf").read_bytes()
    words = [b"", *b'0 nan -1 1e999 " < /> </link> base world &amp; \xff'.split(), b" 1 2"]
    path, refusals = tmp_path / "robot.urdf", 0
    for _ in range(300):
        a, length = int(rng.integers(len(source))), int(rng.integers(1, 30))
        path.write_bytes(source[:a] + words[rng.integers(len(words))] * int(rng.integers(3)) + source[a + length :])
        try:
            load_urdf(path, base="free" if rng.random() < 0.5 else "fixed", mimic=True)
        except RobotError as error:
            refusals += 1
            assert "robot.urdf" in str(error)
    assert 0 < refusals < 300


@pytest.mark.parametrize(("elements", "line", "subject", "field"), [
    ((link("a"), link("b"), joint("j", "a", "c")), 10, "joint 'j'", "child"),
    ((link("a"), link("b"), joint("j", "a", "b", inside='<limit effort="x" velocity="1"/>')), 10, "<limit>", "effort"),
    ((link("a"), link("b")), 2, "body 'a'", "joint"),
    ((link("a"), link("a")), 6, "body 'a'", "name"),
])  # fmt: skip
def test_errors_have_a_place_and_fields(write, elements: tuple[str, ...], line: int, subject: str, field: str) -> None:
    path = write(*elements)
    with pytest.raises(RobotError) as caught:
        load_urdf(path)
    assert caught.value.place == Place(str(path), line)
    assert (caught.value.subject, caught.value.field) == (subject, field)
    assert str(caught.value).startswith(f"{path}:{line}: ")


# ---- odd files: strict refuses them, repair corrects them


def test_impossible_inertia(load, write) -> None:
    elements = (link("base"), link("rod", INERTIAL.replace('izz="0.05"', 'izz="0.5"')), PENDULUM[2])
    robot = load(*elements)
    assert [(f.kind, f.subject, f.line) for f in robot.report] == [("odd", "body 'rod'", 6)]
    refused(write(*elements), "robot.urdf:6", "'rod'", "triangle", "repair=True", strict=True)
    repaired = load(*elements, repair=True)
    assert [f.kind for f in repaired.report] == ["repaired"]
    assert load(*elements, strict=True, repair=True).report[0].kind == "repaired"
    before, after = (sum(r.bodies["rod"].inertia.J.entry(k, k) for k in range(3)) for r in (robot, repaired))
    assert after != pytest.approx(before)


ODD = {
    "no limits": (joint("j", "a", "b", inside=""), "guessed", "no <limit>"),
    "no effort": (joint("j", "a", "b", inside='<limit lower="0" upper="1" velocity="1"/>'), "guessed", "effort"),
    "negative effort": (joint("j", "a", "b", inside=LIMIT.replace('"3"', '"-3"')), "guessed", "negative"),
    "locked": (joint("j", "a", "b", inside='<limit effort="1" velocity="1"/>'), "odd", "cannot move"),
    "reversed limits": (joint("j", "a", "b", inside=LIMIT.replace('"2"', '"-2"')), "odd", "swap"),
    "zero axis": (joint("j", "a", "b").replace("0 0 1", "0 0 0"), "guessed", "1 0 0"),
    "negative damping": (joint("j", "a", "b", inside=f'{LIMIT}<dynamics damping="-1"/>'), "guessed", "damping"),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_joints_are_reported_and_refused_when_strict(load, write, case: str) -> None:
    element, kind, word = ODD[case]
    robot = load(link("a"), link("b"), element)
    assert [(f.kind, f.subject) for f in robot.report] == [(kind, "joint 'j'")]
    assert word in robot.report[0].message
    assert robot.report[0].line is not None
    refused(write(link("a"), link("b"), element), "robot.urdf:", "'j'", word, "strict=False", strict=True)


def test_inertia_without_mass(load) -> None:
    elements = with_mass("0")
    assert load(*elements).report[0].kind == "odd"
    repaired = load(*elements, repair=True)
    assert repaired.report[0].kind == "repaired"
    assert not any(repaired.bodies["b"].inertia.J)


def test_what_is_not_read_is_counted(load) -> None:
    robot = load(*PENDULUM, "<gazebo/>\n", "<gazebo><plugin/></gazebo>\n", '<transmission name="t"/>\n', strict=True)
    assert {(f.kind, f.subject) for f in robot.report} == {("dropped", "<gazebo>"), ("dropped", "<transmission>")}
    assert "2 times" in str(robot.report)


def test_materials_of_one_name(load, write) -> None:
    red, blue = (f'<material name="m"><color rgba="{c}"/></material>\n' for c in ("1 0 0 1", "0 0 1 1"))
    assert [f.subject for f in load(red, blue, *PENDULUM).report] == ["material 'm'"]
    assert len(load(red, red, *PENDULUM).report) == 0
    refused(write(red, blue, *PENDULUM), ":3", "colours", strict=True)


def test_findings_are_logged_in_one_line_each(load, caplog) -> None:
    with caplog.at_level(logging.INFO, logger="pliant"):
        robot = load(*PENDULUM, "<gazebo/>\n", link("c", ""), joint("k", "rod", "c", inside=""))
    assert len(caplog.records) == len(robot.report) == 3
    assert all("robot.urdf" in r.message and "\n" not in r.message for r in caplog.records)
