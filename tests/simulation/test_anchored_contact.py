"""Springs anchored at touch-down: rest on slopes, slip at the cone, oscillation, hysteresis, rolling, and lift-off."""

import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import pliant
from moving_robots import slopes
from pliant import AnchoredSpringDamper, CompliantContact
from pliant.contact.constraint_rows import tangents_of
from pliant.contact.memory import Axes, Memory
from pliant.dynamics import frame_pose
from pliant.errors import PliantError, SimulationWarning
from pliant.robot import Robot, RobotBuilder
from pliant.spatial import Vector
from simple_bodies import G, ball, point_mass
from simple_bodies import box as box_robot

POINT = point_mass()
INTEGRATORS = ("semi-implicit", "rk4", "midpoint", "dormand-prince")
TILT = math.radians(10)


def simulated(law, robot=POINT, **options) -> pliant.Simulation:
    given = {"dt": 1e-3, "ground": pliant.flat(), "contact": CompliantContact(law), **options}
    return pliant.Simulation(robot, **given)


# ---- at rest


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_block_on_a_slope_does_not_creep(precision: str) -> None:
    """It rests where the springs carry it, m g sin a / (4 K) down the slope, and stays there for 60 s."""
    mass, K, k = 2.0, 2e4, 5e4
    law = AnchoredSpringDamper(k, 400, friction=0.3, tangential_stiffness=K, tangential_damping=300)
    ground = pliant.slope(TILT)
    sim = simulated(law, box_robot(mass), ground=ground, precision=precision)
    along, normal = np.array([math.cos(TILT), 0, math.sin(TILT)]), np.array([-math.sin(TILT), 0, math.cos(TILT)])
    start = np.array([*(0.05 * normal), 0, -math.sin(TILT / 2), 0, math.cos(TILT / 2)])
    sim.reset(q=start)
    sim.run(2.0)
    rested = sim.q.astype(float)
    stretch = -sim.state.part("contact memory").reshape(4, 6)[:, :3].astype(float) @ along
    # the corners lower down carry more and the box turns about its edges; their mean is what carries the weight
    rounding = 1e-12 if precision == "float64" else 2e-7
    assert stretch.mean() == pytest.approx(mass * G * math.sin(TILT) / (4 * K), abs=rounding)
    forces = sim.contact_forces.astype(float).sum(axis=0)
    np.testing.assert_allclose(forces, [0, 0, mass * G], atol=1e-9 if precision == "float64" else 1e-3)
    sim.run(60.0)
    moved = sim.q[:3] - rested[:3]
    # float32 turns no less than 6e-8 rad at a time, so that it hangs a little beside its rest
    assert abs(moved).max() < (1e-13 if precision == "float64" else 3e-5)
    assert sim.diagnostics.is_converged


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_point_hangs_at_its_anchor(integrator: str) -> None:
    """Displacement m g sin a / K along the slope, m g cos a / k into it, in any direction of the slope."""
    K, k = 2e3, 5e3
    law = AnchoredSpringDamper(k, 60, friction=0.3, tangential_stiffness=K, tangential_damping=50)
    for direction in (0, 0.7, 2.5, 4.0):
        sim = simulated(law, ground=pliant.slope(TILT, direction=direction), integrator=integrator)
        up = np.array([math.cos(TILT) * math.cos(direction), math.cos(TILT) * math.sin(direction), math.sin(TILT)])
        normal = np.array(
            [-math.sin(TILT) * math.cos(direction), -math.sin(TILT) * math.sin(direction), math.cos(TILT)]
        )
        # pressed in far enough to hold from the beginning
        sim.reset(q=-normal * G * math.cos(TILT) / k)
        sim.run(4.0)
        assert up @ sim.q == pytest.approx(-G * math.sin(TILT) / K, rel=1e-6)
        assert normal @ sim.q == pytest.approx(-G * math.cos(TILT) / k, rel=1e-6)
        assert abs(sim.v).max() < 1e-8


@pytest.mark.parametrize("direction", [0, 0.7, 2.5, 4.0])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_it_slips_at_mu(direction: float, precision: str) -> None:
    """Just above tan a it stays; just below, it slides with g (sin a - mu cos a). One of each in a batch."""
    law = AnchoredSpringDamper(1e4, 80)
    sim = simulated(
        law, ground=pliant.slope(TILT, direction=direction), batch=2, varying=["law.friction"], precision=precision
    )
    mu = math.tan(TILT) * np.array([1.01, 0.99])
    sim.parameters["law.friction"] = mu
    sim.reset(q=[0, 0, -G / 1e4])
    sim.run(1.5)
    before = sim.v.astype(float)
    sim.run(1.0)
    change = np.linalg.norm(sim.v - before, axis=1)
    tolerance = 1e-12 if precision == "float64" else 1e-5
    assert np.linalg.norm(sim.v[0]) < tolerance
    assert change[1] == pytest.approx(G * (math.sin(TILT) - mu[1] * math.cos(TILT)), abs=tolerance)


