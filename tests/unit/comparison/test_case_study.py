"""Case studies: trainings stacked against naive sums, worst pairs that are not chosen by what judges them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from xlingual.comparison.case_study import Cast, case_study
from xlingual.comparison.queries import Labels, Queries, sample_weights
from xlingual.comparison.trainings import Share, difference, mean_over_trainings
from xlingual.comparison.worst_pairs import choices, described, shares, worst_of
from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.results.case_study import ALL_PAIRS, PIVOT, TRIPLET, TRIPLET_XL, WORST_PAIRS, CaseStudy
from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE
from xlingual.stats.trainings import with_trainings

LANGUAGES = ("aa", "bb", "cc", "dd")
EACH = 60


def made(
    quality: dict[str, Any], seed: int = 0, *, each: int = EACH, languages: tuple[str, ...] = LANGUAGES
) -> Queries:
    """Return queries of all language pairs whose hits come with the chance that `quality` names.

    A value of `quality` is a number, or a mapping from pair to number.
    """
    rng = np.random.default_rng(seed)
    pairs = [f"{a}-{b}" for a, b in permutations(languages, 2)]
    code = np.repeat(np.arange(len(pairs)), each)
    own = np.concatenate([languages.index(p[:2]) * each + np.arange(each) for p in pairs])
    chance = {
        name: np.array([q if isinstance(q, float) else q.get(p, 0.5) for p in pairs])[code]
        for name, q in quality.items()
    }
    values = np.stack([(rng.random(len(code)) < p).astype(np.float64) for p in chance.values()])
    zero = np.zeros(len(code), dtype=np.int64)
    labels = {
        "pair": Labels(code, tuple(pairs)),
        "source": Labels(np.array([languages.index(p[:2]) for p in pairs])[code], languages),
        "target": Labels(np.array([languages.index(p[3:]) for p in pairs])[code], languages),
        "seed": Labels(zero, ("0",)),
    }
    return Queries(
        task="backretrieval",
        measure="R@10",
        encoders=tuple(quality),
        values=values,
        weight=sample_weights(code),
        own=own,
        retrieved=1000 + rng.integers(0, 200, values.shape),
        labels=labels,
        conditions={},
    )


def test_a_difference_over_trainings_is_the_mean_of_its_shares() -> None:
    queries = made({"a0": 0.5, "a1": 0.6, "b0": 0.3, "b1": 0.35})
    rows = [np.arange(0, 300), np.arange(200, 500)]
    found = difference(
        queries,
        [[Share("a0", "b0", rows[0])], [Share("a1", "b1", rows[1])]],
        rng=np.random.default_rng(0),
        replicates=199,
    )
    naive = []
    for (one, other), part in zip((("a0", "b0"), ("a1", "b1")), rows, strict=True):
        i, j = queries.row_of(one), queries.row_of(other)
        gains: dict[int, list[float]] = {}
        for row in part.tolist():
            pair = int(queries.labels["pair"].code[row])
            gains.setdefault(pair, []).append(queries.values[i, row] - queries.values[j, row])
        naive.append(float(np.mean([np.mean(values) for values in gains.values()])))
    assert found.per_training == pytest.approx(naive)
    assert found.value == pytest.approx(np.mean(naive))
    assert found.ci is not None and found.ci.low < found.value < found.ci.high
    assert "2 trainings" in found.ci.method


def test_trainings_that_differ_widen_the_interval() -> None:
    alike = made({"a0": 0.5, "a1": 0.5, "b": 0.3}, each=400)
    apart = made({"a0": 0.3, "a1": 0.7, "b": 0.3}, each=400)
    everything = np.arange(len(alike))
    widths, p = [], []
    for queries in (alike, apart):
        trainings = [[Share(name, "b", everything)] for name in ("a0", "a1")]
        found = difference(queries, trainings, rng=np.random.default_rng(1), replicates=199)
        assert found.ci is not None and found.p is not None
        widths.append(found.ci.high - found.ci.low)
        p.append(found.p)
    assert widths[1] > 4 * widths[0]
    assert p[0] < 0.05 < p[1]  # one training gained nothing, so another may not either


def test_variance_of_trainings_is_added_with_their_few_degrees_of_freedom() -> None:
    error, freedom = with_trainings(0.3, 50.0, [0.0, 1.0])
    assert error == pytest.approx(np.sqrt(0.09 + 0.25))
    assert freedom == pytest.approx(0.34**2 / (0.3**4 / 50 + 0.25**2 / 1))
    assert with_trainings(0.3, 50.0, [0.7]) == (0.3, 50.0)
    assert with_trainings(0.0, 5.0, [1.0, 1.0])[0] == 0.0


def test_the_mean_over_trainings_has_an_interval_within_bounds() -> None:
    queries = made({"a0": 0.02, "a1": 0.04, "a2": 0.03})
    value, ci, each = mean_over_trainings(queries, ["a0", "a1", "a2"])
    assert each == pytest.approx(queries.values.mean(axis=1))
    assert value == pytest.approx(np.mean(each))
    assert 0 <= ci.low < value < ci.high <= 1


def test_no_query_judges_a_pair_that_it_chose() -> None:
    queries = made({"t0": 0.5, "t1": 0.5, "x0": 0.5, "x1": 0.5})
    found = choices(queries, ["t0", "t1"], 3, seed=0)
    assert not isinstance(found, str) and len(found) == 4
    code = queries.labels["pair"].code
    for one in found:
        judged = set(queries.own[one.rows].tolist())
        same = [other for other in found if other.training == one.training and other is not one]
        assert all(judged.isdisjoint(queries.own[other.rows].tolist()) for other in same)
        # the pairs of this choice are the lowest of the other training, on queries of other clusters
        chosen_on = np.flatnonzero(~np.isin(queries.own, list(judged | _own_of_half(queries, one))))
        other = "t1" if one.training == 0 else "t0"
        assert set(worst_of(queries, [other], chosen_on, 3).tolist()) == set(one.pairs.tolist())
        assert set(code[one.rows].tolist()) == set(one.pairs.tolist())


def _own_of_half(queries: Queries, choice: Any) -> set[int]:
    """Return all clusters of the half that a choice judges, of pairs that it did not choose too."""
    from xlingual.comparison.worst_pairs import _halves

    half = _halves(queries, 0)
    part = half[choice.rows[0]]
    return set(queries.own[half == part].tolist())


def test_halves_are_of_equal_size_and_keep_clusters_together() -> None:
    from xlingual.comparison.worst_pairs import _halves

    queries = made({"t": 0.5})
    half = _halves(queries, 3)
    assert abs(int(np.sum(half)) * 2 - len(half)) <= len(half) * 0.01
    for owner in np.unique(queries.own):
        assert len(np.unique(half[queries.own == owner])) == 1
    assert not np.array_equal(half, _halves(queries, 4))


def test_luck_alone_mends_the_worst_pairs_only_where_they_are_judged_by_what_chose_them() -> None:
    guarded, naive = [], []
    for seed in range(30):
        queries = made({"t": 0.5, "x": 0.5}, seed)  # no model is better than the other on any pair
        found = choices(queries, ["t"], 3, seed)
        assert not isinstance(found, str)
        tested = difference(
            queries, shares(found, ["x"], ["t"]), rng=np.random.default_rng(seed), replicates=19
        )
        same = described(queries, found, ["t"], ["x"], 3).same_data
        assert same is not None
        guarded.append(tested.value)
        naive.append(same)
    error = np.std(guarded, ddof=1) / np.sqrt(len(guarded))
    assert abs(np.mean(guarded)) < 3 * error
    assert np.mean(naive) > 0.05  # regression to the mean, which looks like a gain


def test_a_pair_that_is_truly_bad_is_chosen_and_its_mending_found() -> None:
    bad = {"aa-bb": 0.1, "cc-dd": 0.1}
    queries = made({"t0": bad, "t1": bad, "x0": 0.5, "x1": 0.5}, each=200)
    found = choices(queries, ["t0", "t1"], 2, 0)
    assert not isinstance(found, str)
    worst = described(queries, found, ["t0", "t1"], ["x0", "x1"], 2)
    assert {(p.source, p.target) for p in worst.shown} == {("aa", "bb"), ("cc", "dd")}
    assert [p.chosen for p in worst.shown] == [1.0, 1.0] and worst.also_chosen == []
    assert worst.retrained == pytest.approx(0.0, abs=0.06)  # trained anew it is as bad
    tested = difference(
        queries, shares(found, ["x0", "x1"], ["t0", "t1"]), rng=np.random.default_rng(0), replicates=199
    )
    assert tested.value == pytest.approx(0.4, abs=0.08) and tested.ci is not None and tested.ci.low > 0.2


def test_a_training_that_was_unlucky_is_not_judged_on_its_own_bad_pair() -> None:
    queries = made({"t0": {"aa-bb": 0.05}, "t1": {"cc-dd": 0.05}}, each=200)
    found = choices(queries, ["t0", "t1"], 1, 0)
    assert not isinstance(found, str)
    names = queries.labels["pair"].words
    assert {(c.training, names[int(c.pairs[0])]) for c in found} == {(0, "cc-dd"), (1, "aa-bb")}
    assert described(queries, found, ["t0", "t1"], [], 1).retrained > 0.3  # type: ignore[operator]


class Noisy:
    """Vectors that point to an item, with noise of a size, more of it in some languages."""

    def __init__(self, name: str, noise: float, harder: str = "") -> None:
        self.name, self.identity, self.noise, self.harder = name, f"noisy:{name}", noise, harder

    def encode(self, batch: Any) -> np.ndarray:
        rng = np.random.default_rng([len(batch), round(100 * self.noise), len(self.name)])
        ideal = np.eye(40)[[int(row[2:]) % 40 for row in batch.ids]]
        size = [self.noise * (3 if tag == self.harder else 1) for tag in getattr(batch, "language", ())]
        return ideal + np.array(size or [self.noise])[:, None] * rng.standard_normal(ideal.shape)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": f"{tag}{i}"}
        for tag in LANGUAGES[:3]
        for i in range(80)
    ]
    found = backretrieval(
        Manifest.of(rows),
        text_encoders=[
            Noisy("plain", 0.9),
            Noisy("base", 0.5),
            *(Noisy(f"triplet-{i}", 0.25, "cc") for i in range(2)),
            *(Noisy(f"triplet-xl-{i}", 0.22 + i / 50) for i in range(2)),
        ],
        image_encoder=Noisy("images", 0.05),
        measures=["R@3"],
        store=None,
        examples=False,
    )
    path = str(tmp_path_factory.mktemp("study"))
    found.write(path)
    return path


CAST = Cast("base", ("plain",), ("triplet-0", "triplet-1"), ("triplet-xl-0", "triplet-xl-1"))


def test_a_study_of_a_folder(folder: str, tmp_path: Any) -> None:
    study = case_study(folder, CAST, measure="R@3", replicates=199)
    assert [model.name for model in study.models] == ["plain", "base", TRIPLET, TRIPLET_XL]
    assert study.model(TRIPLET).encoders == ["triplet-0", "triplet-1"]  # type: ignore[union-attr]
    assert study.n_pairs == 6 and study.n_trainings == 2 and study.chance == pytest.approx(3 / 80)
    for model in study.models:
        assert model.value == pytest.approx(np.mean([pair.value for pair in model.pairs]))
        assert model.value == pytest.approx(np.mean(model.per_training))
        assert (model.sd_training is None) == (len(model.encoders) == 1)
        assert model.ci is not None and model.ci.low < model.value < model.ci.high
    asked = [(d.model, d.other, d.where) for d in study.differences]
    assert asked == [
        (TRIPLET, "base", ALL_PAIRS),
        (TRIPLET_XL, TRIPLET, ALL_PAIRS),
        (TRIPLET_XL, TRIPLET, WORST_PAIRS),
    ]
    assert study.differences[0].value == pytest.approx(study.models[2].value - study.models[1].value)
    assert study.difference(TRIPLET_XL, WORST_PAIRS).outcome == BETTER  # type: ignore[union-attr]
    assert all("cc" in (pair.source, pair.target) for pair in study.worst.shown)
    assert all(d.p_adjusted >= d.p for d in study.differences)  # type: ignore[operator]
    study.write(tmp_path)
    assert CaseStudy.read(tmp_path) == study
    assert case_study(folder, CAST, measure="R@3", replicates=199) == study


def test_a_study_without_triplet_xl_or_without_any_training(folder: str) -> None:
    alone = case_study(folder, Cast("base", ("plain",), ("triplet-0",)), measure="R@3", replicates=199)
    assert [(d.model, d.other) for d in alone.differences] == [(TRIPLET, "base")]
    assert alone.worst.shown and alone.worst.same_data is None and alone.worst.retrained is None
    only_xl = case_study(folder, Cast("base", (), (), ("triplet-xl-0",)), measure="R@3", replicates=199)
    assert [(d.model, d.other) for d in only_xl.differences] == [(TRIPLET_XL, "base")]
    none = case_study(folder, Cast("base", ("plain",)), measure="R@3")
    assert none.differences == [] and none.worst.shown == [] and none.worst.note


def test_an_image_pivot_is_compared_with_its_base_and_with_what_was_trained_last(folder: str) -> None:
    without = case_study(folder, replace(CAST, others=()), measure="R@3", replicates=199)
    cast = replace(CAST, others=(), pivot="plain")
    study = case_study(folder, cast, measure="R@3", replicates=199)
    assert [model.role for model in study.models] == ["base", PIVOT, TRIPLET, TRIPLET_XL]
    asked = [(d.model, d.other, d.where) for d in study.differences]
    assert asked[:-2] == [(d.model, d.other, d.where) for d in without.differences]
    assert asked[-2:] == [("plain", "base", ALL_PAIRS), ("plain", TRIPLET_XL, ALL_PAIRS)]
    values = {model.name: model.value for model in study.models}
    against_base, against_xl = study.differences[-2:]
    assert against_base.value == pytest.approx(values["plain"] - values["base"])
    assert against_xl.value == pytest.approx(values["plain"] - values[TRIPLET_XL])
    assert len(against_xl.per_training) == 2
    alone = case_study(folder, Cast("base", pivot="plain"), measure="R@3", replicates=199)
    assert [(d.model, d.other) for d in alone.differences] == [("plain", "base")]
    of_triplet = case_study(
        folder, Cast("base", (), ("triplet-0",), pivot="plain"), measure="R@3", replicates=199
    )
    assert [(d.model, d.other) for d in of_triplet.differences][1:] == [("plain", "base"), ("plain", TRIPLET)]


def test_the_same_model_twice_shows_no_difference(folder: str) -> None:
    same = case_study(folder, Cast("base", (), ("triplet-0",), ("triplet-0",)), measure="R@3", replicates=199)
    assert [d.outcome for d in same.differences[1:]] == [NO_DIFFERENCE, NO_DIFFERENCE]
    assert [d.value for d in same.differences[1:]] == [0.0, 0.0]


def test_what_retrieves_one_text_alone_cannot_be_told(folder: str) -> None:
    queries = made({"a": 0.5, "b": 0.4})
    assert queries.retrieved is not None
    queries.retrieved[0] = 7
    everything = [[Share("a", "b", np.arange(len(queries)))]]
    found = difference(queries, everything, rng=np.random.default_rng(0), replicates=19)
    few = made({"a": 0.5, "b": 0.4}, each=1)
    found = difference(
        few, [[Share("a", "b", np.arange(len(few)))]], rng=np.random.default_rng(0), replicates=9
    )
    assert found.ci is None and "only 4 clusters" in str(found.note)
    assert CANNOT_TELL == "cannot tell"
