"""Numbers that differ from robot to robot: inputs of the kernels in place of constants.

A parameter is named by its path:

| path | what | numbers |
|---|---|---|
| "gravity" | [m/s^2] | 3 |
| "friction", "restitution" | of the contact model | 1 |
| "law.stiffness", ... | an attribute of the compliant law | 1 |
| "bodies.NAME.mass" | [kg]; the inertia scales with it | 1 |
| "bodies.NAME.com" | centre of mass [m]; the inertia about it stays | 3 |
| "bodies.NAME.inertia" | about the centre of mass, (xx, xy, xz, yy, yz, zz) [kg m^2] | 6 |
| "joints.NAME.damping", "armature", "friction", "stiffness", "hardening" | see `Joint` | 1 a dof |
| "joints.NAME.backlash", "rest", "restitution" | | 1 |
| "motors.NAME.kp", ... | any number of `Motor` | 1 |
| "springs.NAME.stiffness", ... | any number of `FrameSpring` | 1 |
| "sensors.NAME.dropout", "misalignment", "threshold" | see `pliant.robot.sensors.Sensor` | 1 |
| "sensors.NAME.CHANNEL.noise", ... | any number of the errors of a channel | 1 an entry |

A star stands for all names, one column each: "motors.*.kp"; bodies without mass are left out.
"""

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.checks import check_known, is_zero
from pliant.errors import PliantError, SimulationError, unknown_name
from pliant.robot import Robot
from pliant.robot.sensors import PER_ENTRY, Sensor
from pliant.scalar import Graph, Scalars, is_constant
from pliant.simulation.model import StepModel
from pliant.simulation.state import spans
from pliant.spatial import Inertia, Symmetric3, Vector

_TREES = ("bodies", "joints", "motors", "springs")
_JOINT_NUMBERS = ("damping", "armature", "friction", "stiffness", "hardening", "backlash", "rest", "restitution")
_CONTACT_NUMBERS = ("friction", "restitution")
_BODY_NUMBERS = ("mass", "com", "inertia")
SENSOR_NUMBERS = ("dropout", "misalignment", "threshold")

# from, to, and whether the first is allowed; a number that is not listed can be anything
_NUMBERS = dict.fromkeys(
    ("friction", "damping", "armature", "stiffness", "hardening", "backlash", "kp", "kd", "viscous_friction",
     "dry_friction", "rotor_inertia", "effort_limit", "velocity_limit", "length", "bristle_damping", "current_limit",
     "cogging", "noise", "bias", "drift", "scale", "range", "resolution", "misalignment", "threshold"),
    (0, np.inf, True),
) | {"restitution": (0, 1, True), "mass": (0, np.inf, False), "no_load_speed": (0, np.inf, False),
     "dropout": (0, 1, True), "drift_time": (0, np.inf, False)}  # fmt: skip

# numbers of motors that bring other physics with them: they vary where the robot has them, and stay above zero
_MOTOR_PARTS = (
    "command_delay", "command_period", "static_friction", "stribeck_speed", "bristle_stiffness", "torque_constant",
    "resistance", "inductance", "supply_voltage", "thermal_resistance", "thermal_capacity", "ripple", "ripple_periods",
)  # fmt: skip
_NUMBERS |= dict.fromkeys(_MOTOR_PARTS, (0, np.inf, False)) | {"command_delay": (0, np.inf, True)}
_NUMBERS |= {"ripple": (0, 1, True)}

# as files are read: principal moments that miss the triangle inequality by so much are slips of rounding
_TOLERANCE = 1e-6


def _error(path: str, problem: str, cure: str) -> SimulationError:
    subject = f"parameter {path!r}"
    return SimulationError(f"{subject} {problem}", subject=subject, field=path.rpartition(".")[2], cure=cure)


