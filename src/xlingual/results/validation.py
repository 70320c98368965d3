"""The record of a metric validation: how measures that need no translations agree with true retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct, field

from xlingual.results.document import FolderDocument
from xlingual.results.files import REPORT
from xlingual.results.values import (
    Amount,
    Conditions,
    Count,
    Interval,
    Note,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    about,
)

TRUTH = "XLR"
TRUTH_AT_1 = "XLR@1"  # encoders that are all near 1 at K = 10 still differ at K = 1
MEASURES = ("BkR", "SIM", "CORR")  # compared with the truth
RIVALS = ("CORR", "SIM")  # of BkR
COEFFICIENTS = ("pearson", "spearman")
SUBSETS = ("all", "below", "above")  # encoders whose XLR is below, or at least, the threshold


class SeedScores(Struct, frozen=True):
    """A measure of one encoder: its value for each seed, their mean and standard deviation."""

    mean: Annotated[Number | None, about("Mean over seeds; null where a seed has no value.")]
    sd: Annotated[Amount | None, about("Standard deviation over seeds; null for one seed.")]
    per_seed: Annotated[list[Number | None], about("The value for each seed.")]
    ci: Annotated[Interval | None, about("Interval of the mean, for another sample of items.")]
    note: Note = None


class EncoderScores(Struct, frozen=True):
    """All measures of one encoder on one language pair."""

    encoder: Annotated[str, about("Name of the text encoder.")]
    family: Annotated[str, about("Its family; its own name where no pattern was given.")]
    normalized: Annotated[Number | None, about("(BkR - chance) / (oracle - chance) of the means over seeds.")]
    scores: Annotated[dict[str, SeedScores], about("By measure: XLR, BkR, SIM, CORR, and XLR@1 if K > 1.")]


class Agreement(Struct, frozen=True):
    """One correlation coefficient of a measure with XLR, over encoders."""

    mean: Annotated[Number | None, about("Mean over seeds of the coefficient of each seed.")]
    sd: Annotated[Amount | None, about("Standard deviation over seeds.")]
    se: Annotated[Amount | None, about("sd/√seeds: Monte Carlo error of the mean only.")]
    value: Annotated[Number | None, about("The coefficient of the encoders' means over seeds.")]
    ci: Annotated[
        Interval | None, about("Interval of the value, for other families of encoders and other items.")
    ]
    note: Note = None
    per_seed: Annotated[list[Number | None], about("The coefficient of each seed.")] = []


class RankingAccuracy(Struct, frozen=True):
    """How often a measure orders two encoders as XLR does, by their means over seeds."""

    value: Annotated[Number | None, about("(concordant + tied_both) / all pairs of encoders.")]
    ci: Annotated[Interval | None, about("Interval of the value.")]
    concordant: Annotated[Count, about("Pairs of encoders in the same order.")]
    discordant: Annotated[Count, about("Pairs in the opposite order.")]
    tied_both: Annotated[Count, about("Pairs that both tie.")]
    tied_one: Annotated[Count, about("Pairs that one ties and the other orders.")]
    note: Note = None


class CoefficientDifference(Struct, frozen=True):
    """The difference of two dependent coefficients: value, interval, p and the test's name."""

    value: Annotated[Number | None, about("The difference.")]
    ci: Annotated[Interval | None, about("Its interval.")]
    p: Annotated[Share | None, about("Two-sided p; null where there is no test.")]
    test: Annotated[str | None, about("How ci and p were computed.")]
    note: Note = None


class Subset(Struct, frozen=True):
    """Agreement over some of the encoders, by measure (BkR, SIM, CORR) and coefficient."""

    n_encoders: Annotated[Count, about("Encoders in it.")]
    n_families: Annotated[Count, about("Families of encoders in it: the unit of inference.")]
    agreement: Annotated[dict[str, dict[str, Agreement]], about("Agreement with XLR.")]
    accuracy: Annotated[dict[str, RankingAccuracy], about("How often two encoders stand as XLR has them.")]
    differences: Annotated[
        dict[str, dict[str, CoefficientDifference]],
        about("Differences of dependent coefficients: by BkR-CORR and BkR-SIM, then by coefficient."),
    ]
    agreement_at_1: Annotated[
        dict[str, dict[str, Agreement]], about("Agreement with XLR at K = 1; empty where K is 1.")
    ] = {}


