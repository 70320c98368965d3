"""The analysis of a study, on ratings whose numbers are worked out by hand."""

import json
from datetime import UTC, datetime
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from msgspec import structs

from xlingual.results.schemas import schema_of
from xlingual.results.study import StudyAnalysis
from xlingual.study.analysis import analyse
from xlingual.study.analysis.intervals import ratio_of
from xlingual.study.analysis.resampling import resample

rated = SimpleNamespace(**run_path(str(Path(__file__).with_name("rated.py"))))
FEW = {"replicates": 199}

# score-1 suggestions of two per query: a has 2, 1, 1, 2 and b has 1, 1, 0, 1; the others are scored 3
VERY = {"q0a0", "q0a1", "q1a0", "q2a0", "q3a0", "q3a1", "q0b0", "q1b0", "q3b0"}


def by_hand(rater, query, suggestion):
    return 1 if suggestion in VERY else 3


@pytest.fixture
def study():
    return rated.study_of(queries=4, per_system=2)


def test_numbers_of_a_small_study(study):
    found = analyse(*study, rated.rate(study[0], by_hand), **FEW)
    a, b = found.systems
    assert (a.very_relevant, b.very_relevant) == (1.5, 0.75)
    assert (a.share, b.share) == (0.75, 0.375)
    assert (a.mean_score, b.mean_score) == (1.5, 2.25)
    assert (a.counts, b.counts) == ([6, 0, 2, 0], [3, 0, 5, 0])
    assert (a.n_suggestions, found.n_queries, found.n_ratings, found.n_raters) == (8, 4, 16, 1)
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.ratio) == ("a", "b", 2)
    assert pair.score_difference == -0.75
    assert (pair.wins, pair.ties, pair.losses, pair.win_rate) == (3, 1, 0, 0.875)
    # differences 1, 0, 1, 1: of the 16 ways to swap, 4 are as far from 0
    assert pair.p_permutation == pair.p_score == pair.p_adjusted == 0.25
    assert pair.outcome == "no difference found"
    assert pair.ratio_ci.low <= 1 < 2 < pair.ratio_ci.high
    assert "one rater" in found.warnings[0] and not found.raters_resampled


def test_a_clear_difference_is_found_and_its_interval_excludes_none():
    study = rated.study_of(queries=12, per_system=3)
    ratings = rated.rate(study[0], lambda r, q, s: 1 if "a" in s or s in ("q1b0", "q2b1", "q3b2") else 4)
    (pair,) = analyse(*study, ratings, **FEW).pairs
    assert pair.ratio == 12 and pair.p_permutation == 2 / 2**12 and pair.outcome == "better"
    assert 1 < pair.ratio_ci.low < 12 < pair.ratio_ci.high
    assert pair.score_ci.high < 0 and pair.win_ci.low > 0.5


def test_turning_systems_round_turns_the_numbers_round(study):
    turned = structs.replace(study[1], systems=dict(reversed(study[1].systems.items())))
    ratings = rated.rate(study[0], by_hand, raters=("1", "2"))
    (one,) = analyse(*study, ratings, **FEW).pairs
    (other,) = analyse(study[0], turned, ratings, **FEW).pairs
    assert other.ratio == pytest.approx(1 / one.ratio)
    assert other.ratio_ci.low == pytest.approx(1 / one.ratio_ci.high)
    assert (other.wins, other.losses, other.win_rate) == (one.losses, one.wins, 1 - one.win_rate)
    assert other.score_ci.low == pytest.approx(-one.score_ci.high)
    assert other.p_permutation == one.p_permutation


def test_a_suggestion_of_both_systems_counts_for_both():
    study = rated.study_of(queries=4, per_system=2, shared={"q0a0"})
    found = analyse(*study, rated.rate(study[0], by_hand), **FEW)
    assert found.n_ratings == 15
    assert [row.counts for row in found.systems] == [[6, 0, 2, 0], [3, 0, 5, 0]]


