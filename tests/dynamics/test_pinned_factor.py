"""The factor with pinned dofs, next to dense algebra on random trees of all kinds of joints."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.pinned_factor import pinned_factor
from pliant.robot import Robot
from random_robots import robots, seeds, state_of


@given(robots(), seeds, st.floats(0, 1))
def test_pinned_dofs_move_as_they_are_told_and_others_as_dense_algebra_says(robot: Robot, seed: int, share: float):
    """A x = b + tau, with x known where a dof is pinned and tau zero elsewhere."""
    if robot.nv == 0:
        return
    rng = np.random.default_rng(seed)
    lower = composite_inertia(robot, state_of(robot, seed % 1000).q.tolist())
    A = np.array(lower, dtype=float)
    A = A + np.tril(A, -1).T + np.eye(robot.nv)  # some inertia of rotors, so that every tree is regular
    pinned = rng.random(robot.nv) < share
    b, jumps = rng.normal(size=robot.nv), np.where(pinned, rng.normal(size=robot.nv), 0)
    free = ~pinned
    x = jumps.copy()
    x[free] = np.linalg.solve(A[np.ix_(free, free)], (b - A @ jumps)[free])
    tau = A @ x - b

    rows = [[A[d, e] if e <= d else 0 for e in range(robot.nv)] for d in range(robot.nv)]
    factor = pinned_factor(robot.mechanism, rows, {d: bool(p) for d, p in enumerate(pinned)})
    left, w = factor.eliminated(b.tolist(), dict(enumerate(jumps.tolist())))
    found = factor.velocity(w)
    # conditions of A are up to 1e4
    scale = max(1, np.abs(A).max())
    np.testing.assert_allclose(found, x, atol=1e-9 * scale)
    np.testing.assert_allclose(factor.coordinates(found), w, atol=1e-9 * scale)
    for d in np.flatnonzero(pinned):
        assert abs(factor.reaction(int(d), found, left[d]) - tau[d]) < 1e-8 * scale * scale
    assert (np.array(factor.D_inverse, dtype=float)[pinned] == 0).all()
