"""Event-driven simulation: smooth motion, and instants at which contacts touch down, lift off, slip or stick."""

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from pliant.actuation.body_forces import ExternalForce
from pliant.actuation.joint_forces import motor_torques
from pliant.actuation.motor_memory import memory_fields
from pliant.checks import check, check_callable, is_real, is_whole, is_zero
from pliant.compiler import Kernel
from pliant.contact.ground import as_ground
from pliant.contact.models import RigidContact
from pliant.errors import SimulationError, SimulationWarning
from pliant.events import tolerances as tol
from pliant.events.constraint_terms import Terms, TermsKernel
from pliant.events.controls import Controls
from pliant.events.exports import EventExports
from pliant.events.giving_up import inconsistent, no_step
from pliant.events.holding import CROWDED, Holding
from pliant.events.lasting_constraints import closed_loops, rank_of_loops
from pliant.events.log_entries import CHANNELS, LogEntries
from pliant.events.mode_solver import InconsistentContactError
from pliant.events.smooth_motion import SmoothMotion, beyond_edge
from pliant.events.state import OPEN, EventState, Mode, check_ground, check_outside, lifted_out, passing_at
from pliant.events.transition import resolved
from pliant.integrators.adaptive import NoStepError, StepControl, Stepper
from pliant.integrators.dense import Chart, first_root, first_time
from pliant.recording.log import Event, Log
from pliant.recording.protocol import CHANNELS as DEFAULT_CHANNELS
from pliant.recording.troubles import Trouble
from pliant.robot import Robot
from pliant.robot.contacts import with_default_contacts
from pliant.signatures import explained
from pliant.simulation.controllers import Controller
from pliant.simulation.model import StepModel, as_forces
from pliant.simulation.rollout import channel_names
from pliant.simulation.running import in_blocks, record
from pliant.simulation.state import configurations, level_of_caller, velocities
from pliant.simulation.watch import Watch, body_depths

# steps, and the time that so many must cover at least [s]
_STALLED, _SLOWEST = 1000, 1e-4
# an impulse from outside is a force for so long [s]
_PUSH = 1e-3

When = Callable[[str, float, np.ndarray, np.ndarray], bool]


