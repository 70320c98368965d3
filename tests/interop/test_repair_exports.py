"""What a repair makes, in the library that people search with, sentence-transformers."""

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.data.pools.mix import mix_pool
from xlingual.embed.sides import embed_pool
from xlingual.encoders import text_encoders
from xlingual.evaluation.multilingual_pool.ranks import rank_vectors
from xlingual.evaluation.similarity import correction_of
from xlingual.models.folder import write_model
from xlingual.ranking import Bank, Banked
from xlingual.transforms.affine import Affine
from xlingual.workflows.embed import embed
from xlingual.workflows.export import export_model

TAGS = ("de", "en")
WORDS = ["red", "chair", "lamp", "table", "the", "very", "long", "text"]
SIMILARITY = "csls?k=3"


def manifest():
    rng = np.random.default_rng(0)
    rows = [
        {
            "id": f"{tag}{i}",
            "lang": tag,
            "item": str(i),
            "text": f"{' '.join(rng.permutation(WORDS)[:5])} {tag} {i}",
        }
        for i in range(40)
        for tag in TAGS
    ]
    return Manifest.of(rows)


@pytest.fixture
def repaired(checkpoints, tmp_path):
    """Give the spec of a network, the folder of a transform of its vectors, and its training questions."""
    pytest.importorskip("sentence_transformers")
    spec = f"st:{checkpoints('sentence_bert')}"
    (base,) = text_encoders(spec, languages=TAGS).values()
    pool = mix_pool(manifest(), seed=0)
    dim = embed_pool(pool, "b", base).questions.shape[1]
    rng = np.random.default_rng(0)
    map = Affine({"de": 0, "en": 1}, rng.normal(size=(2, dim)) / 9, rng.normal(size=(2, dim, dim)))
    content = {
        "kind": "transform",
        "model": {"languages": ["de", "en"], "transforms": "whiten:", "similarity": SIMILARITY},
        "base": {"name": "tiny", "identity": base.identity, "dim": dim, "languages": list(TAGS)},
    }
    bank = rng.normal(size=(20, dim)).astype(np.float32)
    return spec, write_model(tmp_path / "m", content, {**map.arrays(), "bank": bank}).path, bank


def test_the_library_and_the_index_rank_as_the_evaluation(repaired, tmp_path):
    """Questions of sentence-transformers by inner products, with the correction as a dimension."""
    library = pytest.importorskip("sentence_transformers")
    spec, folder, bank = repaired
    (model,) = text_encoders(f"model:{folder}::{spec}", languages=TAGS).values()
    pool = mix_pool(manifest(), seed=0)
    both = embed_pool(pool, "m", model)
    repair = Banked(correction_of(SIMILARITY), Bank.of(bank), SIMILARITY)
    expected = rank_vectors(pool, both.questions, both.candidates, repair=repair).ranks

    (made,) = embed(pool, tmp_path / "v", text_encoders=[model], offsets=True, store=None)
    rows = np.empty((len(pool.candidates), both.candidates.shape[1] + 1), dtype=np.float32)
    asked = np.empty((len(pool.questions), rows.shape[1]), dtype=np.float32)
    for code, tag in enumerate(pool.languages):
        rows[pool.candidates.language == code] = np.load(made.index.format(lang=tag))
        out = tmp_path / tag
        export_model(folder, "sentence-transformers", out, base=spec, language=tag)
        own = np.flatnonzero(pool.questions.language == code)
        encode = library.SentenceTransformer(str(out), device="cpu").encode_query
        vectors = encode([pool.questions.text[q] for q in own], normalize_embeddings=True)
        np.testing.assert_allclose(
            vectors,
            both.questions[own] / np.linalg.norm(both.questions[own], axis=1, keepdims=True),
            atol=1e-5,
        )
        asked[own] = np.c_[vectors, np.ones(len(own))]
    place = np.argsort(np.argsort(-asked @ rows.T, axis=1), axis=1)
    assert place[expected.question, expected.candidate].tolist() == expected.above.tolist()
    plain = rank_vectors(pool, both.questions, both.candidates).ranks
    assert (plain.above != expected.above).any()
