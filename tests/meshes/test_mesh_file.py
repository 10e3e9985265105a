"""Meshes: their points as Coal reads them, OBJ files, and files that are broken, hostile or out of bounds."""

import pickle
import struct
from pathlib import Path

import coal
import numpy as np
import pytest

from pliant.errors import PliantError, RobotError
from pliant.formats import load_urdf
from pliant.meshes import MeshFile, read_mesh, text_numbers
from pliant.meshes import mesh_file as module
from pliant.meshes.stl_obj import read_obj
from pliant.meshes.surfaces import fans
from pliant.meshes.text_numbers import indices, numbers, points_of_rows, rows_of
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
        corners = ["      vertex {} {} {}".format(*TETRAHEDRON[k]) for k in t]
        lines += ["  facet normal 0 0 0", "    outer loop", *corners, "    endloop", "  endfacet"]
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
    "cloud.obj": b"v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 5\n",
    "mesh.dae": dae(),
}


def written(tmp_path: Path, name: str, data: bytes) -> Path:
    (tmp_path / name).write_bytes(data)
    return tmp_path / name


def same_points(points: np.ndarray, expected: np.ndarray) -> None:
    # single precision of binary STL; all numbers here are exact in it
    np.testing.assert_allclose(np.unique(points, axis=0), np.unique(expected, axis=0), atol=1e-12)


@pytest.mark.parametrize("name", GOOD)
def test_points_that_faces_use_or_all_without_faces(tmp_path: Path, name: str) -> None:
    same_points(read_mesh(written(tmp_path, name, GOOD[name])), TETRAHEDRON)


def test_too_large_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.stl").mkdir()
    for name in ("a.stl", "folder.stl"):
        with pytest.raises(RobotError, match="is not a file"):
            read_mesh(tmp_path / name)
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    with pytest.raises(RobotError, match="larger than"):
        read_mesh(written(tmp_path, "a.stl", binary_stl()))


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
    rng, data = np.random.default_rng(7), GOOD[name]
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


# ---- OBJ files, against a reader of one line at a time


def random_file(seed: int) -> bytes:
    """Points between faces, which count from the start or back from where they stand, and materials in between."""
    rng = np.random.default_rng(seed)
    lines, seen = [], 0
    for _ in range(80):
        kind = rng.integers(6)
        if seen < 3 or kind < 2:
            lines.append("v {:.17g} {:.17g} {:.17g} 0.5".format(*rng.normal(size=3)))
            seen += 1
        elif kind == 2:
            lines.append(f"  usemtl {rng.choice(['red', 'light blue', ''])}")
        elif kind == 3:
            lines.append(rng.choice(["vn 1 0 0", "# f 1 2 3", "", "g a", "s off", "vt 0 1"]))
        else:
            corners = rng.integers(1, seen + 1, size=rng.integers(1, 6))
            back = rng.random(len(corners)) < 0.3 if rng.random() < 0.5 else np.zeros(len(corners), dtype=bool)
            ends = rng.choice(["", "/1", "//2", "/1/2"], size=len(corners))
            numbers = np.where(back, corners - seen - 1, corners)
            lines.append("f\t" + " ".join(f"{n}{e}" for n, e in zip(numbers, ends, strict=True)))
    return "\r\n".join(lines).encode()


def line_by_line(data: bytes):
    points, polygons, material = [], [], b""
    for line in data.split(b"\n"):
        match line.split():
            case [b"v", *words]:
                points.append([float(word) for word in words[:3]])
            case [b"usemtl", *words]:
                material = b" ".join(words)
            case [b"f", *words]:
                corners = [int(word.split(b"/")[0]) for word in words]
                polygons.append((material, [c - 1 if c > 0 else len(points) + c for c in corners]))
    return points, polygons


@pytest.mark.parametrize("seed", range(30))
def test_as_read_line_by_line(seed: int) -> None:
    data = random_file(seed)
    points, polygons = line_by_line(data)
    file = read_obj(data, "a.obj")
    np.testing.assert_array_equal(file.points, np.reshape(points, (-1, 3)))
    ends = np.cumsum(file.sides)
    cut = [file.corners[end - n : end].tolist() for end, n in zip(ends, file.sides, strict=True)]
    assert [(file.names[m], corners) for m, corners in zip(file.materials, cut, strict=True)] == polygons


def test_libraries_are_in_the_order_of_the_file() -> None:
    assert read_obj(b"mtllib a b.mtl\nv 0 0 0\nmtllib c.mtl\n", "a.obj").libraries == (b"a b.mtl", b"c.mtl")


@pytest.mark.parametrize(
    "corner", ["0", "4", "-4", "x", "/1", "1.0", "1-1", "--1", "-", "9" * 30, "-" + "9" * 30, "1\x012", "é"]
)
def test_corners_that_are_no_points(corner: str) -> None:
    data = f"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 {corner}\nf 1 2 3\n".encode()
    with pytest.raises(RobotError, match=r"a\.obj:5: the face names a point that is not in the file"):
        read_obj(data, "a.obj")


