"""`pliant tasks`, `pliant train` and `pliant play`."""

import json
from pathlib import Path

import pytest

import pliant
from pliant import learn, tasks

SHORT = ("--learner", "steps=128", "--learner", "horizon=4", "--robots", "16", "--learner", "judge_steps=64")
TASK = "cartpole-balance"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a short training."""
    path = tmp_path_factory.mktemp("learning") / "results"
    tasks.train(TASK, batch=16, out=path, steps=128, horizon=4, judge_steps=64, show=False)
    return path


def test_tasks_are_listed(program) -> None:
    done = program("tasks")
    assert done.code == 0
    assert all(name in done.out for name in tasks.tasks())
    assert {row["task"] for row in program("tasks", "--json").json} == set(tasks.tasks())


def test_a_training_leaves_its_results(program) -> None:
    done = program("train", TASK, "--seed", "3", "--out", "kept", *SHORT)
    assert done.code == 0, done.err
    assert "M steps" in done.out and "rewards:" in done.out and "pliant play kept" in done.out
    names = {path.name for path in Path("kept").iterdir()}
    assert names == {"policy.policy", "history.jsonl", "report.json", "curves.svg"}
    report = json.loads(Path("kept/report.json").read_text())
    assert (report["task"], report["control steps"], report["settings"]["seed"]) == (TASK, 128, 3)
    assert report["environment"]["task"] == TASK
    # and is not written over
    done = program("train", TASK, "--out", "kept", *SHORT)
    assert done.code == 1
    assert "the folder kept is not empty; name another, or remove what is there" in done.err


def test_a_training_for_scripts(program) -> None:
    report = program("train", TASK, "--json", *SHORT).json
    assert report["folder"] == str(Path("out") / f"{TASK}-0")
    assert set(report["shares of time"]) == {"environment", "policy", "update"}


def test_weights_are_set_by_name(program) -> None:
    weight = next(iter(tasks.make(TASK, batch=1).weights))
    report = program("train", TASK, "--set", f"{weight}=0.25", "--json", *SHORT).json
    assert report["environment"]["weights"][weight] == 0.25
    done = program("train", TASK, "--set", "grace=1", "--out", "other", *SHORT)
    assert done.code == 1
    assert "no reward named 'grace'" in done.err
    assert "--set x='heavy' is no number; write --set x=0.5" in program("train", TASK, "--set", "x=heavy").err
    assert "--set 'x' is no pair; write --set name=value" in program("train", TASK, "--set", "x").err


def test_unknown_names_are_explained(program) -> None:
    assert "no task named 'walk'" in program("train", "walk").err
    assert "no option named 'epoch'" in program("train", TASK, "--learner", "epoch=2", "--out", "a").err
    assert "wind" in program("train", TASK, "--option", "wind=2", "--out", "b").err


def test_a_policy_is_played_into_a_log(program, folder: Path) -> None:
    done = program("play", folder, "--log", "run.h5", "--seconds", "0.4")
    assert done.code == 0, done.err
    log = pliant.load_log("run.h5")
    assert log.t[-1] == pytest.approx(0.4)
    assert log.q.shape[1] == tasks.make(TASK, batch=1).sim.robot.nq


def test_a_policy_is_played_from_event_to_event(program, folder: Path) -> None:
    done = program("play", folder / "policy.policy", "--events", "--seconds", "0.2")
    assert done.code == 0, done.err
    assert "steps: 0.20 s" in done.out and "events: 0.20 s" in done.out


def test_what_cannot_be_played(program, folder: Path) -> None:
    assert "no task named 'nothing'" in program("play", "nothing").err
    learn.Policy.load(folder / "policy.policy").save("here.policy")
    done = program("play", "here.policy", "--task", "cartpole-swingup", "--log", "run.h5")
    # the same robot and names, or other ones: it says so
    assert done.code == 0 or "trained with other observations" in done.err
    Path("broken.policy").write_bytes(b"nothing")
    assert program("play", "broken.policy").code == 1
