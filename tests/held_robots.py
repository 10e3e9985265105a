"""Robots with contacts that are held, at random, and their matrices for dense algebra."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import pliant
from pliant.robot import Robot, RobotBuilder
from random_robots import State, robots, state_of, turns

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")


class Case(NamedTuple):
    """A robot, its contacts and axes, a state, and what dense algebra needs of them."""

    robot: Robot
    options: dict[str, Any]
    state: State
    M: np.ndarray
    h: np.ndarray
    J: np.ndarray
    bias: np.ndarray

    @property
    def G(self) -> np.ndarray:  # noqa: N802
        return self.J @ np.linalg.solve(self.M, self.J.T)

    @property
    def rank(self) -> int:
        """Of J as M^-1 weighs it, with rows of one length."""
        A = np.linalg.solve(np.linalg.cholesky(self.M), self.J.T)
        size = np.linalg.norm(A, axis=0)
        A = A / np.where(abs(self.J).max(axis=1) > 1e-12, size, np.inf)
        return int(np.linalg.matrix_rank(A, tol=1e-7))

    def run(self, function: Any, *names: str, **options: Any) -> Any:
        """The algorithm of a function on lists of floats; results as arrays."""
        found = function.algorithm(
            self.robot, *(getattr(self.state, n).tolist() for n in names), **self.options, **options
        )
        return pliant_arrays(found)


def pliant_arrays(value: Any) -> Any:
    if isinstance(value, tuple):
        return type(value)(*(np.array(x, float) for x in value))
    return np.array(value, float)


def case_of(robot: Robot, state: State, contacts: Any, axes: str = "world") -> Case:
    options = {"contacts": contacts, "axes": axes}
    q, v, _, _ = state.lists
    return Case(
        robot,
        options,
        state,
        np.array(pliant.mass_matrix.algorithm(robot, q), float),
        np.array(pliant.bias_forces.algorithm(robot, q, v), float),
        np.array(pliant.constrained.contact_jacobian.algorithm(robot, q, **options), float),
        np.array(pliant.constrained.contact_bias.algorithm(robot, q, v, **options), float),
    )


@st.composite
def cases(draw: st.DrawFn, *, most: int = 3, full: bool = False, **options: Any) -> Case:
    """A random robot with one to ``most`` contacts along random directions; with ``full``, with independent rows."""
    robot = draw(robots(**options))
    moving = [name for name in robot.frames if robot.mechanism.frame(name)[0] >= 0]
    assume(moving)
    names = draw(st.lists(st.sampled_from(moving), min_size=1, max_size=most, unique=True))
    subsets = st.lists(st.sampled_from(DIRECTIONS), min_size=1, max_size=4, unique=True)
    contacts = tuple((name, " ".join(draw(subsets))) for name in names)
    axes = draw(st.sampled_from(["world", "local"]))
    state = state_of(robot, draw(st.integers(0, 10**6)), draw(turns))
    case = case_of(robot, state, contacts, axes)
    assume(not full or has_full_rank(case))
    return case


def has_full_rank(case: Case) -> bool:
    """Whether rows are independent, and not only just: then 1e-9 is far above rounding."""
    size = np.sqrt(np.diag(case.G))
    if not size.min() > 1e-3 * size.max() or not abs(case.J).max(axis=1).min() > 1e-6:
        return False
    return np.linalg.cond(case.G / np.outer(size, size)) < 1e4


def box() -> Robot:
    """A box that floats, 2 kg, 0.4 by 0.3 by 0.2 m, with frames "c0" to "c3" at the corners of its bottom."""
    builder = RobotBuilder("box")
    builder.gravity(0, 0, -9.81)
    builder.body("box", 2.0, (0, 0, 0), (2 * 0.13 / 12, 0, 0, 2 * 0.20 / 12, 0, 2 * 0.25 / 12))
    for k, (x, y) in enumerate([(0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15)]):
        builder.frame(f"c{k}", "box", (x, y, -0.1))
    return builder.build(base="free")


CORNERS = ("c0", "c1", "c2", "c3")


def pin_constraints(model: Any, frames: Any, reference: Any) -> tuple[Any, Any]:
    """Pinocchio's contacts of three rows at frames."""
    import pinocchio as pin

    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for name in frames:
        frame = model.frames[model.getFrameId(name)]
        one = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, frame.parentJoint, frame.placement, reference)
        models.append(one)
        datas.append(one.createData())
    return models, datas
