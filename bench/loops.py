"""Speed of robots with loops next to MuJoCo's equality constraints, on one thread, in one run that checks it.

    python -m bench.loops [--json] [--scenes four_bar stewart leg] [--batch 4096] [--steps 50]

Times are of the processor, per step and robot, the best of several turns. Both simulate the same robot from the same
states: mass matrices and bias forces are compared, and so is the motion, after a few steps, loosely, since MuJoCo's
constraints are soft. Of MuJoCo's settings the fastest is taken. "open" is the most that a loop is open at the end [m],
of Pliant in float64 at most 1e-9, "apart" how far the two end from each other [rad or m].
"""

import argparse
import os
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco
import mujoco.rollout
import numpy as np

import pliant
from bench.closed_scenes import CLOSED, ClosedScene, closed_scene, mujoco_closed, started
from bench.mujoco_model import VARIANTS, Variant
from bench.report import CheckError, Report, failed, options_of
from bench.tables import Row
from bench.timing import best_times

OPEN = 1e-9
"""Loops of Pliant in float64 are closed to this at the end of the run [m]."""

_ROBOTS = 64
_PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS.value


class Peer:
    """A scene in MuJoCo; states are in Pliant's layout, joints are matched by name."""

    def __init__(self, scene: ClosedScene, variant: Variant):
        self.scene, self.model = scene, mujoco_closed(scene, variant)
        self.data = mujoco.MjData(self.model)
        robot = scene.robot
        single = [j.name for j in robot.joints.values() if j.kind.nq == 1]
        self._q, self._v = ([f(n).start for n in single] for f in (robot.q_slice, robot.v_slice))
        self._qpos = [self.model.joint(n).qposadr[0] for n in single]
        self._qvel = [self.model.joint(n).dofadr[0] for n in single]
        self._motors = [list(robot.motors).index(self.model.actuator(k).name) for k in range(self.model.nu)]
        self._check_same()

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """qpos and qvel."""
        qpos, qvel = np.empty_like(q), np.empty_like(v)
        if self.scene.robot.is_free:
            qpos[:, :3], qpos[:, 3], qpos[:, 4:7] = q[:, :3], q[:, 6], q[:, 3:6]
            turned = pliant.frame_pose(self.scene.robot, q, "platform")[:, :3, :3] @ v[:, :3, None]
            qvel[:, :3], qvel[:, 3:6] = turned[..., 0], v[:, 3:6]
        qpos[:, self._qpos], qvel[:, self._qvel] = q[:, self._q], v[:, self._v]
        return qpos, qvel

    def configuration(self, qpos: np.ndarray) -> np.ndarray:
        """q of Pliant."""
        q = np.empty_like(qpos)
        if self.scene.robot.is_free:
            q[:, :3], q[:, 6], q[:, 3:6] = qpos[:, :3], qpos[:, 3], qpos[:, 4:7]
        q[:, self._q] = qpos[:, self._qpos]
        return q

    def rollout(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Callable[[], np.ndarray]:
        """All robots, all steps, states out: a function that returns them."""
        pool = mujoco.rollout.Rollout(nthread=0)
        batch, steps = u.shape[:2]
        state = np.empty((batch, steps, mujoco.mj_stateSize(self.model, _PHYSICS)))
        sensors = np.empty((batch, steps, self.model.nsensordata))
        initial = np.hstack([np.zeros((batch, 1)), *self.state(q, v)])
        control = np.ascontiguousarray(u[..., self._motors])

        def run() -> np.ndarray:
            pool.rollout(self.model, [self.data], initial, control, state=state, sensordata=sensors)
            return state

        return run

    def end(self, state: np.ndarray) -> np.ndarray:
        """q at the end of a rollout."""
        return self.configuration(state[:, -1, 1 : 1 + self.model.nq])

    def _check_same(self) -> None:
        """Mass and bias forces at rest must be Pliant's, or there is nothing to compare."""
        robot, rng = self.scene.robot, np.random.default_rng(0)
        for q in robot.random(rng, batch=3):
            self.data.qpos, self.data.qvel = (x[0] for x in self.state(q[None], np.zeros((1, robot.nv))))
            mujoco.mj_forward(self.model, self.data)
            M = np.empty((self.model.nv, self.model.nv))
            mujoco.mj_fullM(self.model, self.data, M)
            T = np.stack([self.state(q[None], e[None])[1][0] for e in np.eye(robot.nv)], axis=-1)
            for found, wanted in (
                (T.T @ M @ T, pliant.mass_matrix(robot, q)),
                (T.T @ self.data.qfrc_bias, pliant.bias_forces(robot, q, np.zeros(robot.nv))),
            ):
                if not np.abs(found - wanted).max() < 1e-8 * np.abs(wanted).max():
                    raise CheckError(f"{self.scene.name}: MuJoCo's robot is another one")


def main() -> None:
    """Run the benchmark and print tables or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--scenes", nargs="+", choices=CLOSED, default=list(CLOSED))
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=50, help="of one call")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each simulator; the best counts")
    options = parser.parse_args()
    if options.short:
        options.batch, options.steps, options.rounds = 64, 10, 1
    report = Report(options, batch=options.batch, mujoco=mujoco.__version__)
    for name in options.scenes:
        scene = closed_scene(name)
        rows = 3 * len(scene.robot.closures)
        title = f"{name}: {scene.robot.nv} dof, {rows} rows of closures, dt {scene.dt * 1e3:g} ms; "
        title += f"time per step and robot [us], batch of {options.batch}, one thread, MuJoCo {mujoco.__version__}"
        report.table(name, title, {name: partial(measured, scene, options)})
    report.finish()


def measured(scene: ClosedScene, options: argparse.Namespace) -> Iterator[Row]:
    """A row for each simulator."""
    batch, steps = options.batch, options.steps
    start, fault = started(scene, _ROBOTS)
    data = np.resize(start.data, (batch, start.layout.size))
    u = np.resize(scene.controls(_ROBOTS, steps), (batch, steps, scene.robot.nu))
    q, v = (data[:, start.layout.span(part)] for part in ("q", "v"))
    variant = fastest(scene, q, v, u)
    peer = Peer(scene, variant)
    calls: dict[str, Callable[[], Any]] = {"mujoco rollout": peer.rollout(q, v, u)}
    for precision in ("float64", "float32"):
        sim = scene.simulation(batch, precision)
        begin = pliant.simulation.State(data.astype(precision), sim.layout) if precision == "float64" else None
        if begin is None:
            sim.reset(q=q, v=v)
            begin = sim.state
        out = {
            name: np.empty((batch, steps, n), precision) for name, n in (("q", scene.robot.nq), ("v", scene.robot.nv))
        }
        calls[f"pliant {precision}"] = _rollout(sim, begin, u.astype(precision), out)
    ends = {"mujoco rollout": peer.end(calls["mujoco rollout"]())}
    faults: dict[str, list[str]] = {name: [] for name in calls}
    faults["pliant float64"] += [fault] if fault else []
    for name in list(calls)[1:]:
        result = calls[name]()
        ends[name] = result.q[:, -1].astype(float)
        if result.state.part("solver")[:, 3].any():
            faults[name].append("the last step did not converge")
    ours = ends["pliant float64"]
    if not scene.opening(ours) < OPEN:
        faults["pliant float64"].append(f"loops are open by {scene.opening(ours):.1e} m")
    times = {n: t / (batch * steps) for n, t in best_times(calls, rounds=options.rounds, clock=process_time).items()}
    for name, t in times.items():
        settings = str(variant) if name.startswith("mujoco") else ""
        apart = float(np.abs(ends[name] - ours).max())
        row: Row = {"simulator": name, "settings": settings, "us": t * 1e6, "steps/s": round(1 / t)}
        row |= {"ratio": t / times["pliant float64"], "open": scene.opening(ends[name]), "apart": apart}
        row |= {"dofs": scene.robot.nv, "rows": 3 * len(scene.robot.closures)}
        yield row | failed(f"{scene.name}, {name}", "; ".join(faults[name]))


def _rollout(sim: pliant.Simulation, begin: Any, u: np.ndarray, out: dict[str, np.ndarray]) -> Callable[[], Any]:
    return lambda: sim.rollout(begin, u, out=out)


def fastest(scene: ClosedScene, q: np.ndarray, v: np.ndarray, u: np.ndarray, *, batch: int = 256) -> Variant:
    """MuJoCo's settings that take least time for the scene."""
    variants = {str(x): x for x in VARIANTS if scene.has_ground or x.cone == "pyramidal"}
    calls = {n: Peer(scene, x).rollout(q[:batch], v[:batch], u[:batch]) for n, x in variants.items()}
    times = best_times(calls, rounds=4, clock=process_time)
    return variants[min(times, key=times.__getitem__)]


if __name__ == "__main__":
    main()
