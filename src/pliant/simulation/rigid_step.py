"""The stages of the semi-implicit step with rigid contact; `pliant.simulation.step` tells their order."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pliant.compiler.stages import Stages
from pliant.contact.closures import closure_rows, correct_closure, start_closure, sweep_closure
from pliant.contact.joint_rows import joint_row_vectors, row_support, sweep_joint
from pliant.contact.rows import moved
from pliant.contact.solver import (
    bounce_speed, correct, factor_record, group_rows, impulses_in_world, impulses_on_rows, sweep, warm_start,
)  # fmt: skip
from pliant.contact.touching import Touch
from pliant.dynamics.factor import Factor
from pliant.robot import Link, Motor
from pliant.robot.transport import carried_velocity, straight_motion
from pliant.scalar import abs, both, either, equal, maximum, minimum, negation, select
from pliant.simulation.free_motion import free_motion
from pliant.simulation.joint_bounds import beyond_stops, bounds_of, needs_row
from pliant.simulation.model import StepModel
from pliant.simulation.motors import Drive, drives, is_saturable
from pliant.simulation.parameters import Parameters
from pliant.simulation.trouble import trouble_of
from pliant.spatial import Matrix3, MatrixRotation, Transform, Vector

__all__ = ["RigidStep"]

Scalar = Any
Scalars = Sequence[Scalar]
Record = dict[str, Any]

# sweeps over penetrations; they need not be exact, what is left goes in the next step
_CORRECTIONS = 8

# contacts are near if they could meet within the step at twice their speed and this much more [m/s]
_SPARE_SPEED = 5

# sweeps after which directions of sliding are changed by half only, since they may go in a circle
_PATIENCE = 10

# rounds to find out which motors and joints are at their limits
_ROUNDS = 4

# a torque this many times larger than it was is taken for saturated if it would be beyond the limit
_NEARLY = 1 + 1e-6

# loops that are open less than this are closed [m, rad]
_CLOSED = 1e-9


class RigidStep:
    """Adds the stages of a step to a program, each when its method is called.

    In the program, ``w`` is L v, ``impulse k`` the impulses of contact group k along its rows, ``near k``
    whether the robot has that group near the ground.
    """

    def __init__(self, stages: Stages, model: StepModel, parameters: Parameters):
        self.stages = stages
        self.model = model
        self.parameters = parameters
        nv = model.robot.nv
        stages.variable("w", nv)
        stages.variable("v next", nv)
        stages.variable("shift", nv)
        stages.variable("saturated", model.robot.nu)
        for name in ("error", "converged", "residual", "sweeps", "settled", "joints on", "deep"):
            stages.variable(name, 1)
        for k, group in enumerate(model.groups):
            stages.variable(f"near {k}", 1)
            stages.variable(f"impulse {k}", 3 * len(group.names))
            stages.variable(f"push {k}", len(group.names))
        for k, closure in enumerate(model.closures):
            stages.variable(f"closure {k}", closure.size)

    # ---- stages, in the order of the step

    @contextmanager
    def until_limits_agree(self) -> Iterator[None]:
        """Rounds until every motor and joint that is at a limit is known, which they are at once as a rule.

        The first round takes for saturated what was in the last step. Rows of joints join in only where one
        would go through its stop.
        """
        model = self.model
        if not (model.joint_rows or model.has_saturable_motors):
            yield
            return

        def stage(m: StepModel, q, v, u, clock, torques, stops, landings):
            given = drives(m.robot, q, v, u, clock[0] * m.dt)
            saturated = [_saturation(d, torque * _NEARLY) for d, torque in zip(given, torques, strict=True)]
            bounds = [
                bounds_of(m, row, q, v, landings[k] if len(landings) else 0) for k, row in enumerate(m.joint_rows)
            ]
            needed = [needs_row(row, b, v[row.dof]) for row, b in zip(m.joint_rows, bounds, strict=True)]
            needed += [negation(equal(p, 0)) for p in stops]
            return bounds, saturated, [1 if model.always_has_joint_rows else _any(needed)]

        self._add(
            stage,
            ("q", "v", "u", "clock", "torques", "stops", "stop landings"),
            ("bounds", "saturated", "joints on"),
        )
        with self.stages.loop(_ROUNDS, until="settled"):
            yield

    def move_freely(self) -> None:
        """Forces, the factor of A, w; gaps of all contacts, and which of them are near."""

        def stage(m: StepModel, q, v, u, clock, impulses, closings, saturated):
            motion = free_motion(m, q, v, u, clock[0] * m.dt, saturated if m.has_saturable_motors else None)
            touches = [group.touches(motion.poses, motion.origin, m.ground) for group in m.groups]
            near = [_is_near(m, group, found, v) for group, found in zip(m.groups, touches, strict=True)]
            warm = [
                [select(is_near, x, 0) for x in part]
                for is_near, part in zip(near, _split(impulses, [3 * len(g.names) for g in m.groups]), strict=True)
            ]
            closed = _split(closings, [c.size for c in m.closures])
            record = {
                "factor": factor_record(motion.factor),
                "start": motion.start,
                "poses": {i: _entries(motion.poses[i]) for i in self._links_of_rows()},
                "origin": list(motion.origin),
                "touches": [[[t.gap, *t.normal, *t.p] for t in found] for found in touches],
                "drives": [_drive_entries(m, d) for d in motion.joints.drives],
            }
            return (record, motion.w, [0], *([x] for x in near), *warm, *closed)

        self._add(
            stage,
            ("q", "v", "u", "clock", "impulses", "closings", "saturated"),
            ("motion", "w", "sweeps", *self._each("near"), *self._each("impulse"), *self._closure_names()),
        )

    def find_contacts(self) -> None:
        """Rows of each group that is near and of the loops, and the impulses of the last step as a start."""
        for k in range(len(self.model.groups)):

            def stage(m: StepModel, motion, w, impulse, landings, k=k):
                group, touches = m.groups[k], _touches(motion, k)
                factor, mechanism = motion["factor"], m.robot.mechanism
                rows = group_rows(mechanism, group, self._poses(motion), touches, factor, m.dt, m.precision)
                if self.model.is_elastic:
                    known = landings[self._first(k) :]
                    for c, (row, touch) in enumerate(zip(rows, touches, strict=True)):
                        speed, landing = bounce_speed(group, c, row, motion["start"], touch.gap, known[c], m.dt)
                        row |= {"target": row["target"] + speed, "landing": landing}
                start = impulses_on_rows(rows, impulse)
                return rows, warm_start(group, rows, w, start), start

            with self.stages.loop(1, when=f"near {k}"):
                self._add(stage, ("motion", "w", f"impulse {k}", "landings"), (f"rows {k}", "w", f"impulse {k}"))

        for k in range(len(self.model.closures)):

            def close(m: StepModel, motion, w, impulse, k=k):
                group, origin = m.closures[k], Vector(*motion["origin"])
                rows = closure_rows(m.robot.mechanism, group, self._poses(motion), origin, motion["factor"], m.dt)
                return rows, start_closure(group, rows, w, impulse)

            self._add(close, ("motion", "w", f"closure {k}"), (f"loop {k}", "w"))

    def find_joint_rows(self) -> None:
        """Rows of the joints, where they join in, and their impulses of the last step as a start."""
        if not self.model.joint_rows:
            return

        def stage(m: StepModel, motion, w, stops):
            mechanism, found = m.robot.mechanism, []
            for row, p in zip(m.joint_rows, _split(stops, [len(r.kinds) for r in m.joint_rows]), strict=True):
                vectors = joint_row_vectors(mechanism, row, motion["factor"])
                w = moved(w, row_support(mechanism, row), [vectors["DY"]], [sum(p, 0)])
                found.append(vectors)
            return found, w

        with self.stages.loop(1, when="joints on"):
            self._add(stage, ("motion", "w", "stops"), ("joint rows", "w"))

    def sweeps(self) -> Any:
        """Rounds of sweeps until no velocity changes."""
        return self.stages.loop(self.model.contact.sweeps, until="converged")

    def sweep_contacts(self) -> None:
        """Coulomb's law at each contact in turn."""
        for k in range(len(self.model.groups)):

            def stage(m: StepModel, rows, w, impulse, error, sweeps, k=k):
                answer = None if m.is_rigid else m.contact.answer(m.dt)
                relaxation = select(sweeps[0] < _PATIENCE, 1, 0.5)
                w, impulse, worst = sweep(m.groups[k], rows, w, impulse, error[0], answer, relaxation)
                return w, impulse, [worst]

            with self.stages.loop(1, when=f"near {k}"):
                self._add(
                    stage, (f"rows {k}", "w", f"impulse {k}", "error", "sweeps"), ("w", f"impulse {k}", "error")
                )

    def sweep_closures(self) -> None:
        """Loops are kept closed."""
        for k in range(len(self.model.closures)):

            def stage(m: StepModel, rows, w, impulse, error, k=k):
                w, impulse, worst = sweep_closure(m.closures[k], rows, w, impulse, error[0])
                return w, impulse, [worst]

            self._add(stage, (f"loop {k}", "w", f"closure {k}", "error"), ("w", f"closure {k}", "error"))

    def sweep_joints(self) -> None:
        """Stops, dry friction and limits of motors."""
        if not self.model.joint_rows:
            return

        def stage(m: StepModel, vectors, bounds, w, stops, error):
            worst, impulses = error[0], []
            parts = _split(stops, [len(r.kinds) for r in m.joint_rows])
            for row, x, b, p in zip(m.joint_rows, vectors, bounds, parts, strict=True):
                w, p, worst = sweep_joint(row, row_support(m.robot.mechanism, row), x, b, w, p, worst)
                impulses += p
            return w, impulses, [worst]

        with self.stages.loop(1, when="joints on"):
            self._add(stage, ("joint rows", "bounds", "w", "stops", "error"), ("w", "stops", "error"))

    def check_convergence(self) -> None:
        """The round is the last if it changed nothing; a robot whose numbers are no longer finite is done, too."""
        if not self.model.has_rows:
            return
        tolerance = self.model.contact.tolerance_in(self.model.precision)

        def stage(m: StepModel, error, sweeps):
            return [negation(error[0] > tolerance)], [error[0]], [sweeps[0] + 1], [0]

        self._add(stage, ("error", "sweeps"), ("converged", "residual", "sweeps", "error"))

    def check_limits(self) -> None:
        """v = L^-1 w; another round if a motor or joint is beyond a limit that was not seen."""
        model = self.model

        def stage(m: StepModel, motion, w, bounds, is_on, saturated):
            v = self._factor(motion).velocity(w)
            if not (model.joint_rows or model.has_saturable_motors):
                return v, [1], [0], saturated
            missed = [needs_row(row, b, v[row.dof]) for row, b in zip(m.joint_rows, bounds, strict=True)]
            wrong = [both(equal(is_on[0], 0), _any(missed))] if m.joint_rows else []
            rates = [self._link_of(m, motor).rate(v)[0] for motor in m.robot.motors.values()]
            now = [_saturation_now(d, rate) for d, rate in zip(motion["drives"], rates, strict=True)]
            wrong += [negation(equal(a, b)) for a, b in zip(now, saturated, strict=True)]
            return v, [negation(_any(wrong))], [1], now

        bounds = "bounds" if "bounds" in self.stages else "settled"
        self._add(
            stage,
            ("motion", "w", bounds, "joints on", "saturated"),
            ("v next", "settled", "joints on", "saturated"),
        )

    def correct_positions(self) -> None:
        """A displacement beside the velocity that takes back penetrations and closes loops."""
        share = self.model.correction
        groups, closures = self._rigid_groups(), range(len(self.model.closures))
        if not (groups or closures) or share == 0:
            return

        def depth(m: StepModel, motion, *loops):
            deep = [touch.gap < -1e-6 for k in groups for touch in _touches(motion, k)]
            deep += [abs(row["open"]) * m.dt > _CLOSED for rows in loops for row in rows]
            none = [0] * m.robot.nv
            return ([_any(deep)], none, *([0] * len(m.groups[k].names) for k in groups))

        self._add(
            depth, ("motion", *(f"loop {k}" for k in closures)), ("deep", "shift", *(f"push {k}" for k in groups))
        )
        with self.stages.loop(1, when="deep"):
            with self.stages.loop(_CORRECTIONS):
                for k in groups:
                    with self.stages.loop(1, when=f"near {k}"):
                        self._add(
                            lambda m, rows, shift, push, k=k: correct(m.groups[k], rows, shift, push, share),
                            (f"rows {k}", "shift", f"push {k}"),
                            ("shift", f"push {k}"),
                        )
                for k in closures:
                    self._add(
                        lambda m, rows, shift, k=k: correct_closure(m.closures[k], rows, shift, share),
                        (f"loop {k}", "shift"),
                        ("shift",),
                    )
            self._add(lambda m, motion, w: self._factor(motion).velocity(w), ("motion", "shift"), ("shift",))

    def finish(self) -> None:
        """The new state; a robot in trouble keeps the old one."""
        model = self.model
        groups, closures = range(len(model.groups)), range(len(model.closures))

        def stage(m: StepModel, q, v, u, v_next, shift, clock, trouble, motion, residual, sweeps, *parts):
            parts = list(parts)
            bounds = parts.pop(0) if model.joint_rows else []
            near, rows, impulses = (parts[k::3][: len(groups)] for k in range(3))
            closings = [x for part in parts[3 * len(groups) :] for x in part]
            cause = trouble_of(m, u, v_next, trouble[0])
            moves = equal(cause, 0)
            rate = [a + b for a, b in zip(v_next, shift, strict=True)] if model.groups or model.closures else v_next
            for row in m.joint_rows:
                back = beyond_stops(m, row, q) * model.correction / m.dt
                rate = [x + back if d == row.dof else x for d, x in enumerate(rate)]
            q_next = straight_motion(m.robot, q, rate, m.dt)
            v_next = carried_velocity(m.robot, v_next, m.dt)
            worlds, landings, deepest = [], [], 0
            for k in groups:
                inside = negation(equal(near[k][0], 0))
                worlds += [select(inside, x, 0) for x in impulses_in_world(rows[k], impulses[k])]
                landings += [select(inside, row.get("landing", 0), 0) for row in rows[k]]
                for touch in _touches(motion, k):
                    deepest = maximum(deepest, -touch.gap)
            torques = [  # of joints with one dof, whose velocity is the same in all axes
                d["torque"] - d["gain"] * self._link_of(m, motor).rate(v_next)[0]
                for d, motor in zip(motion["drives"], m.robot.motors.values(), strict=True)
            ]
            kept = [
                *((a, b) for a, b in zip(q_next, q, strict=True)),
                *((a, b) for a, b in zip(v_next, v, strict=True)),
            ]
            state = [select(moves, a, b) for a, b in kept]
            nq = m.robot.nq
            return (
                state[:nq],
                state[nq:],
                [select(moves, clock[0] + 1, clock[0])],
                [cause],
                worlds,
                landings if model.is_elastic else [],
                [b.get("landing", 0) for b in bounds] if model.has_elastic_stops else [],
                closings,
                torques,
                [residual[0] if model.has_rows else 0, sweeps[0], deepest],
            )

        reads = ["q", "v", "u", "v next", "shift", "clock", "trouble", "motion", "residual", "sweeps"]
        reads += ["bounds"] if model.joint_rows else []
        for k in groups:
            reads += [f"near {k}", f"rows {k}", f"impulse {k}"]
        reads += [f"closure {k}" for k in closures]
        self._add(
            stage,
            reads,
            ("q", "v", "clock", "trouble", "impulses", "landings", "stop landings", "closings", "torques", "solver"),
        )

    # ---- helpers

    def _add(self, function: Any, reads: Sequence[str], writes: Sequence[str]) -> None:
        """A stage that gets the model, with the parameters of the robot at hand, before what it reads."""

        def stage(p: Scalars, *values: Any) -> Any:
            return function(self.parameters.applied(self.model, p), *values)

        self.stages.add(stage, ("parameters", *reads), writes)

    def _each(self, what: str) -> list[str]:
        return [f"{what} {k}" for k in range(len(self.model.groups))]

    def _closure_names(self) -> list[str]:
        return [f"closure {k}" for k in range(len(self.model.closures))]

    def _rigid_groups(self) -> range:
        return range(len(self.model.groups) if self.model.is_rigid else 0)

    def _first(self, k: int) -> int:
        """How many contacts come before group k."""
        return sum(len(g.names) for g in self.model.groups[:k])

    def _links_of_rows(self) -> list[int]:
        """Links whose poses rows are made of."""
        mechanism = self.model.robot.mechanism
        ends = {i for g in (*self.model.groups, *self.model.closures) for i in (g.a, g.b) if i >= 0}
        return sorted({j for i in ends for j in (i, *mechanism.ancestors(i))})

    def _poses(self, motion: Record) -> Any:
        return {i: _transform(entries) for i, entries in motion["poses"].items()}

    def _link_of(self, m: StepModel, motor: Motor) -> Link:
        return next(link for link in m.robot.mechanism.links if link.name == motor.joint)

    def _factor(self, motion: Record) -> Factor:
        above = [support[1:] for support in self.model.robot.mechanism.support]
        return Factor(motion["factor"]["L"], motion["factor"]["D_inverse"], above)


