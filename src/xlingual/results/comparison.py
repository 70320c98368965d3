"""What a comparison found: differences between encoders on the same queries, and what may be said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xlingual.results.evaluation import Interval
from xlingual.results.files import read_json, write_json
from xlingual.results.reading import fields_of, record, refuse_unknown

SCHEMA = "xlingual/comparison/1"
FILE = "comparison.json"
_MADE_BY = "xlingual compare … --out DIR"

BASELINE = "baseline"
BETTER = "better"
WORSE = "worse"
EQUIVALENT = "equivalent"  # shown to be within the margin
NO_DIFFERENCE = "no difference found"  # neither shown to differ nor to be equal
CANNOT_TELL = "cannot tell"  # the data does not allow a test
OUTCOMES = (BASELINE, BETTER, WORSE, EQUIVALENT, NO_DIFFERENCE, CANNOT_TELL)


@dataclass(frozen=True)
class Compared:
    """One encoder against the baseline; what concerns a difference is None for the baseline itself."""

    encoder: str
    value: float
    difference: float | None  # its value less the baseline's
    ci: Interval | None  # of the difference, not corrected for the number of comparisons
    p: float | None  # two-sided
    p_adjusted: float | None
    p_equivalent: float | None  # adjusted, of two one-sided tests; None without a margin
    outcome: str
    rank_low: int | None  # ranks that the corrected tests of all pairs of encoders leave open
    rank_high: int | None
    note: str | None = None

    @property
    def top(self) -> bool:
        """Whether no encoder is shown to be better, be it in the ranks or by the test of the table."""
        return self.rank_low == 1 and self.outcome != WORSE


@dataclass(frozen=True)
class Board:
    """All encoders on one set of queries, best first.

    `source` and `target` name a language pair, `column` and `label` a slice; None: all queries.
    """

    task: str
    measure: str
    source: str | None
    target: str | None
    column: str | None
    label: str | None
    baseline: str
    n_queries: int  # answered, over all pairs and seeds
    n_clusters: int
    n_pairs: int
    n_seeds: int
    chance: float | None  # None for slices
    rows: list[Compared]
    replicates: int  # of each test
    n_tests: int  # that the correction of `p_adjusted` counted; against a leader those of all pairs
    n_rank_tests: int  # that the correction of rank intervals counted; 0 where there are none

    @property
    def overall(self) -> bool:
        """Whether the board is about all queries."""
        return self.source is None and self.column is None


@dataclass
class Comparison:
    """A comparison of encoders: for each task and measure a board over all queries, then those of parts."""

    folders: list[str]
    baseline_given: bool  # False: each measure's leader is the baseline
    correction: str  # holm, bh or none
    alpha: float
    margin: float | None
    seed: int
    conditions: dict[str, str]  # shared by all numbers
    boards: list[Board]
    notes: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what `comparison.json` holds."""
        content = {"schema": SCHEMA} | asdict(self)
        for board, own in zip(content["boards"], self.boards, strict=True):
            for row, compared in zip(board["rows"], own.rows, strict=True):
                row["top"] = compared.top
        return content

    def write(self, folder: str | Path) -> None:
        """Write `comparison.json` into `folder` (made if need be), atomically."""
        write_json(Path(folder) / FILE, self.to_dict())

    @classmethod
    def read(cls, path: str | Path) -> Comparison:
        """Read `comparison.json` or the folder that holds it; raise InputError where it is not one."""
        path = Path(path)
        path = path / FILE if path.is_dir() else path
        content = read_json(path, SCHEMA, _MADE_BY)
        with fields_of(path, _MADE_BY):
            found = record(cls, content, boards=[_board(row) for row in content["boards"]])
        for board in found.boards:
            encoders = (row.encoder for row in board.rows)
            refuse_unknown(path, [board.baseline], encoders, "the encoders of its board", _MADE_BY)
        return found


def _board(content: Mapping[str, Any]) -> Board:
    return record(Board, content, rows=[record(Compared, row) for row in content["rows"]])
