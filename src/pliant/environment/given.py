"""What users give to an environment, in the form that it takes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.catalogue.starts import known_stance
from pliant.checks import check, numbers
from pliant.environment.actions import Action, Controls, JointTargets
from pliant.environment.terms import Observation, as_terms
from pliant.errors import SimulationError
from pliant.simulation import Simulation


def groups_of(given: Any) -> dict[str, dict[str, Observation]]:
    """Observations by group and name."""
    check("observations", given, "terms by name, or groups of them", isinstance(given, Mapping) and bool(given))
    is_grouped = all(isinstance(value, Mapping) for value in given.values())
    groups = given if is_grouped else {"actor": given}
    if "actor" not in groups:
        problem = f"observations have the groups {', '.join(map(repr, groups))}"
        raise SimulationError(problem, field="observations", cure="one must be 'actor'")
    return {group: as_terms(Observation, own, f"observations of {group!r}") for group, own in groups.items()}


def default_action(sim: Simulation) -> Action:
    """Targets for motors with position control, else the controls themselves."""
    motors = sim.robot.motors.values()
    return JointTargets() if motors and all(m.control == "position" for m in motors) else Controls()


def stance_of(sim: Simulation, given: Any) -> tuple[float, ...]:
    """The configuration that episodes begin with; by default the robot's own, on the ground."""
    robot = sim.robot
    if given is None:
        known = known_stance(robot)
        given = robot.neutral() if known is None else known.q
        if robot.is_free and robot.contact_points and sim.model.ground is not None:
            given = robot.on_ground(given)
    found = numbers("stance", given)
    is_right = found.shape == (robot.nq,) and bool(np.isfinite(found).all())
    check("stance", given, f"{robot.nq} finite numbers", is_right)
    return tuple(found.tolist())
