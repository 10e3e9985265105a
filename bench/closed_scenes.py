"""Robots with loops to be timed, each also as a MuJoCo model whose equality constraints close them.

A four-bar swings; a Stewart platform goes to random lengths of its legs; a leg with a parallelogram crouches and rises
on the ground, on a rail. All states are those of closed loops, which some steps of Pliant have led to.
"""

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

import pliant
from bench.mujoco_model import Variant, add_body, pose_of
from pliant.robot.model import WORLD

__all__ = ["CLOSED", "ClosedScene", "closed_scene", "mujoco_closed", "started"]

CLOSED = ("four_bar", "stewart", "leg")
_HINGE = (0, 1, 0)


@dataclass(frozen=True)
class ClosedScene:
    """A robot with loops, where it starts, and what its motors want.

    Attributes:
        q: closed; nq.
        spread: of the targets of the motors, at random about where they are [rad or m].
        speed: of the start, at random, along the only velocity that keeps the loops closed [rad/s]; 0 for none.
        has_ground: whether the robot stands on the ground.
    """

    name: str
    robot: pliant.Robot
    q: np.ndarray
    spread: float = 0
    speed: float = 0
    has_ground: bool = False
    dt: float = 1e-3

    def simulation(self, batch: int | None, precision: str = "float64") -> pliant.Simulation:
        """The scene in Pliant, on one thread."""
        ground = pliant.flat() if self.has_ground else None
        return pliant.Simulation(self.robot, dt=self.dt, ground=ground, batch=batch, threads=1, precision=precision)

    def controls(self, batch: int, steps: int) -> np.ndarray:
        """Targets of the motors, constant in time; (batch, steps, nu)."""
        at = [self.robot.q_slice(m.joint).start for m in self.robot.motors.values()]
        rng = np.random.default_rng(1)
        wanted = self.q[at] + self.spread * rng.uniform(-1, 1, (batch, len(at)))
        return np.repeat(wanted[:, None], steps, axis=1)

    def velocities(self, batch: int) -> np.ndarray:
        """At the start; (batch, nv)."""
        if not self.speed:
            return np.zeros((batch, self.robot.nv))
        J = pliant.constrained.contact_jacobian(self.robot, self.q, contacts=tuple(self.robot.closures))
        free = np.linalg.svd(J)[2][-1]
        speeds = np.random.default_rng(2).uniform(-self.speed, self.speed, (batch, 1))
        return speeds * free / np.abs(free).max()

    def opening(self, q: np.ndarray) -> float:
        """The most that a loop is open along an axis [m]."""
        worst = 0.0
        for closure in self.robot.closures.values():
            a, b = (pliant.frame_pose(self.robot, q, name)[..., :3, 3] for name in (closure.a, closure.b))
            worst = max(worst, float(np.abs(a - b).max()))
        return worst


def closed_scene(name: str) -> ClosedScene:
    """A scene by name."""
    return {"four_bar": _four_bar, "stewart": _stewart, "leg": _leg}[name]()


def _rod(length: float, mass: float, along: int = 2, sign: int = -1) -> dict[str, Any]:
    across, slim = mass * length**2 / 12, 1e-3 * mass
    moments = [slim if k == along else across for k in range(3)]
    com = [sign * length / 2 if k == along else 0 for k in range(3)]
    return {"mass": mass, "com": com, "inertia": (moments[0], 0, 0, moments[1], 0, moments[2])}


def _four_bar() -> ClosedScene:
    """A crank of 0.3 m that turns, a coupler of 0.8, a rocker of 0.6, on a base of 0.9."""
    builder = pliant.RobotBuilder("four_bar")
    builder.body("crank", **_rod(0.3, 1)).body("coupler", **_rod(0.8, 2)).body("rocker", **_rod(0.6, 1.5))
    builder.joint("crank", "revolute", "world", "crank", axis=_HINGE)
    builder.joint("coupler", "revolute", "crank", "coupler", (0, 0, -0.3), axis=_HINGE)
    builder.joint("rocker", "revolute", "world", "rocker", (0.9, 0, 0), axis=_HINGE)
    builder.frame("end", "coupler", (0, 0, -0.8)).frame("pin", "rocker", (0, 0, -0.6))
    # a rod at the angle a goes from its joint along (-sin a, -cos a): two circles give the others
    crank = -0.5
    tip = -0.3 * np.array([math.sin(crank), math.cos(crank)])
    apart = np.array([0.9, 0]) - tip
    far = float(np.hypot(*apart))
    along = (0.8**2 - 0.6**2 + far**2) / (2 * far)
    unit = apart / far
    pin = tip + along * unit + math.sqrt(0.8**2 - along**2) * np.array([unit[1], -unit[0]])
    coupler, rocker = (math.atan2(-d[0], -d[1]) for d in (pin - tip, pin - np.array([0.9, 0])))
    robot = builder.build().with_closure("point", "end", "pin", name="loop")
    return ClosedScene("four_bar", robot, np.array([crank, coupler - crank, rocker]), speed=6)


def _ring(degrees: tuple[float, ...], radius: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), 0 * angles], axis=1)


