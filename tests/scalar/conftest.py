"""Nothing comes from, or goes to, the user's cache: what is tested is what the source says now."""

import pytest

from pliant.scalar import Expr, Graph


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE_DIR", "off")


@pytest.fixture
def g() -> Graph:
    return Graph()


@pytest.fixture
def x(g: Graph) -> Expr:
    return g.input("x")
