"""Faces and colours of mesh files: as trimesh reads them, and files that are broken or reach for others."""

from pathlib import Path

import numpy as np
import pytest
import trimesh
from PIL import Image

from pliant.errors import RobotError
from pliant.meshes import MeshFile
from real_robots import PATHS

SHARE = PATHS["panda_description/panda.urdf"].parents[2]

QUAD = "v 0 0 0\nv 2 0 0\nv 2 3 0\nv 0 3 0\n"
MATERIALS = "newmtl red\nKd 1 0 0\nd 0.5\nnewmtl blue\nKd 0 0 1\n"


def area(surface) -> float:
    a, b, c = (surface.points[surface.faces[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=-1).sum() / 2)


def dae(faces: str, material: str = "<color>0.2 0.4 0.6 1</color>", images: str = "", more: str = "") -> str:
    return f"""<COLLADA version="1.4.1"><asset><unit meter="0.1"/></asset>{images}
      <library_effects><effect id="e"><profile_COMMON>{more}<technique sid="c"><phong><diffuse>{material}</diffuse>
        </phong></technique></profile_COMMON></effect></library_effects>
      <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
      <library_geometries><geometry id="g"><mesh>
        <source id="s"><float_array id="a" count="12">0 0 0 2 0 0 2 3 0 0 3 0</float_array>
          <technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>
        <source id="t"><float_array id="b" count="8">0 0 0.9 0 0.9 0.9 0 0.9</float_array>
          <technique_common><accessor source="#b" count="4" stride="2"/></technique_common></source>
        <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>{faces}
      </mesh></geometry></library_geometries>
      <library_visual_scenes><visual_scene id="w"><node><instance_geometry url="#g"><bind_material><technique_common>
        <instance_material symbol="paint" target="#m"/></technique_common></bind_material></instance_geometry></node>
      </visual_scene></library_visual_scenes>
      <scene><instance_visual_scene url="#w"/></scene></COLLADA>"""


INPUTS = '<input semantic="VERTEX" source="#v" offset="0"/><input semantic="TEXCOORD" source="#t" offset="0"/>'


def read(folder: Path, name: str, text: str):
    (folder / name).write_text(text)
    return MeshFile(name, folder).surfaces()


@pytest.mark.parametrize(
    ("faces", "triangles"),
    [
        (f'<triangles material="paint">{INPUTS}<p>0 1 2 0 2 3</p></triangles>', 2),
        (f'<polylist material="paint">{INPUTS}<vcount>4</vcount><p>0 1 2 3</p></polylist>', 2),
        (f'<polygons material="paint">{INPUTS}<p>0 1 2 3</p></polygons>', 2),
        (f'<trifans material="paint">{INPUTS}<p>0 1 2 3</p></trifans>', 2),
        (f'<tristrips material="paint">{INPUTS}<p>0 1 3 2</p></tristrips>', 2),
    ],
)
def test_collada_faces_of_every_kind(tmp_path: Path, faces: str, triangles: int) -> None:
    (surface,) = read(tmp_path, "a.dae", dae(faces))
    assert len(surface.faces) == triangles
    assert area(surface) == pytest.approx(6e-2)  # 2 by 3, in units of 0.1 m
    assert surface.color == (0.2, 0.4, 0.6, 1)
    a, b, c = (surface.points[surface.faces[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()  # all of them turn the same way


def test_a_texture_becomes_colours(tmp_path: Path) -> None:
    # left half red, right half blue, as texture coordinates from 0 to 0.9 see it
    pixels = np.zeros((8, 8, 3), dtype=np.uint8)
    pixels[:, :4, 0] = pixels[:, 4:, 2] = 255
    Image.fromarray(pixels).save(tmp_path / "image.png")
    images = '<library_images><image id="i"><init_from>image.png</init_from></image></library_images>'
    more = '<newparam sid="f"><surface><init_from>i</init_from></surface></newparam>'
    more += '<newparam sid="p"><sampler2D><source>f</source></sampler2D></newparam>'
    faces = f'<triangles material="paint">{INPUTS}<p>0 1 2 0 2 3</p></triangles>'
    found = read(tmp_path, "a.dae", dae(faces, '<texture texture="p" texcoord="u"/>', images, more))
    # the middle of the first triangle is at 0.6, of the second at 0.3
    assert {s.color: len(s.faces) for s in found} == {(1, 0, 0, 1): 1, (0, 0, 1, 1): 1}

    outside = images.replace("image.png", "../image.png")
    (plain,) = read(tmp_path, "b.dae", dae(faces, '<texture texture="p" texcoord="u"/>', outside, more))
    assert plain.color is None


def test_obj_faces_by_material(tmp_path: Path) -> None:
    (tmp_path / "a.mtl").write_text(MATERIALS)
    text = f"mtllib a.mtl\n{QUAD}usemtl red\nf 1 2 3 4\nusemtl blue\nf -4/1/1 -3/2/2 -2/3/3\n"
    red, blue = read(tmp_path, "a.obj", text)
    assert (red.color, blue.color) == ((1, 0, 0, 0.5), (0, 0, 1, 1))
    assert (area(red), area(blue)) == (6, 3)


def test_materials_outside_are_not_opened(tmp_path: Path) -> None:
    inside = tmp_path / "robot"
    inside.mkdir()
    (tmp_path / "a.mtl").write_text(MATERIALS)
    (surface,) = read(inside, "a.obj", f"mtllib ../a.mtl\n{QUAD}usemtl red\nf 1 2 3\n")
    assert surface.color is None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.obj", f"{QUAD}f 1 2 9\n", "names a point that is not in the file"),
        ("a.obj", f"{QUAD}f 1 2 x\n", "names a point that is not in the file"),
        ("a.dae", dae(f"<triangles>{INPUTS}<p>0 1 9</p></triangles>"), "not in the file"),
        ("a.dae", dae(f"<triangles>{INPUTS}<p>0 1 -1</p></triangles>"), "not in the file"),
        ("a.dae", dae(f"<triangles>{INPUTS}<p>0 1 nan</p></triangles>"), "not numbers"),
        ("a.dae", dae(f"<polylist>{INPUTS}<vcount>400</vcount><p>0 1 2</p></polylist>"), "more corners than there are"),
        ("a.dae", dae("<triangles><p>0 1 2</p></triangles>"), "no offsets"),
        ("a.ply", "ply", "no reader for meshes of this kind"),
    ],
)
def test_broken_faces(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(RobotError, match=message):
        read(tmp_path, name, text)


def test_points_without_faces_are_no_surface(tmp_path: Path) -> None:
    assert read(tmp_path, "a.obj", QUAD) == ()


def test_a_file_is_read_again_if_it_changes(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text(f"{QUAD}f 1 2 3\n")
    mesh = MeshFile("a.obj", tmp_path)
    (first,) = mesh.surfaces()
    assert mesh.surfaces()[0].points is first.points
    with pytest.raises(ValueError, match="read-only"):
        first.points[0] = 1
    (tmp_path / "a.obj").write_text(f"{QUAD}f 1 2 3 4\n")
    assert len(mesh.surfaces()[0].faces) == 2
    (tmp_path / "a.obj").unlink()
    with pytest.raises(RobotError, match=r"a\.obj"):
        mesh.surfaces()


@pytest.mark.parametrize(
    "file",
    [
        "hyq_description/meshes/trunk/trunk.dae",
        "panda_description/meshes/visual/link1.dae",
        "bolt_description/meshes/stl/bolt_body.stl",
    ],
)
def test_area_is_that_of_trimesh(file: str) -> None:
    path = SHARE / file
    ours = sum(area(s) for s in MeshFile(path.name, path.parent).surfaces())
    theirs = trimesh.load(path, force="mesh").area
    # trimesh merges points and drops faces without area; single precision in STL
    assert ours == pytest.approx(theirs, rel=1e-4)
