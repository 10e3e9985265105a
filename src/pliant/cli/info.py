"""``pliant info``, ``pliant robots``, ``pliant cache``: a robot or a log, robots by name, compiled kernels."""

import math
from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.sources import (
    Base, Packages, RobotName, Xacro, XacroArguments, is_log, load_robot, loose_base, open_log, origin,
)  # fmt: skip
from pliant.cli.terminal import Json, number, print_json, print_pairs, print_rich, print_table, say, size
from pliant.errors import PliantError, bad_value

if TYPE_CHECKING:
    from rich.tree import Tree

    from pliant.recording.log import Log
    from pliant.robot import Joint, Motor, Robot

# findings of one kind on one matter that are shown one by one
_SHOWN = 4


def info(
    robot: RobotName,
    base: Base = None,
    packages: Packages = None,
    xacro: Xacro = False,
    xacro_arg: XacroArguments = None,
    json: Json = False,
) -> None:
    """Print the contents of a robot or a log, and its problems."""
    if is_log(robot):
        _show_log(open_log(robot), robot, json)
        return
    loaded = load_robot(robot, base, xacro, packages, xacro_arg)
    about = about_robot(loaded, origin(robot))
    if json:
        print_json(about)
        return
    print_pairs(loaded.name, _head(loaded, about))
    say()
    # a long chain goes beyond the terminal rather than being cut off
    depth = max(len(loaded.path(body)) for body in loaded.bodies)
    print_rich(_tree(loaded), least_width=4 * depth + 40)
    joints = [
        (j["name"], _kind(j), _range(j), _most(*j["velocity"]), _most(*j["effort"]))
        for j in about["joints"] if j["kind"] != "fixed"
    ]  # fmt: skip
    motors = [
        (m["name"] if m["name"] == m["joint"] else f"{m['name']} of {m['joint']}", m["control"], number(m["gear"]),
         number(m["rotor_inertia"]), _most(m["effort_limit"]))
        for m in about["motors"]
    ]  # fmt: skip
    for columns, rows in (
        (("joint", "kind", "limits [rad or m]", "velocity", "effort"), joints),
        (("motor", "control", "gear", "rotor [kg m^2]", "most effort"), motors),
    ):
        if rows:
            say()
            print_table(columns, rows, right=columns[2:] if rows is motors else columns[3:])
    more = [(m["name"], ", ".join([*(f"{key} {number(x)}" for key, x in m["more"].items()), *_coupling(m)]))
            for m in about["motors"]]  # fmt: skip
    if any(values for _, values in more):
        say()
        print_pairs("motors, in SI units", [(name, values) for name, values in more if values])
    say()
    _print_findings(loaded)


def about_robot(robot: "Robot", origin: str) -> dict[str, Any]:
    """All of it in plain values: SI units, None where there is no limit."""
    from pliant.catalogue.starts import extent

    lower, upper = extent(robot, robot.neutral())
    loose = loose_base(robot)
    problems = [_values(finding, "kind", "subject", "message", "line") for finding in robot.report]
    if loose is not None:
        problems.append({"kind": "loose base", "subject": robot.name, "message": str(loose), "line": None})
    motor = ("name", "joint", "control", "gear", "rotor_inertia", "effort_limit", "velocity_limit")
    return {
        "name": robot.name,
        "origin": origin,
        "base": "free" if robot.is_free else "fixed",
        **_values(robot, "nq", "nv", "nu", "mass"),
        "gravity": list(robot.gravity),
        "extent": {"lower": lower, "upper": upper},
        "bodies": [{"name": b.name, "mass": b.inertia.mass} for b in robot.bodies.values()],
        "joints": [_joint(robot, joint) for joint in robot.joints.values()],
        "motors": [_values(m, *motor) | {"more": _more(m), "coupling": m.coupling} for m in robot.motors.values()],
        "flexibilities": [_values(f, "name", "joint") for f in robot.flexibilities.values()],
        "frames": [name for name in robot.frames if name not in robot.bodies],
        "contacts": [_values(s, "name", "body", "kind") | {"points": len(s.centers)} for s in robot.contacts.values()],
        "closures": list(robot.closures),
        "problems": problems,
    }


def _values(thing: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}


def _more(motor: "Motor") -> dict[str, float]:
    """Numbers of a motor's gains, friction, winding, temperature and the like that are not as usual."""
    known = ("gear", "rotor_inertia", "effort_limit", "velocity_limit", "gyroscopic", "rotor_axis")
    numbers = [f for f in fields(motor) if f.name not in known and isinstance(f.default, int | float)]
    return {f.name: getattr(motor, f.name) for f in numbers if getattr(motor, f.name) != f.default}


