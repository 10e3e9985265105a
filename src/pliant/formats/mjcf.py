"""MJCF files, by way of MuJoCo's own compiler: the compiled model to builder calls, and states both ways."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pliant.checks import check_one_of
from pliant.errors import RobotError
from pliant.files.packages import existing_folder
from pliant.formats.journal import Journal
from pliant.formats.mjcf_compiler import Compiled, CompilerProcess
from pliant.formats.mjcf_files import MjcfFiles, gathered
from pliant.formats.mjcf_motors import Control, Motors
from pliant.formats.mjcf_parts import couple_joints, fixed_tendons, with_closures, with_sensors, with_tendons
from pliant.formats.mjcf_shapes import Shapes
from pliant.formats.mjcf_tree import FREE, NO_ACTUATION, NO_GRAVITY, Tree, chosen_trees
from pliant.robot import Report, Robot, RobotBuilder
from pliant.signatures import explained

SUGGESTED = ("<worldbody>", "contacts", "<option timestep>")
"""Subjects of findings that are about simulations, and not about the robot."""
# MuJoCo's defaults
_SOLREF, _SOLIMP = (0.02, 1), (0.9, 0.95, 0.001, 0.5, 2)
_UNNAMED = ("MuJoCo Model", "")
_TAGS = {"body": ("body",), "joint": ("joint", "freejoint"), "geom": ("geom",), "site": ("site",)}


@dataclass(frozen=True, eq=False)
class MjcfRobot:
    """A robot from an MJCF file, with states both ways between MuJoCo and Pliant, and what the file suggests.

    Attributes:
        robot: it.
        timestep: that the file asks for [s].
        friction: sliding, turning and rolling of each geom that can touch, by name or number; see
            `Robot.with_contact`, whose ``torsion`` and ``rolling`` these are.
        keyframes: configurations q of the robot, by name; also ``robot.stance(name)``.
        keyframe_controls: controls u of the motors, by name of the keyframe.
        bodies, sites: names of the frames here, by MuJoCo's number.
        joints: those with coordinates that both have: their names here, and MuJoCo's numbers.
        controls: how MuJoCo's become ours; of the actuators that are motors here.
        model: the compiled model, its arrays under MuJoCo's names.
    """

    robot: Robot
    timestep: float
    friction: Mapping[str, tuple[float, float, float]]
    keyframes: Mapping[str, np.ndarray]
    keyframe_controls: Mapping[str, np.ndarray]
    bodies: Mapping[int, str]
    sites: Mapping[int, str]
    joints: tuple[tuple[str, int], ...]
    controls: tuple[Control, ...]
    model: Compiled

    def q(self, qpos: Any) -> np.ndarray:
        """The configuration for MuJoCo's ``qpos``, (..., nq): quaternions are x, y, z, w here and w, x, y, z there."""
        qpos = np.asarray(qpos, dtype=float)
        q = np.broadcast_to(self.robot.neutral(), (*qpos.shape[:-1], self.robot.nq)).copy()
        for name, j in self.joints:
            q[..., self.robot.q_slice(name)] = qpos[..., self.places(j)]
        return q

    def qpos(self, q: Any) -> np.ndarray:
        """MuJoCo's ``qpos`` for a configuration; joints that are not of the robot at their reference."""
        q, m = np.asarray(q, dtype=float), self.model
        qpos = np.broadcast_to(m.qpos0, (*q.shape[:-1], len(m.qpos0))).copy()
        for name, j in self.joints:
            qpos[..., self.places(j)] = q[..., self.robot.q_slice(name)]
        return qpos

    def v(self, qpos: Any, qvel: Any) -> np.ndarray:
        """The velocity for MuJoCo's ``qvel``, (..., nv): that of a free base is in its own axes here."""
        qpos, qvel = np.asarray(qpos, dtype=float), np.asarray(qvel, dtype=float)
        v = np.zeros((*qvel.shape[:-1], self.robot.nv))
        for name, j in self.joints:
            at = self.dofs(j)
            found = qvel[..., at]
            if self.model.jnt_type[j] == FREE:
                R = _matrix(qpos[..., self.places(j)][..., 3:])
                found = np.concatenate([np.einsum("...ij,...i->...j", R, found[..., :3]), found[..., 3:]], axis=-1)
            v[..., self.robot.v_slice(name)] = found
        return v

    def qvel(self, q: Any, v: Any) -> np.ndarray:
        """MuJoCo's ``qvel`` for a configuration and a velocity; joints that are not of the robot at rest."""
        q, v, m = np.asarray(q, dtype=float), np.asarray(v, dtype=float), self.model
        qvel = np.zeros((*v.shape[:-1], m.sizes["nv"]))
        for name, j in self.joints:
            found = v[..., self.robot.v_slice(name)]
            if m.jnt_type[j] == FREE:
                R = _matrix(q[..., self.robot.q_slice(name)][..., 3:])
                found = np.concatenate([np.einsum("...ij,...j->...i", R, found[..., :3]), found[..., 3:]], axis=-1)
            qvel[..., self.dofs(j)] = found
        return qvel

    def u(self, ctrl: Any) -> np.ndarray:
        """Controls of the motors for MuJoCo's ``ctrl``, clipped to their ranges: torques, angles or rates at joints."""
        ctrl = np.asarray(ctrl, dtype=float)
        u = np.zeros((*ctrl.shape[:-1], self.robot.nu))
        for control in self.controls:
            at = self.robot.motors.index(control.motor)
            u[..., at] = np.clip(ctrl[..., control.place], *control.range) * control.scale
        return u

    def places(self, j: int) -> Any:
        """Of a joint's coordinates in MuJoCo's qpos, in our order."""
        m = self.model
        at, kind = int(m.jnt_qposadr[j]), int(m.jnt_type[j])
        return [at + k for k in ((0, 1, 2, 4, 5, 6, 3), (1, 2, 3, 0), (0,), (0,))[kind]]

    def dofs(self, j: int) -> slice:
        """Of a joint in MuJoCo's qvel."""
        m = self.model
        at = int(m.jnt_dofadr[j])
        return slice(at, at + (6, 3, 1, 1)[int(m.jnt_type[j])])


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of quaternions x, y, z, w of any length but 0."""
    x, y, z, w = np.moveaxis(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@explained
def load_mjcf(
    path: str | Path,
    *,
    base: Literal["fixed", "free"] | None = None,
    tree: str | None = None,
    packages: str | Path | Iterable[str | Path] = (),
    mimic: bool = True,
    strict: bool = False,
    repair: bool = False,
    name: str | None = None,
    compiler: CompilerProcess | None = None,
) -> Robot:
    """The robot that an MJCF file describes; see `read_mjcf`, which also gives MuJoCo's states and controls."""
    return read_mjcf(
        path, base=base, tree=tree, packages=packages, mimic=mimic, strict=strict, repair=repair, name=name,
        compiler=compiler,
    ).robot  # fmt: skip