def test_repeats_and_controls_count_in_no_score(study):
    plain = analyse(*study, rated.rate(study[0], by_hand), **FEW)
    study = rated.study_of(queries=4, per_system=2, controls=4)
    ratings = rated.rate(study[0], lambda r, q, s: 4 if s.endswith("c") else by_hand(r, q, s))
    again = rated.rate(study[0], lambda r, q, s: 4, occasion=1)
    found = analyse(*study, [*ratings, *again], **FEW)
    assert (found.systems, found.pairs, found.n_ratings) == (plain.systems, plain.pairs, plain.n_ratings)
    assert found.raters[0].controls == 4 and found.raters[0].controls_passed == 1
    assert found.raters[0].repeats == 20 and found.raters[0].n_ratings == 20


def test_a_page_that_is_not_rated_in_full_is_left_out_for_its_rater(study):
    both = rated.rate(study[0], by_hand, raters=("1", "2"), skip={("2", "q3b1")})
    found = analyse(*study, both, **FEW)
    assert found.systems[0].counts == [6 + 4, 0, 2 + 2, 0]
    assert found.systems[0].very_relevant == 1.5  # each query counts alike: 2, 1, 1, 2
    assert [row.n_missing for row in found.raters] == [0, 1]


def test_queries_that_nobody_finished_are_left_out_and_counted(study):
    found = analyse(*study, rated.rate(study[0], by_hand, skip={"q0a0", "q1a0"}), **FEW)
    assert (found.n_queries, found.n_planned) == (2, 4)
    assert any("2 of 4 queries" in warning for warning in found.warnings)
    assert found.systems[0].n_suggestions == 4


def test_the_last_rating_counts_whatever_the_order(study):
    ratings = rated.rate(study[0], by_hand)
    earlier = [structs.replace(rating, score=4, at=datetime(2026, 1, 1, tzinfo=UTC)) for rating in ratings]
    found = analyse(*study, [*ratings, *earlier], **FEW)
    assert found.to_dict() == analyse(*study, ratings[::-1], **FEW).to_dict()


def test_no_very_relevant_suggestion_of_one_system_adds_half_to_both(study):
    ratings = rated.rate(study[0], lambda r, q, s: 1 if s in VERY and "a" in s else 3)
    (pair,) = analyse(*study, ratings, **FEW).pairs
    assert pair.ratio == pytest.approx(6.5 / 0.5)
    assert np.isfinite([pair.ratio_ci.low, pair.ratio_ci.high]).all()


def test_half_a_suggestion_is_that_of_a_rater_and_known_no_better_than_half_an_event(study):
    study = rated.study_of(queries=20, per_system=5, raters=3)

    def score(rater, query, suggestion):
        return 1 if "a" in suggestion and (int(suggestion[-1]) + int(query[1:])) % 3 == 0 else 3

    (one,) = analyse(*study, rated.rate(study[0], score), **FEW).pairs
    (three,) = analyse(*study, rated.rate(study[0], score, raters=("1", "2", "3")), **FEW).pairs
    seen = sum(score("1", f"q{q}", f"q{q}a{i}") == 1 for q in range(20) for i in range(5))
    assert one.ratio == pytest.approx(three.ratio) == pytest.approx((seen + 0.5) / 0.5)
    assert (one.ratio_ci.low, one.ratio_ci.high) == pytest.approx((three.ratio_ci.low, three.ratio_ci.high))
    assert one.ratio / one.ratio_ci.low > np.exp(1.96 * np.sqrt(2)) > 15  # and what is not known of a


def test_a_rare_kind_of_very_relevant_suggestion_is_held_where_none_was_seen():
    rng = np.random.default_rng(5)
    held, n = 0, 0
    for _ in range(100):
        counts = np.stack([rng.binomial(5, share, (3, 20)) for share in (0.3, 0.003)], axis=-1)
        if counts[..., 1].any():
            continue
        scores = rated.scores_from(counts)
        _, interval, _ = ratio_of(scores, resample(scores, [(0, 1)], rng, 199), (0, 1), 0.95)
        held += interval.low <= 100 <= interval.high
        n += 1
    assert n >= 20 and held >= 0.95 * n


