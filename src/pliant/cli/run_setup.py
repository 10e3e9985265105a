"""From settings to a simulation at its start, with defaults that suit the robot."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant import contact
from pliant.catalogue.starts import known_stance, scattered, swung, within_limits
from pliant.checks import check_known
from pliant.cli.ground_files import ground_file
from pliant.cli.settings import PATHS, Settings, numbers
from pliant.cli.sources import Control, chosen_controller, default_controller, load_robot, loose_base, origin
from pliant.errors import PliantError, RobotError, SimulationWarning, bad_value, unknown_name
from pliant.formats.legs import BASE
from pliant.robot import Robot
from pliant.robot.contacts import with_default_contacts

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation
    from pliant.recording.log import Log
    from pliant.simulation import Simulation

# how far hopping robots begin above the ground [m]
_DROP = 0.1
_SPREAD = 0.05
# settings that do not matter to the motion
_BESIDE = (*PATHS, "video_size", "view", "quiet", "json", "places")

Notes = list[tuple[str, str]]


@dataclass
class RunSetup:
    """A simulation at its start, and where its robot and its ground come from, in words.

    Attributes:
        notes: choices made for the user: of what, and which, in words.
    """

    settings: Settings
    origin: str
    sim: "Simulation | EventSimulation"
    control: Control
    ground: str
    notes: Notes = field(default_factory=list)

    def stamped(self, log: "Log") -> "Log":
        """A log whose source has the settings of the command line, too, so that the run can be repeated."""
        from pliant.recording.source import plain

        if log.source is not None:
            chosen = {f.name: getattr(self.settings, f.name) for f in fields(self.settings) if f.name not in _BESIDE}
            own = {name: plain(value) for name, value in chosen.items() if value is not None}
            added = {"run": own | {"controller": self.control.name}, "seed": self.settings.seed}
            return replace(log, source=replace(log.source, settings={**log.source.settings, **added}))
        return log


def run_setup(settings: Settings) -> RunSetup:
    """The simulation that the settings ask for."""
    notes = _time_notes(settings)
    loaded = _robot(settings)
    if any(finding.subject == BASE for finding in loaded.report):
        notes.append(("base", "free, since it has legs; --base fixed bolts it to the world"))
    elif _may_be_free(loaded, settings):
        notes.append(("base", "bolted to the world, which the file leaves open; --base free lets it move"))
    robot = _flexible(loaded, settings, notes)
    ground_name = settings.ground or ("flat" if robot.is_free else "none")
    file = ground_file(ground_name, settings)
    ground = as_ground(ground_name, settings) if file is None else file.ground
    robot = with_default_contacts(robot, has_ground=ground is not None)
    name = settings.controller or default_controller(robot)
    q = _pose(robot, settings, notes, is_passive=name == "none")
    control = chosen_controller(name, robot, q, settings.gains, settings.command)
    q = _placed(robot, ground, np.zeros((1, 2)) if file is None else file.starts, q, settings, control)
    v = as_row(settings, "v", robot.velocity_names, np.zeros(robot.nv))
    if not settings.event_driven:
        _check_step(settings, robot, v)
    make = _event_driven if settings.event_driven else _time_stepping
    sim = make(settings, control, ground, q, v)
    return RunSetup(settings, origin(str(settings.robot)), sim, control, ground_name, notes)


def _may_be_free(robot: Robot, settings: Settings) -> bool:
    """Whether nobody said how the base of a URDF moves: not the user, and not a file that begins with the world."""
    is_urdf = str(settings.robot).lower().endswith((".urdf", ".xacro"))
    first = next(iter(robot.bodies.values()))
    return is_urdf and settings.base is None and not robot.is_free and float(first.inertia.mass) > 0


# ---- time


def _time_notes(settings: Settings) -> Notes:
    """Remarks on the length of the run; raises if that is shorter than a step."""
    notes: Notes = []
    period, end = settings.dt * settings.substeps, settings.time
    if not settings.event_driven:
        if end < 0.999 * period:
            steps = f"--substeps {settings.substeps} of " if settings.substeps > 1 else ""
            raise settings.wrong("time", f"at least one step, {steps}--dt {settings.dt:g}")
        end = round(end / period) * period
        # a millionth of a step is rounding
        if abs(end - settings.time) > 1e-6 * period:
            notes.append(("time", f"{end:.6g} s in place of {settings.time:g}: whole steps of {period:g} s"))
    for push in settings.push:
        if push.start >= end:
            text = f"the push on {push.body!r} begins at t = {push.start:g} s, and the run ends at {end:g} s"
            warnings.warn(text, SimulationWarning, stacklevel=3)
    return notes


def _check_step(settings: Settings, robot: Robot, v: np.ndarray) -> None:
    """Warn if the robot's fastest motion at the start is less than ten steps long; raise if it falls over in one.

    It falls by its own length L within sqrt(2 L / g), and at a rate w it turns by a radian within 1 / w.
    """
    from pliant.render.robot_drawing import reach

    g, length = float(np.linalg.norm([float(x) for x in robot.gravity])), reach(robot)
    times: dict[str, float] = {}
    falling = ""
    if g > 0:
        falling = f"it falls by its own length, {length:.2g} m,"
        times[falling] = math.sqrt(2 * length / g)
    turns = {"revolute", "continuous", "spherical", "free", "planar"}
    for joint in robot.joints.values():
        turning = {"free": slice(3, 6), "planar": slice(2, 3)}.get(joint.kind.name, slice(None))
        rates = v[robot.v_slice(joint.name)][turning]
        if joint.kind.name in turns and np.any(rates):
            times[f"joint {joint.name!r} turns by a radian"] = 1 / float(np.linalg.norm(rates))
    if not times:
        return
    reason, shortest = min(times.items(), key=lambda item: item[1])
    if settings.dt > shortest / 10:
        what = f"in steps of {settings.dt:g} s, the motion of {robot.name!r} is not resolved: "
        what += f"{reason} in {shortest:.2g} s"
        cure = f"give {0.01 * shortest:.1g} or less; the default is {Settings().dt:g}"
        if g > 0 and settings.dt >= times[falling]:
            raise settings.blamed(PliantError(what, field="dt", cure=cure), "dt")
        warnings.warn(f"{what}; {cure}", SimulationWarning, stacklevel=3)


# ---- robot


def _robot(settings: Settings) -> Robot:
    if settings.robot is None:
        cure = "give its name or file, or `robot = ...` in the settings"
        raise PliantError("no robot is given", field="robot", cure=cure)
    robot = load_robot(settings.robot, settings.base, settings.xacro, settings.packages, settings.xacro_arg)
    if settings.base == "free" and (error := loose_base(robot)) is not None:
        raise settings.blamed(error, "base")
    return robot


def _flexible(robot: Robot, settings: Settings, notes: Notes) -> Robot:
    """The robot with springs at its joints; a motor without a rotor gets one, since its side needs inertia."""
    for joint, given in (settings.flexible or {}).items():
        if joint not in robot.joints:
            fault = unknown_name("joint", joint, robot.joints, f"robot {robot.name!r}")
            raise settings.blamed(RobotError(fault), "flexible", joint)
        stiffness, damping, inertia = (*given, *(0.0, 0.0)[len(given) - 1 :])
        motors = [motor for motor in robot.motors.values() if motor.joint == joint]
        is_massless = not any(motor.armature for motor in motors) and not any(robot.joints[joint].armature)
        if not inertia and motors and is_massless:
            inertia = _share_of_inertia(robot, joint)
            notes.append(("flexible", f"{joint}: rotor inertia guessed, {inertia:.3g} (a third number gives another)"))
        robot = robot.with_flexibility(joint, stiffness=stiffness, damping=damping, inertia=inertia)
    return robot


def _share_of_inertia(robot: Robot, joint: str) -> float:
    """A fiftieth of the inertia that the joint moves in the neutral configuration [kg m^2 or kg]."""
    from pliant.dynamics import mass_matrix

    k = robot.v_slice(joint).start
    return float(f"{float(mass_matrix.algorithm(robot, robot.neutral().tolist())[k][k]) / 50:.2g}") or 1e-6


# ---- start


def _pose(robot: Robot, settings: Settings, notes: Notes, *, is_passive: bool) -> np.ndarray:
    """The configuration at the start, before it is placed on the ground."""
    q = robot.neutral()
    # a whole row leaves nothing to choose; some joints by name leave the others as they stand
    stance = known_stance(robot) if robot.is_free and not isinstance(settings.q, tuple) else None
    if stance is not None:
        q = stance.q
        notes.append(("start", stance.origin))
    if settings.q is not None:
        return as_row(settings, "q", robot.coordinate_names, within_limits(robot, q))
    if is_passive and settings.v is None and not robot.is_free:
        notes.append(("start", "30 degrees off at each joint; --q gives another pose"))
        return swung(robot, within_limits(robot, q))
    return within_limits(robot, q)


def _placed(
    robot: Robot, ground: Any, starts: np.ndarray, q: np.ndarray, settings: Settings, control: Control
) -> np.ndarray:
    """The configuration on the ground, or a batch of configurations about it, one at each start (n, 2) in turn."""
    if settings.height is not None and (ground is None or not robot.is_free):
        raise settings.wrong("height", "a robot with a free base above a ground; see --base and --ground")
    height = settings.height if settings.height is not None else _DROP if control.is_hopping else 0.0
    can_place = ground is not None and robot.is_free and bool(robot.contact_points)
    base = tuple(f"{j.name}." for j in robot.joints.values() if j.kind.name == "free")
    is_base_given = not isinstance(settings.q, dict) or any(f"{name}.".startswith(base) for name in settings.q)
    if can_place and (settings.q is None or not is_base_given):
        q = _moved(robot, q, starts[0])
    if can_place and (settings.q is None or settings.height is not None or not is_base_given):
        q = robot.on_ground(q, ground, height=height)
    if settings.batch is None and not settings.spread:
        return q
    _check_memory(robot, settings)
    width = _SPREAD if settings.spread is None else settings.spread
    several = scattered(robot, q, max(settings.batch or 1, 2), width, settings.seed)
    if can_place and settings.q is None:
        several = _moved(robot, several, starts[np.arange(len(several)) % len(starts)] - starts[0])
        several = robot.on_ground(several, ground, height=height)
    return several[: settings.batch] if settings.batch else several[1]


def _moved(robot: Robot, q: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Configurations of robots with a free base, moved in x and y."""
    base = next(j for j in robot.joints.values() if j.kind.name == "free")
    start = robot.q_slice(base.name).start
    moved = np.array(q, dtype=float)
    moved[..., start : start + 2] += by
    return moved


