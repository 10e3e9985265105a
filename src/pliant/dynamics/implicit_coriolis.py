"""Coriolis and centrifugal forces of fast motion, taken at the middle of a step.

Taken at its start they bring energy to all that turns, a share of (w dt)^2 a step. With C(q, v) the matrix of these
forces and v' = (v + v+) / 2 the velocity in the middle,

    A (v+ - v) = dt (f - C(q, v') v')

is symmetric in time, and so is the motion of the positions with v+: energy swings and does not grow. It is solved by

    (A + dt/2 C(q, u)) (v+ - v) = dt (f - C(q, u) v),        u = v, then u = v' of the v+ found

whose matrix is regular at any speed: since C = Mdot / 2 + a skew matrix, its symmetric part is about M(q + dt/4 u).

Joints that float take their velocity in the axes of the start of the step, in which they keep it
(`pliant.robot.configurations`): C has what that adds, M H with H(u) v = -w(u) x (v + w(v) x c).

Where joints turn by a good part of a radian in a step, M changes so much that energy would still grow. Energy has its
place half-way between two kicks: with p the impulses of all forces but C's,

    T(q+1/2, v+) = T(q-1/2, v) + v' . p

What T(q+1/2, v+) is above that, is the error of the step. `smaller_share` takes it off the motion about the centre of
mass, whose own motion stays (`drift_of`).
"""

from collections.abc import Callable, Mapping, Sequence

from pliant.dynamics.articulated_coriolis import CoriolisRecursion
from pliant.dynamics.coriolis import coriolis_matrix
from pliant.dynamics.energy_and_momentum import center_of_mass_velocity, kinetic_energy
from pliant.dynamics.gyroscopic import carried_centers
from pliant.dynamics.kinematics import link_poses
from pliant.dynamics.newton_euler import newton_euler
from pliant.dynamics.pinned_factor import Rows
from pliant.robot import Mechanism, Robot
from pliant.robot.configurations import carried_velocity, held_matrix, straight_motion
from pliant.scalar import Scalar, Scalars, maximum, select, sqrt
from pliant.spatial import Vector

Matrix = Sequence[Scalars]

SOLUTIONS = 2
"""How often it is solved: with the matrix at the start, then at the middle that the one before found."""

# kinetic energy of a robot at rest [J]: none of it is a share
_NONE = 1e-30


class CoriolisMatrix:
    """C(q, u) and A + h C(q, u), by their entries."""

    def __init__(
        self, robot: Robot, q: Scalars, u: Scalars, A: Rows, M: Matrix, centers: Mapping[str, Vector], h: Scalar,
        pins: Mapping[int, Scalar] | None = None, jumps: Mapping[int, Scalar] | None = None,
    ):  # fmt: skip
        """At a velocity u.

        Args:
            A, M: lower triangles of the matrix of the step and of the mass matrix.
            centers: points of the joints that float, `pliant.dynamics.gyroscopic.held_centers`.
            pins, jumps: see `solved`.
        """
        self.mechanism, self.A, self.h, self.pins, self.jumps = robot.mechanism, A, h, pins, jumps
        self.C = _coriolis(robot, q, u, M, centers)

    def times(self, x: Scalars) -> list[Scalar]:
        """C x."""
        return _times(self.C, x)

    def solve(self, b: Scalars) -> list[Scalar]:
        """The x with (A + h C) x = b."""
        A, C, n = self.A, self.C, len(b)
        K = [[A[max(r, c)].get(min(r, c), 0) + self.h * C[r][c] for c in range(n)] for r in range(n)]
        return solved(self.mechanism, K, b, self.pins, self.jumps)


