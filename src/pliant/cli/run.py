"""``pliant run``: simulate a robot, print a summary, and write the files that were asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.options import Base
from pliant.cli.terminal import STOPPED, complain, print_json
from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.cli.settings import Settings

__all__ = ["run", "run_robot"]


def run(
    robot: Annotated[
        str | None, typer.Argument(metavar="ROBOT|FILE", help="name of a robot, or a .urdf, .xacro or .toml file")
    ] = None,
    time: Annotated[float | None, typer.Option(help="duration to simulate [s] (default 5)")] = None,
    dt: Annotated[float | None, typer.Option(help="length of a step [s] (default 0.001)")] = None,
    substeps: Annotated[int | None, typer.Option(help="steps in a control period (default 1)")] = None,
    ground: Annotated[
        str | None,
        typer.Option(
            help="none, flat, slope=DEGREES, stairs=RISE,RUN[,STEPS] or waves=HEIGHT,LENGTH "
            "(default flat under a free base, else none)"
        ),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(help="rigid (default), compliant[=STIFFNESS,DAMPING] or hunt-crossley=STIFFNESS,DISSIPATION"),
    ] = None,
    friction: Annotated[float | None, typer.Option(help="coefficient of friction")] = None,
    restitution: Annotated[
        float | None, typer.Option(help="coefficient of restitution of rigid contacts, 0 to 1")
    ] = None,
    controller: Annotated[
        str | None,
        typer.Option(
            help="none, hold (the pose at the start), raibert (hopping robots), or FILE.py:FUNCTION, "
            "a function (t, q, v) -> u of your own; that file runs as code: only if you trust it"
        ),
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="numbers for the controller; for raibert VX,VY,HEIGHT [m/s, m/s, m]")
    ] = None,
    gains: Annotated[
        str | None, typer.Option(help="KP,KD of hold [N m/rad, N m s/rad] (default by weight and size)")
    ] = None,
    flexible: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT=K[,D[,INERTIA]]", help="a spring and damper between motor and link; may be repeated"
        ),
    ] = None,
    base: Base = None,
    xacro: Annotated[
        bool | None,
        typer.Option("--xacro", help="expand a .xacro file, which runs it as a program: only if you trust it"),
    ] = None,
    height: Annotated[
        float | None, typer.Option(help="of the lowest contact of a free robot above the ground at the start [m]")
    ] = None,
    q: Annotated[
        list[str] | None,
        typer.Option("--q", metavar="JOINT=VALUE,...", help="configuration at the start, or all numbers in order"),
    ] = None,
    v: Annotated[
        list[str] | None, typer.Option("--v", metavar="JOINT=VALUE,...", help="velocities at the start, likewise")
    ] = None,
    push: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY=FX,FY,FZ[@T0[:T1]]", help="a force in the world's axes [N, s]; may be repeated"),
    ] = None,
    batch: Annotated[int | None, typer.Option(help="number of robots, each from a slightly different pose")] = None,
    spread: Annotated[
        float | None,
        typer.Option(help="standard deviation of these poses [rad, and a tenth of it in m] (default 0.05)"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="of the random poses (default 0)")] = None,
    threads: Annotated[int | None, typer.Option(help="threads that share a batch (default 1)")] = None,
    precision: Annotated[str | None, typer.Option(help="float64 (default) or float32")] = None,
    integrator: Annotated[
        str | None, typer.Option(help="semi-implicit (default), rk4, dormand-prince or midpoint")
    ] = None,
    event_driven: Annotated[
        bool | None, typer.Option("--event-driven", help="simulate from event to event: one robot on rigid ground")
    ] = None,
    every: Annotated[float | None, typer.Option(help="time between entries of the log [s]")] = None,
    view: Annotated[
        bool | None, typer.Option("--view", help="show the run in the browser afterwards, until Ctrl-C")
    ] = None,
    log: Annotated[str | None, typer.Option(help="file for the log: .h5, or .csv, .npz, .parquet, .mcap")] = None,
    plot: Annotated[str | None, typer.Option(help="file for a plot: .png, .pdf, .svg")] = None,
    video: Annotated[str | None, typer.Option(help="file for a video: .mp4")] = None,
    html: Annotated[str | None, typer.Option(help="file for a replay that opens in any browser: .html")] = None,
    report: Annotated[str | None, typer.Option(help="file for a page with summary, plots and replay: .html")] = None,
    settings: Annotated[
        str | None,
        typer.Option(metavar="FILE.toml", help="file with the same options by the same names; the command line wins"),
    ] = None,
    quiet: Annotated[bool | None, typer.Option("--quiet", help="print nothing but errors")] = None,
    json: Annotated[bool | None, typer.Option("--json", help="print the summary as JSON and nothing else")] = None,
) -> None:
    """Simulate a robot; write log, plot, video, replay, report."""
    given = {name: value for name, value in locals().items() if name != "settings"}
    raise typer.Exit(run_robot(given, settings))


def run_robot(given: Mapping[str, Any], file: str | None) -> int:
    """Run as the options and the settings file ask for.

    Args:
        given: options by name, None for those that were not given.
        file: settings, or None.

    Returns:
        The exit code: 1 if a robot diverged, 130 if Ctrl-C stopped the run, else 0.
    """
    from pliant.cli.outputs import check_outputs, is_streamed, write_outputs
    from pliant.cli.running import run_scene
    from pliant.cli.scene import scene
    from pliant.cli.settings import gathered
    from pliant.cli.summary import facts, print_summary, summary

    settings = gathered(given, file)
    check_outputs(settings)
    ready = scene(settings)
    streamed = settings.log if is_streamed(settings) else None
    try:
        done = run_scene(ready, streamed)
    except PliantError as error:
        raise _with_log(error, settings, streamed is not None) from None
    about = summary(ready, done)
    files = write_outputs(done.log, settings, streamed is not None, facts(about))
    about["files"] = files
    if settings.json:
        print_json(about)
    elif not settings.quiet:
        print_summary(about)
    if settings.view and not done.is_stopped:
        done.log.view(browser=True, block=True)
    if done.is_stopped:
        kept = f"; kept in {files['log']}" if "log" in files else ""
        complain(f"stopped at t = {about['simulated']:.4g} s{kept}")
        return STOPPED
    return 1 if about["divergences"] or not about["is_finite"] else 0


def _with_log(error: PliantError, settings: "Settings", is_streamed: bool) -> PliantError:
    """The error of a run, and until when its log was kept."""
    from pliant.cli.outputs import write_log

    log = getattr(error, "log", None)
    if log is None or settings.log is None:
        return error
    if not is_streamed:
        try:
            write_log(log, settings.log)
        except PliantError as other:
            return PliantError(f"{error}; nor could the log be kept: {other}")
    return PliantError(f"{error}; {settings.log} has the run until t = {log.t[-1]:.4g} s")
