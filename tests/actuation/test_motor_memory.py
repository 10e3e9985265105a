"""What motors remember: commands on their way and held, laws with a memory; states, batches, logs and mistakes."""

import pickle

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, RobotError, SimulationError
from pliant.robot import MotorLaw, Robot
from simple_bodies import turning

INERTIA = 0.5
INTEGRATORS = ["semi-implicit", "euler", "rk4", "midpoint", "dormand-prince", "rosenbrock"]


def wheel(**motor) -> Robot:
    return turning(inertia=INERTIA).with_motor("axle", **motor)


def lagging(u, q, v, t, memory):
    """A first-order lag, a tenth of the way in each step."""
    torque = memory[0] + (u - memory[0]) / 10
    return torque, [torque]


# all that a motor may remember, at once
FULL = {
    "law": MotorLaw(lagging, (0.2,)), "command_delay": 3.5e-3, "command_period": 2e-3, "gear": 5, "dry_friction": 0.05,
    "torque_constant": 0.1, "resistance": 0.8, "inductance": 1e-3, "supply_voltage": 20, "current_limit": 5,
    "thermal_resistance": 3, "thermal_capacity": 0.05, "derating_temperature": 30, "temperature_limit": 60,
    "bristle_stiffness": 50, "bristle_damping": 0.1,
}  # fmt: skip


