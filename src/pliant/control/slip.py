"""The spring-loaded inverted pendulum: a point mass on a massless springy leg, running in a plane.

The smallest model that runs [R. Blickhan 1989, "The spring-mass model for running and hopping"]. In flight the mass
falls, in stance the leg pushes it off along itself; both keep the energy, so that a stride that keeps its leg's
angle at touch-down is a map of one number, the height of the apex.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import cos, hypot, pi, sin, sqrt
from typing import NamedTuple

from pliant.checks import check_at_least
from pliant.errors import PliantError
from pliant.integrators.runge_kutta import DORMAND_PRINCE, combination
from pliant.signatures import explained

State = list[float]
"""x and y of the mass from the foot [m], and their rates [m/s]."""
SCAN = 60  # places at which a change of sign is looked for


class SlipError(PliantError):
    """A stride that is impossible: the mass hits the ground, or is not high enough to swing the leg forward."""


class Apex(NamedTuple):
    """The top of a flight: height above the ground [m], speed forward [m/s]."""

    height: float
    speed: float


class Stride(NamedTuple):
    """From apex to apex: states at touch-down and lift-off, times in the air and on the ground [s], the next apex."""

    touch_down: State
    lift_off: State
    flight: float
    stance: float
    apex: Apex


class SlipCycle(NamedTuple):
    """A stride that leads back to its own apex.

    Attributes:
        apex: height [m] and speed [m/s].
        angle: of the leg against the ground at touch-down [rad].
        energy: [J].
        flight, stance: times [s].
        eigenvalue: by which a small error of the apex's height grows in a stride, at the same energy.
    """

    apex: Apex
    angle: float
    energy: float
    flight: float
    stance: float
    eigenvalue: float

    @property
    def is_stable(self) -> bool:
        """Whether small errors die out by themselves, with nothing but the same angle each time."""
        return abs(self.eigenvalue) < 1


@explained
@dataclass(frozen=True)
class Slip:
    """A mass on a springy leg.

        runner = Slip(mass=80, stiffness=20e3, length=1)
        cycle = runner.cycle(radians(68), speed=5)
        cycle.is_stable, runner.stride(cycle.apex, cycle.angle)

    Stance, with r from the foot to the mass and l its length: m r'' = k (L - l) r / l + m g, from l = L on the way
    down to l = L on the way up. It has no closed form, and is integrated by Dormand and Prince's method; the last
    step is made as long as it takes to meet l = L.

    Attributes:
        mass: [kg]; stiffness: of the leg [N/m]; length: of the leg at rest [m]; gravity: [m/s^2].
        tolerance: of the integration, relative to the length of the leg and the speed of falling from it.
    """

    mass: float
    stiffness: float
    length: float
    gravity: float = 9.81
    tolerance: float = 1e-11

    def __post_init__(self) -> None:
        for name in ("mass", "stiffness", "length", "gravity", "tolerance"):
            check_at_least(name, getattr(self, name), 0, strict=True, subject="Slip", error=PliantError)

    def energy(self, apex: Apex) -> float:
        """Of flight with such an apex [J]."""
        return self.mass * (apex.speed**2 / 2 + self.gravity * apex.height)

    # ---- a stride

    def stride(self, apex: Apex, angle: float) -> Stride:
        """From an apex through flight, stance and flight to the next.

        Args:
            apex: height [m] and speed [m/s].
            angle: of the leg against the ground at touch-down, pi/2 for upright [rad].
        """
        low, g = self.length * sin(angle), self.gravity
        if not apex.height >= low:
            raise SlipError(f"an apex of {apex.height:g} m is below the {low:g} m that the leg takes at touch-down")
        fall = sqrt(2 * (apex.height - low) / g)
        touch_down = [-self.length * cos(angle), low, apex.speed, -g * fall]
        lift_off, stance = self.stance(touch_down)
        _, y, vx, vy = lift_off
        if vy < 0:
            raise SlipError("the mass still falls when the leg is at its length again: it hits the ground")
        return Stride(touch_down, lift_off, fall + vy / g, stance, Apex(y + vy * vy / (2 * g), vx))

    def stance(self, state: State) -> tuple[State, float]:
        """State at lift-off and the time until then [s], from a state at touch-down."""
        time, step = 0.0, 0.01 / sqrt(self.stiffness / self.mass)
        longest = 20 * (2 * pi * sqrt(self.mass / self.stiffness) + sqrt(self.length / self.gravity))
        rate = self._rate(state)
        while True:
            after, error = self._step(state, rate, step)
            if error <= 1:
                x, y, vx, vy = after
                if hypot(x, y) >= self.length and x * vx + y * vy > 0:  # the leg is at its length, and gets longer
                    return self._lift_off(state, rate, time, step)
                state, rate, time = after, self._rate(after), time + step
                if state[1] <= 0:
                    raise SlipError("the mass hits the ground in stance: the leg is too soft or too flat")
                if time > longest:
                    raise SlipError("the mass stays on the ground: it has too little energy to leave it")
            step *= min(4, max(0.2, 0.9 / max(error, 1e-10) ** 0.2))

    def _rate(self, state: State) -> State:
        x, y, vx, vy = state
        push = self.stiffness / self.mass * (self.length / hypot(x, y) - 1)
        return [vx, vy, push * x, push * y - self.gravity]

    def _step(self, state: State, rate: State, step: float) -> tuple[State, float]:
        """The state after a step, and its error in units of the tolerance."""
        method, stages = DORMAND_PRINCE, [rate]
        for row in method.a[1:]:
            moved = combination(row, stages)
            stages.append(self._rate([s + step * d for s, d in zip(state, moved, strict=True)]))
        after = [s + step * d for s, d in zip(state, combination(method.b, stages), strict=True)]
        assert method.b_embedded is not None
        gap = combination([b - e for b, e in zip(method.b, method.b_embedded, strict=True)], stages)
        speed = sqrt(self.gravity * self.length)
        scales = (self.length, self.length, speed, speed)
        return after, step * max(abs(d) / (self.tolerance * s) for d, s in zip(gap, scales, strict=True))

    def _lift_off(self, state: State, rate: State, time: float, step: float) -> tuple[State, float]:
        """Where within a step the leg gets its length, by making the step as long as it takes."""

        def excess(part: float) -> float:
            return hypot(*self._step(state, rate, part)[0][:2]) - self.length

        part = _root(excess, 0, step, 1e-15 * self.length)
        return self._step(state, rate, part)[0], time + part

    # ---- cycles

    def cycles(self, angle: float, *, speed: float | None = None, energy: float | None = None) -> list[SlipCycle]:
        """All strides with this angle that lead back to their apex, lowest first; give the speed or the energy.

        Args:
            angle: of the leg against the ground at touch-down [rad].
            speed: at the apex [m/s]; or energy: of the gait [J].
        """
        if (speed is None) == (energy is None):
            raise PliantError("cycles of Slip need a speed or an energy", subject="Slip", cure="give one of the two")
        low = self.length * sin(angle)
        high = 3 * self.length if energy is None else energy / (self.mass * self.gravity)
        if high <= low:
            raise SlipError(f"the energy lifts the mass to {high:g} m, below the {low:g} m of the leg at touch-down")

        def apex(height: float) -> Apex:
            if energy is None:
                return Apex(height, speed or 0)
            return Apex(height, sqrt(max(2 * (energy / self.mass - self.gravity * height), 0)))

        def change(height: float) -> float:
            try:
                stride = self.stride(apex(height), angle)
            except SlipError:
                return float("nan")
            # the same height with the speed reversed is not a cycle
            return stride.apex.height - height if stride.apex.speed * apex(height).speed >= 0 else float("nan")

        # finer near touch-down, where strides are those of running
        heights = [low + (high - low) * (i / SCAN) ** 2 for i in range(SCAN + 1)]
        return [self._cycle(apex(height), angle) for height in _roots(change, heights, 1e-13 * self.length)]

    def cycle(self, angle: float, *, speed: float | None = None, energy: float | None = None) -> SlipCycle:
        """The most stable of `cycles`."""
        found = self.cycles(angle, speed=speed, energy=energy)
        if not found:
            given = f"speed {speed:g} m/s" if speed is not None else f"energy {energy:g} J"
            raise SlipError(f"no stride with angle {angle:g} rad and {given} leads back to its apex")
        return min(found, key=lambda cycle: abs(cycle.eigenvalue))

    def neutral_angle(self, apex: Apex) -> float:
        """Angle at touch-down with which a stride leads back to this apex [rad]."""
        if apex.speed == 0:
            return pi / 2
        side = 1 if apex.speed > 0 else -1

        def change(lean: float) -> float:
            try:
                return self.stride(apex, pi / 2 - side * lean).apex.speed - apex.speed
            except SlipError:
                return float("nan")

        # an upright leg makes it faster, a flat one brakes: the first that brakes enough
        leans = [i * pi / 3 / SCAN for i in range(SCAN + 1)]
        for lean in _roots(change, leans, 1e-13 * abs(apex.speed)):
            return pi / 2 - side * lean
        raise SlipError(f"no angle keeps a speed of {apex.speed:g} m/s with an apex of {apex.height:g} m")

    def _cycle(self, apex: Apex, angle: float) -> SlipCycle:
        stride, energy = self.stride(apex, angle), self.energy(apex)
        near = min(1e-5 * self.length, (apex.height - self.length * sin(angle)) / 2)
        ends = []
        for height in (apex.height - near, apex.height + near):
            speed = sqrt(max(2 * (energy / self.mass - self.gravity * height), 0))
            ends.append(self.stride(Apex(height, speed if apex.speed >= 0 else -speed), angle).apex.height)
        return SlipCycle(apex, angle, energy, stride.flight, stride.stance, (ends[1] - ends[0]) / (2 * near))


def _roots(function: Callable[[float], float], places: list[float], tolerance: float) -> Iterator[float]:
    """The zeros between neighbouring places at which the signs differ."""
    values = [function(x) for x in places]
    for i, (before, after) in enumerate(pairwise(values)):
        if before * after < 0:
            yield _root(function, places[i], places[i + 1], tolerance)


def _root(function: Callable[[float], float], a: float, b: float, tolerance: float) -> float:
    """A zero between a and b, where the signs differ: regula falsi, with the value at an end that stays halved."""
    fa, fb = function(a), function(b)
    if abs(fa) <= tolerance:
        return a
    side = 0
    for _ in range(100):
        c = (fa * b - fb * a) / (fa - fb)
        fc = function(c)
        if abs(fc) <= tolerance or abs(b - a) <= 1e-15 * (abs(a) + abs(b)):
            return c
        if fc * fb > 0:
            b, fb = c, fc
            fa = fa / 2 if side == -1 else fa
            side = -1
        else:
            a, fa = c, fc
            fb = fb / 2 if side == 1 else fb
            side = 1
    return (a + b) / 2
