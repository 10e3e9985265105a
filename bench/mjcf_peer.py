"""A robot from an MJCF file next to MuJoCo's own model of it, number by number."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from pliant.actuation.joint_forces import joint_forces, motor_torques
from pliant.dynamics import bias_forces, mass_matrix
from pliant.dynamics.kinematics import link_poses
from pliant.formats import MjcfRobot
from pliant.formats.journal import Journal
from pliant.formats.mjcf_files import gathered
from pliant.robot import MotorLaw, Named, Robot


class MujocoPeer:
    """MuJoCo's model of a file, reduced to what the robot has: no constraints, and no actuators that were left out."""

    def __init__(self, path: Path, made: MjcfRobot, packages: Iterable[str | Path] = ()):
        self.made, self.robot = made, made.robot
        files = gathered(path, packages, Journal(str(path)))
        vfs = mujoco.MjVfs()
        for name, content in files.contents.items():
            vfs[name] = content
        self.m = mujoco.MjModel.from_xml_path(files.main, vfs=vfs)
        self.m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT.value
        self.m.opt.density = self.m.opt.viscosity = 0
        self.m.body_gravcomp[:] = 0
        kept = {control.place for control in made.controls}
        for k in range(self.m.nactuator):
            if int(self.m.actuator_ctrladr[k]) not in kept:
                for array in (self.m.actuator_gainprm, self.m.actuator_biasprm, self.m.actuator_gaintype,
                              self.m.actuator_biastype):  # fmt: skip
                    array[k] = 0
        self._drop_tendons()
        self.d = mujoco.MjData(self.m)

    def _drop_tendons(self) -> None:
        """Remove forces and inertia of tendons that no spring of the robot stands for; they are in its report."""
        for k in range(self.m.ntendon):
            name = self.m.tendon(k).name or f"tendon{k}"
            self.m.tendon_armature[k] = 0
            if name not in self.robot.springs:
                self.m.tendon_stiffness[k] = self.m.tendon_damping[k] = 0
                self.m.tendon_stiffnesspoly[k] = self.m.tendon_dampingpoly[k] = 0

    def put(self, q: np.ndarray, v: np.ndarray, ctrl: Any = None, act: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Set a state, and evaluate it; returns T and b with MuJoCo's qvel = T v, and its rate T v' + b."""
        m, d, made, robot = self.m, self.d, self.made, self.robot
        T, b = np.zeros((m.nv, robot.nv)), np.zeros(m.nv)
        qpos, qvel = made.qpos(q), made.qvel(q, v)
        for name, j in made.joints:
            at, own = made.dofs(j), robot.v_slice(name)
            T[at, own] = np.eye(at.stop - at.start)
            if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, qpos[m.jnt_qposadr[j] + 3 : m.jnt_qposadr[j] + 7])
                R = R.reshape(3, 3)
                T[at.start : at.start + 3, own.start : own.start + 3] = R
                b[at.start : at.start + 3] = R @ np.cross(v[own][3:], v[own][:3])
        for joint in robot.joints.values():
            if joint.mimic is not None:
                leader, factor, offset = _leader(robot, joint.name)
                j = m.joint(joint.name).id
                qpos[m.jnt_qposadr[j]] = factor * q[robot.q_slice(leader)][0] + offset
                qvel[m.jnt_dofadr[j]] = factor * v[robot.v_slice(leader)][0]
                T[m.jnt_dofadr[j], robot.v_slice(leader)] = factor
        d.qpos[:], d.qvel[:] = qpos, qvel
        d.ctrl[:] = 0 if ctrl is None else ctrl
        d.act[:] = 0 if act is None else act
        mujoco.mj_forward(m, d)
        return T, b

    def random_controls(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Controls, some beyond their ranges, and activations within theirs."""
        m = self.m
        ctrl, act = rng.uniform(-2, 2, m.nu), rng.uniform(-1, 1, m.na)
        for k in range(m.nactuator):
            at = int(m.actuator_actadr[k])
            if at >= 0 and m.actuator_actlimited[k]:
                act[at] = rng.uniform(*m.actuator_actrange[k])
        return ctrl, act


def differences(peer: MujocoPeer, made: MjcfRobot, states: int = 3, seed: int = 0) -> dict[str, float]:
    """The largest differences to MuJoCo at random states, each relative to the largest entry, or to 1 if that is less.

    Of the mass matrix, bias forces, springs and damping, poses of bodies and sites, mass, and torques of motors as they
    act on the joints.
    """
    robot, rng = made.robot, np.random.default_rng(seed)
    m, d = peer.m, peer.d
    worst: dict[str, float] = {}

    def compare(what: str, ours: Any, theirs: Any) -> None:
        ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
        size = max(1.0, float(np.abs(theirs).max(initial=0)))
        worst[what] = max(worst.get(what, 0.0), float(np.abs(ours - theirs).max(initial=0)) / size)

    still = replace(robot, motors=Named("motor", ()), sensors=Named("sensor", ()))
    compare("mass", robot.mass, sum(m.body_mass[b] for b in made.bodies if b))
    for _ in range(states):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        ctrl, act = peer.random_controls(rng)
        T, b = peer.put(q, v, ctrl, act)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        compare("mass matrix", mass_matrix(robot, list(q)), T.T @ M @ T)
        compare("bias", bias_forces(robot, list(q), list(v)), T.T @ (d.qfrc_bias + M @ b))
        poses = link_poses(robot.mechanism, list(q))
        for names, places, turns in ((made.bodies, d.xpos, d.xmat), (made.sites, d.site_xpos, d.site_xmat)):
            for k, name in names.items():
                i, X_BF = robot.mechanism.frame(name)
                H = np.array((poses[i] @ X_BF if i >= 0 else X_BF).homogeneous(), dtype=float)
                compare("poses", H[:3, 3], places[k])
                compare("poses", H[:3, :3], turns[k].reshape(3, 3))
        own = joint_forces(still, list(q), list(v), [], 0.0)
        passive = np.array(own.f, dtype=float) - np.array(own.damping, dtype=float) * v
        if not made.robot.springs:
            compare("passive", passive, T.T @ d.qfrc_passive)
        if robot.nu:
            compare("torques", _forces(made, q, v, ctrl, act, m), T.T @ d.qfrc_actuator)
    return worst


def _leader(robot: Robot, name: str) -> tuple[str, float, float]:
    """The joint that a joint follows in the end, with factor and offset."""
    factor, offset, joint = 1.0, 0.0, robot.joints[name]
    while joint.mimic is not None:
        factor, offset = factor * float(joint.mimic.multiplier), offset + factor * float(joint.mimic.offset)
        joint = robot.joints[joint.mimic.joint]
    return joint.name, factor, offset


def _forces(made: MjcfRobot, q: np.ndarray, v: np.ndarray, ctrl: Any, act: Any, m: Any) -> np.ndarray:
    """The motors' torques at the dofs."""
    robot, u = made.robot, made.u(ctrl)
    shafts = np.zeros((robot.nu, robot.nv))
    places = np.zeros(robot.nu)
    for k, motor in enumerate(robot.motors.values()):
        for joint, ratio in motor.coupling or ((motor.joint, 1.0),):
            leader, factor, offset = _leader(robot, joint)
            shafts[k, robot.v_slice(leader)] += float(ratio) * factor
            places[k] += float(ratio) * (factor * q[robot.q_slice(leader)][0] + offset)
        if isinstance(motor.law, MotorLaw):
            index = next(c.place for c in made.controls if c.motor == motor.name)
            actuator = next(i for i in range(m.nactuator) if m.actuator_ctrladr[i] == index)
            memory = (float(act[m.actuator_actadr[actuator]]), 0.0, 0.0)
            u[k], _ = motor.law.function(float(u[k]), places[k], float(shafts[k] @ v), 0.0, memory)
    torques = motor_torques(robot, list(q), list(v), list(u), 0.0)
    return shafts.T @ np.array(torques, dtype=float)
