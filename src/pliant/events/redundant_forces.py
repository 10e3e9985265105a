"""Forces of contacts that hold each other, as the feet of a table do: the least, or such that friction can bear them.

The laws of motion fix the forces F_i of k contacts up to those that cancel: F = F0 + sum_j a_j D_j for any a. Contacts
that stick can go on if some of these forces lie within all cones, so what is left until they cannot is

    max_a  min_i  m_i(F_i)        m = mu F_n - |F_t| where a contact sticks, F_n where it slides,

with a constant in place of mu F_n for a joint that sticks by dry friction: a problem over second-order cones, solved by
Newton's method along the central path of its logarithmic barrier [Boyd, Vandenberghe 2004, 11.3].
"""

import numpy as np

from pliant.events import tolerances as tol

# of the barrier method, as shares of the largest force: accuracy of the margin, and a margin that is clear
_ACCURATE, _CLEAR = 1e-11, 1e-6
_SHRINK = 0.15
# what is added at most, as a multiple of the largest force: forces that cancel might grow for ever
_MOST = 10.0
_STEPS = 60
# of a cone: h^2 - x^2 - y^2
_SIGNS = np.array([1.0, -1.0, -1.0])


def least_solution(A: np.ndarray, b: np.ndarray, weakest: float = tol.RANK) -> np.ndarray:
    """The solution of A z = b, the least one if there are many; singular values below ``weakest`` count as zero."""
    if A.shape == (1, 1) and A[0, 0] > 0:
        return b / A[0]
    own = abs(A.diagonal())
    most = own.max(initial=1e-300)
    # what cannot move, as out of the plane of a planar robot, gets no force
    size = np.sqrt(np.where(own > tol.IMMOBILE * most, own, most))
    scaled = A / (size[:, None] * size)
    # regular, as a rule
    try:
        inverse = np.linalg.inv(scaled)
        if abs(inverse).max() < tol.REGULAR:
            return inverse @ (b / size) / size
    except np.linalg.LinAlgError:
        pass
    if not (np.isfinite(scaled).all() and np.isfinite(b).all()):
        return np.full(len(b), np.nan)
    return np.linalg.lstsq(scaled, b / size, rcond=weakest)[0] / size


