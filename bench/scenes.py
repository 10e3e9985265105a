"""The scenes of the contact benchmark: a robot, its points of contact, a pose to hold and the gains that hold it.

A scene is all numbers: every simulator is given the same ones, and none of them reads the robot's file itself.
"""

import logging
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import pliant
from bench.robots import urdf_path

__all__ = ["SCENES", "ContactScene", "Point", "Standing", "scene"]


@dataclass(frozen=True)
class Point:
    """A sphere that may touch the ground: its centre is a frame of the robot."""

    frame: str
    radius: float


@dataclass(frozen=True, eq=False)
class ContactScene:
    """A scene to simulate; arrays are in Pliant's layout.

    Attributes:
        robot: without fixed joints.
        points: what may touch the flat ground at z = 0, and nothing else does.
        q: the pose to hold, its lowest points on the ground; nq.
        kp, kd: torque = kp (u - q) - kd v of each motor; nu [N m/rad, N m s/rad].
        friction: Coulomb's, of the ground.
        dt: the step [s].
        settled: time after which the robot stands still [s].
        standing: whether the robot stands; otherwise it gets random targets.
    """

    name: str
    robot: pliant.Robot
    points: tuple[Point, ...]
    q: np.ndarray
    kp: np.ndarray
    kd: np.ndarray
    friction: float
    dt: float = 2e-3
    settled: float = 4.0
    standing: bool = True

    @cached_property
    def motor_q(self) -> np.ndarray:
        """Where the motors' joints are in q; nu."""
        return np.array([self.robot.q_slice(m.joint).start for m in self.robot.motors.values()])

    @property
    def weight(self) -> float:
        """m g [N]."""
        return float(self.robot.mass * -self.robot.gravity.z)

    def states(self, batch: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Where the robots begin: q (batch, nq) and v (batch, nv), no point below the ground.

        Standing, the pose with each joint off by some 0.02 rad, at rest. Otherwise, up to 0.05 m in the air, leaning
        by some 0.1 rad, joints off by 0.2 rad, at 0.5 m/s, 0.5 rad/s and joint rates of 2 rad/s.
        """
        rng = np.random.default_rng(seed)
        nv, wild = self.robot.nv, not self.standing
        off, v = np.zeros((2, batch, nv))
        off[:, 6:] = rng.normal(scale=0.2 if wild else 0.02, size=(batch, nv - 6))
        if wild:
            off[:, 3:6] = rng.normal(scale=0.1, size=(batch, 3))
            v[:, :6] = rng.normal(scale=0.5, size=(batch, 6))
            v[:, 6:] = rng.normal(scale=2, size=(batch, nv - 6))
        q = self.robot.integrate(np.tile(self.q, (batch, 1)), off)
        q[:, 2] -= self.gaps(q).min(axis=-1)
        if wild:
            q[:, 2] += rng.uniform(0, 0.05, size=batch)
        return q, v

    def centres(self, q: np.ndarray) -> np.ndarray:
        """Centres of the points in the world, (batch, points, 3) [m]."""
        return np.stack([pliant.frame_pose(self.robot, q, p.frame)[..., :3, 3] for p in self.points], axis=-2)

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """Heights of the points above the ground, (batch, points) [m]."""
        return self.centres(q)[..., 2] - np.array([p.radius for p in self.points])

    def controls(self, batch: int, steps: int, seed: int = 1) -> np.ndarray:
        """Positions asked of the motors, (batch, steps, nu): the pose, or new random ones each 50 ms, +- 0.5 rad."""
        target = np.broadcast_to(self.q[self.motor_q], (batch, steps, self.robot.nu))
        if self.standing:
            return np.ascontiguousarray(target)
        rng = np.random.default_rng(seed)
        held = max(1, round(0.05 / self.dt))
        offsets = rng.uniform(-0.5, 0.5, size=(batch, -(-steps // held), self.robot.nu))
        return target + np.repeat(offsets, held, axis=1)[:, :steps]


@dataclass(frozen=True)
class Standing:
    """How well robots stand; the worst of them.

    Attributes:
        height: of the base over that of the pose.
        sinking: speed of the base, down or up [m/s].
        slip: speed of a touching point along the ground [m/s].
        depth: of a point in the ground [m].
        force: error of the contact forces' sum, relative to the weight.
    """

    height: float
    sinking: float
    slip: float
    depth: float
    force: float

    @classmethod
    def between(
        cls, scene: ContactScene, q0: np.ndarray, q1: np.ndarray, elapsed: float, force: np.ndarray
    ) -> "Standing":
        """From configurations (robots, nq), some time [s] apart, and the vertical forces on the later ones [N]."""
        gaps = scene.gaps(q1)
        touching = np.maximum(gaps, scene.gaps(q0)) < 5e-3
        moved = np.linalg.norm((scene.centres(q1) - scene.centres(q0))[..., :2], axis=-1)
        return cls(
            height=float((q1[:, 2] / scene.q[2]).min()),
            sinking=float(np.abs(q1[:, 2] - q0[:, 2]).max() / elapsed),
            slip=float((moved * touching).max() / elapsed),
            depth=float(np.maximum(-gaps, 0).max()),
            force=float(np.abs(force / scene.weight - 1).max()),
        )

    @property
    def holds(self) -> bool:
        """Whether the robots are up, and the ground carries their weight to 1e-3."""
        return 0.85 < self.height < 1.1 and self.force < 1e-3

    def check(self, who: str) -> None:
        """Refuse to time what does not stand."""
        if not self.holds:
            raise SystemExit(f"{who} does not stand, not timed: {self}")


def _placed(robot: pliant.Robot, points: tuple[Point, ...], joints: dict[str, float]) -> np.ndarray:
    """The configuration with these joint angles and its lowest points on the ground."""
    q = robot.neutral()
    for joint, angle in joints.items():
        q[robot.q_slice(joint)] = angle
    q[2] -= min(pliant.frame_pose(robot, q, p.frame)[2, 3] - p.radius for p in points)
    return q


def _urdf(name: str) -> pliant.Robot:
    logging.getLogger("pliant").setLevel(logging.ERROR)  # the file's own faults are in robot.report
    return pliant.formats.load_urdf(urdf_path(name), base="free").lumped()


def _anymal() -> ContactScene:
    """ANYmal B on four feet: the sphere that its file gives each foot, the pose of its semantic file."""
    robot = _urdf("anymal")
    points = []
    for leg in ("LF", "LH", "RF", "RH"):
        robot = robot.with_frame(f"{leg}_sphere", f"{leg}_FOOT", (0, 0, 0.02325))
        points.append(Point(f"{leg}_sphere", 0.031))
    joints = {}
    for leg in ("LF", "LH", "RF", "RH"):
        side, front = (-1 if leg[0] == "L" else 1), (1 if leg[1] == "F" else -1)
        joints |= {f"{leg}_HAA": 0.1 * side, f"{leg}_HFE": 0.7 * front, f"{leg}_KFE": -1.0 * front}
    q = _placed(robot, tuple(points), joints)
    return ContactScene("anymal", robot, tuple(points), q, np.full(12, 80.0), np.full(12, 2.0), friction=0.7)


def _thrash() -> ContactScene:
    """ANYmal under random targets: random states, feet that make and break contact."""
    return replace(_anymal(), name="thrash", standing=False)


# Talos: gains by part of the body, [N m/rad, N m s/rad]; the ankles alone must hold m g h = 800 N m/rad
_TALOS_GAINS = {
    "leg": (3000.0, 100.0),
    "torso": (3000.0, 100.0),
    "arm": (200.0, 10.0),
    "head": (100.0, 5.0),
    "gripper": (10.0, 0.5),
}


def _talos() -> ContactScene:
    """Talos on two feet, each with four spheres at the corners of a sole of 0.20 m by 0.12 m.

    Every rotor is what its semantic file gives to most: 1e-5 kg m^2 behind a gear of 100.
    """
    robot = _urdf("talos")
    for motor in robot.motors.values():
        robot = robot.with_joint(motor.joint, armature=1e-5 * 100**2)
    points = []
    for side in ("left", "right"):
        for k, (x, y) in enumerate(((0.1, 0.06), (0.1, -0.06), (-0.1, -0.06), (-0.1, 0.06))):
            name = f"{side}_sole_{k}"
            robot = robot.with_frame(name, f"{side}_sole_link", (x, y, 0.01))
            points.append(Point(name, 0.01))
    joints = {"torso_2_joint": 0.006761}  # the pose "half_sitting" of its semantic file
    for side, sign in (("left", 1), ("right", -1)):
        leg = {3: -0.411354, 4: 0.859395, 5: -0.448041}
        arm = {1: 0.25847 * sign, 2: 0.173046 * sign, 3: -0.0002 * sign, 4: -0.525366, 7: 0.1}
        joints |= {f"leg_{side}_{k}_joint": angle for k, angle in leg.items()}
        joints |= {f"arm_{side}_{k}_joint": angle for k, angle in arm.items()}
    gains = np.array([_TALOS_GAINS[motor.joint.split("_")[0]] for motor in robot.motors.values()])
    q = _placed(robot, tuple(points), joints)
    return ContactScene("talos", robot, tuple(points), q, gains[:, 0], gains[:, 1], friction=0.7, settled=5.0)


def _biped() -> ContactScene:
    """The shipped biped on two feet, each with four spheres at the corners of its sole of 0.22 m by 0.10 m."""
    robot = pliant.load("biped", base="free").lumped()
    for motor in robot.motors.values():  # without rotors, MuJoCo's contact forces chatter by 30 % of the weight
        robot = robot.with_joint(motor.joint, armature=0.1)
    points = []
    for side in ("left", "right"):
        for k, (x, y) in enumerate(((0.14, 0.05), (0.14, -0.05), (-0.08, -0.05), (-0.08, 0.05))):
            name = f"{side}_corner_{k}"
            robot = robot.with_frame(name, f"{side}_foot", (x, y, -0.06))
            points.append(Point(name, 0.01))
    joints = {}
    for side in ("left", "right"):
        joints |= {f"{side}_hip_pitch": -0.3, f"{side}_knee": 0.6, f"{side}_ankle_pitch": -0.3}
    kp, kd = np.full(robot.nu, 500.0), np.full(robot.nu, 30.0)
    q = _placed(robot, tuple(points), joints)
    return ContactScene("biped", robot, tuple(points), q, kp, kd, friction=0.7, settled=5.0)


def _ant() -> ContactScene:
    """An ant after Gymnasium's, of which it has the numbers: sizes, density, armature, damping, limits, friction, step.

    A torso of radius 0.25 m; four legs of three capsules of radius 0.08 m, the first of them fixed to the torso,
    then hip (about z) and ankle (level, across the leg); 5 kg/m^3. What touches the ground are the feet's ends and
    the torso. Position control, unlike the original's torques, to stand.
    """
    builder = pliant.RobotBuilder("ant")
    mass = 5 * 4 / 3 * math.pi * 0.25**3
    moment = 2 / 5 * mass * 0.25**2
    builder.body("torso", mass, inertia=(moment, 0, 0, moment, 0, moment))
    points, joints = [Point("torso", 0.25)], {}
    for k, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)), start=1):
        shoulder, leg, foot = f"shoulder_{k}", f"leg_{k}", f"foot_{k}"
        for name, reach in ((shoulder, 0.2), (leg, 0.2), (foot, 0.4)):
            _capsule(builder, name, reach * x, reach * y, radius=0.08, density=5)
        rotor: dict[str, Any] = {"armature": 1, "damping": 1}
        sign = 1 if k in (1, 4) else -1
        low, high = sorted((sign * math.radians(30), sign * math.radians(70)))
        hip = (-math.radians(30), math.radians(30))
        builder.joint(f"fix_{k}", "fixed", "torso", shoulder)
        builder.joint(f"hip_{k}", "revolute", shoulder, leg, (0.2 * x, 0.2 * y, 0), axis=(0, 0, 1), limits=hip, **rotor)
        axis = (-1, 1, 0) if x * y > 0 else (1, 1, 0)
        position = (0.2 * x, 0.2 * y, 0)
        builder.joint(f"ankle_{k}", "revolute", leg, foot, position, axis=axis, limits=(low, high), **rotor)
        builder.motor(f"hip_{k}").motor(f"ankle_{k}")
        builder.frame(f"tip_{k}", foot, (0.4 * x, 0.4 * y, 0))
        points.append(Point(f"tip_{k}", 0.08))
        joints[f"ankle_{k}"] = sign * 1.0
    robot = builder.build(base="free").lumped()
    q = _placed(robot, tuple(points), joints)
    return ContactScene("ant", robot, tuple(points), q, np.full(8, 100.0), np.full(8, 20.0), friction=1.0, dt=1e-2)


def _capsule(builder: pliant.RobotBuilder, name: str, x: float, y: float, *, radius: float, density: float) -> None:
    """A body that is a solid capsule from its origin to (x, y, 0): a cylinder and two half balls."""
    length = math.hypot(x, y)
    rod = density * math.pi * radius**2 * length
    ball = density * 4 / 3 * math.pi * radius**3
    along = rod * radius**2 / 2 + ball * 2 / 5 * radius**2
    across = rod * (radius**2 / 4 + length**2 / 12)
    across += ball * (2 / 5 * radius**2 + length**2 / 4 + 3 / 8 * length * radius)
    a = np.array([x, y, 0]) / length
    tensor = across * np.eye(3) + (along - across) * np.outer(a, a)
    upper = tensor[np.triu_indices(3)]
    builder.body(name, rod + ball, com=(x / 2, y / 2, 0), inertia=upper.tolist())


SCENES = {"anymal": _anymal, "thrash": _thrash, "ant": _ant, "biped": _biped, "talos": _talos}


def scene(name: str) -> ContactScene:
    """The scene of that name."""
    return SCENES[name]()
