"""From the results of one evaluation to a case study: Table 2, Figure 3, and what the trainings changed.

These questions are asked, and p-values corrected for them (Holm): is Triplet better than its base, is it
better than the control (the base's vectors of title and body side by side, untrained), is the control better
than the base, is TripletXL better than Triplet on average, and is it on the language pairs that Triplet is
worst at? With an image pivot: is it better than its base, and than what was trained last? See
docs/papers/case-study.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xlingual.comparison.best_model import Progress, best_model
from xlingual.comparison.outcome import REPLICATES
from xlingual.comparison.queries import Queries
from xlingual.comparison.reading import read_aligned
from xlingual.comparison.trainings import Share, Tested, decided, difference, mean_over_trainings, whole
from xlingual.comparison.worst_pairs import choices, described, shares
from xlingual.errors import InputError
from xlingual.results import Results, by_key
from xlingual.results import case_study as record
from xlingual.results.case_study import CaseStudy, Difference, Model, PairScore, Training, Worst
from xlingual.stats.trainings import spread
from xlingual.streams import stream

WORST = 3  # as many as the paper's Figure 3 names


@dataclass(frozen=True)
class Cast:
    """Which encoders of the results play which part; of a trained model one encoder for each training."""

    base: str
    others: tuple[str, ...] = ()
    triplet: tuple[str, ...] = ()
    triplet_xl: tuple[str, ...] = ()
    base_given: bool = True
    control: str | None = None  # the base's title and body side by side, untrained
    pivot: str | None = None  # the base through an image pivot

    def __post_init__(self) -> None:
        if self.triplet and self.triplet_xl and len(self.triplet) != len(self.triplet_xl):
            raise InputError(
                f"{len(self.triplet)} trainings of triplet and {len(self.triplet_xl)} of triplet-xl: give as "
                "many of one as of the other, since they are compared one by one"
            )

    def models(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return (name, role, encoders) of each model."""
        plain = [(name, record.OTHER, (name,)) for name in self.others]
        trained = [(record.TRIPLET, self.triplet), (record.TRIPLET_XL, self.triplet_xl)]
        return [
            *plain,
            (self.base, record.BASE, (self.base,)),
            *([] if self.control is None else [(self.control, record.CONTROL, (self.control,))]),
            *([] if self.pivot is None else [(self.pivot, record.PIVOT, (self.pivot,))]),
            *((role, role, encoders) for role, encoders in trained if encoders),
        ]


def case_study(
    folder: str | Path,
    cast: Cast,
    *,
    measure: str = "R@10",
    worst: int = WORST,
    seed: int = 0,
    replicates: int | None = None,
    trainings: Sequence[Training] = (),
    progress: Progress | None = None,
) -> CaseStudy:
    """Return the case study of a folder that `evaluate backretrieval` wrote.

    `worst` language pairs are chosen, at most half of all. `trainings` are kept as they are given.
    `replicates` of each test: 1999, or more where the best model meets the others on single pairs.

    Raises:
        InputError: the folder holds no results, or lacks an encoder or the measure.

    """
    if worst < 1:
        raise InputError(f"worst must be at least 1, got {worst}: it is a number of language pairs")
    results = Results.read(folder)
    queries = read_aligned([folder], measures=[measure]).queries[0]
    for _, _, encoders in cast.models():
        for name in encoders:
            queries.row_of(name)  # raises where the folder has no such encoder
    models = [_model(queries, results, *one) for one in cast.models()]
    # what is trained at the end, as in the paper's Table 2
    models.sort(key=lambda model: (1, 0.0) if model.role in record.TRAINED else (0, model.value))
    differences, found = _questions(queries, cast, worst, seed, replicates or REPLICATES)
    overall = next(row for row in results.summary if row.source is None and row.measure == queries.measure)
    return CaseStudy(
        measure=queries.measure,
        image_encoder=overall.image_encoder,
        base=cast.base,
        base_given=cast.base_given,
        chance=overall.chance,
        oracle=overall.oracle,
        n_queries=len(queries),
        n_pairs=overall.n_pairs,
        n_seeds=overall.n_seeds,
        n_trainings=max(len(cast.triplet), len(cast.triplet_xl), 1),
        seed=seed,
        models=models,
        differences=differences,
        worst=found,
        best=best_model(queries, models, seed=seed, replicates=replicates, progress=progress),
        trainings=list(trainings),
        conditions=dict(queries.conditions),
        warnings=list(results.warnings),
        timings=dict(results.timings),
    )


