"""Images on meshes, reduced to a few colours: enough to know a robot by, at a colour for each face."""

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pliant.errors import Place, RobotError
from pliant.meshes.surfaces import Color

__all__ = ["MAX_PIXELS", "Texture", "read_texture"]

MAX_PIXELS = 40_000_000
COLORS = 8
SIDE = 256  # pixels of the image that is kept: faces are larger
KINDS = ("PNG", "JPEG")


@dataclass(frozen=True)
class Texture:
    """An image of few colours.

    Attributes:
        indices: (height, width) of the colour of each pixel, the top row first.
        palette: (colours, 3) in [0, 1].
    """

    indices: np.ndarray
    palette: np.ndarray

    def at(self, spots: np.ndarray) -> Iterator[tuple[np.ndarray, Color]]:
        """For each colour, which of the spots (m, 2) have it; (0, 0) is the lower left corner, and it repeats."""
        height, width = self.indices.shape
        columns = np.floor(spots[:, 0] % 1 * width).astype(int).clip(0, width - 1)
        rows = np.floor((1 - spots[:, 1] % 1) * height).astype(int).clip(0, height - 1)
        found = self.indices[rows, columns]
        # numpy.unique would import masked arrays, which takes longer than all of this
        for k in np.flatnonzero(np.bincount(found)):
            r, g, b = map(float, self.palette[k])
            yield found == k, (r, g, b, 1.0)


def read_texture(data: bytes, source: str) -> Texture | None:
    """The image in a PNG or JPEG file; None if no library is installed that reads them.

    Args:
        data: the file.
        source: its name, for messages.
    """
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(data), formats=KINDS) as image:
            if image.width * image.height > MAX_PIXELS:
                problem, cure = f"an image of more than {MAX_PIXELS} pixels", "make it smaller"
                raise RobotError(problem, cure=cure, place=Place(source))
            # a JPEG is not even decoded in full
            image.draft("RGB", (SIDE, SIDE))
            few = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX).quantize(COLORS)
            palette = np.array(few.getpalette(), dtype=float).reshape(-1, 3) / 255
            return Texture(np.asarray(few), palette)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise RobotError(f"not a readable image: {error}", place=Place(source)) from None
