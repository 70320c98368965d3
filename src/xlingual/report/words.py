"""The terms that pages explain, and small things about measures and sentences."""

from __future__ import annotations

from xlingual.languages import named
from xlingual.tasks import CORRELATIONS

GLOSSARY = (
    (
        "BkR (Backretrieval)",
        "A query text picks the nearest text of the other language. If the query's own picture is among "
        "the 10 pictures nearest to that text's picture, the query counts as a hit. R@10 is the share of "
        "hits; another number after the @ counts that many pictures.",
    ),
    (
        "What BkR does not see",
        "Whether the nearest text is a translation. What only knows how pictures look can score high, and "
        "what finds every match but no neighbours is at chance. BkR and SIM order encoders of like kind: not "
        "models trained on pictures among others, and not repairs of one encoder.",
    ),
    (
        "Chance",
        "What an encoder that knows nothing scores on the same data: K out of all distinct pictures "
        "(XLR: K out of all candidates; CORR: 0). At chance is judged by wider intervals than those shown, "
        "which allow for the number of encoders.",
    ),
    (
        "Oracle",
        "What pictures alone reach: the retrieved text is the one whose picture is nearest to the query's "
        "own. It is a landmark, not an upper bound.",
    ),
    ("Ceiling", "The most any encoder could score on this sample."),
    (
        "Normalised",
        "How far the value is on the way from chance (0\u00a0%) to the oracle (100\u00a0%). It compares "
        "data sets and may exceed 100\u00a0%. It is left out where the two ends are too close to tell.",
    ),
    (
        "SIM",
        "The mean similarity of the query's own picture and the retrieved text's picture: "
        "Backretrieval without the way back.",
    ),
    ("RR and MedR", "The mean reciprocal rank, and the median rank, where lower is better."),
    (
        "XLR and CORR",
        "Retrieval of known matches, and the rank correlation between text distances and picture distances "
        "(−1 to 1). Where an item has several target texts, Success@10 is the share of queries with any of "
        "them among the first 10 (hit rate), R@10 the share of them that is (set recall).",
    ),
    (
        "Interval",
        "Where the number would land for another sample of the same size from the same source, at the level "
        "given. A lead is called real when the interval of the paired difference excludes zero. Each "
        "comparison stands for itself: among many encoders, one may look different by luck.",
    ),
    (
        "Tied",
        "Queries whose rank is shared with others. They count with the average over random order.",
    ),
)

VALIDATION_GLOSSARY = (
    (
        "XLR",
        "True cross-lingual retrieval: how often the known match of a text is among its K nearest. "
        "It needs pairs that are known to match, and is what the other measures are held against.",
    ),
    (
        "XLR at K = 1",
        "The same with K = 1. Where good encoders all find the match among the ten nearest, only this still "
        "tells them apart.",
    ),
    *(entry for entry in GLOSSARY if entry[0].startswith(("BkR", "SIM"))),
    (
        "CORR",
        "The rank correlation of text distances and picture distances over pairs that do not match "
        "(−1 to 1).",
    ),
    (
        "Pearson and Spearman",
        "How closely a measure follows XLR over the encoders: by their values, and by their order. "
        "1 is perfect agreement, 0 none.",
    ),
    (
        "Mean, sd and se over seeds",
        "Each seed divides the data anew and gives a coefficient. sd is their spread. se is sd divided by "
        "the root of the number of seeds: Monte Carlo error of the mean only. It says nothing about other "
        "encoders or items.",
    ),
    (
        "Interval",
        "Where the coefficient of the encoders' means would land for other families of encoders and other "
        "items from the same sources. The test of a difference is about the same and uses the same draws: p "
        "is below .05 exactly where its 95 % interval excludes zero. Each comparison stands for itself.",
    ),
    (
        "Order of two encoders",
        "The share of pairs of encoders that a measure orders as XLR does. A tie in both counts as "
        "agreement, a tie in one does not.",
    ),
    (
        "Oracle and chance",
        "BkR where each query retrieves the text with the nearest picture, and BkR of an encoder that knows "
        "nothing.",
    ),
    (
        "Nearest pictures kept",
        "How good weakened image vectors still are: of the K pictures nearest to a picture, the share that "
        "still are. Shuffled pictures keep K/D by luck.",
    ),
)


def lower_is_better(measure: str) -> bool:
    """Tell whether small values of the measure are good ones (ranks)."""
    return measure.startswith("MedR")


def least(measure: str) -> float:
    """Return the smallest value the measure can take: intervals are not drawn beyond it."""
    return -1.0 if measure in CORRELATIONS else 0.0


def stop(text: str) -> str:
    """Return the sentence with a full stop at its end."""
    return text if text.endswith(".") else f"{text}."


def pair(source: str, target: str) -> str:
    """Return a language pair as text; "pool" as target stands for candidates in all languages."""
    if target == "pool":
        return "all questions" if source == "all" else f"questions in {named(source)}"
    return f"{source} → {target}"
