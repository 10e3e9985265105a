"""The scenes of the benchmark of flexible joints: a double pendulum that swings, and quadrupeds that stand."""

import importlib.resources
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from bench import jiminy_peer
from bench.contact_scene import ContactScene, Point, placed
from bench.report import CheckError
from bench.scenes import scene

__all__ = ["DAMPING", "LEGS", "ROTOR_INERTIA", "STIFFNESS", "Swing", "flexible", "quadruped"]

JOINTS = ("shoulder", "elbow")
STIFFNESS, DAMPING = 1e4, 10.0
"""Default stiffness and damping of springs, about every axis [N m/rad, N m s/rad]."""


@dataclass(frozen=True)
class Swing:
    """The shipped double pendulum with a motor that is switched off and a spring at both joints, let go from rest.

    The springs would do nothing in a swing of one plane: the first, if it has three axes, begins with a twist sideways,
    that of 25 N m, which is about what it would carry if the pendulum were held out level.

    Attributes:
        axes: of each spring: three, or one, about the joint's own; 0 for a robot without springs.
        stiffness, damping: of every axis [N m/rad, N m s/rad].
        inertia: If, of the body between spring and motor [kg m^2].
        rotor_inertia: J, of each motor, at the joint [kg m^2].
        angles: of the joints at the start [rad].
        load: that the first spring is let go from [N m].
        duration: [s].
        every: time between the moments that are compared [s].
    """

    axes: int = 3
    stiffness: float = STIFFNESS
    damping: float = DAMPING
    inertia: float = 1e-4
    rotor_inertia: float = 0.0
    angles: tuple[float, float] = (0.5, 0.25)
    load: float = 25.0
    duration: float = 5.0
    every: float = 0.01

    @cached_property
    def robot(self) -> pliant.Robot:
        """The robot, motors without gears."""
        robot = pliant.load("double_pendulum")
        for joint in JOINTS:
            robot = robot.with_motor(joint, rotor_inertia=self.rotor_inertia)
            if self.axes:
                k = self.stiffness if self.axes == 1 else [self.stiffness] * self.axes
                robot = robot.with_flexibility(joint, stiffness=k, damping=self.damping, inertia=self.inertia)
        return robot

    @cached_property
    def q(self) -> np.ndarray:
        """The configuration at the start, nq."""
        q = self.robot.neutral()
        q[self.places] = self.angles
        if self.axes == 3:
            half = self.load / self.stiffness / 2
            q[self.robot.q_slice(f"{JOINTS[0]}_flexibility")] = np.sin(half), 0, 0, np.cos(half)
        return q

    @cached_property
    def places(self) -> list[int]:
        """Where the joints' angles are in q."""
        return [self.robot.q_slice(joint).start for joint in JOINTS]

    def simulation(self, integrator: str, *, dt: float = 1e-3, **values: Any) -> pliant.Simulation:
        """A simulation of it on one thread, at the start."""
        simulation = pliant.Simulation(self.robot, dt=dt, integrator=integrator, threads=1, **values)
        simulation.reset(q=self.q)
        return simulation

    @cached_property
    def reference(self) -> pliant.simulation.Rollout:
        """The motion by Dormand-Prince at tolerances of 1e-10, every 10 ms."""
        simulation = self.simulation("dormand-prince", dt=self.every, rtol=1e-10, atol=1e-12)
        return simulation.rollout(periods=round(self.duration / self.every), channels=("q", "v", "trials"))

    @cached_property
    def sizes(self) -> np.ndarray:
        """How far the two joints swing, from one side to the other [rad]."""
        return np.ptp(self.reference.q[:, self.places], axis=0)

    def errors(self, simulation: pliant.Simulation) -> tuple[float, float | None]:
        """Of a run from the start: the largest error of an angle, of its swing, and of the twist, of its beginning."""
        stride = round(self.every / simulation.dt)
        periods = len(self.reference.q) * stride
        q = simulation.rollout(periods=periods, channels=("q",)).q[stride - 1 :: stride].astype(float)
        off = np.abs(q - self.reference.q)
        error = float((off[:, self.places].max(axis=0) / self.sizes).max())
        if self.axes != 3:
            return error, None
        spring = self.robot.q_slice(f"{JOINTS[0]}_flexibility")
        twist = off[:, spring][:, :3].max() / np.abs(self.q[spring][:3]).max()
        return error, float(twist)

    def moments(self, batch: int, precision: str) -> tuple[np.ndarray, np.ndarray]:
        """States of the reference at times spread over its duration: q and v of a number of robots."""
        chosen = np.linspace(0, len(self.reference.q) - 1, batch).round().astype(int)
        return self.reference.q[chosen].astype(precision), self.reference.v[chosen].astype(precision)

    def jiminy(self, steppers: list[dict[str, Any]], *, rounds: int) -> list[dict[str, Any]]:
        """What Jiminy makes of it: runs as `bench.jiminy_flexible` tells of them, each with its error.

        Jiminy counts If as a rotor's inertia at the spring, Pliant as that of a body; M may differ by some If.
        """
        with importlib.resources.as_file(
            importlib.resources.files(pliant.catalogue) / "urdf" / "double_pendulum.urdf"
        ) as path:
            job = {
                "urdf": str(Path(path)),
                "joints": JOINTS,
                "q": self.q.tolist(),
                **{key: getattr(self, key) for key in ("stiffness", "damping", "inertia", "rotor_inertia", "duration")},
                "steppers": steppers,
                "moments": 10,
                "rounds": rounds,
            }
            result = jiminy_peer.worked("jiminy_flexible.py", job, "the double pendulum")
        off = np.abs(np.array(result["mass_matrix"]) - pliant.mass_matrix(self.robot, self.q)).max()
        if not off <= 3 * self.inertia:
            raise CheckError(f"double pendulum: Jiminy's mass matrix differs by {off:.1e}, it is not the same robot")
        stride = len(self.reference.q) // job["moments"]
        expected = self.reference.q[stride - 1 :: stride][:, self.places]
        for run in result["runs"]:
            done = run["cause"] is None
            run["error"] = float((np.abs(run["angles"] - expected).max(axis=0) / self.sizes).max()) if done else None
        return result["runs"]


