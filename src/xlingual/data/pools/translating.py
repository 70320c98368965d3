"""A pool in more languages: its questions and candidates in one language, translated into others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import check_tags
from xlingual.data.pools.build import build_pool
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.pools.rows import Candidates, PoolRows, Questions
from xlingual.errors import InputError, listed

Translate = Callable[[list[str], str], list[str]]  # (different texts, language) → their translations


def translate_rows(
    pool: PoolRows,
    to: Sequence[str],
    translate: Translate,
    *,
    source: str | None = None,
    context: bool = True,
) -> MultilingualPool:
    """Return the pool with the rows of the language `source` in each language of `to` as well.

    Questions and candidates, and the contexts of these unless `context` is false (then translations have
    none), are translated; ids, keys, clusters, articles and splits are those of the rows that they
    translate, so that a question's translations are one question, and what was relevant to it is relevant in
    every language. A question whose translation is empty is left out. `translate` is called once for each
    language, with every different text once. All rows of the pool stay as they are, before the new ones.
    `source` may be left out where all questions are in one language.

    Raises InputError where `source` has no rows, or a language of `to` is in the pool already.
    """
    source = source_language(pool, source)
    check_targets(pool, to)
    own = pool.languages.index(source)
    asked = np.flatnonzero(pool.questions.language == own)
    stand = np.flatnonzero(pool.candidates.language == own)
    questions, candidates = pool.questions, pool.candidates
    for place, tag in enumerate(to):
        code = len(pool.languages) + place
        texts = [pool.questions.text[row] for row in asked] + [pool.candidates.text[row] for row in stand]
        around = [pool.candidates.context[row] for row in stand] if context else []
        different = list(dict.fromkeys(text for text in (*texts, *around) if text.strip()))
        found = dict(zip(different, translate(different, tag), strict=True))
        made = [found.get(text, "") for text in texts]
        contexts = [found.get(text, "") for text in around] or [""] * len(stand)
        full = [place for place, text in enumerate(made[: len(asked)]) if text.strip()]
        questions = _more_questions(questions, asked[full], [made[place] for place in full], code)
        candidates = _more_candidates(candidates, stand, made[len(asked) :], contexts, code)
    name = f"{pool.source}, translated into {listed(to)}"
    return MultilingualPool.of(build_pool(name, (*pool.languages, *to), questions, candidates))


def source_language(pool: PoolRows, source: str | None) -> str:
    """Return the language to translate from; raise InputError where it is not clear, or has no question."""
    here = pool.role_languages["query"]
    if source is None and len(here) == 1:
        return here[0]
    if source is None:
        raise InputError(
            f"{pool.source} has questions in {listed(here, 20)}: say with --from which language is translated"
        )
    if source not in here:
        raise InputError(f"{pool.source} has no question in {source!r}: it has some in {listed(here, 20)}")
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


def _more_questions(questions: Questions, rows: Ints, text: list[str], code: int) -> Questions:
    def twice(values: list[str]) -> list[str]:
        return values + [values[row] for row in rows]

    article, split = questions.article, questions.split
    return replace(
        questions,
        ids=twice(questions.ids),
        language=np.append(questions.language, np.full(len(rows), code)),
        text=questions.text + text,
        key=twice(questions.key),
        cluster=np.append(questions.cluster, questions.cluster[rows]),
        article=None if article is None else np.append(article, article[rows]),
        split=None if split is None else twice(split),
    )


def _more_candidates(
    candidates: Candidates, rows: Ints, text: list[str], context: list[str], code: int
) -> Candidates:
    split, grades, irrelevant = candidates.split, candidates.grades, candidates.irrelevant
    return replace(
        candidates,
        ids=candidates.ids + [candidates.ids[row] for row in rows],
        language=np.append(candidates.language, np.full(len(rows), code)),
        text=candidates.text + text,
        context=candidates.context + context,
        keys=candidates.keys + [candidates.keys[row] for row in rows],
        cluster=np.append(candidates.cluster, candidates.cluster[rows]),
        split=None if split is None else split + [split[row] for row in rows],
        grades=None if grades is None else grades + [grades[row] for row in rows],
        irrelevant=None if irrelevant is None else irrelevant + [irrelevant[row] for row in rows],
    )
