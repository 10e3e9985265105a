"""Optuna chooses gains, and a sweep tries them: several at once, each result in a file.

    pip install optuna
    python examples/23_optuna.py

Run it again, and what has been tried is not computed again. Without Optuna, a Latin hypercube chooses.
"""

import importlib.util
from pathlib import Path

import pliant
from pliant.cluster import Table
from pliant.environment import LogUniform

ROUNDS, AT_ONCE = 4, 4


def swing(kp: float, kd: float) -> dict[str, float]:
    """How far a pendulum is from the vertical, on average over two seconds, and what that costs."""
    sim = pliant.Simulation(pliant.load("pendulum"), dt=5e-3)
    sim.reset(q=[0.5])
    far = effort = 0.0
    for _ in range(400):
        u = -kp * sim.q[0] - kd * sim.v[0]
        sim.step([u])
        far, effort = far + abs(sim.q[0]) / 400, effort + u * u / 400
    return {"cost": float(far + 1e-3 * effort)}


def searched(out: Path) -> Table:
    """Points that Optuna asks for, a few at a time."""
    import optuna  # type: ignore[import-not-found]

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    tried = []
    for _ in range(ROUNDS):
        asked = [study.ask() for _ in range(AT_ONCE)]
        points = [{name: t.suggest_float(name, 0.1, 50, log=True) for name in ("kp", "kd")} for t in asked]
        table = pliant.sweep(swing, points, out=out, workers=2, limit=60)
        for trial, result in zip(asked, table, strict=True):
            if result.status == "done":
                study.tell(trial, result.results["cost"])
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
        tried += table.results
    return Table(tried, out)


def main() -> None:
    """Search, and print the best gains."""
    out = Path("out/gains")
    if importlib.util.find_spec("optuna"):
        table = searched(out)
    else:
        gains = LogUniform(0.1, 50)
        table = pliant.sweep(swing, {"kp": gains, "kd": gains}, samples=ROUNDS * AT_ONCE, out=out, workers=2, limit=60)
    best = table.best("cost", largest=False)
    print(f"{len(table)} trials, the best: kp {best.values['kp']:.3g}, kd {best.values['kd']:.3g}")
    print(f"cost {best.results['cost']:.3g}, the worst {table['cost'].max():.3g}")


if __name__ == "__main__":
    main()
