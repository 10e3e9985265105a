"""Shares of a batch: which robots go to which call, and what comes back."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pliant.cluster.crew import Crew, Task
from pliant.cluster.messages import Answer, Call
from pliant.errors import PliantError


def shares_of(count: int, parts: int, multiple: int = 1) -> list[tuple[int, int]]:
    """Robots ``first`` up to, not including, ``last`` of each share: about as many in each, and none without any.

    Args:
        count: of robots.
        parts: shares at most.
        multiple: shares begin at multiples of this.
    """
    blocks = -(-count // multiple)
    parts = max(1, min(parts, blocks))
    edges = [min(count, multiple * (blocks * k // parts)) for k in range(parts + 1)]
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def collected(crew: Crew, calls: Sequence[Call], *, retries: int) -> Iterator[tuple[int, Any]]:
    """Number and result of each call, as they are done.

    A call whose worker ends is done again, and late ones by a second worker, too. Raises what a call raised.
    """
    tasks = (Task(k, call) for k, call in enumerate(calls))
    for task, answer in crew.answers(tasks, retries=retries, backups=True):
        yield task.label, value_of(answer)


def value_of(answer: Answer) -> Any:
    """What a call returned; raises what it raised, or that its worker ended."""
    if answer.error is not None:
        answer.error.add_note(f"in a worker:\n{answer.text}")
        raise answer.error
    if answer.kind != "done":
        problem = f"a worker ended {answer.text.strip()}, and so did those that did its share again"
        cure = "is there enough memory? give more workers, fewer robots, or more retries"
        raise PliantError(problem, subject="workers", field="retries", cure=cure)
    return answer.value


def rows_of(array: np.ndarray | None, first: int, last: int, axes: int) -> np.ndarray | None:
    """The rows of a share, if the array has one for each robot, which shows by its number of axes."""
    return array[first:last] if array is not None and array.ndim == axes else array
