"""Motors with a winding: closed forms of current, speed and temperature, limits of voltage and current, derating."""

import math

import numpy as np
import pytest

import pliant
from pliant.actuation.windings import temperature_after
from pliant.robot import Motor, Robot
from simple_bodies import sliding, turning

INERTIA, GEAR, K, R = 0.5, 10.0, 0.05, 2.0
FELT = GEAR * K
WINDING = {"gear": GEAR, "torque_constant": K, "resistance": R}
COPPER = 0.00393  # 1/K, of any table of materials


def wheel(locked: bool = False, inertia: float = INERTIA, **motor) -> Robot:
    return turning(inertia=inertia, locked=locked).with_motor("axle", **(WINDING | motor))


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("inductance", [1e-5, 1e-3, 1.0])
def test_current_of_a_rotor_that_is_held(inductance: float, dt: float) -> None:
    """i = V / R (1 - exp(-t R / L)), exact for any step, also where L / R is far below it."""
    sim = pliant.Simulation(wheel(True, control="voltage", inductance=inductance), dt=dt)
    log = sim.run(0.1, u=[12.0], channels=("tau", "motors"))
    expected = 12 / R * (1 - np.exp(-log.t * R / inductance))
    np.testing.assert_allclose(log["motors.current"][:, 0], expected, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(log.tau[1:, 0], FELT * expected[1:], rtol=1e-11)


def closed_form(inductance: float, voltage: float, t: float) -> tuple[float, float]:
    """Velocity and current of a free rotor from rest: x' = A x + b, by eigenvectors."""
    A = np.array([[0, FELT / INERTIA], [-FELT / inductance, -R / inductance]])
    rest = -np.linalg.solve(A, [0, voltage / inductance])
    values, vectors = np.linalg.eig(A)
    x = rest + (vectors * np.exp(values * t)) @ np.linalg.solve(vectors, -rest.astype(complex))
    return float(x[0].real), float(x[1].real)


@pytest.mark.parametrize("inductance", [0.02, 0.5])
def test_a_rotor_under_voltage_against_its_closed_form(inductance: float) -> None:
    """With 0.5 H speed and current swing; order one in the step."""
    expected, errors = closed_form(inductance, 12.0, 1.0), []
    for dt in (1e-3, 5e-4):
        sim = pliant.Simulation(wheel(control="voltage", inductance=inductance), dt=dt)
        sim.run(1.0, u=[12.0])
        errors.append(max(abs(sim.v[0] - expected[0]), abs(sim.motor_state["current"][0] - expected[1])))
    assert errors[0] < 2e-2
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("integrator", ["rk4", "dormand-prince", "midpoint", "rosenbrock"])
def test_without_inductance_in_smooth_motion(integrator: str) -> None:
    """v = V / k (1 - exp(-k^2 t / (R I)))."""
    sim = pliant.Simulation(wheel(control="voltage"), integrator=integrator)
    sim.run(1.0, u=[12.0])
    expected = 12 / FELT * (1 - math.exp(-(FELT**2) / (R * INERTIA)))
    assert sim.v[0] == pytest.approx(expected, rel=1e-6)
    assert sim.motor_state["current"][0] == pytest.approx((12 - FELT * expected) / R, rel=1e-5)


@pytest.mark.parametrize("dt", [1e-3, 1e-1])
def test_strong_back_emf_is_stable_at_any_step(dt: float) -> None:
    """A light rotor with a thick winding reaches its no-load speed at once and stays there."""
    robot = wheel(inertia=1e-6, control="voltage", resistance=1e-3, inductance=1e-6)
    log = pliant.Simulation(robot, dt=dt).run(10 * dt, u=[12.0], channels=("v",))
    np.testing.assert_allclose(log.v[3:, 0], 12 / FELT, rtol=1e-6)


@pytest.mark.parametrize("control", ["torque", "velocity", "position", "law"])
@pytest.mark.parametrize("inductance", [0.0, 5e-3])
def test_supply_and_current_limit_bound_every_control(control: str, inductance: float) -> None:
    """In each step the torque is what was asked for, cut off by the current and by the voltage, at the end of it."""
    V, most, dt = 10.0, 3.0, 1e-3
    own = {"torque": {}, "velocity": {"control": "velocity", "kd": 5.0},
           "position": {"control": "position", "kp": 40.0, "kd": 1.0},
           "law": {"law": lambda u, q, v, t: 2 * u - v}}[control]  # fmt: skip
    inertia = 0.01
    robot = wheel(inertia=inertia, inductance=inductance, supply_voltage=V, current_limit=most, **own)
    sim = pliant.Simulation(robot, dt=dt, batch=16)
    u = np.random.default_rng(2).normal(size=(300, 16, 1)) * 40
    current, seen = np.zeros((16, 1)), set()
    for k in range(300):
        v = sim.v
        sim.step(u[k // 20 * 20])
        given, after = u[k // 20 * 20], sim.v
        asked = {"torque": given, "velocity": 5 * (given - after), "position": 40 * (given - sim.q) - after,
                 "law": 2 * given - v}[control]  # fmt: skip
        share = 1 - math.exp(-dt * R / inductance) if inductance else 1.0
        low, high = ((1 - share) * current + share * (s * V - FELT * after) / R for s in (-1, 1))
        within = np.clip(asked, -FELT * most, FELT * most)
        expected = np.minimum(np.maximum(within, FELT * low), FELT * high)
        np.testing.assert_allclose(sim.tau, expected, rtol=0, atol=1e-7 * FELT * most)
        np.testing.assert_allclose(sim.motor_state["current"], sim.tau / FELT, rtol=1e-12)
        np.testing.assert_allclose(after, v + dt * sim.tau / inertia, rtol=0, atol=1e-9)
        current = sim.motor_state["current"].copy()
        seen |= set(np.select([expected != within, within != asked], ["voltage", "current"], "free").flat)
    assert {"current", "voltage"} <= seen


def test_no_load_speed_follows_from_the_supply() -> None:
    """A torque without end drives a motor to V / k, and no further."""
    sim = pliant.Simulation(wheel(supply_voltage=24.0, current_limit=20.0), dt=1e-2)
    log = sim.run(100.0, u=[1e6], channels=("v", "tau"))
    assert log.tau.max() == pytest.approx(FELT * 24 / R / (1 + 1e-2 * FELT**2 / R / INERTIA), rel=1e-9)
    assert sim.v[0] == pytest.approx(24 / FELT, rel=1e-9)
    assert log.v.max() <= 24 / FELT * (1 + 1e-12)


@pytest.mark.parametrize("integrator", ["rk4", "dormand-prince"])
def test_supply_bounds_smooth_motion(integrator: str) -> None:
    sim = pliant.Simulation(wheel(supply_voltage=24.0), integrator=integrator)
    sim.run(1.0, u=[1e6])
    assert sim.v[0] == pytest.approx(24 / FELT * (1 - math.exp(-(FELT**2) / (R * INERTIA))), rel=1e-6)


# ---- heat

THERMAL = {"thermal_resistance": 2.0, "thermal_capacity": 5.0, "ambient_temperature": 20.0}


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_temperature_under_a_steady_current(integrator: str) -> None:
    """C T' = R (1 + a (T - 25)) i^2 - (T - T0) / Rth is linear in T: an exponential."""
    i, t = 3.0, 8.0
    heat = R * i * i
    rate = (1 / 2.0 - heat * COPPER) / 5.0
    rest = (heat * (1 - 25 * COPPER) + 20.0 / 2.0) / (5.0 * rate)
    expected, errors = rest + (20 - rest) * math.exp(-rate * t), []
    for dt in (2e-2, 1e-2):
        sim = pliant.Simulation(wheel(True, **THERMAL) if integrator == "semi-implicit" else wheel(**THERMAL),
                                dt=dt, integrator=integrator)  # fmt: skip
        assert sim.motor_state["temperature"][0] == 20
        sim.run(t, u=[FELT * i])
        errors.append(abs(sim.motor_state["temperature"][0] - expected))
    assert errors[0] < 0.02
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.2)


def test_temperature_is_stable_at_any_step() -> None:
    motor = Motor("a", "a", torque_constant=K, resistance=R, thermal_resistance=2.0, thermal_capacity=1e-3)
    assert temperature_after(motor, 500.0, 0.0, 10.0) == pytest.approx(25, abs=1e-9)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_derating_keeps_a_motor_below_its_limit(integrator: str) -> None:
    """A load that cooks the motor: the limit falls to where heat in is heat out."""
    robot = wheel(integrator == "semi-implicit", **THERMAL, current_limit=10.0, derating_temperature=60.0,
                  temperature_limit=100.0)  # fmt: skip
    sim = pliant.Simulation(robot, dt=1e-2, integrator=integrator)
    log = sim.run(100.0, u=[1e3], channels=("tau", "motors"))
    T = log["motors.temperature"][:, 0]
    assert log.tau[1, 0] == FELT * 10
    assert 60 < T[-1] < 100
    assert T.max() < 100
    # balance, and the line of the limit
    i = sim.tau[0] / FELT
    assert i == pytest.approx(10 * (100 - T[-1]) / 40, rel=1e-3)
    assert R * (1 + COPPER * (T[-1] - 25)) * i * i == pytest.approx((T[-1] - 20) / 2, rel=1e-3)


def test_slides_have_windings_too() -> None:
    """A linear motor: its constant is a force per current."""
    robot = sliding(mass=2).with_motor("slide", torque_constant=20.0, resistance=4.0, control="voltage")
    sim = pliant.Simulation(robot)
    sim.run(5.0, u=[4 * 2 * 9.81 / 20])  # a current whose force is the weight
    assert abs(sim.v[0]) < 1e-9


def test_equations_have_the_back_emf() -> None:
    eq = pliant.equations(wheel(control="voltage"))
    (u,), (v,) = eq.u, eq.v
    assert float(eq.Q[0].subs({u: 8, v: 0})) == pytest.approx(FELT * 8 / R)
    assert float(eq.Q[0].diff(v)) == pytest.approx(-(FELT**2) / R)


# ---- ripple


def test_ripple_and_cogging_by_the_angle_of_the_rotor() -> None:
    """tau = u (1 + r cos(n g q)) + c cos(n g q), at the position where the step begins."""
    robot = turning(inertia=INERTIA).with_motor("axle", gear=3, ripple=0.1, cogging=0.2, ripple_periods=7)
    log = pliant.Simulation(robot).run(0.5, u=[2.0], channels=("q", "tau"))
    wave = np.cos(7 * 3 * log.q[:-1, 0])
    np.testing.assert_allclose(log.tau[1:, 0], 2 * (1 + 0.1 * wave) + 0.2 * wave, rtol=1e-12)


def test_cogging_holds_a_rotor_and_gives_back_its_energy() -> None:
    """Without current, cogging is a potential: the rotor swings in its wells, c / n (1 - cos) high."""
    c, n = 0.2, 4
    robot = turning(inertia=INERTIA).with_motor("axle", cogging=c, ripple_periods=n)
    sim = pliant.Simulation(robot, integrator="rk4")
    sim.reset(q=[0.1])
    log = sim.run(5.0, channels=("q", "v"))
    energy = 0.5 * INERTIA * log.v**2 - c / n * np.sin(n * log.q)
    np.testing.assert_allclose(energy, energy[0, 0], rtol=0, atol=1e-9)


def test_event_driven_simulation_has_windings() -> None:
    sim = pliant.EventSimulation(wheel(control="voltage"))
    sim.run(1.0, u=[12.0])
    # to its rtol of 1e-8 a step
    assert sim.v[0] == pytest.approx(12 / FELT * (1 - math.exp(-(FELT**2) / (R * INERTIA))), rel=1e-6)
