"""Settings of a run: one table for the options of the command line and the keys of a TOML file.

A reader takes the name of a setting as the user wrote it ("--time" or "time") and the value, and returns the value in
the form that the program uses; a value that it does not take raises `PliantError` with that name as its field.
"""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from pliant.errors import Place, PliantError, bad_value, unknown_name

Reader = Callable[[str, Any], Any]

_NUMBERS = "numbers, separated by commas"
_ROW = "all numbers in order, as 0,0.5,1, or some by name, as knee=0.5"
_NAMES = "names, separated by commas"
_SPRING = "JOINT=STIFFNESS[,DAMPING[,INERTIA]], as knee=1e4,10"
_PUSH = "BODY=FX,FY,FZ[@START[:END]], as base=100,0,0@1:1.2"


class Push(NamedTuple):
    """A force on a body [N], in the world's axes, from a start to an end [s]."""

    body: str
    force: tuple[float, ...]
    start: float
    end: float


# ---- one value


def _value(takes: str, is_right: Callable[[Any], bool], form: Callable[[Any], Any] = lambda x: x) -> Reader:
    """The reader of a value that is right or not."""
    return lambda name, value: form(_checked(name, value, takes, is_right(value)))


def _whole(least: int) -> Reader:
    return _value(f"a whole number, {least} or more", lambda x: _is_number(x) and isinstance(x, int) and x >= least)


def _one_of(*valid: str) -> Reader:
    *most, last = map(repr, valid)
    return _value(f"{', '.join(most)} or {last}", lambda x: isinstance(x, str) and x in valid)


def _is_number(x: Any) -> bool:
    if not isinstance(x, int | float) or isinstance(x, bool):
        return False
    try:
        return math.isfinite(x)
    except OverflowError:  # whole numbers of TOML may have any number of digits
        return False


_text = _value("text", lambda x: isinstance(x, str) and bool(x.strip()))
_flag = _value("true or false", lambda x: isinstance(x, bool))
_positive = _value("a number above 0", lambda x: _is_number(x) and x > 0, float)
_amount = _value("a number, 0 or more", lambda x: _is_number(x) and x >= 0, float)


# ---- several


def numbers(name: str, value: Any) -> tuple[float, ...]:
    """Numbers: a list of them, one, or text with commas."""
    if isinstance(value, str):
        return tuple(_number(name, value, part, _NUMBERS) for part in value.split(","))
    several = value if isinstance(value, Sequence) else [value]
    return tuple(float(x) for x in _checked(name, several, _NUMBERS, all(_is_number(x) for x in several)))


def row(name: str, value: Any) -> tuple[float, ...] | dict[str, float | tuple[float, ...]]:
    """Entries of q or v: all in order, or a mapping of some by name.

    They come as "0,0.5,1", as "knee=0.5" or several of that form, or as a list or table of TOML. A joint with several
    entries takes all of them, "plane=0,0,1,0".
    """
    if isinstance(value, Mapping):
        several = {str(key): x if isinstance(x, list | tuple) else [x] for key, x in value.items()}
        _checked(name, dict(value), "a number for each name, or several", all(
            bool(row) and all(_is_number(x) for x in row) for row in several.values()
        ))  # fmt: skip
        return {key: float(row[0]) if len(row) == 1 else tuple(map(float, row)) for key, row in several.items()}
    if isinstance(value, Sequence) and not isinstance(value, str) and all(_is_number(x) for x in value):
        return numbers(name, value)
    parts = [part for word in _texts(name, value, _ROW) for part in word.split(",")]
    if not any("=" in part for part in parts):
        return tuple(_number(name, ",".join(parts), part, _ROW) for part in parts)
    # in a word, numbers without a name go on with the one before
    words: list[str] = []
    for word in _texts(name, value, _ROW):
        for k, part in enumerate(word.split(",")):
            if k and "=" not in part:
                words[-1] += f",{part}"
            else:
                words.append(part)
    found: dict[str, float | tuple[float, ...]] = {}
    for key, given in _pairs(name, words, _ROW).items():
        own = tuple(_number(name, f"{key}={given}", x, _ROW) for x in given.split(","))
        found[key] = own[0] if len(own) == 1 else own
    return found


