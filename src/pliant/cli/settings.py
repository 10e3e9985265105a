"""Settings of a run: one table for the options of the command line and the keys of a TOML file."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli.words import Reader, flag, number, numbers, one_of, pushes, row, springs, text, whole
from pliant.errors import Place, PliantError, bad_value, unknown_name

__all__ = ["PATHS", "Settings", "gathered", "options"]


_TEXTS = list[str]


def _setting(read: Reader, kind: Any, help: str, default: Any = None, **option: Any) -> Any:
    """A setting: the reader of its value, and type, help and more of its option on the command line."""
    return field(default=default, metadata={"read": read, "kind": kind, "option": {"help": help, **option}})


@dataclass(frozen=True)
class Settings:
    """All settings of a run; None stands for the choice that suits the robot.

    The names are those of the options, with "-" for "_", and those of a settings file. docs/command_line.md says what
    each means.

    Attributes:
        places: of the keys that came from a file, by the names of table and key.
    """

    robot: str | None = _setting(text, str, "name of a robot, or a .urdf, .xacro or .toml file", metavar="ROBOT|FILE")
    time: float = _setting(number(0, is_above=True), float, "duration to simulate [s] (default 5)", 5.0)
    dt: float = _setting(number(0, is_above=True), float, "length of a step [s] (default 0.001)", 1e-3)
    substeps: int = _setting(whole(1), int, "steps in a control period (default 1)", 1)
    ground: str | None = _setting(
        text,
        str,
        "none, flat, slope=DEGREES, stairs=RISE,RUN[,STEPS] or waves=HEIGHT,LENGTH "
        "(default flat under a free base, else none)",
    )
    contact: str = _setting(
        text, str, "rigid (default), compliant[=STIFFNESS,DAMPING] or hunt-crossley=STIFFNESS,DISSIPATION", "rigid"
    )
    friction: float | None = _setting(number(0), float, "coefficient of friction")
    restitution: float | None = _setting(number(0), float, "coefficient of restitution of rigid contacts, 0 to 1")
    controller: str | None = _setting(
        text,
        str,
        "none, hold (the pose at the start), raibert (hopping robots), or FILE.py:FUNCTION, "
        "a function (t, q, v) -> u of your own; that file runs as code: only if you trust it",
    )
    command: tuple[float, ...] | None = _setting(
        numbers, str, "numbers for the controller; for raibert VX,VY,HEIGHT [m/s, m/s, m]"
    )
    gains: tuple[float, ...] | None = _setting(
        numbers, str, "KP,KD of hold [N m/rad, N m s/rad] (default by weight and size)"
    )
    flexible: Mapping[str, tuple[float, ...]] | None = _setting(
        springs, _TEXTS, "a spring and damper between motor and link; may be repeated", metavar="JOINT=K[,D[,INERTIA]]"
    )
    base: str | None = _setting(
        one_of("free", "fixed"), str, "'fixed' or 'free' (default: the robot's own; of a file, fixed)"
    )
    xacro: bool = _setting(flag, bool, "expand a .xacro file, which runs it as a program: only if you trust it", False)
    height: float | None = _setting(
        number(0), float, "of the lowest contact of a free robot above the ground at the start [m]"
    )
    q: tuple[float, ...] | Mapping[str, float] | None = _setting(
        row, _TEXTS, "configuration at the start, or all numbers in order", metavar="JOINT=VALUE,..."
    )
    v: tuple[float, ...] | Mapping[str, float] | None = _setting(
        row, _TEXTS, "velocities at the start, likewise", metavar="JOINT=VALUE,..."
    )
    push: tuple[Any, ...] = _setting(
        pushes, _TEXTS, "a force in the world's axes [N, s]; may be repeated", (), metavar="BODY=FX,FY,FZ[@T0[:T1]]"
    )
    batch: int | None = _setting(whole(1), int, "number of robots, each from a slightly different pose")
    spread: float | None = _setting(
        number(0), float, "standard deviation of these poses [rad, and a tenth of it in m] (default 0.05)"
    )
    seed: int = _setting(whole(0), int, "of the random poses (default 0)", 0)
    threads: int = _setting(whole(1), int, "threads that share a batch (default 1)", 1)
    precision: str = _setting(one_of("float64", "float32"), str, "float64 (default) or float32", "float64")
    integrator: str = _setting(
        one_of("semi-implicit", "rk4", "dormand-prince", "midpoint"),
        str,
        "semi-implicit (default), rk4, dormand-prince or midpoint",
        "semi-implicit",
    )
    event_driven: bool = _setting(flag, bool, "simulate from event to event: one robot on rigid ground", False)
    every: int | None = _setting(whole(1), int, "log every Nth period")
    view: bool = _setting(flag, bool, "show the run in the browser afterwards, until Ctrl-C", False)
    log: str | None = _setting(text, str, "file for the log: .h5, or .csv, .npz, .parquet, .mcap")
    plot: str | None = _setting(text, str, "file for a plot: .png, .pdf, .svg")
    video: str | None = _setting(text, str, "file for a video: .mp4")
    html: str | None = _setting(text, str, "file for a replay that opens in any browser: .html")
    report: str | None = _setting(text, str, "file for a page with summary, plots and replay: .html")
    quiet: bool = _setting(flag, bool, "print nothing but errors", False)
    json: bool = _setting(flag, bool, "print the summary as JSON and nothing else", False)
    places: Mapping[tuple[str, ...], Place] = field(default_factory=dict, compare=False, repr=False)

    def wrong(self, name: str, takes: str) -> PliantError:
        """The error of a setting whose value does not fit the rest, at its place."""
        place = self.places.get((name,))
        error = PliantError(bad_value(_option(name) if place else f"--{_option(name)}", getattr(self, name), takes))
        return error.at(*place) if place else error

    def blamed(self, error: PliantError, *key: str) -> PliantError:
        """An error at the place of the setting that it comes from: a line of the file, or the option."""
        place = self.places.get(key) or self.places.get(key[:1])
        return error.at(*place) if place else error.within(f"--{_option(key[0])}")


PATHS = ("log", "plot", "video", "html", "report")
"""Settings that name files to write."""

_READERS: dict[str, Reader] = {f.name: f.metadata["read"] for f in fields(Settings) if "read" in f.metadata}


def options() -> list[inspect.Parameter]:
    """Parameters of a command with an option for each setting; None for those that are not given."""
    found = []
    for setting in (f for f in fields(Settings) if "read" in f.metadata):
        kind, more = setting.metadata["kind"], setting.metadata["option"]
        # a flag has no opposite: it is given or not
        words = [f"--{_option(setting.name)}"]
        option = typer.Argument(**more) if setting.name == "robot" else typer.Option(*words, **more)
        found.append(
            inspect.Parameter(
                setting.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
            )
        )
    return found


def gathered(given: Mapping[str, Any], file: str | None) -> Settings:
    """The settings of a run: those of the command line, then those of the file, then the defaults.

    Args:
        given: by the command line, None for options that were not given.
        file: path of a TOML file.
    """
    found = {} if file is None else _read(Path(file))
    places: dict[tuple[str, ...], Place] = found.pop("places", {})
    for name, value in given.items():
        if value is not None:
            found[name] = _READERS[name](f"--{_option(name)}", value)
            places = {key: place for key, place in places.items() if key[0] != name}
    return Settings(**found, places=places)


def _read(path: Path) -> dict[str, Any]:
    """The settings of a file, and the places of its keys."""
    from pliant.files.toml import TomlFile

    if not path.is_file():
        problem = f"the settings {path} are not a file"
        raise PliantError(problem, subject=str(path), field="settings", cure="give the path of a TOML file")
    toml = TomlFile(path)
    found: dict[str, Any] = {}
    places: dict[tuple[str, ...], Place] = {}
    for key, value in toml.document.items():
        name, place = key.replace("-", "_"), toml.place(key)
        if name not in _READERS:
            raise PliantError(unknown_name("setting", key, map(_option, _READERS))).at(*place)
        try:
            found[name] = _READERS[name](key, value)
        except PliantError as error:
            raise error.at(*place) from None
        places[(name,)] = place
        if isinstance(value, dict):
            places |= {(name, entry): toml.place(key, entry) for entry in value}
        if name in ("robot", "controller"):
            found[name] = _beside(path, name, found[name])
    return {**found, "places": places}


def _beside(path: Path, name: str, value: str) -> str:
    """A robot or controller that a settings file names, as the file beside it if there is one."""
    file, colon, function = value.rpartition(":") if name == "controller" else (value, "", "")
    there = path.parent / file
    return f"{there}{colon}{function}" if file and there.is_file() else value


def _option(name: str) -> str:
    return name.replace("_", "-")
