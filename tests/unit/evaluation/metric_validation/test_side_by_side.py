"""Table 1: rows are the validations as they are; mean, error and corrected p by plain formulas."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from scipy.stats import pearsonr, spearmanr

from xlingual import InputError, ValidationTable, validation_table
from xlingual.evaluation.metric_validation import agreement
from xlingual.evaluation.metric_validation.agreement import EncoderSeries, subsets
from xlingual.results.validation import (
    MEASURES,
    TRUTH,
    EncoderScores,
    PairValidation,
    SeedScores,
    Validation,
)

CONDITIONS = {
    "task": "backretrieval",
    "data": "d1",
    "sample": "20#0",
    "images": "pixels",
    "measure": "R@10",
    "conventions": "2",
    "ties": "expected",
}
KINDS = {"pearson": pearsonr, "spearman": spearmanr}


def pair(
    source: str = "en",
    target: str = "de",
    *,
    seed: int = 0,
    n_seeds: int = 4,
    noise: tuple[float, ...] = (0.1, 0.2, 0.6),
    n_encoders: int = 7,
    **changes: Any,
) -> PairValidation:
    """Return a validation of made-up scores: XLR, and measures with noise of rising size."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.1, 0.9, n_encoders)
    truth = quality[:, None] + 0.05 * rng.standard_normal((n_encoders, n_seeds))
    found = {TRUTH: truth} | {
        name: truth + size * rng.standard_normal(truth.shape)
        for name, size in zip(MEASURES, noise, strict=True)
    }
    names = [f"e{i}" for i in range(n_encoders)]
    series = [
        EncoderSeries(name, name, {key: own[i].tolist() for key, own in found.items()}, {})
        for i, name in enumerate(names)
    ]
    encoders = [
        EncoderScores.of(
            one.encoder,
            one.family,
            {key: SeedScores(float(np.mean(own)), 0.1, own, None) for key, own in one.per_seed.items()},
            None,
        )
        for one in series
    ]
    fields: dict[str, Any] = {
        "source": source, "target": target, "n_source": 20, "n_target": 20, "n_matching": 20, "k": 10,
        "n_pictures": 20, "n_seeds": n_seeds, "chance": 0.5, "oracle": 0.9, "encoders": encoders,
        "conditions": CONDITIONS | {"source": source, "target": target},
    }  # fmt: skip
    return PairValidation.of(subsets(series), **(fields | changes))


def validation(*pairs: PairValidation, **changes: Any) -> Validation:
    return Validation("R@10", "pixels", 0.5, None, list(pairs), **changes)


def on(data: str, *, conditions: Mapping[str, str] | None = None, **more: Any) -> Validation:
    """Return the validation of one direction of a data set."""
    own = CONDITIONS | {"data": data} | (conditions or {})
    return validation(pair(conditions=own, **more))


@pytest.fixture(scope="module", autouse=True)
def _few_replicates():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "REPLICATES", 40)
        yield


def by_seed(one: PairValidation, name: str, kind: str) -> list[float]:
    return [
        KINDS[kind](
            [row.scores[TRUTH].per_seed[i] for row in one.encoders],
            [row.scores[name].per_seed[i] for row in one.encoders],
        ).statistic
        for i in range(one.n_seeds)
    ]


def test_rows_are_the_validations_as_they_are():
    first, second = validation(pair(), pair("de", "en", seed=1)), on("d2", seed=2)
    table = validation_table({"A": first, "B": second})
    assert [(row.data_set, row.pair) for row in table.rows] == [
        ("A", "en-de"),
        ("A", "de-en"),
        ("B", "en-de"),
    ]
    for row, one in zip(table.rows, (*first.pairs, *second.pairs), strict=True):
        assert row.agreement == one.agreement
        assert (row.n_source, row.n_seeds, row.n_encoders) == (20, 4, 7)
        for kind in KINDS:
            means = {name: np.mean(by_seed(one, name, kind)) for name in MEASURES}
            assert row.best[kind] == max(means, key=means.__getitem__)
            for contrast, own in row.differences.items():
                before = one.differences[contrast][kind]
                assert structs.asdict(own[kind]).items() >= structs.asdict(before).items()


def test_the_mean_and_its_error_by_the_formulas():
    """Rows of one data set share their seeds: their sum is one series; data sets are independent."""
    first, second = validation(pair(), pair("de", "en", seed=1)), on("d2", seed=2, n_seeds=3)
    table = validation_table({"A": first, "B": second})
    for name in MEASURES:
        for kind in KINDS:
            a, b, c = (by_seed(one, name, kind) for one in (*first.pairs, *second.pairs))
            both = [x + y for x, y in zip(a, b, strict=True)]
            variance = np.var(both, ddof=1) / 4 + np.var(c, ddof=1) / 3
            found = table.mean[name][kind]
            assert found.mean == pytest.approx((np.mean(a) + np.mean(b) + np.mean(c)) / 3, abs=1e-12)
            assert found.se == pytest.approx(np.sqrt(variance) / 3, abs=1e-12)
            assert found.n_rows == 3


