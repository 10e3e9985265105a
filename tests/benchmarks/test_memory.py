"""`bench.memory`: what is done again and again holds on to nothing, and a leak is told."""

import pytest

from bench import memory

SHORT = {"resets": 2000, "simulations": 60, "runs": 100, "robots": 30}


@pytest.mark.parametrize("name", memory.KINDS)
def test_memory_stays_flat(name: str) -> None:
    found = memory.growth(memory.KINDS[name](), SHORT[name])
    assert found.is_flat, found


def test_a_leak_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []

    def leaks():
        return lambda k: kept.append(bytes([k % 250]) * 50_000)

    monkeypatch.setitem(memory.KINDS, "resets", leaks)
    assert memory.main(["--resets", "300", "--simulations", "0", "--runs", "0", "--robots", "0"]) == 1
    assert "it leaks" in capsys.readouterr().out
