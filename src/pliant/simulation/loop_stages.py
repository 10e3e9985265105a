"""Stages for loops: velocities that keep them closed, forces of the closures, and positions on the constraint.

An island of loops is solved at once (`pliant.contact.loops`), before contacts and joints: from then on w is that of the
closed mechanism, and so is its answer to impulses. With J v the velocities of the closures' rows, the step takes

    J v+ = -dt/2 Jdot v

so that q goes along a chord whose ends are on the constraint, but for dt^3. It is the first step of SHAKE [Ryckaert,
Ciccotti and Berendsen 1977], which keeps the energy: the velocity along a row is reversed at each configuration,
dt/2 Jdot v before and -dt/2 Jdot v after, and an impulse does the work p . (J v + J v+) / 2. Where a row fades, as in a
singular position, Jdot v over its length is not to be trusted, so that no more than a multiple of the velocity before
is reversed: closures bring no energy.

What is left of the opening is closed by Newton's method with the basis of the start, as a displacement that changes no
velocity.
"""

from collections.abc import Sequence
from typing import Any

from pliant.contact.closures import closure_bends, closure_gaps, in_axes, in_world, island_basis
from pliant.contact.loops import Basis
from pliant.contact.solver import pushed_open
from pliant.dynamics.kinematics import link_motions, link_poses, root_origin
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot.configurations import held_acceleration, straight_motion
from pliant.scalar import Scalar, Scalars, abs, both, either, equal, maximum, minimum, negation, select
from pliant.simulation.model import StepModel
from pliant.simulation.step_factor import factor_of
from pliant.simulation.step_program import Record, StepProgram, poses_of
from pliant.spatial import Vector

# a velocity along a row is reversed with so many times itself at most
_REVERSED = 2

# share of the energy that a second may bring [1/s]
_GAIN = 1e-4

# Newton steps of a step
_CORRECTIONS = 12

# an open loop closes with this speed at most [m/s, rad/s]
_CORRECTION_SPEED = 1

# loops that are open less than this are closed [m, rad]
_CLOSED = {"float64": 1e-11, "float32": 2e-6}

# and a step that leaves them open by more has not converged [m, rad]
OPEN = {"float64": 1e-8, "float32": 1e-4}

# but for what no motion closes, as across a planar loop, since lengths in files have some seven digits [m, rad]
_INEXACT = {"float64": 1e-5, "float32": 1e-4}

_FAR = 1e30


def bends_of(m: StepModel, q: Scalars, v: Scalars, motion: Any) -> list[list[Scalar]]:
    """Jdot v of each closure; ``motion`` is the free motion of the step."""
    if not m.closures:
        return []
    mechanism = m.robot.mechanism
    # the motions of Newton-Euler, which a kernel computes once
    vd = held_acceleration(m.robot, list(v), motion.held_centers)
    motions, a_world = link_motions(mechanism, q, v, vd, -mechanism.gravity), -mechanism.gravity
    return [closure_bends(mechanism, c, motion.poses, motion.origin, v, motions, a_world) for c in m.closures]


def _chord(m: StepModel, k: int, motion: Record) -> list[Scalar]:
    """-dt/2 Jdot v of the rows of an island."""
    island = m.islands[k]
    bends = [0] * len(island.locks) + _along_rows(m, k, motion, motion["bends"])
    return [-m.dt / 2 * x for x in bends]


def _along_rows(m: StepModel, k: int, motion: Record, values: Any) -> list[Scalar]:
    """Values of closures along the rows of an island."""
    poses = poses_of(motion)
    return [x for c in m.islands[k].closures for x in in_axes(m.closures[c], poses, values[c])]


def _aim(step: StepProgram, k: int) -> None:
    """Turn ``aims`` from velocities along rows into those along the basis."""
    with step.only_if(f"strong {k}"):
        step.add(lambda m, basis, aims: {"aims": Basis(**basis).targets(aims)}, k)
    with step.only_if(f"weak {k}"):
        step.add(lambda m, basis, aims, factor: {"aims": Basis(**basis).targets(aims, factor)}, k)


