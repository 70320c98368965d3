"""Which features help: tuning again without some of them, evaluated on sentences that took no part in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, field

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, did_you_mean
from xlingual.nbest.bleu import corpus_bleu, list_counts
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira
from xlingual.nbest.pro import Pro
from xlingual.nbest.tune import bounds, cross_validated, draws, transferred
from xlingual.nbest.weights import Bounds, Spread
from xlingual.results.document import Answer
from xlingual.results.values import Interval, Number, Share, Size, about, among
from xlingual.streams import stream

SCHEMA = "xlingual/rerank-ablation/1"
SAMPLES = 1000
LEVEL = 0.95


class BleuDifference(Struct, frozen=True):
    """First minus second, in BLEU points."""

    value: Annotated[Number, about("Difference in BLEU points.")]
    ci: Annotated[Interval, about("Interval of a paired bootstrap of sentences.")]
    p: Annotated[Share, about("Two-sided p of no difference.")]


class AblationRow(Struct, frozen=True):
    """BLEU without some of the features."""

    without: Annotated[list[str], Meta(min_length=1), about("Names of the features that were left out.")]
    bleu: Annotated[Spread, about("BLEU without them, over tunings.")]
    gain: Annotated[
        BleuDifference, about("Gain from these features: BLEU with all minus BLEU without these.")
    ]


class Ablation(Answer, frozen=True, tag=SCHEMA):
    """BLEU with all features and without some, on sentences that took no part in tuning."""

    made_by = "xlingual rerank ablate … --out FILE"

    features: Annotated[list[str], about("Names of all features.")]
    bleu: Annotated[Spread, about("BLEU with all of them, over tunings.")]
    rows: Annotated[list[AblationRow], about("One for each set of features that was left out.")]
    bounds: Annotated[Bounds, about("BLEU of choices without weights, on the evaluated lists.")]
    judged: Annotated[str, about("What was evaluated: k-fold cross-validation, or other lists.")]
    n_lists: Annotated[Size, about("Number of evaluated sentences.")]
    algorithm: Annotated[
        str, among("mira", "pro"), about("How weights were tuned: k-best MIRA or pairwise ranking.")
    ]
    settings: Annotated[dict[str, Any], about("Settings of the algorithm, and how BLEU was counted.")] = (
        field(default_factory=dict)
    )


def ablate(
    lists: NBestLists,
    references: Sequence[Sequence[str]],
    settings: Mira | Pro | None = None,
    *,
    without: Sequence[Sequence[str]] = (),
    other: tuple[NBestLists, Sequence[Sequence[str]]] | None = None,
    folds: int = 5,
    seed: int = 0,
    tunings: int = 3,
    standardize: bool = False,
    lowercase: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Ablation:
    """Return what features gain: each label of the lists by default, or each set of names in `without`.

    With `other` (lists and references) weights are tuned on `lists` and judged on those; else each sentence
    is chosen for by weights of the other folds. Differences are means over tunings, with a paired bootstrap.
    """
    settings = settings or Mira()
    bleu_counts = list_counts(lists, references, lowercase=lowercase)
    judged_lists, judged_counts = lists, bleu_counts
    if other is not None:
        judged_lists, judged_counts = other[0], list_counts(other[0], other[1], lowercase=lowercase)
        if judged_lists.names != lists.names:
            raise InputError(
                f"the lists to judge on have other features ({', '.join(judged_lists.names)}) than those to "
                f"tune on ({', '.join(lists.names)}): make both in the same way"
            )
    sets = [_names(lists, names) for names in without or [[label] for label, _ in lists.groups]]
    if not all(sets):
        raise InputError("a set of features to leave out is empty: name one or more of them")
    if any(len(names) == len(lists.names) for names in sets):
        raise InputError("without all of its features a list cannot be tuned: leave some")
    runs = range(seed, seed + (tunings if draws(settings, lists) else 1))

    def choices(without: Sequence[str]) -> Ints:
        """Return the counts of the hypotheses that are chosen without some of the features, [runs, s, 10]."""
        kept = [name for name in lists.names if name not in without]
        kept_lists, kept_judged = lists.keep_features(kept), judged_lists.keep_features(kept)
        if other is not None:
            rows = [
                transferred(kept_lists, bleu_counts, kept_judged, settings, run, standardize) for run in runs
            ]
        else:
            given: dict[str, Any] = {"folds": folds, "seed": seed, "standardize": standardize}
            rows = [cross_validated(kept_lists, bleu_counts, settings, run=run, **given) for run in runs]
        return judged_counts[np.array(rows)]

    def bleu(chosen: Ints) -> Spread:
        return Spread.of(corpus_bleu(chosen.sum(axis=1)).tolist())

    with_all = choices(())
    rows = []
    for number, names in enumerate(sets):
        if progress is not None:
            progress("tuning without", number, len(sets))
        rest = choices(names)
        rows.append(AblationRow(list(names), bleu(rest), paired_bootstrap(with_all, rest, seed=seed)))
    return Ablation(
        list(lists.names),
        bleu(with_all),
        rows,
        bounds(judged_lists, judged_counts, seed=seed),
        f"{folds}-fold cross-validation" if other is None else "other lists",
        len(judged_lists),
        "mira" if isinstance(settings, Mira) else "pro",
        asdict(settings) | {"standardize": standardize, "seed": seed, "lowercase": lowercase},
    )


def _names(lists: NBestLists, wanted: Sequence[str]) -> list[str]:
    """Return the names of features; the label of several stands for all of them."""
    names = iter(lists.names)
    labels = {label: [next(names) for _ in range(count)] for label, count in lists.groups}
    found: list[str] = []
    for name in wanted:
        if name not in lists.names and name not in labels:
            known = [*labels, *lists.names]
            raise InputError(
                f"there is no feature {name!r}: the list has {', '.join(lists.names)}."
                f"{did_you_mean(name, known)}"
            )
        found += [name] if name in lists.names else labels[name]
    return list(dict.fromkeys(found))


def paired_bootstrap(first: Ints, second: Ints, *, samples: int = SAMPLES, seed: int = 0) -> BleuDifference:
    """Return the difference of mean BLEU for counts [r, s, 10] of r tunings of each set, paired (Koehn 2004).

    The interval holds the middle 95 % of the differences of resampled sentences; p is the share whose
    distance from their mean is at least the difference, (c + 1)/(samples + 1).
    """
    sentences = first.shape[1]
    random = stream(seed, "nbest paired bootstrap")
    times = random.multinomial(sentences, np.full(sentences, 1 / sentences), size=samples).astype(np.float64)

    def bleu(bleu_counts: Ints) -> tuple[Floats, Floats]:
        """Return the mean BLEU of the tunings, and that of the resamples [samples]: whole counts, exact."""
        resampled = np.stack([times @ one for one in bleu_counts.astype(np.float64)])
        return corpus_bleu(bleu_counts.sum(axis=1)).mean(axis=0), corpus_bleu(resampled).mean(axis=0)

    (one, drawn), (other, drawn_other) = bleu(first), bleu(second)
    value, drawn = float(one - other), drawn - drawn_other
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    reached = int((np.abs(drawn - drawn.mean()) >= abs(value)).sum())
    ci = Interval(float(low), float(high), LEVEL, f"paired bootstrap of sentences, {samples} resamples")
    return BleuDifference(value, ci, (reached + 1) / (samples + 1))
