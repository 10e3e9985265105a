"""What a robot written as MJCF has beside bodies, joints and motors: closures and sensors."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from pliant.errors import RobotError
from pliant.formats.mjcf_tree import WORLD
from pliant.robot import Closure, Frame, Robot
from pliant.spatial import MatrixRotation, Transform, Vector

if TYPE_CHECKING:
    from pliant.formats.mjcf_export import MjcfWriter

# between the two points that hold an axis [m]
_APART = 0.1


# ---- closures


def closing_frames(robot: Robot) -> Iterator[Frame]:
    """The frames that hinges need beside their own: further along the axis, on both sides."""
    for closure in robot.closures.values():
        if closure.kind == "hinge":
            for end, name in zip((closure.a, closure.b), _further(closure), strict=True):
                body, X_BF = WORLD, Transform.identity()
                if end != WORLD:
                    frame = robot.frame(end)
                    body, X_BF = frame.body, frame.placement
                along = Vector(*closure.axis) * _APART
                yield Frame(name, body, X_BF @ Transform(MatrixRotation.identity(), along))


def _further(closure: Closure) -> tuple[str, str]:
    return f"{closure.name}_axis_a", f"{closure.name}_axis_b"


def write_closures(writer: "MjcfWriter") -> None:
    """Points and hinges as connects, welds, and lengths as tendons between sites; all are soft in MuJoCo."""
    for closure in writer.robot.closures.values():
        subject = f"closure {closure.name!r}"
        a, b = writer.site_of(closure.a), writer.site_of(closure.b)
        if a not in writer.sites or b not in writer.sites:
            writer.note("dropped", subject, f"a {closure.kind} between these frames: the loop is open in MuJoCo")
            continue
        if closure.kind == "distance":
            _write_distance(writer, closure, a, b)
        else:
            tag = "weld" if closure.kind == "weld" else "connect"
            writer.equalities.append(_equality(tag, closure.name, a, b))
        what = "a soft constraint of MuJoCo"
        if closure.kind == "hinge":
            writer.equalities.append(_equality("connect", f"{closure.name}_axis", *_further(closure)))
            what = f"two points that are held together, {_APART} m apart, by soft constraints of MuJoCo"
        writer.note("repaired", subject, what)


def _equality(tag: str, name: str, a: str, b: str) -> str:
    return f"    <{tag} name={quoteattr(name)} site1={quoteattr(a)} site2={quoteattr(b)}/>"


def _write_distance(writer: "MjcfWriter", closure: Closure, a: str, b: str) -> None:
    """A tendon whose length is that of the file's pose and a difference."""
    own = quoteattr(closure.name)
    sites = f"<site site={quoteattr(a)}/><site site={quoteattr(b)}/>"
    writer.tendons.append(f"    <spatial name={own}>{sites}</spatial>")
    apart = _reference(writer.robot, closure.a).p - _reference(writer.robot, closure.b).p
    more = float(closure.length) - math.sqrt(float(apart.dot(apart)))
    writer.equalities.append(f'    <tendon name={own} tendon1={own} polycoef="{digits(more)} 0 0 0 0"/>')


def _reference(robot: Robot, name: str) -> Transform:
    """Where a frame is in the pose of the written file, in which every joint is at 0, those that follow others, too."""
    if name == WORLD:
        return Transform.identity()
    frame = robot.frame(name)
    X, body = frame.placement, frame.body
    above = {joint.child: joint for joint in robot.joints.values()}
    while body != WORLD:
        X, body = above[body].placement @ X, above[body].parent
    return X


# ---- sensors


def sensor_elements(writer: "MjcfWriter") -> list[str]:
    """The sensors that MuJoCo has, too."""
    found = []
    at_site = {
        ("imu", "gyro"): "gyro", ("imu", "accelerometer"): "accelerometer", ("wrench", "force"): "force",
        ("wrench", "torque"): "torque",
    }  # fmt: skip
    at_frame = {
        "position": "framepos", "orientation": "framequat", "linear": "framelinvel", "angular": "frameangvel",
    }  # fmt: skip
    for sensor in writer.robot.sensors.values():
        lost = []
        for channel in sensor.channels:
            name = quoteattr(f"{sensor.name}_{channel}")
            place = writer.site_of(sensor.at[0]) if sensor.kind in ("imu", "wrench", "pose") else ""
            if place and place not in writer.sites:
                lost.append(channel)
            elif (sensor.kind, channel) in at_site:
                found.append(f"    <{at_site[sensor.kind, channel]} name={name} site={quoteattr(place)}/>")
            elif sensor.kind == "pose":
                tag = at_frame[channel]
                found.append(f'    <{tag} name={name} objtype="site" objname={quoteattr(place)}/>')
            elif sensor.kind == "encoder":
                tag = "jointpos" if channel == "position" else "jointvel"
                for joint in sensor.at:
                    own = quoteattr(f"{sensor.name}_{channel}_{joint}")
                    found.append(f"    <{tag} name={own} joint={quoteattr(joint)}/>")
            elif sensor.kind == "torque":
                for joint in sensor.at:
                    own = quoteattr(f"{sensor.name}_{joint}")
                    found.append(f"    <jointactuatorfrc name={own} joint={quoteattr(joint)}/>")
            else:
                lost.append(channel)
        if lost:
            writer.note("dropped", sensor.subject, f"its {', '.join(lost)}")
        if sensor.errors or sensor.rate is not None or any(sensor.delay):
            writer.note("dropped", sensor.subject, "its errors, rate and delay: MuJoCo reads the truth, at each step")
    return found


# ---- numbers


def row(values: object) -> str:
    """Numbers with spaces between."""
    return " ".join(digits(x) for x in values)  # type: ignore[attr-defined]


def digits(x: object) -> str:
    """A number that reads back as itself."""
    try:
        value = float(x)  # type: ignore[arg-type]
    except TypeError:
        problem, cure = f"{x!r} is not a number, which MJCF holds", "give symbols their values first"
        raise RobotError(problem, subject="to_mjcf", cure=cure) from None
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
