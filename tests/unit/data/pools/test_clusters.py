"""Translations of a question are never independent, whatever the columns of a pool folder say."""

import json
import warnings
from zlib import crc32

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.pools.mix import mix_pool
from xlingual.data.pools.pool import MultilingualPool, split_pool
from xlingual.errors import DataWarning
from xlingual.evaluation.multilingual_pool.evaluate import multilingual_pool
from xlingual.evaluation.multilingual_pool.space import Space

N = 16
TAGS = ("de", "en")


class Anywhere:
    """Puts texts anywhere, always at the same place."""

    identity = "anywhere"

    def encode(self, batch):
        names = [
            f"{tag} {text} {name[-1]}"
            for tag, name, text in zip(batch.language, batch.ids, batch.text, strict=True)
        ]
        seeds = [crc32(name.encode()) for name in names]
        return np.array([np.random.default_rng(seed).normal(size=5) for seed in seeds], dtype=np.float32)


def own(tag, i):
    return f"{tag}-{i}"


def shared(tag, i):
    return f"{i}"


def rows_of(*, ids=shared, keys=shared, asked=None, held=None, article=None):
    """Return rows with an answer, and a text that answers nothing, in each language.

    `ids`, `keys`, `asked` and `held` (clusters of questions and of candidates) and `article` make names of a
    language and a number.
    """
    questions, candidates = [], []
    for tag in TAGS:
        for i in range(N):
            row = {"id": ids(tag, i), "lang": tag, "text": f"{i}?", "key": keys(tag, i)}
            row |= {name: of(tag, i) for name, of in (("cluster", asked), ("article", article)) if of}
            questions.append(row)
            every = list(dict.fromkeys(keys(other, i) for other in TAGS))
            for kind, answered in (("a", every), ("b", [])):
                row = {"id": f"{i}{kind}", "lang": tag, "text": f"{i}", "keys": answered}
                row |= {"context": f"{tag} {i}"} | ({"cluster": held(tag, i)} if held else {})
                candidates.append(row)
    return questions, candidates


NAMED = {
    "clusters of a language, equal ids and keys": {"asked": own},
    "equal ids only": {"asked": own, "keys": own},
    "equal keys only": {"asked": own, "ids": own},
    "clusters of candidates too": {"asked": own, "held": own},
    "clusters of candidates alone, equal ids": {"keys": own, "held": own},
}


def assert_translations_together(pool):
    q, c = pool.questions, pool.candidates
    assert len(np.unique(q.cluster)) == N
    for side in (q, c):
        number = [int("".join(x for x in text if x.isdigit())) for text in side.text]
        assert len(set(zip(number, side.cluster.tolist(), strict=True))) == N
    question, candidate = pool.relevant
    assert np.array_equal(q.cluster[question], c.cluster[candidate])


@pytest.mark.parametrize("case", NAMED)
def test_parallel_questions_are_of_one_cluster_though_columns_say_otherwise(pool_folder, case):
    with pytest.warns(DataWarning, match="are counted as one") as caught:
        pool = MultilingualPool.read(pool_folder(*rows_of(**NAMED[case])))
    assert list(pool.warnings) == [str(entry.message) for entry in caught]
    assert len(pool.warnings) == 1
    assert_translations_together(pool)


def test_the_warning_counts_what_is_left_and_a_written_pool_needs_none(pool_folder, tmp_path):
    questions, candidates = rows_of(asked=own, article=own)
    for row in questions:
        row["cluster"] += "" if int(row["id"]) < 4 else "x"
        row["article"] = row["lang"] if int(row["id"]) < 4 else "other"
    for row in (row for row in questions if int(row["id"]) >= 10):
        row["cluster"] = row["id"]
    folder = pool_folder(questions, candidates)
    with pytest.warns(DataWarning, match="counted") as caught:
        pool = MultilingualPool.read(folder)
    _first, _second = (str(entry.message) for entry in caught)
    assert len(np.unique(pool.questions.article)) == 2
    assert MultilingualPool.read(folder, ["de"]).warnings == ()
    again = MultilingualPool.read(pool.write(tmp_path / "again"))
    assert (again.digest, again.warnings) == (pool.digest, ())


