"""Validation: every number per seed from whole matrices, the same as the single tasks give, and controls."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import InputError, Validation, validate_backretrieval
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler
from xlingual.errors import DataWarning
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.distance_correlation import distance_correlation
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.metric_validation import validation_of
from xlingual.evaluation.metric_validation.measure import influence
from xlingual.results import by_key
from xlingual.stats import ResidualPart, variance

HERE = Path(__file__)
shared = SimpleNamespace(**run_path(str(HERE.parents[1] / "cases.py")))
ITEMS = 60
NAMES = ("a-1", "a-2", "b-1", "b-2", "c")


class Counting(shared.Table):
    """An encoder that counts how often each text was encoded."""

    def __init__(self, identity, vectors):
        super().__init__(identity, vectors)
        self.calls, self.seen = 0, []

    def encode(self, batch):
        self.calls += 1
        self.seen += list(zip(batch.language, batch.ids, strict=True))
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
    given = {"pairs": "en-de", "measure": "R@3", "seeds": 3, "sample": 20} | options
    return validate_backretrieval(
        case.manifest,
        text_encoders=encoders or case.encoders(),
        image_encoder=case.image_encoder,
        **given,
    )


pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


def plain(validation):
    """Return everything but what was asked, and what the run was like."""
    return validation.to_dict() | {"timings": {}, "run": {}, "request": {}}


@pytest.fixture(scope="module")
def found(case):
    return validate(case, both_directions=True)


def scores_of(found, pair, name):
    (record,) = (p for p in found.pairs if f"{p.source}-{p.target}" == pair)
    (encoder,) = (e for e in record.encoders if e.encoder == name)
    return encoder.scores


@pytest.mark.parametrize("pair", ["en-de", "de-en"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.cases(4)
def test_every_seed_equals_the_definitions(case, found, pair, name):
    sampler = Sampler(case.manifest, sample=20, seeds=3)
    scores = scores_of(found, pair, name)
    for seed, (apart, same) in enumerate(
        zip(sampler.non_matching(*pair.split("-")), sampler.matching(*pair.split("-")), strict=True)
    ):
        wanted = {
            "XLR": np.mean(case.crosslingual_retrieval("R@3", name, same)[0]),
            "BkR": np.mean(case.backretrieval("R@3", name, apart)[0]),
            "SIM": np.mean(case.backretrieval("SIM", name, apart)[0]),
            "CORR": case.distance_correlation(name, apart),
        }
        for measure, value in wanted.items():
            assert scores[measure].per_seed[seed] == pytest.approx(value, abs=1e-8), (measure, seed)


def test_xlr_at_1_is_beside_xlr(case, found):
    assert found.measure_at_1 == "R@1"
    options = {"pairs": "en-de", "measures": ["R@1"], "sample": 20, "seeds": 3}
    results = crosslingual_retrieval(case.manifest, text_encoders=case.encoders(), **options)
    scores = [scores_of(found, "en-de", name) for name in NAMES]
    for name, of_encoder in zip(NAMES, scores, strict=True):
        (row,) = by_key(results.summary, encoder=name, source="en", measure="R@1")
        assert of_encoder["XLR@1"].mean == pytest.approx(row.value)
    values = [[of_encoder[key].mean for of_encoder in scores] for key in ("XLR@1", "BkR")]
    agreement = found.pairs[0].subsets["all"].agreement_at_1["BkR"]["pearson"]
    assert agreement.value == pytest.approx(np.corrcoef(*values)[0, 1])
    at_1 = validate(case, measure="R@1")
    assert at_1.measure_at_1 is None and at_1.pairs[0].subsets["all"].agreement_at_1 == {}


@pytest.mark.parametrize("how", ["drawn", "splits"])
@pytest.mark.cases(1)
def test_numbers_are_those_of_the_single_tasks(case, tmp_path, how):
    options = {"sample": 20, "seeds": 4, "seed": 3}
    if how == "splits":
        rng = np.random.default_rng(5)
        order = np.array([rng.permutation(ITEMS) for _ in range(4)])
        np.savez(tmp_path / "splits.npz", S=order[:, :25], T=order[:, 25:50])
        options = {"sample": tmp_path / "splits.npz"}
    given = {"seeds": None, "sample": "all"} | options
    found = validate(case, **given)
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
            scores = scores_of(found, "en-de", name)[key]
            entries = by_key(results.entries, encoder=name, measure=measure)
            assert scores.per_seed == pytest.approx([e.value for e in entries], abs=1e-12)
            (summary,) = by_key(results.summary, encoder=name, measure=measure, source="en")
            assert scores.mean == pytest.approx(summary.value)
            assert scores.sd == pytest.approx(summary.sd_seeds)
            ends = summary.ci.low, summary.ci.high
            assert (scores.ci.low, scores.ci.high) == pytest.approx(ends, abs=1e-8)
            again = scores_of(of_results, "en-de", name)[key]
            assert again.per_seed == pytest.approx(scores.per_seed, abs=1e-12)
            tolerance = 1e-8 if key != "CORR" else 0.2
            assert (again.ci.low, again.ci.high) == pytest.approx(ends, abs=tolerance)
    (summary,) = by_key(bkr.summary, encoder="a-1", measure="R@3", source="en")
    pair = found.pairs[0]
    assert (pair.chance, pair.oracle) == pytest.approx((summary.chance, summary.oracle))
    assert pair.encoders[0].normalized == pytest.approx(summary.normalized)


def test_every_text_and_image_is_encoded_once(case):
    encoders, images = case.encoders(), case.image_encoder
    options = {"pairs": "en-de", "both_directions": True, "degrade": "dims=2;shuffle"}
    validate_backretrieval(case.manifest, encoders, image_encoder=images, measure="R@3", seeds=3, **options)
    for encoder in (*encoders.values(), images):
        assert encoder.calls == 1
        assert len(set(encoder.seen)) == len(encoder.seen)


def test_threads_and_the_order_of_encoders_change_nothing(case, found, tmp_path):
    assert plain(validate(case, both_directions=True, threads=3)) == plain(found)
    turned = validate(case, encoders=case.encoders(NAMES[::-1]), both_directions=True)
    for name in NAMES:
        assert scores_of(turned, "en-de", name) == scores_of(found, "en-de", name)
    found.write(tmp_path)
    assert Validation.read(tmp_path).to_dict() == found.to_dict()


def test_with_shuffled_images_backretrieval_is_chance_and_agrees_with_nothing():
    found = validate(build(seed=3, items=120), seeds=25, sample=50, degrade="shuffle")
    true, shuffled = found.degradations
    assert (true.kind, shuffled.kind) == ("none", "shuffle")
    assert true.agreement["BkR"]["pearson"].mean > 0.8
    assert abs(shuffled.agreement["BkR"]["pearson"].mean) < 0.2  # each seed deals the images anew
    assert shuffled.chance == pytest.approx(3 / 50)
    assert shuffled.oracle == pytest.approx(true.oracle, abs=0.15)  # the images are as good as before


def test_weaker_images_agree_less_and_all_components_are_the_images_themselves(case):
    found = validate(case, degrade="dims=6, 1;noise=20;dims=6")
    none, whole, one, noise = found.degradations
    for a, b in ((none.oracle, whole.oracle), (none.sim_oracle, whole.sim_oracle)):
        assert a == pytest.approx(b, abs=1e-6)
    for measure in ("BkR", "SIM", "CORR"):
        assert whole.agreement[measure]["pearson"].mean == pytest.approx(
            none.agreement[measure]["pearson"].mean, abs=1e-6
        )
    assert none.agreement["SIM"]["pearson"].mean > noise.agreement["SIM"]["pearson"].mean
    assert (none.kept, whole.kept, one.level) == (1, 1, 1) and max(one.kept, noise.kept) < 1
    assert none.agreement == found.pairs[0].subsets["all"].agreement


@pytest.mark.parametrize(("pattern", "families"), [(r"^(\w)-\d", "a a b b c"), (r"^.-", "a- a- b- b- c")])
def test_families_are_the_first_group_the_match_or_the_name(case, found, pattern, families):
    assert [row.family for row in found.pairs[0].encoders] == list(NAMES)
    assert [row.family for row in validate(case, family=pattern).pairs[0].encoders] == families.split()


def test_a_constant_encoder_has_no_correlation_and_a_reason(case):
    texts = {name: case.texts[name] for name in NAMES} | {"flat": np.ones((2 * ITEMS, 4), np.float32)}
    flat = Counted(case.manifest, texts, case.images)
    scores = scores_of(validate(flat), "en-de", "flat")
    assert scores["CORR"].mean is None
    assert scores["BkR"].mean == pytest.approx(3 / 20)
    assert scores["XLR"].mean == pytest.approx(3 / 20)


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
    with pytest.warns(DataWarning, match="only 20 items for XLR.*40 sources and 40 targets"):
        found = validate(case, sample="all", seeds=2)
    pair = found.pairs[0]
    assert (pair.n_source, pair.n_target, pair.n_matching) == (20, 20, 20)
    assert pair.conditions["n_source"] == pair.conditions["n_matching"] == "20"
    assert pair.chance == pytest.approx(3 / 20)
    sized = validate(case, sample=20, seeds=2).pairs[0]
    assert (sized.n_source, sized.n_matching) == (20, 20)


def test_a_pair_without_an_item_in_both_languages_is_left_out_unless_asked_for():
    case = build(languages=[("en", "de")] * 30 + [("es",)] * 20)
    with pytest.warns(DataWarning, match="4 language pairs are left out .*de-es.*has texts in both"):
        found = validate(case, pairs=None, sample="all", seeds=2)
    assert {(pair.source, pair.target) for pair in found.pairs} == {("en", "de"), ("de", "en")}
    with pytest.warns(DataWarning, match="left out"):
        both = validate(case, pairs=None, sample="all", seeds=2, both_directions=True)
    assert plain(both) == plain(found)
    with pytest.raises(InputError, match="no item has texts in both 'en' and 'es'"):
        validate(case, pairs="en-es", sample="all")
    apart = build(languages=[("en",)] * 20 + [("es",)] * 20)
    with pytest.raises(InputError, match="no item has texts in two languages"):
        validate(apart, pairs=None, sample="all")


def test_splits_fix_the_seeds(case, tmp_path):
    order = np.arange(ITEMS)[None]
    np.savez(tmp_path / "splits.npz", S=order[:, :25], T=order[:, 25:50])
    with pytest.raises(InputError, match="fixes samples and seeds: leave out seeds=…"):
        validate(case, sample=tmp_path / "splits.npz", seeds=25)
    assert validate(case, sample=tmp_path / "splits.npz", seeds=None).pairs[0].n_seeds == 1


def test_results_of_all_three_tasks_and_three_encoders_are_needed(case):
    options = {"pairs": "en-de", "text_encoders": case.encoders(NAMES[:2])}
    bkr = backretrieval(case.manifest, image_encoder=case.image_encoder, measures=["R@3"], **options)
    with pytest.raises(InputError, match="needs R@3 of crosslingual-retrieval"):
        validation_of([bkr], measure="R@3")
    xlr = crosslingual_retrieval(case.manifest, measures=["R@3"], **options)
    correlations = distance_correlation(case.manifest, image_encoder=case.image_encoder, **options)
    with pytest.raises(InputError, match="evaluate 3 at least"):
        validation_of([bkr, xlr, correlations], measure="R@3")
