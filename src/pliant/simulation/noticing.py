"""What a simulation notices beside its steps, and tells: once for each kind of trouble until it is reset.

`look` goes through robots for what no step knows, `troubles_of` lists what has been found, and `tell` warns of it.
`new_divergences` are those that steps have found.
"""

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.errors import SimulationWarning
from pliant.recording.troubles import Trouble
from pliant.simulation.counts import counts_of
from pliant.simulation.solver_stages import FAILURE
from pliant.simulation.state import Divergence, State, StateLayout, divergence_text, level_of_caller
from pliant.simulation.watch import FEW, STEPS, TIME, Watch, deepest_contact, of_robots

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation

# a warning reports unconverged steps of a robot from this many on, if they are more than this share of its steps and
# a residual is larger than this [m/s]: a smaller one moves nothing by more than a micrometre in a step of 1 ms, and
# penetrations keep that much anyway
_LEAST, _SHARE, _NOTABLE = 10, 2e-3, 1e-3
# names of contacts in a message
_MOST = 3


# parts of the state with counts, by the kind of trouble
_COUNTED = {"unconverged": "unconverged", "plunge": "plunges", "open": "openings", "release": "releases"}


class Places(NamedTuple):
    """Where in a state looks find what they need: clock, deepest penetration, and counts of troubles by kind."""

    clock: slice
    depth: int
    counts: dict[str, int]

    @classmethod
    def of(cls, layout: StateLayout) -> "Places":
        """Those of a layout."""
        spans = {kind: layout.span(part) for kind, part in _COUNTED.items()}
        # the last three numbers of either are the count, the worst and the first
        counts = {kind: span.stop - 3 for kind, span in spans.items() if span.stop > span.start}
        return cls(layout.span("clock"), layout.span("solver").start + 2, counts)


