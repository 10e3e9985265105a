"""Speed and error of flexible joints next to Jiminy, on one thread, in one run that checks what it times.

    python -m bench.flexible [--json] [--tables swing stiff legs] [--batch 4096] [--steps 50] [--jiminy]

Times are of the processor, the best of several turns. "swing" and "stiff" are a double pendulum with a spring at both
joints; its time is that of 5 s, for one robot: in a batch robots begin at moments spread over the 5 s, and the time of
a step is multiplied. "error" is the largest one of a joint's angle, of how far it swings, from the motion by
Dormand-Prince at 1e-10; above 1e-2 the benchmark stops. "twist" is that of the first spring sideways, of the twist it
begins with: its swing is fast and dies out. "wide" are errors of a wider swing, which stop nothing.

Jiminy's motion must agree to 1e-3 (its own tolerance is 1e-4 a step). Its springs have If as a rotor's inertia,
Pliant's as that of a body, which makes the fastest motion of Pliant's 2.6 times as fast. A stepper of Jiminy's that
dies has no time, only what it reached [s]. "legs" are quadrupeds that stand, rigid and flexible, and must carry their
weight to 1e-3. `--jiminy` installs Jiminy, once, in an environment of its own under build/; where it is there already,
it is measured.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from bench import jiminy_peer
from bench.flexible_scenes import DAMPING, LEGS, ROTOR_INERTIA, STIFFNESS, Swing, flexible, quadruped
from bench.pliant_side import PliantSide
from bench.report import CheckError, Report, failed, options_of
from bench.tables import Row
from bench.timing import best_times

TABLES = ("swing", "stiff", "legs")
DT = 1e-3
"""Of a fixed step of the pendulum [s]."""
PRECISIONS = ("float64", "float32")
ALLOWED = {"pliant": 1e-2, "jiminy": 1e-3}
WIDE = (1.0, 0.5)
"""Where the joints begin for a swing that a step of the first order follows less well [rad]."""
ADAPTIVE_INTEGRATORS = ("dormand-prince", "rosenbrock")
ADAPTIVE = {"solver": "runge_kutta_dopri", "dt": None}
FIXED = [{"solver": solver, "dt": DT} for solver in ("runge_kutta_4", "euler_explicit")]


def main() -> None:
    """Run the benchmark and print tables or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=50, help="of one call")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each; the best counts")
    parser.add_argument("--jiminy", action="store_true", help="install Jiminy if it is not there")
    options = parser.parse_args()
    options.has_jiminy = options.jiminy or jiminy_peer.is_installed()
    if options.short:
        options.batch, options.steps, options.rounds = 64, 10, 1
        options.tables = [name for name in options.tables if name == "swing"]
    report = Report(options, batch=options.batch, jiminy=jiminy_peer.VERSION if options.has_jiminy else None)
    for name in options.tables:
        {"swing": swings, "stiff": stiff, "legs": legs}[name](report)
    report.finish()


# ---- the double pendulum


def swings(report: Report) -> None:
    """A swing of 5 s: Jiminy, which must follow its springs, and Pliant."""
    subject, options = Swing(), report.options
    title = (
        f"swing: k = {subject.stiffness:g}, nu = {subject.damping:g}, If = {subject.inertia:g}, J = 0, joints from "
        f"{subject.angles} rad, 5 s; batch of {options.batch}, one thread; ratio: Jiminy's adaptive time over it"
    )
    both = ("semi-implicit", "midpoint")
    # without springs: what the step's own error is
    kinds = {"3 axes": (3, both, PRECISIONS), "1 axis": (1, both, PRECISIONS), "rigid": (0, both[:1], PRECISIONS[:1])}
    parts = {"jiminy": partial(jiminy_rows, subject, [ADAPTIVE, *FIXED], options)} | {
        name: partial(batch_rows, replace(subject, axes=axes), options, integrators, precisions)
        for name, (axes, integrators, precisions) in kinds.items()
    }
    parts |= {"single": partial(single_rows, subject), "wide": partial(wide_rows, replace(subject, angles=WIDE))}
    rows = report.table("swing", title, _ratios(parts))
    same = [r for r in rows if r.get("simulator") == "pliant batch" and f"{subject.axes} axes" in r["settings"]]
    ratios = [r["ratio"] for r in same if r["ratio"] is not None]
    if ratios:
        least, most = min(ratios), max(ratios)
        report.say(f"batches of 3 axes are {least:.0f} to {most:.0f} times as fast as Jiminy (to be at least 50)")


