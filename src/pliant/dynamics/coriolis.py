"""The Coriolis matrix by composite bodies, and how the mass of a moving body resists being turned."""

from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import link_velocities
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars
from pliant.spatial import Force, Inertia, Matrix3, Motion, Steps, Transform, Vector


class SwayInertia:
    """The force that a moving body's mass asks for when its velocity u is turned: r -> w x u(r).

    B w = integral of (w x u, r x (w x u)) over the mass, for an angular velocity w: the matrix B of
    Echeandia and Wensing (2021), in closed form.

    Attributes:
        f: integral of u, the linear momentum; the force is w x f.
        N: the moment is N w, with N = -integral of r~ u~ (x~ the cross product with x).
    """

    __slots__ = ("N", "f")

    def __init__(self, f: Vector, N: Matrix3):
        self.f = f
        self.N = N

    @classmethod
    def of(cls, inertia: Inertia, V: Motion) -> "SwayInertia":
        """Of a rigid body: N = (h . v) 1 - v h^T - w~ S, with h and S its first and second moments of mass."""
        v, w, h, S = V.linear, V.angular, inertia.h, inertia.second_moment()
        turned = Matrix3.from_columns(*(w.cross(S.full().column(c)) for c in range(3)))
        return cls(v * inertia.mass + w.cross(h), _dyad(h, v) - turned)

    def __add__(self, other: "SwayInertia") -> "SwayInertia":
        return SwayInertia(self.f + other.f, self.N + other.N)

    def transformed(self, X: Transform | Steps) -> "SwayInertia":
        """X_AB takes it from B to A."""
        if isinstance(X, Steps):
            return self.transformed(X.then).transformed(X.first)
        f = X.R.rotate(self.f)
        return SwayInertia(f, X.R.conjugate(self.N) + _dyad(X.p, f))

    def __matmul__(self, S: Motion) -> Force:
        """B S."""
        return Force(S.angular.cross(self.f), self.N @ S.angular)

    def transposed_times(self, S: Motion) -> Vector:
        """B^T S, a moment; there is no force."""
        return self.f.cross(S.linear) + self.N.transposed_times(S.angular)


def _dyad(r: Vector, u: Vector) -> Matrix3:
    """-r~ u~ = (r . u) 1 - u r^T."""
    rows = [u * -r[c] for c in range(3)]
    xx, yy, zz = r.x * u.x, r.y * u.y, r.z * u.z
    return Matrix3((yy + zz, rows[1].x, rows[2].x, rows[0].y, xx + zz, rows[2].y, rows[0].z, rows[1].z, xx + yy))


@robot_function
def coriolis_matrix(robot: Robot, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """The Coriolis matrix C(q, v), nv x nv: C v + g = `bias_forces`, and Mdot = C + C^T.

    C = integral of J_r^T Jdot_r over the mass, with J_r the Jacobian of the point r; since M is that of
    J_r^T J_r, Mdot - 2 C is skew. For coordinates whose rates are v it is the matrix of Christoffel
    symbols, C_ij = 1/2 sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_kj/dq_i) v_k. By composite bodies
    [Echeandia and Wensing 2021, "Numerical methods to compute the Coriolis matrix and Christoffel
    symbols for rigid-body systems"], in the frames of the links.
    """
    mechanism = robot.mechanism
    links = mechanism.links
    X_PB = [link.transform(q) for link in links]
    V = link_velocities(mechanism, q, v)
    # inward: what hangs on each link, as one body that sways
    I = [link.inertia for link in links]
    B = [SwayInertia.of(link.inertia, V[link.index]) for link in links]
    for link in reversed(links):
        if link.parent >= 0:
            I[link.parent] = I[link.parent] + I[link.index].transformed(X_PB[link.index])
            B[link.parent] = B[link.parent] + B[link.index].transformed(X_PB[link.index])

    C: list[list[Scalar]] = [[0] * mechanism.nv for _ in range(mechanism.nv)]
    for link in links:
        i = link.index
        for d, S in zip(link.dofs, link.kind.columns, strict=True):
            # the rate at which dof d drags all that hangs on it: column d, for the dofs towards the root
            drag = I[i] @ V[i].cross(S) + B[i] @ S
            # the momentum it gives, and its share of their drag: row d
            momentum, moment = I[i] @ S, B[i].transposed_times(S)
            for e, force in zip(link.dofs, link.kind.project(drag), strict=True):
                C[e][d] = C[e][d] + link.ratio * link.ratio * force
            j = link
            while j.parent >= 0:
                X = X_PB[j.index]
                drag, momentum, moment = X.act(drag), X.act(momentum), X.rotate(moment)
                j = links[j.parent]
                ratio = link.ratio * j.ratio
                # S_e^T (B^T S_d) + (V_j x S_e)^T (I S_d)
                felt = Force(Vector.zero(), moment) - V[j.index].cross_force(momentum)
                for e, column, row in zip(j.dofs, j.kind.project(drag), j.kind.project(felt), strict=True):
                    C[e][d] = C[e][d] + ratio * column
                    C[d][e] = C[d][e] + ratio * row
    return C
