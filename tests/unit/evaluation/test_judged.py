"""Retrieval by judgements: every number is the mean over all orders of what ties, for encoders and runs."""

from itertools import groupby, permutations, product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import scored

from xlingual import DataWarning, InputError, retrieval
from xlingual.data.pools.pool import Candidates, Questions, Rows, build_pool
from xlingual.data.runs import SearchRun
from xlingual.evaluation.retrieval import runs_against_qrels

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
UNJUDGED, MISSED = None, -9
# two directions of the plane in general position for each score, so that equal scores tie exactly
ANGLE = {
    score: np.array([np.cos(a), np.sin(a)], dtype=np.float32) for score, a in enumerate((1.4, 1, 0.7, 0.1))
}


def pool_of(grades, tags=None, asked=None, names=None):
    """Return a pool of queries q0, … and candidates d0, … with grades [n][m], None for an unjudged pair."""
    n, m = len(grades), len(grades[0])
    tags, asked = tags or ["en"] * m, asked or ["en"] * n
    known = tuple(dict.fromkeys([*tags, *asked]))
    held = [{f"q{i}": row[j] for i, row in enumerate(grades) if row[j] is not UNJUDGED} for j in range(m)]
    questions = Questions(
        ids=[f"q{i}" for i in range(n)],
        language=np.array([known.index(tag) for tag in asked]),
        text=[f"query {i}" for i in range(n)],
        key=[f"q{i}" for i in range(n)],
        cluster=np.arange(n),
    )
    candidates = Candidates(
        ids=names or [f"d{j}" for j in range(m)],
        language=np.array([known.index(tag) for tag in tags]),
        text=[f"document {j}" for j in range(m)],
        context=[""] * m,
        keys=[tuple(key for key, grade in own.items() if grade > 0) for own in held],
        cluster=np.arange(n, n + m),
        grades=[tuple(grade for grade in own.values() if grade > 0) for own in held],
        irrelevant=[tuple(key for key, grade in own.items() if grade <= 0) for own in held],
    )
    return build_pool("made", Rows(known, questions, candidates))


class Known:
    """Gives each text the vector of its id."""

    def __init__(self, vectors):
        self.vectors, self.identity = vectors, "known:vectors"

    def encode(self, batch):
        return np.array([self.vectors[own] for own in batch.ids], dtype=np.float32)


def values(results, system, measure):
    rows = results.per_query.filter(
        (np.array(results.per_query["encoder"].to_pylist()) == system)
        & (np.array(results.per_query["measure"].to_pylist()) == measure)
    )
    return dict(zip(rows["query"].to_pylist(), rows["value"].to_pylist(), strict=True))


def number(results, system, measure):
    return next(e for e in results.entries if (e.encoder, e.measure) == (system, measure))


def mean_over_orders(value, scores, grades):
    """Return the expectation of `value` (of the grades by rank, and all grades) over the orders of ties."""
    ranked = sorted((i for i, s in enumerate(scores) if s != MISSED), key=lambda i: -scores[i])
    groups = [[grades[i] for i in tied] for _, tied in groupby(ranked, key=lambda i: scores[i])]
    found = [
        value([one for part in parts for one in part], grades)
        for parts in product(*(permutations(group) for group in groups))
    ]
    return float(sum(found) / len(found))


def right(grade, least=1):
    return grade is not UNJUDGED and grade >= least


