"""Rigid contact against closed forms: bounces, slopes, sliding, rolling, rocking, joint limits, uneven ground."""

import math

import numpy as np
import pytest

import pliant
import real_robots
from pliant.contact import Ground
from pliant.spatial import Vector
from pliant.robot import Robot, RobotBuilder
from simple_bodies import G, ball, block, point_mass, positions, turned
from simulated_robots import ran


def simulated(robot: Robot, seconds: float, q=None, v=None, *, channels=(), every=None, dt: float = 1e-3, **options):
    """A simulation on flat ground, or another one, after a run, and its log."""
    sim = pliant.Simulation(robot, dt=dt, **{"ground": pliant.flat(), **options})
    return ran(sim, seconds, q, v, channels=channels, every=every)


def rough(friction: float) -> pliant.RigidContact:
    return pliant.RigidContact(friction=friction)


def apexes(z: np.ndarray) -> np.ndarray:
    return z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]


# ---- impacts


def test_a_ball_bounces_to_the_heights_of_its_restitution() -> None:
    """Apexes at e^(2n) h; at rest from the Zeno time sqrt(2 h / g) (1 + e) / (1 - e) = 1.3545709 s on."""
    e, h = 0.5, 1.0
    _, log = simulated(ball(restitution=e), 2.0, [0, 0, h + 0.1, 0, 0, 0, 1], channels=("q", "v"))
    z, rate = positions(log)[:, 2] - 0.1, log.v[:, 2]
    # a bounce is seen within a step: its speed may be off by g dt, which is 1.8 % of that of the third one, and its
    # height by twice as much; the errors are smaller as a rule
    np.testing.assert_allclose(apexes(z)[:3], h * e ** (2 * np.arange(1, 4)), rtol=1e-2)
    assert apexes(z)[3] == pytest.approx(h * e**8, rel=2e-2)
    rest = log.t[np.flatnonzero(abs(rate) > G * 1e-3)[-1]]
    # bounces slower than g dt are of a single step, and no longer timed; those before may each be late by a step
    assert rest == pytest.approx(1.3545709, abs=8e-3)
    assert abs(rate[log.t > 1.45]).max() < 1e-9
    assert z.min() > -1e-9


def test_heights_of_bounces_converge_with_the_step() -> None:
    errors = []
    for dt in (1e-3, 1e-4):
        _, log = simulated(ball(restitution=0.8), 1.5, [0, 0, 1.1, 0, 0, 0, 1], channels=("q",), dt=dt)
        errors.append(np.abs(apexes(positions(log)[:, 2] - 0.1)[:2] / 0.8 ** np.array([2, 4]) - 1).max())
    assert errors[1] < errors[0] / 3, errors
    assert errors[1] < 1e-3


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3])
def test_a_drop_without_restitution_neither_sinks_nor_rebounds(dt: float) -> None:
    sim, log = simulated(ball(), 1.0, [0, 0, 1.1, 0, 0, 0, 1], channels=("q",), dt=dt)
    z = positions(log)[:, 2] - 0.1
    landed = int(np.argmax(z < 1e-6))
    assert landed * dt == pytest.approx(math.sqrt(2 / G), abs=dt)  # whole steps
    assert z.min() > -1e-4
    assert z[landed:].max() < 1e-6
    np.testing.assert_allclose(sim.contact_forces, [[0, 0, G]], atol=1e-9)


@pytest.mark.parametrize("alpha", [0.2, 0.3, 0.4])
def test_a_rocking_block_loses_speed_as_housner_says(alpha: float) -> None:
    """On four corners it goes over from one edge to the other: w+ / w- = 1 - 3/2 sin^2(alpha)."""
    h, tilt, errors = 0.5, 0.05, []
    b, c, s = h * math.tan(alpha), math.cos(tilt), math.sin(tilt)
    robot, q = block(size=(2 * b, 0.6, 2 * h)), [-b + c * b - s * h, 0, s * b + c * h, *turned(-tilt)]
    for dt in (1e-3, 1e-4):
        _, log = simulated(robot, 0.25, q, channels=("v",), dt=dt, contact=rough(5))
        w = log.v[:, 4]
        k = int(np.argmax(w))
        # the impact takes two steps, one to close the gap and one to stop
        errors.append(abs(w[k + 2] / w[k] - (1 - 1.5 * math.sin(alpha) ** 2)))
    # gravity acts for those steps too: 2 dt m g b / I_edge / w- < 25 dt, and the block is not quite flat yet
    assert errors[0] < 25e-3
    assert errors[1] < 25e-4


