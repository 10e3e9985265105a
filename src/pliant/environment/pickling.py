"""Environments that pickle: what they were made of, and the numbers that they have at this moment."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pliant.errors import PliantError
from pliant.simulation.pickling import parts_of as simulation_parts
from pliant.simulation.pickling import remade as remade_simulation
from pliant.simulation.pickling import share_of as simulation_share

if TYPE_CHECKING:
    from pliant.environment.environment import Environment


def parts_of(env: "Environment") -> dict[str, Any]:
    """Arguments of the constructor, and numbers."""
    plan = env.plan
    options = {
        "observations": {group: dict(own) for group, own in plan.observations.items()},
        "rewards": dict(plan.rewards), "action": plan.action, "terminations": dict(plan.terminations),
        "commands": dict(plan.commands), "events": dict(plan.events), "curriculum": plan.curriculum,
        "timeout": env.timeout, "stance": plan.stance, "reward_scale": plan.scale, "reward_floor": plan.floor,
        "mirror": env.mirror, "name": env.name,
    }  # fmt: skip
    numbers = env.state if env.has_begun else {"weights": env.state["weights"]}
    return {"sim": type(env.sim), "parts": simulation_parts(env.sim), "options": options, "state": numbers}


def remade(kind: Any, parts: Mapping[str, Any]) -> Any:
    """An environment of parts."""
    env = kind(remade_simulation(parts["sim"], parts["parts"]), **parts["options"])
    if len(parts["state"]) > 1:
        env.state = parts["state"]
    else:
        env.weights.update(zip(env.weights, map(float, parts["state"]["weights"]), strict=True))
    return env


def share_of(parts: Mapping[str, Any], first: int, last: int) -> dict[str, Any]:
    """The parts of an environment of some robots of a batch, from number ``first`` up to, not including, ``last``."""
    state = {name: x if name == "weights" else x[first:last] for name, x in parts["state"].items()}
    if last <= first:
        raise PliantError("a share of a batch has one robot or more", field="first")
    return {**parts, "parts": simulation_share(parts["parts"], first, last), "state": state}
