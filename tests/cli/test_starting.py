"""Where robots begin."""

import numpy as np
import pytest

import pliant
from pliant.catalogue.starting import contact_centers, placed, reach, row, scattered, swung, within_limits
from pliant.errors import PliantError

HOPPER = pliant.load("hopper")


@pytest.mark.parametrize("ground", [pliant.flat(0.3), pliant.slope(0.4), pliant.slope(-0.3, direction=1)])
def test_the_lowest_point_is_as_high_as_asked(ground: pliant.Ground) -> None:
    q = HOPPER.neutral()
    q[:2] = 0.4, -0.7
    for height in (0.0, 0.25):
        center = np.array(contact_centers(HOPPER, placed(HOPPER, ground, q, height).tolist()))
        level, normal = ground.surface(center[0], center[1])
        # the distance of a ball's centre from a plane, less its radius; moved up by height, that is height n_z more
        distance = (center[2] - level) * normal.z - 0.03
        assert distance == pytest.approx(height * normal.z, abs=1e-12)


def test_a_batch_is_placed_as_one_by_one() -> None:
    robot = pliant.load("quadruped").with_collision_contacts()
    ground = pliant.slope(0.2)
    q = scattered(robot, robot.neutral(), 5, 0.1, 3)
    several = placed(robot, ground, q, 0.1)
    one_by_one = np.array([placed(robot, ground, row, 0.1) for row in q])
    # kernels and floats round differently
    np.testing.assert_allclose(several, one_by_one, rtol=0, atol=1e-12)


def test_what_cannot_be_placed_stays() -> None:
    arm = pliant.load("two_link_arm")
    q = arm.neutral()
    assert placed(arm, pliant.flat(), q, 1.0) is q
    assert placed(HOPPER, None, HOPPER.neutral(), 1.0)[2] == 0


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
    cart = pliant.load("cart_pole")
    q = scattered(cart, cart.neutral(), 400, 0.05, 1)
    slides = [j.name for j in cart.joints.values() if j.kind.name == "prismatic"]
    assert slides and q[1:, cart.q_slice(slides[0])].std() == pytest.approx(0.005, rel=0.15)
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
    cart = pliant.load("cart_pole")
    q = swung(cart, cart.neutral())
    assert q[cart.q_slice("slider")] == 0
    assert q[cart.q_slice("hinge")] == pytest.approx(np.pi / 6)


def test_reach() -> None:
    lower, upper = reach(HOPPER, HOPPER.neutral())
    np.testing.assert_allclose((lower, upper), [[-0.03, -0.03, -0.63], [0.03, 0.03, 0]], rtol=0, atol=1e-12)


def test_rows() -> None:
    names = ("a", "b")
    assert row("q", {"b": 2.0}, names, [0, 0]).tolist() == [0, 2]
    assert row("q", (1, 2), names, [0, 0]).tolist() == [1, 2]
    with pytest.raises(PliantError, match="--q has 1 numbers, the robot takes 2: a, b"):
        row("q", (1,), names, [0, 0])
    with pytest.raises(PliantError, match="--v: no coordinate named 'c'"):
        row("v", {"c": 1}, names, [0, 0])
