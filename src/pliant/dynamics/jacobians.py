"""Jacobians of frames and their rates. The references are those of `pliant.dynamics.kinematics`."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from pliant.checks import check_one_of
from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import REFERENCES, path_poses, path_to
from pliant.robot import Link, Mechanism, Robot
from pliant.spatial import Motion, Transform

__all__ = ["frame_jacobian", "frame_jacobian_rate"]

Scalar = Any


@robot_function
def frame_jacobian(
    robot: Robot, q: Sequence[Scalar], frame: str, *, reference: str = "local_world_aligned"
) -> list[list[Scalar]]:
    """The Jacobian J of a frame, 6 x nv, with J v = `frame_velocity`: linear rows first.

    Column d is the velocity of the frame when dof d alone moves at unit rate: X_AB S, with A the
    reference and B the link of the dof. Columns of dofs that do not move the frame are zero.

    Args:
        q: configuration, nq [rad or m].
        frame: name of a frame, body or joint.
        reference: "world", "local" or "local_world_aligned".
    """
    check_one_of("reference", reference, REFERENCES)
    return _matrix(robot.nv, _path_columns(robot.mechanism, q, frame, reference))


@robot_function
def frame_jacobian_rate(
    robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar], frame: str, *, reference: str = "local_world_aligned"
) -> list[list[Scalar]]:
    """The time derivative Jdot of `frame_jacobian` at velocity v, 6 x nv.

    S is constant in its link B, so that its column turns with B: d/dt (X_AB S) = (V_B - V_A) x X_AB S,
    where V_A is the reference's own velocity [Featherstone 2008, 2.10]: V_F for "local", only the
    linear part of it for "local_world_aligned", none for "world". Where links between B and F are
    all that make the difference, only they are summed.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
        frame: name of a frame, body or joint.
        reference: "world", "local" or "local_world_aligned".
    """
    check_one_of("reference", reference, REFERENCES)
    columns = _path_columns(robot.mechanism, q, frame, reference)
    # V_B as the sum of the joints up to B, and V_F - V_B as that of the joints after it
    steps = [_combined(X_S, link.rate(v)) for link, X_S in columns]
    upto = list(accumulate(steps))
    after = list(accumulate(reversed(steps), initial=Motion.zero()))[-2::-1]
    rates = []
    for (link, X_S), V_B, to_F in zip(columns, upto, after, strict=True):
        if reference == "world":
            relative = V_B
        elif reference == "local":
            relative = -to_F
        else:
            relative = Motion(-to_F.linear, V_B.angular)
        rates.append((link, [relative.cross(column) for column in X_S]))
    return _matrix(robot.nv, rates)


def _path_columns(
    mechanism: Mechanism, q: Sequence[Scalar], frame: str, reference: str
) -> list[tuple[Link, list[Motion]]]:
    """For each link between the world and the frame: the columns X_AB S of its joint."""
    i, X_BF = mechanism.frame(frame)
    path = path_to(mechanism, i)
    if reference == "local":
        return _local_columns(path, q, X_BF)
    poses = path_poses(path, q, about_root=reference != "world")
    if reference != "world" and poses:
        p_AF = poses[-1].transform_point(X_BF.p)
        poses = [Transform(X.R, X.p - p_AF) for X in poses]
    return [(link, [X.act(S) for S in link.kind.columns]) for link, X in zip(path, poses, strict=True)]


def _local_columns(path: list[Link], q: Sequence[Scalar], X_BF: Transform) -> list[tuple[Link, list[Motion]]]:
    """X_FB S, inward: each link sees the frame at X_BF."""
    columns = []
    for link in reversed(path):
        columns.append((link, [X_BF.act_back(S) for S in link.kind.columns]))
        X = link.transform(q)
        X_BF = X.first @ (X.then @ X_BF)
    return columns[::-1]


def _combined(columns: list[Motion], rates: list[Scalar]) -> Motion:
    return sum((column * rate for column, rate in zip(columns, rates, strict=True)), Motion.zero())


def _matrix(nv: int, columns: list[tuple[Link, list[Motion]]]) -> list[list[Scalar]]:
    """6 x nv, from the columns of each link's own joint; links that share a dof add up."""
    J: list[list[Scalar]] = [[0] * nv for _ in range(6)]
    for link, motions in columns:
        for d, motion in zip(link.dofs, motions, strict=True):
            for r, entry in enumerate(motion):
                J[r][d] = J[r][d] + link.ratio * entry
    return J
