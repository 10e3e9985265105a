"""``pliant plot``: channels of a log over time, in a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.cli.sources import open_log
from pliant.cli.terminal import say
from pliant.errors import PliantError, bad_value, needs

if TYPE_CHECKING:
    from pliant.recording.log import Log

__all__ = ["plot", "plot_to"]


def plot(
    log: Annotated[str, typer.Argument(metavar="LOG", help="file of a log")],
    channels: Annotated[
        list[str] | None, typer.Argument(help="such as q, tau, q.knee, forces.foot; `pliant info LOG` lists them")
    ] = None,
    out: Annotated[str | None, typer.Option(help="file: .png, .pdf, .svg (default LOG with .png)")] = None,
    robot: Annotated[int | None, typer.Option(help="number of a robot in a batch")] = None,
) -> None:
    """Draw channels of a log over time."""
    needs("matplotlib", "plots", "pliant plot")
    found = open_log(log)
    if robot is not None:
        if found.batch is None:
            cure = "leave it out, the log has one robot"
            raise PliantError(f"--robot {robot} is for a batch", subject=log, field="robot", cure=cure)
        if not 0 <= robot < found.batch:
            raise PliantError(bad_value("--robot", robot, f"0 to {found.batch - 1}, the robots of the batch"))
        found = found.robot(robot)
    path = out or str(Path(log).with_suffix(".png"))
    plot_to(found, tuple(channels or ()), path)
    say(path)


def plot_to(log: "Log", channels: tuple[str, ...], path: str) -> None:
    """Draw channels over time into a file; its suffix gives the format."""
    matplotlib = needs("matplotlib", "plots", "a plot")
    # no window is wanted, and there may be no screen
    matplotlib.use("agg")
    figure = log.plot(*channels, path=path)
    from matplotlib import pyplot

    pyplot.close(figure)
