"""Linear equations of contact forces: the least solution, and whether friction has turned them round."""

import numpy as np

__all__ = ["is_jammed", "least_solution"]

# logarithm of a determinant that is rounding
_SINGULAR = -18.0


def least_solution(A: np.ndarray, b: np.ndarray, weakest: float = 1e-11) -> np.ndarray:
    """The solution of A z = b, the least one if there are many; singular values below ``weakest`` count as zero."""
    own = abs(A.diagonal())
    most = own.max(initial=1e-300)
    # what cannot move, as out of the plane of a planar robot, gets no force
    size = np.sqrt(np.where(own > 1e-14 * most, own, most))
    scaled = A / (size[:, None] * size)
    # regular, as a rule
    try:
        inverse = np.linalg.inv(scaled)
        if abs(inverse).max() < 1e7:
            return inverse @ (b / size) / size
    except np.linalg.LinAlgError:
        pass
    if not (np.isfinite(scaled).all() and np.isfinite(b).all()):
        return np.full(len(b), np.nan)
    return np.linalg.lstsq(scaled, b / size, rcond=weakest)[0] / size


def is_jammed(W: np.ndarray) -> bool:
    """Whether friction has turned round what forces do, W: its determinant, positive without friction, is not any more.

    Where it is zero, forces are infinite. Contacts that hold each other, where it is zero anyway, do not count.
    """
    size = np.sqrt(np.maximum(abs(W).max(axis=1), 1e-300))
    sign, logarithm = np.linalg.slogdet(W / (size[:, None] * size))
    return bool(sign < 0 and logarithm > _SINGULAR)
