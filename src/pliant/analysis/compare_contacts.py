"""Rigid against compliant contact on your own robot: the accuracy and the cost of each.

The same motion is computed event by event, which is the reference, with rigid contact in steps of several lengths,
and with contact springs of several stiffnesses, both in the semi-implicit steps of `Simulation` and by its
adaptive integrator of smooth motion.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.checks import check, check_known, is_real
from pliant.contact.ground import flat
from pliant.contact.models import CompliantContact, ContactLaw, HuntCrossley, RigidContact, SpringDamper
from pliant.dynamics import frame_pose
from pliant.errors import SimulationError, SimulationWarning, needs
from pliant.events.constraint_terms import LIMIT
from pliant.events.log_entries import channel_kernel
from pliant.events.simulation import EventSimulation
from pliant.recording import Log
from pliant.robot import Robot
from pliant.signatures import explained
from pliant.simulation.controllers import Controller
from pliant.simulation.simulation import Simulation
from pliant.simulation.state import divergence_text

# speed at which the default law lets go of what hits it, however fast that comes in [m/s]
_DEAD = 0.01
# at most so many times of each motion are compared with the reference
_SAMPLES = 1000
# what is kept of a run
_PARTS = ("q", "v", "solver", "trials", "divergence")
_UNITS = {"event-driven": ("rtol", ""), "rigid": ("dt", " s")}
_STYLES = {"rigid": "C0o-", "compliant": "C1s-", "compliant, adaptive": "C2^-"}


@dataclass(frozen=True)
class ContactRow:
    """One way to compute the motion.

    Attributes:
        method: "event-driven", "rigid", "compliant" (in steps of one length) or "compliant, adaptive".
        setting: of the method: tolerance, length of a step [s] or stiffness [N/m].
        error: largest distance from the reference at any time [m]; NaN if the robot diverged.
        error_at_end: distance at the end [m].
        penetration: deepest at the end of a control period, or of a step if there is no period [m].
        energy_error: kinetic, potential and elastic energy at the end, less that of the reference [J].
        steps: that were taken.
        seconds: of computation, without compilation.
        divergence: why the robot was frozen, or "".
    """

    method: str
    setting: float
    error: float
    error_at_end: float
    penetration: float
    energy_error: float
    steps: int
    seconds: float
    divergence: str = ""

    @property
    def setting_text(self) -> str:
        """The setting with its name and unit, as "dt 0.001 s"."""
        name, unit = _UNITS.get(self.method, ("k", " N/m"))
        return f"{name} {self.setting:.3g}{unit}" if self.method == "rigid" else f"{name} {self.setting:.0e}{unit}"


@explained
@dataclass(frozen=True, repr=False)
class ContactComparison:
    """A motion in several ways; `print` shows it as a table.

    Attributes:
        robot: name of the robot.
        what: the place that is compared, in words.
        rows: the reference first.
        reference: the log of the event-driven simulation.
        notes: what was left out or differs, and why.
    """

    robot: str
    what: str
    rows: tuple[ContactRow, ...]
    reference: Log
    notes: tuple[str, ...] = ()

    def of(self, method: str) -> list[ContactRow]:
        """The rows of a method."""
        methods = list(dict.fromkeys(row.method for row in self.rows))
        check_known("method", method, methods, "the comparison")
        return [row for row in self.rows if row.method == method]

    def table(self) -> str:
        """All of it as text."""
        count = len(self.reference.events)
        lines = [
            f"{self.robot}: {self.what}, {self.reference.t[-1]:g} s, {count} event{'' if count == 1 else 's'}",
            f"{'method':<20}{'setting':>14}{'error [m]':>12}{'at the end':>12}{'depth [m]':>11}{'energy [J]':>12}"
            f"{'steps':>9}{'time [s]':>10}",
        ]
        for row in self.rows:
            head, tail = f"{row.method:<20}{row.setting_text:>14}", f"{row.steps:>9}{row.seconds:>10.2g}"
            shown = [f"{x:.1e}" for x in (row.error, row.error_at_end, row.energy_error)]
            error, at_end, energy = ("reference", "", "") if row.method == "event-driven" else shown
            numbers = f"{error:>12}{at_end:>12}{row.penetration:>11.1e}{energy:>12}"
            lines.append(head + numbers + tail + (f"  {row.divergence}" if row.divergence else ""))
        return "\n".join([*lines, *self.notes])

    __repr__ = table

    def plot(self, axes: Any = None) -> Any:
        """Error against time of computation, a line for each method, on axes of Matplotlib (new ones if None)."""
        plt = needs("matplotlib.pyplot", "plots", "a plot of the comparison")
        axes = plt.subplots(layout="constrained")[1] if axes is None else axes
        for method, style in _STYLES.items():
            rows = [row for row in self.rows if row.method == method and row.error > 0]
            if not rows:
                continue
            axes.loglog([row.seconds for row in rows], [row.error for row in rows], style, label=method)
            for row in (rows[0], rows[-1]):
                axes.annotate(
                    row.setting_text, (row.seconds, row.error), textcoords="offset points", xytext=(5, 4), fontsize=7
                )
        axes.axvline(self.rows[0].seconds, color="k", linestyle=":", label="event-driven, the reference")
        axes.set_xlabel("time of computation [s]")
        axes.set_ylabel(f"largest error of the {self.what} [m]")
        axes.set_title(self.robot)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        return axes


@explained
def compare_contacts(
    robot: Robot,
    *,
    q: Any = None,
    v: Any = None,
    duration: float = 1.0,
    controller: Callable[..., Any] | Controller | None = None,
    u: Any = None,
    commands: Any = None,
    period: float | None = None,
    ground: Any = None,
    friction: float = 0.7,
    restitution: float = 0.0,
    stiffness: Sequence[float] = (1e3, 1e4, 1e5, 1e6, 1e7),
    law: Callable[[float], ContactLaw] | None = None,
    slip_speed: float = 1e-3,
    dt: float | None = None,
    rigid_dt: Sequence[float] | None = None,
    frame: str | None = None,
    is_adaptive: bool = True,
    rtol: float = 1e-8,
) -> ContactComparison:
    """One motion of a robot by rigid and compliant contact, next to event-driven simulation.

        found = pliant.analysis.compare_contacts(robot, q=q0, duration=0.5)
        print(found)                     # a table
        found.plot()                     # error against time of computation

    Args:
        q, v: to begin with (default neutral, at rest). A free robot that begins inside the ground is lifted out.
        duration: [s].
        controller: a `Controller`, which is compiled where that can be, or a function (t, q, v) -> u in Python. It runs
            many times, each from the start: a function must not remember.
        u: constant controls, in place of a controller.
        commands: of a `Controller`: constant numbers, or a function of time.
        period: between calls of the controller [s]; None calls it at every step (with adaptive ones every ``dt``), and
            for the reference all the time.
        ground: flat by default.
        friction, restitution: of contacts and ground that have none of their own.
        stiffness: of the compliant contacts [N/m].
        law: contact law of a stiffness; by default a `HuntCrossley` that gives nothing back, or a
            `SpringDamper` with the damping of `impact_damping` where there is restitution.
        slip_speed: of that law: from here on friction is Coulomb's [m/s].
        dt: steps with compliant contact [s] (default 1e-4, or a tenth of the period).
        rigid_dt: steps with rigid contact [s] (default 4, 2, 1, 0.5 and 0.25 ms, or parts of the period).
        frame: whose position in space is compared; by default only the height of the first body is.
        is_adaptive: whether compliant contact is computed by the adaptive integrator as well.
        rtol: of the reference.
    """
    check("duration", duration, "a positive time in seconds", is_real(duration) and duration > 0)
    whole = 4e-3 if period is None else period
    rigid_dt = [whole / 2**k for k in range(5)] if rigid_dt is None else list(rigid_dt)
    dt = (1e-4 if period is None else period / 10) if dt is None else dt
    for name, values in (("dt", [dt]), ("rigid_dt", rigid_dt), ("stiffness", stiffness)):
        check(name, values, "positive numbers", len(values) > 0 and all(is_real(x) and x > 0 for x in values))
    ground = flat() if ground is None else ground
    sim = EventSimulation(robot, ground=ground, friction=friction, restitution=restitution, rtol=rtol, atol=rtol / 100)
    sim.reset(q, v, lift=sim.robot.is_free)
    if not any(c.is_contact for c in sim.constraints):
        problem = f"robot {sim.robot.name!r} has no contacts to compare"
        raise SimulationError(problem, subject=f"robot {sim.robot.name!r}", cure="see robot.with_contact")
    if frame is not None:
        sim.robot.frame(frame)  # raises if there is none
    motion = _Motion(sim, ground, sim.q, sim.v, float(duration), controller, u, commands, period, frame)
    notes: list[str] = []
    rows = [motion.reference_row(rtol)]
    contact = RigidContact(friction=friction, restitution=restitution)
    for length in rigid_dt:
        made = motion.simulation(contact=contact, dt=length, period=period)
        rows.append(motion.row("rigid", length, made, length))
    make = motion.default_law(slip_speed, notes) if law is None else law
    laws = [make(k) for k in stiffness]
    for k, made in zip(stiffness, motion.compliant(laws, dt=dt, period=period), strict=True):
        rows.append(motion.row("compliant", k, made, dt))
    limits = motion.limits_touched
    if is_adaptive and limits:
        notes.append(f"no adaptive steps: the robot touches its joint limits ({', '.join(limits)})")
    elif is_adaptive:
        # it chooses its own steps; controls change, and motion is looked at, once a millisecond or a period
        often = period or (1e-3 if controller is None else dt)
        options = {"integrator": "dormand-prince", "limits": False}
        for k, made in zip(stiffness, motion.compliant(laws, dt=often, period=period, **options), strict=True):
            rows.append(motion.row("compliant, adaptive", k, made, None))
    what = f"height of {motion.body}" if frame is None else f"position of {frame}"
    return ContactComparison(sim.robot.name, what, tuple(rows), motion.reference, tuple(notes))


def impact_damping(stiffness: float, mass: float, restitution: float) -> float:
    """Damping of a `SpringDamper` that gives a mass so much of its speed back [N s/m].

    Without gravity, with the share z of the critical damping 2 sqrt(stiffness mass), from the first touch until
    the force is zero [Schwager and Poeschel 2007 for z < 1],

        e = exp(-z / s (pi - atan2(2 z s, s^2 - z^2))),      s = sqrt(1 - z^2),        z < 1
        e = exp(-2),                                                                   z = 1
        e = r^(-(r + 1) / (r - 1)),                          r = (z + sqrt(z^2 - 1))^2,        z > 1

    So critical damping gives 0.135 of the speed back, and no damping all of it.
    """
    check("restitution", restitution, "a number above 0 and up to 1", is_real(restitution) and 0 < restitution <= 1)
    low, high = -20.0, 10.0  # logarithms of z
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if _restitution(math.exp(middle)) > restitution else (low, middle)
    ratio = 0.0 if restitution == 1 else math.exp(low)
    return 2 * ratio * math.sqrt(stiffness * mass)


def _restitution(z: float) -> float:
    if abs(z - 1) < 1e-6:
        return math.exp(-2)
    if z < 1:
        s = math.sqrt(1 - z * z)
        return math.exp(-z / s * (math.pi - math.atan2(2 * z * s, s * s - z * z)))
    r = (z + math.sqrt(z * z - 1)) ** 2
    return r ** (-(r + 1) / (r - 1))


@dataclass(frozen=True, eq=False)
class _Motion:
    """What is to be computed in several ways."""

    sim: EventSimulation
    ground: Any
    q: np.ndarray
    v: np.ndarray
    duration: float
    controller: Any
    u: Any
    commands: Any
    period: float | None
    frame: str | None

    # ---- the reference

    @cached_property
    def timed_reference(self) -> tuple[Log, float]:
        given = {"controller": self.controller, "u": self.u, "commands": self.commands, "period": self.period}
        self.sim.run(min(self.duration, 1e-3), **given)  # compiles, before the clock starts
        self.sim.reset(self.q, self.v)
        start = time.perf_counter()
        log = self.sim.run(self.duration, **given)
        return log, time.perf_counter() - start

    @property
    def reference(self) -> Log:
        return self.timed_reference[0]

    def reference_row(self, rtol: float) -> ContactRow:
        log, seconds = self.timed_reference
        contacts = [k for k, c in enumerate(self.sim.constraints) if c.is_contact]
        u = np.zeros(self.sim.robot.nu)
        gaps = [self.sim.terms(t, q, v, u).gap[contacts] for t, q, v in zip(log.t, log.q, log.v, strict=True)]
        return ContactRow("event-driven", rtol, 0.0, 0.0, max(0.0, -np.min(gaps, initial=0)), 0.0,
                          int(log.metadata["steps"]), seconds)  # fmt: skip

    @property
    def limits_touched(self) -> list[str]:
        limits = {c.name for c in self.sim.constraints if c.kind == LIMIT}
        return sorted(limits & {name for event in self.reference.events for name in event.names})

    # ---- the others

    def default_law(self, slip_speed: float, notes: list[str]) -> Callable[[float], ContactLaw]:
        """Laws with the friction and the restitution of the reference.

        Without restitution it is that of Hunt and Crossley with exponent 1, N = k depth (1 + 3/2 d rate), so that the
        force has no jumps and k is in N/m. Its push ends at the rate -2 / (3 d): nothing leaves faster than that, here
        1 cm/s. With restitution, it is a `SpringDamper` with `impact_damping` for the largest mass felt at a contact.
        """
        contacts = [c for c in self.sim.constraints if c.is_contact]
        if len({(c.friction, c.restitution) for c in contacts}) > 1:
            notes.append(f"compliant contact has the friction and restitution of {contacts[0].name!r} for all contacts")
        friction, restitution = contacts[0].friction, contacts[0].restitution
        terms = self.sim.terms(0.0, self.q, self.v, np.zeros(self.sim.robot.nu))
        normals = [n for n in terms.J[: len(contacts), 0] if n.any()]
        mass = max((1 / float(n @ np.linalg.solve(terms.M, n)) for n in normals), default=1.0)

        def law(stiffness: float) -> ContactLaw:
            if restitution == 0:
                return HuntCrossley(stiffness, 2 / (3 * _DEAD), exponent=1, friction=friction, slip_speed=slip_speed)
            damping = impact_damping(stiffness, mass, restitution)
            return SpringDamper(stiffness, damping, friction=friction, slip_speed=slip_speed)

        return law

    def simulation(self, *, dt: float, period: float | None, **options: Any) -> Simulation:
        substeps = 1 if period is None else round(period / dt)
        if period is not None and abs(substeps * dt - period) > 1e-9 * period:
            problem = f"steps of {dt:g} s do not fill a period of {period:g} s"
            raise SimulationError(problem, subject="compare_contacts", field="dt", cure="give a whole part of it")
        compiled = self.controller if isinstance(self.controller, Controller) else None
        robot = self.sim.robot
        return Simulation(robot, dt=dt, substeps=substeps, ground=self.ground, controller=compiled, **options)

    def compliant(self, laws: Sequence[Any], **options: Any) -> Iterator[Simulation]:
        """A simulation for each of the laws; one that is compiled once, if they differ in numbers only."""
        numbers = [vars(law) if hasattr(law, "__dict__") else {} for law in laws]
        is_kind = len({type(law) for law in laws}) == 1 and all(is_real(x) for n in numbers for x in n.values())
        if not is_kind or not numbers[0]:
            for law in laws:
                yield self.simulation(contact=CompliantContact(law), **options)
            return
        different = [name for name in numbers[0] if len({n[name] for n in numbers}) > 1]
        varying = [f"law.{name}" for name in different]
        sim = self.simulation(contact=CompliantContact(laws[0]), varying=varying, **options)
        for values in numbers:
            for name in different:
                sim.parameters[f"law.{name}"] = values[name]
            yield sim

    def row(self, method: str, setting: float, sim: Simulation, dt: float | None) -> ContactRow:
        """Run a simulation, and compare it with the reference after each control period."""
        length = sim.dt * sim.plan.substeps
        count = math.floor(self.duration / length * (1 + 1e-12) + 1e-9)
        check("duration", self.duration, f"no less than a step or period of {length:g} s", count > 0)
        sim.reset(self.q, self.v)
        is_compiled = self.controller is None or isinstance(self.controller, Controller)
        found, seconds = (self._rolled if is_compiled else self._called)(sim, count, length)
        code = int(found["divergence"][-1, 0])
        steps = int(found["trials"][:, :1].sum()) if dt is None else count * sim.plan.substeps
        depth = max(0.0, float(found["solver"][:, 2].max()))
        why = divergence_text(sim.model, code) if code else ""
        row = ContactRow(method, setting, math.nan, math.nan, depth, math.nan, steps, seconds, why)
        if code:
            return row
        some = np.unique(np.linspace(0, count - 1, min(count, _SAMPLES)).round().astype(int))
        q, v = self.reference.at(length * np.arange(1, count + 1)[some])
        errors = np.linalg.norm(self.places(found["q"][some]) - self.places(q), axis=1)
        gained = self.energy(found["q"][-1:], found["v"][-1:]) - self.energy(q[-1:], v[-1:])
        return replace(row, error=float(errors.max()), error_at_end=float(errors[-1]), energy_error=float(gained[0]))

    def _rolled(self, sim: Simulation, count: int, length: float) -> tuple[dict[str, np.ndarray], float]:
        """Without Python in between."""
        given = self.u if self.controller is None else self.commands
        controls = None
        if callable(given):
            controls = np.array([sim.inputs(given(k * length)) for k in range(count)])
        elif given is not None and sim.plan.inputs:
            controls = np.tile(sim.inputs(given), (count, 1))
        sim.rollout(None, None if controls is None else controls[:1], periods=1, channels=_PARTS)
        taken: list[float] = []
        while True:
            start = time.perf_counter()
            result = sim.rollout(None, controls, periods=count, channels=_PARTS)
            taken.append(time.perf_counter() - start)
            # short runs are timed by the quickest of several
            if len(taken) == 10 or sum(taken) > 0.1:
                return {name: result[name] for name in _PARTS}, min(taken)

    def _called(self, sim: Simulation, count: int, length: float) -> tuple[dict[str, np.ndarray], float]:
        """With a controller in Python."""
        sim.step(self.controller(0.0, sim.q, sim.v))
        sim.reset(self.q, self.v)
        rows = np.empty((count, sim.layout.size))
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)  # of divergence, which the row reports
            for k in range(count):
                sim.step(self.controller(k * length, sim.q, sim.v))
                rows[k] = sim.data
        return {name: rows[:, sim.layout.span(name)] for name in _PARTS}, time.perf_counter() - start

    # ---- what is compared

    @property
    def body(self) -> str:
        robot = self.sim.robot
        return robot.joints[robot.mechanism.links[0].name].child

    def places(self, q: np.ndarray) -> np.ndarray:
        """Position of the frame, (n, 3), or height of the first body, (n, 1)."""
        found = frame_pose(self.sim.robot, np.ascontiguousarray(q), self.frame or self.body)[:, :3, 3]
        return found if self.frame is not None else found[:, 2:]

    def energy(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Kinetic, potential and elastic together, (n,)."""
        return channel_kernel(self.sim, "energy")(np.ascontiguousarray(q), np.ascontiguousarray(v)).sum(axis=1)
