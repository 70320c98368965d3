"""What changed: the tests of a history against slow ones, planted changes, breaks, order."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from xlingual import InputError, compare
from xlingual import history as changes
from xlingual.results import Results
from xlingual.results.history import Trend


def lines(found):
    return {(line.encoder, line.source): line for one in found.series for line in one.lines}


def test_a_change_is_that_of_a_comparison_of_the_two_results(history, versions):
    """The difference and its interval are those of `compare`, and the value that of the results."""
    one, other = versions.xlr(0.5), versions.xlr(0.8, 1)
    for results in (one, other):
        history.record(results)
    point = lines(history.trend())["mine", None].points[1]
    board = compare({"1": one, "2": other}, baseline="1#mine", measures=["R@1"]).boards[0]
    (row,) = [row for row in board.rows if row.encoder == "2#mine"]
    assert (point.value, point.change.difference) == pytest.approx((row.value, row.difference), abs=1e-12)
    assert point.change.n_queries == 80
    assert (point.change.ci.low, point.change.ci.high) == pytest.approx((row.ci.low, row.ci.high), abs=0.01)


def test_differences_and_correction_by_hand(history, versions):
    """Differences are plain float64 means over queries, of both pairs alike; Holm's steps are written out."""
    found = [versions.xlr(noise, seed) for seed, noise in enumerate([0.4, 0.7, 0.5, 0.9])]
    for results in found:
        history.record(results)
    line = lines(history.trend())["mine", None]
    means = []
    for results in found:
        rows = [row for row in results.per_query.to_pylist() if row["measure"] == "R@1"]
        by_pair = [[row["value"] for row in rows if row["source"] == tag] for tag in ("en", "de")]
        means.append(np.mean([np.mean(np.array(own, dtype=np.float64)) for own in by_pair]))
    changes = [*(point.change for point in line.points[1:]), line.whole]
    wanted = [*np.diff(means), means[-1] - means[0]]
    assert [one.difference for one in changes] == pytest.approx(wanted, abs=1e-12)
    ordered = sorted(changes, key=lambda one: one.p)
    adjusted = [min((len(ordered) - i) * one.p, 1) for i, one in enumerate(ordered)]
    assert [one.p_adjusted for one in ordered] == pytest.approx(list(itertools.accumulate(adjusted, max)))
    assert all(
        one.outcome == ("worse" if one.difference < 0 else "better")
        for one in ordered
        if one.p_adjusted < 0.05
    )


def test_a_planted_change_is_found_and_nothing_else(history, versions):
    for number, noise in enumerate([0.4, 0.4, 0.9, 0.9]):
        history.record(versions.xlr(noise), label=f"v{number}")
    found = history.trend()
    line = lines(found)["mine", None]
    outcomes = [point.change and point.change.outcome for point in line.points]
    assert outcomes == [None, "unchanged", "worse", "unchanged"] and line.whole.outcome == "worse"
    assert found.n_tests == 2  # what is equal on every query is not tested, and not counted
    assert [point.record for point, _ in line.changes] == [3]


def test_a_slow_drift_is_seen_although_no_step_is(history, versions):
    """Each version answers a few queries less; steps of one sample that are each too small to show."""
    base = versions.xlr(0.05)
    rows = base.per_query.to_pylist()
    for number in range(8):
        results = versions.dated(lowered(base, rows, number))
        history.record(results)
    line = lines(history.trend())["mine", None]
    assert not line.changes and line.whole.outcome == "worse" and line.whole.since == 1


def lowered(base, rows, number):
    """Return results in which the first 2·number queries of each language fail."""
    from dataclasses import replace

    import msgspec
    import pyarrow as pa

    def fails(row):
        return int(row["query"][2:]) < 2 * number

    values = [0.0 if fails(row) else row["value"] for row in rows]
    table = base.per_query.set_column(base.per_query.column_names.index("value"), "value", pa.array(values))

    def mean(entry):
        keys = ("measure", "source", "target")
        own = [
            value
            for row, value in zip(rows, values, strict=True)
            if all(row[k] == getattr(entry, k) for k in keys)
        ]
        return float(np.mean(own))

    entries = [msgspec.structs.replace(one, value=mean(one)) for one in base.entries]
    return replace(base, entries=entries, per_query=table, run=dict(base.run))


def test_other_data_are_not_compared_and_the_reason_is_said(history, versions, folders):
    history.record(versions.xlr(0.4))
    history.record(versions.xlr(0.4, manifest=folders.manifest(word="other ")))
    history.record(versions.xlr(0.9, manifest=folders.manifest(word="other ")))
    found = history.trend()
    assert [len(one.records) for one in found.series] == [
        1,
        2,
    ]  # data in memory have no name but their digest
    changes = [one.overall[0].points[-1].change for one in found.series]
    assert [change and change.outcome for change in changes] == [None, "worse"]


