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
