"""A robot at an instant: what moves under which constraints, what may change, and impacts."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import SimulationError
from pliant.hybrid.law import OPEN, SLIDE, STICK, Problem, Solution, least_solution, solved
from pliant.hybrid.log import Event
from pliant.hybrid.mode import Mode
from pliant.hybrid.spreading import cancelling, spread
from pliant.hybrid.terms import Terms

if TYPE_CHECKING:
    from pliant.hybrid.simulation import HybridSimulation

__all__ = ["Instant"]

Controls = Callable[[float, np.ndarray, np.ndarray], np.ndarray]

# what touches [m or rad]; what approaches, what moves apart and what slides [m/s or rad/s]
_TOUCHING = 1e-8
_APPROACHING = 1e-9
_SLIDING = 1e-8
# slips below count as none where modes change; below the second they have settled directions [m/s]
_STILL, _CREEPING = 1e-6, 1e-4
_TURN = 1e-6
# no contact that touches is deeper, unless the ground jumps [m or rad]
_DEEPEST = 1e-6
# a gap counts as open from here [m or rad]
_OPEN = 1e-10
# a bounce that is not as high is none [m or rad]
_LOWEST = 1e-12
_IMPACTS = 20


class Instant:
    """The laws at an instant in a mode."""

    def __init__(self, sim: "HybridSimulation", mode: Mode):
        self.sim, self.mode = sim, mode
        self.constraints = sim.constraints
        self.friction = np.array([c.friction for c in sim.constraints])
        weight = 10 * float(sim.robot.mass) + 1
        states = np.array(mode.states, dtype=int)
        first = np.where(states == OPEN, _OPEN, 1e-9 * weight)
        second = np.where(states == SLIDE, _SLIDING, 1e-9 * weight)
        self.least = np.concatenate([first, second])
        self.stick, self.slide = np.flatnonzero(states == STICK), np.flatnonzero(states == SLIDE)
        self.closed = np.flatnonzero(states != OPEN)
        of, along = np.nonzero(sim.terms.moves[self.stick])
        self._held = self.stick[of], along
        self._mu = self.friction[self.slide]
        self._first = mode.directions[self.slide]
        self._sign = np.where(mode.passing, -1.0, 1.0)
        self._rubbing = self.slide[self._mu > 0]
        self._is_stuck = states[self.closed] == STICK
        self._mu_closed = self.friction[self.closed]
        self._least_force = 1e-9 * weight
        self._places = np.array([self.constraints[i].holds_place for i in self.stick], dtype=bool)

    # ---- smooth motion

    def motion(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """Accelerations with the constraints of the mode.

        They are not numbers where friction pushes a sliding contact into the ground.
        """
        if not len(self.closed):
            return terms.M_inverse @ terms.r
        response, z, _ = self._reaction(terms, self._directions(terms, v))
        return terms.M_inverse @ terms.r + response @ z

    def forces(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """Along normal and tangents, (n, 3): the least where many fit, or such that friction can bear them."""
        found = np.zeros((len(self.constraints), 3))
        if not len(self.closed):
            return found
        response, z, shares = self._reaction(terms, self._directions(terms, v))
        place = self._placed(z[None], shares)[0]
        found[self.closed] = place
        sticks = self._is_stuck
        margins = np.where(sticks, self._mu_closed * place[:, 0] - np.hypot(place[:, 1], place[:, 2]), place[:, 0])
        if len(self.closed) > 1 and (margins < 2 * self._least_force).any():
            rows = self._pushed(terms, shares)
            null = cancelling(rows @ response)
            found[self.closed] = spread(place, self._placed(null, shares), self._mu_closed, sticks)
        return found

    def _reaction(self, terms: Terms, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What unit forces do to v, the forces z along them, and the directions (1, -mu d) of those that slide."""
        slide, held = self.slide, self._held
        rows = terms.J[held]
        A, c = rows, terms.c[held]
        shares = np.ones((len(slide), 3))
        if len(slide):
            shares[:, 1:] = -self._mu[:, None] * directions
            A = np.concatenate([rows, terms.J[slide, 0]])
            c = np.concatenate([c, terms.c[slide, 0]])
        response = terms.M_inverse @ self._pushed(terms, shares).T
        W = A @ response
        if len(slide) and W.diagonal()[len(rows) :].min() < 0:
            return response, np.full(len(W), np.nan), shares
        return response, least_solution(W, -c - A @ (terms.M_inverse @ terms.r)), shares

    def _pushed(self, terms: Terms, shares: np.ndarray) -> np.ndarray:
        """Rows along which forces act: those held, and those that slide."""
        return np.concatenate([terms.J[self._held], (shares[:, None] @ terms.J[self.slide])[:, 0]])

    def _placed(self, z: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Forces z (p, m) along these rows as forces of the closed constraints, (p, k, 3)."""
        of, along = self._held
        full = np.zeros((len(z), len(self.constraints), 3))
        full[:, of, along] = z[:, : len(of)]
        full[:, self.slide] = z[:, len(of) :, None] * shares
        return full[:, self.closed]

    def jammed(self, terms: Terms, v: np.ndarray) -> list[str]:
        """Names of sliding contacts that friction pushes into the ground, or hardly lets out."""
        found = []
        directions = self._directions(terms, v)
        for i, d, mu in zip(self.slide, directions, self._mu, strict=True):
            shares = np.array([1.0, *(-mu * d)])
            own = terms.J[i, 0] @ terms.M_inverse @ (shares @ terms.J[i])
            if own < 0.05 * (terms.J[i, 0] @ terms.M_inverse @ terms.J[i, 0]):
                found.append(self.constraints[i].name)
        return found

    def _directions(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """Those of the sliding contacts now, (k, 2)."""
        slip = terms.J[self.slide, 1:] @ v
        speed = np.hypot(slip[:, 0], slip[:, 1])
        # what would slide back ends the mode: until then its direction goes on
        follows = (speed > _CREEPING) & ((slip * self._first).sum(axis=1) > 0)
        d = np.where(follows[:, None], slip / np.maximum(speed, 1e-300)[:, None], self._first)
        creeps = np.flatnonzero((speed <= _CREEPING) & (self._mu > 0))
        return self._settled(terms, d, creeps) if len(creeps) else d

    def _settled(self, terms: Terms, d: np.ndarray, creeps: np.ndarray) -> np.ndarray:
        """Directions of slow slides, where they have turned to, since they turn faster than steps can follow.

        The slip u turns by d' = (y - (y.d) d) / |u| with y = u' the rate under the forces along d: it settles where y is
        along d, at once as |u| goes to zero. Found by Newton's method; if there is none, they stay as they are.
        """
        who = self.slide[creeps]
        free = terms.M_inverse @ terms.r

        def turned(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            new = d.copy()
            new[creeps] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
            response, z, _ = self._reaction(terms, new)
            y = terms.J[who, 1:] @ (free + response @ z) + terms.c[who, 1:]
            return new, y[:, 1] * new[creeps, 0] - y[:, 0] * new[creeps, 1]

        angles = np.arctan2(d[creeps, 1], d[creeps, 0])
        found, across = turned(angles)
        first = abs(across).max()
        for _ in range(8):
            if not abs(across).max() > 1e-10 * (1 + first):
                break
            columns = [turned(angles + _TURN * unit)[1] - across for unit in np.eye(len(creeps))]
            slope = np.array(columns).T / _TURN
            if not np.isfinite(slope).all():
                return d
            step = np.linalg.lstsq(slope, -across, rcond=1e-9)[0]
            angles = angles + step * min(1.0, 0.3 / max(abs(step).max(), 1e-300))
            found, across = turned(angles)
        # a settled direction is near: the last one was settled, too
        return found if abs(across).max() <= 1e-3 * first or abs(across).max() < 1e-9 else d

    def follow(self, terms: Terms, v: np.ndarray) -> None:
        """Directions of slides are those of the moment: sliding ends where the slip along them does."""
        self._first = self._directions(terms, v)
        self.mode.directions[self.slide] = self._first

    def margins(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """What stays positive as long as the mode lasts, (2 n).

        First the gap of what is open, the normal force of what is closed; then what friction has left where a contact
        sticks, and the slip where it slides, along its direction.
        """
        n = len(self.constraints)
        found = np.ones(2 * n)
        found[:n] = self._sign * terms.gap
        if not len(self.closed):
            return found
        forces = self.forces(terms, v)
        found[self.closed] = forces[self.closed, 0]
        held, rubbing = self.stick, self._rubbing
        found[n + held] = self.friction[held] * forces[held, 0] - np.hypot(forces[held, 1], forces[held, 2])
        if len(rubbing):
            slip = terms.J[rubbing, 1:] @ v
            found[n + rubbing] = (slip * self.mode.directions[rubbing]).sum(axis=1)
        return found

    def projected(self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state without its drift off the constraints."""
        if not len(self.closed):
            return q, v
        placed = self.stick[self._places]
        of, along = np.nonzero(self.sim.terms.moves[placed, 1:])
        aside_rows = placed[of], along + 1
        terms = self.sim.terms(t, q, v, u)
        for _ in range(4):
            moved = terms.place[placed] - self.mode.anchors[placed]
            aside = (terms.axes[placed, 1:] @ moved[:, :, None])[of, along, 0]
            open_by = np.concatenate([terms.gap[self.closed], aside])
            if abs(open_by).max() < 1e-13:
                break
            rows = np.concatenate([terms.J[self.closed, 0], terms.J[aside_rows]])
            # of a straight chain held at both ends, rounding would become angles of its root
            q = self.sim.chart(q, _taken_back(terms, rows, open_by, weakest=1e-7), v)[0]
            terms = self.sim.terms(t, q, v, u)
        held = np.concatenate([terms.J[self._held], terms.J[self.slide, 0]])
        return q, v + _taken_back(terms, held, held @ v)

    # ---- events

    def resolved(
        self, t: float, q: np.ndarray, v: np.ndarray, control: Controls, cause: int | None
    ) -> tuple[Event | None, np.ndarray, Mode]:
        """Impacts, and the mode with which the motion goes on.

        Args:
            control: what the controls are at a time and state: an impact may change them.
            cause: the margin that is zero now, if any.

        Returns:
            The event, or None if nothing changes; the velocity and the mode after it.
        """
        n = len(self.constraints)
        if cause is not None and cause < n and self.mode.passing[cause]:
            # it is apart again
            self.mode.passing[cause] = False
            return None, v, Mode(**{**vars(self.mode), "armed": np.zeros(2 * n, dtype=bool)})
        impulse, lost, landed = np.zeros((len(self.constraints), 3)), 0.0, set()
        terms = self.sim.terms(t, q, v, control(t, q, v))
        self._check_depth(terms, t)
        self._let_pass(terms, t, q, v)
        for _ in range(_IMPACTS):
            touching = self._touching(terms)
            approaching = [i for i in touching if terms.J[i, 0] @ v < -_APPROACHING]
            if not approaching:
                break
            v, p, loss = self._impact(terms, v, touching)
            impulse, lost = impulse + p, lost + loss
            landed |= set(approaching)
            terms = self.sim.terms(t, q, v, control(t, q, v))
        else:
            raise SimulationError(f"impacts at t = {t:.9g} s do not end; state: q = {q.tolist()}, v = {v.tolist()}")
        mode = self._next_mode(terms, v, None if landed else cause)
        v, loss = self._kept(terms, v, mode)
        lost += loss
        before, after = self.mode.name(self.constraints), mode.name(self.constraints)
        kind, who = ("touch-down", sorted(landed)) if landed else self._change(mode, cause)
        if kind is None:
            return None, v, mode
        names = tuple(self.constraints[i].name for i in who)
        told = {
            self.constraints[i].name: p @ terms.axes[i] if self.constraints[i].is_contact else p[0]
            for i, p in enumerate(impulse)
            if p.any()
        }
        return Event(t, kind, names, told, lost, before, after), v, mode

    def _kept(self, terms: Terms, v: np.ndarray, mode: Mode) -> tuple[np.ndarray, float]:
        """The velocity as the mode has it, without what counts as no slip and no bounce; and the energy of that."""
        rates = terms.rates(v)
        closed = [i for i, state in enumerate(mode.states) if state != OPEN]
        slow = [i for i in closed if self.friction[i] > 0 and np.hypot(*rates[i, 1:]) <= _STILL]
        rows = np.concatenate([terms.J[closed, 0], terms.J[slow, 1:].reshape(-1, len(v))])
        rows = rows[abs(rows).max(axis=1, initial=0) > 0]
        amount = rows @ v
        if abs(amount).max(initial=0) < 1e-15:
            return v, 0.0
        after = v + _taken_back(terms, rows, amount)
        return after, float(v @ terms.M @ v - after @ terms.M @ after) / 2

    def _touching(self, terms: Terms) -> list[int]:
        states, passing = self.mode.states, self.mode.passing
        return [i for i, s in enumerate(states) if s != OPEN or (terms.gap[i] <= _TOUCHING and not passing[i])]

    def _check_depth(self, terms: Terms, t: float) -> None:
        for i in self._touching(terms):
            if terms.gap[i] < -_DEEPEST:
                raise SimulationError(
                    f"t = {t:.9g} s: {self.constraints[i].name} is {-terms.gap[i]:.3g} m inside the ground at once: the "
                    "ground has an edge or a step there. Event-driven simulation takes ground without edges where "
                    "contacts pass; use Simulation, or round the edge off"
                )

    def _let_pass(self, terms: Terms, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Those that would touch and may not."""
        if self.sim.when is None:
            return
        for i in self._touching(terms):
            if self.mode.states[i] == OPEN and terms.J[i, 0] @ v < 0:
                self.mode.passing[i] = not self.sim.may_close(self.constraints[i].name, t, q, v)

    def _impact(self, terms: Terms, v: np.ndarray, who: list[int]) -> tuple[np.ndarray, np.ndarray, float]:
        """Velocity after an impact, impulses (n, 3) and energy lost [J]."""
        J = terms.J[who].reshape(-1, len(v))
        response = terms.M_inverse @ J.T
        rates = terms.J[who] @ v
        if -rates[:, 0].min() < self.sim.rest_speed:
            # rocking and rattling go on for ever, ever slower: what touches now and hardly moves apart or aside stays
            slow = rates[:, 0] < self.sim.rest_speed
            stays = slow & (self.friction[who] > 0) & (np.hypot(rates[:, 1], rates[:, 2]) < self.sim.rest_speed)
            held = terms.J[who][np.stack([slow, stays, stays], axis=1)]
            after = v + _taken_back(terms, held, held @ v)
            none = np.zeros((len(self.constraints), 3))
            return after, none, float(v @ terms.M @ v - after @ terms.M @ after) / 2
        e = np.array([self.constraints[i].restitution for i in who])
        e = np.where(-e * rates[:, 0] > self.sim.rest_speed, e, 0)
        for restitution in (e, 0 * e):
            c = rates.copy()
            c[:, 0] += restitution * np.minimum(rates[:, 0], 0)
            problem = Problem(J @ response, c, self.friction[who], [None] * len(who), 1e-11 * (1 + abs(c).max()))
            guess = [STICK if self.friction[i] > 0 else SLIDE for i in who]
            p = solved(problem, guess).f
            after = v + response @ p.ravel()
            lost = float(v @ terms.M @ v - after @ terms.M @ after) / 2
            # with friction Newton's restitution may gain energy: then there is none
            if lost >= -1e-12 * (1 + float(v @ terms.M @ v)):
                break
        impulse = np.zeros((len(self.constraints), 3))
        impulse[who] = p
        return after, impulse, lost

    def _next_mode(self, terms: Terms, v: np.ndarray, cause: int | None) -> Mode:
        """What goes on at velocities that no impact changes any more."""
        n = len(self.constraints)
        rates = terms.rates(v)
        touching = self._touching(terms)
        # what leaves slower than that would be back before any step could tell
        who = [i for i in touching if rates[i, 0] <= self.sim.rest_speed]
        speeds = np.hypot(rates[:, 1], rates[:, 2])
        while True:
            sliding = [
                rates[i, 1:] / speeds[i] if self.friction[i] > 0 and speeds[i] > _STILL else None for i in who
            ]
            found = self._solved(terms, v, who, sliding, cause)
            back = self._falls_back(terms, rates, who, found, touching)
            if not back:
                break
            who = sorted([*who, *back])
        states, directions = [OPEN] * n, np.zeros((n, 2))
        for k, i in enumerate(who):
            states[i], directions[i] = found.modes[k], found.directions[k]
        anchors = np.where(np.array([s == STICK for s in self.mode.states])[:, None], self.mode.anchors, terms.place)
        return Mode(tuple(states), directions, anchors, np.zeros(2 * n, dtype=bool), self.mode.passing)

    def _falls_back(
        self, terms: Terms, rates: np.ndarray, who: list[int], found: Solution, touching: list[int]
    ) -> list[int]:
        """Those of the touching that leave, but would return before they are seen to be open."""
        leaving = [i for i in touching if i not in who]
        if not leaving:
            return []
        forces = np.zeros((len(self.constraints), 3))
        forces[who] = found.f
        vd = terms.M_inverse @ (terms.r + np.tensordot(forces, terms.J, 2))
        y = terms.J[leaving, 0] @ vd + terms.c[leaving, 0]
        highest = terms.gap[leaving] + rates[leaving, 0] ** 2 / np.maximum(-2 * y, 1e-300)
        return [i for i, top in zip(leaving, highest, strict=True) if top <= _LOWEST]

    def _solved(self, terms: Terms, v: np.ndarray, who: list[int], sliding: list, cause: int | None) -> Solution:
        n, nv = len(self.constraints), len(v)
        if not who:
            return Solution((), np.zeros((0, 2)), np.zeros((0, 3)), np.zeros((0, 3)))
        J = terms.J[who].reshape(-1, nv)
        c = (J @ (terms.M_inverse @ terms.r)).reshape(-1, 3) + terms.c[who]
        scale = 1e-9 * (1 + abs(c).max())
        names = [self.constraints[i].name for i in who]
        problem = Problem(J @ terms.M_inverse @ J.T, c, self.friction[who], sliding, scale, names)
        guess, directions, leaving = [], np.zeros((len(who), 2)), []
        ends = self._ends(terms, v, cause)
        for k, (i, d) in enumerate(zip(who, sliding, strict=True)):
            state = self.mode.states[i]
            guess.append(SLIDE if self.friction[i] == 0 or d is not None else STICK)
            if ends[i] and state != OPEN:
                guess[k] = OPEN
            elif state == STICK and ends[n + i]:
                force = self.forces(terms, v)[i, 1:]
                guess[k], directions[k] = SLIDE, -force / max(float(np.hypot(*force)), 1e-300)
                leaving.append(k)
            elif state == SLIDE and d is None and cause is not None and not ends[n + i]:  # it has just begun
                guess[k], directions[k] = SLIDE, self.mode.directions[i]
        return solved(problem, guess, directions, leaving)

    def _ends(self, terms: Terms, v: np.ndarray, cause: int | None) -> np.ndarray:
        """Which of the margins are used up: the one that was found, and those that reach zero at the same time."""
        n = len(self.constraints)
        if cause is None:
            return np.zeros(2 * n, dtype=bool)
        found = (self.margins(terms, v) <= 10 * self.least) & self.mode.armed
        found[cause] = True
        return found

    def _change(self, mode: Mode, cause: int | None) -> tuple[str | None, list[int]]:
        """What is new in a mode without an impact, and whose."""
        changes: dict[str, list[int]] = {}
        for i, (old, new) in enumerate(zip(self.mode.states, mode.states, strict=True)):
            if old == new:
                if new == SLIDE and cause == i + len(self.constraints):
                    changes.setdefault("reversal", []).append(i)
            elif new == OPEN:
                changes.setdefault("lift-off", []).append(i)
            elif old == OPEN:
                changes.setdefault("touch-down", []).append(i)
            else:
                changes.setdefault("slip" if new == SLIDE else "stick", []).append(i)
        for kind in ("touch-down", "lift-off", "slip", "stick", "reversal"):
            if kind in changes:
                return kind, changes[kind]
        return None, []


def _taken_back(terms: Terms, rows: np.ndarray, amount: np.ndarray, weakest: float = 1e-11) -> np.ndarray:
    """The least change, as M measures it, that takes an amount along rows back."""
    response = terms.M_inverse @ rows.T
    return -response @ least_solution(rows @ response, amount, weakest)
