"""The validation page: its cases hold, and the page has each of them."""

from pathlib import Path

import pytest
from bench.validation import figure_of, found, page
from bench.validation_cases import CASES, Row

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"
QUICK = ("pendulum", "tumbling body", "heavy top", "flexible joint", "winding", "four-bar", "turning friction", "coin")
"""The others compile robots that other tests simulate, too."""


@pytest.mark.parametrize("name", QUICK)
def test_errors_are_within_their_bounds(name: str) -> None:
    rows = found([name], quiet=True)[name]
    assert rows
    assert [row for row in rows if not row.error <= row.bound] == []


def test_the_page_has_each_case_and_no_failure() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in CASES:
        assert f"**{name}**" in text
    assert "**beyond" not in text


def test_a_row_beyond_its_bound_is_marked(tmp_path: Path) -> None:
    results = {"pendulum": [Row("rk4", 2e-3, "rad", 1e-3), Row("exact", float("nan"), "rad", 1e-3)]}
    assert page(results).count("**beyond its bound**") == 2
    figure_of(results, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 0