# ---- slopes


@pytest.mark.parametrize("degrees", [5, 20, 40])
def test_a_point_on_a_slope_sticks_if_and_only_if_the_slope_is_in_the_cone(degrees: int) -> None:
    """tan(slope) <= mu; else it slides with g (sin - mu cos)."""
    angle, shares = math.radians(degrees), np.array([0, 0.5, 0.99, 0.9999, 1.0001, 1.01, 2])
    mu = shares * math.tan(angle)
    ground = pliant.slope(angle, direction=0.6)
    sim = pliant.Simulation(point_mass(), dt=1e-3, ground=ground, batch=len(mu), varying=("friction",))
    sim.parameters["friction"] = mu
    sim.run(1.0, channels=())
    down = np.array([-math.cos(0.6) * math.cos(angle), -math.sin(0.6) * math.cos(angle), -math.sin(angle)])
    a = np.maximum(G * (math.sin(angle) - mu * math.cos(angle)), 0)
    # each step of the semi-implicit scheme is exact: v = a t, x = a t (t + dt) / 2; the solver goes to 1e-9 m/s
    np.testing.assert_allclose(sim.v, a[:, None] * down, atol=1e-7)
    np.testing.assert_allclose(sim.q, 0.5 * a[:, None] * 1.001 * down, atol=1e-7)
    assert np.abs(sim.q[mu > math.tan(angle)]).max() < 1e-12


def box_on_slope(angle: float, mu: float, height: float, seconds: float, **options):
    """Four corners on the ground; also where its centre starts."""
    start = height / 2 * np.array([-math.sin(angle), 0, math.cos(angle)])
    options = {"ground": pliant.slope(angle), "contact": rough(mu), **options}
    return *simulated(block(size=(0.4, 0.3, height)), seconds, [*start, *turned(-angle)], **options), start


def test_a_box_on_a_slope_does_not_creep() -> None:
    """mu 0.5 on 20 degrees, four corners on the ground: less than a nanometre in ten seconds."""
    sim, log, start = box_on_slope(math.radians(20), 0.5, 0.2, 10.0, channels=("q",), every=0.1)
    assert np.abs(positions(log) - start).max() < 1e-9
    # all corners together carry the weight
    np.testing.assert_allclose(sim.contact_forces.sum(axis=0), [0, 0, G], atol=1e-6)


def test_a_box_slides_down_a_slope() -> None:
    angle, mu = math.radians(30), 0.3
    sim, _, start = box_on_slope(angle, mu, 0.1, 1.0)
    a = G * (math.sin(angle) - mu * math.cos(angle))
    # four corners that slide: what is left over from the solver, 1e-9 m/s a step, may turn it a little
    assert np.linalg.norm(sim.q[:3] - start) == pytest.approx(0.5 * a * 1.001, rel=1e-4)
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(a, rel=1e-4)


@pytest.mark.parametrize("model, direction", [("rigid", 0), ("rigid", 1.0), ("rigid", 2.5), ("compliant", 0)])
def test_a_ball_rolls_down_any_slope(model: str, direction: float) -> None:
    """5/7 g sin(slope), downhill, as long as it does not slip: mu >= 2/7 tan(slope)."""
    angle = math.radians(15)
    law = pliant.SpringDamper(stiffness=1e5, damping=200, friction=0.5)
    contact = rough(0.5) if model == "rigid" else pliant.CompliantContact(law)
    sink = 0 if model == "rigid" else G * math.cos(angle) / 1e5
    ground = pliant.slope(angle, direction=direction)
    start = np.array([float(x) for x in ground.surface(0.0, 0.0)[1]]) * (0.1 - sink)
    sim, _ = simulated(ball(), 1.0, [*start, *turned(0)], ground=ground, contact=contact)
    a = 5 / 7 * G * math.sin(angle)
    # compliant friction is a damper at rest, so it slips a little: slip_speed = 1 mm/s of 1.8 m/s
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(a, rel=1e-9 if model == "rigid" else 1e-3)
    along = np.array([math.cos(direction), math.sin(direction)]) * math.cos(angle)
    # exact steps: a t (t + dt) / 2
    expected = -a / 2 * 1.001 * np.array([*along, math.sin(angle)])
    np.testing.assert_allclose(sim.q[:3] - start, expected, atol=1e-6 if model == "rigid" else 1e-3 * a)


