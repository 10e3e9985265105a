"""The hopper hops: in place, to a target, after pushes, on every kind of ground; what its controller reads."""

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.control import HopperMachine, RaibertMemory, raibert
from pliant.robot import Robot
from simulated_robots import ran

HOPPER = pliant.load("hopper")
STANDING = 0.63  # height of the body with the leg at rest, upright on its foot [m]
UP = [0, 0, STANDING + 0.2, 0, 0, 0, 1, 0, 0, 0, 0]
CONTROLLER = raibert(HOPPER)
START = list(CONTROLLER.memory)


def simulation(batch: int | None = None, **options: Any) -> pliant.Simulation:
    options = {"dt": 1e-3, "ground": pliant.flat(friction=0.8), "controller": CONTROLLER, **options}
    return pliant.Simulation(HOPPER, batch=batch, **options)


def starts(count: int, seed: int, tilt: float, speed: float, heights: tuple[float, float]) -> tuple[Any, Any]:
    """States above the ground with any heading, tilted, turning and moving to any side."""
    rng = np.random.default_rng(seed)
    q, v = np.tile(HOPPER.neutral(), (count, 1)), np.zeros((count, HOPPER.nv))
    yaw, lean = np.zeros_like(v), np.zeros_like(v)
    yaw[:, 5] = rng.uniform(-np.pi, np.pi, count)
    way = rng.uniform(-np.pi, np.pi, count)
    lean[:, 3:5] = (np.stack([np.cos(way), np.sin(way)]) * rng.uniform(0, tilt, count)).T
    q = HOPPER.integrate(HOPPER.integrate(q, yaw), lean)
    q[:, 2] = STANDING + rng.uniform(*heights, count)
    v[:, :2] = rng.uniform(-speed, speed, (count, 2)) / np.sqrt(2)
    v[:, 3:6] = rng.uniform(-0.3, 0.3, (count, 3))
    return q, v


def lean(log: pliant.Log) -> np.ndarray:
    """Angle of the body from upright."""
    x, y = log.q[..., 3], log.q[..., 4]
    return np.arccos(np.clip(1 - 2 * (x * x + y * y), -1, 1))


def check_hopping(sim: pliant.Simulation, seconds: float, q: Any, v: Any, command: np.ndarray) -> pliant.Log:
    """No robot falls; over the last 5 s each has the speed (to 10 % of 0.5 m/s) and the height that it was told."""
    _, log = ran(sim, seconds, q, v, commands=command, channels=("q",), every=0.01)
    assert sim.divergences == []
    assert lean(log).max() < 0.5
    late = log.between(log.t[-1] - 5, log.t[-1] + 1)
    assert lean(late).max() < 0.15
    speed = (late.q[:, -1, :2] - late.q[:, 0, :2]) / (late.t[-1] - late.t[0])
    np.testing.assert_allclose(speed, command[:, :2], atol=0.05)
    apex = late["q", "root_joint.z"].max(axis=1) - STANDING
    np.testing.assert_allclose(apex, command[:, 2], atol=0.02)
    return log


# ---- it hops


def test_a_minute_in_place_and_where_it_is_told() -> None:
    q, v = starts(16, seed=1, tilt=0.05, speed=0.2, heights=(0.1, 0.3))
    command = np.tile([0, 0, 0.2], (16, 1))
    command[8:12, :2] = [[0.5, 0], [0, 0.5], [-0.5, 0], [0.35, 0.35]]
    command[12:, 2] = [0.05, 0.1, 0.3, 0.4]
    log = check_hopping(simulation(16), 60.0, q, v, command)
    still = (command[:, :2] == 0).all(axis=1)
    off = np.linalg.norm(log.q[still, :, :2] - q[still, None, :2], axis=-1)
    assert off.max() < 0.2
    # by then it repeats itself: it has gone nowhere for half a minute
    late = log.between(30, 60).q[still, :, :2]
    assert np.ptp(late, axis=1).max() < 0.05


def test_a_hundred_from_anywhere() -> None:
    """Tilted by up to 0.1 rad, at up to 1 m/s, from heights of 0 (standing) to 0.4 m, told to do something else."""
    q, v = starts(128, seed=2, tilt=0.1, speed=1, heights=(0, 0.4))
    rng = np.random.default_rng(3)
    command = np.concatenate([rng.uniform(-0.5, 0.5, (128, 2)), rng.uniform(0.05, 0.4, (128, 1))], axis=1)
    check_hopping(simulation(128), 15.0, q, v, command)