def as_row(settings: Settings, option: str, names: Sequence[str], start: Any) -> np.ndarray:
    """The row of numbers of an option, "q" or "v": all of them, or some by name and the rest as at the ``start``."""
    given = getattr(settings, option)
    made = np.array(start, dtype=float)
    if given is None:
        return made
    if isinstance(given, tuple):
        if len(given) != len(names):
            takes = f"{len(names)} numbers ({', '.join(names)}), or some by name, {names[-1] if names else 'knee'}=0.5"
            raise settings.wrong(option, takes)
        return np.array(given, dtype=float)
    for name, value in given.items():
        own = [k for k, entry in enumerate(names) if entry.startswith(f"{name}.")]
        if isinstance(value, tuple) and own:
            if len(value) != len(own):
                takes = f"{len(own)} numbers for {name} ({', '.join(names[k] for k in own)})"
                raise settings.wrong(option, takes)
            made[own] = value
            continue
        if isinstance(value, tuple) or (own and name not in names):
            entries = ", ".join(names[k] for k in own)
            takes = f"{len(own)} numbers for {name} ({entries})" if own else f"one number for {name}"
            raise settings.wrong(option, takes)
        if name not in names:
            raise settings.blamed(PliantError(unknown_name("coordinate", name, names)), option, name)
        made[list(names).index(name)] = value
    return made


