"""Fusions and re-rankers over pools: retrieval by judgements, and the multilingual pool."""

import numpy as np
import pytest

import xlingual
from xlingual import MultilingualPool, multilingual_pool, retrieval
from xlingual.data.pools.build import build_pool
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.runs import SearchRun

N, M = 6, 16
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(0)
    tags = ["en", "de"]
    grades = rng.choice([0, 0, 1, 2], (N, M))
    grades[:, 0] = 1
    questions = Questions(
        ids=[f"q{i}" for i in range(N)],
        language=np.arange(N) % 2,
        text=[f"w{i} w{i + 1}" for i in range(N)],
        key=[f"q{i}" for i in range(N)],
        cluster=np.arange(N),
    )
    candidates = Candidates(
        ids=[f"d{j}" for j in range(M)],
        language=np.arange(M) % 2,
        text=[f"w{j % 7} x" for j in range(M)],
        context=[""] * M,
        keys=[tuple(f"q{i}" for i in range(N) if grades[i, j] > 0) for j in range(M)],
        cluster=np.arange(N, N + M),
        grades=[tuple(int(g) for g in grades[:, j] if g > 0) for j in range(M)],
        irrelevant=[tuple(f"q{i}" for i in range(N) if grades[i, j] == 0) for j in range(M)],
    )
    return MultilingualPool.of(build_pool("made", tuple(tags), questions, candidates))


class Known:
    """Gives each text the vector of its id, and counts texts."""

    def __init__(self, seed):
        self.seed, self.identity, self.encoded = seed, f"known-{seed}", 0

    def encode(self, batch):
        self.encoded += len(batch)
        rng = np.random.default_rng(self.seed)
        vectors = {
            own: rng.normal(size=4) for own in [f"q{i}" for i in range(N)] + [f"d{j}" for j in range(M)]
        }
        return np.array([vectors[own] for own in batch.ids], dtype=np.float32)

    def run(self):
        """Return the run of all candidates, by cosine."""
        from xlingual.records import Texts

        sides = []
        for kind, n in (("q", N), ("d", M)):
            vectors = self.encode(Texts([""] * n, ["en"] * n, [f"{kind}{i}" for i in range(n)])).astype(float)
            sides.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
        scores = np.round(sides[0] @ sides[1].T, 9)
        return SearchRun.of(
            {f"q{i}": {f"d{j}": s for j, s in enumerate(row)} for i, row in enumerate(scores.tolist())}
        )


MEASURES = ["nDCG@5", "AP", "P@3"]


def values(results, encoder):
    found = {(e.measure, e.source): e.value for e in results.entries if e.encoder == encoder}
    assert found
    return found


EVALUATIONS = {retrieval: MEASURES, multilingual_pool: ["AP", "P@3"]}


@pytest.mark.parametrize("evaluate", EVALUATIONS)
@pytest.mark.parametrize("spec", ["rrf:a+b", "rrf:a+b?depth=5", "sum:a+b?weights=2,1", "sum:a+b?scale=none"])
def test_fusions_of_encoders_are_those_of_their_runs(pool, spec, evaluate):
    a, b, options = Known(1), Known(2), {"measures": EVALUATIONS[evaluate], "store": None}
    found = evaluate(pool, {"f": spec, "a": a, "b": b}, **options)
    assert (a.encoded, b.encoded) == (N + M, N + M)
    runs = {"a": Known(1).run(), "b": Known(2).run()}
    again = evaluate(pool, {**runs, "f": spec}, **options)
    assert values(again, "f") == pytest.approx(values(found, "f"))
    mixed = evaluate(pool, {"a": runs["a"], "b": Known(2), "f": spec}, **options)
    assert values(mixed, "f") == pytest.approx(values(found, "f"))
    assert "::(known-1)+(known-2)" in next(e.signature for e in found.entries if e.encoder == "f")


