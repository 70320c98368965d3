"""Failures with their texts: which queries an encoder got wrong, what it found instead, and what was right.

Ranks come from the table of queries. Texts come from the data that was evaluated, which results in memory
remember; of results that were read from a folder it must be given. What was found first is in the table of
queries for Backretrieval; for other tasks only results in memory can find it again, for the failures alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import DataWarning, InputError, did_you_mean, listed
from xlingual.evaluation.rankings import IMAGE, Member, Ranking
from xlingual.evaluation.unchanged import ChangedError
from xlingual.measures import parse_measure
from xlingual.results import Results

if TYPE_CHECKING:
    import pyarrow as pa

_KEYS = ("encoder", "source", "target", "seed")
_PARTS = ("query", "retrieved", "right")
_TEXT = ("language", "id", "text", "image")


def failures_table(
    results: Results,
    data: ManifestLike | MultilingualPool | None = None,
    *,
    encoder: str | None = None,
    pair: str | None = None,
    measure: str | None = None,
    seed: int | None = None,
    worst: int | None = None,
) -> pa.Table:
    """Return the queries whose value is below 1, the worst first; see `Results.failures`."""
    import pyarrow as pa

    if worst is not None and (isinstance(worst, bool) or not isinstance(worst, Integral) or worst < 1):
        raise InputError(f"worst must be a whole number of at least 1, not {worst!r}; leave it out for all")
    held = results.evaluated
    data = held.data if data is None and held is not None else data
    if data is None:
        raise InputError(
            "these results hold no texts: give the data that was evaluated, as in "
            "results.failures(Manifest.read(PATH))"
        )
    if not isinstance(data, Manifest | MultilingualPool):
        data = Manifest.of(data)
    results.refuse_other_data(data.digest, data.source)
    rows = _chosen(results, encoder, pair, _measure(results, measure), seed)
    if worst is not None:
        rows = rows[: int(worst)]
    bare = False
    if isinstance(data, MultilingualPool):
        bare = len(data.languages) == 1 and bool(rows) and rows[0]["task"] == "retrieval"
        texts: _Texts | _PoolTexts = _PoolTexts(data, bare)
    else:
        texts = _Texts(data)
    found = _by_ranking(results, rows, bare) if held is not None else {}
    lines = [_line(row, found.get(row["row"]), texts) for row in rows]
    return pa.Table.from_pylist(lines, schema=_schema())


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, whole = pa.string(), pa.int64()
    return pa.schema(
        [
            *((name, whole if name == "seed" else text) for name in ("task", *_KEYS, "measure")),
            *(("value", pa.float64()), ("rank", whole), ("tied", whole), ("item", text)),
            *((f"{part}_{name}", text) for part in _PARTS for name in _TEXT),
            ("rights", whole),
        ]
    )


def _measure(results: Results, wanted: str | None) -> str:
    """Return the measure by which queries fail: the one named, else the first with a value for each query."""
    known = list(dict.fromkeys(entry.measure for entry in results.entries))
    each = set(results.per_query["measure"].unique().to_pylist())
    usable = [name for name in known if name in each and parse_measure(name).higher_is_better]
    if not usable:
        raise InputError("these results have no value for each query, so that no query fails")
    if wanted is None:
        return usable[0]
    if wanted not in usable:
        raise InputError(f"no measure {wanted!r}.{did_you_mean(wanted, usable)} Measures: {listed(usable)}")
    return wanted


def _chosen(
    results: Results, encoder: str | None, pair: str | None, measure: str, seed: int | None
) -> list[dict[str, Any]]:
    """Return the rows of failures, the worst first, each with its number in the table as `row`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = results.per_query
    pairs = pc.binary_join_element_wise(
        table["source"].cast(pa.string()), table["target"].cast(pa.string()), "-"
    )
    kept = pc.equal(table["measure"].cast(pa.string()), measure)
    for name, wanted, column in (
        ("encoder", encoder, table["encoder"].cast(pa.string())),
        ("pair", pair, pairs),
        ("seed", seed, table["seed"]),
    ):
        if wanted is None:
            continue
        known = column.unique().to_pylist()
        if wanted not in known:
            words = [str(one) for one in known]
            raise InputError(
                f"no {name} {wanted!r}.{did_you_mean(str(wanted), words)} There: {listed(words)}"
            )
        kept = pc.and_(kept, pc.equal(column, wanted))
    kept = pc.and_(kept, pc.less(table["value"], 1.0))
    number = np.flatnonzero(kept.to_numpy(zero_copy_only=False))
    value = table["value"].to_numpy()[number]
    above = table["above"].fill_null(-1).to_numpy()[number]
    number = number[np.lexsort((-above, value))]
    names = ("task", *_KEYS, "measure", "value", "above", "tied", "query", "item", "retrieved")
    rows: list[dict[str, Any]] = table.select(names).take(pa.array(number)).to_pylist()
    return [{**row, "row": place} for row, place in zip(rows, number.tolist(), strict=True)]


