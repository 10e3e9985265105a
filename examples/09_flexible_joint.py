"""A rotor, a spring and a link: rigid, flexible, exact and approximate, and when it matters.

python examples/09_flexible_joint.py [--figures DIRECTORY]

With --figures it draws its results (needs matplotlib), as in docs/flexible_joints.md.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

import pliant

LINK, ROTOR, STIFFNESS = 1.0, 0.1, 100.0  # I and J [kg m^2], k [N m/rad]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", metavar="DIRECTORY", help="draw figures, as SVG files, into this directory")
    directory = parser.parse_args().figures
    responses = frequency_response()
    figures = {
        "extra_inertia": extra_inertia(),
        "energy": energy_of_three_axes(),
        "stiffer": stiffer_and_stiffer(),
    }
    when_it_matters()
    if directory:
        Path(directory).mkdir(parents=True, exist_ok=True)
        responses["linear"].plot(responses["shaken"], path=Path(directory) / "bode.svg")
        print(f"drew {Path(directory) / 'bode.svg'}")
        for name, draw in figures.items():
            draw_figure(Path(directory) / f"{name}.svg", *draw)


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def joint(stiffness: Any = None, damping: Any = 0, inertia: Any = 0, **motor: Any) -> pliant.Robot:
    """A link on a motor, in the plane and without gravity; with a spring between them if it has a stiffness."""
    builder = pliant.RobotBuilder("joint").gravity(0, 0, 0)
    builder.body("link", mass=1, inertia=(LINK, 0, 0, LINK, 0, LINK))
    builder.joint("knee", "revolute", "world", "link", axis=(0, 0, 1))
    robot = builder.motor("knee", **{"rotor_inertia": ROTOR, **motor}).build()
    if stiffness is None:
        return robot
    return robot.with_flexibility("knee", stiffness=stiffness, damping=damping, inertia=inertia)


# ---- 1


def frequency_response() -> dict[str, pliant.analysis.Bode]:
    title("1. Shaken by its motor: 120 robots, each at a frequency of its own, in one call")
    damping = 0.2
    frequencies = np.geomspace(1, 300, 120)
    robot = joint(STIFFNESS, damping)
    sides = {"motor": "motor_velocity.knee", "link": "link_velocity.knee"}
    shaken = pliant.analysis.bode(robot, frequencies, outputs=list(sides.values()), method="simulation", settle=12)
    linear = pliant.analysis.bode(robot, np.geomspace(1, 300, 2000), outputs=list(sides.values()))
    found = {side: shaken.response[output] for side, output in sides.items()}
    by_hand = {side: np.array([transfer(side, w, damping) for w in frequencies]) for side in sides}

    print("  w [rad/s]   motor: simulated   formula    link: simulated   formula   [(rad/s)/(N m)]")
    for k in range(0, len(frequencies), 17):
        numbers = [abs(x[side][k]) for side in sides for x in (found, by_hand)]
        print(f"  {frequencies[k]:9.2f}   {numbers[0]:16.7f} {numbers[1]:9.7f}   {numbers[2]:15.7f} {numbers[3]:9.7f}")
    off = max(abs(found[side] / by_hand[side] - 1).max() for side in found)
    lines = {side: np.array([transfer(side, w, damping) for w in linear.frequencies]) for side in sides}
    exact = max(abs(linear.response[output] / lines[side] - 1).max() for side, output in sides.items())
    zero, pole = math.sqrt(STIFFNESS / LINK), math.sqrt(STIFFNESS * (1 / LINK + 1 / ROTOR))
    print(f"largest difference {off:.1e}; the motor stands still near sqrt(k/I) = {zero:.3f} rad/s, "
          f"both swing most near sqrt(k (1/I + 1/J)) = {pole:.3f} rad/s")  # fmt: skip
    print(f"from the derivatives of the equations of motion, it is off by {exact:.0e}")
    if off > 1e-5 or exact > 1e-9:
        raise SystemExit("the response is off")
    return {"linear": linear, "shaken": shaken}


def transfer(side: str, w: float, damping: float) -> complex:
    """Velocity over torque of system (2), I (x1'' + x2'') = -k x1 - nu x1', I (x1'' + x2'') + J x2'' = u."""
    s = 1j * w
    spring = STIFFNESS + damping * s
    shared = s * (LINK * ROTOR * s**2 + (LINK + ROTOR) * spring)
    return (LINK * s**2 + spring if side == "motor" else spring) / shared


