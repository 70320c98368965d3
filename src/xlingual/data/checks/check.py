"""Checking a manifest: counts of its contents, and findings that deserve a look before it is used."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints, distinct_values
from xlingual.arrow import to_numpy
from xlingual.columns import ColumnBase, shown_paths, view
from xlingual.data.checks.records import Check, ImageCheck, LanguageCheck, PairCheck, findings_of, ordered
from xlingual.data.checks.sentences import content_findings
from xlingual.data.languages import in_other_script
from xlingual.data.manifest import Manifest
from xlingual.data.reading.problems import Problem
from xlingual.data.reading.strings import blank, character_lengths, numbered_strings
from xlingual.errors import InputError
from xlingual.images import GLANCE, THREADS, ImageSource, decode, missing_files, read_bytes
from xlingual.languages import scripts_of
from xlingual.records import digest


def check(manifest: Manifest, progress: Progress | None = None, *, problems: Sequence[Problem] = ()) -> Check:
    """Count and examine everything in a manifest; every image is opened.

    `problems` are those that were gathered while it was read (`Manifest.read_gathering`).
    """
    has = np.zeros((manifest.n_items, len(manifest.languages)), dtype=np.int64)
    has[manifest.item, manifest.language] = 1
    together = has.T @ has  # [languages, languages]: items that have both
    facts = _Facts.of(manifest)
    found = Check(
        source=manifest.source,
        digest=manifest.digest,
        n_table_rows=manifest.n_items if manifest.wide else len(manifest),
        n_texts=len(manifest),
        n_items=manifest.n_items,
        n_items_without_text=int((has.sum(axis=1) == 0).sum()),
        n_items_multilingual=int((has.sum(axis=1) > 1).sum()),
        languages=[_check_language(manifest, tag, facts) for tag in manifest.languages],
        pairs={
            (a, b): int(together[i, j]) for (i, a), (j, b) in combinations(enumerate(manifest.languages), 2)
        },
        directions=_directions(manifest, together),
        shared_texts=_shared_texts(manifest, facts),
        pictures=check_images(manifest, progress) if manifest.has_images else None,
        html=manifest.ids.pick(_texts_with_html(manifest.text)),
        doubled_ids=_doubled_ids(manifest),
        findings=[],
    )
    found.findings.extend(ordered([*findings_of(problems), *content_findings(found, manifest)]))
    return found


def _doubled_ids(manifest: Manifest) -> list[str]:
    """Return the ids that stand in several languages, where no such id ever names one item.

    Then it is likely that rows of one id were meant to be one item.
    """
    if manifest.wide:
        return []
    code, words = numbered_strings(manifest.ids)
    of_id = np.unique(np.stack([code, manifest.item]), axis=1)[0]  # one for each item of an id
    languages = np.unique(np.stack([code, manifest.language]), axis=1)[0]
    items, tags = np.bincount(of_id, minlength=len(words)), np.bincount(languages, minlength=len(words))
    several = np.flatnonzero(tags > 1)
    if (items[several] < tags[several]).any():
        return []
    return words.pick(several)


@dataclass(frozen=True)
class _Facts:
    """Facts about all texts, computed at once; all [n]."""

    code: Ints  # equal texts have equal codes
    empty: NDArray[np.bool_]  # without visible characters
    length: Ints  # characters

    @classmethod
    def of(cls, manifest: Manifest) -> _Facts:
        texts = manifest.text
        return cls(numbered_strings(texts)[0], blank(texts), character_lengths(texts))


def _check_language(manifest: Manifest, tag: str, facts: _Facts) -> LanguageCheck:
    rows = manifest.rows_of(tag)
    empty, lengths = facts.empty[rows], facts.length[rows]
    first = np.zeros(len(rows), dtype=bool)
    first[np.unique(facts.code[rows], return_index=True)[1]] = True
    return LanguageCheck(
        language=tag,
        n_texts=len(rows),
        n_items=len(distinct_values(manifest.item[rows])),
        empty=manifest.ids.pick(rows[empty]),
        repeated=manifest.ids.pick(rows[~first & ~empty]),
        other_script=_in_other_script(manifest, rows[first & ~empty], tag),
        longest=[(manifest.ids[rows[i]], int(lengths[i])) for i in np.argsort(-lengths, kind="stable")[:3]],
        median_length=float(np.median(lengths)),
    )


def _in_other_script(manifest: Manifest, rows: Ints, tag: str) -> list[str]:
    """Return the ids of those rows whose texts are mostly in letters the language is not written in."""
    scripts = scripts_of(tag)
    if scripts is None:
        return []
    latin = "LATIN" in scripts  # then the usual text, in ASCII, needs no look
    return [
        manifest.ids[row]
        for row, text in zip(rows.tolist(), manifest.text.view(rows), strict=True)
        if not (latin and text.isascii()) and in_other_script(text, scripts)
    ]


def _shared_texts(manifest: Manifest, facts: _Facts) -> dict[tuple[str, str], int]:
    """Return, for pairs of languages that share any, how many different texts occur in both."""
    there = facts.length > 0
    texts = [
        distinct_values(facts.code[there & (manifest.language == i)]) for i in range(len(manifest.languages))
    ]
    return {
        (first, second): common
        for j, second in enumerate(manifest.languages)
        for i, first in enumerate(manifest.languages[:j])
        if (common := len(np.intersect1d(texts[i], texts[j], assume_unique=True)))
    }


def _directions(manifest: Manifest, together: Ints) -> list[PairCheck]:
    """Return each source-target pair as Backretrieval divides it, the fewest source images first.

    `together` [languages, languages] counts the items that have both. Without `--sample-size` these are
    halved, with one more for the sources where their number is odd; others serve on their own side.
    """
    items = np.diag(together).tolist()
    images = [_images(manifest, tag) for tag in manifest.languages]
    found = []
    for (i, source), (j, target) in permutations(enumerate(manifest.languages), 2):
        both = int(together[i, j])
        half = (
            0 if both == items[j] == 1 < items[i] else (both + 1) // 2
        )  # 0: the only item that can be a target
        n_sources, (distinct, per_item) = items[i] - both + half, images[i]
        n_pictures = min(distinct, n_sources * per_item)
        found.append(PairCheck(source, target, both, n_sources, items[j] - half, n_pictures))
    return sorted(found, key=lambda pair: (pair.n_pictures, pair.n_sources))


def _images(manifest: Manifest, tag: str) -> tuple[int, int]:
    """Return how many distinct images a language has, and how many at most an item of it has.

    Where the manifest names no images, vectors of them may be given: one for each item is assumed.
    """
    rows = manifest.rows_of(tag)
    if not manifest.has_images:
        return len(distinct_values(manifest.item[rows])), 1
    rows = rows[manifest.image[rows] >= 0]
    if not len(rows):
        return 0, 0
    shown = np.unique(np.stack([manifest.item[rows], manifest.image[rows]]), axis=1)  # [2, shown]
    return len(distinct_values(shown[1])), int(np.unique(shown[0], return_counts=True)[1].max())


_ENTITY = r"&(?:[A-Za-z]{2,8}[0-9]{0,2}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});"
_TAG = (
    r"(?i)</?(?:a|b|br|div|em|font|h[1-6]|i|img|li|ol|p|span|strong|sub|sup|table|td|tr|u|ul)(?:\s[^<>]*)?/?>"
)


def _texts_with_html(texts: ColumnBase[str]) -> Ints:
    """Return the numbers of the texts with entities (`&amp;`) or tags (`<br>`) of HTML."""
    import pyarrow.compute as pc

    found, start = [np.empty(0, dtype=np.int64)], 0
    for block in texts.blocks():  # type: ignore[attr-defined]
        entity, tag = (to_numpy(pc.match_substring_regex(block, pattern)) for pattern in (_ENTITY, _TAG))
        for row in np.flatnonzero(entity).tolist():  # "black&white;" is none
            entity[row] = any(html.unescape(one) != one for one in re.findall(_ENTITY, block[row].as_py()))
        found.append(start + np.flatnonzero(entity | tag))
        start += len(block)
    return np.concatenate(found)


Progress = Callable[[int, int], None]  # images done, images in all
_AT_ONCE = 64  # images opened side by side before the next ones are read


def check_images(manifest: Manifest, progress: Progress | None = None) -> ImageCheck:
    """Open every image; `progress` is called with (images done, images in all)."""
    report = progress or (lambda done, total: None)
    with_image = np.flatnonzero(manifest.image >= 0)
    first = np.unique(manifest.image[with_image], return_index=True)[1]
    sources = manifest.image_source
    shown_by = manifest.ids.view(with_image[first])  # the first that shows it
    total, absent = len(sources), missing_files(sources, os.path.exists)
    there = np.setdiff1d(np.arange(total), absent, assume_unique=True)
    contents: dict[bytes, int] = {}
    unreadable, same_bytes = [], []
    for done in range(1, len(absent) + 1):
        report(done, total)
    opened = zip(there.tolist(), _opened(view(sources, there), shown_by.view(there)), strict=True)
    for done, (number, found) in enumerate(opened, len(absent) + 1):
        if isinstance(found, InputError):
            unreadable.append((shown_by[number], str(found)))
        elif (earlier := contents.setdefault(found, number)) != number:
            same_bytes.append((_name(sources, shown_by, number), _name(sources, shown_by, earlier)))
        report(done, total)
    return ImageCheck(
        n_rows_with=len(with_image),
        n_rows_without=len(manifest) - len(with_image),
        without=manifest.ids.pick(np.flatnonzero(manifest.image < 0)),
        n_distinct=total - len(same_bytes),
        missing=list(zip(shown_by.view(absent), shown_paths(view(sources, absent)), strict=True)),
        unreadable=unreadable,
        same_bytes=same_bytes,
    )


def _opened(sources: Sequence[ImageSource], rows: Sequence[str]) -> Iterator[bytes | InputError]:
    """Yield a digest of each image's bytes, or why it cannot be opened; some are opened side by side."""
    with ThreadPoolExecutor(THREADS, thread_name_prefix="decoding") as executor:
        for start in range(0, len(sources), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            yield from executor.map(_open, sources[part], rows[part])


def _open(source: ImageSource, row: str) -> bytes | InputError:
    if isinstance(source, tuple):
        found = [_open(part, row) for part in source]
        wrong = next((one for one in found if isinstance(one, InputError)), None)
        return wrong or digest(*(one for one in found if isinstance(one, bytes)))
    try:
        content = read_bytes(source, row=row)
        decode(content, source if isinstance(source, Path) else None, row=row, side=GLANCE)
    except InputError as error:
        return error
    return digest(content)


def _name(sources: Sequence[ImageSource], rows: Sequence[str], number: int) -> str:
    source = sources[number]
    return str(source) if isinstance(source, Path) else f"bytes of row {rows[number]!r}"
