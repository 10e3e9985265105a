"""The stages of the solver of a step: constraints, iterations, and the correction of positions.

Loops have stages of their own (`pliant.simulation.loop_stages`), before and after these: here they only matter in how w
answers to the impulses of contacts and joints.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from pliant.checks import is_zero
from pliant.contact.constraint_rows import Response, beyond_limits, scaled
from pliant.contact.landing import Arrival, common_depth, mean_of
from pliant.contact.loops import Basis
from pliant.contact.newton import Heading, shorter, whole_or_none
from pliant.contact.solver import (
    SLOP, arrivals, correct, group_rows, impulses_in_world, look, push, slide, sweep, sweep_frictionless, triples,
    warm_start, with_targets,
)  # fmt: skip
from pliant.contact.together import head_together, solve_groups, step_together
from pliant.scalar import Scalar, Scalars, abs, both, either, equal, maximum, negation, select
from pliant.simulation.contact_memory import memories_on_rows
from pliant.simulation.model import StepModel
from pliant.simulation.step_factor import factor_of
from pliant.simulation.step_program import Record, StepProgram, any_of, largest_known, is_together, poses_of, touches_of
from pliant.spatial import Vector

# iterations over penetrations; they need not be exact, what is left goes in the next step
_CORRECTIONS = 8

# iterations after which directions of sliding are changed by half only, since they may go in a circle
_PATIENCE = 20

# iterations over groups, one after another; robots that need more go on with all of them at once
_SWEEPS = 8

ACCELERATED = 3
"""Iterations after which the next ones are guessed from the last two."""

# in float32, iterations that change velocities by so many tolerances may end if they do not get better
_ROUNDING = 16

FAILURE = 1e-2
"""A step whose last iteration changes velocities by more has failed [m/s]."""

# a step with so many iterations has failed, too, if its kinetic energy grew by this factor
_LABOURED = 4
_GROWTH = 4

# iterations without friction, of a step that failed
_FRICTIONLESS = 100

# the longest way of a joint in a step to take back penetrations: where it hardly moves a contact along its
# normal, what moves the contact a little leads anywhere [rad or m]
_FARTHEST = 0.05

# joints further beyond their limits than this are brought back [rad or m]
_BEYOND = 1e-9


# ---- constraints


def find_contacts(step: StepProgram) -> None:
    """Constraints of each near group, and w with the impulses so far."""
    for k in range(len(step.model.groups)):

        def found(
            m: StepModel, motion, ldl, start, w, impulse, target, approach, gained, contact_memory, bases, landed,
            plastic, k=k,
        ):  # fmt: skip
            group, touches = m.groups[k], touches_of(motion, k)
            poses = poses_of(motion)
            response = response_of(m, group.support, ldl, bases)
            rows = group_rows(m.robot.mechanism, group, poses, touches, ldl, m.dt, m.precision, response)
            if group.is_elastic:
                means = [a.mean for a in asked_of(m, k, rows, start, approach, gained, plastic)]
            else:
                depth = common_depth([t.gap for t in touches], m.shallow(k))
                means = [mean_of(t.gap, m.dt, t.bend, depth) for t in touches]
            # at the end of a step in which something lands, contacts ask for something else
            targets = [select(equal(landed[0], 0), a, b) for a, b in zip(means, target, strict=True)]
            if m.memory:
                memories = memories_on_rows(m, k, rows, contact_memory, poses)
                for contact, own in zip(rows["contacts"], memories, strict=True):
                    contact["memory"] = own
            return {"rows": rows, "w": warm_start(group, rows, w, impulse), "target": targets}

        with step.only_if(f"near {k}"):
            step.add(found, k)


def asked_of(
    m: StepModel, k: int, rows: Record, start: Scalars, approach: Scalars, gained: Scalars, plastic: Scalars
) -> list[Arrival]:
    """What each contact of group k asks for, without restitution for a robot that is ``plastic`` now."""
    group = m.groups[k]
    if group.is_elastic:
        group = replace(group, restitution=tuple(select(equal(plastic[0], 0), e, 0) for e in group.restitution))
    if not m.is_elastic:
        return arrivals(group, rows, start, start, [0] * len(start), m.dt, m.shallow(k))
    return arrivals(group, rows, start, approach, gained, m.dt, m.shallow(k))


def go_on_from_here(step: StepProgram) -> None:
    """Robots that make another round begin it with the impulses at their contacts of this one."""
    if not (step.model.expects_turning and step.model.groups):
        return
    step.stages.variable("unsettled", 1)
    step.add(lambda m, settled: {"unsettled": [equal(settled[0], 0)]})
    with step.only_if("unsettled"):
        step.add(world_impulses)


def world_impulses(m: StepModel, near, rows, impulse) -> Record:
    """Impulses and moments at all contacts, in the world's axes; those that are not near have none."""
    pushes, moments = [], []
    for group, is_near, own, p in zip(m.groups, near, rows, impulse, strict=True):
        found = [select(equal(is_near[0], 0), 0, x) for x in impulses_in_world(own, p)]
        pushes += found[: 3 * len(group.names)]
        moments += found[3 * len(group.names) :]
    return {"impulses": pushes, "moments": moments}


