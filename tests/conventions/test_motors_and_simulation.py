"""Lines of docs/conventions.md on motors, robots and simulation."""

import math
from pathlib import Path

import numpy as np
import pytest

import pliant
from simulated_robots import started

# ---- motors and robots


def test_50_controls_follow_the_motors() -> None:
    robot = pliant.load("double_pendulum")
    first, second = list(robot.joints)[-2:]
    robot = robot.with_motor(second, gear=5, effort_limit=40).with_motor(first)
    assert robot.nu == 2 and list(robot.motors) == [second, first]
    assert robot.motors[second].effort_limit == 40 and robot.motors[second].armature == 0
    with pytest.raises(pliant.RobotError, match="cannot drive the free joint"):
        pliant.load("quadruped").with_motor("root_joint")


def test_51_a_urdf_joint_has_a_motor_unless_its_effort_limit_is_zero(star: Path) -> None:
    assert list(pliant.load(star).motors) == ["B", "b"]
    assert list(pliant.load(star, mimic=True).motors) == ["b"]


def test_52_robots_do_not_change() -> None:
    robot = pliant.load("pendulum")
    heavier = robot.with_joint("hinge", armature=1)
    assert robot.joints["hinge"].armature == (0,) and heavier.joints["hinge"].armature == (1,)
    with pytest.raises(AttributeError):
        robot.name = "other"  # type: ignore[misc]
    twin = pliant.load("pendulum")
    assert robot != twin and robot.digest == twin.digest != heavier.digest


def test_53_random_configurations_keep_the_limits() -> None:
    robot = pliant.load("quadruped")
    q = robot.random(0, batch=2000)
    for joint in robot.joints.values():
        part = q[:, robot.q_slice(joint.name)]
        if joint.kind.nq == 1:
            assert part.min() >= joint.limits.lower[0] and part.max() <= joint.limits.upper[0]
            assert np.ptp(part) > 0.95 * (joint.limits.upper[0] - joint.limits.lower[0])
    assert abs(q[:, :3]).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1, atol=1e-15)
    assert abs(q[:, 3:7].mean(axis=0)).max() < 0.05  # no direction preferred
    assert abs(pliant.load("pendulum").random(0, batch=500)).max() <= math.pi


# ---- simulation

RADIUS, DT = 0.1, 1e-3


def ball(**options) -> pliant.Robot:
    """A ball of 2 kg that touches."""
    builder = pliant.RobotBuilder("ball").body("ball", mass=2, inertia=(0.008, 0, 0, 0.008, 0, 0.008))
    return builder.build(base="free").with_contact("ball", radius=RADIUS, **options)


def wheel(**motor) -> pliant.Robot:
    """A wheel of 0.5 kg m^2 on a motor, without gravity."""
    builder = pliant.RobotBuilder("wheel").gravity(0, 0, 0).body("wheel", mass=1, inertia=(1, 0, 0, 1, 0, 0.5))
    return builder.joint("hub", "continuous", "world", "wheel", axis=(0, 0, 1)).build().with_motor("hub", **motor)


def placed(z: float = RADIUS) -> list[float]:
    return [0, 0, z, 0, 0, 0, 1]


def test_54_time_counts_whole_steps() -> None:
    sim = started(pliant.Simulation(wheel(), dt=DT, substeps=4), t=0.0104)
    assert sim.t == pytest.approx(0.010, abs=1e-15)
    sim.step([1.0])
    assert sim.t == pytest.approx(0.014, abs=1e-15)
    # the control is held for four steps
    assert sim.v == pytest.approx([4 * DT / 0.5], rel=1e-13)


def test_55_contact_forces_are_on_the_robot() -> None:
    sim = started(pliant.Simulation(ball(), dt=DT, ground=pliant.flat(friction=0.5)), q=placed(), v=[1, 0, 0, 0, 0, 0])
    sim.step()
    assert list(sim.contact_names) == ["ball"]
    # pushed up with the weight, and slowed down by friction; the solver stops at 1e-9 m/s a step of 1 ms
    np.testing.assert_allclose(sim.contact_forces, [[-0.5 * 2 * 9.81, 0, 2 * 9.81]], atol=1e-5)


