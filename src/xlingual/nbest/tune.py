"""Tuning the weights of an n-best list's features; weights as a file of JSON; choosing by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, field, structs

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, listed, warn
from xlingual.nbest.bleu import MATCHES, corpus_bleu, list_counts, sentence_bleu
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira, first_best, mira, model_scores
from xlingual.results.document import Answer
from xlingual.results.values import Amount, Bleu, Count, Number, Size, Warnings, about
from xlingual.streams import stream

SCHEMA = "xlingual/rerank-weights/1"
RANDOM_DRAWS = 100
_LARGEST = 1e100  # features whose squares can still be added up


class TuningRun(Struct, frozen=True):
    """One run of the tuner."""

    seed: Annotated[Count, about("Seed of the order of the sentences.")]
    weights: Annotated[list[Number], about("Weights of the features divided by the scale, in their order.")]
    bleu: Annotated[Bleu, about("BLEU of its choice on the lists it was tuned on.")]
    epoch: Annotated[Size, about("The epoch whose weights these are.")]


class Spread(Struct, frozen=True):
    """A mean and the standard deviation of n values; None for one value."""

    mean: Annotated[Number, about("Mean of the values.")]
    sd: Annotated[Amount | None, about("Standard deviation (n − 1); null for one value.")]
    n: Annotated[Size, about("Number of values.")]

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return mean and standard deviation (n − 1) of some values."""
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return cls(float(np.mean(values)), sd, len(values))


class Bounds(Struct, frozen=True):
    """BLEU, 0 to 100, of choices that need no weights."""

    decoder: Annotated[Bleu, about("The decoder's own choice.")]
    oracle: Annotated[Bleu, about("The hypothesis with the best sentence BLEU of each list.")]
    anti_oracle: Annotated[Bleu, about("The hypothesis with the worst.")]
    random: Annotated[Spread, about("Any hypothesis, drawn several times.")]


class Weights(Answer, frozen=True, kw_only=True, tag=SCHEMA):
    """Weights for named features, from several tunings that differ in their seed; the first is applied."""

    made_by = "xlingual rerank tune … --out WEIGHTS.json"

    weights: Annotated[
        dict[str, Number],
        about("Weights of the first tuning by feature: those that are applied, to features over the scale."),
    ] = field(default_factory=dict)  # made from the other fields

    features: Annotated[list[str], about("Names of the features, in the order of the list.")]
    scale: Annotated[list[Number], about("What each feature is divided by.")]
    tunings: Annotated[list[TuningRun], Meta(min_length=1), about("One for each seed; the first is applied.")]
    settings: Annotated[dict[str, Any], about("Settings of k-best MIRA, and how BLEU was counted.")]
    n_lists: Annotated[Size, about("Number of sentences.")]
    n_hypotheses: Annotated[Size, about("Number of hypotheses in all lists.")]
    bleu: Annotated[Spread, about("BLEU of the tunings on the lists that were tuned on.")]
    bounds: Annotated[Bounds, about("BLEU of choices without weights, on the lists that were tuned on.")]
    cross_validated: Annotated[
        Spread | None,
        about("BLEU on sentences whose fold took no part, over the tunings; null without cross-validation."),
    ] = None
    warnings: Warnings = field(default_factory=list)

    def __post_init__(self) -> None:
        named = dict(zip(self.features, self.tunings[0].weights, strict=False))
        structs.force_setattr(self, "weights", named)

    def choose(self, lists: NBestLists, tuning: int = 0) -> Ints:
        """Return the row that the weights of a tuning choose in each list, [s]; the first of equal ones."""
        if self.features != list(lists.names):
            order = "in another order: " if sorted(self.features) == sorted(lists.names) else ""
            raise InputError(
                f"the weights are for other features than the n-best list has: {order}weights for "
                f"{', '.join(self.features)}; the list has {', '.join(lists.names) or 'none'}: make both "
                "lists in the same way"
            )
        if not 0 <= tuning < len(self.tunings):
            raise InputError(f"there is no tuning {tuning}: the weights have 0 to {len(self.tunings) - 1}")
        return _choice(lists, np.array(self.scale), np.array(self.tunings[tuning].weights))

    def problem(self) -> str | None:
        """Return a problem where the fields do not fit together."""
        counts = {len(self.features), len(self.scale), *(len(run.weights) for run in self.tunings)}
        if len(counts) > 1 or 0 in self.scale:
            return "features, scale and weights must be lists of finite numbers, of one length"
        return None


