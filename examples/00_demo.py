"""What Pliant does, in a minute: a robot, a swing, equations, kernels, a quadruped that is pushed, a robot that hops.

make demo
"""

import math
import time

import numpy as np

import pliant


def main() -> None:
    show_robot()
    check_swing()
    print_equations()
    show_speed()
    drop_and_push()
    hop()


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def show_robot() -> None:
    title("1. A robot shipped with the package")
    robot = pliant.load("quadruped")
    print(f"{robot.name}: {robot.mass:.1f} kg, nq = {robot.nq}, nv = {robot.nv}, nu = {robot.nu} motors\n")
    print(robot.tree())


def check_swing() -> None:
    """Ten seconds of a double pendulum, and the period of a pendulum, against what is known of them."""
    title("2. A swing, simulated")
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


def swing_kernel(robot: pliant.Robot, steps: int, dt: float) -> pliant.Kernel:
    """A program of many steps: its one block is the generic function below, compiled for the robot."""
    step = pliant.Block(lambda q, v: runge_kutta(robot, q, v, dt), reads=("q", "v"), writes=("q", "v"))
    program = pliant.Program(
        variables={"q": robot.nq, "v": robot.nv},
        inputs=("q", "v"),
        outputs=("q", "v"),
        body=[pliant.Loop([step], count=steps)],
    )
    shapes = {"q": (robot.nq,), "v": (robot.nv,)}
    return pliant.Kernel(program, shapes, shapes, name=f"{robot.name} swing")


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
    print(pliant.equations(pliant.load("two_link_arm")).text(width=90))


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


def timed(kernel: pliant.Kernel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, out: np.ndarray) -> float:
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
    print("  t [s]  height [m]  side [mm]  feet / weight  residual [m/s]  sweeps")
    for t, what in {0.1: "falls", 0.3: "has landed", 0.9: "stands", 1.2: "was pushed", 2.5: "stands"}.items():
        k = np.searchsorted(log.t, t - 1e-6)
        z, y = log["q", "root_joint.z"][k], 1e3 * log["q", "root_joint.y"][k]
        residual, sweeps = log["solver"][k, :2]
        print(f"  {t:5.1f}  {z:10.4f}  {y:9.2f}  {vertical[k] / weight:13.4f}  {residual:14.1e}  {sweeps:6.0f}  {what}")
    if not (abs(vertical[-1] / weight - 1) < 1e-2 and sim.diagnostics.is_converged):
        raise SystemExit("the quadruped does not stand")

    # the same in a batch, struck harder and harder, without a call of Python in between
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
    """A one-legged robot with a spring in its leg, by steps and from event to event, under the same controller."""
    title("6. A robot that hops, on a leg with a series-elastic spring")
    robot = pliant.load("hopper")
    controller = pliant.control.raibert(robot)
    q = robot.neutral()
    q[2] += 0.8
    sim = pliant.Simulation(robot, dt=5e-4, substeps=2, ground=pliant.flat(friction=0.8), controller=controller)
    sim.reset(q=q)
    sim.step([0, 0, 0.2])
    begin = time.perf_counter()
    log = sim.run(10.0, u=[0.5, 0, 0.2])
    elapsed = time.perf_counter() - begin
    speed = (log["q", "root_joint.x"][-1] - log.between(5, 10)["q", "root_joint.x"][0]) / 5
    energy = log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]
    tops = apexes(log["q", "root_joint.z"])
    print(f"told to go at 0.5 m/s: {len(tops)} hops in 10 s, the body up to {tops[-1]:.3f} m, at last {speed:.3f} m/s")
    print(f"energy {energy[-1]:.1f} J, {10 / elapsed:,.0f} times faster than real time")
    if not abs(speed - 0.5) < 0.05:
        raise SystemExit("the hopper does not follow its command")

    events = pliant.HybridSimulation(robot, ground=pliant.flat(), friction=0.8)
    events.reset(q=q)
    by_event = events.run(1.5, controller=controller, commands=[0, 0, 0.2], period=1e-3)
    print("from event to event:")
    for event in by_event.events:
        print(f"  {event}")
    sim.reset(q=q)
    by_step = sim.run(1.5, u=[0, 0, 0.2])
    a, b = apexes(by_event["q", "root_joint.z"]), apexes(by_step["q", "root_joint.z"])
    print(f"apexes {a.round(4)} m, by steps of 0.5 ms {b.round(4)} m")
    if len(a) != len(b) or abs(a / b - 1).max() > 0.01:
        raise SystemExit("the two simulations disagree")


def apexes(z: np.ndarray) -> np.ndarray:
    inside = z[1:-1]
    return inside[(inside > z[:-2]) & (inside >= z[2:]) & (inside > 0.7)]


if __name__ == "__main__":
    main()
