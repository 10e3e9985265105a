"""Transitions at an instant: impacts, and the mode in which the robot goes on."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import SimulationError
from pliant.events import tolerances as tol
from pliant.events.constraint_terms import Terms
from pliant.events.mode_solver import InconsistentContactError, Problem, Solution, solved
from pliant.events.redundant_forces import taken_back
from pliant.events.smooth_motion import SmoothMotion
from pliant.events.state import OPEN, SLIDE, STICK, Mode
from pliant.recording.log import KINDS, Event

ControlLaw = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
Ahead = Callable[[Terms, np.ndarray], Terms]

# impacts at one instant before the run is given up
_IMPACTS = 20


def resolved(
    motion: SmoothMotion, t: float, q: np.ndarray, v: np.ndarray, control: ControlLaw, cause: int | None
) -> tuple[Event | None, np.ndarray, Mode]:
    """Impacts, and the mode with which the motion goes on.

    Args:
        control: what the controls are at a time and state: an impact may change them.
        cause: the margin that is zero now, if any.

    Returns:
        The event, or None if nothing changes; the velocity and the mode after it.
    """
    n = len(motion.constraints)
    if cause is not None and cause < n and motion.mode.passing[cause]:
        # it is apart again
        motion.mode.passing[cause] = False
        return None, v, motion.mode.begun()

    def ahead(terms: Terms, v: np.ndarray) -> Terms:
        """The terms a little later, if the mode went on."""
        vd = motion.motion(terms, v)
        later = t + tol.AHEAD, motion.sim.chart.integrate(q, tol.AHEAD * v), v + tol.AHEAD * vd
        return motion.sim.terms(*later, control(*later))

    impulse, lost, landed = np.zeros((n, 3)), 0.0, set()
    terms = motion.sim.terms(t, q, v, control(t, q, v))
    _check_depth(motion, terms, t)
    _let_pass(motion, terms, t, q, v)
    for k in range(_IMPACTS):
        # the friction of joints is a force, not an impulse
        touching = [i for i in _touching(motion, terms) if not motion.is_joint[i]]
        # contacts that throw each other back, again and again, end without bouncing
        is_late = k >= _IMPACTS // 2
        least = motion.sim.rest_speed if is_late else tol.APPROACHING
        approaching = [i for i in touching if terms.J[i, 0] @ v < -least]
        if not approaching:
            break
        v, p, loss = _impact(motion, terms, v, touching, is_plastic=is_late)
        impulse, lost = impulse + p, lost + loss
        landed |= set(approaching)
        terms = motion.sim.terms(t, q, v, control(t, q, v))
    else:
        problem = f"impacts at t = {t:.9g} s do not end, at q = {q.tolist()}, v = {v.tolist()}"
        raise SimulationError(problem, subject="run", field="rest_speed", cure="try a larger rest_speed")
    # a slow slide that has ended aside of its settled direction is over
    still = np.full(n, tol.STILL)
    if cause is not None and cause >= n:
        still[cause - n] = tol.CREEPING
    mode = _next_mode(motion, ahead, terms, v, None if landed else cause, still, has_landed=bool(landed))
    slides = _slow(motion, terms, v, mode, still)
    v, loss = _kept(motion, terms, v, mode, still)
    lost += loss
    if _slow(motion, terms, v, mode, still) != slides:
        # what has stopped has stopped others
        mode = _next_mode(motion, ahead, motion.sim.terms(t, q, v, control(t, q, v)), v, None, still)
    before, after = motion.mode.name(motion.constraints), mode.name(motion.constraints)
    kind, who = ("touch-down", sorted(landed)) if landed else _change(motion, mode, cause, terms.rates(v))
    if kind is None:
        return None, v, mode
    # a contact may touch several faces of the ground
    names = tuple(dict.fromkeys(motion.constraints[i].name for i in who))
    impulses: dict[str, Any] = {}
    for c, p, axes in zip(motion.constraints, impulse, terms.axes, strict=True):
        if p.any():
            impulses[c.name] = impulses.get(c.name, 0) + (p @ axes if c.is_contact else p[0])
    return Event(t, kind, names, impulses, lost, before, after), v, mode


def _slow(motion: SmoothMotion, terms: Terms, v: np.ndarray, mode: Mode, still: np.ndarray) -> list[int]:
    """Those that touch with friction or are joints with it, and hardly move aside."""
    speeds = np.hypot(*terms.rates(v)[:, 1:].T)
    return [i for i, s in enumerate(mode.states) if s != OPEN and motion.rough[i] and speeds[i] <= still[i]]


def _kept(motion: SmoothMotion, terms: Terms, v: np.ndarray, mode: Mode, still: np.ndarray) -> tuple[np.ndarray, float]:
    """The velocity as the mode has it, without what counts as no slip and no bounce; and the energy of that."""
    closed = [i for i, state in enumerate(mode.states) if state != OPEN]
    slow = _slow(motion, terms, v, mode, still)
    rows = np.concatenate([terms.J[closed, 0], terms.J[slow, 1:].reshape(-1, len(v))])
    rows = rows[abs(rows).max(axis=1, initial=0) > 0]
    amount = rows @ v
    if abs(amount).max(initial=0) < 1e-15:
        return v, 0.0
    after = v + taken_back(terms.M_inverse, rows, amount)
    return after, float(v @ terms.M @ v - after @ terms.M @ after) / 2


def _touching(motion: SmoothMotion, terms: Terms) -> list[int]:
    states, passing = motion.mode.states, motion.mode.passing
    return [i for i, s in enumerate(states) if s != OPEN or (terms.gap[i] <= tol.TOUCHING and not passing[i])]


def _check_depth(motion: SmoothMotion, terms: Terms, t: float) -> None:
    for i in _touching(motion, terms):
        if terms.gap[i] < -tol.DEEPEST:
            name = motion.constraints[i].name
            problem = (
                f"t = {t:.9g} s: {name} is suddenly {-terms.gap[i]:.3g} m inside the ground, which has an edge there"
            )
            cure = "give a shorter max_step=, round the edge off, or use Simulation"
            raise SimulationError(problem, subject=name, field="ground", cure=cure)


def _let_pass(motion: SmoothMotion, terms: Terms, t: float, q: np.ndarray, v: np.ndarray) -> None:
    """Mark constraints that would touch and may not as passing."""
    if motion.sim.when is None:
        return
    for i in _touching(motion, terms):
        if motion.mode.states[i] == OPEN and terms.J[i, 0] @ v < 0:
            motion.mode.passing[i] = not motion.sim.may_close(motion.constraints[i].name, t, q, v)


def _impact(
    motion: SmoothMotion, terms: Terms, v: np.ndarray, who: list[int], *, is_plastic: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Velocity after an impact, impulses (n, 3) and energy lost [J]."""
    J = terms.J[who].reshape(-1, len(v))
    response = terms.M_inverse @ J.T
    rates = terms.J[who] @ v
    if -rates[:, 0].min() < motion.sim.rest_speed:
        # rocking and rattling go on for ever, ever slower: what touches now and hardly moves apart or aside stays
        slow = rates[:, 0] < motion.sim.rest_speed
        stays = slow & (motion.friction[who] > 0) & (np.hypot(rates[:, 1], rates[:, 2]) < motion.sim.rest_speed)
        held = terms.J[who][np.stack([slow, stays, stays], axis=1)]
        after = v + taken_back(terms.M_inverse, held, held @ v)
        none = np.zeros((len(motion.constraints), 3))
        return after, none, float(v @ terms.M @ v - after @ terms.M @ after) / 2
    e = np.array([motion.constraints[i].restitution for i in who])
    e = np.where((-e * rates[:, 0] > motion.sim.rest_speed) & (not is_plastic), e, 0)
    for restitution in (e, 0 * e):
        c = rates.copy()
        c[:, 0] += restitution * np.minimum(rates[:, 0], 0)
        problem = Problem(J @ response, c, motion.friction[who], [None] * len(who), tol.IMPACT * (1 + abs(c).max()))
        guess = [STICK if motion.friction[i] > 0 else SLIDE for i in who]
        p = solved(problem, guess).f
        after = v + response @ p.ravel()
        lost = float(v @ terms.M @ v - after @ terms.M @ after) / 2
        # with friction Newton's restitution may gain energy: then there is none
        if lost >= -tol.ENERGY * (1 + float(v @ terms.M @ v)):
            break
    impulse = np.zeros((len(motion.constraints), 3))
    impulse[who] = p
    return after, impulse, lost


