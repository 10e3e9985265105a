"""Compiled objects on disk, by content.

An entry is named after everything that its machine code depends on. It is written to a temporary
file and moved into place, so readers in other processes see all of it or none; it carries its name
and a checksum of name and code, and one that does not match is compiled again, never loaded. The
folder is the platform's for caches, or ``PLIANT_CACHE_DIR``; set that to ``off`` to do without.
"""

import functools
import hashlib
import logging
import os
import sys
import tempfile
from pathlib import Path

__all__ = ["folder", "read", "source_digest", "warn_of_damage", "write"]

_MAGIC = b"pliant-object-2\n"
_log = logging.getLogger("pliant")


def folder() -> Path | None:
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


def read(key: str) -> bytes | None:
    """The entry of that name, or None if there is none that is whole."""
    where = folder()
    if where is None:
        return None
    try:
        data = (where / f"{key}.o").read_bytes()
    except OSError:
        return None
    head = _head(key, data[len(_head(key, b"")) :])
    if not data.startswith(head):
        warn_of_damage(key)
        return None
    return data[len(head) :]


def _head(key: str, code: bytes) -> bytes:
    """What stands before the code of an entry: whose it is, and that all of it is there."""
    name = key.encode() + b"\n"
    return _MAGIC + hashlib.sha256(name + code).digest() + name


def warn_of_damage(key: str) -> None:
    """Log that an entry cannot be used."""
    _log.warning("cache entry %s is damaged; compiling again", key[:16])


def write(key: str, code: bytes) -> None:
    """Keep an entry; a folder that cannot be written costs a warning, not the result."""
    where = folder()
    if where is None:
        return
    temporary = None
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=where, prefix=".writing-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(_head(key, code) + code)
        os.replace(temporary, where / f"{key}.o")
    except OSError as error:
        _warn_once(where, error.strerror)
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


@functools.cache
def _warn_once(where: Path, reason: str) -> None:
    cure = "set PLIANT_CACHE_DIR to a folder you can write to, or to off"
    _log.warning("compiled code is not kept in %s: %s; %s", where, reason, cure)


@functools.cache
def source_digest() -> str:
    """Of the source of compiler and scalars: code from another version of them must not be loaded."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in [*sorted(here.glob("*.py")), *sorted((here.parent / "scalar").glob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
