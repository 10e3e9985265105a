"""Coulomb's law at one contact, exactly: a disc of friction, maximal dissipation, no regularisation.

The impulse p = (p_x, p_y, p_n) and the velocity u = (u_x, u_y, u_n) of a contact obey

    u_n >= 0,  p_n >= 0,  u_n p_n = 0,    |p_t| <= mu p_n,    p_t = -mu p_n u_t / |u_t|  where u_t is not 0

and u = b + G p, with b the velocity that the contact would have without its own impulse. `impulse_at`
solves this for one contact while all others stand still; the solver goes round until nothing changes.
"""

from pliant.scalar import Scalar, abs, both, is_constant, maximum, minimum, negation, select, sqrt
from pliant.spatial import Symmetric3, Vector

# relative to the trace of G: directions in which the robot cannot move at all. What is added there
# changes only the path to the solution, which still is where u = 0
_SINGULAR = {"float64": 1e-12, "float32": 1e-6}

# where sliding friction leaves less than this share of what pushes a contact out, it jams
_JAM = 1 / 64


def inverse_of(G: Symmetric3, precision: str = "float64") -> Symmetric3:
    """G^-1, finite also if the contact cannot move in some direction."""
    trace = G.xx + G.yy + G.zz
    extra = trace * _SINGULAR[precision] + 1e-30
    xx, yy, zz = G.xx + extra, G.yy + extra, G.zz + extra
    a, b, c = yy * zz - G.yz * G.yz, G.xz * G.yz - G.xy * zz, G.xy * G.yz - G.xz * yy
    scale = 1 / (xx * a + G.xy * b + G.xz * c)
    return Symmetric3(
        a * scale,
        b * scale,
        c * scale,
        (xx * zz - G.xz * G.xz) * scale,
        (G.xy * G.xz - xx * G.yz) * scale,
        (xx * yy - G.xy * G.xy) * scale,
    )


def impulse_at(
    u: Vector, p: Vector, G: Symmetric3, G_inverse: Symmetric3, mu: Scalar, relaxation: Scalar = 1
) -> Vector:
    """The impulse that a contact needs, all others as they are.

    If the impulse that stops the contact, p - G^-1 u, is in the cone, that is it. Else the contact opens,
    if it does so by itself, or slides (`sliding`).

    Args:
        u: velocity with the impulse p [m/s], from which the wanted one has been taken off; normal last.
        p: the impulse so far [N s].
        G: how u answers to p; G_inverse: its inverse.
        mu: coefficient of friction.
        relaxation: share of Newton's step for the direction of sliding, against cycles.
    """
    b = u - G @ p
    if is_constant(mu) and mu == 0:
        return Vector(0, 0, maximum(0, -b.z / G.zz))
    stopped, sticks = _stopped(u, p, G_inverse, mu, b.z)
    slides = sliding(b, p, G, mu, relaxation)
    return Vector(*(select(sticks, x, y) for x, y in zip(stopped, slides, strict=True)))


def unless_sliding(u: Vector, p: Vector, G: Symmetric3, G_inverse: Symmetric3, mu: Scalar) -> tuple[Vector, Scalar]:
    """The same for a contact that sticks or opens, at a third of the cost; and whether it slides, and this is wrong."""
    b_n = u.z - (G.xz * p.x + G.yz * p.y + G.zz * p.z)
    stopped, sticks = _stopped(u, p, G_inverse, mu, b_n)
    impulse = Vector(*(select(sticks, x, 0) for x in stopped))
    return impulse, both(negation(sticks), b_n < 0)


def _stopped(u: Vector, p: Vector, G_inverse: Symmetric3, mu: Scalar, b_n: Scalar) -> tuple[Vector, Scalar]:
    """The impulse that stops a contact, and whether that is what it gets."""
    stopped = p - G_inverse @ u
    bound = mu * stopped.z
    size2 = stopped.x * stopped.x + stopped.y * stopped.y
    return stopped, both(both(stopped.z >= 0, size2 <= bound * bound), b_n < 0)


