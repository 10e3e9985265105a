"""What a reader notes on its way through a file: findings, and errors that name file and line."""

import logging
from collections.abc import Collection
from typing import Literal

from pliant.errors import RobotError
from pliant.files.xml import Element
from pliant.robot import Finding, Report

__all__ = ["Journal"]

Kind = Literal["odd", "dropped", "guessed"]

_log = logging.getLogger("pliant.findings")


class Journal:
    """Findings about one file, each with its line.

    Args:
        source: the file's name, for messages.
        strict: whether what is odd or guessed is an error.
    """

    def __init__(self, source: str, strict: bool = False):
        self.source = source
        self.strict = strict
        self.findings: list[Finding] = []
        self._counted: dict[tuple[str, str], list[int]] = {}

    def error(self, message: str, line: int | None = None) -> RobotError:
        """An error at a line of the file, to be raised."""
        return RobotError(f"{self.source}:{line}: {message}" if line else f"{self.source}: {message}")

    def odd(self, subject: str, message: str, line: int | None = None) -> None:
        """Something that cannot be meant so, kept as it is."""
        self._doubtful("odd", subject, message, line)

    def guessed(self, subject: str, message: str, line: int | None = None) -> None:
        """Something that the file does not say, or says wrongly, with what was taken instead."""
        self._doubtful("guessed", subject, message, line)

    def dropped(self, subject: str, message: str, line: int | None = None) -> None:
        """Something that the file says and the robot does not have. Never an error."""
        self.findings.append(Finding("dropped", subject, message, line))

    def refused(self, subject: str, message: str, line: int | None = None) -> None:
        """Something that the file asks for and must not have: dropped, or an error when strict."""
        self._doubtful("dropped", subject, message, line)

    def mended(self, subject: str, message: str, line: int | None = None) -> None:
        """Something changed on purpose. Never an error."""
        self.findings.append(Finding("mended", subject, message, line))

    def ignored(self, subject: str, message: str, line: int) -> None:
        """Something dropped that may occur a hundred times: one finding with the count, at the first line."""
        self._counted.setdefault((subject, message), []).append(line)

    def unread(self, element: Element, tags: Collection[str], attributes: Collection[str] = ()) -> None:
        """Note the children and attributes of an element that are not among those that the reader knows."""
        for child in element.children:
            if child.tag not in tags:
                self.ignored(f"<{child.tag}>", f"not read in <{element.tag}>", child.line)
        for name in element.attributes:
            if name not in attributes and not name.startswith("xmlns"):
                self.ignored(f"attribute {name!r}", f"not read in <{element.tag}>", element.line)

    def report(self, *, lines: dict[str, int], more: Report) -> Report:
        """All findings, with those of the builder, in the order of the file; logs each in one line.

        Args:
            lines: where each named thing starts.
            more: the builder's findings, which know names but no lines.
        """
        for (subject, message), where in self._counted.items():
            times = f" ({len(where)} times)" if len(where) > 1 else ""
            self.findings.append(Finding("dropped", subject, message + times, where[0]))
        located = [Finding(f.kind, f.subject, f.message, lines.get(f.subject)) for f in more]
        findings = sorted([*self.findings, *located], key=lambda f: f.line or 0)
        for f in findings:
            level = logging.INFO if f.kind == "dropped" else logging.WARNING
            where = f"{self.source}:{f.line}" if f.line else self.source
            _log.log(level, "%s: %s: %s: %s", where, f.kind, f.subject, f.message)
        return Report(findings)

    def _doubtful(self, kind: Kind, subject: str, message: str, line: int | None) -> None:
        if self.strict:
            raise self.error(f"{subject}: {message}; strict=False loads the file all the same", line)
        self.findings.append(Finding(kind, subject, message, line))
