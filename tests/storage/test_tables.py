"""What other programs read of a log holds the same numbers."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import pliant
from simulated_robots import LEG, LEG_Q


@pytest.fixture(scope="module")
def one() -> pliant.Log:
    return run(None)


@pytest.fixture(scope="module")
def batch() -> pliant.Log:
    return run(2)


def run(batch: int | None) -> pliant.Log:
    sim = pliant.Simulation(LEG, ground=pliant.flat(), batch=batch)
    sim.reset(q=LEG_Q, v=[0.3, 0, 0, 0.1, 0.2, 0.3, 0, 0])
    return sim.run(0.06, every=3)


def rows(log: pliant.Log) -> dict[str, np.ndarray]:
    """Columns of the table that is wanted."""
    flat = log.to_dict()
    if log.batch is None:
        return flat
    t = flat.pop("t")
    lead = {"robot": np.repeat(np.arange(log.batch), len(t)), "t": np.tile(t, log.batch)}
    return lead | {name: array.reshape(-1) for name, array in flat.items()}


@pytest.mark.parametrize("name", ["one", "batch"])
def test_tables(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    log: pliant.Log = request.getfixturevalue(name)
    wanted = rows(log)
    with log.to_csv(tmp_path / "run.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    assert head == list(wanted) and "forces.toe.z" in head
    table = pyarrow.parquet.read_table(log.to_parquet(tmp_path / "run.parquet"))
    assert table.column_names == head and json.loads(table.schema.metadata[b"pliant"])["robot"] == LEG.name
    for k, (column, array) in enumerate(wanted.items()):
        assert np.array([float(line[k]) for line in lines]).tobytes() == array.astype(float).tobytes()
        found = table[column].to_numpy()
        assert found.tobytes() == array.astype(found.dtype).tobytes()


def test_single_precision_and_odd_numbers(tmp_path: Path) -> None:
    x = np.array([0.1, np.nan, -np.inf, -0.0], dtype=np.float32)
    log = pliant.Log(np.arange(4.0), {"x": x, "n": np.arange(4)})
    with log.to_csv(tmp_path / "x.csv").open() as file:
        assert file.read() == "t,x,n\n0.0,0.1,0\n1.0,nan,1\n2.0,-inf,2\n3.0,-0.0,3\n"
    table = pyarrow.parquet.read_table(log.to_parquet(tmp_path / "x.parquet"))
    assert table["x"].to_numpy().tobytes() == x.tobytes() and table["x"].type == "float"


def test_arrays(batch: pliant.Log, tmp_path: Path) -> None:
    with np.load(batch.to_npz(tmp_path / "run.npz")) as found:
        assert set(found) == {"t", "about.json", *batch.channels}
        assert all(found[name].tobytes() == batch[name].tobytes() for name in ("t", *batch.channels))
        about = json.loads(found["about.json"])
    assert about["columns"]["q"] == list(batch.columns["q"]) and about["settings"]["dt"] == 1e-3
