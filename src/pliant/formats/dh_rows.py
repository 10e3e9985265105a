"""Rows and tables of Denavit-Hartenberg parameters.

    modified (Craig):  X_{i-1,i} = Rx(alpha) Tx(a) Rz(theta) Tz(d),   alpha_{i-1}, a_{i-1}, theta_i, d_i
    standard:          X_{i-1,i} = Rz(theta) Tz(d) Tx(a) Rx(alpha),   theta_i, d_i, a_i, alpha_i

In the modified convention the joint of row i moves about or along z_i, in the standard one z_{i-1}.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pliant.robot import Limits, Report
from pliant.scalar import is_constant
from pliant.spatial import Transform

__all__ = ["COLUMNS", "KINDS", "DHRow", "DHTable"]

Scalar = Any

COLUMNS = {"modified": ("alpha", "a", "theta", "d"), "standard": ("theta", "d", "a", "alpha")}
"""The conventions, and the order of a tuple's four numbers in each."""

KINDS = ("revolute", "continuous", "prismatic", "fixed")
"""The joints that a row can have."""


@dataclass(frozen=True, kw_only=True)
class DHRow:
    """One row: a step from frame i-1 to frame i, the joint within it, and the body that it carries.

    With q the joint's coordinate, a revolute row has the angle theta + offset + q, a prismatic one the
    distance d + offset + q: what the paper writes as pi/2 + th2 is ``theta=pi/2``.

    Attributes:
        alpha: twist about x [rad]; a: length along x [m].
        theta: angle about z [rad]; d: distance along z [m].
        joint: "revolute", "continuous" (without limits), "prismatic" or "fixed".
        offset: more of theta or d, for tables that have a column for it.
        mass: of the body [kg]; com: its centre of mass in frame i [m].
        inertia: about the centre of mass, axes along those of frame i [kg m^2]: the diagonal, or
            (ixx, ixy, ixz, iyy, iyz, izz), or three rows of three.
        name: of the joint, and so of its coordinate; None: "joint" and the number of the row.
        body: its name; None: "link" and the number of the row.
        limits: of q, as a pair or as `Limits`.
        motor: whether it has one, or the motor's attributes as a dict; see `pliant.robot.Motor`.
        damping, friction, armature: see `pliant.robot.Joint`.
    """

    alpha: Scalar = 0
    a: Scalar = 0
    theta: Scalar = 0
    d: Scalar = 0
    joint: str = "revolute"
    offset: Scalar = 0
    mass: Scalar = 0
    com: Sequence[Scalar] = (0, 0, 0)
    inertia: Sequence[Any] = (0, 0, 0)
    name: str | None = None
    body: str | None = None
    limits: Limits | tuple[Any, Any] | None = None
    motor: bool | Mapping[str, Any] = False
    damping: Scalar = 0
    friction: Scalar = 0
    armature: Scalar = 0


@dataclass(frozen=True)
class DHTable:
    """Rows with what goes before and after them; `from_dh` takes it in place of rows.

    Attributes:
        convention: "modified" or "standard".
        base: X_W0, frame 0 in the world.
        tool: of the tool in the last row's frame.
        gravity: its acceleration in the world [m/s^2].
        report: what of a robot found no place in the table.
    """

    rows: tuple[DHRow, ...]
    convention: str = "modified"
    name: str = "robot"
    base: Transform = field(default_factory=Transform.identity)
    tool: Transform = field(default_factory=Transform.identity)
    gravity: tuple[Scalar, ...] = (0, 0, -9.81)
    report: Report = field(default_factory=Report)

    def __str__(self) -> str:
        columns = COLUMNS[self.convention]
        lines: list[tuple[str, ...]] = [("row", "joint", *columns)]
        for number, row in enumerate(self.rows, 1):
            name = row.name or f"joint{number}"
            lines.append((str(number), row.joint, *(_cell(row, column, name) for column in columns)))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _cell(row: DHRow, column: str, name: str) -> str:
    """A number of a row, and the coordinate where it is added."""
    number = getattr(row, column)
    shown = _shown_angle if column in ("alpha", "theta") else _shown
    if row.joint == "fixed" or column != ("d" if row.joint == "prismatic" else "theta"):
        return shown(number)
    text = shown(number + row.offset)
    return name if text == "0" else f"{text} + {name}"


def _shown(x: Scalar) -> str:
    return f"{x:.6g}" if is_constant(x) else str(x)


def _shown_angle(x: Scalar) -> str:
    """A number as text; an angle that is a right one but for what files round off is shown as that."""
    near = (text for text, value in _RIGHT_ANGLES.items() if is_constant(x) and abs(x - value) <= _ROUNDED)
    return next(near, None) or _shown(x)


_RIGHT_ANGLES = {"0": 0, "pi/2": math.pi / 2, "-pi/2": -math.pi / 2, "pi": math.pi, "-pi": -math.pi}
# [rad]; the numbers of the table stay as they are
_ROUNDED = 1e-9
