"""How many queries would show a difference, and what difference so many queries can show."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xlingual.results.evaluation import Interval
from xlingual.results.files import read_json, write_json
from xlingual.results.reading import fields_of, record

SCHEMA = "xlingual/plan/1"
FILE = "plan.json"
_MADE_BY = "xlingual plan … --out DIR"
_ALONE = 0.9  # clusters to a query, beyond which queries are as good as independent


@dataclass(frozen=True)
class AtSize:
    """What a number of queries can show."""

    queries: int  # distinct queries for each language pair
    detectable: float | None  # smallest true difference shown with the plan's power; None: not even the span
    power: float  # for the plan's effect


@dataclass(frozen=True)
class Row:
    """One encoder against the baseline."""

    encoder: str
    value: float
    difference: float  # encoder minus baseline
    ci: Interval
    variance_own: float  # of the difference at the queries there are: shrinks as 1/N
    variance_shared: float  # from targets that several queries retrieve: stays at a fixed pool
    queries: int | None  # for each language pair, to show the effect; None with a note
    detectable: float | None  # with the queries there are; None as in `AtSize`
    limit: float | None  # what no number of queries at this pool goes below; None as in `AtSize`
    sizes: list[AtSize]
    note: str | None = None

    @property
    def planned(self) -> bool:
        """Whether there is a variance to plan with; without one the note says why."""
        return self.variance_own + self.variance_shared > 0


@dataclass(frozen=True)
class Plan:
    """A plan for one task and measure at a fixed pool."""

    task: str
    measure: str
    baseline: str
    baseline_value: float
    effect: float
    power: float
    alpha: float
    n_queries: int  # distinct queries for each language pair
    n_pairs: int
    n_seeds: int
    pool: int  # candidates that a rank is counted among (mean over samples)
    k: int | None  # of R@k or Success@k
    rows: list[Row]
    conditions: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    n_tests: int = 1  # that `compare` would correct for; the plan does not
    baseline_given: bool = True  # False: the baseline is the leader of the same data
    n_clusters: int | None = None  # that the queries come from; None in files of an earlier version

    @property
    def share(self) -> float | None:
        """K/N, the part of the pool that counts as found; None for other measures than R@k and Success@k."""
        return None if self.k is None else self.k / self.pool

    def clusters(self, queries: int) -> int | None:
        """Return from about how many clusters so many queries come, as many to a cluster as there are now.

        None where (nearly) every query is a cluster of its own: then queries say it all.
        """
        if self.n_clusters is None or self.n_clusters > _ALONE * self.n_queries:
            return None
        return max(math.ceil(queries * self.n_clusters / self.n_queries), 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON holds it."""
        return {"schema": SCHEMA} | asdict(self) | {"k_over_pool": self.share}

    def write(self, path: str | Path) -> None:
        """Write the plan as JSON to the file `path`, atomically."""
        write_json(Path(path), self.to_dict())

    @classmethod
    def read(cls, path: str | Path) -> Plan:
        """Read a file of `write` or `--json`, or the folder of `--out`; raise InputError where it is none."""
        path = Path(path)
        path = path / FILE if path.is_dir() else path
        content = read_json(path, SCHEMA, _MADE_BY)
        with fields_of(path, _MADE_BY):
            rows = [
                record(Row, row, sizes=[record(AtSize, size) for size in row["sizes"]])
                for row in content["rows"]
            ]
            return record(cls, content, rows=rows)
