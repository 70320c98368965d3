"""What a gate decided about a candidate that must be no worse than a baseline by more than a margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xlingual.results.evaluation import Interval
from xlingual.results.files import read_json, write_json
from xlingual.results.reading import fields_of, record

SCHEMA = "xlingual/gate/1"
PASS, FAIL, UNDECIDED = "pass", "fail", "cannot tell"  # outcomes
FILE = "gate.json"
_MADE_BY = "xlingual gate … --out DIR"


@dataclass(frozen=True)
class Needed:
    """How many queries would decide, if the true difference were `difference`, with the gate's power."""

    difference: float  # supposed: candidate minus baseline
    outcome: str  # what such a difference is to be shown as: pass or fail
    queries: int | None  # for each language pair; None where no number would do
    more: int | None  # beyond those there are; 0 where there are enough already
    note: str | None = None  # why there is no number, or what is supposed of further queries instead of power


@dataclass(frozen=True)
class Decision:
    """The decision on one language pair or other slice, or on all together (source and target None)."""

    source: str | None
    target: str | None
    outcome: str
    candidate: float  # value of the measure
    baseline: float
    difference: float  # candidate minus baseline
    ci: Interval  # two-sided, level 1 − alpha
    low: float  # lower end of the one-sided 1 − alpha interval
    p_pass: float  # of "worse by the margin or more"
    p_fail: float  # of "not worse by more than the margin"
    p_fail_adjusted: float  # the same after Holm's correction over slices
    n_queries: int  # distinct queries, for each language pair
    n_clusters: int
    if_observed: Needed | None  # only where it cannot be told
    if_equal: Needed | None
    note: str | None = None
    part: str | None = None  # label of the slice that is decided, where the gate divides queries by a column

    @property
    def better(self) -> bool:
        """Whether the candidate is better than the baseline."""
        return self.ci.low > 0

    @property
    def worse(self) -> bool:
        """Whether the candidate is worse than the baseline, be it by little."""
        return self.ci.high < 0


@dataclass(frozen=True)
class Gate:
    """A gate: its outcome and the decisions it follows from (one, or one for each pair or other slice)."""

    outcome: str
    task: str
    measure: str
    candidate: str
    baseline: str
    margin: float
    alpha: float
    power: float  # of the numbers of queries that would decide
    per_pair: bool
    pairs: list[str]  # language pairs that took part: "en-de"
    n_seeds: int
    decisions: list[Decision]
    conditions: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    seed: int = 0
    replicates: int = 0
    by: str | None = None  # column by whose labels queries are divided

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as JSON holds it."""
        return {"schema": SCHEMA} | asdict(self)

    def write(self, path: str | Path) -> None:
        """Write the gate as JSON to the file `path`, atomically."""
        write_json(Path(path), self.to_dict())

    @classmethod
    def read(cls, path: str | Path) -> Gate:
        """Read a file of `write` or `--json`, or the folder of `--out`; raise InputError where it is none."""
        path = Path(path)
        path = path / FILE if path.is_dir() else path
        content = read_json(path, SCHEMA, _MADE_BY)
        with fields_of(path, _MADE_BY):
            return record(cls, content, decisions=[_decision(row) for row in content["decisions"]])


def _decision(row: Mapping[str, Any]) -> Decision:
    needed = {
        name: None if row[name] is None else record(Needed, row[name]) for name in ("if_observed", "if_equal")
    }
    return record(Decision, row, **needed)
