"""CSLS on small, strange manifests equals its definition; what must not matter does not."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.data.samples import Sampler
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.metric_validation import validate_backretrieval

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("test_backretrieval.py"))))
cases, oracle, bkr, ran, slowly = shared.cases, shared.oracle, shared.bkr, shared.ran, shared.slowly
per_query, key_of, CLOSE = shared.per_query, shared.key_of, shared.CLOSE

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")  # zero vectors are meant
SAMPLED = st.sampled_from([{}, {"sample_size": 5, "seeds": 3}])  # seeds that overlap share one pass


def xlr(case, k, **options):
    given = {
        "measures": ["R@1", "RR", "MedR"],
        "pairs": "en-de,de-en",
        "similarity": f"transductive-csls?k={k}",
    }
    return ran(crosslingual_retrieval, case.manifest, text_encoders=case.encoders(), **(given | options))


@slowly
@given(cases(), st.integers(1, 12), SAMPLED)
def test_backretrieval_with_csls_equals_its_definition(case, k, options):
    results = bkr(case, similarity=f"transductive-csls?k={k}", **options)
    table = per_query(results)
    for entry in results.entries:
        sample = case.sample(entry, size=options.get("sample_size"), seeds=3)
        values, *_ = case.backretrieval(entry.measure, entry.encoder, sample, oracle.csls(k))
        assert table[key_of(entry)][0] == pytest.approx(values, **CLOSE)


@slowly
@given(cases(), st.integers(1, 12), SAMPLED)
def test_crosslingual_retrieval_with_csls_equals_its_definition(case, k, options):
    results = xlr(case, k, **options)
    table = per_query(results)
    for entry in results.entries:
        sample = case.sample(entry, matching=True, size=options.get("sample_size"), seeds=3)
        values, chances = case.crosslingual_retrieval(entry.measure, entry.encoder, sample, oracle.csls(k))
        assert table[key_of(entry)][0] == pytest.approx(values, **CLOSE)
        assert entry.chance == pytest.approx(oracle.aggregate(entry.measure, chances), **CLOSE)
        if entry.encoder == "constant":
            assert entry.value == pytest.approx(entry.chance, **CLOSE)


@slowly
@given(cases(kinds=("plain", "few", "zeros")), st.integers(2, 12))
def test_a_validation_has_the_numbers_of_the_evaluations(case, k):
    """Matching and non-matching samples share a pass; each has offsets of its own."""
    options = {"sample_size": 5, "seeds": 2, "pairs": "en-de", "similarity": f"transductive-csls?k={k}"}
    found = ran(
        validate_backretrieval,
        case.manifest,
        text_encoders=case.encoders(),
        image_encoder=case.image_encoder,
        measure="R@2",
        **options,
    )
    assert found.pairs[0].conditions["similarity"] == f"transductive-csls?k={k}"
    sampler = Sampler(case.manifest, size=5, seeds=2)
    non_matching = list(sampler.non_matching("en", "de"))
    matching = list(sampler.matching("en", "de"))
    for one in found.pairs[0].encoders:
        for seed, sample in enumerate(non_matching):
            values, *_ = case.backretrieval("R@2", one.encoder, sample, oracle.csls(k))
            assert one.bkr.per_seed[seed] == pytest.approx(oracle.aggregate("R@2", values), **CLOSE)
        for seed, sample in enumerate(matching):
            values, _ = case.crosslingual_retrieval("Success@2", one.encoder, sample, oracle.csls(k))
            assert one.xlr.per_seed[seed] == pytest.approx(oracle.aggregate("Success@2", values), **CLOSE)


@slowly
@given(cases(kinds=("plain", "few", "integers")), st.integers(1, 12), st.integers(2, 4))
def test_threads_change_nothing(case, k, threads):
    tables = [xlr(case, k, seeds=2, threads=n).per_query for n in (1, threads)]
    assert tables[0].equals(tables[1])
