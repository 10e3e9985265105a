"""Logs in files: HDF5 with the robot inside, tables, recordings for Foxglove.

`pliant.load_log` reads one; the methods of `Log` (`save`, `to_csv`, `to_parquet`, `to_npz`, `to_mcap`) write them.
"""

from pliant.storage.loading import load_log
from pliant.storage.sinks import FileSink

__all__ = ["FileSink", "load_log"]