def plain(least=1):
    """Return the measures as plain functions of the grades by rank, and of all grades."""

    def dcg(order, k, gain):
        return sum(gain(max(g or 0, 0)) / log2(rank + 1) for rank, g in enumerate(order[:k], start=1))

    def ndcg(k, gain=lambda grade: grade):
        return lambda ranking, grades: (
            dcg(ranking, k, gain) / dcg(sorted(grades, key=lambda g: -(g or 0)), k, gain)
        )

    def ap(k, divide_by_least=False):
        def value(ranking, grades):
            every = sum(right(g, least) for g in grades)
            found = [rank for rank, g in enumerate(ranking, start=1) if right(g, least)]
            total = sum(place / rank for place, rank in enumerate(found, start=1) if k is None or rank <= k)
            return total / (min(every, k) if divide_by_least else every)

        return value

    def rr(k):
        def value(ranking, grades):
            ranks = [rank for rank, g in enumerate(ranking[:k], start=1) if right(g, least)]
            return 1 / ranks[0] if ranks else 0.0

        return value

    def bpref(ranking, grades):
        every = sum(right(g, least) for g in grades)
        wrong = sum(g is not UNJUDGED and g < least for g in grades)
        total, above = 0.0, 0
        for g in (one for one in ranking if one is not UNJUDGED):
            if right(g, least):
                total += 1 - min(above, every) / min(wrong, every) if above else 1
            else:
                above += 1
        return total / every

    def at(k):
        return lambda ranking: sum(right(g, least) for g in ranking[:k])

    return {
        "nDCG@2": ndcg(2),
        "nDCG": ndcg(None),
        "nDCG(dcg='exp-log2')@3": ndcg(3, lambda grade: 2**grade - 1),
        "Success@2": lambda ranking, grades: float(at(2)(ranking) > 0),
        "R@3": lambda ranking, grades: at(3)(ranking) / sum(right(g, least) for g in grades),
        "P@3": lambda ranking, grades: at(3)(ranking) / 3,
        "RR": rr(None),
        "RR@2": rr(2),
        "AP": ap(None),
        "AP@3": ap(3),
        "AP@3/min": ap(3, divide_by_least=True),
        "Bpref": bpref,
        "Judged@2": lambda ranking, grades: (
            sum(g is not UNJUDGED for g in ranking[:2]) / max(len(ranking[:2]), 1)
        ),
    }


@st.composite
def judged(draw, m, scores, least=1):
    """Draw (scores [m], grades [m]) of one query, which has a relevant candidate."""
    grade = st.sampled_from([UNJUDGED, UNJUDGED, 0, 0, 1, 2, 3])
    grades = draw(st.lists(grade, min_size=m, max_size=m))
    grades[draw(st.integers(0, m - 1))] = draw(st.integers(least, 3))
    return draw(st.lists(st.sampled_from(scores), min_size=m, max_size=m)), grades


def evaluated(pool, system, **options):
    return retrieval(pool, {"it": system}, measures=list(plain()), store=None, **options)


@settings(max_examples=25)
@given(st.data(), st.integers(1, 2))
def test_an_encoder_has_the_mean_over_all_orders(data, least):
    m = data.draw(st.integers(4, 5))
    # all queries share the candidates' vectors, and so their scores
    scores, grades = data.draw(judged(m, [0, 1, 2, 3], least))
    further = data.draw(st.lists(judged(m, [0], least), max_size=1))
    rows = [grades, *(own for _, own in further)]
    vectors = {f"d{j}": ANGLE[score] for j, score in enumerate(scores)}
    vectors |= {f"q{i}": np.array([1, 0], dtype=np.float32) for i in range(len(rows))}
    found = evaluated(pool_of(rows), Known(vectors), relevant_from=least)
    for name, value in plain(least).items():
        wanted = {f"q{i}": mean_over_orders(value, scores, own) for i, own in enumerate(rows)}
        assert values(found, "it", name) == pytest.approx(wanted, abs=1e-12), name
        assert number(found, "it", name).value == pytest.approx(np.mean(list(wanted.values())), abs=1e-12)


@settings(max_examples=25)
@given(st.data())
def test_a_run_has_the_mean_over_all_orders_and_what_it_lacks_is_missed(data):
    m = 5
    queries = data.draw(st.lists(judged(m, [0, 1, 2, 3, MISSED]), min_size=1, max_size=2))
    lists = {
        f"q{i}": {f"d{j}": float(score) for j, score in enumerate(scores) if score != MISSED}
        for i, (scores, _) in enumerate(queries)
    }
    pool = pool_of([*([grades for _, grades in queries]), [1] * m])
    lists["q" + str(len(queries))] = {f"d{j}": float(j) for j in range(m)}  # so that its depth is m
    found = evaluated(pool, SearchRun.of(lists))
    qrels = {
        f"q{i}": {f"d{j}": grade for j, grade in enumerate(grades) if grade is not UNJUDGED}
        for i, grades in enumerate([*(own for _, own in queries), [1] * m])
    }
    by_ids = runs_against_qrels(qrels, {"it": SearchRun.of(lists)}, measures=list(plain()))
    for name, value in plain().items():
        wanted = {f"q{i}": mean_over_orders(value, *query) for i, query in enumerate(queries)}
        wanted[f"q{len(queries)}"] = mean_over_orders(value, list(range(m)), [1] * m)
        assert values(found, "it", name) == pytest.approx(wanted, abs=1e-12), name
        assert values(by_ids, "it", name) == pytest.approx(wanted, abs=1e-12), name


