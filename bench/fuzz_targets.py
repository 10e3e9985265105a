"""The inputs that `bench.fuzz` tries, by target: files of each kind that Pliant reads, and calls of its functions.

A target of files has samples that are right, a mutation, and what a user does with such a file. What loads must be
usable: a robot has a finite mass and mass matrix, a log its arrays, terrain a finite height.
"""

import functools
import math
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from bench import fuzz_samples
from bench.fuzz_samples import ROOT, Samples, from_files
from bench.fuzz_workers import Target, WrongError
from bench.log_mutations import mutated_log
from bench.mutations import mutated_archive, mutated_bytes, mutated_lines, mutated_xml
from bench.nonsense_calls import NonsenseCalls
from pliant.dynamics import mass_matrix

__all__ = ["TARGETS"]

MOST_BODIES = 60
"""A robot that loads is computed up to this size: what takes long by its size alone is not a hang."""


@dataclass(frozen=True)
class Files:
    """A kind of file: names and contents that are right, how they are changed, what reads them; and files beside it."""

    samples: Callable[[], Samples]
    mutated: Callable[[np.random.Generator, bytes], bytes]
    read: Callable[[Path], None]
    beside: tuple[tuple[str, bytes], ...] = ()

    @functools.cached_property
    def _samples(self) -> Samples:
        return self.samples()

    def made(self, seed: int, number: int) -> tuple[str, bytes]:
        """A sample, changed."""
        rng = np.random.default_rng([seed, number])
        name, data = self._samples[int(rng.integers(len(self._samples)))]
        return name, self.mutated(rng, data)

    def run(self, given: tuple[str, bytes], folder: Path) -> None:
        """Write the file and read it."""
        path = folder / given[0]
        for name, data in (*self.beside, given):
            (folder / name).write_bytes(data)
        self.read(path)

    def shown(self, given: tuple[str, bytes]) -> bytes:
        """Its bytes."""
        return given[1]


# ---- robots

LARGEST = 1e100
"""Lengths beyond this have squares that are not finite; with those, no number is wrong."""


def _extent(robot: pliant.Robot) -> float:
    """The largest coordinate of a placement, pitch of a screw [m] or factor of a coupling."""
    places = [joint.placement.p for joint in robot.joints.values()]
    places += [body.inertia.h for body in robot.bodies.values()]
    factors = [getattr(joint.kind, "pitch", 0) for joint in robot.joints.values()]
    factors += [joint.mimic.multiplier for joint in robot.joints.values() if joint.mimic is not None]
    return max((abs(float(x)) for x in [*factors, *(x for p in places for x in (p.x, p.y, p.z))]), default=0.0)


def use_robot(robot: pliant.Robot) -> None:
    """Compute what a user would; raises `WrongError` for numbers that cannot be."""
    if not math.isfinite(float(robot.mass)):
        raise WrongError(f"a mass of {robot.mass}")
    str(robot.report)
    if len(robot.bodies) <= MOST_BODIES and robot.nv:
        M = np.asarray(_mass_matrix(robot), float)
        if not np.isfinite(M).all() and _extent(robot) < LARGEST:
            raise WrongError("a mass matrix that is not finite")


def _mass_matrix(robot: pliant.Robot) -> Any:
    """In plain Python; of one robot in twenty by code that is compiled, which takes a hundred times as long."""
    q = robot.neutral()
    if zlib.crc32(repr(robot.report).encode("utf-8", "replace")) % 20 == 0:
        return mass_matrix(robot, q)
    with np.errstate(all="ignore"):
        return mass_matrix.algorithm(robot, q.tolist())


def _load(path: Path) -> None:
    use_robot(pliant.load(path))


def _load_with_side(path: Path) -> None:
    use_robot(pliant.load(ROOT / "src/pliant/catalogue/urdf/quadruped.urdf", side=path))


def _sdf_samples() -> list[tuple[str, bytes]]:
    """A robot with everything that is read, more often than Cassie, which has much of the same."""
    cassie = pliant.robots()["cassie"].path
    assert cassie is not None
    return [*[*from_files("bench/fuzz_robot.sdf")] * 3, (cassie.name, cassie.read_bytes())]


def _mjcf_samples() -> list[tuple[str, bytes]]:
    gymnasium = Path(str(distribution("gymnasium").locate_file("gymnasium/envs/mujoco/assets")))
    return [(path.name, path.read_bytes()) for path in sorted(gymnasium.glob("*.xml"))]