def stiff(report: Report) -> None:
    """Springs far too stiff for the step, with rotors."""
    options = report.options
    for k in (1e5, 1e6):
        subject = Swing(stiffness=k, rotor_inertia=0.1)
        title = f"stiff: k = {k:g}, J = 0.1, else as above; steps of 1 ms, 5 s"
        how = (options, ("semi-implicit", "midpoint"), PRECISIONS[:1])
        parts = {"jiminy": partial(jiminy_rows, subject, [ADAPTIVE, *FIXED], options)}
        parts |= {f"{axes} axes": partial(batch_rows, replace(subject, axes=axes), *how) for axes in (3, 1)}
        report.table(f"stiff {k:g}", title, _ratios(parts))


def jiminy_rows(subject: Swing, steppers: list[dict[str, Any]], options: argparse.Namespace) -> Iterator[Row]:
    """A row for each of Jiminy's steppers; one that dies has no time."""
    if not options.has_jiminy:
        yield _row("jiminy", "not installed: --jiminy")
        return
    for run in subject.jiminy(steppers, rounds=options.rounds):
        fixed = "1 ms" if run["solver"] != ADAPTIVE["solver"] else "tol {:g}, {:g}".format(*run["tolerance"])
        settings = f"{run['solver']}, {fixed}"
        if run["cause"] is not None:
            yield _row("jiminy", f"{settings}: dies", reached=run["reached"], steps=run["steps"])
            continue
        values = {key: run[key] for key in ("reached", "steps", "rejected", "error")}
        wrong = _wrong(f"Jiminy, {settings}", run["error"], ALLOWED["jiminy"])
        yield _row("jiminy", settings, run["time"], **values) | wrong


def batch_rows(
    subject: Swing, options: argparse.Namespace, integrators: tuple[str, ...], precisions: tuple[str, ...]
) -> Iterator[Row]:
    """A row for each way to take steps of 1 ms, many robots in one call."""
    calls, errors = {}, {}
    for integrator in integrators:
        for precision in precisions:
            one = subject.simulation(integrator, dt=DT, precision=precision)
            key = f"{integrator}, {_springs(subject)}, {precision}"
            errors[key] = subject.errors(one)
            many = subject.simulation(integrator, dt=DT, precision=precision, batch=options.batch)
            calls[key] = _rollout(many, subject, options)
    times = best_times(calls, rounds=options.rounds, clock=process_time)
    steps = round(subject.duration / DT)
    for key, t in times.items():
        error, twist = errors[key]
        t *= steps / (options.batch * options.steps)
        values = {"steps": steps, "rejected": 0, "error": error, "twist": twist}
        wrong = _wrong(f"Pliant, {key}", error, ALLOWED["pliant"])
        yield _row("pliant batch", key, t, reached=subject.duration, **values) | wrong


def _rollout(simulation: Any, subject: Swing, options: argparse.Namespace) -> Callable[[], Any]:
    start = subject.moments(options.batch, simulation.precision)

    def call() -> None:
        state = simulation.rollout(start, periods=options.steps, channels=()).state
        if state.part("divergence").any() or not np.isfinite(state.data).all():
            raise CheckError(f"double pendulum, {simulation!r}: robots diverged")

    return call


def single_rows(subject: Swing) -> Iterator[Row]:
    """One robot: a loop of steps in Python, and the adaptive integrators."""
    steps = round(subject.duration / DT)
    one = subject.simulation("semi-implicit", dt=DT)
    adaptive = {f"pliant {name}": subject.simulation(name, dt=subject.every) for name in ADAPTIVE_INTEGRATORS}

    def loop() -> None:
        one.reset(q=subject.q)
        for _ in range(steps):
            one.step()

    def run(simulation: Any) -> np.ndarray:
        periods = round(subject.duration / subject.every)
        return simulation.rollout(periods=periods, channels=("trials",))["trials"].sum(axis=0)

    counts, errors = {"pliant step": (steps, 0)}, {"pliant step": subject.errors(one)}
    settings = {"pliant step": f"semi-implicit, {_springs(subject)}, a loop in Python"}
    calls: dict[str, Callable[[], Any]] = {"pliant step": loop}
    for name, simulation in adaptive.items():
        taken, rejected = (int(n) for n in run(simulation))
        counts[name], errors[name] = (taken, rejected), subject.errors(simulation)
        settings[name] = f"adaptive, {_springs(subject)}, rtol 1e-6"
        calls[name] = partial(run, simulation)
    for name, t in best_times(calls, rounds=3, clock=process_time).items():
        (taken, rejected), (error, twist) = counts[name], errors[name]
        values = {"steps": taken, "rejected": rejected, "error": error, "twist": twist}
        wrong = _wrong(name, error, ALLOWED["pliant"])
        yield _row(name, settings[name], t, reached=subject.duration, **values) | wrong


