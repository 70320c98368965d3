"""The numbers of an evaluation: one record for each, and one for their means."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from xlingual.results.values import Count, Interval, Number, Size, about
from xlingual.results.views import Views


class Measured(Struct, frozen=True):
    """The fields that a number and a mean of numbers share."""

    task: Annotated[
        str,
        about(
            "Name of the task: backretrieval, crosslingual-retrieval, distance-correlation, "
            "multilingual-pool, sts."
        ),
    ]
    source: Annotated[str | None, about("Language of the queries; null for the mean over pairs.")]
    target: Annotated[
        str | None,
        about("Language of the candidates, for sts the file; null for the mean over pairs or files."),
    ]
    encoder: Annotated[str, about("Name of the text encoder.")]
    image_encoder: Annotated[str | None, about("Name of the image encoder; null for tasks without images.")]
    measure: Annotated[str, about("Canonical name of the measure: R@10, Success@10, RR, MedR, SIM, CORR.")]
    value: Annotated[Number | None, about("The number; null where there is none, the note says why.")]
    ci: Annotated[Interval | None, about("Interval of the value; null where there is no value.")]
    chance: Annotated[Number | None, about("What an encoder that knows nothing scores on average.")]
    oracle: Annotated[
        Number | None, about("What perfect retrieval by images alone scores; not an upper bound.")
    ]
    ceiling: Annotated[Number | None, about("What no encoder can exceed.")]
    normalized: Annotated[
        Number | None,
        about(
            "(value - chance) / (oracle - chance); may exceed 1; null where oracle and chance are too close."
        ),
    ]


class Entry(Measured, frozen=True):
    """One number: an encoder, a language pair, a measure and a seed. None where a key does not apply."""

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates; for sts the file.")]
    n_source: Annotated[Size, about("Source texts (queries).")]
    n_target: Annotated[Size, about("Target texts (candidates).")]
    n_tied: Annotated[
        Count | None,
        about(
            "Queries in which a relevant candidate ties with a less relevant one (in Backretrieval also: "
            "several texts are nearest); they count with the average over all orders."
        ),
    ]
    seed: Annotated[Count, about("Seed of the sample; of fixed samples the row of S.")]
    signature: Annotated[str, about("What the number depends on, key:value joined by |.")]
    note: Annotated[
        str | None, about("Why a number is missing, or how it was drawn; null where there is nothing to say.")
    ] = None
    views: Annotated[
        Views | None,
        about(
            "For the task multilingual-pool: further numbers by name, such as by_question_language and "
            "one_target; for image-sentence: against (the difference to a baseline) and folds (the value "
            "of each slice); for sts: against and against_mean, the differences to the baseline; null "
            "elsewhere."
        ),
    ] = None
    n_unanswered: Annotated[
        Count | UnsetType,
        about("Queries without results of a search system, which count as misses; absent for none."),
    ] = UNSET


class Behind(Struct, frozen=True):
    """How far an encoder is behind the leading one, on the same queries: leader's value minus its own."""

    leader: Annotated[str, about("Name of the leading encoder.")]
    value: Annotated[Number, about("The leader's value minus its own.")]
    ci: Annotated[Interval, about("Interval of the difference.")]


class Summary(Measured, frozen=True):
    """Mean over seeds of one pair, or (source and target None) over seeds and pairs."""

    n_pairs: Annotated[Size, about("Language pairs in the mean.")]
    n_seeds: Annotated[Size, about("Seeds in the mean.")]
    sd_seeds: Annotated[
        Number | None,
        about(
            "Standard deviation over seeds of the mean over pairs; null for one seed. Samples overlap, so "
            "it is no standard error."
        ),
    ]
    behind: Annotated[
        Behind | None,
        about(
            "Distance to the leading encoder; null for the leader itself and where no paired difference "
            "is known."
        ),
    ]
    note: Annotated[
        str | None, about("Why a number is missing, or how it was drawn; null where there is nothing to say.")
    ] = None
    views: Annotated[
        Views | None,
        about("For the task image-sentence: against, the difference to a baseline; null elsewhere."),
    ] = None
    ci_simultaneous: Annotated[
        Interval | None,
        about(
            "Simultaneous interval over all encoders (for one language pair: over all encoders and pairs); "
            "chance is judged by it. Null where there is a single number."
        ),
    ] = None
