"""Timing of several contenders in turns, so that a busy machine slows all of them alike."""

import time
from collections.abc import Callable, Mapping

__all__ = ["best_times"]


def best_times(
    contenders: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 12,
    least: float = 0.01,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The shortest time of one call of each contender [s], over rounds in which each has its turn.

    Args:
        contenders: what to call, by name.
        rounds: how often each gets its turn.
        least: in a turn, short calls are repeated for at least this long [s].
        clock: what time is [s]; for long calls on one thread, `time.process_time` leaves out what others take.
    """
    repeats: dict[str, int] = {}
    for name, call in contenders.items():
        call()
        start = clock()
        call()
        repeats[name] = max(1, int(least / max(clock() - start, 1e-9)))
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, call in contenders.items():
            start = clock()
            for _ in range(repeats[name]):
                call()
            best[name] = min(best[name], (clock() - start) / repeats[name])
    return best