# ---- in motion


def oscillation(integrator: str, dt: float, t: float = 0.4) -> float:
    """Error of a mass that swings about its anchor, along both tangents."""
    K, D = 1e3, 4.0
    law = AnchoredSpringDamper(1e4, 50, 2.0, K, D)
    decay, w = D / 2, math.sqrt(K - (D / 2) ** 2)
    sim = simulated(law, integrator=integrator, dt=dt, rtol=1e-10, atol=1e-13)
    sim.reset(q=[0, 0, -G / 1e4], v=[0.1, 0.05, 0])
    sim.run(t)
    exact = 0.1 / w * math.exp(-decay * t) * math.sin(w * t)
    return math.hypot(sim.q[0] - exact, sim.q[1] - exact / 2)


@pytest.mark.parametrize(("integrator", "order"), [("rk4", 4), ("midpoint", 2), ("semi-implicit", 1)])
def test_orders_of_integrators_while_it_sticks(integrator: str, order: int) -> None:
    """Against exp(-D t / 2m) sin(w t), w^2 = K / m - (D / 2m)^2."""
    errors = [oscillation(integrator, dt) for dt in (2e-3, 1e-3, 5e-4)]
    assert slopes(errors) == pytest.approx([order, order], abs=0.15), errors


def test_the_adaptive_integrator_keeps_its_tolerance() -> None:
    assert oscillation("dormand-prince", 1e-3) < 1e-9


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_hysteresis_of_a_spring_and_a_slider(integrator: str) -> None:
    """Pushed out and back slowly: the loop of an elasto-plastic element, of area 4 mu N (A - mu N / K)."""
    mu, K, k, mass, amplitude, w = 0.5, 2e3, 1e4, 1.0, 0.02, 2.0
    law = AnchoredSpringDamper(k, 300, mu, K, 0)
    # a stiff motor takes the point along a sine
    robot = POINT.with_motor("x", control="position", kp=1e6, kd=2e3)
    controller = pliant.Controller(lambda t, q, v: [amplitude * pliant.math.sin(w * t)])
    sim = simulated(law, robot, integrator=integrator, controller=controller, dt=2e-4)
    sim.reset(q=[0, 0, -mass * G / k])
    period = 2 * math.pi / w
    sim.run(period)  # on its first way out, it begins at the anchor
    log = sim.run(period, channels=("q", "v", "forces"))
    x, f = log.q[:, 0], log["forces"][:, 0]
    limit = mu * mass * G
    area = -(f[1:] * np.diff(x)).sum()
    # the sum takes forces at the ends of steps; inertia and the motor's lag do not change the loop
    assert area == pytest.approx(4 * limit * (amplitude - limit / K), rel=2e-3)
    assert abs(f).max() == pytest.approx(limit, rel=1e-6)


def test_friction_at_the_cone_is_the_same_in_all_directions() -> None:
    """A point thrown along the ground stops after v^2 / (2 mu g), and less by what the springs do."""
    law = AnchoredSpringDamper(1e5, 500, 0.4)
    batch = 8
    sim = simulated(law, batch=batch)
    angles = np.arange(batch) * 2 * math.pi / batch + 0.1
    sim.reset(q=[0, 0, -G / 1e5], v=np.column_stack([np.cos(angles), np.sin(angles), np.zeros(batch)]))
    sim.run(0.6)
    way = np.linalg.norm(sim.q[:, :2], axis=1)
    np.testing.assert_allclose(way, 1 / (2 * 0.4 * G), rtol=5e-3)  # half a step of 1 ms and a stretch of 40 um
    np.testing.assert_allclose(np.arctan2(sim.q[:, 1], sim.q[:, 0]) % (2 * math.pi), angles, atol=1e-6)
    np.testing.assert_allclose(sim.v, 0, atol=1e-9)