def _model(queries: Queries, results: Results, name: str, role: str, encoders: tuple[str, ...]) -> Model:
    if len(encoders) == 1:
        own = by_key(results.summary, encoder=encoders[0], measure=queries.measure)
        value = float(queries.means[queries.row_of(encoders[0])])
        each, ci = [value], next(row.ci for row in own if row.source is None)
        pairs = [row for row in own if row.source is not None]
        scores = [PairScore(str(r.source), str(r.target), float(r.value or 0.0), r.ci) for r in pairs]
    else:
        value, ci, each = mean_over_trainings(queries, encoders)
        parts = queries.slices("pair").values()
        scores = [PairScore(*part.direction, *mean_over_trainings(part, encoders)[:2]) for part in parts]
    return Model(
        name=name,
        role=role,
        encoders=list(encoders),
        value=value,
        ci=ci,
        per_training=each,
        sd_training=spread(each),
        sd_pairs=spread([pair.value for pair in scores]),
        pairs=scores,
    )


def _questions(
    queries: Queries, cast: Cast, worst: int, seed: int, replicates: int
) -> tuple[list[Difference], Worst]:
    number = max(min(worst, len(queries.present("pair")) // 2), 1)
    questions: list[tuple[str, str, str, list[list[Share]]]] = []
    if cast.triplet:
        over_base = whole(queries, cast.triplet, [cast.base])
        questions.append((record.TRIPLET, cast.base, record.ALL_PAIRS, over_base))
        questions += _of_control(record.TRIPLET, cast.triplet, cast, queries)
    chosen = choices(queries, cast.triplet, number, seed) if cast.triplet else "no Triplet was evaluated"
    if cast.triplet and cast.triplet_xl:
        both = whole(queries, cast.triplet_xl, cast.triplet)
        questions.append((record.TRIPLET_XL, record.TRIPLET, record.ALL_PAIRS, both))
        if not isinstance(chosen, str):
            halves = shares(chosen, cast.triplet_xl, cast.triplet)
            questions.append((record.TRIPLET_XL, record.TRIPLET, record.WORST_PAIRS, halves))
    elif cast.triplet_xl:
        alone = whole(queries, cast.triplet_xl, [cast.base])
        questions.append((record.TRIPLET_XL, cast.base, record.ALL_PAIRS, alone))
        questions += _of_control(record.TRIPLET_XL, cast.triplet_xl, cast, queries)
    questions += _of_pivot(cast, queries)
    tested = [
        difference(queries, own, rng=stream(seed, f"case study|{one}|{two}|{where}"), replicates=replicates)
        for one, two, where, own in questions
    ]
    names = [question[:3] for question in questions]
    if isinstance(chosen, str):
        return _decided(names, tested), Worst(0, [], [], False, None, None, chosen)
    return _decided(names, tested), described(queries, chosen, cast.triplet, cast.triplet_xl, number)


def _of_control(
    model: str, encoders: Sequence[str], cast: Cast, queries: Queries
) -> list[tuple[str, str, str, list[list[Share]]]]:
    """Return the questions about the control: what training adds to it, and what it is without training."""
    if cast.control is None:
        return []
    return [
        (model, cast.control, record.ALL_PAIRS, whole(queries, encoders, [cast.control])),
        (cast.control, cast.base, record.ALL_PAIRS, whole(queries, [cast.control], [cast.base])),
    ]


def _of_pivot(cast: Cast, queries: Queries) -> list[tuple[str, str, str, list[list[Share]]]]:
    """Return the questions about the image pivot: against its base, and against what was trained last."""
    if cast.pivot is None:
        return []
    pivot, last = cast.pivot, (record.TRIPLET_XL, cast.triplet_xl)
    if not cast.triplet_xl:
        last = record.TRIPLET, cast.triplet
    others = [(cast.base, (cast.base,)), *([last] if last[1] else [])]
    return [(pivot, name, record.ALL_PAIRS, whole(queries, [pivot], own)) for name, own in others]


def _decided(names: Sequence[tuple[str, str, str]], tested: Sequence[Tested]) -> list[Difference]:
    """Return the differences with the outcomes that the corrected p-values allow."""
    return [Difference(*name, **fields) for name, fields in zip(names, decided(tested), strict=True)]
