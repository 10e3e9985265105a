"""Stages for robots whose contacts and joints do not agree in turn: all laws at once (`pliant.contact.path`).

Few robots come here, and few of them twice. The path is followed until its corners are rounded by little, which tells
the pieces of all joints and next to all of the impulses at contacts; rounds go on from there. If they still do not
agree, the path is followed further, then again with shorter steps. What it finds is taken as it is: contacts with
friction may have several solutions, and those that joints can agree with need not be the ones that visits to contacts
lead to.

Where no solution is found, the last path is that without friction at the contacts, whose problem is convex. The step
still counts as one that did not converge.
"""

from collections.abc import Sequence

from pliant.actuation.joint_forces import is_saturable
from pliant.contact.newton import basis_of
from pliant.contact.path import LONGEST, GroundGroup, GroundLaw, JointLaw, Laws, Walk, impulses, pieces, walked
from pliant.contact.solver import constraint_rows, least_speed
from pliant.scalar import Scalar, Scalars, both, either, equal, maximum, negation, select
from pliant.simulation.joint_stages import UNSOLVED, motor_shafts
from pliant.simulation.model import StepModel
from pliant.simulation.solver_stages import FAILURE
from pliant.simulation.step_program import Record, StepProgram, poses_of, touches_of
from pliant.spatial import Vector

# points of a path that are looked at before rounds go on
_POINTS = 150

# radius of the corners at the start, when rounds go on for the first time, and later on [m/s]
_START, _GOAL = 10, 1e-3
_SMALLEST = {"float64": 1e-9, "float32": 1e-6}

# tries after the first one have steps along the path that are at most as long
_LONGEST = (LONGEST / 2, LONGEST / 4, LONGEST / 8)

# a path that goes to larger radii than this has been left: it is walked back
_LOST = 100

# corners that are rounded by more tell nothing about joints
_TELLING = 1e-2

_VECTORS = ("x", "base", "tangent")
_NUMBERS = ("s", "base_s", "tangent_s", "length", "left", "count", "begun", "longest")


def follow_path(step: StepProgram) -> None:
    """Where contacts and joints go in circles, pieces and impulses from the path to a solution of all laws."""
    model = step.model
    if not model.has_path:
        return
    contacts = sum(len(group.names) for group in model.groups)
    motors = sum(map(is_saturable, model.robot.motors.values()))
    size = model.robot.nv + len(model.joint_rows) + motors + 3 * contacts
    for name in _VECTORS:
        step.stages.variable(f"path {name}", size)
    step.stages.variable("path numbers", len(_NUMBERS))
    for name in ("ended", "smooth"):
        step.stages.variable(name, 1)

    def begun(m: StepModel, v, scale, goal, tries, residual, path_x, path_base, path_tangent, path_numbers):
        longest: Scalar = LONGEST
        for k, most in enumerate(_LONGEST, start=1):
            longest = select(equal(tries[0], k), most, longest)
        start = _record(Walk.start(v, size, _START * scale[0], longest))
        before = _walk(path_x, path_base, path_tangent, path_numbers)
        # once, a path that led to its goal is followed further
        anew = negation(both(equal(tries[0], 1), before.base_s <= goal[0]))
        chosen = {
            key: [select(anew, a, b) for a, b in zip(start[key], x, strict=True)] for key, x in _record(before).items()
        }
        return {
            **chosen, "goal": [scale[0] * select(equal(tries[0], 0), _GOAL, _SMALLEST[m.precision])],
            "residual": [select(anew, FAILURE, residual[0])],
            "smooth": [tries[0] > len(_LONGEST)], "tries": [tries[0] + 1],
        }  # fmt: skip

    def went_on(
        m: StepModel, motion, v, change, stop_low, stop_high, bounds, near, rows, target, goal, scale, smooth,
        residual, path_x, path_base, path_tangent, path_numbers,
    ):  # fmt: skip
        laws = laws_of(m, motion, v, change, stop_low, stop_high, bounds, near, rows, target, smooth)
        walk, is_on, worst = walked(laws, _walk(path_x, path_base, path_tangent, path_numbers), m.precision)
        is_solved = both(is_on, worst <= m.contact.tolerance_in(m.precision) * scale[0])
        ends = either(walk.base_s <= goal[0], walk.base_s > _LOST * scale[0])
        ended = either(is_solved, both(is_on, ends))
        return {**_record(walk), "ended": [ended], "residual": [select(is_on, worst, residual[0])]}

    def taken(
        m: StepModel, motion, v, change, stop_low, stop_high, bounds, near, rows, target, smooth, scale, tries,
        residual, path_base, path_numbers, saturated, held, grips, impulse,
    ):  # fmt: skip
        laws = laws_of(m, motion, v, change, stop_low, stop_high, bounds, near, rows, target, smooth)
        base_s = path_numbers[_NUMBERS.index("base_s")]
        tells = base_s <= _TELLING * scale[0]
        found = iter(pieces(laws, path_base))

        def chosen(new: Scalars, now: Scalars) -> list[Scalar]:
            return [select(tells, a, b) for a, b in zip(new, now, strict=True)]

        motors = [next(found) if drive["is limited"] else 0 for drive in motion["drives"]]
        limits = [next(found) for _ in m.stop_rows]
        steady = [next(found) if row.kind == "friction" else 0 for row in m.steady_rows]
        # taken as it is: a solution; later on also what is nearly one, and in the end one without friction
        tolerance = m.contact.tolerance_in(m.precision) * scale[0]
        nearly = maximum(tolerance, UNSOLVED[m.precision] * scale[0])
        is_whole = residual[0] <= select(tries[0] > 1, nearly, tolerance)
        return {
            "saturated": chosen(motors, saturated), "held": chosen(limits, held), "grips": chosen(steady, grips),
            "impulse": [chosen(*parts) for parts in zip(impulses(laws, path_base), impulse, strict=True)],
            "sweeping": [negation(is_whole)], "residual": [select(equal(smooth[0], 0), residual[0], FAILURE)],
        }  # fmt: skip

    with step.only_if("circles"):
        step.add(begun)
        with step.stages.loop(_POINTS, until="ended"):
            step.add(went_on)
        step.add(taken)