def test_other_conditions_begin_anew(history, versions):
    history.record(versions.xlr(0.4))
    for noise in (0.4, 0.9, 0.9):
        history.record(versions.xlr(noise, sample=60))
    (series,) = history.trend().series
    line = series.overall[0]
    first = line.points[1].change
    assert first.outcome == "cannot tell" and first.difference is None and "sample: " in first.note
    assert line.points[2].change.outcome == "worse" and line.whole.since == 2


def test_conditions_that_alternate_are_series_of_their_own(history, versions):
    for noise in (0.4, 0.6, 0.9):
        history.record(versions.xlr(noise))
        history.record(versions.xlr(noise, sample=60))
    found = history.trend()
    assert [[point.record for point in one.overall[0].points] for one in found.series] == [
        [1, 3, 5],
        [2, 4, 6],
    ]


def test_an_encoder_that_comes_and_goes_has_its_own_records(history, versions):
    history.record(versions.xlr(0.4))
    history.record(versions.xlr(0.4, name="other"))
    history.record(versions.xlr(0.9))
    found = lines(history.trend())
    assert [point.record for point in found["mine", None].points] == [1, 3]
    assert found["mine", None].points[1].change.since == 1 and len(found["other", None].points) == 1


def test_by_label_orders_versions_as_people_do(history, versions):
    for label in ("v1.10", "v1.9"):
        history.record(versions.xlr(0.4), label=label)
    by_label, by_time = (history.trend(by=by).series[0].records for by in ("label", "time"))
    assert [one.label for one in by_label] == ["v1.9", "v1.10"]
    assert [one.label for one in by_time] == ["v1.10", "v1.9"]


def test_a_suite_has_the_label_of_its_folder(history, versions):
    for label, noise in (("v1", 0.4), ("v2", 0.9)):
        history.record(versions.xlr(noise), label=f"{label}/shop/xlr")
    (series,) = history.trend().series
    assert [one.label for one in series.records] == ["v1", "v2"]
    assert series.overall[0].points[1].change.outcome == "worse"


def test_pairs_are_tested_where_they_are_asked_for(history, versions):
    for noise in (0.4, 0.9):
        history.record(versions.xlr(noise))
    plain, per_pair, one = history.trend(), history.trend(per_pair=True), history.trend(pairs=["en-de"])
    assert [line.points[1].change for line in plain.series[0].parts] == [None, None]
    assert {line.points[1].change.outcome for line in per_pair.series[0].parts} == {"worse"}
    assert [(line.source, line.target) for line in one.series[0].lines] == [("en", "de")]
    assert (per_pair.n_tests, per_pair.n_pair_tests, one.n_tests, one.n_pair_tests) == (1, 2, 0, 1)


def test_other_encoders_change_no_difference_and_no_p(history, versions, tmp_path):
    """A line does not depend on what else is in the file, but for the correction."""
    for noise in (0.5, 0.7):
        history.record(versions.xlr(noise))
    alone = lines(history.trend())["mine", None].points[1].change
    for noise in (0.4, 0.8):
        history.record(versions.xlr(noise, 3, name="other"))
    beside = lines(history.trend())["mine", None].points[1].change
    assert (beside.difference, beside.p) == (
        alone.difference,
        alone.p,
    ) and beside.p_adjusted >= alone.p_adjusted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"encoders": ["min"]}, "no encoder 'min'. Did you mean 'mine'"),
        ({"measures": ["R@7"]}, "no results of the measure 'R@7'"),
        ({"task": "sts"}, "no results of the task 'sts'"),
        ({"pairs": ["en-fr"]}, "no language pair 'en-fr'"),
        ({"alpha": 2.0}, "alpha must lie between"),
    ],
)
def test_what_is_not_there_is_named(history, versions, options, said):
    history.record(versions.xlr(0.5))
    with pytest.raises(InputError, match=said):
        history.trend(**options)


def test_a_measure_is_the_first_unless_it_is_named(history, versions):
    history.record(versions.xlr(0.5))
    assert [one.measure for one in history.trend().series] == ["R@1"]
    assert [one.measure for one in history.trend(measures=["RR", "R@1"]).series] == ["R@1", "RR"]


def test_the_record_is_written_and_read(history, versions, tmp_path):
    for noise in (0.5, 0.9):
        history.record(versions.xlr(noise))
    found = history.trend()
    found.write(tmp_path / "out")
    assert Trend.read(tmp_path / "out") == found
    assert json.loads((tmp_path / "out" / "history.json").read_text())["schema"] == "xlingual/history/1"


def test_what_is_no_history_is_refused(history, tmp_path):
    for folder, said in ((tmp_path / "none", "is no folder"), (tmp_path, "holds no folders of results")):
        with pytest.raises(InputError, match=said):
            changes(folder)


def test_a_measure_without_values_of_queries_is_shown_and_not_tested(history, folders):
    for noise in (0.4, 0.9):
        history.record(Results.read(folders.corr(f"corr{noise}", [folders.given("mine", noise)])))
    line = lines(history.trend())["mine", None]
    values = [point.value for point in line.points]
    change = line.points[1].change
    assert None not in values and change.outcome == "cannot tell" and "no value for each query" in change.note
