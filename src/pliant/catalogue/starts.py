"""Where robots begin: poses in which they stand, from SRDF files; extent, joint limits, and bases put on the ground."""

import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.checks import check
from pliant.contact import Ground, flat
from pliant.contact.round_touching import face_count, lowest
from pliant.dynamics.kinematics import link_poses
from pliant.errors import PliantError, RobotError, unknown_name
from pliant.files.xml import parse_xml, read_file
from pliant.robot import Robot
from pliant.robot.contacts import with_default_contacts
from pliant.scalar import Scalar
from pliant.spatial import Vector

# gaps are divided by the vertical part of the normal, which a wall has none of
_LEAST_RISE = 1e-3

# to put balls onto curved ground; elsewhere the first is exact
_DESCENTS = 6
# around edges they come from above, by Newton's method
_DESCENTS_TO_FACES = 20
# names of SRDF states in which robots stand, the best first
_STANDING = ("half_sitting", "standing", "half_sitting_free_flyer", "reference", "home")
# a folder may hold the SRDF files of many robots; only so many are read
_MOST_FILES = 4


def contact_centers(robot: Robot, q: Sequence[Scalar]) -> list[Scalar]:
    """The centres of all contact points in the world, x, y and z one after the other [m]."""
    poses = link_poses(robot.mechanism, q)
    found: list[Scalar] = []
    for point in robot.contact_points:
        i, X_LB = robot.mechanism.body(point.body)
        p = X_LB.transform_point(point.center)
        found += list(poses[i].transform_point(p) if i >= 0 else p)
    return found


def extent(robot: Robot, q: Any) -> tuple[list[float], list[float]]:
    """The box around the origins of the bodies and the contact shapes, in the world: lowest and highest corner [m].

    A robot without contact shapes counts with its collision shapes, if they can be read.
    """
    poses = link_poses(robot.mechanism, list(q))
    points, radii = [], [0.0] * len(robot.bodies)
    for name in robot.bodies:
        i, X_LB = robot.mechanism.body(name)
        points.append(list(poses[i].transform_point(X_LB.p) if i >= 0 else X_LB.p))
    touching = robot
    with suppress(RobotError):  # a mesh that is missing: the origins have to do
        touching = robot if robot.contacts else robot.with_collision_contacts()
    centers = contact_centers(touching, list(q))
    points += [centers[k : k + 3] for k in range(0, len(centers), 3)]
    radii += [point.reach for point in touching.contact_points]
    where, around = np.array(points, dtype=float).reshape(-1, 3), np.array(radii, dtype=float)[:, None]
    return (where - around).min(axis=0).tolist(), (where + around).max(axis=0).tolist()


def within_limits(robot: Robot, q: Any) -> np.ndarray:
    """Configurations with the joints of one degree of freedom moved between their limits, (..., nq)."""
    q = np.array(q, dtype=float)
    for joint in robot.joints.values():
        if joint.kind.nq == 1 and joint.mimic is None:
            at = robot.q_slice(joint.name)
            low, high = float(joint.limits.lower[0]), float(joint.limits.upper[0])
            if low <= high:
                q[..., at] = np.clip(q[..., at], low, high)
    return q


def on_ground(robot: Robot, q: Any, ground: Ground | None = None, *, height: float = 0.0) -> np.ndarray:
    """Configurations with the base moved up or down onto the ground; see `Robot.on_ground`."""
    subject = f"robot {robot.name!r}"
    free = next((j for j in robot.joints.values() if j.kind.name == "free" and j.parent == "world"), None)
    if free is None:
        problem = f"{subject} has no free base, so it stays where it is"
        raise RobotError(problem, subject=subject, field="base", cure="load it with base='free'")
    touching = with_default_contacts(robot, has_ground=True)
    if not touching.contact_points:
        cure = "give it some with robot.with_contact(frame)"
        raise RobotError(f"{subject} has no contact points", subject=subject, field="contacts", cure=cure)
    q = np.array(q, dtype=float)
    check("q", q.shape, f"{robot.nq} numbers, or rows of as many", q.ndim in (1, 2) and q.shape[-1] == robot.nq)
    centers = _centers(touching, q)
    ground = flat() if ground is None else ground
    rise = np.zeros(q.shape[:-1])
    for _ in range(_DESCENTS if ground.faces is None else _DESCENTS_TO_FACES):
        lift = _lifts(touching, q, centers, ground)
        centers[..., 2] += lift[..., None]
        rise = rise + lift
    q[..., robot.q_slice(free.name).start + 2] += rise + height
    return q


def _lifts(robot: Robot, q: np.ndarray, centers: np.ndarray, ground: Ground) -> np.ndarray:
    """How far up a robot is to go until its contacts with centers (..., contacts, 3) touch no face, but just so."""
    points = robot.contact_points
    is_round = any(point.support is not None for point in points)
    poses = link_poses(robot.mechanism, list(np.moveaxis(q, -1, 0))) if is_round else ()
    lifts = []
    for k, point in enumerate(points):
        center, (i, X_LB) = Vector(*np.moveaxis(centers[..., k, :], -1, 0)), robot.mechanism.body(point.body)
        if i >= 0 and point.support is not None:
            support = point.support.moved(X_LB)
            faces = range(face_count(ground, point.radius, support))
            found = [lowest(ground, center, poses[i], point.radius, support, face)[:2] for face in faces]
        else:
            found = [touch[:2] for touch in ground.touches(center, float(point.radius))]
        for gap, normal in found:
            lifts.append(-np.asarray(gap) / np.maximum(np.asarray(normal.z, dtype=float), _LEAST_RISE))
    return np.max(lifts, axis=0)


