"""Coriolis and centrifugal forces of fast motion, taken at the middle of a step.

Taken at its start they bring energy to all that turns, a share of (w dt)^2 a step. With C(q, v) the matrix of these
forces and v' = (v + v+) / 2 the velocity in the middle,

    A (v+ - v) = dt (f - C(q, v') v')

is symmetric in time, and so is the motion of the positions with v+: energy swings and does not grow. It is solved by

    (A + dt/2 C(q, u)) (v+ - v) = dt (f - C(q, u) v),        u = v, then u = v' of the v+ found

whose matrix is regular at any speed: since C = Mdot / 2 + a skew matrix, its symmetric part is about M(q + dt/4 u).

Joints that float take their velocity in the axes of the start of the step, in which they keep it
(`pliant.robot.configurations`): C has what that adds, M H with H(u) v = -w(u) x (v + w(v) x c).

Where joints turn by a good part of a radian in a step, M changes so much that energy would still grow. What the motion
from half a step before to half a step after brings to the kinetic energy, and C does not take off, is the error of the
step:

    T(q+1/2, v+) - T(q, v+) + T(q, v) - T(q-1/2, v) - dt v' . C(q, v') v'

`without_gain` takes it off, if it is a gain, from the motion about the centre of mass, whose own motion stays.
"""

from collections.abc import Mapping, Sequence

from pliant.dynamics.coriolis import coriolis_matrix
from pliant.dynamics.energy_and_momentum import kinetic_energy
from pliant.dynamics.gyroscopic import carried_centers
from pliant.robot import Mechanism, Robot
from pliant.robot.configurations import carried_velocity, held_matrix, straight_motion
from pliant.scalar import Scalar, Scalars, maximum, sqrt
from pliant.spatial import Vector

Matrix = Sequence[Scalars]

# solutions: with the matrix at the start, then at the middle that the one before found
_SOLUTIONS = 2

# kinetic energy of a robot at rest [J]: none of it is a share
_NONE = 1e-30


def change_in_fast_motion(
    robot: Robot, q: Scalars, v: Scalars, A: Matrix, M: Matrix, change: Scalars, dt: Scalar,
    centers: Mapping[str, Vector],
) -> list[Scalar]:  # fmt: skip
    """v+ - v.

    Args:
        A, M: lower triangles of the matrix of the step and of the mass matrix.
        change: impulses of the step, with all forces at its start.
        centers: points of the joints that float, `pliant.dynamics.gyroscopic.held_centers`.
    """
    n = robot.nv
    C = first = _coriolis(robot, q, v, M, centers)
    x: list[Scalar] = []
    for k in range(_SOLUTIONS):
        b = list(change)
        if k:
            C = _coriolis(robot, q, [a + c / 2 for a, c in zip(v, x, strict=True)], M, centers)
            b = [e + dt * (f - g) for e, f, g in zip(b, _times(first, v), _times(C, v), strict=True)]
        K = [[A[max(r, c)][min(r, c)] + dt / 2 * C[r][c] for c in range(n)] for r in range(n)]
        x = solved(robot.mechanism, K, b)
    return x


def without_gain(
    robot: Robot, q: Scalars, v: Scalars, ahead: Scalars, M: Matrix, dt: Scalar, centers: Mapping[str, Vector],
    forces: Scalars | None = None,
) -> list[Scalar]:  # fmt: skip
    """v+ without the energy that turning by much in a step has brought; ``ahead`` is v+, others as above.

    Args:
        forces: C(q, v') v', if they are known.
    """
    mechanism, energy = robot.mechanism, kinetic_energy.algorithm
    mean = [(a + b) / 2 for a, b in zip(v, ahead, strict=True)]
    forces = _times(_coriolis(robot, q, mean, M, centers), mean) if forces is None else forces
    taken = dt * _dot(mean, forces)

    def half_a_step_on(velocity: Scalars, dt: Scalar) -> Scalar:
        v, points = list(velocity), carried_centers(mechanism, M, velocity, dt)
        q_half = straight_motion(robot, list(q), v, dt / 2, points)
        return energy(robot, q_half, carried_velocity(robot, v, dt / 2, v, points))

    inner = energy(robot, q, ahead)
    gain = half_a_step_on(ahead, dt) - inner + energy(robot, q, v) - half_a_step_on(v, -dt) - taken
    drift: list[Scalar] = [0] * robot.nv
    if robot.is_free:
        moves = mechanism.floating_links[0].dofs[:3]
        mass = M[moves[0]][moves[0]]
        for d in moves:
            momentum = _dot([M[max(d, e)][min(d, e)] for e in range(robot.nv)], ahead)
            drift[d] = momentum / mass
            inner = inner - momentum * drift[d] / 2
    share = sqrt(maximum(1 - maximum(gain, 0) / maximum(inner, _NONE), 0))
    return [c + share * (a - c) for a, c in zip(ahead, drift, strict=True)]


def _coriolis(robot: Robot, q: Scalars, u: Scalars, M: Matrix, centers: Mapping[str, Vector]) -> list[list[Scalar]]:
    """C + M H."""
    C = coriolis_matrix.algorithm(robot, q, u)
    for (d, e), entry in held_matrix(robot, list(u), centers).items():
        for r in range(robot.nv):
            C[r][e] = C[r][e] + M[max(r, d)][min(r, d)] * entry
    return C


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def _times(C: Matrix, v: Scalars) -> list[Scalar]:
    return [_dot(row, v) for row in C]


def solved(mechanism: Mechanism, K: Matrix, b: Scalars) -> list[Scalar]:
    """K^-1 b of a matrix with the zeros of the mass matrix, but not its symmetry; from the leaves to the root."""
    rows, x = [list(row) for row in K], list(b)
    above = [support[1:] for support in mechanism.support]
    inverse: list[Scalar] = [0] * len(x)
    for d in reversed(range(len(x))):
        inverse[d] = 1 / rows[d][d]
        for e in above[d]:
            share = rows[e][d] * inverse[d]
            for k in above[d]:
                rows[e][k] = rows[e][k] - share * rows[d][k]
            x[e] = x[e] - share * x[d]
    for d in range(len(x)):
        for e in above[d]:
            x[d] = x[d] - rows[d][e] * x[e]
        x[d] = x[d] * inverse[d]
    return x
