"""The texts that are shown of a multilingual pool: the largest hubs, and the worst questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xlingual.report import numbers
from xlingual.report.multilingual_pool import wording
from xlingual.report.multilingual_pool.reading import Seen
from xlingual.results import Results

MOST_ENCODERS = 3
MOST_HUBS = 5
MOST_QUESTIONS = 5
MOST_ABOVE = 5
MOST_ANSWERS = 2
MOST_LETTERS = 400  # of a text: a candidate may come with a whole paragraph


@dataclass(frozen=True)
class Said:
    """A text in its language, and what is to be said of it."""

    language: str
    text: str
    remark: str
    kind: str = ""  # "answer" or "above" in a ranking


@dataclass(frozen=True)
class Question:
    """A question and what was ranked: wrong candidates above its answers, then answers."""

    asked: Said
    ranked: list[Said]


def hubs(runs: Sequence[Results], found: Sequence[Seen]) -> list[tuple[str, list[Said]]]:
    """Return the largest hubs of the leading encoders, the most frequent first."""
    shown = []
    for one, rows in _own(runs, found, "hubs"):
        rows = sorted(rows, key=lambda row: -row["count"])[:MOST_HUBS]
        shown.append((one.row.label, [_hub(row) for row in rows]))
    return shown[:MOST_ENCODERS]


def worst(runs: Sequence[Results], found: Sequence[Seen]) -> list[tuple[str, list[Question]]]:
    """Return the worst questions of the leading encoders, with what stood above their answers."""
    shown = []
    for one, rows in _own(runs, found, "worst"):
        questions: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            questions.setdefault((row["question_id"], row["question_language"]), []).append(row)
        shown.append((one.row.label, [_question(own) for own in list(questions.values())[:MOST_QUESTIONS]]))
    return shown[:MOST_ENCODERS]


def _own(
    runs: Sequence[Results], found: Sequence[Seen], name: str
) -> list[tuple[Seen, list[dict[str, Any]]]]:
    """Return the rows of a table for each encoder that has some."""
    tables = {
        place: run.tables[name].to_pylist() if name in run.tables else [] for place, run in enumerate(runs, 1)
    }
    both = [(one, [row for row in tables[one.row.run] if row["encoder"] == one.row.encoder]) for one in found]
    return [(one, rows) for one, rows in both if rows]


def _hub(row: dict[str, Any]) -> Said:
    answers = row.get("relevant_to")
    right = "" if answers is None else f", relevant to {'none' if answers == 0 else numbers.count(answers)}"
    often = numbers.count(round(row["count"]))
    expected = wording.amount(row["expected"])
    return Said(
        row["language"], _cut(row["text"]), f"found by {often} questions ({expected} expected){right}"
    )


def _question(rows: list[dict[str, Any]]) -> Question:
    first = rows[0]
    place = f", its best answer at rank {_rank(first['rank_of_best'])}" if first.get("rank_of_best") else ""
    asked = Said(
        first["question_language"], _cut(first["question"]), f"AP {numbers.number(first['value'])}{place}"
    )
    rows = sorted(rows, key=lambda row: row["place"])
    above = [row for row in rows if row["kind"] == "above"]
    answers = [row for row in rows if row["kind"] == "answer"]
    ranked = [
        Said(row["candidate_language"], _cut(row["candidate"]), _rank(row["place"]), row["kind"])
        for row in (*above[:MOST_ABOVE], *answers[:MOST_ANSWERS])
    ]
    return Question(asked, ranked)


def _rank(place: float) -> str:
    """Return a rank, with a decimal only where a tie makes it a mean."""
    return numbers.count(round(place)) if float(place).is_integer() else f"{place:,.1f}"


def _cut(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
