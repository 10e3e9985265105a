"""The step of the integrators of smooth motion, as stages of a program: forces, accelerations, and the state after it.

An integrator brings a body of statements over the variables t, q, v and dt, and what it reports at the end: `_REPORTS`.
What a contact law remembers moves with q and v: it has rates as v has, and takes part in each stage. The implicit
midpoint rule finds it at the middle of the step, where its rate is taken. After a step, the law settles its memory.

A robot that is held (`pliant.simulation.holds`) has constrained accelerations, and q and v are projected onto the
constraints after each step. A robot that does not begin on them is brought there before its first step.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pliant.actuation.body_forces import LinkForces, frame_spring_forces, outside_forces
from pliant.actuation.joint_forces import States, joint_forces, motor_torques
from pliant.checks import is_zero
from pliant.compiler.tracing import Stages
from pliant.contact.touching import Touch
from pliant.dynamics.articulated_body import mass_matrix_solution
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.dynamics.newton_euler import newton_euler
from pliant.integrators.adaptive import StepControl, TrialStep, adaptive_body
from pliant.integrators.held_midpoint import Held, held_midpoint_body
from pliant.integrators.midpoint import midpoint_body
from pliant.integrators.rosenbrock import RODAS5P, rosenbrock_step
from pliant.integrators.runge_kutta import RK4, Acceleration, WithMemory, explicit_body
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, abs, both, either, equal, is_constant, maximum, negation, select
from pliant.simulation.contact_memory import memory_ahead, memory_kept, memory_rates, rotation_of
from pliant.simulation.counts import counted, counted_steps
from pliant.simulation.held_motion import (
    OPEN, closer, held_acceleration, held_report, is_off, is_open, projected, spring_rows,
)  # fmt: skip
from pliant.simulation.linear_motion import linear_held_motion, linear_motion
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.state import LARGEST, divergence_code, steps_code, ticked, time_of, unclosed_code
from pliant.spatial import Force, Motion, Transform, Vector

# iterations that bring a robot onto its constraints before a step
_CLOSING = 40


def smooth_acceleration(
    model: StepModel, t: Scalar, q: Scalars, v: Scalars, u: Scalars, memory: Scalars = (), states: States = ()
) -> list[Scalar]:
    """vd of M vd + h = f + J^T p, with all forces at the time t.

    p are the forces of what holds the robot, if anything does. ``memory`` is that of the contact law, ``states`` what
    the motors remember.
    """
    force = _driving_forces(model, t, q, v, u, memory, states)
    if model.holds:
        return held_acceleration(model, q, v, force)
    return mass_matrix_solution.algorithm(model.robot, q, force)


def _driving_forces(
    model: StepModel, t: Scalar, q: Scalars, v: Scalars, u: Scalars, memory: Scalars, states: States
) -> list[Scalar]:
    """f - h, nv."""
    f, on_links = _forces(model, t, q, v, u, memory, states)
    h = newton_euler(model.robot, q, v, [0] * model.robot.nv, on_links=on_links)
    return [a - b for a, b in zip(f, h, strict=True)]


def smooth_forces(
    model: StepModel, t: Scalar, q: Scalars, v: Scalars, u: Scalars, memory: Scalars = (), states: States = ()
) -> list[Scalar]:
    """Joint forces, with those on bodies taken to the joints: f of M vd + C v + g = f."""
    f, on_links = _forces(model, t, q, v, u, memory, states)
    if on_links is None:
        return f
    zero = [0] * model.robot.nv
    weightless = model.robot.with_gravity(0, 0, 0)
    taken = newton_euler(weightless, q, zero, zero, on_links=on_links)
    return [a - b for a, b in zip(f, taken, strict=True)]


def _forces(
    model: StepModel, t: Scalar, q: Scalars, v: Scalars, u: Scalars, memory: Scalars, states: States
) -> tuple[list[Scalar], list[Force] | None]:
    """Forces at the dofs, and on each link, if there are any."""
    robot, mechanism = model.robot, model.robot.mechanism
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    velocities = link_velocities(mechanism, q, v)
    total = outside_forces(robot, model.forces, poses, t, model.dt)
    total.add_all(frame_spring_forces(robot, poses, origin, velocities))
    total.add_all(_contacts_on_links(model, poses, origin, velocities, memory))
    return joint_forces(robot, q, v, u, t, states=states).at(v), total.listed(len(mechanism.links))


def contact_forces(
    model: StepModel, poses: Sequence[Transform], origin: Vector, velocities: Sequence[Motion], memory: Scalars = ()
) -> list[tuple[int, int, Touch, Vector]]:
    """The forces of compliant contacts: links, place, and force on the first link, in the world's axes.

    A contact that is held has no force here: what holds it is a constraint.
    """
    found: list[tuple[int, int, Touch, Vector]] = []
    for group, memories in zip(model.groups, model.memories(memory), strict=True):
        touches = group.touches(poses, origin, model.ground)
        for name, touch, own in zip(group.names, touches, memories, strict=True):
            force = Vector.zero()
            if not model.is_rigid and name not in model.held:
                u = group.velocity(touch, poses, velocities)
                force = model.contact.force_on(touch, u, own, rotation_of(group, poses))
            found.append((group.a, group.b, touch, force))
    return found


def _contacts_on_links(
    model: StepModel, poses: Sequence[Transform], origin: Vector, velocities: Sequence[Motion], memory: Scalars
) -> LinkForces:
    total = LinkForces()
    if model.is_rigid:
        return total
    for a, b, touch, f in contact_forces(model, poses, origin, velocities, memory):
        for i, force in ((a, f), (b, -f)):
            if i >= 0 and not is_zero(*f):
                R = poses[i].R
                total.add(i, Force(R.rotate_back(force), R.rotate_back((touch.p - poses[i].p).cross(force))))
    return total


def add_smooth_step(stages: Stages, parameters: Parameters, integrator: str, control: StepControl, steps: int) -> None:
    """Add a step of an integrator to a program that has q, v, u and the variables of the state.

    Args:
        integrator: "euler", "rk4", "midpoint", "dormand-prince" or "rosenbrock".
        control: tolerances of the adaptive integrator.
        steps: how many steps of the clock it makes in one.
    """
    model = parameters.structure
    robot = model.robot
    extra, statements = _body(parameters, integrator, control)
    own = {"t": 1, "t_end": 1, "dt": 1, "q start": robot.nq, "v start": robot.nv}
    if model.memory:
        size = stages.variables["contact memory"]
        own |= {"v and memory": robot.nv + size, "memory next": size}
    for name, size in (own | extra).items():
        if name not in stages:
            stages.variable(name, size)

    def begin(clock, q, v):
        t = time_of(clock, model.dt)
        return {"t": [t], "t_end": [t + steps * model.dt], "dt": [model.dt], "q start": q, "v start": v}

    stages.add(begin, ("clock", "q", "v"))
    if model.holds:
        _add_closing(stages, parameters)
    is_adaptive = integrator in ("dormand-prince", "rosenbrock")
    if is_adaptive:
        stages.add(lambda: {"trouble": [0], "accepted": [0], "rejected": [0]}, ())
    if model.memory:
        stages.add(lambda v, memory: [*v, *memory], ("v", "contact memory"), ("v and memory",))
    stages.extend(statements)
    if model.memory:
        _add_memory(stages, parameters, integrator)
    report, reads = _REPORTS["adaptive" if is_adaptive else integrator]
    stages.add(report, reads)

    def finish(q, v, q_start, v_start, u, clock, divergence, report, memory, unconverged, motor_memory, p, *after):
        m = parameters.applied(p)
        mechanism = m.robot.mechanism
        touches = (
            _checked_touches(m, q, v, q_start, v_start, report["stuck"]) if m.has_relief and not m.is_rigid else []
        )
        cause = divergence_code(m, u, v, divergence[0], touches)
        if not is_constant(report["stuck"]):
            cause = select(equal(cause, 0), select(report["stuck"] > 0, steps_code(m.robot), 0), cause)
        if m.holds:
            cause = select(both(equal(divergence[0], 0), after[-1][0] > 0), unclosed_code(m), cause)
        moves = equal(cause, 0)
        poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
        kept = memory_kept(m, q, v, after[0]) if m.memory else []
        touching, deepest = contact_forces(m, poses, origin, link_velocities(mechanism, q, v), kept), 0
        for *_, touch, _ in touching:
            deepest = maximum(deepest, -touch.gap)
        # integrators without iterations have nothing to count
        counts = (
            {}
            if not len(unconverged)
            else {"unconverged": counted_steps(unconverged, report["unsolved"] > 0, report["change"], moves)}
        )
        return {
            "q": [select(moves, a, b) for a, b in zip(q, q_start, strict=True)],
            "v": [select(moves, a, b) for a, b in zip(v, v_start, strict=True)],
            "clock": ticked(clock, steps, moves),
            "divergence": [cause],
            "contact memory": [select(moves, a, b) for a, b in zip(kept, memory, strict=True)],
            "torques": motor_torques(m.robot, q, v, u, time_of(clock, m.dt), m.motor_memory.states(motor_memory)),
            "impulses": [x * m.dt for *_, f in touching for x in f],
            "solver": [report["change"], 0, deepest, report["unsolved"]],
            **counts,
        }

    state = ("q", "v", "q start", "v start", "u", "clock", "divergence", "report", "contact memory", "unconverged")
    more = [*(["memory next"] if model.memory else []), *(["unclosed"] if model.holds else [])]
    stages.add(finish, (*state, "motor memory", "parameters", *more))
    if model.holds:
        _add_held_report(stages, parameters)


# ---- robots that are held


def _add_closing(stages: Stages, parameters: Parameters) -> None:
    """Bring robots that are not on their constraints there, as a blow would; "unclosed" where that is not possible."""
    for name in ("open", "closed", "unclosed"):
        if name not in stages:
            stages.variable(name, 1)

    def look(q, v, anchors, p):
        return [is_off(parameters.applied(p), q, v, anchors)]

    def close(q, v, anchors, p):
        q, v, is_closed = closer(parameters.applied(p), q, v, anchors)
        return q, v, [is_closed]

    reads = ("q", "v", "anchors", "parameters")
    stages.add(look, reads, ("open",))
    with stages.loop(_CLOSING, until="closed", when="open"):
        stages.add(close, reads, ("q", "v", "closed"))
    stages.add(
        lambda q, anchors, p: [is_open(parameters.applied(p), q, anchors)], (reads[0], *reads[2:]), ("unclosed",)
    )


def _add_held_report(stages: Stages, parameters: Parameters) -> None:
    """Forces of what holds a robot, after a step, and counts of what it should not do."""
    model = parameters.structure
    rows = {row: k for k, row in enumerate(model.steady_rows)}
    places = [rows[lock] for lock in model.holds.locks]

    def report(
        q, v, u, clock, memory, anchors, impulses, unconverged, divergence, openings, releases, motor_memory, p
    ):  # fmt: skip
        m = parameters.applied(p)
        states = m.motor_memory.states(motor_memory)
        force = _driving_forces(m, time_of(clock, m.dt), q, v, u, memory, states)
        found = held_report(m, q, v, force, anchors)
        pushes = [*impulses]
        for held, f in zip(m.holds.touches, found.touches, strict=True):
            pushes[3 * held.touch : 3 * held.touch + 3] = [x * m.dt for x in f]
        steady: list[Scalar] = [0] * len(rows)
        for k, f in zip(places, found.locks, strict=True):
            steady[k] = f * m.dt
        moves, steps = equal(divergence[0], 0), unconverged[0]
        is_wide = both(moves, negation(found.gap <= OPEN[m.precision]))
        wrong = {"openings": counted(openings, steps, is_wide, found.gap)}
        if len(releases):
            pulls = both(moves, found.excess > 0)
            is_worst = both(pulls, found.excess > releases[2])
            counts = counted(releases[1:], steps, pulls, found.excess)
            wrong["releases"] = [select(is_worst, found.worst, releases[0]), *counts]
        return {"impulses": pushes, "steady": steady, "closings": [f * m.dt for f in found.closings], **wrong}

    parts = (
        "contact memory",
        "anchors",
        "impulses",
        "unconverged",
        "divergence",
        "openings",
        "releases",
        "motor memory",
    )
    stages.add(report, ("q", "v", "u", "clock", *parts, "parameters"))


def _add_memory(stages: Stages, parameters: Parameters, integrator: str) -> None:
    """What the contact law remembers after the statements of an integrator."""
    nv = parameters.structure.robot.nv
    if integrator != "midpoint":
        stages.add(lambda both: (both[:nv], both[nv:]), ("v and memory",), ("v", "memory next"))
        return

    def ahead(q, v, v_end, dt, memory, p):
        m = parameters.applied(p)
        mean = [(a + b) / 2 for a, b in zip(v, v_end, strict=True)]
        middle = list(m.robot.integrate(q, mean, dt[0] / 2))
        half = memory_ahead(m, middle, mean, memory, dt[0] / 2)
        return [2 * b - a for a, b in zip(memory, half, strict=True)]

    reads = ("q start", "v start", "v", "dt", "contact memory", "parameters")
    stages.add(ahead, reads, ("memory next",))


def _checked_touches(
    m: StepModel, q: Scalars, v: Scalars, q_start: Scalars, v_start: Scalars, stuck: Scalar
) -> list[Touch]:
    """Contacts where the ground must have a height: at the end of the step, or where it was about to be.

    A ground without one makes velocities NaN and the place with them, or an adaptive integrator stop short of it; then
    the place to which the last velocity leads tells.
    """
    mechanism, is_lost = m.robot.mechanism, stuck > 0
    for x in (*q, *v):
        is_lost = either(is_lost, negation(abs(x) <= LARGEST[m.precision]))
    ahead = m.robot.integrate(list(q_start), [x * m.dt for x in v_start])
    place = [select(is_lost, a, b) for a, b in zip(ahead, q, strict=True)]
    poses, origin = link_poses(mechanism, place, about_root=True), root_origin(mechanism, place)
    return [touch for group in m.groups for touch in group.touches(poses, origin, m.ground)]


def _body(parameters: Parameters, integrator: str, control: StepControl) -> tuple[dict[str, int], list[Any]]:
    """The variables of an integrator beside t, q, v and dt, and its statements."""
    model = parameters.structure
    robot = model.robot

    n, layout = robot.nv, model.motor_memory
    heat = ("motor memory",) if layout.has("temperature") else ()

    def warmth(rest):
        return layout.states(rest[0]) if heat else ()

    def acceleration(t, q, v, u, p, *rest):
        m = parameters.applied(p)
        if not m.memory:
            return smooth_acceleration(m, t, q, v, u, states=warmth(rest))
        return [*smooth_acceleration(m, t, q, v[:n], u, v[n:], warmth(rest)), *memory_rates(m, q, v[:n], v[n:])]

    def settle(q, v, u, p, *rest):
        m = parameters.applied(p)
        own, memory = v[:n], v[n:]
        if m.holds:
            q, own = projected(m, q, own, rest[-1] if m.held else ())
        return q, [*own, *(memory_kept(m, q, own, memory) if m.memory else ())]

    def forces(t, q, v, u, p, *rest):
        m = parameters.applied(p)
        half = memory_ahead(m, q, v, rest[len(heat)], m.dt / 2) if m.memory else ()
        return smooth_forces(m, t, q, v, u, half, warmth(rest))

    def linear(q, v, u, p, *rest):
        return joint_forces(parameters.applied(p).robot, q, v, u, 0, states=warmth(rest)).linear()

    reads = ("u", "parameters", *heat)
    if integrator == "midpoint":
        options: dict[str, Any] = {
            "robot_at": lambda u, p, *memory: parameters.applied(p).robot, "precision": model.precision,
            "is_linear": not any(j.is_nonlinear for j in robot.joints.values()),
            "reads": (*reads, *(["contact memory"] if model.memory else []), *(["anchors"] if model.held else [])),
        }  # fmt: skip
        if model.holds or robot.springs:
            return held_midpoint_body(robot, forces, _held(parameters), linear, **options)
        return midpoint_body(robot, forces, linear, **options)
    own: dict[str, Any] = {"reads": (*reads, "anchors") if model.held else reads}
    moving: Robot | WithMemory = robot
    if model.memory:
        moving = WithMemory(robot, len(model.touch_names) * len(model.memory.stored))
        own["v"] = "v and memory"
    if model.holds or (model.memory and integrator in ("dormand-prince", "rosenbrock")):
        own["settle"] = settle
    if integrator == "dormand-prince":
        return adaptive_body(moving, acceleration, control, **own)
    if integrator == "rosenbrock":
        control = replace(control, order=RODAS5P.error_order)
        return adaptive_body(
            moving, acceleration, control, trial=_stiff_trial(parameters, moving, acceleration, warmth, control), **own
        )
    return explicit_body(moving, {"rk4": RK4, "euler": None}[integrator], acceleration, **own)


def _held(parameters: Parameters) -> Held:
    """What holds a robot, for the implicit midpoint rule."""
    model = parameters.structure
    return Held(
        lambda q, u, p, *rest: parameters.applied(p).holds.jacobian(q),
        lambda q, u, p, *rest: parameters.applied(p).holds.gaps(q, rest[-1] if model.held else ()),
        lambda q, dt, u, p, *rest: spring_rows(parameters.applied(p), q, dt),
        model.holds.has_gap,
        model.holds.is_redundant,
        len(model.robot.springs),
    )


def _stiff_trial(
    parameters: Parameters, moving: Robot | WithMemory, acceleration: Acceleration,
    warmth: Callable[[Sequence[Scalars]], States], control: StepControl,
) -> TrialStep:  # fmt: skip
    n = parameters.structure.robot.nv

    def trial(t, q, v, vd, length, u, p, *rest):
        m = parameters.applied(p)

        def linear(t, q, v, vd):
            if m.holds:
                return linear_held_motion(m.robot, lambda: acceleration(t, q, v, u, p, *rest), t, q, v)
            forces = lambda: smooth_forces(m, t, q, v[:n], u, v[n:], warmth(rest))  # noqa: E731
            rates = lambda: memory_rates(m, q, v[:n], v[n:]) if m.memory else []  # noqa: E731
            return linear_motion(m.robot, forces, rates, t, q, v, vd)

        at = lambda t, q, v: acceleration(t, q, v, u, p, *rest)  # noqa: E731
        return rosenbrock_step(moving, at, linear, control, t, q, v, vd, length)

    return trial


# ---- reports: whether the integrator is stuck, the last change of its iterations, and whether they did not suffice


def _report(stuck: Scalar = 0, change: Scalar = 0, unsolved: Scalar = 0, **more: Any) -> dict[str, Any]:
    return {"report": {"stuck": stuck, "change": change, "unsolved": unsolved}, **more}


_REPORTS = {
    "adaptive": (
        lambda stuck, taken, vain: _report(stuck[0], trials=[taken[0], vain[0]]), ("trouble", "accepted", "rejected"),
    ),
    "midpoint": (
        lambda change, solved: _report(0, change[0], 1 - solved[0]), ("midpoint_change", "midpoint_solved"),
    ),
    "euler": (_report, ()),
    "rk4": (_report, ()),
}  # fmt: skip
