"""Targets around a stance that steps: where the clock has a foot in the air, its joints are lifted."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import tasks
from pliant.environment import Clock, Environment, StepTargets, Velocity, observations, rewards
from pliant.errors import LearningError, SimulationError
from pliant.tasks import walkers
from pliant.tasks.walking import action_of

LIFTS = [(0.0, {"hip_pitch": 0.2, "leg": -0.05}), (0.5, {"hip_roll": 0.1})]


def hopper(**options: Any) -> Environment:
    robot = pliant.load("hopper").with_motors(control="position", kp=[150, 150, 3e4], kd=[10, 10, 350])
    sim = pliant.Simulation(robot, dt=2e-3, substeps=5, ground=pliant.flat(), batch=5)
    return Environment(
        sim,
        action=StepTargets(0.5, **{"lifts": LIFTS, "down": 0.6, **options}),
        observations={"height": observations.height},
        rewards={"alive": rewards.alive},
        commands={"velocity": Velocity(), "gait": Clock(2.0)},
    )


def targets(env: Environment, phases: Any, velocity: Any, actions: Any) -> np.ndarray:
    """Targets of the motors less those of the stance."""
    env.reset(seed=0)
    env.set_command("velocity", velocity)
    env.set_command("gait", np.reshape(phases, (-1, 1)))
    found = env.plan.action.controls(list(np.asarray(actions).T), env._now(), 3)
    robot = env.sim.robot
    held = [env.plan.stance[robot.q_slice(motor.joint).start] for motor in robot.motors.values()]
    return np.stack(found, axis=1) - np.array(held)


def test_joints_are_lifted_in_the_middle_of_the_swing() -> None:
    env = hopper()
    names = list(env.sim.robot.motors)
    actions = np.random.default_rng(0).normal(size=(5, 3))
    # a foot is in the air for 40 % of the time, around a quarter of its phase
    found = targets(env, [0.25, 0.75, 0.0, 0.05, 0.5], [0.5, 0, 0], actions) - 0.5 * actions
    roll, pitch, leg = (names.index(joint) for joint in ("hip_roll", "hip_pitch", "leg"))
    # targets of some 0.5 rad in float64
    assert np.allclose(found[0, [roll, pitch, leg]], [0, 0.2, -0.05], rtol=0, atol=1e-14)
    assert np.allclose(found[1, [roll, pitch, leg]], [0.1, 0, 0], rtol=0, atol=1e-14)
    assert np.allclose(found[2:], 0, rtol=0, atol=1e-14)


def test_feet_stay_down_where_standing_is_asked_for() -> None:
    phases, zero = [0.25, 0.75, 0.0, 0.3, 0.5], np.zeros((5, 3))
    assert np.allclose(targets(hopper(), phases, [0.0, 0, 0], zero), 0, rtol=0, atol=1e-14)
    assert np.abs(targets(hopper(stops_with=None), phases, [0.0, 0, 0], zero)).max() > 0.1


def test_lifts_count_for_the_digest() -> None:
    others = [(0.0, {"hip_pitch": 0.3, "leg": -0.05}), (0.5, {"hip_roll": 0.1})]
    assert hopper().digest == hopper().digest != hopper(lifts=others).digest
    assert hopper().plan.action.describe()["lifts"] == [list(lift) for lift in LIFTS]


def test_errors_name_the_joint() -> None:
    with pytest.raises(SimulationError, match=r"joint with a motor.*'hip_pich'.*StepTargets"):
        _ = hopper(lifts=[(0.0, {"hip_pich": 0.2})]).digest
    with pytest.raises(SimulationError, match=r"lifts.*finite numbers by joint"):
        hopper(lifts=[(0.0, {"hip_pitch": np.nan})])
    with pytest.raises(SimulationError, match=r"down.*between 0 and 1"):
        hopper(down=1.0)


def test_joints_of_walkers_go_with_their_feet() -> None:
    found = action_of(walkers.biped_turning())
    assert isinstance(found, StepTargets)
    (first, left), (second, right) = found.lifts
    assert (first, second) == (0.0, 0.5) and {x: right[x.replace("left", "right")] for x in left} == left
    wrong = dataclasses.replace(walkers.biped_turning(), lift={"waist_yaw": 0.1})
    with pytest.raises(LearningError, match=r"joint 'waist_yaw' of lift leads to no foot.*left_foot"):
        action_of(wrong)
    assert not isinstance(action_of(walkers.biped()), StepTargets)


def test_tasks_with_lifted_feet_have_a_mirror() -> None:
    assert tasks.make("biped-turning", batch=2).mirror is not None
