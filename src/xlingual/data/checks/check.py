"""Checking a manifest: what it holds, and what in it deserves a look before it is measured with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xlingual.data.checks.directions import check_directions
from xlingual.data.checks.pictures import Progress, check_pictures
from xlingual.data.checks.records import Check, LanguageCheck
from xlingual.data.checks.sentences import warning_sentences
from xlingual.data.languages import in_other_script, scripts_of
from xlingual.data.manifest import Manifest

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check(manifest: Manifest, progress: Progress | None = None) -> Check:
    """Count and examine everything in a manifest; every picture is opened."""
    has_language = np.zeros((manifest.n_items, len(manifest.languages)), dtype=bool)
    has_language[manifest.item, manifest.language] = True
    pairs = _pair_counts(manifest.languages, has_language)
    found = Check(
        source=manifest.source,
        digest=manifest.digest,
        n_table_rows=manifest.n_items if manifest.wide else len(manifest),
        n_texts=len(manifest),
        n_items=manifest.n_items,
        n_items_without_text=int((~has_language.any(axis=1)).sum()),
        n_items_multilingual=int((has_language.sum(axis=1) > 1).sum()),
        languages=[_check_language(manifest, tag) for tag in manifest.languages],
        pairs=pairs,
        directions=check_directions(manifest, has_language),
        shared_texts=_shared_texts(manifest),
        pictures=check_pictures(manifest, progress) if manifest.has_pictures else None,
        warnings=[],
    )
    found.warnings.extend(warning_sentences(found))
    return found


def _check_language(manifest: Manifest, tag: str) -> LanguageCheck:
    rows = manifest.rows_of(tag).tolist()
    scripts = scripts_of(tag)
    seen: set[str] = set()
    empty, repeated, other = [], [], []
    for row in rows:
        text = manifest.text[row]
        if not text.strip():
            empty.append(manifest.ids[row])
        elif text in seen:
            repeated.append(manifest.ids[row])
        elif scripts is not None and _may_be_foreign(text, scripts) and in_other_script(text, scripts):
            other.append(manifest.ids[row])
        seen.add(text)
    lengths = np.array([len(manifest.text[row]) for row in rows])
    longest = np.argsort(-lengths, kind="stable")[:3]
    return LanguageCheck(
        language=tag,
        n_texts=len(rows),
        n_items=len(np.unique(manifest.item[rows])),
        empty=empty,
        repeated=repeated,
        other_script=other,
        longest=[(manifest.ids[rows[position]], int(lengths[position])) for position in longest],
        median_length=float(np.median(lengths)),
    )


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


def _shared_texts(manifest: Manifest) -> dict[tuple[str, str], int]:
    """Return, for pairs of languages that share any, how many different texts occur in both."""
    texts = [{manifest.text[row] for row in manifest.rows_of(tag)} - {""} for tag in manifest.languages]
    shared = {}
    for j, second in enumerate(manifest.languages):
        for i, first in enumerate(manifest.languages[:j]):
            if common := len(texts[i] & texts[j]):
                shared[first, second] = common
    return shared
