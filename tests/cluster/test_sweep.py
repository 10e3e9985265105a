"""Sweeps: every trial is accounted for, none is computed twice, and a table says what became of each."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import swept_trials as trials

import pliant
from pliant.cluster import Table, load_sweep, points_of, status_of, sweep
from pliant.cluster.trials import Result, Trial, result_file
from pliant.environment import LogUniform, Normal, Uniform

TESTS = Path(__file__).parents[1]


# ---- spaces


def test_lists_span_a_grid_and_distributions_are_sampled_at_each_point() -> None:
    found = points_of({"a": [1, 2], "b": range(2), "c": "text"})
    assert found == [{"a": a, "b": b, "c": "text"} for a in (1, 2) for b in (0, 1)]
    found = points_of({"x": Uniform(0, 1), "a": [1, 2]}, samples=3, seed=4)
    assert [list(point) for point in found] == [["x", "a"]] * 6
    assert found == points_of({"x": Uniform(0, 1), "a": [1, 2]}, samples=3, seed=4)
    # what is drawn for a name does not hang on other names
    other = points_of({"x": Uniform(0, 1), "y": Normal(0, 1)}, samples=3, seed=4)
    assert [point["x"] for point in other] == [point["x"] for point in found[:3]]
    assert points_of([{"a": 1}, {"a": 2, "b": 3}]) == [{"a": 1}, {"a": 2, "b": 3}]


def test_a_latin_hypercube_has_one_sample_in_each_slice() -> None:
    n = 40
    points = points_of({"x": Uniform(-1, 1), "y": LogUniform(1, 100), "z": Normal(2, 3)}, samples=n, seed=1)
    x, y, z = (np.array([point[name] for point in points]) for name in "xyz")
    shares = [(x + 1) / 2, np.log(y) / math.log(100), [0.5 * (1 + math.erf((v - 2) / 3 / math.sqrt(2))) for v in z]]
    for share in shares:
        assert sorted(np.floor(np.asarray(share) * n).astype(int)) == list(range(n))
    # names are independent: 6 deviations of a correlation coefficient of n samples
    assert abs(np.corrcoef(x, z)[0, 1]) < 6 / math.sqrt(n)
    random = points_of({"x": Uniform(0, 1)}, samples=n, method="random", seed=1)
    assert len({math.floor(point["x"] * n) for point in random}) < n


@pytest.mark.parametrize(("space", "options", "field"), [
    ({"x": Uniform(0, 1)}, {}, "samples"),
    ({"x": [1]}, {"samples": 3}, "samples"),
    ({"x": [object()]}, {}, "x"),
    ({"x": [math.nan]}, {}, "x"),
    ({"x y": [1]}, {}, "name"),
    ({"x": []}, {}, "x"),
    (3, {}, "space"),
    ({"x": Uniform(0, 1)}, {"samples": 3, "method": "sobol"}, "method"),
])  # fmt: skip
def test_spaces_that_cannot_be_are_refused(space, options, field) -> None:
    with pytest.raises(pliant.PliantError) as error:
        points_of(space, **options)
    assert error.value.field == field


# ---- one sweep, looked at from all sides


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Table:
    out = tmp_path_factory.mktemp("sweep")
    (out / "notes").mkdir()
    plan = "..r.h.k..."
    space = {"k": range(len(plan)), "folder": str(out / "notes"), "plan": plan}
    return sweep(trials.fate, space, out=out / "a", workers=2, limit=1.0, retries=1, settings={"why": "test"})


def test_failures_are_rows(swept: Table) -> None:
    assert swept.counts == {"done": 7, "raised": 1, "timeout": 1, "killed": 1}
    raised, late, killed = swept.failures
    assert raised.error == "ValueError: trial 2 had to fail" and "swept_trials.py" in raised.traceback
    assert late.status == "timeout" and "in fate" in late.traceback and "swept_trials.py" in late.traceback
    assert killed.status == "killed" and killed.attempts == 2 and "signal 9" in killed.error
    assert np.isnan(swept["y"][[2, 4, 6]]).all() and np.array_equal(swept["y"][[0, 9]], np.sin([0.0, 9.0]))
    assert swept["word"][1] == "odd" and swept["word"][2] is None
    assert swept.best("y").values["k"] == int(np.nanargmax(swept["y"]))


def test_results_say_who_made_them(swept: Table) -> None:
    about = load_sweep(swept.folder)[0].about
    assert about["trial"] == "swept_trials:fate" and about["settings"] == {"why": "test"}
    assert about["versions"]["pliant"] == pliant.__version__ and about["source"] == Trial.of(trials.fate).source


def test_what_has_a_file_is_not_computed_again(swept: Table) -> None:
    notes, before = swept[0].values["folder"], len(os.listdir(swept[0].values["folder"]))
    space = [result.values for result in swept]
    again = sweep(trials.fate, space, out=swept.folder, workers=1)
    assert again.same_as(swept) and len(os.listdir(notes)) == before
    status = status_of(swept.folder)
    assert (status["left"], status["timeout"], status["running"]) == (0, 1, False)
    # failures are when asked for, and damaged files always
    result_file(Path(swept.folder), swept[0].key).write_bytes(b"PK damaged")
    again = sweep(trials.fate, space, out=swept.folder, workers=1, redo=["raised"])
    assert again.same_as(swept) and len(os.listdir(notes)) == before + 2


def test_tables_go_to_files(swept: Table, tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    swept.to_csv(tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[0].startswith("k,folder,plan,y,word,status,error") and len(lines) == 11
    swept.to_parquet(tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet").to_pydict()
    assert table["status"] == list(swept["status"]) and table["k"] == list(range(10))
    with pytest.raises(pliant.PliantError):
        swept["yy"]


def test_results_hold_arrays_and_numbers_that_json_has_not(tmp_path: Path) -> None:
    table = sweep(trials.square, {"x": [1.5, -2.0]}, out=tmp_path, workers=1)
    assert np.array_equal(table[0].results["path"], [0.0, 1.5, 3.0]) and list(table["y"]) == [2.25, 4.0]
    assert "path" not in table.columns
    made = Result("00", {"x": 1}, "done", {"a": math.inf, "b": [math.nan, 1], "c": {"d": 2.0}, "e": None})
    made.save(tmp_path)
    found = Result.load(result_file(tmp_path, "00"))
    assert found.results["a"] == math.inf and math.isnan(found.results["b"][0]) and found.results["b"][1] == 1
    assert found.results["c"] == {"d": 2.0} and found.results["e"] is None
    assert Table([made]).same_as(Table([found]))


def test_what_trials_return_and_raise(tmp_path: Path) -> None:
    table = sweep(trials.wrong, {"x": [1.0]}, out=tmp_path / "a", workers=1)
    assert "which no file can hold" in table[0].error
    table = sweep(trials.leaves, {"x": [1.0]}, out=tmp_path / "b", workers=1)
    assert table[0].error == "SystemExit: 3"
    table = sweep(trials.once_killed, {"x": [1.0], "folder": str(tmp_path)}, out=tmp_path / "c", workers=1, retries=1)
    assert table[0].status == "done" and table["result"][0] == 3.0 and table[0].attempts == 2


def test_sweeps_that_cannot_be_are_refused(tmp_path: Path) -> None:
    def inner(x: float) -> float:
        return x

    for trial, space, field in [
        (inner, {"x": [1]}, "function"), (trials.square, {"z": [1]}, "trial"), (3, {"x": [1]}, "trial"),
        (trials.square, [{"x": 1}, {"x": 1}], "space"), (trials.square, [], "space"),
    ]:  # fmt: skip
        with pytest.raises(pliant.PliantError) as error:
            sweep(trial, space, out=tmp_path, workers=1)  # type: ignore[arg-type]
        assert error.value.field == field
    for options, field in [({"on": "threads"}, "on"), ({"limit": 0}, "limit"), ({"redo": ["done"]}, "redo")]:
        with pytest.raises(pliant.PliantError) as error:
            sweep(trials.square, {"x": [1]}, out=tmp_path, **options)
        assert error.value.field == field


def test_a_changed_trial_does_not_mix_with_its_old_results(tmp_path: Path) -> None:
    module = tmp_path / "changing.py"
    module.write_text("def trial(x):\n    return x\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import changing  # type: ignore[import-not-found]

        space, out = {"x": [1, 2]}, tmp_path / "out"
        sweep(changing.trial, space, out=out, workers=1)
        module.write_text("def trial(x):\n    return 10 * x\n")
        with pytest.raises(pliant.PliantError) as error:
            sweep(changing.trial, space, out=out, workers=1)
        assert error.value.field == "changed"
        assert list(sweep(changing.trial, space, out=out, workers=1, changed="keep")["result"]) == [1, 2]
        assert list(sweep(changing.trial, space, out=out, workers=1, changed="again")["result"]) == [10, 20]
        with pytest.raises(pliant.PliantError, match="has a sweep of the trial"):
            sweep(trials.square, {"x": [1]}, out=out, workers=1)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("changing", None)


# ---- drivers that are killed, and scripts


SCRIPT = """
import sys
from pathlib import Path
import pliant

