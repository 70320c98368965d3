"""What was judged irrelevant is kept beside the keys, and changes nothing of the pool without it."""

import json
import warnings

import numpy as np
import pytest

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import DataWarning

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
QRELS = (("q0", "d0", 1), ("q0", "d1", 0), ("q1", "d1", 2), ("q1", "d2", -1), ("q2", "d2", 0))


def write(folder, qrels, languages=("en",)):
    for tag in languages:
        own = folder / tag if len(languages) > 1 else folder
        (own / "qrels").mkdir(parents=True)
        for name, kind in (("corpus", "d"), ("queries", "q")):
            rows = [{"_id": f"{kind}{i}", "text": f"{kind} {i} {tag}"} for i in range(3)]
            (own / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for split, lines in qrels.items():
            text = "".join(f"{q}\t{d}\t{g}\n" for q, d, g in lines)
            (own / "qrels" / f"{split}.tsv").write_text(text)
    return folder


def judged(pool):
    question, candidate, grade = pool.judged
    tags, q, c = pool.languages, pool.questions, pool.candidates
    return [
        (f"{tags[q.language[i]]}:{q.ids[i]}", f"{tags[c.language[j]]}:{c.ids[j]}", g)
        for i, j, g in zip(question.tolist(), candidate.tolist(), grade.tolist(), strict=True)
    ]


EXPECTED = [("en:q0", "en:d0", 1), ("en:q0", "en:d1", 0), ("en:q1", "en:d1", 2), ("en:q1", "en:d2", 0)]


def test_every_judgement_is_kept_with_its_grade(tmp_path):
    pool = MultilingualPool.read(write(tmp_path, {"test": QRELS}), ["en"])
    assert judged(pool) == EXPECTED  # of q2 nothing is relevant: it is left out
    assert pool.candidates.irrelevant == [(), ("q0",), ("q1",)]


def test_keys_digest_and_pairs_are_those_without_them(tmp_path):
    one, other = (
        MultilingualPool.read(write(tmp_path / name, {"test": rows}), ["en"])
        for name, rows in (("all", QRELS), ("some", [row for row in QRELS if row[2] > 0]))
    )
    assert one.digest == other.digest
    assert other.candidates.irrelevant is None
    assert (one.candidates.keys, one.candidates.grades) == (other.candidates.keys, other.candidates.grades)
    for mine, theirs in zip(one.relevant, other.relevant, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_pool_folder_gives_them_back(tmp_path, form):
    pool = MultilingualPool.read(write(tmp_path / "beir", {"test": QRELS}), ["en"])
    again = MultilingualPool.read(pool.write(tmp_path / "pool", form))
    assert judged(again) == EXPECTED
    assert again.digest == pool.digest


def test_questions_in_several_languages_share_them(tmp_path):
    pool = MultilingualPool.read(write(tmp_path, {"test": QRELS}, ("de", "en")))
    pairs = [(q[3:], d[3:], g) for q, d, g in judged(pool) if (q[:2], d[:2]) == ("de", "en")]
    assert pairs == [(q[3:], d[3:], g) for q, d, g in EXPECTED]
    assert len(judged(pool)) == 4 * len(EXPECTED)


def test_a_pair_that_is_relevant_in_one_language_is_not_irrelevant_in_another(tmp_path):
    """Translations of a document hold one key: what any of the folders calls relevant is."""
    write(tmp_path, {"test": QRELS}, ("de", "en"))
    lines = "".join(f"{q}\t{d}\t{1 if (q, d) == ('q0', 'd1') else g}\n" for q, d, g in QRELS)
    (tmp_path / "de" / "qrels" / "test.tsv").write_text(lines)
    pool = MultilingualPool.read(tmp_path, equal_ids="same")
    assert ("en:q0", "de:d1", 1) in judged(pool)
    held = zip(pool.candidates.keys, pool.candidates.irrelevant, strict=True)
    assert not any(set(right) & set(wrong) for right, wrong in held)


def test_splits_have_their_own(tmp_path):
    other = (("q0", "d2", 0), ("q2", "d0", 1), ("q2", "d1", 0))
    write(tmp_path, {"dev": other, "test": [row for row in QRELS if row[0] != "q2"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        dev, test = (MultilingualPool.read(tmp_path, ["en"], split) for split in ("dev", "test"))
    assert judged(dev) == [("en:q2", "en:d0", 1), ("en:q2", "en:d1", 0)]
    assert judged(test) == EXPECTED