# ---- commands


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_command_acts_after_its_delay(integrator: str) -> None:
    """Torques of whole steps are shifted; one that comes within a step acts for its share of it."""
    given = np.random.default_rng(1).normal(size=12)
    for delay, expected in ((3e-3, [0, 0, 0, *given[:9]]), (0.25e-3, 0.75 * given + 0.25 * np.array([0, *given[:-1]]))):
        sim = pliant.Simulation(wheel(command_delay=delay), integrator=integrator)
        log = sim.run(0.012, controller=lambda t, q, v: [given[round(t * 1e3)]], channels=("tau", "v", "motors"))
        np.testing.assert_allclose(log.tau[1:, 0], expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(log["motors.command"], log.tau)
        assert sim.v[0] == pytest.approx(1e-3 * sum(expected) / INERTIA, rel=1e-9)


def test_a_command_is_held_for_its_period() -> None:
    """A period of 2.5 steps is 3 and 2 in turn; one shorter than a step is a step."""
    for period, expected in (
        (4e-3, [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]), (2.5e-3, [0, 0, 0, 3, 3, 5, 5, 5, 8, 8]), (1e-4, range(10)),
    ):  # fmt: skip
        sim = pliant.Simulation(wheel(command_period=period))
        log = sim.run(0.01, controller=lambda t, q, v: [t * 1e3], channels=("tau",))
        np.testing.assert_allclose(log.tau[1:, 0], list(expected), rtol=1e-12)


def test_commands_of_substeps_are_delayed_by_steps() -> None:
    sim = pliant.Simulation(wheel(command_delay=3e-3), substeps=2)
    v = [sim.step([1.0]) or sim.v[0] for _ in range(3)]
    np.testing.assert_allclose(np.array(v) * INERTIA * 1e3, [0, 1, 3], rtol=1e-12, atol=1e-15)


def test_a_motor_under_position_control_holds_until_the_first_command() -> None:
    sim = pliant.Simulation(wheel(control="position", kp=100, kd=1, command_delay=5e-3), batch=2)
    sim.reset(q=[[0.3], [-0.2]])
    sim.rollout(sim.state, np.zeros((2, 5, 1)))
    for _ in range(5):
        sim.step(np.ones((2, 1)))
    np.testing.assert_array_equal(sim.q, [[0.3], [-0.2]])
    sim.step(np.ones((2, 1)))
    assert (sim.v > 0).all()


# ---- laws with a memory


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_law_may_remember(integrator: str) -> None:
    """The lag's torque after n steps is u (1 - 0.9^n), held through each."""
    sim = pliant.Simulation(wheel(law=MotorLaw(lagging, (0.0,))), integrator=integrator)
    log = sim.run(0.02, u=[3.0], channels=("tau",))
    np.testing.assert_allclose(log.tau[:, 0], 3 * (1 - 0.9 ** np.arange(21)), rtol=1e-12)


def test_effort_limits_hold_for_laws_that_remember() -> None:
    sim = pliant.Simulation(wheel(law=MotorLaw(lagging, (0.0,)), effort_limit=1))
    assert sim.run(0.1, u=[3.0], channels=("tau",)).tau.max() == 1


# ---- the state


def test_states_restore_and_pickle() -> None:
    sim = pliant.Simulation(wheel(**FULL))
    sim.run(0.02, u=[4.0])
    before = pickle.loads(pickle.dumps(sim.state))
    sim.run(0.02, u=[-2.0])
    after = sim.state
    sim.state = before
    sim.run(0.02, u=[-2.0])
    assert sim.state.identical(after)
    sim.reset()
    assert sim.motor_state["temperature"] == 25
    assert sim.state.part("motor memory").tolist().count(0.2) == 1


@pytest.mark.parametrize("batch", [1, 7, 33])
def test_same_bits_in_any_batch_by_step_and_by_rollout(batch: int) -> None:
    robot = wheel(**FULL)
    u = np.random.default_rng(0).normal(size=(33, 20, 1)) * 5
    sim = pliant.Simulation(robot, batch=batch, threads=2)
    result = sim.rollout(sim.state, u[:batch], channels=("motor memory",))
    alone = pliant.Simulation(robot)
    for k in {0, batch - 1}:
        alone.reset()
        for row in u[k]:
            alone.step(row)
        assert np.array_equal(alone.data, result.state.data[k])
        assert np.array_equal(result["motor memory"][k, -1], alone.state.part("motor memory"))


def test_a_diverged_robot_keeps_what_its_motors_remember() -> None:
    sim = pliant.Simulation(wheel(**FULL), batch=2)
    sim.run(0.01, u=[[3.0], [3.0]])
    sim.data[0, sim.layout.span("v")] = np.nan
    before = sim.state.part("motor memory")[0].copy()
    with pytest.warns(pliant.errors.SimulationWarning, match="frozen"):
        sim.run(0.01, u=[[3.0], [3.0]])
    own, places = sim.state.part("motor memory"), sim.plan.model.motor_memory
    for name in ("current", "temperature", "bristle", "friction"):
        np.testing.assert_array_equal(own[0, places.columns(name)], before[places.columns(name)])
    assert not np.array_equal(own[1], before)
    sim.step([[3.0], [3.0]])
    np.testing.assert_array_equal(sim.state.part("motor memory")[0], own[0])


def test_float32() -> None:
    one, other = (pliant.Simulation(wheel(**FULL), precision=p) for p in ("float64", "float32"))
    for sim in (one, other):
        sim.run(0.05, u=[4.0])
    np.testing.assert_allclose(other.q, one.q, rtol=1e-3)
    np.testing.assert_allclose(other.motor_state["temperature"], one.motor_state["temperature"], rtol=1e-4)


def test_numbers_may_vary() -> None:
    """Robots of a batch with numbers of their own move as robots built with these."""
    paths = {"command_delay": [2e-3, 3.5e-3, 0.0], "inductance": [1e-3, 1e-4, 1e-2], "resistance": [0.5, 1, 2],
             "bristle_stiffness": [50, 80, 20], "thermal_capacity": [0.05, 0.1, 1],
             "command_period": [2e-3, 3e-3, 1e-3]}  # fmt: skip
    sim = pliant.Simulation(wheel(**FULL), batch=3, varying=[f"motors.axle.{name}" for name in paths])
    for name, values in paths.items():
        sim.parameters[f"motors.axle.{name}"] = values
    sim.run(0.05, u=[[5.0]] * 3)
    for k in range(3):
        own = FULL | {name: values[k] for name, values in paths.items()}
        alone = pliant.Simulation(wheel(**own))
        alone.run(0.05, u=[5.0])
        # shares of commands are computed in another order
        np.testing.assert_allclose(sim.q[k], alone.q, rtol=1e-9)
        np.testing.assert_allclose(sim.motor_state["temperature"][k], alone.motor_state["temperature"], rtol=1e-9)


def test_delays_vary_up_to_that_of_the_robot() -> None:
    sim = pliant.Simulation(wheel(command_delay=2e-3), varying=["motors.*.command_delay"])
    with pytest.raises(SimulationError, match="at most the delay of the robot"):
        sim.parameters["motors.*.command_delay"] = 3e-3
    for path in ("motors.axle.inductance", "motors.*.bristle_stiffness"):
        with pytest.raises(SimulationError, match="above 0"):
            pliant.Simulation(wheel(), varying=[path])


# ---- logs


def test_logs_have_channels_by_name() -> None:
    two = pliant.load("two_link_arm").with_motor("elbow", **FULL)
    log = pliant.Simulation(two).run(0.01, u=[0, 2.0], channels=("motors",))
    assert log.columns["motors.temperature"] == ("elbow",)
    assert log["motors.current", "elbow"].shape == (11,)
    with pytest.raises(SimulationError, match="no state to log"):
        pliant.Simulation(wheel()).run(0.01, channels=("motors",))


def test_logs_keep_laws_that_remember(tmp_path) -> None:
    """A robot read from a log moves as the one that was simulated, bit for bit."""
    sim = pliant.Simulation(wheel(**FULL))
    sim.run(0.05, u=[4.0], save=tmp_path / "log.h5")
    kept = pliant.load_log(tmp_path / "log.h5").source.robot
    again = pliant.Simulation(kept)
    again.run(0.05, u=[4.0])
    assert again.state.identical(sim.state)
    assert pickle.loads(pickle.dumps(sim.run(0.001))).source.robot.motors["axle"].law.memory == (0.2,)


def test_power_of_bent_friction_is_in_the_ledger() -> None:
    """Kinetic energy grows by the work of motor and friction."""
    robot = wheel(dry_friction=0.5, bristle_stiffness=100, bristle_damping=1, static_friction=0.8, stribeck_speed=0.1)
    log = pliant.Simulation(robot).run(0.5, u=[1.0], channels=("energy", "power"))
    work = 1e-3 * (log["power.motors"] + log["power.friction"])[1:].sum()
    assert work == pytest.approx(log["energy.kinetic"][-1], rel=1e-9)


# ---- mistakes


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"command_delay": -1e-3}, "command_delay"),
        ({"command_period": -1}, "command_period"),
        ({"command_delay": float("nan")}, "command_delay"),
        ({"static_friction": 1.0}, "stribeck_speed"),
        ({"static_friction": 1.0, "dry_friction": 2.0, "stribeck_speed": 0.1}, "static_friction"),
        ({"bristle_stiffness": 10.0}, "dry_friction"),
        ({"bristle_damping": 10.0, "dry_friction": 1.0}, "bristle_stiffness"),
        ({"control": "voltage"}, "torque_constant"),
        ({"torque_constant": 0.1}, "resistance"),
        ({"inductance": 0.1}, "torque_constant"),
        ({"supply_voltage": 24}, "torque_constant"),
        ({"current_limit": -1}, "current_limit"),
        ({"torque_constant": 0.1, "resistance": 1, "supply_voltage": 24, "no_load_speed": 3}, "no_load_speed"),
        ({"thermal_capacity": 10}, "torque_constant"),
        ({"thermal_capacity": 10, "torque_constant": 0.1, "resistance": 1}, "thermal_resistance"),
        ({"temperature_limit": 100}, "thermal_capacity"),
        (FULL | {"temperature_limit": 20}, "derating_temperature"),
        (FULL | {"current_limit": float("inf")}, "current_limit"),
        ({"ripple": 0.1}, "ripple_periods"),
        ({"ripple": 1.5, "ripple_periods": 6}, "ripple"),
        ({"law": MotorLaw(lagging, ())}, "memory of the law"),
        ({"law": MotorLaw(lambda u: u, (0.0,))}, "law"),
    ],
)
def test_values_that_do_not_go_together(values: dict, field: str) -> None:
    with pytest.raises(RobotError) as caught:
        wheel(**values)
    assert caught.value.field == field


