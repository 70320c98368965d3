"""What a case study found: encoders by Backretrieval over language pairs, and what two trainings change.

Written beside the results of the evaluation behind it (Fain, Twomey and Bollegala 2021, section 3.2).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.comparison import OUTCOMES
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

OTHER = "other"
BASE = "base"
CONTROL = "control"
TRIPLET = "triplet"
TRIPLET_XL = "triplet-xl"
PIVOT = "image-pivot"
ROLES = (OTHER, BASE, CONTROL, PIVOT, TRIPLET, TRIPLET_XL)
TRAINED = (PIVOT, TRIPLET, TRIPLET_XL)
ALL_PAIRS = "all pairs"
WORST_PAIRS = "worst pairs"


class PairScore(Struct, frozen=True):
    """The value of a model on one language pair, mean over samples and trainings."""

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    value: Annotated[Number, about("Value of the model on the pair, mean over samples and trainings.")]
    ci: Annotated[Interval | None, about("Interval of the value.")]


class Model(Struct, frozen=True):
    """One row of Table 2, and one box of Figure 3."""

    name: Annotated[str, about("Name of the model.")]
    role: Annotated[str, among(*ROLES), about("What the model is in the study.")]
    encoders: Annotated[list[str], about("Its names in results.json, one for each training.")]
    value: Annotated[Number, about("Mean over language pairs, samples and trainings.")]
    ci: Annotated[Interval | None, about("Interval of the value.")]
    per_training: Annotated[list[Number], about("Value of each training.")]
    sd_training: Annotated[Amount | None, about("Standard deviation over trainings; null for one.")]
    sd_pairs: Annotated[
        Amount | None, about("Standard deviation of the values of the language pairs; null for one pair.")
    ]
    pairs: Annotated[list[PairScore], about("Values of the language pairs.")]


class Difference(Struct, frozen=True):
    """One model against another on the same queries: value of `model` less that of `other`."""

    model: Annotated[str, about("The model whose value is compared.")]
    other: Annotated[str, about("The model whose value is subtracted.")]
    where: Annotated[
        str,
        among(ALL_PAIRS, WORST_PAIRS),
        about("The language pairs it is about; worst pairs are those of the other."),
    ]
    value: Annotated[Number, about("Value of the model less that of the other.")]
    ci: Annotated[Interval | None, about("Interval of the difference.")]
    p: Annotated[Share | None, about("Two-sided p; null without a test.")]
    p_adjusted: Annotated[
        Share | None, about("p corrected by Holm over the questions of the study; null without a test.")
    ]
    per_training: Annotated[list[Number], about("The difference of each training.")]
    outcome: Annotated[str, among(*OUTCOMES), about("What the adjusted p says.")]
    note: Annotated[str | None, about("Why there is no test, or a remark on it.")] = None


class BestOnPair(Struct, frozen=True):
    """The best model against another on one language pair: value of the best less that of the other."""

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    value: Annotated[Number, about("Value of the best model less that of the other.")]
    ci: Annotated[Interval | None, about("Interval of the difference.")]
    p: Annotated[Share | None, about("Two-sided p; null without a test.")]
    p_adjusted: Annotated[
        Share | None,
        about("p corrected by Holm over all language pairs and pairs of models; null without a test."),
    ]
    outcome: Annotated[str, among(*OUTCOMES), about("What the adjusted p says of the best model.")]
    note: Annotated[str | None, about("Why there is no test, or a remark on it.")] = None


class AgainstBest(Struct, frozen=True):
    """The best model against another, on average over language pairs and on each of them."""

    model: Annotated[str, about("Name of the other model.")]
    value: Annotated[Number, about("Value of the best model less that of the other.")]
    ci: Annotated[Interval | None, about("Interval of the difference.")]
    p: Annotated[Share | None, about("Two-sided p; null without a test.")]
    p_adjusted: Annotated[
        Share | None, about("p corrected by Holm over all pairs of models; null without a test.")
    ]
    outcome: Annotated[str, among(*OUTCOMES), about("What the adjusted p says of the best model.")]
    note: Annotated[str | None, about("Why there is no test, or a remark on it.")]
    pairs: Annotated[list[BestOnPair], about("The same on each language pair; empty where there is one.")]


class BestModel(Struct, frozen=True):
    """The model with the highest mean over language pairs, tested against every other."""

    name: Annotated[str, about("Name of the model.")]
    n_tests: Annotated[Count, about("Tests on average that p is corrected for: all pairs of models.")]
    n_pair_tests: Annotated[
        Count, about("Tests on language pairs that p is corrected for: all pairs of models on each.")
    ]
    others: Annotated[list[AgainstBest], about("The other models.")]


class WorstPair(Struct, frozen=True):
    """A language pair that is among the worst of Triplet, by all queries and trainings.

    `chosen` is the share of the choices (one for each half of the queries and training) that named it too.
    """

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    chosen: Annotated[Share, about("Share of the choices that named the pair.")]


class Worst(Struct, frozen=True):
    """How Triplet's worst pairs were chosen, and the gain on them that the choice alone gives."""

    number: Annotated[Count, about("Language pairs in each choice.")]
    shown: Annotated[list[WorstPair], about("The worst pairs of Triplet over all queries and trainings.")]
    also_chosen: Annotated[list[WorstPair], about("Pairs that a choice named, not among those shown.")]
    other_trainings: Annotated[
        bool, about("Whether each training is judged on pairs that other trainings named.")
    ]
    same_data: Annotated[
        Number | None,
        about(
            "Gain of TripletXL on pairs chosen by the queries and models it is judged on; null where none "
            "were."
        ),
    ]
    retrained: Annotated[
        Number | None, about("Gain on those pairs of Triplet trained once more; null with one training.")
    ]
    note: Annotated[str | None, about("Why no pairs were chosen.")] = None