def test_no_very_relevant_suggestion_at_all_has_no_ratio(study):
    (pair,) = analyse(*study, rated.rate(study[0], lambda r, q, s: 2), **FEW).pairs
    assert pair.ratio is None and pair.ratio_ci is None and "no ratio" in pair.ratio_note
    assert (pair.p_permutation, pair.win_rate, pair.outcome) == (1, 0.5, "no difference found")
    assert pair.score_ci.low < 0 < pair.score_ci.high


def test_where_all_queries_are_alike_intervals_have_a_width(study):
    found = analyse(*study, rated.rate(study[0], lambda r, q, s: 1), **FEW)
    (pair,) = found.pairs
    assert pair.ratio == 1 and pair.ratio_ci.low < 1 < pair.ratio_ci.high
    assert found.systems[0].very_relevant_ci.low < 2 == found.systems[0].very_relevant_ci.high
    assert found.agreement.alpha is None and found.agreement.note


def test_few_very_relevant_suggestions_are_called_rough(study):
    (pair,) = analyse(*study, rated.rate(study[0], by_hand), **FEW).pairs
    assert "rough" in pair.ratio_note


def test_five_raters_stand_for_others_and_widen_intervals():
    rng = np.random.default_rng(0)
    study = rated.study_of(queries=12, per_system=3, raters=5)
    taste = {str(r): rng.choice([0.1, 0.6]) for r in range(5)}

    def score(rater, query, suggestion):
        return 1 if rng.random() < (taste[rater] if "a" in suggestion else 0.3) else 3

    ratings = rated.rate(study[0], score, raters=tuple(taste))
    five = analyse(*study, ratings, **FEW)
    four = analyse(*study, [rating for rating in ratings if rating.rater != "4"], **FEW)
    assert five.raters_resampled and not four.raters_resampled
    assert "5 raters" in five.pairs[0].ratio_ci.method and "raters" not in four.pairs[0].ratio_ci.method
    width = [np.log(found.pairs[0].ratio_ci.high / found.pairs[0].ratio_ci.low) for found in (five, four)]
    assert width[0] > width[1]
    assert not any("other raters" in warning for warning in five.warnings)


def test_three_systems_are_corrected_for_three_pairs():
    study = rated.study_of(queries=8, per_system=2, systems=("a", "b", "c"))
    good = {"a": 1, "b": 1, "c": 4}
    found = analyse(*study, rated.rate(study[0], lambda r, q, s: good[s[2]]), **FEW)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    p = 2 / 2**8
    assert [pair.p_permutation for pair in found.pairs] == [1, p, p]
    assert [pair.p_adjusted for pair in found.pairs] == pytest.approx([1, 3 * p, 3 * p])


def test_an_analysis_is_written_and_read_as_it_was(study, tmp_path):
    found = analyse(*study, rated.rate(study[0], by_hand, raters=("1", "2")), **FEW)
    found.write(tmp_path)
    assert StudyAnalysis.read(tmp_path) == found


@pytest.mark.parametrize("raters", [("1",), ("1", "2", "3", "4", "5", "6")])
def test_an_analysis_fits_its_schema(raters):
    rng = np.random.default_rng(1)
    bkr = {name: {f"q{q}": float(rng.random() < 0.5) for q in range(8)} for name in "abd"}
    study = rated.study_of(queries=8, per_system=2, systems=("a", "b", "d"), controls=4, bkr=bkr)
    ratings = rated.rate(study[0], lambda *_: rng.integers(1, 5), raters=raters, skip={"q3a0"}, seconds=0.5)
    again = rated.rate(study[0], lambda *_: rng.integers(1, 5), raters=raters, occasion=1)
    found = analyse(*study, [*ratings, *again], **FEW)
    assert found.bkr and found.warnings and found.raters[0].flagged
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    jsonschema.Draft202012Validator(schema_of("study_analysis")).validate(content)
