"""Each numbered line of docs/conventions.md is proved by the test that has its number and title."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"


def titles() -> list[tuple[int, str]]:
    """Number and title of every line of the page."""
    return [(int(n), t) for n, t in re.findall(r"^(\d+)\. \*\*(.+?)\.\*\*", PAGE.read_text(encoding="utf-8"), re.M)]


def test_every_line_has_its_test() -> None:
    lines = titles()
    assert [n for n, _ in lines] == list(range(1, len(lines) + 1)), "lines are numbered 1, 2, 3, ..."
    assert len(lines) == len(re.findall(r"^\d+\.", PAGE.read_text(encoding="utf-8"), re.M)), "each line has a title"
    expected = {f"test_{n:02}_{re.sub('[^a-z0-9]+', '_', t.lower()).strip('_')}" for n, t in lines}
    files = (path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    found = {name for text in files for name in re.findall(r"^def (test_\d\w+)", text, re.M)}
    assert expected - found == set(), "lines without a test"
    assert found - expected == set(), "tests without a line"
