"""Correlations that were computed on the same cases, and whether they differ.

The two share a variable (x with y, x with z), so they depend on each other, and how much follows from the
correlation of the other variables. All functions take correlations and the number n of independent cases,
and raise ValueError, in words that can serve as a note, where these allow no answer.

Sources: Williams 1959 ("The comparison of regression variables"), Steiger 1980 ("Tests
for comparing elements of a correlation matrix"), Zou 2007 ("Toward using confidence intervals to compare
correlations"), Fisher 1921.
"""

from __future__ import annotations

from math import atanh, sqrt, tanh

from xlingual.results import Interval

LEVEL = 0.95
_ROUNDING = 1e-12


def fisher_interval(r: float, n: int, level: float = LEVEL) -> Interval:
    """Return the interval of one correlation: tanh(atanh r ± z/√(n − 3))."""
    _enough(n)
    _inside(r)
    half = _normal_quantile(level) / sqrt(n - 3)
    return Interval(tanh(atanh(r) - half), tanh(atanh(r) + half), level, f"Fisher z, n = {n}")


def williams(r_xy: float, r_xz: float, r_yz: float, n: int) -> tuple[float, float]:
    """Return (t, two-sided p) of "x correlates with y as with z": Steiger 1980, equation 7.

    t = (r_xy − r_xz)·√( (n − 1)(1 + r_yz) / (2·(n − 1)/(n − 3)·|R| + r̄²·(1 − r_yz)³) ), r̄ the mean of r_xy
    and r_xz, |R| the determinant of the three variables' correlations; n − 3 degrees of freedom.
    """
    from scipy.special import stdtr

    _enough(n)
    _inside(r_yz, "the two measures are the same up to a linear map")
    determinant = 1 - r_xy**2 - r_xz**2 - r_yz**2 + 2 * r_xy * r_xz * r_yz
    _possible(determinant)
    mean = (r_xy + r_xz) / 2
    below = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - r_yz) ** 3
    if below <= _ROUNDING**2:
        raise ValueError("the correlations leave nothing to chance")
    t = (r_xy - r_xz) * sqrt((n - 1) * (1 + r_yz) / below)
    return t, float(2 * stdtr(n - 3, -abs(t)))


def zou_overlapping(r_xy: float, r_xz: float, r_yz: float, n: int, level: float = LEVEL) -> Interval:
    """Return the interval of r_xy − r_xz of Zou 2007, from Fisher's intervals of both.

    Low = d − √( (r₁ − l₁)² + (u₂ − r₂)² − 2c(r₁ − l₁)(u₂ − r₂) ), high likewise with u₁ and l₂; c is the
    correlation between the two correlations.
    """
    first, second = fisher_interval(r_xy, n, level), fisher_interval(r_xz, n, level)
    _possible(1 - r_xy**2 - r_xz**2 - r_yz**2 + 2 * r_xy * r_xz * r_yz)
    if abs(r_yz) >= 1 - _ROUNDING:
        raise ValueError("the two measures are the same up to a linear map")
    shared = (r_yz - r_xy * r_xz / 2) * (1 - r_xy**2 - r_xz**2 - r_yz**2) + r_yz**3
    c = shared / ((1 - r_xy**2) * (1 - r_xz**2))
    return of_difference((r_xy, first), (r_xz, second), c, f"Zou 2007, n = {n}")


def of_difference(
    first: tuple[float, Interval], second: tuple[float, Interval], c: float, method: str
) -> Interval:
    """Return the interval of a difference from each side's value and interval, c their correlation (Zou)."""
    (r1, one), (r2, two) = first, second
    c = min(max(c, -1.0), 1.0)
    down = _together(r1 - one.low, two.high - r2, c)
    up = _together(one.high - r1, r2 - two.low, c)
    return Interval(max(r1 - r2 - down, -2.0), min(r1 - r2 + up, 2.0), one.level, method)


def _together(a: float, b: float, c: float) -> float:
    return sqrt(max(a * a + b * b - 2 * c * a * b, 0.0))


def _enough(n: int) -> None:
    if n <= 3:
        raise ValueError(f"{n} independent cases: at least 4 are needed")


def _inside(r: float, why: str = "a correlation is 1 or −1") -> None:
    if not abs(r) < 1 - _ROUNDING:
        raise ValueError(why)


def _possible(determinant: float) -> None:
    if determinant < -1e-9:
        raise ValueError("no three variables have these correlations")


def _normal_quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))
