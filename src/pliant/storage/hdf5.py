"""The file of a log: HDF5, opened and read as something that nobody vouches for.

A file may be cut off, damaged, or made to do harm: links and datasets that lead to other files are refused, so are
filters other than those that Pliant uses, and every size is held against what is stored before memory is asked for.
"""

import json
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, needs
from pliant.storage.superblock import MendedFile, head_of

__all__ = [
    "FORMAT", "VERSION", "dataset", "group", "has", "opened", "put_text", "read_all", "read_text", "trouble_with",
]  # fmt: skip

FORMAT = "pliant log"
VERSION = 1

MAX_TEXT = 256_000_000
# deflate packs a thousand zeros into one byte, and no more
_MOST_PACKED = 1100
_FILTERS = {1, 2, 3}  # deflate, shuffle, checksum


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The file of a log to read, also one that is still being written, or whose writer was killed."""
    h5py = needs("h5py", "logs", "reading a log")
    found = _existing(path)
    with ExitStack() as stack:
        try:
            if not h5py.is_hdf5(found):
                raise PliantError(f"{found} is no log: {_looks_like(found)}; logs are what log.save() writes")
            head = head_of(found)
            if head is None or head.is_sound:
                file = h5py.File(found, "r", locking="best-effort")
            else:
                mended = MendedFile(found, head)
                stack.callback(mended.close)
                file = h5py.File(mended, "r")
        except (OSError, RuntimeError) as error:
            raise trouble_with(found, error) from None
        stack.callback(file.close)
        _check_format(file, found)
        yield file


def _existing(path: str | os.PathLike[str]) -> Path:
    try:
        found = Path(os.fspath(path)).expanduser()
    except TypeError:
        raise PliantError(f"{path!r} is no path; give the name of a log file") from None
    if found.is_dir():
        raise PliantError(f"{found} is a folder; give the name of a log file in it")
    if not found.exists():
        raise PliantError(f"there is no file {found}; give the path of a log, as log.save() wrote it")
    if not os.access(found, os.R_OK):
        raise PliantError(f"{found} may not be read; check its permissions")
    return found


def _check_format(file: Any, path: Path) -> None:
    try:
        name, version = file.attrs.get("format"), file.attrs.get("version")
    except (OSError, RuntimeError, KeyError, TypeError, UnicodeError) as error:
        raise trouble_with(path, error) from None
    if name != FORMAT:
        raise PliantError(f"{path} is a file of HDF5, but no log of Pliant; logs are what log.save() writes")
    if not isinstance(version, int | np.integer) or version < 1:
        raise PliantError(f"{path} says that it is a log of version {version!r}, which there is not; it is damaged")
    if version > VERSION:
        raise PliantError(
            f"{path} is a log of version {version}, and this Pliant reads up to {VERSION}; pip install -U pliant"
        )


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
    for mark, what in known.items():
        if head.startswith(mark):
            return f"it is {what}"
    return "it is no file of HDF5"


def trouble_with(path: Any, error: Exception) -> PliantError:
    """What HDF5 says, in words."""
    said = str(error)
    if "truncated file" in said:
        return PliantError(f"{path} is cut off, and nothing of it can be read: copy or download it again")
    if "permission" in said.lower():
        return PliantError(f"{path} may not be read; check its permissions")
    if "unable to lock" in said:
        return PliantError(f"{path} is in use by another program; wait until it is done")
    return PliantError(
        f"{path} is damaged and cannot be read: {said.splitlines()[0] if said else type(error).__name__}"
    )


# ---- parts


def has(parent: Any, name: str) -> bool:
    """Whether there is something of that name."""
    return name in parent.keys()  # noqa: SIM118  # `in` alone would follow links


def group(parent: Any, name: str) -> Any:
    """A group in this very file."""
    h5py = needs("h5py", "logs", "reading a log")
    return _here(h5py, parent, name, h5py.Group)


def dataset(parent: Any, name: str) -> Any:
    """A dataset that is stored in this very file, and is not larger than what is stored."""
    h5py = needs("h5py", "logs", "reading a log")
    found = _here(h5py, parent, name, h5py.Dataset)
    where = f"dataset {found.name!r}"
    plan = found.id.get_create_plist()
    if found.is_virtual or found.external:
        raise PliantError(f"{where} of the log refers to another file, which a log may not")
    if found.dtype.kind not in "biufc" or found.dtype.hasobject or found.shape is None:
        raise PliantError(f"{where} of the log has type {found.dtype}; it takes numbers")
    filters = [plan.get_filter(k)[0] for k in range(plan.get_nfilters())]
    if not set(filters) <= _FILTERS:
        raise PliantError(f"{where} of the log needs a filter that Pliant does not use")
    size = math.prod(found.shape) * found.dtype.itemsize
    padded = math.prod(found.chunks) * found.dtype.itemsize if found.chunks else 0
    try:
        stored = found.id.get_storage_size()
    except (OSError, RuntimeError):  # its index is cut off, and maybe not all of it
        stored = found.file.id.get_filesize()
    if size > _MOST_PACKED * stored + padded:
        raise PliantError(f"{where} of the log says that it has {size:.3g} bytes, which the file does not hold")
    return found


def _here(h5py: Any, parent: Any, name: str, kind: type) -> Any:
    if not has(parent, name):
        raise PliantError(f"the log has no {name!r} in {parent.name!r}; it is damaged")
    link = parent.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        raise PliantError(f"{name!r} in {parent.name!r} of the log is a link to elsewhere, which a log may not have")
    found = parent[name]
    if not isinstance(found, kind):
        raise PliantError(f"{name!r} in {parent.name!r} of the log is no {kind.__name__.lower()}; it is damaged")
    return found


def read_all(found: Any) -> np.ndarray:
    """All numbers of a dataset."""
    try:
        return found[()]
    except MemoryError:
        size = math.prod(found.shape) * found.dtype.itemsize
        raise PliantError(
            f"{found.name!r} of the log takes {size / 1e9:.1f} GB, which memory does not have; "
            "load_log takes channels=, start=, end= and robots= to read a part"
        ) from None


# ---- text


def put_text(parent: Any, name: str, value: Any) -> None:
    """Plain data as JSON, packed."""
    packed = np.frombuffer(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False).encode(), dtype=np.uint8)
    options = {"compression": "gzip", "compression_opts": 4} if packed.size > 500 else {}
    parent.create_dataset(name, data=packed, chunks=(packed.size,), fletcher32=True, **options)


def read_text(parent: Any, name: str) -> Any:
    """The plain data."""
    found = dataset(parent, name)
    if found.dtype != np.uint8 or found.ndim != 1 or found.size > MAX_TEXT:
        raise PliantError(f"{name!r} of the log is no text; it is damaged")
    try:
        return json.loads(read_all(found).tobytes().decode(), object_hook=_number)
    except (ValueError, RecursionError) as error:
        raise PliantError(f"{name!r} of the log is no plain data: {error}") from None


def _finite(value: Any) -> Any:
    """With words for the numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value


def _number(found: dict[str, Any]) -> Any:
    if list(found) == ["number"] and found["number"] in ("inf", "-inf", "nan"):
        return float(found["number"])
    return found