N, M = 24, 40


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(4)
    found = {f"{kind}{i}": rng.normal(size=5) for kind, count in (("q", N), ("d", M)) for i in range(count)}
    found["d3"], found["d8"] = found["d5"], found["d5"]
    return {name: one.astype(np.float32) for name, one in found.items()}


@pytest.fixture(scope="module")
def graded():
    """Judgements of queries and candidates in two languages, graded and incomplete."""
    rng = np.random.default_rng(5)
    rows = []
    for i in range(N):
        row = [UNJUDGED] * M
        for j in rng.choice(M, 12, replace=False):
            row[j] = int(rng.choice([0, 0, 1, 2, 3]))
        row[i], row[(i + 1) % M] = 2, 1  # one in each language
        rows.append(row)
    return rows


@pytest.fixture(scope="module")
def two(graded):
    tags = ["en" if j % 2 else "de" for j in range(M)]
    return pool_of(graded, tags, ["en" if i % 3 else "de" for i in range(N)])


def ranking(vectors, depth=None, name=str, candidates=tuple(f"d{j}" for j in range(M))):
    """Return {query: {candidate: score}} of the vectors' cosines."""
    unit = {own: v.astype(np.float64) / np.linalg.norm(v.astype(np.float64)) for own, v in vectors.items()}
    found = {}
    for i in range(N):
        scores = {own: round(float(unit[f"q{i}"] @ unit[own]), 9) for own in candidates}
        best = sorted(scores, key=lambda own: -scores[own])[:depth]
        found[name(f"q{i}")] = {name(own): scores[own] for own in best}
    return found


class Forms:
    """Gives queries and candidates vectors of a form, with duplicates and zeros."""

    content = ("text", "role")
    identity = "forms"

    def __init__(self, form):
        make, rng = (scored.sparse if form == "dot" else scored.tokens), np.random.default_rng(8)
        self.sides = {
            role: make("duplicated", rng, n, 6, form) for role, n in (("query", N), ("candidate", M))
        }

    def encode(self, batch):
        return self.sides[batch.role][np.array([int(own[1:]) for own in batch.ids])]


MEASURES = ("nDCG@10", "nDCG", "AP", "RR", "R@5", "P@5", "Success@5", "Bpref", "Judged@10")


def tagged(name):
    """Return the name with its language."""
    in_english = int(name[1:]) % (3 if name.startswith("q") else 2)
    return f"{'en' if in_english else 'de'}:{name}"


@pytest.mark.parametrize("form", ["dense", "dot", "maxsim"])
@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_a_run_has_the_numbers_of_the_encoder_whose_ranking_it_is(tmp_path, two, vectors, form, ties):
    """Of every form of vectors, of which some are equal and some as float32 only; and of its TREC files."""
    near = {name: v + (1e-8 if name == "d11" else 0) for name, v in vectors.items()} | {"d12": vectors["d11"]}
    encoder, lists = Known(near), ranking(near, name=tagged)
    if form != "dense":
        encoder = Forms(form)
        scores = scored.naive_keys(encoder.sides["query"], encoder.sides["candidate"]) * 1e-9
        lists = {
            tagged(f"q{i}"): {tagged(f"d{j}"): float(score) for j, score in enumerate(row)}
            for i, row in enumerate(scores)
        }
    run, options = SearchRun.of(lists), {"measures": MEASURES, "ties": ties, "store": None}
    found = retrieval(two, {"it": encoder}, runs={"run": run}, trec=tmp_path, trec_depth=None, **options)
    for name in MEASURES:
        one, other = number(found, "it", name), number(found, "run", name)
        assert (one.value, one.ci, one.chance, one.n_tied) == (
            *(other.value, other.ci, other.chance, other.n_tied),
        ), name
        assert one.views == other.views, name
    assert (one.n_tied == 0) is (ties == "trec") and f"|ties:{ties}|" in one.signature
    if ties == "trec":
        again = retrieval(two, runs={"it": tmp_path / "it.run"}, **options)
        assert [e.value for e in again.entries] == [number(found, "it", name).value for name in MEASURES]


JUDGED = {"q1": {"x": 1, "y": 2}, "q2": {"x": 1, "w": 0}, "q10": {"z": 3}}
LISTS = {"q1": {"x": 3.0, "y": 2.0, "z": 1.0}, "q2": {"x": 1.0, "y": 0.5, "z": 0.1}, "q10": {"z": 2.0}}


def alone(qrels=JUDGED, runs=LISTS, measure="nDCG@3", **options):
    """Return what decides whether two results are of one condition, and their values by query."""
    runs = runs if isinstance(runs, dict) and "r" in runs else {"r": runs}
    found = number(runs_against_qrels(qrels, runs, measures=measure, **options), "r", measure)
    return found.value, found.ci, found.signature


