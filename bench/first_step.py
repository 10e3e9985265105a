"""A new process: import Pliant, make a robot, take the first step; the times as JSON.

    python -m bench.first_step go2|g1|chain [number of joints]

What is imported here counts, so it is what a user would import.
"""

import time

_BEGUN = time.perf_counter(), time.process_time()

import json  # noqa: E402
import sys  # noqa: E402

import numpy as np  # noqa: E402

import pliant  # noqa: E402

_IMPORTED = time.perf_counter()

__all__ = ["chain", "g1", "go2"]


def go2() -> pliant.Simulation:
    """Go2 as a newcomer has it: with the contacts that its collision geometry gives."""
    return pliant.Simulation(pliant.load("go2", base="free"), ground=pliant.flat())


def g1() -> pliant.Simulation:
    """G1 with a sphere at each corner of its soles."""
    robot = pliant.load("g1", base="free")
    for side in ("left", "right"):
        for k, (x, y) in enumerate(((-0.05, 0.025), (-0.05, -0.025), (0.12, 0.03), (0.12, -0.03))):
            name = f"{side}_corner_{k}"
            robot = robot.with_frame(name, f"{side}_ankle_roll_link", (x, y, -0.03)).with_contact(name, radius=0.005)
    return pliant.Simulation(robot, ground=pliant.flat())


def chain(joints: int) -> pliant.Robot:
    """Rods of 0.1 m and 0.1 kg that hang from one another on hinges, whose axes are x and y in turns."""
    builder, across = pliant.RobotBuilder(f"chain{joints}"), 0.1 * 0.1**2 / 12
    for k in range(joints):
        builder.body(f"rod{k}", 0.1, (0, 0, -0.05), (across, 0, 0, across, 0, across / 10))
        parent, place = (f"rod{k - 1}", (0, 0, -0.1)) if k else ("world", (0, 0, 0))
        builder.joint(f"joint{k}", "revolute", parent, f"rod{k}", place, axis=(0, 1, 0) if k % 2 else (1, 0, 0))
    return builder.build()


def main() -> None:
    """Take the step that the command line names."""
    what, *size = sys.argv[1:]
    made = {"go2": go2, "g1": g1, "chain": lambda: pliant.Simulation(chain(int(size[0])))}[what]()
    ready = time.perf_counter()
    made.step()
    done = time.perf_counter()
    busy = time.process_time() - _BEGUN[1]
    if not np.isfinite(made.q).all():
        raise SystemExit("the step gave NaN")
    spans = {"import": _IMPORTED - _BEGUN[0], "load": ready - _IMPORTED, "step": done - ready}
    print(json.dumps({**spans, "total": done - _BEGUN[0], "cpu": busy}))


if __name__ == "__main__":
    main()
