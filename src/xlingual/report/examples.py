"""The best and worst queries: which ones are shown, and their pictures as data."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Card, Cards, Fold, Heading, Text
from xlingual.report.leaders import Row
from xlingual.results import Results
from xlingual.tasks import Task

Kind: TypeAlias = Literal["best", "worst"]
HEADINGS = {"best": "Best", "worst": "Worst"}
KINDS: tuple[Kind, ...] = ("best", "worst")

MOST_EACH = 5  # best and worst queries of a pair
MOST_ENCODERS = 3
MOST_BYTES = 1_500_000  # of pictures in one page; written as text they take a third more
TYPES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


def chosen(runs: Sequence[Results], task: Task, rows: Sequence[Row], budget: int) -> tuple[list[Block], int]:
    """Return the examples of the leading encoders, a fold for each pair, and the bytes of pictures they hold.

    The leading encoder's examples are thinned until their pictures fit into `budget` bytes; those of the next
    ones are shown where they fit whole.
    """
    by_encoder = _by_encoder(runs, task.name, rows)
    picked: list[tuple[str, list[dict[str, Any]]]] = []
    used = 0
    for label, records in by_encoder[:MOST_ENCODERS]:
        most = MOST_EACH
        while not picked and most > 1 and _weight(records, most) > budget:
            most -= 1
        weight = _weight(records, most)
        if picked and used + weight > budget:
            break
        picked.append((label, [record for record in records if record["place"] < most]))
        used += weight
    return _arranged(picked, task, budget), min(used, budget)


def data_uri(content: bytes | None) -> str | None:
    """Return PNG or JPEG bytes as a data: URI, or None for anything else."""
    for magic, kind in TYPES.items():
        if content and content.startswith(magic):
            return f"data:{kind};base64,{b64encode(content).decode('ascii')}"
    return None


def rank_text(task: Task, above: int, tied: int, pool: int, *, at_best: bool = False) -> str:
    """Return where the query's own picture or match came; `at_best`: a search may have missed some above it.

    >>> from xlingual.tasks import TASKS
    >>> bkr, xlr = TASKS["backretrieval"], TASKS["crosslingual-retrieval"]
    >>> rank_text(bkr, 0, 1, 365), rank_text(xlr, 4, 3, 365)
    ('own picture ranked 1 of 365', 'own match ranked 5–7 of 365 (tied)')
    >>> rank_text(bkr, 20, 1, 40_000, at_best=True)
    'own picture ranked 21 at best, of 40,000'
    """
    place = numbers.count(above + 1)
    if at_best:
        return f"{task.own} ranked {place} at best, of {numbers.count(pool)}"
    if tied > 1:
        return f"{task.own} ranked {place}–{numbers.count(above + tied)} of {numbers.count(pool)} (tied)"
    return f"{task.own} ranked {place} of {numbers.count(pool)}"


def _by_encoder(
    runs: Sequence[Results], task: str, rows: Sequence[Row]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the records of each encoder that has some, in the order of the rows."""
    tables: Mapping[int, list[dict[str, Any]]] = {
        place: _records(run, task) for place, run in enumerate(runs, start=1)
    }
    found: dict[tuple[int, str], str] = {}
    for row in rows:
        found.setdefault((row.run, row.encoder), row.label)
    listed = [
        (label, [record for record in tables[run] if record["encoder"] == encoder])
        for (run, encoder), label in found.items()
    ]
    return [(label, records) for label, records in listed if records]


def _records(run: Results, task: str) -> list[dict[str, Any]]:
    """Return the examples of a task from the first seed.

    `place` counts within encoder, pair and kind; `searched`: ranks are lower bounds, by a search.
    """
    if run.examples is None:
        return []
    records = [record for record in run.examples.to_pylist() if record["task"] == task]
    records = [record for record in records if record["kind"] in KINDS]
    first = min((record["seed"] for record in records), default=0)
    records = [record for record in records if record["seed"] == first]
    records.sort(key=lambda record: record["position"])
    searched = {
        (entry.encoder, entry.source, entry.target)
        for entry in run.entries
        if entry.task == task and entry.approximation is not None
    }
    seen: dict[tuple[str, ...], int] = {}
    for record in records:
        key = tuple(record[name] for name in ("encoder", "source", "target", "kind"))
        record["place"] = seen.get(key, 0)
        record["searched"] = key[:3] in searched
        seen[key] = record["place"] + 1
    return records


def _weight(records: list[dict[str, Any]], most: int) -> int:
    shown = [record for record in records if record["place"] < most]
    return sum(
        len(record[name] or b"") for record in shown for name in ("query_picture", "retrieved_picture")
    )


def _arranged(picked: list[tuple[str, list[dict[str, Any]]]], task: Task, budget: int) -> list[Block]:
    """Return the examples under a heading: a fold for each pair, in it one for each further encoder."""
    picture = _within(budget)
    pairs: dict[str, dict[str, dict[str, list[Card]]]] = {}
    for label, records in picked:
        for record in records:
            pair = pairs.setdefault(words.pair(record["source"], record["target"]), {})
            kinds = pair.setdefault(label, {kind: [] for kind in KINDS})
            kinds[record["kind"]].append(_card(record, task, picture))
    folds: list[Block] = [
        Fold(name, list(_of_pair(encoders)), open=place == 0)
        for place, (name, encoders) in enumerate(pairs.items())
    ]
    return [Heading("Best and worst queries"), *folds] if folds else []


def _of_pair(encoders: Mapping[str, Mapping[str, list[Card]]]) -> Iterator[Block]:
    for place, (label, kinds) in enumerate(encoders.items()):
        cards = Cards([(HEADINGS[kind], found) for kind, found in kinds.items() if found])
        if place == 0:
            yield Heading(label, data=True)
            yield cards
        else:
            yield Fold(label, [cards], data=True)


def _card(record: dict[str, Any], task: Task, picture: Callable[[bytes | None], str | None]) -> Card:
    query, retrieved = (
        Text(
            record[language],
            record[f"{what}_text"] or "",
            what,
            image=picture(record[f"{what}_picture"]),
            pictured=True,
        )
        for what, language in (("query", "source"), ("retrieved", "target"))
    )
    note = rank_text(task, record["above"], record["tied"], record["pool"], at_best=record["searched"])
    if record["similarity"] is not None:
        note += f" · similarity of the pictures {numbers.number(record['similarity'])}"
    return Card(query, [retrieved], note)


def _within(budget: int) -> Callable[[bytes | None], str | None]:
    """Return a function that gives data: URIs until the budget of bytes is used up."""
    left = budget

    def picture(content: bytes | None) -> str | None:
        nonlocal left
        if content is None or len(content) > left:
            return None
        uri = data_uri(content)
        left -= len(content) if uri else 0
        return uri

    return picture
