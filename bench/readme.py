"""Write the tables of docs/benchmarks.md and the headline of README.md from one run of all benchmarks.

    python -m bench.readme [--jiminy]                    runs them, then writes
    python -m bench.readme --results build/bench.json    writes those of a run that is done

A table stands between `<!-- bench NAME -->` and `<!-- /bench NAME -->`; what is between is replaced. The pages are
written also where a check failed: its row says so, and the exit code is 1. `--short` tries the command; its numbers
mean nothing.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.readme_tables import BLOCKS
from bench.report import CheckError
from bench.whole_run import BENCHMARKS, ROOT, measured

__all__ = ["PAGES", "written"]

PAGES = {"README.md": ["headline"], "docs/benchmarks.md": [name for name in BLOCKS if name != "headline"]}
"""What is written where."""


def main() -> None:
    """Run the benchmarks unless there are results, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, metavar="FILE", help="take those of a run that is done")
    parser.add_argument("--short", action="store_true", help="less of everything: to see that it works")
    parser.add_argument("--jiminy", action="store_true", help="install Jiminy if it is not there")
    options = parser.parse_args()
    if options.results is None:
        run = measured(BENCHMARKS, is_short=options.short, has_jiminy=options.jiminy)
    else:
        run = json.loads(options.results.read_text(encoding="utf-8"))
    for name, blocks in PAGES.items():
        path = ROOT / name
        path.write_text(written(path.read_text(encoding="utf-8"), run, blocks), encoding="utf-8")
        print(f"wrote {len(blocks)} blocks of {name}: look at them before you commit")
    sys.exit(1 if run["failures"] else 0)


def written(page: str, run: dict[str, Any], blocks: Iterable[str] = BLOCKS) -> str:
    """A page with these blocks of the run; a block within a line stays within it."""
    missing = [name for name in BENCHMARKS if name not in run["results"]]
    if missing:
        raise CheckError(f"the tables are to be from one run, and this one has no {', '.join(missing)}")
    for name in blocks:
        between = re.compile(rf"(<!-- bench {name} -->)(\n?).*?(<!-- /bench {name} -->)", re.S)
        text = BLOCKS[name](run)
        page, count = between.subn(lambda m, text=text: f"{m[1]}{m[2]}{text}{m[2]}{m[3]}", page)
        if count != 1:
            raise CheckError(f"the page has {count} blocks {name!r}, and is to have one")
    return page


if __name__ == "__main__":
    main()
