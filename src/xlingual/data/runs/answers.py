"""Answers of Elasticsearch and OpenSearch (`_msearch`, `_search`) as the lines of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xlingual.data.runs.lines import RunLines, ranks_of
from xlingual.data.runs.records import latencies, numbers
from xlingual.errors import InputError, warn

_ID_OF_REQUEST = "the file of the queries' ids, one on a line, in the order of the request"


def is_answer(found: object) -> bool:
    """Return whether parsed JSON is what `_msearch` answers."""
    return isinstance(found, Mapping) and isinstance(found.get("responses"), list)


def answer_lines(path: Path, found: Mapping[str, Any], ids: str | Path | None) -> RunLines:
    """Return the hits of each response; the i-th response is of the i-th id.

    A response that is an error has no results, and a warning counts them.
    """
    import pyarrow as pa

    responses = found["responses"]
    names = _ids(path, ids, len(responses))
    query: list[str] = []
    candidate: list[str] = []
    score: list[float] = []
    lists = [_hits(one) for one in responses]
    failed = [name for name, hits in zip(names, lists, strict=True) if hits is None]
    given = [hits or [] for hits in lists]
    unscored = [
        name
        for name, hits in zip(names, given, strict=True)
        if any(hit.get("_score") is None for hit in hits)
    ]
    for name, hits in zip(names, given, strict=True):
        if any(hit.get("_id") is None for hit in hits):
            raise InputError(f"{path}: a hit of query {name!r} has no _id: ask for the hits' ids")
        query += [name] * len(hits)
        candidate += [str(hit.get("_id")) for hit in hits]
        score += _ranks(hits) if unscored else [hit["_score"] for hit in hits]
    if failed:
        warn(
            f"{path}: {len(failed):,} of {len(responses):,} responses are errors (first: {failed[0]!r}): "
            "these queries have no results"
        )
    if 0 < len(unscored) < sum(map(bool, given)):
        warn(
            f"{path}: {len(unscored):,} of {len(responses):,} responses have no scores (first: "
            f"{unscored[0]!r}): ranks count for all"
        )
    took = ((name, one["took"]) for name, one in zip(names, responses, strict=True) if _timed(one))
    value = numbers(str(path), score)
    return RunLines(
        pa.array(query, pa.string()),
        pa.array(candidate, pa.string()),
        None if unscored else value,
        value if unscored else None,
        latencies(str(path), took),
    )


def _timed(response: Any) -> bool:  # noqa: ANN401  (of JSON)
    """Return whether a response says how many milliseconds it took."""
    return isinstance(response, Mapping) and isinstance(response.get("took"), int | float)


def _hits(response: Any) -> list[dict[str, Any]] | None:  # noqa: ANN401  (of JSON)
    """Return the hits of a response, None where it is an error."""
    inner = response.get("hits") if isinstance(response, Mapping) else None
    hits = inner.get("hits") if isinstance(inner, Mapping) else None
    whole = isinstance(hits, list) and all(isinstance(hit, Mapping) for hit in hits)
    return hits if whole and "error" not in response else None


def _ranks(hits: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the rank of each hit: by its score, or where there is none (sorted by a field) its place."""
    scores = [hit.get("_score") for hit in hits]
    if any(score is None for score in scores):
        return [float(place) for place in range(1, len(hits) + 1)]
    return ranks_of(numbers("answers of _msearch", scores))


def _ids(path: Path, ids: str | Path | None, count: int) -> list[str]:
    if ids is None:
        raise InputError(
            f"{path}: answers of _msearch do not say which query they are of: add ids=FILE, {_ID_OF_REQUEST}"
        )
    try:
        names = [line.strip() for line in Path(ids).read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{ids}: cannot be read as {_ID_OF_REQUEST}: {error}") from None
    names = [name for name in names if name]
    if twice := next((name for name, times in Counter(names).items() if times > 1), None):
        raise InputError(f"{ids}: {twice!r} is there twice: a query is searched once; give {_ID_OF_REQUEST}")
    if len(names) != count:
        raise InputError(f"{path} has {count:,} responses, {ids} {len(names):,} ids: give {_ID_OF_REQUEST}")
    return names
