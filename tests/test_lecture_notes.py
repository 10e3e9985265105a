"""The simulator of the lecture notes: its formulas, its orders, and its agreement with the event-driven simulation.

The simulator is that of examples/16_lecture_notes.py, which is also the code of docs/lecture_notes.md.
"""

import ast
import math
import re
import runpy
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import constrained as lab

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "16_lecture_notes.py"
G = 9.81


@cache
def notes() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


@cache
def hopper() -> tuple[Any, Any]:
    """The hopper, and its motion by events."""
    case = notes()["hopper"]()
    return case, case.by_events()


def hop_error(dt: float) -> float:
    case, exact = hopper()
    motion = case.by_notes(dt)
    return notes()["height_error"](exact, motion.t, motion.q)


def slider(mass: float) -> pliant.Robot:
    builder = pliant.RobotBuilder("slider").body("mass", mass=mass)
    return builder.joint("rail", "prismatic", "world", "mass", axis=(0, 0, 1)).build()


def ball() -> pliant.Robot:
    return pliant.RobotBuilder("ball").body("ball", 1, inertia=(0.1, 0, 0, 0.2, 0, 0.3)).build(base="free")


# ---- the step


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_a_falling_body_is_too_low_by_g_t_dt(dt: float) -> None:
    # z_n = -g dt^2 (n^2 + 2 n) / 2, by summing the formula up
    robot, euler_step = ball(), notes()["euler_step"]
    q, v = robot.neutral(), np.zeros(6)
    for _ in range(round(0.5 / dt)):
        q, v = euler_step(robot, q, v, pliant.forward_dynamics(robot, q, v, np.zeros(6)), dt)
    # of some hundred additions of numbers around 1
    assert q[2] == pytest.approx(-G * 0.5**2 / 2 - G * 0.5 * dt, abs=1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.3, 1.2])
def test_a_spring_is_stable_as_long_as_the_notes_step_allows(damping: float) -> None:
    mass, dt = 2.0, 1e-3
    robot = slider(mass)
    for excess in (-1e-3, 1e-3):
        stretch = 2 - damping + excess  # s^2 + d = 2 + excess
        K, D = stretch * mass / dt**2, damping * mass / dt
        columns = [
            np.ravel(notes()["euler_step"](robot, x[:1], x[1:], -(K * x[:1] + D * x[1:]) / mass, dt)) for x in np.eye(2)
        ]
        assert np.linalg.det(columns) == pytest.approx(1 - damping - stretch / 2, abs=1e-10)
        # at the limit an eigenvalue is -1, which moves by some share of the excess; without rounding to fear
        assert (abs(np.linalg.eigvals(columns)).max() < 1) == (excess < 0)


# ---- touch-down, impact and lift-off


def test_a_point_lands_at_the_step_of_the_closed_form_and_stays() -> None:
    # a point of 1 kg, h above the ground, lands in the first step with g dt^2 (n^2 + 2 n) / 2 >= h
    robot, dt, h = ball().with_contacts("ball"), 1e-3, 0.1
    q = robot.neutral()
    q[2] = h
    motion = notes()["simulate"](robot, ("ball",), q, np.zeros(6), lambda q, v: np.zeros(6), 0.2, dt)
    n = math.ceil(math.sqrt(1 + 2 * h / (G * dt**2)) - 1)
    ((t, kind, feet),) = motion.events
    assert (round(t / dt), kind, feet) == (n, "touch-down", ("ball",))
    after = motion.t >= t
    depth = G * dt**2 * (n**2 + 2 * n) / 2 - h
    assert 0 <= depth < dt * G * t * 1.01
    # held: neither velocity nor place change, and the ground carries the weight; rounding of some hundred steps
    assert np.allclose(motion.v[after], 0, atol=1e-12)
    assert np.allclose(motion.q[after, 2], -depth, atol=1e-12)
    assert np.allclose(motion.force[after], G, rtol=1e-12) and not motion.force[~after].any()


def test_feet_that_an_impact_would_pull_down_leave() -> None:
    # front feet that hit the ground while the body pitches: hind feet that touched go up
    case = notes()["quadruped"]()
    q, feet = case.q, case.feet
    for seed in range(20):
        v = np.random.default_rng(seed).normal(size=18) - [0, 0, 2, *np.zeros(15)]
        after, stance = notes()["impact"](case.robot, q, v, feet)
        if 0 < len(stance) < 4:
            break
    held = lab.impact_dynamics(case.robot, q, v, contacts=stance)
    assert 0 < len(stance) < 4 and (held.impulse[2::3] >= 0).all()
    # the projector sets the feet that stay at rest; momentum comes from their impulses alone
    J = lab.contact_jacobian(case.robot, q, contacts=stance)
    assert np.allclose(J @ after, 0, atol=1e-10)
    assert np.allclose(pliant.mass_matrix(case.robot, q) @ (after - v), J.T @ held.impulse, atol=1e-9)


