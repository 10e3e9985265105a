"""The stages of the step around the contact solver: rows, sweeps, and what is left of penetrations."""

from collections.abc import Sequence
from typing import Any

from pliant.contact.closures import closure_rows, correct_closure, start_closure, sweep_closure
from pliant.contact.group_rows import SLOP, Visit, group_rows
from pliant.contact.joint_rows import (
    JointRow,
    beyond_limits,
    held_bounds,
    joint_row_vectors,
    limit_corrections,
    row_support,
    sweep_joint,
)  # fmt: skip
from pliant.contact.rows import moved
from pliant.contact.solver import (
    bounce_speed,
    correct,
    impulses_on_rows,
    is_sliding,
    sweep,
    sweep_frictionless,
    sweep_sticking,
    warm_start,
)  # fmt: skip
from pliant.contact.sticking import MOST_STICKING, sticking_factor
from pliant.scalar import abs, both, either, equal, is_constant, maximum, minimum, negation, select
from pliant.simulation.model import StepModel
from pliant.simulation.step_stages import StepStages, any_of, parts_of, touches_of
from pliant.spatial import Vector

__all__ = ["SolverStages"]

Scalar = Any

# sweeps over penetrations; they need not be exact, what is left goes in the next step
_CORRECTIONS = 8

# sweeps after which directions of sliding are changed by half only, since they may go in a circle
_PATIENCE = 20

# sweeps after which the next ones are guessed from the last two
_ACCELERATED = 3

# in float32, sweeps that change velocities by so many tolerances may end if they do not get better
_ROUNDING = 16

# a step whose last sweep changes velocities by more has failed [m/s]
_FAILURE = 1e-2

# sweeps without friction, of a step that failed
_FRICTIONLESS = 100

# loops that are open less than this are closed [m, rad]
_CLOSED = 1e-9


