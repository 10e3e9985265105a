"""What was odd, dropped, guessed or mended while a robot was read or built."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "Report"]


@dataclass(frozen=True)
class Finding:
    """One remark on the robot or its file.

    Attributes:
        kind: what happened to the thing.
        subject: the thing, e.g. "body 'foot'".
        message: what is the matter with it.
        line: of the file it came from, if known.
    """

    kind: Literal["odd", "dropped", "guessed", "mended"]
    subject: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = f" (line {self.line})" if self.line is not None else ""
        return f"{self.kind}: {self.subject}{where}: {self.message}"


class Report:
    """An immutable list of findings, printed one a line."""

    __slots__ = ("findings",)

    def __init__(self, findings: Iterable[Finding] = ()):
        self.findings = tuple(findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, k: int) -> Finding:
        return self.findings[k]

    def __repr__(self) -> str:
        return "\n".join(str(f) for f in self.findings) or "nothing to report"
