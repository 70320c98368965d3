"""Tables of what a person reads: points of the picture, hubs, the worst questions and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.arrow import from_numpy, from_strings, table_of
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions
from xlingual.evaluation.multilingual_pool.ranks import PoolRanks
from xlingual.evaluation.perquery import looked_up, repeated, words_of
from xlingual.measures import PoolMeasure
from xlingual.measures.hubness import Places

if TYPE_CHECKING:
    import pyarrow as pa

MOST_WORST = 10  # questions
MOST_ABOVE = 5  # candidates that are shown above a question's answers

Rows = list[dict[str, Any]]


def tags_of(pool: MultilingualPool, side: Questions | Candidates) -> list[str]:
    """Return the language of each question, or candidate."""
    return [pool.languages[code] for code in side.language.tolist()]


def names_of(pool: MultilingualPool, side: Questions | Candidates) -> list[str]:
    """Return the names of questions or candidates, "ar/ID"."""
    return [f"{tag}/{text}" for tag, text in zip(tags_of(pool, side), side.ids, strict=True)]


class PoolTables:
    """Collects rows of encoders; those of `worst` have texts."""

    def __init__(self, pool: MultilingualPool) -> None:
        self.pool = pool
        self.points: Rows = []
        self.worst: Rows = []
        self._occurrences: list[tuple[str, Floats]] = []
        self._answers: list[tuple[str, Ints, Ints, Ints, Ints]] = []

    def add_points(self, encoder: str, points: Rows) -> None:
        """Add the points of an encoder's picture."""
        ids = {"question": self.pool.questions.ids, "candidate": self.pool.candidates.ids}
        self.points += [
            {"encoder": encoder, **point, "text_id": ids[point["role"]][point["row"]]} for point in points
        ]

    def add_occurrences(self, encoder: str, occurrences: Floats) -> None:
        """Add how often each candidate [m] is among the first k."""
        self._occurrences.append((encoder, occurrences))

    def add_answers(self, encoder: str, ranks: PoolRanks, chosen: np.ndarray) -> None:
        """Add where the answers stand, those `chosen`; −1 where it is not known."""
        unknown = np.zeros(len(ranks.question), dtype=bool)
        for flags in (ranks.unlisted, ranks.missed):
            unknown |= False if flags is None else flags
        above, tied = (np.where(unknown, -1, side)[chosen] for side in (ranks.above, ranks.tied))
        self._answers.append((encoder, ranks.question[chosen], ranks.candidate[chosen], above, tied))

    def add_worst(
        self, encoder: str, ranks: PoolRanks, measure: PoolMeasure, values: Floats, first: Places
    ) -> None:
        """Add the questions with the worst values [n], of different clusters, and their candidates.

        Rows of kind "above" are the first candidates, those of kind "answer" the best relevant one and the
        best one in the question's own language; `place` is the (mid-)rank, None where a search system did not
        return it.
        """
        pool, questions, held = self.pool, self.pool.questions, self.pool.candidates
        order = np.argsort(values if measure.higher_is_better else -values, kind="stable")
        order = order[~np.isnan(values[order])]
        _, best_of_cluster = np.unique(ranks.cluster[order], return_index=True)
        targets = ranks.targets()
        place = targets.above + (targets.tied + 1) / 2
        if ranks.unlisted is not None:
            place[ranks.unlisted] = np.inf
        for question in order[np.sort(best_of_cluster)[:MOST_WORST]].tolist():
            lines = np.arange(*np.searchsorted(ranks.question, (question, question + 1)))
            in_own = lines[ranks.own[lines]]
            answers = dict.fromkeys(
                int(rows[np.argmin(place[rows])]) for rows in (lines, in_own) if len(rows)
            )
            rank_of_best = float(place[lines].min())
            labels = {
                "encoder": encoder,
                "question_id": questions.ids[question],
                "question_language": pool.languages[questions.language[question]],
                "question": questions.text[question],
                "value": float(values[question]),
                "rank_of_best": _finite(rank_of_best),
                "measure": measure.name,
            }
            listed = slice(*np.searchsorted(first.query, (question, question + 1)))
            heading = first.candidate[listed], first.above[listed] + (first.tied[listed] + 1) / 2
            wrong = ~np.isin(heading[0], ranks.candidate[lines]) & (heading[1] <= rank_of_best)
            rows = np.flatnonzero(wrong)[np.argsort(heading[1][wrong], kind="stable")][:MOST_ABOVE]
            shown = [(int(heading[0][row]), float(heading[1][row]), "above") for row in rows]
            shown += [(int(ranks.candidate[line]), float(place[line]), "answer") for line in answers]
            self.worst += [
                {
                    **labels,
                    "place": _finite(rank),
                    "candidate_id": held.ids[candidate],
                    "candidate_language": pool.languages[held.language[candidate]],
                    "candidate": held.text[candidate],
                    "relevant": kind == "answer",
                    "kind": kind,
                }
                for candidate, rank, kind in shown
            ]

    def tables(self, labels: Sequence[Any]) -> dict[str, pa.Table]:
        """Return the tables that have rows; `labels` are task, source, target and seed."""
        import pyarrow as pa

        text, number, pool = pa.string(), pa.float64(), self.pool
        points = {"encoder": text, "language": text, "role": text, "x": number, "y": number, "text_id": text}
        worst = dict.fromkeys(("encoder", "question_id", "question_language", "question"), text)
        worst |= dict.fromkeys(("value", "rank_of_best", "place"), number)
        worst |= dict.fromkeys(("candidate_id", "candidate_language", "candidate"), text)
        worst |= {"relevant": pa.bool_(), "kind": text, "measure": text}
        kinds = {"points": (self.points, points), "worst": (self.worst, worst)}
        tables = {
            name: table_of(rows, pa.schema(list(columns.items())))
            for name, (rows, columns) in kinds.items()
            if rows
        }
        if self._occurrences:  # in the pool's order; without texts
            encoders, m = [encoder for encoder, _ in self._occurrences], len(pool.candidates)
            columns = {
                "encoder": repeated(encoders, [m] * len(encoders)).cast(text),
                "id": from_strings([*pool.candidates.ids] * len(encoders), text),
                "language": from_strings(tags_of(pool, pool.candidates) * len(encoders), text),
                "count": from_numpy(np.concatenate([counts for _, counts in self._occurrences]), number),
            }
            tables["occurrences"] = pa.table(columns)
        if self._answers:  # of several answers of a question each has a line
            task, source, target, seed = labels
            lengths = [len(question) for _, question, *_ in self._answers]
            question, candidate, above, tied = (
                np.concatenate([each[place] for each in self._answers]) for place in range(1, 5)
            )
            columns = {"encoder": repeated([encoder for encoder, *_ in self._answers], lengths)}
            for name, word in (("task", task), ("source", source), ("target", target)):
                columns[name] = repeated([word] * len(lengths), lengths)
            columns["seed"] = from_numpy(np.full(sum(lengths), seed), pa.int64())
            columns["query"] = looked_up(question, *words_of(names_of(pool, pool.questions)))
            columns["answer"] = looked_up(candidate, *words_of(names_of(pool, pool.candidates)))
            for name, counts in (("above", above), ("tied", tied)):
                columns[name] = from_numpy(counts, pa.int64(), mask=above < 0)
            tables["answers"] = pa.table(columns)
        return tables


def _finite(place: float) -> float | None:
    return place if np.isfinite(place) else None
