"""Machine code on disk, for the next process that needs it.

An entry holds all object files of a program and is named after everything that they depend on. It is written to a
temporary file and moved into place, so readers in other processes see all of it or none; it carries its name and a
checksum of name and code, and one that does not match is compiled again, never loaded. Of several processes that need
an entry one compiles it, and the others wait. The folder is the platform's for caches, or ``PLIANT_CACHE_DIR``; set
that to ``off`` to do without.

What is loaded is run, and a checksum is no signature. So a folder is used if it and the entry belong to this user or to
the administrator, and if not everybody may write to them. Members of a group that may are trusted.

The folder has a largest size. When an entry is written that makes it larger, those that were not used for the longest
time are removed. Use is the time of the file, which reading sets.
"""

import contextlib
import functools
import hashlib
import logging
import os
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_MAGIC = b"pliant-object-3\n"
_log = logging.getLogger("pliant")

MOST_BYTES = 2_000_000_000
"""Size of the folder at most, unless the user sets another."""

LEAST_BYTES = 10_000_000
"""The smallest size that a user can set: one large kernel."""

_LIMIT = "size-limit"
# share of the largest size that remains after entries are removed, so that not every new one removes another
_KEPT = 0.9
# how long a process waits for another one that compiles what it needs [s]
_PATIENCE = 120.0
# parts of entries that a killed process left behind are removed after this time [s]
_LEFT_BEHIND = 3600.0


class Entry(NamedTuple):
    """A file of the cache: its size in bytes, and when it was last used [s since 1970]."""

    path: Path
    size: int
    used: float


def cache_folder() -> Path | None:
    """The folder of the entries, or None without a cache."""
    chosen = os.environ.get("PLIANT_CACHE_DIR")
    if chosen is not None:
        return None if chosen.strip().lower() in ("", "off", "0") else Path(chosen).expanduser()
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "pliant"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "pliant" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "pliant"


# ---- reading and writing


def read_cached(key: str) -> list[bytes] | None:
    """The object files of the entry of that name, or None if there is none that is whole."""
    where = cache_folder()
    if where is None:
        return None
    data = _content(where, where / f"{key}.o")
    if data is None:
        return None
    head = _head(key, data[len(_head(key, b"")) :])
    objects = _unjoined(data[len(head) :]) if data.startswith(head) else None
    if objects is None:
        warn_of_damage(key)
    return objects


def _content(where: Path, path: Path) -> bytes | None:
    """The bytes of an entry, which counts as used; None if there is none, or one that is not to be trusted."""
    # neither links nor pipes, which could keep a reader waiting
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            return None
        strange = _distrust(where.stat()) or _distrust(about)
        if strange:
            _warn_once(where, strange)
            return None
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read()
        with suppress(OSError):
            os.utime(descriptor if os.utime in os.supports_fd else path)
        return data
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _distrust(about: os.stat_result) -> str:
    """Why a file or folder is not to be trusted; "" if it is."""
    if os.name != "posix":
        return ""
    if about.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    return "everybody may write to it" if about.st_mode & stat.S_IWOTH else ""


def write_cached(key: str, objects: Sequence[bytes]) -> None:
    """Keep an entry; a folder that cannot be written costs a warning, not the result."""
    where = cache_folder()
    if where is None:
        return
    temporary, code = None, _joined(objects)
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        strange = _distrust(where.stat())
        if strange:
            _warn_once(where, strange)
            return
        descriptor, temporary = tempfile.mkstemp(dir=where, prefix=".writing-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(_head(key, code) + code)
        os.replace(temporary, where / f"{key}.o")
    except OSError as error:
        _warn_once(where, error.strerror)
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        return
    _shrink(where, keep=where / f"{key}.o")


@contextlib.contextmanager
def turn(key: str) -> Iterator[bool]:
    """One process of a machine at a time compiles an entry; whether others had to be waited for.

    The system gives the lock back however a process ends. Where there are no locks, or the other process takes longer
    than `_PATIENCE`, everyone compiles.
    """
    where, has_waited = cache_folder(), False
    with contextlib.ExitStack() as stack:
        if where is not None:
            with suppress(ImportError, OSError):
                import fcntl

                # a few empty files for all entries, which stay, and not among them; opening one never waits
                name = hashlib.sha256(f"{where.absolute()} {key[:2]}".encode()).hexdigest()[:12]
                path = Path(tempfile.gettempdir()) / f"pliant-{os.getuid()}-{name}.turn"
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW, 0o600)
                stack.callback(os.close, descriptor)
                end = time.monotonic() + _PATIENCE
                while time.monotonic() < end:
                    try:
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except BlockingIOError:
                        has_waited = True
                        time.sleep(0.02)
        yield has_waited


def _joined(objects: Sequence[bytes]) -> bytes:
    """Their number, the length of each, then all of them."""
    return struct.pack(f"<{len(objects) + 1}Q", len(objects), *map(len, objects)) + b"".join(objects)


def _unjoined(data: bytes) -> list[bytes] | None:
    """The inverse; None of data that were not joined so."""
    count = int.from_bytes(data[:8], "little")
    begin = 8 * (count + 1)
    if not 0 < count <= len(data) // 8 or begin > len(data):
        return None
    objects = []
    for (size,) in struct.iter_unpack("<Q", data[8:begin]):
        objects.append(data[begin : begin + size])
        begin += size
    return objects if begin == len(data) else None


def _head(key: str, code: bytes) -> bytes:
    """What stands before the code of an entry: whose it is, and that all of it is there."""
    name = key.encode() + b"\n"
    return _MAGIC + hashlib.sha256(name + code).digest() + name


def warn_of_damage(key: str) -> None:
    """Log that an entry is not what it should be."""
    _log.warning("cache entry %s is damaged; compiling again", key[:16])


@functools.cache
def _warn_once(where: Path, reason: str) -> None:
    cure = "set PLIANT_CACHE_DIR to a folder of your own, or to off"
    _log.warning("compiled code is not kept in %s: %s; %s", where, reason, cure)


# ---- size


def entries(where: Path) -> Iterator[Entry]:
    """The entries, and parts of them that a killed process left behind; raises `OSError` for a folder unread."""
    for path in [*where.glob("*.o"), *where.glob(".writing-*")]:
        with suppress(FileNotFoundError):  # another process was quicker to remove it
            about = path.lstat()
            yield Entry(path, about.st_size, about.st_mtime)


def most_bytes(where: Path) -> int:
    """The largest size of a folder: the one that `set_most_bytes` wrote, or the default."""
    try:
        text = (where / _LIMIT).read_text(encoding="ascii")[:30].strip()
        return max(LEAST_BYTES, int(text))
    except (OSError, ValueError):
        return MOST_BYTES


def set_most_bytes(where: Path, size: int) -> None:
    """Set the largest size of a folder, and remove what is beyond it."""
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    (where / _LIMIT).write_text(f"{size}\n", encoding="ascii")
    _shrink(where)


def _shrink(where: Path, keep: Path | None = None) -> None:
    """Remove the entries that were not used for the longest time, if all together are too large."""
    with suppress(OSError):
        found, most = list(entries(where)), most_bytes(where)
        now, total = time.time(), sum(entry.size for entry in found)
        goal = total if total <= most else _KEPT * most
        for entry in sorted(found, key=lambda entry: entry.used):
            is_part = entry.path.name.startswith(".")
            is_old = is_part and now - entry.used > _LEFT_BEHIND
            if (is_old or (not is_part and total > goal)) and entry.path != keep:
                with suppress(OSError):
                    entry.path.unlink()
                total -= entry.size
