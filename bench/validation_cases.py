"""The cases of `bench.validation`: small mechanisms whose motion is known, each with its closed form or reference.

A case is a function that returns rows: what was compared, how, and by how much it is off. References are written here,
from the formula or from another library, and use no function of Pliant.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

import pliant
from pliant.robot import Robot, RobotBuilder

__all__ = ["CASES", "Row"]

G = 9.81


class Row(NamedTuple):
    """One comparison.

    Attributes:
        method: how Pliant computed it.
        error: how far it is off, relative or in `unit`.
        bound: what the method promises, in the same unit; above it the row fails.
    """

    method: str
    error: float
    unit: str
    bound: float


def free_body(name: str, mass: float, inertia: Sequence[float], com: Any = (0, 0, 0)) -> RobotBuilder:
    """One body, its principal axes along those of its frame."""
    x, y, z = inertia
    return RobotBuilder(name).body(name, mass, com, (x, 0, 0, y, 0, z))


def ball(**contact: Any) -> Robot:
    """A solid ball of 1 kg and 0.1 m."""
    return free_body("ball", 1.0, (0.004,) * 3).build(base="free").with_contact("ball", radius=0.1, **contact)


def block() -> Robot:
    """A cube of 1 kg and 0.2 m, on its corners."""
    return free_body("block", 1.0, (1 / 150,) * 3).build(base="free").with_contact("block", box=(0.2, 0.2, 0.2))


# ---- smooth motion


def pendulum() -> Iterator[Row]:
    """Period of a pendulum from 150 degrees: 4 K(sin^2 75) sqrt(l / g), l = 1 m."""
    start = math.radians(150)
    period = 4 * ellipk(math.sin(start / 2) ** 2) * math.sqrt(1 / G)
    for integrator, bound in (("semi-implicit", 1e-3), ("rk4", 1e-8), ("dormand-prince", 1e-8)):
        sim = pliant.Simulation(pliant.load("pendulum"), dt=1e-3, integrator=integrator)
        sim.reset(q=[start])
        log = sim.run(2 * period)
        # the third passage through the lowest point comes 5/4 periods after the start
        q, v, t = log.q[:, 0], log.v[:, 0], log.t
        at = np.flatnonzero(np.diff(np.sign(q)))[2]
        slope = v[at] if integrator != "semi-implicit" else (q[at + 1] - q[at]) / 1e-3
        found = (t[at] - q[at] / slope) / 1.25
        yield Row(f"{integrator}, 1 ms", abs(found / period - 1), "relative", bound)


def double_pendulum() -> Iterator[Row]:
    """Two rods of 1 m and 1 kg for 3 s, against Lagrange's equations by DOP853 at 1e-13."""

    def rate(_t: float, y: np.ndarray) -> list[float]:
        a, b, da, db = y  # angles of the rods from the vertical, and their rates
        matrix = np.array([[4 / 3, math.cos(a - b) / 2], [math.cos(a - b) / 2, 1 / 3]])
        force = [
            -math.sin(a - b) / 2 * db**2 - 1.5 * G * math.sin(a),
            math.sin(a - b) / 2 * da**2 - 0.5 * G * math.sin(b),
        ]
        return [da, db, *np.linalg.solve(matrix, force)]

    builder = RobotBuilder("rods")
    for name, parent, z in (("upper", "world", 0), ("lower", "upper", -1)):
        builder.body(name, 1, (0, 0, -0.5), (1 / 12, 0, 0, 1 / 12, 0, 1e-3))
        builder.joint(f"{name} joint", "revolute", parent, name, (0, 0, z), axis=(0, 1, 0))
    solved = solve_ivp(rate, (0, 3), [2.0, 2.5, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13)
    a, b = solved.y[:2, -1]
    for integrator, dt, bound in (("dormand-prince", 1e-2, 1e-6), ("rk4", 1e-3, 1e-7), ("semi-implicit", 1e-4, 1e-2)):
        sim = pliant.Simulation(builder.build(), dt=dt, integrator=integrator)
        sim.reset(q=[2.0, 0.5])
        sim.run(3.0, every=3.0)
        yield Row(f"{integrator}, {1e3 * dt:g} ms", float(np.abs(sim.q - [a, b - a]).max()), "rad", bound)


def tumbling() -> Iterator[Row]:
    """A free body, inertia 1, 2, 3: rates by Jacobi's elliptic functions, and energy at 200 rad/s for a minute."""
    i1, i2, i3 = 1.0, 2.0, 3.0
    w1, w3 = 1.0, 3.0  # with w2 = 0 at the start
    energy, momentum = i1 * w1**2 + i3 * w3**2, (i1 * w1) ** 2 + (i3 * w3) ** 2
    speed = math.sqrt((i3 - i2) * (momentum - energy * i1) / (i1 * i2 * i3))
    modulus = (i2 - i1) * (energy * i3 - momentum) / ((i3 - i2) * (momentum - energy * i1))
    amplitude = math.sqrt((energy * i3 - momentum) / (i2 * (i3 - i2)))
    robot = free_body("body", 1, (i1, i2, i3)).gravity(0, 0, 0).build(base="free")
    for integrator, dt, bound in (
        ("dormand-prince", 1e-2, 1e-6),
        ("midpoint", 1e-3, 1e-4),
        ("semi-implicit", 1e-3, 1e-3),
    ):
        sim = pliant.Simulation(robot, dt=dt, integrator=integrator)
        sim.reset(v=[0, 0, 0, w1, 0, w3])
        sim.run(10.0, every=10.0)
        sn, cn, dn, _ = ellipj(speed * 10.0, modulus)
        exact = np.array([w1 * cn, -amplitude * sn, w3 * dn])
        exact[1] *= math.copysign(1, sim.v[4] * exact[1])  # the sense of w2 is that of -(i3 - i1) w1 w3 at the start
        yield Row(
            f"{integrator}, {1e3 * dt:g} ms, rates after 10 s", float(np.abs(sim.v[3:] - exact).max()), "rad/s", bound
        )
    sim = pliant.Simulation(robot, dt=1e-3)
    sim.reset(v=[0, 0, 0, 115, 115, 115])
    log = sim.run(60.0, every=0.1)
    drift = np.abs(log["energy.kinetic"] / log["energy.kinetic"][0] - 1).max()
    yield Row("semi-implicit, 1 ms, energy at 200 rad/s, 60 s", float(drift), "relative", 1e-2)


def heavy_top() -> Iterator[Row]:
    """Steady precession of a top: A W^2 cos(a) - C n W + m g l = 0."""
    mass, length, across, along, spin, lean = 1.0, 0.1, 0.012, 0.002, 150.0, 0.5
    robot = RobotBuilder("top").body("top", mass, (0, 0, length), (0.002, 0, 0, 0.002, 0, along))
    robot = robot.joint("tip", "spherical", "world", "top").build()
    rate = brentq(lambda w: across * w**2 * math.cos(lean) - along * spin * w + mass * G * length, 0.1, 20)
    assert isinstance(rate, float)
    # n is the spin about the axis of the top with the share of precession in it
    v = [rate * math.sin(lean), 0, spin]
    for integrator, dt, bound in (("dormand-prince", 1e-2, 1e-6), ("semi-implicit", 1e-4, 1e-2)):
        sim = pliant.Simulation(robot, dt=dt, integrator=integrator)
        # leaning about y towards -x: the axis is R e_z
        sim.reset(q=[0, -math.sin(lean / 2), 0, math.cos(lean / 2)], v=v)
        log = sim.run(2.0)
        x, y, z, w = log.q.T
        axis = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        turned = np.unwrap(np.arctan2(axis[1], axis[0]))[-1] - math.atan2(axis[1, 0], axis[0, 0])
        nodding = float(np.ptp(np.arccos(axis[2])))
        yield Row(f"{integrator}, {1e3 * dt:g} ms, precession", abs(turned / (rate * 2) - 1), "relative", bound)
        yield Row(f"{integrator}, {1e3 * dt:g} ms, nodding", nodding, "rad", bound)


def flexible_joint() -> Iterator[Row]:
    """A rotor of 0.1 kg m^2 drives a link of 1 kg m^2 through 100 N m/rad: a step of torque, in closed form."""
    rotor, link, k, torque = 0.1, 1.0, 100.0, 2.0
    builder = RobotBuilder("drive").gravity(0, 0, 0).body("link", 1, (0, 0, 0), (1, 0, 0, 1, 0, link))
    builder.joint("joint", "revolute", "world", "link", axis=(0, 0, 1)).motor(
        "joint", gear=10, rotor_inertia=rotor / 100
    )
    robot = builder.build().with_flexibility("joint", stiffness=k)
    w = math.sqrt(k * (1 / rotor + 1 / link))
    t = 1.0
    deflection = -torque / rotor * (1 - math.cos(w * t)) / w**2
    together = torque / (rotor + link) * t**2 / 2
    motor = together - deflection * link / (rotor + link)
    exact = np.array([deflection, motor])
    for integrator, dt, bound in (
        ("dormand-prince", 1e-2, 1e-8),
        ("semi-implicit", 1e-3, 5e-3),
        ("semi-implicit", 1e-4, 5e-4),
    ):
        sim = pliant.Simulation(robot, dt=dt, integrator=integrator)
        sim.run(t, u=[torque], every=t)
        yield Row(
            f"{integrator}, {1e3 * dt:g} ms", float(np.abs(sim.q - exact).max() / abs(exact).max()), "relative", bound
        )


def winding() -> Iterator[Row]:
    """A DC motor without load: speed u/k (1 - exp(-t/T)), T = R J / k^2."""
    k, resistance, inertia, voltage = 0.05, 0.4, 2e-4, 12.0
    builder = RobotBuilder("motor").gravity(0, 0, 0).body("rotor", 1, (0, 0, 0), (1, 0, 0, 1, 0, inertia))
    builder.joint("axle", "revolute", "world", "rotor", axis=(0, 0, 1)).motor("axle")
    robot = builder.build().with_motor("axle", control="voltage", torque_constant=k, resistance=resistance)
    constant = resistance * inertia / k**2
    exact = voltage / k * (1 - math.exp(-0.05 / constant))
    for dt in (1e-3, 1e-4):
        sim = pliant.Simulation(robot, dt=dt)
        sim.run(0.05, u=[voltage], every=0.05)
        yield Row(f"semi-implicit, {1e3 * dt:g} ms", abs(sim.v[0] / exact - 1), "relative", 20 * dt)


def momentum() -> Iterator[Row]:
    """A quadruped floats and moves its legs by its motors: no momentum from within, for 2 s."""
    robot = pliant.load("quadruped").with_gravity(0, 0, 0)
    for integrator, bound in (("dormand-prince", 1e-7), ("semi-implicit", 2e-2)):
        sim = pliant.Simulation(robot, dt=1e-3, integrator=integrator, limits=False)
        sim.reset(q=[0, 0, 0, 0, 0, 0, 1, *[0.0, 0.8, -1.6] * 4])
        log = sim.run(2.0, controller=lambda t, q, v: 2 * np.cos(6 * t + np.arange(12)))
        found = pliant.centroidal_momentum(robot, log.q[-1], log.v[-1])
        size = 0.5 * robot.mass * np.abs(log.v[:, 6:]).max() * 0.1  # that of the legs, about
        yield Row(f"{integrator}, 1 ms", float(np.abs(found).max() / size), "relative", bound)


# ---- contact


def slope() -> Iterator[Row]:
    """A block on a slope of 20 degrees: rests at mu = 0.4 > tan, slides with g (sin - mu cos) at 0.3."""
    angle = math.radians(20)
    start = [-0.1 * math.sin(angle), 0, 0.1 * math.cos(angle), 0, -math.sin(angle / 2), 0, math.cos(angle / 2)]
    for mu in (0.4, 0.3):
        for precision in ("float64", "float32"):
            sim = pliant.Simulation(block(), dt=1e-3, ground=pliant.slope(angle, friction=mu), precision=precision)
            sim.reset(q=start)
            sim.run(1.0, every=1.0)
            exact = max(0.0, G * (math.sin(angle) - mu * math.cos(angle)))
            found = float(np.linalg.norm(sim.v[:3]))
            bound = 1e-8 if precision == "float64" else 1e-4
            yield Row(f"mu {mu}, {precision}, speed after 1 s", abs(found - exact), "m/s", bound)


def sliding_ball() -> Iterator[Row]:
    """A ball that slides at 2 m/s, mu 0.2, rolls at 5/7 of it after 2 v / (7 mu g)."""
    sim = pliant.Simulation(ball(), dt=1e-3, ground=pliant.flat(friction=0.2))
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1], v=[2, 0, 0, 0, 0, 0])
    log = sim.run(1.0)
    speed = np.linalg.norm(log.v[:, :3], axis=1)
    yield Row("rigid, 1 ms, speed of rolling", abs(speed[-1] - 10 / 7), "m/s", 1e-9)
    rolling = float(log.t[np.flatnonzero(np.abs(speed - speed[-1]) < 1e-9)[0]])
    yield Row("rigid, 1 ms, when it rolls", abs(rolling - 4 / (7 * 0.2 * G)), "s", 1e-3)
    exact = pliant.EventSimulation(ball(), ground=pliant.flat(), friction=0.2)
    exact.reset(q=[0, 0, 0.1, 0, 0, 0, 1], v=[2, 0, 0, 0, 0, 0])
    found = exact.run(1.0)
    yield Row("event-driven, when it rolls", abs(found.events_of("stick")[0].t - 4 / (7 * 0.2 * G)), "s", 1e-9)


