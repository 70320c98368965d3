"""Tables of what a person reads: points of the picture, hubs, the worst questions and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.arrow import from_numpy, from_strings, scalar, table_of
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.encoder_views import EncoderFindings
from xlingual.evaluation.multilingual_pool.lists import Named
from xlingual.evaluation.multilingual_pool.one_pass import PoolCounts
from xlingual.evaluation.multilingual_pool.space_picture import ROLES, SpacePicture
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.perquery import looked_up, repeated, words_of
from xlingual.measures import PoolMeasure

if TYPE_CHECKING:
    import pyarrow as pa

MOST_WORST = 10  # questions
MOST_ABOVE = 5  # candidates that are shown above a question's answers

Rows = list[dict[str, Any]]


@dataclass
class PoolTables:
    """Collects what a person reads, encoder by encoder; texts only where `examples` are kept."""

    pool: MultilingualPool
    examples: bool
    measure: PoolMeasure  # by which the worst questions are found
    subject: Subject
    rows: dict[str, Rows] = field(default_factory=lambda: {"points": [], "worst": []})
    occurrences: list[pa.Table] = field(default_factory=list)
    answers: list[tuple[str, Ints, Ints, Ints, Ints]] = field(default_factory=list)

    def add(self, encoder: str, findings: EncoderFindings, values: Floats, *, answers: bool) -> None:
        """Add the rows of one encoder, whose questions have the `values` of the measure."""
        if answers:
            self.answers.append((encoder, *answer_lines(findings)))
        if findings.picture is not None:
            self.rows["points"] += point_rows(self.pool, encoder, findings.picture)
        if findings.hubs is not None:
            occurrences = findings.hubs.hubness.occurrences
            self.occurrences.append(occurrence_table(self.pool, encoder, occurrences))
        if findings.lines is not None and self.examples:
            found = worst_rows(
                self.pool, encoder, findings.counts, values, findings.lines, self.measure.higher_is_better
            )
            self.rows["worst"] += [{**row, "measure": self.measure.name} for row in found]

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables that have rows."""
        import pyarrow as pa

        schemas = _schemas()
        found = {name: table_of(rows, schemas[name]) for name, rows in self.rows.items() if rows}
        if self.answers:
            found["answers"] = self._answer_table()
        if self.occurrences:
            found["occurrences"] = pa.concat_tables(self.occurrences)
        return found

    def _answer_table(self) -> pa.Table:
        """Return where the answers stand: of several answers of a question each has a line."""
        import pyarrow as pa

        tags = self.pool.languages
        questions, candidates = (
            words_of([f"{tags[code]}/{name}" for code, name in zip(side.language, side.ids, strict=True)])
            for side in (self.pool.questions, self.pool.candidates)
        )
        lengths = [len(question) for _, question, *_ in self.answers]
        labels = ("multilingual-pool", None, self.subject.source, self.subject.target)
        columns = {
            name: repeated([label or encoder for encoder, *_ in self.answers], lengths)
            for name, label in zip(("task", "encoder", "source", "target"), labels, strict=True)
        }
        columns["seed"] = from_numpy(np.full(sum(lengths), self.subject.seed), pa.int64())
        question, candidate, above, tied = (
            np.concatenate(parts) for parts in list(zip(*self.answers, strict=True))[1:]
        )
        columns["query"], columns["answer"] = (
            looked_up(question, *questions),
            looked_up(candidate, *candidates),
        )
        for name, numbers in (("above", above), ("tied", tied)):
            columns[name] = from_numpy(numbers.astype(np.int64), pa.int64(), mask=above < 0)
        return pa.table(columns)


def answer_lines(findings: EncoderFindings) -> tuple[Ints, Ints, Ints, Ints]:
    """Return question, answer, and how many candidates are above it and tie with it; −1: not known."""
    counts = findings.counts
    whole, unknown = counts.whole_pool(), np.zeros(len(counts.question), dtype=bool)
    for flags in (counts.unlisted, counts.missed):
        unknown |= False if flags is None else flags
    rows = np.arange(len(unknown))
    if findings.choice.policy == "prefer-own":
        rows = np.flatnonzero(counts.answer_language == counts.asked_in)
    above, tied = (np.where(unknown, -1, of)[rows] for of in (whole.above, whole.tied))
    return counts.question[rows], counts.candidate[rows], above, tied


def _schemas() -> dict[str, pa.Schema]:
    """Return the columns of the tables `points` and `worst`."""
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    points = {"encoder": text, "language": text, "role": text, "x": number, "y": number, "text_id": text}
    worst = dict.fromkeys(("encoder", "question_id", "question_language", "question"), text)
    worst |= dict.fromkeys(("value", "rank_of_best", "place"), number)
    worst |= dict.fromkeys(("candidate_id", "candidate_language", "candidate"), text)
    worst |= {"relevant": pa.bool_(), "kind": text, "measure": text}
    return {"points": pa.schema(list(points.items())), "worst": pa.schema(list(worst.items()))}


