"""Logs in files: HDF5 with the robot inside, and tables.

`pliant.load_log` reads one; the methods of `Log` (`save`, `to_csv`, `to_parquet`, `to_npz`) write them.
"""

from pliant.storage.loading import load_log

__all__ = ["load_log"]