def _coupling(motor: dict[str, Any]) -> list[str]:
    return [f"drives {joint} x {number(ratio)}" for joint, ratio in motor["coupling"] or ()]


def _joint(robot: "Robot", joint: "Joint") -> dict[str, Any]:
    limits = _values(joint.limits, "lower", "upper", "velocity", "effort")
    losses = _values(joint, "damping", "friction", "stiffness")
    return {
        "name": joint.name,
        "kind": joint.kind.name,
        "axis": list(getattr(joint.kind, "axis", ())),
        "parent": joint.parent,
        "body": joint.child,
        "mass": robot.bodies[joint.child].inertia.mass,
        **{name: list(values) for name, values in (limits | losses).items()},
        "mimics": None if joint.mimic is None else joint.mimic.joint,
    }


def _head(robot: "Robot", about: dict[str, Any]) -> list[tuple[str, str]]:
    """The first lines: origin, sizes, mass, extent."""
    lower, upper = about["extent"].values()
    spans = " x ".join(number(high - low, 3) for low, high in zip(lower, upper, strict=True))
    kinds = Counter(joint.kind.name for joint in robot.joints.values())
    shapes = sum(len(body.collisions) for body in robot.bodies.values())
    contacts = f"none of its own; {shapes} collision shapes to take them from" if shapes else "none"
    pairs = [
        ("from", about["origin"]),
        ("base", about["base"] + ("" if robot.is_free else " (--base free lets the root of a file float)")),
        ("size", f"nq = {robot.nq}, nv = {robot.nv}, nu = {robot.nu}"),
        ("mass", f"{number(robot.mass)} kg in {len(robot.bodies)} bodies"),
        ("extent", f"{spans} m at rest, z from {number(lower[2], 3)} to {number(upper[2], 3)} m"),
        ("joints", ", ".join(f"{count} {kind}" for kind, count in kinds.items())),
        ("contacts", ", ".join(robot.contacts) or contacts),
    ]
    more = {"flexible": robot.flexibilities, "closures": robot.closures, "frames": about["frames"]}
    return pairs + [(what, ", ".join(names)) for what, names in more.items() if names]


def _tree(robot: "Robot") -> "Tree":
    """The tree, a body a line, with its mass and the name of its joint; kinds are in the table below it."""
    from rich.tree import Tree

    nodes = {"world": Tree("world")}
    for joint in robot.joints.values():  # parents come first
        mass = number(robot.bodies[joint.child].inertia.mass)
        nodes[joint.child] = nodes[joint.parent].add(f"{joint.child}  {mass} kg  ({joint.name})")
    return nodes["world"]


def _kind(joint: dict[str, Any]) -> str:
    """The kind of a joint, with its axis if that is x, y or z, one way or the other."""
    along = [("" if a > 0 else "-") + name for name, a in zip("xyz", joint["axis"], strict=False) if a]
    axis = f" {along[0]}" if len(along) == 1 else ""
    return joint["kind"] + axis + (f", as {joint['mimics']}" if joint["mimics"] else "")


def _range(joint: dict[str, Any]) -> str:
    if all(map(_is_infinite, [*joint["lower"], *joint["upper"]])):
        return ""
    pairs = zip(joint["lower"], joint["upper"], strict=True)
    return " ".join(f"{number(low, 3)} to {number(high, 3)}" for low, high in pairs)


def _most(*limits: Any) -> str:
    return "" if all(map(_is_infinite, limits)) else " ".join(number(x, 3) for x in limits)


def _is_infinite(x: Any) -> bool:
    return isinstance(x, int | float) and math.isinf(x)


def _print_findings(robot: "Robot") -> None:
    loose = loose_base(robot)
    if loose is not None:
        say(f"free base: {loose}")
    if not robot.report:
        say("problems: none found" if loose is None else "problems: none found in the file")
        return
    say(f"problems: {len(robot.report)} found in the file")
    seen: Counter[tuple[str, str]] = Counter()
    for finding in robot.report:
        seen[finding.kind, finding.message] += 1
        if seen[finding.kind, finding.message] <= _SHOWN:
            say(f"  {finding}")
    for (kind, message), count in seen.items():
        if count > _SHOWN:
            say(f"  {kind}: and {count - _SHOWN} more: {message}")