def _next_mode(
    motion: SmoothMotion, ahead: Ahead, terms: Terms, v: np.ndarray, cause: int | None, still: np.ndarray, *,
    has_landed: bool = False,
) -> Mode:  # fmt: skip
    """What goes on at velocities that no impact changes any more; slides that must have ended are added to still."""
    n = len(motion.constraints)
    rates = terms.rates(v)
    touching = _touching(motion, terms)
    # what leaves slower than that would be back before any step could tell
    who = [i for i in touching if rates[i, 0] <= motion.sim.rest_speed]
    speeds = np.hypot(rates[:, 1], rates[:, 2])
    ways = rates[:, 1:] / np.maximum(speeds, 1e-300)[:, None]
    settled = (speeds[motion.slide] <= tol.CREEPING) & (motion.friction[motion.slide] > 0)
    if settled.any():
        ways[motion.slide[settled]] = motion.slide_directions(terms, v)[settled]
    while True:
        sliding = [ways[i] if motion.rough[i] and speeds[i] > still[i] else None for i in who]
        creeps = [
            k for k, i in enumerate(who)
            if sliding[k] is not None and speeds[i] <= tol.CREEPING and not motion.is_joint[i]
        ]  # fmt: skip
        try:
            found = _solved(motion, ahead, terms, v, who, sliding, creeps, cause, has_landed=has_landed)
        except InconsistentContactError:
            if not creeps:
                raise
            # no direction settles: a slide whose direction turns round and round as it slows down has come to its end
            still[[who[k] for k in creeps]] = tol.CREEPING
            continue
        back = _falls_back(motion, terms, rates, who, found, touching)
        if not back:
            break
        who = sorted([*who, *back])
    states, directions = [OPEN] * n, np.zeros((n, 2))
    for k, i in enumerate(who):
        states[i], directions[i] = found.modes[k], found.directions[k]
    anchors = np.where(np.array([s == STICK for s in motion.mode.states])[:, None], motion.mode.anchors, terms.place)
    no = np.zeros(n, dtype=bool)
    return Mode(tuple(states), directions, anchors, np.zeros(2 * n, dtype=bool), motion.mode.passing, no)