@explained
class EventSimulation(EventExports):
    """A robot on rigid ground, moved from event to event.

        sim = pliant.EventSimulation(robot, ground=pliant.flat(), friction=0.8)
        sim.reset(q=q0)
        log = sim.run(2.0, controller=policy, period=1e-3)
        log.events, log.modes, log.at(1.2345)

    Between events the motion is smooth: contacts that stick or slide, joints at their limits, and joints that dry
    friction holds are constraints, and an adaptive integrator follows it. Loops and locked joints always hold. Events
    are found to 1e-12 s on its dense output. A touch-down is an impact with Newton's restitution and Coulomb's
    friction; a bounce slower than ``rest_speed`` ends, which closes off the infinitely many that are left. Drift off
    the constraints is taken back after every step.

    Args:
        robot: with contacts; without, its collision geometry is used as in `Simulation`.
        ground: `pliant.flat()` and others, or a function of x and y; None (default) for no ground.
        friction, restitution: of contacts and ground that have none of their own.
        forces: external forces on bodies.
        limits: whether joint limits hold.
        rtol, atol: of the integrator.
        max_step: longest step [s].
        rest_speed: below which a bounce is over [m/s or rad/s].
        when: ``when(name, t, q, v)``, whether a contact or joint limit that is about to close may do so. One that may
            not passes through, and ``when`` is called again once it has been apart: so the swing foot of a walker
            without knees passes.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        ground: Any = None,
        friction: float = 0.7,
        restitution: float = 0.0,
        forces: Sequence[ExternalForce] = (),
        limits: bool = True,
        rtol: float = 1e-8,
        atol: float = 1e-10,
        max_step: float = 0.02,
        rest_speed: float = 1e-5,
        when: When | None = None,
    ):
        for name, value in (("rtol", rtol), ("atol", atol), ("max_step", max_step), ("rest_speed", rest_speed)):
            check(name, value, "a positive number", is_real(value) and value > 0)
        if when is not None:
            check_callable("when", when, "name", "t", "q", "v")
        contact = RigidContact(friction=friction, restitution=restitution)
        check("robot", robot, "a Robot; see pliant.load", isinstance(robot, Robot))
        self.robot = with_default_contacts(robot, has_ground=ground is not None)
        surface = None if ground is None else as_ground(ground)
        on_bodies, by_chance = as_forces(forces, self.robot)
        if by_chance:
            problem = f"{by_chance[0].subject} are drawn step by step, and event-driven simulation has no steps"
            raise SimulationError(problem, subject=by_chance[0].subject, field="forces", cure="use pliant.Simulation")
        model = StepModel(self.robot, _PUSH, surface, contact, on_bodies, has_limits=limits)
        self.model = model
        _check_motors(self.robot)
        self.rest_speed, self.when = rest_speed, when
        self.step_control = StepControl(rtol, atol, largest=max_step)
        self.terms = TermsKernel(model)
        self.constraints = self.terms.constraints
        self.chart = Chart(self.robot)
        self.kernels: dict[str, Kernel] = {}
        self._jumps = _jumps(model.forces)
        self._motion: SmoothMotion | None = None
        self.watch = Watch(model, 1)
        self._put(0.0, self.robot.neutral(), np.zeros(self.robot.nv))
        self._is_checked = False

    # ---- state

    @explained
    def reset(self, q: Any = None, v: Any = None, *, t: float = 0.0, lift: bool = False) -> None:
        """Put the robot into a state; contacts that touch and approach go through an impact at the first step.

        Args:
            q, v: by default neutral and at rest.
            t: time [s].
            lift: whether a robot that begins inside the ground is lifted out of it; else that is an error.
        """
        robot = self.robot
        check("t", t, "a finite time in seconds", is_real(t))
        q = robot.neutral() if q is None else configurations(robot, q, (robot.nq,), "float64")
        v = np.zeros(robot.nv) if v is None else velocities(robot, v, (robot.nv,))
        q, v = np.array(q, dtype=float), np.array(v, dtype=float)
        passing = passing_at(self, t, q, v)
        if lift:
            q = lifted_out(self, q, passing)
        q, v = closed_loops(self, float(t), q, v)
        cure = "reset(..., lift=True) lifts the robot out, or " if self.robot.is_free and not lift else ""
        check_outside(self, q, passing, "the robot begins", cure)
        self._put(float(t), q, v, passing)

    def _put(self, t: float, q: np.ndarray, v: np.ndarray, passing: np.ndarray | None = None) -> None:
        """Begin anew from a state."""
        self._t, self._q, self._v = t, q, v
        self.mode = Mode.free(len(self.constraints), passing)
        self.stepper = Stepper(self.chart, self.step_control)
        self._u = np.zeros(self.robot.nu)
        self._memory, self._owner = np.zeros(0), None
        self.holding = Holding()
        self._is_new = self._is_checked = True
        self.watch.forget()

    @property
    def state(self) -> EventState:
        """A snapshot; setting it goes on from there, bit for bit."""
        return EventState(
            self._t, self._q, self._v, self.mode, self._u, self._memory, self.stepper.memory,
            self.holding.quiet, self.holding.patience, self._is_new,
        ).copy()  # fmt: skip

    @state.setter
    def state(self, state: EventState) -> None:
        if not isinstance(state, EventState):
            cure = "it takes an EventState, as sim.state gives it"
            raise SimulationError(f"state is a {type(state).__name__}", subject="state", cure=cure)
        robot, found = self.robot, state.copy()
        own = len(self.constraints), robot.nq, robot.nv, robot.nu
        given = len(found.mode.states), len(found.q), len(found.v), len(found.u)
        if own != given:
            problem = f"the state is of another simulation: it has {given} constraints, q, v and u, this one {own}"
            raise SimulationError(problem, subject="state", cure="take one of a simulation of the same robot")
        self._t, self._q, self._v, self.mode, self._u = found.t, found.q, found.v, found.mode, found.u
        self._memory, self._owner = found.memory, None
        self.terms.rank = rank_of_loops(self, self._q)
        self.stepper = Stepper(self.chart, self.step_control)
        self.stepper.memory = found.steps
        self.holding, self._is_new = Holding(found.quiet, found.patience), found.is_new
        self._is_checked = True

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._t

    @property
    def q(self) -> np.ndarray:
        """Configuration, a copy."""
        return self._q.copy()

    @property
    def v(self) -> np.ndarray:
        """Velocity, a copy."""
        return self._v.copy()

    @property
    def tau(self) -> np.ndarray:
        """Torques of the motors now [N m or N]."""
        q, v, u = (x.tolist() for x in (self._q, self._v, self._u))
        return np.array([float(x) for x in motor_torques(self.robot, q, v, u, self._t)])

    @property
    def contact_names(self) -> list[str]:
        """Names of the contacts, in the order of `contact_forces`."""
        return self.model.contact_names

    @property
    def contact_forces(self) -> np.ndarray:
        """On the robot at each contact, in the world's axes, now [N]; (contacts, 3)."""
        if self._is_new:
            return np.zeros((len(self.contact_names), 3))
        return self.model.by_contact(self.forces_at(self._t, self._q, self._v, self._u).ravel())

    @explained
    def forces_at(self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Forces in the world's axes in a state of the mode of now, of all that may touch, (touches, 3) [N]."""
        terms = self.terms(t, q, v, u)
        forces = self.motion.forces(terms, v)
        contacts = [i for i, c in enumerate(self.constraints) if c.is_contact]
        world = [forces[i, 0] * terms.axes[i, 0] + forces[i, 1:] @ terms.axes[i, 1:] for i in contacts]
        return np.array(world).reshape(len(contacts), 3)

    @explained
    def may_close(self, name: str, t: float, q: np.ndarray, v: np.ndarray) -> bool:
        """Whether a contact or joint limit may close now."""
        return self.when is None or bool(self.when(name, t, q.copy(), v.copy()))

    @property
    def motion(self) -> SmoothMotion:
        """The motion in the mode of now."""
        if self._motion is None or self._motion.mode is not self.mode:
            self._motion = SmoothMotion(self, self.mode)
        return self._motion

    @property
    def mode_name(self) -> str:
        """The mode in words: which contacts stick or slide, and which joints are at a limit; "flight" if none."""
        return self.mode.name(self.constraints)

    # ---- running

    @explained
    def run(
        self,
        duration: float,
        *,
        controller: Callable[..., Any] | Controller | None = None,
        u: Any = None,
        commands: Any = None,
        period: float | None = None,
        every: float | None = None,
        channels: Sequence[str] = DEFAULT_CHANNELS,
        save: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
        settings: Mapping[str, Any] | None = None,
        on_event: Callable[[Event, np.ndarray, np.ndarray], Any] | None = None,
        max_events: int = 100_000,
    ) -> Log:
        """Go on for a while and keep a log, with events, modes and dense output.

        If an error or Ctrl-C ends the run, its attribute ``log`` has what was recorded until then.

        Args:
            duration: [s].
            controller: ``controller(t, q, v) -> u``, or a `Controller`; called once a period, or all the time.
            u: constant controls, if there is no controller; zero by default.
            commands: of a `Controller`: constant numbers, or a function of time.
            period: control period [s]; None calls the controller whenever the motion is evaluated.
            every: time between entries of the log [s] (default 0.01); events have entries of their own.
            channels: of "q", "v", "tau" (torques of the motors), "u" (controls), "forces", "energy" and "power" (by
                term, for `pliant.analysis.energy_ledger`); "mode" is always there.
            save: path of a log file that is written as the run goes on, as in `Simulation.run`.
            progress: whether to show the simulated time and the real-time factor of runs longer than a second; None:
                on a terminal.
            settings: more to keep in ``log.source.settings``.
            on_event: called with each event, q and v after it; it may return another (q, v) to go on from.
            max_events: the run raises an error after so many.

        Returns:
            The log, which begins with the state at the start.
        """
        until = self.t + duration if is_real(duration) else self.t
        blocks = self.blocks(
            duration, controller=controller, u=u, commands=commands, period=period, every=every, channels=channels,
            settings=settings, on_event=on_event, max_events=max_events,
        )  # fmt: skip
        return record(blocks, (self.t, until), save=save, progress=progress)

    @explained
    def blocks(
        self, duration: float, *, controller: Any = None, u: Any = None, commands: Any = None,
        period: float | None = None, every: float | None = None, channels: Sequence[str] = DEFAULT_CHANNELS,
        settings: Mapping[str, Any] | None = None, on_event: Callable[..., Any] | None = None,
        max_events: int = 100_000,
    ) -> Iterator[Log]:  # fmt: skip
        """A run as blocks that follow one another, for `pliant.simulation.record`; arguments as in `run`."""
        every = 0.01 if every is None else every
        check("duration", duration, "a time in seconds, 0 or more", is_real(duration) and duration >= 0)
        check("every", every, "a positive time in seconds", is_real(every) and every > 0)
        check("max_events", max_events, "a positive whole number", is_whole(max_events) and max_events > 0)
        if on_event is not None:
            check_callable("on_event", on_event, "event", "q", "v")
        names = channel_names(channels, CHANNELS)
        if not self._is_checked:
            self.reset(self._q, self._v, t=self._t)
        # the same controller goes on with its memory, and so does any after a state was restored
        kept = self._memory if self._owner is None or self._owner is controller else None
        controls = Controls(self.robot, controller, u, commands, period, kept)
        self._owner = controller
        self.stepper.taken = self.stepper.rejected = 0
        entries = LogEntries(self, names, float(every), controls, settings)
        end = self._t + float(duration)
        yield from in_blocks(self._going_on(controls, entries, end, on_event, max_events), entries)
        self._tell()

    def _going_on(
        self, controls: Controls, entries: LogEntries, end: float, on_event: Any, max_events: int
    ) -> Iterator[None]:
        """From event to event until the end; it yields after each step."""
        stamps: list[float] = []
        if self._is_new:
            controls.update(self._t, self._q, self._v)
            self._settle(controls, entries, on_event, None, is_start=True)
            self._is_new = False
        self._sample(entries)
        mark = self.stepper.taken, self._t
        while self._t < end - 1e-13:
            if self.stepper.taken - mark[0] >= _STALLED:
                if self._t - mark[1] < _SLOWEST and not self.holding.hold(self, controls):
                    raise no_step(self)
                mark = self.stepper.taken, self._t
            held_until = controls.update(self._t, self._q, self._v)
            until = min([end, held_until, *(x for x in self._jumps if x > self._t + tol.SAME_TIME)])
            self._advance(controls, entries, until, on_event)
            self._memory = controls.memory
            fresh = entries.events[len(stamps) :]
            stamps += [event.t for event in fresh]
            if len(stamps) > max_events:
                problem = f"more than {max_events} events by t = {self._t:.6g} s"
                raise SimulationError(problem, subject="run", field="max_events", cure="give max_events=")
            if self.holding.stays(self._t) or (fresh and self.holding.chatters(entries.events)):
                self.holding.hold(self, controls)
            if fresh and len(stamps) > 100 and stamps[-1] - stamps[-100] < CROWDED:
                crowd = f"100 events within {stamps[-1] - stamps[-100]:.1g} s at t = {self._t:.9g} s ({self.mode_name})"
                problem = f"{crowd}: the simulation is not advancing, at q = {self._q}, v = {self._v}"
                raise SimulationError(problem, subject="run", field="rest_speed", cure="try a larger rest_speed")
            yield
        self._look()
        self._sample(entries)

    def _look(self) -> None:
        """Look for bodies below the ground that no contact shape stops."""
        bodies = self.watch.bodies
        if bodies:
            depths = np.array([[float(x) for x in body_depths(self.model, bodies, self._q.tolist())]])
            self.watch.add(np.array([self._t]), depths, np.zeros(1))

    def _tell(self) -> None:
        for trouble in self.troubles:
            if trouble.kind not in self.watch.told:
                self.watch.told.add(trouble.kind)
                warnings.warn(str(trouble), SimulationWarning, stacklevel=level_of_caller())

    @property
    def troubles(self) -> list[Trouble]:
        """What has gone wrong since the reset without ending a run: bodies below the ground, looked at after each."""
        return self.watch.troubles(self._q[None])

    def _sample(self, entries: LogEntries) -> None:
        """An entry of now."""
        self._u = entries.sample(self._t, self._q, self._v)

    @explained
    def go_on_with(self, v: np.ndarray, mode: Mode) -> None:
        """Go on from here with another velocity, in another mode."""
        self._v, self.mode = v, mode

    def _advance(self, controls: Controls, entries: LogEntries, until: float, on_event: Any) -> None:
        """One step, to its end or to the first event in it."""
        motion = self.motion
        is_quiet = self._t < self.holding.quiet - tol.SAME_TIME
        until = min(until, self.holding.quiet) if is_quiet else until
        # forces that begin or end with the step count as they are within it
        last = until - 2e-6 * _PUSH if until in self._jumps else math.inf

        def terms(t: float, q: np.ndarray, v: np.ndarray) -> Terms:
            return self.terms(min(t, last), q, v, controls(t, q, v))

        def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return motion.motion(terms(t, q, v), v)

        if len(motion.slide):
            motion.follow(self.terms(self._t, self._q, self._v, controls(self._t, self._q, self._v)), self._v)
        try:
            segment = self.stepper.step(acceleration, self._t, self._q, self._v, until)
        except NoStepError:
            if not self._get_over(controls, entries, on_event, is_quiet=is_quiet):
                raise no_step(self) from None
            return

        @cache
        def margins(t: float) -> np.ndarray:
            q, v = segment(t)
            at_t = terms(t, q, v)
            check_ground(self, at_t, t)
            found = motion.margins(at_t, v)
            if is_quiet:
                # all that touches is held
                found[motion.touching] = found[len(found) // 2 :] = 1
            return found

        def margin(t: float, i: int) -> float:
            # a gap needs no forces
            if i < len(self.constraints) and self.mode.states[i] == OPEN:
                return motion.gap(terms(t, *segment(t)), i)
            return float(margins(t)[i])

        armed, least = self.mode.armed, motion.least
        samples = 4 if segment.h > 2e-3 else 2
        found = first_root(margins, segment.t, segment.t + segment.h, armed, least, samples, one=margin)
        stop = segment.t + segment.h if found is None else found[0]

        def is_over_edge_at(t: float) -> bool:
            q, v = segment(t)
            return motion.is_over_edge(terms(t, q, v), v)

        is_over_edge = len(motion.slide) > 0 and is_over_edge_at(stop)
        if is_over_edge:
            stop = first_time(is_over_edge_at, segment.t, stop)
        q, v = segment(stop)
        entries.step(segment, stop)
        self._t = stop
        # beyond an edge it hits the ground, or leaves it
        self._q, self._v = (q, v) if is_over_edge else motion.projected(stop, q, v, controls(stop, q, v))
        if found is not None or is_over_edge:
            self._sample(entries)
            self._settle(controls, entries, on_event, None if is_over_edge or found is None else found[1])
            self._sample(entries)

    def _get_over(self, controls: Controls, entries: LogEntries, on_event: Any, *, is_quiet: bool) -> bool:
        """Go over an edge of the ground, or hold what slides, where no step is short enough; whether that helps."""
        motion, u = self.motion, controls(self._t, self._q, self._v)
        self.stepper.h = tol.AFTER_EDGE
        beyond = beyond_edge(motion, self._t, self._q, self._v, u) if self.holding.may_cross(self._t) else None
        if beyond is None:
            # a slide that has hardly begun, or hardly goes on, may have no direction that steps can follow
            jammed = motion.jammed(self.terms(self._t, self._q, self._v, u), self._v)
            return not is_quiet and not jammed and self.holding.hold(self, controls)
        self._q = beyond
        self._sample(entries)
        self._settle(controls, entries, on_event, None)
        self._sample(entries)
        return True

    def _settle(
        self, controls: Controls, entries: LogEntries, on_event: Any, cause: int | None, *, is_start: bool = False
    ) -> None:
        """The impacts and the change of mode at this instant."""
        try:
            event, self._v, self.mode = resolved(self.motion, self._t, self._q, self._v, controls, cause)
        except InconsistentContactError as error:
            raise inconsistent(self, error.fault.problem) from None
        # what touches to begin with has not touched down
        if event is None or (is_start and not event.impulse):
            return
        entries.events.append(event)
        changed = on_event(event, self._q.copy(), self._v.copy()) if on_event is not None else None
        if changed is not None:
            self._go_on_from(changed)
            self._settle(controls, entries, None, None, is_start=True)

    def _go_on_from(self, changed: Any) -> None:
        """Go on from another state."""
        robot = self.robot
        if not isinstance(changed, tuple | list) or len(changed) != 2:
            cure = "it takes None to go on, or another (q, v)"
            raise SimulationError(f"on_event returned {changed!r}", subject="run", field="on_event", cure=cure)
        q = np.array(configurations(robot, changed[0], (robot.nq,), "float64"), dtype=float)
        v = np.array(velocities(robot, changed[1], (robot.nv,)), dtype=float)
        passing = passing_at(self, self._t, q, v)
        q, v = closed_loops(self, self._t, q, v)
        check_outside(self, q, passing, "on_event returned a state")
        self._q, self._v, self.mode = q, v, Mode.free(len(self.constraints), passing)


def _jumps(forces: Sequence[ExternalForce]) -> tuple[float, ...]:
    """When forces from outside begin and end."""
    times = {x for f in forces for x in (f.start, f.end)}
    times |= {f.start + _PUSH for f in forces if f.impulse is not None}
    return tuple(sorted(float(x) for x in times if math.isfinite(x)))


def _check_motors(robot: Robot) -> None:
    """Raise if a motor remembers something, or has friction by speed, which this simulation has no events for."""
    for motor in robot.motors.values():
        fields = [*memory_fields(motor), *(["static_friction"] if not is_zero(motor.static_friction) else [])]
        if fields:
            subject = f"motor {motor.name!r}"
            problem = f"{subject} has {', '.join(fields)}, which event-driven simulation does not know"
            raise SimulationError(
                problem, subject=subject, field=fields[0], cure="leave it out, or use pliant.Simulation"
            )
