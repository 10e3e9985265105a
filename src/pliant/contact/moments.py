"""Torsional and rolling friction at one contact: moments within bounds, opposed to the turning, exactly.

The moment m = (m_x, m_y, m_n) and the angular velocity w of the touching link relative to the touched one obey

    |m_n| <= torsion p_n,  m_n = -torsion p_n sign(w_n)        where w_n is not 0
    |m_t| <= rolling p_n,  m_t = -rolling p_n w_t / |w_t|      where w_t is not 0

with p_n the normal impulse: Coulomb's law with lengths in place of its coefficient. A ball that spins on its pole comes
to rest, and so does one that rolls. `moment_at` takes one contact nearer to it while all else stands still; a moment
that it leaves as it is obeys the law.
"""

from pliant.checks import is_zero
from pliant.errors import SimulationError
from pliant.scalar import Scalar, both, maximum, minimum, select, sqrt
from pliant.spatial import Symmetric3, Vector

# a share of K for directions in which the link cannot turn
_FIXED = 1e-9


def moment_at(w: Vector, m: Vector, K: Symmetric3, torsion: Scalar, rolling: Scalar, push: Scalar) -> Vector:
    """The moment that a contact needs, all else as it is.

    Across the normal it is the one that stops the turning, if that is within its bound; else a step of projected
    gradients towards the least energy, which is exact at once if K is the same in all directions.

    Args:
        w: angular velocity with the moment m, along the axes of the contact, normal last [rad/s].
        K: how w answers to m [1/(kg m^2)].
        torsion, rolling: lengths [m].
        push: the normal impulse [N s].
    """
    extra = (K.xx + K.yy + K.zz) * _FIXED + 1e-30
    x, y, z = m
    if not is_zero(torsion):
        bound = torsion * push
        z = minimum(maximum(m.z - w.z / maximum(K.zz, extra), -bound), bound)
    if not is_zero(rolling):
        bound = rolling * push
        w_x, w_y = w.x + K.xz * (z - m.z), w.y + K.yz * (z - m.z)
        xx, yy = K.xx + extra, K.yy + extra
        share = 1 / (xx * yy - K.xy * K.xy)
        stop_x, stop_y = m.x - (yy * w_x - K.xy * w_y) * share, m.y - (xx * w_y - K.xy * w_x) * share
        stops = stop_x * stop_x + stop_y * stop_y <= bound * bound
        # the largest eigenvalue of K across the normal
        half = (xx - yy) / 2
        largest = (xx + yy) / 2 + sqrt(half * half + K.xy * K.xy)
        far_x, far_y = m.x - w_x / largest, m.y - w_y / largest
        size = sqrt(far_x * far_x + far_y * far_y + 1e-60)
        cut = minimum(1, bound / size)
        x, y = select(stops, stop_x, far_x * cut), select(stops, stop_y, far_y * cut)
    return Vector(x, y, z)


def moment_residual(w: Vector, m: Vector, torsion: Scalar, rolling: Scalar, push: Scalar, K: Symmetric3) -> Scalar:
    """How far a contact is from the law [rad/s]: zero if and only if it holds."""
    g = maximum(maximum(K.xx, K.yy), K.zz)
    z = minimum(maximum(g * m.z - w.z, -g * torsion * push), g * torsion * push) - g * m.z
    tx, ty = g * m.x - w.x, g * m.y - w.y
    size = sqrt(tx * tx + ty * ty)
    bound = g * rolling * push
    share = select(both(size > bound, size > 0), bound / maximum(size, 1e-30), 1)
    rx, ry = tx * share - g * m.x, ty * share - g * m.y
    return sqrt(rx * rx + ry * ry + z * z)


def no_moments(contact: str, what: str, other: str) -> SimulationError:
    """The error of what cannot have these moments."""
    problem = f"contact {contact!r} has torsional or rolling friction, which {what} not"
    cure = f"use {other}, or leave torsion= and rolling= of the contact out"
    return SimulationError(problem, subject=f"contact {contact!r}", field="rolling", cure=cure)
