"""Contact as a problem of least squares: Gauss's principle, with contacts that push only and friction.

These solve a quadratic program for each robot of a batch, with DAQP, and take numbers only:
``pip install pliant[qp]``.
"""

from typing import Any, NamedTuple

import numpy as np

from pliant.checks import check_at_least, check_friction, check_one_of
from pliant.constrained.constraints import (
    AXES, Constraint, Contacts, constraints_of, contact_bias, contact_jacobian, row_count,
)  # fmt: skip
from pliant.dynamics.articulated_body import forward_dynamics
from pliant.dynamics.joint_space_inertia import mass_matrix
from pliant.errors import ContactError, needs
from pliant.robot import Robot
from pliant.signatures import explained

# rows of which the robot moves less than this share, next to the row that it moves most, are redundant
_REDUNDANT = 1e-9
_EQUALITY = 5


class GaussAcceleration(NamedTuple):
    """Motion of least constraint.

    Attributes:
        vd: acceleration, nv.
        f: contact forces, m [N or N m]; where they are not unique, some that go with vd.
        constraint: 1/2 (vd - vd_free)^T M (vd - vd_free), Gauss's measure of constraint.
    """

    vd: np.ndarray
    f: np.ndarray
    constraint: np.ndarray


class UnilateralImpact(NamedTuple):
    """The result of an impact whose impulses push only.

    Attributes:
        v: velocity after it, nv.
        impulse: at the contacts, m [N s].
        loss: kinetic energy that it takes [J].
    """

    v: np.ndarray
    impulse: np.ndarray
    loss: np.ndarray


@explained
def gauss_acceleration(
    robot: Robot, q: Any, v: Any, tau: Any, *, contacts: Contacts, axes: str = "world", unilateral: bool = False,
    friction: float = 0, facets: int = 4,
) -> GaussAcceleration:  # fmt: skip
    """The acceleration nearest to the free one that the contacts allow, by a quadratic program.

    vd minimises 1/2 (vd - vd_free)^T M (vd - vd_free) subject to a = J vd + Jdot v = 0 [Gauss 1829]. With
    ``unilateral``, contacts at frames may open, and friction has a bound: subject to

        a_n + mu d_i . a_t >= 0     for the directions d_i of the facets, evenly around the normal.

    The forces that go with that push within the pyramid of edges n + mu d_i. Without friction this is exact: a_n >= 0,
    f_n >= 0, a_n f_n = 0. With friction it is the convex relaxation of Coulomb's law [Anitescu 2006]: sticking is
    exact, but for the pyramid; a contact that slides with a_t leaves the ground with a_n = mu |a_t|.

    Args:
        q: configuration, nq [rad or m], or (batch, nq); likewise the next two.
        v: velocity, nv [rad/s or m/s].
        tau: joint forces, nv [N m or N].
        contacts, axes: as for `contact_jacobian`.
        unilateral: whether contacts push only, along z; they hold "xyz" each, or "z" without friction. Closures
            hold at both sides.
        friction: coefficient mu.
        facets: of the pyramid, 3 or more.
    """
    contacts = _held("gauss_acceleration", robot, contacts, axes)
    options = {"contacts": contacts, "axes": axes}
    q, v, tau = (np.asarray(x, float) for x in (q, v, tau))
    free = forward_dynamics(robot, q, v, tau)
    batch = free.shape[:-1]
    J = np.broadcast_to(contact_jacobian(robot, q, **options), (*batch, row_count(robot, contacts), robot.nv))
    M = np.broadcast_to(mass_matrix(robot, q), (*batch, robot.nv, robot.nv))
    a_free = np.einsum("...rd,...d->...r", J, free) + contact_bias(robot, q, v, **options)
    edges, is_free = _pyramids(robot, contacts, unilateral, friction, facets)
    return GaussAcceleration(*_solved(robot, M, J, free, a_free, edges, is_free))


@explained
def unilateral_impact(
    robot: Robot, q: Any, v: Any, *, contacts: Contacts, axes: str = "world", friction: float = 0, facets: int = 4
) -> UnilateralImpact:
    """An impact without restitution whose impulses push only, by a quadratic program.

    v+ minimises 1/2 (v+ - v)^T M (v+ - v) subject to u_n + mu d_i . u_t >= 0 for u = J v+: as `gauss_acceleration`
    with ``unilateral``, with velocities in place of accelerations. Contacts that separate get no impulse, and those
    that others throw off the ground leave it. Without friction this is the one solution of u_n >= 0, F_n >= 0,
    u_n F_n = 0 [Moreau 1988].

    Args:
        q: configuration, nq [rad or m], or (batch, nq); likewise v.
        v: velocity before, nv [rad/s or m/s].
        contacts, axes, friction, facets: as for `gauss_acceleration`.
    """
    contacts = _held("unilateral_impact", robot, contacts, axes)
    q, v = (np.asarray(x, float) for x in (q, v))
    J = contact_jacobian(robot, q, contacts=contacts, axes=axes)
    M = mass_matrix(robot, q)
    batch = np.broadcast_shapes(J.shape[:-2], v.shape[:-1])
    J, M = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (J, M))
    v = np.broadcast_to(v, (*batch, robot.nv))
    edges, is_free = _pyramids(robot, contacts, True, friction, facets)
    after, impulse, _ = _solved(robot, M, J, v, np.einsum("...rd,...d->...r", J, v), edges, is_free)
    energy = [0.5 * np.einsum("...r,...rc,...c->...", x, M, x) for x in (v, after)]
    return UnilateralImpact(after, impulse, energy[0] - energy[1])


