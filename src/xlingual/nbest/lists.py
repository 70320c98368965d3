"""N-best lists in the format of Moses, plain or gzip, as arrays; and files of one text a line.

The canonical form, which is written back byte for byte: UTF-8; one line for each hypothesis, `id |||
hypothesis ||| Name1= v v … ||| score ||| more`; ids count sentences from 0, in order; numbers as their
shortest text.
"""

from __future__ import annotations

import codecs
import gzip
import math
import zlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import cast

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, listed, warn
from xlingual.files import atomic_file, make_folder
from xlingual.results.provenance import note_file

BARS = "|||"
_ROUNDING = 1e-12  # of a feature's size: a smaller spread counts as none
Groups = tuple[tuple[str, int], ...]  # labels, and how many values each has


@dataclass(frozen=True)
class NBestLists:
    """The n-best lists of s sentences: n hypotheses in all, with f features each.

    The hypotheses of sentence i are those at `offsets[i]:offsets[i + 1]`, in the order of the file; every
    list has at least one. `groups` are the labels of the features with the number of values each label has.
    """

    hypotheses: Sequence[str]  # n
    features: Floats  # [n, f]
    scores: Floats  # [n]: the decoder's
    offsets: Ints  # [s + 1]
    groups: Groups
    extra: Sequence[tuple[str, ...]] = ()  # n, or none at all: the fields after the score

    def __len__(self) -> int:
        """Return the number of lists."""
        return len(self.offsets) - 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the f features: the label, with [i] where it has several values.

        >>> NBestLists((), np.zeros((0, 3)), np.zeros(0), np.zeros(1, int), (("lm", 1), ("tm", 2))).names
        ('lm', 'tm[0]', 'tm[1]')
        """
        return tuple(
            label if count == 1 else f"{label}[{i}]" for label, count in self.groups for i in range(count)
        )

    @property
    def sizes(self) -> Ints:
        """The number of hypotheses of each list, [s]."""
        return np.diff(self.offsets)

    @cached_property
    def sentence(self) -> Ints:
        """The sentence of each hypothesis, [n]."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of each feature around the mean of its list, [f]; 0 where it never differs.

        What sentences differ in, such as their length, moves no hypothesis above another of its list.
        """
        sums = np.add.reduceat(self.features, self.offsets[:-1], axis=0)
        deviations = self.features - (sums / self.sizes[:, None])[self.sentence]
        largest = np.abs(deviations).max(axis=0, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)  # so that squares of large values stay finite
        spread: Floats = unit * np.sqrt(((deviations / unit) ** 2).mean(axis=0))
        spread[spread <= _ROUNDING * np.abs(self.features).max(axis=0, initial=0.0)] = 0.0
        return spread

    def with_features(self, columns: dict[str, Floats]) -> NBestLists:
        """Return the lists with further features, each a new label and finite values [n]."""
        check_new_labels(list(columns), [label for label, _ in self.groups])
        for label, values in columns.items():
            if values.shape != (len(self.hypotheses),) or not np.isfinite(values).all():
                raise InputError(
                    f"feature {label!r} must have one finite value for each of {len(self.hypotheses):,} "
                    f"hypotheses: found {values.shape}, {int((~np.isfinite(values)).sum()):,} not finite"
                )
        return replace(
            self,
            features=np.column_stack([self.features, *columns.values()]).astype(np.float64),
            groups=(*self.groups, *((label, 1) for label in columns)),
        )

    def rows_of(self, sentences: Ints) -> Ints:
        """Return the rows of all hypotheses of some sentences."""
        sizes = self.sizes[sentences]
        place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows: Ints = np.repeat(self.offsets[sentences], sizes) + place
        return rows

    def part(self, sentences: Ints) -> NBestLists:
        """Return the lists of some of the sentences, in this order."""
        rows = self.rows_of(sentences)
        return replace(
            self,
            hypotheses=[self.hypotheses[row] for row in rows],
            features=self.features[rows],
            scores=self.scores[rows],
            offsets=np.concatenate([[0], np.cumsum(self.sizes[sentences])]),
            extra=[self.extra[row] for row in rows] if self.extra else (),
        )

    def keep_features(self, names: Sequence[str]) -> NBestLists:
        """Return the lists with some of the features only, as labels of one value each."""
        columns = [self.names.index(name) for name in names]
        return replace(self, features=self.features[:, columns], groups=tuple((name, 1) for name in names))


def check_new_labels(labels: Sequence[str], present: Sequence[str]) -> None:
    """Raise InputError where features of these labels cannot be added to those that are there."""
    for number, label in enumerate(labels):
        if label in present:
            raise InputError(f"the n-best list has a feature {label!r} already: choose another name")
        if label in labels[:number]:
            raise InputError(f"two features are named {label!r}: give one of them another name")
        if not label or any(c.isspace() or c == "|" for c in label) or label[-1] in "=:":
            raise InputError(
                f"a feature cannot be named {label!r}: use letters, digits and _ . -, no blanks or bars, "
                "and no '=' or ':' at the end"
            )


def read_nbest(path: str | Path) -> NBestLists:
    """Return the n-best lists of a file; empty hypotheses stay, with a warning that counts them.

    Raises InputError, with the number of the line, where a line is not of the format, its features are not
    those of the first line, a value is no finite number, or an id is out of order or left out.
    """
    hypotheses: list[str] = []
    values, scores = array("d"), array("d")
    extra: list[tuple[str, ...]] = []
    offsets = [0]
    groups: Groups | None = None
    empty = []
    for number, text in text_lines(path):
        where = f"{path}, line {number}"
        fields = [field.strip(" \t") for field in text.split(BARS)]
        if len(fields) < 4:
            raise InputError(
                f"{where}: expected id ||| hypothesis ||| features ||| score, found {len(fields)} "
                f"{'field' if len(fields) == 1 else 'fields'}: {text[:60]!r}"
            )
        if not fields[0].isascii() or not fields[0].isdigit():
            raise InputError(f"{where}: the id must be a number counted from 0, found {fields[0][:40]!r}")
        if (sentence := int(fields[0])) != len(offsets) - 1:
            if sentence != len(offsets) or not hypotheses:
                due = f"{len(offsets) - 1} or {len(offsets)}" if hypotheses else "0"
                raise InputError(
                    f"{where}: id {sentence}, expected {due}: ids count the sentences from 0 without a gap, "
                    "the hypotheses of a sentence together; number the lists anew"
                )
            offsets.append(len(hypotheses))
        try:
            own_groups, own_values = _features(fields[2])
            score = _number(fields[3], "the score")
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
        groups = own_groups if groups is None else groups
        if own_groups != groups:
            here, first = (", ".join(f"{n} ({count})" for n, count in g) for g in (own_groups, groups))
            raise InputError(
                f"{where}: other features than line 1: {here or 'none'} instead of {first or 'none'}; every "
                "hypothesis needs the same features"
            )
        if not fields[1]:
            empty.append(number)
        hypotheses.append(fields[1])
        values.extend(own_values)
        scores.append(score)
        extra.append(tuple(fields[4:]))
    if groups is None:
        raise InputError(f"{path} is empty: give lines of id ||| hypothesis ||| features ||| score")
    if empty:
        is_are = "hypothesis is" if len(empty) == 1 else "hypotheses are"
        warn(f"{path}: {len(empty):,} {is_are} empty (line {listed(empty, 5)}); they stay in their lists")
    return NBestLists(
        hypotheses,
        np.array(values).reshape(len(hypotheses), sum(count for _, count in groups)),
        np.array(scores),
        np.array([*offsets, len(hypotheses)], dtype=np.int64),
        groups,
        extra if any(extra) else (),
    )


def _features(field: str) -> tuple[Groups, list[float]]:
    """Return the labels with their number of values, and the values; those before any label are named F."""
    counts: dict[str, int] = {}
    values: list[float] = []
    label = ""
    for token in field.split():
        cut = max(token.rfind("="), token.rfind(":"))
        if cut > 0:
            label, token = token[:cut], token[cut + 1 :]
            if label in counts:
                raise ValueError(f"the label {label!r} occurs twice: give each feature a different label")
            counts[label] = 0
            if not token:
                continue
        label = label or "F"
        counts[label] = counts.get(label, 0) + 1
        values.append(_number(token, f"a value of feature {label!r}"))
    if empty := next((name for name, count in counts.items() if not count), None):
        raise ValueError(f"feature {empty!r} has no value: give one, or leave the label out")
    return tuple(counts.items()), values


def _number(text: str, what: str) -> float:
    """Return a finite number; raise ValueError in words otherwise."""
    try:
        value = float(text.replace("_", "no digit"))  # which float takes for one
    except ValueError:
        raise ValueError(f"{what} must be a number, found {text[:40]!r}") from None
    if not math.isfinite(value):
        raise ValueError(f"{what} is {text}: only finite numbers can be weighted; leave the hypothesis out")
    return value


def write_nbest(lists: NBestLists, path: str | Path) -> None:
    """Write the lists to a file in canonical form, atomically; gzip where its name ends in .gz."""
    path = Path(path)
    make_folder(path.parent)
    with atomic_file(path) as temporary, temporary.open("wb") as raw:
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else nullcontext(raw)
        with packed as handle:
            handle.writelines(f"{line}\n".encode() for line in _written(lists))


def _written(lists: NBestLists) -> Iterator[str]:
    """Yield the lines of lists in canonical form."""
    for row, sentence in enumerate(lists.sentence.tolist()):
        hypothesis = lists.hypotheses[row]
        if BARS in hypothesis or "\n" in hypothesis or "\r" in hypothesis:
            raise InputError(
                f"hypothesis {hypothesis[:60]!r} of sentence {sentence} holds {BARS} or the end of a line, "
                "which cannot stand in an n-best list: take it out"
            )
        numbers = iter([repr(value).removesuffix(".0") for value in lists.features[row].tolist()])
        words = [
            word for label, n in lists.groups for word in (f"{label}=", *(next(numbers) for _ in range(n)))
        ]
        score = repr(float(lists.scores[row])).removesuffix(".0")
        fields = [str(sentence), hypothesis, " ".join(words), score]
        yield f" {BARS} ".join([*fields, *(lists.extra[row] if lists.extra else ())])


def text_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of each line of a UTF-8 file, plain or gzip, without the ends of lines.

    Only a newline, or one after a carriage return, ends a line: other separators may stand within a text. A
    byte order mark at the beginning is no text.
    """
    path = Path(path)
    try:
        with path.open("rb") as raw:
            note_file("lines", path)
            packed = raw.peek(2)[:2] == b"\x1f\x8b"
            with cast(BufferedReader, gzip.open(raw)) if packed else raw as handle:
                for number, line in enumerate(handle, 1):
                    if number == 1:
                        line = line.removeprefix(codecs.BOM_UTF8)
                    yield number, line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}: not UTF-8 ({error.reason}): convert the file") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is cut short or damaged ({error}): copy or make it again") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}: check its name") from error


def read_texts(path: str | Path) -> list[str]:
    """Return the lines of a file of texts, plain or gzip."""
    texts = [text for _, text in text_lines(path)]
    if not texts:
        raise InputError(f"{path} is empty: give one sentence a line")
    return texts


def read_aligned(path: str | Path, option: str, lists: int, nbest: str | Path) -> list[str]:
    """Return the lines of a file that has one for each list of `nbest`; `option` names it in the error."""
    texts = read_texts(path)
    if len(texts) != lists:
        raise InputError(
            f"{option} {path} has {len(texts):,} {'line' if len(texts) == 1 else 'lines'}, {nbest} {lists:,} "
            f"{'list' if lists == 1 else 'lists'}: give one line for each list, in order"
        )
    return texts


def write_texts(texts: Sequence[str], path: str | Path) -> None:
    """Write one text a line, atomically."""
    path = Path(path)
    broken = next((number for number, text in enumerate(texts) if "\n" in text), None)
    if broken is not None:
        raise InputError(f"the text of sentence {broken} holds the end of a line: take it out")
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_bytes("".join(f"{text}\n" for text in texts).encode())