def closed_turning_flag(m: StepModel, fastest: Scalar) -> Record:
    """Whether joints of a robot with loops turn so fast that Coriolis forces at the start would bring energy.

    They would, with a share of v^2 dt of it a second.
    """
    return {"bends": [fastest * fastest * m.dt > _GAIN]} if m.closures else {}


def close_loops(step: StepProgram) -> None:
    """The basis of each island, and w of the closed mechanism."""
    model = step.model
    if not model.closures:
        return

    def found(m: StepModel, motion, ldl, k=0):
        island, origin = m.islands[k], Vector(*motion["origin"])
        basis = island_basis(m.robot.mechanism, island, m.closures, poses_of(motion), origin, ldl, m.precision)
        gaps = [closure_gaps(m.closures[c], poses_of(motion), origin) for c in island.closures]
        flags = {"weak": [basis.is_weak], "strong": [negation(basis.is_weak)]}
        return {"basis": vars(basis), "aims": _chord(m, k, motion), "opening": [_largest(gaps)], **flags}

    def reversed_speeds(m: StepModel, ldl, start, basis, aims, k=0):
        island = m.islands[k]
        D = [ldl["D"][d] for d in island.support]
        targets = []
        for b, u in zip(aims, Basis(**basis).speeds([start[d] for d in island.support], D), strict=True):
            most = _REVERSED * abs(u)
            targets.append(minimum(maximum(b, -most), most))
        return {"chord": targets}

    def closed(m: StepModel, ldl: Record, w: Scalars, basis: Any, chord: Any) -> Record:
        out = list(w)
        for island, own, targets in zip(m.islands, basis, chord, strict=True):
            D = [ldl["D"][d] for d in island.support]
            there = Basis(**own).closed([w[d] for d in island.support], D, targets)
            for d, x in zip(island.support, there, strict=True):
                out[d] = x
        return {"w open": w, "w": out, "free": out if m.can_fail else [], "approach": out if m.is_elastic else []}

    def bias(m: StepModel, motion: Record, q: Scalars, v: Scalars) -> list[Scalar]:
        centers = {name: Vector(*c) for name, c in motion["held centers"].items()}
        return newton_euler(m.robot, q, v, held_acceleration(m.robot, list(v), centers))

    def turned(m: StepModel, q, v, motion, ldl, w, basis, chord, ahead, expects, change, left, start, pushes, jumps):
        factor = factor_of(m, ldl)
        own = factor.velocity(w)
        end = [select(equal(expects[0], 0), a, b) for a, b in zip(own, ahead, strict=True)]
        later = bias(m, motion, q, [(a + b) / 2 for a, b in zip(v, end, strict=True)])
        first = motion["bias"] or bias(m, motion, q, v)
        both = [c + m.dt * (a - b) for c, a, b in zip(change, first, later, strict=True)]
        left, steps = factor.eliminated([both[d] + x for d, x in enumerate(pushes)], dict(enumerate(jumps)))
        w = [a + b for a, b in zip(start, steps, strict=True)]
        return {**closed(m, ldl, w, basis, chord), "ahead": end, "left": [left[d] for d in m.pinned_dofs]}

    def whirled(m: StepModel, q, v, motion, ahead):
        # the impulse of the Coriolis forces, for `keep_energy`
        mean, still = [(a + b) / 2 for a, b in zip(v, ahead, strict=True)], [0] * m.robot.nv
        forces = zip(bias(m, motion, q, mean), newton_euler(m.robot, q, still, still), strict=True)
        return {"turning": [m.dt * (a - b) for a, b in forces]}

    for k in range(len(model.islands)):
        step.add(lambda m, motion, ldl, k=k: found(m, motion, ldl, k), k)
        with step.only_if(f"weak {k}"):
            step.add(lambda m, basis: {"factor": Basis(**basis).factor(m.precision)}, k)
        _aim(step, k)
        step.add(lambda m, ldl, start, basis, aims, k=k: reversed_speeds(m, ldl, start, basis, aims, k), k)
    step.add(lambda m, ldl, w, basis, chord: closed(m, ldl, w, basis, chord))
    if model.can_be_fast:
        with step.only_if("bends"):
            step.add(turned)
        with step.only_if("whirls"):
            step.add(whirled)


