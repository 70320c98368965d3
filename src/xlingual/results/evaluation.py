"""Results: what an evaluation found, with an interval on every number, in memory and on disk.

A folder of results holds `results.json` (schema `xlingual/results/1`), `per_query.parquet` (the sufficient
statistics) and `examples.parquet` (texts and thumbnails for the report). They are written together: a crash
leaves the old result or the new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError, XlingualError
from xlingual.results.conventions import remarks
from xlingual.results.files import REPORT, read_json
from xlingual.results.folder import DIGESTS, write_together
from xlingual.results.tables import EXAMPLES, PER_QUERY, TABLES, file_of, read_tables, write_table
from xlingual.visible import visible

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "xlingual/results/1"


@dataclass(frozen=True)
class Interval:
    """Where the number would land for another sample of the same sizes from the same source."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True)
class Approximation:
    """How a number was found without ranking everything, and how far it may be off.

    By a search: `search`, `depth`, and what the `n_checked` queries that were evaluated exactly as well say.
    By a uniform sample of the candidates: `candidates`, their number.
    """

    search: str | None
    depth: int | None
    candidates: int | None
    n_checked: int | None
    recall_nearest: float | None  # share of the checked queries whose nearest text was found
    recall_way_back: float | None  # share of the true nearest pictures that were found; Backretrieval
    difference: float | None  # approximate − exact, over the checked queries
    ci: Interval | None  # of the difference
    error: float  # the value is not further off than this, at the level of the interval
    oracle_error: float | None = None


@dataclass(frozen=True)
class Entry:
    """One number: an encoder, a language pair, a measure and a seed. None where a key does not apply."""

    task: str
    source: str
    target: str
    encoder: str
    image_encoder: str | None
    measure: str
    value: float | None
    ci: Interval | None
    chance: float | None
    oracle: float | None
    ceiling: float | None
    normalized: float | None
    n_source: int
    n_target: int
    n_tied: int | None
    seed: int
    signature: str
    note: str | None = None  # why a number is missing
    views: Mapping[str, Any] | None = None  # of some tasks: docs/{multilingual-pool,image-sentence,sts}.md
    approximation: Approximation | None = None  # None: found by exact ranking


@dataclass(frozen=True)
class Behind:
    """How far an encoder is behind the leading one, on the same queries: leader's value minus its own."""

    leader: str
    value: float
    ci: Interval
    error: float | None = None  # how far an approximate difference may be off; None: it is exact


@dataclass(frozen=True)
class EstimatedXLR:
    """The true retrieval (XLR) that a BkR stands for by a calibration; `ci` is a prediction interval."""

    value: float
    ci: Interval | None
    note: str | None = None  # why there is no interval, or what speaks against the value
    measure: str | None = None  # of XLR, where it is not called as that of BkR: Success@10


@dataclass(frozen=True)
class Summary:
    """Mean over seeds of one pair, or (source and target None) over seeds and pairs."""

    task: str
    source: str | None
    target: str | None
    encoder: str
    image_encoder: str | None
    measure: str
    value: float | None
    ci: Interval | None
    chance: float | None
    oracle: float | None
    ceiling: float | None
    normalized: float | None
    n_pairs: int
    n_seeds: int
    sd_seeds: float | None  # spread over seeds; overlapping samples, so never divided into an interval
    behind: Behind | None
    note: str | None = None
    estimated_xlr: EstimatedXLR | None = None  # with a calibration
    views: Mapping[str, Any] | None = None  # of image–sentence ranking: see docs/image-sentence.md
    approximation: Approximation | None = None  # None: means of exact numbers alone
    # holds its target at once with those of all encoders (of a pair: and pairs); None: `ci` stands alone
    ci_simultaneous: Interval | None = None


