"""The Coriolis matrix, by composite bodies."""

from collections.abc import Sequence
from typing import Any

from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import link_velocities
from pliant.dynamics.sway_inertia import SwayInertia
from pliant.robot import Robot
from pliant.spatial import Force, Vector

__all__ = ["coriolis_matrix"]

Scalar = Any


@robot_function
def coriolis_matrix(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """The Coriolis matrix C(q, v), nv x nv: C v + g = `bias_forces`, and Mdot = C + C^T.

    C = integral of J_r^T Jdot_r over the mass, with J_r the Jacobian of the point r; since M is that of
    J_r^T J_r, Mdot - 2 C is skew. For coordinates whose rates are v it is the matrix of Christoffel
    symbols, C_ij = 1/2 sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_kj/dq_i) v_k. By composite bodies
    [Echeandia and Wensing 2021, "Numerical methods to compute the Coriolis matrix and Christoffel
    symbols for rigid-body systems"], in the frames of the links.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
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