class Parameters:
    """The varying numbers of a model, in order; ``groups`` has those of each path."""

    def __init__(self, model: StepModel, paths: Sequence[str] = ()):
        self.model = model
        found = [(path, entries_of(model, path)) for path in _checked(paths)]
        self.groups: dict[str, list[Entry]] = dict(found)
        taken = [entry.path for _, group in found for entry in group]
        for path in taken:
            if taken.count(path) > 1:
                problem = f"the parameter {path!r} is named twice in {list(paths)}"
                raise SimulationError(problem, subject=path, field="varying", cure="name it once")

    def fault_of(self, path: str, values: np.ndarray) -> tuple[str, str] | None:
        """Why the values of a path, (..., n), cannot be, and the cure; or None."""
        tree, _, what = path.rpartition(".")
        if what == "command_delay" and tree.startswith("motors."):
            longest = np.array([x for entry in self.groups[path] for x in entry.default])
            if (values.reshape(-1, len(longest)) > longest).any():
                return f"has the value {values.max():g}", "it must be at most the delay of the robot"
        if tree != "law":
            return _fault_of_inertia(values) if what == "inertia" else _fault_of_range(what, values)
        try:
            for value in (values.min(), values.max()):
                replace(self.model.contact.law, **{what: float(value)})
        except PliantError as error:
            return f"does not fit: {error.fault.problem}", error.cure
        return None

    @property
    def size(self) -> int:
        """How many numbers a robot has."""
        return sum(self.sizes.values())

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers of each path."""
        return {path: sum(len(e.default) for e in group) for path, group in self.groups.items()}

    @property
    def defaults(self) -> np.ndarray:
        """The numbers of the model itself."""
        return np.array([x for group in self.groups.values() for e in group for x in e.default], dtype=float)

    @cached_property
    def structure(self) -> StepModel:
        """The model with unknowns in place of what varies: a number that is zero by default need not stay so."""
        graph = Graph()
        return self.applied([graph.input(f"parameter {k}") for k in range(self.size)])

    def applied(self, values: Scalars) -> StepModel:
        """The model with these numbers."""
        model, at = self.model, 0
        for group in self.groups.values():
            for entry in group:
                size = len(entry.default)
                model = entry.put(model, list(values[at : at + size]))
                at += size
        return replace(model, base=self.model) if self.groups else model


class ParameterArrays(MutableMapping[str, np.ndarray]):
    """Values of the parameters by path: (n,) or (batch, n), with n dropped where it is 1.

    Setting takes one value for all robots or one for each, and raises on values that cannot be. Nothing is compiled
    again. Values written into the array of a path, ``parameters["friction"][2] = 0.5``, are not checked.
    """

    def __init__(self, parameters: Parameters, batch: int | None, dtype: Any):
        self._parameters = parameters
        self._spans = spans(parameters.sizes)
        lead = () if batch is None else (batch,)
        self.data = np.array(np.broadcast_to(parameters.defaults, (*lead, parameters.size)), dtype=dtype, order="C")

    def __getitem__(self, path: str) -> np.ndarray:
        if path not in self._spans:
            unknown = unknown_name("varying parameter", path, self._spans, "the simulation")
            cure = f"{unknown.cure}; declare it with Simulation(..., varying=[...])"
            raise SimulationError(replace(unknown, cure=cure))
        part = self.data[..., self._spans[path]]
        return part[..., 0] if part.shape[-1] == 1 else part

    def __setitem__(self, path: str, value: Any) -> None:
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise _error(path, f"is {value!r}", "it takes numbers") from None
        target = self[path]
        if not np.isfinite(array).all():
            raise _error(path, "has values that are not finite", "it takes finite numbers")
        try:
            array = np.broadcast_to(array, target.shape)
        except ValueError:
            cure = f"it takes {target.shape}, or what broadcasts to it"
            raise _error(path, f"has values of shape {array.shape}", cure) from None
        fault = self._parameters.fault_of(path, array) if array.size else None
        if fault:
            raise _error(path, *fault)
        target[...] = array

    def __delitem__(self, path: str) -> None:
        raise _error(path, "cannot be removed from a simulation", "leave it out of varying=[...]")

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)

    def __repr__(self) -> str:
        return f"parameters: {', '.join(f'{path} {self[path].shape}' for path in self) or 'none varies'}"


def _checked(paths: Any) -> list[str]:
    if isinstance(paths, str):
        cure = f"give a list of paths, as in [{paths!r}]"
        raise SimulationError(f"varying is the text {paths!r}", field="varying", cure=cure)
    found = list(paths) if isinstance(paths, Iterable) else [paths]
    for path in found:
        if not isinstance(path, str):
            cure = "it takes a list of paths, as in ['gravity', 'motors.*.kp']"
            raise SimulationError(f"varying has {path!r}", field="varying", cure=cure)
    return found


# ---- paths: which numbers of a model they name, and how to put in others


@dataclass(frozen=True)
class Entry:
    """One number, or a few, of the model: how to read it and how to put in others."""

    path: str
    default: tuple[float, ...]
    put: Callable[[StepModel, Scalars], StepModel]


def entries_of(model: StepModel, path: str) -> list[Entry]:
    """The numbers that a path names; a star names those of all bodies, joints, motors or springs that have them."""
    parts = path.split(".")
    if parts == ["gravity"]:
        put = lambda m, x: replace(m, robot=replace(m.robot, gravity=Vector(*x)))  # noqa: E731
        return [Entry(path, _numbers(path, tuple(model.robot.gravity)), put)]
    if path in _CONTACT_NUMBERS and hasattr(model.contact, path):
        put = lambda m, x: replace(m, contact=replace(m.contact, **{path: x[0]}))  # noqa: E731
        return [Entry(path, _numbers(path, (getattr(model.contact, path),)), put)]
    if path in (f.name for f in fields(model.contact)):
        kind = type(model.contact).__name__
        problem = f"{path!r} cannot vary: it is the same for all robots of a simulation"
        raise SimulationError(problem, subject=path, field="varying", cure=f"give it to {kind}({path}=...)")
    if len(parts) == 2 and parts[0] == "law" and hasattr(model.contact, "law"):
        return [_law_entry(model, path, parts[1])]
    if parts[0] == "sensors" and len(parts) in (3, 4):
        return _sensor_entries(model.robot, path, *parts[1:])
    # names of bodies and joints may have dots themselves
    tree, what = parts[0], parts[-1]
    if tree not in _TREES or len(parts) < 3:
        valid = [
            "gravity",
            "friction",
            "restitution",
            "law.NAME",
            *(f"{t}.NAME.WHAT" for t in _TREES),
            "sensors.NAME.CHANNEL.WHAT",
        ]
        cure = f"valid: {', '.join(valid)}"
        raise SimulationError(f"no parameter has the path {path!r}", subject=path, field="varying", cure=cure)
    name = ".".join(parts[1:-1])
    named = getattr(model.robot, tree)
    if name == "*":
        can_vary = lambda item: _can_vary(tree, item, what)  # noqa: E731
        found = [_tree_entry(model.robot, path, tree, n, what) for n in named if can_vary(named[n])]
        if not found and tree == "motors" and what in _MOTOR_PARTS:
            raise _error(path, "is 0 in all motors of this robot", "give them a value above 0 to vary")
        return found
    if _is_massless(tree, named[name]):
        problem = f"{path!r} cannot vary: body {name!r} has no mass"
        raise SimulationError(problem, subject=path, field="varying", cure="give it one first")
    return [_tree_entry(model.robot, path, tree, named[name].name, what)]


def _can_vary(tree: str, item: Any, what: str) -> bool:
    """Whether a star stands for a thing, too."""
    if tree == "motors" and what in _MOTOR_PARTS:
        return not is_zero(getattr(item, what))
    return not _is_massless(tree, item) and (tree != "joints" or item.kind.nv > 0)


def _is_massless(tree: str, item: Any) -> bool:
    return tree == "bodies" and is_zero(item.inertia.mass)


def _law_entry(model: StepModel, path: str, what: str) -> Entry:
    law = model.contact.law
    names = [f.name for f in fields(law)] if hasattr(law, "__dataclass_fields__") else []
    check_known("attribute", what, names, f"the contact law {law!r}", error=SimulationError)

    def put(m: StepModel, x: Scalars) -> StepModel:
        return replace(m, contact=replace(m.contact, law=replace(m.contact.law, **{what: x[0]})))

    value = getattr(law, what)
    if value is None:
        raise _error(path, f"is None in {law!r}, so it has no default", "give the law a number")
    return Entry(path, _numbers(path, (value,)), put)


def _tree_entry(robot: Robot, path: str, tree: str, name: str, what: str) -> Entry:
    item = getattr(robot, tree)[name]
    own = path.replace("*", name)
    kind = "body" if tree == "bodies" else tree[:-1]
    valid = {"bodies": _BODY_NUMBERS, "joints": _JOINT_NUMBERS}.get(tree)
    if valid is None:
        valid = [f.name for f in fields(item) if _is_number(getattr(item, f.name))]
    check_known("number", what, valid, f"{kind} {name!r}", error=SimulationError)
    if tree == "bodies":
        parts = {"mass": (item.inertia.mass,), "com": item.inertia.com(), "inertia": item.inertia.about_com()}
        return Entry(own, _numbers(own, tuple(parts[what])), lambda m, x: _with_body(m, name, what, x))
    value = getattr(item, what)
    several = isinstance(value, tuple)
    if tree == "motors" and what in _MOTOR_PARTS and is_zero(value):
        raise _error(own, "is 0 in this robot, which has no such part", "give the robot a value above 0 to vary")

    def put(m: StepModel, x: Scalars) -> StepModel:
        collection = getattr(m.robot, tree)
        changed = replace(collection[name], **{what: tuple(x) if several else x[0]})
        return replace(m, robot=replace(m.robot, **{tree: collection.replaced(changed)}))

    return Entry(own, _numbers(own, value if several else (value,)), put)


def _sensor_entries(robot: Robot, path: str, name: str, *rest: str) -> list[Entry]:
    """Numbers of a sensor, or of the errors of one of its channels; a star stands for all sensors that have them."""
    if name == "*":
        matching = [s.name for s in robot.sensors.values() if len(rest) == 1 or rest[0] in s.channels]
        return [e for n in matching for e in _sensor_entries(robot, path.replace("*", n, 1), n, *rest)]
    sensor, what = robot.sensors[name], rest[-1]
    if len(rest) == 1:
        check_known("number", what, SENSOR_NUMBERS, sensor.subject, error=SimulationError)

        def put(m: StepModel, x: Scalars) -> StepModel:
            return _with_sensor(m, replace(m.robot.sensors[name], **{what: x[0]}))

        return [Entry(path, _numbers(path, (getattr(sensor, what),)), put)]
    channel = rest[0]
    check_known("channel", channel, sensor.channels, sensor.subject, error=SimulationError)
    check_known("number", what, (*PER_ENTRY, "drift_time"), f"{channel} of {sensor.subject}", error=SimulationError)
    error = sensor.error(channel)
    several = what != "drift_time"
    empty = (1 if what == "gain" else 0,) * sensor.error_size(channel)
    values = (getattr(error, what) or empty) if several else (error.drift_time,)

    def put_error(m: StepModel, x: Scalars) -> StepModel:
        own = m.robot.sensors[name]
        changed = replace(own.error(channel), **{what: tuple(x) if several else x[0]})
        others = tuple(e for e in own.errors if e.channel != channel)
        return _with_sensor(m, replace(own, errors=(*others, changed)))

    return [Entry(path, _numbers(path, values), put_error)]


def _with_sensor(model: StepModel, sensor: Sensor) -> StepModel:
    return replace(model, robot=replace(model.robot, sensors=model.robot.sensors.replaced(sensor)))


def _is_number(x: Any) -> bool:
    return not isinstance(x, str | bool | tuple) and x is not None and not callable(x)


def _with_body(model: StepModel, name: str, what: str, x: Scalars) -> StepModel:
    body = model.robot.bodies[name]
    old = body.inertia
    mass, com, tensor = old.mass, old.com(), old.about_com()
    if what == "mass":
        tensor = Symmetric3(*(entry * (x[0] / mass) for entry in tensor))
        mass = x[0]
    elif what == "com":
        com = Vector(*x)
    else:
        tensor = Symmetric3(*x)
    bodies = model.robot.bodies.replaced(replace(body, inertia=Inertia.from_com(mass, com, tensor)))
    return replace(model, robot=replace(model.robot, bodies=bodies))


def _numbers(path: str, values: Scalars) -> tuple[float, ...]:
    if not all(is_constant(x) for x in values):
        raise _error(path, "is not a number in this robot, so it has no default", "give the robot a number")
    bad = [x for x in values if not np.isfinite(x)]
    if bad:
        raise _error(path, f"is {bad[0]}", "give the robot a finite value to vary")
    return tuple(float(x) for x in values)


# ---- ranges: values that the robot's own edits and contact models take


def _fault_of_range(what: str, values: np.ndarray) -> tuple[str, str] | None:
    low, high, is_closed = _NUMBERS.get(what, (-np.inf, np.inf, True))
    wrong = (values < low) | (values > high) if is_closed else (values <= low) | (values > high)
    if not wrong.any():
        return None
    least = f"{low} or more" if is_closed else f"above {low}"
    most = f" and at most {high:g}" if high < np.inf else ""
    return f"has the value {values[wrong].flat[0]:g}", f"it must be {least}{most}"


def _fault_of_inertia(values: np.ndarray) -> tuple[str, str] | None:
    """Principal moments are not negative and obey the triangle inequality: tr(I) / 2 1 - I has no negative ones."""
    xx, xy, xz, yy, yz, zz = np.moveaxis(values.reshape(-1, 6), -1, 0)
    tensors = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(-1, 3, 3)
    half: Any = (xx + yy + zz) / 2
    second = np.linalg.eigvalsh(half[:, None, None] * np.eye(3) - tensors)
    wrong = second[:, 0] < -_TOLERANCE * abs(second).max(axis=1)
    if not wrong.any():
        return None
    shown = ", ".join(f"{m:.4g}" for m in np.linalg.eigvalsh(tensors[wrong][0]))
    cure = "they must be 0 or more, none above the sum of the others"
    return f"has the principal moments ({shown}) kg m^2", cure
