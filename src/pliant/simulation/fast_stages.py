"""Stages for robots that turn fast for the step: Coriolis forces at its middle (`pliant.dynamics.implicit_coriolis`).

A robot of which a joint, or the base, turns faster than 20 rad/s or by more than 0.04 rad in the step is ``fast``: its
forces are taken once more, at the middle of the motion that those of the start lead to. One that turns by more than a
tenth of a radian ``whirls``, and solves for the middle. All others skip these stages. Robots with springs at spherical
joints, which swing about several axes, take the mean of start and end in every step: of an end that they predict, or
that a first round has found (`turn_as_expected`). Fast ones predict it more often, and whirl from half a radian on.

Contacts and limits lead to another v+ than the forces alone. A robot that ends the step otherwise than its Coriolis
forces were taken for makes another round with those of the v+ found (`expect_turning`).

Where something lands, positions go by the mean velocity u and not by v+. Energy has its place half-way between kicks,
at q - dt/2 v before the step and q + dt u - dt/2 v+ after it. On that way Coriolis forces do no work if they are

    dt/2 C(q, v) v + dt/2 C(q, 2u - v+) v+  =  dt/2 (h(v) + h(u) - h(u - v+))

with h(v) = C(q, v) v, since C(q, x) y = C(q, y) x. So they are the mean of those at v and at u, and not those at the
middle, through which an impact does not go; `turn_in_impacts` adds the last one, and ``lag`` is u - v+. The angular
velocity of a joint with three rotations is in axes that turn by 2u - v+, too: it changes by dt/2 v+ x u, half of what
it takes to stay in space.

Bodies far out on joints that slide without limits have such levers that Coriolis forces at the start of a step bring
energy at any rate, where joints turn against each other and the body itself hardly moves: these robots are always fast.

The correction of positions displaces bodies by s dt at once. With the same v+ there they would have another kinetic
energy, so it changes as on any way, by -dt M^-1 C(q, s) v+ (`carry_along`).
"""

from pliant.checks import is_zero
from pliant.dynamics.articulated_coriolis import CoriolisRecursion
from pliant.dynamics.energy_and_momentum import kinetic_energy
from pliant.dynamics.gyroscopic import held_centers
from pliant.dynamics.implicit_coriolis import (
    SOLUTIONS, CoriolisMatrix, change_in_fast_motion, dot, drift_of, half_way, impulses_but_turning, slowed,
    smaller_share,
)  # fmt: skip
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot import Free, Spherical
from pliant.robot.configurations import held_acceleration
from pliant.scalar import Scalar, Scalars, abs, both, either, equal, minimum, negation, select
from pliant.simulation.joint_stages import Terms, law_terms
from pliant.simulation.model import StepModel
from pliant.simulation.step_factor import factor_of, factor_of_step
from pliant.simulation.step_program import Record, StepProgram, any_of, largest_known
from pliant.spatial import Vector

# turns in a step from which on a robot is fast, and whirls [rad]
_FAST = 0.04
_WHIRLING = 0.1
_WHIRLING_BALLS = 0.5

# and a rate that is fast in any step [rad/s]
_RATE = 20

# predictions of the middle: with one alone, light bodies among heavy ones gain a share of (w dt)^2 a step
_MIDDLES = 2

END_PREDICTIONS = 2
"""Of the velocity at the end of any step, for the forces of robots with spherical joints that nothing holds."""

# predictions of the velocity at the end, of fast robots with springs at spherical joints; those that expect no other
# motion have made some already
_ENDS = 4

# iterations for the share of the motion that keeps its energy, and a change of it that no longer matters
_SHARES = 4
_NEARLY = 0.999

# a robot that goes by so much more or less than expected makes another round [rad or m]; with spherical joints, whose
# Coriolis forces are half those of the end at any rate, that must not differ by what a contact does in a step
_OTHERWISE = 0.002
_OTHERWISE_BALLS = 5e-5

# where it pushes on the ground and less than that, what those forces bring may be such a share of its energy a second
_GAIN = 0.01
_WORTH_WEIGHING = 2e-5

# an impact at the place of its step, and not at its own, brings some energy or takes some; such a share may stay
_SPARE = 0.05

