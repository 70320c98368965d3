"""The rows and columns of a leaderboard: names that set apart what differs, and means over columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlingual.comparison.board_cells import Number
from xlingual.errors import listed
from xlingual.measures import parse_measure
from xlingual.results.leaderboard import Mean, ResultCell, ResultColumn
from xlingual.tasks import CORRELATIONS, task_of

Names = Mapping[tuple[str, str], str]  # encoder and identity → the name of its row
_UNKNOWN = ("vectors:", "python:", "run:")  # of files and objects the name is all that is known
_SAME = 1e-12
# conditions that the name of a column says already, or that mean nothing to people
_SAID = ("task", "measure", "conventions", "ties")


def row_names(columns: Sequence[Sequence[Number]], warnings: dict[str, None]) -> Names:
    """Return the names of rows: of encoders, with their result where one name stands for two in one column.

    Warnings say where that is so, and where the identities of one name differ between columns.
    """
    numbers = [number for column in columns for number in column]
    apart = {
        number.encoder
        for column in columns
        for number in column
        for other in column
        if number.encoder == other.encoder and number.identity != other.identity
    }
    found: dict[tuple[str, str], str] = {}
    for number in sorted(numbers, key=lambda one: one.order):
        name = f"{number.encoder} ({number.given.name})" if number.encoder in apart else number.encoder
        found.setdefault((number.encoder, number.identity), name)
    for name in sorted(apart):
        rows = [row for (encoder, _), row in found.items() if encoder == name]
        warnings[
            f"{name} is the name of {len(rows)} different encoders, which have a row each: {listed(rows)}"
        ] = None
    for name in sorted({encoder for encoder, _ in found} - apart):
        known = [identity for encoder, identity in found if encoder == name]
        own = [identity for identity in known if not identity.startswith(_UNKNOWN)]
        if len(own) > 1:
            warnings[
                f"{name} has {len(own)} identities ({listed(own)}): its row holds numbers of all of them; "
                "evaluate again with one, or give them names of their own"
            ] = None
    return found


def once(column: Sequence[Number], names: Names, head: str, warnings: dict[str, None]) -> list[Number]:
    """Return one number for each row of a column; a warning says where others were dropped that differ."""
    found: dict[str, Number] = {}
    for number in column:
        row = names[number.encoder, number.identity]
        first = found.setdefault(row, number)
        one, other = first.value, number.value
        differ = one != other if one is None or other is None else abs(one - other) > _SAME
        if differ:
            warnings[
                f"{row} was evaluated twice on {head} with different numbers: that of {first.given.folder} "
                f"is shown, not that of {number.given.folder}"
            ] = None
    return list(found.values())


def column_names(columns: Sequence[Sequence[Number]], per_pair: bool) -> list[str]:
    """Return the heads of columns: data, measure, and the conditions that set equal ones apart."""
    first = [column[0] for column in columns]
    plain = [" · ".join(_named(number, per_pair)) for number in first]
    found = []
    for number, name in zip(first, plain, strict=True):
        same = [other for other, its in zip(first, plain, strict=True) if its == name]
        found.append(" · ".join([name, *(_setting_apart(number, same) if len(same) > 1 else [])]))
    return [
        f"{name} ({found[:place].count(name) + 1})" if found.count(name) > 1 else name
        for place, name in enumerate(found)
    ]


def _named(number: Number, per_pair: bool) -> list[str]:
    pairs = {(entry.source, entry.target) for entry in number.entries}
    task = task_of(number.task)
    one = "→".join(next(iter(pairs))) if len(pairs) == 1 and not task.whole else ""
    return [number.data, task.measure_name(number.measure), *filter(None, [one])]


def _setting_apart(number: Number, same: Sequence[Number]) -> list[str]:
    """Return the conditions in which columns of one name differ, with their values."""
    values = [_values(one) for one in same]
    keys = [
        key
        for key in dict.fromkeys(k for one in values for k in one)
        if len({v.get(key) for v in values}) > 1
    ]
    own = _values(number)
    return [f"{key} {own.get(key, '–')}" for key in keys if key not in _SAID][:2]


def _values(number: Number) -> dict[str, str]:
    """Return each condition with its values, of which there may be as many as there are samples."""
    found: dict[str, dict[str, None]] = {}
    for one in number.conditions:
        for key, value in one.items():
            found.setdefault(key, {})[value] = None
    return {key: listed(sorted(own), 3) for key, own in found.items()}


def shared_conditions(number: Number) -> dict[str, str]:
    """Return the conditions that all samples of a number share."""
    first = number.conditions[0]
    return {k: v for k, v in first.items() if all(one.get(k) == v for one in number.conditions)}


def lower_is_better(number: Number) -> bool:
    """Return whether lower values of a column are better."""
    if number.measure in CORRELATIONS:
        return False
    return not parse_measure(number.measure).higher_is_better


def means_of(columns: Sequence[ResultColumn]) -> tuple[list[Mean], str | None]:
    """Return means over the columns of each measure, the best first; and why there is none."""
    by_measure: dict[str, list[ResultColumn]] = {}
    for column in columns:
        by_measure.setdefault(task_of(column.task).measure_name(column.measure), []).append(column)
    means, reasons = [], []
    for name, alike in by_measure.items():
        of_measure, reason = _means(name, alike)
        means += of_measure
        reasons += [reason] if reason else []
    if means or len(columns) < 2:
        return means, None if means else "there is one column"
    several = "each column has another measure, and a mean is over one"
    return [], several if len(by_measure) == len(columns) else reasons[0]


def _means(name: str, columns: Sequence[ResultColumn]) -> tuple[list[Mean], str | None]:
    """Return the means over columns of one measure, or why there is none."""
    if len(columns) < 2:
        return [], None
    if unlike := [column.name for column in columns if not _share(column)]:
        return [], f"values of {listed(unlike)} are not shares between 0 and 1"
    values = [
        {cell.encoder: cell.value for cell in column.known if cell.value is not None} for column in columns
    ]
    everywhere = [encoder for encoder in values[0] if all(encoder in column for column in values)]
    if len(everywhere) < 2:
        who = f"only {everywhere[0]}" if everywhere else "no encoder"
        return [], (
            f"{who} has a value in all {len(columns)} columns, and means over different columns mislead"
        )
    means = [
        Mean(encoder, name, sum(column[encoder] for column in values) / len(values)) for encoder in everywhere
    ]
    return sorted(means, key=lambda mean: (-mean.value, mean.encoder)), None


def row_order(columns: Sequence[ResultColumn], means: Sequence[Mean], rows: set[str]) -> list[str]:
    """Return the rows by their means over one measure if all have one, else by the fullest columns first."""
    if len(means) == len(rows) and len({mean.measure for mean in means}) == 1:
        return [mean.encoder for mean in means]
    fullest = sorted(columns, key=lambda column: -len(column.known))  # stable
    places: dict[str, tuple[float, ...]] = {}
    for row in rows:
        own = [[cell.encoder for cell in _best_first(column)] for column in fullest]
        places[row] = tuple(one.index(row) if row in one else float("inf") for one in own)
    return sorted(rows, key=lambda row: (places[row], row))


def _best_first(column: ResultColumn) -> list[ResultCell]:
    sign = 1 if column.lower_is_better else -1
    return sorted(column.known, key=lambda cell: (sign * (cell.value or 0.0), cell.encoder))


def _share(column: ResultColumn) -> bool:
    if column.measure in CORRELATIONS or column.lower_is_better:
        return False
    return parse_measure(column.measure).bounds == (0, 1)
