"""How long policies take to learn their tasks: time and steps to success, and how well they do on other starts.

    python -m bench.learning [--tasks quadruped hopper] [--seeds 0 1 2] [--machine] [--threads 1] [--minutes 3] [--json]

Time is that of the processor, on all threads, without that of the judge. "0.6 m/s" is the first judgement at which
robots that are asked for 0.6 m/s ahead have it within 10 % in the mean, and none of them falls; "first" the first one
that is a success, "held" the second in a row, which ends the training. "[M]" are control steps until then, which do not
depend on the machine. A policy is judged every 2.5 s on its mean action, with 256 robots for 10 s from starts that
training does not see. "environment", "policy" and "update" are shares of the time. With ``--machine`` each training is
done once more as for a real machine, from sensors with noise and delays, with masses, gains and friction that differ
and with pushes: what that costs. Then the policy is judged once more: on 1024 other starts,
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
MACHINE = {"sensors": True, "noise": True, "randomised": True}
_OTHERS = 7_000_000
_AHEAD = [0.6, 0.0, 0.0]


def main() -> None:
    """Train, and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--tasks", nargs="+", choices=list(tasks.tasks()), default=list(TASKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--machine", action="store_true", help="each task also with sensors, noise and randomisation")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=3.0, help="of one training at most")
    parser.add_argument("--every", type=float, default=2.5, help="time from one judgement to the next [s]")
    parser.add_argument("--settings", nargs="*", default=[], metavar="NAME=NUMBER", help="of the learner")
    options = parser.parse_args()
    if options.short:
        options.tasks, options.seeds, options.minutes = options.tasks[:1], options.seeds[:1], 0.1
    report = Report(options, threads=options.threads)
    title = f"learning, {options.threads} threads; processor time [s] and control steps [M]"
    kinds = {"": {}} | ({", as on a machine": MACHINE} if options.machine else {})
    parts = {
        f"{name}{kind} {seed}": partial(rows, name, f"{name}{kind}", seed, options, given)
        for name in options.tasks for seed in options.seeds for kind, given in kinds.items()
        if not given or _walks(name)
    }  # fmt: skip
    report.table("learning", title, parts)
    report.finish()


def rows(name: str, label: str, seed: int, options: Any, given: Any) -> Iterator[Row]:
    """One training; ``given`` are options of the environment."""
    task = tasks.task(name)
    env = tasks.make(name, seed=seed, threads=options.threads, **given)
    env.reset(seed=seed)
    env.step(np.zeros((env.batch, env.action_size)))  # what is compiled is no part of the time
    assert task.judge is not None
    judge = task.judge(seed=1000 + seed, **given)
    settings = {
        key: float(value) if "." in value else int(value) for key, value in (s.split("=") for s in options.settings)
    }
    training = learn.ppo(
        env, minutes=options.minutes, seed=seed, threads=options.threads, judge=judge, judge_every=options.every,
        clock="processor", show=False, **{**task.settings, **settings},
    )  # fmt: skip
    judged = [row for row in training.history if "judge/success" in row]
    first = next((row for row in judged if row["judge/success"]), {})
    ahead = next((row for row in judged if _is_ahead(row)), {})
    has_held = training.ended == "success"
    others = task.judge(seed=_OTHERS + seed, robots=1024, **given)(training.policy).report
    exact = task.judge(seed=_OTHERS + seed, **_exact(name), **given)(training.policy).report
    counts = [key for key in ("inside", "arrived") if key in others]
    fell = "ended early" if "ended early" in others else "falls"
    fault = "" if has_held else "no success that held"
    fault = fault or (f"{others[fell]} falls of {others['robots']}" if others[fell] else "")
    yield {
        "task": label, "seed": seed,
        "0.6 m/s": ahead.get("seconds"), "0.6 m/s [M]": _million(ahead.get("steps")),
        "first": first.get("seconds"), "first [M]": _million(first.get("steps")),
        "held": training.seconds if has_held else None,
        "steps": training.steps / 1e6,
        "us a step": training.seconds / training.steps * 1e6,
        **{share: f"{part:.0%}" for share, part in training.shares.items()},
        "falls of 1024": others[fell], **{f"{key} of 1024": others[key] for key in counts},
        "falls, float64": exact[fell], **{f"{key}, float64": f"{exact[key]} of {exact['robots']}" for key in counts},
        **failed(f"{label} {seed}", "" if options.short else fault),
    }  # fmt: skip


def _exact(name: str) -> dict[str, Any]:
    """Options of a judge in float64: contacts by the default tolerance, and no shortcut for fast robots."""
    return {"precision": "float64"} | ({"tolerance": None, "coriolis": "middle"} if _walks(name) else {})


def _walks(name: str) -> bool:
    """Whether a task has the options of walking robots."""
    judge = tasks.task(name).judge
    return judge is not None and isinstance(judge(), tasks.VelocityJudge)


def _is_ahead(row: Any) -> bool:
    """Whether those that are asked for 0.6 m/s straight ahead have it within 10 %, and none of them has fallen."""
    for asked, found, falls in zip(
        row.get("judge/commands", ()), row.get("judge/velocities", ()), row.get("judge/falls by command", ()),
        strict=True,
    ):  # fmt: skip
        if asked == _AHEAD:
            return abs(found[0] - asked[0]) <= 0.1 * asked[0] and not falls
    return False


def _million(steps: Any) -> float | None:
    return None if steps is None else steps / 1e6


if __name__ == "__main__":
    main()