def test_laws_that_return_something_else() -> None:
    for function in (lambda u, q, v, t, memory: u, lambda u, q, v, t, memory: (u, [0, 0])):
        with pytest.raises(PliantError, match="axle") as caught:
            pliant.Simulation(wheel(law=MotorLaw(function, (0.0,)))).step([0.0])
        assert caught.value.cure


def test_delays_in_milliseconds_are_found_out() -> None:
    with pytest.raises(SimulationError, match="seconds"):
        pliant.Simulation(wheel(command_delay=20.0), dt=1e-3)


@pytest.mark.parametrize("field", ["inductance", "bristle_stiffness"])
def test_smooth_integrators_take_no_motors_that_change_within_a_step(field: str) -> None:
    values = {"inductance": {"torque_constant": 0.1, "resistance": 1}, "bristle_stiffness": {"dry_friction": 1.0}}[
        field
    ]
    with pytest.raises(SimulationError) as caught:
        pliant.Simulation(wheel(**values, **{field: 0.1}), integrator="rk4")
    assert field in caught.value.cure


@pytest.mark.parametrize("field", ["law", "command_delay", "static_friction"])
def test_event_driven_simulation_takes_no_motors_that_remember(field: str) -> None:
    values = {"law": {"law": MotorLaw(lagging, (0.0,))}, "command_delay": {"command_delay": 1e-3}}
    values |= {"static_friction": {"static_friction": 1.0, "stribeck_speed": 0.1}}
    with pytest.raises(SimulationError) as caught:
        pliant.EventSimulation(wheel(**values[field]))
    assert caught.value.field == field


def test_equations_and_bode_plots_take_no_motors_that_remember() -> None:
    robot = wheel(command_delay=1e-3)
    with pytest.raises(RobotError, match="command_delay"):
        pliant.equations(robot)
    with pytest.raises(PliantError, match="command_delay"):
        pliant.analysis.bode(robot)
