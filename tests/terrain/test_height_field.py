"""Height fields: the ground they become, sums and merges, borders and platforms, and what they refuse."""

import numpy as np
import pytest

from pliant import terrain
from pliant.errors import ContactError
from pliant.scalar.ops import MOST_ENTRIES
from pliant.terrain import HeightField
from pliant.terrain.height_field import QUANTUM

RNG = np.random.default_rng(5)


def some(shape: tuple[int, int] = (7, 5)) -> HeightField:
    return HeightField(RNG.normal(size=shape), 0.1)


def test_a_field_is_rounded_and_exact_in_float32() -> None:
    given = RNG.normal(size=(9, 9))
    field = HeightField(given, 0.1)
    # half a quantum, and the rounding of the product
    assert abs(field.heights - given).max() <= QUANTUM / 2 * (1 + 1e-9)
    assert (field.heights.astype(np.float32) == field.heights).all()
    assert (field.heights / QUANTUM % 1 == 0).all()
    assert not field.heights.flags.writeable
    # what is rounded stays as it is
    assert (HeightField(field.heights, 0.1).heights == field.heights).all()


def test_its_ground_has_its_heights_at_its_points() -> None:
    field = some().moved(x=3, y=-2, z=0.5)
    x, y = field.points()
    # x and y are rounded, and slopes are up to some 60
    np.testing.assert_allclose(field.ground().height(x, y), field.heights, rtol=0, atol=1e-12)
    assert field.center == pytest.approx((3, -2))
    assert field.size == pytest.approx((0.6, 0.4))
    ground = field.ground(friction=0.4, restitution=0.1)
    assert (ground.name, ground.friction, ground.restitution) == ("terrain", 0.4, 0.1)


def test_sums_and_multiples() -> None:
    a, b = some(), some()
    # all are multiples of the quantum, so that sums are exact
    assert ((a + b).heights == a.heights + b.heights).all()
    assert ((a - b).heights == a.heights - b.heights).all()
    assert ((a + 0.5).heights == (0.5 + a).heights).all()
    assert ((2 * a).heights == (a + a).heights).all()
    assert ((-a).heights == -a.heights).all()


def test_merges() -> None:
    a, b = some(), some()
    assert (terrain.highest(a, b).heights == np.maximum(a.heights, b.heights)).all()
    assert (terrain.lowest(a, b, a - 1).heights == np.minimum(np.minimum(a.heights, b.heights), a.heights - 1)).all()
    assert (terrain.merged(a, b, 0).heights == a.heights).all()
    assert (terrain.merged(a, b, 1).heights == b.heights).all()
    chosen = terrain.merged(a, b, lambda x, y: x > 0)
    assert (chosen.heights[:4] == a.heights[:4]).all() and (chosen.heights[4:] == b.heights[4:]).all()
    share = RNG.uniform(size=a.heights.shape)
    between = terrain.merged(a, b, share).heights
    np.testing.assert_allclose(between, (1 - share) * a.heights + share * b.heights, rtol=0, atol=QUANTUM)


def test_a_border_is_level_and_the_field_stays() -> None:
    field = some()
    wide = field.with_border(0.3, 0.25)
    assert (wide.heights[3:-3, 3:-3] == field.heights).all()
    rim = np.ones(wide.heights.shape, dtype=bool)
    rim[3:-3, 3:-3] = False
    assert (wide.heights[rim] == 0.25).all()
    assert wide.center == pytest.approx(field.center)
    # beyond the map the ground goes on
    assert wide.ground().height(100.0, -7.0) == 0.25


@pytest.mark.parametrize("n", [40, 41])
def test_a_platform_is_level_and_fades(n: int) -> None:
    field = HeightField(RNG.normal(size=(n, n)), 0.1)
    flat = field.with_platform(1, fade=0.5)
    x, y = field.points()
    away = np.maximum(abs(x), abs(y))
    inside = flat.heights[away < 0.5 + 1e-9]
    assert (inside == inside[0]).all() and len(inside) >= 100
    assert (flat.heights[away > 1.1 + 1e-9] == field.heights[away > 1.1 + 1e-9]).all()
    assert flat.with_platform(1) is flat, "what is level stays as it is"


@pytest.mark.parametrize("make, field", [
    (lambda: HeightField(np.zeros((1, 5)), 0.1), "heights"),
    (lambda: HeightField([["a"]], 0.1), "heights"),
    (lambda: HeightField([[0, 1], [np.nan, 2]], 0.1), "heights[1, 0]"),
    (lambda: HeightField(np.zeros((2, 2)), 0), "spacing"),
    (lambda: HeightField(np.zeros((2, 2)), 0.1, (1, 2, 3)), "corner"),
    (lambda: some() + some((5, 5)), "grid"),
    (lambda: some() + some().moved(x=0.05), "grid"),
    (lambda: some() + "a", "what is to the right of +"),
    (lambda: some() * np.inf, "factor"),
    (lambda: terrain.merged(some(), some(), 1.5), "share"),
    (lambda: terrain.merged(some(), some(), np.zeros(3)), "share"),
    (lambda: terrain.highest(), "fields"),
    (lambda: terrain.highest(some(), 3), "field"),
    (lambda: some().with_border(-1), "width"),
    (lambda: some().with_border(1e4), "size"),
    (lambda: some().with_platform(0), "side"),
])  # fmt: skip
def test_what_cannot_be_says_which_field(make, field: str, refused) -> None:
    refused(make, field)


def test_a_map_that_is_too_large_says_how_large() -> None:
    with pytest.raises(ContactError, match=r"20001 x 20001 points, 400 million; it takes 17 million") as caught:
        terrain.flat(size=1000, spacing=0.05)
    assert caught.value.field == "size"
    assert "a spacing of 0.245 m or more" in caught.value.cure
    assert (round(1000 / 0.245) + 1) ** 2 <= MOST_ENTRIES, "which is enough"
