"""Arrays with a description in one file: what is written is read, and nothing else is."""

import io
import zipfile

import numpy as np
import pytest

from pliant.errors import PliantError
from pliant.files.arrays import read_arrays, write_arrays

ABOUT = {"name": "a leg", "numbers": [1, 2.5], "nested": {"yes": True}}
ARRAYS = {"x": np.arange(6.0).reshape(2, 3), "part/k": np.array(3), "flags": np.array([True, False]),
          "empty": np.zeros((0, 4), np.float32)}  # fmt: skip


def test_what_is_written_is_read(tmp_path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, "a test", ABOUT, ARRAYS)
    about, arrays = read_arrays(path, "a test")
    assert about == ABOUT and arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype
    before = path.read_bytes()
    write_arrays(path, "a test", ABOUT, ARRAYS)
    assert path.read_bytes() == before


def test_other_kinds_sizes_and_descriptions(tmp_path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, "a test", ABOUT, ARRAYS)
    with pytest.raises(PliantError, match="is a 'a test'"):
        read_arrays(path, "another")
    with pytest.raises(PliantError, match="at most"):
        read_arrays(path, "a test", most=10)
    for about in ({"x": np.nan}, {"x": object()}):
        with pytest.raises(PliantError) as caught:
            write_arrays(tmp_path / "b.npz", "a test", about, {})
        assert caught.value.field == "about" and not (tmp_path / "b.npz").exists()


def test_damage_and_objects_are_refused(tmp_path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, "a test", ABOUT, ARRAYS)
    content = path.read_bytes()
    for k in range(0, len(content), 37):
        path.write_bytes(content[:k] + bytes([content[k] ^ 0x55]) + content[k + 1 :])
        try:
            # a flipped bit is found, or it was one that says nothing
            about, arrays = read_arrays(path, "a test")
            assert about == ABOUT and all(np.array_equal(arrays[name], ARRAYS[name]) for name in arrays)
        except PliantError:
            pass
    for name in ("x.npy", "about.json"):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("about.json", '{"kind": "a test", "about": {}}' if name == "x.npy" else "[")
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.array([{}], dtype=object))
            archive.writestr("x.npy", stream.getvalue())
        path.write_bytes(made.getvalue())
        with pytest.raises(PliantError, match="is damaged"):
            read_arrays(path, "a test")
