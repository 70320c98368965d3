"""Questions of a multilingual pool: which of their answers are missed, and what stands above them.

A question has a line for each language in which it has an answer: its best one there. An answer is missed
where ten *wrong* candidates stand above it (another cut, where the measure has one): other answers of the
question do not count, so that ten places are enough for any number of them. What stood there is the nearest
wrong candidate of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.columns import Lookup
from xlingual.data.manifest import Manifest
from xlingual.data.pools.pool import MultilingualPool
from xlingual.inspection.judged import Asked, queries_of
from xlingual.inspection.kinds import far, first_kind, hubs_among, near_equal
from xlingual.inspection.nearest import Nearest
from xlingual.inspection.served import Served, Unfound
from xlingual.ragged import spans
from xlingual.results import Results
from xlingual.results.inspection import POOL_KINDS

if TYPE_CHECKING:
    import pyarrow as pa

_KEPT = 10  # nearest candidates that results keep
_FAR = np.int64(1) << 40  # counts as the rank of an answer that was not returned
_ANY = "pool"  # stands for the language of an answer that is not known
_NO_ANSWERS = (
    "these results do not keep where each answer stands, so that only the best one is looked at: evaluate "
    "again without --no-neighbours"
)


class TextsOfPool:
    """The questions and candidates of a pool as rows of texts, questions first."""

    def __init__(self, pool: MultilingualPool) -> None:
        q, c = pool.questions, pool.candidates
        self.pool, self.n = pool, len(q)
        n, m = len(q), len(c)
        language = np.concatenate([q.language, c.language])
        own = (*q.ids, *c.ids)
        keys = list(dict.fromkeys(q.key))
        number = {key: place for place, key in enumerate(keys)}
        columns: dict[str, Sequence[str | None]] = dict(q.labels)
        if q.article is not None:
            columns["article"] = [str(one) for one in q.article.tolist()]
        whole = np.arange(n + m)
        self.data = Manifest(
            ids=Lookup(
                [f"{pool.languages[code]}/{one}" for code, one in zip(language, own, strict=True)], whole
            ),
            languages=pool.languages,
            language=language,
            text=Lookup([*q.text, *c.text], whole),
            item=np.concatenate([[number[key] for key in q.key], len(keys) + np.arange(m)]).astype(np.int64),
            item_ids=Lookup([*keys, *c.ids], np.arange(len(keys) + m)),
            cluster=np.concatenate([q.cluster, c.cluster]),
            image=np.full(n + m, -1),
            image_source=[],
            fields={},
            split=None,
            table_row=whole.copy(),
            n_table_rows=n + m,
            source=Path(pool.source).name,
            folder=None,
            wide=False,
            labels={name: _label(column, m) for name, column in columns.items()},
            numbers={name: np.append(column, np.full(m, np.nan)) for name, column in q.numbers.items()},
            numberings=(),
        )
        question, candidate = pool.relevant
        self.question, self.answer = question, candidate + n  # rows that belong together, by question

    def rows(self, names: pa.ChunkedArray, *, candidates: bool = False) -> Ints:
        """Return the rows that "ar/ID" names, of questions or of candidates, int64 [q]."""
        import pyarrow as pa

        part = range(self.n, len(self.data)) if candidates else range(self.n)
        place = {self.data.ids[row]: row for row in part}
        encoded = names.cast(pa.string()).combine_chunks().dictionary_encode()
        known = np.array([place[name] for name in encoded.dictionary.to_pylist()], dtype=np.int64)
        found: Ints = known[encoded.indices.to_numpy()]
        return found

    def is_answer(self, question: Ints, row: Ints) -> np.ndarray:
        """Return whether rows are answers of questions, bool [q]."""
        width = len(self.data)
        return np.isin(question * width + row, self.question * width + self.answer)

    def further(self) -> dict[str, Floats]:
        """Return numbers of the rows: the mean length of a question's answers, in characters, else NaN."""
        length = np.array([len(one) for one in self.pool.candidates.text], dtype=np.float64)
        n = np.bincount(self.question, minlength=self.n)
        total = np.bincount(self.question, length[self.answer - self.n], minlength=self.n)
        mean = np.where(n > 0, total / np.maximum(n, 1), np.nan)
        return {"length of the answers": np.append(mean, np.full(len(length), np.nan))}


def _label(column: Sequence[str | None], m: int) -> Lookup[str | None]:
    words = sorted({one for one in column if one is not None})
    place = {word: number for number, word in enumerate(words)}
    codes = [-1 if one is None else place[one] for one in column]
    return Lookup(words, np.array([*codes, *[-1] * m], dtype=np.int64))