def point_rows(pool: MultilingualPool, encoder: str, picture: SpacePicture) -> Rows:
    """Return a row for each point of an encoder's picture."""
    ids = (pool.questions.ids, pool.candidates.ids)
    return [
        {
            "encoder": encoder,
            "language": pool.languages[language],
            "role": ROLES[role],
            "x": float(x),
            "y": float(y),
            "text_id": ids[role][row],
        }
        for language, role, row, x, y in zip(
            picture.language.tolist(),
            picture.role.tolist(),
            picture.row.tolist(),
            picture.x,
            picture.y,
            strict=True,
        )
    ]


def occurrence_table(pool: MultilingualPool, encoder: str, occurrences: Floats) -> pa.Table:
    """Return how often each candidate [m] is among the first k, in the pool's order; without texts."""
    import pyarrow as pa

    c = pool.candidates
    tags = from_strings(pool.languages, pa.string())
    columns = {
        "encoder": pa.repeat(scalar(encoder, pa.string()), len(c)),
        "id": from_strings(c.ids, pa.string()),
        "language": tags.take(from_numpy(c.language)),
        "count": from_numpy(occurrences, pa.float64()),
    }
    return pa.table(columns)


def worst_rows(
    pool: MultilingualPool,
    encoder: str,
    counts: PoolCounts,
    values: Floats,
    lines: Named,
    higher_is_better: bool = True,
) -> Rows:
    """Return rows for the questions with the worst values [n], of different clusters, and their candidates.

    Rows of kind "above" are the first candidates, those of kind "answer" the best relevant one and the best
    one in the question's own language; `place` is the (mid-)rank, None where a search system did not return
    it.
    """
    order = np.argsort(values if higher_is_better else -values, kind="stable")
    order = order[~np.isnan(values[order])]
    _, first = np.unique(counts.cluster[order], return_index=True)
    chosen = order[np.sort(first)[:MOST_WORST]]
    whole = counts.whole_pool()
    place = whole.above + (whole.tied + 1) / 2
    if counts.unlisted is not None:
        place[counts.unlisted] = np.inf
    rows: Rows = []
    for question in chosen.tolist():
        own = np.flatnonzero(counts.question == question)
        rank_of_best = float(place[own].min())
        columns = {
            "encoder": encoder,
            "question_id": pool.questions.ids[question],
            "question_language": pool.languages[pool.questions.language[question]],
            "question": pool.questions.text[question],
            "value": float(values[question]),
            "rank_of_best": _known(rank_of_best),
        }
        answers = _answers(counts, question, own, place)
        at, candidate = _heading(lines, question, counts.candidate[own], rank_of_best)
        rows += [{**columns, **_shown(pool, c, p, "above")} for p, c in zip(at, candidate, strict=True)]
        rows += [
            {**columns, **_shown(pool, int(counts.candidate[i]), float(place[i]), "answer")} for i in answers
        ]
    return rows


def _answers(counts: PoolCounts, question: int, own: Ints, place: Floats) -> list[int]:
    """Return the lines of the best relevant candidate and of the best in the question's language."""
    in_own = own[counts.answer_language[own] == counts.question_language[question]]
    best = [int(lines[np.argmin(place[lines])]) for lines in (own, in_own) if len(lines)]
    return list(dict.fromkeys(best))


def _heading(
    lines: Named, question: int, relevant: Ints, rank_of_best: float
) -> tuple[Sequence[float], Sequence[int]]:
    """Return the places and candidates of the first irrelevant ones above the best relevant one."""
    low, high = np.searchsorted(lines.question, (question, question + 1))
    rank, candidate = lines.rank[low:high], lines.candidate[low:high]
    kept = np.flatnonzero(~np.isin(candidate, relevant) & (rank <= rank_of_best))
    kept = kept[np.argsort(rank[kept], kind="stable")][:MOST_ABOVE]
    return rank[kept].tolist(), candidate[kept].tolist()


def _known(place: float) -> float | None:
    return place if np.isfinite(place) else None


def _shown(pool: MultilingualPool, candidate: int, place: float, kind: str) -> dict[str, Any]:
    return {
        "place": _known(place),
        **_candidate(pool, candidate, ("candidate_id", "candidate_language", "candidate")),
        "relevant": kind == "answer",
        "kind": kind,
    }


def _candidate(pool: MultilingualPool, row: int, names: tuple[str, str, str]) -> dict[str, str]:
    c = pool.candidates
    return dict(zip(names, (c.ids[row], pool.languages[c.language[row]], c.text[row]), strict=True))
