"""A pool's own folder: reading, choosing, clusters, writing."""

import numpy as np
import pytest

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import DataWarning, InputError


def numbering(pool, role, unit):
    found = [way for way in getattr(pool, f"{role}_numberings") if way.unit == unit]
    assert len(found) == 1, [way.unit for way in getattr(pool, f"{role}_numberings")]
    return found[0]


def relevant_ids(pool):
    question, candidate = pool.relevant
    q, c = pool.questions, pool.candidates
    tag = pool.languages
    return {
        (f"{q.ids[i]}.{tag[q.language[i]]}", f"{c.ids[j]}.{tag[c.language[j]]}")
        for i, j in zip(question, candidate, strict=True)
    }


def test_rows_are_ordered_by_language_in_the_order_of_first_candidates(pool_folder):
    pool = MultilingualPool.read(pool_folder())
    assert pool.languages == ("en", "de")
    assert pool.questions.ids == ["1", "3", "1", "2"]
    assert pool.questions.text == ["Who?", "Where?", "Wer?", "Wann?"]
    assert pool.questions.language.tolist() == [0, 0, 1, 1]
    assert pool.candidates.ids == ["a", "b", "c", "d", "e", "f"]
    assert relevant_ids(pool) == {
        ("1.en", "a.en"),
        ("1.en", "d.de"),
        ("3.en", "c.en"),
        ("1.de", "a.en"),
        ("1.de", "d.de"),
        ("2.de", "e.de"),
    }
    assert pool.warnings == ()


def test_clusters_of_candidates_come_from_keys_then_contexts(pool_folder):
    pool = MultilingualPool.read(pool_folder())
    assert pool.questions.cluster.tolist() == [0, 1, 0, 0]
    # a, d, e hold keys of p1; b shares a's context; c is of p2; f is alone
    assert pool.candidates.cluster.tolist() == [0, 0, 1, 0, 0, 2]


def test_given_clusters_are_taken(pool_folder, tables):
    questions, candidates = tables
    for row, name in zip(candidates, ["p2", "p1", "p2", "p7", "p1", "p8"], strict=True):
        row["cluster"] = name
    pool = MultilingualPool.read(pool_folder(questions, candidates))
    assert pool.candidates.cluster.tolist() == [1, 0, 1, 2, 0, 3]


def test_languages_restrict_and_order(pool_folder):
    folder = pool_folder()
    turned = MultilingualPool.read(folder, ["de", "en"])
    assert turned.languages == ("de", "en") and turned.questions.ids == ["1", "2", "1", "3"]
    german = MultilingualPool.read(folder, "de")
    assert german.languages == ("de",) and german.candidates.ids == ["d", "e", "f"]
    assert german.questions.cluster.tolist() == [0, 0] and german.candidates.cluster.tolist() == [0, 0, 1]


def test_numberings_fit_files_of_the_chosen_rows_and_of_the_whole_pool(pool_folder):
    folder = pool_folder()
    turned = MultilingualPool.read(folder, ["de", "en"])
    own = numbering(turned, "question", "questions of the language")
    assert (own.index.tolist(), own.sizes) == ([0, 1, 0, 1], {"en": 2, "de": 2})
    chosen = numbering(turned, "question", "questions")
    assert (chosen.index.tolist(), chosen.sizes) == ([0, 1, 2, 3], {None: 4})
    whole = numbering(turned, "question", "whole-pool questions")
    assert (whole.index.tolist(), whole.sizes) == ([2, 3, 0, 1], {None: 4})
    whole = numbering(turned, "candidate", "whole-pool candidates")
    assert whole.index.tolist() == [3, 4, 5, 0, 1, 2]


