"""The tables of a side file: their keys and values, and the methods of `Robot` that they call.

Values are numbers, strings, booleans and lists of them: nothing in a side file runs.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from pliant.errors import Fault, RobotError, unknown_name
from pliant.robot import Robot
from pliant.robot.sensors import FORMS

Values = dict[str, Any]

# up to here whole numbers are exact as floats
_EXACT = 2**53


# ---- values


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes:
        wanted: its description, for messages.
        example: one, as TOML writes it.
        holds: whether a value is of this kind.
    """

    wanted: str
    example: str
    holds: Callable[[Any], bool]

    def like(self, example: str) -> "Kind":
        """The same kind with another example, for a key of another meaning."""
        return replace(self, example=example)

    def fault(self, key: str, value: Any) -> Fault | None:
        """The fault of a value that the key cannot have; None if it can."""
        if self.holds(value):
            return None
        return Fault(f"{key} is {_shown(value)}", key, key, f"give {self.wanted}, as in {key} = {self.example}")


def plain(value: Any) -> Any:
    """A value as the methods of `Robot` take it: tuples for lists, floats for whole numbers that are very large."""
    if isinstance(value, list):
        return tuple(plain(entry) for entry in value)
    return float(value) if _is_number(value) and isinstance(value, int) and abs(value) > _EXACT else value


