"""A robot at an instant: what moves under which constraints, what may change, and impacts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import SimulationError
from pliant.hybrid.law import OPEN, SLIDE, STICK, Problem, Solution, least_solution, solved
from pliant.hybrid.log import Event
from pliant.hybrid.terms import Constraint, Terms

if TYPE_CHECKING:
    from pliant.hybrid.simulation import HybridSimulation

__all__ = ["Instant", "Mode"]

# what touches [m or rad]; what approaches, what moves apart and what slides [m/s or rad/s]
_TOUCHING = 1e-8
_APPROACHING = 1e-9
_SLIDING = 1e-8
# a gap counts as open from here [m or rad]
_OPEN = 1e-10
_IMPACTS = 20

_WORDS = {STICK: "sticks", SLIDE: "slides"}


@dataclass
class Mode:
    """What every constraint does.

    Attributes:
        states: OPEN, STICK or SLIDE; a stop and a contact without friction slide if they are closed.
        directions: of the slides when they began, (n, 2).
        anchors: where contacts stick, (n, 3) [m].
        armed: which of the margins (see `Instant.margins`) have been positive since the mode began.
    """

    states: tuple[int, ...]
    directions: np.ndarray
    anchors: np.ndarray
    armed: np.ndarray

    @classmethod
    def free(cls, n: int) -> "Mode":
        """Nothing touches."""
        return cls((OPEN,) * n, np.zeros((n, 2)), np.zeros((n, 3)), np.zeros(2 * n, dtype=bool))

    def name(self, constraints: Sequence[Constraint]) -> str:
        """The mode in words."""
        closed = [
            f"{c.name} {_WORDS[s] if c.is_contact else 'stop'}"
            for c, s in zip(constraints, self.states, strict=True)
            if s != OPEN
        ]
        return ", ".join(closed) or "flight"


class Instant:
    """The laws at an instant in a mode."""

    def __init__(self, sim: "HybridSimulation", mode: Mode):
        self.sim, self.mode = sim, mode
        self.constraints = sim.constraints
        self.friction = np.array([c.friction for c in sim.constraints])
        n = len(sim.constraints)
        weight = 10 * float(sim.robot.mass) + 1
        closed = np.array([s != OPEN for s in mode.states], dtype=bool)
        first = np.where(closed, 1e-9 * weight, _OPEN) if n else np.zeros(0)
        sliding = np.array([s == SLIDE for s in mode.states], dtype=bool)
        second = np.where(sliding, _SLIDING, 1e-9 * weight) if n else np.zeros(0)
        self.least = np.concatenate([first, second])

    # ---- smooth motion

    def motion(self, terms: Terms, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, and forces along normal and tangents, (n, 3), with the constraints of the mode."""
        A, B, c, places = self._rows(terms, v)
        n = len(self.constraints)
        forces = np.zeros((n, 3))
        if not len(A):
            return np.linalg.solve(terms.M, terms.r), forces
        solution = np.linalg.solve(terms.M, np.column_stack([terms.r, B.T]))
        free, response = solution[:, 0], solution[:, 1:]
        z = least_solution(A @ response, -c - A @ free)
        for (i, shares), x in zip(places, z, strict=True):
            forces[i] += x * shares
        return free + response @ z, forces

    def _rows(self, terms: Terms, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, list]:
        """Rows that are held, rows along which their forces act, what they have without vd, and whose they are."""
        A, B, c, places = [], [], [], []
        for i, state in enumerate(self.mode.states):
            J = terms.J[i]
            if state == STICK:
                A += list(J)
                B += list(J)
                c += list(terms.c[i])
                places += [(i, unit) for unit in np.eye(3)]
            elif state == SLIDE:
                shares = np.array([1.0, *(-self.friction[i] * self._direction(i, J, v))])
                A.append(J[0])
                B.append(shares @ J)
                c.append(terms.c[i, 0])
                places.append((i, shares))
        nv = len(v)
        return np.array(A).reshape(-1, nv), np.array(B).reshape(-1, nv), np.array(c), places

    def _direction(self, i: int, J: np.ndarray, v: np.ndarray) -> np.ndarray:
        slip = J[1:] @ v
        speed = float(np.hypot(*slip))
        return slip / speed if speed > _SLIDING else self.mode.directions[i]

    def margins(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """What stays positive as long as the mode lasts, (2 n).

        First the gap of what is open, the normal force of what is closed; then what friction has left where a contact
        sticks, and the slip along its first direction where it slides.
        """
        n = len(self.constraints)
        found = np.ones(2 * n)
        forces = self.motion(terms, v)[1] if any(self.mode.states) else None
        for i, state in enumerate(self.mode.states):
            if state == OPEN or forces is None:
                found[i] = terms.gap[i]
                continue
            found[i] = forces[i, 0]
            if state == STICK:
                found[n + i] = self.friction[i] * forces[i, 0] - np.hypot(*forces[i, 1:])
            elif self.friction[i] > 0:
                found[n + i] = (terms.J[i, 1:] @ v) @ self.mode.directions[i]
        return found

    def projected(self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state without its drift off the constraints."""
        if not any(self.mode.states):
            return q, v
        for _ in range(4):
            terms = self.sim.terms(t, q, v, u)
            rows, open_by = [], []
            for i, state in enumerate(self.mode.states):
                if state == OPEN:
                    continue
                rows.append(terms.J[i, 0])
                open_by.append(terms.gap[i])
                if state == STICK and self.constraints[i].holds_place:
                    rows += list(terms.J[i, 1:])
                    open_by += list(terms.axes[i, 1:] @ (terms.place[i] - self.mode.anchors[i]))
            if abs(np.array(open_by)).max() < 1e-13:
                break
            q = self.sim.chart(q, _taken_back(terms.M, np.array(rows), np.array(open_by)), v)[0]
        terms = self.sim.terms(t, q, v, u)
        held = [
            row
            for i, state in enumerate(self.mode.states)
            if state != OPEN
            for row in (terms.J[i] if state == STICK else terms.J[i, :1])
        ]
        return q, v + _taken_back(terms.M, np.array(held), np.array(held) @ v)

    # ---- events

    def resolved(
        self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray, cause: int | None
    ) -> tuple[Event | None, np.ndarray, Mode]:
        """Impacts, and the mode with which the motion goes on.

        Args:
            cause: the margin that is zero now, if any.

        Returns:
            The event, or None if nothing changes; the velocity and the mode after it.
        """
        impulse, lost, landed = np.zeros((len(self.constraints), 3)), 0.0, set()
        terms = self.sim.terms(t, q, v, u)
        for _ in range(_IMPACTS):
            touching = self._touching(terms)
            approaching = [i for i in touching if terms.J[i, 0] @ v < -_APPROACHING]
            if not approaching:
                break
            v, p, loss = self._impact(terms, v, touching)
            impulse, lost = impulse + p, lost + loss
            landed |= set(approaching)
            terms = self.sim.terms(t, q, v, u)
        else:
            raise SimulationError(f"impacts at t = {t:.9g} s do not end; state: q = {q.tolist()}, v = {v.tolist()}")
        mode = self._next_mode(terms, v, None if landed else cause)
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

    def _touching(self, terms: Terms) -> list[int]:
        return [i for i, s in enumerate(self.mode.states) if s != OPEN or terms.gap[i] <= _TOUCHING]

    def _impact(self, terms: Terms, v: np.ndarray, who: list[int]) -> tuple[np.ndarray, np.ndarray, float]:
        """Velocity after an impact, impulses (n, 3) and energy lost [J]."""
        J = terms.J[who].reshape(-1, len(v))
        response = np.linalg.solve(terms.M, J.T)
        rates = terms.J[who] @ v
        if -rates[:, 0].min() < self.sim.rest_speed:
            # rocking and rattling go on for ever, ever slower: what touches now stays
            after = v + _taken_back(terms.M, J, J @ v)
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
        rates = terms.J @ v
        who = [i for i in self._touching(terms) if rates[i, 0] <= _SLIDING * 10]
        speeds = np.hypot(rates[:, 1], rates[:, 2])
        sliding = [
            rates[i, 1:] / speeds[i] if self.friction[i] > 0 and speeds[i] > _SLIDING * 10 else None for i in who
        ]
        found = self._solved(terms, v, who, sliding, cause)
        states, directions = [OPEN] * n, np.zeros((n, 2))
        for k, i in enumerate(who):
            states[i], directions[i] = found.modes[k], found.directions[k]
        anchors = np.where(np.array([s == STICK for s in self.mode.states])[:, None], self.mode.anchors, terms.place)
        return Mode(tuple(states), directions, anchors, np.zeros(2 * n, dtype=bool))

    def _solved(self, terms: Terms, v: np.ndarray, who: list[int], sliding: list, cause: int | None) -> Solution:
        n, nv = len(self.constraints), len(v)
        if not who:
            return Solution((), np.zeros((0, 2)), np.zeros((0, 3)), np.zeros((0, 3)))
        J = terms.J[who].reshape(-1, nv)
        solution = np.linalg.solve(terms.M, np.column_stack([terms.r, J.T]))
        c = (J @ solution[:, 0]).reshape(-1, 3) + terms.c[who]
        scale = 1e-9 * (1 + abs(c).max())
        problem = Problem(J @ solution[:, 1:], c, self.friction[who], sliding, scale)
        guess, directions = [], np.zeros((len(who), 2))
        ends = self._ends(terms, v, cause)
        for k, (i, d) in enumerate(zip(who, sliding, strict=True)):
            state = self.mode.states[i]
            guess.append(SLIDE if self.friction[i] == 0 or d is not None else STICK)
            if ends[i] and state != OPEN:
                guess[k] = OPEN
            elif state == STICK and ends[n + i]:
                force = self.motion(terms, v)[1][i, 1:]
                guess[k], directions[k] = SLIDE, -force / max(float(np.hypot(*force)), 1e-300)
            elif state == SLIDE and d is None and not ends[n + i]:  # it has just begun
                guess[k], directions[k] = SLIDE, self.mode.directions[i]
        return solved(problem, guess, directions)

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


def _taken_back(M: np.ndarray, rows: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """The least change, as M measures it, that takes an amount along rows back."""
    response = np.linalg.solve(M, rows.T)
    return -response @ least_solution(rows @ response, amount)
