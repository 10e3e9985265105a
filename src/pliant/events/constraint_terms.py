"""The constraints of a robot at a state, with its mass matrix and forces, as one compiled function.

A constraint that may change its mode is a contact, a joint limit, or dry friction at a joint. The first two have a gap
that must not be negative; contacts have a slip u_t = (u_1, u_2) along two tangents as well, and dry friction has the
rate of its joint as u_1. With the rows J_n, J_t of their rates,

    gap' = J_n v        gap'' = J_n vd + c_n        u_t = J_t v        u_t' = J_t vd + c_t

The rows and c come from the gap and the slip by differentiation: they hold on any ground, and for balls that roll.
Loops and locks always hold: they are part of the robot's inertia (`pliant.events.lasting_constraints`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.actuation.joint_forces import dry_friction
from pliant.compiler import Kernel, kernel_from_function
from pliant.contact.constraint_rows import JointRow, has_limits, is_limit, tangents_of
from pliant.contact.moments import no_moments
from pliant.dynamics.derivatives import tangent_directions
from pliant.dynamics.joint_space_inertia import composite_inertia, mass_matrix_inverse
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.dynamics.newton_euler import newton_euler
from pliant.events.lasting_constraints import held_together, lasting_rows, loop_sizes
from pliant.scalar import Expr, Scalar
from pliant.scalar.evaluation import adjoints, tangents
from pliant.simulation.model import StepModel
from pliant.simulation.smooth_step import smooth_forces

CONTACT, LIMIT, FRICTION = "contact", "limit", "friction"


@dataclass(frozen=True)
class Constraint:
    """Something that may close, or slide and stick.

    Attributes:
        name: of the contact, of the joint with "lower" or "upper", or of the joint with dry friction.
        kind: CONTACT, LIMIT or FRICTION.
        friction, restitution: Coulomb's, Newton's.
        holds_place: whether a point that sticks keeps its place; a ball that rolls does not.
        bound: of dry friction [N m or N].
    """

    name: str
    kind: str
    friction: float
    restitution: float
    holds_place: bool = False
    bound: float = 0.0

    @property
    def is_contact(self) -> bool:
        """Whether it is a contact."""
        return self.kind == CONTACT

    @property
    def is_joint(self) -> bool:
        """Whether it is dry friction at a joint, which is never open and has no normal."""
        return self.kind == FRICTION


@dataclass(frozen=True)
class Terms:
    """The robot at a state: n constraints that may change, and m rows of loops and locks.

    Attributes:
        M: mass matrix.
        M_inverse: what forces do to v, with loops and locks: B M_inverse = 0.
        free: acceleration where nothing touches and no joint rubs.
        gap: (n,) [m or rad]; J: rows of the rates, (n, 3, nv), normal first; c: what they have without vd, (n, 3).
        place: of the contacts in the world (n, 3); axes: normal and tangents there (n, 3, 3).
        tree_inverse: M^-1, without loops and locks.
        open: how far loops are open, (m,); B: rows of loops and locks, (m, nv).
        held, held_open, strength: rows made of these that do not repeat others, see `HeldRows`.
    """

    M: np.ndarray
    M_inverse: np.ndarray
    free: np.ndarray
    gap: np.ndarray
    J: np.ndarray
    c: np.ndarray
    place: np.ndarray
    axes: np.ndarray
    tree_inverse: np.ndarray
    open: np.ndarray
    B: np.ndarray
    held: np.ndarray
    held_open: np.ndarray
    strength: np.ndarray

    def rates(self, v: np.ndarray) -> np.ndarray:
        """gap' and slip of each constraint, (n, 3)."""
        return self.J @ v


def constraints_of(model: StepModel) -> tuple[Constraint, ...]:
    """The contacts of a model, then its joint limits, lower and upper, then its joints with dry friction."""
    found = []
    for group in model.groups:
        for k in group.turning:
            raise no_moments(group.names[k], "EventSimulation has", "Simulation")
        for name, mu, e, rolls in zip(group.names, group.friction, group.restitution, group.rolls, strict=True):
            found.append(Constraint(name, CONTACT, float(mu), float(e), holds_place=not rolls))
    for joint, side, _, _, _ in _joint_limits(model):
        restitution = float(model.robot.joints[joint].restitution)
        found.append(Constraint(f"{joint} {side}", LIMIT, 0.0, restitution))
    for row in _rubbing(model):
        joint, k = model.robot.joints[row.joint], row.dof - model.robot.v_slice(row.joint).start
        label = joint.kind.v_labels[k]
        bound = float(dry_friction(model.robot, row.joint, k, 0))
        found.append(Constraint(f"{row.joint}.{label}" if label else row.joint, FRICTION, 0.0, 0.0, bound=bound))
    return tuple(found)


def _rubbing(model: StepModel) -> list[JointRow]:
    """The dofs with dry friction."""
    return [row for row in model.joint_rows if row.kind == "friction"]


def _joint_limits(model: StepModel) -> list[tuple[str, str, int, int, float]]:
    """Joint, side, place in q and in v, and value of every joint limit."""
    robot, found = model.robot, []
    for link in robot.mechanism.joint_links:
        joint = robot.joints[link.name]
        if link.is_mimic or link.kind.nv != 1 or joint.is_locked or not model.has_limits or not has_limits(joint):
            continue
        for side, limit in (("lower", joint.limits.lower[0]), ("upper", joint.limits.upper[0])):
            if is_limit(limit):
                found.append((joint.name, side, link.q.start, link.v.start, float(limit)))
    return found


