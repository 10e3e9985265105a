"""Rigid and compliant contact on the same motions: accuracy and cost.

python examples/14_compare_contacts.py [--figures DIRECTORY]

With --figures it plots error against computation time (needs matplotlib), as in docs/compare_contacts.md.
"""

import argparse
import math
from pathlib import Path

import numpy as np

import pliant

G = 9.81
EXIT = 0.01  # speed at which the default law lets go [m/s]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", metavar="DIRECTORY", help="draw figures, as SVG files, into this directory")
    directory = parser.parse_args().figures
    found = {"drop": drop(), "bounce": bounce(), "stand": stand(), "hop": hop()}
    if directory:
        for name, comparison in found.items():
            draw(Path(directory) / f"compare_{name}.svg", comparison)


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def column(comparison: pliant.analysis.ContactComparison, method: str, name: str) -> np.ndarray:
    return np.array([getattr(row, name) for row in comparison.of(method)])


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """Of the line through the logarithms: the order of convergence."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def make_ball() -> pliant.Robot:
    builder = pliant.RobotBuilder("ball").body("ball", mass=1, inertia=(0.004, 0, 0, 0.004, 0, 0.004))
    return builder.build(base="free").with_contact("ball", radius=0.1)


# ---- 1


def drop() -> pliant.analysis.ContactComparison:
    title("1. A ball of 1 kg falls 0.2 m and stays where it lands")
    found = pliant.analysis.compare_contacts(make_ball(), q=[0, 0, 0.3, 0, 0, 0, 1], duration=0.5)
    print(found)
    order = slope(column(found, "rigid", "setting"), column(found, "rigid", "error"))
    stiffness, smooth = (column(found, "compliant, adaptive", name) for name in ("setting", "error"))
    stepped = column(found, "compliant", "error")
    print(f"rigid: the error goes with dt^{order:.2f}, since the instant of landing is known to a step")
    # m r dr/dx = -k x (1 + r / EXIT), from r = v at x = 0 to r = 0
    v = math.sqrt(2 * G * 0.2)
    depth = np.sqrt(2 / stiffness * EXIT * (v - EXIT * math.log(1 + v / EXIT)))
    rise = slope(stiffness[2:], smooth[2:])
    print(
        f"compliant: the error goes with k^{rise:.2f}; it is the depth, {smooth[-1]:.2e} m, by hand {depth[-1]:.2e} m"
    )
    print(f"in steps of 0.1 ms it ends at {stepped[-1]:.1e} m, the error of the steps, {v * 1e-4:.1e} m at most")
    rest = column(found, "compliant, adaptive", "error_at_end")[2:] * stiffness[2:] / G
    print(f"at rest it is m g / k, times {rest.min():.4f} to {rest.max():.4f}")
    is_right = abs(order - 1) < 0.1 and abs(rise + 0.5) < 0.05 and abs(rest - 1).max() < 0.02
    if not (is_right and abs(smooth[-1] / depth[-1] - 1) < 0.05 and smooth[-1] < stepped[-1] < 1.1e-4 * v):
        raise SystemExit("errors are not what they should be")
    return found


# ---- 2


def bounce() -> pliant.analysis.ContactComparison:
    title("2. It bounces, with restitution 0.6: springs that are too stiff for the steps swallow the bounce")
    found = pliant.analysis.compare_contacts(
        make_ball(), q=[0, 0, 0.3, 0, 0, 0, 1], duration=0.5, restitution=0.6, friction=0,
        stiffness=(1e4, 1e5, 1e6, 1e7),
    )  # fmt: skip
    print(found)
    stepped, smooth = (column(found, method, "error") for method in ("compliant", "compliant, adaptive"))
    best = int(np.argmin(stepped))
    print(f"in steps of 0.1 ms the best stiffness is {column(found, 'compliant', 'setting')[best]:.0e} N/m; "
          f"{stepped[-1] / stepped[best]:.0f} times its error with the stiffest")  # fmt: skip
    if not (0 < best < 3 and stepped[-1] > 2 * stepped[best] and (np.diff(smooth) < 0).all()):
        raise SystemExit("errors are not what they should be")
    return found


# ---- 3


def stand() -> pliant.analysis.ContactComparison:
    title("3. A leg on a rail stands on its motors")
    builder = pliant.RobotBuilder("leg")
    builder.body("carriage", mass=2)
    builder.body("thigh", mass=0.8, com=(0, 0, -0.1), inertia=(3e-3, 0, 0, 3e-3, 0, 4e-4))
    builder.body("shank", mass=0.2, com=(0, 0, -0.09), inertia=(7e-4, 0, 0, 7e-4, 0, 1e-5))
    builder.joint("rail", "prismatic", "world", "carriage", axis=(0, 0, 1))
    builder.joint("hip", "revolute", "carriage", "thigh", axis=(0, 1, 0))
    builder.joint("knee", "revolute", "thigh", "shank", (0, 0, -0.2), axis=(0, 1, 0))
    builder.frame("foot", "shank", (0, 0, -0.2))
    builder.motor("hip").motor("knee")
    robot = builder.build().with_motors(control="position", kp=150, kd=4).with_contact("foot", radius=0.02)
    crouch = np.array([0.0, 0.6, -1.2])
    crouch[0] = 0.02 - pliant.frame_pose(robot, crouch, "foot")[2, 3]
    found = pliant.analysis.compare_contacts(robot, q=crouch, u=crouch[1:], duration=0.5, friction=0.8)
    print(found)
    order = slope(column(found, "rigid", "setting"), column(found, "rigid", "error"))
    stiffness = column(found, "compliant", "setting")
    sunk = column(found, "compliant", "penetration")
    by_hand = robot.mass * G / stiffness
    print(f"rigid: the error goes with dt^{order:.2f}; compliant: the foot sinks by {sunk[2]:.3e} m, "
          f"m g / k is {by_hand[2]:.3e} m")  # fmt: skip
    errors = column(found, "compliant", "error")
    if abs(order - 1) > 0.15 or errors[2] > 0.05 * errors[0] or not 0.99 < sunk[2] / by_hand[2] < 1.5:
        raise SystemExit("errors are not what they should be")
    return found


# ---- 4


def hop() -> pliant.analysis.ContactComparison:
    title("4. The hopper hops for 2 s at 0.3 m/s, its controller asked every 2 ms")
    robot = pliant.load("hopper")
    found = pliant.analysis.compare_contacts(
        robot, q=[0, 0, 0.83, 0, 0, 0, 1, 0, 0, 0, 0], duration=2.0, friction=0.8, slip_speed=1e-2,
        controller=pliant.control.raibert(robot), commands=[0.3, 0, 0.2], period=2e-3, dt=1e-4,
        rigid_dt=[2e-3, 1e-3, 5e-4, 2e-4, 1e-4], stiffness=(1e4, 1e5, 1e6, 1e7),
    )  # fmt: skip
    print(found)
    landings = [event.t for event in found.reference.events if event.kind == "touch-down"]
    print("lands at " + ", ".join(f"{t:.6f}" for t in landings) + " s")
    rigid, soft = (column(found, method, "error") for method in ("rigid", "compliant"))
    print(f"rigid: {rigid[0]:.1e} m at 2 ms, {rigid[-1]:.1e} m at 0.1 ms; "
          f"compliant: {soft[0]:.1e} m at 1e4 N/m, {soft[-1]:.1e} m at 1e7 N/m")  # fmt: skip
    if len(landings) != 3 or rigid[-1] > 0.3 * rigid[0] or soft[-1] > 0.1 * soft[0]:
        raise SystemExit("errors are not what they should be")
    return found


def draw(path: Path, comparison: pliant.analysis.ContactComparison) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "pliant"  # the same numbers are the same file
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    comparison.plot(axes)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    print(f"drew {path}")


if __name__ == "__main__":
    main()