def test_56_a_pair_s_force_is_on_its_first_shape() -> None:
    builder = pliant.RobotBuilder("two").gravity(0, 0, 0)
    for name in ("a", "b"):
        builder.body(name, mass=1, inertia=(1, 0, 0, 1, 0, 1))
        builder.joint(f"j{name}", "prismatic", "world", name, axis=(1, 0, 0))
    robot = builder.build().with_contacts("a", "b", radius=0.5).with_contact_pair("a", "b")
    sim = started(pliant.Simulation(robot, dt=DT), q=[1, 0], v=[-1, 0])  # a is on the side of +x and moves into b
    sim.step()
    assert list(sim.contact_names)[-1] == "a|b"
    # they go on together with half of the speed: the impulse on a is +0.5 N s
    np.testing.assert_allclose(sim.v, -0.5, atol=1e-9)
    np.testing.assert_allclose(sim.contact_forces[-1], [0.5 / DT, 0, 0], atol=1e-5)


def test_57_depth_is_positive_in_the_ground() -> None:
    law = pliant.SpringDamper(stiffness=1000, damping=10, friction=0.5, slip_speed=1e-3)
    assert law(-0.01, 0, (0, 0))[0] == 0
    normal, friction = law(0.01, 0.2, (3, 0))
    assert normal == pytest.approx(1000 * 0.01 + 10 * 0.2) and friction[0] == pytest.approx(-0.5 * normal)
    # the same in a simulation, whose explicit integrator takes the law at the start of the step
    seen = pliant.CompliantContact(lambda depth, rate, slip: (1000 * depth + 10 * rate, (-slip[0], -slip[1])))
    sim = pliant.Simulation(ball(), dt=1e-7, ground=pliant.flat(), contact=seen, integrator="rk4")
    sim.reset(q=placed(RADIUS - 0.01), v=[3, 4, -0.2, 0, 0, 0])
    sim.step()
    rate = sim.v[:3] - [3, 4, -0.2]
    # over 1e-7 s the forces change by less than a part in 1e5; the difference of v has 9 digits
    np.testing.assert_allclose(rate / 1e-7, [-3 / 2, -4 / 2, (10 + 2) / 2 - 9.81], rtol=1e-4)


def test_58_the_contact_s_own_friction_goes_first() -> None:
    model = pliant.RigidContact(friction=0.1)
    for robot, ground, mu in (
        (ball(friction=0.3), pliant.flat(friction=0.2), 0.3),
        (ball(), pliant.flat(friction=0.2), 0.2),
        (ball(), pliant.flat(), 0.1),
    ):
        sim = started(pliant.Simulation(robot, dt=DT, ground=ground, contact=model), q=placed(), v=[1, 0, 0, 0, 0, 0])
        sim.step()
        assert sim.contact_forces[0, 0] == pytest.approx(-mu * 2 * 9.81, abs=1e-5)


def test_59_restitution_is_a_ratio_of_speeds() -> None:
    sim = pliant.Simulation(ball(restitution=0.6).with_gravity(0, 0, 0), dt=DT, ground=pliant.flat())
    sim.reset(q=placed(RADIUS + 0.01), v=[0, 0, -2, 0, 0, 0])
    sim.run(0.02)
    assert sim.v[2] == pytest.approx(0.6 * 2, abs=1e-8)
    builder = pliant.RobotBuilder("slider").gravity(0, 0, 0).body("slider", mass=1, inertia=(1, 0, 0, 1, 0, 1))
    robot = builder.joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0), limits=(-1, 0.01)).build()
    sim = started(pliant.Simulation(robot.with_joint("rail", restitution=0.6), dt=DT), v=[2])
    sim.run(0.02)
    assert sim.v == pytest.approx([-0.6 * 2], abs=1e-8)


def test_60_motors_act_at_joints() -> None:
    sim = pliant.Simulation(wheel(gear=10, rotor_inertia=1e-3, effort_limit=3), dt=DT)
    sim.step([5.0])
    assert sim.tau == pytest.approx([3.0])
    assert sim.v == pytest.approx([3 * DT / (0.5 + 10 * 10 * 1e-3)], rel=1e-13)


def test_61_gains_act_at_the_end_of_the_step() -> None:
    kp, kd, q, v, u = 1e5, 20.0, 0.2, 3.0, 0.5
    sim = started(pliant.Simulation(wheel(control="position", kp=kp, kd=kd), dt=DT), q=[q], v=[v])
    sim.step([u])
    expected = (0.5 * v + DT * kp * (u - q)) / (0.5 + DT * kd + DT * DT * kp)
    assert sim.v == pytest.approx([expected], rel=1e-12)
    assert sim.tau == pytest.approx([kp * (u - sim.q[0]) - kd * expected], rel=1e-9)
    k = 40.0  # k dt^2 / I = 8e-5: the square of it is what is not kept
    spring = started(pliant.Simulation(wheel().with_joint("hub", stiffness=k), dt=DT), q=[q], v=[v])
    spring.step([0])
    # the state has the deflection at the time of the velocity, half a step before that of the force
    assert spring.v == pytest.approx([v - DT * k * (q + DT / 2 * v) / (0.5 + DT * DT * k / 4)], rel=1e-8)
    assert spring.q == pytest.approx([q + DT / 2 * (v + spring.v[0])], rel=1e-8)


