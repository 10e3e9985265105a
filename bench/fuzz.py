"""Tries to break Pliant with files and calls that make no sense: `python -m bench.fuzz`.

    python -m bench.fuzz --minutes 5
    python -m bench.fuzz --target urdf api --seed 3 --count 2000
    python -m bench.fuzz --target urdf --seed 3 --number 1234      # one again, in this process

An input is known by its target, seed and number. It has one of six outcomes: clean (taken), refused (a `PliantError`),
other (another exception), hang, crash, wrong (taken, with a result that cannot be). The last four are mistakes of
Pliant: they are grouped by place, and one of each group is made smaller and kept in a folder.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.fuzz_targets import TARGETS
from bench.fuzz_workers import OUTCOMES, Outcome, Target, outcome_of, tried

__all__ = ["Findings", "fuzzed", "smaller"]

MISTAKES = OUTCOMES[2:]
_TRIALS = 300
"""Attempts to make an input smaller."""


class Findings:
    """Outcomes of a target, counted, and the first input of each kind of mistake."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.mistakes: dict[tuple[str, str, str], Outcome] = {}
        self.repeats: Counter[tuple[str, str, str]] = Counter()
        self.slowest = 0.0

    def add(self, outcome: Outcome) -> None:
        """Count one."""
        self.counts[outcome.outcome] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        if outcome.outcome in MISTAKES:
            key = outcome.outcome, outcome.problem.partition(":")[0], outcome.place
            self.mistakes.setdefault(key, outcome)
            self.repeats[key] += 1

    @property
    def is_clean(self) -> bool:
        """Whether nothing but clean and refused inputs was found."""
        return not self.mistakes


def fuzzed(target: str, seed: int, numbers: range, *, minutes: float = float("inf"), seconds: float = 20.0) -> Findings:
    """The outcomes of inputs of a target, tried in subprocesses.

    Args:
        numbers: of the inputs.
        minutes: of the clock, after which no other input is begun.
        seconds: of processor time for one input, then it hangs.
    """
    findings = Findings()
    for outcome in tried(TARGETS[target](), seed, numbers, seconds=seconds, until=time.monotonic() + 60 * minutes):
        findings.add(outcome)
    return findings


def smaller(target: Target, data: bytes, name: str, wanted: Outcome) -> bytes:
    """A part of an input of bytes that makes the same mistake: pieces are left out while it does."""

    def is_same(candidate: bytes) -> bool:
        with tempfile.TemporaryDirectory(prefix="pliant-fuzz-") as folder:
            found = outcome_of(target, (name, candidate), Path(folder))
        return (found.outcome, found.place) == (wanted.outcome, wanted.place)

    trials = 0
    size = max(1, len(data) // 2)
    while size and trials < _TRIALS:
        start, has_shrunk = 0, False
        while start < len(data) and trials < _TRIALS:
            candidate = data[:start] + data[start + size :]
            trials += 1
            if is_same(candidate):
                data, has_shrunk = candidate, True
            else:
                start += size
        size = size if has_shrunk and size > 1 else size // 2
    return data


def _keep(name: str, seed: int, outcome: Outcome, folder: Path) -> Path:
    """Write the input of a mistake, and what it did, into a folder; smaller if it can be tried in this process."""
    target = TARGETS[name]()
    given = target.made(seed, outcome.number)
    content: Any = target.shown(given)
    if isinstance(content, bytes) and outcome.outcome in ("other", "wrong"):
        content = smaller(target, content, given[0], outcome)
    folder.mkdir(parents=True, exist_ok=True)
    suffix = Path(given[0]).suffix if isinstance(content, bytes) else ".txt"
    path = folder / f"{name}-{seed}-{outcome.number}{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
    note = f"{outcome.outcome}: {outcome.problem} ({outcome.place})\n{outcome.trace}"
    path.with_name(path.name + ".trace").write_text(note, encoding="utf-8", errors="backslashreplace")
    return path


def _rounds(targets: Sequence[str], seed: int, minutes: float, count: int | None, most: int) -> Iterator[Any]:
    """Findings by target, in turns of some thousand inputs each, until the time or the count is over."""
    end = time.monotonic() + 60 * minutes
    for turn in itertools.count():
        start = turn * most
        if time.monotonic() >= end or (count is not None and start >= count):
            return
        numbers = range(start, start + most if count is None else min(count, start + most))
        for name in targets:
            left = (end - time.monotonic()) / 60
            if left > 0:
                yield name, fuzzed(name, seed, numbers, minutes=left)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; the exit code is 1 if a mistake was found."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, help="of the clock (default 2, or as long as --count takes)")
    parser.add_argument("--count", type=int, help="inputs of each target (default: as many as the time allows)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", nargs="+", choices=list(TARGETS), default=list(TARGETS), help="default: all")
    parser.add_argument("--number", type=int, help="try one input again, in this process, with its traceback")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="folder for mistakes (default out/fuzz)")
    given = parser.parse_args(arguments)
    if given.number is not None:
        return _again(given.target[0], given.seed, given.number)
    minutes = given.minutes if given.minutes is not None else 2 if given.count is None else float("inf")
    totals = {name: Findings() for name in given.target}
    for name, found in _rounds(given.target, given.seed, minutes, given.count, 2000):
        own = totals[name]
        own.counts += found.counts
        own.repeats += found.repeats
        own.slowest = max(own.slowest, found.slowest)
        for key, outcome in found.mistakes.items():
            if key not in own.mistakes:
                own.mistakes[key] = outcome
                path = _keep(name, given.seed, outcome, given.keep)
                print(f"{name} {outcome.number}: {outcome.outcome}: {outcome.problem[:120]} {outcome.place} -> {path}")
                sys.stdout.flush()
        # after each turn, so that a run that is ended has what it did until then
        given.keep.mkdir(parents=True, exist_ok=True)
        (given.keep / "table.txt").write_text(_table(totals), encoding="utf-8")
    print(f"\n{_table(totals)}", end="")
    return int(not all(own.is_clean for own in totals.values()))


def _table(totals: Mapping[str, Findings]) -> str:
    lines = [f"{'target':<12}" + "".join(f"{what:>10}" for what in (*OUTCOMES, "slowest"))]
    for name, own in totals.items():
        cells = "".join(f"{own.counts[what]:>10}" for what in OUTCOMES)
        lines.append(f"{name:<12}{cells}{own.slowest:>8.1f} s")
    return "\n".join(lines) + "\n"


def _again(name: str, seed: int, number: int) -> int:
    target = TARGETS[name]()
    given = target.made(seed, number)
    shown = target.shown(given)
    print(shown if isinstance(shown, str) else shown.decode("utf-8", "backslashreplace"))
    with tempfile.TemporaryDirectory(prefix="pliant-fuzz-") as folder:
        outcome = outcome_of(target, given, Path(folder), number)
    print(f"{outcome.outcome}: {outcome.problem}\n{outcome.trace}")
    return int(outcome.outcome in MISTAKES)


if __name__ == "__main__":
    sys.exit(main())
