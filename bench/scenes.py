"""The scenes of the contact benchmark by name: robots that stand, and some of them thrown about."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pliant
from bench.contact_scene import ContactScene, Point, placed, thrown
from bench.humanoids import biped, g1, talos
from bench.quadrupeds import anymal, go2, hyq, solo12

__all__ = ["SCENES", "scene"]


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
    q = placed(robot, tuple(points), joints)
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


_STANDING: dict[str, Callable[[], ContactScene]] = {
    "anymal": anymal, "go2": go2, "solo12": solo12, "hyq": hyq, "ant": _ant, "biped": biped, "talos": talos, "g1": g1,
    "g1_dry": partial(g1, dry=0.3),
}  # fmt: skip
_THROWN = ("anymal", "go2", "solo12", "hyq", "talos", "g1")
SCENES = (*_STANDING, *(f"{name}_thrash" for name in _THROWN))
"""Names of the scenes; those that end in "_thrash" are under random targets, with limits of effort and joints."""


def scene(name: str) -> ContactScene:
    """The scene of that name."""
    standing = name.removesuffix("_thrash")
    return _STANDING[name]() if standing == name else thrown(_STANDING[standing]())