def test_p_is_corrected_for_all_rows():
    table = validation_table({"A": on("d1"), "B": on("d2", seed=5, noise=(0.05, 0.4, 0.8))})
    tested = [one for row in table.rows for own in row.differences.values() for one in own.values()]
    found = sorted((one.p, one.p_adjusted) for one in tested if one.p is not None)
    assert table.n_tests == len(found) > 4
    largest = 0.0
    for place, (p, adjusted) in enumerate(found):
        largest = max(largest, min(1.0, (len(found) - place) * p))
        assert adjusted == pytest.approx(largest)
    assert any(one.p_adjusted > one.p for one in tested)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(list(permutations("ABC"))))
def test_the_order_of_data_sets_changes_no_number(order):
    made = {name: on(f"d{name}", seed=i) for i, name in enumerate("ABC")}
    one, other = validation_table(made), validation_table({name: made[name] for name in order})
    for name in MEASURES:
        for kind in KINDS:
            assert other.mean[name][kind].mean == pytest.approx(one.mean[name][kind].mean, abs=1e-14)
            assert other.mean[name][kind].se == pytest.approx(one.mean[name][kind].se, abs=1e-14)
    rows = {row.data_set: row for row in other.rows}
    for row in one.rows:
        for contrast, own in row.differences.items():
            for kind, tested in own.items():
                again = rows[row.data_set].differences[contrast][kind]
                assert again.p_adjusted == pytest.approx(tested.p_adjusted)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (on("d2", conditions={"measure": "R@5"}, k=5), "measure: A en-de has R@10, B en-de has R@5"),
        (on("d2", conditions={"conventions": "99"}), "conventions: A en-de has 2, B en-de has 99"),
        (on("d1"), "B en-de is A en-de once more"),
        (validation(pair(conditions={"data": "d2"})), "B en-de lacks the condition sample, images"),
    ],
)
def test_rows_that_cannot_stand_together_are_refused(other, words):
    with pytest.raises(InputError, match=words):
        validation_table({"A": on("d1"), "B": other})


def test_another_protocol_is_flagged_and_other_images_are_another_row():
    others = [{"conditions": {"texts": "1"}}, {"n_seeds": 2}, {"n_matching": 30}]
    for other, words in zip(
        others, ("in texts: the default", "in seeds: 4", "XLR chooses among 30"), strict=True
    ):
        (warning,) = validation_table({"A": on("d1"), "B": on("d2", **other)}).warnings
        assert words in warning and "B en-de" in warning
    assert not validation_table({"A": on("d1"), "B": on("d2", n_source=900)}).warnings
    images = on("d1", conditions={"images": "vectors:1"})
    assert len(validation_table({"A": on("d1"), "B": images, "C": on("d1", n_encoders=8)}).rows) == 3


def test_one_seed_has_no_error_and_missing_measures_are_left_out():
    one = validation_table({"A": on("d1", n_seeds=1), "B": on("d2")})
    assert one.mean["BkR"]["pearson"].mean is not None and one.mean["BkR"]["pearson"].se is None
    few = validation_table({"A": on("d1"), "B": on("d2", n_encoders=2)})
    assert few.rows[1].best == {} and few.rows[1].differences["BkR-SIM"]["pearson"].p_adjusted is None
    mean = few.mean["CORR"]["spearman"]
    assert (mean.n_rows, mean.note) == (1, "without 1 of 2 rows")
    assert mean.se == pytest.approx(few.rows[0].agreement["CORR"]["spearman"].se)


def test_folders_name_their_rows_and_the_table_is_read_again(tmp_path):
    on("d1").write(tmp_path / "IKEA")
    on("d2").write(tmp_path / "emoji")
    table = validation_table([tmp_path / "IKEA", tmp_path / "emoji" / "validation.json"])
    assert [row.data_set for row in table.rows] == ["IKEA", "emoji"]
    table.write(tmp_path / "table")
    assert ValidationTable.read(tmp_path / "table") == table
    on("d3").write(tmp_path / "other" / "IKEA")
    with pytest.raises(InputError, match="two data sets are called 'IKEA'"):
        validation_table([tmp_path / "IKEA", tmp_path / "other" / "IKEA"])
    with pytest.raises(InputError, match="no validation with a language pair"):
        validation_table([])
