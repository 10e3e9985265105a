"""`jacobian` of any function: by the chain rule, in the tangent space, and against rules of their own."""

import numpy as np
import pytest
from hypothesis import given, settings

import pliant
from pliant.dynamics import (
    energy, forward_dynamics, frame_jacobian, frame_pose, gravity_forces, inverse_dynamics, jacobian, mass_matrix,
    potential_energy,
)  # fmt: skip
from pliant.dynamics.derivatives import _chain_rule
from pliant.dynamics.functions import array_shapes
from pliant.robot import Robot
from pliant.scalar import Graph
from pliant.scalar.evaluation import interpret
from random_robots import close, gradient, robot_of, robots, seeds, state_of


def chained(function, robot: Robot, values: dict[str, np.ndarray], wrt: str) -> np.ndarray:
    """The chain rule, without a kernel: traced, then interpreted."""
    graph = Graph()
    given_ = {n: [graph.input(f"{n}[{k}]") for k in range(len(x))] for n, x in values.items()}
    shapes, _ = array_shapes(function.algorithm, robot, {}, {})
    found = np.array(_chain_rule(function.algorithm, robot, given_, {}, [wrt], shapes)[wrt], dtype=object)
    numbers = {f"{n}[{k}]": float(a) for n, x in values.items() for k, a in enumerate(x)}
    flat = interpret([graph.lift(x) for x in found.ravel()], numbers)
    return np.array(flat, dtype=float).reshape(found.shape)


@settings(max_examples=25)
@given(robots(most=3), seeds)
def test_chain_rule_agrees_with_the_rules_of_the_dynamics(robot: Robot, seed: int) -> None:
    s = state_of(robot, seed)
    if not robot.nv:
        return
    q, v, vd, tau = s.lists
    by_rule = inverse_dynamics.derivative_rule(robot, q, v, vd, wrt=("q", "v", "vd"))
    for name in ("q", "v", "vd"):
        close(chained(inverse_dynamics, robot, {"q": s.q, "v": s.v, "vd": s.vd}, name), by_rule[name], 1e-10)
    by_rule = forward_dynamics.derivative_rule(robot, q, v, tau, wrt=("q", "v", "tau"))
    scale = max(1, max(abs(np.array(m, dtype=float)).max() for m in by_rule.values()))
    for name in ("q", "v", "tau"):
        found = chained(forward_dynamics, robot, {"q": s.q, "v": s.v, "tau": s.tau}, name)
        close(found, by_rule[name], 1e-9 * scale)


@settings(max_examples=15)
@given(robots(most=4), seeds)
def test_gravity_is_the_gradient_of_potential_energy(robot: Robot, seed: int) -> None:
    s = state_of(robot, seed)
    if robot.nv:  # one output, many inputs: the reverse derivative
        close(chained(potential_energy, robot, {"q": s.q}, "q"), gravity_forces.algorithm(robot, s.lists[0]), 1e-11)


def test_kernels_of_derivatives() -> None:
    robot = robot_of(["free", "spherical", "planar", "helical"], [-1, 0, 1, 2], np.random.default_rng(5))
    s = [state_of(robot, k) for k in range(3)]
    q = np.stack([a.q for a in s])

    # a point's position, differentiated, is the linear part of the Jacobian
    def position(robot, q):
        return [row[3] for row in pliant.frame_pose(robot, q, "frame3")[:3]]

    found = jacobian(position, robot, "q")(q)
    close(found, frame_jacobian(robot, q, "frame3")[:, :3], 1e-12)
    # a matrix result gets one more axis, and agrees with differences
    found = jacobian(frame_pose, robot, "q", frame="frame2")(q)
    assert found.shape == (3, 4, 4, robot.nv)
    expected = gradient(lambda q: frame_pose.algorithm(robot, q, "frame2"), robot, s[0].q)
    close(found[0], expected, 1e-8)
    # a number differentiated by arrays and by a number
    kernel = jacobian(lambda robot, q, t: t * t * q[0], robot, ("q", "t"))
    by_q, by_t = kernel(q, 3.0)
    assert by_q.shape == (3, robot.nv)
    close(by_t, 6 * q[:, 0], 1e-15)
    # derivative of M by q: Mdot = sum_k dM/dq_k v_k
    by_q = jacobian(mass_matrix, robot, "q")(s[0].q)
    close(by_q, gradient(lambda q: mass_matrix.algorithm(robot, q), robot, s[0].q), 1e-8)


def test_mistakes_are_named() -> None:
    robot = pliant.load("two_link_arm")
    with pytest.raises(pliant.PliantError, match=r"no array argument named 'tua' in forward_dynamics.*'tau'"):
        jacobian(forward_dynamics, robot, "tua")
    with pytest.raises(pliant.PliantError, match="one array, not a tuple"):
        jacobian(energy, robot, "q")
    with pytest.raises(pliant.PliantError, match=r"shapes=\{'target': 3\}"):
        jacobian(lambda robot, q, target: q[0], robot, "q")
    kernel = jacobian(lambda robot, q, target: [q[0] * target[1]], robot, "target", shapes={"target": 2})
    np.testing.assert_array_equal(kernel([2.0, 0.0], [0.0, 0.0]), [[0.0, 2.0]])
