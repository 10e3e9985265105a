"""Runs: what events and logs tell, controllers, resets, and input that is wrong."""

import math
import pickle

import numpy as np
import pytest

import pliant
from simple_bodies import G, box, point
from simulated_robots import CART_POLE, PENDULUM, ran, started

FALL = math.sqrt(2 * 0.3 / G)


def bouncing(restitution: float) -> pliant.EventSimulation:
    return pliant.EventSimulation(point(), ground=pliant.flat(), restitution=restitution)


@pytest.fixture(scope="module")
def dropped():
    sim = pliant.EventSimulation(point(2), ground=pliant.flat(), friction=0.5)
    return ran(sim, 1.0, [0, 0.3], [1, 0], every=0.1)[1]


def test_an_event_tells_what_happened(dropped) -> None:
    landing = dropped.events[0]
    assert landing.t == pytest.approx(FALL, abs=1e-12)
    assert (landing.kind, landing.names) == ("touch-down", ("mass",))
    # friction's share is mu of the normal impulse unless it stops the mass: 1 m/s < 0.5 * 2.43 m/s, so it does
    assert landing.impulse["mass"] == pytest.approx([-2.0, 0, 2 * G * FALL])
    assert landing.energy_lost == pytest.approx(1 + (G * FALL) ** 2)
    assert (landing.before, landing.after) == ("flight", "mass sticks")
    assert str(landing) == "0.247309683 s: touch-down of mass, 6.886 J lost; flight -> mass sticks"


def test_the_log_has_entries_at_regular_times_and_around_events(dropped) -> None:
    regular = [t for t in dropped.t if t != dropped.events[0].t]
    assert regular == pytest.approx([0.1 * k for k in range(11)])
    before, after = np.flatnonzero(dropped.t == dropped.events[0].t)
    assert dropped.v[before] == pytest.approx([1, -G * FALL])
    assert dropped.v[after] == pytest.approx([0, 0], abs=1e-12)


def test_modes_and_parts(dropped) -> None:
    assert dropped.modes == ("flight", "mass sticks")
    assert (dropped.t[dropped.in_mode("flight")] <= dropped.events[0].t).all()
    assert dropped.in_mode("mass sticks").sum() == 9
    with pytest.raises(pliant.PliantError, match=r"no mode named 'mass slides'.*'mass sticks'"):
        dropped.in_mode("mass slides")
    assert dropped.between(0.5, 1).events == ()
    assert dropped.between(0, 0.5).events == dropped.events
    assert dropped.events_of("lift-off") == []


def test_the_motion_is_known_at_any_time(dropped) -> None:
    times = np.array([0.01, 0.1234, 0.2])
    q, v = dropped.at(times)
    assert q[:, 1] == pytest.approx(0.3 - G * times**2 / 2, abs=1e-13)
    assert v[:, 1] == pytest.approx(-G * times, abs=1e-13)
    assert dropped.at(dropped.events[0].t)[1] == pytest.approx([0, 0], abs=1e-12)  # after it
    assert dropped.at(1.0)[0] == pytest.approx([FALL, 0], abs=1e-12)
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(pliant.PliantError, match=r"goes from t = 0 s to 1 s; asked for") as error:
            dropped.at(wrong)
        assert (error.value.subject, error.value.field) == ("dense solution", "t")


def test_runs_go_on_where_the_last_one_ended() -> None:
    once, twice = (started(bouncing(0.6), q=[0, 0.2], v=[0.3, 0]) for _ in range(2))
    once.run(0.9)
    events = [event for _ in range(3) for event in twice.run(0.3).events]
    assert len(events) > 3
    assert twice.q == pytest.approx(once.q, abs=1e-12)
    assert twice.t == pytest.approx(0.9)


def test_on_event_may_put_the_robot_elsewhere() -> None:
    """Thrown up again with 2 m/s at every landing: it lands every 2 v / g."""
    sim = started(pliant.EventSimulation(point(), ground=pliant.flat()), v=[0, 2])
    log = sim.run(2.1, on_event=lambda event, q, v: (q + np.array([1, 0]), [0, 2]))
    assert [event.t for event in log.events] == pytest.approx([4 / G * k for k in range(1, 6)], abs=1e-11)
    assert sim.q[0] == pytest.approx(5)
    with pytest.raises(pliant.SimulationError, match=r"on_event returned a state with 'mass' 0.1 m inside"):
        sim.run(1, on_event=lambda event, q, v: ([0, -0.1], v))
    sim.reset(v=[0, 1])
    with pytest.raises(pliant.SimulationError, match=r"on_event returned 3; it takes None"):
        sim.run(1, on_event=lambda event, q, v: 3)