def test_fans() -> None:
    assert fans(np.array([3, 2, 5, 0])).tolist() == [[0, 1, 2], [5, 6, 7], [5, 7, 8], [5, 8, 9]]
    assert fans(np.zeros(0, dtype=int)).shape == (0, 3)


# ---- numbers of text in bulk: the same as word by word, wherever the text is cut into pieces

WORDS = [b"v", b"V", b"f", b"vn", b"f1", b"1", b"-2", b"1.5e-3", b"1/2/3", b"2//3", b"x", b"\xc3\xa9", b"#"]
GAPS = [b" ", b"  ", b"\t", b"\n", b"\r\n", b"\n\n", b" \n ", b"\x0b"]


def a_text(seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    words = [WORDS[rng.integers(len(WORDS))] + GAPS[rng.integers(len(GAPS))] for _ in range(60)]
    return b"".join([GAPS[rng.integers(len(GAPS))], *words, WORDS[rng.integers(len(WORDS))]])


def rows_line_by_line(data: bytes, keyword: bytes, most: int, any_case: bool) -> list[tuple[int, list[bytes]]]:
    """What `rows_of` means."""
    found = []
    for k, line in enumerate(data.split(b"\n"), start=1):
        words = line.split()
        if words and (words[0].lower() if any_case else words[0]) == keyword:
            found.append((k, words[1 : 1 + most]))
    return found


@pytest.mark.parametrize("piece", [1, 7, 50, 10_000])
def test_rows_are_those_found_line_by_line(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(text_numbers, "PIECE", piece)
    for seed in range(40):
        data = a_text(seed)
        for any_case in (False, True):
            rows = rows_of(data, "a.obj", {b"v": 3, b"f": 100}, any_case=any_case)
            for keyword, most in ((b"v", 3), (b"f", 100)):
                expected = rows_line_by_line(data, keyword, most, any_case)
                assert list(rows[keyword].words()) == expected
                assert rows[keyword].counts.tolist() == [len(words) for _, words in expected]


def test_the_line_of_a_word() -> None:
    rows = rows_of(b"\nv 1 2\nv\nv 3\n", "a.obj", {b"v": 3})[b"v"]
    assert rows.lines.tolist() == [2, 3, 4]
    assert [rows.line_of(word) for word in range(3)] == [2, 2, 4]


def test_points_of_rows() -> None:
    data = b"v 1 2 3 red\nv 4 5 6 7\n"
    rows = rows_of(data, "a.obj", {b"v": 3})[b"v"]
    np.testing.assert_array_equal(points_of_rows(rows, data, "a.obj"), [[1, 2, 3], [4, 5, 6]])
    empty = rows_of(b"", "a.obj", {b"v": 3})[b"v"]
    assert points_of_rows(empty, b"", "a.obj").shape == (0, 3)
    for bad, line in ((b"v 1 2 3\nv 1 2\n", 2), (b"v 1 two 3\nv 1 2 3", 1), (b"v 1 2 3 4\n v 1 2 3_ \nv 1\n", 2)):
        with pytest.raises(RobotError, match=f"a.obj:{line}: .* does not have three numbers"):
            points_of_rows(rows_of(bad, "a.obj", {b"v": 3})[b"v"], bad, "a.obj")


def test_long_lines_are_refused() -> None:
    data = b"v 1 2 3\nv " + b"1 " * 6000 + b"\n"
    with pytest.raises(RobotError, match=r"a.obj:2: a line of 12003 bytes"):
        rows_of(data, "a.obj", {b"v": 3})


@pytest.mark.parametrize("piece", [1, 5, 10_000])
def test_numbers_are_those_of_python(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(text_numbers, "PIECE", piece)
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=50) * 10.0 ** rng.integers(-300, 300, size=50), [0.0, -0.0, np.inf]])
    words = [repr(float(x)) for x in values]
    np.testing.assert_array_equal(numbers("\n".join(words)), values)
    assert np.isnan(numbers("1 2 three 4")).any()
    assert len(numbers("")) == len(numbers(" \n")) == 0


def test_indices_are_whole_where_they_are_digits() -> None:
    found = indices(" 0 12\t345\r\n6\n")
    assert (found.dtype, found.tolist()) == (np.int64, [0, 12, 345, 6])
    assert len(indices("")) == len(indices(" \n ")) == 0
    # anything else is left to the checks of the caller
    assert indices("1 -2").tolist() == [1, -2]
    assert indices("1 2.5").tolist() == [1, 2.5]
    assert np.isnan(indices("1 - 2")).any()
    assert np.isnan(indices("1 2é")).any()
    # more than 64 bits is still too large for any mesh
    assert (indices("1 99999999999999999999") > 1e18).tolist() == [False, True]
