"""Logs as MCAP recordings, for Foxglove and the tools of ROS."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, needs
from pliant.files.writing import careful, whole_file
from pliant.recording.log import Log
from pliant.recording.source import Source, plain
from pliant.render import body_poses, drawing, points_of_contacts
from pliant.render.shapes import directed, quaternions
from pliant.robot import Robot
from pliant.robot.model import WORLD

_NEED = "export", "log.to_mcap()"
# triangles of a robot, and the colour of forces
_DETAIL = 30_000
_ARROW = (0.1, 0.7, 0.3, 1.0)
_SCHEMA: dict[str, Any] = {"type": "object", "additionalProperties": True}


def to_mcap(log: Log, path: str | os.PathLike[str], *, newtons_per_metre: float = 200.0, look: bool = True) -> Path:
    """Write an MCAP recording: `Log.to_mcap`."""
    source = log.needs_source("log.to_mcap()")
    foxglove = needs("foxglove", *_NEED)
    if len(log.t) and (not np.isfinite(log.t).all() or log.t.min() < 0):
        problem = "log.to_mcap(): the log has times before zero, which a recording cannot have"
        raise PliantError(problem, subject="log", field="t", cure="shift log.t")
    context = foxglove.Context()
    with whole_file(path) as beside, careful(beside) as raw, foxglove.open_mcap(raw, context=context) as file:
        file.write_metadata("pliant", _about(log, source))
        batch = range(log.batch or 0)
        robots = [(f"/robot_{k}", f"robot_{k}/", log.robot(k)) for k in batch] or [("", "", log)]
        writers = [_Writer(context, *robot, source, newtons_per_metre) for robot in robots]
        for k, t in enumerate(log.t):
            for writer in writers:
                if k == 0 and look:
                    writer.put_look(t)
                writer.put(k, t)
            if raw.error is not None:  # the disk is full, say
                break
    return Path(path)


def _about(log: Log, source: Source) -> dict[str, str]:
    about = {"robot": source.robot.name, "created": source.created, "metadata": dict(log.metadata)}
    about |= {"settings": dict(source.settings), "versions": dict(source.versions)}
    return {name: value if isinstance(value, str) else json.dumps(plain(value)) for name, value in about.items()}


class _Writer:
    """The topics of one robot."""

    def __init__(self, context: Any, topic: str, frame: str, log: Log, source: Source, scale: float):
        channels, channel = needs("foxglove.channels", *_NEED), needs("foxglove", *_NEED).Channel
        self.messages = needs("foxglove.messages", *_NEED)
        self.frame, self.log, self.robot, self.scale = frame, log, source.robot, scale
        self.contacts = source.contacts if "forces" in log else ()
        self.has_motion = "q" in log and log["q"].shape[-1] == self.robot.nq
        if self.has_motion:
            self.poses = body_poses(self.robot, log["q"])
            self.turns = quaternions(self.poses[..., :3, :3])
            points = np.moveaxis(points_of_contacts(self.robot, log["q"], self.poses), -2, 0)
            self.points = {p.name: path for p, path in zip(self.robot.contact_points, points, strict=True)}
            self.tf = channels.FrameTransformsChannel(f"{topic}/tf", context=context)
            self.joints = _joints(self.robot)
            self.joint_states = channels.JointStatesChannel(f"{topic}/joint_states", context=context)
            self.look = channels.SceneUpdateChannel(f"{topic}/robot", context=context)
            if self.contacts:
                self.arrows = channels.SceneUpdateChannel(f"{topic}/contacts", context=context)
        if self.contacts:
            self.forces = channel(f"{topic}/forces", schema=_SCHEMA, context=context)
        self.all = channel(f"{topic}/channels", schema=_SCHEMA, context=context)

    def put(self, k: int, t: float) -> None:
        """The messages of one entry."""
        nanoseconds = round(float(t) * 1e9)
        stamp = self.messages.Timestamp(*divmod(nanoseconds, 1_000_000_000))
        if self.has_motion:
            self.tf.log(self._transforms(k, stamp), log_time=nanoseconds)
            self.joint_states.log(self._joint_states(k, stamp), log_time=nanoseconds)
            if self.contacts:
                self.arrows.log(self._arrows(k, stamp), log_time=nanoseconds)
        if self.contacts:
            forces = self.log["forces"][k].reshape(-1, 3)
            named = {name: _named("xyz", map(_number, f)) for name, f in zip(self.contacts, forces, strict=True)}
            self.forces.log(named, log_time=nanoseconds)
        self.all.log(self._channels(k), log_time=nanoseconds)

    def put_look(self, t: float) -> None:
        """The robot's triangles, fixed to the frames of its bodies."""
        if not self.has_motion:
            return
        m = self.messages
        entities = []
        for part in drawing(self.robot, detail=_DETAIL).parts:
            points = [m.Point3(**_named("xyz", place)) for place in part.vertices.tolist()]
            pose = _pose(m, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
            look = {"color": m.Color(**_named("rgba", part.color)), "indices": part.faces.reshape(-1).tolist()}
            triangles = [m.TriangleListPrimitive(pose=pose, points=points, **look)]
            frame = {"frame_id": self.frame + part.body, "frame_locked": True}
            entities.append(m.SceneEntity(id=part.name, triangles=triangles, **frame))
        self.look.log(m.SceneUpdate(entities=entities), log_time=round(float(t) * 1e9))

    def _transforms(self, k: int, stamp: Any) -> Any:
        m = self.messages
        found = []
        places, turns = self.poses[k, :, :3, 3].tolist(), self.turns[k].tolist()
        for body, place, turn in zip(self.robot.bodies, places, turns, strict=True):
            names = {"parent_frame_id": WORLD, "child_frame_id": self.frame + body}
            moved = {"translation": m.Vector3(**_named("xyz", place)), "rotation": m.Quaternion(**_named("xyzw", turn))}
            found.append(m.FrameTransform(timestamp=stamp, **names, **moved))
        return m.FrameTransforms(transforms=found)

    def _joint_states(self, k: int, stamp: Any) -> Any:
        m, log = self.messages, self.log
        efforts = log.columns.get("tau", ())
        states = []
        for name, q, v, motor in self.joints:
            options = {"position": float(log["q"][k, q])}
            if "v" in log:
                options["velocity"] = float(log["v"][k, v])
            if motor in efforts:
                options["effort"] = float(log["tau"][k, efforts.index(motor)])
            states.append(m.JointState(name=name, **options))
        return m.JointStates(timestamp=stamp, joints=states)

    def _arrows(self, k: int, stamp: Any) -> Any:
        m = self.messages
        arrows = []
        for name, f in zip(self.contacts, self.log["forces"][k].reshape(-1, 3), strict=True):
            size = float(np.linalg.norm(f))
            # contact pairs are at no point of one body
            if name not in self.points or not size > 0 or not np.isfinite(size):
                continue
            length = size / self.scale
            # arrows point along their x
            turn = quaternions(np.roll(directed(f[None]), 1, axis=-1))[0]
            pose = _pose(m, self.points[name][k].tolist(), turn.tolist())
            sizes = {"shaft_length": 0.8 * length, "head_length": 0.2 * length}
            widths = {"shaft_diameter": 0.01, "head_diameter": 0.03}
            arrows.append(m.ArrowPrimitive(pose=pose, color=m.Color(**_named("rgba", _ARROW)), **sizes, **widths))
        entity = m.SceneEntity(timestamp=stamp, frame_id=WORLD, id="contacts", arrows=arrows)
        return m.SceneUpdate(entities=[entity])

    def _channels(self, k: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, array in self.log.channels.items():
            names, entry = self.log.columns.get(name), array[k]
            values = plain(np.vectorize(_number, otypes=[object])(entry)) if entry.ndim else _number(entry)
            found[name] = dict(zip(names, values, strict=True)) if names else values
        return found


def _joints(robot: Robot) -> list[tuple[str, int, int, str | None]]:
    """Joints with one dof of their own: name, places in q and v, motor."""
    motors = {motor.joint: name for name, motor in robot.motors.items()}
    return [
        (j.name, robot.q_slice(j.name).start, robot.v_slice(j.name).start, motors.get(j.name))
        for j in robot.joints.values()
        if j.mimic is None and j.kind.nv == 1
    ]


def _number(x: Any) -> Any:
    """What JSON has for a number; null for one that it does not have."""
    x = x.item() if hasattr(x, "item") else x
    if isinstance(x, complex):
        return [_number(x.real), _number(x.imag)]
    return x if not isinstance(x, float) or np.isfinite(x) else None


def _pose(m: Any, p: Any, q: Any) -> Any:
    return m.Pose(position=m.Vector3(**_named("xyz", p)), orientation=m.Quaternion(**_named("xyzw", q)))


def _named(letters: str, numbers: Any) -> dict[str, float]:
    return dict(zip(letters, numbers, strict=True))
