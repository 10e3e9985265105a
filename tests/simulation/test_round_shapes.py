"""Discs, wheels, cylinders and ellipsoids on the ground: they roll as closed forms say, lie, stand and rock."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import pliant
from pliant.contact.touching import contact_groups
from pliant.math import maximum, minimum, sqrt
from pliant.robot import Robot, RobotBuilder
from pliant.spatial import Transform, Vector, rotation_from_rpy
from simple_bodies import G, ball
from simulated_robots import ran

RADIUS = 0.1
PRECISIONS = ("float64", "float32")
trough = pliant.Ground(lambda x, y: 0.5 - sqrt(0.25 - x * x), name="trough")


def body(inertia: Sequence[float], *, com: tuple[float, float, float] = (0, 0, 0), **contact: Any) -> Robot:
    """A free body of 1 kg with one contact shape about its origin."""
    builder = RobotBuilder("body")
    xx, yy, zz, *xy = inertia
    builder.body("body", 1, com, (xx, xy[0] if xy else 0, 0, yy, 0, zz))
    return builder.build(base="free").with_contact("body", **contact)


def coin(radius: float = RADIUS, **contact: Any) -> Robot:
    """A homogeneous thin disc."""
    about = radius**2 / 4
    return body((about, about, 2 * about), rim=radius, **contact)


def simulated(robot: Robot, ground: Any = None, *, mu: float = 1.0, precision: str = "float64", **options: Any) -> Any:
    contact = pliant.RigidContact(friction=mu, restitution=options.pop("restitution", 0))
    return pliant.Simulation(robot, ground=ground or pliant.flat(), contact=contact, precision=precision, **options)


def turn(axis: int, angle: float) -> list[float]:
    q = [0.0, 0.0, 0.0, math.cos(angle / 2)]
    q[axis] = math.sin(angle / 2)
    return q


def matrix(q: np.ndarray) -> np.ndarray:
    """Of quaternions (x, y, z, w)."""
    x, y, z, w = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def energy(log: Any, inertia: Sequence[float]) -> np.ndarray:
    """Kinetic and potential energy of 1 kg about its origin, with positions at the time of the velocities."""
    q, v = log.q.astype(float), log.v.astype(float)
    kinetic = (v[1:, :3] ** 2).sum(axis=1) / 2 + (v[1:, 3:] ** 2 @ np.asarray(inertia)) / 2
    return kinetic + G * (q[1:, 2] + q[:-1, 2]) / 2


def rolling(tilt: float, spin: float, rise: float = 0.0) -> tuple[list[float], list[float]]:
    """A coin without slip: its axis is tilted from the vertical and turns with ``rise`` about it; and it spins."""
    q = turn(0, -tilt)
    R = matrix(np.array(q))
    axis, up = R[:, 2], np.array([0, 0, 1.0])
    slope = up - axis * axis[2]
    slope /= np.linalg.norm(slope)
    w = spin * axis + rise * math.sin(tilt) * slope
    velocity = RADIUS * np.cross(w, slope)
    return [0, 0, RADIUS * math.sin(tilt), *q], [*(R.T @ velocity), *(R.T @ w)]


COIN = (RADIUS**2 / 4, RADIUS**2 / 4, RADIUS**2 / 2)


# ---- coins


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_rolling_coin_keeps_its_energy(precision: str) -> None:
    """It wanders about, and its tilt swings. What is lost is of order two: 2e-5 in 10 s at 1 ms."""
    q, v = rolling(math.pi / 2 - 0.3, 10)
    _, log = ran(simulated(coin(), precision=precision), 10, q, v, every=1e-3)
    found = energy(log, COIN)
    tilts = np.arccos(matrix(log.q[:, 3:])[:, 2, 2])
    assert np.ptp(tilts) > 0.2
    assert np.abs(found / found[0] - 1).max() < 1e-3
    if precision == "float64":
        assert np.abs(found / found[0] - 1).max() < 1e-4


@pytest.mark.parametrize("precision", PRECISIONS)
def test_steady_precession(precision: str) -> None:
    """A coin on a circle: the moment of weight and centripetal force about its center turns its angular momentum.

    With A and C its moments of inertia, O the rate of precession, w the spin and t the tilt of the axis,

        (C + m R^2) O w sin t - A O^2 sin t cos t + m g R cos t = 0
    """
    tilt, rate = 1.2, 6.0
    A, _, C = COIN
    s, c = math.sin(tilt), math.cos(tilt)
    spin = (A * rate**2 * s * c - G * RADIUS * c) / ((C + RADIUS**2) * rate * s)
    q, v = rolling(tilt, spin, rate)
    velocity = matrix(np.array(q[3:])) @ v[:3]
    middle = np.array([-velocity[1], velocity[0]]) / rate
    off = []
    for dt in (1e-3, 5e-4):
        _, log = ran(simulated(coin(), precision=precision, dt=dt), 10, q, v, every=1e-2)
        from_middle = log.q[:, :2].astype(float) - middle
        radii = np.linalg.norm(from_middle, axis=1)
        turned = np.unwrap(np.arctan2(from_middle[:, 1], from_middle[:, 0]))
        assert (turned[-1] - turned[0]) / 10 == pytest.approx(rate, rel=2e-3)
        np.testing.assert_allclose(radii, RADIUS * abs(spin) / rate, rtol=1e-2)
        off.append(np.abs(np.arccos(matrix(log.q[:, 3:])[:, 2, 2]) - tilt).max())
    # of order one: velocities are half a step off those given at the start, so that it nods a little
    assert off[0] < 1e-2
    assert off[1] < 0.7 * off[0]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_coin_spins_upright(precision: str) -> None:
    """About a diameter, on a point: nothing turns it out of it but rounding, which at 30 rad/s does not grow."""
    q, v = [0, 0, RADIUS, *turn(0, math.pi / 2)], [0, 0, 0, 0, 30, 0]
    sim, _ = ran(simulated(coin(), precision=precision), 3, q, v)
    np.testing.assert_allclose(sim.v, v, atol=1e-3 if precision == "float32" else 1e-9)
    np.testing.assert_allclose(sim.q[:3], q[:3], atol=1e-5)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("tilt", [0.05, 0.4])
def test_a_coin_that_falls_over_lies_flat(tilt: float, precision: str) -> None:
    sim, _ = ran(
        simulated(coin(), mu=0.3, precision=precision), 2, [0, 0, 0.15, *turn(0, tilt)], [0.1, 0.05, 0, 0, 0, 0]
    )
    # in float32, impulses m g dt at the rim are known to 6e-8 of themselves, which turn the coin by 4 g dt / R of that
    assert np.abs(sim.v).max() < (1e-9 if precision == "float64" else 6e-8 * 4 * 9.81e-3 / RADIUS)
    # flat as far as the penetration goes that is left alone
    assert abs(sim.q[2]) < 3e-6
    assert math.hypot(sim.q[3], sim.q[4]) * 2 * RADIUS < 4e-6


def test_thrown_coins_gain_no_energy() -> None:
    """In all directions, with all kinds of friction; as they come to lie they turn faster than a step follows."""
    rng = np.random.default_rng(0)
    for mu, e in ((0, 0), (0.5, 0), (1, 0), (0.3, 0.5)):
        q = np.concatenate([np.tile([0, 0, 0.12], (8, 1)), rng.standard_normal((8, 4))], axis=1)
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
        v = rng.standard_normal((8, 6)) * [1, 1, 1, 8, 8, 8]
        sim = simulated(coin(), mu=mu, restitution=e, batch=8)
        sim.reset(q=q, v=v)
        log = sim.run(3, every=1e-3)
        for k in range(8):
            found = energy(log.robot(k), COIN)
            assert (found - np.minimum.accumulate(found)).max() < 1e-2 * found[0]


# ---- wheels and cylinders


@pytest.mark.parametrize("tube", [0.0, 0.02])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_wheel_rolls_down_a_slope(precision: str, tube: float) -> None:
    """With the acceleration g sin(a) / (1 + I / m r^2), and without slip."""
    angle, robot = 0.2, body(COIN, rim=RADIUS - tube, radius=tube)
    ground = pliant.slope(-angle)
    q = robot.on_ground([0, 0, 1, *turn(0, -math.pi / 2)], ground)
    assert q[2] * math.cos(angle) == pytest.approx(RADIUS, rel=1e-9)
    sim, _ = ran(simulated(robot, ground, precision=precision), 2, q)
    v = np.linalg.norm(sim.v[:3])
    assert v == pytest.approx(2 * G * math.sin(angle) / 1.5, rel=1e-5)
    assert v == pytest.approx(RADIUS * abs(sim.v[5]), rel=1e-6)


def test_a_car_rolls_straight() -> None:
    """Four wheels on axles: they turn as fast as it drives, and its energy is that of the start."""
    builder = RobotBuilder("car")
    builder.body("chassis", 4, (0, 0, 0), (0.1, 0, 0, 0.2, 0, 0.3))
    for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))):
        builder.body(f"wheel{k}", 0.5, (0, 0, 0), (0.5 * COIN[0], 0, 0, 0.5 * COIN[2], 0, 0.5 * COIN[0]))
        builder.joint(f"axle{k}", "continuous", "chassis", f"wheel{k}", (x, y, 0), axis=(0, 1, 0))
        builder.frame(f"rim{k}", f"wheel{k}", (0, 0, 0), (math.pi / 2, 0, 0))
    car = builder.build(base="free")
    for k in range(4):
        car = car.with_contact(f"rim{k}", rim=0.08, radius=0.02)
    q = car.on_ground(car.neutral())
    sim, _ = ran(simulated(car), 2, q, [1, 0, 0, 0, 0, 0, 10, 10, 10, 10])
    np.testing.assert_allclose(sim.v, [1, 0, 0, 0, 0, 0, 10, 10, 10, 10], atol=1e-6)
    assert sim.q[0] == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_cylinder_stands_and_rolls(precision: str) -> None:
    radius, length = 0.05, 0.2
    across = radius**2 / 4 + length**2 / 12
    robot = body((across, across, radius**2 / 2), rim=radius, length=length)
    tight = 1e-5 if precision == "float32" else 1e-9
    sim, _ = ran(simulated(robot, precision=precision), 2, [0, 0, length / 2, *turn(2, 0.3)])
    np.testing.assert_allclose(sim.q, [0, 0, length / 2, *turn(2, 0.3)], atol=tight + 2e-6)
    np.testing.assert_allclose(sim.v, 0, atol=tight)
    # on its side, rolling along x
    sim, _ = ran(
        simulated(robot, precision=precision), 2, [0, 0, radius, *turn(0, math.pi / 2)], [0.5, 0, 0, 0, 0, -10]
    )
    assert sim.q[0] == pytest.approx(1, rel=1e-4)
    np.testing.assert_allclose(sim.q[1:3], [0, radius], atol=3e-6)
    assert sim.v[5] == pytest.approx(-10, rel=1e-4)


SIMULATIONS = {
    "rigid": lambda robot: simulated(robot, trough),
    "float32": lambda robot: simulated(robot, trough, precision="float32"),
    "compliant": lambda robot: pliant.Simulation(
        robot, ground=trough, contact=pliant.CompliantContact(pliant.SpringDamper(1e6, 1e3, friction=1))
    ),
    "event-driven": lambda robot: pliant.EventSimulation(robot, ground=trough, friction=1),
}


@pytest.mark.parametrize("tube", [0.0, 0.03])
@pytest.mark.parametrize(("kind", "period"), [
    ("rigid", 1e-5), ("float32", 1e-4), ("compliant", 1e-3), ("event-driven", 1e-7),
])  # fmt: skip
def test_a_cylinder_in_a_trough(kind: str, period: float, tube: float) -> None:
    """It is a pendulum of the length 0.5 m - r with 3/2 of the inertia, as large as its swing is."""
    length, start = 0.5 - RADIUS, 0.6
    exact = 4 * math.sqrt(1.5 * length / G) * ellipk(math.sin(start / 2) ** 2)
    q = [length * math.sin(start), 0, 0.5 - length * math.cos(start), *turn(0, math.pi / 2)]
    robot = body(COIN, rim=RADIUS - tube, radius=tube, length=0.2)
    _, log = ran(SIMULATIONS[kind](robot), 4 * exact, q, every=1e-3)
    x = log.q[:, 0].astype(float)
    at = np.flatnonzero(np.sign(x[:-1]) != np.sign(x[1:]))
    crossings = log.t[at] - x[at] * np.diff(log.t)[at] / np.diff(x)[at]
    assert 2 * np.diff(crossings).mean() == pytest.approx(exact, rel=period)


# ---- ellipsoids


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("about", [0, 1])
def test_an_ellipsoid_rocks(precision: str, about: int) -> None:
    """About its flat side as a pendulum of the length r - c, r = a^2 / c its radius of curvature there."""
    a, b, c = sizes = (0.2, 0.15, 0.1)
    inertia = [(x * x + y * y) / 5 for x, y in ((b, c), (a, c), (a, b))]
    wide, tilt = (b, a)[about], 0.01
    height = math.hypot(wide * math.sin(tilt), c * math.cos(tilt))
    q = [0, 0, height, *turn(about, tilt)]
    _, log = ran(simulated(body(inertia, ellipsoid=sizes), precision=precision), 5, q, every=1e-3)
    y = log.q[:, 3 + about].astype(float)
    at = np.flatnonzero(np.sign(y[:-1]) != np.sign(y[1:]))
    crossings = log.t[at] - y[at] * np.diff(log.t)[at] / np.diff(y)[at]
    frequency = math.sqrt(G * (wide**2 / c - c) / (inertia[about] + c * c))
    # of an amplitude of 0.01 rad the period is larger by parts of 1e-4
    assert math.pi / np.diff(crossings).mean() == pytest.approx(frequency, rel=1e-3)
    assert np.abs(y[-800:]).max() == pytest.approx(np.abs(y[:800]).max(), rel=1e-3)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_rattleback_turns_round(precision: str) -> None:
    """Its inertia is askew to its shape [Kane and Levinson 1982]: it spins on one way, and the other way reverses."""
    robot = body((0.0002, 0.0016, 0.0017, 0.00002), com=(0, 0, -0.01), ellipsoid=(0.2, 0.03, 0.02))
    found = {}
    for spin in (5, -5):
        q = robot.on_ground([0, 0, 1, *turn(0, 0.01)])
        sim = simulated(robot, mu=2, precision=precision)
        sim.reset(q=q, v=[0, 0, 0, 0, 0, spin])
        log = sim.run(8, every=1e-2, channels=("q", "v", "energy"))
        found[spin] = log.v[-1, 5]
        total = (log["energy.kinetic"] + log["energy.potential"]).astype(float)
        assert (total - total[0]).max() < 1e-3 * abs(total[0])
    assert found[5] < -2
    assert found[-5] < -4


@pytest.mark.parametrize("ground", [pliant.waves(0.05, 1.2), pliant.slope(0.3)])
def test_a_round_ellipsoid_is_a_ball(ground: pliant.Ground) -> None:
    q, v = [0.1, 0.05, 1, 0, 0, 0, 1], [0.4, 0.2, 0, 1, 2, 3]
    inertia = [0.4 * RADIUS**2] * 3
    round_one = body(inertia, ellipsoid=(RADIUS,) * 3)
    np.testing.assert_allclose(round_one.on_ground(q, ground), ball(radius=RADIUS).on_ground(q, ground), atol=1e-9)
    ends = []
    for robot in (ball(radius=RADIUS), round_one):
        sim, _ = ran(simulated(robot, ground, mu=0), 1, robot.on_ground(q, ground), v)
        ends.append(sim.q)
    np.testing.assert_allclose(*ends, atol=1e-6)


def test_a_wheel_above_a_riser_touches_with_its_bottom() -> None:
    """And not with its side, along the normal of the riser below its hub: edges of which nothing is known."""
    ground = pliant.Ground(lambda x, y: 0.1 * minimum(maximum(x / 0.01, 0), 1), name="step")
    (contact, *_) = contact_groups(body(COIN, rim=RADIUS), ground, 1, 0)
    for x, height in ((0.25, 0.1), (0.005, 0.05), (-0.2, 0)):
        pose = Transform(rotation_from_rpy(math.pi / 2, 0, 0), Vector(x, 0, height + RADIUS))
        touch = contact.touches([pose], Vector.zero(), ground)[0]
        np.testing.assert_allclose([float(a) for a in touch.p], [x, 0, height], atol=1e-9)
        assert float(touch.gap) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("shape", [{"rim": 0.12, "length": 0.3}, {"rim": 0.09, "radius": 0.03, "length": 0.3}])
@pytest.mark.parametrize(("rise", "speed"), [(0.02, 1.0), (0.06, 1.0), (0.06, 2.0), (0.3, 2.0)])
def test_a_cylinder_meets_stairs_as_a_ball_does(shape: dict[str, Any], rise: float, speed: float) -> None:
    """Upright in a plane they are the same circle: they climb a low step, bounce off a higher one, stop at a wall."""
    radius = 0.12
    inertia = [0.4 * radius**2] * 3
    paths = []
    shapes: list[dict[str, Any]] = [{"radius": radius}, shape]
    for contact in shapes:
        q, v = [-0.3, 0, radius, *turn(0, math.pi / 2)], [speed, 0, 0, 0, 0, -speed / radius]
        _, log = ran(simulated(body(inertia, **contact), pliant.stairs(rise, 0.6), mu=0.8), 1, q, v, every=1e-2)
        paths.append(log.q[:, [0, 2]])
    np.testing.assert_allclose(*paths, atol=2e-4)


# ---- event-driven, and kept


def test_event_driven_coins() -> None:
    """The rolling coin keeps its energy, and the step converges to it; one that falls lies flat and at rest."""
    q, v = rolling(math.pi / 2 - 0.3, 10)
    exact, log = ran(pliant.EventSimulation(coin(), ground=pliant.flat(), friction=1), 2, q, v, every=1e-2)
    kinetic = (log.v[:, :3] ** 2).sum(axis=1) / 2 + (log.v[:, 3:] ** 2 @ np.array(COIN)) / 2
    total = kinetic + G * log.q[:, 2]
    np.testing.assert_allclose(total, total[0], rtol=1e-7)
    errors = [np.abs(ran(simulated(coin(), dt=dt), 2, q, v)[0].q - exact.q).max() for dt in (1e-3, 2.5e-4)]
    assert errors[0] < 2e-2
    assert errors[1] < errors[0] / 3
    falling = pliant.EventSimulation(coin(), ground=pliant.flat(), friction=0.5)
    sim, _ = ran(falling, 1, [0, 0, 0.15, *turn(0, 0.4)])
    np.testing.assert_allclose([sim.q[2], *sim.q[3:5], *sim.v], 0, atol=1e-9)


def test_round_shapes_are_kept_in_logs(tmp_path: Any) -> None:
    robot = coin(radius=0.1, name="rim").with_contact("body", rim=0.1, length=0.2, name="cylinder")
    robot = robot.with_contact("body", ellipsoid=(0.1, 0.2, 0.3), name="ellipsoid")
    sim = simulated(robot)
    sim.reset(q=[0, 0, 1, 0, 0, 0, 1])
    sim.run(0.01).save(tmp_path / "log.h5")
    source = pliant.load_log(tmp_path / "log.h5").source
    assert source is not None
    kept = source.robot
    for name, shape in robot.contacts.items():
        again = kept.contacts[name]
        assert (again.kind, again.sizes, again.radius) == (shape.kind, shape.sizes, shape.radius)
        assert [tuple(axis) for axis in again.axes] == [tuple(axis) for axis in shape.axes]
