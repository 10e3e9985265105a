"""Symbols for the motion of a robot: coordinates, velocities, accelerations, controls."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pliant.checks import check_known
from pliant.errors import PliantError, bad_value
from pliant.robot import Robot
from pliant.signatures import explained


class _Late:
    """SymPy, which is an extra and slow to import, from its first use on."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("sympy"), name)


if TYPE_CHECKING:
    import sympy as sympy
else:
    sympy = _Late()

# functions that formulas call
_FUNCTIONS = {
    "Jlog", "abs", "acos", "asin", "atan", "atan2", "cos", "diag", "exp", "floor", "log", "max", "min", "play", "push",
    "sign", "sin", "sqrt", "tan",
}  # fmt: skip

_NAMES = "'joints', or a name for each joint: {'knee': 'x1'}"


@explained
@dataclass(frozen=True)
class Coordinates:
    """The symbols of motion of a robot.

    Attributes:
        q, v, vd, u: configuration, velocity, acceleration, controls.
        t: time, of which laws of motors may be functions.
        meaning: the owner of each entry of q, v and u, as the robot names it.
        rates: for each velocity that is the rate of a coordinate: that coordinate.
    """

    q: tuple[Any, ...]
    v: tuple[Any, ...]
    vd: tuple[Any, ...]
    u: tuple[Any, ...]
    t: Any
    meaning: dict[Any, str]
    rates: dict[Any, Any]

    @property
    def motion(self) -> tuple[Any, ...]:
        """All that changes with time."""
        return (*self.q, *self.v, *self.vd, *self.u, self.t)


def check_sympy() -> None:
    """Raise if SymPy, an extra, is not installed."""
    try:
        import sympy  # noqa: F401
    except ImportError:
        raise PliantError("formulas need SymPy, which is not installed: pip install 'pliant[symbolic]'") from None


def coordinates_of(robot: Robot, names: Mapping[str, str] | str | None = None) -> Coordinates:
    """Symbols q1 to qn, v1 to vn, vd1 to vdn, and u_MOTOR; without a number if there is just one.

    Args:
        names: names for the coordinates of some joints, ``{"knee": "x1"}``, or "joints" for q_JOINT.
    """
    chosen = _chosen(robot, names)
    q, v, vd = [], [], []
    rates: dict[Any, Any] = {}
    for joint in robot.joints.values():
        if joint.mimic is not None:
            continue
        kind, name = joint.kind, chosen.get(joint.name)
        own = [_symbol("q", name, label, len(q) + k, robot.nq) for k, label in enumerate(kind.q_labels)]
        rate = [_symbol("v", name, label, len(v) + k, robot.nv) for k, label in enumerate(kind.v_labels)]
        vd += [_symbol("vd", name, label, len(v) + k, robot.nv) for k, label in enumerate(kind.v_labels)]
        q, v = q + own, v + rate
        if kind.nq == 1:
            rates[rate[0]] = own[0]
    motors = list(robot.motors)
    u = [_real("u" if len(motors) == 1 else f"u_{identifier(name)}") for name in motors]
    meaning = dict(zip((*q, *v, *u), (*robot.coordinate_names, *robot.velocity_names, *motors), strict=True))
    made = Coordinates(tuple(q), tuple(v), tuple(vd), tuple(u), _real("t"), meaning, rates)
    _check_distinct(made, robot)
    return made


def _chosen(robot: Robot, names: Mapping[str, str] | str | None) -> dict[str, str]:
    own = [j.name for j in robot.joints.values() if j.mimic is None and j.kind.nq]
    if names is None:
        return {}
    if names == "joints":
        return {joint: f"q_{identifier(joint)}" for joint in own}
    if not isinstance(names, Mapping):
        raise PliantError(bad_value("names", names, _NAMES))
    for joint, name in names.items():
        check_known("joint with coordinates", joint, own, robot.joints.owner)
        check_name(f"the coordinate of joint {joint!r}", name)
    return dict(names)


def check_name(subject: str, name: object) -> None:
    """Raise if a symbol cannot have this name: no word of letters, digits and _, or the name of a function."""
    problem, cure = f"{subject} cannot be named {name!r}", "use letters, digits and _, a letter first"
    if name in _FUNCTIONS:
        problem, cure = f"{problem}, which is a function in formulas", "take another name"
    elif isinstance(name, str) and name.isidentifier():
        return
    raise PliantError(problem, subject=subject, field="name", cure=cure)


def _symbol(letter: str, name: str | None, label: str, index: int, count: int) -> Any:
    if name is None:
        return _real(letter if count == 1 else f"{letter}{index + 1}")
    name = f"{name}_{label}" if label else name
    if letter == "q":
        return _real(name)
    return _real(f"{letter}{name[1:]}" if name.startswith("q_") else f"{letter}_{name}")


def _real(name: str) -> Any:
    return sympy.Symbol(name, real=True)


def identifier(name: str) -> str:
    """A name that programs can use: letters, digits and underscores."""
    return re.sub(r"\W+", "_", name).strip("_") or "_"


def _check_distinct(coordinates: Coordinates, robot: Robot) -> None:
    seen: set[str] = set()
    for symbol in coordinates.motion[:-1]:
        if symbol.name in seen:
            problem = f"{symbol.name!r} would stand for two things in the equations of {robot.name!r}"
            cure = "give other names, as in names={'knee': 'x1'}"
            raise PliantError(problem, subject=f"symbol {symbol.name!r}", field="names", cure=cure)
        seen.add(symbol.name)


def check_parameters(robot: Robot, coordinates: Coordinates) -> list[Any]:
    """The robot's own symbols in order of name; a name that also is motion, or two symbols, is an error."""
    found: dict[str, Any] = {}
    motion = {s.name for s in coordinates.motion}
    for symbol in robot_symbols(robot):
        if symbol.name in _FUNCTIONS:
            check_name(f"a parameter of {robot.name!r}", symbol.name)
        if symbol.name in motion:
            other = "the name of a coordinate, velocity, control or of time"
            problem = f"{symbol.name!r} is a parameter of {robot.name!r} and also {other}"
            cure = "rename the parameter, or the coordinates with names={'knee': 'x1'}"
            raise PliantError(problem, subject=f"symbol {symbol.name!r}", field="names", cure=cure)
        if found.setdefault(symbol.name, symbol) != symbol:
            problem = f"two different symbols of {robot.name!r} are named {symbol.name!r}, with other assumptions"
            cure = "make it once and use it everywhere"
            raise PliantError(problem, subject=f"symbol {symbol.name!r}", field="names", cure=cure)
    return [found[name] for name in sorted(found)]


def robot_symbols(robot: Robot) -> set[Any]:
    """The symbols among the numbers of a robot."""
    inertias = [body.inertia for body in robot.bodies.values()]
    parts = [robot.joints.values(), robot.frames.values(), robot.motors.values(), robot.springs.values()]
    return set(_symbols([inertias, *map(list, parts), robot.gravity]))


def _symbols(part: Any) -> Iterator[Any]:
    if hasattr(part, "free_symbols"):
        yield from part.free_symbols
    else:
        for inner in part if isinstance(part, list | tuple) else parts_of(part).values():
            yield from _symbols(inner)


def parts_of(part: Any) -> dict[str, Any]:
    """The values that a part of a robot is made of, by name."""
    if is_dataclass(part):
        return {f.name: getattr(part, f.name) for f in fields(part) if f.init}
    return {slot: getattr(part, slot) for slot in getattr(type(part), "__slots__", ()) if hasattr(part, slot)}
