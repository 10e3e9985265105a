"""Arrays with a description in one file: a zip archive of NumPy's format that holds numbers and JSON, never code.

A file is untrusted: nothing in it names a class or is executed, its sizes are looked at before it is read, and the
archive's checksums tell damage.
"""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.files.writing import whole_file

_ABOUT = "about.json"
_KINDS = "fiub"


def write_arrays(
    path: str | os.PathLike[str], kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write arrays of numbers, whole or not at all.

    Args:
        kind: what the file is, such as "pliant policy 1"; `read_arrays` asks for it.
        about: plain data, as of JSON.
        arrays: by name; none may have Python objects.
    """
    try:
        text = json.dumps({"kind": kind, "about": dict(about)}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise PliantError(f"the description of a {kind} is no plain data: {error}", subject=kind, field="about",
                          cure="it takes texts, finite numbers, lists and dicts") from None  # fmt: skip
    with whole_file(path) as beside, zipfile.ZipFile(beside, "w") as archive:
        archive.writestr(_member(_ABOUT), text)
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=False)
            archive.writestr(_member(f"{name}.npy"), content.getvalue())


def _member(name: str) -> zipfile.ZipInfo:
    # without a date, the same arrays are the same file
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def read_arrays(
    path: str | os.PathLike[str], kind: str, *, error: type[PliantError] = PliantError, most: int = 2**31
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The description and the arrays of a file; raises if it is damaged, of another kind or beyond ``most`` bytes."""
    target = Path(os.fspath(path)).expanduser()
    name = str(target)

    def wrong(problem: str, cure: str = "") -> PliantError:
        return error(f"{name} {problem}", subject=name, field="path", cure=cure)

    try:
        archive = zipfile.ZipFile(target)
    except FileNotFoundError:
        raise wrong("does not exist") from None
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as problem:
        raise wrong(f"cannot be read: {problem}", f"give a file of the kind {kind!r}") from None
    with archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > most:
            raise wrong(f"has {size / 1e6:.0f} MB; at most {most / 1e6:.0f} MB are read")
        try:
            header = json.loads(archive.read(_ABOUT))
            found = header["kind"], dict(header["about"])
            arrays = {
                entry.filename.removesuffix(".npy"): _array(archive.read(entry))
                for entry in archive.infolist()
                if entry.filename != _ABOUT
            }
        except Exception as p:  # a damaged archive fails in many ways, none of which is to reach the user
            raise wrong(f"is damaged: {p}", "take another copy of it") from None
    if found[0] != kind:
        raise wrong(f"is a {found[0]!r}", f"give a {kind!r}")
    return found[1], arrays


def _array(content: bytes) -> np.ndarray:
    stream = io.BytesIO(content)
    array = np.lib.format.read_array(stream, allow_pickle=False)
    if array.dtype.kind not in _KINDS:
        raise ValueError(f"an array of {array.dtype}")
    return array
