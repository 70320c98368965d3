"""What smaller vectors lose, by language pair, and the smallest form that loses no more than a bound."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.document import FolderDocument
from xlingual.results.values import (
    Amount,
    Conditions,
    Count,
    Interval,
    Level,
    Note,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    about,
    among,
)

KEPT, LOSES, UNDECIDED = "kept", "loses", "cannot tell"  # outcomes
WHOLE, TRUNCATED, PCA = "none", "truncate", "pca"  # how dimensions are left out


class PairValue(Struct, frozen=True):
    """The full vectors on the queries of one language pair."""

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of what they are to find.")]
    value: Annotated[Number, about("Value of the measure with the encoder's own vectors.")]
    n_queries: Annotated[Size, about("Queries.")]
    n_clusters: Annotated[Size, about("Clusters of queries.")]


class PairLoss(Struct, frozen=True):
    """What a form loses on one language pair: the full vectors' value less its own."""

    value: Annotated[Number, about("Value of the measure with the form.")]
    loss: Annotated[Number, about("Value of the full vectors minus this value.")]
    ci: Annotated[
        Interval | None,
        about(
            "Paired interval of the loss; those of all pairs of a form hold together (Bonferroni). Null "
            "where there are too few clusters of queries."
        ),
    ]
    most: Annotated[
        Number | None, about("Upper bound of the loss, one-sided, of level 1 - alpha for this pair alone.")
    ]
    p_kept: Annotated[Share, about('p of "it loses delta or more".')]
    p_loses: Annotated[Share, about('p of "it loses no more than delta", Holm\'s correction over pairs.')]


class Form(Struct, frozen=True):
    """One form of the vectors, and what it loses in each language pair."""

    name: Annotated[str, about("Name of the form.")]
    reduction: Annotated[
        str, among(WHOLE, TRUNCATED, PCA), about("How dimensions are left out: none, truncate or pca.")
    ]
    dim: Annotated[Size, about("Dimensions.")]
    dtype: Annotated[str, among("f32", "f16", "int8", "binary"), about("Kind of the numbers.")]
    rescored: Annotated[
        Count, about("How many candidates are ordered again by the query's full numbers; 0: none.")
    ]
    bytes: Annotated[Size, about("Bytes of a vector.")]
    spec: Annotated[
        str | None, about("How other commands name this form; null where candidates are ordered again.")
    ]
    value: Annotated[Number, about("Mean over language pairs.")]
    loss: Annotated[Number, about("Mean over language pairs of the loss.")]
    ci: Annotated[Interval | None, about("Paired interval of this mean.")]
    whole: Annotated[
        Number | None, about("Of a pool, mean average precision of all answers; null for a manifest.")
    ]
    outcome: Annotated[
        str,
        among(KEPT, LOSES, UNDECIDED),
        about("kept: no pair loses delta or more; loses: some pair loses more; else cannot tell."),
    ]
    p: Annotated[Share, about('The largest p_kept: p of "some pair loses delta or more".')]
    p_adjusted: Annotated[
        Share,
        about("The same after the forms that are tested before it, in a fixed order: kept up to alpha."),
    ]
    pairs: Annotated[list[PairLoss], about("One for each language pair, in the order of `full`.")]
    note: Note = None

    @property
    def worst(self) -> int:
        """The place of the pair with the largest loss."""
        return max(range(len(self.pairs)), key=lambda i: self.pairs[i].loss)

    @property
    def highest(self) -> int:
        """The place of the pair whose loss is bounded least."""
        return max(range(len(self.pairs)), key=lambda i: (self.pairs[i].p_kept, self.pairs[i].loss))


class Compression(FolderDocument, frozen=True, tag="xlingual/compression/1"):
    """What each smaller form of an encoder's vectors loses, by language pair."""

    made_by = "xlingual compress … --out DIR"
    file = "compression.json"

    encoder: Annotated[str, about("Name of the encoder.")]
    task: Annotated[str, about("Name of the task.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    dim: Annotated[Size, about("Dimensions of the full vectors.")]
    bytes: Annotated[Size, about("Bytes of a full vector, in single precision.")]
    delta: Annotated[Amount, about("The loss from which a pair counts as harmed.")]
    alpha: Annotated[Level, about("Chance that any form is wrongly accepted, over all forms together.")]
    full: Annotated[list[PairValue], about("The full vectors, one entry for each language pair.")]
    whole: Annotated[Number | None, about("Of a pool, mean average precision of all answers.")]
    forms: Annotated[list[Form], about("The smaller forms, those with the most bytes first.")]
    smallest: Annotated[
        str | None,
        about("Name of the form with the fewest bytes that is kept; null where none is smaller and kept."),
    ]
    fit: Annotated[
        str | None, about("Digest of the texts that PCA and the levels of int8 are fitted on; null for none.")
    ]
    n_fit: Annotated[Count, about("How many texts these are.")]
    signature: Annotated[str, about("What the values of the full vectors depend on.")]
    note: Note = None
    conditions: Conditions = field(default_factory=dict)
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)

    def form(self, name: str) -> Form:
        """Return the form of a name."""
        return next(one for one in self.forms if one.name == name)

    def problem(self) -> str | None:
        """Return the first inconsistency between fields; None where there is none."""
        wrong = next((one.name for one in self.forms if len(one.pairs) != len(self.full)), None)
        if wrong is not None:
            return f"form {wrong!r} has another number of language pairs than the full vectors"
        if self.smallest is not None and self.smallest not in {one.name for one in self.forms}:
            return f"smallest names {self.smallest!r}, and there is no such form"
        return None
