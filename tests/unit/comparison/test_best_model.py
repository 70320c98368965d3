"""The best model against every other: differences, corrections and pairs, against plain sums and loops."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

from xlingual.comparison import trainings
from xlingual.comparison.best_model import _test, best_model
from xlingual.comparison.queries import Queries
from xlingual.comparison.trainings import difference, mean_over_trainings, whole
from xlingual.results.case_study import Model
from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE
from xlingual.streams import stream

made = run_path(str(Path(__file__).parent / "test_case_study.py"))["made"]  # queries of known quality
QUALITY = {"a": 0.2, "b": 0.45, "t0": 0.5, "t1": 0.52, "x0": 0.5, "x1": 0.56}
ROLES = {"a": ("a",), "b": ("b",), "t": ("t0", "t1"), "x": ("x0", "x1")}


def models_of(queries: Queries, roles: dict[str, tuple[str, ...]] = ROLES) -> list[Model]:
    return [
        Model(
            name, "other", list(encoders), mean_over_trainings(queries, encoders)[0], None, [], None, None, []
        )
        for name, encoders in roles.items()
    ]


def naive_holm(p: list[float]) -> list[float]:
    """Reject from the smallest on; the adjusted p is the smallest level at which each is rejected."""
    order, found, worst = sorted(range(len(p)), key=lambda i: p[i]), [0.0] * len(p), 0.0
    for place, i in enumerate(order):
        worst = max(worst, min(1.0, p[i] * (len(p) - place)))
        found[i] = worst
    return found


@pytest.fixture(scope="module")
def queries() -> Queries:
    return made(QUALITY, each=40, languages=("aa", "bb", "cc"))


def test_differences_are_plain_means_and_p_is_corrected_for_all_pairs_of_models(queries: Queries) -> None:
    models = models_of(queries)
    found = best_model(queries, models, seed=3, replicates=199)
    assert found is not None and found.name == "x" and found.n_tests == 6 and found.n_pair_tests == 6 * 6
    assert [other.model for other in found.others] == ["t", "b", "a"]
    code, words = queries.labels["pair"].code, queries.labels["pair"].words
    for other in found.others:
        by_pair = []
        for part, pair in zip(other.pairs, words, strict=True):
            rows = [i for i in range(len(queries)) if words[code[i]] == pair]
            gains = [
                np.mean([queries.values[queries.row_of(x), i] for x in ROLES["x"]])
                - np.mean([queries.values[queries.row_of(o), i] for o in ROLES[other.model]])
                for i in rows
            ]
            by_pair.append(float(np.mean(gains)))
            assert part.value == pytest.approx(by_pair[-1]) and f"{part.source}-{part.target}" == pair
        assert other.value == pytest.approx(np.mean(by_pair))
    ordered = sorted(models, key=lambda model: -model.value)
    p = {}
    for one, other in combinations(ordered, 2):
        rng = stream(3, f"case study: best|all pairs|{one.name}|{other.name}")
        p[one.name, other.name] = difference(
            queries, whole(queries, one.encoders, other.encoders), rng=rng, replicates=199
        ).p
    adjusted = dict(zip(p, naive_holm(list(p.values())), strict=True))  # type: ignore[arg-type]
    assert {o.model: o.p_adjusted for o in found.others} == {
        name: pytest.approx(adjusted["x", name]) for name in ("t", "b", "a")
    }
    single = [pair for other in found.others for pair in other.pairs]
    everything = naive_holm([*(pair.p for pair in single), *[1.0] * (36 - len(single))])  # type: ignore[list-item]
    assert [pair.p_adjusted for pair in single] == pytest.approx(everything[: len(single)])
    outcomes = {other.model: other.outcome for other in found.others}
    assert outcomes["a"] == BETTER and outcomes["t"] == NO_DIFFERENCE


def test_the_order_of_models_changes_nothing(queries: Queries) -> None:
    models = models_of(queries)
    one, other = (best_model(queries, own, seed=1, replicates=99) for own in (models, models[::-1]))
    assert one == other


def test_a_model_twice_is_level_with_itself(queries: Queries) -> None:
    found = best_model(queries, models_of(queries, {"x": ("x0",), "y": ("x0",)}), seed=0, replicates=99)
    assert found is not None
    (other,) = found.others
    assert (other.value, other.p_adjusted, other.outcome) == (0.0, 1.0, NO_DIFFERENCE)
    assert {pair.outcome for pair in other.pairs} == {NO_DIFFERENCE}


@pytest.mark.parametrize(("p", "drawn"), [(0.004, [1999, 2499]), (0.006, [1999])])
def test_more_replicates_are_drawn_anew_where_a_small_p_may_need_them(
    queries: Queries, monkeypatch: pytest.MonkeyPatch, p: float, drawn: list[int]
) -> None:
    """Of 100 tests the smallest p must be .0005 or less: 1999 replicates give at least that, so no room."""
    seen: list[tuple[int, float]] = []

    def recorded(
        part: Queries, shares: object, *, rng: np.random.Generator, replicates: int
    ) -> trainings.Tested:
        seen.append((replicates, rng.random()))
        return trainings.Tested(0.1, [0.1], None, p)

    monkeypatch.setattr("xlingual.comparison.best_model.difference", recorded)
    a, b = models_of(queries, {"x": ("x0",), "b": ("b",)})
    found = _test(queries, a, b, "name", 0, None, 100)
    assert [replicates for replicates, _ in seen] == drawn and found.p == p
    assert len({first for _, first in seen}) == len(drawn)  # other random numbers


def test_no_test_is_said_to_be_none() -> None:
    queries = made({"a": 0.5, "b": 0.4}, each=60, languages=("aa", "bb"))
    assert queries.retrieved is not None
    queries.retrieved[0] = 7
    found = best_model(queries, models_of(queries, {"a": ("a",), "b": ("b",)}), seed=0, replicates=99)
    assert found is not None
    assert found.others[0].outcome == CANNOT_TELL and found.others[0].p_adjusted is None
    assert best_model(queries, models_of(queries, {"a": ("a",)}), seed=0) is None
    one = best_model(queries.slices("pair")["aa-bb"], models_of(queries, {"b": ("b",), "a": ("a",)}), seed=0)
    assert one is not None and one.others[0].pairs == [] and one.n_pair_tests == 0
