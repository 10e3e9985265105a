"""Event-driven simulation: a ball through infinitely many bounces, a passive walker, and a hopping robot.

python examples/13_events.py
"""

import math

import numpy as np

import pliant

G = 9.81
SLOPE = math.radians(3)


def main() -> None:
    bounce()
    walk()
    hop()


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def bounce() -> None:
    title("1. A ball bounces infinitely often, until sqrt(2 h / g) (1 + e) / (1 - e)")
    e, height = 0.8, 1.0
    builder = pliant.RobotBuilder("ball").body("ball", mass=1, inertia=(0.004, 0, 0, 0.004, 0, 0.004))
    ball = builder.build(base="free").with_contact("ball", radius=0.1)
    sim = pliant.EventSimulation(ball, ground=pliant.flat(), restitution=e)
    sim.reset(q=[0, 0, height + 0.1, 0, 0, 0, 1])
    log = sim.run(5.0)
    for event in log.events[:3]:
        print(event)
    fall = math.sqrt(2 * height / G)
    third = fall * (1 + 2 * (e + e**2))
    print(f"the third bounce is off by {abs(log.events[2].t - third):.0e} s")
    print(f"rests from {log.events[-1].t:.5f} s on, by hand {fall * (1 + e) / (1 - e):.5f} s, {len(log.events)} events")
    if abs(log.events[2].t - third) > 1e-11 or abs(log.events[-1].t - fall * (1 + e) / (1 - e)) > 1e-4:
        raise SystemExit("the ball bounces as it should not")


def walk() -> None:
    title("2. Two legs walk down a slope of 3 degrees without motors")
    nothing = (0, 0, 0, 0, 0, 0)
    builder = pliant.RobotBuilder("compass").body("sled", 0, (0, 0, 0), nothing).body("hip", 10, (0, 0, 0), nothing)
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "hip", axis=(0, 0, 1))
    for side in ("left", "right"):
        builder.body(side, 5, (0, 0, -0.5), nothing).frame(f"{side}_foot", side, (0, 0, -1))
        builder.joint(f"{side}_hip", "revolute", "hip", side, axis=(0, 1, 0))
    robot = builder.build().with_contacts("left_foot", "right_foot")
    sim = pliant.EventSimulation(robot, ground=pliant.slope(-SLOPE), friction=2, when=is_ahead)
    stance, rate = SLOPE - 0.27, 1.1
    hip = math.sin(stance), math.cos(stance)
    sim.reset(q=[*hip, stance, SLOPE + 0.27], v=[rate * hip[1], -rate * hip[0], rate, 0.4])
    log = sim.run(12.0)
    steps = log.events_of("touch-down")
    periods = np.diff([step.t for step in steps])
    for k in (0, 1, 2, len(periods) - 1):
        print(f"step {k + 2:2d} of the {steps[k + 1].names[0]:10} takes {periods[k]:.5f} s")
    way = np.hypot(*(log.at(steps[-1].t)[0][:2] - log.at(steps[-2].t)[0][:2]))
    given = 20 * G * way * math.sin(SLOPE)
    print(f"a step loses {steps[-1].energy_lost:.4f} J, the slope gives {given:.4f} J")
    if abs(periods[-1] - 0.7343) > 1e-4 or abs(steps[-1].energy_lost - given) > 1e-2:
        raise SystemExit("it does not walk as it should")


def is_ahead(name: str, t: float, q: np.ndarray, v: np.ndarray) -> bool:
    """A foot may touch ahead of the other one; in passing, legs without knees would scuff."""
    swing, stance = (q[2], q[3]) if name == "left_foot" else (q[3], q[2])
    return bool(swing < stance - 0.05)


def hop() -> None:
    title("3. A hopping robot under control, sampled at 1 kHz")
    robot = pliant.load("hopper")
    sim = pliant.EventSimulation(robot, ground=pliant.flat(friction=0.8), rtol=1e-6, atol=1e-8)
    sim.reset(q=[0, 0, 0.83, 0, 0, 0, 1, 0, 0, 0, 0])
    log = sim.run(1.2, controller=pliant.control.raibert(robot), commands=[0.5, 0, 0.2], period=1e-3)
    for event in log.events[:4]:
        print(event)
    air = log.at(np.linspace(0.21, 1.2, 1000))[0][:, 2].max() - 0.63
    print(f"{len(log.events)} events, it hops {air:.2f} m high and has gone {sim.q[0]:.2f} m")
    if not 0.15 < air < 0.3 or min(event.energy_lost for event in log.events) < -1e-12:
        raise SystemExit("it does not hop")


if __name__ == "__main__":
    main()
