"""One thread at a time moves a simulation.

Two threads that stepped it would both begin at the same state, and one of the two steps would be lost without a word.
"""

import threading
from types import TracebackType

from pliant.errors import SimulationError


class Moving:
    """Held by the thread that moves a simulation on.

        with moving: ...            # a step, or a part of a run: raises if another thread is in one
        with moving.waited: ...     # a reset: waits for the other thread

    Attributes:
        waited: the lock itself.
        acquire, release: of the lock; the step itself is short, and calls them without a context.
    """

    def __init__(self) -> None:
        self.waited = threading.Lock()
        self.acquire, self.release = self.waited.acquire, self.waited.release

    def __enter__(self) -> None:
        if not self.acquire(False):
            raise in_use()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def in_use() -> SimulationError:
    """The error of a thread that moves a simulation while another one does."""
    problem = "another thread is moving this simulation on"
    cure = "step it in one thread, guard it with a lock of your own, or make a Simulation for each thread"
    return SimulationError(problem, subject="simulation", field="threads", cure=cure)
