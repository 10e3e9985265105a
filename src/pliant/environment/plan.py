"""A control period of an environment as a program: act, move, score, go on, observe, and start again where it ended.

`EpisodePlan` has one method a phase. Compiled together they are one native call for a whole batch. Where a term runs in
NumPy, the program is cut before the phase that needs its value, and the value comes in as the array "given terms".

What an episode remembers is a row of numbers for each robot, and what a period brings another one:

| episode | |
|---|---|
| "key", "age" | of the random numbers; periods since the episode began |
| "action", "last action" | of this period and of the one before |
| "command NAME" | its numbers, and the time until it is drawn anew [s] |
| "event NAME" | time until it happens again [s] |
| "memory of KIND NAME" | of a term |
| "past of GROUP.NAME" | of an observation with a delay or a history: the delay, and values before this one |
| "level", "start place" | of the curriculum; where the base was at the start [m] |
| "return", "tally" | the reward of the episode so far; sums for `Environment.metrics` |

| outcome | |
|---|---|
| "terms", "reward", "terminated", "truncated" | of the period |
| "observations GROUP", "final GROUP" | after and before robots that ended start again |
| "sum" | of all of these: a number that is not finite shows here |
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.chance import KEY_SIZE, Chance, next_key, stream_of
from pliant.compiler.tracing import Stages
from pliant.environment.actions import Action
from pliant.environment.commands import RARE, Command
from pliant.environment.curricula import Curriculum
from pliant.environment.events import Event
from pliant.environment.now import Now
from pliant.environment.observing import past_size, processed, remembered
from pliant.environment.terms import Observation, Reward, Term, Termination, any_condition, is_condition
from pliant.errors import SimulationError
from pliant.robot import Robot
from pliant.scalar import Expr, Graph, Scalar, Scalars, both, either, equal, maximum, negation, select
from pliant.simulation.parameters import Parameters
from pliant.simulation.programs import Plan
from pliant.simulation.sensor_stages import add_turning_on, by_channel, part_of
from pliant.simulation.state import spans


@dataclass(frozen=True, eq=False)
class EpisodePlan:
    """What the programs of an environment are made of; attributes as in `Environment`.

    Attributes:
        stance: the configuration that episodes begin with.
        limit: control periods in an episode.
        scale, floor: of the reward: the sum of the terms, at least ``floor``, times ``scale``.
    """

    plan: Plan
    action: Action
    observations: Mapping[str, Mapping[str, Observation]]
    rewards: Mapping[str, Reward]
    terminations: Mapping[str, Termination]
    commands: Mapping[str, Command]
    events: Mapping[str, Event]
    curriculum: Curriculum | None
    stance: tuple[float, ...]
    limit: int
    scale: float = 1.0
    floor: float | None = None

    @property
    def robot(self) -> Robot:
        """Of the simulation."""
        return self.plan.model.robot

    @property
    def parameters(self) -> Parameters:
        """Numbers that vary."""
        return self.plan.parameters

    @property
    def period(self) -> float:
        """Length of a control period [s]."""
        return self.plan.model.dt * self.plan.substeps

    @property
    def actions(self) -> int:
        """How many numbers an action has."""
        return self.action.size or self.plan.inputs

    # ---- what there is

    @cached_property
    def terms(self) -> dict[str, Term]:
        """All terms by a name of their own: "reward NAME", "termination NAME", "observation GROUP.NAME"."""
        found: dict[str, Term] = {f"reward {name}": term for name, term in self.rewards.items()}
        found |= {f"termination {name}": term for name, term in self.terminations.items()}
        return found | {
            f"observation {group}.{name}": t for group, own in self.observations.items() for name, t in own.items()
        }

    @cached_property
    def given(self) -> dict[str, Term]:
        """The terms that run in NumPy."""
        return {name: term for name, term in self.terms.items() if not term.is_compiled}

    @cached_property
    def sizes_of_terms(self) -> dict[str, int]:
        """How many numbers each term has."""
        graph = Graph()

        def unknown(n: int, what: str) -> list[Scalar]:
            return [graph.input(f"{what}[{k}]") for k in range(n)]

        traced = self.now(**{name: unknown(size, name) for name, size in self.now_sizes.items()})
        found: dict[str, int] = {}
        for label, term in self.terms.items():
            now = traced if term.is_compiled else self._example()
            value, _ = term(_own(label), now, unknown(len(term.memory), f"memory of {label}"))
            if len(value) != 1 and not isinstance(term, Observation):
                problem = f"{label} has {len(value)} numbers"
                raise SimulationError(problem, subject=label, field="function", cure="return one number")
            found[label] = len(value)
        return found

    def _example(self) -> Now:
        """Two robots in the stance, for the sizes of terms in NumPy."""
        rows = {name: np.zeros((size, 2)) for name, size in self.now_sizes.items()}
        rows["q"][:] = np.array(self.stance)[:, None]
        rows["parameters"][:] = self.parameters.defaults[:, None]
        return self.now(**rows)

    @cached_property
    def episode(self) -> dict[str, int]:
        """The numbers that an episode remembers."""
        sizes = {"key": KEY_SIZE, "age": 1, "action": self.actions, "last action": self.actions}
        sizes |= {f"command {name}": len(c.names) + 1 for name, c in self.commands.items()}
        sizes |= {f"event {name}": 1 for name, e in self.events.items() if e.every is not None}
        sizes |= {f"memory of {name}": len(term.memory) for name, term in self.terms.items() if term.memory}
        for group, name, term in self._observed:
            past = past_size(term, self.sizes_of_terms[f"observation {group}.{name}"])
            sizes |= {f"past of {group}.{name}": past} if past else {}
        sizes |= {"level": 1, "start place": 2} if self.curriculum else {}
        return sizes | {"return": 1, "tally": len(self.tallied)}

    @cached_property
    def outcome(self) -> dict[str, int]:
        """The numbers that a period brings."""
        groups = {group: sum(self._shown_size(group, name) for name in own) for group, own in self.observations.items()}
        sizes = {"terms": len(self.rewards), "reward": 1, "terminated": 1, "truncated": 1, "sum": 1}
        return (
            sizes | {f"observations {g}": n for g, n in groups.items()} | {f"final {g}": n for g, n in groups.items()}
        )

    @cached_property
    def tallied(self) -> list[str]:
        """What `Environment.metrics` is made of."""
        ends = [*(f"end/{name}" for name in self.terminations), "end/diverged", "end/timeout"]
        level = ["level"] if self.curriculum else []
        return ["steps", *(f"reward/{name}" for name in self.rewards), *ends, "episodes", "returns", "lengths", *level]

    @property
    def _observed(self) -> Iterator[tuple[str, str, Observation]]:
        return ((group, name, term) for group, own in self.observations.items() for name, term in own.items())

    def _shown_size(self, group: str, name: str) -> int:
        return self.sizes_of_terms[f"observation {group}.{name}"] * self.observations[group][name].history

    def observation_names(self, group: str) -> list[str]:
        """Of the numbers of a group."""
        found = []
        for name in self.observations[group]:
            n = self._shown_size(group, name)
            found += [name] if n == 1 else [f"{name}[{k}]" for k in range(n)]
        return found

    def observation_bounds(self, group: str) -> list[float]:
        """The largest sizes of the numbers of a group."""
        found: list[float] = []
        for name, term in self.observations[group].items():
            bound = np.inf if term.clip is None else abs(term.scale) * term.clip
            found += [bound] * self._shown_size(group, name)
        return found

    # ---- what terms see

    @cached_property
    def now_sizes(self) -> dict[str, int]:
        """The variables that `now` takes."""
        sizes = self.plan.layout.sizes
        found = {name: sizes[name] for name in ("q", "v", "torques", "impulses")}
        found |= {"age": 1, "action": self.actions, "last action": self.actions, "parameters": self.parameters.size}
        found |= {f"command {name}": len(c.names) + 1 for name, c in self.commands.items()}
        found |= {part_of(reader, "reading"): reader.size for reader in self.plan.model.readers}
        return found | ({"level": 1, "start place": 2} if self.curriculum else {})

    def now(self, **values: Scalars) -> Now:
        """What terms see, from the variables of `now_sizes`."""
        p = values["parameters"]
        # in NumPy the numbers of the model stay what they are without variation
        is_traced = any(isinstance(x, Expr) for x in p)
        m = self.parameters.applied(p) if is_traced else self.parameters.model
        where = spans(self.parameters.sizes)
        readers = m.readers
        readings = by_channel(readers, [values[part_of(reader, "reading")] for reader in readers])
        commands = {name: list(values[f"command {name}"][:-1]) for name in self.commands}
        forces = [x / m.dt for x in values["impulses"]]
        has_levels, defaults = self.curriculum is not None, self.parameters.defaults
        return Now(
            m.robot, values["age"][0] * self.period, m.dt, values["q"], values["v"], [0] * m.robot.nv,
            values["torques"], forces, m.groups, m.ground, m.forces, period=self.period, action=values["action"],
            last_action=values["last action"], commands=commands, sensors=readings,
            parameters={path: list(p[span]) for path, span in where.items()},
            defaults={path: defaults[span].tolist() for path, span in where.items()}, stance=self.stance,
            level=values["level"][0] if has_levels else 0,
            start=(values["start place"][0], values["start place"][1]) if has_levels else (0, 0),
        )  # fmt: skip

    def _add(self, stages: Stages, function: Any, more: Sequence[str] = ()) -> None:
        """Add a stage: function(now, **values) -> what it writes by name, where ``more`` are further variables."""
        own = tuple(self.now_sizes)
        extra = tuple(name for name in dict.fromkeys(more) if name not in own)

        def stage(*values: Scalars) -> Any:
            named = dict(zip((*own, *extra), values, strict=True))
            return function(self.now(**{name: named[name] for name in own}), named)

        stages.add(stage, (*own, *extra))

    def _chance(self, values: Mapping[str, Scalars], purpose: str) -> Chance:
        return Chance(values["key"], values["age"], stream_of(purpose))

    # ---- phases

    def stages(self) -> Stages:
        """A program under construction that has all variables."""
        others = {
            **self.episode,
            **self.outcome,
            "given action": self.actions,
            "weights": len(self.rewards),
            "episode ended": 1,
        }
        others["given terms"] = sum(self.sizes_of_terms[name] for name in self.given)
        return self.plan.stages(**others)

    def add_action(self, stages: Stages) -> None:
        """Take the action of the period, and make controls of it."""

        def acted(now: Now, values: Mapping[str, Scalars]) -> dict[str, Any]:
            action = self.action.bounded(values["given action"])
            controls = self.action.controls(action, now, self.plan.inputs)
            return {"action": action, "last action": values["action"], "age": [values["age"][0] + 1], "input": controls}

        self._add(stages, acted, ("given action",))

    def add_motion(self, stages: Stages) -> None:
        """Move for a control period."""
        self.plan.add_period(stages)

    def add_scores(self, stages: Stages) -> None:
        """Rewards, and whether the episode is over."""

        def scored(now: Now, values: Mapping[str, Scalars]) -> dict[str, Any]:
            found, terms, total = {}, [], 0
            for k, name in enumerate(self.rewards):
                value, found = self._one(f"reward {name}", now, values, found)
                terms.append(values["weights"][k] * value)
                total = total + terms[-1]
            reward = self.scale * (total if self.floor is None else maximum(total, self.floor))
            over, cut = [], []
            for name, term in self.terminations.items():
                value, found = self._one(f"termination {name}", now, values, found)
                is_over = value if is_condition(value) else negation(equal(value, 0))
                (cut if term.is_timeout else over).append(is_over)
            diverged, late = negation(equal(values["divergence"][0], 0)), values["age"][0] >= self.limit
            terminated, truncated = any_condition([*over, diverged]), any_condition([*cut, late])
            ended, total = either(terminated, truncated), values["return"][0] + reward
            ends = [*self._ordered(over, cut), diverged, late]
            tally = [1, *terms, *(select(x, 1, 0) for x in ends), select(ended, 1, 0), select(ended, total, 0)]
            tally += [select(ended, values["age"][0], 0), *([values["level"][0]] if self.curriculum else [])]
            return {
                **found,
                "terms": terms,
                "reward": [reward],
                "terminated": [select(terminated, 1, 0)],
                "truncated": [select(both(truncated, negation(terminated)), 1, 0)],
                "episode ended": [select(ended, 1, 0)],
                "return": [total],
                "tally": [a + b for a, b in zip(values["tally"], tally, strict=True)],
            }

        more = ["weights", "given terms", "divergence", "return", "tally", *self._memories("reward", "termination")]
        self._add(stages, scored, more)

    def _ordered(self, over: list[Scalar], cut: list[Scalar]) -> list[Scalar]:
        """Conditions of the terminations, in their order."""
        over, cut = list(over), list(cut)
        return [(cut if term.is_timeout else over).pop(0) for term in self.terminations.values()]

    def _one(
        self, label: str, now: Now, values: Mapping[str, Scalars], found: dict[str, Any]
    ) -> tuple[Scalar, dict[str, Any]]:
        """The number of a reward or termination, and what it remembers among all that is written."""
        numbers, memory = self._value(label, now, values)
        return numbers[0], {**found, **memory}

    def _value(self, label: str, now: Now, values: Mapping[str, Scalars]) -> tuple[list[Scalar], dict[str, Any]]:
        term = self.terms[label]
        if not term.is_compiled:
            at = spans({name: self.sizes_of_terms[name] for name in self.given})[label]
            return list(values["given terms"][at]), {}
        numbers, memory = term(_own(label), now, values.get(f"memory of {label}", ()))
        return numbers, {f"memory of {label}": memory} if term.memory else {}

    def _memories(self, *kinds: str) -> list[str]:
        return [f"memory of {name}" for name, term in self.terms.items() if term.memory and name.split()[0] in kinds]

    def add_changes(self, stages: Stages) -> None:
        """Commands and events that are due."""
        for name, command in self.commands.items():
            self._add_command(stages, name, command)
        for name, event in self.events.items():
            if event.every is not None:
                self._add_event(stages, name, event)

    def _add_command(self, stages: Stages, name: str, command: Command) -> None:
        part = f"command {name}"

        def went_on(now: Now, values: Mapping[str, Scalars]) -> dict[str, Any]:
            *numbers, left = values[part]
            later = command.advanced(numbers, self.period)
            return {part: [*later, left - self.period if command.interval else left]}

        self._add(stages, went_on, (part,))
        if command.interval is None:
            return
        with self._if_due(stages, part):

            def drawn(now: Now, values: Mapping[str, Scalars]) -> dict[str, Any]:
                chance = self._chance(values, f"{part}: next")
                return {part: [*command.draw(chance, now.level), _interval(command).draw(chance)]}

            self._add(stages, drawn, ("key", part))

    def _add_event(self, stages: Stages, name: str, event: Event) -> None:
        part = f"event {name}"
        stages.add(lambda left: [left[0] - self.period], (part,), (part,))
        with self._if_due(stages, part):

            def happened(now: Now, values: Mapping[str, Scalars]) -> dict[str, Any]:
                chance = self._chance(values, f"{part}: next")
                changes = event(name, now, chance)
                assert event.every is not None
                return {**self._changed(values, changes), part: [event.every.draw(chance)]}

            self._add(stages, happened, ("key", part))

    @contextmanager
    def _if_due(self, stages: Stages, part: str) -> Iterator[None]:
        due = stages.variable(f"{part} is due", 1)
        stages.add(lambda left: [select(left[-1] <= 0, 1, 0)], (part,), (due,))
        with stages.loop(1, when=due):
            yield

    def _changed(self, values: Mapping[str, Scalars], changes: Mapping[str, Any]) -> dict[str, Any]:
        """What an event writes."""
        found = {name: list(changes[name]) for name in ("q", "v") if name in changes}
        paths = [path for path in changes if path not in ("q", "v")]
        if paths:
            p, where = list(values["parameters"]), spans(self.parameters.sizes)
            for path in paths:
                p[where[path]] = list(changes[path])
            found["parameters"] = p
        return found

    def add_observations(self, stages: Stages, *, is_first: bool = False, is_again: bool = False) -> None:
        """What the policy sees.

        Args:
            is_first: whether it is that of a new episode.
            is_again: whether it comes after that of an episode that has ended in this period.
        """

        def seen(now: Now, values: Mapping[str, Scalars]) -> dict[str, Any]:
            found: dict[str, Any] = {}
            shown: dict[str, list[Scalar]] = {group: [] for group in self.observations}
            for group, name, term in self._observed:
                label = f"observation {group}.{name}"
                numbers, memory = self._value(label, now, values)
                found |= memory
                chance = self._chance(values, f"{label}: noise")
                numbers = processed(term, numbers, chance)
                past = values.get(f"past of {group}.{name}", ())
                if len(past):
                    delay = self._chance(values, f"{label}: delay") if is_first else None
                    numbers, kept = remembered(term, numbers, past, delay, is_first=is_first)
                    found[f"past of {group}.{name}"] = kept
                shown[group] += numbers
            total = sum((x for numbers in shown.values() for x in numbers), start=0)
            for group, numbers in shown.items():
                found[f"observations {group}"] = numbers
                if not is_again:
                    found[f"final {group}"] = numbers
            found["sum"] = [total + (values["sum"][0] if is_again else values["reward"][0])]
            return found

        past = [name for name in self.episode if name.startswith("past of ")]
        self._add(stages, seen, ["key", "given terms", "reward", "sum", *past, *self._memories("observation")])

    def add_restart(self, stages: Stages, *, modes: Sequence[str] = ("reset",)) -> None:
        """Begin an episode: events of these modes, sensors, commands."""
        layout = self.plan.layout.sizes

        def restarted(now: Now, values: Mapping[str, Scalars]) -> dict[str, Any]:
            m = self.plan.model
            key = next_key(values["key"])
            found: dict[str, Any] = {name: [0] * size for name, size in layout.items() if size}
            fresh = dict(values) | {
                "key": key,
                "age": [0],
                "action": [0] * self.actions,
                "last action": [0] * self.actions,
            }
            fresh |= {"q": list(self.stance), "v": [0] * self.robot.nv}
            for name in (n for n in self.now_sizes if n in layout and n not in ("q", "v")):
                fresh[name] = [0] * layout[name]
            if self.curriculum:
                level = self.curriculum.next(now, self._chance(fresh, "level"))
                fresh["level"] = [level]
            for mode in modes:
                for name, event in self.events.items():
                    if event.mode == mode:
                        seen = self.now(**{n: fresh[n] for n in self.now_sizes})
                        chance = self._chance(fresh, f"event {name}: {mode}")
                        fresh |= self._changed(fresh, event(name, seen, chance))
            found |= {"q": fresh["q"], "v": fresh["v"], **self._initial(m, fresh["q"])}
            if layout["chance"]:
                found["chance"] = next_key(values["chance"])
            for name, command in self.commands.items():
                chance = self._chance(fresh, f"command {name}: first")
                left = _interval(command).draw(chance) if command.interval else RARE
                found[f"command {name}"] = [*command.draw(chance, fresh["level"][0] if self.curriculum else 0), left]
            for name, event in self.events.items():
                if event.every is not None:
                    found[f"event {name}"] = [event.every.draw(self._chance(fresh, f"event {name}: first"))]
            found |= {f"memory of {name}": list(term.memory) for name, term in self.terms.items() if term.memory}
            found |= {name: fresh[name] for name in ("key", "age", "action", "last action")} | {"return": [0]}
            if self.curriculum:
                seen = self.now(**{n: fresh[n] for n in self.now_sizes})
                found |= {"level": fresh["level"], "start place": [seen.place.x, seen.place.y]}
            return found | ({"parameters": fresh["parameters"]} if self.parameters.size else {})

        self._add(stages, restarted, ["key", *(["chance"] if layout["chance"] else [])])
        if self.plan.model.readers or self.plan.model.disturbances:
            add_turning_on(stages, self.parameters)

    def _initial(self, m: Any, q: Scalars) -> dict[str, Any]:
        """Parts of the state that do not begin with zero."""
        found: dict[str, Any] = {}
        if self.plan.controller:
            found["memory"] = list(self.plan.controller.memory)
        if self.plan.layout.sizes["contact memory"]:
            found["contact memory"] = list(m.memory.stored) * len(m.touch_names)
        if m.motor_memory:
            found["motor memory"] = m.motor_memory.begun(self.parameters.model.robot, q)
        return found

    # ---- the whole period

    def add_period(self, stages: Stages, *, restarts: bool = True) -> None:
        """All phases, with nothing in NumPy; ``restarts`` where an episode has ended, or leaves the robot as it is."""
        self.add_action(stages)
        self.add_motion(stages)
        self.add_scores(stages)
        self.add_changes(stages)
        self.add_observations(stages)
        if restarts:
            self.add_new_episodes(stages)

    def add_new_episodes(self, stages: Stages, *, observes: bool = True) -> None:
        """Begin again where an episode has ended."""
        with stages.loop(1, when="episode ended"):
            self.add_restart(stages)
            if observes:
                self.add_observations(stages, is_first=True, is_again=True)


def _interval(command: Command) -> Any:
    return command.interval


def _own(label: str) -> str:
    """The name of a term without its kind."""
    return label.partition(" ")[2]
