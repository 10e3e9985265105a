"""Numbers of text in bulk: the same as word by word, wherever the text is cut into pieces."""

import numpy as np
import pytest

from pliant.errors import RobotError
from pliant.meshes import text_numbers
from pliant.meshes.text_numbers import indices, numbers, points_of_rows, rows_of

WORDS = [b"v", b"V", b"f", b"vn", b"f1", b"1", b"-2", b"1.5e-3", b"1/2/3", b"2//3", b"x", b"\xc3\xa9", b"#"]
GAPS = [b" ", b"  ", b"\t", b"\n", b"\r\n", b"\n\n", b" \n ", b"\x0b"]


def a_text(seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    words = [WORDS[k] + GAPS[j] for k, j in zip(rng.integers(len(WORDS), size=60), rng.integers(len(GAPS), size=60),
                                                strict=True)]  # fmt: skip
    return b"".join([GAPS[rng.integers(len(GAPS))], *words, WORDS[rng.integers(len(WORDS))]])


def line_by_line(data: bytes, keyword: bytes, most: int, any_case: bool) -> list[tuple[int, list[bytes]]]:
    """What `rows_of` means."""
    found = []
    for k, line in enumerate(data.split(b"\n"), start=1):
        words = line.split()
        if words and (words[0].lower() if any_case else words[0]) == keyword:
            found.append((k, words[1 : 1 + most]))
    return found


@pytest.mark.parametrize("piece", [1, 7, 50, 10_000])
def test_rows_are_those_found_line_by_line(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(text_numbers, "PIECE", piece)
    for seed in range(40):
        data = a_text(seed)
        for any_case in (False, True):
            rows = rows_of(data, "a.obj", {b"v": 3, b"f": 100}, any_case=any_case)
            for keyword, most in ((b"v", 3), (b"f", 100)):
                expected = line_by_line(data, keyword, most, any_case)
                assert list(rows[keyword].words()) == expected
                assert rows[keyword].counts.tolist() == [len(words) for _, words in expected]


def test_the_line_of_a_word() -> None:
    rows = rows_of(b"\nv 1 2\nv\nv 3\n", "a.obj", {b"v": 3})[b"v"]
    assert rows.lines.tolist() == [2, 3, 4]
    assert [rows.line_of(word) for word in range(3)] == [2, 2, 4]


def test_points_of_rows() -> None:
    data = b"v 1 2 3 red\nv 4 5 6 7\n"
    rows = rows_of(data, "a.obj", {b"v": 3})[b"v"]
    np.testing.assert_array_equal(points_of_rows(rows, data, "a.obj"), [[1, 2, 3], [4, 5, 6]])
    empty = rows_of(b"", "a.obj", {b"v": 3})[b"v"]
    assert points_of_rows(empty, b"", "a.obj").shape == (0, 3)
    for bad, line in ((b"v 1 2 3\nv 1 2\n", 2), (b"v 1 two 3\nv 1 2 3", 1), (b"v 1 2 3 4\n v 1 2 3_ \nv 1\n", 2)):
        with pytest.raises(RobotError, match=f"a.obj:{line}: .* does not have three numbers"):
            points_of_rows(rows_of(bad, "a.obj", {b"v": 3})[b"v"], bad, "a.obj")


def test_long_lines_are_refused() -> None:
    data = b"v 1 2 3\nv " + b"1 " * 6000 + b"\n"
    with pytest.raises(RobotError, match=r"a.obj:2: a line of 12003 bytes"):
        rows_of(data, "a.obj", {b"v": 3})


@pytest.mark.parametrize("piece", [1, 5, 10_000])
def test_numbers_are_those_of_python(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(text_numbers, "PIECE", piece)
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=50) * 10.0 ** rng.integers(-300, 300, size=50), [0.0, -0.0, np.inf]])
    words = [repr(float(x)) for x in values]
    np.testing.assert_array_equal(numbers("\n".join(words)), values)
    assert np.isnan(numbers("1 2 three 4")).any()
    assert len(numbers("")) == len(numbers(" \n")) == 0


def test_indices_are_whole_where_they_are_digits() -> None:
    found = indices(" 0 12\t345\r\n6\n")
    assert (found.dtype, found.tolist()) == (np.int64, [0, 12, 345, 6])
    assert len(indices("")) == len(indices(" \n ")) == 0
    # anything else is left to the checks of the caller
    assert indices("1 -2").tolist() == [1, -2]
    assert indices("1 2.5").tolist() == [1, 2.5]
    assert np.isnan(indices("1 - 2")).any()
    assert np.isnan(indices("1 2é")).any()
    # more than 64 bits is still too large for any mesh
    assert (indices("1 99999999999999999999") > 1e18).tolist() == [False, True]
