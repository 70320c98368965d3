"""What a metric validation found: how measures that need no translations agree with true retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xlingual.results.evaluation import Interval
from xlingual.results.files import REPORT, read_json, write_json
from xlingual.results.reading import fields_of, record

SCHEMA = "xlingual/validation/1"
TRUTH = "XLR"
TRUTH_AT_1 = (
    "XLR@1"  # the same truth at K = 1: good encoders that all but reach 1 at K = 10 still differ there
)
MEASURES = ("BkR", "SIM", "CORR")  # held against the truth
COEFFICIENTS = ("pearson", "spearman")
SUBSETS = ("all", "below", "above")  # encoders whose XLR is below, or at least, the threshold
FILE = "validation.json"
_MADE_BY = "xlingual validate backretrieval … --out DIR"


@dataclass(frozen=True)
class SeedScores:
    """A measure of one encoder: its value for each seed, their mean and standard deviation."""

    mean: float | None
    sd: float | None  # over seeds; None for one seed
    per_seed: list[float | None]
    ci: Interval | None  # of the mean, for another sample of items
    note: str | None = None  # why a number is missing


@dataclass(frozen=True)
class EncoderScores:
    """All measures of one encoder on one language pair; keys are XLR, BkR, SIM, CORR; XLR@1 if K > 1."""

    encoder: str
    family: str
    scores: dict[str, SeedScores]
    normalized: float | None  # (BkR − chance)/(oracle − chance), of the means over seeds


@dataclass(frozen=True)
class Agreement:
    """One correlation coefficient of a measure with XLR, over encoders."""

    mean: float | None  # over seeds of the coefficient of each seed (Table 1)
    sd: float | None  # over seeds
    se: float | None  # sd/√seeds: Monte Carlo error of the mean only
    value: float | None  # the coefficient of the encoders' means over seeds
    ci: Interval | None  # of `value`, for other families of encoders and other items
    note: str | None = None


@dataclass(frozen=True)
class RankingAccuracy:
    """How often a measure orders two encoders as XLR does, by their means over seeds.

    `value` = (concordant + tied in both) / all pairs of encoders: a tie counts as a tie.
    """

    value: float | None
    ci: Interval | None
    concordant: int
    discordant: int
    tied_both: int
    tied_one: int
    note: str | None = None


@dataclass(frozen=True)
class CoefficientDifference:
    """The difference of two dependent coefficients: value, interval, p and the test's name."""

    value: float | None
    ci: Interval | None
    p: float | None
    test: str | None
    note: str | None = None


@dataclass(frozen=True)
class Subset:
    """Agreement over some of the encoders; keys are a measure, then a coefficient.

    `differences` has the keys BkR-CORR and BkR-SIM, then a coefficient. `agreement_at_1` is empty if K is 1.
    """

    n_encoders: int
    n_families: int
    agreement: dict[str, dict[str, Agreement]]
    accuracy: dict[str, RankingAccuracy]
    differences: dict[str, dict[str, CoefficientDifference]]
    agreement_at_1: dict[str, dict[str, Agreement]] = field(default_factory=dict)  # with XLR@1


@dataclass(frozen=True)
class PairValidation:
    """The validation of one language pair; `subsets` has the keys of SUBSETS."""

    source: str
    target: str
    n_source: int  # N, of each seed's sample
    n_target: int
    k: int
    n_pictures: int  # D, the distinct source pictures (mean over seeds, rounded)
    n_seeds: int
    chance: float | None  # of BkR, mean over seeds
    oracle: float | None
    conditions: dict[str, str]  # what a calibration depends on: data, sample, images, measure …
    encoders: list[EncoderScores]
    subsets: dict[str, Subset]
    n_matching: int | None = None  # N of XLR: texts of each side of a matching sample; None: not known


@dataclass(frozen=True)
class DirectionDifference:
    """Agreement of one measure in two directions of a language pair, compared."""

    measure: str
    coefficient: str
    first: str  # "en-de"
    second: str  # "de-en"
    difference: CoefficientDifference


@dataclass(frozen=True)
class Degradation:
    """Agreement with weakened image vectors: `kind` is none, dims, noise or shuffle.

    `kept` tells how good the image vectors are: of the K pictures nearest to a picture, the share that still
    are with the weakened vectors. The oracle does not: in few dimensions pictures easily lead back.
    """

    kind: str
    level: float | None  # dimensions kept, or noise in units of the vectors' own spread
    source: str
    target: str
    kept: float | None
    chance: float | None
    oracle: float | None  # BkR of the nearest picture with these vectors
    sim_oracle: float | None
    agreement: dict[str, dict[str, Agreement]]


