"""What the benchmarks make of their measurements: marks, exit codes, figures of the solver, tables of README."""

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from bench.convergence import convergence
from bench.readme import PAGES, written
from bench.readme_tables import BLOCKS
from bench.report import CheckError, Report, failed, options_of
from bench.timing import best_times
from bench.whole_run import BENCHMARKS, about

ROOT = Path(__file__).parents[2]


def options(*arguments: str) -> argparse.Namespace:
    return options_of("a benchmark").parse_args(arguments)


# ---- tables that go on


def broken():
    yield {"robot": "b", "us": 2.0}
    raise CheckError("it is another robot")


def test_a_failed_check_is_marked_and_the_rows_after_it_follow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = Report(options("--output", str(tmp_path / "deep" / "found.json")))
    wrong = {"robot": "a", "us": 1.0} | failed("a", "does not stand")
    parts = {
        "a": lambda: [wrong],
        "b": broken,
        "c": lambda: [{"robot": "c", "us": 3.0, "note": "an aside"}],
    }
    rows = report.table("steps", "a table", parts)
    assert [row["robot"] for row in rows] == ["a", "b", "b", "c"]
    assert rows[2]["us"] is None
    with pytest.raises(SystemExit) as ended:
        report.finish()
    assert ended.value.code == 1
    shown = capsys.readouterr().out
    assert "*1 FAILED: a: does not stand" in shown
    assert "it is another robot" in shown
    assert "note: an aside" in shown
    found = json.loads((tmp_path / "deep" / "found.json").read_text())
    assert len(found["failures"]) == 2  # a note is none
    assert len(found["steps"]) == 4


def test_a_table_whose_first_part_fails_still_has_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    def never():
        raise ValueError("no such robot")

    rows = Report(options()).table("t", "a table", {"a": never, "b": lambda: [{"robot": "b", "us": 1.0}]})
    assert rows[0]["failed"] == "a: ValueError: no such robot"
    assert "robot     us" in capsys.readouterr().out


def test_without_failures_the_program_goes_on_and_json_is_all_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(options("--json"), batch=4)
    report.table("t", "a table", {"a": lambda: [{"robot": "a"} | failed("a", "")]})
    report.finish()
    assert json.loads(capsys.readouterr().out) == {"short": False, "batch": 4, "t": [{"robot": "a"}], "failures": []}


# ---- figures


def test_the_slowest_lane_of_each_group_counts_at_each_step() -> None:
    solver = np.zeros((5, 2, 4))
    solver[:, :, 1] = [[1, 8], [4, 2], [3, 3], [1, 1], [7, 5]]  # groups of two: 4 8, 3 3, 7 5
    solver[0, 0, 0], solver[1, 1, 0], solver[4, 0, 3] = 2e-9, 3e-6, 1
    found = convergence(solver, lanes=2)
    assert found["iterations"] == 3.5
    assert found["slowest"] == 5
    assert found["residual"] == 3e-6
    assert (found["> 1e-09"], found["> 1e-06"], found["unconverged"]) == (0.2, 0.1, 0.1)


def test_who_has_had_its_time_gets_no_more_turns() -> None:
    now, calls = [0.0], {"slow": 0, "fast": 0}

    def call(name: str, seconds: float) -> None:
        calls[name] += 1
        now[0] += seconds

    contenders = {"slow": lambda: call("slow", 4), "fast": lambda: call("fast", 0.5)}
    assert best_times(contenders, rounds=6, most=7, clock=lambda: now[0]) == {"slow": 4, "fast": 0.5}
    # one to warm up, one timed, and one turn until 7 s are over
    assert calls == {"slow": 3, "fast": 8}


# ---- README


def run_of_all() -> dict:
    """A run with the least that each block needs."""
    row = {"robot": "go2", "dofs": 18, "pinocchio": 5.92, "float64": 0.191, "float32": 0.092, "single": 1.38}
    row |= {"ratio": 31.0, "ratio float32": 64.3, "ratio single": 4.29}
    functions = [row | {"function": f"{name}"} for name in ("forward_dynamics", "inverse_dynamics", "mass_matrix")]
    scene = {"dofs": 18, "points": 4, "jiminy": None, "mujoco": 5.85, "float64": 0.3, "x float64": 19.5}
    scene |= {"float32": None, "x float32": None, "unconverged": 0.0}
    results = {name: {} for name in BENCHMARKS} | {
        "dynamics": {"dynamics": functions, "derivatives": [row], "start": [{"robot": "go2", "cold": 0.4}]},
        "contact": {
            "summary": [scene | {"scene": "go2", "settling": 0.0012}, scene | {"scene": "g1_thrash", "settling": None}],
            "go2": [],
            "g1_thrash": [{"failed": "3 robots diverged"}],
        },
        "flexible": {"swing": [], "batch": 64, "jiminy": None},
        "growth": {"chains": [{"joints": 5, "mujoco": 1.6, "pliant": 0.016, "ratio": 99.8}]},
        "single": {"single": [{"scene": "go2", "way": "mj_step", "us": 6.7}]},
        "cold_start": {"cold": [{"robot": "go2", "total": 9.8, "cached": 2.0}]},
        "default_contacts": {"defaults": []},
    }
    versions = {"pin": "4.1", "mujoco": "4.0.1", "llvmlite": "0.50", "numpy": "2.4", "python": "3.11"}
    about = {"date": "2026-01-02", "processor": "a fast one", "cores": 2, "versions": versions, "short": False}
    return {**about, "results": results, "failures": []}


def test_blocks_of_the_page_are_replaced_and_the_rest_stays() -> None:
    others = "".join(f"<!-- bench {name} -->\nold\n<!-- /bench {name} -->\n" for name in BLOCKS if name != "headline")
    page = f"runs <!-- bench headline -->1 to 2<!-- /bench headline --> times as fast\n{others}the end\n"
    found = written(page, run_of_all())
    assert "runs <!-- bench headline -->31 to 31<!-- /bench headline --> times as fast" in found
    assert "old" not in found
    assert found.endswith("the end\n")
    assert "2026-01-02, a fast one" in found
    assert "| Go2 | 18 | 5.92 | 0.191 | **31 x** | 0.0920 | **64 x** | 1.38 | 4.3 x |" in found
    # no Jiminy and no float32, so no columns of theirs; a share in percent
    assert "| step with contact [us] | dofs | points | MuJoCo | float64 | | not converged |" in found
    assert "| Go2, standing | 18 | 4 | 5.85 | 0.300 | **20 x** | 0 / 0.12 % |" in found
    assert "| G1, thrown about (a check failed) |" in found
    assert written(found, run_of_all()) == found


def test_tables_of_several_runs_are_refused() -> None:
    run = run_of_all()
    del run["results"]["loops"]
    with pytest.raises(CheckError, match="has no loops"):
        written("", run)


def test_pages_have_each_block_once() -> None:
    assert sorted(name for blocks in PAGES.values() for name in blocks) == sorted(BLOCKS)
    for path, blocks in PAGES.items():
        page = (ROOT / path).read_text(encoding="utf-8")
        for name in BLOCKS:
            assert page.count(f"<!-- bench {name} -->") == page.count(f"<!-- /bench {name} -->") == (name in blocks)


def test_a_run_says_on_what_it_was() -> None:
    found = about()
    assert set(found["versions"]) == {"python", "numpy", "llvmlite", "pin", "mujoco"}
    assert all(text[0].isdigit() for text in found["versions"].values())
    assert found["processor"] and found["cores"] >= 1
