"""Where robots touch: gaps, normals and places of contacts, in groups that move together.

A group is the points of one link that can meet the ground, or a pair of shapes of the robot. On ground with edges a
ball may touch several faces at once: each has a group of its own, and its contacts have the names of the balls. The
solver skips a group as long as no robot at hand has it near. Places are in the frame A of the poses,
which has the world's axes and its origin at ``origin``.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from pliant.checks import is_zero
from pliant.contact.constraint_rows import support_of
from pliant.contact.ground import Ground
from pliant.contact.round_touching import face_count, lowest, rolling
from pliant.dynamics.kinematics import LinkMotion
from pliant.robot import Mechanism, Robot
from pliant.robot.contacts import ContactPoint, ContactShape
from pliant.robot.round_shapes import Support
from pliant.scalar import Scalar, Scalars, is_constant, maximum, minimum, select, sqrt
from pliant.spatial import Motion, Transform, Vector


@dataclass(frozen=True)
class Touch:
    """One possible contact.

    Attributes:
        gap: distance, negative for a penetration [m].
        normal: unit vector away from what is touched.
        p: where it touches, or would.
        bend: acceleration of the gap by the curvature of ground and shape, if velocities were given [m/s^2].
        roll: acceleration of the velocity of an ellipsoid or a rim at p, which moves on along it [m/s^2].
    """

    gap: Scalar
    normal: Vector
    p: Vector
    bend: Scalar = 0
    roll: Vector = field(default_factory=Vector.zero)


@dataclass(frozen=True)
class Drift:
    """How links go on if nothing acts on them: what ellipsoids and rims need to know of the step.

    Attributes:
        motions: of the links, each in its own frame.
        dt: length of the step [s].
    """

    motions: Sequence[LinkMotion]
    dt: Scalar


@dataclass(frozen=True)
class Group(ABC):
    """Contacts of the same links.

    Attributes:
        names: of the contacts; several have one name where a ball touches several faces of the ground.
        a, b: the link that touches, and the one that is touched, -1 for the ground.
        support: the dofs that matter to them.
        levers: for each dof, a bound of the speed at unit rate [m or 1].
        friction, restitution: one for each contact.
        torsion, rolling: likewise; 0 for none [m].
    """

    names: tuple[str, ...]
    a: int
    b: int
    support: tuple[int, ...]
    levers: dict[int, float]
    friction: tuple[Scalar, ...]
    restitution: tuple[Scalar, ...]
    torsion: tuple[Scalar, ...]
    rolling: tuple[Scalar, ...]

    @abstractmethod
    def touches(
        self, poses: Sequence[Transform], origin: Vector, ground: Ground | None,
        velocities: Sequence[Motion] | None = None, drift: Drift | None = None,
    ) -> list[Touch]:  # fmt: skip
        """Where the contacts are; with the velocities of the links, each in its own frame, also how gaps bend.

        Args:
            drift: for the bend of ellipsoids and rims.
        """

    @property
    def is_elastic(self) -> bool:
        """Whether a contact of the group may have restitution."""
        return any(not (is_constant(e) and e == 0) for e in self.restitution)

    @property
    def rolls(self) -> tuple[bool, ...]:
        """Whether the place of a contact moves over the body, one for each contact."""
        return (True,) * len(self.names)

    @property
    def turning(self) -> tuple[int, ...]:
        """The contacts with torsional or rolling friction."""
        return tuple(k for k, both in enumerate(zip(self.torsion, self.rolling, strict=True)) if not is_zero(*both))

    @property
    def size(self) -> int:
        """How many impulses the group has: three for each contact, and three moments for each that has them."""
        return 3 * (len(self.names) + len(self.turning))

    def velocity(self, touch: Touch, poses: Sequence[Transform], velocities: Sequence[Motion]) -> Vector:
        """Velocity of a contact: of the point of link a as seen from link b, in the axes of the poses [m/s].

        Args:
            velocities: of the links, each in its own frame.
        """
        a, b = (_point_velocity(poses, velocities, i, touch.p) for i in (self.a, self.b))
        return a - b


def _point_velocity(poses: Sequence[Transform], velocities: Sequence[Motion], i: int, p: Vector) -> Vector:
    """Velocity of the point of link i that is at p; the world's is zero."""
    if i < 0:
        return Vector.zero()
    X, V = poses[i], velocities[i]
    return X.R.rotate(V.linear) + X.R.rotate(V.angular).cross(p - X.p)