# ---- friction on level ground


@pytest.mark.parametrize("mu", [0.1, 0.5])
def test_a_sliding_ball_starts_to_roll(mu: float) -> None:
    """From 2 v0 / (7 mu g) on with 5/7 v0."""
    v0, dt = 2.0, 1e-4
    ends = 2 * v0 / (7 * mu * G)
    start, options = ([0, 0, 0.1, 0, 0, 0, 1], [v0, 0, 0, 0, 0, 0]), {"dt": dt, "contact": rough(mu)}
    _, log = simulated(ball(), round(1.5 * ends, 4), *start, channels=("q", "v"), **options)
    q, v = log.q, log.v
    half = 2 * np.arctan2(q[:, 4], q[:, 6])  # it turns about y; v is in its own axes
    speed = v[:, 0] * np.cos(half) + v[:, 2] * np.sin(half)
    slip = speed - 0.1 * v[:, 4]
    rolls = log.t[np.argmax(np.abs(slip) < 1e-8)]
    assert rolls == pytest.approx(ends, abs=1.1 * dt)
    # rolling is exact: the last impulse of friction is cut to what stops the slip
    np.testing.assert_allclose(speed[log.t > rolls], 5 / 7 * v0, rtol=1e-9)
    before = log.t < ends - dt
    np.testing.assert_allclose(speed[before], v0 - mu * G * log.t[before], rtol=1e-9)


def test_friction_is_the_same_in_all_directions() -> None:
    """Sixteen directions: deceleration mu g, and the stopping distance that its steps add up to."""
    angles = np.arange(16) * math.pi / 8 + 0.01
    mu, v0, dt = 0.5, 1.0, 1e-3
    v = v0 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    sim, log = simulated(point_mass(), 0.4, v=v, channels=("q", "v"), dt=dt, contact=rough(mu), batch=16)
    speed = np.linalg.norm(log["v"], axis=2)
    np.testing.assert_allclose(speed[:, 100], v0 - mu * G * 0.1, rtol=1e-9)
    assert np.ptp(speed[:, 100]) < 1e-12
    steps = int(v0 / (mu * G * dt))
    distance = sum(v0 - mu * G * dt * k for k in range(1, steps + 1)) * dt
    np.testing.assert_allclose(np.linalg.norm(sim.q, axis=1), distance, rtol=1e-9)
    np.testing.assert_allclose(sim.q[:, 1] * np.cos(angles), sim.q[:, 0] * np.sin(angles), atol=1e-9)
    np.testing.assert_array_equal(np.abs(sim.v) < 1e-12, True)
    # v0^2 / (2 mu g) up to v0 dt / 2
    np.testing.assert_allclose(distance, v0**2 / (2 * mu * G), atol=0.6 * v0 * dt)


def test_friction_of_a_box_is_the_same_in_all_directions() -> None:
    """Four corners with equal loads, on a cube that is flat enough not to tip."""
    angles = np.arange(16) * math.pi / 8
    v = np.zeros((16, 6))
    v[:, 0], v[:, 1] = np.cos(angles), np.sin(angles)
    robot, q = block(size=(0.4, 0.4, 0.04)), [0, 0, 0.02, 0, 0, 0, 1]
    sim, _ = simulated(robot, 0.4, q, v, contact=rough(0.4), batch=16)
    distance = np.linalg.norm(sim.q[:, :2], axis=1)
    np.testing.assert_allclose(distance, distance.mean(), rtol=1e-6)
    np.testing.assert_allclose(distance, 1 / (2 * 0.4 * G), atol=1e-3)


@pytest.mark.parametrize("model", ["rigid", "compliant"])
def test_sliding_deceleration_does_not_depend_on_speed(model: str) -> None:
    """mu g at 0.1, 1 and 4 m/s."""
    mu, k = 0.5, 1e5
    law = pliant.SpringDamper(stiffness=k, damping=500, friction=mu)
    contact = rough(mu) if model == "rigid" else pliant.CompliantContact(law)
    speeds = np.array([0.1, 1, 4])
    q, v = [0, 0, 0 if model == "rigid" else -G / k], np.stack([speeds, 0 * speeds, 0 * speeds], axis=1)
    sim, _ = simulated(point_mass(), 0.015, q, v, contact=contact, batch=3)
    # 15 steps, each solved to 1e-9 m/s
    np.testing.assert_allclose((speeds - sim.v[:, 0]) / 0.015, mu * G, rtol=1e-6)