def push_open(step: StepProgram) -> None:
    """``w pushed``: w with the impulses of contacts as if loops did not answer, from which their own are found."""
    if not step.model.closures:
        return
    step.add(lambda m, w_open: {"w pushed": w_open})
    for k in range(len(step.model.groups)):

        def contacts(m: StepModel, ldl, rows, impulse, w_pushed, k=k):
            return {"w pushed": pushed_open(m.groups[k], rows, w_pushed, impulse, ldl["D_inverse"])}

        with step.only_if(f"near {k}"):
            step.add(contacts, k)


def load_pins(step: StepProgram) -> None:
    """What loops push at pinned dofs."""
    if not step.model.closures:
        return

    def loaded(m: StepModel, ldl, w, w_pushed, basis, pushed):
        total = dict(zip(m.pinned_dofs, pushed, strict=True))
        for island, own in zip(m.islands, basis, strict=True):
            loops, D = Basis(**own), [ldl["D"][d] for d in island.support]
            speeds = loops.speeds([w[d] - w_pushed[d] for d in island.support], D)
            for j, d in enumerate(island.support):
                if d in total:
                    total[d] = total[d] + sum((Q[j] * x for Q, x in zip(loops.Q, speeds, strict=True)), 0)
        return {"pushed": list(total.values())}

    push_open(step)
    step.add(loaded)


def find_closings(step: StepProgram) -> None:
    """The impulses of closures, and of locks in loops: what contacts, joints and forces do not explain of w."""
    model = step.model
    if not model.closures:
        return
    push_open(step)
    for k, island in enumerate(model.islands):

        def speeds(m: StepModel, ldl, w, w_pushed, basis, island=island):
            D = [ldl["D"][d] for d in island.support]
            return {"aims": Basis(**basis).speeds([w[d] - w_pushed[d] for d in island.support], D)}

        def found(m: StepModel, aims, steady, closings, motion, island=island):
            p, steady, closings, poses = iter(aims), list(steady), list(closings), poses_of(motion)
            for d in island.locks:
                steady[next(i for i, row in enumerate(m.steady_rows) if row.kind == "lock" and row.dof == d)] = next(p)
            for c in island.closures:
                at, own = sum(group.size for group in m.closures[:c]), m.closures[c]
                closings[at : at + own.size] = in_world(own, poses, [next(p) for _ in range(own.size)])
            return {"closings": closings, "steady": steady}

        step.add(speeds, k)
        with step.only_if(f"strong {k}"):
            step.add(lambda m, basis, aims: {"aims": Basis(**basis).impulses(aims)}, k)
        with step.only_if(f"weak {k}"):
            step.add(lambda m, basis, aims, factor: {"aims": Basis(**basis).impulses(aims, factor)}, k)
        step.add(found, k)


