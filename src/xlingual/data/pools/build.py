"""From rows in file order to a pool: languages in order, clusters numbered, numberings of vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import check_tags
from xlingual.data.pools.clusters import join_parallel, joined_sentences
from xlingual.data.pools.rows import Candidates, PoolRows, Questions
from xlingual.data.reading.select import no_split
from xlingual.data.reading.textrows import position_in_group
from xlingual.data.reading.values import and_more, numbered, shown
from xlingual.errors import InputError, did_you_mean, listed, warn
from xlingual.records import Numbering

Part = TypeVar("Part", Questions, Candidates)


def build_pool(
    source: str,
    languages: tuple[str, ...],
    questions: Questions,
    candidates: Candidates,
    chosen: Sequence[str] | None = None,
    split: str | None = None,
) -> PoolRows:
    """Return the pool of the chosen languages, in their order, and of the rows of a split.

    `languages` is the whole pool's own order; questions and candidates are those of the whole pool in the
    order of their files. A language without chosen rows is left out, and so are questions that lose their
    relevant candidates by the choice, with a DataWarning. Questions with equal ids or equal keys are
    parallel, and of one cluster and one article; a DataWarning where the rows say otherwise. Raise InputError
    where the whole pool is not sound: a question without a relevant candidate.
    """
    check_tags(languages, source)
    if not len(questions) or not len(candidates):
        what = "candidates" if len(questions) else "questions"
        raise InputError(f"{source} has no {what}: a pool needs questions and candidates")
    check_relevant(languages, questions, candidates, lambda row: source)
    given = questions
    questions, candidates = join_parallel(questions, candidates)
    order = languages if chosen is None else chosen_languages(source, languages, chosen)
    codes = [languages.index(tag) for tag in order]
    if split is not None:
        _check_split(source, questions, candidates, split)
    of_questions = _stages(questions.language, questions.split, codes, split)
    of_candidates = _stages(candidates.language, candidates.split, codes, split)
    if not len(of_candidates[-1]):
        raise InputError(f"{source}: there is no candidate of {_choice(order, split)}: choose more")
    left = _answered(questions, candidates, of_questions[-1], of_candidates[-1])
    notes = _note_unanswered(source, questions, of_questions[-1], left, order, split)
    notes += warn_each(*joined_sentences(source, given, questions, left))
    of_questions.append(left)
    present = {*questions.language[left].tolist(), *candidates.language[of_candidates[-1]].tolist()}
    codes = [code for code in codes if code in present]
    recode = np.full(len(languages), -1, dtype=np.int64)
    recode[codes] = np.arange(len(codes))
    q, c = taken(questions, of_questions[-1]), taken(candidates, of_candidates[-1])
    article = None if q.article is None else numbered(q.article.tolist())[0]
    cluster, _ = numbered([*q.cluster.tolist(), *c.cluster.tolist()])
    return PoolRows(
        source,
        tuple(languages[code] for code in codes),
        replace(q, language=recode[q.language], cluster=cluster[: len(q)], article=article),
        replace(c, language=recode[c.language], cluster=cluster[len(q) :]),
        _numberings("questions", of_questions, questions.language, languages),
        _numberings("candidates", of_candidates, candidates.language, languages),
        notes,
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


def check_relevant(
    languages: Sequence[str], questions: Questions, candidates: Candidates, where: Callable[[int], str]
) -> None:
    """Raise InputError where no candidate holds a question's key; `where` names the row of a question."""
    answered_keys = {key for keys in candidates.keys for key in keys}
    without = [row for row, key in enumerate(questions.key) if key not in answered_keys]
    if without:
        row = without[0]
        raise InputError(
            f"{where(row)}: question {questions.ids[row]!r:.80} ({languages[questions.language[row]]}) has "
            f"no relevant candidate{and_more(without, 'questions')}: "
            f"no candidate holds its key {questions.key[row]!r:.80}"
        )


def _check_split(source: str, questions: Questions, candidates: Candidates, split: str) -> None:
    """Raise InputError where no row is of the split."""
    splits = dict.fromkeys([*(questions.split or ()), *(candidates.split or ())])
    if not splits:
        raise InputError(f"{source} has no column 'split': leave the split {split!r} out")
    if split not in (questions.split or [split]) or split not in splits:
        raise no_split(source, split, splits)


def _stages(language: Ints, splits: list[str] | None, codes: Sequence[int], split: str | None) -> list[Ints]:
    """Return the rows of the whole pool, of the chosen languages and of the split, each by language."""
    whole = np.argsort(language, kind="stable").astype(np.int64)
    rows = np.concatenate([np.flatnonzero(language == code) for code in codes]).astype(np.int64)
    stages = [whole, rows]
    if split is not None and splits is not None:
        stages.append(rows[[splits[row] == split for row in rows]])
    return stages


def _answered(questions: Questions, candidates: Candidates, rows: Ints, pool: Ints) -> Ints:
    """Return those `rows` of questions whose key a candidate of `pool` holds."""
    answered_keys = {key for row in pool for key in candidates.keys[row]}
    return np.array([row for row in rows.tolist() if questions.key[row] in answered_keys], dtype=np.int64)


def _note_unanswered(
    source: str, questions: Questions, rows: Ints, left: Ints, order: Sequence[str], split: str | None
) -> tuple[str, ...]:
    if not len(left):
        raise InputError(
            f"{source}: no question of {_choice(order, split)} has a relevant candidate there: choose others"
        )
    lost = [questions.ids[row] for row in np.setdiff1d(rows, left)]
    if not lost:
        return ()
    return warn_each(
        f"{source}: {len(lost)} of {len(rows)} questions of {_choice(order, split)} have no relevant "
        f"candidate there and are left out ({shown(lost)})"
    )


def warn_each(*sentences: str) -> tuple[str, ...]:
    """Raise each sentence as a DataWarning, and return them."""
    for sentence in sentences:
        warn(sentence)
    return sentences


def _choice(order: Sequence[str], split: str | None) -> str:
    return listed(order, 40) + ("" if split is None else f", split {split!r}")


def _numberings(
    what: str, stages: Sequence[Ints], language: Ints, languages: Sequence[str]
) -> tuple[Numbering, ...]:
    """Return how files may number the last stage's rows: as it is, or as any stage before the choice."""
    kept = stages[-1]
    found: list[Numbering] = []
    for number, stage in reversed(list(enumerate(stages))):
        if any(np.array_equal(stage, later) for later in stages[number + 1 :]):
            continue
        earlier = "whole-pool " if np.array_equal(stage, stages[0]) else "chosen "
        note = earlier if found else ""
        position, place = np.full(len(language), -1), np.full(len(language), -1)
        position[stage], place[stage] = position_in_group(language[stage]), np.arange(len(stage))
        counts = zip(languages, np.bincount(language[stage], minlength=len(languages)).tolist(), strict=True)
        sizes: dict[str | None, int] = {tag: count for tag, count in counts if count}
        found.append(Numbering(f"{note}{what} of the language", position[kept].astype(np.int64), sizes))
        found.append(Numbering(f"{note}{what}", place[kept].astype(np.int64), {None: len(stage)}))
    return tuple(found)


def taken(part: Part, rows: Ints) -> Part:
    """Return the chosen questions, or candidates."""

    def taken(values: Any) -> Any:  # noqa: ANN401  (a column, or columns by name)
        if isinstance(values, Mapping):
            return {name: taken(column) for name, column in values.items()}
        return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]

    columns = {f.name: getattr(part, f.name) for f in fields(part)}
    chosen = {name: taken(values) for name, values in columns.items() if values is not None}
    return replace(part, **chosen)
