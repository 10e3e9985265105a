"""Other Python threads run while a kernel runs, and several may call one kernel."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from native_code import same_bits
from pliant.compiler import Block, Kernel, Loop, Program, kernel_from_function
from pliant.scalar import sin


@pytest.fixture(scope="module")
def slow() -> Kernel:
    """Some hundred milliseconds of sines."""
    block = Block(lambda x: [sin(x[0]) + 1], ("x",), ("x",))
    program = Program({"x": 1}, ("x",), ("x",), (Loop((block,), 3_000_000),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLIANT_CACHE_DIR", "off")
        return Kernel(program, {"x": ()}, {"x": ()})


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("way", ["short", "long", "threads"])
def test_other_threads_run_during_a_call(slow: Kernel, way: str, groups: int) -> None:
    x = np.zeros(groups * slow.lanes)
    out = np.empty_like(x)
    options = {"short": {"out": out}, "long": {}, "threads": {"threads": 2}}[way]
    moments: list[float] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.001):
            moments.append(time.perf_counter())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        begin = time.perf_counter()
        slow(x, **options)
        end = time.perf_counter()
    finally:
        stop.set()
        watcher.join()
    fifth = (end - begin) / 5
    inside = [m for m in moments if begin + fifth < m < end - fifth]
    assert end - begin > 0.02, "the call is too short to tell"
    # a thread that is kept waiting would wake up after the call, never in the middle of it
    assert len(inside) >= 3


def test_several_threads_call_one_kernel() -> None:
    kernel = kernel_from_function(lambda x, y: [sin(x) * y, x - y], {"x": (), "y": ()})
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(2, 500)) for _ in range(8)]
    expected = [kernel(x, y) for x, y in inputs]

    def work(k: int) -> bool:
        x, y = inputs[k]
        out = np.empty((500, 2))
        good = True
        for repeat in range(30):
            kernel(x, y, out=out)
            good &= same_bits(out, expected[k]) and same_bits(kernel(x, y, threads=1 + repeat % 3), expected[k])
        return good

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_kernels_may_be_made_in_several_threads() -> None:
    def work(k: int) -> float:
        return float(kernel_from_function(lambda x: x * k + sin(x * 0), {"x": ()})(2.0))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(12))) == [2.0 * k for k in range(12)]
