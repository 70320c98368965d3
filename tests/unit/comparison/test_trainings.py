"""Models that were trained several times: means and differences against plain sums."""

from itertools import permutations

import numpy as np
import pytest

from xlingual.comparison.queries import Labels, Queries, sample_weights
from xlingual.comparison.trainings import difference, mean_over_trainings
from xlingual.stats.trainings import with_trainings

LANGUAGES = ("aa", "bb", "cc", "dd")


def queries(chances, each=60, seed=0):
    """Give queries of all language pairs, whose hits come with a chance for each encoder."""
    rng = np.random.default_rng(seed)
    pairs = [f"{a}-{b}" for a, b in permutations(LANGUAGES, 2)]
    code = np.repeat(np.arange(len(pairs)), each)
    own = np.concatenate([LANGUAGES.index(pair[:2]) * each + np.arange(each) for pair in pairs])
    values = np.stack([(rng.random(len(code)) < chance).astype(float) for chance in chances.values()])
    labels = {"pair": Labels(code, tuple(pairs)), "seed": Labels(np.zeros_like(code), ("0",))}
    retrieved = 1000 + rng.integers(0, 200, values.shape)
    weight = sample_weights(code)
    return Queries("backretrieval", "R@10", tuple(chances), values, weight, own, retrieved, labels, {})


def gap(of, first, second, replicates=199):
    return difference(of, first, second, rng=np.random.default_rng(1), replicates=replicates)


def test_means_and_differences_are_those_of_the_trainings():
    of = queries({"a0": 0.5, "a1": 0.6, "b0": 0.3, "b1": 0.35, "c": 0.4})
    means = dict(zip(of.encoders, of.values.mean(axis=1), strict=True))  # pairs have equally many queries
    value, ci, each = mean_over_trainings(of, ["a0", "a1"])
    assert each == pytest.approx([means["a0"], means["a1"]]) and value == pytest.approx(np.mean(each))
    assert 0 <= ci.low < value < ci.high <= 1
    both = gap(of, ["a0", "a1"], ["b0", "b1"])
    assert both.per_training == pytest.approx([means["a0"] - means["b0"], means["a1"] - means["b1"]])
    assert both.value == pytest.approx(np.mean(both.per_training))
    assert both.ci.low < both.value < both.ci.high and "2 trainings" in both.ci.method
    one = gap(of, ["c"], ["a0", "a1"])  # meets each of them
    assert one.per_training == pytest.approx([means["c"] - means["a0"], means["c"] - means["a1"]])
    with pytest.raises(ValueError, match="2 and 3 trainings"):
        gap(of, ["a0", "a1"], ["b0", "b1", "c"])


def test_trainings_that_differ_widen_the_interval():
    alike = gap(queries({"a0": 0.5, "a1": 0.5, "b": 0.3}, each=400), ["a0", "a1"], ["b"])
    apart = gap(queries({"a0": 0.3, "a1": 0.7, "b": 0.3}, each=400), ["a0", "a1"], ["b"])
    assert apart.ci.high - apart.ci.low > 4 * (alike.ci.high - alike.ci.low)
    assert alike.p < 0.05 < apart.p  # one training gained nothing, so another may not either


def test_a_query_of_several_trainings_stays_one_cluster():
    of = queries({"a0": 0.5, "b0": 0.3})
    twice = Queries(
        *(of.task, of.measure, ("a0", "a1", "b0", "b1"), of.values[[0, 0, 1, 1]], of.weight, of.own),
        *(of.retrieved[[0, 0, 1, 1]], of.labels, {}),
    )
    once, same = gap(of, ["a0"], ["b0"], 1999), gap(twice, ["a0", "a1"], ["b0", "b1"], 1999)
    assert same.value == pytest.approx(once.value)
    assert same.ci.high - same.ci.low >= 0.95 * (once.ci.high - once.ci.low)


def test_variance_of_trainings_is_added_with_their_few_degrees_of_freedom():
    error, freedom = with_trainings(0.3, 50.0, [0.0, 1.0])
    assert error == pytest.approx(np.sqrt(0.09 + 0.25))
    assert freedom == pytest.approx(0.34**2 / (0.3**4 / 50 + 0.25**2 / 1))
    assert with_trainings(0.3, 50.0, [0.7]) == (0.3, 50.0)
    assert with_trainings(0.0, 5.0, [1.0, 1.0])[0] == 0.0


def test_what_retrieves_one_text_or_has_few_clusters_cannot_be_told():
    of = queries({"a": 0.5, "b": 0.4})
    of.retrieved[0] = 7
    assert "one and the same text" in gap(of, ["a"], ["b"]).note
    few = gap(queries({"a": 0.5, "b": 0.4}, each=1), ["a"], ["b"])
    assert few.ci is None and few.p is None and "only 4 clusters" in few.note
