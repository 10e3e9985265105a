"""From settings to a simulation that is ready to go, with what suits the robot where nothing was said."""

import warnings
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from pliant.catalogue.stances import stance
from pliant.catalogue.starting import placed, reach, row, scattered, swung, within_limits
from pliant.cli.controllers import Control, chosen_controller, default_controller
from pliant.cli.robots import Loaded, load_robot, loose
from pliant.cli.settings import PATHS, Settings
from pliant.cli.words import as_contact, as_ground
from pliant.errors import PliantError, SimulationWarning, unknown_name

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation
    from pliant.recording.log import Log
    from pliant.robot import Robot
    from pliant.simulation import Simulation

__all__ = ["Scene", "scene"]

# how far hopping robots begin above the ground [m]
_DROP = 0.1
_SPREAD = 0.05
# settings that say nothing of the motion
UNTOLD = (*PATHS, "view", "quiet", "json")


@dataclass
class Scene:
    """A simulation at its start.

    Attributes:
        settings: of the run.
        origin: of the robot, in words.
        sim: to run.
        control: what drives the robot.
        ground: in words.
        notes: what was chosen for the user: of what, and what, in words.
    """

    settings: Settings
    origin: str
    sim: "Simulation | EventSimulation"
    control: Control
    ground: str
    notes: list[tuple[str, str]] = field(default_factory=list)

    def stamped(self, log: "Log") -> "Log":
        """A log whose source has the settings of the command line, too, so that the run can be done again."""
        from pliant.recording.source import plain

        if log.source is not None:
            chosen = {f.name: getattr(self.settings, f.name) for f in fields(self.settings) if f.name not in UNTOLD}
            own = {name: plain(value) for name, value in chosen.items() if value is not None}
            told = {"run": own | {"controller": self.control.name}, "seed": self.settings.seed}
            object.__setattr__(log, "source", replace(log.source, settings={**log.source.settings, **told}))
        return log


def scene(settings: Settings) -> Scene:
    """The simulation that the settings ask for."""
    if settings.robot is None:
        raise PliantError("which robot? give its name or file, or `robot = ...` in the settings")
    loaded = load_robot(settings.robot, settings.base, settings.xacro)
    if settings.base == "free" and (told := loose(loaded.robot)):
        raise PliantError(f"--base free: {told}")
    notes = _checked_times(settings)
    robot = _flexible(loaded.robot, settings, notes)
    ground_name = settings.ground or ("flat" if robot.is_free else "none")
    ground = as_ground(ground_name)
    from pliant.robot.collisions import with_default_contacts

    touching = with_default_contacts(robot, has_ground=ground is not None)
    name = settings.controller or default_controller(robot)
    q, told = _pose(loaded, touching, settings, is_passive=name == "none")
    lower, upper = reach(touching, q)
    # the longest side of the box around it
    size = max(0.1, *(high - low for low, high in zip(lower, upper, strict=True)))
    control = chosen_controller(name, touching, q, size, settings.gains, settings.command)
    notes += [("start", told)] if told else []
    height = settings.height if settings.height is not None else _DROP if "raibert" in control.name else 0.0
    if settings.height is not None and (ground is None or not robot.is_free):
        raise PliantError("--height is for a robot with a free base above a ground; see --base and --ground")
    if settings.q is None or settings.height is not None or _leaves_base(settings.q, robot):
        q = placed(touching, ground, q, height)
    v = row("v", settings.v if settings.v is not None else {}, robot.velocity_names, [0.0] * robot.nv)
    if settings.batch is not None or settings.spread:
        _check_memory(touching, settings.batch or 1)
        width = _SPREAD if settings.spread is None else settings.spread
        several = scattered(touching, q, max(settings.batch or 1, 2), width, settings.seed)
        several = placed(touching, ground, several, height) if settings.q is None else several
        q = several[: settings.batch] if settings.batch else several[1]
    make = _event_driven if settings.event_driven else _time_stepping
    return Scene(settings, loaded.origin, make(settings, control, ground, q, v), control, ground_name, notes)


def _checked_times(settings: Settings) -> list[tuple[str, str]]:
    """What is to be said of the length of the run, or an error if it is no step long."""
    notes: list[tuple[str, str]] = []
    period, end = settings.dt * settings.substeps, settings.time
    if not settings.event_driven:
        if end < 0.999 * period:
            steps = f"--substeps {settings.substeps} of " if settings.substeps > 1 else ""
            raise PliantError(f"--time {end:g} is shorter than a step, {steps}--dt {settings.dt:g}")
        end = round(end / period) * period
        # a millionth of a step is rounding
        if abs(end - settings.time) > 1e-6 * period:
            notes.append(("time", f"{end:.6g} s in place of {settings.time:g}: whole steps of {period:g} s"))
    for push in settings.push:
        if push.start >= end:
            text = f"the push on {push.body!r} begins at t = {push.start:g} s, and the run ends at {end:g} s"
            warnings.warn(text, SimulationWarning, stacklevel=3)
    return notes