@pytest.mark.parametrize("options", [
    {"dt": 5e-4, "substeps": 2},
    {"contact": pliant.CompliantContact()},
    {"contact": pliant.CompliantContact(), "integrator": "rk4", "dt": 5e-4, "substeps": 2, "limits": False},
], ids=["rigid, 0.5 ms", "compliant", "compliant, rk4"])  # fmt: skip
def test_pushed_by_half_a_metre_a_second(options: dict[str, Any]) -> None:
    """To the side, from the front and from behind, in flight or in stance, in place and running."""
    push = (0, 0.5 * HOPPER.mass, 0)
    forces = [pliant.ExternalForce("body", impulse=push, start=5.0)]
    q, v = starts(16, seed=4, tilt=0.05, speed=0.2, heights=(0.1, 0.3))
    command = np.tile([0, 0, 0.2], (16, 1))
    command[8:, :2] = np.tile([[0.5, 0], [0, 0.5], [0, -0.5], [0.35, 0.35]], (2, 1))
    log = check_hopping(simulation(16, forces=forces, **options), 15.0, q, v, command)
    # it was pushed: within 20 ms, by nearly so much
    k = int(np.searchsorted(log.t, 5.0 - 1e-9))
    y = log["q", "root_joint.y"]
    change = (y[:, k + 3] - y[:, k + 1] - y[:, k - 1] + y[:, k - 3]) / 0.02
    assert change.mean() == pytest.approx(0.5, abs=0.1)


def test_it_hops_as_fast_as_the_spring_says() -> None:
    """Steady hopping in place: a mass on a spring, and a fall; damper and thrust change it a bit."""
    sim, _ = ran(simulation(), 8.0, UP, commands=[0, 0, 0.2])
    log = sim.run(3.0, commands=[0, 0, 0.2], channels=("q", "forces"))
    on_ground = log["forces", "foot.z"] > 0
    down = np.flatnonzero(~on_ground[:-1] & on_ground[1:])
    up = np.flatnonzero(on_ground[:-1] & ~on_ground[1:])
    up = up[up > down[0]]
    stances = log.t[up] - log.t[down[: len(up)]]
    w, landing = np.sqrt(7000 / HOPPER.mass), np.sqrt(2 * 9.81 * 0.2)
    by_hand = (np.pi + 2 * np.arctan(9.81 / (w * landing))) / w
    np.testing.assert_allclose(stances, by_hand, rtol=0.05)
    np.testing.assert_allclose(np.diff(log.t[down]), by_hand + 2 * landing / 9.81, rtol=0.05)
    memory = RaibertMemory(*sim.state.part("memory"))
    np.testing.assert_allclose(memory.stance, stances.mean(), atol=5e-3)  # two periods at most, and the thresholds
    assert 0 < memory.thrust < 0.05


# ---- the law


