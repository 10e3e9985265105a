"""Poses, velocities, accelerations and Jacobians of links and frames.

A spatial velocity or acceleration of a frame F is given in one of three references, as in Pinocchio:

| reference | axes | point of the body whose motion it is |
|---|---|---|
| "local" | F's | F's origin |
| "local_world_aligned" | the world's | F's origin |
| "world" | the world's | the one at the world's origin |

Inside the recursions, accelerations are classical: those of the link's origin as an observer in the world sees it. The
matrix U = wd~ + w~ w~ (x~ the cross product with x) gives every other point of the link: the point at p accelerates
with a + U p. It serves the link's own mass and the origins of its children, which makes this the cheapest form of the
recursion known [Balafoutis and Patel 1991, ch. 5].
"""

from collections.abc import Sequence
from itertools import accumulate

from pliant.checks import check_one_of
from pliant.dynamics.functions import robot_function
from pliant.robot import Link, Mechanism, Robot
from pliant.scalar import Scalar, Scalars
from pliant.spatial import Force, Inertia, Matrix3, Motion, Steps, Transform, Vector


class LinkMotion:
    """Motion of one link, in its own frame.

    Attributes:
        X_PB: its pose in its parent.
        w, wd: angular velocity and acceleration.
        a: classical acceleration of its origin.
        U: the acceleration of the point p is a + U p.
    """

    __slots__ = ("U", "X_PB", "a", "w", "wd")

    def __init__(self, X_PB: Steps, w: Vector, wd: Vector, a: Vector):
        self.X_PB = X_PB
        self.w, self.wd, self.a = w, wd, a
        xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
        xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
        self.U = Matrix3(
            (
                -(yy + zz), xy - wd.z, xz + wd.y,
                xy + wd.z, -(xx + zz), yz - wd.x,
                xz - wd.y, yz + wd.x, -(xx + yy),
            )
        )  # fmt: skip


def link_motions(mechanism: Mechanism, q: Scalars, v: Scalars, vd: Scalars, a_world: Vector) -> list[LinkMotion]:
    """Motion of every link, outward from a world whose origin accelerates with ``a_world``."""
    still = Steps(Transform.identity(), Transform.identity())
    world = LinkMotion(still, Vector.zero(), Vector.zero(), a_world)
    motions: list[LinkMotion] = []
    for link in mechanism.links:
        parent = world if link.parent < 0 else motions[link.parent]
        X_PB = link.transform(q)
        vJ, aJ = link.kind.motion(link.rate(v)), link.kind.motion(link.rate(vd))
        p_PB = link.placement.transform_point(X_PB.then.p)
        w_P = X_PB.rotate_back(parent.w)
        w = w_P + vJ.angular
        wd = X_PB.rotate_back(parent.wd) + aJ.angular + w_P.cross(vJ.angular)
        # the parent's point where the origin is, then the joint's own motion with its Coriolis part
        a = X_PB.rotate_back(parent.a + parent.U @ p_PB) + aJ.linear + (w_P + w).cross(vJ.linear)
        motions.append(LinkMotion(X_PB, w, wd, a))
    return motions


def force_of_motion(link: Link, motion: LinkMotion) -> Force:
    """Force and moment about the origin that the link's inertia asks for."""
    return inertial_force(link.inertia, motion)


def inertial_force(inertia: Inertia, motion: LinkMotion) -> Force:
    """Force and moment about the origin that an inertia asks for, in the frame of a link that moves so.

    The integrals of a + U p and of p x (a + U p) over the mass: with h the first and S the second
    moment of mass, f = m a + U h, and n = h x a + axial(U S - (U S)^T).
    """
    U, a = motion.U, motion.a
    S = inertia.second_moment()
    rows = [U.row(r) for r in range(3)]
    columns = [Vector(S.entry(0, c), S.entry(1, c), S.entry(2, c)) for c in range(3)]
    n = Vector(
        rows[2].dot(columns[1]) - rows[1].dot(columns[2]),
        rows[0].dot(columns[2]) - rows[2].dot(columns[0]),
        rows[1].dot(columns[0]) - rows[0].dot(columns[1]),
    )
    return Force(a * inertia.mass + U @ inertia.h, n + inertia.h.cross(a))


REFERENCES = ("world", "local", "local_world_aligned")
KINDS = ("classical", "spatial")


