"""Configurations and velocities of a robot for a Pinocchio model of it, and back."""

from typing import Any, NamedTuple

import numpy as np

from pliant.checks import check
from pliant.errors import RobotError
from pliant.robot import Robot
from pliant.signatures import explained

Model = Any  # pinocchio.Model, which has no types


class _Piece(NamedTuple):
    """The coordinates of one joint: where they are in the robot's arrays and in the model's."""

    robot_q: slice
    model_q: slice
    robot_v: slice
    model_v: slice
    is_angle: bool


@explained
class PinocchioLayout:
    """Takes q and v of a robot to a ``pinocchio.Model`` of it and back, joint by joint.

        layout = PinocchioLayout(robot, model)
        pinocchio.crba(model, data, layout.q_to_model(q))

    Joints correspond by name, whatever the orders. A continuous joint, one angle here, may have a cosine and a sine in
    the model. Accelerations and joint forces go the way of v. Arrays are (n,) or have a batch in front.

    Args:
        robot: from `from_pinocchio`, from the same URDF as the model, or the one that `Robot.to_pinocchio` wrote.
        model: a ``pinocchio.Model`` with the same moving joints.
    """

    def __init__(self, robot: Robot, model: Model):
        parts = ("nq", "nv", "names", "joints")
        is_model = all(hasattr(model, part) for part in parts)
        check("model", model, "a pinocchio.Model", is_model, subject="PinocchioLayout", error=RobotError)
        self._sizes = {"q": (robot.nq, int(model.nq)), "v": (robot.nv, int(model.nv))}
        own = {joint.name: joint for joint in robot.independent_joints if joint.kind.nv}
        # the first one, of the universe, has no sizes
        joints = list(zip(model.names, model.joints, strict=True))[1:]
        theirs = {name: joint for name, joint in joints if joint.nv > 0}
        for name in [*own, *theirs]:
            if name not in own or name not in theirs:
                where = "the robot, but not the model," if name in own else "the model, but not the robot,"
                problem, cure = f"{where} has a moving joint {name!r}", "take a model and a robot with the same joints"
                raise RobotError(problem, subject=f"joint {name!r}", field="model", cure=cure)
        self._pieces = [self._piece(robot, name, theirs[name]) for name in own]

    @staticmethod
    def _piece(robot: Robot, name: str, joint: Any) -> _Piece:
        q, v = robot.q_slice(name), robot.v_slice(name)
        is_angle = q.stop - q.start == 1 and joint.nq == 2
        if v.stop - v.start != joint.nv or (q.stop - q.start != joint.nq and not is_angle):
            problem = f"joint {name!r} is {robot.joints[name].kind.name} here and {joint.shortname()} in the model"
            raise RobotError(problem, subject=f"joint {name!r}", field="model", cure="take a model of the same robot")
        starts = int(joint.idx_q), int(joint.idx_v)
        model_q, model_v = slice(starts[0], starts[0] + joint.nq), slice(starts[1], starts[1] + joint.nv)
        return _Piece(q, model_q, v, model_v, is_angle)

    def q_to_model(self, q: Any) -> np.ndarray:
        """Configurations of the robot as the model has them."""
        q, found = self._arrays("q", q, 0)
        for piece in self._pieces:
            own = q[..., piece.robot_q]
            found[..., piece.model_q] = np.concatenate([np.cos(own), np.sin(own)], -1) if piece.is_angle else own
        return found

    def q_to_robot(self, q: Any) -> np.ndarray:
        """Configurations of the model as the robot has them; angles of a cosine and a sine are from -pi to pi."""
        q, found = self._arrays("q", q, 1)
        for piece in self._pieces:
            theirs = q[..., piece.model_q]
            found[..., piece.robot_q] = np.arctan2(theirs[..., 1:], theirs[..., :1]) if piece.is_angle else theirs
        return found

    def v_to_model(self, v: Any) -> np.ndarray:
        """Velocities, accelerations or joint forces of the robot as the model has them."""
        v, found = self._arrays("v", v, 0)
        for piece in self._pieces:
            found[..., piece.model_v] = v[..., piece.robot_v]
        return found

    def v_to_robot(self, v: Any) -> np.ndarray:
        """Velocities, accelerations or joint forces of the model as the robot has them."""
        v, found = self._arrays("v", v, 1)
        for piece in self._pieces:
            found[..., piece.robot_v] = v[..., piece.model_v]
        return found

    def _arrays(self, what: str, given: Any, side: int) -> tuple[np.ndarray, np.ndarray]:
        """The given array, and one for the other side, of as many rows."""
        array, sizes = np.asarray(given, dtype=float), self._sizes[what]
        if array.ndim == 0 or array.shape[-1] != sizes[side]:
            whose, size = ("robot", "model")[side], sizes[side]
            problem = f"{what} of the {whose} has {size} entries, not {array.shape[-1] if array.ndim else 1}"
            raise RobotError(problem, subject="PinocchioLayout", field=what)
        return array, np.zeros((*array.shape[:-1], sizes[1 - side]))
