"""Stages for steps in which something lands: a second solution, with the whole impact (`pliant.contact.landing`).

The first solution is that of the step's mean velocity. Robots with a contact or a joint limit that lands in it solve
once more, from these impulses, for the velocity at the end. ``target k`` has what contacts of group k ask for, ``stop
low`` and ``stop high`` what limits do.

Newton's restitution and Coulomb's friction together may gain energy, as where a rod is struck obliquely [Kane 1984].
A robot that does so solves again without restitution: the work of the impulses of its contacts, with that of forces on
the way of the mean velocity in place of that of v+, must not be positive.
"""

from contextlib import AbstractContextManager, nullcontext

from pliant.checks import is_zero
from pliant.contact.constraint_rows import landed_bounds, limit_arrivals
from pliant.contact.landing import closing_speed, common_depth, mean_of, nearness
from pliant.contact.solver import ANY_SPEED, triples, without
from pliant.dynamics.gyroscopic import spin_after_impact
from pliant.scalar import Scalar, Scalars, abs, both, either, equal, maximum, minimum, negation, select
from pliant.simulation.model import StepModel
from pliant.simulation.solver_stages import asked_of
from pliant.simulation.step_factor import factor_of
from pliant.simulation.step_program import StepProgram, any_of, touches_of
from pliant.spatial import Vector

# a share of the energy of an impact that is gained by rounding only, and one that forces within the step may bring
_GAIN = 1e-5
_FORCES = 5e-3

# what is faster than a limit that touches is closed, but for rounding
_FASTER = 1 + 1e-6

# no landing is as late, as a share of the step
_LATE = 2


def solutions(step: StepProgram) -> AbstractContextManager[None]:
    """Solutions of a step: that of the mean velocity and that of an impact; if need be, both without restitution."""
    model = step.model
    if not model.can_land:
        return nullcontext()
    for name in ("lands", "bounces", "is whole", "first"):
        step.stages.variable(name, 1)
    return step.stages.loop(4 if model.is_elastic else 2, until="is whole")


def find_landings(step: StepProgram) -> None:
    """Who lands, and what the next solution asks for; none where nothing does."""
    model = step.model
    if not model.can_land:
        return

    def judged(
        m: StepModel, motion, impulse, target, stops, stop_low, stop_high, landed, plastic, converged, residual,
        unsolved, agreed, misfit,
    ):  # fmt: skip
        near, pushing, rebounds = nearness(m.dt), [], []
        for k in _groups(m):
            for touch, p, aim in zip(touches_of(motion, k), forces(m, k, impulse[k]), target[k], strict=True):
                pushing.append(both(p.z > 0, touch.gap > near))
                rebounds.append(both(p.z > 0, aim > 0))
        fast = closing_speed(m.dt) * _FASTER
        for row, p, low, high in zip(m.stop_rows, stops, stop_low, stop_high, strict=True):
            if is_zero(m.robot.joints[row.joint].restitution):
                # a limit that is reached is closed slowly, if at all
                pushing += [both(p > 0, low < -fast), both(p < 0, high > fast)]
            else:
                pushing.append(negation(equal(p, 0)))
        once = equal(landed[0], 0)
        return {
            "lands": [both(once, any_of(pushing))],
            # once without restitution, there is none to take away
            "bounces": [both(any_of(rebounds), equal(plastic[0], 0))] if m.is_elastic else [0],
            "is whole": [1],
            "first": [_LATE],
            "unsolved": [maximum(unsolved[0], left_over(m, converged, residual, agreed, misfit))],
        }

    step.add(judged)
    with step.only_if("lands"):
        _find_first(step)
    with step.only_if("lands"):
        _land(step)
    if model.is_elastic:
        with step.only_if("bounces"):
            _check_energy(step)


def carry_spin(step: StepProgram) -> None:
    """Joints that float, of robots that land: their angular velocities in the axes to which the mean velocity turns."""
    if not (step.model.can_land and step.model.robot.mechanism.floating_links):
        return

    def carried(m: StepModel, motion, v_next, v_mean, lags=(0,)):
        v = list(v_next)
        for link in m.robot.mechanism.floating_links:
            moves, turns = link.dofs[:3], link.dofs[3:]
            w, mean = (Vector(*(x[d] for d in turns)) for x in (v_next, v_mean))
            new = spin_after_impact(link, motion["A"], v_next, (mean - w) * m.dt)
            c = Vector(*motion["centers"][link.name])
            # where its Coriolis forces are those of an impact, they have taken care of it
            change = Vector(*(select(equal(lags[0], 0), a - b, 0) for a, b in zip(new, w, strict=True)))
            # the centre of mass goes straight on
            for d, x in zip((*moves, *turns), (*c.cross(change), *change), strict=True):
                v[d] = v[d] + x
        return {"v next": v}

    with step.only_if("landed"):
        step.add(carried)


def left_over(m: StepModel, converged: Scalars, residual: Scalars, agreed: Scalars, misfit: Scalars) -> Scalar:
    """How far a solution is off that was not found, as a velocity; 0 for one that was."""
    contacts = select(equal(converged[0], 0), residual[0], 0) if m.groups else 0
    joints = select(equal(agreed[0], 0), misfit[0], 0) if m.has_bounds else 0
    return maximum(contacts, joints)


