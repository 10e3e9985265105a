"""The trot from sensors: geometry of its legs against the robot's, and robots that walk."""

import numpy as np
import pytest
from real_robots import real_robot
from walking_robots import FEET, quadruped, started, walk

import pliant
from pliant.control import BaseEstimator, Leg, TrotGains, trot
from pliant.control.trot import LEGS
from pliant.errors import RobotError
from pliant.spatial import Vector


def go2() -> pliant.Robot:
    """A Unitree Go2 with sensors, the IMU where it has it: not at the origin of its base."""
    robot = real_robot("go2_description/go2.urdf", "free")
    feet = [f"{leg}_foot" for leg in ("FL", "RL", "FR", "RR")]
    robot = robot.without_contacts().with_contacts(*feet, radius=0.022)
    robot = robot.with_motors(control="position", kp=130, kd=4, rotor_inertia=1e-2)
    errors = {"gyro": {"noise": 1.2e-4, "bias": 0.01}, "accelerometer": {"noise": 1.2e-3, "bias": 0.08}}
    robot = robot.with_sensor("imu", "imu", name="imu", rate=500, delay=0.002, misalignment=0.005, **errors)
    return robot.with_sensor("encoder", name="encoders").with_sensor("contact", feet, name="feet", threshold=5)


GO2_LEGS = [
    (f"{leg}_hip_joint", f"{leg}_thigh_joint", f"{leg}_calf_joint", f"{leg}_foot") for leg in ("FL", "RL", "FR", "RR")
]


@pytest.mark.parametrize(("robot", "legs"), [(quadruped(), LEGS), (go2(), GO2_LEGS)], ids=["quadruped", "go2"])
def test_angles_of_a_leg_bring_its_foot_there_and_torques_carry_it(robot: pliant.Robot, legs) -> None:
    rng = np.random.default_rng(0)
    for names in legs:
        leg = Leg.of(robot, names[:3], names[3])
        for _ in range(5):
            p = leg.hip + Vector(0, leg.side, -0.28) + Vector(*rng.uniform(-0.08, 0.08, 3))
            q = robot.neutral()
            angles = leg.angles(p)
            for joint, angle in zip(leg.joints, angles, strict=True):
                q[robot.q_slice(joint)] = angle
            assert pliant.frame_pose(robot, q, names[3])[:3, 3] == pytest.approx([*p], abs=1e-12)
            # what balances a force upward at the foot: -J^T f
            J = pliant.frame_jacobian(robot, q, names[3])
            columns = [robot.v_slice(joint).start for joint in leg.joints]
            assert leg.torques(angles, 60.0) == pytest.approx(-60 * J[2, columns], abs=1e-9)


def test_places_out_of_reach_are_approached() -> None:
    leg = Leg.of(quadruped(), LEGS[0][:3], "lf_foot")
    for p in (Vector(0.2, 0.13, -2), Vector(2, 0.1, -0.2), Vector(0.19, 0.05, 0), Vector(0.19, 0.13, -0.01)):
        assert np.isfinite(leg.angles(p)).all()


def upright(q: np.ndarray) -> np.ndarray:
    return 1 - 2 * (q[..., 3] ** 2 + q[..., 4] ** 2)


@pytest.mark.parametrize("ground", ["flat", "rough"])
def test_robots_stand_up_and_trot_as_commanded(ground: str) -> None:
    found = walk(ground, batch=16, seconds=6.0)
    # it stands before it trots: hips at the height of the gait and the feet's radius above the ground
    stand = found.q[:, np.searchsorted(found.t, 0.95)]
    if ground == "flat":
        assert stand[:, 2] == pytest.approx(TrotGains().height + 0.02, abs=0.01)
    # on rough ground which foot slips depends on rounding, so that only those that fall are wrong
    assert upright(found.q).min() > (0.98 if ground == "flat" else 0.5)
    k = np.searchsorted(found.t, 3.0)
    gone = (found.q[:, -1, :2] - found.q[:, k, :2]) / (found.t[-1] - found.t[k])
    # ahead, by the heading that it had at the start; a gyroscope of 0.01 rad/s loses 2 degrees of it by then
    if ground == "flat":
        assert gone[:, 0] == pytest.approx(np.full(16, 0.3), abs=0.05)
        assert np.abs(gone[:, 1]).max() < 0.05
    assert gone.mean(axis=0) == pytest.approx([0.3, 0], abs=0.05)


def test_it_turns_and_goes_aside() -> None:
    found = walk("flat", batch=8, seconds=6.0, command=(0.1, 0.1, 0.4))
    assert upright(found.q).min() > 0.98
    late = found.t > 3
    assert found.true_velocity[:, late].mean(axis=(0, 1))[:2] == pytest.approx([0.1, 0.1], abs=0.03)
    yaw = np.unwrap(2 * np.arctan2(found.q[..., 5], found.q[..., 6]), axis=1)[:, late]
    assert (yaw[:, -1] - yaw[:, 0]) / 3 == pytest.approx(np.full(8, 0.4), abs=0.05)


def test_another_robot_trots_with_the_same_gains() -> None:
    robot = go2()
    controller = trot(robot, dt=2e-3, legs=GO2_LEGS)
    sim = pliant.Simulation(robot, substeps=2, ground=pliant.flat(friction=0.8), controller=controller, batch=8)
    started(sim, controller.function.crouched(robot), 2, 0.25)
    made = sim.rollout(None, np.tile([0.3, 0.0, 0.0], (2500, 1)))
    assert upright(made.q).min() > 0.97
    assert (made.q[:, -1, 0] - made.q[:, 1500, 0]) / 2 == pytest.approx(np.full(8, 0.3), abs=0.06)


# ---- bad input


def test_what_it_needs() -> None:
    robot = quadruped()
    cases = [
        ({"dt": 0.0}, "dt"),
        ({"legs": LEGS[:3]}, "legs"),
        ({"legs": [("lf_knee", *LEGS[0][1:]), *LEGS[1:]]}, "kind"),
        ({"legs": [("none", *LEGS[0][1:]), *LEGS[1:]]}, "joint"),
        ({"legs": [(*LEGS[0][:3], "trunk"), *LEGS[1:]]}, "foot"),
    ]
    for options, field in cases:
        with pytest.raises(RobotError) as raised:
            trot(robot, **{"dt": 2e-3, **options})
        assert raised.value.field == field, str(raised.value)
    with pytest.raises(RobotError, match="position control"):
        trot(robot.with_motor("lf_knee", control="torque"), dt=2e-3)
    with pytest.raises(RobotError, match="duty"):
        TrotGains(duty=1)
    assert BaseEstimator.of(robot).odometry.feet[0].body == FEET[0]