@dataclass(frozen=True)
class _Found:
    """What a ranking says of a failure: the query, what was found first, and what was right."""

    query: Member
    first: Member | None  # None: the task's lists are not of what was retrieved
    right: Sequence[Member]


def _by_ranking(results: Results, rows: Sequence[Mapping[str, Any]], bare: bool) -> dict[int, _Found]:
    """Return what the rankings say of each failure, by its number in the table of queries.

    `bare` says that queries of a pool are named by their ids alone, since all are of one language.
    """
    if rows and rows[0]["task"] == "backretrieval":
        return {}  # what is ranked there are images
    wanted: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        wanted.setdefault(tuple(row[key] for key in _KEYS), []).append(row)
    found: dict[int, _Found] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the evaluation raised them
        for encoder in dict.fromkeys(key[0] for key in wanted):
            for ranking in _rankings(results, encoder):
                own = wanted.get((ranking.encoder, ranking.source, ranking.target, ranking.seed), [])
                found |= dict(_of_ranking(ranking, own, bare))
    return found


def _rankings(results: Results, encoder: str) -> Iterator[Ranking]:
    try:
        yield from results.evaluated.rankings(encoder)
    except ChangedError:
        raise
    except InputError:
        return  # slices of images have no one ranking: failures then have no retrieved text


def _of_ranking(
    ranking: Ranking, rows: Sequence[Mapping[str, Any]], bare: bool
) -> Iterator[tuple[int, _Found]]:
    if not rows:
        return
    place = {_key(ranking, member, bare): i for i, member in enumerate(ranking.queries)}
    at = np.array([place[row["query"]] for row in rows], dtype=np.int64)
    query, candidate = ranking.relevant
    order = np.argsort(query, kind="stable")
    low, high = (np.searchsorted(query[order], at, side=side) for side in ("left", "right"))
    for row, i, start, end, best in zip(rows, at.tolist(), low, high, ranking.lists(1, at), strict=True):
        rights = candidate[order[start:end]].tolist()
        if row["above"] and best and best[0] in rights:
            raise ChangedError(f"text encoder {ranking.encoder!r}")  # a wrong one was first
        right = [ranking.candidates[place] for place in rights]
        first = ranking.candidates[best[0]] if best else None  # a search system may find none
        yield row["row"], _Found(ranking.queries[i], first, right)


def _key(ranking: Ranking, member: Member, bare: bool) -> str:
    """Return how the table of queries names a query."""
    if ranking.target == "pool":
        return member.id if bare else f"{member.language}/{member.id}"
    return member.id.partition(":")[2] if member.language == IMAGE else member.id


