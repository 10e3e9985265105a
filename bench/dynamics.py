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
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio as pin

import pliant
from bench.robots import ROBOTS, Subject, subject, urdf_path
from bench.timing import best_times

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}


def main() -> None:
    """Run the benchmark and print tables or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--batch", type=int, default=4096)
    options = parser.parse_args()
    say = (lambda *_: None) if options.json else print

    results: dict[str, Any] = {"batch": options.batch, "dynamics": [], "derivatives": [], "start": []}
    say(f"time per robot, batch of {options.batch}, one thread; ratio to Pinocchio {pin.__version__} called from Python")
    say(_row("robot", "function", "pin [us]", "f64 [us]", "ratio", "f32 [us]", "ratio", "single [us]", "ratio", "ops", "error"))
    for name in options.robots:
        for row in dynamics(subject(name, options.batch)):
            results["dynamics"].append(row)
            say(_row(
                row["robot"], row["function"], row["pinocchio"], row["float64"], row["ratio float64"], row["float32"],
                row["ratio float32"], row["single"], row["ratio single"], row["operations"], row["error float64"],
            ))  # fmt: skip
    say("\nderivatives of forward dynamics by q, v and tau together (Pinocchio: computeABADerivatives)")
    say(_row("robot", "", "pin [us]", "f64 [us]", "ratio", "", "", "", "", "ops", "error"))
    for name in options.robots:
        row = derivatives(subject(name, min(options.batch, 1024)))
        results["derivatives"].append(row)
        say(_row(row["robot"], "", row["pinocchio"], row["float64"], row["ratio"], "", "", "", "", row["operations"], row["error"]))
    say("\nfrom nothing to forward dynamics in a new process [s]")
    say(_row("robot", "", "import", "load", "cold", "cached", "", "", "", "", ""))
    for name in options.robots:
        row = start(name)
        results["start"].append(row)
        say(_row(name, "", row["import"], row["load"], row["cold"], row["cached"], "", "", "", "", ""))
    if options.json:
        print(json.dumps(results, indent=1))


def _row(*cells: Any) -> str:
    widths = (7, 17, 9, 9, 7, 9, 7, 11, 7, 7, 8)
    return " ".join(_cell(c).rjust(w) if k > 1 else _cell(c).ljust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True)))


def _cell(c: Any) -> str:
    if not isinstance(c, float):
        return str(c)
    return f"{c:.0e}" if 0 < c < 1e-4 else f"{c:.1f}" if c >= 10 else f"{c:.3f}"


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
    contenders = {"pinocchio": lambda: [reference(*state) for state in states]}
    row: dict[str, Any] = {"robot": s.name, "function": name}
    for precision in ("float64", "float32"):
        kernel = pliant.compile(function, s.robot, precision=precision)
        arrays = [a.astype(precision) for a in (s.q, s.v, s.tau)[: len(kernel.inputs)]]
        out = np.empty_like(kernel(*arrays))
        kernel(*arrays, out=out)
        error = float(np.abs(out[: len(states)] - expected).max() / np.abs(expected).max())
        if not error < TOLERANCE[precision]:
            raise SystemExit(f"{s.name} {name} {precision}: error {error:.1e}, not timed")
        row[f"error {precision}"] = error
        contenders[precision] = lambda kernel=kernel, arrays=arrays, out=out: kernel(*arrays, out=out)
        if precision == "float64":
            row["operations"] = sum(kernel.operations().values())
            one, single = [a[0].copy() for a in arrays], np.empty_like(out[0])
            contenders["single"] = lambda kernel=kernel, one=one, single=single: kernel(*one, out=single)
    best = best_times(contenders)
    row["pinocchio"] = best["pinocchio"] / len(states) * 1e6
    row["single"] = best["single"] * 1e6
    for precision in ("float64", "float32"):
        row[precision] = best[precision] / len(s.q) * 1e6
    for what in ("float64", "float32", "single"):
        row[f"ratio {what}"] = row["pinocchio"] / row[what]
    return row


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
    return {"robot": s.name, "pinocchio": theirs, "float64": ours, "ratio": theirs / ours, "operations": operations, "error": error}


_START = """
import json, sys, time
import numpy
t0 = time.perf_counter()
import pliant
t1 = time.perf_counter()
import llvmlite.binding  # imported by the first compilation; not counted as ours
t2 = time.perf_counter()
robot = pliant.load_urdf(sys.argv[1], base=sys.argv[2])
t3 = time.perf_counter()
kernel = pliant.compile(pliant.forward_dynamics, robot)
kernel(robot.neutral(), numpy.zeros(robot.nv), numpy.zeros(robot.nv))
t4 = time.perf_counter()
print(json.dumps({"import": t1 - t0, "llvmlite": t2 - t1, "load": t3 - t2, "total": t4 - t2}))
"""


def start(name: str) -> dict[str, float]:
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
    }  # type: ignore[dict-item]


def _process(name: str, folder: str) -> dict[str, float]:
    command = [sys.executable, "-c", _START, str(urdf_path(name)), ROBOTS[name][1]]
    environment = {**os.environ, "PLIANT_CACHE_DIR": folder}
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
