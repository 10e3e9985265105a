"""Order of convergence of the default step: landings, slides and spin, each against an exact motion.

    python -m bench.orders [--figure landing_orders.svg] [--integrators integrator_orders.svg]

Landings are of rods in space with balls at their ends, thrown at random, with friction of 0 to 1.5 and restitution of
0, 0.5 and 1, against the event-driven simulation: the error of v 2 ms after the landing over its jump, in four phases
of the landing within a step. The slide is that of a block, to its rest at v^2 / 2 mu g; the spin that of a symmetric
top.

`--integrators` draws the errors of the accurate integrators instead (`bench.integrator_orders`).
"""

import argparse
from itertools import pairwise

import numpy as np

import pliant
from bench import integrator_orders
from bench.tables import table
from pliant.plots.figures import figure, legend, look
from pliant.robot import Robot, RobotBuilder

STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)
PHASES = 4


def rod() -> Robot:
    """A rod whose centre of mass is off its middle."""
    builder = RobotBuilder("rod").body("rod", 0.8, (0.02, 0.01, 0), (6e-4, 0, 0, 8e-3, 0, 7.5e-3))
    builder.frame("left", "rod", (-0.2, 0, 0)).frame("right", "rod", (0.25, 0, 0))
    return builder.build(base="free").with_contacts("left", "right", radius=0.01)


def landing(robot: Robot, rng: np.random.Generator, friction: float, restitution: float):
    """An event-driven run, the time of its only landing and the jump of v."""
    while True:
        shift = np.concatenate([np.zeros(3), rng.normal(0, 0.5, 3)])
        q = robot.on_ground(robot.integrate(robot.neutral(), shift), height=rng.uniform(0.01, 0.03))
        v = np.concatenate([pliant.frame_pose(robot, q, "rod")[:3, :3].T @ [1, -0.5, -1.5], rng.normal(0, 3, 3)])
        sim = pliant.EventSimulation(robot, ground=0, friction=friction, restitution=restitution, rtol=1e-10)
        sim.reset(q=q, v=v)
        log = sim.run(0.05)
        times = sorted({event.t for event in log.events})
        if times and times[0] > 0.006 and (len(times) == 1 or times[1] > times[0] + 0.008) and times[0] < 0.04:
            at = np.flatnonzero(log.t == times[0])
            return log, times[0], np.abs(log.v[at[-1]] - log.v[at[0]]).max()


def landing_errors(cases: int) -> dict[float, np.ndarray]:
    """By step: the worst phase of each case."""
    robot, rng = rod(), np.random.default_rng(11)
    settings = [(rng.uniform(0, 1.5), (0, 0.5, 1)[k % 3]) for k in range(cases)]
    runs = [landing(robot, rng, *setting) for setting in settings]
    found = {}
    for dt in STEPS:
        shifts = [dt * k / PHASES for k in range(PHASES)]
        starts = [log.at(shift) for log, _, _ in runs for shift in shifts]
        sim = pliant.Simulation(robot, dt=dt, ground=0, batch=len(starts), varying=("friction", "restitution"))
        for name, values in zip(("friction", "restitution"), zip(*settings, strict=True), strict=True):
            sim.parameters[name] = np.repeat(values, PHASES)
        sim.reset(q=np.array([q for q, _ in starts]), v=np.array([v for _, v in starts]))
        v = sim.rollout(periods=round(0.05 / dt), channels=("v",)).v
        errors = []
        for k, (log, t, jump) in enumerate(run for run in runs for _ in shifts):
            shift = shifts[k % PHASES]
            steps = int(np.ceil((t + 2e-3 - shift) / dt - 1e-9))
            errors.append(np.abs(v[k, steps - 1] - log.at(shift + steps * dt)[1]).max() / jump)
        found[dt] = np.reshape(errors, (cases, PHASES)).max(axis=1)
    return found


def slide_error(dt: float) -> float:
    """Relative error of the way that a block slides at 1 m/s, with mu = 0.4."""
    builder = RobotBuilder("block").body("block", 1, (0, 0, 0), (0.01, 0, 0, 0.01, 0, 0.01))
    robot = builder.build(base="free").with_contact("block", box=(0.4, 0.4, 0.05), friction=0.4)
    sim = pliant.Simulation(robot, dt=dt, ground=0)
    sim.reset(q=[0, 0, 0.025, 0, 0, 0, 1], v=[1, 0, 0, 0, 0, 0])
    sim.run(0.6, channels=())
    way = 1 / (2 * 0.4 * 9.81)
    return abs(float(sim.q[0]) / way - 1)


def spin_error(dt: float) -> float:
    """Error of the rate of a symmetric top in its own axes, after a second at 20 rad/s, over that rate."""
    builder = RobotBuilder("top").gravity(0, 0, 0).body("top", 2, (0, 0, 0), (0.3, 0, 0, 0.3, 0, 0.5))
    sim = pliant.Simulation(builder.build(base="free"), dt=dt)
    w = np.array([6.0, -2.0, 19.0])
    sim.reset(v=[0, 0, 0, *w])
    sim.run(1.0, channels=())
    angle = (0.5 / 0.3 - 1) * w[2]
    c, s = np.cos(angle), np.sin(angle)
    exact = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ w
    return float(np.abs(sim.v[3:] - exact).max() / 20)


def integrators(path: str) -> None:
    """Print the errors and orders of the accurate integrators, and draw them."""
    found = {}
    for name, scene in integrator_orders.scenes().items():
        found[name] = by = integrator_orders.errors(scene)
        steps = [integrator_orders.DURATION / n * 1e3 for n in integrator_orders.STEPS]
        rows = ({"dt [ms]": dt} | {i: e[k] for i, e in by.items()} for k, dt in enumerate(steps))
        table(print, f"error of the accurate integrators: {name}", rows)
        for integrator, e in by.items():
            print(f"{integrator}: order {np.log(e[2] / e[1]) / np.log(steps[2] / steps[1]):.2f}")
    integrator_orders.draw(found, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", help="file for a plot")
    parser.add_argument("--integrators", help="file for a plot of the accurate integrators; then nothing else is done")
    parser.add_argument("--cases", type=int, default=48, help="landings")
    options = parser.parse_args()
    if options.integrators:
        integrators(options.integrators)
        return
    landings = landing_errors(options.cases)
    lines = {
        "landings, worst": [float(landings[dt].max()) for dt in STEPS],
        "landings, median": [float(np.median(landings[dt])) for dt in STEPS],
        "slide": [slide_error(dt) for dt in STEPS],
        "spin": [spin_error(dt) for dt in STEPS],
    }
    rows = ({"dt [ms]": dt * 1e3} | {name: errors[k] for name, errors in lines.items()} for k, dt in enumerate(STEPS))
    table(print, "error of the default step", rows)
    for name, errors in lines.items():
        print(f"{name}: order {np.mean([np.log2(a / b) for a, b in pairwise(errors)]):.2f}")
    if options.figure:
        with figure("orders", (6.4, 4), path=options.figure, title="", show=False) as made:
            axis = made.add_subplot()
            for k, (name, errors) in enumerate(lines.items()):
                axis.loglog(np.array(STEPS) * 1e3, errors, marker="o", markersize=3, label=name, **look(k, len(lines)))
            axis.set_xticks([dt * 1e3 for dt in STEPS], [f"{dt * 1e3:g}" for dt in STEPS])
            axis.minorticks_off()
            axis.set_xlabel("dt [ms]")
            axis.set_ylabel("relative error")
            legend(axis, list(lines))


if __name__ == "__main__":
    main()
