"""The queries of a study and the suggestions of its systems: rows of a manifest, the top-k of each encoder.

They become plain records, from which a study is designed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.embed.sides import RoleVectors, TextVectors
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.evaluation.run_systems import RunSystem, Search, names_of
from xlingual.ragged import members
from xlingual.ranking import CPU, UNIT, Ranker, one_library_thread, similarity_of, top
from xlingual.streams import stream
from xlingual.study.design import Candidate, Listed, StudyQuery

NO_LABEL = "(none)"  # the stratum of queries whose cell is empty


@dataclass(frozen=True)
class NearestTexts:
    """The k texts nearest to a query, best first: rows of the manifest [k] and cosines [k], if any."""

    rows: Ints
    cosine: Floats | None

    def pairs(self) -> Iterator[tuple[int, float | None]]:
        """Yield each row with its cosine."""
        cosine = [None] * len(self.rows) if self.cosine is None else self.cosine.tolist()
        yield from zip(self.rows.tolist(), cosine, strict=True)


def strata_of(manifest: Manifest, by: str | None) -> list[str] | None:
    """Return the label of each row in a column, or None where no column is named."""
    if by is None:
        return None
    if by not in manifest.labels:
        columns = listed(manifest.labels, 20) or "none"
        raise InputError(
            f"--by {by}: no column of few different values is named so.{did_you_mean(by, manifest.labels)} "
            f"Such columns of {manifest.source}: {columns}"
        )
    return [NO_LABEL if label is None else label for label in manifest.labels[by]]


def candidates(manifest: Manifest, language: str, *, images: bool = True) -> Ints:
    """Return the rows of a language that can be suggested: no two that look the same to raters.

    Of equal texts, with equal images where images are shown, it is the first. Empty texts are left out.
    """
    first: dict[tuple[str, int], int] = {}
    for row in manifest.rows_of(language).tolist():
        if manifest.text[row].strip():
            first.setdefault(_seen(manifest, row, images), row)
    return np.array(list(first.values()), dtype=np.int64)


def _seen(manifest: Manifest, row: int, images: bool) -> tuple[str, int]:
    """Return what raters see of a text: rows of which that is the same look the same."""
    return manifest.text[row], int(manifest.image[row]) if images else -1


def draw_queries(
    manifest: Manifest, language: str, count: int, seed: int, strata: Sequence[str] | None = None
) -> Ints:
    """Return rows [count] of a language, in random order: one for each of that many items, no text twice.

    With strata (the label of each row), each gets its share of the queries: shares are proportional, and what
    rounding leaves goes to the largest remainders. Raises InputError where there are too few.
    """
    random = stream(seed, "study queries")
    row_of = {int(manifest.item[row]): row for row in random.permutation(manifest.rows_of(language)).tolist()}
    by_text: dict[str, int] = {}
    for item in random.permutation(sorted(row_of)).tolist():
        by_text.setdefault(manifest.text[row_of[item]].strip(), row_of[item])
    free = [row for text, row in by_text.items() if text]
    if len(free) < count:
        raise InputError(
            f"--queries {count}: {manifest.source} has {len(free)} items with different texts in "
            f"{language!r}; ask for fewer, or give more"
        )
    if strata is None:
        return np.array(free[:count])
    by_label: dict[str, list[int]] = {}
    for row in free:
        by_label.setdefault(strata[row], []).append(row)
    share = proportional({label: len(rows) for label, rows in by_label.items()}, count)
    drawn = {row for label, rows in by_label.items() for row in rows[: share[label]]}
    return np.array([row for row in free if row in drawn])


def proportional(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Return how many of `count` each part gets, in proportion to the sizes (largest remainders).

    >>> proportional({"a": 6, "b": 3, "c": 1}, 5)
    {'a': 3, 'b': 2, 'c': 0}
    """
    total = sum(sizes.values())
    exact = {name: count * size / total for name, size in sizes.items()}
    found = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: (found[name] - exact[name], -sizes[name], name))
    for name in by_remainder[: count - sum(found.values())]:
        found[name] += 1
    return found


def nearest(
    manifest: Manifest,
    vectors: TextVectors | RoleVectors,
    queries: Ints,
    pool: Ints,
    k: int,
    *,
    exclude_own: bool = False,
    ranker: Ranker = CPU,
    seed: int = 0,
) -> list[NearestTexts]:
    """Return the k texts of the pool nearest to each query by the cosine; ties are broken at random.

    `exclude_own` leaves out the texts of a query's own item.
    """
    own = _left_out(manifest, queries, pool, k, exclude_own)
    most_own = max(int(left_out.sum()) for left_out in own)
    query_vectors, pool_vectors = vectors.queries.pool(queries), vectors.candidates.pool(pool)
    similarity = similarity_of(query_vectors.vectors, pool_vectors.vectors)
    most = min(k + most_own, len(pool_vectors.vectors))
    with one_library_thread():
        found = top(similarity, most, ranker=ranker, seed=seed)[0]
    lottery = _lottery(seed, pool)
    lists = []
    for number, left_out in enumerate(own):
        lines = found.candidate[found.query == query_vectors.code[number]]
        line, place = members(pool_vectors.code, lines)
        keys = similarity.keys(np.full(len(lines), query_vectors.code[number]), lines)[line]
        kept = ~left_out[place]
        place, keys = place[kept], keys[kept]
        best = np.lexsort((lottery[place], -keys))[:k]
        lists.append(NearestTexts(pool[place[best]], keys[best] * UNIT))
    return lists


