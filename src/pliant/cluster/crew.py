"""Crews: workers that do tasks, whatever they are; those that end are replaced, and their tasks done again.

A thread for each worker sends it one task at a time and waits for the answer. A task is taken from its source when a
worker is free, and not before; answers are handed out one by one. So at most as many tasks are in memory as there are
workers, however many there are in all, and however slow the one who takes the answers is.
"""

import contextlib
import itertools
import os
import queue
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

from pliant.checks import check, check_one_of, is_whole
from pliant.cluster.actors import actor_starter
from pliant.cluster.messages import Answer, Call
from pliant.cluster.processes import LostError, process_starter
from pliant.cluster.worker import IS_WORKER
from pliant.errors import PliantError

# a worker ends itself at its limit; where it cannot, as when it is stopped, it is killed so much later [s]
_GRACE = 2.0
# workers that end before their first task, one after the other, that are one too many
_MOST_STILLBORN = 3
# a task is given to a second worker, if one is free, when it takes so many times as long as most
_LATE = 3.0
# and at least so long [s]
_SOON = 0.2
# a worker that is still at a task which another one has done is replaced after so long [s]
_PATIENCE = 10.0


class Worker(Protocol):
    """What a crew needs of a worker."""

    name: str

    def exchange(self, call: Call) -> Answer:
        """Have a call done; raises `LostError` if the worker ends meanwhile."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    def close(self) -> None:
        """Let it end."""
        ...


@dataclass
class Task:
    """A call and what it is called.

    Attributes:
        label: any name, which comes back with the answer.
        tries: how often a worker has been given it.
    """

    label: Any
    call: Call
    tries: int = 0


@dataclass
class _Member:
    """A worker with its thread, and what it is at."""

    worker: Worker | None = None
    inbox: "queue.SimpleQueue[tuple[int, Call] | None]" = field(default_factory=queue.SimpleQueue)
    ticket: int | None = None
    task: Task | None = None
    since: float = 0.0
    has_begun: bool = False
    """Whether its worker is up and at the task."""
    is_late: bool = False
    """Whether its time is over."""
    is_idle_work: bool = False
    """Whether another worker has done its task."""


class Crew:
    """Workers, started when they are needed first.

    Attributes:
        on: "processes" or "ray".
        size: how many workers.
        lost: how many have ended and been replaced.
    """

    def __init__(
        self,
        on: str = "processes",
        workers: int | None = None,
        *,
        threads: int = 1,
        first: Call | None = None,
        traces: str = "",
    ):
        """Set up workers.

        Args:
            on: "processes" of this machine, or "ray".
            workers: how many; None for as many as there are processors here.
            threads: of each worker.
            first: what each worker does before its tasks, also one that replaces another.
            traces: folder in which workers say where they were when their time was over.
        """
        check_one_of("on", on, ("processes", "ray"), subject="workers", error=PliantError)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        workers = max(1, cores // threads) if workers is None else workers
        for name, value in (("workers", workers), ("threads", threads)):
            check(name, value, "1 or more", is_whole(value) and value > 0, error=PliantError)
        check_no_worker()
        self.on, self.size, self.lost = on, int(workers), 0
        self._start: Callable[[], Worker] = (
            process_starter(threads) if on == "processes" else actor_starter(int(workers), threads)
        )
        self.first, self._traces = first or Call(_nothing), traces
        self._members = [_Member() for _ in range(self.size)]
        self._answers: queue.SimpleQueue[tuple[_Member, int, Answer]] = queue.SimpleQueue()
        self._tickets = itertools.count(1)
        self._stillborn, self._is_closed = 0, False
        self._threads = [threading.Thread(target=self._serve, args=(m,), daemon=True) for m in self._members]
        for thread in self._threads:
            thread.start()

    def _serve(self, member: _Member) -> None:
        """The thread of a worker."""
        inbox = member.inbox
        while (given := inbox.get()) is not None:
            ticket, call = given
            member.has_begun = member.worker is not None
            try:
                if member.worker is None:
                    member.worker = self._start()
                    answer = member.worker.exchange(self.first)
                    if answer.error is not None:
                        raise answer.error
                member.since, member.has_begun = time.monotonic(), True
                answer = member.worker.exchange(call)
            except LostError as lost:
                answer = Answer("killed", text=str(lost))
            except BaseException as error:  # a call that cannot be sent, or a first one that failed
                answer = Answer("broken", error=error)
            self._answers.put((member, ticket, answer))
        if member.worker is not None:
            member.worker.close()

    # ---- tasks

    def answers(
        self, tasks: Iterable[Task], *, retries: int = 0, backups: bool = False
    ) -> Iterator[tuple[Task, Answer]]:
        """Do tasks, and hand out what came of each, in the order in which they are done.

        Args:
            retries: how often a task whose worker has ended is done again; its answer is "killed" after that.
            backups: whether a task that takes long is given to a second worker as well when there is nothing else to
                do, and the first answer counts [Dean and Ghemawat 2004, "MapReduce", 3.6]; for calls that give the
                same answer each time and write nothing.
        """
        self._check_open()
        source, again = iter(tasks), deque[Task]()
        running: dict[int, Task] = {}  # by the identity of the task
        times: list[float] = []
        is_empty = False
        try:
            while True:
                for member in self._members:
                    if member.ticket is not None:
                        continue
                    task = again.popleft() if again else None
                    if task is None and not is_empty:
                        task = next(source, None)
                        is_empty = task is None
                    if task is None and backups:
                        task = self._late_one(running, times)
                    if task is None:
                        break
                    running[id(task)] = task
                    self._give(member, task)
                if not running and not again and is_empty:
                    return
                found = self._next_answer(0.05 if backups else 0.5)
                if found is None:
                    continue
                member, task, answer, seconds, has_begun = found
                if id(task) not in running:  # a second worker had it, or an earlier call
                    continue
                if answer.kind == "broken" and answer.error is not None:
                    raise answer.error
                if not has_begun:
                    self._stillborn += 1
                    if self._stillborn >= _MOST_STILLBORN:
                        raise self._never_begins(answer.text)
                    del running[id(task)]
                    again.appendleft(task)
                    continue
                self._stillborn = 0
                if answer.kind == "killed" and self._is_with_another(task):
                    continue
                del running[id(task)]
                if answer.kind == "killed" and task.tries <= retries:
                    again.appendleft(task)
                    continue
                if answer.kind == "done":
                    times.append(seconds)
                for other in self._members:
                    other.is_idle_work |= other.task is task
                yield task, answer
        finally:
            for member in self._members:
                member.is_idle_work |= member.ticket is not None

    def each(self, calls: Sequence[Call]) -> list[Answer]:
        """Have call k done by worker k, all at once; ``killed`` where a worker has ended, and a new one is there."""
        self._check_open()
        tasks = [Task(k, call) for k, call in enumerate(calls)]
        for member, task in zip(self._members, tasks, strict=True):
            self._give(member, task)
        found: list[Answer | None] = [None] * len(calls)
        while any(answer is None for answer in found):
            got = self._next_answer(0.5)
            if got is None:
                continue
            _, task, answer, _, has_begun = got
            if answer.kind == "broken" and answer.error is not None:
                raise answer.error
            self._stillborn = 0 if has_begun else self._stillborn + 1
            if self._stillborn >= _MOST_STILLBORN:
                raise self._never_begins(answer.text)
            found[task.label] = answer
        return [answer for answer in found if answer is not None]

    def _give(self, member: _Member, task: Task) -> None:
        task.tries += 1
        member.ticket, member.task, member.since = next(self._tickets), task, time.monotonic()
        member.is_late = member.is_idle_work = False
        call = replace(task.call, attempt=task.tries)
        if call.limit is not None and self._traces:
            place = Path(self._traces) / f"{os.getpid()}-{self._members.index(member)}.txt"
            call = replace(call, trace=str(place))
        member.inbox.put((member.ticket, call))

    def _late_one(self, running: dict[int, Task], times: list[float]) -> Task | None:
        """The task that takes longest, if it takes much longer than others did."""
        now, typical = time.monotonic(), statistics.median(times) if times else 0.0
        busy = [m for m in self._members if m.task is not None and id(m.task) in running and m.ticket is not None]
        alone = [m for m in busy if sum(other.task is m.task for other in busy) == 1]
        late = [m for m in alone if times and now - m.since > max(_SOON, _LATE * typical)]
        return min(late, key=lambda m: m.since).task if late else None

    def _is_with_another(self, task: Task) -> bool:
        return any(m.task is task and m.ticket is not None for m in self._members)

    def _next_answer(self, patience: float) -> tuple[_Member, Task, Answer, float, bool] | None:
        """The next answer, with the time that it took; ends workers whose time is over."""
        now = time.monotonic()
        for member in self._members:
            if member.ticket is None or member.task is None or member.is_late:
                continue
            limit, taken = member.task.call.limit, now - member.since
            over = limit is not None and member.has_begun and taken > limit + _GRACE
            is_late = member.is_idle_work and member.has_begun and limit is None and taken > _PATIENCE
            if over or is_late:
                member.is_late = True
                self._kill(member)
        try:
            member, ticket, answer = self._answers.get(timeout=patience)
        except queue.Empty:
            return None
        if ticket != member.ticket or member.task is None:
            return None
        task, seconds = member.task, time.monotonic() - member.since
        member.ticket = member.task = None
        if answer.kind == "killed":
            place = Path(self._traces) / f"{os.getpid()}-{self._members.index(member)}.txt"
            text = place.read_text(errors="replace") if self._traces and place.is_file() else ""
            is_over = task.call.limit is not None and (member.is_late or seconds >= task.call.limit)
            if is_over and (text or member.is_late):
                # not the thread that looks after the parent
                places = [part for part in text.split("\n\n") if " in watch\n" not in part]
                answer = Answer("timeout", text="\n\n".join(places))
            self._replace(member)
        return member, task, answer, seconds, member.has_begun

    def _kill(self, member: _Member) -> None:
        if member.worker is not None:
            member.worker.kill()

    def _replace(self, member: _Member) -> None:
        """A new worker in place of one that has ended."""
        self.lost += 1
        worker, member.worker = member.worker, None
        if worker is not None:
            with contextlib.suppress(OSError):
                worker.close()

    def _never_begins(self, reason: str) -> PliantError:
        problem = f"{_MOST_STILLBORN} workers ended before their first task, the last one {reason}"
        cure = "their messages are on the error stream"
        return PliantError(problem, subject="workers", cure=cure)

    # ---- the end

    def _check_open(self) -> None:
        if self._is_closed:
            raise PliantError("the workers have been closed", subject="workers", cure="make them again")

    def close(self) -> None:
        """End all workers; those that are at work are killed."""
        if self._is_closed:
            return
        self._is_closed = True
        for member in self._members:
            member.inbox.put(None)
            if member.ticket is not None:
                self._kill(member)
        for thread in self._threads:
            thread.join(_GRACE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_no_worker() -> None:
    """Raise in a worker, which starts no workers of its own: it may have imported a script that does."""
    if os.environ.get(IS_WORKER):
        problem = "a worker starts workers of its own, as where it imports a script"
        raise PliantError(problem, subject="workers", cure="put the call below `if __name__ == '__main__':`")


def _nothing(held: dict[str, Any]) -> None:
    """A first call that does nothing: the worker is up."""


class WithCrew:
    """What has workers for as long as it lives: it ends them when it is closed, or at the end of a `with` block."""

    _crew: Crew

    @property
    def lost(self) -> int:
        """Workers that have ended and been replaced."""
        return self._crew.lost

    def close(self) -> None:
        """End the workers."""
        self._crew.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
