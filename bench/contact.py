"""Speed of a step with contact next to MuJoCo and Jiminy, on one thread, in one run that checks what it times.

    python -m bench.contact [--json] [--short] [--scenes anymal g1_thrash] [--batch 4096] [--steps 25] [--jiminy]

Times are of the processor, per step and robot, the best of several turns. All simulate the same robot: MuJoCo's model
is made from Pliant's, and its mass matrix, bias forces and points of contact are compared; limits of effort and joints
and dry friction are on in both. Robots that stand must carry their weight to 1e-3; how fast they sink and their feet
slip is in the table. Of MuJoCo's integrators, cones of friction and search for islands, the fastest for the scene is
taken; "hard" has its friction made harder. MuJoCo takes one robot after the other, so its batch is at most 1024.

"slowest" are the iterations of the slowest lane of a group, "> 1e-09" the share of steps whose residual is above that
[m/s], "unconverged" the share that ran out of iterations: at rest, or thrown about; "settling" from the start on.
`--jiminy` installs Jiminy, once, in an environment of its own under build/; where it is there already, it is measured.
"""

import argparse
import os
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from time import process_time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco

from bench import jiminy_peer
from bench.contact_scene import ContactScene, Standing
from bench.convergence import COLUMNS
from bench.mujoco_model import HARD
from bench.mujoco_peer import MujocoPeer, fastest_settings
from bench.pliant_side import PliantSide
from bench.report import Report, failed, options_of
from bench.scenes import SCENES, scene
from bench.tables import Row
from bench.timing import best_times

THRASH_STEPS = 100
"""Steps per call under random targets: long enough to land and leave again."""
LONGEST = 6.0
"""Time for turns of one simulator on one scene [s]."""
PRECISIONS = ("float64", "float32")
SHORT = ("go2", "g1", "go2_thrash")
"""Scenes of a short run, unless others are named."""


def main() -> None:
    """Run the benchmark and print tables or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=25, help="of one call, where robots stand")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each simulator; the best counts")
    parser.add_argument("--jiminy", action="store_true", help="install Jiminy if it is not there")
    options = parser.parse_args()
    options.has_jiminy = options.jiminy or jiminy_peer.is_installed()
    if options.short:
        options.batch, options.steps, options.rounds = 64, 10, 1
        options.scenes = [name for name in options.scenes if name in SHORT] or options.scenes
    about = {"mujoco": mujoco.__version__, "jiminy": jiminy_peer.VERSION if options.has_jiminy else None}
    report = Report(options, batch=options.batch, scenes={}, **about)
    for name in options.scenes:
        title = f"{name}; time per step and robot [us], batch of {options.batch}, one thread"
        report.table(name, title, {name: partial(measured, name, report)})
    title = f"all scenes; time per step and robot [us]; x: how many times as fast as MuJoCo {mujoco.__version__}"
    report.table("summary", title, {name: partial(summary, name, report) for name in options.scenes})
    report.finish()


def measured(name: str, report: Report) -> Iterator[Row]:
    """A row for each simulator and way of calling it."""
    options, subject = report.options, scene(name)
    variant, settings = fastest_settings(subject, is_short=options.short)
    chosen = ", ".join(f"{setting} {t:.1f}" for setting, t in settings.items())
    dofs, points = subject.robot.nv, len(subject.points)
    report.say(f"{dofs} dof, {points} points, dt {subject.dt * 1e3:g} ms; MuJoCo with its settings [us]: {chosen}")
    report.results["scenes"][name] = {"dofs": dofs, "points": points, "settings": settings}
    peer, hard = MujocoPeer(subject, variant), MujocoPeer(subject, HARD)
    sides: dict[str, Any] = {"mujoco rollout": peer, "mujoco Batch": peer, "mujoco hard": hard}
    sides |= {f"pliant {precision}": PliantSide(subject, precision) for precision in PRECISIONS}
    times = step_times(subject, sides, options)
    base = times["pliant float64"]
    for who, t in times.items():
        side = sides[who]
        found = row(who, str(getattr(side, "variant", "")), t, base, side.standing, side.sample)
        marks = failed(f"{name}, {who}", side.fault)
        # harder friction may make robots fall, which is no fault of the comparison: nothing refers to that row
        yield found | ({"note": marks.get("failed")} if who == "mujoco hard" else marks)
    if options.has_jiminy and subject.standing:
        yield from jiminy_rows(subject, base)


def step_times(subject: ContactScene, sides: dict[str, Any], options: argparse.Namespace) -> dict[str, float]:
    """Time per step and robot [s] of the simulators by name, in turns; MuJoCo's "Batch" is called as such."""
    steps = options.steps if subject.standing else THRASH_STEPS
    calls, sizes = {}, {}
    for who, side in sides.items():
        sizes[who] = min(options.batch, 1024) if who.startswith("mujoco") else options.batch
        calls[who] = (side.batch if who == "mujoco Batch" else side.rollout)(sizes[who], steps)
    turns = best_times(calls, rounds=options.rounds, most=LONGEST, clock=process_time)
    return {who: t / (sizes[who] * steps) for who, t in turns.items()}


def jiminy_rows(subject: ContactScene, base: float) -> Iterator[Row]:
    """Jiminy as its users run it, with a controller in Python, and without the time that takes."""
    result = jiminy_peer.measure(subject)
    standing = result["standing"]
    wrong = failed(f"{subject.name}, Jiminy", standing.fault)
    yield row("jiminy", "Euler, constraint, PD in Python", result["time"], base, standing, {}) | wrong
    engine = result["time"] - result["controller"]
    yield row("jiminy engine", "the same without the PD's time", engine, base, standing, {}) | wrong


def row(name: str, settings: str, t: float, base: float, standing: Standing | None, sample: dict[str, Any]) -> Row:
    """Results of one simulator; the ratio is its time over Pliant's in float64."""
    return {
        "simulator": name,
        "settings": settings,
        "us": t * 1e6,
        "steps/s": round(1 / t),
        "ratio": t / base,
        **(asdict(standing) if standing else dict.fromkeys(Standing.__annotations__)),
        **{key: sample.get(key) for key in ("contacts", "deepest", *COLUMNS)},
    }


def summary(name: str, report: Report) -> list[Row]:
    """A scene in one row; what failed has been counted."""
    rows, about = report.results[name], report.results["scenes"].get(name, {})
    by = {r["simulator"]: r for r in rows if "simulator" in r}
    theirs = min((by[who]["us"] for who in ("mujoco rollout", "mujoco Batch") if who in by), default=None)
    found: Row = {"scene": name, "dofs": about.get("dofs"), "points": about.get("points")}
    found |= {"jiminy": by.get("jiminy engine", {}).get("us"), "mujoco": theirs}
    for precision in PRECISIONS:
        t = by.get(f"pliant {precision}", {}).get("us")
        found |= {precision: t, f"x {precision}": theirs / t if theirs and t else None}
    found |= {key: by.get("pliant float64", {}).get(key) for key in COLUMNS}
    marked = any(r.get("failed") for r in rows)
    return [found | ({"note": f"{name}: a check failed, see above"} if marked else {})]


if __name__ == "__main__":
    main()
