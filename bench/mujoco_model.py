"""A scene as a MuJoCo model, made from the Pliant robot and proved to be the same robot.

MuJoCo's free joint has the quaternion's w first and its linear velocity in the world's axes; Pliant's (and
Pinocchio's) has w last and both velocities in the body's axes. Joints are matched by name.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import mujoco
import numpy as np

import pliant
from bench.contact_scene import ContactScene
from bench.report import CheckError
from pliant.robot.model import WORLD
from pliant.spatial import Transform
from pliant.spatial.vectors import quaternion_from_matrix

__all__ = ["HARD", "VARIANTS", "Layout", "Variant", "add_body", "mujoco_model", "pose_of"]

_HINGES = ("revolute", "continuous")


@dataclass(frozen=True)
class Variant:
    """Settings that MuJoCo's users choose from, all else as shipped (tolerance 1e-8, at most 100 iterations).

    Attributes:
        integrator: Euler is implicit in the damping of joints, implicitfast in that of actuators too.
        cone: of friction.
        islands: whether it looks for separate groups of contacts (MuJoCo's default).
        solver: MuJoCo's default is Newton.
        impratio: how much harder friction is than the normal direction; more of it, less creeping.
    """

    integrator: str
    cone: str
    islands: bool = True
    solver: str = "Newton"
    impratio: float = 1

    def __str__(self) -> str:
        odd = "" if self.islands else " no-islands"
        odd += "" if self.solver == "Newton" else f" {self.solver}"
        return f"{self.integrator} {self.cone}{odd}{'' if self.impratio == 1 else f' impratio {self.impratio:g}'}"


VARIANTS = (
    *(Variant(*chosen) for chosen in product(("Euler", "implicitfast"), ("pyramidal", "elliptic"), (True, False))),
    *(Variant("Euler", cone, islands=False, solver="CG") for cone in ("pyramidal", "elliptic")),
)
HARD = Variant("Euler", "elliptic", islands=False, impratio=100)
"""Friction made harder, against creeping: it slips less on ANYmal, not on every robot."""


def mujoco_model(scene: ContactScene, variant: Variant) -> mujoco.MjModel:
    """The scene's robot, ground and motors."""
    robot = scene.robot
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    option = spec.option
    option.timestep = scene.dt
    option.gravity = list(robot.gravity)
    option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{variant.integrator.upper()}")
    option.cone = getattr(mujoco.mjtCone, f"mjCONE_{variant.cone.upper()}")
    option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{variant.solver.upper()}")
    option.impratio = variant.impratio
    if not variant.islands:
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND.value
    friction = [scene.friction, 0, 0]
    # only the points meet the ground: a geom meets another where its contype shares a bit with their conaffinity
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(
        name="ground", type=plane, size=[0, 0, 1], friction=friction, condim=3, contype=0, conaffinity=1
    )
    bodies: dict[str, Any] = {WORLD: spec.worldbody}
    for joint in robot.joints.values():
        bodies[joint.child] = add_body(bodies[joint.parent], robot, joint)
    for point in scene.points:
        frame = robot.frame(point.frame)
        bodies[frame.body].add_geom(
            name=point.frame, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[point.radius, 0, 0], pos=list(frame.placement.p),
            mass=0, friction=friction, condim=3, contype=1, conaffinity=0,
        )  # fmt: skip
    # Euler takes only joints' own damping implicitly; as motors ask for no speed, kd is such a damping
    in_joint = variant.integrator == "Euler"
    for motor, kp, kd in zip(robot.motors.values(), scene.kp, scene.kd, strict=True):
        actuator = spec.add_actuator(name=motor.name, target=motor.joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=kp, kv=0 if in_joint else kd)
        if in_joint:
            spec.joint(motor.joint).damping[0] += kd
        if math.isfinite(motor.effort_limit):
            actuator.forcelimited = True
            actuator.forcerange = [-motor.effort_limit, motor.effort_limit]
    model = spec.compile()
    _check_same(scene, model)
    return model


def add_body(parent: Any, robot: pliant.Robot, joint: Any) -> Any:
    """The body that a joint carries, with the joint, as a child of MuJoCo's ``parent``."""
    inertia = robot.bodies[joint.child].inertia
    mass = inertia.mass
    com = np.array(list(inertia.h)) / mass
    about_com = np.array([inertia.J.entry(r, c) for r in range(3) for c in range(3)]).reshape(3, 3)
    about_com -= mass * (com @ com * np.eye(3) - np.outer(com, com))
    full = [about_com[k] for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    body = parent.add_body(name=joint.child, **pose_of(joint.placement))
    body.mass, body.ipos, body.fullinertia, body.explicitinertial = mass, com, full, True
    kind = joint.kind.name
    if kind == "free":
        body.add_freejoint(name=joint.name, align=mujoco.mjtAlignFree.mjALIGNFREE_FALSE)
        return body
    if kind not in (*_HINGES, "prismatic") or joint.mimic is not None:
        raise CheckError(f"{robot.name}: no MuJoCo model for joint {joint.name!r}, {kind}")
    lower, upper = joint.limits.lower[0], joint.limits.upper[0]
    made = body.add_joint(
        name=joint.name,
        type=mujoco.mjtJoint.mjJNT_HINGE if kind in _HINGES else mujoco.mjtJoint.mjJNT_SLIDE,
        axis=list(joint.kind.axis),
        frictionloss=joint.friction[0],
        armature=joint.armature[0] + sum(m.armature for m in robot.motors.values() if m.joint == joint.name),
    )
    made.damping[0] = joint.damping[0]
    if math.isfinite(lower) and math.isfinite(upper):
        made.limited, made.range = mujoco.mjtLimited.mjLIMITED_TRUE, [lower, upper]
    return body


def pose_of(X: Transform) -> dict[str, list[float]]:
    """A pose as MuJoCo takes it."""
    x, y, z, w = quaternion_from_matrix(X.R.matrix())
    return {"pos": list(X.p), "quat": [w, x, y, z]}


class Layout:
    """Takes configurations, velocities and controls from Pliant's layout to MuJoCo's, and back; arrays (..., n)."""

    def __init__(self, robot: pliant.Robot, model: mujoco.MjModel):
        self.robot, self.model = robot, model
        single = [j for j in robot.joints.values() if j.kind.nq == 1]
        names = [j.name for j in single]
        self._q = np.array([robot.q_slice(n).start for n in names], dtype=int)
        self._v = np.array([robot.v_slice(n).start for n in names], dtype=int)
        self._qpos = np.array([model.joint(n).qposadr[0] for n in names], dtype=int)
        self._qvel = np.array([model.joint(n).dofadr[0] for n in names], dtype=int)

    @cached_property
    def actuators(self) -> np.ndarray:
        """Which motor each actuator is."""
        motors = list(self.robot.motors)
        return np.array([motors.index(self.model.actuator(k).name) for k in range(self.model.nu)], dtype=int)

    def qpos(self, q: np.ndarray) -> np.ndarray:
        qpos = np.empty_like(q)
        qpos[..., :3], qpos[..., 3], qpos[..., 4:7] = q[..., :3], q[..., 6], q[..., 3:6]
        qpos[..., self._qpos] = q[..., self._q]
        return qpos

    def qvel(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        qvel = np.empty_like(v)
        qvel[..., :3] = (_rotation(q) @ v[..., :3, None])[..., 0]
        qvel[..., 3:6] = v[..., 3:6]
        qvel[..., self._qvel] = v[..., self._v]
        return qvel

    def q(self, qpos: np.ndarray) -> np.ndarray:
        q = np.empty_like(qpos)
        q[..., :3], q[..., 6], q[..., 3:6] = qpos[..., :3], qpos[..., 3], qpos[..., 4:7]
        q[..., self._q] = qpos[..., self._qpos]
        return q

    def v(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        v = np.empty_like(qvel)
        R_WB = _rotation(self.q(qpos))
        v[..., :3] = (np.swapaxes(R_WB, -1, -2) @ qvel[..., :3, None])[..., 0]
        v[..., 3:6] = qvel[..., 3:6]
        v[..., self._v] = qvel[..., self._qvel]
        return v

    def velocity_map(self, q: np.ndarray) -> np.ndarray:
        """T with qvel = T v."""
        return np.stack([self.qvel(q, e) for e in np.eye(self.robot.nv)], axis=-1)


def _rotation(q: np.ndarray) -> np.ndarray:
    """R_WB of a floating base, (..., 3, 3)."""
    x, y, z, w = (q[..., k] for k in range(3, 7))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def _check_same(scene: ContactScene, model: mujoco.MjModel) -> None:
    """Mass matrix, bias forces and points of contact must agree at random states, or there is nothing to compare."""
    robot, data, layout = scene.robot, mujoco.MjData(model), Layout(scene.robot, model)
    rng = np.random.default_rng(0)
    for q in robot.random(rng, batch=3):
        v = rng.normal(size=robot.nv)
        data.qpos, data.qvel = layout.qpos(q), layout.qvel(q, v)
        mujoco.mj_forward(model, data)
        M = np.empty((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        T = layout.velocity_map(q)
        expected = pliant.mass_matrix(robot, q)
        # qvel' = T v' + T' v; T' v is the base's w x v, in the world's axes
        turning = np.zeros(model.nv)
        turning[:3] = _rotation(q) @ np.cross(v[3:6], v[:3])
        bias = T.T @ (data.qfrc_bias + M @ turning)
        points = np.array([data.geom(p.frame).xpos for p in scene.points])
        frames = np.array([pliant.frame_pose(robot, q, p.frame)[:3, 3] for p in scene.points])
        for what, found, wanted in (
            ("mass matrix", T.T @ M @ T, expected),
            ("bias forces", bias, pliant.bias_forces(robot, q, v)),
            ("points of contact", points, frames),
        ):
            error = np.abs(found - wanted).max() / np.abs(wanted).max()
            if not error < 1e-8:
                raise CheckError(f"{scene.name}: MuJoCo's {what} differ by {error:.1e}, it is not the same robot")
