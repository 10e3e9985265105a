"""``pliant plot`` and ``pliant view``: a log in a file of curves, a log or a robot in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.sources import Base, Xacro, is_log, load_robot, open_log
from pliant.cli.terminal import say
from pliant.errors import PliantError, bad_value, needs

if TYPE_CHECKING:
    from pliant.recording.log import Log

__all__ = ["plot", "plot_to", "view"]


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


def view(
    what: Annotated[str, typer.Argument(metavar="LOG|ROBOT|FILE", help="a log, or a robot's name or file")],
    port: Annotated[int, typer.Option(help="of the page; the next free one if it is taken")] = 8080,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="print the address and open no window")] = False,
    base: Base = None,
    xacro: Xacro = False,
) -> None:
    """Show a log or a robot in the browser, until Ctrl-C."""
    needs("viser", "view", "pliant view")
    options: dict[str, Any] = {"port": port, "browser": not no_browser, "block": True}
    if is_log(what):
        open_log(what).view(**options)
        return
    from pliant.catalogue.starts import known_stance

    robot, ground = load_robot(what, base, xacro), None
    stance = known_stance(robot)
    q = robot.neutral() if stance is None else stance.q
    if robot.is_free:
        from pliant.contact import flat
        from pliant.contact.default_contacts import with_contacts

        ground = flat()
        touching = with_contacts(robot, has_ground=True)
        q = touching.on_ground(q, ground) if touching.contact_points else q
    robot.view(q, ground=ground, **options)