def _show_log(log: "Log", path: str, as_json: bool) -> None:
    """Print the robot, times and channels of a log."""
    source = log.source
    about = {
        "path": path,
        "robot": None if source is None else source.robot.name,
        "entries": len(log.t),
        "start": log.t[0],
        "end": log.t[-1],
        "robots": log.batch or 1,
        "is_complete": log.is_complete,
        "events": len(log.events),
        "channels": {name: list(log.columns.get(name, ())) for name in log.channels},
        "settings": {} if source is None else dict(source.settings),
        "versions": {} if source is None else dict(source.versions),
        "created": None if source is None else source.created,
    }
    if as_json:
        print_json(about)
        return
    count = f" of {log.batch} robots" if log.batch else ""
    whole = "" if log.is_complete else ", cut off"
    entries = f"{len(log.t)}{count}, t = {number(log.t[0])} to {number(log.t[-1])} s{whole}"
    pairs = [("robot", about["robot"] or "not in the log"), ("entries", entries)]
    if about["events"]:
        pairs.append(("events", f"{about['events']}"))
    if source is not None:
        ground = "none" if source.ground is None else source.ground.name
        pairs += [("ground", ground), ("created", source.created)]
        pairs.append(("versions", ", ".join(f"{name} {version}" for name, version in source.versions.items())))
    print_pairs(path, pairs)
    say()
    rows = [(name, ", ".join(log.columns.get(name, ()))) for name in log.channels]
    print_table(("channel", "columns"), rows)


# ---- robots by name, and kernels


def robots(json: Json = False) -> None:
    """List the robots that have a name."""
    from pliant.catalogue import library

    ELSEWHERE, known = library.ELSEWHERE, library.robots()
    shipped = [name for name, robot in known.items() if robot.origin == library.OURS]
    elsewhere = {name: robot for name, robot in known.items() if robot.origin == ELSEWHERE}
    if json:
        found = {name: {"path": str(robot.path), "base": robot.base} for name, robot in elsewhere.items()}
        print_json({"shipped": shipped, ELSEWHERE: found})
        return
    lists = {"shipped": shipped}
    for base in ("free", "fixed") if elsewhere else ():
        lists[f"{ELSEWHERE}, {base} base"] = [name for name, robot in elsewhere.items() if robot.base == base]
    for title, names in lists.items():
        print_pairs(title, [("  ", ", ".join(names))])
    if not elsewhere:
        say(f"\nmore with: pip install {ELSEWHERE}")
    say("\nEach is a ROBOT for the other commands, as is the path of a .urdf, .xacro, .sdf, .xml or .toml file.")


_UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9}


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="remove them")] = False,
    most: Annotated[
        str | None, typer.Option("--size", metavar="SIZE", help="keep them below this size, as 500MB or 4GB")
    ] = None,
    json: Json = False,
) -> None:
    """Print where compiled kernels are kept, how many and how large."""
    from pliant.compiler.cache import LEAST_BYTES, cache_folder, entries, most_bytes, set_most_bytes

    folder, sizes = cache_folder(), {}
    limit = None if most is None else _bytes(most, LEAST_BYTES)
    try:
        if folder is not None and limit is not None:
            set_most_bytes(folder, limit)
        for entry in () if folder is None else entries(folder):
            sizes[entry.path] = entry.size
            if clear:
                entry.path.unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot {'clear' if clear else 'read' if most is None else 'change'} the cache {folder}: "
        problem += str(error.strerror)
        raise PliantError(problem, subject=str(folder)) from None
    total = sum(sizes.values())
    if json:
        about = {"folder": None if folder is None else str(folder), "kernels": len(sizes), "bytes": total}
        about["most"] = None if folder is None else most_bytes(folder)
        print_json(about | ({"removed": len(sizes)} if clear else {}))
    elif folder is None:
        say("there is no cache: PLIANT_CACHE_DIR turns it off")
    elif clear:
        say(f"removed {len(sizes)} kernels, {size(total)}, from {folder}")
    else:
        of_most = f"{size(total)} of {size(most_bytes(folder))}"
        pairs = [("folder", str(folder)), ("kernels", f"{len(sizes)}"), ("size", of_most)]
        print_pairs("compiled kernels", pairs)
        say("\nThey are compiled again when they are needed; PLIANT_CACHE_DIR names another folder, or `off`.")


def _bytes(text: str, least: int) -> int:
    """A size such as 500MB in bytes."""
    number_of, unit = text.strip()[:-2].strip(), text.strip()[-2:]
    try:
        found = float(number_of) * _UNITS[unit]
    except (KeyError, ValueError):
        found = math.nan
    if not least <= found < 1e15:
        raise PliantError(bad_value("--size", text, f"a number with kB, MB or GB, {size(least)} or more"))
    return round(found)
