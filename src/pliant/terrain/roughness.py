"""Rough ground: sums of waves with a given spectrum, on a grid or as a plain function, and gradient noise."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.chance import check_seed, uniforms_at
from pliant.checks import check, check_at_least, check_one_of, is_real, is_whole
from pliant.contact.ground import Ground
from pliant.errors import ContactError, bad_value
from pliant.scalar import Scalar, cos
from pliant.signatures import explained
from pliant.terrain.features import SIZE, SPACING
from pliant.terrain.height_field import HeightField, grid_shape

# what random numbers are for
_PHASE, _WAVE, _GRADIENT = range(10, 13)

REFERENCE = 0.1
"""Spatial frequency at which the density of a spectrum is given, as for roads in ISO 8608 [1/m]."""

# density at the reference of classes of roads: the geometric mean of each, 16e-6 m^3 times a power of four [ISO 8608]
_ROADS = {letter: 16e-6 * 4**k for k, letter in enumerate("ABCDEFGH")}


@explained
@dataclass(frozen=True)
class Spectrum:
    """The power spectrum of isotropic rough ground, a power law between two wavelengths.

    Along any straight line, a profile of the ground has the one-sided density

        G(n) = density (n / 0.1)^-exponent      [m^3], n in cycles per metre

    as long as n is well within the band. The ground has the two-sided density over the plane of wave vectors

        S(n) = a n^-(exponent + 1),  1/longest <= n <= 1/shortest      [m^4]

    whose integral over all wave vectors of the same component along the line is half of G: with w the exponent,
    a = density 0.1^w gamma((w + 1) / 2) / (2 sqrt(pi) gamma(w / 2)).

    Attributes:
        density: at 0.1 cycles per metre [m^3].
        exponent: how fast it falls; 2 for roads, 2 H + 1 for a surface of the Hurst exponent H.
        longest, shortest: wavelengths [m].
    """

    density: float
    exponent: float = 2
    longest: float = 4
    shortest: float = 0.25

    def __post_init__(self) -> None:
        check_at_least("density", self.density, 0, subject="spectrum")
        check_at_least("exponent", self.exponent, 0, strict=True, subject="spectrum")
        check_at_least("shortest", self.shortest, 0, strict=True, subject="spectrum")
        check_at_least("longest", self.longest, self.shortest, strict=True, subject="spectrum")

    @classmethod
    def of_rms(cls, rms: float, *, exponent: float = 2, longest: float = 4, shortest: float = 0.25) -> "Spectrum":
        """The spectrum of ground whose heights have this root of the mean square [m]."""
        check_at_least("rms", rms, 0, subject="spectrum")
        one = cls(1, exponent, longest, shortest)
        return cls(rms * rms / one.variance, exponent, longest, shortest)

    @classmethod
    def road(cls, letter: str, *, longest: float = 20, shortest: float = 0.25) -> "Spectrum":
        """A class of roads by ISO 8608, "A" (very good) to "H", at its geometric mean."""
        check_one_of("letter", letter, tuple(_ROADS), subject="road", error=ContactError)
        return cls(_ROADS[letter], 2, longest, shortest)

    @property
    def variance(self) -> float:
        """Mean square of the heights, the integral of S over the plane: 2 pi a int n^-w dn [m^2]."""
        w, low, high = self.exponent, 1 / self.longest, 1 / self.shortest
        integral = math.log(high / low) if w == 1 else (high ** (1 - w) - low ** (1 - w)) / (1 - w)
        return 2 * math.pi * self._factor * integral

    def over_plane(self, n: Any) -> np.ndarray:
        """S at the lengths n of wave vectors [cycles/m], zero beyond the band [m^4]."""
        n = np.asarray(n, dtype=float)
        # a wave as long as the longest counts, rounding aside
        inside = (n >= (1 - 1e-9) / self.longest) & (n <= (1 + 1e-9) / self.shortest)
        return np.where(inside, self._factor * np.where(inside, n, 1.0) ** -(self.exponent + 1), 0.0)

    def along_line(self, n: Any) -> np.ndarray:
        """G at the frequencies n [cycles/m], without the ends of the band [m^3]."""
        return self.density * (np.asarray(n, dtype=float) / REFERENCE) ** -self.exponent

    @property
    def _factor(self) -> float:
        w = self.exponent
        ratio = math.gamma((w + 1) / 2) / math.gamma(w / 2)
        return self.density * REFERENCE**w * ratio / (2 * math.sqrt(math.pi))


@explained
def fourier(spectrum: Spectrum, *, seed: int = 0, size: Any = SIZE, spacing: float = SPACING) -> HeightField:
    """A sum of all waves that fit into the field, with random phases: periodic, so that copies join without a seam.

    h = sum_k 2 sqrt(S(|k|) dk_x dk_y) cos(2 pi k . x + phase_k) over half of the wave vectors k of the grid, with
    dk = 1 / size. The amplitudes are those of the spectrum exactly, only the phases are random. The phases belong to
    the waves, so that a finer grid has the same ground with more points.

    Args:
        spectrum: what it is to have; its shortest wave is four cells or longer.
        seed: of the phases.
    """
    check("spectrum", spectrum, "a Spectrum", isinstance(spectrum, Spectrum), subject="fourier", error=ContactError)
    check_seed(seed, subject="fourier", error=ContactError)
    n, m = (k - 1 for k in grid_shape(size, spacing, "fourier"))
    if spectrum.shortest < 4 * spacing:
        takes = f"{4 * float(spacing):g} m or more, four cells of the grid"
        raise ContactError(bad_value("shortest", spectrum.shortest, takes, "fourier"))
    i, j = np.fft.fftfreq(n, 1 / n)[:, None], np.fft.fftfreq(m, 1 / m)[None, :]
    a, b = n * spacing, m * spacing
    density = spectrum.over_plane(np.hypot(i / a, j / b))
    # of k and -k, one
    density = np.where((i > 0) | ((i == 0) & (j > 0)), density, 0.0)
    if not density.any() and spectrum.density > 0:
        problem = f"fourier: no wave of {spectrum.shortest:g} to {spectrum.longest:g} m fits into {a:g} x {b:g} m"
        cure = "use a larger size or a shorter shortest wave"
        raise ContactError(problem, subject="fourier", field="longest", cure=cure)
    waves, is_there = np.zeros(density.shape, dtype=complex), density > 0
    phase = 2 * math.pi * uniforms_at(seed, _PHASE, *(k[is_there] for k in np.broadcast_arrays(i, j)))[0]
    waves[is_there] = 2 * np.sqrt(density[is_there] / (a * b)) * np.exp(1j * phase)
    heights = np.fft.ifft2(waves, norm="forward").real
    # the last points are the first ones again
    return HeightField(np.pad(heights, (0, 1), mode="wrap"), spacing)


@explained
def rough(
    rms: float, *, exponent: float = 2, longest: float = 4, shortest: float = 0.25, seed: int = 0,
    size: Any = SIZE, spacing: float = SPACING,
) -> HeightField:  # fmt: skip
    """Rough ground with this root of the mean square of its heights, by `fourier` with a power law.

    Args:
        rms: of the heights over a period [m], exact but for rounding.
        exponent: of the spectrum along a line: large for gentle hills, small for rubble.
        longest, shortest: wavelengths [m].
        seed: of the phases.
    """
    spectrum = Spectrum.of_rms(1, exponent=exponent, longest=longest, shortest=shortest)
    check_at_least("rms", rms, 0, subject="rough")
    made = fourier(spectrum, seed=seed, size=size, spacing=spacing)
    return made * (rms / float(made.heights[:-1, :-1].std()))


@explained
def fourier_ground(
    spectrum: Spectrum, *, waves: int = 24, direction: float | None = None, seed: int = 0,
    friction: Scalar | None = None, restitution: Scalar | None = None,
) -> Ground:  # fmt: skip
    """Rough ground as a plain function of x and y: smooth, without end, and without a grid.

    h = sum_i a_i cos(2 pi k_i . x + phase_i), with one wave from each of ``waves`` bands of equal variance. So the
    variance is that of the spectrum exactly, whatever the number of waves; more waves look less regular and cost more.

    Args:
        spectrum: what it is to have.
        waves: how many.
        direction: for ridges across a direction, from x towards y [rad], whose profile is that of the spectrum along a
            line; None (default) for waves in all directions.
        seed: of lengths, directions and phases.
    """
    subject = "fourier_ground"
    check("spectrum", spectrum, "a Spectrum", isinstance(spectrum, Spectrum), subject=subject, error=ContactError)
    is_right = is_whole(waves) and 1 <= waves <= 1000
    check("waves", waves, "a whole number from 1 to 1000", is_right, subject=subject, error=ContactError)
    is_right = direction is None or is_real(direction)
    check("direction", direction, "an angle [rad], or None for all directions", is_right, subject=subject,
          error=ContactError)  # fmt: skip
    check_seed(seed, subject=subject, error=ContactError)
    number = np.arange(waves)
    length, turn, phase, _ = uniforms_at(seed, _WAVE, number)
    n = _of_equal_variance(spectrum, (number + length) / waves)
    if direction is None:
        # spread evenly, and shuffled by where the first one is
        angle, variance = math.pi * ((number * _GOLDEN_RATIO + turn[0]) % 1), spectrum.variance
    else:
        angle, variance = np.full(waves, float(direction)), _line_variance(spectrum)
    amplitude = math.sqrt(2 * variance / waves)
    terms = [
        (2 * math.pi * k * math.cos(d), 2 * math.pi * k * math.sin(d), 2 * math.pi * p)
        for k, d, p in zip(n.tolist(), angle.tolist(), phase.tolist(), strict=True)
    ]

    def height(x: Scalar, y: Scalar) -> Scalar:
        total: Scalar = 0
        for k_x, k_y, start in terms:
            total = total + cos(k_x * x + k_y * y + start)
        return amplitude * total

    return Ground(height, subject, friction, restitution)


# turns by this share are spread more evenly than by any other
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


def _of_equal_variance(spectrum: Spectrum, share: np.ndarray) -> np.ndarray:
    """The frequency below which a share of the variance is [cycles/m]: the integral of n^-w, inverted."""
    w, low, high = spectrum.exponent, 1 / spectrum.longest, 1 / spectrum.shortest
    if w == 1:
        return low * (high / low) ** share
    a, b = low ** (1 - w), high ** (1 - w)
    return (a + share * (b - a)) ** (1 / (1 - w))


def _line_variance(spectrum: Spectrum) -> float:
    """The integral of G over the band [m^2]."""
    w, low, high = spectrum.exponent, 1 / spectrum.longest, 1 / spectrum.shortest
    integral = math.log(high / low) if w == 1 else (high ** (1 - w) - low ** (1 - w)) / (1 - w)
    return spectrum.density * REFERENCE**w * integral


# ---- gradient noise

# root of its mean square, 8/3 int (1 - fade)^2 dt int (1 - fade)^2 t^2 dt, since the components of the gradients,
# uniform in (-1, 1), have the variance 1/3
_NOISE_RMS = math.sqrt(8 / 3 * (181 / 462) * (535 / 18018))


@explained
def perlin(
    rms: float, length: float, *, octaves: int = 1, gain: float = 0.5, seed: int = 0, size: Any = SIZE,
    spacing: float = SPACING,
) -> HeightField:  # fmt: skip
    """Gradient noise [Perlin 1985, with the fade of 2002], in octaves that are half as long each.

    At each corner of a lattice there is a plane through zero with a random gradient; in a cell the four planes of its
    corners pass over to each other by the fade 6 t^5 - 15 t^4 + 10 t^3. Gradients are uniform in a square and belong to
    the corners, so that larger fields go on around smaller ones.

    Args:
        rms: of the heights over all seeds and places [m].
        length: side of a cell of the lattice, the scale of the hills [m].
        octaves: how many.
        gain: size of an octave, as a share of the one before.
        seed: of the gradients.
    """
    check_at_least("rms", rms, 0, subject="perlin")
    check_at_least("length", length, 0, strict=True, subject="perlin")
    is_right = is_whole(octaves) and 1 <= octaves <= 16
    check("octaves", octaves, "a whole number from 1 to 16", is_right, subject="perlin", error=ContactError)
    check_at_least("gain", gain, 0, strict=True, subject="perlin")
    check_seed(seed, subject="perlin", error=ContactError)
    shape = grid_shape(size, spacing, "perlin")
    finest = length / 2 ** (octaves - 1)
    if finest < 2 * spacing:
        takes = f"{2**octaves * spacing:g} m or more, so that the last octave has two cells of the grid"
        raise ContactError(bad_value("length", length, takes, "perlin"))
    places = [(np.arange(n) - n // 2) * spacing for n in shape]
    heights, squares = np.zeros(shape), 0.0
    for k in range(octaves):
        size_k = gain**k
        u, v = (p * (2**k / length) for p in places)
        heights += size_k * _gradient_noise(u, v, seed, k)
        squares += size_k * size_k
    return HeightField(heights * (rms / (math.sqrt(squares) * _NOISE_RMS)), spacing)


def _gradient_noise(u: np.ndarray, v: np.ndarray, seed: int, octave: int) -> np.ndarray:
    """Of the coordinates in cells of the lattice along x and along y."""
    i, j = (np.floor(w).astype(np.int64) for w in (u, v))
    f, g = (u - i)[:, None], (v - j)[None, :]
    fade_f, fade_g = _fade(f), _fade(g)
    found: Any = 0.0
    # each corner draws once
    rows, columns = (np.arange(k.min(), k.max() + 2) for k in (i, j))
    slopes = [2 * x - 1 for x in uniforms_at(seed, _GRADIENT, octave, rows[:, None], columns)[:2]]
    for a in (0, 1):
        for b in (0, 1):
            slope_x, slope_y = (s[np.ix_(i + a - rows[0], j + b - columns[0])] for s in slopes)
            weight = (fade_f if a else 1 - fade_f) * (fade_g if b else 1 - fade_g)
            found = found + weight * (slope_x * (f - a) + slope_y * (g - b))
    return found


def _fade(t: np.ndarray) -> np.ndarray:
    return t * t * t * (t * (t * 6 - 15) + 10)
