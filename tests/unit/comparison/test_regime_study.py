"""Regimes side by side: means, differences and their correction, against a plain transcription."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from xlingual.comparison.regime_study import queries_of, regime_differences, regime_scores
from xlingual.errors import InputError
from xlingual.results.regime_study import OTHER, OWN_POOL, POOL, SAME, TESTED, VALUES, QuestionValues

N, TRAININGS = 240, 3
GAINS = {"x-y": 0.06, "x-x": 0.03, "untrained": 0.0}
MODELS = {name: [f"{name}-{seed}" for seed in range(TRAININGS)] for name in GAINS}


def made(seed: int = 0) -> dict[str, QuestionValues]:
    """Return values of 240 questions of 60 paragraphs in two languages; a third has no answer in its own."""
    draws = np.random.default_rng(seed)
    hard = draws.random(N) * 0.5
    found = {}
    for name, gain in GAINS.items():
        for place, model in enumerate(MODELS[name]):
            each = {
                kind: np.clip(hard + gain + 0.01 * place + 0.05 * draws.random(N), 0, 1) for kind in VALUES
            }
            for kind in (OWN_POOL, SAME, OTHER):
                each[kind][::3] = np.nan
            each[OWN_POOL] = 0.9 - each[OWN_POOL]  # the other order within a language
            tags = ["en" if i % 2 else "de" for i in range(N)]
            found[model] = QuestionValues(
                [f"{tag}/{i}" for i, tag in enumerate(tags)], tags, np.arange(N) // 4, each
            )
    return found


def test_the_scores_are_means_over_questions_then_trainings() -> None:
    values = made()
    scores = regime_scores(values, MODELS)
    assert [one.name for one in scores] == ["x-y", "x-x", "untrained"]
    for one in scores:
        for kind in VALUES:
            score = one.score(kind)
            assert score is not None and score.ci is not None
            own = [values[model].value[kind] for model in MODELS[one.name]]
            each = [sum(v for v in column if v == v) / sum(v == v for v in column) for column in own]
            assert score.per_training == pytest.approx(each, abs=1e-12)
            assert score.value == pytest.approx(sum(each) / TRAININGS, abs=1e-12)
            assert score.sd_training == pytest.approx(np.std(each, ddof=1), abs=1e-12)
            assert score.ci.low < score.value < score.ci.high
            for tag in ("en", "de"):
                rows = [i for i in range(N) if values["x-y-0"].language[i] == tag]
                mine = [column[i] for column in own for i in rows if column[i] == column[i]]
                assert score.by_language[tag] == pytest.approx(sum(mine) / len(mine), abs=1e-12)


def test_every_pair_is_tested_and_corrected_for_the_pairs_of_its_value() -> None:
    values = made()
    found = regime_differences(values, MODELS, replicates=399)
    assert [(d.regime, d.other) for d in found] == list(combinations(MODELS, 2)) * len(TESTED)
    for one in found:
        a, b = (
            [np.nanmean(values[model].value[one.where]) for model in MODELS[name]]
            for name in (one.regime, one.other)
        )
        assert one.per_training == pytest.approx(np.subtract(a, b), abs=1e-12)
        assert one.value == pytest.approx(np.mean(a) - np.mean(b), abs=1e-12)
    for where in TESTED:
        own = sorted((d for d in found if d.where == where), key=lambda d: d.p or 0.0)
        highest = 0.0
        for place, one in enumerate(own):  # Holm, written out
            assert one.p is not None
            highest = max(highest, min(1.0, (len(own) - place) * one.p))
            assert one.p_adjusted == pytest.approx(highest)
            assert (one.outcome == "no difference found") == (highest >= 0.05)
    outcomes = {(d.regime, d.other, d.where): d.outcome for d in found}
    assert outcomes["x-y", "untrained", POOL] == "better"
    assert outcomes["x-y", "untrained", OWN_POOL] == "worse"


def test_a_difference_turned_is_the_other_way_round() -> None:
    (first, *_) = regime_differences(made(), MODELS, replicates=199)
    back = first.turned()
    assert (back.regime, back.other, back.value) == (first.other, first.regime, -first.value)
    assert back.ci and first.ci and (back.ci.low, back.ci.high) == (-first.ci.high, -first.ci.low)
    assert (first.outcome, back.outcome) == ("better", "worse") and back.turned() == first


def test_equal_models_do_not_differ_and_few_clusters_give_no_test() -> None:
    values = made()
    twice = {**values, **{f"copy-{i}": values[f"x-y-{i}"] for i in range(TRAININGS)}}
    models = {"x-y": MODELS["x-y"], "copy": [f"copy-{i}" for i in range(TRAININGS)]}
    for one in regime_differences(twice, models, replicates=199):
        assert one.value == 0 and one.outcome == "no difference found"
    for own in values.values():
        own.cluster[:] = own.cluster % 2
    assert {one.outcome for one in regime_differences(values, MODELS, replicates=199)} == {"cannot tell"}


def test_other_questions_are_refused_and_a_value_nobody_has_is_left_out() -> None:
    values = made()
    for own in values.values():
        own.value[OWN_POOL][:] = np.nan
    assert queries_of(values, OWN_POOL) is None
    assert {one.where for one in regime_differences(values, MODELS, replicates=199)} == {POOL, OTHER, SAME}
    assert regime_scores(values, MODELS)[0].own_pool is None
    values["x-x-1"].question[0] = "en/other"
    with pytest.raises(InputError, match="x-x-1 was evaluated on other questions than x-y-0"):
        queries_of(values, POOL)
