"""``pliant run``: simulate a robot, say what it did, and leave what was asked for."""

from collections.abc import Mapping
from typing import Any

from pliant.cli.outputs import check_outputs, is_streamed, write_log, write_outputs
from pliant.cli.running import run_scene
from pliant.cli.scene import scene
from pliant.cli.settings import Settings, gathered
from pliant.cli.summary import facts, print_summary, summary
from pliant.cli.terminal import STOPPED, complain, print_json
from pliant.errors import PliantError

__all__ = ["run_robot"]


def run_robot(given: Mapping[str, Any], file: str | None) -> int:
    """Run as the options and the settings file say.

    Args:
        given: options by name, None for those that were not given.
        file: settings, or None.

    Returns:
        The exit code: 1 if a robot diverged, 130 if Ctrl-C stopped the run, else 0.
    """
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
