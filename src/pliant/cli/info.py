"""``pliant info``, ``pliant robots``, ``pliant cache``: a robot or a log, robots by name, compiled kernels."""

import math
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.sources import Base, RobotName, Xacro, is_log, load_robot, loose_base, open_log, origin
from pliant.cli.terminal import Json, number, print_json, print_pairs, print_rich, print_table, say, size
from pliant.errors import PliantError

if TYPE_CHECKING:
    from rich.tree import Tree

    from pliant.recording.log import Log
    from pliant.robot import Joint, Robot

__all__ = ["about_robot", "cache", "info", "robots"]

# findings of one kind on one matter that are shown one by one
_SHOWN = 4


def info(robot: RobotName, base: Base = None, xacro: Xacro = False, json: Json = False) -> None:
    """Print the contents of a robot or a log, and its problems."""
    if is_log(robot):
        _show_log(open_log(robot), robot, json)
        return
    _show_robot(load_robot(robot, base, xacro), origin(robot), json)


def _show_robot(robot: "Robot", origin: str, as_json: bool) -> None:
    about = about_robot(robot, origin)
    if as_json:
        print_json(about)
        return
    print_pairs(f"{robot.name}", _head(robot, about))
    say()
    # a long chain goes beyond the terminal rather than being cut off
    depth = max(len(robot.path(body)) for body in robot.bodies)
    print_rich(_tree(robot), least_width=4 * depth + 40)
    say()
    _print_joints(about["joints"])
    if about["motors"]:
        say()
        _print_motors(about["motors"])
    say()
    _print_findings(robot)


def about_robot(robot: "Robot", origin: str) -> dict[str, Any]:
    """All of it in plain values: SI units, None where there is no limit."""
    from pliant.catalogue.placement import extent

    lower, upper = extent(robot, robot.neutral())
    loose = [error for error in [loose_base(robot)] if error is not None]
    return {
        "name": robot.name,
        "origin": origin,
        "base": "free" if robot.is_free else "fixed",
        "nq": robot.nq,
        "nv": robot.nv,
        "nu": robot.nu,
        "mass": robot.mass,
        "gravity": list(robot.gravity),
        "extent": {"lower": lower, "upper": upper},
        "bodies": [{"name": b.name, "mass": b.inertia.mass} for b in robot.bodies.values()],
        "joints": [_joint(robot, joint) for joint in robot.joints.values()],
        "motors": [
            {
                "name": m.name, "joint": m.joint, "control": m.control, "gear": m.gear,
                "rotor_inertia": m.rotor_inertia, "effort_limit": m.effort_limit, "velocity_limit": m.velocity_limit,
            }
            for m in robot.motors.values()
        ],
        "flexibilities": [{"name": f.name, "joint": f.joint} for f in robot.flexibilities.values()],
        "frames": [name for name in robot.frames if name not in robot.bodies],
        "contacts": [
            {"name": s.name, "body": s.body, "kind": s.kind, "points": len(s.centers)} for s in robot.contacts.values()
        ],
        "closures": list(robot.closures),
        "problems": [
            {"kind": f.kind, "subject": f.subject, "message": f.message, "line": f.line} for f in robot.report
        ] + [{"kind": "loose base", "subject": robot.name, "message": str(error), "line": None} for error in loose],
    }  # fmt: skip


def _joint(robot: "Robot", joint: "Joint") -> dict[str, Any]:
    limits = joint.limits
    return {
        "name": joint.name,
        "kind": joint.kind.name,
        "axis": list(getattr(joint.kind, "axis", ())),
        "parent": joint.parent,
        "body": joint.child,
        "mass": robot.bodies[joint.child].inertia.mass,
        "lower": list(limits.lower),
        "upper": list(limits.upper),
        "velocity": list(limits.velocity),
        "effort": list(limits.effort),
        "damping": list(joint.damping),
        "friction": list(joint.friction),
        "stiffness": list(joint.stiffness),
        "mimics": None if joint.mimic is None else joint.mimic.joint,
    }


def _head(robot: "Robot", about: dict[str, Any]) -> list[tuple[str, str]]:
    """The first lines: origin, sizes, mass, extent."""
    lower, upper = (about["extent"][side] for side in ("lower", "upper"))
    spans = " x ".join(number(high - low, 3) for low, high in zip(lower, upper, strict=True))
    kinds = Counter(joint.kind.name for joint in robot.joints.values())
    pairs = [
        ("from", about["origin"]),
        ("base", about["base"] + ("" if robot.is_free else " (--base free lets the root of a file float)")),
        ("size", f"nq = {robot.nq}, nv = {robot.nv}, nu = {robot.nu}"),
        ("mass", f"{number(robot.mass)} kg in {len(robot.bodies)} bodies"),
        ("extent", f"{spans} m at rest, z from {number(lower[2], 3)} to {number(upper[2], 3)} m"),
        ("joints", ", ".join(f"{count} {kind}" for kind, count in kinds.items())),
        ("contacts", _contacts(robot)),
    ]
    if robot.flexibilities:
        pairs.append(("flexible", ", ".join(robot.flexibilities)))
    if robot.closures:
        pairs.append(("closures", ", ".join(robot.closures)))
    own = [name for name in robot.frames if name not in robot.bodies]
    if own:
        pairs.append(("frames", ", ".join(own)))
    return pairs