def forces(m: StepModel, k: int, impulse: Scalars) -> list[Vector]:
    """The impulses of the contacts of group k, without their moments."""
    return triples(impulse[: 3 * len(m.groups[k].names)])


def _groups(m: StepModel) -> range:
    """Groups of contacts that may land."""
    return range(len(m.groups) if m.is_rigid else 0)


def _find_first(step: StepProgram) -> None:
    """Which of the constraints that push have just come, and when the first of them lands."""

    def limits(m: StepModel, q, v, stops, first):
        last = first[0]
        for row, p in zip(m.stop_rows, stops, strict=True):
            for limit, push in zip(limit_arrivals(m.robot, row, q, v, m.dt), (p, -p), strict=True):
                if limit is not None:
                    last = select(limit.lands(push), minimum(last, limit.time + limit.margin), last)
        return {"first": [last]}

    if step.model.stop_rows:
        step.add(limits)
    for k in _groups(step.model):

        def contacts(m: StepModel, start, rows, impulse, first, approach, gained, plastic, k=k):
            last = first[0]
            for a, p in zip(asked_of(m, k, rows, start, approach, gained, plastic), forces(m, k, impulse), strict=True):
                last = select(a.lands(p.z), minimum(last, a.time + a.margin), last)
            return {"first": [last]}

        with step.only_if(f"near {k}"):
            step.add(contacts, k)

    def found(m: StepModel, first, landed, bounces):
        lands = first[0] < _LATE
        return {
            "lands": [lands], "landed": [either(lands, negation(equal(landed[0], 0)))], "is whole": [negation(lands)],
            "bounces": [select(lands, 0, bounces[0])],
        }  # fmt: skip

    step.add(found)


def _land(step: StepProgram) -> None:
    """What touches and what lands first keeps its velocity at the end; what lands later opens."""
    step.add(lambda m, ldl, w: {"v mean": factor_of(m, ldl).velocity(w)})
    for k in _groups(step.model):

        def landed(m: StepModel, start, rows, w, impulse, first, approach, gained, plastic, k=k):
            asked = asked_of(m, k, rows, start, approach, gained, plastic)
            stays = [a.stays(p.z, first[0]) for a, p in zip(asked, forces(m, k, impulse), strict=True)]
            w, impulse = without(m.groups[k], rows, w, impulse, stays)
            targets = [select(on, a.end, ANY_SPEED) for a, on in zip(asked, stays, strict=True)]
            return {"w": w, "impulse": impulse, "target": targets}

        with step.only_if(f"near {k}"):
            step.add(landed, k)

    def limited(m: StepModel, q, v, stops, held):
        ends = [
            landed_bounds(limit_arrivals(m.robot, row, q, v, m.dt), p, side)
            for row, p, side in zip(m.stop_rows, stops, held, strict=True)
        ]
        is_held = any_of([negation(equal(side, 0)) for side in held])
        return {"stop low": [b["low"] for b in ends], "stop high": [b["high"] for b in ends], "changed": [is_held]}

    if step.model.stop_rows:
        step.add(limited)


def _check_energy(step: StepProgram) -> None:
    """Another solution, without restitution, where this one has gained energy."""

    def gain(m: StepModel, ldl, w, start, free, gained, v_mean, landed, lags=(0,)):
        # the work of the impulses P of contacts, P . (v+ + v) / 2, and of forces on another way than that of v+. v is
        # the velocity before P, or that at the start where Coriolis forces know of v+
        lands = negation(equal(landed[0], 0))
        known = either(negation(lands), negation(equal(lags[0], 0)))
        mean = [select(lands, a, b) for a, b in zip(factor_of(m, ldl).coordinates(v_mean), w, strict=True)]
        work, size, borne, bent = 0, 0, 0, 0
        for D, after, before, alone, force, way in zip(ldl["D"], w, start, free, gained, mean, strict=True):
            middle, jump = (after + select(known, before, alone)) / 2, after - alone
            work = work + D * (middle * jump + force * (select(known, after, middle) - way))
            size, borne = size + D * jump * jump, borne + D * force * jump
            bent = bent + D * abs(force * select(known, alone - before - force, 0))
        # forces that another contact bears, and those along the way that Coriolis forces have changed, may be wrong
        return {"first": [work - _GAIN * size - minimum(abs(borne) + bent, _FORCES * size)]}

    step.add(gain)

    def again(m: StepModel, motion, first, target, landed):
        gains = first[0] > 0
        lower = []
        for k, part in enumerate(target):
            touches = touches_of(motion, k)
            depth = common_depth([t.gap for t in touches], m.shallow(k))
            means = [mean_of(t.gap, m.dt, t.bend, depth) for t in touches]
            lower.append([select(gains, mean, x) for mean, x in zip(means, part, strict=True)])
        again = {"target": lower, "landed": [select(gains, 0, landed[0])]}
        return {"is whole": [negation(gains)], "plastic": [gains], **again}

    step.add(again)