@dataclass(frozen=True)
class GroundGroup(Group):
    """Points of a link, each with a ball around it, above the ground; some move about a center, as of rims.

    Attributes:
        centers, radii: of the balls.
        supports: of those that move about their center.
        face: which of the `Ground.touches` of each ball.
    """

    centers: tuple[Vector, ...] = ()
    radii: tuple[Scalar, ...] = ()
    supports: tuple[Support | None, ...] = ()
    face: int = 0

    @property
    def rolls(self) -> tuple[bool, ...]:
        """Balls and what moves about a center do, points do not."""
        return tuple(not is_zero(r) or s is not None for r, s in zip(self.radii, self.supports, strict=True))

    def touches(
        self, poses: Sequence[Transform], origin: Vector, ground: Ground | None,
        velocities: Sequence[Motion] | None = None, drift: Drift | None = None,
    ) -> list[Touch]:  # fmt: skip
        """The distance of each ball from the ground."""
        assert ground is not None  # or there would be no such group
        found = []
        for center, radius, support in zip(self.centers, self.radii, self.supports, strict=True):
            if support is not None:
                found.append(self._round_touch(center, radius, support, poses, origin, ground, velocities, drift))
                continue
            c = poses[self.a].transform_point(center)
            velocity = None if velocities is None else _point_velocity(poses, velocities, self.a, c)
            gap, normal, bend = ground.touches(c + origin, radius, velocity)[self.face]
            found.append(Touch(gap, normal, c - normal * radius, bend))
        return found

    def _round_touch(
        self, center: Vector, radius: Scalar, support: Support, poses, origin: Vector, ground: Ground, velocities,
        drift: Drift | None,
    ) -> Touch:  # fmt: skip
        X = poses[self.a]
        c = X.transform_point(center)
        gap, normal, place = lowest(ground, c + origin, X, radius, support, self.face)
        p = place - origin
        if drift is None:
            return Touch(gap, normal, p)
        u = _point_velocity(poses, velocities, self.a, p)
        motion, at = drift.motions[self.a], (place.x, place.y)
        bend, roll = rolling(ground, at, X, X.R.rotate_back(p - X.p), u, motion, normal, radius, support, drift.dt)
        return Touch(gap, normal, p, bend, roll)


@dataclass(frozen=True)
class PairGroup(Group):
    """Two spheres or capsules of the robot: the nearest points of their segments."""

    ends_a: tuple[Vector, ...] = ()
    ends_b: tuple[Vector, ...] = ()
    radius_a: Scalar = 0
    radius_b: Scalar = 0

    def touches(
        self, poses: Sequence[Transform], origin: Vector, ground: Ground | None,
        velocities: Sequence[Motion] | None = None, drift: Drift | None = None,
    ) -> list[Touch]:  # fmt: skip
        a = [poses[self.a].transform_point(e) for e in self.ends_a]
        b = (
            [poses[self.b].transform_point(e) for e in self.ends_b]
            if self.b >= 0
            else [e - origin for e in self.ends_b]
        )
        p_a, p_b = _nearest(a, b)
        apart = p_a - p_b
        distance = sqrt(apart.dot(apart) + 1e-24)
        normal = apart * (1 / distance)
        gap = distance - self.radius_a - self.radius_b
        return [Touch(gap, normal, p_b + normal * (self.radius_b + gap / 2))]


def _nearest(a: Sequence[Vector], b: Sequence[Vector]) -> tuple[Vector, Vector]:
    """The nearest points of two segments or points [Ericson 2005, 5.1.9]."""
    da = a[-1] - a[0] if len(a) > 1 else Vector.zero()
    db = b[-1] - b[0] if len(b) > 1 else Vector.zero()
    r = a[0] - b[0]
    aa, bb, ab = da.dot(da), db.dot(db), da.dot(db)
    ar, br = da.dot(r), db.dot(r)
    s: Scalar = 0
    t: Scalar = 0
    if len(a) > 1 and len(b) > 1:
        det = aa * bb - ab * ab
        parallel = det <= 1e-12 * aa * bb
        s = select(parallel, 1, _within((ab * br - ar * bb) / select(parallel, 1, det)))
        s = select(parallel, s / 2, s)  # any point will do; the middle is the steadiest
        t = _within((ab * s + br) / bb)
        s = _within((ab * t - ar) / aa)
    elif len(a) > 1:
        s = _within(-ar / aa)
    elif len(b) > 1:
        t = _within(br / bb)
    return a[0] + da * s, b[0] + db * t


def _within(x: Scalar) -> Scalar:
    return minimum(1, maximum(0, x))


