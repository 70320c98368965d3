"""BLEU from counts: sacrebleu counts each hypothesis once; the counts of any choice of hypotheses add up.

Counts and scores are those of sacrebleu (Post 2018) with `tokenize none`: words are what blanks separate,
several references clip n-grams by their largest count, and the reference length is the closest one, the
shorter of two equally close.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, MissingExtraError
from xlingual.nbest.lists import NBestLists

MATCHES, TOTALS, LENGTH, REFERENCE = slice(0, 4), slice(4, 8), 8, 9
COLUMNS = 10  # matches and totals of 1 to 4 words, length of the hypothesis, closest length of a reference


def list_counts(lists: NBestLists, references: Sequence[Sequence[str]], *, lowercase: bool = False) -> Ints:
    """Return the counts [n, 10] of every hypothesis; `references` are files of one line for each list."""
    try:
        from sacrebleu.metrics import BLEU
    except ImportError as error:
        raise MissingExtraError("counting BLEU", "mt") from error
    check_references(len(lists), references)
    metric = BLEU(lowercase=lowercase, tokenize="none", force=True)
    of_rows = [[lines[number] for number in lists.sentence.tolist()] for lines in references]
    statistics = metric._extract_corpus_statistics(list(lists.hypotheses), of_rows)
    return np.roll(np.array(statistics, dtype=np.int64), -2, axis=1)  # sacrebleu has the lengths first


def check_references(sentences: int, references: Sequence[Sequence[str]]) -> None:
    """Raise InputError where a file of references has another number of lines than there are sentences."""
    if not references:
        raise InputError("no references: give a file with --references")
    for place, lines in enumerate(references, 1):
        if len(lines) != sentences:
            raise InputError(
                f"file {place} of the references has {len(lines):,} lines for {sentences:,} sentences: one "
                "line for each sentence is needed, in order"
            )


def corpus_bleu(summed: Ints | Floats, *, smooth: bool = True) -> Floats:
    """Return BLEU (0 to 100) for counts [..., 10] that were added up over sentences.

    `smooth` halves again and again the precision of orders without a match, as sacrebleu does by default (its
    `exp`); without it BLEU is then 0, as in Moses.
    """
    return _bleu(summed, _halved(summed) if smooth else summed[..., MATCHES], effective=False)


def sentence_bleu(bleu_counts: Ints) -> Floats:
    """Return the BLEU (0 to 100) of single hypotheses, [n] for counts [n, 10]: sacrebleu's sentence_bleu.

    Orders without a match are smoothed as in `corpus_bleu`; orders that are longer than the hypothesis do not
    count (its effective order).
    """
    return _bleu(bleu_counts, _halved(bleu_counts), effective=True)


def _halved(bleu_counts: Ints | Floats) -> Floats:
    """Return the matches [..., 4], with 1/2, 1/4 … for orders without a match (that have n-grams at all)."""
    matches, totals = bleu_counts[..., MATCHES], bleu_counts[..., TOTALS]
    missed = (matches == 0) & (totals > 0)
    return np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches.astype(np.float64))


def _bleu(bleu_counts: Ints | Floats, matches: Ints | Floats, *, effective: bool) -> Floats:
    totals, length = bleu_counts[..., TOTALS], bleu_counts[..., LENGTH]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matches / totals)
        if effective:
            present = totals > 0
            mean = np.where(present, logs, 0.0).sum(axis=-1) / present.sum(axis=-1)
        else:
            mean = logs.mean(axis=-1)
        brevity = np.exp(np.minimum(1 - bleu_counts[..., REFERENCE] / length, 0))
    score = 100 * np.exp(mean) * np.where(length > 0, brevity, 0.0)
    empty = (bleu_counts[..., MATCHES].sum(axis=-1) == 0) | ~np.isfinite(score)
    return np.where(empty, 0.0, score)
