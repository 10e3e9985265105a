"""Accurate integrators with loops, locked joints and contacts that stick, next to independent motions."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import pliant
from planar_bodies import Rod, Row, offset, pin, solution
from pliant.errors import SimulationError, SimulationWarning
from pliant.robot import Prismatic, Revolute, Robot, RobotBuilder

ORDERS = {"euler": 1, "midpoint": 2, "rk4": 4, "dormand-prince": 5, "rosenbrock": 5}
EVERY = list(ORDERS)
Y = (0, 1, 0)


def rods(name: str, bars: dict[str, tuple[str, float, tuple[float, float, float], float]]) -> Robot:
    """Rods in the plane of x and z, each hinged at its start: its parent, where there, its length and mass."""
    builder = RobotBuilder(name).gravity(0, 0, -9.81).body("ground", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    for bar, (_, length, _, mass) in bars.items():
        inertia = mass * length**2 / 12
        builder.body(bar, mass, (length / 2, 0, 0), (1e-4, 0, 0, inertia, 0, inertia))
        builder.frame(f"{bar} end", bar, (length, 0, 0))
    for bar, (parent, _, place, _) in bars.items():
        builder.joint(f"{bar} hinge", Revolute(Y), parent, bar, place, (0, 0, 0))
    return builder.build(base="fixed")


FOUR = rods("four-bar", {"crank": ("ground", 0.3, (0, 0, 0), 1.0), "coupler": ("crank", 0.8, (0.3, 0, 0), 2.0),
                         "rocker": ("ground", 0.6, (0.9, 0, 0), 1.5)})  # fmt: skip
FOUR = FOUR.with_closure("point", "coupler end", "rocker end")
FIVE = rods("five-bar", {
    "left": ("ground", 0.4, (0, 0, 0), 1.0), "far left": ("left", 0.6, (0.4, 0, 0), 0.7),
    "right": ("ground", 0.45, (0.5, 0, 0), 1.2), "far right": ("right", 0.55, (0.45, 0, 0), 0.6),
})  # fmt: skip
FIVE = FIVE.with_closure("point", "far left end", "far right end")


def closed(robot: Robot, guess: Any, fixed: dict[int, float]) -> np.ndarray:
    """A configuration near a guess in which the ends of the only closure meet, with some coordinates fixed."""
    closure = next(iter(robot.closures.values()))
    free = [k for k in range(robot.nq) if k not in fixed]
    q = np.array(guess, float)
    q[list(fixed)] = list(fixed.values())

    def apart(x):
        q[free] = x
        a, b = (pliant.frame_pose(robot, q, frame)[[0, 2], 3] for frame in (closure.a, closure.b))
        return a - b

    q[free] = fsolve(apart, q[free], xtol=1e-13)
    return q


FOUR_Q = closed(FOUR, [0.3, -1.0, -1.2], {0: 0.3})
FIVE_Q = closed(FIVE, [-2.0, 1.2, -1.2, -1.0], {0: -2.0, 2: -1.2})


def gap(sim: pliant.Simulation) -> float:
    """How far what holds the robot is off, the largest."""
    q, anchors = (sim.state.part(part).tolist() for part in ("q", "anchors"))
    return float(np.abs(sim.model.holds.gaps(q, anchors)).max())


def run(robot: Robot, q: Any, duration: float, v: Any = None, **options: Any) -> pliant.Simulation:
    sim = pliant.Simulation(robot, **options)
    sim.reset(q=q, v=v)
    for _ in range(round(duration / sim.dt)):
        sim.step()
    return sim


def fixed_steps(integrator: str) -> dict[str, Any]:
    """Options with which an adaptive integrator takes each control period in one step."""
    return {"integrator": integrator, "rtol": 1e6, "atol": 1e6}


def bodies_of(angles: Any, starts: list[tuple[int | None, tuple[float, float]]], lengths: Any) -> np.ndarray:
    """(x, z, a) of rods whose starts are the ends of other rods, or places."""
    found: list[float] = []
    ends: list[np.ndarray] = []
    for a, (before, place), length in zip(angles, starts, lengths, strict=True):
        start = np.array(place) if before is None else ends[before]
        found += [*(start + offset(a, (length / 2, 0))), a]
        ends.append(start + offset(a, (length, 0)))
    return np.array(found)


def slim(mass: float, length: float) -> Rod:
    return Rod(mass, mass * length**2 / 12)


# ---- independent motions


def four_bar_angles(end: float) -> np.ndarray:
    """The angles of crank, coupler and rocker in the world."""
    lengths = (0.3, 0.8, 0.6)
    starts: list = [(None, (0, 0)), (0, (0, 0)), (None, (0.9, 0))]
    y = bodies_of([FOUR_Q[0], FOUR_Q[0] + FOUR_Q[1], FOUR_Q[2]], starts, lengths)
    rows = [*pin(0, (-0.15, 0)), *pin(0, (0.15, 0), 1, (-0.4, 0)), *pin(2, (-0.3, 0)), *pin(1, (0.4, 0), 2, (0.3, 0))]
    return solution([slim(1, 0.3), slim(2, 0.8), slim(1.5, 0.6)], rows, y, np.zeros(9), end)[0][2::3]


@pytest.mark.parametrize("integrator", ["dormand-prince", "rosenbrock"])
def test_a_five_bar_moves_as_an_independent_solution_says(integrator: str) -> None:
    lengths = (0.4, 0.6, 0.45, 0.55)
    q = FIVE_Q
    y = bodies_of([q[0], q[0] + q[1], q[2], q[2] + q[3]], [(None, (0, 0)), (0, (0, 0)), (None, (0.5, 0)), (2, (0, 0))],
                  lengths)  # fmt: skip
    masses = (1, 0.7, 1.2, 0.6)
    rows = [*pin(0, (-0.2, 0)), *pin(0, (0.2, 0), 1, (-0.3, 0)), *pin(2, (-0.225, 0)),
            *pin(2, (0.225, 0), 3, (-0.275, 0)), *pin(1, (0.3, 0), 3, (0.275, 0))]  # fmt: skip
    expected = solution([slim(*x) for x in zip(masses, lengths, strict=True)], rows, y, np.zeros(12), 1.0)[0][2::3]
    sim = run(FIVE, q, 1.0, dt=0.01, integrator=integrator, rtol=1e-10, atol=1e-12)
    found = [sim.q[0], sim.q[0] + sim.q[1], sim.q[2], sim.q[2] + sim.q[3]]
    assert abs(sim.q - q).max() > 0.5
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert gap(sim) < 1e-13
    assert not sim.troubles


def slider_crank() -> Robot:
    """A crank, a rod, and a slider along x that the rod's end moves."""
    builder = RobotBuilder("slider-crank").gravity(0, 0, -9.81).body("ground", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    for bar, mass, length in (("crank", 1.0, 0.2), ("rod", 1.5, 0.5)):
        inertia = mass * length**2 / 12
        builder.body(bar, mass, (length / 2, 0, 0), (1e-4, 0, 0, inertia, 0, inertia))
    builder.body("slider", 0.8, (0, 0, 0), (1e-3, 0, 0, 1e-3, 0, 1e-3)).frame("rod end", "rod", (0.5, 0, 0))
    builder.joint("turn", Revolute(Y), "ground", "crank", (0, 0, 0), (0, 0, 0))
    builder.joint("pin", Revolute(Y), "crank", "rod", (0.2, 0, 0), (0, 0, 0))
    builder.joint("slide", Prismatic((1, 0, 0)), "ground", "slider", (0, 0, 0), (0, 0, 0))
    return builder.build(base="fixed").with_closure("point", "rod end", "slider")


def test_a_slider_crank_moves_as_an_independent_solution_says() -> None:
    robot, angle = slider_crank(), 0.7
    lean = math.asin(-0.2 / 0.5 * math.sin(angle))
    x = 0.2 * math.cos(angle) + 0.5 * math.cos(lean)
    y = np.append(bodies_of([angle, lean], [(None, (0, 0)), (0, (0, 0))], (0.2, 0.5)), [x, 0, 0])
    rows = [*pin(0, (-0.1, 0)), *pin(0, (0.1, 0), 1, (-0.25, 0)), *pin(1, (0.25, 0), 2),
            Row(1, 2), Row(0, 2, k=1, lever=False)]  # fmt: skip
    # the crank turns with 6 rad/s; all else follows
    J, w = _rates(angle, lean), 6.0
    expected, rates = solution([slim(1, 0.2), slim(1.5, 0.5), Rod(0.8, 1e-3)], rows, y, J * w, 1.0)
    v = [w, J[5] * w - w, J[6] * w]
    sim = run(robot, [angle, lean - angle, x], 1.0, v, dt=0.01, integrator="dormand-prince", rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(sim.q, [expected[2], expected[5] - expected[2], expected[6]], atol=1e-9)
    np.testing.assert_allclose(sim.v, [rates[2], rates[5] - rates[2], rates[6]], atol=2e-8)
    assert gap(sim) < 1e-13


def _rates(angle: float, lean: float) -> np.ndarray:
    """Rates of (x, z, a) of crank, rod and slider for a crank at 1 rad/s."""
    turn = -0.2 * math.cos(angle) / (0.5 * math.cos(lean))
    crank = np.array([-0.1 * math.sin(angle), -0.1 * math.cos(angle), 1])
    joint = 2 * crank[:2]
    rod = [joint[0] - 0.25 * math.sin(lean) * turn, joint[1] - 0.25 * math.cos(lean) * turn, turn]
    return np.array([*crank, *rod, joint[0] - 0.5 * math.sin(lean) * turn, 0, 0])


# ---- order


STEPS = {
    "euler": (400, 800),
    "midpoint": (100, 200),
    "rk4": (25, 50),
    "dormand-prince": (20, 40),
    "rosenbrock": (20, 40),
}


@pytest.mark.parametrize("integrator", EVERY)
def test_order_with_a_loop(integrator: str) -> None:
    expected = four_bar_angles(0.4)
    errors = []
    for steps in STEPS[integrator]:
        sim = run(FOUR, FOUR_Q, 0.4, dt=0.4 / steps, **fixed_steps(integrator))
        assert gap(sim) < 1e-13
        found = np.array([sim.q[0], sim.q[0] + sim.q[1], sim.q[2]])
        errors.append(abs(found - expected).max())
    assert errors[-1] > 2e-11, "the reference is no better"
    # the next term of the error has its part at these steps
    assert math.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.35), errors


def stance(radius: float) -> Robot:
    """A trunk on a leg whose foot touches the ground, in space."""
    builder = RobotBuilder("stance").gravity(0, 0, -9.81)
    builder.body("trunk", 3, (0.3, 0, 0), (0.01, 0, 0, 0.09, 0, 0.09))
    builder.body("leg", 1, (0.2, 0, 0), (1e-3, 0, 0, 0.02, 0, 0.02))
    builder.joint("knee", Revolute(Y), "trunk", "leg", (0, 0, 0), (0, 0, 0)).frame("foot", "leg", (0.4, 0, 0))
    return builder.build(base="free").with_contact("foot", radius=radius, friction=2)


def stance_start(radius: float) -> np.ndarray:
    """The leg leans, with its foot below; the trunk is up."""
    trunk, knee = -1.3, 1.3 + 1.5
    half = trunk / 2
    return np.array([0, 0, 0.4 * math.sin(trunk + knee) + radius, 0, math.sin(half), 0, math.cos(half), knee])


POINT_AND_BALL = [(name, 0.0) for name in EVERY] + [(name, 0.1) for name in ("midpoint", "rk4", "dormand-prince")]


@pytest.mark.parametrize(("integrator", "radius"), POINT_AND_BALL)
def test_order_with_a_contact_that_sticks(integrator: str, radius: float) -> None:
    """A point turns about its place; a ball rolls, and what holds it moves with it."""
    q = stance_start(radius)
    a = [-1.3, 1.5]
    knee = np.array([0, q[2]])
    y = np.array([*(knee + offset(a[0], (0.3, 0))), a[0], *(knee + offset(a[1], (0.2, 0))), a[1]])
    # a ball that turns by a moves by r a
    foot = [Row(0, 1, (0.2, 0), k=-radius), Row(1, 1, (0.2, 0))]
    rows = [*pin(0, (-0.3, 0), 1, (-0.2, 0)), *foot]
    expected = solution([Rod(3, 0.09), Rod(1, 0.02)], rows, y, np.zeros(6), 0.2)[0][[2, 5]]
    steps = STEPS[integrator]
    errors = []
    for n in steps:
        sim = run(stance(radius), q, 0.2, dt=0.2 / n, ground=0, held=["foot"], **fixed_steps(integrator))
        assert gap(sim) < 1e-13
        trunk = 2 * math.atan2(sim.q[4], sim.q[6])
        errors.append(abs(np.array([trunk, trunk + sim.q[7]]) - expected).max())
        assert not sim.troubles
    assert errors[-1] > 1e-12, "the reference is no better"
    assert math.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.35), errors


