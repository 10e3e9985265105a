"""Right content for `bench.fuzz` that lies in no file: tables, meshes, settings, checkpoints and sweeps."""

import functools
import io
import json
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["ROOT", "SDF_PART", "Samples", "cart", "checkpoint", "from_files", "meshes", "settings", "sweep", "tables"]

ROOT = Path(__file__).resolve().parent.parent

Samples = Sequence[tuple[str, bytes]]
"""Names of files and what is in them."""


def from_files(*patterns: str) -> Samples:
    """Files of the repository, by patterns."""
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    return [(path.name, path.read_bytes()) for path in paths]


def archive(members: Mapping[str, bytes]) -> bytes:
    """A zip archive; the same bytes whenever it is made."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as file:
        for name, content in members.items():
            # without the time of the clock, which `writestr` would add
            file.writestr(zipfile.ZipInfo(name), content)
    return found.getvalue()


# ---- robots and meshes

SDF_PART = b"""<sdf version="1.6"><model name="part"><link name="palm"/><link name="finger"><pose>0 0 .1 0 0 0</pose>
</link><frame name="grip"/><joint name="bend" type="revolute"><parent>palm</parent><child>finger</child>
<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis></joint></model></sdf>"""
"""A model that `fuzz_robot.sdf` includes."""


def tables() -> Samples:
    """Parameters of Denavit and Hartenberg, a row a line."""
    return [("arm.txt", b"revolute 0.1 0 0.5 1.5707963 1 \nprismatic 0 0.3 0.4 0 2\nrevolute 0 0 0.3 0.1 0.5\n")]


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


def meshes() -> Samples:
    """One of each format."""
    triangle = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + b"\0\0"
    binary = b"x".ljust(80) + (4).to_bytes(4, "little") + triangle * 4
    facet = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1 2 3\nf 1//1 2//1 4//1\nf -1 -2 -3\n"
    return [("a.stl", binary), ("b.stl", b"solid x\n" + facet * 3 + b"endsolid x\n"), ("c.obj", obj), ("d.dae", _DAE)]


# ---- runs

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


def settings() -> Samples:
    """Those of a run."""
    return [("run.toml", _SETTINGS)]


def cart() -> Any:
    """The task of the tests that a checkpoint is of."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    from toy_tasks import Cart

    return Cart(4)


@functools.cache
def checkpoint() -> Samples:
    """A training after its first iteration, as if it had taken no time, which differs from run to run."""
    from pliant.learn import ppo

    with tempfile.TemporaryDirectory(prefix="pliant-fuzz-") as folder:
        path = Path(folder) / "cart.checkpoint"
        ppo(cart(), minutes=None, steps=1, checkpoint=path, checkpoint_every=0)
        with zipfile.ZipFile(path) as file:
            members = {name: file.read(name) for name in file.namelist()}
    about = json.loads(members["about.json"])
    about["about"]["times"] = dict.fromkeys(about["about"]["times"], 0.0)
    for row in about["about"]["history"]:
        row |= {name: 0.0 for name in row if name == "seconds" or name.startswith("time/")}
    return [("cart.checkpoint", archive(members | {"about.json": json.dumps(about).encode()}))]


@functools.cache
def sweep() -> Samples:
    """The files of a sweep of two trials, of which one is done."""
    key, other = "5322da43ea7c22ab9cdcd1f7", "88f54f93556e5940e2f11cc2"
    options = {"on": "processes", "limit": None, "retries": 1, "settings": {}}
    plan = {
        "kind": "pliant sweep 1", "trial": "trials:square", "source": "9d6ad6ff4e334d28", "options": options,
        "began": 1.7e9, "points": [[key, {"x": 1.0, "seed": 0}], [other, {"x": 2.0, "seed": 0}]],
    }  # fmt: skip
    about = {
        "key": key, "values": {"x": 1.0, "seed": 0}, "status": "done", "error": "", "traceback": "", "seconds": 0.7,
        "attempts": 1, "about": {"trial": "trials:square", "host": "vm", "at": "2026-11-19T22:11:50+00:00"},
        "results": {"y": 1.0, "path": {"array": "results/path"}},
    }  # fmt: skip
    numbers = io.BytesIO()
    np.lib.format.write_array(numbers, np.arange(3.0), allow_pickle=False)
    trial = {"kind": "pliant trial 1", "about": about}
    members = {"about.json": json.dumps(trial).encode(), "results/path.npy": numbers.getvalue()}
    return [("sweep.json", json.dumps(plan).encode()), (f"{key}.npz", archive(members))]
