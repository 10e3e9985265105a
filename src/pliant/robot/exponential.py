"""Exponential and logarithm of turns and poses, any scalar, smooth at zero and right up to pi.

Near zero a power series takes over, by `select`; the closed form is then fed a harmless argument,
so that derivatives of every order stay finite. Quaternions are (x, y, z, w). Formulas: Sola, Deray,
Atchuthan, "A micro Lie theory for state estimation in robotics", 2018, appendices B and D.
"""

from pliant.scalar import Scalar, atan2, cos, select, sin, sqrt
from pliant.spatial import Vector

_HALF = 1 / 2
# Taylor's coefficients of (1 - t/2 cot(t/2)) / t^2 in powers of t^2, up to the term below 1e-16 at t^2 = 0.1
_THIRD = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600,
          3617 / 10670622842880000)  # fmt: skip
Quaternion = tuple[Scalar, Scalar, Scalar, Scalar]


def turn_exponential(w: Vector) -> Quaternion:
    """The unit quaternion of the turn by |w| about w [rad]."""
    k, c, _ = _half_turn(w.dot(w))
    return w.x * k, w.y * k, w.z * k, c


def turn_logarithm(quaternion: Quaternion) -> Vector:
    """The rotation vector of a unit quaternion, of length at most pi [rad]."""
    w, _ = _turn_logarithm(quaternion)
    return w


def pose_exponential(v: Vector, w: Vector) -> tuple[Vector, Quaternion]:
    """Position and quaternion reached by the constant body velocity (v, w) in unit time.

    p = v + (1 - cos t) / t^2 w x v + (t - sin t) / t^3 w x (w x v), with t = |w|.
    """
    k, c, third = _half_turn(w.dot(w))
    wv = w.cross(v)
    # of the two quaternions of a turn, the one nearer to no turn, as Pinocchio has it for poses
    sign = select(c < 0, -1, 1)
    quaternion = w.x * k * sign, w.y * k * sign, w.z * k * sign, c * sign
    return v + wv * (2 * k * k) + w.cross(wv) * third, quaternion


def pose_logarithm(p: Vector, quaternion: Quaternion) -> tuple[Vector, Vector]:
    """The constant body velocity (v, w) that reaches position and quaternion in unit time.

    v = p - 1/2 w x p + (1 - t/2 cot(t/2)) / t^2 w x (w x p), with t = |w|.
    """
    w, third = _turn_logarithm(quaternion)
    half = Vector(*(e / 2 for e in w))
    return p - half.cross(p) + w.cross(w.cross(p)) * third, w


def pose_rate(x: Vector, w: Vector, v: Vector, u: Vector) -> tuple[Vector, Vector]:
    """Rate of the chart (x, w) for which `pose_exponential` of it moves with the body velocity (v, u).

    It is the inverse of the right Jacobian: for turns, with t = |w| and c(t^2) = (1 - t/2 cot(t/2)) / t^2,

        w' = u + 1/2 w x u + c w x (w x u)        (the series of Bernoulli numbers of ad_w, summed)

    A pose is a turn of dual numbers, w + e x with e^2 = 0, so x' is the part of e in the same formula.
    Right for t < 2 pi, where the chart ends.
    """
    c, c_slope = _third(w.dot(w))
    wu, xu, wv = w.cross(u), x.cross(u), w.cross(v)
    wwu = w.cross(wu)
    turned = u + wu * _HALF + wwu * c
    moved = v + (xu + wv) * _HALF + (x.cross(wu) + w.cross(xu) + w.cross(wv)) * c
    return moved + wwu * (2 * c_slope * x.dot(w)), turned


def planar_exponential(x: Scalar, y: Scalar, w: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """(x, y, cos, sin) reached by the constant body velocity (x, y, w) in unit time."""
    k, c, _ = _half_turn(w * w)
    along, across = 2 * k * c, 2 * k * k * w
    return along * x - across * y, across * x + along * y, cos(w), sin(w)


def planar_logarithm(x: Scalar, y: Scalar, c: Scalar, s: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The constant body velocity that reaches (x, y, cos, sin) in unit time."""
    w = atan2(s, c)
    t2 = w * w
    is_small = 1000 * t2 < 1
    half = select(is_small, 1, w) / 2
    along = select(is_small, 1 - t2 * _third_series(t2), half * cos(half) / sin(half))
    across = w / 2
    return along * x + across * y, along * y - across * x, w


def _half_turn(t2: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """sin(t/2) / t, cos(t/2) and (t - sin t) / t^3, from t^2."""
    is_small = 100 * t2 < 1
    t = sqrt(select(is_small, 1, t2))
    h2 = t2 / 4
    # the series are Taylor's up to the term below 1e-16 at t^2 = 0.01
    k = select(is_small, (1 - h2 / 6 * (1 - h2 / 20 * (1 - h2 / 42 * (1 - h2 / 72)))) / 2, sin(t / 2) / t)
    c = select(is_small, 1 - h2 / 2 * (1 - h2 / 12 * (1 - h2 / 30 * (1 - h2 / 56))), cos(t / 2))
    third = select(is_small, (1 - t2 / 20 * (1 - t2 / 42 * (1 - t2 / 72))) / 6, (1 - 2 * k * c) / (t * t))
    return k, c, third


def _turn_logarithm(quaternion: Quaternion) -> tuple[Vector, Scalar]:
    """The rotation vector, and (1 - t/2 cot(t/2)) / t^2 of its length t."""
    sign = select(quaternion[3] < 0, -1, 1)
    x, y, z, c = (e * sign for e in quaternion)
    s2 = x * x + y * y + z * z
    is_small = 1000 * s2 < 1
    s = sqrt(select(is_small, 1, s2))
    half = atan2(s, c)
    # atan(r) / r, up to the term below 1e-16 at r^2 = 0.001
    safe = select(is_small, c, 1)
    r2 = s2 / (safe * safe)
    series = (2 - r2 * (105 - r2 * (63 - r2 * (45 - r2 * 35))) * 2 / 315) / safe
    k = select(is_small, series, 2 * half / s)
    closed = (1 - half * c / s) / (4 * half * half)
    return Vector(x * k, y * k, z * k), select(is_small, _third_series(k * k * s2), closed)


def _third(t2: Scalar) -> tuple[Scalar, Scalar]:
    """(1 - t/2 cot(t/2)) / t^2 and its derivative by t^2, from t^2."""
    is_small = 10 * t2 < 1
    x = select(is_small, 1, t2)
    half = sqrt(x) / 2
    s, c = sin(half), cos(half)
    closed = (1 - half * c / s) / x
    slope = ((half / s - c) / (8 * half * s) - closed) / x
    # Horner's rule, and the same for the derivative
    series = series_slope = 0
    for coefficient in reversed(_THIRD):
        series_slope = series_slope * t2 + series
        series = series * t2 + coefficient
    return select(is_small, series, closed), select(is_small, series_slope, slope)


def _third_series(t2: Scalar) -> Scalar:
    """(1 - t/2 cot(t/2)) / t^2 for small t."""
    return (1 + t2 / 60 * (1 + t2 / 42 * (1 + t2 / 40))) / 12