def response_of(m: StepModel, support: Sequence[int], factor: Record, basis: Sequence[Record]) -> Response | None:
    """How w answers to an impulse along a row of these dofs; None where no loop has a part in it."""
    near = [(i, Basis(**own)) for i, own in zip(m.islands, basis, strict=True) if set(i.support) & set(support)]
    if not near:
        return None

    def response(Y: Scalars) -> list[Scalar]:
        DY = scaled(Y, support, factor["D_inverse"])
        for island, own in near:
            at = [support.index(d) for d in island.support]
            parts = own.response([Y[k] for k in at], [DY[k] for k in at], m.precision)
            for k, x in zip(at, parts, strict=True):
                DY[k] = x
        return DY

    return response


# ---- iterations


def sweeps(step: StepProgram) -> AbstractContextManager[None]:
    """Iterations over contacts until no velocity changes."""
    model = step.model
    if model.has_sweeps:
        step.add(lambda m: {"iterations": [0], "labours": [0], "rounding": [[0] for _ in m.groups]})
    # impulses of a path are not changed: they may be a solution that visits one by one leave
    options = {"when": "sweeping"} if model.has_path else {}
    return step.stages.loop(step.model.contact.sweeps, until="converged", **options)


def sweep_contacts(step: StepProgram) -> None:
    """Coulomb's law at each contact in turn; at those of a group, together."""
    if step.model.has_endgame:
        _solve_at_once(step)
        step.stages.variable("easy", 1)
        step.add(lambda m, labours: {"easy": [equal(labours[0], 0)]})
        with step.only_if("easy"):
            _sweep_groups(step)
    else:
        _sweep_groups(step)


def _solve_at_once(step: StepProgram) -> None:
    """Newton's method for all contacts that are near, of robots whose groups take long one after another."""

    def solved(m: StepModel, near, rows, target, w, impulse, rounding, scale):
        rows = [with_targets(own, aims) for own, aims in zip(rows, target, strict=True)]
        flags = [negation(equal(x[0], 0)) for x in near]
        tolerance = m.contact.tolerance_in(m.precision) * scale[0]
        w, impulse, worst, radius = solve_groups(
            m.groups, flags, rows, w, impulse, rounding[0][0], tolerance, m.precision
        )
        return {"w": w, "impulse": impulse, "error": [worst], "rounding": [[radius], *rounding[1:]]}

    with step.only_if("labours"):
        step.add(solved)


def _sweep_groups(step: StepProgram) -> None:
    """A visit to each group."""
    for k in range(len(step.model.groups)):

        def full(m: StepModel, rows, target, w, impulse, error, iterations, k=k):
            relaxation = _relaxation(iterations)
            answer = None if m.is_rigid else m.contact.answer(m.dt, relaxation, m.precision)
            rows = with_targets(rows, target)
            w, impulse, worst = sweep(m.groups[k], rows, w, impulse, error[0], answer, relaxation)
            return {"w": w, "impulse": impulse, "error": [worst]}

        with step.only_if(f"near {k}"):
            if _is_alone(step.model, k):
                _visit_alone(step, k)
            elif is_together(step.model, k):
                _visit_together(step, k)
            else:
                step.add(full, k)


