"""The terms that pages explain, and small things about measures and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.tasks import CORRELATIONS, task_of

GLOSSARY = (
    (
        "BkR (Backretrieval)",
        "A query text retrieves the nearest text of the other language. If the query's own image is among "
        "the 10 images nearest to that text's image, the query counts as a hit. R@10 is the share of hits; "
        "another number after the @ counts that many images.",
    ),
    (
        "What BkR does not see",
        "Whether the nearest text is a translation. An encoder that knows only how images look "
        "can score high. An encoder that finds exact matches but no similar texts is at chance. "
        "BkR and SIM can order encoders of similar kinds. They cannot order models trained on images "
        "among others, or repairs of one encoder.",
    ),
    (
        "Chance",
        "The score on the same data of an encoder without any knowledge: K divided by the number of "
        'distinct images (XLR: K divided by the number of candidates; CORR: 0). The decision "at chance" '
        "uses wider intervals than those shown, corrected for the number of encoders.",
    ),
    (
        "Oracle",
        "The score of images alone: each query retrieves the text whose image is nearest to its own image. "
        "It is a reference value, not an upper bound.",
    ),
    ("Ceiling", "The highest possible score of an encoder on this sample."),
    (
        "Normalised",
        "The position of the value between chance (0\u00a0%) and the oracle (100\u00a0%). It makes data "
        "sets comparable and may exceed 100\u00a0%. It is left out if chance and oracle are too close.",
    ),
    (
        "SIM",
        "The mean similarity of the query's own image and the retrieved text's image: Backretrieval without "
        "its second step.",
    ),
    ("RR and MedR", "The mean reciprocal rank, and the median rank, where lower is better."),
    (
        "XLR and CORR",
        "Retrieval of known matches, and the rank correlation between text distances and image distances "
        "(−1 to 1). Where an item has several target texts, Success@10 is the share of queries with any of "
        "them among the first 10 (hit rate), R@10 the share of them that is (set recall).",
    ),
    (
        "Interval",
        "The range of values for another sample of the same size from the same source, at the given level. "
        "A lead is called real when the interval of the paired difference excludes zero. Each comparison is "
        "tested separately: with many encoders, one may look different by luck.",
    ),
    (
        "Tied",
        "Queries with ties between candidates that are not equally relevant. Their value is the average "
        "over all orders of the ties.",
    ),
)


def explained(*measures: tuple[str, str]) -> list[str]:
    """Return what measures are, given as (task, measure), in one line; none where no task says it."""
    found = dict.fromkeys(task_of(task).explained(measure) for task, measure in measures)
    text = " ".join(filter(None, found))
    return [text] if text else []


NO_DIFFERENCE = (
    "No difference found",
    "The data do not show a difference. That does not mean that they are equal: the interval shows how "
    "large a difference is still possible.",
)


def terms(*names: str) -> list[tuple[str, str]]:
    """Return the entries of the glossary that begin so, in its order."""
    return [entry for entry in GLOSSARY if entry[0].startswith(names)]


def lower_is_better(measure: str) -> bool:
    """Tell whether small values of the measure are good ones (ranks)."""
    return measure.startswith("MedR")


def ceiling(
    measure: str,
    names: Sequence[str],
    values: Iterable[float | None],
    first: Mapping[str, float] | None = None,
) -> str | None:
    """Return the sentence about encoders that all have the best value there is; None where one has less.

    `first` is R@1 of encoders where it is known.
    """
    best = 1.0  # of shares and of median ranks
    if (
        len(names) < 2
        or measure in CORRELATIONS
        or any(value is None or abs(value - best) > 1e-9 for value in values)
    ):
        return None
    first = first or {}
    is_last = measure == "R@1" or measure.startswith(("RR", "AP", "nDCG"))  # at 1 the first is relevant
    is_last |= min(first.get(name, 0.0) for name in names) >= best
    remedy = "use a larger pool of candidates" if is_last else "evaluate again with --measure R@1"
    each = "both have" if len(names) == 2 else f"all {len(names)} have"
    who, value = numbers.in_words(list(names), 3), numbers.number(best, measure)
    known = [f"{name} {numbers.number(first[name], 'R@1')}" for name in names if name in first]
    beside = f" R@1 here: {', '.join(known)}." if len(known) == len(names) and measure != "R@1" else ""
    return (
        f"{measure} cannot tell {who} apart on this data: {each} the best value there is, {value}.{beside} "
        f"To see a difference, {remedy}; more queries of this kind will not show one."
    )


def least(measure: str) -> float:
    """Return the smallest value the measure can take: intervals are not drawn beyond it."""
    return -1.0 if measure in CORRELATIONS else 0.0


def stop(text: str) -> str:
    """Return the sentence with a full stop at its end."""
    return text if text.endswith(".") else f"{text}."


def pair(source: str, target: str) -> str:
    """Return a language pair as text; "pool" as target means candidates in all languages."""
    if target == "pool":
        return "all queries" if source == "all" else f"queries in {named(source)}"
    return f"{source} → {target}"
