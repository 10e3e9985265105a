"""Which values a varying number can have: those that the robot's own edits and contact models take."""

from typing import Any

import numpy as np

__all__ = ["fault_of"]

# from, to, and whether the first is allowed; a number that is not listed can be anything
_FROM_ZERO = (0, np.inf, True)
_ABOVE_ZERO = (0, np.inf, False)
_SHARE = (0, 1, True)
_NUMBERS = dict.fromkeys(
    ("friction", "damping", "armature", "stiffness", "hardening", "backlash", "kp", "kd", "viscous_friction",
     "dry_friction", "rotor_inertia", "effort_limit", "velocity_limit", "length"),
    _FROM_ZERO,
) | {"restitution": _SHARE, "mass": _ABOVE_ZERO, "no_load_speed": _ABOVE_ZERO}  # fmt: skip

# as files are read: principal moments that miss the triangle inequality by so much are slips of rounding
_TOLERANCE = 1e-6


def fault_of(path: str, values: np.ndarray) -> str | None:
    """What is wrong with values of a parameter, (..., n), or None."""
    what = path.rpartition(".")[2]
    if what == "inertia":
        return _fault_of_inertia(values)
    low, high, is_closed = _NUMBERS.get(what, (-np.inf, np.inf, True))
    wrong = (values < low) | (values > high) if is_closed else (values <= low) | (values > high)
    if not wrong.any():
        return None
    least = f"{low} or more" if is_closed else f"above {low}"
    most = f" and at most {high:g}" if high < np.inf else ""
    return f"has the value {values[wrong].flat[0]:g}; it must be {least}{most}"


def _fault_of_inertia(values: np.ndarray) -> str | None:
    """Principal moments are not negative and obey the triangle inequality: tr(I) / 2 1 - I has no negative ones."""
    xx, xy, xz, yy, yz, zz = np.moveaxis(values.reshape(-1, 6), -1, 0)
    tensors = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(-1, 3, 3)
    half: Any = (xx + yy + zz) / 2
    second = np.linalg.eigvalsh(half[:, None, None] * np.eye(3) - tensors)
    wrong = second[:, 0] < -_TOLERANCE * abs(second).max(axis=1)
    if not wrong.any():
        return None
    shown = ", ".join(f"{m:.4g}" for m in np.linalg.eigvalsh(tensors[wrong][0]))
    return f"has the principal moments ({shown}) kg m^2; they must be 0 or more, none above the sum of the others"
