"""Makes the files that later versions must read: `python tests/compatibility/samples.py`, once for each version.

They go into a folder `samples/VERSION` beside this file, with what is in them in `expected.json`. A folder that is
there is left alone: files of a version never change.
"""

import hashlib
import json
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import pliant

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

SIDE = """robot = "pendulum"
gravity = [0, 0, -1.62]

[joints.hinge]
damping = 0.05

[motors.hinge]
kp = 20
kd = 0.5
control = "position"
effort_limit = 3

[frames.middle]
body = "rod"
position = [0, 0, -0.5]
"""

SETTINGS = """robot = "pendulum"
time = 0.5
dt = 0.002
every = 0.01
precision = "float64"
log = "run.h5"

[q]
hinge = 0.5
"""

TERRAIN = """size = 2
spacing = 0.1
levels = 2

[steps]
rise = [0.02, 0.1]
run = 0.3
"""


def make(folder: Path) -> dict[str, Any]:
    """Write the files of this version, and return what is in them."""
    folder.mkdir(parents=True)
    (folder / "side.toml").write_text(SIDE)
    (folder / "settings.toml").write_text(SETTINGS)
    (folder / "terrain.toml").write_text(TERRAIN)
    shutil.copy(ROOT / "src/pliant/tasks/policies/cartpole-balance.policy", folder / "cart.policy")
    robot = pliant.load(folder / "side.toml")
    sim = pliant.Simulation(robot, dt=0.01, batch=2, ground=pliant.slope(0.1))
    sim.reset(q=[[0.5], [-0.5]])
    sim.run(0.2, u=[0.1]).save(folder / "run.h5")
    hopper = pliant.load("hopper")
    q = hopper.neutral()
    q[2] = 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.SimulationWarning)
        events = pliant.EventSimulation(hopper, ground=pliant.flat())
        events.reset(q=q)
        events.run(0.3, every=0.05).save(folder / "events.h5")
    found = read(folder)
    (folder / "expected.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


def read(folder: Path) -> dict[str, Any]:
    """What is in the files of a folder, as plain data; arrays as the checksum of their bits."""
    from pliant.cli.settings import gathered
    from pliant.learn import Policy

    logs = {}
    for name in ("run", "events"):
        log = pliant.load_log(folder / f"{name}.h5")
        channels = {key: _bits(log[key]) for key in ("t", *log.channels)}
        assert log.source is not None
        logs[name] = {
            "channels": channels, "robot": log.source.robot.name, "nq": log.source.robot.nq, "batch": log.batch,
            "events": [str(event.kind) for event in log.events], "modes": list(log.modes),
            "is_complete": log.is_complete, "columns": {key: list(names) for key, names in log.columns.items()},
        }  # fmt: skip
    policy = Policy.load(folder / "cart.policy")
    robot, terrain = pliant.load(folder / "side.toml"), pliant.terrain.load_terrain(folder / "terrain.toml")
    motor = robot.motors["hinge"]
    settings = gathered({}, str(folder / "settings.toml"))
    return {
        "logs": logs,
        "policy": {
            "layers": [[_bits(w), _bits(b)] for w, b in policy.layers], "activation": policy.activation,
            "mean": _bits(policy.mean), "scale": _bits(policy.scale), "names": list(policy.observation_names),
        },
        "side": [motor.kp, motor.kd, motor.control, motor.effort_limit, robot.joints["hinge"].damping[0],
                 [float(x) for x in robot.gravity], list(robot.frames)],
        "terrain": [_bits(terrain.field.heights), list(terrain.columns)],
        "settings": [settings.robot, settings.time, settings.dt, settings.every, settings.precision, dict(settings.q)],
    }  # fmt: skip


def _bits(array: Any) -> str:
    array = np.ascontiguousarray(array)
    head = f"{array.dtype.str} {list(array.shape)} "
    return head + hashlib.sha256(array.tobytes()).hexdigest()[:32]


if __name__ == "__main__":
    where = HERE / "samples" / pliant.__version__
    if where.exists():
        sys.exit(f"{where} is there already; files of a version never change")
    make(where)
    print(*sorted(f"{path.name} {path.stat().st_size}" for path in where.iterdir()), sep="\n")
