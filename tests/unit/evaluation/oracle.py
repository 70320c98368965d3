"""The definitions, once more, as plain as they can be written: whole float64 matrices and loops over places.

Ties are resolved by trying every place that a tied candidate can take and averaging. Nothing here is shared
with the program, so that the two can only agree by both being right.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations
from statistics import fmean

import numpy as np
from scipy.stats import spearmanr


def cosines(left, right):
    """Return all cosines [n, m], rounded to 9 decimals: equal means tied. A zero vector has cosine 0."""
    return np.round(_unit(left) @ _unit(right).T, 9) + 0.0


def _unit(vectors):
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt((wide**2).sum(axis=1, keepdims=True))
    return np.where(lengths > 0, wide / np.where(lengths > 0, lengths, 1), 0)


def csls(k):
    """Return CSLS with the k nearest of each side, as a function in the place of `cosines`.

    Scores are whole numbers of 1e-9, and so are the means, rounded to the even one: equal means tied.
    """

    def mean(cosines_of_one):
        nearest = sorted(cosines_of_one, reverse=True)[:k]
        return round(Fraction(sum(nearest), len(nearest)))

    def scores(left, right):
        of = np.rint(cosines(left, right) * 1e9).astype(int).tolist()
        rows, columns = [mean(row) for row in of], [mean(column) for column in zip(*of, strict=True)]
        return np.array(
            [
                [2 * c - r - s for c, s in zip(row, columns, strict=True)]
                for row, r in zip(of, rows, strict=True)
            ]
        )

    return scores


def value_of_rank(measure, rank):
    """Return what a query with this rank is worth."""
    if measure == "MedR":
        return float(rank)
    if measure == "RR":
        return 1 / rank
    return float(rank <= int(measure.partition("@")[2]))


@cache
def expected(measure, above, tied, relevant=1):
    """Return the mean value over every way to order a tie group, with `above` candidates before it.

    The `relevant` of the `tied` may take any places; the first of them gives the rank.
    """
    places = combinations(range(1, tied + 1), relevant)
    return fmean(value_of_rank(measure, above + first) for first, *_ in places)


def best(scores):
    """Return the positions of the highest scores."""
    top = max(scores)
    return [j for j, score in enumerate(scores) if score == top]


def aggregate(measure, values):
    """Return the number of all queries."""
    return float(np.median(values)) if measure == "MedR" else fmean(values)


def backretrieval(measure, text_source, text_target, image_source, image_target, image_key, compare=cosines):
    """Return (values, oracle, ceiling, chance) of one sample; the first three are lists over queries.

    `text_*` and `image_*` are vectors, one for each text; `image_key` says of each source which image
    it shows: equal keys are one image. `compare` gives the scores of texts.
    """
    text = compare(text_source, text_target).tolist()
    own = cosines(image_source, image_target).tolist()  # of a query's image and a target's image
    distinct = {}  # image → a source that shows it
    for source, key in enumerate(image_key):
        distinct.setdefault(key, source)
    gallery = list(distinct.values())
    ways = []  # [query][target] the query's value if the target is the one retrieved
    for query, key in enumerate(image_key):
        row = []
        for target in range(len(image_target)):
            if measure == "SIM":
                row.append(float(own[query][target]))
                continue
            scores = [own[source][target] for source in gallery]
            mine = own[distinct[key]][target]
            above = sum(score > mine for score in scores)
            tied = sum(score == mine for score in scores)
            row.append(expected(measure, above, tied))
        ways.append(row)
    values = [fmean(row[t] for t in best(text[query])) for query, row in enumerate(ways)]
    oracle = [fmean(row[t] for t in best(own[query])) for query, row in enumerate(ways)]
    ranked = measure in ("RR", "MedR")  # otherwise any target is as likely as any other
    chance = expected(measure, 0, len(gallery)) if ranked else fmean(map(fmean, ways))
    return values, oracle, [max(row) for row in ways], chance


def crosslingual_retrieval(measure, text_source, text_target, item_source, item_target, compare=cosines):
    """Return (values, chances) over queries: the rank of the first target of the query's own item.

    R@k is the mean over these targets of the chance that each is among the first k.
    """
    text = compare(text_source, text_target).tolist()
    values, chances = [], []
    for query, item in enumerate(item_source):
        scores = text[query]
        relevant = [t for t, other in enumerate(item_target) if other == item]
        if measure.startswith("R@"):
            places = [
                (sum(s > scores[t] for s in scores), sum(s == scores[t] for s in scores)) for t in relevant
            ]
            values.append(fmean(expected(measure, above, tied) for above, tied in places))
            chances.append(expected(measure, 0, len(item_target)))
            continue
        top = max(scores[t] for t in relevant)
        above = sum(score > top for score in scores)
        tied = sum(score == top for score in scores)
        values.append(expected(measure, above, tied, sum(scores[t] == top for t in relevant)))
        chances.append(expected(measure, 0, len(item_target), len(relevant)))
    return values, chances


def distance_correlation(text_source, text_target, image_source, image_target):
    """Return Spearman's correlation of text and image distances over all pairs."""
    texts = 1 - cosines(text_source, text_target)
    images = 1 - cosines(image_source, image_target)
    if np.ptp(texts) == 0 or np.ptp(images) == 0:
        return None
    return float(spearmanr(texts.ravel(), images.ravel()).statistic)
