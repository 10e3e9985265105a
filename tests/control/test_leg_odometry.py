"""Velocity of a base by its legs: exact where feet stand, bounded where they slip, and on robots that walk."""

import math

import numpy as np
import pytest
from walking_robots import FEET, quadruped, walk

import pliant
from pliant.control import Attitude, BaseEstimator
from pliant.control.leg_odometry import LegOdometry
from pliant.errors import RobotError
from pliant.spatial import Vector

G = 9.81


def with_imu_aside(robot: pliant.Robot) -> pliant.Robot:
    robot = robot.with_frame("board", "trunk", (0.1, -0.05, 0.04), rpy=(0.2, -0.4, 2.0))
    return robot.without_sensors("imu").with_sensor("imu", "board", name="imu")


def standing_motion(robot: pliant.Robot, seed: int, slips: dict[int, np.ndarray] | None = None) -> tuple:
    """A random state in which the lowest points of all feet stand still, or move with these velocities."""
    rng = np.random.default_rng(seed)
    q = robot.neutral()
    turn = rng.normal(size=3) * 0.2
    q = robot.integrate(q, [0, 0, 0, *turn, *np.tile([0.1, 0.8, -1.6], 4) + 0.2 * rng.normal(size=12)])
    v = np.zeros(robot.nv)
    v[:6] = rng.normal(size=6) * 0.5
    for k, foot in enumerate(FEET):
        J = pliant.frame_jacobian(robot, q, foot)
        # of the point 2 cm below the centre, with the foot
        down = np.array([0, 0, -0.02])
        point = J[:3] - np.array([[0, -down[2], down[1]], [down[2], 0, -down[0]], [-down[1], down[0], 0]]) @ J[3:]
        own = slice(6 + 3 * k, 9 + 3 * k)
        wanted = np.zeros(3) if slips is None or k not in slips else slips[k]
        v[own] = np.linalg.solve(point[:, own], wanted - point[:, :6] @ v[:6])
    return q, v


def readings(robot: pliant.Robot, q: np.ndarray, v: np.ndarray, frame: str) -> dict:
    """What ideal sensors read of a state without acceleration."""
    R = pliant.frame_pose(robot, q, frame)[:3, :3]
    w = pliant.frame_velocity(robot, q, v, frame, reference="local")[3:]
    return {"R": R, "gyro": w.tolist(), "accelerometer": (R.T @ [0, 0, G]).tolist()}


def attitude_of(R: np.ndarray, w: list[float]) -> Attitude:
    quaternion = pliant.spatial.quaternion_from_matrix(pliant.spatial.Matrix3(R.ravel().tolist()))
    return Attitude(quaternion, Vector(*w), Vector(0, 0, 0))


@pytest.mark.parametrize("aside", [False, True])
def test_feet_that_stand_tell_velocity_and_height_exactly(aside: bool) -> None:
    robot = with_imu_aside(quadruped()) if aside else quadruped()
    frame = robot.sensors["imu"].at[0]
    # as fast as it gets: one sample is all
    odometry = BaseEstimator.of(robot, k=1e15, k_height=1e15, slip=1e9).odometry
    assert odometry.joints == tuple(robot.motors)
    for seed in range(5):
        q, v = standing_motion(robot, seed)
        read = readings(robot, q, v, frame)
        attitude = attitude_of(read["R"], read["gyro"])
        positions, rates = q[7:].tolist(), v[6:].tolist()
        motion, _ = odometry.update(attitude, read["accelerometer"], positions, rates, [1, 1, 1, 1], [0.0] * 4, 1e-3)
        base = pliant.frame_velocity(robot, q, v, "trunk")
        assert [*motion.velocity] == pytest.approx(base[:3], abs=1e-9)
        assert [*motion.rate] == pytest.approx(v[3:6], abs=1e-12)
        heights = []
        for foot, seen in zip(FEET, motion.feet, strict=True):
            X = pliant.frame_pose(robot, q, foot)
            heights.append(X[2, 3] - 0.02)
            trunk = pliant.frame_pose(robot, q, "trunk")
            assert [*seen] == pytest.approx(trunk[:3, :3].T @ (X[:3, 3] - trunk[:3, 3]), abs=1e-12)
        # above the mean of the feet that stand
        assert motion.height == pytest.approx(-np.mean(heights), abs=1e-9)


def settled(odometry: LegOdometry, q, v, read, touch, seconds: float = 2.0, start=(0.0,) * 4) -> tuple:
    memory, attitude = list(start), attitude_of(read["R"], [0.0, 0.0, 0.0])
    for _ in range(round(seconds / 1e-3)):
        motion, memory = odometry.update(
            attitude, read["accelerometer"], q[7:].tolist(), v[6:].tolist(), touch, memory, 1e-3
        )
    return motion, memory


