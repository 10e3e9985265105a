"""The stages of the step around the solver: forces and free motion, limits, and the new state.

`pliant.simulation.step` gives their order. In the program, ``w`` is L v; of contact group k, ``near k`` says whether
the robot has it near the ground, ``rows k`` are its constraints and ``impulse k`` their impulses; of loop k, ``loop k``
are its constraints and ``closure k`` their impulses.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from pliant.actuation.motors import Drive, drives
from pliant.compiler.tracing import Stages
from pliant.contact.joint_rows import beyond_limits, bounds_of, held_bounds, needs_row, violated_limit
from pliant.contact.solver import factor_record, impulses_in_world
from pliant.contact.touching import Group, Touch
from pliant.dynamics.factor import Factor
from pliant.robot import Link
from pliant.robot.transport import carried_velocity, straight_motion
from pliant.scalar import abs, either, equal, maximum, minimum, negation, select
from pliant.simulation.divergence import divergence_code
from pliant.simulation.free_motion import free_motion
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.state import ticked, time_of
from pliant.spatial import Matrix3, MatrixRotation, Transform, Vector

__all__ = [
    "Record", "StepProgram", "any_of", "check_limits", "factor_of", "finish", "move_freely", "parts_of", "poses_of",
    "touches_of", "until_limits_agree",
]  # fmt: skip

Scalar = Any
Scalars = Sequence[Scalar]
Record = dict[str, Any]

# contacts are near if they could meet within the step at twice their speed and this much more [m/s]
_SPARE_SPEED = 5

# rounds to find out which motors and joints are at their limits
_ROUNDS = 4

# joints further beyond their limits than this are brought back [rad or m]
_BEYOND = 1e-9

# velocities that go through a limit by less are left to the next step [rad/s or m/s]
_THROUGH = 1e-7

# a torque this many times larger than it was is taken for saturated if it would be beyond the limit
_NEARLY = 1 + 1e-6

# names that every group of contacts has, and every loop, with its number
_OF_GROUPS = ("near", "rows", "impulse", "last impulse", "push", "slides", "sticks")
_OF_LOOPS = ("loop", "closure", "last closure")


class StepProgram:
    """The program of a step under construction.

    Attributes:
        stages: what has been added so far.
        model: what is simulated; parameters: its numbers that vary.
    """

    def __init__(self, stages: Stages, model: StepModel, parameters: Parameters):
        self.stages = stages
        self.model = model
        self.parameters = parameters
        nv, limits = model.robot.nv, len(model.stop_rows)
        sizes = {"w": nv, "v next": nv, "shift": nv, "saturated": model.robot.nu, "held": limits, "stop push": limits}
        sizes |= dict.fromkeys(("error", "converged", "residual", "sweeps", "scale", "slow"), 1)
        sizes |= dict.fromkeys(("settled", "joints on", "deep"), 1)
        if model.has_rows:
            sizes |= dict.fromkeys(("w start", "last w", "last f"), nv)
        for k, group in enumerate(model.groups):
            contacts = len(group.names)
            sizes |= {f"near {k}": 1, f"impulse {k}": 3 * contacts, f"push {k}": contacts}
        for k, closure in enumerate(model.closures):
            sizes[f"closure {k}"] = closure.size
        for name, size in sizes.items():
            stages.variable(name, size)

    def add(self, function: Callable[..., Mapping[str, Any]], k: int | None = None) -> None:
        """Add a stage, which reads what its parameters name and returns what it writes, by name.

        The first parameter is the model, with the numbers of the robot at hand. ``v_next`` stands for "v next". What
        each contact group and each loop has, such as ``near``, is a list of all; with ``k`` it is that of number k.
        A parameter with a default takes it where there is no such variable or record.
        """
        wanted = {}
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
            names = self._names(name.replace("_", " "), k)
            is_there = isinstance(names, list) or names in self.stages
            if is_there or parameter.default is inspect.Parameter.empty:
                wanted[name] = names
        reads = [one for names in wanted.values() for one in (names if isinstance(names, list) else [names])]

        def stage(p: Scalars, *values: Any) -> dict[str, Any]:
            left = iter(values)
            given = {
                name: [next(left) for _ in names] if isinstance(names, list) else next(left)
                for name, names in wanted.items()
            }
            written: dict[str, Any] = {}
            for name, value in function(self.parameters.applied(p), **given).items():
                names = self._names(name, k)
                written |= dict(zip(names, value, strict=True)) if isinstance(names, list) else {names: value}
            return written

        self.stages.add(stage, ("parameters", *reads))

    def _names(self, name: str, k: int | None) -> str | list[str]:
        """The names of the program for one of a stage."""
        counts = dict.fromkeys(_OF_GROUPS, len(self.model.groups)) | dict.fromkeys(_OF_LOOPS, len(self.model.closures))
        if name not in counts:
            return name
        return [f"{name} {i}" for i in range(counts[name])] if k is None else f"{name} {k}"

    def only_if(self, flag: str) -> AbstractContextManager[None]:
        """Stages that only robots with a flag take."""
        return self.stages.loop(1, when=flag)

    def variable(self, name: str, size: int) -> None:
        """Declare a variable."""
        self.stages.variable(name, size)


# ---- limits of motors and joints


@contextmanager
def until_limits_agree(step: StepProgram) -> Iterator[None]:
    """Rounds until every motor and joint that is at a limit is known, which they are at once as a rule.

    The first round takes for saturated, or held by a limit, what was so in the last step. Constraints of joints join
    in only where one would go through its limit.
    """
    if not _has_limits(step.model):
        yield
        return

    def expected(m: StepModel, q, v, u, clock, torques, stops, stop_landings):
        given = drives(m.robot, q, v, u, time_of(clock, m.dt))
        landings = stop_landings if len(stop_landings) else [0] * len(m.joint_rows)
        bounds = [bounds_of(m.robot, row, q, v, x, m.dt) for row, x in zip(m.joint_rows, landings, strict=True)]
        needed = [needs_row(row, b, v[row.dof]) for row, b in zip(m.joint_rows, bounds, strict=True)]
        needed += [negation(equal(p, 0)) for p in stops]
        needed += [abs(beyond_limits(m.robot, row, q)) > _BEYOND for row in m.stop_rows]
        return {
            "bounds": bounds,
            "saturated": [d.saturation(torque * _NEARLY) for d, torque in zip(given, torques, strict=True)],
            "held": [select(p > 0, 1, select(p < 0, -1, 0)) for p in stops],
            "joints on": [any_of(needed)],
        }

    step.add(expected)
    with step.stages.loop(_ROUNDS, until="settled"):
        yield


def check_limits(step: StepProgram) -> None:
    """v = L^-1 w; another round if a motor or joint is beyond a limit that was not seen."""

    def checked(m: StepModel, motion, w, joints_on, saturated, held, stops, scale, bounds=()):
        v = factor_of(m, motion).velocity(w)
        if not _has_limits(m):
            return {"v next": v, "settled": [1], "joints on": [0], "saturated": saturated, "held": held}
        rates = [link.rate(v)[0] for link in _motor_links(m)]
        now = [_saturation(d, rate) for d, rate in zip(motion["drives"], rates, strict=True)]
        wrong = [negation(equal(a, b)) for a, b in zip(now, saturated, strict=True)]
        holding = []
        for row, b, side, p in zip(m.stop_rows, _of_limits(m, bounds), held, stops, strict=True):
            # a limit that would pull lets go; one that is gone through takes hold
            kept = select(side * p > 0, side, 0)
            holding.append(select(equal(side, 0), violated_limit(b, v[row.dof], _THROUGH * scale[0]), kept))
        wrong += [negation(equal(a, b)) for a, b in zip(holding, held, strict=True)]
        again = any_of(wrong)
        joints_on = [select(again, 1, joints_on[0])]
        return {"v next": v, "settled": [negation(again)], "joints on": joints_on, "saturated": now, "held": holding}

    step.add(checked)


def _has_limits(m: StepModel) -> bool:
    return bool(m.joint_rows) or m.has_saturable_motors


def _of_limits(m: StepModel, bounds: Sequence[Record]) -> Sequence[Record]:
    """The bounds at the limits of joints, which come last."""
    return bounds[len(m.steady_rows) :] if m.stop_rows else []


def _motor_links(m: StepModel) -> list[Link]:
    """The link of each motor's joint."""
    links = {link.name: link for link in m.robot.mechanism.joint_links}
    return [links[motor.joint] for motor in m.robot.motors.values()]


