"""A task in words and numbers: what policies and results carry, so that they can be told apart a year later."""

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pliant.environment.fingerprints import fingerprints

if TYPE_CHECKING:
    from pliant.environment.environment import Environment

_FREE = ("task", "weights")
"""What may differ between two descriptions of the same task."""


def description(env: "Environment") -> dict[str, Any]:
    """The task in words and numbers that JSON takes: robot, physics, terms."""
    plan, sim = env.plan, env.sim
    return {
        "task": env.name,
        "robot": sim.robot.name,
        "robot digest": sim.robot.digest,
        "dt": sim.dt,
        "substeps": sim.plan.substeps,
        "precision": sim.precision,
        "integrator": sim.plan.integrator,
        "ground": None if sim.model.ground is None else sim.model.ground.name,
        "contact": repr(sim.model.contact),
        "varying": list(sim.parameters),
        "stance": list(plan.stance),
        "timeout": env.timeout,
        "reward scale": plan.scale,
        "reward floor": plan.floor,
        "action": plan.action.describe(),
        "actions": env.action_names,
        "observations": {g: {n: t.describe() for n, t in own.items()} for g, own in plan.observations.items()},
        "rewards": {name: term.describe() for name, term in plan.rewards.items()},
        "weights": dict(env.weights),
        "terminations": {name: term.describe() for name, term in plan.terminations.items()},
        "commands": {name: command.describe() for name, command in plan.commands.items()},
        "events": {name: event.describe() for name, event in plan.events.items()},
        "curriculum": None if plan.curriculum is None else plan.curriculum.describe(),
        "code": fingerprints(plan),
    }


def digest_of(described: Mapping[str, Any]) -> str:
    """A short name of a task that is described; weights and names do not matter."""
    text = json.dumps({k: v for k, v in described.items() if k not in _FREE}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
