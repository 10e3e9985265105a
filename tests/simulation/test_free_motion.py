"""Motion without contact: closed forms, and accelerations of Pinocchio and MuJoCo."""

import math

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

import pliant
from moving_robots import by_rk4, slopes
from pliant.robot import Robot, RobotBuilder
from random_robots import pinocchio_model, robot_of
from simple_bodies import G, pendulum, sliding, turned, turning
from simulated_robots import ran, started

# ---- motion without contact whose closed form is known: pendulum, symmetric top, a body that tumbles, springs


# T = 4 sqrt(L / g) K(sin(45 deg)) of a swing from horizontal, L = 1 m, g = 9.81 m/s^2
PERIOD = 2.3678419475762373


def crossings(log: pliant.Log, level: float = 0) -> np.ndarray:
    """Times at which the first coordinate is there, from the cubics through q and v at the ends of steps."""
    return CubicHermiteSpline(log.t, log.q[:, 0], log.v[:, 0]).solve(level, extrapolate=False)


# rounding at a tolerance of 1e-12; dt^4 with a factor below 1; dt^2 / 12 and less, for one radian a second
@pytest.mark.parametrize("integrator, tolerance", [
    ("dormand-prince", 1e-10), ("rk4", 1e-11), ("midpoint", 1e-6), ("semi-implicit", 1e-5),
])  # fmt: skip
def test_period_of_a_pendulum(integrator: str, tolerance: float) -> None:
    sim = pliant.Simulation(pendulum(), dt=1e-3, integrator=integrator, rtol=1e-12, atol=1e-13)
    times = crossings(ran(sim, 2 * PERIOD, [math.pi / 2])[1])
    np.testing.assert_allclose(np.diff(times), PERIOD / 2, rtol=tolerance)
    assert len(times) == 4


# ---- bodies that turn freely


def spinning(moments: tuple[float, float, float]) -> Robot:
    builder = RobotBuilder("top").gravity(0, 0, 0)
    a, b, c = moments
    return builder.body("top", 2, (0, 0, 0), (a, 0, 0, b, 0, c)).build(base="free")


def rotation(q: np.ndarray) -> np.ndarray:
    """The matrix of the quaternion of a free joint."""
    return Rotation.from_quat(q[3:]).as_matrix()


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    return Rotation.from_rotvec(angle * axis).as_matrix()


# over 1000 steps at 4 rad/s: (w dt)^order, and rounding
@pytest.mark.parametrize(
    ("integrator", "tolerance"), [("rk4", 1e-9), ("dormand-prince", 1e-9), ("midpoint", 1e-4), ("semi-implicit", 2e-2)]
)
def test_precession_of_a_symmetric_top(integrator: str, tolerance: float) -> None:
    """R(t) = exp(L t / I1) R(0) exp((1 - I3 / I1) w3 t e3): the axis goes round L, the body round its axis."""
    I1, I3 = 0.3, 0.5
    w0 = np.array([1.5, -0.5, 4])
    q0 = np.array([0, 0, 0, *turned(0.7, (1, 2, -1))])
    sim = pliant.Simulation(spinning((I1, I1, I3)), dt=1e-3, integrator=integrator, rtol=1e-11, atol=1e-12)
    t = 1.0
    ran(sim, t, q0, [0, 0, 0, *w0], channels=())
    L = rotation(q0) @ (np.array([I1, I1, I3]) * w0)
    size = np.linalg.norm(L)
    expected = about(L / size, size / I1 * t) @ rotation(q0) @ about(np.array([0, 0, 1]), (1 - I3 / I1) * w0[2] * t)
    assert np.abs(rotation(sim.q) - expected).max() < tolerance
    # in the body, the rate turns about the axis with (I3 / I1 - 1) w3
    turn = about(np.array([0, 0, 1]), (I3 / I1 - 1) * w0[2] * t)
    assert np.abs(sim.v[3:] - turn @ w0).max() < 5 * tolerance


