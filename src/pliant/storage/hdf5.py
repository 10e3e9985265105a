"""The container of logs: HDF5, opened and read as an untrusted file.

A file may be cut off, damaged, or made to do harm: links and datasets that lead to other files are refused, so are
filters other than those that Pliant uses, and every size is compared with what is stored before memory is allocated.

The library reads through `pliant.storage.readable_file`, which corrects the head and checks what it would hang on.
"""

import contextlib
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, bad_value, needs
from pliant.storage.chunks import CHECKSUM, DEFLATE, SHUFFLE, Chunks
from pliant.storage.readable_file import SIGNATURE, ReadableFile

FORMAT = "pliant log"
VERSION = 1

MAX_TEXT = 256_000_000
MAX_NUMBERS = 100
# deflate packs a thousand zeros into one byte, and no more
_MOST_PACKED = 1100
# a writer that was killed may have counted entries that it had not written
_MOST_UNWRITTEN = 4


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The file of a log to read, also one that is still being written, or whose writer was killed."""
    h5py = needs("h5py", "logs", "reading a log")
    found = _existing(path)
    with contextlib.ExitStack() as stack:
        try:
            with found.open("rb") as raw:
                is_hdf5 = raw.read(len(SIGNATURE)) == SIGNATURE
            if not is_hdf5:
                problem = f"{found} is not a log: {_looks_like(found)}"
                raise PliantError(problem, subject="log", cure="give a file that log.save() wrote")
            readable = ReadableFile(found)
            stack.callback(readable.close)
            file = h5py.File(readable, "r")
        except (OSError, RuntimeError) as error:
            raise read_error(found, error) from None
        stack.callback(file.close)
        _check_format(file, found)
        yield file


def _existing(path: str | os.PathLike[str]) -> Path:
    try:
        found = Path(os.fspath(path)).expanduser()
    except TypeError:
        raise PliantError(bad_value("path", path, "the name of a log file")) from None
    if found.is_dir():
        raise _not_readable(f"{found} is a folder", "give the name of a log file in it")
    if not found.exists():
        raise _not_readable(f"there is no file {found}", "give the path of a log, as log.save() wrote it")
    if not found.is_file():
        raise _not_readable(f"{found} is not a file", "give the name of a log file")
    if not os.access(found, os.R_OK):
        raise _not_readable(f"{found} may not be read", "check its permissions")
    return found


def _not_readable(problem: str, cure: str) -> PliantError:
    return PliantError(problem, subject="log", field="path", cure=cure)


def _check_format(file: Any, path: Path) -> None:
    try:
        name, version = attribute(file, "format"), attribute(file, "version")
    except (OSError, RuntimeError, KeyError, TypeError, UnicodeError) as error:
        raise read_error(path, error) from None
    if not isinstance(name, str) or name != FORMAT:
        raise _not_readable(f"{path} is an HDF5 file, but not a log of Pliant", "give a file that log.save() wrote")
    if not isinstance(version, int | np.integer) or version < 1:
        raise damaged(f"{path} has the unknown version {version!r}", "version")
    if version > VERSION:
        problem = f"{path} is a log of version {version}, and this Pliant reads up to {VERSION}"
        raise PliantError(problem, subject="log", field="version", cure="pip install -U pliant")


def _looks_like(path: Path) -> str:
    size = path.stat().st_size
    if size == 0:
        return "it is empty"
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(b"\x89HDF"):
        return f"its head is damaged ({size} bytes)"
    known = {b"PK\x03\x04": "a zip or npz file", b"PAR1": "a Parquet file", b"\x89MCAP": "an MCAP recording",
             b"\x93NUMPY": "an array of NumPy", b"\x80": "maybe a pickle"}  # fmt: skip
    return next((f"it is {what}" for mark, what in known.items() if head.startswith(mark)), "it is not an HDF5 file")


def read_error(path: Any, error: Exception) -> PliantError:
    """The error of HDF5, in words."""
    said = str(error)
    if "truncated file" in said:
        return _not_readable(f"{path} is cut off, and nothing of it can be read", "copy or download it again")
    if "permission" in said.lower():
        return _not_readable(f"{path} may not be read", "check its permissions")
    if "unable to lock" in said:
        return _not_readable(f"{path} is in use by another program", "wait until it is done")
    return damaged(f"{path} cannot be read: {said.splitlines()[0] if said else type(error).__name__}", "path")


def damaged(problem: str, field: str) -> PliantError:
    """The error of a file that is not as it was written."""
    return PliantError(problem, subject="log", field=field, cure="the file is damaged")


# ---- parts


def has(parent: Any, name: str) -> bool:
    """Whether there is something of that name."""
    return name in parent.keys()  # noqa: SIM118  # `in` alone would follow links


def group(parent: Any, name: str) -> Any:
    """A group in this very file."""
    return _here(parent, name, "Group")


def dataset(parent: Any, name: str) -> Chunks:
    """A dataset that is stored in this very file, in chunks, and is not larger than the file can hold."""
    found = _here(parent, name, "Dataset")
    where = f"dataset {found.name!r}"
    if found.is_virtual or found.external:
        raise damaged(f"{where} of the log refers to another file, which a log may not", found.name)
    if found.dtype.kind not in "biufc" or found.dtype.hasobject or found.shape is None:
        raise damaged(f"{where} of the log has type {found.dtype}, which is not one of numbers", found.name)
    # as Pliant writes them: numbers of another form would need the library
    own = needs("h5py", "logs", "reading a log").h5t.py_create(found.dtype, logical=True)
    if found.chunks is None or found.id.get_type() != own:
        raise damaged(f"{where} of the log is not stored in the way of Pliant", found.name)
    chunks = Chunks(found)
    if not set(chunks.filters) <= {DEFLATE, SHUFFLE, CHECKSUM}:
        raise damaged(f"{where} of the log needs a filter that Pliant does not use", found.name)
    size = math.prod(found.shape) * found.dtype.itemsize
    padded = math.prod(found.chunks) * found.dtype.itemsize
    # of the file, since the library counts what is stored of a dataset by an index that may never end
    stored = found.file.id.get_filesize()
    if size > (_MOST_PACKED if DEFLATE in chunks.filters else _MOST_UNWRITTEN) * stored + padded:
        raise damaged(f"{where} of the log says that it has {size:.3g} bytes, which the file does not hold", found.name)
    return chunks


def _here(parent: Any, name: str, kind: str) -> Any:
    if not has(parent, name):
        raise damaged(f"the log has no {name!r} in {parent.name!r}", name)
    if type(parent.get(name, getlink=True)).__name__ != "HardLink":
        raise damaged(f"{name!r} in {parent.name!r} of the log is a link to elsewhere, which a log may not have", name)
    found = parent[name]
    if type(found).__name__ != kind:
        raise damaged(f"{name!r} in {parent.name!r} of the log is not a {kind.lower()}", name)
    return found


def attribute(parent: Any, name: str) -> Any:
    """A text or a few numbers beside a group or a dataset; None if there is nothing of that name."""
    if name not in parent.attrs:
        return None
    h5py = needs("h5py", "logs", "reading a log")
    found = parent.attrs.get_id(name)
    is_plain = found.dtype.kind in "biuf" or h5py.check_string_dtype(found.dtype) is not None
    if not is_plain or found.shape is None or math.prod(found.shape) > MAX_NUMBERS:
        raise damaged(f"{name!r} at {parent.name!r} of the log is not a text or a number", name)
    return parent.attrs[name]


def read_all(found: Chunks) -> np.ndarray:
    """All numbers of a dataset."""
    try:
        return found.read(())
    except MemoryError:
        size = math.prod(found.shape) * found.dtype.itemsize
        problem = f"{found.name!r} of the log takes {size / 1e9:.1f} GB, more than the free memory"
        cure = "read a part: load_log takes channels=, start=, end= and robots="
        raise PliantError(problem, subject="log", field=found.name, cure=cure) from None


# ---- text


def put_text(parent: Any, name: str, value: Any) -> None:
    """Put plain data into a dataset, as packed JSON."""
    packed = np.frombuffer(to_json(value), dtype=np.uint8)
    options = {"compression": "gzip", "compression_opts": 4} if packed.size > 500 else {}
    parent.create_dataset(name, data=packed, chunks=(packed.size,), fletcher32=True, **options)


def read_text(parent: Any, name: str) -> Any:
    """The plain data of a dataset."""
    found = dataset(parent, name)
    if found.dtype != np.uint8 or len(found.shape) != 1 or found.shape[0] > MAX_TEXT:
        raise damaged(f"{name!r} of the log is not a text", name)
    return from_json(read_all(found).tobytes(), name)


def to_json(value: Any) -> bytes:
    """Plain data as JSON, with words for infinities and NaN, which it does not have."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False).encode()


def from_json(data: bytes, name: str) -> Any:
    """The plain data of `to_json`."""
    try:
        return json.loads(data.decode(), object_hook=_number)
    except (ValueError, RecursionError) as error:
        raise damaged(f"{name!r} of the log is not JSON: {error}", name) from None


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value


def _number(found: dict[str, Any]) -> Any:
    if list(found) == ["number"] and found["number"] in ("inf", "-inf", "nan"):
        return float(found["number"])
    return found