# ---- quadrupeds


@dataclass(frozen=True, eq=False)
class Flexed(ContactScene):
    """A scene whose robot has springs; they are at rest when the robot begins as the rigid one does."""

    rigid: ContactScene | None = None

    def states(self, batch: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """As the rigid robot's."""
        assert self.rigid is not None
        q, v = self.rigid.states(batch, seed)
        return self.robot.q_from(self.rigid.robot, q), self.robot.v_from(self.rigid.robot, v)


ROTOR_INERTIA = 0.02
"""Of every motor of a quadruped, at its joint [kg m^2]."""

LEGS: dict[str, dict[str, tuple[str, ...]]] = {
    "anymal": {"hips and knees": ("HFE", "KFE"), "all 12": ("HAA", "HFE", "KFE")},
    "quadruped": {"hips and knees": ("hip_pitch", "knee"), "all 12": ("hip_roll", "hip_pitch", "knee")},
}
"""Which joints of a quadruped are made flexible, by the ends of their names."""


def quadruped(name: str) -> ContactScene:
    """ANYmal as in the benchmark of contact, or the shipped quadruped; with rotors."""
    subject = scene("anymal") if name == "anymal" else _shipped()
    robot = subject.robot
    for motor in robot.motors.values():
        robot = robot.with_motor(motor.joint, name=motor.name, rotor_inertia=ROTOR_INERTIA, gear=1)
    return replace(subject, robot=robot)


def flexible(rigid: ContactScene, ends: tuple[str, ...], axes: int) -> ContactScene:
    """The scene with springs at the joints whose names end so, of one axis or three.

    Springs of one axis have no inertia of their own, as the rotor has one; those of three have 1e-4 kg m^2.
    """
    robot = rigid.robot
    values: dict[str, Any] = {"stiffness": STIFFNESS} if axes == 1 else {"stiffness": [STIFFNESS] * 3, "inertia": 1e-4}
    for motor in rigid.robot.motors.values():
        if motor.joint.endswith(ends):
            robot = robot.with_flexibility(motor.joint, damping=DAMPING, **values)
    shared = {key: getattr(rigid, key) for key in ("name", "points", "kp", "kd", "friction", "dt", "settled")}
    return Flexed(robot=robot, q=robot.q_from(rigid.robot, rigid.q), rigid=rigid, **shared)


def _shipped() -> ContactScene:
    robot = pliant.load("quadruped", base="free").lumped()
    legs = ("lf", "rf", "lh", "rh")
    points = tuple(Point(f"{leg}_foot", 0.02) for leg in legs)
    bent = {f"{leg}_{joint}": angle for leg in legs for joint, angle in (("hip_pitch", 0.7), ("knee", -1.4))}
    q = placed(robot, points, bent)
    kp, kd = np.full(12, 80.0), np.full(12, 2.0)
    return ContactScene("quadruped", robot, points, q, kp, kd, friction=0.7)
