"""Contact by springs that are anchored where a point touched down: f = K (p0 - p) - D p', slipping at the cone.

Along the normal it is `SpringDamper`. Across it, a spring and a damper hold the point to its anchor p0, which is where
it touched the ground: with the stretch s = p - p0 along the tangents,

    f = -(K s + D s') cut back to mu N,       |K s| <= mu N

Where a point slides, it drags its anchor along, so that the spring is never stretched beyond the cone: a spring and a
slider in a row [Cundall and Strack 1979]. A point that lifts off forgets its anchor. A ball that rolls stretches
the spring by what its surface slips.

In a step that ends with the velocity u, N and s are those at its end, and the impulse obeys Coulomb's law with a
compliance: with c = dt (dt K + D) for each direction,

    u_n + p_n / c_n - dt K_n depth / c_n >= 0,    p_n >= 0,    one of them zero
    |p_t| <= mu p_n,    p_t against  u_t + p_t / c_t + dt K_t s / c_t  where that is not zero

so `pliant.contact.coulomb.impulse_at` solves it, with G + 1/c in place of G.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.checks import check_at_least
from pliant.contact.coulomb import impulse_at, inverse_of
from pliant.scalar import Scalar, Scalars, both, maximum, select, sqrt
from pliant.signatures import explained
from pliant.spatial import Symmetric3, Vector

Pair = tuple[Scalar, Scalar]


def cut_back(vector: Pair, length: Scalar) -> Pair:
    """The vector, or the one along it of this length if it is longer."""
    square = vector[0] * vector[0] + vector[1] * vector[1]
    share = select(square > length * length, length / sqrt(maximum(square, 1e-30)), 1)
    return vector[0] * share, vector[1] * share


@explained
@dataclass(frozen=True)
class AnchoredSpringDamper:
    """Springs and dampers in all directions, anchored where the point touched down, with Coulomb's friction.

    N = max(0, stiffness depth + damping rate) for depth > 0, otherwise 0. Friction is -(K s + D s'), cut back to mu N,
    with s the way of the point since touch-down, less what it has slid. A point at rest stays at rest.

    Attributes:
        stiffness: of the ground under one point, along the normal [N/m].
        damping: of the same [N s/m].
        friction: coefficient of friction mu.
        tangential_stiffness, tangential_damping: K and D along the ground; None for those along the normal.
    """

    stiffness: Scalar
    damping: Scalar
    friction: Scalar = 0.7
    tangential_stiffness: Scalar | None = None
    tangential_damping: Scalar | None = None

    memory: ClassVar[tuple[Any, ...]] = ((0, 0),)

    def __post_init__(self):
        owner = type(self).__name__
        for name in ("stiffness", "damping", "friction", "tangential_stiffness", "tangential_damping"):
            value = getattr(self, name)
            if value is not None:
                check_at_least(name, value, 0, strict="stiffness" in name, subject=owner)

    @property
    def tangential(self) -> Pair:
        """K and D along the ground."""
        K, D = self.tangential_stiffness, self.tangential_damping
        return self.stiffness if K is None else K, self.damping if D is None else D

    def normal(self, depth: Scalar, rate: Scalar) -> Scalar:
        """Normal force [N]."""
        return select(depth > 0, maximum(self.stiffness * depth + self.damping * rate, 0), 0)

    def __call__(
        self, depth: Scalar, rate: Scalar, slip: Pair, memory: Sequence[Any]
    ) -> tuple[Scalar, Pair, Sequence[Any]]:
        """Normal force and friction [N], and the rate of the stretch [m/s]."""
        (stretch,), (K, D) = memory, self.tangential
        normal = self.normal(depth, rate)
        pull = -K * stretch[0] - D * slip[0], -K * stretch[1] - D * slip[1]
        return normal, cut_back(pull, self.friction * normal), [slip]

    def settled(self, depth: Scalar, rate: Scalar, slip: Pair, memory: Sequence[Any]) -> Sequence[Any]:
        """The stretch after the anchor has been dragged to the cone [m]."""
        (stretch,) = memory
        return [cut_back(stretch, self.friction * self.normal(depth, rate) / self.tangential[0])]

    def impulse(
        self, gap: Scalar, u: Vector, p: Vector, G: Symmetric3, memory: Scalars, dt: Scalar, relaxation: Scalar,
        precision: str,
    ) -> Vector:  # fmt: skip
        """The impulse of a contact that obeys the law at the end of a step, all others as they are.

        Args:
            gap: at the start of the step [m].
            u: velocity with the impulse p so far [m/s].
            G: how u answers to p.
            memory: stretch at the start.
            relaxation: see `pliant.contact.coulomb.impulse_at`.
        """
        K, D = self.tangential
        across, along = 1 / (dt * (dt * K + D)), 1 / (dt * (dt * self.stiffness + self.damping))
        target = -dt * self.stiffness * gap * along
        # at touch-down the damper sets in at once. If that were more than it takes to stop at the surface, there the
        # point stops
        before = u.z - G.zz * p.z
        stop = -gap - dt * before
        is_stopped = both(gap > 0, stop < dt * self.damping * gap * G.zz)
        along, target = select(is_stopped, 0, along), select(is_stopped, -gap / dt, target)
        pulls = dt * K * across
        off = Vector(u.x + across * p.x + pulls * memory[0], u.y + across * p.y + pulls * memory[1], 0)
        off = Vector(off.x, off.y, u.z + along * p.z - target)
        soft = Symmetric3(G.xx + across, G.xy, G.xz, G.yy + across, G.yz, G.zz + along)
        return impulse_at(off, p, soft, inverse_of(soft, precision), self.friction, relaxation)
