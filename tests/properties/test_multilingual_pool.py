"""A multilingual pool from vectors to results: equal to a plain evaluation, to chance, and to itself."""

import json
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual import multilingual_pool
from xlingual.ranking import Cpu, passes, rankers
from xlingual.results.document import plain as as_json
from xlingual.store import FolderBlocks

UNIT = Path(__file__).parents[1] / "unit" / "evaluation" / "multilingual_pool"
plain = SimpleNamespace(**run_path(str(UNIT / "plain.py")))
made = SimpleNamespace(**run_path(str(UNIT / "drawn.py")))
Given, a_pool, drawn, LANGUAGES = made.Given, made.a_pool, made.drawn, made.LANGUAGES
MEASURES = (*("AP", "AP@3", "AP@3/min", "Success@1", "Success@3", "R@2", "P@3", "RR", "RR@2", "MedR"),)
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


@st.composite
def pools(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 12)), draw(st.integers(3, 40) | st.integers(101, 300))
    return drawn(rng, n, m, levels=draw(st.sampled_from([0, 1, 2, 9])), dim=draw(st.integers(1, 4)))


def results_of(pool, questions, candidates, **options):
    options = {"measures": MEASURES} | options
    return multilingual_pool(pool, text_encoders={"e": Given(questions, candidates)}, **options)


def entries(results):
    return {entry.measure: entry for entry in results.entries}


def near(expected):
    if isinstance(expected, dict):
        return {key: near(value) for key, value in expected.items()}
    if isinstance(expected, list):
        return [near(value) for value in expected]
    if expected is None or isinstance(expected, str | bool):
        return expected
    return pytest.approx(expected, abs=1e-9)


def assert_views(found, expected):
    """Compare view by view, so that a failure names the view."""
    for name, value in expected.items():
        assert found[name] == near(value), name
    space = {"language_id_accuracy", "language_id_chance", "language_id_notes", "picture"}
    beside = {"task", "languages", "ci", "ci_by_article", "alignment_chance"}
    assert found.keys() - expected.keys() <= beside | space


@given(pools())
def test_every_number_equals_a_plain_evaluation(case):
    pool, questions, candidates = case
    whole = plain.Plain(pool, questions, candidates)
    found = results_of(pool, questions, candidates, subsets=["ar,de", "en"])
    for measure, entry in entries(found).items():
        values = whole.measure(measure)
        rows = found.per_query.filter([m == measure for m in found.per_query["measure"].to_pylist()])
        assert rows["value"].to_numpy() == pytest.approx(values, abs=1e-9), measure
        overall = np.median(values) if measure == "MedR" else values.mean()
        assert entry.value == pytest.approx(overall, abs=1e-9), measure
        assert (entry.n_tied, entry.n_source, entry.n_target) == (whole.tied_questions(), *whole.keys.shape)
        if measure not in ("AP", "MedR"):
            assert entry.views.by_question_language == near(whole.by_language(values))
    assert_views(as_json(entries(found)["AP"].views), whole.views([("ar", "de"), ("en",)]))


def test_ratios_of_shares_have_the_intervals_of_the_shares():
    results = results_of(*drawn(np.random.default_rng(6), 12, 150))
    views = as_json(entries(results)["AP"].views)
    ratios, shares = (views["ci"][f"language_share{name}_top100"] for name in ("_ratio", ""))
    assert ratios.keys() == shares.keys() == views["language_share_top100"].keys()
    for pair, ci in ratios.items():
        times = views["language_share_ratio_top100"][pair] / views["language_share_top100"][pair]
        assert ci["low"] == pytest.approx(shares[pair]["low"] * times)
        assert ci["high"] == pytest.approx(shares[pair]["high"] * times)
        assert ci["low"] <= views["language_share_ratio_top100"][pair] <= ci["high"]
        assert (ci["level"], ci["method"]) == (shares[pair]["level"], shares[pair]["method"])