def first_listed(
    manifest: Manifest,
    name: str,
    system: RunSystem,
    queries: Ints,
    pool: Ints,
    k: int,
    *,
    exclude_own: bool = False,
    images: bool = True,
    seed: int = 0,
) -> list[NearestTexts]:
    """Return the first k texts of the pool in a search system's list for each query, as `nearest` does.

    A text that looks like one of the pool stands for that one. Raises InputError where lists are too short.
    """
    own = _left_out(manifest, queries, pool, k, exclude_own)
    tags, lottery = manifest.languages, _lottery(seed, pool)
    source, target = (tags[manifest.language[rows[0]]] for rows in (queries, pool))
    rows, names = manifest.rows_of(target), names_of(manifest)
    found = system.lists(Search(names, names, queries, rows, source, target, seed, alone=True))
    place_of = {_seen(manifest, row, images): place for place, row in enumerate(pool.tolist())}
    place = np.array([place_of.get(_seen(manifest, row, images), -1) for row in rows.tolist()])
    lists, short = [], []
    for number, left_out in enumerate(own):
        lines = slice(found.start[number], found.start[number + 1])
        places, level = place[found.candidate[lines]], found.level[lines]
        kept = (places >= 0) & ~left_out[places]
        places, level = places[kept], level[kept]
        order = np.lexsort((lottery[places], level))
        best = list(dict.fromkeys(places[order].tolist()))[:k]
        short += [number] if len(best) < k else []
        lists.append(NearestTexts(pool[best], None))
    if short:
        raise InputError(
            f"system {name!r} has fewer than {k} different texts for {len(short)} of the {len(queries)} "
            f"queries (first: {manifest.ids[queries[short[0]]]!r}): give the run of all texts in {source!r} "
            f"with longer lists, or ask for fewer (--per-system)"
        )
    return lists


def _lottery(seed: int, pool: Ints) -> Ints:
    """Return the order of texts that tie, the same for all systems."""
    return stream(seed, "study ties").permutation(len(pool))


def _left_out(manifest: Manifest, queries: Ints, pool: Ints, k: int, exclude_own: bool) -> list[np.ndarray]:
    """Return which texts of the pool are never suggested for each query; refuse where too few are left."""
    own = [_own(manifest, query, pool, exclude_own) for query in queries]
    left = len(pool) - max(int(left_out.sum()) for left_out in own)
    if left < k:
        raise InputError(
            f"--per-system {k}: only {left} different texts can be suggested; ask for fewer, or give more"
        )
    return own


def own_texts(manifest: Manifest, query: int) -> set[str]:
    """Return the texts of a query's item, in any language."""
    return {manifest.text[row] for row in np.flatnonzero(manifest.item == manifest.item[query])}


def _own(manifest: Manifest, query: int, pool: Ints, exclude: bool) -> np.ndarray:
    """Return which candidates are never suggested for a query, bool [m]: the texts of its item."""
    if not exclude:
        return np.zeros(len(pool), dtype=bool)
    own = own_texts(manifest, query)
    return np.array([manifest.text[row] in own for row in pool])


def study_queries(
    manifest: Manifest,
    queries: Ints,
    pool: Ints,
    lists: Mapping[str, Sequence[NearestTexts]],
    strata: Sequence[str] | None,
    *,
    seed: int,
    images: bool,
) -> list[StudyQuery]:
    """Return each query (row of the manifest) with what the systems suggest for it, and its controls.

    The wrong control is drawn from the pool: a text of another item, and of another stratum where there is
    one, that no system suggests. The right one is the query's own text in the target language.
    """

    def candidate(row: int) -> Candidate:
        slot = int(manifest.image[row]) if images else -1
        language = manifest.languages[manifest.language[row]]
        return Candidate(str(row), manifest.text[row], language, None if slot < 0 else str(slot))

    order = stream(seed, "study wrong controls").permutation(pool).tolist()
    found = []
    for number, query in enumerate(queries.tolist()):
        made = {
            name: [Listed(candidate(row), cosine) for row, cosine in best[number].pairs()]
            for name, best in lists.items()
        }
        own = pool[manifest.item[pool] == manifest.item[query]].tolist()
        start = number % len(order)  # each query begins elsewhere, so that controls differ
        suggested = {one.candidate.text for rows in made.values() for one in rows}
        wrong = _wrong(manifest, query, order[start:] + order[:start], suggested, strata)
        found.append(
            StudyQuery(
                candidate(query),
                made,
                stratum=None if strata is None else strata[query],
                wrong=None if wrong is None else candidate(wrong),
                right=candidate(own[0]) if own else None,
            )
        )
    return found


def _wrong(
    manifest: Manifest, query: int, order: Sequence[int], suggested: set[str], strata: Sequence[str] | None
) -> int | None:
    """Return the first text that is no answer, of another stratum if there is one; None: there is no such."""
    never = suggested | own_texts(manifest, query)
    free = [row for row in order if manifest.text[row] not in never]
    apart = (row for row in free if strata is not None and strata[row] != strata[query])
    return next(apart, free[0] if free else None)
