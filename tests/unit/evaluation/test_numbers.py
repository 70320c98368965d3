"""The table of numbers: means over places, what is missing, who leads, and who is behind whom."""

import numpy as np
import pytest

from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.measures import RecallAt
from xlingual.results import by_key

R10 = RecallAt(10)
EN_DE, DE_EN = Subject("en", "de", 0), Subject("de", "en", 0)
AGAIN = Subject("en", "de", 1)


def hits(*values):
    return score(R10, np.array(values, float), [np.arange(len(values))])


def enter(numbers, encoder, subject, estimate, *, note=None, baseline=Baseline()):  # noqa: B008
    fields = {"encoder": encoder, "measure": "R@10", "signature": "signature", "n_source": 4, "n_target": 9}
    numbers.enter(fields | {"n_tied": None, "note": note, "views": None}, subject, estimate, baseline, {})


def table():
    numbers = Numbers("some-task", [R10], [EN_DE, AGAIN, DE_EN])
    for encoder, subject, values in (
        ("good", EN_DE, (1, 1, 1, 0)),
        ("good", AGAIN, (1, 1, 0, 0)),
        ("good", DE_EN, (1, 1, 1, 1)),
        ("bad", EN_DE, (1, 0, 0, 0)),
        ("bad", AGAIN, (0, 1, 0, 0)),
        ("bad", DE_EN, (0, 1, 0, 1)),
    ):
        enter(numbers, encoder, subject, hits(*values))
    return numbers


def one(rows, **wanted):
    (found,) = by_key(rows, **wanted)
    return found


def test_means_over_seeds_then_over_pairs_beside_the_leader():
    rows = list(table().summaries())
    pair = one(rows, encoder="good", source="en")
    assert (pair.value, pair.n_pairs, pair.n_seeds) == (0.625, 1, 2)
    assert pair.sd_seeds == pytest.approx(np.std([0.75, 0.5], ddof=1))
    overall = one(rows, encoder="good", source=None)
    assert (overall.value, overall.n_pairs, overall.behind) == (0.75, 2, None)
    last = one(rows, encoder="bad", source=None)
    assert (last.behind.leader, last.behind.value) == ("good", pytest.approx(0.75 - 1 / 3))
    assert last.ci_simultaneous.level < pair.ci_simultaneous.level  # among two encoders, or times two pairs


def test_no_mean_where_a_number_is_missing_and_its_note_instead():
    numbers = table()
    enter(numbers, "good", AGAIN, None, note="nobody was asked")
    rows = list(numbers.summaries())
    assert one(rows, encoder="good", source="de").value == 1.0
    for source in ("en", None):
        row = one(rows, encoder="good", source=source)
        assert (row.value, row.ci, row.note) == (None, None, "nobody was asked")
        assert one(rows, encoder="bad", source=source).behind is None  # nobody else is left to lead
    assert numbers.mean("good", "R@10", [EN_DE, AGAIN]) is None


def test_who_has_fewer_pairs_neither_leads_nor_is_behind():
    numbers = Numbers("some-task", [R10], [EN_DE, DE_EN], partial={"half": "en-de only"})
    enter(numbers, "half", EN_DE, hits(1, 1, 1, 1))
    for place in (EN_DE, DE_EN):
        enter(numbers, "whole", place, hits(1, 0, 0, 0))
    rows = list(numbers.summaries())
    half, whole = (one(rows, encoder=name, source=None) for name in ("half", "whole"))
    assert (half.note, half.behind, whole.note, whole.behind) == ("en-de only", None, None, None)
    assert one(rows, encoder="whole", source="en").behind.leader == "half"
    assert one(rows, encoder="half", source="en").note is None
    numbers.same_queries = lambda one, other: False
    assert one(list(numbers.summaries()), encoder="whole", source="en").behind is None


def test_baselines_are_means_and_missing_where_one_is():
    numbers = Numbers("some-task", [R10], [EN_DE, DE_EN])
    oracle = hits(1, 1, 1, 0)
    enter(numbers, "a", EN_DE, hits(1, 0, 1, 0), baseline=Baseline(0.25, oracle, 1.0))
    enter(numbers, "a", DE_EN, hits(1, 0, 1, 0), baseline=Baseline(0.75, oracle))
    row = one(list(numbers.summaries()), source=None)
    assert (row.chance, row.oracle, row.ceiling) == (0.5, 0.75, None)
    assert isinstance(oracle, Score) and row.note.startswith("not normalised: the oracle (0.750)")


def test_a_difference_has_no_interval_beyond_the_possible():
    few = hits(1, 1, 0).minus(hits(0, 1, 0))  # 1/3 ± 4.30 · 1/3
    assert (few.value, few.ci.low, few.ci.high) == (pytest.approx(1 / 3), -1, 1)
    more = hits(*[1] * 9, 0).minus(hits(*[0] * 2, *[1] * 7, 0))
    half = 2.262157 * np.sqrt(0.2 * 0.8 / 9)  # Student's t with 9 degrees of freedom times the standard error
    assert (more.ci.low, more.ci.high) == (pytest.approx(0.2 - half), pytest.approx(0.2 + half))
