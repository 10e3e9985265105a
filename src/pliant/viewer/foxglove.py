"""Logs as MCAP recordings, for Foxglove and the tools of ROS."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, needs
from pliant.files.whole import careful
from pliant.files.whole import whole_file
from pliant.recording.log import Log
from pliant.recording.source import Source, plain
from pliant.render import body_poses, drawing, points_of_contacts
from pliant.robot import Robot
from pliant.robot.model import WORLD

__all__ = ["to_mcap"]

_NEED = "export", "log.to_mcap()"
# triangles of a robot, and the colour of forces
_DETAIL = 30_000
_ARROW = (0.1, 0.7, 0.3, 1.0)


def to_mcap(log: Log, path: str | os.PathLike[str], *, newtons_per_metre: float = 200.0, look: bool = True) -> Path:
    """Write an MCAP recording: `Log.to_mcap`."""
    source = log.needs_source("log.to_mcap()")
    foxglove = needs("foxglove", *_NEED)
    if len(log.t) and (not np.isfinite(log.t).all() or log.t.min() < 0):
        problem = "log.to_mcap(): the log has times before zero, which a recording cannot have"
        raise PliantError(problem, subject="log", field="t", cure="shift log.t")
    context = foxglove.Context()
    with (
        whole_file(path) as beside,
        careful(beside) as raw,
        foxglove.open_mcap(raw, context=context) as file,
    ):
        file.write_metadata("pliant", _about(log, source))
        robots = [("", "", log)] if log.batch is None else _each(log)
        writers = [_Writer(context, *robot, source, newtons_per_metre) for robot in robots]
        for k, t in enumerate(log.t):
            for writer in writers:
                if k == 0 and look:
                    writer.put_look(t)
                writer.put(k, t)
            if raw.error is not None:  # the disk is full, say
                break
    return Path(path)


def _each(log: Log) -> Iterator[tuple[str, str, Log]]:
    for k in range(log.batch or 0):
        yield f"/robot_{k}", f"robot_{k}/", log.robot(k)


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
            self.turns = _quaternions(self.poses[..., :3, :3])
            self.points = dict(zip((p.name for p in self.robot.contact_points),
                                   np.moveaxis(points_of_contacts(self.robot, log["q"], self.poses), -2, 0),
                                   strict=True))  # fmt: skip
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
            told = {name: dict(zip("xyz", map(_number, f), strict=True)) for name, f in
                    zip(self.contacts, forces, strict=True)}  # fmt: skip
            self.forces.log(told, log_time=nanoseconds)
        self.all.log(self._channels(k), log_time=nanoseconds)

    def put_look(self, t: float) -> None:
        """The robot's triangles, fixed to the frames of its bodies."""
        if not self.has_motion:
            return
        m = self.messages
        entities = []
        for part in drawing(self.robot, detail=_DETAIL).parts:
            points = [m.Point3(x=x, y=y, z=z) for x, y, z in part.vertices.tolist()]
            triangles = m.TriangleListPrimitive(
                pose=_pose(m, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)), points=points, color=_color(m, part.color),
                indices=part.faces.reshape(-1).tolist(),
            )  # fmt: skip
            entities.append(
                m.SceneEntity(frame_id=self.frame + part.body, id=part.name, frame_locked=True, triangles=[triangles])
            )
        self.look.log(m.SceneUpdate(entities=entities), log_time=round(float(t) * 1e9))

    def _transforms(self, k: int, stamp: Any) -> Any:
        m = self.messages
        found = []
        places, turns = self.poses[k, :, :3, 3].tolist(), self.turns[k].tolist()
        for body, place, turn in zip(self.robot.bodies, places, turns, strict=True):
            found.append(
                m.FrameTransform(
                    timestamp=stamp, parent_frame_id=WORLD, child_frame_id=self.frame + body,
                    translation=m.Vector3(x=place[0], y=place[1], z=place[2]),
                    rotation=m.Quaternion(x=turn[0], y=turn[1], z=turn[2], w=turn[3]),
                )
            )  # fmt: skip
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
            pose = _pose(m, self.points[name][k].tolist(), _turn_to(f / size))
            sizes = {"shaft_length": 0.8 * length, "head_length": 0.2 * length}
            widths = {"shaft_diameter": 0.01, "head_diameter": 0.03}
            arrows.append(m.ArrowPrimitive(pose=pose, color=_color(m, _ARROW), **sizes, **widths))
        entity = m.SceneEntity(timestamp=stamp, frame_id=WORLD, id="contacts", arrows=arrows)
        return m.SceneUpdate(entities=[entity])

    def _channels(self, k: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, array in self.log.channels.items():
            names, entry = self.log.columns.get(name), array[k]
            values = plain(np.vectorize(_number, otypes=[object])(entry)) if entry.ndim else _number(entry)
            found[name] = dict(zip(names, values, strict=True)) if names else values
        return found


_SCHEMA: dict[str, Any] = {"type": "object", "additionalProperties": True}


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
    place = m.Vector3(x=p[0], y=p[1], z=p[2])
    return m.Pose(position=place, orientation=m.Quaternion(x=q[0], y=q[1], z=q[2], w=q[3]))


def _color(m: Any, rgba: Any) -> Any:
    return m.Color(r=rgba[0], g=rgba[1], b=rgba[2], a=rgba[3])


def _turn_to(direction: np.ndarray) -> tuple[float, float, float, float]:
    """The quaternion (x, y, z, w) that turns x, along which arrows point, to a unit vector."""
    x, y, z = direction.tolist()
    if x < -1 + 1e-12:
        return 0.0, 0.0, 1.0, 0.0
    # half way between both: (e_x cross d, 1 + e_x dot d), made a unit
    w = 1 + x
    size = float(np.sqrt(w * w + y * y + z * z))
    return 0.0, -z / size, y / size, w / size


def _quaternions(R: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4), x y z w, of rotations (..., 3, 3), by the largest of the four, w not negative.

    K = 4 q q^T is linear in R [Bar-Itzhack 2000]: its row of the largest diagonal entry is q but for its size.
    """
    xx, yy, zz = (R[..., k, k] for k in range(3))
    K = np.empty((*R.shape[:-2], 4, 4))
    K[..., 0, 0], K[..., 1, 1], K[..., 2, 2] = 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz
    K[..., 3, 3] = 1 + xx + yy + zz
    for i, j in ((0, 1), (0, 2), (1, 2)):
        K[..., i, j] = K[..., j, i] = R[..., i, j] + R[..., j, i]
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        K[..., i, 3] = K[..., 3, i] = R[..., k, j] - R[..., j, k]
    largest = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(K, largest[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., 3:] < 0, -q, q)