# ---- what is kept


def test_the_midpoint_rule_keeps_the_energy_of_a_four_bar() -> None:
    """It is symmetric: energy sways, with dt^2, and does not drift."""
    sim = pliant.Simulation(FOUR, dt=2e-3, integrator="midpoint")
    sim.reset(q=FOUR_Q)
    log = sim.run(20.0, channels=("energy",))
    energy = log["energy.kinetic"] + log["energy.potential"]
    sway = abs(energy - energy[0])
    # 20 J turn into one another; a tenth of the time has seen all of it
    assert sway.max() < 5e-3
    assert sway.max() < 1.3 * sway[: len(sway) // 5].max()
    assert sim.diagnostics.unconverged == 0


def bricard() -> tuple[Robot, np.ndarray]:
    """Bricard's mechanism with three planes of symmetry: six hinges whose axes turn by right angles, all of one length.

    Its loop has as many constraints as hinges, and yet it moves: cos a + cos b + cos a cos b = 0 for its two angles
    [Chen, You and Tarnai 2005, "Threefold-symmetric Bricard linkages for deployable structures"].
    """
    builder = RobotBuilder("Bricard").gravity(2, 1, -9.81).body("ground", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    twist, before, place = math.pi / 2, "ground", ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for k in range(6):
        builder.body(f"link{k}", 1 + 0.1 * k, (0.15, 0, 0), (2e-3, 0, 0, 1e-2, 0, 1e-2))
        builder.joint(f"hinge{k}", Revolute((0, 0, 1)), before, f"link{k}", *place)
        before, place = f"link{k}", ((0.3, 0.0, 0.0), ((twist if k % 2 == 0 else -twist), 0.0, 0.0))
    builder.frame("end", before, *place)
    a = 2.0
    b = math.acos(-math.cos(a) / (1 + math.cos(a)))
    return builder.build(base="fixed").with_closure("weld", "end", "ground"), np.array([a, b, a, b, a, b])


@pytest.mark.parametrize("integrator", ["dormand-prince", "midpoint"])
def test_a_mechanism_with_too_many_constraints_moves_and_keeps_its_energy(integrator: str) -> None:
    robot, q = bricard()
    sim = pliant.Simulation(robot, dt=1e-3 if integrator == "midpoint" else 0.01, integrator=integrator)
    sim.reset(q=q)
    log = sim.run(1.0)
    energy = log["energy.kinetic"] + log["energy.potential"]
    assert abs(log["q"] - q).max() > 0.5
    # a tolerance of 1e-6 a step, and the sway of the midpoint rule at 1 ms
    assert np.ptp(energy) < (2e-4 if integrator == "midpoint" else 1e-5) * log["energy.kinetic"].max()
    angles = log["q"]
    np.testing.assert_allclose(angles[:, 0], angles[:, 2], atol=1e-9)
    np.testing.assert_allclose(angles[:, 1], angles[:, 5], atol=1e-9)
    assert gap(sim) < 1e-12
    assert not sim.troubles


@pytest.mark.parametrize("integrator", EVERY)
def test_a_locked_joint_makes_two_links_one(integrator: str) -> None:
    robot = pliant.load("double_pendulum").with_joint("elbow", locked=True)
    q, dt = [0.8, 0.5], 1e-4 if integrator == "euler" else 2e-3
    sim = run(robot, q, 0.4, dt=dt, integrator=integrator)
    M = pliant.mass_matrix(robot, q)[0, 0]

    def rate(t, x):
        return [x[1], -pliant.gravity_forces(robot, [x[0], 0.5])[0] / M]

    expected = solve_ivp(rate, (0, 0.4), [0.8, 0], rtol=1e-10, atol=1e-12).y[:, -1]
    accuracy = {"euler": 1e-3, "midpoint": 1e-5, "rk4": 1e-8, "dormand-prince": 1e-6, "rosenbrock": 1e-6}[integrator]
    assert sim.q[0] == pytest.approx(expected[0], abs=accuracy)
    assert sim.v[1] == pytest.approx(0, abs=1e-13)
    assert sim.q[1] == pytest.approx(0.5, abs=1e-12)
    # what the lock bears is what the lower link needs
    vd = -pliant.bias_forces(robot, sim.q, sim.v)[0] / M
    needed = pliant.inverse_dynamics(robot, sim.q, sim.v, [vd, 0])[1]
    assert sim.state.part("steady")[0] / dt == pytest.approx(needed, rel=1e-9)


# ---- forces, batches, precision


def test_forces_of_a_stance_are_those_that_the_motion_asks_for() -> None:
    q = stance_start(0.0)
    sim = run(stance(0.0), q, 0.05, dt=0.01, ground=0, held=["foot"], integrator="dormand-prince", rtol=1e-9)
    # forces change the momentum: differences over a step on either side
    later, earlier = (run(stance(0.0), q, t, dt=1e-3, ground=0, held=["foot"], integrator="dormand-prince", rtol=1e-10)
                      for t in (0.051, 0.049))  # fmt: skip
    momentum = [pliant.centroidal_momentum(s.robot, s.q, s.v)[:3] for s in (later, earlier)]
    force = (momentum[0] - momentum[1]) / 2e-3 + [0, 0, 4 * 9.81]
    np.testing.assert_allclose(sim.contact_forces[0], force, rtol=1e-4, atol=1e-3)
    log = sim.run(0.02)
    assert log["forces"].shape[-1] == 3
    assert log["forces", "foot.z"][-1] > 0


@pytest.mark.parametrize("integrator", ["midpoint", "dormand-prince", "rosenbrock"])
def test_any_batch_and_threads_give_the_same_bits(integrator: str) -> None:
    angles = np.linspace(0.1, 0.5, 5)
    starts = np.array([closed(FOUR, FOUR_Q, {0: a}) for a in angles])
    sim = pliant.Simulation(FOUR, dt=5e-3, integrator=integrator, batch=5, threads=2)
    sim.reset(q=starts)
    one = pliant.Simulation(FOUR, dt=5e-3, integrator=integrator)
    one.reset(q=starts[3])
    for _ in range(20):
        sim.step()
        one.step()
    np.testing.assert_array_equal(sim.data[3], one.data)


@pytest.mark.parametrize("integrator", ["midpoint", "rk4", "rosenbrock"])
def test_float32(integrator: str) -> None:
    options = {"rtol": 1e-4, "atol": 1e-5} if integrator == "rosenbrock" else {}
    coarse, fine = (
        run(FOUR, FOUR_Q, 0.4, dt=4e-3, integrator=integrator, precision=precision, **options)
        for precision in ("float32", "float64")
    )
    # eps of 6e-8 in 100 steps
    np.testing.assert_allclose(coarse.q, fine.q, atol=2e-4)
    assert gap(coarse) < 1e-6
    assert not coarse.troubles


def test_a_snapshot_knows_where_contacts_are_held() -> None:
    sim = run(stance(0.0), stance_start(0.0), 0.05, dt=0.01, ground=0, held=["foot"], integrator="rk4")
    before, q = sim.state, sim.q
    sim.step()
    after = sim.q
    sim.reset(q=q)
    sim.state = before
    sim.step()
    np.testing.assert_array_equal(sim.q, after)


# ---- starts that are off, and what is not silent


def test_a_start_off_the_constraints_is_put_right_as_by_a_blow() -> None:
    v = np.array([1.0, -2.0, 0.5])
    off = np.array([0, 0.02, -0.03])
    options = {"contacts": tuple(FOUR.closures)}
    for q in (FOUR_Q, FOUR_Q + off):
        sim = run(FOUR, q, 1e-9, v, dt=1e-9, integrator="rk4")
        assert gap(sim) < 1e-12
        assert abs(sim.q - q).max() < 0.1
        assert abs(pliant.constrained.contact_jacobian(FOUR, sim.q, **options) @ sim.v).max() < 1e-10
    # an impact without restitution; a step of 1 ns adds 1e-8 or so
    sim = run(FOUR, FOUR_Q, 1e-9, v, dt=1e-9, integrator="rk4")
    np.testing.assert_allclose(sim.v, pliant.constrained.impact_velocity(FOUR, FOUR_Q, v, **options), atol=1e-6)


@pytest.mark.parametrize("integrator", EVERY)
def test_a_loop_that_cannot_close_freezes_the_robot(integrator: str) -> None:
    robot = rods("short", {"a": ("ground", 0.2, (0, 0, 0), 1.0), "b": ("ground", 0.2, (1, 0, 0), 1.0)})
    sim = pliant.Simulation(robot.with_closure("point", "a end", "b end"), dt=1e-3, integrator=integrator)
    sim.reset(q=[0.1, 3.0])
    with pytest.warns(SimulationWarning, match=r"cannot be closed from here \(loop 'a end-b end'\); start from"):
        sim.step()
    np.testing.assert_array_equal(sim.q, [0.1, 3.0])


def test_a_held_contact_that_would_let_go_is_reported() -> None:
    sim = pliant.Simulation(stance(0.0), dt=1e-3, ground=0, held=["foot"], integrator="rk4")
    # it swings up so fast that the ground would have to pull
    sim.reset(q=stance_start(0.0), v=[0, 0, 0, 0, 12.0, 0, 0])
    with pytest.warns(SimulationWarning, match=r"contact 'foot' had to pull.*EventSimulation"):
        sim.run(0.02)
    assert [t.kind for t in sim.troubles] == ["release"]


def test_what_is_refused_says_what_to_do() -> None:
    leg = stance(0.0)
    cases: list[tuple[str, Any]] = [
        (r"has rigid contact; name those that stick and stay, held=\('foot', ...\)", {"integrator": "rk4"}),
        ("held contacts are for the accurate integrators", {"held": ["foot"]}),
        ("no contact named 'hand'", {"held": ["hand"], "integrator": "rk4"}),
        ("contact 'foot' is held twice", {"held": ["foot", "foot"], "integrator": "rk4"}),
        ("held is 'foot'; .*names of contacts", {"held": "foot", "integrator": "rk4"}),
    ]
    for message, options in cases:
        with pytest.raises(SimulationError, match=message):
            pliant.Simulation(leg, ground=0, **options)
    with pytest.raises(SimulationError, match="several faces"):
        robot = stance(0.05)
        pliant.Simulation(robot, ground=pliant.stairs(0.1, 0.3), held=["foot"], integrator="rk4")


def test_compliant_contacts_beside_one_that_is_held() -> None:
    """The held foot bears the leg; the other ball is far off the ground and has no force."""
    robot = stance(0.0).with_contact("trunk", radius=0.01)
    sim = run(robot, stance_start(0.0), 0.02, dt=1e-3, ground=0, held=["foot"], integrator="rk4",
              contact=pliant.CompliantContact())  # fmt: skip
    forces = dict(zip(sim.contact_names, sim.contact_forces, strict=True))
    assert forces["foot"][2] > 1
    np.testing.assert_array_equal(forces["trunk"], 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.notice()


def test_numbers_that_vary() -> None:
    """Of two poles on the same slant, the one on smooth ground would slide; and a heavier coupler moves otherwise."""
    builder = RobotBuilder("pole").gravity(0, 0, -9.81).body("pole", 1, (0, 0, 0.5), (0.08, 0, 0, 0.08, 0, 0.01))
    robot = builder.build(base="free").with_contact("pole")
    sim = pliant.Simulation(robot, dt=1e-3, ground=0, held=["pole"], integrator="rk4", batch=2, varying=["friction"])
    sim.parameters["friction"] = [0.01, 1.0]
    sim.reset(q=[0, 0, 0, 0, math.sin(0.2), 0, math.cos(0.2)])
    sim.step()
    assert [(t.kind, t.robots, t.robot) for t in sim.troubles] == [("release", 1, 0)]
    four = pliant.Simulation(FOUR, dt=2e-3, integrator="midpoint", batch=2, varying=["bodies.coupler.mass"])
    four.parameters["bodies.coupler.mass"] = [2.0, 5.0]
    four.reset(q=FOUR_Q)
    for _ in range(50):
        four.step()
    plain = run(FOUR, FOUR_Q, 0.1, dt=2e-3, integrator="midpoint")
    np.testing.assert_allclose(four.q[0], plain.q, atol=1e-12)
    assert abs(four.q[1] - plain.q).max() > 1e-3
