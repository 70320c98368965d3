"""TREC files: other programs find in them the measures that a plain sort of float64 cosines gives."""

from itertools import groupby
from urllib.parse import unquote

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Success

from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions
from xlingual.evaluation import ordered, trec
from xlingual.evaluation.trec import Member, Ranking, run_file, write_ranking
from xlingual.ranking import Offsets, rows_of

LANGUAGES = ("en", "de", "zh-Hant")


def members(pool, side):
    return [Member(pool.languages[code], name) for code, name in zip(side.language, side.ids, strict=True)]


def write_folder(folder, pool, questions, candidates, name="x", depth=1000, offsets=None):
    """Write run and qrels as an evaluation does."""
    ranking = Ranking(
        members(pool, pool.questions),
        members(pool, pool.candidates),
        pool.relevant,
        (rows_of(questions), rows_of(candidates)),
        offsets,
        (*pool.relevant, pool.grades),
    )
    write_ranking(folder, ranking, name, depth)
    return folder / run_file(name)


def write_run(path, pool, questions, candidates, *, tag, depth=1000, offsets=None):
    """Write a run alone."""
    folder = path.with_name(f"{path.name}.folder")
    write_folder(folder, pool, questions, candidates, tag, depth, offsets=offsets).replace(path)


def make_pool(question_keys, candidate_keys, question_ids=None, candidate_ids=None):
    """Return a pool of questions and candidates with these keys, in languages that take turns."""
    n, m = len(question_keys), len(candidate_keys)
    return MultilingualPool(
        source="a test",
        languages=LANGUAGES,
        questions=Questions(
            ids=question_ids or [f"q{i}" for i in range(n)],
            language=np.arange(n) % len(LANGUAGES),
            text=[f"question {i}" for i in range(n)],
            key=question_keys,
            cluster=np.arange(n),
        ),
        candidates=Candidates(
            ids=candidate_ids or [f"c{i}" for i in range(m)],
            language=np.arange(m) % len(LANGUAGES),
            text=[f"candidate {i}" for i in range(m)],
            context=[""] * m,
            keys=candidate_keys,
            cluster=np.arange(m),
        ),
        question_numberings=(),
        candidate_numberings=(),
    )


def random_case(rng, n, m, dim=8):
    """Return (pool, question vectors, candidate vectors, relevant [n, m]); every question has an answer."""
    keys = [str(i) for i in range(n)]
    candidate_keys = [(str(rng.integers(2 * n)),) for _ in range(m)]
    candidate_keys[:n] = [(key,) for key in keys]
    pool = make_pool(keys, candidate_keys)
    relevant = np.array([[key in own for own in candidate_keys] for key in keys])
    return pool, rng.standard_normal((n, dim)), rng.standard_normal((m, dim)), relevant


def plain_ranks(questions, candidates):
    """Return the candidates of each question, best first, by a sort of plain float64 cosines."""
    q = questions / np.linalg.norm(questions, axis=1, keepdims=True)
    c = candidates / np.linalg.norm(candidates, axis=1, keepdims=True)
    return np.argsort(-(q @ c.T), axis=1)


def plain_measures(ranked, relevant, depth):
    """Return (AP cut at depth, reciprocal rank, hit at 3) of each question, from the sorted relevance."""
    values = []
    for order, own in zip(ranked, relevant, strict=True):
        hits = own[order][:depth]
        places = np.flatnonzero(hits) + 1
        ap = sum((i + 1) / place for i, place in enumerate(places)) / own.sum()
        values.append((ap, 1 / places[0] if len(places) else 0.0, float(hits[:3].any())))
    return np.array(values)


