from dataclasses import replace

import pytest

from xlingual.data.pools.describe import describe_pool
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


def test_a_split_divides_clusters_and_keys(many):
    pool = split_pool(many, 0.3)
    q, c = pool.questions, pool.candidates
    train = {name for name, split in zip(q.cluster.tolist(), q.split, strict=True) if split == "train"}
    test = {name for name, split in zip(q.cluster.tolist(), q.split, strict=True) if split == "test"}
    assert len(train) == 6 and len(test) == 14 and not train & test
    keys = [
        {key for key, split in zip(q.key, q.split, strict=True) if split == part}
        for part in ("train", "test")
    ]
    assert not keys[0] & keys[1]
    assert c.split == ["train" if code in train else "test" for code in c.cluster.tolist()]


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


def test_lsa_can_be_fitted_on_a_part(many, tmp_path):
    from xlingual.encoders.registry import text_encoders

    folder = split_pool(many, 0.5).write(tmp_path / "p")
    spec = f"x=lsa:?dim=4&fit={folder}%23train"
    encoder = text_encoders(spec, languages=("en", "de"), fit_texts=read_pool_texts)["x"]
    test = MultilingualPool.read(folder, split="test").candidate_texts()
    assert encoder.encode(test).shape == (40, 4)
    assert not encoder.fitted_on & test.row_digests()


def test_describe_counts(pool_folder, tables):
    questions, candidates = tables
    candidates.append(
        {"id": "g", "lang": "de", "text": "Dann.", "context": "", "keys": ["k3"], "split": "test"}
    )
    candidates.append({"id": "h", "lang": "en", "text": "Dann.", "context": "", "keys": [], "split": "test"})
    found = describe_pool(MultilingualPool.read(pool_folder(questions, candidates)))
    en, de = found.languages
    assert (en.n_questions, en.n_candidates, en.n_own_language, en.n_repeated_texts) == (2, 4, 2, 0)
    assert (de.n_questions, de.n_candidates, de.n_own_language, de.n_repeated_texts) == (2, 4, 2, 1)
    assert (en.relevant_mean, de.relevant_mean, de.relevant_least, de.relevant_most) == (2, 1.5, 1, 2)
    assert (en.pool_share, found.total.n_candidates, found.total.relevant_mean) == (0.5, 8, 1.75)
    assert (found.n_clusters, found.n_articles, found.n_irrelevant, found.n_shared_texts) == (2, None, 3, 1)
    assert found.splits == {
        "train": {"questions": 3, "candidates": 4},
        "test": {"questions": 1, "candidates": 4},
    }


def test_a_language_without_candidates_is_described(pool_folder, tables):
    questions, candidates = tables
    questions.append({"id": "1", "lang": "fr", "text": "Qui ?", "key": "k1", "cluster": "p1", "split": ""})
    found = describe_pool(MultilingualPool.read(pool_folder(questions, candidates)))
    french = found.languages[-1]
    assert (french.language, french.n_questions, french.n_candidates) == ("fr", 1, 0)
    assert (french.pool_share, french.relevant_mean, french.n_own_language) == (0.0, 2.0, 0)
    assert (found.total.n_questions, found.total.n_own_language) == (5, 4)


def test_a_language_without_questions_is_described(pool_folder, tables):
    questions, candidates = tables
    candidates.append({"id": "z", "lang": "fr", "text": "Rien.", "context": "", "keys": [], "split": ""})
    french = describe_pool(MultilingualPool.read(pool_folder(questions, candidates))).languages[-1]
    assert (french.language, french.n_questions, french.relevant_mean, french.relevant_least) == (
        "fr",
        0,
        None,
        None,
    )
