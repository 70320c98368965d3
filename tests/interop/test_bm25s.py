"""`bm25:` beside bm25s itself: the same scores, the same recall."""

import numpy as np
import pytest

from xlingual import Manifest, crosslingual_retrieval
from xlingual.embed.sides import embed_sides
from xlingual.encoders import text_encoders
from xlingual.records import Texts

bm25s = pytest.importorskip("bm25s")
WORDS = [f"w{i}" for i in range(60)]


@pytest.fixture(scope="module")
def data():
    """Queries and candidates; each candidate has words of its query."""
    rng = np.random.default_rng(5)
    chance = 1 / np.arange(1, 61) / (1 / np.arange(1, 61)).sum()
    documents = [list(rng.choice(WORDS, rng.integers(3, 20), p=chance)) for _ in range(80)]
    queries = [[*rng.choice(own, 2), *rng.choice(WORDS, 2)] for own in documents]
    return [" ".join(q) for q in queries], [" ".join(d) for d in documents]


def texts(lines, role):
    return Texts(lines, ["en"] * len(lines), [f"{role}{i}" for i in range(len(lines))], role=role)


def theirs(queries, documents, **options):
    """Return the scores that bm25s gives each pair, with its own tokeniser and retrieval."""
    tokens = {"token_pattern": r"\w+", "stopwords": None, "show_progress": False}
    engine = bm25s.BM25(**options)
    engine.index(bm25s.tokenize(documents, **tokens), show_progress=False)
    asked = bm25s.tokenize(queries, return_ids=False, **tokens)
    rows, scores = engine.retrieve(asked, k=len(documents), show_progress=False)
    found = np.empty((len(queries), len(documents)))
    np.put_along_axis(found, rows, scores, axis=1)
    return found


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4)])
def test_scores_are_those_of_bm25s(data, k1, b):
    encoder = text_encoders(f"bm25:?k1={k1}&b={b}", languages=["en"])["bm25"]
    sides = [texts(lines, role) for lines, role in zip(data, ("query", "candidate"), strict=True)]
    found = embed_sides(*sides, "bm25", encoder, any_form=True)
    ours = (found.questions.matrix.astype(np.float64) @ found.candidates.matrix.T).toarray()
    np.testing.assert_allclose(ours, theirs(*data, method="lucene", k1=k1, b=b), atol=1e-5)


def test_recall_is_that_of_bm25s(data):
    queries, documents = data
    rows = [
        {"id": i, "text_en": q, "text_de": d} for i, (q, d) in enumerate(zip(queries, documents, strict=True))
    ]
    rows = [{**row, "id": str(row["id"])} for row in rows]
    found = crosslingual_retrieval(Manifest.of(rows), "bm25:", pairs="en-de", measures="R@10", store=None)
    scores = np.round(theirs(queries, documents, method="lucene"), 5)
    own = np.diag(scores)[:, None]
    above, tied = (scores > own).sum(axis=1), (scores == own).sum(axis=1)
    assert found.entries[0].value == pytest.approx(np.clip((10 - above) / tied, 0, 1).mean())
