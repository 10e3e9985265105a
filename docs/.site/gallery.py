"""Hook of mkdocs: simulates the runs of the gallery and puts their replays into the site.

Each run is a function below, which returns a log; `docs/gallery.md` shows ``gallery/NAME.html`` for each of them. A
replay is one page of a megabyte that needs nothing else, so none of them is in the repository.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import pliant

FRAME = 1 / 50
"""Time between the entries of a log [s], five or so for each picture that a screen shows in slow motion."""

QUADRUPED = np.tile([0.0, 0.8, -1.6], 4)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the replays to the files of the site."""
    with tempfile.TemporaryDirectory() as folder:
        for run, options in RUNS.items():
            path = Path(folder) / f"{run.__name__}.html"
            run().to_html(path, **options)
            files.append(File.generated(config, f"gallery/{path.name}", content=path.read_bytes()))
    return files


def hopper() -> pliant.Log:
    """Raibert's controller, from event to event."""
    robot = pliant.load("hopper")
    sim = pliant.EventSimulation(robot, ground=pliant.flat(), friction=0.8)
    sim.reset(q=[0, 0, 0.83, 0, 0, 0, 1, 0, 0, 0, 0])
    return sim.run(4.0, controller=pliant.control.raibert(robot), commands=[0.4, 0, 0.2], period=2e-3, every=FRAME)


def walk() -> pliant.Log:
    """A policy that was trained in half a minute turns in a curve."""
    env = pliant.tasks.make("quadruped", batch=1)
    policy = env.controller(pliant.tasks.trained("quadruped"))
    sim = pliant.Simulation(env.sim.robot, substeps=20, ground=pliant.flat(), controller=policy)
    sim.reset(q=env.plan.stance)
    return sim.run(6.0, commands=[0.5, 0, 0.5], every=FRAME)


def push() -> pliant.Log:
    """A push that rolls a quadruped over."""
    feet = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
    robot = pliant.load("quadruped").with_contacts(*feet, radius=0.02).with_collision_contacts("trunk")
    robot = robot.with_motors(control="position", kp=150, kd=4)
    force = pliant.ExternalForce("trunk", force=(0, 100, 0), start=0.5, end=0.7)
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.8), forces=[force])
    sim.reset(q=robot.on_ground([0, 0, 0, 0, 0, 0, 1, *QUADRUPED]))
    return sim.run(3.0, u=QUADRUPED, every=FRAME)


def stones() -> pliant.Log:
    """An ellipsoid that spins the wrong way, slows down and turns back: a rattleback."""
    builder = pliant.RobotBuilder("rattleback")
    # the axes of inertia are turned by 8 degrees against those of the ellipsoid
    turned = np.array([[np.cos(0.14), -np.sin(0.14), 0], [np.sin(0.14), np.cos(0.14), 0], [0, 0, 1]])
    inertia = turned @ np.diag([2e-4, 1.6e-3, 1.7e-3]) @ turned.T
    builder.body("stone", mass=1, com=(0, 0, -0.005), inertia=inertia[np.triu_indices(3)])
    robot = builder.build(base="free").with_contact("stone", ellipsoid=(0.2, 0.05, 0.04))
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=1.0))
    sim.reset(q=[0, 0, 0.04, 0, 0, 0, 1], v=[0, 0, 0, 0.05, 0, -4])
    return sim.run(8.0, every=FRAME)


def coin() -> pliant.Log:
    """A disc that rolls in a circle, as fast as its lean wants."""
    builder = pliant.RobotBuilder("coin").body("coin", mass=1, inertia=(0.0025, 0, 0, 0.0025, 0, 0.005))
    robot = builder.build(base="free").with_contact("coin", rim=0.1)
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=1.0))
    tilt = np.pi / 2 - 0.35
    sim.reset(q=[0, 0, 0.1 * np.sin(tilt), np.sin(tilt / 2), 0, 0, np.cos(tilt / 2)], v=[1, 0, 0, 0, 0, -10])
    return sim.run(6.0, every=FRAME)


def chaos() -> pliant.Log:
    """Nine double pendulums that start within a thousandth of a radian."""
    sim = pliant.Simulation(pliant.load("double_pendulum"), batch=9, integrator="dormand-prince")
    sim.reset(q=[[2.5 + 1e-3 * k / 8, 2.0] for k in range(9)])
    return sim.run(10.0, every=FRAME)


RUNS: dict[Callable[[], pliant.Log], dict] = {
    hopper: {"traces": ["foot"]},
    walk: {"traces": ["mass"]},
    push: {"show": ["cones"]},
    stones: {},
    coin: {},
    chaos: {"layout": "overlay"},
}
"""What is shown, with the options of `pliant.Log.to_html`."""
