"""Where robots begin: poses in which they stand, and places on the ground."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.catalogue.starts import contact_centers, extent, known_stance, scattered, swung, within_limits
from pliant.errors import RobotError
from side_files import QUADRUPED, SHIPPED
from simulated_robots import CART_POLE

# ---- stances


def test_shipped_robots_stand() -> None:
    q = QUADRUPED.stance()
    assert (q[QUADRUPED.q_slice("lf_knee")], q[QUADRUPED.q_slice("rh_hip_pitch")]) == (-1.6, 0.8)
    assert q[:7].tolist() == [0, 0, 0, 0, 0, 0, 1]
    biped = pliant.load("biped")
    assert biped.stance()[biped.q_slice("left_knee")] == 0.6
    # and so do their copies
    robot = QUADRUPED.with_gravity(0, 0, -1.6).with_motors(gear=9)
    assert robot.stance()[robot.q_slice("lf_knee")] == -1.6


def test_robots_of_example_robot_data_stand_as_their_srdf_says() -> None:
    robot = pliant.load("anymal")
    assert known_stance(robot).origin == "'standing' of anymal.srdf"
    q = robot.stance()
    assert q[robot.q_slice("LF_KFE")] != 0
    np.testing.assert_array_equal(q, robot.stance("standing"))
    with pytest.raises(RobotError, match="no state named 'standig'"):
        robot.stance("standig")


def test_the_srdf_beside_a_file(tmp_path: Path) -> None:
    shutil.copy(SHIPPED / "quadruped.urdf", tmp_path / "leg.urdf")
    robot = pliant.load(tmp_path / "leg.urdf", base="free")
    with pytest.raises(RobotError) as error:
        robot.stance()
    assert (error.value.subject, error.value.field) == ("robot 'quadruped'", "stance")
    assert "SRDF file beside" in error.value.cure
    joints = '<joint name="{}" value="-9"/><joint name="base" value="0 0 1"/>'
    text = f'<robot name="q"><group_state name="home">{joints}</group_state></robot>'
    (tmp_path / "broken.srdf").write_text("<robot")
    (tmp_path / "other.srdf").write_text(text.format("no_knee"))
    (tmp_path / "robots.srdf").write_text(text.format("lf_knee"))
    # brought within the joint's limits
    assert robot.stance()[robot.q_slice("lf_knee")] == -2.7


@pytest.mark.parametrize("name", ["hopper", "pendulum", "arm7"])
def test_robots_without_a_stance(name: str) -> None:
    with pytest.raises(RobotError) as error:
        pliant.load(name).stance()
    assert error.value.field == "stance"


# ---- places

HOPPER = pliant.load("hopper")


@pytest.mark.parametrize("ground", [pliant.flat(0.3), pliant.slope(0.4), pliant.slope(-0.3, direction=1)])
def test_the_lowest_point_is_as_high_as_asked(ground: pliant.Ground) -> None:
    q = HOPPER.neutral()
    q[:2] = 0.4, -0.7
    for height in (0.0, 0.25):
        center = np.array(contact_centers(HOPPER, HOPPER.on_ground(q, ground, height=height).tolist()))
        level, normal = ground.surface(center[0], center[1])
        # the distance of a ball's centre from a plane, less its radius; moved up by height, that is height n_z more
        distance = (center[2] - level) * normal.z - 0.03
        assert distance == pytest.approx(height * normal.z, abs=1e-12)


def test_a_batch_is_placed_as_one_by_one() -> None:
    robot, ground = QUADRUPED.with_collision_contacts(), pliant.slope(0.2)
    q = scattered(robot, robot.neutral(), 5, 0.1, 3)
    several = robot.on_ground(q, ground, height=0.1)
    one_by_one = np.array([robot.on_ground(row, ground, height=0.1) for row in q])
    # kernels and floats round differently
    np.testing.assert_allclose(several, one_by_one, rtol=0, atol=1e-12)


def test_contacts_are_those_of_a_simulation() -> None:
    q = QUADRUPED.on_ground(QUADRUPED.stance())
    # balls of 0.02 m are the feet
    assert pliant.frame_pose(QUADRUPED, q, "lf_foot")[2, 3] == pytest.approx(0.02, abs=1e-12)
    assert q[0] == 0 and QUADRUPED.stance()[2] == 0, "q itself stays"


def test_what_cannot_be_placed() -> None:
    arm = pliant.load("two_link_arm")
    with pytest.raises(RobotError) as error:
        arm.on_ground(arm.neutral())
    assert (error.value.field, error.value.cure) == ("base", "load it with base='free'")
    with pytest.raises(RobotError) as error:
        pliant.load("pendulum", base="free").on_ground(np.zeros(8))
    assert error.value.field == "contacts"
    with pytest.raises(pliant.SimulationError) as error:
        HOPPER.on_ground([0.0])
    assert error.value.field == "q"


def test_scatter() -> None:
    q = scattered(HOPPER, HOPPER.neutral(), 400, 0.05, 1)
    assert (q[0] == HOPPER.neutral()).all()
    assert (q == scattered(HOPPER, HOPPER.neutral(), 400, 0.05, 1)).all()
    assert (q[:, :3] == 0).all()
    # a standard deviation of 400 samples is off by 1/sqrt(800) of it at one sigma: 4 of those
    assert q[1:, 7].std() == pytest.approx(0.05, rel=0.15)
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1, rtol=0, atol=1e-12)


def test_scatter_of_what_slides_and_gives() -> None:
    """Of a sliding joint a tenth, and springs begin as they were."""
    q = scattered(CART_POLE, CART_POLE.neutral(), 400, 0.05, 1)
    assert q[1:, CART_POLE.q_slice("slider")].std() == pytest.approx(0.005, rel=0.15)
    q = scattered(HOPPER, HOPPER.neutral(), 10, 0.05, 1)
    assert HOPPER.flexibilities
    for name in HOPPER.flexibilities:
        assert (q[:, HOPPER.q_slice(name)] == 0).all()


def test_limits() -> None:
    q = within_limits(HOPPER, HOPPER.neutral() + 5)
    assert q[HOPPER.q_slice("hip_roll")] == 1
    assert q[HOPPER.q_slice("leg")] == 0.12
    assert q[0] == 5, "a base has none"


def test_swing() -> None:
    q = swung(CART_POLE, CART_POLE.neutral())
    assert q[CART_POLE.q_slice("slider")] == 0
    assert q[CART_POLE.q_slice("hinge")] == pytest.approx(np.pi / 6)


def test_extent() -> None:
    lower, upper = extent(HOPPER, HOPPER.neutral())
    np.testing.assert_allclose((lower, upper), [[-0.12, -0.12, -0.63], [0.12, 0.12, 0.12]], rtol=0, atol=1e-12)
