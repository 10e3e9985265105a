"""What sensors read without errors: closed forms, and balances of forces."""

import math

import numpy as np
import pytest

import pliant
from pliant.errors import SimulationError

G = 9.81
PRECISIONS = ["float64", "float32"]


def pendulum(length: float = 0.7, mass: float = 1.3, **joint) -> pliant.Robot:
    """A point mass on a rod without mass, about y; q = 0 hangs down."""
    builder = pliant.RobotBuilder("pendulum")
    builder.body("bob", mass=mass, com=(0, 0, -length), inertia=(1e-9, 0, 0, 1e-9, 0, 1e-9))
    builder.joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))
    return builder.build().with_frame("tip", "bob", (0, 0, -length))


def ball(**contact) -> pliant.Robot:
    builder = pliant.RobotBuilder("ball")
    builder.body("ball", mass=2.0, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("base", "free", "world", "ball")
    return builder.build().with_contact("ball", radius=0.1, **contact).with_frame("side", "ball", (0.05, 0, 0))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_an_accelerometer_at_rest_reads_gravity(precision: str) -> None:
    robot = ball().with_sensor("imu", "side", name="imu")
    sim = pliant.Simulation(robot, ground=pliant.flat(), precision=precision)
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1])
    for _ in range(20):
        sim.step()
    # float32 solves contacts to 2e-6 m/s, which over a step of 1 ms is 2e-3 m/s^2
    assert sim.sensors["imu.accelerometer"] == pytest.approx([0, 0, G], abs=1e-9 if precision == "float64" else 4e-3)
    assert sim.sensors["imu.gyro"] == pytest.approx([0, 0, 0], abs=1e-9 if precision == "float64" else 1e-5)


def test_an_accelerometer_in_free_fall_reads_nothing_but_the_spin() -> None:
    robot = ball().with_sensor("imu", "side", name="imu").with_sensor("imu", "ball", name="middle")
    sim = pliant.Simulation(robot)
    w = 3.0
    sim.reset(q=[0, 0, 5, 0, 0, 0, 1], v=[1, 2, 3, 0, 0, w])
    for _ in range(50):
        sim.step()
    assert sim.sensors["middle.accelerometer"] == pytest.approx([0, 0, 0], abs=1e-9)
    assert sim.sensors["imu.accelerometer"] == pytest.approx([-w * w * 0.05, 0, 0], abs=1e-9)
    assert sim.sensors["imu.gyro"] == pytest.approx([0, 0, w], abs=1e-12)


def test_an_accelerometer_on_a_swinging_pendulum_reads_its_closed_form() -> None:
    length, angle = 0.7, 0.9
    robot = pendulum(length).with_sensor("imu", "tip", name="imu")
    sim = pliant.Simulation(robot, dt=1e-3)
    sim.reset(q=[angle])
    before = None
    for _ in range(400):
        before = float(sim.q[0]), float(sim.v[0])
        sim.step()
    q, v = before
    # along the rod tension only: g cos q + l v^2; across it nothing, since gravity is all that accelerates the bob
    read = sim.sensors["imu.accelerometer"]
    assert read[2] == pytest.approx(G * math.cos(q) + length * v * v, abs=1e-6)
    assert read[:2] == pytest.approx([0, 0], abs=1e-6)
    assert sim.sensors["imu.gyro"] == pytest.approx([0, sim.v[0], 0], abs=1e-12)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_an_impact_reads_as_its_impulse_over_the_step(restitution: float) -> None:
    robot = ball(restitution=restitution, friction=0).with_sensor("imu", "ball", name="imu")
    dt = 1e-3
    sim = pliant.Simulation(robot, dt=dt, ground=pliant.flat())
    sim.reset(q=[0, 0, 0.1 + 0.05, 0, 0, 0, 1])
    highest, jump = 0.0, 0.0
    for _ in range(150):
        before = sim.v[2]
        sim.step()
        read = float(sim.sensors["imu.accelerometer"][2])
        if read > highest:
            highest, jump = read, float(sim.v[2] - before)
    assert highest == pytest.approx(jump / dt + G, rel=1e-9)
    # the speed of the fall, which is that of the step before the blow
    assert jump == pytest.approx((1 + restitution) * math.sqrt(2 * G * 0.05), rel=0.02)


