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
    from pliant.simulation import record

    settings = scene.settings
    is_stopped = False
    laps: list[tuple[float, float]] = []
    began = time.perf_counter()
    try:
        log = record(
            _timed(_blocks(scene), laps), (0.0, settings.time), save=file, progress=False if settings.quiet else None
        )
    except KeyboardInterrupt as stop:
        log = getattr(stop, "log", None)
        if log is None:  # while the simulation was being compiled
            raise
        is_stopped = True
    # the first block is the start alone, the second compiles the step
    begin, start = laps[1] if len(laps) > 2 else (began, laps[0][1])
    wall, t = time.perf_counter() - begin, float(log.t[-1])
    return Run(log, wall, t - start, begin - began, is_stopped, round(t / settings.dt))


def _timed(blocks: Iterator["Log"], laps: list[tuple[float, float]]) -> Iterator["Log"]:
    """The same blocks; ``laps`` gets when each was made, and the simulated time that it reaches [s]."""
    for block in blocks:
        laps.append((time.perf_counter(), float(block.t[-1])))
        yield block


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
        every = settings.every or settings.dt
        if control.compiled is not None:
            options["controller"] = control.compiled
        if "controller" in options:
            options["period"] = settings.dt
        yield from map(scene.stamped, sim.blocks(settings.time, channels=channels, every=every, **options))
        return
    is_flexible = any(f.joint is not None for f in sim.robot.flexibilities.values())
    channels += ("divergence", *(("flexibility",) if is_flexible else ()))
    every = settings.every or _time_apart(scene)
    for block in sim.blocks(settings.time, channels=channels, every=every, **options):
        yield scene.stamped(block)
        if (block["divergence"][..., -1, :] != 0).all():
            sim.note_divergences()
            return


def _time_apart(scene: RunSetup) -> float:
    """Time from one entry to the next [s], such that the log stays small enough."""
    settings = scene.settings
    sim: Any = scene.sim
    period = settings.dt * settings.substeps
    periods = max(1, round(settings.time / period))
    robots = settings.batch or 1
    if robots > 1 and not _is_written(settings):
        return max(1, periods // _GLANCE) * period  # only the summary reads the log
    return math.ceil(periods * robots * sim.layout.size / _MOST) * period


def _is_written(settings: Settings) -> bool:
    """Whether the log is going to a file or to the viewer."""
    return settings.view or any(getattr(settings, name) for name in PATHS)
