"""The best model of a case study against every other: on average over language pairs, and on each of them.

The paper's Table 2 says that "the difference between the best models and others is statistically
significant". Here each difference is tested on the same queries (`trainings.difference`): language pairs
share queries and retrieved texts, so a query is one cluster over all pairs that it is in, and a text that is
retrieved is one over all queries that retrieve it. The languages are fixed: nothing is said about others.

The best model was chosen by the same queries, so p-values are corrected (Holm) for all pairs of models. On
average each of them is tested; on single language pairs those without the best are counted as though their p
were 1, which corrects rather too much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from xlingual.comparison.outcome import REPLICATES, Rules, enough_replicates
from xlingual.comparison.queries import Queries
from xlingual.comparison.trainings import Tested, difference, whole
from xlingual.results.case_study import AgainstBest, BestModel, BestOnPair, Model
from xlingual.streams import stream

_RULES = Rules("holm", 0.05, None)
_OPEN = 0.005  # above this p the usual number of replicates is enough
Progress = Callable[[str, int, int], None]  # progress: what, done, total


def best_model(
    queries: Queries,
    models: Sequence[Model],
    *,
    seed: int,
    replicates: int | None = None,
    progress: Progress | None = None,
) -> BestModel | None:
    """Return the tests of the model with the highest mean against every other; None where it is alone.

    `replicates` of each test; None: 1999, or more where the correction would leave nothing to be found.
    """
    if len(models) < 2:
        return None
    best, *others = sorted(models, key=lambda model: (-model.value, model.name))
    duels = [(best, other) for other in others] + list(combinations(others, 2))
    pairs = list(queries.slices("pair").values()) if len(queries.present("pair")) > 1 else []
    total, done = len(duels) + len(pairs) * len(others), 0

    def test(part: Queries, one: Model, other: Model, where: str, n_tests: int) -> Tested:
        nonlocal done
        done += 1
        if progress is not None:
            progress("testing the best model", done, total)
        name = f"case study: best|{where}|{one.name}|{other.name}"
        return _test(part, one, other, name, seed, replicates, n_tests)

    overall = [test(queries, one, other, "all pairs", len(duels)) for one, other in duels]
    adjusted = _RULES.adjusted(np.array([_p(found) for found in overall]))
    n_tests = len(pairs) * len(duels)
    single = [
        [test(part, best, other, "-".join(part.direction), n_tests) for other in others] for part in pairs
    ]
    shown = [_p(found) for row in single for found in row]
    corrected = iter(_RULES.adjusted(np.array([*shown, *np.ones(n_tests - len(shown))])).tolist())
    by_pair = [[(found, next(corrected)) for found in row] for row in single]
    return BestModel(
        name=best.name,
        n_tests=len(duels),
        n_pair_tests=n_tests,
        others=[
            AgainstBest(
                other.name,
                **_fields(overall[i], float(adjusted[i])),
                pairs=[
                    BestOnPair(*part.direction, **_fields(*row[i]))
                    for part, row in zip(pairs, by_pair, strict=True)
                ],
            )
            for i, other in enumerate(others)
        ],
    )


def _test(
    queries: Queries, one: Model, other: Model, name: str, seed: int, replicates: int | None, n_tests: int
) -> Tested:
    """Test two models; more replicates are drawn, anew, only where a small p may need them.

    The second draw does not use the first, so its result stays a p-value.
    """
    shares = whole(queries, one.encoders, other.encoders)
    enough = replicates or enough_replicates(n_tests, _RULES)
    found = difference(queries, shares, rng=stream(seed, name), replicates=min(enough, REPLICATES))
    if enough <= REPLICATES or found.p is None or found.p > _OPEN:
        return found
    return difference(queries, shares, rng=stream(seed, f"{name}|more"), replicates=enough)


def _p(found: Tested) -> float:
    return 1.0 if found.p is None else found.p


def _fields(found: Tested, adjusted: float) -> dict[str, Any]:
    fields = found.decided(adjusted)
    del fields["per_training"]
    return fields
