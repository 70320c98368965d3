"""The mixer: from texts with items to a multilingual pool with a controlled mix of languages."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions, Rows, build_pool
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.streams import stream


class _Roles(NamedTuple):
    asks: dict[int, int]  # language → the row of the manifest that is the question
    answers: dict[int, list[int]]  # language → possible candidates


@takes_data()
def mix_pool(
    manifest: ManifestLike,
    *,
    question_languages: Sequence[str] | None = None,
    mix: Mapping[str, float] | None = None,
    candidates: int | None = None,
    seed: int = 0,
    **columns: Unpack[DataOptions],
) -> MultilingualPool:
    """Make a pool of questions and candidates from the texts of a manifest.

    *Roles.* In every question language (default: those of the mix, else all) the first text of an item is a
    question, all its other texts may be candidates, and those drawn are relevant to it. An item with one text
    has no question; one whose texts would all be questions has one, in a language drawn evenly.

    *Mix.* `mix` gives the shares of languages among the candidates, as any positive numbers. As many
    candidates as possible (or `candidates` in all) are drawn so that their numbers are the shares, rounded by
    largest remainders. Without `mix` all possible candidates are taken, or so many in the shares they have.

    Questions whose item has no candidate are dropped, and counted in a DataWarning. Questions keep the item
    as id and key, candidates the text's id. Rows are ordered by language, then as in the manifest. Raises
    InputError where a language is absent, the shares cannot be met (the error says which can), or all
    candidates would be in one language.
    """
    source, tags = manifest.source, manifest.languages
    if candidates is not None and (type(candidates) is not int or candidates < 1):
        raise InputError(f"candidates: expected a whole number from 1 up, found {candidates!r}")
    if question_languages is not None and (isinstance(question_languages, str) or not question_languages):
        raise InputError("question_languages: expected a list of at least one language, such as ['en']")
    for tag in (*(question_languages or ()), *(mix or ())):
        if tag not in tags:
            near, there = did_you_mean(tag, tags), listed(tags, 40)
            raise InputError(f"{source} has no texts in {tag!r}.{near} Its languages: {there}")
    shares = None if mix is None else _shares(mix, manifest)
    asking: Collection[int] = range(len(tags)) if shares is None else np.flatnonzero(shares).tolist()
    if question_languages is not None:
        asking = {tags.index(tag) for tag in question_languages}
    items, notes = _roles(manifest, asking, shares, stream(seed, "pool mix roles"))
    rows = np.sort(_drawn(manifest, items, shares, candidates, stream(seed, "pool mix")))
    drawn = {*rows.tolist()}
    answered = [item for item in items if any(row in drawn for own in item.answers.values() for row in own)]
    asked = np.sort(np.array([row for item in answered for row in item.asks.values()], dtype=np.int64))
    if not len(asked):
        raise InputError(
            f"{source}: no question has a relevant candidate: a question and its answers are different texts "
            f"of one item, so give items several texts ({parameter('item_column')} names their column)"
        )
    n_questions = sum(len(item.asks) for item in items)
    if dropped := n_questions - len(asked):
        notes.append(
            f"{dropped} of {n_questions} questions are dropped: no text of their item is a candidate"
        )
    spoken = np.unique(manifest.language[rows])
    if len(spoken) < 2:
        raise InputError(
            f"{source}: all candidates are in {tags[spoken[0]]!r}: a multilingual pool has candidates in two "
            "languages at least; name fewer question languages or more in the mix (for one language to "
            "search, evaluate crosslingual-retrieval takes the manifest as it is)"
        )
    lonely = np.setdiff1d(manifest.language[asked], spoken).tolist()
    if lonely and question_languages is None:  # nobody chose them
        named = listed((tags[code] for code in lonely), 40)
        notes.append(f"no candidate is in {named}: questions in it have their answers in others")
    used = [*spoken.tolist(), *lonely]
    code = np.full(len(tags), -1, dtype=np.int64)
    code[used] = np.arange(len(used))
    item_ids = [manifest.item_ids[item] for item in manifest.item]

    def take(values: Sequence[Any] | None, chosen: Ints) -> Any:  # noqa: ANN401  (a column, or none)
        return None if values is None else [values[row] for row in chosen.tolist()]

    sides = Rows(
        tuple(tags[language] for language in used),
        Questions(
            ids=take(item_ids, asked),
            language=code[manifest.language[asked]],
            text=take(manifest.text, asked),
            key=take(item_ids, asked),
            cluster=manifest.cluster[asked],
            split=take(manifest.split, asked),
            labels={name: take(column, asked) for name, column in manifest.labels.items()},
            numbers={name: column[asked] for name, column in manifest.numbers.items()},
        ),
        Candidates(
            ids=take(manifest.ids, rows),
            language=code[manifest.language[rows]],
            text=take(manifest.text, rows),
            context=take(manifest.fields.get("context"), rows) or [""] * len(rows),
            keys=[(key,) for key in take(item_ids, rows)],
            cluster=manifest.cluster[rows],
            split=take(manifest.split, rows),
        ),
        tuple(f"{source}: {note}" for note in notes),
    )
    return build_pool(f"the pool mixed from {source}", sides)


def _shares(mix: Mapping[str, float], manifest: Manifest) -> Floats:
    """Normalise the shares of the manifest's languages, float64 [languages] of sum 1."""
    for tag, share in mix.items():
        if not math.isfinite(share) or share < 0:
            raise InputError(f"the mix gives {tag!r} the share {share}: a share is a number from 0 up")
    shares = np.array([float(mix.get(tag, 0)) for tag in manifest.languages])
    if np.count_nonzero(shares) < 2:
        raise InputError(
            f"the mix {_listed(mix) or 'is empty and'} leaves fewer than two languages: give at least two a "
            f"share; {manifest.source} has {listed(manifest.languages, 40)}"
        )
    shares /= shares.max()  # so that no sum overflows
    normalised: Floats = shares / shares.sum()
    return normalised


