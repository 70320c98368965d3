import numpy as np
import pytest

from xlingual.encoders.random import RandomEncoder
from xlingual.records import Texts


def texts(*pairs):
    return Texts(
        [text for _, text in pairs], [language for language, _ in pairs], [str(i) for i in range(len(pairs))]
    )


def many(n):
    return texts(*[("en", f"text {i}") for i in range(n)])


def test_equal_texts_of_one_language_have_one_vector():
    vectors = RandomEncoder().encode(texts(("en", "a"), ("de", "a"), ("en", "a"), ("en", "b")))
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert not np.allclose(vectors[0], vectors[1])
    assert not np.allclose(vectors[0], vectors[3])


def test_seeds_and_dimensions_give_other_vectors():
    batch = texts(("en", "a"))
    assert RandomEncoder(dim=7).encode(batch).shape == (1, 7)
    assert not np.allclose(RandomEncoder(seed=1).encode(batch), RandomEncoder(seed=2).encode(batch))
    assert len({RandomEncoder(d, s).identity for d in (2, 3) for s in (0, 1)}) == 4


def test_language_and_text_are_kept_apart():
    vectors = RandomEncoder().encode(texts(("en", "ab"), ("ena", "b")))
    assert not np.allclose(vectors[0], vectors[1])


def test_numbers_are_standard_normal():
    from scipy.stats import kstest

    vectors = RandomEncoder(dim=32).encode(many(2000))
    assert kstest(vectors.ravel(), "norm").pvalue > 0.001
    assert abs(np.corrcoef(vectors[:1000].ravel(), vectors[1000:].ravel())[0, 1]) < 0.03


def test_nearest_neighbours_are_at_chance():
    encoder, n = RandomEncoder(), 400
    source = encoder.encode(texts(*[("en", str(i)) for i in range(n)]))
    target = encoder.encode(texts(*[("de", str(i)) for i in range(n)]))
    scores = source @ target.T
    above = (scores > np.diag(scores)[:, None]).sum(axis=1)
    assert (above < n // 2).mean() == pytest.approx(0.5, abs=0.1)