def test_lift_off_forgets_the_anchor() -> None:
    """Stretched, lifted, moved and put down elsewhere: nothing pulls it back."""
    law = AnchoredSpringDamper(1e4, 50, 1.0)
    for integrator in INTEGRATORS:
        sim = simulated(law, integrator=integrator)
        sim.reset(q=[0, 0, -G / 1e4], v=[0.02, 0, 0])
        sim.run(0.02)
        assert abs(sim.state.part("contact memory")[0]) > 1e-5
        state = sim.state
        state.v[:] = [0, 0, 0.5]  # jumps straight up, and comes down after 0.1 s
        sim.state = state
        sim.run(0.05)
        assert (sim.state.part("contact memory") == 0).all()
        x = sim.q[0]
        sim.run(0.5)
        # it goes on with the push that the spring gave it at lift-off, and is held where it lands
        assert sim.diagnostics.is_active.all()
        assert abs(sim.q[0] - x) < 0.01 * 0.1


def test_touch_down_elsewhere_has_no_pull() -> None:
    """A point that lands straight down at a new place stays there."""
    law = AnchoredSpringDamper(1e4, 100, 1.0)
    sim = simulated(law)
    sim.reset(q=[0, 0, -G / 1e4], v=[0.02, 0, 0])
    sim.run(0.02)
    state = sim.state
    state.q[:], state.v[:] = [0.5, 0.3, 0.01], [0, 0, 0]
    sim.state = state
    sim.run(1.0)
    np.testing.assert_allclose(sim.q, [0.5, 0.3, -G / 1e4], atol=1e-12)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_ball_rolls_on_and_does_not_creep(precision: str) -> None:
    """Thrown without spin it ends with 5/7 of its speed, and rolls so for ten seconds; at rest it stays."""
    law = AnchoredSpringDamper(1e5, 300, 0.5)
    sim = simulated(law, ball(), batch=2, precision=precision)
    height = 0.1 - G / 1e5
    sim.reset(q=[0, 0, height, 0, 0, 0, 1], v=[[2, 0.5, 0, 0, 0, 0], [0] * 6])
    sim.run(2.0)
    before = sim.q.astype(float)
    sim.run(10.0)
    moved = sim.q - before
    tolerance = 1e-9 if precision == "float64" else 1e-3
    # the spring takes a part while the ball begins to roll; the spin has none of that: w r = 5/7 v
    speed = np.linalg.norm(sim.v[0, 3:]) * 0.1
    assert speed == pytest.approx(5 / 7 * math.hypot(2, 0.5), rel=2e-4)
    np.testing.assert_allclose(moved[0, :2] / 10, np.array([2, 0.5]) * speed / math.hypot(2, 0.5), rtol=tolerance * 10)
    np.testing.assert_allclose(moved[1, :2], 0, atol=1e-12)


def test_a_ball_rests_in_a_bowl() -> None:
    """On curved ground the stretch turns with the tangents: what hangs at the side stays at the side."""
    bowl = pliant.Ground(lambda x, y: (x * x + y * y) / 2, "bowl")
    law = AnchoredSpringDamper(1e4, 100, 0.8)
    sim = simulated(law, ground=bowl)
    sim.reset(q=[0.3, 0.2, 0.0645])
    sim.run(2.0)
    before = sim.q
    sim.run(10.0)
    np.testing.assert_allclose(sim.q, before, atol=1e-12)
    np.testing.assert_allclose(sim.contact_forces[0], [0, 0, G], atol=1e-9)


def two_balls() -> Robot:
    """Two balls of 0.1 m without gravity, which a slanted spring presses together.

    The spring goes through the point of contact, so that it holds each ball in balance with the force there alone.
    """
    builder = RobotBuilder("two").gravity(0, 0, 0)
    for name in "ab":
        builder.body(name, 1.0, (0, 0, 0), (4e-3, 0, 0, 4e-3, 0, 4e-3))
        builder.joint(f"float {name}", "free", "world", name)
    builder.frame("end a", "a", (0, 0.03, 0.02)).frame("end b", "b", (0, -0.03, -0.02))
    robot = builder.build().with_contacts("a", "b", radius=0.1).with_contact_pair("a", "b")
    return robot.with_spring("end a", "end b", stiffness=2e3, damping=20, length=0.15)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_the_anchor_turns_with_what_is_touched(integrator: str) -> None:
    """The contact carries the shear of the spring, at rest and while both go round as one."""
    robot, k = two_balls(), 1e4
    sim = simulated(AnchoredSpringDamper(k, 50, 1.0), robot, ground=None, dt=5e-4, integrator=integrator)
    sim.reset(q=[0.0975, 0, 0, 0, 0, 0, 1, -0.0975, 0, 0, 0, 0, 0, 1])
    # the balance is one of a ball on a ball: after 2 s, rounding has grown and they roll
    sim.run(0.5)
    q, stretch = sim.q, sim.state.part("contact memory")[:3].copy()
    force, between = sim.contact_forces[0], q[:3] - q[7:10]
    across = np.linalg.norm(np.cross(between, force)) / np.linalg.norm(between)
    assert across > 0.3 * np.linalg.norm(force)
    assert k * np.linalg.norm(stretch) == pytest.approx(across, rel=1e-5)
    # as one body about the axis z, by two radians
    state, w = sim.state, 4.0
    for i, name in enumerate("ab"):
        pose = np.array(frame_pose(robot, state.q, name))
        R, p = pose[:3, :3], pose[:3, 3]
        state.v[6 * i : 6 * i + 6] = [*(R.T @ np.cross([0, 0, w], p)), *(R.T @ [0, 0, w])]
    sim.state = state
    sim.run(0.5)
    # in the axes of the ball that is touched it stays; the spring gives by m r w^2 / 2 of 100 N and more
    turned = sim.state.part("contact memory")[:3]
    np.testing.assert_allclose(turned, stretch, atol=0.03 * float(np.linalg.norm(stretch)))


