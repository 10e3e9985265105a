from pliant.dynamics.articulated_body import forward_dynamics
from pliant.dynamics.composite_inertia import mass_matrix
from pliant.dynamics.functions import RobotFunction, compile, robot_function
from pliant.dynamics.newton_euler import bias_forces, gravity_forces, inverse_dynamics
