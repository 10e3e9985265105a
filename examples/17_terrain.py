"""Terrain: patches of many kinds and levels in one height map, with a robot in each.

python examples/17_terrain.py [--figures DIRECTORY]

Each robot holds its pose and is pushed to the side, on ground that is harder from level to level. With --figures it
draws every kind, as in docs/terrain.md.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import pliant
from pliant import terrain
from pliant.render.camera import Camera
from pliant.terrain import Kind

KINDS = {
    "steps": Kind("steps", rise=(0.02, 0.12), run=0.3),
    "pit": Kind("steps", rise=(-0.02, -0.12), run=0.3),
    "pyramid": Kind("pyramid", angle=(0.05, 0.45)),
    "slope": Kind("slope", angle=(0.05, 0.3)),
    "waves": Kind("waves", amplitude=(0.02, 0.12), length=1.5),
    "rough": Kind("rough", rms=(0.01, 0.06), longest=2),
    "perlin": Kind("perlin", rms=(0.01, 0.06), length=1, octaves=3),
    "tiles": Kind("tiles", side=0.4, height=(0.02, 0.15)),
    "stepping stones": Kind("stepping_stones", stone=(0.6, 0.35), gap=(0.1, 0.2), depth=0.5),
    "gaps": Kind("gaps", width=(0.1, 0.3), ledge=0.5, depth=0.5),
    "obstacles": Kind("obstacles", count=(10, 40), height=(0.05, 0.2)),
    "sum of slope and tiles": Kind("slope", angle=(0.05, 0.2)) + Kind("tiles", side=0.4, height=(0.02, 0.08)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", metavar="DIRECTORY", help="draw every kind into this directory")
    directory = parser.parse_args().figures
    if directory:
        draw(Path(directory))
        return
    patches = terrain.grid(KINDS, levels=3, size=6, seed=4, friction=0.8)
    print(patches)
    robot = pliant.load("quadruped")
    level, column = (k.ravel() for k in np.meshgrid(range(3), range(len(patches.columns)), indexing="ij"))
    q = patches.placed(robot, robot.stance(), level, column)
    robot, u = pliant.control.hold(robot, robot.on_ground(robot.stance()))
    push = pliant.ExternalForce("trunk", impulse=(0.3 * robot.mass, 0.3 * robot.mass, 0), start=0.5)
    sim = pliant.Simulation(robot, ground=patches.ground, forces=[push], batch=len(q))
    sim.reset(q=q)
    log = sim.run(2, u=u)
    with tempfile.TemporaryDirectory() as folder:
        path = log.save(Path(folder) / "run.h5")
        kept = pliant.load_log(path).source
        assert kept is not None and kept.ground is not None
        print(f"log of {path.stat().st_size / 1e6:.1f} MB, with the terrain")
        same = kept.ground.height(q[:, 0], q[:, 1]) == patches.ground.height(q[:, 0], q[:, 1])
    still = abs(sim.v).max(axis=1) < 0.01
    here = np.stack(patches.patch_at(sim.q[:, 0], sim.q[:, 1])) == (level, column)
    print(f"{still.sum()} of {len(q)} robots are at rest, {here.all(axis=0).sum()} in their own patches")
    for name, found in (("start on their platforms", np.isclose(q[:, 2], q[0, 2] + rises(patches)).all()),
                        ("find the same heights in the log", same.all())):  # fmt: skip
        print(f"all robots {name}: {bool(found)}")


def rises(patches: terrain.Terrain) -> np.ndarray:
    """Heights of the platforms over that of the first patch [m]."""
    return patches.origins[..., 2].ravel() - patches.origins[0, 0, 2]


def draw(folder: Path) -> None:
    """A picture of a robot in the last level of every kind."""
    from PIL import Image, ImageDraw

    patches = terrain.grid(KINDS, levels=1, size=4.5, platform=0.8, seed=4)
    robot = pliant.load("quadruped")
    width, height, across = 330, 220, 3
    whole = Image.new("RGB", (across * width, -(-len(KINDS) // across) * height), "white")
    with tempfile.TemporaryDirectory() as made:
        for k, name in enumerate(KINDS):
            camera = Camera(distance=8, elevation=30, azimuth=35)
            q = patches.placed(robot, robot.stance(), 0, name)
            path = robot.to_image(
                Path(made) / "kind.png", q, ground=patches.ground, size=(width, height), camera=camera
            )
            whole.paste(Image.open(path), (k % across * width, k // across * height))
            ImageDraw.Draw(whole).text((k % across * width + 8, k // across * height + 6), name, fill=(40, 40, 40))
    whole.save(folder / "terrain.jpg", quality=80, optimize=True)


if __name__ == "__main__":
    main()
