"""BLEU from counts: computed once for each hypothesis, added up for any choice of hypotheses.

Counts and scores are those of sacrebleu (Post 2018) with `tokenize none`: words are what blanks separate,
several references clip n-grams by their largest count, and the reference length is the closest one, the
shorter of two equally close.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.nbest.lists import NBestLists

ORDER = 4
MATCHES, TOTALS = slice(0, ORDER), slice(ORDER, 2 * ORDER)
LENGTH, REFERENCE = 2 * ORDER, 2 * ORDER + 1
COLUMNS = 2 * ORDER + 2  # 4 matches, 4 totals, length of the hypothesis, closest length of a reference


def list_counts(lists: NBestLists, references: Sequence[Sequence[str]], *, lowercase: bool = False) -> Ints:
    """Return the counts [n, 10] of every hypothesis; `references` are files of one line for each list.

    Raises InputError where a file of references has another number of lines than there are lists.
    """
    check_references(len(lists), references, "lists")
    return counts(lists.hypotheses, lists.sentence, references, lowercase=lowercase)


def counts(
    hypotheses: Sequence[str], sentence: Ints, references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> Ints:
    """Return the counts [n, 10] of hypotheses, each against the references of its sentence [n]."""
    found = np.zeros((len(hypotheses), COLUMNS), dtype=np.int64)
    known: dict[str, list[int]] = {}
    current, most, lengths = -1, Counter[tuple[str, ...]](), [0]
    for row, (text, number) in enumerate(zip(hypotheses, sentence.tolist(), strict=True)):
        if number != current:
            current, known = number, {}
            most, lengths = _reference(number, references, lowercase)
        if text not in known:  # lists of decoders often hold a text several times
            known[text] = _counts(_words(text, lowercase), most, lengths)
        found[row] = known[text]
    return found


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


def check_references(sentences: int, references: Sequence[Sequence[str]], what: str) -> None:
    """Raise InputError where a file of references has another number of lines than there are sentences."""
    if not references:
        raise InputError("no references: give a file with --references")
    for place, lines in enumerate(references, 1):
        if len(lines) != sentences:
            which = "the references have" if len(references) == 1 else f"file {place} of the references has"
            count = f"{len(lines):,} {'line' if len(lines) == 1 else 'lines'}"
            raise InputError(
                f"{which} {count} for {sentences:,} {what}: one line for each sentence is needed, in order"
            )


def _words(text: str, lowercase: bool) -> list[str]:
    return (text.lower() if lowercase else text).split()


def _ngrams(words: list[str]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for order in range(1, ORDER + 1):
        found.update(zip(*(words[i:] for i in range(order)), strict=False))
    return found


def _reference(
    number: int, references: Sequence[Sequence[str]], lowercase: bool
) -> tuple[Counter[tuple[str, ...]], list[int]]:
    """Return how often each n-gram occurs at most in one reference, and the references' lengths."""
    most: Counter[tuple[str, ...]] = Counter()
    lengths = []
    for lines in references:
        words = _words(lines[number], lowercase)
        lengths.append(len(words))
        most |= _ngrams(words)
    return most, lengths


def _counts(words: list[str], most: Counter[tuple[str, ...]], lengths: list[int]) -> list[int]:
    found = [0] * COLUMNS
    for ngram, count in _ngrams(words).items():
        found[len(ngram) - 1] += min(count, most.get(ngram, 0))
    for order in range(ORDER):
        found[ORDER + order] = max(len(words) - order, 0)
    found[LENGTH] = len(words)
    found[REFERENCE] = min(lengths, key=lambda length: (abs(length - len(words)), length))
    return found


def _halved(bleu_counts: Ints | Floats) -> Floats:
    """Return the matches [..., 4], with 1/2, 1/4 … for orders without a match (that have n-grams at all)."""
    matches, totals = bleu_counts[..., MATCHES], bleu_counts[..., TOTALS]
    missed = (matches == 0) & (totals > 0)
    return np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches.astype(np.float64))


def _bleu(bleu_counts: Ints | Floats, matches: Ints | Floats, *, effective: bool) -> Floats:
    totals = bleu_counts[..., TOTALS]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matches / totals)
        if effective:
            present = totals > 0
            mean = np.where(present, logs, 0.0).sum(axis=-1) / present.sum(axis=-1)
        else:
            mean = logs.mean(axis=-1)
    score = 100 * np.exp(mean) * _brevity(bleu_counts)
    empty = (bleu_counts[..., MATCHES].sum(axis=-1) == 0) | ~np.isfinite(score)
    return np.where(empty, 0.0, score)


def _brevity(bleu_counts: Ints | Floats) -> Floats:
    """Return the brevity penalty: exp(1 − r/h) where the hypothesis is the shorter."""
    length, reference = bleu_counts[..., LENGTH], bleu_counts[..., REFERENCE]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(length > 0, np.exp(np.minimum(1 - reference / length, 0)), 0.0)