def test_a_wrench_at_the_wrist_is_weight_and_inertia_of_the_payload() -> None:
    builder = pliant.RobotBuilder("arm")
    builder.body("arm", mass=3.0, com=(0.25, 0, 0), inertia=(0.01, 0, 0, 0.1, 0, 0.1))
    builder.body("payload", mass=0.8, com=(0.05, 0.02, 0), inertia=(1e-3, 0, 0, 2e-3, 0, 2.5e-3))
    builder.joint("shoulder", "revolute", "world", "arm", axis=(0, 1, 0))
    builder.joint("wrist", "fixed", "arm", "payload", position=(0.5, 0, 0))
    robot = builder.build().with_motor("shoulder").with_sensor("wrench", "payload", name="ft")
    sim = pliant.Simulation(robot)
    sim.reset(q=[0.4], v=[2.0])
    q, v = sim.q, sim.v
    sim.step([5.0])
    vd = pliant.forward_dynamics(robot, q, v, [5.0])[0]
    m, c = 0.8, np.array([0.05, 0.02, 0])
    down = np.array([math.sin(q[0]) * G, 0, -math.cos(q[0]) * G])  # gravity in the axes of the arm
    w, wd = np.array([0, v[0], 0]), np.array([0, vd, 0])
    r = np.array([0.5, 0, 0]) + c
    a = np.cross(wd, r) + np.cross(w, np.cross(w, r))
    force = m * (down - a)
    spin = np.diag([1e-3, 2e-3, 2.5e-3])
    torque = np.cross(c, force) - spin @ wd - np.cross(w, spin @ w)
    assert sim.sensors["ft.force"] == pytest.approx(force, abs=1e-9)
    assert sim.sensors["ft.torque"] == pytest.approx(torque, abs=1e-9)


def legged() -> pliant.Robot:
    """A body on a leg whose foot is fixed to the shank and has no mass."""
    builder = pliant.RobotBuilder("leg")
    builder.body("trunk", mass=4.0, inertia=(0.05, 0, 0, 0.05, 0, 0.05))
    builder.body("shank", mass=0.5, com=(0, 0, -0.15), inertia=(4e-3, 0, 0, 4e-3, 0, 1e-3))
    builder.body("foot", mass=0.0)
    builder.joint("base", "free", "world", "trunk")
    builder.joint("knee", "revolute", "trunk", "shank", axis=(0, 1, 0))
    builder.joint("ankle", "fixed", "shank", "foot", position=(0, 0, -0.3))
    return builder.build().with_motor("knee").with_contact("foot", radius=0.02)


def test_a_wrench_at_a_foot_without_mass_is_the_contact_force() -> None:
    robot = legged().with_sensor("wrench", "foot", name="ft").with_sensor("contact")
    sim = pliant.Simulation(robot, ground=pliant.flat())
    sim.reset(q=[0, 0, 0.31, 0, 0.1, 0, math.sqrt(1 - 0.01), 0.2])
    touched = 0
    for _ in range(120):
        q = sim.q
        sim.step([-0.5])
        R = pliant.frame_pose(robot, q, "foot")[:3, :3]
        force = sim.contact_forces[0]
        assert R @ sim.sensors["ft.force"] == pytest.approx(force, abs=1e-8 * (1 + np.abs(force).max()))
        assert sim.sensors["contact.force"] == pytest.approx(force, rel=1e-14)
        assert sim.sensors["contact.touch"][0] == (np.linalg.norm(force) > 0)
        touched += int(sim.sensors["contact.touch"][0])
    assert 5 < touched < 120