def _drive_record(drive: Drive, dt: Scalar) -> Record:
    """A motor's line in the joint's velocity at the end of the step, as it acts and as it would without a limit."""
    return {
        "torque": drive.line.torque,
        "gain": drive.line.gain(dt),
        "wanted": drive.wanted.torque,
        "wanted gain": drive.wanted.gain(dt),
        "lower": drive.lower,
        "upper": drive.upper,
        "is limited": drive.is_limited,
    }


def _saturation(drive: Record, rate: Scalar) -> Scalar:
    """1 or -1 if the torque at the end of the step is beyond the motor's upper or lower limit, else 0."""
    if not drive["is limited"]:
        return 0
    torque = drive["wanted"] - drive["wanted gain"] * rate
    return select(torque > drive["upper"], 1, select(torque < drive["lower"], -1, 0))


# ---- free motion


def move_freely(step: StepProgram) -> None:
    """Forces, the factor of A, w; gaps of all contacts, and which of them are near."""

    def moved(m: StepModel, q, v, u, clock, impulses, closings, saturated, held, bounds=()):
        holds = [
            (row.dof, select(equal(side, 0), 0, 1), held_bounds(b, side)["low"])
            for row, side, b in zip(m.stop_rows, held, _of_limits(m, bounds), strict=True)
        ]
        limited = saturated if m.has_saturable_motors else None
        motion = free_motion(m, q, v, u, time_of(clock, m.dt), limited, holds)
        touches = [group.touches(motion.poses, motion.origin, m.ground) for group in m.groups]
        near = [_is_near(m, group, found, v) for group, found in zip(m.groups, touches, strict=True)]
        before = parts_of(impulses, [3 * len(g.names) for g in m.groups])
        fastest = 0
        for x in v:
            fastest = maximum(fastest, abs(x))
        return {
            "motion": {
                "factor": factor_record(motion.factor),
                "start": motion.start,
                "poses": {i: [*motion.poses[i].R.matrix(), *motion.poses[i].p] for i in _links_of_rows(m)},
                "origin": list(motion.origin),
                "touches": [[[t.gap, *t.normal, *t.p] for t in found] for found in touches],
                "drives": [_drive_record(d, m.dt) for d in motion.joints.drives],
            },
            "w": motion.w,
            "sweeps": [0],
            "scale": [1 + fastest / 10],
            "near": [[x] for x in near],
            "impulse": [[select(on, x, 0) for x in part] for on, part in zip(near, before, strict=True)],
            "closure": parts_of(closings, [c.size for c in m.closures]),
        }

    step.add(moved)


