"""Numbers in the text of mesh files, read in bulk: no step of Python for each of them.

Works through a piece of the text at a time, since words and masks take many times the memory of their text.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from pliant.errors import Place, RobotError

MAX_LINE = 10_000
PIECE = 1_000_000

_SPACE = re.compile(r"\s")
_DIGITS_AND_SPACES = b"0123456789 \t\n\r"
IS_SPACE = np.zeros(256, dtype=bool)
IS_SPACE[list(b" \t\n\r\v\f")] = True
"""By the code of a character."""


def numbers(text: str) -> np.ndarray:
    """The numbers of a text; not a number, which no check lets pass, if it is anything else."""
    pieces, start = [np.zeros(0)], 0
    while start < len(text):
        space = _SPACE.search(text, start + PIECE)
        end = space.end() if space else len(text)
        try:
            pieces.append(np.array(text[start:end].split(), dtype=float))
        except ValueError:
            return np.full(1, np.nan)
        start = end
    return np.concatenate(pieces)


def indices(text: str) -> np.ndarray:
    """The numbers of a text, whole if all of them are plain digits: ten times as fast as `numbers`, which else reads.

    Those beyond 64 bits are the largest there is.
    """
    if text.isascii():
        digits = text.encode()
        # nothing is left over, and something is there: nothing that the parser could stumble on
        if not digits.translate(None, _DIGITS_AND_SPACES) and not digits.isspace() and digits:
            return np.fromstring(digits, dtype=np.int64, sep=" ")
    return numbers(text)


class Rows(NamedTuple):
    """The lines of a text that start with one word.

    Attributes:
        lines: their numbers in the file (n,), from 1.
        counts: of the words that follow in each (n,).
        text: those words, in a row.
    """

    lines: np.ndarray
    counts: np.ndarray
    text: bytes

    def words(self) -> Iterator[tuple[int, list[bytes]]]:
        """The number and the words of each line, one line at a time."""
        words, end = self.text.split(), 0
        for line, count in zip(self.lines.tolist(), self.counts.tolist(), strict=True):
            yield line, words[end : (end := end + count)]

    def line_of(self, word: int) -> int:
        """The number of the line in which one of the words is."""
        return int(self.lines[np.searchsorted(np.cumsum(self.counts), word, side="right")])


def rows_of(data: bytes, source: str, keywords: Mapping[bytes, int], *, any_case: bool = False) -> dict[bytes, Rows]:
    """The lines of a text by the word that they start with.

    Args:
        data, source: the text, and its file name for messages.
        keywords: which lines, and how many of the words that follow are kept.
        any_case: whether keywords, which are then in lower case, may be written in upper case.
    """
    found: dict[bytes, list[tuple[np.ndarray, np.ndarray, bytes]]] = {word: [] for word in keywords}
    for piece, first in _pieces(data, source):
        codes = np.frombuffer(piece, dtype=np.uint8)
        is_space = IS_SPACE[codes]
        starts = np.flatnonzero(~is_space & np.concatenate([[True], is_space[:-1]]))
        line_ends = np.flatnonzero(codes == 10)
        # of each word, and the first word of each line that has any
        line = np.searchsorted(line_ends, starts)
        heads = np.flatnonzero(np.diff(line, prepend=-1))
        lasts = np.append(heads[1:], len(starts))
        lowered = np.frombuffer(piece.lower(), dtype=np.uint8) if any_case else codes
        for word, most in keywords.items():
            is_meant = _starts_with(lowered, is_space, starts[heads], word)
            chosen = heads[is_meant]
            after = np.minimum(lasts[is_meant], chosen + 1 + most)
            begins, ends = starts[chosen] + len(word), np.append(starts, len(codes))[after]
            # where a row is: one up at its begin, one down at its end
            steps = np.bincount(begins, minlength=len(codes) + 1) - np.bincount(ends, minlength=len(codes) + 1)
            kept = codes[np.cumsum(steps[:-1]).astype(bool)].tobytes()
            found[word].append((line[chosen] + first, after - chosen - 1, kept))
    none = np.zeros(0, dtype=int)
    return {
        word: Rows(np.concatenate([none, *(p[0] for p in parts)]), np.concatenate([none, *(p[1] for p in parts)]),
                   b" ".join(p[2] for p in parts))
        for word, parts in found.items()
    }  # fmt: skip


def points_of_rows(rows: Rows, data: bytes, source: str) -> np.ndarray:
    """The points (n, 3) of rows of the text, of which at most three words were kept; others than three are an error."""
    values = numbers(rows.text.decode("latin-1"))
    if (rows.counts == 3).all() and len(values) == 3 * len(rows.lines):
        return values.reshape(-1, 3)
    texts = ((line, words, numbers(b" ".join(words).decode("latin-1"))) for line, words in rows.words())
    line = next((line for line, words, found in texts if len(words) < 3 or np.isnan(found).any()), 1)
    shown = data.split(b"\n", line)[line - 1].strip()[:60].decode(errors="replace")
    raise RobotError(f"{shown!r} does not have three numbers", cure="export it again", place=Place(source, line))


def _starts_with(codes: np.ndarray, is_space: np.ndarray, places: np.ndarray, word: bytes) -> np.ndarray:
    """At which places a word stands."""
    padded = np.append(codes, np.full(len(word), 32, dtype=np.uint8))
    is_here = np.append(is_space, np.full(len(word) + 1, True))[places + len(word)]
    for k, code in enumerate(word):
        is_here &= padded[places + k] == code
    return is_here


def _pieces(data: bytes, source: str) -> Iterator[tuple[bytes, int]]:
    """The text in pieces of whole lines, with the number of the first; no line is too long."""
    start, line = 0, 1
    while start < len(data):
        end = data.find(b"\n", start + PIECE) + 1 or len(data)
        piece = data[start:end]
        ends = np.append(np.flatnonzero(np.frombuffer(piece, dtype=np.uint8) == 10), len(piece))
        lengths = np.diff(ends, prepend=-1)
        if (lengths > MAX_LINE).any():
            k = int(np.argmax(lengths > MAX_LINE))
            cure = "is it text at all? export it again"
            raise RobotError(f"a line of {lengths[k]} bytes", cure=cure, place=Place(source, line + k))
        yield piece, line
        start, line = end, line + len(ends) - 1
