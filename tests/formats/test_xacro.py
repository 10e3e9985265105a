"""Xacro: expanded by the extra, for those who trust the file."""

import sys

import pytest

from pliant.errors import PliantError
from pliant.formats import load_urdf
from urdf_text import INERTIAL, PENDULUM, link, refused

XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'


def test_xacro_needs_trust(write) -> None:
    refused(write(*PENDULUM, name="a.xacro", head=XACRO), "Python expressions", "xacro=True")


def test_xacro_expands_with_its_includes(write) -> None:
    write('<xacro:property name="m" value="${1 + 1.5}"/>', name="parts/mass.xacro", head=XACRO)
    rod = link("rod", INERTIAL.replace('"2"', '"${m}"'))
    path = write(
        '<xacro:include filename="parts/mass.xacro"/>', link("base"), rod, PENDULUM[2], name="a.urdf.xacro", head=XACRO
    )
    robot = load_urdf(path, xacro=True)
    assert robot.bodies["rod"].inertia.mass == 2.5
    assert robot.name == "r"


def test_xacro_that_fails(write) -> None:
    refused(write(link("${nothing}"), name="a.xacro", head=XACRO), "a.xacro", "xacro could not expand", xacro=True)
    refused(write("<link", name="b.xacro", head=XACRO), "b.xacro:", "not well-formed", xacro=True)


def test_xacro_extra_missing(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(PliantError, match=r"a\.xacro: .* needs xacrodoc: pip install 'pliant\[xacro\]'"):
        load_urdf(write(*PENDULUM, name="a.xacro", head=XACRO), xacro=True)
