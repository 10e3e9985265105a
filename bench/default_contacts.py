"""What contacts that nobody declared cost: a step of a robot as loaded, next to one with a sphere a foot or corner.

    python -m bench.default_contacts [--json] [--short] [--robots go2 solo12 g1] [--batch 4096]

Both stand in the same pose under the same gains, on one thread. "times feet" is the time over that with feet only, to
be at most 2.5.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pliant
from bench.contact import PRECISIONS, step_times
from bench.contact_scene import ContactScene
from bench.pliant_side import PliantSide
from bench.report import Report, failed, options_of
from bench.scenes import scene
from bench.tables import Row

ROBOTS = ("go2", "solo12", "g1")


def main() -> None:
    """Run the benchmark and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=25, help="of one call")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each; the best counts")
    options = parser.parse_args()
    if options.short:
        options.robots, options.batch, options.steps, options.rounds = options.robots[:1], 64, 10, 1
    report = Report(options, batch=options.batch)
    title = f"standing; time per step and robot [us], batch of {options.batch}, one thread"
    report.table("defaults", title, {name: partial(rows, name, report) for name in options.robots})
    report.finish()


def rows(name: str, report: Report) -> Iterator[Row]:
    """Feet only and default contacts, in both precisions."""
    feet = scene(name)
    loaded = as_loaded(feet)
    for precision in PRECISIONS:
        sides = {
            "feet only": PliantSide(feet, precision),
            "default": PliantSide(loaded, precision, is_default=True),
        }
        times = step_times(feet, sides, report.options)
        for which, t in times.items():
            side = sides[which]
            found: Row = {"robot": name, "contacts": which, "precision": precision, "points": side.points}
            found |= {"us": t * 1e6, "times feet": t / times["feet only"]}
            found |= {key: side.sample[key] for key in ("iterations", "slowest", "unconverged", "settling")}
            yield found | failed(f"{name}, {which}, {precision}", side.fault)


def as_loaded(feet: ContactScene) -> ContactScene:
    """The scene with the robot as `pliant.load` gives it, but for the scene's rotors, friction and frames."""
    robot = pliant.load(feet.name, base="free")
    for motor in feet.robot.motors.values():
        joint = feet.robot.joints[motor.joint]
        robot = robot.with_joint(joint.name, armature=joint.armature[0], friction=joint.friction[0])
    for point in feet.points:
        if point.frame not in robot.frames:
            frame = feet.robot.frame(point.frame)
            robot = robot.with_frame(point.frame, frame.body, tuple(frame.placement.p))
    return replace(feet, robot=robot)


if __name__ == "__main__":
    main()
