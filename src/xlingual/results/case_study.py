"""What a case study found: encoders by Backretrieval over language pairs, and what two trainings change.

Written beside the results of the evaluation that it rests on (Fain, Twomey and Bollegala 2021, section 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xlingual.results.evaluation import Interval
from xlingual.results.files import REPORT, read_json, write_json
from xlingual.results.reading import fields_of, record, refuse_unknown

SCHEMA = "xlingual/case_study/1"
FILE = "case_study.json"
_MADE_BY = "xlingual casestudy … --out DIR"

OTHER = "other"
BASE = "base"
TRIPLET = "triplet"
TRIPLET_XL = "triplet-xl"
ROLES = (OTHER, BASE, TRIPLET, TRIPLET_XL)
ALL_PAIRS = "all pairs"
WORST_PAIRS = "worst pairs"


@dataclass(frozen=True)
class PairScore:
    """The value of a model on one language pair, mean over samples and trainings."""

    source: str
    target: str
    value: float
    ci: Interval | None


@dataclass(frozen=True)
class Model:
    """One row of Table 2, and one box of Figure 3."""

    name: str
    role: str  # one of ROLES
    encoders: list[str]  # its names in results.json: one for each training
    value: float  # mean over language pairs, samples and trainings
    ci: Interval | None
    per_training: list[float]
    sd_training: float | None  # over trainings; None for one
    sd_pairs: float | None  # of the values of the language pairs; None for one pair
    pairs: list[PairScore]


@dataclass(frozen=True)
class Difference:
    """One model against another on the same queries: value of `model` less that of `other`."""

    model: str
    other: str
    where: str  # ALL_PAIRS, or WORST_PAIRS of the other
    value: float
    ci: Interval | None
    p: float | None  # two-sided
    p_adjusted: float | None  # by Holm, over all questions of the study
    per_training: list[float]
    outcome: str  # of results.comparison
    note: str | None = None


@dataclass(frozen=True)
class WorstPair:
    """A language pair that is among the worst of Triplet, by all queries and trainings.

    `chosen` is the share of the choices (one for each half of the queries and training) that named it too.
    """

    source: str
    target: str
    chosen: float


@dataclass(frozen=True)
class Worst:
    """How Triplet's worst pairs were chosen, and what the choice alone does to a difference on them."""

    number: int  # of pairs in each choice
    shown: list[WorstPair]  # the worst over all queries: those that the figure names
    also_chosen: list[WorstPair]  # named by some choice, but not among `shown`
    other_trainings: bool  # whether each training was judged on pairs that other trainings named
    same_data: float | None  # gain of TripletXL on pairs chosen by the queries and models it is judged on
    retrained: float | None  # gain there of Triplet trained once more; None with one training
    note: str | None = None  # why there is no choice


@dataclass(frozen=True)
class Training:
    """How a model came to be; None where it was not trained by this study."""

    encoder: str
    spec: str
    seed: int | None
    epochs: int | None
    best_epoch: int | None
    score: float | None
    seconds: float | None


@dataclass
class CaseStudy:
    """Encoders over language pairs, in the order of Table 2: ascending, what was trained last."""

    measure: str
    image_encoder: str | None
    base: str
    base_given: bool  # False: it led on the evaluated data
    chance: float | None
    oracle: float | None
    n_queries: int
    n_pairs: int
    n_seeds: int
    n_trainings: int
    seed: int
    models: list[Model]
    differences: list[Difference]
    worst: Worst
    trainings: list[Training]
    conditions: dict[str, str]
    warnings: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    def model(self, role: str) -> Model | None:
        """Return the model of a role, None where there is none."""
        return next((model for model in self.models if model.role == role), None)

    def difference(self, role: str, where: str) -> Difference | None:
        """Return the difference that was asked of the model of a role, None where it was not."""
        model = self.model(role)
        found = (d for d in self.differences if model and d.model == model.name and d.where == where)
        return next(found, None)

    def to_dict(self) -> dict[str, Any]:
        """Return what `case_study.json` holds."""
        return {"schema": SCHEMA} | asdict(self)

    def write(self, folder: str | Path) -> None:
        """Write `case_study.json` into `folder` (made if need be), atomically."""
        write_json(Path(folder) / FILE, self.to_dict(), derived=(REPORT,))

    @classmethod
    def read(cls, path: str | Path) -> CaseStudy:
        """Read `case_study.json` or the folder that holds it; raise InputError where it is not one."""
        path = Path(path)
        path = path / FILE if path.is_dir() else path
        content = read_json(path, SCHEMA, _MADE_BY)
        with fields_of(path, _MADE_BY):
            found = record(
                cls,
                content,
                models=[_model(row) for row in content["models"]],
                differences=[record(Difference, row) for row in content["differences"]],
                worst=_worst(content["worst"]),
                trainings=[record(Training, row) for row in content["trainings"]],
            )
        compared = (name for one in found.differences for name in (one.model, one.other))
        refuse_unknown(path, compared, (model.name for model in found.models), "'models'", _MADE_BY)
        return found


def _model(content: Mapping[str, Any]) -> Model:
    return record(Model, content, pairs=[record(PairScore, row) for row in content["pairs"]])


def _worst(content: Mapping[str, Any]) -> Worst:
    lists = {name: [record(WorstPair, row) for row in content[name]] for name in ("shown", "also_chosen")}
    return record(Worst, content, **lists)