@dataclass(frozen=True)
class _Answers:
    """The best answer of each question in each language: arrays [q]."""

    question: Ints
    row: Ints  # of the answer, −1 where it is not known
    above: Ints  # wrong candidates above it, −1 where it was not returned
    tied: Ints  # wrong ones that tie with it


@dataclass(frozen=True)
class _Nearest:
    """The nearest candidates of questions, by question, best first: arrays [e]."""

    question: Ints
    row: Ints
    tied: Ints
    score: Floats

    def take(self, chosen: Ints) -> _Nearest:
        """Return some of the lines."""
        return _Nearest(self.question[chosen], self.row[chosen], self.tied[chosen], self.score[chosen])

    @property
    def first(self) -> Ints:
        """The first line of each question."""
        return np.flatnonzero(np.append(True, np.diff(self.question) != 0)[: len(self.question)])


def served_in_pool(
    results: Results, texts: TextsOfPool, encoder: str, measure: str, near: int, cut: int
) -> Served:
    """Return how an encoder served the questions of a pool.

    `near` is the number of wrong candidates up to which an answer was close, `cut` that from which it is
    missed.
    """
    table = queries_of(results, encoder, measure)
    question = texts.rows(table["query"])
    value, cluster = np.full(texts.n, np.nan), np.full(texts.n, -1)
    value[question], cluster[question] = table["value"].to_numpy(), table["cluster"].to_numpy()
    answers, note = _answers(results, texts, encoder, table, question), None
    if (answers.row < 0).all():
        note = _NO_ANSWERS
    kept = np.isin(answers.question, question)
    answers = _Answers(*(part[kept] for part in (answers.question, answers.row, answers.above, answers.tied)))
    neighbours = _neighbours(results, texts, encoder)
    nearest = neighbours or _Nearest(*(np.empty(0, dtype=np.int64),) * 3, np.empty(0))
    wrong = nearest.take(np.flatnonzero(~texts.is_answer(nearest.question, nearest.row)))
    asked = _asked(texts, answers, value, cluster, _first_wrong(texts, wrong), cut)
    of_question = np.full(texts.n, np.nan)
    of_question[nearest.question[nearest.first]] = nearest.score[nearest.first]
    score = of_question[asked.row]
    counted = _of_questions(texts, asked)
    hub_of_question, hubs = hubs_among(counted, counted.first_sample)
    is_hub = np.isin(asked.row, counted.row[hub_of_question])
    tests = {
        "near-duplicate": _alike(texts, asked),
        "context": _same_context(texts, asked),
        "hub": is_hub,
        "own language": _own_language(texts, asked),
        "near": (asked.above >= 0) & (asked.above < near),
        "nothing near": far(asked, score),
    }
    return Served(
        _listed(asked, wrong, score, kept=neighbours is not None),
        POOL_KINDS,
        first_kind(asked.failed, POOL_KINDS, tests),
        is_hub,
        hubs,
        answers.row,
        _unfound(texts, neighbours),
        counted,
        note,
    )


def _of_encoder(results: Results, name: str, encoder: str) -> pa.Table | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    table = results.tables.get(name)
    return None if table is None else table.filter(pc.equal(table["encoder"].cast(pa.string()), encoder))


def _answers(results: Results, texts: TextsOfPool, encoder: str, queries: pa.Table, asked: Ints) -> _Answers:
    """Return the best answers; where they are not kept, the best of all languages of each question."""
    table = _of_encoder(results, "answers", encoder)
    if table is None:
        above, tied = (queries[name].fill_null(-1).to_numpy() for name in ("above", "tied"))
        return _Answers(asked, np.full(len(asked), -1), above, np.maximum(tied - 1, 0))
    question, row = texts.rows(table["query"]), texts.rows(table["answer"], candidates=True)
    given = table["above"].fill_null(-1).to_numpy()
    above = np.where(given < 0, _FAR, given)
    tied = table["tied"].fill_null(1).to_numpy()
    key = question * (2 * _FAR) + above  # answers above others of their question do not count
    ordered = np.sort(key)
    start = np.searchsorted(ordered, question * (2 * _FAR))
    low, high = (np.searchsorted(ordered, key, side=side) for side in ("left", "right"))
    above, tied = above - (low - start), np.maximum(tied - (high - low), 0)
    language = texts.data.language[row]
    order = np.lexsort((row, above, language, question))
    both = (question * len(texts.data.languages) + language)[order]
    best = order[np.append(True, np.diff(both) != 0)[: len(both)]]
    return _Answers(question[best], row[best], np.where(given[best] < 0, -1, above[best]), tied[best])


