"""Vectors, rotations, poses, motions, forces and inertias over any scalar."""

from pliant.spatial.inertias import ArticulatedInertia, Inertia
from pliant.spatial.rotations import (
    AxisRotation, MatrixRotation, Rotation, quaternion_from_matrix, quaternion_product, rotation_about,
    rotation_from_quaternion, rotation_from_rpy, rpy_from_matrix,
)  # fmt: skip
from pliant.spatial.transforms import Force, Motion, Steps, Transform
from pliant.spatial.vectors import Matrix3, Symmetric3, Vector, skew

__all__ = [
    "ArticulatedInertia", "AxisRotation", "Force", "Inertia", "Matrix3", "MatrixRotation", "Motion",
    "Rotation", "Steps", "Symmetric3", "Transform", "Vector", "quaternion_from_matrix",
    "quaternion_product", "rotation_about", "rotation_from_quaternion", "rotation_from_rpy", "rpy_from_matrix", "skew",
]  # fmt: skip
