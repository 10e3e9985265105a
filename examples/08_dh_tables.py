"""Denavit-Hartenberg tables: from the paper to equations, to motion, and back from a robot to its table.

python examples/08_dh_tables.py
"""

from math import pi

import numpy as np

import pliant

RIGHT = pi / 2


def main() -> None:
    two_link_arm()
    puma()
    back_to_a_table()
    rounded_file()
    hopper()


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def two_link_arm() -> None:
    title("1. A table with symbols, and the equations of the arm")
    import sympy

    m1, m2, l1, l2, g = sympy.symbols("m1 m2 l1 l2 g", positive=True)
    q1, q2 = sympy.symbols("q1 q2")
    rows = [
        pliant.formats.DHRow(
            name="shoulder", mass=m1, com=(l1 / 2, 0, 0), inertia=(0, m1 * l1**2 / 12, m1 * l1**2 / 12)
        ),
        pliant.formats.DHRow(
            name="elbow", a=l1, mass=m2, com=(l2 / 2, 0, 0), inertia=(0, m2 * l2**2 / 12, m2 * l2**2 / 12)
        ),
    ]
    arm = pliant.from_dh(rows, name="arm", tool=((l2, 0, 0), (0, 0, 0)), gravity=(0, -g, 0))
    M = pliant.mass_matrix(arm, [q1, q2])
    for i, j in ((0, 0), (0, 1), (1, 1)):
        print(f"M{i + 1}{j + 1} = {sympy.expand(sympy.simplify(M[i, j]))}")
    x, y = (sympy.simplify(p) for p in pliant.frame_pose(arm, [q1, q2], "tool")[:2, 3])
    print(f"tip: x = {x}, y = {y}")
    by_hand = m2 * (l2**2 / 3 + l1 * l2 * sympy.cos(q2) / 2)
    if sympy.simplify(M[0, 1] - by_hand) != 0:
        raise SystemExit("M12 is off")


def puma() -> None:
    """PUMA 560, table and equation of Craig, Introduction to Robotics, 3.7."""
    title("2. Numbers: the PUMA 560 by the modified convention")
    a2, a3, d3, d4 = 0.4318, 0.0203, 0.1244, 0.4318
    rows = [(0, 0, 0, 0), (-RIGHT, 0, 0, 0), (0, a2, 0, d3), (-RIGHT, a3, 0, d4), (RIGHT, 0, 0, 0), (-RIGHT, 0, 0, 0)]
    robot = pliant.from_dh(rows, name="puma")
    q = robot.random(1, batch=1000)
    p = pliant.frame_pose(robot, q, "frame6")[:, :3, 3]
    c1, s1, c2, c23, s23 = np.cos(q[:, 0]), np.sin(q[:, 0]), np.cos(q[:, 1]), *_of_sum(q[:, 1] + q[:, 2])
    by_hand = c1 * (a2 * c2 + a3 * c23 - d4 * s23) - d3 * s1
    error = abs(p[:, 0] - by_hand).max()
    print(f"px of the wrist, 1000 configurations: agrees with the book's formula to {error:.0e} m")
    if not error < 1e-15:
        raise SystemExit("the wrist is off")


def _of_sum(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.cos(angle), np.sin(angle)


def back_to_a_table() -> None:
    title("3. And back: the table of a robot from a file")
    robot = pliant.load("arm7")
    table = pliant.formats.to_dh(robot)
    print(table)
    back = pliant.from_dh(table)
    q = robot.random(2, batch=100)
    pose = abs(pliant.frame_pose(back, q, "tool") - pliant.frame_pose(robot, q, "tool")).max()
    mass = abs(pliant.mass_matrix(back, q) - pliant.mass_matrix(robot, q)).max()
    print(f"poses of the tool agree to {pose:.0e}, mass matrices to {mass:.0e}")
    if not max(pose, mass) < 1e-12:
        raise SystemExit("the table is of another robot")


def rounded_file() -> None:
    title("4. Axes that are parallel but for the digits of a file")
    builder = pliant.RobotBuilder("arm")
    for name in ("upper", "lower"):
        builder.body(name, 1, (0.1, 0, 0), (0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("first", "revolute", "world", "upper")
    builder.joint("second", "revolute", "upper", "lower", (0.5, 0, 0.1), (0, 3.14159, 0))
    robot = builder.build()
    print(f"{pliant.formats.to_dh(robot)}\nwith tolerance=1e-4:\n{pliant.formats.to_dh(robot, tolerance=1e-4)}")


def hopper() -> None:
    title("5. A hopping robot in flight")
    robot = pliant.load("hopper_flight")
    # this integrator is for smooth motion: without the limits of joints
    sim = pliant.Simulation(robot, dt=0.01, integrator="dormand-prince", rtol=1e-10, atol=1e-12, limits=False)
    sim.reset(q=np.array([0.1, -0.2, 0.3, 0.2, -0.1, 0.0]))
    for k in range(100):
        sim.step(np.array([1.0, -0.5, 2.0]) * np.cos(0.05 * k))
    h = pliant.centroidal_momentum(robot, sim.q, sim.v)
    about_hip = h[3:] + np.cross(pliant.center_of_mass(robot, sim.q), h[:3])
    turned = np.degrees(abs(sim.q[:3] - [0.1, -0.2, 0.3]).max())
    print(f"it swings its leg for a second: the body has turned by {turned:.0f} degrees,")
    print(f"the angular momentum about the hip is still zero, to {abs(about_hip).max():.0e} kg m^2/s")
    if not abs(about_hip).max() < 1e-8:
        raise SystemExit("angular momentum from nowhere")


if __name__ == "__main__":
    main()