def _is_near(m: StepModel, group, touches: Sequence[Touch], v: Scalars) -> Scalar:
    """Whether a contact of the group could meet what it touches within the step."""
    speed = sum((lever * abs(v[d]) for d, lever in group.levers.items()), 0)
    lowest = touches[0].gap
    for touch in touches[1:]:
        lowest = minimum(lowest, touch.gap)
    return lowest < m.dt * (2 * speed + _SPARE_SPEED)


def _touches(motion: Record, k: int) -> list[Touch]:
    return [Touch(t[0], Vector(*t[1:4]), Vector(*t[4:])) for t in motion["touches"][k]]


def _drive_entries(m: StepModel, drive: Drive) -> Record:
    """A motor's line in the joint's velocity, as it acts and as it would without a limit."""
    torque, stiffness, damping = drive.wanted
    return {
        "torque": drive.torque,
        "gain": drive.damping + m.dt * drive.stiffness,
        "wanted": torque,
        "wanted gain": damping + m.dt * stiffness,
        "lower": drive.lower,
        "upper": drive.upper,
        "saturable": is_saturable(drive.motor),
    }


def _saturation(drive: Drive, torque: Scalar) -> Scalar:
    """1 or -1 if a torque is at the motor's upper or lower limit, else 0."""
    if not is_saturable(drive.motor):
        return 0
    return select(torque > drive.upper, 1, select(torque < drive.lower, -1, 0))


def _saturation_now(drive: Record, rate: Scalar) -> Scalar:
    """The same for the torque at the end of the step."""
    if not drive["saturable"]:
        return 0
    torque = drive["wanted"] - drive["wanted gain"] * rate
    return select(torque > drive["upper"], 1, select(torque < drive["lower"], -1, 0))


def _split(values: Scalars, sizes: Sequence[int]) -> list[list[Scalar]]:
    parts, at = [], 0
    for size in sizes:
        parts.append(list(values[at : at + size]))
        at += size
    return parts


def _any(conditions: Sequence[Scalar]) -> Scalar:
    result: Scalar = False
    for c in conditions:
        if c is not False:
            result = c if result is False else either(result, c)
    return 0 if result is False else result


def _entries(X: Transform) -> list[Scalar]:
    return [*X.R.matrix(), *X.p]


def _transform(entries: Scalars) -> Transform:
    return Transform(MatrixRotation(Matrix3(tuple(entries[:9]))), Vector(*entries[9:]))
