"""The verdict on a validation."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from xlingual.report import verdict

made = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "validations.py")))


def changed(validation, **subset_changes):
    first = validation.pairs[0]
    subsets = {**first.subsets, "all": replace(first.subsets["all"], **subset_changes)}
    return replace(validation, pairs=[made.with_subsets(first, subsets)], directions=[])


def test_verdict_says_what_the_intervals_say_most_important_first():
    found = verdict(made.full())
    assert found[0].startswith(
        "en → he: BkR tracks true retrieval (XLR) closely over 6 encoders of 5 families: "
        "Pearson 0.961 [0.931, 0.991] and Spearman 0.950 [0.920, 0.980]"
    )
    text = "\n".join(found)
    assert "better than CORR does: Pearson difference 0.248 [0.098, 0.398], p = 0.002" in text
    assert "is not distinguishable from SIM: Pearson difference 0.019 [−0.031, 0.069], p = 0.437" in text
    assert "orders two encoders as XLR does in 94 % [60 %, 99 %] of 255 pairs; SIM in 92 %" in text
    assert "Among weak encoders (XLR below 0.5: 3) whether BkR agrees with XLR is not known" in text
    assert (
        "Among strong encoders (XLR 0.5 or more: 3) BkR agrees with XLR, but how closely is uncertain: P"
        in text
    )
    assert (
        "above 0.8 down to 82 % of the nearest images kept (noise 0.5: Pearson 0.940 [0.840, 1.000])" in text
    )
    assert "no longer with 41 % of the nearest images kept (4 dimensions: Pearson 0.770" in text
    assert "With shuffled images no agreement is left" in text
    assert "is not shown to differ between en → he and he → en: Pearson difference 0.004" in text
    assert "Monte Carlo error only" in text


@pytest.mark.parametrize(
    ("value", "half", "p", "said"),
    [
        (0.2, 0.1, 0.01, "It agrees with XLR better than CORR does"),
        (-0.2, 0.1, 0.01, "It agrees with XLR less than CORR does"),
        (0.2, 0.3, 0.01, "It is not distinguishable from CORR"),
        (0.2, 0.1, 0.08, "It is not distinguishable from CORR"),
    ],
)
def test_a_difference_is_told_only_where_interval_and_test_agree(value, half, p, said):
    both = {kind: made.difference(value, half, p) for kind in made.COEFFICIENTS}
    found = changed(made.full(), differences={"BkR-CORR": both, "BkR-SIM": both})
    assert any(sentence.startswith(said) for sentence in verdict(found))


def test_weak_and_strong_encoders_are_graded_as_all_are():
    first = made.full().pairs[0]
    grades = {0.95: "agrees with XLR closely:", 0.6: "how closely is uncertain:", 0.2: "is not known"}
    for value, said in grades.items():
        own = {
            "BkR": {kind: made.agreement(value, 0.3 if value < 0.9 else 0.05) for kind in made.COEFFICIENTS}
        }
        below = first.subsets["below"]
        subsets = {**first.subsets, "below": replace(below, agreement={**below.agreement, **own})}
        found = replace(made.full(), pairs=[made.with_subsets(first, subsets)], directions=[])
        (sentence,) = (one for one in verdict(found) if one.startswith("Among weak encoders"))
        assert said in sentence


def test_seeds_are_left_out_where_agreement_cannot_be_told():
    own = {
        name: {kind: replace(made.agreement(0.9), ci=None, note=made.WHY) for kind in made.COEFFICIENTS}
        for name in made.MEASURES
    }
    found = "\n".join(verdict(changed(made.full(), agreement=own)))
    assert f"is not known (Pearson 0.900 and Spearman 0.900): {made.WHY}." in found
    assert "Seed by seed" not in found and "Monte Carlo" not in found


def test_one_coefficient_alone_is_said_to_be_alone():
    mixed = {"pearson": made.difference(0.2, 0.1, 0.01), "spearman": made.difference(0.2, 0.3, 0.2)}
    found = changed(made.full(), differences={"BkR-CORR": mixed, "BkR-SIM": mixed})
    assert any("differs from CORR in Pearson (more) alone" in sentence for sentence in verdict(found))


@pytest.mark.parametrize(
    ("value", "half", "said"),
    [
        (0.9, 0.05, "BkR tracks true retrieval (XLR) closely"),
        (0.5, 0.2, "how closely is uncertain"),
        (0.1, 0.4, "Cannot tell whether BkR tracks"),
        (-0.6, 0.2, "BkR disagrees with"),
    ],
)
def test_tracking_is_judged_by_the_intervals(value, half, said):
    own = {name: {kind: made.agreement(value, half) for kind in made.COEFFICIENTS} for name in made.MEASURES}
    assert said in verdict(changed(made.full(), agreement=own))[0]


def test_missing_numbers_have_their_reason():
    found = verdict(made.bare())
    assert found[0] == f"Whether BkR tracks XLR over 3 encoders is not known: {made.WHY}."
    assert all("is not known" in sentence for sentence in found)
