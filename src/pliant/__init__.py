"""Pliant simulates robots; its physics is plain Python, generic over the scalar.

Public names of all layers are gathered here. Big libraries are imported where they are used, and contact
and simulation when they are first asked for, so that ``import pliant`` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pliant.compiler import Block, Kernel, Loop, Program, kernel_from_function
from pliant.dynamics import (
    Energy, InverseDerivatives, ProjectedEquations, RobotFunction, bias_forces, center_of_mass,
    center_of_mass_jacobian, center_of_mass_velocity, centroidal_matrix, centroidal_momentum,
    centroidal_momentum_rate, compile, coriolis_matrix, energy, forward_dynamics, frame_acceleration,
    frame_jacobian, frame_jacobian_rate, frame_pose, frame_velocity, gravity_forces, inverse_dynamics,
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
    from pliant.simulation import (
        Controller, DenseSolution, DenseSolver, Diagnostics, ExternalForce, Log, Rollout, Simulation, State,
    )  # fmt: skip

__version__ = "0.1.0"

_LATER = {
    "pliant.contact": (
        "CompliantContact", "Ground", "HuntCrossley", "RigidContact", "SpringDamper", "flat", "height_map", "slope",
        "stairs", "waves",
    ),
    "pliant.simulation": (
        "Controller", "DenseSolution", "DenseSolver", "Diagnostics", "ExternalForce", "Log", "Rollout", "Simulation",
        "State",
    ),
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
    "Block", "CompliantContact", "ContactError", "Controller", "DenseSolution", "DenseSolver", "Diagnostics",
    "Energy", "ExternalForce", "Ground", "HuntCrossley", "InverseDerivatives", "Kernel", "KernelError", "Log",
    "Loop", "PliantError", "Program", "ProjectedEquations", "RigidContact", "Robot", "RobotBuilder",
    "RobotError", "RobotFunction", "Rollout", "Simulation", "SimulationError", "SimulationWarning",
    "SpringDamper", "State", "TraceError", "__version__", "abs", "acos", "asin", "atan2", "bias_forces", "both",
    "center_of_mass", "center_of_mass_jacobian", "center_of_mass_velocity", "centroidal_matrix",
    "centroidal_momentum", "centroidal_momentum_rate", "compile", "coriolis_matrix", "cos", "either", "energy",
    "equal", "exp", "flat", "floor", "forward_dynamics", "frame_acceleration", "frame_jacobian",
    "frame_jacobian_rate", "frame_pose", "frame_velocity", "from_pinocchio", "gravity_forces", "height_map",
    "inverse_dynamics", "inverse_dynamics_derivatives", "jacobian", "kernel_from_function", "kinetic_energy",
    "load", "load_urdf", "log", "mass_matrix", "mass_matrix_inverse", "mass_matrix_solution", "maximum",
    "minimum", "negation", "potential_energy", "projected_newton_euler", "robot_function", "robots", "select",
    "sin", "slope", "sqrt", "stairs", "tan", "waves",
]  # fmt: skip
