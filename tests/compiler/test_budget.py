"""Programs that would take too much to be compiled are refused before."""

import pytest

import pliant
from pliant.compiler import budget, kernel_from_function
from pliant.errors import KernelError, TraceError
from pliant.scalar.graph import Graph


def test_a_graph_that_is_too_large_is_not_traced_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_MOST_OPERATIONS", "100")
    graph = Graph()
    x = graph.input("x")
    with pytest.raises(TraceError) as error:
        for _ in range(200):
            x = x * x
    assert error.value.field == "operations" and len(graph.nodes) == 100


def test_a_program_that_is_too_large_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def many(x):
        for _ in range(300):
            x = x * x + 1
        return x

    monkeypatch.setattr(budget, "_SMALL", 100)
    monkeypatch.setenv("PLIANT_CACHE_DIR", "off")
    assert kernel_from_function(many, {"x": ()})(0.0) > 1
    monkeypatch.setattr(budget, "most_operations", lambda: 500)
    with pytest.raises(KernelError) as error:
        kernel_from_function(many, {"x": ()})
    assert error.value.field == "operations" and "PLIANT_MOST_OPERATIONS" in error.value.cure
    # LLVM would end the process when memory runs out
    monkeypatch.setattr(budget, "most_operations", lambda: 1e9)
    monkeypatch.setattr(budget, "free_bytes", lambda: 1000.0)
    with pytest.raises(KernelError) as error:
        kernel_from_function(many, {"x": ()})
    assert error.value.field == "memory"


@pytest.mark.parametrize("wrong", ["lots", "-1", "1e9", "\u0661"])
def test_the_bound_is_a_whole_number(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("PLIANT_MOST_OPERATIONS", wrong)
    with pytest.raises(TraceError):
        Graph()


def test_a_long_chain_with_limits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_MOST_OPERATIONS", "20000")
    builder = pliant.RobotBuilder("chain")
    builder.body("b0")
    for k in range(1, 26):
        builder.body(f"b{k}", mass=1, inertia=(0.1, 0, 0, 0.1, 0, 0.1))
        builder.joint(f"j{k}", "revolute", f"b{k - 1}", f"b{k}", (0, 0, 0.2), axis=(0, 1, 0), limits=(-1, 1))
    with pytest.raises(TraceError) as error:
        pliant.Simulation(builder.build()).step()
    assert error.value.field == "operations"
