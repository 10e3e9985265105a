"""Pictures inside HTML."""

import base64
import io
from importlib.util import find_spec

import numpy as np


def as_picture(pixels: np.ndarray) -> str:
    """Pixels (height, width, 3) as the address of an image, "data:...", for the attribute src; empty without Pillow."""
    if find_spec("PIL") is None:
        return ""
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "JPEG", quality=88)
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode('ascii')}"
