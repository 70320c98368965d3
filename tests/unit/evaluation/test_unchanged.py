"""Lists of a model that has changed since its evaluation are refused."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xlingual
from xlingual import crosslingual_retrieval
from xlingual.data.manifest import Manifest
from xlingual.encoders import Encoder, text_encoders
from xlingual.evaluation.unchanged import ChangedError, FewVectors
from xlingual.forms import SparseVectors, TokenVectors

N = 40
CHANGED = "text encoder 'mine' has changed since it was evaluated, and lists are not kept: evaluate it again"


class Model:
    """Vectors of items that are off by `shift` for German; a function of texts, without an identity."""

    def __init__(self):
        self.shift, self.only, self.noise = 1, None, 0.0

    def __call__(self, texts: list[str]):
        out = []
        for text in texts:
            tag, number = text.split()
            moved = self.only is None or int(number) in self.only
            vector = np.eye(N)[(int(number) + (self.shift if tag == "de" and moved else 0)) % N]
            out.append(vector + self.noise * np.cos(np.arange(N)))
        return np.array(out)


@pytest.fixture
def manifest():
    return Manifest.of(
        [
            {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": i}
            for i in range(N)
            for tag in ("en", "de")
        ]
    )


def evaluated(manifest, model):
    return crosslingual_retrieval(
        manifest, text_encoders={"mine": model}, pairs="en-de", measures=["R@1"], store=None
    )


class Digested(Encoder):
    """A model in memory with an identity, as of its weights."""

    content = ("text",)

    def __init__(self):
        self.model, self.changed = Model(), False

    @property
    def identity(self):
        return "digest-of-weights"

    def encode(self, batch):
        return self.model(list(batch.text))

    def has_changed(self):
        return self.changed


def test_an_identity_is_compared_where_vectors_are_not_kept(manifest, tmp_path):
    encoder = Digested()
    options = {"text_encoders": {"mine": encoder}, "pairs": "en-de", "measures": ["R@1"]}
    in_memory = crosslingual_retrieval(manifest, store=None, **options)
    stored = crosslingual_retrieval(manifest, store=tmp_path, **options)
    found = in_memory.failures_table()
    encoder.changed, encoder.model.shift = True, 5
    with pytest.raises(ChangedError, match=CHANGED):
        in_memory.failures_table()
    assert stored.failures_table().equals(found)  # of the vectors in the store


def test_an_encoder_on_top_of_a_changed_one_has_changed():
    encoder = Digested()
    on_top = text_encoders({"mine": xlingual.encoder(encoder, prompt="a ")}, languages=["en"])["mine"]
    assert not on_top.has_changed()
    encoder.changed = True
    assert on_top.has_changed()


def test_all_forms_of_vectors_are_compared():
    dense = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    other = dense.copy()
    other[-1, 0] += 0.1
    bounds = np.arange(51)
    for form in (
        lambda rows: rows,
        lambda rows: SparseVectors.of(csr_matrix(rows)),
        lambda rows: TokenVectors(rows, bounds),
    ):
        few = FewVectors()
        few.check("nobody's", form(dense))
        few.keep("a", form(dense))
        few.keep("a", form(other))  # the first stay
        few.check("a", form(dense))
        for changed in (other, dense[:, :3], dense[:5]):
            with pytest.raises(ChangedError):
                few.check("a", form(changed) if len(changed) == 50 else changed)
