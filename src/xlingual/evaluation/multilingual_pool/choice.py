"""The choices of an evaluation of a multilingual pool: views, policy, and the texts of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn
from xlingual.evaluation.hubs import HUBS_OF
from xlingual.evaluation.lists import MOST_UNKNOWN, Lists
from xlingual.evaluation.multilingual_pool.alignment import check_alignment
from xlingual.evaluation.multilingual_pool.grades import EQUAL, LanguageGrades, language_grades
from xlingual.evaluation.multilingual_pool.lists import DEPTH, SHARES_OF
from xlingual.evaluation.multilingual_pool.measure_views import FOUND, MONOLINGUAL, views_of_measure
from xlingual.evaluation.pool_run import check_candidate_text
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors
from xlingual.measures import AlignmentMeasure, AveragePrecision, PoolMeasure
from xlingual.measures.fairness import CUT

FROM_COUNTS = ("one-target", "remove-one", "monolingual-pool", "alignment", "subsets", "loss")
FROM_LISTS = {"shares": SHARES_OF, "fairness": CUT, "hubs": HUBS_OF, "worst": HUBS_OF}  # how deep each looks
FROM_VECTORS = ("language-id", "picture")
VIEWS = (*FROM_COUNTS, *FROM_LISTS, *FROM_VECTORS, FOUND)
POLICIES = ("agnostic", "prefer-own")


@dataclass(frozen=True)
class Choice:
    """The chosen views and conditions; made by `choose`."""

    views: frozenset[str]
    policy: str
    candidate_text: str
    subsets: tuple[tuple[str, ...], ...]
    with_ap: bool = True  # whether AP is measured; all views but those from lists belong to AP
    named: bool = False  # whether views are chosen by their names
    every: bool = False  # whether all views are wanted that there can be
    grades: LanguageGrades = EQUAL

    def beside_lists(self) -> Choice:
        """Return the choice where a search system is evaluated: views from lists need no AP then."""
        if self.with_ap or not self.every or self.policy != "agnostic":
            return self
        return replace(self, views=self.views | set(FROM_LISTS))

    def of_form(self, vectors: AnyVectors, who: str) -> Choice:
        """Return the choice for an encoder's vectors: without the views that need one dense vector for each.

        Raises InputError where such a view is chosen by its name.
        """
        if not isinstance(vectors, SparseVectors | TokenVectors):
            return self
        problem = f"{who} gives {vectors.what}, but one dense vector for each text is needed for {{}}"
        return self._without(FROM_VECTORS, problem, "take a dense encoder")

    def of_lists(self, lists: Lists, who: str) -> Choice:
        """Return the choice for a search system: without the views from vectors, and those beyond its lists.

        Raises InputError where such a view is chosen by its name.
        """
        problem = f"{who} returns lists, but {{}} needs vectors"
        choice = self._without(FROM_VECTORS, problem, "leave this system out")
        depths: dict[str, int | None] = {**FROM_LISTS, MONOLINGUAL: None}
        short = {view: int(lists.unsettled(depth).sum()) for view, depth in depths.items()}
        beyond = [view for view in depths if view in self.views and short[view] > MOST_UNKNOWN * len(lists)]
        if not beyond:
            return choice
        rank, first = min((depths[view] or lists.n_candidates, view) for view in beyond)
        rank = min(rank, lists.n_candidates)
        problem = f"{who}: {short[first]:,} of {len(lists):,} lists end before rank {rank:,}, too early "
        return choice._without(beyond, f"{problem}for {{}}", "give longer lists")

    def _without(self, views: Sequence[str], problem: str, remedy: str) -> Choice:
        """Return the choice without some views, with a warning; raise InputError where they are named."""
        left_out = [view for view in views if view in self.views]
        if not left_out:
            return self
        several = "the view" if len(left_out) == 1 else "the views"
        problem = problem.format(f"{several} {' and '.join(left_out)}")
        if self.named:
            raise InputError(f"{problem}: name other views ({parameter('views')}), or {remedy}")
        warn(f"{problem}: left out")
        return replace(self, views=self.views - set(left_out))

    def heads(self, n_candidates: int, least: int = 0) -> tuple[int | None, int]:
        """Return in how many first places languages are counted, and how many candidates are kept.

        `least` candidates are kept in any case, but under prefer-own.
        """
        if self.policy == "prefer-own":
            return (1 if self.with_ap else None), 0
        if not self.views & set(FROM_LISTS):
            return (min(least, n_candidates) or None), min(least, n_candidates)
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
    grades: str | Mapping[str, int] | None = None,
) -> Choice:
    """Return the choice; raise InputError for unknown names, and for choices that would be ignored.

    Without AP among the measures there are no views but those from lists that are named.
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
    belonging = {view for measure in measures for view in views_of_measure(measure, len(pool.candidates))}
    without_ap = wanted & (belonging | (set(FROM_LISTS) if named else set()))
    if named and FOUND in wanted - belonging:
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
    kept = wanted if with_ap else without_ap
    return Choice(
        kept if policy == "agnostic" else frozenset(),
        policy,
        candidate_text,
        tuple(_subset(pool, subset) for subset in subsets),
        with_ap,
        bool(named) or bool(picture),
        views == "all",
        language_grades(grades, policy, measures),
    )


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
