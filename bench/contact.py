"""Speed of a step with contact next to MuJoCo and Jiminy, on one thread, in one run that checks what it times.

    python -m bench.contact [--json] [--scenes anymal thrash] [--batch 4096] [--steps 25] [--jiminy]

Times are of the processor, per step and robot, the best of several turns. All simulate the same robot: MuJoCo's model
is made from Pliant's, and its mass matrix, bias forces and points of contact are compared. Robots that stand must carry
their weight to 1e-3; how fast they sink and their feet slip is in the table. Of MuJoCo's integrators, cones of friction
and search for islands, the fastest for the scene is taken; "hard" has its friction made harder. `--jiminy` installs
Jiminy, once, in an environment of its own under build/.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from time import process_time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco

from bench import jiminy_peer
from bench.mujoco_model import HARD, VARIANTS, Variant
from bench.mujoco_peer import MujocoPeer
from bench.pliant_side import PliantSide
from bench.scenes import SCENES, ContactScene, Standing, scene
from bench.tables import table
from bench.timing import best_times

THRASH_STEPS = 100
"""Steps per call under random targets: long enough to land and leave again."""


def main() -> None:
    """Run the benchmark and print tables or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=25, help="of one call, where robots stand")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each simulator; the best counts")
    parser.add_argument("--jiminy", action="store_true", help="measure Jiminy too; installs it once")
    options = parser.parse_args()
    say: Callable[[str], None] = (lambda _: None) if options.json else (lambda text: print(text, flush=True))
    results: dict[str, Any] = {"batch": options.batch, "mujoco": mujoco.__version__}
    for name in options.scenes:
        subject = scene(name)
        title = f"{name}: {subject.robot.nv} dof, {len(subject.points)} points, dt {subject.dt * 1e3:g} ms"
        variant, times = fastest(subject)
        chosen = ", ".join(f"{setting} {t:.1f}" for setting, t in times.items())
        say(f"\nMuJoCo {mujoco.__version__} on {name}, batch of 256, its settings [us]: {chosen}")
        title += f"; time per step and robot [us], batch of {options.batch}, one thread"
        rows = measured(subject, variant, options)
        results[name] = {"settings": times, "rows": table(say, title, rows)}
    if options.json:
        print(json.dumps(results, indent=1))


def fastest(subject: ContactScene, *, batch: int = 256, steps: int = 25) -> tuple[Variant, dict[str, float]]:
    """The settings with which MuJoCo takes least time for the scene and still stands, and all their times [us]."""
    calls, variants = {}, {}
    for variant in VARIANTS:
        peer = MujocoPeer(subject, variant, robots=16)
        if peer.standing is None or peer.standing.holds:
            calls[str(variant)], variants[str(variant)] = peer.rollout(batch, steps), variant
    if not calls:
        raise SystemExit(f"{subject.name}: MuJoCo does not stand with any settings")
    times = {name: t / (batch * steps) * 1e6 for name, t in best_times(calls, rounds=5, clock=process_time).items()}
    return variants[min(times, key=times.__getitem__)], times


def measured(subject: ContactScene, variant: Variant, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each simulator and way of calling it."""
    batch, steps = options.batch, options.steps if subject.standing else THRASH_STEPS
    peer, hard = MujocoPeer(subject, variant), MujocoPeer(subject, HARD)
    ours = {p: PliantSide(subject, p) for p in ("float64", "float32")}
    sides: dict[str, Any] = {"mujoco rollout": peer, "mujoco Batch": peer, "mujoco hard": hard, "mujoco mj_step": peer}
    calls = {
        "mujoco rollout": peer.rollout(batch, steps),
        "mujoco Batch": peer.batch(batch, steps),
        "mujoco hard": hard.rollout(batch, steps),
    }
    if hard.standing is not None and not hard.standing.holds:  # harder friction may make robots fall
        del sides["mujoco hard"], calls["mujoco hard"]
    single = {"mujoco mj_step": peer.single(200)}
    for precision, side in ours.items():
        sides[f"pliant {precision}"] = side
        calls[f"pliant {precision}"] = side.rollout(batch, steps)
    sides["pliant step"] = ours["float64"]
    single["pliant step"] = ours["float64"].single(200)
    for name, side in sides.items():
        if side.standing is not None:
            side.standing.check(f"{subject.name}, {name}")
    times = {
        name: t / (batch * steps) for name, t in best_times(calls, rounds=options.rounds, clock=process_time).items()
    }
    times |= {name: t / 200 for name, t in best_times(single, rounds=20, clock=process_time).items()}
    base = times.get("pliant float64")
    for name, t in times.items():
        side = sides[name]
        yield row(name, str(getattr(side, "variant", "")), t, base, side.standing, getattr(side, "sample", None))
    if options.jiminy and subject.standing:
        yield from jiminy_rows(subject, base)


def jiminy_rows(subject: ContactScene, base: float | None) -> Iterator[dict[str, Any]]:
    """Jiminy as its users run it, with a controller in Python, and without the time that takes."""
    result = jiminy_peer.measure(subject)
    standing = result["standing"]
    standing.check(f"{subject.name}, Jiminy")
    yield row("jiminy", "Euler, constraint, PD in Python", result["time"], base, standing, None)
    engine = result["time"] - result["controller"]
    yield row("jiminy engine", "the same without the PD's time", engine, base, standing, None)


def row(
    name: str, settings: str, t: float, base: float | None, standing: Standing | None, sample: dict[str, float] | None
) -> dict[str, Any]:
    """Results of one simulator; the ratio is its time over Pliant's in float64."""
    return {
        "simulator": name,
        "settings": settings,
        "us": t * 1e6,
        "steps/s": round(1 / t),
        "ratio": None if base is None else t / base,
        **(asdict(standing) if standing else dict.fromkeys(Standing.__annotations__)),
        **(sample or dict.fromkeys(("iterations", "contacts", "residual", "deepest"))),
    }


if __name__ == "__main__":
    main()
