"""Derivatives of the dynamics."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant
from pliant.catalogue.library import load
from pliant.dynamics import (
    energy, forward_dynamics, frame_jacobian, frame_pose, gravity_forces, inverse_dynamics,
    inverse_dynamics_derivatives, jacobian, mass_matrix, mass_matrix_inverse, potential_energy,
)  # fmt: skip
from pliant.dynamics.derivatives import _chain_rule
from pliant.dynamics.functions import array_shapes
from pliant.robot import Robot
from pliant.scalar import Graph
from pliant.scalar.evaluation import interpret
from random_robots import State, close, gradient, robot_of, robots, seeds, state_of, turns
from real_robots import FAMILIES, Pair, pinocchio_robot, real_robot

DIFFERENCES = 1e-8  # see `random_robots.rate`
many = settings(max_examples=40)


def moving(most: int) -> st.SearchStrategy[Robot]:
    return robots(most=most).filter(lambda robot: robot.nv > 0)


def by_velocity(function, x: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Derivative of a quadratic function of x, for which central differences are exact but for rounding."""
    columns = [(np.array(function(x + h * e)) - np.array(function(x - h * e))) / (2 * h) for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


@many
@given(moving(5), seeds, turns)
def test_inverse_dynamics_against_differences(robot: Robot, seed: int, turn: float | None) -> None:
    state = state_of(robot, seed, turn)
    q, v, vd, _ = state.lists
    found = inverse_dynamics_derivatives.algorithm(robot, q, v, vd)
    close(found.q, gradient(lambda q: inverse_dynamics.algorithm(robot, q, v, vd), robot, state.q), DIFFERENCES)
    close(found.v, by_velocity(lambda v: inverse_dynamics.algorithm(robot, q, v.tolist(), vd), state.v), DIFFERENCES)
    close(found.vd, mass_matrix.algorithm(robot, q), 1e-12)


@settings(max_examples=15)
@given(moving(3), seeds)
def test_forces_on_bodies_turn_with_them(robot: Robot, seed: int) -> None:
    state = state_of(robot, seed)
    q, v, vd, _ = state.lists
    external = np.random.default_rng(seed).standard_normal((len(robot.bodies), 6)).tolist()
    found = inverse_dynamics_derivatives.algorithm(robot, q, v, vd, external=external)

    def forces(q: list) -> list:
        return inverse_dynamics.algorithm(robot, q, v, vd, external=external)

    close(found.q, gradient(forces, robot, state.q), DIFFERENCES)


@many
@given(moving(4), seeds)
def test_forward_dynamics_by_the_implicit_function(robot: Robot, seed: int) -> None:
    # FD(q, v, ID(q, v, vd)) = vd: the derivatives of ID and FD undo each other
    q, v, vd, _ = state_of(robot, seed).lists
    inverse = inverse_dynamics_derivatives.algorithm(robot, q, v, vd)
    tau = inverse_dynamics.algorithm(robot, q, v, vd)
    forward = forward_dynamics.derivative_rule(robot, q, v, tau, wrt=("q", "v", "tau"))
    M_inverse = np.array(forward["tau"], dtype=float)
    close(M_inverse @ np.array(inverse.vd, dtype=float), np.eye(robot.nv), 1e-8)
    scale = max(1, abs(M_inverse).max())
    for name in ("q", "v"):
        close(forward[name], -M_inverse @ np.array(getattr(inverse, name), dtype=float), 1e-9 * scale)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_pinocchio(name: str, base: str) -> None:
    robot, model = real_robot(name, base), pinocchio_robot(name, base)
    if not robot.nv:
        assert model.nv == 0
        return
    pair = Pair(robot, model, seed=3)
    q, v, vd, tau = pair.ours
    expected = [np.array(d) for d in pin.computeRNEADerivatives(model, pair.data, pair.q, pair.v, pair.vd)]
    expected[2] = np.triu(expected[2]) + np.triu(expected[2], 1).T
    for a, b in zip(inverse_dynamics_derivatives.algorithm(robot, q, v, vd), expected, strict=True):
        close(a, b, 1e-10)
    pin.computeABADerivatives(model, pair.data, pair.q, pair.v, pair.tau)
    M_inverse = np.triu(pair.data.Minv) + np.triu(pair.data.Minv, 1).T
    found = forward_dynamics.derivative_rule(robot, q, v, tau, wrt=("q", "v", "tau"))
    for what, b in (("q", pair.data.ddq_dq), ("v", pair.data.ddq_dv), ("tau", M_inverse)):
        close(found[what], b, 1e-7)  # conditioned as M


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-11), ("float32", 2e-3)])
def test_compiled_and_batched(precision: str, tolerance: float) -> None:
    robot = load("quadruped")
    states = [state_of(robot, seed) for seed in range(5)]
    q, v, _, tau = (np.stack([getattr(s, n) for s in states]) for n in State._fields)
    kernel = jacobian(forward_dynamics, robot, ("q", "v", "tau"), precision=precision)
    found = kernel(q, v, tau)
    assert found._fields == ("q", "v", "tau")
    for k, s in enumerate(states):
        expected = forward_dynamics.derivative_rule(robot, *s.lists[:2], s.lists[3], wrt=("q", "v", "tau"))
        for a, name in zip(found, ("q", "v", "tau"), strict=True):
            close(a[k], expected[name], tolerance)
    close(found[2], mass_matrix_inverse(robot, q), tolerance)


# ---- `jacobian` of any function: by the chain rule, in the tangent space, and against rules of their own


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
@given(moving(3), seeds)
def test_chain_rule_agrees_with_the_rules_of_the_dynamics(robot: Robot, seed: int) -> None:
    s = state_of(robot, seed)
    q, v, vd, tau = s.lists
    by_rule = inverse_dynamics.derivative_rule(robot, q, v, vd, wrt=("q", "v", "vd"))
    for name in ("q", "v", "vd"):
        close(chained(inverse_dynamics, robot, {"q": s.q, "v": s.v, "vd": s.vd}, name), by_rule[name], 1e-10)
    by_rule = forward_dynamics.derivative_rule(robot, q, v, tau, wrt=("q", "v", "tau"))
    scale = max(1, max(abs(np.array(m, dtype=float)).max() for m in by_rule.values()))
    for name in ("q", "v", "tau"):
        found = chained(forward_dynamics, robot, {"q": s.q, "v": s.v, "tau": s.tau}, name)
        close(found, by_rule[name], 1e-9 * scale)


@given(moving(4), seeds, turns)
def test_gravity_is_the_gradient_of_potential_energy(robot: Robot, seed: int, turn: float | None) -> None:
    s = state_of(robot, seed, turn)
    # one output, many inputs: the reverse derivative
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
