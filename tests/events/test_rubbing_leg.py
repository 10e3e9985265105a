"""A leg with a loop and dry friction in its joints, next to an integration in minimal coordinates.

A trunk hangs on a vertical rail. Its leg is a parallelogram: thigh and bar turn alike, so that the shank below them
does not turn. A point closure holds the bar at the shank. With the height z of the trunk and the angle theta of the
thigh from the vertical,

    T = m z'^2 / 2 + P sin(theta) theta' z' + I theta'^2 / 2
    U = m g z - P g cos(theta) + k (theta - rest)^2 / 2

and the foot is at x = L sin(theta) + const and the height z - L cos(theta) - S. Dry friction at hip and knee, which
turn by theta and -theta, takes (f_hip + f_knee) |theta'|.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from pliant.robot import Robot, RobotBuilder

G, L, S, MU = 9.81, 0.3, 0.1, 0.4
TRUNK, THIGH, BAR, SHANK = 2.0, 0.6, 0.3, 0.5
I_THIGH, I_BAR, I_SHANK = 0.006, 0.003, 0.004
SPRING, REST = 90.0, 0.5
HIP, KNEE = 0.7, 0.4

MASS = TRUNK + THIGH + BAR + SHANK
P = (THIGH / 2 + BAR / 2 + SHANK) * L
INERTIA = I_THIGH + I_BAR + (THIGH / 4 + BAR / 4 + SHANK) * L**2


def leg() -> Robot:
    builder = RobotBuilder("leg").body("trunk", TRUNK, (0, 0, 0), (0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("rail", "prismatic", "world", "trunk", axis=(0, 0, 1))
    for name, mass, inertia, parent, at in (
        ("thigh", THIGH, I_THIGH, "trunk", (0, 0, 0)), ("bar", BAR, I_BAR, "trunk", (0.1, 0, 0)),
    ):  # fmt: skip
        builder.body(name, mass, (0, 0, -L / 2), (inertia, 0, 0, inertia, 0, inertia))
        # turned by theta about -y, the leg points to x = sin(theta)
        builder.joint("hip" if name == "thigh" else "bar_hip", "revolute", parent, name, at, axis=(0, -1, 0))
    builder.body("shank", SHANK, (0.02, 0, -0.03), (I_SHANK, 0, 0, I_SHANK, 0, I_SHANK))
    builder.joint("knee", "revolute", "thigh", "shank", (0, 0, -L), axis=(0, -1, 0))
    builder.frame("bar_end", "bar", (0, 0, -L)).frame("shank_end", "shank", (0.1, 0, 0))
    builder.frame("foot", "shank", (0, 0, -S))
    robot = builder.build().with_closure("point", "bar_end", "shank_end", name="loop").with_contact("foot")
    robot = robot.with_joint("hip", stiffness=SPRING, rest=REST, friction=HIP)
    return robot.with_joint("knee", friction=KNEE)


# ---- the independent integration: z, theta and their rates; contact with the ground, and the sign of theta'


def inertia_at(theta: float) -> np.ndarray:
    return np.array([[MASS, P * math.sin(theta)], [P * math.sin(theta), INERTIA]])


def foot_rows(theta: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array([1, L * math.sin(theta)]), np.array([0, L * math.cos(theta)])


def accelerations(state: np.ndarray, on_ground: bool, sign: int) -> tuple[np.ndarray, float]:
    """z'', theta'' and the normal force; with sign 0 the leg does not turn."""
    _, theta, _, rate = state
    normal, aside = foot_rows(theta)
    force = np.array([-MASS * G - P * math.cos(theta) * rate**2, -P * G * math.sin(theta) - SPRING * (theta - REST)])
    if sign == 0:
        # friction holds theta: z falls, or does not
        return (np.zeros(2), MASS * G) if on_ground else (np.array([force[0] / MASS, 0.0]), 0.0)
    force[1] -= sign * (HIP + KNEE)
    M = inertia_at(theta)
    if not on_ground:
        return np.linalg.solve(M, force), 0.0
    A = np.zeros((3, 3))
    A[:2, :2], A[:2, 2], A[2, :2] = M, -(normal - MU * sign * aside), normal
    found = np.linalg.solve(A, [*force, -L * math.cos(theta) * rate**2])
    return found[:2], float(found[2])


def next_sign(state: np.ndarray, on_ground: bool) -> int:
    """Where theta goes from rest: that way, if it accelerates so."""
    for sign in (1, -1):
        if sign * accelerations(state, on_ground, sign)[0][1] > 1e-9:
            return sign
    return 0


def landed(state: np.ndarray) -> tuple[np.ndarray, int]:
    """The state after a plastic impact with Coulomb's friction, and the sign of theta'."""
    normal, aside = foot_rows(state[1])
    J, v = np.array([normal, aside]), state[2:]
    W = J @ np.linalg.solve(inertia_at(state[1]), J.T)
    u = J @ v
    p = np.linalg.solve(W, -u)
    sign = 0
    if abs(p[1]) > MU * p[0]:
        for sign in (1, -1):
            p = np.array([1, -MU * sign]) * -u[0] / (W[0, 0] - MU * sign * W[0, 1])
            if sign * (u + W @ p)[1] > 0:
                break
    after = np.concatenate([state[:2], v + np.linalg.solve(inertia_at(state[1]), J.T @ p)])
    return after, sign


def integrated(state: np.ndarray, end: float) -> tuple[np.ndarray, list[tuple[str, float]]]:
    """The state at the end, and what happened when."""
    t, on_ground, events = 0.0, False, []
    sign = next_sign(state, on_ground)
    while t < end:

        def rates(_, x: np.ndarray, on_ground=on_ground, sign=sign) -> np.ndarray:
            return np.concatenate([x[2:], accelerations(x, on_ground, sign)[0]])

        def height(_, x: np.ndarray) -> float:
            return x[0] - L * math.cos(x[1]) - S

        def turn(_, x: np.ndarray, sign=sign) -> float:
            return sign * x[3]

        def force(_, x: np.ndarray, sign=sign) -> float:
            return accelerations(x, True, sign)[1]

        watched: list[Callable] = [force if on_ground else height, *([turn] if sign else [])]
        for f in watched:
            f.terminal, f.direction = True, -1
        found = solve_ivp(rates, (t, end), state, method="DOP853", rtol=1e-12, atol=1e-13, events=watched)
        t, state = found.t[-1], found.y[:, -1]
        if not found.status:
            break
        hit = next(k for k, times in enumerate(found.t_events) if len(times))
        if hit == 0 and on_ground:
            events.append(("lift-off", t))
            on_ground = False
        elif hit == 0:
            events.append(("touch-down", t))
            state, sign = landed(state)
            on_ground = True
            sign = sign or next_sign(state, on_ground)
        else:
            state[3] = 0
            new = next_sign(state, on_ground)
            events.append(("reversal" if new else "stick", t))
            sign = new
        if on_ground and sign == 0:
            break
    return state, events


# lift-off and two turns in the air; friction holds the leg until and after it lands; a kick; a reversal on the ground
@pytest.mark.parametrize(
    ("theta", "rate", "drop", "count"),
    [(0.9, 0.0, 0.02, 6), (0.5, 0.0, 0.15, 1), (0.2, 3.0, 0.05, 3), (0.9, -8.0, 0.02, 7)],
)
def test_a_leg_with_a_loop_and_dry_friction(theta: float, rate: float, drop: float, count: int) -> None:
    z, end = L * math.cos(theta) + S + drop, 0.8
    state, events = integrated(np.array([z, theta, 0, rate]), end)
    robot = leg()
    sim = pliant.EventSimulation(robot, ground=pliant.flat(friction=MU), rtol=1e-10, atol=1e-12)
    assert list(robot.joints) == ["rail", "hip", "knee", "bar_hip"]
    sim.reset(q=[z, theta, -theta, theta], v=[0, rate, -rate, rate])
    log = sim.run(end)
    q, v = sim.q[:2], sim.v[:2]
    # errors of both integrations, at 1e-10 a step
    np.testing.assert_allclose(q, state[:2], atol=2e-8)
    np.testing.assert_allclose(v, state[2:], atol=2e-7)
    for kind in ("touch-down", "lift-off"):
        mine, theirs = [e.t for e in log.events_of(kind)], [t for k, t in events if k == kind]
        np.testing.assert_allclose(mine, theirs, atol=1e-8)
    # what turns stops at the same times: hip and knee, and the foot with them
    stops = sorted({e.t for kind in ("stick", "reversal") for e in log.events_of(kind)})
    wanted = [t for k, t in events if k in ("stick", "reversal")]
    np.testing.assert_allclose(stops, wanted, atol=1e-7)
    assert len(events) == count
    # the loop stays closed, and dry friction and contacts only take energy away
    opened = [abs(sim.terms(t, q, v, np.zeros(0)).open).max() for t, q, v in zip(log.t, log.q, log.v, strict=True)]
    assert max(opened) < 1e-10
    total = log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]
    assert np.diff(total).max() < 1e-8
