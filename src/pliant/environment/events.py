"""Events: what happens to robots at the start of training, at the start of each episode, and at intervals.

An event is a function ``function(now, chance, **parameters)`` that returns what it changes: "q", "v", and paths of
numbers that vary. It is compiled with the step.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pliant.chance import Chance
from pliant.checks import check, check_known, check_one_of, function_name, is_real
from pliant.environment.distributions import Distribution, Exponential, Uniform, as_distribution
from pliant.environment.now import Now
from pliant.environment.terms import plain
from pliant.errors import SimulationError
from pliant.robot import Free
from pliant.scalar import Scalar, cos, maximum, minimum, sin
from pliant.scalar.pickling import kept
from pliant.signatures import explained
from pliant.spatial import Vector

MODES = ("startup", "reset", "interval")


@explained
class Event:
    """Something that happens to robots.

        Event(events.start_state, joints=0.1, velocity=0.2)
        Event(events.randomise, path="friction", to=(0.5, 1.1))
        Event(events.push, "interval", every=3.0, linear=0.3)

    Attributes:
        mode: "startup" (at ``env.reset()``), "reset" (at the start of each episode), or "interval".
        every: times between events [s], for the mode "interval": a distribution, a range, or a number, which is the
            mean of an exponential one.
    """

    def __init__(self, function: Callable[..., Any], mode: str = "reset", *, every: Any = None, **parameters: Any):
        self.function, self.mode, self.parameters = function, mode, parameters
        check("event", function, "a function (now, chance) -> changes", callable(function))
        subject = f"event {function_name(function)!r}"
        check_one_of("mode", mode, MODES, subject=subject, error=SimulationError)
        is_right = (every is None) == (mode != "interval")
        check("every", every, "times for the mode 'interval', and None for others", is_right, subject=subject)
        self.every: Distribution | None = None
        if every is not None:
            times = Exponential(float(every)) if is_real(every) else every
            self.every = as_distribution("every", times, subject=subject)
        try:
            inspect.signature(function).bind("now", "chance", **parameters)
        except TypeError as wrong:
            shown = ", ".join(["now", "chance", *parameters])
            raise SimulationError(
                f"{subject} is called with ({shown}): {wrong}", subject=subject, field="event"
            ) from None

    def __getstate__(self) -> dict[str, Any]:
        subject = f"event {function_name(self.function)!r}"
        return self.__dict__ | {"function": kept(self.function, None, subject, "function")}

    def __call__(self, label: str, now: Now, chance: Chance) -> Mapping[str, Any]:
        """What it changes."""
        found, subject = self.function(now, chance, **self.parameters), f"event {label!r}"
        if not isinstance(found, Mapping):
            problem = f"{subject} returned {found!r}"
            raise SimulationError(problem, subject=subject, field="event", cure="return a dict, as in {'v': v}")
        sizes = {"q": now.robot.nq, "v": now.robot.nv} | {path: len(x) for path, x in now.parameters.items()}
        for name, values in found.items():
            check_known("change", name, sizes, subject, error=SimulationError)
            check(f"{name} of {subject}", len(values), f"{sizes[name]} numbers", len(values) == sizes[name])
        return found

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        own = {"function": function_name(self.function), "mode": self.mode, "every": plain(self.every)}
        return own | {key: plain(value) for key, value in self.parameters.items()}

    def __repr__(self) -> str:
        shown = [function_name(self.function), repr(self.mode), *(f"{k}={v!r}" for k, v in self.parameters.items())]
        return f"Event({', '.join(shown)})"


# ---- the library


def start_state(
    now: Now, chance: Chance, joints: Any = 0.1, velocity: Any = 0.2, heading: Any = 0.0, place: Any = (0.0, 0.0),
    height: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """The stance, with chance: joints, velocities, heading and place of the base.

    Args:
        joints: how far joints are off the stance at most [rad or m], one for all motors or one for each.
        velocity: how fast they are at most [rad/s or m/s], likewise for each direction of motion, the base's too.
        heading: how far the base is turned at most [rad].
        place: how far the base is from the origin at most, along x and y [m]; or a function ``place(now, chance)`` ->
            (x, y), as for a patch of terrain at ``now.level``.
        height: above the ground [m].
    """
    robot = now.robot
    q, v = list(now.q), list(now.v)
    motors = list(dict.fromkeys(motor.joint for motor in robot.motors.values()))
    for name, most in zip(motors, _each("joints", joints, len(motors)), strict=True):
        at, limits = robot.q_slice(name).start, robot.joints[name].limits
        x = q[at] + chance.uniform(-most, most)
        low, high = float(limits.lower[0]), float(limits.upper[0])
        q[at] = maximum(low, minimum(x, high)) if low <= high else x
    for d, most in enumerate(_each("velocity", velocity, robot.nv)):
        v[d] = v[d] + chance.uniform(-most, most)
    free = next((j for j in robot.joints.values() if isinstance(j.kind, Free) and j.parent == "world"), None)
    if free is not None:
        at = robot.q_slice(free.name).start
        q[at : at + 7] = _placed(now, chance, q[at : at + 7], heading, place)
        q[at + 2] = q[at + 2] + height
    return {"q": q, "v": v}


def _placed(now: Now, chance: Chance, pose: Sequence[Scalar], heading: Any, place: Any) -> list[Scalar]:
    """A pose of the base (x, y, z, quaternion) that is turned, moved, and lifted onto the ground there."""
    turned = as_distribution("heading", heading if hasattr(heading, "draw") else (-heading, heading))
    if callable(place):
        dx, dy = cast("tuple[Scalar, Scalar]", place(now, chance))
    else:
        along = [
            as_distribution("place", r if isinstance(r, tuple | list) or hasattr(r, "draw") else (-r, r)) for r in place
        ]
        if all(isinstance(d, Uniform) and d.low == d.high == 0 for d in (*along, turned)):
            return list(pose)
        dx, dy = (d.draw(chance) for d in along)
    angle = turned.draw(chance)
    c, s = cos(angle / 2), sin(angle / 2)
    qx, qy, qz, qw = pose[3:]
    turn = [c * qx - s * qy, c * qy + s * qx, c * qz + s * qw, c * qw - s * qz]
    x, y = pose[0] + dx, pose[1] + dy
    return [x, y, pose[2] + _rise(now, x, y, cos(angle), sin(angle)), *turn]


def _rise(now: Now, x: Scalar, y: Scalar, c: Scalar, s: Scalar) -> Scalar:
    """The highest ground below the base and the contacts of the stance, turned and moved."""
    ground = now.ground
    if ground is None or ground.is_flat:
        return 0
    rise = ground.height(x, y)
    for p in stance_footprint(now):
        rise = maximum(rise, ground.height(x + c * p[0] - s * p[1], y + s * p[0] + c * p[1]))
    return rise


def stance_footprint(now: Now) -> list[tuple[float, float]]:
    """Where contacts are seen from the base in the stance, along x and y [m]."""
    from pliant.dynamics.kinematics import link_poses

    robot = now.robot
    poses = link_poses(robot.mechanism, list(now.stance), about_root=True)
    found = []
    for point in robot.contact_points:
        i, X_LB = robot.mechanism.body(point.body)
        if i >= 0:
            p: Vector = poses[i].transform_point(X_LB.transform_point(point.center))
            found.append((float(p.x), float(p.y)))
    return found


def randomise(
    now: Now, chance: Chance, path: str, to: Any, operation: str = "set", shared: bool = False
) -> dict[str, Any]:
    """Draw numbers that vary from robot to robot.

    Args:
        path: of ``varying`` of the simulation, such as "friction" or "bodies.trunk.mass".
        to: a distribution, or a range (low, high).
        operation: "set", or "add" and "scale", which refer to the number of the robot as it is without variation.
        shared: whether all numbers of the path get the same draw.
    """
    check_one_of("operation", operation, ("set", "add", "scale"), subject="randomise", error=SimulationError)
    check_known("varying parameter", path, now.parameters, "the simulation", error=SimulationError)
    values, drawn = [], as_distribution("to", to, subject="randomise")
    common = drawn.draw(chance) if shared else None
    for default in now.defaults[path]:
        x = drawn.draw(chance) if common is None else common
        values.append(x if operation == "set" else default + x if operation == "add" else default * x)
    return {path: values}


def push(now: Now, chance: Chance, linear: float = 0.3, angular: float = 0.3) -> dict[str, Any]:
    """Change the velocity of the base at once, by at most this along and about each axis [m/s, rad/s]."""
    v = list(now.v)
    link = now.robot.mechanism.links[now.base]
    for k, d in enumerate(link.dofs):
        most = linear if k < 3 else angular
        v[d] = v[d] + chance.uniform(-most, most)
    return {"v": v}


def _each(name: str, value: Any, n: int) -> list[float]:
    found = [float(value)] * n if is_real(value) else [float(x) for x in value]
    check(name, value, f"a number, or {n}", len(found) == n, subject="start_state")
    return found
