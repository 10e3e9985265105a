"""A policy as a controller: what it sees is computed from the state, or from sensors alone, outside of the environment.

So a trained policy runs wherever a `Controller` does: in other simulations of the robot, from event to event, in logs,
films and the viewer. It is compiled with the step.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pliant.environment.now import Now
from pliant.environment.observing import processed, remembered
from pliant.environment.plan import EpisodePlan
from pliant.errors import SimulationError
from pliant.scalar import Scalar, Scalars, equal, select
from pliant.simulation import Controller
from pliant.simulation.state import spans


class Absent(Sequence[Any]):
    """What a controller cannot know; using it raises."""

    def __init__(self, what: str, cure: str):
        self._problem, self._cure = f"the policy needs {what}, which a controller does not have", cure

    def _raise(self) -> Any:
        raise SimulationError(self._problem, subject="policy", field="observations", cure=self._cure)

    def __getitem__(self, _: Any) -> Any:
        return self._raise()

    def __iter__(self) -> Any:
        return self._raise()

    def __len__(self) -> int:
        return self._raise()


@dataclass(frozen=True, eq=False)
class Deployment:
    """How a policy of a plan is run as a controller.

    Attributes:
        network: from the numbers of the group "actor" to those of an action, generic over the scalar.
        from_sensors: whether it has nothing but the readings of sensors, in place of q and v.
    """

    plan: EpisodePlan
    network: Callable[[Scalars], list[Scalar]]
    from_sensors: bool

    @cached_property
    def given(self) -> dict[str, int]:
        """Commands that come from outside, and how many numbers they have; others go on by themselves."""
        return {name: len(c.names) for name, c in self.plan.commands.items() if c.is_given}

    @cached_property
    def _memory(self) -> dict[str, tuple[float, ...]]:
        """What it remembers, at the start."""
        plan = self.plan
        own: dict[str, tuple[float, ...]] = {"begun": (0.0,), "action": (0.0,) * plan.actions}
        own |= {"last action": (0.0,) * plan.actions}
        own |= {f"command {n}": (0.0,) * len(c.names) for n, c in plan.commands.items() if not c.is_given}
        for name in plan.observations["actor"]:
            label = f"observation actor.{name}"
            if plan.terms[label].memory:
                own[f"memory of {label}"] = plan.terms[label].memory
            past = f"past of actor.{name}"
            own |= {past: (0.0,) * plan.episode[past]} if past in plan.episode else {}
        return own

    def controller(self) -> Controller:
        """It, with the commands that are given, one after the other."""
        memory = [x for numbers in self._memory.values() for x in numbers]
        commands = sum(self.given.values())
        # the number of arguments of its function says what a controller takes
        if self.from_sensors:
            if commands:
                return Controller(self._from_sensors, commands, memory)
            return Controller(lambda t, sensors, memory: self._from_sensors(t, sensors, (), memory), 0, memory)
        if commands:
            return Controller(self._from_state, commands, memory)
        return Controller(lambda t, q, v, memory: self._from_state(t, q, v, (), memory), 0, memory)

    def _from_sensors(self, t: Scalar, sensors: Mapping[str, Scalars], command: Scalars, memory: Scalars) -> Any:
        cure = "observe sensors only, or give from_sensors=False"
        places, rates = Absent("the configuration", cure), Absent("the velocities", cure)
        return self._acted(t, places, rates, sensors, command, memory)

    def _from_state(self, t: Scalar, q: Scalars, v: Scalars, command: Scalars, memory: Scalars) -> Any:
        readings: Any = Absent("readings of sensors", "observe them alone, and give from_sensors=True")
        return self._acted(t, q, v, readings, command, memory)

    def _acted(self, t: Scalar, q: Any, v: Any, sensors: Any, command: Scalars, memory: Scalars) -> Any:
        plan, where = self.plan, spans({name: len(x) for name, x in self._memory.items()})
        kept = {name: list(memory[span]) for name, span in where.items()}
        asked = spans(self.given)
        commands = {name: list(command[span]) for name, span in asked.items()}
        commands |= {n: kept[f"command {n}"] for n in plan.commands if n not in asked}
        now = self._now(t, q, v, sensors, commands, kept)
        seen = self._seen(now, kept)
        action = plan.action.bounded(self.network(seen))
        u = plan.action.controls(action, now, plan.plan.inputs)
        kept |= {"last action": kept["action"], "action": action, "begun": [1]}
        for name, own in plan.commands.items():
            if name not in asked:
                kept[f"command {name}"] = own.advanced(commands[name], plan.period)
        return u, [x for name in self._memory for x in kept[name]]

    def _now(self, t: Scalar, q: Any, v: Any, sensors: Any, commands: dict, kept: Mapping[str, Any]) -> Now:
        plan, m = self.plan, self.plan.parameters.model
        cure = "leave this observation out, or run the policy in its environment"
        torques, forces = Absent("torques of the motors", cure), Absent("contact forces", cure)
        return Now(
            m.robot, t, m.dt, q, v, [0] * m.robot.nv, torques, forces, m.groups, m.ground, period=plan.period,
            action=kept["action"], last_action=kept["last action"], commands=commands, sensors=sensors,
            stance=plan.stance,
        )  # fmt: skip

    def _seen(self, now: Now, kept: dict[str, Any]) -> list[Scalar]:
        """The numbers of the actor, without noise; what is remembered of them goes to ``kept``."""
        found: list[Scalar] = []
        is_first = equal(kept["begun"][0], 0)
        for name, term in self.plan.observations["actor"].items():
            label, past = f"observation actor.{name}", f"past of actor.{name}"
            numbers, memory = term(name, now, kept.get(f"memory of {label}", ()))
            numbers = processed(term, numbers, None)
            if past in kept:
                begun, first = remembered(term, numbers, kept[past], is_first=True)
                numbers, later = remembered(term, numbers, kept[past])
                numbers, kept[past] = (
                    [select(is_first, a, b) for a, b in zip(x, y, strict=True)]
                    for x, y in ((begun, numbers), (first, later))
                )
            if term.memory:
                kept[f"memory of {label}"] = memory
            found += numbers
        return found
