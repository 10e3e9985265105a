"""Vectors, rotations, poses, motions, forces and inertias over any scalar."""

from pliant.spatial.transforms import ArticulatedInertia, Force, Inertia, Motion, Steps, Transform
from pliant.spatial.vectors import (
    AxisRotation, Matrix3, MatrixRotation, Rotation, Symmetric3, Vector, quaternion_from_matrix, quaternion_product,
    rotation_about, rotation_from_quaternion, rotation_from_rpy, rpy_from_matrix, skew,
)  # fmt: skip

__all__ = [
    "ArticulatedInertia", "AxisRotation", "Force", "Inertia", "Matrix3", "MatrixRotation", "Motion",
    "Rotation", "Steps", "Symmetric3", "Transform", "Vector", "quaternion_from_matrix",
    "quaternion_product", "rotation_about", "rotation_from_quaternion", "rotation_from_rpy", "rpy_from_matrix", "skew",
]  # fmt: skip
