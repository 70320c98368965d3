"""The mixer: from texts with items to a multilingual pool with a controlled mix of languages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.pools.build import build_pool
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions
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
    if per_item not in ("all", "one"):
        raise InputError(f"per_item {per_item!r}: expected 'all' or 'one'")
    for what, number in (("candidates", candidates), ("questions", questions)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise InputError(f"{what}: expected a whole number from 1 up, found {number!r}")
    shares = _shares(mix, manifest)
    asking: Collection[int] = range(len(manifest.languages))
    if question_languages is not None:
        if isinstance(question_languages, str) or not question_languages:
            raise InputError("question_languages: expected a list of at least one language, such as ['en']")
        asking = {_code(tag, manifest, "the question languages name") for tag in question_languages}
    elif shares is not None:
        asking = np.flatnonzero(shares).tolist()
    single = per_item == "one"
    items, notes = _roles(manifest, asking, shares, single, stream(seed, "pool mix roles"))
    draw = _Drawing(manifest, items, shares, candidates, stream(seed, "pool mix"))
    rows = np.sort(draw.one_per_item() if single else draw.all())
    asked = _question_rows(items, rows, questions, manifest, stream(seed, "pool mix questions"), notes)
    spoken = np.unique(manifest.language[rows])
    if len(spoken) < 2:
        raise InputError(
            f"{manifest.source}: all candidates are in {manifest.languages[spoken[0]]!r}: a multilingual "
            "pool has candidates in two languages at least; name fewer question languages or more in the mix "
            "(for one language to search, evaluate crosslingual-retrieval takes the manifest as it is)"
        )
    lonely = np.setdiff1d(manifest.language[asked], spoken).tolist()
    if lonely and question_languages is None:  # nobody chose them
        tags = listed((manifest.languages[code] for code in lonely), 40)
        notes.append(f"no candidate is in {tags}: questions in it have their answers in others")
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
    sentences = [f"{manifest.source}: {note}" for note in notes]
    name = f"the pool mixed from {manifest.source}"
    return MultilingualPool.of(build_pool(name, tags, questions, candidates, notes=sentences))


def _shares(mix: Mapping[str, float] | None, manifest: Manifest) -> Floats | None:
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
            f"the mix {_listed(mix) or 'is empty and'} leaves fewer than two languages: give at least two a "
            f"share; {manifest.source} has {listed(manifest.languages, 40)}"
        )
    shares /= shares.max()  # so that no sum overflows
    normalised: Floats = shares / shares.sum()
    return normalised


def _code(tag: str, manifest: Manifest, who: str) -> int:
    if tag not in manifest.languages:
        raise InputError(
            f"{who} {tag!r}, but {manifest.source} has no texts in it."
            f"{did_you_mean(tag, manifest.languages)} Its languages: {listed(manifest.languages, 40)}"
        )
    return manifest.languages.index(tag)


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
    blank = repeated = 0
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
    items = [own for own in items if own]
    roles = [_roles_of(own, asking, sought, single, rng) for own in items]
    lone = sum(sum(map(len, own.values())) == 1 and any(code in asking for code in own) for own in items)
    counts = {
        f"{blank} texts without visible characters are left out": blank,
        f"{repeated} texts that an item has twice in one language are taken once": repeated,
        f"{lone} items have one text only, which is no question, but may be a candidate": lone,
    }
    return roles, [note for note, number in counts.items() if number]


def _roles_of(
    texts: dict[int, list[int]],
    asking: Collection[int],
    sought: Sequence[bool],
    single: bool,
    rng: np.random.Generator,
) -> _Roles:
    several = sum(map(len, texts.values())) > 1  # a lone text is no question
    asks = {code: rows[0] for code, rows in texts.items() if several and code in asking}
    rest = {code: rows[1:] if code in asks else rows for code, rows in texts.items() if sought[code]}
    if single and len(asks) > 1:  # where the only text of a language answers, the other languages still ask
        return _Roles(asks, {code: rows or [asks[code]] for code, rows in rest.items()})
    answers = {code: rows for code, rows in rest.items() if rows}
    if not answers and len(asks) > 1 and rest:  # every text would ask: one of them does, the others answer
        able = [code for code in asks if any(other != code for other in rest)]
        asker = able[int(rng.integers(len(able)))]
        answers = {code: [row] for code, row in asks.items() if code != asker and code in rest}
        asks = {asker: asks[asker]}
    return _Roles(asks, answers)


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


@dataclass(frozen=True)
class _Drawing:
    manifest: Manifest
    items: Sequence[_Roles]
    shares: Floats | None
    total: int | None
    rng: np.random.Generator

    def all(self) -> Ints:
        """Return the rows [m] that are candidates, where an item may have any number of them."""
        rows = np.array([r for item in self.items for own in item.answers.values() for r in own], dtype=int)
        language = self.manifest.language[rows]
        if len(rows) == 0 or (self.shares is None and self.total is None):
            return rows
        supply = supply_of([(code,) for code in language.tolist()])
        if self.shares is None:  # the shares they have; a rare language may then lose all its candidates
            natural = np.bincount(language, minlength=len(self.manifest.languages)) / len(rows)
            quotas = self._rounded(supply, natural)
        else:
            quotas = self._quotas(supply, self.shares)
        rows = self.rng.permutation(np.sort(rows))
        language = self.manifest.language[rows]
        return np.concatenate([rows[language == code][:quota] for code, quota in enumerate(quotas.tolist())])

    def one_per_item(self) -> Ints:
        """Return the rows [m] that are candidates, at most one for each item."""
        shares, items = self.shares, self.items
        sought = range(len(self.manifest.languages)) if shares is None else np.flatnonzero(shares).tolist()
        options: list[Options] = [tuple(code for code in sought if code in item.answers) for item in items]
        if shares is None:
            possible = sum(1 for own in options if own)
            if self.total is not None and self.total > possible:
                raise InputError(
                    f"{self.manifest.source}: {self.total} candidates are wanted, but only {possible} items "
                    "have texts for one: ask for fewer candidates"
                )
            language = np.array([self.rng.choice(own) if own else -1 for own in options], dtype=np.int64)
            stay = self.rng.permutation(np.flatnonzero(language >= 0))[: self.total]
            language[np.setdiff1d(np.arange(len(items)), stay)] = -1
        else:
            language = draw_languages(options, self._quotas(supply_of(options), shares), self.rng)
        chosen = [
            item.answers[code] for item, code in zip(items, language.tolist(), strict=True) if code >= 0
        ]
        return np.array([own[int(self.rng.integers(len(own)))] for own in chosen], dtype=np.int64)

    def _quotas(self, supply: Supply, shares: Floats) -> Ints:
        """Return how many candidates [languages] to draw of each, at least one of each wanted one."""
        have, source = self._have(supply, shares), self.manifest.source
        for tag in (tag for tag, number in have.items() if number == 0):
            raise InputError(
                f"{source}: no text in {tag!r} can be a candidate (possible candidates: {_listed(have)}): an "
                "item's first text in a question language is its question; choose other question languages, "
                "or leave it out of the mix"
            )
        quotas = self._rounded(supply, shares)
        for code in np.flatnonzero((quotas == 0) & (shares > 0)).tolist():
            raise InputError(
                f"{source}: of {quotas.sum()} candidates the share of {self.manifest.languages[code]!r} "
                f"({shares[code]:.2%}) is less than one: raise its share or leave it out, or draw more "
                "candidates"
            )
        return quotas

    def _rounded(self, supply: Supply, shares: Floats) -> Ints:
        """Return the wanted number of candidates (by default as many as there can be) in these shares."""
        most = most_possible(supply, shares, self.total)
        if most > 0 and self.total in (None, most):
            return largest_remainder(shares, most)
        tags = enumerate(self.manifest.languages)
        wanted = _listed({tag: f"{shares[code]:.1%}" for code, tag in tags if shares[code]})
        raise InputError(
            f"{self.manifest.source}: {self.total or 'no number of'} candidates cannot be drawn as {wanted}, "
            f"only {most} can (possible candidates: {_listed(self._have(supply, shares))}): ask for fewer "
            "candidates or change the shares"
        )

    def _have(self, supply: Supply, shares: Floats) -> dict[str, int]:
        """Return how many things can serve as a candidate in each wanted language."""
        return {
            tag: sum(number for options, number in supply.items() if code in options)
            for code, tag in enumerate(self.manifest.languages)
            if shares[code] > 0
        }


def supply_of(options: Sequence[Options]) -> dict[Options, int]:
    """Return how many things there are of each kind, those without any language left out."""
    counts = Counter(options)
    return {kind: counts[kind] for kind in sorted(counts) if kind}


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


def can_meet(supply: Supply, quotas: Ints) -> bool:
    """Return whether a supply meets quotas [g], each thing serving once: a maximum flow to the languages."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    if all(len(options) == 1 for options in supply):
        return all(supply.get((code,), 0) >= quota for code, quota in enumerate(quotas.tolist()))
    first = 1 + len(supply)  # node 0 is the source, then the kinds, the languages, the sink
    sink = first + len(quotas)
    edges = [(0, 1 + kind, number) for kind, number in enumerate(supply.values())]
    kinds = enumerate(supply.items(), 1)
    edges += [(kind, first + code, number) for kind, (options, number) in kinds for code in options]
    edges += [(first + code, sink, quota) for code, quota in enumerate(quotas.tolist())]
    left, right, capacity = zip(*edges, strict=True)
    graph = csr_array((np.array(capacity, dtype=np.int32), (left, right)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, 0, sink).flow_value) == int(quotas.sum())