def _tree(robot: "Robot") -> "Tree":
    """The tree, a body a line, with its mass and the name of its joint; kinds are in the table below it."""
    from rich.tree import Tree

    nodes = {"world": Tree("world")}
    for joint in robot.joints.values():  # parents come first
        mass = number(robot.bodies[joint.child].inertia.mass)
        nodes[joint.child] = nodes[joint.parent].add(f"{joint.child}  {mass} kg  ({joint.name})")
    return nodes["world"]


def _contacts(robot: "Robot") -> str:
    if robot.contacts:
        return ", ".join(robot.contacts)
    shapes = sum(len(body.collisions) for body in robot.bodies.values())
    return f"none of its own; {shapes} collision shapes to take them from" if shapes else "none"


def _print_joints(joints: list[dict[str, Any]]) -> None:
    rows = []
    for joint in joints:
        if joint["kind"] == "fixed":
            continue
        led = f", as {joint['mimics']}" if joint["mimics"] else ""
        axis = "".join("+" if a > 0 else "-" for a in joint["axis"] if a) if _is_plain(joint["axis"]) else ""
        names = "".join(n for n, a in zip("xyz", joint["axis"], strict=False) if a) if axis else ""
        kind = f"{joint['kind']} {axis.strip('+')}{names}".rstrip() + led
        rows.append((joint["name"], kind, _range(joint), _most(joint["velocity"]), _most(joint["effort"])))
    if rows:
        columns = ("joint", "kind", "limits [rad or m]", "velocity", "effort")
        print_table(columns, rows, right=("velocity", "effort"))


def _is_plain(axis: list[Any]) -> bool:
    """Whether it is x, y or z, one way or the other."""
    return sum(a != 0 for a in axis) == 1


def _range(joint: dict[str, Any]) -> str:
    pairs = list(zip(joint["lower"], joint["upper"], strict=True))
    if all(_is_infinite(low) and _is_infinite(high) for low, high in pairs):
        return ""
    return " ".join(f"{number(low, 3)} to {number(high, 3)}" for low, high in pairs)


def _most(limits: list[Any]) -> str:
    return "" if all(_is_infinite(x) for x in limits) else " ".join(number(x, 3) for x in limits)


def _is_infinite(x: Any) -> bool:
    return isinstance(x, int | float) and math.isinf(x)


def _print_motors(motors: list[dict[str, Any]]) -> None:
    rows = [
        (
            m["name"] if m["name"] == m["joint"] else f"{m['name']} of {m['joint']}",
            m["control"],
            number(m["gear"]),
            number(m["rotor_inertia"]),
            _most([m["effort_limit"]]),
        )
        for m in motors
    ]
    columns = ("motor", "control", "gear", "rotor [kg m^2]", "most effort")
    print_table(columns, rows, right=columns[2:])


def _print_findings(robot: "Robot") -> None:
    findings = list(robot.report)
    loose = loose_base(robot)
    if loose is not None:
        say(f"free base: {loose}")
    if not findings:
        say("problems: none found" if loose is None else "problems: none found in the file")
        return
    say(f"problems: {len(findings)} found in the file")
    seen: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        matter = (finding.kind, finding.message)
        seen[matter] += 1
        if seen[matter] <= _SHOWN:
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
    pairs = [("robot", about["robot"] or "not in the log")]
    pairs.append(("entries", f"{len(log.t)}{count}, t = {number(log.t[0])} to {number(log.t[-1])} s{whole}"))
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
    say("\nEach is a ROBOT for the other commands, as is the path of a .urdf, .xacro or .toml file.")


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="remove them")] = False,
    json: Json = False,
) -> None:
    """Print where compiled kernels are kept, how many and how large."""
    from pliant.compiler import cache as kernels

    folder, sizes = kernels.folder(), {}
    try:
        # object files, and parts of them that a killed process left behind
        for file in [] if folder is None else [*folder.glob("*.o"), *folder.glob(".writing-*")]:
            with suppress(FileNotFoundError):  # another process was quicker to remove it
                sizes[file] = file.stat().st_size
                if clear:
                    file.unlink()
    except OSError as error:
        problem = f"cannot {'clear' if clear else 'read'} the cache {folder}: {error.strerror}"
        raise PliantError(problem, subject=str(folder)) from None
    total = sum(sizes.values())
    if json:
        about = {"folder": None if folder is None else str(folder), "kernels": len(sizes), "bytes": total}
        print_json(about | ({"removed": len(sizes)} if clear else {}))
    elif folder is None:
        say("there is no cache: PLIANT_CACHE_DIR turns it off")
    elif clear:
        say(f"removed {len(sizes)} kernels, {size(total)}, from {folder}")
    else:
        pairs = [("folder", str(folder)), ("kernels", f"{len(sizes)}"), ("size", size(total))]
        print_pairs("compiled kernels", pairs)
        say("\nThey are compiled again when they are needed; PLIANT_CACHE_DIR names another folder, or `off`.")
