"""Where ellipsoids and rims touch the ground, and how that place moves on as they roll.

A ball of radius r about the farthest point, C = c + s(-n), of a shape about c, touches at p = C - r n, where n is the
normal of the ground at p: on a plane at once, on curved ground by Newton's method for the place. Of ground with faces,
n is the normal of the face where it is nearest to c; with other edges, that below c unless it is steep.

As the link turns with w, the point of the shape that touches is another one at each time. In the link's axes -n turns
with w x n - dn/dt, so that p moves along the shape with

    H (w x n - dn/dt),    H = r 1 + Hessian of the support function

The velocity u of the link's point at p therefore changes, also if the link goes on as it does, by

    roll = a_p + w x H (w x n - dn/dt)

with a_p the acceleration of that point, and the gap, whose rate is n . u, by bend = n . roll + u . dn/dt. A step that
foresees half of both keeps a disc rolling without loss of energy.
"""

from pliant.contact.ground import Ground
from pliant.contact.ground_faces import FAR
from pliant.dynamics.kinematics import LinkMotion
from pliant.robot.round_shapes import Support
from pliant.scalar import Scalar, maximum, minimum, select
from pliant.spatial import Transform, Vector

# of Newton's method for the place, quadratic from the place below the center
_ITERATIONS = 4

# the least determinant of its matrix: in a hollow that is narrower than the shape, it goes part of the way
_NARROW = 0.1

# ground with edges whose normal is less upright than this is a riser
_STEEP = 0.5

# the bend of a gap grows by this factor from step to step at most, if it is larger than gravity [m/s^2]: a rim that
# falls flat turns faster than any step can follow, and would gain energy
_CHANGE = 1.1
_ACCELERATION = 10


def face_count(ground: Ground, radius: Scalar, support: Support) -> int:
    """How many faces of the ground a point looks for: those of a ball around the shape; at the sides of a rim, one."""
    return 1 if support.turn else ground.touch_count(radius + support.reach)


def lowest(
    ground: Ground, center: Vector, X: Transform, radius: Scalar, support: Support, face: int = 0
) -> tuple[Scalar, Vector, Vector]:
    """The gap of one point of a shape with a ball around it, the normal there, and its place in the world.

    Args:
        center: of the shape, in the world [m].
        X: pose of the link.
        radius: of the ball [m].
        support: the shape, in the frame of the link.
        face: of the ground, of those that it has for the shape (`face_count`).
    """
    normal, away = ground.surface(center.x, center.y)[1], 0
    if ground.is_curved:
        normal = _normal_at_the_lowest(ground, center, X, radius, support, normal)
    elif face_count(ground, radius, support) > 1:
        # towards where a ball that holds the shape is nearest to the face, if that is there
        touch = ground.touches(center, radius + support.reach)[face]
        normal, away = touch.normal, select(touch.gap > FAR / 2, FAR, 0)
    elif ground.has_edges:
        # on a riser below the center the shape does not stand
        is_steep, up = normal.z < _STEEP, Vector(0, 0, 1)
        normal = Vector(*(select(is_steep, a, b) for a, b in zip(up, normal, strict=True)))
    C = center + X.R.rotate(support.arm(-X.R.rotate_back(normal)))
    gap, normal = ground.ball(C, radius)
    return gap + away, normal, C - normal * radius


def _normal_at_the_lowest(
    ground: Ground, center: Vector, X: Transform, radius: Scalar, support: Support, normal: Vector
) -> Vector:
    """Newton's method for x = p(n(x)) in x and y, with p(n) = c + s(-n) - r n."""
    farthest, reach = Support(support.axes, support.sizes), support.reach + radius
    place = center + X.R.rotate(farthest.arm(-X.R.rotate_back(normal))) - normal * radius
    x, y = place.x, place.y
    for _ in range(_ITERATIONS):
        normal, by_x, by_y = ground.turns(x, y)
        d = -X.R.rotate_back(normal)
        place = center + X.R.rotate(farthest.arm(d)) - normal * radius
        x_change, y_change = _solved(X, d, radius, farthest, (by_x, by_y), place.x - x, place.y - y)
        # it is below the shape
        x, y = _between(x + x_change, center.x, reach), _between(y + y_change, center.y, reach)
    return ground.surface(x, y)[1]


def _between(x: Scalar, center: Scalar, reach: Scalar) -> Scalar:
    return minimum(maximum(x, center - reach), center + reach)


def _solved(
    X: Transform, d: Vector, radius: Scalar, support: Support, turns: tuple[Vector, Vector], x: Scalar, y: Scalar
) -> tuple[Scalar, Scalar]:
    """(1 + H S)^-1 (x, y), with S the change of the normal with the place."""
    by_x, by_y = (_hessian(X, d, radius, support, turn) for turn in turns)
    a, b, c, e = 1 + by_x.x, by_y.x, by_x.y, 1 + by_y.y
    share = 1 / maximum(a * e - b * c, _NARROW)
    return (e * x - b * y) * share, (a * y - c * x) * share


def _hessian(X: Transform, d: Vector, radius: Scalar, support: Support, change: Vector) -> Vector:
    """H change, in the world's axes."""
    return X.R.rotate(support.arm_change(d, X.R.rotate_back(change))) + change * radius


def rolling(
    ground: Ground, at: tuple[Scalar, Scalar], X: Transform, p: Vector, u: Vector, motion: LinkMotion, normal: Vector,
    radius: Scalar, support: Support, dt: Scalar,
) -> tuple[Scalar, Vector]:  # fmt: skip
    """The accelerations ``bend`` and ``roll`` of a touch, see the module.

    Args:
        at: x and y of the place in the world [m].
        p: the place in the frame of the link [m].
        u: velocity of the link's point there, in the world's axes.
        motion: of the link if nothing acts on it.
        dt: length of the step [s].
    """
    n = X.R.rotate_back(normal)
    spin = motion.w.cross(n)
    n_rate = Vector.zero()
    if ground.is_curved:
        # the place goes on with u + H (w x n - dn/dt)
        _, by_x, by_y = ground.turns(*at)
        going = u + X.R.rotate(support.arm_change(-n, spin, dt) + spin * radius)
        x, y = _solved(X, -n, radius, support, (by_x, by_y), going.x, going.y)
        n_rate = X.R.rotate_back(by_x * x + by_y * y)
    turn = spin - n_rate
    along = support.arm_change(-n, turn, dt)
    a_p = motion.a + motion.U @ p
    bend = n.dot(a_p) - support.sag(-n, turn, dt) - n_rate.dot(along) - radius * spin.dot(turn)
    bend = bend + n_rate.dot(X.R.rotate_back(u))
    # what approaches is sent back no faster than it came, but for what changes from step to step
    most = _CHANGE * maximum(-normal.dot(u), 0) * (2 / dt) + _ACCELERATION
    bend = maximum(bend, -most)
    return bend, X.R.rotate(a_p + motion.w.cross(along + turn * radius))