def test_without_ap_nothing_is_computed_for_its_views(monkeypatch):
    monkeypatch.setattr("xlingual.evaluation.multilingual_pool.evaluate.Space", None)
    cases = drawn(np.random.default_rng(7), 12, 60)
    results = results_of(*cases, measures=["R@3", "RR"], neighbours=False)
    assert set(results.tables) == {"hubs", "occurrences", "worst"}
    always = {"task", "languages", "by_question_language", "macro", "ci_by_article", "ci"}
    first = {"found_at", "found", "found_summary", "hubs", "fairness", "top"}
    first |= {"language_share_top100", "language_share_ratio_top100"}
    for entry in results.entries:
        assert as_json(entry.views).keys() <= always | (first if entry.measure == "R@3" else set())


def test_more_ties_than_are_listed_are_shared_out_exactly():
    rng = np.random.default_rng(0)
    pool, _, _ = drawn(rng, 12, 3000)
    questions, candidates = (rng.standard_normal((size, 8)).astype(np.float32) for size in (12, 3000))
    questions[:4] = 0  # all candidates tie, and none of their vectors are equal
    questions[4:8, 1:] = 0
    candidates[60:, 0] = 0  # about thirty come first, then nearly all tie
    whole = plain.Plain(pool, questions, candidates)
    found = results_of(pool, questions, candidates)
    for name, value in whole.shares().items():
        assert as_json(entries(found)["AP"].views)[name] == near(value), name


@given(pools())
def test_the_worst_questions_are_shown_as_they_stand(case):
    pool, questions, candidates = case
    whole = plain.Plain(pool, questions, candidates)
    values, rows = whole.measure("AP"), results_of(pool, questions, candidates).tables["worst"].to_pylist()
    number = {f"q{q}": q for q in range(whole.n)}
    shown = list(dict.fromkeys(number[row["question_id"]] for row in rows))
    clusters = pool.questions.cluster
    lowest = [min(values[clusters == c]) for c in np.unique(clusters)]
    assert values[shown] == pytest.approx(sorted(lowest)[:10], abs=1e-9)
    assert len(set(clusters[shown])) == len(shown)
    for q in shown:
        rank = plain.mid_rank(whole.keys[q])
        first = rank[whole.relevant[q]].min()
        own = [row for row in rows if row["question_id"] == f"q{q}"]
        for row in own:
            c = int(row["candidate_id"][1:])
            assert row["place"] == rank[c] and row["rank_of_best"] == first
            assert row["relevant"] == whole.relevant[q, c] == (row["kind"] == "answer")
            assert row["candidate_language"] == LANGUAGES[pool.candidates.language[c]]
        above = sorted(rank[~whole.relevant[q] & (rank <= first)])[:5]
        assert [row["place"] for row in own if row["kind"] == "above"] == above
        answers = [row for row in own if row["kind"] == "answer"]
        assert answers[0]["place"] == first and 1 <= len(answers) <= 2


@pytest.mark.parametrize("vector", [[1.0, 2.0], [0.0, 0.0]])
@pytest.mark.parametrize("m", [9, 150, 2500])
@pytest.mark.cases(2)
def test_a_constant_encoder_scores_chance_in_every_view(vector, m):
    pool, questions, candidates = drawn(np.random.default_rng(m), 30, m, n_keys=6)
    questions, candidates = (np.tile(np.float32(vector), (len(rows), 1)) for rows in (questions, candidates))
    found = results_of(pool, questions, candidates, subsets=["ar,de"])
    for entry in found.entries:
        assert entry.value == pytest.approx(entry.chance, abs=1e-12), entry.measure
        assert entry.n_tied == 30
        assert entry.ci.low <= entry.value <= entry.ci.high
    views = as_json(entries(found)["AP"].views)
    size = np.bincount(pool.candidates.language) / m
    for pair, share in views["language_share_top100"].items():
        assert share == pytest.approx(size[LANGUAGES.index(pair.partition("->")[2])], abs=1e-12)
        assert views["language_share_ratio_top100"][pair] == pytest.approx(1.0, abs=1e-12)
    assert (views["hubs"]["n"], views["hubs"]["skewness"], views["hubs"]["never"]) == (0, 0.0, 0.0)
    assert views["hubs"]["largest"] == pytest.approx(views["hubs"]["expected"], abs=1e-9)
    assert "hubs" not in found.tables
    assert views["fairness"]["PEER@20"]["value"] == 1.0
    assert views["one_target_summary"]["gap"] == pytest.approx(0.0, abs=1e-12)
    for pair, kinds in views["loss"].items():
        assert sum(kinds.values()) == pytest.approx(sum(views["loss"][pair].values()))