def periods_apart(sim: "Simulation", *, is_called: bool = True) -> int:
    """Control periods from one look to the next.

    Args:
        is_called: whether each look takes a call of its own, which few robots have to pay for.
    """
    steps = STEPS
    if (sim.batch or 1) < FEW:
        steps = 4 * STEPS if is_called else STEPS // 5
    return max(1, round(TIME / (sim.dt * sim.plan.substeps)), steps // sim.plan.substeps)


def look(sim: "Simulation", data: np.ndarray | None = None, watch: Watch | None = None) -> None:
    """Look at the robots of a simulation, or at other states of it, which another watch remembers.

    Args:
        data: states at one time or at several, (robots, times, size).
    """
    watch, layout = sim.watch if watch is None else watch, sim.layout
    if data is None:
        data = sim.data.reshape(-1, 1, layout.size)
    clocks = float(data[:, -1, sim.places.clock].sum())
    if clocks == watch.clocks:
        return  # nobody has moved
    watch.clocks = clocks
    depths = sim.kernels.depths(data, sim.parameters.data, watch.bodies) if watch.bodies else None
    contacts = data[..., sim.places.depth]
    if watch.is_noteworthy(depths, contacts):
        t = State(data, layout).t
        none = np.zeros((*contacts.shape, 0))
        for k in range(data.shape[1]):
            watch.add(t[:, k], (none if depths is None else depths)[:, k], contacts[:, k])


class Glance(NamedTuple):
    """What looks at a simulation had found at some moment: looks with a body below the ground, and `Watch.clocks`."""

    found: np.ndarray
    clocks: float

    @classmethod
    def of(cls, sim: "Simulation") -> "Glance":
        """Now."""
        return cls(sim.watch.below.copy(), sim.watch.clocks)

    def below(self, sim: "Simulation", data: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """With a look at the states of that moment, (size,) or (robots, size), which nobody remembers; (robots,)."""
        watch, rows = sim.watch, data.reshape(-1, sim.layout.size)
        if not watch.bodies or float(rows[:, sim.places.clock].sum()) == self.clocks:
            return self.found
        return self.found + (sim.kernels.depths(rows, parameters, watch.bodies) > watch.limits[0]).any(axis=1)


def troubles_of(sim: "Simulation", data: np.ndarray | None = None, watch: Watch | None = None) -> list[Trouble]:
    """All that has gone wrong since the reset, also what is not worth a warning."""
    watch = sim.watch if watch is None else watch
    state = State(np.atleast_2d(sim.data if data is None else data), sim.layout)
    found = [_diverged(sim, state), *watch.troubles(state.q), _unconverged(sim, state), _plunged(sim, state)]
    found += [_opened(sim, state), _released(sim, state)]
    return [trouble for trouble in found if trouble is not None]


def tell(sim: "Simulation", data: np.ndarray | None = None, watch: Watch | None = None) -> None:
    """Warn of troubles that the user does not know yet; divergences have their own warning."""
    told, is_own = sim.watch.told, watch is None
    if not _found(sim, sim.data if data is None else data, sim.watch if watch is None else watch) - told:
        return
    for trouble in troubles_of(sim, data, watch):
        if trouble.kind in told or trouble.kind == "divergence" or not _is_telling(sim, trouble, data):
            continue
        # known from here on, also where the warning is an error
        told.add(trouble.kind)
        where = "sim.troubles has all of it" if is_own else "in a rollout"
        warnings.warn(f"{trouble} ({where})", SimulationWarning, stacklevel=level_of_caller())


def new_divergences(sim: "Simulation") -> list[Divergence]:
    """Robots of a simulation that have diverged, and that it does not know of yet."""
    state = State(sim.data, sim.layout)
    flags = np.atleast_1d(state.part("divergence")[..., 0])
    if not flags.any():
        return []
    times, known = np.atleast_1d(state.t), {divergence.robot for divergence in sim.divergences}
    fresh = [int(k) for k in np.flatnonzero(flags) if k not in known]
    return [Divergence(k, float(times[k]), divergence_text(sim.model, int(flags[k]))) for k in fresh]


def look_at_rollout(sim: "Simulation", data: np.ndarray) -> None:
    """Look at the end of a rollout, whose robots may be others than the simulation's, and tell."""
    rows = np.atleast_2d(data)
    watch = sim.watch.another(len(rows))
    look(sim, rows[:, None], watch)
    tell(sim, rows, watch)


def _found(sim: "Simulation", data: np.ndarray, watch: Watch) -> set[str]:
    """Kinds of trouble that there are, at little cost."""
    return watch.found | {kind for kind, place in sim.places.counts.items() if data[..., place].any()}


def _is_telling(sim: "Simulation", trouble: Trouble, data: np.ndarray | None) -> bool:
    if trouble.kind != "unconverged":
        return True
    found = counts_of(State(np.atleast_2d(sim.data if data is None else data), sim.layout), "unconverged")
    return bool(((found.worst > _NOTABLE) & (found.count >= _LEAST) & (found.count > _SHARE * found.steps)).any())


# ---- one kind each


def _diverged(sim: "Simulation", state: State) -> Trouble | None:
    codes = state.part("divergence")[:, 0]
    who = np.flatnonzero(codes)
    if not len(who):
        return None
    times = np.atleast_1d(state.t)
    k = int(who[np.argmin(times[who])])
    what = f"{of_robots(k, len(who), len(codes))}{divergence_text(sim.model, int(codes[k]))}; it is frozen"
    return Trouble("divergence", "", k, len(who), float(times[k]), len(who), 0.0, f"t = {times[k]:.4g} s: {what}")


def _unconverged(sim: "Simulation", state: State) -> Trouble | None:
    found = counts_of(state, "unconverged")
    who = np.flatnonzero(found.count)
    if not len(who):
        return None
    # the robot whose steps are worst, or most often so
    k = int(who[np.lexsort((found.count[who], found.worst[who] > FAILURE))[-1]])
    count, steps, worst = int(found.count[k]), int(found.steps[k]), float(found.worst[k])
    first = float(found.first[who].min())
    names = _pushing(sim, state, k)
    at = f" (contacts now: {', '.join(names)})" if names else ""
    cure = "give a shorter dt" + (
        ", or more sweeps= or a larger tolerance= of RigidContact" if sim.model.is_rigid else ""
    )
    what = (
        f"{of_robots(k, len(who), len(found.count))}{count} of {steps} steps did not converge, the first at "
        f"t = {first:.4g} s, with residuals up to {worst:.2g} m/s{at}; {cure}"
    )
    return Trouble("unconverged", names[0] if names else "", k, len(who), first, int(found.count.sum()), worst, what)


def _plunged(sim: "Simulation", state: State) -> Trouble | None:
    found = counts_of(state, "plunges")
    who = np.flatnonzero(found.count)
    if not len(who):
        return None
    k = int(who[np.argmax(found.worst[who])])
    first, worst = float(found.first[who].min()), float(found.worst[k])
    name = deepest_contact(sim.model, state.q[k].tolist())
    what = (
        f"{of_robots(k, len(who), len(found.count))}in {int(found.count[k])} steps a contact was suddenly up to "
        f"{worst:.2g} m deep in the ground, first at t = {first:.4g} s (deepest now: {name!r}): it passed an edge "
        "within a step; give a shorter dt, or a ground without edges"
    )
    return Trouble("plunge", name, k, len(who), first, int(found.count.sum()), worst, what)


def _opened(sim: "Simulation", state: State) -> Trouble | None:
    found = counts_of(state, "openings")
    who = np.flatnonzero(found.count)
    if not len(who):
        return None
    k = int(who[np.argmax(found.worst[who])])
    first, worst, holds = float(found.first[who].min()), float(found.worst[k]), sim.model.holds
    gaps = np.abs(holds.gaps(state.q[k].astype(float).tolist(), state.part("anchors")[k].astype(float).tolist()))
    name = holds.names[int(np.argmax(gaps))]
    what = (
        f"{of_robots(k, len(who), len(found.count))}after {int(found.count[k])} of {int(found.steps[k])} steps "
        f"constraints were open by up to {worst:.2g} m (or rad), first at t = {first:.4g} s (most open now: {name}); "
        "give a shorter dt"
    )
    return Trouble("open", name, k, len(who), first, int(found.count.sum()), worst, what)


def _released(sim: "Simulation", state: State) -> Trouble | None:
    found = counts_of(state, "releases")
    who = np.flatnonzero(found.count)
    if not len(who):
        return None
    k = int(who[np.argmax(found.worst[who])])
    first, worst = float(found.first[who].min()), float(found.worst[k])
    name = sim.model.held[int(state.part("releases")[k, 0])]
    what = (
        f"{of_robots(k, len(who), len(found.count))}in {int(found.count[k])} of {int(found.steps[k])} steps a held "
        f"contact would have let go: contact {name!r} had to pull or was up to {worst:.2g} N beyond its friction cone, "
        f"first at t = {first:.4g} s; use pliant.EventSimulation or integrator='semi-implicit', which let it go"
    )
    return Trouble("release", name, k, len(who), first, int(found.count.sum()), worst, what)


def _pushing(sim: "Simulation", state: State, k: int) -> list[str]:
    """Contacts of a robot that push now, those with the largest force first."""
    sizes = np.linalg.norm(sim.forces_of(state.data[k].astype(float)), axis=-1)
    order = np.argsort(-sizes)[:_MOST]
    return [sim.contact_names[i] for i in order if sizes[i] > 0]