def _roles(
    manifest: Manifest, asking: Collection[int], shares: Floats | None, rng: np.random.Generator
) -> tuple[list[_Roles], list[str]]:
    """Divide the texts of every item into questions and possible candidates, with notes on texts left out."""
    items: list[dict[int, list[int]]] = [{} for _ in range(manifest.n_items)]
    seen: set[tuple[int, int, str]] = set()
    blank = repeated = lone = 0
    rows = zip(manifest.item.tolist(), manifest.language.tolist(), manifest.text, strict=True)
    for row, place in enumerate(rows):
        if not place[2].strip():
            blank += 1
        elif place in seen:
            repeated += 1
        else:
            seen.add(place)
            items[place[0]].setdefault(place[1], []).append(row)
    sought = [True] * len(manifest.languages) if shares is None else (shares > 0).tolist()
    roles = []
    for texts in filter(None, items):
        several = sum(map(len, texts.values())) > 1  # a lone text is no question
        lone += not several and any(code in asking for code in texts)
        asks = {code: rows[0] for code, rows in texts.items() if several and code in asking}
        rest = {code: rows[1:] if code in asks else rows for code, rows in texts.items() if sought[code]}
        answers = {code: rows for code, rows in rest.items() if rows}
        if not answers and len(asks) > 1 and rest:  # every text would ask: one does, the others answer
            able = [code for code in asks if any(other != code for other in rest)]
            asker = able[int(rng.integers(len(able)))]
            answers = {code: [row] for code, row in asks.items() if code != asker and code in rest}
            asks = {asker: asks[asker]}
        roles.append(_Roles(asks, answers))
    counts = {
        f"{blank} texts without visible characters are left out": blank,
        f"{repeated} texts that an item has twice in one language are taken once": repeated,
        f"{lone} items have one text only, which is no question, but may be a candidate": lone,
    }
    return roles, [note for note, number in counts.items() if number]


def _drawn(
    manifest: Manifest,
    items: Sequence[_Roles],
    shares: Floats | None,
    total: int | None,
    rng: np.random.Generator,
) -> Ints:
    """Draw the rows [m] that are candidates: `total`, or as many as there can be, in these shares."""
    rows = np.array([row for item in items for own in item.answers.values() for row in own], dtype=np.int64)
    supply = np.bincount(manifest.language[rows], minlength=len(manifest.languages))
    if len(rows) == 0 or (shares is None and total is None):
        return rows
    natural = shares is None  # a rare language may then lose all its candidates
    shares = supply / len(rows) if shares is None else shares
    most = most_possible(supply, shares, total)
    quotas = largest_remainder(shares, most)
    used = [code for code in range(len(shares)) if shares[code] > 0]
    tags, source = manifest.languages, manifest.source
    have = _listed({tags[code]: supply[code] for code in used})
    if not natural and (absent := [tags[code] for code in used if not supply[code]]):
        raise InputError(
            f"{source}: no text in {absent[0]!r} can be a candidate (possible candidates: {have}): an item's "
            "first text in a question language is its question; choose other question languages, or leave it "
            "out of the mix"
        )
    if most == 0 or total not in (None, most):
        asked = _listed({tags[code]: f"{shares[code]:.1%}" for code in used})
        raise InputError(
            f"{source}: {total or 'no number of'} candidates cannot be drawn as {asked}, only {most} can "
            f"(possible candidates: {have}): ask for fewer or change the shares"
        )
    if not natural and (short := [tags[code] for code in used if quotas[code] == 0]):
        raise InputError(
            f"{source}: of {most} candidates the share of {short[0]!r} is less than one: raise its share or "
            "leave it out, or draw more candidates"
        )
    rows = rng.permutation(np.sort(rows))
    language = manifest.language[rows]
    return np.concatenate([rows[language == code][:quota] for code, quota in enumerate(quotas.tolist())])


def largest_remainder(shares: Floats, total: int) -> Ints:
    """Divide `total` things by shares [g] (sum 1): rounded down, the rest to the largest remainders.

    Of equal remainders the earlier language wins.

    >>> largest_remainder(np.array([0.5, 0.3, 0.2]), 7).tolist()
    [4, 2, 1]
    """
    exact = np.round(shares * total, 9)  # 0.1 · 30 is 3, not 3.0000000000000004
    quotas = np.floor(exact).astype(np.int64)
    order = np.argsort(-np.round(exact - quotas, 9), kind="stable")
    quotas[order[: total - quotas.sum()]] += 1
    return quotas


def most_possible(supply: Ints, shares: Floats, most: int | None = None) -> int:
    """Find the largest total (up to `most`) whose rounded shares the supply [g] meets; 0 for none."""
    limits = [(int(supply[code]) + 1) / shares[code] for code in np.flatnonzero(shares).tolist()]
    total = int(min([*limits, supply.sum(), *([] if most is None else [most])]))
    while total > 0 and (largest_remainder(shares, total) > supply).any():
        total -= 1
    return total


def _listed(numbers: Mapping[str, object]) -> str:
    return listed((f"{tag} {number}" for tag, number in numbers.items()), 40)
