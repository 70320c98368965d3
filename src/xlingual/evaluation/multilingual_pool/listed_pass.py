"""What a pass leaves, from the lists of a run in place of vectors and their similarity."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.multilingual_pool.one_pass import Columns, Heads, PassCounts, PoolCounts


def listed_pass(
    pool: MultilingualPool, lists: Lists, *, top: int | None = None, depth: int = 0, cluster: Ints
) -> PassCounts:
    """Return the counts of every relevant candidate and the heads, as `one_pass` does of vectors.

    What a list lacks ties behind its end, or stands last and is missed where the list has ended.
    """
    question, candidate = pool.relevant
    line = lists.lines(question, candidate)
    unlisted = line < 0
    missed = unlisted & lists.ended[question]
    above, tied = _by_language(pool, lists, line, missed)
    counts = PoolCounts(
        languages=pool.languages,
        question=question,
        candidate=candidate,
        key=-above.sum(axis=1, dtype=np.int64),
        above=above,
        tied=tied,
        question_language=pool.questions.language,
        candidate_language=pool.candidates.language,
        cluster=cluster,
        article=pool.questions.article,
        unlisted=unlisted,
        missed=missed,
    )
    heads = None if top is None else _heads(pool, lists, top, depth)
    return PassCounts(counts, heads, None, screened=0, decided=0)


def _by_language(
    pool: MultilingualPool, lists: Lists, line: Ints, missed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many candidates of each language are above each relevant one, and tie, int32 [p, G]."""
    question, candidate = pool.relevant
    language, G = pool.candidates.language, len(pool.languages)
    sizes = np.bincount(language, minlength=G)
    cell = question[missed] * G + language[candidate[missed]]
    lost = np.bincount(cell, minlength=len(lists) * G).reshape(-1, G)[question]  # missed ones of the question
    listed, start = line >= 0, lists.start[question]
    above_line, size = (of[line[listed]] for of in lists.places)
    first = start[listed] + above_line
    above, tied = (np.empty((len(question), G), dtype=np.int32) for _ in range(2))
    for code in range(G):
        total = _running(language[lists.candidate] == code)
        held = total[lists.start[question + 1]] - total[start]
        above[:, code] = np.where(missed, sizes[code] - lost[:, code], held)
        tied[:, code] = np.where(missed, lost[:, code], sizes[code] - held)
        above[listed, code] = total[first] - total[start[listed]]
        tied[listed, code] = total[first + size] - total[first]
    return above, tied


def _heads(pool: MultilingualPool, lists: Lists, top: int, depth: int) -> Heads:
    """Return the heads of the lists, each candidate a column of its own."""
    above, size = lists.places
    m = len(pool.candidates)
    columns = Columns(np.arange(m), np.ones(m, dtype=np.int64))
    head = np.flatnonzero(above < depth)
    candidate = lists.candidate[head]
    order = np.lexsort((candidate, pool.candidates.language[candidate], above[head], lists.query[head]))
    head = head[order]
    lines = lists.query[head], lists.candidate[head], above[head], size[head]
    return Heads(top, _places(pool, lists, top), *lines, columns)


def _places(pool: MultilingualPool, lists: Lists, top: int) -> Floats:
    """Return how many of the first `top` candidates of each question are of each language [n, G].

    A list that ended before is taken to go on as it began; NaN where it is empty.
    """
    language, shape = pool.candidates.language, (len(lists), len(pool.languages))
    above, size = lists.places
    among = above < top
    weight = np.clip((top - above[among]) / size[among], 0.0, 1.0)
    cell = lists.query[among] * shape[1] + language[lists.candidate[among]]
    places = np.bincount(cell, weight, shape[0] * shape[1]).astype(np.float64).reshape(shape)
    short = np.flatnonzero(lists.lengths < top)
    ended = short[lists.ended[short]]
    with np.errstate(divide="ignore", invalid="ignore"):
        places[ended] *= top / lists.lengths[ended][:, None]
    going_on = short[~lists.ended[short]]
    if len(going_on):
        lengths = lists.lengths[going_on][:, None]
        rest = np.bincount(language, minlength=shape[1]) - places[going_on]
        places[going_on] += (top - lengths) * rest / (len(language) - lengths)
    return places


def _running(chosen: np.ndarray) -> Ints:
    """Return how many are chosen before each place, and in all, int64 [n + 1]."""
    total = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(chosen, out=total[1:])
    return total
