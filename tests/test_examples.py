"""Every example runs, and prints what it promises. Each also checks its own physics and fails if it is off."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import pliant

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))

# what is left of numbers around 1 after some tens of operations, on any processor: zero to some 1e-14
ROUNDING = r"(0e\+00|\de-1[4-9])"

# what each must print, as regular expressions
PROMISES = {
    "00_demo.py": [
        r"quadruped: 12\.0 kg, nq = 19, nv = 18, nu = 12 motors",
        r"energy \S+ J kept to \d\.\de-(0[6-9]|1\d)",
        r"pendulum from horizontal: after the closed form's period it is back to \d\.\de-(09|1\d) rad",
        r"M11 = 1 \+ 0\.6 c2\nM12 = M21 = 0\.2 \+ 0\.3 c2",
        r"biped +\d+ +\d+ +\S+ s +\d+ ns/robot +\d+ ns/robot",
        r"2\.5 +0\.29\d\d +-?\d\.\d\d +(1\.00|0\.99)\d\d +\d\.\de-(09|1\d) +\d+  stands",
        r"1024 of them, struck sideways .*: [5-6]\d\d are on their feet half a second later",
        r"[\d,]+ steps a second on one thread, [\d,]+ times real time",
        r"1\d hops in 10 s, 0\.(19|20)\d m high, at 0\.(4[6-9]|5[0-4])\d m/s over the last 5 s\n"
        r"  energy 13\d\.\d J, \d+ times faster than real time",
        r"256 of them, each with its own command: 256 hop and follow it\n  [\d,]+ steps a second on one thread",
        r"0\.18\d+ s: touch-down of foot, 0\.\d+ J lost; flight -> foot sticks",
        r"apexes \[0\.88\d* +0\.8\d+ *\] m, by steps of 0\.5 ms \[0\.88\d* +0\.8\d+ *\] m",
        r"hops +2, the last one 0\.2\d\d m high\n  speed +0\.\d+ m/s along x from rest; \+0\.1\d+ m to the side",
        r"energy +130\.8 J, then 13\d\.\d J: motors gave \d+\.\d J, the push \d+\.\d J, \d+\.\d J were lost",
        r"events +3 touch-down, 2 lift-off",
        r"simulated +1\.5 s in \S+ s, \S+ x real time",
        r"report\.html +\d+ kB in +\S+ s  one page with all of it",
        r"hopper\.mp4 +\d+ kB in +\S+ s  a video",
        r"look at it again: pliant view \S*hopper\.h5, or open \S*report\.html in a browser",
    ],
    "01_your_robot.py": [
        r"Robot 'leg': nq = 3, nv = 3, nu = 2, 3 bodies, 3 kg",
        r"foot at \[ 0\. +0\. +-0\.3301\] m",
        r"rail -?0\.0000 N, hip 0\.5650 N m, knee 3\.2238 N m",
        r"add 0\.250 kg",
        r"RobotError: body 'plate': .* break the triangle inequality",
        r"repair=True: repaired: body 'plate'",
        r"odd: body 'arm' \(line 3\)",
        r"guessed: joint 'pivot' \(line 8\)",
        r"dropped: <gazebo> \(line 10\)",
        r"strict=True: \S*dirty\.urdf:8: joint 'pivot'",
    ],
    "02_batch.py": [
        r"one:   q \(19,\) -> vd \(18,\)",
        r"many:  q \(4096, 19\) -> vd \(4096, 18\), M \(4096, 18, 18\)",
        r"KernelError: forward_dynamics: q has 4096 robots but v has 10",
        r"4096 robots: \d+ ns a robot",
        r"alone: identical\nin reverse order: identical\non two threads: identical",
        r"differ by \de-0[5-9]",
        r"robots with NaN in their result: \[1234\]\nresults of the others: identical",
    ],
    "03_derivatives.py": [
        r"A\[3, 1\] = 15\.791707317073, by hand .* = 15\.791707317073",
        r"d vd / d hinge +of 1000 robots agrees to \de-(09|1\d)",
        r"after 5 s, at most 0\.0\d+ degrees off",
        r"by gradient descent: 0\.\d+ m -> 0\.0\d+ m",
    ],
    "04_bouncing_ball.py": [
        r"apex 1: 0\.64\d\d m, by hand 0\.6400 m",
        r"over at 4\.06 s by hand; later the ball moves \d\.\de-\d\d m\nand the ground carries 9\.8100 N of 9\.8100 N",
        r"rolls from 0\.19\d s on, by hand 0\.1942 s\nwith 1\.428571 m/s, by hand 1\.428571 m/s",
        r"friction was 2\.9430 N, by hand 2\.9430 N",
    ],
    "05_quadruped_stands.py": [
        r"Simulation of one robot 'quadruped': .* 4 contacts",
        r"0\.1 +0\.3505 +-?0\.00 +0\.0000 +0\.00  falls",
        r"2\.9 +0\.29\d\d +-?\d\.\d\d +(1\.00|0\.99)\d\d +\d\.\d\d  stands",
        r"residual \d\.\d\de-(09|1\d) m/s after \d+ iterations",
        r"one robot, step by step from Python: \S+ us a step, \d+ x real time",
    ],
    "06_batch_of_robots.py": [
        r"Simulation of 1024 robots 'quadruped'",
        r"that is each robot's own weight to \d\.\de-0[2-9]",
        r"friction 0\.10 to 0\.15: +\d\d\.\d mm",
        r"no foot at any time has more friction than mu N, to \de[-+]\d\d N",
        r"[\d,]+ steps a second on one thread",
    ],
    "07_contact_models.py": [
        r"RigidContact +-?0\.000\d+ mm, by hand 0\.000000 mm",
        r"CompliantContact +0\.490\d+ mm, by hand 0\.490500 mm",
        r"RigidContact +creeps \d\.\de-\d\d m in a second, by hand 0\.0e\+00 m",
        r"SpringDamper +creeps 5\.4e-04 m in a second, by hand 5\.4e-04 m",
        r"AnchoredSpringDamper +creeps \d\.\de[-+]\d\d m in a second, by hand 0\.0e\+00 m",
        r"HuntCrossley +peak +\d+ N, leaves with 0\.7\d+ m/s, impulse \d\.\d+ N s",
    ],
    "08_dh_tables.py": [
        r"M12 = l1\*l2\*m2\*cos\(q2\)/2 \+ l2\*\*2\*m2/3",
        rf"agrees with the book's formula to {ROUNDING} m",
        r"2 +revolute +-pi/2 +0 +joint2 +0\n3 +revolute +pi/2 +0 +joint3 +0\.38",
        rf"poses of the tool agree to {ROUNDING}, mass matrices to {ROUNDING}",
        r"2 +fixed +pi/2 +0 +0 +0\.5\n3 +revolute +1\.57079",
        r"angular momentum about the hip is still zero, to \de-(09|1\d) kg m\^2/s",
    ],
    "09_flexible_joint.py": [
        r"largest difference \d\.\de-0[6-9]; the motor stands still near sqrt\(k/I\) = 10\.000 rad/s, "
        r"both swing most near sqrt\(k \(1/I \+ 1/J\)\) = 33\.166 rad/s",
        r"order of convergence \[0\.968 0\.998 1\. +1\. +\]",
        r"0\.8 rad +\d\.\de-(09|1\d) +\d\.\de-09 +\d+\.\d%",
        r"1e\+07   1\.27e-07",
        r"rigid +0\.000 +0\.0% +0\.0000 rad",
    ],
    "10_flexible_quadruped.py": [
        r"rigid: nv = 18; with 8 springs: nv = 26",
        r"standing, the feet carry (0\.99|1\.00)\d\d of the weight",
        r"trotting at 0\.\d\d m/s .* 0 robots diverged\n  springs deflect by up to \d+\.\d degrees",
        r"the flexible one runs at \d+% of the speed",
    ],
    "11_hopper.py": [
        r"hopper: 17\.05 kg, nv = 10, motors hip_roll, hip_pitch, leg",
        r" 0\.0 to  5\.0 +hop in place +[78]  0\.(19|20)\d 0\.(19|20)\d +-?0\.0\d\d +-?0\.0\d\d",
        r" 5\.0 to 12\.0 +go at 0\.5 m/s +1\d  0\.(19|20)\d 0\.(19|20)\d +0\.(4[5-9]|5[0-5])\d +-?0\.0\d\d",
        r"12\.0 to 20\.0 +go, and pushed +1\d  0\.(19|20)\d 0\.(19|20)\d +0\.(4[5-9]|5[0-5])\d +-?0\.0\d\d",
        r"stance takes 17\d ms, the leg thrusts by 1\d mm in each",
        r"after 6 s 40\d\d of 4096 hop, 0 diverged, error of speed 0\.0\d+ m/s",
        r"[\d,]+ steps a second on one thread, [\d,]+ times real time, controllers included",
    ],
    "12_equations.py": [
        r"pendulum, the same by newton-euler, projected, lagrange:\n  m l\^2 q'' \+ m g l sin\(q\) = u",
        r"I \(x1'' \+ x2''\) = -k x1 - nu x1'\n  I \(x1'' \+ x2''\) \+ J x2'' = u",
        r"M14 = m2 \(l2 \+ q6\)\^2 c5 \(c2 c3 s4 s5 - c2 c5 s3 \+ c4 s2 s5\)",
        r"elbow: u_elbow - push\(play\(q2, w_elbow\), k_elbow play\(q2, w_elbow\) \+ d_elbow q2'\)",
        rf"\d+ lines of Python, whose mass matrix is that of the compiled kernel to {ROUNDING}",
        r"an arm of seven joints, not simplified: \d+ lines of C",
    ],
    "13_events.py": [
        r"0\.451523641 s: touch-down of ball, 3\.532 J lost; flight -> flight",
        r"the third bounce is off by (0e\+00|\de-1[2-9]) s\nrests from 4\.0637\d s on, by hand 4\.06371 s",
        r"step 16 of the left_foot  takes 0\.7343\d s\na step loses 5\.49\d+ J, the slope gives 5\.49\d+ J",
        r"touch-down of foot, 0\.49\d+ J lost; flight -> foot sticks",
        r"\d+ events, it hops 0\.2\d m high and has gone 0\.3\d m",
    ],
    "14_compare_contacts.py": [
        r"event-driven +rtol 1e-08 +reference",
        r"rigid: the error goes with dt\^(0\.9\d|1\.0\d), since the instant of landing is known to a step",
        r"compliant: the error goes with k\^-0\.(4[5-9]|5[0-5]); it is the depth, 6\.\d\de-05 m, by hand 6\.21e-05 m",
        r"at rest it is m g / k, times (1\.0|0\.99)\d+ to 1\.0\d+",
        r"the best stiffness is 1e\+05 N/m; \d times its error with the stiffest",
        r"leg: height of carriage, 0\.5 s, \d events?\n",
        r"the foot sinks by (2\.9|3\.0)\d\de-04 m, m g / k is 2\.943e-04 m",
        r"hopper: height of body, 2 s, \d+ events",
        r"lands at 0\.202\d+, 0\.82\d+, 1\.4\d+ s",
        r"compliant: \d\.\de-02 m at 1e4 N/m, \d\.\de-04 m at 1e7 N/m",
    ],
    "15_see_it.py": [
        r"  motors +9\d\.\d+\n  forces from outside +1\.\d+\nlost\n  dampers of springs +-7\d\.\d+",
        r"what the motors put in is accounted for, but for 0\.\d%",
        r"run\.h5: \d+ kB",
        r"energy\.svg: \d+ kB",
        r"run\.mp4: \d+ kB",
        r"report\.html: \d+ kB",
    ],
    "16_lecture_notes.py": [
        r"vd, Aghili's projector  agrees to (0e\+00|\de-1[2-9])\nN_vel = N\^T +agrees to (0e\+00|\de-1[2-9])",
        r"event-driven +touch-down 0\.20194\d s  lift-off 0\.39349\d s",
        r"notes, 1\.00 ms  touch-down 0\.201\d+ s   lift-off 0\.39[34]\d+ s",
        r"notes +order (0\.9[5-9]|1\.0[0-4]); .* 7\.9e-03 m at 1 ms",
        r"Simulation +order (0\.9|1\.[01])\d; .* 2\.7e-03 m at 1 ms",
        r"EventSimulation order [45]\.\d\d; error of the height 3\.\de-07 m at 8 ms",
        r"notes, 0\.25 ms  2 feet at 0\.10\d+ s  4 feet at 0\.11\d+ s\nat the end the feet carry 1\.00\d of the weight",
        r"1e\+05 +1\.16 +0\.579 +0\.010\d+\n",
        r"AnchoredSpringDamper, 1e\+05 N/m, 1 ms: 0\.01\d+ m\nthe difference goes with K\^-1\.0\d",
    ],
    "17_terrain.py": [
        r"Terrain: 3 x 12 patches of 6 m, 400 x 1480 points",
        r"log of \d+\.\d MB, with the terrain",
        r"\n3\d of 36 robots are at rest, 36 in their own patches",
        r"start on their platforms: True\nall robots find the same heights in the log: True",
    ],
    "18_motors.py": [
        r"no-load speed of a joint 42 rad/s, most torque 22\.8 N m",
        r"0 +4\d\.\d +never +0\.2\d+\n",
        r"12 +\d\d\.\d +1\d\.\d +0\.1\d+\n",
        r"7 +\d+\.\d+",
    ],
    "19_sensors.py": [
        r"accelerometer: 0 in the fall, \d\.\d g in the landing, 9\.8\d+ m/s\^2 at rest",
        r"feet on the ground after 10\d to 10\d ms\nencoders off by at most 0\.767 mrad, half a tick",
        r"Allan deviation of noise and drift: within \d\.\d% of the closed form",
    ],
    "20_walking_from_sensors.py": [
        r"flat +0 +0 +0\.(29|3[01])\d, 0\.[23]\d to 0\.3\d +[01]\.\d\n",
        r"rough +0 +0 +0\.(2[789]|3[0123])\d, 0\.\d\d to 0\.\d\d +[3-5]\.\d\n",
        r"rough +20 +[1-6]\d ",
    ],
    "22_gymnasium.py": [
        r"PliantVectorEnv\(Pliant/cartpole-balance-v0, num_envs=1024\): observations \(5,\), actions Box\(-1\.0, 1\.0",
        r"SameStep: .* \[1, 0, 1, 0\], final_obs in infos: True\nNextStep: .* \[1, 2, 0, 1\], .* False\n"
        r"Disabled: .* \[1, 2, 1, 2\]",
        r"from 256 other starts: (4\.[5-9]\d|5\.00) of 5 s",
        r"it is not installed|the pole stands for \d\.\d of 5 s",
    ],
    "23_optuna.py": [r"16 trials, the best: kp \d+\.?\d*, kd \d+\.?\d*\ncost 0\.\d+, the worst \d+\.?\d*"],
}

# how an example runs here, if not as it is, and the files it leaves
ARGUMENTS = {"00_demo.py": ["--quick", "--out", "."]}
FILES = {
    "00_demo.py": {"report.html", "replay.html", "hopper.h5", "plot.svg", "hopper.mp4"},
    "19_sensors.py": {"out"},
    "23_optuna.py": {"out"},
}


def test_every_example_has_its_promises() -> None:
    assert list(PROMISES) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / name), *ARGUMENTS.get(name, ())]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
    for promise in PROMISES[name]:
        assert re.search(promise, run.stdout), f"{name} did not print {promise!r}:\n{run.stdout}"
    left = {path.name for path in tmp_path.iterdir() if path.stat().st_size}
    assert left == FILES.get(name, set()), "an example leaves no files behind but those that it names"


def test_the_demo_goes_on_without_extras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = runpy.run_path(str(ROOT / "examples" / "00_demo.py"))
    log = pliant.Simulation(pliant.load("hopper"), ground=pliant.flat(-1)).run(0.01)
    missing = {"h5py": "logs", "matplotlib": "plots", "viser": "view", "imageio_ffmpeg": "video", "sympy": "symbolic"}
    for library in missing:
        monkeypatch.setitem(sys.modules, library, None)  # as if it was not installed
    demo["leave_files"](log, tmp_path / "out", {}, is_quick=True)
    demo["print_equations"]()
    out = capsys.readouterr().out
    for library, extra in missing.items():
        assert re.search(rf"left out: .*{library}.*: pip install 'pliant\[{extra}\]'", out, re.I), library
    assert not list((tmp_path / "out").iterdir())