def names(name: str, value: Any) -> tuple[str, ...]:
    """Names: "lf_foot,rh_foot", or several texts, or a list of TOML."""
    return tuple(part.strip() for word in _texts(name, value, _NAMES) for part in word.split(","))


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Texts as they are, one or several."""
    return tuple(_texts(name, value, "a text, or a list of texts"))


def springs(name: str, value: Any) -> dict[str, tuple[float, ...]]:
    """Stiffness of flexible joints by name, and damping and the motor's inertia if they are given.

    They come as "knee=1e4,10" or several of that form, or as a table of TOML: {knee = [1e4, 10]}.
    """
    pairs = value if isinstance(value, Mapping) else _pairs(name, _texts(name, value, _SPRING), _SPRING)
    found = {str(joint): numbers(f"{name} of {joint!r}", given) for joint, given in pairs.items()}
    for joint, given in found.items():
        _checked(f"{name} of {joint!r}", given, "one to three numbers: " + _SPRING, 1 <= len(given) <= 3)
    return found


def pushes(name: str, value: Any) -> tuple[Push, ...]:
    """Forces on bodies: "base=100,0,0@1:1.2" or several of that form."""
    found = []
    for word in _texts(name, value, _PUSH):
        body, rest = _pair(name, word, _PUSH)
        given, at, span = rest.partition("@")
        force = tuple(_number(name, word, part, _PUSH) for part in given.split(","))
        first, colon, last = span.partition(":")
        start = _number(name, word, first, _PUSH) if at else 0.0
        end = _number(name, word, last, _PUSH) if colon else math.inf
        _checked(name, word, f"three numbers for a force: {_PUSH}", len(force) == 3)
        _checked(name, word, f"an end after the start: {_PUSH}", end > start)
        found.append(Push(body, force, start, end))
    return tuple(found)


# ---- parts


def _checked(name: str, value: Any, takes: str, is_right: bool) -> Any:
    if not is_right:
        raise PliantError(bad_value(name, value, takes))
    return value


def _texts(name: str, value: Any, takes: str) -> list[str]:
    """One text or several."""
    found = [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else []
    return _checked(name, found or value, takes, bool(found) and all(isinstance(x, str) for x in found))


def _pairs(name: str, words: Sequence[str], takes: str) -> dict[str, str]:
    """Values by name, each given once."""
    found: dict[str, str] = {}
    for word in words:
        key, value = _pair(name, word, takes)
        if key in found:
            problem = f"{name} has {key!r} twice, {key}={found[key]} and {key}={value}"
            raise PliantError(problem, field=name, cure="leave one out")
        found[key] = value
    return found


def _pair(name: str, word: str, takes: str) -> tuple[str, str]:
    key, sign, value = (part.strip() for part in word.partition("="))
    _checked(name, word, takes, bool(key and sign and value))
    return key, value


def _number(name: str, whole: str, part: str, takes: str) -> float:
    """The number in a part of a text."""
    try:
        found = float(part)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        problem = f"{name} is {whole!r}, where {part.strip()!r} is not a number"
        raise PliantError(problem, field=name, cure=f"it takes {takes}")
    return found


# ---- all settings


def _setting(read: Reader, help: str, default: Any = None, **option: Any) -> Any:
    """A setting: the reader of its value, and help and more of its option on the command line."""
    return field(default=default, metadata={"read": read, "option": {"help": help, **option}})


@dataclass(frozen=True)
class Settings:
    """All settings of a run; None stands for the choice that suits the robot.

    The names are those of the options, with "-" for "_", and those of a settings file. docs/command_line.md says what
    each means.

    Attributes:
        places: of the keys that came from a file, by the names of table and key.
    """

    robot: str | None = _setting(
        _text, "name of a robot, or a .urdf, .xacro, .sdf, .xml or .toml file", metavar="ROBOT|FILE"
    )
    time: float = _setting(_positive, "duration to simulate [s] (default 5)", 5.0)
    dt: float = _setting(_positive, "length of a step [s] (default 0.001)", 1e-3)
    substeps: int = _setting(_whole(1), "steps in a control period (default 1)", 1)
    ground: str | None = _setting(
        _text,
        "none, flat, slope=DEGREES, stairs=RISE,RUN[,STEPS], waves=HEIGHT,LENGTH, TERRAIN.toml[=LEVEL[,COLUMN]], or "
        "heights from FILE=SPACING[,HEIGHT], a .npy, .csv or .png file "
        "(default flat under a free base, else none)",
    )
    contact: str = _setting(
        _text,
        "rigid (default), compliant[=STIFFNESS,DAMPING], anchored[=STIFFNESS,DAMPING] or "
        "hunt-crossley=STIFFNESS,DISSIPATION",
        "rigid",
    )
    friction: float | None = _setting(_amount, "coefficient of friction")
    restitution: float | None = _setting(_amount, "coefficient of restitution of rigid contacts, 0 to 1")
    controller: str | None = _setting(
        _text,
        "none, hold (the pose at the start), raibert (hopping robots), or FILE.py:FUNCTION, "
        "a function (t, q, v) -> u of your own; that file runs as code: only if you trust it",
    )
    command: tuple[float, ...] | None = _setting(
        numbers, "numbers for the controller; for raibert VX,VY,HEIGHT [m/s, m/s, m]"
    )
    gains: tuple[float, ...] | None = _setting(
        numbers, "KP,KD of hold [N m/rad, N m s/rad] (default by weight and size)"
    )
    flexible: Mapping[str, tuple[float, ...]] | None = _setting(
        springs, "a spring and damper between motor and link; may be repeated", metavar="JOINT=K[,D[,INERTIA]]"
    )
    base: str | None = _setting(
        _one_of("free", "fixed"),
        "'fixed' or 'free' (default: the robot's own; of a .urdf, free if it has legs, else fixed)",
    )
    packages: tuple[str, ...] = _setting(
        texts, "folder with the packages of its meshes and includes; may be repeated", (), metavar="FOLDER"
    )
    xacro: bool = _setting(_flag, "expand a .xacro file, which runs it as a program: only if you trust it", False)
    xacro_arg: tuple[str, ...] = _setting(texts, "of a .xacro file; may be repeated", (), metavar="NAME=VALUE")
    height: float | None = _setting(_amount, "of the lowest contact of a free robot above the ground at the start [m]")
    q: tuple[float, ...] | Mapping[str, float | tuple[float, ...]] | None = _setting(
        row, "configuration at the start, or all numbers in order", metavar="JOINT=VALUE,..."
    )
    v: tuple[float, ...] | Mapping[str, float | tuple[float, ...]] | None = _setting(
        row, "velocities at the start, likewise", metavar="JOINT=VALUE,..."
    )
    push: tuple[Any, ...] = _setting(
        pushes, "a force in the world's axes [N, s]; may be repeated", (), metavar="BODY=FX,FY,FZ[@T0[:T1]]"
    )
    batch: int | None = _setting(_whole(1), "number of robots, each from a slightly different pose")
    spread: float | None = _setting(
        _amount, "standard deviation of these poses [rad, and a tenth of it in m] (default 0.05)"
    )
    seed: int = _setting(_whole(0), "of the random poses (default 0)", 0)
    threads: int = _setting(_whole(1), "threads that share a batch (default 1)", 1)
    precision: str = _setting(_one_of("float64", "float32"), "float64 (default) or float32", "float64")
    integrator: str = _setting(
        _one_of("semi-implicit", "euler", "rk4", "dormand-prince", "midpoint", "rosenbrock"),
        "semi-implicit (default), euler, rk4, dormand-prince, midpoint or rosenbrock",
        "semi-implicit",
    )
    held: tuple[str, ...] = _setting(
        names, "contacts that stick and stay, for the other integrators", (), metavar="CONTACT,..."
    )
    event_driven: bool = _setting(_flag, "simulate from event to event: one robot on rigid ground", False)
    every: float | None = _setting(_positive, "time between entries of the log [s]")
    view: bool = _setting(_flag, "show the run in the browser afterwards, until Ctrl-C", False)
    log: str | None = _setting(_text, "file for the log: .h5, or .csv, .npz, .parquet, .mcap")
    plot: str | None = _setting(_text, "file for a plot: .png, .pdf, .svg")
    video: str | None = _setting(_text, "file for a video: .mp4")
    video_size: str = _setting(
        _one_of("preview", "720p", "1080p"), "preview (640 x 360), 720p (default) or 1080p", "720p"
    )
    html: str | None = _setting(_text, "file for a replay that opens in any browser: .html")
    report: str | None = _setting(_text, "file for a page with summary, plots and replay: .html")
    quiet: bool = _setting(_flag, "print nothing but errors", False)
    json: bool = _setting(_flag, "print the summary as JSON and nothing else", False)
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
        more, is_numbers = setting.metadata["option"], setting.metadata["read"] is numbers
        # values of several parts may be given part by part
        kind = next((k for k in (bool, int, float, str) if setting.type in (k, k | None)), None)
        kind = kind or (str if is_numbers else list[str])
        # a flag has no opposite: it is given or not
        words = [f"--{_option(setting.name)}"]
        option = typer.Argument(**more) if setting.name == "robot" else typer.Option(*words, **more)
        found.append(
            inspect.Parameter(
                setting.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
            )
        )
    return found


def gathered(given: Mapping[str, Any], file: str | None, *, trust: bool = False) -> Settings:
    """The settings of a run: those of the command line that are not None, then those of a TOML file, then defaults.

    A file is data: it may name code to run, a controller or xacro, only with ``trust``.
    """
    found = {} if file is None else _read(Path(file))
    places: dict[tuple[str, ...], Place] = found.pop("places", {})
    for name, value in given.items():
        if value is not None:
            found[name] = _READERS[name](f"--{_option(name)}", value)
            places = {key: place for key, place in places.items() if key[0] != name}
    if not trust:
        _check_no_code(found, places)
    return Settings(**found, places=places)


def _check_no_code(found: Mapping[str, Any], places: Mapping[tuple[str, ...], Place]) -> None:
    """Raise if a file names code that would run."""
    controller = found.get("controller") or ""
    codes = {"controller": ".py" in controller, "xacro": bool(found.get("xacro"))}
    for name, is_code in codes.items():
        if is_code and (name,) in places:
            what = f"the controller {controller}" if name == "controller" else "xacro, which runs as a program"
            same = f"--controller {controller}" if name == "controller" else "--xacro"
            problem = f"these settings run code: {what}"
            cure = f"if you trust it, add --trust, or {same} to the command line"
            raise PliantError(problem, subject=what, field=name, cure=cure).at(*places[name,])


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
    try:
        is_there = bool(file) and there.is_file()
    except (OSError, ValueError):  # no path that a file can have
        return value
    return f"{there}{colon}{function}" if is_there else value


def _option(name: str) -> str:
    return name.replace("_", "-")
