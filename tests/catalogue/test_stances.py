"""Poses in which robots stand."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.catalogue.starts import known_stance
from pliant.errors import RobotError
from side_files import SHIPPED


def test_shipped_robots_stand() -> None:
    robot = pliant.load("quadruped")
    q = robot.stance()
    assert q[robot.q_slice("lf_knee")] == -1.6
    assert q[robot.q_slice("rh_hip_pitch")] == 0.8
    assert q[:7].tolist() == [0, 0, 0, 0, 0, 0, 1]
    biped = pliant.load("biped")
    assert biped.stance()[biped.q_slice("left_knee")] == 0.6


def test_robots_of_example_robot_data_stand_as_their_srdf_says() -> None:
    robot = pliant.load("anymal")
    assert known_stance(robot).origin == "'standing' of anymal.srdf"
    q = robot.stance()
    assert q[robot.q_slice("LF_KFE")] != 0
    np.testing.assert_array_equal(q, robot.stance("standing"))
    with pytest.raises(RobotError, match="no state named 'standig'"):
        robot.stance("standig")


def test_a_stance_stays_with_copies_of_the_robot() -> None:
    robot = pliant.load("quadruped").with_gravity(0, 0, -1.6).with_motors(gear=9)
    assert robot.stance()[robot.q_slice("lf_knee")] == -1.6


def test_the_srdf_beside_a_file(tmp_path: Path) -> None:
    shutil.copy(SHIPPED / "quadruped.urdf", tmp_path / "leg.urdf")
    robot = pliant.load(tmp_path / "leg.urdf", base="free")
    with pytest.raises(RobotError) as error:
        robot.stance()
    assert (error.value.subject, error.value.field) == ("robot 'quadruped'", "stance")
    assert "SRDF file beside" in error.value.cure
    state = (
        '<group_state name="home"><joint name="lf_knee" value="-9"/><joint name="base" value="0 0 1"/></group_state>'
    )
    (tmp_path / "broken.srdf").write_text("<robot")
    (tmp_path / "other.srdf").write_text(f'<robot name="q">{state.replace("lf_knee", "no_knee")}</robot>')
    (tmp_path / "robots.srdf").write_text(f'<robot name="q">{state}</robot>')
    # brought within the joint's limits
    assert robot.stance()[robot.q_slice("lf_knee")] == -2.7


@pytest.mark.parametrize("name", ["hopper", "pendulum", "arm7"])
def test_robots_without_a_stance(name: str) -> None:
    with pytest.raises(RobotError) as error:
        pliant.load(name).stance()
    assert error.value.field == "stance"
