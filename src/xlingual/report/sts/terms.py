"""What the report calls textual similarity and its numbers."""

from __future__ import annotations

ABOUT = (
    "People gave each pair of sentences a score of how alike the two are. An encoder is good where the "
    "cosine of its two vectors rises with that score. The sentences are all in one language."
)
TERMS = (
    (
        "Pearson",
        "The correlation of cosine and score: 1 where they lie on a rising line, 0 where they have nothing "
        "to do with each other. Shifting or stretching the cosines, as in multiplying by 5, changes nothing.",
    ),
    ("Spearman", "The same of ranks: whether the order agrees, whatever the shape of the curve."),
    ("Chance", "0: cosines that have nothing to do with the scores."),
    (
        "Interval",
        "Where the number would land for another sample of as many pairs from the same source. Pairs that "
        "share a sentence are drawn again together.",
    ),
    (
        "Difference",
        "An encoder's correlation less the reference's, on the same pairs. Both are with the same scores, so "
        "they are compared as dependent correlations: Zou's interval, Williams' test. p is corrected for the "
        "number of encoders and files (Holm).",
    ),
)