# displacements by no more than this change the energy by parts in ten thousand of it [rad or m]
_DISPLACED = 1e-4

# Coriolis forces at the start that change a velocity by no more than this against those of the end, more or less, will
# do for robots with spherical joints [rad/s]
_NEGLIGIBLE = 1e-8


def turning_flags(m: StepModel, v: Scalars, inertia: Scalars, laws: Terms, change: Scalars) -> list[Scalar]:
    """Whether a robot is fast, and whirls, or becomes so.

    Args:
        inertia: diagonal of the matrix of the step without the ``laws`` of joints; change: impulses of the step.
    """
    if not m.can_be_fast:
        return []
    now = largest_known([abs(v[d]) for d in m.turning_dofs])
    turning = [d for d in m.turning_dofs if not is_zero(inertia[d])]  # what moves nothing is reported by the factor
    soon = largest_known([abs(v[d]) + abs(change[d] / (inertia[d] + laws.gains.get(d, 0))) for d in turning])
    return [now > _fast_rate(m), soon > _whirling_rate(m)]


def _fast_rate(m: StepModel) -> Scalar:
    return 0 if m.has_far_bodies else minimum(_FAST / m.dt, _RATE)


def _whirling_rate(m: StepModel) -> Scalar:
    return (_WHIRLING_BALLS if m.has_ball_springs else _WHIRLING) / m.dt


def turn_as_expected(step: StepProgram) -> None:
    """Of robots with spherical joints, whose v+ a round has found: half of the Coriolis forces are those of the end."""
    if not (step.model.has_balls and step.model.expects_turning):
        return

    def turned(m: StepModel, q, v, motion, ahead):
        centers = {name: Vector(*c) for name, c in motion["held centers"].items()}

        def bias(v: Scalars) -> list[Scalar]:
            return newton_euler(m.robot, q, v, held_acceleration(m.robot, list(v), centers))

        pairs = zip(motion["first"], motion["bias"] or bias(v), bias(ahead), strict=True)
        return {"change": [c + m.dt / 2 * (a - b) for c, a, b in pairs]}

    with step.only_if("expects"):
        step.add(turned)


