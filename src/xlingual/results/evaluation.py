"""Results: what an evaluation found, with an interval on every number, in memory and on disk.

A folder of results holds `results.json` (schema `xlingual/results/1`), `per_query.parquet` (the sufficient
statistics) and `examples.parquet` (texts and thumbnails for the report). They are written together: a crash
leaves the old result or the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from xlingual.arrow import from_strings
from xlingual.errors import InputError, XlingualError, did_you_mean, listed
from xlingual.notebook import html_of
from xlingual.results.digest import digest_of
from xlingual.results.document import RequestRecord, RunOf, plain, remedy
from xlingual.results.entries import Entry, Summary
from xlingual.results.files import DIGESTS, REPORT, read_json, write_together
from xlingual.results.kinds import KINDS
from xlingual.results.provenance import Provenance, ProvenanceOf, note_result
from xlingual.results.tables import EXAMPLES, PER_QUERY, TABLES, file_of, read_tables, write_table
from xlingual.results.values import Count, Number, Whole, about, among
from xlingual.results.views import tagged, untagged
from xlingual.signature import Signature
from xlingual.typed import convert
from xlingual.visible import visible

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "xlingual/results/1"


class Dropped(Struct, frozen=True):
    """How many texts were left out: for a broken image, or for lack of a pair to evaluate."""

    texts: Annotated[Count | UnsetType, about("Texts of the requested languages that were left out.")] = UNSET
    of: Annotated[Count | UnsetType, about("Texts of these languages.")] = UNSET


class Diagnostics(Struct, frozen=True):
    """How ranks were found; may differ between back ends, which give the same results."""

    near_duplicates: Annotated[
        dict[str, Any] | UnsetType,
        about("Near-equal texts and images of different items: how many, and the thresholds."),
    ] = UNSET
    items: Annotated[Count | UnsetType, about("Items of the evaluated languages.")] = UNSET
    items_with_both: Annotated[
        Count | UnsetType, about("Of these, items with texts in both languages of an evaluated pair.")
    ] = UNSET
    pairs_screened: Annotated[Whole | UnsetType, about("Pairs of vectors whose score was estimated.")] = UNSET
    pairs_decided: Annotated[Whole | UnsetType, about("Pairs scored in float64, to be exact.")] = UNSET
    ranking: Annotated[
        dict[str, str | Number | Whole] | UnsetType,
        about("The ranker: its backend and settings (device, precision …)."),
    ] = UNSET


class EncoderKind(Struct, frozen=True):
    """Known properties of an encoder."""

    trained_on_images: Annotated[bool | UnsetType, about("Whether the model was trained on images too.")] = (
        UNSET
    )
    kind: Annotated[
        Annotated[str, among(*KINDS)] | UnsetType,
        about(
            "general: pretrained elsewhere; fitted: on texts of the domain; surface: it compares letters or "
            "words, or nothing."
        ),
    ] = UNSET
    returns_lists: Annotated[
        bool | UnsetType, about("Whether it is no encoder but a search system, judged by its lists.")
    ] = UNSET


class Cost(Struct, frozen=True):
    """What a system costs; only what is known."""

    latency_ms: Annotated[Number | UnsetType, about("Latency of a query, in milliseconds.")] = UNSET
    texts_per_second: Annotated[
        Number | UnsetType,
        about(
            "Texts a second that an encoder encoded in this run, on its machine; absent where all vectors "
            "were there already."
        ),
    ] = UNSET
    dimensions: Annotated[Count | UnsetType, about("Dimensions of a vector.")] = UNSET
    bytes_per_text: Annotated[
        Number | UnsetType,
        about("Bytes of a text's vector, or the mean of its vectors', as they are compared."),
    ] = UNSET


class ResultsFile(Struct, frozen=True, tag_field="schema", tag=SCHEMA):
    """What `results.json` holds."""

    results: Annotated[list[Entry], about("One entry per encoder, language pair, measure and seed.")]
    summary: Annotated[list[Summary], about("Means of the results.")]
    timings: Annotated[
        dict[str, Number],
        about("Seconds by stage, and other figures of the run; all that differs between equal runs."),
    ]
    warnings: Annotated[list[str], about("Warnings about the data, one sentence each.")] = []
    dropped: Annotated[Dropped, about("How many texts were left out; empty where none was.")] = Dropped()
    diagnostics: Annotated[Diagnostics, about("How ranks were found.")] = Diagnostics()
    truncated: Annotated[
        dict[str, dict[str, Count]],
        about("Number of texts that were cut, by encoder, then language; only encoders that report it."),
    ] = {}
    encoders: Annotated[
        dict[str, EncoderKind], about("Known properties by encoder; encoders without any are left out.")
    ] = {}
    costs: Annotated[
        dict[str, Cost],
        about("What each system costs; speeds and latencies differ between equal runs, as timings do."),
    ] = {}
    request: RequestRecord | UnsetType = UNSET
    provenance: ProvenanceOf | UnsetType = UNSET
    run: RunOf | UnsetType = UNSET
    files: Annotated[
        dict[str, Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]] | UnsetType,
        about("SHA-256 of each file beside this one; absent in --json."),
    ] = UNSET


@dataclass
class Results:
    """Everything an evaluation found.

    `entries` holds one number per encoder, pair, measure and seed; `summary` their means; `per_query` (Arrow)
    the values that they are means of; `examples` (Arrow, may be None) the texts and thumbnails of the report.
    """

    entries: list[Entry]
    summary: list[Summary]
    per_query: pa.Table
    examples: pa.Table | None = None
    warnings: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)  # texts left out, of how many; {} if none
    timings: dict[str, float] = field(default_factory=dict)
    diagnostics: dict[str, Any] = field(default_factory=dict)  # pairs screened and decided, the ranker
    truncated: dict[str, dict[str, int]] = field(default_factory=dict)  # encoder → language → texts cut
    encoders: dict[str, dict[str, Any]] = field(default_factory=dict)  # their known properties
    costs: dict[str, dict[str, float]] = field(default_factory=dict)  # of each system, what is known
    tables: dict[str, pa.Table] = field(default_factory=dict)  # further ones, each a file NAME.parquet
    request: dict[str, Any] = field(default_factory=dict)  # how it was made
    provenance: Provenance | None = None  # from what it was made
    run: dict[str, Any] = field(default_factory=dict)  # circumstances that change no number
    data: Any = field(default=None, repr=False, compare=False)  # what was evaluated; in memory only

    def _repr_html_(self) -> str | None:
        return html_of(self)

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
            "results": [untagged(plain(entry)) for entry in self.entries],
            "summary": [untagged(plain(row)) for row in self.summary],
            **{name: plain(getattr(self, name)) for name in _BESIDE},
            **{name: plain(part) for name in _MADE if (part := getattr(self, name))},
        }

    def only(self, *encoders: str) -> Results:
        """Return the results of some encoders alone; raise InputError where one is not there."""
        known = list(dict.fromkeys(entry.encoder for entry in self.entries))
        for name in encoders:
            if name not in known:
                raise InputError(
                    f"no encoder {name!r}.{did_you_mean(name, known)} Encoders: {listed(known, 30)}"
                )
        import pyarrow as pa
        import pyarrow.compute as pc

        def rows(table: pa.Table) -> pa.Table:
            if "encoder" not in table.schema.names:
                return table
            return table.filter(
                pc.is_in(table["encoder"].cast(pa.string()), from_strings(encoders, pa.string()))
            )

        return replace(
            self,
            entries=[entry for entry in self.entries if entry.encoder in encoders],
            summary=[row for row in self.summary if row.encoder in encoders],
            per_query=rows(self.per_query),
            examples=None if self.examples is None else rows(self.examples),
            tables={name: rows(table) for name, table in self.tables.items()},
            truncated={name: found for name, found in self.truncated.items() if name in encoders},
            encoders={name: found for name, found in self.encoders.items() if name in encoders},
            costs={name: found for name, found in self.costs.items() if name in encoders},
        )

    def vectors_of(self, encoder: str) -> str | None:
        """Return a digest of the vectors of an encoder as they were evaluated, None where it is not known."""
        known = self.run.get("vectors")
        found = known.get(f"text encoder {encoder!r}") if isinstance(known, dict) else None
        return found if isinstance(found, str) else None

    def refuse_other_data(self, digest: str, source: str) -> None:
        """Raise InputError where data with a digest are not those of the results."""
        conditions = [dict(Signature.parse(entry.signature).conditions) for entry in self.entries]
        wanted = sorted({one["data"] for one in conditions if "data" in one})
        if digest[:12] not in wanted:
            raise InputError(
                f"{source} is not the data of these results: its digest is {digest[:12]}, theirs "
                f"{listed(wanted)}: give the same file, split, rows and columns"
            )

    def to_pandas(self) -> Any:  # noqa: ANN401  (pandas is not a dependency)
        """Return the entries as a pandas DataFrame; pandas must be installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise XlingualError("to_pandas() needs pandas: pip install pandas") from error
        flat = []
        for entry in self.entries:
            row = untagged(plain(entry))
            interval = row.pop("ci") or {}
            flat.append(row | {"ci_low": interval.get("low"), "ci_high": interval.get("high")})
        return pd.DataFrame(flat)

    def write(self, folder: str | Path) -> None:
        """Write the files into `folder` (made if need be): a crash leaves the old result or the new one.

        A report of an earlier result is removed; `xlingual.write_report(results, FILE)` writes one.
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
        """Read a folder of results, or its results.json under another name; raise InputError otherwise."""
        path, made_by = Path(folder), "xlingual evaluate … --out DIR"
        path = path if path.is_file() else path / "results.json"
        content = read_json(path, SCHEMA, made_by)
        rows = {name: content[name] for name in ("results", "summary") if isinstance(content.get(name), list)}
        written = dict(content)
        content |= {name: [tagged(row) for row in found] for name, found in rows.items()}
        found = convert(content, ResultsFile, where=str(path), remedy=remedy(made_by))
        measured = {(row.task, row.encoder) for row in found.results}
        for row in found.summary:
            if (row.task, row.encoder) not in measured:
                raise InputError(
                    f"{path}: 'results' has no number of {row.encoder!r} in {row.task}, but 'summary' has "
                    "one: run it again"
                )
        tables = read_tables(path.parent, content.get(DIGESTS, {}))
        per_query = tables.pop(PER_QUERY)
        beside = {name: content[name] for name in (*_BESIDE, *_MADE) if name in content}
        beside["provenance"] = found.provenance or None
        read = cls(
            found.results, found.summary, per_query, tables.pop(EXAMPLES, None), tables=tables, **beside
        )
        note_result(SCHEMA, path, read, lambda: digest_of(written, per_query))
        return read


_BESIDE = (
    "warnings",
    "dropped",
    "diagnostics",
    "truncated",
    "encoders",
    "costs",
    "timings",
)  # in the file's order
_MADE = ("request", "provenance", "run")


def _value_text(row: Summary) -> str:
    if row.value is None:
        return f"– ({row.note})"
    interval = f" [{row.ci.low:.3f}, {row.ci.high:.3f}]" if row.ci else ""
    return f"{row.value:.3f}{interval}"


def by_key(rows: Sequence[Entry] | Sequence[Summary], **wanted: object) -> list[Any]:
    """Return the rows whose fields equal the wanted values."""
    return [row for row in rows if all(getattr(row, key) == value for key, value in wanted.items())]
