"""Parallel questions: of a pool, of a table, chosen and divided."""

import json

import numpy as np
import pytest

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError
from xlingual.training.parallel import of_pool


def written(folder, questions, candidates):
    for name, rows in (("questions", questions), ("candidates", candidates)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def question(name, lang, key, cluster=0, **more):
    return {"id": name, "lang": lang, "text": f"{key}? {lang}", "key": key, "cluster": cluster, **more}


def candidate(name, lang, *keys, cluster=0):
    return {"id": name, "lang": lang, "text": f"{name} {lang}", "keys": list(keys), "cluster": cluster}


@pytest.fixture
def folder(tmp_path):
    return written(
        tmp_path,
        [
            question("1", "en", "k1"),
            question("1", "de", "k1"),
            question("2", "en", "k2", 1),
            question("3", "de", "k3", 2),
        ],
        [
            candidate("a", "en", "k1"),
            candidate("b", "en", "k1"),
            candidate("c", "en", cluster=1),
            candidate("a", "de", "k1", "k2", cluster=1),
            candidate("d", "de", "k3", cluster=2),
        ],
    )


def answers(data, i, tag):
    place = i * len(data.languages) + data.languages.index(tag)
    rows = data.answered[data.first[place] : data.first[place + 1]]
    assert all(data.answers.language[row] == tag for row in rows)
    return [data.answers.text[row] for row in rows]


def test_questions_of_a_pool(folder):
    data = of_pool(MultilingualPool.read(folder))
    assert data.languages == ("en", "de") and data.ids == ["1", "2", "3"]
    asked = [[data.questions.text[row] if row >= 0 else None for row in rows] for rows in data.asked.tolist()]
    assert asked == [["k1? en", "k1? de"], ["k2? en", None], [None, "k3? de"]]
    assert answers(data, 0, "en") == ["a en", "b en"] and answers(data, 0, "de") == ["a de"]
    assert answers(data, 1, "en") == [] and answers(data, 1, "de") == ["a de"]
    assert data.answer_counts.tolist() == [[2, 1], [0, 1], [0, 1]]
    assert [part.tolist() for part in data.right] == [[0, 0, 0, 1, 2], [0, 1, 3, 3, 4]]


def test_a_key_that_a_language_has_twice_is_divided_by_ids(tmp_path):
    folder = written(
        tmp_path,
        [question(name, lang, "k") for name in ("1", "2") for lang in ("en", "de")],
        [candidate("a", "en", "k"), candidate("a", "de", "k")],
    )
    data = of_pool(MultilingualPool.read(folder))
    assert data.ids == ["1", "2"] and (data.asked >= 0).all() and (data.answer_counts == 1).all()


def test_take_keeps_the_answers_of_each_question(folder):
    data = of_pool(MultilingualPool.read(folder))
    part = data.take(np.array([2, 0]))
    assert part.ids == ["3", "1"] and answers(part, 1, "en") == ["a en", "b en"]
    assert answers(part, 0, "de") == ["d de"] and answers(part, 0, "en") == []
    assert part.digest() != data.digest() == data.take(np.arange(3)).digest()


def test_divided_by_clusters(folder):
    data = of_pool(MultilingualPool.read(folder))
    for seed in range(5):
        train, held = data.divided(0.1, seed)
        assert sorted(train.ids + held.ids) == data.ids and len(held) == 1
        assert not set(train.cluster.tolist()) & set(held.cluster.tolist())
    assert len({data.divided(0.1, seed)[1].ids[0] for seed in range(12)}) > 1
    assert len(data.divided(0.99, 0)[0]) >= 1
    with pytest.raises(InputError, match="nothing can be held out"):
        data.take(np.array([0])).divided(0.5, 0)