def _check_memory(robot: Robot, settings: Settings) -> None:
    """Raise if memory does not hold a batch; each robot has at least ten times the numbers of q and v."""
    import os

    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system has these
        return
    needed = 80 * (settings.batch or 1) * (robot.nq + robot.nv)
    if needed > memory:
        least = f"so many robots need {needed / 1e9:.0f} GB or more, and this machine has {memory / 1e9:.0f} GB"
        raise settings.wrong("batch", f"fewer robots: {least}")


# ---- ground and contact


def _slope(angle: float, direction: float = 0) -> Any:
    return contact.slope(math.radians(angle), direction=math.radians(direction) if direction else 0)


def _stairs(rise: float, run: float, steps: float | None = None) -> Any:
    if steps is not None and steps != int(steps):
        raise PliantError(bad_value("the number of steps", steps, "a whole number"))
    return contact.stairs(rise, run, **({} if steps is None else {"steps": int(steps)}))


# "name=1,2": the fewest and most numbers, and the function that takes them
_Words = Mapping[str, tuple[int, int, Callable[..., Any]]]
_GROUNDS: _Words = {
    "none": (0, 0, lambda: None),
    "flat": (0, 1, contact.flat),
    "slope": (1, 2, _slope),
    "stairs": (2, 3, _stairs),
    "waves": (2, 2, contact.waves),
}
_CONTACTS: _Words = {
    "rigid": (0, 0, contact.RigidContact),
    "compliant": (0, 2, lambda k=5e4, d=500.0, **own: contact.CompliantContact(contact.SpringDamper(k, d, **own))),
    "anchored": (
        0,
        2,
        lambda k=5e4, d=500.0, **own: contact.CompliantContact(contact.AnchoredSpringDamper(k, d, **own)),
    ),
    "hunt-crossley": (2, 3, lambda *n, **own: contact.CompliantContact(contact.HuntCrossley(*n, **own))),
}


