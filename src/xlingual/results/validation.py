"""What a metric validation found: how measures that need no translations agree with true retrieval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Struct, UnsetType, field, structs

from xlingual.results.document import FolderDocument
from xlingual.results.files import REPORT
from xlingual.results.values import (
    Amount,
    Count,
    Interval,
    Note,
    Number,
    Positive,
    Share,
    Size,
    Timings,
    Warnings,
    about,
    among,
)

TRUTH = "XLR"
TRUTH_AT_1 = "XLR@1"  # encoders that are all near 1 at K = 10 still differ at K = 1
MEASURES = ("BkR", "SIM", "CORR")  # compared with the truth
COEFFICIENTS = ("pearson", "spearman")
SUBSETS = ("all", "below", "above")  # encoders whose XLR is below, or at least, the threshold


class SeedScores(Struct, frozen=True):
    """A measure of one encoder: its value for each seed, their mean and standard deviation."""

    mean: Annotated[Number | None, about("Mean over seeds; null where no seed has a value.")]
    sd: Annotated[Amount | None, about("Standard deviation over seeds; null for one seed.")]
    per_seed: Annotated[list[Number | None], about("The value for each seed.")]
    ci: Annotated[Interval | None, about("Interval of the mean, for another sample of items.")]
    note: Note = None


class EncoderScores(Struct, frozen=True, kw_only=True):
    """All measures of one encoder on one language pair."""

    encoder: Annotated[str, about("Name of the text encoder.")]
    family: Annotated[str, about("Its family; its own name where no pattern was given.")]
    normalized: Annotated[Number | None, about("(BkR - chance) / (oracle - chance) of the means over seeds.")]
    xlr_at_1: Annotated[SeedScores | UnsetType, about("XLR at K = 1; absent where K is 1.")] = field(
        name=TRUTH_AT_1, default=UNSET
    )
    xlr: Annotated[SeedScores, about("True cross-lingual retrieval.")] = field(name=TRUTH)
    bkr: Annotated[SeedScores, about("Backretrieval.")] = field(name="BkR")
    sim: Annotated[SeedScores, about("Mean similarity of the query's own image and the retrieved one.")] = (
        field(name="SIM")
    )
    corr: Annotated[SeedScores, about("Correlation of text and image distances.")] = field(name="CORR")

    @classmethod
    def of(
        cls, encoder: str, family: str, scores: Mapping[str, SeedScores], normalized: float | None
    ) -> EncoderScores:
        """Return the scores of an encoder; `scores` go by measure, as in the property of that name."""
        given = {key: scores[name] for key, name in _SCORED.items() if name in scores}
        return cls(encoder=encoder, family=family, normalized=normalized, **given)

    @property
    def scores(self) -> dict[str, SeedScores]:
        """The scores by measure: XLR, BkR, SIM, CORR, and XLR@1 if K > 1."""
        found = {name: getattr(self, key) for key, name in _SCORED.items()}
        return {name: one for name, one in found.items() if one is not UNSET}


_SCORED = {"xlr_at_1": TRUTH_AT_1, "xlr": TRUTH, "bkr": "BkR", "sim": "SIM", "corr": "CORR"}


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


class RankingAccuracy(Struct, frozen=True):
    """How often a measure orders two encoders as XLR does, by their means over seeds.

    `value` = (concordant + tied in both) / all pairs of encoders: a tie counts as a tie.
    """

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


Agreements: TypeAlias = Annotated[
    dict[str, dict[str, Agreement]],
    about("Agreement with XLR: by measure (BkR, SIM, CORR), then by coefficient (pearson, spearman)."),
]
Accuracies: TypeAlias = Annotated[
    dict[str, RankingAccuracy], about("How often a measure orders two encoders as XLR does, by measure.")
]
Differences: TypeAlias = Annotated[
    dict[str, dict[str, CoefficientDifference]],
    about("Differences of dependent coefficients: by BkR-CORR and BkR-SIM, then by coefficient."),
]
AgreementsAt1: TypeAlias = Annotated[
    dict[str, dict[str, Agreement]],
    about("Agreement with XLR@1, true retrieval at K = 1; empty where K is 1."),
]


class Subset(Struct, frozen=True):
    """Agreement over some of the encoders; keys are a measure, then a coefficient.

    `differences` has the keys BkR-CORR and BkR-SIM, then a coefficient. `agreement_at_1` is empty if K is 1.
    """

    n_encoders: Annotated[Count, about("Encoders in it.")]
    n_families: Annotated[Count, about("Families of encoders in it: the unit of inference.")]
    agreement: Agreements
    accuracy: Accuracies
    differences: Differences
    agreement_at_1: AgreementsAt1 = {}


class Parts(Struct, frozen=True):
    """Agreement over the encoders on either side of the threshold of XLR."""

    below: Annotated[Subset, about("Encoders whose mean XLR is below the threshold.")]
    above: Annotated[Subset, about("Encoders whose mean XLR is at least the threshold.")]


class PairValidation(Struct, frozen=True, kw_only=True):
    """The validation of one language pair: agreement over all encoders, and over parts of them."""

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    n_source: Annotated[Size, about("Source texts of a sample: N.")]
    n_target: Annotated[Size, about("Target texts of a sample.")]
    k: Annotated[Size, about("K of the measure.")]
    n_pictures: Annotated[Count, about("Distinct images of the sources, mean over seeds.")]
    n_seeds: Annotated[Size, about("Samples.")]
    chance: Annotated[Share | None, about("BkR of an encoder that knows nothing, mean over seeds.")]
    oracle: Annotated[Number | None, about("BkR of perfect retrieval by images alone, mean over seeds.")]
    conditions: Annotated[
        dict[str, str],
        about("Data, sample, images, measure, conventions and sizes, of all seeds together."),
    ]
    encoders: Annotated[list[EncoderScores], about("One entry per encoder.")]
    parts: Annotated[Parts, about("The same for encoders on either side of the threshold.")] = field(
        name="subsets"
    )
    n_matching: Annotated[
        Size | None, about("Texts of each side of the matching sample: N of XLR; null where it is not known.")
    ] = None
    n_encoders: Annotated[Count, about("Encoders in it.")]
    n_families: Annotated[Count, about("Families of encoders in it: the unit of inference.")]
    agreement: Agreements
    accuracy: Accuracies
    differences: Differences
    agreement_at_1: AgreementsAt1 = {}

    @classmethod
    def of(cls, subsets: Mapping[str, Subset], **given: Any) -> PairValidation:  # noqa: ANN401
        """Return the validation of a pair; `subsets` go by the keys of SUBSETS."""
        parts = Parts(subsets["below"], subsets["above"])
        return cls(**given, parts=parts, **structs.asdict(subsets["all"]))

    @property
    def subsets(self) -> dict[str, Subset]:
        """Agreement over all encoders, those below the threshold and those above, by the keys of SUBSETS."""
        whole = Subset(*(getattr(self, name) for name in Subset.__struct_fields__))
        return {"all": whole, "below": self.parts.below, "above": self.parts.above}


class DirectionDifference(Struct, frozen=True):
    """Agreement of one measure in two directions of a language pair, compared."""

    measure: Annotated[str, about("BkR, SIM or CORR.")]
    coefficient: Annotated[str, about("pearson or spearman.")]
    first: Annotated[str, about("A direction: en-de.")]
    second: Annotated[str, about("The other: de-en.")]
    difference: Annotated[CoefficientDifference, about("First minus second.")]


class Degradation(Struct, frozen=True):
    """Agreement with weakened image vectors: `kind` is none, dims, noise or shuffle.

    `kept` measures how good the image vectors are: of the K images nearest to an image, the share that still
    are with the weakened vectors. The oracle does not: in few dimensions the way back is easily found.
    """

    kind: Annotated[str, among("none", "dims", "noise", "shuffle"), about("How they were weakened.")]
    level: Annotated[
        Positive | None,
        about("Dimensions kept, or noise in units of the vectors' own length; null where there is no level."),
    ]
    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    kept: Annotated[
        Share | None,
        about(
            "Share of the K nearest images of an image that still are its nearest; null where there "
            "are too few images."
        ),
    ]
    chance: Annotated[Share | None, about("BkR of an encoder that knows nothing.")]
    oracle: Annotated[Number | None, about("BkR of perfect retrieval by these images.")]
    sim_oracle: Annotated[Number | None, about("SIM of perfect retrieval by these images.")]
    agreement: Annotated[dict[str, dict[str, Agreement]], about("Agreement with XLR, as for a pair.")]


class Validation(FolderDocument, frozen=True, tag="xlingual/validation/1"):
    """A metric validation over language pairs."""

    made_by = "xlingual validate backretrieval … --out DIR"
    file = "validation.json"
    derived = (REPORT,)

    measure: Annotated[
        str,
        about(
            "Canonical name of the measure of BkR: R@10; of XLR too, unless `conditions.xlr` of a pair "
            "says otherwise."
        ),
    ]
    image_encoder: Annotated[str, about("Name of the image encoder.")]
    threshold: Annotated[Number, about("Mean XLR that divides the encoders into below and above.")]
    family: Annotated[
        str | None, about("Regular expression that gave the families; null where each encoder is its own.")
    ]
    pairs: Annotated[list[PairValidation], about("One entry per language pair.")]
    directions: Annotated[
        list[DirectionDifference], about("Differences between the two directions of a language pair.")
    ] = field(default_factory=list)
    degradations: Annotated[list[Degradation], about("Agreement with weakened image vectors.")] = field(
        default_factory=list
    )
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)
    measure_at_1: Annotated[
        str | None, about("Canonical name of the measure of XLR@1: R@1; null where K is 1 already.")
    ] = None
    truncated: Annotated[
        dict[str, dict[str, Count]],
        about(
            "Number of texts that were cut to what the encoder reads, by encoder and language; only encoders "
            "that report it."
        ),
    ] = field(default_factory=dict)

    def problem(self) -> str | None:
        """Return a problem where a measure, difference or coefficient is missing."""
        missing = next(self._missing(), None)
        return None if missing is None else f"the field {missing!r} is missing"

    def _missing(self) -> Iterator[str]:
        for number, pair in enumerate(self.pairs):
            place = f"pairs[{number}]"
            for where, one in (
                (place, pair),
                (f"{place}.subsets.below", pair.parts.below),
                (f"{place}.subsets.above", pair.parts.above),
            ):
                yield from _lacking(f"{where}.accuracy", one.accuracy, MEASURES)
                yield from _lacking(f"{where}.agreement", one.agreement, MEASURES, COEFFICIENTS)
                yield from _lacking(
                    f"{where}.differences", one.differences, ("BkR-CORR", "BkR-SIM"), COEFFICIENTS
                )
        for number, weakened in enumerate(self.degradations):
            yield from _lacking(f"degradations[{number}].agreement", weakened.agreement, (), COEFFICIENTS)


def _lacking(
    where: str, found: Mapping[str, Any], keys: Iterable[str], within: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the missing `keys`, and for each key found the missing keys `within` it."""
    yield from (f"{where}.{key}" for key in keys if key not in found)
    yield from (f"{where}.{key}.{inner}" for key in found for inner in within if inner not in found[key])
