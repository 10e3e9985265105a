"""The outward pass that Newton-Euler shares with kinematics: how every link moves.

Accelerations are classical: those of the link's origin as an observer in the world sees it. The
matrix U = wd~ + w~ w~ (x~ the cross product with x) gives every other point of the link: the point
at p accelerates with a + U p. It serves the link's own mass and the origins of its children, which
makes this the cheapest form of the recursion known [Balafoutis and Patel 1991, ch. 5].
"""

from collections.abc import Sequence
from typing import Any

from pliant.robot import Link, Mechanism
from pliant.spatial import Force, Matrix3, Steps, Transform, Vector

__all__ = ["LinkMotion", "force_of_motion", "link_motions"]

Scalar = Any


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
        self.w = w
        self.wd = wd
        self.a = a
        xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
        xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
        self.U = Matrix3(
            (
                -(yy + zz), xy - wd.z, xz + wd.y,
                xy + wd.z, -(xx + zz), yz - wd.x,
                xz - wd.y, yz + wd.x, -(xx + yy),
            )
        )  # fmt: skip


def link_motions(
    mechanism: Mechanism, q: Sequence[Scalar], v: Sequence[Scalar], vd: Sequence[Scalar], a_world: Vector
) -> list[LinkMotion]:
    """Motion of every link, outward from a world whose origin accelerates with ``a_world``."""
    still = Steps(Transform.identity(), Transform.identity())
    world = LinkMotion(still, Vector.zero(), Vector.zero(), a_world)
    motions: list[LinkMotion] = []
    for link in mechanism.links:
        parent = world if link.parent < 0 else motions[link.parent]
        motions.append(_carried(link, parent, q, v, vd))
    return motions


def _carried(link: Link, parent: LinkMotion, q, v, vd) -> LinkMotion:
    X_PB = link.transform(q)
    vJ, aJ = link.kind.motion(link.rate(v)), link.kind.motion(link.rate(vd))
    p_PB = link.placement.transform_point(X_PB.then.p)
    w_P = X_PB.rotate_back(parent.w)
    w = w_P + vJ.angular
    wd = X_PB.rotate_back(parent.wd) + aJ.angular + w_P.cross(vJ.angular)
    # the parent's point where the origin is, then the joint's own motion with its Coriolis part
    a = X_PB.rotate_back(parent.a + parent.U @ p_PB) + aJ.linear + (w_P + w).cross(vJ.linear)
    return LinkMotion(X_PB, w, wd, a)


def force_of_motion(link: Link, motion: LinkMotion) -> Force:
    """Force and moment about the origin that the link's inertia asks for.

    The integrals of a + U p and of p x (a + U p) over the mass: with h the first and S the second
    moment of mass, f = m a + U h, and n = h x a + axial(U S - (U S)^T).
    """
    inertia, U, a = link.inertia, motion.U, motion.a
    S = inertia.second_moment()
    rows = [U.row(r) for r in range(3)]
    columns = [Vector(S.entry(0, c), S.entry(1, c), S.entry(2, c)) for c in range(3)]
    n = Vector(
        rows[2].dot(columns[1]) - rows[1].dot(columns[2]),
        rows[0].dot(columns[2]) - rows[2].dot(columns[0]),
        rows[1].dot(columns[0]) - rows[0].dot(columns[1]),
    )
    return Force(a * inertia.mass + U @ inertia.h, n + inertia.h.cross(a))
