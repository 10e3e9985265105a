"""Quadrupeds that trot from their sensors, with what they estimate."""

from functools import cache
from typing import NamedTuple

import numpy as np

import pliant
from pliant.control import TrotGains, trot
from pliant.math import sin
from pliant.spatial import Rotation, Vector, rotation_from_quaternion

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
DT, SUBSTEPS = 1e-3, 2


class Walk(NamedTuple):
    """What robots did, (batch, times, ...): velocities ahead, left and up, as estimated and true; errors of tilt."""

    t: np.ndarray
    q: np.ndarray
    velocity: np.ndarray
    true_velocity: np.ndarray
    tilt: np.ndarray


def quadruped() -> pliant.Robot:
    """The shipped one with its sensors, and contacts at feet and trunk."""
    robot = pliant.load("quadruped", sensors=True).with_contacts(*FEET, radius=0.02)
    robot = robot.with_contact("trunk", points=[(0.14, 0, 0), (-0.14, 0, 0)], radius=0.06)
    return robot.with_motors(control="position", kp=100, kd=3, gear=9, rotor_inertia=1e-4)


def rough(amplitude: float = 0.02, friction: float = 0.8) -> pliant.Ground:
    """A sum of waves of many directions and lengths of 0.35 to 1.2 m; the deviation of its height is the amplitude."""
    rng = np.random.default_rng(5)
    lengths, directions, phases = rng.uniform(0.35, 1.2, 6), rng.uniform(0, 2 * np.pi, 6), rng.uniform(0, 2 * np.pi, 6)
    waves = 2 * np.pi / lengths * np.array([np.cos(directions), np.sin(directions)])
    scale = amplitude / np.sqrt(3)
    terms = [(float(a), float(b), float(p)) for a, b, p in zip(*waves, phases, strict=True)]
    return pliant.Ground(lambda x, y: sum(scale * sin(a * x + b * y + p) for a, b, p in terms), "rough", friction)


def ground_of(name: str) -> pliant.Ground:
    return {"flat": pliant.flat(friction=0.8), "ice": pliant.flat(friction=0.15), "rough": rough()}[name]


def started(sim: pliant.Simulation, q: np.ndarray, seed: int, clearance: float) -> None:
    """Put robots at random places, a little above the ground."""
    rng = np.random.default_rng(seed)
    starts = np.tile(q, (sim.batch or 1, 1))
    starts[:, :2] = rng.uniform(-3, 3, (len(starts), 2))
    starts[:, 2] = clearance
    sim.reset(q=starts if sim.batch else starts[0], seed=seed)


@cache
def walk(ground: str, *, batch: int, seconds: float, command: tuple = (0.3, 0, 0), seed: int = 1) -> Walk:
    """Robots that trot, with their estimates kept in the memory of their controller."""
    robot = quadruped()
    controller = trot(robot, dt=DT * SUBSTEPS, gains=TrotGains())
    law = controller.function

    def told(t, sensors, command, memory):
        """The same law; what it estimated goes into three more numbers of its memory."""
        kept = list(memory)[:-3]
        u, after = law(t, sensors, command, kept)
        n = len(law.estimator.memory)
        base, _ = law.estimator.update(sensors, kept[:n], law.dt)
        return u, [*after, *base.velocity]

    with_estimate = pliant.Controller(told, commands=3, memory=(*law.memory, 0, 0, 0))
    sim = pliant.Simulation(
        robot, dt=DT, substeps=SUBSTEPS, ground=ground_of(ground), controller=with_estimate, batch=batch
    )
    started(sim, law.crouched(robot), seed, 0.23)
    periods = round(seconds / (DT * SUBSTEPS))
    made = sim.rollout(None, np.tile(command, (periods, 1)).astype(float), channels=["q", "v", "memory"])
    # an estimate is that of the beginning of its period
    q, v, memory = (
        made[name][:, cut] for name, cut in (("q", slice(-1)), ("v", slice(-1)), ("memory", slice(1, None)))
    )
    R, seen = (rotation_from_quaternion(*np.moveaxis(x, -1, 0)) for x in (q[..., 3:7], memory[..., :4]))
    true = R.rotate(Vector(*np.moveaxis(v[..., :3], -1, 0)))
    estimated = Vector(*np.moveaxis(memory[..., -3:], -1, 0))
    across = R.rotate_back(Vector(0, 0, 1)).cross(seen.rotate_back(Vector(0, 0, 1)))
    t = DT * SUBSTEPS * np.arange(1, periods)
    return Walk(t, q, _level(seen, estimated), _level(R, true), np.sqrt(across.dot(across)))


def _level(R: Rotation, v: Vector) -> np.ndarray:
    """A velocity in the heading of R: that of the estimate and the true one differ, and nobody can know by how much."""
    ahead = R.rotate(Vector(1, 0, 0))
    size = np.hypot(ahead.x, ahead.y)
    c, s = ahead.x / size, ahead.y / size
    return np.stack([c * v.x + s * v.y, c * v.y - s * v.x, v.z], axis=-1)