def test_a_stretch_goes_with_a_ball_that_rolls() -> None:
    """Round a bowl on a circle, it stays across the normal, keeps its length, and is carried parallel to itself."""
    form = Memory(((0, 0),))
    normals = [Vector(0.6 * math.cos(t), 0.6 * math.sin(t), 0.8) for t in np.linspace(0, 2 * math.pi, 2001)]
    stored = form.write([1e-3, 0], Axes(*tangents_of(normals[0]), normals[0]))
    for normal in normals[1:]:
        axes = Axes(*tangents_of(normal), normal)
        stored = form.write(form.read(stored, axes), axes)
    found = form.read(stored, Axes(*tangents_of(normals[0]), normals[0]))
    assert math.hypot(*found) == pytest.approx(1e-3, rel=1e-12)
    # carried round a circle of the sphere, a vector turns by the solid angle inside it, 2 pi (1 - cos)
    assert abs(math.atan2(found[1], found[0])) == pytest.approx(2 * math.pi * (1 - 0.8), rel=1e-4)


# ---- robots, batches, states


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_quadruped_stands_still(precision: str) -> None:
    """With its motors in position control, on level ground and on slopes of any direction; each with its own law."""
    robot = pliant.load("quadruped", base="free").with_motors(control="position", kp=150, kd=4)
    q = robot.on_ground(robot.stance())
    varying = ["law.stiffness", "law.damping", "law.friction"]
    sim = simulated(
        AnchoredSpringDamper(5e4, 500), robot, ground=pliant.slope(0.1, direction=0.5), batch=3, varying=varying,
        precision=precision,
    )  # fmt: skip
    for name, values in zip(varying, ([2e4, 5e4, 2e5], [200, 500, 900], [0.5, 0.7, 1.0]), strict=True):
        sim.parameters[name] = values
    sim.reset(q=q + np.eye(robot.nq)[2] * 0.02)
    u = np.asarray(q[7:], precision)
    sim.run(8.0, u=u)
    before = sim.q
    sim.run(2.0, u=u)
    assert sim.diagnostics.is_converged.all()
    # float32 angles have steps of 6e-8, and gains of 150 N m/rad on light legs answer to each
    assert abs(sim.v).max() < (1e-9 if precision == "float64" else 1e-3)
    assert abs(sim.q - before).max() < (1e-9 if precision == "float64" else 1e-4)


def test_numbers_along_the_ground_vary_too() -> None:
    """Each with its own K; a number that the law does not have cannot vary."""
    law = AnchoredSpringDamper(1e4, 50, 2.0, tangential_stiffness=1e3, tangential_damping=20)
    robot = POINT.with_motor("x")
    sim = simulated(law, robot, batch=3, varying=["law.tangential_stiffness"])
    sim.parameters["law.tangential_stiffness"] = [1e3, 2e3, 4e3]
    sim.reset(q=[0, 0, -G / 1e4])
    sim.run(3.0, u=[8.0])
    np.testing.assert_allclose(sim.q[:, 0], 8 / np.array([1e3, 2e3, 4e3]), rtol=1e-9)
    with pytest.raises(PliantError, match="above 0"):
        sim.parameters["law.tangential_stiffness"] = [1e3, 0, 4e3]
    with pytest.raises(PliantError, match=r"is None in AnchoredSpringDamper.* give the law a number"):
        simulated(AnchoredSpringDamper(1e4, 50), varying=["law.tangential_damping"])


