"""Rigid and compliant contact, side by side: a box at rest, on a slope, and landing.

python examples/07_contact_models.py
"""

import math

import numpy as np

import pliant

MASS, HALF, G = 4.0, 0.1, 9.81


def main() -> None:
    box = make_box()
    stand(box)
    hold_on_a_slope(box)
    land(box)


def make_box() -> pliant.Robot:
    moment = MASS * (2 * HALF) ** 2 / 6
    builder = pliant.RobotBuilder("box").body("box", mass=MASS, inertia=(moment, 0, 0, moment, 0, moment))
    corners = [(x, y, -HALF) for x in (-HALF, HALF) for y in (-HALF, HALF)]
    return builder.build(base="free").with_contact("box", points=corners)


def stand(box: pliant.Robot) -> None:
    print("1. Standing: rigid ground does not move, a spring is compressed by m g / k")
    law = pliant.SpringDamper(stiffness=2e4, damping=300)  # under each of the four corners
    for contact, by_hand in ((pliant.RigidContact(), 0), (pliant.CompliantContact(law), MASS * G / (4 * 2e4))):
        sim = pliant.Simulation(box, ground=pliant.flat(), contact=contact)
        sim.reset(q=[0, 0, HALF, 0, 0, 0, 1])
        sim.run(1.0)
        sunk = HALF - sim.q[2]
        print(f"{type(contact).__name__:<17} {1e3 * sunk:.6f} mm, by hand {1e3 * by_hand:.6f} mm")
        if not abs(sunk - by_hand) < 2e-6:
            raise SystemExit("the box stands at the wrong height")


def hold_on_a_slope(box: pliant.Robot) -> None:
    print("\n2. On a slope of 20 degrees with friction 0.5: rigid contact and anchored springs stick, a damper creeps")
    angle, mu, slip_speed = math.radians(20), 0.5, 1e-3
    q = [-HALF * math.sin(angle), 0, HALF * math.cos(angle), 0, -math.sin(angle / 2), 0, math.cos(angle / 2)]
    soft = pliant.SpringDamper(stiffness=1e4, damping=200, friction=mu, slip_speed=slip_speed)
    # the law holds mu N (3 r - r^3) / 2 at the share r of its slip speed: 2 tan(angle) / mu = 3 r - r^3
    r = np.roots([1, 0, -3, 2 * math.tan(angle) / mu])
    creep = slip_speed * r[(r > 0) & (r < 1)][0]
    anchored = pliant.AnchoredSpringDamper(stiffness=1e4, damping=200, friction=mu)
    models = {
        "RigidContact": (pliant.RigidContact(friction=mu), 0),
        "SpringDamper": (pliant.CompliantContact(soft), creep),
        "AnchoredSpringDamper": (pliant.CompliantContact(anchored), 0),
    }
    for name, (contact, by_hand) in models.items():
        sim = pliant.Simulation(box, ground=pliant.slope(angle), contact=contact)
        sim.reset(q)
        log = sim.run(2.0, every=1.0)
        crept = np.linalg.norm(log.q[-1, :3] - log.q[-2, :3])
        print(f"{name:<20} creeps {crept:.1e} m in a second, by hand {by_hand:.1e} m")
        if not abs(crept - by_hand) < 1e-9 + 1e-3 * by_hand:
            raise SystemExit("the box slides")


def land(box: pliant.Robot) -> None:
    print("\n3. Landing flat at 1 m/s: rigid contact stops in a step, the others in their own time")
    models = {
        "RigidContact": pliant.RigidContact(),
        "SpringDamper": pliant.CompliantContact(pliant.SpringDamper(stiffness=5e3, damping=100)),
        "HuntCrossley": pliant.CompliantContact(pliant.HuntCrossley(stiffness=1e5, dissipation=0.3)),
    }
    for name, contact in models.items():
        sim = pliant.Simulation(box.with_gravity(0, 0, 0), dt=1e-4, ground=pliant.flat(), contact=contact)
        sim.reset(q=[0, 0, HALF + 1e-3, 0, 0, 0, 1], v=[0, 0, -1, 0, 0, 0])
        log = sim.run(0.2)
        force = log.forces.reshape(len(log), 4, 3)[:, :, 2].sum(axis=1)
        impulse = force.sum() * sim.dt
        print(f"{name:<13} peak {force.max():8.0f} N, leaves with {sim.v[2]:.3f} m/s, impulse {impulse:.4f} N s")
        if not abs(impulse - MASS * (sim.v[2] + 1)) < 1e-6:
            raise SystemExit("impulse and momentum disagree")


if __name__ == "__main__":
    main()
