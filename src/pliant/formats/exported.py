"""A robot as the text of a file of another format, with what that format cannot hold."""

import os
from dataclasses import dataclass
from pathlib import Path

from pliant.files.writing import whole_file
from pliant.robot import Report


@dataclass(frozen=True)
class Exported:
    """A robot written in another format.

        robot.to_mjcf().save("robot.xml")

    Attributes:
        text: all of the file.
        findings: what of the robot the format cannot hold, or holds in another form, item by item.
    """

    text: str
    findings: Report

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the text to a file, whole or not at all; returns its path."""
        with whole_file(path) as beside:
            beside.write_text(self.text, encoding="utf-8")
        return Path(path)

    def __str__(self) -> str:
        return self.text
