"""The semi-implicit step with rigid contact; `pliant.simulation.step` tells the order of its stages."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pliant.actuation.motors import Drive, drives
from pliant.compiler.stages import Stages
from pliant.contact.joint_rows import beyond_limits, bounds_of, held_bounds, needs_row, violated_limit
from pliant.contact.solver import factor_record, impulses_in_world
from pliant.contact.touching import Touch
from pliant.robot import Link, Motor
from pliant.robot.transport import carried_velocity, straight_motion
from pliant.scalar import abs, equal, maximum, minimum, negation, select
from pliant.simulation.divergence import trouble_of
from pliant.simulation.free_motion import free_motion
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.solver_stages import SolverStages
from pliant.simulation.state import ticked, time_of
from pliant.simulation.step_stages import Record, any_of, parts_of, pose_entries, touches_of

__all__ = ["RigidStep"]

Scalar = Any
Scalars = Sequence[Scalar]

# contacts are near if they could meet within the step at twice their speed and this much more [m/s]
_SPARE_SPEED = 5

# rounds to find out which motors and joints are at their limits
_ROUNDS = 4

# joints further beyond their stops than this are brought back [rad or m]
_BEYOND = 1e-9

# velocities that go through a stop by less are left to the next step [rad/s or m/s]
_THROUGH = 1e-7

# a torque this many times larger than it was is taken for saturated if it would be beyond the limit
_NEARLY = 1 + 1e-6


class RigidStep(SolverStages):
    """Adds the stages of a step to a program, each when its method is called.

    In the program, ``w`` is L v, ``impulse k`` the impulses of contact group k along its rows, ``near k``
    whether the robot has that group near the ground.
    """

    def __init__(self, stages: Stages, model: StepModel, parameters: Parameters):
        super().__init__(stages, model, parameters)
        nv = model.robot.nv
        stages.variable("w", nv)
        stages.variable("v next", nv)
        stages.variable("shift", nv)
        stages.variable("saturated", model.robot.nu)
        stages.variable("held", len(model.stop_rows))
        for name in ("error", "converged", "residual", "sweeps", "scale", "slow", "settled", "joints on", "deep"):
            stages.variable(name, 1)
        if model.has_rows:
            for name in ("w start", "last w", "last f"):
                stages.variable(name, nv)
        for k, group in enumerate(model.groups):
            stages.variable(f"near {k}", 1)
            stages.variable(f"impulse {k}", 3 * len(group.names))
            stages.variable(f"push {k}", len(group.names))
        for k, closure in enumerate(model.closures):
            stages.variable(f"closure {k}", closure.size)

    @contextmanager
    def until_limits_agree(self) -> Iterator[None]:
        """Rounds until every motor and joint that is at a limit is known, which they are at once as a rule.

        The first round takes for saturated, or held by a stop, what was so in the last step. Rows of joints join
        in only where one would go through its stop.
        """
        model = self.model
        if not (model.joint_rows or model.has_saturable_motors):
            yield
            return

        def stage(m: StepModel, q, v, u, clock, torques, stops, landings):
            given = drives(m.robot, q, v, u, time_of(clock, m.dt))
            saturated = [d.saturation(torque * _NEARLY) for d, torque in zip(given, torques, strict=True)]
            bounds = [
                bounds_of(m.robot, row, q, v, landings[k] if len(landings) else 0, m.dt)
                for k, row in enumerate(m.joint_rows)
            ]
            needed = [needs_row(row, b, v[row.dof]) for row, b in zip(m.joint_rows, bounds, strict=True)]
            needed += [negation(equal(p, 0)) for p in stops]
            needed += [abs(beyond_limits(m.robot, row, q)) > _BEYOND for row in m.stop_rows]
            held = [select(p > 0, 1, select(p < 0, -1, 0)) for p in stops]
            return bounds, saturated, held, [any_of(needed)]

        self.add(
            stage,
            ("q", "v", "u", "clock", "torques", "stops", "stop landings"),
            ("bounds", "saturated", "held", "joints on"),
        )
        with self.stages.loop(_ROUNDS, until="settled"):
            yield

    def move_freely(self) -> None:
        """Forces, the factor of A, w; gaps of all contacts, and which of them are near."""

        def stage(m: StepModel, q, v, u, clock, impulses, closings, saturated, held, bounds):
            holds = [
                (row.dof, select(equal(side, 0), 0, 1), held_bounds(b, side)["low"])
                for row, side, b in zip(m.stop_rows, held, _of_stops(m, bounds), strict=True)
            ]
            limited = saturated if m.has_saturable_motors else None
            motion = free_motion(m, q, v, u, time_of(clock, m.dt), limited, holds)
            touches = [group.touches(motion.poses, motion.origin, m.ground) for group in m.groups]
            near = [_is_near(m, group, found, v) for group, found in zip(m.groups, touches, strict=True)]
            warm = [
                [select(is_near, x, 0) for x in part]
                for is_near, part in zip(near, parts_of(impulses, [3 * len(g.names) for g in m.groups]), strict=True)
            ]
            closed = parts_of(closings, [c.size for c in m.closures])
            record = {
                "factor": factor_record(motion.factor),
                "start": motion.start,
                "poses": {i: pose_entries(motion.poses[i]) for i in self._links_of_rows()},
                "origin": list(motion.origin),
                "touches": [[[t.gap, *t.normal, *t.p] for t in found] for found in touches],
                "drives": [_drive_entries(m, d) for d in motion.joints.drives],
            }
            fastest = 0
            for x in v:
                fastest = maximum(fastest, abs(x))
            return (record, motion.w, [0], [1 + fastest / 10], *([x] for x in near), *warm, *closed)

        self.add(
            stage,
            ("q", "v", "u", "clock", "impulses", "closings", "saturated", "held", self._bounds_name),
            ("motion", "w", "sweeps", "scale", *self.each("near"), *self.each("impulse"), *self.closure_names),
        )

    def check_limits(self) -> None:
        """v = L^-1 w; another round if a motor or joint is beyond a limit that was not seen."""
        model = self.model

        def stage(m: StepModel, motion, w, bounds, is_on, saturated, held, stops, scale):
            v = self.factor(motion).velocity(w)
            if not (model.joint_rows or model.has_saturable_motors):
                return v, [1], [0], saturated, held
            rates = [self._link_of(m, motor).rate(v)[0] for motor in m.robot.motors.values()]
            now = [_saturation_now(d, rate) for d, rate in zip(motion["drives"], rates, strict=True)]
            wrong = [negation(equal(a, b)) for a, b in zip(now, saturated, strict=True)]
            holding = []
            for row, b, side, p in zip(m.stop_rows, _of_stops(m, bounds), held, stops, strict=True):
                # a stop that would pull lets go; one that is gone through takes hold
                kept = select(side * p > 0, side, 0)
                holding.append(select(equal(side, 0), violated_limit(b, v[row.dof], _THROUGH * scale[0]), kept))
            wrong += [negation(equal(a, b)) for a, b in zip(holding, held, strict=True)]
            again = any_of(wrong)
            return v, [negation(again)], [select(again, 1, is_on[0])], now, holding

        self.add(
            stage,
            ("motion", "w", self._bounds_name, "joints on", "saturated", "held", "stops", "scale"),
            ("v next", "settled", "joints on", "saturated", "held"),
        )

    @property
    def _bounds_name(self) -> str:
        """The record of bounds, or a variable in its place where there are none."""
        return "bounds" if "bounds" in self.stages else "settled"

    def finish(self) -> None:
        """The new state; a robot in trouble keeps the old one."""
        model = self.model
        groups, closures = range(len(model.groups)), range(len(model.closures))

        def stage(m: StepModel, q, v, u, v_next, shift, clock, trouble, motion, *parts):
            residual, sweeps, converged, *parts = parts
            bounds = parts.pop(0) if model.joint_rows else []
            near, rows, impulses = (parts[k::3][: len(groups)] for k in range(3))
            closings = [x for part in parts[3 * len(groups) :] for x in part]
            is_unsolved = select(equal(converged[0], 0), 1, 0) if model.has_rows else 0
            cause = trouble_of(m, u, v_next, trouble[0])
            moves = equal(cause, 0)
            rate = [a + b for a, b in zip(v_next, shift, strict=True)] if self.corrects else v_next
            q_next = straight_motion(m.robot, q, rate, m.dt)
            v_next = carried_velocity(m.robot, v_next, m.dt, rate)
            worlds, landings, deepest = [], [], 0
            for k in groups:
                inside = negation(equal(near[k][0], 0))
                worlds += [select(inside, x, 0) for x in impulses_in_world(rows[k], impulses[k])]
                landings += [select(inside, c.get("landing", 0), 0) for c in rows[k]["contacts"]]
                for touch in touches_of(motion, k):
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
                ticked(clock, 1, moves),
                [cause],
                worlds,
                landings if model.is_elastic else [],
                [b.get("landing", 0) for b in bounds] if model.has_elastic_stops else [],
                closings,
                torques,
                [*((residual[0], sweeps[0]) if model.has_rows else (0, 0)), deepest, is_unsolved],
            )

        reads = ["q", "v", "u", "v next", "shift", "clock", "trouble", "motion"]
        reads += ["residual", "sweeps", "converged"]
        reads += ["bounds"] if model.joint_rows else []
        for k in groups:
            reads += [f"near {k}", f"rows {k}", f"impulse {k}"]
        reads += [f"closure {k}" for k in closures]
        self.add(
            stage,
            reads,
            (
                "q",
                "v",
                "clock",
                "trouble",
                "impulses",
                "landings",
                "stop landings",
                "closings",
                "torques",
                "solver",
            ),
        )

    def _links_of_rows(self) -> list[int]:
        """Links whose poses rows are made of."""
        mechanism = self.model.robot.mechanism
        ends = {i for g in (*self.model.groups, *self.model.closures) for i in (g.a, g.b) if i >= 0}
        return sorted({j for i in ends for j in (i, *mechanism.ancestors(i))})

    def _link_of(self, m: StepModel, motor: Motor) -> Link:
        return next(link for link in m.robot.mechanism.links if link.name == motor.joint)


def _of_stops(m: StepModel, bounds: Sequence[Record]) -> Sequence[Record]:
    """The bounds of the rows of stops, which come last."""
    return bounds[len(m.steady_rows) :] if m.stop_rows else []


def _is_near(m: StepModel, group, touches: Sequence[Touch], v: Scalars) -> Scalar:
    """Whether a contact of the group could meet what it touches within the step."""
    speed = sum((lever * abs(v[d]) for d, lever in group.levers.items()), 0)
    lowest = touches[0].gap
    for touch in touches[1:]:
        lowest = minimum(lowest, touch.gap)
    return lowest < m.dt * (2 * speed + _SPARE_SPEED)


def _drive_entries(m: StepModel, drive: Drive) -> Record:
    """A motor's line in the joint's velocity, as it acts and as it would without a limit."""
    return {
        "torque": drive.line.torque,
        "gain": drive.line.gain(m.dt),
        "wanted": drive.wanted.torque,
        "wanted gain": drive.wanted.gain(m.dt),
        "lower": drive.lower,
        "upper": drive.upper,
        "saturable": drive.is_limited,
    }


def _saturation_now(drive: Record, rate: Scalar) -> Scalar:
    """The same for the torque at the end of the step."""
    if not drive["saturable"]:
        return 0
    torque = drive["wanted"] - drive["wanted gain"] * rate
    return select(torque > drive["upper"], 1, select(torque < drive["lower"], -1, 0))