def read_run(path):
    """Return {question: [(candidate, rank, score, tag)]} of a run, as written."""
    lines = [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(len(line) == 6 and line[1] == "Q0" for line in lines)
    return {
        question: [(candidate, int(rank), score, tag) for _, _, candidate, rank, score, tag in own]
        for question, own in groupby(lines, key=lambda line: line[0])
    }


def judged(folder, run, measures):
    """Return {(question, measure): value} as ir_measures has it."""
    qrels = ir_measures.read_trec_qrels(str(folder / "qrels.txt"))
    found = ir_measures.iter_calc(measures, qrels, ir_measures.read_trec_run(str(folder / run)))
    return {(metric.query_id, str(metric.measure)): metric.value for metric in found}


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    more=st.integers(0, 40),
    cut=st.one_of(st.none(), st.integers(1, 60)),
)
def test_ir_measures_agrees_with_a_plain_sort(tmp_path_factory, seed, n, more, cut):
    folder = tmp_path_factory.mktemp("trec")
    pool, questions, candidates, relevant = random_case(np.random.default_rng(seed), n, n + more)
    written = write_folder(folder, pool, questions, candidates, "one", cut)
    assert written.name == "one.run" and (folder / "qrels.txt").is_file()
    depth = n + more if cut is None else min(cut, n + more)
    expected = plain_measures(plain_ranks(questions, candidates), relevant, depth)
    measures = [AP, RR, Success @ 3, *([] if cut is None else [AP @ cut])]
    found = judged(folder, "one.run", measures)
    for i, name in enumerate([one.name for one in members(pool, pool.questions)]):
        ap, rr, hit = expected[i]
        assert found[name, "AP"] == pytest.approx(ap, abs=1e-9)
        assert found[name, "RR"] == pytest.approx(rr, abs=1e-9)
        assert found[name, "Success@3"] == hit
        if cut is not None:
            assert found[name, f"AP@{cut}"] == pytest.approx(ap, abs=1e-9)


def plainly_ranked(similarity, column, count, offsets=None):
    """Rank plainly: the exact keys of a question and all candidates, and a sort by falling key and name."""
    for question in range(similarity.shape[0]):
        keys = [int(key) for key in similarity.keys(np.full(len(column), question), column)]
        if offsets is not None:
            keys = [2 * key - offsets.candidates[c] for key, c in zip(keys, column, strict=True)]
        yield sorted(range(len(column)), key=lambda c: (-keys[c], c))[:count]


def offsets_of(rng, candidates):
    """Return offsets as a repair of hubs has them: equal vectors have equal ones."""
    drawn = np.rint(candidates.astype(np.float64) @ rng.integers(-1, 2, 3)).astype(np.int64) * 250_000_000
    return Offsets(2, drawn)


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    m=st.integers(9, 60),
    depth=st.one_of(st.none(), st.integers(1, 20)),
    cap=st.sampled_from([1, 3, 1000]),
    budget=st.sampled_from([1, 600, 1 << 25]),
    levels=st.sampled_from([1, 2, 9]),
    repaired=st.booleans(),
)
def test_files_are_those_of_a_plain_sort_whatever_ties(
    tmp_path_factory, seed, n, m, depth, cap, budget, levels, repaired
):
    folder, rng = tmp_path_factory.mktemp("trec"), np.random.default_rng(seed)
    pool, questions, candidates, _ = random_case(rng, n, m, dim=3)
    if levels < 9:  # few whole numbers: equal rows, equal cosines of other rows, rows of zeros
        questions, candidates = (rng.integers(-levels, levels + 1, (size, 3)) for size in (n, m))
    questions, candidates = questions.astype(np.float32), candidates.astype(np.float32)
    of = {"offsets": offsets_of(rng, candidates)} if repaired else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered, "_CAP", cap)
        patch.setattr(ordered, "_BYTES", budget)
        write_run(folder / "made", pool, questions, candidates, tag="x", depth=depth, **of)
        patch.setattr(trec, "ranked", plainly_ranked)
        write_run(folder / "plain", pool, questions, candidates, tag="x", depth=depth, **of)
    assert (folder / "made").read_bytes() == (folder / "plain").read_bytes()


def test_names_with_spaces_and_percent_signs_survive(tmp_path):
    ids = ["a b", "50 %", "50%20%25", "x\u3000y", "x\ty", "plain", "ü:ß"]
    pool = make_pool([str(i) for i in range(7)], [(str(i),) for i in range(7)], ids, ids)
    vectors = np.random.default_rng(5).standard_normal((7, 5))
    write_folder(tmp_path, pool, vectors, vectors, "an encoder/v 1%")
    name = "an encoder%2Fv 1%25.run"
    found = judged(tmp_path, name, [AP])
    assert len(found) == 7 and set(found.values()) == {1.0}  # every question finds itself
    run = read_run(tmp_path / name)
    assert [unquote(question.partition(":")[2]) for question in run] == ids
    assert {unquote(c.partition(":")[2]) for c, *_ in run["en:a%20b"]} == set(ids)
    assert {tag for lines in run.values() for *_, tag in lines} == {"an%20encoder/v%201%25"}
