"""What is said of a calibration and of what it estimates."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from msgspec.structs import replace
from rich.console import Console

from xlingual.evaluation.calibration.calibrate import calibrate
from xlingual.evaluation.calibration.estimate import with_estimates
from xlingual.report import page_of
from xlingual.report import verdict as sentences_of
from xlingual.report.findings.calibration import estimate_sentences
from xlingual.report.pages.calibration import conditions, errors, estimate_table
from xlingual.report.render import html, terminal, text
from xlingual.results import Entry, Interval, Results, Summary

DATA = "0123456789ab"


def results(values, *, data=DATA, pairs=("en-de",), n_source=365):
    """Return results of Backretrieval as an evaluation makes them, 5 seeds."""
    entries, summary = [], []
    ci = Interval(0, 1, 0.95, "given")
    for pair in (*pairs, None):
        source, target = pair.split("-") if pair else (None, None)
        for name, value in values.items():
            common = {"chance": 10 / 365, "oracle": 0.9, "ceiling": 1.0, "normalized": 0.2}
            summary.append(
                Summary(
                    *("backretrieval", source, target, name, "pixels", "R@10", value, ci),
                    **common, n_pairs=1 if pair else len(pairs), n_seeds=5, sd_seeds=0.01, behind=None,
                )
            )  # fmt: skip
            signature = (
                f"task:backretrieval|source:{source}|target:{target}|data:{data}|sample:365#0|matching:no|"
                "images:pixels:v1|measure:R@10|ties:expected|conventions:1|system:|encoder:x"
            )
            entries += [
                Entry(
                    *("backretrieval", source, target, name, "pixels", "R@10", value, ci), **common,
                    n_source=n_source, n_target=n_source, n_tied=0, seed=seed, signature=signature,
                )
                for seed in range(5)
                if pair
            ]  # fmt: skip
    return Results(entries, summary, per_query=None)


@pytest.fixture
def calibration(made):
    return calibrate([made.validation(made.pair(made.noisy(12)))])


def said(found, calibration):
    return " ".join(estimate_sentences(with_estimates(found, calibration)))


def test_what_the_intervals_rest_on_is_said(calibration):
    same = said(results({"mine": 0.2}), calibration)
    assert "Estimated XLR R@10: mine 0." in same and "at least 80 %" in same
    assert "Within this data: the intervals (jackknife+ over 12 families" in same
    other = said(results({"mine": 0.2}, data="new"), calibration)
    assert "mine: extrapolation to other data, no interval: " in other and "at least 80 %" not in other
    assert "how far it is off for another data set was not measured" in other


def test_the_error_on_data_left_out_is_said_where_known(made):
    pairs = [made.pair(made.noisy(12, i), conditions={"data": f"d{i}"}) for i in range(9)]
    found = calibrate([made.validation(*pairs[:2])])
    error = next(e for e in found.errors if (e.left_out, e.form) == ("data", "angular"))
    span = f"the mean error was {error.least:.3f} to {error.most:.3f}"
    assert span in said(results({"mine": 0.2}, data="new"), found)
    verdict = " ".join(sentences_of(found))
    assert "too few for a 90 % interval for other data, which takes 9" in verdict
    assert "within data d0" in verdict and "within data d1" in verdict
    many = calibrate([made.validation(*pairs)])
    assert "too few" not in " ".join(sentences_of(many))
    text = said(results({"mine": 0.2}, data="new"), many)
    assert "Extrapolation to other data: the intervals (jackknife+ over 9 data sets" in text
    assert "that cannot be checked" in text


@pytest.mark.parametrize(
    ("calibrated", "number", "system", "interval"),
    [
        ("2", "3", "", True),
        ("2", "3", "|roles:source=query,target=candidate", False),
        ("3", "3", "|roles:source=query,target=candidate", True),
        ("3", "2", "", False),  # whether its encoder is a router is not known
    ],
)
def test_an_encoder_that_reads_queries_apart_needs_a_calibration_of_the_same_conventions(
    made, calibrated, number, system, interval
):
    found = calibrate([made.validation(made.pair(made.noisy(12), conditions={"conventions": calibrated}))])
    one = results({"mine": 0.2})
    entries = [
        replace(e, signature=e.signature.replace("conventions:1", f"conventions:{number}") + system)
        for e in one.entries
    ]
    (row, *_) = with_estimates(Results(entries, one.summary, per_query=None), found).summary
    assert (row.estimated_xlr.ci is not None) == interval
    if not interval:
        assert f"conventions is {number}, in the calibration {calibrated}" in row.estimated_xlr.note


def test_extrapolation_is_said_of_each_encoder_and_promises_nothing(calibration):
    text = said(results({"a": 0.1, "b": 0.2}, n_source=500), calibration)
    assert "a and b: extrapolation to other conditions, no interval: N is 500, in the calibration 365" in text
    assert "hold the truth" not in text


def test_the_mean_over_pairs_has_no_interval(made):
    calibration = calibrate(
        [made.validation(made.pair(made.noisy(12, 1)), made.pair(made.noisy(12, 2), "de-en"))]
    )
    found = with_estimates(results({"mine": 0.2}, pairs=("en-de", "de-en")), calibration)
    rows = [row.cells for row in estimate_table(found).rows]
    assert [pair.text for _, pair, *_ in rows] == ["en → de", "de → en", "mean of 2"]
    assert [estimate.interval == "" for *_, estimate in rows] == [False, False, True]
    overall = found.summary[-1].estimated_xlr
    assert overall.ci is None and "see each pair" in overall.note
    said = estimate_sentences(found)
    assert "mine (mean of 2): no interval for a mean over 2 language pairs: see each pair." in said
    assert overall.value == pytest.approx(found.summary[0].estimated_xlr.value)


def test_the_page_shows_the_estimates(calibration):
    found = with_estimates(results({"mine": 0.2, "<other>": 0.1}), calibration)
    table = estimate_table(found)
    assert table.title == "Estimated XLR" and (table.columns[-1].short, table.columns[-1].interval) == (
        "estimated XLR",
        "90 % interval",
    )
    assert [row.cells[0].text for row in table.rows] == ["mine", "<other>"]
    first = found.summary[0].estimated_xlr
    assert f"{first.value:.3f} [{first.ci.low:.3f}, {first.ci.high:.3f}]" in table.notes[0]
    assert "guaranteed 0.8" in table.notes[1] and table.notes[1].startswith("Within this data")
    assert estimate_table(results({"mine": 0.2})) is None


def test_lines_count_seeds_and_say_what_was_left_out(made):
    pairs = made.pair(made.noisy(12, 1), n_seeds=1), made.pair(made.noisy(12, 2), "de-en", n_seeds=2)
    found = calibrate([made.validation(*pairs)])
    (first, one), (second, two) = conditions(found)
    assert (first, second) == ("en → de", "de → en")
    assert "1 seed," in one and "2 seeds," in two and "365 targets, 365 images" in one
    (note,) = errors(found).notes
    assert note.startswith("direction: ") and "its reverse stays in the fit" in note


def test_summaries_without_a_value_and_of_other_measures_get_none(calibration):
    found = results({"mine": 0.2})
    found.summary += [replace(found.summary[0], measure="SIM"), replace(found.summary[0], value=None)]
    kept = with_estimates(found, calibration).summary
    assert [row.estimated_xlr is None for row in kept] == [False, False, True, True]
    empty = with_estimates(Results([], [], None), calibration)
    assert estimate_sentences(empty) == [] and estimate_table(empty) is None


def test_the_verdict_says_better_worse_or_cannot_tell(made):
    exact = " ".join(sentences_of(calibrate([made.validation(made.pair(made.curve(20)))])))
    assert "It is better than a straight line" in exact
    straight = [(f"e{i}", f"e{i}", 0.03 + 0.015 * i, 0.1 + 0.04 * i) for i in range(20)]
    line = " ".join(sentences_of(calibrate([made.validation(made.pair(straight))])))
    assert "It is worse than a straight line" in line
    assert "not distinguishable" in " ".join(
        sentences_of(calibrate([made.validation(made.pair(made.noisy(5)))]))
    )


@pytest.mark.parametrize("width", [80, 120])
def test_a_calibration_has_a_page_that_a_terminal_and_texts_show_too(made, width):
    pairs = [made.pair(made.noisy(12, i), conditions={"data": f"d{i}"}) for i in range(2)]
    found = calibrate([made.validation(*pairs)])
    page = page_of(found)
    out = StringIO()
    terminal.show(Console(file=out, width=width, highlight=False), page)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width and "…" not in out.getvalue()
    shown, texts = html.render(page), (text.markdown(page), text.latex(page))
    for row in errors(found).rows:
        for part in (part for cell in row.cells for part in (cell.text, cell.interval) if part):
            assert part in shown and part in out.getvalue()
    for name, condition in conditions(found):
        assert condition in shown and condition in " ".join(out.getvalue().split())
        assert all(name.split(" ")[0] in one for one in texts)
    records = list(csv.DictReader(StringIO(text.as_csv(page))))
    assert [float(one["error"]) for one in records] == [error.value for error in found.errors]
