"""`embed --offsets`: a search by inner product gives the ranks of the evaluation."""

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.data.pools.mix import mix_pool
from xlingual.embed.sides import embed_pool
from xlingual.encoders import Encoder
from xlingual.encoders.transform import FittedTransform
from xlingual.evaluation.multilingual_pool.ranks import rank_vectors
from xlingual.evaluation.similarity import correction_of
from xlingual.models.folder import write_model
from xlingual.ranking import Bank, Banked
from xlingual.transforms.affine import Affine
from xlingual.workflows.embed import embed

TAGS, DIM, OUT = ("de", "en"), 6, 5
CSLS = "csls?k=4"


class Hubs(Encoder):
    """Vectors near to their item's, some of them near to everything; by role where it is asked for."""

    content, identity = ("text",), "hubs:1"

    def __init__(self, by_role=False):
        self.by_role = by_role

    def encode(self, batch, /):
        rows = []
        for text, tag in zip(batch.text, batch.language, strict=True):
            number = int(text.split()[1])
            seed = [number, TAGS.index(tag), batch.role == "query" if self.by_role else 0]
            item = np.random.default_rng(number).normal(size=DIM) + 0.5 * (TAGS.index(tag) + 1)
            rows.append(item + 0.7 * np.random.default_rng(seed).normal(size=DIM) + (number % 7 == 0))
        return np.array(rows, dtype=np.float32)


def manifest(n=60):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i)}
        for i in range(n)
        for tag in TAGS
    ]
    return Manifest.of(rows)


def bank():
    return np.random.default_rng(1).normal(size=(40, OUT)).astype(np.float32) + 0.5


def model(path, similarity=CSLS, base=None, **more):
    rng = np.random.default_rng(0)
    map = Affine({"de": 0, "en": 1}, rng.normal(size=(2, OUT)), rng.normal(size=(2, DIM, OUT)))
    content = {
        "kind": "transform",
        "model": {"languages": ["de", "en"], "transforms": "whiten:", "similarity": similarity},
        "base": {"name": "hubs", "identity": "hubs:1", "dim": DIM},
    }
    arrays = {**map.arrays(), "bank": bank(), **more}
    folder = write_model(path, content, {name: one for name, one in arrays.items() if one is not None})
    return FittedTransform(folder, base or Hubs())


def counted(pool, questions, index):
    """Return how many candidates are above each relevant one, by inner product."""
    whole = np.empty((len(pool.candidates), index["de"].shape[1]))
    for code, tag in enumerate(pool.languages):
        whole[pool.candidates.language == code] = index[tag]
    asked = questions / np.linalg.norm(questions, axis=1, keepdims=True)
    scores = np.c_[asked, np.ones(len(asked))] @ whole.T
    return {(q, c): int((scores[q] > scores[q, c]).sum()) for q, c in np.ndindex(scores.shape)}


def evaluated(pool, encoder, similarity):
    """Return the same for relevant candidates, as the evaluation counts them with a correction."""
    both = embed_pool(pool, "m", encoder)
    repair = None if similarity is None else Banked(correction_of(similarity), Bank.of(bank()), similarity)
    return both.questions, rank_vectors(pool, both.questions, both.candidates, repair=repair).ranks


@pytest.mark.parametrize("similarity", [CSLS, "inverted-softmax?beta=20"])
@pytest.mark.parametrize("by_role", [False, True])
@pytest.mark.parametrize("as_pool", [False, True])
def test_a_search_by_inner_product_gives_the_ranks_of_the_evaluation(tmp_path, similarity, by_role, as_pool):
    data = manifest()
    pool = mix_pool(data, seed=0)
    encoder = model(tmp_path / "m", similarity, Hubs(by_role))
    (made,) = embed(
        pool if as_pool else data, tmp_path / "out", text_encoders=[encoder], offsets=True, store=None
    )
    index = {tag: np.load(made.index.format(lang=tag)) for tag in TAGS}
    assert {one.dtype for one in index.values()} == {np.dtype(np.float32)}
    assert all(one.shape[1] == OUT + 1 for one in index.values())
    np.testing.assert_allclose(np.linalg.norm(index["de"][:, :-1], axis=1), 1, atol=1e-6)
    questions, ranks = evaluated(pool, encoder, similarity)
    plain = evaluated(pool, encoder, None)[1]
    found = counted(pool, questions, {tag: in_order(index[tag], pool, data, tag, as_pool) for tag in TAGS})
    expected = [found[q, c] for q, c in zip(ranks.question, ranks.candidate, strict=True)]
    assert expected == ranks.above.tolist() and not (ranks.tied > 1).any()
    assert (plain.above != ranks.above).mean() > 0.2  # the correction does something


def in_order(rows, pool, data, tag, as_pool):
    """Return an index's rows of a language in the order of the pool's candidates."""
    if as_pool:
        return rows
    code = data.languages.index(tag)
    number = {own: i for i, own in enumerate(np.array(data.ids)[data.language == code])}
    own = np.flatnonzero(pool.candidates.language == pool.languages.index(tag))
    return rows[[number[pool.candidates.ids[c]] for c in own]]