def laws_of(
    m: StepModel, motion: Record, v: Scalars, change: Scalars, low: Scalars, high: Scalars, bounds: Sequence[Record],
    near: Sequence[Scalars], rows: Sequence[Record], target: Sequence[Scalars], smooth: Scalars,
) -> Laws:  # fmt: skip
    """All laws of a step, in the order of motors, limits and steady rows; contacts may be ``smooth``."""
    A = {d: dict(row) for d, row in motion["A"].items()}
    b = list(change)
    for d, row in A.items():
        for e, entry in row.items():
            b[d] = b[d] + entry * v[e]
            if e != d:
                b[e] = b[e] + entry * v[d]
    ease = [1 / A[d][d] for d in range(len(b))]
    joints = []
    for drive, shaft in zip(motion["drives"], motor_shafts(m), strict=True):
        d, push, gain = next(iter(shaft.columns)), m.dt * drive["torque"], m.dt * drive["gain"]
        if drive["is limited"]:
            numbers = (push, gain, m.dt * drive["lower"], m.dt * drive["upper"])
            joints.append(JointLaw(d, ease[d], "motor", numbers))
        else:
            A[d][d], b[d] = A[d][d] + gain, b[d] + push
    for row, *ends in zip(m.stop_rows, low, high, strict=True):
        joints.append(JointLaw(row.dof, ease[row.dof], "limit", ends))
    for row, own in zip(m.steady_rows, bounds, strict=False):
        kind = "friction" if row.kind == "friction" else "limit"  # a lock is a limit on both sides
        numbers = (own["friction"],) if row.kind == "friction" else (own["low"], own["high"])
        joints.append(JointLaw(row.dof, ease[row.dof], kind, numbers))
    given = enumerate(zip(near, rows, target, strict=True))
    groups = [_ground_group(m, k, motion, ease, smooth, *own) for k, own in given]
    return Laws(A, b, m.robot.mechanism.support, joints, groups)


def _ground_group(
    m: StepModel, k: int, motion: Record, ease: Scalars, smooth: Scalars, near: Scalars, rows: Record, target: Scalars
) -> GroundGroup:
    """The contacts of group k, whose rows and targets are these."""
    J = constraint_rows(m.robot.mechanism, m.groups[k], poses_of(motion), touches_of(motion, k))
    g: Scalar = 0
    for row in J[:3]:
        g = maximum(g, sum((x * x * ease[d] for d, x in row.items()), 0))
    contacts = []
    for own, normal in zip(rows["contacts"], target, strict=True):
        B = basis_of(own) if len(J) > 3 else [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        mu, (slip_x, slip_y) = select(equal(smooth[0], 0), own["mu"], 0), own["slip"]
        contacts.append(GroundLaw(B, Vector(slip_x, slip_y, least_speed(own, normal)), mu, g))
    return GroundGroup(negation(equal(near[0], 0)), J, contacts)


def _walk(x: Scalars, base: Scalars, tangent: Scalars, numbers: Scalars) -> Walk:
    return Walk(x=x, base=base, tangent=tangent, **dict(zip(_NUMBERS, numbers, strict=True)))


def _record(walk: Walk) -> Record:
    """A walk as the program keeps it."""
    found: Record = {f"path {name}": list(getattr(walk, name)) for name in _VECTORS}
    return {**found, "path numbers": [getattr(walk, name) for name in _NUMBERS]}
