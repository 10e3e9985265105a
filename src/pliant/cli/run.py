"""``pliant run``: simulate a robot, print a summary, and write the files that were asked for."""

import inspect
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.outputs import check_outputs, is_streamed, write_log, write_outputs
from pliant.cli.settings import PATHS, Settings, gathered, options
from pliant.cli.terminal import STOPPED, complain, number, print_json, print_pairs
from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.cli.run_setup import RunSetup
    from pliant.recording.log import Log

# numbers that a log keeps at most, unless --every says how often
_MOST = 2e7
# entries that a summary needs
_GLANCE = 50
_CHANNELS = ("q", "v", "tau", "forces", "energy")


def run(*, settings: str | None = None, trust: bool = False, **given: Any) -> None:
    """Simulate a robot; write log, plot, video, replay, report."""
    raise typer.Exit(run_robot(given, settings, trust=trust))


_File = Annotated[
    str | None,
    typer.Option(metavar="FILE.toml", help="file with the same options by the same names; the command line wins"),
]
_Trust = Annotated[bool, typer.Option("--trust", help="run code that the settings file names: only if you trust it")]
run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        *options(),
        inspect.Parameter("settings", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_File),
        inspect.Parameter("trust", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_Trust),
    ]
)


def run_robot(given: Mapping[str, Any], file: str | None, *, trust: bool = False) -> int:
    """Run as the options (None for those that were not given) and the settings file ask for.

    Returns:
        The exit code: 1 if a robot diverged, 130 if Ctrl-C stopped the run, else 0.
    """
    from pliant.cli.run_setup import run_setup

    settings = gathered(given, file, trust=trust)
    check_outputs(settings)
    ready = run_setup(settings)
    streamed = settings.log if is_streamed(settings) else None
    try:
        done = run_scene(ready, streamed)
    except PliantError as error:
        raise _with_log(error, settings, streamed is not None) from None
    about = _summary(ready, done)
    facts = {"controller": about["controller"], **dict(_pace(about))}
    files = write_outputs(done.log, settings, streamed is not None, facts)
    about["files"] = files
    if settings.json:
        print_json(about)
    elif not settings.quiet:
        _print_summary(about)
    if settings.view and not done.is_stopped:
        done.log.view(browser=True, block=True)
    if done.is_stopped:
        kept = f"; kept in {files['log']}" if "log" in files else ""
        complain(f"stopped at t = {about['simulated']:.4g} s{kept}")
        return STOPPED
    return 1 if about["divergences"] or not about["is_finite"] else 0


def _with_log(error: PliantError, settings: Settings, is_streamed: bool) -> PliantError:
    """The error of a run, and until when its log was kept."""
    log = getattr(error, "log", None)
    if log is None or settings.log is None:
        return error
    if not is_streamed:
        try:
            write_log(log, settings.log)
        except PliantError as other:
            return PliantError(f"{error}; nor could the log be kept: {other}")
    return PliantError(f"{error}; {settings.log} has the run until t = {log.t[-1]:.4g} s")


# ---- running, with a stopwatch


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


def run_scene(scene: "RunSetup", file: str | None = None) -> Run:
    """Run a scene to its end, or until Ctrl-C; a file for the log is written meanwhile, and opens whatever happens."""
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


def _blocks(scene: "RunSetup") -> Iterator["Log"]:
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
    every = settings.every or time_apart(scene)
    for block in sim.blocks(settings.time, channels=channels, every=every, **options):
        yield scene.stamped(block)
        if (block["divergence"][..., -1, :] != 0).all():
            sim.note_divergences()
            sim.notice()
            return


