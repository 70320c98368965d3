"""Answers of Elasticsearch and OpenSearch (`_msearch`, `_search`) as the lines of a run."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xlingual.data.runs.lines import RunLines, ranks_of
from xlingual.data.runs.records import latencies, numbers
from xlingual.errors import InputError, listed, warn

_ID_OF_REQUEST = "the file of the queries' ids, one on a line, in the order of the request"
_START = 10_000  # bytes, in which "responses" stands; before it are times and counts alone
_SPACE = re.compile(r"\s*")


def is_answer(found: object) -> bool:
    """Return whether parsed JSON is what `_msearch` answers."""
    return isinstance(found, Mapping) and isinstance(found.get("responses"), list)


def refuse_error(where: str, found: object) -> None:
    """Raise InputError where parsed JSON is what an engine says of a request that failed as a whole."""
    if isinstance(found, Mapping) and "error" in found and isinstance(found.get("status"), int):
        reason = json.dumps(found["error"], ensure_ascii=False)
        raise InputError(
            f"{where} is an error of the engine, no answer: {reason:.120}: send that request again"
        )


def several_answers(path: Path, raw: bytes) -> list[Mapping[str, Any]] | None:
    """Return the answers of several requests, one after the other; None where the first is none."""
    if b'"responses"' not in raw.lstrip()[:_START]:
        return None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8: write the file as UTF-8") from None
    found: list[Mapping[str, Any]] = []
    place, decoder = _next(text, 0), json.JSONDecoder()
    while place < len(text):
        where = f"{path}: answer {len(found) + 1}"
        try:
            one, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{where} is not whole: {error}: write each answer of _msearch as a line"
            ) from None
        refuse_error(where, one)
        if not is_answer(one):
            if not found:
                return None
            raise InputError(f'{where} is none of _msearch: expected {{"responses": […]}}')
        found.append(one)
        place = _next(text, end)
    return found


def _next(text: str, place: int) -> int:
    """Return where the next character stands that is no white space."""
    return _SPACE.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing too


def answer_lines(path: Path, answers: Sequence[Mapping[str, Any]], ids: str | Path | None) -> RunLines:
    """Return the hits of each response; the i-th response of all answers is of the i-th id.

    A response that is an error has no results, one that timed out or whose shards failed may lack some, and
    warnings count them.
    """
    import pyarrow as pa

    responses = [one for answer in answers for one in answer["responses"]]
    names = _ids(path, ids, len(responses), len(answers))
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
    _warn_of_partial(path, names, responses)
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


def _warn_of_partial(path: Path, names: Sequence[str], responses: Sequence[Any]) -> None:
    """Count the responses that hold what a part of the index returned, or was found until time was out."""
    answered = [(name, one) for name, one in zip(names, responses, strict=True) if _hits(one) is not None]
    late = [name for name, response in answered if response.get("timed_out") is True]
    cut = [name for name, response in answered if _failed_shards(response)]
    parts = {*late, *cut}
    if not parts:
        return
    first = next(name for name, _ in answered if name in parts)
    counts = (late, "timed out"), (cut, "with failed shards")
    reasons = listed(f"{len(own):,} {what}" for own, what in counts if own)
    warn(
        f"{path}: {len(parts):,} of {len(responses):,} responses hold partial results ({reasons}; first: "
        f"{first!r}): what they lack counts as missed; search for these queries again"
    )


def _failed_shards(response: Mapping[str, Any]) -> bool:
    shards = response.get("_shards")
    failed = shards.get("failed") if isinstance(shards, Mapping) else None
    return isinstance(failed, int | float) and failed > 0


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


def _ids(path: Path, ids: str | Path | None, count: int, n_answers: int) -> list[str]:
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
        of = f" in {n_answers:,} answers" if n_answers > 1 else ""
        what = f"{path} has {count:,} responses{of}, {ids} {len(names):,} ids: "
        if count < len(names):
            raise InputError(
                f"{what}{len(names) - count:,} responses are missing; where several requests were sent, give "
                "the answers of all, in their order, each a line of one file"
            )
        raise InputError(f"{what}give {_ID_OF_REQUEST}")
    return names
