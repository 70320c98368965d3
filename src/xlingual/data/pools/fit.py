"""The texts of a pool, or of a part of it, for encoders that are fitted."""

from __future__ import annotations

from xlingual.data.pools.reading import read_pool
from xlingual.data.pools.rows import PoolRows
from xlingual.data.reading.select import split_reference
from xlingual.errors import InputError
from xlingual.records import Texts


def read_pool_texts(reference: str) -> Texts:
    """Return the texts that `fit=POOL#SPLIT`, or `fit=POOL`, names: its candidates, then its questions."""
    path, split, rows = split_reference(reference)
    if rows is not None:
        raise InputError(f"{reference!r}: a pool has no rows A:B: write POOL#SPLIT, as in pool#train")
    return fit_texts(read_pool(path, split=split))


def fit_texts(pool: PoolRows) -> Texts:
    """Return candidates and questions as one batch, in which rows of equal cluster are one item.

    Ids and texts are those that are evaluated, so that an encoder fitted on an evaluated row is found out.
    """
    candidates, questions = pool.candidate_texts(), pool.question_texts()
    cluster = [*pool.candidates.cluster.tolist(), *pool.questions.cluster.tolist()]
    return Texts(
        text=[*candidates.text, *questions.text],
        language=[*candidates.language, *questions.language],
        ids=[*candidates.ids, *questions.ids],
        items=[str(number) for number in cluster],
    )
