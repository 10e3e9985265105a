"""Pinocchio as an oracle: every URDF of example-robot-data that it loads, and random trees of every joint kind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

from pliant.dynamics import (
    bias_forces, center_of_mass, center_of_mass_jacobian, center_of_mass_velocity, centroidal_matrix,
    centroidal_momentum, centroidal_momentum_rate, compile, coriolis_matrix, forward_dynamics, frame_acceleration,
    frame_jacobian, frame_jacobian_rate, frame_pose, frame_velocity, gravity_forces, inverse_dynamics, kinetic_energy,
    mass_matrix, potential_energy,
)  # fmt: skip
from pliant.errors import RobotError
from pliant.robot import Robot
from random_robots import pinocchio_model, robots, seeds, state_of, turns
from real_robots import FAMILIES, LEFT_OUT, MIMICS, PATHS, ROBOTS, SINGULAR, Pair, pinocchio_robot, real_robot

REFERENCES = {name: getattr(pin.ReferenceFrame, name.upper()) for name in ("world", "local", "local_world_aligned")}

# of each number, and what is left of numbers that cancel, of the largest of their array
RELATIVE, CANCELLED = 1e-10, 1e-13


def agree(what: str, found: Any, expected: Any, scale: float = 0, cancelled: float = CANCELLED) -> None:
    a = np.array(found, dtype=float)
    b = np.reshape(expected, a.shape)  # Pinocchio drops the second axis of a matrix with one column
    atol = cancelled * max(scale, abs(b).max(initial=0))
    np.testing.assert_allclose(a, b, rtol=RELATIVE, atol=atol, err_msg=what)


class Checked(Pair):
    """A state, with what is compared at it."""

    def check_forces(self, coriolis: bool = True) -> None:
        robot, model, data = self.robot, self.model, self.data
        (q, v, vd, _), theirs = self.ours, (model, data, self.q)
        M = np.triu(pin.crba(*theirs))
        M = M + np.triu(M, 1).T
        heavy = abs(M).max()  # what is zero with us may be rounding of this with them
        agree("mass matrix", mass_matrix.algorithm(robot, q), M)
        forces = pin.rnea(*theirs, self.v, self.vd)
        agree("inverse dynamics", inverse_dynamics.algorithm(robot, q, v, vd), forces, heavy)
        agree("bias", bias_forces.algorithm(robot, q, v), pin.nonLinearEffects(*theirs, self.v), heavy)
        agree("gravity", gravity_forces.algorithm(robot, q), pin.computeGeneralizedGravity(*theirs), heavy)
        if coriolis:
            C = pin.computeCoriolisMatrix(*theirs, self.v)
            agree("Coriolis", coriolis_matrix.algorithm(robot, q, v), C, heavy)

    def check_energy(self) -> None:
        robot, (q, v, _, _), theirs = self.robot, self.ours, (self.model, self.data, self.q)
        kinetic = pin.computeKineticEnergy(*theirs, self.v)
        if self.model.armature.any():  # Pinocchio 4.1 forgets that of some kinds of joints here (RevoluteUnaligned)
            M = np.triu(pin.crba(*theirs))
            kinetic = self.v @ (M + np.triu(M, 1).T) @ self.v / 2
        agree("kinetic energy", kinetic_energy.algorithm(robot, q, v), kinetic)
        mass = pin.computeTotalMass(self.model)
        agree("potential energy", potential_energy.algorithm(robot, q), pin.computePotentialEnergy(*theirs), mass)

    def check_accelerations(self, found: Any) -> None:
        # what cancels is lost in the rounding of joints with light links: M is conditioned up to 1e7
        expected = pin.aba(self.model, self.data, self.q, self.v, self.tau)
        agree("forward dynamics", found, expected, cancelled=1e-10)

    def check_momentum(self) -> None:
        robot, model, data = self.robot, self.model, self.data
        (q, v, vd, _), theirs = self.ours, (model, data, self.q)
        pin.centerOfMass(*theirs, self.v)
        agree("centre of mass", center_of_mass.algorithm(robot, q), data.com[0], 1)
        agree("its velocity", center_of_mass_velocity.algorithm(robot, q, v), data.vcom[0], 1)
        agree("its Jacobian", center_of_mass_jacobian.algorithm(robot, q), pin.jacobianCenterOfMass(*theirs))
        agree("momentum matrix", centroidal_matrix.algorithm(robot, q), pin.computeCentroidalMap(*theirs))
        pin.computeCentroidalMomentumTimeVariation(*theirs, self.v, self.vd)
        agree("momentum", centroidal_momentum.algorithm(robot, q, v), data.hg.vector, data.mass[0])
        agree("momentum rate", centroidal_momentum_rate.algorithm(robot, q, v, vd), data.dhg.vector, data.mass[0])

    def check_dynamics(self, forward: bool = True) -> None:
        if self.robot.nv:
            self.check_forces()
            self.check_energy()
            self.check_momentum()
        if self.robot.nv and forward:
            q, v, _, tau = self.ours
            self.check_accelerations(forward_dynamics.algorithm(self.robot, q, v, tau))

    def check_frames(self, frames: dict[str, list[int]], motion: bool) -> None:
        """Poses and Jacobians, ours with each frame of Pinocchio's that it is; with ``motion``, the rest of some."""
        robot, model, data = self.robot, self.model, self.data
        q, v, vd, _ = self.ours
        pin.computeJointJacobiansTimeVariation(model, data, self.q, self.v)
        pin.forwardKinematics(model, data, self.q, self.v, self.vd)
        pin.updateFramePlacements(model, data)
        moving = list(frames)[:: len(frames) // 20 + 1] if motion else []
        for name, theirs in frames.items():
            X = frame_pose.algorithm(robot, q, name)
            for i in theirs:
                agree(f"pose of {name}", X, data.oMf[i].homogeneous, 1)
            if not robot.nv:  # Pinocchio crashes on Jacobians without columns
                assert frame_jacobian.algorithm(robot, q, name) == [[]] * 6
                continue
            for reference, index in REFERENCES.items():
                J = frame_jacobian.algorithm(robot, q, name, reference=reference)
                for i in theirs:
                    agree(f"{reference} Jacobian of {name}", J, pin.getFrameJacobian(model, data, i, index), 1)
                if name not in moving:
                    continue
                i = theirs[0]
                found = frame_velocity.algorithm(robot, q, v, name, reference=reference)
                agree(f"{reference} velocity of {name}", found, pin.getFrameVelocity(model, data, i, index).vector, 1)
                found = frame_jacobian_rate.algorithm(robot, q, v, name, reference=reference)
                expected = pin.getFrameJacobianTimeVariation(model, data, i, index)
                agree(f"{reference} Jacobian rate of {name}", found, expected, 10)
                for kind in ("classical", "spatial"):
                    found = frame_acceleration.algorithm(robot, q, v, vd, name, reference=reference, kind=kind)
                    get = pin.getFrameClassicalAcceleration if kind == "classical" else pin.getFrameAcceleration
                    agree(f"{reference} {kind} acceleration of {name}", found, get(model, data, i, index).vector, 10)


def matching_frames(robot: Robot, model: pin.Model) -> dict[str, list[int]]:
    """For each frame of ours, all those of Pinocchio's that are the same: every one of Pinocchio's is there once."""
    found: dict[str, list[int]] = {}
    for i, frame in list(enumerate(model.frames))[1:]:
        if str(frame.type) == "BODY":
            # a file's own link "world" is Pliant's world, or renamed
            name = frame.name if frame.name != "world" or not robot.is_free else "world_link"
        else:
            name = robot.joints[frame.name].child
        found.setdefault(name, []).append(i)
    return found


def loaded(name: str, base: str, mimic: bool = False) -> tuple[Robot, pin.Model]:
    robot, model = real_robot(name, base, mimic), pinocchio_robot(name, base, mimic)
    assert robot.nv == model.nv
    return robot, model


# ---- the robot that is read


def check_joints(robot: Robot, model: pin.Model) -> None:
    """The same joints in the same order, with the same layout."""
    moving = [joint for joint in robot.joints.values() if joint.kind.nv]
    continuous = [joint for joint in moving if joint.kind.name == "continuous"]
    assert [joint.name for joint in moving] == list(model.names)[1:]
    # one angle here, cosine and sine there
    assert robot.nq == model.nq - len(continuous)
    for joint, theirs in zip(moving, list(model.joints)[1:], strict=True):
        assert robot.v_slice(joint.name) == slice(theirs.idx_v, theirs.idx_v + theirs.nv)
    assert robot.nu == sum(j.kind.nv == 1 and j.limits.effort[0] > 0 for j in moving)


def check_numbers(robot: Robot, model: pin.Model) -> None:
    """Placements, inertias, limits, damping and friction, with fixed joints merged as Pinocchio does."""
    robot = robot.lumped()
    assert list(robot.joints) == list(model.names)[1:]
    for i, joint in enumerate(robot.joints.values(), start=1):
        # chains of fixed joints multiply placements: a few roundings, of lengths of about 1 m
        X = np.array(joint.placement.homogeneous(), dtype=float)
        np.testing.assert_allclose(X, model.jointPlacements[i].homogeneous, atol=1e-14)
        ours, theirs = robot.bodies[joint.child].inertia, model.inertias[i]
        assert ours.mass == pytest.approx(theirs.mass, rel=1e-14, abs=0)
        scale = 1e-13 * max(1, theirs.mass)
        np.testing.assert_allclose(list(ours.h), theirs.mass * theirs.lever, atol=scale)
        J = np.array(list(ours.J.full()), dtype=float).reshape(3, 3)
        np.testing.assert_allclose(J, theirs.matrix()[3:, 3:], atol=scale)
        if joint.kind.nv == 1:
            check_scalars(robot, joint.name, model, i)


def check_scalars(robot: Robot, name: str, model: pin.Model, i: int) -> None:
    joint, theirs = robot.joints[name], model.joints[i]
    assert joint.damping[0] == model.damping[theirs.idx_v]
    assert joint.friction[0] == model.upperDryFrictionLimit[theirs.idx_v]
    # a continuous joint without <limit> has none here; Pinocchio's is its largest float or infinity
    assert min(joint.limits.effort[0], 1e300) == min(model.upperEffortLimit[theirs.idx_v], 1e300)
    assert min(joint.limits.velocity[0], 1e300) == min(model.upperVelocityLimit[theirs.idx_v], 1e300)
    if joint.kind.name != "continuous":
        assert joint.limits.lower[0] == model.lowerPositionLimit[theirs.idx_q]
        assert joint.limits.upper[0] == model.upperPositionLimit[theirs.idx_q]


# ---- dynamics


each_base = pytest.mark.parametrize("base", ["fixed", "free"])


@each_base
@pytest.mark.parametrize("name", ROBOTS)
def test_real_robots(name: str, base: str) -> None:
    # on floats, which beats compiling for two states; kernels agree with floats, see test_functions
    robot, model = loaded(name, base)
    check_joints(robot, model)
    if base == "free":
        check_numbers(robot, model)
    frames = matching_frames(robot, model)
    assert set(robot.frames) <= set(frames)
    for seed in range(2):
        pair = Checked(robot, model, seed)
        pair.check_frames(frames, motion=seed == 0)
        pair.check_dynamics(forward=name not in SINGULAR)


@pytest.mark.parametrize("name", FAMILIES)
def test_compiled_real_robots(name: str) -> None:
    robot, model = loaded(name, "free")
    pairs = [Checked(robot, model, seed) for seed in range(2)]
    q, v, vd, tau = (np.array(rows) for rows in zip(*(pair.ours for pair in pairs), strict=True))

    def both(robot: Robot, q: Any, v: Any, vd: Any, tau: Any) -> tuple:
        return inverse_dynamics.algorithm(robot, q, v, vd), forward_dynamics.algorithm(robot, q, v, tau)

    forces, accelerations = compile(both, robot)(q, v, vd, tau)
    for k, pair in enumerate(pairs):
        heavy = float(robot.mass)
        agree("inverse dynamics", forces[k], pin.rnea(model, pair.data, pair.q, pair.v, pair.vd), heavy)
        pair.check_accelerations(accelerations[k])


@each_base
@pytest.mark.parametrize("name", MIMICS)
def test_mimic_joints(name: str, base: str) -> None:
    robot, model = loaded(name, base, mimic=True)
    assert robot.mechanism.has_mimic
    pair = Checked(robot, model, 0)
    pair.check_frames(matching_frames(robot, model), motion=False)
    # Pinocchio has no forward dynamics, energy and Jacobian rates for them, and its C breaks C v + g = bias
    pair.check_forces(coriolis=False)
    pair.check_momentum()


@given(robots(mimic=False, most=8), seeds, turns)
def test_random_trees(robot: Robot, seed: int, turn: float | None) -> None:
    model = pinocchio_model(robot)
    frames = {frame.name: [i] for i, frame in enumerate(model.frames) if str(frame.type) == "OP_FRAME"}
    assert set(frames) == set(robot.frames)
    pair = Checked(robot, model, seed)
    pair.q = state_of(robot, seed, turn).q
    pair.ours = (pair.q.tolist(), *pair.ours[1:])
    pair.check_frames(frames, motion=True)
    pair.check_dynamics()


def test_coverage(record_property: Callable[[str, object], None]) -> None:
    left_out = "; ".join(f"{name} ({reason})" for name, reason in LEFT_OUT.items())
    record_property(
        "note",
        f"dynamics of {len(ROBOTS)} of {len(PATHS)} URDFs of example-robot-data compared with Pinocchio "
        f"{pin.__version__} to {RELATIVE:g}, base fixed and free; left out: {left_out}; forward dynamics also without "
        f"{' and '.join(SINGULAR)} (joints that move no mass: M is singular)",
    )
    for name in LEFT_OUT:
        with pytest.raises(ValueError, match="does not contain a valid URDF"):
            pin.buildModelFromUrdf(str(PATHS[name]))
    assert len(ROBOTS) == len(PATHS) - len(LEFT_OUT) >= 60


@pytest.mark.parametrize("name", SINGULAR)
def test_robots_without_forward_dynamics_are_singular(name: str) -> None:
    robot = real_robot(name)
    assert any("moves no mass" in finding.message for finding in robot.report)
    q, zero = robot.random(0).tolist(), [0.0] * robot.nv
    M = np.array(mass_matrix.algorithm(robot, q), dtype=float)
    assert not np.diag(M).all()
    with pytest.raises(RobotError, match=r"joint '\w+' of robot '\w+' moves no inertia.*armature="):
        forward_dynamics.algorithm(robot, q, zero, zero)
    with pytest.raises(RobotError, match=r"moves no inertia.*armature="):
        forward_dynamics(robot, q, zero, zero)
