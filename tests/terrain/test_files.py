"""Terrain from files: arrays, tables and images with their axes, grids from TOML, and files that are none."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pliant import terrain
from pliant.errors import ContactError, PliantError
from pliant.terrain.height_field import QUANTUM

RNG = np.random.default_rng(3)
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "<i2", "|u1"])
def test_arrays(tmp_path: Path, dtype: str) -> None:
    numbers = RNG.integers(0, 100, size=(5, 8)).astype(dtype)
    np.save(tmp_path / "map.npy", numbers)
    field = terrain.load_heights(tmp_path / "map.npy", spacing=0.2, height=0.01, lowest=-1)
    np.testing.assert_allclose(field.heights, 0.01 * numbers.astype(float) - 1, rtol=0, atol=QUANTUM)
    assert field.spacing == 0.2 and field.center == pytest.approx((0, 0))


@pytest.mark.parametrize("text", ["0, 1,2\n3,4,5\n", "# x first\n0;1;2\n3;4;5", "\ufeff0 1\t2\r\n\r\n3 4 5\r\n"])
def test_tables(tmp_path: Path, text: str) -> None:
    (tmp_path / "map.csv").write_text(text, encoding="utf-8")
    field = terrain.load_heights(tmp_path / "map.csv", spacing=0.5)
    assert field.heights.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("bits", [8, 16])
def test_images_have_x_to_the_right_and_y_up(tmp_path: Path, bits: int) -> None:
    white = 2**bits - 1
    pixels = RNG.integers(0, white + 1, size=(4, 6)).astype(np.uint8 if bits == 8 else np.uint16)
    pixels[0, 0], pixels[0, 5], pixels[3, 5] = white, 0, white // 3  # top left, top right, bottom right
    Image.fromarray(pixels).save(tmp_path / "map.png")
    field = terrain.load_heights(tmp_path / "map.png", spacing=0.1, height=2)
    assert field.heights.shape == (6, 4)
    assert field.heights[0, -1] == 2 and field.heights[-1, -1] == 0
    assert field.heights[-1, 0] == pytest.approx(2 / 3, abs=QUANTUM)
    np.testing.assert_allclose(field.heights[2, 1], 2 * float(pixels[2, 2]) / white, rtol=0, atol=QUANTUM)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "LA", "1"])
def test_colours_are_their_brightness(tmp_path: Path, mode: str) -> None:
    grey = Image.fromarray(np.array([[0, 255], [255, 0]], dtype=np.uint8))
    grey.convert(mode).save(tmp_path / "map.png")
    field = terrain.load_heights(tmp_path / "map.png", spacing=0.1)
    assert field.heights.tolist() == [[1, 0], [0, 1]]


def test_a_grid_from_toml(tmp_path: Path) -> None:
    made = terrain.load_terrain(ROOT / "examples" / "terrain.toml")
    assert made.columns == ("stairs", "pit", "rough", "stepping_stones", "mixed")
    assert made.levels == 3 and made.size == pytest.approx(5)
    same = terrain.grid(
        {"mixed": terrain.Kind("slope", angle=(0.05, 0.2)) + terrain.Kind("tiles", side=0.4, height=(0.02, 0.06))},
        levels=3, size=5, platform=0.8, seed=7,
    )  # fmt: skip
    n = 100
    own = made.field.heights[20 : 20 + 3 * n, 20 + 4 * n : 20 + 5 * n]
    assert (own == same.field.heights[20:-20, 20:-20]).all()


@pytest.mark.parametrize("text, field, line", [
    ("levls = 3\n[flat]\n", "key", 1),
    ("levels = 0\n[flat]\n", "levels", 1),
    ("seed = 1\n\n[stp]\nrise = 1\n", "generator", 3),
    ("[steps]\nrise = 0.1\nrun = 0.3\nrunn = 1\n", "number", 1),
    ("[steps]\nrise = [0.1, 0.2, 0.3]\nrun = 0.3\n", "rise", 2),
    ("[a]\ngenerator = 3\n", "generator", 2),
    ("[flat]\nplus = 3\n", "plus", 2),
    ("[flat]\n[flat.plus]\ngenerator = \"tile\"\n", "generator", 3),
    ("[flat]\n[flat.more]\nx = 1\n", "more", 2),
    ("levels = 2\n", "kinds", None),
    ("[slope]\nangle = [0, 2]\n", "angle", None),
    ("size = \"a\"\n[flat]\n", "size", 1),
    ("[flat\n", "", 1),
])  # fmt: skip
def test_wrong_toml_says_where(tmp_path: Path, text: str, field: str, line: int | None) -> None:
    path = tmp_path / "terrain.toml"
    path.write_text(text)
    with pytest.raises(PliantError) as caught:
        terrain.load_terrain(path)
    assert caught.value.field == field
    assert caught.value.place is not None and caught.value.place.file == str(path)
    assert line is None or caught.value.place.line == line
    assert caught.value.cure


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_files_that_are_none(tmp_path: Path) -> None:
    np.save(tmp_path / "three.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "text.npy", np.array([["a", "b"], ["c", "d"]]))
    np.save(tmp_path / "objects.npy", np.array([[{}, None], [1, 2]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "nan.npy", np.array([[0, np.nan], [1, 2]]))
    header = (
        np.lib.format.magic(1, 0) + b"\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (9000, 9000), }"
    )
    files = [
        tmp_path / "three.npy", tmp_path / "text.npy", tmp_path / "objects.npy", tmp_path / "nan.npy",
        write(tmp_path / "cut.npy", header.ljust(128, b" ")),
        write(tmp_path / "noise.npy", b"\x93NUMPY nothing"),
        write(tmp_path / "empty.npy", b""),
        write(tmp_path / "ragged.csv", b"1,2\n3\n"),
        write(tmp_path / "words.csv", b"a,b\nc,d\n"),
        write(tmp_path / "empty.csv", b""),
        write(tmp_path / "bytes.csv", b"\xff\xfe\x00"),
        write(tmp_path / "noise.png", b"\x89PNG nothing"),
        tmp_path / "absent.png", tmp_path / "map.bmp", tmp_path,
    ]  # fmt: skip
    for file in files:
        with pytest.raises(ContactError) as caught:
            terrain.load_heights(file, spacing=0.1)
        assert caught.value.cure, file
        assert file.name in str(caught.value)
    with pytest.raises(ContactError) as caught:
        terrain.load_heights(tmp_path / "three.npy", spacing=0)
    assert caught.value.field == "spacing"


def test_large_images_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    Image.new("1", (6000, 4000)).save(path)
    with pytest.raises(ContactError, match="6000 x 4000 points"):
        terrain.load_heights(path, spacing=0.1)
