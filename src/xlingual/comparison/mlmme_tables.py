"""From the results of evaluations to Tables 1 and 2 of the MLMME paper, over several trainings of each model.

Intervals and tests are about other queries *and* other trainings (`comparison.trainings`); p-values are
corrected for all questions of a kind (Holm).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.comparison.queries import Queries
from xlingual.comparison.trainings import (
    Tested,
    against_chance,
    decided,
    difference,
    mean_over_trainings,
)
from xlingual.results import Interval, Results, by_key
from xlingual.results.mlmme_study import (
    CHANCE,
    MEAN_RECALL,
    TO_IMAGE,
    TO_SENTENCE,
    VSE,
    Question,
    Ranking,
    RankingRow,
    Similarity,
    StsRow,
    StudyModel,
)
from xlingual.results.runs import Gain, OfRuns
from xlingual.stats.intervals import LEVEL, ResidualPart, effective_clusters, t_quantile, variance
from xlingual.stats.trainings import corrected, of_runs, over_trainings, with_trainings
from xlingual.stats.weighted import influence, pearson
from xlingual.streams import stream

RECALLS = ("Success@1", "Success@5", "Success@10")
MEDIAN = "MedR/floor"
REPLICATES = 999
_IMAGE = "image"
_MOST_Z = 1 - 1e-9


@dataclass(frozen=True)
class _Part:
    """The queries of one language and direction: the values of every training, by measure."""

    language: str
    direction: str
    encoders: tuple[str, ...]
    values: Mapping[str, Floats]  # measure → [encoders, n]
    own: Ints  # clusters [n]
    chance: Mapping[str, float | None]  # by measure

    def queries(self, measure: str) -> Queries:
        """Return the values of a measure as comparisons take them."""
        values = self.values[measure]
        return Queries.of_one_sample("image-sentence", RECALLS[0], self.encoders, values, self.own)


_Asked: TypeAlias = tuple[_Part, StudyModel, StudyModel | None]  # None: against chance


def ranking_table(results: Results, models: Sequence[StudyModel], *, seed: int = 0) -> Ranking:
    """Return Table 1 from the results of image–sentence ranking, whose encoders are trainings of models."""
    rows, questions, of_beta, of_chance = [], list[_Asked](), list[_Asked](), list[_Asked]()
    languages = list(dict.fromkeys(tag for model in models for tag in model.languages))
    plain = next((model for model in models if model.kind != VSE and model.beta == 1), None)
    for language in languages:
        own = [model for model in models if language in model.languages and _ranks(results, model)]
        base = next((model for model in own if model.kind == VSE), None)
        for direction in (TO_IMAGE, TO_SENTENCE):
            part = _part(results, own, language, direction)
            rows += [_row(part, own, base, measure, seed) for measure in (*RECALLS, MEAN_RECALL)]
            rows.append(_median_row(results, own, base, part))
            of_chance += [(part, model, None) for model in own]
            multilingual = [model for model in own if model.kind != VSE]
            if base is not None:
                questions += [(part, model, base) for model in multilingual]
            if plain is not None:
                others = [model for model in multilingual if model is not plain]
                of_beta += [(part, model, plain) for model in others]
    entries = by_key(results.entries, measure=RECALLS[0])
    return Ranking(
        n_images=max(entry.n_source for entry in entries if entry.source == _IMAGE),
        n_sentences={
            tag: max(entry.n_source for entry in entries if entry.source == tag) for tag in languages
        },
        rows=rows,
        questions=_answered(questions, seed),
        of_beta=_answered(of_beta, seed),
        of_chance=_answered(of_chance, seed),
    )


def _ranks(results: Results, model: StudyModel) -> bool:
    """Return whether a model was evaluated: one that knows no images is not."""
    return bool(by_key(results.entries, encoder=model.trainings[0].encoder))


def _ends(language: str, direction: str) -> tuple[str, str]:
    return (language, _IMAGE) if direction == TO_IMAGE else (_IMAGE, language)


def _part(results: Results, models: Sequence[StudyModel], language: str, direction: str) -> _Part:
    import pyarrow.compute as pc

    source, target = _ends(language, direction)
    table = results.per_query
    here = table.filter(pc.and_(pc.equal(table["source"], source), pc.equal(table["target"], target)))
    encoders = tuple(training.encoder for model in models for training in model.trainings)
    values: dict[str, list[Floats]] = {measure: [] for measure in RECALLS}
    own = None
    for encoder in encoders:
        of_encoder = here.filter(pc.equal(here["encoder"], encoder))
        for measure in RECALLS:
            found = of_encoder.filter(pc.equal(of_encoder["measure"], measure))
            values[measure].append(found["value"].to_numpy())
            cluster = found["cluster"].to_numpy()
            own = cluster if own is None else own
            if not np.array_equal(own, cluster):
                raise AssertionError(f"{encoder} answers other queries than {encoders[0]}")
    stacked = {measure: np.stack(each) for measure, each in values.items()}
    stacked[MEAN_RECALL] = np.mean([stacked[measure] for measure in RECALLS], axis=0)
    assert own is not None
    return _Part(language, direction, encoders, stacked, own, _chance(results, encoders[0], source, target))


def _chance(results: Results, encoder: str, source: str, target: str) -> dict[str, float | None]:
    """Return what an encoder that knows nothing scores, by measure; of all that answer the same queries."""
    entries = by_key(results.entries, encoder=encoder, source=source, target=target)
    found = {entry.measure: entry.chance for entry in entries}
    known = [value for measure in RECALLS if (value := found.get(measure)) is not None]
    mean = float(np.mean(known)) if len(known) == len(RECALLS) else None
    return {**found, MEAN_RECALL: mean}


def _names(model: StudyModel) -> list[str]:
    return [training.encoder for training in model.trainings]


def _row(
    part: _Part, models: Sequence[StudyModel], base: StudyModel | None, measure: str, seed: int
) -> RankingRow:
    queries, scores = part.queries(measure), {}
    for model in models:
        _, ci, each = mean_over_trainings(queries, _names(model))
        gain = None
        if base is not None and model is not base:
            found = _tested(part, measure, model, base, seed)
            gain = Gain(found.value, found.ci, found.p)
        scores[model.name] = of_runs(each, ci, gain)
    return RankingRow(part.language, part.direction, measure, scores, part.chance[measure])


def _median_row(
    results: Results, models: Sequence[StudyModel], base: StudyModel | None, part: _Part
) -> RankingRow:
    """Return the median ranks; a median has no paired test."""
    source, target = _ends(part.language, part.direction)
    each = {
        model.name: [
            float(entry.value or 0.0)
            for name in _names(model)
            for entry in by_key(results.entries, encoder=name, source=source, target=target, measure=MEDIAN)
        ]
        for model in models
    }
    scores = {}
    for name, values in each.items():
        gain = None
        if base is not None and name != base.name:
            gain = Gain(float(np.mean(values) - np.mean(each[base.name])), None, None)
        scores[name] = of_runs(values, gain=gain)
    return RankingRow(part.language, part.direction, MEDIAN, scores, part.chance.get(MEDIAN))


def _tested(part: _Part, measure: str, model: StudyModel, other: StudyModel | None, seed: int) -> Tested:
    """Return the difference of two models, training by training, or of one to chance."""
    queries = part.queries(measure)
    if other is None:
        return against_chance(queries, _names(model), part.chance[measure] or 0.0)
    name = f"mlmme study|{part.language}|{part.direction}|{measure}|{model.name}|{other.name}"
    return difference(queries, _names(model), _names(other), rng=stream(seed, name), replicates=REPLICATES)


def _answered(asked: Sequence[_Asked], seed: int) -> list[Question]:
    """Return the differences in mean recall, p being corrected for all of them."""
    tested = decided([_tested(part, MEAN_RECALL, model, other, seed) for part, model, other in asked])
    return [
        Question(
            model.name,
            CHANCE if other is None else other.name,
            part.language,
            part.direction,
            Gain(*(found[name] for name in ("value", "ci", "p", "p_adjusted"))),
            found["outcome"],
            found["note"],
        )
        for (part, model, other), found in zip(asked, tested, strict=True)
    ]


def similarity_table(
    results: Results, models: Sequence[StudyModel], trivial: Sequence[str], language: str
) -> Similarity:
    """Return Table 2 from the results of textual similarity: Pearson's correlations, mean over trainings.

    The error of a correlation is that of its influence function over clusters of pairs that share a
    sentence, averaged over trainings; what the trainings add stands beside it. Intervals of values are made
    on Fisher's scale.
    """
    import pyarrow.compute as pc

    table = results.tables["pairs"]
    of_one = (model for model in models if model.kind == VSE and model.languages == [language])
    base = next(of_one, models[0])
    named = {model.name: _names(model) for model in models if language in model.languages}
    named |= {name: [name] for name in trivial}
    rows = []
    for file in dict.fromkeys(table["target"].to_pylist()):
        here = table.filter(pc.equal(table["target"], file))
        found: dict[str, tuple[list[float], Floats]] = {}
        gold, cluster = np.empty(0), np.empty(0, dtype=np.int64)
        for name, encoders in named.items():
            each, moved = [], []
            for encoder in encoders:
                own = here.filter(pc.equal(here["encoder"], encoder))
                gold, cluster = own["score"].to_numpy(), own["cluster"].to_numpy()
                x = own["cosine"].to_numpy()
                r = float(pearson(x, gold)[0])
                each.append(r)
                moved.append(influence(x, gold, r))
            if np.isfinite(each).all():
                found[name] = each, np.mean(moved, axis=0)
        reference = base.name if base.name in found else None
        scores = {
            name: _correlation(found, name, None if name == reference else reference, cluster)
            for name in found
        }
        rows.append((file, len(gold), scores))
    adjusted = corrected([scores for *_, scores in rows])
    return Similarity(
        language,
        base.name,
        list(trivial),
        [StsRow(file, n, scores) for (file, n, _), scores in zip(rows, adjusted, strict=True)],
    )


def _correlation(
    found: Mapping[str, tuple[list[float], Floats]], name: str, reference: str | None, cluster: Ints
) -> OfRuns:
    each, moved = found[name]
    freedom = max(effective_clusters(cluster) - 1, 1.0)
    gain = None
    if reference is not None:
        others, other = found[reference]
        values = [one - float(np.mean(others)) for one in each]
        if len(each) == len(others):
            values = [one - another for one, another in zip(each, others, strict=True)]
        elif len(each) == 1:  # a baseline that is not trained
            values = [each[0] - another for another in others]
        error = float(np.sqrt(variance([ResidualPart(moved - other, (cluster,))])))
        gain = Gain(*over_trainings(values, error, freedom, "clusters of pairs"))
    value = float(np.mean(each))
    error = float(np.sqrt(variance([ResidualPart(moved, (cluster,))])))
    error, freedom = with_trainings(error, freedom, each)
    centre = np.arctanh(np.clip(value, -_MOST_Z, _MOST_Z))
    half = t_quantile(LEVEL, freedom) * error / max(1 - value**2, 1 - _MOST_Z)
    low, high = np.tanh([centre - half, centre + half])
    trainings = f" and {len(each)} trainings" if len(each) > 1 else ""
    ci = Interval(float(low), float(high), LEVEL, f"z ± t·s, clusters of pairs{trainings}")
    return of_runs(each, ci, gain)
