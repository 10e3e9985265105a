"""Robots that several tests of the conventions use."""

from pathlib import Path

import pytest

BRANCHES = """<robot name="star">
  <link name="hub"/><link name="one"/><link name="two"/><link name="three"/>
  <joint name="b" type="prismatic">
    <parent link="hub"/><child link="one"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
  </joint>
  <joint name="a" type="prismatic">
    <parent link="hub"/><child link="two"/><limit lower="-1" upper="1" effort="0" velocity="9"/>
  </joint>
  <joint name="B" type="prismatic">
    <parent link="hub"/><child link="three"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
    <mimic joint="a" multiplier="-2" offset="0.5"/>
  </joint>
</robot>"""


@pytest.fixture
def star(tmp_path: Path) -> Path:
    path = tmp_path / "star.urdf"
    path.write_text(BRANCHES, encoding="utf-8")
    return path
