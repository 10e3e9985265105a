"""THE step, semi-implicit, with rigid or compliant contact: one line a stage in `add_step`.

Each stage is a generic function that reads what its parameters name and writes the names that it returns; `StepProgram`
hands values on and makes a program of it, which is compiled for one robot and run for many. Loops are the program's: a
robot leaves one when it is done, or never enters. In the program, ``w`` is L v; of contact group k, ``near k`` says
whether the robot has it near the ground, ``rows k`` are its constraints and ``impulse k`` their impulses; of island k
of closed loops, ``basis k`` are the directions that it holds.

Dampers at joints and the gains of motors are taken at the end of the step. With K and D their matrices,
A = M + dt D + dt^2 K and

    A (v+ - v) = dt (f(q, v) - h(q, v) - (D + dt K) v)

which is stable however stiff they are and has the zeros of M: D is diagonal, and K has entries beside the diagonal
only among the dofs of one joint, where a spring has several axes. A spring is taken so, too, if it is too stiff for
the step to follow: its swing dies out. One that swings slowly must not, so its force is taken at
q + dt (v+ - v) / 4, which keeps its energy [Newmark 1959, with beta = 1/4] and leaves A stable, too. Between the
two, with w the frequency of the swing and r = 1 / (1 + (w dt)^12), the force is that at

    q + dt ((1 - 3/4 r) v+ - r/4 v)

axis by axis where a spring has several: one that is soft swings on beside one that is stiff.

A = L^T D L; the result is w = L v+. Both velocities are in the axes of the start, in which bodies that float keep
theirs (`pliant.robot.configurations`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pliant.actuation.body_forces import frame_spring_forces, outside_forces
from pliant.actuation.joint_forces import JointForces, joint_forces
from pliant.compiler.tracing import Stages
from pliant.contact.constraint_rows import tangents_of
from pliant.contact.solver import triples
from pliant.contact.touching import Drift, Group, Touch
from pliant.dynamics.gyroscopic import carried_centers, gyroscopic_change, held_centers
from pliant.dynamics.kinematics import link_motions, link_poses, link_velocities, root_origin
from pliant.dynamics.newton_euler import newton_euler
from pliant.dynamics.pinned_factor import pinned_factor
from pliant.robot.configurations import carried_velocity, held_acceleration, straight_motion
from pliant.scalar import Scalar, Scalars, abs, either, equal, maximum, minimum, negation, select, sqrt
from pliant.simulation.anderson_stages import accelerate
from pliant.simulation.contact_memory import memories_after
from pliant.simulation.counts import counted_plunges, counted_steps
from pliant.simulation.fast_stages import (
    END_PREDICTIONS, carry_along, expect_turning, keep_energy, turn_as_expected, turn_fast, turn_in_impacts,
    turning_flags,
)  # fmt: skip
from pliant.simulation.joint_stages import (
    Terms, check_joints, drive_record, drives_of, expect_pieces, law_terms, motor_torques, take_pieces,
    until_joints_agree,
)  # fmt: skip
from pliant.simulation.landing_stages import carry_spin, find_landings, left_over, solutions
from pliant.simulation.loop_stages import (
    bends_of, close_loops, close_positions, closed_turning_flag, find_closings, unclosed,
)  # fmt: skip
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.path_stages import follow_path
from pliant.simulation.solver_stages import (
    check_convergence, correct_positions, do_without_friction, find_contacts, go_on_from_here, sweep_contacts,
    sweeps, world_impulses,
)  # fmt: skip
from pliant.simulation.spring_stages import go_ahead, resolved, swung
from pliant.simulation.state import divergence_code, ticked, time_of
from pliant.simulation.step_factor import Matrix, entries_of_step, inertia_of_step
from pliant.simulation.step_program import Record, StepProgram, largest_known, parts_of, poses_of, touches_of
from pliant.spatial import Transform, Vector

_THREE_QUARTERS = 3 / 4

# a lasting force is at most so many times that of gravity and of turning
_LASTING = 4

# contacts are near if they could meet within the step at twice their speed and this much more [m/s]
_SPARE_SPEED = 5

# rounds to find out how fast robots turn
_ROUNDS = 4


def add_step(stages: Stages, model: StepModel, parameters: Parameters) -> None:
    """Add one step of length dt to a program that has q, v, u and the variables of the state."""
    step = StepProgram(stages, model, parameters)

    go_ahead(step)  # deflections, which are half a step behind
    expect_pieces(step)  # of the laws of motors and joints: those of the last step
    move_freely(step)  # forces and the matrix A of the step; which contacts are near
    with until_turning_agrees(step):  # again, if a robot turns otherwise than was expected
        begin_round(step)  # with the forces at the start, and the impulses so far
        turn_as_expected(step)  # only where it is known how the step ends
        turn_fast(step)  # only where joints turn much within the step
        turn_in_impacts(step)  # only where something was found to land, too
        with solutions(step):  # of the mean velocity; where something lands, also of that at the end of the step
            with until_joints_agree(step):  # again, if a motor or a joint is on another piece of its law
                with step.only_if("changed"):
                    take_pieces(step)  # A = L^T D L with the laws of joints, and w = L v as if nothing touched
                    close_loops(step)  # w of the closed mechanism, whose answers the rest of the solver sees
                    find_contacts(step)  # constraints of the near ones, and w with the impulses so far
                with sweeps(step):  # until no contact changes any more
                    sweep_contacts(step)
                    check_convergence(step)
                    accelerate(step)
                do_without_friction(step)  # only where iterations ran out
                check_joints(step)
                follow_path(step)  # only where contacts and joints go in circles: all laws at once
            find_landings(step)
        expect_turning(step)
        go_on_from_here(step)  # the impulses of this round are a start for the next one
    find_closings(step)  # forces of loops
    keep_energy(step)  # only where joints turn very much
    correct_positions(step)  # penetrations, without changing velocities
    close_positions(step)  # the same for loops
    carry_along(step)  # only where that moves them by much
    carry_spin(step)  # only where something lands
    finish(step)  # the new velocity, q from the mean one; a robot that diverges stays where it was


@contextmanager
def until_turning_agrees(step: StepProgram) -> Iterator[None]:
    """Rounds until Coriolis forces are those of the motion found, which they are at once as a rule."""
    model = step.model
    if model.can_be_fast:
        step.add(lambda m: {"expects": [0], "turns": [0, 0]})
    if model.has_impacts:
        step.add(lambda m: {"lags": [0], "lag": [0] * m.robot.nv})
    if not model.expects_turning:
        yield
        return
    with step.stages.loop(_ROUNDS, until="settled"):
        yield


# ---- free motion


@dataclass(frozen=True)
class FreeMotion:
    """Result of the stage.

    Attributes:
        A: of the step, as `inertia_of_step` begins it, without the laws of motors and joints; inertia: its diagonal.
        change: impulses A (v+ - v) of the forces, likewise; those that turning has are half of the end of the step.
        first: the change with all forces at the start; bias: h of them.
        forces: the same without those of turning, of a robot that may bounce.
        poses: of the links, in the world's axes about ``origin``.
        held_centers: centres of mass of all that hangs on joints that float, in the axes of their children.
        centers: the same in the middle of the step.
    """

    A: Matrix
    inertia: list[Scalar]
    change: list[Scalar]
    first: list[Scalar]
    forces: list[Scalar]
    bias: list[Scalar]
    poses: list[Transform]
    origin: Vector
    joints: JointForces
    held_centers: dict[str, Vector]
    centers: dict[str, Vector]


def free_motion(
    model: StepModel, q: Scalars, v: Scalars, u: Scalars, t: Scalar,
    laws: Terms | None = None, pushes: Mapping[int, Scalar] | None = None,
) -> FreeMotion:  # fmt: skip
    """The motion of a step if nothing touched.

    Args:
        laws: what motors and joints add, for predictions of the velocity at the end of the step.
        pushes: by dof, impulses of contacts that are expected: gyroscopic forces at the end of the step are those of
            the velocity that they lead to.
    """
    robot, dt = model.robot, model.dt
    mechanism = robot.mechanism
    poses = link_poses(mechanism, q, about_root=True)
    origin = root_origin(mechanism, q)

    # forces
    joints = joint_forces(robot, q, v, u, t, has_rows=True)
    on_links = outside_forces(robot, model.forces, poses, t, dt)
    if robot.springs:
        on_links.add_all(frame_spring_forces(robot, poses, origin, link_velocities(mechanism, q, v)))
    M, A = inertia_of_step(model, q)
    centers = held_centers(mechanism, M)

    def bias(v: Scalars) -> list[Scalar]:
        vd = held_acceleration(robot, list(v), centers)
        return newton_euler(robot, q, v, vd, on_links=on_links.listed(len(mechanism.links)))

    # inertia, and stiffness and damping taken implicitly
    h, change = bias(v), []
    for d in range(robot.nv):
        gain = joints.damping[d] + dt * joints.stiffness[d]
        A[d][d] = A[d][d] + dt * gain
        change.append(dt * (joints.f[d] - h[d] - gain * v[d]))
    for spring, axis in ((s, axis) for s in joints.springs for axis in s.axes):
        r = resolved(M, spring, axis, dt, model.swing_eases)
        for d, e, k in spring.entries(axis):
            A[d][e] = A[d][e] + dt * dt * (1 - r * _THREE_QUARTERS) * k
            lost = dt * dt * (1 - r) * k
            change[d] = change[d] - lost * v[e]
            if d != e:
                change[e] = change[e] - lost * v[d]

    # forces that depend on velocities, half of them at the end of the step
    first, still = list(change), bias([0] * robot.nv) if model.is_elastic else h
    forces = [a + dt * (b - c) for a, b, c in zip(first, h, still, strict=True)]
    pushed = [x + pushes.get(d, 0) for d, x in enumerate(change)] if pushes else change
    for link in mechanism.floating_links:
        for d, x in zip(link.dofs[3:], gyroscopic_change(link, M, A, pushed, v, dt), strict=True):
            change[d] = change[d] + x
    if model.has_balls and not model.expects_turning:
        terms = laws or Terms()
        factor = pinned_factor(mechanism, terms.matrix(A), terms.pins)
        start = factor.coordinates(v)
        for _ in range(END_PREDICTIONS):
            _, steps = factor.eliminated(terms.impulses(change), terms.jumps)
            later = bias(factor.velocity([a + b for a, b in zip(start, steps, strict=True)]))
            change = [a + dt / 2 * (b - c) for a, b, c in zip(first, h, later, strict=True)]
    carried = carried_centers(mechanism, M, v, dt)
    inertia = [A[d][d] + (M[d][d] if model.is_recursive else 0) for d in range(robot.nv)]
    return FreeMotion(A, inertia, change, first, forces, h, poses, origin, joints, centers, carried)


def move_freely(step: StepProgram) -> None:
    """Forces and A; gaps of all contacts, and which of them are near."""

    def moved(m: StepModel, q, v, u, clock, impulses, saturated, grips, held, motor_memory, bounds=()):
        time, limits = time_of(clock, m.dt), list(bounds)[len(m.steady_rows) :]
        low, high = [b["low"] for b in limits], [b["high"] for b in limits]
        found = drives_of(m, q, v, u, clock, motor_memory)
        given = [drive_record(d, m.dt, is_friction=k >= m.robot.nu) for k, d in enumerate(found)]
        laws = law_terms(m, given, bounds, v, saturated, grips, held, low, high)
        pushes = _expected_pushes(m, q, v, impulses) if m.has_round_shapes else None
        motion = free_motion(m, q, v, u, time, laws, pushes)
        # only curved ground takes the velocities of the links
        velocities = link_velocities(m.robot.mechanism, q, v)
        drift = _drift(m, q, v, motion.centers) if m.has_round_shapes else None
        touches = [group.touches(motion.poses, motion.origin, m.ground, velocities, drift) for group in m.groups]
        near = [_is_near(m, group, found, v) for group, found in zip(m.groups, touches, strict=True)]
        # first those that tell whether the robot is fast
        fastest = largest_known([abs(v[d]) for d in dict.fromkeys((*m.turning_dofs, *range(m.robot.nv)))])
        return {
            "motion": {
                "A": entries_of_step(m, motion.A),
                "first": motion.first if m.can_be_fast else [],
                "bias": motion.bias if m.can_be_fast and not (m.forces or m.robot.springs) else [],
                "centers": {name: list(c) for name, c in motion.centers.items()},
                "held centers": {name: list(c) for name, c in motion.held_centers.items()},
                "poses": {i: [*motion.poses[i].R.matrix(), *motion.poses[i].p] for i in _links_of_rows(m)},
                "origin": list(motion.origin),
                "touches": [[[t.gap, *t.normal, *t.p, t.bend, *t.roll] for t in found] for found in touches],
                "drives": given,
                "bends": bends_of(m, q, v, motion),
                "change": motion.change,
                "turns": turning_flags(m, v, motion.inertia, laws, laws.impulses(motion.change)),
                "low": low,
                "high": high,
            },
            "forces": motion.forces if m.is_elastic else [],
            **closed_turning_flag(m, fastest),
            "scale": [1 + fastest / 10],
            "near": [[x] for x in near],
        }

    step.add(moved)


def begin_round(step: StepProgram) -> None:
    """What a round changes, as it was at the start; and impulses of contacts, those of the last round or step."""

    def begun(m: StepModel, motion, near, v, impulses, moments, turns=(), ahead=(), expects=()):
        before = parts_of(impulses, [3 * len(g.names) for g in m.groups])
        turning = parts_of(moments, [3 * len(g.turning) for g in m.groups])
        # along the axes of the contacts
        along = []
        for k, (group, part, more) in enumerate(zip(m.groups, before, turning, strict=True)):
            axes = [(*tangents_of(touch.normal), touch.normal) for touch in touches_of(motion, k)]
            axes += [axes[j] for j in group.turning]
            along.append([axis.dot(p) for p, own in zip(triples([*part, *more]), axes, strict=True) for axis in own])
        found: Record = {}
        if m.can_be_fast:
            flags = zip(motion["turns"], turns, strict=True)
            fast, whirls = (either(negation(equal(a, 0)), negation(equal(b, 0))) for a, b in flags)
            found = {"fast": [fast], "whirls": [whirls]}
            if m.has_balls or m.closures:
                found["ahead"] = [select(equal(expects[0], 0), a, b) for a, b in zip(v, ahead, strict=True)]
        return {
            **found,
            "change": motion["change"],
            "stop low": motion["low"],
            "stop high": motion["high"],
            "changed": [1],
            "landed": [0],
            "plastic": [0],
            "unsolved": [0],
            "impulse": [[select(on[0], x, 0) for x in part] for on, part in zip(near, along, strict=True)],
        }

    step.add(begun)


def _expected_pushes(m: StepModel, q: Scalars, v: Scalars, impulses: Scalars) -> dict[int, Scalar]:
    """Impulses of the ground on links that float, by dof, as in the last step: a disc that rolls is turned by them.

    An impact does not last: of one, only so much counts as gravity and turning make a contact push within a step.
    """
    mechanism = m.robot.mechanism
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    g = Vector(*m.robot.gravity)
    floating = {link.index for link in mechanism.floating_links}
    found: dict[int, Scalar] = {}
    given = zip(m.groups, parts_of(impulses, [3 * len(group.names) for group in m.groups]), strict=True)
    for group, part in given:
        link = next((i for i in (group.a, *mechanism.ancestors(group.a)) if i in floating), None)
        if link is None or group.b >= 0:
            continue
        X, dofs = poses[link], mechanism.links[link].dofs
        w = Vector(*(v[d] for d in dofs[3:]))
        for touch, p in zip(group.touches(poses, origin, m.ground), triples(part), strict=True):
            r, p = X.R.rotate_back(touch.p - X.p), X.R.rotate_back(p)
            most = _LASTING * m.dt * m.robot.mass * (sqrt(g.dot(g)) + w.dot(w) * sqrt(r.dot(r)))
            share = minimum(1, most / sqrt(p.dot(p) + 1e-30))
            for d, x in zip(dofs, (*p, *r.cross(p)), strict=True):
                found[d] = found.get(d, 0) + x * share
    return found


def _drift(m: StepModel, q: Scalars, v: Scalars, centers: Mapping[str, Vector]) -> Drift:
    """How the links go on in the step if nothing acts on them."""
    vd = held_acceleration(m.robot, list(v), centers)
    return Drift(link_motions(m.robot.mechanism, q, v, vd, Vector.zero()), m.dt)


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
        m: StepModel, q, v, u, v_next, v_mean, landed, shift, clock, divergence, motion, residual, iterations,
        converged, unsolved, near, rows, impulse, rest, w, contact_memory, unconverged, plunges, solver, scale,
        opening, saturated, agreed, misfit, q_start=None, open=None, reach=(),
    ):  # fmt: skip
        touches = [touch for k in range(len(m.groups)) for touch in touches_of(motion, k)] if m.has_relief else []
        cause = divergence_code(m, u, v_next, divergence[0], touches)
        moves = equal(cause, 0)
        rate = v_next
        if m.can_land:
            rate = [select(equal(landed[0], 0), a, b) for a, b in zip(v_next, v_mean, strict=True)]
        is_shifted = m.has_corrections or m.closures
        rate = [a + b for a, b in zip(rate, shift, strict=True)] if is_shifted else rate
        centers = {name: Vector(*c) for name, c in motion["centers"].items()}
        q_next, rounded = _far_moved(m, q, rate, centers, rest)
        v_end, q_solved = v_next, q
        v_next = carried_velocity(m.robot, v_next, m.dt, rate, centers)
        q_next, q = swung(m, step.swings, q_next, v_next, -m.dt / 2), q if q_start is None else q_start
        deepest = 0
        for touch in (touch for k in range(len(m.groups)) for touch in touches_of(motion, k)):
            deepest = maximum(deepest, -touch.gap)
        kept = memories_after(m, poses_of(motion), near, rows, w) if m.memory else []
        # the largest residual of the solutions that were not found; the last may be one that was
        left = unsolved[0] if m.can_land else left_over(m, converged, residual, agreed, misfit)
        if open is not None:
            gaping = unclosed(m, open, reach, opening)
            left, residual = maximum(left, gaping), [maximum(residual[0], gaping)]
        counts: Record = {"unconverged": [], "plunges": []}
        if m.has_rows:
            counts["unconverged"] = counted_steps(unconverged, left > 0, left, moves)
        if m.can_plunge:
            steps, way = counts["unconverged"][0], 10 * (scale[0] - 1) * m.dt
            counts["plunges"] = counted_plunges(plunges, steps, deepest, solver[2], way, moves)
        felt: Record = {}
        if m.feels_forces:
            # what the step was solved for: M vd + h = f, with the forces at its start
            held = held_acceleration(m.robot, list(v), {name: Vector(*c) for name, c in motion["held centers"].items()})
            vd = [(b - a) / m.dt + c for a, b, c in zip(v, v_end, held, strict=True)]
            felt = {"q solved": q_solved, "v solved": v, "vd solved": vd}
        torques = motor_torques(m, motion, saturated, v_next)
        told = [maximum(residual[0], left), iterations[0], deepest, select(left > 0, 1, 0)]
        return {
            "q": [select(moves, a, b) for a, b in zip(q_next, q, strict=True)],
            "v": [select(moves, a, b) for a, b in zip(v_next, v, strict=True)],
            "clock": ticked(clock, 1, moves),
            "divergence": [cause],
            "rest": [select(moves, a, b) for a, b in zip(rounded, rest, strict=True)],
            "contact memory": [select(moves, a, b) for a, b in zip(kept, contact_memory, strict=True)],
            **world_impulses(m, near, rows, impulse),
            "torques": torques[: m.robot.nu],
            "frictions": torques[m.robot.nu :],
            "solver": told if m.has_rows else [0, 0, deepest, 0],
            **counts,
            **felt,
        }

    step.add(finished)


def _far_moved(
    m: StepModel, q: Scalars, rate: Scalars, centers: dict[str, Vector], rest: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """The new q; and of places of joints that float, what rounding has taken off, in float32.

    A kilometre from the origin, float32 has steps of 60 um, and a robot that walks moves less in a step. So what is
    left over is kept for the next one [Kahan 1965].
    """
    places = m.kept_places
    near = [0 if i in places else x for i, x in enumerate(q)]
    moved, left = straight_motion(m.robot, near, list(rate), m.dt, centers), []
    for i, x in zip(places, rest, strict=True):
        move = moved[i] + x
        moved[i] = q[i] + move
        left.append(move - (moved[i] - q[i]))
    return moved, left
