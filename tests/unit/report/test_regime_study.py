"""The page of a study of regimes: its verdict, and that every medium shows it."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from xlingual.report import as_html, page_of
from xlingual.report.render import terminal
from xlingual.results import Interval
from xlingual.results.comparison import BETTER, NO_DIFFERENCE, WORSE
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


def test_the_page_and_the_terminal() -> None:
    assert ("batches", "600") in page_of(study(steps=600)).facts
    page = as_html(study())
    for words in ("+0.029*", "600 batches of 256 pairs", "4,000 of 4,067 questions have an answer there"):
        assert words in page
    out = StringIO()
    terminal.show(Console(file=out, width=80), page_of(study()))
    assert max(map(len, out.getvalue().splitlines())) <= 80
