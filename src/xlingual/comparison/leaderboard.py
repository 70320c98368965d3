"""Many encoders on many data sets and tasks: values, rank intervals, who shares the top, what is missing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import convert

from xlingual.comparison.board import Number, Source, column_names, columns_of, queries_of
from xlingual.comparison.outcome import QuerySubset, Resampling, Rules, too_few
from xlingual.comparison.queries import Queries
from xlingual.comparison.ranks import PairTests, pairwise_p, rank_intervals
from xlingual.comparison.reading import read_aligned
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.measures import parse_measure
from xlingual.results.digest import digest_of
from xlingual.results.evaluation import Cost
from xlingual.results.leaderboard import Leaderboard, Mean, ResultCell, ResultColumn
from xlingual.results.leaderboard import Source as SourceRecord
from xlingual.stats.all_pairs import AllPairs
from xlingual.stats.paired import skewed_t_test, t_test
from xlingual.tasks import CORRELATIONS, TASKS, task_of

MANY_CLUSTERS = 60  # from here on sign flips say no more than Student's t corrected for skewness
_ONLY_NAMES = ("vectors:", "python:", "run:")  # of files and objects the name is all that is known
_SAME = 1e-12
HOLM = Rules("holm", 0.05, None)
Progress = Callable[[str, int, int], None]  # progress: what, done, total


@dataclass(frozen=True)
class Ranked:
    """Rank intervals by the name of the row; none where nothing was tested, `why` says so."""

    ranks: Mapping[str, tuple[int, int]]
    why: str | None = None
    n_queries: int | None = None
    n_tests: int = 0


def board_of(
    sources: Sequence[Source],
    *,
    measures: Sequence[str] = (),
    per_pair: bool = False,
    rules: Rules = HOLM,
    seed: int = 0,
    progress: Progress | None = None,
) -> Leaderboard:
    """Make the leaderboard of results that were read; for the arguments see `workflows.leaderboard`."""
    started = time.perf_counter()
    offered = dict.fromkeys(row.measure for source in sources for row in source.results.summary)
    for name in measures:
        if name not in offered:
            hint = did_you_mean(name, offered)
            raise InputError(f"no result has the measure {name!r}.{hint} Measures: {listed(offered)}")
    groups = _ordered(columns_of(sources, measures, per_pair))
    if not groups:
        raise InputError(
            "the results hold no numbers: run an evaluation first, such as 'xlingual evaluate bkr'"
        )
    warnings: dict[str, None] = {}
    names = row_names(groups, warnings)
    columns: list[ResultColumn] = []
    for place, (head, group) in enumerate(zip(column_names(groups), groups, strict=True)):
        if progress is not None:
            progress("comparing encoders", place, len(groups))
        by_row = _one_for_each_row(group, names, head, warnings)
        columns.append(_column(head, by_row, ranked(by_row, rules, seed), set(names.values())))
    means, no_mean = means_of(columns)
    return Leaderboard(
        encoders=_row_order(columns, means),
        columns=columns,
        results=[_record(source) for source in sources],
        means=means,
        no_mean=no_mean,
        correction=rules.correction,
        alpha=rules.alpha,
        seed=seed,
        warnings=list(warnings),
        timings={"leaderboard": time.perf_counter() - started},
    )


def _ordered(columns: Sequence[Sequence[Number]]) -> list[Sequence[Number]]:
    """Sort columns: data with the most encoders, then by task, measure and conditions."""
    tasks, most = list(TASKS), Counter[str]()
    for column in columns:
        most[column[0].data] = max(most[column[0].data], len(column))

    def place(column: Sequence[Number]) -> tuple[object, ...]:
        first = column[0]
        task = tasks.index(first.row.task) if first.row.task in tasks else len(tasks)
        apart = (first.row.measure, -len(column), str(first.key), first.order)
        return -most[first.data], first.data, task, *apart

    return sorted(columns, key=place)


def row_names(columns: Sequence[Sequence[Number]], warnings: dict[str, None]) -> dict[tuple[str, str], str]:
    """Name the rows by encoder and identity; where one name stands for two in one column, with their result.

    Warnings say where that is so, and where the identities of one name differ between columns.
    """
    apart: set[str] = set()
    for column in columns:
        pairs = {(number.row.encoder, number.identity) for number in column}
        apart |= {name for name, n in Counter(name for name, _ in pairs).items() if n > 1}
    names: dict[tuple[str, str], str] = {}
    for number in sorted((number for column in columns for number in column), key=lambda one: one.order):
        name = number.row.encoder
        row = f"{name} ({number.source.name})" if name in apart else name
        names.setdefault((name, number.identity), row)
    for name in sorted({name for name, _ in names}):
        rows = {identity: row for (encoder, identity), row in names.items() if encoder == name}
        identities = [identity for identity in rows if not identity.startswith(_ONLY_NAMES)]
        if name in apart:
            several = f"{len(rows)} different encoders, which have a row each: {listed(rows.values())}"
            warnings[f"{name} is the name of {several}"] = None
        elif len(identities) > 1:
            warnings[
                f"{name} has {len(identities)} identities ({listed(identities)}): its row holds numbers of "
                "all of them; evaluate again with one, or give them names of their own"
            ] = None
    return names


def _one_for_each_row(
    column: Sequence[Number], names: Mapping[tuple[str, str], str], head: str, warnings: dict[str, None]
) -> dict[str, Number]:
    """Choose one number for each row of a column; a warning says where others differ."""
    by_row: dict[str, Number] = {}
    for number in column:
        row = names[number.row.encoder, number.identity]
        first = by_row.setdefault(row, number)
        a, b = first.row.value, number.row.value
        if (a != b) if a is None or b is None else abs(a - b) > _SAME:
            warnings[
                f"{row} was evaluated twice on {head} with different numbers: that of {first.source.folder} "
                f"is shown, not that of {number.source.folder}"
            ] = None
    return by_row


def _column(head: str, by_row: Mapping[str, Number], tests: Ranked, rows: set[str]) -> ResultColumn:
    """Make a column with a cell for every row, the best first."""
    first = next(iter(by_row.values()))
    row, lower = first.row, False
    if row.measure not in CORRELATIONS:
        lower = not parse_measure(row.measure).higher_is_better
    cells = [ResultCell(name, None, note="not evaluated here") for name in rows - set(by_row)]
    for name, number in by_row.items():
        low, high = tests.ranks.get(name, (None, None))
        cells.append(
            ResultCell(
                encoder=name,
                value=number.row.value,
                ci=number.row.ci,
                rank_low=low,
                rank_high=high,
                top=low == 1,
                result=number.source.name,
                cost=convert(dict(number.source.results.costs.get(number.row.encoder, {})), Cost),
                note=number.row.note
                or (None if number.row.value is not None else "evaluated, without a number"),
            )
        )
    sign = 1 if lower else -1
    return ResultColumn(
        name=head,
        data=first.data,
        task=row.task,
        measure=row.measure,
        languages=first.languages,
        conditions=first.shared,
        cells=sorted(cells, key=lambda one: (one.value is None, sign * (one.value or 0.0), one.encoder)),
        chance=min((n.row.chance for n in by_row.values() if n.row.chance is not None), default=None),
        lower_is_better=lower,
        n_parts=len({(entry.source, entry.target) for entry in first.entries}),
        n_seeds=len({entry.seed for entry in first.entries}),
        n_queries=tests.n_queries,
        n_tests=tests.n_tests,
        untested=tests.why,
    )


def _record(source: Source) -> SourceRecord:
    run = source.results
    tasks, date = list(dict.fromkeys(row.task for row in run.summary)), run.run.get("date")
    return SourceRecord(source.name, str(source.folder), tasks, str(date) if date else None, digest_of(run))


def ranked(by_row: Mapping[str, Number], rules: Rules, seed: int) -> Ranked:
    """Find what corrected tests of all pairs leave open about the ranks of a column's encoders.

    Tests are those of `compare`, but for columns of many clusters: there the test by sign flips, which takes
    seconds for each pair, is left to `compare`.
    """
    valued = {row: number for row, number in by_row.items() if number.row.value is not None}
    if len(valued) < 2:
        return Ranked({}, "one encoder alone: there is nothing to compare it with")
    measure = next(iter(valued.values())).row.measure
    try:
        aligned = read_aligned(queries_of(list(valued.values())), measures=[measure])
    except InputError as error:
        return Ranked({}, f"not tested: {error}")
    queries = aligned.queries[0]
    if why := queries.unlike or too_few(queries.n_clusters):
        return Ranked({}, why)
    rows = {(number.source.name, number.row.encoder): row for row, number in valued.items()}
    row_of = {one.label: rows[str(one.folder), one.encoder] for one in aligned.members}
    ends = rank_intervals(queries, _p_values(queries, rules, seed), rules)
    n = len(valued)
    return Ranked({row_of[label]: both for label, both in ends.items()}, None, len(queries), n * (n - 1) // 2)


def _p_values(queries: Queries, rules: Rules, seed: int) -> PairTests:
    n = len(queries.encoders)
    flips, whole = Resampling(None, seed, n * (n - 1) // 2, rules), QuerySubset(queries)
    few = queries.n_clusters < MANY_CLUSTERS
    one_text = [queries.one_retrieved(name) is not None for name in queries.encoders]

    def test(a: str, b: str) -> float:
        pair = queries.paired(a, b)
        if few or queries.one_retrieved(a, b) or t_test(pair)[1] == 0:  # the last is quick: nothing varies
            return flips.test(whole, a, b).p
        return skewed_t_test(pair)

    def bounds(tests: AllPairs, a: int, b: int) -> tuple[float, float] | None:
        return None if few or one_text[a] or one_text[b] else tests.skewed(a, b)

    return pairwise_p(queries, {}, "", rules, test, bounds)


def means_of(columns: Sequence[ResultColumn]) -> tuple[list[Mean], str | None]:
    """Compute means over the columns of each measure, the best first; or say why there is none."""
    by_measure: dict[str, list[ResultColumn]] = {}
    for column in columns:
        by_measure.setdefault(task_of(column.task).measure_name(column.measure), []).append(column)
    means: list[Mean] = []
    reasons = []
    for name, alike in by_measure.items():
        if len(alike) < 2:
            continue
        values = [{cell.encoder: cell.value or 0.0 for cell in column.known} for column in alike]
        everywhere = [encoder for encoder in values[0] if all(encoder in column for column in values)]
        if unlike := [column.name for column in alike if not _share(column)]:
            reasons.append(f"values of {listed(unlike)} are not shares between 0 and 1")
        elif len(everywhere) < 2:
            who = f"only {everywhere[0]}" if everywhere else "no encoder"
            reasons.append(
                f"{who} has a value in all {len(alike)} columns, and means over different columns mislead"
            )
        else:
            of_measure = [
                Mean(e, name, sum(column[e] for column in values) / len(values)) for e in everywhere
            ]
            means += sorted(of_measure, key=lambda mean: (-mean.value, mean.encoder))
    several = "each column has another measure, and a mean is over one"
    reasons = ["there is one column"] if len(columns) < 2 else reasons or [several]
    return means, None if means else reasons[0]


def _share(column: ResultColumn) -> bool:
    if column.measure in CORRELATIONS or column.lower_is_better:
        return False
    return parse_measure(column.measure).bounds == (0, 1)


def _row_order(columns: Sequence[ResultColumn], means: Sequence[Mean]) -> list[str]:
    """Order the rows by their means over one measure if all have one, else by the fullest columns first."""
    rows = {cell.encoder for cell in columns[0].cells}
    if len(means) == len(rows) and len({mean.measure for mean in means}) == 1:
        return [mean.encoder for mean in means]
    orders = [
        {cell.encoder: place for place, cell in enumerate(column.known)}
        for column in sorted(columns, key=lambda column: -len(column.known))
    ]
    return sorted(rows, key=lambda row: ([order.get(row, len(rows)) for order in orders], row))
