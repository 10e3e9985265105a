"""Programs as several modules, compiled by several threads: the same objects, and one library."""

import threading

import numpy as np
import pytest

from native_code import Native, inputs_of, same_bits, straight
from pliant.compiler import Program, cache, native
from pliant.compiler.assembly import Assembly
from pliant.compiler.elementary import precision_of
from pliant.compiler.llvm import Vectors
from pliant.scalar import Table, lookup, select, sin

ENTRIES = Table(np.linspace(-3, 3, 40))


def long_program(rounds: int = 100) -> Program:
    """Some 9,000 operations, with functions, tables and comparisons in every part."""
    inputs = x = inputs_of(5)
    for k in range(rounds):
        looked = lookup(ENTRIES, 10 * (x[0] + k / rounds))
        x = [sin(a * 0.3 + b) + select(a < b, looked, b) for a, b in zip(x, [*x[1:], x[0]], strict=True)]
    return straight(inputs, x)


def assembly() -> Assembly:
    return Assembly(long_program(), Vectors(4, precision_of("float64")), native.machine())


def test_objects_do_not_depend_on_the_number_of_threads() -> None:
    texts = list(assembly().modules())
    assert len(texts) >= 3
    one = native.object_codes(texts, threads=1)
    assert one == native.object_codes(texts, threads=2) == native.object_codes(iter(texts), threads=5)
    assert one == native.object_codes(texts, threads=4), "whoever has compiled what before"


def test_modules_are_linked_to_one_library() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, size=(7, 5))
    found = [Native(long_program(), width)(values)[0] for width in (2, 4)]
    assert same_bits(*found)
    # and cut otherwise
    assert same_bits(found[0], Native(long_program(), 2, piece_size=50)(values)[0])


def test_modules_are_written_once_and_only_as_they_are_asked_for() -> None:
    made = assembly()
    first = next(iter(made.modules()))
    assert len(made._written) == 1
    assert next(iter(made.modules())) is first
    assert made.pieces == made.text.count("define void @piece")
    assert list(made.modules()) == list(made.modules())


@pytest.mark.parametrize("threads", [1, 3])
def test_errors_of_the_compiler_and_of_the_writer_come_through(threads: int) -> None:
    good = f'target triple = "{native.machine().triple}"\ndefine void @walk() {{\n  ret void\n}}'
    with pytest.raises(RuntimeError, match="LLVM cannot read its assembly"):
        native.object_codes([good, "define nonsense", good], threads)

    def written():
        yield good
        raise ValueError("the writer stops")

    with pytest.raises(ValueError, match="the writer stops"):
        native.object_codes(written(), threads)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pliant-compiler")]


def test_compiling_goes_on_while_the_next_module_is_written() -> None:
    """LLVM does not hold the lock of the interpreter, nor another that would keep the writer waiting."""
    texts = list(assembly().modules())
    compiled = threading.Event()
    one = native.object_code(texts[0])

    def watched(text: str, target: object) -> bytes:
        code = one if text is texts[0] else b""
        compiled.set()
        return code

    def written():
        yield texts[0]
        assert compiled.wait(timeout=10), "the first module is compiled before the second is written"
        yield texts[1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "object_code", watched)
        assert native.object_codes(written(), threads=2) == [one, b""]


def test_entries_of_the_cache_hold_all_objects(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    objects = [b"first", b"", b"the third one"]
    cache.write_cached("a" * 64, objects)
    assert cache.read_cached("a" * 64) == objects


@pytest.mark.parametrize("data", [
    b"", b"short", b"\0" * 8, b"\xff" * 80,
    cache._joined([b"one", b"two"])[:-1], cache._joined([b"one", b"two"]) + b"more", cache._joined([b"one"])[:9],
])  # fmt: skip
def test_what_is_not_joined_objects_is_seen(data: bytes) -> None:
    assert cache._unjoined(data) is None
