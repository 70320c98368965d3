"""Compare encoders query by query: who is better, who is not, and what the data cannot decide.

Every encoder is tested against a baseline (paired bootstrap and sign-flip test of `stats.paired`), on all
queries, and on request on each language pair and on slices. Ranks come from tests of all pairs of encoders.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count

import numpy as np
from msgspec.structs import replace

from xlingual.comparison.outcome import EncoderTest, QuerySubset, Resampling, Rules, decide, enough_replicates
from xlingual.comparison.queries import Queries
from xlingual.comparison.ranks import pairwise_p, rank_intervals
from xlingual.comparison.reading import read_aligned
from xlingual.comparison.references import (
    Given,
    Reference,
    SeveralGiven,
    as_references,
    parse_reference,
)
from xlingual.errors import InputError
from xlingual.requests import answers
from xlingual.requests.comparing import CompareRequest
from xlingual.results import Results
from xlingual.results import comparison as record
from xlingual.results.comparison import Board, Compared, Comparison

Progress = Callable[[str, int, int], None]  # progress: what, done, total


@answers(CompareRequest)
def compare(
    results: SeveralGiven,
    *,
    baseline: Given | None = None,
    measures: Sequence[str] = (),
    by: Sequence[str] = (),
    per_pair: bool = False,
    correction: str = "holm",
    alpha: float = 0.05,
    margin: float | None = None,
    replicates: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare the encoders of `Results`, or of folders of results (`FOLDER`, or `FOLDER#ENCODER` for one).

    A mapping of `Results` names them where encoders have equal names; `results.only(name)` is one encoder.
    `baseline` names the encoder that the others are compared with, or is results or a folder with one;
    without it that is each measure's leader. `correction` (holm, bh, none) is made over all tests of the
    boards over all queries of a measure, over those of its language pairs (`per_pair`), and over those of
    each column of `by`; a leader was chosen on the same data, so against it the pairs of all encoders count,
    not only those that are shown. With `margin` encoders whose difference is shown to be smaller are
    "equivalent". `replicates` of each test: 1999, or more where the correction for many tests would otherwise
    leave nothing to be found.

    Raises:
        InputError: results cannot be compared, or an option is not what it must be; the text says why.

    """
    rules = Rules(correction, alpha, margin)
    if replicates is not None and replicates + 1 < 2 / alpha:
        raise InputError(
            f"{replicates} replicates cannot show anything at alpha {alpha:g}: at least "
            f"{int(np.ceil(2 / alpha))} are needed"
        )
    started = time.perf_counter()
    references = as_references(results)
    if baseline is not None and _is_results(baseline):
        references = as_references([*references, baseline])
        baseline = references[-1]  # else it is the label of an encoder
    aligned = read_aligned(references, measures=measures)
    if len(aligned.members) < 2:
        raise InputError(
            f"only one encoder to compare ({aligned.members[0].label}): give results of at least two"
        )
    against = (
        None
        if baseline is None
        else aligned.label(baseline if isinstance(baseline, Reference) else str(baseline))
    )
    baselines = {(q.task, q.measure): against or q.best for q in aligned.queries}
    families = [family for q in aligned.queries for family in _families(q, by, per_pair)]
    members = len(aligned.members)
    each = members - 1 if against is not None else members * (members - 1) // 2
    notes = [
        *aligned.notes,
        *_chosen(members, against, rules),
        *_too_few(families, each, rules, replicates),
    ]
    total, done = sum(len(family) for family in families) * (members - 1), count(1)

    def step(measure: str) -> None:
        if progress is not None:
            progress(f"comparing {measure}", next(done), total)

    boards: list[Board] = []
    for family in families:
        resampling = Resampling(replicates, seed, each * len(family), rules)
        boards += _family_boards(family, baselines, rules, resampling, step)
    first = aligned.queries[0].conditions
    shared = {k: v for k, v in first.items() if all(q.conditions.get(k) == v for q in aligned.queries)}
    return Comparison(
        folders=list(dict.fromkeys(str(member.folder) for member in aligned.members)),
        baseline_given=baseline is not None,
        correction=correction,
        alpha=alpha,
        margin=margin,
        seed=seed,
        conditions=shared,
        boards=boards,
        notes=notes,
        timings={"compare": time.perf_counter() - started},
    )


def _is_results(baseline: Given) -> bool:
    return isinstance(baseline, Results) or (parse_reference(baseline).folder / "results.json").is_file()


