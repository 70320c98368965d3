"""The numbers of a result beside those that came out again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError, listed, parameter
from xlingual.results import Results
from xlingual.results.digest import findings_of
from xlingual.results.made import Made
from xlingual.results.verification import Difference
from xlingual.signature import Signature

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHOWN = 10  # differences
_KEYS = ("task", "encoder", "source", "target", "measure", "seed", "query")
_VALUES = ("above", "tied", "value")
_TOLERANCE = 1e-9  # of a mean of queries, whose sum is taken in another order here


@dataclass(frozen=True)
class Compared:
    """How many numbers were compared, how many are others, the first of these, and what was left out."""

    n: int
    n_different: int
    first: list[Difference]
    problems: list[str] = field(default_factory=list)


def compare(made: Made, again: Made) -> Compared:
    """Compare all numbers of two files, those of the queries of an evaluation, and who was evaluated."""
    old, new = (dict(_leaves(findings_of(_content(one.path)), "")) for one in (made, again))
    if made.provenance is not None:  # earlier versions did not keep who was evaluated
        old, new = ({**kept, **_encoders(one)} for kept, one in ((old, made), (new, again)))
    names = list(dict.fromkeys([*old, *new]))
    other = [
        Difference(name, _text(old, name), _text(new, name))
        for name in names
        if old.get(name, ...) != new.get(name, ...)
    ]
    if not other and made.digest != again.digest:  # then it is in the table of queries
        rows = _rows_compared(Results.read(made.path), Results.read(again.path))
        return Compared(len(names) + rows.n, max(rows.n_different, 1), rows.first or _ELSEWHERE)
    return Compared(len(names), len(other), other[:MOST_SHOWN])


def _encoders(made: Made) -> dict[str, Any]:
    """Return the identities of the encoders that a file names."""
    known = [] if made.provenance is None else made.provenance.encoders
    return {f"identity of {one.role} encoder {one.name!r}": str(one.identity) for one in known}


_ELSEWHERE = [Difference("per_query.parquet", "other rows", "other rows")]


def _content(path: Path) -> Any:  # noqa: ANN401  (what JSON holds)
    return json.loads(path.read_text(encoding="utf-8"))


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  (what JSON holds)
    """Yield every number and text with its place; rows of results are named by what they are of."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _leaves(part, f"{name}[{_row_name(part) or place}]")
    else:
        yield name, value


def _row_name(row: Any) -> str:  # noqa: ANN401
    if not isinstance(row, Mapping) or "encoder" not in row or "measure" not in row:
        return ""
    pair = f"{row.get('source')}-{row.get('target')}" if row.get("source") else "mean"
    parts = [row["encoder"], row["measure"], pair, *([f"seed {row['seed']}"] if "seed" in row else [])]
    return ", ".join(map(str, parts))


def _text(found: Mapping[str, Any], name: str) -> str:
    return json.dumps(found[name], ensure_ascii=False) if name in found else "nothing"


def compare_sample(made: Made, again: Made) -> Compared:
    """Compare the rows of the queries that were ranked again, and the kept numbers with the kept rows.

    Encoders whose vectors depend on all texts that are encoded (by their words' frequencies, say) have other
    ones here: they are left out, and named.
    """
    old, new = (Results.read(one.path) for one in (made, again))
    kept, now = (_systems(one) for one in (old, new))
    same = [name for name in kept if kept[name] == now.get(name)]
    other = [name for name in kept if name not in same]
    if not same:
        raise InputError(
            f"{parameter('sample')}: the vectors of {listed(other)} depend on all texts that are encoded: "
            "verify the result whole"
        )
    rows = _rows_compared(old.only(*same), new.only(*same), part=True)
    means = _means_compared(old)
    left_out = f"{listed(other)} cannot be verified by a sample: their vectors depend on all texts"
    first = [*means.first, *rows.first][:MOST_SHOWN]
    return Compared(
        rows.n + means.n, rows.n_different + means.n_different, first, [left_out] if other else []
    )


def _systems(results: Results) -> dict[str, set[tuple[tuple[str, str], ...]]]:
    """Return what identifies each encoder, over all language pairs."""
    found: dict[str, set[tuple[tuple[str, str], ...]]] = {}
    for entry in results.entries:
        system = Signature.parse(entry.signature).system
        found.setdefault(entry.encoder, set()).add(tuple(sorted(system.items())))
    return found


def _rows_compared(old: Results, new: Results, *, part: bool = False) -> Compared:
    """Compare rows of queries; with `part` the second results have some of the queries of the first."""
    kept, found = (_by_query(one.per_query) for one in (old, new))
    keys = found.keys() if part else dict.fromkeys([*kept, *found])
    other = [
        Difference(", ".join(map(str, key)), _row_text(kept.get(key)), _row_text(found.get(key)))
        for key in keys
        if kept.get(key) != found.get(key)
    ]
    return Compared(len(keys), len(other), other[:MOST_SHOWN])


def _row_text(row: tuple[Any, ...] | None) -> str:
    if row is None:
        return "nothing"
    known = (f"{name} {value}" for name, value in zip(_VALUES, row, strict=True) if value is not None)
    return ", ".join(known)


def _by_query(table: pa.Table) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return (above, tied, value) of each row, by what it is of."""
    columns = [table[name].to_pylist() for name in (*_KEYS, *_VALUES)]
    return {row[: len(_KEYS)]: row[len(_KEYS) :] for row in zip(*columns, strict=True)}


def _means_compared(results: Results) -> Compared:
    """Compare each number with what the rows of its queries give."""
    from xlingual.measures import parse_measure

    values: dict[tuple[Any, ...], list[float]] = {}
    names = ("encoder", "source", "target", "measure", "seed", "value")
    columns = (results.per_query[name].to_pylist() for name in names)
    for *key, value in zip(*columns, strict=True):
        if value is not None:
            values.setdefault(tuple(key), []).append(value)
    known = [
        (entry, own)
        for entry in results.entries
        if entry.value is not None
        and (own := values.get((entry.encoder, entry.source, entry.target, entry.measure, entry.seed)))
    ]
    other = []
    for entry, own in known:
        mean = _mean(parse_measure(entry.measure), own)
        if abs(mean - (entry.value or 0.0)) > _TOLERANCE:
            what = f"{entry.encoder}, {entry.measure}, {entry.source}-{entry.target}, seed {entry.seed}"
            other.append(Difference(f"mean of the queries: {what}", str(entry.value), str(mean)))
    return Compared(len(known), len(other), other[:MOST_SHOWN])


def _mean(measure: Any, values: Sequence[float]) -> float:  # noqa: ANN401  (a measure)
    import numpy as np

    return float(measure.aggregate(np.array(values)))
