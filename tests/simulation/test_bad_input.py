"""What cannot be is refused at once: the message names the thing and the cure."""

from collections.abc import Callable

import numpy as np
import pytest

import pliant
from pliant import (
    CompliantContact, ContactError, ExternalForce, PliantError, RigidContact, RobotError, Simulation, SimulationError,
    TraceError,
)  # fmt: skip
from simulated_robots import BALL, CART_POLE, PENDULUM, leg

Call = Callable[[], object]


def refused(call: Call, kind: type[PliantError], message: str) -> None:
    assert issubclass(kind, PliantError)
    with pytest.raises(kind, match=message) as caught:
        call()
    assert type(caught.value) is kind


# ---- the constructor


@pytest.mark.parametrize("options, message", [
    ({"dt": 0}, "dt is 0; it takes a time in seconds above zero"),
    ({"dt": -1e-3}, "dt is -0.001"),
    ({"dt": np.nan}, "dt is nan"),
    ({"dt": np.inf}, "dt is inf"),
    ({"dt": "1e-3"}, "dt is '1e-3'; it takes a time"),
    ({"dt": None}, "dt is None"),
    ({"batch": 0}, "batch is 0; it takes None, or 1 or more"),
    ({"batch": -3}, "batch is -3"),
    ({"batch": 2.0}, "batch is 2.0"),
    ({"substeps": 0}, "substeps is 0; it takes 1 or more"),
    ({"substeps": 1.5}, "substeps is 1.5"),
    ({"threads": 0}, "threads is 0; it takes 1 or more"),
    ({"precision": "double"}, "precision is 'double'; it takes 'float64' or 'float32'"),
    ({"integrator": "rk45"}, r"no integrator named 'rk45'; did you mean 'rk4'\?"),
    ({"integrator": "verlet"},
     "no integrator named 'verlet'; valid: 'semi-implicit', 'rk4', 'dormand-prince', 'midpoint'"),
    ({"contact": "rigid"}, "contact is 'rigid'; it takes a RigidContact or a CompliantContact"),
])  # fmt: skip
def test_options(options: dict, message: str) -> None:
    refused(lambda: Simulation(PENDULUM, **options), SimulationError, message)


def test_what_is_no_robot() -> None:
    refused(lambda: Simulation("quadruped"), SimulationError, "takes a Robot first, not str; see pliant.load")  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"rtol": -1}, {"atol": 0}, {"rtol": np.nan}])
def test_tolerances(options: dict) -> None:
    name = next(iter(options))
    refused(
        lambda: Simulation(PENDULUM, integrator="dormand-prince", **options),
        PliantError,
        f"{name} of adaptive steps is .*above 0",
    )


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dormand-prince"])
def test_what_smooth_integrators_cannot_do(integrator: str) -> None:
    """Each says what is in the way and how to go round it."""

    def smooth(robot, **options) -> Call:
        return lambda: Simulation(robot, integrator=integrator, **options)

    cases = {
        r"has rigid contact; use contact=pliant.CompliantContact\(...\)": smooth(BALL, ground=0),
        "has limits of joints; give limits=False": smooth(CART_POLE),
        "has dry friction of joints; set it to zero": smooth(PENDULUM.with_joint("hinge", friction=0.1)),
        "has locked joints; unlock them": smooth(PENDULUM.with_joint("hinge", locked=True)),
        "has loop closures; replace them by springs": smooth(BALL.with_closure("point", "world", "ball")),
    }
    for message, call in cases.items():
        refused(call, SimulationError, f"the integrator '{integrator}' is for smooth motion and this robot {message}")
        refused(call, SimulationError, "or use integrator='semi-implicit'")


# ---- contact and ground


