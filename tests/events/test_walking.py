"""A compass gait down a slope, against equations of its own [Goswami, Thuilot, Espiau 1998]."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from simple_bodies import G, compass, jumps
from simulated_robots import ran

SLOPE = math.radians(3)
HIP, LEG, A, B = 10.0, 5.0, 0.5, 0.5
L = A + B


def step_ahead(name, t, q, v) -> bool:
    """The swing foot may touch if it is ahead: legs without knees would scuff the slope in passing."""
    swing, stance = (q[2], q[3]) if name == "left_foot" else (q[3], q[2])
    return swing < stance - 0.05


def standing(stance: float, swing: float, stance_rate: float, swing_rate: float) -> tuple[list, list]:
    """The walker on its left foot; angles of the legs from the vertical, positive where the foot is behind."""
    q = [L * math.sin(stance), L * math.cos(stance), stance, swing]
    v = [L * math.cos(stance) * stance_rate, -L * math.sin(stance) * stance_rate, stance_rate, swing_rate]
    return q, v


@pytest.fixture(scope="module")
def walk():
    sim = pliant.EventSimulation(compass(HIP, LEG, L), ground=pliant.slope(-SLOPE), friction=5, when=step_ahead)
    return ran(sim, 17.0, *standing(SLOPE - 0.27, SLOPE + 0.27, 1.1, 0.4), every=0.1)[1]


def cycle_by_hand() -> tuple[float, np.ndarray]:
    """Period and state after touch-down (stance, swing, rates) of the walk that repeats itself."""

    def rates(t, x):
        s, w, sd, wd = x  # stance, swing
        k = LEG * L * B * math.cos(s - w)
        M = np.array([[HIP * L**2 + LEG * (A**2 + L**2), -k], [-k, LEG * B**2]])
        turn = LEG * L * B * math.sin(s - w)
        bias = np.array([-turn * wd**2, turn * sd**2])
        gravity = np.array([-(HIP * L + LEG * (A + L)) * G * math.sin(s), LEG * B * G * math.sin(w)])
        return [sd, wd, *np.linalg.solve(M, -bias - gravity)]

    def touching(t, x):  # the gap is -2 L sin((stance + swing) / 2 - slope) sin((stance - swing) / 2)
        return x[0] + x[1] - 2 * SLOPE if x[0] - x[1] > 0.05 else -1.0

    vars(touching).update(terminal=True, direction=1)

    def momenta(s, w, hip_velocity, sd, wd):
        """Angular momentum of all about the foot that lands, and of the leg that leaves about the hip."""
        hip = L * np.array([math.sin(w), math.cos(w)])
        masses = [(HIP, hip, hip_velocity)]
        for angle, rate in ((s, sd), (w, wd)):
            arm, turn = np.array([math.sin(angle), math.cos(angle)]), np.array([math.cos(angle), -math.sin(angle)])
            masses.append((LEG, hip - B * arm, hip_velocity - B * rate * turn))
        whole = sum(m * (p[1] * u[0] - p[0] * u[1]) for m, p, u in masses)
        m, p, u = masses[1]
        return np.array([whole, m * ((p - hip)[1] * u[0] - (p - hip)[0] * u[1])])

    def pivoting(angle, rate):  # velocity of the hip about a foot that stands
        return L * rate * np.array([math.cos(angle), -math.sin(angle)])

    def stride(x):
        found = solve_ivp(rates, (0, 2), x, events=touching, rtol=1e-11, atol=1e-12)
        s, w, sd, wd = found.y_events[0][0]
        before = momenta(s, w, pivoting(s, sd), sd, wd)
        # linear in the rates after: of the leg that leaves, of the one that stands now
        after = np.array([momenta(s, w, pivoting(w, b), a, b) for a, b in ((1, 0), (0, 1))]).T
        leaving, standing = np.linalg.solve(after, before)
        return float(found.t_events[0][0]), np.array([w, s, standing, leaving])

    period, x = stride(np.array([-0.2187, 0.3234, 1.092, 0.377]))
    for _ in range(20):
        period, x = stride(x)
    return period, x


def touch_downs(log) -> tuple[np.ndarray, np.ndarray]:
    """Times, and (stance, swing, rates) after them."""
    events = log.events_of("touch-down")
    states = []
    for event in events:
        _, k = jumps(log, event)
        stance, swing = (2, 3) if event.names == ("left_foot",) else (3, 2)
        states.append([log.q[k, stance], log.q[k, swing], log.v[k, stance], log.v[k, swing]])
    return np.array([event.t for event in events]), np.array(states)


def test_it_walks_with_one_foot_after_the_other(walk) -> None:
    events = walk.events_of("touch-down")
    assert [event.names for event in events] == [(("right_foot", "left_foot")[k % 2],) for k in range(len(events))]
    assert {event.after for event in events} == {"left_foot sticks", "right_foot sticks"}
    assert all(event.energy_lost > 0 for event in events)
    assert len(events) == len(walk.events)


def test_it_settles_on_a_cycle(walk) -> None:
    _, states = touch_downs(walk)
    # its multipliers are some 0.4 in size: twenty steps take 1e-2 to below 1e-7
    assert abs(states[-1] - states[-2]).max() < 1e-6
    assert abs(states[1] - states[0]).max() > 1e-3


def test_the_cycle_is_the_one_of_the_equations_by_hand(walk) -> None:
    times, states = touch_downs(walk)
    period, state = cycle_by_hand()
    assert times[-1] - times[-2] == pytest.approx(period, abs=1e-6)
    assert np.allclose(states[-1], state, atol=1e-6)
    assert period == pytest.approx(0.734, abs=1e-3)  # as published


def test_a_step_loses_what_the_slope_gives(walk) -> None:
    _, states = touch_downs(walk)
    step = 2 * L * math.sin((states[-1, 1] - states[-1, 0]) / 2)
    given = (HIP + 2 * LEG) * G * step * math.sin(SLOPE)
    assert walk.events[-1].energy_lost == pytest.approx(given, rel=1e-6)


def test_a_foot_that_may_not_touch_passes_and_is_asked_again() -> None:
    asked = []

    def when(name, t, q, v) -> bool:
        asked.append(t)
        return t > 1

    robot = compass().with_gravity(0, 0, 0)
    sim = pliant.EventSimulation(robot, ground=pliant.flat(), when=when, friction=5)
    ran(sim, 0.5, [0, 1.1, 0.8, -0.8], [0, -1, 0, 0])
    assert asked == pytest.approx([1.1 - math.cos(0.8)] * 2)
    assert sim.mode_name == "flight"
    sim.state = replace(sim.state, v=np.array([0.0, 1, 0, 0]))  # out again
    sim.run(0.5)
    assert len(asked) == 2
    sim.state = replace(sim.state, v=np.array([0.0, -1, 0, 0]))
    log = sim.run(0.5)
    assert len(asked) == 4
    assert set(log.events[0].names) == {"left_foot", "right_foot"}
