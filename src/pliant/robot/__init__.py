"""Robots: frozen trees of bodies and joints, the builder that makes them, and the view the algorithms take."""

from pliant.robot.builder import RobotBuilder
from pliant.robot.contacts import ContactPoint, ContactShape
from pliant.robot.joints import Continuous, Fixed, Free, Helical, JointKind, Planar, Prismatic, Revolute, Spherical
from pliant.robot.kinematic_tree import KinematicTree
from pliant.robot.mechanism import Link, Mechanism
from pliant.robot.model import (
    Body, Closure, Finding, Flexibility, Frame, FrameSpring, Geometry, Joint, Limits, MeshSource, Mimic, Motor,
    MotorLaw, Named, Report,
)  # fmt: skip
from pliant.robot.robot import Robot

__all__ = [
    "Body", "Closure", "ContactPoint", "ContactShape", "Continuous", "Finding", "Fixed", "Flexibility", "Frame",
    "FrameSpring", "Free", "Geometry", "Helical", "Joint", "JointKind", "KinematicTree", "Limits", "Link", "Mechanism",
    "MeshSource", "Mimic", "Motor", "MotorLaw", "Named", "Planar", "Prismatic", "Report", "Revolute", "Robot",
    "RobotBuilder", "Spherical",
]  # fmt: skip
