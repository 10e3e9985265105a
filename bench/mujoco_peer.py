"""MuJoCo's side of the contact benchmark: `mujoco.rollout`, `mujoco.batch.Batch` and `mj_step` from Python.

`Batch` came with MuJoCo 4.0.
"""

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import mujoco
import mujoco.batch
import mujoco.rollout
import numpy as np

from bench.contact_scene import ContactScene, Standing
from bench.mujoco_model import VARIANTS, Layout, Variant, mujoco_model
from bench.timing import best_times

__all__ = ["MujocoPeer", "fastest_settings"]

_PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS.value


class MujocoPeer:
    """A scene in MuJoCo, on one thread.

    A robot that is to stand begins where it has come to rest, on its own, from the scene's states; with the solver's
    warm start of that moment.

    Attributes:
        q, v: where the timed calls begin, in Pliant's layout; some 64 robots, repeated to fill a batch.
        standing: how well it stands; None if it is not to.
        sample: of a few robots, mean iterations of the solver and contacts in a step; the largest gradient it left,
            scaled as for its tolerance of 1e-8; the greatest depth [m].
        fault: what is wrong; empty if nothing is.
    """

    def __init__(self, scene: ContactScene, variant: Variant, *, robots: int = 64):
        self.scene, self.variant = scene, variant
        self.model = mujoco_model(scene, variant)
        self.layout = Layout(scene.robot, self.model)
        self._data = mujoco.MjData(self.model)
        self.q, self.v = scene.states(robots)
        self._warm = np.zeros((robots, self.model.nv))
        self._warnings: set[str] = set()
        self.standing = self._settle() if scene.standing else None
        self.sample = self._sampled()
        warned = f"warns of {', '.join(sorted(self._warnings))}" if self._warnings else ""
        self.fault = warned or (self.standing.fault if self.standing else "")

    # ---- timed functions

    def rollout(self, batch: int, steps: int) -> Callable[[], Any]:
        """One call of `mujoco.rollout`: all robots, all steps, states out."""
        pool = mujoco.rollout.Rollout(nthread=0)
        state = np.empty((batch, steps, mujoco.mj_stateSize(self.model, _PHYSICS)))
        sensors = np.empty((batch, steps, self.model.nsensordata))
        initial = np.hstack([np.zeros((batch, 1)), *self._begin(batch)])
        arguments = {"initial_warmstart": self._tiled(self._warm, batch), "state": state, "sensordata": sensors}
        return partial(pool.rollout, self.model, [self._data], initial, self._control(batch, steps), **arguments)

    def batch(self, batch: int, steps: int) -> Callable[[], Any]:
        """One call of `Batch.rollout`: the same."""
        simulations = mujoco.batch.Batch(self.model, nsim=batch, nthread=1)
        qpos, qvel = self._begin(batch)
        warm, control = self._tiled(self._warm, batch), self._control(batch, steps)
        record: tuple[str, ...] = ("qpos", "qvel")
        out = {"qpos": np.empty((batch, steps, qpos.shape[1])), "qvel": np.empty((batch, steps, qvel.shape[1]))}

        def run() -> None:
            simulations.qpos, simulations.qvel, simulations.qacc_warmstart = qpos, qvel, warm
            simulations.rollout(steps, control, record=record, out=out)

        return run

    def single(self, steps: int) -> Callable[[], Any]:
        """One robot, stepped by a loop in Python that sets the controls."""
        control, data = self._control(1, steps)[0], mujoco.MjData(self.model)

        def run() -> None:
            self._put(data, 0)
            for u in control:
                data.ctrl = u
                mujoco.mj_step(self.model, data)

        return run

    # ---- where it begins

    def _begin(self, batch: int) -> tuple[np.ndarray, np.ndarray]:
        q, v = self._tiled(self.q, batch), self._tiled(self.v, batch)
        return self.layout.qpos(q), self.layout.qvel(q, v)

    def _tiled(self, rows: np.ndarray, batch: int) -> np.ndarray:
        return np.ascontiguousarray(np.resize(rows, (batch, rows.shape[1])))

    def _control(self, batch: int, steps: int) -> np.ndarray:
        return np.ascontiguousarray(self.scene.controls(batch, steps)[..., self.layout.actuators])

    def _put(self, data: mujoco.MjData, k: int) -> None:
        mujoco.mj_resetData(self.model, data)
        q, v = self.q[k], self.v[k]
        data.qpos, data.qvel, data.qacc_warmstart = self.layout.qpos(q), self.layout.qvel(q, v), self._warm[k]

    # ---- whether it is right

    def _settle(self) -> Standing:
        """Let the robots come to rest, keep them there, and tell how well they stand in the last quarter second."""
        steps, last = round(self.scene.settled / self.scene.dt), round(0.25 / self.scene.dt)
        before, force, ctrl = self.q.copy(), np.empty(len(self.q)), self._control(1, 1)[0, 0]
        for k in range(len(self.q)):
            data = self._data
            self._put(data, k)
            data.ctrl = ctrl
            mujoco.mj_step(self.model, data, nstep=steps - last)
            before[k] = self.layout.q(data.qpos)
            mujoco.mj_step(self.model, data, nstep=last)
            self._warned(data)
            self.q[k], self.v[k] = self.layout.q(data.qpos), self.layout.v(data.qpos, data.qvel)
            self._warm[k] = data.qacc_warmstart
            mujoco.mj_forward(self.model, data)
            force[k] = self._lifted(data)
        return Standing.between(self.scene, before, self.q, last * self.scene.dt, force)

    def _lifted(self, data: mujoco.MjData) -> float:
        """The vertical force of all contacts; the ground is flat, so their normal one [N]."""
        wrench, total = np.empty(6), 0.0
        for k in range(data.ncon):
            mujoco.mj_contactForce(self.model, data, k, wrench)
            total += wrench[0]
        return total

    def _sampled(self, steps: int = 100) -> dict[str, float]:
        data, niter, contacts, gap, residual = mujoco.MjData(self.model), [], [], 0.0, 0.0
        some = min(16, len(self.q))
        control = self._control(some, steps)
        for k in range(some):
            self._put(data, k)
            for u in control[k]:
                data.ctrl = u
                mujoco.mj_step(self.model, data)
                done = data.solver_niter[: max(1, data.nisland)]
                niter.append(done.sum())
                last = [mujoco.mjNSOLVER * island + n - 1 for island, n in enumerate(done) if n]
                residual = max(residual, *data.solver.gradient[last], 0.0)
                contacts.append(data.ncon)
                gap = min(gap, data.contact.dist.min(initial=0.0))
            self._warned(data)
        mean = {"iterations": float(np.mean(niter)), "contacts": float(np.mean(contacts))}
        return mean | {"residual": float(residual), "deepest": -float(gap)}

    def _warned(self, data: mujoco.MjData) -> None:
        """Remember what MuJoCo warned of; after a warning it resets the robot, which then goes on from there."""
        self._warnings |= {mujoco.mjtWarning(k).name for k, w in enumerate(data.warning) if w.number}
        if not np.isfinite(data.qpos).all():
            self._warnings.add("NaN")


def fastest_settings(scene: ContactScene, *, is_short: bool = False) -> tuple[Variant, dict[str, float]]:
    """The settings with which MuJoCo takes least time for the scene, of those with no fault if there are any.

    Args:
        is_short: look only at the first and the last settings.

    Returns:
        The settings; times of all that were timed [us].
    """
    batch, steps = (256, 25) if scene.standing else (64, 100)
    looked_at = VARIANTS[:: len(VARIANTS) - 1] if is_short else VARIANTS
    peers = {str(variant): MujocoPeer(scene, variant, robots=16) for variant in looked_at}
    right = {name: peer for name, peer in peers.items() if not peer.fault}
    calls = {name: peer.rollout(batch, steps) for name, peer in (right or peers).items()}
    found = best_times(calls, rounds=1 if is_short else 4, clock=process_time)
    times = {name: t / (batch * steps) * 1e6 for name, t in found.items()}
    return peers[min(times, key=times.__getitem__)].variant, times
