"""Systems of translation side by side: measures, differences to the first with intervals, p corrected.

Differences are tested by a paired bootstrap of sentences (Koehn 2004): the standard deviation of the
differences over resamples is their standard error. A system may have several runs (tunings, trainings): its
value is their mean, and their spread adds to the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.errors import InputError, listed
from xlingual.results.runs import Compared, Gain, OfRuns
from xlingual.stats.trainings import corrected, of_runs, over_trainings
from xlingual.streams import stream

SAMPLES = 1000


def side_by_side(
    systems: Mapping[str, Mapping[str, Sequence[str]]],
    metrics: Mapping[str, Any],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Compared]:
    """Return the measures of systems (name → run → one text a line); differences are to the first system.

    `metrics` are sacrebleu's, by name, with the references in them.
    """
    names = list(systems)
    if empty := [name for name in names if not systems[name]]:
        raise InputError(f"no translations of {listed(empty)}: give a file for each")
    sentences = len(next(iter(systems[names[0]].values())))
    random = stream(seed, "nbest side by side")
    times = random.multinomial(sentences, np.full(sentences, 1 / sentences), size=samples).astype(np.float64)
    found: dict[str, dict[str, OfRuns]] = {name: {} for name in names}
    for number, (measure, metric) in enumerate(metrics.items()):
        if progress is not None:
            progress("comparing", number, len(metrics))
        each: dict[str, list[float]] = {}
        drawn: dict[str, Floats] = {}
        for name in names:
            counted = [_statistics(metric, texts) for texts in systems[name].values()]
            each[name] = [_score(metric, one.sum(axis=0)) for one in counted]
            drawn[name] = np.mean([[_score(metric, row) for row in times @ one] for one in counted], axis=0)
        for name in names:
            gain = None if name == names[0] else _gain(name, names[0], each, drawn, sentences)
            found[name][measure] = of_runs(each[name], gain=gain)
    scores = corrected([found[name] for name in names])
    return [Compared(name, list(systems[name]), own) for name, own in zip(names, scores, strict=True)]


def _gain(
    name: str, first: str, each: Mapping[str, list[float]], drawn: Mapping[str, Floats], sentences: int
) -> Gain:
    """Return the difference of one system's mean to the first's; runs of both add to the error."""
    error = float(np.std(drawn[name] - drawn[first], ddof=1))
    base = float(np.mean(each[first]))
    runs = [value - base for value in each[name]]
    if len(each[first]) == len(runs):  # run by run
        runs = [one - other for one, other in zip(each[name], each[first], strict=True)]
    elif len(each[first]) > 1:
        error = float(np.hypot(error, np.std(each[first], ddof=1) / np.sqrt(len(each[first]))))
    value, ci, p = over_trainings(runs, error, sentences - 1, "paired bootstrap of sentences")
    return Gain(value, ci, p)


def _statistics(metric: Any, texts: Sequence[str]) -> Floats:  # noqa: ANN401
    """Return what the metric counts in each sentence, [s, k]."""
    return np.array(metric._extract_corpus_statistics(list(texts), None), dtype=np.float64)


def _score(metric: Any, summed: Floats) -> float:  # noqa: ANN401
    return float(metric._compute_score_from_stats(summed.tolist()).score)