@functools.cache
def _compiler(process: int) -> pliant.formats.CompilerProcess:
    """The compiler of a worker."""
    return pliant.formats.CompilerProcess()


def _load_mjcf(path: Path) -> None:
    use_robot(pliant.formats.load_mjcf(path, compiler=_compiler(os.getpid())))


# ---- the others


def _mesh(path: Path) -> None:
    from pliant.meshes.mesh_file import read_mesh

    if not np.isfinite(read_mesh(path)).all():
        raise WrongError("a vertex that is not finite")


def _dh(path: Path) -> None:
    """A table as text: one row a line, read as a user's script would."""
    rows = [[_cell(word) for word in line.split()] for line in path.read_text("utf-8", "replace").splitlines()]
    use_robot(pliant.from_dh([dict(zip(_DH, row, strict=False)) for row in rows]))


_DH = ("joint", "d", "theta", "a", "alpha", "mass", "com")


def _cell(word: str) -> Any:
    try:
        return float(word)
    except ValueError:
        return word


def _log(path: Path) -> None:
    log = pliant.load_log(path)
    if "q" not in log.channels:  # lost, with a warning
        return
    if log.q.shape[:-1] != log.t.shape and log.q.shape[-2] != len(log.t):
        raise WrongError(f"q has shape {log.q.shape} at {len(log.t)} times")
    if log.q.dtype.kind != "f":
        raise WrongError(f"q has numbers of type {log.q.dtype}")


def _settings(path: Path) -> None:
    from pliant.cli.settings import gathered

    gathered({}, str(path))


def _terrain(path: Path) -> None:
    terrain = pliant.terrain.load_terrain(path)
    if not np.isfinite(terrain.field.heights).all():
        raise WrongError("a height that is not finite")


def _policy(path: Path) -> None:
    from pliant.learn import Policy

    policy = Policy.load(path)
    if not np.isfinite(policy(np.zeros(policy.observation_size))).all():
        raise WrongError("an action that is not finite")


def _checkpoint(path: Path) -> None:
    from pliant.learn import resume

    training = resume(path, fuzz_samples.cart(), minutes=None, steps=1)
    if not np.isfinite(training.policy(np.zeros(training.policy.observation_size))).all():
        raise WrongError("an action that is not finite")


def _sweep(path: Path) -> None:
    from pliant.cluster import load_sweep

    folder = path.parent / "sweep"
    (folder / "trials").mkdir(parents=True)
    for name, data in (*fuzz_samples.sweep(), (path.name, path.read_bytes())):
        (folder / ("" if name == "sweep.json" else "trials") / name).write_bytes(data)
    load_sweep(folder)


def _mutated_sweep(rng: np.random.Generator, data: bytes) -> bytes:
    if data.startswith(b"PK"):
        return mutated_archive(rng, data)
    return mutated_lines(rng, data.replace(b",", b",\n"))


def _catalogue(*patterns: str) -> Callable[[], Samples]:
    return functools.partial(from_files, *(f"src/pliant/{pattern}" for pattern in patterns))


TARGETS: dict[str, Callable[[], Target]] = {
    "urdf": lambda: Files(_catalogue("catalogue/urdf/*.urdf"), mutated_xml, _load),
    "sdf": lambda: Files(_sdf_samples, mutated_xml, _load, (("part.sdf", fuzz_samples.SDF_PART),)),
    "mjcf": lambda: Files(_mjcf_samples, mutated_xml, _load_mjcf),
    "mesh": lambda: Files(fuzz_samples.meshes, mutated_bytes, _mesh),
    "side": lambda: Files(_catalogue("catalogue/sensors/quadruped.toml"), mutated_lines, _load_with_side),
    "dh": lambda: Files(fuzz_samples.tables, mutated_lines, _dh),
    "log": lambda: Files(lambda: from_files("tests/compatibility/samples/*/*.h5"), mutated_log, _log),
    "settings": lambda: Files(fuzz_samples.settings, mutated_lines, _settings),
    "terrain": lambda: Files(lambda: from_files("examples/terrain.toml"), mutated_lines, _terrain),
    "policy": lambda: Files(lambda: _catalogue("tasks/policies/*.policy")()[:2], mutated_archive, _policy),
    "checkpoint": lambda: Files(fuzz_samples.checkpoint, mutated_archive, _checkpoint),
    "sweep": lambda: Files(fuzz_samples.sweep, _mutated_sweep, _sweep),
    "api": NonsenseCalls,
}
