"""Robots from Pinocchio models. Pinocchio itself is not imported: the model is asked for what it has."""

import math
from dataclasses import replace
from typing import Any

from pliant.errors import RobotError
from pliant.robot import (
    Continuous, Finding, Free, Helical, JointKind, Limits, Planar, Prismatic, Report, Revolute, Robot, RobotBuilder,
    Spherical,
)  # fmt: skip
from pliant.signatures import explained
from pliant.spatial import Matrix3, rpy_from_matrix

Model = Any  # pinocchio.Model, which has no types
WORLD = "world"

_AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1)}
_ALONG_AXIS = {
    "RevoluteUnaligned": Revolute, "RevoluteUnboundedUnaligned": Continuous, "PrismaticUnaligned": Prismatic,
    **{f"R{a}": Revolute for a in _AXES}, **{f"RUB{a}": Continuous for a in _AXES},
    **{f"P{a}": Prismatic for a in _AXES},
    "HelicalUnaligned": Helical, **{f"H{a}": Helical for a in _AXES},
}  # fmt: skip
_OTHER = {"Spherical": Spherical(), "Planar": Planar(), "FreeFlyer": Free()}


@explained
def from_pinocchio(model: Model) -> Robot:
    """The robot that a ``pinocchio.Model`` describes: joints, inertias, frames, limits, armature, gravity.

    Each joint of the model becomes a joint and a body, which takes the name of the model's body there.
    What was a fixed joint or a body fixed to another is a frame. Every joint with one degree of freedom
    and an effort limit above 0 gets a motor, as in `load_urdf`. Shapes are in Pinocchio's GeometryModel
    and not read.

    Joints keep the order of the model, so q and v go over as they are, with one exception, which the report names: an
    unbounded revolute joint (``RUBX`` and the like) has a cosine and a sine in Pinocchio and one angle here.
    `PinocchioLayout` takes q and v over in any case, both ways.

    Raises:
        RobotError: for joint models that Pliant has no kind for, such as composites.
    """
    if not hasattr(model, "jointPlacements"):
        problem = f"from_pinocchio takes a pinocchio.Model, not {type(model).__name__}"
        raise RobotError(problem, subject="from_pinocchio", field="model")
    builder = RobotBuilder(model.name or "robot")
    builder.gravity(*(float(g) for g in model.gravity.linear))
    bodies = _body_names(model)
    for i in range(1, model.njoints):
        inertia = model.inertias[i]
        tensor = [float(inertia.inertia[r, c]) for r in range(3) for c in range(r, 3)]
        builder.body(bodies[i], float(inertia.mass), [float(x) for x in inertia.lever], tensor)
        _add_joint(builder, model, i, bodies)
    if model.njoints == 1:
        builder.body(model.name or "robot")  # all of it is fixed; its frames are on the world
    dropped = _add_frames(builder, model, bodies)

    robot = builder.build(strict=False, order="given")
    for joint in robot.joints.values():
        if joint.kind.nv == 1 and joint.limits.effort[0] > 0:
            effort, velocity = joint.limits.effort[0], joint.limits.velocity[0]
            robot = robot.with_motor(joint.name, effort_limit=effort, velocity_limit=velocity)
    return replace(robot, report=Report([*robot.report, *dropped, *_angles(robot, model)]))


def _angles(robot: Robot, model: Model) -> list[Finding]:
    """A finding about joints that have two coordinates in the model and one here."""
    # the first one, of the universe, has no sizes
    joints = list(zip(model.names, model.joints, strict=True))[1:]
    angles = [name for name, joint in joints if (joint.nq, joint.nv) == (2, 1)]
    if not angles:
        return []
    message = (
        f"one angle each in place of cosine and sine, so q has {robot.nq} entries, not {model.nq}; "
        "PinocchioLayout(robot, model) takes q over"
    )
    return [Finding("repaired", f"joint{'s' * (len(angles) > 1)} {', '.join(map(repr, angles))}", message)]


