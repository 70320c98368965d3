"""`random:` gives standard normal vectors that depend on the seed, the language and the text alone."""

import numpy as np
from scipy.stats import kstest

from xlingual.encoders import text_encoders
from xlingual.records import Texts


def encode(options, *rows):
    (made,) = text_encoders([f"random:{options}"], languages=["en", "de", "ena"]).values()
    languages, texts = zip(*rows, strict=True)
    return made.encode(Texts(list(texts), list(languages), list(map(str, range(len(rows))))))


def test_seed_language_and_text_tell_vectors_apart():
    rows = [("en", "a"), ("de", "a"), ("en", "b"), ("en", "ab"), ("ena", "b")]
    vectors = np.vstack([encode("?dim=7", *rows, ("en", "a")), encode("?dim=7&seed=1", *rows)])
    assert vectors.shape == (11, 7)
    np.testing.assert_array_equal(vectors[0], vectors[5])
    assert len(np.unique(vectors, axis=0)) == 10


def test_numbers_are_standard_normal_and_neighbours_at_chance():
    vectors = encode(
        "?dim=32", *[("en", str(i)) for i in range(1000)], *[("de", str(i)) for i in range(1000)]
    )
    assert kstest(vectors.ravel(), "norm").pvalue > 0.001
    scores = vectors[:1000] @ vectors[1000:].T
    above = (scores > np.diag(scores)[:, None]).sum(axis=1)
    assert abs((above < 500).mean() - 0.5) < 0.06
