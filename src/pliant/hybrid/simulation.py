"""Event-driven simulation: smooth motion, and instants at which something touches, lets go, slips or sticks."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.contact.ground import as_ground
from pliant.contact.rigid import RigidContact
from pliant.errors import SimulationError
from pliant.hybrid.flow import Chart, Stepper, first_root
from pliant.hybrid.instant import Instant, Mode
from pliant.hybrid.law import InconsistentContactError
from pliant.hybrid.log import Event, HybridLog
from pliant.hybrid.recording import Recorder
from pliant.hybrid.terms import Terms, TermsKernel
from pliant.robot import Robot
from pliant.simulation.checks import as_forces, check, configurations, is_real, velocities
from pliant.simulation.controller import Controller
from pliant.simulation.default_contacts import with_contacts
from pliant.simulation.forces import ExternalForce
from pliant.simulation.model import StepModel

__all__ = ["HybridSimulation"]

# shortest time that must pass in a hundred events [s]
_CROWDED = 1e-9


class HybridSimulation:
    """A robot on rigid ground, moved from event to event.

        sim = pliant.HybridSimulation(robot, ground=pliant.flat(), friction=0.8)
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
    ):
        for name, value in (("rtol", rtol), ("atol", atol), ("max_step", max_step), ("rest_speed", rest_speed)):
            check(name, value, "a positive number", is_real(value) and value > 0)
        contact = RigidContact(friction=friction, restitution=restitution)
        if not isinstance(robot, Robot):
            raise SimulationError(f"a simulation takes a Robot first, not {type(robot).__name__}; see pliant.load")
        self.robot = with_contacts(robot, has_ground=ground is not None)
        surface = None if ground is None else as_ground(ground)
        model = StepModel(self.robot, 1e-3, surface, contact, as_forces(forces, self.robot), has_limits=limits)
        _check_smooth(model)
        self.model = model
        self.rest_speed = rest_speed
        self.terms = TermsKernel(model)
        self.constraints = self.terms.constraints
        self.chart = Chart(self.robot)
        self._tolerances = rtol, atol, max_step
        self.t = 0.0
        self.q, self.v = self.robot.neutral(), np.zeros(self.robot.nv)
        self.mode = Mode.free(len(self.constraints))
        self._is_new = True

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
        terms = self.terms(t, q, v, np.zeros(robot.nu))
        deepest = int(np.argmin(terms.gap)) if len(terms.gap) else -1
        if deepest >= 0 and terms.gap[deepest] < -1e-9:
            q = self._lifted(q, terms, deepest, lift)
        self.t, self.q, self.v = float(t), q, v
        self.mode = Mode.free(len(self.constraints))
        self._is_new = True

    def _lifted(self, q: np.ndarray, terms: Terms, deepest: int, lift: bool) -> np.ndarray:
        name, depth = self.constraints[deepest].name, -terms.gap[deepest]
        free = next((j for j in self.robot.joints.values() if j.kind.name == "free"), None)
        if not lift or free is None or not self.constraints[deepest].is_contact:
            what = "inside the ground" if self.constraints[deepest].is_contact else "beyond its limit"
            cure = "reset(..., lift=True) lifts the robot out, or " if free is not None else ""
            raise SimulationError(f"the robot begins with {name!r} {depth:.3g} {what}; {cure}give another q")
        at = self.robot.q_slice(free.name).start + 2
        q = q.copy()
        for _ in range(50):  # on slopes the height is more than the depth
            q[at] += depth
            depth = -self.terms(0.0, q, np.zeros(self.robot.nv), np.zeros(self.robot.nu)).gap.min()
            if depth <= 0:
                return q
        raise SimulationError(
            f"the robot begins with {name!r} inside the ground and cannot be lifted out; give another q"
        )

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
    ) -> HybridLog:
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
        """
        check("duration", duration, "a time in seconds", is_real(duration) and duration >= 0)
        check("every", every, "a positive time in seconds", is_real(every) and every > 0)
        control = _Control(self.robot, controller, u, commands, period)
        end = self.t + float(duration)
        recorder = Recorder(self, every, control)
        stepper = Stepper(self.chart, *self._tolerances)
        stamps: list[float] = []
        if self._is_new:
            self._settle(control, recorder, on_event, None)
            self._is_new = False
        recorder.sample(self.t, self.q, self.v)
        while self.t < end - 1e-13:
            until = min(end, control.update(self.t, self.q, self.v))
            self._advance(stepper, control, recorder, until, on_event)
            fresh = recorder.events[len(stamps) :]
            stamps += [event.t for event in fresh]
            if len(stamps) > max_events:
                raise SimulationError(f"more than {max_events} events by t = {self.t:.6g} s; give max_events=")
            if fresh and len(stamps) > 100 and stamps[-1] - stamps[-100] < _CROWDED:
                raise SimulationError(
                    f"100 events within {stamps[-1] - stamps[-100]:.1g} s at t = {self.t:.9g} s ({self.mode_name}): "
                    f"the motion does not go on; a larger rest_speed may help. State: q = {self.q}, v = {self.v}"
                )
        recorder.sample(self.t, self.q, self.v)
        return recorder.log(stepper)

    def _advance(self, stepper: Stepper, control: "_Control", recorder: Recorder, until: float, on_event: Any) -> None:
        """One step, to its end or to the first event in it."""
        instant = Instant(self, self.mode)

        def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return instant.motion(self.terms(t, q, v, control(t, q, v)), v)[0]

        segment = stepper.step(acceleration, self.t, self.q, self.v, until)

        def margins(t: float) -> np.ndarray:
            q, v = segment(t)
            return instant.margins(self.terms(t, q, v, control(t, q, v)), v)

        armed, least = self.mode.armed, instant.least
        samples = 4 if segment.h > 2e-3 else 2
        found = first_root(margins, segment.t, segment.t + segment.h, armed, least, samples)
        stop = segment.t + segment.h if found is None else found[0]
        q, v = segment(stop)
        recorder.step(segment, stop)
        self.t = stop
        self.q, self.v = instant.projected(stop, q, v, control(stop, q, v))
        if found is not None:
            recorder.sample(self.t, self.q, self.v)
            self._settle(control, recorder, on_event, found[1])
            recorder.sample(self.t, self.q, self.v)

    def _settle(self, control: "_Control", recorder: Recorder, on_event: Any, cause: int | None) -> None:
        """The impacts and the change of mode at this instant."""
        u = control(self.t, self.q, self.v)
        try:
            event, self.v, self.mode = Instant(self, self.mode).resolved(self.t, self.q, self.v, u, cause)
        except InconsistentContactError as error:
            raise InconsistentContactError(
                f"t = {self.t:.9g} s, {self.mode_name}: {error}; q = {self.q.tolist()}, v = {self.v.tolist()}"
            ) from None
        if event is None:
            return
        recorder.events.append(event)
        changed = on_event(event, self.q.copy(), self.v.copy()) if on_event is not None else None
        if changed is not None:
            self.q, self.v = (np.array(part, dtype=float) for part in changed)
            self._settle(control, recorder, None, None)


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


class _Control:
    """The controls as a function of time and state, sampled or not."""

    def __init__(self, robot: Robot, controller: Any, u: Any, commands: Any, period: float | None):
        if controller is not None and u is not None:
            raise SimulationError("run takes a controller or constant controls u, not both")
        if period is not None:
            check("period", period, "a positive time in seconds", is_real(period) and period > 0)
        self.robot, self.controller, self.period, self.commands = robot, controller, period, commands
        self.memory = np.array(getattr(controller, "memory", ()), dtype=float)
        self.held = np.zeros(robot.nu) if u is None else self._checked(u)
        self._next = -math.inf
        if isinstance(controller, Controller) and period is None and len(controller.memory):
            raise SimulationError("a Controller with a memory is asked once a period; give period=, as 1e-3")

    def _checked(self, u: Any) -> np.ndarray:
        found = np.asarray(u, dtype=float)
        if found.shape != (self.robot.nu,):
            raise SimulationError(
                f"controls have the shape {found.shape}; robot {self.robot.name!r} has nu = {self.robot.nu}"
            )
        if not np.isfinite(found).all():
            raise SimulationError("controls have values that are not finite")
        return found

    def update(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        """Ask a sampled controller if it is due; the time until which its answer holds."""
        if self.controller is None or self.period is None:
            return math.inf
        if t >= self._next - 1e-12:
            self.held = self._asked(t, q, v)
            self._next = t + self.period if self._next == -math.inf else self._next + self.period
        return self._next

    def _asked(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if not isinstance(self.controller, Controller):
            assert self.controller is not None
            return self._checked(self.controller(t, q.copy(), v.copy()))
        given = self.commands(t) if callable(self.commands) else self.commands
        command = np.zeros(self.controller.commands) if given is None else np.asarray(given, dtype=float)
        u, memory = self.controller(self.robot, t, list(q), list(v), list(command), list(self.memory))
        self.memory = np.array([float(x) for x in memory])
        return self._checked([float(x) for x in u])

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self.controller is None or self.period is not None:
            return self.held
        return self._asked(t, q, v)
