"""From validations to a calibration: errors, conditions, the file, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from xlingual.errors import InputError
from xlingual.evaluation.calibration.calibrate import calibrate, sampling_kind
from xlingual.evaluation.calibration.estimate import check_measures, estimate
from xlingual.report import verdict
from xlingual.report.pages.calibration import errors
from xlingual.results.calibration import Calibration, Conditions

DATA = "0123456789ab"  # of the makers
HERE = Conditions("en", "de", "R@10", 365, 365, 365, 5, "size", "pixels:v1", "1", DATA)
ELSEWHERE = replace(HERE, data="another data set")


def errors_of(found, left_out, form="angular"):
    return next(e for e in found.errors if (e.left_out, e.form) == (left_out, form))


def test_exact_relation_has_no_error_and_a_narrow_interval(made):
    found = calibrate([made.validation(made.pair(made.curve()))])
    assert errors_of(found, "family").value == pytest.approx(0, abs=1e-9)
    assert errors_of(found, "family", "line").value > 0.01
    one = estimate(found, 0.2, None, HERE)
    expected = np.sin(-0.2 + 2.5 * np.arcsin(np.sqrt(0.2))) ** 2
    assert (one.value, one.ci.low, one.ci.high) == pytest.approx((expected,) * 3, abs=1e-6)
    assert one.ci.level == 0.9 and "12 families" in one.ci.method and one.note is None


def test_left_out_families_have_no_part_in_their_estimate(made):
    points = made.noisy(6, each=2)
    found = calibrate([made.validation(made.pair(points))])
    assert errors_of(found, "encoder").n_groups == 12 and errors_of(found, "family").n_groups == 6
    x, y = (np.arcsin(np.sqrt([p[k] for p in points])) for k in (2, 3))
    errors = []
    for i, point in enumerate(points):
        rest = [j for j, other in enumerate(points) if other[1] != point[1]]
        slope, intercept = np.polyfit(x[rest], y[rest], 1)
        errors.append(abs(np.sin(np.clip(intercept + slope * x[i], 0, np.pi / 2)) ** 2 - point[3]))
    assert errors_of(found, "family").value == pytest.approx(np.mean(errors))
    line = errors_of(found, "family", "line").value
    difference = next(d for d in found.differences if (d.left_out, d.form) == ("family", "line"))
    assert difference.value == pytest.approx(line - np.mean(errors))


def test_an_error_beyond_1_is_inside_its_interval(made):
    """Of three families a straight line estimates the third far beyond 0 to 1."""
    found = calibrate([made.validation(made.pair(made.noisy(3, 23)))])
    error = errors_of(found, "family", "line")
    assert error.value > 1 and error.ci.low == 0 and error.ci.method == "t, independent queries"
    x, y = (np.array([point[k] for point in made.noisy(3, 23)]) for k in (2, 3))
    lines = [np.polyfit(np.delete(x, i), np.delete(y, i), 1) for i in range(3)]
    errors = [abs(np.polyval(line, x[i]) - y[i]) for i, line in enumerate(lines)]
    half = stats.t.ppf(0.975, 2) * np.std(errors, ddof=1) / np.sqrt(3)
    assert (error.value, error.ci.high) == pytest.approx((np.mean(errors), np.mean(errors) + half))
    for seed in range(12):
        for one in calibrate([made.validation(made.pair(made.noisy(3, seed)))]).errors:
            assert one.ci is None or one.ci.low <= one.value <= one.ci.high
            assert one.form == "line" or one.ci.method.startswith("Wilson")  # as it was


def test_several_validations_leave_out_directions_pairs_and_data(made):
    first = made.validation(made.pair(made.noisy(8, 1)), made.pair(made.noisy(8, 2), "de-en"))
    more = made.pair(made.noisy(8, 4), "en-fr")
    second = made.validation(made.pair(made.noisy(8, 3), "en-ja", conditions={"data": "other"}))
    found = calibrate([first, made.validation(more), second])
    groups = {e.left_out: e.n_groups for e in found.errors}
    assert groups == {"encoder": 8, "family": 8, "direction": 3, "pair": 2, "data": 2}
    assert errors_of(found, "pair").ci is None and "2 groups" in errors_of(found, "pair").note
    assert "data set that was left out" in " ".join(verdict(found))
    assert {row.cells[0].text for row in errors(found).rows} == {
        "encoder",
        "family",
        "direction",
        "pair",
        "data set",
    }


def test_families_come_from_the_pattern(made):
    points = [(f"{name}_{i}", "told", 0.1 * i, 0.2 * i) for name in ("lsa", "cca", "mlp") for i in (1, 2, 3)]
    validation = made.validation(made.pair(points))
    with pytest.raises(InputError, match="at least 3 families with values, found 1 \\(told\\)"):
        calibrate([validation])
    assert {p.family for p in calibrate([validation], family="^([a-z]+)_").points} == {"lsa", "cca", "mlp"}
    assert {p.family for p in calibrate([validation], family="^(lsa|cca)").points} >= {
        "lsa",
        "mlp_1",
        "mlp_3",
    }
    with pytest.raises(InputError, match=r"--family '\(' is not a regular expression"):
        calibrate([validation], family="(")


def test_sim_is_used_where_asked_for(made):
    found = calibrate([made.validation(made.pair(made.noisy(12)))], with_sim=True)
    assert found.predictors == ["BkR", "SIM"] and len(found.model.slopes) == 2
    assert estimate(found, 0.2, 0.9, HERE).value >= estimate(found, 0.2, 0.5, HERE).value
    with pytest.raises(InputError, match="uses SIM"):
        estimate(found, 0.2, None, HERE)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_source": 500}, "N is 500, in the calibration 365"),
        ({"n_target": 400}, "the number of targets is 400, in the calibration 365"),
        ({"n_pictures": 200}, "the number of distinct images is 200, in the calibration 365"),
        ({"measure": "R@5"}, "the measure is R@5, in the calibration R@10"),
        ({"images": "pixels:v2"}, "the image encoder is pixels:v2"),
        ({"sampling": "all"}, "the sampling is all, in the calibration size"),
        ({"conventions": "99"}, "conventions is 99"),
        ({"n_seeds": 4}, "the number of seeds is 4, in the calibration 5"),
    ],
)
def test_other_conditions_give_a_value_without_interval(made, change, words):
    found = calibrate([made.validation(made.pair(made.noisy(12)))])
    one = estimate(found, 0.2, None, replace(HERE, **change))
    start = "extrapolation to other conditions, no interval: "
    assert one.ci is None and one.note.startswith(start) and words in one.note
    elsewhere = estimate(found, 0.2, None, replace(ELSEWHERE, **change))
    assert elsewhere.note.startswith("extrapolation to other data, no interval: ") and words in elsewhere.note
    assert elsewhere.note.endswith("how far it is off for another data set was not measured")
    assert one.value == estimate(found, 0.2, None, HERE).value
    assert "not known" in estimate(found, 0.2, None, None).note


def test_other_languages_and_more_seeds_of_the_same_data_will_do(made):
    found = calibrate([made.validation(made.pair(made.noisy(12, 1)), made.pair(made.noisy(12, 2), "de-en"))])
    there = replace(HERE, source="de", target="ja", n_seeds=25)
    assert estimate(found, 0.2, None, there).ci.method.startswith("within this data: jackknife+ over 12 fam")


def test_texts_that_are_compared_in_another_way_are_an_extrapolation(made):
    """Repaired hubs raise XLR and hardly move BkR: the relation for cosine is not theirs."""
    found = calibrate([made.validation(made.pair(made.noisy(30)))])
    one = estimate(found, 0.2, None, replace(HERE, similarity="transductive-csls?k=10"))
    assert one.ci is None
    assert "similarity of texts is transductive-csls?k=10, in the calibration cosine" in one.note


def many(made, count, *, shift=0.15, n=10):
    """Return a validation of so many data sets, each with a shift of its own of all its encoders."""
    rng = np.random.default_rng(count)
    pairs = []
    for place in range(count):
        moved = shift * rng.standard_normal()
        points = [
            (name, family, bkr, float(np.sin(np.clip(np.arcsin(np.sqrt(xlr)) + moved, 0, np.pi / 2)) ** 2))
            for name, family, bkr, xlr in made.noisy(n, seed=place)
        ]
        pairs.append(made.pair(points, conditions={"data": f"data {place}"}))
    return made.validation(*pairs)


def test_other_data_gets_an_interval_from_nine_data_sets_on_and_the_errors_met_before(made):
    """Families of encoders say nothing about another data set: an interval needs nine of these."""
    one = estimate(calibrate([made.validation(made.pair(made.noisy(30)))]), 0.2, None, ELSEWHERE)
    assert one.ci is None and one.note.startswith("extrapolation to other data, no interval: ")
    assert "at least 9 data sets, the calibration has 1; how far it is off for another" in one.note
    eight = calibrate([many(made, 8)])
    error = errors_of(eight, "data")
    few = estimate(eight, 0.2, None, ELSEWHERE)
    assert few.ci is None and "the calibration has 8" in few.note
    assert few.note.endswith(f"the mean error was {error.least:.3f} to {error.most:.3f}")
    assert error.least < error.value < error.most
    nine = estimate(calibrate([many(made, 9)]), 0.2, None, ELSEWHERE)
    assert nine.ci.method == "extrapolation to other data: jackknife+ over 9 data sets, guaranteed 0.8"
    inside = estimate(calibrate([many(made, 9)]), 0.2, None, replace(HERE, data="data 3"))
    assert inside.ci.method.startswith("within this data")
    assert inside.ci.high - inside.ci.low < nine.ci.high - nine.ci.low


def test_left_out_data_sets_have_no_part_in_their_estimate(made):
    pairs = many(made, 4).pairs
    error = errors_of(calibrate([made.validation(*pairs)]), "data")
    means = []
    for out in range(4):
        rest = calibrate([made.validation(*(pair for i, pair in enumerate(pairs) if i != out))])
        errors = [
            abs(estimate(rest, row.scores["BkR"].mean, None, ELSEWHERE).value - row.scores["XLR"].mean)
            for row in pairs[out].encoders
        ]
        means.append(np.mean(errors))
    assert (error.least, error.most) == pytest.approx((min(means), max(means)))
    assert error.value == pytest.approx(np.mean(means))


def test_each_data_set_has_its_own_curve(made):
    low, high = (made.curve(intercept=intercept, slope=2.0) for intercept in (-0.2, 0.1))
    pairs = made.pair(low), made.pair(high, conditions={"data": "second"})
    found = calibrate([made.validation(*pairs)])
    for data, points in ((DATA, low), ("second", high)):
        one = estimate(found, points[5][2], None, replace(HERE, data=data))
        assert one.value == pytest.approx(points[5][3], abs=1e-6)
    assert errors_of(found, "family").value == pytest.approx(0, abs=1e-6)
    assert errors_of(found, "data").value > 0.1


def test_one_data_set_has_one_image_encoder(made):
    pairs = made.pair(made.noisy(9)), made.pair(made.noisy(9), "de-en", conditions={"images": "other"})
    with pytest.raises(InputError, match="seen by two image encoders"):
        calibrate([made.validation(*pairs)])


def test_too_few_families_and_unseen_bkr_are_said(made):
    few = calibrate([made.validation(made.pair(made.noisy(8)))])
    one = estimate(few, 0.2, None, HERE)
    assert one.ci is None and "at least 9 families" in one.note and "has 8" in one.note
    assert one.note.startswith("within this data, no interval: ")
    assert any("at least 9 families" in sentence for sentence in verdict(few))
    beyond = estimate(calibrate([made.validation(made.pair(made.noisy(12)))]), 0.8, None, HERE)
    assert beyond.ci is not None and "BkR 0.800 is outside" in beyond.note


def test_the_file_gives_the_same_estimates(made, tmp_path):
    found = calibrate([made.validation(made.pair(made.noisy(12, each=2)))], with_sim=True)
    found.write(tmp_path / "new" / "c.json")
    read = Calibration.read(tmp_path / "new" / "c.json")
    assert read == found
    assert json.loads((tmp_path / "new" / "c.json").read_text())["schema"] == "xlingual/calibration/2"
    assert estimate(read, 0.17, 0.6, HERE) == estimate(found, 0.17, 0.6, HERE)


def test_validations_are_read_from_their_folders(made, tmp_path):
    validation = made.validation(made.pair(made.noisy(12)))
    validation.write(tmp_path / "v")
    read, given = (calibrate([one]).to_dict() for one in (tmp_path / "v", validation))
    of_the_request = {"request": None, "run": None, "provenance": None}
    ((one,), (other,)) = (found["provenance"]["derived_from"] for found in (read, given))
    assert one["digest"] == other["digest"] and one["path"].endswith("validation.json")
    assert read | of_the_request == given | of_the_request


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda c: c.pop("form"), "the field 'form' is missing"),
        (lambda c: c.pop("residuals"), "the field 'residuals' is missing"),
        (lambda c: c["cells"][0].pop("images"), "the field 'cells[0].images' is missing"),
        (lambda c: c["points"][0].pop("BkR"), "the field 'points[0].BkR' is missing"),
        (
            lambda c: c["points"][0].update(XLR=None),
            "points[0].XLR must be a number of at least 0 and at most 1, found null",
        ),
        (lambda c: c["points"][0].update(cell=7), "a cell that is not in 'cells'"),
        (lambda c: c["residuals"].append(0.1), "'residuals' has 1 values for 0 points"),
        (
            lambda c: c["data_sets"][0]["residuals"].pop(),
            f"'residuals' of data {DATA} has 11 values for 12 points",
        ),
        (lambda c: c["data_sets"][0]["without"].pop("f3"), f"'without' of data {DATA} lacks 'f3'"),
        (lambda c: c["data_sets"].clear(), "'data_sets' does not name each data of 'cells' once"),
        (lambda c: c["model"]["slopes"].append(1), "'slopes' does not have one value"),
        (lambda c: c["model"].update(intercept="much"), 'model.intercept must be a number, found "much"'),
        (lambda c: c.update(level=0.2), "'level' is 0.2"),
        (lambda c: c.update(predictors=["CORR"]), 'predictors[0] must be "BkR" or "SIM", found "CORR"'),
        (lambda c: c.update(form="cubic"), 'form must be "angular", found "cubic"'),
        (
            lambda c: c.update(schema="xlingual/calibration/1"),
            "another version of xlingual; run",
        ),
        (lambda c: c.update(schema="xlingual/results/1"), "expected 'xlingual/calibration/2'"),
    ],
)
def test_damaged_files_are_refused_with_the_field(made, tmp_path, spoil, words):
    content = calibrate([made.validation(made.pair(made.noisy(12)))]).to_dict()
    content = json.loads(json.dumps(content))
    spoil(content)
    (tmp_path / "c.json").write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        Calibration.read(tmp_path / "c.json")
    assert words in str(caught.value) and "c.json" in str(caught.value) and "\n" not in str(caught.value)


def test_what_cannot_be_fitted_is_refused(made):
    def fit(*pairs, **options):
        return calibrate([made.validation(*pairs)], **options)

    with pytest.raises(InputError, match="at least 3 encoders with values, found 2"):
        fit(made.pair(made.noisy(2)))
    with pytest.raises(InputError, match=r"BkR is 0\.200 for every encoder"):
        fit(made.pair([(f"e{i}", f"e{i}", 0.2, 0.1 * i) for i in range(5)]))
    with pytest.raises(InputError, match=r"XLR is 0\.500 for every encoder"):
        fit(made.pair([(f"e{i}", f"e{i}", 0.1 * i, 0.5) for i in range(5)]))
    with pytest.raises(InputError, match=r"differ in N \(365, 500\): .*--sample-size"):
        fit(made.pair(made.noisy(5)), made.pair(made.noisy(5), "de-en", n_source=500))
    with pytest.raises(InputError, match="differ in the measure"):
        fit(made.pair(made.noisy(5)), made.pair(made.noisy(5), "de-en", conditions={"measure": "R@5"}))
    with pytest.raises(InputError, match=r"differ in the similarity of texts \(cosine, csls\?k=10\): fit"):
        fit(
            made.pair(made.noisy(5)),
            made.pair(made.noisy(5), "de-en", conditions={"similarity": "csls?k=10"}),
        )
    with pytest.raises(InputError, match=r"differ in the number of targets \(300, 365\): .*--sample-size"):
        fit(made.pair(made.noisy(5)), made.pair(made.noisy(5), "de-en", n_target=300))
    with pytest.raises(InputError, match=r"differ in the number of distinct images \(100, 365\): fit each"):
        fit(made.pair(made.noisy(5)), made.pair(made.noisy(5), "de-en", chance=10 / 100))
    with pytest.raises(InputError, match=r"level 1 is not between \.5 and 1"):
        fit(made.pair(made.noisy(5)), level=1.0)
    pair = made.pair(made.noisy(5))
    del pair.conditions["images"]
    with pytest.raises(InputError, match="en-de lacks the condition images"):
        fit(pair)


@pytest.mark.parametrize("change", [{}, {"n_seeds": 9}, {"conditions": {"sample": "all"}}])
def test_the_same_data_does_not_count_twice(made, tmp_path, change):
    for name, seed, more in (("one", 1, {}), ("two", 2, change)):
        made.validation(made.pair(made.noisy(5, seed), **more)).write(tmp_path / name)
    with pytest.raises(InputError) as caught:
        calibrate([tmp_path / "one", tmp_path / "two"])
    for words in (str(tmp_path / "one"), str(tmp_path / "two"), "en-de of data 0123456789ab"):
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("measure", "mean", "words"),
    [
        ("XLR", "0.5", 'pairs[0].encoders[2].XLR.mean must be a number or null, found "0.5"'),
        ("BkR", float("nan"), "is not valid JSON (NaN is no number)"),
        ("XLR", 2.5, "f2_0 (en-de): the mean of XLR is 2.5"),
        ("SIM", -1.5, "f2_0 (en-de): the mean of SIM is -1.5, expected a number from -1 to 1"),
        ("XLR", True, "XLR.mean must be a number or null, found true"),
        ("XLR", [0.5], "XLR.mean must be a number or null, found a list of 1"),
    ],
)
def test_a_mean_that_cannot_be_is_told_in_one_line(made, tmp_path, measure, mean, words):
    made.validation(made.pair(made.noisy(5))).write(tmp_path)
    content = json.loads((tmp_path / "validation.json").read_text())
    content["pairs"][0]["encoders"][2][measure]["mean"] = mean
    (tmp_path / "validation.json").write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        calibrate([tmp_path])
    assert words in str(caught.value)
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


def test_numbers_of_images_may_differ_a_little(made):
    pairs = made.pair(made.noisy(12, 1)), made.pair(made.noisy(12, 2), "de-en", chance=10 / 361)
    found = calibrate([made.validation(*pairs)])
    assert [cell.n_pictures for cell in found.cells] == [365, 361]
    assert estimate(found, 0.2, None, replace(HERE, n_pictures=370)).ci is not None


def test_sim_without_a_slope_is_said_to_add_nothing(made):
    points = made.curve()
    pair = made.pair(points)
    sims = [0.9 - bkr for _, _, bkr, _ in points]
    encoders = [
        replace(one, sim=replace(one.sim, mean=sim)) for one, sim in zip(pair.encoders, sims, strict=True)
    ]
    found = calibrate([made.validation(replace(pair, encoders=encoders))], with_sim=True)
    assert found.model.slopes[0] > 0 and found.model.slopes[1] == 0
    said = verdict(found)
    assert "is estimated from BkR with" in said[0]
    assert any("SIM adds nothing" in sentence for sentence in said)
    both = calibrate([made.validation(made.pair(made.noisy(12, 3)))], with_sim=True)
    assert ("from BkR and SIM" in verdict(both)[0]) == all(both.model.slopes)


def test_estimates_lie_within_their_intervals(made):
    rng = np.random.default_rng(7)
    for trial in range(20):
        points = [(f"e{i}", f"e{i}", float(b), float(b)) for i, b in enumerate(rng.uniform(0.05, 0.3, 9))]
        points[0] = ("e0", "e0", 0.9, float(rng.uniform(0, 1)))  # moves the fit far
        found = calibrate([made.validation(made.pair(points))])
        for bkr in (0.01, 0.2, 0.95):
            one = estimate(found, bkr, None, HERE)
            assert one.ci.low <= one.value <= one.ci.high, (trial, bkr)


def test_encoders_without_a_value_are_left_out_and_named(made):
    points = [*made.noisy(6), ("empty", "empty", 0.1, None)]
    found = calibrate([made.validation(made.pair(points))])
    assert len(found.points) == 6
    assert any("empty (en-de)" in warning for warning in found.warnings)


def test_a_falling_relation_is_said(made):
    points = [(f"e{i}", f"e{i}", 0.1 + 0.02 * i, 0.9 - 0.05 * i) for i in range(10)]
    found = calibrate([made.validation(made.pair(points))])
    assert any("does not rise" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("sample", "kind"),
    [("all#0", "all"), ("500", "size"), ("500#3", "size"), ("splits-447c6368#0", "splits")],
)
def test_kinds_of_sampling(sample, kind):
    assert sampling_kind(sample) == kind


def test_conventions_that_changed_nothing_here_are_equal(made):
    found = calibrate(
        [
            made.validation(made.pair(made.noisy(12, 1), conditions={"conventions": "1"})),
            made.validation(made.pair(made.noisy(12, 2), "de-en", conditions={"conventions": "2"})),
        ]
    )
    assert estimate(found, 0.2, None, replace(HERE, conventions="2")).ci is not None
    with pytest.raises(InputError, match="differ in the version of the conventions"):
        calibrate(
            [
                made.validation(made.pair(made.noisy(12, 1))),
                made.validation(made.pair(made.noisy(12, 2), "de-en", conditions={"conventions": "99"})),
            ]
        )


def test_the_hit_rate_of_several_target_texts_is_named(made, tmp_path):
    one = made.validation(made.pair(made.noisy(12), conditions={"xlr": "Success@10", "conventions": "2"}))
    found = calibrate([one])
    assert verdict(found)[0].startswith("Within one data set XLR Success@10 is estimated from BkR")
    found.write(tmp_path / "calibration.json")
    assert Calibration.read(tmp_path / "calibration.json").xlr_measure == "Success@10"
    assert calibrate([made.validation(made.pair(made.noisy(12)))]).xlr_measure == "R@10"
    for asked in ((), ["R@10"], ["hit_rate@10", "RR"]):
        check_measures(found, asked)
    with pytest.raises(InputError, match="the calibration is about R@10: add --measure R@10"):
        check_measures(found, ["Success@5"])
