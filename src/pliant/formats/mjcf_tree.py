"""Bodies, joints, frames of a compiled MJCF model, to builder calls.

A body of MuJoCo may have several joints, each about an anchor of its own. Here each joint carries a body: those between
are without mass, and a body whose last anchor is not at its origin is fixed to what that joint carries. So bodies keep
the frames that MuJoCo gives them, and all joints their coordinates, the reference position (``ref``) included.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import RobotError, unknown_name
from pliant.formats.journal import Journal
from pliant.formats.mjcf_compiler import Compiled
from pliant.formats.mjcf_shapes import Shapes, pose, position_rpy
from pliant.robot import Continuous, Fixed, Free, JointKind, Limits, Mimic, Prismatic, Revolute, RobotBuilder, Spherical
from pliant.spatial import MatrixRotation, Symmetric3, Transform, Vector, rotation_about

WORLD = "world"
FREE, BALL, SLIDE, HINGE = range(4)
KINDS = ("free", "ball", "slide", "hinge")
NO_CONSTRAINT, NO_EQUALITY, NO_FRICTION, NO_LIMIT, NO_SPRING, NO_DAMPER, NO_GRAVITY, NO_ACTUATION = (
    1 << k for k in (0, 1, 2, 3, 5, 6, 7, 11)
)  # fmt: skip


def chosen_trees(model: Compiled, tree: str | None, journal: Journal) -> list[int]:
    """The bodies on the world whose trees are the robot: the one named, all, or that with the most degrees of freedom.

    The others are reported.
    """
    tops = [b for b in range(1, model.sizes["nbody"]) if model.body_parentid[b] == 0]
    dofs = {top: int(model.body_dofnum[model.body_rootid == top].sum()) for top in tops}
    mass = {top: float(model.body_mass[model.body_rootid == top].sum()) for top in tops}
    names = {top: model.name("body", top) or f"body{top}" for top in tops}
    moving = [top for top in tops if dofs[top] > 0]
    if not tops:
        cure = "it is a scene: give the file of a robot, or the scene's own file that includes one"
        raise journal.error("the model has no bodies", subject="<worldbody>", field="body", cure=cure)
    if tree == "all":
        chosen = moving or tops
    elif tree is not None:
        chosen = [top for top in tops if names[top] == tree]
        if not chosen:
            raise RobotError(unknown_name("tree", tree, names.values(), "the model")).at(journal.source)
    else:
        # bodies that are moved by hand (mocap) do not count
        own = [top for top in tops if model.body_mocapid[top] < 0] or tops
        chosen = [max(own, key=lambda top: (dofs[top], mass[top], -top))]
    for top in tops:
        subject = f"body {names[top]!r}"
        if top in chosen:
            continue
        if model.body_mocapid[top] >= 0:
            journal.note("dropped", subject, "a mocap body, which the user moves: left out")
        elif dofs[top]:
            message = f"another tree, of {dofs[top]} degrees of freedom: left out; tree={names[top]!r} loads it instead"
            journal.note("dropped", subject, f"{message}, tree='all' all of them")
        else:
            journal.note("dropped", subject, "it stands still beside the robot: left out, nothing touches it")
    return chosen


@dataclass
class Tree:
    """Hands the chosen trees of a model to a builder, and keeps what became of each thing.

    Attributes:
        bodies, joints, sites: names here, by MuJoCo's index.
        leaders: of joints that follow another.
        locked: joints that do not move.
    """

    model: Compiled
    builder: RobotBuilder
    journal: Journal
    shapes: Shapes
    bodies: dict[int, str] = field(default_factory=lambda: {0: WORLD})
    joints: dict[int, str] = field(default_factory=dict)
    sites: dict[int, str] = field(default_factory=dict)
    leaders: dict[int, tuple[int, float, float]] = field(default_factory=dict)
    locked: set[int] = field(default_factory=set)
    _taken: set[str] = field(default_factory=lambda: {WORLD})

    def name_all(self, tops: Iterable[int]) -> None:
        """Choose names for bodies, joints and sites: those of the file where they can be, others for those without."""
        m = self.model
        inside = np.isin(m.body_rootid, list(tops))
        for body in np.flatnonzero(inside).tolist():
            self.bodies[body] = self._new(m.name("body", body) or f"body{body}", "body")
        joints = [j for j in range(m.sizes["njnt"]) if int(m.jnt_bodyid[j]) in self.bodies]
        known: set[str] = set()
        for j in joints:
            body = int(m.jnt_bodyid[j])
            name = m.name("jnt", j)
            if not name:
                kind = KINDS[m.jnt_type[j]]
                several = f"_{j - int(m.body_jntadr[body])}" if m.body_jntnum[body] > 1 else ""
                name = f"{self.bodies[body]}_{kind}{several}"
            while name in known:
                name += "_"
            known.add(name)
            self.joints[j] = name
        # as a frame, the name of a joint is what it carries
        self._taken |= known

    def _new(self, name: str, what: str) -> str:
        """A name that no other frame has; a change is reported."""
        found = name
        while found in self._taken:
            found = f"{found}_{what}"
        self._taken.add(found)
        if found != name:
            message = f"called {found!r}, since another body, joint or frame has its name"
            self.journal.note("repaired", f"{what} {name!r}", message)
        return found

    def frame_name(self, name: str, what: str) -> str:
        """A name for a frame of our own."""
        while name in self._taken:
            name = f"{name}_{what}"
        self._taken.add(name)
        return name

    # ---- bodies and joints

    def add_bodies(self, base: str | None) -> None:
        """Add all bodies, with the joints that carry them."""
        for body, name in self.bodies.items():
            if body > 0:
                self._carry(body, name, base)

    def _carry(self, body: int, name: str, base: str | None) -> None:
        m = self.model
        parent = self.bodies[int(m.body_parentid[body])]
        X = pose(m.body_pos[body], m.body_quat[body])
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        joints = list(range(first, first + count)) if count else []
        if m.body_parentid[body] == 0:
            is_free = any(m.jnt_type[j] == FREE for j in joints)
            if is_free and base == "fixed":
                del self.joints[joints.pop()]
            elif not joints and base == "free":
                self.builder.joint(self._joint_name(f"{name}_free"), Free(), parent, name)
                self._body(body, name)
                return
            elif joints and not is_free and base == "free":
                problem = f"the base cannot be free: joint {self.joints[joints[0]]!r} attaches it to the world"
                cure = "leave base= out"
                raise self.journal.error(problem, subject=f"joint {self.joints[joints[0]]!r}", field="base", cure=cure)
        for j in joints:
            parent, X = self._joint(j, body, name, parent, X, is_last=j == joints[-1])
        if parent != name:
            self.builder.joint(self._joint_name(f"{name}_fixed"), Fixed(), parent, name, *position_rpy(X))
        self._body(body, name)

    def _joint_name(self, name: str) -> str:
        while name in self.joints.values() or name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _body(self, body: int, name: str) -> None:
        m = self.model
        I = [float(x) for x in m.body_inertia[body]]
        R = pose(np.zeros(3), m.body_iquat[body]).R
        tensor = R.conjugate_symmetric(Symmetric3(I[0], 0, 0, I[1], 0, I[2])) if any(I) else Symmetric3(*(0,) * 6)
        com = tuple(float(x) for x in m.body_ipos[body])
        visuals, collisions = self.shapes.of(body)
        self.builder.body(name, float(m.body_mass[body]), com, tuple(tensor), (0, 0, 0), visuals, collisions)

    def _joint(
        self, j: int, body: int, name: str, parent: str, X: Transform, is_last: bool
    ) -> tuple[str, Transform]:  # fmt: skip
        """Add a joint; returns what it carries, and the pose of the body there."""
        m, own = self.model, self.joints[j]
        kind, at = int(m.jnt_type[j]), int(m.jnt_qposadr[j])
        anchor = Vector(*(float(x) for x in m.jnt_pos[j])) if kind != FREE else Vector(0, 0, 0)
        axis = tuple(float(x) for x in m.jnt_axis[j])
        ref = float(m.qpos0[at]) if kind in (HINGE, SLIDE) else 0.0
        still = MatrixRotation.identity()
        X_PJ = Transform.identity() if kind == FREE else X @ Transform(still, anchor)
        if kind == HINGE and ref:
            X_PJ = X_PJ @ Transform(rotation_about(Vector(*axis), -ref), Vector(0, 0, 0))
        elif kind == SLIDE and ref:
            X_PJ = X_PJ @ Transform(still, Vector(*axis) * -ref)
        is_whole = is_last and not any(anchor)
        child = name if is_whole else self.frame_name(f"{own}_link", "link")
        self.builder.joint(
            own, self._kind(j, kind, axis), parent, child, *position_rpy(X_PJ), **self._values(j, kind),
        )  # fmt: skip
        if not is_whole:
            self.builder.body(child)
        return child, Transform(still, -anchor)

    def _kind(self, j: int, kind: int, axis: tuple[float, ...]) -> JointKind:
        x, y, z = axis
        match kind:
            case _ if kind == FREE:
                return Free()
            case _ if kind == BALL:
                return Spherical()
            case _ if kind == SLIDE:
                return Prismatic((x, y, z))
        return Revolute((x, y, z)) if self._is_limited(j) else Continuous((x, y, z))

    def _is_limited(self, j: int) -> bool:
        off = int(self.model.options["disableflags"])
        return bool(self.model.jnt_limited[j]) and not off & (NO_LIMIT | NO_CONSTRAINT)

    def _values(self, j: int, kind: int) -> dict[str, Any]:
        """Limits, losses, spring and inertia of a joint."""
        m, off, subject = self.model, int(self.model.options["disableflags"]), f"joint {self.joints[j]!r}"
        at, nv = int(m.jnt_dofadr[j]), (6, 3, 1, 1)[kind]
        dofs = slice(at, at + nv)
        low, high, effort = -np.inf, np.inf, np.inf
        if self._is_limited(j):
            if kind in (HINGE, SLIDE):
                low, high = (float(x) for x in m.jnt_range[j])
            else:
                message = f"its range of {m.jnt_range[j][1]:g} rad is not kept: no limit for {KINDS[kind]} joints"
                self.journal.note("dropped", subject, message)
            if m.jnt_margin[j]:
                self.journal.note("dropped", subject, f"margin {m.jnt_margin[j]:g}: its limits act where they are")
        if m.jnt_actfrclimited[j]:
            effort = float(np.abs(m.jnt_actfrcrange[j]).max())
        values: dict[str, Any] = {
            "limits": Limits(low, high, effort=effort),
            "armature": tuple(float(x) for x in m.dof_armature[dofs]),
            "damping": (0.0,) * nv if off & NO_DAMPER else tuple(float(x) for x in m.dof_damping[dofs]),
            "friction": (0.0,) * nv if off & (NO_FRICTION | NO_CONSTRAINT)
            else tuple(float(x) for x in m.dof_frictionloss[dofs]),
        }  # fmt: skip
        actuator = int(m.jnt_actuatorid[j])
        if actuator >= 0:
            # an actuator's own inertia and damping, felt through its gear
            square = float(m.actuator_gear[int(m.actuator_outadr[actuator])][0]) ** 2
            more = {"armature": square * float(m.actuator_armature[actuator])}
            more |= {} if off & NO_DAMPER else {"damping": square * float(m.actuator_damping[actuator])}
            values |= {what: tuple(x + extra for x in values[what]) for what, extra in more.items()}
        if m.dof_dampingpoly[dofs].any() and not off & NO_DAMPER:
            self.journal.note("dropped", subject, "the part of its damping that is not proportional to the speed")
        if kind == FREE and any(values["armature"]):
            message = "its armature turns with the body here, and does not in MuJoCo: fast turns differ"
            self.journal.note("odd", subject, message)
        values |= {} if off & NO_SPRING else self._spring(j, kind, subject)
        if j in self.leaders:
            leader, multiplier, offset = self.leaders[j]
            values["mimic"] = Mimic(self.joints[leader], multiplier, offset)
            values |= {"limits": Limits(effort=effort)} if low > -np.inf else {}
        return values | ({"locked": True} if j in self.locked else {})

    def _spring(self, j: int, kind: int, subject: str) -> dict[str, Any]:
        m = self.model
        stiffness, (square, cube) = float(m.jnt_stiffness[j]), (float(x) for x in m.jnt_stiffnesspoly[j][:2])
        if not (stiffness or square or cube):
            return {}
        if kind == FREE:
            self.journal.note("dropped", subject, "its spring: a free base has none")
            return {}
        at = int(m.jnt_qposadr[j])
        if m.jnt_springyield[j]:
            self.journal.note("dropped", subject, "springyield: its spring stays elastic")
        if square:
            self.journal.note("dropped", subject, "the part of its spring that grows with the square of the deflection")
        if kind == BALL:
            if not np.allclose(m.qpos_spring[at : at + 4], (1, 0, 0, 0)):
                self.journal.note("dropped", subject, "the rest position of its spring: 0")
            return {"stiffness": (stiffness,) * 3, "hardening": (cube,) * 3}
        return {"stiffness": stiffness, "hardening": cube, "rest": float(m.qpos_spring[at])}

    # ---- frames

    def add_frames(self) -> None:
        """Sites and cameras, on the bodies that are there and on the world."""
        m = self.model
        for what, word in (("site", "site"), ("cam", "camera")):
            for k in range(m.count(what)):
                body = int(getattr(m, f"{what}_bodyid")[k])
                if body not in self.bodies:
                    continue
                given = m.name(what, k)
                name = self._new(given, word) if given else self.frame_name(f"{word}{k}", word)
                if what == "site":
                    self.sites[k] = name
                elif m.cam_mode[k] != 0:
                    self.journal.note("repaired", f"camera {name!r}", "it follows what it looks at; its frame is fixed")
                X = pose(getattr(m, f"{what}_pos")[k], getattr(m, f"{what}_quat")[k])
                self.builder.frame(name, self.bodies[body], *position_rpy(X))
