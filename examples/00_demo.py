"""A tour of Pliant in half a minute: a robot, a pendulum, equations, kernels, a quadruped, and a hopping robot.

make demo
python examples/00_demo.py [--out DIRECTORY] [--quick]

The last part saves the run of the hopping robot in out/: report, replay, log, plot and video. Parts that need a missing
library are skipped with a message. With --quick the run is shorter and the video small.
"""

import argparse
import io
import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pliant

COMMAND = (0.5, 0.0, 0.2)  # of the hopper: speed along x and y [m/s], height of hops [m]
STANDING = 0.63  # height of its body with the leg at rest, upright on its foot [m]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="out", metavar="DIRECTORY", help="folder for the files (default out)")
    parser.add_argument("--quick", action="store_true", help="a shorter run and a small video")
    given = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # shows progress through a pipe, too
    begin = time.perf_counter()
    show_robot()
    check_swing()
    print_equations()
    show_speed()
    drop_and_push()
    hop()
    hop_in_crowds(256 if given.quick else 1024)
    log, facts = hop_by_events(seconds=1.5 if given.quick else 4.0)
    leave_files(log, Path(given.out), facts, is_quick=given.quick)
    print(f"\nall of it took {time.perf_counter() - begin:.0f} s")


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def show_robot() -> None:
    title("1. A robot shipped with the package")
    robot = pliant.load("quadruped")
    print(f"{robot.name}: {robot.mass:.1f} kg, nq = {robot.nq}, nv = {robot.nv}, nu = {robot.nu} motors\n")
    print(robot.tree())


def check_swing() -> None:
    """Ten seconds of a double pendulum, and the period of a pendulum, compared with theory."""
    title("2. A simulated pendulum")
    robot = pliant.load("double_pendulum")
    swing = swing_kernel(robot, steps=10_000, dt=1e-3)
    q, v = np.array([1.5, 0.5]), np.zeros(2)
    before = sum(pliant.energy(robot, q, v))
    start = time.perf_counter()
    q, v = swing(q, v)
    elapsed = time.perf_counter() - start
    drift = abs(sum(pliant.energy(robot, q, v)) - before) / abs(before)
    print("double pendulum, 10 s by Runge-Kutta steps of 1 ms, all of them in one native call:")
    print(f"  energy {before:.6f} J kept to {drift:.1e} (relative), {10 / elapsed:,.0f} times faster than real time")
    if not drift < 1e-6:
        raise SystemExit("energy was not kept")

    # released from horizontal, the shipped pendulum swings like a simple one of 1 m, with the period
    # T = 4 K(1/2) sqrt(L/g) = 2.3678419475762373 s at g = 9.81: after T it is back, at rest
    robot, period = pliant.load("pendulum"), 2.3678419475762373
    q, v = swing_kernel(robot, steps=1000, dt=period / 1000)(np.array([math.pi / 2]), np.zeros(1))
    print(f"pendulum from horizontal: after the closed form's period it is back to {abs(q[0] - math.pi / 2):.1e} rad")
    if not abs(q[0] - math.pi / 2) < 1e-8:
        raise SystemExit("the period is off")


def swing_kernel(robot: pliant.Robot, steps: int, dt: float) -> pliant.compiler.Kernel:
    """A program of many steps: its one block is the generic function below, compiled for the robot."""
    step = pliant.compiler.Block(lambda q, v: runge_kutta(robot, q, v, dt), reads=("q", "v"), writes=("q", "v"))
    program = pliant.compiler.Program(
        variables={"q": robot.nq, "v": robot.nv},
        inputs=("q", "v"),
        outputs=("q", "v"),
        body=[pliant.compiler.Loop([step], count=steps)],
    )
    shapes = {"q": (robot.nq,), "v": (robot.nv,)}
    return pliant.compiler.Kernel(program, shapes, shapes, name=f"{robot.name} swing")


