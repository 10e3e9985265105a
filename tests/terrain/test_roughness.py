"""Rough ground: its spectrum and its root of the mean square against closed forms, its period, its derivatives."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from pliant import terrain
from pliant.terrain import Spectrum
from pliant.terrain.height_field import QUANTUM
from pliant.terrain.roughness import _NOISE_RMS, REFERENCE, _fade

SPECTRA = pytest.mark.parametrize("exponent", [1, 2, 3.4])


@SPECTRA
def test_the_spectrum_along_a_line_is_the_integral_over_the_plane(exponent: float) -> None:
    # G(n) = 2 int S(sqrt(n^2 + m^2)) dm over both signs of m, with the band as wide as can be
    spectrum = Spectrum(3e-4, exponent, longest=1e9, shortest=1e-9)
    for n in (0.1, 0.7, 5):

        def part(angle: float, n: float = n) -> float:
            # m = n tan(angle)
            return float(spectrum.over_plane(n / math.cos(angle))) * n / math.cos(angle) ** 2

        along, _ = quad(part, 0, math.pi / 2 - 1e-9)
        assert 4 * along == pytest.approx(float(spectrum.along_line(n)), rel=1e-6)
    assert float(spectrum.along_line(REFERENCE)) == 3e-4


@SPECTRA
def test_the_variance_is_the_integral_over_the_plane(exponent: float) -> None:
    spectrum = Spectrum(3e-4, exponent, longest=5, shortest=0.3)
    integral, _ = quad(lambda n: 2 * math.pi * n * float(spectrum.over_plane(n)), 1 / 5, 1 / 0.3)
    assert spectrum.variance == pytest.approx(integral, rel=1e-9)
    assert Spectrum.of_rms(0.04, exponent=exponent).variance == pytest.approx(0.04**2, rel=1e-12)


def test_roads_have_the_densities_of_iso_8608() -> None:
    # geometric means of the classes, table C.1 [10^-6 m^3]
    for letter, density in zip("ABCDEFGH", (16, 64, 256, 1024, 4096, 16384, 65536, 262144), strict=True):
        road = Spectrum.road(letter)
        assert road.density == pytest.approx(density * 1e-6) and road.exponent == 2


@SPECTRA
def test_fourier_has_the_spectrum_exactly(exponent: float) -> None:
    spectrum = Spectrum(1e-3, exponent, longest=3, shortest=0.4)
    a, b, spacing = 6.0, 4.0, 0.05
    field = terrain.fourier(spectrum, seed=5, size=(a, b), spacing=spacing)
    heights = field.heights[:-1, :-1]
    n, m = heights.shape
    # |sum_x h exp(-2 pi i k x)|^2 / (n m)^2 is S dk_x dk_y
    found = abs(np.fft.fft2(heights, norm="forward")) ** 2 * (a * b)
    k = np.hypot(np.fft.fftfreq(n, spacing)[:, None], np.fft.fftfreq(m, spacing))
    closed = spectrum.over_plane(k)
    # heights are rounded by up to half a quantum each: that is noise of (quantum^2 / 12) / (n m) in each |h_k|^2, and
    # beats with the wave itself
    noise = QUANTUM**2 / 12 / (n * m) * a * b
    np.testing.assert_allclose(found, closed, rtol=0, atol=25 * noise + 10 * math.sqrt(noise * closed.max()))
    assert closed.max() > 1e3 * math.sqrt(noise * closed.max()), "which is next to nothing"
    # where the band ends, so do the waves
    assert found[(k > 1.01 / 0.4)].max() < 25 * noise


def test_fourier_is_periodic_and_has_the_same_waves_on_a_finer_grid() -> None:
    spectrum = Spectrum.of_rms(0.05, longest=4, shortest=0.5)
    coarse, fine = (terrain.fourier(spectrum, seed=1, size=8, spacing=s) for s in (0.1, 0.05))
    for field in (coarse, fine):
        assert (field.heights[0] == field.heights[-1]).all() and (field.heights[:, 0] == field.heights[:, -1]).all()
    # rounding of a quantum each
    np.testing.assert_allclose(fine.heights[::2, ::2], coarse.heights, rtol=0, atol=1.01 * QUANTUM)
    other = terrain.fourier(spectrum, seed=2, size=8, spacing=0.1)
    assert abs(np.corrcoef(coarse.heights.ravel(), other.heights.ravel())[0, 1]) < 0.3


def test_rough_has_its_rms_and_is_nearly_normal() -> None:
    field = terrain.rough(0.05, longest=1, shortest=0.25, seed=3, size=16)
    heights = field.heights[:-1, :-1]
    # rounded once at unit size, once in the end
    assert heights.std() == pytest.approx(0.05, abs=2 * QUANTUM)
    # a sum of many waves: the fourth moment of a normal distribution is 3
    assert ((heights / heights.std()) ** 4).mean() == pytest.approx(3, abs=0.2)
    assert (terrain.rough(0, seed=3).heights == 0).all()


def test_rough_is_the_same_on_every_machine_but_for_rounding() -> None:
    # sines and sums of fast Fourier transforms differ in their last digits, which a rounding may pass on
    field = terrain.rough(0.05, seed=1)
    found = field.heights[[0, 40, 80, 123], [0, 90, 80, 31]]
    np.testing.assert_allclose(found, PINNED, rtol=0, atol=1.01 * QUANTUM)


PINNED = [-0.05676078796386719, 0.0029439926147460938, 0.03238868713378906, 0.034409523010253906]


@pytest.mark.parametrize("direction", [None, 0.6])
def test_a_ground_of_waves_has_the_variance_of_its_spectrum(direction: float | None) -> None:
    spectrum = Spectrum.of_rms(0.05, longest=2, shortest=0.5)
    ground = terrain.fourier_ground(spectrum, waves=40, direction=direction, seed=2)
    x, y = np.random.default_rng(0).uniform(-1e3, 1e3, size=(2, 200_000))
    heights = ground.height(x, y)
    if direction is None:
        variance = spectrum.variance
    else:
        variance, _ = quad(lambda n: float(spectrum.along_line(n)), 1 / 2, 1 / 0.5)
        # ridges: no change across the direction
        shifted = ground.height(x - 0.3 * math.sin(direction), y + 0.3 * math.cos(direction))
        np.testing.assert_allclose(shifted, heights, rtol=0, atol=1e-10)
    # of n samples of a nearly normal variable, the variance of the mean square is 2 / n
    assert heights.var() == pytest.approx(variance, rel=5 * math.sqrt(2 / 200_000))
    assert not ground.has_edges and ground.is_curved


def test_waves_have_the_bands_of_the_spectrum() -> None:
    spectrum = Spectrum.of_rms(0.05, longest=4, shortest=0.5)
    ground = terrain.fourier_ground(spectrum, waves=64, direction=0, seed=7)
    # one wave a line, over a length that resolves them
    length, n = 4096.0, 2**15
    x = np.arange(n) * (length / n)
    window = np.hanning(n)
    power = abs(np.fft.rfft(ground.height(x, 0 * x) * window)) ** 2
    k = np.fft.rfftfreq(n, length / n)
    total = np.cumsum(power) / power.sum()
    w, low, high = spectrum.exponent, 1 / 4, 1 / 0.5
    for share in (0.25, 0.5, 0.75):
        closed = (low ** (1 - w) + share * (high ** (1 - w) - low ** (1 - w))) ** (1 / (1 - w))
        # within the band of a wave, 1/64 of the whole, on each side
        assert abs(float(np.interp(closed, k, total)) - share) < 2 / 64


def test_perlin_has_its_rms_over_many_seeds() -> None:
    fields = [terrain.perlin(0.05, 0.5, octaves=2, seed=seed, size=10) for seed in range(12)]
    squares = [float((f.heights**2).mean()) for f in fields]
    # some 400 cells of the lattice in each of twelve fields, each nearly independent, with a mean square that varies as
    # much as itself
    assert math.sqrt(np.mean(squares)) == pytest.approx(0.05, rel=0.05)
    over, by_square = (quad(lambda t, p=p: (1 - _fade(t)) ** 2 * t**p, 0, 1)[0] for p in (0, 2))
    assert pytest.approx(math.sqrt(8 / 3 * over * by_square), rel=1e-12) == _NOISE_RMS


def test_perlin_is_zero_at_its_lattice_and_goes_on_around_it() -> None:
    field = terrain.perlin(0.05, 1, seed=3, size=8)
    x, y = field.points()
    corners = (abs(x - np.rint(x)) < 1e-9) & (abs(y - np.rint(y)) < 1e-9)
    assert corners.sum() == 81 and abs(field.heights[corners]).max() < QUANTUM
    larger = terrain.perlin(0.05, 1, seed=3, size=12)
    assert (larger.heights[40:-40, 40:-40] == field.heights).all()
    # smooth: the largest slope of gradients in a square, scaled, with room for the fade
    assert field.steepest < 0.05 / _NOISE_RMS * 3


@pytest.mark.parametrize("make, field", [
    (lambda: Spectrum(-1), "density"),
    (lambda: Spectrum(1, 0), "exponent"),
    (lambda: Spectrum(1, longest=1, shortest=2), "longest"),
    (lambda: Spectrum.of_rms(-1), "rms"),
    (lambda: Spectrum.road("Z"), "letter"),
    (lambda: terrain.fourier(0.1), "spectrum"),
    (lambda: terrain.fourier(Spectrum(1, shortest=0.1)), "shortest"),
    (lambda: terrain.fourier(Spectrum(1, longest=20, shortest=10)), "longest"),
    (lambda: terrain.rough(-1), "rms"),
    (lambda: terrain.fourier_ground(Spectrum(1), waves=0), "waves"),
    (lambda: terrain.fourier_ground(Spectrum(1), direction="x"), "direction"),
    (lambda: terrain.perlin(0.1, 0.05), "length"),
    (lambda: terrain.perlin(0.1, 1, octaves=0), "octaves"),
    (lambda: terrain.perlin(0.1, 1, gain=0), "gain"),
    (lambda: terrain.perlin(-1, 1), "rms"),
])  # fmt: skip
def test_what_cannot_be_says_which_field(make, field: str, refused) -> None:
    refused(make, field)
