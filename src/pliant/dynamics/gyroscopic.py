"""Gyroscopic forces of bodies that turn freely, taken half at the start and half at the end of a step.

Taken at the start alone, as a step with explicit forces does, they bring energy to a body that spins. With J the
inertia of all that hangs on a joint, locked, and w its angular velocity, both in its axes, Euler's equations by the
trapezoidal rule are

    J (w+ - w) = dt t - dt/2 (w x J w + w+ x J w+)

A step that starts from w and moves the pose with w+ is then conjugate to the implicit midpoint rule [Hairer, Lubich and
Wanner 2006, VI.8]: at any spin, a body that is free of forces keeps its energy and momentum but for a bounded wobble of
some (w dt)^2 / 8.

For a joint that floats, J is about the centre of mass of all that hangs on it. Its three rotations are solved so by
themselves, by one step of Newton's method, for the w+ that their own forces lead to; what this changes in the
gyroscopic torque is then added to the forces of the whole robot. More steps matter from a fifth of a radian a step on.
The centre of mass goes straight on, and the origin of the joint's axes around it (`pliant.robot.configurations`).
"""

from collections.abc import Mapping, Sequence

from pliant.checks import is_zero
from pliant.robot import Link, Mechanism
from pliant.robot.exponential import turn_exponential
from pliant.scalar import Scalar, Scalars, maximum, sqrt
from pliant.spatial import Matrix3, Symmetric3, Vector, rotation_from_quaternion, skew

Rows = Sequence[Scalars] | Mapping[int, Mapping[int, Scalar]]

# kinetic energy of a body that does not turn [J]
_NONE = 1e-30


def center_of_mass(M: Rows, link: Link) -> Vector:
    """That of all that hangs on a link that floats, in its axes, from the entries m [c]x of the mass matrix."""
    x, y, z, a, b, c = link.dofs
    if is_zero(M[x][x]):  # M is singular, which its factor reports
        return Vector.zero()
    per_mass = 1 / M[x][x]
    return Vector(M[c][y] * per_mass, M[a][z] * per_mass, M[b][x] * per_mass)


def held_centers(mechanism: Mechanism, M: Sequence[Scalars]) -> dict[str, Vector]:
    """Of each link that floats, by name, the point of it that keeps its velocity: the centre of mass at the start."""
    return {link.name: center_of_mass(M, link) for link in mechanism.floating_links}


def carried_centers(mechanism: Mechanism, M: Sequence[Scalars], v: Scalars, dt: Scalar) -> dict[str, Vector]:
    """The same in the middle of a step, to which what hangs on the link has carried it."""
    found = held_centers(mechanism, M)
    for link in mechanism.floating_links:
        moves = link.dofs[:3]
        below = [d for d, path in enumerate(mechanism.support) if moves[0] in path and d not in link.dofs]
        if below and not is_zero(M[moves[0]][moves[0]]):
            half = dt / 2 / M[moves[0]][moves[0]]
            moved = Vector(*(sum((M[d][x] * v[d] for d in below), 0) * half for x in moves))
            found[link.name] = found[link.name] + moved
    return found


def gyroscopic_change(
    link: Link, M: Sequence[Scalars], A: Sequence[Scalars], change: Scalars, v: Scalars, dt: Scalar
) -> Vector:
    """What the end of the step adds to the impulse of the gyroscopic torque at its start, of a link that floats.

    Args:
        M: the lower triangle of the mass matrix; A: that of the matrix of the step.
        change: impulses of the step, with the forces at its start.
    """
    moves, turns = link.dofs[:3], link.dofs[3:]
    if is_zero(*(M[d][d] for d in link.dofs)):  # M is singular, which its factor reports
        return Vector.zero()
    m, c, w = M[moves[0]][moves[0]], center_of_mass(M, link), Vector(*(v[d] for d in turns))
    offset = _point_inertia(c, m)
    J, A_turns = _block(M, turns) - offset, _block(A, turns) - offset
    push, torque = (Vector(*(change[d] for d in dofs)) for dofs in (moves, turns))
    torque = torque - c.cross(push)
    ahead = w + _newton_step(A_turns, J, w, dt / 2, torque)
    return (w.cross(J @ w) - ahead.cross(J @ ahead)) * (dt / 2)


def spin_after_impact(link: Link, M: Rows, v: Scalars, turn: Vector) -> Vector:
    """The angular velocity of a link that floats, of which an impact makes the axes turn by ``turn`` more than v does.

    In space it stays, or the angular momentum does; the mean of both, scaled, has the kinetic energy of v. For a ball
    they are the same.

    Args:
        M: lower triangle of the mass matrix.
    """
    if is_zero(*(M[d][d] for d in link.dofs)):  # M is singular, which its factor reports
        return Vector.zero()
    w, c = Vector(*(v[d] for d in link.dofs[3:])), center_of_mass(M, link)
    J = _block(M, link.dofs[3:]) - _point_inertia(c, M[link.dofs[0]][link.dofs[0]])
    back = rotation_from_quaternion(*turn_exponential(turn)).rotate_back
    new = back(w) + _solved(J.full(), back(J @ w))
    return new * sqrt(w.dot(J @ w) / maximum(new.dot(J @ new), _NONE))


def _block(K: Rows, dofs: Sequence[int]) -> Symmetric3:
    x, y, z = dofs
    return Symmetric3(K[x][x], K[y][x], K[z][x], K[y][y], K[z][y], K[z][z])


def _point_inertia(c: Vector, m: Scalar) -> Symmetric3:
    """m (c^2 1 - c c^T)."""
    x, y, z = c
    return Symmetric3((y * y + z * z) * m, -x * y * m, -x * z * m, (x * x + z * z) * m, -y * z * m, (x * x + y * y) * m)


def _newton_step(A: Symmetric3, J: Symmetric3, w: Vector, half: Scalar, b: Vector) -> Vector:
    """x with (A + dt/2 d(w x J w)/dw) x = b."""
    W, P = skew(w).times(J.full()), skew(J @ w)
    return _solved(Matrix3(a + half * (turn - p) for a, turn, p in zip(A.full(), W, P, strict=True)), b)


def _solved(K: Matrix3, b: Vector) -> Vector:
    """K^-1 b."""
    columns = [K.column(k) for k in range(3)]
    crosses = [columns[1].cross(columns[2]), columns[2].cross(columns[0]), columns[0].cross(columns[1])]
    share = 1 / columns[0].dot(crosses[0])
    return Vector(*(c.dot(b) * share for c in crosses))