@explained
def read_mjcf(
    path: str | Path,
    *,
    base: Literal["fixed", "free"] | None = None,
    tree: str | None = None,
    packages: str | Path | Iterable[str | Path] = (),
    mimic: bool = True,
    strict: bool = False,
    repair: bool = False,
    name: str | None = None,
    compiler: CompilerProcess | None = None,
) -> MjcfRobot:
    """The robot that an MJCF file describes, with states and controls both ways, and what the file suggests.

    MuJoCo's own compiler reads the file, so that defaults, classes, includes and inertias from shapes are as MuJoCo has
    them; `pip install 'pliant[mjcf]'` brings it. Coordinates are MuJoCo's, but for the order in quaternions; the
    mass matrix, bias forces and poses of bodies and sites are the same numbers. What Pliant has no counterpart for is
    in ``robot.report``, item by item, with what follows from it.

    The file is untrusted: the compiler runs in a process of its own with limits of time and memory, which can open no
    file. Includes, meshes and pictures come from the file's folder, its package and ``packages``.

    Args:
        path: of the file.
        base: None for that of the file; "fixed" holds a free base where the file puts it, "free" lets one float that
            the file fixes to the world.
        tree: of a model of several trees, the one to load, by the name of its body on the world, or "all"; by default
            the one with the most degrees of freedom.
        packages: more folders, or one, from which the file may have others.
        mimic: whether equality constraints between joints couple them; else they are joints of their own.
        strict: whether odd values raise an error.
        repair: correct impossible inertias and reversed limits, and report how.
        name: of the robot, if not the model's.
        compiler: a `CompilerProcess` to use, for many files; by default one is started and ended.
    """
    path = Path(path)
    if base is not None:
        check_one_of("base", base, ("fixed", "free"), error=RobotError)
    folders = [packages] if isinstance(packages, (str, Path)) else list(packages)
    journal = Journal(str(path), strict)
    files = gathered(path, folders, journal)
    if compiler is None:
        with CompilerProcess() as own:
            model = own.compile(files)
    else:
        model = compiler.compile(files)
    given = tuple(existing_folder(folder) for folder in folders)
    return _Reader(model, files, path, given, journal, repair, name).read(base, tree, mimic)


