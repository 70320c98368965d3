"""Validation: every number per seed from whole matrices, the same as the single tasks give, and refusals."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import InputError, Validation, validate_backretrieval, validation_of
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler
from xlingual.errors import DataWarning
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.distance_correlation import distance_correlation
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.metric_validation.validate import influence
from xlingual.results import by_key
from xlingual.stats import ResidualPart, variance

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("cases.py"))))
ITEMS = 60
NAMES = ("a-1", "a-2", "b-1", "b-2", "c")
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


class Counting(shared.Table):
    """An encoder that counts its calls."""

    calls = 0

    def encode(self, batch):
        self.calls += 1
        return super().encode(batch)


class Counted(shared.Case):
    def encoder(self, name, vectors):
        return Counting(name, dict(zip(self.keys, vectors, strict=True)))


def build(seed=0, items=ITEMS, languages=None):
    """Return items with their languages, encoders of rising noise, and images that share the meaning."""
    rng = np.random.default_rng(seed)
    languages = languages or [("en", "de")] * items
    empty = {f"text_{name}": None for item in languages for name in item}
    rows = [
        empty | {"id": f"i{i}"} | {f"text_{name}": "t" for name in item} for i, item in enumerate(languages)
    ]
    manifest = Manifest.of(rows)
    meaning = rng.standard_normal((len(rows), 6))
    texts = {}
    for i, name in enumerate(NAMES):
        noise = (0.3 + 0.5 * i) * rng.standard_normal((len(manifest.item), 6))
        texts[name] = (meaning[manifest.item] + noise).astype(np.float32)
    texts["a-2"][::9] = 0  # ties
    images = (meaning + 0.5 * rng.standard_normal(meaning.shape)).astype(np.float32)
    return Counted(manifest, texts, images[manifest.item])


@pytest.fixture(scope="module")
def case():
    return build()


def validate(case, encoders=None, **options):
    options = {"pairs": "en-de", "measure": "R@3", "seeds": 3, "sample": 20} | options
    encoders = encoders or case.encoders()
    return validate_backretrieval(case.manifest, encoders, image_encoder=case.image_encoder, **options)


@pytest.fixture(scope="module")
def validation(case):
    return validate(case, both_directions=True)


def plain(validation):
    """Return everything but what was asked, and what the run was like."""
    return validation.to_dict() | {"timings": {}, "run": {}, "request": {}}


def scores_of(validation, pair, name):
    (record,) = (p for p in validation.pairs if f"{p.source}-{p.target}" == pair)
    (encoder,) = (e for e in record.encoders if e.encoder == name)
    return encoder.scores


@pytest.mark.parametrize("pair", ["en-de", "de-en"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.cases(4)
def test_every_seed_equals_the_definitions(case, validation, pair, name):
    sampler = Sampler(case.manifest, sample=20, seeds=3)
    scores = scores_of(validation, pair, name)
    samples = zip(sampler.non_matching(*pair.split("-")), sampler.matching(*pair.split("-")), strict=True)
    for seed, (apart, same) in enumerate(samples):
        expected = {
            "XLR": np.mean(case.crosslingual_retrieval("R@3", name, same)[0]),
            "XLR@1": np.mean(case.crosslingual_retrieval("R@1", name, same)[0]),
            "BkR": np.mean(case.backretrieval("R@3", name, apart)[0]),
            "SIM": np.mean(case.backretrieval("SIM", name, apart)[0]),
            "CORR": case.distance_correlation(name, apart),
        }
        for measure, value in expected.items():
            assert scores[measure].per_seed[seed] == pytest.approx(value, abs=1e-8), (measure, seed)


def test_agreement_with_xlr_at_1_stands_beside(case, validation):
    rows = validation.pairs[0].encoders
    values = [[row.scores[key].mean for row in rows] for key in ("XLR@1", "BkR")]
    at_1 = validation.pairs[0].subsets["all"].agreement_at_1["BkR"]["pearson"]
    assert at_1.value == pytest.approx(np.corrcoef(*values)[0, 1])
    assert validate(case, measure="R@1").pairs[0].subsets["all"].agreement_at_1 == {}


@pytest.mark.parametrize("how", ["drawn", "fixed"])
@pytest.mark.cases(1)
def test_numbers_are_those_of_the_single_tasks_and_of_their_results(case, tmp_path, how):
    options = {"sample": 20, "seeds": 4, "seed": 3}
    if how == "fixed":
        order = np.array([np.random.default_rng(i).permutation(ITEMS) for i in range(4)])
        np.savez(tmp_path / "samples.npz", S=order[:, :25], T=order[:, 25:50])
        options = {"sample": tmp_path / "samples.npz"}
    whole = validate(case, **({"seeds": None} | options))
    common = {"text_encoders": case.encoders(), "pairs": "en-de"} | options
    images = {"image_encoder": case.image_encoder}
    bkr = backretrieval(case.manifest, measures=["R@3"], examples=False, **common, **images)
    single = {
        "XLR": (crosslingual_retrieval(case.manifest, measures=["R@3"], **common), "R@3"),
        "BkR": (bkr, "R@3"),
        "SIM": (bkr, "SIM"),
        "CORR": (distance_correlation(case.manifest, **common, **images), "CORR"),
    }
    of_results = validation_of([results for results, _ in single.values()], measure="R@3")
    for name in NAMES:
        for key, (results, measure) in single.items():
            scores = scores_of(whole, "en-de", name)[key]
            entries = by_key(results.entries, encoder=name, measure=measure)
            assert scores.per_seed == pytest.approx([e.value for e in entries], abs=1e-12)
            (summary,) = by_key(results.summary, encoder=name, measure=measure, source="en")
            assert (scores.mean, scores.sd) == pytest.approx((summary.value, summary.sd_seeds))
            ends = summary.ci.low, summary.ci.high
            assert (scores.ci.low, scores.ci.high) == pytest.approx(ends, abs=1e-8)
            again = scores_of(of_results, "en-de", name)[key]
            assert again.per_seed == pytest.approx(scores.per_seed, abs=1e-12)
            tolerance = 1e-8 if key != "CORR" else 0.2
            assert (again.ci.low, again.ci.high) == pytest.approx(ends, abs=tolerance)
    (summary,) = by_key(bkr.summary, encoder="a-1", measure="R@3", source="en")
    pair = whole.pairs[0]
    assert (pair.chance, pair.oracle) == pytest.approx((summary.chance, summary.oracle))
    assert pair.encoders[0].normalized == pytest.approx(summary.normalized)


def test_encoders_encode_once_and_threads_and_their_order_change_nothing(case, validation, tmp_path):
    encoders = case.encoders(NAMES[::-1])
    turned = validate(case, encoders=encoders, both_directions=True)
    assert [encoder.calls for encoder in encoders.values()] == [1] * len(NAMES)
    for name in NAMES:
        assert scores_of(turned, "en-de", name) == scores_of(validation, "en-de", name)
    assert plain(validate(case, both_directions=True, threads=3)) == plain(validation)
    validation.write(tmp_path)
    assert Validation.read(tmp_path).to_dict() == validation.to_dict()


@pytest.mark.parametrize(("pattern", "families"), [(r"^(\w)-\d", "a a b b c"), (r"^.-", "a- a- b- b- c")])
def test_families_are_the_first_group_the_match_or_the_name(case, validation, pattern, families):
    assert [row.family for row in validation.pairs[0].encoders] == list(NAMES)
    assert [row.family for row in validate(case, family=pattern).pairs[0].encoders] == families.split()


def test_a_constant_encoder_has_no_correlation_and_is_at_chance(case):
    texts = {name: case.texts[name] for name in NAMES} | {"flat": np.ones((2 * ITEMS, 4), np.float32)}
    scores = scores_of(validate(Counted(case.manifest, texts, case.images)), "en-de", "flat")
    assert scores["CORR"].mean is None and scores["CORR"].note
    assert (scores["BkR"].mean, scores["XLR"].mean) == pytest.approx((3 / 20, 3 / 20))


def test_the_influence_of_clusters_has_the_variance_of_the_interval():
    rng = np.random.default_rng(1)
    residuals = rng.standard_normal(200)
    residuals -= residuals.mean()
    first, second = rng.integers(0, 50, 200), rng.integers(-3, 50, 200)
    both = Score(0.5, (ResidualPart(residuals, (first, second)),), (0, 1))
    assert np.sum(influence(both, 50) ** 2) == pytest.approx(variance(both.parts))
    single = Score(0.5, (ResidualPart(residuals, (first,)),), (0, 1))
    count = 200**2 / np.sum(np.bincount(first) ** 2)  # plain sums, but for the correction for few clusters
    sums = np.bincount(first, residuals, 50) * (count / (count - 1)) ** 0.5
    np.testing.assert_allclose(influence(single, 50), sums, atol=1e-9)


def test_where_few_items_have_both_languages_all_measures_choose_among_as_many():
    case = build(languages=[("en", "de")] * 20 + [("en",)] * 30 + [("de",)] * 30)
    with pytest.warns(DataWarning, match="only 20 items for XLR"):
        pair = validate(case, sample="all", seeds=2).pairs[0]
    assert (pair.n_source, pair.n_target, pair.n_matching) == (20, 20, 20)
    assert pair.conditions["n_source"] == pair.conditions["n_matching"] == "20"
    assert pair.chance == pytest.approx(3 / 20)


def test_a_pair_without_an_item_in_both_languages_is_left_out_unless_asked_for():
    case = build(languages=[("en", "de")] * 30 + [("es",)] * 20)
    with pytest.warns(DataWarning, match="4 language pairs are left out .*de-es.*has texts in both"):
        pairs = validate(case, pairs=None, sample="all", seeds=2).pairs
    assert {(pair.source, pair.target) for pair in pairs} == {("en", "de"), ("de", "en")}
    apart = build(languages=[("en",)] * 20 + [("es",)] * 20)
    for data, named in ((case, "en-es"), (apart, None)):
        with pytest.raises(InputError, match="no item has texts in"):
            validate(data, pairs=named, sample="all")


def test_what_cannot_be_validated_is_refused(case, tmp_path):
    np.savez(tmp_path / "samples.npz", S=np.arange(30)[None, :15], T=np.arange(30)[None, 15:])
    for options in (
        {"sample": tmp_path / "samples.npz", "seeds": 25},
        {"encoders": case.encoders(NAMES[:2])},
        {"family": "("},
        {"measure": "RR"},
    ):
        with pytest.raises(InputError):
            validate(case, **options)
    options = {"pairs": "en-de", "text_encoders": case.encoders(NAMES[:2])}
    bkr = backretrieval(case.manifest, image_encoder=case.image_encoder, measures=["R@3"], **options)
    with pytest.raises(InputError, match="needs R@3 of crosslingual-retrieval"):
        validation_of([bkr], measure="R@3")
    xlr = crosslingual_retrieval(case.manifest, measures=["R@3"], **options)
    correlations = distance_correlation(case.manifest, image_encoder=case.image_encoder, **options)
    with pytest.raises(InputError, match="at least 3"):
        validation_of([bkr, xlr, correlations], measure="R@3")