def as_ground(given: str, settings: Settings) -> Any:
    """A ground, or None for "none": "flat", "flat=HEIGHT", "slope=DEGREES[,DIRECTION]", "stairs=RISE,RUN[,STEPS]"...

    `ground_file` takes those that are files.
    """
    return _made("ground", given, _GROUNDS, settings)


def as_contact(settings: Settings) -> Any:
    """A contact model: "rigid", "compliant[=STIFFNESS,DAMPING]", "anchored[=STIFFNESS,DAMPING]" or another word."""
    own = {} if settings.friction is None else {"friction": settings.friction}
    if settings.contact == "rigid" and settings.restitution is not None:
        own["restitution"] = settings.restitution
    elif settings.restitution:
        raise settings.wrong("restitution", "--contact rigid; with others, damping or dissipation decides")
    return _made("contact", settings.contact, _CONTACTS, settings, **own)


def _made(option: str, given: str, words: _Words, settings: Settings, **own: Any) -> Any:
    """The object that "name=1,2" stands for; errors are at the place of the setting."""
    name, sign, rest = (part.strip() for part in given.partition("="))
    try:
        check_known(option, name, words)
        values = numbers(name, rest) if sign else ()
        least, most, make = words[name]
        if not least <= len(values) <= most:
            takes = f"{least}" if least == most else f"{least} to {most}"
            raise PliantError(f"{name} has {len(values)} numbers", subject=name, cure=f"it takes {takes}")
        return make(*values, **own)
    except PliantError as error:
        raise settings.blamed(error, option) from None


# ---- simulation


def _forces(settings: Settings) -> list[Any]:
    from pliant.actuation import ExternalForce

    return [ExternalForce(p.body, force=p.force, start=p.start, end=p.end) for p in settings.push]


def _time_stepping(settings: Settings, control: Control, ground: Any, q: Any, v: Any) -> "Simulation":
    from pliant.simulation import Simulation

    same = ("dt", "substeps", "integrator", "batch", "threads", "precision", "held")
    sim = Simulation(
        control.robot,
        ground=ground,
        contact=as_contact(settings),
        controller=control.compiled,
        forces=_forces(settings),
        progress=False if settings.quiet else None,
        **{name: getattr(settings, name) for name in same},
    )
    sim.reset(q=q, v=v)
    return sim


def _event_driven(settings: Settings, control: Control, ground: Any, q: Any, v: Any) -> "EventSimulation":
    usual = Settings()
    for name in ("batch", "precision", "integrator", "contact", "substeps", "held"):
        if getattr(settings, name) != getattr(usual, name):
            error = PliantError("event-driven simulation is of one robot on rigid ground", field=name)
            raise settings.blamed(error.with_cure(f"leave out --{name} or --event-driven"), name)
    from pliant.events.simulation import EventSimulation

    options = {n: getattr(settings, n) for n in ("friction", "restitution") if getattr(settings, n) is not None}
    sim = EventSimulation(control.robot, ground=ground, forces=_forces(settings), **options)
    # a pose on uneven ground may be off by rounding
    sim.reset(q=q, v=v, lift=control.robot.is_free)
    return sim
