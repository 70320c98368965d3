"""The mixer: from texts with items to a multilingual pool with a controlled mix of languages."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, Unpack

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.pools.build import build_pool
from xlingual.data.pools.drawing import draw_all, draw_one, numbers_listed
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.pools.roles import ItemRoles, roles
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.reading.columns import DataOptions
from xlingual.data.taking import takes_data
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn
from xlingual.streams import stream

T = TypeVar("T")


@takes_data()
def mix_pool(
    manifest: ManifestLike,
    *,
    question_languages: Sequence[str] | None = None,
    mix: Mapping[str, float] | None = None,
    per_item: str = "all",
    candidates: int | None = None,
    questions: int | None = None,
    seed: int = 0,
    **columns: Unpack[DataOptions],
) -> MultilingualPool:
    """Return a pool of questions and candidates made from the texts of a manifest.

    *Roles.* In every question language (default: those of the mix, else all) the first text of an item is a
    question; all its other texts may be candidates. A text that is a question is no candidate, so that no
    text is its own answer. All candidates of a question's item are relevant to it. An item with one text has
    no question; an item whose texts would all be questions (one in each language, all of them question
    languages) has one in one of them, drawn evenly. Blank texts, and those that an item has twice in one
    language, are left out.

    *Mix.* `mix` gives the wanted shares of languages among the candidates, as any positive numbers; languages
    that it does not name have none. As many candidates as possible (or `candidates` in all) are drawn at
    random so that their numbers are the shares, rounded by largest remainders. Without `mix` all possible
    candidates are taken, or `candidates` of them in the shares they have.

    *One per item.* With `per_item="one"` each item has one candidate, in one language, drawn by the mix (else
    evenly among the item's languages), as in a store where every document is in one language. Where an item's
    only text in that language would be a question, it is the candidate instead, if it has a question in
    another language.

    Questions whose item has no candidate in the pool are dropped, and counted in a DataWarning; `questions`
    draws so many of the others. Questions keep the item as id and key, so equal ids are parallel; candidates
    keep the text's id. Rows are ordered by language (in the manifest's order), then as in the manifest.
    Question languages need no candidates; those without stand last. Raises InputError where a language is
    absent, the shares cannot be met (the error says which can), or all candidates would be in one language.
    """
    if per_item not in ("all", "one"):
        raise InputError(f"per_item {per_item!r}: expected 'all' or 'one'")
    check_count("candidates", candidates)
    check_count("questions", questions)
    shares = shares_of(mix, manifest)
    asking = asking_languages(question_languages, shares, manifest)
    items, left_out = roles(manifest, asking, shares, per_item == "one", stream(seed, "pool mix roles"))
    draw = draw_one if per_item == "one" else draw_all
    drawn = draw(manifest, items, shares, candidates, stream(seed, "pool mix"))
    question_rows, notes = _question_rows(
        items, drawn, questions, manifest, stream(seed, "pool mix questions")
    )
    candidate_languages = np.unique(manifest.language[drawn])
    if len(candidate_languages) < 2:
        raise InputError(
            f"{manifest.source}: all candidates are in {manifest.languages[candidate_languages[0]]!r}: a "
            "multilingual pool has candidates in two languages at least; name fewer question languages or "
            "more in the mix (for one language to search, evaluate crosslingual-retrieval takes the "
            "manifest as it is)"
        )
    lonely = np.setdiff1d(manifest.language[question_rows], candidate_languages).tolist()
    if lonely and question_languages is None:  # nobody chose them
        tags = listed((manifest.languages[code] for code in lonely), 40)
        notes.append(f"no candidate is in {tags}: questions in it have their answers in others")
    sentences = tuple(f"{manifest.source}: {note}" for note in [*left_out, *notes])
    for sentence in sentences:
        warn(sentence)
    return _pool(manifest, question_rows, drawn, sentences)


def _question_rows(
    items: Sequence[ItemRoles],
    drawn: Ints,
    total: int | None,
    manifest: Manifest,
    rng: np.random.Generator,
) -> tuple[Ints, list[str]]:
    """Return the rows [n] that are questions, and a note on the questions that were dropped."""
    in_pool = set(drawn.tolist())
    question_rows: list[int] = []
    dropped = 0
    for item in items:
        answered = {row for own in item.answers.values() for row in own if row in in_pool}
        question_rows += [row for row in item.asks.values() if row not in answered] if answered else []
        dropped += 0 if answered else len(item.asks)
    if not question_rows:
        raise InputError(
            f"{manifest.source}: no question has a relevant candidate: a question and its answers are "
            "different texts of one item, so give items several texts "
            f"({parameter('item_column')} names their column)"
        )
    if total is not None and total > len(question_rows):
        raise InputError(
            f"{manifest.source}: {total} questions are wanted, but only {len(question_rows)} have a relevant "
            "candidate: ask for fewer questions"
        )
    rows = np.sort(rng.permutation(np.sort(question_rows))[:total])
    of = f"{dropped} of {dropped + len(question_rows)} questions"
    return rows, [f"{of} are dropped: no text of their item is a candidate"] if dropped else []


def _pool(manifest: Manifest, question_rows: Ints, drawn: Ints, notes: tuple[str, ...]) -> MultilingualPool:
    """Return the pool of these rows, ordered by language, then as in the manifest."""
    question_rows, drawn = np.sort(question_rows), np.sort(drawn)
    candidate_codes = np.unique(manifest.language[drawn])
    question_codes = np.unique(manifest.language[question_rows])
    present = [*candidate_codes.tolist(), *np.setdiff1d(question_codes, candidate_codes).tolist()]
    code = np.full(len(manifest.languages), -1, dtype=np.int64)
    code[present] = np.arange(len(present))
    item = [manifest.item_ids[own] for own in manifest.item]
    context = manifest.fields.get("context")

    def take(values: Sequence[T], rows: Ints) -> list[T]:
        return [values[row] for row in rows.tolist()]

    def split(rows: Ints) -> list[str] | None:
        return None if manifest.split is None else take(manifest.split, rows)

    pool = build_pool(
        f"the pool mixed from {manifest.source}",
        tuple(manifest.languages[own] for own in present),
        Questions(
            ids=take(item, question_rows),
            language=code[manifest.language[question_rows]],
            text=take(manifest.text, question_rows),
            key=take(item, question_rows),
            cluster=manifest.cluster[question_rows],
            split=split(question_rows),
            labels={name: take(column, question_rows) for name, column in manifest.labels.items()},
            numbers={name: column[question_rows] for name, column in manifest.numbers.items()},
        ),
        Candidates(
            ids=take(manifest.ids, drawn),
            language=code[manifest.language[drawn]],
            text=take(manifest.text, drawn),
            context=[""] * len(drawn) if context is None else take(context, drawn),
            keys=[(key,) for key in take(item, drawn)],
            cluster=manifest.cluster[drawn],
            split=split(drawn),
        ),
    )
    return MultilingualPool.of(replace(pool, warnings=(*notes, *pool.warnings)))


def shares_of(mix: Mapping[str, float] | None, manifest: Manifest) -> Floats | None:
    """Return the share of each of the manifest's languages, float64 [languages] of sum 1; None for no mix."""
    if mix is None:
        return None
    shares = np.zeros(len(manifest.languages))
    for tag, share in mix.items():
        if not math.isfinite(share) or share < 0:
            raise InputError(f"the mix gives {tag!r} the share {share}: a share is a number from 0 up")
        shares[_code(tag, manifest, "the mix names")] = share
    if np.count_nonzero(shares) < 2:
        raise InputError(
            f"the mix {numbers_listed(mix) or 'is empty and'} leaves fewer than two languages: give "
            f"at least two a share; {manifest.source} has {listed(manifest.languages, 40)}"
        )
    shares /= shares.max()  # so that no sum overflows
    normalised: Floats = shares / shares.sum()
    return normalised


def asking_languages(
    named: Sequence[str] | None, shares: Floats | None, manifest: Manifest
) -> Collection[int]:
    """Return the codes of the question languages; by default those of the mix, else all."""
    if named is not None:
        if isinstance(named, str) or not named:
            raise InputError("question_languages: expected a list of at least one language, such as ['en']")
        return sorted({_code(tag, manifest, "the question languages name") for tag in named})
    if shares is None:
        return range(len(manifest.languages))
    return [int(code) for code in np.flatnonzero(shares)]


def check_count(what: str, count: int | None) -> None:
    """Raise InputError where a number of things to draw is none."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise InputError(f"{what}: expected a whole number from 1 up, found {count!r}")


def _code(tag: str, manifest: Manifest, who: str) -> int:
    if tag not in manifest.languages:
        raise InputError(
            f"{who} {tag!r}, but {manifest.source} has no texts in it."
            f"{did_you_mean(tag, manifest.languages)} Its languages: {listed(manifest.languages, 40)}"
        )
    return manifest.languages.index(tag)