def test_what_touches_at_the_start_has_not_touched_down() -> None:
    seen = []
    sim = pliant.EventSimulation(point(), ground=pliant.flat())
    sim.run(0.1, on_event=lambda event, q, v: seen.append(event))
    assert seen == []
    sim.reset(v=[0, -1])
    log = sim.run(0.1)
    assert [(event.t, event.energy_lost) for event in log.events] == [(0, 0.5)]


# ---- controls

GAINS = np.array([3.0, 41.0, 4.4, 10.2])
WEIGHTLESS = PENDULUM.with_gravity(0, 0, 0).with_joint("hinge", damping=0)
INERTIA = pliant.mass_matrix(WEIGHTLESS, [0.0])[0, 0]


def balance(t, q, v):
    return [3 * q[0] + 41 * q[1] + 4.4 * v[0] + 10.2 * v[1]]


def test_a_controller_that_is_asked_all_the_time_is_a_part_of_the_motion() -> None:
    """The linearised pole under feedback, small enough: it is the matrix exponential."""
    from scipy.linalg import expm

    sim = pliant.EventSimulation(CART_POLE, limits=False)
    size = 1e-6
    _, log = ran(sim, 1.0, [0, size], controller=balance)

    def rates(x):
        return np.concatenate([x[2:], pliant.forward_dynamics(CART_POLE, x[:2], x[2:], np.array([GAINS @ x, 0]))])

    h = 1e-6
    A = np.stack([(rates(h * e) - rates(-h * e)) / (2 * h) for e in np.eye(4)], axis=1)
    expected = expm(A) @ [0, size, 0, 0]
    assert np.concatenate([sim.q, sim.v]) == pytest.approx(expected, abs=1e-6 * size + 1e-9)
    assert log["tau"][0] == pytest.approx([41 * size])


def test_a_sampled_controller_is_asked_once_a_period_and_held() -> None:
    asked = []

    def policy(t, q, v):
        asked.append(t)
        return [len(asked) / 10]

    sim = pliant.EventSimulation(WEIGHTLESS)
    log = sim.run(0.1, controller=policy, period=0.02, every=0.01)
    assert asked == pytest.approx([0, 0.02, 0.04, 0.06, 0.08])
    assert sim.v[0] == pytest.approx(0.02 * (1 + 2 + 3 + 4 + 5) / 10 / INERTIA)
    assert len(log) == 11


def test_a_controller_with_commands_and_memory() -> None:
    def count(t, q, v, command, memory):
        return [command[0] * memory[0]], [memory[0] + 1]

    options = {"controller": pliant.Controller(count, commands=1, memory=(1,)), "period": 0.01}
    sim = pliant.EventSimulation(WEIGHTLESS)
    sim.run(0.02, commands=[0.2], **options)
    sim.run(0.02, commands=lambda t: [0.2], **options)
    # the second run goes on with what the first remembered
    assert sim.v[0] == pytest.approx(0.01 * 0.2 * (1 + 2 + 3 + 4) / INERTIA)
    ran(sim, 0.01, commands=[0.2], **options)
    assert sim.v[0] == pytest.approx(0.01 * 0.2 / INERTIA)
    with pytest.raises(pliant.SimulationError, match="once a period; give period="):
        sim.run(0.1, controller=options["controller"], commands=[1.0])
    for wrong in ([1.0, 2.0], [math.nan], 3.0):
        with pytest.raises(pliant.SimulationError, match=r"commands are .*takes 1 finite numbers"):
            sim.run(0.1, commands=wrong, **options)


# ---- wrong input


@pytest.mark.parametrize("options, text", [
    ({"rtol": 0}, "rtol is 0; it takes a positive number"),
    ({"atol": math.nan}, "atol is nan"),
    ({"max_step": -1}, "max_step is -1"),
    ({"rest_speed": "slow"}, "rest_speed is 'slow'"),
    ({"friction": -1}, "friction"),
    ({"restitution": 2}, "restitution"),
    ({"when": 3}, "when is 3"),
    ({"when": lambda name: True}, "when .* is called with"),
    ({"forces": [1]}, "pliant.ExternalForce"),
])  # fmt: skip
def test_wrong_options(options, text: str) -> None:
    with pytest.raises(pliant.PliantError, match=text):
        pliant.EventSimulation(point(), ground=pliant.flat(), **options)


