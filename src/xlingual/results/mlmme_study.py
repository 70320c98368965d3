"""What a case study of MLMME found: the three tables of Calixto, Liu and Campbell (2017) over trainings.

Written beside the models and the results of the evaluations behind it.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.comparison import OUTCOMES
from xlingual.results.document import FolderDocument, unknown
from xlingual.results.files import REPORT
from xlingual.results.runs import Compared, Gain, OfRuns
from xlingual.results.values import (
    Conditions,
    Count,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    Whole,
    about,
    among,
)

VSE, MLMME = "VSE", "MLMME"
TO_IMAGE, TO_SENTENCE = "sentence to image", "image to sentence"
CHANCE = "chance"  # what a model is compared with that is asked whether it knows anything
MEAN_RECALL = "mean recall"  # of R@1, R@5 and R@10, in one direction


class Trained(Struct, frozen=True):
    """One training of a model."""

    encoder: Annotated[str, about("Its name in the results of the evaluations, and its folder.")]
    seed: Annotated[Whole, about("Seed of the training.")]
    epochs: Annotated[Whole, about("Epochs run.")]
    best_epoch: Annotated[Whole, about("The epoch that was kept.")]
    score: Annotated[Number, about("Mean sum of recalls of the kept epoch on the validation, of 600.")]
    seconds: Annotated[Number, about("Time of the training.")]


class StudyModel(Struct, frozen=True):
    """A model of the study: what it is, and its trainings."""

    name: Annotated[str, about("Its name in the tables.")]
    kind: Annotated[str, among(VSE, MLMME), about("One language with images, or several.")]
    languages: Annotated[list[str], about("Its languages.")]
    beta: Annotated[Share, about("Weight of images against sentences.")]
    trainings: Annotated[list[Trained], about("Its trainings, one for each seed.")]


class RankingRow(Struct, frozen=True):
    """A row of Table 1: a measure of one language in one direction."""

    language: Annotated[str, about("Language of the sentences.")]
    direction: Annotated[str, among(TO_IMAGE, TO_SENTENCE), about("What is ranked for what.")]
    measure: Annotated[
        str, about("Measure: Success@k (the paper's r@k), mean recall of the three, or median rank.")
    ]
    scores: Annotated[dict[str, OfRuns], about("By model; differences are to VSE of that language.")]
    chance: Annotated[
        Number | None, about("What an encoder that knows nothing scores; null in results from before.")
    ] = None


class Question(Struct, frozen=True):
    """Whether a model ranks better than another, or than chance, by the mean recall of one direction."""

    model: Annotated[str, about("The model.")]
    other: Annotated[str, about("What it is compared with: a model, or chance.")]
    language: Annotated[str, about("Language of the sentences.")]
    direction: Annotated[str, among(TO_IMAGE, TO_SENTENCE), about("What is ranked for what.")]
    gain: Annotated[Gain, about("The difference; p is corrected over all questions of its kind.")]
    outcome: Annotated[str, among(*OUTCOMES), about("What the corrected p says.")]
    note: Annotated[str | None, about("Why there is no test.")] = None


class Ranking(Struct, frozen=True):
    """Table 1: image–sentence ranking."""

    n_images: Annotated[Size, about("Images that are ranked.")]
    n_sentences: Annotated[dict[str, Count], about("Sentences by language.")]
    rows: Annotated[list[RankingRow], about("Measures, by language and direction.")]
    questions: Annotated[list[Question], about("Multilingual models against VSE.")]
    of_beta: Annotated[
        list[Question], about("Models with sentence pairs (beta below 1) against the one without (beta 1).")
    ]
    of_chance: Annotated[list[Question], about("Every model against an encoder that knows nothing.")] = field(
        default_factory=list
    )


class StsRow(Struct, frozen=True):
    """A row of Table 2: Pearson's correlation on one file."""

    file: Annotated[str, about("Name of the file.")]
    n_pairs: Annotated[Size, about("Its sentence pairs.")]
    scores: Annotated[dict[str, OfRuns], about("By model or trivial baseline; differences are to VSE.")]


class Similarity(Struct, frozen=True):
    """Table 2: textual similarity."""

    language: Annotated[str, about("Language of the sentences.")]
    reference: Annotated[str, about("What the others are compared with: VSE, or the first model.")]
    trivial: Annotated[list[str], about("Baselines that know no meaning.")]
    rows: Annotated[list[StsRow], about("The files.")]


class Reranking(Struct, frozen=True):
    """Table 3: translations chosen with similarities as features."""

    source_language: Annotated[str, about("Language that is translated.")]
    target_language: Annotated[str, about("Language of the translations.")]
    n_sentences: Annotated[Size, about("Sentences that are measured.")]
    features: Annotated[dict[str, list[str]], about("By model: what it adds (sentence, image).")]
    own_features: Annotated[list[str], about("What of the lists is tuned beside them.")]
    systems: Annotated[list[Compared], about("Systems side by side; the first is the unranked translation.")]
    bounds: Annotated[dict[str, Number], about("BLEU of choices without weights: the best and a random one.")]
    signatures: Annotated[dict[str, str], about("What each measure is, in sacrebleu's form.")]


class MlmmeStudy(FolderDocument, frozen=True, tag="xlingual/mlmme_study/1"):
    """The models of a study and the tables that were made of them; a table that was not made is null."""

    made_by = "xlingual casestudy mlmme … --out DIR"
    file = "mlmme_study.json"
    derived = (REPORT,)

    languages: Annotated[list[str], about("Languages of the multilingual models.")]
    recipe: Annotated[str, about("Conventions of the models.")]
    image_encoder: Annotated[str | None, about("Name of the image encoder.")]
    n_trained_on: Annotated[Size, about("Items that were trained on.")]
    n_trainings: Annotated[Size, about("Trainings of each model.")]
    models: Annotated[list[StudyModel], about("VSE for each language, then MLMME by falling beta.")]
    chosen: Annotated[str, about("The multilingual model that is best on the validation.")]
    ranking: Annotated[Ranking | None, about("Table 1.")] = None
    sts: Annotated[Similarity | None, about("Table 2.")] = None
    reranking: Annotated[Reranking | None, about("Table 3.")] = None
    notes: Annotated[list[str], about("What was left out, and why.")] = field(default_factory=list)
    conditions: Conditions = field(default_factory=dict)
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)

    def problem(self) -> str | None:
        """Return a problem where a table names an unknown model."""
        named = [self.chosen]
        if self.ranking is not None:
            named += [name for row in self.ranking.rows for name in row.scores]
            named += [name for one in self.ranking.questions for name in (one.model, one.other)]
        return unknown(named, (model.name for model in self.models), "'models'")