# the errors of single steps, (w dt)^(order + 1), over 8000 of them; midpoint keeps both to its own tolerance
@pytest.mark.parametrize(("integrator", "tolerance"), [("rk4", 1e-8), ("dormand-prince", 1e-8), ("midpoint", 1e-9)])
def test_a_tumbling_body_keeps_energy_and_momentum(integrator: str, tolerance: float) -> None:
    """Dzhanibekov: spun about its middle axis, a body turns over again and again."""
    robot = spinning((0.2, 0.3, 0.4))
    sim = pliant.Simulation(robot, dt=2e-3, integrator=integrator, rtol=1e-11, atol=1e-12)
    sim.reset(v=[0, 0, 0, 0.1, 5, 0.1])

    def kept() -> tuple[float, np.ndarray]:
        return sum(pliant.energy(robot, sim.q, sim.v)), pliant.centroidal_momentum(robot, sim.q, sim.v)

    energy, momentum = kept()
    rates = np.asarray(sim.run(16.0, channels=("v",))["v"])[:, 4]
    assert rates.min() < -4.9, "it did not turn over"
    assert np.count_nonzero(np.diff(np.sign(rates))) >= 3
    energy1, momentum1 = kept()
    assert energy1 == pytest.approx(energy, rel=tolerance)
    # midpoint keeps the size of L; its direction in space has an error of dt^2
    assert np.linalg.norm(momentum1) == pytest.approx(np.linalg.norm(momentum), rel=tolerance)
    if integrator != "midpoint":
        np.testing.assert_allclose(momentum1, momentum, atol=1e-6)


def test_a_thrown_body_flies_straight_while_it_turns() -> None:
    """The semi-implicit step is exact for free flight without gravity, whatever the spin: no speed is gained."""
    sim = pliant.Simulation(spinning((0.3, 0.3, 0.3)), dt=1e-2)
    ran(sim, 10.0, v=[1, 2, -1, 10, -20, 30], channels=())
    # a thousand steps of rounding
    np.testing.assert_allclose(sim.q[:3], [10, 20, -10], atol=1e-10)
    assert np.linalg.norm(sim.v[:3]) == pytest.approx(math.sqrt(6), rel=1e-12)


# a wobble of (w dt)^2 / 8 and no drift: 1e-5, 5e-4 and 5e-3; at a radian a step energy is lost, a third in a minute
@pytest.mark.parametrize("com", [(0, 0, 0), (0.05, 0.02, -0.03)])
@pytest.mark.parametrize(("rate", "dt", "tolerance"), [(10, 1e-3, 1e-5), (60, 1e-3, 5e-4), (200, 1e-3, 5e-3),
                                                      (200, 5e-3, 0.5)])  # fmt: skip
def test_an_uneven_body_spins_for_a_minute(rate: float, dt: float, tolerance: float, com) -> None:
    """In the default step, about no axis in particular; its centre of mass goes straight on."""
    builder = RobotBuilder("body").gravity(0, 0, 0).body("body", 2, com, (0.02, 0.001, 0, 0.05, 0.002, 0.06))
    robot = builder.build(base="free")
    w = rate * np.array([0.3, 1, 0.2]) / math.sqrt(1.13)
    sim = started(pliant.Simulation(robot, dt=dt), v=[0.5, 0, 0, *w])
    seen = sim.rollout(periods=round(60 / dt), channels=("q", "v"))
    M = pliant.mass_matrix(robot, robot.neutral())
    energy = np.einsum("td,de,te->t", seen.v, M, seen.v) / 2
    start = sim.v @ M @ sim.v / 2
    np.testing.assert_allclose(energy, start, rtol=tolerance)
    assert energy.max() < 1.01 * start
    places = seen.q[:, :3] + Rotation.from_quat(seen.q[:, 3:]).apply(com)
    straight = np.array(com) + np.outer(dt * np.arange(1, len(places) + 1), np.array([0.5, 0, 0]) + np.cross(w, com))
    # rounding of 60,000 steps at 12 m/s
    np.testing.assert_allclose(places, straight, rtol=0, atol=1e-8)


@pytest.mark.parametrize("place", [0.0, 1e3, -1e5])
def test_single_precision_moves_far_from_the_origin(place: float) -> None:
    """At 0.3 m/s and 1 ms, 0.3 mm a step, where float32 has steps of 60 um and of 8 mm."""
    sim = pliant.Simulation(spinning((0.3, 0.3, 0.3)), precision="float32")
    ran(sim, 10.0, [place, 0, 0, 0, 0, 0, 1], [0.3, -0.2, 0, 0, 0, 0], channels=())
    # 10,000 roundings of a step of 0.3 mm, and that of the place itself
    assert float(sim.q[0]) - place == pytest.approx(3, abs=1e-5 + float(np.spacing(np.float32(abs(place)))))
    assert sim.q[1] == pytest.approx(-2, abs=1e-5)


