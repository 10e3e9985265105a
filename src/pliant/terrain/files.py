"""Terrain from files: heights from arrays, tables and images, and grids of patches from TOML."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check_at_least, check_finite
from pliant.errors import ContactError, PliantError, bad_value, needs, unknown_name
from pliant.files.toml import TomlFile
from pliant.scalar.ops import MOST_ENTRIES
from pliant.signatures import explained
from pliant.terrain.height_field import HeightField, check_count
from pliant.terrain.patches import Kind, Terrain, grid

IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
TABLES = (".csv", ".txt", ".npy")

# bytes of a number in a table, with its comma: longer ones are no heights
_LONGEST_NUMBER = 30
# of grid, but for kinds
_OPTIONS = ("levels", "size", "spacing", "platform", "border", "seed", "friction", "restitution")
# kinds that are added to a kind that is added
_DEEPEST = 8


@explained
def load_heights(path: str | Path, *, spacing: float, height: float = 1, lowest: float = 0) -> HeightField:
    """Heights from a file, around the origin.

    | file | heights |
    |---|---|
    | .npy | an array, x first, times ``height`` [m] |
    | .csv, .txt | numbers with commas, semicolons or blanks between them; a line has all y of one x; times ``height`` |
    | .png, .jpg, .tif | brightness, black at zero and white at ``height`` [m], 8 or 16 bits; right is x, up is y |

    Args:
        path: of the file.
        spacing: between points or pixels [m].
        height: of white, or of the number 1 [m].
        lowest: added to all heights [m].
    """
    file = Path(path)
    check_at_least("spacing", spacing, 0, strict=True, subject=str(file))
    check_finite("height", height, lowest, subject=str(file), error=ContactError)
    readers: dict[str, Callable[[Path], np.ndarray]] = dict.fromkeys(IMAGES, _image)
    readers |= {".npy": _array, ".csv": _table, ".txt": _table}
    if file.suffix.lower() not in readers:
        raise ContactError(bad_value("path", str(path), f"a file that ends in {', '.join(readers)}", "load_heights"))
    if not file.is_file():
        raise ContactError("no such file", subject=str(file), field="path", cure="give the path of a file").at(file)
    try:
        return HeightField(lowest + height * readers[file.suffix.lower()](file), spacing)
    except ContactError as error:
        raise error.at(file) from None


def _array(file: Path) -> np.ndarray:
    try:
        # as a map, so that its size is known before it is read
        found = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable("array", error) from None
    if found.ndim == 2:
        check_count(found.shape, 1, "the file")
    if found.dtype.kind not in "fiub":
        raise _unreadable("array", f"its entries are {found.dtype}")
    return np.asarray(found, dtype=float)


def _table(file: Path) -> np.ndarray:
    if file.stat().st_size > MOST_ENTRIES * _LONGEST_NUMBER:
        raise _unreadable("table", f"it has {file.stat().st_size / 1e6:.0f} MB")
    try:
        text = file.read_text(encoding="utf-8-sig")
        rows = [line.replace(",", " ").replace(";", " ").split() for line in text.splitlines()]
        numbers = [[float(word) for word in row] for row in rows if row and not row[0].startswith("#")]
    except (OSError, ValueError) as error:
        raise _unreadable("table", error) from None
    if len({len(row) for row in numbers}) > 1:
        raise _unreadable("table", "its lines have different numbers of entries")
    return np.array(numbers, dtype=float)


def _image(file: Path) -> np.ndarray:
    needs("PIL", "view", "reading images")
    from PIL import Image

    try:
        with Image.open(file, formats=("PNG", "JPEG", "TIFF")) as image:
            check_count((image.width, image.height), 1, "the image")
            if image.mode in ("L", "1"):
                pixels, white = np.asarray(image.convert("L"), dtype=float), 255
            elif image.mode.startswith("I"):
                pixels, white = np.asarray(image, dtype=float), 65535
            elif image.mode in ("RGB", "RGBA", "P", "LA"):
                pixels, white = np.asarray(image.convert("RGB").convert("L"), dtype=float), 255
            else:
                raise _unreadable("image", f"its mode is {image.mode}")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise _unreadable("image", error) from None
    return pixels[::-1].T / white


def _unreadable(what: str, reason: object) -> ContactError:
    cure = {
        "array": "save an array of real numbers with numpy.save",
        "table": "it takes numbers with commas, as many on each line",
        "image": "it takes PNG, JPEG and TIFF images in grey or colour, with 8 or 16 bits",
    }[what]
    return ContactError(f"not a readable {what}: {reason}", field="heights", cure=cure)


# ---- grids of patches


@explained
def load_terrain(path: str | Path) -> Terrain:
    """A grid of patches from a TOML file.

    Keys are the arguments of `grid`; every table is a kind, by the name of the table, with the arguments of `Kind`.
    ``generator`` is the name of the table if it is left out. A table ``plus`` in a kind is added to it.

        levels = 5
        [stairs]
        generator = "steps"
        rise = [0.05, 0.2]
        run = 0.3
        [stairs.plus]
        generator = "rough"
        rms = 0.01
    """
    toml = TomlFile(path, ContactError)
    kinds: dict[str, Kind] = {}
    options: dict[str, Any] = {}
    for key, value in toml.document.items():
        if isinstance(value, dict):
            kinds[key] = _kind(toml, (key,), value)
        elif key in _OPTIONS:
            options[key] = value
        else:
            raise ContactError(unknown_name("key", key, _OPTIONS)).at(*toml.place(key))
    if not kinds:
        problem, cure = "the file has no kinds of terrain", "add a table, such as [steps] with rise = [0.05, 0.2]"
        raise ContactError(problem, subject=str(path), field="kinds", cure=cure).at(path)
    try:
        return grid(kinds, **options)
    except PliantError as error:
        raise error.at(*toml.place(error.field)) from None


def _kind(toml: TomlFile, key: tuple[str, ...], table: dict[str, Any]) -> Kind:
    own = dict(table)
    plus = own.pop("plus", None)
    generator = own.pop("generator", key[-1])
    try:
        if not isinstance(generator, str):
            raise ContactError(bad_value("generator", generator, "the name of a generator", ".".join(key)))
        for name, value in own.items():
            if isinstance(value, dict):
                raise ContactError(bad_value(name, value, "a number or a pair of numbers", ".".join(key)))
        made = Kind(generator, **own)
        if plus is None:
            return made
        if not isinstance(plus, dict) or len(key) > _DEEPEST:
            raise ContactError(bad_value("plus", plus, "a table with a generator and its numbers", ".".join(key)))
    except PliantError as error:
        raise error.at(*toml.place(*key, error.field)) from None
    return made + _kind(toml, (*key, "plus"), plus)
