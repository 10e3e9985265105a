"""Reset, step and controllers."""

import numpy as np
import pytest

import pliant
from pliant import Controller, Simulation, SimulationError, TraceError
from simple_bodies import sliding
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, LEG_V, PENDULUM, QUADRUPED, leg, ran, started


# ---- reset


def test_a_new_simulation_is_at_rest_in_the_neutral_configuration() -> None:
    sim = Simulation(QUADRUPED, batch=3)
    np.testing.assert_array_equal(sim.q, np.tile(QUADRUPED.neutral(), (3, 1)))
    assert not sim.v.any()
    assert sim.state.t.tolist() == [0, 0, 0]
    one = Simulation(PENDULUM)
    assert (one.q.shape, one.v.shape, one.t) == ((1,), (1,), 0.0)
    assert isinstance(one.t, float)


@pytest.mark.parametrize("q", [[0.5, -1], [[0.5, -1]], [[0.5, -1], [0.1, 2], [0, 0]]])
def test_reset_takes_one_configuration_or_one_for_each(q: list) -> None:
    sim = Simulation(CART_POLE, batch=3)
    sim.step([2])
    sim.reset(q=q, v=[1, 2], t=0.25)
    np.testing.assert_array_equal(sim.q, np.broadcast_to(np.array(q, float), (3, 2)))
    np.testing.assert_array_equal(sim.v, [[1, 2]] * 3)
    assert sim.state.t == pytest.approx([0.25] * 3, abs=1e-15)
    assert not sim.tau.any()


@pytest.mark.parametrize("robots, chosen", [
    ([1, 3], [1, 3]),
    (np.array([3, 1]), [3, 1]),
    ([False, True, False, True], [1, 3]),
    (np.array([False, True, False, True]), [1, 3]),
    (slice(1, None, 2), [1, 3]),
    (1, [1]),
    ([-1], [3]),
    ([], []),
])  # fmt: skip
def test_reset_of_some_robots_leaves_the_others(robots, chosen: list[int]) -> None:
    sim, _ = ran(Simulation(CART_POLE, batch=4), 0.01, [[0, 0.1 * k] for k in range(4)], u=[1])
    before = sim.state
    q = np.array([[0.3, 0.1 * k] for k in range(len(chosen))]).reshape(-1, 2)
    sim.reset(q=q, t=0.5, robots=robots)
    others = [k for k in range(4) if k not in chosen]
    np.testing.assert_array_equal(sim.state.data[others], before.data[others])
    np.testing.assert_array_equal(sim.q[chosen], q)
    assert not sim.v[chosen].any()
    assert sim.state.t[chosen] == pytest.approx([0.5] * len(chosen))


def test_what_is_given_out_is_a_copy() -> None:
    sim, _ = ran(Simulation(LEG, ground=0, batch=2), 0.02, LEG_Q, LEG_V)
    before = sim.state
    for array in (sim.q, sim.v, sim.tau, sim.contact_forces, sim.state.t, sim.state.data):
        array[...] = 7
    assert sim.state.identical(before)


# ---- step


def test_controls_of_every_form() -> None:
    """None is zero, one row is for all, lists, integers and views of larger arrays are as good as arrays."""
    large = np.random.default_rng(0).normal(size=(5, 6))
    forms = {
        "none": (None, np.zeros((5, 2))),
        "list": ([1, 2], np.tile([1.0, 2.0], (5, 1))),
        "one row": (np.array([0.5, -1]), np.tile([0.5, -1], (5, 1))),
        "row of a batch": (np.array([[0.5, -1]]), np.tile([0.5, -1], (5, 1))),
        "columns": (large[:, 1:5:3], large[:, 1:5:3].copy()),
        "turned": (np.asfortranarray(large[:, :2]), large[:, :2].copy()),
        "float32": (large[:, :2].astype(np.float32), large[:, :2].astype(np.float32).astype(float)),
    }
    a, b = Simulation(LEG, batch=5), Simulation(LEG, batch=5)
    for name, (form, full) in forms.items():
        for sim, u in ((a, form), (b, full)):
            sim.reset(LEG_Q, LEG_V)
            for _ in range(3):
                sim.step(u)
        assert a.state.identical(b.state), name


