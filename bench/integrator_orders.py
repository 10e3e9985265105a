"""Errors of the accurate integrators against the step: free, with a loop, and with a contact that sticks.

Each is the largest error of q after 0.4 s, against the adaptive integrator at tolerances of 1e-13. Those with steps of
their own take each control period in one.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import pliant
from pliant.plots.figures import COLORS, figure, legend
from pliant.robot import Revolute, Robot, RobotBuilder

INTEGRATORS = {"euler": 1, "midpoint": 2, "rk4": 4, "dormand-prince": 5, "rosenbrock": 5}
"""With their order."""
STEPS = (100, 50, 25, 12, 6)
"""How many in 0.4 s."""
DURATION = 0.4

Scene = tuple[Robot, np.ndarray, dict[str, Any]]


def scenes() -> dict[str, Scene]:
    """A double pendulum; a four-bar linkage; and a trunk on a leg whose foot turns about its place."""
    bars = RobotBuilder("four-bar").gravity(0, 0, -9.81).body("ground", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    for name, parent, length, x, mass in (
        ("crank", "ground", 0.3, 0.0, 1.0), ("coupler", "crank", 0.8, 0.3, 2.0), ("rocker", "ground", 0.6, 0.9, 1.5),
    ):  # fmt: skip
        bars.body(name, mass, (length / 2, 0, 0), (1e-4, 0, 0, mass * length**2 / 12, 0, mass * length**2 / 12))
        bars.joint(f"{name} hinge", Revolute((0, 1, 0)), parent, name, (x, 0, 0), (0, 0, 0))
        bars.frame(f"{name} end", name, (length, 0, 0))
    linkage = bars.build(base="fixed").with_closure("point", "coupler end", "rocker end")

    leg = RobotBuilder("stance").gravity(0, 0, -9.81).body("trunk", 3, (0.3, 0, 0), (0.01, 0, 0, 0.09, 0, 0.09))
    leg.body("leg", 1, (0.2, 0, 0), (1e-3, 0, 0, 0.02, 0, 0.02))
    leg.joint("knee", Revolute((0, 1, 0)), "trunk", "leg", (0, 0, 0), (0, 0, 0)).frame("foot", "leg", (0.4, 0, 0))
    stance = leg.build(base="free").with_contact("foot", friction=10)
    half = -0.65
    q = np.array([0, 0, 0.4 * math.sin(1.5), 0, math.sin(half), 0, math.cos(half), 2.8])
    return {
        "free": (pliant.load("double_pendulum"), np.array([1.0, 0.5]), {}),
        # the step before the first closes it
        "loop": (linkage, np.array([0.3, -1.0, -1.2]), {}),
        "sticking contact": (stance, q, {"ground": 0, "held": ("foot",)}),
    }


def errors(scene: Scene, steps: Sequence[int] = STEPS) -> dict[str, list[float]]:
    """Of each integrator, by the number of steps."""
    robot, start, options = scene
    sharp = {"integrator": "dormand-prince", "rtol": 1e-13, "atol": 1e-14}
    begin = pliant.Simulation(robot, dt=1e-9, **sharp, **options)
    begin.reset(q=start)
    begin.step()
    start = begin.q  # where a loop is closed
    exact = _after(pliant.Simulation(robot, dt=DURATION / 4, **sharp, **options), start)
    found = {}
    for integrator in INTEGRATORS:
        found[integrator] = []
        for n in steps:
            sim = pliant.Simulation(robot, dt=DURATION / n, integrator=integrator, rtol=1e6, atol=1e6, **options)
            found[integrator].append(float(np.abs(robot.difference(exact, _after(sim, start))).max()))
    return found


def _after(sim: pliant.Simulation, q: np.ndarray) -> np.ndarray:
    sim.reset(q=q)
    for _ in range(round(DURATION / sim.dt)):
        sim.step()
    return sim.q


def draw(found: dict[str, dict[str, list[float]]], path: str) -> None:
    """The errors against the step, a panel for each scene; dotted lines have the slope of the order."""
    dt = np.array([DURATION / n * 1e3 for n in STEPS])
    with figure("orders", (8.6, 3.4), path=path, title="", show=False) as made:
        axes = made.subplots(1, len(found), sharey=True)
        labels = [f"{name}, order {order}" for name, order in INTEGRATORS.items()]
        for axis, (scene, by) in zip(axes, found.items(), strict=True):
            for k, (name, order) in enumerate(INTEGRATORS.items()):
                middle = by[name][1] * (dt / dt[1]) ** order
                axis.loglog(dt, middle, color=COLORS[k], linestyle=":", linewidth=1)
                axis.loglog(dt, by[name], marker="o", markersize=3, color=COLORS[k], label=labels[k])
            axis.set_title(scene, fontsize=9)
            axis.set_xticks(dt, [f"{x:.0f}" for x in dt])
            axis.minorticks_off()
            axis.set_xlabel("dt [ms]")
        axes[0].set_ylabel("error of q after 0.4 s")
        legend(axes[-1], labels)