def test_times_in_the_air_and_on_the_ground() -> None:
    dt = 1e-3
    robot = ball(restitution=0).with_sensor("contact", name="touch")
    sim = pliant.Simulation(robot, dt=dt, ground=pliant.flat())
    sim.reset(q=[0, 0, 0.1 + 0.02, 0, 0, 0, 1])
    fall = math.sqrt(2 * 0.02 / G)
    for k in range(1, 121):
        sim.step()
        air, ground = sim.sensors["touch.air_time"][0], sim.sensors["touch.contact_time"][0]
        if k * dt < fall - 2 * dt:
            assert (air, ground) == pytest.approx((k * dt, 0), abs=1e-12)
    assert air == 0
    assert ground == pytest.approx(0.12 - fall, abs=3 * dt)


def test_encoders_on_both_sides_of_a_spring_follow_the_two_mass_system() -> None:
    I, J, k = 1.0, 0.1, 100.0
    builder = pliant.RobotBuilder("two masses")
    builder.body("link", mass=1.0, inertia=(I, 0, 0, I, 0, I))
    builder.joint("joint", "revolute", "world", "link", axis=(0, 0, 1))
    robot = builder.build().with_gravity(0, 0, 0).with_motor("joint", rotor_inertia=J)
    robot = robot.with_flexibility("joint", stiffness=k)
    robot = robot.with_sensor("encoder", name="motor", side="motor").with_sensor("encoder", name="link", side="link")
    robot = robot.with_sensor("torque", name="spring", side="spring")
    sim = pliant.Simulation(robot, dt=1e-4)
    x = 0.01  # deflection at the start; link = motor + deflection
    start = robot.neutral()
    start[robot.q_slice("joint_flexibility")] = x
    sim.reset(q=start)
    w = math.sqrt(k * (1 / I + 1 / J))
    for _ in range(2000):
        sim.step()
    deflection = x * math.cos(w * sim.t)
    # without outside torques the centre of inertia stays: J q_motor + I q_link = I x
    motor = (I * x - I * deflection) / (I + J)
    assert sim.sensors["motor.position"][0] == pytest.approx(motor, abs=2e-5)
    assert sim.sensors["link.position"][0] == pytest.approx(motor + deflection, abs=2e-5)
    assert sim.sensors["spring.torque"][0] == pytest.approx(-k * deflection, abs=2e-3)
    rate = I * x * w * math.sin(w * sim.t) / (I + J)
    assert sim.sensors["motor.velocity"][0] == pytest.approx(rate, abs=1e-3)


def test_torque_of_motors_and_pose_of_a_frame() -> None:
    robot = (
        pliant.load("arm7").with_sensor("torque").with_sensor("pose", pliant.load("arm7").bodies[-1].name, name="hand")
    )
    sim = pliant.Simulation(robot)
    rng = np.random.default_rng(0)
    q, v = robot.random(rng) * 0.3, rng.normal(size=robot.nv)
    sim.reset(q=q, v=v)
    u = rng.normal(size=robot.nu)
    sim.step(u)
    hand = robot.sensors["hand"].at[0]
    assert sim.sensors["torque.torque"] == pytest.approx(sim.tau, abs=0)
    X = pliant.frame_pose(robot, sim.q, hand)
    V = pliant.frame_velocity(robot, sim.q, sim.v, hand)
    assert sim.sensors["hand.position"] == pytest.approx(X[:3, 3], abs=1e-12)
    assert sim.sensors["hand.linear"] == pytest.approx(V[:3], abs=1e-12)
    assert sim.sensors["hand.angular"] == pytest.approx(V[3:], abs=1e-12)
    x, y, z, w = sim.sensors["hand.orientation"]
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    assert pytest.approx(X[:3, :3], abs=1e-12) == R


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dormand-prince"])
def test_smooth_integrators_read_the_acceleration_of_the_moment(integrator: str) -> None:
    length = 0.7
    robot = pendulum(length).with_sensor("imu", "tip", name="imu")
    sim = pliant.Simulation(robot, dt=1e-3, integrator=integrator)
    sim.reset(q=[0.9])
    for _ in range(100):
        sim.step()
    q, v = float(sim.q[0]), float(sim.v[0])
    read = sim.sensors["imu.accelerometer"]
    assert read[2] == pytest.approx(G * math.cos(q) + length * v * v, abs=1e-6)


