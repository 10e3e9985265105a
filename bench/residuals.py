"""How far steps are from the laws of contacts, motors and joints: shares of many millions of steps.

    python -m bench.residuals [--steps 10000000] [--scenes g1 box] [--precision float64 float32] [--json]

Robots that stand up from where they begin and come to rest, robots that are thrown about with limits of effort and
joints on, and bodies thrown onto the ground: boxes with points at their corners, and rings of twelve points. For each
so many steps of robots with random starts: the largest residual [m/s], the shares above 1e-6 and 1e-9 m/s, the steps
that did not converge ("unconverged", counted by the simulation) and the robots that diverged. Residuals are those of
velocities at contacts; robots that move fast have a tolerance relative to their speed. It fails if a robot diverges.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import pliant
from bench.pliant_side import equipped
from bench.report import Report, failed, options_of
from bench.scenes import SCENES, scene
from bench.tables import Row

_BATCH, _LENGTH = 1024, 500
_BODIES = ("box", "ring")
_BOUNDS = (1e-6, 1e-9)


def main() -> None:
    """Run it and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--steps", type=float, default=1e7, help="of robots, for each scene and precision")
    parser.add_argument("--scenes", nargs="+", choices=(*SCENES, *_BODIES), default=[*SCENES, *_BODIES])
    parser.add_argument("--precision", nargs="+", choices=("float64", "float32"), default=["float64", "float32"])
    options = parser.parse_args()
    if options.short:
        options.steps = 1e4
    report = Report(options, steps=options.steps)
    parts = {name: partial(rows, name, options) for name in options.scenes}
    report.table("residuals", f"residuals of {options.steps:.0e} steps each [m/s]", parts)
    report.finish()


def rows(name: str, options: argparse.Namespace) -> Iterator[Row]:
    """A scene in each precision."""
    for precision in options.precision:
        yield counted(name, precision, int(options.steps))


def counted(name: str, precision: str, steps: int) -> Row:
    """Many steps from random starts."""
    batch, length = (_BATCH, _LENGTH) if steps >= _BATCH * _LENGTH else (64, max(1, steps // 64))
    make = _body if name in _BODIES else _robot
    sim, begin = make(name, precision, batch, length)
    total, unconverged, lost = 0, 0, 0
    above, worst = dict.fromkeys(_BOUNDS, 0), 0.0
    for seed in range(max(1, round(steps / (batch * length)))):
        q, v, controls = begin(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pliant.SimulationWarning)  # what they say is in the table
            sim.reset(q, v)
            result = sim.rollout(sim.state, controls, periods=length, channels=("solver",))
        residual, missed = result["solver"][..., 0].astype(float), result["solver"][..., 3]
        total += residual.size
        unconverged += int(np.count_nonzero(missed))
        worst = max(worst, float(residual.max()))
        above = {bound: n + int(np.count_nonzero(residual > bound)) for bound, n in above.items()}
        lost += int(np.count_nonzero(result.state.part("divergence")))
    found: Row = {"scene": name, "precision": precision, "steps": total, "largest": worst}
    found |= {f"> {bound:g}": n / total for bound, n in above.items()}
    found |= {"unconverged": unconverged / total, "diverged": lost}
    return found | failed(name, f"{lost} robots diverged" if lost else "")


Begin = Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray | None]]


def _robot(name: str, precision: str, batch: int, length: int) -> tuple[pliant.Simulation, Begin]:
    """A scene of the contact benchmark: settling, or thrown about."""
    subject = scene(name)
    contact = pliant.RigidContact(friction=subject.friction)
    options = {"dt": subject.dt, "ground": pliant.flat(), "batch": batch, "contact": contact, "precision": precision}
    sim = pliant.Simulation(equipped(subject), **options)

    def begin(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        controls = subject.controls(batch, length, seed=1000 + seed).astype(precision)
        return *subject.states(batch, seed=seed), controls

    return sim, begin


def _body(name: str, precision: str, batch: int, _: int) -> tuple[pliant.Simulation, Begin]:
    """A box or a ring, thrown at 1 m/s from up to half a metre."""
    sides = np.array([0.3, 0.2, 0.1])
    if name == "box":
        corners = sides / 2 * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        moments = (sides @ sides - sides**2) / 12
    else:
        angles = 2 * np.pi * np.arange(12) / 12
        corners = 0.15 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
        moments = 0.15**2 * np.array([0.5, 0.5, 1])
    builder = pliant.RobotBuilder(name).body(name, 1.0, (0, 0, 0), (moments[0], 0, 0, moments[1], 0, moments[2]))
    robot = builder.build(base="free").with_contact(name, points=corners.tolist())
    contact = pliant.RigidContact(friction=0.7)
    options = {"dt": 2e-3, "ground": pliant.flat(), "batch": batch, "contact": contact, "precision": precision}

    def begin(seed: int) -> tuple[np.ndarray, np.ndarray, None]:
        rng = np.random.default_rng(seed)
        q = np.stack([robot.random(rng) for _ in range(batch)])
        q[:, :3] = rng.uniform([-1, -1, 0.2], [1, 1, 0.5], size=(batch, 3))
        return q, rng.normal(size=(batch, 6)) * [1, 1, 1, 5, 5, 5], None

    return pliant.Simulation(robot, **options), begin


if __name__ == "__main__":
    main()
