"""Speed of the dynamics next to Pinocchio, on one thread, in one run that checks what it times.

    python -m bench.dynamics [--json] [--robots panda anymal] [--batch 4096]

Times are per robot. Pinocchio is called from Python, one state after the other, as its users do.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio as pin

import pliant
from bench.robots import ROBOTS, Subject, subject, urdf_path
from bench.tables import table
from bench.timing import best_times

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}


def main() -> None:
    """Run the benchmark and print tables or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--batch", type=int, default=4096)
    options = parser.parse_args()
    say: Callable[[str], None] = (lambda _: None) if options.json else (lambda text: print(text, flush=True))
    results: dict[str, Any] = {"batch": options.batch}
    title = (
        f"time per robot [us], batch of {options.batch}, one thread; ratios to Pinocchio {pin.__version__} from Python"
    )
    rows = (row for name in options.robots for row in dynamics(subject(name, options.batch)))
    results["dynamics"] = table(say, title, rows)
    rows = (derivatives(subject(name, min(options.batch, 1024))) for name in options.robots)
    results["derivatives"] = table(say, "derivatives of forward dynamics by q, v and tau together [us]", rows)
    title = "a new process: import pliant, load the robot, load to first result without and with the cache [s]"
    results["start"] = table(say, title, (start(name) for name in options.robots))
    if options.json:
        print(json.dumps(results, indent=1))


def dynamics(s: Subject) -> list[dict[str, Any]]:
    """Forward and inverse dynamics and the mass matrix."""
    model, data = s.model, s.data

    def symmetric(q, *_):
        upper = np.triu(pin.crba(model, data, q))
        return upper + np.triu(upper, 1).T

    reference = {
        "forward_dynamics": lambda q, v, tau: pin.aba(model, data, q, v, tau),
        "inverse_dynamics": lambda q, v, tau: pin.rnea(model, data, q, v, tau),
        "mass_matrix": lambda q, v, tau: pin.crba(model, data, q),
    }
    checked = {**reference, "mass_matrix": symmetric}
    return [_one(s, name, reference[name], checked[name]) for name in reference]


def _one(s: Subject, name: str, reference: Any, checked: Any) -> dict[str, Any]:
    function = getattr(pliant, name)
    states = [(s.q[k], s.v[k], s.tau[k]) for k in range(min(256, len(s.q)))]
    expected = np.array([checked(*state) for state in states])
    contenders: dict[str, Callable[[], object]] = {"pinocchio": lambda: [reference(*state) for state in states]}
    errors, operations = {}, 0
    for precision in ("float64", "float32"):
        kernel = pliant.compile(function, s.robot, precision=precision)
        arrays = [a.astype(precision) for a in (s.q, s.v, s.tau)[: len(kernel.inputs)]]
        out = kernel(*arrays)
        errors[precision] = float(np.abs(out[: len(states)] - expected).max() / np.abs(expected).max())
        if not errors[precision] < TOLERANCE[precision]:
            raise SystemExit(f"{s.name} {name} {precision}: error {errors[precision]:.1e}, not timed")
        contenders[precision] = partial(kernel, *arrays, out=out)
        if precision == "float64":
            operations = sum(kernel.operations().values())
            contenders["single"] = partial(kernel, *(a[0].copy() for a in arrays), out=out[0].copy())
    best = best_times(contenders)
    ours = {p: best[p] / len(s.q) * 1e6 for p in ("float64", "float32")} | {"single": best["single"] * 1e6}
    theirs = best["pinocchio"] / len(states) * 1e6
    row: dict[str, Any] = {"robot": s.name, "function": name, "pinocchio": theirs}
    for what, t in ours.items():
        row |= {what: t, "ratio" if what == "float64" else f"ratio {what}": theirs / t}
    return row | {"operations": operations, "error": errors["float64"], "error float32": errors["float32"]}


def derivatives(s: Subject) -> dict[str, Any]:
    """All derivatives of forward dynamics."""
    kernel = pliant.jacobian(pliant.forward_dynamics, s.robot, wrt=("q", "v", "tau"))
    out = tuple(kernel(s.q, s.v, s.tau))
    states = [(s.q[k], s.v[k], s.tau[k]) for k in range(min(64, len(s.q)))]
    error = 0.0
    for k, state in enumerate(states):
        pin.computeABADerivatives(s.model, s.data, *state)
        inverse = np.triu(s.data.Minv) + np.triu(s.data.Minv, 1).T
        for found, expected in zip(out, (s.data.ddq_dq, s.data.ddq_dv, inverse), strict=True):
            error = max(error, float(np.abs(found[k] - expected).max() / np.abs(expected).max()))
    if not error < 1e-7:
        raise SystemExit(f"{s.name} derivatives: error {error:.1e}, not timed")
    best = best_times(
        {
            "pinocchio": lambda: [pin.computeABADerivatives(s.model, s.data, *state) for state in states],
            "pliant": lambda: kernel(s.q, s.v, s.tau, out=out),
        }
    )
    theirs, ours = best["pinocchio"] / len(states) * 1e6, best["pliant"] / len(s.q) * 1e6
    operations = sum(kernel.operations().values())
    return {
        "robot": s.name,
        "pinocchio": theirs,
        "float64": ours,
        "ratio": theirs / ours,
        "operations": operations,
        "error": error,
    }


_START = """
import json, sys, time
import numpy
t0 = time.perf_counter()
import pliant
t1 = time.perf_counter()
import llvmlite.binding  # imported by the first compilation; not counted as ours
t2 = time.perf_counter()
robot = pliant.formats.load_urdf(sys.argv[1], base=sys.argv[2])
t3 = time.perf_counter()
kernel = pliant.compile(pliant.forward_dynamics, robot)
kernel(robot.neutral(), numpy.zeros(robot.nv), numpy.zeros(robot.nv))
t4 = time.perf_counter()
print(json.dumps({"import": t1 - t0, "llvmlite": t2 - t1, "load": t3 - t2, "total": t4 - t2}))
"""


def start(name: str) -> dict[str, Any]:
    """Time of a new process to import, load and compile: without and with the disk cache."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [_process(name, folder) for _ in range(4)]
    cached = min(runs[1:], key=lambda run: run["total"])
    return {
        "robot": name,
        "import": min(run["import"] for run in runs),
        "load": min(run["load"] for run in runs),
        "cold": runs[0]["total"],
        "cached": cached["total"],
    }


def _process(name: str, folder: str) -> dict[str, float]:
    command = [sys.executable, "-c", _START, str(urdf_path(name)), ROBOTS[name][1]]
    environment = {**os.environ, "PLIANT_CACHE_DIR": folder}
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
