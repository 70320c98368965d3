"""What knows nothing scores exactly chance, however its ignorance is encoded."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler
from xlingual.evaluation.backretrieval import backretrieval, nearest
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval

shared = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "cases.py")))
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
EXACT = {"rel": 0, "abs": 1e-12}
N = 31


def case():
    manifest = Manifest.of([{"id": f"i{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(N)])
    rng = np.random.default_rng(5)
    plain = rng.standard_normal((len(manifest), 8)).astype(np.float32)
    german = (manifest.language == manifest.languages.index("de"))[:, None]
    texts = {
        "constant": np.full_like(plain, -0.7),
        "zero": np.zeros_like(plain),
        "zero-en": np.where(german, plain, 0),
    }
    images = rng.standard_normal((N, 12)).astype(np.float32)
    return shared.Case(manifest, texts, images[manifest.item])


IGNORANT = ["constant", "zero", "zero-en"]


def run(of, names, **options):
    return backretrieval(
        of.manifest,
        text_encoders=of.encoders(names),
        image_encoder=of.image_encoder,
        **({"measures": ["R@1", "R@5", "R@10", "RR", "MedR"]} | options),
    )


@pytest.mark.parametrize("name", IGNORANT)
@pytest.mark.cases(1)
def test_backretrieval_of_an_ignorant_encoder_is_chance(name):
    results = run(case(), [name], seeds=2)
    for entry in results.entries:
        d = entry.n_source
        wanted = {"R@1": 1 / d, "R@5": 5 / d, "R@10": 10 / d, "RR": np.sum(1 / np.arange(1, d + 1)) / d}
        if entry.measure in wanted:
            assert entry.chance == pytest.approx(wanted[entry.measure], **EXACT)
            assert entry.value == pytest.approx(entry.chance, **EXACT)
        if entry.measure == "SIM":  # similarities are kept to 9 decimals
            assert entry.value == pytest.approx(entry.chance, abs=1e-9)
        assert entry.n_tied == entry.n_source


@pytest.mark.parametrize("name", IGNORANT)
def test_crosslingual_retrieval_of_an_ignorant_encoder_is_chance(name):
    of = case()
    results = crosslingual_retrieval(
        of.manifest, text_encoders=of.encoders([name]), measures=["R@1", "R@10", "RR", "MedR"]
    )
    wanted = {"R@1": 1 / N, "R@10": 10 / N, "RR": np.sum(1 / np.arange(1, N + 1)) / N, "MedR": (N + 1) / 2}
    for entry in results.entries:
        assert entry.value == pytest.approx(wanted[entry.measure], **EXACT)
        assert entry.chance == pytest.approx(wanted[entry.measure], **EXACT)


def test_more_ties_than_are_listed_still_give_the_oracle_and_a_ceiling():
    """A target image that is similar to nothing ties with all source images, here with 1100."""
    n = 2200
    rows = [{"id": f"{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(n)]
    manifest = Manifest.of(rows)
    (sample,) = Sampler(manifest).non_matching("en", "de")
    images = np.zeros((n, 1100), dtype=np.float32)
    images[manifest.item[sample.source], np.arange(1100)] = 1
    texts = {"plain": np.random.default_rng(0).standard_normal((len(manifest), 8)).astype(np.float32)}
    of = shared.Case(manifest, texts, images[manifest.item])
    recall, reciprocal, _ = run(of, ["plain"], pairs="en-de", measures=["R@10", "RR"]).entries
    assert recall.value == recall.oracle == recall.ceiling == pytest.approx(10 / 1100, **EXACT)
    assert reciprocal.value == pytest.approx(reciprocal.oracle, **EXACT)
    (alone, _) = run(of, ["plain"], pairs="en-de", measures=["R@10"]).entries
    assert alone == recall


def test_more_equal_targets_than_are_listed_are_sampled(monkeypatch):
    whole = run(case(), ["constant"], pairs="en-de").entries
    monkeypatch.setattr(nearest, "tie_cap", lambda n: 4)
    for a, b in zip(whole, run(case(), ["constant"], pairs="en-de").entries, strict=True):
        assert b.n_tied == a.n_tied
        if a.measure.startswith("R"):
            assert b.value == pytest.approx(a.chance, **EXACT)
