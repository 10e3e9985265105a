"""All benchmarks, one after the other, each in a new process; what they found is written to build/bench.json.

    python -m bench [--short] [--only contact growth] [--jiminy]

A failed check does not end the run: it is listed at the end, and the exit code is 1. `--jiminy` installs Jiminy, once,
for the benchmarks that compare with it. `python -m bench.readme` also writes docs/benchmarks.md and the headline of
README.md.
"""

import argparse
import sys

from bench.whole_run import BENCHMARKS, measured


def main() -> None:
    """Run them and list what failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="less of everything: to see that it works")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS))
    parser.add_argument("--jiminy", action="store_true", help="install Jiminy if it is not there")
    options = parser.parse_args()
    run = measured(options.only, is_short=options.short, has_jiminy=options.jiminy)
    sys.exit(1 if run["failures"] else 0)


if __name__ == "__main__":
    main()
