"""The best and worst queries: which ones are shown, and their images as data."""

from __future__ import annotations

from base64 import b64encode
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

    `values`: the leader's number of a pair, in words. Of each encoder, pair and kind the first
    `MOST_EACH` are shown, from the first seed. Images are left out where they would exceed `budget` bytes.
    """
    image, spent = _images(budget)
    listed = [[] if run.examples is None else run.examples.to_pylist() for run in runs]
    pairs: dict[tuple[str, str], dict[str, dict[str, list[Card]]]] = {}
    labels: dict[tuple[int, str], str] = {}
    for row in rows:
        if any(record["encoder"] == row.encoder for record in listed[row.run - 1]):
            labels.setdefault((row.run, row.encoder), row.label)
    for (run, encoder), label in list(labels.items())[:MOST_ENCODERS]:
        records = [
            record for record in listed[run - 1] if record["task"] == task.name and record["kind"] in KINDS
        ]
        first = min((record["seed"] for record in records), default=0)
        for record in sorted(records, key=itemgetter("position")):
            if record["encoder"] == encoder and record["seed"] == first:
                of_pair = pairs.setdefault((record["source"], record["target"]), {})
                cards = of_pair.setdefault(label, {kind: [] for kind in KINDS})[record["kind"]]
                if len(cards) < MOST_EACH:
                    cards.append(_card(record, task, image))
    folds: list[Block] = []
    for pair, encoders in pairs.items():
        shown = [
            (label, Cards([(kind.capitalize(), cards) for kind, cards in kinds.items() if cards]))
            for label, kinds in encoders.items()
        ]
        inner: list[Block] = [Heading(shown[0][0], data=True), shown[0][1]]
        inner += [Fold(label, [cards], data=True) for label, cards in shown[1:]]
        folds.append(Fold(words.pair(*pair), inner, values.get(pair, ""), open=not folds))
    if len(folds) > MOST_FOLDS:
        table = Group("parts", folds[1:])
        folds = [folds[0], Fold(f"The other {len(folds) - 1} language pairs", [table], "one line each")]
    return [Heading("Best and worst queries"), *folds] if folds else [], sum(spent)


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
    above, tied = record["above"], record["tied"]
    last = f"–{numbers.count(above + tied)}" if tied > 1 else ""
    note = f"{task.own} ranked {numbers.count(above + 1)}{last} of {numbers.count(record['pool'])}"
    note += " (tied)" if tied > 1 else ""
    if record["similarity"] is not None:
        note += f" · similarity of the images {numbers.number(record['similarity'])}"
    return Card(query, [retrieved], note)


def _images(budget: int) -> tuple[Callable[[bytes | None], str | None], list[int]]:
    """Return a function that gives data: URIs until the budget of bytes is used up, and the bytes used."""
    spent: list[int] = []

    def image(content: bytes | None) -> str | None:
        if content is None or sum(spent) + len(content) > budget or not (uri := data_uri(content)):
            return None
        spent.append(len(content))
        return uri

    return image, spent