def _visit_alone(step: StepProgram, k: int) -> None:
    """The only contact of a group: most stick or are open, and only robots of which it slides work that out."""

    def looked(m: StepModel, rows, target, w, impulse):
        u, new, slides = look(m.groups[k], with_targets(rows, target), w, impulse)
        return {"visit": {"u": list(u), "new": list(new)}, "slides": [slides]}

    def slid(m: StepModel, rows, visit, impulse, iterations):
        return {"slid": list(slide(rows, Vector(*visit["u"]), impulse, _relaxation(iterations)))}

    def pushed(m: StepModel, rows, visit, slid, slides, w, impulse, error):
        sticks = equal(slides[0], 0)
        new = Vector(*(select(sticks, a, b) for a, b in zip(visit["new"], slid, strict=True)))
        w, worst = push(m.groups[k], rows, w, impulse, new, error[0])
        return {"w": w, "impulse": list(new), "error": [worst]}

    step.add(looked, k)
    with step.only_if(f"slides {k}"):
        step.add(slid, k)
    step.add(pushed, k)


def _visit_together(step: StepProgram, k: int) -> None:
    """Newton's method for the contacts of a group: most robots take the whole step, and only others look for a part."""

    def headed(m: StepModel, rows, target, w, impulse, rounding, scale):
        ahead = head_together(m.groups[k], with_targets(rows, target), w, impulse, rounding[0], m.precision)
        is_long = ahead.may_be_long(_tolerance(m, scale))
        return {"heading": ahead.record(), "length": [whole_or_none(ahead)], "long": [is_long]}

    def shortened(m: StepModel, rows, heading, impulse, rounding):
        forces = triples(impulse[: 3 * len(m.groups[k].names)])
        return {"length": [shorter(rows["contacts"], Heading.of(heading), forces, rounding[0])]}

    def stepped(m: StepModel, rows, heading, length, w, impulse, error, rounding, scale):
        w, impulse, worst, radius = step_together(
            m.groups[k], rows, w, impulse, Heading.of(heading), length[0], error[0], rounding[0], _tolerance(m, scale)
        )
        return {"w": w, "impulse": impulse, "error": [worst], "rounding": [radius]}

    step.add(headed, k)
    with step.only_if(f"long {k}"):
        step.add(shortened, k)
    step.add(stepped, k)


def _tolerance(m: StepModel, scale: Scalars) -> Scalar:
    """Residual that is none [m/s]."""
    return m.contact.tolerance_in(m.precision) * scale[0]


def _relaxation(iterations: Scalars) -> Scalar:
    """Share of a change of the direction of sliding."""
    return select(iterations[0] < _PATIENCE, 1, 0.5)


def _is_alone(m: StepModel, k: int) -> bool:
    group = m.groups[k]
    return m.is_rigid and group.size == 3 and not is_zero(group.friction[0])


def check_convergence(step: StepProgram) -> None:
    """The iteration is the last if it changed nothing; a robot whose numbers are no longer finite is done, too."""

    def checked(m: StepModel, error, residual, iterations, scale):
        bound = m.contact.tolerance_in(m.precision) * scale[0]
        is_done = negation(error[0] > bound)
        if m.precision == "float32":
            # near the tolerance, what no longer shrinks is rounding
            stays = both(iterations[0] >= 1, error[0] > residual[0] / 2)
            is_done = either(is_done, both(error[0] < _ROUNDING * bound, stays))
        count = iterations[0] + 1
        labours = both(negation(is_done), count >= _SWEEPS) if m.has_endgame else 0
        slow = both(negation(is_done), count >= ACCELERATED)
        slow = both(slow, count < _SWEEPS) if m.has_endgame else slow
        # the first two times there is nothing to go by yet
        guesses = both(slow, count >= ACCELERATED + 2)
        flags = {"converged": [is_done], "slow": [slow], "guesses": [guesses], "labours": [labours]}
        return {"residual": [error[0]], "iterations": [count], "error": [0], **flags}

    if step.model.has_sweeps:
        step.add(checked)