def test_controls_are_read_and_not_kept() -> None:
    sim, other = Simulation(PENDULUM), Simulation(PENDULUM)
    u = np.array([1.0])
    sim.step(u)
    u[0] = 99
    sim.step()
    other.step([1])
    other.step([0])
    assert sim.state.identical(other.state)


def test_time_counts_control_periods() -> None:
    sim = Simulation(PENDULUM, dt=1e-3, substeps=4)
    for _ in range(250):
        sim.step()
    assert sim.t == 1.0, "steps are counted, so no error adds up"


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "midpoint"])
def test_substeps_hold_the_control(integrator: str) -> None:
    """One period of four steps is four periods of one, bit for bit."""
    contact = {} if integrator == "semi-implicit" else {"contact": pliant.CompliantContact()}
    robot = LEG if integrator == "semi-implicit" else BALL.with_gravity(0.5, 0, -9.81)
    fast = Simulation(robot, ground=0, integrator=integrator, **contact)
    slow = Simulation(robot, ground=0, integrator=integrator, substeps=4, **contact)
    start = (LEG_Q, LEG_V) if robot is LEG else ([0, 0, 0.11, 0, 0, 0, 1], [0.3, 0, -1, 0, 2, 1])
    u = np.random.default_rng(1).normal(size=(20, robot.nu))
    for sim in (fast, slow):
        sim.reset(*start)
    for row in u:
        slow.step(row)
        for _ in range(4):
            fast.step(row)
    assert fast.state.identical(slow.state)
    assert slow.t == pytest.approx(0.08)


# ---- ground and contacts


def test_contacts_come_from_the_collision_geometry() -> None:
    assert not QUADRUPED.contacts
    assert {"lf_foot", "trunk.0"} <= set(Simulation(QUADRUPED, ground=pliant.flat()).contact_names)
    assert Simulation(QUADRUPED).contact_names == []
    own = Simulation(QUADRUPED.with_contact("lf_foot", name="toe"), ground=0)
    assert own.contact_names == ["toe"]


def test_without_ground_things_fall() -> None:
    sim, _ = ran(Simulation(BALL), 0.5, [0, 0, 0, 0, 0, 0, 1])
    # semi-implicit: g dt^2 n (n + 1) / 2 with n = 500
    assert sim.q[2] == pytest.approx(-9.81 * 1e-6 * 500 * 501 / 2, rel=1e-12)


@pytest.mark.parametrize("v", [[-0.5, 0, 0], [-1, 0.5, -1], [-0.5, 3, 3]])
@pytest.mark.parametrize("friction", [0.1, 0.7])
def test_a_robot_that_moves_in_a_plane_lands(v: list[float], friction: float) -> None:
    """Its contact cannot move to the side."""
    sim = Simulation(leg("fixed"), ground=0, contact=pliant.RigidContact(friction=friction))
    _, log = ran(sim, 0.5, [0.383, -0.4, 0.9], v, u=[0.2, 1])
    assert not sim.divergences
    assert log["forces", "toe.z"].max() > 0
    assert not log["forces", "toe.y"].any()
    assert sim.diagnostics.penetration < 1e-4


def test_a_robot_that_moves_along_a_line_lands() -> None:
    sim, _ = ran(Simulation(sliding(mass=2).with_contact("mass", radius=0.1), ground=0), 0.3, [0.15])
    # it lands on the ground itself, or within the micrometre that is left alone
    assert sim.q[0] == pytest.approx(0.1, abs=2e-6)
    np.testing.assert_allclose(sim.contact_forces, [[0, 0, 2 * 9.81]], rtol=0, atol=1e-9)


def test_shown() -> None:
    assert repr(Simulation(PENDULUM, batch=3)) == (
        "Simulation of 3 robots 'pendulum': dt = 0.001 s, 1 steps a period, semi-implicit, 0 contacts, float64, t = 0 s"
    )
    assert repr(Simulation(BALL, ground=0)).startswith("Simulation of one robot 'ball'")


# ---- A compiled controller does what the same one does when it is called from Python


# the compiled one fuses products and sums, and robots near upright make roundings larger
TOLERANCE = 1e-11


def balance(t, q, v):
    """Written for scalars: columns of arrays will do, too."""
    push = 12 * q[1] + 3 * v[1] + 0.5 * pliant.math.sin(5 * t)
    return [pliant.math.select(push > 4, 4, push)]


