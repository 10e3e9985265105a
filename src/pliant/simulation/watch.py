"""Looks for bodies below the ground that no contact shape stops, and for contacts that sink, outside of the step.

The step knows contact shapes only, so a robot on its back whose feet are its only contacts falls through the floor. A
body counts as below the ground if its centre of mass is: whatever its shape, part of it is then below, too. That is
looked at every half second or so of a simulation and at the end of a run, which takes a thousandth of its time.
"""

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pliant.contact.touching import GroundGroup
from pliant.dynamics.kinematics import link_poses, root_origin
from pliant.errors import Call
from pliant.recording.troubles import Trouble
from pliant.scalar import Scalar, Scalars, is_constant
from pliant.simulation.model import StepModel
from pliant.spatial import Transform, Vector

STEPS, TIME, FEW = 500, 0.25, 16
"""Between two looks: at least so many steps, and so much time [s]. Of fewer robots than this, four times the steps."""

# bodies less deep than this share of the robot's size are on the ground, give or take their shape: knees and elbows
# between a trunk and feet that hold dip in a little
_MARGIN = 0.1
# contacts deeper than this share of the robot's size, and than this [m], that get deeper
_SUNK, _LEAST_SUNK = 0.1, 0.01


class Body(NamedTuple):
    """A moving body without contact shapes: its name, its link, its centre of mass there, and its mass [kg]."""

    name: str
    link: int
    center: Vector
    mass: float


def unsupported(model: StepModel) -> list[Body]:
    """Bodies to look at: those that no contact with the ground can hold, of a robot that has such contacts.

    A robot that nothing connects with the ground is meant to be, or its simulation has said so when it was made. Bodies
    of a robot that is bolted to the world and reaches below the ground in its neutral configuration are left out: a
    pendulum at the edge of a table hangs there.
    """
    robot, mechanism = model.robot, model.robot.mechanism
    held = {group.a for group in model.groups if isinstance(group, GroundGroup)}
    if model.ground is None or not held:
        return []
    found = []
    for link in mechanism.links:
        mass = link.inertia.mass
        numbers = (mass, *link.inertia.h)
        if link.index in held or link.is_rotor or not all(is_constant(x) for x in numbers) or mass <= 0:
            continue
        found.append(Body(link.body, link.index, link.inertia.h * (1 / mass), float(mass)))
    if not mechanism.floating_links:
        depths = body_depths(model, found, robot.neutral().tolist())
        found = [body for body, depth in zip(found, depths, strict=True) if not float(depth) > 0]
    return found


def body_depths(model: StepModel, bodies: Sequence[Body], q: Scalars) -> list[Scalar]:
    """How far the centres of bodies are below the ground [m]; negative above it."""
    mechanism, ground = model.robot.mechanism, model.ground
    assert ground is not None  # or there would be no such bodies
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    found = []
    for body in bodies:
        p = poses[body.link].transform_point(body.center) + origin
        found.append(ground.height(p.x, p.y) - p.z)
    return found


def deepest_contact(model: StepModel, q: Scalars) -> str:
    """The name of the contact that is deepest in the ground."""
    mechanism = model.robot.mechanism
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    gaps = {
        name: float(touch.gap)
        for group in model.groups
        for name, touch in zip(group.names, group.touches(poses, origin, model.ground), strict=True)
    }
    return min(gaps, key=lambda name: gaps[name], default="")


def size_of(model: StepModel) -> float:
    """The size of a robot [m]: about that of the box around its joints and contacts, stretched out."""
    mechanism = model.robot.mechanism
    reach: list[float] = []
    for link in mechanism.links:
        above = reach[link.parent] if link.parent >= 0 else 0.0
        # what a floating base or a rail adds is its place, not its size
        reach.append(above + (_length(link.placement) if link.parent >= 0 else 0.0))
    ends = [*reach]
    for point in model.robot.contact_points:
        i, X_LB = mechanism.body(point.body)
        if i >= 0:
            center = X_LB.transform_point(point.center)
            ends.append(reach[i] + math.dist(_numbers(center), (0, 0, 0)) + _number(point.radius))
    return max(ends, default=0.0)


def _length(X: Transform) -> float:
    return math.dist(_numbers(X.p), (0, 0, 0))


def _numbers(p: Vector) -> tuple[float, ...]:
    return tuple(_number(x) for x in p)


def _number(x: Scalar) -> float:
    return float(x) if is_constant(x) else 0.0


