"""Small robots with every kind of joint, and kernels that integrate them: for the tests of integrators."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pliant
from pliant.compiler import Block, Kernel, Loop, Program
from pliant.dynamics import forward_dynamics
from pliant.integrators.runge_kutta import DORMAND_PRINCE, explicit_body
from pliant.robot import Free, JointKind, Planar, Revolute, Robot, RobotBuilder, Spherical
from pliant.scalar import cos
from pliant.spatial import Vector


def one_body(kind: JointKind, *, com=(0, 0, 0), gravity=(0, 0, 0)) -> Robot:
    """A body with three different moments of inertia on a joint."""
    builder = RobotBuilder(f"body on a {kind.name} joint")
    builder.gravity(*gravity)
    builder.body("ground", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    builder.body("body", 2, com, (0.4, 0.02, 0, 0.3, 0.01, 0.15))
    builder.joint("joint", kind, "ground", "body", (0, 0, 0), (0, 0, 0))
    return builder.build(base="fixed")


TOP = one_body(Free())
OFF_CENTRE = one_body(Free(), com=(0.1, -0.2, 0.15), gravity=(0, 0, -9.81))
SPHERICAL_PENDULUM = one_body(Spherical(), com=(0.1, 0.05, -0.4), gravity=(0, 0, -9.81))
PLANAR = one_body(Planar((1, 0, 0)), com=(0.1, 0.3, -0.2), gravity=(0, 0, -9.81))
TURNING = one_body(Revolute((0, 1, 0)), com=(0, 0, -0.5), gravity=(0, 0, -9.81))


def free(robot: Robot) -> Callable[..., Any]:
    """The acceleration without any joint forces."""
    return lambda t, q, v: forward_dynamics.algorithm(robot, list(q), list(v), [0] * robot.nv)


def sprung(robot: Robot) -> Callable[..., Any]:
    """The acceleration of a free body held by a spring at a point off its centre, whose end moves with time."""

    def acceleration(t, q, v):
        X = Free().transform(list(q))
        r = Vector(0.3, 0.1, -0.2)
        force = (Vector(0.2 * cos(3 * t), 0, 0.1) - X.transform_point(r)) * 40
        f = X.R.rotate_back(force)
        return forward_dynamics.algorithm(robot, list(q), list(v), [*f, *r.cross(f)])

    return acceleration


def driven(robot: Robot) -> Callable[..., Any]:
    """The acceleration under torques that change with time, and dampers."""

    def acceleration(t, q, v):
        tau = [cos((k + 1) * t) - 0.3 * x for k, x in enumerate(v)]
        return forward_dynamics.algorithm(robot, list(q), list(v), tau)

    return acceleration


def state(robot: Robot, seed: int, speed: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.random(rng), speed * rng.standard_normal(robot.nv)


DOUBLE_PENDULUM = pliant.load("double_pendulum")
ARM = pliant.load("arm7")
for _joint in ("joint1", "joint2", "joint3", "joint4", "joint5", "joint6", "joint7"):
    ARM = ARM.with_joint(_joint, armature=0.1)  # rotors slow down the light wrist

# name: robot, acceleration, speed at the start
CASES: dict[str, tuple[Robot, Callable[..., Any], float]] = {
    "top": (TOP, free(TOP), 3),
    "body on a spring": (OFF_CENTRE, sprung(OFF_CENTRE), 2),
    "spherical pendulum": (SPHERICAL_PENDULUM, free(SPHERICAL_PENDULUM), 2),
    "planar body": (PLANAR, driven(PLANAR), 2),
    "double pendulum": (DOUBLE_PENDULUM, free(DOUBLE_PENDULUM), 1),
    "arm": (ARM, driven(ARM), 0.5),
}


def kernel(
    robot: Robot,
    pieces: tuple[dict[str, int], list[Block | Loop]],
    *,
    reads: Sequence[str] = ("dt",),
    writes: Sequence[str] = (),
    sizes: dict[str, int] | None = None,
    repeat: str | None = "steps",
    **options: Any,
) -> Kernel:
    """The pieces of an integrator as a kernel of t, q, v and ``reads``, giving t, q, v and ``writes``."""
    variables, body = pieces
    variables = {"t": 1, "q": robot.nq, "v": robot.nv, "dt": 1, **variables, **(sizes or {})}
    inputs, outputs = ("t", "q", "v", *reads), ("t", "q", "v", *writes)
    whole = (Loop(tuple(body), repeat),) if repeat else tuple(body)
    program = Program(variables, inputs, outputs, whole)
    shapes = {n: () if size == 1 and n not in ("q", "v") else (size,) for n, size in variables.items()}
    return Kernel(program, {n: shapes[n] for n in inputs}, {n: shapes[n] for n in outputs}, **options)


def exact(robot: Robot, acceleration: Callable[..., Any], q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """q and v after half a second in steps of 1/8000 s by the method of order five: rounding is all that is left."""
    run = kernel(robot, explicit_body(robot, DORMAND_PRINCE, acceleration))
    return run(0.0, q, v, 0.5 / 4000, steps=4000)[1:]


def by_rk4(rate: Callable[..., np.ndarray], y: np.ndarray, seconds: float, steps: int) -> np.ndarray:
    """y after some time, with y' = rate(t, y), in NumPy."""
    h = seconds / steps
    for t in h * np.arange(steps):
        a = rate(t, y)
        b = rate(t + h / 2, y + h / 2 * a)
        c = rate(t + h / 2, y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + rate(t + h, y + h * c))
    return y


def distance(robot: Robot, a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> float:
    """The largest difference of two states (q, v)."""
    return max(float(abs(robot.difference(a[0], b[0])).max()), float(abs(a[1] - b[1]).max()))


def slopes(errors: Sequence[float]) -> list[float]:
    """The order of convergence between errors of steps each half as long as the one before."""
    return [math.log2(a / b) for a, b in itertools.pairwise(errors)]
