"""Derivatives: the linear model of a cart-pole about upright, checked, and a controller that balances it.

python examples/03_derivatives.py
"""

import numpy as np

import pliant

DT = 0.01


def main() -> None:
    robot = pliant.load("cart_pole")
    A, B = linear_model(robot)
    check_against_differences(robot)
    K = regulator(A, B)
    balance(robot, K)
    own_function()


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def linear_model(robot: pliant.Robot) -> tuple[np.ndarray, np.ndarray]:
    """d/dt (q, v) = A (q, v) + B u about the upright rest, with u the force on the cart."""
    title("1. The cart-pole, linear about upright")
    # one kernel for all three derivatives
    derivatives = pliant.jacobian(pliant.forward_dynamics, robot, wrt=("q", "v", "tau"))
    at = derivatives(np.zeros(2), np.zeros(2), np.zeros(2))
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [at.q, at.v]])
    B = np.vstack([np.zeros((2, 1)), at.tau[:, :1]])  # the motor drives the first joint, the slider
    print(f"A =\n{A.round(4)}\nB = {B.ravel().round(4)}")
    # the textbook's: a rod of mass m and length l on a cart of mass M
    m, M, l, g = 0.1, 1.0, 1.0, 9.81
    upright = 6 * g * (M + m) / (l * (4 * M + m))
    print(f"A[3, 1] = {A[3, 1]:.12f}, by hand 6 g (M + m) / (l (4 M + m)) = {upright:.12f}")
    if not abs(A[3, 1] - upright) < 1e-11:
        raise SystemExit("the linear model is off")
    return A, B


def check_against_differences(robot: pliant.Robot) -> None:
    title("2. The same derivatives at any state, for a batch, against differences")
    rng = np.random.default_rng(0)
    batch = 1000
    q = robot.random(rng, batch=batch)
    v, tau = rng.normal(size=(2, batch, robot.nv))
    kernel = pliant.jacobian(pliant.forward_dynamics, robot, wrt="q")
    exact = kernel(q, v, tau)
    h = 1e-6
    for d, unit in enumerate(np.eye(robot.nv)):
        ahead, behind = (
            pliant.forward_dynamics(robot, robot.integrate(q, np.tile(unit, (batch, 1)), sign * h), v, tau)
            for sign in (1, -1)
        )
        error = abs((ahead - behind) / (2 * h) - exact[:, :, d]).max() / abs(exact).max()
        print(f"d vd / d {robot.velocity_names[d]:<7} of {batch} robots agrees to {error:.0e}")
        if not error < 1e-8:
            raise SystemExit("derivatives and differences disagree")


def regulator(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The gain of the discrete linear-quadratic regulator, by iterating its Riccati equation."""
    Q, R = np.diag([1.0, 10.0, 0.1, 0.1]), np.array([[0.1]])
    # exact over a step: the exponential of [[A, B], [0, 0]] dt, by its series
    block = np.zeros((5, 5))
    block[:4, :4], block[:4, 4:] = A * DT, B * DT
    power = exponential = np.eye(5)
    for k in range(1, 20):
        power = power @ block / k
        exponential = exponential + power
    Ad, Bd = exponential[:4, :4], exponential[:4, 4:]

    def gain(P: np.ndarray) -> np.ndarray:
        return np.linalg.solve(R + Bd.T @ P @ Bd, Bd.T @ P @ Ad)

    P = Q
    for _ in range(5000):
        P = Q + Ad.T @ P @ (Ad - Bd @ gain(P))
    return gain(P)


def balance(robot: pliant.Robot, K: np.ndarray) -> None:
    """The feedback law in the same program as the dynamics: 1000 cart-poles, 5 s, one native call."""
    title("3. Balanced: controller and dynamics in one kernel")
    gains = K.ravel().tolist()
    limit = robot.motors["slider"].effort_limit

    def step(q, v):
        u = -sum(k * x for k, x in zip(gains, [*q, *v], strict=True))
        u = pliant.math.minimum(pliant.math.maximum(u, -limit), limit)
        vd = pliant.forward_dynamics(robot, q, v, [u, 0])
        v = [a + DT * b for a, b in zip(v, vd, strict=True)]
        return robot.integrate(q, v, DT), v

    sizes = {"q": robot.nq, "v": robot.nv}
    shapes = {name: (size,) for name, size in sizes.items()}
    loop = pliant.compiler.Loop([pliant.compiler.Block(step, ("q", "v"), ("q", "v"))], count=500)
    program = pliant.compiler.Program(sizes, inputs=("q", "v"), outputs=("q", "v"), body=[loop])
    kernel = pliant.compiler.Kernel(program, shapes, shapes, name="balance")
    rng = np.random.default_rng(1)
    start = rng.uniform(-0.3, 0.3, size=(1000, 2))
    q, _ = kernel(start, np.zeros((1000, 2)))
    print(f"1000 poles, released up to {np.degrees(abs(start[:, 1]).max()):.0f} degrees off")
    print(
        f"after 5 s, at most {np.degrees(abs(q[:, 1]).max()):.4f} degrees off; carts within {abs(q[:, 0]).max():.4f} m"
    )
    if not abs(q[:, 1]).max() < 1e-3:
        raise SystemExit("a pole fell")


def own_function() -> None:
    title("4. Any generic function of yours")
    robot = pliant.load("arm7")

    def distance(robot, q, target):
        p = pliant.frame_pose(robot, q, "tool")[:3, 3]
        return pliant.math.sqrt(sum((a - b) * (a - b) for a, b in zip(p, target, strict=True)))

    gradient = pliant.jacobian(distance, robot, wrt="q", shapes={"target": 3})
    q, target = robot.random(3), np.array([0.3, 0.2, 0.5])
    value = pliant.compile(distance, robot, shapes={"target": 3})
    before = value(q, target)
    for _ in range(200):
        q = robot.integrate(q, -0.5 * value(q, target) * gradient(q, target))
    print(f"distance of the tool from a target, by gradient descent: {before:.3f} m -> {value(q, target):.3f} m")
    if not value(q, target) < 0.2 * before:
        raise SystemExit("the descent did not descend")


if __name__ == "__main__":
    main()
