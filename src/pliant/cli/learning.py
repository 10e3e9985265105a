"""``pliant tasks``, ``pliant train`` and ``pliant play``: policies that learn tasks, and what they do."""

import dataclasses
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.own_code import in_file, is_in_file, located
from pliant.cli.terminal import Json, number, print_json, print_pairs, print_table, say
from pliant.errors import PliantError, needs

if TYPE_CHECKING:
    from pliant.tasks import Task


def tasks(json: Json = False) -> None:
    """List the tasks that policies can be trained for."""
    from pliant.tasks import tasks as known
    from pliant.tasks.training import POLICIES

    rows = []
    for name, task in known().items():
        has_policy = (POLICIES / f"{name}.policy").is_file()
        rows.append(
            {"task": name, "what": task.what, "robots": task.batch, "minutes": task.minutes, "policy": has_policy}
        )
    if json:
        print_json(rows)
        return
    shown = [(r["task"], r["what"], number(r["minutes"]), "yes" if r["policy"] else "") for r in rows]
    print_table(("task", "what", "minutes", "policy"), shown, right=("minutes",))


def train(
    task: Annotated[str, typer.Argument(metavar="TASK", help="see `pliant tasks`; or one of your own, FILE.py:NAME")],
    minutes: Annotated[float | None, typer.Option(min=0.0, help="of training at most (default: the task's)")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of all random numbers")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="that share robots and updates")] = 1,
    robots: Annotated[int | None, typer.Option(min=1, help="that learn side by side (default: the task's)")] = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="TERM=WEIGHT", help="weight of a reward; may be repeated")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="of the environment, such as dt=0.01")
    ] = None,
    learner: Annotated[
        list[str] | None, typer.Option("--learner", metavar="NAME=VALUE", help="of the learner, such as epochs=4")
    ] = None,
    out: Annotated[str | None, typer.Option(help="folder for the results (default out/TASK-SEED)")] = None,
    film: Annotated[float, typer.Option(min=0.0, help="length of a film of the policy [s]")] = 0.0,
    view: Annotated[bool, typer.Option("--view", help="show the robots in the browser while they learn")] = False,
    json: Json = False,
) -> None:
    """Train a policy for a task, on this machine's processor."""
    from pliant.tasks.training import train as learn

    found = _task(task)
    weights = {name: _real("--set", name, value) for name, value in _pairs("--set", set)}
    options = {name: _value(value) for name, value in _pairs("--option", option)}
    settings = {name: _value(value) for name, value in _pairs("--learner", learner)}
    folder = out or os.path.join("out", f"{found.name}-{seed}")
    callbacks: list[Callable[[Any], Any]] = [] if json else [_Lines()]
    if view:
        needs("viser", "view", "pliant train --view")
        from pliant.viewer.watching import Watcher

        callbacks.append(Watcher())
    run = learn(
        found, minutes=minutes, seed=seed, threads=threads, batch=robots, weights=weights, out=folder, film=film,
        options=options, callback=lambda report: [call(report) for call in callbacks] and None, **settings,
    )  # fmt: skip
    report = run.report()
    if json:
        print_json(report | {"folder": folder})
        return
    judged = report["judge"] or {}
    shares = ", ".join(f"{name} {share:.0%}" for name, share in report["shares of time"].items())
    print_pairs(
        f"{found.name}: {_outcome(report)} ({report['ended']})",
        [
            ("training", f"{report['seconds of training']:.1f} s, {report['control steps'] / 1e6:.2f} M control steps"),
            ("time", shares),
            *((name, number(value)) for name, value in judged.items() if isinstance(value, int | float)),
            ("results", folder),
            ("to see it", f"pliant play {folder}" + (f" --task {task}" if is_in_file(task) else "")),
        ],
    )


def _outcome(report: Any) -> str:
    if report["judge"] is None:
        return "not judged"
    return "success" if report["success"] else "no success"