def most_possible(supply: Supply, shares: Floats, most: int | None = None) -> int:
    """Return the largest total (up to `most`) whose rounded shares the supply meets; 0 for none.

    Rounding is not monotone. Rounding all shares down is, and bounds the search from above.
    """
    high = sum(supply.values()) if most is None else min(most, sum(supply.values()))
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if can_meet(supply, np.floor(np.round(shares * middle, 9)).astype(np.int64)):
            low = middle
        else:
            high = middle - 1
    while low > 0 and not can_meet(supply, largest_remainder(shares, low)):
        low -= 1
    return low


def draw_languages(options: Sequence[Options], quotas: Ints, rng: np.random.Generator) -> Ints:
    """Return a language for each of n things, −1 for one that is left out, so that the quotas [g] are met.

    Things come in a random order and take one of their languages in proportion to what its quota has left;
    where all are full, others move to make room (augmenting paths), so that as many as possible are placed.
    """
    left = quotas.tolist()
    language = np.full(len(options), -1, dtype=np.int64)
    holders: dict[int, dict[Options, list[int]]] = {code: {} for code in range(len(left))}
    hopeless: set[Options] = set()
    for thing in rng.permutation(len(options)).tolist():
        own = options[thing]
        if own in hopeless:
            continue
        weights = np.array([left[code] for code in own], dtype=np.float64)
        if weights.sum() > 0:
            code = own[int(rng.choice(len(own), p=weights / weights.sum()))]
        else:
            path = _path(own, left, holders)
            if not path:
                hopeless.add(own)  # languages that are full for it now stay full
                continue
            code = path[0][0]
            for start, kind, end in reversed(path):
                moved = holders[start][kind].pop()
                holders[end].setdefault(kind, []).append(moved)
                language[moved] = end
                left[start], left[end] = left[start] + 1, left[end] - 1
        language[thing] = code
        holders[code].setdefault(own, []).append(thing)
        left[code] -= 1
    return language


def _path(
    own: Options, left: Sequence[int], holders: Mapping[int, Mapping[Options, Sequence[int]]]
) -> list[tuple[int, Options, int]]:
    """Return moves (from, kind, to), first to last, that free a place in an own language; [] for none."""
    came: dict[int, tuple[int, Options] | None] = dict.fromkeys(own)
    queue = list(own)
    for start in queue:
        for kind, held in holders[start].items():
            for end in kind if held else ():
                if end in came:
                    continue
                came[end] = (start, kind)
                queue.append(end)
                if left[end] > 0:
                    moves, step = list[tuple[int, Options, int]](), came[end]
                    while step is not None:
                        moves.append((*step, end))
                        end, step = step[0], came[step[0]]
                    return moves[::-1]
    return []


def _listed(numbers: Mapping[str, object]) -> str:
    """Return "en 3, de 1"."""
    return listed((f"{tag} {number}" for tag, number in numbers.items()), 40)
