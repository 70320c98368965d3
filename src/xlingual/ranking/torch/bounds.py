"""How far a product in low precision can be from the exact cosine: proven, not measured.

Let a, b be stored vectors times their inverse lengths, and â, b̂ what is multiplied: a, b rounded to 16 or 32
bits. The cosine is a·b; the device returns the product σ of â and b̂.

1. **Rounding of the vectors.** a·b − â·b̂ = (a − â)·b + â·(b − b̂), so by Cauchy and Schwarz it is at most
   ‖a − â‖·‖b‖ + ‖â‖·‖b − b̂‖. All four lengths are computed for each vector in float64 and rounded up.
   Components that fp16 cannot hold (subnormal ones are set to 0, since some devices drop them), the step over
   float32 and zero vectors are all in ‖a − â‖: nothing is assumed of it.
2. **Products.** Two 16-bit numbers multiply exactly in float32, but for underflow, which is under 2⁻¹²⁶ each.
3. **Sums.** A sum of d numbers in float32, in any order, that rounds to nearest errs by at most
   d·2⁻²⁴/(1 − d·2⁻²⁴) times Σ|âᵢb̂ᵢ| ≤ ‖â‖·‖b̂‖ (Higham 2002, section 4.2). Tensor cores cut off instead: in a
   block of four products and the sum so far, four of the five are cut to the 24 bits of the largest, and the
   sum once more (Fasi and others 2021, on the V100 and T4; later ones have larger blocks and further bits).
   That is at most 5/4·d cuts of 2⁻²³ of a number not over ‖â‖·‖b̂‖.
4. **Output** in 16 bits, where the product cannot return float32, is rounded once more.

The error of a row against a tile is then one number: the largest of each length over the tile's columns is
taken. A key is the float64 cosine, itself off by at most (d + 4)·2⁻⁵³, rounded to 9 decimals: `key_error`.
"""

from __future__ import annotations

from xlingual.ranking.similarity import UNIT

TINY = 1e-30  # more than all underflows of a product together
_WIDE = 2.0**-52
FLOAT32 = 2.0**-24  # largest relative error of rounding to float32
_HALF_SPACING = {"fp16": 2.0**-11, "bf16": 2.0**-8}  # of rounding to 16 bits, relative
_SUBNORMAL = 2.0**-24  # of rounding a number below the normal range of fp16, absolute
_CUTS = 1.25  # by tensor cores, for each product


def nearest_sum(d: int) -> float:
    """Return the largest error of a float32 dot product that rounds to nearest, relative to both lengths."""
    steps = (d + 2) * FLOAT32
    return steps / (1 - steps)


def truncated_sum(d: int) -> float:
    """Return the same where tensor cores multiply 16-bit vectors."""
    steps = (_CUTS * d + 4) * 2 * FLOAT32
    return steps / (1 - steps)


def narrow_output(precision: str, sum_error: float) -> float:
    """Return what rounding a score to 16 bits adds, relative to both lengths."""
    return _HALF_SPACING[precision] * (1 + sum_error)


def output_floor(precision: str) -> float:
    """Return what rounding a very small score to 16 bits adds, absolute."""
    return _SUBNORMAL if precision == "fp16" else TINY


def key_error(d: int) -> float:
    """Return how far a key, times its unit, may be from the cosine."""
    return UNIT / 2 + (d + 8) * _WIDE


def rounded_up(d: int) -> float:
    """Return the factor that a length of d components, computed in float64, is at most too small by."""
    return 1 + (d + 8) * _WIDE


def doubtful(d: int) -> float:
    """Return how near to a rounding boundary, in units of a key, two float64 sums may round apart."""
    return max(1e-3, 4 * (d + 8) * _WIDE / UNIT)
