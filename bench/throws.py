"""Random throws, event-driven: all go through, and none gains energy.

    python -m bench.throws [--number 200] [--seed 0] [--time 2] [--only 37] [--kinds box chain] [--grounds stairs]

Boxes (points at their corners), rods (points or balls at their ends), chains of two to four rods on hinges or ball
joints, and flails (a body with a ball on a chain) are drawn with random sizes, masses, friction of 0 to 1.2 (one in
eight has none), restitution of 0 to 0.9 (one in three has none), attitudes and velocities, and thrown onto flat ground,
slopes, waves and stairs. Throw k of a seed is the same whatever the number of throws: ``--only k`` runs it alone.

**Energy.** Contacts only take energy away, so T + U never rises. The gain is the largest rise above the least value
before, over the largest kinetic energy so far plus m g times the size of the body. The integrator's error is 1e-8 in a
step of some ms; what is allowed is 1e-6.
"""

import argparse
import hashlib
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pliant
from bench.tables import table
from pliant.contact.ground import Ground
from pliant.robot import Robot, RobotBuilder

KINDS = ("box", "rod", "chain", "flail")
GROUNDS = ("flat", "slope", "waves", "stairs")
MOST = 1e-6
"""Gain of energy that is allowed, relative to what is at hand."""


@dataclass(frozen=True)
class Throw:
    """A robot on a ground, and how it is thrown."""

    number: int
    kind: str
    on: str
    robot: Robot
    ground: Ground
    friction: float
    restitution: float
    q: np.ndarray
    v: np.ndarray
    size: float


@dataclass(frozen=True)
class Flight:
    """What became of a throw.

    Attributes:
        error: empty if it went through; events: how many; gain: of energy, relative; seconds: it took.
        digest: of q and v in the log, to compare processes.
    """

    throw: Throw
    error: str
    t: float
    events: int
    gain: float
    seconds: float
    digest: str

    @property
    def is_good(self) -> bool:
        """Whether it went through without a gain of energy."""
        return not self.error and self.gain <= MOST


def random_throw(seed: int, number: int, kinds: Sequence[str] = KINDS, grounds: Sequence[str] = GROUNDS) -> Throw:
    """Throw number k of a seed."""
    rng = np.random.default_rng([seed, number])
    kind, on = str(rng.choice(kinds)), str(rng.choice(grounds))
    robot, size = {"box": _box, "rod": _rod, "chain": _chain, "flail": _flail}[kind](rng)
    friction = 0.0 if rng.random() < 1 / 8 else float(rng.uniform(0, 1.2))
    restitution = 0.0 if rng.random() < 1 / 3 else float(rng.uniform(0, 0.9))
    way = float(rng.uniform(-math.pi, math.pi))
    ground = {
        "flat": lambda: pliant.flat(),
        "slope": lambda: pliant.slope(rng.uniform(0.05, 0.6), direction=way),
        "waves": lambda: pliant.waves(rng.uniform(0.02, 0.08), rng.uniform(0.6, 1.5)),
        "stairs": lambda: pliant.stairs(rng.uniform(0.05, 0.2), rng.uniform(0.2, 0.4), direction=way, start=-0.5),
    }[on]()
    q = robot.random(rng)
    # joints of chains are bent at most by a right angle
    for name, joint in robot.joints.items():
        if joint.kind.name == "revolute":
            q[robot.q_slice(name)] = rng.uniform(-math.pi / 2, math.pi / 2)
    q[:3] = rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), 3.0
    v = rng.normal(0, 3, robot.nv)
    v[:3] = rng.normal(0, 1.5, 3)
    return Throw(number, kind, on, robot, ground, friction, restitution, q, v, size)


def _box(rng: np.random.Generator) -> tuple[Robot, float]:
    sides = rng.uniform(0.05, 0.3, 3)
    mass = rng.uniform(0.2, 5)
    builder = RobotBuilder("box").body("box", mass, (0, 0, 0), _moments(mass, sides))
    robot = builder.build(base="free").with_contact("box", points=_corners(sides))
    return robot, float(np.linalg.norm(sides))


def _rod(rng: np.random.Generator) -> tuple[Robot, float]:
    length, mass = rng.uniform(0.1, 0.6), rng.uniform(0.1, 2)
    shift = rng.uniform(-0.2, 0.2) * length
    builder = RobotBuilder("rod").body("rod", mass, (shift, 0, 0), _moments(mass, (length, 0.02, 0.02)))
    builder.frame("left", "rod", (-length / 2, 0, 0)).frame("right", "rod", (length / 2, 0, 0))
    return builder.build(base="free").with_contacts("left", "right", radius=_radius(rng, length)), length


def _chain(rng: np.random.Generator) -> tuple[Robot, float]:
    links, length, mass = int(rng.integers(2, 5)), rng.uniform(0.1, 0.3), rng.uniform(0.1, 1)
    # more damping would be stiff, as rods are thin
    is_ball, damping = rng.random() < 0.5, rng.uniform(0, 0.0005)
    builder = RobotBuilder("chain")
    for k in range(links):
        builder.body(f"rod{k}", mass, (length / 2, 0, 0), _moments(mass, (length, 0.02, 0.02)))
        builder.frame(f"tip{k}", f"rod{k}", (length, 0, 0))
        if k and is_ball:
            builder.joint(f"joint{k}", "spherical", f"rod{k - 1}", f"rod{k}", (length, 0, 0), damping=damping)
        elif k:
            axis = (0, 1, 0) if rng.random() < 0.5 else (0, 0, 1)
            builder.joint(f"joint{k}", "revolute", f"rod{k - 1}", f"rod{k}", (length, 0, 0), axis=axis, damping=damping)
    names = ["rod0", *(f"tip{k}" for k in range(links))]
    return builder.build(base="free").with_contacts(*names, radius=_radius(rng, length)), links * length


