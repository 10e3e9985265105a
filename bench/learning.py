"""How long policies take to learn their tasks: time and steps to success, and how well they do on other starts.

    python -m bench.learning [--tasks quadruped hopper] [--seeds 0 1 2] [--threads 1] [--minutes 3] [--json]

Time is that of the processor, on all threads, without that of the judge. "first" is the first judgement that is a
success, "held" the second in a row, which ends the training; a policy is judged every 2.5 s on its mean action, with
256 robots for 10 s from starts that training does not see. Then the policy is judged once more: on 1024 other starts,
and in float64 with the default tolerance of the contacts and the default Coriolis forces: "falls" and "inside", robots
whose own mean velocity is within the tolerances, of so many. Checked: success held, and no fall of 1024.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from bench.report import Report, failed, options_of
from bench.tables import Row
from pliant import learn, tasks

TASKS = ("quadruped", "hopper", "go2", "biped")
_OTHERS = 7_000_000


def main() -> None:
    """Train, and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--tasks", nargs="+", choices=list(tasks.tasks()), default=list(TASKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=3.0, help="of one training at most")
    parser.add_argument("--every", type=float, default=2.5, help="time from one judgement to the next [s]")
    parser.add_argument("--settings", nargs="*", default=[], metavar="NAME=NUMBER", help="of the learner")
    options = parser.parse_args()
    if options.short:
        options.tasks, options.seeds, options.minutes = options.tasks[:1], options.seeds[:1], 0.1
    report = Report(options, threads=options.threads)
    title = f"learning, {options.threads} threads; processor time [s] and control steps [M]"
    parts = {f"{name} {seed}": partial(rows, name, seed, options) for name in options.tasks for seed in options.seeds}
    report.table("learning", title, parts)
    report.finish()


def rows(name: str, seed: int, options: Any) -> Iterator[Row]:
    """One training."""
    task = tasks.task(name)
    env = tasks.make(name, seed=seed, threads=options.threads)
    env.reset(seed=seed)
    env.step(np.zeros((env.batch, env.action_size)))  # what is compiled is no part of the time
    assert task.judge is not None
    judge = task.judge(seed=1000 + seed)
    settings = {
        key: float(value) if "." in value else int(value) for key, value in (s.split("=") for s in options.settings)
    }
    training = learn.ppo(
        env, minutes=options.minutes, seed=seed, threads=options.threads, judge=judge, judge_every=options.every,
        clock="processor", show=False, **{**task.settings, **settings},
    )  # fmt: skip
    judged = [row for row in training.history if "judge/success" in row]
    first = next((row for row in judged if row["judge/success"]), None)
    has_held = training.ended == "success"
    others = task.judge(seed=_OTHERS + seed, robots=1024)(training.policy).report
    exact = task.judge(seed=_OTHERS + seed, precision="float64", tolerance=None, coriolis="middle")(
        training.policy
    ).report
    fault = "" if has_held else "no success that held"
    fault = fault or (f"{others['falls']} falls of {others['robots']}" if others["falls"] else "")
    yield {
        "task": name, "seed": seed,
        "first": None if first is None else first["seconds"],
        "held": training.seconds if has_held else None,
        "steps": training.steps / 1e6,
        "us a step": training.seconds / training.steps * 1e6,
        **{share: f"{part:.0%}" for share, part in training.shares.items()},
        "falls of 1024": others["falls"], "inside of 1024": others["inside"],
        "falls, float64": exact["falls"], "inside, float64": f"{exact['inside']} of {exact['robots']}",
        **failed(f"{name} {seed}", "" if options.short else fault),
    }  # fmt: skip


if __name__ == "__main__":
    main()
