"""What was measured: rows, columns, files and plots."""

import numpy as np
import pytest

from pliant.errors import LearningError
from pliant.learn import History


def example() -> History:
    history = History()
    for k in range(5):
        row = {"steps": 10 * k, "seconds": np.float32(k), "reward/track": 0.1 * k, "reward/tilt": -0.1, "kl": 0.01}
        row |= {"episode/return": np.nan if k == 0 else k, "judge/score": float(k)} if k % 2 == 0 else {}
        history.append(row | {"judge/by command": [1, 2]})
    return history


def test_columns_leave_out_what_was_not_measured() -> None:
    history = example()
    assert history.column("episode/return") == ([20, 40], [2, 4])
    assert history.column("judge/score", by="seconds") == ([0, 2, 4], [0, 2, 4])
    assert len(history) == 5 and history[-1]["steps"] == 40
    with pytest.raises(LearningError, match="did you mean 'reward/track'"):
        history.column("reward/trak")


def test_files(tmp_path) -> None:
    history, path = example(), tmp_path / "history.jsonl"
    history.save(path)
    assert list(History.load(path)) == list(history)
    path.write_text(path.read_text() + "{broken\n")
    with pytest.raises(LearningError) as caught:
        History.load(path)
    assert caught.value.place.line == 6
    path.write_text("[1, 2]\n")
    with pytest.raises(LearningError):
        History.load(path)


def test_plots(tmp_path) -> None:
    history = example()
    figure = history.plot(path=tmp_path / "curves.svg", title="a cart")
    assert [axis.get_ylabel() for axis in figure.axes] == ["reward", "episode/return", "judge/score", "kl"]
    assert [line.get_label() for line in figure.axes[0].lines] == ["track", "tilt"]
    assert (tmp_path / "curves.svg").stat().st_size > 1000
    (axis,) = history.plot("kl", by="steps").axes
    np.testing.assert_array_equal(axis.lines[0].get_xdata(), [0, 10, 20, 30, 40])
    with pytest.raises(LearningError):
        history.plot("judge/by command")


def test_rows_are_plain_data() -> None:
    history = History()
    odd = {"a": np.array([1.0, np.nan]), "b": (1, 2), "c": {"d": np.inf, "e": np.float32(2)}, "f": object(), "g": None}
    history.append(odd)
    assert list(history) == [{"a": [1.0, None], "b": [1, 2], "c": {"d": None, "e": 2.0}}]
