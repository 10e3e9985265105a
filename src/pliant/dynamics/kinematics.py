"""Poses, velocities and accelerations of links and frames.

A spatial velocity or acceleration of a frame F is given in one of three references, as in Pinocchio:

| reference | axes | point of the body whose motion it is |
|---|---|---|
| "local" | F's | F's origin |
| "local_world_aligned" | the world's | F's origin |
| "world" | the world's | the one at the world's origin |
"""

from collections.abc import Sequence
from typing import Any

from pliant.checks import check_one_of
from pliant.dynamics.functions import robot_function
from pliant.dynamics.motion import link_motions
from pliant.robot import Link, Mechanism, Robot
from pliant.spatial import Motion, Steps, Transform, Vector

__all__ = [
    "REFERENCES", "frame_acceleration", "frame_pose", "frame_velocity", "link_poses", "link_velocities",
    "path_poses", "path_to", "root_origin",
]  # fmt: skip

Scalar = Any

REFERENCES = ("world", "local", "local_world_aligned")
KINDS = ("classical", "spatial")


@robot_function
def frame_pose(robot: Robot, q: Sequence[Scalar], frame: str) -> list[list[Scalar]]:
    """The pose of a frame in the world: X_WF = X_W1 X_12 ... X_BF, 4 x 4 homogeneous [m].

    Args:
        q: configuration, nq [rad or m].
        frame: name of a frame, body or joint (which means its child body's frame).
    """
    i, X_BF = robot.mechanism.frame(frame)
    return _frame_in_world(path_poses(path_to(robot.mechanism, i), q), X_BF).homogeneous()


@robot_function
def frame_velocity(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    frame: str,
    *,
    reference: str = "local_world_aligned",
) -> list[Scalar]:
    """The velocity of a frame: linear, then angular, 6 [m/s, rad/s].

    V_B = X_BP V_P + S v from link to link, in the links' own frames [Featherstone 2008, 5.3].

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
        frame: name of a frame, body or joint.
        reference: "world", "local" or "local_world_aligned", see the module.
    """
    check_one_of("reference", reference, REFERENCES)
    i, X_BF = robot.mechanism.frame(frame)
    path = path_to(robot.mechanism, i)
    V = _path_velocity(path, q, v, X_BF)
    return list(_referred(V, _frame_in_world(path_poses(path, q), X_BF), reference))


@robot_function
def frame_acceleration(
    robot: Robot,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vd: Sequence[Scalar],
    frame: str,
    *,
    reference: str = "local_world_aligned",
    kind: str = "classical",
) -> list[Scalar]:
    """The acceleration of a frame: linear, then angular, 6 [m/s^2, rad/s^2]. Gravity is not part of it.

    The classical one is that of the body's point, d^2 p / dt^2; the spatial one is a - w x v [Featherstone
    2008, 2.11]. Rates of `frame_velocity` are the classical one in "local_world_aligned", the spatial
    one in "world" and "local".

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
        vd: acceleration, nv [rad/s^2 or m/s^2].
        frame: name of a frame, body or joint.
        reference: "world", "local" or "local_world_aligned", see the module.
        kind: "classical" or "spatial".
    """
    check_one_of("reference", reference, REFERENCES)
    check_one_of("kind", kind, KINDS)
    mechanism = robot.mechanism
    i, X_BF = mechanism.frame(frame)
    if i < 0:
        return [0] * 6
    path = path_to(mechanism, i)
    X_WF = _frame_in_world(path_poses(path, q), X_BF)
    # the body's point at F, as an observer in the world sees it
    motion = link_motions(mechanism, q, v, vd, Vector.zero())[i]
    A = Motion(X_BF.R.rotate_back(motion.a + motion.U @ X_BF.p), X_BF.R.rotate_back(motion.wd))
    if kind == "classical" and reference != "world":
        return list(_referred(A, X_WF, reference))
    # only spatial accelerations change their point as velocities do
    V = _path_velocity(path, q, v, X_BF)
    A = _referred(Motion(A.linear - V.angular.cross(V.linear), A.angular), X_WF, reference)
    if kind == "classical":
        V = _referred(V, X_WF, reference)
        A = Motion(A.linear + V.angular.cross(V.linear), A.angular)
    return list(A)


def link_poses(mechanism: Mechanism, q: Sequence[Scalar], *, about_root: bool = False) -> list[Transform]:
    """X_WB of every link; with ``about_root``, X_AB as in `path_poses` (if all hang on one link)."""
    about_root = about_root and len(mechanism.roots) == 1
    poses: list[Transform] = []
    for link in mechanism.links:
        X = link.transform(q)
        poses.append(X.onto(poses[link.parent]) if link.parent >= 0 else _root_pose(X, about_root))
    return poses


def root_origin(mechanism: Mechanism, q: Sequence[Scalar]) -> Vector:
    """The origin of frame A of `link_poses` with ``about_root`` in the world: the root link's, if there is just one."""
    if len(mechanism.roots) != 1:
        return Vector.zero()
    X = mechanism.links[mechanism.roots[0]].transform(q)
    return (X.first @ X.then).p


def link_velocities(mechanism: Mechanism, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Motion]:
    """The spatial velocity of every link, in its own frame."""
    velocities: list[Motion] = []
    for link in mechanism.links:
        V = link.kind.motion(link.rate(v))
        if link.parent >= 0:
            V = link.transform(q).act_back(velocities[link.parent]) + V
        velocities.append(V)
    return velocities


def path_to(mechanism: Mechanism, i: int) -> list[Link]:
    """The links from the world to link i, which is the last one; none if i is the world, -1."""
    return [mechanism.links[k] for k in (*reversed(mechanism.ancestors(i)), i)] if i >= 0 else []


def path_poses(path: list[Link], q: Sequence[Scalar], *, about_root: bool = False) -> list[Transform]:
    """X_WB of the links of a path from the world.

    With ``about_root``, they are X_AB, where A has the world's axes and the origin of the first link. For
    what depends on differences of places only, that of a floating base is then out of the formulas, and
    of their rounding when the robot has walked far.
    """
    poses: list[Transform] = []
    for link in path:
        X = link.transform(q)
        poses.append(X.onto(poses[-1]) if poses else _root_pose(X, about_root))
    return poses


def _root_pose(X: Steps, about_root: bool) -> Transform:
    X_WB = X.first @ X.then
    return Transform(X_WB.R, Vector.zero()) if about_root else X_WB


def _frame_in_world(poses: list[Transform], X_BF: Transform) -> Transform:
    """X_WF of a frame on the last link of a path, or on the world."""
    return poses[-1] @ X_BF if poses else X_BF


def _path_velocity(path: list[Link], q: Sequence[Scalar], v: Sequence[Scalar], X_BF: Transform) -> Motion:
    """The local velocity of a frame on the last link of a path."""
    V = Motion.zero()
    for link in path:
        V = link.transform(q).act_back(V) + link.kind.motion(link.rate(v))
    return X_BF.act_back(V)


def _referred(x: Motion, X_WF: Transform, reference: str) -> Motion:
    """A local velocity or spatial acceleration of F in the given reference."""
    if reference == "local":
        return x
    if reference == "world":
        return X_WF.act(x)
    return Motion(X_WF.R.rotate(x.linear), X_WF.R.rotate(x.angular))