def wide_rows(subject: Swing) -> Iterator[Row]:
    """Errors of a wider swing, with and without springs; reported, but not checked."""
    for axes in (3, 0):
        wide = replace(subject, axes=axes)
        for integrator in ("semi-implicit", "midpoint"):
            error, twist = wide.errors(wide.simulation(integrator, dt=DT))
            settings = f"{integrator}, {_springs(wide)}, from {WIDE[0]:g}, {WIDE[1]:g} rad"
            yield _row("pliant wide", settings, error=error, twist=twist)


def _springs(subject: Swing) -> str:
    return {3: "3 axes", 1: "1 axis", 0: "rigid"}[subject.axes]


def _wrong(who: str, error: float, allowed: float) -> Row:
    fault = "" if error < allowed else f"error of {error:.1e} of the swing, above {allowed:g}"
    return failed(f"double pendulum, {who}", fault)


def _row(simulator: str, settings: str, time: float | None = None, **values: Any) -> Row:
    keys = ("reached", "steps", "rejected", "error", "twist", "ratio")
    ms = None if time is None else time * 1e3
    return {"simulator": simulator, "settings": settings, "ms": ms} | dict.fromkeys(keys) | values


def _ratios(parts: dict[str, Callable[[], Iterator[Row]]]) -> dict[str, Callable[[], Iterator[Row]]]:
    """Parts whose rows have the ratio of the time of Jiminy's first stepper to theirs."""
    jiminys: list[float | None] = []

    def with_ratios(part: Callable[[], Iterator[Row]]) -> Iterator[Row]:
        for row in part():
            if row["simulator"] == "jiminy":
                jiminys.append(row["ms"])
            base = jiminys[0] if jiminys else None
            own = None if "rigid" in row["settings"] else row["ms"]
            yield row | {"ratio": None if base is None or own is None else base / own}

    return {name: partial(with_ratios, part) for name, part in parts.items()}


# ---- quadrupeds


def legs(report: Report) -> None:
    """Quadrupeds that stand: what springs at their joints cost."""
    options = report.options
    for name in LEGS:
        precisions = {precision: partial(leg_rows, name, precision, options) for precision in PRECISIONS}
        report.table(name, _legs_title(name, options), precisions)


def _legs_title(name: str, options: argparse.Namespace) -> str:
    return (
        f"{name}, standing, springs of k = {STIFFNESS:g}, nu = {DAMPING:g}, rotors of {ROTOR_INERTIA:g} kg m^2, "
        f"dt 2 ms; time per step and robot [us], batch of {options.batch}, one thread; speed: relative to the rigid "
        "one's (to be at least 0.5)"
    )


def leg_rows(name: str, precision: str, options: argparse.Namespace) -> Iterator[Row]:
    """A row for the rigid robot and for each choice of flexible joints."""
    rigid = quadruped(name)
    scenes = {"rigid": rigid} | {
        f"{which}, {axes} {'axis' if axes == 1 else 'axes'}": flexible(rigid, ends, axes)
        for axes in (1, 3)
        for which, ends in LEGS[name].items()
    }
    sides = {which: PliantSide(subject, precision) for which, subject in scenes.items()}
    calls = {which: side.rollout(options.batch, options.steps) for which, side in sides.items()}
    times = best_times(calls, rounds=options.rounds, clock=process_time)
    for which, t in times.items():
        side = sides[which]
        row: Row = {
            "simulator": f"pliant {precision}",
            "settings": which,
            "dofs": side.robot.nv,
            "us": t / (options.batch * options.steps) * 1e6,
            "speed": times["rigid"] / t,
            "height": side.standing.height if side.standing else None,
            "force": side.standing.force if side.standing else None,
            "iterations": side.sample["iterations"],
        }
        yield row | failed(f"{name}, {which}, {precision}", side.fault)


if __name__ == "__main__":
    main()
