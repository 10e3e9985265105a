"""Pliant simulates robots; its physics is plain Python, generic over the scalar.

Public names of all layers are gathered here. Big libraries are imported where they are used, and contact
and simulation when they are first asked for, so that ``import pliant`` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pliant.compiler import Block, Kernel, Loop, Program, kernel_from_function
from pliant.dynamics import (
    Energy, FlexibilityState, InverseDerivatives, ProjectedEquations, RobotFunction, bias_forces, center_of_mass,
    center_of_mass_jacobian, center_of_mass_velocity, centroidal_matrix, centroidal_momentum,
    centroidal_momentum_rate, compile, coriolis_matrix, energy, flexibility_names, flexibility_state,
    forward_dynamics, frame_acceleration, frame_jacobian, frame_jacobian_rate, frame_pose, frame_velocity,
    gravity_forces, inverse_dynamics,
    inverse_dynamics_derivatives, jacobian, kinetic_energy, mass_matrix, mass_matrix_inverse, mass_matrix_solution,
    potential_energy, projected_newton_euler, robot_function,
)  # fmt: skip
from pliant.errors import (
    ContactError, KernelError, PliantError, RobotError, SimulationError, SimulationWarning, TraceError,
)  # fmt: skip
from pliant.formats import from_pinocchio, load, load_urdf, robots
from pliant.robot import Robot, RobotBuilder
from pliant.scalar import (
    abs, acos, asin, atan2, both, cos, either, equal, exp, floor, log, maximum, minimum, negation, select, sin,
    sqrt, tan,
)  # fmt: skip

if TYPE_CHECKING:
    from pliant.contact import (
        CompliantContact, Ground, HuntCrossley, RigidContact, SpringDamper, flat, height_map, slope, stairs, waves,
    )  # fmt: skip
    from pliant.formats.dh import from_dh
    from pliant.formats.dh_export import to_dh
    from pliant.formats.dh_robots import hopper_flight
    from pliant.formats.dh_rows import DHRow, DHTable
    from pliant.formats.side_file import read_side_file
    from pliant.simulation import (
        Controller, DenseSolution, DenseSolver, Diagnostics, ExternalForce, Log, Rollout, Simulation, State,
    )  # fmt: skip
    from pliant.symbolic import Equations, SymbolicRobot, equations, symbolic_robot

__version__ = "0.1.0"

_LATER = {
    "pliant.contact": (
        "CompliantContact", "Ground", "HuntCrossley", "RigidContact", "SpringDamper", "flat", "height_map", "slope",
        "stairs", "waves",
    ),
    "pliant.formats.dh": ("from_dh",),
    "pliant.formats.dh_export": ("to_dh",),
    "pliant.formats.dh_robots": ("hopper_flight",),
    "pliant.formats.dh_rows": ("DHRow", "DHTable"),
    "pliant.formats.side_file": ("read_side_file",),
    "pliant.simulation": (
        "Controller", "DenseSolution", "DenseSolver", "Diagnostics", "ExternalForce", "Log", "Rollout", "Simulation",
        "State",
    ),
    "pliant.symbolic": ("Equations", "SymbolicRobot", "equations", "symbolic_robot"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Block", "CompliantContact", "ContactError", "Controller", "DHRow", "DHTable", "DenseSolution", "DenseSolver",
    "Diagnostics", "Energy", "Equations", "ExternalForce", "FlexibilityState", "Ground", "HuntCrossley",
    "InverseDerivatives", "Kernel", "KernelError", "Log", "Loop", "PliantError", "Program", "ProjectedEquations",
    "RigidContact", "Robot", "RobotBuilder", "RobotError", "RobotFunction", "Rollout", "Simulation",
    "SimulationError", "SimulationWarning", "SpringDamper", "State", "SymbolicRobot", "TraceError", "__version__",
    "abs", "acos", "asin", "atan2", "bias_forces", "both", "center_of_mass", "center_of_mass_jacobian",
    "center_of_mass_velocity", "centroidal_matrix", "centroidal_momentum", "centroidal_momentum_rate", "compile",
    "coriolis_matrix", "cos", "either", "energy", "equal", "equations", "exp", "flat", "flexibility_names",
    "flexibility_state", "floor", "forward_dynamics", "frame_acceleration", "frame_jacobian", "frame_jacobian_rate",
    "frame_pose", "frame_velocity", "from_dh", "from_pinocchio", "gravity_forces", "height_map", "hopper_flight",
    "inverse_dynamics", "inverse_dynamics_derivatives", "jacobian", "kernel_from_function", "kinetic_energy", "load",
    "load_urdf", "log", "mass_matrix", "mass_matrix_inverse", "mass_matrix_solution", "maximum", "minimum",
    "negation", "potential_energy", "projected_newton_euler", "read_side_file", "robot_function", "robots", "select",
    "sin", "slope", "sqrt", "stairs", "symbolic_robot", "tan", "to_dh", "waves",
]  # fmt: skip
