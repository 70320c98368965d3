"""Which questions and candidates are not independent: clusters where none are given, and of translations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.reading.values import numbered


def joined(codes: Ints, *names: Sequence[Hashable], size: int | None = None) -> Ints:
    """Return a label for each of the codes 0 … size - 1; codes that share a name have the same label.

    `codes` and each of the columns of names are [n]; `size` is by default the highest code and one. Two codes
    are joined if a column has the same name beside both, and so are chains of such codes.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = int(codes.max(initial=-1)) + 1 if size is None else size
    ends: list[int] = []
    for column in names:
        first: dict[Hashable, int] = {}
        ends += [first.setdefault(name, code) for code, name in zip(codes.tolist(), column, strict=True)]
    places = (np.tile(codes, len(names)), np.array(ends, dtype=np.int64))
    graph = coo_array((np.ones(len(ends)), places), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def join_parallel(questions: Questions, candidates: Candidates) -> tuple[Questions, Candidates]:
    """Return the rows with one cluster, and one article, for questions with an equal id or an equal key.

    They are one question in several languages, and never independent; candidates of their clusters follow.
    """
    size = 1 + int(max(questions.cluster.max(), candidates.cluster.max(initial=-1)))
    label = joined(questions.cluster, questions.ids, questions.key, size=size)
    article = questions.article
    if article is not None:
        article = joined(article, questions.ids, questions.key)[article]
    return (
        replace(questions, cluster=label[questions.cluster], article=article),
        replace(candidates, cluster=label[candidates.cluster]),
    )


def joined_sentences(source: str, given: Questions, used: Questions, rows: Ints) -> list[str]:
    """Return a sentence, with counts, for clusters and one for articles, where they are not as given."""
    columns = [("cluster", given.cluster, used.cluster)]
    if given.article is not None and used.article is not None:
        columns.append(("article", given.article, used.article))
    sentences = []
    for what, before, after in columns:
        pairs = np.unique(np.stack([after[rows], before[rows]]), axis=1)
        parts = np.bincount(pairs[0])  # how many given ones make each used one
        if parts.max(initial=0) > 1:
            sentences.append(
                f"{source}: parallel questions in different {what}s are counted as one {what}: "
                f"{int((parts[after[rows]] > 1).sum())} of {len(rows)} questions, whose {what}s become "
                f"{int((parts > 1).sum())} instead of {int(parts[parts > 1].sum())}; equal ids or keys mean "
                "parallel questions, so give others different ones"
            )
    return sentences


def clusters_by_id_or_key(ids: Sequence[str], key: Sequence[str]) -> Ints:
    """Return the cluster of each question where none is given: the same for equal ids or keys."""
    code, _ = numbered(key)
    return joined(code, ids)[code]


def clusters_of_questions(
    questions: Questions, keys: Sequence[tuple[str, ...]], given: Ints
) -> tuple[Ints, Ints, tuple[int, int]]:
    """Return the clusters of questions and candidates where they are given for the candidates only.

    A question is of the cluster of the candidates that hold its key: if these are of several, all of them are
    one cluster. `given` [m] numbers the candidates' clusters; every question has a candidate. Also returned:
    how many given clusters hold the keys of questions, and how many they make.
    """
    wanted = {*questions.key}
    pairs = zip(given.tolist(), keys, strict=True)
    answering = [(code, key) for code, own in pairs for key in own if key in wanted]
    codes = np.array([code for code, _ in answering], dtype=np.int64)
    label = joined(codes, [key for _, key in answering], size=1 + int(given.max()))
    of_key = {key: int(label[code]) for code, key in answering}
    of_questions = np.array([of_key[key] for key in questions.key], dtype=np.int64)
    return of_questions, label[given], (len(np.unique(codes)), len(np.unique(of_questions)))


def clusters_of_candidates(
    questions: Questions, keys: Sequence[tuple[str, ...]], context: Sequence[str], language: Ints
) -> Ints:
    """Return the cluster of each candidate where none is given for the candidates.

    It is that of the first question whose key it holds; else that of a candidate with the same context in the
    same language; else a new number, beyond the questions'.
    """
    clusters = list(zip(questions.key, questions.cluster.tolist(), strict=True))
    of_key = dict(reversed(clusters))  # of equal keys the first question's
    known = [next((of_key[key] for key in own if key in of_key), None) for own in keys]
    places = list(zip(language.tolist(), context, strict=True))
    numbered_places = [
        (place, number) for place, number in zip(places, known, strict=True) if number is not None
    ]
    of_place = {place: number for place, number in reversed(numbered_places) if place[1]}
    free = count(int(questions.cluster.max(initial=-1)) + 1)
    found = []
    for place, number in zip(places, known, strict=True):
        if number is None:
            number = of_place[place] if place in of_place else next(free)
            if place[1]:
                of_place[place] = number
        found.append(number)
    return np.array(found, dtype=np.int64)
