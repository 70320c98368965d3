"""`wordvec:`: the weighted mean of word vectors (fastText, MUSE, RCSLS, GloVe), read from text files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.options import FIT, Option, not_empty, one_of, whole_number
from xlingual.encoders.runtime import distinct_rows, rows_by_language
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.encoders.segment import UnknownWords, lookups, pieces, segment
from xlingual.encoders.vectorfile import one_size
from xlingual.encoders.wordfile import LanguageFiles, WordFile, check_word_file
from xlingual.errors import InputError
from xlingual.records import Texts, digest

SCHEME = Scheme(
    "wordvec",
    (TEXTS,),
    "word vectors in text form (fastText, MUSE, RCSLS, GloVe), averaged",
    __name__,
    argument="PATH",
    options=(
        Option("weight", one_of("tfidf", "sif", "mean"), "tfidf", "how words are weighted"),
        Option("fit", not_empty, None, f"{FIT}, for the weights; without it the texts encoded"),
        Option("words", whole_number(1), None, "read only so many lines of a file"),
    ),
)

SIF = 1e-3  # a of the weight a/(a + p)
_BLOCK = 2048  # texts whose words are looked up, or whose vectors are summed, at once


class WordvecEncoder(Encoder):
    """A text is Σ w(t)·v(t) / Σ w(t) over its words t that have a vector; zero where none has one.

    The weight w is ln((1 + N)/(1 + df)) + 1 (`tfidf`), a/(a + p) with a = 0.001 (`sif`, Arora, Liang and Ma
    2017) or 1 (`mean`). Document frequency df, of N distinct texts, and relative frequency p are counted for
    each language in the texts that `fit` loads; without it in the batch, and a vector then depends on it.
    The first principal component, which Arora et al. take away, is kept: that is a transform of vectors.

    `pattern` is a path in which `{lang}` stands for the language; without it one file serves all languages.
    """

    origin = "general"

    def __init__(
        self,
        pattern: str,
        languages: Sequence[str],
        weight: str = "tfidf",
        fit: Callable[[], Texts] | None = None,
        most: int | None = None,  # words read from the top of a file
    ) -> None:
        self.pattern, self.weight, self.fit, self.most = pattern, weight, fit, most
        self.files = LanguageFiles(
            pattern, languages, "the file of word vectors", check_word_file, lambda path: WordFile(path, most)
        )
        self._counted: dict[str, Callable[[str], float]] = {}
        self._unknown = UnknownWords()

    @property
    def depends_on_batch(self) -> bool:
        """Whether the vector of a text depends on the other texts of the batch."""
        return self.weight != "mean" and self.fit is None

    @property
    def content(self) -> tuple[str, ...] | None:
        """What the vector of a text depends on; None where that is the whole batch."""
        return None if self.depends_on_batch else ("text", "language")

    @cached_property
    def identity(self) -> str:
        """A hash of the files of all languages, the weights and what they are counted in."""
        counted = "&df=collection" if self.depends_on_batch else ""
        if self.fit is not None:
            counted = f"&df={digest(*sorted(self.fitted_on)).hex()}"
        most = "" if self.most is None else f"&words={self.most}"
        return f"wordvec:v1:{self.files.digest}?weight={self.weight}{most}{counted}"

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows whose words were counted; empty without `fit`."""
        return frozenset() if self.fit is None else self._fit.row_digests()

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, d]; words without a vector are counted for `notes`."""
        parts = rows_by_language(batch)
        files = map(self.files.of, [tag for tag, _ in parts] or self.files.tags)
        dims = {file.path: file.dim for file in files}
        dim = one_size(dims, "lie in one space; take files that were aligned with each other")
        vectors = np.zeros((len(batch), dim), dtype=np.float32)
        for tag, rows in parts:
            distinct, same = distinct_rows(batch.text[row] for row in rows.tolist())
            words, missing = self._words(distinct, tag)
            weight = _weights(self.weight, words) if self.fit is None else self._fitted_weights(tag)
            vectors[rows] = self._sums(words, tag, weight)[same]
            unknown = sum(missing[number] for number in same)
            self._unknown.add(tag, unknown, unknown + sum(len(words[number]) for number in same))
        return vectors

    def notes(self) -> list[str]:
        """Return how many words of each language had no vector since this was last asked; none if all had."""
        return self._unknown.notes(f"wordvec:{self.pattern}: words without a vector, which are left out")

    def _sums(self, texts: Sequence[Sequence[str]], tag: str, weight: Callable[[str], float]) -> Vectors:
        """Return the weighted means float32 [n, d] of texts given as known words."""
        file = self.files.of(tag)
        vectors = np.zeros((len(texts), file.dim), dtype=np.float32)
        vocabulary = {word: i for i, word in enumerate(sorted({word for text in texts for word in text}))}
        table = file.vectors(list(vocabulary))
        self.files.check_unchanged(file.path)  # numbers are read when they are needed
        factor = np.array(list(map(weight, vocabulary)))
        for row, text in enumerate(texts):
            if text:
                index = [vocabulary[word] for word in text]
                share = factor[index]
                vectors[row] = share @ table[index].astype(np.float64) / share.sum()
        return vectors

    def _words(self, texts: Sequence[str], tag: str) -> tuple[list[list[str]], list[int]]:
        """Return the words of each text that have a vector, and how many of its words have none."""
        file = self.files.of(tag)
        words: list[list[str]] = []
        missing: list[int] = []
        for start in range(0, len(texts), _BLOCK):
            block = [pieces(text) for text in texts[start : start + _BLOCK]]
            known = file.known({word for text in block for word in lookups(text)})
            for text in block:
                parts = segment(text, known)
                words.append([word for word, has in parts if has])
                missing.append(len(parts) - len(words[-1]))
        return words, missing

    @cached_property
    def _fit(self) -> Texts:
        """The texts of `fit` that are in one of the languages."""
        assert self.fit is not None
        texts = self.fit()
        return texts.take(np.flatnonzero([tag in self.files.languages for tag in texts.language]))

    def _fitted_weights(self, tag: str) -> Callable[[str], float]:
        if tag not in self._counted:
            rows = zip(self._fit.text, self._fit.language, strict=True)
            distinct = dict.fromkeys(text for text, other in rows if other == tag)
            if not distinct:
                raise InputError(
                    f"wordvec: fit= names no texts of the language {tag}: choose a split that has some"
                )
            self._counted[tag] = _weights(self.weight, self._words(list(distinct), tag)[0])
        return self._counted[tag]


def _weights(kind: str, texts: Sequence[Sequence[str]]) -> Callable[[str], float]:
    """Return the weight of a word, counted in distinct texts of one language."""
    if kind == "mean":
        return lambda word: 1.0
    if kind == "sif":
        counts = Counter(word for text in texts for word in text)
        total = max(counts.total(), 1)
        return lambda word: SIF / (SIF + counts[word] / total)
    df = Counter(word for text in texts for word in set(text))
    return lambda word: math.log((1 + len(texts)) / (1 + df[word])) + 1


def build(argument: str, options: Mapping[str, Any], context: Context) -> WordvecEncoder:
    """Return the encoder for a spec; raise InputError where a file is not there."""
    fit = context.loader("wordvec", options["fit"])
    if fit is not None and options["weight"] == "mean":
        raise InputError("wordvec: weight=mean counts nothing: leave fit= out, or choose tfidf or sif")
    encoder = WordvecEncoder(argument, context.languages, options["weight"], fit, options["words"])
    encoder.files.check()
    return encoder
