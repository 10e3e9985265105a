"""``pliant bench``: how fast a robot is simulated on this machine, with checks of the results that it times."""

import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.options import Base, Json, Xacro
from pliant.cli.peers import OtherRobotError, mujoco_model, pinocchio_model
from pliant.cli.sources import load_robot
from pliant.cli.terminal import number, print_json, print_table, say
from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.cli.scene import Scene
    from pliant.cli.settings import Settings
    from pliant.robot import Robot

__all__ = ["bench"]

# each figure is the best of a few, each of which takes about so long [s]
_REPEATS, _LENGTH = 3, 0.2


def bench(
    robot: Annotated[str, typer.Argument(metavar="ROBOT|FILE", help="name or file of a robot")] = "quadruped",
    batch: Annotated[int, typer.Option(min=1, help="number of robots at a time")] = 1024,
    threads: Annotated[int, typer.Option(min=1, help="threads that share them")] = 1,
    base: Base = None,
    xacro: Xacro = False,
    json: Json = False,
) -> None:
    """Measure how fast a robot is simulated on this machine."""
    from pliant.cli.settings import Settings

    loaded = load_robot(robot, base, xacro)
    rows = [
        *_dynamics(loaded, batch),
        *_steps(Settings(robot=robot, base=base, xacro=xacro, batch=batch, threads=threads)),
    ]
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


# ---- forward dynamics


def _dynamics(robot: "Robot", batch: int) -> list[dict[str, Any]]:
    import numpy as np

    from pliant.dynamics import compile, forward_dynamics

    rng = np.random.default_rng(0)
    q = robot.random(rng, batch)
    v, tau = rng.standard_normal((2, batch, robot.nv))
    rows, found = [], None
    for precision in ("float64", "float32"):
        kernel = compile(forward_dynamics, robot, precision=precision)
        arrays = [np.ascontiguousarray(a, dtype=precision) for a in (q, v, tau)]
        out = kernel(*arrays)
        found = out if found is None else found
        rows.append(_row("forward dynamics", f"pliant {precision}", _best(lambda k=kernel, a=arrays: k(*a)) / batch))
    assert found is not None
    rows.append(_pinocchio(robot, q, v, tau, found))
    return rows


def _pinocchio(robot: "Robot", q: Any, v: Any, tau: Any, ours: Any) -> dict[str, Any]:
    import numpy as np

    what, by = "forward dynamics", "pinocchio"
    try:
        model = pinocchio_model(robot, robot.file)
    except ImportError:
        return _row(what, by, None, "not installed: pip install pin")
    except (OtherRobotError, ValueError) as error:
        return _row(what, by, None, f"no comparison: {error}")
    pinocchio: Any = import_module("pinocchio")
    data, few = model.createData(), list(zip(q, v, tau, strict=True))[:64]
    theirs = np.array([pinocchio.aba(model, data, *state) for state in few])
    off = float(np.abs(theirs - ours[: len(few)]).max() / np.abs(theirs).max())
    if not off < 1e-8:
        return _row(what, by, None, f"no comparison: its accelerations are off by {off:.1g}")
    seconds = _best(lambda: [pinocchio.aba(model, data, *state) for state in few]) / len(few)
    return _row(what, by, seconds, f"same to {off:.0e}")


# ---- steps


def _steps(settings: "Settings") -> list[dict[str, Any]]:
    from pliant.cli.scene import scene

    rows: list[dict[str, Any]] = []
    ready: Scene | None = None
    for precision in ("float64", "float32"):
        ready = scene(replace(settings, precision=precision, quiet=True))
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
    assert ready is not None
    rows.append(_mujoco(ready))
    return rows


def _mujoco(ready: "Scene") -> dict[str, Any]:
    """MuJoCo on the same robot, from the same pose on the same ground, held by the same gains."""
    import numpy as np

    what, by, robot = "a step of 1 ms", "mujoco", ready.sim.robot
    if ready.control.compiled is not None or ready.ground not in ("flat", "none") or robot.flexibilities:
        return _row(what, by, None, "no comparison: it has no such controller or springs")
    try:
        model = mujoco_model(robot, 1e-3, 0.7)
    except ImportError:
        return _row(what, by, None, "not installed: pip install mujoco")
    except PliantError as error:
        return _row(what, by, None, f"no comparison: {str(error).splitlines()[0]}")
    mujoco: Any = import_module("mujoco")
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
    return _row(what, by, seconds, f"{1e-3 / seconds:,.0f} x real time")
