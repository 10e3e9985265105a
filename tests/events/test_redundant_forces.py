"""Redundant contact forces, and states without a rigid motion."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import pliant
from pliant.events.redundant_forces import cancelling, spread
from simple_bodies import G, block, box, planar, planar_block
from simulated_robots import PENDULUM, ball, ran, started


def rows_of(points: np.ndarray) -> np.ndarray:
    """Rates of points on a level body by its six velocities: z, x and y of each."""
    axes = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=float)
    return np.array([np.r_[e, np.cross(p, e)] for p in points for e in axes])


def margins(F: np.ndarray, mu: np.ndarray, sticks: np.ndarray) -> np.ndarray:
    return np.where(sticks, mu * F[:, 0] - np.hypot(F[:, 1], F[:, 2]), F[:, 0])


@pytest.mark.parametrize("seed", range(2))
def test_it_knows_whether_any_forces_fit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    rows = rows_of(np.c_[rng.normal(size=(k, 2)), np.zeros(k)])
    D = cancelling(rows @ rows.T).reshape(-1, k, 3)
    mu, sticks = np.full(k, 0.6), np.full(k, True)
    F = rng.normal(size=(k, 3)) - (1.5, 0, 0)

    def cone(x: np.ndarray) -> np.ndarray:
        # smooth where the tangential force is zero, unlike the margins
        forces = F + np.tensordot(x[:-1], D, 1)
        h = mu * forces[:, 0] - x[-1]
        return np.r_[h, h**2 - forces[:, 1] ** 2 - forces[:, 2] ** 2]

    starts = [np.r_[0.1 * rng.normal(size=len(D)), -9] for _ in range(2)]
    rest = [{"type": "ineq", "fun": cone}]
    tries = [minimize(lambda x: -x[-1], x, constraints=rest, options={"maxiter": 500, "ftol": 1e-12}) for x in starts]
    best = max(found.x[-1] for found in tries if cone(found.x).min() > -1e-9)
    # more weight on every contact moves all margins alike: a little less than enough, and a little more
    for beyond in (-1e-4, 1e-4):
        given = F + np.array([(beyond - best) / 0.6, 0, 0])
        found = spread(given, D, mu, sticks)
        assert np.allclose(rows.T @ (found - given).ravel(), 0, atol=1e-9)
        assert np.sign(margins(found, mu, sticks).min()) == np.sign(beyond)


def test_forces_that_fit_are_found_where_the_least_do_not() -> None:
    # two feet that push outwards more than friction bears: only squeezing less is wrong
    F = np.array([[1.0, 0.9, 0], [1.0, -0.9, 0]])
    D = np.array([[[0, 1, 0], [0, -1, 0]]]) / np.sqrt(2)
    found = spread(F, D, np.full(2, 0.5), np.full(2, True))
    assert margins(found, np.full(2, 0.5), np.full(2, True)).min() > 0
    assert found.sum(axis=0) == pytest.approx([2, 0, 0])


def test_independent_contacts_have_nothing_to_spread() -> None:
    assert cancelling(np.diag([2.0, 1.0, 3.0])).shape == (0, 3)


@pytest.mark.parametrize("where", [0.0, 0.04])
def test_a_box_on_four_corners_slips_when_friction_is_used_up(where: float) -> None:
    # a force along x at the height of the ground, growing with time, a little aside: it turns the box as well. Its four
    # corners have twelve forces for six balances
    robot, mu = box(mass=2), 0.5
    push = {"force": lambda t: (10 * t, 0, 0), "torque": lambda t: (0, -0.05 * 10 * t, -where * 10 * t)}
    forces = [pliant.ExternalForce("box", **push)]
    sim = pliant.EventSimulation(robot, ground=pliant.flat(friction=mu), forces=forces)
    _, log = ran(sim, 1.2, [0, 0, 0.05, 0, 0, 0, 1])
    slips = log.events_of("slip")
    if where == 0:
        # mu m g = 10 t
        assert slips[0].t == pytest.approx(mu * 2 * G / 10, abs=1e-9)
        assert slips[0].after == "box.0 slides, box.1 slides, box.2 slides, box.3 slides"
    else:
        assert mu * 2 * G / 10 * 0.5 < slips[0].t < mu * 2 * G / 10
    assert np.allclose(log["forces"][log.t < slips[0].t].reshape(-1, 4, 3).sum(axis=1)[:, 2], 2 * G, atol=1e-9)


def test_slides_that_die_out_sideways_end() -> None:
    # thrown askew onto waves, it comes to rest on corners whose slips turn as they end
    slab = block(mass=0.6, size=(0.34, 0.31, 0.08))
    sim = pliant.EventSimulation(slab, ground=pliant.waves(0.05, 0.5), friction=0.5)
    turn = np.array([-0.252, -0.0789, -0.9642, -0.0241])
    _, log = ran(sim, 1.0, [0, 0, 1, *turn / np.linalg.norm(turn)], [-3.3, 2.8, -0.2, -1.3, -1.8, -0.8])
    total = log["energy.kinetic"] + log["energy.potential"]
    # of 6 J, to the integrator's 1e-8 in a step
    assert np.diff(total).max() < 1e-7
    assert sum(event.energy_lost for event in log.events) > 1
    assert log.metadata["steps"] < 2000


def test_a_quadruped_lands_under_gains_of_its_own() -> None:
    robot = pliant.load("quadruped")
    q = robot.neutral()
    q[2] = 0.5
    for leg in ("lf", "lh", "rf", "rh"):
        q[robot.q_slice(f"{leg}_hip_pitch")], q[robot.q_slice(f"{leg}_knee")] = 0.6, -1.2
    pose = q[7:].copy()
    sim = started(pliant.EventSimulation(robot, ground=pliant.flat(friction=0.8), rtol=1e-6, atol=1e-8), q=q, lift=True)
    log = sim.run(0.2, controller=lambda t, q, v: 60 * (pose - q[7:]) - v[6:])
    landed = log.events_of("touch-down")
    assert {name for event in landed for name in event.names} >= {"lf_foot", "lh_foot", "rf_foot", "rh_foot"}
    assert all(event.energy_lost > -1e-9 for event in log.events)
    # one touch-down after another, not one twice
    assert len({(event.t, event.names) for event in landed}) == len(landed)


# ---- states without a rigid motion, and states that are not allowed to begin with


ROD = planar("rod", 1, 1 / 3, [(0, -1)])  # of length 2
ARM = pliant.load("two_link_arm")


def thrown(mu: float, tilt: float, speed: float):
    sim = pliant.EventSimulation(ROD, ground=pliant.flat(friction=mu))
    return started(sim, [0, math.cos(tilt), tilt], [speed, 0, 0])


def test_the_paradox_of_painleve_is_told() -> None:
    """Sliding ahead of its tip, a rod jams where 1 + 3 s^2 < 3 mu s c: first for mu = 4/3, at tan(tilt) = 1/2."""
    critical = math.atan(0.5)
    message = r"jams rod, which slides.*Painleve.*q = \["
    with pytest.raises(pliant.events.InconsistentContactError, match=message) as caught:
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


def on_flat(robot: pliant.Robot) -> pliant.EventSimulation:
    return pliant.EventSimulation(robot, ground=pliant.flat())


@pytest.mark.parametrize("call, message", [
    (lambda: on_flat(box()).reset(q=[0, 0, 0.03, 0, 0, 0, 1]),
     r"begins with 'box.0' 0.02 m inside the ground; .*lift=True"),
    (lambda: on_flat(planar_block(0.2, 0.4)).reset(q=[0, 0.1, 0]), "'block.0' 0.1 m inside the ground; give another q"),
    (lambda: on_flat(planar_block(0.2, 0.4)).reset(q=[0, 0.1, 0], lift=True), "no free base to lift"),
    (lambda: on_flat(ball(radius=0.1)).run(1.0), "inside the ground"),
    (lambda: pliant.EventSimulation(PENDULUM.with_joint("hinge", limits=(-1, 1))).reset(q=[1.5]),
     "'hinge upper' 0.5 beyond its limit; give another q"),
])  # fmt: skip
def test_starts_that_cannot_be(call, message: str) -> None:
    with pytest.raises(pliant.SimulationError, match=message):
        call()


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.2])
def test_lift_takes_it_out(angle: float) -> None:
    sim = started(pliant.EventSimulation(box(), ground=pliant.slope(angle)), q=[0.3, 0.1, -0.4, 0, 0, 0, 1], lift=True)
    gap = sim.terms(0.0, sim.q, sim.v, np.zeros(0)).gap
    assert gap.min() == pytest.approx(0, abs=1e-11)
    assert sim.q[:2] == pytest.approx([0.3, 0.1])
    sim.run(0.05)


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
    _, log = ran(sim, 0.04, [0, np.cos(0.4), -0.4], [0.5, 0, 0])
    assert sim.mode_name == "tip slides, h upper limit"
    assert sim.v == pytest.approx([0.5 - 9.81 * 0.04, 0, 0], abs=1e-9)
    assert log["forces"][-1] == pytest.approx(1.1 * 9.81 * np.array([-1, 0, 1]), abs=1e-6)
