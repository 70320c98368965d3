"""Languages that only questions have: every view copes, and nothing else moves."""

import json

import numpy as np
import pytest

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError
from xlingual.evaluation.multilingual_pool.evaluate import multilingual_pool
from xlingual.report import as_html
from xlingual.results.document import plain

N = 9  # items; each is asked for in English, in German and in Thai
TEXTS = {"en": "Ann sang in town {i}.", "de": "Anna sang in Stadt {i}."}
ASKS = {"en": "Who sang in town {i}?", "th": "ใครร้องเพลงที่ town {i}"}


def write_pool(folder, asked=("en", "th"), held=("en", "de")):
    """Write a pool in which every item has an answer, and a text that answers nothing, in each language."""
    folder.mkdir()
    questions = [
        {"id": f"{i}", "lang": tag, "text": ASKS[tag].format(i=i), "key": f"{i}", "cluster": i}
        for tag in asked
        for i in range(N)
    ]
    candidates = [
        {"id": f"{kind}{i}", "lang": tag, "text": TEXTS[tag].format(i=f"{i}{kind}"), "keys": keys}
        for tag in held
        for i in range(N)
        for kind, keys in (("", [f"{i}"]), ("x", []))
    ]
    for stem, rows in (("questions", questions), ("candidates", candidates)):
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (folder / f"{stem}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return MultilingualPool.read(folder)


class Hashed:
    """Counts letters, and nothing about the batch."""

    identity = "hashed"

    def encode(self, batch):
        rows = [np.bincount([ord(c) % 7 for c in text], minlength=7) for text in batch.text]
        return np.array(rows, dtype=np.float32)


def evaluated(pool, **options):
    return multilingual_pool(pool, text_encoders=Hashed(), **options)


def views(pool, **options):
    return plain(evaluated(pool, **options).entries[0].views)


def test_intervals_that_allow_for_all_encoders(tmp_path):
    pool = write_pool(tmp_path / "p")
    found = multilingual_pool(pool, text_encoders={"a": Hashed(), "b": "random:"}, views="none")
    overall = [row.ci_simultaneous for row in found.summary if row.source is None]
    assert [wide.level for wide in overall] == pytest.approx([0.975, 0.975])
    assert {row.ci_simultaneous for row in found.summary if row.source is not None} == {
        None
    }  # no chance there


def test_every_view_copes(tmp_path):
    pool = write_pool(tmp_path / "p")
    assert pool.languages == ("en", "de", "th")
    found = views(pool, subsets=["th,de", "th"])
    assert found["by_question_language"].keys() == {"en", "th"}
    assert found["one_target"].keys() == {"en->en", "en->de", "th->en", "th->de"} == found["loss"].keys()
    assert found["monolingual_pool_questions"] == {"en": N} and found["monolingual_pool"].keys() == {"en"}
    assert found["remove_one"]["n_questions"] == N  # Thai questions have no own language to remove
    assert found["language_share_top100"].keys() == {"en->en", "en->de", "th->en", "th->de"}
    ratio = found["language_share_ratio_top100"]
    assert ratio["th->en"] + ratio["th->de"] == pytest.approx(2.0)
    assert found["hubs"]["by_language"].keys() == {"en", "de"}
    assert found["subsets"].keys() == {"de,th", "en,th", "en,de"}
    assert set(found["language_id_accuracy"]) == {"all", "en-de", "en-th", "de-th"}


def test_other_questions_are_scored_as_without_them(tmp_path):
    found, without = views(write_pool(tmp_path / "p")), views(write_pool(tmp_path / "q", asked=("en",)))
    assert found["by_question_language"]["en"] == without["by_question_language"]["en"]
    for pair in ("en->en", "en->de"):
        for view in ("one_target", "loss", "language_share_top100"):
            assert found[view][pair] == without[view][pair]
    for view in ("one_target_summary", "remove_one", "monolingual_pool"):
        assert found[view] == without[view]
    assert found["subsets"]["en,de"] == pytest.approx(without["macro"])


def test_only_other_languages_ask(tmp_path):
    results = evaluated(write_pool(tmp_path / "p", asked=("th",)))
    found = plain(results.entries[0].views)
    assert found["one_target"].keys() == {"th->en", "th->de"}
    assert not found.keys() & {"one_target_summary", "remove_one", "monolingual_pool"}
    assert "th" in as_html([results])


def test_the_picture_is_of_languages_with_candidates(tmp_path):
    assert views(write_pool(tmp_path / "p"))["picture"]["languages"] == ["en", "de"]
    found = evaluated(write_pool(tmp_path / "q"), picture=("th", "en"))
    assert found.entries[0].views.picture.languages == ["th", "en"]
    rows = found.tables["points"].to_pylist()
    assert {(row["language"], row["role"]) for row in rows} == {
        ("th", "question"),
        ("en", "question"),
        ("en", "candidate"),
    }


def test_scores_are_those_of_the_whole_ranking(tmp_path):
    pool = write_pool(tmp_path / "p", asked=("th",))
    unit = [
        v / np.linalg.norm(v, axis=1, keepdims=True)
        for v in (Hashed().encode(t).astype(float) for t in (pool.question_texts(), pool.candidate_texts()))
    ]
    scores = np.round(unit[0] @ unit[1].T, 9)
    relevant = np.zeros(scores.shape, dtype=bool)
    relevant[pool.relevant] = True
    expected = []
    for row, own in zip(scores, relevant, strict=True):  # the mean over random orders, which ties leave open
        draws = [np.lexsort((np.random.default_rng(s).random(len(row)), -row)) for s in range(400)]
        hits = [own[order] for order in draws]
        expected.append(np.mean([(np.cumsum(h) / np.arange(1, len(h) + 1))[h].mean() for h in hits]))
    assert evaluated(pool, views="none").entries[0].value == pytest.approx(np.mean(expected), abs=0.01)


def test_own_language_first_leaves_out_questions_without_one(tmp_path):
    pool = write_pool(tmp_path / "p")
    entry = evaluated(pool, policy="prefer-own").entries[0]
    assert entry.n_source == N and entry.views.errors_by_question_language.keys() == {"en"}
    with pytest.raises(InputError, match=r"no question has an answer in its own language.*agnostic"):
        evaluated(write_pool(tmp_path / "q", asked=("th",)), policy="prefer-own")


@pytest.mark.parametrize("place", ["{lang}", "all"])
def test_files_of_vectors_by_role(tmp_path, place):
    pool = write_pool(tmp_path / "p")
    for role, texts in (("questions", pool.question_texts()), ("candidates", pool.candidate_texts())):
        vectors = Hashed().encode(texts)
        np.save(tmp_path / f"v.{role}.all.npy", vectors)
        for tag in set(texts.language):
            rows = [other == tag for other in texts.language]
            np.save(tmp_path / f"v.{role}.{tag}.npy", vectors[rows])
    spec = f"vectors:{tmp_path}/v.{{role}}.{place}.npy"
    found = multilingual_pool(pool, text_encoders=spec, views="none").entries[0]
    assert found.value == evaluated(pool, views="none").entries[0].value
    (tmp_path / "v.questions.th.npy").unlink()
    if place == "{lang}":
        with pytest.raises(InputError, match=r"v\.questions\.th\.npy not found"):
            multilingual_pool(pool, text_encoders=spec, views="none")


@pytest.mark.parametrize("chosen", [["th", "de", "en"], ["de", "th", "en"]])
def test_the_order_of_languages_changes_no_number(tmp_path, chosen):
    pool = write_pool(tmp_path / "p")
    turned = MultilingualPool.read(tmp_path / "p", chosen)
    assert turned.languages == tuple(chosen)
    found, other = views(pool), views(turned)
    assert found["one_target"] == pytest.approx(other["one_target"])
    assert found["language_share_top100"] == pytest.approx(other["language_share_top100"])
