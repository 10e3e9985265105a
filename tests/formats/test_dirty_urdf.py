"""Odd files load and are reported; strict refuses them, repair mends them."""

import logging

import pytest

from urdf_text import INERTIAL, LIMIT, PENDULUM, joint, link, refused

BROKEN_INERTIA = INERTIAL.replace('izz="0.05"', 'izz="0.5"')


def test_impossible_inertia(load, write) -> None:
    elements = (link("base"), link("rod", BROKEN_INERTIA), joint("hinge", "base", "rod"))
    robot = load(*elements)
    (finding,) = robot.report
    assert (finding.kind, finding.subject) == ("odd", "body 'rod'")
    assert finding.line == 6
    refused(write(*elements), "robot.urdf:6", "'rod'", "triangle", "repair=True", strict=True)
    repaired = load(*elements, repair=True)
    assert [f.kind for f in repaired.report] == ["repaired"]
    assert load(*elements, strict=True, repair=True).report[0].kind == "repaired"
    assert sum(repaired.bodies["rod"].inertia.J.entry(k, k) for k in range(3)) != pytest.approx(
        sum(robot.bodies["rod"].inertia.J.entry(k, k) for k in range(3))
    )


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
    weightless = link("b", INERTIAL.replace('value="2"', 'value="0"'))
    elements = (link("a"), weightless, joint("j", "a", "b"))
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
