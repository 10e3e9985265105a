"""Stages of chance and sensors.

Before each step, forces by chance are drawn. After it, sensors that are due sample, and samples that have arrived
become readings.

Of sensor NAME the state has "NAME: reading", "NAME: truth" (of its last sample, without errors), "NAME: memory". A
robot that has diverged reads what it read before.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from pliant.actuation.disturbances import Disturbance
from pliant.chance import KEY_SIZE, Chance, stream_of
from pliant.compiler.tracing import Stages
from pliant.errors import SimulationError
from pliant.robot.sensors import Sensor
from pliant.scalar import Scalar, Scalars, both, equal, select
from pliant.sensors.errors import Memory, drift_samples, drifted, has_drift, measured, turn_on
from pliant.sensors.rays import range_stages, scan_stages
from pliant.sensors.readings import (
    Reader, after_sample, delivered, first_readings, is_delivering, is_due, remainder, watched, with_contact_times,
)  # fmt: skip
from pliant.sensors.truth import Moment, check_wrench, contact_totals, heading_of, places_of, truth_of
from pliant.simulation.controllers import Controller
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.smooth_step import smooth_acceleration
from pliant.simulation.state import time_of

_SOLVED = ("q solved", "v solved", "vd solved")
_NOW = ("clock", "q", "v", "torques", "impulses")


def sensor_sizes(model: StepModel) -> dict[str, int]:
    """The parts of the state that sensors have."""
    sizes = {"chance": KEY_SIZE if model.is_random else 0, "disturbances": sum(d.size for d in model.disturbances)}
    for reader in model.readers:
        own = {"reading": reader.size, "truth": reader.size, "memory": reader.memory_size}
        sizes |= {part_of(reader, what): size for what, size in own.items()}
    return sizes


def part_of(reader: Reader, what: str) -> str:
    """The name of a part of the state: "reading", "truth" or "memory"."""
    return f"{reader.name}: {what}"


def reading_parts(model: StepModel, controller: Controller | None) -> list[str]:
    """The parts of the state that a controller with sensors takes, in order."""
    has_them = controller is not None and controller.takes_sensors
    return [part_of(reader, "reading") for reader in model.readers] if has_them else []


def by_channel(readers: Sequence[Reader], readings: Sequence[Scalars]) -> dict[str, Scalars]:
    """What sensors read, by channel, from the numbers of each."""
    pairs = zip(readers, readings, strict=False)
    return {f"{r.name}.{channel}": numbers[span] for r, numbers in pairs for channel, span in r.spans.items()}


def check_sensors(model: StepModel) -> None:
    """Raise if a sensor measures what there is not in this simulation."""
    for reader in model.readers:
        sensor = reader.sensor
        if sensor.kind == "wrench":
            check_wrench(model.robot, sensor, model.forces)
        if sensor.kind == "scan" and model.ground is None:
            problem, cure = f"{sensor.subject} looks at the ground, and there is none", "give ground=pliant.flat()"
            raise SimulationError(problem, subject=sensor.subject, field="ground", cure=cure)
        if sensor.kind == "contact":
            parts = {part for name in model.touch_names for part in name.split("|")}
            there = {place for part in parts for place in places_of(model.robot, part)}
            absent = [place for place in sensor.at if place not in there]
            if absent:
                problem = f"{sensor.subject}: nothing of {absent[0]!r} can touch anything in this simulation"
                cure = "declare its contact with robot.with_contact, and give a ground"
                raise SimulationError(problem, subject=sensor.subject, field="at", cure=cure)


def add_sensors(stages: Stages, parameters: Parameters, integrator: str) -> None:
    """Add what sensors do after a step to a program that has the variables of the state."""
    model = parameters.structure
    readers = model.readers
    if not readers:
        return
    schedules = _schedules(readers)
    for k, due in enumerate(schedules):
        stages.variable(f"due {k}", 1)
        for reader in due:
            if has_drift(reader.sensor):
                stages.variable(f"{reader.name} drifts", 1)
    _add_flags(stages, schedules)
    _add_watches(stages, parameters)
    for k, due in enumerate(schedules):
        for reader in due:
            if has_drift(reader.sensor):
                with stages.loop(1, when=f"{reader.name} drifts"):
                    _add_drift(stages, parameters, reader)
        with stages.loop(1, when=f"due {k}"):
            _add_samples(stages, parameters, due, integrator)
    _add_delivery(stages, parameters)


def add_disturbances(stages: Stages, parameters: Parameters) -> None:
    """Add the forces by chance of the next step, which they are throughout."""
    model = parameters.structure
    if not model.disturbances:
        return

    def drawn(memory, clock, chance, divergence):
        left, found = iter(memory), []
        for k, disturbance in enumerate(model.disturbances):
            own = [next(left) for _ in range(disturbance.size)]
            found += disturbance.next(own, Chance(chance, clock, _stream(k, disturbance, "next")), model.dt)
        moves = equal(divergence[0], 0)
        return [select(moves, a, b) for a, b in zip(found, memory, strict=True)]

    stages.add(drawn, ("disturbances", "clock", "chance", "divergence"), ("disturbances",))


def _stream(k: int, disturbance: Disturbance, purpose: str) -> int:
    return stream_of(f"{type(disturbance).__name__} {k} on {disturbance.body}: {purpose}")


def add_turning_on(stages: Stages, parameters: Parameters) -> None:
    """Add what sensors do at a reset: errors are drawn, and a first sample is all that they have ever read.

    It is that of a robot on which no force acts but gravity and what holds it where it is: nothing has been solved yet.
    """
    model = parameters.structure
    if model.disturbances:

        def first(clock, chance):
            streams = [_stream(k, d, "first") for k, d in enumerate(model.disturbances)]
            pairs = zip(model.disturbances, streams, strict=True)
            return [x for d, stream in pairs for x in d.first(Chance(chance, clock, stream))]

        stages.add(first, ("clock", "chance"), ("disturbances",))
    for reader in model.readers:
        rays = _add_rays(stages, parameters, reader, "first rays")

        def on(clock, q, v, chance, p, *rays, reader=reader):
            m = parameters.applied(p)
            sensor = m.robot.sensors[reader.name]
            drawn = reader.chance(chance, clock, "on")
            memory = turn_on(sensor, drawn) if drawn is not None else {}
            zero = [0] * len(sensor.at)
            if sensor.kind == "contact":
                memory |= {"touch": zero, "air_time": zero, "contact_time": zero}
            rest = _kinematic(m, clock, q, v)
            found = rays[0] if rays else ()
            truth, sample, memory = _sample(reader, sensor, rest, rest, memory, chance, clock, found, is_first=True)
            memory = first_readings(reader, sample, memory)
            return sample, truth, reader.packed(memory)

        stages.add(on, ("clock", "q", "v", "chance", "parameters", *rays), _parts(reader))


# ---- stages


def _schedules(readers: Iterable[Reader]) -> list[list[Reader]]:
    """Sensors that sample at the same ticks; those with jitter each by itself."""
    found: dict[Any, list[Reader]] = {}
    for reader in readers:
        timing = reader.timing
        key = reader.name if timing.jitter else (timing.period, timing.phase)
        found.setdefault(key, []).append(reader)
    return list(found.values())


def _parts(reader: Reader) -> tuple[str, str, str]:
    reading, truth, memory = (part_of(reader, what) for what in ("reading", "truth", "memory"))
    return reading, truth, memory


def _add_flags(stages: Stages, schedules: Sequence[Sequence[Reader]]) -> None:
    def flags(clock, divergence, chance):
        found: dict[str, list[Scalar]] = {}
        moves = equal(divergence[0], 0)
        for k, due in enumerate(schedules):
            is_now = both(moves, is_due(due[0], clock, chance))
            found[f"due {k}"] = [select(is_now, 1, 0)]
            for reader in due:
                if has_drift(reader.sensor):
                    ticks = reader.timing.period * drift_samples(reader.sensor, reader.period)
                    late = remainder([clock[0] + (ticks - reader.timing.phase), *clock[1:]], ticks)
                    # with the planned sample, jitter apart
                    found[f"{reader.name} drifts"] = [select(both(moves, equal(late, 0)), 1, 0)]
        return found

    stages.add(flags, ("clock", "divergence", "chance"))


def _add_watches(stages: Stages, parameters: Parameters) -> None:
    """Contacts are watched at each step, whenever they are sampled."""
    for reader in parameters.structure.readers:
        if reader.sensor.kind != "contact":
            continue

        def watch(memory, impulses, divergence, p, reader=reader):
            m = parameters.applied(p)
            sensor = m.robot.sensors[reader.name]
            totals = contact_totals(sensor, m.robot, m.groups, [x / m.dt for x in impulses])
            after = reader.packed(watched(sensor, totals, reader.unpacked(memory), m.dt))
            moves = equal(divergence[0], 0)
            return [select(moves, a, b) for a, b in zip(after, memory, strict=True)]

        memory = part_of(reader, "memory")
        stages.add(watch, (memory, "impulses", "divergence", "parameters"), (memory,))


def _add_drift(stages: Stages, parameters: Parameters, reader: Reader) -> None:
    time = reader.period * drift_samples(reader.sensor, reader.period)

    def drift(memory, clock, chance, p):
        sensor = parameters.applied(p).robot.sensors[reader.name]
        drawn = reader.chance(chance, clock, "drift")
        assert drawn is not None  # a drift is drawn
        kept = reader.unpacked(memory)
        return reader.packed({**kept, **drifted(sensor, kept, drawn, time)})

    memory = part_of(reader, "memory")
    stages.add(drift, (memory, "clock", "chance", "parameters"), (memory,))


def _add_samples(stages: Stages, parameters: Parameters, due: Sequence[Reader], integrator: str) -> None:
    """Samples of sensors that are due at the same ticks."""
    model = parameters.structure
    is_stepped = integrator == "semi-implicit"
    solved_parts = _SOLVED if model.feels_forces and is_stepped else ("u", "contact memory")
    rays = {reader.name: _add_rays(stages, parameters, reader) for reader in due}

    def sample(clock, q, v, torques, impulses, chance, p, disturbances, *rest):
        m = parameters.applied(p).disturbed(disturbances)
        forces = [x / m.dt for x in impulses]
        now = _moment(m, clock, q, v, [0] * m.robot.nv, torques, forces)
        solved, parts = now, list(rest[len(solved_parts) :])
        if m.feels_forces and is_stepped:
            q_solved, v_solved, vd = rest[:3]
            solved = _moment(m, clock, q_solved, v_solved, vd, torques, forces, ticks=-1)
        elif m.feels_forces:
            vd = smooth_acceleration(m, time_of(clock, m.dt), q, v, rest[0], rest[1])
            solved = _moment(m, clock, q, v, vd, torques, forces)
        found: dict[str, list[Scalar]] = {}
        for reader in due:
            sensor = m.robot.sensors[reader.name]
            reading, memory = parts.pop(0), reader.unpacked(parts.pop(0))
            seen = parts.pop(0) if rays[reader.name] else ()
            truth, taken, memory = _sample(reader, sensor, now, solved, memory, chance, clock, seen)
            reading, memory = after_sample(reader, sensor, taken, reading, memory, clock, chance)
            found |= dict(zip(_parts(reader), (reading, truth, reader.packed(memory)), strict=True))
        return found

    own = [
        name for reader in due for name in (part_of(reader, "reading"), part_of(reader, "memory"), *rays[reader.name])
    ]
    stages.add(sample, (*_NOW, "chance", "parameters", "disturbances", *solved_parts, *own))


def _add_rays(stages: Stages, parameters: Parameters, reader: Reader, what: str = "rays") -> tuple[str, ...]:
    """Add the rays of a scan or a range finder; the variable that has what they meet, if the sensor has any."""
    model, sensor, name = parameters.structure, reader.sensor, f"{reader.name}: {what}"
    if not sensor.rays:
        return ()
    found = stages.variable(f"{name} found", len(sensor.rays) * (1 if sensor.kind == "scan" else 2))
    place = f"{name} place"
    if sensor.kind == "scan":

        def headed(clock, q, v, p):
            return heading_of(sensor, _kinematic(parameters.applied(p), clock, q, v))[0]

        stages.variable(place, 4)
        stages.add(headed, ("clock", "q", "v", "parameters"), (place,))
        assert model.ground is not None  # checked
        scan_stages(stages, name, [ray[:2] for ray in sensor.rays], model.ground, place=place, found=found)
        return (found,)

    def placed(clock, q, v, p):
        now = _kinematic(parameters.applied(p), clock, q, v)
        X = now.frame(sensor.at[0])[2]
        links = [[*(pose.p + now.origin), *pose.R.matrix()] for pose in now.poses]
        return [*(X.p + now.origin), *X.R.matrix()], links

    robot, poses = model.robot, f"{name} links"
    own, _ = robot.mechanism.frame(sensor.at[0])
    without = [body for body in robot.bodies if robot.mechanism.body(body)[0] == own]
    stages.variable(place, 12)
    stages.add(placed, ("clock", "q", "v", "parameters"), (place, poses))
    range_stages(
        stages, name, sensor.rays, model.ground, place=place, found=found, reach=sensor.reach, robot=robot, poses=poses,
        without=without,
    )  # fmt: skip
    return (found,)


def _kinematic(m: StepModel, clock: Scalars, q: Scalars, v: Scalars) -> Moment:
    """A moment of which only places and velocities matter."""
    return _moment(m, clock, q, v, [0] * m.robot.nv, [0] * m.robot.nu, [0] * (3 * len(m.touch_names)))


def _sample(
    reader: Reader, sensor: Sensor, now: Moment, solved: Moment, memory: Memory, chance: Scalars, clock: Scalars,
    rays: Scalars, *, is_first: bool = False,
) -> tuple[list[Scalar], list[Scalar], Memory]:  # fmt: skip
    """The truth, a sample with its errors, and what is remembered."""
    truth = truth_of(sensor, now, solved, rays)
    if sensor.kind == "contact":
        truth = with_contact_times(sensor, truth, memory)
    found = measured(sensor, truth, memory, reader.chance(chance, clock, "noise"), 1 / reader.period)
    if sensor.is_differentiated:
        if not is_first:
            pairs = zip(found["position"], memory["last"], strict=True)
            found["velocity"] = [(a - b) / reader.period for a, b in pairs]
        memory = {**memory, "last": found["position"]}
    return reader.flat(truth), reader.flat(found), memory


def _add_delivery(stages: Stages, parameters: Parameters) -> None:
    """Samples that have been under way."""
    for reader in filter(is_delivering, parameters.structure.readers):

        def deliver(clock, divergence, reading, memory, reader=reader):
            after, kept = delivered(reader, reading, reader.unpacked(memory), clock)
            moves = equal(divergence[0], 0)
            return (
                [select(moves, a, b) for a, b in zip(after, reading, strict=True)],
                [select(moves, a, b) for a, b in zip(reader.packed(kept), memory, strict=True)],
            )

        parts = (part_of(reader, "reading"), part_of(reader, "memory"))
        stages.add(deliver, ("clock", "divergence", *parts), parts)


def _moment(
    m: StepModel, clock: Scalars, q: Scalars, v: Scalars, vd: Scalars, torques: Scalars, forces: Scalars, ticks: int = 0
) -> Moment:
    t = time_of(clock, m.dt) + ticks * m.dt
    return Moment(m.robot, t, m.dt, q, v, vd, torques, forces, m.groups, m.ground, m.forces)
