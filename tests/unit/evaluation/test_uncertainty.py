"""Intervals of results, clustered as designed: loops over pairs of queries, read from the query table."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.numbers import Baseline, normalised
from xlingual.results import by_key
from xlingual.stats import ResidualPart, mean_interval

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("cases.py"))))
dyads = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "stats" / "dyads.py")))
SPANS = {"R@3": (0.0, 1.0), "SIM": (-1.0, 1.0)}


@pytest.fixture(scope="module")
def case():
    """Sixty items in twelve clusters; targets repeat vectors, so that some queries tie and hubs arise."""
    rng = np.random.default_rng(8)
    rows = [{"id": f"i{i}", "text_en": "e", "text_de": "d", "cluster": f"c{i % 12}"} for i in range(60)]
    manifest = Manifest.of(rows)
    plain, other = rng.standard_normal((2, 120, 4)).astype(np.float32)
    german = np.flatnonzero(manifest.language == 1)
    plain[german[:20]] *= 2
    plain[german[30:40]] = plain[german[20:30]]
    images = rng.standard_normal((60, 3)).astype(np.float32)
    return shared.Case(manifest, {"a": plain, "b": other}, images[manifest.item])


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


def nodes_of(rows):
    """Return the nodes of each query: its cluster, and that of the retrieved text; a tie is alone."""
    cluster = {f"i{i}": f"c{i % 12}" for i in range(60)}
    alone = [(row["seed"], row["source"], row["target"], row["query"]) for row in rows]
    return [
        (cluster[row["query"]], cluster.get(row["retrieved"], one))
        for row, one in zip(rows, alone, strict=True)
    ]


def close(wanted):
    return pytest.approx(tuple(wanted), rel=0, abs=1e-8)


def test_backretrieval_clusters_by_cluster_and_retrieved_target(results):
    nodes = nodes_of(results.per_query.to_pylist())
    assert any(isinstance(target, tuple) for _, target in nodes)  # some queries tie
    assert any(source == target for source, target in nodes)
    for entry in results.entries:
        keys = ("encoder", "source", "target", "measure", "seed")
        rows = rows_of(results, **{key: getattr(entry, key) for key in keys})
        values = np.array([row["value"] for row in rows])
        bounds = SPANS.get(entry.measure, (0.0, 1.0))
        if entry.measure == "MedR":  # the interval of P(rank ≤ median), read off as quantiles
            below = (values <= np.median(values)).astype(float)
            share = np.array(dyads.ends(below.mean(), [dyads.mean_part(below, nodes_of(rows))], bounds))
            wanted = np.quantile(values, np.clip(0.5 + share - below.mean(), 0, 1))
        else:
            wanted = dyads.ends(values.mean(), [dyads.mean_part(values, nodes_of(rows))], bounds)
            blind = mean_interval(values, bounds=bounds)
            assert (entry.ci.low, entry.ci.high) != close((blind.low, blind.high))
        assert (entry.ci.low, entry.ci.high) == close(wanted)
        assert "2-way clusters" in entry.ci.method


@pytest.mark.parametrize("measure", ["R@3", "SIM"])
@pytest.mark.parametrize("pair", [("en", "de"), ("de", "en"), (None, None)])
@pytest.mark.cases(2)
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
        wanted = dyads.ends(values.mean(), [(residuals.tolist(), nodes_of(rows))], SPANS[measure])
        assert summary.value == pytest.approx(values.mean())
        assert (summary.ci.low, summary.ci.high) == close(wanted)


def test_a_difference_clusters_by_the_targets_of_both(results):
    for measure in ("R@3", "SIM"):
        (behind,) = (s for s in by_key(results.summary, measure=measure, source="en") if s.behind)
        leader, other = (
            rows_of(results, encoder=name, measure=measure, source="en")
            for name in (behind.behind.leader, behind.encoder)
        )
        parts = []
        for sign, rows in ((1, leader), (-1, other)):
            values = np.array([row["value"] for row in rows])
            by_seed = np.repeat([values[:30].mean(), values[30:].mean()], 30)
            parts.append(((sign * (values - by_seed) / 60).tolist(), nodes_of(rows)))
        gap = np.mean([a["value"] - b["value"] for a, b in zip(leader, other, strict=True)])
        assert behind.behind.value == pytest.approx(gap)
        assert (behind.behind.ci.low, behind.behind.ci.high) == close(dyads.ends(gap, parts))
        assert nodes_of(leader) != nodes_of(other)


def test_retrieval_clusters_by_cluster(case):
    results = crosslingual_retrieval(case.manifest, text_encoders=case.encoders(), measures=["R@3"])
    for entry in results.entries:
        rows = rows_of(results, encoder=entry.encoder, source=entry.source)
        values = np.array([row["value"] for row in rows])
        part = dyads.mean_part(values, [(row["cluster"],) for row in rows])
        assert (entry.ci.low, entry.ci.high) == close(dyads.ends(values.mean(), [part], (0.0, 1.0)))


def score_of(values, ways=()):
    values = np.array(values, dtype=float)
    return Score(
        values.mean(), (ResidualPart((values - values.mean()) / len(values), tuple(ways)),), (0.0, 1.0)
    )


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
    # queries that share the oracle's target count for less
    hubs = score_of([1, 1, 1, 0] * 9, [np.tile(np.arange(4), 9)])
    assert normalised(found, [Baseline(chance=0.75 - 3.01 * error, oracle=hubs)])[0] is None
