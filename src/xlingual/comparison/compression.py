"""Whether a smaller form of the vectors is as good as the full one, in every language pair.

"No pair loses δ or more" is shown where it is shown for each pair at level α: an intersection–union test,
which needs no correction for the number of pairs (Berger 1982, "Multiparameter hypothesis testing and
acceptance sampling", Technometrics 24). Forms are many, and the smallest is looked for among them: they are
tested in a fixed order (`in_sequence`), each after one that keeps more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.comparison.outcome import too_few
from xlingual.comparison.queries import Queries
from xlingual.results import Interval
from xlingual.results.compression import KEPT, LOSES, UNDECIDED, PairLoss, PairValue
from xlingual.stats.corrections import holm, in_sequence, simultaneous_level
from xlingual.stats.paired import PairedTest, paired_test
from xlingual.streams import stream

FULL = "full"  # the label of the full vectors
REPLICATES = 1999


@dataclass(frozen=True)
class FormLoss:
    """The losses of one form."""

    value: float
    loss: float
    ci: Interval | None
    pairs: tuple[PairLoss, ...]
    outcome: str
    p: float
    p_adjusted: float
    note: str | None


def full_values(queries: Queries) -> list[PairValue]:
    """Return the value of the full vectors in each language pair."""
    found = []
    for part in queries.slices("pair").values():
        source, target = part.direction
        value = float(part.means[part.row_of(FULL)])
        found.append(PairValue(source, target, value, len(part), part.n_clusters))
    return found


def losses(
    queries: Queries,
    delta: float,
    alpha: float,
    *,
    after: Mapping[str, str | None] | None = None,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, FormLoss]:
    """Return what each form loses against `FULL`, by its name; all are encoders of the queries.

    `after`: which form is tested before which; unless given, in the order of the queries' encoders.
    """
    names = [name for name in queries.encoders if name != FULL]
    parts = queries.slices("pair")
    tests: dict[str, list[PairedTest | None]] = {}
    for place, name in enumerate(names):
        tests[name] = [
            _tested(part, name, f"{name}|{label}", seed, replicates) for label, part in parts.items()
        ]
        if progress is not None:
            progress(place + 1, len(names))
    p = {name: max(1.0 if t is None else t.p_above(-delta) for t in own) for name, own in tests.items()}
    before = dict(zip(names, [None, *names], strict=False)) if after is None else after
    places = [None if (first := before[own]) is None else names.index(first) for own in names]
    adjusted = dict(zip(names, in_sequence(np.array([p[own] for own in names]), places), strict=True))
    whole = {name: _tested(queries, name, f"{name}|all", seed, replicates) for name in names}
    return {
        name: _loss(
            queries, parts, name, (tests[name], whole[name]), (delta, alpha), (p[name], adjusted[name])
        )
        for name in names
    }


def _tested(part: Queries, name: str, label: str, seed: int, replicates: int) -> PairedTest | None:
    """Return the test of a form less the full vectors; None with too few clusters."""
    if too_few(part.n_clusters):
        return None
    rng = stream(seed, f"compress|{label}")
    return paired_test(part.paired(name, FULL), rng=rng, replicates=replicates, span=part.span)


def _loss(
    queries: Queries,
    parts: Mapping[str, Queries],
    name: str,
    tested: tuple[Sequence[PairedTest | None], PairedTest | None],
    bounds: tuple[float, float],
    p: tuple[float, float],
) -> FormLoss:
    (tests, whole), (delta, alpha) = tested, bounds
    lost = holm(np.array([1.0 if test is None else test.p_below(-delta) for test in tests])).tolist()
    level = simultaneous_level(len(tests), 1 - alpha)
    pairs = []
    for part, test, p_loses in zip(parts.values(), tests, lost, strict=True):
        value, full = (float(part.means[part.row_of(one)]) for one in (name, FULL))
        pairs.append(
            PairLoss(
                value=value,
                loss=full - value,
                ci=None if test is None else _turned(test.interval(level)),
                most=None if test is None else -test.lower(alpha),
                p_kept=1.0 if test is None else test.p_above(-delta),
                p_loses=p_loses,
            )
        )
    value, full = (float(queries.means[queries.row_of(one)]) for one in (name, FULL))
    note = next((why for part in parts.values() if (why := too_few(part.n_clusters))), None)
    return FormLoss(
        value=value,
        loss=full - value,
        ci=None if whole is None else _turned(whole.interval(1 - alpha)),
        pairs=tuple(pairs),
        outcome=KEPT if p[1] <= alpha else LOSES if min(lost) <= alpha else UNDECIDED,
        p=p[0],
        p_adjusted=float(p[1]),
        note=note,
    )


def _turned(ci: Interval) -> Interval:
    """Return the interval of a loss, from that of a difference."""
    return Interval(0.0 - ci.high, 0.0 - ci.low, ci.level, ci.method)