def bounces() -> Iterator[Row]:
    """A ball falls 0.5 m and bounces with e = 0.5: it rests after 3 sqrt(2 h / g)."""
    end = 3 * math.sqrt(2 * 0.5 / G)
    exact = pliant.EventSimulation(ball(), ground=pliant.flat(), restitution=0.5)
    exact.reset(q=[0, 0, 0.6, 0, 0, 0, 1])
    yield Row("event-driven", abs(exact.run(1.2).events[-1].t - end), "s", 1e-4)
    for dt in (1e-3, 1e-4):
        sim = pliant.Simulation(ball(), dt=dt, ground=pliant.flat(restitution=0.5))
        sim.reset(q=[0, 0, 0.6, 0, 0, 0, 1])
        log = sim.run(1.2)
        height = log.q[:, 2] - 0.1
        apex = height[(log.t > 0.32) & (log.t < 0.96)].max()
        yield Row(f"rigid, {1e3 * dt:g} ms, height of the first bounce", abs(apex - 0.125), "m", 10 * dt)


def bowl() -> Iterator[Row]:
    """A ball of 0.1 m rolls in a round bowl of 0.5 m from 0.5 rad: 4 K sqrt(7 (R - r) / (5 g))."""
    radius, start = 0.5, 0.5
    period = 4 * ellipk(math.sin(start / 2) ** 2) * math.sqrt(7 * (radius - 0.1) / (5 * G))

    def height(x: Any, y: Any) -> Any:
        return radius - pliant.math.sqrt(radius**2 - x * x - y * y)

    place = [0.4 * math.sin(start), 0, radius - 0.4 * math.cos(start), 0, 0, 0, 1]
    ground = pliant.Ground(height, friction=1.0)
    sim = pliant.Simulation(ball(), dt=1e-3, ground=ground)
    sim.reset(q=place)
    yield Row("rigid, 1 ms", abs(_period(sim.run(1.5 * period)) / period - 1), "relative", 1e-3)
    exact = pliant.EventSimulation(ball(), ground=ground)
    exact.reset(q=place, lift=True)
    log = exact.run(1.5 * period, every=1e-3)
    yield Row("event-driven", abs(_period(log) / period - 1), "relative", 1e-5)


