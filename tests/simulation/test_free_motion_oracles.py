"""Motion without contact against Pinocchio's and MuJoCo's accelerations, to the order of each integrator."""

import math

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import pliant
from moving_robots import slopes
from pliant.robot import Robot
from random_robots import pinocchio_model, robot_of

SECONDS = 0.4


def fixed_robots() -> dict[str, Robot]:
    arm = pliant.load("arm7")
    for joint in arm.motors:
        # rotors slow down the light wrist; Pinocchio knows no damping in its ABA
        arm = arm.with_joint(joint, armature=0.1, damping=0)
    random = robot_of(
        ("spherical", "planar", "revolute", "free", "prismatic"), (-1, 0, 1, -1, 3), np.random.default_rng(8)
    )
    return {"arm": arm, "quadruped": pliant.load("quadruped", base="free"), "random": random}


ROBOTS = fixed_robots()


def start(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q = robot.integrate(robot.neutral(), rng.uniform(-0.5, 0.5, robot.nv))
    return q, rng.normal(0, 1, robot.nv)


def coordinate_rate(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dq/dt: quaternions turn with q (w, 0) / 2, and places of free joints move in the axes of the child."""
    found = np.empty(robot.nq)
    for joint in robot.joints.values():
        if joint.kind.nv == 0:
            continue
        a, b = robot.q_slice(joint.name), robot.v_slice(joint.name)
        x, w = q[a], v[b]
        if joint.kind.name == "planar":
            found[a] = [x[2] * w[0] - x[3] * w[1], x[3] * w[0] + x[2] * w[1], -x[3] * w[2], x[2] * w[2]]
        elif joint.kind.name in ("spherical", "free"):
            quaternion = pin.Quaternion(*np.roll(x[-4:], 1))
            turned = 0.5 * (quaternion * pin.Quaternion(0.0, *w[-3:])).coeffs()
            place = quaternion.normalized().matrix() @ w[:3] if joint.kind.name == "free" else []
            found[a] = [*place, *turned]
        else:
            found[a] = w
    return found


def reference(robot: Robot, q: np.ndarray, v: np.ndarray, steps: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Pinocchio's ABA integrated by RK4 in plain coordinates, with steps of 0.4 ms: errors below 1e-9."""
    model = pinocchio_model(robot.lumped())
    data, zero = model.createData(), np.zeros(robot.nv)

    def rate(y: np.ndarray) -> np.ndarray:
        q, v = y[: robot.nq], y[robot.nq :]
        return np.concatenate([coordinate_rate(robot, q, v), pin.aba(model, data, q, v, zero)])

    y, h = np.concatenate([q, v]), SECONDS / steps
    for _ in range(steps):
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
    return y[: robot.nq], y[robot.nq :]


@pytest.fixture(scope="module")
def references() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {name: reference(robot, *start(robot)) for name, robot in ROBOTS.items()}


def error(robot: Robot, expected: tuple[np.ndarray, np.ndarray], **options) -> float:
    sim = pliant.Simulation(robot, limits=False, **options)
    q, v = start(robot)
    sim.reset(q=q, v=v)
    for _ in range(round(SECONDS / sim.dt)):
        sim.step()
    return max(np.abs(robot.difference(sim.q, expected[0])).max(), np.abs(sim.v - expected[1]).max())


# steps for which the error is that of the order, and above the reference's 1e-9
@pytest.mark.parametrize(
    ("integrator", "order", "steps"),
    [("semi-implicit", 1, (5e-4, 2.5e-4)), ("midpoint", 2, (2e-3, 1e-3)), ("rk4", 4, (5e-3, 2.5e-3))],
)
@pytest.mark.parametrize("name", ROBOTS)
def test_order_of_convergence_to_pinocchio(name: str, integrator: str, order: int, steps, references) -> None:
    errors = [error(ROBOTS[name], references[name], dt=dt, integrator=integrator) for dt in steps]
    assert slopes(errors) == pytest.approx([order], abs=0.35), errors
    assert errors[-1] < {1: 2e-2, 2: 1e-3, 4: 1e-5}[order]


@pytest.mark.parametrize("name", ROBOTS)
def test_dormand_prince_keeps_its_tolerance(name: str, references) -> None:
    """Local errors of rtol grow with the motion: a hundred times at most over 0.4 s."""
    found = error(ROBOTS[name], references[name], dt=1e-2, integrator="dormand-prince", rtol=1e-8, atol=1e-8)
    assert found < 1e-6


# ---- MuJoCo

TREE = """
<mujoco>
  <option timestep="1e-4" integrator="RK4"><flag contact="disable"/></option>
  <compiler inertiafromgeom="false"/>
  <worldbody>
    <body name="base" pos="0 0 1"><freejoint/>
      <inertial pos="0.05 0 0.1" mass="3" diaginertia="0.05 0.07 0.04"/>
      <body name="upper" pos="0.2 0 0"><joint name="ball" type="ball"/>
        <inertial pos="0 0 -0.2" mass="1" diaginertia="0.02 0.02 0.002"/>
        <body name="lower" pos="0 0 -0.4"><joint name="hinge" type="hinge" axis="0 1 0" damping="0.05" armature="0.01"/>
          <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.01 0.01 0.001"/>
        </body>
      </body>
      <body name="slider" pos="-0.2 0.1 0">
        <joint name="slide" type="slide" axis="1 0 0" stiffness="40" springref="0.1"/>
        <inertial pos="0 0 0" mass="0.7" diaginertia="0.01 0.01 0.01"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def tree() -> Robot:
    """The same robot."""
    builder = pliant.RobotBuilder("tree")
    builder.body("base", 3, (0.05, 0, 0.1), (0.05, 0, 0, 0.07, 0, 0.04))
    builder.body("upper", 1, (0, 0, -0.2), (0.02, 0, 0, 0.02, 0, 0.002))
    builder.body("lower", 0.5, (0, 0, -0.2), (0.01, 0, 0, 0.01, 0, 0.001))
    builder.body("slider", 0.7, (0, 0, 0), (0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("ball", "spherical", "base", "upper", (0.2, 0, 0))
    builder.joint("hinge", "revolute", "upper", "lower", (0, 0, -0.4), axis=(0, 1, 0), damping=0.05, armature=0.01)
    builder.joint("slide", "prismatic", "base", "slider", (-0.2, 0.1, 0), axis=(1, 0, 0), stiffness=40, rest=0.1)
    return builder.build(base="free")


def test_a_tree_moves_as_in_mujoco() -> None:
    """Free, ball, hinge and slide joints, with a damper, a spring and a rotor: 0.5 s of a wild tumble.

    MuJoCo integrates the same equations with RK4 at 0.1 ms; its free joint has its velocity in the world's
    axes, and its quaternions have w first.
    """
    robot = tree()
    model = mujoco.MjModel.from_xml_string(TREE)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(6)
    v = rng.normal(0, 2, robot.nv)
    q = robot.integrate(robot.neutral(), rng.uniform(-1, 1, robot.nv))

    def swapped(x: np.ndarray, shift: int) -> np.ndarray:
        x = x.copy()
        for start in (3, 7):
            x[start : start + 4] = np.roll(x[start : start + 4], shift)
        return x

    def base(q: np.ndarray) -> np.ndarray:
        return pin.Quaternion(*np.roll(q[3:7], 1)).matrix()

    data.qpos[:] = swapped(q, 1)
    data.qvel[:] = [*(base(q) @ v[:3]), *v[3:]]
    for _ in range(5000):
        mujoco.mj_step(model, data)
    q1 = swapped(np.array(data.qpos), -1)
    v1 = np.array([*(base(q1).T @ data.qvel[:3]), *data.qvel[3:]])
    for integrator, dt, tolerance in (("rk4", 1e-3, 1e-7), ("dormand-prince", 1e-2, 1e-7), ("midpoint", 1e-3, 1e-3)):
        sim = pliant.Simulation(robot, dt=dt, integrator=integrator, rtol=1e-10, atol=1e-11)
        sim.reset(q=q, v=v)
        for _ in range(round(0.5 / dt)):
            sim.step()
        assert np.abs(robot.difference(sim.q, q1)).max() < tolerance, integrator
        assert np.abs(sim.v - v1).max() < 20 * tolerance, integrator
    assert math.isclose(data.time, 0.5, rel_tol=1e-9)
