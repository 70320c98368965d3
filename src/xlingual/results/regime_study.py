"""What regimes of training change: retrieval from a multilingual pool, and from one of the own language.

Tables 2 and 4 of LAReQA (Roy et al. 2020), and the diagonal of Figure 4 against the rest of it. The values of
the questions are in a table of each training beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.results.comparison import BETTER, OUTCOMES, WORSE
from xlingual.results.document import FolderDocument, unknown
from xlingual.results.files import REPORT
from xlingual.results.values import (
    Amount,
    Conditions,
    Count,
    Interval,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    Whole,
    about,
    among,
)

UNTRAINED = "untrained"
POOL, OWN_POOL, SAME, OTHER = "pool", "own_pool", "same", "other"
VALUES = (POOL, OWN_POOL, SAME, OTHER)  # what each question has a value of
TESTED = (POOL, OTHER, SAME, OWN_POOL)


class Score(Struct, frozen=True):
    """The mean of a value over questions and trainings."""

    value: Annotated[Number, about("Mean over questions and trainings.")]
    ci: Annotated[Interval | None, about("Interval of the mean, for other questions and other trainings.")]
    per_training: Annotated[list[Number], about("Mean of each training.")]
    sd_training: Annotated[Amount | None, about("Standard deviation over trainings; null for one.")]
    by_language: Annotated[dict[str, Number], about("Mean by language of the question.")]


class RegimeScores(Struct, frozen=True):
    """One row of Tables 2 and 4."""

    name: Annotated[str, about("Name of the regime, or untrained.")]
    models: Annotated[list[str], about("Names of its trainings.")]
    pool: Annotated[Score, about("mAP among the candidates of all languages (Table 2).")]
    own_pool: Annotated[
        Score | None, about("mAP among the candidates of the question's language alone (Table 4).")
    ]
    same: Annotated[
        Score | None,
        about("mAP with a single answer in the pool, in the question's language (diagonal of Figure 4)."),
    ]
    other: Annotated[
        Score | None, about("The same with a single answer in another language (off the diagonal).")
    ]

    def score(self, kind: str) -> Score | None:
        """Return the score of one of `VALUES`."""
        found: Score | None = getattr(self, kind)
        return found


class RegimeDifference(Struct, frozen=True):
    """One regime against another on the same questions, training by training."""

    regime: Annotated[str, about("The regime whose value is compared.")]
    other: Annotated[str, about("The regime whose value is subtracted.")]
    where: Annotated[str, among(*TESTED), about("The value that is compared.")]
    value: Annotated[Number, about("The regime's value less that of the other.")]
    ci: Annotated[Interval | None, about("Interval of the difference; null without a test.")]
    p: Annotated[Share | None, about("Two-sided p; null without a test.")]
    p_adjusted: Annotated[
        Share | None, about("p corrected by Holm over all pairs of regimes, for this value.")
    ]
    per_training: Annotated[list[Number], about("The difference of each training.")]
    outcome: Annotated[str, among(*OUTCOMES), about("What the adjusted p says.")]
    note: Annotated[str | None, about("Why there is no test.")] = None

    def turned(self) -> RegimeDifference:
        """Return the other less the regime."""
        ci = self.ci
        return replace(
            self,
            regime=self.other,
            other=self.regime,
            value=-self.value,
            ci=None if ci is None else replace(ci, low=-ci.high, high=-ci.low),
            per_training=[-value for value in self.per_training],
            outcome={BETTER: WORSE, WORSE: BETTER}.get(self.outcome, self.outcome),
        )


class RegimeTraining(Struct, frozen=True):
    """One training."""

    model: Annotated[str, about("Its name, which is that of its folder.")]
    regime: Annotated[str, about("Its regime, or untrained.")]
    seed: Annotated[Whole, about("Seed of weights, batches and dropout.")]
    spec: Annotated[str, about("The model as an encoder.")]
    identity: Annotated[str, about("The name that results and the store use.")]
    steps: Annotated[Whole, about("Batches it was trained on.")]
    scale: Annotated[Number | None, about("Factor of the products at the end.")]
    seconds: Annotated[Number, about("Time of the training.")]


class RegimeStudy(FolderDocument, frozen=True, tag="xlingual/regime_study/1"):
    """Regimes of training and the untrained model, the best first."""

    made_by = "xlingual casestudy lareqa … --out DIR"
    file = "regime_study.json"
    derived = (REPORT,)

    source: Annotated[str, about("Name of the data that are evaluated.")]
    base: Annotated[str, about("What the towers stand on.")]
    languages: Annotated[list[str], about("Languages of the pool.")]
    n_trained: Annotated[Size, about("Questions trained on, each counted once over its languages.")]
    n_questions: Annotated[Size, about("Questions evaluated, each in each of its languages.")]
    n_own: Annotated[Count, about("Those that have an answer in their own language.")]
    n_candidates: Annotated[Size, about("Candidates of all languages.")]
    n_clusters: Annotated[Size, about("Clusters of questions, such as paragraphs.")]
    n_trainings: Annotated[Size, about("Trainings of each regime.")]
    steps: Annotated[Size, about("Batches of each training.")]
    batch: Annotated[Size, about("Pairs of a batch.")]
    seed: Annotated[Count, about("Seed of the first training.")]
    regimes: Annotated[list[RegimeScores], about("Regimes by mAP among all languages, the best first.")]
    differences: Annotated[list[RegimeDifference], about("All pairs of regimes, by value.")]
    trainings: Annotated[list[RegimeTraining], about("The trainings.")]
    conditions: Conditions
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)

    def regime(self, name: str) -> RegimeScores:
        """Return the scores of a regime."""
        return next(one for one in self.regimes if one.name == name)

    @property
    def trained(self) -> list[RegimeScores]:
        """The regimes without the untrained model, the best first."""
        return [one for one in self.regimes if one.name != UNTRAINED]

    def difference(self, regime: str, other: str, where: str) -> RegimeDifference | None:
        """Return the value of a regime less that of another; None where they were not compared."""
        for one in self.differences:
            if one.where == where and {one.regime, one.other} == {regime, other}:
                return one if one.regime == regime else one.turned()
        return None

    def problem(self) -> str | None:
        """Return a problem where a difference names an unknown regime."""
        compared = (name for one in self.differences for name in (one.regime, one.other))
        return unknown(compared, (one.name for one in self.regimes), "'regimes'")


@dataclass(frozen=True, eq=False, repr=False)
class QuestionValues:
    """The values of one model for each of n questions; NaN where a question has none."""

    question: list[str]  # [n] "ar/ID"
    language: list[str]  # [n]
    cluster: Ints  # [n]
    value: Mapping[str, Floats]  # by each of VALUES, [n]

    def write(self, path: Path, made_of: Mapping[str, str]) -> None:
        """Write the table as Parquet; `made_of` names the model and the data that it is about."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {"question": self.question, "language": self.language, "cluster": self.cluster}
        values = {kind: pa.array(self.value[kind], from_pandas=True) for kind in VALUES}
        table = pa.table({**columns, **values}).replace_schema_metadata(dict(made_of))
        make_folder(path.parent)
        with atomic_file(path) as temporary:
            pq.write_table(table, temporary, compression="zstd")

    @classmethod
    def read(cls, path: Path, made_of: Mapping[str, str]) -> QuestionValues | None:
        """Read a table; None where there is none, or one about another model or other data."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not path.is_file():
            return None
        try:
            table = pq.read_table(path)
            kept = {key.decode(): text.decode() for key, text in (table.schema.metadata or {}).items()}
            if any(kept.get(name) != text for name, text in made_of.items()):
                return None
            return cls(
                table["question"].to_pylist(),
                table["language"].to_pylist(),
                table["cluster"].to_numpy().astype(np.int64),
                {kind: table[kind].to_numpy().astype(np.float64) for kind in VALUES},
            )
        except (pa.ArrowException, KeyError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is damaged ({error}): remove it; it is computed again") from None
