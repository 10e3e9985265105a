"""The energy ledger against closed forms."""

import math

import numpy as np
import pytest

import pliant
from pliant.analysis import EnergyLedger, energy_ledger
from pliant.robot import Robot
from simulated_robots import started
from view_logs import ball, batch_log, bounce_log, hopper_log

KEPT = ("q", "v", "energy", "power")
G = 9.81


def pendulum(**joint) -> Robot:
    builder = pliant.RobotBuilder("pendulum")
    builder.body("rod", mass=1, com=(0, 0, -0.5), inertia=(1 / 12, 0, 0, 1 / 12, 0, 0))
    return builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), **joint).build()


def slide(mass: float, axis: tuple[int, int, int], gravity: float = G) -> Robot:
    builder = pliant.RobotBuilder("slide").gravity(0, 0, -gravity)
    builder.body("mass", mass=mass, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    return builder.joint("slide", "prismatic", "world", "mass", axis=axis).build()


def slider() -> Robot:
    """2 kg that move along x, of which a rail carries a quarter and the ground the rest, at one point."""
    builder = pliant.RobotBuilder("slider")
    builder.body("carriage", mass=0.5, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.body("box", mass=1.5, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("x", "prismatic", "world", "carriage", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "carriage", "box", axis=(0, 0, 1))
    return builder.build().with_contact("box", radius=0.1)


def run(robot: Robot, seconds: float, q: list[float], *, v=None, u=None, **options) -> tuple[pliant.Log, EnergyLedger]:
    """The log and the ledger of a simulation from a state."""
    log = started(pliant.Simulation(robot, dt=1e-3, **options), q=q, v=v).run(seconds, u=u, channels=KEPT)
    return log, energy_ledger(log)


@pytest.mark.parametrize("integrator", ["dormand-prince", "semi-implicit"])
def test_a_damped_pendulum_loses_the_integral_of_d_v_squared(integrator: str) -> None:
    log, ledger = run(pendulum(damping=0.2), 2.0, [1.0], integrator=integrator)
    v, is_exact = log.v[:, 0], integrator != "semi-implicit"
    dissipated = np.concatenate([[0], np.cumsum(0.2 * (v[1:] ** 2 + v[:-1] ** 2) / 2 * np.diff(log.t))])
    # d v+ (v+ + v) / 2 in place of d v^2, whose mean over a swing is the same to first order
    np.testing.assert_allclose(ledger.lost["joint damping"], dissipated, atol=1e-5 if is_exact else 2e-3)
    assert ledger.lost["joint damping"][-1] > 1
    assert ledger.error is not None
    # the trapezoidal rule, or a method of first order whose errors mostly cancel
    assert abs(ledger.error).max() < (1e-6 if is_exact else 1e-2)
    others = [x for name, x in ledger.lost.items() if name != "joint damping"] + list(ledger.work.values())
    assert not any(x.any() for x in others)


def test_a_sliding_box_loses_friction_times_way() -> None:
    log, ledger = run(slider(), 0.8, [0, 0.1], v=[2.0, 0], ground=pliant.flat(friction=0.4))
    way, force = log["q", "x"], 0.4 * 1.5 * G
    # q is where v at the end of each step takes it, the work counts its mean: off by mu m g dt v0 / 2
    np.testing.assert_allclose(ledger.lost["contact friction"], force * (way - way[0]), atol=force * 1e-3 * 2)
    assert ledger.lost["contact friction"][-1] == pytest.approx(2 * 2.0**2 / 2, rel=1e-9)  # all of its motion
    assert abs(ledger.error).max() < 1e-9  # of level motion the ledger is exact


def test_a_bouncing_ball_loses_by_impacts() -> None:
    log = bounce_log()
    ledger = energy_ledger(log)
    fall = 0.9
    # each impact leaves the square of the restitution
    lost = np.array([G * fall * 0.25**k * (1 - 0.25) for k in range(len(log.events))])
    for event, expected, own in zip(log.events, np.cumsum(lost), lost, strict=True):
        after = np.flatnonzero(log.t == event.t)[-1]
        assert ledger.lost["contact, normal"][after] == pytest.approx(expected, rel=1e-9)
        assert ledger.lost["contact, normal"][after - 1] == pytest.approx(expected - own)
    assert abs(ledger.error).max() < 1e-8


def test_time_stepping_knows_what_an_impact_took() -> None:
    _, ledger = run(ball(), 0.6, [1.0], ground=pliant.flat())
    # falls by 0.9 m and stays; the landing is known to a step, in which it falls 4.2 m/s dt
    assert ledger.lost["contact, normal"][-1] == pytest.approx(G * 0.9, abs=G * 4.2e-3)
    assert abs(ledger.error).max() < G * 1e-3 * math.sqrt(2 * G * 0.9)


def test_a_motor_that_lifts_does_the_work() -> None:
    log, ledger = run(slide(3, (0, 0, 1)).with_motor("slide"), 1.0, [0.0], u=[40.0], integrator="rk4")
    rise = (40 / 3 - G) * log.t**2 / 2
    # of a linear power the trapezoidal rule is exact; the first entry has no torque yet, as nothing has moved
    np.testing.assert_allclose(ledger.work["motors"], 40 * rise, atol=40 * (40 / 3 - G) * 1e-6)
    np.testing.assert_allclose(ledger.stored["potential"] - ledger.stored["potential"][0], 3 * G * rise, atol=1e-9)


def test_pushes_from_outside_do_work() -> None:
    push = pliant.ExternalForce("ball", force=(0, 0, 3.0), start=0.1, end=0.3)
    blow = pliant.ExternalForce("ball", impulse=(0, 0, 2.0), start=0.4)
    log, ledger = run(ball(), 0.5, [1.0], forces=[push, blow])
    z, v, work = log["q", "height"], log["v", "height"], ledger.work["forces from outside"]
    first = 3.0 * (z[300] - z[100])
    assert work[350] == pytest.approx(first, abs=3.0 * 1e-3 * abs(v[300] - v[100]))
    # an impulse p does p (v + v+) / 2
    assert work[-1] - work[350] == pytest.approx(2.0 * (v[400] + v[401]) / 2, rel=1e-9)
    assert abs(ledger.error).max() < G * 1e-3 * 3


def test_dry_friction_stops_and_springs_have_their_terms() -> None:
    # dry friction in a joint: a torque of 0.3 N m against the motion
    log, ledger = run(pendulum(friction=0.3), 0.5, [1.0])
    assert ledger.lost["joint dry friction"][-1] == pytest.approx(0.3 * abs(np.diff(log.q[:, 0])).sum(), rel=2e-3)
    assert abs(ledger.error).max() < 1e-2

    # a stop takes all of the motion
    _, ledger = run(pendulum(limits=(-0.5, 2.0)), 1.0, [1.0])
    heights = -0.5 * np.cos([1.0, -0.5])
    assert ledger.lost["joint limits"][-1] == pytest.approx(G * (heights[0] - heights[1]), rel=1e-2)

    # a damper between frames: all of the energy of a stretched spring, in the end
    robot = slide(1, (1, 0, 0), gravity=0).with_spring("world", "mass", stiffness=50, damping=5)
    _, ledger = run(robot, 4.0, [0.3], integrator="dormand-prince")
    assert ledger.lost["dampers of springs"][-1] == pytest.approx(50 * 0.3**2 / 2, rel=1e-4)


def test_the_hopper_balances_and_is_told_as_a_table() -> None:
    ledger = energy_ledger(hopper_log())
    # the step takes its stiff spring implicitly, which costs some
    assert abs(ledger.error).max() < 0.03 * ledger.work["motors"].max() + 0.3
    text = str(ledger)
    assert text.splitlines()[0].split() == ["energy", "[J],", "from", "0", "to", "0.4", "s", "start", "end", "change"]
    assert f"{ledger.total[-1] - ledger.total[0]:.5g}" in text and "contact, normal" in text
    assert "joint limits" not in text


def test_without_power_only_what_is_stored_is_known() -> None:
    log = hopper_log()
    bare = pliant.Log(log.t, {n: a for n, a in log.channels.items() if not n.startswith("power")})
    ledger = energy_ledger(bare)
    assert ledger.error is None and not ledger.work and "keeps that" in str(ledger)
    assert len(bare.plot_energy().axes) == 1
    with pytest.raises(pliant.PliantError, match="energy_ledger needs channel 'energy' of the log, which has q"):
        energy_ledger(pliant.Log(log.t, {"q": log.q}))


def test_of_a_batch_one_robot() -> None:
    log = batch_log()
    np.testing.assert_array_equal(energy_ledger(log, 2).total, energy_ledger(log.robot(2)).total)
    for some, robot in ((log, 3), (log, [0, 1]), (hopper_log(), 1)):
        with pytest.raises(pliant.PliantError) as error:
            energy_ledger(some, robot)
        assert error.value.field == "robot"


def test_the_plot_shows_what_the_ledger_says(tmp_path) -> None:
    log = hopper_log()
    figure = log.plot_energy(path=tmp_path / "energy.svg")
    stored, since, left = figure.axes
    names = [t.get_text() for t in since.get_legend().get_texts()]
    assert names[0] == "work: motors" and names[-1] == "change of total" and "lost: contact, normal" in names
    assert left.get_ylabel() == "left over [J]"
    total = next(line for line in stored.lines if line.get_label() == "total")
    assert total.get_ydata()[-1] == pytest.approx(energy_ledger(log).total[-1])
    assert (tmp_path / "energy.svg").stat().st_size > 1000


@pytest.mark.parametrize("way", ["rk4", "dormand-prince", "event-driven"])
def test_torques_that_are_held_do_the_work_of_their_own_interval(way: str) -> None:
    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([3 * np.sin(30 * t)])

    options, robot = {"controller": controller, "channels": (*KEPT, "tau")}, pendulum().with_motor("hinge")
    if way == "event-driven":
        log = started(pliant.EventSimulation(robot), q=[1.0]).run(1.0, period=0.01, every=0.01, **options)
    else:
        log = started(pliant.Simulation(robot, dt=0.01, integrator=way), q=[1.0]).run(1.0, **options)
    ledger = energy_ledger(log)
    # tau (q1 - q0) is the work of a held torque, exactly
    t = log.t[:-1]
    work = np.cumsum(3 * np.sin(30 * t) * np.diff(log.q[:, 0]))
    # means of velocities in place of differences of positions: h^3 / 12 of the third derivative, 100 times
    np.testing.assert_allclose(ledger.work["motors"][1:], work, atol=2e-3)
    assert ledger.error is not None and abs(ledger.error).max() < 2e-3
    assert abs(work).max() > 0.3


def test_a_loss_below_zero_is_told() -> None:
    t, zero = np.linspace(0, 1, 3), np.zeros(3)
    stored = {"kinetic": np.ones(3), "potential": zero, "elastic": zero}
    for lost, is_told in ((-0.1, True), (0.1, False), (-1e-9, False)):
        ledger = EnergyLedger(t, stored, {"motors": zero}, {"contact friction": np.array([0, lost, 0])})
        assert ("contact friction is below zero" in str(ledger)) == is_told


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_anchored_springs_take_and_give_back(integrator: str) -> None:
    """A box that swings at its anchor: what the spring holds counts as lost until it comes back; all is balanced."""
    k, K, D = 1e4, 2e3, 10.0
    law = pliant.AnchoredSpringDamper(k, 300, 5.0, tangential_stiffness=K, tangential_damping=D)
    contact = pliant.CompliantContact(law)
    sim = pliant.Simulation(slider(), dt=1e-3, ground=pliant.flat(), contact=contact, integrator=integrator)
    sim.reset(q=[0, 0.1 - 1.5 * G / k], v=[0.2, 0])
    sim.step()  # the first entry of a log has no power yet
    start = float(sim.q[0])
    log = sim.run(1.0, channels=KEPT)
    ledger = energy_ledger(log)
    friction, x, v = ledger.lost["contact friction"], log.q[:, 0], log.v[:, 0]
    assert ledger.error is not None
    if integrator == "rk4":
        spent = np.concatenate([[0], np.cumsum(D * (v[1:] ** 2 + v[:-1] ** 2) / 2 * np.diff(log.t))])
        # the trapezoidal rule: (2 w dt)^2 / 12 of the energy
        np.testing.assert_allclose(friction, spent + K / 2 * (x**2 - start**2), atol=5e-4 * 0.04)
        assert abs(ledger.error).max() < 5e-4 * 0.04
    else:
        # an entry is the mean of its step, and nothing is left over
        assert abs(ledger.error).max() < 1e-12
    assert np.diff(friction).min() < 0  # it comes back
    assert friction[-1] == pytest.approx(0.04, rel=0.03)


def test_a_spring_that_is_stretched_at_the_start() -> None:
    """It gives more than it took, and the ledger says why."""
    law = pliant.AnchoredSpringDamper(1e4, 300, 5.0, tangential_stiffness=2e3, tangential_damping=10)
    sim = pliant.Simulation(slider(), ground=pliant.flat(), contact=pliant.CompliantContact(law))
    sim.reset(q=[0, 0.1 - 1.5 * G / 1e4], v=[0.2, 0])
    sim.run(0.05)
    ledger = energy_ledger(sim.run(0.1, channels=KEPT))
    assert ledger.lost["contact friction"].min() < 0
    assert "springs of compliant ground give back" in str(ledger)
