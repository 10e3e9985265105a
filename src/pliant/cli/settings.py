"""Settings of a run: from the command line, from a TOML file with the same names, and from what is usual."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pliant.cli.words import as_numbers, as_pushes, as_row, as_springs
from pliant.errors import PliantError, unknown_name

__all__ = ["PATHS", "Settings", "Table", "gathered"]

_MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Settings:
    """All that a run can be told; None stands for what suits the robot.

    The names are those of the options, with "-" for "_", and those of a settings file. docs/command_line.md says
    what each means.
    """

    robot: str | None = None
    time: float = 5.0
    dt: float = 1e-3
    substeps: int = 1
    ground: str | None = None
    contact: str = "rigid"
    friction: float | None = None
    restitution: float | None = None
    controller: str | None = None
    command: tuple[float, ...] | None = None
    gains: tuple[float, ...] | None = None
    flexible: Mapping[str, tuple[float, ...]] | None = None
    base: str | None = None
    xacro: bool = False
    height: float | None = None
    q: Any = None
    v: Any = None
    push: tuple[Any, ...] = ()
    batch: int | None = None
    spread: float | None = None
    seed: int = 0
    threads: int = 1
    precision: str = "float64"
    integrator: str = "semi-implicit"
    event_driven: bool = False
    every: int | None = None
    view: bool = False
    log: str | None = None
    plot: str | None = None
    video: str | None = None
    html: str | None = None
    report: str | None = None
    quiet: bool = False
    json: bool = False


PATHS = ("log", "plot", "video", "html", "report")
"""Settings that name files to write."""

_NAMES = tuple(field.name for field in fields(Settings))


def gathered(given: Mapping[str, Any], file: str | None) -> Settings:
    """The settings of a run: what the command line says, then what the file says, then what is usual.

    Args:
        given: by the command line, None for what it does not say.
        file: path of a TOML file.
    """
    found: dict[str, Any] = {} if file is None else _read(Path(file))
    for name, value in given.items():
        if value is not None:
            found[name] = _checked(name, value, f"--{_option(name)}")
    return Settings(**found)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PliantError(f"cannot read the settings {path}: {error.strerror or error}") from None
    if len(data) > _MAX_BYTES:
        raise PliantError(f"{path}: {len(data)} bytes are no settings")
    try:
        text = data.decode()
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PliantError(f"{path}: this is not TOML: {error}") from None
    from pliant.files.toml_lines import key_lines

    lines = key_lines(text)
    found = {}
    for key, value in table.items():
        place = f"{path}:{lines[(key,)]}" if (key,) in lines else str(path)
        name = key.replace("-", "_")
        if name not in _NAMES:
            options = [_option(n) for n in _NAMES]
            raise PliantError(unknown_name("setting", key, options)).within(place)
        found[name] = _checked(name, value, f"{place}: {key}")
        if isinstance(found[name], dict):
            found[name] = Table(found[name], str(path), {n: lines.get((key, n)) for n in found[name]})
        if name in PATHS or (name in ("robot", "controller") and not Path(str(found[name])).is_absolute()):
            found[name] = _beside(path, name, found[name])
    return found


class Table(dict[str, Any]):
    """A table of a settings file that knows where its entries are.

    Attributes:
        places: "FILE:LINE" of each.
    """

    def __init__(self, entries: Mapping[str, Any], file: str, lines: Mapping[str, int | None]):
        super().__init__(entries)
        self.places = {name: f"{file}:{line}" if line else file for name, line in lines.items()}


def _beside(path: Path, name: str, value: str) -> str:
    """A file that a settings file names lies beside it, if there is one; what is written goes where one is."""
    if name in PATHS:
        return value
    file, colon, function = value.rpartition(":") if name == "controller" else (value, "", "")
    there = path.parent / file
    return f"{there}{colon}{function}" if file and there.is_file() else value


def _option(name: str) -> str:
    return name.replace("_", "-")


# ---- what each takes


def _checked(name: str, value: Any, place: str) -> Any:
    try:
        return _KINDS[name](value)
    except (TypeError, ValueError) as error:
        # what is said of the value, if it is one of ours
        told = str(error) if isinstance(error, _WrongError) else f"it does not take {value!r}"
        raise PliantError(f"{place}: {told}") from None


class _WrongError(ValueError):
    """A value that a setting does not take."""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _WrongError(f"it takes text, not {value!r}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _WrongError(f"it takes true or false, not {value!r}")
    return value


def _whole(least: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise _WrongError(f"it takes a whole number from {least} on, not {value!r}")
        return value

    return check


def _number(least: float = -float("inf"), *, is_above: bool = False) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
        if not is_number or value < least or (is_above and value == least):
            bound = f" above {least:g}" if is_above else f" from {least:g} on" if least > -float("inf") else ""
            raise _WrongError(f"it takes a number{bound}, not {value!r}")
        return float(value)

    return check


def _one_of(*valid: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in valid:
            raise _WrongError(unknown_name("choice", value, valid))
        return value

    return check


def _of(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        try:
            return read(value)
        except PliantError as error:
            raise _WrongError(str(error)) from None

    return check


_KINDS: dict[str, Callable[[Any], Any]] = {
    "robot": _text,
    "time": _number(0, is_above=True),
    "dt": _number(0, is_above=True),
    "substeps": _whole(1),
    "ground": _text,
    "contact": _text,
    "friction": _number(0),
    "restitution": _number(0),
    "controller": _text,
    "command": _of(as_numbers),
    "gains": _of(as_numbers),
    "flexible": _of(as_springs),
    "base": _one_of("free", "fixed"),
    "xacro": _flag,
    "height": _number(0),
    "q": _of(as_row),
    "v": _of(as_row),
    "push": _of(as_pushes),
    "batch": _whole(1),
    "spread": _number(0),
    "seed": _whole(0),
    "threads": _whole(1),
    "precision": _one_of("float64", "float32"),
    "integrator": _one_of("semi-implicit", "rk4", "dormand-prince", "midpoint"),
    "event_driven": _flag,
    "every": _whole(1),
    "view": _flag,
    "log": _text,
    "plot": _text,
    "video": _text,
    "html": _text,
    "report": _text,
    "quiet": _flag,
    "json": _flag,
}
