"""Compare encoders query by query: who is better, who is not, and what cannot be told.

Every encoder is tested against a baseline (paired bootstrap and sign-flip test of `stats.paired`), on all
queries, and on request on each language pair and on slices. Ranks come from tests of all pairs of encoders.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from xlingual.comparison.outcome import Found, Rules, decide
from xlingual.comparison.queries import Queries
from xlingual.comparison.ranks import not_against, pairwise_p, rank_intervals
from xlingual.comparison.reading import Aligned, read_aligned
from xlingual.comparison.references import parse_reference
from xlingual.comparison.resampling import Part, Resampling, enough_replicates
from xlingual.errors import InputError
from xlingual.requests import answers
from xlingual.requests.comparing import CompareRequest
from xlingual.results import comparison as record
from xlingual.results.comparison import Board, Compared, Comparison

Progress = Callable[[str, int, int], None]  # progress: what, done, of all


@answers(CompareRequest)
def compare(
    results: Sequence[str | Path],
    *,
    baseline: str | None = None,
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
    """Compare the encoders of folders of results (`FOLDER`, or `FOLDER#ENCODER` for one).

    `baseline` names the encoder that the others are compared with; without one it is each measure's leader.
    `correction` (holm, bh, none) is made over all tests of the boards over all queries of a measure, over
    those of its language pairs (`per_pair`), and over those of each column of `by`; a leader was chosen on
    the same data, so against it the pairs of all encoders count, not only those that are shown. With `margin`
    encoders whose difference is shown to be smaller are "equivalent". `replicates` of each test: 1999, or
    more where the correction for many tests would otherwise leave nothing to be found.

    Raises:
        InputError: results cannot be compared, or an option is not what it must be; the text says why.

    """
    rules = Rules(correction, alpha, margin)
    _check(replicates, alpha)
    started = time.perf_counter()
    references = [str(reference) for reference in results]
    given = [] if baseline is None else _as_reference(baseline)
    aligned = read_aligned([*references, *given], measures=measures)
    if len(aligned.members) < 2:
        raise InputError(
            f"only one encoder to compare ({aligned.members[0].label}): give results of at least two"
        )
    against = None if baseline is None else aligned.label(baseline)
    held = {(q.task, q.measure): against or _leader(q) for q in aligned.queries}
    families = [family for q in aligned.queries for family in _families(q, by, per_pair)]
    members = len(aligned.members)
    each = members - 1 if against is not None else members * (members - 1) // 2
    notes = [*aligned.notes, *_chosen(members, against, rules), *_too_few(families, each, rules, replicates)]
    counter = _Counter(progress, sum(len(family) for family in families) * (members - 1))
    boards = [
        board
        for family in families
        for board in _family_boards(
            family, held, rules, Resampling(replicates, seed, each * len(family), rules), counter
        )
    ]
    return Comparison(
        folders=list(dict.fromkeys(str(member.folder) for member in aligned.members)),
        baseline_given=baseline is not None,
        correction=correction,
        alpha=alpha,
        margin=margin,
        seed=seed,
        conditions=_shared_conditions(aligned),
        boards=boards,
        notes=notes,
        timings={"compare": time.perf_counter() - started},
    )


def _check(replicates: int | None, alpha: float) -> None:
    if replicates is not None and replicates + 1 < 2 / alpha:
        raise InputError(
            f"{replicates} replicates cannot show anything at alpha {alpha:g}: at least "
            f"{int(np.ceil(2 / alpha))} are needed"
        )


def _chosen(members: int, against: str | None, rules: Rules) -> list[str]:
    """Return a note on what it costs that the baseline was chosen by the same data."""
    if against is not None or members < 3:
        return []
    if rules.correction == "none":
        return ["the baseline leads on this same data, which p does not count: name one with --baseline"]
    pairs = members * (members - 1) // 2
    return [
        f"the baseline leads on this same data, so p is corrected for all {pairs} pairs of encoders; with "
        f"--baseline, named beforehand, for {members - 1}"
    ]


def _as_reference(baseline: str) -> list[str]:
    """Return the baseline as something to read, unless it is the label of an encoder."""
    folder = parse_reference(baseline).folder
    return [baseline] if (folder / "results.json").is_file() else []


def _families(queries: Queries, by: Sequence[str], per_pair: bool) -> list[list[Part]]:
    """Return the parts whose tests are corrected together: all queries, language pairs, each column."""
    families = [[Part(queries)]]
    pairs = queries.slices("pair")
    if per_pair and len(pairs) > 1:
        families.append([_pair_part(part) for part in pairs.values()])
    for column in dict.fromkeys(by):
        found = queries.slices(column)
        families.append([Part(part, column=column, label=label) for label, part in found.items()])
    return families


def _pair_part(queries: Queries) -> Part:
    names = (queries.labels[side] for side in ("source", "target"))
    source, target = (column.words[column.code[0]] for column in names)
    return Part(queries, source, target)


def _family_boards(
    family: Sequence[Part],
    baselines: Mapping[tuple[str, str], str],
    rules: Rules,
    resampling: Resampling,
    counter: _Counter,
) -> list[Board]:
    first = family[0]
    whole = first.queries if first.column is None and first.source is None else None
    leader = baselines[first.queries.task, first.queries.measure]  # of all queries, on parts of them too
    tests: list[list[Found]] = []
    for part in family:
        found = []
        for encoder in part.queries.encoders:
            if encoder == leader:
                continue
            found.append(resampling.test(part, encoder, leader))
            counter.step(f"comparing {part.queries.measure}")
        tests.append(found)
    more = resampling.n_tests - sum(len(found) for found in tests)  # counted by the correction, not shown
    others, ranks = np.ones(more), None
    if whole is not None:
        known = {found.encoder: found.p for found in tests[0]}
        pairs = pairwise_p(whole, known, leader, rules, lambda a, b: resampling.test(first, a, b).p)
        ranks = rank_intervals(whole, pairs, rules)
        others = not_against(leader, pairs) if more else others
    rows = decide(tests, rules, others)
    return [_board(part, leader, own, ranks, resampling) for part, own in zip(family, rows, strict=True)]


def _board(
    part: Part,
    leader: str,
    found: Sequence[Compared],
    ranks: dict[str, tuple[int, int]] | None,
    resampling: Resampling,
) -> Board:
    queries = part.queries
    value = float(queries.means[queries.place(leader)])
    held = Compared(leader, value, None, None, None, None, None, record.BASELINE, None, None)
    rows = [_ranked(row, ranks) for row in [held, *found]]
    rows.sort(key=lambda row: -row.value)
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
        n_pairs=len(np.unique(queries.labels["pair"].code)),
        n_seeds=len(np.unique(queries.labels["seed"].code)),
        chance=queries.chance if part.column is None and part.source is None else None,
        rows=rows,
        replicates=resampling.replicates,
        n_tests=resampling.n_tests,
        n_rank_tests=0 if ranks is None else len(rows) * (len(rows) - 1) // 2,
    )


def _too_few(
    families: Sequence[Sequence[Part]], each: int, rules: Rules, replicates: int | None
) -> list[str]:
    """Return a note where no p, once corrected, could be small enough; `each` part has so many tests."""
    n_tests = max(len(family) for family in families) * each
    count = 1 if rules.correction == "none" else n_tests
    used = replicates or enough_replicates(n_tests, rules)
    if (used + 1) * rules.alpha >= count:
        return []
    tests = "1 test" if count == 1 else f"{count} tests"
    return [
        f"{used} replicates cannot show a difference after the correction for {tests}: "
        f"give --replicates {int(np.ceil(count / rules.alpha))} or more, or compare fewer encoders or parts"
    ]


def _ranked(row: Compared, ranks: dict[str, tuple[int, int]] | None) -> Compared:
    if ranks is None:
        return row
    low, high = ranks[row.encoder]
    return replace(row, rank_low=low, rank_high=high)


def _leader(queries: Queries) -> str:
    return queries.encoders[int(np.argmax(queries.means))]


def _shared_conditions(aligned: Aligned) -> dict[str, str]:
    first = aligned.queries[0].conditions
    return {k: v for k, v in first.items() if all(q.conditions.get(k) == v for q in aligned.queries)}


@dataclass
class _Counter:
    """Counts tests for the progress bar."""

    report: Progress | None
    total: int
    done: int = 0

    def step(self, what: str) -> None:
        self.done += 1
        if self.report is not None:
            self.report(what, self.done, self.total)
