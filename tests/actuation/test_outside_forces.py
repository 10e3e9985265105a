"""Pushes: constant, in time, as impulses, off the centre; and what is wrong with them."""

import math

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError
from pliant.robot import Robot
from simple_bodies import ball, turned, turning
from simulated_robots import ran

FREE = ball(mass=2, gravity=0).without_contacts().with_frame("rim", "ball", (0, 0.1, 0))
INERTIA = 0.4 * 2 * 0.01


def pushed(*forces: pliant.ExternalForce, robot: Robot = FREE, t: float = 0.5, q=None, **options) -> pliant.Simulation:
    return ran(pliant.Simulation(robot, dt=1e-3, forces=forces, **options), t, q, channels=())[0]


def test_a_constant_force() -> None:
    """v = F t / m; the sum of the semi-implicit steps is exact."""
    sim = pushed(pliant.ExternalForce("ball", force=(3, -4, 5)))
    np.testing.assert_allclose(sim.v[:3], np.array([3, -4, 5]) / 2 * 0.5, rtol=1e-12)
    np.testing.assert_allclose(sim.q[:3], np.array([3, -4, 5]) / 4 * 0.5 * 0.501, rtol=1e-11)
    np.testing.assert_allclose(sim.v[3:], 0, atol=1e-15)


def test_a_moment() -> None:
    sim = pushed(pliant.ExternalForce("ball", torque=(0, 0, 0.01)))
    np.testing.assert_allclose(sim.v, [0, 0, 0, 0, 0, 0.01 / INERTIA * 0.5], atol=1e-12)


# (F / m) times the error of integrating a sine: dt / 2 for the left sum, dt^4 and dt^2 / 24 for the others
@pytest.mark.parametrize(
    ("integrator", "tolerance"), [("semi-implicit", 1e-2), ("rk4", 1e-10), ("midpoint", 2e-5), ("dormand-prince", 1e-7)]
)
def test_a_force_in_time(integrator: str, tolerance: float) -> None:
    force = pliant.ExternalForce("ball", force=lambda t: (6 * pliant.math.sin(8 * t), 0, 0))
    sim = pushed(force, integrator=integrator)
    assert sim.v[0] == pytest.approx(3 / 8 * (1 - math.cos(4)), abs=tolerance)


def test_a_force_for_a_while() -> None:
    """From start to before end: 200 steps of it."""
    sim = pushed(pliant.ExternalForce("ball", force=(1, 0, 0), start=0.1, end=0.3))
    assert sim.v[0] == pytest.approx(0.5 * 0.2, rel=1e-12)


@pytest.mark.parametrize("start", [0, 0.2, 0.2004, 0.1999])
def test_an_impulse(start: float) -> None:
    """dv = p / m, once, in the step at its start, whether or not that falls on a step."""
    sim = pliant.Simulation(FREE, dt=1e-3, forces=[pliant.ExternalForce("ball", impulse=(5, 0, -1), start=start)])
    v = np.asarray(sim.run(0.5, channels=("v",))["v"])
    np.testing.assert_allclose(v[-1, :3], [2.5, 0, -0.5], rtol=1e-12)
    assert np.count_nonzero(np.abs(np.diff(v[:, 0])) > 1e-12) == 1
    hit = int(np.argmax(v[:, 0] > 1)) * 1e-3
    assert start - 1e-9 <= hit <= start + 2e-3 + 1e-9


def test_an_impulse_acts_once_in_a_period_of_many_steps() -> None:
    sim = pushed(pliant.ExternalForce("ball", impulse=(5, 0, 0), start=0.2), substeps=10)
    assert sim.v[0] == pytest.approx(2.5, rel=1e-12)


def test_a_force_off_the_centre_turns() -> None:
    """At a frame on the rim: F = m a and r x F = I wd, as long as the body has hardly turned."""
    sim = pushed(pliant.ExternalForce("rim", force=(0.01, 0, 0)), t=0.01)
    assert sim.v[0] == pytest.approx(0.01 / 2 * 0.01, rel=1e-6)
    # (0, 0.1, 0) x (F, 0, 0) = (0, 0, -0.1 F)
    np.testing.assert_allclose(sim.v[3:], [0, 0, -0.1 * 0.01 / INERTIA * 0.01], rtol=1e-6, atol=1e-15)


def test_a_force_in_the_axes_of_the_body() -> None:
    """A turned body: along its own x it goes along the world's y."""
    quarter = turned(math.pi / 2, (0, 0, 1))
    for frame, expected in (("body", [0, 1, 0]), ("world", [1, 0, 0])):
        sim = pushed(pliant.ExternalForce("ball", force=(4, 0, 0), frame=frame), t=1.0, q=[0, 0, 0, *quarter])
        np.testing.assert_allclose(sim.q[:3], np.array(expected) * 1.001, atol=1e-11)


def test_a_force_on_a_body_that_a_joint_holds() -> None:
    """On the rim of a wheel: tau = r F, whatever the joint does not let through."""
    robot = turning(inertia=0.5).with_frame("rim", "wheel", (0.2, 0, 0))
    force = pliant.ExternalForce("rim", force=(100, 3, 50), frame="body")
    sim = pushed(force, robot=robot, t=0.1)
    assert sim.v[0] == pytest.approx(0.2 * 3 / 0.5 * 0.1, rel=1e-12)


def test_forces_add_up() -> None:
    one = pliant.ExternalForce("ball", force=(1, 2, 0))
    np.testing.assert_allclose(pushed(one, one, one).v, 3 * pushed(one).v, rtol=1e-12)


@pytest.mark.parametrize("values, field, cure", [
    ({"force": (1, 0)}, "force", "it takes three"),
    ({"torque": (1, 0, math.nan)}, "torque", "it takes finite numbers"),
    ({"impulse": (1, 0, 0)}, "start", "give the time at which it acts"),
    ({"frame": "moon"}, "frame", "it takes 'world' or 'body'"),
    ({"start": math.nan}, "start", "it takes a time in seconds"),
])  # fmt: skip
def test_forces_that_cannot_be(values: dict, field: str, cure: str) -> None:
    with pytest.raises(PliantError) as error:
        pliant.ExternalForce("ball", **values)
    assert (error.value.subject, error.value.field, error.value.cure) == ("force on 'ball'", field, cure)


def test_a_force_on_the_world() -> None:
    with pytest.raises(PliantError, match="does not move"):
        pushed(pliant.ExternalForce("world", force=(1, 0, 0)))
