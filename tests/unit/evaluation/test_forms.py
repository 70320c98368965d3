"""Encoders of sparse rows and of token vectors: tasks that score them as they are, and what is refused."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests import scored

from xlingual import (
    Manifest,
    backretrieval,
    crosslingual_retrieval,
    multilingual_pool,
    write_report,
)
from xlingual.embed.sides import embed_texts
from xlingual.encoders import Stacked, adopt
from xlingual.errors import InputError
from xlingual.forms import SparseVectors, TokenVectors
from xlingual.report.pages.evaluation import page
from xlingual.report.render.text import as_text
from xlingual.signature import Signature

HERE = Path(__file__).parent
plain = SimpleNamespace(**run_path(str(HERE / "multilingual_pool" / "plain.py")))
given = SimpleNamespace(**run_path(str(HERE.parents[1] / "properties" / "test_multilingual_pool.py")))
N, D = 40, 8
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


def rows_of_queries(results):
    return results.per_query.to_pydict() if hasattr(results.per_query, "to_pydict") else results.per_query


@pytest.fixture(scope="module")
def manifest():
    return Manifest.of([{"id": f"r{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(N)])


class Table:
    """Gives vectors of any form by language and id; its texts of a kind hold ties and zeros."""

    content = ("text",)

    def __init__(self, form, kind="duplicated", identity=None, seed=0):
        make = scored.sparse if form in ("dot", "cosine") else scored.tokens
        rng = np.random.default_rng(seed)
        self.sides = {tag: make(kind, rng, N, D, form) for tag in ("en", "de")}
        self.identity = identity or f"table {form} {kind} {seed}"

    def encode(self, batch):
        both = [(tag, int(text.split()[1])) for tag, text in zip(batch.language, batch.text, strict=True)]
        rows = [self.sides[tag][[i]] for tag, i in both]
        if isinstance(rows[0], SparseVectors):
            from scipy.sparse import vstack

            return SparseVectors.of(vstack([row.matrix for row in rows]), rows[0].compared_by)
        return TokenVectors.of([row.vectors for row in rows], rows[0].compared_by)


class Images:
    identity = "images"
    opens_images = False

    def encode(self, batch):
        return np.random.default_rng(9).standard_normal((len(batch), 5)).astype(np.float32)


@pytest.mark.parametrize("form", ["dot", "cosine", "maxsim", "meanmaxsim"])
def test_retrieval_equals_the_loops(manifest, form, tmp_path):
    """Above, tied and R@10 of every query, from all pairs scored one by one; twice, by way of the store."""
    encoder = Table(form)
    keys = scored.naive_keys(encoder.sides["en"], encoder.sides["de"])
    own = keys[np.arange(N), np.arange(N)][:, None]
    above, tied = (keys > own).sum(axis=1), (keys == own).sum(axis=1)
    for _ in range(2):
        results = crosslingual_retrieval(manifest, text_encoders=encoder, pairs="en-de", store=tmp_path)
        table = rows_of_queries(results)
        assert list(table["above"]) == above.tolist()
        assert list(table["tied"]) == tied.tolist()
        wanted = np.clip((10 - above) / tied, 0, 1).mean()
        assert results.entries[0].value == pytest.approx(wanted, abs=1e-12)
    named = "" if form == "cosine" else form
    assert Signature.parse(results.entries[0].signature).system.get("similarity", "") == named
    sentence = " ".join(as_text(page(results), "markdown").split())
    assert ("MaxSim" in sentence) is (form in ("maxsim", "meanmaxsim"))


def test_backretrieval_finds_the_text_of_the_greatest_product(manifest):
    rows = [
        {"id": f"r{i}", "lang": tag, "text": f"{tag} {i}", "item": f"{tag}{i}"}
        for tag in ("en", "de")
        for i in range(N)
    ]
    encoder, apart = Table("dot", "random"), Manifest.of(rows)
    results = backretrieval(
        apart, text_encoders=encoder, image_encoder=Images(), pairs="en-de", store=None, measures="R@3"
    )
    keys = scored.naive_keys(encoder.sides["en"], encoder.sides["de"])
    best = keys.argmax(axis=1)
    single = (keys == keys.max(axis=1)[:, None]).sum(axis=1) == 1
    table = rows_of_queries(results)
    retrieved = [name for name, m in zip(table["retrieved"], table["measure"], strict=True) if m == "R@3"]
    assert retrieved == [f"r{row}" if alone else None for row, alone in zip(best, single, strict=True)]


@pytest.mark.parametrize("form", ["dot", "cosine", "maxsim", "meanmaxsim"])
def test_a_pool_equals_a_plain_evaluation(form, tmp_path):
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
        trec=tmp_path / "trec",
        store=None,
    )
    for entry in results.entries:
        mean = np.nanmedian if entry.measure == "MedR" else np.nanmean
        assert entry.value == pytest.approx(mean(wanted.measure(entry.measure)), abs=1e-9)
        assert entry.n_tied == wanted.tied_questions()
    run = (tmp_path / "trec" / "e.run").read_text().splitlines()
    assert len(run) == 9 * 30
    firsts = [line.split()[2] for line in run if line.split()[3] == "1"]
    names = [
        f"{pool.languages[code]}:{own}"
        for code, own in zip(pool.candidates.language, pool.candidates.ids, strict=True)
    ]
    for row, name in zip(wanted.keys, firsts, strict=True):
        assert name == min(names[i] for i in np.flatnonzero(row == row.max()))
    (first,) = [entry for entry in results.entries if entry.measure == "AP"]
    assert first.views.language_id_accuracy is None and first.views.hubs is not None


def test_runs_do_not_depend_on_how_large_scores_are(monkeypatch, tmp_path):
    """Keys that would not fit into an integer beside a column are ranked first: the run is the same."""
    from xlingual.evaluation import ordered

    rng = np.random.default_rng(2)
    pool, *dense = given.drawn(rng, 9, 30, dim=4)
    encoder = given.Given(*(scored.sparse("integers", rng, len(side), 4) for side in dense))
    runs = []
    for largest in (ordered._LARGEST, 10):
        monkeypatch.setattr(ordered, "_LARGEST", largest)
        multilingual_pool(pool, {"a": encoder}, views=False, trec=tmp_path / f"{largest}", store=None)
        runs.append((tmp_path / f"{largest}" / "a.run").read_text())
    assert runs[0] == runs[1] and runs[0].count("\n") == 9 * 30


def test_views_of_sparse_cosine_equal_those_of_dense_rows():
    """All views that counts and lists give are the same for the same rows, dense or not."""
    rng = np.random.default_rng(3)
    pool, questions, candidates = given.drawn(rng, 12, 60, dim=4)
    dense, sparse = (
        multilingual_pool(pool, text_encoders={"e": given.Given(*sides)}, store=None)
        for sides in (
            (questions, candidates),
            [SparseVectors.of(csr_array(side), "cosine") for side in (questions, candidates)],
        )
    )
    (of_dense,), (of_sparse,) = (given.as_json(each.entries) for each in (dense, sparse))
    for name in ("language_id_accuracy", "language_id_chance", "picture"):  # of dense vectors alone
        del of_dense["views"][name]
    del of_dense["views"]["ci"]["language_id_accuracy"]
    assert of_dense == of_sparse


@pytest.mark.parametrize("first", ["dense", "tokens"])
def test_a_page_shows_encoders_of_both_kinds(first, tmp_path):
    rng = np.random.default_rng(3)
    pool, *dense = given.drawn(rng, 30, 60, dim=4)
    tokens = [scored.tokens("random", rng, len(side), 4) for side in dense]
    encoders = {"dense": given.Given(*dense), "tokens": given.Given(*tokens, "other")}
    ordered = {first: encoders[first], **encoders}
    results = multilingual_pool(pool, text_encoders=ordered, store=None)
    views = {entry.encoder: entry.views for entry in results.entries}
    assert views["dense"].language_id_accuracy is not None and views["tokens"].language_id_accuracy is None
    assert views["dense"].hubs is not None and views["tokens"].hubs is not None
    page(results)
    write_report([results], tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_functions_give_them_too_and_encoders_on_top_refuse_them(manifest, tmp_path):
    from xlingual.encoders import text_encoders

    path = tmp_path / "ours.py"
    path.write_text(
        "import numpy as np\nfrom scipy.sparse import csr_array\n"
        "def tokens(texts): return [np.ones((len(text), 2)) for text in texts]\n"
        "def sparse(texts): return csr_array(np.ones((len(texts), 2)))\n"
    )
    specs = {name: f"python:{path}:{name}" for name in ("tokens", "sparse")}
    made = text_encoders({**specs, "on": lambda texts: [np.ones((1, 2))] * len(texts)}, languages=["en"])
    rows = np.arange(4)
    found = {name: embed_texts(manifest, name, one, rows, any_form=True) for name, one in made.items()}
    assert [type(one.vectors) for one in found.values()] == [TokenVectors, SparseVectors, TokenVectors]
    assert found["tokens"].vectors.sizes.tolist() == [4, 4, 4, 4]
    with pytest.raises(InputError, match=r"the encoder below .* gives sparse vectors.* 'x' needs one dense"):
        embed_texts(manifest, "x", OnTop(made["sparse"]), rows, any_form=True)


class OnTop(Stacked):
    identity = "on top"

    def apply(self, *vectors):
        return vectors[0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            lambda n: [np.ones((2, 3))] * (n - 1) + [np.ones((2, 4))],
            r"'r39' .row 40. are float64 \(2, 4\)",
        ),
        (lambda n: [np.full((2, 3), np.nan)] * n, r"the vector of 'r0' \(row 1\) holds NaN"),
        (
            lambda n: [np.ones((2, 3))] * (n - 1),
            r"a vector for each token of shape \(39, 3\); expected \(40, d\)",
        ),
        (lambda n: csr_array(np.full((n, 2), np.inf)), "holds NaN or infinity"),
        (lambda n: csr_array((n + 1, 2)), r"sparse vectors of shape \(41, 2\)"),
        (lambda n: np.ones((n, 2, 3)), r"a list of arrays \[tokens, d\]"),
        (lambda n: TokenVectors(np.ones((3, 2), np.float32), np.arange(n + 1)), "bounds that do not fit"),
        (lambda n: csr_array(np.full((n, 2), 1e6)), "above 1,000,000.*multiply all vectors by one number"),
        (lambda n: csr_array(np.full((n, 2), 1e-4)), "at most: they are decided to 9 decimals"),
    ],
)
def test_vectors_that_cannot_be_used(manifest, answer, words):
    class Bad:
        identity = "bad"

        def encode(self, batch):
            return answer(len(batch))

    rows = [{"id": f"r{i}", "lang": "en", "text": f"en {i}"} for i in range(N)]
    if "above" in words or "at most" in words:
        rows = [{"id": f"r{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(N // 2)]
        with pytest.raises(InputError, match=words):
            crosslingual_retrieval(Manifest.of(rows), text_encoders=Bad(), store=None)
        return
    with pytest.raises(InputError, match=words):
        embed_texts(Manifest.of(rows), "x", adopt(Bad()), np.arange(N), any_form=True, store=None)