# ---- Newton's restitution where surfaces curve or bodies spin: the contact leaves with e times its approach


E, DT = 0.8, 1e-3


def rebound(ground: pliant.Ground, place: np.ndarray, velocity: np.ndarray) -> float:
    """Of a frictionless ball without weight: the normal speed after the first impact over that before."""
    sim = pliant.Simulation(ball(gravity=0, friction=0, restitution=E), dt=DT, ground=ground)
    sim.reset(q=[*place, *turned(0)], v=[*velocity, 0, 0, 0])
    for _ in range(2000):
        q = sim.q
        sim.step()
        if np.abs(sim.contact_forces).max() > 0:
            break
    n = np.array([float(x) for x in ground.surface(*q[:2].tolist())[1]])
    for _ in range(3):  # one step to land in, one to be thrown back in
        sim.step()
    return float(sim.v[:3] @ n / -(velocity @ n))


@pytest.mark.parametrize("ground", [pliant.flat(), pliant.slope(0.3), pliant.slope(-0.5, direction=1)])
def test_a_ball_on_a_plane(ground: pliant.Ground) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        velocity = np.array([*rng.uniform(-1, 1, 2), -4])
        # planes are where they are predicted: nothing but rounding
        assert rebound(ground, np.array([0, 0, 1]), velocity) == pytest.approx(E, rel=1e-9)


