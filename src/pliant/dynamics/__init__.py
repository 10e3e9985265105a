"""Rigid-body dynamics of a robot: algorithms over any scalar, compiled for numbers.

Functions take the robot first, then arrays, in this order: the configuration q, nq [rad or m]; the velocity v, nv
[rad/s or m/s]; the acceleration vd, nv [rad/s^2 or m/s^2], or joint forces tau, nv [N m or N]. Given NumPy arrays or
floats, (n,) for one robot or (batch, n) for many, they run as kernels compiled for that robot; given SymPy or traced
scalars, the algorithm itself runs on them.
"""

from pliant.dynamics.articulated_body import forward_dynamics, mass_matrix_solution
from pliant.dynamics.coriolis import coriolis_matrix
from pliant.dynamics.derivatives import InverseDerivatives, inverse_dynamics_derivatives, jacobian
from pliant.dynamics.energy_and_momentum import (
    Energy, center_of_mass, center_of_mass_jacobian, center_of_mass_velocity, centroidal_matrix,
    centroidal_momentum, centroidal_momentum_rate, energy, kinetic_energy, potential_energy,
)  # fmt: skip
from pliant.dynamics.functions import RobotFunction, compile, robot_function
from pliant.dynamics.joint_space_inertia import mass_matrix, mass_matrix_inverse
from pliant.dynamics.kinematics import (
    frame_acceleration, frame_jacobian, frame_jacobian_rate, frame_pose, frame_velocity,
)  # fmt: skip
from pliant.dynamics.newton_euler import bias_forces, gravity_forces, inverse_dynamics
from pliant.dynamics.projected_newton_euler import ProjectedEquations, projected_newton_euler

__all__ = [
    "Energy", "InverseDerivatives", "ProjectedEquations", "RobotFunction", "bias_forces",
    "center_of_mass", "center_of_mass_jacobian", "center_of_mass_velocity", "centroidal_matrix", "centroidal_momentum",
    "centroidal_momentum_rate", "compile", "coriolis_matrix", "energy",
    "forward_dynamics", "frame_acceleration", "frame_jacobian", "frame_jacobian_rate", "frame_pose", "frame_velocity",
    "gravity_forces", "inverse_dynamics",
    "inverse_dynamics_derivatives", "jacobian", "kinetic_energy", "mass_matrix", "mass_matrix_inverse",
    "mass_matrix_solution", "potential_energy", "projected_newton_euler", "robot_function",
]  # fmt: skip
