"""Chunks are unpacked here as the HDF5 library does it, and those whose sizes are wrong are refused."""

import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest

import pliant
from pliant.storage.chunks import Chunks, DamagedChunkError, fletcher32
from simulated_robots import LEG

TYPES = ("f8", "f4", ">f8", "i8", "u1", "?", "c16", ">i4")
PACKINGS = (
    {},
    {"fletcher32": True},
    {"compression": "gzip", "compression_opts": 1, "shuffle": True, "fletcher32": True},
    {"compression": "gzip", "shuffle": True},
)


def numbers(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    found = np.random.default_rng(5).normal(size=shape) * 100
    return (found > 0) if dtype == "?" else found.astype(dtype)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_are_those_that_the_library_reads(dtype: str, packing: dict, tmp_path: Path) -> None:
    data = numbers(dtype, (5, 23, 3))
    with h5py.File(tmp_path / "x.h5", "w", libver=("v110", "v110")) as file:
        made = file.create_dataset("x", data=data, maxshape=(5, None, 3), chunks=(2, 7, 3), **packing)
        ours = Chunks(made)
        assert np.array_equal(ours.read(()), made[()]) and ours.read(()).dtype == made.dtype
        for steps in (slice(3, 20), slice(0, 0), slice(2, 23, 5), slice(6, 7), slice(1, None, 11)):
            assert np.array_equal(ours[:, steps], made[:, steps])
            for robots in ([0], [4, 1, 1, 3], [2, 3]):
                expected = np.stack([made[k, steps] for k in robots])
                assert np.array_equal(ours.read((robots, steps)), expected)


@pytest.mark.parametrize("size", [1, 2, 3, 359, 720, 721, 65536, 131073, 200_000])
@pytest.mark.parametrize("kind", ["random", "zeros", "ones"])
def test_checksums_are_those_of_the_library(size: int, kind: str, tmp_path: Path) -> None:
    """Also of sums that are multiples of 65535, which ends that are carried around leave as such."""
    data = {"random": np.random.default_rng(size).integers(0, 256, size), "zeros": np.zeros(size),
            "ones": np.full(size, 255)}[kind].astype("u1")  # fmt: skip
    with h5py.File(tmp_path / "x.h5", "w") as file:
        stored = file.create_dataset("x", data=data, chunks=(size,), fletcher32=True).id.read_direct_chunk((0,))[1]
    assert fletcher32(stored[:-4]) == int.from_bytes(stored[-4:], "little")


def sealed(data: bytes) -> bytes:
    return data + fletcher32(data).to_bytes(4, "little")


@pytest.mark.parametrize(("stored", "words"), [
    (b"abc", "no checksum"),
    (b"\0" * 12, "cannot be unpacked"),
    (sealed(b"\0" * 8)[:-1] + b"\1", "a checksum of numbers is wrong"),
    (sealed(zlib.compress(bytes(8 * 7))), "not as many numbers"),
    (sealed(zlib.compress(bytes(8 * 9))), "ends within a number"),
    (sealed(zlib.compress(bytes(8 * 10**7))), "ends within a number"),
    (sealed(zlib.compress(bytes(8 * 8 - 1))), "ends within a number"),
    (zlib.compress(bytes(8 * 8)), "a checksum of numbers is wrong"),
])  # fmt: skip
def test_chunks_of_a_wrong_size(stored: bytes, words: str, tmp_path: Path) -> None:
    """The library reads beyond its memory when it unpacks some of these (found by `bench.fuzz`)."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        options = {"compression": "gzip", "shuffle": True, "fletcher32": True}
        made = file.create_dataset("x", (8,), float, chunks=(8,), **options)
        with pytest.raises((OSError, RuntimeError), match=r"not allocated|a size that cannot be"):
            Chunks(made).read(())
        made.id.write_direct_chunk((0,), stored)
        with pytest.raises(DamagedChunkError, match=words):
            Chunks(made).read(())


def test_logs_keep_to_the_form_that_is_read(tmp_path: Path) -> None:
    """Datasets of other forms are refused, whatever the library could make of them."""
    path = pliant.Simulation(LEG, dt=1e-3).run(0.01).save(tmp_path / "run.h5")
    for options in ({}, {"chunks": (4, LEG.nv), "scaleoffset": 3}):
        with h5py.File(path, "r+") as file:
            del file["channels/v"]
            file["channels"].create_dataset("v", data=np.zeros((11, LEG.nv)), **options)
        with pytest.raises(
            pliant.PliantError, match=r"not stored in the way of Pliant|filter that Pliant does not use"
        ):
            pliant.load_log(path)


@pytest.mark.parametrize("value", [np.zeros(1000), np.array([1, 2]), 1.5, b"log", [[1.0]]])
def test_marks_that_are_no_text(value, tmp_path: Path) -> None:
    path = pliant.Simulation(LEG, dt=1e-3).run(0.01).save(tmp_path / "run.h5")
    with h5py.File(path, "r+") as file:
        file.attrs["format"] = value
    with pytest.raises(pliant.PliantError, match=r"not a log of Pliant|not a text or a number"):
        pliant.load_log(path)
    with h5py.File(path, "r+") as file:
        # a list of any length: in a file that was made to do harm the library follows what cannot be
        lists = np.empty(1, object)
        lists[0] = np.array([1, 2])
        file.attrs.create("format", lists, dtype=h5py.vlen_dtype(int))
    with pytest.raises(pliant.PliantError, match="'format' at '/' of the log is not a text or a number"):
        pliant.load_log(path)