class Training(Struct, frozen=True):
    """The training of a model; fields are None where it was not trained by this study."""

    encoder: Annotated[str, about("Its name in results.json.")]
    spec: Annotated[str, about("Its spec.")]
    seed: Annotated[Whole | None, about("Seed of the training; null where it was trained before.")]
    epochs: Annotated[Whole | None, about("Epochs run.")]
    best_epoch: Annotated[Whole | None, about("The epoch that was kept.")]
    score: Annotated[Number | None, about("Score of the kept epoch on the validation.")]
    seconds: Annotated[Number | None, about("Time of the training.")]


class FittedPivot(Struct, frozen=True):
    """How the image pivot was fitted, on the texts with images that are trained on."""

    image_encoder: Annotated[str, about("Name of the image encoder whose near images are pairs.")]
    chosen: Annotated[str, about("The map that was chosen without labels; none where nothing helps.")]
    near: Annotated[Count, about("Pairs of different items with near images.")]
    same: Annotated[Count, about("Pairs of texts of one item or image.")]
    items: Annotated[Count, about("Items that it was fitted on.")]


class CaseStudy(FolderDocument, frozen=True, tag="xlingual/case_study/1"):
    """Encoders over language pairs, in the order of Table 2: ascending, what was trained last."""

    made_by = "xlingual casestudy … --out DIR"
    file = "case_study.json"
    derived = (REPORT,)

    measure: Annotated[str, about("Canonical name of the measure.")]
    image_encoder: Annotated[str | None, about("Name of the image encoder.")]
    base: Annotated[str, about("Name of the encoder that the models are trained on.")]
    base_given: Annotated[bool, about("False where the base is the encoder that led on the evaluated data.")]
    chance: Annotated[Number | None, about("What an encoder that knows nothing scores.")]
    oracle: Annotated[Number | None, about("What images alone reach.")]
    n_queries: Annotated[Count, about("Queries over all pairs and samples.")]
    n_pairs: Annotated[Size, about("Language pairs.")]
    n_seeds: Annotated[Size, about("Samples.")]
    n_trainings: Annotated[Size, about("Trainings of each model.")]
    seed: Annotated[Count, about("Seed of the random numbers.")]
    models: Annotated[
        list[Model], about("Models in the order of the table: ascending, what was trained last.")
    ]
    differences: Annotated[list[Difference], about("The questions of the study, in order.")]
    worst: Annotated[Worst, about("The worst pairs of Triplet.")]
    trainings: Annotated[list[Training], about("The trainings of the models.")]
    conditions: Conditions
    best: Annotated[
        BestModel | None, about("The best model against every other; null where there is one model.")
    ] = None
    pivot: Annotated[
        FittedPivot | None, about("How the image pivot was fitted; null where there is none.")
    ] = None
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)

    def model(self, role: str) -> Model | None:
        """Return the model of a role, None where there is none."""
        return next((model for model in self.models if model.role == role), None)

    def name_of(self, role: str) -> str | None:
        """Return the name of the model of a role, None where there is none."""
        model = self.model(role)
        return None if model is None else model.name

    def difference(self, role: str, where: str, other: str | None = None) -> Difference | None:
        """Return the difference of the model of a role on `where`, None where there is none.

        `other` is the role of the model whose value is subtracted; without it the first one asked about.
        """
        one, two = self.model(role), None if other is None else self.model(other)
        if one is None or (other is not None and two is None):
            return None
        found = (d for d in self.differences if (d.model, d.where) == (one.name, where))
        return next((d for d in found if two is None or d.other == two.name), None)

    def problem(self) -> str | None:
        """Return a problem where a difference names an unknown model."""
        compared = (name for one in self.differences for name in (one.model, one.other))
        return unknown(compared, (model.name for model in self.models), "'models'")
