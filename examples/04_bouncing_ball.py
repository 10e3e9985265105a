"""A ball that bounces, and one that slides until it rolls, compared with closed forms.

python examples/04_bouncing_ball.py
"""

import math

import numpy as np

import pliant

G, RADIUS = 9.81, 0.1


def main() -> None:
    ball = make_ball()
    bounce(ball)
    slide_until_it_rolls(ball)


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def make_ball() -> pliant.Robot:
    builder = pliant.RobotBuilder("ball")
    builder.body("ball", mass=1, inertia=(0.004, 0, 0, 0.004, 0, 0.004))  # 2/5 m r^2
    return builder.build(base="free").with_contact("ball", radius=RADIUS)


def bounce(ball: pliant.Robot) -> None:
    title("1. Dropped from 1 m: each apex is e^2 times the one before")
    e = 0.8
    sim = pliant.Simulation(ball, ground=pliant.flat(), contact=pliant.RigidContact(restitution=e))
    sim.reset(q=[0, 0, 1 + RADIUS, 0, 0, 0, 1])
    log = sim.run(5.0)
    height = log["q", "root_joint.z"] - RADIUS
    inside = height[1:-1]
    apexes = inside[(inside > height[:-2]) & (inside >= height[2:]) & (inside > 0.01)]
    for n, found in enumerate(apexes[:5], start=1):
        print(f"apex {n}: {found:.4f} m, by hand {e ** (2 * n):.4f} m")
    if not np.allclose(apexes[:5], [e ** (2 * n) for n in range(1, 6)], rtol=0.02):
        raise SystemExit("the apexes are off")
    # infinitely many bounces in a finite time [Zeno]: sqrt(2 h / g) (1 + e) / (1 - e)
    rest = math.sqrt(2 / G) * (1 + e) / (1 - e)
    late = log.between(rest + 0.1, 5)
    print(f"all bounces are over at {rest:.2f} s by hand; later the ball moves {np.ptp(late.q[:, 2]):.1e} m")
    print(f"and the ground carries {late['forces', 'ball.z'].mean():.4f} N of {ball.mass * G:.4f} N")
    if not (np.ptp(late.q[:, 2]) < 1e-3 and abs(late["forces", "ball.z"].mean() - ball.mass * G) < 1e-3):
        raise SystemExit("the ball does not come to rest")


def slide_until_it_rolls(ball: pliant.Robot) -> None:
    title("2. Thrown along the ground without spin: it slides, then rolls with 5/7 of its speed")
    mu, v0 = 0.3, 2.0
    sim = pliant.Simulation(ball, ground=pliant.flat(friction=mu))
    sim.reset(q=[0, 0, RADIUS, 0, 0, 0, 1], v=[v0, 0, 0, 0, 0, 0])
    log = sim.run(1.0)
    # rolling begins at t = 2 v0 / (7 mu g)
    begins = 2 * v0 / (7 * mu * G)
    speed = np.linalg.norm(log.v[:, :3], axis=1)
    slip = abs(speed - RADIUS * np.linalg.norm(log.v[:, 3:], axis=1))
    found = log.t[np.argmax(slip < 1e-9 * v0)]
    print(f"rolls from {found:.3f} s on, by hand {begins:.4f} s")
    print(f"with {speed[-1]:.6f} m/s, by hand {5 / 7 * v0:.6f} m/s")
    print(f"while it slid, friction was {-log['forces', 'ball.x'][10]:.4f} N, by hand {mu * ball.mass * G:.4f} N")
    if not (abs(found - begins) < 2e-3 and abs(speed[-1] - 5 / 7 * v0) < 1e-6):
        raise SystemExit("the ball does not roll as it should")


if __name__ == "__main__":
    main()
