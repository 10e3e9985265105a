"""A graph and two inputs of it."""

import pytest

from pliant.scalar import Expr, Graph


@pytest.fixture
def g() -> Graph:
    return Graph()


@pytest.fixture
def x(g: Graph) -> Expr:
    return g.input("x")


@pytest.fixture
def y(g: Graph) -> Expr:
    return g.input("y")
