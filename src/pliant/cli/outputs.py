"""Logs and robots as files and pictures: ``pliant plot``, ``pliant view``, and the files that a run writes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.settings import PATHS, Settings
from pliant.cli.sources import Base, Packages, Xacro, XacroArguments, is_log, load_robot, open_log
from pliant.cli.terminal import STOPPED, complain, say
from pliant.errors import PliantError, bad_value, needs

if TYPE_CHECKING:
    from pliant.recording.log import Log

# the files by setting and suffix: libraries that write them, with the extras that bring these
_FORMS: dict[str, dict[str, dict[str, str]]] = {
    "log": {
        ".h5": {"h5py": "logs"}, ".hdf5": {"h5py": "logs"}, ".csv": {}, ".npz": {}, ".parquet": {"pyarrow": "export"},
        ".mcap": {"foxglove": "export"},
    },
    "plot": {suffix: {"matplotlib": "plots"} for suffix in (".png", ".pdf", ".svg")},
    "video": {".mp4": {"PIL": "video", "imageio_ffmpeg": "video"}, ".gif": {"PIL": "video"}},
    "html": {suffix: {"viser": "view"} for suffix in (".html", ".htm")},
    "report": {suffix: {"matplotlib": "plots", "viser": "view"} for suffix in (".html", ".htm")},
}  # fmt: skip
_STREAMED = (".h5", ".hdf5")


def check_outputs(settings: Settings) -> None:
    """Raise before the run if one of its files cannot be written."""
    from pliant.files.writing import checked_folder

    given: dict[Path, str] = {}
    for name in PATHS:
        value = getattr(settings, name)
        if value is None:
            continue
        path = checked_folder(value)
        other = given.setdefault(path.resolve(), name)
        if other != name:
            cure = "give each a file of its own"
            raise PliantError(f"--{other} and --{name} are both {value}", field=name, cure=cure)
        *most, last = forms = _FORMS[name]
        if path.suffix.lower() not in forms:
            raise settings.wrong(name, f"a file that ends in {', '.join(most)} or {last}")
        for library, extra in forms[path.suffix.lower()].items():
            needs(library, extra, f"--{name} {value}")
    if settings.view:
        needs("viser", "view", "--view")


def is_streamed(settings: Settings) -> bool:
    """Whether the log is written as the run goes on, which only its own format can."""
    return settings.log is not None and Path(settings.log).suffix.lower() in _STREAMED


def write_log(log: "Log", path: str) -> None:
    """A log in the format of the suffix."""
    suffix = Path(path).suffix.lower()
    method = "save" if suffix in _STREAMED else f"to_{suffix.removeprefix('.')}"
    getattr(log, method)(path)


def write_outputs(log: "Log", settings: Settings, is_streamed: bool, facts: Mapping[str, str]) -> dict[str, str]:
    """Write all that was asked for, even if one fails, which is reported; returns the files by setting.

    Args:
        is_streamed: whether the log itself is in its file already.
        facts: of the run that are not in the log, for the report.
    """
    writers: dict[str, Callable[[str], Any]] = {
        "log": lambda path: write_log(log, path),
        "plot": lambda path: _plot_to(log, (), path),
        "video": lambda path: log.to_video(path, size=settings.video_size),
        "html": lambda path: log.to_html(path),
        "report": lambda path: log.to_report(path, facts=facts),
    }
    written: dict[str, str] = {}
    failed: list[str] = []
    for name in PATHS:
        path = getattr(settings, name)
        if path is None:
            continue
        try:
            if not (name == "log" and is_streamed):
                writers[name](path)
            written[name] = path
        except KeyboardInterrupt:
            done = f"; written: {', '.join(written.values())}" if written else ""
            complain(f"stopped while --{name} {path} was written{done}")
            raise SystemExit(STOPPED) from None
        except PliantError as error:
            failed.append(f"--{name} {path}: {error}")
    for line in failed[:-1]:
        complain(line)
    if failed:
        raise PliantError(failed[-1] + (f" (written: {', '.join(written.values())})" if written else ""))
    return written


# ---- commands


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
    _plot_to(found, tuple(channels or ()), path)
    say(path)


def _plot_to(log: "Log", channels: tuple[str, ...], path: str) -> None:
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
    host: Annotated[str, typer.Option(help="0.0.0.0 lets other machines see the page")] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="print the address and open no window")] = False,
    base: Base = None,
    packages: Packages = None,
    xacro: Xacro = False,
    xacro_arg: XacroArguments = None,
) -> None:
    """Show a log or a robot in the browser, until Ctrl-C."""
    needs("viser", "view", "pliant view")
    options: dict[str, Any] = {"port": port, "host": host, "browser": not no_browser, "block": True}
    if is_log(what):
        open_log(what).view(**options)
        return
    from pliant.catalogue.starts import known_stance

    robot, ground = load_robot(what, base, xacro, packages, xacro_arg), None
    stance = known_stance(robot)
    q = robot.neutral() if stance is None else stance.q
    if robot.is_free:
        from pliant.contact import flat
        from pliant.robot.contacts import with_default_contacts

        ground = flat()
        touching = with_default_contacts(robot, has_ground=True)
        q = touching.on_ground(q, ground) if touching.contact_points else q
    robot.view(q, ground=ground, **options)
