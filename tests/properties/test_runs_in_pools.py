"""Runs in a multilingual pool: equal to the encoder whose ranking they hold, and to plain evaluation."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import DataWarning, InputError, multilingual_pool
from xlingual.data.runs import SearchRun
from xlingual.report import page_of
from xlingual.report.render.text import as_text
from xlingual.results.document import plain as as_json

UNIT = Path(__file__).parents[1] / "unit" / "evaluation" / "multilingual_pool"
plain = SimpleNamespace(**run_path(str(UNIT / "plain.py")))
made = SimpleNamespace(**run_path(str(UNIT / "drawn.py")))
MEASURES = ("AP", "AP@3", "AP@3/min", "nDCG@5", "Success@3", "R@2", "P@3", "RR", "RR@2", "MedR")
SPACE = {"ci", "language_id_accuracy", "language_id_chance", "language_id_notes", "picture"}  # of vectors
quiet = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


@st.composite
def pools(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 12)), draw(st.integers(4, 40) | st.integers(101, 200))
    return made.drawn(rng, n, m, levels=draw(st.sampled_from([0, 1, 2, 9])), dim=draw(st.integers(1, 4)))


def names(pool):
    return [
        [f"{pool.languages[code]}:{own}" for code, own in zip(part.language.tolist(), part.ids, strict=True)]
        for part in (pool.questions, pool.candidates)
    ]


def run_of(pool, keys, kept):
    """Return the run of the kept candidates, bool [n, m], scored by `keys` [n, m], lines in any order."""
    queries, candidates = names(pool)
    rng = np.random.default_rng(0)
    return SearchRun.of(
        {
            queries[q]: {candidates[c]: float(keys[q, c]) for c in rng.permutation(np.flatnonzero(kept[q]))}
            for q in range(len(queries))
            if kept[q].any()
        }
    )


def same(found, expected):
    """Compare views, numbers to the last digits: other sums of the same fractions."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    return found == (pytest.approx(expected, abs=1e-12) if isinstance(expected, float) else expected)


@quiet
@settings(max_examples=30)
@given(pools())
def test_the_run_of_an_encoder_has_its_numbers_and_views(case):
    pool, questions, candidates = case
    whole = plain.Plain(pool, questions, candidates)
    run = run_of(pool, whole.keys, np.ones(whole.keys.shape, dtype=bool))
    found = multilingual_pool(
        pool,
        {"encoder": made.Given(questions, candidates), "run": run},
        measures=MEASURES,
        store=None,
    )
    one, other = ([e for e in found.entries if e.encoder == name] for name in ("encoder", "run"))
    for a, b in zip(one, other, strict=True):
        assert (b.value, b.n_tied, b.n_source) == (pytest.approx(a.value, abs=1e-12), a.n_tied, a.n_source)
        views = [as_json(e.views) for e in (a, b)]
        assert views[0].keys() - SPACE == views[1].keys() - SPACE
        for name in views[0].keys() - SPACE:
            assert same(views[1][name], views[0][name]), (a.measure, name)
    assert other[0].signature.endswith(f"{run.digest[:16]}?depth={whole.m}")
    rows = found.tables["occurrences"].to_pylist()
    half = len(rows) // 2
    assert [r["count"] for r in rows[:half]] == pytest.approx([r["count"] for r in rows[half:]])


class Listed(plain.Plain):
    """Lists that lack candidates: what is missing adds nothing to a precision, and stands last."""

    def __init__(self, pool, questions, candidates, kept):
        super().__init__(pool, questions, candidates)
        self.kept, self.scores = kept, self.keys
        lowest = self.keys.min() - 1
        self.keys = np.where(kept, self.keys, np.where(self.relevant, lowest - 1, lowest))

    def precision(self, q, kept=None, relevant=None, cut=None):
        kept = np.ones(self.m, dtype=bool) if kept is None else kept
        relevant = self.relevant[q] if relevant is None else relevant
        listed = kept & self.kept[q]
        found = relevant & listed
        if not found.any():
            return 0.0
        value = plain.average_precision(self.keys[q][listed], found[listed], cut)
        return value * found.sum() / (relevant & kept).sum()


