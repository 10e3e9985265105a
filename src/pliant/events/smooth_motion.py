"""Smooth motion in a mode: accelerations, contact forces, margins that end the mode, and correction of drift."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import SimulationError
from pliant.events import tolerances as tol
from pliant.events.constraint_terms import Terms
from pliant.events.redundant_forces import cancelling, is_jammed, least_solution, least_solutions, spread, taken_back
from pliant.events.state import OPEN, SLIDE, STICK, Mode

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation


class SmoothMotion:
    """The motion under the constraints of a mode, as long as it lasts."""

    def __init__(self, sim: "EventSimulation", mode: Mode):
        self.sim, self.mode = sim, mode
        self.constraints = sim.constraints
        self.friction = np.array([c.friction for c in sim.constraints])
        self.bounds = np.array([c.bound for c in sim.constraints])
        self.rough = (self.friction > 0) | (self.bounds > 0)
        # the weight at about 1 g, and one newton, since robots may weigh nothing
        self._least_force = tol.LEAST_FORCE * (10 * float(sim.robot.mass) + 1)
        states = np.array(mode.states, dtype=int)
        first = np.where(states == OPEN, tol.LEAST_GAP, self._least_force)
        second = np.where(states == SLIDE, tol.LEAST_SLIP, self._least_force)
        self.least = np.concatenate([first, second])
        joints = self.is_joint = np.array([c.is_joint for c in sim.constraints], dtype=bool)
        self.stick, self.slide = np.flatnonzero(states == STICK), np.flatnonzero((states == SLIDE) & ~joints)
        # joints whose dry friction has the force of its bound
        self.rubbed = np.flatnonzero((states == SLIDE) & joints)
        self.closed = np.flatnonzero((states != OPEN) & ~((states == SLIDE) & joints))
        # those with a normal
        self.touching = np.flatnonzero((states != OPEN) & ~joints)
        of, along = np.nonzero(sim.terms.moves[self.stick])
        self._held = self.stick[of], along
        self._mu = self.friction[self.slide]
        self._sign = np.where(mode.passing, -1.0, 1.0)
        self._rubbing = self.slide[self._mu > 0]
        self._is_stuck = states[self.closed] == STICK
        self._places = np.array([self.constraints[i].holds_place for i in self.stick], dtype=bool)

    def motion(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """Accelerations with the constraints of the mode.

        They are not numbers where friction pushes a sliding contact into the ground.
        """
        free = self._rubbed(terms)
        if not len(self.closed):
            return free
        response, z, _ = self._reaction(terms, free, self.slide_directions(terms, v))
        return free + response @ z

    def _rubbed(self, terms: Terms) -> np.ndarray:
        """The free acceleration with the friction of joints that slide."""
        who = self.rubbed
        if not len(who):
            return terms.free
        forces = -self.bounds[who] * self.mode.directions[who, 0]
        return terms.free + terms.M_inverse @ (terms.J[who, 1].T @ forces)

    def forces(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """Along normal and tangents, (n, 3): the least where many fit, or such that friction can bear them."""
        found = np.zeros((len(self.constraints), 3))
        found[self.rubbed, 1] = -self.bounds[self.rubbed] * self.mode.directions[self.rubbed, 0]
        if not len(self.closed):
            return found
        response, z, shares = self._reaction(terms, self._rubbed(terms), self.slide_directions(terms, v))
        place = self._placed(z[None], shares)[0]
        found[self.closed] = place
        sticks, mu, bounds = self._is_stuck, self.friction[self.closed], self.bounds[self.closed]
        margins = np.where(sticks, mu * place[:, 0] + bounds - np.hypot(place[:, 1], place[:, 2]), place[:, 0])
        if len(self.closed) > 1 and (margins < 2 * self._least_force).any():
            rows = self._pushed(terms, shares)
            null = cancelling(rows @ response)
            found[self.closed] = spread(place, self._placed(null, shares), mu, sticks, bounds)
        return found

    def _reaction(
        self, terms: Terms, free: np.ndarray, directions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
        if len(self._rubbing) and is_jammed(W):
            return response, np.full(len(W), np.nan), shares
        weakest = tol.RANK_OF_SLIDES if len(self._rubbing) else tol.RANK
        return response, least_solution(W, -c - A @ free, weakest), shares

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
        shares = np.ones((len(self.slide), 3))
        shares[:, 1:] = -self._mu[:, None] * self.slide_directions(terms, v)
        rows = np.concatenate([terms.J[self._held], terms.J[self.slide, 0]])
        W = rows @ terms.M_inverse @ self._pushed(terms, shares).T
        # what friction leaves must be a part of what there is without
        normal = np.arange(len(W) - len(self.slide), len(W))
        W[normal, normal] -= tol.JAMMED * np.diag(rows @ terms.M_inverse @ rows.T)[normal]
        if not len(self._rubbing) or not is_jammed(W):
            return []
        own = W[normal, normal]
        return [self.constraints[i].name for i, mu, x in zip(self.slide, self._mu, own, strict=True) if mu > 0 > x]

    def slide_directions(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """Those of the sliding contacts now, (k, 2)."""
        slip = terms.J[self.slide, 1:] @ v
        speed = np.hypot(slip[:, 0], slip[:, 1])
        # what would slide back ends the mode: until then its direction goes on
        first, creeping = self.mode.directions[self.slide], self.mode.creeping[self.slide]
        slow = speed <= np.where(creeping, 3 * tol.CREEPING, tol.CREEPING)
        follows = ~slow & ((slip * first).sum(axis=1) > 0)
        d = np.where(follows[:, None], slip / np.maximum(speed, 1e-300)[:, None], first)
        creeps = np.flatnonzero(slow & (self._mu > 0))
        return self._settled(terms, d, creeps) if len(creeps) else d

    def _settled(self, terms: Terms, d: np.ndarray, creeps: np.ndarray) -> np.ndarray:
        """Directions of slow slides, where they have turned to, since they turn faster than steps can follow.

        The slip u turns by d' = (y - (y.d) d) / |u|, with y = u' its rate under the forces along d: it settles where y
        is along d, at once as |u| goes to zero. Found by Newton's method; if there is none, they stay as they are.
        """
        turned = _Turning(self, terms, d, creeps)
        angles = np.arctan2(d[creeps, 1], d[creeps, 0])
        shifts = tol.SETTLED_ANGLE * np.eye(len(creeps) + 1, len(creeps), -1)
        across, *shifted = turned(angles + shifts)
        first = abs(across).max()
        for _ in range(8):
            if not abs(across).max() > 1e-10 * (1 + first):
                break
            slope = (np.array(shifted) - across).T / tol.SETTLED_ANGLE
            if not np.isfinite(slope).all():
                return d
            step = np.linalg.lstsq(slope, -across, rcond=1e-9)[0]
            angles = angles + step * min(1.0, 0.3 / max(abs(step).max(), 1e-300))
            across, *shifted = turned(angles + shifts)
        # a settled direction is near: the last one was settled, too
        if not (abs(across).max() <= 1e-3 * first or abs(across).max() < 1e-9):
            return d
        found = d.copy()
        found[creeps] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return found

    def follow(self, terms: Terms, v: np.ndarray) -> None:
        """Directions of slides are those of the moment: sliding ends where the slip along them does."""
        self.mode.directions[self.slide] = self.slide_directions(terms, v)
        # what creeps goes on to do so until it is clearly faster
        speed = np.hypot(*(terms.J[self.slide, 1:] @ v).T)
        creeping = self.mode.creeping[self.slide]
        self.mode.creeping[self.slide] = speed <= np.where(creeping, 3 * tol.CREEPING, tol.CREEPING)

    def gap(self, terms: Terms, i: int) -> float:
        """The margin of an open constraint."""
        return float(self._sign[i] * terms.gap[i])

    def margins(self, terms: Terms, v: np.ndarray) -> np.ndarray:
        """What stays positive as long as the mode lasts, (2 n).

        First the gap of what is open, the normal force of what is closed; then what friction has left where a contact
        or joint sticks, and the slip where it slides, along its direction.
        """
        n = len(self.constraints)
        found = np.ones(2 * n)
        found[:n] = np.where(self.is_joint, 1.0, self._sign * terms.gap)
        rubbing = np.concatenate([self._rubbing, self.rubbed])
        if len(rubbing):
            slip = terms.J[rubbing, 1:] @ v
            found[n + rubbing] = (slip * self.mode.directions[rubbing]).sum(axis=1)
        if len(self.closed):
            forces, held = self.forces(terms, v), self.stick
            found[self.touching] = forces[self.touching, 0]
            most = self.friction[held] * forces[held, 0] + self.bounds[held]
            found[n + held] = most - np.hypot(forces[held, 1], forces[held, 2])
        return found

    def projected(self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state without its drift off the constraints, loops and locks included."""
        if not len(self.closed) and not self.sim.terms.has_loops:
            return q, v
        placed = self.stick[self._places]
        of, along = np.nonzero(self.sim.terms.moves[placed, 1:])
        aside_rows = placed[of], along + 1
        terms = self.sim.terms(t, q, v, u)
        self._check_drift(terms, t)
        for _ in range(4):
            moved = terms.place[placed] - self.mode.anchors[placed]
            aside = (terms.axes[placed, 1:] @ moved[:, :, None])[of, along, 0]
            # where a loop is nearly singular, a rounding error would become an angle
            strong = terms.strength > tol.RANK_OF_CLOSING
            open_by = np.concatenate([terms.gap[self.touching], aside, terms.held_open[strong]])
            if abs(open_by).max(initial=0) < tol.PROJECTED:
                break
            rows = np.concatenate([terms.J[self.touching, 0], terms.J[aside_rows], terms.held[strong]])
            # of a straight chain held at both ends, rounding would become angles of its root
            back = taken_back(terms.tree_inverse, rows, open_by, weakest=tol.RANK_OF_PLACES)
            q = self.sim.chart.integrate(q, back)
            terms = self.sim.terms(t, q, v, u)
        held = np.concatenate([terms.J[self._held], terms.J[self.slide, 0], terms.held])
        return q, v + taken_back(terms.tree_inverse, held, held @ v)

    def _check_drift(self, terms: Terms, t: float) -> None:
        off = abs(terms.gap[self.touching])
        if off.max(initial=0) > tol.FARTHEST:
            name = self.constraints[self.touching[int(off.argmax())]].name
            gap = f"{off.max():.3g} m off the ground"
            problem = f"t = {t:.9g} s: {name}, which touches, is {gap} after a step: it passed an edge"
            cure = "use Simulation, round the edge off, or give a shorter max_step="
            raise SimulationError(problem, subject=name, field="ground", cure=cure)

    def is_over_edge(self, terms: Terms, v: np.ndarray) -> bool:
        """Whether the ground has turned at once below what slides: no drift of the integrator is as large."""
        return bool((abs(terms.J[self.slide, 0] @ v) > tol.EDGE * (1 + abs(v).max())).any())


