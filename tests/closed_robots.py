"""Robots with loops: Bricard's mechanism, four-bars, a slider-crank, a Stewart platform, a leg with a parallelogram."""

import math

import numpy as np

import pliant
from pliant.constrained import contact_jacobian
from pliant.robot import Robot, RobotBuilder


def rod(length: float, mass: float = 1, along: int = 2, sign: int = -1) -> dict:
    """Mass, centre and inertia of a slender rod from the origin along an axis."""
    across, slim = mass * length**2 / 12, 1e-3 * mass
    moments = [slim if k == along else across for k in range(3)]
    com = [sign * length / 2 if k == along else 0 for k in range(3)]
    return {"mass": mass, "com": com, "inertia": (moments[0], 0, 0, moments[1], 0, moments[2])}


def bricard(length: float = 0.4) -> Robot:
    """Six equal rods in a ring, the hinges at the ends of each at right angles: threefold symmetric.

    With t and f the angles of every other hinge, it is closed where cos t + cos f + cos t cos f = 0 [Chen, You and
    Tarnai 2005, with a twist of 90 degrees]. A loop of six hinges that can move, though 6 - 6 = 0: the weld of the last
    rod to the world holds rank 5 of 6.
    """
    builder = RobotBuilder("bricard")
    turn = math.pi / 2
    for k in range(6):
        builder.body(f"rod{k}", **rod(length, along=0, sign=1))
        parent, place = ("world", (0, 0, 0)) if k == 0 else (f"rod{k - 1}", (length, 0, 0))
        twist = 0 if k == 0 else turn if k % 2 else -turn
        builder.joint(f"hinge{k}", "revolute", parent, f"rod{k}", place, (twist, 0, 0), axis=(0, 0, 1))
    builder.frame("end", "rod5", (length, 0, 0), (-turn, 0, 0))
    return builder.build().with_closure("weld", "end", "world", name="ring")


BRICARD_Q = np.full(6, math.pi / 2)


def parallelogram(kind: str = "point", copies: int = 1, crank: float = 0.5, base: float = 1.0) -> Robot:
    """Two cranks on the world and a coupler, q = (left, coupler, right); closed where left = right = -coupler.

    In line with its base it is singular: there it may go on as a parallelogram, or crossed.
    """
    builder = RobotBuilder("parallelogram")
    builder.body("left", **rod(crank)).body("right", **rod(crank)).body("coupler", **rod(base, 2, along=0, sign=1))
    builder.joint("left", "revolute", "world", "left", axis=(0, 1, 0))
    builder.joint("coupler", "revolute", "left", "coupler", (0, 0, -crank), axis=(0, 1, 0))
    builder.joint("right", "revolute", "world", "right", (base, 0, 0), axis=(0, 1, 0))
    builder.frame("end", "coupler", (base, 0, 0)).frame("tip", "right", (0, 0, -crank))
    robot = builder.build()
    for k in range(copies):
        robot = robot.with_closure(kind, "end", "tip", axis=(0, 1, 0), name=f"loop{k}")
    return robot


def slider_crank(crank: float = 0.2, length: float = 0.5) -> Robot:
    """A crank that turns about y and a rod whose end is held on a slide along x; q = (crank, rod, slide)."""
    builder = RobotBuilder("slider crank")
    builder.body("crank", **rod(crank, along=0, sign=1)).body("rod", **rod(length, 0.5, along=0, sign=1))
    builder.body("slider", 0.8, (0, 0, 0), (1e-3, 0, 0, 1e-3, 0, 1e-3))
    builder.joint("crank", "revolute", "world", "crank", axis=(0, 1, 0))
    builder.joint("rod", "revolute", "crank", "rod", (crank, 0, 0), axis=(0, 1, 0))
    builder.joint("slide", "prismatic", "world", "slider", axis=(1, 0, 0))
    builder.frame("pin", "rod", (length, 0, 0))
    return builder.build().with_closure("point", "pin", "slider", name="pin")


# where the legs of a Stewart platform are attached: above and below, as angles, and their radii [m]
_ABOVE = np.radians([25, 95, 145, 215, 265, 335]), 0.6
_BELOW = np.radians([50, 70, 170, 190, 290, 310]), 1.0