def _period(log: pliant.Log) -> float:
    """From the first passage of x through zero downward to the next one, doubled from half a swing."""
    x, t = log.q[:, 0], log.t
    at = np.flatnonzero(np.diff(np.sign(x)))[:2]
    crossing = [t[i] - x[i] * (t[i + 1] - t[i]) / (x[i + 1] - x[i]) for i in at]
    return float(2 * (crossing[1] - crossing[0]))


def coin() -> Iterator[Row]:
    """A thin disc rolls steadily in a circle, tilted by 1.2 rad: it keeps its height, and its energy for 10 s."""
    radius, tilt, turn = 0.1, 1.2, 3.0
    # Euler's equations about the centre, in axes that precess with the disc, A = m r^2 / 4 and C = 2 A:
    # n W sin(a) (C + m r^2) = W^2 A sin(a) cos(a) - m g r cos(a)
    spin = math.cos(tilt) * (turn**2 * math.sin(tilt) - 4 * G / radius) / (6 * turn * math.sin(tilt))
    inertia = radius**2 / 4
    robot = free_body("coin", 1, (inertia, inertia, 2 * inertia)).build(base="free").with_contact("coin", rim=radius)
    sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(friction=2.0))
    # the contact lies at -y of the coin's frame, which is tilted about x
    q = [0, 0, radius * math.sin(tilt), math.sin(tilt / 2), 0, 0, math.cos(tilt / 2)]
    rates = np.array([0, turn * math.sin(tilt), spin])
    point = np.array([0, -radius, 0])
    sim.reset(q=q, v=[*np.cross(point, rates), *rates])
    log = sim.run(10.0)
    total = log["energy.kinetic"] + log["energy.potential"]
    yield Row("rigid, 1 ms, energy for 10 s", float(np.abs(total / total[0] - 1).max()), "relative", 1e-3)
    yield Row("rigid, 1 ms, height", float(np.abs(log.q[:, 2] / log.q[0, 2] - 1).max()), "relative", 1e-3)


