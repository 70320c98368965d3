"""A re-ranker orders the first results of a system by a model's scores, and leaves the others below."""

import warnings

import numpy as np
import pytest

import xlingual
from xlingual import InputError, Manifest, crosslingual_retrieval
from xlingual.data.runs import SearchRun
from xlingual.encoders.spec import Spec, parse
from xlingual.ranking.listed import Lists
from xlingual.records import Encoded
from xlingual.systems import Names, Search
from xlingual.systems.reranker import RerankedSystem

N = 24


@pytest.fixture(scope="module")
def manifest():
    return Manifest.from_rows([{"id": f"p{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(N)])


class Pairs:
    """Scores pairs by how near their numbers are, and counts them."""

    identity = "near"

    def __init__(self, best=0):
        self.best, self.read = best, []

    def predict(self, pairs):
        self.read += pairs
        numbers = [[int(text.split()[1]) for text in pair] for pair in pairs]
        return np.array([-abs(a + self.best - b) for a, b in numbers], dtype=np.float32)


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(4).normal(size=(N, N)).round(2)


@pytest.fixture(scope="module")
def run(scores):
    return SearchRun.of(
        {f"en:p{i}": {f"de:p{j}": s for j, s in enumerate(row)} for i, row in enumerate(scores.tolist())}
    )


def xlr(manifest, systems, **options):
    options = {"pairs": "en-de", "measures": ["R@1", "R@5", "RR"], "store": None} | options
    return crosslingual_retrieval(manifest, systems, **options)


def values(results, encoder):
    found = [(e.measure, e.value, e.n_tied) for e in results.entries if e.encoder == encoder]
    assert found
    return found


@pytest.mark.parametrize("first", [1, 5, N])
@pytest.mark.parametrize("best", [0, 3])
def test_ranks_are_those_of_a_loop(manifest, scores, run, first, best):
    model = Pairs(best)
    found = xlr(manifest, {"a": run, "r": xlingual.reranker(model, "a", first=first)})
    own = {row["query"]: row for row in found.per_query.to_pylist() if row["encoder"] == "r"}
    read = 0
    for i in range(N):
        head = [j for j in range(N) if (scores[i] >= scores[i, j]).sum() <= first]
        read += len(head)
        if i in head:
            new = {j: -abs(i + best - j) for j in head}
            above, tied = sum(v > new[i] for v in new.values()), sum(v == new[i] for v in new.values())
        else:
            above, tied = (scores[i] > scores[i, i]).sum(), (scores[i] == scores[i, i]).sum()
        assert (own[f"p{i}"]["above"], own[f"p{i}"]["tied"]) == (above, tied)
    assert len(model.read) == read
    if first == N and best == 0:
        assert values(found, "r")[0] == ("R@1", 1.0, 0)


def test_measures_up_to_the_first_do_not_change_as_sets(manifest, run):
    found = xlr(manifest, {"a": run, "r": xlingual.reranker(Pairs(9), "a", first=5)}, measures=["R@5", "R@9"])
    assert [v for _, v, _ in values(found, "r")] == [v for _, v, _ in values(found, "a")]


def test_a_reranker_of_an_encoder_of_a_fusion_and_fusions_of_it(manifest, run):
    rng = np.random.default_rng(0)
    vectors = {tag: rng.normal(size=(N, 5)).astype(np.float32) for tag in ("en", "de")}
    systems = {
        "r": xlingual.reranker(Pairs(), "h", first=8),
        "a": run,
        "v": vectors,
        "h": "rrf:a+v",
        "again": "rrf:r+v?weights=1,0.5",
    }
    found = xlr(manifest, systems)
    assert len(found.failures(encoder="r"))
    signatures = {e.encoder: e.signature for e in found.entries}
    assert "rerank:v1?first=8&depth=1000&model=" in signatures["r"]
    assert "::(rrf:v1?k=60" in signatures["r"]
    assert signatures["r"].partition("encoder:")[2] in signatures["again"]
    assert values(found, "r")[0][1] > values(found, "h")[0][1]
    with pytest.raises(InputError, match=r"sum: 'r' has no scores: .*rrf:"):
        xlr(manifest, {**systems, "s": "sum:r+v"})


def test_a_list_that_is_too_short_for_a_measure_is_refused(manifest):
    rng = np.random.default_rng(0)
    vectors = {tag: rng.normal(size=(N, 5)).astype(np.float32) for tag in ("en", "de")}
    systems = {"v": vectors, "r": xlingual.reranker(Pairs(), "v", first=3, depth=6)}
    assert xlr(manifest, systems, measures=["R@5"]).entries
    with pytest.raises(
        InputError,
        match=r"lists end before rank 9, so R@9 is not known: .* up to rank 6 \(.*\), or give "
        r"the re-ranker a larger depth= \(it takes 6 results\), or longer lists",
    ):
        xlr(manifest, systems, measures=["R@9"])


@pytest.mark.filterwarnings("ignore:.*the longest has:xlingual.errors.DataWarning")
def test_results_that_a_reranker_does_not_take_are_no_misses(manifest):
    """Lists of 20, but for one of 24, are read to 10: what follows is not known, though they have ended."""
    order = np.random.default_rng(2).permuted(np.tile(np.arange(N), (N, 1)), axis=1).tolist()
    run = SearchRun.of(
        {
            f"en:p{i}": {f"de:p{j}": 99.0 - place for place, j in enumerate(row[: N if i == 0 else 20])}
            for i, row in enumerate(order)
        }
    )
    systems = {"a": run, "r": xlingual.reranker(Pairs(), "a", first=5, depth=10)}
    assert xlr(manifest, systems, measures=["R@10"]).entries
    for measure in ("R@15", "RR", "MedR"):
        with pytest.raises(InputError, match=f"system 'r', en-de: 24 of 24 lists end .* {measure} is not"):
            xlr(manifest, systems, measures=[measure])


def test_scores_of_pairs_are_kept_in_the_store(manifest, run, tmp_path):
    from xlingual.encoders.cross_encoder import CrossEncoderObject

    class Named(CrossEncoderObject):
        identity = "pairs-1"
        has_own_identity = True

    model = Pairs()
    shown = []
    for _ in range(2):
        system = RerankedSystem(Named(model), "a", 5)
        xlr(
            manifest,
            {"a": run, "r": system},
            store=tmp_path / "store",
            progress=lambda what, done, total: shown.append((what, done, total)),
        )
        assert len(model.read) == len({*model.read})
    assert any(what == "re-ranking: r" and done == total > 0 for what, done, total in shown)


def test_pairs_that_were_cut_are_warned_of():
    def encode(scorer, pairs):
        return Encoded(np.zeros((len(pairs), 1)), np.arange(len(pairs)) == 0)

    names = Names(["en", "en"], ["a", "b"])
    from xlingual.records import Texts

    lists = Lists(np.array([0, 0]), np.array([0, 1]), np.array([0, 1]), np.zeros(1, dtype=bool), 2)
    search = Search(
        *(names, names, np.array([0]), np.array([0, 1]), "en", "de", 0),
        lists_of=lambda name, depth: lists,
        texts=lambda role, rows: Texts(["x"] * len(rows), ["en"] * len(rows), ["i"] * len(rows), role=role),
        encode=encode,
    )
    with pytest.warns(xlingual.DataWarning, match="en-de: 1 of 2 pairs were longer than the cross-encoder"):
        found = xlingual.reranker(Pairs(), "a").lists(search)
    assert found.level[0] == found.level[1]  # equal scores tie


def test_what_is_no_reranker_is_refused(manifest, run):
    with pytest.raises(InputError, match=r"a re-ranker is a CrossEncoder, or an object with predict"):
        xlingual.reranker(object(), "a")
    with pytest.raises(InputError, match="first must be at least 1"):
        xlingual.reranker(Pairs(), "a", first=0)

    class Labels:
        def predict(self, pairs):
            return np.zeros((len(pairs), 3))

    with pytest.raises(InputError, match="gives each pair 3 numbers, and re-ranking needs one score"):
        xlr(manifest, {"a": run, "r": xlingual.reranker(Labels(), "a")})

    class Broken:
        def predict(self, pairs):
            return np.full(len(pairs), np.nan)

    with pytest.raises(
        InputError, match=r"the score of the pair \('en \d+', 'de \d+'\) is nan: return a finite"
    ):
        xlr(manifest, {"a": run, "r": xlingual.reranker(Broken(), "a")})

    class One:
        def predict(self, pairs):
            return 0.5

    with pytest.raises(InputError, match=r"returned 1 score for \d+ pairs: return one for each"):
        xlr(manifest, {"a": run, "r": xlingual.reranker(One(), "a")})
    with pytest.raises(InputError, match=r"'r' is made of 'b', and no system here has that name"):
        xlr(manifest, {"a": run, "r": xlingual.reranker(Pairs(), "b")})


KNOWN = {"cross-encoder", "bm25", "random", "vectors", "rrf"}


def test_specs_name_a_system_or_are_one():
    assert parse("c=cross-encoder:DIR?first=5::dense", KNOWN) == Spec(
        "c", "cross-encoder", "DIR", (("first", "5"), ("over", "dense"))
    )
    whole = parse("cross-encoder:DIR::b=bm25:?k1=1", KNOWN)
    assert whole.base == Spec("b", "bm25", "", (("k1", "1"),))
    assert parse(str(whole), KNOWN) == whole
    with pytest.raises(InputError, match="unknown scheme 'dense'"):
        parse("rrf:a+b::dense", KNOWN)


@pytest.fixture
def made(monkeypatch):
    """Stand in for models in folders: every cross-encoder is one object."""
    from xlingual.encoders.cross_encoder import CrossEncoderObject

    monkeypatch.setattr(
        "xlingual.encoders.cross_encoder.folder_of", lambda *given: CrossEncoderObject(Pairs())
    )


def test_a_spec_below_is_a_system_with_its_own_line(manifest, made):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # words that no query has
        alone = xlr(manifest, {"r": "cross-encoder:DIR?first=5::bm25:"})
        beside = xlr(manifest, {"bm25": "bm25:", "r": "cross-encoder:DIR?first=5::bm25"})
        other = xlr(manifest, {"bm25": "bm25:?k1=1", "r": "cross-encoder:DIR?first=5::bm25"})
        named = xlr(manifest, {"r": "cross-encoder:DIR?first=5::one=bm25:?k1=1"})
    assert [*dict.fromkeys(e.encoder for e in alone.entries)] == ["bm25", "r"]
    assert values(alone, "r") == values(beside, "r")
    assert "k1=1&" in next(e.signature for e in other.entries if e.encoder == "r")
    assert {e.encoder for e in named.entries} == {"one", "r"}
    with pytest.raises(InputError, match=r"two systems are named 'bm25': .* ::bm25-2=bm25:\?k1=2"):
        xlr(manifest, {"bm25": "bm25:?k1=1", "r": "cross-encoder:DIR::bm25:?k1=2"})
    with pytest.raises(InputError, match=r"which system's results are read\? Write cross-encoder:DIR::NAME"):
        xlr(manifest, {"a": "random", "r": "cross-encoder:DIR"})
    with pytest.raises(InputError, match=r"'r' is made of 'dnse', .*Did you mean 'dense'\?"):
        xlr(manifest, {"dense": "random", "r": "cross-encoder:DIR::dnse"})
