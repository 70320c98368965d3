"""The findings about one encoder, from its counts and its vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.hubs import Hubs
from xlingual.evaluation.multilingual_pool.choice import FROM_VECTORS, Choice
from xlingual.evaluation.multilingual_pool.language_bias import agnostic_views
from xlingual.evaluation.multilingual_pool.language_identification import language_identification
from xlingual.evaluation.multilingual_pool.lists import (
    Named,
    fairness,
    hubs,
    language_shares,
    named,
)
from xlingual.evaluation.multilingual_pool.one_pass import Heads, PassCounts, PoolCounts
from xlingual.evaluation.multilingual_pool.prefer_own import own_language_targets, prefer_own
from xlingual.evaluation.multilingual_pool.relevant_ranks import RelevantRanks, relevant_ranks
from xlingual.evaluation.multilingual_pool.space import space_statistics
from xlingual.evaluation.multilingual_pool.space_picture import SpacePicture, most_apart, picture
from xlingual.evaluation.multilingual_pool.views import View
from xlingual.ranking import Cosine
from xlingual.records import TargetCounts


@dataclass
class EncoderFindings:
    """The findings about one encoder.

    `questions` [k] are those that count under the policy, `targets` the ranks of their right answers, and
    `grades` how relevant each of these is; `views` belong to average precision, those from lists to the
    first measure where there is none. `choice` is that of this encoder.
    """

    choice: Choice
    ranks: RelevantRanks
    questions: Ints
    targets: TargetCounts
    grades: Ints
    n_tied: int
    views: list[View] = field(default_factory=list)
    lines: Named | None = None  # the best candidates one by one, for the worst questions
    hubs: Hubs | None = None
    picture: SpacePicture | None = None

    @property
    def counts(self) -> PoolCounts:
        """The counts of the pass."""
        return self.ranks.counts


def encoder_findings(
    pool: MultilingualPool,
    choice: Choice,
    ranked: PassCounts,
    vectors: tuple[Any, Any] | None,  # of questions and candidates, dense where views are made of them
    seed: int,
    pair: tuple[str, str] | None,
) -> EncoderFindings:
    """Return the chosen findings; `pair` are the languages of the picture, None for those most apart."""
    found, counts, heads = relevant_ranks(ranked.counts), ranked.counts, ranked.heads
    if choice.policy == "prefer-own":
        own = None  # share of each question's first place that is in its own language
        if heads is not None:
            own = heads.places[np.arange(counts.n_questions), counts.question_language]
        questions, targets = own_language_targets(found)
        grades, n_tied = choice.grades.of(pool)[found.line[found.own]], found.n_tied(found.own)
        return EncoderFindings(choice, found, questions, targets, grades, n_tied, [prefer_own(found, own)])
    whole = counts.whole_pool()
    findings = EncoderFindings(
        choice, found, np.arange(len(whole)), whole, choice.grades.of(pool), found.n_tied()
    )
    if choice.with_ap:
        names = {name.replace("-", "_") for name in choice.views}
        findings.views += agnostic_views(found, names, choice.subsets)
    if heads is not None:
        _add_list_views(findings, choice, heads)
    if vectors is not None and choice.views & set(FROM_VECTORS):
        space = space_statistics(
            *_as_ranked(ranked, vectors),
            question_language=pool.questions.language,
            candidate_language=pool.candidates.language,
            question_cluster=pool.questions.cluster,
            candidate_cluster=pool.candidates.cluster,
            languages=pool.languages,
            seed=seed,
        )
        if "language-id" in choice.views:
            findings.views.append(language_identification(space).view())
        if "picture" in choice.views and np.count_nonzero(space.sizes) >= 2:
            findings.picture = picture(space, pair or most_apart(space))
            findings.views.append(findings.picture.view())
    return findings


def _as_ranked(ranked: PassCounts, vectors: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return vectors of questions and candidates, with what the pass knows of them where it kept each row."""
    similarity, columns = ranked.similarity, ranked.columns
    if not isinstance(similarity, Cosine) or columns is None:
        return vectors
    place, candidates = columns.of, similarity.candidates
    if len(candidates) < len(place):  # equal ones were one column
        return similarity.queries, vectors[1]
    in_order = (place == np.arange(len(place))).all()
    return similarity.queries, candidates if in_order else candidates.take(place)


def _add_list_views(findings: EncoderFindings, choice: Choice, heads: Heads) -> None:
    if "shares" in choice.views:
        findings.views.append(language_shares(findings.counts, heads))
    if not choice.views & {"fairness", "hubs", "worst"}:
        return
    lines = named(heads)
    if "fairness" in choice.views:
        findings.views.append(fairness(findings.counts, lines))
    if "hubs" in choice.views:
        findings.hubs = hubs(findings.counts, lines)
        findings.views.append(View({"hubs": findings.hubs.counts}))
    findings.lines = lines if "worst" in choice.views else None
