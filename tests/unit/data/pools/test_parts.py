"""A pool divided into parts for training and testing, and the texts of a part."""

from dataclasses import replace

import pytest

from xlingual.data.pools.pool import MultilingualPool, read_pool_texts, split_pool
from xlingual.errors import InputError


@pytest.fixture
def many(pool_folder):
    """Return a pool of 40 paragraphs in two languages."""
    questions, candidates = [], []
    for i in range(40):
        for tag in ("en", "de"):
            questions.append(
                {"id": f"q{i}", "lang": tag, "text": f"{tag} {i}?", "key": f"k{i}", "cluster": i // 2}
            )
            candidates.append(
                {"id": f"c{i}", "lang": tag, "text": f"{tag} {i}.", "context": "", "keys": [f"k{i}"]}
            )
    return MultilingualPool.read(pool_folder(questions, candidates))


def test_a_split_is_the_same_for_a_seed_and_reads_back(many, tmp_path):
    one, two, other = split_pool(many, 0.5), split_pool(many, 0.5), split_pool(many, 0.5, seed=1)
    assert one.questions.split == two.questions.split != other.questions.split
    folder = one.write(tmp_path / "p")
    train, test = (MultilingualPool.read(folder, split=part) for part in ("train", "test"))
    assert len(train.questions) + len(test.questions) == len(many.questions)
    assert len(train.candidates) == 40 and len(test.candidates) == 40


def test_clusters_that_share_a_key_stay_together(pool_folder, tables):
    questions, candidates = tables
    questions[2]["cluster"] = "p3"
    candidates[4]["keys"] = ["k2", "k3"]  # it answers a question of p3 and one of p2
    pool = MultilingualPool.read(pool_folder(questions, candidates))
    for seed in range(8):
        split = split_pool(pool, 0.5, seed).questions.split
        assert split[0] == split[2] != split[1] == split[3]


def test_no_article_is_in_both_parts(many):
    article = many.questions.cluster // 4  # 20 clusters, five articles
    pool = replace(many, questions=replace(many.questions, article=article))
    split = split_pool(pool, 0.4, by="article")
    train = {
        name for name, part in zip(article.tolist(), split.questions.split, strict=True) if part == "train"
    }
    test = {
        name for name, part in zip(article.tolist(), split.questions.split, strict=True) if part == "test"
    }
    assert (len(train), len(test)) == (2, 3) and not train & test
    assert [part == "train" for part in split.candidates.split] == [
        code // 4 in train for code in split.candidates.cluster.tolist()
    ]
    with pytest.raises(InputError, match="questions have no articles: split it by paragraph"):
        split_pool(many, 0.4, by="article")
    with pytest.raises(InputError, match="5 articles in 'train' leaves no question"):
        split_pool(pool, 0.01, by="article")


def test_fit_texts_have_the_digests_of_the_evaluated_rows(many, tmp_path):
    folder = split_pool(many, 0.3).write(tmp_path / "p")
    fitted = read_pool_texts(f"{folder}#train")
    train, test = (MultilingualPool.read(folder, split=part) for part in ("train", "test"))
    rows = train.question_texts().row_digests() | train.candidate_texts().row_digests()
    assert fitted.row_digests() == rows and len(rows) == len(fitted) == 48
    assert not rows & (test.question_texts().row_digests() | test.candidate_texts().row_digests())
    assert len(read_pool_texts(str(folder))) == 160


def test_items_of_fit_texts_are_clusters_over_languages(pool_folder):
    texts = read_pool_texts(f"{pool_folder()}#train")
    assert set(texts.items) == {"0"} and set(texts.language) == {"en", "de"}
    assert sorted(texts.text) == sorted(["He did.", "Then.", "Er war es.", "Dann.", "Who?", "Wer?", "Wann?"])