def stewart(locked: bool = False) -> Robot:
    """A platform on six legs, each a universal joint at the platform, a slide, and a point on the ground."""
    builder = RobotBuilder("stewart")
    builder.body("platform", 10, (0, 0, 0.05), (0.9, 0, 0, 0.9, 0, 1.7))
    for k, (x, y, _) in enumerate(_points(*_ABOVE)):
        builder.body(f"cross{k}", 0.1, (0, 0, 0), (1e-3, 0, 0, 1e-3, 0, 1e-3))
        builder.body(f"tube{k}", **rod(0.5, 0.8)).body(f"rod{k}", 0.4, (0, 0, 0.2), (0.005, 0, 0, 0.005, 0, 1e-4))
        builder.joint(f"x{k}", "revolute", "platform", f"cross{k}", (x, y, 0), axis=(1, 0, 0))
        builder.joint(f"y{k}", "revolute", f"cross{k}", f"tube{k}", axis=(0, 1, 0))
        builder.joint(f"slide{k}", "prismatic", f"tube{k}", f"rod{k}", axis=(0, 0, -1))
    for k, place in enumerate(_points(*_BELOW)):
        builder.frame(f"ground{k}", "world", place.tolist())
    robot = builder.build(base="free")
    for k in range(6):
        robot = robot.with_closure("point", f"rod{k}", f"ground{k}", name=f"foot{k}")
        robot = robot.with_motor(f"slide{k}") if not locked else robot.with_joint(f"slide{k}", locked=True)
    return robot


def _points(angles: np.ndarray, radius: float) -> np.ndarray:
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), 0 * angles], axis=1)


def stewart_q(p: np.ndarray, R: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """q of the platform at a pose, in closed form: each leg from the platform to its place on the ground."""
    q = [*p, *quaternion]
    for above, below in zip(_points(*_ABOVE), _points(*_BELOW), strict=True):
        d = R.T @ (below - p) - above
        length = np.linalg.norm(d)
        q += [math.atan2(d[1], -d[2]), math.asin(-d[0] / length), length]
    return np.array(q)


def leg(contacts: bool = True) -> Robot:
    """A leg on a vertical rail whose shank is moved by a rod from the hip: a parallelogram; the foot is a ball.

    q = (height, thigh, rod, shank), closed where shank + thigh = rod.
    """
    builder = RobotBuilder("parallelogram leg")
    builder.body("trunk", 5, (0, 0, 0), (0.05, 0, 0, 0.05, 0, 0.05))
    builder.body("thigh", **rod(0.3)).body("shank", 0.6, (0, 0, -0.1), (0.006, 0, 0, 0.006, 0, 1e-3))
    builder.body("lever", **rod(0.1, 0.2, along=0)).body("rod", **rod(0.3, 0.3))
    builder.joint("height", "prismatic", "world", "trunk", axis=(0, 0, 1))
    builder.joint("thigh", "revolute", "trunk", "thigh", axis=(0, 1, 0))
    builder.joint("shank", "revolute", "thigh", "shank", (0, 0, -0.3), axis=(0, 1, 0))
    builder.joint("lever", "revolute", "trunk", "lever", axis=(0, 1, 0))
    builder.joint("rod", "revolute", "lever", "rod", (-0.1, 0, 0), axis=(0, 1, 0))
    builder.frame("heel", "shank", (-0.1, 0, 0)).frame("end", "rod", (0, 0, -0.3)).frame("foot", "shank", (0, 0, -0.3))
    robot = builder.build().with_closure("point", "end", "heel", name="loop")
    return robot.with_contact("foot", radius=0.02) if contacts else robot


def leg_q(thigh: float, lever: float) -> np.ndarray:
    """q of the leg with its foot just on the ground: the shank is parallel to the lever, the rod to the thigh."""
    height = 0.3 * math.cos(thigh) + 0.3 * math.cos(lever) + 0.02
    return np.array([height, thigh, lever - thigh, lever, thigh - lever])


def free_velocity(robot: Robot, q: np.ndarray, speed: float) -> np.ndarray:
    """A velocity that keeps the loops of a robot with one freedom closed, its largest entry ``speed``."""
    v = np.linalg.svd(contact_jacobian(robot, q, contacts=tuple(robot.closures)))[2][-1]
    return v * (speed / np.abs(v).max())


def opening(robot: Robot, q: np.ndarray) -> float:
    """The most that a closure is open, along an axis or as an entry of the rotation of a weld."""
    worst = 0.0
    for closure in robot.closures.values():
        X_a, X_b = (pliant.frame_pose(robot, q, name) for name in (closure.a, closure.b))
        apart = (X_a - X_b)[..., :3, :] if closure.kind == "weld" else (X_a - X_b)[..., :3, 3]
        worst = max(worst, float(np.abs(apart).max()))
    return worst
