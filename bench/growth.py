"""How time grows with the size of a robot, next to MuJoCo, on one thread.

    python -m bench.growth [--json] [--short] [--tables chains points] [--batch 4096] [--no-cold]

"chains": joints in a row that swing without contact; time per step and robot, and per joint, in float64; the ratio of
the time per joint to that of the chain of 10 joints; and the time of a new process from the import to the first step
done, with an empty cache [s]. Both simulators must come to the same place. "points": robots that stand on more and
more points, all on one body ("plate") or each on a leg of its own ("legs", with two joints each).
"""

import argparse
import os
import tempfile
from collections.abc import Iterator
from functools import partial
from time import process_time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco
import numpy as np

from bench.cold_start import first_step
from bench.contact import step_times
from bench.contact_scene import ContactScene
from bench.growth_scenes import hanging_chain, many_legs, plate
from bench.loops import Peer, fastest
from bench.mujoco_peer import MujocoPeer, fastest_settings
from bench.pliant_side import PliantSide
from bench.report import Report, failed, options_of
from bench.tables import Row
from bench.timing import best_times

JOINTS = (5, 10, 20, 40, 80)
POINTS = {"plate": (plate, (4, 8, 16, 32)), "legs": (many_legs, (4, 8, 16))}
APART = 1e-6
"""How far the two simulators may end from each other [rad]."""


def main() -> None:
    """Run the benchmark and print tables or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--tables", nargs="+", choices=("chains", "points"), default=["chains", "points"])
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=25, help="of one call")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each simulator; the best counts")
    parser.add_argument("--no-cold", action="store_true", help="leave out the new processes")
    options = parser.parse_args()
    if options.short:
        options.batch, options.steps, options.rounds = 64, 10, 1
    report = Report(options, batch=options.batch, mujoco=mujoco.__version__)
    title = f"time per step and robot [us], batch of {options.batch}, one thread; MuJoCo {mujoco.__version__}"
    if "chains" in options.tables:
        sizes = JOINTS[:3] if options.short else JOINTS
        bases: dict[int, float] = {}
        report.table("chains", f"chains: {title}", {f"{n}": partial(chain_row, n, options, bases) for n in sizes})
    if "points" in options.tables:
        parts = {
            f"{kind} {k}": partial(point_row, kind, k, options)
            for kind, (_, sizes) in POINTS.items()
            for k in (sizes[:1] if options.short else sizes)
        }
        report.table("points", f"points: {title}", parts)
    report.finish()


def chain_row(n: int, options: argparse.Namespace, bases: dict[int, float]) -> Iterator[Row]:
    """A chain of n joints.

    Args:
        bases: time per joint of the chains so far [us]; it is added.
    """
    scene, batch, steps = hanging_chain(n), options.batch, options.steps
    fewer = min(batch, 256)
    sim = scene.simulation(batch)
    sim.reset(q=scene.q)
    q, v, u = np.tile(scene.q, (fewer, 1)), np.zeros((fewer, n)), np.zeros((fewer, steps, 0))
    peer = Peer(scene, fastest(scene, q, v, u, batch=64))
    theirs = peer.rollout(q, v, u)
    out = {name: np.empty((batch, steps, n)) for name in ("q", "v")}
    start = sim.state

    def ours() -> Any:
        return sim.rollout(start, periods=steps, out=out)

    apart = float(np.abs(ours().q[0, -1] - peer.end(theirs())[0]).max())
    turns = best_times({"mujoco": theirs, "pliant": ours}, rounds=options.rounds, most=6, clock=process_time)
    t, other = turns["pliant"] / (batch * steps) * 1e6, turns["mujoco"] / (fewer * steps) * 1e6
    bases[n] = t / n
    found: Row = {"joints": n, "mujoco": other, "pliant": t, "ratio": other / t, "per joint": t / n}
    found |= {"vs 10": bases[n] / bases[10] if 10 in bases else None, "apart": apart}
    if not options.no_cold:
        with tempfile.TemporaryDirectory() as folder:
            cold = first_step(["chain", str(n)], folder)
        found |= {"cold": cold["total"], "cold cpu": cold["cpu"]}
    yield found | failed(f"chain of {n}", "" if apart < APART else f"{apart:.1e} rad apart from MuJoCo")


def point_row(kind: str, k: int, options: argparse.Namespace) -> Iterator[Row]:
    """A robot on k points."""
    subject: ContactScene = POINTS[kind][0](k)
    variant, _ = fastest_settings(subject, is_short=options.short)
    sides: dict[str, Any] = {"mujoco": MujocoPeer(subject, variant), "pliant": PliantSide(subject)}
    t = {who: time * 1e6 for who, time in step_times(subject, sides, options).items()}
    found: Row = {"robot": kind, "points": k, "dofs": subject.robot.nv, **t}
    found |= {"ratio": t["mujoco"] / t["pliant"], "per point": t["pliant"] / k}
    found |= {key: sides["pliant"].sample[key] for key in ("iterations", "slowest", "unconverged", "settling")}
    yield found | failed(f"{kind} {k}", "; ".join(f"{who} {side.fault}" for who, side in sides.items() if side.fault))


if __name__ == "__main__":
    main()
