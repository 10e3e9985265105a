"""A graph and an input of it."""

import pytest

from pliant.scalar import Expr, Graph


@pytest.fixture
def g() -> Graph:
    return Graph()


@pytest.fixture
def x(g: Graph) -> Expr:
    return g.input("x")
