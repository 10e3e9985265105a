"""Robots for formulas: with symbols for numbers, and with single joints in place of those with quaternions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pliant.checks import check, check_known, is_zero
from pliant.errors import PliantError, unknown_name
from pliant.robot import (
    Body, Frame, FrameSpring, Free, Joint, JointKind, Limits, Motor, Named, Planar, Prismatic, Revolute, Robot,
    Spherical,
)  # fmt: skip
from pliant.robot.joints import coordinate_axis
from pliant.scalar import Scalar, as_sympy, is_constant
from pliant.signatures import explained
from pliant.spatial import Inertia, Symmetric3, Transform, Vector
from pliant.symbolic.coordinates import check_name, check_sympy, identifier, robot_symbols, sympy

WHAT = ("masses", "centers", "inertias", "lengths", "gravity", "armatures", "damping", "stiffness", "friction")
"""The kinds of numbers that can become symbols."""

_AXES = "xyz"
# numbers of the dofs of a joint: the field, their kind, and the letter of the symbols
_PER_DOF = (
    ("armature", "armatures", "J"), ("damping", "damping", "d"), ("stiffness", "stiffness", "k"),
    ("hardening", "stiffness", "h"), ("friction", "friction", "f"),
)  # fmt: skip
_MOMENTS = ("xx", "xy", "xz", "yy", "yz", "zz")


class SymbolicRobot(NamedTuple):
    """A robot with symbols in place of numbers.

    Attributes:
        robot: the copy.
        values: the number that each symbol stands for: ``M.subs(values)`` puts them back.
    """

    robot: Robot
    values: dict[Any, float]


@explained
def symbolic_robot(robot: Robot, *what: str, names: Mapping[str, Any] | None = None) -> SymbolicRobot:
    """A copy with numbers replaced by symbols, and their values: `Robot.symbolic`."""
    check_sympy()
    takes = "other names of symbols as a mapping: {'m_rod': 'm'}"
    check("names", names, takes, names is None or isinstance(names, Mapping), error=PliantError)
    makers = _Symbols(robot, what or WHAT, dict(names or {}))
    made = makers.robot()
    makers.check_known()
    return SymbolicRobot(made, makers.values)


class _Symbols:
    """Gives out symbols, and keeps their values."""

    def __init__(self, robot: Robot, what: tuple[str, ...], names: dict[str, Any]):
        self.source = robot
        self.what = set(what)
        self.names = names
        self.values: dict[Any, float] = {}
        self._offered: list[str] = []
        self._taken = {s.name for s in robot_symbols(robot)}

    def check_known(self) -> None:
        """Raise if something was asked for that the robot does not have."""
        for name in (*(self.what - set(WHAT)), *self.names):
            if name not in self._offered:
                owner = f"the numbers of robot {self.source.name!r}"
                raise PliantError(unknown_name("symbol", name, [*WHAT, *self._offered], owner))

    def scalar(self, kind: str, name: str, value: Scalar, *, is_signed: bool = False) -> Scalar:
        """The symbol for a number, with the number's sign; zeros and symbols stay."""
        if not is_constant(value) or value == 0:
            return value
        while name in self._offered or name in self._taken:
            name += "_"
        self._offered.append(name)
        if kind not in self.what and name not in self.what:
            return value
        chosen = self.names.get(name, name)
        if isinstance(chosen, str):
            check_name(f"symbol {name!r} of {self.source.name!r}", chosen)
            chosen = sympy.Symbol(chosen, real=True) if is_signed else sympy.Symbol(chosen, positive=True)
        if not is_constant(chosen) and not isinstance(chosen, sympy.Expr):
            problem = f"symbol {name!r} of {self.source.name!r} cannot become {chosen!r}"
            cure = "give a name, or a formula of SymPy"
            raise PliantError(problem, subject=f"symbol {name!r}", field="names", cure=cure)
        chosen: Any = as_sympy(chosen)
        amount = float(value) if is_signed else abs(float(value))
        if chosen.is_Symbol:
            known = self.values.setdefault(chosen, amount)
            if abs(known - amount) > 1e-9 * abs(known):
                subject = f"symbol {chosen.name!r}"
                two = f"{known:g} and {amount:g} ({name})"
                problem = f"{subject} would stand for two numbers of {self.source.name!r}, {two}"
                raise PliantError(problem, subject=subject, field="names", cure="give one of them another name")
        return chosen if is_signed or value > 0 else -chosen

    def vector(self, kind: str, name: str, p: Vector) -> Vector:
        """Three numbers; a letter for the axis if more than one is not zero."""
        used = [k for k in range(3) if not (is_constant(p[k]) and p[k] == 0)]
        labels = [f"{name}_{axis}" if len(used) > 1 else name for axis in _AXES]
        return Vector(*(self.scalar(kind, label, x) for label, x in zip(labels, p, strict=True)))

    def each(self, kind: str, letter: str, owner: str, values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        """Numbers of the dofs of one joint."""
        name = f"{letter}_{owner}"
        labels = [name if len(values) == 1 else f"{name}_{k + 1}" for k in range(len(values))]
        return tuple(self.scalar(kind, label, x) for label, x in zip(labels, values, strict=True))

    # ---- the parts

    def robot(self) -> Robot:
        source = self.source

        def named(old: Named[Any], make: Any) -> Named[Any]:
            return Named(old.kind, [make(item) for item in old.values()], old.owner)

        return replace(
            source,
            bodies=named(source.bodies, self.body),
            joints=named(source.joints, self.joint),
            motors=named(source.motors, self.motor),
            frames=named(source.frames, self.frame),
            springs=named(source.springs, self.spring),
            gravity=self.vector("gravity", "g", source.gravity),
        )

    def body(self, body: Body) -> Body:
        own, name = body.inertia, identifier(body.name)
        is_massless = is_constant(own.mass) and own.mass == 0
        center = Vector.zero() if is_massless else Vector(*_rounded(tuple(own.com())))
        moments = _rounded(tuple(own.J if is_massless else own.about_com()), tuple(own.J))
        mass = self.scalar("masses", f"m_{name}", own.mass)
        place = self.vector("centers", f"c_{name}", center)
        entries = [
            self.scalar("inertias", f"I_{name}_{axes}", x, is_signed=axes[0] != axes[1])
            for axes, x in zip(_MOMENTS, moments, strict=True)
        ]
        if all(is_constant(a) for a in (mass, *place, *entries)):
            return body
        return replace(body, inertia=Inertia.from_com(mass, place, Symmetric3(*entries)))

    def joint(self, joint: Joint) -> Joint:
        name = identifier(joint.name)
        p = self.vector("lengths", f"l_{name}", joint.placement.p)
        rest = self.scalar("stiffness", f"r_{name}", joint.rest, is_signed=True)
        changes = {field: self.each(kind, letter, name, getattr(joint, field)) for field, kind, letter in _PER_DOF}
        backlash = self.scalar("stiffness", f"w_{name}", joint.backlash)
        return replace(joint, placement=Transform(joint.placement.R, p), rest=rest, backlash=backlash, **changes)

    def motor(self, motor: Motor) -> Motor:
        name = identifier(motor.name)
        felt = motor.rotor_inertia if motor.gyroscopic else motor.armature
        inertia = self.scalar("armatures", f"J_{name}", felt)
        changes: dict[str, Any] = {} if is_constant(inertia) else {"rotor_inertia": inertia}
        if changes and not motor.gyroscopic:
            changes["gear"] = 1  # nothing else sees it
        return replace(
            motor,
            viscous_friction=self.scalar("damping", f"d_{name}", motor.viscous_friction),
            dry_friction=self.scalar("friction", f"f_{name}", motor.dry_friction),
            **changes,
        )

    def frame(self, frame: Frame) -> Frame:
        p = self.vector("lengths", f"l_{identifier(frame.name)}", frame.placement.p)
        return replace(frame, placement=Transform(frame.placement.R, p))

    def spring(self, spring: FrameSpring) -> FrameSpring:
        name = identifier(spring.name)
        return replace(
            spring,
            stiffness=self.scalar("stiffness", f"k_{name}", spring.stiffness),
            damping=self.scalar("damping", f"d_{name}", spring.damping),
            length=self.scalar("lengths", f"l_{name}", spring.length),
        )


def _rounded(values: tuple[Scalar, ...], scale: tuple[Scalar, ...] | None = None) -> list[Scalar]:
    """Numbers that went through a subtraction, without the rounding it left."""
    sizes = [abs(x) for x in scale or values if is_constant(x)]
    noise = 1e-14 * max(sizes, default=0)

    def rounded(x: Scalar) -> Scalar:
        if not is_constant(x):
            return x
        short = float(f"{x:.12g}")
        return 0 if abs(x) <= noise else short if abs(short - x) <= noise else x

    return [rounded(x) for x in values]


# ---- joints with quaternions as chains of single joints, for equations in minimal coordinates

_X, _Y, _Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
_TURNS: list[tuple[str, JointKind]] = [("yaw", Revolute(_Z)), ("pitch", Revolute(_Y)), ("roll", Revolute(_X))]
_SLIDES: list[tuple[str, JointKind]] = [("x", Prismatic(_X)), ("y", Prismatic(_Y)), ("z", Prismatic(_Z))]


def _euler(robot: Robot, joint: Joint) -> list[tuple[str, JointKind]] | None:
    """Slides along x, y and z, then turns about z, y and x: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    kind = joint.kind
    if isinstance(kind, Free):
        return _SLIDES + _TURNS
    if isinstance(kind, Spherical):
        return list(_TURNS)
    if isinstance(kind, Planar):
        match coordinate_axis(kind.axis):
            case (k, 1):
                units = [_X, _Y, _Z]
                first, second = units[(k + 1) % 3], units[(k + 2) % 3]
                return [("x", Prismatic(first)), ("y", Prismatic(second)), ("turn", Revolute(units[k]))]
        problem = f"planar joint {joint.name!r} of {robot.name!r} has an oblique normal"
        raise PliantError(problem, subject=f"joint {joint.name!r}", field="axis", cure="give it x, y or z")
    return None


def with_single_joints(robot: Robot, rotations: str) -> Robot:
    """A copy in which free, spherical and planar joints are chains of single joints on massless bodies.

    Their coordinates are JOINT_x, JOINT_y, JOINT_z and JOINT_yaw, JOINT_pitch, JOINT_roll. At a pitch of a right
    angle two turns are about the same axis, and M is singular there.
    """
    check_known("way to write rotations", rotations, ["euler"])
    joints: list[Joint] = []
    bodies: list[Body] = []
    for joint in robot.joints.values():
        chain = _euler(robot, joint)
        if chain is None:
            joints.append(joint)
            bodies.append(robot.bodies[joint.child])
            continue
        _check_bare(robot, joint)
        parent, placement = joint.parent, joint.placement
        for k, (label, kind) in enumerate(chain):
            name, is_last = f"{joint.name}_{label}", k == len(chain) - 1
            child = joint.child if is_last else name
            bodies.append(robot.bodies[child] if is_last else Body(name, Inertia.zero()))
            limits = Limits((-float("inf"),), (float("inf"),), (float("inf"),), (float("inf"),))
            joints.append(Joint(name, kind, parent, child, placement, limits, (0,), (0,), (0,)))
            parent, placement = name, Transform.identity()
    return replace(
        robot,
        bodies=Named("body", bodies, robot.bodies.owner),
        joints=Named("joint", joints, robot.joints.owner),
    )


def _check_bare(robot: Robot, joint: Joint) -> None:
    """Raise if the joint has forces along its velocities, which would act along others in the chain."""
    for what in ("damping", "friction", "armature", "stiffness", "hardening"):
        if not is_zero(*getattr(joint, what)):
            subject, why = f"joint {joint.name!r}", "which a chain of single joints would put on other axes"
            cure = "take it off, or write the equations without rotations='euler'"
            problem = f"{subject} of {robot.name!r} has {what}, {why}"
            raise PliantError(problem, subject=subject, field=what, cure=cure)
