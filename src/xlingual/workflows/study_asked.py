"""From rows of a manifest to the plain records that a study is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.streams import stream
from xlingual.study.design import Asked, Candidate, Listed
from xlingual.workflows.study_lists import Best, own_texts


def asked_of(
    manifest: Manifest,
    queries: Ints,
    pool: Ints,
    lists: Mapping[str, Sequence[Best]],
    strata: Sequence[str] | None,
    *,
    seed: int,
    pictures: bool,
) -> list[Asked]:
    """Return each query (row of the manifest) with what the systems suggest for it, and its controls.

    The wrong control is drawn from the pool: a text of another item, and of another stratum where there is
    one, that no system suggests. The right one is the query's own text in the target language.
    """

    def candidate(row: int) -> Candidate:
        slot = int(manifest.picture[row]) if pictures else -1
        language = manifest.languages[manifest.language[row]]
        return Candidate(str(row), manifest.text[row], language, None if slot < 0 else str(slot))

    order = stream(seed, "study wrong controls").permutation(pool).tolist()
    asked = []
    for number, query in enumerate(queries.tolist()):
        made = {
            name: [
                Listed(candidate(row), cosine)
                for row, cosine in zip(best[number].rows.tolist(), best[number].cosine.tolist(), strict=True)
            ]
            for name, best in lists.items()
        }
        own = pool[manifest.item[pool] == manifest.item[query]].tolist()
        start = number % len(order)  # each query begins elsewhere, so that controls differ
        suggested = {one.candidate.text for rows in made.values() for one in rows}
        wrong = _wrong(manifest, query, order[start:] + order[:start], suggested, strata)
        asked.append(
            Asked(
                candidate(query),
                made,
                stratum=None if strata is None else strata[query],
                wrong=None if wrong is None else candidate(wrong),
                right=candidate(own[0]) if own else None,
            )
        )
    return asked


def _wrong(
    manifest: Manifest, query: int, order: Sequence[int], suggested: set[str], strata: Sequence[str] | None
) -> int | None:
    """Return the first text that is no answer, of another stratum if there is one; None: there is no such."""
    never = suggested | own_texts(manifest, query)
    free = [row for row in order if manifest.text[row] not in never]
    apart = (row for row in free if strata is not None and strata[row] != strata[query])
    return next(apart, free[0] if free else None)