@robot_function
def frame_pose(robot: Robot, q: Scalars, frame: str) -> list[list[Scalar]]:
    """The pose of a frame in the world: X_WF = X_W1 X_12 ... X_BF, 4 x 4 homogeneous [m].

    Args:
        q: configuration, nq [rad or m].
        frame: name of a frame, body or joint (which means its child body's frame).
    """
    i, X_BF = robot.mechanism.frame(frame)
    return _frame_in_world(path_poses(path_to(robot.mechanism, i), q), X_BF).homogeneous()


@robot_function
def frame_velocity(
    robot: Robot, q: Scalars, v: Scalars, frame: str, *, reference: str = "local_world_aligned"
) -> list[Scalar]:
    """The velocity of a frame: linear, then angular, 6 [m/s, rad/s].

    V_B = X_BP V_P + S v from link to link, in the links' own frames [Featherstone 2008, 5.3].

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
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
    robot: Robot, q: Scalars, v: Scalars, vd: Scalars, frame: str, *, reference: str = "local_world_aligned",
    kind: str = "classical",
) -> list[Scalar]:  # fmt: skip
    """The acceleration of a frame: linear, then angular, 6 [m/s^2, rad/s^2]. Gravity is not part of it.

    The classical one is that of the body's point, d^2 p / dt^2; the spatial one is a - w x v [Featherstone
    2008, 2.11]. Rates of `frame_velocity` are the classical one in "local_world_aligned", the spatial
    one in "world" and "local".

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
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


def link_poses(mechanism: Mechanism, q: Scalars, *, about_root: bool = False) -> list[Transform]:
    """X_WB of every link; with ``about_root``, X_AB as in `path_poses` (if all hang on one link)."""
    return path_poses(mechanism.links, q, about_root=about_root and len(mechanism.roots) == 1)


def root_origin(mechanism: Mechanism, q: Scalars) -> Vector:
    """The origin of frame A of `link_poses` with ``about_root`` in the world: the root link's, if there is just one."""
    if len(mechanism.roots) != 1:
        return Vector.zero()
    X = mechanism.links[mechanism.roots[0]].transform(q)
    return (X.first @ X.then).p


def link_velocities(mechanism: Mechanism, q: Scalars, v: Scalars) -> list[Motion]:
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


def path_poses(path: Sequence[Link], q: Scalars, *, about_root: bool = False) -> list[Transform]:
    """X_WB of the links of a path from the world, or of a tree.

    With ``about_root``, they are X_AB, where A has the world's axes and the origin of the first link. For
    what depends on differences of places only, that of a floating base is then out of the formulas, and
    of their rounding when the robot has walked far.
    """
    poses: dict[int, Transform] = {}
    for link in path:
        X = link.transform(q)
        if link.parent >= 0:
            poses[link.index] = X.onto(poses[link.parent])
        else:
            X_WB = X.first @ X.then
            poses[link.index] = Transform(X_WB.R, Vector.zero()) if about_root else X_WB
    return list(poses.values())


def _frame_in_world(poses: list[Transform], X_BF: Transform) -> Transform:
    """X_WF of a frame on the last link of a path, or on the world."""
    return poses[-1] @ X_BF if poses else X_BF


def _path_velocity(path: list[Link], q: Scalars, v: Scalars, X_BF: Transform) -> Motion:
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


@robot_function
def frame_jacobian(
    robot: Robot, q: Scalars, frame: str, *, reference: str = "local_world_aligned"
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
    robot: Robot, q: Scalars, v: Scalars, frame: str, *, reference: str = "local_world_aligned"
) -> list[list[Scalar]]:
    """The time derivative Jdot of `frame_jacobian` at velocity v, 6 x nv.

    S is constant in its link B, so that its column turns with B: d/dt (X_AB S) = (V_B - V_A) x X_AB S,
    where V_A is the reference's own velocity [Featherstone 2008, 2.10]: V_F for "local", only the
    linear part of it for "local_world_aligned", none for "world". Where links between B and F are
    all that make the difference, only they are summed.

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
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


def _path_columns(mechanism: Mechanism, q: Scalars, frame: str, reference: str) -> list[tuple[Link, list[Motion]]]:
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


def _local_columns(path: list[Link], q: Scalars, X_BF: Transform) -> list[tuple[Link, list[Motion]]]:
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
