"""What the page about image–sentence ranking explains."""

ABOUT = (
    "Each sentence ranks all pictures, and each picture all sentences of a language, by the cosine of their "
    "vectors. A picture with several sentences counts by the best of them."
)

TERMS = (
    (
        "R@1, R@5, R@10",
        "The share of queries, in per cent, of which a right answer is among the first 1, 5 or 10: a picture "
        "for a sentence, any of its sentences for a picture. This is the literature's R@k. The results store "
        "it as Success@1, 5 and 10, the hit rate: R@k elsewhere is the share of right answers that is found.",
    ),
    (
        "MedR",
        "The median rank of the first right answer: the median of the ranks counted from 0, rounded down, "
        "plus 1. Lower is better.",
    ),
    (
        "Sum of recalls",
        "R@1, R@5 and R@10 of both directions added up, 600 at most (rsum). Models are chosen by it.",
    ),
    (
        "Difference to the baseline",
        "In brackets: the value minus the baseline's, on the same queries. A star says that its interval "
        "excludes zero.",
    ),
    ("Chance", "What an encoder scores on the same data to which all candidates are equal."),
    (
        "Interval",
        "Where the number would land for another sample of as many pictures from the same source. Sentences "
        "of one picture are not independent and are kept together.",
    ),
)
