"""The page of a study of regimes: its verdict, and that every medium shows it."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from xlingual.report import as_html, page_of, verdict
from xlingual.report.render import terminal, text
from xlingual.results import Interval
from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE, WORSE
from xlingual.results.regime_study import (
    OTHER,
    OWN_POOL,
    POOL,
    SAME,
    RegimeDifference,
    RegimeScores,
    RegimeStudy,
    RegimeTraining,
    Score,
)

NAMES = ("x-y", "hybrid", "x-x", "untrained")
POOLS = dict(zip(NAMES, (0.151, 0.146, 0.102, 0.122), strict=True))
OWN = dict(zip(NAMES, (0.665, 0.676, 0.670, 0.676), strict=True))
BESIDE = dict(zip(NAMES, (0.480, 0.500, 0.510, 0.500), strict=True))
ACROSS = dict(zip(NAMES, (0.080, 0.070, 0.010, 0.030), strict=True))


def score(value: float) -> Score:
    ci = Interval(value - 0.01, value + 0.01, 0.95, "t, 1-way clusters and 2 trainings")
    return Score(value, ci, [value - 0.001, value + 0.001], 0.0014, {"en": value + 0.01, "de": value - 0.01})


def outcome(gap: float) -> str:
    return NO_DIFFERENCE if abs(gap) < 0.007 else BETTER if gap > 0 else WORSE


def gaps(where: str, values: dict[str, float]) -> list[RegimeDifference]:
    found = []
    for i, one in enumerate(NAMES):
        for other in NAMES[i + 1 :]:
            gap = values[one] - values[other]
            ci = Interval(gap - 0.002, gap + 0.002, 0.95, "wild")
            p = 0.5 if outcome(gap) == NO_DIFFERENCE else 0.001
            found.append(RegimeDifference(one, other, where, gap, ci, p, p, [gap, gap], outcome(gap)))
    return found


def study(own: dict[str, float] = OWN, **changes: Any) -> RegimeStudy:
    regimes = [
        RegimeScores(
            name,
            [f"{name}-0", f"{name}-1"],
            score(POOLS[name]),
            score(own[name]),
            score(BESIDE[name]),
            score(ACROSS[name]),
        )
        for name in NAMES
    ]
    fields: dict[str, Any] = {
        "source": "xquad",
        "base": "words",
        "languages": ["en", "de"],
        "n_trained": 609,
        "n_questions": 4067,
        "n_own": 4000,
        "n_candidates": 4247,
        "n_clusters": 120,
        "n_trainings": 2,
        "steps": 600,
        "batch": 256,
        "seed": 0,
        "regimes": regimes,
        "differences": [*gaps(POOL, POOLS), *gaps(OTHER, ACROSS), *gaps(SAME, BESIDE), *gaps(OWN_POOL, own)],
        "trainings": [
            RegimeTraining(model, one.name, 0, f"model:{model}", "model:dual-encoder:1", 600, 21.0, 74.0)
            for one in regimes
            for model in one.models
        ],
        "conditions": {"data": "abc"},
    }
    return RegimeStudy(**(fields | changes))


def test_the_verdict_says_who_leads_who_aligns_and_what_it_costs() -> None:
    lead, across, beside, cost = verdict(study())
    assert lead == (
        "In the pool of all languages x-y leads: mAP is 0.151 (untrained: 0.122), better than with x-x; no "
        "difference is found to hybrid (−0.005 [−0.007, −0.003], corrected p 0.500)."
    )
    assert across.startswith(
        "Alignment, mAP of a single answer in another language (0.030 before training): "
    )
    assert "rises with x-y (+0.050 [+0.048, +0.052]) and hybrid (+0.040" in across
    assert "falls with x-x (−0.020" in across
    assert beside == (
        "The same of an answer in the question's own language (0.500 before training): rises with x-x "
        "(+0.010 [+0.008, +0.012]); falls with x-y (−0.020 [−0.022, −0.018]); no difference is found with "
        "hybrid (0.000 [−0.002, +0.002])."
    )
    assert "hybrid has the highest mAP, 0.676, and gains across languages too; of the others" in cost
    assert "that gain across languages, a loss is found with x-y (−0.011 [−0.013, −0.009])." in cost


def test_a_loss_that_is_not_found_and_alignment_that_is_not_shown() -> None:
    level = verdict(study(own=dict.fromkeys(NAMES, 0.67) | {"x-x": 0.672}))
    assert "x-x has the highest mAP, 0.672; of the others that gain across languages, no loss is" in level[3]
    lost = verdict(study(own=dict.fromkeys(NAMES, 0.67) | {"untrained": 0.69}))
    assert "a loss is found with" in lost[3]  # than the untrained model has, though level with the best
    none = [replace(d, outcome=NO_DIFFERENCE) if d.where == OTHER else d for d in study().differences]
    assert "no regime is shown to align languages" in verdict(study(differences=none))[3]


def test_what_is_missing_is_said() -> None:
    bare = [replace(one, own_pool=None, same=None, other=None) for one in study().regimes]
    only = study(regimes=bare, differences=gaps(POOL, POOLS), n_own=0, n_trainings=1)
    _, across, cost, once = verdict(only)
    assert across.startswith("No question has answers in its own and in another language")
    assert cost.startswith("No question has an answer in its own language")
    assert once.startswith("Each regime was trained once")
    assert "Within a language" not in as_html(only)
    untold = [
        replace(d, outcome=CANNOT_TELL, ci=None, p=None, p_adjusted=None, note="few")
        for d in study().differences
    ]
    assert verdict(study(differences=untold)) == ["Which regime is better is not known: few."]


@pytest.mark.parametrize("form", ["markdown", "latex", "csv"])
def test_every_form_has_both_tables(form: str) -> None:
    found = text.as_text(page_of(study()), form)
    assert "0.151" in found and "0.676" in found and "sd of trainings" in found


def test_the_page_and_the_terminal() -> None:
    assert ("batches", "600") in page_of(study(steps=600)).facts
    page = as_html(study())
    assert "mAP by language of the question</h" in page  # a table of its own, not a part of the one above
    assert "Regimes of training on xquad: alignment, and what it costs" in page
    for words in ("+0.029*", "600 batches of 256 pairs", "4,000 of 4,067 questions have an answer there"):
        assert words in page
    out = StringIO()
    terminal.show(Console(file=out, width=80), page_of(study()))
    assert "mAP in the pool of the question's language" in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 80
