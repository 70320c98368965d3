"""From rows in file order to a pool: languages in order, clusters that hold together, parts, translations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import count
from typing import Any, TypeVar

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import check_tags
from xlingual.data.pools.rows import Candidates, PoolRows, Questions
from xlingual.data.rows import numbered
from xlingual.errors import InputError, did_you_mean, listed, warn
from xlingual.records import Numbering
from xlingual.streams import stream

P = TypeVar("P", Questions, Candidates)
Pool = TypeVar("Pool", bound=PoolRows)
TRAIN, TEST = "train", "test"
PARTS = ("paragraph", "article")


class NoQuestionError(InputError):
    """A part would have no question."""


def build_pool(
    source: str,
    languages: tuple[str, ...],
    questions: Questions,
    candidates: Candidates,
    chosen: Sequence[str] | None = None,
    split: str | None = None,
    *,
    notes: Sequence[str] = (),
    unanswered: bool = False,
) -> PoolRows:
    """Return the pool of the chosen languages, in their order, and of the rows of a split.

    `languages` is the whole pool's own order; questions and candidates are those of the whole pool in the
    order of their files. A language without chosen rows is left out, and so are questions that lose their
    relevant candidates by the choice, with a DataWarning. Questions with equal ids or equal keys are
    parallel, and of one cluster and one article; a DataWarning where the rows say otherwise. `notes` are
    further warnings. With `unanswered`, candidates judged irrelevant are enough for a question. Raises
    InputError where the whole pool is not sound, or a choice leaves nothing.
    """
    check_tags(languages, source)
    if not len(questions) or not len(candidates):
        what = "candidates" if len(questions) else "questions"
        raise InputError(f"{source} has no {what}: a pool needs questions and candidates")
    held = candidates.keys
    if unanswered and candidates.irrelevant is not None:
        held = [right + wrong for right, wrong in zip(held, candidates.irrelevant, strict=True)]
    check_answered(languages, questions, held, lambda row: source)
    given = questions
    questions, candidates = _join_parallel(questions, candidates)
    order = languages if chosen is None else chosen_languages(source, languages, chosen)
    choice = listed(order, 40) + ("" if split is None else f", split {split!r}")
    splits = dict.fromkeys([*(questions.split or ()), *(candidates.split or ())])
    if split is not None and (not splits or split not in (questions.split or splits) or split not in splits):
        raise no_split(source, split, splits)
    codes = [languages.index(tag) for tag in order]
    of_questions, of_candidates = (_stages(part, codes, split) for part in (questions, candidates))
    asked, pool = of_questions[-1], of_candidates[-1]
    there = {key for row in pool.tolist() for key in held[row]}
    left = np.array([row for row in asked.tolist() if questions.key[row] in there], dtype=np.int64)
    if not len(left):
        what = "question of {} has a relevant candidate there" if len(pool) else "candidate is of {}"
        raise InputError(f"{source}: no {what.format(choice)}: choose others")
    sentences = [*notes]
    if lost := [questions.ids[row] for row in np.setdiff1d(asked, left)]:
        sentences.append(
            f"{source}: {len(lost)} of {len(asked)} questions of {choice} have no relevant candidate there "
            f"and are left out ({listed(map(repr, lost), 3)})"
        )
    sentences += _joined_sentences(source, given, questions, left)
    if empty := sum(not candidates.text[row].strip() for row in pool.tolist()):
        sentences.append(f"{source}: {empty} of {len(pool)} candidates have an empty text")
    for sentence in sentences:
        warn(sentence)
    present = {*questions.language[left].tolist(), *candidates.language[pool].tolist()}
    codes = [code for code in codes if code in present]
    recode = np.full(len(languages), -1, dtype=np.int64)
    recode[codes] = np.arange(len(codes))
    q, c = taken(questions, left), taken(candidates, pool)
    cluster, _ = numbered([*q.cluster.tolist(), *c.cluster.tolist()])
    article = None if q.article is None else numbered(q.article.tolist())[0]
    return PoolRows(
        source,
        tuple(languages[code] for code in codes),
        replace(q, language=recode[q.language], cluster=cluster[: len(q)], article=article),
        replace(c, language=recode[c.language], cluster=cluster[len(q) :]),
        _numberings("questions", [*of_questions, left], questions.language, languages),
        _numberings("candidates", of_candidates, candidates.language, languages),
        tuple(sentences),
    )


def chosen_languages(source: str, known: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the wanted languages; raise InputError where one is absent or named twice, or none is named."""
    if not wanted:
        raise InputError(f"{source}: no language is named: name some of {listed(known, 40)}")
    for tag in wanted:
        if tag not in known:
            raise InputError(
                f"{source} has no language {tag!r}.{did_you_mean(tag, known)} "
                f"Its languages: {listed(known, 40)}"
            )
        if list(wanted).count(tag) > 1:
            raise InputError(f"the language {tag!r} is named twice: name it once")
    return tuple(wanted)