def test_free_fall() -> None:
    """v(t) = g t exactly; the semi-implicit fall g t (t + dt) / 2 is the sum of its steps, the others are exact."""
    for integrator, fall in (("semi-implicit", 0.5 * G * (1 + 1e-3)), ("rk4", 0.5 * G), ("midpoint", 0.5 * G)):
        sim = pliant.Simulation(sliding(), dt=1e-3, integrator=integrator)
        sim.run(1.0, channels=())
        assert sim.v[0] == pytest.approx(-G, rel=1e-12), integrator
        assert sim.q[0] == pytest.approx(-fall, rel=1e-11), integrator


# ---- springs


def test_frequency_of_a_joint_spring() -> None:
    """x = cos(w t), w = sqrt(k / I): order two for the semi-implicit step, dt^4 for rk4."""
    k, inertia = 40.0, 0.4
    w = math.sqrt(k / inertia)
    robot = turning(inertia=inertia, stiffness=k, rest=0.2)
    half = [(n + 0.5) * math.pi / w for n in range(3)]

    def errors(integrator: str, dt: float) -> float:
        sim, log = ran(pliant.Simulation(robot, dt=dt, integrator=integrator), 1.0, [0.2 + 0.1])
        t, q = crossings(log, 0.2)[:3], sim.q[0]
        assert np.asarray(t) == pytest.approx(half, rel=1e-9 if integrator == "rk4" else (w * dt) ** 2)
        return abs(q - 0.2 - 0.1 * math.cos(w))

    assert errors("rk4", 1e-3) < 1e-8
    second_order = [errors("semi-implicit", dt) for dt in (4e-4, 2e-4, 1e-4)]
    assert slopes(second_order) == pytest.approx([2, 2], abs=0.1)


def test_a_spring_that_the_step_resolves_does_not_die_out() -> None:
    """After 100 s of a swing at w dt = 0.05 the semi-implicit step has the amplitude that it began with; a spring at
    w dt = 30 is still within a few steps."""
    robot = turning(inertia=0.4, stiffness=0.4 * 50**2)
    sim, _ = ran(pliant.Simulation(robot, dt=1e-3), 99.0, [0.1], channels=())
    # det of the map is 1 - (w dt)^2 (1 - r), r = 1 / (1 + (w dt)^4): amplitude falls by (w dt)^6 / 2 a step, 8e-9
    assert sim.run(1.0, channels=("q",)).q.max() == pytest.approx(0.1, rel=2e-3)
    stiff = started(pliant.Simulation(turning(inertia=0.4, stiffness=0.4 * 30e3**2), dt=1e-3), q=[0.1])
    assert abs(stiff.run(0.02, channels=("q",)).q[-1, 0]) < 1e-12


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dormand-prince", "semi-implicit"])
def test_decay_by_a_joint_damper(integrator: str) -> None:
    """v = v0 exp(-d t / I)."""
    sim = pliant.Simulation(turning(inertia=0.5, damping=1.5), dt=1e-3, integrator=integrator, rtol=1e-10)
    ran(sim, 1.0, v=[2.0], channels=())
    # the implicit damper of the semi-implicit step gives 1 / (1 + x)^n, an error of x t d / (2 I)
    order = {"semi-implicit": 5e-3, "midpoint": 3e-6}.get(integrator, 1e-9)
    assert sim.v[0] == pytest.approx(2 * math.exp(-3), rel=order)
    if integrator == "semi-implicit":
        assert sim.v[0] == pytest.approx(2 / (1 + 3e-3) ** 1000, rel=1e-11)


def test_springs_between_frames() -> None:
    """Two masses on a line: the stretch swings with sqrt(k (1/m1 + 1/m2)), and their centre does not move."""
    builder = RobotBuilder("two masses").gravity(0, 0, 0)
    for name, mass in (("a", 1), ("b", 3)):
        builder.body(name, mass)
        builder.joint(f"slide {name}", "prismatic", "world", name, axis=(1, 0, 0))
    robot = builder.build().with_spring("a", "b", stiffness=75, length=0.5)
    _, log = ran(pliant.Simulation(robot, dt=1e-3, integrator="rk4"), 2.0, [0, 0.6])
    q = log.q
    w = math.sqrt(75 * (1 + 1 / 3))
    np.testing.assert_allclose(q[:, 1] - q[:, 0], 0.5 + 0.1 * np.cos(w * log.t), atol=1e-7)  # (w dt)^4 t
    np.testing.assert_allclose(q @ [1, 3], 1.8, atol=1e-12)
    assert log["energy.elastic"][0] == pytest.approx(0.5 * 75 * 0.01)
    np.testing.assert_allclose(log["energy.elastic"] + log["energy.kinetic"], 0.375, rtol=1e-6)


