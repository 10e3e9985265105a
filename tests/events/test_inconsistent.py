"""States without a rigid motion, and states that are not allowed to begin with."""

import math

import numpy as np
import pytest

import pliant
from simple_bodies import box, planar, planar_block
from simulated_robots import PENDULUM, ball

ROD = planar("rod", 1, 1 / 3, [(0, -1)])  # of length 2


def thrown(mu: float, tilt: float, speed: float):
    sim = pliant.EventSimulation(ROD, ground=pliant.flat(friction=mu))
    sim.reset(q=[0, math.cos(tilt), tilt], v=[speed, 0, 0])
    return sim


def test_the_paradox_of_painleve_is_told() -> None:
    """Sliding ahead of its tip, a rod jams where 1 + 3 s^2 < 3 mu s c: first for mu = 4/3, at tan(tilt) = 1/2."""
    critical = math.atan(0.5)
    with pytest.raises(
        pliant.events.InconsistentContactError, match=r"jams rod, which slides.*Painleve.*q = \["
    ) as caught:
        thrown(4 / 3 + 0.01, critical, -3).run(0.1)
    assert caught.value.q is not None
    assert caught.value.q == pytest.approx([0, math.cos(critical), critical])
    assert caught.value.t == 0
    # just below, and to the other side, it slides
    assert thrown(4 / 3 - 0.01, critical, -3).run(0.001).modes == ("rod slides",)
    assert thrown(4 / 3 + 0.01, critical, 3).run(0.1).modes == ("rod slides",)


def test_a_rod_that_slides_into_the_paradox_stops_there() -> None:
    mu = 2.0
    _, high = _edges(mu)
    sim = thrown(mu, high + 0.05, -30)
    with pytest.raises(pliant.events.InconsistentContactError, match="Painleve") as caught:
        sim.run(0.5)
    assert caught.value.t > 0
    assert caught.value.q is not None
    assert caught.value.mode == "rod slides"
    # forces grow like one over the distance to the edge, and steps end where they are 1e-10 s long
    assert caught.value.q[2] == pytest.approx(high, abs=1e-3)


def _edges(mu: float) -> tuple[float, float]:
    """Tilts between which 1 + 3 s^2 < 3 mu s c: with x = tan(tilt), 4 x^2 - 3 mu x + 1 < 0."""
    root = math.sqrt(9 * mu**2 - 16)
    return math.atan((3 * mu - root) / 8), math.atan((3 * mu + root) / 8)


def test_a_start_inside_the_ground_is_an_error_that_says_how_deep() -> None:
    sim = pliant.EventSimulation(box(), ground=pliant.flat())
    with pytest.raises(pliant.SimulationError, match=r"begins with 'box.0' 0.02 m inside the ground; .*lift=True"):
        sim.reset(q=[0, 0, 0.03, 0, 0, 0, 1])
    with pytest.raises(pliant.SimulationError, match=r"'block.0' 0.1 m inside the ground; give another q"):
        pliant.EventSimulation(planar_block(0.2, 0.4), ground=pliant.flat()).reset(q=[0, 0.1, 0])
    with pytest.raises(pliant.SimulationError, match="no free base to lift"):
        pliant.EventSimulation(planar_block(0.2, 0.4), ground=pliant.flat()).reset(q=[0, 0.1, 0], lift=True)


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.2])
def test_lift_takes_it_out(angle: float) -> None:
    sim = pliant.EventSimulation(box(), ground=pliant.slope(angle))
    sim.reset(q=[0.3, 0.1, -0.4, 0, 0, 0, 1], lift=True)
    gap = sim.terms(0.0, sim.q, sim.v, np.zeros(0)).gap
    assert gap.min() == pytest.approx(0, abs=1e-11)
    assert sim.q[:2] == pytest.approx([0.3, 0.1])
    sim.run(0.05)


def test_a_joint_beyond_its_stop_is_an_error_and_no_lift_helps() -> None:
    robot = PENDULUM.with_joint("hinge", limits=(-1, 1))
    with pytest.raises(pliant.SimulationError, match=r"'hinge upper' 0.5 beyond its limit; give another q"):
        pliant.EventSimulation(robot).reset(q=[1.5])


def test_what_event_driven_simulation_does_not_know_is_refused() -> None:
    arm = pliant.load("two_link_arm")
    for robot, what in (
        (arm.with_joint("elbow", friction=0.2), "dry friction"),
        (arm.with_joint("elbow", locked=True), "locked"),
        (arm.with_closure("point", "world", "forearm"), "loop closures"),
    ):
        with pytest.raises(pliant.SimulationError, match=f"{what}.*use Simulation"):
            pliant.EventSimulation(robot)


def test_friction_that_a_stop_bears_does_not_jam() -> None:
    # alone, the tip of the arm would dig in; but the arm lies on its stop, and the whole slides with -mu g
    builder = pliant.RobotBuilder("drag")
    for name, mass, center in (("sled", 0, 0), ("lift", 1, 0), ("arm", 0.1, -1)):
        builder.body(name, mass, (0, 0, center), (0, 0, 0, 0, 0, 0))
    builder.frame("tip", "arm", (0, 0, -1))
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "lift", axis=(0, 0, 1))
    builder.joint("h", "revolute", "lift", "arm", axis=(0, 1, 0), limits=(-2, -0.4))
    sim = pliant.EventSimulation(builder.build().with_contact("tip"), ground=pliant.flat(), friction=1.0)
    sim.reset(q=[0, np.cos(0.4), -0.4], v=[0.5, 0, 0])
    log = sim.run(0.04)
    assert sim.mode_name == "tip slides, h upper limit"
    assert sim.v == pytest.approx([0.5 - 9.81 * 0.04, 0, 0], abs=1e-9)
    assert log["forces"][-1] == pytest.approx(1.1 * 9.81 * np.array([-1, 0, 1]), abs=1e-6)


def test_what_begins_inside_the_ground_is_told_without_a_reset() -> None:
    sim = pliant.EventSimulation(ball(radius=0.1), ground=pliant.flat())
    with pytest.raises(pliant.SimulationError, match="inside the ground"):
        sim.run(1.0)
