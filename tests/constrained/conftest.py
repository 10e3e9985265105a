"""Nothing comes from, or goes to, the user's cache: what is tested is what the source says now."""

import pytest


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE_DIR", "off")
