"""The gradient that tapes compute, against finite differences and against plain NumPy."""

import numpy as np
import pytest

from pliant.learn.actor_critic import ActorCritic, Forward, Values
from pliant.learn.surrogate import Gradient, Samples

CLIP, WEIGHT, ENTROPY = 0.2, 0.7, 0.01
CASES = [((3, 4, 2), (3, 4, 1), "tanh"), ((20, 32, 17, 12), (5, 33, 1), "elu"), ((50, 12), (50, 1), "tanh"),
         ((1, 1, 1), (2, 5, 1), "relu")]  # fmt: skip
FUNCTIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "elu": lambda x: np.where(x > 0, x, np.expm1(x))}


def problem(actor, critic, activation, dtype=np.float64, count=150, mirror=None):
    """A model, and samples that it might have made some updates ago."""
    rng = np.random.default_rng(1)
    model = ActorCritic(actor, critic, activation, dtype)
    model.start(rng, std=0.5, last_scale=1.0)
    for layer in (*model.actor, *model.critic):
        layer.plain(model.parameters)[1][:] = rng.normal(size=layer.outputs) / 2
    sizes = {"actor": actor[0], "critic": critic[0]}
    samples = Samples(count, sizes, actor[-1], mirror, dtype)
    for array in (samples.actor, samples.critic, samples.actions, samples.advantages, samples.returns):
        array[:count] = rng.normal(size=array[:count].shape)
    z = (samples.actions[:count] - reference_mean(model, samples.actor[:count])) / np.exp(model.log_std())
    samples.log_p[:count] = -(z * z).sum(1) / 2 - model.log_std().sum() + rng.normal(size=count) / 5
    samples.reflect()
    return model, samples


def through(model, layers, x):
    for k, layer in enumerate(layers):
        w, b = layer.plain(model.parameters)
        x = x @ w.T.astype(np.float64) + b
        x = FUNCTIONS[model.activation](x) if k < len(layers) - 1 else x
    return x


def reference_mean(model, x):
    return through(model, model.actor, x.astype(np.float64))


def reference_loss(model, samples, chosen):
    """The mean loss, as the docstring of `pliant.learn.surrogate` has it."""
    log_std = model.log_std().astype(np.float64)
    z = (samples.actions[chosen] - reference_mean(model, samples.actor[chosen])) / np.exp(log_std)
    r = np.exp(-(z * z).sum(1) / 2 - log_std.sum() - samples.log_p[chosen])
    a = samples.advantages[chosen]
    value = through(model, model.critic, samples.critic[chosen].astype(np.float64))[:, 0]
    surrogate = -np.minimum(r * a, np.clip(r, 1 - CLIP, 1 + CLIP) * a).mean()
    error = ((value - samples.returns[chosen]) ** 2).mean() / 2
    return surrogate - ENTROPY * log_std.sum() + WEIGHT * error, surrogate, error, (r - 1 - np.log(r)).mean()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_against_finite_differences(case) -> None:
    model, samples = problem(*case)
    chosen = np.random.default_rng(2).permutation(150)[:75]
    gradient = Gradient(model, samples, 75, clip=CLIP, value_weight=WEIGHT)
    norm, loss = gradient(chosen, ENTROPY)
    found = gradient.gradient / 75
    assert norm == pytest.approx(np.linalg.norm(found), rel=1e-12)
    expected = reference_loss(model, samples, chosen)
    np.testing.assert_allclose([loss.surrogate, loss.value, loss.kl], expected[1:], rtol=1e-10)
    # every parameter, and none of the pads
    places = np.zeros(len(model.parameters), dtype=bool)
    for layer in (*model.actor, *model.critic):
        for part in layer.plain(places):
            part[:] = True
    model.log_std(places)[:] = True
    assert (found[~places] == 0).all()
    h = 1e-6
    for k in np.random.default_rng(3).permutation(np.flatnonzero(places))[:60]:
        sides = []
        for sign in (1, -1):
            kept = model.parameters[k]
            model.parameters[k] += sign * h
            sides.append(reference_loss(model, samples, chosen)[0])
            model.parameters[k] = kept
        # rounding of the loss, 1e-16 / h, and the next term of the difference, h^2
        assert found[k] == pytest.approx((sides[0] - sides[1]) / (2 * h), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("count", [15, 600])
def test_float32_and_threads(case, count: int) -> None:
    exact, samples64 = problem(*case, count=count)
    model, samples = problem(*case, dtype=np.float32, count=count)
    chosen = np.random.default_rng(2).permutation(count)
    gradients = [Gradient(model, samples, count, clip=CLIP, value_weight=WEIGHT, threads=n) for n in (1, 2, 3)]
    results = [gradient(chosen, ENTROPY) for gradient in gradients]
    assert results[0] == results[1] == results[2]
    for other in gradients[1:]:
        np.testing.assert_array_equal(gradients[0].gradient, other.gradient)
    reference = Gradient(exact, samples64, count, clip=CLIP, value_weight=WEIGHT)
    reference(chosen, ENTROPY)
    # the ratio has sums of z^2 in its exponent, near 50, of which float32 rounds 1e-7 several times
    off = np.linalg.norm(gradients[0].gradient - reference.gradient)
    assert off < 1e-4 * np.linalg.norm(reference.gradient)


def test_images_in_the_mirror_do_not_count_as_change() -> None:
    mirror = {"actor": (np.array([1, 0, 2]), np.array([1, 1, -1.0])), "critic": (np.arange(3), np.ones(3)),
              "actions": (np.array([1, 0]), np.array([-1.0, -1]))}  # fmt: skip
    model, samples = problem(*CASES[0], mirror=mirror)
    np.testing.assert_array_equal(samples.actor[150:300], samples.actor[:150, [1, 0, 2]] * [1, 1, -1])
    np.testing.assert_array_equal(samples.actions[150:300], -samples.actions[:150, [1, 0]])
    chosen = np.array([3, 150 + 4, 7, 150 + 9, 11, 12])
    _, loss = Gradient(model, samples, 6, clip=CLIP, value_weight=WEIGHT)(chosen)
    expected = reference_loss(model, samples, chosen)
    assert loss.surrogate == pytest.approx(expected[1], rel=1e-10)
    assert loss.kl == pytest.approx(reference_loss(model, samples, chosen[[0, 2, 4, 5]])[3], rel=1e-10)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_forward(case) -> None:
    model, samples = problem(*case, dtype=np.float32, count=300)
    forward = Forward(model, samples.actor[:300], samples.critic[:300])
    model.refresh()
    forward()
    np.testing.assert_allclose(forward.mean, reference_mean(model, samples.actor[:300]), atol=1e-5)
    expected = through(model, model.critic, samples.critic[:300].astype(float))[:, 0]
    np.testing.assert_allclose(forward.value, expected, atol=1e-5)
    # the same bits in any company
    np.testing.assert_array_equal(Values(model)(samples.critic[:200])[5:], forward.value[5:200])
