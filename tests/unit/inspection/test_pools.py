"""Inspection of a multilingual pool: which answers are missed, and what ranked above them."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from xlingual import InputError, MultilingualPool, multilingual_pool
from xlingual.inspection.evaluated import pool_of
from xlingual.inspection.inspect import inspect_results
from xlingual.report import page_of, verdict
from xlingual.report.render import html
from xlingual.results import Results
from xlingual.results.inspection import POOL_KINDS, Inspection

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
N, DIM, LANGUAGES = 120, 16, ("en", "de")


def rows_of_pool():
    """Return questions and candidates: per item an answer in each language and another sentence beside it."""
    words = ("lamp", "chair", "book", "shoe", "toy", "river", "engine")
    rng = np.random.default_rng(0)
    questions, candidates = [], []
    for i in range(N):
        own = " ".join(rng.choice(words, 3))
        for tag in LANGUAGES:
            questions.append(
                {"id": f"q{i}", "lang": tag, "text": f"{tag} {own} {i}?", "key": f"k{i}", "cluster": f"c{i}"}
                | {"topic": f"t{i % 4}", "price": float(i) if i % 5 else None}
            )
            for part in range(2):
                candidates.append(
                    {"id": f"s{i}.{part}", "lang": tag, "text": f"{tag} {part} {own} {rng.integers(10**9)}"}
                    | {"context": "", "keys": [f"k{i}"] if part == 0 else [], "cluster": f"c{i}"}
                )
    return questions, candidates


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import pyarrow as pa

    made = tmp_path_factory.mktemp("pool")
    for name, rows in zip(("questions", "candidates"), rows_of_pool(), strict=True):
        pq.write_table(pa.Table.from_pylist(rows), made / f"{name}.parquet")
    return made


class Given:
    """Gives vectors by role, language and id."""

    def __init__(self, vectors, identity="given"):
        self.vectors, self.identity = vectors, identity

    def encode(self, batch):
        keys = zip(batch.language, batch.ids, strict=True)
        return np.array([self.vectors[batch.role, tag, own] for tag, own in keys], dtype=np.float32)


def vectors_of(seed=1, *, bias=0.0, lost=()):
    """Return vectors in which answers are near; `bias` pulls a language together, topics `lost` are noise."""
    rng = np.random.default_rng(seed)
    item, side = rng.standard_normal((N, DIM)), {tag: rng.standard_normal(DIM) for tag in LANGUAGES}
    found = {}
    for i in range(N):
        for tag in LANGUAGES:
            own = rng.standard_normal(DIM) if f"t{i % 4}" in lost else item[i]
            found["query", tag, f"q{i}"] = own + bias * side[tag] + 0.1 * rng.standard_normal(DIM)
            for part, near in ((0, item[i]), (1, rng.standard_normal(DIM))):
                noise = 0.01 * rng.standard_normal(DIM)  # so that nothing ties
                found["candidate", tag, f"s{i}.{part}"] = near + bias * side[tag] + noise
    return found


def evaluated(folder, encoder, **more):
    return multilingual_pool(str(folder), {"a": encoder}, store=None, **more)


@pytest.fixture(scope="module")
def results(folder):
    return evaluated(folder, Given(vectors_of(lost=("t1",))))


@pytest.fixture(scope="module")
def inspected(results):
    return inspect_results(results, store=None)


def test_the_tables_agree_with_the_score_matrix(folder, results):
    pool, given = MultilingualPool.read(folder), vectors_of(lost=("t1",))
    sides = []
    for role, part in (("query", pool.questions), ("candidate", pool.candidates)):
        keys = [(role, pool.languages[code], own) for code, own in zip(part.language, part.ids, strict=True)]
        own = np.array([given[key] for key in keys], dtype=np.float32).astype(np.float64)
        names = [f"{tag}/{name}" for _, tag, name in keys]
        sides.append((own / np.linalg.norm(own, axis=1, keepdims=True), names))
    (query, asked), (candidate, names) = sides
    score = query @ candidate.T
    nearest: dict[str, list[str]] = {}
    for row in results.tables["neighbours"].to_pylist():
        nearest.setdefault(row["query"], []).append(row["neighbour"])
        at = asked.index(row["query"]), names.index(row["neighbour"])
        assert row["score"] == pytest.approx(score[at], abs=1e-4)
    assert {
        name: [names[i] for i in np.argsort(-line)[:10]] for name, line in zip(asked, score, strict=True)
    } == nearest
    lines = results.tables["answers"].to_pylist()
    assert len(lines) == len(pool.relevant[0])
    for row in lines:
        line = score[asked.index(row["query"])]
        assert row["above"] == int((line > line[names.index(row["answer"])] + 1e-9).sum())


def test_the_damaged_topic_stands_first(inspected):
    (one,) = inspected.found.encoders
    (condition,) = one.slices[0].conditions
    assert (condition.feature, condition.part) == ("topic", "t1")
    assert {"topic", "price", "length"} <= set(inspected.found.features)
    assert "topic: t1" in verdict(inspected.found)[1]


def test_every_missed_answer_has_ten_wrong_candidates_above(results, inspected):
    (one,) = inspected.found.encoders
    answers = results.tables["answers"].to_pylist()
    above = {(row["query"], row["answer"]): row["above"] for row in answers}
    missed = set()
    for (query, answer), n in above.items():
        others = sum(above[query, other] < n for q, other in above if q == query and other != answer)
        if n - others >= 10:
            missed.add((query, answer))
    rows = inspected.failures().to_pylist()
    assert {(row["query"], row["answer_id"]) for row in rows} == missed
    assert (one.n_failed, one.n_queries) == (len(missed), len(answers))
    assert sum(kind.n for kind in one.kinds) == one.n_failed
    assert {kind.kind for kind in one.kinds} == set(POOL_KINDS)
    assert sum(one.by_pair.values()) == one.n_queries
    relevant = {(row["query"], row["answer"]) for row in answers}
    for row in rows[:6]:
        own = [
            each["neighbour"]
            for each in results.tables["neighbours"].to_pylist()
            if each["query"] == row["query"]
        ]
        wrong = [name for name in own if (row["query"], name) not in relevant]
        assert [row[f"retrieved_id_{place}"] for place in (1, 2, 3)] == wrong[:3]


def test_the_value_is_that_of_the_results(results, inspected):
    assert inspected.found.encoders[0].value == pytest.approx(results.entries[0].value)


def kind_of(folder, encoder, **more):
    (one,) = inspect_results(evaluated(folder, encoder, **more), store=None).found.encoders
    return {kind.kind: kind for kind in one.kinds}, one


def test_a_candidate_in_the_questions_language_stood_above(folder):
    found, one = kind_of(folder, Given(vectors_of(bias=5.0), "biased"))
    assert found["own language"].n > 0.8 * one.n_failed > 0
    assert set(found["own language"].by_pair) == {"en->de", "de->en"}
    shown = found["own language"].examples[0]
    assert shown.retrieved.language == shown.query.language != shown.answer.language
    assert len(shown.beside) == 2


def test_another_sentence_of_the_same_context_stood_above(folder):
    given = vectors_of()
    rng = np.random.default_rng(5)
    for i in range(N):
        for tag in LANGUAGES:
            given["candidate", tag, f"s{i}.1"] = given["query", tag, f"q{i}"]
            given["candidate", tag, f"s{i}.0"] = rng.standard_normal(DIM)
    found, one = kind_of(folder, Given(given, "context"))
    assert found["context"].n == one.n_failed > 0


def test_a_hub_stood_above(folder):
    given = vectors_of(lost=("t0", "t1"))
    for (role, _, own), vector in given.items():
        if (role == "query" and int(own[1:]) % 4 < 2) or own == "s3.1":
            vector += 9.0
    found, one = kind_of(folder, Given(given, "hub"))
    assert found["hub"].n > 0.5 * one.n_failed
    assert {hub.text.id for hub in one.hubs.largest} & {"en/s3.1", "de/s3.1"}


def test_where_all_candidates_tie_every_answer_is_missed(folder):
    found, one = kind_of(folder, Given(dict.fromkeys(vectors_of(), np.ones(DIM)), "constant"))
    assert one.n_failed == one.n_queries == 4 * N
    assert found["other"].n + found["nothing near"].n == one.n_failed  # none of them stood first
    assert not one.hubs.n


def test_without_neighbours_the_best_answer_is_looked_at(folder):
    found, one = kind_of(folder, Given(vectors_of(lost=("t1",))), neighbours=False)
    assert one.n_queries == 2 * N
    assert "--no-neighbours" in one.hubs.note
    assert found["hub"].n == found["own language"].n == 0
    assert found["near"].n > 0


def test_record_page_and_terminal(inspected, tmp_path):
    inspected.found.write(tmp_path)
    read = Inspection.read(tmp_path)
    assert read == inspected.found
    page = html.render(page_of(read))
    for words in (
        "By language of the question",
        "By language of the answer",
        "above the answer",
        "topic: t1",
    ):
        assert words in page


def test_the_pool_is_found_again(folder, results, tmp_path, monkeypatch):
    results.write(tmp_path)
    read = Results.read(tmp_path)
    monkeypatch.setitem(read.request, "pool", str(folder))
    assert pool_of(read).digest == MultilingualPool.read(folder).digest
    monkeypatch.setitem(read.request, "pool", "gone")
    with pytest.raises(InputError, match="the pool of these results, gone, is not here"):
        pool_of(read)
    with pytest.raises(InputError, match="is not the data of these results"):
        pool_of(read, MultilingualPool.read(folder, ["de", "en"]))


def test_columns_of_questions_are_kept(folder, tmp_path):
    pool = MultilingualPool.read(folder, ["de", "en"])
    assert pool.questions.labels["topic"][:5] == ["t0", "t1", "t2", "t3", "t0"]
    for kind in ("parquet", "jsonl"):
        again = MultilingualPool.read(pool.write(tmp_path / kind, kind))
        assert again.questions.labels["topic"] == pool.questions.labels["topic"]
        np.testing.assert_array_equal(again.questions.numbers["price"], pool.questions.numbers["price"])
        assert again.digest == pool.digest


def test_kept_or_not_no_number_changes(folder, results):
    without = evaluated(folder, Given(vectors_of(lost=("t1",))), neighbours=False)
    assert without.entries == results.entries
    assert without.per_query.equals(results.per_query)
    assert not {"neighbours", "answers"} & set(without.tables)


def test_a_search_systems_run_is_looked_at_like_its_encoder(folder, results, tmp_path):
    pool = MultilingualPool.read(folder)
    evaluated(
        folder, Given(vectors_of(lost=("t1",))), trec=tmp_path / "runs", trec_depth=12
    )  # ten wrong, both answers
    ranks: dict[str, dict[str, float]] = {}
    for line in (tmp_path / "runs" / "a.run").read_text().splitlines():
        query, _, candidate, rank, *_ = line.split()
        ranks.setdefault(query, {})[candidate] = -float(rank)
    found = multilingual_pool(pool, runs={"engine": ranks}, measures="R@10", store=None)
    found.write(tmp_path / "out")  # answers that the run lacks have no place
    one = inspect_results(Results.read(tmp_path / "out"), pool, store=None).found.encoders[0]
    (of_encoder,) = inspect_results(results, store=None).found.encoders
    assert (one.n_failed, one.n_queries) == (of_encoder.n_failed, of_encoder.n_queries)
    by_kind = {kind.kind: kind.n for kind in of_encoder.kinds}
    unchanged = (
        "near-duplicate",
        "context",
        "own language",
    )  # the others ask for ranks and scores beyond ten
    assert {kind.kind: kind.n for kind in one.kinds if kind.kind in unchanged} == {
        k: by_kind[k] for k in unchanged
    }
