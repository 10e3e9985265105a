"""Disks that fill up: libraries that do not survive an error do not see it, and it is raised at the end."""

import os
import resource
from pathlib import Path

from pliant.files.writing import CarefulFile


def test_file_that_bears_errors(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w+b") as raw:
        file = CarefulFile(raw.fileno())
        file.write(b"0123456789")
        file.seek(2)
        assert file.read(3) == b"234" and file.tell() == 5 and file.truncate(8) == 8
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, before[1]))
        try:
            file.seek(0, os.SEEK_END)
            assert file.write(b"more") == 4 and file.error is not None, "the error is kept"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        file.seek(6)
        assert file.read() == b"67\0\0\0\0", "what was lost reads as zeros"
