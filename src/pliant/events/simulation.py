"""Event-driven simulation: smooth motion, and instants at which something touches, lets go, slips or sticks."""

import math
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from pliant.actuation.body_forces import ExternalForce, as_forces
from pliant.checks import check, check_callable, is_real, is_whole
from pliant.robot.collisions import with_default_contacts
from pliant.contact.ground import as_ground
from pliant.contact.models import RigidContact
from pliant.errors import SimulationError
from pliant.events.control import Control
from pliant.events.instant import Instant
from pliant.events.lifting import check_outside, lifted_out, passing_at
from pliant.events.mode import Mode
from pliant.events.mode_solver import OPEN, InconsistentContactError
from pliant.events.recording import Recorder
from pliant.events.roots import first_root, first_time
from pliant.events.state_terms import TermsKernel
from pliant.integrators.adaptive import NoStepError, StepControl, Stepper
from pliant.integrators.dense import Chart
from pliant.recording import Event, Log
from pliant.robot import Robot
from pliant.simulation.model import Controller
from pliant.simulation.model import StepModel
from pliant.simulation.state import configurations, velocities

__all__ = ["EventSimulation"]

# shortest time that must pass in a hundred events [s]
_CROWDED = 1e-9
# changes between sticking and sliding at once, and for how long, at first and at most, contacts are held then [s]
_CHATTER, _SHORTEST, _LONGEST = 20, 1e-5, 1e-3
# steps, and the time that so many must cover at least [s]
_STALLED, _SLOWEST = 1000, 1e-4
# an impulse from outside is a force for so long [s]
_PUSH = 1e-3

When = Callable[[str, float, np.ndarray, np.ndarray], bool]