def turning_friction() -> Iterator[Row]:
    """A ball spins about the vertical under torsional friction, and rolls against rolling friction, until both rest."""
    robot = ball(torsion=0.005, rolling=0.005)
    sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(friction=1.0))
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1], v=[0, 0, 0, 0, 0, 5])
    sim.run(0.2, every=0.2)
    yield Row("torsion, rate after 0.2 s", abs(sim.v[5] - (5 - 0.005 * G / 0.004 * 0.2)), "rad/s", 1e-8)
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1], v=[1, 0, 0, 0, 10, 0])
    sim.run(4.0, every=4.0)
    slowing = 0.005 * G * 0.1 / (0.004 + 0.01)
    yield Row("rolling, way to rest", abs(sim.q[0] - 1 / (2 * slowing)), "m", 1e-3)


def weight() -> Iterator[Row]:
    """Robots that stand: the vertical forces of all contacts over the weight."""
    feet = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
    robot = pliant.load("quadruped").with_contacts(*feet, radius=0.02).with_motors(control="position", kp=150, kd=4)
    stance = np.tile([0.0, 0.8, -1.6], 4)
    for precision, bound in (("float64", 1e-9), ("float32", 1e-4)):
        sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(), precision=precision)
        sim.reset(q=robot.on_ground([0, 0, 0, 0, 0, 0, 1, *stance]))
        sim.run(5.0, u=stance, every=5.0)
        found = float(sim.contact_forces[:, 2].sum())
        yield Row(f"quadruped, {precision}", abs(found / (robot.mass * G) - 1), "relative", bound)


