"""Operations of tapes, against NumPy."""

import numpy as np
import pytest

from pliant.compiler.llvm import Machine
from pliant.learn.adam import Adam
from pliant.learn.operations import module, tile_shape
from pliant.learn.tape import Tape, padded, zeros
from pliant.learn.writer import WIDTH
from pliant.networks import ACTIVATIONS

SHAPES = [(128, 50, 32), (7, 3, 16), (1, 1, 48), (130, 33, 64), (13, 17, 80)]


def filled(*shape, dtype, seed=0) -> np.ndarray:
    made = zeros(*shape, dtype=dtype)
    made[:] = np.random.default_rng(seed).normal(size=shape)
    return made


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "n", "m"), SHAPES)
def test_products(dtype, rows: int, n: int, m: int) -> None:
    x = zeros(rows, padded(n), dtype=dtype)
    x[:, :n] = filled(rows, n, dtype=dtype)
    w, b, g = filled(n, m, dtype=dtype), filled(m, dtype=dtype, seed=1), filled(rows, m, dtype=dtype, seed=2)
    y, d, s = zeros(rows, m, dtype=dtype), filled(n, m, dtype=dtype, seed=3), zeros(m, dtype=dtype)
    before = d.copy()
    turned, dot = zeros(m, padded(n), dtype=dtype), zeros(rows, dtype=dtype)
    one = filled(padded(n), dtype=dtype, seed=4)
    tape = Tape(dtype)
    tape.product(x[:, :n], w, b, y)
    tape.outer(x, g, d)
    tape.sums(g, s)
    tape.turn(w, turned, n, m)
    tape.dots(x, one, b, dot)
    tape()
    # sums of up to 130 products of numbers near 1
    near = {"atol": 1e-4 if dtype == np.float32 else 1e-12}
    np.testing.assert_allclose(y, x[:, :n].astype(float) @ w + b, **near)
    np.testing.assert_allclose(d, before + x[:, :n].T.astype(float) @ g, **near)
    np.testing.assert_allclose(s, g.sum(0, dtype=float), **near)
    np.testing.assert_array_equal(turned[:, :n], w.T)
    np.testing.assert_allclose(dot, b[0] + x.astype(float) @ one, **near)


@pytest.mark.parametrize("n", [1, 3, 16, 33])
def test_gathering(n: int) -> None:
    x, chosen = filled(40, n, dtype=np.float32), np.array([3, 39, 0, 3, 7])
    y, z = zeros(5, padded(n), dtype=np.float32), zeros(5, dtype=np.float32)
    tape = Tape()
    tape.gather(x, chosen, y)
    tape.gather(np.ascontiguousarray(x[:, 0]), chosen, z)
    tape()
    np.testing.assert_array_equal(y[:, :n], x[chosen])
    np.testing.assert_array_equal(z, x[chosen, 0])
    assert (y[:, n:] == 0).all()


@pytest.mark.parametrize("activation", ["tanh", "relu", "elu"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activations_and_their_slopes(activation: str, dtype) -> None:
    x = zeros(1024, dtype=dtype)
    x[:] = np.linspace(-12, 12, 1024)
    h, g = zeros(1024, dtype=dtype), zeros(1024, dtype=dtype)
    h[:], g[:] = x, 2
    tape = Tape(dtype)
    tape.activate(activation, h)
    tape.slope(activation, g, h)
    tape()
    exact = ACTIVATIONS[activation](x.astype(float))
    # tanh in float32 is a rational function, good to some units in the last place of 1
    np.testing.assert_allclose(h, exact, atol=4e-7 if dtype == np.float32 else 1e-15, rtol=1e-6)
    slopes = {"tanh": 1 - exact**2, "relu": exact > 0, "elu": np.where(x > 0, 1, 1 + exact)}
    np.testing.assert_allclose(g, 2 * slopes[activation], atol=2e-6)


def test_adam() -> None:
    parameters, gradient = filled(48, dtype=np.float64), zeros(48, dtype=np.float64)
    adam, p, m, s = Adam(parameters, gradient), parameters.copy(), 0.0, 0.0
    for t in range(1, 6):
        g = np.random.default_rng(t).normal(size=48)
        gradient[:] = 3 * g
        adam.step(0.01, 1 / 3)
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        p -= 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(parameters, p, rtol=1e-12)


@pytest.mark.parametrize("size", [64, 32, 16])
def test_code_for_other_processors_is_whole(size: int) -> None:
    machine = Machine("x86_64-unknown-linux-gnu", "x86-64", "", size, size > 16)
    text, names = module("float32", machine)
    rows, vectors = tile_shape(machine)
    # sums and two operands of a tile fit into 32 registers, or 16
    assert rows * vectors * max(1, WIDTH * 4 // size) + 2 <= (32 if size == 64 else 16)
    assert f"tile_{rows}_{vectors}" in names and ("@llvm.fma" in text.split("define", 1)[1]) == (size > 16)