def _stewart() -> ClosedScene:
    """A platform on six legs, each with a universal joint at the platform, a slide with a motor, and a point below."""
    above, below = _ring((25, 95, 145, 215, 265, 335), 0.6), _ring((50, 70, 170, 190, 290, 310), 1.0)
    builder = pliant.RobotBuilder("stewart").body("platform", 10, (0, 0, 0.05), (0.9, 0, 0, 0.9, 0, 1.7))
    q = [0, 0, 1.1, 0, 0, 0, 1]
    for k, (top, foot) in enumerate(zip(above, below, strict=True)):
        builder.body(f"cross{k}", 0.1, (0, 0, 0), (1e-3, 0, 0, 1e-3, 0, 1e-3)).body(f"tube{k}", **_rod(0.5, 0.8))
        builder.body(f"rod{k}", 0.4, (0, 0, 0.2), (0.005, 0, 0, 0.005, 0, 1e-4))
        builder.joint(f"x{k}", "revolute", "platform", f"cross{k}", top.tolist(), axis=(1, 0, 0))
        builder.joint(f"y{k}", "revolute", f"cross{k}", f"tube{k}", axis=_HINGE)
        builder.joint(f"slide{k}", "prismatic", f"tube{k}", f"rod{k}", axis=(0, 0, -1))
        builder.frame(f"ground{k}", "world", foot.tolist())
        d = foot - top - [0, 0, 1.1]
        length = float(np.linalg.norm(d))
        q += [math.atan2(d[1], -d[2]), math.asin(-d[0] / length), length]
    robot = builder.build(base="free")
    for k in range(6):
        robot = robot.with_closure("point", f"rod{k}", f"ground{k}", name=f"foot{k}")
        robot = robot.with_motor(f"slide{k}", control="position", kp=2e4, kd=400)
    return ClosedScene("stewart", robot, np.array(q), spread=0.05)


def _leg() -> ClosedScene:
    """A trunk on a rail with a thigh and a shank, the shank moved by a lever at the hip and a rod beside the thigh."""
    builder = pliant.RobotBuilder("leg").body("trunk", 5, (0, 0, 0), (0.05, 0, 0, 0.05, 0, 0.05))
    builder.body("thigh", **_rod(0.3, 1)).body("shank", 0.6, (0, 0, -0.1), (0.006, 0, 0, 0.006, 0, 1e-3))
    builder.body("lever", **_rod(0.1, 0.2, along=0)).body("rod", **_rod(0.3, 0.3))
    builder.joint("height", "prismatic", "world", "trunk", axis=(0, 0, 1))
    builder.joint("thigh", "revolute", "trunk", "thigh", axis=_HINGE)
    builder.joint("shank", "revolute", "thigh", "shank", (0, 0, -0.3), axis=_HINGE)
    builder.joint("lever", "revolute", "trunk", "lever", axis=_HINGE)
    builder.joint("rod", "revolute", "lever", "rod", (-0.1, 0, 0), axis=_HINGE)
    builder.frame("heel", "shank", (-0.1, 0, 0)).frame("end", "rod", (0, 0, -0.3)).frame("foot", "shank", (0, 0, -0.3))
    robot = builder.build().with_closure("point", "end", "heel", name="loop").with_contact("foot", radius=0.02)
    for joint in ("thigh", "lever"):
        robot = robot.with_motor(joint, control="position", kp=400, kd=10)
    thigh, lever = 0.5, -0.4
    height = 0.3 * math.cos(thigh) + 0.3 * math.cos(lever) + 0.02
    q = np.array([height, thigh, lever - thigh, lever, thigh - lever])
    return ClosedScene("leg", robot, q, spread=0.1, has_ground=True)


# ---- in MuJoCo


def mujoco_closed(scene: ClosedScene, variant: Variant) -> mujoco.MjModel:
    """The robot of a scene with equality constraints between sites, as soft as MuJoCo makes them by default."""
    robot = scene.robot
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    option = spec.option
    option.timestep, option.gravity = scene.dt, list(robot.gravity)
    option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{variant.integrator.upper()}")
    option.cone = getattr(mujoco.mjtCone, f"mjCONE_{variant.cone.upper()}")
    option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{variant.solver.upper()}")
    if not variant.islands:
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND.value
    bodies: dict[str, Any] = {WORLD: spec.worldbody}
    for joint in robot.joints.values():
        bodies[joint.child] = add_body(bodies[joint.parent], robot, joint)
    if scene.has_ground:
        plane = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [0, 0, 1], "contype": 0, "conaffinity": 1}
        spec.worldbody.add_geom(name="ground", condim=3, **plane)
        for shape in robot.contacts.values():
            ball = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [float(shape.radius), 0, 0], "mass": 0}
            center = list(shape.centers[0])
            bodies[shape.body].add_geom(name=shape.name, pos=center, condim=3, contype=1, conaffinity=0, **ball)
    for closure in robot.closures.values():
        for end in (closure.a, closure.b):
            frame = robot.frame(end)
            bodies[frame.body].add_site(name=f"{closure.name} {end}", **pose_of(frame.placement))
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE, name=closure.name,
            name1=f"{closure.name} {closure.a}", name2=f"{closure.name} {closure.b}",
        )  # fmt: skip
    in_joint = variant.integrator == "Euler"
    for motor in robot.motors.values():
        actuator = spec.add_actuator(name=motor.name, target=motor.joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=float(motor.kp), kv=0 if in_joint else float(motor.kd))
        if in_joint:
            spec.joint(motor.joint).damping[0] += float(motor.kd)
    return spec.compile()


def started(scene: ClosedScene, robots: int, steps: int = 200) -> tuple[pliant.simulation.State, str]:
    """Closed states that the scene comes to, and what went wrong on the way; empty if nothing did."""
    sim = scene.simulation(robots)
    sim.reset(q=scene.q, v=scene.velocities(robots))
    result = sim.rollout(sim.state, scene.controls(robots, steps), channels=("solver",))
    bad = int(result["solver"][..., 3].sum())
    lost = int(result.state.part("divergence").any(axis=-1).sum())
    fault = f"{bad} of {robots * steps} steps did not converge, {lost} robots diverged"
    return result.state, fault if bad or lost else ""