@dataclass
class Validation:
    """A metric validation over language pairs."""

    measure: str  # of BkR: R@10; of XLR too, unless `conditions["xlr"]` of a pair says otherwise
    image_encoder: str
    threshold: float  # XLR that divides the encoders into below and above
    family: str | None  # the pattern whose match in an encoder's name is its family
    pairs: list[PairValidation]
    directions: list[DirectionDifference] = field(default_factory=list)
    degradations: list[Degradation] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    measure_at_1: str | None = None  # of XLR@1: R@1; None where K is 1
    truncated: dict[str, dict[str, int]] = field(default_factory=dict)  # encoder → language → texts cut

    def to_dict(self) -> dict[str, Any]:
        """Return what `validation.json` holds."""
        content = {"schema": SCHEMA} | asdict(self)
        content["pairs"] = [_pair_content(pair) for pair in self.pairs]
        return content

    def write(self, folder: str | Path) -> None:
        """Write `validation.json` into `folder` (made if need be), atomically."""
        write_json(Path(folder) / FILE, self.to_dict(), derived=(REPORT,))

    @classmethod
    def read(cls, path: str | Path) -> Validation:
        """Read `validation.json` or the folder that holds it; raise InputError where it is not one."""
        path = Path(path)
        path = path / FILE if path.is_dir() else path
        content = read_json(path, SCHEMA, _MADE_BY)
        with fields_of(path, _MADE_BY):
            return _validation(content)


def _pair_content(pair: PairValidation) -> dict[str, Any]:
    """Return a pair with the scores of encoders and the agreement over all of them at its top."""
    content: dict[str, Any] = asdict(pair)
    for row in content["encoders"]:
        row |= row.pop("scores")
    content |= content["subsets"].pop("all")
    return content


def _validation(content: Mapping[str, Any]) -> Validation:
    return Validation(
        measure=content["measure"],
        image_encoder=content["image_encoder"],
        threshold=content["threshold"],
        family=content["family"],
        pairs=[_pair(row) for row in content["pairs"]],
        directions=[
            record(DirectionDifference, row, difference=_difference(row["difference"]))
            for row in content["directions"]
        ],
        degradations=[
            record(Degradation, row, agreement=_agreements(row["agreement"]))
            for row in content["degradations"]
        ],
        warnings=list(content["warnings"]),
        timings=dict(content["timings"]),
        measure_at_1=content.get("measure_at_1"),
        truncated={name: dict(counts) for name, counts in content.get("truncated", {}).items()},
    )


def _pair(row: Mapping[str, Any]) -> PairValidation:
    built = ("encoders", "subsets", "n_matching")
    own = {key: row[key] for key in PairValidation.__dataclass_fields__ if key not in built}
    subsets = {"all": row, **row["subsets"]}
    return PairValidation(
        **own,
        encoders=[
            EncoderScores(
                encoder["encoder"],
                encoder["family"],
                {name: record(SeedScores, encoder[name]) for name in _scored(encoder)},
                encoder["normalized"],
            )
            for encoder in row["encoders"]
        ],
        subsets={name: _subset(subsets[name]) for name in SUBSETS},
        n_matching=row.get("n_matching"),
    )


def _scored(encoder: Mapping[str, Any]) -> tuple[str, ...]:
    return (TRUTH, *MEASURES, *((TRUTH_AT_1,) if TRUTH_AT_1 in encoder else ()))


def _subset(row: Mapping[str, Any]) -> Subset:
    return Subset(
        row["n_encoders"],
        row["n_families"],
        _agreements(row["agreement"]),
        {name: record(RankingAccuracy, found) for name, found in row["accuracy"].items()},
        {
            name: {coefficient: _difference(one) for coefficient, one in found.items()}
            for name, found in row["differences"].items()
        },
        _agreements(row.get("agreement_at_1", {})),
    )


def _agreements(rows: Mapping[str, Any]) -> dict[str, dict[str, Agreement]]:
    return {
        name: {coefficient: record(Agreement, one) for coefficient, one in found.items()}
        for name, found in rows.items()
    }


def _difference(row: Mapping[str, Any]) -> CoefficientDifference:
    return record(CoefficientDifference, row)