def _centers(robot: Robot, q: np.ndarray) -> np.ndarray:
    """`contact_centers` as an array (..., contacts, 3): compiled for many robots, on floats for one."""
    if q.ndim == 1:
        found = np.array(contact_centers(robot, list(q)), dtype=float)
    else:
        from pliant.compiler import kernel_from_function

        kernel = kernel_from_function(lambda q: contact_centers(robot, q), {"q": (robot.nq,)}, name="contact_centers")
        found = kernel(np.ascontiguousarray(q, dtype=float))
    return found.reshape(*q.shape[:-1], -1, 3)


def scattered(robot: Robot, q: Any, batch: int, spread: float, seed: int) -> np.ndarray:
    """A batch of configurations about q; the first is q itself.

    Joints and the tilt of a free base are off by a normal distribution of the width ``spread`` [rad], prismatic joints
    by a tenth of that [m], since legs are shorter than turns are wide. The place of the base stays the same, and so do
    the flexibilities, whose springs begin as they were.
    """
    rng = np.random.default_rng(seed)
    w = spread * rng.standard_normal((batch, robot.nv))
    w[0] = 0
    for joint in (j for j in robot.joints.values() if j.mimic is None):
        if joint.kind.name == "free":
            w[:, robot.v_slice(joint.name)][:, :3] = 0
        elif joint.kind.name == "prismatic":
            w[:, robot.v_slice(joint.name)] *= 0.1
    for name in robot.flexibilities:
        w[:, robot.v_slice(name)] = 0
    return within_limits(robot, robot.integrate(np.tile(np.asarray(q, dtype=float), (batch, 1)), w))


def swung(robot: Robot, q: Any, angle: float = math.pi / 6) -> np.ndarray:
    """A configuration with the revolute joints turned, from which a robot without a controller begins to move."""
    turned = np.array(q, dtype=float)
    for joint in robot.joints.values():
        if joint.kind.name in ("revolute", "continuous") and joint.mimic is None:
            turned[robot.q_slice(joint.name)] += angle
    return within_limits(robot, turned)


# ---- poses in which robots stand


class Stance(NamedTuple):
    """A pose in which a robot stands.

    Attributes:
        q: configuration, nq [rad or m].
        origin: in words, such as "'standing' of anymal.srdf".
    """

    q: Any
    origin: str


def stance(robot: Robot, state: str | None = None) -> Any:
    """The configuration in which a robot stands; see `Robot.stance`."""
    found = known_stance(robot, state)
    if found is not None:
        return found.q
    subject = f"robot {robot.name!r}"
    states = _states(robot)
    if state is not None and states:
        raise RobotError(unknown_name("state", state, states, f"the SRDF files or keyframes of {subject}"))
    cure = f"write a state named 'standing' into an SRDF file beside the robot's file, {Path(robot.name).name}.srdf"
    if robot.file is None:
        cure = "set the joints yourself, from robot.neutral() on"
    raise RobotError(f"{subject} has no known standing pose", subject=subject, field="stance", cure=cure)


def known_stance(robot: Robot, state: str | None = None) -> Stance | None:
    """The standing pose of a robot and where it is from; None if there is none.

    Args:
        state: name of a state of the SRDF file; by default the first of half_sitting, standing, reference and home.
    """
    states = _states(robot)
    chosen = next((name for name in (_STANDING if state is None else (state,)) if name in states), None)
    if chosen is None:
        return None
    file, angles = states[chosen]
    q = robot.neutral()
    for name, angle in angles.items():
        q[robot.coordinate_names.index(name)] = angle
    return Stance(within_limits(robot, q), f"{chosen!r} of {file}")


def _states(robot: Robot) -> dict[str, tuple[str, dict[str, float]]]:
    """The states that the robot's own file names, else those of the first SRDF file that knows its joints.

    Of each the name of the file, and angles by name.
    """
    if robot.stances:
        file = "its file" if robot.file is None else robot.file.name
        known = {name: {c: float(x) for c, x in q.items() if c in robot.coordinate_names}
                 for name, q in robot.stances.items()}  # fmt: skip
        return {name: (file, angles) for name, angles in known.items() if angles}
    for file in _files(robot.file) if robot.file is not None else ():
        found = {}
        for name, angles in _read(file).items():
            own = {joint: angle for joint, angle in angles.items() if joint in robot.coordinate_names}
            found |= {name: (file.name, own)} if own else {}
        if found:
            return found
    return {}


def _files(path: Path) -> list[Path]:
    """SRDF files beside a robot's file, the one of its own name first."""
    folders = [path.parent, path.parent.parent / "srdf"]
    found = [file for folder in folders if folder.is_dir() for file in sorted(folder.glob("*.srdf"))]
    return sorted(found, key=lambda file: (file.stem != path.stem, not path.stem.startswith(file.stem)))[:_MOST_FILES]


def _read(file: Path) -> dict[str, dict[str, float]]:
    """The states of a file; those that cannot be read are left out, since they are a convenience."""
    try:
        root = parse_xml(read_file(file), str(file))
    except PliantError:
        return {}
    found: dict[str, dict[str, float]] = {}
    for state in root.all("group_state"):
        angles: dict[str, float] = found.setdefault(state.attributes.get("name", ""), {})
        for joint in state.all("joint"):
            try:
                angles[joint.attributes.get("name", "")] = float(joint.attributes.get("value", ""))
            except ValueError:  # the pose of a base, several numbers: robot.on_ground places that
                continue
    return found
