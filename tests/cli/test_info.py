"""`pliant info`: what it says is what the robot has."""

from pathlib import Path

import pytest

import pliant


def test_numbers_are_the_robots(program) -> None:
    robot, about = pliant.load("hopper"), program("info", "hopper", "--json").json
    assert (about["nq"], about["nv"], about["nu"]) == (robot.nq, robot.nv, robot.nu)
    assert about["mass"] == robot.mass == sum(body["mass"] for body in about["bodies"])
    assert [joint["name"] for joint in about["joints"]] == list(robot.joints)
    assert [motor["name"] for motor in about["motors"]] == list(robot.motors)
    leg = next(joint for joint in about["joints"] if joint["name"] == "leg")
    assert (leg["kind"], leg["lower"], leg["upper"]) == ("prismatic", [-0.12], [0.12])
    assert [(shape["name"], shape["points"]) for shape in about["contacts"]] == [("foot", 1)]
    # the foot is 0.6 m below the hip, with a ball of 0.03 m
    assert about["extent"]["lower"][2] == pytest.approx(-0.63, abs=1e-12)
    assert about["problems"] == []


def test_a_limit_that_is_not_there_is_null(program) -> None:
    joint = program("info", "pendulum", "--json").json["joints"][-1]
    assert joint["lower"] == joint["upper"] == [None]


def test_text(program) -> None:
    for robot in ("quadruped", "hopper", "arm7"):
        done = program("info", robot)
        assert (done.code, done.err) == (0, "")
        assert max(map(len, done.out.splitlines())) <= 80
        found = pliant.load(robot)
        assert f"nq = {found.nq}, nv = {found.nv}, nu = {found.nu}" in done.out
        assert all(name in done.out for name in [*found.joints, *found.bodies, *found.motors])
        assert "problems: none found" in done.out


def test_the_tree_of_a_long_chain_is_whole(program, tmp_path: Path) -> None:
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    link = f'<link name="b{{0}}"><inertial><mass value="1"/>{inertia}</inertial></link>'
    joint = '<joint name="j{1}" type="continuous"><parent link="b{0}"/><child link="b{1}"/><axis xyz="0 1 0"/></joint>'
    text = "".join(link.format(i) for i in range(40)) + "".join(joint.format(i, i + 1) for i in range(39))
    (tmp_path / "chain.urdf").write_text(f'<robot name="chain">{text}</robot>')
    assert "b39  1 kg  (j39)" in program("info", "chain.urdf").out


def test_the_extent_of_a_box(program, block: Path) -> None:
    about = program("info", block, "--base", "free", "--json").json
    # of the box 0.4 x 0.4 x 0.2 m; the wheel's origin is on top of it
    assert about["extent"]["lower"] == pytest.approx([-0.2, -0.2, -0.1], abs=1e-9)
    assert about["extent"]["upper"] == pytest.approx([0.2, 0.2, 0.1], abs=1e-9)
    assert (about["base"], about["nv"]) == ("free", 7)
    about = program("info", block, "--json").json
    assert (about["base"], about["nv"]) == ("fixed", 1)


def test_problems_in_the_file(program, block: Path) -> None:
    # an inertia that no body can have, on the line on which it stands
    block.write_text(block.read_text().replace('izz="0.02"', 'izz="0.9"'))
    done = program("info", block)
    assert (done.code, done.err) == (0, "")
    assert "problems: 1 found" in done.out
    problem = program("info", block, "--json").json["problems"][0]
    assert (problem["kind"], problem["line"]) == ("odd", 2)
    assert f"{problem['subject']} (line 2): {problem['message']}" in done.out


@pytest.mark.parametrize("source, message", [
    ("pendulumm", "did you mean 'pendulum'"), ("nowhere.urdf", "no such file"), ("nothing.h5", "there is no file"),
])  # fmt: skip
def test_errors_are_one_line(program, source: str, message: str) -> None:
    done = program("info", source)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert message in done.err


def test_a_file_that_is_no_robot(program, tmp_path: Path) -> None:
    (tmp_path / "bad.urdf").write_text("<robot")
    done = program("info", tmp_path / "bad.urdf")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


def test_a_log(program) -> None:
    program("run", "pendulum", "--time", "0.1", "--log", "run.h5")
    about = program("info", "run.h5", "--json").json
    assert (about["robot"], about["entries"], about["is_complete"]) == ("pendulum", 101, True)
    assert about["channels"]["q"] == ["hinge"]
    assert about["settings"]["dt"] == 0.001
    done = program("info", "run.h5")
    assert "101, t = 0 to 0.1 s" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