def test_python_and_compiled_are_the_same_law() -> None:
    """Two hops, step by step in Python on floats: the same motion but for rounding, which hops make larger."""
    command = [0.3, -0.2, 0.2]
    q, v = starts(1, seed=5, tilt=0.1, speed=0.5, heights=(0.1, 0.2))
    compiled, _ = ran(simulation(), 1.2, q[0], v[0], commands=command)
    memory: list[float] = list(START)
    phases = set()

    def law(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        nonlocal memory
        u, memory = CONTROLLER.function(t, q.tolist(), v.tolist(), command, memory)
        phases.add(memory[0])
        return u

    python, _ = ran(simulation(controller=None), 1.2, q[0], v[0], controller=law)
    assert phases == {0, 1, 2}
    np.testing.assert_allclose(python.q, compiled.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(memory, compiled.state.part("memory"), rtol=0, atol=1e-7)


def asked(t: float, compression: float, rate: float, memory: RaibertMemory, vz: float = 0) -> RaibertMemory:
    """The memory after a state with this spring."""
    q, v = HOPPER.neutral(), np.zeros(HOPPER.nv)
    q[9], v[8], v[2] = -compression, -rate, vz
    return RaibertMemory(*CONTROLLER.function(t, q.tolist(), v.tolist(), [0, 0, 0.2], list(memory))[1])


def test_phases_follow_the_spring() -> None:
    memory = RaibertMemory(*START)
    memory = asked(0.1, 0.004, 1, memory)
    assert memory.phase == 0
    memory = asked(0.101, 0.006, 1, memory)
    assert (memory.phase, memory.since) == (1, 0.101)
    # the first quarter of the stance is too early for the bottom
    assert asked(0.12, 0.05, -0.1, memory).phase == 1
    memory = asked(0.19, 0.12, -0.01, memory)
    weight = HOPPER.mass * 9.81
    missing = (1 + memory.loss) * weight * 0.32 - 7000 * 0.12**2 / 2
    assert memory.phase == 2
    assert memory.thrust == pytest.approx(missing / 840)
    memory = asked(0.28, 0.001, -2, memory, vz=2)
    assert (memory.phase, memory.since) == (0, 0.28)
    assert memory.stance == pytest.approx(0.179)
    rise = 2 * (1 - 0.25 / HOPPER.mass)
    assert memory.wait == pytest.approx(rise / 2 / 9.81)
    # a foot that rings on its spring after lift-off has not landed
    assert asked(0.3, 0.01, 1, memory).phase == 0
    assert asked(0.4, 0.01, 1, memory).phase == 1
    # it was about as high as it should, so that the loss is about what it was
    reached = rise**2 / 2 / 9.81 - 0.001
    assert memory.loss - START[4] == pytest.approx(0.5 * (0.2 - reached) / 0.3)


def test_torque_of_the_hip_is_no_more_than_the_foot_can_hold() -> None:
    q, v = HOPPER.neutral(), np.zeros(HOPPER.nv)
    q[3:7] = [np.sin(0.2), 0, 0, np.cos(0.2)]
    q[9] = -0.05
    memory = RaibertMemory(*START)._replace(phase=1)
    u, _ = CONTROLLER.function(0.02, q.tolist(), v.tolist(), [0, 0, 0.2], list(memory))
    assert u[0] == pytest.approx(0.4 * 350 * 0.6)
    assert u[1] == 0
    assert u[2] == pytest.approx(350)  # the motor carries the spring


def test_spin_is_damped_while_it_travels() -> None:
    q, v = starts(2, seed=6, tilt=0, speed=0, heights=(0.2, 0.2))
    v[:, 5] = 0.5
    command = np.array([[0.5, 0, 0.2], [0, 0, 0.2]])
    _, log = ran(simulation(2), 30.0, q, v, commands=command, channels=("v",), every=0.01)
    spin = log.between(28, 30)["v", "root_joint.wz"].mean(axis=1)
    # slowly: the foot is off by 4 cm at most
    assert abs(spin[0]) < 0.3
    # in place it goes on, as the page says: the foot is below the hip and has no lever
    assert spin[1] == pytest.approx(0.5, abs=0.05)


def test_gains_are_the_caller_s() -> None:
    gains = pliant.control.RaibertGains(leg=(1e4, 200))
    controller = raibert(HOPPER, gains=gains)
    q = HOPPER.neutral()
    q[10] = 0.01
    u, _ = controller.function(0.0, q.tolist(), [0.0] * 10, [0, 0, 0.2], START)
    assert u[2] == pytest.approx(-100)


def test_another_robot_of_its_kind() -> None:
    """Numbers come from the robot: one of twice the mass and stiffness hops with gains of twice the size."""
    heavy = pliant.load("hopper", mass=30, stiffness=14000, damping=70)
    gains = pliant.control.RaibertGains(upright=(1000, 70), leg=(6e4, 500), swing=(150, 10))
    robot = heavy.with_motor("leg", effort_limit=3600).with_motors(["hip_roll", "hip_pitch"], effort_limit=180)
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.8), controller=raibert(robot, gains=gains), batch=2)
    check_hopping(sim, 12.0, UP, None, np.array([[0, 0, 0.15], [0.3, 0, 0.2]]))


# ---- what the controller reads from a robot and sees of a state

HIP = ("hip_roll", "hip_pitch")
MACHINE = HopperMachine.of(HOPPER, HIP, "leg")


def states(count: int) -> tuple[np.ndarray, np.ndarray]:
    q = HOPPER.random(1, batch=count)
    q[:, 7:9] *= 0.9
    q[:, 9:] = np.random.default_rng(2).uniform(-0.1, 0.1, (count, 2))
    return q, np.random.default_rng(3).standard_normal((count, 10))


def test_numbers_of_the_machine() -> None:
    assert (MACHINE.q_places, MACHINE.v_places, MACHINE.u_places) == ((7, 8, 9, 10), (6, 7, 8, 9), (0, 1, 2))
    assert (MACHINE.mass, MACHINE.unsprung) == (HOPPER.mass, 0.25)
    assert (MACHINE.stiffness, MACHINE.damping) == (7000, 35)
    assert (MACHINE.length, MACHINE.gravity) == pytest.approx((0.6, 9.81))