class _Reader:
    """Makes the robot of one compiled model."""

    def __init__(
        self, model: Compiled, files: MjcfFiles, path: Path, packages: tuple[Path, ...], journal: Journal,
        repair: bool, name: str | None,
    ):  # fmt: skip
        own = model.name_of_model
        self.model, self.files, self.path, self.journal, self.repair = model, files, path, journal, repair
        self.builder = RobotBuilder(name or (path.stem if own in _UNNAMED else own))
        self.shapes = Shapes(model, path, packages, files.sources, journal)
        self.tree = Tree(model, self.builder, journal, self.shapes)

    def read(self, base: Any, wanted: str | None, mimic: bool) -> MjcfRobot:
        m, tree = self.model, self.tree
        tops = chosen_trees(m, wanted, self.journal)
        tree.name_all(tops)
        couple_joints(tree, mimic)
        gravity = (0.0, 0.0, 0.0) if self._is_off(NO_GRAVITY) else tuple(float(g) for g in m.options["gravity"])
        self.builder.gravity(*gravity)
        try:
            tree.add_bodies(base)
            tree.add_frames()
            robot = self.builder.build(strict=self.journal.strict, repair=self.repair)
        except RobotError as error:
            raise (error if error.place else error.at(self.journal.source, self._line(error.subject))) from None
        motors = Motors(m, tree.joints, fixed_tendons(tree), self._actuators(), self.journal)
        if self._is_off(NO_ACTUATION):
            self.journal.note("odd", "<flag>", "actuation is disabled in the file; motors act here")
        robot = _limited(motors.put_on(robot))
        robot = with_closures(robot, tree)
        robot = with_tendons(robot, tree)
        robot = with_sensors(robot, tree)
        self._remark(robot, motors.controls)
        joints = tuple((tree.joints[j], j) for j in sorted(tree.joints) if tree.joints[j] in robot.joints)
        joints = tuple((name, j) for name, j in joints if robot.joints[name].mimic is None)
        made = MjcfRobot(
            robot, float(m.options["timestep"]), self._friction(), {}, {}, tree.bodies, tree.sites, joints,
            tuple(motors.controls), m,
        )  # fmt: skip
        names = [m.name("key", k) or f"key{k}" for k in range(m.sizes["nkey"])]
        keyframes = {name: made.q(m.key_qpos[k]) for k, name in enumerate(names)}
        stances = {name: dict(zip(robot.coordinate_names, map(float, q), strict=True)) for name, q in keyframes.items()}
        robot = replace(robot, report=self._report(robot), file=self.path.absolute(), stances=stances)
        controls = {name: made.u(m.key_ctrl[k]) for k, name in enumerate(names)}
        return replace(made, robot=robot, keyframes=keyframes, keyframe_controls=controls)

    def _is_off(self, flag: int) -> bool:
        return bool(int(self.model.options["disableflags"]) & flag)

    def _actuators(self) -> list[str]:
        m, found = self.model, []
        for k in range(m.sizes["nactuator"]):
            target = int(m.actuator_trnid[k, 0])
            joint = self.tree.joints.get(target) if m.actuator_trntype[k] in (0, 1) else None
            name = m.name("actuator", k) or joint or f"actuator{k}"
            while name in found:
                name += "_"
            found.append(name)
        return found

    def _friction(self) -> dict[str, tuple[float, float, float]]:
        """Sliding, turning, rolling of the geoms of the robot that can touch; 0 for what condim leaves out."""
        m, found = self.model, {}
        for geom in range(m.sizes["ngeom"]):
            if int(m.geom_bodyid[geom]) not in self.tree.bodies or not self.shapes.touches(geom):
                continue
            slide, turn, roll = (float(x) for x in m.geom_friction[geom])
            dim = int(m.geom_condim[geom])
            found[m.name("geom", geom) or f"geom{geom}"] = (
                slide if dim >= 3 else 0.0, turn if dim >= 4 else 0.0, roll if dim >= 6 else 0.0,
            )  # fmt: skip
        return found

    def _remark(self, robot: Robot, controls: list[Control]) -> None:
        """Findings on the model as a whole."""
        m, journal = self.model, self.journal
        options = m.options
        for name, what in (("density", "a medium of density"), ("viscosity", "a medium of viscosity")):
            if options[name]:
                message = f"{what} {options[name]:g}: its drag and lift are missing, the robot moves in a vacuum"
                journal.note("dropped", f"<option {name}>", message)
        if any(options["wind"]) and (options["density"] or options["viscosity"]):
            journal.note("dropped", "<option wind>", "no wind blows here")
        given, usual = np.hstack([m.jnt_solref, m.jnt_solimp]), (*_SOLREF, *_SOLIMP)
        soft = sum(bool(m.jnt_limited[j]) and not np.allclose(given[j], usual) for j in self.tree.joints)
        if soft:
            message = f"{soft} limits are softer or harder than usual in MuJoCo (solref, solimp): all are rigid here"
            journal.note("repaired", "joints", message)
        servos = [c for c in controls if np.isfinite(c.range).any() and robot.motors[c.motor].control != "torque"]
        if servos:
            message = f"{len(servos)} servos have ranges of their targets, which MjcfRobot.u keeps, and motors do not"
            journal.note("repaired", "actuators", message)
        for body, name in self.tree.bodies.items():
            if m.body_gravcomp[body] and body:
                message = f"gravcomp {m.body_gravcomp[body]:g}: it has its whole weight here"
                journal.note("dropped", f"body {name!r}", message)
            if m.body_plugin[body] >= 0:
                journal.note("dropped", f"body {name!r}", "its plugin: its forces are missing")
        for size, what in (
            ("nflex", "deformable bodies (flex): missing"), ("nskin", "skins: not drawn"),
            ("npair", "pairs of geoms that touch: contacts with the ground only, unless robot.with_contact_pair"),
        ):  # fmt: skip
            if m.sizes[size]:
                journal.note("dropped", "the model", f"{m.sizes[size]} {what}")
        on_world = [g for g in range(m.sizes["ngeom"]) if m.geom_bodyid[g] == 0]
        if on_world:
            message = f"{len(on_world)} geoms of the world: a simulation is given its ground (ground=pliant.flat())"
            journal.note("dropped", "<worldbody>", message)
        touching = any(self.shapes.touches(g) and m.geom_bodyid[g] in self.tree.bodies for g in range(m.sizes["ngeom"]))
        if touching:
            message = "friction, softness and margins of contacts: give contacts and ground their own"
            journal.note("dropped", "contacts", message)
        journal.note("dropped", "<option timestep>", f"{options['timestep']:g} s, which the simulation takes as dt")

    def _line(self, subject: str) -> int | None:
        kind, _, rest = subject.partition(" ")
        for tag in _TAGS.get(kind, (kind,)):
            line = self.files.lines.get((tag, rest.strip("'")))
            if line is not None:
                return line
        return None

    def _report(self, robot: Robot) -> Report:
        """All findings, with the lines of things that have a name."""
        self.journal.findings = [
            f if f.line is not None else replace(f, line=self._line(f.subject)) for f in self.journal.findings
        ]
        lines = {f.subject: line for f in robot.report if (line := self._line(f.subject)) is not None}
        return self.journal.report(lines=lines, more=robot.report)


def _limited(robot: Robot) -> Robot:
    """A copy whose motors heed the torque limits of their joints, where a joint has one motor."""
    for joint in robot.joints.values():
        own = [motor for motor in robot.motors.values() if motor.joint == joint.name and motor.coupling is None]
        if joint.kind.nv == 1 and len(own) == 1 and joint.limits.effort[0] < np.inf:
            most = min(float(own[0].effort_limit), float(joint.limits.effort[0]))
            robot = robot.with_motors([own[0].name], effort_limit=[most])
    return robot
