"""A multilingual pool, as users have it: its rows, and how they are read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from xlingual.data.pools.folder import read_pool, write_pool
from xlingual.data.pools.rows import CANDIDATE_TEXTS, Candidates, EqualIds, PoolRows, Questions
from xlingual.data.runs.qrels import QrelsLike
from xlingual.notebook import PoolOverview, html_of
from xlingual.results.provenance import note_data

__all__ = ["CANDIDATE_TEXTS", "Candidates", "EqualIds", "MultilingualPool", "Questions"]


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
        *,
        unanswered: bool = False,
    ) -> MultilingualPool:
        """Read a pool folder, a retrieval folder of BEIR or MTEB, or SQuAD-style files with sentence breaks.

        Args:
            path: a folder, or one SQuAD-style file; see reference/pools for the formats.
            languages: the languages to take, in this order; without it they are in the order of their first
                candidates (in SQuAD-style files: of the file names). A single one is that of a retrieval
                folder which says none.
            split: take the rows of this split alone.
            equal_ids: whether questions of a retrieval folder with equal ids in several languages are the
                "same" or "different" ones; None finds it in the judgements.
            qrels: judgements in place of those of the folder: a file in the form of TREC, BEIR or ranx, or
                {query: {candidate: grade}}; they name texts by their ids, or as language:id.
            unanswered: keep questions of which all judged candidates are irrelevant; retrieval by judgements
                counts them, other tasks need an answer.

        """
        pool = cls.of(read_pool(path, languages, split, equal_ids, qrels, unanswered=unanswered))
        rows = len(pool.questions) + len(pool.candidates)
        note_data("pool", path, pool, lambda: (pool.digest, rows))
        return pool

    def write(self, folder: str | Path, format: str = "parquet", *, overwrite: bool = False) -> Path:
        """Write the pool as a folder that reads back as this pool ("parquet" or "jsonl"); return it.

        Questions and candidates that stand there already are replaced with `overwrite`, else refused.
        """
        return write_pool(self, folder, format, overwrite=overwrite)

    def _repr_html_(self) -> str | None:
        questions, candidates = (
            dict(
                zip(
                    self.languages,
                    np.bincount(part.language, minlength=len(self.languages)).tolist(),
                    strict=True,
                )
            )
            for part in (self.questions, self.candidates)
        )
        return html_of(PoolOverview(Path(self.source).name, questions, candidates, len(self.relevant[0])))