def no_split(source: str, split: str, splits: Mapping[str, None] | Sequence[str]) -> InputError:
    """Return the error for a split that is not there; rows without one have the split ""."""
    if not splits:
        return InputError(f"{source} has no column 'split': leave the split {split!r} out")
    names = [name for name in splits if name]
    return InputError(
        f"{source} has no split {split!r}.{did_you_mean(split, names)} Its splits: {listed(names, 20)}"
    )


def check_answered(
    languages: Sequence[str],
    questions: Questions,
    held: Sequence[tuple[str, ...]],
    where: Callable[[int], str],
) -> None:
    """Raise InputError where no candidate holds a question's key; `where` names the row of a question."""
    there = {key for keys in held for key in keys}
    without = [row for row, key in enumerate(questions.key) if key not in there]
    if without:
        row = without[0]
        more = f" (and {len(without) - 1} more questions)" if len(without) > 1 else ""
        raise InputError(
            f"{where(row)}: question {questions.ids[row]!r:.80} ({languages[questions.language[row]]}) has "
            f"no relevant candidate{more}: no candidate holds its key {questions.key[row]!r:.80}"
        )


def taken(part: P, rows: Ints) -> P:
    """Return the chosen questions, or candidates."""

    def take(values: Any) -> Any:  # noqa: ANN401  (a column, or columns by name)
        if isinstance(values, Mapping):
            return {name: take(column) for name, column in values.items()}
        return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]

    columns = {f.name: getattr(part, f.name) for f in fields(part)}
    return replace(part, **{name: take(values) for name, values in columns.items() if values is not None})


def appended(part: P, rows: Ints, **columns: Any) -> P:  # noqa: ANN401
    """Return a part with some of its rows once more at the end, where these columns have other values."""

    def both(first: Any, second: Any) -> Any:  # noqa: ANN401
        if isinstance(first, Mapping):
            return {name: both(column, second[name]) for name, column in first.items()}
        return np.append(first, second) if isinstance(first, np.ndarray) else [*first, *second]

    more = replace(taken(part, rows), **columns)
    pairs = {f.name: (getattr(part, f.name), getattr(more, f.name)) for f in fields(part)}
    return replace(part, **{name: both(*pair) for name, pair in pairs.items() if pair[0] is not None})


def _stages(part: Questions | Candidates, codes: Sequence[int], split: str | None) -> list[Ints]:
    """Return the rows of the whole pool, of the chosen languages and of the split, each by language."""
    whole = np.argsort(part.language, kind="stable").astype(np.int64)
    rows = np.concatenate([np.flatnonzero(part.language == code) for code in codes]).astype(np.int64)
    if split is None or part.split is None:
        return [whole, rows]
    return [whole, rows, rows[[part.split[row] == split for row in rows.tolist()]]]


