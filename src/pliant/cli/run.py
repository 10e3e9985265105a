"""``pliant run``: simulate a robot, print a summary, and write the files that were asked for."""

import inspect
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from pliant.cli.settings import Settings, gathered, options
from pliant.cli.terminal import STOPPED, complain, print_json
from pliant.errors import PliantError

__all__ = ["run", "run_robot"]


def run(*, settings: str | None = None, **given: Any) -> None:
    """Simulate a robot; write log, plot, video, replay, report."""
    raise typer.Exit(run_robot(given, settings))


_File = Annotated[
    str | None,
    typer.Option(metavar="FILE.toml", help="file with the same options by the same names; the command line wins"),
]
run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [*options(), inspect.Parameter("settings", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_File)]
)


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
    from pliant.cli.run_setup import run_setup
    from pliant.cli.summary import facts, print_summary, summary

    settings = gathered(given, file)
    check_outputs(settings)
    ready = run_setup(settings)
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


def _with_log(error: PliantError, settings: Settings, is_streamed: bool) -> PliantError:
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
