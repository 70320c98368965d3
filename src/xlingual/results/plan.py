"""How many queries would show a difference, and what difference so many queries can show."""

from __future__ import annotations

import math
from typing import Annotated

from msgspec import Struct, field, structs

from xlingual.results.document import Answer
from xlingual.results.values import (
    Amount,
    Conditions,
    Count,
    Interval,
    Level,
    Note,
    Number,
    Positive,
    Share,
    Size,
    Warnings,
    about,
)

_ALONE = 0.9  # clusters per query, above which queries count as independent


class AtSize(Struct, frozen=True):
    """What a number of queries can show."""

    queries: Annotated[Count, about("Distinct queries for each language pair.")]
    detectable: Annotated[
        Amount | None,
        about(
            "Smallest true difference shown with the plan's power; null where not even the largest "
            "possible one is shown."
        ),
    ]
    power: Annotated[Share, about("How often the plan's effect is shown.")]


class PlanRow(Struct, frozen=True):
    """One encoder against the baseline."""

    encoder: Annotated[str, about("Label of the encoder.")]
    value: Annotated[Number, about("Value of the measure.")]
    difference: Annotated[Number, about("Its value minus the baseline's.")]
    ci: Annotated[Interval, about("Interval of the difference.")]
    variance_own: Annotated[
        Amount, about("Part of the variance of the difference that shrinks with the number of queries.")
    ]
    variance_shared: Annotated[
        Amount, about("Part from targets that several queries retrieve: it stays at a fixed pool.")
    ]
    queries: Annotated[
        Count | None,
        about("Distinct queries for each language pair that show the effect; null where no number does."),
    ]
    detectable: Annotated[
        Amount | None,
        about(
            "Smallest difference that the present queries show; null where nothing differs, or where "
            "not even the largest difference is shown."
        ),
    ]
    limit: Annotated[
        Amount | None,
        about(
            "What no number of queries at this pool goes below; null where nothing differs, or where not "
            "even the largest difference is shown."
        ),
    ]
    sizes: Annotated[list[AtSize], about("What each requested number of queries can show.")]
    note: Note = None

    @property
    def planned(self) -> bool:
        """Whether there is a variance to plan with; without one the note says why."""
        return self.variance_own + self.variance_shared > 0


class Plan(Answer, frozen=True, tag="xlingual/plan/1"):
    """A plan for one task and measure at a fixed pool."""

    made_by = "xlingual plan … --out DIR"
    file = "plan.json"

    task: Annotated[str, about("Name of the task.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    baseline: Annotated[str, about("Label of the encoder that the others are compared with.")]
    baseline_value: Annotated[Number, about("Its value.")]
    effect: Annotated[Number, about("The difference to show.")]
    power: Annotated[Level, about("How often it shall be shown.")]
    alpha: Annotated[Level, about("Significance level, two-sided.")]
    n_queries: Annotated[Count, about("Distinct queries of the results, for each language pair.")]
    n_pairs: Annotated[Size, about("Language pairs.")]
    n_seeds: Annotated[Size, about("Seeds.")]
    pool: Annotated[Size, about("Candidates that a rank is counted among, mean over samples: N.")]
    k: Annotated[Size | None, about("K of R@k or Success@k; null for other measures.")]
    rows: Annotated[list[PlanRow], about("One entry per encoder other than the baseline, best first.")]
    conditions: Conditions = field(default_factory=dict)
    warnings: Warnings = field(default_factory=list)
    n_tests: Annotated[Size, about("How many tests `compare` would correct for; the plan does not.")] = 1
    baseline_given: Annotated[bool, about("False where the baseline is the leader of the same data.")] = True
    n_clusters: Annotated[
        Size | None, about("Clusters of these queries; null where this was not recorded.")
    ] = None

    k_over_pool: Annotated[
        Positive | None,
        about(
            "K/N, the part of the pool that counts as found; null for other measures than R@k and Success@k."
        ),
    ] = None  # derived from the other fields

    def __post_init__(self) -> None:
        structs.force_setattr(self, "k_over_pool", self.share)

    @property
    def share(self) -> float | None:
        """K/N, the part of the pool that counts as found; None for other measures than R@k and Success@k."""
        return None if self.k is None else self.k / self.pool

    def clusters(self, queries: int) -> int | None:
        """Return about how many clusters a number of queries comes from, at the present queries per cluster.

        None where (nearly) every query is its own cluster: the number of queries then suffices.
        """
        if self.n_clusters is None or self.n_clusters > _ALONE * self.n_queries:
            return None
        return max(math.ceil(queries * self.n_clusters / self.n_queries), 1)
