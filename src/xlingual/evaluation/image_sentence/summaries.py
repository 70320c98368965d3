"""Summaries: each direction's numbers beside the leader's, means over directions, and sums of recalls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.errors import listed
from xlingual.evaluation.image_sentence.differences import Gap, summed
from xlingual.evaluation.image_sentence.numbers import IMAGE, NumberTable, Way, as_view, language_of
from xlingual.evaluation.image_sentence.ranks import DEPTHS, PERCENT
from xlingual.evaluation.image_sentence.systems import System
from xlingual.evaluation.scores import Score, difference, mean_of
from xlingual.evaluation.summary import behind
from xlingual.measures import SuccessAt
from xlingual.results import Summary
from xlingual.results.views import Against, ImageSentenceViews

RSUM = "rsum"
Pair = tuple[str | None, str | None]


@dataclass(frozen=True)
class _Line:
    """One number of one system, before it is held against the leader's."""

    score: Score
    chance: float
    n_ways: int
    note: str | None = None
    against: Against | None = None


def summaries(table: NumberTable) -> Iterator[Summary]:
    """Yield, measure by measure, a summary for each system and direction, then the means over directions.

    Last come the sums of recalls: for each language (as source, with "image" as target, for both directions
    together), then their means over languages; only where Success@1, @5 and @10 (the field's R@k) were all
    measured.
    """
    systems = table.plan.systems
    every = {way for system in systems for way in table.plan.ways(system)}
    for measure in table.plan.measures:
        name, higher = measure.name, measure.higher_is_better
        for language in table.plan.languages:
            for way in _both_ways(language):
                lines = {
                    system.name: _of_way(table, system, way, name)
                    for system in systems
                    if language in system.languages
                }
                yield from _rows(table, name, way, lines, higher)
        means = {system.name: _mean(table, system, name, len(every)) for system in systems}
        yield from _rows(table, name, (None, None), means, higher)
    if {SuccessAt(k) for k in DEPTHS} <= set(table.plan.measures):
        yield from _sums(table)


def _of_way(table: NumberTable, system: System, way: Way, measure: str) -> _Line:
    answers = table.answers[system.name, way, measure]
    against = table.against(system, way, answers.measure)
    return _Line(answers.score, table.found[system.name, way].chance(answers.measure), 1, None, against)


def _mean(table: NumberTable, system: System, measure: str, most: int) -> _Line:
    """Return the mean over the directions of a system's languages, of the `most` that there are."""
    ways = table.plan.ways(system)
    lines = [_of_way(table, system, way, measure) for way in ways]
    chance = float(np.mean([line.chance for line in lines]))
    return _Line(mean_of([line.score for line in lines]), chance, len(ways), _only(ways, most))


def _only(ways: Sequence[Way], most: int) -> str | None:
    languages = list(dict.fromkeys(language_of(way) for way in ways))
    return None if len(ways) == most else f"over {listed(languages, 20)} only: the encoder is for no other"


def _sums(table: NumberTable) -> Iterator[Summary]:
    """Yield the sums of recalls in per cent."""
    plan = table.plan
    sums: dict[str, dict[str, _Line]] = {language: {} for language in plan.languages}
    for language in plan.languages:
        sums[language] = own = _sums_in(table, language)
        yield from _rows(table, RSUM, (language, IMAGE), own, True)
    means = {}
    for system in plan.systems:
        lines = [own[system.name] for own in sums.values() if system.name in own]
        ways = [(language, IMAGE) for language, own in sums.items() if system.name in own]
        chance = float(np.mean([line.chance for line in lines]))
        score = mean_of([line.score for line in lines])
        means[system.name] = _Line(score, chance, 2 * len(lines), _only(ways, len(plan.languages)))
    yield from _rows(table, RSUM, (None, None), means, True)


def _sums_in(table: NumberTable, language: str) -> dict[str, _Line]:
    """Return the sum of recalls of each system that has a language, held against its baseline."""
    plan = table.plan
    own = {one.name: _sum(table, one, language) for one in plan.systems if language in one.languages}
    baseline = plan.baselines[language]
    if baseline is None:
        return own
    return {
        name: line
        if name == baseline
        else replace(line, against=as_view(baseline, _sum_gap(table, name, baseline, own)))
        for name, line in own.items()
    }


def _sum(table: NumberTable, system: System, language: str) -> _Line:
    """Return the sum of R@1, R@5 and R@10 over both directions, in per cent."""
    lines = [_of_way(table, system, way, SuccessAt(k).name) for way in _both_ways(language) for k in DEPTHS]
    chance = PERCENT * sum(line.chance for line in lines)
    return _Line(summed([line.score for line in lines], PERCENT), chance, 2)


def _sum_gap(table: NumberTable, name: str, baseline: str, own: Mapping[str, _Line]) -> Gap:
    one, other = own[name].score, own[baseline].score
    gap = difference(one, other) if table.same_queries(name, baseline) else None
    return Gap(one.value - other.value, None if gap is None else gap.interval())


def _both_ways(language: str) -> tuple[Way, Way]:
    return (language, IMAGE), (IMAGE, language)


def _rows(
    table: NumberTable, measure: str, pair: Pair, lines: Mapping[str, _Line], higher: bool
) -> Iterator[Summary]:
    """Yield the summaries of systems; those over as many directions as the leader are held against it."""
    most = max((line.n_ways for line in lines.values()), default=0)
    comparable = {name: line.score for name, line in lines.items() if line.n_ways == most}
    best = max if higher else min
    leader = best(comparable, key=lambda name: comparable[name].value) if comparable else None
    if leader is not None:  # without pictures' bytes, two image encoders may tell different ones apart
        comparable = {name: one for name, one in comparable.items() if table.same_queries(leader, name)}
    images = {system.name: system.image_name for system in table.plan.systems}
    looked_at = len(lines) * (1 if pair == (None, None) else len(table.plan.languages))
    for name, line in lines.items():
        yield Summary(
            task=table.plan.task,
            source=pair[0],
            target=pair[1],
            encoder=name,
            image_encoder=images[name],
            measure=measure,
            value=line.score.value,
            ci=line.score.interval(),
            chance=line.chance,
            oracle=None,
            ceiling=None,
            normalized=None,
            ci_simultaneous=line.score.simultaneous(looked_at),
            n_pairs=line.n_ways,
            n_seeds=1,
            sd_seeds=None,
            behind=behind(comparable, leader, name),
            note=line.note,
            views=None if line.against is None else ImageSentenceViews(line.against),
        )
