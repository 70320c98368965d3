"""Judgements from a file of their own, in the forms that programs write, in place of a pool's own."""

import json

import pytest

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import DataWarning

JUDGED = [("q0", "d1", 2), ("q0", "d2", 0), ("q1", "d0", 1), ("q1", "d1", 3)]
TREC = "".join(f"{q} 0 {d} {g}\n" for q, d, g in JUDGED)


def folder(path, languages=("en",)):
    """Write a corpus and queries, without judgements."""
    for tag in languages:
        own = path / tag if len(languages) > 1 else path
        own.mkdir(parents=True, exist_ok=True)
        for name, kind in (("corpus", "d"), ("queries", "q")):
            rows = [{"_id": f"{kind}{i}", "text": f"{kind} {i} {tag}"} for i in range(3)]
            (own / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judged(pool):
    question, candidate, grade = (side.tolist() for side in pool.judged)
    q, c, tags = pool.questions, pool.candidates, pool.languages
    return {
        (f"{tags[q.language[i]]}:{q.ids[i]}", f"{tags[c.language[j]]}:{c.ids[j]}", g)
        for i, j, g in zip(question, candidate, grade, strict=True)
    }


def test_a_corpus_and_queries_are_judged_by_a_file(tmp_path):
    (tmp_path / "a.qrels").write_text(TREC + "q0 0 d9 1\nq8 0 d1 1\nq2 0 d0 0\n")
    with pytest.warns(
        DataWarning,
        match=r"queries of the judgements that are not in the data \(1\), candidates .* \(1\), queries "
        r"without a relevant candidate \(1\)",
    ):
        pool = MultilingualPool.read(folder(tmp_path / "set"), ["en"], qrels=tmp_path / "a.qrels")
    assert judged(pool) == {(f"en:{q}", f"en:{d}", g) for q, d, g in JUDGED}
    assert len(pool.candidates) == 3 and pool.questions.ids == ["q0", "q1"]


@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_those_of_a_pool_folder_are_replaced(tmp_path):
    first = MultilingualPool.read(folder(tmp_path / "set"), ["en"], qrels={"q0": {"d0": 1}, "q1": {"d1": 1}})
    written = first.write(tmp_path / "pool")
    again = MultilingualPool.read(written, qrels={"q0": {"d2": 3, "d0": 0}})
    assert judged(again) == {("en:q0", "en:d2", 3), ("en:q0", "en:d0", 0)}
