"""A multilingual pool, as users have it: its rows, and how they are read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from xlingual.data.pools.folder import write_pool
from xlingual.data.pools.judged import EqualIds
from xlingual.data.pools.reading import read_pool
from xlingual.data.pools.rows import PoolRows
from xlingual.data.runs.qrels import QrelsLike
from xlingual.notebook import PoolOverview, html_of
from xlingual.results.provenance import note_data


@dataclass(frozen=True, eq=False, repr=False)
class MultilingualPool(PoolRows):
    """Questions and candidates of several languages; see `PoolRows` for its columns."""

    @classmethod
    def of(cls, rows: PoolRows) -> MultilingualPool:
        """Return the pool of rows that are sound."""
        return cls(**{f.name: getattr(rows, f.name) for f in fields(PoolRows)})

    @classmethod
    def read(
        cls,
        path: str | Path,
        languages: Sequence[str] | None = None,
        split: str | None = None,
        equal_ids: EqualIds | None = None,
        qrels: QrelsLike | None = None,
    ) -> MultilingualPool:
        """Read a pool folder, a retrieval folder of BEIR or MTEB, or SQuAD-style files with sentence breaks.

        See reference/pools for the formats. `languages` restricts and orders the languages, `split` takes
        the rows of one split. `equal_ids` says whether questions of a retrieval folder with equal ids in
        several languages are the "same" or "different" ones; None finds it in the judgements. `qrels` (a
        file in TREC's or BEIR's form, or {query: {candidate: grade}}) take the place of the judgements of the
        folder; they name texts by their ids, or as language:id.
        """
        found = cls.of(read_pool(path, languages, split, equal_ids, qrels))
        rows = len(found.questions) + len(found.candidates)
        note_data("pool", path, found, lambda: (found.digest, rows))
        return found

    def _repr_html_(self) -> str | None:
        questions, candidates = (
            dict(zip(self.languages, np.bincount(codes, minlength=len(self.languages)).tolist(), strict=True))
            for codes in (self.questions.language, self.candidates.language)
        )
        return html_of(PoolOverview(Path(self.source).name, questions, candidates, len(self.relevant[0])))

    def write(self, folder: str | Path, format: str = "parquet", *, overwrite: bool = False) -> Path:
        """Write the pool as a folder that reads back as this pool ("parquet" or "jsonl"); return it.

        Questions and candidates that stand there already are replaced with `overwrite`, else refused.
        """
        return write_pool(self, folder, format, overwrite=overwrite)
