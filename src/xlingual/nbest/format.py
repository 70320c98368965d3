"""Files of n-best lists in the format of Moses, plain or gzip: read as a stream or as arrays, and written.

The canonical form, which is written back byte for byte: UTF-8; one line for each hypothesis; fields with
` ||| ` between them; ids that count sentences from 0, in order; `Name=` before the values of a label; numbers
as their shortest text; a newline after the last line too.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import cast

import numpy as np

from xlingual.errors import InputError, listed, warn
from xlingual.files import atomic_file, make_folder
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.parsing import BARS, HypothesisLine, line_of, parse_line
from xlingual.results.provenance import note_file

_GZIP = b"\x1f\x8b"


def read_nbest(path: str | Path) -> NBestLists:
    """Return the n-best lists of a file.

    Raises InputError, with the number of the line, where a line is not of the format, its features are not
    those of the first line, a value is no finite number, or an id is out of order or left out. Empty
    hypotheses are kept, with a warning that counts them.
    """
    hypotheses: list[str] = []
    values, scores = array("d"), array("d")
    extra: list[tuple[str, ...]] = []
    offsets = [0]
    groups: tuple[tuple[str, int], ...] = ()
    empty = []
    for line in stream_nbest(path):
        if line.sentence == len(offsets):
            offsets.append(len(hypotheses))
        if not line.hypothesis:
            empty.append(line.number)
        groups = line.groups
        hypotheses.append(line.hypothesis)
        values.extend(line.values)
        scores.append(line.score)
        extra.append(line.extra)
    offsets.append(len(hypotheses))
    warn_of_empty(path, empty)
    return NBestLists(
        hypotheses,
        np.array(values).reshape(len(hypotheses), sum(count for _, count in groups)),
        np.array(scores),
        np.array(offsets, dtype=np.int64),
        groups,
        extra if any(extra) else (),
    )


def stream_nbest(path: str | Path) -> Iterator[HypothesisLine]:
    """Yield the lines of a file one by one, checked as `read_nbest` does, holding no more than one."""
    first: HypothesisLine | None = None
    last = -1
    for number, text in text_lines(path):
        line = parse_line(text, number, str(path))
        if line.sentence not in (last, last + 1):
            raise InputError(f"{path}, line {number}: {_disorder(line.sentence, last)}")
        if first is None:
            first = line
        elif line.groups != first.groups:
            raise InputError(f"{path}, line {number}: {_other_features(line, first)}")
        last = line.sentence
        yield line
    if first is None:
        raise InputError(f"{path} is empty: give lines of id ||| hypothesis ||| features ||| score")


def warn_of_empty(path: str | Path, lines: Sequence[int]) -> None:
    """Warn of the hypotheses without a word in these lines."""
    if lines:
        is_are = "hypothesis is" if len(lines) == 1 else "hypotheses are"
        where = f"{'line' if len(lines) == 1 else 'lines'} {listed(lines, 5)}"
        warn(f"{path}: {len(lines):,} {is_are} empty ({where}); kept")


def write_nbest(lists: NBestLists, path: str | Path) -> None:
    """Write the lists to a file in canonical form, atomically; gzip where its name ends in .gz.

    Raises InputError where a hypothesis or label could not be read back.
    """
    write_lines(path, _written(lists))


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines as they come, atomically, each with a newline; gzip where the name ends in .gz."""
    path = Path(path)
    make_folder(path.parent)
    encoded = (f"{line}\n".encode() for line in lines)
    with atomic_file(path) as temporary, temporary.open("wb") as raw:
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else nullcontext(raw)
        with packed as handle:
            handle.writelines(encoded)


def text_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of each line of a UTF-8 file, plain or gzip, without the ends of lines.

    Only a newline, or one after a carriage return, ends a line: other separators may stand within a text. A
    byte order mark at the beginning is no text.
    """
    path = Path(path)
    try:
        with path.open("rb") as raw:
            note_file("lines", path)
            packed = raw.peek(2)[:2] == _GZIP
            with cast(BufferedReader, gzip.open(raw)) if packed else raw as handle:
                for number, line in enumerate(handle, 1):
                    if number == 1:
                        line = line.removeprefix(codecs.BOM_UTF8)
                    yield number, line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}: not UTF-8 ({error.reason}): convert the file") from error
    except EOFError as error:
        raise InputError(f"{path} is cut short ({error}): copy or make it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is damaged ({error}): copy or make it again") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}: check its name") from error


def _written(lists: NBestLists) -> Iterator[str]:
    extra = lists.extra or [()] * len(lists.hypotheses)
    for row, sentence in enumerate(lists.sentence.tolist()):
        hypothesis = lists.hypotheses[row]
        if BARS in hypothesis or "\n" in hypothesis or "\r" in hypothesis:
            raise InputError(
                f"hypothesis {hypothesis[:60]!r} of sentence {sentence} holds {BARS} or the end of a line, "
                "which cannot stand in an n-best list: take it out"
            )
        values, score = lists.features[row].tolist(), float(lists.scores[row])
        yield line_of(sentence, hypothesis, lists.groups, values, score, extra[row])


def _disorder(found: int, last: int) -> str:
    """Return an error sentence for an id that is out of order."""
    if last < 0:
        return f"the first id is {found}: ids count the sentences from 0; number the lists anew"
    if found < last:
        return f"id {found} after id {last}: sort the lists by id, the hypotheses of a sentence together"
    missing = f"id {last + 1}" if found == last + 2 else f"ids {last + 1} to {found - 1}"
    return f"id {found} after id {last}: {missing} left out; every sentence needs a hypothesis"


def _other_features(line: HypothesisLine, first: HypothesisLine) -> str:
    """Return how the features of a line differ from those of the first, in words."""
    if len(line.values) != len(first.values):
        counts = f"{len(line.values)} feature values, where line {first.number} has {len(first.values)}"
    else:
        counts = f"other features than line {first.number}"

    def features_of(one: HypothesisLine) -> str:
        return ", ".join(f"{label} ({count})" for label, count in one.groups) or "none"

    differing = f"{features_of(line)} instead of {features_of(first)}"
    return f"{counts}: {differing}; every hypothesis needs the same features"