def test_chains_of_parallel_questions_are_one_cluster(pool_folder, tables):
    questions, candidates = tables
    questions[0]["cluster"] = "p3"  # the question of p1 in German; p3 has another, of p2's
    questions.append({"id": "3", "lang": "de", "text": "Wo?", "key": "k3", "cluster": "p3", "split": "test"})
    with pytest.warns(DataWarning, match="whose clusters become 1 instead of 3"):
        pool = MultilingualPool.read(pool_folder(questions, candidates))
    assert not pool.questions.cluster.any()
    assert pool.candidates.cluster.tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
@pytest.mark.parametrize("case", NAMED)
def test_intervals_and_held_out_parts_keep_translations_together(pool_folder, case):
    pool = MultilingualPool.read(pool_folder(*rows_of(**NAMED[case])))
    plain = MultilingualPool.read(pool_folder(*rows_of(asked=shared, held=shared), "plain"))
    found, wanted = (
        multilingual_pool(each, text_encoders=Anywhere(), views=False).entries[0] for each in (pool, plain)
    )
    assert found.ci == wanted.ci and "1-way clusters" in found.ci.method

    for seed in range(3):
        split = split_pool(pool, 0.5, seed)
        for side in (split.questions, split.candidates):
            part = dict(zip(side.text, side.split, strict=True))
            assert [part[text] for text in side.text] == side.split
            assert set(side.split) == {"train", "test"}

    q, c = pool.questions, pool.candidates
    space = Space(pool, *(np.ones((len(side), 2), np.float32) for side in (q, c)))
    held = {}
    for rows, side in zip((q, c), space.sides, strict=True):
        for text, out in zip(rows.text, side.held_out.tolist(), strict=True):
            held.setdefault(text.rstrip("?"), set()).add(out)
    assert set(map(len, held.values())) == {1} and len(set.union(*held.values())) == 2


def test_a_question_takes_the_cluster_that_candidates_with_its_key_have(pool_folder, tables):
    questions, candidates = tables
    for row in questions:
        del row["cluster"]
    for row, name in zip(candidates, ["p1", "p1", "p2", "p1", "p1", "p8"], strict=True):
        row["cluster"] = name
    pool = MultilingualPool.read(pool_folder(questions, candidates))
    assert pool.questions.cluster.tolist() == [0, 1, 0, 0] and pool.warnings == ()
    assert pool.candidates.cluster.tolist() == [0, 0, 1, 0, 0, 2]


def test_clusters_that_hold_answers_to_one_question_are_joined(pool_folder, tables):
    questions, candidates = tables
    for row in questions:
        del row["cluster"]
    for row, name in zip(candidates, ["en1", "en1", "en2", "de1", "de1", "de9"], strict=True):
        row["cluster"] = name
    with pytest.warns(DataWarning, match=r"candidates\.jsonl.* 3 clusters with answers become 2"):
        pool = MultilingualPool.read(pool_folder(questions, candidates))
    assert pool.questions.cluster.tolist() == [0, 1, 0, 0] and len(pool.warnings) == 1
    assert pool.candidates.cluster.tolist() == [0, 0, 1, 0, 0, 2]


def test_mixed_pools_join_the_clusters_of_an_item(tmp_path):
    def mixed(name, cluster):
        rows = [
            {"text": f"{tag} {i} {k}", "lang": tag, "item": f"{i}", "cluster": cluster(tag, i)}
            for tag in TAGS
            for i in range(4)
            for k in range(2)
        ]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return mix_pool(Manifest.read(path))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = mixed("plain", shared)
    with pytest.warns(DataWarning, match="8 of 8 questions, whose clusters become 4 instead of 8"):
        joined = mixed("joined", own)
    assert plain.warnings == () and len(joined.warnings) == 1
    assert joined.digest == plain.digest
