"""The options of an evaluation of a multilingual pool: views, policy, texts of candidates, and grades."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn
from xlingual.evaluation.hubs import HUBS_OF
from xlingual.evaluation.lists import MOST_UNKNOWN, Lists
from xlingual.evaluation.multilingual_pool.views import FROM_RANKS, views_of_measure
from xlingual.evaluation.pool_run import check_candidate_text
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors
from xlingual.measures import NDCG, AlignmentMeasure, AveragePrecision, PoolMeasure, StrongAlignment
from xlingual.measures.fairness import CUT

SHARES_OF = 100  # best candidates whose languages are counted (the paper's Figure 6)
FROM_HEADS = {"shares": SHARES_OF, "fairness": CUT, "hubs": HUBS_OF, "worst": HUBS_OF}  # how deep each looks
FROM_VECTORS = ("language-id", "picture")
VIEWS = (*FROM_RANKS, "subsets", *FROM_HEADS, *FROM_VECTORS, "found")
AGNOSTIC, PREFER_OWN = POLICIES = ("agnostic", "prefer-own")
MOST_GRADE = 50
_GRADE = re.compile(r"\s*(own|other)\s*=\s*(\d{1,9})\s*")


@dataclass(frozen=True)
class PoolOptions:
    """The chosen views and conditions; made by `pool_options`.

    Views from the first candidates belong to AP or, without it, to the first measure; "found" and
    "monolingual-pool" also belong to measures with a cut and to nDCG; all others belong to AP.
    """

    views: frozenset[str]
    policy: str
    candidate_text: str
    subsets: tuple[tuple[str, ...], ...]
    grades: tuple[int, int] = (1, 1)  # in nDCG, of an answer in the question's language, and in another
    named: bool = False  # whether views are chosen by their names: then none is left out

    def top(self, n_candidates: int, least: int) -> int:
        """Return how many first places are looked at, `least` in any case but under prefer-own."""
        if self.policy == PREFER_OWN:
            return 1
        return min(SHARES_OF if self.views & set(FROM_HEADS) else least, n_candidates)

    def of_vectors(self, vectors: AnyVectors, who: str) -> PoolOptions:
        """Return the options for an encoder: without the views that need one dense vector for each text."""
        if not isinstance(vectors, SparseVectors | TokenVectors):
            return self
        problem = f"{who} gives {vectors.what}, but one dense vector for each text is needed for {{}}"
        return self._without(FROM_VECTORS, problem, "take a dense encoder")

    def of_lists(self, lists: Lists, who: str) -> PoolOptions:
        """Return the options for a search system: without views from vectors, and those beyond its lists."""
        problem = f"{who} returns lists, but {{}} needs vectors"
        options = self._without(FROM_VECTORS, problem, "leave this system out")
        depths: dict[str, int | None] = {**FROM_HEADS, "monolingual-pool": None}
        short = {view: int(lists.unsettled(depth).sum()) for view, depth in depths.items()}
        beyond = [view for view in depths if view in self.views and short[view] > MOST_UNKNOWN * len(lists)]
        if not beyond:
            return options
        rank, first = min(
            (min(depths[view] or lists.n_candidates, lists.n_candidates), view) for view in beyond
        )
        problem = f"{who}: {short[first]:,} of {len(lists):,} lists end before rank {rank:,}, too early "
        return options._without(beyond, f"{problem}for {{}}", "give longer lists")

    def _without(self, views: Sequence[str], problem: str, remedy: str) -> PoolOptions:
        """Return the options without some views, with a warning; raise InputError where they are named."""
        left_out = [view for view in views if view in self.views]
        if not left_out:
            return self
        several = "the view" if len(left_out) == 1 else "the views"
        problem = problem.format(f"{several} {' and '.join(left_out)}")
        if self.named:
            raise InputError(f"{problem}: name other views ({parameter('views')}), or {remedy}")
        warn(f"{problem}: left out")
        return replace(self, views=self.views - set(left_out))

    def grade_condition(self, pool: MultilingualPool, measure: PoolMeasure) -> dict[str, str]:
        """Return the condition of a signature: none where all answers are worth the same."""
        if not isinstance(measure, NDCG):
            return {}
        parts = []
        if (pool.grades != 1).any():  # they are not in the digest of the pool
            parts.append(hashlib.blake2b(pool.grades.astype("<i8").tobytes(), digest_size=4).hexdigest())
        if self.grades != (1, 1):
            parts.append("own={},other={}".format(*self.grades))
        return {"grades": "*".join(parts)} if parts else {}


def pool_options(
    pool: MultilingualPool,
    views: str | Sequence[str],
    policy: str,
    candidate_text: str,
    subsets: str | Sequence[str | Sequence[str]],
    *,
    picture: Sequence[str] | None,
    measures: Sequence[PoolMeasure],
    grades: str | Mapping[str, int] | None,
) -> PoolOptions:
    """Return the options; raise InputError for unknown names, and for choices that would be ignored."""
    if policy not in POLICIES:
        near = did_you_mean(policy, POLICIES)
        raise InputError(f"unknown policy {policy!r}: expected {listed(POLICIES)}{near and '.' + near}")
    check_candidate_text(pool, candidate_text)
    _check_answers(pool, policy, measures)
    wanted, subsets = frozenset(_views(views)), [subsets] if isinstance(subsets, str) else subsets
    if policy == PREFER_OWN and (views != "all" or subsets or picture):
        raise InputError(
            f"policy {policy!r} has no views of language bias: leave out views, subsets and picture, or use "
            "agnostic"
        )
    belonging = {view for measure in measures for view in views_of_measure(measure, len(pool.candidates))}
    with_ap, without_ap = AveragePrecision() in measures, wanted & (belonging | set(FROM_HEADS))
    named = bool(wanted) and views != "all"
    if named and "found" in wanted - belonging:
        raise InputError(
            "the view 'found' is of a measure with a cut below the size of the pool, and there is none: add "
            f"one ({parameter('measures', 'R@10')}), or leave the view out"
        )
    if not with_ap and ((named and wanted > without_ap) or subsets or picture):
        raise InputError(
            "views of language bias, subsets and the picture belong to AP, which is not among the measures: "
            "add AP (--measure AP), or leave them out; without it there are shares, fairness, hubs, worst, "
            "found (of measures with a cut) and monolingual-pool (of nDCG)"
        )
    for view, chosen in (("subsets", subsets), ("picture", picture)):
        if chosen and view not in wanted:
            raise InputError(f"{view}: languages are named, but the view {view!r} is not: add it, or none")
    if picture and len(set(_subset(pool, picture, "picture"))) != 2:
        raise InputError(f"picture of {','.join(picture)!r}: expected two languages of the pool")
    return PoolOptions(
        frozenset() if policy == PREFER_OWN else wanted if with_ap else without_ap,
        policy,
        candidate_text,
        tuple(_subset(pool, subset) for subset in subsets),
        _grades(grades, policy, measures),
        named or bool(picture),
    )


def _check_answers(pool: MultilingualPool, policy: str, measures: Sequence[PoolMeasure]) -> None:
    """Raise InputError where one language is searched, or no question has a value of a measure."""
    if len(np.unique(pool.candidates.language)) < 2:
        raise InputError(
            f"{pool.source}: all candidates are in {pool.languages[pool.candidates.language[0]]!r}: a "
            "multilingual pool has candidates in two languages at least: choose more languages, or use "
            "evaluate crosslingual-retrieval (with a manifest) where one language is searched"
        )
    question, candidate = pool.relevant
    asked_in, language = pool.questions.language, pool.candidates.language
    own = asked_in[question] == language[candidate]
    if policy == PREFER_OWN and not own.any():
        raise InputError(
            f"{pool.source}: no question has an answer in its own language, so the policy 'prefer-own' "
            "leaves none: use the policy agnostic"
        )
    foreign = np.bincount(question[~own], minlength=len(asked_in)) > 0
    wrong = np.bincount(language, minlength=len(pool.languages))[asked_in]
    wrong = wrong - np.bincount(question[own], minlength=len(asked_in))
    for measure in (each for each in measures if isinstance(each, AlignmentMeasure)):
        if policy == PREFER_OWN:
            raise InputError(
                f"{measure.name} is about answers in other languages, which policy {policy!r} counts as "
                "wrong: leave it out, or use agnostic"
            )
        lack = None if foreign.any() or measure == StrongAlignment("strict") else "answer in another language"
        if (
            measure in (StrongAlignment(), StrongAlignment("strict-own"))
            and not (foreign & (wrong > 0)).any()
        ):
            lack = lack or "irrelevant candidate in its own language"
        if lack:
            raise InputError(
                f"{pool.source}: no question has an {lack}, so there is no {measure.name}: leave it out, or "
                "choose more languages"
            )


def _views(views: str | Sequence[str]) -> Sequence[str]:
    """Return the names of views."""
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


def _subset(pool: MultilingualPool, subset: str | Sequence[str], what: str = "subset") -> tuple[str, ...]:
    """Return the languages of a subset, or of a picture."""
    languages = [tag.strip() for tag in subset.split(",")] if isinstance(subset, str) else list(subset)
    for language in languages or [""]:
        if language not in pool.languages:
            raise InputError(
                f"{what} {','.join(languages)!r}: the pool has no language {language!r}."
                f"{did_you_mean(language, pool.languages)} Its languages: {listed(pool.languages, 40)}"
            )
    return tuple(languages)


def _grades(
    grades: str | Mapping[str, int] | None, policy: str, measures: Sequence[PoolMeasure]
) -> tuple[int, int]:
    """Return the grades of "own=2,other=1" or {"own": 2, "other": 1}, all 1 where none are given."""
    if grades is None:
        return 1, 1
    text = grades if isinstance(grades, str) else ",".join(f"{name}={g}" for name, g in grades.items())
    parts = [_GRADE.fullmatch(part) for part in text.split(",")]
    worth = {part[1]: int(part[2]) for part in parts if part is not None}
    problem = None
    if None in parts or len(worth) < len(parts) or set(worth) != {"own", "other"}:
        problem = "expected two whole numbers, of the question's language and of others, as in own=2,other=1"
    elif not 1 <= min(worth.values()) <= max(worth.values()) <= MOST_GRADE:
        only_own = parameter("policy", PREFER_OWN)
        problem = f"expected 1 to {MOST_GRADE}; where only the question's language counts, use {only_own}"
    elif policy == PREFER_OWN:
        problem = "answers in other languages count as wrong, whatever they are worth: leave one of them out"
    elif not any(isinstance(measure, NDCG) for measure in measures):
        ndcg = parameter("measures", "nDCG@10")
        problem = f"it changes nDCG, which is not among the measures: add it ({ndcg}), or leave it out"
    if problem:
        raise InputError(f"{parameter('grades', text)}: {problem}")
    return worth["own"], worth["other"]
