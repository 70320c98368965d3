"""Few queries among all candidates: what is encoded, what is refused, and what the numbers say of it."""

import numpy as np
import pytest

from xlingual import compare
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.signature import Signature

N = 120


@pytest.fixture(scope="module")
def manifest():
    rows = [
        {"id": f"r{i}", "image": bytes([1, i % 100])} | {f"text_{lang}": f"{lang} {i}" for lang in LANGUAGES}
        for i in range(N)
    ]
    return Manifest.of(rows)


LANGUAGES = ("en", "de", "fr")


class Noted:
    """An encoder of random vectors that notes what it is asked for."""

    identity = "noted"

    def __init__(self):
        self.seen = []

    def encode(self, batch):
        self.seen += zip(batch.language, batch.ids, strict=True)
        rng = np.random.default_rng(len(batch.ids))
        return rng.standard_normal((len(batch.ids), 6), dtype=np.float32)


class Eyes:
    identity = "eyes"

    def __init__(self):
        self.n_seen = 0

    def encode(self, batch):
        self.n_seen += len(batch)
        return np.random.default_rng(1).standard_normal((len(batch), 5), dtype=np.float32)


def run(manifest, eyes=None, **options):
    given = {"text_encoders": "random:?seed=1", "pairs": "en-de", "queries": 10, "store": None} | options
    return backretrieval(manifest, image_encoder=eyes or Eyes(), **given)


def test_texts_that_nobody_asks_are_not_encoded_but_all_images_are(manifest):
    texts, eyes = Noted(), Eyes()
    results = run(manifest, eyes, text_encoders={"noted": texts})
    languages = [language for language, _ in texts.seen]
    assert (languages.count("en"), languages.count("de")) == (10, N // 2)
    assert eyes.n_seen == 100  # every distinct image: each is a candidate of some side
    assert results.entries[0].n_source == 10


def test_asking_as_many_as_there_are_is_asking_all(manifest):
    whole, all_asked = run(manifest, queries=None), run(manifest, queries=N)
    assert whole.per_query.equals(all_asked.per_query)
    assert [e.ceiling for e in whole.entries] == [e.ceiling for e in all_asked.entries]


def test_the_signature_names_the_queries_and_other_numbers_are_not_compared(manifest, tmp_path):
    folders = []
    for name, queries in (("few", 10), ("all", None)):
        run(manifest, queries=queries).write(tmp_path / name)
        folders.append(str(tmp_path / name))
    few = run(manifest).entries[0]
    assert Signature.parse(few.signature).conditions["queries"] == "10"
    with pytest.raises(InputError, match="queries: 10 against"):
        compare([f"{folders[0]}#random", f"{folders[1]}#random"])