class TermsKernel:
    """`Terms` of one robot, compiled once."""

    def __init__(self, model: StepModel):
        self.model = model
        self.constraints = constraints_of(model)
        n, nv, m = len(self.constraints), model.robot.nv, sum(loop_sizes(model).values())
        self.has_loops = m > 0
        # of the rows of loops and locks, where it is known
        self.rank: int | None = None
        shapes: list[tuple[int, ...]] = [
            (nv, nv), (nv, nv), (nv,), (n,), (n, 3, nv), (n, 3), (n, 3), (n, 3, 3), (m,), (m, nv), (m,),
        ]  # fmt: skip
        ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
        self._parts = list(zip([0, *ends], ends, shapes, strict=False))

    @cached_property
    def kernel(self) -> Kernel:
        """(t, q, v, u) -> all numbers of the terms, one after the other."""
        robot = self.model.robot
        shapes: dict[str, tuple[int, ...]] = {"t": (), "q": (robot.nq,), "v": (robot.nv,), "u": (robot.nu,)}
        if not robot.nu:
            shapes.pop("u")

        def run(t: Scalar, q: Any, v: Any, u: Any = ()) -> list[Scalar]:
            return _entries(self.model, t, list(q), list(v), list(u))

        return kernel_from_function(run, shapes, name=f"event-driven terms of {robot.name}")

    @cached_property
    def moves(self) -> np.ndarray:
        """Whether a constraint can move along its normal and its tangents, (n, 3): in a plane, not all can."""
        robot = self.model.robot
        rest = np.zeros(robot.nv), np.zeros(robot.nu)
        rows = [self(0.0, q, *rest).J for q in robot.random(0, batch=3)]
        return np.any(np.array(rows) != 0, axis=(0, 3))

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Terms:
        arguments = (np.array(float(t)), q, v, u) if self.model.robot.nu else (np.array(float(t)), q, v)
        flat = self.kernel(*arguments)
        parts = (flat[a:b].reshape(shape) for a, b, shape in self._parts)
        M, inverse, r, gap, J, c, place, axes, apart, B, bias = parts
        on = held_together(inverse, inverse @ r, B, bias, apart, self.rank)
        return Terms(
            M, on.M_inverse, on.free, gap, J, c, place, axes, inverse, apart, B, on.rows, on.open, on.strength
        )  # fmt: skip


def _entries(model: StepModel, t: Scalar, q: list[Any], v: list[Any], u: list[Any]) -> list[Scalar]:
    robot = model.robot
    n = robot.nv
    lower = composite_inertia(robot, q)
    M = [lower[max(r, c)][min(r, c)] for r in range(n) for c in range(n)]
    h = newton_euler(robot, q, v, [0] * n)
    r = [a - b for a, b in zip(smooth_forces(model, t, q, v, u), h, strict=True)]
    gaps, slips, places, axes = _touches(model, q, v)
    # q moves with v
    directions = tangent_directions(robot, q)
    rates = [sum((d[k] * x for d, x in zip(directions, v, strict=True)), 0) for k in range(robot.nq)]
    moving = {e: rate for e, rate in zip(q, rates, strict=True) if isinstance(e, Expr)}
    J: list[Scalar] = []
    c: list[Scalar] = []
    # of contacts; the rows of joint limits are constant
    for gap, (u1, u2) in zip(gaps, slips, strict=True):
        for rate in (_rate(gap, moving), u1, u2):
            J += adjoints([rate], [1], v) if isinstance(rate, Expr) else [0] * n
            c.append(_rate(rate, moving))
    for _, side, at_q, at_v, limit in _joint_limits(model):
        sign = 1 if side == "lower" else -1
        gaps.append(sign * (q[at_q] - limit))
        J += [sign if d == at_v else 0 for d in range(n)] + [0] * (2 * n)
        c += [0] * 3
        places += [0] * 3
        axes += [0] * 9
    for row in _rubbing(model):
        gaps.append(0)
        J += [0] * n + [1 if d == row.dof else 0 for d in range(n)] + [0] * n
        c += [0] * 3
        places += [0] * 3
        axes += [0] * 9
    apart, B, bias = lasting_rows(model, q, v)
    inverse = [x for row in mass_matrix_inverse.algorithm(robot, q) for x in row]
    return [*M, *inverse, *r, *gaps, *J, *c, *places, *axes, *apart, *B, *bias]


def _rate(x: Scalar, moving: dict[Expr, Scalar]) -> Scalar:
    return tangents([x], moving)[0] if isinstance(x, Expr) else 0


def _touches(model: StepModel, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list, list, list, list]:
    """Gaps, slips along the tangents, places in the world, and axes of all contacts."""
    mechanism = model.robot.mechanism
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    velocities = link_velocities(mechanism, q, v)

    gaps, slips, places, axes = [], [], [], []
    for group in model.groups:
        for touch in group.touches(poses, origin, model.ground):
            first, second = tangents_of(touch.normal)
            slip = group.velocity(touch, poses, velocities)
            gaps.append(touch.gap)
            slips.append((first.dot(slip), second.dot(slip)))
            places += list(touch.p + origin)
            axes += [*touch.normal, *first, *second]
    return gaps, slips, places, axes
