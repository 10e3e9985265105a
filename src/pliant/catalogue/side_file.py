"""Side files: what URDF cannot say of a robot, as TOML beside it.

    robot = "leg.urdf"

    [motors."*_knee"]
    rotor_inertia = 5e-5

    [flexibilities.left_knee]
    stiffness = 1e4

A side file is untrusted, as a URDF is: it holds numbers, strings, booleans and lists of them, and names at most one
file, in its own folder. It is checked as a whole before anything is done.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PureWindowsPath
from typing import Any

from pliant.catalogue.library import robots
from pliant.catalogue.side_cures import toml_cures
from pliant.catalogue.side_tables import TABLES, Table, is_pattern
from pliant.catalogue.side_values import BASE, GRAVITY, PATH, Kind, plain
from pliant.errors import RobotError, unknown_name
from pliant.files.toml import Key, TomlFile
from pliant.robot import Robot

__all__ = ["SideFile", "read_side_file"]

_SETTINGS: dict[str, Kind] = {"robot": PATH, "base": BASE, "gravity": GRAVITY}
_TABLES = {table.name: table for table in TABLES}
_SUFFIXES = (".urdf", ".xacro")
# keys that name one thing, so a pattern cannot have them
_SINGLE = ("name", "joint")


def read_side_file(robot: Robot, path: str | Path) -> Robot:
    """A copy of a robot with what a side file says: motors, joints, frames, flexibilities, backlash, contacts.

    Tables and keys are those of ``with_frame``, ``with_joint``, ``with_motor``, ``with_flexibility``,
    ``with_backlash`` and ``with_contact``, but for what is code (``law``). They are put on in that order, after
    gravity. A key may be a pattern, as in ``[motors."*_knee"]``; of two tables for one thing, the later one wins, key
    by key. What the file says of ``robot`` is for `load`.

    Args:
        path: of a ``.toml`` file.
    """
    if not isinstance(robot, Robot):
        raise RobotError(f"read_side_file takes a Robot first, not {robot!r}; see pliant.load")
    if not isinstance(path, str | Path):
        raise RobotError(f"read_side_file takes the path of a .toml file, not {path!r}")
    file = SideFile(path)
    base = file.options.get("base")
    if base is not None and (base == "free") != robot.is_free:
        is_now = "free" if robot.is_free else "fixed"
        raise file.error(
            ("base",), f"base is {base!r}, but that of robot {robot.name!r} is {is_now}; load it with base={base!r}"
        )
    return file.put_on(robot)


@dataclass
class _Setting:
    """What a table says of one thing: values, the place of each, and that of the last table that names the thing."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Key] = field(default_factory=dict)
    place: Key = ()