def test_62_external_forces_act_at_a_frame_s_origin() -> None:
    robot = ball().without_contacts().with_gravity(0, 0, 0)
    robot = robot.with_frame("rim", "ball", (0, RADIUS, 0), (0, 0, math.pi / 2))
    for frame, force in (("world", (4.0, 0, 0)), ("body", (0, -4.0, 0))):  # the frame's -y is the world's x
        push = pliant.ExternalForce("rim", force=force, frame=frame, start=2 * DT, end=3 * DT)
        sim = pliant.Simulation(robot, dt=DT, forces=[push])
        sim.step()
        sim.step()
        assert not sim.v.any()
        for _ in range(2):  # it acts in one of the two
            sim.step()
        # at y = 0.1 m, a force along x turns about -z
        np.testing.assert_allclose(sim.v[[0, 5]], [4 * DT / 2, -4 * RADIUS * DT / 0.008], rtol=1e-3)


def test_63_a_state_is_a_row_of_numbers() -> None:
    sim = started(pliant.Simulation(ball(), ground=pliant.flat(), batch=3), q=placed(1))
    state = sim.state
    assert state.data.shape == (3, state.layout.size) and state.robot(0).data.shape == (state.layout.size,)
    assert list(state.layout.sizes)[:3] == ["q", "v", "clock"]
    assert state.layout.span("v") == slice(7, 13)
    state.part("v")[1, 0] = 5
    assert state.data[1, 7] == 5 and not sim.v.any()


def test_64_a_step_ends_in_the_axes_of_its_end() -> None:
    robot = ball().without_contacts().with_gravity(0, 0, 0)
    sim = started(pliant.Simulation(robot, dt=DT), v=[1, 2, 3, 4, -5, 6])
    sim.run(0.5)
    R = pliant.frame_pose(robot, sim.q, "ball")[:3, :3]
    assert abs(sim.v[:3] - [1, 2, 3]).max() > 0.1
    np.testing.assert_allclose(R @ sim.v[:3], [1, 2, 3], atol=1e-12)  # 500 steps of rounding
    np.testing.assert_allclose(sim.q[:3], [0.5, 1, 1.5], atol=1e-12)


def test_65_a_robot_that_diverges_stands_still() -> None:
    sims = [pliant.Simulation(wheel(), dt=DT, batch=3) for _ in range(2)]
    sims[0].step([[1.0], [1.0], [1.0]])
    with pytest.warns(pliant.SimulationWarning, match="robot 1"):
        sims[1].step([[1.0], [np.nan], [1.0]])
    sound, diverged = sims[0].state, sims[1].state
    assert np.array_equal(sound.data[[0, 2]], diverged.data[[0, 2]])
    assert sims[1].state.t[1] == 0 and sims[1].q[1] == 0
    assert [divergence.robot for divergence in sims[1].divergences] == [1]


def test_66_energy_has_three_terms() -> None:
    robot = wheel(control="position", kp=100).with_joint("hub", stiffness=4, rest=0.5)
    robot = robot.with_spring("world", "wheel", stiffness=10, length=0.3)
    sim = started(pliant.Simulation(robot), q=[1.5], v=[2])
    terms = sim.diagnostics.energy
    assert list(terms) == ["kinetic", "potential", "elastic"]
    # the wheel's origin is the world's: the spring between them is 0.3 m short
    assert terms["kinetic"] == pytest.approx(0.5 * 0.5 * 4) and terms["potential"] == 0
    assert terms["elastic"] == pytest.approx(0.5 * 4 * 1 + 0.5 * 10 * 0.3**2)


def test_67_the_joint_of_a_motor_is_the_motor_s_side() -> None:
    robot = wheel(rotor_inertia=0.2).with_flexibility("hub", stiffness=30)
    assert robot.coordinate_names == ("hub_flexibility", "hub")
    state = pliant.actuation.flexibility_state(robot, np.array([0.1, 0.5]), np.zeros(2))
    assert (state.motor_position[0], state.link_position[0], state.deflection[0]) == (0.5, 0.6, 0.1)
    assert state.spring_force == pytest.approx([-3.0])
    sim = started(pliant.Simulation(robot, dt=DT), q=[0.1, 0.5])
    sim.step([0])
    assert sim.flexibility.link_velocity[0] < 0 < sim.flexibility.motor_velocity[0]