def as_python(function):
    """For a batch of robots, (batch, n) in and out, with a call a robot."""

    def controller(t, q, v):
        return np.array([function(t, a, b) for a, b in zip(q, v, strict=True)], dtype=float)

    return controller


def starts(batch: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.4, 0.4, (batch, 2))


@pytest.mark.parametrize("substeps", [1, 5])
@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "midpoint", "dormand-prince"])
def test_equals_the_same_in_python(substeps: int, integrator: str) -> None:
    """It is asked once a period, whatever happens inside of it."""
    options = {"substeps": substeps, "integrator": integrator, "batch": 5, "limits": False}
    compiled = Simulation(CART_POLE, controller=balance, **options)
    called = Simulation(CART_POLE, **options)
    for sim in (compiled, called):
        sim.reset(q=starts(5), t=0.1)
    a, b = compiled.run(0.2), called.run(0.2, controller=as_python(balance))
    np.testing.assert_allclose(a.q, b.q, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(a.tau, b.tau, rtol=0, atol=100 * TOLERANCE)
    assert a.tau.max() == 4, "it is cut off"


def test_a_step_at_a_time() -> None:
    sim, again = (started(Simulation(CART_POLE, controller=balance, batch=3), q=starts(3)) for _ in range(2))
    sim.run(0.05)
    for _ in range(50):
        again.step()
    assert sim.state.identical(again.state)


def test_commands() -> None:
    """What is given to step and run goes to the controller."""

    def tracking(t, q, v, command):
        return [command[1] * (command[0] - q[0]) - 2 * v[0]]

    sim = Simulation(PENDULUM, controller=Controller(tracking, commands=2), batch=3)
    plain = Simulation(PENDULUM, batch=3)
    commands = np.array([[0.5, 30], [-1, 20], [0, 5]])
    for _ in range(200):
        u = [tracking(0, q, v, c) for q, v, c in zip(plain.q, plain.v, commands, strict=True)]
        plain.step(u)
        sim.step(commands)
    np.testing.assert_allclose(sim.q, plain.q, rtol=0, atol=TOLERANCE)
    constant = Simulation(PENDULUM, controller=Controller(tracking, commands=2), batch=3)
    constant.run(0.2, commands=commands)
    assert constant.state.identical(sim.state)
    with pytest.raises(SimulationError, match=r"u has shape \(3,\).*each of the 2 commands of the controller"):
        sim.step([1, 2, 3])


def test_memory() -> None:
    def integral(t, q, v, memory):
        error = 0.5 - q[0]
        return [20 * error - v[0] + memory[0]], [memory[0] + 0.1 * error, memory[1] + 1]

    sim = Simulation(PENDULUM, controller=Controller(integral, memory=(0.3, 7)), batch=2)
    plain = Simulation(PENDULUM, batch=2)
    memories = [[0.3, 7], [0.3, 7]]
    for s in (sim, plain):
        s.reset(q=[[0], [1]])
    np.testing.assert_array_equal(sim.state.part("memory"), [[0.3, 7]] * 2)
    for _ in range(100):
        answers = [integral(0, q, v, m) for q, v, m in zip(plain.q, plain.v, memories, strict=True)]
        plain.step([u for u, _ in answers])
        memories = [m for _, m in answers]
        sim.step()
    np.testing.assert_allclose(sim.q, plain.q, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(sim.state.part("memory"), memories, rtol=0, atol=TOLERANCE)
    assert sim.state.part("memory")[:, 1].tolist() == [107, 107]
    sim.reset(robots=[1])
    np.testing.assert_array_equal(sim.state.part("memory")[1], [0.3, 7])
    assert sim.state.part("memory")[0, 1] == 107


def test_commands_and_memory_with_contacts() -> None:
    """A swing of the hip around a command, with a clock of its own."""

    def swing(t, q, v, command, memory):
        return [command[0] + 0.2 * pliant.math.sin(memory[0]), -2 * v[7]], [memory[0] + 0.05]

    sim = Simulation(LEG, ground=0, controller=Controller(swing, commands=1, memory=(0,)), substeps=2, batch=3)
    plain = Simulation(LEG, ground=0, substeps=2, batch=3)
    for s in (sim, plain):
        s.reset(LEG_Q, LEG_V)
    commands = np.array([[-0.5], [-0.3], [-0.1]])
    for k in range(60):
        u = [swing(0, q, v, c, [0.05 * k])[0] for q, v, c in zip(plain.q, plain.v, commands, strict=True)]
        plain.step(np.array(u, dtype=float))
        sim.step(commands)
    assert abs(sim.contact_forces).max() > 1
    np.testing.assert_allclose(sim.q, plain.q, rtol=0, atol=1e-9)  # landings make roundings larger


def test_a_controller_of_python_on_top_gives_the_commands() -> None:
    def follow(t, q, v, command):
        return [30 * (command[0] - q[0]) - 3 * v[0]]

    sim = Simulation(PENDULUM, controller=Controller(follow, commands=1))
    log = sim.run(8.0, controller=lambda t, q, v: [0.4])
    # kp (0.4 - q) = m g l/2 sin q with m g l/2 = 9.81 * 0.75
    q = log.q[-1, 0]
    assert 30 * (0.4 - q) == pytest.approx(9.81 * 0.75 * np.sin(q), abs=1e-5)


def test_numpy_in_a_controller() -> None:
    """Arrays of traced scalars go through NumPy's arithmetic."""
    gains = np.array([[-1.0, 20.0]])

    def feedback(t, q, v):
        return gains @ q + 2 * np.sin(v[:1])

    sim, _ = ran(Simulation(CART_POLE, controller=feedback), 0.1, [0, 0.2])
    plain, _ = ran(Simulation(CART_POLE), 0.1, [0, 0.2], controller=feedback)
    np.testing.assert_allclose(sim.q, plain.q, rtol=0, atol=TOLERANCE)


# ---- what cannot be


def branching(t, q, v):
    return [1 if q[0] > 0 else -1]


def mathematical(t, q, v):
    import math

    return [math.sin(q[0])]


@pytest.mark.parametrize("controller, kind, message", [
    (branching, TraceError, r"controller 'branching'.*write pliant.math.select\(condition, a, b\) in place of `if`"),
    (mathematical, TraceError, r"controller 'mathematical'.*use Pliant's functions \(pliant.math.sin"),
    (lambda t, q, v: [0, 0], SimulationError, "returned 2 controls for 1 motors: hinge"),
    (lambda t, q, v: [], SimulationError, "returned 0 controls for 1 motors: hinge"),
    (Controller(lambda t, q, v, m: [0], memory=(0,)), SimulationError,
     r"has a memory, but does not return one; return \(u, memory\)"),
    (Controller(lambda t, q, v, m: ([0], []), memory=(0,)), SimulationError, "returned 0 memories of 1"),
])  # fmt: skip
def test_controllers_that_cannot_be_compiled(controller, kind: type, message: str) -> None:
    sim = Simulation(PENDULUM, controller=controller)
    with pytest.raises(kind, match=message):
        sim.step()


@pytest.mark.parametrize("controller, message", [
    (lambda t, q, v: -q[0], "controller '<lambda>' returned a single number for its controls; give a list of numbers"),
    (lambda t, q, v: None, "controller '<lambda>' returned nothing for its controls"),
    (lambda t, q, v: [None], r"controller '<lambda>' returned \[None\] for its controls"),
    (lambda t, q, v: "fast", "controller '<lambda>' returned 'fast'"),
    (lambda t, q: [0], r"controller '<lambda>' is called with \(t, q, v\): too many positional arguments"),
    (lambda t, q, v, w: [0], r"controller '<lambda>' is called with \(t, q, v\): missing a required argument: 'w'"),
    (Controller(lambda t, q, v: [0], commands=2), r"is called with \(t, q, v, command\)"),
    (Controller(lambda t, q, v, m: ([0], 1), memory=(0,)), "returned a single number for its memories"),
    (5, r"controller is 5; it takes a function \(t, q, v\) -> u"),
    (Controller(5), r"controller is 5; it takes a function \(t, q, v\) -> u"),  # type: ignore[arg-type]
    (Controller(lambda t, q, v: [0], commands=-1), "commands of the controller is -1; it takes 0 or more"),
    (Controller(lambda t, q, v, m: ([0], m), memory=(np.nan,)), "memory of the controller is .*; it takes finite"),
    (Controller(lambda t, q, v, m: ([0], m), memory="none"), "memory of the controller is 'none'"),  # type: ignore[arg-type]
])  # fmt: skip
def test_controllers_that_are_refused_with_a_reason(controller, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        Simulation(PENDULUM, controller=controller).step()