def tune(
    lists: NBestLists,
    references: Sequence[Sequence[str]],
    settings: Mira | None = None,
    *,
    seed: int = 0,
    tunings: int = 3,
    standardize: bool = False,
    lowercase: bool = False,
    folds: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Weights:
    """Return weights for the features of the lists, tuned for BLEU against the references.

    Args:
        lists: the lists.
        references: files of one line for each list.
        settings: of k-best MIRA.
        seed: of the first tuning; the others have the next ones.
        tunings: how often weights are tuned.
        standardize: divide each feature by its spread within lists.
        lowercase: ignore letter case.
        folds: also choose in each of so many parts by weights that were tuned on the others.
        progress: is called with (what, done, total).

    """
    settings = settings or Mira()
    if tunings < 1:
        raise InputError(f"tunings must be 1 or more: found {tunings}")
    if not lists.names:
        raise InputError("the n-best list has no features: there is nothing to tune")
    if folds is not None and not 2 <= folds <= len(lists):
        raise InputError(f"folds must be from 2 to the number of lists, {len(lists):,}: found {folds}")
    bleu_counts = list_counts(lists, references, lowercase=lowercase)
    remarks = _remarks(lists, bleu_counts)
    for sentence in remarks:
        warn(sentence)

    def bleu(rows: Ints) -> float:
        return float(corpus_bleu(bleu_counts[rows].sum(axis=0)))

    features, scale = _scaled(lists, standardize)
    runs, validated = [], []
    for number in range(seed, seed + tunings):
        if progress is not None:
            progress("tuning", number - seed, tunings)
        tuned = mira(features, bleu_counts, lists.offsets, settings, seed=number)
        gained = bleu(_choice(lists, scale, tuned.weights))
        runs.append(TuningRun(number, tuned.weights.tolist(), gained, tuned.epoch))
        if folds is not None:
            choice = _cross_validated(lists, bleu_counts, settings, folds, (seed, number), standardize)
            validated.append(bleu(choice))
    case = "lc" if lowercase else "mixed"
    return Weights(
        features=list(lists.names),
        scale=scale.tolist(),
        tunings=runs,
        settings=asdict(settings)
        | {"standardize": standardize, "seed": seed, "folds": folds}
        | {"bleu": f"nrefs:{len(references)}|case:{case}|tok:none|smooth:exp"},
        n_lists=len(lists),
        n_hypotheses=len(lists.hypotheses),
        bleu=Spread.of([run.bleu for run in runs]),
        bounds=bounds(lists, bleu_counts, seed=seed),
        cross_validated=Spread.of(validated) if validated else None,
        warnings=remarks,
    )


def bounds(lists: NBestLists, bleu_counts: Ints, *, seed: int = 0) -> Bounds:
    """Return the BLEU of choices that need no weights, for counts [n, 10]."""
    rows = choices_without_weights(lists, bleu_counts)
    bleu = [float(corpus_bleu(bleu_counts[choice].sum(axis=0))) for choice in rows.values()]
    drawn = corpus_bleu(bleu_counts[random_choices(lists.offsets, RANDOM_DRAWS, seed)].sum(axis=1))
    return Bounds(bleu[0], bleu[1], bleu[2], Spread.of(drawn.tolist()))


def choices_without_weights(lists: NBestLists, bleu_counts: Ints) -> dict[str, Ints]:
    """Return a row for each list, [s], by name; the first of equal ones.

    The decoder's choice has its highest score; oracle and anti-oracle have the best and worst sentence BLEU:
    not the greatest corpus BLEU that the lists hold, but near it.
    """
    gain = sentence_bleu(bleu_counts)
    ranked = {"decoder's choice": lists.scores, "oracle": gain, "anti-oracle": -gain}
    return {name: first_best(scores, lists.offsets) for name, scores in ranked.items()}


def random_choices(offsets: Ints, draws: int, seed: int) -> Ints:
    """Return rows drawn at random, each hypothesis of a list with equal chance, [draws, s]."""
    sizes = np.diff(offsets)
    return offsets[:-1] + stream(seed, "nbest random choice").integers(0, sizes, size=(draws, len(sizes)))


def _remarks(lists: NBestLists, bleu_counts: Ints) -> list[str]:
    """Return remarks on the lists that a user should read, in sentences."""
    remarks = []
    if constant := [name for name, size in zip(lists.names, lists.spread, strict=True) if size == 0]:
        remarks.append(f"within each list, {listed(constant)} has one value: no weight can matter there")
    most = np.maximum.reduceat(bleu_counts, lists.offsets[:-1], axis=0)
    if (most == np.minimum.reduceat(bleu_counts, lists.offsets[:-1], axis=0)).all():
        remarks.append("all hypotheses of each list have the same BLEU counts: there is nothing to learn")
    elif not bleu_counts[:, MATCHES][:, -1].any():
        remarks.append(
            "no hypothesis has four words in a row in common with its references: without smoothing BLEU "
            "is 0 whatever is chosen; check that the references are those of these lists, tokenised like them"
        )
    return remarks


def _scaled(lists: NBestLists, standardize: bool) -> tuple[Floats, Floats]:
    """Return the features divided by their scale [f], and the scale: their spread, or 1."""
    scale = np.where(standardize & (lists.spread > 0), lists.spread, 1.0)
    scaled: Floats = lists.features / scale
    for name, size in zip(lists.names, np.abs(scaled).max(axis=0), strict=True):
        if size > _LARGEST:
            raise InputError(
                f"feature {name!r} has values up to {size:.3g}, too large to compute with: divide it, or use "
                "--standardize"
            )
    return scaled, scale


def _choice(lists: NBestLists, scale: Floats, weights: Floats) -> Ints:
    """Return the row with the highest Σ weight·feature/scale of each list, [s]."""
    with np.errstate(over="ignore", invalid="ignore"):
        scores = model_scores(np.ascontiguousarray(lists.features.T) / scale[:, None], weights)
    if not np.isfinite(scores).all():
        raise InputError("weights times features are too large to be added up: divide the large features")
    return first_best(scores, lists.offsets)


def _cross_validated(
    lists: NBestLists,
    bleu_counts: Ints,
    settings: Mira,
    folds: int,
    seeds: tuple[int, int],
    standardize: bool,
) -> Ints:
    """Return a row for each list, [s], chosen by weights that were tuned on the other folds.

    `seeds` are those of the division, and of the tunings.
    """
    choice = np.zeros(len(lists), dtype=np.int64)
    for fold in np.array_split(stream(seeds[0], "nbest folds").permutation(len(lists)), folds):
        held_out, others = np.sort(fold), np.setdiff1d(np.arange(len(lists)), fold)
        train = lists.part(others)
        features, scale = _scaled(train, standardize)
        counts = bleu_counts[lists.rows_of(others)]
        weights = mira(features, counts, train.offsets, settings, seed=seeds[1]).weights
        choice[held_out] = lists.rows_of(held_out)[_choice(lists.part(held_out), scale, weights)]
    return choice
