"""A model made for another comparison than the cosine: warned of where the order is another one."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from xlingual import Manifest, crosslingual_retrieval
from xlingual.embed.checks import warn_of_similarity
from xlingual.encoders import Adapter, Stacked, adopt
from xlingual.errors import DataWarning
from xlingual.records import Texts

UNIT = np.eye(3, dtype=np.float32)
UNEVEN = UNIT * np.array([[1.0], [2.0], [0.0]], dtype=np.float32)


def said(vectors, compares_by):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_similarity(vectors, compares_by, "text encoder 'm'")
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("compares_by", ["dot", "euclidean"])
def test_where_lengths_differ_the_order_does(compares_by):
    assert said(UNIT, compares_by) == said(5 * UNIT, compares_by) == []
    assert said((UNIT + 1e-4).astype(np.float16), compares_by) == []
    assert said(UNIT[:0], compares_by) == said(0 * UNIT, compares_by) == []
    (_found,) = said(UNEVEN, compares_by)


class Dot:
    identity, compares_by, by_role = "dots", "dot", True

    def encode(self, batch: Texts):
        return np.array([[len(text), 1.0 + i] for i, text in enumerate(batch.text)])


def test_what_stands_on_it_has_other_vectors():
    class Same(Adapter):
        identity = "same"

    class Half(Stacked):
        identity = "half"

        def apply(self, *vectors):
            return vectors[0] / 2

    below = adopt(Dot())
    assert (Same(below).compares_by, Half(below).compares_by) == ("dot", None)


def test_results_have_it_and_sparse_rows_are_ranked_by_the_product():
    rng = np.random.default_rng(3)
    table = {f"{tag}{i}": rng.normal(size=4) * (1 + i) for tag in ("en", "de") for i in range(12)}
    manifest = Manifest.of([{"id": name, "lang": name[:2], "text": name, "item": name[2:]} for name in table])

    class Own:
        identity, compares_by = "own", "dot"

        def encode(self, batch: Texts):
            return np.array([table[text] for text in batch.text], dtype=np.float32)

    by_dot = {"dense": Own(), "sparse": lambda texts: csr_array([table[text] for text in texts])}
    with pytest.warns(DataWarning, match="dot product"):
        found = crosslingual_retrieval(manifest, by_dot, pairs="en-de", measures="RR", store=None)
    assert len([text for text in found.warnings if "dot product" in text]) == 1
    queries, candidates = (np.array([table[f"{tag}{i}"] for i in range(12)]) for tag in ("en", "de"))
    scores = queries @ candidates.T
    rank = (scores > np.diag(scores)[:, None]).sum(axis=1) + 1
    values = {entry.encoder: entry.value for entry in found.entries if entry.source == "en"}
    assert values["sparse"] == pytest.approx((1 / rank).mean(), abs=1e-9)
    assert values["dense"] != values["sparse"]
