"""Random robots and states for Hypothesis, and the same robots as Pinocchio models."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from hypothesis import strategies as st

from pliant.robot import (
    Continuous, Fixed, Free, Helical, JointKind, Mimic, Planar, Prismatic, Revolute, Robot, RobotBuilder, Spherical,
)  # fmt: skip
from pliant.spatial import Inertia, Transform

ONE_DOF = ("revolute", "continuous", "prismatic", "helical")
ALL = (*ONE_DOF, "spherical", "planar", "free", "fixed")
ANGLES = (0, math.pi / 2, -math.pi / 2, math.pi)

seeds = st.integers(0, 2**32 - 1)


class State(NamedTuple):
    """Configuration, velocity, acceleration and joint forces of one robot."""

    q: np.ndarray
    v: np.ndarray
    vd: np.ndarray
    tau: np.ndarray

    @property
    def lists(self) -> tuple[list[float], ...]:
        """The same as lists, as an algorithm takes them."""
        return tuple(x.tolist() for x in self)


@st.composite
def robots(
    draw: st.DrawFn, kinds: Sequence[str] = ALL, *, most: int = 6, mimic: bool = True, floating: bool | None = None
) -> Robot:
    """A tree of up to ``most`` joints of the given kinds: any axes, armature, gravity, frames off the bodies' own.

    Args:
        mimic: whether joints may follow others, also ones above them.
        floating: whether the base floats; None for either.
    """
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=most))
    parents = [draw(st.integers(max(-1, k - 3), k - 1)) for k in range(len(chosen))]
    is_free = draw(st.booleans()) if floating is None else floating
    return robot_of(chosen, parents, np.random.default_rng(draw(seeds)), mimic=mimic, floating=is_free)


def robot_of(
    kinds: Sequence[str],
    parents: Sequence[int],
    rng: np.random.Generator,
    *,
    mimic: bool = False,
    floating: bool = False,
) -> Robot:
    """A robot with a joint of each kind on the body of the parent, -1 for the base, and chance for the rest."""
    builder = RobotBuilder("random")
    builder.gravity(*rng.uniform(-10, 10, 3).tolist())
    _add_body(builder, "base", rng)
    leaders: list[str] = []
    for k, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        _add_body(builder, f"body{k}", rng)
        follows = mimic and kind in ONE_DOF and leaders and rng.random() < 0.4
        name = f"joint{k}"
        builder.joint(
            name,
            _kind(kind, rng),
            "base" if parent < 0 else f"body{parent}",
            f"body{k}",
            rng.uniform(-1, 1, 3).tolist(),
            _turn(rng),
            armature=float(rng.choice([0, rng.uniform(0, 0.5)])),
            mimic=Mimic(str(rng.choice(leaders)), float(rng.uniform(-2, 2)), 0.3) if follows else None,
        )
        if kind in ONE_DOF:
            leaders.append(name)
        builder.frame(f"frame{k}", f"body{k}", rng.uniform(-1, 1, 3).tolist(), _turn(rng))
    return builder.build(base="free" if floating else "fixed")


def state_of(robot: Robot, seed: int, turn: float | None = None) -> State:
    """A state; ``turn`` is the angle by which spherical and free joints are turned, None for uniform rotations."""
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    if turn is not None:
        w = rng.standard_normal(robot.nv)
        for joint in robot.joints.values():
            if joint.kind.name in ("spherical", "free"):
                angular = slice(robot.v_slice(joint.name).stop - 3, robot.v_slice(joint.name).stop)
                w[angular] *= turn / np.linalg.norm(w[angular])
        q = robot.integrate(robot.neutral(), w)
    return State(q, *(rng.standard_normal(robot.nv) for _ in range(3)))


# uniform rotations, next to none, next to half a turn
turns = st.one_of(st.none(), st.floats(0, 1e-7), st.floats(math.pi - 1e-7, math.pi))


def rate(function: Callable[[list, list], Any], robot: Robot, state: State, h: float = 3e-4) -> np.ndarray:
    """d/dt of ``function(q, v)`` as the robot moves on with v and vd: central differences of order h^4.

    The error is about 1e-10 for robots that turn by a few radians a second.
    """

    def at(t: float) -> np.ndarray:
        q = robot.integrate(state.q, state.v * t + state.vd * t * t / 2)
        return np.array(function(q.tolist(), (state.v + state.vd * t).tolist()), dtype=float)

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def gradient(function: Callable[[list], Any], robot: Robot, q: np.ndarray) -> np.ndarray:
    """d/dq of ``function(q)`` by each dof, in the last axis; error as for `rate`."""
    zero = np.zeros(robot.nv)
    units = [State(q, unit, zero, zero) for unit in np.eye(robot.nv)]
    return np.stack([rate(lambda q, _: function(q), robot, unit) for unit in units], axis=-1)


def close(found: Any, expected: Any, tolerance: float) -> None:
    """Equal within ``tolerance`` times the largest of the expected entries, or of one."""
    a, b = np.array(found, dtype=float), np.array(expected, dtype=float)
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1, abs(b).max(initial=0)))


def _add_body(builder: RobotBuilder, name: str, rng: np.random.Generator) -> None:
    cloud = rng.standard_normal((4, 3)) * 0.3
    tensor = np.trace(cloud.T @ cloud) * np.eye(3) - cloud.T @ cloud
    builder.body(
        name, float(rng.uniform(0.5, 2)), rng.uniform(-0.5, 0.5, 3).tolist(), tensor[np.triu_indices(3)].tolist()
    )


def _turn(rng: np.random.Generator) -> list[float]:
    return (rng.choice(ANGLES, 3) if rng.random() < 0.5 else rng.uniform(-3, 3, 3)).tolist()


def _kind(name: str, rng: np.random.Generator) -> JointKind:
    coordinate = np.roll([int(rng.choice([-1, 1])), 0, 0], rng.integers(3))
    axis = coordinate if rng.random() < 0.5 else rng.standard_normal(3)
    direction = tuple((axis / np.linalg.norm(axis)).tolist())
    match name:
        case "helical":
            return Helical(direction, float(rng.uniform(-0.5, 0.5)))
        case "planar":
            return Planar(direction)
    fixed = {"spherical": Spherical(), "free": Free(), "fixed": Fixed()}
    turning = {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic}
    return fixed[name] if name in fixed else turning[name](direction)


# ---- Pinocchio


def pinocchio_model(robot: Robot) -> pin.Model:
    """The same robot for Pinocchio, with our frames; none of its joints may mimic.

    A planar joint across another axis than z is turned there and back, since Pinocchio's moves in x and y.
    """
    model = pin.Model()
    model.gravity.linear = np.array([float(g) for g in robot.gravity])
    # the joint that carries each body, and the pose of the body's frame in the joint's
    places: dict[str, tuple[int, pin.SE3]] = {"world": (0, pin.SE3.Identity())}
    armature: list[float] = []
    for joint in robot.joints.values():
        assert joint.mimic is None
        parent, X_IP = places[joint.parent]
        placement = X_IP * _se3(joint.placement)
        if joint.kind.nv:
            turn = _turn_of_plane(joint.kind)
            i = model.addJoint(parent, _joint_model(joint.kind), placement * turn, joint.name)
            places[joint.child] = i, turn.inverse()
            armature += joint.armature
        else:
            places[joint.child] = parent, placement
        i, X_IB = places[joint.child]
        if i:
            model.appendBodyToJoint(i, _inertia(robot.bodies[joint.child].inertia), X_IB)
    for frame in robot.frames.values():
        i, X_IB = places[frame.body]
        model.addFrame(pin.Frame(frame.name, i, X_IB * _se3(frame.placement), pin.FrameType.OP_FRAME))
    model.armature = np.array(armature)
    return model


def _turn_of_plane(kind: JointKind) -> pin.SE3:
    if not isinstance(kind, Planar):
        return pin.SE3.Identity()
    columns = [np.array([float(x) for x in list(c)]) for c in kind.columns]
    return pin.SE3(np.stack([columns[0][:3], columns[1][:3], columns[2][3:]], axis=1), np.zeros(3))


def _joint_model(kind: JointKind) -> pin.JointModel:
    if isinstance(kind, Helical):
        return pin.JointModelHelicalUnaligned(np.array(kind.axis, float), float(kind.pitch))
    if isinstance(kind, Revolute | Continuous):
        return pin.JointModelRevoluteUnaligned(np.array(kind.axis, float))
    if isinstance(kind, Prismatic):
        return pin.JointModelPrismaticUnaligned(np.array(kind.axis, float))
    models = {"spherical": pin.JointModelSpherical, "planar": pin.JointModelPlanar, "free": pin.JointModelFreeFlyer}
    return models[kind.name]()


def _se3(X: Transform) -> pin.SE3:
    return pin.SE3(np.array(X.homogeneous(), dtype=float))


def _inertia(I: Inertia) -> pin.Inertia:
    c = np.array([float(h) / I.mass for h in I.h])
    about_origin = np.array([[float(I.J.entry(r, k)) for k in range(3)] for r in range(3)])
    return pin.Inertia(float(I.mass), c, about_origin - I.mass * (c @ c * np.eye(3) - np.outer(c, c)))
