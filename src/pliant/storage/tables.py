"""Logs as tables, for other programs: text, Apache Parquet, arrays of NumPy.

A table has a row for each entry and the columns of `Log.to_dict`: "t", "q.knee", "energy.kinetic"; of a batch, robot
after robot, with the robot's number in a first column "robot". `Log.save` keeps the robot, too.
"""

import csv
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, needs
from pliant.files.writing import whole_file
from pliant.recording.log import Log
from pliant.recording.source import plain

# rows that are turned into text at a time
_ROWS = 4096


def to_csv(log: Log, path: str | os.PathLike[str]) -> Path:
    """Write a table as text: `Log.to_csv`."""
    columns = _columns(log)
    with whole_file(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        count = len(next(iter(columns.values())))
        for k in range(0, count, _ROWS):
            part = [_texts(array[k : k + _ROWS]) for array in columns.values()]
            writer.writerows(zip(*part, strict=True))
    return Path(path)


def to_parquet(log: Log, path: str | os.PathLike[str]) -> Path:
    """Write an Apache Parquet table: `Log.to_parquet`."""
    arrow = needs("pyarrow", "export", "log.to_parquet()")
    parquet = needs("pyarrow.parquet", "export", "log.to_parquet()")
    arrays = {}
    for name, array in _columns(log).items():
        if array.dtype.kind == "c":
            problem = f"column {name!r} has complex numbers, which Parquet does not have"
            raise PliantError(problem, subject="log", field=name, cure="leave its channel out")
        arrays[name] = arrow.array(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="), copy=False))
    table = arrow.table(arrays).replace_schema_metadata({"pliant": json.dumps(_about(log))})
    with whole_file(path) as beside:
        parquet.write_table(table, beside)
    return Path(path)


def to_npz(log: Log, path: str | os.PathLike[str]) -> Path:
    """Write arrays of NumPy: `Log.to_npz`."""
    with whole_file(path) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in {"t": log.t, **log.channels}.items():
            if array.dtype.hasobject:
                problem = f"channel {name!r} holds objects, which no file can hold"
                raise PliantError(problem, subject="log", field=name, cure="it takes numbers")
            # the sizes of large entries are not known before
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
        archive.writestr("about.json", json.dumps(_about(log)))
    return Path(path)


def _columns(log: Log) -> dict[str, np.ndarray]:
    """Columns of a table, each one row of numbers."""
    flat = log.to_dict()
    if log.batch is None:
        return flat
    t = flat.pop("t")
    if "robot" in flat:
        problem = "a channel of the batch is named 'robot', like the column with the robot's number"
        raise PliantError(problem, subject="log", field="robot", cure="rename it")
    table = {"robot": np.repeat(np.arange(log.batch, dtype=np.int32), len(t)), "t": np.tile(t, log.batch)}
    return table | {name: array.reshape(-1) for name, array in flat.items()}


def _texts(array: np.ndarray) -> Any:
    # single precision needs fewer digits
    return map(str, array) if array.dtype == np.float32 else array.tolist()


def _about(log: Log) -> dict[str, Any]:
    """Metadata of the numbers, in the types of JSON."""
    about = {"columns": plain(dict(log.columns)), "batch": log.batch, "metadata": plain(dict(log.metadata))}
    if log.source is not None:
        about |= {"robot": log.source.robot.name, "settings": plain(dict(log.source.settings))}
        about |= {"versions": plain(dict(log.source.versions)), "created": log.source.created}
    return about | {"is_complete": log.is_complete}
