"""Visualisation: the run of a hopping robot as log, plots, images, video, replay and report.

python examples/15_see_it.py [DIRECTORY] [--figures DIRECTORY]

Without a directory, small files are made in a temporary folder and only their sizes are printed. With --figures it
draws the figures of docs/plots.md and docs/video.md.
"""

import argparse
import tempfile
import time
from pathlib import Path

import pliant

STANDING = 0.63  # height of the body with the leg at rest, upright on its foot [m]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", help="where the files go")
    parser.add_argument("--figures", metavar="DIRECTORY", help="draw the figures of the documentation there")
    given = parser.parse_args()
    log = hop()
    ledger = pliant.analysis.energy_ledger(log)
    print(ledger)
    assert ledger.error is not None
    share = abs(ledger.error).max() / ledger.work["motors"][-1]
    print(f"what the motors put in is accounted for, but for {share:.1%}")
    if share > 0.02:
        raise SystemExit("the ledger does not balance")
    if given.figures:
        draw_figures(log, Path(given.figures))
    elif given.directory:
        folder = Path(given.directory)
        folder.mkdir(parents=True, exist_ok=True)
        write(log, folder, size=(1280, 720), fps=30)
    else:
        with tempfile.TemporaryDirectory() as folder:
            write(log[:500], Path(folder), size=(160, 96), fps=10)


def hop() -> pliant.Log:
    """Three seconds, at half a meter a second, with a push from the side."""
    robot = pliant.load("hopper")
    push = pliant.ExternalForce("body", impulse=(0, 0.3 * robot.mass, 0), start=1.2)
    controller = pliant.control.raibert(robot)
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.8), controller=controller, forces=[push])
    sim.reset(q=robot.integrate(robot.neutral(), [0, 0, STANDING + 0.1, 0.1, 0, 0, 0, 0, 0, 0]))
    return sim.run(3.0, commands=[0.5, 0, 0.2], channels=("q", "v", "tau", "forces", "energy", "power"))


def write(log: pliant.Log, folder: Path, size: tuple[int, int], fps: int) -> None:
    """Everything that a log can be turned into to look at."""
    made = {
        "run.h5": lambda path: log.save(path),
        "plot.svg": lambda path: log.plot("q.root_joint.z", "tau", "forces.foot", "energy", path=path),
        "phase.svg": lambda path: log.plot_phase("hip_pitch", path=path),
        "energy.svg": lambda path: log.plot_energy(path=path),
        "picture.png": lambda path: log.to_image(path, t=0.3, size=size),
        "run.mp4": lambda path: log.to_video(path, size=size, fps=fps),
        "replay.html": lambda path: log.to_html(path),
        "report.html": lambda path: log.to_report(path, "q.root_joint.z", "forces.foot"),
    }
    for name, make in made.items():
        begun = time.perf_counter()
        make(folder / name)
        print(f"{folder / name}: {(folder / name).stat().st_size / 1e3:.0f} kB, {time.perf_counter() - begun:.1f} s")


def draw_figures(log: pliant.Log, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    log.plot("q.root_joint.z", "tau", "forces.foot", "energy", path=folder / "see_plot.svg")
    log.plot_energy(path=folder / "see_energy.svg")
    log.to_image(folder / "see_hopper.jpg", t=0.3, size=(960, 540), clock=True)
    ball = pliant.RobotBuilder("ball")
    ball.body("ball", mass=1, inertia=(0.004, 0, 0, 0.004, 0, 0.004))
    ball.joint("height", "prismatic", "world", "ball", axis=(0, 0, 1))
    sim = pliant.EventSimulation(ball.build().with_contact("ball", radius=0.1), ground=pliant.flat(), restitution=0.7)
    sim.reset(q=[1.0])
    sim.run(2.0, every=2e-3, channels=("q", "v", "energy", "power")).plot_phase("height", path=folder / "see_phase.svg")
    quadruped = pliant.load("quadruped")
    bent = {"hip_pitch": 0.6, "knee": -1.2}
    q = quadruped.neutral()
    q[2] = 0.37
    for leg in ("lf", "lh", "rf", "rh"):
        for joint, angle in bent.items():
            q[quadruped.q_slice(f"{leg}_{joint}")] = angle
    quadruped.to_image(folder / "see_quadruped.jpg", q=q, ground=pliant.stairs(-0.1, 0.4, start=0.35), size=(960, 540))
    for path in sorted(folder.glob("see_*")):
        print(f"drew {path}, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
