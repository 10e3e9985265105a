"""A compiled controller does what the same one does when it is called from Python."""

import numpy as np
import pytest

import pliant
from pliant import Controller, Simulation, SimulationError, TraceError
from simulated_robots import CART_POLE, LEG, LEG_Q, LEG_V, PENDULUM

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
    sim, again = (Simulation(CART_POLE, controller=balance, batch=3) for _ in range(2))
    for s in (sim, again):
        s.reset(q=starts(3))
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
    sim = Simulation(CART_POLE, controller=lambda t, q, v: gains @ q + 2 * np.sin(v[:1]))
    plain = Simulation(CART_POLE)
    for s in (sim, plain):
        s.reset(q=[0, 0.2])
    sim.run(0.1)
    plain.run(0.1, controller=lambda t, q, v: gains @ q + 2 * np.sin(v[:1]))
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


def test_what_is_no_controller() -> None:
    with pytest.raises(SimulationError, match=r"controller is 5; it takes a function \(t, q, v\) -> u"):
        Simulation(PENDULUM, controller=5)


@pytest.mark.parametrize("controller, message", [
    (lambda t, q, v: -q[0], "controller '<lambda>' returned a single number for its controls; give a list of numbers"),
    (lambda t, q, v: None, "controller '<lambda>' returned None for its controls"),
    (lambda t, q, v: [None], r"controller '<lambda>' returned \[None\] for its controls"),
    (lambda t, q, v: "fast", "controller '<lambda>' returned 'fast'"),
    (lambda t, q: [0], r"controller '<lambda>' is called with \(t, q, v\): too many positional arguments"),
    (lambda t, q, v, w: [0], r"controller '<lambda>' is called with \(t, q, v\): missing a required argument: 'w'"),
    (Controller(lambda t, q, v: [0], commands=2), r"is called with \(t, q, v, command\)"),
    (Controller(lambda t, q, v, m: ([0], 1), memory=(0,)), "returned a single number for its memories"),
    (Controller(5), r"controller is 5; it takes a function \(t, q, v\) -> u"),  # type: ignore[arg-type]
    (Controller(lambda t, q, v: [0], commands=-1), "commands of the controller is -1; it takes 0 or more"),
    (Controller(lambda t, q, v, m: ([0], m), memory=(np.nan,)), "memory of the controller is .*; it takes finite"),
    (Controller(lambda t, q, v, m: ([0], m), memory="none"), "memory of the controller is 'none'"),  # type: ignore[arg-type]
])  # fmt: skip
def test_controllers_that_are_refused_with_a_reason(controller, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        Simulation(PENDULUM, controller=controller).step()
