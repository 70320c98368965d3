"""The verdict on the control and on the best model of a case study, and their tables."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from msgspec.structs import replace

from xlingual.report import verdict
from xlingual.results.case_study import (
    ALL_PAIRS,
    CONTROL,
    TRIPLET,
    TRIPLET_XL,
    AgainstBest,
    BestModel,
    BestOnPair,
    CaseStudy,
    Difference,
)
from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE, WORSE

_MADE = run_path(str(Path(__file__).parent / "test_case_study.py"))
study, model, ci, PAIRS, shown = (_MADE[name] for name in ("study", "model", "ci", "PAIRS", "shown"))
NAME = "labse-title-body"


def with_control(outcome: str, of_base: str = BETTER, value: float = 0.001, **changes: Any) -> CaseStudy:
    """Return a study with a control; `outcome` of Triplet against it, `of_base` against the base."""
    plain = study()
    note = "Too few queries" if outcome == CANNOT_TELL else None
    net = Difference(
        TRIPLET, NAME, ALL_PAIRS, value, ci(value, 0.002), 0.01, 0.03, [value], outcome=outcome, note=note
    )
    alone = Difference(
        NAME, "labse", ALL_PAIRS, 0.0031, ci(0.0031, 0.001), 0.01, 0.03, [0.0031], outcome=BETTER
    )
    first, *others = plain.differences
    return study(
        models=[*plain.models[:2], model(NAME, CONTROL, 0.0083), *plain.models[2:]],
        differences=[replace(first, outcome=of_base), net, alone, *others],
        **changes,
    )


@pytest.mark.parametrize(
    ("outcome", "of_base", "begins", "ends"),
    [
        (BETTER, BETTER, "Triplet's gain over its base labse survives the control", "is better than that"),
        (WORSE, BETTER, "Triplet's gain over its base labse does not survive", "is worse than that"),
        (NO_DIFFERENCE, BETTER, "It is not shown that Triplet's gain over its base labse comes from training",
         "no difference to Triplet is found"),
        (CANNOT_TELL, BETTER, "Whether Triplet's gain over its base labse survives the control is not known",
         "Too few queries."),
        (NO_DIFFERENCE, NO_DIFFERENCE, "No gain over the base is shown, so the control has no gain to "
                                       "explain",
         "Triplet is not shown to differ from that"),
        (WORSE, NO_DIFFERENCE, "No gain over the base", "Triplet is worse than that"),
        (BETTER, WORSE, "Training helps, but no gain of Triplet over its base is shown: concatenated title "
                        "and body",
         "and Triplet is better than that, +1.0"),
    ],
)  # fmt: skip
def test_the_verdict_says_whether_the_gain_survives_the_control(
    outcome: str, of_base: str, begins: str, ends: str
) -> None:
    told = verdict(with_control(outcome, of_base))
    assert told[1].startswith(begins) and ends in told[1]
    if outcome != CANNOT_TELL:
        assert f"({NAME}) have a BkR R@10 × 1000 of 8.3, +3.1 [+2.1, +4.1] against labse" in told[1]
        assert "+1.0 [−1.0, +3.0]" in told[1]
    assert (
        told[0].startswith(("Triplet is better", "Triplet is worse", "No difference"))
        and "TripletXL" in told[2]
    )
    assert sum("labse-title-body" in sentence and "side by side" in sentence for sentence in told) <= 1


def best(outcomes: dict[str, str]) -> BestModel:
    def on(pair: tuple[str, str], outcome: str, value: float) -> BestOnPair:
        return BestOnPair(*pair, value, ci(value, 0.01), 0.2, 0.9, outcome)

    rows = [
        AgainstBest(
            name,
            0.001 * place,
            ci(0.001 * place, 0.0005),
            0.01,
            0.02,
            outcome,
            None,
            [on(pair, BETTER if i < 2 else NO_DIFFERENCE, 0.002 * i) for i, pair in enumerate(PAIRS)],
        )
        for place, (name, outcome) in enumerate(outcomes.items(), 1)
    ]
    return BestModel(TRIPLET_XL, 10, 60, rows)
