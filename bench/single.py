"""One robot, stepped by a loop in Python: `sim.step(u)` next to `mujoco.mj_step`.

    python -m bench.single [--json] [--short] [--scenes go2 g1 anymal] [--steps 200]

Times are of the processor, per step, the best of many turns of so many steps; robots stand. "u as a list" is a step
whose controls are a list, "diagnostics" reads `sim.diagnostics` after each step. Of MuJoCo's settings the fastest is
taken. "x" is how many times as fast as `mj_step`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import mujoco

from bench.mujoco_peer import MujocoPeer, fastest_settings
from bench.pliant_side import PliantSide
from bench.report import Report, failed, options_of
from bench.scenes import SCENES, scene
from bench.tables import Row
from bench.timing import best_times


def main() -> None:
    """Run the benchmark and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=["go2", "g1", "anymal"])
    parser.add_argument("--steps", type=int, default=200, help="of one turn")
    options = parser.parse_args()
    if options.short:
        options.scenes, options.steps = options.scenes[:1], 50
    report = Report(options, mujoco=mujoco.__version__)
    title = f"one robot from Python, time per step [us], next to MuJoCo {mujoco.__version__}"
    report.table("single", title, {name: partial(rows, name, report) for name in options.scenes})
    report.finish()


def rows(name: str, report: Report) -> Iterator[Row]:
    """A row for each way to step one robot."""
    subject, steps, is_short = scene(name), report.options.steps, report.options.short
    variant, _ = fastest_settings(subject, is_short=is_short)
    sides: dict[str, Any] = {"mj_step": MujocoPeer(subject, variant, robots=8)}
    sides |= {f"step {precision}": PliantSide(subject, precision, robots=8) for precision in ("float64", "float32")}
    calls: dict[str, Callable[[], Any]] = {who: side.single(steps) for who, side in sides.items()}
    ours = sides["step float64"]
    calls |= {"u as a list": ours.single(steps, is_list=True), "diagnostics": ours.single(steps, is_diagnosed=True)}
    times = best_times(calls, rounds=2 if is_short else 20, clock=process_time)
    for who, t in times.items():
        side = sides.get(who, ours)
        settings = str(getattr(side, "variant", ""))
        found: Row = {"scene": name, "way": who, "settings": settings, "us": t / steps * 1e6, "x": times["mj_step"] / t}
        yield found | failed(f"{name}, {who}", side.fault)


if __name__ == "__main__":
    main()
