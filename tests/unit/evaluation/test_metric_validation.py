"""Validation: every number per seed from whole matrices, the same as the single tasks give, and refusals."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import InputError, Validation, validate_backretrieval, validation_of
from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.distance_correlation import distance_correlation
from xlingual.results import by_key

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("cases.py"))))
ITEMS = 60
NAMES = ("a-1", "a-2", "b-1", "b-2", "c")
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


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
    return shared.Case(manifest, texts, images[manifest.item])


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


def test_threads_and_the_order_of_encoders_change_nothing(case, validation, tmp_path):
    encoders = case.encoders(NAMES[::-1])
    turned = validate(case, encoders=encoders, both_directions=True)
    for name in NAMES:
        assert scores_of(turned, "en-de", name) == scores_of(validation, "en-de", name)
    assert plain(validate(case, both_directions=True, threads=3)) == plain(validation)
    validation.write(tmp_path)
    assert Validation.read(tmp_path).to_dict() == validation.to_dict()


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