def test_what_is_seen_is_what_dynamics_says() -> None:
    for q, v in zip(*states(20), strict=True):
        seen = MACHINE.measured(q.tolist(), v.tolist())
        body = pliant.frame_velocity(HOPPER, q, v, "body", reference="local_world_aligned")
        np.testing.assert_allclose(list(seen.velocity), body[:3], atol=1e-12)
        hip, foot = (pliant.frame_pose(HOPPER, q, name)[:3, 3] for name in ("body", "foot"))
        assert MACHINE.height(seen) == pytest.approx(hip[2] - foot[2], abs=1e-12)
        R = pliant.frame_pose(HOPPER, q, "body")[:3, :3]
        np.testing.assert_allclose(list(MACHINE.foot(seen)), R.T @ (foot - hip), atol=1e-12)
        np.testing.assert_allclose(seen.tilt, [R[2, 1], -R[2, 0]], atol=1e-12)
        state = pliant.actuation.flexibility_state(HOPPER, q, v)
        assert seen.push == pytest.approx(float(state.spring_force[0]), abs=1e-9)


def test_tilt_is_roll_and_pitch_whatever_the_heading() -> None:
    for yaw in (0.0, 1.0, -2.5):
        turn = np.array([0, 0, np.sin(yaw / 2), np.cos(yaw / 2)])
        for axis, expected in ((0, (0.1, 0)), (1, (0, 0.1))):
            w = np.zeros(10)
            w[3 + axis] = 0.1
            q = HOPPER.neutral()
            q[3:7] = turn
            seen = MACHINE.measured(HOPPER.integrate(q, w).tolist(), [0.0] * 10)
            np.testing.assert_allclose(seen.tilt, np.sin(expected), atol=1e-12)


def test_the_hip_puts_the_foot_where_it_is_told() -> None:
    q, v = states(20)
    q[:, 3:7] = [0.05, -0.08, 0.3, 0.95] / np.linalg.norm([0.05, -0.08, 0.3, 0.95])
    for k, (x, y) in enumerate(np.random.default_rng(4).uniform(-0.2, 0.2, (20, 2))):
        seen = MACHINE.measured(q[k].tolist(), v[k].tolist())
        q[k, 7:9] = MACHINE.hip_towards(seen, x, y)
        reached = pliant.frame_pose(HOPPER, q[k], "foot")[:3, 3] - q[k, :3]
        np.testing.assert_allclose(reached[:2], [x, y], atol=1e-12)
        assert reached[2] < 0


@pytest.mark.parametrize(("robot", "hip", "leg", "message"), [
    (pliant.load("pendulum"), HIP, "leg", "robot 'pendulum' has a fixed base"),
    (HOPPER, ("hip_rol", "hip_pitch"), "leg", "no joint named 'hip_rol' in robot 'hopper'"),
    (HOPPER, ("hip_pitch", "hip_roll"), "leg", r"joint 'hip_pitch' .* it must be Revolute\(axis=\(1, 0, 0\)\)"),
    (HOPPER, HIP, "hip_roll", r"it must be Prismatic\(axis=\(0, 0, -1\)\)"),
    (HOPPER.with_motor("hip_roll", control="position", kp=80), HIP, "leg", "has no motor under torque control"),
])  # fmt: skip
def test_another_robot_is_an_error(robot: Robot, hip: tuple[str, str], leg: str, message: str) -> None:
    with pytest.raises(pliant.RobotError, match=message):
        pliant.control.raibert(robot, hip=hip, leg=leg)


def without_spring(foot: tuple[float, float, float]) -> Robot:
    builder = pliant.RobotBuilder("stiff").body("body", 15, inertia=(1, 0, 0, 1, 0, 1))
    builder.body("cross").body("tube", 1, inertia=(1, 0, 0, 1, 0, 1)).body("foot", 1)
    builder.joint("hip_roll", "revolute", "body", "cross", axis=(1, 0, 0))
    builder.joint("hip_pitch", "revolute", "cross", "tube", axis=(0, 1, 0))
    builder.joint("leg", "prismatic", "tube", "foot", foot, axis=(0, 0, -1))
    for name in (*HIP, "leg"):
        builder.motor(name, rotor_inertia=1)
    return builder.build(base="free")


def test_a_leg_without_a_spring_is_an_error() -> None:
    with pytest.raises(pliant.RobotError) as error:
        pliant.control.raibert(without_spring((0, 0, -1)))
    assert (error.value.subject, error.value.field) == ("joint 'leg'", "flexibility")
    assert str(error.value.fault.call) == "robot.with_flexibility('leg', stiffness=...)"
    aside = without_spring((0.1, 0, -1)).with_flexibility("leg", stiffness=1)
    with pytest.raises(pliant.RobotError, match="it must be straight below"):
        pliant.control.raibert(aside)
