"""Random numbers: known answers, the same bits everywhere, and their distributions."""

import itertools
import math

import numpy as np
import pytest

from pliant.chance import Chance, derived_seed, keys_of, next_key, stream_of, uniforms_at
from pliant.compiler import Kernel, kernel_from_function
from pliant.compiler.tracing import program_from_function
from pliant.errors import SimulationError, TraceError
from pliant.scalar import Graph, draws
from pliant.scalar.evaluation import interpret
from pliant.scalar.philox import philox, uniform_draw


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)  # fmt: skip
def test_known_answers(counter, key, words) -> None:
    # of the authors' own library, Random123, file kat_vectors
    assert philox(counter, key) == words
    arrays = philox([np.array([c], dtype=np.uint64) for c in counter], [np.array([k], dtype=np.uint64) for k in key])
    assert tuple(int(x[0]) for x in arrays) == words


WORDS = np.random.default_rng(1).integers(0, 2**23, (257, 6))


@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 0), ("float32", 2.0**-23)])
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_kernels_draw_what_the_reference_draws(precision: str, tolerance: float, lanes: int) -> None:
    program, outputs, _ = program_from_function(lambda w: draws(w[:4], w[4:]), {"w": (6,)})
    kernel = Kernel(program, {"w": (6,)}, outputs, name="draws", precision=precision, lanes=lanes)
    found = kernel(WORDS.astype(precision))
    expected = np.stack(draws(list(WORDS.T[:4].astype(float)), list(WORDS.T[4:].astype(float))), axis=-1)
    assert np.abs(found - expected).max() <= tolerance
    assert found.min() > 0 and found.max() < 1


def test_floats_arrays_and_traces_agree() -> None:
    row = WORDS[0].tolist()
    by_floats = draws(row[:4], row[4:])
    graph = Graph()
    inputs = [graph.input(f"w{k}") for k in range(6)]
    traced = draws(inputs[:4], inputs[4:])
    assert interpret(traced, {f"w{k}": w for k, w in enumerate(row)}) == by_floats
    assert [float(x[0]) for x in draws([np.array([float(w)]) for w in row[:4]], row[4:])] == by_floats


def test_symbols_cannot_be_drawn() -> None:
    import sympy

    with pytest.raises(TraceError, match="chance has no formula"):
        draws([sympy.Symbol("x"), 0, 0, 0], [0, 0])


def numbers(what: str, n: int, robots: int = 200, ticks: int = 250, stream: str = "a") -> np.ndarray:
    """(robots, ticks, n)"""
    keys = keys_of(7, np.arange(robots))
    key = [keys[:, None, k] for k in range(3)]
    chance = Chance(key, [np.arange(ticks, dtype=float)[None]], stream_of(stream))
    return np.stack(np.broadcast_arrays(*getattr(chance, what)(n)), axis=-1)


def test_uniform_numbers_are_uniform() -> None:
    x = numbers("uniforms", 6).ravel()
    n = len(x)
    # Kolmogorov and Smirnov: beyond 1.95 / sqrt(n) once in a thousand samples; this sample is fixed
    empirical = np.arange(1, n + 1) / n
    assert np.abs(np.sort(x) - empirical).max() < 1.95 / math.sqrt(n)


def test_normal_numbers_have_the_moments_of_the_normal_distribution() -> None:
    x = numbers("normals", 6).ravel()
    n = len(x)
    # four deviations of the means of x, x^2, x^3, x^4
    assert abs(x.mean()) < 4 / math.sqrt(n)
    assert abs((x**2).mean() - 1) < 4 * math.sqrt(2 / n)
    assert abs((x**3).mean()) < 4 * math.sqrt(15 / n)
    assert abs((x**4).mean() - 3) < 4 * math.sqrt(96 / n)
    assert np.abs(x).max() > 4


def test_numbers_are_independent_across_robots_ticks_and_streams() -> None:
    x = numbers("normals", 2, robots=400, ticks=400)
    other = numbers("normals", 2, robots=400, ticks=400, stream="b")
    n = x[..., 0].size

    def correlation(a: np.ndarray, b: np.ndarray) -> float:
        return abs(float((a * b).mean())) * math.sqrt(a.size)

    assert n == 160_000
    pairs = {
        "robots": (x[1:], x[:-1]), "ticks": (x[:, 1:], x[:, :-1]), "places": (x[..., 0], x[..., 1]),
        "streams": (x, other), "squares": (x[1:] ** 2 - 1, x[:-1] ** 2 - 1),
    }  # fmt: skip
    for what, (a, b) in pairs.items():
        # five deviations of a mean of products; those of squares have the deviation 2
        assert correlation(a, b) < 5 * (2 if what == "squares" else 1), what


