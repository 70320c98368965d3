"""What knows nothing scores exactly chance, however its ignorance is encoded."""

from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler
from xlingual.evaluation.backretrieval import backretrieval, nearest
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.run import Tally
from xlingual.ranking import CPU

shared = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "cases.py")))
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
EXACT = {"rel": 0, "abs": 1e-12}
N = 31


def case(n=N, image=None, images=None):
    rows = [
        {"id": f"i{i}", "text_en": f"en {i}", "text_de": f"de {i}"} | ({"image": image(i)} if image else {})
        for i in range(n)
    ]
    manifest = Manifest.of(rows)
    rng = np.random.default_rng(5)
    plain = rng.standard_normal((len(manifest), 8)).astype(np.float32)
    english = np.flatnonzero(manifest.language == manifest.languages.index("en"))
    half = plain.copy()
    half[english] = 0
    texts = {
        "constant": np.full_like(plain, -0.7),
        "zero": np.zeros_like(plain),
        "zero-en": half,
        "plain": plain,
    }
    if images is None:
        images = rng.standard_normal((n, 12)).astype(np.float32)
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


@pytest.mark.parametrize("vector", [0.0, 1.0])
def test_images_that_all_look_alike_give_chance_and_nothing_to_normalise_by(vector):
    of = case(image=lambda i: bytes([i]), images=np.full((N, 3), vector, dtype=np.float32))
    for entry in run(of, ["plain"]).entries:
        assert entry.value == pytest.approx(entry.chance, abs=1e-9)
        assert entry.oracle == pytest.approx(entry.chance, abs=1e-9)
        assert entry.normalized is None
        if entry.measure != "MedR":
            assert "not normalised" in entry.note


def test_chance_counts_queries_not_images():
    """Where some images have more texts than others, a constant encoder still scores exactly chance."""
    rows = [
        {"id": f"{tag}{i}.{j}", "lang": tag, "text": f"{tag} {i} {j}", "item": f"{tag}{i}"}
        for tag in ("en", "de")
        for i in range(40)
        for j in range(10 if i % 4 == 0 else 1)
    ]
    manifest = Manifest.of(rows)
    images = np.random.default_rng(0).standard_normal((80, 6)).astype(np.float32)[manifest.item]
    of = shared.Case(manifest, {"constant": np.ones((len(manifest), 4), dtype=np.float32)}, images)
    for entry in run(of, ["constant"], pairs="en-de", measures=["R@1", "R@10"]).entries:
        exact = EXACT if entry.measure != "SIM" else {"abs": 1e-9}  # cosines are rounded to 9 decimals
        assert entry.value == pytest.approx(entry.chance, **exact)


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


def test_more_equal_targets_than_are_listed_are_sampled_fairly(monkeypatch):
    of = case()
    sample = of.sample(SimpleNamespace(source="en", target="de", seed=0))
    whole = run(of, ["constant"], pairs="en-de").entries
    monkeypatch.setattr(nearest, "tie_cap", lambda n: 4)
    sampled = run(of, ["constant"], pairs="en-de").entries
    for a, b in zip(whole, sampled, strict=True):
        assert b.n_tied == a.n_tied
        if a.measure.startswith("R"):
            assert b.value == pytest.approx(a.chance, **EXACT)
    vectors = shared.Table("constant", dict(zip(of.keys, of.texts["constant"], strict=True)))
    from xlingual.embed.sides import embed_texts
    from xlingual.encoders import adopt

    embedded = embed_texts(of.manifest, "constant", adopt(vectors), np.arange(len(of.manifest)))
    listed = set()
    for seed in range(30):
        (found,) = nearest.nearest_texts(embedded, [replace(sample, seed=seed)], ranker=CPU, tally=Tally())
        assert (found.n_tied == len(sample.target)).all()
        assert np.bincount(found.query, found.share) == pytest.approx(1)
        assert set(np.bincount(found.query)) == {4}
        listed |= set(found.target)
    assert listed == set(range(len(sample.target)))  # every target has its turn
