"""Options of sensors, as users give them: checked, and made into a `Sensor`. Symbols pass."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from pliant.checks import (
    as_scalar, check, check_at_least, check_finite, check_known, check_name, check_one_of, is_sequence, is_zero,
    per_entry,
)  # fmt: skip
from pliant.errors import RobotError, bad_value
from pliant.robot.sensors import FORMS, PER_ENTRY, Sensor, SensorError
from pliant.scalar import Scalar, is_constant

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

MOST_RAYS = 4096
"""Of one sensor."""

_TURN_ERRORS = ("noise", "bias", "drift", "drift_time")
_TIMES = ("rate", "phase", "delay", "jitter", "interpolate", "dropout")
_OWN: dict[str, tuple[str, ...]] = {
    "imu": ("misalignment",),
    "encoder": ("side", "ticks", "is_differentiated"),
    "torque": ("side",),
    "wrench": ("misalignment",),
    "contact": ("threshold",),
    "pose": (),
    "scan": ("points", "grid", "reach"),
    "range": ("rays", "reach"),
}
OPTIONS: dict[str, tuple[str, ...]] = {
    kind: ("channels", *_TIMES, *own, *(form.name for form in FORMS[kind])) for kind, own in _OWN.items()
}
"""Options of `Robot.with_sensor` for each kind: those of all, its own, and one for the errors of each channel."""

_SIDES = {"encoder": ("link", "motor"), "torque": ("motor", "spring")}
_MANY = {"encoder": "joint", "torque": "joint", "contact": "contact"}


def with_sensor(robot: "Robot", kind: Any, at: Any, name: Any, options: Mapping[str, Any]) -> "Robot":
    """A copy of a robot with one more sensor; arguments as in `Robot.with_sensor`."""
    made = _made(robot, kind, at, name, options)
    if made.name in robot.sensors:
        problem = f"robot {robot.name!r} has a sensor named {made.name!r} already"
        cure = (
            f"remove it first, robot.without_sensors({made.name!r}), change it, "
            f"robot.with_sensors({made.name!r}, ...), or take another name"
        )
        raise RobotError(problem, subject=made.subject, field="name", cure=cure)
    return replace(robot, sensors=robot.sensors.extended(made))


def with_sensors(robot: "Robot", names: Any, options: Mapping[str, Any]) -> "Robot":
    """A copy of a robot of which some sensors have other options; arguments as in `Robot.with_sensors`."""
    sensors = robot.sensors
    for name in sensors.chosen(names):
        sensors = sensors.replaced(_changed(robot, sensors[name], options))
    return replace(robot, sensors=sensors)


def check_sensor(sensor: Sensor, robot: "Robot") -> None:
    """Raise unless a sensor from an untrusted file fits the robot."""
    check_one_of("kind", sensor.kind, list(FORMS), subject=sensor.subject, error=RobotError)
    for error in sensor.errors:
        check_known("channel", error.channel, sensor.channels, sensor.subject, error=RobotError)
    _made(robot, sensor.kind, _at(sensor), sensor.name, _options_of(sensor))


def _made(robot: "Robot", kind: Any, at: Any, name: Any, options: Mapping[str, Any]) -> Sensor:
    """A sensor that fits the robot."""
    check_one_of("kind", kind, list(FORMS), subject="a sensor", error=RobotError)
    places = _places(robot, kind, at)
    name = (kind if kind in _MANY else f"{places[0]}_{kind}") if name is None else name
    check_name("name", name, subject="a sensor")
    subject = f"sensor {name!r}"
    check("name", name, "a name without dots", "." not in name, subject="a sensor", error=RobotError)
    for option in options:
        check_known("option", option, OPTIONS[kind], f"sensors of kind {kind!r}", error=RobotError)
    made = Sensor(
        name, kind, places, _channels(kind, options.get("channels"), subject),
        **_timing(subject, options), **_own(robot, kind, places, subject, options),
    )  # fmt: skip
    if made.interpolate and any(made.form(channel).errors != "all" for channel in made.channels):
        problem = f"{subject} interpolates, and orientations, flags and times cannot be interpolated"
        raise RobotError(
            problem, subject=subject, field="interpolate", cure="choose other channels=[...], or hold samples"
        )
    return replace(made, errors=_errors(robot, made, options))


def _changed(robot: "Robot", sensor: Sensor, options: Mapping[str, Any]) -> Sensor:
    """A sensor with other options, checked as a new one."""
    kept = _options_of(sensor)
    if "channels" in options:
        # errors go with their channels
        channels = _channels(sensor.kind, options["channels"], sensor.subject)
        kept = {what: x for what, x in kept.items() if what not in sensor.channels or what in channels}
    changes = dict(options)
    for channel in sensor.channels:
        if isinstance(changes.get(channel), Mapping):
            changes[channel] = {**kept.get(channel, {}), **changes[channel]}
    has_other_rays = any(what in options for what in ("points", "grid", "rays"))
    if has_other_rays:
        # one error for all rays is one for all of the others, too
        kept = {what: _for_all(x) if what in sensor.channels else x for what, x in kept.items() if what != "points"}
    made = _made(robot, sensor.kind, _at(sensor), sensor.name, {**kept, **changes})
    has_resolution = "ticks" in options or "resolution" in (options.get("position") or {})
    if made.side != sensor.side and made.error("position").resolution and not has_resolution:
        # that of a disc which turned with the other side
        problem = f"{sensor.subject} goes to side {made.side!r} with the resolution of side {sensor.side!r}"
        cure = "give ticks=... or position={'resolution': ...}, too"
        raise RobotError(problem, subject=sensor.subject, field="side", cure=cure)
    # directions that are normalised once more may round otherwise
    return made if has_other_rays else replace(made, rays=sensor.rays)


def _for_all(errors: Mapping[str, Any]) -> dict[str, Any]:
    """Errors of a channel, as one number those that are the same for each entry."""
    return {what: x[0] if isinstance(x, tuple) and len(set(x)) == 1 else x for what, x in errors.items()}


def _at(sensor: Sensor) -> Any:
    """Where it is, as users say it."""
    return sensor.at if sensor.kind in _MANY else sensor.at[0]


def _options_of(sensor: Sensor) -> dict[str, Any]:
    """The options that make a sensor."""
    options = {what: getattr(sensor, what) for what in ("channels", *_TIMES)}
    options |= {what: getattr(sensor, what) for what in _OWN[sensor.kind] if hasattr(sensor, what)}
    if sensor.kind == "scan":
        options["points"] = [ray[:2] for ray in sensor.rays]
    for error in sensor.errors:
        own = {f.name: getattr(error, f.name) for f in fields(error) if f.name != "channel"}
        options[error.channel] = {what: x for what, x in own.items() if x not in ((), None)}
    return options


def _places(robot: "Robot", kind: str, at: Any) -> tuple[str, ...]:
    """The names of frame, joints or contacts."""
    what = _MANY.get(kind)
    if what is None:
        check("at", at, "the name of a frame, body or joint", isinstance(at, str), subject=f"a sensor ({kind})",
              error=RobotError)  # fmt: skip
        robot.frame(at)
        return (at,)
    if at is None:
        found = _default_places(robot, what)
    else:
        is_several = isinstance(at, Iterable) and not isinstance(at, str | Mapping)
        found: tuple[Any, ...] = tuple(at) if is_several else (at,)
    subject = f"a sensor ({kind})"
    check("at", at, f"the names of {what}s", bool(found), subject=subject, error=RobotError)
    valid = robot.joints if what == "joint" else {**dict.fromkeys(robot.contacts), **dict.fromkeys(robot.bodies)}
    for k, name in enumerate(found):
        check_known(what, name, valid, f"robot {robot.name!r}", error=RobotError)
        check("at", at, "each name once", name not in found[:k], subject=subject, error=RobotError)
        if what == "joint" and robot.joints[name].kind.nv != 1:
            problem = f"joint {name!r} has {robot.joints[name].kind.nv} degrees of freedom"
            cure = f"a sensor of kind {kind!r} takes joints with one"
            raise RobotError(problem, subject=f"joint {name!r}", field="at", cure=cure)
        if kind == "torque" and name not in {motor.joint for motor in robot.motors.values()}:
            problem = f"joint {name!r} has no motor, whose torque could be measured"
            raise RobotError(problem, subject=f"joint {name!r}", field="at", cure="use a sensor of kind 'wrench'")
    return found


def _default_places(robot: "Robot", what: str) -> tuple[str, ...]:
    """The joints of all motors; or all contacts, or the bodies that carry no other if contacts are not declared."""
    if what == "joint":
        return tuple(dict.fromkeys(motor.joint for motor in robot.motors.values()))
    carrying = {joint.parent for joint in robot.joints.values()}
    return tuple(robot.contacts) or tuple(body for body in robot.bodies if body not in carrying)


def _channels(kind: str, given: Any, subject: str) -> tuple[str, ...]:
    """The channels that a sensor has, in the order of its kind."""
    forms = FORMS[kind]
    if given is None:
        return tuple(form.name for form in forms if form.is_default)
    names = (given,) if isinstance(given, str) else given
    is_several = isinstance(names, Iterable) and not isinstance(names, Mapping)
    found = list(names) if is_several else []
    check("channels", given, "one or more names of channels", bool(found), subject=subject, error=RobotError)
    for name in found:
        check_known("channel", name, [form.name for form in forms], f"sensors of kind {kind!r}", error=RobotError)
    return tuple(form.name for form in forms if form.name in found)


def _timing(subject: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Rate, phase, delay and the like."""
    found: dict[str, Any] = {}
    rate = as_scalar(options.get("rate"))
    if rate is not None:
        check_at_least("rate", rate, 0, strict=True, subject=subject, error=RobotError)
    found["rate"] = rate
    for what in ("phase", "jitter"):
        found[what] = as_scalar(options.get(what, 0))
        check_at_least(what, found[what], 0, subject=subject, error=RobotError)
    delay = options.get("delay", 0)
    pair = tuple(map(as_scalar, delay)) if is_sequence(delay) else (as_scalar(delay),) * 2
    check("delay", delay, "a time in seconds, or the shortest and the longest", len(pair) == 2, subject=subject,
          error=RobotError)  # fmt: skip
    for x in pair:
        check_at_least("delay", x, 0, subject=subject, error=RobotError)
    is_ordered = not all(map(is_constant, pair)) or pair[0] <= pair[1]
    check("delay", delay, "the shorter time first", is_ordered, subject=subject, error=RobotError)
    found["delay"] = pair
    dropout = as_scalar(options.get("dropout", 0))
    check_at_least("dropout", dropout, 0, subject=subject, error=RobotError)
    takes = "a share from 0 up to, but not including, 1"
    check("dropout", dropout, takes, not is_constant(dropout) or dropout < 1, subject=subject, error=RobotError)
    found["dropout"] = dropout
    interpolate = options.get("interpolate", False)
    check("interpolate", interpolate, "True or False", isinstance(interpolate, bool), subject=subject,
          error=RobotError)  # fmt: skip
    if interpolate and ((pair[0] is not pair[1] and pair[0] != pair[1]) or not is_zero(found["jitter"])):
        problem = f"{subject} interpolates, and its samples do not come at even times"
        raise RobotError(problem, subject=subject, field="interpolate", cure="give one delay, and no jitter")
    found["interpolate"] = interpolate
    if rate is not None and is_constant(rate) and is_constant(found["jitter"]) and found["jitter"] * rate >= 1:
        problem = f"jitter of {subject} is {found['jitter']:g} s"
        cure = f"it must be shorter than the period, {1 / rate:g} s"
        raise RobotError(problem, subject=subject, field="jitter", cure=cure)
    return found


