"""Parameters that do not exist, and values that do not fit: the message names the path."""

from collections.abc import Callable

import numpy as np
import pytest
from simulated_robots import BALL, LEG, PENDULUM

import pliant
from pliant import Simulation
from pliant.errors import PliantError


def setting(path: str, value: object) -> Callable[[], None]:
    sim = Simulation(BALL, ground=0, varying=["friction", "gravity"], batch=3)
    return lambda: sim.parameters.__setitem__(path, value)


@pytest.mark.parametrize("call, message", [
    (setting("friction", np.nan), "'friction' has values that are not finite"),
    (setting("gravity", [0, 0, np.inf]), "'gravity' has values that are not finite"),
    (setting("friction", [1, 2]), r"'friction' takes an array of shape \(3,\).*not \(2,\)"),
    (setting("friction", np.ones((3, 1))), r"'friction' takes an array of shape \(3,\)"),
    (setting("gravity", np.ones((2, 3))), r"'gravity' takes an array of shape \(3, 3\)"),
    (setting("friction", "rough"), "takes numbers, not 'rough'"),
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


@pytest.mark.xfail(reason="only NaN and infinity are refused, not what with_* and contacts would refuse")
@pytest.mark.parametrize("path, value", [("friction", -0.1), ("bodies.ball.mass", -1), ("restitution", 1.5)])
def test_impossible_values(path: str, value: float) -> None:
    sim = Simulation(BALL, ground=0, varying=[path])
    with pytest.raises(PliantError, match=path):
        sim.parameters[path] = value