def do_without_friction(step: StepProgram) -> None:
    """Where iterations ran out with much left to do, a step without friction at the contacts.

    Impulses that Coulomb's law has not settled may bring energy, those without friction never do. The step
    still counts as one that did not converge.

    So does one whose contact jams: impulses that grow without bound from iteration to iteration leave their rounding in
    w, and a contact that this throws off is open, and converged. Since such a w is lost, iterations begin anew.
    """
    model = step.model
    if not model.can_fail:
        return

    def failure(m: StepModel, converged, residual, iterations, sweeping, scale):
        is_done = converged[0]
        if m.has_path:  # what a path found may be no solution
            is_solved = residual[0] <= m.contact.tolerance_in(m.precision) * scale[0]
            is_done = select(equal(sweeping[0], 0), is_solved, is_done)
        ran_out = both(equal(is_done, 0), negation(residual[0] <= FAILURE))
        return {"failed": [ran_out], "laboured": [iterations[0] >= _LABOURED], "converged": [is_done]}

    def gain(m: StepModel, ldl, w, free, start, failed, converged):
        now, *before = (
            sum((d * x * x for d, x in zip(ldl["D"], speeds, strict=True)), 0) for speeds in (w, free, start)
        )
        jams = negation(now <= _GROWTH * maximum(*before))
        return {"failed": [select(jams, 1, failed[0])], "converged": [select(jams, 0, converged[0])]}

    def anew(m: StepModel, free, impulse):
        return {"w": free, "impulse": [[0] * len(p) for p in impulse]}

    def check(m: StepModel, error, scale):
        tolerance = m.contact.tolerance_in(m.precision)
        return {"rested": [negation(error[0] > tolerance * scale[0])], "error": [0]}

    for name in ("failed", "laboured", "rested"):
        step.stages.variable(name, 1)
    step.add(failure)
    with step.only_if("laboured"):
        step.add(gain)
    with step.only_if("failed"):
        step.add(anew)
    with step.stages.loop(_FRICTIONLESS, when="failed", until="rested"):
        for k in range(len(model.groups)):

            def swept(m: StepModel, rows, target, w, impulse, error, k=k):
                w, impulse, worst = sweep_frictionless(m.groups[k], with_targets(rows, target), w, impulse, error[0])
                return {"w": w, "impulse": impulse, "error": [worst]}

            with step.only_if(f"near {k}"):
                step.add(swept, k)
        step.add(check)


# ---- positions


def correct_positions(step: StepProgram) -> None:
    """A displacement beside the velocity that takes back penetrations and joints beyond limits; it opens no loop."""
    model = step.model
    if not model.has_corrections:
        return
    groups = range(len(model.groups) if model.is_rigid else 0)

    def depth(m: StepModel, motion, q, push, held):
        # twice what is left alone: what has been taken back there does not come up again
        deep = [touch.gap < -2 * SLOP for k in groups for touch in touches_of(motion, k)]
        shift: list[Scalar] = [0] * m.robot.nv
        for row, side in zip(m.stop_rows, held, strict=True):
            beyond = beyond_limits(m.robot, row, q)
            is_back = both(side * beyond > 0, abs(beyond) > _BEYOND)
            deep.append(is_back)
            # one that a limit holds goes back, and takes along what hangs on it
            shift[row.dof] = shift[row.dof] + select(is_back, beyond * m.correction / m.dt, 0)
        return {"deep": [any_of(deep)], "shift": shift, "push": [[0] * len(part) for part in push]}

    step.add(depth)
    with step.only_if("deep"):
        with step.stages.loop(_CORRECTIONS):
            for k in groups:

                def corrected(m: StepModel, rows, shift, push, k=k):
                    shift, push = correct(m.groups[k], rows, shift, push, m.correction)
                    return {"shift": shift, "push": push}

                with step.only_if(f"near {k}"):
                    step.add(corrected, k)

        def limited(m: StepModel, ldl, shift):
            way = factor_of(m, ldl).velocity(shift)
            longest = largest_known([abs(x) for x in way]) * m.dt
            return {"shift": [x * (_FARTHEST / maximum(longest, _FARTHEST)) for x in way]}

        step.add(limited)