def test_a_scan_follows_the_heading() -> None:
    robot = ball().with_sensor("scan", "ball", name="scan", points=[(0.5, 0), (0, 0.5), (-0.3, 0.2)], reach=3)
    sim = pliant.Simulation(robot, ground=lambda x, y: 0.2 * x - 0.1 * y)
    yaw, pitch = 0.7, 0.4
    cy, sy, cp, sp = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(pitch / 2), math.sin(pitch / 2)
    sim.reset(q=[1.0, -2.0, 1.5, -sy * sp, cy * sp, sy * cp, cy * cp])
    expected = []
    for x, y in [(0.5, 0), (0, 0.5), (-0.3, 0.2)]:
        X, Y = 1.0 + math.cos(yaw) * x - math.sin(yaw) * y, -2.0 + math.sin(yaw) * x + math.cos(yaw) * y
        expected.append(0.2 * X - 0.1 * Y - 1.5)
    assert sim.sensors["scan.height"] == pytest.approx(expected, abs=1e-12)


def test_sensors_that_have_nothing_to_measure() -> None:
    with pytest.raises(SimulationError, match="there is none"):
        pliant.Simulation(ball().with_sensor("scan", "ball", points=[(0, 0)]))
    with pytest.raises(SimulationError, match="nothing of 'ball' can touch"):
        pliant.Simulation(ball().with_sensor("contact"))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_range_finder_meets_ground_and_robot(precision: str) -> None:
    builder = pliant.RobotBuilder("mast")
    shape = pliant.robot.Geometry("sphere", (0.2,))
    builder.body("mast", mass=1.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1))
    builder.body("ball", mass=1.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1), collisions=[shape])
    builder.joint("turn", "continuous", "world", "mast", position=(0, 0, 1), axis=(0, 0, 1))
    builder.joint("arm", "revolute", "mast", "ball", position=(1, 0, 0), axis=(0, 1, 0))
    rays = [(1, 0, 0), (0, 0, -1), (0, 1, -1), (0, -1, 0)]
    robot = builder.build().with_sensor("range", "mast", name="eye", rays=rays, reach=5)
    sim = pliant.Simulation(robot, ground=pliant.flat(), precision=precision, batch=2)
    sim.reset(q=[[0, 0], [1.0, 0]])
    tolerance = 1e-9 if precision == "float64" else 1e-5
    for _ in range(2):
        # the ball in front, the ground below and aslant, nothing to the right
        assert sim.sensors["eye.distance"][0] == pytest.approx([0.8, 1, math.sqrt(2), 5], abs=max(tolerance, 1e-3))
        assert sim.sensors["eye.hit"][1].tolist() == [1, 1, 1, 0]
        sim.step()


def test_a_scan_of_many_points_on_a_height_map() -> None:
    rng = np.random.default_rng(3)
    ground = pliant.height_map(rng.uniform(0, 0.1, (60, 60)), spacing=0.1, origin=(-3, -3))
    robot = ball().with_sensor("scan", "ball", name="scan", grid=(1.6, 1.0, 0.1), rate=500)
    sim = pliant.Simulation(robot, ground=ground, batch=3)
    sim.reset(q=[[0.3 * k, -0.2, 1.0, 0, 0, math.sin(0.4 * k), math.cos(0.4 * k)] for k in range(3)])
    points = np.array(robot.sensors["scan"].rays)[:, :2]
    assert len(points) == 187
    for robot_number in range(3):
        yaw = 0.8 * robot_number
        turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
        places = points @ turn.T + [0.3 * robot_number, -0.2]
        expected = np.array([ground.height(x, y) for x, y in places]) - 1.0
        assert sim.sensors["scan.height"][robot_number] == pytest.approx(expected, abs=1e-9)