@quiet
@settings(max_examples=40)
@given(pools(), st.floats(0.1, 0.9), st.integers(0, 2**32 - 1))
def test_what_lists_that_ended_lack_is_missed(case, share, seed):
    """One list is whole and says how deep lists go; the others ended: they found nothing more."""
    pool, questions, candidates = case
    rng = np.random.default_rng(seed)
    kept = rng.random((len(pool.questions), len(pool.candidates))) < share
    kept[0] = True
    whole = Listed(pool, questions, candidates, kept)
    run = run_of(pool, whole.scores, kept)
    found = multilingual_pool(pool, {"run": run}, measures=["AP", "R@2", "nDCG"], store=None)
    expected = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for view in (whole.one_target, whole.remove_one, whole.monolingual_pool, whole.alignment, whole.loss):
            expected |= view()
    expected |= whole.subsets()
    if not np.isfinite(expected.get("remove_one", {}).get("relative_delta", 0.0)):  # rand is 0
        del expected["remove_one"]["relative_delta"]
    got = {e.measure: e for e in found.entries}
    shown = as_json(got["AP"].views)
    assert got["AP"].value == pytest.approx(np.mean([whole.precision(q) for q in range(whole.n)]), abs=1e-9)
    for name, value in expected.items():
        assert same_to(shown[name], value, 1e-9), name
    among = [plain.within(np.where(k, s, -(10**12)), 2) * k for k, s in zip(kept, whole.scores, strict=True)]
    recalls = [chance[relevant].mean() for chance, relevant in zip(among, whole.relevant, strict=True)]
    assert got["R@2"].value == pytest.approx(np.mean(recalls), abs=1e-9)


def same_to(found, expected, error):
    if isinstance(expected, dict):
        return all(same_to(found[key], value, error) for key, value in expected.items())
    return found == pytest.approx(expected, abs=error)


def a_case(seed=3, n=12, m=140, **more):
    pool, questions, candidates = made.drawn(
        np.random.default_rng(seed), n, m, **{"levels": 9, "dim": 4} | more
    )
    return pool, plain.Plain(pool, questions, candidates), made.Given(questions, candidates)


def first(whole, depth):
    order = np.argsort(-whole.keys, axis=1, kind="stable")[:, :depth]
    kept = np.zeros(whole.keys.shape, dtype=bool)
    np.put_along_axis(kept, order, True, axis=1)
    return kept


def test_a_short_run_is_measured_as_far_as_it_goes():
    pool, whole, encoder = a_case(levels=400, repeats=0.0)
    run = run_of(pool, whole.keys, first(whole, 25))
    measures = ["nDCG@10", "R@5", "AP@20"]
    with pytest.warns(DataWarning) as said:
        found = multilingual_pool(pool, {"encoder": encoder, "run": run}, measures=measures, store=None)
    (warning,) = found.warnings
    assert "shares, monolingual pool" in warning and len(said) == 1
    one, other = ({e.measure: e for e in found.entries if e.encoder == n} for n in ("encoder", "run"))
    for measure in measures:
        assert other[measure].value == pytest.approx(one[measure].value, abs=1e-12)
        for name in ("found_at", "found", "found_summary", "by_question_language"):
            assert same(getattr(other[measure].views, name), getattr(one[measure].views, name)), name
    for name in ("hubs", "fairness"):
        assert same(as_json(other["nDCG@10"].views)[name], as_json(one["nDCG@10"].views)[name])
    assert other["nDCG@10"].views.language_share_top100 is None
    assert other["nDCG@10"].n_tied == one["nDCG@10"].n_tied
    worst = [row for row in found.tables["worst"].to_pylist() if row["encoder"] == "run"]
    assert {row["measure"] for row in worst} == {"nDCG@10"}


def test_what_a_short_run_cannot_tell_is_refused():
    pool, whole, _ = a_case()
    run = run_of(pool, whole.keys, first(whole, 25))
    with pytest.raises(InputError, match=r"12 of 12 lists end before the last candidate, so AP is not known"):
        multilingual_pool(pool, {"run": run}, store=None)
    with pytest.raises(InputError, match="up to rank 25"):
        multilingual_pool(pool, {"run": run}, measures=["StrongAlignment"], store=None)


def test_questions_without_results():
    pool, whole, _ = a_case()
    kept = np.ones(whole.keys.shape, dtype=bool)
    kept[3] = False
    run = run_of(pool, whole.keys, kept)
    with pytest.warns(DataWarning, match="1 of 12 queries of the pool have no results: they count as misses"):
        found = multilingual_pool(pool, {"run": run}, store=None)
    values = {row["query"]: row["value"] for row in found.per_query.to_pylist()}
    tags = [pool.languages[code] for code in pool.questions.language]
    assert values[f"{tags[3]}/q3"] == 0.0
    assert {entry.n_unanswered for entry in found.entries} == {1}
    assert "run has no results for 1 of 12 queries" in " ".join(as_text(page_of(found), "markdown").split())
    assert f"{tags[3]}/q3" not in found.tables["neighbours"]["query"].to_pylist()
    shares = found.entries[0].views.language_share_top100
    for tag in set(tags):
        assert sum(shares[f"{tag}->{other}"] for other in pool.languages) == pytest.approx(1.0)