class SideFile:
    """A side file that has been read and checked, but for names of a robot's parts.

    Attributes:
        path: of the file.
        options: for `load`: its ``base``, if it has one.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._toml = TomlFile(path, RobotError)
        self._document = self._toml.document
        self._tables: dict[str, dict[str, dict[str, Any]]] = {}
        for key, value in self._document.items():
            if key in _SETTINGS:
                self._check((key,), _SETTINGS[key], value)
            elif key in _TABLES:
                self._tables[key] = self._checked(_TABLES[key], value)
            else:
                known = [*_SETTINGS, *_TABLES]
                raise self.error((key,), unknown_name("key or table", key, known, "a side file"))
        base = self._document.get("base")
        if base not in (None, "fixed", "free"):
            raise self.error(
                ("base",), f"base is {base!r}; it is either 'fixed' or 'free', as in base = {BASE.example}"
            )
        self.options: dict[str, Any] = {} if base is None else {"base": base}

    @cached_property
    def robot(self) -> str | Path:
        """The name of the shipped robot or the path of the robot file that this one goes with."""
        given = self._document.get("robot")
        if given is None:
            cure = f"add robot = {PATH.example}, or load both: pliant.load('leg.urdf', side={self.path.name!r})"
            raise self.error((), f"it does not say which robot it is for; {cure}")
        place = ("robot",)
        if "/" not in given and "\\" not in given and not Path(given).suffix:
            if given not in robots():
                near = unknown_name("shipped robot", given, robots())
                raise self.error(place, f'{near} (for a file, give its suffix: robot = "{given}.urdf")')
            return given
        folder = self.path.parent.resolve()
        try:
            found = (folder / given).resolve()
            is_absolute = Path(given).is_absolute() or PureWindowsPath(given).anchor != ""
            if is_absolute or "://" in given or not found.is_relative_to(folder):
                cure = f"put it there, or load both: pliant.load(path, side={self.path.name!r})"
                raise self.error(place, f"robot is {given!r}, which is not in the folder of this file; {cure}")
            if found.suffix.lower() not in _SUFFIXES:
                raise self.error(place, f"robot is {given!r}; a robot file ends in {' or '.join(_SUFFIXES)}")
            if not found.is_file():
                beside = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in _SUFFIXES)
                raise self.error(place, unknown_name("file", given, beside, f"the folder {self.path.parent}"))
        except (OSError, RuntimeError, ValueError) as error:  # names too long, links in a circle, null characters
            raise self.error(place, f"robot is {given!r}, no usable path: {error}") from None
        return self.path.parent / given

    def loaded(self, load: Callable[..., Robot], source: str | Path | None, options: dict[str, Any]) -> Robot:
        """The robot that it goes with, with what it says.

        Args:
            load: what reads a robot.
            source: the robot, in place of the one that the file names.
            options: of ``load``; they win over those of the file.
        """
        source = self.robot if source is None else source
        try:
            robot = load(source, **{**self.options, **options})
        except RobotError as error:
            if not self.options.keys() - options.keys():
                raise
            load(source, **options)  # if this fails too, the file's base is not to blame
            raise self.error(("base",), f"base: {error}") from None
        return self.put_on(robot)

    def put_on(self, robot: Robot) -> Robot:
        """A copy of a robot with what the file says."""
        gravity = self._document.get("gravity")
        if gravity is not None:
            robot = robot.with_gravity(*plain(gravity))
        for table in TABLES:
            for name, setting in self._settings(table, robot).items():
                robot = self._changed(table, robot, name, setting)
        return robot

    def error(self, place: Key, message: object) -> RobotError:
        """An error at a key of the file, to be raised; it names the table, the message names the key."""
        table = [key if re.fullmatch(r"[\w-]+", key, re.ASCII) else f'"{key}"' for key in place[:2]]
        label = f"[{'.'.join(table)}]: " if place and place[0] in _TABLES else ""
        return RobotError(f"{label}{message}", place=self._toml.place(*place))

    # ---- checking

    def _check(self, place: Key, kind: Kind, value: Any) -> None:
        fault = kind.fault(place[-1], value)
        if fault:
            raise self.error(place, fault)

    def _checked(self, table: Table, entries: Any) -> dict[str, dict[str, Any]]:
        """The values of each key of a table, as methods take them."""
        name = table.name
        if not isinstance(entries, dict):
            raise self.error((name,), f"{name} is no table of tables; write [{name}.NAME], one for each")
        for key, values in entries.items():
            if not isinstance(values, dict):
                cure = f"each entry is a table, [{name}.NAME], with keys as {next(iter(table.keys))!r}"
                raise self.error((name, key), f"{key} is no table; {cure}")
            for what, value in values.items():
                place = (name, key, what)
                if what == "law":
                    cure = f"use Python: robot.{table.method}({key!r}, law=...)"
                    raise self.error(place, f"law is a function, and a side file holds no code; {cure}")
                if what not in table.keys:
                    raise self.error(place, unknown_name("key", what, table.keys, f"a table of {name}"))
                self._check(place, table.keys[what], value)
        return {key: {what: plain(value) for what, value in values.items()} for key, values in entries.items()}

    # ---- putting on

    def _settings(self, table: Table, robot: Robot) -> dict[str, _Setting]:
        """What a table says of each thing: patterns resolved, later tables over earlier ones."""
        settings: dict[str, _Setting] = {}
        for key, values in self._tables.get(table.name, {}).items():
            place = (table.name, key)
            try:
                found = table.find(robot, key, values, {name: s.values for name, s in settings.items()})
            except RobotError as error:
                raise self.error((*place, "joint") if "joint" in values else place, str(error)) from None
            single = [what for what in _SINGLE if what in values]
            if single and is_pattern(key) and key not in found:
                cure = "give it in a table without a pattern"
                raise self.error((*place, single[0]), f"{single[0]} is for one thing, and {key!r} a pattern; {cure}")
            for name, implied in found.items():
                setting = settings.setdefault(name, _Setting())
                setting.values |= {**implied, **values}
                setting.places |= {what: (*place, what) for what in values}
                setting.place = place
        return settings

    def _changed(self, table: Table, robot: Robot, name: str, setting: _Setting) -> Robot:
        missing = [key for key in table.required if key not in setting.values]
        if missing:
            example = table.keys[missing[0]].example
            raise self.error(setting.place, f"{missing[0]} is not given for {name!r}; add {missing[0]} = {example}")
        try:
            return table.change(robot, name, setting.values)
        except RobotError as error:
            place = _blamed(setting, str(error))
            cures = toml_cures(table, setting.place[1], str(error))
            raise self.error(place, str(error) + (f"; in this file: {cures}" if cures else "")) from None


def _blamed(setting: _Setting, message: str) -> Key:
    """The place of the key that a message names first, else of one whose value it quotes, else of the table."""
    text = re.sub(r"'[^']*'", "", message)
    # "the lower limit" is about ``limits``
    found = {key: re.search(rf"\b{re.escape(key.rstrip('s'))}s*\b", text) for key in setting.places}
    named = [(match.start(), key) for key, match in found.items() if match]
    if named:
        return setting.places[min(named)[1]]
    quoted = [
        key for key in setting.places if isinstance(setting.values[key], str) and repr(setting.values[key]) in message
    ]
    return setting.places[quoted[0]] if quoted else setting.place
