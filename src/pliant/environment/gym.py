"""Environments for learners that speak Gymnasium: many robots, one robot, and registered ids.

    env = PliantVectorEnv(environment)
    observations, infos = env.reset(seed=0)
    observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())

    register("quadruped", make)
    env = gymnasium.make_vec("Pliant/quadruped-v0", num_envs=256)

Interfaces: Gymnasium 1.2 to 1.4, https://gymnasium.farama.org/api/vector, and for what happens when an episode ends
https://farama.org/Vector-Autoreset-Mode.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.checks import check, check_known, is_real
from pliant.environment.environment import Environment, Transition
from pliant.environment.pictures import Pictures
from pliant.errors import SimulationError, needs, unknown_name

gymnasium = needs("gymnasium", "gym", "pliant.environment.gym")
AutoresetMode = gymnasium.vector.AutoresetMode

Task = Callable[..., Environment]
"""``task(batch=, seed=, **options)`` -> an environment."""

_TASKS: dict[str, Task] = {}
_RENDER_MODES = ("rgb_array",)


def register(name: str, task: Task, *, version: int = 0) -> str:
    """Make a task known to Gymnasium.

    Args:
        name: letters, digits, dashes and dots.
        task: ``task(batch=, seed=, **options)`` -> an `Environment`; options are those that are given to
            ``gymnasium.make``.

    Returns:
        The id for ``gymnasium.make`` and ``gymnasium.make_vec``, "Pliant/NAME-v0".
    """
    is_name = isinstance(name, str) and re.fullmatch(r"[\w.-]+", name) is not None
    check("name", name, "letters, digits, dashes and dots", is_name, subject="register")
    check("task", task, "a function (batch, seed) -> Environment", callable(task), subject="register")
    own = f"Pliant/{name}-v{version}"
    _TASKS[name] = task
    if own in gymnasium.registry:  # Gymnasium warns of a second registration
        del gymnasium.registry[own]
    gymnasium.register(
        own,
        entry_point=f"{__name__}:PliantEnv",
        vector_entry_point=f"{__name__}:PliantVectorEnv",
        kwargs={"task": name},
    )
    return own


class PliantVectorEnv(gymnasium.vector.VectorEnv):
    """Many robots, for Gymnasium.

    Observations are those of the group "actor", as a box; several groups are a dict of boxes. Returned arrays are new
    ones in every step. ``infos["reward_terms"]`` has the weighted rewards of the step by name. When an episode ends:

    - SAME_STEP: the robot begins another one at once, all in one native call. ``infos["final_obs"]`` and
      ``infos["final_info"]`` have what was there before.
    - NEXT_STEP: the step returns the end of the episode. The next one ignores the robot's action, returns the start of
      a new episode, and a reward of zero.
    - DISABLED: the robot stays as it is until ``reset(options={"reset_mask": mask})``.

    Episodes are the same ones, bit for bit, in all three modes.

    Attributes:
        environment: the environment inside.
    """

    metadata: dict[str, Any] = {"render_modes": list(_RENDER_MODES)}  # noqa: RUF012  Gymnasium reads it from the class

    def __init__(
        self,
        task: str | Environment,
        num_envs: int | None = None,
        *,
        autoreset_mode: Any = AutoresetMode.SAME_STEP,
        groups: str | Sequence[str] = "actor",
        action_bound: float | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] = (480, 360),
        **options: Any,
    ):
        """Wrap an environment, or make that of a registered task.

        Args:
            task: the environment, or the name of a task.
            num_envs: how many robots, for a task; 1 by default.
            autoreset_mode: a mode of Gymnasium, or its value ("SameStep", "NextStep", "Disabled").
            groups: of observations: one, which becomes a box, or several, a dict.
            action_bound: largest size of a number of the action that the space has. By default that of the
                environment's action (``clip``), or 1 if it has none. The environment takes larger ones, too.
            render_mode: "rgb_array", or None.
            render_size: width and height [pixels].
            options: of the task.
        """
        self.environment = _made(task, num_envs, options)
        self.num_envs = self.environment.batch
        self.autoreset_mode = _mode(autoreset_mode)
        self.single_observation_space = observation_space(self.environment, groups)
        self.single_action_space = action_space(self.environment, action_bound)
        batched = gymnasium.vector.utils.batch_space
        self.observation_space = batched(self.single_observation_space, self.num_envs)
        self.action_space = batched(self.single_action_space, self.num_envs)
        self.metadata = _metadata(self.environment) | {"autoreset_mode": self.autoreset_mode}
        self.render_mode, self._render_size = _render_mode(render_mode), render_size
        self._groups, self._pictures = groups, None
        self._has_ended = np.zeros(self.num_envs, dtype=bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes.

        Args:
            seed: of all that is drawn from here on; None for new numbers, and at the first reset for those of the
                simulation's seed.
            options: "reset_mask": which robots, (num_envs,) of bool; None for all. "stagger": as for
                `Environment.reset`.
        """
        super().reset(seed=seed)
        given = dict(options or {})
        for name in given:
            check_known("option", name, ("reset_mask", "stagger"), "reset", error=SimulationError)
        mask = given.get("reset_mask")
        if mask is None:
            found = self.environment.reset(seed, stagger=bool(given.get("stagger", False)))
            self._has_ended[:] = False
        else:
            is_mask = isinstance(mask, np.ndarray) and mask.dtype == bool and mask.shape == (self.num_envs,)
            check("reset_mask", mask, f"an array ({self.num_envs},) of bool with a True", is_mask and bool(mask.any()))
            found = self.environment.restart(mask, seed=seed)
            self._has_ended[mask] = False
        return shown(found, self._groups), {}

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Go on by a control period."""
        went = ~self._has_ended
        x = self._transition(actions)
        ended = x.terminated | x.truncated
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            if ended.any():
                infos = self._final(x, ended)
                went = ~ended
        else:
            self._has_ended = ended
        infos |= self._terms(went)
        return shown(x.observations, self._groups), x.rewards, x.terminated, x.truncated, infos

    def _transition(self, actions: Any) -> Transition:
        env, ended = self.environment, self._has_ended
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            return env.step(actions)
        if not ended.any():
            return env.step(actions, restarts=False)
        if self.autoreset_mode is AutoresetMode.DISABLED:
            problem = f"the episodes of {ended.sum()} robots have ended, that of robot {np.argmax(ended)} first of them"
            cure = "call env.reset(options={'reset_mask': terminations | truncations})"
            raise SimulationError(problem, field="step", cure=cure)
        env.restart(ended)
        return env.step(actions, robots=~ended, restarts=False)

    def _final(self, x: Transition, ended: np.ndarray) -> dict[str, Any]:
        """What was there before robots began anew, in Gymnasium's form: an object for each of them."""
        final, rows = np.full(self.num_envs, None, dtype=object), np.flatnonzero(ended)
        own = {group: values[rows] for group, values in x.final.items()}
        for k, row in enumerate(rows):
            final[row] = shown({group: values[k] for group, values in own.items()}, self._groups)
        return {"final_obs": final, "_final_obs": ended, "final_info": self._terms(ended), "_final_info": ended}

    def _terms(self, robots: np.ndarray) -> dict[str, Any]:
        """Rewards by name, in Gymnasium's form: zero for others than these robots, with a mask beside each."""
        found: dict[str, Any] = self.environment.terms
        if not robots.all():
            found = {name: np.where(robots, values, 0) for name, values in found.items()}
        # one mask for all: they are the same
        own = robots.copy()
        return {"reward_terms": found | {f"_{name}": own for name in found}, "_reward_terms": own}

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of each robot, (height, width, 3), if the mode is "rgb_array"."""
        if self.render_mode is None:
            return None
        self._pictures = self._pictures or Pictures(self.environment.sim, self._render_size)
        return tuple(self._pictures.of(k) for k in range(self.num_envs))


class PliantEnv(gymnasium.Env):
    """One robot, for Gymnasium: as `PliantVectorEnv`, without the axis of the batch.

    It stays as it is when its episode has ended, until `reset`.
    """

    metadata: dict[str, Any] = {"render_modes": list(_RENDER_MODES)}  # noqa: RUF012  Gymnasium reads it from the class

    def __init__(
        self,
        task: str | Environment,
        *,
        groups: str | Sequence[str] = "actor",
        action_bound: float | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] = (480, 360),
        **options: Any,
    ):
        """Wrap an environment of one robot, or make that of a registered task; arguments as of `PliantVectorEnv`."""
        self.environment = _made(task, 1, options)
        self.observation_space = observation_space(self.environment, groups)
        self.action_space = action_space(self.environment, action_bound)
        self.metadata = _metadata(self.environment)
        self.render_mode, self._render_size = _render_mode(render_mode), render_size
        self._groups, self._pictures, self._has_begun = groups, None, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode; ``seed`` as for `PliantVectorEnv.reset`, options there are none."""
        super().reset(seed=seed)
        for name in options or {}:
            raise SimulationError(unknown_name("option", name, (), "reset of one robot"))
        is_new = seed is not None or not self._has_begun
        found = self.environment.reset(seed) if is_new else self.environment.restart()
        self._has_begun = True
        return self._one(found), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Go on by a control period."""
        x = self.environment.step(np.asarray(action)[None], restarts=False)
        info = {"reward_terms": {name: float(values[0]) for name, values in self.environment.terms.items()}}
        return self._one(x.observations), float(x.rewards[0]), bool(x.terminated[0]), bool(x.truncated[0]), info

    def _one(self, found: dict[str, np.ndarray]) -> Any:
        return shown({group: values[0] for group, values in found.items()}, self._groups)

    def render(self) -> np.ndarray | None:
        """A picture, (height, width, 3), if the mode is "rgb_array"."""
        if self.render_mode is None:
            return None
        self._pictures = self._pictures or Pictures(self.environment.sim, self._render_size)
        return self._pictures.of(0)


# ---- spaces


def observation_space(env: Environment, groups: str | Sequence[str] = "actor") -> Any:
    """The space of the observations of a robot: a box for one group, a dict of boxes for several.

    It is bounded where observations are clipped, and not elsewhere.
    """
    names = [groups] if isinstance(groups, str) else list(groups)
    check("groups", groups, "one group or more", bool(names))
    boxes = {}
    for group in names:
        check_known("group of observations", group, env.observation_sizes, "the environment", error=SimulationError)
        bound = np.array(env.observation_bounds[group], dtype=env.sim.dtype)
        boxes[group] = gymnasium.spaces.Box(-bound, bound, dtype=env.sim.dtype)
    return boxes[groups] if isinstance(groups, str) else gymnasium.spaces.Dict(boxes)


def action_space(env: Environment, bound: float | None = None) -> Any:
    """The space of the actions of a robot, a box; ``bound`` as for `PliantVectorEnv`."""
    most = bound if bound is not None else env.plan.action.clip or 1.0
    check("action_bound", bound, "None, or a number above zero", is_real(most) and most > 0)
    return gymnasium.spaces.Box(-most, most, (env.action_size,), dtype=env.sim.dtype)


def shown(found: dict[str, np.ndarray], groups: str | Sequence[str]) -> Any:
    """Observations as in their space."""
    return found[groups] if isinstance(groups, str) else {group: found[group] for group in groups}


# ---- what users give


def _made(task: str | Environment, batch: int | None, options: dict[str, Any]) -> Environment:
    if isinstance(task, Environment):
        is_right = batch in (None, task.batch) and not options
        given = {"robots": batch, **options}
        check("task", given, f"no options beside an environment, which has {task.batch} robots", is_right)
        return task
    if not isinstance(task, str) or task not in _TASKS:
        raise SimulationError(unknown_name("task", str(task), _TASKS, "pliant.environment.gym.register"))
    found = _TASKS[task](batch=1 if batch is None else batch, **options)
    check("task", found, f"task {task!r} to return an Environment", isinstance(found, Environment))
    return found


def _mode(given: Any) -> Any:
    known = {mode.value: mode for mode in AutoresetMode}
    found = known.get(given, given) if isinstance(given, str) else given
    check("autoreset_mode", given, f"one of {', '.join(known)}", isinstance(found, AutoresetMode))
    return found


def _render_mode(given: Any) -> str | None:
    if given is not None:
        check_known("render mode", given, _RENDER_MODES, "the environment", error=SimulationError)
    return given


def _metadata(env: Environment) -> dict[str, Any]:
    return {"render_modes": list(_RENDER_MODES), "render_fps": max(1, round(1 / env.period))}
