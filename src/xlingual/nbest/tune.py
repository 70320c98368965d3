"""Tuning the weights of an n-best list's features, several times, and choosing on sentences held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, listed, warn
from xlingual.nbest import choice
from xlingual.nbest.bleu import MATCHES, corpus_bleu, list_counts
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira, mira
from xlingual.nbest.weights import Bounds, Spread, TuningRun, Weights, scored
from xlingual.streams import stream

RANDOM_DRAWS = 100
_LARGEST = {"float64": 1e100, "float32": 1e12}  # features whose squares can still be added up


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

    `references` are files of one line for each list; `tunings` runs have the seeds seed, seed + 1 … Where
    nothing is random there is one run. With `folds` each run is also cross-validated. Raises InputError
    where references and lists do not fit together.
    """
    settings = settings or Mira()
    if tunings < 1:
        raise InputError(f"tunings must be 1 or more: found {tunings}")
    if not lists.names:
        raise InputError("the n-best list has no features: there is nothing to tune")
    bleu_counts = list_counts(lists, references, lowercase=lowercase)
    scale, remarks = lists.scale(standardize), _remarks(lists, bleu_counts)
    for sentence in remarks:
        warn(sentence)
    notes = []
    if tunings > 1 and not settings.shuffle:
        notes.append(
            f"one tuning instead of {tunings}: sentences keep their order, so that all would be equal"
        )
        tunings = 1
    found, validated = [], []
    for number in range(tunings):
        if progress is not None:
            progress("tuning", number, tunings)
        found.append(tuned(lists, bleu_counts, scale, settings, seed + number))
        if folds is not None:
            held_out = cross_validated(
                lists,
                bleu_counts,
                settings,
                folds=folds,
                seed=seed,
                run=seed + number,
                standardize=standardize,
            )
            validated.append(float(corpus_bleu(bleu_counts[held_out].sum(axis=0))))
    return Weights(
        features=list(lists.names),
        scale=scale.tolist(),
        tunings=found,
        settings=asdict(settings)
        | {
            "standardize": standardize,
            "seed": seed,
            "folds": folds,
            "bleu": f"nrefs:{len(references)}|case:{'lc' if lowercase else 'mixed'}|tok:none|smooth:exp",
        },
        n_lists=len(lists),
        n_hypotheses=len(lists.hypotheses),
        bleu=Spread.of([one.bleu for one in found]),
        bounds=bounds(lists, bleu_counts, seed=seed),
        cross_validated=Spread.of(validated) if validated else None,
        warnings=remarks,
        notes=notes,
    )


def bounds(lists: NBestLists, bleu_counts: Ints, *, seed: int = 0) -> Bounds:
    """Return the BLEU of choices that need no weights, for counts [n, 10]."""

    def bleu(rows: Ints) -> float:
        return float(corpus_bleu(bleu_counts[rows].sum(axis=0)))

    drawn = corpus_bleu(bleu_counts[choice.random_choices(lists.offsets, RANDOM_DRAWS, seed)].sum(axis=1))
    return Bounds(
        decoder=bleu(choice.decoder_best(lists)),
        oracle=bleu(choice.oracle(bleu_counts, lists.offsets)),
        anti_oracle=bleu(choice.anti_oracle(bleu_counts, lists.offsets)),
        random=Spread.of(drawn.tolist()),
    )


def _remarks(lists: NBestLists, bleu_counts: Ints) -> list[str]:
    """Return remarks on the lists that a user should read, in sentences."""
    remarks = []
    constant = [name for name, size in zip(lists.names, lists.spread, strict=True) if size == 0]
    if constant:
        remarks.append(
            f"{'feature' if len(constant) == 1 else 'features'} {listed(constant)} never "
            f"{'differs' if len(constant) == 1 else 'differ'} within a list: no weight can matter there"
        )
    most = np.maximum.reduceat(bleu_counts, lists.offsets[:-1], axis=0)
    least = np.minimum.reduceat(bleu_counts, lists.offsets[:-1], axis=0)
    if not (most != least).any():
        remarks.append("all hypotheses of each list have the same BLEU counts: there is nothing to learn")
    elif not bleu_counts[:, MATCHES][:, -1].any():
        remarks.append(
            "no hypothesis has four words in a row in common with its references: without smoothing BLEU "
            "is 0 whatever is chosen; check that the references are those of these lists, tokenised like them"
        )
    return remarks


def tuned(lists: NBestLists, bleu_counts: Ints, scale: Floats, settings: Mira, seed: int) -> TuningRun:
    """Return one run of the tuner on features divided by `scale` [f], for BLEU counts [n, 10]."""
    features = lists.features / scale
    for name, size in zip(lists.names, np.abs(features).max(axis=0), strict=True):
        if size > _LARGEST[settings.precision]:
            raise InputError(
                f"feature {name!r} has values up to {size:.3g}, too large to compute with in "
                f"{settings.precision}: divide it, or use --standardize"
            )
    found = mira(features, bleu_counts, lists.offsets, settings, seed=seed)
    chosen = choice.first_best(scored(lists, scale, found.weights), lists.offsets)
    bleu = float(corpus_bleu(bleu_counts[chosen].sum(axis=0)))
    return TuningRun(seed, found.weights.tolist(), bleu, found.epoch)


def cross_validated(
    lists: NBestLists,
    bleu_counts: Ints,
    settings: Mira,
    *,
    folds: int,
    seed: int,
    run: int,
    standardize: bool,
) -> Ints:
    """Return a row for each list, [s], chosen by weights that were tuned on the other folds.

    `seed` divides the sentences, `run` is the seed of the tunings; `bleu_counts` are BLEU counts [n, 10].
    """
    chosen = np.zeros(len(lists), dtype=np.int64)
    for held_out, others in divisions(len(lists), folds, seed):
        part, other = lists.take(others), lists.take(held_out)
        scale = part.scale(standardize)
        weights = tuned(part, bleu_counts[lists.rows_of(others)], scale, settings, run).weights
        best = choice.first_best(scored(other, scale, np.array(weights)), other.offsets)
        chosen[held_out] = lists.rows_of(held_out)[best]
    return chosen


def divisions(sentences: int, folds: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield the sentences of each fold and all others, both ascending; folds are drawn with the seed."""
    if not 2 <= folds <= sentences:
        raise InputError(f"folds must be from 2 to the number of lists, {sentences:,}: found {folds}")
    shuffled = stream(seed, "nbest folds").permutation(sentences)
    for part in np.array_split(shuffled, folds):
        held_out = np.sort(part)
        yield held_out, np.setdiff1d(np.arange(sentences), held_out)