def _flail(rng: np.random.Generator) -> tuple[Robot, float]:
    sides, mass = rng.uniform(0.05, 0.2, 3), rng.uniform(0.5, 3)
    links, length, ball = int(rng.integers(1, 3)), rng.uniform(0.05, 0.2), rng.uniform(0.02, 0.06)
    builder = RobotBuilder("flail").body("body", mass, (0, 0, 0), _moments(mass, sides))
    parent, place = "body", (sides[0] / 2, 0, 0)
    for k in range(links):
        is_last = k == links - 1
        heavy = rng.uniform(0.2, 2) if is_last else 0.1
        shape = (length, 2 * ball, 2 * ball) if is_last else (length, 0.02, 0.02)
        builder.body(f"link{k}", heavy, (length if is_last else length / 2, 0, 0), _moments(heavy, shape))
        builder.joint(f"ball{k}", "spherical", parent, f"link{k}", place)
        parent, place = f"link{k}", (length, 0, 0)
    builder.frame("ball", parent, (length, 0, 0))
    robot = builder.build(base="free").with_contact("body", points=_corners(sides)).with_contact("ball", radius=ball)
    return robot, float(np.linalg.norm(sides)) + links * length + ball


def _moments(mass: float, sides: Sequence[float] | np.ndarray) -> tuple[float, ...]:
    a, b, c = (float(s) ** 2 for s in sides)
    return mass * (b + c) / 12, 0, 0, mass * (a + c) / 12, 0, mass * (a + b) / 12


def _corners(sides: np.ndarray) -> list[tuple[float, float, float]]:
    a, b, c = (sides / 2).tolist()
    return [(x, y, z) for x in (-a, a) for y in (-b, b) for z in (-c, c)]


def _radius(rng: np.random.Generator, length: float) -> float:
    return 0.0 if rng.random() < 0.5 else float(rng.uniform(0.02, 0.15)) * length


def lowered(sim: pliant.EventSimulation, q: np.ndarray, height: float) -> np.ndarray:
    """The configuration with its free base so low that the least gap is a height."""
    q = q.copy()
    for _ in range(100):
        gap = sim.terms(0.0, q, np.zeros(sim.robot.nv), np.zeros(0)).gap.min()
        q[2] -= 0.7 * (gap - height)
    return q


def thrown(throw: Throw, duration: float) -> Flight:
    """Run a throw."""
    sim = pliant.EventSimulation(
        throw.robot, ground=throw.ground, friction=throw.friction, restitution=throw.restitution
    )
    sim.reset(q=lowered(sim, throw.q, 0.05), v=throw.v)
    start, error = time.perf_counter(), ""
    try:
        with warnings.catch_warnings():
            # links of chains have no contact shapes between their ends
            warnings.simplefilter("ignore", pliant.SimulationWarning)
            log = sim.run(duration, channels=("q", "v", "energy"))
    except Exception as stopped:
        error, log = f"{type(stopped).__name__}: {stopped}", getattr(stopped, "log", None)
    seconds = time.perf_counter() - start
    if log is None:
        return Flight(throw, error, 0.0, 0, 0.0, seconds, "")
    digest = hashlib.sha256(log.q.tobytes() + log.v.tobytes()).hexdigest()[:12]
    return Flight(throw, error, float(log.t[-1]), len(log.events), gain(throw, log), seconds, digest)


def gain(throw: Throw, log: pliant.Log) -> float:
    """The largest rise of T + U, relative to the energy at hand."""
    kinetic = log["energy.kinetic"]
    total = kinetic + log["energy.potential"]
    at_hand = np.maximum.accumulate(kinetic) + 9.81 * float(throw.robot.mass) * throw.size
    return float(((total - np.minimum.accumulate(total)) / at_hand).max())


def main() -> None:
    """Run throws, and print those that fail and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time", type=float, default=2.0)
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--grounds", nargs="*", default=GROUNDS)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    flights = []
    start = time.perf_counter()
    for number in given.only if given.only else range(given.number):
        throw = random_throw(given.seed, number)
        if throw.kind not in given.kinds or throw.on not in given.grounds:
            continue
        flight = thrown(throw, given.time)
        flights.append(flight)
        if given.verbose or given.only or not flight.is_good:
            what = f"{number}: {throw.kind} on {throw.on}, mu = {throw.friction:.3f}, e = {throw.restitution:.3f}"
            told = f"{flight.events} events, gain {flight.gain:.1e}, {flight.seconds:.1f} s, {flight.digest}"
            print(f"{what}: {told} {flight.error[:600]}", flush=True)
    title = f"seed {given.seed}, {given.time:g} s each, {time.perf_counter() - start:.0f} s"
    table(print, title, _summary(flights))


def _summary(flights: Sequence[Flight]) -> Iterator[dict[str, Any]]:
    for kind in (*KINDS, "all"):
        mine = [f for f in flights if kind in (f.throw.kind, "all")]
        if mine:
            seconds = [f.seconds for f in mine]
            yield {
                "kind": kind, "throws": len(mine), "through": sum(not f.error for f in mine),
                "events": sum(f.events for f in mine), "largest gain": max(f.gain for f in mine),
                "median [s]": float(np.median(seconds)), "longest [s]": max(seconds),
            }  # fmt: skip


if __name__ == "__main__":
    main()
