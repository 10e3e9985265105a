"""The cache on disk: by content, whole or not at all, and never in the way."""

import hashlib
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from native_code import program_of
from pliant.compiler import Block, Kernel, Loop, Program, cache, calls, kernel_from_function, native
from pliant.compiler import kernel as kernel_module
from pliant.scalar import sin


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    calls.is_open()
    kernel_from_function(lambda x: x, {"x": ()})  # the doorway's own code is in memory, so not in the folder
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "objects"))
    cache._warn_once.cache_clear()
    return tmp_path / "objects"


def make(factor: float = 3.0, precision: str = "float64") -> Kernel:
    return kernel_from_function(lambda x: sin(x) * factor, {"x": ()}, precision=precision)


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.o"))


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to forbid compiling."""
    fail = Mock(side_effect=AssertionError("compiled, though it is in the cache"))
    return lambda: monkeypatch.setattr(native, "object_code", fail)


def test_second_kernel_is_not_compiled(folder: Path, no_compiler) -> None:
    first = make()
    assert len(entries(folder)) == 1
    no_compiler()
    second = make()
    assert second(0.7) == first(0.7)
    assert "assembly" not in vars(second), "the graph is not even lowered"
    with pytest.raises(AssertionError, match="compiled"):
        make(4.0)


def test_entry_is_moved_into_place_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moves = []
    replace = os.replace

    def watched(source, target) -> None:
        moves.append((Path(source), Path(target), Path(source).read_bytes(), Path(target).exists()))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    make()
    [(source, target, data, existed)] = moves
    assert source.parent == target.parent == folder, "within one file system, so at once"
    assert source.name.startswith(".writing-")
    assert not existed
    assert target.read_bytes() == data
    assert list(folder.iterdir()) == [target], "nothing is left behind"
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def sealed(body: bytes) -> bytes:
    """An entry with a checksum that is right."""
    return cache._MAGIC + hashlib.sha256(body).digest() + body


HEAD = len(cache._MAGIC)
DAMAGES = {
    "a bit": lambda data, key, code: data[:-100] + bytes([data[-100] ^ 4]) + data[-99:],
    "truncated": lambda data, key, code: data[: len(data) // 2],
    "only the head": lambda data, key, code: data[: HEAD + 32],
    "only magic": lambda data, key, code: data[:HEAD],
    "empty": lambda data, key, code: b"",
    "no head": lambda data, key, code: data[HEAD + 32 :],
    "text": lambda data, key, code: b"hello\n" * 100,
    "garbage with a checksum": lambda data, key, code: sealed(b"garbage" * 99),
    "garbage with key and checksum": lambda data, key, code: sealed(key + b"\n" + b"garbage" * 99),
    "nothing with a checksum": lambda data, key, code: sealed(b""),
    "no key": lambda data, key, code: sealed(code),
    "another key": lambda data, key, code: sealed(key[::-1] + b"\n" + code),
    "another version": lambda data, key, code: b"pliant-object-0\n" + data[HEAD:],
}


@pytest.mark.parametrize("damaged", DAMAGES.values(), ids=DAMAGES)
def test_damaged_entry_is_compiled_again(
    folder: Path, damaged: Callable, no_compiler, caplog: pytest.LogCaptureFixture
) -> None:
    expected = make()(0.7)
    [entry] = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(damaged(whole, *whole[HEAD + 32 :].split(b"\n", 1)))
    with caplog.at_level(logging.WARNING, "pliant"):
        assert make()(0.7) == expected
    assert len(caplog.records) == 1
    assert "is damaged; compiling again" in caplog.text
    assert entry.read_bytes() == whole, "and repaired"
    no_compiler()
    assert make()(0.7) == expected


def test_whole_entry_of_something_else_is_compiled_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    expected = make(3.0)(0.7)
    [entry] = entries(folder)
    make(4.0)
    [other] = [path for path in entries(folder) if path != entry]
    # with the right function in it, but of another program: its numbers would be wrong
    entry.write_bytes(other.read_bytes())
    with caplog.at_level(logging.WARNING, "pliant"):
        assert make(3.0)(0.7) == expected
    assert "is damaged; compiling again" in caplog.text
    # a good object file without the function
    walk = f'target triple = "{native.machine().triple}"\ndefine void @walk() {{\n  ret void\n}}'
    entry.write_bytes(sealed(entry.stem.encode() + b"\n" + cache._joined([native.object_code(walk)])))
    assert make(3.0)(0.7) == expected
    # a folder where the file should be: neither read nor written
    entry.unlink()
    entry.mkdir()
    assert make(3.0)(0.7) == expected


def test_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "file" / "objects"))
    cache._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING, "pliant"):
        assert make()(0.0) == 0
        assert make(2.0)(0.0) == 0
    [record] = caplog.records
    assert str(tmp_path / "file" / "objects") in record.getMessage()
    assert "set PLIANT_CACHE_DIR to a folder of your own" in record.getMessage()


def test_disk_that_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """One warning for many entries, and no temporary files."""

    monkeypatch.setattr(os, "replace", Mock(side_effect=OSError(28, "No space left on device", "run.o")))
    with caplog.at_level(logging.WARNING, "pliant"):
        assert [make(float(k))(0.0) for k in range(2, 5)] == [0, 0, 0]
    assert len(caplog.records) == 1
    assert "No space left on device" in caplog.text
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("word", ["off", "OFF", " off ", "0", ""])
def test_off(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE_DIR", word)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert cache.cache_folder() is None
    assert cache.read_cached("anything") is None
    cache.write_cached("anything", b"code")
    assert make()(0.0) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("platform, environment, expected", [
    ("linux", {}, ".cache/pliant"),
    ("linux", {"XDG_CACHE_HOME": "/somewhere"}, "/somewhere/pliant"),
    ("linux", {"XDG_CACHE_HOME": ""}, ".cache/pliant"),
    ("freebsd14", {}, ".cache/pliant"),
    ("darwin", {"XDG_CACHE_HOME": "/somewhere"}, "Library/Caches/pliant"),
    ("win32", {}, "AppData/Local/pliant/Cache"),
    ("win32", {"LOCALAPPDATA": "/local"}, "/local/pliant/Cache"),
    ("linux", {"PLIANT_CACHE_DIR": "/mine"}, "/mine"),
    ("darwin", {"PLIANT_CACHE_DIR": "~/mine"}, "mine"),
])  # fmt: skip
def test_folder_of_the_platform(
    platform: str, environment: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PLIANT_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache.cache_folder() == tmp_path / expected  # which is the second one if that is absolute


def test_no_home_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLIANT_CACHE_DIR")
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError("Could not determine home directory.")))
    assert cache.cache_folder() is None


def straight(write, x: int = 2) -> Program:
    return program_of("x", "y", Block(write, ("x",), ("y",)), x=x, y=2)


def looping(count: int | str = 3, until: str | None = None) -> Program:
    body = (Block(lambda x: [x[0] + 1, x[1]], ("x",), ("x",)),)
    return program_of("x", "x", Loop(body, count, until), x=2, y=1, z=1)


PROGRAMS = {
    "plain": straight(lambda x: [x[0] + x[1], x[0]]),
    "operation": straight(lambda x: [x[0] - x[1], x[0]]),
    "constant": straight(lambda x: [x[0] + 2.5, x[0]]),
    "last digit of a constant": straight(lambda x: [x[0] + 2.5000000000000004, x[0]]),
    "infinite constant": straight(lambda x: [x[0] + float("inf"), x[0]]),
    "order of results": straight(lambda x: [x[0], x[0] + x[1]]),
    "inputs": straight(lambda x: [x[1] + x[0], x[1]]),
    "more scalars": straight(lambda x: [x[0] + x[1], x[0]], x=3),
    "numbers": straight(lambda x: [1, 2]),
    "other numbers": straight(lambda x: [2, 1]),
    "loop": looping(),
    "count": looping(count=4),
    "named count": looping(count="n"),
    "until": looping(until="y"),
    "until another": looping(until="z"),
    "two blocks": program_of("x", "y", *[Block(lambda x: x, ("x",), ("y",))] * 2, x=2, y=2),
    "no block": program_of("x", "y", x=2, y=2),
    "swapped arrays": Program({"x": 2, "y": 2}, ("y",), ("x",), ()),
}


def test_key_depends_on_the_program() -> None:
    contents = {name: kernel_module.content(p) for name, p in PROGRAMS.items()}
    assert len(set(contents.values())) == len(contents)
    again = straight(lambda x: [x[0] + x[1], x[0]])
    assert kernel_module.content(again) == contents["plain"], "and on nothing else"


def test_key_depends_on_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = make()
    keys = [kernel._key(), make(precision="float32")._key(), make(3.0000000000000004)._key()]
    for name in ("source_digest", "versions", "machine"):
        with monkeypatch.context() as patch:
            patch.setattr(native, name, lambda name=name: f"another {name}")
            keys.append(kernel._key())
    assert len(set(keys)) == len(keys)
    assert make()._key() == keys[0]
    assert kernel_from_function(lambda x: sin(x) * 3.0, {"x": ()}, name="other", threads=2)._key() == keys[0]


def test_source_digest_covers_compiler_and_scalars(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or read_bytes(path))
    digest = native.source_digest.__wrapped__()
    names = {f"{p.parent.name}/{p.name}" for p in read}
    code = ("compiler/elementary.py", "compiler/llvm.py", "compiler/assembly.py", "scalar/ops.py", "scalar/graph.py")
    assert set(code) <= names
    monkeypatch.setattr(Path, "read_bytes", lambda path: read_bytes(path) + b"# changed")
    assert native.source_digest.__wrapped__() != digest


def test_keys_are_the_same_in_every_process(folder: Path) -> None:
    code = "from pliant.compiler import kernel_from_function\nfrom pliant.scalar import sin\n"
    code += "print(kernel_from_function(lambda x: sin(x) * 3.0, {'x': ()})._key())"
    found = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60)
    assert found.strip() == make()._key()


def test_several_processes_at_once(folder: Path) -> None:
    """They compile the same program into the same cold folder; each gets it right, and one entry is left."""
    code = """if True:
        import sys
        import numpy as np
        from pliant.compiler import kernel_from_function
        from pliant.scalar import sin, exp
        print("ready", flush=True)
        sys.stdin.readline()
        def f(x):
            y = x
            for k in range(40):
                y = sin(y + k) * exp(-y * y)
            return y
        print(repr(float(kernel_from_function(f, {"x": ()})(0.3))))
    """
    command = [sys.executable, "-W", "error", "-c", code]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    processes = [subprocess.Popen(command, **pipes, text=True) for _ in range(4)]
    for p in processes:
        assert p.stdout is not None
        assert p.stdout.readline() == "ready\n"
    for p in processes:
        assert p.stdin is not None
        p.stdin.write("go\n")
        p.stdin.flush()
    results = [p.communicate(timeout=60) for p in processes]
    assert [p.returncode for p in processes] == [0] * 4, [error for _, error in results]
    assert len({out for out, _ in results}) == 1
    assert [error for _, error in results] == [""] * 4
    assert len(entries(folder)) == 2, "the kernel, and the way into kernels"
    assert len(list(folder.iterdir())) == 2


# ---- how large it grows, and what is trusted


def test_entries_not_used_for_the_longest_time_are_removed(folder: Path) -> None:
    size = 3_000_000
    cache.set_most_bytes(folder, 10_000_000)
    for k in range(3):
        cache.write_cached(f"{k}" * 64, [bytes([k]) * size])
        os.utime(folder / f"{str(k) * 64}.o", (1000 + k, 1000 + k))
    # reading is use
    assert cache.read_cached("0" * 64) == [b"\0" * size]
    cache.write_cached("3" * 64, [b"3" * size])
    assert [path.stem[0] for path in entries(folder)] == ["0", "3"], "down to nine tenths, the oldest first"
    # an entry that is larger than all is kept until the next one
    cache.write_cached("4" * 64, [b"4" * 4 * size])
    assert [path.stem[0] for path in entries(folder)] == ["4"]
    assert sum(entry.size for entry in cache.entries(folder)) > cache.most_bytes(folder)


def test_parts_that_a_killed_process_left_behind_are_removed(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, used in ((".writing-old", 1000), (".writing-new", None)):
        (folder / name).write_bytes(b"half")
        if used:
            os.utime(folder / name, (used, used))
    make()
    assert [path.name for path in folder.glob(".writing-*")] == [".writing-new"]


@pytest.mark.parametrize("text", ["", "lots", "-5", "1e99", "9" * 40])
def test_a_damaged_size_limit_is_no_trouble(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "size-limit").write_text(text)
    assert cache.most_bytes(folder) >= cache.LEAST_BYTES
    assert make()(0.0) == 0


@pytest.mark.skipif(os.name != "posix", reason="permissions and pipes are those of POSIX")
@pytest.mark.parametrize("which", ["folder", "entry"])
def test_what_everybody_may_write_to_is_not_run(
    folder: Path, which: str, no_compiler, caplog: pytest.LogCaptureFixture
) -> None:
    make()
    [entry] = entries(folder)
    (folder if which == "folder" else entry).chmod(0o777)
    with caplog.at_level(logging.WARNING, "pliant"):
        assert make()(0.7) == make()(0.7)
    assert "everybody may write to it" in caplog.text
    folder.chmod(0o700)
    entry.chmod(0o600)
    no_compiler()
    make()


@pytest.mark.skipif(os.name != "posix", reason="permissions and pipes are those of POSIX")
def test_pipes_and_links_are_not_read(folder: Path, tmp_path: Path) -> None:
    expected = make()(0.7)
    [entry] = entries(folder)
    whole = entry.read_bytes()
    entry.unlink()
    os.mkfifo(entry)  # would keep a reader waiting for ever
    assert make()(0.7) == expected and entry.read_bytes() == whole
    (tmp_path / "elsewhere").write_bytes(whole)
    entry.unlink()
    entry.symlink_to(tmp_path / "elsewhere")
    assert cache.read_cached(entry.stem) is None
    assert make()(0.7) == expected and not entry.is_symlink()