class _Texts:
    """The texts and images of a manifest."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest

    @cached_property
    def _rows(self) -> dict[tuple[str, str], int]:
        tags, language = self.manifest.languages, self.manifest.language.tolist()
        return {
            (tags[code], own): row
            for row, (code, own) in enumerate(zip(language, self.manifest.ids, strict=True))
        }

    @cached_property
    def _by_item(self) -> Ints:
        return np.argsort(self.manifest.item, kind="stable")

    def find(self, language: str, own: str, item: str | None) -> Member | None:
        """Return the text of a language and id; an image is found by a text of its item with that id."""
        if language != IMAGE:
            row = self._rows.get((language, own))
            return None if row is None else Member(language, own, row)
        for tag in self.manifest.languages:
            row = self._rows.get((tag, own))
            if row is not None and item in (None, self.manifest.item_ids[self.manifest.item[row]]):
                return Member(IMAGE, f"{tag}:{own}", row)
        return None

    def right(self, query: Member, row: Mapping[str, Any]) -> list[Member]:
        """Return the right answers: the item's texts in the target language, or its image."""
        manifest, target = self.manifest, row["target"]
        if row["task"] == "backretrieval" or target == IMAGE:
            tag = manifest.languages[manifest.language[query.row]]
            return [Member(IMAGE, f"{tag}:{manifest.ids[query.row]}", query.row)]
        items = manifest.item[self._by_item]
        low, high = (
            np.searchsorted(items, manifest.item[query.row], side=side) for side in ("left", "right")
        )
        same = self._by_item[low:high].tolist()
        return [
            Member(target, manifest.ids[one], one)
            for one in same
            if manifest.languages[manifest.language[one]] == target
        ]

    def shown(self, member: Member, *, query: bool) -> dict[str, str | None]:
        """Return language, id, text and image path of a text or an image, which has no language."""
        manifest, slot = self.manifest, int(self.manifest.image[member.row])
        source = manifest.image_source[slot] if slot >= 0 else None
        first = source[0] if isinstance(source, tuple) else source
        image = str(first) if isinstance(first, Path) else None
        if member.language == IMAGE:
            return {"language": None, "id": member.id, "text": None, "image": image}
        return {
            "language": member.language,
            "id": member.id,
            "text": manifest.text[member.row],
            "image": image,
        }


class _PoolTexts:
    """The texts of a pool; with `bare` questions are named by their ids alone."""

    def __init__(self, pool: MultilingualPool, bare: bool) -> None:
        self.pool, self.bare = pool, bare

    @cached_property
    def _rows(self) -> dict[str, int]:
        tags, questions = self.pool.languages, self.pool.questions
        names = zip(questions.language.tolist(), questions.ids, strict=True)
        return {own if self.bare else f"{tags[code]}/{own}": row for row, (code, own) in enumerate(names)}

    def find(self, language: str, own: str, item: str | None) -> Member | None:
        """Return the question that the table of queries calls "ar/ID", or "ID"."""
        row, questions = self._rows.get(own), self.pool.questions
        if row is None:
            return None
        return Member(self.pool.languages[questions.language[row]], questions.ids[row], row)

    def right(self, query: Member, row: Mapping[str, Any]) -> list[Member]:
        """Return the right answers of a question."""
        question, candidate = self.pool.relevant
        part = self.pool.candidates
        own = candidate[np.searchsorted(question, query.row) : np.searchsorted(question, query.row, "right")]
        return [Member(self.pool.languages[part.language[c]], part.ids[c], c) for c in own.tolist()]

    def shown(self, member: Member, *, query: bool) -> dict[str, str | None]:
        """Return language, id and text of a question or a candidate."""
        part = self.pool.questions if query else self.pool.candidates
        return {"language": member.language, "id": member.id, "text": part.text[member.row], "image": None}


def _line(row: Mapping[str, Any], found: _Found | None, texts: _Texts | _PoolTexts) -> dict[str, Any]:
    """Return a failure as a line of the table."""
    if found is None:
        query = texts.find(row["source"], row["query"], row["item"])
        retrieved = row["retrieved"]
        first = None if retrieved is None else texts.find(row["target"], retrieved, None)
        right = [] if query is None else texts.right(query, row)
    else:
        query, first, right = found.query, found.first, list(found.right)
    known = [one for one in right if query is not None and one.language == query.language]
    parts = {"query": query, "retrieved": first, "right": next(iter(known or right), None)}
    line = {name: row[name] for name in ("task", *_KEYS, "measure", "value", "tied", "item")}
    line |= {"rank": None if row["above"] is None else row["above"] + 1, "rights": len(right)}
    for part, member in parts.items():
        if member is not None:
            shown = texts.shown(member, query=part == "query")
            line |= {f"{part}_{name}": value for name, value in shown.items()}
    return line
