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
    from pliant import control
    from pliant.contact import (
        CompliantContact, ConsistentDynamics, ConstrainedDynamics, GaussAcceleration, Ground, HuntCrossley,
        Impact, RigidContact, SpringDamper, SupportTorques, TorqueSplit, UnilateralImpact,
        aghili_acceleration, center_of_pressure, consistent_inverse, constrained_dynamics, constraint_inertia,
        contact_bias, contact_consistent_dynamics, contact_inertia, contact_inverse_dynamics,
        contact_jacobian, contact_rank, contact_wrench, flat, force_projector, friction_margins,
        gauss_acceleration, height_map, impact_dynamics, impact_impulse, impact_map, impact_velocity,
        orthogonal_projector, slope, stairs, static_torques, torque_split, unilateral_impact, waves,
    )  # fmt: skip
    from pliant.formats.dh import from_dh
    from pliant.formats.dh_export import to_dh
    from pliant.formats.dh_robots import hopper_flight
    from pliant.formats.dh_rows import DHRow, DHTable
    from pliant.formats.hopping_robots import hopper
    from pliant.formats.side_file import read_side_file
    from pliant.hybrid import Event, HybridLog, HybridSimulation, InconsistentContactError
    from pliant.hybrid.compare import ContactComparison, compare_contacts
    from pliant.simulation import (
        Controller, DenseSolution, DenseSolver, Diagnostics, ExternalForce, Log, Rollout, Simulation, State,
    )  # fmt: skip
    from pliant.symbolic import Equations, SymbolicRobot, equations, symbolic_robot

__version__ = "0.1.0"

_LATER = {
    "pliant.contact": (
        "CompliantContact", "ConsistentDynamics", "ConstrainedDynamics", "GaussAcceleration", "Ground", "HuntCrossley",
        "Impact", "RigidContact", "SpringDamper", "SupportTorques", "TorqueSplit", "UnilateralImpact",
        "aghili_acceleration", "center_of_pressure", "consistent_inverse", "constrained_dynamics", "constraint_inertia",
        "contact_bias", "contact_consistent_dynamics", "contact_inertia", "contact_inverse_dynamics",
        "contact_jacobian", "contact_rank", "contact_wrench", "flat", "force_projector", "friction_margins",
        "gauss_acceleration", "height_map", "impact_dynamics", "impact_impulse", "impact_map", "impact_velocity",
        "orthogonal_projector", "slope", "stairs", "static_torques", "torque_split", "unilateral_impact", "waves",
    ),
    "pliant.formats.dh": ("from_dh",),
    "pliant.formats.dh_export": ("to_dh",),
    "pliant.formats.dh_robots": ("hopper_flight",),
    "pliant.formats.dh_rows": ("DHRow", "DHTable"),
    "pliant.formats.hopping_robots": ("hopper",),
    "pliant.formats.side_file": ("read_side_file",),
    "pliant.hybrid": ("Event", "HybridLog", "HybridSimulation", "InconsistentContactError"),
    "pliant.hybrid.compare": ("ContactComparison", "compare_contacts"),
    "pliant.simulation": (
        "Controller", "DenseSolution", "DenseSolver", "Diagnostics", "ExternalForce", "Log", "Rollout", "Simulation",
        "State",
    ),
    "pliant.symbolic": ("Equations", "SymbolicRobot", "equations", "symbolic_robot"),
}  # fmt: skip


# layers with names of their own, such as pliant.control.raibert
_LATER_LAYERS = ("control",)


def __getattr__(name: str) -> Any:
    if name in _LATER_LAYERS:
        return import_module(f"pliant.{name}")
    for module, names in _LATER.items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Block", "CompliantContact", "ConsistentDynamics", "ConstrainedDynamics", "ContactComparison", "ContactError",
    "Controller", "DHRow", "DHTable", "DenseSolution", "DenseSolver", "Diagnostics", "Energy", "Equations",
    "Event", "ExternalForce", "FlexibilityState", "GaussAcceleration", "Ground", "HuntCrossley", "HybridLog",
    "HybridSimulation", "Impact", "InconsistentContactError", "InverseDerivatives",
    "Kernel", "KernelError", "Log", "Loop", "PliantError", "Program", "ProjectedEquations", "RigidContact", "Robot",
    "RobotBuilder", "RobotError", "RobotFunction", "Rollout", "Simulation", "SimulationError", "SimulationWarning",
    "SpringDamper", "State", "SupportTorques", "SymbolicRobot", "TorqueSplit", "TraceError", "UnilateralImpact",
    "__version__", "abs", "acos", "aghili_acceleration", "asin", "atan2", "bias_forces", "both", "center_of_mass",
    "center_of_mass_jacobian", "center_of_mass_velocity", "center_of_pressure", "centroidal_matrix",
    "centroidal_momentum", "centroidal_momentum_rate", "compare_contacts", "compile", "consistent_inverse",
    "constrained_dynamics", "constraint_inertia", "contact_bias", "contact_consistent_dynamics", "contact_inertia",
    "contact_inverse_dynamics", "contact_jacobian", "contact_rank", "contact_wrench", "control", "coriolis_matrix",
    "cos", "either", "energy", "equal", "equations", "exp", "flat", "flexibility_names", "flexibility_state", "floor",
    "force_projector", "forward_dynamics", "frame_acceleration", "frame_jacobian", "frame_jacobian_rate", "frame_pose",
    "frame_velocity", "friction_margins", "from_dh", "from_pinocchio", "gauss_acceleration", "gravity_forces",
    "height_map", "hopper", "hopper_flight", "impact_dynamics", "impact_impulse", "impact_map", "impact_velocity",
    "inverse_dynamics", "inverse_dynamics_derivatives", "jacobian", "kernel_from_function", "kinetic_energy", "load",
    "load_urdf", "log", "mass_matrix", "mass_matrix_inverse", "mass_matrix_solution", "maximum", "minimum", "negation",
    "orthogonal_projector", "potential_energy", "projected_newton_euler", "read_side_file", "robot_function", "robots",
    "select", "sin", "slope", "sqrt", "stairs", "static_torques", "symbolic_robot", "tan", "to_dh", "torque_split",
    "unilateral_impact", "waves",
]  # fmt: skip
