"""Side files: the parts of a robot that URDF has no words for, as TOML beside it.

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
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PureWindowsPath
from typing import Any

from pliant.catalogue.library import robots
from pliant.catalogue.side_tables import BASE, GRAVITY, PATH, TABLES, Kind, Table, is_pattern, plain
from pliant.errors import Call, Fault, RobotError, bad_value, unknown_name
from pliant.files.toml import Key, TomlFile
from pliant.files.xml import ROBOT_SUFFIXES
from pliant.robot import Robot

_SETTINGS: dict[str, Kind] = {"robot": PATH, "base": BASE, "gravity": GRAVITY}
_TABLES = {table.name: table for table in TABLES}
_BY_METHOD = {table.method: table for table in TABLES}
_SUFFIXES = ROBOT_SUFFIXES
# keys that name one thing, so a pattern cannot have them
_SINGLE = ("name", "joint")
# fields of errors that a side file calls by another name
_KEYS = {"lower limit": "limits", "upper limit": "limits", "is_locked": "locked"}


@dataclass
class _Setting:
    """The values that tables give one thing, the place of each, and that of the last table that names the thing."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Key] = field(default_factory=dict)
    place: Key = ()


class SideFile:
    """A side file that has been read and checked, except for the names of a robot's parts.

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
                raise self.error((key,), unknown_name("key or table", key, [*_SETTINGS, *_TABLES], "a side file"))
        base = self._document.get("base")
        if base not in (None, "fixed", "free"):
            raise self.error(("base",), bad_value("base", base, "'fixed' or 'free'"))
        self.options: dict[str, Any] = {} if base is None else {"base": base}

    @cached_property
    def robot(self) -> str | Path:
        """The name of the robot or the path of the robot file that this one goes with."""
        given = self._document.get("robot")
        if given is None:
            cure = f"add robot = {PATH.example}, or load both: pliant.load('leg.urdf', side={self.path.name!r})"
            raise self.error((), Fault("the file does not name its robot", str(self.path), "robot", cure))
        if given in robots():
            return given
        if "/" not in given and "\\" not in given and not Path(given).suffix:
            fault = unknown_name("robot", given, robots())
            cure = f'{fault.cure} (for a file, give its suffix: robot = "{given}.urdf")'
            raise self.error(("robot",), replace(fault, cure=cure))
        folder = self.path.parent.resolve()
        try:
            fault = self._path_fault(folder, given)
        except (OSError, RuntimeError, ValueError) as error:  # names too long, links in a circle, null characters
            fault = Fault(f"robot is {given!r}, which cannot be a path: {error}", str(self.path), "robot")
        if fault is not None:
            raise self.error(("robot",), fault)
        return self.path.parent / given

    def _path_fault(self, folder: Path, given: str) -> Fault | None:
        """What keeps a path from being that of a robot file in the folder, or below."""
        found = (folder / given).resolve()
        is_absolute = Path(given).is_absolute() or PureWindowsPath(given).anchor != ""
        if is_absolute or "://" in given or not found.is_relative_to(folder):
            cure = f"put it there, or load both: pliant.load(path, side={self.path.name!r})"
            return Fault(f"robot is {given!r}, which is not in the folder of this file", str(self.path), "robot", cure)
        if found.suffix.lower() not in _SUFFIXES:
            return bad_value("robot", given, f"a robot file, which ends in {' or '.join(_SUFFIXES)}")
        if not found.is_file():
            beside = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in _SUFFIXES)
            return replace(unknown_name("file", given, beside, f"the folder {self.path.parent}"), field="robot")
        return None

    def loaded(self, load: Callable[..., Robot], source: str | Path | None, options: dict[str, Any]) -> Robot:
        """The robot that it names, or ``source`` in its place, with its changes; options win over those of the file."""
        source = self.robot if source is None else source
        try:
            robot = load(source, **{**self.options, **options})
        except RobotError as error:
            if not self.options.keys() - options.keys():
                raise
            load(source, **options)  # if this fails too, the base in the file is not to blame
            raise self.error(("base",), replace(error.fault, field="base")) from None
        return self.put_on(robot)

    def put_on(self, robot: Robot) -> Robot:
        """A copy of a robot with the changes of the file."""
        gravity = self._document.get("gravity")
        if gravity is not None:
            robot = robot.with_gravity(*plain(gravity))
        for table in TABLES:
            for name, setting in self._settings(table, robot).items():
                robot = self._changed(table, robot, name, setting)
        return robot

    def error(self, key: Key, fault: Fault) -> RobotError:
        """The error of a fault at a key of the file, or at its table, to be raised."""
        error = RobotError(fault).at(*self._toml.place(*key))
        return error.within(_label(*key[:2])) if key and key[0] in _TABLES else error

    # ---- checking

    def _check(self, place: Key, kind: Kind, value: Any) -> None:
        fault = kind.fault(place[-1], value)
        if fault:
            raise self.error(place, fault)

    def _checked(self, table: Table, entries: Any) -> dict[str, dict[str, Any]]:
        """The values of each key of a table, as methods take them."""
        name = table.name
        if not isinstance(entries, dict):
            cure = f"write [{name}.NAME], one for each"
            raise self.error((name,), Fault(f"{name} is not a table of tables", name, name, cure))
        for key, values in entries.items():
            if not isinstance(values, dict):
                cure = f"each entry is a table, [{name}.NAME], with keys as {next(iter(table.keys))!r}"
                raise self.error((name, key), Fault(f"{key} is not a table", key, key, cure))
            for what, value in values.items():
                place = (name, key, what)
                if what == "law":
                    call = Call(table.method, key, {"law": "..."})
                    problem = "law is a function, and a side file holds no code"
                    raise self.error(place, Fault(problem, key, "law", "use Python: {call}", call))
                if what not in table.keys:
                    raise self.error(place, unknown_name("key", what, table.keys, f"a table of {name}"))
                self._check(place, table.keys[what], value)
        return {key: {what: plain(value) for what, value in values.items()} for key, values in entries.items()}

    # ---- putting on

    def _settings(self, table: Table, robot: Robot) -> dict[str, _Setting]:
        """The values that a table gives each thing: patterns resolved, later tables over earlier ones."""
        settings: dict[str, _Setting] = {}
        for key, values in self._tables.get(table.name, {}).items():
            place = (table.name, key)
            try:
                found = table.find(robot, key, values, {name: s.values for name, s in settings.items()})
            except RobotError as error:
                raise self.error((*place, error.field) if error.field in values else place, error.fault) from None
            single = [what for what in _SINGLE if what in values]
            if single and is_pattern(key) and key not in found:
                problem, cure = f"{single[0]} is for one thing, and {key!r} a pattern", "use a table without a pattern"
                raise self.error((*place, single[0]), Fault(problem, key, single[0], cure))
            for name, implied in found.items():
                setting = settings.setdefault(name, _Setting())
                setting.values |= {**implied, **values}
                setting.places |= {what: (*place, what) for what in values}
                setting.place = place
        return settings

    def _changed(self, table: Table, robot: Robot, name: str, setting: _Setting) -> Robot:
        key = table.required
        if key and key not in setting.values:
            cure = f"add {key} = {table.keys[key].example}"
            raise self.error(setting.place, Fault(f"{key} is not given for {name!r}", name, key, cure))
        try:
            return table.changed(robot, name, setting.values)
        except RobotError as error:
            fault = replace(error.fault, field=_KEYS.get(error.field, error.field))
            cures = _toml_cures(table, setting, fault)
            if cures:
                fault = replace(fault, cure=f"{fault.cure}; in this file: {cures}".removeprefix("; "))
            # at the key that the error is about; else at one that the cure changes, else at the table
            keys = [fault.field, *(fault.call.options if fault.call else ())]
            place = next((setting.places[key] for key in keys if key in setting.places), setting.place)
            raise self.error(place, fault) from None


# ---- cures in TOML


def _toml_cures(table: Table, setting: _Setting, fault: Fault) -> str:
    """The cure of a fault as lines of a side file: its call, and the key that is missing from the table."""
    found: dict[str, str] = {}
    call = fault.call
    if call is not None and call.method in _BY_METHOD:
        other = _BY_METHOD[call.method]
        name = setting.place[1] if other is table else call.name
        values = {key: value for key, value in call.options.items() if key in other.keys}
        found[other.name] = _line(other, name, values) if values else ""
    if fault.field in table.keys and fault.field not in setting.values and table.name not in found:
        found[table.name] = _line(table, setting.place[1], {fault.field: "..."})
    return " or ".join(line for line in found.values() if line)


def _line(table: Table, name: str, values: dict[str, Any]) -> str:
    shown = (f"{key} = {table.keys[key].example if x == '...' else _toml(x)}" for key, x in values.items())
    return f"{_label(table.name, name)} {', '.join(shown)}"


def _label(*names: str) -> str:
    """The header of a table, as TOML writes it."""
    return f"[{'.'.join(n if re.fullmatch(r'[A-Za-z0-9_-]+', n) else f'{chr(34)}{n}{chr(34)}' for n in names)}]"


def _toml(value: Any) -> str:
    """A value of Python as TOML writes it."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else repr(value)