@pytest.mark.parametrize("vector", [[1.0, 2.0], [0.0, 0.0]])
def test_a_constant_encoder_shows_no_bias_among_parallel_questions(vector):
    pool = parallel_pool()
    rows = np.tile(np.float32(vector), (len(pool.candidates), 1))
    found = results_of(pool, rows[: len(pool.questions)], rows, measures="AP")
    views = as_json(entries(found)["AP"].views)
    assert views["remove_one"]["relative_delta"] == pytest.approx(0.0, abs=1e-12)
    alone = views["one_target_summary"]
    assert alone["own"] == pytest.approx(alone["other"], abs=1e-12)
    assert len(set(np.round(list(views["one_target"].values()), 12))) == 1


def parallel_pool(items=20, fillers=10, languages=LANGUAGES):
    """Return a pool of questions with an answer in each language, and of candidates that answer nothing."""
    G, size = len(languages), items + fillers
    key = [f"k{i}" for i in range(items)]
    return a_pool(
        np.repeat(np.arange(G), items),
        key * G,
        np.repeat(np.arange(G), size),
        [[name] for name in key + [f"none{i}" for i in range(fillers)]] * G,
        cluster=[f"p{i // 3}" for i in range(items)] * G,
        languages=languages,
    )


def parallel_vectors(pool, noise=1.0, dim=12, seed=0):
    rng = np.random.default_rng(seed)
    G = len(pool.languages)
    items, size = len(pool.questions) // G, len(pool.candidates) // G
    meaning = rng.standard_normal((size, dim))
    sides = (np.tile(meaning[:items], (G, 1)), np.tile(meaning, (G, 1)))
    return tuple((side + noise * rng.standard_normal(side.shape)).astype(np.float32) for side in sides)


def biased(pool, vectors, strength):
    """Append a code of the language to unit vectors: scores within a language keep their order."""
    sides = zip(vectors, (pool.questions, pool.candidates), strict=True)
    codes = np.eye(len(pool.languages))
    return tuple(
        np.hstack([plain.unit(rows), np.sqrt(strength) * codes[side.language]]).astype(np.float32)
        for rows, side in sides
    )


def test_a_code_of_the_language_keeps_the_monolingual_pool_and_costs_the_pool():
    pool = parallel_pool(fillers=80)
    vectors = parallel_vectors(pool)
    found = [results_of(pool, *biased(pool, vectors, strength)) for strength in (0, 0.25, 1)]
    aps = [entries(one)["AP"] for one in found]
    assert aps[0].views.monolingual_pool == aps[1].views.monolingual_pool == aps[2].views.monolingual_pool
    assert aps[0].value > aps[1].value + 0.05 > aps[2].value + 0.1
    own = [views.language_share_ratio_top100["ar->ar"] for views in (ap.views for ap in aps)]
    assert own == sorted(own) and own[-1] > own[0]
    deltas = [ap.views.remove_one["relative_delta"] for ap in aps]
    assert deltas == sorted(deltas)