def test_a_ball_on_waves() -> None:
    """The normal turns by h'' v dt = 0.5 % of a radian within the step."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        place, velocity = np.array([*rng.uniform(-1, 1, 2), 1]), np.array([*rng.uniform(-2, 2, 2), -4])
        assert rebound(pliant.waves(0.1, 2.0), place, velocity) == pytest.approx(E, abs=0.02), seed


def test_the_corner_of_a_spinning_box() -> None:
    """At 5 rad/s a corner leaves its tangent by (w dt)^2 r / 2, some micrometres: nothing to a bounce."""
    robot = block(size=(0.4, 0.3, 0.2), friction=0, restitution=E).with_gravity(0, 0, 0)
    corners = np.array([[float(x) for x in p.center] for p in robot.contact_points])
    sim = pliant.Simulation(robot, dt=DT, ground=pliant.flat())
    for seed in range(8):
        rng = np.random.default_rng(seed)
        q = np.array([0, 0, 0.6, *turned(rng.uniform(0.3, 1), (1, 1, 0.2))])
        R = pliant.frame_pose(robot, q, "block")[:3, :3]
        sim.reset(q=q, v=[*(R.T @ [0, 0, -2]), *rng.uniform(-5, 5, 3)])
        while np.abs(sim.contact_forces).max() == 0:
            before = sim.q, sim.v
            sim.step()
        hit = int(np.argmax(sim.contact_forces[:, 2]))

        def rate(q: np.ndarray, v: np.ndarray, hit: int = hit) -> float:
            R = pliant.frame_pose(robot, q, "block")[:3, :3]
            return float((R @ (v[:3] + np.cross(v[3:], corners[hit])))[2])

        # the corner turns on for a step: w^2 r dt of some 3 m/s
        assert rate(sim.q, sim.v) == pytest.approx(-E * rate(*before), rel=0.05), seed


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("ground", [pliant.flat(), pliant.slope(0.2), pliant.stairs(0.1, 0.3)])
def test_a_contact_that_no_joint_moves_does_nothing(ground: pliant.Ground, precision: str) -> None:
    """A ball about the hinge of a pendulum, 50 mm in the ground: the pendulum swings as if there were no ground."""
    robot, ends = pliant.load("pendulum"), []
    for touching in (robot, robot.with_contact("rod", radius=0.05)):
        sim = pliant.Simulation(touching, ground=ground, precision=precision)
        sim.reset(q=[0.5])
        sim.run(0.5, channels=())
        ends.append(float(sim.q[0]))
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)
    assert not sim.contact_forces.any() and not sim.divergences


# ---- joints at their stops while feet rub on the ground: the two must not work against each other


Q = [
    -0.7414209432853799, -0.1348122320882555, 0.7000000000000001, 0.06790053403931062, 0.1614318941696762,
    0.06492442204947313, 0.9824021989203346, 0.2567480712069876, -0.393605456692109, -0.5, 0.2577673034539641,
    -0.41213457955910004, -0.5,
]  # fmt: skip


def stiff_walker() -> Robot:
    """A box of 20 kg on two legs of three joints that turn half a radian, with boxes for feet."""
    builder = pliant.RobotBuilder("walker").body("trunk", mass=20, inertia=(0.3, 0, 0, 0.3, 0, 0.3))
    for side, y in (("l", 0.1), ("r", -0.1)):
        parent = "trunk"
        for k, axis in enumerate(((0, 1, 0), (1, 0, 0), (0, 1, 0))):
            name, place = f"{side}{k}", (0, y, 0) if k == 0 else (0, 0, -0.2)
            builder.body(name, mass=0.5, com=(0, 0, -0.1), inertia=(0.002, 0, 0, 0.002, 0, 0.0005))
            builder.joint(f"{side}j{k}", "revolute", parent, name, place, axis=axis, limits=(-0.5, 0.5))
            parent = name
        builder.frame(f"{side}_foot", parent, (0, 0, -0.2))
    robot = builder.build(base="free").with_contact("trunk", box=(0.3, 0.3, 0.3))
    return robot.with_contact("l_foot", box=(0.2, 0.08, 0.03)).with_contact("r_foot", box=(0.2, 0.08, 0.03))


def test_a_robot_that_rests_on_its_stops_does_not_sink() -> None:
    """Dropped, it comes to rest on the ground and within its limits."""
    robot = stiff_walker()
    sim, _ = simulated(robot, 4.0, Q, ground=pliant.flat(friction=0.8))
    found = sim.diagnostics
    # micrometres are left alone
    assert found.penetration < 5e-6
    assert np.abs(sim.q[7:]).max() < 0.5 + 1e-6
    assert found.is_converged
    np.testing.assert_allclose(found.forces[:, 2].sum(), robot.mass * 9.81, rtol=1e-6)


# it has contacts at its hand and root only
@pytest.mark.filterwarnings("ignore:body 'panda_link.' is below the ground:pliant.SimulationWarning")
@pytest.mark.filterwarnings("ignore:.*steps did not converge:pliant.SimulationWarning")
def test_stops_and_friction_bring_no_energy() -> None:
    """A Panda without a base falls over: its fingers and all joints hit their stops, its points rub on the ground."""
    robot = pliant.load(real_robots.PATHS["panda_description/panda.urdf"], base="free")
    q = robot.neutral()
    q[2] = 0.05
    sim, log = simulated(robot, 3.0, q, channels=("energy",), ground=pliant.flat(friction=0.8))
    energy = log["energy.kinetic"] + log["energy.potential"]
    # first order in dt: a share of what turns
    assert energy.max() < energy[0] + 0.5
    assert np.diff(energy).max() < 0.5
    assert not sim.divergences


# ---- balls on waves, stairs and height maps: never far in the ground, and at rest where it is level


BUMPS = np.random.default_rng(9).uniform(0, 0.15, (9, 9))
GROUNDS = {
    "waves": pliant.waves(0.1, 2.0),
    "ridges": pliant.waves(0.08, 1.0, direction=0.4),
    "height map": pliant.height_map(BUMPS, spacing=0.5, origin=(-2, -2)),
    "function": Ground(lambda x, y: 0.1 * pliant.math.sin(2 * x) * pliant.math.cos(y) + 0.05 * y),
}


def thrown(ground: Ground, n: int, seed: int, seconds: float, **contact: float) -> tuple[pliant.Simulation, pliant.Log]:
    """Balls of 0.1 m dropped from up to a metre, with up to 1 m/s sideways."""
    rng = np.random.default_rng(seed)
    q = np.zeros((n, 7))
    q[:, :2] = rng.uniform(-1, 1, (n, 2))
    q[:, 2] = ground.height(q[:, 0], q[:, 1]) + rng.uniform(0.2, 1, n)
    q[:, 6] = 1
    v = np.zeros((n, 6))
    v[:, :3] = rng.uniform(-1, 1, (n, 3))
    options = {"ground": ground, "contact": pliant.RigidContact(**contact), "batch": n}
    return simulated(ball(), seconds, q, v, channels=("q", "v", "energy"), every=5e-3, **options)


def gap(ground: Ground, p: np.ndarray) -> np.ndarray:
    """Of balls with these centers."""
    return np.asarray(ground.ball(Vector(*np.moveaxis(p, -1, 0)), 0.1)[0])


@pytest.mark.parametrize("name", GROUNDS)
@pytest.mark.parametrize("restitution", [0, 0.5])
def test_balls_stay_above_the_ground(name: str, restitution: float) -> None:
    """On smooth ground a step foresees the bend of the gap; what is left is of third order.

    Landings are not foreseen: at 4 m/s in a hollow of 0.3 m the ground rises by v^2 dt^2 / 2 r = 30 um within a step.
    """
    ground = GROUNDS[name]
    sim, log = thrown(ground, 16, 1, 2.0, restitution=restitution)
    depth = -gap(ground, positions(log)).min()
    # in an inner edge of a map a ball lands on one face in a step, and on the other in the next
    assert depth < (5e-4 if name == "height map" else 1e-4)
    assert not sim.divergences


def test_balls_on_stairs() -> None:
    """Balls are never in treads, risers and edges, and never below the lowest tread."""
    ground = pliant.stairs(0.1, 0.4, steps=5)
    sim, log = thrown(ground, 16, 2, 2.0)
    p = positions(log)
    # around an outer edge a step of 1 m/s turns by 0.01 rad: what is foreseen is all but the third order
    assert gap(ground, p).min() > -1e-4
    assert p[..., 2].min() > 0.1 - 1e-6
    assert not sim.divergences


def test_energy_on_waves_does_not_grow() -> None:
    """Without restitution, contacts only take energy; what the steps add is of first order in dt."""
    _, log = thrown(GROUNDS["waves"], 16, 3, 3.0, friction=0.3)
    energy = log["energy.kinetic"] + log["energy.potential"]
    scale = energy[:, :1] + 2  # above the lowest place, -0.1 m
    assert (np.diff(energy, axis=1) / scale).max() < 5e-4
    assert (energy[:, -1] < energy[:, 0]).all()


def test_a_ball_comes_to_rest_in_a_hollow() -> None:
    """A frictionless ball in a bowl oscillates with g h'' for small swings: w^2 = g k^2 a."""
    a, length = 0.05, 4.0
    k = 2 * math.pi / length
    ground = pliant.waves(a, length, direction=0)
    bottom = -length / 4
    x0 = bottom + 0.05
    q = [x0, 0, float(ground.height(x0, 0.0)) + 1e-3, 0, 0, 0, 1]
    _, log = simulated(ball(radius=1e-3), 10.0, q, channels=("q",), ground=ground, contact=rough(0))
    x = positions(log)[:, 0] - bottom
    w = math.sqrt(G * a) * k
    crossings = np.flatnonzero(np.diff(np.sign(x))) * 1e-3
    # small swings: k x0 = 0.08, whose square is the error, over 4; and the slope adds (k a)^2
    assert np.diff(crossings).mean() == pytest.approx(math.pi / w, rel=1e-2)


# whatever impulse is left there from a jam, it must not live on: it would do nothing, but its friction brakes, and its
# rounding drives the joint in float32 (up to 0.4 J a step)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_contacts_that_no_joint_moves_along_their_normal_push_nothing(precision: str) -> None:
    """A ball about the only hinge, 0.24 m deep: the arm swings as if there were no ground."""
    builder = RobotBuilder("hinge").body("arm", 1.0, (0.1, 0.03, 0.02), (0.01, 0, 0, 0.012, 0, 0.011))
    builder.joint("turn", "continuous", "world", "arm", (0.4, -0.3, -0.08), axis=(0.3, 1, -0.4))
    robot = builder.build(base="fixed").with_contact("arm", radius=0.05, friction=0.8)
    sim, free = (pliant.Simulation(robot, ground=g, precision=precision) for g in (pliant.slope(0.3), None))
    for one in (sim, free):
        one.reset(v=[3.0])
    state = sim.state
    state.part("impulses")[...] = [100, 50, 2000]
    sim.state = state
    for _ in range(100):
        sim.step()
        free.step()
    assert sim.diagnostics.is_converged
    assert not sim.contact_forces.any()
    # 2000 N s times a lever of rounding, 1e-7 m, taken back with 0.05 kg m^2, leave 6e-8 of the product's change of v
    np.testing.assert_allclose(sim.v, free.v, rtol=1e-12 if precision == "float64" else 1e-4)
