"""Parameters that do not exist, and values that do not fit: the message names the path."""

import re
from collections.abc import Callable

import numpy as np
import pytest

import pliant
from pliant import Simulation
from pliant.errors import PliantError, SimulationError
from simulated_robots import BALL, CART_POLE, LEG, PENDULUM


def setting(path: str, value: object) -> Callable[[], None]:
    sim = Simulation(BALL, ground=0, varying=["friction", "gravity"], batch=3)
    return lambda: sim.parameters.__setitem__(path, value)


@pytest.mark.parametrize("call, message", [
    (setting("friction", np.nan), "'friction' has values that are not finite"),
    (setting("gravity", [0, 0, np.inf]), "'gravity' has values that are not finite"),
    (setting("friction", [1, 2]), r"'friction' has values of shape \(2,\); it takes \(3,\)"),
    (setting("friction", np.ones((3, 1))), r"'friction' has values of shape \(3, 1\); it takes \(3,\)"),
    (setting("gravity", np.ones((2, 3))), r"'gravity' has values of shape \(2, 3\); it takes \(3, 3\)"),
    (setting("friction", "rough"), "'friction' is 'rough'; it takes numbers"),
    (setting("fricton", 1), r"no varying parameter named 'fricton'.*did you mean 'friction'\?.*declare it with"),
    (lambda: Simulation(BALL, varying="gravity"), r"give a list of paths, as in \['gravity'\]"),
    (lambda: Simulation(BALL, varying=["frction"]), "no parameter has the path 'frction'; valid: gravity, friction"),
    (lambda: Simulation(BALL, varying=["bodies.mass"]), "valid: .*bodies.NAME.WHAT"),
    (lambda: Simulation(BALL, varying=["bodies.bal.mass"]), "no body named 'bal'.*did you mean 'ball'"),
    (lambda: Simulation(LEG, varying=["bodies.shank.mas"]), "'mas' in body 'shank'; did you mean 'mass'"),
    (lambda: Simulation(LEG, varying=["joints.hip.dampin"]), "in joint 'hip'; did you mean 'damping'"),
    (lambda: Simulation(LEG, varying=["motors.hip.control"]), "'control' in motor 'hip'; valid: 'gear'"),
    (lambda: Simulation(LEG, varying=["springs.band.stif"]), "in spring 'band'; did you mean 'stiffness'"),
    (lambda: Simulation(PENDULUM, varying=["motors.hinge.no_load_speed"]), "is inf; give the robot a finite value"),
    (lambda: Simulation(LEG, varying=["motors.*.kp", "motors.hip.kp"]), "'motors.hip.kp' is named twice"),
    (lambda: Simulation(BALL, contact=pliant.CompliantContact(), varying=["law.stifness"]),
     "no attribute named 'stifness' in the contact law SpringDamper.*did you mean 'stiffness'"),
    (lambda: Simulation(BALL, varying=["law.stiffness"]), "no parameter has the path 'law.stiffness'"),
    (lambda: Simulation(BALL, varying=["friction"]).parameters.pop("friction"), "cannot be removed"),
])  # fmt: skip
def test_wrong_parameters(call: Callable[[], object], message: str) -> None:
    with pytest.raises(PliantError, match=message):
        call()


@pytest.mark.parametrize("path, value, message", [
    ("friction", -0.1, "has the value -0.1; it must be 0 or more"),
    ("restitution", 1.5, "has the value 1.5; it must be 0 or more and at most 1"),
    ("restitution", -0.5, "has the value -0.5"),
    ("bodies.trunk.mass", -1, "has the value -1; it must be above 0"),
    ("bodies.*.mass", [1, 0, 1], "has the value 0; it must be above 0"),
    ("bodies.shank.inertia", [1, 0, 0, 1, 0, 3], r"principal moments \(1, 1, 3\) kg m\^2; .*none above the sum"),
    ("bodies.shank.inertia", [-1, 0, 0, 1, 0, 1], "principal moments"),
    ("joints.knee.damping", -1, "0 or more"),
    ("joints.knee.armature", -1, "0 or more"),
    ("joints.knee.friction", -1, "0 or more"),
    ("joints.knee.stiffness", -1, "0 or more"),
    ("joints.knee.restitution", 2, "at most 1"),
    ("motors.*.kp", [-1, 1], "0 or more"),
    ("motors.hip.kd", -1, "0 or more"),
    ("motors.hip.effort_limit", -1, "0 or more"),
    ("motors.knee.no_load_speed", 0, "above 0"),
    ("motors.hip.rotor_inertia", -1e-9, "0 or more"),
    ("motors.knee.dry_friction", -1, "0 or more"),
    ("springs.band.stiffness", -1, "0 or more"),
    ("springs.band.length", -1, "0 or more"),
])  # fmt: skip
def test_impossible_values(path: str, value: object, message: str) -> None:
    """What edits of the robot and contact models refuse; nothing changes."""
    for batch in (None, 2):
        sim = Simulation(LEG, ground=0, varying=[path], batch=batch)
        before = sim.parameters[path].copy()
        with pytest.raises(SimulationError, match=f"parameter '{re.escape(path)}' .*{message}"):
            sim.parameters[path] = value
        np.testing.assert_array_equal(sim.parameters[path], before)


@pytest.mark.parametrize("path, value", [
    ("friction", 0), ("restitution", 1), ("gravity", [0, 1, -2]), ("bodies.shank.com", [-1, 0, -1]),
    ("bodies.shank.inertia", [1, 0, 0, 1, 0, 2]), ("joints.knee.rest", -1), ("motors.hip.gear", -8),
    ("motors.hip.kp", 0),
])  # fmt: skip
def test_values_on_the_border(path: str, value: object) -> None:
    sim = Simulation(LEG, ground=0, varying=[path])
    sim.parameters[path] = value
    assert np.array_equal(sim.parameters[path], value)


@pytest.mark.parametrize("path, value", [("law.stiffness", -1), ("law.friction", -1), ("law.slip_speed", 0)])
def test_impossible_values_of_a_law(path: str, value: float) -> None:
    sim = Simulation(BALL, ground=0, contact=pliant.CompliantContact(), varying=[path])
    with pytest.raises(
        SimulationError, match=f"parameter '{path}' does not fit: {path[4:]} of SpringDamper is {value}"
    ):
        sim.parameters[path] = value


@pytest.mark.parametrize("call, message", [
    (lambda: Simulation(BALL, varying=["sweeps"]), r"'sweeps' cannot vary: .*give it to RigidContact\(sweeps=...\)"),
    (lambda: Simulation(BALL, varying=["correction"]), "'correction' cannot vary"),
    (lambda: Simulation(BALL, varying=["tolerance"]), "'tolerance' cannot vary"),
    (lambda: Simulation(BALL, contact=pliant.CompliantContact(), varying=["law"]), r"CompliantContact\(law=...\)"),
    (lambda: Simulation(BALL, varying=["gravity", "gravity"]), "'gravity' is named twice"),
    (lambda: Simulation(CART_POLE, varying=["bodies.rail.mass"]), "body 'rail' has no mass"),
])  # fmt: skip
def test_what_cannot_vary(call: Callable[[], object], message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        call()