def test_a_simulation_takes_a_robot() -> None:
    with pytest.raises(pliant.SimulationError, match=r"robot is .hopper.; it takes a Robot"):
        pliant.EventSimulation("hopper")  # type: ignore[arg-type]


@pytest.mark.parametrize("state, text", [
    ({"q": [0, 0, 0]}, r"q has shape \(3,\); it takes \(2,\)"),
    ({"v": [math.nan, 0]}, "v is not finite at 'x'"),
    ({"q": "here"}, "q is 'here'; it takes real numbers"),
    ({"t": math.inf}, "t is inf"),
])  # fmt: skip
def test_wrong_states(state, text: str) -> None:
    with pytest.raises(pliant.SimulationError, match=text):
        pliant.EventSimulation(point(), ground=pliant.flat()).reset(**state)


@pytest.mark.parametrize("options, text", [
    ({"duration": -1}, "duration is -1"),
    ({"every": 0}, "every is 0"),
    ({"period": 0, "controller": balance}, "period is 0"),
    ({"max_events": 0}, "max_events is 0"),
    ({"u": [1.0], "controller": balance}, "run has controller and u; give one of them"),
    ({"u": [1.0, 2.0]}, r"u has shape \(2,\).*takes \(1,\): hinge"),
    ({"u": 1.0}, r"u has shape \(\)"),
    ({"u": [math.nan]}, "u is not finite at 'hinge'"),
    ({"controller": 5}, "controller is 5"),
    ({"controller": lambda t: [0]}, r"is called with \(t, q, v\)"),
    ({"controller": lambda t, q, v: [0, 0]}, r"the result of the controller at t = 0 s has shape \(2,\)"),
    ({"controller": lambda t, q, v: [math.nan]}, "not finite at 'hinge'"),
    ({"commands": [1.0]}, "no Controller that takes any"),
    ({"on_event": 1}, "on_event is 1"),
])  # fmt: skip
def test_wrong_runs(options, text: str) -> None:
    sim = pliant.EventSimulation(PENDULUM)
    with pytest.raises(pliant.SimulationError, match=text):
        sim.run(**{"duration": 0.1, **options})


def test_too_many_events_end_the_run() -> None:
    with pytest.raises(pliant.SimulationError, match=r"more than 7 events by t = .*max_events="):
        ran(bouncing(0.9), 5.0, [0, 0.1], max_events=7)


def test_forces_that_are_no_numbers_are_told() -> None:
    blow = pliant.ExternalForce("box", force=lambda t: (0, 0, 1 / (0.3 - t)))
    with pytest.raises(pliant.SimulationError, match=r"t = 0\.\d+ s, flight: no step is short enough"):
        pliant.EventSimulation(box(), forces=[blow]).run(0.5)


def test_no_time_and_no_ground() -> None:
    sim = pliant.EventSimulation(box())
    assert len(sim.run(0.0)) == 1
    log = sim.run(0.5)
    assert log.modes == ("flight",)
    assert sim.q[2] == pytest.approx(-G * 0.125, abs=1e-12)


# ---- snapshots


@pytest.mark.parametrize("end", [0.02, 0.1, 0.2, 0.35])
def test_a_snapshot_in_any_mode_goes_on_bit_for_bit(end: float) -> None:
    """A box that lands on an edge, slides on redundant corners, turns, creeps and comes to rest."""

    def made() -> pliant.EventSimulation:
        return pliant.EventSimulation(box(), ground=pliant.flat(), friction=0.3, restitution=0.2)

    sim = started(made(), q=[0, 0, 0.06, 0, 0.02, 0, math.sqrt(1 - 0.0004)], v=[0.8, 0.1, 0, 0, 0, 2])
    sim.run(end)
    before = pickle.dumps(sim.state)
    log = sim.run(0.1)
    other = made()
    other.state = pickle.loads(before)
    assert other.mode_name == log.modes[log["mode"][0]]
    assert other.run(0.1) == log
    assert other.state.identical(sim.state)


def test_a_saved_run_without_q_keeps_its_dense_output(tmp_path) -> None:
    _, log = ran(bouncing(0.6), 0.3, [0, 0.2], [0.3, 0], channels=("forces",), save=tmp_path / "run.h5")
    assert list(log) == ["forces", "mode"]
    assert log.at(0.1)[0] == pytest.approx([0.03, 0.2 - G * 0.01 / 2])