def _is_number(value: Any) -> bool:
    """Whether it is a finite number; a boolean is not, though Python's is an int."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max


def _is_bound(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, float) and math.isinf(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(of(entry) for entry in value)


def _is_triple(value: Any) -> bool:
    return _is_list(value, _is_number) and len(value) == 3


def _is_ratio(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_text(value[0]) and _is_number(value[1])


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_bound(x) or _is_list(x, _is_bound) for x in value)


NUMBER = Kind("a finite number", "0.1", _is_number)
BOUND = Kind("a number, or inf for none", "40", _is_bound)
FLAG = Kind("true or false", "true", lambda value: isinstance(value, bool))
NAME = Kind("a name in quotes", '"knee"', _is_text)
PATH = Kind("a robot file beside this one or the name of a robot, in quotes", '"leg.urdf"', _is_text)
CONTROL = Kind("a name in quotes", '"position"', _is_text)
NAMES = Kind("a list of names", '["ankle", "heel"]', lambda value: _is_list(value, _is_text))
TRIPLE = Kind("three finite numbers", "[0, 0, 1]", _is_triple)
NUMBERS = Kind("a finite number, or a list of them", "10", lambda v: _is_number(v) or _is_list(v, _is_number))
RATIOS = Kind("a list of joints with their ratios", '[["hip", 1], ["knee", 1]]', lambda v: _is_list(v, _is_ratio))
BASE = NAME.like('"free"')
GRAVITY = TRIPLE.like("[0, 0, -9.81]")
LIMITS = Kind("the lower and the upper limit, inf for none", "[-1.5, 1.5]", _is_pair)
POINTS = Kind("a list of points", "[[0, 0, 0], [0.1, 0, 0]]", lambda value: _is_list(value, _is_triple))
PLACES = Kind("a name, or a list of names", '"trunk"', lambda value: _is_text(value) or _is_list(value, _is_text))
DELAY = Kind("a time in seconds, or the shortest and the longest", "0.005", lambda v: _is_number(v) or _is_times(v))
ROWS = Kind(
    "a list of rows of numbers", "[[0.5, 0], [0, 0.5]]", lambda v: _is_list(v, lambda row: _is_list(row, _is_number))
)
ERRORS = Kind("a table of numbers", "{ noise = 1e-3 }", lambda value: _is_errors(value))


def _is_times(value: Any) -> bool:
    return _is_list(value, _is_number) and len(value) == 2


def _is_errors(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_bound(x) or _is_list(x, _is_bound) for x in value.values())


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > _EXACT:
        return "a very large number"  # Python may refuse to print it
    if isinstance(value, str | int | float):
        text = repr(value)
    elif isinstance(value, list):
        text = "[" + ", ".join(_shown(entry) for entry in value[:7]) + (", ...]" if len(value) > 7 else "]")
    else:
        text = f"{value}, a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


# ---- tables


@dataclass(frozen=True)
class Table:
    """A kind of table, [NAME.key], and the change that it makes to a robot.

    Attributes:
        keys: the kinds of their values.
        method: of `Robot` that it stands for.
        find: the meaning of a key: from the robot, the key, its values and the things that the table has named so far,
            the names of the things to change or add, each with values that follow from that.
        required: the key that has no default, if there is one.
        change: the robot with the values of one of them; by default, the method is called with these.
    """

    name: str
    keys: Mapping[str, Kind]
    method: str
    find: Callable[[Robot, str, Values, Mapping[str, Values]], dict[str, Values]]
    required: str = ""
    change: Callable[[Robot, str, Values], Robot] | None = None

    def changed(self, robot: Robot, name: str, values: Values) -> Robot:
        """The robot with the values of the thing of a name."""
        return self.change(robot, name, values) if self.change else getattr(robot, self.method)(name, **values)


def is_pattern(key: str) -> bool:
    """Whether a key has signs of fnmatch, and so may mean several things."""
    return any(sign in key for sign in "*?[")


def _matching(key: str, what: str, names: Iterable[str]) -> dict[str, Values]:
    """Those names that a pattern matches."""
    names = list(names)
    found = [name for name in names if fnmatchcase(name, key)]
    if not found:
        shown = ", ".join(repr(name) for name in names[:12]) + (", ..." if len(names) > 12 else "")
        problem = f"the pattern {key!r} matches none of the {what}"
        raise RobotError(problem, subject=key, cure=f"they are {shown or 'none'}")
    return {name: {} for name in found}


def _find_new(what: str) -> Callable[..., dict[str, Values]]:
    """Finds a thing that is to be added, whose name is the key."""

    def found(_robot: Robot, key: str, *_: Any) -> dict[str, Values]:
        if is_pattern(key):
            cure = f"give each {what} a table and a name of its own"
            raise RobotError(f"a new {what} cannot be named {key!r}, a pattern", subject=key, cure=cure)
        return {key: {}}

    return found


# ---- frames, joints, backlash, contacts


def _with_frame(robot: Robot, name: str, values: Values) -> Robot:
    try:
        robot.frame(values["body"])
    except RobotError as error:
        raise RobotError(replace(error.fault, field="body")) from None
    return robot.with_frame(name, **values)


def _find_joint(robot: Robot, key: str, *_: Any) -> dict[str, Values]:
    if is_pattern(key) and key not in robot.joints:
        # values that suit hinges are wrong for a floating base
        moving = [j.name for j in robot.joints.values() if j.kind.nv > 0 and j.kind.name != "free"]
        return _matching(key, f"joints of {robot.joints.owner} that move and are not free", moving)
    return {robot.joints[key].name: {}}


def _with_joint(robot: Robot, name: str, values: Values) -> Robot:
    if "limits" in values:
        # those of velocity and effort stay
        lower, upper = values["limits"]
        values = {**values, "limits": replace(robot.joints[name].limits, lower=lower, upper=upper)}
    return robot.with_joint(name, **values)


def _find_backlash(robot: Robot, key: str, *_: Any) -> dict[str, Values]:
    if is_pattern(key) and key not in robot.joints:
        return _matching(key, f"joints of {robot.joints.owner} with a motor", _driven(robot))
    return {robot.joints[key].name: {}}


def _driven(robot: Robot) -> dict[str, Any]:
    """The joints that have a motor."""
    return dict.fromkeys(motor.joint for motor in robot.motors.values())


def _find_contact(robot: Robot, key: str, *_: Any) -> dict[str, Values]:
    if is_pattern(key) and key not in robot.frames and key not in robot.joints:
        # bodies between a spring and a rotor have no shape
        between = {robot.joints[f.name].child for f in robot.flexibilities.values() if f.joint is not None}
        return _matching(key, f"frames of {robot.frames.owner}", (name for name in robot.frames if name not in between))
    robot.frame(key)
    return {key: {}}


# ---- motors


def _find_motor(robot: Robot, key: str, values: Values, named: Mapping[str, Values]) -> dict[str, Values]:
    """The motor of a joint, or the one of that name; a pattern adds none."""
    joint_of = {motor.name: motor.joint for motor in robot.motors.values()}
    joint_of |= {name: given["joint"] for name, given in named.items()}
    if "joint" in values and (not is_pattern(key) or key in robot.motors):
        return {key: {"joint": robot.joints[values["joint"]].name}}
    if key in robot.joints:
        own = [name for name, joint in joint_of.items() if joint == key] or [key]
        if len(own) > 1 and key not in own:
            problem, cure = f"joint {key!r} has the motors {', '.join(map(repr, own))}", "name the motor, as in "
            raise RobotError(problem, subject=f"joint {key!r}", cure=f"{cure}[motors.{own[0]}]")
        return {key if key in own else own[0]: {"joint": key}}
    if key in joint_of:
        return {key: {"joint": joint_of[key]}}
    if not is_pattern(key):
        valid = dict.fromkeys([*robot.joints, *joint_of])
        raise RobotError(unknown_name("joint or motor", key, valid, robot.joints.owner))
    found = {name: {"joint": joint} for name, joint in joint_of.items() if fnmatchcase(joint, key)}
    if found:
        return found
    what = f"motors of {robot.joints.owner} (to add one, give the name of its joint)"
    return {name: {"joint": joint_of[name]} for name in _matching(key, what, joint_of)}


# ---- flexibilities


def _find_flexibility(robot: Robot, key: str, *_: Any) -> dict[str, Values]:
    frames = [name for name in robot.frames if name not in robot.bodies]
    if not is_pattern(key) or key in robot.joints or key in frames:
        return {key: {}}
    # a pattern means one kind of thing, or "*" would cut links, too
    fixed = [joint.name for joint in robot.joints.values() if joint.kind.name == "fixed"]
    kinds = (_driven(robot), fixed, frames)
    names = next((names for names in kinds if any(fnmatchcase(name, key) for name in names)), [])
    what = f"joints with a motor, fixed joints and frames of {robot.joints.owner}"
    return _matching(key, what, names or [name for names in kinds for name in names])


# ---- sensors


def _with_sensor(robot: Robot, name: str, values: Values) -> Robot:
    return robot.with_sensor(name=name, **values)


_SENSOR_KEYS = {
    "kind": NAME.like('"imu"'), "at": PLACES, "channels": PLACES.like('["gyro"]'), "rate": NUMBER.like("500"),
    "phase": NUMBER.like("0.001"), "delay": DELAY, "jitter": NUMBER.like("0.001"), "interpolate": FLAG,
    "dropout": NUMBER.like("0.01"), "misalignment": NUMBER.like("0.01"), "side": NAME.like('"motor"'),
    "ticks": NUMBER.like("4096"), "is_differentiated": FLAG, "threshold": NUMBER.like("5"),
    "points": ROWS, "grid": TRIPLE.like("[1.6, 1.0, 0.1]"), "rays": ROWS.like("[[1, 0, 0], [0, 1, 0]]"),
    "reach": NUMBER.like("10"),
} | {form.name: ERRORS for forms in FORMS.values() for form in forms}  # fmt: skip

TABLES = (
    Table(
        "frames",
        {"body": NAME.like('"shank"'), "position": TRIPLE.like("[0, 0, 0.1]"), "rpy": TRIPLE.like("[0, 0, 1.57]")},
        "with_frame", _find_new("frame"), "body", _with_frame,
    ),
    Table(
        "joints",
        {
            "damping": NUMBERS, "friction": NUMBERS, "armature": NUMBERS.like("1e-4"), "limits": LIMITS,
            "stiffness": NUMBERS, "hardening": NUMBERS, "backlash": NUMBER.like("0.01"), "rest": NUMBER,
            "restitution": NUMBER.like("0.5"), "locked": FLAG,
        },
        "with_joint", _find_joint, change=_with_joint,
    ),
    Table(
        "motors",
        {
            "joint": NAME, "gear": NUMBER.like("9"), "rotor_inertia": NUMBER.like("1e-4"), "effort_limit": BOUND,
            "velocity_limit": BOUND, "control": CONTROL, "kp": NUMBER.like("80"), "kd": NUMBER.like("2"),
            "viscous_friction": NUMBER, "dry_friction": NUMBER, "no_load_speed": BOUND, "gyroscopic": FLAG,
            "rotor_axis": TRIPLE, "command_delay": NUMBER.like("0.004"), "command_period": NUMBER.like("0.01"),
            "static_friction": NUMBER.like("0.2"), "stribeck_speed": NUMBER.like("0.05"),
            "bristle_stiffness": NUMBER.like("1e4"), "bristle_damping": NUMBER.like("10"),
            "torque_constant": NUMBER.like("0.05"), "resistance": NUMBER.like("0.5"),
            "inductance": NUMBER.like("2e-4"), "supply_voltage": BOUND.like("48"), "current_limit": BOUND.like("20"),
            "thermal_resistance": NUMBER.like("2"), "thermal_capacity": NUMBER.like("40"),
            "ambient_temperature": NUMBER.like("25"), "derating_temperature": BOUND.like("80"),
            "temperature_limit": BOUND.like("120"), "ripple": NUMBER.like("0.02"), "cogging": NUMBER.like("0.01"),
            "ripple_periods": NUMBER.like("42"), "coupling": RATIOS,
        },
        "with_motor", _find_motor, change=lambda robot, name, values: robot.with_motor(name=name, **values),
    ),
    Table(
        "flexibilities",
        {
            "stiffness": NUMBERS.like("1e4"), "damping": NUMBERS, "inertia": NUMBERS.like("1e-4"), "hardening": NUMBERS,
            "backlash": NUMBER.like("0.01"), "kind": NAME.like('"revolute"'), "axis": TRIPLE, "name": NAME,
            "share": NUMBER.like("0.5"), "normal": TRIPLE, "beyond": NAMES,
        },
        "with_flexibility", _find_flexibility, "stiffness",
    ),
    Table(
        "backlash",
        {
            "width": NUMBER.like("0.01"), "restitution": NUMBER.like("0.5"), "inertia": NUMBER.like("1e-4"),
            "name": NAME,
        },
        "with_backlash", _find_backlash, "width",
    ),
    Table(
        "contacts",
        {
            "radius": NUMBER.like("0.02"), "box": TRIPLE.like("[0.2, 0.1, 0.05]"), "points": POINTS, "length": NUMBER,
            "rim": NUMBER.like("0.1"), "ellipsoid": TRIPLE.like("[0.2, 0.1, 0.05]"), "friction": NUMBER.like("0.8"),
            "restitution": NUMBER.like("0.5"), "torsion": NUMBER.like("0.01"), "rolling": NUMBER.like("0.001"),
            "name": NAME,
        },
        "with_contact", _find_contact,
    ),
    Table("sensors", _SENSOR_KEYS, "with_sensor", _find_new("sensor"), "kind", _with_sensor),
)  # fmt: skip
"""In the order in which they are put on a robot, whatever their order in the file."""