def _held(owner: str, robot: Robot, contacts: Contacts, axes: str) -> Contacts:
    """The contacts, if they and the axes are such; errors name the function that was called."""
    try:
        check_one_of("axes", axes, AXES, error=ContactError)
        constraints_of(robot, contacts)
    except ContactError as error:
        raise error.within(owner) from None
    return contacts


def _pyramids(
    robot: Robot, contacts: Contacts, unilateral: bool, friction: float, facets: int
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the cones of forces, a row each; and for each row of J whether its force is of any sign."""
    check_friction("contacts", friction)
    check_at_least("facets", facets, 3, subject="contacts")
    constraints = constraints_of(robot, contacts)
    m = sum(c.size for c in constraints)
    is_free, edges, start = np.ones(m, bool), [], 0
    for c in constraints:
        if unilateral and not c.is_closure:
            is_free[start : start + c.size] = False
            directions = _directions(c, friction, facets)
            own = np.zeros((len(directions), m))
            own[:, start : start + c.size] = directions[:, c.directions]
            edges += list(own)
        start += c.size
    return np.array(edges).reshape(-1, m), is_free


def _directions(c: Constraint, friction: float, facets: int) -> np.ndarray:
    if sorted(c.directions) == [0, 1, 2]:
        angles = 2 * np.pi * np.arange(facets) / facets
        around = friction * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return np.column_stack([around, np.ones(facets)]) if friction > 0 else np.array([[0.0, 0.0, 1.0]])
    if c.directions == (2,) and friction == 0:
        return np.array([[0.0, 0.0, 1.0]])
    held = "friction needs 'xyz'" if c.directions == (2,) else "it must hold 'xyz', or 'z' alone without friction"
    subject = f"contact {c.name!r}"
    raise ContactError(f"{subject} cannot be unilateral with the directions it holds", subject=subject, cure=held)


def _solved(robot, M, J, x_free, u_free, edges, is_free) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x nearest to x_free, as M weighs it, with J x in the cones; the forces for that; and the distance."""
    batch = x_free.shape[:-1]
    x, f, cost = np.empty_like(x_free), np.empty((*batch, J.shape[-2])), np.empty(batch)
    for k in np.ndindex(batch):
        L = np.linalg.cholesky(M[k])
        # in y = L^T (x - x_free), M is 1
        A = np.linalg.solve(L, J[k].T).T
        try:
            y, f[k] = least_motion(A, u_free[k], edges, is_free)
        except ContactError as error:
            where = f", robot {k[0]} of the batch" if k else ""
            raise error.within(f"robot {robot.name!r}{where}") from None
        x[k] = x_free[k] + np.linalg.solve(L.T, y)
        cost[k] = y @ y / 2
    return x, f, cost


def least_motion(A: np.ndarray, u: np.ndarray, edges: np.ndarray, is_free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least y with A y + u zero on free rows and in the dual of the cones on the others, and the forces f.

    y = A^T f, of least norm.

    Args:
        A: rows of J in coordinates in which M is 1.
        u: acceleration of the rows without contact.
        edges: of the cones of forces, a row each; none for free rows.
        is_free: whether the force of a row has any sign.
    """
    # equalities as orthogonal rows: those that depend on others would stop the solver
    U, s, V = np.linalg.svd(A[is_free], full_matrices=False)
    kept = s > _REDUNDANT * max(s.max(initial=0), np.abs(A).max(initial=0))
    held, target = V[kept], -(U[:, kept].T @ u[is_free]) / s[kept]
    missed = np.abs(U[:, kept] @ (s[kept] * target) + u[is_free]).max(initial=0)
    if missed > 1e-6 * max(1.0, np.abs(u).max()):
        problem = f"no motion holds all contacts: they depend on one another, and disagree by {missed:.1e}"
        raise ContactError(problem, subject="contacts", cure="is J v = 0?")
    # cones, scaled to unit rows
    B, b = edges @ A, edges @ u
    size = np.linalg.norm(B, axis=1)
    size = np.where(size > 0, size, 1.0)
    rows = np.concatenate([held, B / size[:, None]])
    lower = np.concatenate([target, -b / size])
    upper = np.concatenate([target, np.full(len(b), 1e30)])
    y, multipliers = _program(rows, lower, upper, len(held))
    f = np.zeros(len(u))
    f[is_free] = U[:, kept] @ (multipliers[: len(held)] / s[kept])
    return y, f + edges.T @ (multipliers[len(held) :] / size)


def _program(rows: np.ndarray, lower: np.ndarray, upper: np.ndarray, equalities: int) -> tuple[np.ndarray, np.ndarray]:
    """The least y with lower <= rows y <= upper, and what each row pushes: y = rows^T multipliers."""
    daqp = needs("daqp", "qp", "a quadratic program")
    n = rows.shape[1]
    sense = np.zeros(len(rows), np.int32)
    sense[:equalities] = _EQUALITY
    scale = max(1.0, np.abs(lower).max(initial=0))
    y, _, flag, info = daqp.solve(
        np.eye(n), np.zeros(n), np.ascontiguousarray(rows), upper / scale, lower / scale, sense, primal_tol=1e-12
    )
    if flag < 1:
        raise ContactError(f"DAQP found no motion that the contacts allow (exit flag {flag})")
    return np.asarray(y) * scale, -np.asarray(info["lam"]) * scale
