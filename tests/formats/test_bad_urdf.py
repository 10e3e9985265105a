"""Files that describe no robot, whose errors name file, line, thing and cure; and odd files, which load."""

import logging
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.errors import Place, RobotError
from pliant.formats import load_urdf
from urdf_text import INERTIAL, LIMIT, PENDULUM, joint, link, refused


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
    source = (Path(pliant.__file__).parent / "catalogue" / "urdf" / "two_link_arm.urdf").read_bytes()
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
