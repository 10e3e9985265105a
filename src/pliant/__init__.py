"""Pliant simulates robots; its physics is plain Python, generic over the scalar.

Public names of all layers are gathered here, and each is imported when it is first asked for, so that
``import pliant`` costs nothing: not NumPy either, which the command line's help has no use for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant import control
    from pliant.compiler import Block, Kernel, Loop, Program, kernel_from_function
    from pliant.contact import (
        CompliantContact, ConsistentDynamics, ConstrainedDynamics, GaussAcceleration, Ground, HuntCrossley,
        Impact, RigidContact, SpringDamper, SupportTorques, TorqueSplit, UnilateralImpact,
        aghili_acceleration, center_of_pressure, consistent_inverse, constrained_dynamics, constraint_inertia,
        contact_bias, contact_consistent_dynamics, contact_inertia, contact_inverse_dynamics,
        contact_jacobian, contact_rank, contact_wrench, flat, force_projector, friction_margins,
        gauss_acceleration, height_map, impact_dynamics, impact_impulse, impact_map, impact_velocity,
        orthogonal_projector, slope, stairs, static_torques, torque_split, unilateral_impact, waves,
    )  # fmt: skip
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
    from pliant.formats.dh import from_dh
    from pliant.formats.dh_export import to_dh
    from pliant.formats.dh_robots import hopper_flight
    from pliant.formats.dh_rows import DHRow, DHTable
    from pliant.formats.hopping_robots import hopper
    from pliant.formats.side_file import read_side_file
    from pliant.hybrid import Event, HybridLog, HybridSimulation, InconsistentContactError
    from pliant.hybrid.compare import ContactComparison, compare_contacts
    from pliant.logs.loading import load_log
    from pliant.robot import Robot, RobotBuilder
    from pliant.scalar import (
        abs, acos, asin, atan2, both, cos, either, equal, exp, floor, log, maximum, minimum, negation, select, sin,
        sqrt, tan,
    )  # fmt: skip
    from pliant.simulation import (
        Controller, DenseSolution, DenseSolver, Diagnostics, ExternalForce, Log, Rollout, Simulation, State,
    )  # fmt: skip
    from pliant.symbolic import Equations, SymbolicRobot, equations, symbolic_robot
    from pliant.view.live import live
    from pliant.view.bode import Bode, bode
    from pliant.view.ledger import EnergyLedger, energy_ledger

__version__ = "0.1.0"

_LATER = {
    "pliant.compiler": ("Block", "Kernel", "Loop", "Program", "kernel_from_function"),
    "pliant.contact": (
        "CompliantContact", "ConsistentDynamics", "ConstrainedDynamics", "GaussAcceleration", "Ground", "HuntCrossley",
        "Impact", "RigidContact", "SpringDamper", "SupportTorques", "TorqueSplit", "UnilateralImpact",
        "aghili_acceleration", "center_of_pressure", "consistent_inverse", "constrained_dynamics", "constraint_inertia",
        "contact_bias", "contact_consistent_dynamics", "contact_inertia", "contact_inverse_dynamics",
        "contact_jacobian", "contact_rank", "contact_wrench", "flat", "force_projector", "friction_margins",
        "gauss_acceleration", "height_map", "impact_dynamics", "impact_impulse", "impact_map", "impact_velocity",
        "orthogonal_projector", "slope", "stairs", "static_torques", "torque_split", "unilateral_impact", "waves",
    ),
    "pliant.dynamics": (
        "Energy", "FlexibilityState", "InverseDerivatives", "ProjectedEquations", "RobotFunction", "bias_forces",
        "center_of_mass", "center_of_mass_jacobian", "center_of_mass_velocity", "centroidal_matrix",
        "centroidal_momentum", "centroidal_momentum_rate", "compile", "coriolis_matrix", "energy", "flexibility_names",
        "flexibility_state", "forward_dynamics", "frame_acceleration", "frame_jacobian", "frame_jacobian_rate",
        "frame_pose", "frame_velocity", "gravity_forces", "inverse_dynamics", "inverse_dynamics_derivatives",
        "jacobian", "kinetic_energy", "mass_matrix", "mass_matrix_inverse", "mass_matrix_solution", "potential_energy",
        "projected_newton_euler", "robot_function",
    ),
    "pliant.errors": (
        "ContactError", "KernelError", "PliantError", "RobotError", "SimulationError", "SimulationWarning",
        "TraceError",
    ),
    "pliant.formats": ("from_pinocchio", "load", "load_urdf", "robots"),
    "pliant.formats.dh": ("from_dh",),
    "pliant.formats.dh_export": ("to_dh",),
    "pliant.formats.dh_robots": ("hopper_flight",),
    "pliant.formats.dh_rows": ("DHRow", "DHTable"),
    "pliant.formats.hopping_robots": ("hopper",),
    "pliant.formats.side_file": ("read_side_file",),
    "pliant.hybrid": ("Event", "HybridLog", "HybridSimulation", "InconsistentContactError"),
    "pliant.hybrid.compare": ("ContactComparison", "compare_contacts"),
    "pliant.logs.loading": ("load_log",),
    "pliant.robot": ("Robot", "RobotBuilder"),
    "pliant.scalar": (
        "abs", "acos", "asin", "atan2", "both", "cos", "either", "equal", "exp", "floor", "log", "maximum", "minimum",
        "negation", "select", "sin", "sqrt", "tan",
    ),
    "pliant.simulation": (
        "Controller", "DenseSolution", "DenseSolver", "Diagnostics", "ExternalForce", "Log", "Rollout", "Simulation",
        "State",
    ),
    "pliant.symbolic": ("Equations", "SymbolicRobot", "equations", "symbolic_robot"),
    "pliant.view.bode": ("Bode", "bode"),
    "pliant.view.ledger": ("EnergyLedger", "energy_ledger"),
    "pliant.view.live": ("live",),
}  # fmt: skip

# layers with names of their own, such as pliant.control.raibert
_LAYERS = (
    "cli", "compiler", "contact", "control", "dynamics", "errors", "formats", "hybrid", "logs", "robot", "scalar",
    "simulation", "spatial", "symbolic", "view",
)  # fmt: skip
_HOMES = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    if name in _LAYERS:
        return import_module(f"pliant.{name}")
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LAYERS})


__all__ = [
    "Block", "Bode", "CompliantContact", "ConsistentDynamics", "ConstrainedDynamics", "ContactComparison",
    "ContactError", "Controller", "DHRow", "DHTable", "DenseSolution", "DenseSolver", "Diagnostics", "Energy",
    "EnergyLedger", "Equations", "Event", "ExternalForce", "FlexibilityState", "GaussAcceleration", "Ground",
    "HuntCrossley", "HybridLog", "HybridSimulation", "Impact", "InconsistentContactError", "InverseDerivatives",
    "Kernel", "KernelError", "Log", "Loop", "PliantError", "Program", "ProjectedEquations", "RigidContact", "Robot",
    "RobotBuilder", "RobotError", "RobotFunction", "Rollout", "Simulation", "SimulationError", "SimulationWarning",
    "SpringDamper", "State", "SupportTorques", "SymbolicRobot", "TorqueSplit", "TraceError", "UnilateralImpact",
    "__version__", "abs", "acos", "aghili_acceleration", "asin", "atan2", "bias_forces", "bode", "both",
    "center_of_mass", "center_of_mass_jacobian", "center_of_mass_velocity", "center_of_pressure", "centroidal_matrix",
    "centroidal_momentum", "centroidal_momentum_rate", "compare_contacts", "compile", "consistent_inverse",
    "constrained_dynamics", "constraint_inertia", "contact_bias", "contact_consistent_dynamics", "contact_inertia",
    "contact_inverse_dynamics", "contact_jacobian", "contact_rank", "contact_wrench", "control", "coriolis_matrix",
    "cos", "either", "energy", "energy_ledger", "equal", "equations", "exp", "flat", "flexibility_names",
    "flexibility_state", "floor", "force_projector", "forward_dynamics", "frame_acceleration", "frame_jacobian",
    "frame_jacobian_rate", "frame_pose", "frame_velocity", "friction_margins", "from_dh", "from_pinocchio",
    "gauss_acceleration", "gravity_forces", "height_map", "hopper", "hopper_flight", "impact_dynamics",
    "impact_impulse", "impact_map", "impact_velocity", "inverse_dynamics", "inverse_dynamics_derivatives", "jacobian",
    "kernel_from_function", "kinetic_energy", "live", "load", "load_log", "load_urdf", "log", "mass_matrix",
    "mass_matrix_inverse", "mass_matrix_solution", "maximum", "minimum", "negation", "orthogonal_projector",
    "potential_energy", "projected_newton_euler", "read_side_file", "robot_function", "robots", "select", "sin",
    "slope", "sqrt", "stairs", "static_torques", "symbolic_robot", "tan", "to_dh", "torque_split", "unilateral_impact",
    "waves",
]  # fmt: skip
