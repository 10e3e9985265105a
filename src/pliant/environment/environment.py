"""Environments: simulations with a task, as learners take them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.chance import check_seed, keys_of
from pliant.checks import check, check_known, chosen_robots, is_real, numbers
from pliant.environment.actions import Action
from pliant.environment.commands import RARE, Command
from pliant.environment.curricula import Curriculum
from pliant.environment.deployment import Deployment
from pliant.environment.describing import description, digest_of
from pliant.environment.events import Event
from pliant.environment.given import default_action, groups_of, stance_of
from pliant.environment.pickling import parts_of, remade
from pliant.environment.plan import EpisodePlan
from pliant.environment.programs import EpisodeKernels
from pliant.environment.terms import Reward, Termination, as_terms
from pliant.environment.weights import Weights
from pliant.errors import SimulationError
from pliant.signatures import explained
from pliant.simulation import Controller, Simulation
from pliant.simulation.state import spans


class Transition(NamedTuple):
    """What a control period brought.

    Attributes:
        observations: by group, (batch, n): those of a new episode for robots whose episode has ended.
        rewards: (batch,).
        terminated: whether an episode is over, (batch,).
        truncated: whether it was cut off, as by the time limit.
        final: observations at the end of the period, before episodes began anew.
    """

    observations: dict[str, np.ndarray]
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final: dict[str, np.ndarray]


@explained
class Environment:
    """A task: what a policy sees and does, what it is rewarded for, and when an episode ends.

        sim = pliant.Simulation(robot, dt=5e-3, substeps=4, ground=pliant.flat(), batch=512, precision="float32")
        env = pliant.Environment(
            sim,
            action=JointTargets(0.5),
            observations={"velocity": observations.base_velocity, "gyro": Observation("imu.gyro", noise=0.1)},
            rewards={"track": Reward(rewards.track_linear_velocity, 1.0, width=0.5), "alive": (rewards.alive, 0.5)},
            terminations={"fell": Termination(terminations.fell, height=0.14)},
            commands={"velocity": Velocity(ahead=(0, 1))},
            events={"start": Event(events.start_state, joints=0.1), "push": Event(events.push, "interval", every=3.0)},
            timeout=10.0,
        )
        seen = env.reset(seed=0)
        seen, rewards, terminated, truncated, final = env.step(actions)

    Robots whose episode ends begin another one within the same step. All of a control period is one native call, but
    for terms that run in NumPy.

    Attributes:
        sim: the simulation, whose state is that of the robots now.
        batch: how many robots.
        period: length of a control period [s].
        weights: of the rewards, by name, to read and to set.
        mirror: left and right exchanged, or None.
        name: of the task, "" if it has none.
        has_begun: whether there was a reset.
    """

    def __init__(
        self,
        sim: Simulation,
        *,
        observations: Mapping[str, Any],
        rewards: Mapping[str, Any],
        action: Action | None = None,
        terminations: Mapping[str, Any] | None = None,
        commands: Mapping[str, Command] | None = None,
        events: Mapping[str, Event] | None = None,
        curriculum: Curriculum | None = None,
        timeout: float = 10.0,
        stance: Any = None,
        reward_scale: float = 1.0,
        reward_floor: float | None = None,
        mirror: Any = None,
        name: str = "",
    ):
        """Set up an environment; it is compiled at the first reset.

        Args:
            sim: a batch of robots; ``substeps`` of it are a control period.
            observations: groups of terms by name: "actor", and "critic" if it sees something else; or terms by name,
                which are then those of the actor.
            rewards: terms by name: `Reward`, or (function, weight).
            action: what an action means; by default `JointTargets` for motors with position control, else `Controls`.
            terminations: terms by name: `Termination`, or a function.
            commands: by name.
            events: by name.
            curriculum: of the levels of the robots.
            timeout: length of an episode [s].
            stance: configuration that episodes begin with, (nq,); by default the robot's stance, on the ground if it
                has a free base, or its neutral configuration.
            reward_scale, reward_floor: the reward is the weighted sum of the terms, at least ``reward_floor``, times
                ``reward_scale``.
            mirror: left and right exchanged, for learners that use symmetry, as `pliant.learn.interface.Mirror` says.
            name: of the task, for records.
        """
        is_batch = isinstance(sim, Simulation) and sim.batch is not None
        check("sim", type(sim).__name__, "a Simulation with a batch", is_batch)
        check("timeout", timeout, "a time in seconds above zero", is_real(timeout) and timeout > 0)
        check("reward_scale", reward_scale, "a number above zero", is_real(reward_scale) and reward_scale > 0)
        is_floor = reward_floor is None or is_real(reward_floor)
        check("reward_floor", reward_floor, "None, or a finite number", is_floor)
        self.sim, self.batch, self.mirror, self.name = sim, int(sim.batch or 1), mirror, name
        action = default_action(sim) if action is None else action
        check("action", action, "an Action, such as JointTargets(0.5)", isinstance(action, Action))
        for name, kind, given in (("commands", Command, commands), ("events", Event, events)):
            is_right = given is None or (
                isinstance(given, Mapping) and all(isinstance(x, kind) for x in given.values())
            )
            check(name, given, f"a dict of {kind.__name__} by name", is_right)
        is_right = curriculum is None or isinstance(curriculum, Curriculum)
        check("curriculum", curriculum, "a Curriculum", is_right)
        period = sim.dt * sim.plan.substeps
        self.plan = EpisodePlan(
            sim.plan, action, groups_of(observations), as_terms(Reward, rewards, "rewards"),
            as_terms(Termination, terminations, "terminations"), dict(commands or {}), dict(events or {}), curriculum,
            stance_of(sim, stance), max(1, round(timeout / period)), float(reward_scale),
            None if reward_floor is None else float(reward_floor),
        )  # fmt: skip
        check("rewards", rewards, "one term or more", bool(self.plan.rewards))
        self.period, self.timeout = period, self.plan.limit * period
        _ = self.plan.sizes_of_terms  # so that terms that cannot be traced say so here
        self._episode_spans, self._outcome_spans = spans(self.plan.episode), spans(self.plan.outcome)
        self._episode = np.zeros((self.batch, sum(self.plan.episode.values())), sim.dtype)
        self._outcome = np.zeros((self.batch, sum(self.plan.outcome.values())), sim.dtype)
        self._given = np.zeros((self.batch, sum(self.plan.sizes_of_terms[n] for n in self.plan.given)), sim.dtype)
        self._kernels = EpisodeKernels(self.plan, sim)
        self.weights = Weights(self.plan.rewards, sim.dtype)
        self.has_begun = False

    def __reduce__(self) -> Any:
        return remade, (type(self), parts_of(self))

    # ---- sizes and names

    @property
    def action_size(self) -> int:
        """Numbers of an action."""
        return self.plan.actions

    @property
    def action_names(self) -> list[str]:
        """Of the numbers of an action."""
        return self.plan.action.names(self.sim.robot, self.plan.actions)

    @property
    def observation_sizes(self) -> dict[str, int]:
        """Numbers of each group."""
        return {group: self.plan.outcome[f"observations {group}"] for group in self.plan.observations}

    @property
    def observation_names(self) -> dict[str, list[str]]:
        """Of the numbers of each group."""
        return {group: self.plan.observation_names(group) for group in self.plan.observations}

    @property
    def observation_bounds(self) -> dict[str, list[float]]:
        """The largest sizes of the numbers of each group: infinite where they are not clipped."""
        return {group: self.plan.observation_bounds(group) for group in self.plan.observations}

    # ---- running

    def reset(self, seed: int | None = None, *, stagger: bool = False) -> dict[str, np.ndarray]:
        """Begin new episodes of all robots.

        Args:
            seed: of all that is drawn from here on; None for new numbers, which follow from those before, and at the
                first reset for those of the simulation's seed.
            stagger: whether the first episodes are cut off at different times, so that later ones do not all begin at
                once, as suits learners.

        Returns:
            Observations by group, (batch, n).
        """
        if seed is None and not self.has_begun:
            seed = self.sim.seed
        if seed is not None:
            self._part("key")[...] = keys_of(check_seed(seed), self.sim.first + np.arange(self.batch))
            self.sim.reset(seed=seed)
            self._part("age")[...] = 0
            for name in ("level", "start place") if self.plan.curriculum else ():
                self._part(name)[...] = 0
        self.has_begun = True
        self._part("tally")[...] = 0
        self._outcome[...] = 0
        self._run("begin")
        seen = self.look()
        if stagger:
            self._part("age")[:, 0] = np.arange(self.batch) * self.plan.limit // self.batch
        return seen

    def look(self, robots: Any = None) -> dict[str, np.ndarray]:
        """Observations of the moment, as after `set_command`; what they remember of the past begins anew.

        Args:
            robots: indices or a mask of those that look, None for all; the others see what they saw before.
        """
        self._take("observation")
        self._run("first look", rows=None if robots is None else self._rows(robots))
        self._check_finite()
        return self._observations("observations")

    def restart(self, robots: Any = None, *, seed: int | None = None) -> dict[str, np.ndarray]:
        """Begin new episodes of some robots; others stay as they are, to the bit.

        Args:
            robots: indices or a mask of them; None for all.
            seed: as for `reset`; events of the mode "startup" happen again only if there is one.

        Returns:
            Observations by group, (batch, n), of all robots.
        """
        self._check_begun("restart")
        rows = self._rows(robots)
        if seed is not None:
            self._part("key")[rows] = keys_of(check_seed(seed), self.sim.first + rows)
            self.sim.reset(seed=seed, robots=rows)
        self._forget_period(rows)
        self._run("restart" if seed is None else "begin", rows=rows)
        return self.look(rows)

    def step(self, actions: Any, *, robots: Any = None, restarts: bool = True) -> Transition:
        """Go on by a control period.

        Args:
            actions: (batch, n).
            robots: indices or a mask of those that go on; the others stay as they are, to the bit, with a reward of
                zero. None for all, which is fastest.
            restarts: whether robots whose episode ends begin another one at once. If not, they stay as they are until
                `restart`.
        """
        self._check_begun("step")
        rows = None if robots is None else self._rows(robots)
        given = self.checked_actions(actions, rows)
        if rows is not None:
            self._forget_period(np.delete(np.arange(self.batch), rows))
        if not self.plan.given:
            self._run("period" if restarts else "period without restarts", given, rows)
        else:
            self._run("motion", given, rows)
            self._take("reward", "termination")
            self._run("scores", rows=rows)
            self._take("observation")
            self._run("look" if restarts else "look without restarts", rows=rows)
            if restarts:
                self._take("observation")
                self._run("first look of those that ended", rows=rows)
        self._check_finite()
        ended = self._outcome
        terminated, truncated = (ended[:, self._outcome_spans[name].start] > 0 for name in ("terminated", "truncated"))
        rewards = ended[:, self._outcome_spans["reward"].start].copy()
        return Transition(
            self._observations("observations"), rewards, terminated, truncated, self._observations("final")
        )

    def _check_begun(self, what: str) -> None:
        if not self.has_begun:
            raise SimulationError("the environment has not begun", field=what, cure="call env.reset() first")

    def _rows(self, robots: Any) -> np.ndarray:
        """Numbers of robots."""
        return np.arange(self.batch) if robots is None else chosen_robots(robots, self.batch)

    def _forget_period(self, rows: np.ndarray) -> None:
        """The last period brought these robots nothing."""
        for name in ("terms", "reward", "terminated", "truncated"):
            self._outcome[rows, self._outcome_spans[name]] = 0

    def checked_actions(self, actions: Any, rows: np.ndarray | None) -> np.ndarray:
        """Actions as kernels take them; of rows that do not act, zero."""
        shape = (self.batch, self.action_size)
        found = numbers("actions", actions, self.sim.dtype)
        if found.shape != shape:
            cure = f"they take {shape}: {', '.join(self.action_names)} of each robot"
            raise SimulationError(f"actions have shape {found.shape}", field="actions", cure=cure)
        found = found if rows is None else np.where(np.isin(np.arange(self.batch), rows)[:, None], found, 0)
        if not np.isfinite(found).all():
            robot, k = np.argwhere(~np.isfinite(found))[0]
            problem = f"action {self.action_names[k]!r} of robot {self.sim.first + robot} is {found[robot, k]}"
            raise SimulationError(problem, field="actions", cure="give finite numbers")
        return np.ascontiguousarray(found)

    def _check_finite(self) -> None:
        """Raise if a term is not finite."""
        if np.isfinite(self._outcome[:, self._outcome_spans["sum"].start]).all():
            return
        for part, names in self._named().items():
            wrong = np.argwhere(~np.isfinite(self._outcome[:, self._outcome_spans[part]]))
            if len(wrong):
                robot, k = wrong[0]
                value = self._outcome[robot, self._outcome_spans[part].start + k]
                problem = f"{names[k]} of robot {self.sim.first + robot} is {value}"
                cure = f"look at env.sim.q[{robot}] and .v, and at what the term divides by or takes roots of"
                raise SimulationError(problem, subject=names[k], field="value", cure=cure)

    def _named(self) -> dict[str, list[str]]:
        found = {"terms": [f"reward {name!r}" for name in self.plan.rewards]}
        for what in ("final", "observations"):
            for group, names in self.observation_names.items():
                found[f"{what} {group}"] = [f"observation {name!r} of {group!r}" for name in names]
        return found

    def _observations(self, what: str) -> dict[str, np.ndarray]:
        return {g: self._outcome[:, self._outcome_spans[f"{what} {g}"]].copy() for g in self.plan.observations}

    def _part(self, name: str) -> np.ndarray:
        """A part of what episodes remember, a view."""
        return self._episode[:, self._episode_spans[name]]

    # ---- what happens now

    @property
    def terms(self) -> dict[str, np.ndarray]:
        """The weighted rewards of the last period by name, (batch,)."""
        found = self._outcome[:, self._outcome_spans["terms"]]
        return {name: found[:, k].copy() for k, name in enumerate(self.plan.rewards)}

    @property
    def ages(self) -> np.ndarray:
        """Control periods since the episode of each robot began; set them to have episodes cut off earlier or later."""
        return self._part("age")[:, 0].astype(int)

    @ages.setter
    def ages(self, ages: Any) -> None:
        found = numbers("ages", ages)
        is_right = found.shape == (self.batch,) and bool(np.all((found >= 0) & (found == np.floor(found))))
        check("ages", ages, f"{self.batch} whole numbers, 0 or more", is_right)
        self._part("age")[:, 0] = found

    @property
    def levels(self) -> np.ndarray:
        """Of the curriculum."""
        return self._part("level")[:, 0].copy() if self.plan.curriculum else np.zeros(self.batch)

    def command(self, name: str) -> np.ndarray:
        """The numbers of a command now, (batch, n)."""
        check_known("command", name, self.plan.commands, "the environment", error=SimulationError)
        return self._part(f"command {name}")[:, :-1].copy()

    def set_command(self, name: str, values: Any, *, hold: bool = True) -> None:
        """Give a command, (n,) or (batch, n); ``hold`` it until the episode ends, or draw anew at the usual time.

        It shows in the observations of the next period, and in those of `look`.
        """
        check_known("command", name, self.plan.commands, "the environment", error=SimulationError)
        part = self._part(f"command {name}")
        found = numbers(f"command {name}", values)
        shape = (self.batch, part.shape[1] - 1)
        is_right = found.shape in (shape, shape[1:]) and bool(np.isfinite(found).all())
        check(f"command {name}", values, f"finite numbers, {shape[1:]} or {shape}", is_right)
        part[:, :-1] = found
        if hold:
            part[:, -1] = RARE

    def metrics(self) -> dict[str, float]:
        """Means since the last call: of each reward by name a period, of ends, lengths and returns an episode."""
        tally = self._part("tally")
        sums = dict(zip(self.plan.tallied, tally.sum(axis=0, dtype=float).tolist(), strict=True))
        tally[...] = 0
        steps, episodes = max(sums.pop("steps"), 1), sums.pop("episodes")
        found = {name: value / steps for name, value in sums.items() if name.startswith("reward/")}
        if self.plan.curriculum:
            found["level"] = sums.pop("level") / steps
        ends = {name: value / steps for name, value in sums.items() if name.startswith("end/")}
        done = max(episodes, 1)
        found |= {"episode/return": sums["returns"] / done, "episode/length": sums["lengths"] * self.period / done}
        return {**found, "episode/count": episodes, **ends}

    @property
    def state(self) -> dict[str, np.ndarray]:
        """All that the next period depends on; setting it goes on from there, bit for bit."""
        parameters = self.sim.parameters.data
        found = {"state": self.sim.data, "episode": self._episode, "parameters": parameters, "outcome": self._outcome}
        return {name: array.copy() for name, array in found.items()} | {
            "weights": np.array(list(self.weights.values()))
        }

    @state.setter
    def state(self, state: Mapping[str, np.ndarray]) -> None:
        targets = {
            "state": self.sim.data, "episode": self._episode, "parameters": self.sim.parameters.data,
            "outcome": self._outcome, "weights": self.weights.data,
        }  # fmt: skip
        for name, target in targets.items():
            if name not in state or np.shape(state[name]) != target.shape:
                shown = np.shape(state[name]) if name in state else "absent"
                problem = f"{name!r} of the state is {shown}, and {target.shape} here"
                raise SimulationError(problem, field="state", cure="take the state of the same environment")
        for name, target in targets.items():
            target[...] = state[name]
        self.weights.update(zip(self.weights, map(float, state["weights"]), strict=True))
        self.has_begun = True

    def controller(self, policy: Any, *, from_sensors: bool | None = None) -> Controller:
        """A policy as a controller, compiled with the step of any simulation of the robot.

            walking = pliant.Simulation(robot, dt=1e-3, substeps=20, controller=env.controller(policy), ...)
            log = walking.run(10.0, commands=[0.6, 0, 0])

        Its commands are those of the environment one after the other, but for clocks, which go on by themselves. A
        control period of the simulation must be as long as that of the environment.

        Args:
            policy: of `pliant.learn`, or any object with a ``network(x)`` from observations to actions that is generic
                over the scalar.
            from_sensors: whether it takes the readings of sensors in place of the state; by default if an observation
                of the actor is that of a sensor.
        """
        if hasattr(policy, "check"):
            policy.check(self)
        actor = self.plan.observations["actor"].values()
        if from_sensors is None:
            from_sensors = any("channel" in term.parameters for term in actor)
        return Deployment(self.plan, policy.network, from_sensors).controller()

    # ---- what it is

    def describe(self) -> dict[str, Any]:
        """The task in words and numbers that JSON takes: robot, physics, terms."""
        return description(self)

    @property
    def digest(self) -> str:
        """A short name of the task: another one for another robot, other terms or other physics."""
        return digest_of(self.describe())

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n} of {group}" for group, n in self.observation_sizes.items())
        return (
            f"Environment of {self.batch} robots {self.sim.robot.name!r}: observations {sizes}, "
            f"{self.action_size} actions, {len(self.plan.rewards)} rewards, periods of {self.period:g} s, "
            f"episodes of {self.timeout:g} s"
        )

    # ---- kernels

    def _take(self, *kinds: str) -> None:
        """Run terms in NumPy, and hand their values to the kernels."""
        now, at = None, 0
        for label, term in self.plan.given.items():
            size = self.plan.sizes_of_terms[label]
            if label.split()[0] in kinds:
                now = now or self._now()
                values, _ = term(label.partition(" ")[2], now)
                if len(values) != size:
                    problem = f"{label} has {len(values)} numbers now, and had {size}"
                    raise SimulationError(problem, subject=label, field="function", cure="return as many each time")
                for k, x in enumerate(values):
                    if np.shape(x) not in ((), (self.batch,)):
                        problem = f"{label} has the shape {np.shape(x)}"
                        cure = f"return a number, or an array ({self.batch},) with one for each robot"
                        raise SimulationError(problem, subject=label, field="function", cure=cure)
                    self._given[:, at + k] = x
            at += size

    def _now(self) -> Any:
        """What terms in NumPy see."""
        layout, data, values = self.sim.layout, self.sim.data, {}
        for name in self.plan.now_sizes:
            if name in layout.sizes:
                values[name] = data[:, layout.span(name)].T
            elif name == "parameters":
                values[name] = self.sim.parameters.data.T
            else:
                values[name] = self._part(name).T
        return self.plan.now(**values)

    def _run(self, name: str, actions: np.ndarray | None = None, rows: np.ndarray | None = None) -> None:
        """Run a program in place, on all robots or on those of some rows."""
        kernel = self._kernels.kernel(name)
        arrays = {
            "state": self.sim.data, "episode": self._episode, "parameters": self.sim.parameters.data,
            "outcome": self._outcome, "given action": actions, "weights": self.weights.data, "given terms": self._given,
        }  # fmt: skip
        written = [output.removesuffix(" after") for output in kernel.outputs]
        used = {name: arrays[name] for name in {*kernel.inputs, *written}}
        if rows is not None:
            if not len(rows):
                return
            used = {name: x[rows] if x.ndim == 2 else x for name, x in used.items()}
        out = tuple(used[name] for name in written)
        kernel(*(used[name] for name in kernel.inputs), out=out, threads=self.sim.threads)
        if rows is not None:
            for name in written:
                arrays[name][rows] = used[name]