def _falls_back(
    motion: SmoothMotion, terms: Terms, rates: np.ndarray, who: list[int], found: Solution, touching: list[int]
) -> list[int]:
    """Those of the touching that leave, but would return before they are seen to be open."""
    leaving = [i for i in touching if i not in who]
    if not leaving:
        return []
    forces = np.zeros((len(motion.constraints), 3))
    forces[who] = found.f
    vd = terms.free + terms.M_inverse @ np.tensordot(forces, terms.J, 2)
    y = terms.J[leaving, 0] @ vd + terms.c[leaving, 0]
    highest = terms.gap[leaving] + rates[leaving, 0] ** 2 / np.maximum(-2 * y, 1e-300)
    return [i for i, top in zip(leaving, highest, strict=True) if top <= tol.LOWEST_BOUNCE]


def _solved(
    motion: SmoothMotion, ahead: Ahead, terms: Terms, v: np.ndarray, who: list[int], sliding: list, creeps: list[int],
    cause: int | None, *, has_landed: bool,
) -> Solution:  # fmt: skip
    n = len(motion.constraints)
    if not who:
        return Solution((), np.zeros((0, 2)), np.zeros((0, 3)), np.zeros((0, 3)))
    guess, directions, leaving = [], np.zeros((len(who), 2)), []
    ends = _ends(motion, terms, v, cause)
    for k, (i, d) in enumerate(zip(who, sliding, strict=True)):
        state = motion.mode.states[i]
        guess.append(SLIDE if not motion.rough[i] or d is not None else STICK)
        if ends[i] and state != OPEN and not motion.is_joint[i]:
            guess[k] = OPEN
        elif state == OPEN and cause is not None and not ends[i] and not has_landed and not motion.is_joint[i]:
            # it touches only by the way, as a corner of a face that others bear: it may go on to bear nothing
            guess[k] = OPEN
        elif state == STICK and ends[n + i]:
            force = motion.forces(terms, v)[i, 1:]
            guess[k], directions[k] = SLIDE, -force / max(float(np.hypot(*force)), 1e-300)
            leaving.append(k)
        elif state == SLIDE and d is None and cause is not None and not ends[n + i]:  # it has just begun
            guess[k], directions[k] = SLIDE, motion.mode.directions[i]
    if leaving:
        # nothing moves yet, so that many modes fit: what happens shows a little later
        terms = ahead(terms, v)
    J = terms.J[who].reshape(-1, len(v))
    c = (J @ terms.free).reshape(-1, 3) + terms.c[who]
    scale = tol.ACCELERATION * (1 + abs(c).max())
    names = [motion.constraints[i].name for i in who]
    W = J @ terms.M_inverse @ J.T
    bounds = motion.bounds[who] if motion.bounds[who].any() else None
    problem = Problem(W, c, motion.friction[who], sliding, scale, names, frozenset(creeps), bounds)
    return solved(problem, guess, directions, leaving)