@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_the_order_of_lines_and_the_format_change_nothing(tmp_path, ties):
    wanted = alone(ties=ties)
    rng = np.random.default_rng(3)
    for _ in range(3):
        lines = [f"{q} 0 {c} {grade}" for q, own in JUDGED.items() for c, grade in own.items()]
        results = [f"{q} Q0 {c} 1 {score} t" for q, own in LISTS.items() for c, score in own.items()]
        (tmp_path / "qrels.txt").write_text("\n".join(rng.permutation(lines)))
        (tmp_path / "r.trec").write_text("\n".join(rng.permutation(results)))
        assert alone(tmp_path / "qrels.txt", str(tmp_path / "r.trec"), ties=ties) == wanted
    others = [
        JUDGED | {"q1": {"x": 2, "y": 1}},
        JUDGED | {"q2": {"y": 1, "w": 0}},
        JUDGED | {"q2": {"x": 1, "w": 1}},
        {"q1": JUDGED["q2"], "q2": JUDGED["q1"], "q10": JUDGED["q10"]},
        JUDGED | {"en:q2": {"x": 1}},  # of which one alone is named with a language
    ]
    assert len({one[-1] for one in [wanted, *(alone(other, ties=ties) for other in others)]}) == 6


def test_numbers_of_a_run_do_not_depend_on_the_other_runs_of_the_call():
    """One list of 101, the longest, ends before rank 6: what it lacks is missed, whatever others found."""
    lists = {f"q{i}": {f"d{i}": 2.0, "x": 1.0} for i in range(101)}
    lists["q0"] = {"x": 1.0, "y": 0.5, "z": 0.1}
    qrels = {query: {"d" + query[1:]: 1} for query in lists}
    further = {"q0": {f"y{i}": -float(i) for i in range(50)} | {"d1": -99.0}}
    for measure in ("R@6", "RR@6", "nDCG@6", "Bpref"):
        own = alone(qrels, {"r": lists}, measure)
        assert own == alone(qrels, {"r": lists, "other": further}, measure)
        assert own[0] == pytest.approx(100 / 101, abs=1e-12)


def test_queries_without_a_relevant_candidate_count_as_0():
    known = Known({"q0": ANGLE[3], "q1": ANGLE[3]} | {f"d{j}": ANGLE[3 - j] for j in range(3)})
    with pytest.warns(DataWarning, match="1 of 2 queries have no candidate of grade 2 or more"):
        found = evaluated(pool_of([[2, 0, 0], [1, 0, 0]]), known, relevant_from=2)
    for name in ("AP", "RR", "R@3", "Bpref"):
        assert values(found, "it", name) == {"q0": 1.0, "q1": 0.0} and number(found, "it", name).value == 0.5


@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_candidates_with_the_id_of_the_query_are_left_out(graded, vectors, ties):
    """The numbers are those of judgements and lists that never held them, for vectors and for their run."""
    names = [f"q{j}" if j < 3 else f"d{j}" for j in range(M)]
    lists = ranking(vectors, candidates=names)
    qrels = {
        f"q{i}": {c: g for c, g in zip(names, row, strict=True) if c != f"q{i}" and g is not UNJUDGED}
        for i, row in enumerate(graded)
    }
    for name in names[:3]:
        del lists[name][name]
    systems, options = (
        {"vectors": Known(vectors), "run": SearchRun.of(lists)},
        {"ties": ties, "measures": "AP RR"},
    )
    found = retrieval(pool_of(graded, names=names), systems, ignore_identical_ids=True, store=None, **options)
    alone = runs_against_qrels(qrels, {"it": lists}, **options)
    for measure in ("AP", "RR"):
        for system in systems:
            assert values(found, system, measure) == pytest.approx(values(alone, "it", measure), abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "random"}, "expected expected or trec"),
        ({"relevant_from": 0}, "must be at least 1"),
        ({"measures": "SIM"}, "needs images"),
        ({"qrels": {"q0": {"d0": 1}}}, "is for the path of a pool"),
        ({"candidate_text": "title"}, "unknown candidate text"),
        ({"candidate_text": "sentence+context"}, "no candidate has a context"),
    ],
)
def test_what_cannot_be_is_refused(two, vectors, options, message):
    with pytest.raises(InputError, match=message):
        retrieval(two, {"it": Known(vectors)}, store=None, **options)
