"""The robot: frozen, named, and edited by making copies."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import RobotError, unknown_name
from pliant.robot import describe
from pliant.robot.contacts import ContactPoint, ContactShape, points_of
from pliant.robot.edits import Edits
from pliant.robot.mechanism import Mechanism
from pliant.robot.model import WORLD, Body, Closure, Flexibility, Frame, FrameSpring, Joint, Motor
from pliant.robot.named import Named
from pliant.robot.report import Report
from pliant.scalar import is_constant
from pliant.spatial import Transform, Vector

__all__ = ["Robot"]

Scalar = Any


@dataclass(frozen=True, eq=False, repr=False)
class Robot(Edits):
    """A tree of bodies and joints, with frames and motors; made by `RobotBuilder` or a reader.

    Two robots are equal only if they are the same object; `digest` compares content.

    Attributes:
        bodies: in depth-first order, without the world.
        joints: each before those of its child; ``joints[i]`` carries ``bodies[i]``.
        frames: one for each body, of its name, then the others.
        motors: in the order of the controls u.
        gravity: its acceleration in the world frame [m/s^2].
        closures: frames held together beside the tree.
        springs: between frames.
        contacts: shapes that can touch the ground.
        contact_pairs: names of two of them that can touch each other, too.
        flexibilities: what gives way at motors' joints or within links, by the name of the joint that does.
        report: what was odd, dropped, guessed or mended on the way here.
        file: that it was read from, if it was; no part of `digest`.
    """

    name: str
    bodies: Named[Body]
    joints: Named[Joint]
    frames: Named[Frame]
    motors: Named[Motor]
    gravity: Vector = field(default_factory=lambda: Vector(0, 0, -9.81))
    report: Report = field(default_factory=Report)
    closures: Named[Closure] = field(default_factory=lambda: Named("closure", ()))
    springs: Named[FrameSpring] = field(default_factory=lambda: Named("spring", ()))
    contacts: Named[ContactShape] = field(default_factory=lambda: Named("contact", ()))
    contact_pairs: tuple[tuple[str, str], ...] = ()
    flexibilities: Named[Flexibility] = field(default_factory=lambda: Named("flexibility", ()))
    file: Path | None = None

    # ---- sizes and layout

    @cached_property
    def nq(self) -> int:
        """Length of the configuration q."""
        return sum(j.kind.nq for j in self._independent)

    @cached_property
    def nv(self) -> int:
        """Length of the velocity v: degrees of freedom."""
        return sum(j.kind.nv for j in self._independent)

    @property
    def nu(self) -> int:
        """Length of the controls u: motors."""
        return len(self.motors)

    @property
    def mass(self) -> Scalar:
        """Of all bodies [kg]."""
        return sum(b.inertia.mass for b in self.bodies.values())

    @property
    def is_free(self) -> bool:
        """Whether its base floats; not if springs hold it in all directions."""
        free = [j.name for j in self.joints.values() if j.kind.name == "free" and j.parent == WORLD]
        return any(name not in self.flexibilities for name in free)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """What each entry of q is: the joint's name, with a suffix if it has several."""
        return tuple(describe.entry_name(j.name, label) for j in self._independent for label in j.kind.q_labels)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """What each entry of v is."""
        return tuple(describe.entry_name(j.name, label) for j in self._independent for label in j.kind.v_labels)

    @cached_property
    def _independent(self) -> tuple[Joint, ...]:
        return tuple(j for j in self.joints.values() if j.mimic is None)

    @cached_property
    def _slices(self) -> dict[str, tuple[slice, slice]]:
        slices, iq, iv = {}, 0, 0
        for joint in self._independent:
            nq, nv = joint.kind.nq, joint.kind.nv
            slices[joint.name] = slice(iq, iq + nq), slice(iv, iv + nv)
            iq, iv = iq + nq, iv + nv
        return slices

    def leader(self, joint: str) -> Joint:
        """The joint whose coordinates move this one: itself, unless it mimics another."""
        found = self.joints[joint]
        while found.mimic is not None:
            found = self.joints[found.mimic.joint]
        return found

    def path(self, body: str) -> tuple[Joint, ...]:
        """The joints between a body and the world, the nearest first."""
        found: list[Joint] = []
        carries = {joint.child: joint for joint in self.joints.values()}
        while body != WORLD:
            found.append(carries[body])
            body = found[-1].parent
        return tuple(found)

    def carrier(self, joint: str) -> Joint:
        """The joint whose parent carries the motor of a joint: itself, or the first of what gives way before it."""
        found = self.joints[joint]
        springs = {f.name for f in self.flexibilities.values() if f.joint == joint}
        for above in self.path(found.parent):
            if above.name not in springs:
                break
            found = above
        return found

    def q_slice(self, joint: str) -> slice:
        """Where the joint's coordinates (or its leader's) are in q."""
        return self._slices[self.leader(joint).name][0]

    def v_slice(self, joint: str) -> slice:
        """Where the joint's velocities (or its leader's) are in v."""
        return self._slices[self.leader(joint).name][1]

    def frame(self, name: str) -> Frame:
        """The frame of that name; the name of a body or joint means the body's, the joint's child's frame."""
        if name in self.frames:
            return self.frames[name]
        if name in self.joints:
            return self.frames[self.joints[name].child]
        if name == WORLD:
            return Frame(WORLD, WORLD, Transform.identity())
        valid = dict.fromkeys([*self.frames, *self.joints, WORLD])
        raise RobotError(unknown_name("frame", name, valid, self.frames.owner))

    @cached_property
    def contact_points(self) -> tuple[ContactPoint, ...]:
        """Every point that can touch the ground, in the order of the contacts."""
        return points_of(self.contacts.values())

    # ---- configurations

    def neutral(self) -> np.ndarray:
        """The configuration with every joint at its zero, (nq,)."""
        return np.array([x for j in self._independent for x in j.kind.neutral()], dtype=float)

    def random(self, rng: np.random.Generator | int | None = None, batch: int | None = None) -> np.ndarray:
        """Configurations drawn uniformly: within the limits, else up to pi [rad] or 1 [m].

        Args:
            rng: a generator, a seed, or None for a new seed each time.
            batch: how many, or None for one without a batch axis.

        Returns:
            (nq,) or (batch, nq).
        """
        rng = np.random.default_rng(rng)
        columns: list[Any] = []
        for j in self._independent:
            columns += j.kind.random(rng, j.limits.lower, j.limits.upper, batch)
        return np.stack(columns, axis=-1) if columns else np.zeros((0,) if batch is None else (batch, 0))

    def integrate(self, q: Any, v: Any, dt: Any = 1) -> Any:
        """Where the constant velocity v takes q in the time dt [s], on the configuration manifold.

        Args:
            q, v: arrays (nq,), (nv,) or with a batch in front, or sequences of any scalars.
            dt: a number, or one for each robot of the batch.
        """
        return self._joint_by_joint(lambda kind, a, b: kind.integrate(a, [x * dt for x in b]), ("q", q), ("v", v))

    def difference(self, q0: Any, q1: Any) -> Any:
        """The constant velocity that takes q0 to q1 in one second, the shorter way round; arguments as `integrate`."""
        return self._joint_by_joint(lambda kind, a, b: kind.difference(a, b), ("q0", q0), ("q1", q1))

    def chart_rate(self, w: Any, v: Any) -> Any:
        """dw/dt for which integrate(q, w) moves with the velocity v: v itself for joints of one dof, and at w = 0.

        Args:
            w, v: arrays (nv,) or with a batch in front, or sequences of any scalars.
        """
        return self._joint_by_joint(lambda kind, a, b: kind.chart_rate(a, b), ("w", w), ("v", v))

    def _joint_by_joint(self, function: Callable[..., list], *arguments: tuple[str, Any]) -> Any:
        """Apply a function of kind and coordinates to each joint: on NumPy, a scalar is a column of the batch."""
        columns = [self._columns(name, value) for name, value in arguments]
        results: list[Scalar] = []
        for joint in self._independent:
            q, v = self._slices[joint.name]
            parts = (c[q if name[0] == "q" else v] for (name, _), c in zip(arguments, columns, strict=True))
            results += function(joint.kind, *parts)
        if not all(is_constant(x) or isinstance(x, np.ndarray) for c in columns for x in c):
            return np.array(results, dtype=object)
        if not results:
            return np.zeros((*np.shape(arguments[0][1])[:-1], 0))
        return np.stack(np.broadcast_arrays(*results), axis=-1).astype(float)

    def _columns(self, name: str, value: Any) -> list[Scalar]:
        columns = list(np.moveaxis(value, -1, 0)) if isinstance(value, np.ndarray) and value.ndim else list(value)
        expected = self.nq if name[0] == "q" else self.nv
        if len(columns) != expected:
            size = "nq" if name[0] == "q" else "nv"
            raise RobotError(f"{name} has {len(columns)} entries, but {self.frames.owner} has {size} = {expected}")
        return columns

    # ---- views

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot as the algorithms see it."""
        return Mechanism.of(self)

    @cached_property
    def digest(self) -> str:
        """A hash of all that dynamics sees: equal for robots that move alike, names included."""
        return describe.digest(self)

    def tree(self) -> str:
        """The tree of bodies and joints as text."""
        return describe.tree(self)

    def __repr__(self) -> str:
        return describe.table(self)

    def __getstate__(self) -> dict[str, Any]:
        # what is cached is made again
        return {f.name: getattr(self, f.name) for f in fields(self)}
