"""Pools of the shapes of MLQA-R: two to four answers, uneven languages, contexts that are no translations."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import MultilingualPool
from xlingual.report import as_html, verdict
from xlingual.results.document import plain as as_json

HERE = Path(__file__)
pools = SimpleNamespace(**run_path(str(HERE.with_name("test_multilingual_pool.py"))))
squads = SimpleNamespace(**run_path(str(HERE.parents[1] / "e2e" / "squads.py")))
ALIGNMENT = {
    "WeakAlignment": "weak", "StrongAlignment": "strong", "StrongAlignment/strict": "strict",
    "StrongAlignment/strict-own": "strict_own",
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


@pytest.fixture
def mlqa(tmp_path):
    """Return the pool, and the languages of each question's id."""
    asked = squads.write_mlqa(tmp_path / "mlqa")
    return MultilingualPool.read(tmp_path / "mlqa"), asked


def test_the_pool_has_the_shapes_of_mlqa_r(mlqa):
    pool, asked = mlqa
    question, candidate = pool.relevant
    answers = np.bincount(question)
    assert set(answers.tolist()) == {2, 3, 4}
    for q, name in enumerate(pool.questions.ids):
        own = candidate[question == q]
        assert sorted(pool.languages[c] for c in pool.candidates.language[own]) == sorted(asked[name])
    n_questions, n_candidates = (np.bincount(side.language) for side in (pool.questions, pool.candidates))
    assert n_questions[pool.languages.index("en")] == len(asked) > 2 * n_questions.min()
    assert len(set(n_candidates.tolist())) == len(pool.languages)
    keys = [len(own) for own in pool.candidates.keys]
    assert max(keys) == 2 and keys.count(0) > len(keys) / 2  # one sentence answers two questions; most none
    assert len(np.unique(pool.questions.cluster)) == 24  # of paragraphs in all languages


@pytest.mark.parametrize("levels", [1, 9])
def test_every_number_equals_a_plain_evaluation(mlqa, levels):
    pool, asked = mlqa
    rng = np.random.default_rng(levels)
    vectors = [
        rng.integers(-levels, levels + 1, (len(side), 3)).astype(np.float32)
        for side in (pool.questions, pool.candidates)
    ]
    whole = pools.plain.Plain(pool, *vectors)
    found = pools.entries(
        pools.results_of(pool, *vectors, measures=[*pools.MEASURES, *ALIGNMENT], subsets=["de,en"])
    )
    expected = whole.views([("de", "en")])
    pools.assert_views(as_json(found["AP"].views), expected)
    for name in pools.MEASURES:
        values = whole.measure(name)
        value = np.median(values) if name == "MedR" else values.mean()
        assert found[name].value == pytest.approx(value, abs=1e-9), name
    for name, key in ALIGNMENT.items():
        assert found[name].value == pytest.approx(expected["alignment"][key], abs=1e-9), name
        assert found[name].n_source == len(pool.questions)
    together = {(a, b) for own in asked.values() for a in own for b in own}
    pairs = {tuple(pair.split("->")) for pair in found["AP"].views.weak_alignment}
    assert pairs == together < {(a, b) for a in pool.languages for b in pool.languages}


def test_equal_candidates_are_at_chance_in_every_language(mlqa):
    pool, _ = mlqa
    rows = np.ones((len(pool.candidates), 2), dtype=np.float32)
    found = pools.results_of(pool, rows[: len(pool.questions)], rows, measures=["AP", *ALIGNMENT])
    for entry in found.entries:
        assert entry.value == pytest.approx(entry.chance, abs=1e-12), entry.measure
    views, size = as_json(found.entries[0].views), np.bincount(pool.candidates.language)
    for pair, value in views["weak_alignment"].items():
        there = pool.languages.index(pair.partition("->")[2])
        assert value == pytest.approx(1 / size[there])  # one answer in each language
    assert set(views["strong_alignment"].values()) == {0.5}


def test_results_made_in_python_have_the_name_of_their_pool(mlqa, tmp_path):
    pool, _ = mlqa
    results = [
        pools.multilingual_pool(pool, text_encoders="chargram", views=False, store=None, name=name)
        for name in ("mine", None)
    ]
    assert [one.run.get("name") for one in results] == ["mine", None]
    assert [entry.signature for entry in results[0].entries] == [e.signature for e in results[1].entries]
    smaller = MultilingualPool.read(tmp_path / "mlqa", languages=["de", "en"])
    other = pools.multilingual_pool(smaller, text_encoders="chargram", views=False, store=None, name="two")
    assert verdict([results[0], other])[0].startswith("2 pools: mAP: chargram 0.0")
    assert "mAP, 2 pools side by side" in as_html([results[0], other])
