"""A run of several benchmarks as one document: results, failed checks, date, processor and versions."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from pliant.compiler import native

__all__ = ["BENCHMARKS", "RESULTS", "ROOT", "measured"]

BENCHMARKS = (
    "dynamics", "constrained", "flexible", "contact", "loops", "growth", "single", "cold_start", "default_contacts"
)  # fmt: skip
WITH_JIMINY = ("contact", "flexible")
ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "bench.json"
_PACKAGES = {"numpy": "numpy", "llvmlite": "llvmlite", "pin": "pin", "mujoco": "mujoco-core"}


def measured(names: Sequence[str], *, is_short: bool = False, has_jiminy: bool = False) -> dict[str, Any]:
    """Run benchmarks, say what failed, and keep the document in `RESULTS`."""
    run: dict[str, Any] = {**about(), "short": is_short, "results": {}, "failures": []}
    for name in names:
        begin = time.perf_counter()
        print(f"\n==== bench.{name}", flush=True)
        output = RESULTS.with_suffix("") / f"{name}.json"
        output.unlink(missing_ok=True)
        command = [sys.executable, "-m", f"bench.{name}", "--output", str(output)]
        command += ["--short"] * is_short + ["--jiminy"] * (has_jiminy and name in WITH_JIMINY)
        code = subprocess.run(command, cwd=ROOT).returncode
        if output.exists():
            found = json.loads(output.read_text(encoding="utf-8"))
            run["results"][name] = found
            run["failures"] += [f"bench.{name}: {failure}" for failure in found["failures"]]
        else:
            run["failures"].append(f"bench.{name} ended with code {code} and no results")
        print(f"---- {time.perf_counter() - begin:.0f} s", flush=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(run, indent=1), encoding="utf-8")
    print(f"\n{len(run['failures'])} checks failed; results are in {RESULTS.relative_to(ROOT)}")
    print("".join(f"  {failure}\n" for failure in run["failures"]), end="", flush=True)
    return run


def about() -> dict[str, Any]:
    """When, on what and with what."""
    vectors = {64: "AVX-512", 32: "AVX"}.get(native.machine().vector_bytes, "128-bit vectors")
    versions = {"python": platform.python_version()} | {
        name: metadata.version(package) for name, package in _PACKAGES.items()
    }
    return {
        "date": date.today().isoformat(),
        "processor": f"{_processor()} ({native.machine().cpu}, {vectors})",
        "cores": len(os.sched_getaffinity(0)),
        "versions": versions,
        "commit": _commit(),
    }


def _processor() -> str:
    """Its name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def _commit() -> str:
    """The version that is measured; empty outside of a repository."""
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return asked.stdout.strip()