def _chosen(members: int, against: str | None, rules: Rules) -> list[str]:
    """Return a note on how a baseline chosen by the same data is corrected for."""
    if against is not None or members < 3:
        return []
    if rules.correction == "none":
        return ["the baseline leads on this same data, which p does not count: name one with --baseline"]
    pairs = members * (members - 1) // 2
    return [
        f"the baseline leads on this same data, so p is corrected for all {pairs} pairs of encoders; with "
        f"--baseline, named beforehand, for {members - 1}"
    ]


def _families(queries: Queries, by: Sequence[str], per_pair: bool) -> list[list[QuerySubset]]:
    """Return the parts whose tests are corrected together: all queries, language pairs, each column."""
    families = [[QuerySubset(queries)]]
    pairs = queries.slices("pair")
    if per_pair and len(pairs) > 1:
        families.append([QuerySubset(part, *part.direction) for part in pairs.values()])
    for column in dict.fromkeys(by):
        found = queries.slices(column)
        families.append([QuerySubset(part, column=column, label=label) for label, part in found.items()])
    return families


def _family_boards(
    family: Sequence[QuerySubset],
    baselines: Mapping[tuple[str, str], str],
    rules: Rules,
    resampling: Resampling,
    step: Callable[[str], None],
) -> list[Board]:
    first = family[0]
    queries = first.queries
    leader = baselines[queries.task, queries.measure]  # of all queries, on parts of them too
    tests: list[list[EncoderTest]] = []
    for part in family:
        tests.append([])
        for encoder in part.queries.encoders:
            if encoder != leader:
                tests[-1].append(resampling.test(part, encoder, leader))
                step(queries.measure)
    more = resampling.n_tests - sum(map(len, tests))  # counted by the correction, not shown
    others, ranks = np.ones(more), None
    if first.whole:
        known = {found.encoder: found.p for found in tests[0]}
        pairs = pairwise_p(queries, known, leader, rules, lambda a, b: resampling.test(first, a, b).p)
        ranks = rank_intervals(queries, pairs, rules)
        others = pairs.without(leader) if more else others
    rows = decide(tests, rules, others)
    return [_board(part, leader, own, ranks, resampling) for part, own in zip(family, rows, strict=True)]


def _board(
    part: QuerySubset,
    leader: str,
    found: Sequence[Compared],
    ranks: dict[str, tuple[int, int]] | None,
    resampling: Resampling,
) -> Board:
    queries = part.queries
    value = float(queries.means[queries.row_of(leader)])
    baseline_row = Compared(leader, value, None, None, None, None, None, record.BASELINE, None, None)
    if queries.unlike:
        found = [replace(row, outcome=record.CANNOT_TELL, note=queries.unlike) for row in found]
        ranks = None
    rows = sorted([baseline_row, *found], key=lambda row: -row.value)
    if ranks is not None:
        ends = (ranks[row.encoder] for row in rows)
        rows = [
            replace(row, rank_low=low, rank_high=high) for row, (low, high) in zip(rows, ends, strict=True)
        ]
    return Board(
        task=queries.task,
        measure=queries.measure,
        source=part.source,
        target=part.target,
        column=part.column,
        label=part.label,
        baseline=leader,
        n_queries=len(queries),
        n_clusters=queries.n_clusters,
        n_pairs=len(queries.present("pair")),
        n_seeds=len(queries.present("seed")),
        chance=queries.chance if part.whole else None,
        rows=rows,
        replicates=resampling.replicates,
        n_tests=resampling.n_tests,
        n_rank_tests=0 if ranks is None else len(rows) * (len(rows) - 1) // 2,
    )


def _too_few(
    families: Sequence[Sequence[QuerySubset]], each: int, rules: Rules, replicates: int | None
) -> list[str]:
    """Return a note where no p, once corrected, could be small enough; `each` part has so many tests."""
    n_tests = max(len(family) for family in families) * each
    corrected = 1 if rules.correction == "none" else n_tests
    used = replicates or enough_replicates(n_tests, rules)
    if (used + 1) * rules.alpha >= corrected:
        return []
    tests = "1 test" if corrected == 1 else f"{corrected} tests"
    needed = int(np.ceil(corrected / rules.alpha))
    return [
        f"{used} replicates cannot show a difference after the correction for {tests}: give --replicates "
        f"{needed} or more, or compare fewer encoders or parts"
    ]
