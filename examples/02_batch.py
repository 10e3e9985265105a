"""Many robots at a time: batches, out=, threads, float32, and a robot that went wrong among healthy ones.

python examples/02_batch.py
"""

import time

import numpy as np

import pliant

BATCH = 4096


def main() -> None:
    robot = pliant.load("quadruped")
    rng = np.random.default_rng(0)
    q = robot.random(rng, batch=BATCH)
    v, tau = rng.normal(size=(2, BATCH, robot.nv))
    shapes(robot, q, v, tau)
    kernel = hold_a_kernel(robot, q, v, tau)
    same_bits(kernel, q, v, tau)
    use_float32(robot, q, v, tau)
    one_goes_wrong(kernel, q, v, tau)


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def shapes(robot: pliant.Robot, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    title("1. One robot or many: the same call")
    one, many = pliant.forward_dynamics(robot, q[0], v[0], tau[0]), pliant.forward_dynamics(robot, q, v, tau)
    print(f"one:   q {q[0].shape} -> vd {one.shape}")
    print(f"many:  q {q.shape} -> vd {many.shape}, M {pliant.mass_matrix(robot, q).shape}")
    # what has no batch axis goes to every robot
    still = pliant.forward_dynamics(robot, q, np.zeros(robot.nv), np.zeros(robot.nv))
    print(f"mixed: q {q.shape}, v and tau ({robot.nv},) -> vd {still.shape}")
    try:
        pliant.forward_dynamics(robot, q, v[:10], tau)
    except pliant.KernelError as error:
        print(f"KernelError: {error}")


def hold_a_kernel(robot: pliant.Robot, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> pliant.compiler.Kernel:
    title("2. Holding the kernel, and writing into your own array")
    kernel = pliant.compile(pliant.forward_dynamics, robot)
    vd = np.empty_like(v)
    kernel(q, v, tau, out=vd)
    print(kernel)
    print(f"{BATCH} robots: {best(lambda: kernel(q, v, tau, out=vd)) / BATCH * 1e9:.0f} ns a robot")
    one, row = (q[0], v[0], tau[0]), vd[0]
    print(f"one robot:   {best(lambda: kernel(*one, out=row)) * 1e6:.2f} us a call")
    return kernel


def same_bits(kernel: pliant.compiler.Kernel, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    title("3. The same bits, alone or in company, on one thread or two")
    vd = kernel(q, v, tau)
    alone = np.array([kernel(*one) for one in zip(q[:100], v[:100], tau[:100], strict=True)])
    backward = kernel(q[::-1], v[::-1], tau[::-1])[::-1]
    for how, found, expected in (
        ("alone", alone, vd[:100]),
        ("in reverse order", backward, vd),
        ("on two threads", kernel(q, v, tau, threads=2), vd),
    ):
        print(f"{how}: {'identical' if np.array_equal(found, expected) else 'different'}")


def use_float32(robot: pliant.Robot, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    title("4. Half the digits, twice the lanes")
    double = pliant.compile(pliant.forward_dynamics, robot)
    single = pliant.compile(pliant.forward_dynamics, robot, precision="float32")
    a, b = double(q, v, tau), single(q, v, tau)
    error = abs(a - b).max() / abs(a).max()
    print(
        f"{double.lanes} lanes of {a.dtype}, {single.lanes} of {b.dtype}; they differ by {error:.0e} of the largest vd"
    )
    if not error < 1e-4:
        raise SystemExit("float32 is further off than its digits allow")


def one_goes_wrong(kernel: pliant.compiler.Kernel, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    title("5. A NaN stays with the robot that has it")
    clean = kernel(q, v, tau)
    broken = v.copy()
    broken[1234, 0] = np.nan
    vd = kernel(q, broken, tau)
    bad = np.flatnonzero(np.isnan(vd).any(axis=1))
    others = np.delete(np.arange(BATCH), 1234)
    print(f"robots with NaN in their result: {bad.tolist()}")
    print(f"results of the others: {'identical' if np.array_equal(vd[others], clean[others]) else 'different'}")


def best(call) -> float:
    """The shortest of a few times [s]."""
    times = []
    for _ in range(30):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
