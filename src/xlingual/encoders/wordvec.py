"""`wordvec:`: the weighted mean of word vectors (fastText, MUSE, RCSLS, GloVe), read from text files."""

from __future__ import annotations

import gzip
import math
import re
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.runtime import distinct_rows, rows_by_language
from xlingual.encoders.scheme import FIT, TEXTS, Context, Option, Scheme, not_empty, one_of, whole_number
from xlingual.encoders.vectorfile import one_size
from xlingual.encoders.wordlists import LanguageFiles, UnknownWords, segment
from xlingual.errors import InputError, warn
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
_LONGEST_LINE = 1 << 20  # bytes; a longer one is not text


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
            pattern, languages, "the file of word vectors", partial(WordFile, most=most)
        )
        self.tags = frozenset(languages)
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
        return frozenset() if self._fit is None else self._fit.row_digests()

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, d]; words without a vector are counted for `notes`."""
        parts = rows_by_language(batch)
        files = list(map(self.files.of, [tag for tag, _ in parts] or self.files.tags))
        dim = one_size({file.path: file.dim for file in files}, "lie in one space: take aligned files")
        vectors = np.zeros((len(batch), dim), dtype=np.float32)
        for (tag, rows), file in zip(parts, files, strict=False):  # an empty batch has files and no parts
            distinct, same = distinct_rows(batch.text[row] for row in rows.tolist())
            words, total = _words(distinct, file)
            weight = _weights(self.weight, words) if self.fit is None else self._fitted_weights(tag, file)
            place = {word: i for i, word in enumerate(sorted({word for text in words for word in text}))}
            table = file.vectors(list(place))
            factor = np.array(list(map(weight, place)))
            means = np.zeros((len(distinct), dim), dtype=np.float32)
            for row, text in enumerate(words):
                if text:
                    index = [place[word] for word in text]
                    means[row] = factor[index] @ table[index].astype(np.float64) / factor[index].sum()
            vectors[rows] = means[same]
            known, words_of_all = (sum(counts[i] for i in same) for counts in (list(map(len, words)), total))
            self._unknown.add(tag, words_of_all - known, words_of_all)
        return vectors

    def notes(self) -> list[str]:
        """Return how many words of each language had no vector since this was last asked; none if all had."""
        return self._unknown.notes(f"wordvec:{self.pattern}: words without a vector, which are left out")

    @cached_property
    def _fit(self) -> Texts | None:
        """The texts of `fit` that are in one of the languages."""
        texts = None if self.fit is None else self.fit()
        return texts and texts.take(np.flatnonzero([tag in self.tags for tag in texts.language]))

    def _fitted_weights(self, tag: str, file: WordFile) -> Callable[[str], float]:
        if tag not in self._counted:
            assert self._fit is not None
            rows = zip(self._fit.text, self._fit.language, strict=True)
            distinct = dict.fromkeys(text for text, language in rows if language == tag)
            if not distinct:
                raise InputError(
                    f"wordvec: fit= names no texts of the language {tag}: choose a split with some"
                )
            self._counted[tag] = _weights(self.weight, _words(list(distinct), file)[0])
        return self._counted[tag]


def _words(texts: Sequence[str], file: WordFile) -> tuple[list[list[str]], list[int]]:
    """List the words of each text that have a vector, and count all its words."""
    split = [segment(text, file) for text in texts]
    return [[word for word, known in parts if known] for parts in split], list(map(len, split))


def _weights(kind: str, texts: Sequence[Sequence[str]]) -> Callable[[str], float]:
    """Make the function that weighs a word, counted in distinct texts of one language."""
    if kind == "mean":
        return lambda word: 1.0
    if kind == "sif":
        counts = Counter(word for text in texts for word in text)
        total = max(counts.total(), 1)
        return lambda word: SIF / (SIF + counts[word] / total)
    df = Counter(word for text in texts for word in set(text))
    return lambda word: math.log((1 + len(texts)) / (1 + df[word])) + 1


class WordFile:
    """A file `word number number …`, one word a line, plain or .gz; the first line may be `N d`.

    One pass notes a hash of each line's word and where the line begins, 16 bytes a line; numbers are read
    from the lines of the words that are asked for, and from no other. Where a word stands twice the first
    line counts, as MUSE reads it. Lines with more columns, words with blanks (some of GloVe's), are passed
    over. `most` reads only so many lines from the top. For a million words looked up among two million, the
    chance that two have one hash of 64 bits is one in ten million.
    """

    def __init__(self, path: Path, most: int | None = None) -> None:
        self.path = path
        with self._open() as file:
            first = file.readline(_LONGEST_LINE)
            header = re.fullmatch(rb"\s*(\d+)[ \t]+(\d+)\s*", first)
            sample = file.readline(_LONGEST_LINE) if header else first
        self._separator = b"\t" if b"\t" in sample else b" "
        self.dim = int(header[2]) if header else len(sample.split()) - 1
        if b"\0" in sample or len(sample) == _LONGEST_LINE or not sample.strip() or self.dim < 1:
            raise InputError(
                f"{path}: has no word vectors in text form: each line is a word and its numbers (fastText's "
                ".vec, not its .bin; word2vec's .txt)"
            )
        self._hashes, self._offsets = self._index(len(first) if header else 0, most)
        stated = int(header[1]) if header else 0
        if len(self._hashes) < min(stated, most or stated):
            warn(
                f"{path}: its first line says {stated} words, {len(self._hashes)} are there: is it complete?"
            )

    def _index(self, position: int, most: int | None) -> tuple[array[int], array[int]]:
        """Index the lines from a position on: the sorted hashes of their words, and where they begin."""
        hashes, offsets = array("q"), array("q")
        with self._open() as file:
            file.seek(position)
            for line in islice(file, most):
                columns = line.rstrip().count(self._separator)  # fastText ends lines with a blank
                if columns == self.dim:
                    hashes.append(hash(line[: line.find(self._separator)]))
                    offsets.append(position)
                elif columns < self.dim and line.strip():
                    raise self._damaged(line, f"{columns} numbers where {self.dim} are expected")
                position += len(line)
        ordered, first = np.unique(np.array(hashes, dtype=np.int64), return_index=True)
        return array("q", ordered.tobytes()), array("q", np.array(offsets, dtype=np.int64)[first].tobytes())

    def __contains__(self, word: object) -> bool:
        """Return whether the file has a word."""
        return self._line(str(word)) >= 0

    def vectors(self, words: Sequence[str]) -> Vectors:
        """Return float32 [n, dim], the vectors of n words that it has; raise InputError without one."""
        vectors = np.empty((len(words), self.dim), dtype=np.float32)
        offsets = [self._line(word) for word in words]
        with self._open(1 << 13) as file:
            for row in sorted(range(len(words)), key=offsets.__getitem__):
                file.seek(offsets[row])
                line = file.readline()
                try:
                    vectors[row] = [float(number) for number in line.split(self._separator)[1 : self.dim + 1]]
                except ValueError:
                    vectors[row] = np.nan
                if not np.isfinite(vectors[row]).all():
                    raise self._damaged(line, "NaN, infinity or something that is no number")
        return vectors

    def _line(self, word: str) -> int:
        """Find where the line of a word begins, -1 where there is none."""
        value = hash(word.encode("utf-8", "surrogatepass"))
        at = bisect_left(self._hashes, value)
        return self._offsets[at] if at < len(self._hashes) and self._hashes[at] == value else -1

    def _damaged(self, line: bytes, problem: str) -> InputError:
        word = line.partition(self._separator)[0].decode("utf-8", "replace")
        return InputError(
            f"{self.path}: the line of {word[:60]!r} has {problem}: get the file again, or take the line out"
        )

    @contextmanager
    def _open(self, buffer: int = 1 << 18) -> Iterator[BinaryIO]:
        """Open the file, unpacked where it is packed; raise InputError where it cannot be read."""
        try:
            packed = self.path.suffix == ".gz"
            with gzip.open(self.path) if packed else self.path.open("rb", buffering=buffer) as file:
                yield cast("BinaryIO", file)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.path}: cannot be read ({error}): get the file again") from error


def build(argument: str, options: Mapping[str, Any], context: Context) -> WordvecEncoder:
    """Make the encoder of a spec; raise InputError where a file is not there."""
    fit = context.loader("wordvec", options["fit"])
    if fit is not None and options["weight"] == "mean":
        raise InputError("wordvec: weight=mean counts nothing: leave fit= out, or choose tfidf or sif")
    return WordvecEncoder(argument, context.languages, options["weight"], fit, options["words"])
