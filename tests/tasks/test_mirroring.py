"""A walking robot in the mirror moves as the mirror image of the robot."""

import numpy as np
import pytest

from pliant import tasks
from pliant.errors import LearningError
from pliant.tasks import walkers
from pliant.tasks.mirroring import AXIAL, POLAR, mirrored_joints


def _mirrored(x: np.ndarray, rule: tuple) -> np.ndarray:
    places, signs = (np.asarray(part) for part in rule)
    return x[..., places] * signs


def test_screws_find_the_other_side():
    walker = walkers.quadruped()
    found = mirrored_joints(walker.robot, walker.stance)
    assert found["lf_hip_roll"] == ("rf_hip_roll", -1) and found["lh_knee"] == ("rh_knee", 1)
    assert {other for other, _ in found.values()} == set(found)
    assert all(found[other] == (name, sign) for name, (other, sign) in found.items())


def test_a_stance_that_is_not_symmetric_has_no_mirror():
    walker = walkers.quadruped()
    stance = list(walker.stance)
    stance[walker.robot.q_slice("lf_knee").start] += 0.2
    assert mirrored_joints(walker.robot, stance) is None


def test_mirrored_actions_lead_to_mirrored_observations():
    env = tasks.make("quadruped-elastic", batch=2, seed=0, precision="float64", tolerance=1e-9)
    env.reset(seed=0)
    robot, rng = env.sim.robot, np.random.default_rng(2)
    walker = walkers.elastic()
    # robot 1 is the mirror image of robot 0, told to go the other way, half a period of its gait later
    q = np.tile(np.array(walker.stance), (2, 1))
    v = np.zeros((2, robot.nv))
    v[0] = rng.uniform(-0.2, 0.2, robot.nv)
    v[1, :6] = v[0, :6] * np.array([*POLAR, *AXIAL])
    images = mirrored_joints(robot, walker.stance)
    for joint, (other, sign) in images.items():
        v[1, robot.v_slice(joint).start] = sign * v[0, robot.v_slice(other).start]
    env.sim.reset(q=q, v=v)
    env.sim.parameters["friction"] = 0.8
    env.set_command("velocity", [[0.4, 0.2, 0.3], [0.4, -0.2, -0.3]])
    env.set_command("gait", [[0.2], [0.7]])
    seen = env.look()["actor"]
    np.testing.assert_allclose(seen[1], _mirrored(seen[0], env.mirror.observations["actor"]), atol=1e-9)
    for _ in range(10):
        action = rng.uniform(-0.4, 0.4, env.action_size)
        found = env.step(np.stack([action, _mirrored(action, env.mirror.actions)]))
        assert not found.terminated.any()
        seen = found.observations["actor"]
        # both are solved to 1e-9 m/s a step, in another order; contacts make more of it
        image = _mirrored(seen[0], env.mirror.observations["actor"])
        np.testing.assert_allclose(seen[1], image, atol=1e-5)
        np.testing.assert_allclose(found.rewards[0], found.rewards[1], atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"sensors": True, "history": 2}, {"noise": True}])
def test_mirrors_are_their_own_inverse(options):
    env = tasks.make("quadruped", batch=2, **options)
    rules = {**env.mirror.observations, "actions": env.mirror.actions}
    sizes = {**env.observation_sizes, "actions": env.action_size}
    assert set(rules) == set(sizes)
    for name, rule in rules.items():
        x = np.random.default_rng(0).normal(size=sizes[name])
        np.testing.assert_array_equal(_mirrored(_mirrored(x, rule), rule), x)


def test_learners_take_the_mirror():
    from pliant.learn import ppo

    env = tasks.make("quadruped", batch=16)
    assert ppo(env, minutes=None, steps=16 * 24, symmetry=True, seed=0).steps == 16 * 24
    env = tasks.make("cartpole-balance", batch=16)
    with pytest.raises(LearningError, match="mirror"):
        ppo(env, minutes=None, steps=16 * 24, symmetry=True, seed=0)
