"""A repair: what was tried, what was chosen, and what it changes on data that took no part in the choice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct, field

from xlingual.results.document import FolderDocument
from xlingual.results.values import (
    Conditions,
    Count,
    Interval,
    Level,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    about,
    among,
)

if TYPE_CHECKING:
    from xlingual.results.evaluation import Results

TEST = "test"  # the folder of the evaluation before and after, below that of the repair
BETTER, WORSE, UNDECIDED, UNCHANGED = "better", "worse", "cannot tell", "unchanged"  # outcomes
POOL_MAP, CROSSLINGUAL_MAP = "mAP", "cross-lingual mAP"  # criteria


class PartSize(Struct, frozen=True):
    """What a part of the data holds."""

    clusters: Annotated[Size, about("Clusters of questions.")]
    questions: Annotated[Size, about("Questions.")]
    candidates: Annotated[Size, about("Candidates.")]


class TriedRepair(Struct, frozen=True):
    """A transform that was tried, and its value on the part for choosing."""

    spec: Annotated[str, about("The transforms without fit=, the last applied first; none for none.")]
    similarity: Annotated[str, about("How vectors are compared.")]
    value: Annotated[Number, about("Value of the criterion.")]


class LeftOut(Struct, frozen=True):
    """A transform that could not be fitted."""

    spec: Annotated[str, about("The transforms.")]
    why: Annotated[str, about("Why not.")]


class Change(Struct, frozen=True):
    """A value before and after the repair, on the part for testing."""

    source: Annotated[str, about('Language of the questions; "all" for all.')]
    target: Annotated[
        str,
        about(
            'Language of the answers; "pool" for those of all languages, "others" for each other language.'
        ),
    ]
    before: Annotated[Number, about("Value of the encoder as it is.")]
    after: Annotated[Number, about("Value of the repaired encoder.")]
    difference: Annotated[Number, about("The second less the first.")]
    ci: Annotated[
        Interval | None,
        about(
            "Paired interval of the difference. Those of languages, pairs and monolingual hold together, all "
            "of them (max-t); others stand alone. Null where there are too few clusters of questions."
        ),
    ]
    least: Annotated[
        Number | None, about("Lower bound of the difference, one-sided, of level 1 - alpha for it alone.")
    ]
    p_harmed: Annotated[Share, about('p of "it loses delta or more".')]
    n_questions: Annotated[Size, about("Questions.")]
    n_clusters: Annotated[Size, about("Clusters of questions.")]


class Hubs(Struct, frozen=True):
    """How unevenly first places are divided among the candidates, before and after."""

    k: Annotated[Size, about("First places of each question that are counted.")]
    before: Annotated[Number, about("Skewness of how often candidates are found.")]
    after: Annotated[Number, about("The same of the repaired encoder.")]


class Beside(Struct, frozen=True):
    """A number without translations, before and after: it is no judge of a repair."""

    measure: Annotated[str, about("Canonical name of the measure.")]
    before: Annotated[Number, about("Value of the encoder as it is.")]
    after: Annotated[Number, about("Value of the repaired encoder, compared by cosine.")]
    difference: Annotated[Number, about("The second less the first.")]
    ci: Annotated[Interval | None, about("Paired interval of the difference.")]


class Repair(FolderDocument, frozen=True, tag="xlingual/repair/1"):
    """Which transform repairs an encoder, chosen and tested on data held apart."""

    made_by = "xlingual repair … --out DIR"
    file = "repair.json"

    encoder: Annotated[str, about("Name of the encoder.")]
    spec: Annotated[str | None, about("Its spec; null for an object.")]
    dim: Annotated[Size, about("Dimensions of its vectors.")]
    criterion: Annotated[
        str,
        among(POOL_MAP, CROSSLINGUAL_MAP),
        about(
            "What the choice goes by and the test tests: mAP over the pool of all languages; or, "
            "cross-lingual, the mean over the other languages of AP among the candidates of each by itself."
        ),
    ]
    alpha: Annotated[Level, about("Level of the tests.")]
    delta: Annotated[Number, about("The loss from which a language or pair counts as harmed.")]
    fit: Annotated[PartSize, about("The part that transforms are fitted on.")]
    choose: Annotated[PartSize, about("The part on which one is chosen.")]
    test: Annotated[PartSize, about("The part on which it is tested, once.")]
    tried: Annotated[list[TriedRepair], about("All that was tried, the best first.")]
    left_out: Annotated[list[LeftOut], about("What could not be fitted.")]
    chosen: Annotated[str, about("The transforms that were chosen; none where nothing is better.")]
    similarity: Annotated[str, about("How vectors are compared with it.")]
    outcome: Annotated[
        str,
        among(BETTER, WORSE, UNDECIDED, UNCHANGED),
        about("What the test says of all languages together."),
    ]
    whole: Annotated[Change, about("The criterion, questions of all languages.")]
    p: Annotated[Share, about("p of the difference, two-sided.")]
    languages: Annotated[list[Change], about("The same by the language of the questions.")]
    pairs: Annotated[
        list[Change],
        about(
            "By question and answer language: mAP of a single answer in the pool; with cross-lingual mAP, "
            "mAP among the candidates of the answer's language."
        ),
    ]
    monolingual: Annotated[
        list[Change], about("mAP among candidates in the question's own language, by language.")
    ]
    bias: Annotated[
        Change | None,
        about(
            "How much better an answer in the question's own language is found than one in another, a single "
            "answer in the pool; null where questions have only one kind."
        ),
    ]
    hubs: Annotated[Hubs, about("Hubs among the candidates.")]
    harmless: Annotated[
        bool,
        about("Whether it is shown for every language pair that it loses less than delta (Berger 1982)."),
    ]
    p_harmed: Annotated[Share, about("The largest p_harmed of the language pairs.")]
    other: Annotated[
        Change | None,
        about("The criterion that was not chosen by; null where no question has an answer to it."),
    ] = None
    beside: Annotated[
        list[Beside], about("Backretrieval and SIM on the part for testing, where images were given.")
    ] = field(default_factory=list)
    model: Annotated[str | None, about("Folder of the transform, below the folder of this file.")] = None
    parts: Annotated[
        str | None,
        about("The data with the part of each row as its split: fit, choose, test; below the same folder."),
    ] = None
    signature: Annotated[str, about("What the values of the encoder as it is depend on.")] = ""
    conditions: Conditions = field(default_factory=dict)
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)
    n_texts: Annotated[Count, about("Texts that were encoded.")] = 0
    near_duplicates: Annotated[
        Count, about("Clusters with near-equal texts in another; each family is one cluster, in one part.")
    ] = 0

    def problem(self) -> str | None:
        """Return the first inconsistency between fields; None where there is none."""
        if (self.chosen, self.similarity) not in {(one.spec, one.similarity) for one in self.tried}:
            return f"chosen is {self.chosen!r}, which was not tried"
        return None


@dataclass(frozen=True)
class BeforeAndAfter:
    """A repair, and the evaluation of the encoder before and after it on the part for testing.

    `full`: the page of that evaluation, relative to the page of both; None where there is none.
    """

    found: Repair
    test: Results
    full: str | None = None

    @staticmethod
    def read(path: str | Path) -> BeforeAndAfter | Repair:
        """Read the file of a repair, with the evaluation in the folder beside it, if there is one of it."""
        from xlingual.results.evaluation import Results

        found, beside = Repair.read(path), Path(path).parent / TEST
        if found.model is None or not (beside / "results.json").is_file():
            return found
        both = BeforeAndAfter(found, Results.read(beside))
        return both if both.alike else found

    @property
    def alike(self) -> bool:
        """Whether the evaluation is of this encoder, on as many questions and candidates."""
        sizes = self.found.test.questions, self.found.test.candidates
        return any(
            one.encoder == self.found.encoder and (one.n_source, one.n_target) == sizes
            for one in self.test.entries
        )
