"""``pliant run``: simulate a robot, say what it did, and leave what was asked for."""

from collections.abc import Mapping
from typing import Any

from pliant.cli.outputs import check_outputs, is_streamed, write_outputs
from pliant.cli.running import run_scene
from pliant.cli.scene import scene
from pliant.cli.settings import gathered
from pliant.cli.summary import print_summary, summary
from pliant.cli.terminal import complain, print_json

__all__ = ["STOPPED", "run_robot"]

STOPPED = 130
"""Exit code of a run that Ctrl-C stopped."""


def run_robot(given: Mapping[str, Any], file: str | None) -> int:
    """Run as the options and the settings file say.

    Args:
        given: options by name, None for those that were not given.
        file: settings, or None.

    Returns:
        The exit code: 1 if a robot came into trouble, 130 if Ctrl-C stopped the run, else 0.
    """
    settings = gathered(given, file)
    check_outputs(settings)
    ready = scene(settings)
    streamed = settings.log if is_streamed(settings) else None
    done = run_scene(ready, streamed)
    files = write_outputs(done.log, settings, is_streamed=streamed is not None)
    about = summary(ready, done, files)
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
    return 1 if about["troubles"] or not about["is_finite"] else 0
