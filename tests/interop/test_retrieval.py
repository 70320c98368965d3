"""Retrieval by judgements has the numbers of trec_eval (pytrec_eval) and ir_measures."""

import warnings

import numpy as np
import pytest

from xlingual import MultilingualPool, retrieval
from xlingual.embed.sides import embed_pool
from xlingual.encoders import text_encoders
from xlingual.evaluation.retrieval import runs_against_qrels

ir_measures = pytest.importorskip("ir_measures")
pytrec_eval = pytest.importorskip("pytrec_eval")
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")

THEIRS = {  # of trec_eval
    "nDCG@10": "ndcg_cut_10",
    "nDCG": "ndcg",
    "AP": "map",
    "AP@10": "map_cut_10",
    "R@10": "recall_10",
    "P@5": "P_5",
    "RR": "recip_rank",
    "Success@5": "success_5",
    "Bpref": "bpref",
}
BY_NAME = (
    "nDCG@10",
    "AP",
    "AP@10",
    "R@10",
    "P@5",
    "RR@10",
    "Success@5",
    "Judged@10",
)


def drawn(seed, *, ties):
    """Return judgements and a run; some queries lack a relevant candidate, or results."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(60)]
    qrels, run = {}, {}
    for q in range(30):
        grades = np.zeros(12, dtype=int) if q % 11 == 5 else rng.choice([0, 0, 1, 2, 3], 12)
        qrels[f"q{q}"] = dict(zip(rng.choice(docs, 12, replace=False).tolist(), grades.tolist(), strict=True))
        if q % 9 == 3:
            continue
        found = rng.choice(docs, int(rng.integers(5, 40)), replace=False).tolist()
        scores = rng.permutation(len(found)) * 0.37
        if ties:  # some are equal as float32 only
            scores = rng.integers(0, 6, len(found)) / 3 + rng.choice([0, 1e-10], len(found))
        run[f"q{q}"] = dict(zip(found, scores.tolist(), strict=True))
    return qrels, run


def by_query(results, encoder):
    found = {}
    for row in results.per_query.to_pylist():
        if row["encoder"] == encoder:
            found.setdefault(row["measure"], {})[row["query"]] = row["value"]
    return found


def check(qrels, run, results, encoder, names):
    """Compare each query with trec_eval, and the means with those over all queries (-c)."""
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(THEIRS.values())).evaluate(run)
    ours = by_query(results, encoder)
    means = {entry.measure: entry.value for entry in results.entries if entry.encoder == encoder}
    for name in names:
        wanted = {query: theirs.get(query, {}).get(THEIRS[name], 0.0) for query in qrels}
        assert ours[name] == pytest.approx(wanted, abs=1e-9), name
        assert means[name] == pytest.approx(np.mean(list(wanted.values())), abs=1e-9), name


@pytest.mark.parametrize("seed", range(4))
def test_trec_ties_are_those_of_trec_eval(seed):
    qrels, run = drawn(seed, ties=True)
    results = runs_against_qrels(qrels, {"a": run}, measures=list(THEIRS), ties="trec")
    check(qrels, run, results, "a", THEIRS)


def test_a_pool_counts_queries_without_a_relevant_candidate_as_trec_eval_does(tmp_path):
    qrels, run = drawn(5, ties=True)
    for own in qrels.values():
        own[min(own)] = max(1, own[min(own)])  # of grade 1, so that a pool has the query
    (tmp_path / "queries.jsonl").write_text(
        "".join(f'{{"_id": "{query}", "text": "query {query}"}}\n' for query in qrels)
    )
    (tmp_path / "corpus.jsonl").write_text(
        "".join(f'{{"_id": "d{i}", "text": "document {i}"}}\n' for i in range(60))
    )
    pool = MultilingualPool.read(tmp_path, ["en"], qrels=qrels)
    found = retrieval(pool, runs={"a": run}, measures="AP P@5", relevant_from=2, ties="trec", store=None)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "P.5"}, relevance_level=2).evaluate(run)
    lost = [query for query, own in qrels.items() if max(own.values()) < 2]
    assert lost
    ours = by_query(found, "a")
    for name, own in {"AP": "map", "P@5": "P_5"}.items():
        wanted = {query: theirs.get(query, {}).get(own, 0.0) for query in qrels}
        assert ours[name] == pytest.approx(wanted, abs=1e-9)
        mean = next(entry.value for entry in found.entries if entry.measure == name)
        assert mean == pytest.approx(np.mean(list(wanted.values())), abs=1e-9)


def test_exponential_gains_are_grades_of_trec_eval():
    qrels, run = drawn(9, ties=True)
    name = "nDCG(dcg='exp-log2')@10"
    ours = by_query(runs_against_qrels(qrels, {"a": run}, measures=name, ties="trec"), "a")[name]
    gains = {query: {doc: 2**grade - 1 for doc, grade in own.items()} for query, own in qrels.items()}
    theirs = pytrec_eval.RelevanceEvaluator(gains, {"ndcg_cut_10"}).evaluate(run)
    assert ours == pytest.approx({q: theirs.get(q, {}).get("ndcg_cut_10", 0.0) for q in qrels}, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_without_ties_the_defaults_are_those_of_ir_measures(seed):
    qrels, run = drawn(seed, ties=False)
    depth = max(map(len, run.values()))
    run["q0"] = {f"d{i}": 1000.0 - i for i in range(60)}  # the longest list: all others ended
    assert depth < 60
    results = runs_against_qrels(qrels, {"a": run}, measures=list(BY_NAME))
    ours = by_query(results, "a")
    measures = {ir_measures.parse_measure(name): name for name in BY_NAME}
    compared = 0
    for one in ir_measures.iter_calc(list(measures), qrels, run):
        if one.query_id in ours[measures[one.measure]]:  # those without a relevant candidate are left out
            assert ours[measures[one.measure]][one.query_id] == pytest.approx(one.value, abs=1e-9)
            compared += 1
    assert compared > 20 * len(BY_NAME)


def test_objects_of_ranx_are_taken_and_have_its_numbers():
    ranx = pytest.importorskip("ranx")
    qrels, run = drawn(2, ties=False)
    qrels = {query: own for query, own in qrels.items() if any(own.values())}
    run = {query: run.get(query, {"d0": 1.0}) for query in qrels}
    names = {"nDCG@10": "ndcg@10", "AP@5": "map@5", "RR@5": "mrr@5", "P@5": "precision@5", "R@5": "recall@5"}
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(names.values()))
    given = {"a": ranx.Run(run | {"longest": {f"d{i}": 60.0 - i for i in range(60)}})}
    results = runs_against_qrels(ranx.Qrels(qrels), given, measures=list(names))
    for entry in results.entries:
        assert entry.value == pytest.approx(theirs[names[entry.measure]], abs=1e-9), entry.measure


@pytest.fixture(scope="module")
def xquad(real_data):
    return MultilingualPool.read(real_data / "xquad_r", ["en", "de"])


@pytest.fixture(scope="module")
def qrels_of(xquad):
    """Return the judgements by the names of TREC files."""
    tags, found = xquad.languages, {}
    q, c = xquad.questions, xquad.candidates
    for i, j in zip(*(side.tolist() for side in xquad.relevant), strict=True):
        query = f"{tags[q.language[i]]}:{q.ids[i]}"
        found.setdefault(query, {})[f"{tags[c.language[j]]}:{c.ids[j]}"] = 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["chargram", "wordgram"])  # the second has very many ties
def test_real_questions_have_the_numbers_of_trec_eval(xquad, qrels_of, spec):
    """A run of float32 cosines, by pytrec_eval."""
    names = [name for name in THEIRS if name != "Bpref"]  # nothing was judged irrelevant
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = retrieval(xquad, {"it": spec}, measures=names, ties="trec", store=None)
        encoder = text_encoders({"it": spec}, languages=list(xquad.languages))["it"]
        vectors = embed_pool(xquad, "it", encoder)
    unit = [
        side.astype(np.float64)
        / np.maximum(np.linalg.norm(side.astype(np.float64), axis=1, keepdims=True), 1e-30)
        for side in (vectors.questions, vectors.candidates)
    ]
    scores = np.round(unit[0] @ unit[1].T, 9).astype(np.float32)
    tags, q, c = xquad.languages, xquad.questions, xquad.candidates
    documents = [f"{tags[code]}:{own}" for code, own in zip(c.language, c.ids, strict=True)]
    run = {
        f"{tags[code]}:{own}": dict(zip(documents, row.tolist(), strict=True))
        for code, own, row in zip(q.language, q.ids, scores, strict=True)
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels_of, set(THEIRS.values())).evaluate(run)
    ours = by_query(results, "it")
    for name in names:
        wanted = {query.replace(":", "/", 1): own[THEIRS[name]] for query, own in theirs.items()}
        assert ours[name] == pytest.approx(wanted, abs=1e-9), name
