"""Validations made of given points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    SUBSETS,
    Agreement,
    CoefficientDifference,
    EncoderScores,
    PairValidation,
    RankingAccuracy,
    SeedScores,
    Subset,
    Validation,
)

Point = tuple[str, str, float, float | None]  # encoder, family, BkR, XLR


def scores(value: float | None) -> SeedScores:
    return SeedScores(value, None, [value], None)


def no_agreement(n: int) -> Subset:
    """Return what is there of encoders whose agreement nobody asks for."""
    return Subset(
        n,
        n,
        {name: {kind: Agreement(*[None] * 5, "none") for kind in COEFFICIENTS} for name in MEASURES},
        {name: RankingAccuracy(None, None, 0, 0, 0, 0, "none") for name in MEASURES},
        {
            name: {kind: CoefficientDifference(*[None] * 4, "none") for kind in COEFFICIENTS}
            for name in ("BkR-CORR", "BkR-SIM")
        },
    )


def pair_validation(points: Sequence[Point], pair: str = "en-de", **changed) -> PairValidation:
    source, target = pair.split("-")
    conditions = {
        "data": "0123456789ab", "sample": "365", "images": "pixels:v1", "measure": "R@10", "conventions": "1",
    } | changed.pop("conditions", {})  # fmt: skip
    encoders = [
        EncoderScores.of(
            name,
            family,
            {"XLR": scores(xlr), "BkR": scores(bkr), "SIM": scores(0.5 + bkr / 3), "CORR": scores(0.1)},
            None,
        )
        for name, family, bkr, xlr in points
    ]
    subsets = {name: no_agreement(len(points)) for name in SUBSETS}
    given = {
        "n_source": 365, "n_target": 365, "k": 10, "n_pictures": 365, "n_seeds": 5, "chance": 10 / 365,
        "oracle": 0.9,
    } | changed  # fmt: skip
    return PairValidation.of(
        source=source, target=target, conditions=conditions, encoders=encoders, subsets=subsets, **given
    )


def validation_of(*pairs: PairValidation) -> Validation:
    return Validation("R@10", "pixels", 0.5, None, list(pairs))


def points_on_the_curve(n: int = 12, intercept: float = -0.2, slope: float = 2.5) -> list[Point]:
    """Return encoders, each a family of its own, whose XLR is exactly of the calibration's form."""
    bkr = np.linspace(0.03, 0.35, n)
    angles = np.clip(intercept + slope * np.arcsin(np.sqrt(bkr)), 0, np.pi / 2)
    return [
        (f"e{i}", f"e{i}", float(b), float(np.sin(a) ** 2))
        for i, (b, a) in enumerate(zip(bkr, angles, strict=True))
    ]


def noisy_points(n: int = 12, seed: int = 0, each: int = 1) -> list[Point]:
    """Return n families of `each` encoders that scatter about the curve."""
    rng = np.random.default_rng(seed)
    found = []
    for family in range(n):
        shift = 0.1 * rng.standard_normal()
        for place in range(each):
            bkr = float(rng.uniform(0.03, 0.35))
            angle = -0.2 + 2.5 * np.arcsin(np.sqrt(bkr)) + shift + 0.05 * rng.standard_normal()
            xlr = float(np.sin(np.clip(angle, 0, np.pi / 2)) ** 2)
            found.append((f"f{family}_{place}", f"f{family}", bkr, xlr))
    return found