def _check_memory(robot: "Robot", batch: int) -> None:
    """Raise if memory does not hold a batch; numbers of each robot are at least ten times those of q and v."""
    import os

    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return
    needed = 80 * batch * (robot.nq + robot.nv)
    if needed > memory:
        raise PliantError(
            f"--batch {batch}: so many robots take {needed / 1e9:.0f} GB and more, and this machine has "
            f"{memory / 1e9:.0f} GB; simulate fewer at a time"
        )


def _flexible(robot: "Robot", settings: Settings, notes: list[tuple[str, str]]) -> "Robot":
    """The robot with springs at its joints; a motor without a rotor gets one, since its side needs inertia."""
    for joint, numbers in (settings.flexible or {}).items():
        if joint not in robot.joints:
            place = getattr(settings.flexible, "places", {}).get(joint, "--flexible")
            raise PliantError(unknown_name("joint", joint, robot.joints, f"robot {robot.name!r}")).within(place)
        stiffness, damping, inertia = (*numbers, *(0.0, 0.0)[len(numbers) - 1 :])
        if not inertia and _is_massless(robot, joint):
            inertia = _share_of_inertia(robot, joint)
            notes.append(("flexible", f"{joint}: rotor inertia guessed, {inertia:.3g} (a third number gives another)"))
        robot = robot.with_flexibility(joint, stiffness=stiffness, damping=damping, inertia=inertia)
    return robot


def _is_massless(robot: "Robot", joint: str) -> bool:
    """Whether nothing is between the motor of a joint and the spring."""
    motors = [motor for motor in robot.motors.values() if motor.joint == joint]
    return bool(motors) and not any(motor.armature for motor in motors) and not any(robot.joints[joint].armature)


def _share_of_inertia(robot: "Robot", joint: str) -> float:
    """A fiftieth of what the joint moves in the neutral configuration [kg m^2 or kg]."""
    from pliant.dynamics import mass_matrix

    k = robot.v_slice(joint).start
    return float(f"{float(mass_matrix.algorithm(robot, robot.neutral().tolist())[k][k]) / 50:.2g}") or 1e-6


def _pose(loaded: Loaded, robot: "Robot", settings: Settings, *, is_passive: bool) -> tuple[Any, str]:
    """The configuration at the start, and what was chosen, in words."""
    q, told = robot.neutral(), ""
    # a whole row leaves nothing to choose; some joints by name leave the others as they stand
    if robot.is_free and not isinstance(settings.q, tuple):
        angles, told = stance(loaded.robot, loaded.path)
        known = {name: angle for name, angle in angles.items() if name in robot.coordinate_names}
        told = told if known else ""
        q = row("q", known, robot.coordinate_names, q)
    if settings.q is not None:
        return row("q", settings.q, robot.coordinate_names, within_limits(robot, q)), told
    inside = within_limits(robot, q)
    if is_passive and settings.v is None and not robot.is_free:
        return swung(robot, inside), "30 degrees off at each joint; --q gives another pose"
    return inside, told


def _leaves_base(q: Any, robot: "Robot") -> bool:
    """Whether joints are given by name, and the base is not."""
    free = [j.name for j in robot.joints.values() if j.kind.name == "free"]
    return isinstance(q, dict) and not any(name.startswith(f"{joint}.") for name in q for joint in free)


def _forces(settings: Settings) -> list[Any]:
    from pliant.actuation import ExternalForce

    return [ExternalForce(p.body, force=p.force, start=p.start, end=p.end) for p in settings.push]


def _time_stepping(settings: Settings, control: Control, ground: Any, q: Any, v: Any) -> "Simulation":
    from pliant.simulation import Simulation

    sim = Simulation(
        control.robot,
        dt=settings.dt,
        substeps=settings.substeps,
        ground=ground,
        contact=as_contact(settings.contact, settings.friction, settings.restitution),
        controller=control.compiled,
        forces=_forces(settings),
        integrator=settings.integrator,
        batch=settings.batch,
        threads=settings.threads,
        precision=settings.precision,
        progress=False if settings.quiet else None,
    )
    sim.reset(q=q, v=v)
    return sim


def _event_driven(settings: Settings, control: Control, ground: Any, q: Any, v: Any) -> "EventSimulation":
    usual = Settings()
    for name in ("batch", "precision", "integrator", "contact", "substeps"):
        if getattr(settings, name) != getattr(usual, name):
            raise PliantError(f"--event-driven simulates one robot on rigid ground; leave out --{name}")
    from pliant.events.simulation import EventSimulation

    options = {n: getattr(settings, n) for n in ("friction", "restitution") if getattr(settings, n) is not None}
    sim = EventSimulation(control.robot, ground=ground, forces=_forces(settings), **options)
    # a pose on uneven ground may be off by rounding
    sim.reset(q=q, v=v, lift=control.robot.is_free)
    return sim
