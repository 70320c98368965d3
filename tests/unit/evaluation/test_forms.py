"""Encoders of sparse rows and of token vectors: tasks that score them as they are, and what is refused."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests import scored

from xlingual import Manifest, crosslingual_retrieval, multilingual_pool
from xlingual.errors import InputError
from xlingual.forms import SparseVectors, TokenVectors
from xlingual.signature import Signature

HERE = Path(__file__).parent
plain = SimpleNamespace(**run_path(str(HERE / "multilingual_pool" / "plain.py")))
given = SimpleNamespace(**run_path(str(HERE.parents[1] / "properties" / "test_multilingual_pool.py")))
N, D = 40, 8
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


@pytest.fixture(scope="module")
def manifest():
    return Manifest.of([{"id": f"r{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(N)])


class Table:
    """Gives vectors of any form by language and id; its texts hold ties and zeros."""

    content = ("text",)

    def __init__(self, form):
        make = scored.sparse if form in ("dot", "cosine") else scored.tokens
        rng = np.random.default_rng(0)
        self.sides = {tag: make("duplicated", rng, N, D, form) for tag in ("en", "de")}
        self.identity = f"table {form}"

    def encode(self, batch):
        both = [(tag, int(text.split()[1])) for tag, text in zip(batch.language, batch.text, strict=True)]
        rows = [self.sides[tag][[i]] for tag, i in both]
        if isinstance(rows[0], SparseVectors):
            from scipy.sparse import vstack

            return SparseVectors.of(vstack([row.matrix for row in rows]), rows[0].compared_by)
        return TokenVectors.of([row.vectors for row in rows], rows[0].compared_by)


@pytest.mark.parametrize("form", ["dot", "cosine", "maxsim", "meanmaxsim"])
def test_retrieval_equals_the_loops(manifest, form, tmp_path):
    """Above, tied and R@10 of every query, from all pairs scored one by one; twice, by way of the store."""
    encoder = Table(form)
    keys = scored.naive_keys(encoder.sides["en"], encoder.sides["de"])
    own = keys[np.arange(N), np.arange(N)][:, None]
    above, tied = (keys > own).sum(axis=1), (keys == own).sum(axis=1)
    for _ in range(2):
        results = crosslingual_retrieval(manifest, text_encoders=encoder, pairs="en-de", store=tmp_path)
        assert results.per_query["above"].to_pylist() == above.tolist()
        assert results.per_query["tied"].to_pylist() == tied.tolist()
        wanted = np.clip((10 - above) / tied, 0, 1).mean()
        assert results.entries[0].value == pytest.approx(wanted, abs=1e-12)
    named = "" if form == "cosine" else form
    assert Signature.parse(results.entries[0].signature).system.get("similarity", "") == named


@pytest.mark.parametrize("form", ["dot", "cosine", "maxsim", "meanmaxsim"])
def test_a_pool_equals_a_plain_evaluation(form):
    make = scored.sparse if form in ("dot", "cosine") else scored.tokens
    rng = np.random.default_rng(2)
    pool, *dense = given.drawn(rng, 9, 30, dim=4)
    vectors = [make("integers", rng, len(side), 4, form) for side in dense]
    wanted = plain.Plain(pool, *dense)
    wanted.keys = scored.naive_keys(*vectors)
    results = multilingual_pool(
        pool,
        text_encoders={"e": given.Given(*vectors)},
        measures=given.MEASURES,
        store=None,
    )
    for entry in results.entries:
        mean = np.nanmedian if entry.measure == "MedR" else np.nanmean
        assert entry.value == pytest.approx(mean(wanted.measure(entry.measure)), abs=1e-9)
        assert entry.n_tied == wanted.tied_questions()
    (first,) = [entry for entry in results.entries if entry.measure == "AP"]
    assert first.views.language_id_accuracy is None and first.views.hubs is not None


BAD = [
    (lambda n: [np.ones((2, 3))] * (n - 1) + [np.ones((2, 4))], r"are float64 \(2, 4\)"),
    (lambda n: [np.full((2, 3), np.nan)] * n, "holds NaN"),
    (lambda n: [np.ones((2, 3))] * (n - 1), "a vector for each token of shape"),
    (lambda n: csr_array(np.full((n, 2), np.inf)), "holds NaN or infinity"),
    (lambda n: csr_array((n + 1, 2)), "sparse vectors of shape"),
    (lambda n: np.ones((n, 2, 3)), r"a list of arrays \[tokens, d\]"),
    (lambda n: TokenVectors(np.ones((3, 2), np.float32), np.arange(n + 1)), "bounds that do not fit"),
    (lambda n: csr_array(np.full((n, 2), 1e6)), "above 1,000,000"),
    (lambda n: csr_array(np.full((n, 2), 1e-4)), "at most: they are decided to 9 decimals"),
]


@pytest.mark.parametrize(("answer", "words"), BAD)
def test_vectors_that_cannot_be_used(manifest, answer, words):
    class Bad:
        identity = "bad"

        def encode(self, batch):
            return answer(len(batch))

    with pytest.raises(InputError, match=words):
        crosslingual_retrieval(manifest, text_encoders=Bad(), store=None)
