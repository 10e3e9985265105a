"""Logs in files: HDF5 with the robot inside, and tables.

`pliant.load_log` reads one; the methods of `Log` (`save`, `to_csv`, `to_parquet`, `to_npz`) write them.
"""

from pliant.storage.reading import load_log
from pliant.storage.writing import LogWriter

__all__ = ["LogWriter", "load_log"]
