"""Settings of a run: one table for the options of the command line and the keys of a TOML file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pliant.cli.words import Reader, flag, number, numbers, one_of, pushes, row, springs, text, whole
from pliant.errors import Place, PliantError, bad_value, unknown_name

__all__ = ["PATHS", "Settings", "gathered"]


def _setting(read: Reader, default: Any = None) -> Any:
    return field(default=default, metadata={"read": read})


@dataclass(frozen=True)
class Settings:
    """All settings of a run; None stands for the choice that suits the robot.

    The names are those of the options, with "-" for "_", and those of a settings file. docs/command_line.md says what
    each means.

    Attributes:
        places: of the keys that came from a file, by the names of table and key.
    """

    robot: str | None = _setting(text)
    time: float = _setting(number(0, is_above=True), 5.0)
    dt: float = _setting(number(0, is_above=True), 1e-3)
    substeps: int = _setting(whole(1), 1)
    ground: str | None = _setting(text)
    contact: str = _setting(text, "rigid")
    friction: float | None = _setting(number(0))
    restitution: float | None = _setting(number(0))
    controller: str | None = _setting(text)
    command: tuple[float, ...] | None = _setting(numbers)
    gains: tuple[float, ...] | None = _setting(numbers)
    flexible: Mapping[str, tuple[float, ...]] | None = _setting(springs)
    base: str | None = _setting(one_of("free", "fixed"))
    xacro: bool = _setting(flag, False)
    height: float | None = _setting(number(0))
    q: tuple[float, ...] | Mapping[str, float] | None = _setting(row)
    v: tuple[float, ...] | Mapping[str, float] | None = _setting(row)
    push: tuple[Any, ...] = _setting(pushes, ())
    batch: int | None = _setting(whole(1))
    spread: float | None = _setting(number(0))
    seed: int = _setting(whole(0), 0)
    threads: int = _setting(whole(1), 1)
    precision: str = _setting(one_of("float64", "float32"), "float64")
    integrator: str = _setting(one_of("semi-implicit", "rk4", "dormand-prince", "midpoint"), "semi-implicit")
    event_driven: bool = _setting(flag, False)
    every: float | None = _setting(number(0, is_above=True))
    view: bool = _setting(flag, False)
    log: str | None = _setting(text)
    plot: str | None = _setting(text)
    video: str | None = _setting(text)
    html: str | None = _setting(text)
    report: str | None = _setting(text)
    quiet: bool = _setting(flag, False)
    json: bool = _setting(flag, False)
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