def test_the_hopper_lands_and_lifts_off_with_the_event_driven_one() -> None:
    case, exact = hopper()
    down, up = (next(event.t for event in exact.events if event.kind == kind) for kind in ("touch-down", "lift-off"))
    for dt in (2e-3, 1e-3):
        motion = case.by_notes(dt)
        # at most a step late, since it is looked for at steps, and a step early, since the fall is g t dt ahead
        (landing, *_), (leaving, *_) = motion.events
        assert abs(landing - down) <= 2 * dt and abs(leaving - up) <= 2 * dt
        # the same forces in stance up to the same order: 750 N that come and go in 0.1 s change by 15 N a step of 2 ms,
        # in each of the two steps
        inside = (motion.t > down + 2 * dt) & (motion.t < up - 2 * dt)
        forces = np.interp(motion.t[inside], exact.t, exact["forces"][:, 2])
        assert abs(motion.force[inside] - forces).max() < 2 * dt * 750 * math.pi / (up - down)
        # the foot, held by accelerations alone, drifts by the same order: 0.6 m/s dt
        places = [pliant.frame_pose(case.robot, q, "foot")[:3, 3] for q in motion.q[inside]]
        assert np.linalg.norm(places - places[0], axis=1).max() < dt


def test_orders_are_one() -> None:
    # the error is dt times a number that depends on where in its step the landing falls. For ten steps from 0.25 to
    # 4 ms it is 7.81 to 7.94 m/s, 2 % apart: from steps that differ by four, an order off by log(1.02) / log(4) = 0.015
    errors = {dt: hop_error(dt) for dt in (3e-3, 1.5e-3, 0.75e-3)}
    assert all(7 * dt < error < 9 * dt for dt, error in errors.items())
    assert notes()["order"](list(errors), list(errors.values())) == pytest.approx(1, abs=0.03)


def test_most_of_the_error_is_the_last_term_of_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    # semi-implicit, and Taylor's formula: both of order one, too
    for share, most in ((0.0, 3), (-0.5, 7.5)):

        def step(robot, q, v, a, dt, share=share):
            v = v + dt * a
            return robot.integrate(q, dt * v + share * dt**2 * a), v

        monkeypatch.setitem(notes()["simulate"].__globals__, "euler_step", step)
        # five steps from 0.5 to 2 ms: 1.0 to 2.3 m/s times dt, and 6.4 to 6.6 m/s; the notes' formula 7.9 m/s
        assert all(hop_error(dt) < most * dt for dt in (2e-3, 1e-3))


# ---- soft contact


def test_soft_contact_is_that_of_the_simulator() -> None:
    case, _ = hopper()
    K, D = 1e5, 300.0
    steps = (1e-3, 0.5e-3, 0.25e-3)
    by_notes = [case.by_springs(dt, K, D).q[:: round(1e-3 / dt), 2] for dt in steps]
    # order one: halving the step halves the change, up to where in its step the landing falls, which moves it by 3 %
    changes = [abs(a - b).max() for a, b in pairwise(by_notes)]
    assert changes[0] / changes[1] == pytest.approx(2, abs=0.2)
    law = pliant.AnchoredSpringDamper(K, D, friction=notes()["STICKS"])
    log = case.by_simulation(0.25e-3, contact=pliant.CompliantContact(law))
    # both have an error of their own, 7 dt and 3 dt in m
    assert abs(log.q[::4, 2] - by_notes[-1]).max() < 10 * 0.25e-3


def test_a_point_on_springs_sinks_by_its_weight_and_holds_its_anchor() -> None:
    robot, K, D = ball().with_contacts("ball"), 1e3, 2 * math.sqrt(1e3)
    q = robot.neutral()
    q[2] = 0.01
    push = np.array([2.0, 0, 0, 0, 0, 0])
    motion = notes()["simulate_soft"](robot, ("ball",), q, np.zeros(6), lambda q, v: push, 2.0, 1e-3, K, D)
    # critically damped at 32 rad/s: at rest after 2 s to exp(-63)
    assert motion.q[-1, 2] == pytest.approx(-G / K, rel=1e-9) and motion.force[-1] == pytest.approx(G, rel=1e-9)
    anchor = motion.q[np.argmax(motion.force > 0), 0]
    assert motion.q[-1, 0] == pytest.approx(anchor + 2.0 / K, rel=1e-9)


# ---- the page


def functions(source: str) -> dict[str, str]:
    found = ast.parse(source).body
    return {node.name: ast.dump(node) for node in found if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_the_page_has_the_code_of_the_example() -> None:
    page = (ROOT / "docs" / "lecture_notes.md").read_text(encoding="utf-8")
    shown = functions("\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)))
    code = EXAMPLE.read_text(encoding="utf-8")
    simulator = functions(code[: code.index("# ---- two robots")])
    assert len(simulator) == 12
    assert {name: shown[name] for name in simulator} == simulator