def _numberings(
    what: str, stages: Sequence[Ints], language: Ints, languages: Sequence[str]
) -> tuple[Numbering, ...]:
    """Return how files may number the last stage's rows: as it is, or as any stage before the choice."""
    last, numberings = stages[-1], list[Numbering]()
    for number, stage in reversed(list(enumerate(stages))):
        if any(np.array_equal(stage, later) for later in stages[number + 1 :]):
            continue
        earlier = "whole-pool " if np.array_equal(stage, stages[0]) else "chosen "
        note, codes = earlier if numberings else "", language[stage]
        counts = np.bincount(codes, minlength=len(languages))
        position, place = np.full(len(language), -1), np.full(len(language), -1)
        for code in range(len(languages)):
            position[stage[codes == code]] = np.arange(counts[code])
        place[stage] = np.arange(len(stage))
        sizes: dict[str | None, int] = {
            tag: size for tag, size in zip(languages, counts.tolist(), strict=True) if size
        }
        numberings.append(Numbering(f"{note}{what} of the language", position[last].astype(np.int64), sizes))
        numberings.append(Numbering(f"{note}{what}", place[last].astype(np.int64), {None: len(stage)}))
    return tuple(numberings)


# --- clusters: what is not independent


def joined(codes: Ints, *names: Sequence[Hashable], size: int | None = None) -> Ints:
    """Return a label for each of the codes 0 … size - 1; codes that share a name have the same label.

    `codes` and each of the columns of names are [n]; `size` is by default the highest code and one. Two codes
    are joined if a column has the same name for both, and so are chains of such codes.
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


def _join_parallel(questions: Questions, candidates: Candidates) -> tuple[Questions, Candidates]:
    """Return the rows with one cluster, and one article, for questions with an equal id or an equal key.

    They are one question in several languages, and never independent; candidates of their clusters follow.
    """
    size = 1 + int(max(questions.cluster.max(), candidates.cluster.max(initial=-1)))
    label = joined(questions.cluster, questions.ids, questions.key, size=size)
    article = questions.article
    if article is not None:
        article = joined(article, questions.ids, questions.key)[article]
    together = replace(questions, cluster=label[questions.cluster], article=article)
    return together, replace(candidates, cluster=label[candidates.cluster])


def _joined_sentences(source: str, given: Questions, used: Questions, rows: Ints) -> list[str]:
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


def clusters_of_candidates(
    questions: Questions, keys: Sequence[tuple[str, ...]], context: Sequence[str], language: Ints
) -> Ints:
    """Return the cluster of each candidate where none is given for the candidates.

    It is that of the first question whose key it holds; else that of a candidate with the same context in the
    same language; else a new number, beyond the questions'.
    """
    of_key = dict(zip(reversed(questions.key), reversed(questions.cluster.tolist()), strict=True))
    places = list(zip(language.tolist(), context, strict=True))
    clusters = [next((of_key[key] for key in own if key in of_key), -1) for own in keys]
    of_place: dict[tuple[int, str], int] = {}
    for place, cluster in zip(places, clusters, strict=True):
        if place[1] and cluster >= 0:
            of_place.setdefault(place, cluster)
    free = count(int(questions.cluster.max(initial=-1)) + 1)
    for row, place in enumerate(places):
        if clusters[row] < 0:
            clusters[row] = of_place[place] if place in of_place else next(free)
            if place[1]:
                of_place[place] = clusters[row]
    return np.array(clusters, dtype=np.int64)


# --- pools made of a pool


def split_pool(
    pool: Pool, train: float, seed: int = 0, by: str = "paragraph", *, by_text: bool = False
) -> Pool:
    """Return the pool with a split "train" or "test" on every row, drawn by clusters (paragraphs).

    A share `train` of the clusters with questions, rounded, is in train, and the same share of the others.
    No cluster and no key is in both; with `by="article"` no article either, and articles are drawn; with
    `by_text` no text of a language either. Raises InputError where a part would have no questions, or
    articles are not known.
    """
    if by not in PARTS:
        raise InputError(f"by={by!r}: expected {' or '.join(PARTS)}")
    q, c = pool.questions, pool.candidates
    groups = q.article if by == "article" else q.cluster
    if groups is None:
        raise InputError(f"{pool.source}: its questions have no articles: split it by paragraph")
    question, candidate = pool.relevant
    pairs = [f"question {row}" for row in question.tolist()]
    codes, names = [q.cluster, q.cluster[question], c.cluster[candidate]], [*groups.tolist(), *pairs, *pairs]
    for part in (q, c) if by_text else ():
        rows = [row for row, text in enumerate(part.text) if text.strip()]
        codes.append(part.cluster[rows])
        names += [f"text {pool.languages[part.language[row]]} {part.text[row].strip()}" for row in rows]
    size = 1 + int(max(q.cluster.max(), c.cluster.max()))
    label = joined(np.concatenate(codes), names, size=size)
    asked = np.unique(label[q.cluster])
    silent = np.setdiff1d(label[c.cluster], asked)  # paragraphs without questions are divided apart
    rng = stream(seed, "pool split")
    chosen = [row for part in (asked, silent) for row in rng.permutation(part)[: round(train * len(part))]]
    in_train = [np.isin(label[part.cluster], chosen) for part in (q, c)]
    for name, asking in ((TRAIN, in_train[0]), (TEST, ~in_train[0])):
        if not asking.any():
            raise NoQuestionError(
                f"{pool.source}: a share of {train} of {len(asked)} {by}s in {TRAIN!r} leaves no question in "
                f"{name!r}: choose another --train"
            )
    splits = [[TRAIN if own else TEST for own in side.tolist()] for side in in_train]
    return replace(pool, questions=replace(q, split=splits[0]), candidates=replace(c, split=splits[1]))


def translate_rows(
    pool: PoolRows,
    to: Sequence[str],
    translate: Callable[[list[str], str], list[str]],
    *,
    source: str | None = None,
    context: bool = True,
) -> PoolRows:
    """Return the pool with the rows of the language `source` in each language of `to` as well.

    Questions and candidates, and the contexts of these unless `context` is false (then translations have
    none), are translated; ids, keys, clusters, articles and splits are those of the rows that they
    translate, so that a question's translations are one question, and what was relevant to it is relevant in
    every language. A question whose translation is empty is left out. `translate` is called once for each
    language, with every different text once. All rows of the pool stay as they are, before the new ones.
    `source` may be left out where all questions are in one language.
    """
    source = source_language(pool, source)
    check_targets(pool, to)
    code = pool.languages.index(source)
    questions, candidates = pool.questions, pool.candidates
    asked, standing = (np.flatnonzero(part.language == code) for part in (questions, candidates))
    texts = [questions.text[row] for row in asked], [candidates.text[row] for row in standing]
    around = [candidates.context[row] if context else "" for row in standing]
    different = list(dict.fromkeys(text for part in (*texts, around) for text in part if text.strip()))
    for code, tag in enumerate(to, len(pool.languages)):
        by_text = dict(zip(different, translate(different, tag), strict=True))
        q, c, contexts = ([by_text.get(text, "") for text in part] for part in (*texts, around))
        full = [row for row, text in enumerate(q) if text.strip()]
        language = np.full(len(full), code)
        questions = appended(questions, asked[full], text=[q[row] for row in full], language=language)
        language = np.full(len(standing), code)
        candidates = appended(candidates, standing, text=c, context=contexts, language=language)
    name = f"{pool.source}, translated into {listed(to)}"
    return build_pool(name, (*pool.languages, *to), questions, candidates)


def source_language(pool: PoolRows, source: str | None) -> str:
    """Return the language to translate from; raise InputError where it is not clear, or has no question."""
    asked = pool.role_languages["query"]
    if source is None and len(asked) == 1:
        return asked[0]
    if source is None:
        raise InputError(
            f"{pool.source} has questions in {listed(asked, 20)}: say with --from which language is "
            "translated"
        )
    if source not in asked:
        raise InputError(f"{pool.source} has no question in {source!r}: it has some in {listed(asked, 20)}")
    return source


def check_targets(pool: PoolRows, to: Sequence[str]) -> None:
    """Raise InputError where a language is named twice, is no tag, or is in the pool."""
    if not to:
        raise InputError("no language to translate into: name one at least, as in --to de,fr")
    check_tags(to, "--to")
    for place, tag in enumerate(to):
        if tag in to[:place]:
            raise InputError(f"--to names {tag!r} twice: name each language once")
        if tag in pool.languages:
            raise InputError(
                f"{pool.source} has rows in {tag!r} already: leave it out of --to, or choose other languages "
                "of the pool with --languages"
            )
