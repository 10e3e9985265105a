"""Levels of terrain and starts on patches, against plain Python."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from pliant.chance import Chance, keys_of, stream_of
from pliant.environment.curricula import Curriculum, PatchPlace, TerrainLevels
from pliant.errors import PliantError
from pliant.terrain import Kind, grid
from small_tasks import balance


def _chance(k: int = 0) -> Chance:
    return Chance(keys_of(3, [k])[0].tolist(), [0], stream_of("level"))


def _now(level, start, place, command, t=10.0):
    commands = {"velocity": [*command, 0.0]}
    return SimpleNamespace(
        t=t, level=level, start=start, place=SimpleNamespace(x=place[0], y=place[1]), command=commands.__getitem__
    )


def _expected(rule, level, walked, speed):
    """Isaac Lab's rule in plain Python; None where the level is drawn."""
    if walked > rule.distance:
        level += 1
    elif walked < 0.5 * speed * rule.timeout:
        level -= 1
    return None if level >= rule.levels else max(level, 0)


def test_levels_follow_the_rule():
    rule, rng = TerrainLevels(6, 2.0, 10.0), np.random.default_rng(0)
    seen = set()
    for k in range(400):
        level, start, place = int(rng.integers(0, 6)), rng.uniform(-9, 9, 2), rng.uniform(-9, 9, 2) * 0.3
        place, command = start + place, rng.uniform(-1, 1, 2)
        found = rule.next(_now(level, start, place, command), _chance(k))
        wanted = _expected(rule, level, math.dist(start, place), math.hypot(*command))
        assert found == wanted if wanted is not None else 0 <= found < 6
        seen.add(None if wanted is None else wanted - level)
    assert seen == {None, -1, 0, 1}


def test_who_passes_the_last_level_goes_on_at_any():
    rule = TerrainLevels(4, 1.0, 10.0)
    found = [rule.next(_now(3, (0, 0), (5, 0), (0.5, 0)), _chance(k)) for k in range(200)]
    assert sorted(set(found)) == [0, 1, 2, 3]


def test_before_the_first_episode_the_level_stays():
    rule = TerrainLevels(4, 1.0, 10.0)
    assert rule.next(_now(2, (0, 0), (9, 0), (0.5, 0), t=0.0), _chance()) == 2


@pytest.mark.parametrize("numbers", [(0, 1.0, 1.0), (3, 0.0, 1.0), (3, 1.0, math.nan)])
def test_levels_that_cannot_be_say_so(numbers):
    with pytest.raises(PliantError, match="TerrainLevels"):
        TerrainLevels(*numbers)


@pytest.mark.parametrize("any_level", [False, True])
def test_starts_are_on_the_platform_of_the_patch(any_level):
    kinds = {"hills": Kind("waves", amplitude=(0, 0.05), length=1.0), "steps": Kind("steps", rise=(0, 0.1), run=0.3)}
    terrain = grid(kinds, levels=3, size=4.0, spacing=0.1)
    place, levels, columns = PatchPlace(terrain, any_level=any_level, spread=0.3), set(), set()
    for k in range(200):
        x, y = place(SimpleNamespace(level=k % 3), _chance(k))
        level, column = (int(a) for a in terrain.patch_at(x, y))
        assert any_level or level == k % 3
        middle = terrain.origins[level, column]
        assert abs(x - middle[0]) <= 0.3 + 1e-9 and abs(y - middle[1]) <= 0.3 + 1e-9
        levels.add(level)
        columns.add(column)
    assert levels == {0, 1, 2} and columns == {0, 1}


def test_a_seed_begins_at_level_zero_with_the_same_bits():
    class Rising(Curriculum):
        def next(self, now, chance):
            return now.level + 1

    env = balance(batch=4, curriculum=Rising(), timeout=0.1)
    first = env.reset(seed=3)["actor"]
    np.testing.assert_array_equal(env.levels, 1)
    for _ in range(12):
        env.step(np.zeros((4, 1), np.float32))
    assert (env.levels > 2).all()
    np.testing.assert_array_equal(env.reset(seed=3)["actor"], first)
    np.testing.assert_array_equal(env.levels, 1)