@pytest.mark.parametrize("evaluate", EVALUATIONS)
def test_runs_that_are_given_apart_are_fused_too(pool, evaluate):
    options = {"measures": EVALUATIONS[evaluate], "store": None}
    found = evaluate(pool, {"a": Known(1), "h": "rrf:a+engine"}, runs={"engine": Known(2).run()}, **options)
    expected = evaluate(pool, {"a": Known(1), "engine": Known(2), "h": "rrf:a+engine"}, **options)
    assert values(found, "h") == pytest.approx(values(expected, "h"))


@pytest.mark.parametrize("evaluate", EVALUATIONS)
def test_a_fusion_of_equals_is_their_order(pool, evaluate):
    systems = {"a": Known(1), "b": Known(1).run(), "f": "rrf:a+b"}
    found = evaluate(pool, systems, measures=EVALUATIONS[evaluate], store=None)
    assert values(found, "f") == values(found, "a")


def test_a_perfect_reranker_puts_the_relevant_first(pool):
    question, candidate, grade = pool.judged
    grades = np.zeros((N, M))
    grades[question, candidate] = grade

    class Judge:
        def predict(self, pairs):
            """Know the question by its text; candidates of one text have one score."""
            found = []
            for query, text in pairs:
                i = int(query.split()[0][1:])
                same = [j for j in range(M) if pool.candidates.text[j] == text]
                found.append(max(grades[i, j] for j in same))
            return np.array(found)

    systems = {"a": Known(1), "b": "bm25:", "h": "rrf:a+b", "r": xlingual.reranker(Judge(), "h", first=M)}
    found = retrieval(pool, systems, measures=["nDCG@5"], store=None)
    mean = {name: values(found, name)["nDCG@5", "all"] for name in systems}
    assert mean["r"] > max(mean[name] for name in ("a", "b", "h"))
    assert len(found.failures(encoder="r"))


def test_ties_as_trec_eval_has_them(pool, tmp_path):
    systems = {"a": Known(1), "b": "bm25:", "f": "rrf:a+b"}
    found = retrieval(pool, systems, measures=["nDCG@5"], ties="trec", store=None, trec=tmp_path)
    assert all(0 <= value <= 1 for value in values(found, "f").values())
    assert any("f" in path.name for path in tmp_path.rglob("*"))


@pytest.mark.parametrize(
    ("measure", "value", "own"),
    [("R@99", 1, 1), ("Success@99", 1, 1), ("P@99", 2 / 99, 1 / 99), ("AP", 0.75, 1), ("RR@99", 1, 1)],
)
def test_a_run_without_the_relevant_gains_nothing_however_deep(measure, value, own):
    """Each list but one has ended, without the answer; k is beyond the pool."""
    names = [f"{tag}:c{i}" for tag in ("en", "de") for i in range(3)]
    tags, rows = ["en", "de"], range(6)
    questions = Questions(
        ids=[f"q{i % 3}" for i in rows],
        language=np.arange(6) // 3,
        text=[f"w{i}" for i in rows],
        key=[f"q{i % 3}" for i in rows],
        cluster=np.arange(6) % 3,
    )
    candidates = Candidates(
        ids=[f"c{i % 3}" for i in rows],
        language=np.arange(6) // 3,
        text=[f"x{i}" for i in rows],
        context=[""] * 6,
        keys=[(f"q{i % 3}",) for i in rows],
        cluster=3 + np.arange(6) % 3,
    )
    small = MultilingualPool.of(build_pool("small", tuple(tags), questions, candidates))
    asked = [f"{tag}:q{i}" for tag in tags for i in range(3)]
    lists = {query: {name: 1.0 for name in names if name[-1] != query[-1]} for query in asked}
    lists["en:q0"] = {name: 6.0 - place for place, name in enumerate(names)}
    cases = [(multilingual_pool, {}, value), (retrieval, {}, value)]
    for evaluate, options, of_first in [*cases, (multilingual_pool, {"policy": "prefer-own"}, own)]:
        found = evaluate(small, {"e": SearchRun.of(lists)}, measures=[measure], store=None, **options)
        assert next(iter(values(found, "e").values())) == pytest.approx(of_first / 6)