def test_robots_of_a_batch_are_those_alone() -> None:
    """Each robot has its own memory: bit for bit that of a simulation of one, also in a mixed batch."""
    law = AnchoredSpringDamper(1e4, 80, 0.3)
    v = np.random.default_rng(0).normal(size=(5, 3)) * 0.3
    many = simulated(law, batch=5)
    many.reset(q=[0, 0, 0.01], v=v)
    many.run(0.5)
    for k in range(5):
        one = simulated(law)
        one.reset(q=[0, 0, 0.01], v=v[k])
        one.run(0.5)
        np.testing.assert_array_equal(many.state.robot(k).data, one.state.data)


def test_the_memory_is_part_of_the_state() -> None:
    """Snapshots, pickles, branches and rollouts go on bit for bit; reset begins again; a layout says its size."""
    law = AnchoredSpringDamper(1e4, 20, 0.8)
    sim = simulated(law)
    sim.reset(q=[0, 0, -G / 1e4], v=[0.1, 0.02, 0])
    sim.run(0.05)
    assert sim.layout.sizes["contact memory"] == 6  # the stretch and the normal
    before = pickle.loads(pickle.dumps(sim.state))
    assert abs(before.part("contact memory")[:2]).min() > 0
    sim.run(0.2)
    after = sim.state
    sim.state = before
    sim.run(0.2)
    assert sim.state.identical(after)
    branches = sim.rollout(before.repeated(3), np.zeros((3, 200, 0)))
    np.testing.assert_array_equal(branches.q[:, -1], np.tile(after.q, (3, 1)))
    sim.reset()
    assert (sim.state.part("contact memory") == 0).all()


def test_the_memory_in_logs_and_files(tmp_path: Path) -> None:
    """Channel "contact_memory", by contact and entry; the law by its name and numbers, from a file, too."""
    sim = simulated(AnchoredSpringDamper(1e4, 20, 2.0), batch=2)
    sim.reset(q=[0, 0, -G / 1e4], v=[0.1, 0.02, 0])
    log = sim.run(0.05, channels=("q", "contact_memory"), save=tmp_path / "run.h5")
    np.testing.assert_array_equal(log["contact_memory"][:, -1], sim.state.part("contact memory"))
    np.testing.assert_allclose(log["contact_memory", "point.0.x"], log["q", "x"], rtol=1e-9, atol=1e-15)
    back = pliant.load_log(tmp_path / "run.h5")
    np.testing.assert_array_equal(back["contact_memory"], log["contact_memory"])
    assert back.source is not None
    law = back.source.settings["contact"]["law"]
    assert (law["kind"], law["stiffness"], law["tangential_stiffness"]) == ("AnchoredSpringDamper", 1e4, None)


def test_a_frozen_robot_keeps_its_memory() -> None:
    robot = POINT.with_motor("x")
    sim = simulated(AnchoredSpringDamper(1e4, 20, 0.8), robot, batch=2)
    sim.reset(q=[0, 0, -G / 1e4], v=[0.1, 0, 0])
    sim.run(0.03)
    before = sim.state.part("contact memory").copy()
    with pytest.warns(SimulationWarning):
        sim.step(np.array([[np.inf], [0.0]]))
    after = sim.state.part("contact memory")
    np.testing.assert_array_equal(after[0], before[0])
    assert (after[1] != before[1]).any()


@pytest.mark.parametrize("damping", [0.0, 200.0])
def test_contact_takes_energy_only(damping: float) -> None:
    """Kinetic, potential and elastic energy of all springs never grow, through landings, sticking and sliding."""
    k, mu = 2e4, 0.6
    law = AnchoredSpringDamper(k, damping, mu)
    sim = simulated(law, batch=20)
    rng = np.random.default_rng(3)
    sim.reset(q=[0, 0, 0.05], v=rng.normal(size=(20, 3)))
    energies = []
    for _ in range(800):
        q, v = sim.q, sim.v
        stretch = sim.state.part("contact memory")[:, :3]
        springs = k / 2 * (np.maximum(-q[:, 2], 0) ** 2 + (stretch**2).sum(axis=1))
        energies.append((v**2).sum(axis=1) / 2 + G * q[:, 2] + springs)
        sim.step()
    # the fall itself gains m g^2 dt^2 / 2 a step, as any semi-implicit step
    rise = np.diff(energies, axis=0).max()
    assert rise < 1e-3 * G * G * 1e-3 + 1e-9
