"""The scenes of the contact benchmark are the same robot in Pliant and in MuJoCo, limits and dry friction included."""

import numpy as np
from bench.growth_scenes import hanging_chain, many_legs, plate
from bench.mujoco_model import VARIANTS, mujoco_model
from bench.scenes import SCENES, scene


def test_every_robot_that_is_thrown_about_also_stands() -> None:
    thrown = [name for name in SCENES if name.endswith("_thrash")]
    assert len(thrown) == 6
    assert {name.removesuffix("_thrash") for name in thrown} <= set(SCENES)


def test_g1_has_its_limits_and_dry_friction_in_mujoco_too() -> None:
    subject = scene("g1_dry")
    # making the model compares mass matrix, bias forces and points of contact
    model = mujoco_model(subject, VARIANTS[0])
    robot = subject.robot
    joints = [model.joint(motor.joint) for motor in robot.motors.values()]
    assert [float(joint.frictionloss[0]) for joint in joints] == [0.3] * 29
    for joint, motor in zip(joints, robot.motors.values(), strict=True):
        limits = robot.joints[motor.joint].limits
        assert np.array_equal(joint.range, [limits.lower[0], limits.upper[0]])
        actuator = model.actuator(motor.name)
        assert np.array_equal(actuator.forcerange, [-motor.effort_limit, motor.effort_limit])
        assert actuator.forcelimited[0]
        assert joint.limited[0]


def test_robots_that_grow_have_the_sizes_that_were_asked_for() -> None:
    assert hanging_chain(7).robot.nv == 7
    flat, legs = plate(5), many_legs(4)
    assert (flat.robot.nv, len(flat.points)) == (6, 5)
    assert (legs.robot.nv, len(legs.points)) == (14, 4)
    for subject in (flat, legs):
        assert np.abs(subject.gaps(subject.q)).max() < 1e-12  # all points touch, to rounding
