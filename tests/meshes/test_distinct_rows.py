"""Distinct rows: what numpy.unique finds, for all kinds of tables."""

import numpy as np
import pytest

from pliant.meshes import surfaces as module
from pliant.meshes.surfaces import distinct_rows

RNG = np.random.default_rng(5)
TABLES = {
    "points": RNG.normal(size=(40, 3))[RNG.integers(40, size=200)],
    "zeros of both signs": np.where(RNG.random((50, 3)) < 0.5, 0.0, -0.0),
    "single precision": RNG.normal(size=(9, 3)).astype(np.float32)[RNG.integers(9, size=60)],
    "faces": RNG.integers(-4, 5, size=(300, 3)),
    "four columns": RNG.integers(0, 3, size=(100, 4)),
    "too wide for one number": RNG.integers(-(2**61), 2**61, size=(7, 3))[RNG.integers(7, size=40)],
    "one row": np.array([[1, 2, 3]]),
    "no points": np.zeros((0, 3)),
    "no faces": np.zeros((0, 3), dtype=int),
}


def same_as_numpy(rows: np.ndarray) -> None:
    first, which = distinct_rows(rows)
    values, expected, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(rows[first], values)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(which, inverse.reshape(-1))


@pytest.mark.parametrize("name", TABLES)
def test_as_numpy(name: str) -> None:
    same_as_numpy(TABLES[name])


def test_hashes_that_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_hashed", lambda rows: np.zeros(len(rows), dtype=np.uint64))
    same_as_numpy(TABLES["points"])
