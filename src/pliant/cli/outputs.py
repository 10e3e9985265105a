"""Files that a run writes: log, plot, video, replay, report."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.cli.show import plot_to
from pliant.cli.settings import PATHS, Settings
from pliant.cli.terminal import STOPPED, complain
from pliant.errors import PliantError, needs, unknown_name

if TYPE_CHECKING:
    from pliant.recording.log import Log

__all__ = ["LOG_FORMS", "check_outputs", "is_streamed", "write_log", "write_outputs"]


class _Form(NamedTuple):
    """How a log is written, by the suffix of the file: a method of it, the library and the extra that brings it."""

    method: str
    library: str | None = None
    extra: str = ""


LOG_FORMS = {
    ".h5": _Form("save", "h5py", "logs"),
    ".hdf5": _Form("save", "h5py", "logs"),
    ".csv": _Form("to_csv"),
    ".npz": _Form("to_npz"),
    ".parquet": _Form("to_parquet", "pyarrow", "export"),
    ".mcap": _Form("to_mcap", "foxglove", "export"),
}
"""Forms of logs by suffix."""

# the other files, likewise: their suffixes, and libraries with the extras that bring them
_OTHERS = {
    "plot": ((".png", ".pdf", ".svg"), {"matplotlib": "plots"}),
    "video": ((".mp4", ".gif"), {"PIL": "video", "imageio_ffmpeg": "video"}),
    "html": ((".html", ".htm"), {"viser": "view"}),
    "report": ((".html", ".htm"), {"matplotlib": "plots", "viser": "view"}),
}


def check_outputs(settings: Settings) -> None:
    """Raise before the run if one of its files cannot be written."""
    from pliant.files.whole import checked_folder

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
        if name == "log":
            form = _form(path)
            if form.library is not None:
                needs(form.library, form.extra, f"--log {value}")
            continue
        endings, libraries = _OTHERS[name]
        if path.suffix.lower() not in endings:
            raise settings.wrong(name, f"a file that ends in {', '.join(endings[:-1])} or {endings[-1]}")
        for library, extra in libraries.items():
            if library != "imageio_ffmpeg" or path.suffix.lower() == ".mp4":
                needs(library, extra, f"--{name} {value}")
    if settings.view:
        needs("viser", "view", "--view")


def is_streamed(settings: Settings) -> bool:
    """Whether the log is written as the run goes on, which only its own format can."""
    return settings.log is not None and _form(Path(settings.log)).method == "save"


def _form(path: Path) -> _Form:
    suffix = path.suffix.lower()
    if suffix not in LOG_FORMS:
        raise PliantError(unknown_name("form of logs", suffix, LOG_FORMS)).within(f"--log {path}")
    return LOG_FORMS[suffix]


def write_log(log: "Log", path: str) -> None:
    """A log in the format of the suffix."""
    getattr(log, _form(Path(path)).method)(path)


def write_outputs(log: "Log", settings: Settings, is_streamed: bool, facts: Mapping[str, str]) -> dict[str, str]:
    """Write all that was asked for; a failure is reported, and the other files are written all the same.

    Args:
        is_streamed: whether the log itself is in its file already.
        facts: of the run that are not in the log, for the report.

    Returns:
        The files by the names of their settings.
    """
    writers: dict[str, Callable[[str], Any]] = {
        "log": lambda path: write_log(log, path),
        "plot": lambda path: plot_to(log, (), path),
        "video": lambda path: log.to_video(path),
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
