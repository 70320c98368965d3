"""Order confidence: how likely the order of two encoders by Backretrieval is that of true retrieval."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from xlingual.results.values import Count, Interval, Note, Number, Share, about


class OrderBin(Struct, frozen=True):
    """How often the order was right on data sets left out, where the model gave a p from `low` to `high`."""

    low: Annotated[Share, about("Where the bin begins.")]
    high: Annotated[Share, about("Where it ends.")]
    leader: Annotated[bool, about("Whether it is of leaders and others; false: of other neighbours.")]
    n: Annotated[Count, about("Pairs of encoders in the bin whose true order is known.")]
    undecided: Annotated[Count, about("Further pairs whose interval of the XLR difference contains zero.")]
    n_by_set: Annotated[dict[str, Count], about("Of the pairs with a known order those of each data set.")]
    right: Annotated[dict[str, Share], about("Share of these in the right order, by data set.")]
    mean: Annotated[Share, about("Its mean over data sets.")]
    ci: Annotated[Interval, about("Interval of this mean over data sets.")]
    said: Annotated[
        Count | None,
        about("Of 10 such cases, how many are said to be right; null where the interval is too wide for it."),
    ]


class OrderFailure(Struct, frozen=True):
    """What the model says of a kind of encoder that Backretrieval cannot order."""

    name: Annotated[str, about("The kind.")]
    n: Annotated[Count, about("Pairs with other encoders whose true order is known.")]
    right: Annotated[Share, about("Share of these that Backretrieval puts in the right order.")]
    refused: Annotated[Count, about("Of these pairs those for which no probability is given.")]
    sure: Annotated[Count, about("Of the others those with p of .9 or more.")]
    right_of_sure: Annotated[Share | None, about("Share of these that are in the right order.")]


class OrderBasis(Struct, frozen=True):
    """What order confidence was fitted to, and how it did on data sets left out."""

    command: Annotated[str, about("The benchmark that made it.")]
    measure: Annotated[str, about("The measure of BkR, and of XLR.")]
    data_sets: Annotated[list[str], about("Names of the data sets.")]
    coefficients: Annotated[list[Number], about("Coefficients of the features.")]
    most_z: Annotated[Number, about("Largest gap of two encoders in standard errors.")]
    most_best: Annotated[Number, about("Largest BkR above chance.")]
    most_looks: Annotated[
        Number, about("Largest correlation of cosines of texts with those of their images of any encoder.")
    ]
    fewest_queries: Annotated[Count, about("Fewest queries of a language pair.")]
    most_queries: Annotated[Count, about("Most queries of a language pair.")]
    most_encoders: Annotated[Count, about("Most encoders of a leaderboard.")]
    bins: Annotated[list[OrderBin], about("Reliability by predicted probability.")]
    failures: Annotated[list[OrderFailure], about("Kinds of encoders that Backretrieval cannot order.")]


class OrderedPair(Struct, frozen=True):
    """Two encoders of a leaderboard, the one with the higher BkR first."""

    ahead: Annotated[str, about("The encoder with the higher BkR.")]
    behind: Annotated[str, about("The other one.")]
    neighbours: Annotated[bool, about("Whether no other encoder is between them.")]
    z: Annotated[Number | None, about("Gap of their BkR in standard errors.")] = None
    z_sim: Annotated[Number | None, about("Gap of their SIM in standard errors, the same way.")] = None
    probability: Annotated[
        Share | None, about("P(the first is ahead in XLR too), by the model; null: the note says why.")
    ] = None
    right: Annotated[
        Count | None, about("In so many of 10 such cases the order is right; null where that is not known.")
    ] = None
    ci: Annotated[Interval | None, about("Share of such cases in the right order, over data sets.")] = None
    note: Note = None


class OrderConfidence(Struct, frozen=True):
    """The order of a leaderboard of Backretrieval, pair by pair: the leader and each, and neighbours."""

    image_encoder: Annotated[str | None, about("Name of the image encoder.")]
    measure: Annotated[str, about("The measure of the leaderboard.")]
    best: Annotated[Number | None, about("The leader's BkR above chance.")]
    pairs: Annotated[list[OrderedPair], about("Pairs of encoders, best first.")]
    basis: Annotated[OrderBasis, about("What the probabilities come from.")]
    looks: Annotated[
        dict[str, Number],
        about("Correlation of cosines of texts with those of their images, by encoder, where it is known."),
    ] = {}
    note: Note = None
