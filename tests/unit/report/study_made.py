"""Analyses of studies made by hand, of many kinds."""

from __future__ import annotations

from typing import Any

from xlingual.results import Interval
from xlingual.results.study import (
    PairDifference,
    RaterAgreement,
    RaterScores,
    StudyAnalysis,
    SystemScores,
    WithBkr,
)

METHOD = "bootstrap over queries"
LABELS = ["Very relevant", "Relevant", "Hardly relevant", "Not relevant"]


def ci(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, METHOD)


def system(name: str, value: float, score: float, **changes: Any) -> SystemScores:
    fields: dict[str, Any] = {
        "very_relevant_ci": ci(max(value - 0.5, 0), value + 0.5),
        "share": value / 5,
        "mean_score_ci": ci(score - 0.2, score + 0.2),
        "counts": [round(60 * value), 90, 60, 150 - round(30 * value)],
        "n_suggestions": 100,
        "bkr": value / 4,
    }
    return SystemScores(name, value, mean_score=score, **(fields | changes))


def pair(first: str, second: str, **changes: Any) -> PairDifference:
    fields: dict[str, Any] = {
        "ratio": 0.48,
        "ratio_ci": ci(0.29, 0.77),
        "score_difference": 0.52,
        "score_ci": ci(0.2, 0.84),
        "wins": 5,
        "ties": 3,
        "losses": 12,
        "win_rate": 0.325,
        "win_ci": ci(0.17, 0.5),
        "p_permutation": 0.004,
        "p_score": 0.011,
        "p_adjusted": 0.004,
        "outcome": "worse",
    }
    return PairDifference(first, second, **(fields | changes))


def level_pair(first: str, second: str, **changes: Any) -> PairDifference:
    fields: dict[str, Any] = {
        "ratio": 1.2,
        "ratio_ci": ci(0.8, 1.9),
        "score_difference": -0.1,
        "score_ci": ci(-0.4, 0.2),
        "wins": 8,
        "ties": 5,
        "losses": 7,
        "win_rate": 0.525,
        "win_ci": ci(0.35, 0.7),
        "p_permutation": 0.31,
        "p_score": 0.42,
        "p_adjusted": 0.31,
        "outcome": "no difference found",
    }
    return pair(first, second, **(fields | changes))


def rater(name: str, **changes: Any) -> RaterScores:
    fields: dict[str, Any] = {
        "n_ratings": 180,
        "n_missing": 0,
        "mean_score": 2.41,
        "repeats": 18,
        "repeats_equal": 0.72,
        "repeats_near": 0.94,
        "controls": 6,
        "controls_passed": 1.0,
        "seconds": 4.2,
    }
    return RaterScores(name, **(fields | changes))


def analysis(**changes: Any) -> StudyAnalysis:
    """Return a study that tells "b" from "a": named as in the command's help."""
    fields: dict[str, Any] = {
        "study": "k3v9",
        "title": "Recipes for English cooks",
        "source": "en",
        "target": "ru",
        "labels": LABELS,
        "n_queries": 20,
        "n_planned": 20,
        "n_ratings": 540,
        "n_raters": 3,
        "raters_resampled": False,
        "systems": [system("a", 1.1, 2.7), system("b", 2.3, 2.18)],
        "pairs": [pair("a", "b")],
        "raters": [rater("1"), rater("2", mean_score=2.2), rater("3", repeats_equal=0.66)],
        "agreement": RaterAgreement(0.71, ci(0.62, 0.79), 180),
        "level": 0.95,
        "bkr": [WithBkr("a", "b", "R@10", -0.3, ci(-0.5, -0.1), 0.41, ci(0.05, 0.7), True)],
        "conditions": {"data": "6fb034c61396", "queries": "20 of 500, by cuisine"},
        "replicates": 9999,
    }
    return StudyAnalysis(**(fields | changes))


