# THE list of public names: `__init__.py` reads it when a name is first asked for, and so do type checkers and editors.
# All else is in its package: pliant.dynamics, pliant.constrained, pliant.analysis, pliant.math, ...

from pliant import (
    analysis as analysis,
)  # fmt: skip
from pliant import (
    catalogue as catalogue,
)
from pliant import (
    compiler as compiler,
)
from pliant import (
    constrained as constrained,
)
from pliant import (
    control as control,
)
from pliant import (
    dynamics as dynamics,
)
from pliant import (
    formats as formats,
)
from pliant import (
    integrators as integrators,
)
from pliant import (
    math as math,
)
from pliant import (
    simulation as simulation,
)
from pliant import (
    symbolic as symbolic,
)
from pliant.actuation import ExternalForce as ExternalForce
from pliant.catalogue import load as load
from pliant.catalogue import robots as robots
from pliant.cluster import Rollouts as Rollouts
from pliant.cluster import sweep as sweep
from pliant.contact import (
    AnchoredSpringDamper as AnchoredSpringDamper,
)
from pliant.contact import (
    CompliantContact as CompliantContact,
)  # fmt: skip
from pliant.contact import (
    Ground as Ground,
)
from pliant.contact import (
    HuntCrossley as HuntCrossley,
)
from pliant.contact import (
    RigidContact as RigidContact,
)
from pliant.contact import (
    SpringDamper as SpringDamper,
)
from pliant.contact import (
    flat as flat,
)
from pliant.contact import (
    height_map as height_map,
)
from pliant.contact import (
    slope as slope,
)
from pliant.contact import (
    stairs as stairs,
)
from pliant.contact import (
    waves as waves,
)
from pliant.dynamics import (
    bias_forces as bias_forces,
)  # fmt: skip
from pliant.dynamics import (
    center_of_mass as center_of_mass,
)
from pliant.dynamics import (
    centroidal_momentum as centroidal_momentum,
)
from pliant.dynamics import (
    compile as compile,
)
from pliant.dynamics import (
    coriolis_matrix as coriolis_matrix,
)
from pliant.dynamics import (
    energy as energy,
)
from pliant.dynamics import (
    forward_dynamics as forward_dynamics,
)
from pliant.dynamics import (
    frame_jacobian as frame_jacobian,
)
from pliant.dynamics import (
    frame_pose as frame_pose,
)
from pliant.dynamics import (
    frame_velocity as frame_velocity,
)
from pliant.dynamics import (
    gravity_forces as gravity_forces,
)
from pliant.dynamics import (
    inverse_dynamics as inverse_dynamics,
)
from pliant.dynamics import (
    jacobian as jacobian,
)
from pliant.dynamics import (
    mass_matrix as mass_matrix,
)
from pliant.environment import Environment as Environment
from pliant.errors import (
    ContactError as ContactError,
)  # fmt: skip
from pliant.errors import (
    KernelError as KernelError,
)
from pliant.errors import (
    PliantError as PliantError,
)
from pliant.errors import (
    RobotError as RobotError,
)
from pliant.errors import (
    SimulationError as SimulationError,
)
from pliant.errors import (
    SimulationWarning as SimulationWarning,
)
from pliant.errors import (
    TraceError as TraceError,
)
from pliant.events import EventSimulation as EventSimulation
from pliant.formats import from_dh as from_dh
from pliant.formats import from_pinocchio as from_pinocchio
from pliant.recording import Log as Log
from pliant.robot import Robot as Robot
from pliant.robot import RobotBuilder as RobotBuilder
from pliant.simulation import Controller as Controller
from pliant.simulation import Simulation as Simulation
from pliant.storage import load_log as load_log
from pliant.symbolic import equations as equations
from pliant.viewer.live import live as live

__version__: str
