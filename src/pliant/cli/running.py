"""Running a scene: in parts, so that there is something to see meanwhile, and something to keep if it is stopped."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pliant.cli.run_setup import RunSetup
from pliant.cli.settings import PATHS, Settings
from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.recording.log import Log

__all__ = ["Run", "run_scene"]

# a part of a run takes about so long [s]
_PART = 0.15
# parts of an event-driven one are of this length [s of simulated time]: the same on every machine
_EVENT_PART = 0.5
# numbers that a log keeps at most, unless told how often
_MOST = 2e7
# entries that a summary needs
_GLANCE = 50
_CHANNELS = ("q", "v", "tau", "forces", "energy", "divergence")


@dataclass
class Run:
    """What became of a run.

    Attributes:
        log: of all of it, or of what there was until it was stopped.
        wall: time that it took, without compiling [s].
        measured: simulated time in that time [s].
        compiling: time of the first part, most of which is compiling or loading what was compiled [s].
        is_stopped: whether the user stopped it.
        steps: of each robot.
    """

    log: "Log"
    wall: float
    measured: float
    compiling: float
    is_stopped: bool
    steps: int


def run_scene(scene: RunSetup, file: str | None = None) -> Run:
    """Run a scene to its end, or until Ctrl-C.

    Args:
        file: for the log, written meanwhile, so that it opens whatever happens.
    """
    from pliant.progress import Progress
    from pliant.recording.log import Log

    parts: list[Any] = []
    # how long each part took, and when it ended [s of both times]
    clocks: list[tuple[float, float]] = []
    is_stopped = False
    settings = scene.settings
    with (
        _Stream(file, settings.time) as stream,
        Progress(0.0, settings.time, False if settings.quiet else None) as progress,
        _stoppable(parts) as is_asked,
    ):
        coming = _parts(scene)
        while True:
            began = time.perf_counter()
            try:
                part = next(coming, None)
            except PliantError as error:
                _keep(error, scene, stream, parts)
                raise
            if part is None:
                break
            clocks.append((time.perf_counter() - began, float(part.t[-1])))
            part = scene.stamped(part)
            stream.put(part)
            parts.append(part)
            progress.update(float(part.t[-1]))
            if is_asked():
                is_stopped = True
                break
        stream.close(is_complete=not is_stopped)
    log = Log.joined(parts)
    (first, start), (_, end) = clocks[0], clocks[-1]
    compiling, wall, measured = first, sum(elapsed for elapsed, _ in clocks[1:]), end - start
    if len(clocks) == 1:
        compiling, wall, measured = 0.0, first, start
    if is_stopped:
        log = replace(log, is_complete=False)
    return Run(log, wall, measured, compiling, is_stopped, round(end / settings.dt))


def _keep(error: PliantError, scene: RunSetup, stream: "_Stream", parts: list[Any]) -> None:
    """What there was until an error, on file, and all of it as the attribute ``log`` of the error."""
    from pliant.recording.log import Log

    rest = getattr(error, "log", None)
    if rest is not None:
        rest = scene.stamped(rest)
        stream.put(rest)
        parts.append(rest)
    if parts:
        error.log = replace(Log.joined(parts), is_complete=False)  # type: ignore[attr-defined]


@contextmanager
def _stoppable(parts: list[Any]) -> Iterator[Callable[[], bool]]:
    """Ctrl-C is asked for between parts, so that the part on the way is kept; a second one stops at once.

    So does the first before there is any part, while the simulation is being compiled.
    """
    import signal
    import threading

    asked = False

    def note(*_: object) -> None:
        nonlocal asked
        if asked or not parts:
            raise KeyboardInterrupt
        asked = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: asked
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


class _Stream:
    """The file of a log that grows with the run; nothing without a path."""

    def __init__(self, path: str | None, until: float):
        self.path, self.until = path, until
        self._writer: Any = None

    def __enter__(self) -> "_Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close(is_complete=False)

    def put(self, part: "Log") -> None:
        if self.path is None:
            return
        if self._writer is None:
            from pliant.storage import LogWriter

            self._writer = LogWriter(self.path, part, until=self.until)
            return
        # the first entry is the last of the part before; in a log with events, two of one time are nothing new
        self._writer.append(part if part.is_event_driven else part[1:])

    def close(self, *, is_complete: bool) -> None:
        if self._writer is not None:
            (self._writer.finish if is_complete else self._writer.close)()
        self._writer = None


# ---- parts


def _parts(scene: RunSetup) -> Iterator["Log"]:
    return _event_driven(scene) if scene.settings.event_driven else _time_stepping(scene)


def _time_stepping(scene: RunSetup) -> Iterator["Log"]:
    import numpy as np

    settings, control = scene.settings, scene.control
    sim: Any = scene.sim
    period = settings.dt * settings.substeps
    periods = max(1, round(settings.time / period))
    every = settings.every or _every(scene, periods)
    channels = (*_CHANNELS, *(("flexibility",) if _is_flexible(sim.robot) else ()))
    channels += ("power",) if _is_written(settings) else ()
    done, count = 0, every
    while done < periods:
        count = min(count, periods - done)
        begun = time.perf_counter()
        try:
            if control.called is not None:
                log = sim.run(count * period, control.called, channels=channels, every=every, progress=False)
            else:
                log = sim.run(count * period, u=control.u, channels=channels, every=every, progress=False)
        except PliantError as error:
            if (log := getattr(error, "log", None)) is not None:
                times = [(done + k * every) * period for k in range(len(log.t))]
                error.log = replace(log, t=np.array(times))  # type: ignore[attr-defined]
            raise
        elapsed = time.perf_counter() - begun
        # times do not depend on where the parts begin
        kept = [*range(0, count, every), count]
        yield replace(log, t=np.array([(done + k) * period for k in kept]))
        if sim.divergences and (settings.batch or 1) == len(sim.divergences):
            return  # nothing moves any more
        done += count
        # whole numbers of entries; what was compiled once is quick from then on
        wanted = count * min(_PART / max(elapsed, 1e-6), 8)
        count = max(1, round(wanted / every)) * every


def _every(scene: RunSetup, periods: int) -> int:
    """How many periods there are to an entry, so that the log stays small enough."""
    settings = scene.settings
    sim: Any = scene.sim
    robots = settings.batch or 1
    if robots > 1 and not _is_written(settings):
        return max(1, periods // _GLANCE)  # nobody looks at the log but the summary
    return math.ceil(periods * robots * sim.layout.size / _MOST)


def _is_written(settings: Settings) -> bool:
    """Whether somebody is going to look at the log."""
    return settings.view or any(getattr(settings, name) for name in PATHS)


def _is_flexible(robot: Any) -> bool:
    return any(f.joint is not None for f in robot.flexibilities.values())


def _event_driven(scene: RunSetup) -> Iterator["Log"]:
    settings, control = scene.settings, scene.control
    sim: Any = scene.sim
    every = (settings.every or 1) * settings.dt
    options: dict[str, Any] = {"every": every, "power": _is_written(settings), "progress": False}
    if control.compiled is not None:
        options |= {"controller": control.compiled, "period": settings.dt}
        options |= {"commands": control.u} if control.compiled.commands and control.u is not None else {}
    elif control.called is not None:
        options |= {"controller": control.called, "period": settings.dt}
    else:
        options |= {"u": control.u}
    parts = max(1, round(settings.time / _EVENT_PART))
    for k in range(parts):
        yield sim.run(max(0.0, settings.time * (k + 1) / parts - sim.t), **options)
