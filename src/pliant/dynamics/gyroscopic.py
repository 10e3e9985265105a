"""Gyroscopic forces of bodies that turn freely, taken half at the start and half at the end of a step.

Taken at the start alone, as a step with explicit forces does, they bring energy to a body that spins. With J the inertia
of all that hangs on a joint, locked, and w its angular velocity, both in its axes, Euler's equations by the trapezoidal
rule are

    J (w+ - w) = dt t - dt/2 (w x J w + w+ x J w+)

A step that starts from w and moves the pose with w+ is then conjugate to the implicit midpoint rule [Hairer, Lubich and
Wanner 2006, VI.8]: at any spin, a body that is free of forces keeps its energy and momentum but for a bounded wobble of
(w dt)^2 / 8.

Only the three rotations of one joint at a time are solved so, by Newton's method, for the w+ that its own forces lead
to; what this changes in the gyroscopic forces is then added to those of the whole robot. If the joint floats, J is about
the centre of mass c, which goes straight on: the force that leads the origin of the axes around it is left out, and
`pliant.robot.configurations` moves the origin around c exactly.
"""

from collections.abc import Sequence

from pliant.robot import Free, Link, Robot, Spherical
from pliant.scalar import Scalar, Scalars
from pliant.spatial import Matrix3, Motion, Symmetric3, Vector, skew

# of Newton's method: enough for a turn of a radian a step
_ITERATIONS = 3


def turning_links(robot: Robot) -> list[Link]:
    """The links whose joints turn about any axis."""
    return [k for k in robot.mechanism.links if isinstance(k.kind, Free | Spherical) and not k.is_mimic]


def gyroscopic_change(
    link: Link, M: Sequence[Scalars], A: Sequence[Scalars], change: Scalars, velocity: Motion, dt: Scalar
) -> dict[int, Scalar]:
    """What the end of the step adds to the impulses of gyroscopic forces at its start, by dof.

    Args:
        M: the lower triangle of the mass matrix; A: that of the matrix of the step.
        change: impulses of the step, with the forces at its start.
        velocity: of the link, in its own frame.
    """
    w, turns = velocity.angular, link.dofs[-3:]
    J, A_turns = _block(M, turns), _block(A, turns)
    impulse = Vector(*(change[d] for d in turns))
    floats = isinstance(link.kind, Free)
    m: Scalar = M[link.dofs[0]][link.dofs[0]] if floats else 0
    c = center_of_mass(M, link) if floats else Vector.zero()
    if floats:
        # about the centre of mass, which only the forces on it move
        impulse = impulse - c.cross(Vector(*(change[d] for d in link.dofs[:3])))
        offset = _point_inertia(c, m)
        J, A_turns = J - offset, A_turns - offset
    now = w.cross(J @ w)
    step = Vector.zero()
    for _ in range(_ITERATIONS):
        ahead = w + step
        momentum = J @ ahead
        missing = impulse + (now - ahead.cross(momentum)) * (dt / 2) - A_turns @ step
        step = step + _solution(A_turns, ahead, momentum, J, dt / 2, missing)
    ahead = w + step
    turned = (now - ahead.cross(J @ ahead)) * (dt / 2)
    if not floats:
        return dict(zip(turns, turned, strict=True))
    led = w.cross(w.cross(c)) * (m * dt)
    return dict(zip(link.dofs, (*led, *(turned + c.cross(led))), strict=True))


def _block(K: Sequence[Scalars], dofs: Sequence[int]) -> Symmetric3:
    x, y, z = dofs
    return Symmetric3(K[x][x], K[y][x], K[z][x], K[y][y], K[z][y], K[z][z])


def center_of_mass(M: Sequence[Scalars], link: Link) -> Vector:
    """The centre of mass of all that hangs on a link that floats, from the entries of M, m [c]x."""
    x, y, z, a, b, c = link.dofs
    per_mass = 1 / M[x][x]
    return Vector(M[c][y] * per_mass, M[a][z] * per_mass, M[b][x] * per_mass)


def _point_inertia(c: Vector, m: Scalar) -> Symmetric3:
    """m (c^2 1 - c c^T)."""
    x, y, z = c
    return Symmetric3((y * y + z * z) * m, -x * y * m, -x * z * m, (x * x + z * z) * m, -y * z * m, (x * x + y * y) * m)


def _solution(A: Symmetric3, w: Vector, momentum: Vector, J: Symmetric3, half: Scalar, b: Vector) -> Vector:
    """x with (A + dt/2 d(w x J w)/dw) x = b."""
    W, P = skew(w), skew(momentum)
    K = Matrix3(a + half * (t - p) for a, t, p in zip(A.full(), W.times(J.full()), P, strict=True))
    columns = [K.column(k) for k in range(3)]
    crosses = [columns[1].cross(columns[2]), columns[2].cross(columns[0]), columns[0].cross(columns[1])]
    share = 1 / columns[0].dot(crosses[0])
    return Vector(*(c.dot(b) * share for c in crosses))