def test_questions_without_relevant_candidates_are_left_out_of_a_choice(pool_folder, tables):
    questions, candidates = tables
    candidates[4]["keys"] = []
    candidates[1]["keys"] = ["k2"]  # the answer to 2 is in English only
    folder = pool_folder(questions, candidates)
    with pytest.warns(DataWarning, match=r"1 of 2 questions of de have no relevant .*\('2'\)"):
        pool = MultilingualPool.read(folder, ["de"])
    assert pool.questions.ids == ["1"] and len(pool.warnings) == 1
    left = numbering(pool, "question", "chosen questions")
    assert (left.index.tolist(), left.sizes) == ([0], {None: 2})  # a file made for --languages de fits


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_a_pool_reads_back_as_it_was_written(pool_folder, tmp_path, format):
    pool = MultilingualPool.read(pool_folder())
    for written in (pool, MultilingualPool.read(pool_folder(), ["de", "en"])):
        again = MultilingualPool.read(written.write(tmp_path / "w", format, overwrite=True))
        assert again.digest == written.digest and again.languages == written.languages
        for role in ("questions", "candidates"):
            one, other = getattr(again, role), getattr(written, role)
            for name in vars(other):
                assert np.array_equal(getattr(one, name), getattr(other, name)) or (
                    getattr(one, name) == getattr(other, name)
                ), name
    other = "jsonl" if format == "parquet" else "parquet"
    pool.write(tmp_path / "w", other, overwrite=True)
    assert sorted(path.name for path in (tmp_path / "w").iterdir()) == [
        f"candidates.{other}",
        f"questions.{other}",
    ]


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_a_pool_that_is_there_is_not_lost(pool_folder, format):
    folder = pool_folder()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match=r"holds questions\.jsonl, candidates\.jsonl.*overwrite=True"):
        MultilingualPool.read(folder).write(folder, format)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    MultilingualPool.read(folder).write(folder, format, overwrite=True)
    assert sorted(path.suffix for path in folder.iterdir()) == [f".{format}"] * 2


def test_parallel_questions_in_different_clusters_are_one_with_a_warning(pool_folder, tables):
    questions, candidates = tables
    questions[0]["cluster"] = "p3"  # the question of p1 in German; p3 has another, of p2's
    questions.append({"id": "3", "lang": "de", "text": "Wo?", "key": "k3", "cluster": "p3", "split": "test"})
    with pytest.warns(DataWarning, match="parallel questions"):
        pool = MultilingualPool.read(pool_folder(questions, candidates))
    assert not pool.questions.cluster.any()
    assert pool.candidates.cluster.tolist() == [0, 0, 0, 0, 0, 1]


def test_clusters_of_candidates_alone_are_refused(pool_folder, tables):
    questions, candidates = tables
    for row in questions:
        del row["cluster"]
    assert MultilingualPool.read(pool_folder()).questions.cluster.tolist() == [0, 1, 0, 2]  # by id and key
    for row in candidates:
        row["cluster"] = "p1"
    with pytest.raises(InputError, match="cluster"):
        MultilingualPool.read(pool_folder(questions, candidates))


@pytest.mark.parametrize(
    "change",
    [
        lambda q, c: q[0].update(text=" "),
        lambda q, c: q[0].update(lang="zh_hant!"),
        lambda q, c: q[0].update(key="nobody's"),
        lambda q, c: q[2].update(id="1"),
        lambda q, c: c[0].update(grades=[1, 2]),
        lambda q, c: c[0].update(irrelevant=["k1"]),
        lambda q, c: [row.pop("keys") for row in c],
    ],
)
def test_what_cannot_be_right_is_refused(pool_folder, tables, change):
    change(*tables)
    with pytest.raises(InputError):
        MultilingualPool.read(pool_folder())


def test_further_columns_divide_questions(pool_folder, tables):
    for number, row in enumerate(tables[0]):
        row |= {"kind": "ab"[number % 2], "length": number / 2}
    questions = MultilingualPool.read(pool_folder()).questions
    assert questions.labels == {"kind": ["b", "b", "a", "a"]}
    assert questions.numbers["length"].tolist() == [0.5, 1.5, 0, 1]
