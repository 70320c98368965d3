"""The best and worst queries: which ones are shown, and their images as data."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Card, Cards, Fold, Group, Heading, Text
from xlingual.report.leaders import BoardRow
from xlingual.results import Results
from xlingual.tasks import Task

KINDS = ("best", "worst")

MOST_EACH = 5  # best and worst queries of a pair
MOST_ENCODERS = 3
MOST_FOLDS = 4  # pairs below each other; more are one table
MOST_SAMPLES = 3
SAMPLE_CHARS = 90
MOST_BYTES = 1_500_000  # of images in one page; written as text they take a third more
TYPES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


def chosen(
    runs: Sequence[Results],
    task: Task,
    rows: Sequence[BoardRow],
    budget: int,
    values: Mapping[tuple[str, str], str],
) -> tuple[list[Block], int]:
    """Return the examples of the leading encoders, a fold for each pair, and the bytes of images they hold.

    `values`: the leader's number of a pair, in words. The leading encoder's examples are thinned until their
    images fit into `budget` bytes; those of the next ones are shown where they fit whole.
    """
    by_encoder = _by_encoder(runs, task.name, rows)
    picked: list[tuple[str, list[dict[str, Any]]]] = []
    used = 0
    for label, records in by_encoder[:MOST_ENCODERS]:
        most = MOST_EACH
        while not picked and most > 1 and _image_bytes(records, most) > budget:
            most -= 1
        weight = _image_bytes(records, most)
        if picked and used + weight > budget:
            break
        picked.append((label, [record for record in records if record["place"] < most]))
        used += weight
    return _folds(picked, task, budget, values), min(used, budget)


def samples(runs: Sequence[Results]) -> list[Text]:
    """Return some queries with different images, as what the data look like."""
    found: dict[bytes, Text] = {}
    for run in runs:
        for record in [] if run.examples is None else run.examples.to_pylist():
            content, language = record.get("query_picture"), record.get("source")
            uri = None if len(found) == MOST_SAMPLES else data_uri(content)
            if uri and content not in found and record.get("position") == 0:
                text = record["query_text"] or ""
                cut = text if len(text) <= SAMPLE_CHARS else f"{text[:SAMPLE_CHARS]}…"
                found[content] = Text(language, cut, image=uri)
    return list(found.values())


def data_uri(content: bytes | None) -> str | None:
    """Return PNG or JPEG bytes as a data: URI, or None for anything else."""
    for magic, kind in TYPES.items():
        if content and content.startswith(magic):
            return f"data:{kind};base64,{b64encode(content).decode('ascii')}"
    return None


def rank_text(task: Task, above: int, tied: int, pool: int) -> str:
    """Return where the query's own image or match came.

    >>> from xlingual.tasks import TASKS
    >>> bkr, xlr = TASKS["backretrieval"], TASKS["crosslingual-retrieval"]
    >>> rank_text(bkr, 0, 1, 365), rank_text(xlr, 4, 3, 365)
    ('own image ranked 1 of 365', 'own match ranked 5–7 of 365 (tied)')
    """
    place = numbers.count(above + 1)
    if tied > 1:
        return f"{task.own} ranked {place}–{numbers.count(above + tied)} of {numbers.count(pool)} (tied)"
    return f"{task.own} ranked {place} of {numbers.count(pool)}"


def _by_encoder(
    runs: Sequence[Results], task: str, rows: Sequence[BoardRow]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the records of each encoder that has some, in the order of the rows."""
    tables = [_records(run, task) for run in runs]
    labels: dict[tuple[int, str], str] = {}
    for row in rows:
        labels.setdefault((row.run, row.encoder), row.label)
    listed = [
        (label, [record for record in tables[run - 1] if record["encoder"] == encoder])
        for (run, encoder), label in labels.items()
    ]
    return [(label, records) for label, records in listed if records]


def _records(run: Results, task: str) -> list[dict[str, Any]]:
    """Return the examples of a task from the first seed.

    `place` counts within encoder, pair and kind.
    """
    listed = [] if run.examples is None else run.examples.to_pylist()
    records = [record for record in listed if record["task"] == task and record["kind"] in KINDS]
    first = min((record["seed"] for record in records), default=0)
    records = [record for record in records if record["seed"] == first]
    seen: Counter[tuple[str, ...]] = Counter()
    records.sort(key=itemgetter("position"))
    for record in records:
        key = itemgetter("encoder", "source", "target", "kind")(record)
        record["place"] = seen[key]
        seen[key] += 1
    return records


def _image_bytes(records: list[dict[str, Any]], most: int) -> int:
    shown = [record for record in records if record["place"] < most]
    return sum(
        len(record[name] or b"") for record in shown for name in ("query_picture", "retrieved_picture")
    )


def _folds(
    picked: list[tuple[str, list[dict[str, Any]]]],
    task: Task,
    budget: int,
    values: Mapping[tuple[str, str], str],
) -> list[Block]:
    """Return the examples under a heading: a fold for each pair, in it one for each further encoder.

    Many pairs behind the first are one table, which one line opens.
    """
    image = _image_uris(budget)
    pairs: dict[tuple[str, str], dict[str, dict[str, list[Card]]]] = {}
    for label, records in picked:
        for record in records:
            pair = pairs.setdefault((record["source"], record["target"]), {})
            kinds = pair.setdefault(label, {kind: [] for kind in KINDS})
            kinds[record["kind"]].append(_card(record, task, image))
    folds: list[Block] = []
    for pair_of, encoders in pairs.items():
        first, *others = (
            (label, Cards([(kind.capitalize(), found) for kind, found in kinds.items() if found]))
            for label, kinds in encoders.items()
        )
        inner: list[Block] = [Heading(first[0], data=True), first[1]]
        inner += [Fold(label, [cards], data=True) for label, cards in others]
        folds.append(Fold(words.pair(*pair_of), inner, values.get(pair_of, ""), open=not folds))
    if len(folds) > MOST_FOLDS:
        table = Group("parts", folds[1:])
        folds = [folds[0], Fold(f"The other {len(folds) - 1} language pairs", [table], "one line each")]
    return [Heading("Best and worst queries"), *folds] if folds else []


def _card(record: dict[str, Any], task: Task, image: Callable[[bytes | None], str | None]) -> Card:
    query, retrieved = (
        Text(
            record[language],
            record[f"{what}_text"] or "",
            what,
            image=image(record[f"{what}_picture"]),
            with_image=True,
        )
        for what, language in (("query", "source"), ("retrieved", "target"))
    )
    note = rank_text(task, record["above"], record["tied"], record["pool"])
    if record["similarity"] is not None:
        note += f" · similarity of the images {numbers.number(record['similarity'])}"
    return Card(query, [retrieved], note)


def _image_uris(budget: int) -> Callable[[bytes | None], str | None]:
    """Return a function that gives data: URIs until the budget of bytes is used up."""
    left = budget

    def image(content: bytes | None) -> str | None:
        nonlocal left
        if content is None or len(content) > left:
            return None
        uri = data_uri(content)
        left -= len(content) if uri else 0
        return uri

    return image