@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_a_foot_that_slips_shifts_the_estimate_by_a_third_of_its_gate(speed: float) -> None:
    robot = quadruped()
    slip = 0.15
    odometry = BaseEstimator.of(robot, slip=slip).odometry
    q, _ = standing_motion(robot, 0)
    v = np.zeros(robot.nv)
    J = pliant.frame_jacobian(robot, q, "lf_foot", reference="local_world_aligned")[:, 6:9]
    point = J[:3] + 0.02 * np.array([[0, -1, 0], [1, 0, 0], [0, 0, 0]]) @ J[3:]
    v[6:9] = np.linalg.solve(point, [speed, 0, 0])
    motion, _ = settled(odometry, q, v, readings(robot, q, np.zeros(robot.nv), "trunk"), [1, 1, 1, 1])
    # three feet pull with their full distance d, the fourth with the gate: 3 d = slip
    assert [*motion.velocity] == pytest.approx([-slip / 3, 0, 0], abs=1e-6)


def test_in_flight_it_falls_as_the_accelerometer_says() -> None:
    robot = quadruped()
    odometry = BaseEstimator.of(robot).odometry
    q, v = standing_motion(robot, 1)
    read = {**readings(robot, q, v, "trunk"), "accelerometer": [0.0, 0.0, 0.0]}
    motion, memory = settled(odometry, q, v, read, [0, 0, 0, 0], 0.3, (1.0, 0.5, 2.0, 0.4))
    # speeds exactly; heights by steps, whose sum is dt / 2 g t off
    assert [*motion.velocity] == pytest.approx([1, 0.5, 2 - G * 0.3], abs=1e-9)
    assert motion.height == pytest.approx(0.4 + 2 * 0.3 - G * 0.3**2 / 2, abs=2e-3)
    assert memory[:3] == pytest.approx([*motion.velocity])


def test_it_is_generic_over_the_scalar_and_compiled_in_a_controller() -> None:
    robot = with_imu_aside(quadruped())
    estimator, dt = BaseEstimator.of(robot), 2e-3
    shapes = {"gyro": 3, "felt": 3, "x": 12, "r": 12, "touch": 4, "m": len(estimator.memory)}

    def update(gyro, felt, x, r, touch, m):
        sensors = {"imu.gyro": gyro, "imu.accelerometer": felt, "encoders.position": x, "encoders.velocity": r}
        return estimator.update({**sensors, "feet.touch": touch}, m, dt)[1]

    kernel = pliant.compiler.kernel_from_function(update, {k: (n,) for k, n in shapes.items()}, name="estimator")
    rng = np.random.default_rng(2)
    floats, compiled = [list(estimator.memory) for _ in range(3)], np.tile(estimator.memory, (3, 1))
    arrays = list(compiled.T.copy())
    for _ in range(10):
        given = [rng.normal(size=(3, n)) * 0.3 for n in list(shapes.values())[:-1]]
        given[1] += [0, 0, G]
        given[4] = (given[4] > 0) * 1.0
        floats = [update(*(g[k].tolist() for g in given), floats[k]) for k in range(3)]
        arrays = update(*(g.T for g in given), arrays)
        compiled = kernel(*given, compiled)
    assert pytest.approx(np.array(floats), abs=1e-12) == np.array(arrays).T
    assert compiled == pytest.approx(np.array(floats), abs=1e-12)


@pytest.mark.parametrize("ground", ["flat", "rough", "ice"])
def test_on_robots_that_walk(ground: str) -> None:
    # 16 robots with the shipped sensors; errors from 2 s on
    found = walk(ground, batch=16, seconds=6.0)
    late = found.t > 2
    off = (found.velocity - found.true_velocity)[:, late]
    # landings are blows of some 0.2 m/s that last a few of the filter's 1 / k; on ice both feet of a pair slide
    # together for much of a stance, and only the accelerometer tells
    most = {"flat": 0.05, "rough": 0.1, "ice": 0.4}[ground]
    assert np.sqrt((off**2).mean(axis=(0, 1))).max() < most
    # the accelerometer's bias and the mounting tilt the estimate by 0.08 / g and 0.005 rad, standard deviations about
    # two axes; on rough ground and ice, accelerations of up to 1 m/s^2 over times of 1 / kp count as tilt, too
    mounting = math.sqrt(2) * math.hypot(0.08 / G, 0.005)
    tilt = np.sqrt((found.tilt[:, late] ** 2).mean())
    assert tilt < 2 * mounting + (0 if ground == "flat" else 1 / G)


# ---- bad input


def test_what_it_needs() -> None:
    robot = quadruped()
    cases = [
        (robot.without_sensors("imu"), {}, "sensor"),
        (robot, {"imu": "feet"}, "kind"),
        (robot.without_sensors("imu").with_sensor("imu", "lf_thigh", name="imu"), {}, "at"),
        (robot.with_sensors("imu", channels=["gyro"]), {}, "channel"),
        (robot.without_sensors("encoders").with_sensor("encoder", ["lf_knee"], name="encoders"), {}, "encoder"),
        (robot, {"slip": 0}, "slip"),
        (robot, {"k": -1}, "k"),
    ]
    for given, options, field in cases:
        with pytest.raises(RobotError) as raised:
            BaseEstimator.of(given, **options)
        assert raised.value.field == field, str(raised.value)
    with pytest.raises(RobotError, match="fixed base"):
        BaseEstimator.of(pliant.load("arm7"))
