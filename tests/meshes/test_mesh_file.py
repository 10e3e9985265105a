"""Meshes: their points as Coal reads them, and files that are broken, hostile or out of bounds."""

import pickle
import struct
from pathlib import Path

import coal
import numpy as np
import pytest

from pliant.errors import PliantError, RobotError
from pliant.formats import load_urdf
from pliant.meshes import mesh_file as module
from pliant.meshes import MeshFile, read_mesh
from real_robots import real_robot
from urdf_text import INERTIAL, link

TETRAHEDRON = np.array([(0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 5)], dtype=float)
TRIANGLES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def binary_stl(header: bytes = b"binary", count: int = 4) -> bytes:
    corners = (struct.pack("<12fH", 0, 0, 0, *TETRAHEDRON[list(t)].ravel(), 0) for t in TRIANGLES)
    return header.ljust(80) + struct.pack("<I", count) + b"".join(corners)


def text_stl() -> bytes:
    lines = ["solid t"]
    for t in TRIANGLES:
        lines += ["  facet normal 0 0 0", "    outer loop"]
        lines += ["      vertex {} {} {}".format(*TETRAHEDRON[k]) for k in t]
        lines += ["    endloop", "  endfacet"]
    return "\n".join([*lines, "endsolid t\n"]).encode()


def obj() -> bytes:
    points = [f"v {x} {y} {z}" for x, y, z in TETRAHEDRON]
    # the fifth point is in no face; the last face counts from the end
    return "\n".join([*points, "v 9 9 9", "vn 1 0 0", "f 1/1 3/1 2/1", "f 1//1 2//1 4//1", "f -5 -2 -3"]).encode()


def dae(unit: str = '<unit meter="1"/>', node: str = "", nodes: str = "", more: str = "") -> bytes:
    numbers = " ".join(f"{x}" for x in [*TETRAHEDRON.ravel(), 9, 9, 9])
    faces = " ".join(f"{k} 0" for t in TRIANGLES for k in t)
    node = node or '<node><instance_geometry url="#g"/></node>'
    return f"""<?xml version="1.0"?>
    <COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
      <asset>{unit}<up_axis>Y_UP</up_axis></asset>{more}
      <library_geometries><geometry id="g"><mesh>
        <source id="s"><float_array id="a" count="15">{numbers}</float_array>
          <technique_common><accessor source="#a" count="5" stride="3"/></technique_common></source>
        <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
        <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
          <input semantic="NORMAL" source="#n" offset="1"/><p>{faces}</p></triangles>
      </mesh></geometry></library_geometries>
      <library_nodes>{nodes}</library_nodes>
      <library_visual_scenes><visual_scene id="scene">{node}</visual_scene></library_visual_scenes>
      <scene><instance_visual_scene url="#scene"/></scene>
    </COLLADA>""".encode()


GOOD = {
    "binary.stl": binary_stl(),
    "solid.stl": binary_stl(b"solid, but binary all the same"),
    "text.stl": text_stl(),
    "upper.STL": text_stl().upper(),
    "mesh.obj": obj(),
    "mesh.dae": dae(),
}


def written(tmp_path: Path, name: str, data: bytes) -> Path:
    (tmp_path / name).write_bytes(data)
    return tmp_path / name


def same_points(points: np.ndarray, expected: np.ndarray) -> None:
    # single precision of binary STL; all numbers here are exact in it
    np.testing.assert_allclose(np.unique(points, axis=0), np.unique(expected, axis=0), atol=1e-12)


@pytest.mark.parametrize("name", GOOD)
def test_points_that_faces_use(tmp_path: Path, name: str) -> None:
    same_points(read_mesh(written(tmp_path, name, GOOD[name])), TETRAHEDRON)


def test_points_without_faces(tmp_path: Path) -> None:
    same_points(read_mesh(written(tmp_path, "cloud.obj", b"v 1 2 3\nv 4 5 6\n")), np.array([[1, 2, 3], [4, 5, 6]]))


