"""What the page of a study explains."""

from xlingual.report import words

TERMS = (
    (
        "Blind",
        "Raters see a query and the suggestions of all systems mixed, in an order drawn for each rater. A "
        "suggestion that several systems make is shown once and counts for each of them. Which system made "
        "what is kept in a file that the server never opens.",
    ),
    (
        "Very relevant per query",
        "How many of a system's suggestions for a query got the best score, as a mean over queries and "
        "raters. The ratio of two systems is the sum of one over the sum of the other, on the same queries "
        "and by the same raters; its interval is taken on the logarithmic scale.",
    ),
    (
        "Mean score",
        "The mean over all scores, of which 1 is best and 4 worst. It takes the steps between scores "
        "as equal.",
    ),
    (
        "Win rate",
        "A query is won by the system with more suggestions of the best score; where these are as many, by "
        "the better mean score. Even queries count half.",
    ),
    (
        "p",
        "How easily a difference this large arises by luck if the two systems are equally good: their names "
        "are swapped at random within queries. The adjusted p is corrected for the number of pairs (Holm).",
    ),
    (
        "Interval",
        "Where the number would land for other queries from the same source. With five raters or more, "
        "raters are resampled too, and it holds for other raters as well; with fewer it is about these "
        "raters. It is not widened for the number of pairs.",
    ),
    (
        "No difference found",
        "The ratings do not show a difference. That is not the same as equal: the interval says how large it "
        "may still be.",
    ),
    (
        "Krippendorff's alpha",
        "How far raters agree on the order of scores, beyond what luck gives: 1 is perfect agreement, 0 "
        "luck. Customary limits are .8 for firm and .667 for tentative conclusions about single suggestions; "
        "means over many suggestions can be told apart with less.",
    ),
    (
        "Repeats and controls",
        "Pages that a rater is asked twice, and suggestions that are obviously right or wrong. They tell how "
        "steady and attentive a rater is, and count in no other number.",
    ),
    *(entry for entry in words.GLOSSARY if entry[0].startswith("BkR")),
)
