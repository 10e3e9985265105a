"""Speed of the dynamics next to Pinocchio, on one thread, in one run that checks what it times.

    python -m bench.dynamics [--json] [--robots panda anymal] [--batch 4096]

Times are per robot. Pinocchio is called from Python, one state after the other, as its users do.
"""

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
from bench.report import Report, failed, options_of
from bench.robots import ROBOTS, Subject, subject, urdf_path
from bench.tables import Row
from bench.timing import best_times

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}


def main() -> None:
    """Run the benchmark and print tables or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--batch", type=int, default=4096)
    options = parser.parse_args()
    if options.short:
        options.robots, options.batch = options.robots[:2], 256
    report = Report(options, batch=options.batch)
    title = (
        f"time per robot [us], batch of {options.batch}, one thread; ratios to Pinocchio {pin.__version__} from Python"
    )
    report.table("dynamics", title, {name: partial(dynamics, name, options.batch) for name in options.robots})
    title = "derivatives of forward dynamics by q, v and tau together [us]"
    report.table("derivatives", title, {name: partial(derivatives, name, options.batch) for name in options.robots})
    title = "a new process: import pliant, load the robot, load to first result without and with the cache [s]"
    report.table("start", title, {name: partial(start, name) for name in options.robots})
    report.finish()


def dynamics(name: str, batch: int) -> list[Row]:
    """Forward and inverse dynamics and the mass matrix."""
    s = subject(name, batch)
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


def _one(s: Subject, name: str, reference: Any, checked: Any) -> Row:
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
        contenders[precision] = partial(kernel, *arrays, out=out)
        if precision == "float64":
            operations = sum(kernel.operations().values())
            contenders["single"] = partial(kernel, *(a[0].copy() for a in arrays), out=out[0].copy())
    best = best_times(contenders)
    ours = {p: best[p] / len(s.q) * 1e6 for p in ("float64", "float32")} | {"single": best["single"] * 1e6}
    theirs = best["pinocchio"] / len(states) * 1e6
    row: Row = {"robot": s.name, "dofs": s.robot.nv, "function": name, "pinocchio": theirs}
    for what, t in ours.items():
        row |= {what: t, "ratio" if what == "float64" else f"ratio {what}": theirs / t}
    wrong = [f"{p} error {e:.1e}" for p, e in errors.items() if not e < TOLERANCE[p]]
    row |= {"operations": operations, "error": errors["float64"], "error float32": errors["float32"]}
    return row | failed(f"{s.name} {name}", ", ".join(wrong))


def derivatives(name: str, batch: int) -> list[Row]:
    """All derivatives of forward dynamics."""
    s = subject(name, min(batch, 1024))
    kernel = pliant.jacobian(pliant.forward_dynamics, s.robot, wrt=("q", "v", "tau"))
    out = tuple(kernel(s.q, s.v, s.tau))
    states = [(s.q[k], s.v[k], s.tau[k]) for k in range(min(64, len(s.q)))]
    error = 0.0
    for k, state in enumerate(states):
        pin.computeABADerivatives(s.model, s.data, *state)
        inverse = np.triu(s.data.Minv) + np.triu(s.data.Minv, 1).T
        for found, expected in zip(out, (s.data.ddq_dq, s.data.ddq_dv, inverse), strict=True):
            error = max(error, float(np.abs(found[k] - expected).max() / np.abs(expected).max()))
    best = best_times(
        {
            "pinocchio": lambda: [pin.computeABADerivatives(s.model, s.data, *state) for state in states],
            "pliant": lambda: kernel(s.q, s.v, s.tau, out=out),
        }
    )
    theirs, ours = best["pinocchio"] / len(states) * 1e6, best["pliant"] / len(s.q) * 1e6
    operations = sum(kernel.operations().values())
    row: Row = {"robot": s.name, "pinocchio": theirs, "float64": ours, "ratio": theirs / ours}
    row |= {"operations": operations, "error": error}
    return [row | failed(f"{s.name} derivatives", "" if error < 1e-7 else f"error {error:.1e}")]


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


def start(name: str) -> list[Row]:
    """Time of a new process to import, load and compile: without and with the disk cache."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [_process(name, folder) for _ in range(4)]
    cached = min(runs[1:], key=lambda run: run["total"])
    row = {
        "robot": name,
        "import": min(run["import"] for run in runs),
        "load": min(run["load"] for run in runs),
        "cold": runs[0]["total"],
        "cached": cached["total"],
    }
    return [row]


def _process(name: str, folder: str) -> dict[str, float]:
    command = [sys.executable, "-c", _START, str(urdf_path(name)), ROBOTS[name]]
    environment = {**os.environ, "PLIANT_CACHE_DIR": folder}
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