def test_collada_scene(tmp_path: Path) -> None:
    """Unit, nested nodes, an instance of a node, and transforms in the order of the file."""
    leaf = '<node id="leaf"><scale>2 1 1</scale><instance_geometry url="#g"/></node>'
    inner = '<node><rotate>0 0 2 90</rotate><instance_node url="#leaf"/></node>'
    node = f"<node><matrix>1 0 0 10 0 1 0 0 0 0 1 0 0 0 0 1</matrix><translate>0 1 0</translate>{inner}</node>"
    points = read_mesh(written(tmp_path, "a.dae", dae('<unit meter="0.01"/>', node, leaf)))
    x, y, z = TETRAHEDRON.T
    same_points(points, 0.01 * np.stack([10 - y, 1 + 2 * x, z], axis=1))


def test_robots_as_coal_reads_them() -> None:
    """The box around every collision mesh of three robots, with STL, OBJ and Collada, is Coal's."""
    suffixes = set()
    for name in ("panda_description/panda.urdf", "laikago_description/laikago.urdf", "a1_description/a1.urdf"):
        robot = real_robot(name)
        shapes = [s for body in robot.bodies.values() for s in (*body.collisions, *body.visuals)]
        for file in sorted({s.file for s in shapes if s.file})[:12]:
            if Path(file).stat().st_size > 2_000_000:
                continue
            suffixes.add(Path(file).suffix.lower())
            ours = read_mesh(file)
            coals = np.array(coal.MeshLoader().load(file, np.ones(3)).vertices())
            # Coal holds single precision on the way
            size = float(np.ptp(coals, axis=0).max())
            np.testing.assert_allclose(ours.min(axis=0), coals.min(axis=0), atol=1e-6 * size)
            np.testing.assert_allclose(ours.max(axis=0), coals.max(axis=0), atol=1e-6 * size)
    assert suffixes == {".stl", ".dae", ".obj"}


def bomb(depth: int) -> bytes:
    """A scene in which each node stands for two of the next: 2^depth geometries."""
    twice = '<node id="n{}"><instance_node url="#n{}"/><instance_node url="#n{}"/></node>'
    nodes = "".join(twice.format(k, k + 1, k + 1) for k in range(depth))
    last = f'<node id="n{depth}"><instance_geometry url="#g"/></node>'
    return dae(node='<node><instance_node url="#n0"/></node>', nodes=nodes + last)


