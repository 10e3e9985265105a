"""Readable equations of motion of small and larger robots, as text, LaTeX and code.

python examples/12_equations.py [--figures DIRECTORY]

With --figures it typesets their LaTeX (needs matplotlib), as in docs/theory/equations.md.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import sympy

import pliant

m, l, g, M, I, J, k, nu = sympy.symbols("m l g M I J k nu", positive=True)
METHODS = ("newton-euler", "projected", "lagrange")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", metavar="DIRECTORY", help="draw the LaTeX, as SVG files, into this directory")
    directory = parser.parse_args().figures
    shown = textbook_robots()
    hopping_robot()
    from_numbers_to_code()
    if directory:
        for name, eq in shown.items():
            draw_latex(Path(directory) / f"equations_{name}.svg", eq.latex(width=60))


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def pendulum() -> pliant.Robot:
    builder = pliant.RobotBuilder("pendulum").gravity(0, 0, -g).body("bob", mass=m, com=(0, 0, -l))
    return builder.joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0)).motor("hinge").build()


def cart_pole() -> pliant.Robot:
    builder = pliant.RobotBuilder("cart_pole").gravity(0, 0, -g)
    builder.body("cart", mass=M).joint("slider", "prismatic", "world", "cart", axis=(1, 0, 0))
    builder.body("pole", mass=m, com=(0, 0, l / 2), inertia=(m * l**2 / 12, 0, 0, m * l**2 / 12, 0, 0))
    return builder.joint("hinge", "revolute", "cart", "pole", axis=(0, 1, 0)).motor("slider").build()


def two_link_arm() -> pliant.Robot:
    rod: dict[str, Any] = {"mass": m, "com": (0, 0, l / 2), "inertia": (m * l**2 / 12, 0, 0, m * l**2 / 12, 0, 0)}
    builder = pliant.RobotBuilder("two_link_arm").gravity(0, 0, -g)
    builder.body("rod1", **rod).joint("shoulder", "revolute", "world", "rod1", axis=(0, 1, 0))
    builder.body("rod2", **rod).joint("elbow", "revolute", "rod1", "rod2", (0, 0, l), axis=(0, 1, 0))
    return builder.motor("shoulder").motor("elbow").build()


def series_elastic_joint() -> pliant.Robot:
    builder = pliant.RobotBuilder("series_elastic_joint").gravity(0, 0, 0)
    builder.body("link", inertia=(0, 0, 0, 0, 0, I)).joint("knee", "revolute", "world", "link")
    robot = builder.motor("knee", rotor_inertia=J).build()
    return robot.with_flexibility("knee", stiffness=k, damping=nu)


def textbook_robots() -> dict[str, pliant.symbolic.Equations]:
    title("1. Robots of the textbooks, in symbols, by three methods")
    springs = {"knee_flexibility": "x1", "knee": "x2"}
    robots = [(pendulum(), None), (cart_pole(), None), (two_link_arm(), None), (series_elastic_joint(), springs)]
    found = {}
    for robot, names in robots:
        first, *others = (pliant.equations(robot, method, names=names) for method in METHODS)
        agree = all((eq.M, eq.b, eq.g) == (first.M, first.b, first.g) for eq in others)
        print(f"{robot.name}, {'the same' if agree else 'DIFFERENT'} by {', '.join(METHODS)}:")
        print(*(f"  {line}" for line in first.text(90).split("\n\n")[1].splitlines()), sep="\n")
        assert agree
        found[robot.name] = first
    return found


def hopping_robot() -> None:
    title("2. A hopping robot in flight: six degrees of freedom, from its Denavit-Hartenberg table")
    eq = pliant.equations(pliant.catalogue.hopper_flight(symbols=True))
    for entry in range(4):
        print(f"M1{entry + 1} = " + eq.written(eq.M[0, entry], 90).replace("\n", "\n      "))


def from_numbers_to_code() -> None:
    title("3. A spring with backlash in a shipped robot, its numbers as symbols, and the code")
    robot = pliant.load("two_link_arm").with_joint("elbow", stiffness=30, damping=0.5, backlash=0.02)
    eq = pliant.equations(robot, parameters=["stiffness", "damping"])
    print(f"elbow: {eq.written(eq.Q[1])}")
    source = eq.python()
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    q, v = [0.3, 0.1], [-0.5, 0.2]
    mass = namespace["two_link_arm"](q, v, [0, 0])[0]
    error = abs(np.array(mass) - pliant.mass_matrix(robot, q)).max()
    print(
        f"{len(source.splitlines())} lines of Python, whose mass matrix is that of the compiled kernel to {error:.0e}"
    )
    assert error < 1e-14

    start = time.perf_counter()
    eq = pliant.equations(pliant.load("arm7"), simplify=False)
    lines, took = len(eq.c().splitlines()), time.perf_counter() - start
    print(f"an arm of seven joints, not simplified: {lines} lines of C in {took:.1f} s")


def draw_latex(path: Path, latex: str) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.mathtext import MathTextParser

    mpl.rcParams.update({"svg.hashsalt": "pliant", "mathtext.fontset": "cm"})  # the same picture is the same file
    lines = latex.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}").split(" \\\\\n")
    pairs = [line.partition("&")[::2] for line in lines]
    parse, points = MathTextParser("path").parse, 72 / 100
    sizes = [[parse(f"${part.strip() or '.'}$")[:3] for part in pair] for pair in pairs]
    # lefts end where rights begin, but the equations on top, which have no left, start at the margin
    left = max((left[0] for (left, _), (text, _) in zip(sizes, pairs, strict=True) if text.strip()), default=0)
    top = next((row for row, (text, _) in enumerate(pairs) if text.strip()), len(pairs))
    indents = [left + 4 if row >= top else 0 for row in range(len(pairs))]
    width = max(indent + right[0] for indent, (_, right) in zip(indents, sizes, strict=True)) + 8
    rise = [max(left[1], right[1]) + 7 for left, right in sizes]
    height = sum(rise) + 8
    figure = plt.figure(figsize=(width * points / 72 * 1.4, height * points / 72 * 1.4))
    down = 4.0
    for (first, second), indent, line, (own, other) in zip(pairs, indents, rise, sizes, strict=True):
        down += line
        base = 1 - (down - max(own[2], other[2]) - 3) / height
        if first.strip():
            figure.text((left + 2) / width, base, f"${first.strip()}$", ha="right", va="baseline", size=10)
        figure.text((indent + 4) / width, base, f"${second.strip()}$", ha="left", va="baseline", size=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None}) if path.suffix == ".svg" else figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"drew {path}")


if __name__ == "__main__":
    main()