def _asked(
    texts: TextsOfPool, answers: _Answers, value: Floats, cluster: Ints, first: Ints, cut: int
) -> Asked:
    language, tags = texts.data.language, texts.data.languages
    known = answers.row >= 0
    target = np.where(known, language[np.maximum(answers.row, 0)], len(tags))
    both, pair = np.unique(language[answers.question] * (len(tags) + 1) + target, return_inverse=True)
    named = [*tags, _ANY]
    pairs = [(tags[code // (len(tags) + 1)], named[code % (len(tags) + 1)]) for code in both.tolist()]
    found = np.clip((cut - answers.above) / (answers.tied + 1), 0, 1)  # chance to be among the first
    return Asked(
        pairs,
        pair,
        np.zeros(len(pair), dtype=np.int64),
        answers.question,
        cluster[answers.question],
        value[answers.question],
        np.where(answers.above < 0, -1, answers.above + answers.tied // 2),
        first[answers.question],
        (answers.above < 0) | (found < 0.5),
    )


def _neighbours(results: Results, texts: TextsOfPool, encoder: str) -> _Nearest | None:
    table = _of_encoder(results, "neighbours", encoder)
    if table is None:
        return None
    question, row = texts.rows(table["query"]), texts.rows(table["neighbour"], candidates=True)
    score = table["score"].to_numpy(zero_copy_only=False).astype(np.float64)
    order = np.lexsort((table["above"].to_numpy(), question))
    return _Nearest(question, row, table["tied"].to_numpy(), score).take(order)


def _first_wrong(texts: TextsOfPool, wrong: _Nearest) -> Ints:
    """Return the nearest wrong candidate of each question [n], −1 where several tie or none is known."""
    found = np.full(texts.n, -1)
    first = wrong.first[wrong.tied[wrong.first] == 1]
    found[wrong.question[first]] = wrong.row[first]
    return found


def _listed(asked: Asked, wrong: _Nearest, score: Floats, *, kept: bool) -> Nearest:
    """Return the wrong candidates of each line's question."""
    low, high = (np.searchsorted(wrong.question, asked.row, side=side) for side in ("left", "right"))
    line, place = spans(low, high - low)
    found = wrong.take(place)
    return Nearest(asked, score, kept, asked.pair[line], asked.row[line], found.row, found.score)


def _of_questions(texts: TextsOfPool, asked: Asked) -> Asked:
    """Return each question once, in its language; it failed where an answer is missed."""
    row, first, place = np.unique(asked.row, return_index=True, return_inverse=True)
    missed = np.bincount(place, asked.failed, minlength=len(row)) > 0
    codes, pair = np.unique(texts.data.language[row], return_inverse=True)
    pairs = [(texts.data.languages[code], _ANY) for code in codes.tolist()]
    return Asked(
        pairs,
        pair,
        asked.seed[first],
        row,
        asked.cluster[first],
        asked.value[first],
        asked.above[first],
        asked.retrieved[first],
        missed,
    )


def _alike(texts: TextsOfPool, asked: Asked) -> np.ndarray:
    """Return whether the wrong candidate is near-equal to an answer of the question, bool [q]."""
    data = texts.data
    group = np.full(len(data), -1, dtype=np.int64)
    for code in range(len(data.languages)):
        rows = texts.n + np.flatnonzero(data.language[texts.n :] == code)
        if len(rows):
            group[rows] = near_equal(data, rows) + group.max() + 1
    width = int(group.max()) + 1
    right = texts.question * width + group[texts.answer]
    found = np.isin(asked.row * width + group[np.maximum(asked.retrieved, 0)], right)
    return found & (asked.retrieved >= 0)


def _same_context(texts: TextsOfPool, asked: Asked) -> np.ndarray:
    """Return whether the wrong candidate is of the question's own cluster, as a paragraph is, bool [q]."""
    cluster = texts.data.cluster
    same: np.ndarray = cluster[np.maximum(asked.retrieved, 0)] == cluster[asked.row]
    return same & (asked.retrieved >= 0)


def _own_language(texts: TextsOfPool, asked: Asked) -> np.ndarray:
    """Return whether the wrong candidate is in the question's language, and the answer is not, bool [q]."""
    language = texts.data.language
    same: np.ndarray = language[np.maximum(asked.retrieved, 0)] == language[asked.row]
    elsewhere = np.array([target not in (source, _ANY) for source, target in asked.pairs], dtype=bool)
    return np.asarray(same & elsewhere[asked.pair] & (asked.retrieved >= 0))


def _unfound(texts: TextsOfPool, neighbours: _Nearest | None) -> Unfound:
    """Return the answers that are among no question's nearest candidates."""
    if neighbours is None:
        return Unfound()
    answers = np.unique(texts.answer)
    missing = np.setdiff1d(answers, neighbours.row)
    m = len(texts.pool.candidates)
    chance = (1 - min(_KEPT, m) / m) ** texts.n
    return Unfound(len(missing) / len(answers), chance, missing.tolist())