@dataclass
class Watch:
    """What the looks at a simulation have found, of each robot, since it was reset.

    Attributes:
        bodies: that are looked at.
        size: of the robot [m]; limits: depths of bodies and of contacts that count [m].
        below: looks in which a body of each robot was below the ground, (robots,).
        depth: the deepest so far [m]; body: its index; first: time of the first [s]; (robots,).
        sunk: looks in which a contact had got deeper; contact_depth: at the last look [m]; (robots,).
        found: kinds of trouble that there have been; told: those of which the user has been warned.
        clocks: sum of the clocks at the last look; the same sum is the same look.
    """

    model: StepModel
    robots: int
    bodies: list[Body] = field(init=False)
    size: float = field(init=False)
    told: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.bodies, self.size = unsupported(self.model), size_of(self.model)
        self.limits = _MARGIN * self.size, max(_SUNK * self.size, _LEAST_SUNK)
        self.forget()

    def another(self, robots: int) -> "Watch":
        """One of so many robots, which remembers nothing."""
        found = copy(self)
        found.robots, found.told = robots, set()
        found.forget()
        return found

    def forget(self, robots: np.ndarray | None = None) -> None:
        """Begin anew, for all robots or for some."""
        if robots is None:
            n = self.robots
            self.below, self.sunk, self.body = (np.zeros(n, int) for _ in range(3))
            self.depth, self.first, self.contact_depth, self.sunk_first = (np.zeros(n) for _ in range(4))
            self.told.clear()
            self.found: set[str] = set()
        else:
            for array in (self.below, self.sunk, self.depth, self.contact_depth):
                array[robots] = 0
        self.clocks = -1.0

    def is_noteworthy(self, depths: np.ndarray | None, contact_depths: np.ndarray) -> bool:
        """Whether there is anything to `add`, now or to compare with at the next look; depths as in `add`."""
        body, contact = self.limits
        is_below = depths is not None and bool((depths > body).any())
        return is_below or bool((contact_depths > contact).any())

    def add(self, t: np.ndarray, depths: np.ndarray, contact_depths: np.ndarray) -> None:
        """A look.

        Args:
            t: time of each robot [s], (robots,).
            depths: of the bodies below the ground [m], (robots, bodies).
            contact_depths: the deepest penetration of each robot [m], (robots,).
        """
        if depths.shape[1]:
            is_below = depths > self.limits[0]
            who = is_below.any(axis=1)
            if who.any():
                self.first[who & (self.below == 0)] = t[who & (self.below == 0)]
                self.below[who] += 1
                self.found.add("below ground")
                deeper = who & (depths.max(axis=1) > self.depth)
                # of several the heaviest: the trunk, not a hand
                masses = np.array([body.mass for body in self.bodies])
                self.body[deeper] = np.where(is_below, masses, -1).argmax(axis=1)[deeper]
                self.depth[deeper] = depths.max(axis=1)[deeper]
        limit = self.limits[1]
        sinks = (contact_depths > limit) & (contact_depths > self.contact_depth) & (self.contact_depth > limit)
        self.sunk_first[sinks & (self.sunk == 0)] = t[sinks & (self.sunk == 0)]
        self.sunk[sinks] += 1
        if sinks.any():
            self.found.add("sinking")
        self.contact_depth = np.array(contact_depths, dtype=float)

    def troubles(self, q: np.ndarray) -> list[Trouble]:
        """What the looks have found; q are the configurations now, (robots, nq)."""
        return [trouble for trouble in (self._below(), self._sunk(q)) if trouble is not None]

    def _below(self) -> Trouble | None:
        who = np.flatnonzero(self.below)
        if not len(who):
            return None
        k = int(who[np.argmax(self.depth[who])])
        body = self.bodies[self.body[k]].name
        first, depth = float(self.first[who].min()), float(self.depth[k])
        count = int(self.below.sum())
        cure = str(Call("with_contact", body, {"radius": "..."}))
        if self._has_collisions(self.bodies[self.body[k]].link):
            cure = f"robot.with_collision_contacts({body!r}) or {cure}"
        what = (
            f"{of_robots(k, len(who), self.robots)}body {body!r} is below the ground, by up to {depth:.3g} m, first "
            f"seen at t = {first:.4g} s ({count} looks so far): no contact shape of it meets the ground; add {cure}"
        )
        return Trouble("below ground", body, k, len(who), first, count, depth, what)

    def _has_collisions(self, link: int) -> bool:
        robot = self.model.robot
        return any(robot.bodies[b].collisions for b, (i, _) in robot.mechanism.poses.items() if i == link)

    def _sunk(self, q: np.ndarray) -> Trouble | None:
        who = np.flatnonzero(self.sunk)
        if not len(who):
            return None
        k = int(who[np.argmax(self.contact_depth[who])])
        name = deepest_contact(self.model, q[k].tolist())
        first, depth = float(self.sunk_first[who].min()), float(self.contact_depth[k])
        cure = "use a shorter dt" if self.model.is_rigid else "use a stiffer contact law"
        what = (
            f"{of_robots(k, len(who), self.robots)}contact {name!r} sinks into the ground, by {depth:.3g} m now, first "
            f"seen at t = {first:.4g} s; {cure}, or a ground without edges"
        )
        return Trouble("sinking", name, k, len(who), first, int(self.sunk.sum()), depth, what)


def of_robots(k: int, count: int, robots: int) -> str:
    """The beginning of a sentence about robot k, and others."""
    if robots == 1:
        return ""
    more = f" (and {count - 1} more)" if count > 1 else ""
    return f"robot {k}{more}: "