def test_a_damped_spring_to_the_world() -> None:
    """It hangs at m g / k in the end, and swings with sqrt(k/m - (d/2m)^2) on the way, in every direction alike."""
    k, d, m = 100.0, 1.0, 2.0
    robot = sliding(mass=m).with_spring("world", "mass", stiffness=k, damping=d, length=0)
    _, log = ran(pliant.Simulation(robot, dt=1e-3, integrator="rk4"), 3.0, [-0.5])
    z, t = log.q[:, 0], log.t
    rest, s = -m * G / k, d / (2 * m)
    w = math.sqrt(k / m - s * s)
    x0 = -0.5 - rest
    expected = rest + np.exp(-s * t) * x0 * (np.cos(w * t) + s / w * np.sin(w * t))
    below = z < -1e-2  # it may not pass the end of the spring, where the direction flips
    assert below.all() or expected.max() > -1e-2
    np.testing.assert_allclose(z[expected < -1e-2], expected[expected < -1e-2], atol=1e-8)


# ---- motion without contact against Pinocchio's and MuJoCo's accelerations, to the order of each integrator


SECONDS = 0.4


def fixed_robots() -> dict[str, Robot]:
    arm = pliant.load("arm7")
    for joint in arm.motors:
        # rotors slow down the light wrist; Pinocchio knows no damping in its ABA
        arm = arm.with_joint(joint, armature=0.1, damping=0)
    random = robot_of(
        ("spherical", "planar", "revolute", "free", "prismatic"), (-1, 0, 1, -1, 3), np.random.default_rng(8)
    )
    return {"arm": arm, "quadruped": pliant.load("quadruped", base="free"), "random": random}


ROBOTS = fixed_robots()


