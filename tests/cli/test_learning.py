"""`pliant tasks`, `pliant train` and `pliant play`."""

import json
import re
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


OWN = """
import pliant
from pliant.environment import Controls, Observation, Reward, observations
from pliant.tasks import Task
from beside import AIM

def up(now):
    return -(now.q[0] - AIM) ** 2

def swing(batch=32, seed=0, force=2.0):
    \"\"\"A pendulum goes where it is asked to.

    More words.
    \"\"\"
    sim = pliant.Simulation(pliant.load("pendulum"), dt=0.01, substeps=2, batch=batch, precision="float32", seed=seed)
    seen = {"angle": Observation(observations.coordinates, joints=["hinge"]), "rate": observations.joint_velocities}
    return pliant.Environment(sim, action=Controls(force), observations=seen, rewards={"up": Reward(up, 0.5)})

whole = Task("swinging", "the same", lambda threads=1, **options: swing(**options), batch=16, settings={"hidden": (4,)})
number = 3

def broken(**options):
    return {}["nothing"]

def no_environment():
    return 3
"""


def test_tasks_of_own_files(program) -> None:
    Path("mine.py").write_text(OWN)
    Path("beside.py").write_text("AIM = 3.0\n")
    done = program("train", "mine.py:swing", "--set", "up=0.25", "--option", "force=3.0", "--minutes", "1", *SHORT[:-2])
    assert done.code == 0, done.err
    assert "swing: not judged (steps)" in done.out
    assert f"pliant play {Path('out') / 'swing-0'} --task mine.py:swing" in done.out
    report = json.loads(Path("out/swing-0/report.json").read_text())
    assert (report["task"], report["environment"]["weights"]) == ("swing", {"up": 0.25})
    assert report["environment"]["action"]["scale"] == [3.0]
    report = program("train", "mine.py:whole", "--json", *SHORT[:4]).json
    assert (report["task"], report["settings"]["hidden"], report["folder"]) == (
        "swinging", [4], str(Path("out") / "swinging-0")
    )  # fmt: skip
    # a policy is data, and does not say which code runs
    told = program("play", "out/swing-0", "--log", "run.h5").err
    assert "was trained for 'swing', and Pliant has no task of that name; give --task FILE.py:swing" in told
    done = program("play", "out/swing-0", "--task", "mine.py:swing", "--log", "run.h5", "--seconds", "0.2")
    assert done.code == 0, done.err
    assert pliant.load_log("run.h5").t[-1] == pytest.approx(0.2)
    assert "is a task, not a policy" in program("play", "mine.py:swing").err


@pytest.mark.parametrize(("name", "problem"), [
    ("mine.py", "task is 'mine.py'; it takes FILE.py:NAME, as my_task.py:make_task"),
    ("other.py:swing", "task other.py:swing: there is no file other.py"),
    ("mine.py:swnig", "task mine.py:swnig: no function named 'swnig' in mine.py.*'swing'"),
    ("mine.py:number", "task of mine.py:number is 3.*a pliant.tasks.Task, or a function"),
    ("mine.py:broken", r"mine.py:23: KeyError: 'nothing'"),
    ("mine.py:no_environment", "what it returns.*'int'.*a pliant.Environment"),
    ("wrong.py:swing", r"wrong.py:1: SyntaxError"),
    ("raising.py:swing", r"raising.py:2: ZeroDivisionError"),
])  # fmt: skip
def test_faults_of_own_files_have_a_place(program, name: str, problem: str) -> None:
    Path("mine.py").write_text(OWN)
    Path("beside.py").write_text("AIM = 3.0\n")
    Path("wrong.py").write_text("def swing(:\n")
    Path("raising.py").write_text("\n1 / 0\n")
    done = program("train", name, *SHORT)
    assert done.code == 1
    assert re.search(problem, done.err.replace("\n", " ")), done.err
    assert not Path("out").exists()


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
