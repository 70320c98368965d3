"""Files of word vectors in text form: where each word stands, and the vectors of the few that are needed.

One pass over the file notes a hash of each line's word and where the line begins, 24 bytes a line; numbers
are read from the lines of the words that are asked for, and from no other.
"""

from __future__ import annotations

import gzip
import re
import zlib
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar, cast

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.checkpoints import Watch
from xlingual.encoders.vectorfile import names_beside
from xlingual.errors import InputError, listed, warn
from xlingual.models.files import file_digest
from xlingual.records import digest

T = TypeVar("T")

_LONGEST_LINE = 1 << 20  # bytes; a longer one is not text
_HEADER = re.compile(rb"\s*(\d+)[ \t]+(\d+)\s*")


class WordFile:
    """An indexed file `word number number …`, one word a line, plain or .gz; the first line may be `N d`.

    Where a word stands twice the first line counts, as MUSE reads it. A word that has blanks in it (some of
    GloVe's) is passed over. `most` reads only so many words from the top, the most frequent ones.
    Raises InputError, naming the line, where lines have different numbers of columns.
    """

    def __init__(self, path: Path, most: int | None = None) -> None:
        self.path = path
        with _open(path) as handle:
            first = handle.readline(_LONGEST_LINE)
            if b"\0" in first or len(first) >= _LONGEST_LINE:
                raise InputError(
                    f"{path}: is no text: word vectors are read in text form, a word and its numbers on each "
                    "line (fastText's .vec, not its .bin; word2vec's .txt)"
                )
            header = _HEADER.fullmatch(first)
            data = handle.readline(_LONGEST_LINE) if header else first
        if not data.strip():
            raise InputError(f"{path}: has no word vectors: each line is a word and its numbers")
        self._separator = b"\t" if b"\t" in data else b" "
        self.dim = int(header[2]) if header else len(data.split(self._separator, 1)[-1].split())
        self._skipped = 1 if header else 0
        counted, stated = self._index(most), int(header[1]) if header else None
        if stated is not None and counted != (stated if most is None else min(stated, most)):
            warn(f"{path}: its first line says {stated} words, {counted} are there: is the file complete?")

    def known(self, words: Collection[str]) -> set[str]:
        """Return those of the words that the file has.

        Words are known by 64 bits of hash. For a million words looked up among two million, the chance
        that one is taken for another is one in ten million.
        """
        distinct = list(words)
        return {word for word, at in zip(distinct, self._places(distinct).tolist(), strict=True) if at >= 0}

    def vectors(self, words: Collection[str]) -> Vectors:
        """Return float32 [n, dim], one vector for each of n known words; the file is read from top to bottom.

        Raises InputError naming the line that holds NaN, infinity or no number.
        """
        place = self._places(list(words))
        answer = np.empty((len(place), self.dim), dtype=np.float32)
        with _open(self.path, 1 << 13) as handle:
            for row in np.argsort(place, kind="stable").tolist():
                line = int(place[row])
                handle.seek(int(self._offset[line]))
                answer[row] = self._numbers(handle.readline(), line)
        return answer

    def _index(self, most: int | None) -> int:
        """Note the hash of each word, its line and where lines begin; return how many words there are."""
        separator, columns = self._separator, self.dim
        ends = tuple(separator + end for end in (b"", b"\n", b"\r\n", b"\r"))  # fastText: a blank
        hashes, lines, offsets, blank = array("q"), array("q"), array("q"), 0
        with _open(self.path) as handle:
            position = len(handle.readline()) if self._skipped else 0
            for number, line in enumerate(handle):
                if number == most:
                    break
                offsets.append(position)
                position += len(line)
                if line.count(separator) - line.endswith(ends) != columns:
                    blank += not line.strip()
                    self._check_columns(line, number)
                    continue
                hashes.append(hash(line[: line.find(separator)]))
                lines.append(number)
        self._hash, first = np.unique(np.array(hashes, dtype=np.int64), return_index=True)
        self._line = np.array(lines, dtype=np.int64)[first]
        self._offset = np.array(offsets, dtype=np.int64)
        return len(offsets) - blank

    def _places(self, words: list[str]) -> Ints:
        """Return the line (from 0) of each word, -1 where the file has none."""
        hashes = np.array([hash(word.encode("utf-8", "surrogatepass")) for word in words], dtype=np.int64)
        if not len(self._hash):
            return np.full(len(hashes), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._hash, hashes), len(self._hash) - 1)
        return np.where(self._hash[at] == hashes, self._line[at], -1)

    def _check_columns(self, line: bytes, number: int) -> None:
        """Raise InputError where columns are wrong, unless the word has blanks in it or the line is empty."""
        fields = line.split()
        found = len(fields) - 1
        if fields and (found <= self.dim or _is_number(fields[1])):
            raise InputError(
                f"{self.path}: line {number + 1 + self._skipped} has {found} numbers where {self.dim} are "
                "expected: the file is damaged, or no word vectors in text form; get it again"
            )

    def _numbers(self, line: bytes, number: int) -> Vectors:
        word, _, fields = line.partition(self._separator)
        with suppress(ValueError):
            values = np.array(list(map(float, fields.split())), dtype=np.float32)
            if np.isfinite(values).all() and len(values) == self.dim:
                return values
        raise InputError(
            f"{self.path}: line {number + 1 + self._skipped} ({word.decode('utf-8', 'replace')!r}) holds "
            "NaN, infinity or something that is no number: get the file again, or take the line out"
        )