def _own(robot: "Robot", kind: str, places: Sequence[str], subject: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What sensors of a kind have beyond others."""
    found: dict[str, Any] = {"side": _SIDES[kind][0]} if kind in _SIDES else {}
    for what in ("misalignment", "threshold"):
        if what in options:
            found[what] = as_scalar(options[what])
            check_at_least(what, found[what], 0, subject=subject, error=RobotError)
    if "side" in options:
        check_one_of("side", options["side"], _SIDES[kind], subject=subject, error=RobotError)
        found["side"] = options["side"]
        springs = {f.joint for f in robot.flexibilities.values()}
        stiff = [name for name in places if name not in springs]
        if found["side"] == "spring" and stiff:
            problem = f"joint {stiff[0]!r} has no spring"
            cure = "see robot.with_flexibility, or measure the torque of its motor: side='motor'"
            raise RobotError(problem, subject=f"joint {stiff[0]!r}", field="side", cure=cure)
    if "is_differentiated" in options:
        value = options["is_differentiated"]
        check("is_differentiated", value, "True or False", isinstance(value, bool), subject=subject, error=RobotError)
        found["is_differentiated"] = value
    if kind in ("scan", "range"):
        found["rays"] = _rays(kind, options, subject)
        found["reach"] = as_scalar(options.get("reach", 10.0))
        check_at_least("reach", found["reach"], 0, strict=True, subject=subject, error=RobotError)
    return found


def _rays(kind: str, options: Mapping[str, Any], subject: str) -> tuple[tuple[Scalar, ...], ...]:
    """Points of a scan, or directions of a range finder."""
    if kind == "scan" and "grid" in options:
        return _grid(options, subject)
    what = "points" if kind == "scan" else "rays"
    n, takes = (2, "points (x, y) [m]") if kind == "scan" else (3, "directions (x, y, z)")
    if what not in options:
        cure = f"give {what}=[...], {takes}" + (", or grid=(length, width, spacing)" if kind == "scan" else "")
        raise RobotError(f"{subject} has no {what}", subject=subject, field=what, cure=cure)
    given = [tuple(map(as_scalar, ray)) for ray in options[what] if is_sequence(ray)]
    is_right = is_sequence(options[what]) and 0 < len(given) == len(options[what]) <= MOST_RAYS
    is_right = is_right and all(len(ray) == n for ray in given)
    check(what, options[what], f"1 to {MOST_RAYS} {takes}", is_right, subject=subject, error=RobotError)
    for ray in given:
        check_finite(what, *ray, subject=subject)
    if kind == "scan":
        return tuple((x, y, 0) for x, y in given)
    lengths = [math.sqrt(sum(x * x for x in ray)) for ray in given]
    for ray, length in zip(given, lengths, strict=True):
        check(what, ray, "directions that are not zero", length > 0, subject=subject, error=RobotError)
    return tuple(tuple(x / length for x in ray) for ray, length in zip(given, lengths, strict=True))


def _grid(options: Mapping[str, Any], subject: str) -> tuple[tuple[Scalar, ...], ...]:
    """Points of a grid, row by row from the back right to the front left, as length, width and spacing."""
    grid = options["grid"]
    takes = "(length, width, spacing) in metres"
    is_right = is_sequence(grid) and len(grid) == 3 and "points" not in options
    check("grid", grid, takes if "points" not in options else f"{takes}, without points", is_right, subject=subject,
          error=RobotError)  # fmt: skip
    for x in grid:
        check_at_least("grid", x, 0, strict=True, subject=subject, error=RobotError)
    length, width, spacing = map(float, grid)
    counts = [1 + round(size / spacing) for size in (length, width)]
    takes = f"at most {MOST_RAYS} points; these are {counts[0]} x {counts[1]}"
    check("grid", grid, takes, counts[0] * counts[1] <= MOST_RAYS, subject=subject, error=RobotError)
    rows, columns = ([(k - (n - 1) / 2) * spacing for k in range(n)] for n in counts)
    return tuple((x, y, 0) for x in rows for y in columns)


def _errors(robot: "Robot", sensor: Sensor, options: Mapping[str, Any]) -> tuple[SensorError, ...]:
    """The errors of each channel, from tables of them; the ticks of an encoder are a resolution."""
    found = []
    given = {form.name: options[form.name] for form in FORMS[sensor.kind] if options.get(form.name) is not None}
    if "ticks" in options:
        ticks = as_scalar(options["ticks"])
        check_at_least("ticks", ticks, 0, strict=True, subject=sensor.subject, error=RobotError)
        steps = [2 * math.pi / (ticks * _turns(robot, name, sensor.side)) for name in sensor.at]
        given["position"] = {**given.get("position", {}), "resolution": tuple(steps)}
    for channel, values in given.items():
        check_known("channel", channel, sensor.channels, sensor.subject, error=RobotError)
        found.append(_error(sensor, channel, values))
    return tuple(found)


def _turns(robot: "Robot", joint: str, side: str) -> Scalar:
    """Turns of the encoder's disc for one of the joint."""
    if side == "link":
        return 1
    return next((motor.gear for motor in robot.motors.values() if motor.joint == joint), 1)


def _error(sensor: Sensor, channel: str, values: Any) -> SensorError:
    subject = f"{channel} of {sensor.subject}"
    form, n = sensor.form(channel), sensor.error_size(channel)
    if not isinstance(values, Mapping):
        example = f"{channel}={{'noise': 1e-3}}"
        raise RobotError(bad_value(channel, values, f"a table of errors, as in {example}", sensor.subject))
    valid = {"all": (*PER_ENTRY, "drift_time", "law"), "turn": _TURN_ERRORS, "none": ()}[form.errors]
    own: dict[str, Any] = {}
    for what, value in values.items():
        check_known("error", what, valid, subject, error=RobotError)
        if what == "law":
            check(what, value, "a function of one number", callable(value), subject=subject, error=RobotError)
            own[what] = value
        elif what == "drift_time":
            check_at_least(what, value, 0, strict=True, subject=subject, error=RobotError)
            own[what] = as_scalar(value)
        else:
            least = -math.inf if what in ("offset", "gain") else 0
            own[what] = per_entry(what, value, n, subject=subject, least=least)
            if what != "range":
                check_finite(what, *own[what], subject=subject)
    pairs = zip(own.get("range", ()), own.get("resolution", ()), strict=False)
    for limit, step in pairs:
        if is_constant(limit) and is_constant(step) and limit < step:
            problem, cure = f"range of {subject} is {limit:g}", f"it must not be below its resolution, {step:g}"
            raise RobotError(problem, subject=subject, field="range", cure=cure)
    return SensorError(channel, **own)