class EventSimulation:
    """A robot on rigid ground, moved from event to event.

        sim = pliant.EventSimulation(robot, ground=pliant.flat(), friction=0.8)
        sim.reset(q=q0)
        log = sim.run(2.0, controller=policy, period=1e-3)
        log.events, log.modes, log.at(1.2345)

    Between events the motion is smooth: contacts that stick or slide, and joints at their stops, are constraints, and
    an adaptive integrator follows it. Events are found to 1e-12 s on its dense output. A touch-down is an impact with
    Newton's restitution and Coulomb's friction; a bounce slower than ``rest_speed`` ends, which closes off the
    infinitely many that are left. Drift off the constraints is taken back after every step.

    Args:
        robot: with contacts; without, its collision geometry is used as in `Simulation`.
        ground: None for none.
        friction, restitution: of contacts and ground that have none of their own.
        forces: pushes from outside.
        limits: whether the stops of joints hold.
        rtol, atol: of the integrator.
        max_step: longest step [s].
        rest_speed: below which a bounce is over [m/s or rad/s].
        when: ``when(name, t, q, v)``, whether a contact or stop that is about to close may do so. One that may not
            passes through, and is asked again once it has been apart: a walker without knees has its swing foot pass.
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
        if not isinstance(robot, Robot):
            raise SimulationError(f"a simulation takes a Robot first, not {type(robot).__name__}; see pliant.load")
        self.robot = with_default_contacts(robot, has_ground=ground is not None)
        surface = None if ground is None else as_ground(ground)
        model = StepModel(self.robot, _PUSH, surface, contact, as_forces(forces, self.robot), has_limits=limits)
        _check_smooth(model)
        self.model = model
        self.rest_speed, self.when = rest_speed, when
        self.terms = TermsKernel(model)
        self.constraints = self.terms.constraints
        self.chart = Chart(self.robot)
        self.step_control = StepControl(rtol, atol, largest=max_step)
        self._instant: Instant | None = None
        self._jumps = _jumps(model.forces)
        self._memory: tuple[Any, np.ndarray] | None = None
        self._quiet, self._patience = -math.inf, _SHORTEST
        self.t = 0.0
        self.q, self.v = self.robot.neutral(), np.zeros(self.robot.nv)
        self.mode = Mode.free(len(self.constraints))
        self._is_new, self._is_set = True, False

    # ---- state

    def reset(self, q: Any = None, v: Any = None, *, t: float = 0.0, lift: bool = False) -> None:
        """Put the robot into a state; contacts that touch and approach go through an impact at the first step.

        Args:
            q, v: neutral and at rest unless given.
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
        cure = "reset(..., lift=True) lifts the robot out, or " if self.robot.is_free and not lift else ""
        check_outside(self, q, passing, "the robot begins", cure)
        self.t, self.q, self.v = float(t), q, v
        self._is_set = True
        self.mode = Mode.free(len(self.constraints), passing)
        self._memory = None
        self._quiet, self._patience = -math.inf, _SHORTEST
        self._is_new = True

    def may_close(self, name: str, t: float, q: np.ndarray, v: np.ndarray) -> bool:
        """Whether a contact or stop may close now."""
        return self.when is None or bool(self.when(name, t, q.copy(), v.copy()))

    @property
    def instant(self) -> Instant:
        """The laws in the mode of now."""
        if self._instant is None or self._instant.mode is not self.mode:
            self._instant = Instant(self, self.mode)
        return self._instant

    @property
    def mode_name(self) -> str:
        """What touches, in words; "flight" if nothing does."""
        return self.mode.name(self.constraints)

    # ---- running

    def run(
        self,
        duration: float,
        *,
        controller: Callable[..., Any] | Controller | None = None,
        u: Any = None,
        commands: Any = None,
        period: float | None = None,
        on_event: Callable[[Event, np.ndarray, np.ndarray], Any] | None = None,
        every: float = 1e-2,
        max_events: int = 100_000,
        power: bool = False,
        save: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
    ) -> Log:
        """Go on for a while.

        Args:
            duration: [s].
            controller: ``controller(t, q, v) -> u``, or a `Controller`; asked once a period, or all the time.
            u: constant controls, in place of a controller.
            commands: of a `Controller`: constant numbers, or a function of time.
            period: between calls of the controller [s]; None asks it whenever the motion is evaluated.
            on_event: called with each event, q and v after it; it may return another (q, v).
            every: time between entries of the log [s]; events have entries of their own.
            max_events: after which the run is given up.
            power: whether to keep it, by term, for `pliant.analysis.energy_ledger`.
            save: path of a log file that is written as the run goes on, as in `Simulation.run`.
            progress: whether to show how far it is, from the first second on; None: on a terminal.
        """
        check("duration", duration, "a time in seconds", is_real(duration) and duration >= 0)
        check("every", every, "a positive time in seconds", is_real(every) and every > 0)
        check("max_events", max_events, "a positive whole number", is_whole(max_events) and max_events > 0)
        if on_event is not None:
            check_callable("on_event", on_event, "event", "q", "v")
        # the same controller goes on with what it remembers
        kept = self._memory[1] if self._memory is not None and self._memory[0] is controller else None
        control = Control(self.robot, controller, u, commands, period, kept)
        end = self.t + float(duration)
        stepper = Stepper(self.chart, self.step_control)
        kept_as = {"stepper": stepper, "until": end, "save": save, "progress": progress}
        recorder = Recorder(self, every, control, has_power=power, **kept_as)
        try:
            self._go_on(stepper, control, recorder, end, on_event, max_events)
        except BaseException as error:
            recorder.stop(error)
            raise
        self._memory = controller, control.memory
        return recorder.log()

    def _go_on(
        self, stepper: Stepper, control: Control, recorder: Recorder, end: float, on_event: Any, max_events: int
    ) -> None:
        """From event to event until the end."""
        stamps: list[float] = []
        if self._is_new and not self._is_set:
            # as it was made, or as its q and v were set by hand
            self.reset(self.q, self.v, t=self.t)
        if self._is_new:
            control.update(self.t, self.q, self.v)
            self._settle(control, recorder, on_event, None, is_start=True)
            self._is_new = False
        recorder.sample(self.t, self.q, self.v)
        mark = stepper.taken, self.t
        while self.t < end - 1e-13:
            if stepper.taken - mark[0] >= _STALLED:
                if self.t - mark[1] < _SLOWEST:
                    raise self._no_step()
                mark = stepper.taken, self.t
            until = min([end, control.update(self.t, self.q, self.v), *(x for x in self._jumps if x > self.t + 1e-12)])
            self._advance(stepper, control, recorder, until, on_event)
            fresh = recorder.events[len(stamps) :]
            stamps += [event.t for event in fresh]
            if len(stamps) > max_events:
                raise SimulationError(f"more than {max_events} events by t = {self.t:.6g} s; give max_events=")
            if fresh and self._chatters(recorder.events):
                self._hold(control)
            if fresh and len(stamps) > 100 and stamps[-1] - stamps[-100] < _CROWDED:
                raise SimulationError(
                    f"100 events within {stamps[-1] - stamps[-100]:.1g} s at t = {self.t:.9g} s ({self.mode_name}): "
                    f"the motion does not go on; a larger rest_speed may help. State: q = {self.q}, v = {self.v}"
                )
        recorder.sample(self.t, self.q, self.v)

    def _chatters(self, events: Sequence[Event]) -> bool:
        """Whether contacts that hardly move change between sticking and sliding all the time."""
        last = events[-_CHATTER:]
        kinds = {event.kind for event in last}
        return len(last) == _CHATTER and last[-1].t - last[0].t < _CROWDED and kinds <= {"slip", "stick", "reversal"}

    def _hold(self, control: Control) -> None:
        """Let all that hardly slides stick for a while, a longer one each time."""
        u = control(self.t, self.q, self.v)
        self.v, self.mode = self.instant.held(self.t, self.q, self.v, u)
        self._quiet = self.t + self._patience
        self._patience = min(2 * self._patience, _LONGEST)

    def _advance(self, stepper: Stepper, control: Control, recorder: Recorder, until: float, on_event: Any) -> None:
        """One step, to its end or to the first event in it."""
        instant = self.instant
        is_quiet = self.t < self._quiet - 1e-12
        until = min(until, self._quiet) if is_quiet else until
        # forces that begin or end with the step count as they are within it
        last = until - 2e-6 * _PUSH if until in self._jumps else math.inf

        def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return instant.motion(self.terms(min(t, last), q, v, control(t, q, v)), v)

        if len(instant.slide):
            instant.follow(self.terms(self.t, self.q, self.v, control(self.t, self.q, self.v)), self.v)
        try:
            segment = stepper.step(acceleration, self.t, self.q, self.v, until)
        except NoStepError:
            raise self._no_step() from None

        @cache
        def margins(t: float) -> np.ndarray:
            q, v = segment(t)
            found = instant.margins(self.terms(min(t, last), q, v, control(t, q, v)), v)
            if is_quiet:
                found[len(found) // 2 :] = 1
            return found

        def margin(t: float, i: int) -> float:
            # a gap needs no forces
            if i < len(self.constraints) and self.mode.states[i] == OPEN:
                q, v = segment(t)
                return instant.gap(self.terms(min(t, last), q, v, control(t, q, v)), i)
            return float(margins(t)[i])

        armed, least = self.mode.armed, instant.least
        samples = 4 if segment.h > 2e-3 else 2
        found = first_root(margins, segment.t, segment.t + segment.h, armed, least, samples, one=margin)
        stop = segment.t + segment.h if found is None else found[0]

        def is_over_edge_at(t: float) -> bool:
            q, v = segment(t)
            return instant.is_over_edge(self.terms(min(t, last), q, v, control(t, q, v)), v)

        is_over_edge = len(instant.slide) > 0 and is_over_edge_at(stop)
        if is_over_edge:
            stop = first_time(is_over_edge_at, segment.t, stop)
        q, v = segment(stop)
        recorder.step(segment, stop)
        self.t = stop
        # beyond an edge it hits the ground, or leaves it
        self.q, self.v = (q, v) if is_over_edge else instant.projected(stop, q, v, control(stop, q, v))
        if found is not None or is_over_edge:
            recorder.sample(self.t, self.q, self.v)
            self._settle(control, recorder, on_event, None if is_over_edge or found is None else found[1])
            recorder.sample(self.t, self.q, self.v)

    def _settle(
        self, control: Control, recorder: Recorder, on_event: Any, cause: int | None, *, is_start: bool = False
    ) -> None:
        """The impacts and the change of mode at this instant."""
        try:
            event, self.v, self.mode = self.instant.resolved(self.t, self.q, self.v, control, cause)
        except InconsistentContactError as error:
            raise self._inconsistent(str(error)) from None
        # what touches to begin with has not touched down
        if event is None or (is_start and not event.impulse):
            return
        recorder.events.append(event)
        changed = on_event(event, self.q.copy(), self.v.copy()) if on_event is not None else None
        if changed is not None:
            self._put(changed)
            self._settle(control, recorder, None, None, is_start=True)

    def _put(self, changed: Any) -> None:
        """Go on from another state."""
        robot = self.robot
        if not isinstance(changed, tuple | list) or len(changed) != 2:
            raise SimulationError(f"on_event returned {changed!r}; it takes None to go on, or another (q, v)")
        q = np.array(configurations(robot, changed[0], (robot.nq,), "float64"), dtype=float)
        v = np.array(velocities(robot, changed[1], (robot.nv,)), dtype=float)
        passing = passing_at(self, self.t, q, v)
        check_outside(self, q, passing, "on_event returned a state")
        self.q, self.v, self.mode = q, v, Mode.free(len(self.constraints), passing)

    def _inconsistent(self, why: str) -> InconsistentContactError:
        state = f"q = {self.q.tolist()}, v = {self.v.tolist()}"
        error = InconsistentContactError(f"t = {self.t:.9g} s, {self.mode_name}: {why}; {state}")
        error.t, error.q, error.v, error.mode = self.t, self.q.copy(), self.v.copy(), self.mode_name
        return error

    def _no_step(self) -> SimulationError:
        jammed = self.instant.jammed(self.terms(self.t, self.q, self.v, np.zeros(self.robot.nu)), self.v)
        if jammed:
            names = ", ".join(jammed)
            return self._inconsistent(f"friction jams what slides ({names}): forces grow without bound (Painleve)")
        return SimulationError(
            f"t = {self.t:.9g} s, {self.mode_name}: no step is short enough; are forces or controls not finite, gains "
            "very stiff, or does a contact slide over an edge of the ground? Simulation takes such motions. "
            f"State: q = {self.q.tolist()}, v = {self.v.tolist()}"
        )


def _jumps(forces: Sequence[ExternalForce]) -> tuple[float, ...]:
    """When forces from outside begin and end."""
    times = {x for f in forces for x in (f.start, f.end)}
    times |= {f.start + _PUSH for f in forces if f.impulse is not None}
    return tuple(sorted(float(x) for x in times if math.isfinite(x)))


def _check_smooth(model: StepModel) -> None:
    robot = model.robot
    kinds = {row.kind for row in model.joint_rows}
    for what, is_there in (
        ("dry friction at joints", "friction" in kinds),
        ("locked joints", "lock" in kinds),
        ("loop closures", bool(model.closures)),
    ):
        if is_there:
            raise SimulationError(
                f"robot {robot.name!r} has {what}, which event-driven simulation does not know; use Simulation"
            )