class SolverStages(StepStages):
    """Stages that find rows and solve for their impulses."""

    def find_contacts(self) -> None:
        """Rows of each group that is near and of the loops, and the impulses of the last step as a start."""
        for k in range(len(self.model.groups)):

            def stage(m: StepModel, motion, w, impulse, landings, k=k):
                group, touches = m.groups[k], touches_of(motion, k)
                factor, mechanism = motion["factor"], m.robot.mechanism
                rows = group_rows(mechanism, group, self.poses(motion), touches, factor, m.dt, m.precision)
                if self.model.is_elastic:
                    known, first = landings[self._first(k) :], Visit(group, rows, motion["start"])
                    for c, contact in enumerate(rows["contacts"]):
                        speed, landing = bounce_speed(first, c, known[c], m.dt)
                        contact |= {"target": contact["target"] + speed, "landing": landing}
                start = impulses_on_rows(rows, impulse)
                if m.is_rigid and 1 < len(group.names) <= MOST_STICKING:
                    rows["sticking"] = sticking_factor(rows, start, m.precision)
                return rows, warm_start(group, rows, w, start), start

            with self.stages.loop(1, when=f"near {k}"):
                self.add(stage, ("motion", "w", f"impulse {k}", "landings"), (f"rows {k}", "w", f"impulse {k}"))
                if self._has_short_way(k):
                    for flag, start in ((f"slides {k}", 0), (f"sticks {k}", 1)):
                        self.stages.variable(flag, 1)
                        self.add(lambda m, w, start=start: [start], ("w",), (flag,))

        for k in range(len(self.model.closures)):

            def close(m: StepModel, motion, w, impulse, k=k):
                group, origin = m.closures[k], Vector(*motion["origin"])
                rows = closure_rows(m.robot.mechanism, group, self.poses(motion), origin, motion["factor"], m.dt)
                return rows, start_closure(group, rows, w, impulse)

            self.add(close, ("motion", "w", f"closure {k}"), (f"loop {k}", "w"))

    def find_joint_rows(self) -> None:
        """Rows of the joints, those of stops where they join in, and their impulses of the last step as a start."""
        model = self.model

        def stage(rows: Sequence[JointRow]) -> Any:
            def found(m: StepModel, motion, w, impulses):
                mechanism, vectors = m.robot.mechanism, []
                for row, p in zip(rows, impulses, strict=True):
                    vectors.append(joint_row_vectors(mechanism, row, motion["factor"]))
                    w = moved(w, row_support(mechanism, row), [vectors[-1]["DY"]], [p])
                return vectors, w

            return found

        if model.steady_rows:
            self.add(stage(model.steady_rows), ("motion", "w", "steady"), ("steady rows", "w"))
        if model.stop_rows:
            with self.stages.loop(1, when="joints on"):
                self.add(stage(model.stop_rows), ("motion", "w", "stops"), ("stop rows", "w"))

    def sweeps(self) -> Any:
        """Rounds of sweeps until no velocity changes."""
        return self.stages.loop(self.model.contact.sweeps, until="converged")

    def sweep_contacts(self) -> None:
        """Coulomb's law at each contact in turn; for soles and other groups, the short way as long as none slides."""
        for k in range(len(self.model.groups)):
            with self.stages.loop(1, when=f"near {k}"):
                if self._has_short_way(k):
                    self._sweep_with_short_way(k)
                else:
                    names = (f"rows {k}", "w", f"impulse {k}", "error", "sweeps")
                    self.add(self._full_sweep(k), names, ("w", f"impulse {k}", "error"))

    def _has_short_way(self, k: int) -> bool:
        group = self.model.groups[k]
        has_friction = all(not (is_constant(mu) and mu == 0) for mu in group.friction)
        return self.model.is_rigid and len(group.names) > 1 and has_friction

    def _sweep_with_short_way(self, k: int) -> None:
        """A robot of which a contact slides takes the full visit, and goes on so until none does."""

        def short(m: StepModel, rows, w, impulse, error):
            w, impulse, worst, slides = sweep_sticking(m.groups[k], rows, w, impulse, error[0])
            return w, impulse, [worst], [slides], [negation(slides)]

        def full(m: StepModel, rows, w, impulse, error, sweeps):
            w, impulse, worst = self._full_sweep(k)(m, rows, w, impulse, error, sweeps)
            slides = is_sliding(rows, impulse)
            return w, impulse, worst, [slides], [negation(slides)]

        names, flags = (f"rows {k}", "w", f"impulse {k}", "error"), (f"slides {k}", f"sticks {k}")
        with self.stages.loop(1, when=f"sticks {k}"):
            self.add(short, names, ("w", f"impulse {k}", "error", *flags))
        with self.stages.loop(1, when=f"slides {k}"):
            self.add(full, (*names, "sweeps"), ("w", f"impulse {k}", "error", *flags))

    def _full_sweep(self, k: int) -> Any:
        def stage(m: StepModel, rows, w, impulse, error, sweeps):
            answer = None if m.is_rigid else m.contact.answer(m.dt)
            relaxation = select(sweeps[0] < _PATIENCE, 1, 0.5)
            w, impulse, worst = sweep(m.groups[k], rows, w, impulse, error[0], answer, relaxation)
            return w, impulse, [worst]

        return stage

    def sweep_closures(self) -> None:
        """Loops are kept closed."""
        for k in range(len(self.model.closures)):

            def stage(m: StepModel, rows, w, impulse, error, k=k):
                w, impulse, worst = sweep_closure(m.closures[k], rows, w, impulse, error[0])
                return w, impulse, [worst]

            self.add(stage, (f"loop {k}", "w", f"closure {k}", "error"), ("w", f"closure {k}", "error"))

    def sweep_joints(self) -> None:
        """Dry friction and locks, and stops where they join in."""
        model, steady = self.model, len(self.model.steady_rows)

        def stage(rows: Sequence[JointRow], at: slice) -> Any:
            def swept(m: StepModel, vectors, bounds, w, impulses, error, held):
                worst, new = error[0], []
                limits = bounds[at]
                if not rows[0].is_steady:
                    limits = [held_bounds(b, side) for b, side in zip(limits, held, strict=True)]
                for row, x, b, p in zip(rows, vectors, limits, impulses, strict=True):
                    w, p, worst = sweep_joint(row, row_support(m.robot.mechanism, row), x, b, w, p, worst)
                    new.append(p)
                return w, new, [worst]

            return swept

        if model.steady_rows:
            of_steady = stage(model.steady_rows, slice(0, steady))
            self.add(of_steady, ("steady rows", "bounds", "w", "steady", "error", "held"), ("w", "steady", "error"))
        if model.stop_rows:
            of_stops = stage(model.stop_rows, slice(steady, None))
            with self.stages.loop(1, when="joints on"):
                self.add(of_stops, ("stop rows", "bounds", "w", "stops", "error", "held"), ("w", "stops", "error"))

    def check_convergence(self) -> None:
        """The sweep is the last if it changed nothing; a robot whose numbers are no longer finite is done, too."""
        if not self.model.has_rows:
            return
        tolerance = self.model.contact.tolerance_in(self.model.precision)

        def stage(m: StepModel, error, before, sweeps, scale):
            bound = tolerance * scale[0]
            is_done = negation(error[0] > bound)
            if m.precision == "float32":
                # near the tolerance, what no longer shrinks is rounding
                stays = both(sweeps[0] >= 1, error[0] > before[0] / 2)
                is_done = either(is_done, both(error[0] < _ROUNDING * bound, stays))
            count = sweeps[0] + 1
            return [is_done], [error[0]], [count], [0], [both(negation(is_done), count >= _ACCELERATED)]

        self.add(stage, ("error", "residual", "sweeps", "scale"), ("converged", "residual", "sweeps", "error", "slow"))

    def accelerate(self) -> None:
        """Where sweeps go on, the next begins from what the last two point at.

        Anderson's method with one step of memory [Walker and Ni 2011]: with x what a sweep began with and
        g(x) what it made of it, f = g - x and df the change of f since the sweep before, the next one begins
        with g - c (g - g'), c = df . f / df . df, where g' is the g before. Impulses and w go together,
        since w depends linearly on them; the product is that of the kinetic energy.
        """
        if not self.model.has_rows:
            return
        names = [*self.each("impulse"), *self.closure_names]
        names += ["steady"] if self.model.steady_rows else []
        names += ["stops"] if self.model.stop_rows else []

        def stage(m: StepModel, motion, sweeps, w, start, last_f, last_w, *impulses):
            half = len(impulses) // 2
            now, before = ([x for part in parts for x in part] for parts in (impulses[:half], impulses[half:]))
            f = [a - b for a, b in zip(w, start, strict=True)]
            change = [a - b for a, b in zip(f, last_f, strict=True)]
            scaled = [a * d for a, d in zip(change, motion["factor"]["D"], strict=True)]
            size = sum((a * b for a, b in zip(scaled, change, strict=True)), 0)
            c = sum((a * b for a, b in zip(scaled, f, strict=True)), 0) / select(size > 0, size, 1)
            # the first two times there is nothing to go by yet
            known = both(sweeps[0] >= _ACCELERATED + 2, size > 0)
            c = select(known, minimum(maximum(c, -20), 0.5), 0)
            next_w = [a - c * (a - b) for a, b in zip(w, last_w, strict=True)]
            guessed = [a - c * (a - b) for a, b in zip(now, before, strict=True)]
            sizes = [len(part) for part in impulses[:half]]
            return (next_w, next_w, f, w, *parts_of(guessed, sizes), *impulses[:half])

        kept = [f"last {name}" for name in names]
        for name, like in zip(kept, names, strict=True):
            self.stages.variable(name, self.stages.variables[like])
        with self.stages.loop(1, when="slow"):
            self.add(
                stage,
                ("motion", "sweeps", "w", "w start", "last f", "last w", *names, *kept),
                ("w", "w start", "last f", "last w", *names, *kept),
            )

    def do_without_friction(self) -> None:
        """Where sweeps ran out with much left to do, a step without friction at the contacts.

        Impulses that Coulomb's law has not settled may bring energy, those without friction never do. The step
        still counts as one that did not converge.
        """
        model = self.model
        if not (model.groups and model.is_rigid):
            return
        tolerance = model.contact.tolerance_in(model.precision)

        def failure(m: StepModel, converged, residual):
            return [both(equal(converged[0], 0), negation(residual[0] <= _FAILURE))]

        def check(m: StepModel, error, scale):
            return [negation(error[0] > tolerance * scale[0])], [0]

        for name in ("failed", "rested"):
            self.stages.variable(name, 1)
        self.add(failure, ("converged", "residual"), ("failed",))
        with self.stages.loop(_FRICTIONLESS, when="failed", until="rested"):
            for k in range(len(model.groups)):

                def stage(m: StepModel, rows, w, impulse, error, k=k):
                    w, impulse, worst = sweep_frictionless(m.groups[k], rows, w, impulse, error[0])
                    return w, impulse, [worst]

                with self.stages.loop(1, when=f"near {k}"):
                    self.add(stage, (f"rows {k}", "w", f"impulse {k}", "error"), ("w", f"impulse {k}", "error"))
            self.sweep_closures()
            self.sweep_joints()
            self.add(check, ("error", "scale"), ("rested", "error"))

    @property
    def corrects(self) -> bool:
        """Whether there is anything that may have to be brought back."""
        model = self.model
        return bool(self._rigid_groups() or model.closures or model.stop_rows) and model.correction > 0

    def correct_positions(self) -> None:
        """A displacement beside the velocity that takes back penetrations and joints beyond stops, and closes loops."""
        if not self.corrects:
            return
        share, model = self.model.correction, self.model
        groups, closures = self._rigid_groups(), range(len(model.closures))

        def depth(m: StepModel, motion, q, *loops):
            # twice what is left alone: what has been taken back there does not come up again
            deep = [touch.gap < -2 * SLOP for k in groups for touch in touches_of(motion, k)]
            deep += [abs(row["open"]) * m.dt > _CLOSED for rows in loops for row in rows]
            deep += [abs(beyond_limits(m.robot, row, q)) > _CLOSED for row in m.stop_rows]
            none = [0] * m.robot.nv
            return ([any_of(deep)], none, [0] * len(m.stop_rows), *([0] * len(m.groups[k].names) for k in groups))

        def stops(m: StepModel, vectors, q, v, shift, pushes):
            new = []
            for row, x, p in zip(m.stop_rows, vectors, pushes, strict=True):
                bounds = limit_corrections(m.robot, row, q, v[row.dof], m.correction, m.dt)
                shift, p, _ = sweep_joint(row, row_support(m.robot.mechanism, row), x, bounds, shift, p, 0)
                new.append(p)
            return shift, new

        self.stages.variable("stop push", len(model.stop_rows))
        self.add(
            depth,
            ("motion", "q", *(f"loop {k}" for k in closures)),
            ("deep", "shift", "stop push", *(f"push {k}" for k in groups)),
        )
        with self.stages.loop(1, when="deep"):
            with self.stages.loop(_CORRECTIONS):
                for k in groups:
                    with self.stages.loop(1, when=f"near {k}"):
                        self.add(
                            lambda m, rows, shift, push, k=k: correct(m.groups[k], rows, shift, push, share),
                            (f"rows {k}", "shift", f"push {k}"),
                            ("shift", f"push {k}"),
                        )
                for k in closures:
                    self.add(
                        lambda m, rows, shift, k=k: correct_closure(m.closures[k], rows, shift),
                        (f"loop {k}", "shift"),
                        ("shift",),
                    )
                if model.stop_rows:
                    with self.stages.loop(1, when="joints on"):
                        self.add(stops, ("stop rows", "q", "v next", "shift", "stop push"), ("shift", "stop push"))
            self.add(lambda m, motion, w: self.factor(motion).velocity(w), ("motion", "shift"), ("shift",))

    def _rigid_groups(self) -> range:
        return range(len(self.model.groups) if self.model.is_rigid else 0)

    def _first(self, k: int) -> int:
        """How many contacts come before group k."""
        return sum(len(g.names) for g in self.model.groups[:k])