def test_choices_and_whole_numbers_are_as_likely_as_each_other() -> None:
    keys = keys_of(3, np.arange(20_000))
    chance = Chance(list(keys.T), [0.0], stream_of("choice"))
    chosen, whole = chance.choice([3.0, 5.0, 8.0]), chance.whole(7)
    for values, kinds in ((chosen, [3, 5, 8]), (whole, range(7))):
        counts = np.array([np.sum(values == k) for k in kinds])
        assert counts.sum() == 20_000
        expected = 20_000 / len(counts)
        assert np.abs(counts - expected).max() < 5 * math.sqrt(expected)


def test_keys_follow_one_another_without_repeating() -> None:
    keys = keys_of(0, np.arange(5000))
    seen = {tuple(k) for k in keys}
    for _ in range(3):
        keys = np.stack(next_key(list(keys.T)), axis=-1)
        assert ((keys >= 0) & (keys < 2**23) & (keys == np.floor(keys))).all()
        seen |= {tuple(k) for k in keys}
    assert len(seen) == 20_000


def test_keys_follow_alike_in_kernels_of_both_precisions() -> None:
    keys = keys_of(11, np.arange(100))
    expected = np.stack(next_key(list(keys.T)), axis=-1)
    for precision in ("float64", "float32"):
        kernel = kernel_from_function(next_key, {"key": (3,)}, name="next key", precision=precision)
        assert (kernel(keys.astype(precision)) == expected).all()


def test_a_stream_ends() -> None:
    with pytest.raises(SimulationError, match="at most"):
        Chance([0, 0, 0], [0], 0).uniforms(10_000)


# ---- by place


def test_numbers_of_places_are_those_of_philox() -> None:
    seed = 0x299F31D0_A4093822
    found = uniforms_at(seed, 3, np.array([[5], [-6]]), np.array([7, 2**31 - 1, -(2**31)]))
    assert len(found) == 4 and all(x.shape == (2, 3) for x in found)
    for i, a in enumerate((5, 2**32 - 6)):
        for j, b in enumerate((7, 2**31 - 1, 2**31)):
            for k in range(4):
                assert found[k][i, j] == uniform_draw(k, 3, a, b, 0, 0xA4093822, 0x299F31D0)


def test_a_place_has_its_numbers_whatever_is_around_it() -> None:
    found = np.stack(uniforms_at(1, 0, np.arange(10)[:, None], np.arange(7)))
    assert (found[:, 3, 4] == uniforms_at(1, 0, 3, 4)).all()
    assert len(np.unique(found)) == 280
    assert not set(found.ravel()) & set(np.ravel(uniforms_at(2, 0, np.arange(10)[:, None], np.arange(7))))
    assert (np.stack(uniforms_at(1, 0, -1)) != np.stack(uniforms_at(1, 0, 1))).all()
    with pytest.raises(SimulationError, match="it takes 1 to 4"):
        uniforms_at(1, 0, 1, 2, 3, 4)


@pytest.mark.parametrize("draw", [
    lambda n: uniforms_at(12, 0, np.arange(n)),
    lambda n: [uniforms_at(12, k, np.arange(n))[0] for k in range(4)],
    lambda n: [uniforms_at(seed, 0, np.arange(n))[0] for seed in range(4)],
], ids=["of one place", "of purposes", "of seeds"])  # fmt: skip
def test_numbers_of_places_are_uniform_in_many_dimensions(draw) -> None:
    n = 100_000
    found = np.stack(draw(n))
    counts, _ = np.histogramdd(found.T, bins=4, range=[(0, 1)] * 4)
    expected = n / 256
    chi = ((counts - expected) ** 2 / expected).sum()
    # chi squared with 255 degrees of freedom: mean 255, deviation sqrt(510)
    assert abs(chi - 255) < 5 * math.sqrt(510)


def test_derived_seeds_differ_and_are_seeds() -> None:
    cases = itertools.product((0, 1, 2**64 - 1), "ab", (0, 1), (0, 1))
    found = {derived_seed(*case) for case in cases}
    assert len(found) == 24 and all(0 <= seed < 2**64 for seed in found)
    assert derived_seed(5, "part", 1) == derived_seed(5, "part", 1, 0)
