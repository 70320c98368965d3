"""The mixer: from texts with items to a multilingual pool with a controlled mix of languages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions, Rows, build_pool
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.streams import stream

Options: TypeAlias = tuple[int, ...]  # the languages, ascending, in one of which a thing may serve
Supply: TypeAlias = Mapping[Options, int]  # how many things there are of each kind


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
    question, all its other texts may be candidates, and those drawn are relevant to it. An item with one text
    has no question; one whose texts would all be questions has one, in a language drawn evenly.

    *Mix.* `mix` gives the wanted shares of languages among the candidates, as any positive numbers. As many
    candidates as possible (or `candidates` in all) are drawn so that their numbers are the shares, rounded by
    largest remainders. Without `mix` all possible candidates are taken, or so many in the shares they have.

    *One per item.* With `per_item="one"` each item has one candidate, in one language, drawn by the mix (else
    evenly). Where its only text there would be a question, it is the candidate, if another language asks.

    Questions whose item has no candidate are dropped, and counted in a DataWarning; `questions` draws so many
    of the others. Questions keep the item as id and key, candidates the text's id. Rows are ordered by
    language, then as in the manifest. Raises InputError where a language is absent, the shares cannot be met
    (the error says which can), or all candidates would be in one language.
    """
    source, tags = manifest.source, manifest.languages
    if per_item not in ("all", "one"):
        raise InputError(f"per_item {per_item!r}: expected 'all' or 'one'")
    for what, number in (("candidates", candidates), ("questions", questions)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise InputError(f"{what}: expected a whole number from 1 up, found {number!r}")
    if question_languages is not None and (isinstance(question_languages, str) or not question_languages):
        raise InputError("question_languages: expected a list of at least one language, such as ['en']")
    for tag in (*(question_languages or ()), *(mix or ())):
        if tag not in tags:
            raise InputError(
                f"{tag!r} is wanted, but {source} has no texts in it.{did_you_mean(tag, tags)} Its "
                f"languages: {listed(tags, 40)}"
            )
    shares = None if mix is None else _shares(mix, manifest)
    asking: Collection[int] = range(len(tags)) if shares is None else np.flatnonzero(shares).tolist()
    if question_languages is not None:
        asking = {tags.index(tag) for tag in question_languages}
    items, notes = _roles(manifest, asking, shares, per_item == "one", stream(seed, "pool mix roles"))
    draw = _drawn_per_item if per_item == "one" else _drawn
    rows = np.sort(draw(manifest, items, shares, candidates, stream(seed, "pool mix")))
    asked = _question_rows(items, rows, questions, manifest, stream(seed, "pool mix questions"), notes)
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
    return _pool(manifest, asked, rows, [*spoken.tolist(), *lonely], notes)


def _pool(
    manifest: Manifest, asked: Ints, rows: Ints, languages: Sequence[int], notes: Sequence[str]
) -> MultilingualPool:
    """Return the pool of these rows of the manifest, in these languages."""
    code = np.full(len(manifest.languages), -1, dtype=np.int64)
    code[languages] = np.arange(len(languages))
    items = [manifest.item_ids[item] for item in manifest.item]

    def take(values: Sequence[Any] | None, chosen: Ints) -> Any:  # noqa: ANN401  (a column, or none)
        return None if values is None else [values[row] for row in chosen.tolist()]

    questions = Questions(
        ids=take(items, asked),
        language=code[manifest.language[asked]],
        text=take(manifest.text, asked),
        key=take(items, asked),
        cluster=manifest.cluster[asked],
        split=take(manifest.split, asked),
        labels={name: take(column, asked) for name, column in manifest.labels.items()},
        numbers={name: column[asked] for name, column in manifest.numbers.items()},
    )
    candidates = Candidates(
        ids=take(manifest.ids, rows),
        language=code[manifest.language[rows]],
        text=take(manifest.text, rows),
        context=take(manifest.fields.get("context"), rows) or [""] * len(rows),
        keys=[(key,) for key in take(items, rows)],
        cluster=manifest.cluster[rows],
        split=take(manifest.split, rows),
    )
    tags = tuple(manifest.languages[own] for own in languages)
    whole = Rows(tags, questions, candidates, tuple(f"{manifest.source}: {note}" for note in notes))
    return build_pool(f"the pool mixed from {manifest.source}", whole)


def _shares(mix: Mapping[str, float], manifest: Manifest) -> Floats:
    """Return the share of each of the manifest's languages, float64 [languages] of sum 1."""
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


# --- which texts ask, and which may answer


class _Roles(NamedTuple):
    asks: dict[int, int]  # language → the row of the manifest that is the question
    answers: dict[int, list[int]]  # language → possible candidates


def _roles(
    manifest: Manifest,
    asking: Collection[int],
    shares: Floats | None,
    single: bool,
    rng: np.random.Generator,
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
        if single and len(asks) > 1:  # where a language's only text answers, the other languages still ask
            answers = {code: rows or [asks[code]] for code, rows in rest.items()}
        elif not answers and len(asks) > 1 and rest:  # every text would ask: one does, the others answer
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


def _question_rows(
    items: Sequence[_Roles],
    drawn: Ints,
    total: int | None,
    manifest: Manifest,
    rng: np.random.Generator,
    notes: list[str],
) -> Ints:
    """Return the rows [n] that are questions; notes those that were dropped."""
    rows, in_pool, dropped = list[int](), set(drawn.tolist()), 0
    for item in items:
        answers = {row for own in item.answers.values() for row in own if row in in_pool}
        rows += [row for row in item.asks.values() if row not in answers] if answers else []
        dropped += 0 if answers else len(item.asks)
    if not rows:
        raise InputError(
            f"{manifest.source}: no question has a relevant candidate: a question and its answers are "
            "different texts of one item, so give items several texts "
            f"({parameter('item_column')} names their column)"
        )
    if total is not None and total > len(rows):
        raise InputError(
            f"{manifest.source}: {total} questions are wanted, but only {len(rows)} have a relevant "
            "candidate: ask for fewer questions"
        )
    if dropped:
        notes.append(
            f"{dropped} of {dropped + len(rows)} questions are dropped: no text of their item is a candidate"
        )
    return np.sort(rng.permutation(np.sort(rows))[:total])


# --- drawing candidates so that the languages have their shares


def _drawn(
    manifest: Manifest,
    items: Sequence[_Roles],
    shares: Floats | None,
    total: int | None,
    rng: np.random.Generator,
) -> Ints:
    """Return the rows [m] that are candidates, where an item may have any number of them."""
    rows = np.array([row for item in items for own in item.answers.values() for row in own], dtype=int)
    language = manifest.language[rows]
    if len(rows) == 0 or (shares is None and total is None):
        return rows
    supply: Supply = Counter((code,) for code in language.tolist())
    if shares is None:  # the shares they have; a rare language may then lose all its candidates
        natural = np.bincount(language, minlength=len(manifest.languages)) / len(rows)
        quotas = _quotas(manifest, supply, natural, total, all_served=False)
    else:
        quotas = _quotas(manifest, supply, shares, total)
    rows = rng.permutation(np.sort(rows))
    language = manifest.language[rows]
    return np.concatenate([rows[language == code][:quota] for code, quota in enumerate(quotas.tolist())])


def _drawn_per_item(
    manifest: Manifest,
    items: Sequence[_Roles],
    shares: Floats | None,
    total: int | None,
    rng: np.random.Generator,
) -> Ints:
    """Return the rows [m] that are candidates, at most one for each item."""
    sought = range(len(manifest.languages)) if shares is None else np.flatnonzero(shares).tolist()
    options: list[Options] = [tuple(code for code in sought if code in item.answers) for item in items]
    if shares is None:
        language = np.array([rng.choice(own) if own else -1 for own in options], dtype=np.int64)
        able = np.flatnonzero(language >= 0)
        if total is not None and total > len(able):
            raise InputError(
                f"{manifest.source}: {total} candidates are wanted, but only {len(able)} items have texts "
                "for one: ask for fewer candidates"
            )
        language[rng.permutation(able)[total:] if total is not None else []] = -1
    else:
        supply = Counter(own for own in options if own)
        language = draw_languages(options, _quotas(manifest, supply, shares, total), rng)
    chosen = [item.answers[code] for item, code in zip(items, language.tolist(), strict=True) if code >= 0]
    return np.array([own[int(rng.integers(len(own)))] for own in chosen], dtype=np.int64)


def _quotas(
    manifest: Manifest, supply: Supply, shares: Floats, total: int | None, *, all_served: bool = True
) -> Ints:
    """Return how many candidates [languages] to draw: `total`, or as many as there can be, in these shares.

    With `all_served` no language with a share may go without a candidate.
    """
    most = most_possible(supply, shares, total)
    quotas = largest_remainder(shares, most)
    tags = {code: tag for code, tag in enumerate(manifest.languages) if shares[code] > 0}
    have = {tag: sum(n for options, n in supply.items() if code in options) for code, tag in tags.items()}
    absent = [tag for tag, number in have.items() if number == 0]
    if all_served and absent:
        raise InputError(
            f"{manifest.source}: no text in {absent[0]!r} can be a candidate (possible candidates: "
            f"{_listed(have)}): an item's first text in a question language is its question; choose other "
            "question languages, or leave it out of the mix"
        )
    if most == 0 or total not in (None, most):
        wanted = _listed({tag: f"{shares[code]:.1%}" for code, tag in tags.items()})
        raise InputError(
            f"{manifest.source}: {total or 'no number of'} candidates cannot be drawn as {wanted}, only "
            f"{most} can (possible candidates: {_listed(have)}): ask for fewer or change the shares"
        )
    if all_served and (short := [code for code in tags if quotas[code] == 0]):
        raise InputError(
            f"{manifest.source}: of {most} candidates the share of {tags[short[0]]!r} "
            f"({shares[short[0]]:.2%}) is less than one: raise its share or leave it out, or draw more "
            "candidates"
        )
    return quotas


def largest_remainder(shares: Floats, total: int) -> Ints:
    """Return `total` things divided by shares [g] (sum 1): rounded down, the rest to the largest remainders.

    Of equal remainders the earlier language wins.

    >>> largest_remainder(np.array([0.5, 0.3, 0.2]), 7).tolist()
    [4, 2, 1]
    """
    exact = np.round(shares * total, 9)  # 0.1 · 30 is 3, not 3.0000000000000004
    quotas = np.floor(exact).astype(np.int64)
    order = np.argsort(-np.round(exact - quotas, 9), kind="stable")
    quotas[order[: total - quotas.sum()]] += 1
    return quotas


def most_possible(supply: Supply, shares: Floats, most: int | None = None) -> int:
    """Return the largest total (up to `most`) whose rounded shares the supply meets; 0 for none.

    Rounding is not monotone. Rounding all shares down is, and bounds the search from above.
    """
    high = sum(supply.values()) if most is None else min(most, sum(supply.values()))
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if allotment(supply, np.floor(np.round(shares * middle, 9)).astype(np.int64)) is not None:
            low = middle
        else:
            high = middle - 1
    while low > 0 and allotment(supply, largest_remainder(shares, low)) is None:
        low -= 1
    return low


def allotment(supply: Supply, quotas: Ints) -> Ints | None:
    """Return how many things of each kind [kinds, g] serve in each language, so that quotas [g] are met.

    None where they cannot be: a maximum flow from the kinds to the languages, each thing serving once.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    first = 1 + len(supply)  # node 0 is the source, then the kinds, the languages, the sink
    sink = first + len(quotas)
    edges = [(0, 1 + kind, number) for kind, number in enumerate(supply.values())]
    for kind, (options, number) in enumerate(supply.items(), start=1):
        edges += [(kind, first + code, number) for code in options]
    edges += [(first + code, sink, quota) for code, quota in enumerate(quotas.tolist())]
    left, right, capacity = zip(*edges, strict=True)
    graph = csr_array((np.array(capacity, dtype=np.int32), (left, right)), shape=(sink + 1, sink + 1))
    result = maximum_flow(graph, 0, sink)
    if result.flow_value < quotas.sum():
        return None
    return np.asarray(result.flow[1:first, first:sink].toarray(), dtype=np.int64)


def draw_languages(options: Sequence[Options], quotas: Ints, rng: np.random.Generator) -> Ints:
    """Return a language for each of n things, −1 for one that is left out, so that the quotas [g] are met.

    How many things of a kind serve in a language is one of the ways to meet the quotas; which ones is drawn.
    """
    things: dict[Options, list[int]] = {}
    for thing in rng.permutation(len(options)).tolist():  # the order of kinds is random, too
        if options[thing]:
            things.setdefault(options[thing], []).append(thing)
    served = allotment({kind: len(own) for kind, own in things.items()}, quotas)
    assert served is not None
    language = np.full(len(options), -1, dtype=np.int64)
    for places, numbers in zip(things.values(), served, strict=True):
        language[places[: int(numbers.sum())]] = np.repeat(np.arange(len(quotas)), numbers)
    return language


def _listed(numbers: Mapping[str, object]) -> str:
    """Return "en 3, de 1"."""
    return listed((f"{tag} {number}" for tag, number in numbers.items()), 40)