# ---- 2


def extra_inertia() -> tuple:
    title("2. An extra inertia If between spring and rotor: the error is proportional to it, and none is needed")
    sizes = np.array([1e-1, 1e-2, 1e-3, 1e-4, 1e-5])

    def run(inertia: float) -> np.ndarray:
        robot = joint(STIFFNESS, 0.5, inertia, control="position", kp=50, kd=5)
        sim = pliant.Simulation(robot, dt=2e-3, integrator="dormand-prince", rtol=1e-11, atol=1e-13)
        log = sim.run(1.0, u=[1.0], channels=("flexibility",))
        return log.link_position[:, 0]

    exact = run(0)
    errors = np.array([abs(run(size) - exact).max() for size in sizes])
    print("  If [kg m^2]   largest error of the link [rad]   error / If")
    for size, error in zip(sizes, errors, strict=True):
        print(f"  {size:11.0e}   {error:31.3e}   {error / size:10.4f}")
    slopes = np.diff(np.log(errors)) / np.diff(np.log(sizes))
    print(f"order of convergence {slopes.round(3)}")
    if abs(slopes[1:] - 1).max() > 0.05:
        raise SystemExit("the error is not proportional to the inertia")
    line = errors[2] / sizes[2] * sizes
    curve = [(sizes, errors, "C0o-", "simulated"), (sizes, line, "k:", "proportional to $I_f$")]
    return (("$I_f$ [kg m$^2$]", "error of the link [rad]", "log", "log", curve),)


# ---- 3


def energy_of_three_axes() -> tuple:
    title("3. Three axes, (100, 300, 900) N m/rad: energy that is off by so much of itself after 10 s")
    builder = pliant.RobotBuilder("wrist").gravity(0, 0, 0)
    builder.body("hand", mass=1, com=(0.1, 0.05, 0.2), inertia=(0.1, 0, 0, 0.13, 0, 0.07))
    builder.joint("wrist", "revolute", "world", "hand", axis=(0, 0, 1))
    robot = builder.motor("wrist", rotor_inertia=0.3).build()
    stiffness = (100, 300, 900)
    flexible = robot.with_flexibility("wrist", stiffness=stiffness)
    curves = []
    print("  deflection   adaptive   midpoint, 10 us   the torque -Jlog K log R, not transposed")
    for angle in (0.2, 0.8):
        axis = np.array([1, 2, 3]) / math.sqrt(14)
        q = np.array([*axis * math.sin(angle / 2), math.cos(angle / 2), 0.3])
        adaptive = energy(flexible, q, 10, dt=1e-2, integrator="dormand-prince", rtol=1e-12, atol=1e-12)
        midpoint = energy(flexible, q, 10, dt=1e-5, every=1e-2, integrator="midpoint")
        wrong = untransposed(flexible, q, stiffness)
        off = [abs(E / E[0] - 1).max() for E in (adaptive, midpoint, wrong)]
        print(f"  {angle:6.1f} rad   {off[0]:8.1e}   {off[1]:15.1e}   {off[2]:40.1%}")
        if off[0] > 1e-6 or off[1] > 1e-8:
            raise SystemExit("energy is not kept")
        t = np.linspace(0, 10, len(wrong))
        color = "C0-" if angle < 0.5 else "C1-"
        curves.insert(0, (t, 100 * (wrong / wrong[0] - 1), color, f"not transposed, {angle} rad"))
        label = "exact" if angle < 0.5 else ""
        curves.append((np.linspace(0, 10, len(adaptive)), 100 * (adaptive / adaptive[0] - 1), "k-", label))
    return (("time [s]", "change of energy [%]", "linear", "linear", curves),)


def energy(robot: pliant.Robot, q: np.ndarray, duration: float, every: float | None = None, **how: Any) -> np.ndarray:
    sim = pliant.Simulation(robot, **how)
    sim.reset(q=q)
    log = sim.run(duration, channels=("energy",), every=every)
    return log["energy.kinetic"] + log["energy.elastic"]