BAD = {
    "empty.stl": (b"", "cut off"),
    "header.stl": (binary_stl()[:83], "cut off"),
    "cut.stl": (binary_stl()[:-1], "promises 4 triangles and holds 3"),
    "greedy.stl": (binary_stl(count=2**32 - 1), "promises 4294967295 triangles and holds 4"),
    "nothing.stl": (binary_stl(count=0), "no points"),
    "nan.stl": (binary_stl().replace(struct.pack("<f", 5), struct.pack("<f", np.nan)), "not a number"),
    "cut_text.stl": (text_stl()[:-20], "cut off"),
    "words.stl": (b"solid a\nvertex 1 2 three\nendsolid", ":2: 'vertex 1 2 three'"),
    "two.stl": (b"solid a\nvertex 1 2\nendsolid", ":2:"),
    "no_newlines.stl": (b"solid " + b"vertex 1 2 3 " * 1000 + b"endsolid", "a line of"),
    "far.obj": (b"v 1e300 0 0\n", "farther off"),
    "inf.obj": (b"v inf 0 0\n", "infinite"),
    "empty.obj": (b"", "no points"),
    "face.obj": (b"v 0 0 0\nf 1 2 3\n", ":2: the face names a point"),
    "zero.obj": (b"v 0 0 0\nf 0 1 1\n", ":2: the face names a point"),
    "odd_face.obj": (b"v 0 0 0\nf a b c\n", ":2: the face names a point"),
    "not.dae": (b"solid", "not well-formed"),
    "urdf.dae": (b"<robot/>", "not <COLLADA>"),
    "entity.dae": (b'<!DOCTYPE a [<!ENTITY b "c">]><COLLADA/>', "refused"),
    "no_scene.dae": (b"<COLLADA/>", "no points"),
    "lost.dae": (dae(node='<node><instance_geometry url="#h"/></node>'), "'#h', which is not in the file"),
    "other_file.dae": (dae(node='<node><instance_geometry url="b.dae#g"/></node>'), "not in the file"),
    "count.dae": (dae().replace(b'count="15"', b'count="16"'), "16 numbers"),
    "words.dae": (dae().replace(b"2.0", b"two"), "15 numbers"),
    "stride.dae": (dae().replace(b'stride="3"', b'stride="2"'), "points of 2 numbers"),
    "index.dae": (dae().replace(b"<p>0", b"<p>7"), "a point that is not in the file"),
    "offset.dae": (dae().replace(b'offset="1"', b""), "no offsets"),
    "skew.dae": (dae(node="<node><skew>1 0 0 0 1 0 0</skew></node>"), "<skew>"),
    "unit.dae": (dae('<unit meter="0"/>'), "a unit of 0.0 m"),
    "circle.dae": (dae(node='<node id="n"><instance_node url="#n"/></node>'), "nested deeper"),
    "bomb.dae": (bomb(40), "nodes"),
    "mesh.step": (b"", "no reader"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path: Path, name: str) -> None:
    data, words = BAD[name]
    with pytest.raises(RobotError) as caught:
        read_mesh(written(tmp_path, name, data))
    assert words in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", GOOD)
def test_damaged_files_raise_nothing_else(tmp_path: Path, name: str) -> None:
    """Cut anywhere or with any byte changed, a file is read or refused by name."""
    rng = np.random.default_rng(7)
    data = GOOD[name]
    for _ in range(150):
        damaged = bytearray(data[: rng.integers(len(data) + 1)] if rng.random() < 0.5 else data)
        for _ in range(int(rng.integers(4))):
            if damaged:
                damaged[rng.integers(len(damaged))] = rng.integers(256)
        try:
            points = read_mesh(written(tmp_path, name, bytes(damaged)))
        except PliantError:
            continue
        assert points.ndim == 2 and points.shape[1] == 3
        assert np.isfinite(points).all()


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    with pytest.raises(RobotError, match="larger than"):
        read_mesh(written(tmp_path, "a.stl", binary_stl()))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="is not a file"):
        read_mesh(tmp_path / "a.stl")
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(RobotError, match="is not a file"):
        read_mesh(tmp_path / "folder.stl")


# ---- references


def mesh_link(file: str) -> str:
    return link("a", f'{INERTIAL}<collision><geometry><mesh filename="{file}"/></geometry></collision>')


def test_a_loaded_mesh_reads_its_points(write, tmp_path: Path) -> None:
    written(tmp_path, "a.stl", binary_stl())
    (shape,) = load_urdf(write(mesh_link("a.stl"))).bodies["a"].collisions
    assert shape.mesh is not None
    same_points(shape.mesh.points(), TETRAHEDRON)
    same_points(pickle.loads(pickle.dumps(shape.mesh)).points(), TETRAHEDRON)


def test_a_link_that_is_bent_after_loading_is_refused(write, tmp_path: Path) -> None:
    written(tmp_path, "secret.stl", binary_stl())
    (tmp_path / "ws").mkdir()
    written(tmp_path, "ws/a.stl", binary_stl())
    (shape,) = load_urdf(write(mesh_link("a.stl"), name="ws/robot.urdf")).bodies["a"].collisions
    (tmp_path / "ws" / "a.stl").unlink()
    (tmp_path / "ws" / "a.stl").symlink_to(tmp_path / "secret.stl")
    assert shape.mesh is not None
    with pytest.raises(RobotError, match="leaves"):
        shape.mesh.points()
    same_points(shape.mesh.points(packages=[tmp_path]), TETRAHEDRON)


def test_references_from_code(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    written(tmp_path, "pack/a.stl", binary_stl())
    same_points(MeshFile("a.stl", tmp_path / "pack").points(), TETRAHEDRON)
    same_points(MeshFile("package://pack/a.stl", tmp_path / "pack").points([tmp_path]), TETRAHEDRON)
    same_points(MeshFile("package://pack/a.stl", packages=(tmp_path,)).points(), TETRAHEDRON)
    for reference in ("../secret.stl", "/etc/passwd", "http://example.org/a.stl"):
        with pytest.raises(RobotError, match=r"leaves|nothing is fetched"):
            MeshFile(reference, tmp_path / "pack").points()