def anchored() -> Iterator[Row]:
    """A block on springs with anchors, on a slope of 10 degrees: it sinks by its weight, and does not creep."""
    angle = math.radians(10)
    law = pliant.AnchoredSpringDamper(stiffness=1e4, damping=100)
    ground = pliant.slope(angle, friction=0.5)
    sim = pliant.Simulation(block(), dt=1e-3, ground=ground, contact=pliant.CompliantContact(law))
    start = [-0.1 * math.sin(angle), 0, 0.1 * math.cos(angle), 0, -math.sin(angle / 2), 0, math.cos(angle / 2)]
    sim.reset(q=start)
    sim.run(2.0, every=2.0)
    there, turned = sim.q, pliant.frame_pose(sim.robot, sim.q, "block")
    sim.run(10.0, every=10.0)
    yield Row("compliant, 1 ms, creep in 10 s", float(np.abs(sim.q[:3] - there[:3]).max()), "m", 1e-9)
    # the middle of the four corners that touch
    foot = turned[:3, 3] - 0.1 * turned[:3, 2]
    yield Row(
        "compliant, 1 ms, deflection m g / (4 k)", abs(float(np.linalg.norm(foot)) / (G / 4e4) - 1), "relative", 1e-3
    )


def landings() -> Iterator[Row]:
    """A tilted rod falls on one end, mu 0.3: time stepping against the event-driven result, both shortly after."""
    builder = free_body("rod", 1, (1 / 12, 1 / 12, 1e-3))
    robot = builder.build(base="free").with_contact("rod", points=[(0, 0, -0.5), (0, 0, 0.5)])
    tilt = 0.6
    q = [0, 0, 0.5 * math.cos(tilt) + 0.1, 0, math.sin(tilt / 2), 0, math.cos(tilt / 2)]
    v = [0.5, 0.2, 0, 0, 0.5, 0]
    exact = pliant.EventSimulation(robot, ground=pliant.flat(), friction=0.3)
    exact.reset(q=q, v=v)
    reference = exact.run(0.25)
    for dt in (4e-3, 1e-3, 2.5e-4):
        sim = pliant.Simulation(robot, dt=dt, ground=pliant.flat(friction=0.3))
        sim.reset(q=q, v=v)
        sim.run(0.2, every=0.2)
        there, _ = reference.at(0.2)
        yield Row(f"rigid, {1e3 * dt:g} ms, place after 0.2 s", float(np.abs(sim.q[:3] - there[:3]).max()), "m", 2 * dt)