def least_solutions(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`least_solution` for many matrices (p, m, m) and one right-hand side: (p, m)."""
    if A.shape[1] == 1 and (A > 0).all():
        return b / A[:, 0]
    size = np.sqrt(np.maximum(abs(A[0].diagonal()), 1e-300))
    try:
        inverse = np.linalg.inv(A / (size[:, None] * size))
        if abs(inverse).max() < tol.REGULAR:
            return inverse @ (b / size) / size
    except np.linalg.LinAlgError:
        pass
    return np.stack([least_solution(each, b) for each in A])


def taken_back(M_inverse: np.ndarray, rows: np.ndarray, amount: np.ndarray, weakest: float = tol.RANK) -> np.ndarray:
    """The least change, as M measures it, that takes an amount along rows back."""
    response = M_inverse @ rows.T
    return -response @ least_solution(rows @ response, amount, weakest)


def is_jammed(W: np.ndarray) -> bool:
    """Whether friction has turned round what forces do, W: its determinant, positive without friction, is not any more.

    Where it is zero, forces are infinite. Contacts that hold each other, where it is zero anyway, do not count.
    """
    if W.shape == (1, 1):
        return bool(W[0, 0] < 0)
    size = np.sqrt(np.maximum(abs(W).max(axis=1), 1e-300))
    scaled = W / (size[:, None] * size)
    if not np.isfinite(scaled).all():
        return False
    sign, logarithm = np.linalg.slogdet(scaled)
    return bool(sign < 0 and logarithm > tol.SINGULAR)


def cancelling(W: np.ndarray) -> np.ndarray:
    """Forces that cancel, an orthonormal basis (p, m); W (m, m) is what forces do to rates along them."""
    own = W.diagonal()
    most = own.max(initial=1e-300)
    # what cannot move gets no force, and is not spread
    moves = own > tol.IMMOBILE * most
    size = np.sqrt(np.where(moves, own, most))
    values, vectors = np.linalg.eigh(W / (size[:, None] * size) + np.diag(np.where(moves, 0.0, 1.0)))
    found = vectors[:, values < tol.RANK * max(values.max(initial=0), 1e-300)] / size[:, None]
    return np.linalg.qr(found)[0].T if found.shape[1] else found.T


def spread(
    F: np.ndarray, D: np.ndarray, friction: np.ndarray, sticks: np.ndarray, bounds: np.ndarray | float = 0.0
) -> np.ndarray:
    """Forces with the largest least margin, or the first found whose margins are all positive, (k, 3).

    Args:
        F: forces along normal and tangents, (k, 3).
        D: forces that cancel, (p, k, 3).
        friction: (k,); sticks: whether a contact sticks, (k,); of the others only the normal force counts.
        bounds: of friction that needs no normal force, (k,).
    """
    scale = abs(F).max(initial=0)
    if not len(D) or not scale or not np.isfinite(F).all():
        return F
    p = len(D)
    # (h, x, y) = start + slopes (a, t) lies within the cone h > |(x, y)|
    weights = np.where(sticks, friction, 1.0)
    keep = np.stack([weights, sticks, sticks], axis=1)
    start = keep * F / scale
    start[:, 0] += bounds / scale
    slopes = np.zeros((*F.shape, p + 1))
    slopes[..., :p] = np.moveaxis(keep * D, 0, -1)
    slopes[:, 0, p] = -1
    x = np.zeros(p + 1)
    x[p] = (start[:, 0] - np.hypot(start[:, 1], start[:, 2])).min() - 1
    cap, weight, cones = max(1.0, 2 + x[p]), 1.0, 2 * len(F) + 2
    while True:
        x = _centered(x, start, slopes, cap, weight)
        left = cones * weight
        if x[p] > _CLEAR or left < _ACCURATE or x[p] + 2 * left < -_CLEAR:
            return F + scale * np.tensordot(x[:p], D, 1)
        weight *= _SHRINK


def _centered(x: np.ndarray, start: np.ndarray, slopes: np.ndarray, cap: float, weight: float) -> np.ndarray:
    """The minimum of -t + weight * barrier over x = (a, t)."""
    value = _value(x, start, slopes, cap, weight)
    for _ in range(_STEPS):
        s = start + slopes @ x
        signs = s * _SIGNS
        c = (s * signs).sum(axis=1)
        gradients = 2 * (signs[:, None, :] @ slopes)[:, 0] / c[:, None]
        flat = slopes.reshape(-1, len(x))
        curvature = flat.T @ ((_SIGNS / c[:, None]).reshape(-1, 1) * flat) * 2
        gradient = -weight * gradients.sum(axis=0)
        hessian = weight * (gradients.T @ gradients - curvature)
        room = cap - x[-1]
        gradient[-1] += weight / room - 1
        hessian[-1, -1] += weight / room**2
        inside = _MOST**2 - x[:-1] @ x[:-1]
        gradient[:-1] += 2 * weight / inside * x[:-1]
        hessian[:-1, :-1] += 2 * weight / inside * (np.eye(len(x) - 1) + 2 / inside * np.outer(x[:-1], x[:-1]))
        step = np.linalg.solve(hessian + 1e-14 * np.trace(hessian) * np.eye(len(x)), -gradient)
        slope = float(gradient @ step)
        if -slope < 1e-9 * weight:
            break
        share, new = 1.0, np.inf
        while share > 1e-10:
            new = _value(x + share * step, start, slopes, cap, weight)
            if new <= value + 0.1 * share * slope:
                break
            share /= 2
        else:
            break
        x, value = x + share * step, new
    return x


def _value(x: np.ndarray, start: np.ndarray, slopes: np.ndarray, cap: float, weight: float) -> float:
    s = start + slopes @ x
    c = s[:, 0] ** 2 - s[:, 1] ** 2 - s[:, 2] ** 2
    inside = _MOST**2 - x[:-1] @ x[:-1]
    if x[-1] >= cap or inside <= 0 or s[:, 0].min() <= 0 or c.min() <= 0:
        return np.inf
    return float(-x[-1] - weight * (np.log(c).sum() + np.log(cap - x[-1]) + np.log(inside)))