def runge_kutta(robot: pliant.Robot, q: list, v: list, dt: float) -> tuple[list, list]:
    """One step of the classical fourth-order method, for scalars of any kind."""

    def moved(x, rate, h):
        return [a + h * b for a, b in zip(x, rate, strict=True)]

    def acceleration(q, v):
        return pliant.forward_dynamics(robot, q, v, [0] * robot.nv)

    v1, a1 = v, acceleration(q, v)
    v2 = moved(v, a1, dt / 2)
    a2 = acceleration(robot.integrate(q, v1, dt / 2), v2)
    v3 = moved(v, a2, dt / 2)
    a3 = acceleration(robot.integrate(q, v2, dt / 2), v3)
    v4 = moved(v, a3, dt)
    a4 = acceleration(robot.integrate(q, v3, dt), v4)
    mean_v = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(v1, v2, v3, v4, strict=True)]
    mean_a = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(a1, a2, a3, a4, strict=True)]
    return list(robot.integrate(q, mean_v, dt)), moved(v, mean_a, dt)


def print_equations() -> None:
    title("3. The same functions on symbols: equations of motion")
    try:
        print(pliant.equations(pliant.load("two_link_arm")).text(width=90))
    except pliant.PliantError as error:
        print(f"left out: {error}")


def show_speed() -> None:
    title("4. The same functions on arrays: kernels, one robot per SIMD lane")
    batch = 4096
    print(f"forward dynamics, batch of {batch}, one thread ('make bench' sets Pinocchio beside it)")
    print(f"  {'robot':<12} {'dofs':>4} {'operations':>10} {'ready in':>9} {'float64':>15} {'float32':>15}")
    rng = np.random.default_rng(0)
    for name in ("two_link_arm", "arm7", "quadruped", "biped"):
        robot = pliant.load(name)
        times, operations, compiled = [], 0, 0.0
        for precision in ("float64", "float32"):
            start = time.perf_counter()
            kernel = pliant.compile(pliant.forward_dynamics, robot, precision=precision)
            compiled = compiled or time.perf_counter() - start
            operations = operations or sum(kernel.operations().values())
            q = robot.random(rng, batch=batch).astype(precision)
            v, tau = rng.normal(size=(2, batch, robot.nv)).astype(precision)
            out = np.empty_like(v)
            times.append(min(timed(kernel, q, v, tau, out) for _ in range(20)) / batch)
        cells = [f"{t * 1e9:6.0f} ns/robot" for t in times]
        print(f"  {name:<12} {robot.nv:>4} {operations:>10} {compiled:>7.2f} s {cells[0]:>15} {cells[1]:>15}")


def timed(kernel: pliant.compiler.Kernel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, out: np.ndarray) -> float:
    start = time.perf_counter()
    kernel(q, v, tau, out=out)
    return time.perf_counter() - start


def drop_and_push() -> None:
    """The quadruped on the ground: one, logged, and many at a time."""
    title("5. The simulator: dropped, standing, pushed")
    robot = pliant.load("quadruped").with_collision_contacts()  # four feet, and the corners of the trunk
    robot = robot.with_motors(control="position", kp=150, kd=4)
    stance = np.tile([0.0, 0.8, -1.6], 4)
    push = pliant.ExternalForce("trunk", force=(0, 40, 0), start=1, end=1.2)
    sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(friction=0.8), forces=[push])
    sim.reset(q=[0, 0, 0.4, 0, 0, 0, 1, *stance])
    log = sim.run(2.5, u=stance, channels=("q", "forces", "solver"))
    weight = robot.mass * 9.81
    vertical = log["forces"].reshape(len(log), -1, 3)[:, :, 2].sum(axis=1)
    print("  t [s]  height [m]  side [mm]  feet / weight  residual [m/s]  iterations")
    for t, what in {0.1: "falls", 0.3: "has landed", 0.9: "stands", 1.2: "was pushed", 2.5: "stands"}.items():
        k = np.searchsorted(log.t, t - 1e-6)
        z, y = log["q", "root_joint.z"][k], 1e3 * log["q", "root_joint.y"][k]
        residual, rounds = log["solver"][k, :2]
        print(
            f"  {t:5.1f}  {z:10.4f}  {y:9.2f}  {vertical[k] / weight:13.4f}  {residual:14.1e}  {rounds:10.0f}  {what}"
        )
    if not (abs(vertical[-1] / weight - 1) < 1e-2 and sim.diagnostics.is_converged):
        raise SystemExit("the quadruped does not stand")

    # the same in a batch, with increasing pushes, in one native call
    batch, periods = 1024, 500
    many = pliant.Simulation(robot, ground=pliant.flat(friction=0.8), batch=batch)
    start = sim.state.q
    velocities = np.zeros((batch, robot.nv))
    velocities[:, 1] = np.linspace(0, 2, batch)
    controls = np.tile(stance, (periods, 1))
    many.rollout((start, velocities), controls[:1])
    begin = time.perf_counter()
    result = many.rollout((start, velocities), controls)
    rate = batch * periods / (time.perf_counter() - begin)
    standing = result.q[:, -1, 2] > 0.25
    print(f"{batch} of them, struck sideways with 0 to 2 m/s: {standing.sum()} are on their feet half a second later")
    print(f"{rate:,.0f} steps a second on one thread, {rate * many.dt:,.0f} times real time")


