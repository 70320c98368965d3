"""Models of sentence-transformers as they are."""

import numpy as np
import pytest

sentence_transformers = pytest.importorskip("sentence_transformers")


@pytest.fixture(scope="module")
def model(checkpoints):
    return sentence_transformers.SentenceTransformer(str(checkpoints("sentence_bert")), device="cpu")


def test_the_small_model_encodes(model):
    assert np.isfinite(model.encode(["a red chair", "ein roter Stuhl"])).all()