def turn_fast(step: StepProgram) -> None:
    """w of robots that turn fast; those with loops do so when they are closed (`pliant.simulation.loop_stages`)."""
    if not step.model.can_be_fast or step.model.closures:
        return

    def prepared(m: StepModel, q, v, motion, saturated, grips, held, stop_low, stop_high, bounds=()):
        laws = law_terms(m, motion["drives"], bounds, v, saturated, grips, held, stop_low, stop_high)
        factor = factor_of_step(m, q, laws.matrix(motion["A"]), laws.pins)
        pushes, jumps = laws.impulses([0] * m.robot.nv), [laws.jumps.get(d, 0) for d in range(m.robot.nv)]
        return {"predictor": {"ldl": factor.record(), "start": factor.coordinates(v), "pushes": pushes, "jumps": jumps}}

    def turned(m: StepModel, q, v, motion, predictor, change, ahead, expects, lags=(0,)):
        robot, factor = m.robot, factor_of(m, predictor["ldl"], q)
        centers = {name: Vector(*c) for name, c in motion["held centers"].items()}

        def bias(v: Scalars) -> list[Scalar]:
            return newton_euler(robot, q, v, held_acceleration(robot, list(v), centers))

        impulses = [a + b for a, b in zip(change, predictor["pushes"], strict=True)]
        _, steps = factor.eliminated(impulses, dict(enumerate(predictor["jumps"])))
        own = factor.velocity([a + b for a, b in zip(predictor["start"], steps, strict=True)])
        end = [select(equal(expects[0], 0), a, b) for a, b in zip(own, ahead, strict=True)]
        if m.has_ball_springs:  # of which the mean of start and end has been taken already
            share, later = 1 / 2, bias(end)
        else:
            # an impact takes no velocity to its middle
            smooth = equal(lags[0], 0)
            share = select(smooth, 1, 1 / 2)
            later = bias([select(smooth, (a + b) / 2, b) for a, b in zip(v, end, strict=True)])
        first = motion["bias"] or bias(v)
        change = [c + share * m.dt * (a - b) for c, a, b in zip(motion["first"], first, later, strict=True)]
        return {"change": change, "ahead": end}

    def whirled(
        m: StepModel, q, v, motion, ahead, expects, whirl, saturated, grips, held, stop_low, stop_high, bounds=(),
        lag=None, lags=(0,),
    ):  # fmt: skip
        robot, is_known = m.robot, negation(equal(expects[0], 0))
        expected = ahead
        if lag is not None:
            expected = [a + select(equal(lags[0], 0), 0, b) for a, b in zip(ahead, lag, strict=True)]
        laws = law_terms(m, motion["drives"], bounds, v, saturated, grips, held, stop_low, stop_high)
        A, impulses = laws.matrix(motion["A"]), laws.impulses(motion["first"])
        M = None if m.is_recursive else composite_inertia(robot, q)

        def recursion(u: Scalars) -> CoriolisRecursion:
            return CoriolisRecursion(robot.mechanism, q, u, [A[d][d] for d in range(robot.nv)], m.dt / 2)

        def matrix(u: Scalars) -> CoriolisMatrix:
            assert M is not None
            centers = held_centers(robot.mechanism, M)
            return CoriolisMatrix(robot, q, u, A, M, centers, m.dt / 2, laws.pins, laws.jumps)

        at = recursion if M is None else matrix
        x, end, turning = change_in_fast_motion(v, impulses, whirl, m.dt, expected, is_known, at)
        end = [select(is_known, a, b) for a, b in zip(ahead, end, strict=True)]
        # the impulse of turning is another than that at the start
        change = [a + m.dt * b - c for a, b, c in zip(motion["first"], at(v).times(v), turning, strict=True)]
        return {"change": change, "whirl": x, "ahead": end, "turning": turning}

    step.stages.variable("whirl", step.model.robot.nv)
    with step.only_if("fast"):
        step.add(prepared)
    ends = _ENDS if step.model.expects_turning else _ENDS - END_PREDICTIONS
    with step.stages.loop(ends if step.model.has_ball_springs else _MIDDLES, when="fast"):
        step.add(turned)
    with step.only_if("whirls"):
        step.add(lambda m: {"whirl": [0] * m.robot.nv})
    with step.stages.loop(SOLUTIONS, when="whirls"):
        step.add(whirled)


def turn_in_impacts(step: StepProgram) -> None:
    """Coriolis forces on the way that a robot takes in a step in which it lands (see the module)."""
    if not step.model.has_impacts:
        return

    def turned(m: StepModel, q, motion, change, ahead, lag, whirls):
        end = [a - b for a, b in zip(ahead, lag, strict=True)]
        more = _forces_of_turning(m, q, lag, motion, end, ahead)
        share = select(equal(whirls[0], 0), m.dt / 2, 0)
        return {"change": [a + share * b for a, b in zip(change, more, strict=True)]}

    with step.only_if("lags"):
        step.add(turned)


def _forces_of_turning(
    m: StepModel, q: Scalars, v: Scalars, motion: Record, first: Scalars, second: Scalars
) -> list[Scalar]:
    """h(v), and M times the acceleration first x second of joints with three rotations, whose axes turn."""
    centers = {name: Vector(*c) for name, c in motion["held centers"].items()}
    vd = held_acceleration(m.robot, list(v), centers)
    for link in m.robot.mechanism.links:
        if not isinstance(link.kind, Spherical | Free) or link.is_mimic:
            continue
        a, b = (Vector(*(x[d] for d in link.dofs[-3:])) for x in (first, second))
        turn = a.cross(b)
        around = [*centers[link.name].cross(turn)] if link.name in centers else []
        for d, x in zip(link.dofs, (*around, *turn), strict=True):
            vd[d] = vd[d] + x
    return newton_euler(m.robot, q, v, vd, has_gravity=False)