def check_word_file(path: Path, language: str) -> None:
    """Raise InputError where there is no such file, saying what the folder has."""
    if path.is_file():
        return
    wanted = "file of word vectors" + (f" of the language {language}" if language else "")
    beside = listed(names_beside(path, wanted)) or "no files"
    raise InputError(f"{wanted} {path} not found; the folder has: {beside}")


@contextmanager
def _open(path: Path, buffer: int = 1 << 18) -> Iterator[BinaryIO]:
    """Open the file, unpacked where it is packed; raise InputError where it cannot be read."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb", buffering=buffer) as handle:
            yield cast("BinaryIO", handle)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({error}): get the file again") from error


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


@dataclass(eq=False)
class LanguageFiles(Generic[T]):
    """Files in whose path `{lang}` stands for a language; without it one file serves all languages.

    `find(path, language)` raises InputError where the file is not there (the language is "" for that of all),
    `read` reads it: once, when it is first asked for, and only as it was when its digest was taken.
    """

    pattern: str
    languages: Sequence[str]
    what: str  # what a file is, in errors
    find: Callable[[Path, str], None]
    read: Callable[[Path], T]
    _read: dict[Path, T] = field(default_factory=dict, init=False, repr=False)
    _watch: Watch = field(default_factory=Watch, init=False, repr=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """The languages that have files, sorted; "" for the one of all."""
        return tuple(sorted(set(self.languages))) if "{lang}" in self.pattern else ("",)

    @property
    def digest(self) -> str:
        """A hash of the files of all languages."""
        return digest(*(part for tag in self.tags for part in (tag, self._digest(self.path(tag))))).hex()

    def path(self, language: str) -> Path:
        """Return the file of a language; raise InputError where it is not there."""
        path = Path(self.pattern.replace("{lang}", language))
        self.find(path, language if "{lang}" in self.pattern else "")
        return path

    def check(self) -> None:
        """Raise InputError where a file is not there."""
        for tag in self.tags:
            self.path(tag)

    def of(self, language: str) -> T:
        """Return what was read from the file of a language."""
        path = self.path(language)
        if path not in self._read:
            self._digest(path)
            found = self.read(path)
            self.check_unchanged(path)
            self._read[path] = found
        return self._read[path]

    def check_unchanged(self, path: Path) -> None:
        """Raise InputError where a file has changed since its digest was taken."""
        self._watch.check(str(path), lambda: file_digest(path), f"{path}: {self.what}")

    def _digest(self, path: Path) -> str:
        return self._watch.digest(str(path), lambda: file_digest(path))