def untransposed(robot: pliant.Robot, q: np.ndarray, stiffness: tuple[float, ...]) -> np.ndarray:
    """The energy under a torque that looks right: Jlog in place of its transpose.

    Jlog u = u + w x u / 2 + c w x (w x u), with w = log R: `robot.chart_rate`.
    """

    def acceleration(t: Any, q: Any, v: Any) -> list[Any]:
        w = list(robot.difference(robot.neutral(), q))[:3]
        pull = [-k * x for k, x in zip(stiffness, w, strict=True)]
        torque = list(robot.chart_rate([*w, 0], [*pull, 0]))
        return pliant.forward_dynamics.algorithm(robot, q, v, torque)

    solution = pliant.integrators.DenseSolver(robot, acceleration)(q, np.zeros(robot.nv), 10.0)
    assert isinstance(solution, pliant.integrators.DenseSolution)
    states = [solution(t) for t in np.linspace(0, 10, 501)]
    turned = np.array([robot.difference(robot.neutral(), q)[:3] for q, _ in states])
    kinetic = np.array([float(pliant.dynamics.kinetic_energy(robot, q, v)) for q, v in states])
    return kinetic + (turned**2 @ np.array(stiffness)) / 2


# ---- 4


def stiffer_and_stiffer() -> tuple:
    title("4. Stiffer and stiffer, at a step of 1 ms: it becomes the rigid joint with the rotor's inertia")
    builder = pliant.RobotBuilder("pendulum")
    builder.body("rod", mass=1, com=(0, 0, -0.5), inertia=(1 / 12, 0, 0, 1 / 12, 0, 0))
    builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))
    rigid = builder.motor("hinge", rotor_inertia=0.1).build()

    def run(robot: pliant.Robot) -> np.ndarray:
        sim = pliant.Simulation(robot, dt=1e-3)
        sim.reset(q=robot.q_from(rigid, [1.0]))
        q = sim.run(5.0, channels=("q",)).q
        return q.sum(axis=1)

    reference = run(rigid)
    stiffnesses, errors = np.array([1e2, 1e3, 1e4, 1e5, 1e6, 1e7]), []
    print("  k [N m/rad]   largest difference from the rigid pendulum in 5 s [rad]")
    for k in stiffnesses:
        errors.append(abs(run(rigid.with_flexibility("hinge", stiffness=k)) - reference).max())
        print(f"  {k:11.0e}   {errors[-1]:.2e}")
    if not (np.diff(errors) < 0).all() or errors[-1] > 1e-5:
        raise SystemExit("it does not become rigid")
    return (
        ("k [N m/rad]", "difference from rigid [rad]", "log", "log", [(stiffnesses, np.array(errors), "C0o-", "")]),
    )


# ---- 5


def when_it_matters() -> None:
    title("5. When it matters: a motor turns its link to a target of 1 rad, with gains on the motor side")
    print("  k [N m/rad]   bandwidth of the gains / resonance   overshoot of link    oscillation after 2 s")
    kp, kd = 200.0, 30.0
    bandwidth = math.sqrt(kp / (LINK + ROTOR))
    for k in (None, 1e5, 1e3, 100, 20):
        robot = joint(k, 0, control="position", kp=kp, kd=kd)
        sim = pliant.Simulation(robot, dt=1e-3)
        log = sim.run(2.5, u=[1.0], channels=("q",))
        link = log.q.sum(axis=1)
        late = link[log.t > 2]
        ratio = 0 if k is None else bandwidth / math.sqrt(k * (1 / LINK + 1 / ROTOR))
        name = "rigid" if k is None else f"{k:.0e}"
        print(f"  {name:>11}   {ratio:34.3f}   {max(link.max() - 1, 0):16.1%}   {np.ptp(late) / 2:25.4f} rad")
    print("a spring whose resonance is well above what the gains ask for may be left out;\n"
          "the nearer it comes, the less the motor's side knows of what the link does")  # fmt: skip


def draw_figure(path: Path, *panels: tuple) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "pliant"  # the same picture is the same file
    figure, axes = plt.subplots(len(panels), figsize=(6.4, 3.2 * len(panels)), squeeze=False)
    for axis, (x, y, x_scale, y_scale, curves) in zip(axes[:, 0], panels, strict=True):
        for a, b, style, label in curves:
            axis.plot(a, b, style, label=label, markersize=4, linewidth=1)
        axis.set(xlabel=x, ylabel=y, xscale=x_scale, yscale=y_scale)
        axis.grid(alpha=0.3)
        if any(label for *_, label in curves):
            axis.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    print(f"drew {path}")


if __name__ == "__main__":
    main()
