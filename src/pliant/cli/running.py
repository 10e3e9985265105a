"""Running a scene, to its end or until Ctrl-C, with a stopwatch."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pliant.cli.run_setup import RunSetup
from pliant.cli.settings import PATHS, Settings

if TYPE_CHECKING:
    from pliant.recording.log import Log

__all__ = ["Run", "run_scene"]

# numbers that a log keeps at most, unless --every says how often
_MOST = 2e7
# entries that a summary needs
_GLANCE = 50
_CHANNELS = ("q", "v", "tau", "forces", "energy")


@dataclass
class Run:
    """The result of a run.

    Attributes:
        log: of all of it, or of what there was until it was stopped.
        wall: time that it took, without compiling [s].
        measured: simulated time in that time [s].
        compiling: time until the first steps were done, most of which is compiling or loading compiled code [s].
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
    from pliant.recording.run import Memory, ProgressBar, record
    from pliant.storage.sinks import FileSink

    settings = scene.settings
    keeper = Memory() if file is None else FileSink(file, settings.time)
    progress = ProgressBar(0.0, settings.time, False if settings.quiet else None)
    watch: Any = _Stopwatch()
    is_stopped = False
    try:
        log = record(_blocks(scene), keeper, progress, watch)
    except KeyboardInterrupt as stop:
        log = getattr(stop, "log", None)
        if log is None:  # while the simulation was being compiled
            raise
        is_stopped = True
    wall, measured, compiling = watch.times()
    return Run(log, wall, measured, compiling, is_stopped, round(float(log.t[-1]) / settings.dt))


class _Stopwatch:
    """A sink that takes the time of the blocks; not a `Sink`, so that `pliant --help` need not import it."""

    def __init__(self) -> None:
        self._laps: list[tuple[float, float]] = []
        self._began = time.perf_counter()

    def put(self, block: "Log") -> None:
        self._laps.append((time.perf_counter(), float(block.t[-1])))

    def close(self, *, is_complete: bool) -> None:
        pass

    def times(self) -> tuple[float, float, float]:
        """Wall-clock time without compiling, the simulated time in it, and the time of compiling [s]."""
        # the first block is the start alone, the second compiles the step
        begin, start = self._laps[1] if len(self._laps) > 2 else (self._began, self._laps[0][1])
        end, t = self._laps[-1]
        return end - begin, t - start, begin - self._began


def _blocks(scene: RunSetup) -> Iterator["Log"]:
    """The blocks of the run; the end of time stepping is when no robot moves any more."""
    settings, control = scene.settings, scene.control
    sim: Any = scene.sim
    channels = _CHANNELS + (("power",) if _is_written(settings) else ())
    options: dict[str, Any] = {}
    if control.called is not None:
        options["controller"] = control.called
    elif control.u is not None:
        options["u" if control.compiled is None else "commands"] = control.u
    if settings.event_driven:
        every = (settings.every or 1) * settings.dt
        if control.compiled is not None:
            options["controller"] = control.compiled
        if "controller" in options:
            options["period"] = settings.dt
        yield from map(scene.stamped, sim.blocks(settings.time, channels=channels, every=every, **options))
        return
    channels += ("divergence", *(("flexibility",) if _is_flexible(sim.robot) else ()))
    every = _periods_apart(scene) * settings.dt * settings.substeps
    for block in sim.blocks(settings.time, channels=channels, every=every, **options):
        yield scene.stamped(block)
        if (block["divergence"][..., -1, :] != 0).all():
            sim.note_divergences()
            return


def _periods_apart(scene: RunSetup) -> int:
    """Control periods from one entry to the next, such that the log stays small enough."""
    settings = scene.settings
    if settings.every:
        return settings.every
    sim: Any = scene.sim
    periods = max(1, round(settings.time / (settings.dt * settings.substeps)))
    robots = settings.batch or 1
    if robots > 1 and not _is_written(settings):
        return max(1, periods // _GLANCE)  # only the summary reads the log
    return math.ceil(periods * robots * sim.layout.size / _MOST)


def _is_written(settings: Settings) -> bool:
    """Whether the log is going to a file or to the viewer."""
    return settings.view or any(getattr(settings, name) for name in PATHS)


def _is_flexible(robot: Any) -> bool:
    return any(f.joint is not None for f in robot.flexibilities.values())
