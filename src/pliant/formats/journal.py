"""Findings and errors of a reader of XML files, with file and line, and numbers and names out of attributes."""

import logging
import math
from collections.abc import Collection
from typing import Any, Literal

from pliant.errors import Fault, Place, RobotError
from pliant.files.xml import Element
from pliant.robot import Finding, Report

Triple = tuple[float, float, float]

Kind = Literal["odd", "guessed", "refused", "dropped", "repaired"]

# the largest float means that there is no limit, as in Pinocchio, since not every reader knows "inf"
_LARGEST = 1e300

_log = logging.getLogger("pliant.findings")


class Journal:
    """Findings about the file ``source``, each with its line; if ``strict``, odd and guessed values raise an error."""

    def __init__(self, source: str, strict: bool = False):
        self.source = source
        self.strict = strict
        self.findings: list[Finding] = []
        self._counted: dict[tuple[str, str], list[int]] = {}

    def error(self, problem: str | Fault, line: int | None = None, **fields: Any) -> RobotError:
        """An error at a line of the file, to be raised; fields as in `Fault`."""
        return RobotError(problem, place=Place(self.source, line), **fields)

    def note(self, kind: Kind, subject: str, message: str, line: int | None = None) -> None:
        """A finding. When strict, one that is odd, guessed or refused is an error.

        Args:
            kind: "odd" for what is probably a mistake, and kept; "guessed" for a value that the file does not say, or
                says wrongly; "refused" for what the file asks for and may not have, which is dropped; "dropped" and
                "repaired" as in `Finding`.
        """
        if self.strict and kind not in ("dropped", "repaired"):
            cure = "strict=False loads the file all the same"
            raise self.error(f"{subject}: {message}", line, subject=subject, cure=cure)
        self.findings.append(Finding("dropped" if kind == "refused" else kind, subject, message, line))

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


# ---- attributes


def required(element: Element, name: str, journal: Journal) -> str:
    """An attribute that must be there and not be empty."""
    value = element.attributes.get(name, "").strip()
    if not value:
        tag = element.tag
        cure = f'write <{tag} {name}="...">'
        raise journal.error(f"<{tag}> has no {name}", element.line, subject=f"<{tag}>", field=name, cure=cure)
    return value


def numbers(
    element: Element | None, name: str, count: int, journal: Journal, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    """An attribute of ``count`` finite numbers with spaces between; the default if element or attribute is missing."""
    if element is None or (default is not None and name not in element.attributes):
        assert default is not None
        return default
    text = required(element, name, journal)
    parts = text.split()
    values = [parsed(part) for part in parts]
    if len(parts) != count or not all(math.isfinite(v) for v in values):
        wanted = "a finite number" if count == 1 else f"{count} finite numbers, spaces between"
        problem = f"{name}={text!r} in <{element.tag}> is not {wanted}"
        cure = "it looks like xacro: expand it first" if "${" in text else ""
        raise journal.error(problem, element.line, subject=f"<{element.tag}>", field=name, cure=cure)
    return tuple(values)


def number(
    element: Element | None, name: str, journal: Journal, default: float | None = None, *, infinite: bool = False
) -> float:
    """An attribute that is one number, finite unless ``infinite`` allows it to be infinite."""
    if infinite and element is not None and abs(value := parsed(element.attributes.get(name, ""))) > _LARGEST:
        return math.copysign(math.inf, value)
    return numbers(element, name, 1, journal, None if default is None else (default,))[0]


def origin(element: Element, journal: Journal) -> tuple[Triple, Triple]:
    """Position [m] and roll, pitch, yaw [rad] of the element's <origin>; zero where it has none."""
    found = element.first("origin")
    if found is not None:
        journal.unread(found, (), ("xyz", "rpy"))
    x, y, z = numbers(found, "xyz", 3, journal, (0, 0, 0))
    roll, pitch, yaw = numbers(found, "rpy", 3, journal, (0, 0, 0))
    return (x, y, z), (roll, pitch, yaw)


def parsed(text: str) -> float:
    """The number, or NaN if it is not one. Python's own 1_000 is not XML's."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
