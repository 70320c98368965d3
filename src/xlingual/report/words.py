"""What tasks and measures are called, and what the report says about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xlingual.languages import named

TITLES = {
    "backretrieval": "Backretrieval",
    "crosslingual-retrieval": "Cross-lingual retrieval",
    "distance-correlation": "Distance correlation",
    "multilingual-pool": "Answers from a multilingual pool",
    "image-sentence": "Image–sentence ranking",
    "sts": "Textual similarity",
}
SHORT = {"backretrieval": "BkR", "crosslingual-retrieval": "XLR", "distance-correlation": "CORR"}
# What the best encoder must reach, or the verdict calls none good enough, and for what: for Backretrieval the
# share of the way from chance to the oracle, else the share of the best possible value. Why: docs/report.md
MARKS = {
    "backretrieval": (0.10, "match texts across languages"),
    "crosslingual-retrieval": (0.25, "match texts across languages"),
    "multilingual-pool": (0.10, "find answers across languages"),
    "image-sentence": (0.10, "match texts and images"),
}
POOL_NAMES = {"AP": "mAP", "RR": "MRR"}  # a mean over questions, as the field calls it
CORRELATIONS = ("SIM", "CORR", "Pearson", "Spearman")  # from −1 to 1
# what stands for all questions, for all candidates, and for pictures
NO_LANGUAGES = frozenset({"all", "pool", "image"})

ABOUT = {
    "backretrieval": (
        "Each text retrieves its nearest text of the other language; the picture of that text is then "
        "looked up among the pictures of the source side. No text has a translation among the candidates."
    ),
    "crosslingual-retrieval": (
        "Each text looks for its own match in the other language: this needs pairs that are known to match."
    ),
    "distance-correlation": (
        "Whether texts that are far apart belong to pictures that are far apart, over all pairs of texts."
    ),
}

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


def glossary(
    tasks: Collection[str], of_pool: Sequence[tuple[str, str]] = (), *, tied: bool = True
) -> tuple[tuple[str, str], ...]:
    """Return the terms that a page about these tasks needs.

    `of_pool` has those of a multilingual pool; `tied` tells whether a page about it alone shows ties.
    """
    if "multilingual-pool" not in tasks:
        return GLOSSARY
    if len(tasks) > 1:
        return (*of_pool, *GLOSSARY)
    chance = ("Chance", "What an encoder scores on the same data to which all candidates are equal.")
    shared = ("Interval", "Tied") if tied else ("Interval",)
    return (*of_pool, chance, *(term for term in GLOSSARY if term[0] in shared))


def title(task: str) -> str:
    """Return the heading of a task."""
    return TITLES.get(task, task)


def measure_name(task: str, measure: str) -> str:
    """Return the measure as sentences name it: "BkR R@10", "SIM", "CORR"."""
    if task == "multilingual-pool":
        kind, at, cut = measure.partition("@")
        return f"{POOL_NAMES.get(kind, kind)}{at}{cut}"
    if task == "image-sentence":
        return "MedR" if measure == "MedR/floor" else as_the_field_says(measure)
    short = SHORT.get(task, task)
    if measure == short or measure in CORRELATIONS:
        return measure
    return f"{short} {measure}"


def as_the_field_says(measure: str) -> str:
    """Return a measure of image–sentence ranking as its literature has it: R@k for Success@k, any caption.

    >>> as_the_field_says("Success@10"), as_the_field_says("RR")
    ('R@10', 'RR')
    """
    return f"R{measure.removeprefix('Success')}" if measure.startswith("Success@") else measure


def lower_is_better(measure: str) -> bool:
    """Tell whether small values of the measure are good ones (ranks)."""
    return measure.startswith("MedR")


def least(measure: str) -> float:
    """Return the smallest value the measure can take: intervals are not drawn beyond it."""
    return -1.0 if measure in CORRELATIONS else 0.0


def own(task: str) -> str:
    """Return what the ranks of a task count, for "… ranked 1 of 365"."""
    return "own picture" if task == "backretrieval" else "own match"


def stop(text: str) -> str:
    """Return the sentence with a full stop at its end."""
    return text if text.endswith(".") else f"{text}."


def pair(source: str, target: str) -> str:
    """Return a language pair as text; "pool" as target stands for candidates in all languages."""
    if target == "pool":
        return "all questions" if source == "all" else f"questions in {named(source)}"
    return f"{source} → {target}"
