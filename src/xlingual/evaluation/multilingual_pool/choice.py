"""The choices of an evaluation of a multilingual pool: views, policy, and the texts of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.pools.rows import CANDIDATE_TEXTS
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn
from xlingual.evaluation.multilingual_pool.alignment import check_alignment
from xlingual.evaluation.multilingual_pool.lists import DEPTH, SHARES_OF
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors
from xlingual.measures import AlignmentMeasure, AveragePrecision, PoolMeasure

FROM_COUNTS = ("one-target", "remove-one", "monolingual-pool", "alignment", "subsets", "loss")
FROM_LISTS = ("shares", "fairness", "hubs", "worst")
FROM_VECTORS = ("language-id", "picture")
VIEWS = (*FROM_COUNTS, *FROM_LISTS, *FROM_VECTORS)
POLICIES = ("agnostic", "prefer-own")


@dataclass(frozen=True)
class Choice:
    """The chosen views and conditions; made by `choose`."""

    views: frozenset[str]
    policy: str
    candidate_text: str
    subsets: tuple[tuple[str, ...], ...]
    with_ap: bool = True  # whether AP is measured; all views belong to AP
    named: bool = False  # whether views are chosen by their names

    def of_form(self, vectors: AnyVectors, who: str) -> Choice:
        """Return the choice for an encoder's vectors: without the views that need one dense vector for each.

        Raises InputError where such a view is chosen by its name.
        """
        left_out = [view for view in FROM_VECTORS if view in self.views]
        if not isinstance(vectors, SparseVectors | TokenVectors) or not left_out:
            return self
        views = "the view" if len(left_out) == 1 else "the views"
        problem = f"{who} gives {vectors.what}, not one dense vector for each text, which {views} "
        problem += f"{' and '.join(left_out)} would need"
        if self.named:
            raise InputError(f"{problem}: name other views ({parameter('views')}), or take a dense encoder")
        warn(f"{problem}: left out")
        return replace(self, views=self.views - set(left_out))

    def heads(self, n_candidates: int) -> tuple[int | None, int]:
        """Return in how many first places languages are counted, and how many candidates are kept."""
        if self.policy == "prefer-own":
            return (1 if self.with_ap else None), 0
        if not self.views & set(FROM_LISTS):
            return None, 0
        top = min(SHARES_OF, n_candidates)
        return top, min(DEPTH, top)


def choose(
    pool: MultilingualPool,
    views: str | Sequence[str],
    policy: str,
    candidate_text: str,
    subsets: str | Sequence[str | Sequence[str]],
    *,
    picture: Sequence[str] | None = None,
    measures: Sequence[PoolMeasure] = (AveragePrecision(),),
) -> Choice:
    """Return the choice; raise InputError for unknown names, and for choices that would be ignored.

    Without AP among the measures there are no views.
    """
    with_ap = AveragePrecision() in measures
    subsets = [subsets] if isinstance(subsets, str) else subsets
    _check_known("policy", policy, POLICIES)
    check_candidate_text(pool, candidate_text)
    wanted = frozenset(_views(views))
    named = wanted and views != "all"
    if policy != "agnostic" and (views != "all" or subsets or picture):
        raise InputError(
            f"policy {policy!r} has no views of language bias: leave out views, subsets and picture, or use "
            "agnostic"
        )
    if not with_ap and (named or subsets or picture):
        raise InputError(
            "views of language bias, subsets and the picture belong to AP, which is not among the measures: "
            "add AP (--measure AP), or leave them out"
        )
    if subsets and "subsets" not in wanted:
        raise InputError("subsets are named, but the view 'subsets' is not: add it, or name no subsets")
    if picture and "picture" not in wanted:
        raise InputError(
            "languages of the picture are named, but the view 'picture' is not: add it, or leave them out"
        )
    for measure in measures:
        if isinstance(measure, AlignmentMeasure):
            if policy != "agnostic":
                raise InputError(
                    f"{measure.name} is about answers in other languages, which policy {policy!r} counts as "
                    "wrong: leave it out, or use agnostic"
                )
            check_alignment(pool, measure)
    question, candidate = pool.relevant
    own = pool.questions.language[question] == pool.candidates.language[candidate]
    if policy == "prefer-own" and not own.any():
        raise InputError(
            f"{pool.source}: no question has an answer in its own language, so the policy 'prefer-own' "
            "leaves none: use the policy agnostic"
        )
    return Choice(
        wanted if policy == "agnostic" and with_ap else frozenset(),
        policy,
        candidate_text,
        tuple(_subset(pool, subset) for subset in subsets),
        with_ap,
        bool(named) or bool(picture),
    )


def check_candidate_text(pool: MultilingualPool, candidate_text: str) -> None:
    """Raise InputError for a text of candidates that is not known, or that the pool has not."""
    _check_known("candidate text", candidate_text, CANDIDATE_TEXTS)
    if candidate_text != CANDIDATE_TEXTS[0] and not any(pool.candidates.context):
        raise InputError(f"{pool.source}: no candidate has a context: use the sentence alone")


def _check_known(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        near = did_you_mean(given, known)
        raise InputError(f"unknown {what} {given!r}: expected {listed(known)}{near and '.' + near}")


def _views(views: str | Sequence[str]) -> Sequence[str]:
    names = [name.strip() for name in views.split(",")] if isinstance(views, str) else list(views)
    expected = f"expected all, none, or some of {listed(VIEWS, 20)}"
    if isinstance(views, str) and not any(names):
        raise InputError(f"no view is named: {expected}")
    for name in names:
        if name not in (*VIEWS, "all", "none"):
            raise InputError(f"unknown view {name!r}.{did_you_mean(name, VIEWS)} E{expected[1:]}")
    if len(names) > 1 and not {"all", "none"}.isdisjoint(names):
        raise InputError(f"views {','.join(names)!r}: 'all' and 'none' stand alone; {expected}")
    return VIEWS if names == ["all"] else [] if names == ["none"] else names


def _subset(pool: MultilingualPool, subset: str | Sequence[str]) -> tuple[str, ...]:
    languages = [tag.strip() for tag in subset.split(",")] if isinstance(subset, str) else list(subset)
    for language in languages:
        if language not in pool.languages:
            raise InputError(
                f"subset {','.join(languages)!r}: the pool has no language {language!r}."
                f"{did_you_mean(language, pool.languages)} Its languages: {listed(pool.languages, 40)}"
            )
    return tuple(languages)
