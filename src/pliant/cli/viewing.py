"""``pliant view`` and ``pliant plot``: logs and robots to look at."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.catalogue.stances import stance
from pliant.catalogue.starting import placed, row, within_limits
from pliant.cli.robots import load_robot
from pliant.cli.terminal import say
from pliant.errors import PliantError, needs

if TYPE_CHECKING:
    from pliant.recording.log import Log

__all__ = ["LOG_SUFFIXES", "is_log", "open_log", "plot_file", "plot_to", "view_file"]

LOG_SUFFIXES = (".h5", ".hdf5")
_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_log(source: str) -> bool:
    """Whether it is meant as a log: by the name, or by what the file begins with."""
    path = Path(source)
    if path.suffix.lower() in LOG_SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_SIGNATURE)) == _SIGNATURE
    except OSError:
        return False


def open_log(path: str) -> "Log":
    """A log from its file; of one that was cut off, what is there, with a warning."""
    from pliant.storage import load_log

    log = load_log(path)
    if not len(log.t) or not log.channels:
        raise PliantError(f"{path} has no entries that can be read")
    return log


def view_file(source: str, *, port: int, opens: bool, base: str | None, xacro: bool = False) -> None:
    """Show a log or a robot until Ctrl-C.

    Args:
        source: file of a log, or a robot's name or file.
        port: of the page.
        opens: whether a window of the browser is opened.
        base, xacro: as in `load_robot`.
    """
    needs("viser", "view", "pliant view")
    options: dict[str, Any] = {"port": port, "browser": opens, "block": True}
    if is_log(source):
        open_log(source).view(**options)
        return
    loaded = load_robot(source, base, xacro)
    robot, ground = loaded.robot, None
    angles, _ = stance(robot, loaded.path)
    known = {name: angle for name, angle in angles.items() if name in robot.coordinate_names}
    q = within_limits(robot, row("q", known, robot.coordinate_names, robot.neutral()))
    if robot.is_free:
        from pliant.contact import flat
        from pliant.contact.default_contacts import with_contacts

        ground = flat()
        q = placed(with_contacts(robot, has_ground=True), ground, q, 0.0)
    robot.view(q, ground=ground, **options)


def plot_file(source: str, channels: tuple[str, ...], out: str | None, robot: int | None) -> None:
    """Draw channels of a log into a file.

    Args:
        source: file of the log.
        channels: all that is usual if none is named.
        out: file to write, beside the log unless told.
        robot: which one of a batch.
    """
    needs("matplotlib", "plots", "pliant plot")
    log = open_log(source)
    if robot is not None:
        if log.batch is None:
            raise PliantError(f"--robot {robot}: {source} is the log of one robot; --robot is for a batch")
        if not 0 <= robot < log.batch:
            raise PliantError(f"--robot {robot}: the batch has {log.batch} robots, 0 to {log.batch - 1}")
        log = log.robot(robot)
    path = out or str(Path(source).with_suffix(".png"))
    plot_to(log, channels, path)
    say(path)


def plot_to(log: "Log", channels: tuple[str, ...], path: str) -> None:
    """Draw channels over time into a file; its suffix says in which form."""
    matplotlib = needs("matplotlib", "plots", "a plot")
    # no window is wanted, and there may be no screen
    matplotlib.use("agg")
    figure = log.plot(*channels, path=path)
    from matplotlib import pyplot

    pyplot.close(figure)
