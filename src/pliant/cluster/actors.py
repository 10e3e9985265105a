"""Workers that are actors of Ray, on this machine or on all of a cluster."""

import contextlib
import os
import warnings
from collections.abc import Callable
from typing import Any

from pliant.cluster.messages import Answer, Call
from pliant.cluster.processes import LostError
from pliant.cluster.worker import IS_WORKER, done
from pliant.errors import PliantError, needs


class _Body:
    """What runs in an actor."""

    def __init__(self) -> None:
        os.environ[IS_WORKER] = "1"
        self._held: dict[str, Any] = {}

    def do(self, call: Call) -> Answer:
        """Do a call."""
        return done(call, self._held)


class Actor:
    """A worker that is an actor."""

    def __init__(self, ray: Any, threads: int):
        self._ray = ray
        kind = ray.remote(num_cpus=threads, max_restarts=0, scheduling_strategy="SPREAD")(_Body)
        self._actor = kind.remote()
        self.name = self._actor._actor_id.hex()[:8]

    def exchange(self, call: Call) -> Answer:
        """Have a call done; raises `LostError` if the worker ends meanwhile."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(self._actor.do.remote(call))
        except (errors.RayActorError, errors.WorkerCrashedError, errors.NodeDiedError) as error:
            raise LostError(_first_line(error)) from None
        except errors.OutOfMemoryError as error:
            raise LostError(f"for lack of memory: {_first_line(error)}") from None

    def kill(self) -> None:
        """End the actor at once."""
        with contextlib.suppress(Exception):  # it may have ended, or Ray itself
            self._ray.kill(self._actor)

    def close(self) -> None:
        """End the actor."""
        self.kill()


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200]


def actor_starter(workers: int, threads: int) -> Callable[[], Actor]:
    """What starts actors; joins a cluster that the user has joined, or that RAY_ADDRESS names, or starts one here."""
    with warnings.catch_warnings():
        # Ray warns of its own future
        warnings.simplefilter("ignore")
        ray = needs("ray", "cluster", "on='ray'")
        if not ray.is_initialized():
            own = {} if os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
            ray.init(log_to_driver=False, **own)
    have = int(ray.cluster_resources().get("CPU", 0))
    if workers * threads > have:
        # actors that no processor is left for would wait for ever
        problem = f"{workers} workers of {threads} threads need {workers * threads} processors, and Ray has {have}"
        cure = "give fewer workers, or join a larger cluster by ray.init(address=...) before"
        raise PliantError(problem, subject="ray", field="workers", cure=cure)

    def start() -> Actor:
        return Actor(ray, threads)

    return start