def change_in_fast_motion(
    v: Scalars, change: Scalars, x: Scalars, dt: Scalar, ahead: Scalars, is_known: Scalar,
    at: Callable[[Scalars], CoriolisMatrix | CoriolisRecursion],
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:  # fmt: skip
    """v+ - v, the v+ with which the middle was found, and the impulse dt C(q, u) (v + v+) / 2.

    Args:
        change: impulses of the step, with all forces at its start.
        x: v+ - v of the solution before, 0 at first.
        ahead: the v+ that constraints have led to, if it ``is_known``: u is then the middle of that.
        at: gives C at a velocity u, and A + dt/2 C.
    """
    end = [select(is_known, a, b + c) for a, b, c in zip(ahead, v, x, strict=True)]
    first, C = at(v).times(v), at([(a + b) / 2 for a, b in zip(v, end, strict=True)])
    b = [e + dt * (f - g) for e, f, g in zip(change, first, C.times(v), strict=True)]
    x = C.solve(b)
    impulse = [dt * y for y in C.times([a + c / 2 for a, c in zip(v, x, strict=True)])]
    return x, end, impulse


def half_way(
    robot: Robot, q: Scalars, v: Scalars, M: Matrix | None, dt: Scalar, way: Scalars | None = None
) -> tuple[list[Scalar], list[Scalar]]:
    """q and v half a step later, or before with a negative dt, of a robot that goes on with v.

    Args:
        M: if joints float.
        way: the velocity with which it gets there, if that is another.
    """
    rate = list(v if way is None else way)
    points = {} if M is None else carried_centers(robot.mechanism, M, rate, dt)
    q_half = straight_motion(robot, list(q), rate, dt / 2, points)
    return q_half, carried_velocity(robot, list(v), dt / 2, rate, points)


def drift_of(
    robot: Robot, q: Scalars, half: tuple[list[Scalar], list[Scalar]], impulses: Scalars, is_held: Scalar
) -> list[Scalar]:
    """The velocity of all bodies with the centre of mass, in the axes of q; none if the robot ``is_held`` by the world.

    Args:
        half: `half_way` of the step before; impulses: of all forces since but those of turning.
    """
    drift: list[Scalar] = [0] * robot.nv
    if robot.is_free:
        root = robot.mechanism.floating_links[0]
        R = link_poses(robot.mechanism, q, about_root=True)[root.index].R
        velocity = R.rotate_back(Vector(*center_of_mass_velocity.algorithm(robot, *half)))
        for d, x in zip(root.dofs[:3], velocity, strict=True):
            drift[d] = select(is_held, 0, x + impulses[d] / robot.mass)
    return drift


def impulses_but_turning(
    robot: Robot, q: Scalars, v: Scalars, ahead: Scalars, M: Matrix | None, turning: Scalars
) -> list[Scalar]:
    """M (v+ - v), less the impulse of the Coriolis forces.

    Args:
        M: its lower triangle; None if there is none. In float32, far out on a joint that slides, it is more accurate.
    """
    change, n = [a - b for a, b in zip(ahead, v, strict=True)], robot.nv
    if M is None:
        impulses = newton_euler(robot, q, [0] * n, change, has_gravity=False)
    else:
        impulses = _times([[M[max(r, c)][min(r, c)] for c in range(n)] for r in range(n)], change)
    return [a + b for a, b in zip(impulses, turning, strict=True)]


def slowed(v: Scalars, drift: Scalars, share: Scalar) -> list[Scalar]:
    """A share of v, but for the part of it that stays."""
    return [c + share * (a - c) for a, c in zip(v, drift, strict=True)]


def smaller_share(
    robot: Robot, q: Scalars, now: Scalars, way: Scalars, drift: Scalars, share: Scalar, most: Scalar,
    M: Matrix | None, dt: Scalar, spare: Scalar = 0,
) -> Scalar:  # fmt: skip
    """A share of the motion about the centre of mass with which less energy is gained, or none.

    Args:
        now: v+ with the share so far; way: with which the robot gets half-way after the step, as a rule the same.
        drift: the part of both that stays; share: of the rest, so far.
        most: the kinetic energy that there may be, that `half_way` in the step before and the work of all other forces.
        spare: how much more does not matter.
    """
    kept: Scalar = 0
    if robot.is_free and M is not None:
        moves = robot.mechanism.floating_links[0].dofs[:3]  # no other dof has a part in the drift
        kept = dot([drift[d] for d in moves], [M[d][d] * drift[d] for d in moves]) / 2
    inner = kinetic_energy.algorithm(robot, *half_way(robot, q, now, M, dt, way)) - kept
    allowed = maximum(most - kept, 0)
    return share * select(inner <= allowed + spare, 1, sqrt(allowed / maximum(inner, _NONE)))


def _coriolis(robot: Robot, q: Scalars, u: Scalars, M: Matrix, centers: Mapping[str, Vector]) -> list[list[Scalar]]:
    """C + M H."""
    C = coriolis_matrix.algorithm(robot, q, u)
    for (d, e), entry in held_matrix(robot, list(u), centers).items():
        for r in range(robot.nv):
            C[r][e] = C[r][e] + M[max(r, d)][min(r, d)] * entry
    return C


def dot(a: Scalars, b: Scalars) -> Scalar:
    """a . b."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0)


def _times(C: Matrix, v: Scalars) -> list[Scalar]:
    return [dot(row, v) for row in C]


def solved(
    mechanism: Mechanism, K: Matrix, b: Scalars, pins: Mapping[int, Scalar] | None = None,
    jumps: Mapping[int, Scalar] | None = None,
) -> list[Scalar]:  # fmt: skip
    """K^-1 b of a matrix with the zeros of the mass matrix, but not its symmetry; from the leaves to the root.

    Args:
        pins: whether dofs are pinned, of those that may be: x_d is then that of ``jumps``, which are 0 elsewhere.
    """
    rows, x, known = [list(row) for row in K], list(b), jumps or {}
    above = [support[1:] for support in mechanism.support]
    inverse: list[Scalar] = [0] * len(x)
    for d in reversed(range(len(x))):
        inverse[d] = select((pins or {}).get(d, False), 0, 1 / rows[d][d])
        for e in above[d]:
            share = rows[e][d] * inverse[d]
            for k in above[d]:
                rows[e][k] = rows[e][k] - share * rows[d][k]
            x[e] = x[e] - share * x[d] - (rows[e][d] * known[d] if d in known else 0)
    for d in range(len(x)):
        for e in above[d]:
            x[d] = x[d] - rows[d][e] * x[e]
        x[d] = x[d] * inverse[d] + known.get(d, 0)
    return x
