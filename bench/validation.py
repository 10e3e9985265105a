"""Known answers: each case of `bench.validation_cases`, with its error, its bound and its reference.

    python -m bench.validation [--only pendulum coin] [--write]

Closed forms, equations written by hand and solved elsewhere, and other libraries. A bound is what the method promises:
for time steps, which are of first order, a few times the step; for integrators their tolerance; for rest and friction
rounding. ``--write`` writes docs/validation.md with its figure. The exit code is 1 if an error is beyond its bound.
"""

import argparse
import platform
import sys
from collections.abc import Sequence
from datetime import date
from importlib import metadata
from pathlib import Path

from bench.tables import table
from bench.validation_cases import CASES, Row

__all__ = ["figure_of", "found", "page"]

ROOT = Path(__file__).parents[1]
Found = dict[str, list[Row]]

_HEAD = """# Validation

Motions that are known, next to what Pliant computes. One command computes all rows, on your machine, too:

```
python -m bench.validation                       # all of them; exit code 1 if one is beyond its bound
python -m bench.validation --only coin bowl
```

References are closed forms, equations of motion written by hand and integrated by SciPy to 1e-13, or other libraries;
the code of each case, thirty lines or less, is in `bench/validation_cases.py`. The default step is of first order, so
its errors shrink with the step (bounds are a few times that); rest, friction and closed loops are
exact up to rounding. Accurate integrators and the event-driven simulation reach the precision of their tolerances.

![Errors next to their bounds](figures/validation.svg)

"""

_TAIL = """
## Where it falls short

- The default step is of first order in time: a double pendulum, which is chaotic, is off by 6e-3 rad after 3 s at
  0.1 ms. For accurate flight take `integrator="dormand-prince"`, for accurate landings [event-driven
  simulation](event_driven.md).
- Landings are late by up to a step.
- Impacts of several contacts at once have no unique answer in rigid-body mechanics; time stepping and event-driven
  simulation may choose different ones. [More on limitations](theory/rigid_contact.md#limitations).
- Random robots on random ground: `python -m bench.soak --random 500` looks for gains of energy and robots that diverge.
"""


def found(names: Sequence[str], *, quiet: bool = False) -> Found:
    """The rows of some cases, shown as they come."""
    say = (lambda text: None) if quiet else print
    results: Found = {}
    for name in names:
        results[name] = list(CASES[name]())
        cells = [
            {
                "method": row.method, "error": f"{row.error:.1e}", "bound": f"{row.bound:.0e}", "unit": row.unit,
                **({} if row.error <= row.bound else {"failed": "beyond its bound"}),
            }
            for row in results[name]
        ]  # fmt: skip
        table(say, f"{name}: {_about(name)}", cells)
    return results


def page(results: Found) -> str:
    """The page of the documentation."""
    text = _HEAD + "| case | | error | bound | |\n|---|---|---|---|---|\n"
    for name, rows in results.items():
        for k, row in enumerate(rows):
            case = f"**{name}**: {_about(name)}" if k == 0 else ""
            mark = "" if row.error <= row.bound else " **beyond its bound**"
            text += f"| {case} | {row.method} | {row.error:.1e}{mark} | {row.bound:.0e} | {row.unit} |\n"
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "llvmlite", "pin"))
    text += f"\nComputed on {date.today():%d %B %Y} with Python {platform.python_version()}, {versions}.\n"
    return text + _TAIL


def figure_of(results: Found, path: Path) -> None:
    """Errors and bounds of all rows, one below the other, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    rows = [(f"{name}, {row.method}", row) for name, rows in results.items() for row in rows][::-1]
    drawn, axes = plt.subplots(figsize=(8, 0.2 * len(rows) + 0.8))
    places = range(len(rows))
    axes.plot([max(row.error, 1e-18) for _, row in rows], places, "o", color="#0072b2", label="error")
    axes.plot([row.bound for _, row in rows], places, "|", color="#d55e00", markersize=9, label="bound")
    axes.set_xscale("log")
    axes.set_yticks(list(places), [label for label, _ in rows], fontsize=7)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower left")
    drawn.tight_layout()
    drawn.savefig(path, metadata={"Date": None})
    plt.close(drawn)


def _about(name: str) -> str:
    """The first line of a case's docstring."""
    return (CASES[name].__doc__ or "").strip().split("\n")[0].rstrip(".")


def main() -> None:
    """Run cases, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES), metavar="CASE")
    parser.add_argument("--write", action="store_true", help="write docs/validation.md and its figure")
    options = parser.parse_args()
    if options.write and options.only != list(CASES):
        parser.error("--write needs all cases: leave out --only")
    results = found(options.only)
    failures = [f"{name}, {row.method}" for name, rows in results.items() for row in rows if not row.error <= row.bound]
    if options.write:
        (ROOT / "docs" / "validation.md").write_text(page(results), encoding="utf-8")
        figure_of(results, ROOT / "docs" / "figures" / "validation.svg")
    print(f"\n{sum(map(len, results.values()))} comparisons, {len(failures)} beyond their bounds")
    for failure in failures:
        print(f"  {failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