def expect_turning(step: StepProgram) -> None:
    """Another round for robots that turn fast, and otherwise than their Coriolis forces were taken for."""
    model = step.model
    if not model.expects_turning:
        return
    weighs = model.can_fail and not (model.has_balls or model.closures)

    def watched(m: StepModel, v_next, fast):
        now = largest_known([abs(v_next[d]) for d in m.turning_dofs])
        is_fast = either(negation(equal(fast[0], 0)), now > _fast_rate(m))
        # with spherical joints, forces of the end are taken at any rate
        turned = 1 if m.has_balls else is_fast
        return {"turns": [is_fast, now > _whirling_rate(m)], "has turned": [turned], "settled": [1]}

    def compared(m: StepModel, v, v_next, v_mean, ahead, settled, fast, whirls, turns, expects, landed=(0,), lag=None):
        # forces at the start of the step are those of v+ = v
        was_fast = 1 if m.has_balls or m.closures else negation(equal(fast[0], 0))
        used = [select(was_fast, a, b) for a, b in zip(ahead, v, strict=True)]
        # a velocity that grew so much by forces at the start of the step is not to be trusted
        is_known = either(negation(equal(whirls[0], 0)), equal(turns[1], 0))
        end, ways, told = v_next, v_next, {}
        if lag is not None:
            lands = negation(equal(landed[0], 0))
            end = [select(lands, a, b) for a, b in zip(v_mean, v_next, strict=True)]
            new = [a - b for a, b in zip(end, v_next, strict=True)]
            used, ways = ([a + b for a, b in zip(x, y, strict=True)] for x, y in ((used, lag), (end, new)))
            told = {"lag": new, "lags": [both(lands, is_known)]}
        off = largest_known([abs(a - b) for a, b in zip(ways, used, strict=True)])
        differs = off * m.dt > (_OTHERWISE_BALLS if m.has_balls else _OTHERWISE)
        if m.has_balls:
            # the first round has taken forces at the start, which bring energy
            fastest = largest_known([abs(x) for x in (*v, *v_next)])
            differs = either(differs, both(equal(expects[0], 0), off * fastest * m.dt > _NEGLIGIBLE))
        if weighs:
            # an impact has a way of its own, and what whirls solves for the middle
            plain = both(equal(whirls[0], 0), equal(landed[0], 0))
            wrong = both(was_fast, off * m.dt > _WORTH_WEIGHING)
            told |= {"suspect": [both(negation(differs), both(plain, wrong))], "taken": used}
        return {"settled": [select(differs, 0, settled[0])], "ahead": end, "expects": [is_known], **told}

    def weighed(m: StepModel, q, v, v_next, motion, taken, ldl, w, start, free):
        mean, other = ([(a + b) / 2 for a, b in zip(v, end, strict=True)] for end in (v_next, taken))
        own, forces = (_forces_of_turning(m, q, x, motion, x, x) for x in (mean, other))
        # of Coriolis forces that were taken for another motion, and the work of contacts
        gain = m.dt * sum((u * (a - b) for u, a, b in zip(mean, own, forces, strict=True)), 0)
        moving = 0
        for D, after, before, alone in zip(ldl["D"], w, start, free, strict=True):
            gain = gain + D * (after - alone) * (after + before) / 2
            moving = moving + D * after * after / 2
        return {"settled": [gain <= _GAIN * m.dt * moving]}

    step.stages.variable("has turned", 1)
    if weighs:
        step.stages.variable("suspect", 1)
        step.stages.variable("taken", model.robot.nv)
        step.add(lambda m: {"suspect": [0]})
    step.add(watched)
    with step.only_if("has turned"):
        step.add(compared)
    if weighs:
        with step.only_if("suspect"):
            step.add(weighed)