@pytest.mark.parametrize("call, subject, field, cure", [
    (lambda: RigidContact(friction=-0.1), "RigidContact", "friction", "0 or more"),
    (lambda: RigidContact(friction=np.nan), "RigidContact", "friction", "a finite number"),
    (lambda: RigidContact(friction="high"), "RigidContact", "friction", "a number"),
    (lambda: RigidContact(friction=None), "RigidContact", "friction", "None is for grounds and contacts"),
    (lambda: RigidContact(restitution=1.1), "RigidContact", "restitution", "above 1, an impact would add energy"),
    (lambda: RigidContact(restitution=-0.1), "RigidContact", "restitution", "0 or more"),
    (lambda: RigidContact(sweeps=0), "RigidContact", "sweeps", "1 or more"),
    (lambda: RigidContact(tolerance=0), "RigidContact", "tolerance", "a number above 0"),
    (lambda: RigidContact(correction=1.5), "RigidContact", "correction", "at most 1"),
    (lambda: CompliantContact(sweeps=0), "CompliantContact", "sweeps", "1 or more"),
    (lambda: CompliantContact(law=5), "", "law", "a function"),
    (lambda: CompliantContact(pliant.SpringDamper(-1, 0)), "SpringDamper", "stiffness", "0 or more"),
    (lambda: pliant.flat(friction=-1), "flat", "friction", "0 or more"),
    (lambda: pliant.flat(restitution=2), "flat", "restitution", "0 to 1"),
    (lambda: pliant.flat(np.nan), "flat", "height", "a finite number"),
    (lambda: Simulation(BALL, ground="flat"), "", "ground", "flat() or slope()"),
    (lambda: Simulation(BALL, ground=lambda x: 0), "ground '<lambda>', function <lambda>", "function",
     "it is called with x, y"),
    (lambda: Simulation(BALL, ground=lambda x, y: None), "ground '<lambda>', function <lambda>", "height",
     "return one scalar"),
])  # fmt: skip
def test_contact(call: Call, subject: str, field: str, cure: str) -> None:
    with pytest.raises(ContactError) as error:
        call()
    assert (error.value.subject, error.value.field) == (subject, field)
    assert cure in error.value.cure


def test_a_ground_that_branches() -> None:
    def step(x, y):
        return 0.1 if x > 1 else 0

    refused(
        lambda: Simulation(BALL, ground=step), TraceError, r"function step: .*use pliant.math.select\(condition, then"
    )


def test_a_law_that_branches() -> None:
    def law(depth, rate, slip):
        return (1e4 * depth if depth > 0 else 0), (0, 0)

    refused(lambda: CompliantContact(law), TraceError, r"contact law law: .*use pliant.math.select\(condition, then")


@pytest.mark.parametrize("call, message", [
    (lambda: BALL.with_contact("bal"), "no frame named 'bal' in robot 'ball'; did you mean 'ball'"),
    (lambda: BALL.with_contact("ball", name="b", friction=-1), "friction"),
    (lambda: BALL.with_contact("ball", name="b", radius=-1), "radius"),
    (lambda: BALL.without_contacts("foot"), "no contact named 'foot' in robot 'ball'"),
    (lambda: Simulation(BALL, forces=[ExternalForce("bal", force=(1, 0, 0))]),
     "no frame named 'bal'.*did you mean 'ball'"),
])  # fmt: skip
def test_names_and_numbers_of_contacts(call: Call, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        call()


def test_a_force_on_a_body_that_does_not_move() -> None:
    with pytest.raises(PliantError, match="does not move") as error:
        Simulation(leg("fixed"), forces=[ExternalForce("rail", force=(1, 0, 0))]).step()
    assert (error.value.subject, error.value.field) == ("force on 'rail'", "body")


def test_a_law_of_a_motor() -> None:
    def branching(u, q, v, t):
        return u if v > 0 else 0

    with_law = PENDULUM.with_motors(law=branching)
    refused(
        lambda: Simulation(with_law).step(),
        TraceError,
        r"law of motor 'hinge': .*pliant.math.select\(condition, a, b\)",
    )
    for wrong in (lambda *x: None, lambda *x: [1, 2]):
        robot = PENDULUM.with_motors(law=wrong)
        refused(lambda r=robot: Simulation(r).step(), PliantError, "law of motor 'hinge' returned .* one torque")
    refused(lambda: PENDULUM.with_motors(law=3), RobotError, r"it takes a function \(u, q, v, t\) -> torque")
