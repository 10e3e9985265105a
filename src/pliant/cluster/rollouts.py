"""Rollouts on workers: states and controls go out in shares, and the results of all robots come back in their order.

What a robot does depends on its own state, parameters and controls, and on nothing else. So results are equal to those
of one process to the bit, whatever the shares, and whoever did them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pliant.checks import check, is_whole
from pliant.cluster.crew import Crew, WithCrew
from pliant.cluster.messages import Call
from pliant.cluster.shares import collected, rows_of, shares_of
from pliant.environment import Environment
from pliant.environment.pickling import parts_of as environment_parts
from pliant.environment.pickling import remade as remade_environment
from pliant.environment.pickling import share_of as environment_share
from pliant.errors import SimulationError
from pliant.signatures import explained
from pliant.simulation import Rollout, Simulation
from pliant.simulation.pickling import parts_of, remade
from pliant.simulation.rollout import Work, asked, roll, rolled, room_for

# shares for each worker: those who are done early take from those who are slow
_SHARES = 4
# but no smaller than this, which is work for a millisecond or so
_LEAST = 16


class Episodes(NamedTuple):
    """What the robots of an environment did, by control period and robot.

    Attributes:
        rewards: (periods, batch).
        terminated, truncated: whether an episode was over, or cut off, (periods, batch).
        observations: by group, at the end, (batch, n).
    """

    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    observations: dict[str, np.ndarray]


@explained
class Rollouts(WithCrew):
    """Rollouts of a simulation or an environment on many workers, equal to local ones to the bit.

        with pliant.Rollouts(sim, workers=8) as rollouts:
            result = rollouts.rollout(states, controls)       # as sim.rollout
        with pliant.Rollouts(env, on="ray", workers=100) as rollouts:
            episodes = rollouts.episodes(policy, periods=500, seed=3)

    Each worker holds the simulation and does whole shares of the batch. A worker that ends is replaced, and its share
    done again; when nothing else is left, a share that is late is given to a second worker.

    Attributes:
        what: the simulation or environment.
        workers: how many.
        lost: workers that have ended and been replaced.
    """

    def __init__(
        self,
        what: Simulation | Environment,
        *,
        on: str = "processes",
        workers: int | None = None,
        threads: int = 1,
        share: int | None = None,
        retries: int = 2,
    ):
        """Set up workers, which start at the first rollout.

        Args:
            what: it is copied to the workers; later changes of parameters go to them with each rollout, those of an
                environment's weights do not.
            on: "processes" of this machine, or "ray".
            workers: how many; by default one for each ``threads`` processors of this machine.
            threads: of each worker.
            share: robots of a call; by default so many that each worker has four calls.
            retries: how often a share whose worker has ended is done again.
        """
        is_right = isinstance(what, Simulation | Environment)
        check("what", type(what).__name__, "a Simulation or an Environment", is_right, subject="rollouts")
        check("share", share, "None, or 1 or more", share is None or (is_whole(share) and share > 0))
        check("retries", retries, "0 or more", is_whole(retries) and retries >= 0, subject="rollouts")
        self.what, self._share, self._retries = what, share, int(retries)
        self._threads = threads
        parts = parts_of(what) if isinstance(what, Simulation) else environment_parts(what)
        first = Call(hold, (type(what), parts, threads))
        self._crew = Crew(on, workers, threads=threads, first=first)
        self.workers = self._crew.size

    def rollout(
        self,
        states: Any = None,
        controls: Any = None,
        *,
        periods: int | None = None,
        channels: Sequence[str] = ("q", "v"),
        out: Mapping[str, np.ndarray] | None = None,
    ) -> Rollout:
        """As `Simulation.rollout`, with the same bits."""
        sim = self.what
        if not isinstance(sim, Simulation):
            cure = "call episodes(policy), or make Rollouts of its simulation"
            raise SimulationError("these are rollouts of an environment", field="rollout", cure=cure)
        work = asked(sim, states, controls, periods, channels)
        if work.robots is None:
            return rolled(sim, roll(sim, *work[:4], self._threads, None, out), work.periods)
        found = room_for(sim, work.names, work.robots, work.periods, out)
        found["next"] = np.empty((work.robots, sim.layout.size), sim.dtype)
        parameters = sim.parameters.data
        if parameters.ndim == 2 and len(parameters) != work.robots:
            parameters = parameters[0]  # there are none, as in `roll`
        shares = self._shares(work.robots)
        calls = [Call(_roll, (self._part(work, a, b), rows_of(parameters, a, b, 2), self._threads)) for a, b in shares]
        for k, arrays in collected(self._crew, calls, retries=self._retries):
            for name, array in arrays.items():
                found[name][shares[k][0] : shares[k][1]] = array
        return rolled(sim, found, work.periods)

    def _part(self, work: Work, first: int, last: int) -> Work:
        start = rows_of(work.start, first, last, 2)
        assert start is not None
        return work._replace(start=start, controls=rows_of(work.controls, first, last, 3), robots=last - first)

    def episodes(self, policy: Any, *, periods: int, seed: int = 0) -> Episodes:
        """Reset the environment and have a policy act in it for so many control periods; equal to `episodes_of`.

        Args:
            policy: from observations to actions, for any number of robots: a `pliant.learn.Policy`, or a function of
                a module. The actions of a robot must not depend on the other rows.
            periods: how many.
            seed: of the reset.
        """
        env = self.what
        if not isinstance(env, Environment):
            cure = "call rollout(states, controls), or make Rollouts of an environment"
            raise SimulationError("these are rollouts of a simulation", field="episodes", cure=cure)
        check("periods", periods, "1 or more", is_whole(periods) and periods > 0)
        shares = self._shares(env.batch)
        calls = [Call(_episodes, (share, policy, int(periods), seed)) for share in shares]
        made: list[Any] = [None] * len(calls)
        for k, episodes in collected(self._crew, calls, retries=self._retries):
            made[k] = episodes
        rewards, terminated, truncated = (np.concatenate([m[i] for m in made], axis=1) for i in range(3))
        seen = {g: np.concatenate([m.observations[g] for m in made]) for g in env.observation_sizes}
        return Episodes(rewards, terminated, truncated, seen)

    def _shares(self, robots: int) -> list[tuple[int, int]]:
        if self._share is not None:
            return shares_of(robots, -(-robots // self._share))
        return shares_of(robots, max(self.workers, min(_SHARES * self.workers, robots // _LEAST)))

    def __repr__(self) -> str:
        return f"Rollouts of {self.what!r} on {self.workers} workers ({self._crew.on})"


def episodes_of(env: Environment, policy: Any, *, periods: int, seed: int = 0) -> Episodes:
    """Reset an environment and have a policy act in it for so many control periods, in this process."""
    seen = env.reset(seed=seed)
    found = []
    for _ in range(periods):
        seen, rewards, terminated, truncated, _ = env.step(policy(seen["actor"]))
        found.append((rewards, terminated, truncated))
    rewards, terminated, truncated = (np.stack(arrays) for arrays in zip(*found, strict=True))
    return Episodes(rewards, terminated, truncated, seen)


# ---- in the worker


def hold(held: dict[str, Any], kind: Any, parts: Mapping[str, Any], threads: int) -> None:
    """First of all: the simulation, or what environments of shares are made of."""
    held["kind"], held["parts"] = kind, parts
    if issubclass(kind, Simulation):
        held["sim"] = remade(kind, parts)
    else:
        parts["parts"]["options"]["threads"] = threads


def _roll(held: dict[str, Any], work: Work, parameters: Any, threads: int) -> dict[str, np.ndarray]:
    """The share of a rollout."""
    return roll(held["sim"], *work[:4], threads, work.robots, parameters=parameters)


def environment_of(held: dict[str, Any], share: tuple[int, int]) -> Environment:
    """The environment of a share, which the worker keeps."""
    known = held.setdefault("environments", {})
    if share not in known:
        known[share] = remade_environment(held["kind"], environment_share(held["parts"], *share))
    return known[share]


def _episodes(held: dict[str, Any], share: tuple[int, int], policy: Any, periods: int, seed: int) -> Episodes:
    """The share of an environment's rollout."""
    return episodes_of(environment_of(held, share), policy, periods=periods, seed=seed)