def trial(k, notes):
    import os, time
    (Path(notes) / f"{k}-{time.time_ns()}").touch()
    time.sleep(0.05)
    return {"y": k * k}

if __name__ == "__main__":
    pliant.sweep(trial, {"k": range(30), "notes": sys.argv[1]}, out=sys.argv[2], workers=2)
"""


def test_a_driver_that_is_killed_costs_what_was_in_flight(tmp_path: Path) -> None:
    script, notes, out = tmp_path / "run.py", tmp_path / "notes", tmp_path / "out"
    script.write_text(SCRIPT)
    notes.mkdir()
    command = [sys.executable, str(script), str(notes), str(out)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment) as driver:
        until = time.monotonic() + 300
        while len(list(out.glob("trials/*.npz"))) < 5 and time.monotonic() < until:
            time.sleep(0.01)
        assert status_of(out)["running"]
        with pytest.raises(pliant.PliantError, match="another sweep is running"):
            sweep(trials.square, {"x": [1]}, out=out)
        driver.send_signal(signal.SIGKILL)
    while status_of(out)["running"]:
        time.sleep(0.05)
    assert 5 <= len(load_sweep(out)) < 30
    subprocess.run(command, env=environment, check=True, timeout=300)
    table = load_sweep(out)
    assert table.counts["done"] == 30 and list(table["y"]) == [k * k for k in range(30)]
    # two workers were at one trial each when the driver was killed
    assert 30 <= len(os.listdir(notes)) <= 32


def test_a_script_without_a_guard_is_told_to_have_one(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(SCRIPT.replace('if __name__ == "__main__":', "if True:"))
    command = [sys.executable, str(script), str(tmp_path), str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert found.returncode and "if __name__ == '__main__':" in found.stderr


def test_the_command_reads_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pliant.cli import main

    (tmp_path / "own.py").write_text("def trial(kp, seed, mass):\n    return {'score': kp * mass + seed}\n")
    (tmp_path / "sweep.toml").write_text(
        'trial = "own.py:trial"\nout = "results"\nworkers = 1\nsamples = 2\n'
        "[space]\nkp = [10, 20]\nseed = {range = [0, 2]}\nmass = {uniform = [1.0, 2.0]}\n"
    )
    with pytest.raises(SystemExit) as end:
        main(["sweep", str(tmp_path / "sweep.toml"), "--json"])
    assert not end.value.code
    found = json.loads(capsys.readouterr().out)
    assert found["done"] == 8 and Path(found["table"]).read_text().startswith("kp,seed,mass,score,status")
    with pytest.raises(SystemExit) as end:
        main(["sweep", "--status", str(tmp_path / "results")])
    assert not end.value.code and "8: 8 done, 0 left" in capsys.readouterr().out
    (tmp_path / "sweep.toml").write_text('trial = "own.py:trial"\nout = "results"\n[space]\nkp = {unifrom = [1, 2]}\n')
    with pytest.raises(SystemExit) as end:
        main(["sweep", str(tmp_path / "sweep.toml")])
    assert end.value.code == 1 and "sweep.toml:4" in capsys.readouterr().err


def test_jobs_of_submitit_on_this_machine(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    plan = ".rk."
    space = {"k": range(4), "folder": str(tmp_path / "notes"), "plan": plan}
    options = {"cluster": "local", "timeout_min": 2}
    table = sweep(trials.fate, space, out=tmp_path / "out", on="slurm", workers=2, retries=0, limit=20, slurm=options)
    assert list(table["status"]) == ["done", "raised", "killed", "done"]
    with pytest.raises(pliant.PliantError) as error:
        sweep(trials.fate, space, out=tmp_path / "b", on="slurm", slurm={"cluster": "local", "minutes": 2})
    assert error.value.field == "slurm"