def contact_groups(robot: Robot, ground: Ground | None, friction: Scalar, restitution: Scalar) -> list[Group]:
    """All groups of a robot; what a contact or the ground does not state is as given here.

    Without a ground there are the pairs only.
    """
    mechanism = robot.mechanism
    by_link: dict[int, list[ContactPoint]] = {}
    for point in robot.contact_points if ground is not None else ():
        i, _ = mechanism.body(point.body)
        if i >= 0:
            by_link.setdefault(i, []).append(point)
    groups: list[Group] = [
        _ground_group(mechanism, i, touching, face, ground, friction, restitution)
        for i, points in by_link.items()
        if ground is not None
        for face, touching in enumerate(_by_face(ground, points))
    ]
    for names in robot.contact_pairs:
        a, b = (robot.contacts[n] for n in names)
        groups.append(_pair_group(mechanism, a, b, friction, restitution))
    return groups


def _by_face(ground: Ground, points: Sequence[ContactPoint]) -> list[list[ContactPoint]]:
    """For each face that a ball may touch, the points that have as many."""
    counts = [face_count(ground, p.radius, p.support) if p.support else ground.touch_count(p.radius) for p in points]
    return [[p for p, n in zip(points, counts, strict=True) if n > face] for face in range(max(counts))]


def _ground_group(
    mechanism: Mechanism, i: int, points: Sequence[ContactPoint], face: int, ground: Ground, friction: Scalar,
    restitution: Scalar,
) -> GroundGroup:  # fmt: skip
    centers = [mechanism.body(p.body)[1].transform_point(p.center) for p in points]
    return GroundGroup(
        names=tuple(p.name for p in points),
        a=i,
        b=-1,
        support=support_of(mechanism, [i]),
        levers=_levers(mechanism, i, centers, [p.support.reach for p in points if p.support is not None]),
        friction=tuple(_first(p.friction, ground.friction, friction) for p in points),
        restitution=tuple(_first(p.restitution, ground.restitution, restitution) for p in points),
        torsion=tuple(_first(p.torsion, 0) for p in points),
        rolling=tuple(_first(p.rolling, 0) for p in points),
        centers=tuple(centers),
        radii=tuple(p.radius for p in points),
        supports=tuple(p.support and p.support.moved(mechanism.body(p.body)[1]) for p in points),
        face=face,
    )


def _pair_group(mechanism, a: ContactShape, b: ContactShape, friction: Scalar, restitution: Scalar) -> PairGroup:
    (i, X_a), (j, X_b) = mechanism.body(a.body), mechanism.body(b.body)
    if i < 0:
        a, b, i, j, X_a, X_b = b, a, j, i, X_b, X_a
    ends_a = tuple(X_a.transform_point(c) for c in a.centers)
    ends_b = tuple(X_b.transform_point(c) for c in b.centers)
    levers = _levers(mechanism, i, ends_a)
    for d, lever in _levers(mechanism, j, ends_b).items():
        levers[d] = levers.get(d, 0) + lever
    return PairGroup(
        names=(f"{a.name}|{b.name}",),
        a=i,
        b=j,
        support=support_of(mechanism, [i, j]),
        levers=levers,
        friction=(_first(a.friction, b.friction, friction),),
        restitution=(_first(a.restitution, b.restitution, restitution),),
        torsion=(_first(a.torsion, b.torsion, 0),),
        rolling=(_first(a.rolling, b.rolling, 0),),
        ends_a=ends_a,
        ends_b=ends_b,
        radius_a=a.radius,
        radius_b=b.radius,
    )


def _first(*values: Scalar) -> Scalar:
    return next(x for x in values if x is not None)


def _levers(mechanism: Mechanism, i: int, centers: Sequence[Vector], arms: Scalars = ()) -> dict[int, float]:
    """How fast a point of the link can be at most, for each dof at unit rate: the sum of all lengths on the way."""
    levers: dict[int, float] = {}
    reach = max((_length(c) for c in centers), default=0.0) + max(map(_size, arms), default=0.0)
    for j in (i, *mechanism.ancestors(i)) if i >= 0 else ():
        link = mechanism.links[j]
        for d, S in zip(link.dofs, link.kind.columns, strict=True):
            lever = _length(S.linear) + _length(S.angular) * reach
            levers[d] = levers.get(d, 0) + lever * (abs(link.ratio) if is_constant(link.ratio) else 1)
        slides = any(_length(S.linear) > 0 for S in link.kind.columns) and link.parent >= 0
        reach += _length(link.placement.p) + (1.0 if slides else 0.0)
    return levers


def _length(p: Vector) -> float:
    return sum(_size(x) ** 2 for x in p) ** 0.5


def _size(x: Scalar) -> float:
    return float(x) if is_constant(x) else 1.0
