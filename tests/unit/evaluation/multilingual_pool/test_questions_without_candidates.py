"""Languages that only questions have: every view copes, and nothing else moves."""

import json

import numpy as np
import pytest

from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.evaluate import multilingual_pool
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