def one_rater() -> StudyAnalysis:
    lone = RaterAgreement(None, None, 0, "there is one rater")
    return analysis(n_raters=1, n_ratings=180, raters=[rater("1")], agreement=lone, bkr=[])


def many_raters() -> StudyAnalysis:
    inattentive = rater(
        "7",
        controls_passed=0.4,
        repeats_equal=0.31,
        flagged="40 % of controls passed, under 75 %",
    )
    people = [*(rater(str(i), seconds=3.0 + i) for i in range(1, 7)), inattentive]
    return analysis(n_raters=7, n_ratings=1260, raters_resampled=True, raters=people)


def level() -> StudyAnalysis:
    against = WithBkr("a", "b", "R@10", 0.05, ci(-0.1, 0.2), -0.1, ci(-0.5, 0.3), False)
    return analysis(
        systems=[system("a", 1.32, 2.5), system("b", 1.1, 2.6)],
        pairs=[level_pair("a", "b")],
        bkr=[against],
        agreement=RaterAgreement(0.21, ci(-0.02, 0.4), 180),
    )


def three() -> StudyAnalysis:
    pairs = [
        pair("labse", "triplet-xl", p_adjusted=0.012),
        level_pair("triplet", "triplet-xl", ratio=0.83, ratio_ci=ci(0.5, 1.25), score_difference=0.2),
        pair("labse", "triplet", ratio=0.58, ratio_ci=ci(0.35, 0.93), p_adjusted=0.034),
    ]
    names = [("labse", 1.1, 2.7), ("triplet", 1.9, 2.38), ("triplet-xl", 2.3, 2.18)]
    bkr = [
        WithBkr("labse", "triplet-xl", "R@10", -0.3, ci(-0.5, -0.1), 0.41, ci(0.05, 0.7), True),
        WithBkr("triplet", "triplet-xl", "R@10", 0.02, ci(-0.1, 0.14), 0.1, ci(-0.3, 0.5), False),
        WithBkr("labse", "triplet", "R@10", -0.28, ci(-0.4, -0.1), None, None, True, "BkR is constant"),
    ]
    return analysis(systems=[system(*name) for name in names], pairs=pairs, bkr=bkr)


def zero(both: bool = False) -> StudyAnalysis:
    """Return a study where one system, or both, have nothing very relevant."""
    if both:
        none = [system(name, 0.0, 3.1, very_relevant_ci=None, bkr=None) for name in ("a", "b")]
        nothing = level_pair(
            "a", "b", ratio=None, ratio_ci=None, p_permutation=1.0, ratio_note="neither system has any"
        )
        return analysis(systems=none, pairs=[nothing], bkr=[], labels=LABELS)
    systems = [system("a", 0.0, 3.1, very_relevant_ci=None), system("b", 0.9, 2.4)]
    added = pair(
        "a",
        "b",
        ratio=0.018,
        ratio_ci=ci(0.002, 0.16),
        ratio_note="0.5 was added to both sums",
    )
    return analysis(systems=systems, pairs=[added])


def hostile(name: str = "<b onclick=\"x\">é</b> & 'co'") -> StudyAnalysis:
    systems = [system(name, 1.1, 2.7), system("מודל-ב", 2.3, 2.18)]
    return analysis(
        title="</title><script>alert(1)</script>",
        systems=systems,
        pairs=[pair(name, "מודל-ב", ratio_note="<i>note</i>")],
        raters=[rater("<u>1</u>", flagged="<s>never</s>"), rater("محمد"), rater("3")],
        bkr=[WithBkr(name, "מודל-ב", "R@10", -0.3, None, None, None, None, "<em>no</em>")],
        labels=["<b>ممتاز</b>", "جيد", "مقبول", "سيئ"],
        warnings=["<p>warned</p>"],
        conditions={"<k>": "<v>"},
    )


ALL = {
    "plain": analysis,
    "one": one_rater,
    "many": many_raters,
    "level": level,
    "three": three,
    "zero": zero,
    "none": lambda: zero(both=True),
    "hostile": hostile,
}
