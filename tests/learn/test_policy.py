"""Policies: what they compute on every scalar, in files, and for whom."""

import pickle

import numpy as np
import pytest

from pliant.compiler import kernel_from_function
from pliant.errors import LearningError
from pliant.learn import Policy
from toy_tasks import Cart
from toy_tasks import example_policy as example


def in_float64(policy: Policy, x: np.ndarray) -> np.ndarray:
    x = np.clip((x - policy.mean.astype(float)) * policy.scale.astype(float), -policy.clip, policy.clip)
    for k, (weights, offsets) in enumerate(policy.layers):
        x = x @ weights.T.astype(float) + offsets
        x = np.tanh(x) if k < len(policy.layers) - 1 else x
    return x


def test_actions_of_one_robot_and_of_many() -> None:
    policy = example()
    x = np.random.default_rng(1).normal(size=(7, 5)) * 2
    actions = policy(x)
    assert actions.shape == (7, 3) and actions.dtype == np.float32
    # sums of ten products of numbers near 1 in float32
    np.testing.assert_allclose(actions, in_float64(policy, x), atol=3e-6)
    np.testing.assert_array_equal(policy(x[2]), actions[2])
    many = np.tile(x, (30, 1))
    np.testing.assert_array_equal(policy(many), np.tile(actions, (30, 1)))
    np.testing.assert_array_equal(policy({"actor": x, "critic": x[:, :1]}), actions)


def test_the_network_on_scalars_and_compiled() -> None:
    policy = example()
    x = np.random.default_rng(1).normal(size=(4, 5)) * 2
    expected = in_float64(policy, x)
    np.testing.assert_allclose([policy.network(row.tolist()) for row in x], expected, rtol=1e-12)
    kernel = kernel_from_function(policy.network, {"x": (5,)})
    np.testing.assert_allclose(kernel(x), expected, rtol=1e-12)


def test_files_keep_all_of_it(tmp_path) -> None:
    policy, path = example(), tmp_path / "example.policy"
    policy.save(path)
    found = Policy.load(path)
    x = np.random.default_rng(1).normal(size=(7, 5)).astype(np.float32)
    np.testing.assert_array_equal(found(x), policy(x))
    for name in ("activation", "clip", "observation_names", "action_names", "digest", "environment", "settings"):
        assert getattr(found, name) == getattr(policy, name)
    np.testing.assert_array_equal(found.std, policy.std)
    again = pickle.loads(pickle.dumps(policy))
    np.testing.assert_array_equal(again(x), policy(x))
    # the same policy is the same file
    found.save(tmp_path / "again.policy")
    assert (tmp_path / "again.policy").read_bytes() == path.read_bytes()
    with pytest.raises(ValueError, match="read-only"):
        found.layers[0][0][:] = 0


def test_damaged_files_and_others(tmp_path) -> None:
    path = tmp_path / "example.policy"
    example().save(path)
    content = path.read_bytes()
    for damaged in (b"", content[:100], content[:-40], content.replace(b'"clip": 2.0', b'"clip": "x"')):
        path.write_bytes(damaged)
        with pytest.raises(LearningError):
            Policy.load(path)
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(LearningError):
        Policy.load(tmp_path / "other.npz")
    # objects would be code
    with open(path, "wb") as file:
        np.savez(file, a=np.array([{}], dtype=object))
    with pytest.raises(LearningError):
        Policy.load(path)


@pytest.mark.parametrize("shape", [(), (4,), (2, 6), (2, 2, 5)])
def test_observations_of_a_wrong_shape(shape: tuple) -> None:
    with pytest.raises(LearningError) as caught:
        example()(np.zeros(shape))
    assert caught.value.field == "observations" and "(5,)" in caught.value.cure


def test_policies_that_cannot_be() -> None:
    good = example()
    about, arrays = good.as_plain()
    for name in ("layer0/weights", "layer1/offsets", "mean", "std"):
        bad = arrays | {name: np.full_like(arrays[name], np.nan)}
        with pytest.raises(LearningError):
            Policy.from_plain(about, bad)
    for change in ({"action_names": ["a", "b"]}, {"observation_names": "abcde"}, {"layers": 2}, {"clip": -1}):
        with pytest.raises(LearningError):
            Policy.from_plain(about | change, arrays)


def test_a_policy_of_another_robot() -> None:
    env = Cart()
    with pytest.raises(LearningError, match="5 of them, here are 2"):
        example().check(env)
    with pytest.raises(LearningError, match="number 0 is 'o0', here it is 'place'"):
        example(sizes=(2, 4, 1)).check(env)