def sliding(b: Vector, p: Vector, G: Symmetric3, mu: Scalar, relaxation: Scalar) -> Vector:
    """The impulse of a contact that slides, or zero if it opens: nearer to it by one step of Newton's method.

    With p_t = mu p_n d and d a unit vector, u_n = 0 gives p_n = -b_n / (G_nn + mu G_nt . d). Friction is
    opposed to the sliding where f = u_t . e is zero, with e across d. The unknown is the angle of d, and

        f' = p_n' e . (G_tn + mu G_tt d) + mu p_n e . G_tt e - u_t . d,
        p_n' = -mu p_n G_nt . e / (G_nn + mu G_nt . d)

    is kept positive: then the root at which friction would drive the contact repels.
    """
    # the direction so far, or against the sliding if there is none
    some = p.x * p.x + p.y * p.y > 0
    p_n = -b.z / G.zz
    tx, ty = select(some, p.x, -b.x - p_n * G.xz), select(some, p.y, -b.y - p_n * G.yz)
    inverse = 1 / sqrt(tx * tx + ty * ty + 1e-30)
    dx, dy = tx * inverse, ty * inverse
    ex, ey = -dy, dx
    # in some directions a contact may jam (Painleve): no push would do. These it has to leave
    pushed = G.zz + mu * (G.xz * dx + G.yz * dy)
    jams = pushed < G.zz * _JAM
    share = 1 / maximum(pushed, G.zz * _JAM)
    p_n = -b.z * share
    gx, gy = G.xz + mu * (G.xx * dx + G.xy * dy), G.yz + mu * (G.xy * dx + G.yy * dy)
    ux, uy = b.x + p_n * gx, b.y + p_n * gy
    along, f = ux * dx + uy * dy, ux * ex + uy * ey
    across = mu * p_n * (G.xx * ex * ex + 2 * G.xy * ex * ey + G.yy * ey * ey)
    slope = across - along - mu * p_n * share * (G.xz * ex + G.yz * ey) * (gx * ex + gy * ey)
    step = -f / maximum(slope, (abs(along) + abs(across)) / 8 + 1e-30)
    step = select(jams, select(G.xz * ex + G.yz * ey > 0, 1, -1), step)
    # half the angle, at most half a radian; a direction that is just opposite turns round
    half = minimum(maximum(step / 2, -1 / 2), 1 / 2) * relaxation
    scale = 1 / (1 + half * half)
    c, s = (1 - half * half) * scale, 2 * half * scale
    c = select(both(both(along > 0, abs(f) * 16 < along), negation(jams)), -1, c)
    dx, dy = c * dx + s * ex, c * dy + s * ey
    p_n = maximum(0, -b.z / maximum(G.zz + mu * (G.xz * dx + G.yz * dy), G.zz * _JAM))
    return Vector(mu * p_n * dx, mu * p_n * dy, p_n)


def natural_residual(u: Vector, p: Vector, G: Symmetric3, mu: Scalar) -> Scalar:
    """How far a contact is from Coulomb's law [m/s]: zero if and only if it holds.

    The largest of |u_n - max(0, u_n - g p_n)| and |u_t - (u_t - g p_t cut back to the disc)|, times g to
    be a velocity, with g the largest entry of G's diagonal [Alart and Curnier 1991].
    """
    g = maximum(maximum(G.xx, G.yy), G.zz)
    z_n = maximum(0, g * p.z - u.z)
    tx, ty = g * p.x - u.x, g * p.y - u.y
    length = sqrt(tx * tx + ty * ty)
    bound = mu * z_n
    share = select(length > bound, bound / maximum(length, 1e-30), 1)
    rx, ry, rn = tx * share - g * p.x, ty * share - g * p.y, z_n - g * p.z
    return sqrt(rx * rx + ry * ry + rn * rn)
