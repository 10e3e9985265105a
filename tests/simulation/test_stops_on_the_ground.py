"""Joints at their stops while feet rub on the ground: the two must not work against each other."""

import numpy as np

import pliant
import real_robots
from pliant.robot import Robot

Q = [
    -0.7414209432853799, -0.1348122320882555, 0.7000000000000001, 0.06790053403931062, 0.1614318941696762,
    0.06492442204947313, 0.9824021989203346, 0.2567480712069876, -0.393605456692109, -0.5, 0.2577673034539641,
    -0.41213457955910004, -0.5,
]  # fmt: skip


def stiff_walker() -> Robot:
    """A box of 20 kg on two legs of three joints that turn half a radian, with boxes for feet."""
    builder = pliant.RobotBuilder("walker").body("trunk", mass=20, inertia=(0.3, 0, 0, 0.3, 0, 0.3))
    for side, y in (("l", 0.1), ("r", -0.1)):
        parent = "trunk"
        for k, axis in enumerate(((0, 1, 0), (1, 0, 0), (0, 1, 0))):
            name, place = f"{side}{k}", (0, y, 0) if k == 0 else (0, 0, -0.2)
            builder.body(name, mass=0.5, com=(0, 0, -0.1), inertia=(0.002, 0, 0, 0.002, 0, 0.0005))
            builder.joint(f"{side}j{k}", "revolute", parent, name, place, axis=axis, limits=(-0.5, 0.5))
            parent = name
        builder.frame(f"{side}_foot", parent, (0, 0, -0.2))
    robot = builder.build(base="free").with_contact("trunk", box=(0.3, 0.3, 0.3))
    return robot.with_contact("l_foot", box=(0.2, 0.08, 0.03)).with_contact("r_foot", box=(0.2, 0.08, 0.03))


def test_a_robot_that_rests_on_its_stops_does_not_sink() -> None:
    """Dropped, it comes to rest on the ground and within its limits."""
    robot = stiff_walker()
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.8))
    sim.reset(q=Q)
    sim.run(4.0, channels=())
    found = sim.diagnostics
    # micrometres are left alone
    assert found.penetration < 5e-6
    assert np.abs(sim.q[7:]).max() < 0.5 + 1e-6
    assert found.is_converged
    np.testing.assert_allclose(found.forces[:, 2].sum(), robot.mass * 9.81, rtol=1e-6)


def test_stops_and_friction_bring_no_energy() -> None:
    """A Panda without a base falls over: its fingers and all joints hit their stops, its points rub on the ground."""
    robot = pliant.load(real_robots.PATHS["panda_description/panda.urdf"], base="free")
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.8))
    q = robot.neutral()
    q[2] = 0.05
    sim.reset(q=q)
    log = sim.run(3.0, channels=("energy",))
    energy = log["energy.kinetic"] + log["energy.potential"]
    # first order in dt: a share of what turns
    assert energy.max() < energy[0] + 0.5
    assert np.diff(energy).max() < 0.5
    assert not sim.divergences
