"""Learned motors: networks as laws, against NumPy."""

import itertools

import numpy as np
import pytest

import pliant
from pliant.actuation.networks import network_law
from pliant.errors import RobotError
from pliant.networks import ACTIVATIONS
from pliant.robot import MotorLaw
from simple_bodies import turning

INERTIA, DT, TARGET = 0.5, 1e-3, 0.3
IN_NUMPY = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "softplus": lambda x: np.logaddexp(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def layers(inputs: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    rng, sizes = np.random.default_rng(seed), (inputs, 12, 8, 1)
    return [(rng.normal(size=(b, a)) / a**0.5, rng.normal(size=b)) for a, b in itertools.pairwise(sizes)]


def computed(made, activation: str, x: np.ndarray) -> float:
    for k, (weights, offsets) in enumerate(made):
        x = weights @ x + offsets
        x = x if k == len(made) - 1 else IN_NUMPY[activation](x)
    return float(x[0])


def test_all_activations_have_their_numpy() -> None:
    assert IN_NUMPY.keys() == ACTIVATIONS.keys()
    for name, function in ACTIVATIONS.items():
        for x in (-700.0, -3.0, -1e-3, 0.0, 1e-3, 2.0, 700.0):
            with np.errstate(over="ignore"):
                assert function(x) == pytest.approx(float(IN_NUMPY[name](x)), abs=1e-15, rel=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_network_without_memory_is_a_law(activation: str) -> None:
    made = layers(3)
    law = network_law(made, activation=activation, inputs=("error", "velocity", "position"), input_scales=(2, 0.5, 1))
    assert not isinstance(law, MotorLaw)
    sim = pliant.Simulation(turning(inertia=INERTIA).with_motor("axle", law=law), dt=DT)
    q = v = 0.0
    for _ in range(40):
        v += DT / INERTIA * computed(made, activation, np.array([2 * (TARGET - q), 0.5 * v, q]))
        q += DT * v
        sim.step([TARGET])
    np.testing.assert_allclose([sim.q[0], sim.v[0]], [q, v], rtol=1e-11)


def test_a_network_that_looks_back() -> None:
    """Errors now, 2 and 5 steps ago, then velocities likewise."""
    made, lags = layers(6), (0, 2, 5)
    robot = turning(inertia=INERTIA).with_motor("axle", law=network_law(made, lags=lags, output_scale=3.0))
    sim = pliant.Simulation(robot, dt=DT, batch=2)
    q = v = 0.0
    seen = [(0.0, 0.0)] * 6
    for _ in range(40):
        seen = [(TARGET - q, v), *seen[:5]]
        x = np.array([seen[lag][k] for k in range(2) for lag in lags])
        v += DT / INERTIA * 3 * computed(made, "tanh", x)
        q += DT * v
        sim.step([[TARGET]] * 2)
    np.testing.assert_allclose(sim.q, q, rtol=1e-11)
    np.testing.assert_allclose(sim.v, v, rtol=1e-11)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"layers": []}, "layers"),
        ({"layers": layers(3)}, "layers"),
        ({"layers": layers(2)[:-1]}, "layers"),
        ({"layers": [(np.ones((1, 2)), np.ones(2))]}, "layers"),
        ({"layers": [(np.full((1, 2), np.nan), np.ones(1))]}, "layers"),
        ({"layers": [np.ones((1, 2, 3))]}, "layers"),
        ({"activation": "swish"}, "activation"),
        ({"inputs": "error"}, "inputs"),
        ({"lags": (0, -1)}, "lags"),
        ({"lags": (0.5,)}, "lags"),
        ({"input_scales": (1, 2, 3)}, "input_scales"),
    ],
)
def test_mistakes(arguments: dict, field: str) -> None:
    with pytest.raises(RobotError) as caught:
        network_law(**({"layers": layers(2)} | arguments))
    assert caught.value.field == field
    assert caught.value.cure


def test_unknown_inputs_are_named() -> None:
    with pytest.raises(RobotError, match="did you mean 'error'"):
        network_law(layers(1), inputs=("eror",))