def keep_energy(step: StepProgram) -> None:
    """Robots that whirl in the end, or land fast, end the step without the energy that turning by much has brought."""
    model = step.model
    if not model.can_be_fast:
        return
    nv = model.robot.nv
    for name, size in {"drift": nv, "gains": nv, "before": 1, "share": 1, "is kept": 1}.items():
        step.stages.variable(name, size)
    watched = "whirls"
    if model.has_impacts:
        watched = "is watched"
        step.stages.variable(watched, 1)
        step.stages.variable("work", 1)

        def looked(m: StepModel, v_next, whirls, landed):
            # light bodies between others may be set whirling by more than what moves them alone
            begins = largest_known([abs(v_next[d]) for d in m.turning_dofs]) > _whirling_rate(m)
            return {"is watched": [any_of([whirls[0], landed[0], begins])]}

        step.add(lambda m, whirls: {"is watched": [whirls[0]]})
        with step.only_if("fast"):
            step.add(looked)

    def begun(m: StepModel, q, v, v_next, v_mean, motion, change, whirls, turning, impulse):
        M = None if m.is_recursive else composite_inertia(m.robot, q)
        is_held = any_of([negation(equal(x, 0)) for part in impulse for x in part])
        found, forces = {}, []
        if m.has_impacts:
            # robots that do not whirl have what is in the change of the step besides the forces at its start
            own = _forces_of_turning(m, q, v, motion, v, v)
            forces = [a + m.dt * b for a, b in zip(motion["first"], own, strict=True)]
            is_slow = equal(whirls[0], 0)
            turning = [select(is_slow, b - c, a) for a, b, c in zip(turning, forces, change, strict=True)]
        impulses = impulses_but_turning(m.robot, q, v, v_next, M, turning)
        if m.has_impacts:
            # an impact is over at once, and forces act on the way of the mean velocity
            middle = [(a + b) / 2 for a, b in zip(v, v_next, strict=True)]
            longer = [a - b for a, b in zip(v_mean, middle, strict=True)]
            found = {"work": [dot(middle, impulses) + dot(longer, forces)]}
        half = half_way(m.robot, q, v, M, -m.dt)
        return {
            "drift": drift_of(m.robot, q, half, impulses, is_held),
            "gains": impulses,
            "before": [kinetic_energy.algorithm(m.robot, *half)],
            "share": [1],
            **found,
        }

    def lowered(m: StepModel, q, v, v_next, v_mean, drift, gains, before, share, whirls, landed, work=(0,)):
        M = None if m.is_recursive else composite_inertia(m.robot, q)
        # the second half of the way
        lands = negation(equal(landed[0], 0)) if m.can_land else False
        way = [b + select(lands, 2 * (a - b), 0) for a, b in zip(v_mean, v_next, strict=True)]
        now, way = (slowed(x, drift, share[0]) for x in (v_next, way))
        done = dot([(a + b) / 2 for a, b in zip(v, now, strict=True)], gains)
        spare = 0
        if m.has_impacts:
            spare = select(both(lands, equal(whirls[0], 0)), _SPARE * before[0], 0)
            done = select(lands, work[0], done)
        new = smaller_share(m.robot, q, now, way, drift, share[0], before[0] + done, M, m.dt, spare)
        return {"share": [new], "is kept": [new > share[0] * _NEARLY]}

    def kept(m: StepModel, v_next, v_mean, drift, share):
        return {name: slowed(x, drift, share[0]) for name, x in (("v next", v_next), ("v mean", v_mean))}

    with step.only_if(watched):
        step.add(begun)
    with step.stages.loop(_SHARES, when=watched, until="is kept"):
        step.add(lowered)
    with step.only_if(watched):
        step.add(kept)


def carry_along(step: StepProgram) -> None:
    """v+ at the place to which the correction of positions leads: as seen in space, bodies keep their velocities."""
    if not (step.model.can_be_fast and step.model.has_corrections):
        return

    def looked(m: StepModel, shift):
        return {"displaced": [largest_known([abs(x) for x in shift]) * m.dt > _DISPLACED]}

    def carried(m: StepModel, q, v_next, motion, shift, ldl):
        ahead, back = ([a + sign * b for a, b in zip(v_next, shift, strict=True)] for sign in (1, -1))
        # dt C(q, s) v+, of which h has twice the symmetric part
        more = _forces_of_turning(m, q, ahead, motion, shift, v_next)
        less = _forces_of_turning(m, q, back, motion, v_next, shift)
        factor = factor_of(m, ldl, q)
        _, steps = factor.eliminated([m.dt / 4 * (b - a) for a, b in zip(more, less, strict=True)])
        return {"v next": [a + b for a, b in zip(v_next, factor.velocity(steps), strict=True)]}

    step.stages.variable("displaced", 1)
    with step.only_if("deep"):
        step.add(looked)
        with step.only_if("displaced"):
            step.add(carried)
