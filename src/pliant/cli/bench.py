"""``pliant bench``: how fast a robot is simulated on this machine, and by Pinocchio and MuJoCo if they are installed.

A peer is timed only if it has the same robot: one with the same mass matrix.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.settings import Settings
from pliant.cli.sources import Base, Packages, Xacro, XacroArguments, load_robot
from pliant.cli.terminal import Json, number, print_json, print_table, say
from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.cli.run_setup import RunSetup
    from pliant.robot import Link, Robot

_HINGES = ("revolute", "continuous")
_SAME = 1e-6

# each figure is the best of a few, each of which takes about so long [s]
_REPEATS, _LENGTH = 3, 0.2


def bench(
    robot: Annotated[str, typer.Argument(metavar="ROBOT|FILE", help="name or file of a robot")] = "quadruped",
    batch: Annotated[int, typer.Option(min=1, help="number of robots at a time")] = 1024,
    threads: Annotated[int, typer.Option(min=1, help="threads that share them")] = 1,
    base: Base = None,
    packages: Packages = None,
    xacro: Xacro = False,
    xacro_arg: XacroArguments = None,
    json: Json = False,
) -> None:
    """Measure how fast a robot is simulated on this machine."""
    loaded = load_robot(robot, base, xacro, packages, xacro_arg)
    files = {"packages": tuple(packages or ()), "xacro": xacro, "xacro_arg": tuple(xacro_arg or ())}
    settings = Settings(robot=robot, base=base, batch=batch, threads=threads, **files)
    rows = [*_dynamics(loaded, batch), *_steps(settings)]
    if json:
        print_json({"robot": loaded.name, "batch": batch, "threads": threads, "rows": rows})
        return
    say(f"{loaded.name}: nv = {loaded.nv}, batch of {batch}, threads: {threads}")
    measured = [row for row in rows if row["us"] is not None]
    shown = [(r["what"], r["by"], number(r["us"], 3), f"{r['per_second']:,.0f}", r["note"]) for r in measured]
    print_table(("what", "by", "us a robot", "a second", ""), shown, right=("us a robot", "a second"))
    for row in rows:
        if row["us"] is None:
            say(f"{row['by']}: {row['note']}")


class OtherRobotError(PliantError):
    """The peer has another robot, or none; a comparison would mean nothing."""


def _row(what: str, by: str, seconds: float | None, note: str = "") -> dict[str, Any]:
    """A line of the table: a time for one robot [s]."""
    us = None if seconds is None else 1e6 * seconds
    return {"what": what, "by": by, "us": us, "per_second": None if seconds is None else 1 / seconds, "note": note}


def _best(work: Callable[[], Any]) -> float:
    """The shortest time that the work takes [s]; compiling and loading are done before."""
    work()
    begun = time.perf_counter()
    work()
    count = max(1, round(_LENGTH / max(time.perf_counter() - begun, 1e-7)))
    times = []
    for _ in range(_REPEATS):
        begun = time.perf_counter()
        for _ in range(count):
            work()
        times.append((time.perf_counter() - begun) / count)
    return min(times)


def _peer(
    what: str, library: str, package: str, seconds_and_note: Callable[[Any], tuple[float, str]]
) -> dict[str, Any]:
    """The line of another library, or why it has none."""
    try:
        return _row(what, library, *seconds_and_note(import_module(library)))
    except ImportError:
        return _row(what, library, None, f"not installed: pip install {package}")
    except (PliantError, ValueError) as error:
        return _row(what, library, None, f"no comparison: {str(error).splitlines()[0]}")


# ---- forward dynamics


def _dynamics(robot: "Robot", batch: int) -> list[dict[str, Any]]:
    import numpy as np

    from pliant.dynamics import compile, forward_dynamics

    what = "forward dynamics"
    rng = np.random.default_rng(0)
    q = robot.random(rng, batch)
    v, tau = rng.standard_normal((2, batch, robot.nv))
    rows, found = [], {}
    for precision in ("float64", "float32"):
        kernel = compile(forward_dynamics, robot, precision=precision)
        arrays = [np.ascontiguousarray(a, dtype=precision) for a in (q, v, tau)]
        found[precision] = kernel(*arrays)
        rows.append(_row(what, f"pliant {precision}", _best(lambda k=kernel, a=arrays: k(*a)) / batch))

    def by_pinocchio(pinocchio: Any) -> tuple[float, str]:
        model = pinocchio_model(robot, robot.file)
        data, few = model.createData(), list(zip(q, v, tau, strict=True))[:64]
        theirs = np.array([pinocchio.aba(model, data, *state) for state in few])
        off = float(np.abs(theirs - found["float64"][: len(few)]).max() / np.abs(theirs).max())
        if not off < 1e-8:
            raise OtherRobotError(f"its accelerations are off by {off:.1g}")
        return _best(lambda: [pinocchio.aba(model, data, *state) for state in few]) / len(few), f"same to {off:.0e}"

    return [*rows, _peer(what, "pinocchio", "pin", by_pinocchio)]


def pinocchio_model(robot: "Robot", path: Path | None) -> Any:
    """Pinocchio's model of the robot's file; raises `OtherRobotError` unless it has the same mass matrix."""
    import numpy as np

    pinocchio: Any = import_module("pinocchio")

    if path is None or path.suffix != ".urdf":
        raise OtherRobotError("it is not read from a URDF file")
    root = [pinocchio.JointModelFreeFlyer()] if robot.is_free else []
    model = pinocchio.buildModelFromUrdf(str(path), *root)
    if model.nq != robot.nq or model.nv != robot.nv:
        raise OtherRobotError("its coordinates are others there")
    upper = np.triu(pinocchio.crba(model, model.createData(), robot.neutral()))
    _check_same(robot, upper + np.triu(upper, 1).T)
    return model


# ---- steps


def _steps(settings: Settings) -> list[dict[str, Any]]:
    from pliant.cli.run_setup import run_setup

    rows: list[dict[str, Any]] = []
    setups: list[RunSetup] = []
    for precision in ("float64", "float32"):
        ready = run_setup(replace(settings, precision=precision, quiet=True))
        setups.append(ready)
        sim: Any = ready.sim
        # what is measured is the motion that a run shows, once it is on its way
        given = {"u" if ready.control.compiled is None else "commands": ready.control.u}
        sim.run(0.2, **given, channels=("q",), every=0.2)
        begin = sim.state

        def work(sim: Any = sim, begin: Any = begin, given: Any = given) -> None:
            sim.state = begin
            sim.run(0.05, **given, channels=("q",), every=0.05)

        seconds = _best(work) / (50 * (settings.batch or 1))
        divergence = f"{len(sim.divergences)} diverged" if sim.divergences else f"{1e-3 / seconds:,.0f} x real time"
        rows.append(_row("a step of 1 ms", f"pliant {precision}", seconds, divergence))
    return [*rows, _peer("a step of 1 ms", "mujoco", "mujoco", lambda mujoco: _mujoco(mujoco, setups[-1]))]


def _mujoco(mujoco: Any, ready: "RunSetup") -> tuple[float, str]:
    """MuJoCo on the same robot, from the same pose on the same ground, held by the same gains."""
    import numpy as np

    robot = ready.sim.robot
    if ready.control.compiled is not None or ready.ground not in ("flat", "none") or robot.flexibilities:
        raise OtherRobotError("it has no such controller or springs")
    model = mujoco_model(robot, 1e-3, 0.7)
    data = mujoco.MjData(model)
    q = np.asarray(ready.sim.q, dtype=float)[0]
    for joint in robot.joints.values():
        if joint.kind.nq == 0:
            continue
        at, own = int(model.joint(joint.name).qposadr[0]), q[robot.q_slice(joint.name)]
        # its quaternions begin with w
        data.qpos[at : at + len(own)] = [*own[:3], own[6], *own[3:6]] if joint.kind.name == "free" else own
    if ready.control.u is not None:
        for name, u in zip(robot.motors, ready.control.u, strict=True):
            data.ctrl[model.actuator(name).id] = u
    start = data.qpos.copy(), data.qvel.copy()

    def work() -> None:
        data.qpos[:], data.qvel[:] = start
        mujoco.mj_step(model, data, 500)

    seconds = _best(work) / 500
    return seconds, f"{1e-3 / seconds:,.0f} x real time"


def mujoco_model(robot: "Robot", dt: float, friction: float) -> Any:
    """MuJoCo's model of the robot, with its contact points as balls on a plane and motors that hold a position.

    Raises `OtherRobotError` if it cannot be made, or has another mass matrix.
    """
    import numpy as np

    mujoco: Any = import_module("mujoco")

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep, spec.option.gravity = dt, list(robot.gravity)
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    grip: dict[str, Any] = {"friction": [friction, 0, 0], "condim": 3}
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(type=plane, size=[0, 0, 1], contype=0, conaffinity=1, **grip)
    bodies: list[Any] = []
    for link in robot.mechanism.links:
        parent = bodies[link.parent] if link.parent >= 0 else spec.worldbody
        bodies.append(_body(mujoco, parent, robot, link))
    for point in robot.contact_points:
        i, X_LB = robot.mechanism.body(point.body)
        if point.support is not None:
            raise OtherRobotError(f"its contact {point.shape!r} is a rim or an ellipsoid")
        if i >= 0:
            ball = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [max(float(point.radius), 1e-4), 0, 0], "mass": 0}
            center = [float(x) for x in X_LB.transform_point(point.center)]
            bodies[i].add_geom(pos=center, contype=1, conaffinity=0, **ball, **grip)
    for motor in robot.motors.values():
        actuator = spec.add_actuator(name=motor.name, target=motor.joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=float(motor.kp), kv=0)
        spec.joint(motor.joint).damping[0] += float(motor.kd)
        if math.isfinite(motor.effort_limit):
            actuator.forcelimited, actuator.forcerange = True, [-motor.effort_limit, motor.effort_limit]
    try:
        model = spec.compile()
    except ValueError as error:
        raise OtherRobotError(str(error)) from None
    if model.nv != robot.nv:
        raise OtherRobotError("its coordinates are others there")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    columns = np.zeros((model.nv, model.nv))
    for k, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, columns[k], unit)
    _check_same(robot, columns)
    return model


def _body(mujoco: Any, parent: Any, robot: "Robot", link: "Link") -> Any:
    """A link with all that is fixed to it, and its joint."""
    import numpy as np

    from pliant.spatial.vectors import quaternion_from_matrix

    kind, inertia = link.kind.name, link.inertia
    if kind not in (*_HINGES, "prismatic", "free") or link.is_mimic or link.is_rotor:
        raise OtherRobotError(f"it has no joint like {link.name!r}, {kind}")
    x, y, z, w = (float(c) for c in quaternion_from_matrix(link.placement.R.matrix()))
    body = parent.add_body(name=link.body, pos=[float(c) for c in link.placement.p], quat=[w, x, y, z])
    mass = float(inertia.mass)
    if mass > 0:
        com = np.array([float(h) for h in inertia.h]) / mass
        J = np.array([[float(inertia.J.entry(r, c)) for c in range(3)] for r in range(3)])
        J -= mass * (com @ com * np.eye(3) - np.outer(com, com))
        # MuJoCo takes no body without width, such as a rod; a billionth more is within the tolerance of the check
        J += np.eye(3) * (1e-9 * np.trace(J) or 1e-12)
        body.mass, body.ipos, body.explicitinertial = mass, com, True
        body.fullinertia = [J[k] for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    if kind == "free":
        body.add_freejoint(name=link.name, align=mujoco.mjtAlignFree.mjALIGNFREE_FALSE)
        return body
    made = body.add_joint(
        name=link.name,
        type=mujoco.mjtJoint.mjJNT_HINGE if kind in _HINGES else mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[float(a) for a in getattr(link.kind, "axis", ())],
        armature=float(link.armature[0]),
        frictionloss=float(robot.joints[link.name].friction[0]),
    )
    made.damping[0] = float(link.damping[0])
    limits = robot.joints[link.name].limits
    lower, upper = float(limits.lower[0]), float(limits.upper[0])
    if math.isfinite(lower) and math.isfinite(upper) and lower < upper:
        made.limited, made.range = mujoco.mjtLimited.mjLIMITED_TRUE, [lower, upper]
    return body


def _check_same(robot: "Robot", theirs: Any) -> None:
    """Raise unless the peer has the same mass matrix in the neutral configuration."""
    import numpy as np

    from pliant.dynamics import mass_matrix

    ours = np.array(mass_matrix(robot, robot.neutral()))
    off = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if not off < _SAME:
        raise OtherRobotError(f"its mass matrix is off by {off:.1g}")
