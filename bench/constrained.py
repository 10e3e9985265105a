"""Speed of constrained dynamics next to Pinocchio, on one thread, in one run that checks what it times.

    python -m bench.constrained [--json] [--robots anymal go2 talos] [--batch 4096]

Times are per robot. Pinocchio is called from Python, one state after the other, as its users do; its contacts are set
up once. "independent" is Pliant with the promise that no contact depends on others, which Pinocchio takes for granted.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio as pin

import pliant
from bench.report import Report, failed, options_of
from bench.robots import Subject, subject
from bench.tables import Row
from bench.timing import best_times

TOLERANCE = 1e-8

CONTACTS = {
    "anymal": ("LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT"),
    "go2": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    "talos": ("left_sole_link", "right_sole_link"),
}


def main() -> None:
    """Run the benchmark and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--robots", nargs="+", choices=CONTACTS, default=list(CONTACTS))
    parser.add_argument("--batch", type=int, default=4096)
    options = parser.parse_args()
    if options.short:
        options.robots, options.batch = options.robots[:1], 256
    title = (
        f"time per robot [us], batch of {options.batch}, one thread; ratios to Pinocchio {pin.__version__} from Python"
    )
    report = Report(options, batch=options.batch)
    report.table("held", title, {name: partial(contacts_held, name, options.batch) for name in options.robots})
    report.finish()


def contacts_held(name: str, batch: int) -> list[Row]:
    """Forward dynamics with contacts, and impacts."""
    s, frames = subject(name, batch), CONTACTS[name]
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for name in frames:
        frame = s.model.frames[s.model.getFrameId(name)]
        where = (frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED)
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, s.model, *where))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(s.model, s.data, models, datas)

    def forward(q, v, tau):
        return pin.constraintDynamics(s.model, s.data, q, v, tau, models, datas)

    def impact(q, v, _):
        return pin.impulseDynamics(s.model, s.data, q, v, models, datas)

    return [
        _one(s, frames, pliant.constrained.constrained_dynamics, forward),
        _one(s, frames, pliant.constrained.impact_dynamics, impact),
    ]


def _one(s: Subject, frames: tuple[str, ...], function: Any, reference: Callable[..., np.ndarray]) -> Row:
    states = [(s.q[k], s.v[k], s.tau[k]) for k in range(min(256, len(s.q)))]
    expected = np.array([reference(*state).copy() for state in states])
    contenders: dict[str, Callable[[], object]] = {"pinocchio": lambda: [reference(*state) for state in states]}
    errors, operations = {}, {}
    for what in ("float64", "independent"):
        promise: dict[str, Any] = {"tolerance": None} if what == "independent" else {}
        kernel = pliant.compile(function, s.robot, contacts=frames, **promise)
        arrays = (s.q, s.v, s.tau)[: len(kernel.inputs)]
        out = tuple(kernel(*arrays))
        errors[what] = float(np.abs(out[0][: len(states)] - expected).max() / np.abs(expected).max())
        contenders[what] = partial(kernel, *arrays, out=out)
        operations[what] = sum(kernel.operations().values())
        if what == "float64":
            one = tuple(np.array(x[0]) for x in out)
            contenders["single"] = partial(kernel, *(a[0].copy() for a in arrays), out=one)
    best = best_times(contenders)
    theirs = best["pinocchio"] / len(states) * 1e6
    row: Row = {"robot": s.name, "function": function.name, "rows": 3 * len(frames), "pinocchio": theirs}
    for what in ("float64", "independent", "single"):
        ours = best[what] * 1e6 / (1 if what == "single" else len(s.q))
        row |= {what: ours, "ratio" if what == "float64" else f"ratio {what}": theirs / ours}
    worst = max(errors.values())
    fault = "" if worst < TOLERANCE else f"error {worst:.1e}, above {TOLERANCE:g}"
    row |= {"operations": operations["float64"], "error": worst}
    return row | failed(f"{s.name} {function.name}", fault)


if __name__ == "__main__":
    main()
