"""The inputs that `bench.fuzz` tries, by target: files of each kind that Pliant reads, and calls of its functions.

A target of files has samples that are right, a mutation, and what a user does with such a file. What loads must be
usable: a robot has a finite mass and mass matrix, a log its arrays, terrain a finite height.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from bench.fuzz_workers import Target, WrongError
from bench.log_mutations import mutated_log
from bench.mutations import mutated_archive, mutated_bytes, mutated_lines, mutated_xml
from bench.nonsense_calls import NonsenseCalls

__all__ = ["TARGETS"]

ROOT = Path(__file__).resolve().parent.parent
MOST_BODIES = 60
"""A robot that loads is computed up to this size: what takes long by its size alone is not a hang."""


@dataclass(frozen=True)
class Files:
    """A kind of file: names and contents that are right, how they are changed, and what reads them."""

    samples: Callable[[], Sequence[tuple[str, bytes]]]
    mutated: Callable[[np.random.Generator, bytes], bytes]
    read: Callable[[Path], None]

    @functools.cached_property
    def _samples(self) -> Sequence[tuple[str, bytes]]:
        return self.samples()

    def made(self, seed: int, number: int) -> tuple[str, bytes]:
        """A sample, changed."""
        rng = np.random.default_rng([seed, number])
        name, data = self._samples[int(rng.integers(len(self._samples)))]
        return name, self.mutated(rng, data)

    def run(self, given: tuple[str, bytes], folder: Path) -> None:
        """Write the file and read it."""
        path = folder / given[0]
        path.write_bytes(given[1])
        self.read(path)

    def shown(self, given: tuple[str, bytes]) -> bytes:
        """Its bytes."""
        return given[1]


def _texts(*patterns: str) -> list[tuple[str, bytes]]:
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    return [(path.name, path.read_bytes()) for path in paths]


# ---- robots

LARGEST = 1e100
"""Lengths beyond this have squares that are not finite; with those, no number is wrong."""


def _extent(robot: pliant.Robot) -> float:
    """The largest coordinate of a placement [m]."""
    places = [joint.placement.p for joint in robot.joints.values()]
    places += [body.inertia.h for body in robot.bodies.values()]
    return max((abs(float(x)) for p in places for x in (p.x, p.y, p.z)), default=0.0)


def use_robot(robot: pliant.Robot) -> None:
    """Compute what a user would; raises `WrongError` for numbers that cannot be."""
    if not math.isfinite(float(robot.mass)):
        raise WrongError(f"a mass of {robot.mass}")
    str(robot.report)
    if len(robot.bodies) <= MOST_BODIES and robot.nv:
        M = np.asarray(pliant.mass_matrix(robot, robot.neutral()), float)
        if not np.isfinite(M).all() and _extent(robot) < LARGEST:
            raise WrongError("a mass matrix that is not finite")


def _load(path: Path) -> None:
    use_robot(pliant.load(path))


def _load_with_side(path: Path) -> None:
    use_robot(pliant.load(ROOT / "src/pliant/catalogue/urdf/quadruped.urdf", side=path))


def _side_samples() -> list[tuple[str, bytes]]:
    return _texts("src/pliant/catalogue/sensors/quadruped.toml")


# ---- the others


def _mesh(path: Path) -> None:
    from pliant.meshes.mesh_file import read_mesh

    if not np.isfinite(read_mesh(path)).all():
        raise WrongError("a vertex that is not finite")


def _mesh_samples() -> list[tuple[str, bytes]]:
    triangle = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + b"\0\0"
    binary = b"x".ljust(80) + (4).to_bytes(4, "little") + triangle * 4
    facet = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1 2 3\nf 1//1 2//1 4//1\nf -1 -2 -3\n"
    return [("a.stl", binary), ("b.stl", b"solid x\n" + facet * 3 + b"endsolid x\n"), ("c.obj", obj), ("d.dae", _DAE)]


_DAE = b"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="0.01"/>
<up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="9">
0 0 0 1 0 0 0 1 0</float_array><technique_common><accessor source="#a" count="3" stride="3">
<param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source><vertices id="v">
<input semantic="POSITION" source="#p"/></vertices><triangles count="1">
<input semantic="VERTEX" source="#v" offset="0"/>
<p>0 1 2</p></triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node id="n">
<matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


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


def _dh_samples() -> list[tuple[str, bytes]]:
    return [("arm.txt", b"revolute 0.1 0 0.5 1.5707963 1 \nprismatic 0 0.3 0.4 0 2\nrevolute 0 0 0.3 0.1 0.5\n")]


def _log(path: Path) -> None:
    log = pliant.load_log(path)
    if "q" not in log.channels:  # lost, with a warning
        return
    if log.q.shape[:-1] != log.t.shape and log.q.shape[-2] != len(log.t):
        raise WrongError(f"q has shape {log.q.shape} at {len(log.t)} times")
    if log.q.dtype.kind != "f":
        raise WrongError(f"q has numbers of type {log.q.dtype}")


def _log_samples() -> list[tuple[str, bytes]]:
    return _texts("tests/compatibility/samples/*/*.h5")


def _settings(path: Path) -> None:
    from pliant.cli.settings import gathered

    gathered({}, str(path))


_SETTINGS = b"""robot = "quadruped"
time = 2.0
dt = 0.002
ground = "flat"
base = "free"
seed = 3
batch = 4
friction = 0.6
every = 0.01
push = ["trunk=0,60,0@1:1.2"]
log = "run.h5"

[q]
lf_knee = -1.5

[flexible]
lf_knee = [1000, 5]
"""


def _terrain(path: Path) -> None:
    terrain = pliant.terrain.load_terrain(path)
    if not np.isfinite(terrain.field.heights).all():
        raise WrongError("a height that is not finite")


def _policy(path: Path) -> None:
    from pliant.learn import Policy

    policy = Policy.load(path)
    if not np.isfinite(policy(np.zeros(policy.observation_size))).all():
        raise WrongError("an action that is not finite")


def _policy_samples() -> list[tuple[str, bytes]]:
    return _texts("src/pliant/tasks/policies/*.policy")[:2]


TARGETS: dict[str, Callable[[], Target]] = {
    "urdf": lambda: Files(lambda: _texts("src/pliant/catalogue/urdf/*.urdf"), mutated_xml, _load),
    "side": lambda: Files(
        lambda: _texts("src/pliant/catalogue/sensors/quadruped.toml"), mutated_lines, _load_with_side
    ),
    "mesh": lambda: Files(_mesh_samples, mutated_bytes, _mesh),
    "dh": lambda: Files(_dh_samples, mutated_lines, _dh),
    "log": lambda: Files(_log_samples, mutated_log, _log),
    "settings": lambda: Files(lambda: [("run.toml", _SETTINGS)], mutated_lines, _settings),
    "terrain": lambda: Files(lambda: _texts("examples/terrain.toml"), mutated_lines, _terrain),
    "policy": lambda: Files(_policy_samples, mutated_archive, _policy),
    "api": NonsenseCalls,
}