def lacking(
    agreement: Mapping[str, Mapping[str, object]], differences: Mapping[str, Mapping[str, object]]
) -> str | None:
    """Name the first measure or coefficient that is missing, None where all are there."""
    needed = {f"agreement.{name}": agreement.get(name, {}) for name in MEASURES}
    needed |= {f"differences.BkR-{rival}": differences.get(f"BkR-{rival}", {}) for rival in RIVALS}
    missing = (f"{name}.{kind}" for name, own in needed.items() for kind in COEFFICIENTS if kind not in own)
    return next(missing, None)


class PairValidation(Struct, frozen=True, kw_only=True):
    """The validation of one language pair: agreement over all encoders, and over parts of them."""

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    n_source: Annotated[Size, about("Source texts of a sample: N.")]
    n_target: Annotated[Size, about("Target texts of a sample.")]
    n_matching: Annotated[Size | None, about("Texts of each side of the matching sample: N of XLR.")] = None
    k: Annotated[Size, about("K of the measure.")]
    n_pictures: Annotated[Count, about("Distinct images of the sources, mean over seeds.")]
    n_seeds: Annotated[Size, about("Samples.")]
    chance: Annotated[Share | None, about("BkR of an encoder that knows nothing, mean over seeds.")]
    oracle: Annotated[Number | None, about("BkR of perfect retrieval by images alone, mean over seeds.")]
    conditions: Conditions
    encoders: Annotated[list[EncoderScores], about("One entry per encoder.")]
    subsets: Annotated[
        dict[str, Subset],
        about("Over all encoders, those whose mean XLR is below the threshold, and the others above it."),
    ]


class Validation(FolderDocument, frozen=True, tag="xlingual/validation/1"):
    """A metric validation over language pairs."""

    made_by = "xlingual papers backretrieval validate … --out DIR"
    file = "validation.json"
    derived = (REPORT,)

    measure: Annotated[
        str, about("Measure of BkR: R@10; of XLR too, unless `conditions.xlr` of a pair says otherwise.")
    ]
    image_encoder: Annotated[str, about("Name of the image encoder.")]
    threshold: Annotated[Number, about("Mean XLR that divides the encoders into below and above.")]
    family: Annotated[
        str | None, about("Regular expression that gave the families; null where each encoder is its own.")
    ]
    pairs: Annotated[list[PairValidation], about("One entry per language pair.")]
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)
    truncated: Annotated[
        dict[str, dict[str, Count]], about("Texts cut to what the encoder reads, by encoder and language.")
    ] = field(default_factory=dict)

    def problem(self) -> str | None:
        """Name the first measure, difference or coefficient that is missing."""
        for number, pair in enumerate(self.pairs):
            missing = [name for name in SUBSETS if name not in pair.subsets]
            for name, subset in pair.subsets.items():
                if gap := lacking(subset.agreement, subset.differences):
                    missing.append(f"{name}.{gap}")
                if subset.agreement_at_1 and lacking(subset.agreement_at_1, subset.differences):
                    missing.append(f"{name}.agreement_at_1")
                missing += [f"{name}.accuracy.{measure}" for measure in {*MEASURES} - {*subset.accuracy}]
            if missing:
                return f"the field 'pairs[{number}].subsets.{missing[0]}' is missing"
            for encoder in pair.encoders:
                if absent := {TRUTH, *MEASURES} - {*encoder.scores}:
                    return f"pairs[{number}]: the encoder {encoder.encoder!r} has no {sorted(absent)[0]}"
        return None