def written(results, folder):
    """Return what is written: results.json without what a run costs, and the bytes of the tables."""
    results.write(folder)
    content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    del content["timings"], content["costs"], content["run"]
    return content, {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def test_threads_and_the_length_of_vectors_change_no_byte(tmp_path):
    pool = parallel_pool(items=40, fillers=80)
    questions, candidates = parallel_vectors(pool)
    candidates[50:60] = candidates[100:110]
    rng = np.random.default_rng(1)
    scaled = [rows * 2.0 ** rng.integers(-6, 7, (len(rows), 1)) for rows in (questions, candidates)]
    runs = {
        "one": results_of(pool, questions, candidates),
        "three": results_of(pool, questions, candidates, threads=3),
        "scaled": results_of(pool, *(rows.astype(np.float32) for rows in scaled)),
    }
    first, threads, scaled = (written(run, tmp_path / name) for name, run in runs.items())
    assert {"points.parquet", "hubs.parquet", "worst.parquet", "per_query.parquet"} <= first[1].keys()
    assert threads == first
    for content in (first[0], scaled[0]):  # equal texts of other lengths are not collapsed: more work
        del content["diagnostics"]
    assert scaled == first


def compared(views):
    """Return the numbers of views; pairs ("ar-de") and subsets ("ar,de") are named in alphabetical order."""
    if not isinstance(views, dict):
        return views
    found = {}
    for name, value in views.items():
        mark = "," if "," in name else "-" if "->" not in name else None
        own = mark.join(sorted(name.split(mark))) if mark else name
        if not isinstance(value, (str, list)):
            found[own] = compared(value)
    return found


@pytest.mark.parametrize("whole_numbers", [False, True])
@pytest.mark.cases(1)
def test_the_order_of_rows_and_the_names_of_languages_do_not_matter(whole_numbers):
    pool = parallel_pool(items=30, fillers=20)
    vectors = parallel_vectors(pool)
    if whole_numbers:
        vectors = tuple(np.rint(rows[:, :3]).astype(np.float32) for rows in vectors)
    rng = np.random.default_rng(2)
    asked, held = rng.permutation(len(pool.questions)), rng.permutation(len(pool.candidates))
    q, c = pool.questions, pool.candidates
    moved = replace(
        pool,
        questions=taken(q, asked, ("ids", "text", "key")),
        candidates=taken(c, held, ("ids", "text", "keys", "context")),
    )
    turned = replace(
        pool,
        languages=("de", "en", "ar"),
        questions=replace(q, language=(q.language + 2) % 3),
        candidates=replace(c, language=(c.language + 2) % 3),
    )
    first = results_of(pool, *vectors)
    permuted = results_of(moved, vectors[0][asked], vectors[1][held])
    renamed = results_of(turned, *vectors)
    for other in (permuted, renamed):
        for measure, entry in entries(first).items():
            assert entries(other)[measure].value == pytest.approx(entry.value, abs=1e-12)
            assert compared(as_json(entries(other)[measure].views)) == near(compared(as_json(entry.views)))


def taken(side, rows, names):
    lists = {name: [getattr(side, name)[row] for row in rows] for name in names}
    arrays = {name: getattr(side, name)[rows] for name in ("language", "cluster")}
    if hasattr(side, "article"):
        arrays["article"] = side.article[rows]
    return replace(side, **lists, **arrays)


def test_a_pass_in_pieces_gives_the_same_results(tmp_path, monkeypatch):
    pool, questions, candidates = drawn(np.random.default_rng(5), 600, 150)

    def record(**options):
        found = results_of(pool, questions, candidates, **options).to_dict()
        differing = ("timings", "costs", "diagnostics", "run")
        return {name: value for name, value in found.items() if name not in differing}

    whole = record()
    monkeypatch.setattr(passes, "BLOCK", 100)
    monkeypatch.setattr(passes, "LONG", 0)
    ranker = Cpu(blocks=FolderBlocks(tmp_path))
    assert record(ranker=ranker) == whole
    monkeypatch.setattr(rankers, "scan_block", None)  # all blocks are stored
    assert record(ranker=ranker) == whole
