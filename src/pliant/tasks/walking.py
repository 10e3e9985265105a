"""Robots that follow commands of velocity: one set of terms for hopping, walking and trotting ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.checks import check
from pliant.contact import RigidContact, flat
from pliant.environment import (
    Clock, Environment, Event, JointTargets, Observation, Reward, StepTargets, Termination, Velocity, events,
    observations, rewards, terminations,
)  # fmt: skip
from pliant.environment.curricula import PatchPlace, TerrainLevels
from pliant.errors import LearningError
from pliant.robot import Robot
from pliant.signatures import explained
from pliant.simulation import Simulation
from pliant.tasks.mirroring import mirror_of
from pliant.tasks.sensing import noisy, sensed_by, with_walking_sensors
from pliant.terrain import Terrain

TOLERANCE = 1e-3
"""Of the contacts while learning [m/s]; policies behave the same at the default one."""


@explained
@dataclass(frozen=True)
class Walker:
    """A robot that walks, and what the task has to know of it.

    Attributes:
        robot: with contacts at its feet, and motors with position control.
        stance: configuration in which it stands on flat ground.
        feet: names of contacts or bodies.
        phases: of the feet in the gait, from 0 to 1.
        floor: height of the base below which it has fallen [m].
        scale: of the actions [rad or m], one for all motors or one for each.
        frequency: of the gait [1/s]; down: share of it that a foot is down.
        upright: least cosine of the base's tilt, below which it has fallen.
        hops: whether it hops also when it is asked to stand.
        springs: flexible joints whose deflections it sees, too.
        dt, substeps: of the simulation [s].
        width: of the rewards for the velocity of the moment [m/s and rad/s].
        mean_widths: of those for the mean velocity and rate of turning [m/s, rad/s]; mean_time: over which it is taken
            [s], half a step or more.
        lift: how far joints are off the stance in the middle of their foot's swing, by name [rad or m]: the policy then
            begins with feet that are lifted by the clock (`StepTargets`). Empty for a policy that finds out itself.
        weights: of rewards that differ from the usual ones.
        velocity: the commands.
        start: options of `events.start_state` in training; judged ones are the usual ones.
        timeout: length of episodes in training [s].
        pushes: sizes of pushes in training [m/s and rad/s], every three seconds.
    """

    robot: Robot
    stance: tuple[float, ...]
    feet: tuple[str, ...]
    phases: tuple[float, ...]
    floor: float
    scale: float | tuple[float, ...] = 0.5
    frequency: float = 2.0
    down: float = 0.5
    upright: float = 0.3
    hops: bool = False
    springs: tuple[str, ...] = ()
    dt: float = 5e-3
    substeps: int = 4
    width: float = 0.5
    mean_widths: tuple[float, float] = (0.2, 0.25)
    mean_time: float = 0.25
    lift: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    velocity: Velocity = field(default_factory=lambda: Velocity(shares=(0.9, 0.6, 0.5), backwards=0.35))
    start: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 10.0
    pushes: float = 0.0

    @property
    def height(self) -> float:
        """Of the base in the stance [m]."""
        return self.stance[2]


WEIGHTS = {
    "velocity": 1.0, "turning": 0.5, "mean velocity": 0.0, "mean turning": 0.0, "gait": 0.6, "posture": 0.2,
    "alive": 0.0, "tilt": -2.0, "bounce": -0.5, "wobble": -0.05, "height": 0.0, "action rate": -0.01, "torques": -2e-4,
}  # fmt: skip
"""Of the rewards; those that are zero, and that no robot changes, are left out."""


def environment(
    walker: Walker,
    *,
    batch: int = 512,
    seed: int = 0,
    threads: int = 1,
    precision: str = "float32",
    ground: Any = None,
    tolerance: float | None = TOLERANCE,
    is_judged: bool = False,
    timeout: float | None = None,
    dt: float | None = None,
    coriolis: str = "start",
    sensors: bool = False,
    noise: bool = False,
    randomised: bool = False,
    history: int = 1,
    terrain: Terrain | None = None,
) -> Environment:
    """The task of a walker.

    Args:
        ground: by default flat.
        tolerance: of the contacts [m/s].
        is_judged: whether starts are those that are judged, and no pushes come.
        timeout: length of episodes [s]; by default the walker's.
        dt: length of a step [s]; by default the walker's. A control period stays as long.
        coriolis: as in `Simulation`.
        sensors: whether the policy sees what sensors read, and the velocity of the base as legs tell it; the critic
            sees the state.
        noise: whether what it sees has errors and comes late.
        randomised: whether masses, centres of mass, gains and friction differ from robot to robot, and pushes come.
        history: how many control periods of the sensors are shown.
        terrain: patches by kind and level in place of the ground; robots are promoted from level to level.
    """
    check("ground", ground, "None with terrain", ground is None or terrain is None, error=LearningError)
    robot = walker.robot
    if sensors:
        robot = with_walking_sensors(robot, noise=noise, scan=terrain is not None)
    seen = seen_by(walker)
    if sensors:
        own = ("last action", "command", "clock")
        groups = {"actor": sensed_by(robot, history=history) | {n: seen[n] for n in own}, "critic": seen}
        if terrain is not None:
            groups["critic"] = seen | {"scan": groups["actor"]["scan"]}
    else:
        groups = {"actor": noisy(seen), "critic": seen} if noise else {"actor": seen}
    substeps = walker.substeps if dt is None else max(1, round(walker.substeps * walker.dt / dt))
    sim = Simulation(
        robot, dt=walker.dt * walker.substeps / substeps, substeps=substeps, batch=batch, precision=precision,
        ground=_ground(ground, terrain), contact=RigidContact(tolerance=tolerance), threads=threads,
        seed=seed, varying=["friction", *(path for path, *_ in spread_of(robot, randomised))], coriolis=coriolis,
    )  # fmt: skip
    happen = {
        "start": Event(events.start_state, **_start(walker, is_judged, terrain)),
        "friction": Event(events.randomise, path="friction", to=(0.4, 1.2) if randomised else (0.5, 1.1)),
    }
    for path, to, operation in spread_of(robot, randomised):
        happen[path] = Event(events.randomise, path=path, to=to, operation=operation)
    pushes = max(walker.pushes, 0.3 if randomised else 0.0)
    if pushes and not is_judged:
        happen["push"] = Event(events.push, "interval", every=3.0, linear=pushes, angular=pushes)
    length = walker.timeout if timeout is None else timeout
    climbs = terrain is not None and not is_judged
    return Environment(
        sim,
        action=action_of(walker),
        observations=groups,
        rewards=rewards_of(walker),
        terminations={"fell": Termination(terminations.fell, height=walker.floor, upright=walker.upright)},
        commands={"velocity": walker.velocity, "gait": Clock(walker.frequency)},
        events=happen,
        curriculum=TerrainLevels(terrain.levels, terrain.size / 2, length) if terrain and climbs else None,
        timeout=length,
        stance=walker.stance,
        reward_scale=0.1,
        reward_floor=0.0,
        mirror=mirror_of(robot, walker.stance, walker.feet, walker.phases, groups),
    )


def _ground(ground: Any, terrain: Terrain | None) -> Any:
    if terrain is not None:
        return terrain.ground
    return flat() if ground is None else ground


def spread_of(robot: Robot, randomised: bool) -> list[tuple[str, tuple[float, float], str]]:
    """What differs from robot to robot beside friction: path, range and operation."""
    if not randomised:
        return []
    heaviest = max(robot.bodies.values(), key=lambda body: float(body.inertia.mass)).name
    return [
        (f"bodies.{heaviest}.mass", (0.8, 1.3), "scale"),
        (f"bodies.{heaviest}.com", (-0.02, 0.02), "add"),
        ("motors.*.kp", (0.9, 1.1), "scale"),
        ("motors.*.kd", (0.9, 1.1), "scale"),
    ]


def seen_by(walker: Walker) -> dict[str, Observation]:
    """What the policy sees: the base, the joints, the last action, the command and the clock of the gait."""
    stops = None if walker.hops else "velocity"
    joints = list(dict.fromkeys(m.joint for m in walker.robot.motors.values()))
    names = [name for name in walker.robot.joints if name in {*joints, *walker.springs}]
    return {
        "velocity": Observation(observations.base_velocity),
        "rates": Observation(observations.base_rates, scale=0.25),
        "vertical": Observation(observations.vertical),
        "joints": Observation(observations.coordinates, joints=names),
        "joint rates": Observation(observations.rates, joints=names, scale=0.05),
        "last action": Observation(observations.last_action),
        "command": Observation(observations.command),
        "clock": Observation(observations.clock, stops_with=stops),
    }


def action_of(walker: Walker) -> JointTargets:
    """Targets around the stance, or around one that steps."""
    if not walker.lift:
        return JointTargets(walker.scale)
    robot, lifts, left = walker.robot, [], dict(walker.lift)
    for foot, phase in zip(walker.feet, walker.phases, strict=True):
        body = foot if foot in robot.bodies else robot.contacts[foot].body
        lifts.append((phase, {j.name: left.pop(j.name) for j in robot.path(body) if j.name in left}))
    if left:
        problem = f"joint {next(iter(left))!r} of lift leads to no foot"
        cure = f"name joints between the base and {', '.join(walker.feet)}"
        raise LearningError(problem, subject="Walker", field="lift", cure=cure)
    stops = None if walker.hops else "velocity"
    return StepTargets(walker.scale, lifts=lifts, down=walker.down, stops_with=stops)


def rewards_of(walker: Walker) -> dict[str, Reward]:
    """What it is rewarded for."""
    weights = {**WEIGHTS, **walker.weights}
    feet: dict[str, Any] = {"feet": walker.feet, "phases": walker.phases, "down": walker.down}
    linear, turning = walker.mean_widths
    mean: dict[str, Any] = {"time": walker.mean_time}
    functions: dict[str, tuple[Any, dict[str, Any]]] = {
        "velocity": (rewards.track_linear_velocity, {"width": walker.width}),
        "turning": (rewards.track_turning, {"width": walker.width}),
        "mean velocity": (rewards.track_mean_velocity, mean | {"width": linear, "memory": [0.0, 0.0]}),
        "mean turning": (rewards.track_mean_turning, mean | {"width": turning, "memory": [0.0]}),
        "gait": (rewards.gait, feet | {"stops_with": None if walker.hops else "velocity"}),
        "posture": (rewards.posture, {}),
        "alive": (rewards.alive, {}),
        "tilt": (rewards.tilt, {}),
        "bounce": (rewards.vertical_velocity, {}),
        "wobble": (rewards.base_wobble, {}),
        "height": (rewards.base_height, {"target": walker.height}),
        "action rate": (rewards.action_rate, {}),
        "torques": (rewards.torques, {}),
    }
    return {n: Reward(f, weights[n], **options) for n, (f, options) in functions.items() if weights[n]}


def _start(walker: Walker, is_judged: bool, terrain: Terrain | None = None) -> dict[str, Any]:
    scales = np.broadcast_to(walker.scale, (walker.robot.nu,))
    usual = {"joints": tuple((0.1 * np.minimum(1, 2 * scales)).tolist()), "velocity": 0.2}
    if terrain is not None:
        usual |= {"place": PatchPlace(terrain, any_level=is_judged), "heading": 3.14}
    return usual if is_judged else usual | dict(walker.start)


def standing(robot: Robot, joints: Sequence[float], height: float | None = None) -> tuple[float, ...]:
    """A configuration of a robot on a free base: joints with motors, the base upright on flat ground or at a height."""
    q = robot.neutral()
    for motor, x in zip(robot.motors.values(), joints, strict=True):
        q[robot.q_slice(motor.joint)] = x
    q = robot.on_ground(q) if height is None else q
    if height is not None:
        q[2] = height
    return tuple(q.tolist())
