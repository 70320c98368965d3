"""Made-up validations; every number in them can be told apart."""

from msgspec import structs

from xlingual.results import Interval
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    SUBSETS,
    Agreement,
    CoefficientDifference,
    Degradation,
    DirectionDifference,
    EncoderScores,
    PairValidation,
    RankingAccuracy,
    SeedScores,
    Subset,
    Validation,
)
from xlingual.results.validation_table import CorrectedDifference, MeanAgreement, TableRow, ValidationTable

WHY = "fewer than three encoders"
NAMES = ('<b>&"', "אבג", "plain_1", "plain_2", "other_1", "a" * 40)
VALUES = {"BkR": 0.961, "SIM": 0.942, "CORR": 0.713}


def ci(low, high):
    return Interval(low, high, 0.95, "two-way bootstrap")


def agreement(value, half=0.03):
    return Agreement(value - 0.007, 0.0123, 0.0025, value, ci(value - half, min(1.0, value + half)))


def difference(value, half, p, test="Williams"):
    return CoefficientDifference(value, ci(value - half, value + half), p, test)


def subset(n, shift=0.0, half=0.03):
    values = {
        name: {"pearson": value - shift, "spearman": value - shift - 0.011} for name, value in VALUES.items()
    }
    return Subset(
        n,
        n - 1,
        {name: {kind: agreement(values[name][kind], half) for kind in COEFFICIENTS} for name in MEASURES},
        {name: RankingAccuracy(VALUES[name] - 0.02, ci(0.6, 0.99), 231, 17, 3, 4) for name in MEASURES},
        {
            "BkR-CORR": {kind: difference(0.248, 0.15, 0.0021) for kind in COEFFICIENTS},
            "BkR-SIM": {kind: difference(0.019, 0.05, 0.437) for kind in COEFFICIENTS},
        },
    )


def missing_subset(n):
    return Subset(
        n,
        n,
        {name: {kind: Agreement(*[None] * 5, WHY) for kind in COEFFICIENTS} for name in MEASURES},
        {name: RankingAccuracy(None, None, 0, 0, 0, 0, WHY) for name in MEASURES},
        {
            name: {kind: CoefficientDifference(*[None] * 4, WHY) for kind in COEFFICIENTS}
            for name in ("BkR-CORR", "BkR-SIM")
        },
    )


def encoder(name, place, n_seeds=3):
    scores = {}
    for i, measure in enumerate(("XLR", *MEASURES)):
        mean = round(0.9 - 0.13 * place - 0.07 * i + 0.001 * i * place, 4)
        scores[measure] = SeedScores(mean, 0.0141 if n_seeds > 1 else None, [mean] * n_seeds, None)
    return EncoderScores.of(name, name.split("_")[0], scores, 0.37)


def weakened(kind, level, kept, value, source="en", target="he"):
    found = {name: {kind: agreement(value, 0.1) for kind in COEFFICIENTS} for name in MEASURES}
    return Degradation(kind, level, source, target, kept, 0.03, 0.9, 0.5, found)


def pair(source="en", target="he", names=NAMES, n_seeds=3, **changes):
    fields = {
        "source": source, "target": target, "n_source": 365, "n_target": 365, "k": 10, "n_pictures": 365,
        "n_seeds": n_seeds, "chance": 0.0274, "oracle": 0.9246, "conditions": {"data": "abc123"},
        "encoders": [encoder(name, i, n_seeds) for i, name in enumerate(names)],
        "subsets": {"all": subset(6), "below": subset(3, 0.4, 0.7), "above": subset(3, 0.1, 0.2)},
    }  # fmt: skip
    return PairValidation.of(**(fields | changes))


def with_subsets(pair, subsets, **changes):
    """Return a pair with other agreement, of all encoders and of parts of them."""
    own = {
        name: value for name, value in structs.asdict(pair).items() if name not in Subset.__struct_fields__
    }
    del own["parts"]
    return PairValidation.of(subsets, **own | changes)


def full():
    alike = difference(0.004, 0.01, 0.551)
    return Validation(
        "R@10", "scene:", 0.5, "^[a-z]+", [pair(), pair("he", "en")],
        [DirectionDifference("BkR", kind, "en-he", "he-en", alike) for kind in COEFFICIENTS],
        [weakened("none", None, 0.92, 0.96), weakened("dims", 4.0, 0.41, 0.77),
         weakened("noise", 0.5, 0.82, 0.94), weakened("shuffle", None, 0.03, 0.02)],
        ["one <i>warning</i>"], {"texts: rank": 1.5},
    )  # fmt: skip


def bare(**changes):
    """Three encoders, one seed, no family, no degradations, and no number at all."""
    nothing = SeedScores(None, None, [None], None, "no text has a vector")
    encoders = [
        EncoderScores.of(name, name, dict.fromkeys(("XLR", *MEASURES), nothing), None) for name in NAMES[:3]
    ]
    only = pair(
        n_seeds=1, n_source=0, n_target=0, chance=None, oracle=None, encoders=encoders,
        subsets={name: missing_subset(3) for name in SUBSETS},
    )  # fmt: skip
    return Validation("R@10", "scene:", 0.5, None, [only], **changes)


def tested(value, half, p, p_adjusted):
    return CorrectedDifference(value, ci(value - half, value + half), p, "Zou", p_adjusted=p_adjusted)


def row(name="IKEA", source="en", target="de", **changes):
    """Return a row: CORR's difference is real by itself, SIM's after the correction too."""
    differences = {
        "BkR-SIM": {kind: tested(-0.05, 0.02, 0.0001, 0.0004) for kind in COEFFICIENTS},
        "BkR-CORR": {kind: tested(0.248, 0.15, 0.0312, 0.0624) for kind in COEFFICIENTS},
    }
    fields = {
        "data_set": name, "source": source, "target": target, "n_source": 365, "k": 10, "n_seeds": 25,
        "n_encoders": 24, "n_families": 13, "image_encoder": "resnet", "agreement": subset(6).agreement,
        "best": dict.fromkeys(COEFFICIENTS, "BkR"), "differences": differences,
        "conditions": {"data": "abc123", "measure": "R@10"},
    }  # fmt: skip
    return TableRow(**(fields | changes))


def table(*names, **changes):
    """Return a table with both directions of each data set."""
    rows = [row(name, *pair) for name in names for pair in (("en", "de"), ("de", "en"))]
    mean = {
        name: dict.fromkeys(COEFFICIENTS, MeanAgreement(value, 0.0013, len(rows)))
        for name, value in VALUES.items()
    }
    return ValidationTable(
        **({"measure": "R@10", "rows": rows, "mean": mean, "n_tests": 4 * len(rows)} | changes)
    )
