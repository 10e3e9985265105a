"""Contacts of robots that have none of their own: the ends of the tree and the root."""

import numpy as np
import pytest

import pliant
from pliant import Simulation
from pliant.robot.contacts import with_default_contacts
from pliant.robot import Geometry, Prismatic, Robot, RobotBuilder
from pliant.spatial import MatrixRotation, Transform, Vector
from simulated_robots import BALL, QUADRUPED

BALL_SHAPE = Geometry("sphere", (0.1,))


def chain(*with_shapes: str, base: str = "free") -> Robot:
    """root - arm - hand, with a cover on the root and a finger on the hand that do not move against them."""
    builder = RobotBuilder("chain")
    for name in ("root", "cover", "arm", "hand", "finger"):
        builder.body(
            name, 1, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1), collisions=[BALL_SHAPE] if name in with_shapes else []
        )
    builder.joint("fix cover", "fixed", "root", "cover", (0, 0, 1))
    builder.joint("a", Prismatic((1, 0, 0)), "root", "arm", (1, 0, 0))
    builder.joint("b", Prismatic((1, 0, 0)), "arm", "hand", (1, 0, 0))
    builder.joint("fix finger", "fixed", "hand", "finger", (1, 0, 0))
    return builder.build(base=base)


@pytest.mark.parametrize("shapes, touching", [
    (["root", "cover", "arm", "hand", "finger"], ["root", "finger"]),
    (["cover", "arm", "hand"], ["cover", "hand"]),
    (["root", "arm"], ["root"]),
    (["arm"], ["arm"]),
    (["hand", "finger"], ["finger"]),
    ([], []),
])  # fmt: skip
def test_which_bodies(shapes: list[str], touching: list[str]) -> None:
    robot = with_default_contacts(chain(*shapes), has_ground=True)
    assert list(robot.contacts) == touching
    remarks = [f.message for f in robot.report if f.subject == "contacts"]
    assert len(remarks) == bool(touching)
    if touching:
        assert f"the collision geometry of {', '.join(touching)}; choose others with" in remarks[0]


def test_a_root_that_is_held() -> None:
    robot = with_default_contacts(chain("root", "arm", "finger", base="fixed"), has_ground=True)
    assert list(robot.contacts) == ["finger"]


def test_a_body_has_eight_points_at_most() -> None:
    builder = RobotBuilder("brush")
    tips = [
        Geometry("sphere", (0.01,), Transform(MatrixRotation.identity(), Vector(0.1 * k, 0.01 * k * k, 0)))
        for k in range(20)
    ]
    builder.body("brush", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1), collisions=tips)
    assert len(with_default_contacts(builder.build(base="free"), has_ground=True).contact_points) == 8


def test_own_contacts_stay() -> None:
    assert with_default_contacts(BALL, has_ground=True) is BALL
    assert not with_default_contacts(BALL, has_ground=False).contacts


def test_told() -> None:
    assert "contacts (from collision geometry), float64" in repr(Simulation(QUADRUPED, ground=0))
    assert "1 contacts, float64" in repr(Simulation(BALL, ground=0))
    assert "0 contacts, float64" in repr(Simulation(QUADRUPED))


def test_a_quadruped_falls_on_its_feet_and_trunk() -> None:
    """Its motors are slack: it sinks down, and the ground bears its weight without being entered."""
    sim = Simulation(QUADRUPED, ground=pliant.flat())
    q = QUADRUPED.neutral()
    q[2] = 0.45
    sim.reset(q=q)
    sim.run(3.0, channels=())
    assert not sim.divergences
    mass = sum(body.inertia.mass for body in QUADRUPED.bodies.values())
    assert sim.contact_forces.sum(axis=0)[2] == pytest.approx(mass * 9.81, rel=0.02)  # nearly at rest
    assert sim.diagnostics.penetration < 1e-3
    assert np.abs(sim.v).max() < 1


def test_a_ground_that_nothing_can_touch_is_told() -> None:
    builder = pliant.RobotBuilder("ghost").body("ghost", mass=1, inertia=(1, 0, 0, 1, 0, 1))
    with pytest.warns(pliant.SimulationWarning, match="nothing of robot 'ghost' can touch it"):
        pliant.Simulation(builder.build(base="free"), ground=pliant.flat())