def start(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q = robot.integrate(robot.neutral(), rng.uniform(-0.5, 0.5, robot.nv))
    return q, rng.normal(0, 1, robot.nv)


def coordinate_rate(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dq/dt: quaternions turn with q (w, 0) / 2, and places of free joints move in the axes of the child."""
    found = np.empty(robot.nq)
    for joint in robot.joints.values():
        if joint.kind.nv == 0:
            continue
        a, b = robot.q_slice(joint.name), robot.v_slice(joint.name)
        x, w = q[a], v[b]
        if joint.kind.name == "planar":
            found[a] = [x[2] * w[0] - x[3] * w[1], x[3] * w[0] + x[2] * w[1], -x[3] * w[2], x[2] * w[2]]
        elif joint.kind.name in ("spherical", "free"):
            quaternion = pin.Quaternion(*np.roll(x[-4:], 1))
            turned = 0.5 * (quaternion * pin.Quaternion(0.0, *w[-3:])).coeffs()
            place = quaternion.normalized().matrix() @ w[:3] if joint.kind.name == "free" else []
            found[a] = [*place, *turned]
        else:
            found[a] = w
    return found


def reference(robot: Robot, q: np.ndarray, v: np.ndarray, steps: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Pinocchio's ABA integrated by RK4 in plain coordinates, with steps of 0.4 ms: errors below 1e-9."""
    model = pinocchio_model(robot.lumped())
    data, zero = model.createData(), np.zeros(robot.nv)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[: robot.nq], y[robot.nq :]
        return np.concatenate([coordinate_rate(robot, q, v), pin.aba(model, data, q, v, zero)])

    y = by_rk4(rate, np.concatenate([q, v]), SECONDS, steps)
    return y[: robot.nq], y[robot.nq :]


@pytest.fixture(scope="module")
def references() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {name: reference(robot, *start(robot)) for name, robot in ROBOTS.items()}


def error(robot: Robot, expected: tuple[np.ndarray, np.ndarray], **options) -> float:
    sim = started(pliant.Simulation(robot, limits=False, **options), *start(robot))
    for _ in range(round(SECONDS / sim.dt)):
        sim.step()
    return max(np.abs(robot.difference(sim.q, expected[0])).max(), np.abs(sim.v - expected[1]).max())


# steps for which the error is that of the order, and above the reference's 1e-9
@pytest.mark.parametrize("integrator, order, steps", [
    ("semi-implicit", 1, (5e-4, 2.5e-4)), ("midpoint", 2, (2e-3, 1e-3)), ("rk4", 4, (5e-3, 2.5e-3)),
])  # fmt: skip
@pytest.mark.parametrize("name", ROBOTS)
def test_order_of_convergence_to_pinocchio(name: str, integrator: str, order: int, steps, references) -> None:
    errors = [error(ROBOTS[name], references[name], dt=dt, integrator=integrator) for dt in steps]
    assert slopes(errors) == pytest.approx([order], abs=0.35), errors
    assert errors[-1] < {1: 2e-2, 2: 1e-3, 4: 1e-5}[order]


@pytest.mark.parametrize("name", ROBOTS)
def test_dormand_prince_keeps_its_tolerance(name: str, references) -> None:
    """Local errors of rtol grow with the motion: a hundred times at most over 0.4 s."""
    found = error(ROBOTS[name], references[name], dt=1e-2, integrator="dormand-prince", rtol=1e-8, atol=1e-8)
    assert found < 1e-6


# ---- MuJoCo

TREE = """
<mujoco>
  <option timestep="1e-4" integrator="RK4"><flag contact="disable"/></option>
  <compiler inertiafromgeom="false"/>
  <worldbody>
    <body name="base" pos="0 0 1"><freejoint/>
      <inertial pos="0.05 0 0.1" mass="3" diaginertia="0.05 0.07 0.04"/>
      <body name="upper" pos="0.2 0 0"><joint name="ball" type="ball"/>
        <inertial pos="0 0 -0.2" mass="1" diaginertia="0.02 0.02 0.002"/>
        <body name="lower" pos="0 0 -0.4"><joint name="hinge" type="hinge" axis="0 1 0" damping="0.05" armature="0.01"/>
          <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.01 0.01 0.001"/>
        </body>
      </body>
      <body name="slider" pos="-0.2 0.1 0">
        <joint name="slide" type="slide" axis="1 0 0" stiffness="40" springref="0.1"/>
        <inertial pos="0 0 0" mass="0.7" diaginertia="0.01 0.01 0.01"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def tree() -> Robot:
    """The same robot."""
    builder = pliant.RobotBuilder("tree")
    builder.body("base", 3, (0.05, 0, 0.1), (0.05, 0, 0, 0.07, 0, 0.04))
    builder.body("upper", 1, (0, 0, -0.2), (0.02, 0, 0, 0.02, 0, 0.002))
    builder.body("lower", 0.5, (0, 0, -0.2), (0.01, 0, 0, 0.01, 0, 0.001))
    builder.body("slider", 0.7, (0, 0, 0), (0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("ball", "spherical", "base", "upper", (0.2, 0, 0))
    builder.joint("hinge", "revolute", "upper", "lower", (0, 0, -0.4), axis=(0, 1, 0), damping=0.05, armature=0.01)
    builder.joint("slide", "prismatic", "base", "slider", (-0.2, 0.1, 0), axis=(1, 0, 0), stiffness=40, rest=0.1)
    return builder.build(base="free")


def test_a_tree_moves_as_in_mujoco() -> None:
    """Free, ball, hinge and slide joints, with a damper, a spring and a rotor: 0.5 s of a wild tumble.

    MuJoCo integrates the same equations with RK4 at 0.1 ms; its free joint has its velocity in the world's
    axes, and its quaternions have w first.
    """
    robot = tree()
    model = mujoco.MjModel.from_xml_string(TREE)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(6)
    v = rng.normal(0, 2, robot.nv)
    q = robot.integrate(robot.neutral(), rng.uniform(-1, 1, robot.nv))

    def swapped(x: np.ndarray, shift: int) -> np.ndarray:
        x = x.copy()
        for start in (3, 7):
            x[start : start + 4] = np.roll(x[start : start + 4], shift)
        return x

    def base(q: np.ndarray) -> np.ndarray:
        return pin.Quaternion(*np.roll(q[3:7], 1)).matrix()

    data.qpos[:] = swapped(q, 1)
    data.qvel[:] = [*(base(q) @ v[:3]), *v[3:]]
    for _ in range(5000):
        mujoco.mj_step(model, data)
    q1 = swapped(np.array(data.qpos), -1)
    v1 = np.array([*(base(q1).T @ data.qvel[:3]), *data.qvel[3:]])
    for integrator, dt, tolerance in (("rk4", 1e-3, 1e-7), ("dormand-prince", 1e-2, 1e-7), ("midpoint", 1e-3, 1e-3)):
        sim = started(pliant.Simulation(robot, dt=dt, integrator=integrator, rtol=1e-10, atol=1e-11), q=q, v=v)
        for _ in range(round(0.5 / dt)):
            sim.step()
        assert np.abs(robot.difference(sim.q, q1)).max() < tolerance, integrator
        assert np.abs(sim.v - v1).max() < 20 * tolerance, integrator
    assert math.isclose(data.time, 0.5, rel_tol=1e-9)
