"""Table 1: rows are the validations as they are; mean, error and corrected p by plain formulas."""

from itertools import permutations

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
    "task": "backretrieval", "data": "d1", "sample": "20#0", "images": "pixels", "measure": "R@10",
    "conventions": "2", "ties": "expected",
}  # fmt: skip
KINDS = {"pearson": pearsonr, "spearman": spearmanr}


@pytest.fixture(scope="module", autouse=True)
def _few_replicates():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "REPLICATES", 40)
        yield


def pair(source="en", target="de", *, seed=0, n_seeds=4, noise=(0.1, 0.2, 0.6), n_encoders=7, **changes):
    """Return a validation of made-up scores: XLR, and measures with noise of rising size."""
    rng = np.random.default_rng(seed)
    truth = np.linspace(0.1, 0.9, n_encoders)[:, None] + 0.05 * rng.standard_normal((n_encoders, n_seeds))
    scores = {TRUTH: truth}
    for name, size in zip(MEASURES, noise, strict=True):
        scores[name] = truth + size * rng.standard_normal(truth.shape)
    series, encoders = [], []
    for i in range(n_encoders):
        per_seed = {name: values[i].tolist() for name, values in scores.items()}
        series.append(EncoderSeries(f"e{i}", f"e{i}", per_seed, {}))
        seeds = {name: SeedScores(float(np.mean(v)), 0.1, v, None) for name, v in per_seed.items()}
        encoders.append(EncoderScores.of(f"e{i}", f"e{i}", seeds, None))
    fields = {
        "source": source, "target": target, "n_source": 20, "n_target": 20, "n_matching": 20, "k": 10,
        "n_pictures": 20, "n_seeds": n_seeds, "chance": 0.5, "oracle": 0.9, "encoders": encoders,
        "conditions": CONDITIONS | {"source": source, "target": target},
    }  # fmt: skip
    return PairValidation.of(subsets(series), **(fields | changes))


def validation(*pairs):
    return Validation("R@10", "pixels", 0.5, None, list(pairs))


def on(data, *, conditions=None, **more):
    """Return the validation of one direction of a data set."""
    return validation(pair(conditions=CONDITIONS | {"data": data} | (conditions or {}), **more))


def by_seed(record, name, kind):
    scores = [[row.scores[key].per_seed for row in record.encoders] for key in (TRUTH, name)]
    return [
        KINDS[kind](*of_seed).statistic
        for of_seed in zip(*(zip(*s, strict=True) for s in scores), strict=True)
    ]


def test_rows_are_the_validations_as_they_are():
    first, second = validation(pair(), pair("de", "en", seed=1)), on("d2", seed=2)
    table = validation_table({"A": first, "B": second})
    assert [(row.data_set, row.pair) for row in table.rows] == [
        ("A", "en-de"),
        ("A", "de-en"),
        ("B", "en-de"),
    ]
    for row, record in zip(table.rows, (*first.pairs, *second.pairs), strict=True):
        assert row.agreement == record.agreement
        assert (row.n_source, row.n_seeds, row.n_encoders) == (20, 4, 7)
        for kind in KINDS:
            means = {name: np.mean(by_seed(record, name, kind)) for name in MEASURES}
            assert row.best[kind] == max(means, key=means.__getitem__)
            for contrast, tested in row.differences.items():
                before = record.differences[contrast][kind]
                assert structs.asdict(tested[kind]).items() >= structs.asdict(before).items()


def test_the_mean_and_its_error_by_the_formulas():
    """Rows of one data set share their seeds: their sum is one series; data sets are independent."""
    first, second = validation(pair(), pair("de", "en", seed=1)), on("d2", seed=2, n_seeds=3)
    table = validation_table({"A": first, "B": second})
    for name in MEASURES:
        for kind in KINDS:
            a, b, c = (by_seed(record, name, kind) for record in (*first.pairs, *second.pairs))
            variance = np.var(np.add(a, b), ddof=1) / 4 + np.var(c, ddof=1) / 3
            mean = table.mean[name][kind]
            assert mean.mean == pytest.approx((np.mean(a) + np.mean(b) + np.mean(c)) / 3, abs=1e-12)
            assert mean.se == pytest.approx(np.sqrt(variance) / 3, abs=1e-12)
            assert mean.n_rows == 3


def test_p_is_corrected_for_all_rows():
    table = validation_table({"A": on("d1"), "B": on("d2", seed=5, noise=(0.05, 0.4, 0.8))})
    tested = [by[kind] for row in table.rows for by in row.differences.values() for kind in KINDS]
    pairs = sorted((each.p, each.p_adjusted) for each in tested if each.p is not None)
    assert table.n_tests == len(pairs) > 4
    largest = 0.0
    for place, (p, adjusted) in enumerate(pairs):
        largest = max(largest, min(1.0, (len(pairs) - place) * p))
        assert adjusted == pytest.approx(largest)


@settings(max_examples=6, deadline=None)
@given(st.sampled_from(list(permutations("ABC"))))
def test_the_order_of_data_sets_changes_no_number(order):
    sets = {name: on(f"d{name}", seed=i) for i, name in enumerate("ABC")}
    before, after = validation_table(sets), validation_table({name: sets[name] for name in order})
    rows = {row.data_set: row for row in after.rows}
    for kind in KINDS:
        for name in MEASURES:
            a, b = before.mean[name][kind], after.mean[name][kind]
            assert (a.mean, a.se) == pytest.approx((b.mean, b.se), abs=1e-14)
        for row in before.rows:
            for contrast, tested in row.differences.items():
                again = rows[row.data_set].differences[contrast][kind]
                assert again.p_adjusted == pytest.approx(tested[kind].p_adjusted)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"data": "d2", "measure": "R@5"}, "measure: A en-de has R@10, B en-de has R@5"),
        ({"data": "d2", "conventions": "99"}, "conventions: A en-de has 2, B en-de has 99"),
        ({}, "B en-de is A en-de once more"),
    ],
)
def test_rows_that_cannot_stand_together_are_refused(other, words):
    with pytest.raises(InputError, match=words):
        validation_table({"A": on("d1"), "B": on("d1", conditions=other)})
    with pytest.raises(InputError, match="A en-de lacks the condition sample, images"):
        validation_table({"A": validation(pair(conditions={"data": "d2"}))})


def test_another_protocol_is_flagged_and_other_images_are_another_row():
    others = [{"conditions": {"texts": "1"}}, {"n_seeds": 2}, {"n_matching": 30}]
    for other, words in zip(others, ("in texts", "in seeds", "XLR chooses among 30"), strict=True):
        (warning,) = validation_table({"A": on("d1"), "B": on("d2", **other)}).warnings
        assert words in warning and "B en-de" in warning
    assert not validation_table({"A": on("d1"), "B": on("d2", n_source=900)}).warnings
    images = on("d1", conditions={"images": "vectors:1"})
    assert len(validation_table({"A": on("d1"), "B": images, "C": on("d1", n_encoders=8)}).rows) == 3


def test_one_seed_has_no_error_and_missing_measures_are_left_out():
    single = validation_table({"A": on("d1", n_seeds=1), "B": on("d2")}).mean["BkR"]["pearson"]
    assert single.mean is not None and single.se is None
    few = validation_table({"A": on("d1"), "B": on("d2", n_encoders=2)})
    assert few.rows[1].best == {} and few.rows[1].differences["BkR-SIM"]["pearson"].p_adjusted is None
    mean, row = few.mean["CORR"]["spearman"], few.rows[0].agreement["CORR"]["spearman"]
    assert mean.n_rows == 1 and (mean.mean, mean.se) == pytest.approx((row.mean, row.se))


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