def hop() -> None:
    """A one-legged robot with a spring in its leg, and a controller that is compiled with the step."""
    title("6. A hopping robot, on a series-elastic leg")
    sim, _ = hopper(dt=5e-4, substeps=2)
    sim.run(0.1, commands=COMMAND)  # compiles
    begin = time.perf_counter()
    log = sim.run(10.0, commands=COMMAND)
    elapsed = time.perf_counter() - begin
    speed = (log["q", "root_joint.x"][-1] - log.between(5, 10)["q", "root_joint.x"][0]) / 5
    tops = apexes(log["q", "root_joint.z"])
    print("time steps of 0.5 ms, commanded speed 0.5 m/s, hops of 0.2 m:")
    print(f"  {len(tops)} hops in 10 s, {tops[-1] - STANDING:.3f} m high, at {speed:.3f} m/s over the last 5 s")
    print(f"  energy {energy(log)[-1]:.1f} J, {10 / elapsed:,.0f} times faster than real time")
    if not abs(speed - 0.5) < 0.05:
        raise SystemExit("the hopper does not follow its command")


def hop_in_crowds(batch: int) -> None:
    """Many, each with its own command."""
    seconds = 2.0
    sim, _ = hopper(batch=batch)
    way = np.linspace(0, 2 * math.pi, batch, endpoint=False)
    commands = np.column_stack([0.5 * np.cos(way), 0.5 * np.sin(way), np.full(batch, 0.2)])
    kept = {"channels": ("q",), "every": 0.1}
    sim.run(0.1, commands=commands, **kept)
    begin = time.perf_counter()
    sim.run(seconds, commands=commands, **kept)
    rate = batch * seconds / sim.dt / (time.perf_counter() - begin)
    upright = 1 - 2 * (sim.q[:, 3] ** 2 + sim.q[:, 4] ** 2)  # cosine of the tilt
    along = (sim.v[:, :2] * commands[:, :2]).sum(axis=1) > 0
    count = int(((upright > 0.9) & along).sum())
    print(f"{batch} of them, each with its own command: {count} hop and follow it")
    print(f"  {rate:,.0f} steps a second on one thread, {rate * sim.dt:,.0f} times real time, controllers included")
    if count < batch:
        raise SystemExit("some of the hoppers fell")