def _body_names(model: Model) -> list[str]:
    """A name for what each joint carries: that of the first body at the joint's own frame, if there is one."""
    names = [WORLD]
    at_joint: dict[int, str] = {}
    for frame in model.frames:
        if str(frame.type) == "BODY" and frame.placement.isIdentity():
            at_joint.setdefault(frame.parentJoint, frame.name)
    for i in range(1, model.njoints):
        name = at_joint.get(i, f"{model.names[i]}_body")
        names.append("world_link" if name == WORLD else name)
    return names


def _add_joint(builder: RobotBuilder, model: Model, i: int, bodies: list[str]) -> None:
    joint, name = model.joints[i], model.names[i]
    kind = _kind(joint, name)
    placement = model.jointPlacements[i]
    v = slice(joint.idx_v, joint.idx_v + joint.nv)
    limits = Limits(effort=_limits(model, "EffortLimit", v), velocity=_limits(model, "VelocityLimit", v))
    if isinstance(kind, (Revolute, Prismatic, Helical)) and not isinstance(kind, Continuous):
        lower, upper = (float(x[joint.idx_q]) for x in (model.lowerPositionLimit, model.upperPositionLimit))
        limits = replace(limits, lower=_endless(lower), upper=_endless(upper))
    friction = getattr(model, "upperDryFrictionLimit", None)
    builder.joint(
        name,
        kind,
        bodies[model.parents[i]],
        bodies[i],
        [float(x) for x in placement.translation],
        _rpy(placement.rotation),
        limits=limits,
        damping=[float(x) for x in model.damping[v]],
        friction=[float(x) for x in (model.friction if friction is None else friction)[v]],
        armature=[float(x) for x in model.armature[v]],
    )


def _kind(joint: Any, name: str) -> JointKind:
    model = joint.shortname().removeprefix("JointModel")
    if model in _OTHER:
        return _OTHER[model]
    if model not in _ALONG_AXIS:
        known = ", ".join(sorted([*_ALONG_AXIS, *_OTHER]))
        problem = f"joint {name!r} is a {joint.shortname()}, which Pliant does not have"
        raise RobotError(problem, subject=f"joint {name!r}", field="kind", cure=f"it has {known}")
    concrete = joint.extract()
    x, y, z = (float(a) for a in concrete.axis) if model.endswith("Unaligned") else _AXES[model[-1]]
    kind = _ALONG_AXIS[model]
    return Helical((x, y, z), float(concrete.pitch)) if kind is Helical else kind((x, y, z))


def _limits(model: Model, what: str, v: slice) -> list[float]:
    """Upper limits; Pinocchio before 3.5 has them under a shorter name."""
    values = getattr(model, f"upper{what}", None)
    if values is None:
        values = getattr(model, what[0].lower() + what[1:])
    return [_endless(float(x)) for x in values[v]]


def _endless(x: float) -> float:
    """Pinocchio's largest float means that there is no limit."""
    return math.copysign(math.inf, x) if abs(x) > 1e300 else x


def _add_frames(builder: RobotBuilder, model: Model, bodies: list[str]) -> list[Finding]:
    """Every frame that is not a body's or joint's own; returns findings about those left out."""
    taken, dropped = {*bodies, *model.names, *([model.name] if model.njoints == 1 else [])}, []
    for frame in list(model.frames)[1:]:
        if str(frame.type) == "JOINT" or bodies[frame.parentJoint] == frame.name:
            continue
        if frame.name in taken:
            message = f"another body, joint or frame has its name: this {frame.type} frame is left out"
            dropped.append(Finding("dropped", f"frame {frame.name!r}", message))
            continue
        taken.add(frame.name)
        position = [float(x) for x in frame.placement.translation]
        builder.frame(frame.name, bodies[frame.parentJoint], position, _rpy(frame.placement.rotation))
    return dropped


def _rpy(R: Any) -> tuple[float, float, float]:
    return rpy_from_matrix(Matrix3(float(x) for x in R.ravel()))
