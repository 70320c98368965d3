"""Intervals of results are those of `stats`, clustered as designed; recomputed from the query table."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.scores import Score
from xlingual.evaluation.summary import Baseline, normalised
from xlingual.results import by_key
from xlingual.stats import interval, mean_interval, median_interval

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("cases.py"))))
SPANS = {"R@3": (0.0, 1.0), "SIM": (-1.0, 1.0)}


@pytest.fixture(scope="module")
def case():
    """Sixty items in twelve clusters; targets repeat vectors, so that some queries tie and hubs arise."""
    rng = np.random.default_rng(8)
    rows = [{"id": f"i{i}", "text_en": "e", "text_de": "d", "cluster": f"c{i % 12}"} for i in range(60)]
    manifest = Manifest.from_rows(rows)
    plain, other = rng.standard_normal((2, 120, 4)).astype(np.float32)
    german = np.flatnonzero(manifest.language == 1)
    plain[german[:20]] *= 2
    plain[german[30:40]] = plain[german[20:30]]
    pictures = rng.standard_normal((60, 3)).astype(np.float32)
    return shared.Case(manifest, {"a": plain, "b": other}, pictures[manifest.item])


@pytest.fixture(scope="module")
def results(case):
    return backretrieval(
        case.manifest,
        text_encoders=case.encoders(),
        image_encoder=case.image_encoder,
        measures=["R@3", "MedR"],
        seeds=2,
    )


def rows_of(results, **wanted):
    rows = results.per_query.to_pylist()
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def ways_of(rows):
    """Return the clusters of the queries and the items they retrieve; one that ties is alone."""
    alone = [(row["seed"], row["source"], row["target"], row["query"]) for row in rows]
    hubs = [
        one if row["retrieved"] is None else row["retrieved"] for row, one in zip(rows, alone, strict=True)
    ]
    number = {hub: i for i, hub in enumerate(dict.fromkeys(hubs))}
    return [np.array([row["cluster"] for row in rows]), np.array([number[hub] for hub in hubs])]


def ends(found):
    return pytest.approx((found.low, found.high), rel=1e-9)


def test_backretrieval_clusters_by_cluster_and_retrieved_target(results):
    assert any(row["retrieved"] is None for row in results.per_query.to_pylist())
    for entry in results.entries:
        keys = ("encoder", "source", "target", "measure", "seed")
        rows = rows_of(results, **{key: getattr(entry, key) for key in keys})
        values, ways = np.array([row["value"] for row in rows]), ways_of(rows)
        if entry.measure == "MedR":
            wanted = median_interval(values, ways)
        else:
            wanted = mean_interval(values, ways, bounds=SPANS[entry.measure])
            assert (entry.ci.low, entry.ci.high) != ends(mean_interval(values, bounds=SPANS[entry.measure]))
        assert (entry.ci.low, entry.ci.high) == ends(wanted)
        assert "2-way clusters" in entry.ci.method


@pytest.mark.parametrize("measure", ["R@3", "SIM"])
@pytest.mark.parametrize("pair", [("en", "de"), ("de", "en"), (None, None)])
def test_a_mean_over_seeds_and_pairs_keeps_what_recurs_together(results, pair, measure):
    for summary in by_key(results.summary, measure=measure, source=pair[0], target=pair[1]):
        wanted = {"source": pair[0], "target": pair[1]} if pair[0] else {}
        rows = rows_of(results, encoder=summary.encoder, measure=measure, **wanted)
        values = np.array([row["value"] for row in rows])  # every sample has thirty queries
        samples = [(row["source"], row["seed"]) for row in rows]
        means = {
            key: np.mean([v for v, k in zip(values, samples, strict=True) if k == key]) for key in samples
        }
        residuals = (values - [means[key] for key in samples]) / len(values)
        found = interval(values.mean(), residuals, ways_of(rows), bounds=SPANS[measure])
        assert summary.value == pytest.approx(values.mean())
        assert (summary.ci.low, summary.ci.high) == ends(found)


def test_a_difference_clusters_by_the_targets_of_both(results):
    for measure in ("R@3", "SIM"):
        (behind,) = (s for s in by_key(results.summary, measure=measure, source="en") if s.behind)
        leader, other = (
            rows_of(results, encoder=name, measure=measure, source="en")
            for name in (behind.behind.leader, behind.encoder)
        )
        gaps = np.array([a["value"] - b["value"] for a, b in zip(leader, other, strict=True)])
        by_seed = np.repeat([gaps[:30].mean(), gaps[30:].mean()], 30)
        ways = [*ways_of(leader), ways_of(other)[1]]
        low, high = SPANS[measure]
        found = interval(gaps.mean(), (gaps - by_seed) / len(gaps), ways, span=high - low)
        assert behind.behind.value == pytest.approx(gaps.mean())
        assert (behind.behind.ci.low, behind.behind.ci.high) == ends(found)


def test_retrieval_clusters_by_cluster(case):
    results = crosslingual_retrieval(case.manifest, text_encoders=case.encoders(), measures=["R@3"])
    for entry in results.entries:
        rows = rows_of(results, encoder=entry.encoder, source=entry.source)
        values, way = (np.array([row[key] for row in rows]) for key in ("value", "cluster"))
        assert (entry.ci.low, entry.ci.high) == ends(mean_interval(values, [way], bounds=(0.0, 1.0)))


def score_of(values, ways=()):
    values = np.array(values, dtype=float)
    return Score(values.mean(), (values - values.mean()) / len(values), tuple(ways), (0.0, 1.0))


def test_normalised_needs_an_oracle_three_standard_errors_above_chance():
    found = score_of([1, 0, 0, 0])
    oracle = score_of([1, 1, 1, 0] * 9)
    error = oracle.standard_error()
    assert error == pytest.approx((0.75 * 0.25 / 35) ** 0.5)
    value, why = normalised(found, [Baseline(chance=0.75 - 3.01 * error, oracle=oracle)])
    assert why is None
    assert value == pytest.approx((0.25 - 0.75 + 3.01 * error) / (3.01 * error))
    value, why = normalised(found, [Baseline(chance=0.75 - 2.99 * error, oracle=oracle)])
    assert value is None
    assert "within 3 standard errors of chance" in why
    # queries that share the oracle's target count for less
    hubs = score_of([1, 1, 1, 0] * 9, [np.tile(np.arange(4), 9)])
    assert normalised(found, [Baseline(chance=0.75 - 3.01 * error, oracle=hubs)])[0] is None


def test_normalised_may_exceed_one_and_is_none_without_an_oracle():
    oracle = score_of([1, 0] * 50)
    assert normalised(score_of([1, 1, 1, 0]), [Baseline(0.1, oracle)])[0] == pytest.approx(0.65 / 0.4)
    assert normalised(score_of([1, 0]), [Baseline(0.1)]) == (None, None)
    assert normalised(None, [Baseline(0.1, oracle)]) == (None, None)
