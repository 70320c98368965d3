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
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.runtime import distinct_rows
from xlingual.encoders.scheme import FIT, TEXTS, Context, Option, Scheme, not_empty, one_of
from xlingual.encoders.vectorfile import one_size
from xlingual.encoders.wordlists import LanguageFiles, UnknownWords, segment
from xlingual.errors import InputError, warn
from xlingual.records import Texts, digest
from xlingual.transforms.affine import rows_of_each

SCHEME = Scheme(
    "wordvec",
    (TEXTS,),
    "word vectors in text form (fastText, MUSE, RCSLS, GloVe), averaged",
    __name__,
    argument="PATH",
    options=(
        Option("weight", one_of("tfidf", "mean"), "tfidf", "how words are weighted"),
        Option("fit", not_empty, None, f"{FIT}, for the weights; without it the texts encoded"),
    ),
)
_LONGEST_LINE = 1 << 20  # bytes; a longer one is not text


class WordvecEncoder(Encoder):
    """A text is Σ w(t)·v(t) / Σ w(t) over its words t that have a vector; zero where none has one.

    The weight w is ln((1 + N)/(1 + df)) + 1 (`tfidf`) or 1 (`mean`). Document frequency df, of N distinct
    texts, is counted for each language in the texts that `fit` loads; without it in the batch, and a vector
    then depends on it. In `pattern` `{lang}` stands for the language; without it one file serves all.
    """

    origin = "general"

    def __init__(
        self, pattern: str, languages: Sequence[str], weight: str, fit: Callable[[], Texts] | None = None
    ) -> None:
        self.pattern, self.weight, self.fit = pattern, weight, fit
        self.files = LanguageFiles(pattern, languages, "the file of word vectors", WordFile)
        self.tags = frozenset(languages)
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
        return f"wordvec:v1:{self.files.digest}?weight={self.weight}{counted}"

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows whose words were counted; empty without `fit`."""
        return frozenset() if self._fit is None else self._fit.row_digests()

    def encode(self, batch: Texts, /) -> Vectors:
        """Give float32 [n, d]; words without a vector are counted for `notes`."""
        parts = list(rows_of_each(batch.language).items())
        files = list(map(self.files.of, [tag for tag, _ in parts] or self.files.tags))
        dim = one_size({file.path: file.dim for file in files}, "lie in one space: take aligned files")
        vectors = np.zeros((len(batch), dim), dtype=np.float32)
        for (tag, rows), file in zip(parts, files, strict=False):  # an empty batch has files and no parts
            distinct, same = distinct_rows(batch.text[row] for row in rows.tolist())
            split = [segment(text, file) for text in distinct]
            words = [[word for word, known in text if known] for text in split]
            place = {word: i for i, word in enumerate(sorted({word for text in words for word in text}))}
            table = file.vectors(list(place))
            factor = self._weights(tag, file, words, list(place))
            means = np.zeros((len(distinct), dim), dtype=np.float32)
            for row, text in enumerate(words):
                if text:
                    index = [place[word] for word in text]
                    means[row] = factor[index] @ table[index].astype(np.float64) / factor[index].sum()
            vectors[rows] = means[same]
            known, total = (sum(len(texts[i]) for i in same) for texts in (words, split))
            self._unknown.add(tag, total - known, total)
        return vectors

    def notes(self) -> list[str]:
        """Write how many words of each language had no vector, since last asked; none if all had."""
        return self._unknown.notes(f"wordvec:{self.pattern}: words without a vector, which are left out")

    @cached_property
    def _fit(self) -> Texts | None:
        """The texts of `fit` that are in one of the languages."""
        texts = None if self.fit is None else self.fit()
        return texts and texts.take(np.flatnonzero([tag in self.tags for tag in texts.language]))

    def _weights(self, tag: str, file: WordFile, texts: list[list[str]], words: Sequence[str]) -> np.ndarray:
        """Weigh words, counted in distinct texts of one language: those of `fit`, or of the batch."""
        if self.weight == "mean":
            return np.ones(len(words))
        if self._fit is not None:
            rows = zip(self._fit.text, self._fit.language, strict=True)
            distinct = dict.fromkeys(text for text, language in rows if language == tag)
            if not distinct:
                raise InputError(
                    f"wordvec: fit= names no texts of the language {tag}: choose a split with some"
                )
            texts = [[word for word, known in segment(text, file) if known] for text in distinct]
        df = Counter(word for text in texts for word in set(text))
        return np.array([math.log((1 + len(texts)) / (1 + df[word])) + 1 for word in words])


class WordFile:
    """A file `word number number …`, one word a line, plain or .gz; the first line may be `N d`.

    One pass notes a hash of each line's word and where the line begins, 16 bytes a line; numbers are read
    from the lines of the words that are asked for, and from no other. Where a word stands twice the first
    line counts, as MUSE reads it. Lines with more columns, words with blanks (some of GloVe's), are passed
    over. For a million words looked up among two million, the chance that two have one hash of 64 bits is
    one in ten million.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        hashes, offsets = array("q"), array("q")
        with self._open() as file:
            first = file.readline(_LONGEST_LINE)
            header = re.fullmatch(rb"\s*(\d+)[ \t]+(\d+)\s*", first)
            sample = file.readline(_LONGEST_LINE) if header else first
            self._separator = b"\t" if b"\t" in sample else b" "
            self.dim = int(header[2]) if header else len(sample.split()) - 1
            if b"\0" in sample or len(sample) == _LONGEST_LINE or not sample.strip() or self.dim < 1:
                raise InputError(
                    f"{path}: has no word vectors in text form: each line is a word and its numbers "
                    "(fastText's .vec, not its .bin; word2vec's .txt)"
                )
            position = len(first) if header else 0
            file.seek(position)
            for line in file:
                columns = line.rstrip().count(self._separator)  # fastText ends lines with a blank
                if columns == self.dim:
                    hashes.append(hash(line[: line.find(self._separator)]))
                    offsets.append(position)
                elif columns < self.dim and line.strip():
                    raise self._damaged(line, f"{columns} numbers where {self.dim} are expected")
                position += len(line)
        ordered, places = np.unique(np.array(hashes, dtype=np.int64), return_index=True)
        self._hashes = array("q", ordered.tobytes())
        self._offsets = array("q", np.array(offsets, dtype=np.int64)[places].tobytes())
        if header and len(ordered) < int(header[1]):
            count = f"{int(header[1])} words, {len(ordered)} are there"
            warn(f"{path}: its first line says {count}: is it complete?")

    def __contains__(self, word: object) -> bool:
        """Tell whether the file has a word."""
        return self._line(str(word)) >= 0

    def vectors(self, words: Sequence[str]) -> Vectors:
        """Give float32 [n, dim], the vectors of n words that it has; raise InputError without one."""
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
        raise InputError("wordvec: weight=mean counts nothing: leave fit= out, or choose tfidf")
    return WordvecEncoder(argument, context.languages, options["weight"], fit)