def _ends(motion: SmoothMotion, terms: Terms, v: np.ndarray, cause: int | None) -> np.ndarray:
    """Which of the margins have reached zero: the one that was found, and others at the same time."""
    n = len(motion.constraints)
    if cause is None:
        return np.zeros(2 * n, dtype=bool)
    found = (motion.margins(terms, v) <= 10 * motion.least) & motion.mode.armed
    found[cause] = True
    return found


def held(motion: SmoothMotion, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, Mode]:
    """The velocity and the mode if all that touches stays, and sticks if it hardly slides.

    That is so whether forces bear it or not; only what leaves faster than ``rest_speed`` leaves.
    """
    terms = motion.sim.terms(t, q, v, u)
    still = np.full(len(motion.constraints), tol.CREEPING)
    normal = terms.rates(v)[:, 0]
    stays = {i for i in _touching(motion, terms) if abs(normal[i]) <= motion.sim.rest_speed}
    states = tuple(
        (SLIDE if state == OPEN else state) if i in stays else OPEN for i, state in enumerate(motion.mode.states)
    )
    slow = _slow(motion, terms, v, motion.mode.begun(states), still)
    mode = motion.mode.begun(tuple(STICK if i in slow else state for i, state in enumerate(states)))
    mode.anchors[slow] = terms.place[slow]
    slip = terms.rates(v)[:, 1:]
    fast = [i for i in stays if mode.states[i] == SLIDE and motion.rough[i]]
    mode.directions[fast] = slip[fast] / np.maximum(np.hypot(*slip[fast].T), 1e-300)[:, None]
    return _kept(motion, terms, v, mode, still)[0], mode


def _change(motion: SmoothMotion, mode: Mode, cause: int | None, rates: np.ndarray) -> tuple[str | None, list[int]]:
    """What is new in a mode without an impact, and whose."""
    changes: dict[str | None, list[int]] = {}
    for i, (old, new) in enumerate(zip(motion.mode.states, mode.states, strict=True)):
        if old == new:
            # it may also have turned, fast
            is_slow = new == SLIDE and cause == i + len(motion.constraints) and np.hypot(*rates[i, 1:]) <= tol.CREEPING
            kind = "reversal" if is_slow else None
        elif OPEN in (old, new):
            kind = "lift-off" if new == OPEN else "touch-down"
        else:
            kind = "slip" if new == SLIDE else "stick"
        changes.setdefault(kind, []).append(i)
    return next(((kind, changes[kind]) for kind in KINDS if kind in changes), (None, []))