def hop_by_events(seconds: float) -> tuple[pliant.Log, dict[str, str]]:
    """The same robot and controller by event-driven simulation, pushed from the side; returns facts for the report."""
    push = pliant.ExternalForce("body", force=(0, 60, 0), start=1.0, end=1.1)
    stepping, robot = hopper(dt=5e-4, substeps=4, forces=[push])
    sim = pliant.EventSimulation(robot, ground=pliant.flat(), friction=0.8, forces=[push], rtol=1e-6, atol=1e-8)
    controller = pliant.control.raibert(robot)
    # entries are close together, so that the work of torques that jump is integrated well
    control = {"controller": controller, "commands": COMMAND, "period": 2e-3, "every": 5e-4}
    control["channels"] = ("q", "v", "tau", "forces", "energy", "power")
    for duration in (0.2, seconds):  # the first compiles, until it has touched down
        sim.reset(q=stepping.q)
        begin = time.perf_counter()
        log = sim.run(duration, **control)
    elapsed = time.perf_counter() - begin
    print("event-driven, each event located to 1e-12 s, pushed from the side at 1 s:")
    for event in log.events[:5]:
        print(f"  {event}")

    by_step = stepping.run(1.5, commands=COMMAND)
    a, b = (apexes(x.between(0, 1.5)["q", "root_joint.z"]) for x in (log, by_step))
    print(f"apexes {a.round(4)} m, by steps of 0.5 ms {b.round(4)} m")
    if len(a) != len(b) or abs(a / b - 1).max() > 0.01:
        raise SystemExit("the two simulations disagree")

    ledger = pliant.analysis.energy_ledger(log)
    total, lost = energy(log), sum(float(part[-1]) for part in ledger.lost.values())
    tops = apexes(log["q", "root_joint.z"]) - STANDING
    went = log.q[-1, :2] - log.q[0, :2]
    kinds = Counter(event.kind for event in log.events)
    facts = {
        "hops": f"{kinds['lift-off']}, the last one {tops[-1]:.3f} m high",
        "speed": f"{went[0] / seconds:.3f} m/s along x from rest; {went[1]:+.3f} m to the side, by a push",
        "energy": f"{total[0]:.1f} J, then {total[-1]:.1f} J: motors gave {ledger.work['motors'][-1]:.1f} J, "
        f"the push {ledger.work['forces from outside'][-1]:.1f} J, {lost:.1f} J were lost",
        "events": ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
        "simulated": f"{seconds:g} s in {elapsed:.2f} s, {seconds / elapsed:.2g} x real time",
    }
    for name, fact in facts.items():
        print(f"  {name:<10} {fact}")
    return log, facts


def hopper(**options: Any) -> tuple[pliant.Simulation, pliant.Robot]:
    """The hopper under its controller, by steps, above the ground."""
    robot = pliant.load("hopper")
    controller = pliant.control.raibert(robot)
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.8), controller=controller, **options)
    q = robot.neutral()
    q[2] = 0.8
    sim.reset(q=q)
    return sim, robot


def energy(log: pliant.Log) -> np.ndarray:
    return log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]


def apexes(z: np.ndarray) -> np.ndarray:
    inside = z[1:-1]
    return inside[(inside > z[:-2]) & (inside >= z[2:]) & (inside > 0.7)]


def leave_files(log: pliant.Log, folder: Path, facts: dict[str, str], is_quick: bool) -> None:
    """Report, replay, log file, plot and video of one log."""
    title(f"7. The files of that run, in {folder}")
    curves = ("q.root_joint.z", "q.root_joint.y", "forces.foot", "energy")
    picture = {"size": (160, 96), "fps": 5} if is_quick else {"size": (800, 450), "fps": 25}
    shown = {"traces": ("foot", "mass"), "plots": curves, "show": ("forces",)}
    made: dict[str, tuple[str, Callable[[Path], object]]] = {
        "report.html": (
            "one page with all of it, for a browser",
            lambda path: log.to_report(path, *curves, title="A robot that hops", facts=facts),
        ),
        "replay.html": ("the robot with slider and plots", lambda path: log.to_html(path, **shown)),
        "hopper.h5": ("the log, to be loaded, viewed and plotted again", lambda path: log.save(path)),
        "plot.svg": ("a plot", lambda path: log.plot(*curves, path=path)),
        "hopper.mp4": ("a video", lambda path: log.to_video(path, **picture)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, (what, make) in made.items():
        path, begin = folder / name, time.perf_counter()
        place = f"  {path!s:<{len(str(folder)) + 13}}"
        try:
            make(path)
        except pliant.PliantError as error:
            print(f"{place} left out: {error}")
            continue
        print(f"{place}{path.stat().st_size / 1e3:6.0f} kB in {time.perf_counter() - begin:4.1f} s  {what}")
    if (folder / "hopper.h5").exists():
        print(f"\nlook at it again: pliant view {folder / 'hopper.h5'}, or open {folder / 'report.html'} in a browser")


if __name__ == "__main__":
    main()