def _task(name: str) -> "Task":
    """A task by its name, or from the user's own file; errors in that code are reported with their place."""
    from pliant.tasks import as_task, task

    if not is_in_file(name):
        return task(name)
    found = as_task(name, in_file(name, "task", "my_task.py:make_task"))

    def located_in_file(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(**options: Any) -> Any:
            with located(name, "task"):
                return function(**options)

        return called

    judge = None if found.judge is None else located_in_file(found.judge)
    return dataclasses.replace(found, environment=located_in_file(found.environment), judge=judge)


class _Lines:
    """A line for each judgement, with the rewards by term."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()

    def __call__(self, report: Any) -> None:
        row = report.row
        if "judge/score" not in row:
            return
        terms = {name.removeprefix("reward/"): x for name, x in row.items() if name.startswith("reward/")}
        judged = {name.removeprefix("judge/"): x for name, x in row.items() if name.startswith("judge/")}
        shown = [f"{name} {number(x, 3)}" for name, x in judged.items() if isinstance(x, int | float)]
        say(f"{row['seconds']:7.1f} s  {row['steps'] / 1e6:6.2f} M steps  " + ", ".join(shown))
        say("           rewards: " + ", ".join(f"{name} {x:+.3f}" for name, x in terms.items()))


def play(
    what: Annotated[str, typer.Argument(metavar="TASK|POLICY", help="a task, a policy's file, or a training's folder")],
    task: Annotated[
        str | None, typer.Option(help="of the policy, a name or FILE.py:NAME (default: the one it was trained for)")
    ] = None,
    command: Annotated[
        list[float] | None, typer.Option("--command", help="a number of the command; repeat it for each number")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.0, help="length of the run")] = 10.0,
    robots: Annotated[int, typer.Option(min=1, help="in the browser")] = 1,
    video: Annotated[str | None, typer.Option(help="file of a film, in place of the browser")] = None,
    log: Annotated[str | None, typer.Option(help="file of a log, in place of the browser")] = None,
    events: Annotated[bool, typer.Option("--events", help="compare with event-driven and compliant motion")] = False,
    port: Annotated[int, typer.Option(help="of the page; the next free one if it is taken")] = 8080,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="print the address and open no window")] = False,
) -> None:
    """Run a trained policy in the browser, or into a film or log."""
    from pliant.learn.replaying import commands_of, replay, replay_event_driven, view
    from pliant.tasks import make, tasks
    from pliant.tasks.training import film_commands, trained

    if is_in_file(what):
        cure = f"give the folder of its training, as pliant play out/NAME-0 --task {what}"
        raise PliantError(f"{what} is a task, not a policy", subject=what, field="policy", cure=cure)
    policy = trained(what)
    name = task or str(policy.environment.get("task") or what)
    if task is None and name not in tasks():
        # a policy is data: it does not say which code runs
        problem = f"{what} was trained for {name!r}, and Pliant has no task of that name"
        cure = f"give --task FILE.py:{name} with the file that has it"
        raise PliantError(problem, subject=what, field="task", cure=cure)
    env = make(_task(name), batch=1)
    policy.check(env)
    asked = film_commands(env) if command is None else commands_of(env, command)
    if events:
        say(str(replay_event_driven(policy, env, commands=asked, seconds=seconds)))
        return
    if video is None and log is None:
        needs("viser", "view", "pliant play")
        view(policy, env, robots=robots, port=port, browser=not no_browser, block=True)
        return
    found = replay(policy, env, commands=asked, seconds=seconds)
    if log is not None:
        found.save(log)
        say(log)
    if video is not None:
        found.to_video(video)
        say(video)


# ---- what users give


def _pairs(option: str, given: list[str] | None) -> list[tuple[str, str]]:
    found = []
    for text in given or []:
        name, sign, value = text.partition("=")
        if not (sign and name.strip() and value.strip()):
            problem = f"{option} {text!r} is no pair"
            raise PliantError(problem, subject=option, field="value", cure=f"write {option} name=value")
        found.append((name.strip(), value.strip()))
    return found


def _real(option: str, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        problem = f"{option} {name}={text!r} is no number"
        raise PliantError(problem, subject=option, field=name, cure=f"write {option} {name}=0.5") from None


def _value(text: str) -> Any:
    """A number, a truth, a list of numbers, or text."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    parts = text.split(",")
    if len(parts) > 1:
        return tuple(_value(part.strip()) for part in parts if part.strip())
    return text
