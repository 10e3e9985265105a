"""Small robots in symbols, for the tests of equations, and equations of shipped robots, made once."""

from collections.abc import Callable
from functools import cache

import numpy as np
import sympy

import pliant
from pliant.robot import Robot, RobotBuilder
from pliant.symbolic import Equations


@cache
def equations(name: str, method: str = "newton-euler", simplify: bool | None = None) -> Equations:
    return pliant.equations(pliant.load(name), method, simplify=simplify)


def python_function(source: str, name: str) -> Callable:
    """A function of generated Python."""
    namespace: dict = {}
    exec(source, namespace)
    return namespace[name]


def numbers(formula: sympy.Matrix, values: dict) -> np.ndarray:
    """A matrix of formulas in numbers, a column as a vector."""
    found = np.array(formula.subs(values).evalf().tolist(), dtype=float)
    return found[:, 0] if found.shape[1] == 1 else found


m, l, g = sympy.symbols("m l g", positive=True)
M, I, J, k, nu, I_f = sympy.symbols("M I J k nu I_f", positive=True)


def pendulum() -> Robot:
    """A point mass m at the end of a rod of length l, hanging at q = 0."""
    builder = RobotBuilder("pendulum").gravity(0, 0, -g)
    builder.body("bob", mass=m, com=(0, 0, -l)).joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))
    return builder.motor("hinge").build()


def cart_pole() -> Robot:
    """A cart M on a rail along x, a uniform pole m of length l on it, upright at q2 = 0."""
    builder = RobotBuilder("cart_pole").gravity(0, 0, -g)
    builder.body("cart", mass=M).joint("slider", "prismatic", "world", "cart", axis=(1, 0, 0))
    builder.body("pole", mass=m, com=(0, 0, l / 2), inertia=(m * l**2 / 12, 0, 0, m * l**2 / 12, 0, 0))
    builder.joint("hinge", "revolute", "cart", "pole", axis=(0, 1, 0))
    return builder.motor("slider").build()


def two_link_arm() -> Robot:
    """Two uniform slender rods of mass m and length l that turn about y, upright at q = 0."""
    rod = {"mass": m, "com": (0, 0, l / 2), "inertia": (m * l**2 / 12, 0, 0, m * l**2 / 12, 0, 0)}
    builder = RobotBuilder("two_link_arm").gravity(0, 0, -g)
    builder.body("rod1", **rod).joint("shoulder", "revolute", "world", "rod1", axis=(0, 1, 0))
    builder.body("rod2", **rod).joint("elbow", "revolute", "rod1", "rod2", (0, 0, l), axis=(0, 1, 0))
    return builder.frame("hand", "rod2", (0, 0, l)).motor("shoulder").motor("elbow").build()


def series_elastic_joint(between: sympy.Expr | int = 0) -> Robot:
    """A body I on a joint with rotor inertia J, behind a spring k and damper nu; ``between`` is what is between."""
    builder = RobotBuilder("series_elastic_joint").gravity(0, 0, 0)
    builder.body("between", inertia=(0, 0, 0, 0, 0, between)).body("link", inertia=(0, 0, 0, 0, 0, I))
    builder.joint("knee_flexibility", "revolute", "world", "between", stiffness=k, damping=nu)
    builder.joint("knee", "revolute", "between", "link", armature=J)
    return builder.motor("knee").build()


def shoulder_and_elbow() -> Robot:
    """Three joints that turn about z, y and y: an arm on a column."""
    names = "m2 m3 l2 h2 h3 I1 A2 B2 A3 B3"
    m2, m3, l2, h2, h3, I1, A2, B2, A3, B3 = sympy.symbols(names, positive=True)
    builder = RobotBuilder("arm").gravity(0, 0, -g)
    builder.body("column", inertia=(0, 0, 0, 0, 0, I1)).joint("turn", "revolute", "world", "column")
    builder.body("upper", m2, (h2, 0, 0), (A2, 0, 0, B2, 0, B2))
    builder.joint("shoulder", "revolute", "column", "upper", axis=(0, 1, 0))
    builder.body("fore", m3, (h3, 0, 0), (A3, 0, 0, B3, 0, B3))
    builder.joint("elbow", "revolute", "upper", "fore", (l2, 0, 0), axis=(0, 1, 0))
    return builder.build()


def ball() -> Robot:
    """A body on a spherical joint."""
    builder = RobotBuilder("ball").gravity(0, 0, -9.81)
    builder.body("bob", mass=1.5, com=(0.1, 0.05, -0.4), inertia=(0.02, 0.001, 0, 0.03, 0.002, 0.025))
    return builder.joint("socket", "spherical", "world", "bob", (0.1, 0, 0.2), (0.3, 0, 0.5)).build()
