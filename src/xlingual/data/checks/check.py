"""Checking a manifest: what it holds, and what in it deserves a look before it is measured with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints, distinct_values
from xlingual.data.checks.directions import check_directions
from xlingual.data.checks.findings import findings_of, ordered
from xlingual.data.checks.html import texts_with_html
from xlingual.data.checks.pictures import Progress, check_pictures
from xlingual.data.checks.records import Check, LanguageCheck
from xlingual.data.checks.sentences import content_findings
from xlingual.data.languages import in_other_script
from xlingual.data.manifest import Manifest
from xlingual.data.reading.problems import Problem
from xlingual.data.reading.strings import blank_rows, character_lengths, numbered_strings
from xlingual.languages import scripts_of


def check(manifest: Manifest, progress: Progress | None = None, *, problems: Sequence[Problem] = ()) -> Check:
    """Count and examine everything in a manifest; every picture is opened.

    `problems` are those that were gathered while it was read (`Manifest.read_gathering`).
    """
    has_language = np.zeros((manifest.n_items, len(manifest.languages)), dtype=bool)
    has_language[manifest.item, manifest.language] = True
    pairs = _pair_counts(manifest.languages, has_language)
    facts = _Facts.of(manifest)
    found = Check(
        source=manifest.source,
        digest=manifest.digest,
        n_table_rows=manifest.n_items if manifest.wide else len(manifest),
        n_texts=len(manifest),
        n_items=manifest.n_items,
        n_items_without_text=int((~has_language.any(axis=1)).sum()),
        n_items_multilingual=int((has_language.sum(axis=1) > 1).sum()),
        languages=[_check_language(manifest, tag, facts) for tag in manifest.languages],
        pairs=pairs,
        directions=check_directions(manifest, has_language),
        shared_texts=_shared_texts(manifest, facts),
        pictures=check_pictures(manifest, progress) if manifest.has_pictures else None,
        html=manifest.ids.pick(texts_with_html(manifest.text)),
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
    """What is counted of all texts at once; all [n]."""

    code: Ints  # equal texts have equal codes
    empty: NDArray[np.bool_]  # without visible characters
    nothing: NDArray[np.bool_]  # without any
    length: Ints  # characters

    @classmethod
    def of(cls, manifest: Manifest) -> _Facts:
        empty = np.zeros(len(manifest), dtype=bool)
        empty[blank_rows(manifest.text)] = True
        length = character_lengths(manifest.text)
        return cls(numbered_strings(manifest.text)[0], empty, length == 0, length)


def _check_language(manifest: Manifest, tag: str, facts: _Facts) -> LanguageCheck:
    rows = manifest.rows_of(tag)
    empty, lengths = facts.empty[rows], facts.length[rows]
    first = np.zeros(len(rows), dtype=bool)
    first[np.unique(facts.code[rows], return_index=True)[1]] = True
    longest = np.argsort(-lengths, kind="stable")[:3]
    return LanguageCheck(
        language=tag,
        n_texts=len(rows),
        n_items=len(distinct_values(manifest.item[rows])),
        empty=manifest.ids.pick(rows[empty]),
        repeated=manifest.ids.pick(rows[~first & ~empty]),
        other_script=manifest.ids.pick(_in_other_script(manifest, rows[first & ~empty], tag)),
        longest=[(manifest.ids[rows[position]], int(lengths[position])) for position in longest],
        median_length=float(np.median(lengths)),
    )


def _in_other_script(manifest: Manifest, rows: Ints, tag: str) -> Ints:
    """Return those of the rows whose texts are mostly in letters the language is not written in."""
    scripts = scripts_of(tag)
    if scripts is None:
        return rows[:0]
    texts = manifest.text.view(rows)
    found = [_may_be_foreign(text, scripts) and in_other_script(text, scripts) for text in texts]
    kept: Ints = rows[np.array(found, dtype=bool)]
    return kept


def _may_be_foreign(text: str, scripts: tuple[str, ...]) -> bool:
    """Return False, at little cost, for the usual Latin text."""
    return not (text.isascii() and "LATIN" in scripts)


def _pair_counts(languages: tuple[str, ...], has_language: NDArray[np.bool_]) -> dict[tuple[str, str], int]:
    together = has_language.T.astype(np.int64) @ has_language.astype(np.int64)
    return {
        (first, second): int(together[i, j])
        for i, first in enumerate(languages)
        for j, second in enumerate(languages)
        if i < j
    }


def _shared_texts(manifest: Manifest, facts: _Facts) -> dict[tuple[str, str], int]:
    """Return, for pairs of languages that share any, how many different texts occur in both."""
    rows = [np.flatnonzero(manifest.language == i) for i in range(len(manifest.languages))]
    texts = [distinct_values(facts.code[own[~facts.nothing[own]]]) for own in rows]
    shared = {}
    for j, second in enumerate(manifest.languages):
        for i, first in enumerate(manifest.languages[:j]):
            if common := len(np.intersect1d(texts[i], texts[j], assume_unique=True)):
                shared[first, second] = common
    return shared
