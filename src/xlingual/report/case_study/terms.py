"""What the page of a case study explains."""

from xlingual.report import words

TERMS = (
    *(entry for entry in words.GLOSSARY if entry[0].startswith("BkR")),
    (
        "Triplet",
        "Two dense layers over the base's frozen vectors of title and body, trained so that a body lies "
        "nearer to its own title than to another one. Nothing in it says what belongs together across "
        "languages.",
    ),
    (
        "TripletXL",
        "Triplet, with a penalty where a text lies nearer to its neighbours in its own language than to "
        "those in others.",
    ),
    (
        "Worst pairs",
        "The language pairs with Triplet's lowest values. A pair that is chosen for being low comes out "
        "higher when it is looked at again, with any model (regression to the mean). So the difference on "
        "them is taken on queries that did not choose them: each half of the queries is judged on the pairs "
        "that the other half names. With several trainings, each is judged on pairs that the others name. "
        "The figure follows the worst pairs over all queries.",
    ),
    (
        "Interval",
        "Where the number would land for another sample of the same size from the same source and, with "
        "several trainings, for other trainings. It is not widened for the number of questions; the "
        "adjusted p is corrected for it (Holm).",
    ),
    (
        "No difference found",
        "The data do not show a difference. That is not the same as equal: the interval says how large it "
        "may still be.",
    ),
)
