"""The simulator of the lecture notes "Building a simulator", formula by formula, next to Pliant's own.

python examples/16_lecture_notes.py [--figures DIRECTORY]

Each function of the first half is one formula of the notes. docs/lecture_notes.md explains them. With --figures it
draws the figures of that page (needs matplotlib).
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pliant
from pliant import constrained as lab

Feet = tuple[str, ...]


class Motion(NamedTuple):
    """Times, states and vertical foot forces of a run; ``events`` are (time, kind, feet)."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    events: list


def arrays(states: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of q, v and force, from a list with all three for each step."""
    q, v, force = zip(*states, strict=True)
    return np.array(q), np.array(v), np.array(force)


# ---- the notes: forward dynamics

FULL_RANK = {"tolerance": None}  # "N requires J to be full rank": the feet's rows are independent


def contact_force(robot: pliant.Robot, q, v, tau, feet: Feet):
    """Step 3: f = Lambda [J M^-1 (h - S^T tau) - Jdot v], the forces that hold the feet."""
    return lab.constrained_dynamics(robot, q, v, tau, contacts=feet, **FULL_RANK).f


def acceleration(robot: pliant.Robot, q, v, tau, feet: Feet):
    """Step 7: vd = M^-1 [N S^T tau - N h - J^T Lambda Jdot v]; in flight, vd = M^-1 (S^T tau - h)."""
    if not feet:
        return pliant.forward_dynamics(robot, q, v, tau)
    terms = lab.contact_consistent_dynamics(robot, q, v, tau, contacts=feet, **FULL_RANK)
    return np.linalg.solve(terms.M, terms.drive - terms.bias - terms.curvature)


def euler_step(robot: pliant.Robot, q, v, a, dt: float):
    """Step 7: v+ = v + dt a, then q+ = q + dt v+ + dt^2/2 a, on the configuration manifold."""
    v = v + dt * a
    return robot.integrate(q, dt * v + dt**2 / 2 * a), v


# ---- the notes: impact, lift-off and touch-down


def foot_state(robot: pliant.Robot, q, v, foot: str):
    """Position p and velocity J v of a foot."""
    return pliant.frame_pose(robot, q, foot)[:3, 3], lab.contact_jacobian(robot, q, contacts=(foot,)) @ v


def landed(robot: pliant.Robot, q, v, feet: Feet, stance: Feet) -> Feet:
    """The stance with all feet that have reached the ground, x_c = 0, and still approach it."""
    states = {foot: foot_state(robot, q, v, foot) for foot in feet if foot not in stance}
    return tuple(foot for foot in feet if foot in stance or (states[foot][0][2] <= 0 and states[foot][1][2] < 0))


def impact(robot: pliant.Robot, q, v, stance: Feet):
    """Contact dynamics, steps 3 and 4: F = -Lambda J v, F >= 0, and v+ = N_vel v. Feet with F < 0 leave."""
    while stance:
        hit = lab.impact_dynamics(robot, q, v, contacts=stance, **FULL_RANK)
        F = hit.impulse[2::3]
        if (F >= 0).all():
            return hit.v, stance
        stance = tuple(foot for foot, push in zip(stance, F, strict=True) if push >= 0)
    return v, stance


def lifted_off(robot: pliant.Robot, q, v, tau, stance: Feet) -> tuple[Feet, np.ndarray]:
    """The stance without the feet whose normal force has fallen to zero, and the forces on the others."""
    while stance:
        f = contact_force(robot, q, v, tau, stance)
        if (f[2::3] > 0).all():
            return stance, f
        stance = tuple(foot for foot, push in zip(stance, f[2::3], strict=True) if push > 0)
    return stance, np.zeros(0)


def simulate(robot: pliant.Robot, feet: Feet, q, v, torques: Callable, duration: float, dt: float) -> Motion:
    """The simulator of the notes: touch-down, impact, lift-off, acceleration, Euler step."""
    stance: Feet = ()
    t, states, events = dt * np.arange(round(duration / dt) + 1), [], []
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    for now in t:
        touching = landed(robot, q, v, feet, stance)
        if touching != stance:
            v, stance = impact(robot, q, v, touching)
            events.append((now, "touch-down", stance))
        tau = torques(q, v)
        pressing, f = lifted_off(robot, q, v, tau, stance)
        if pressing != stance:
            stance = pressing
            events.append((now, "lift-off", stance))
        states.append((q, v, f[2::3].sum()))
        q, v = euler_step(robot, q, v, acceleration(robot, q, v, tau, stance), dt)
    return Motion(t, *arrays(states), events)


# ---- the notes: soft contact


def spring_force(p, pdot, p0, K: float, D: float):
    """Soft contact model: f = K (p0 - p) - D pdot, as long as it pushes."""
    f = K * (p0 - p) - D * pdot
    return f if f[2] > 0 else np.zeros(3)


def simulate_soft(robot: pliant.Robot, feet: Feet, q, v, torques: Callable, duration, dt, K: float, D: float) -> Motion:
    """M vd + h = S^T tau + J^T f with springs at the feet, anchored where each touched the ground."""
    anchors: dict[str, np.ndarray] = {}
    t, states = dt * np.arange(round(duration / dt) + 1), []
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    for _ in t:
        tau, force = torques(q, v), 0.0
        for foot in feet:
            p, pdot = foot_state(robot, q, v, foot)
            if p[2] > 0:
                anchors.pop(foot, None)
                continue
            f = spring_force(p, pdot, anchors.setdefault(foot, p * [1, 1, 0]), K, D)
            tau, force = tau + lab.contact_jacobian(robot, q, contacts=(foot,)).T @ f, force + f[2]
        states.append((q, v, force))
        q, v = euler_step(robot, q, v, acceleration(robot, q, v, tau, ()), dt)
    return Motion(t, *arrays(states), [])


# ---- two robots, simulated three ways

STICKS = 1000  # a coefficient of friction for feet that do not slip


class Case(NamedTuple):
    """A robot above the ground and the gains of its joints, of motors and of real springs."""

    robot: pliant.Robot
    feet: Feet
    q: np.ndarray
    v: np.ndarray
    rest: np.ndarray
    kp: np.ndarray
    kd: np.ndarray
    u: np.ndarray
    duration: float

    def torques(self, q, v):
        """S^T tau, with tau = kp (rest - q) - kd v: nothing drives the free base."""
        return np.concatenate([np.zeros(6), self.kp * (self.rest - q[7:]) - self.kd * v[6:]])

    def by_notes(self, dt: float) -> Motion:
        return simulate(self.robot, self.feet, self.q, self.v, self.torques, self.duration, dt)

    def by_springs(self, dt: float, K: float, D: float) -> Motion:
        return simulate_soft(self.robot, self.feet, self.q, self.v, self.torques, self.duration, dt, K, D)

    def by_simulation(self, dt: float, **options) -> pliant.Log:
        sim = pliant.Simulation(self.robot, dt=dt, ground=pliant.flat(friction=STICKS), **options)
        sim.reset(q=self.q, v=self.v)
        return sim.run(self.duration, u=self.u)

    def by_events(self, **options):
        sim = pliant.EventSimulation(self.robot, ground=pliant.flat(friction=STICKS), **options)
        sim.reset(q=self.q, v=self.v)
        return sim.run(self.duration, u=self.u, every=1e-3)


def hopper() -> Case:
    """It falls 0.2 m while it moves at 0.3 m/s, lands on its springy leg, and is thrown up again."""
    robot = pliant.load("hopper").without_contacts().with_contacts("foot")
    for hip in ("hip_roll", "hip_pitch"):
        robot = robot.with_motor(hip, control="position", kp=200, kd=10)
    robot = robot.with_motor("leg", control="position", kp=4e4, kd=400)
    kp, kd = np.array([200, 200, 7000, 4e4]), np.array([10, 10, 35, 400])  # the third is the spring of the leg
    q, v = np.array([0, 0, 0.8, 0, 0, 0, 1, 0, 0.05, 0, 0]), np.array([0.3, *np.zeros(9)])
    return Case(robot, ("foot",), q, v, np.zeros(4), kp, kd, np.zeros(3), 0.6)


def quadruped() -> Case:
    """It falls 0.05 m, tilted by 0.03 rad, lands on its front feet, then on its hind feet, and stands."""
    feet = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
    robot = pliant.load("quadruped").with_contacts(*feet).with_motors(control="position", kp=100, kd=4)
    stance = np.array([0, 0.8, -1.6, 0, -0.8, 1.6] * 2)  # knees of front and hind legs point at each other
    q = np.array([0, 0, 0, 0, math.sin(0.015), 0, math.cos(0.015), *stance])
    q[2] = 0.05 - min(pliant.frame_pose(robot, q, foot)[2, 3] for foot in feet)
    return Case(robot, feet, q, np.zeros(18), stance, np.full(12, 100), np.full(12, 4), stance, 0.4)


# ---- comparison


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", metavar="DIRECTORY", help="draw figures, as SVG files, into this directory")
    directory = parser.parse_args().figures
    check_formulas(hopper())
    errors = {"hopper": compare_hopper(hopper()), "quadruped": compare_quadruped(quadruped())}
    soften(hopper())
    if directory:
        draw(Path(directory), hopper(), errors)


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def height_error(reference, t: np.ndarray, q: np.ndarray) -> float:
    """Largest error of the body's height [m]."""
    return float(abs(q[:, 2] - reference.at(np.minimum(t, reference.t[-1]))[0][:, 2]).max())


def order(x, y) -> float:
    """Slope of the line through the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def check_formulas(case: Case) -> None:
    title("1. The notes' formulas, written out, and the functions above, on the hopper")
    robot, feet, held = case.robot, case.feet, {"contacts": case.feet}
    rng = np.random.default_rng(16)
    q = robot.integrate(case.q, 0.1 * rng.normal(size=robot.nv))
    v = rng.normal(size=robot.nv) - [0, 0, 9, *np.zeros(7)]  # downward
    tau, M, h = case.torques(q, v), pliant.mass_matrix(robot, q), pliant.bias_forces(robot, q, v)
    J, bias = lab.contact_jacobian(robot, q, **held), lab.contact_bias(robot, q, v, **held)
    M_inverse = np.linalg.inv(M)
    Lambda = np.linalg.inv(J @ M_inverse @ J.T)
    N = np.eye(robot.nv) - J.T @ Lambda @ J @ M_inverse
    vd = M_inverse @ (N @ (tau - h) - J.T @ Lambda @ bias)
    after, _ = impact(robot, q, v, feet)
    rows = {
        "Lambda": (lab.contact_inertia(robot, q, **held), Lambda),
        "N": (lab.force_projector(robot, q, **held), N),
        "f": (contact_force(robot, q, v, tau, feet), Lambda @ (J @ M_inverse @ (h - tau) - bias)),
        "vd": (acceleration(robot, q, v, tau, feet), vd),
        "vd, Aghili's projector": (lab.aghili_acceleration(robot, q, v, tau, **held), vd),
        "N_vel = N^T": (lab.impact_map(robot, q, **held), N.T),
        "v+ = N_vel v": (after, N.T @ v),
        "energy lost": ((after - v) @ M @ (after - v) / 2, (J @ v) @ Lambda @ (J @ v) / 2),
    }
    for name, (found, by_hand) in rows.items():
        difference = np.abs(found - by_hand).max() / np.abs(by_hand).max()
        print(f"{name:<23} agrees to {difference:.0e}")
        if difference > 1e-11:
            raise SystemExit(f"{name} is not what the notes say")


Errors = dict[str, tuple[list[float], list[float]]]


def compare_hopper(case: Case) -> Errors:
    title("2. The hopper falls, lands, and leaves the ground again")
    reference = case.by_events(rtol=1e-10, atol=1e-12)
    times = [next(event.t for event in reference.events if event.kind == kind) for kind in ("touch-down", "lift-off")]
    print(f"event-driven    touch-down {times[0]:.6f} s  lift-off {times[1]:.6f} s")
    steps, long_steps = [4e-3, 2e-3, 1e-3, 5e-4], [8e-3, 4e-3, 2e-3]
    errors: Errors = {"notes": (steps, []), "Simulation": (steps, []), "EventSimulation": (long_steps, [])}
    for dt in steps:
        motion, log = case.by_notes(dt), case.by_simulation(dt)
        (down, *_), (up, *_) = motion.events
        print(f"notes, {1e3 * dt:4.2f} ms  touch-down {down:.5f} s   lift-off {up:.5f} s")
        errors["notes"][1].append(height_error(reference, motion.t, motion.q))
        errors["Simulation"][1].append(height_error(reference, log.t, log.q))
        if max(abs(down - times[0]), abs(up - times[1])) > 2 * dt:
            raise SystemExit("the hopper does not land or lift off within two steps of the event-driven one")
    for dt in long_steps:  # so loose a tolerance that all steps are of this length
        log = case.by_events(rtol=1e3, atol=1e3, max_step=dt)
        errors["EventSimulation"][1].append(height_error(reference, log.t, log.q))
    return tell_orders(errors, {"notes": (1, 0.05), "Simulation": (1, 0.2), "EventSimulation": (5, 1)})


def compare_quadruped(case: Case) -> Errors:
    title("3. The quadruped lands on its front feet, on its hind feet, and stands")
    reference = case.by_events()
    landings = reference.events_of("touch-down")
    print("event-driven    " + "  ".join(f"{' '.join(event.names)} {event.t:.6f} s" for event in landings))
    steps = [1e-3, 2.5e-4]
    errors: Errors = {"notes": (steps, []), "Simulation": (steps, [])}
    runs = {dt: case.by_notes(dt) for dt in steps}
    for dt, motion in runs.items():
        feet_down = "  ".join(f"{len(feet)} feet at {t:.5f} s" for t, _, feet in motion.events)
        print(f"notes, {1e3 * dt:4.2f} ms  {feet_down}")
        errors["notes"][1].append(height_error(reference, motion.t, motion.q))
        late = [abs(t - event.t) for (t, *_), event in zip(motion.events, landings, strict=True)]
        if max(late) > 2 * dt:
            raise SystemExit("the feet do not land within two steps of the event-driven ones")
    for dt in steps:
        log = case.by_simulation(dt)
        errors["Simulation"][1].append(height_error(reference, log.t, log.q))
    weight = case.robot.mass * 9.81
    shares = runs[steps[-1]].force[-1] / weight, reference["forces"][-1, 2::3].sum() / weight
    print(f"at the end the feet carry {shares[0]:.3f} of the weight, {shares[1]:.3f} event-driven")
    if abs(shares[0] - shares[1]) > 0.01:
        raise SystemExit("the quadruped does not stand as the event-driven one")
    # the error is dt times a number that depends on where in its step a foot lands, and varies by a half
    return tell_orders(errors, {"notes": (1, 0.3), "Simulation": (1, 0.3)})


def tell_orders(errors: Errors, expected: dict[str, tuple[float, float]]) -> Errors:
    for name, (steps, found) in errors.items():
        slope = order(steps, found)
        print(
            f"{name:<15} order {slope:.2f}; error of the height "
            + ", ".join(f"{e:.1e} m at {1e3 * dt:g} ms" for dt, e in zip(steps, found, strict=True))
        )
        if abs(slope - expected[name][0]) > expected[name][1]:
            raise SystemExit(f"{name} is not of order {expected[name][0]}")
    return errors


def soften(case: Case) -> None:
    title("4. Soft contact: stiff springs need short steps")
    reference = case.by_events(rtol=1e-6, atol=1e-8)
    mass = lab.contact_inertia(case.robot, case.q, contacts=(("foot", "z"),))[0, 0]
    print("K [N/m]  longest step [ms]  step [ms]  off the rigid one [m]")
    gaps, stiffnesses = [], [1e4, 1e5, 1e6]
    for K in stiffnesses:
        D = 2 * math.sqrt(K * mass)  # critical
        longest = (math.sqrt(3) - 1) * math.sqrt(mass / K)  # of dt^2 K / m + dt D / m < 2
        dt = case.duration / math.ceil(2 * case.duration / longest)
        motion = case.by_springs(dt, K, D)
        gaps.append(height_error(reference, motion.t, motion.q))
        print(f"{K:.0e}  {1e3 * longest:17.2f}  {1e3 * dt:9.3f}  {gaps[-1]:21.5f}")
    K = stiffnesses[1]
    law = pliant.AnchoredSpringDamper(K, 2 * math.sqrt(K * mass), friction=STICKS)
    log = case.by_simulation(1e-3, contact=pliant.CompliantContact(law))
    beside = height_error(reference, log.t, log.q)
    print(f"Simulation with AnchoredSpringDamper, {K:.0e} N/m, 1 ms: {beside:.5f} m")
    print(f"the difference goes with K^{order(stiffnesses, gaps):.2f}")
    if abs(order(stiffnesses, gaps) + 1) > 0.15 or abs(beside / gaps[1] - 1) > 0.2:
        raise SystemExit("springs do not become rigid as they should")


def draw(folder: Path, case: Case, errors: dict[str, Errors]) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "pliant"  # the same numbers are the same file
    folder.mkdir(parents=True, exist_ok=True)
    exact, notes, stepped = case.by_events(), case.by_notes(4e-3), case.by_simulation(4e-3)
    soft = case.by_springs(1e-3, 1e4, 100)
    curves = {
        "notes, soft, 1e4 N/m, 1 ms": (soft.t, soft.q, soft.force, "C2"),
        "notes, 4 ms": (notes.t, notes.q, notes.force, "C1"),
        "Simulation, 4 ms": (stepped.t, stepped.q, stepped["forces"][:, 2], "C0"),
        "EventSimulation": (exact.t, exact.q, exact["forces"][:, 2], "black"),
    }
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 5), sharex=True, layout="constrained")
    for name, (t, q, force, colour) in curves.items():
        top.plot(t, q[:, 2], color=colour, label=name, linewidth=1.2)
        bottom.plot(t, force, color=colour, linewidth=1.2)
    top.set(ylabel="height of the body [m]")
    top.legend(loc="lower left", fontsize="small")
    bottom.set(xlabel="time [s]", ylabel="force on the foot [N]")
    save(figure, folder / "lecture_notes_hop.svg")

    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    colours = {"notes": "C1", "Simulation": "C0", "EventSimulation": "black"}
    for robot, lines in errors.items():
        for name, (steps, found) in lines.items():
            label = f"{name}, {robot}: order {order(steps, found):.1f}"
            line = "o-" if robot == "hopper" else "s--"
            axes.loglog([1e3 * dt for dt in steps], found, line, color=colours[name], label=label, markersize=4)
    axes.set(xlabel="step [ms]", ylabel="largest error of the body's height [m]")
    ticks = [0.25, 0.5, 1, 2, 4, 8]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    axes.set_xticks([], minor=True)
    axes.legend()
    save(figure, folder / "lecture_notes_orders.svg")


def save(figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    print(f"drew {path}")


if __name__ == "__main__":
    main()