def time_apart(scene: "RunSetup") -> float:
    """Time from one entry to the next [s]: of each control period, unless the log would not fit into memory.

    One that is written as the run goes on has all of them.
    """
    settings = scene.settings
    sim: Any = scene.sim
    period = settings.dt * settings.substeps
    periods = max(1, round(settings.time / period))
    robots = settings.batch or 1
    if is_streamed(settings):
        return period
    if robots > 1 and not _is_written(settings):
        return max(1, periods // _GLANCE) * period  # only the summary reads the log
    return math.ceil(periods * robots * sim.layout.size / _MOST) * period


def _is_written(settings: Settings) -> bool:
    """Whether the log is going to a file or to the viewer."""
    return settings.view or any(getattr(settings, name) for name in PATHS)


# ---- the summary


def _summary(setup: "RunSetup", run: Run) -> dict[str, Any]:
    """All of it in plain values, SI units; ``files`` is for the caller to fill."""
    import numpy as np

    from pliant.recording.troubles import plain_troubles

    settings, log, sim = setup.settings, run.log, setup.sim
    robots = settings.batch or 1
    notes = list(setup.notes)
    period = settings.dt * settings.substeps
    if not (settings.event_driven or settings.every) and _is_written(settings):
        stride = round(time_apart(setup) / period)
        if stride > 1:
            notes.append(("entries", f"one of {stride} periods, {len(log.t):,} in all; --every {period:g} keeps each"))
    return {
        "robot": sim.robot.name,
        "origin": setup.origin,
        "base": "free" if sim.robot.is_free else "fixed",
        "ground": setup.ground,
        "controller": setup.control.name,
        "simulated": float(log.t[-1]),
        "is_stopped": run.is_stopped,
        "is_event_driven": settings.event_driven,
        "robots": robots,
        "steps": run.steps,
        "wall": run.wall,
        "compiling": run.compiling,
        "real_time_factor": run.measured / run.wall if run.wall > 0 else None,
        "robot_steps_per_second": robots * run.measured / settings.dt / run.wall if run.wall > 0 else None,
        "entries": len(log.t),
        "energy": _energies(log),
        "contacts": _contacts(log),
        "events": dict(Counter(event.kind for event in log.events)),
        "is_finite": all(bool(np.isfinite(log[name][..., -1, :]).all()) for name in ("q", "v")),
        "divergences": [str(divergence) for divergence in getattr(sim, "divergences", ())],
        "troubles": plain_troubles(log.troubles),
        "notes": notes,
        "files": {},
    }


def _energies(log: "Log") -> dict[str, Any]:
    """At the start and at the end, the mean of a batch [J]."""
    import numpy as np

    parts = {name.removeprefix("energy."): log[name] for name in log.channels if name.startswith("energy.")}
    if not parts:
        return {}
    total = sum(parts.values())
    ends = {when: float(np.mean(np.asarray(total)[..., k])) for when, k in (("start", 0), ("end", -1))}
    return ends | {name: float(np.mean(values[..., -1])) for name, values in parts.items()}


def _contacts(log: "Log") -> dict[str, Any]:
    """How many points touch at the end, and the largest force of one [N]; the mean of a batch for the former."""
    import numpy as np

    if "forces" not in log.channels or not log["forces"].size:
        return {}
    forces = log["forces"].reshape(*log["forces"].shape[:-1], -1, 3)
    sizes = np.linalg.norm(forces, axis=-1)
    touching = sizes > 0
    return {
        "points": sizes.shape[-1],
        "touching": float(touching[..., -1, :].sum(axis=-1).mean()),
        "touch_downs": int(np.count_nonzero(touching[..., 1:, :] & ~touching[..., :-1, :])),
        "largest_force": float(np.nanmax(sizes)) if sizes.size else 0.0,
    }


def _print_summary(about: dict[str, Any]) -> None:
    """The same as a table."""
    pairs = [("robot", f"{about['robot']}, {about['base']} base ({about['origin']})")]
    pairs += [("ground", about["ground"]), ("controller", about["controller"])]
    pairs += [(what, note) for what, note in about["notes"]]
    pairs += _pace(about)
    energy = about["energy"]
    if energy:
        largest = max(abs(value) for value in energy.values())
        shown = [
            f"{number(value)} {part}"
            for part, value in energy.items()
            if part not in ("start", "end") and abs(value) > 1e-9 * largest
        ]
        told = f"{number(energy['start'])} J at the start, {number(energy['end'])} J at the end"
        pairs.append(("energy", f"{told}: {', '.join(shown)}" if shown else told))
    contacts = about["contacts"]
    if contacts:
        told = f"{number(contacts['touching'], 3)} of {contacts['points']} touch at the end"
        if about["robots"] == 1:
            told += f", {contacts['touch_downs']} touch-downs, up to {number(contacts['largest_force'])} N"
        pairs.append(("contacts", told))
    if about["events"]:
        pairs.append(("events", ", ".join(f"{count} {kind}" for kind, count in about["events"].items())))
    end = "finite" if about["is_finite"] else "NOT finite"
    pairs.append(("final state", f"{end}, {len(about['divergences'])} diverged" if about["divergences"] else end))
    pairs += [("divergence", text) for text in about["divergences"][:3]]
    pairs += [("trouble", trouble["what"]) for trouble in about["troubles"] if trouble["kind"] != "divergence"]
    pairs += [(f"{kind} file" if kind == "log" else kind, path) for kind, path in about["files"].items()]
    print_pairs("run", pairs)


def _pace(about: dict[str, Any]) -> list[tuple[str, str]]:
    stopped = ", stopped by you" if about["is_stopped"] else ""
    compiled = f", after {about['compiling']:.2f} s of compiling" if about["compiling"] > 0.05 else ""
    pairs = [("simulated", f"{number(about['simulated'])} s in {about['wall']:.2f} s{compiled}{stopped}")]
    factor, robots, a_second = (about[name] for name in ("real_time_factor", "robots", "robot_steps_per_second"))
    if factor is None:
        return pairs
    speed = f"{robots} robots x steps: {number(a_second, 3)} a second, {number(factor * robots, 3)} x real time in all"
    if robots == 1:
        steps = "" if about["is_event_driven"] else f", {number(a_second, 3)} steps a second"
        speed = f"{number(factor, 3)} x real time{steps}"
    return [*pairs, ("speed", speed)]
