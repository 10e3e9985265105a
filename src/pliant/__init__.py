"""Pliant simulates robots; its physics is plain Python, generic over the scalar.

Public names of all layers are gathered here. Big libraries are imported where they are used, so that
``import pliant`` stays cheap.
"""

from pliant.compiler import Block, Kernel, Loop, Program, kernel_from_function
from pliant.dynamics import (
    Energy, InverseDerivatives, ProjectedEquations, RobotFunction, bias_forces, center_of_mass,
    center_of_mass_jacobian, center_of_mass_velocity, centroidal_matrix, centroidal_momentum,
    centroidal_momentum_rate, compile, coriolis_matrix, energy, forward_dynamics, frame_acceleration,
    frame_jacobian, frame_jacobian_rate, frame_pose, frame_velocity, gravity_forces, inverse_dynamics,
    inverse_dynamics_derivatives, jacobian, kinetic_energy, mass_matrix, mass_matrix_inverse, mass_matrix_solution,
    potential_energy, projected_newton_euler, robot_function,
)  # fmt: skip
from pliant.errors import KernelError, PliantError, RobotError, TraceError
from pliant.formats import from_pinocchio, load, load_urdf, robots
from pliant.robot import Robot, RobotBuilder
from pliant.scalar import (
    abs, acos, asin, atan2, both, cos, either, equal, exp, floor, log, maximum, minimum, negation, select, sin,
    sqrt, tan,
)  # fmt: skip

__version__ = "0.1.0"

__all__ = [
    "Block", "Energy", "InverseDerivatives", "Kernel", "KernelError", "Loop", "PliantError", "Program",
    "ProjectedEquations", "Robot", "RobotBuilder", "RobotError", "RobotFunction", "TraceError", "__version__",
    "abs", "acos", "asin", "atan2", "bias_forces", "both", "center_of_mass", "center_of_mass_jacobian",
    "center_of_mass_velocity", "centroidal_matrix", "centroidal_momentum", "centroidal_momentum_rate", "compile",
    "coriolis_matrix", "cos", "either", "energy", "equal", "exp", "floor", "forward_dynamics", "frame_acceleration",
    "frame_jacobian", "frame_jacobian_rate", "frame_pose", "frame_velocity", "from_pinocchio", "gravity_forces",
    "inverse_dynamics", "inverse_dynamics_derivatives", "jacobian", "kernel_from_function", "kinetic_energy",
    "load", "load_urdf", "log", "mass_matrix", "mass_matrix_inverse", "mass_matrix_solution", "maximum", "minimum",
    "negation", "potential_energy", "projected_newton_euler", "robot_function", "robots", "select", "sin", "sqrt",
    "tan",
]  # fmt: skip