def close_positions(step: StepProgram) -> None:
    """A displacement beside the velocity, with which the loops are closed at the end of the step."""
    model = step.model
    if not model.closures:
        return

    def begun(m: StepModel, shift):
        shift = shift if m.has_corrections else [0] * m.robot.nv
        return {"shift": shift, "last shift": shift, "open": [_FAR], "reach": [_FAR], "closed": [0]}

    def looked(m: StepModel, q, v_next, v_mean, landed, shift, last_shift, open, reach, motion):
        gaps = _gaps_at(m, q, _rate(m, v_next, v_mean, landed, shift), motion)
        worst = _largest(gaps)
        # what stays open as it is, because no motion closes it, hides the rest
        better = worst < open[0] + _CLOSED[m.precision]
        # one that is wide open closes slowly, once in a step
        may = either(open[0] > _FAR / 2, worst <= _CORRECTION_SPEED * m.dt)
        left = minimum(worst, reach[0])
        goes_on = both(both(better, negation(left <= _CLOSED[m.precision])), may)
        aims = []
        for k, island in enumerate(m.islands):
            rates = [_closing_speed(x / m.dt) for x in _along_rows(m, k, motion, gaps)]
            aims.append([0] * len(island.locks) + [select(goes_on, x, 0) for x in rates])
        kept = [select(better, a, b) for a, b in zip(shift, last_shift, strict=True)]
        return {
            "aims": aims, "shift": kept, "last shift": kept, "open": [select(better, worst, open[0])],
            "closed": [negation(goes_on)],
        }  # fmt: skip

    def closer(m: StepModel, shift, ldl, basis, aims):
        # as a displacement in the coordinates w
        step_w: list[Scalar] = [0] * m.robot.nv
        reached = []
        for island, own, amounts in zip(m.islands, basis, aims, strict=True):
            loops = Basis(**own)
            for d, x in zip(island.support, loops.moved([0] * len(island.support), amounts), strict=True):
                step_w[d] = x
            reached.append(loops.rates(amounts))
        return {
            "reach": [_largest(reached) * m.dt],
            "shift": [a + b for a, b in zip(shift, factor_of(m, ldl).velocity(step_w), strict=True)],
        }

    step.add(begun)
    with step.stages.loop(_CORRECTIONS, until="closed"):
        step.add(looked)
        # nothing to do for robots whose loops are closed
        step.add(lambda m, closed: {"gaping": [negation(closed[0])]})
        with step.only_if("gaping"):
            for k in range(len(model.islands)):
                _aim(step, k)
            step.add(closer)


def unclosed(m: StepModel, open: Scalars, reach: Scalars, opening: Sequence[Scalars]) -> Scalar:
    """How far loops are open at the end of a step that should have closed them, as a velocity; 0 where it did.

    Loops that were wide open at its start close with a given speed. ``reach`` is how much of the opening the last
    correction could close.
    """
    left = select(open[0] > _INEXACT[m.precision], open[0], minimum(open[0], reach[0]))
    before: Scalar = 0
    for (x,) in opening:
        before = maximum(before, x)
    stays = both(left > OPEN[m.precision], open[0] > before - _CORRECTION_SPEED * m.dt / 2)
    return select(stays, open[0] / m.dt, 0)


def _largest(gaps: Sequence[Scalars]) -> Scalar:
    worst: Scalar = 0
    for x in (x for part in gaps for x in part):
        worst = maximum(worst, abs(x))
    return worst


def _closing_speed(rate: Scalar) -> Scalar:
    return minimum(maximum(-rate, -_CORRECTION_SPEED), _CORRECTION_SPEED)


def _rate(m: StepModel, v_next: Scalars, v_mean: Scalars, landed: Scalars, shift: Scalars) -> list[Scalar]:
    """The velocity with which positions move."""
    rate = v_next
    if m.can_land:
        rate = [select(equal(landed[0], 0), a, b) for a, b in zip(v_next, v_mean, strict=True)]
    return [a + b for a, b in zip(rate, shift, strict=True)]


def _gaps_at(m: StepModel, q: Scalars, rate: Scalars, motion: Record) -> list[list[Scalar]]:
    """How far the closures are open at the end of the step."""
    mechanism = m.robot.mechanism
    centers = {name: Vector(*c) for name, c in motion["centers"].items()}
    end = straight_motion(m.robot, list(q), list(rate), m.dt, centers)
    poses, origin = link_poses(mechanism, end, about_root=True), root_origin(mechanism, end)
    return [closure_gaps(c, poses, origin) for c in m.closures]