@dataclass
class Results:
    """Everything an evaluation found.

    `entries` holds one number per encoder, pair, measure and seed; `summary` their means; `per_query` (Arrow)
    what they are means of; `examples` (Arrow, may be None) what the report shows.
    """

    entries: list[Entry]
    summary: list[Summary]
    per_query: pa.Table
    examples: pa.Table | None = None
    warnings: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)  # texts that take no part, of; {} where all do
    timings: dict[str, float] = field(default_factory=dict)
    diagnostics: dict[str, Any] = field(default_factory=dict)  # pairs screened and decided, what ranked
    truncated: dict[str, dict[str, int]] = field(default_factory=dict)  # encoder → language → texts cut
    encoders: dict[str, dict[str, bool]] = field(default_factory=dict)  # what is known of their kinds
    tables: dict[str, pa.Table] = field(default_factory=dict)  # further ones, each a file NAME.parquet

    def __repr__(self) -> str:
        overall = [s for s in self.summary if s.source is None] or self.summary
        lines = [f"Results: {len(self.entries)} numbers"]
        names = [visible(s.encoder) for s in overall]
        width = max(map(len, names), default=0)
        named = max((len(s.measure) for s in overall), default=0)
        for row, name in zip(overall, names, strict=True):
            lines.append(f"  {row.task}  {name:<{width}}  {row.measure:<{max(named, 5)}} {_value_text(row)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return what `results.json` holds."""
        return {
            "schema": SCHEMA,
            "results": [asdict(entry) for entry in self.entries],
            "summary": [asdict(row) for row in self.summary],
            "warnings": list(self.warnings),
            "dropped": dict(self.dropped),
            "diagnostics": dict(self.diagnostics),
            "truncated": {encoder: dict(counts) for encoder, counts in self.truncated.items()},
            "encoders": {encoder: dict(kind) for encoder, kind in self.encoders.items()},
            "timings": dict(self.timings),
        }

    def to_pandas(self) -> Any:  # noqa: ANN401  (pandas is not a dependency)
        """Return the entries as a pandas DataFrame; pandas must be installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise XlingualError("to_pandas() needs pandas: pip install pandas") from error
        flat = []
        for entry in self.entries:
            row = asdict(entry)
            interval = row.pop("ci") or {}
            flat.append(row | {"ci_low": interval.get("low"), "ci_high": interval.get("high")})
        return pd.DataFrame(flat)

    def write(self, folder: str | Path) -> None:
        """Write the files into `folder` (made if need be): a crash leaves the old result or the new one.

        A report of an earlier result is removed.
        """
        tables: dict[str, pa.Table | None] = {PER_QUERY: self.per_query, EXAMPLES: self.examples}
        tables |= {name: self.tables.get(name) for name in TABLES}
        parts = {
            file_of(name): partial(write_table, table) for name, table in tables.items() if table is not None
        }
        write_together(
            folder,
            "results.json",
            self.to_dict(),
            parts,
            derived=(REPORT,),
            obsolete=map(file_of, tables),
        )

    @classmethod
    def read(cls, folder: str | Path) -> Results:
        """Read a folder of results; raise InputError where it is not one or has another schema."""
        folder = Path(folder)
        content = read_json(folder / "results.json", SCHEMA, "xlingual evaluate … --out DIR")
        measured = {(row["task"], row["encoder"]) for row in content["results"]}
        for row in content["summary"]:
            if (row["task"], row["encoder"]) not in measured:
                raise InputError(
                    f"{folder / 'results.json'}: 'results' has no number of {row['encoder']!r} in "
                    f"{row['task']}, but 'summary' has one: run it again"
                )
        tables = read_tables(folder, content.get(DIGESTS))
        entries = [_record(Entry, row) for row in content["results"]]
        per_query = tables.pop(PER_QUERY)
        return cls(
            entries=entries,
            summary=[_record(Summary, row) for row in content["summary"]],
            per_query=per_query,
            examples=tables.pop(EXAMPLES, None),
            warnings=list(dict.fromkeys([*content.get("warnings", []), *remarks(entries, per_query)])),
            dropped=dict(content.get("dropped", {})),
            timings=dict(content.get("timings", {})),
            diagnostics=dict(content.get("diagnostics", {})),
            truncated={name: dict(counts) for name, counts in content.get("truncated", {}).items()},
            encoders={name: dict(kind) for name, kind in content.get("encoders", {}).items()},
            tables=tables,
        )


def _record(kind: type[Any], row: Mapping[str, Any]) -> Any:  # noqa: ANN401  (Entry or Summary)
    """Build a record from JSON; keys that a later version added are passed over."""
    known = {f.name for f in fields(kind)}
    values = {key: value for key, value in row.items() if key in known}
    for name, inner in _INNER:
        if values.get(name):
            values[name] = _record(inner, values[name])
    return kind(**values)


_INNER: Sequence[tuple[str, type[Any]]] = (
    ("ci", Interval),
    ("ci_simultaneous", Interval),
    ("behind", Behind),
    ("estimated_xlr", EstimatedXLR),
    ("approximation", Approximation),
)


def _value_text(row: Summary) -> str:
    if row.value is None:
        return f"– ({row.note})"
    interval = f" [{row.ci.low:.3f}, {row.ci.high:.3f}]" if row.ci else ""
    off = "" if row.approximation is None else f", off by up to {row.approximation.error:.2g}"
    return f"{row.value:.3f}{interval}{off}"


def by_key(rows: Sequence[Entry] | Sequence[Summary], **wanted: object) -> list[Any]:
    """Return the rows whose fields equal the wanted values."""
    return [row for row in rows if all(getattr(row, key) == value for key, value in wanted.items())]
