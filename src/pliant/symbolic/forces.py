"""Forces on the right side of the equations of motion: motors, springs, dampers, friction.

Formulas of springs call functions by name, where writing them out would bury the rest. They are SymPy's functions:
numbers put in give a number, and `doit`, or `written_out` for many formulas, puts their definitions in their place.
This module imports SymPy, and is imported where formulas are made.
"""

from collections.abc import Callable, Sequence
from typing import Any

import sympy
from sympy.core.symbol import Str

from pliant.actuation.body_forces import Stretch, stretches
from pliant.actuation.joint_forces import dry_friction, joint_forces
from pliant.actuation.joint_springs import SpringFunctions, less_backlash, outward, spring_force
from pliant.actuation.motor_memory import memory_fields
from pliant.dynamics import frame_jacobian
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.errors import RobotError
from pliant.robot import Free, Joint, Limits, Robot, Spherical
from pliant.scalar import Scalar, Scalars, as_sympy
from pliant.spatial import Transform, Vector

# what a motor gets warm by only changes its limits and its resistance a little, and those are left out
_LIMITS = {"thermal_capacity"}


def applied_forces(robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar) -> list[Scalar]:
    """Q(q, v, u, t): the forces of motors, springs, dampers and friction at the dofs, nv [N m or N].

    At a joint, with x its position: u - k (x - rest) - d x' - friction sign(x'), with u replaced by what the motor's
    control makes of it, see `Motor`. Limits of motors and joints are left out. A spring between two frames a and b,
    s apart, adds -(k (s - s0) + d s') ds/dq, which has no value where the frames coincide. Springs with backlash, and
    those that are compliant in all directions, are functions below.
    """
    for motor in robot.motors.values():
        for field in set(memory_fields(motor)) - _LIMITS:
            subject = f"motor {motor.name!r}"
            problem = f"{field} of {subject} makes its torque depend on more than q, v and u"
            raise RobotError(problem, subject=subject, field=field, cure=f"leave {field} out of the robot's equations")
    Q = joint_forces(robot, q, v, u, t, has_limits=False, functions=NAMED).at(v)
    Q = [a + b for a, b in zip(Q, _dry_friction(robot, v), strict=True)]
    if robot.springs:
        mechanism = robot.mechanism
        poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
        velocities = link_velocities(mechanism, q, v)
        for stretch in stretches(robot, poses, origin, guard=0):
            pull = stretch.pull(stretch.rate(velocities))
            Q = [a - pull * slope for a, slope in zip(Q, _slope(robot, stretch, q), strict=True)]
    return Q


def _dry_friction(robot: Robot, v: Scalars) -> list[Scalar]:
    """Coulomb's friction of joints and motors."""
    Q: list[Scalar] = [0] * robot.nv
    for link in robot.mechanism.joint_links:
        for k, (d, rate) in enumerate(zip(link.dofs, link.rate(v), strict=True)):
            Q[d] = Q[d] - link.ratio * dry_friction(robot, link.name, k, rate) * sympy.sign(rate)
    return Q


def _slope(robot: Robot, stretch: Stretch, q: Scalars) -> list[Scalar]:
    """ds/dq, nv."""
    J_a, J_b = (frame_jacobian.algorithm(robot, q, frame) for frame in (stretch.spring.a, stretch.spring.b))
    return [stretch.along.dot(Vector(*(J_b[k][d] - J_a[k][d] for k in range(3)))) for d in range(robot.nv)]


# ---- functions that formulas call


class _Named(sympy.Function):
    """A function with a definition: a formula of its arguments."""

    is_commutative = True
    definition: Callable[..., Scalar]

    @classmethod
    def eval(cls, *args: Any) -> Any:
        if all(isinstance(x, Str) or x.is_Number for x in args):
            return as_sympy(cls.definition(*args))
        return None

    def doit(self, **hints: Any) -> Any:
        return as_sympy(self.definition(*(a.doit(**hints) for a in self.args)))

    def _eval_evalf(self, prec: int) -> Any:
        return self.doit().evalf() if not self.free_symbols else None


class play(_Named):  # noqa: N801 - as it is written in formulas
    """play(x, w) = x - min(max(x, -w/2), w/2): a deflection less the backlash of width w in its middle."""

    definition = staticmethod(less_backlash)


class push(_Named):  # noqa: N801
    """push(s, p): p where it has the sign of s, else 0. What only pushes outward does not pull inward."""

    definition = staticmethod(outward)


class turn_pull(_Named):  # noqa: N801
    """Entry ``axis`` of B(x)^T (k x + h x^3), which is minus the force of a spring that deflects in all directions.

    x is the deflection of a spherical or free joint and x' = B(x) v; see `pliant.actuation.joint_springs`.
    """

    @classmethod
    def definition(cls, joint: Str, axis: Any, *numbers: Scalar) -> Scalar:  # type: ignore[override]
        q, own = _parts(joint.name, numbers)
        return as_sympy(-spring_force(own, q).f[int(axis)])

    joint = property(lambda self: self.args[0].name)
    axis = property(lambda self: int(self.args[1]), doc="Which entry of the joint's force it is, from 0 on.")
    q = property(lambda self: _parts(self.joint, self.args[2:])[0])
    stiffness = property(lambda self: _parts(self.joint, self.args[2:])[1].stiffness)
    hardening = property(lambda self: _parts(self.joint, self.args[2:])[1].hardening)


def _parts(name: str, numbers: Sequence[Scalar]) -> tuple[Sequence[Scalar], Joint]:
    """Coordinates and spring of a joint, from the numbers of `turn_pull`."""
    kind = Spherical() if len(numbers) == 4 + 2 * 3 else Free()
    stiffness, hardening = numbers[kind.nq : kind.nq + kind.nv], numbers[kind.nq + kind.nv :]
    none = (0,) * kind.nv
    joint = Joint(
        name, kind, "", "", Transform.identity(), Limits(), none, none, none,
        stiffness=tuple(stiffness), hardening=tuple(hardening),
    )  # fmt: skip
    return numbers[: kind.nq], joint


def _coupled(joint: Joint, q: Scalars) -> Scalars:
    """`turn_pull` of every dof of a spherical or free joint whose spring has no law of its own."""
    numbers = [as_sympy(x) for x in (*q, *joint.stiffness, *joint.hardening)]
    return [turn_pull(Str(joint.name), sympy.Integer(axis), *numbers) for axis in range(joint.kind.nv)]


NAMED = SpringFunctions(play, push, _coupled)
"""The functions of springs, as formulas call them."""


def written_out(formulas: Sequence[Any]) -> list[Any]:
    """The formulas with definitions in place of the functions."""
    found = []
    for e in formulas:
        while calls := e.atoms(_Named):
            e = e.xreplace({call: call.doit() for call in calls})
        found.append(e)
    return found