def _links_of_rows(m: StepModel) -> list[int]:
    """Links whose poses constraints are made of."""
    ends = {i for g in (*m.groups, *m.closures) for i in (g.a, g.b) if i >= 0}
    return sorted({j for i in ends for j in (i, *m.robot.mechanism.ancestors(i))})


def _is_near(m: StepModel, group: Group, touches: Sequence[Touch], v: Scalars) -> Scalar:
    """Whether a contact of the group could meet what it touches within the step."""
    speed = sum((lever * abs(v[d]) for d, lever in group.levers.items()), 0)
    lowest = touches[0].gap
    for touch in touches[1:]:
        lowest = minimum(lowest, touch.gap)
    return lowest < m.dt * (2 * speed + _SPARE_SPEED)


# ---- the new state


def finish(step: StepProgram) -> None:
    """The new state; a robot that diverges keeps the old one."""

    def finished(
        m: StepModel, q, v, u, v_next, shift, clock, divergence, motion, residual, sweeps, converged, near, rows,
        impulse, closure, bounds=(),
    ):  # fmt: skip
        cause = divergence_code(m, u, v_next, divergence[0])
        moves = equal(cause, 0)
        rate = [a + b for a, b in zip(v_next, shift, strict=True)] if m.has_corrections else v_next
        q_next = straight_motion(m.robot, q, rate, m.dt)
        v_next = carried_velocity(m.robot, v_next, m.dt, rate)
        worlds, landings, deepest = [], [], 0
        for k, (is_near, own, p) in enumerate(zip(near, rows, impulse, strict=True)):
            inside = negation(equal(is_near[0], 0))
            worlds += [select(inside, x, 0) for x in impulses_in_world(own, p)]
            landings += [select(inside, c.get("landing", 0), 0) for c in own["contacts"]]
            for touch in touches_of(motion, k):
                deepest = maximum(deepest, -touch.gap)
        solver = [residual[0], sweeps[0], deepest, select(equal(converged[0], 0), 1, 0)]
        return {
            "q": [select(moves, a, b) for a, b in zip(q_next, q, strict=True)],
            "v": [select(moves, a, b) for a, b in zip(v_next, v, strict=True)],
            "clock": ticked(clock, 1, moves),
            "divergence": [cause],
            "impulses": worlds,
            "landings": landings if m.is_elastic else [],
            "stop landings": [b.get("landing", 0) for b in bounds] if m.has_elastic_stops else [],
            "closings": [x for part in closure for x in part],
            # of joints with one dof, whose velocity is the same in all axes
            "torques": [
                d["torque"] - d["gain"] * link.rate(v_next)[0]
                for d, link in zip(motion["drives"], _motor_links(m), strict=True)
            ],
            "solver": solver if m.has_rows else [0, 0, deepest, 0],
        }

    step.add(finished)


# ---- values that travel between stages


def poses_of(motion: Record) -> Any:
    """Poses of the links that constraints are made of."""
    return {
        i: Transform(MatrixRotation(Matrix3(tuple(entries[:9]))), Vector(*entries[9:]))
        for i, entries in motion["poses"].items()
    }


def factor_of(m: StepModel, motion: Record) -> Factor:
    """The factor of A."""
    above = [support[1:] for support in m.robot.mechanism.support]
    return Factor(motion["factor"]["L"], motion["factor"]["D_inverse"], above)


def touches_of(motion: Record, k: int) -> list[Touch]:
    """Where the contacts of group k are."""
    return [Touch(t[0], Vector(*t[1:4]), Vector(*t[4:])) for t in motion["touches"][k]]


def parts_of(values: Scalars, sizes: Sequence[int]) -> list[list[Scalar]]:
    """Values cut into parts of these sizes."""
    parts, at = [], 0
    for size in sizes:
        parts.append(list(values[at : at + size]))
        at += size
    return parts


def any_of(conditions: Sequence[Scalar]) -> Scalar:
    """Whether one of the conditions holds."""
    result: Scalar = False
    for c in conditions:
        if c is not False:
            result = c if result is False else either(result, c)
    return 0 if result is False else result
