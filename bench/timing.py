"""Timing of several contenders in turns, so that a busy machine slows all of them alike."""

import math
import time
from collections.abc import Callable, Mapping

__all__ = ["best_times"]


def best_times(
    contenders: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 12,
    least: float = 0.01,
    most: float = math.inf,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The shortest time of one call of each contender [s], over rounds in which each has its turn.

    Args:
        contenders: what to call, by name.
        rounds: how often each gets its turn.
        least: in a turn, short calls are repeated for at least this long [s].
        most: who has had turns for this long altogether gets no more of them [s].
        clock: what time is [s]; for long calls on one thread, `time.process_time` leaves out what others take.
    """
    best: dict[str, float] = {}
    repeats: dict[str, int] = {}
    for name, call in contenders.items():
        call()
        start = clock()
        call()
        best[name] = clock() - start
        repeats[name] = max(1, int(least / max(best[name], 1e-9)))
    spent = dict(best)
    for _ in range(rounds):
        for name, call in contenders.items():
            if spent[name] > most:
                continue
            start = clock()
            for _ in range(repeats[name]):
                call()
            turn = clock() - start
            best[name], spent[name] = min(best[name], turn / repeats[name]), spent[name] + turn
    return best