def four_bar() -> Iterator[Row]:
    """A parallelogram swings for 10 s: as a simple pendulum, and closed."""
    bar = {"mass": 1, "com": (0, 0, -0.5), "inertia": (1 / 12, 0, 0, 1 / 12, 0, 1e-3)}
    builder = RobotBuilder("parallelogram").body("left", **bar).body("right", **bar)
    builder.body("bottom", mass=1, com=(0.25, 0, 0), inertia=(1e-3, 0, 0, 1 / 48, 0, 1 / 48))
    builder.joint("a", "revolute", "world", "left", axis=(0, 1, 0))
    builder.joint("b", "revolute", "world", "right", (0.5, 0, 0), axis=(0, 1, 0))
    builder.joint("c", "revolute", "left", "bottom", (0, 0, -1), axis=(0, 1, 0))
    builder.frame("end", "bottom", (0.5, 0, 0)).frame("tip", "right", (0, 0, -1))
    robot = builder.build().with_closure("point", "end", "tip")
    start = 1.0
    # the bars turn, the bottom goes around a circle of 1 m: (2/3 + 1) a'' = -2 g sin(a)
    period = 4 * ellipk(math.sin(start / 2) ** 2) * math.sqrt((2 / 3 + 1) / (2 * G))
    for integrator, bound in (("semi-implicit", 1e-4), ("dormand-prince", 1e-8)):
        sim = pliant.Simulation(robot, dt=1e-3, integrator=integrator)
        angles = {"a": start, "b": start, "c": -start}
        sim.reset(q=[angles[joint] for joint in robot.joints if joint in angles])
        log = sim.run(10.0)
        a = log["q", "a"]
        at = np.flatnonzero(np.diff(np.sign(a)))
        passage = [log.t[i] - a[i] * 1e-3 / (a[i + 1] - a[i]) for i in (at[0], at[-1])]
        found = 2 * (passage[1] - passage[0]) / (len(at) - 1)
        yield Row(f"{integrator}, 1 ms, period", abs(found / period - 1), "relative", max(bound, 1e-6))
        ends = [pliant.frame_pose(robot, log.q, frame)[:, :3, 3] for frame in ("end", "tip")]
        yield Row(f"{integrator}, 1 ms, gap", float(np.abs(ends[0] - ends[1]).max()), "m", 1e-9)


# ---- other libraries


def pinocchio() -> Iterator[Row]:
    """Inverse and forward dynamics of 64 random states of ANYmal, Panda and Talos, against Pinocchio."""
    import pinocchio as pin

    for name in ("panda", "anymal", "talos"):
        robot = pliant.load(name)
        assert robot.file is not None
        root = [pin.JointModelFreeFlyer()] if robot.is_free else []
        model = pin.buildModelFromUrdf(str(robot.file), *root)
        data = model.createData()
        rng = np.random.default_rng(0)
        q = robot.random(rng, batch=64)
        v, vd = rng.normal(size=(2, 64, robot.nv))
        tau = pliant.inverse_dynamics(robot, q, v, vd)
        exact = np.array([pin.rnea(model, data, *x) for x in zip(q, v, vd, strict=True)])
        yield Row(
            f"{name}, inverse dynamics", float(np.abs(tau - exact).max() / np.abs(exact).max()), "relative", 1e-12
        )
        found = pliant.forward_dynamics(robot, q, v, exact)
        yield Row(f"{name}, forward dynamics", float(np.abs(found - vd).max() / np.abs(vd).max()), "relative", 1e-8)


CASES: dict[str, Callable[[], Iterator[Row]]] = {
    "pendulum": pendulum, "double pendulum": double_pendulum, "tumbling body": tumbling, "heavy top": heavy_top,
    "flexible joint": flexible_joint, "winding": winding, "momentum": momentum, "four-bar": four_bar, "slope": slope,
    "sliding ball": sliding_ball, "bounces": bounces, "landing": landings, "bowl": bowl, "coin": coin,
    "turning friction": turning_friction, "weight": weight, "anchored block": anchored, "Pinocchio": pinocchio,
}  # fmt: skip
"""By name; what is compared is the first line of the docstring."""