def beyond_edge(motion: SmoothMotion, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray | None:
    """A configuration just ahead where the ground below what touches has turned or bent at once; None if there is none.

    An adaptive step gets shorter and shorter before an edge of the ground, since accelerations jump there, and ends so
    near to it that going on straight for nanoseconds is beyond.
    """
    touching = motion.touching
    if not len(touching):
        return None
    now = motion.sim.terms(t, q, v, u)
    for k in range(6):
        ahead = motion.sim.chart.integrate(q, tol.HOP * 4**k * v)
        then = motion.sim.terms(t, ahead, v, u)
        for a, b in ((now.J, then.J), (now.c, then.c)):
            if abs(b[touching] - a[touching]).max() > tol.TURNED * (1 + abs(a[touching]).max()):
                return ahead
    return None


class _Turning:
    """What slow slides do across their directions, as a function of these, many at once."""

    def __init__(self, motion: SmoothMotion, terms: Terms, d: np.ndarray, creeps: np.ndarray):
        self.d, self.creeps, self.mu = d, creeps, motion._mu
        slide, held, free = motion.slide, terms.J[motion._held], motion._rubbed(terms)
        A = np.concatenate([held, terms.J[slide, 0]])
        aside = terms.J[slide[creeps], 1:].reshape(-1, len(free))
        # rates of A and of the slow slips by forces of those held, and of those that slide along their three axes
        rows = np.concatenate([A, aside])
        answer = rows @ terms.M_inverse @ np.concatenate([held, terms.J[slide].reshape(-1, len(free))]).T
        self.n, self.h = len(A), len(held)
        self.by_held = answer[:, : self.h]
        self.by_slides = answer[:, self.h :].reshape(len(rows), len(slide), 3)
        c = np.concatenate([terms.c[motion._held], terms.c[slide, 0], terms.c[slide[creeps], 1:].ravel()])
        self.start = rows @ free + c

    def __call__(self, angles: np.ndarray) -> np.ndarray:
        """Slip accelerations across the directions, (p, creeps), for angles (p, creeps)."""
        p, n = len(angles), self.n
        ways = np.stack([np.cos(angles), np.sin(angles)], axis=2)
        shares = np.ones((p, len(self.d), 3))
        shares[:, :, 1:] = -self.mu[:, None] * self.d
        shares[:, self.creeps, 1:] = -self.mu[self.creeps, None] * ways
        by_slides = np.einsum("rks,pks->prk", self.by_slides, shares)
        answer = np.concatenate([np.broadcast_to(self.by_held, (p, *self.by_held.shape)), by_slides], axis=2)
        z = least_solutions(answer[:, :n], -self.start[:n])
        y = (self.start[n:] + (answer[:, n:] @ z[:, :, None])[:, :, 0]).reshape(p, -1, 2)
        return y[:, :, 1] * ways[:, :, 0] - y[:, :, 0] * ways[:, :, 1]
