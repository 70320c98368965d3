"""Failures: every query that was answered wrongly, with its texts, what was found and what was right."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from xlingual import backretrieval, crosslingual_retrieval, image_sentence, multilingual_pool
from xlingual.data.manifest import Manifest
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions
from xlingual.errors import InputError
from xlingual.results import Results

N = 40


class Vectors:
    """Noisy vectors of items, which the ids name ("i3"), as texts or as images."""

    def __init__(self, name, noise):
        self.name, self.identity, self.noise = name, f"v:{name}:{noise}", noise

    def encode(self, batch):
        ideal = np.random.default_rng(5).standard_normal((N, 6))
        role = getattr(batch, "role", "")
        tags = getattr(batch, "language", ["image"] * len(batch.ids))
        out = [
            ideal[int(own[1:].split(".")[0])]
            + self.noise
            * np.random.default_rng([len(self.name), crc32(f"{role}{tag}{own}".encode())]).standard_normal(6)
            for tag, own in zip(tags, batch.ids, strict=True)
        ]
        return np.array(out, dtype=np.float32)


@pytest.fixture
def manifest(tmp_path):
    from PIL import Image

    for i in range(N):
        Image.new("RGB", (2, 2), (i, 1, 7)).save(tmp_path / f"{i}.png")
    rows = [
        {
            "id": f"i{i}",
            "lang": tag,
            "text": f"{tag} text {i}",
            "item": i,
            "image": str(tmp_path / f"{i}.png"),
        }
        for i in range(N)
        for tag in ("en", "de")
    ]
    return Manifest.of(rows)


def vectors_of(encoder, manifest, tag):
    """Return the unit vectors of a language's texts, plainly."""
    raw = encoder.encode(manifest.texts(manifest.rows_of(tag))).astype(np.float64)
    return raw / np.linalg.norm(raw, axis=1, keepdims=True)


def test_all_failures_of_crosslingual_retrieval(manifest):
    encoder = Vectors("a", 1.0)
    results = crosslingual_retrieval(
        manifest, text_encoders=[encoder, Vectors("bb", 2.0)], measures=["R@3", "RR"], store=None
    )
    found = results.failures_table(encoder="a", pair="en-de").to_pylist()
    scores = vectors_of(encoder, manifest, "en") @ vectors_of(encoder, manifest, "de").T
    rank = (scores > np.diag(scores)[:, None]).sum(axis=1) + 1
    assert {row["query_id"] for row in found} == {f"i{i}" for i in np.flatnonzero(rank > 3)}
    assert len(found) > 4
    assert [row["rank"] for row in found] == sorted((rank[rank > 3]).tolist(), reverse=True)
    for row in found:
        i = int(row["query_id"][1:])
        assert row["rank"] == rank[i] and row["value"] == 0.0 and row["measure"] == "R@3"
        assert row["query_text"] == f"en text {i}" and row["query_image"].endswith(f"/{i}.png")
        best = scores[i].argmax()
        assert row["retrieved_text"] == f"de text {best}" and row["retrieved_language"] == "de"
        assert row["right_text"] == f"de text {i}" and row["rights"] == 1 and row["item"] == str(i)
    assert results.failures_table(encoder="a", pair="en-de", worst=2).to_pylist() == found[:2]
    both = results.failures_table(measure="RR")
    assert set(both["encoder"].to_pylist()) == {"a", "bb"} and (np.diff(both["value"].to_numpy()) >= 0).all()


def test_backretrieval_shows_the_retrieved_text_in_memory_and_from_a_folder(manifest, tmp_path):
    results = backretrieval(
        manifest,
        text_encoders=[Vectors("a", 0.8)],
        image_encoder=Vectors("images", 0.2),
        measures=["R@2"],
        store=None,
    )
    held = results.failures_table()
    expected = [row for row in results.per_query.to_pylist() if row["measure"] == "R@2" and row["value"] < 1]
    assert len(held) == len(expected) > 4
    retrieved = {(row["source"], row["query"]): row["retrieved"] for row in expected}
    for row in held.to_pylist():
        assert row["retrieved_id"] == retrieved[row["source"], row["query_id"]]
        assert row["retrieved_text"] == f"{row['target']} text {row['retrieved_id'][1:]}"
        assert row["right_image"] == row["query_image"] != row["retrieved_image"]
        assert row["right_text"] is None and row["right_language"] is None
    results.write(tmp_path / "kept")
    read = Results.read(tmp_path / "kept")
    assert read.failures_table(manifest).equals(held)
    for wrong in (-1, 0, 2.5, "2", True):
        with pytest.raises(InputError, match="worst must be a whole number of at least 1, not"):
            results.failures_table(worst=wrong)
    with pytest.raises(InputError, match=r"hold no texts: give the data .* results.failures\(Manifest.read"):
        read.failures_table()
    with pytest.raises(InputError, match="is not the data of these results: its digest"):
        read.failures_table(manifest.part(np.arange(10)))


def test_sentences_and_images(manifest):
    encoder, images = Vectors("a", 1.0), Vectors("images", 0.4)
    results = image_sentence(
        manifest,
        text_encoders=[encoder],
        image_encoders=images,
        measures=["Success@1"],
        languages=["en"],
        store=None,
    )
    found = results.failures_table(pair="en-image").to_pylist()
    assert len(found) > 4
    for row in found:
        assert row["right_image"] == row["query_image"] != row["retrieved_image"]
        assert row["query_text"].startswith("en text") and row["retrieved_text"] is None
        assert row["query_language"] == "en" and row["right_language"] is row["retrieved_language"] is None
    back = results.failures_table(pair="image-en").to_pylist()
    for row in back:
        i = row["item"]
        assert row["query_image"].endswith(f"/{i}.png") and row["query_text"] is None
        assert row["right_text"] == f"en text {i}" != row["retrieved_text"]


def test_a_pool_has_questions_and_candidates(tmp_path):
    tags = ("en", "de")
    keys = [str(i) for i in range(N)]
    pool = MultilingualPool(
        source="a test",
        languages=tags,
        questions=Questions(
            ids=[f"i{i}" for i in range(N)],
            language=np.arange(N) % 2,
            text=[f"question {i}" for i in range(N)],
            key=keys,
            cluster=np.arange(N),
        ),
        candidates=Candidates(
            ids=[f"i{i}" for i in range(N)] * 2,
            language=np.repeat([0, 1], N),
            text=[f"{tag} answer {i}" for tag in tags for i in range(N)],
            context=[""] * (2 * N),
            keys=[(key,) for key in keys] * 2,
            cluster=np.tile(np.arange(N), 2),
        ),
        question_numberings=(),
        candidate_numberings=(),
    )
    results = multilingual_pool(
        pool, text_encoders=[Vectors("a", 1.2)], measures=["Success@1"], views="none", store=None
    )
    found = results.failures_table().to_pylist()
    assert len(found) > 4
    for row in found:
        i = int(row["query_id"][1:])
        assert row["query_text"] == f"question {i}" and row["query_language"] == tags[i % 2]
        assert row["rights"] == 2 and row["right_text"] == f"{tags[i % 2]} answer {i}"
        assert not row["retrieved_text"].endswith(f" {i}")
    results.write(tmp_path / "kept")
    read = Results.read(tmp_path / "kept").failures_table(pool).to_pylist()
    assert [row["right_text"] for row in read] == [row["right_text"] for row in found]
    assert {row["retrieved_text"] for row in read} == {None}
