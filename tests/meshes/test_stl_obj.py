"""OBJ files: polygons, materials and points as a reader of one line at a time finds them."""

import numpy as np
import pytest

from pliant.errors import RobotError
from pliant.meshes.stl_obj import read_obj
from pliant.meshes.surfaces import fans


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
